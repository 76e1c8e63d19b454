#!/usr/bin/env python3
"""An index's one type has the name that came first, on all nodes, whoever wrote it and whatever was written at once; it is there again with the cluster. What is
deprecated has Elasticsearch's Warning header."""
import http.client
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import HANG_SECONDS  # noqa: E402

check = Checks()
NAMES = ["aa", "bb", "cc"]
DOCUMENT = "Specifying types in document index requests is deprecated, use the typeless endpoints instead (/{index}/_doc/{id}, /{index}/_doc, or /{index}/_create/{id})."
NAMED = "Using include_type_name in {} requests is deprecated. The parameter will be removed in the next major version."


def warnings(node, method, path, body=None):
    conn = http.client.HTTPConnection(node.host, node.port, timeout=HANG_SECONDS)
    try:
        conn.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        r = conn.getresponse()
        r.read()
        return [v for k, v in r.getheaders() if k == "Warning"]
    finally:
        conn.close()


def warned(node, method, path, text, body=None):
    want = [f'299 Elasticsearch-7.12.1-3186837139b9c6b6d23c3200870651f10d3343b7 "[types removal] {text}"'] if text else []
    check.equal(warnings(node, method, path, body), want, f"warning of {method} {path}")


def rejected(answer, index, there, other):
    check.equal(answer[0], 400, f"{other} in {index}")
    check.equal(answer[1]["error"]["reason"], f"Rejecting mapping update to [{index}] as the final mapping would have more than 1 type: [{there}, {other}]", "why")


def race(cluster):
    """Documents of three types at once, in an index without a mapping: one type wins, and has all of its documents."""
    outcomes = []

    def write(k):
        for j in range(15):
            outcomes.append((NAMES[k % 3], cluster.nodes[k % 3].call("PUT", f"/r/{NAMES[k % 3]}/{k}-{j}", {"x": k})[0]))

    threads = [threading.Thread(target=write, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    won = {name for name, status in outcomes if status == 201}
    check.equal(len(won), 1, "one type wins")
    check.equal(sorted({s for _, s in outcomes}), [201, 400], "others are refused")
    check.equal(sum(status == 201 for _, status in outcomes), 30, "and it has all of its own")
    return won.pop()


def main():
    with Cluster(3) as cluster:
        a, b, c = cluster.nodes
        a.call("PUT", "/i", {"settings": {"number_of_shards": 3, "number_of_replicas": 1}})
        a.call("PUT", "/r", {"settings": {"number_of_shards": 3, "number_of_replicas": 1}})
        check.equal(b.call("PUT", "/i/hotel/1?refresh=true", {"n": 1})[0], 201, "the first document")
        for node in cluster.nodes:
            rejected(node.call("PUT", "/i/motel/2", {"n": 2}), "i", "hotel", "motel")
            rejected(node.call("DELETE", "/i/motel/1"), "i", "hotel", "motel")
            check.equal(node.call("GET", "/i/hotel/1")[1]["found"], True, "read by its type")
            check.equal(node.call("GET", "/i/motel/1")[1]["found"], False, "read by another")
            check.equal(node.call("GET", "/i/_search")[1]["hits"]["hits"][0]["_type"], "hotel", "a hit")
            check.equal(node.call("GET", "/i/hotel/_count")[1]["count"], 1, "searched by its type")
            check.equal(node.call("GET", "/i/motel/_count")[1]["count"], 0, "searched by another")
            check.equal(node.call("POST", "/i/motel/1/_update", {"doc": {"n": 3}})[0], 404, "updated by another")
        check.equal(c.call("POST", "/i/hotel/1/_update", {"script": "ctx._source.t = ctx._type"})[0], 200, "updated by its type")
        check.equal(a.call("GET", "/i/_source/1")[1], {"n": 1, "t": "hotel"}, "a script has it")
        won = race(cluster)
        warned(a, "PUT", "/i/hotel/9", DOCUMENT, {"n": 9})
        warned(a, "PUT", "/i/_doc/9", None, {"n": 9})
        warned(a, "GET", "/i/hotel/_search", "Specifying types in search requests is deprecated.")
        warned(a, "GET", "/i/_search", None)
        warned(a, "GET", "/i/_mapping?include_type_name=true", NAMED.format("get mapping"))
        warned(a, "PUT", "/k?include_type_name=true", NAMED.format("create index"), {"mappings": {"hotel": {}}})
        for node in cluster.nodes:
            node.stop()
        cluster.start()
        cluster.wait_green("i,r")
        for node in cluster.nodes:
            check.equal(list(node.call("GET", "/r/_mapping?include_type_name=true")[1]["r"]["mappings"]), [won], "it is there again")
            rejected(node.call("PUT", "/i/motel/2", {"n": 2}), "i", "hotel", "motel")
    return check.end()


sys.exit(main())
