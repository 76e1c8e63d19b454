#!/usr/bin/env python3
"""Shards where nothing can match are skipped, through any node of three; counts as Elasticsearch 7.12.1 gave them for the same documents."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402

check = Checks()
MAPPING = {"properties": {"d": {"type": "date"}, "n": {"type": "long"}, "k": {"type": "keyword"}, "hidden": {"type": "date", "index": False}}}
LATE = {"range": {"d": {"gte": "2025-01-01"}}}
NEVER = {"range": {"d": {"gte": "2050-01-01"}}}
FIRST = "pre_filter_shard_size=1"


def fill(cluster):
    for i in (1, 2):
        status, _ = cluster.nodes[0].call("PUT", f"/i{i}", {
            "settings": {"number_of_shards": 3, "number_of_replicas": 0}, "mappings": MAPPING,
            "aliases": {f"a{i}": {"filter": {"range": {"d": {"gte": "2020-01-01"}}}}}})
        check.equal(status, 200, "an index")
    lines = []
    for i in range(60):
        lines += [{"index": {"_index": f"i{1 + i % 2}", "_id": str(i)}},
                  {"d": f"20{10 + i // 6}-03-{1 + i % 28:02}", "n": i, "k": f"k{i % 5}", "hidden": "2015-01-01"}]
    lines += [{"index": {"_index": "i2", "_id": "x"}}, {"d": "2030-06-01", "n": 1000, "k": "zz"}]
    status, answer = cluster.nodes[1].call("POST", "/_bulk?refresh", lines)
    check.equal((status, answer["errors"]), (200, False), "the documents")
    cluster.wait_green()


def expect(cluster, what, body, query, skipped, found, index="i1,i2"):
    for node in cluster.nodes:
        status, a = node.call("POST", f"/{index}/_search?{query}", body)
        have = (status, a.get("_shards"), a.get("hits", {}).get("total", {}).get("value"))
        check.equal(have, (200, {"total": 6, "successful": 6, "skipped": skipped, "failed": 0}, found), f"{what}, through {node.name}")


def conditions(cluster):
    expect(cluster, "few shards", {"query": LATE}, "", 0, 1)
    expect(cluster, "more than are asked for", {"query": LATE}, "pre_filter_shard_size=5", 5, 1)
    expect(cluster, "as many as are asked for", {"query": LATE}, "pre_filter_shard_size=6", 0, 1)
    expect(cluster, "sorted by a field", {"query": LATE, "sort": ["n"]}, "", 5, 1)
    expect(cluster, "sorted by score first", {"query": LATE, "sort": ["_score", "n"]}, "", 0, 1)
    expect(cluster, "with summed statistics", {"query": LATE}, FIRST + "&search_type=dfs_query_then_fetch", 0, 1)
    expect(cluster, "nothing anywhere", {"query": NEVER}, FIRST, 5, 0)
    expect(cluster, "buckets of every key", {"query": NEVER, "aggs": {"a": {"terms": {"field": "k", "min_doc_count": 0}}}}, FIRST, 0, 0)
    expect(cluster, "a global bucket", {"query": NEVER, "aggs": {"a": {"global": {}}}}, FIRST, 0, 0)
    expect(cluster, "ordinary buckets", {"query": NEVER, "aggs": {"a": {"terms": {"field": "k"}}}}, FIRST, 5, 0)
    cluster.nodes[0].call("PUT", "/i1/_settings", {"index.blocks.write": True})
    expect(cluster, "an index that takes no writes", {"query": LATE}, "", 5, 1)
    cluster.nodes[0].call("PUT", "/i1/_settings", {"index.blocks.write": None})


def queries(cluster):
    none = [("an unmapped field", {"term": {"zz": 1}}), ("dates without an index", {"range": {"hidden": {"gte": "2000"}}}),
            ("no ids", {"ids": {"values": []}}), ("match_none", {"match_none": {}})]
    for what, query in none:
        expect(cluster, what, {"query": query}, FIRST, 5, 0)
    late = [("must", {"bool": {"must": [LATE]}}), ("filter", {"bool": {"filter": [LATE, {"term": {"k": "zz"}}]}}), ("should", {"bool": {"should": [LATE, LATE]}}),
            ("constant_score", {"constant_score": {"filter": LATE}}), ("function_score", {"function_score": {"query": LATE}}),
            ("script_score", {"script_score": {"query": LATE, "script": {"source": "1"}}}), ("boosting", {"boosting": {"positive": LATE, "negative": LATE, "negative_boost": 0.5}})]
    for what, query in late:
        expect(cluster, what, {"query": query}, FIRST, 5, 1)
    expect(cluster, "numbers", {"query": {"range": {"n": {"gte": 500}}}}, FIRST, 0, 1)
    expect(cluster, "dis_max", {"query": {"dis_max": {"queries": [LATE]}}}, FIRST, 0, 1)
    expect(cluster, "one of several", {"query": {"bool": {"should": [LATE, {"term": {"k": "k1"}}]}}}, FIRST, 0, 13)
    expect(cluster, "an index's name", {"query": {"term": {"_index": "i2"}}}, FIRST, 3, 31)
    expect(cluster, "names of indices", {"query": {"prefix": {"_index": "i2"}}}, FIRST, 3, 31)
    expect(cluster, "filters of aliases", {"query": {"match_all": {}}, "sort": ["n"]}, FIRST, 5, 1, "a1,a2")


def contexts(cluster):
    status, a = cluster.nodes[0].call("POST", f"/i1,i2/_search?scroll=1m&{FIRST}", {"query": LATE})
    check.equal((a["_shards"]["skipped"], len(a["hits"]["hits"])), (5, 1), "a scroll")
    status, a = cluster.nodes[1].call("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": a["_scroll_id"]})
    check.equal((status, a["_shards"]["total"], a["hits"]["hits"]), (200, 1, []), "its next page, through another node")
    status, a = cluster.nodes[0].call("POST", "/i1,i2/_pit?keep_alive=1m")
    status, a = cluster.nodes[2].call("POST", f"/_search?{FIRST}", {"query": LATE, "pit": {"id": a["id"]}})
    check.equal((status, a["_shards"]["skipped"], len(a["hits"]["hits"])), (200, 5, 1), "a point in time")
    garbage = {"query": {"range": {"d": {"gte": "garbage"}}}}
    status, a = cluster.nodes[0].call("POST", f"/i2/_search?{FIRST}", garbage)
    check.equal((status, a.get("error", {}).get("phase")), (400, "can_match"), "a date that cannot be read")
    status, a = cluster.nodes[0].call("POST", "/i2/_search", garbage)
    check.equal((status, a.get("error", {}).get("phase")), (400, "query"), "the same, not asked first")
    cluster.nodes[0].call("PUT", "/i1/_doc/new", {"d": "2031-01-01"})
    cluster.nodes[0].call("POST", "/i1/_refresh")
    expect(cluster, "a document that came later", {"query": LATE}, FIRST, 4, 2)


def main():
    with Cluster(3) as cluster:
        fill(cluster)
        conditions(cluster)
        queries(cluster)
        contexts(cluster)
    return check.end()


sys.exit(main())
