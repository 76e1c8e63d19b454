#!/usr/bin/env python3
"""A histogram over ranges that have no end, or lie where a number and the next one are the same: refused or answered, at once, and nothing runs on."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import Node, wait_for  # noqa: E402

check = Checks()
KINDS = {"r": "double_range", "f": "float_range", "l": "long_range", "i": "integer_range", "d": "date_range"}
ENDLESS = [("r", {"gt": -2.5}), ("r", {"lte": 3}), ("r", {}), ("f", {"gte": 1}), ("l", {"gt": 1}), ("l", {"lt": 1}), ("i", {"gte": 1}), ("d", {"gt": 0}), ("d", {"lt": 0})]
FAR = [("r", {"gte": 1e300, "lte": 1e300}), ("f", {"gte": 1e38, "lte": 1e38}), ("l", {"gte": 2**63 - 5, "lte": 2**63 - 1})]


def search(node, field):
    kind = {"date_histogram": {"field": field, "calendar_interval": "1d"}} if field == "d" else {"histogram": {"field": field, "interval": 10, "min_doc_count": 1}}
    return node.call("POST", "/ranges/_search", {"size": 0, "aggs": {"a": kind}})


def main():
    with Node() as node:
        for field, value in ENDLESS + FAR:
            node.call("DELETE", "/ranges")
            node.call("PUT", "/ranges", {"mappings": {"properties": {f: {"type": k} for f, k in KINDS.items()}}})
            node.call("PUT", "/ranges/_doc/1?refresh", {field: value})
            status, answer = search(node, field)
            if (field, value) in ENDLESS:
                check(status == 429 and answer["error"]["root_cause"][0]["type"] == "circuit_breaking_exception", f"{field} {value} is refused", answer)
            else:
                check(status == 200 and len(answer["aggregations"]["a"]["buckets"]) == 1, f"{field} {value} is in one bucket", answer)
        wait_for("no search runs", lambda: "search" not in str(node.call("GET", "/_tasks?actions=*search*")[1]))
    check.end()


main()
