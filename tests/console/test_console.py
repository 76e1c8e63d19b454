#!/usr/bin/env python3
"""The live console of three nodes: what it serves, what its events say; and in headless Chromium nodes and
shards, a failover as it happens, languages, phones, the node that it is served by gone. Screenshots are left in <build>/screenshots."""
import http.client
import os
import shutil
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.dirname(HERE), os.path.join(os.path.dirname(HERE), "hotel")]
import node  # noqa: E402
from browser import Browser  # noqa: E402
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402

SHARDS = 3
check = Checks()


def fetch(n, path, **headers):
    conn = http.client.HTTPConnection("127.0.0.1", n.port, timeout=node.HANG_SECONDS)
    try:
        conn.request("GET", path, headers=headers)
        r = conn.getresponse()
        return r.status, {k.lower(): v for k, v in r.getheaders()}, r.read().decode()
    finally:
        conn.close()


def events(n, since=0, timeout="0s"):
    return n.call("GET", f"/_console/events?since={since}&timeout={timeout}")[1]


def types(n):
    return [e["type"] for e in events(n)["events"]]


def test_files(n):
    status, headers, text = fetch(n, "/_console/")
    check(status == 200 and headers["content-type"].startswith("text/html") and "<main>" in text, "the page", (status, headers))
    check("default-src 'none'" in headers["content-security-policy"] and "://" not in text, "nothing of other hosts is asked for, or allowed")
    check.equal(fetch(n, "/_console/", **{"If-None-Match": headers["etag"]})[0], 304, "a page that is known is not sent again")
    status, headers, _ = fetch(n, "/_console")
    check.equal((status, headers.get("location")), (301, "/_console/"), "without its slash it is elsewhere")
    check.equal(fetch(n, "/_console/none.js")[0], 404, "what there is not")
    check.equal(fetch(n, "/_console/..%2f..%2fetc%2fpasswd")[0], 404, "nothing outside")
    for name, kind in (("console.js", "text/javascript"), ("style.css", "text/css"), ("icon.svg", "image/svg+xml")):
        status, headers, text = fetch(n, f"/_console/{name}")
        check(status == 200 and headers["content-type"].startswith(kind) and text, f"{name}")


def test_events(n):
    answer = events(n)
    check.equal((answer["node"], [e["seq"] for e in answer["events"]]), (n.name, list(range(1, answer["last"] + 1))), "events are numbered from 1")
    for kind in ("published", "master", "node_joined", "index_created", "recovery_started", "recovery_done", "health"):
        check(kind in types(n), f"{kind} is told", types(n))
    done = [e for e in answer["events"] if e["type"] == "recovery_done" and e["index"] == "i"]
    check(len(done) == 2 * SHARDS and all(e["took_ms"] >= 0 for e in done), "recoveries say how long they took", done)
    check(any(e.get("took_us", -1) > 0 for e in answer["events"] if e["type"] == "published"), "publications, too")
    check.equal(events(n, answer["last"])["events"], [], "nothing is told twice")
    check.equal(len(events(n, answer["last"] + 1000)["events"]), answer["last"], "numbers of another process get all")
    check.equal(n.call("GET", "/_console/events?since=x")[0], 400, "numbers are numbers")
    check.equal(n.call("GET", "/_console/events?since=-1")[0], 400, "from 0")
    told = []
    waiting = threading.Thread(target=lambda: told.append(events(n, answer["last"], "10s")))
    waiting.start()
    time.sleep(0.2)
    check.equal(told, [], "who knows all waits")
    n.call("PUT", "/later", {"settings": {"number_of_replicas": 0}})
    waiting.join()
    check(told[0]["events"] and told[0]["events"][0]["seq"] == answer["last"] + 1, "and is told at once", told)
    n.call("DELETE", "/later")


COPIES = "document.querySelectorAll('#shards .copy.started').length"


def test_first_look(b, n):
    b.open(n.url + "/_console/")
    check(b.wait("document.querySelectorAll('.node:not(.ghost)').length === 3"), "three nodes", b.text("#nodes"))
    check(b.wait(f"{COPIES} === {2 * SHARDS}"), "every copy of every shard", b.text("#shards"))
    check.equal(b.script("return document.querySelectorAll('#shards .copy.primary').length"), SHARDS, "primaries are marked")
    check.equal(b.texts("#shards tbody th"), [f"i {k}" for k in range(SHARDS)], "a row for each shard")
    check.equal(b.script("return document.querySelectorAll('.node[data-master]').length"), 1, "one master")
    check(b.wait("document.querySelectorAll('.node .bar').length === 6"), "load of each", b.text("#nodes"))
    check.equal(b.script("return document.body.dataset.health"), "green", "green")
    check("term" in b.text("#tiles") or "任期" in b.text("#tiles"), "the term", b.text("#tiles"))
    check(b.wait("document.querySelectorAll('#events .event').length > 5"), "events")
    unnamed = b.script("""return [...document.querySelectorAll('button, input, a, [role=img], [role=region]')].filter(e => !(e.getAttribute('aria-label') ||
        e.getAttribute('aria-labelledby') || e.innerText?.trim())).map(e => e.outerHTML)""")
    check.equal(unnamed, [], "everything has a name for those who listen")
    b.click("#publications")
    check.equal(b.script("return document.querySelectorAll('.event.published').length"), 0, "publications can be left out")
    b.click("#publications")
    b.screenshot("console")


