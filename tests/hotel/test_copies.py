#!/usr/bin/env python3
"""The application over three nodes with copies of the index: pages that do not overlap, whichever copy answers; a version that tells
of changes and costs the search service next to nothing; nothing that fails for a guest while nodes are killed or frozen in turn."""
import os
import signal
import subprocess
import tempfile
import time

import application
from application import App, Checks, command
from cluster import Cluster
from node import wait_for

check = Checks()
HOTELS = 1200
INDEX = "copies"


def searches(cluster):
    status, answer = cluster.alive()[0].call("GET", f"/{INDEX}/_stats/search")
    assert status == 200, answer
    return answer["_all"]["total"]["search"]["query_total"]


def all_ids(app, body, pages, path="/hotel/list"):
    found = []
    for page in range(1, pages + 1):
        status, answer = app.post(path, {**body, "page": page, "size": 10})
        if not check(status == 200, "a page is answered", (body, page, answer)):
            return [], 0
        found += [h["id"] for h in answer["hotels"]]
    return found, answer["total"]


def test_pages(app):
    for body in ({}, {"key": "如家"}, {"sortBy": "score"}, {"sortBy": "price"}, {"city": "上海"}, {"location": "31.24,121.49"}):
        ids, total = all_ids(app, body, 10)
        check.equal(len(set(ids)), min(100, total), f"ten pages have distinct hotels: {body}")
        again, _ = all_ids(app, body, 10)
        check.equal(again, ids, f"and stand still: {body}")
    for body in ({}, {"key": "如家 上海"}, {"key": "地铁站"}, {"cities": ["上海", "北京"]}):
        ids, total = all_ids(app, body, 10, "/hotel/find")
        check.equal(len(set(ids)), min(100, total), f"ten pages of what the page asks have distinct hotels: {body}")
        check.equal(all_ids(app, body, 10, "/hotel/find"), (ids, total), f"and stand still: {body}")
    # Of every visitor, whichever copies answer: the order of equal hits does not depend on them.
    orders = set()
    for visitor in range(12):
        status, answer, _ = application.call(app.host, "POST", "/hotel/list", {"sortBy": "score", "size": 50}, headers={"x-visitor": f"v{visitor}"})
        orders.add(tuple(h["id"] for h in answer["hotels"]))
    check.equal(len(orders), 1, "twelve visitors see equal hotels in one order")
    status, answer, _ = application.call(app.host, "POST", "/hotel/list", {}, headers={"x-visitor": "_only_local" + "x" * 100})
    check.equal(status, 200, "a name that is none is not taken")


def version(app):
    status, answer, _ = app.get("/hotel/version")
    check(status == 200 and isinstance(answer.get("version"), str), "a version", (status, answer))
    return answer.get("version")


def changes(app, act, what):
    before = version(app)
    act()
    try:
        wait_for("another version", lambda: version(app) != before)
        seen = True
    except AssertionError:
        seen = False
    check(seen, f"the version changes: {what}")


def test_version(cluster, app, ident):
    node = cluster.nodes[0]
    before, asked, began = version(app), searches(cluster), time.monotonic()
    same = {version(app) for _ in range(200)}
    # One of each thread every half second, over the shards of the index.
    most = 5 * 4 * (2 + (time.monotonic() - began) / 0.5)
    check.equal(same, {before}, "it stays while nothing changes")
    check(searches(cluster) - asked <= most, "and is asked for seldom", (searches(cluster) - asked, most))
    changes(app, lambda: node.call("POST", f"/{INDEX}/_update/{ident}", {"doc": {"price": 7}}), "a hotel is changed")
    changes(app, lambda: node.call("DELETE", f"/{INDEX}/_doc/{ident}"), "a hotel is deleted")


def guest(app, what):
    for method, path, body in (("POST", "/hotel/list", {"key": "如家", "size": 3}), ("POST", "/hotel/filters", {}), ("GET", "/hotel/suggestion?key=ru", None),
                               ("POST", "/hotel/find", {"key": "如佳", "size": 3}), ("GET", "/hotel/complete?key=ru", None), ("GET", "/hotel/version", None), ("GET", "/health", None)):
        status, answer, _ = application.call(app.host, method, path, body)
        check(status == 200 and answer, f"{path}, {what}", (status, str(answer)[:200]))


def test_nodes_in_turn(cluster, app, url):
    for n in cluster.nodes:
        n.kill()
        guest(app, f"{n.name} just killed")
        status, out, err = command(url, INDEX, "promote", "999999999", check=False)
        check("does not answer" not in err, f"a command, {n.name} killed", (status, err))
        n.start()
        cluster.healthy(INDEX, 240)
    frozen = cluster.nodes[0]
    os.kill(frozen.process.pid, signal.SIGSTOP)
    try:
        guest(app, "a node frozen")
    finally:
        os.kill(frozen.process.pid, signal.SIGCONT)
    cluster.healthy(INDEX, 240)


def main():
    application.need("serai-hotel", "serai-node")
    with tempfile.TemporaryDirectory() as folder, Cluster(3) as cluster:
        path = os.path.join(folder, "hotels.csv")
        with open(path, "w", encoding="utf-8") as f:
            subprocess.run([application.HOTEL, "generate", str(HOTELS)], stdout=f, check=True)
        url = ",".join(n.url for n in cluster.nodes)
        command(url, INDEX, "import", path)
        cluster.wait_green(INDEX)
        cluster.nodes[0].call("PUT", f"/{INDEX}/_settings", {"refresh_interval": "100ms"})
        with App(url, INDEX, "-E", "search.timeout=30s") as app:
            test_pages(app)
            with open(path, encoding="utf-8") as f:
                test_version(cluster, app, f.readlines()[7].split(",")[0])
            test_nodes_in_turn(cluster, app, url)
        with App(f"http://127.0.0.1:9,{url}", INDEX) as app:
            guest(app, "the first address is nobody's")
        status, _, err = command(f"{url},nonsense", INDEX, "serve", check=False)
        check(status == 64 and "search.url" in err, "an address that is none", (status, err))
    check.end()


if __name__ == "__main__":
    main()
