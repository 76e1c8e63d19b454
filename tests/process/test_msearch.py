#!/usr/bin/env python3
"""Many searches in one request: all are answered in their order, few run at a time, and others are answered meanwhile."""
import json
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import Node, wait_for  # noqa: E402

# Of one document of some 4,000: the searches with it last for minutes.
SLOW = {"query": {"script": {"script": "String s = 'ab'; for (int i = 0; i < 14; ++i) { s += s } int n = 0; for (int i = 0; i < 1000; ++i) { n += s.replace('a', 'bc').length() } return n > 0;"}}}
SEARCHES = 300


def running(node):
    status, answer = node.call("GET", "/_tasks?actions=indices:data/read/search")
    assert status == 200, answer
    return sum(len(n["tasks"]) for n in answer["nodes"].values())


def answers_come_in_order(node, params):
    """Searches for one document each, of several shards and of one; in between some that fail before they reach a shard."""
    lines = []
    for i in range(SEARCHES):
        index = "absent" if i % 7 == 3 else "shards" if i % 2 else "one"
        lines += [{"index": index}, {"query": {"term": {"n": i}}}]
    status, answer = node.call("POST", "/_msearch" + params, lines)
    assert status == 200, answer
    assert len(answer["responses"]) == SEARCHES
    for i, r in enumerate(answer["responses"]):
        if i % 7 == 3:
            assert r["status"] == 404 and r["error"]["type"] == "index_not_found_exception", r
        else:
            assert r["status"] == 200 and [h["_source"]["n"] for h in r["hits"]["hits"]] == [i], r


def few_run(node, params, most):
    """Begins many slow searches, sees how many run, and leaves."""
    body = "".join(json.dumps(line) + "\n" for _ in range(50) for line in ({}, SLOW)).encode()
    with socket.create_connection((node.host, node.port)) as s:
        s.sendall(f"POST /one/_msearch{params} HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-ndjson\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        wait_for(f"{most} searches of {params or 'no parameters'}", lambda: running(node) >= most)
        for i in range(20):
            status, answer = node.call("GET", f"/one/_doc/{i}")
            assert status == 200 and answer["found"], answer
        assert running(node) == most, running(node)
    wait_for("the end of what nobody waits for", lambda: running(node) == 0)


def main():
    with Node() as node:
        for index, shards in (("one", 1), ("shards", 3)):
            assert node.call("PUT", f"/{index}", {"settings": {"number_of_shards": shards, "number_of_replicas": 0}})[0] == 200
            lines = [line for i in range(4000 if index == "one" else SEARCHES) for line in ({"index": {"_id": str(i)}}, {"n": i})]
            assert node.call("POST", f"/{index}/_bulk?refresh=true", lines)[1]["errors"] is False
        for params in ("", "?max_concurrent_searches=1", "?max_concurrent_searches=3", "?max_concurrent_searches=1000"):
            answers_come_in_order(node, params)
        info = node.call("GET", "/_nodes/_local/os")[1]["nodes"].popitem()[1]
        few_run(node, "?max_concurrent_searches=1", 1)
        few_run(node, "", min(info["os"]["allocated_processors"] * 3 // 2, 10))
        status, answer = node.call("POST", "/_msearch?max_concurrent_searches=0", [{}, {}])
        assert status == 400, answer
    print("6 passed, 0 failed")


main()
