#!/usr/bin/env python3
"""The official Python client 8, which asks for the answers of a server of its own version, and reads those of 7.12."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from clients.installed import Checks, each_version  # noqa: E402
from node import Node  # noqa: E402

each_version(__file__, "elasticsearch", ["8.19.3"])
from elasticsearch import BadRequestError, Elasticsearch, NotFoundError, helpers  # noqa: E402

check = Checks()

with Node() as node:
    es = Elasticsearch(node.url)
    check("info", es.info()["version"]["number"] == "7.12.1" and es.ping())
    r = es.indices.create(index="books", mappings={"properties": {"title": {"type": "text"}, "year": {"type": "integer"}}})
    check("create", r["acknowledged"] and es.indices.exists(index="books"))
    check("its media type", r.meta.headers["content-type"] == "application/vnd.elasticsearch+json;compatible-with=8", r.meta.headers)
    check("the product", r.meta.headers["x-elastic-product"] == "Elasticsearch")
    ok, errors = helpers.bulk(es, ({"_index": "books", "_id": i, "title": f"volume {i}", "year": 1900 + i} for i in range(100)), refresh=True)
    check("bulk helper", ok == 100 and not errors, (ok, errors))
    r = es.search(index="books", query={"match": {"title": "volume"}}, sort=[{"year": "desc"}], size=1, aggs={"y": {"max": {"field": "year"}}})
    check("search", r["hits"]["total"]["value"] == 100 and r["hits"]["hits"][0]["_id"] == "99" and r["aggregations"]["y"]["value"] == 1999, r)
    check("scan helper", len(list(helpers.scan(es, index="books", size=7))) == 100)
    pit = es.open_point_in_time(index="books", keep_alive="1m")
    r = es.search(pit={"id": pit["id"]}, size=1)
    check("point in time", r["hits"]["total"]["value"] == 100 and es.close_point_in_time(id=r["pit_id"])["succeeded"], r)
    r = es.msearch(searches=[{"index": "books"}, {"query": {"term": {"year": 1907}}}, {}, {"size": 0}])
    check("msearch", [x["hits"]["total"]["value"] for x in r["responses"]] == [1, 100], r)
    check("update", es.update(index="books", id="1", doc={"year": 5})["result"] == "updated" and es.get(index="books", id="1")["_source"]["year"] == 5)
    check("delete", es.delete(index="books", id="2")["result"] == "deleted" and not es.exists(index="books", id="2"))
    try:
        es.get(index="books", id="nope")
        check("get of none", False)
    except NotFoundError as e:
        check("get of none", e.body["found"] is False)
    try:
        es.search(index="books", query={"nope": {}})
        check("a bad query is refused", False)
    except BadRequestError as e:
        check("a bad query is refused", e.error == "parsing_exception", e)
    check("cat as text and as JSON", "books" in es.cat.indices() and es.cat.count(index="books", format="json")[0]["count"].isdigit())
    check("licence", es.license.get()["license"]["type"] == "basic" and not es.xpack.info()["features"]["security"]["available"])
    check("drop", es.indices.delete(index="books")["acknowledged"] and not es.indices.exists(index="books"))
check.end()
