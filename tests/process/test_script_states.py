#!/usr/bin/env python3
"""What states of scripted_metric may take: values that are shared a million times, or twice at each of sixty levels, are refused, and the
node lives; so are percolate queries within percolate queries that nobody runs."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import Node  # noqa: E402

check = Checks()


def scripted(node, combine, reduce):
    body = {"size": 0, "aggs": {"s": {"scripted_metric": {"init_script": "state.n = 0", "map_script": "state.n++", "combine_script": combine, "reduce_script": reduce}}}}
    return node.call("POST", "/i/_search", body)


def test_shared(node):
    doubled = "def l = [1]; for (int i = 0; i < 60; i++) { l = [l, l] } return l"
    for combine, reduce in ((doubled, "return 1"), ("return state.n", doubled)):
        status, answer = scripted(node, combine, reduce)
        check(status >= 400, "a value that doubles at each of sixty levels", (status, str(answer)[:300]))
    status, answer = scripted(node, "return state.n", "def n = 0; for (s in states) { n += s } return n")
    check(status == 200 and answer["aggregations"]["s"]["value"] == 3, "the node lives", (status, str(answer)[:300]))
    status, answer = node.call("POST", "/i/_update/1", {"script": "def l = [1]; for (int i = 0; i < 60; i++) { l = [l, l] } def m = [:]; m[l] = 1; ctx._source.m = m"})
    check(status >= 400, "such a value as a key", (status, str(answer)[:300]))
    check.equal(node.call("GET", "/i/_count")[1].get("count"), 3, "and lives")


def nested(levels):
    query = {"match_all": {}}
    for i in range(levels):
        query = {"percolate": {"field": "q", "document": {f"n{i}": 1, "q": query}}}
    return query


def test_held(node):
    node.call("PUT", "/p", {"mappings": {"properties": {"q": {"type": "percolator"}}}})
    status, answer = node.call("PUT", "/p/_doc/1?refresh=true", {"n": 1, "q": nested(30)})
    check(status in (200, 201, 400), "queries within queries that a document holds", (status, str(answer)[:300]))
    status, answer = node.call("POST", "/_aliases", {"actions": [{"add": {"index": "p", "alias": "a", "filter": nested(30)}}]})
    check(status in (200, 400), "and that a filter of an alias has", (status, str(answer)[:300]))
    check.equal(node.call("GET", "/p/_count")[0], 200, "the node answers")


def main():
    with Node() as node:
        for i in range(3):
            node.call("PUT", f"/i/_doc/{i + 1}?refresh=true", {"n": i})
        test_shared(node)
        test_held(node)
        node.call("PUT", "/k", {"mappings": {"properties": {"k": {"type": "keyword", "null_value": "NULL"}}}})
        status, answer = node.call("POST", "/k/_termvectors", {"doc": {"k": None, "new": 1}, "fields": ["k"]})
        check(status == 200 and "NULL" in str(answer.get("term_vectors", {})), "the value of a null, of a mapping that grows", (status, str(answer)[:300]))
        status, answer = node.call("POST", "/i/_mtermvectors", {"ids": [str(i) for i in range(200000)]})
        check(status in (200, 429), "many ids", (status, str(answer)[:200]))
    check.end()


if __name__ == "__main__":
    main()
