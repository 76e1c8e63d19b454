#!/usr/bin/env python3
"""The official Python clients 7.12 and 7.17 as their users use them: index, bulk helper, search, scan helper, update, delete.

From 7.14 on a client refuses to speak to what does not say that it is Elasticsearch."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from clients.installed import Checks, each_version  # noqa: E402
from node import Node  # noqa: E402

each_version(__file__, "elasticsearch", ["7.12.1", "7.17.13"])
from elasticsearch import Elasticsearch, NotFoundError, RequestError, helpers  # noqa: E402

check = Checks()

with Node() as node:
    es = Elasticsearch([node.url])
    check("info", es.info()["version"]["number"] == "7.12.1" and es.ping())
    r = es.indices.create("books", body={"mappings": {"properties": {"title": {"type": "text"}, "year": {"type": "integer"}, "tag": {"type": "keyword"}}}})
    check("create", r["acknowledged"] and es.indices.exists("books"))
    try:
        es.indices.create("books")
        check("create twice is refused", False)
    except RequestError as e:
        check("create twice is refused", e.error == "resource_already_exists_exception", e.error)
    r = es.index("books", id=1, body={"title": "The Art of Search", "year": 2021, "tag": "a"}, refresh=True)
    check("index", r["result"] == "created" and r["_version"] == 1)
    ok, errors = helpers.bulk(es, ({"_index": "books", "_id": i, "title": f"volume {i} of search", "year": 1900 + i % 100, "tag": "bulk"}
                                   for i in range(2, 2502)), refresh=True)
    check("bulk helper", ok == 2500 and not errors, (ok, errors))
    check("parallel bulk", all(ok for ok, _ in helpers.parallel_bulk(es, ({"_index": "books", "_id": f"p{i}", "title": "parallel", "tag": "p"}
                                                                          for i in range(300)), chunk_size=50)))
    es.indices.refresh("books")
    check("count", es.count(index="books")["count"] == 2801, es.count(index="books"))
    r = es.search(index="books", body={"query": {"match": {"title": "art"}}})
    check("search", r["hits"]["total"]["value"] == 1 and r["hits"]["hits"][0]["_id"] == "1", r)
    r = es.search(index="books", body={"query": {"term": {"tag": "bulk"}}, "sort": ["year"], "size": 3, "track_total_hits": True})
    check("sorted search", r["hits"]["total"]["value"] == 2500 and [h["sort"][0] for h in r["hits"]["hits"]] == [1900] * 3, r)
    seen = [h["_id"] for h in helpers.scan(es, index="books", query={"query": {"term": {"tag": "bulk"}}}, size=400)]
    check("scan helper", len(seen) == 2500 and len(set(seen)) == 2500, len(seen))
    r = es.update("books", id=1, body={"doc": {"year": 2022}})
    check("update", r["result"] == "updated" and es.get("books", id=1)["_source"]["year"] == 2022)
    r = es.update("books", id=1, body={"script": {"source": "ctx._source.year += params.n", "params": {"n": 3}}})
    check("scripted update", es.get("books", id=1)["_source"]["year"] == 2025)
    check("exists", es.exists("books", id=1) and not es.exists("books", id="nope"))
    r = es.delete("books", id=1)
    check("delete", r["result"] == "deleted")
    try:
        es.get("books", id=1)
        check("get of a deleted one", False)
    except NotFoundError as e:
        check("get of a deleted one", e.info["found"] is False)
    r = es.mget(index="books", body={"ids": ["2", "nope"]})
    check("mget", [d["found"] for d in r["docs"]] == [True, False], r)
    es.indices.refresh("books")
    r = es.search(index="books", body={"size": 0, "aggs": {"t": {"terms": {"field": "tag"}, "aggs": {"y": {"avg": {"field": "year"}}}}}})
    check("aggregation", [b["key"] for b in r["aggregations"]["t"]["buckets"]] == ["bulk", "p"], r)
    r = es.delete_by_query(index="books", body={"query": {"term": {"tag": "p"}}}, refresh=True)
    check("delete by query", r["deleted"] == 300, r)
    check("cluster health", es.cluster.health()["number_of_nodes"] == 1)
    check("cat", "books" in es.cat.indices())
    check("drop", es.indices.delete("books")["acknowledged"] and not es.indices.exists("books"))
check.end()
