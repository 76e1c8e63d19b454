#!/usr/bin/env python3
"""What a task does on other nodes: shown there below it, and cancelled with it."""
import http.client
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import promised, wait_for  # noqa: E402

SHARDS, DOCS = 3, 30000
SLOW = {"script_score": {"query": {"match_all": {}},
                         "script": {"source": "double x = 0; for (int i = 0; i < 3000; i++) { x += i % 7; } return x;"}}}
QUERY = "indices:data/read/search[phase/query]"
check = Checks()


def fill(cluster):
    node = cluster.nodes[0]
    node.call("PUT", "/i", {"settings": {"number_of_shards": SHARDS, "number_of_replicas": 0, "refresh_interval": -1}})
    for at in range(0, DOCS, 5000):
        lines = []
        for i in range(at, at + 5000):
            lines += [{"index": {"_id": str(i)}}, {"n": i}]
        status, answer = node.call("POST", "/i/_bulk", lines)
        check.equal((status, answer.get("errors")), (200, False), "a bulk")
    node.call("POST", "/i/_refresh")
    cluster.wait_green("i")
    check.equal({c[3] for c in cluster.copies("i")}, {"n1", "n2", "n3"}, "a shard is on every node")


def tasks(node, actions, group="none"):
    status, answer = node.call("GET", f"/_tasks?detailed&group_by={group}&actions={actions}")
    assert status == 200, answer
    return answer["nodes"] if group == "nodes" else answer["tasks"]


def in_background(node, path, body):
    said = {}

    def ask():
        said["answer"] = node.call("POST", path, body)
    t = threading.Thread(target=ask)
    t.start()
    return t, said


def gone(cluster, what):
    begin = time.monotonic()
    wait_for(f"no task is left: {what}", lambda: not any(tasks(n, "indices:data/*") for n in cluster.nodes))
    took = time.monotonic() - begin
    check(took < promised(2), f"it ends soon: {what}", f"{took:.2f} s")


def all_shards(cluster):
    wait_for("all shards search", lambda: sum(t["action"] == QUERY for t in tasks(cluster.nodes[0], "*search*")) == SHARDS)


def a_search(cluster):
    thread, said = in_background(cluster.nodes[0], "/i/_search", {"query": SLOW})
    all_shards(cluster)
    listed = tasks(cluster.nodes[1], "indices:data/read/*")  # any node may be asked
    parent = next(t for t in listed if "parent_task_id" not in t)
    children = [t for t in listed if "parent_task_id" in t]
    own = f"{parent['node']}:{parent['id']}"
    check.equal(parent["action"], "indices:data/read/search", "the search is a task")
    check.equal({t["parent_task_id"] for t in children}, {own}, "what its shards do is below it")
    check.equal({t["node"] for t in children}, set(cluster.ids()), "each where it runs")
    check.equal(sorted(t["description"] for t in children), [f"shardId[[i][{s}]]" for s in range(SHARDS)], "they say what they do")
    check.equal({(t["type"], t["cancellable"]) for t in children if t["node"] == parent["node"]}, {("direct", True)}, "one is of the node itself")
    check.equal({(t["type"], t["cancellable"]) for t in children if t["node"] != parent["node"]}, {("transport", True)}, "others came over the network")
    groups = tasks(cluster.nodes[2], "indices:data/read/*", "parents")
    check.equal(list(groups), [own], "by parents: one group")
    check.equal(sorted(t["id"] for t in groups[own].get("children", [])), sorted(t["id"] for t in children), "with its children")
    nodes = tasks(cluster.nodes[2], QUERY, "nodes")
    check.equal({k: len(v["tasks"]) for k, v in nodes.items()}, {i: 1 for i in cluster.ids()}, "by nodes: one each")
    status, answer = cluster.nodes[2].call("GET", f"/_tasks?group_by=none&parent_task_id={own}")
    check.equal(sorted(t["id"] for t in answer["tasks"]), sorted(t["id"] for t in children), "the children by their parent's id")
    status, answer = cluster.nodes[1].call("POST", f"/_tasks/{own}/_cancel")
    check.equal(status, 200, "it is cancelled, through another node")
    gone(cluster, "a search")
    thread.join()
    status, answer = said["answer"]
    check(status >= 400 and "task_cancelled_exception" in json.dumps(answer), "its client hears of it", said["answer"])


def a_child(cluster):
    """One shard's part alone is cancelled: the others' answer."""
    thread, said = in_background(cluster.nodes[0], "/i/_search", {"query": {"bool": {"must": [SLOW], "filter": [{"range": {"n": {"lt": DOCS}}}]}}})
    all_shards(cluster)
    for t in tasks(cluster.nodes[0], QUERY):
        status, _ = cluster.nodes[0].call("POST", f"/_tasks/{t['node']}:{t['id']}/_cancel")
        check.equal(status, 200, f"a child on {t['node']}")
    gone(cluster, "children")
    thread.join()
    check("task_cancelled_exception" in json.dumps(said["answer"][1]), "children that were cancelled", said["answer"])


def hang_up(cluster):
    node = cluster.nodes[1]
    conn = http.client.HTTPConnection(node.host, node.port)
    conn.request("POST", "/i/_search", json.dumps({"query": SLOW}), {"Content-Type": "application/json"})
    all_shards(cluster)
    conn.sock.close()
    conn.close()
    gone(cluster, "a client that hung up")


def by_query(cluster):
    status, answer = cluster.nodes[2].call("POST", "/i/_update_by_query?wait_for_completion=false&slices=2", {
        "query": SLOW, "script": {"source": "ctx._source.u = 1"}})
    own = answer["task"]
    wait_for("its searches run", lambda: any(t["action"].startswith("indices:data/read/search[")
                                             for t in tasks(cluster.nodes[0], "indices:data/*")))
    groups = tasks(cluster.nodes[0], "indices:data/*", "parents")
    check.equal(list(groups), [own], "everything is below the operation")
    status, _ = cluster.nodes[0].call("POST", f"/_tasks/{own}/_cancel")
    check.equal(status, 200, "it is cancelled")
    gone(cluster, "an operation by query")


def bulks(cluster):
    lines = []
    for i in range(20000):
        lines += [{"index": {}}, {"t": f"some words {i} " * 20}]
    seen, n = {}, 0
    while len(seen) < 3 and n < 20:
        thread, _ = in_background(cluster.nodes[0], "/j/_bulk", lines)
        while thread.is_alive():
            seen.update((t["action"], t) for t in tasks(cluster.nodes[1], "indices:data/write/*"))
        thread.join()
        n += 1
    check.equal(sorted(seen), ["indices:data/write/bulk", "indices:data/write/bulk[s]", "indices:data/write/bulk[s][p]"], "a bulk's tasks")
    part = seen.get("indices:data/write/bulk[s][p]", {})
    check(part.get("description", "").startswith("requests["), "a shard's part says what it is", part)
    check.equal(part.get("status"), {"phase": "primary"}, "and where it stands")


def main():
    with Cluster(3) as cluster:
        fill(cluster)
        a_search(cluster)
        a_child(cluster)
        hang_up(cluster)
        by_query(cluster)
        bulks(cluster)
        listing = cluster.nodes[0].call("GET", "/_tasks?group_by=parents&actions=cluster:monitor/tasks/lists*")[1]["tasks"]
        check.equal([len(t.get("children", [])) for t in listing.values()], [3], "the listing's own tasks, on every node")
    return check.end()


sys.exit(main())