def test_languages_and_phone(b):
    before = b.text("#nodesTitle")
    b.click("#language")
    check({before, b.text("#nodesTitle")} == {"Nodes", "节点"}, "both languages", b.text("#nodesTitle"))
    b.viewport(390, 844, phone=True)
    check.equal(b.script("return document.documentElement.scrollWidth <= innerWidth"), True, "a phone needs no scrolling sideways")
    b.dark(True)
    b.screenshot("console-phone")
    b.dark(False)
    b.viewport(1360, 900)
    b.cdp("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    check.equal(b.script("return getComputedStyle(document.querySelector('.health i')).animationName"), "none", "nothing moves for those who want that")
    b.cdp("Emulation.setEmulatedMedia", features=[])


def test_failover(b, cluster, master):
    master.kill()
    check(b.wait("!document.getElementById('story').hidden && document.querySelector('#steps .master') && document.querySelector('#steps .node_left')"), "the failover is told as a story", b.text("#story"))
    check(b.wait("document.querySelector('.node.ghost')?.dataset.name === arguments[0]", master.name), "who is gone is shown as gone", b.text("#nodes"))
    check(b.wait("document.querySelector('.node[data-master]') !== null && document.querySelector('.node[data-master]').dataset.name !== arguments[0]", master.name), "another leads")
    check(b.wait("document.querySelectorAll('#shards .copy.primary.started').length === arguments[0]", SHARDS), "every shard has a primary", b.text("#shards"))
    check(b.script("return document.getElementById('spoken').innerText.length > 0"), "it is spoken, too")
    b.screenshot("console-failover")
    master.start()
    cluster.wait_green()
    check(b.wait(f"{COPIES} === {2 * SHARDS} && document.body.dataset.health === 'green' && !document.querySelector('.ghost')"), "all is well again", b.text("#shards"))
    check(b.wait("document.querySelector('#steps .green') !== null && document.getElementById('story').dataset.open === 'false'"), "and the story ends", b.text("#story"))
    b.screenshot("console-green")


def test_server_lost(b, cluster, n):
    n.kill()
    check(b.wait("!document.getElementById('lost').hidden && document.querySelectorAll('#lost a').length === 2"), "the node that served the page is gone: others are named", b.text("#lost"))
    n.start()
    check(b.wait("document.getElementById('lost').hidden && document.querySelectorAll('.node:not(.ghost)').length === 3"), "it is back: the page goes on", b.text("#lost"))
    cluster.wait_green()
    check(b.wait(f"{COPIES} === {2 * SHARDS}"), "with all shards", b.text("#shards"))


def main():
    with Cluster(3, **{"cluster.name": "console"}) as cluster:
        check.equal(cluster.nodes[0].call("PUT", "/i", {"settings": {"number_of_shards": SHARDS, "number_of_replicas": 1}})[0], 200, "an index")
        cluster.nodes[0].call("PUT", "/i/_doc/1?refresh=true", {"a": 1})
        cluster.wait_green()
        ids, leader = cluster.ids(), cluster.nodes[0].call("GET", "/_cluster/state/master_node")[1]["master_node"]
        master = next(n for n in cluster.nodes if n.name == ids[leader])
        here = next(n for n in cluster.nodes if n is not master)
        test_files(here)
        test_events(here)
        if not shutil.which("chromedriver") or not shutil.which("chromium"):
            print("nobody looks at the page: chromium and chromium-driver are not installed (BROWSER=1 tools/deps)")
            check.end()
        with Browser(1360, 900, language="en-US") as b:
            test_first_look(b, here)
            test_languages_and_phone(b)
            test_failover(b, cluster, master)
            test_server_lost(b, cluster, here)
            other = [u for u in b.requested() if not u.startswith((here.url, "data:", "chrome", "about:"))]
            check.equal(other, [], "nothing is asked of other hosts")
    check.end()


if __name__ == "__main__":
    main()
