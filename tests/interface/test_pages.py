#!/usr/bin/env python3
"""What a search answers with: sorting, paging, highlighting, limits."""
import sys

import rules
from test_queries import km

HOTELS = rules.hotels()


def rule_response(index):
    """hits.total.value, hits.max_score, hits.hits[] with _source and _score; sort values where sorted."""
    index.with_hotels()
    answer = index.search(query={"term": {"city": "上海"}})
    assert answer["hits"]["total"] == {"value": 20, "relation": "eq"} and answer["timed_out"] is False and answer["_shards"]["failed"] == 0
    hit = answer["hits"]["hits"][0]
    assert set(hit) == {"_index", "_type", "_id", "_score", "_source"} and hit["_source"] == HOTELS[int(hit["_id"])]
    hit = index.search(size=1, _source=False, stored_fields=["_source"])["hits"]["hits"][0]
    assert "_source" in hit and "_source" not in index.search(size=1, _source=False)["hits"]["hits"][0]
    hit = index.search(sort=["price"])["hits"]["hits"][0]
    assert hit["_score"] is None and hit["sort"] == [min(d["price"] for d in HOTELS)]


def rule_body(index):
    """One body may hold all of them: query, from, size, sort, highlight, aggs, suggest; what else it holds is refused."""
    index.create({"properties": {"t": {"type": "text"}, "n": {"type": "integer"}, "s": {"type": "completion"}}})
    index.put([{"t": f"word {i}", "n": i, "s": [f"word{i % 3}"]} for i in range(9)])
    body = {"query": {"match": {"t": "word"}}, "from": 2, "size": 3, "sort": [{"n": "desc"}], "highlight": {"fields": {"t": {}}}, "aggs": {"top": {"max": {"field": "n"}}},
            "suggest": {"words": {"prefix": "wor", "completion": {"field": "s", "skip_duplicates": True}}}}
    answer = index.search(**body)
    assert [(h["_id"], h["sort"], h["highlight"]) for h in answer["hits"]["hits"]] == [(str(i), [i], {"t": [f"<em>word</em> {i}"]}) for i in (6, 5, 4)]
    assert answer["aggregations"] == {"top": {"value": 8.0}} and answer["hits"]["total"]["value"] == 9
    assert sorted(o["text"] for o in answer["suggest"]["words"][0]["options"]) == ["word0", "word1", "word2"]
    assert index.refused("GET", "_search", {**body, "limit": 3}) == "parsing_exception"
    assert answer["hits"]["hits"] == index.ok("POST", "_search", body)["hits"]["hits"]


def rule_totals_stop_at_ten_thousand(index):
    """Totals are exact to 10,000, and a lower bound beyond; track_total_hits counts on."""
    index.create().put([{"n": n} for n in range(10050)])
    assert index.search()["hits"]["total"] == {"value": 10000, "relation": "gte"}
    assert index.search(track_total_hits=True)["hits"]["total"] == {"value": 10050, "relation": "eq"}


def rule_sort_by_field(index):
    """Sorts by keyword, number and date, either way; later keys decide among equals."""
    index.with_hotels()
    for field in ("city", "price", "score", "open"):
        for order in ("asc", "desc"):
            hits = index.search(sort=[{field: order}], size=60)["hits"]["hits"]
            have = [d["_source"][field] for d in hits]
            code = (lambda v: v.encode()) if isinstance(have[0], str) else (lambda v: v)
            assert have == sorted(have, key=code, reverse=order == "desc"), (field, order)
    have = index.ids({"match_all": {}}, sort=[{"city": "desc"}, {"price": "asc"}, {"id": "desc"}])
    want = sorted(HOTELS, key=lambda d: -d["id"])
    want = sorted(sorted(want, key=lambda d: d["price"]), key=lambda d: d["city"].encode(), reverse=True)
    assert have == [str(d["id"]) for d in want]


def rule_text_is_not_sortable(index):
    """Text fields hold terms, not values: they cannot be sorted by."""
    index.with_hotels()
    assert index.refused("GET", "_search", {"sort": ["title"]}) == "illegal_argument_exception"


def rule_sort_by_distance(index):
    """_geo_distance sorts by the distance to a point, in the unit asked for; the hit's sort value is the distance."""
    index.with_hotels()
    sort = {"_geo_distance": {"at": "31.2,120.7", "order": "asc", "unit": "km"}}
    hits = index.search(sort=[sort], size=60)["hits"]["hits"]
    near, centre = [h["sort"][0] for h in hits], {"lat": 31.2, "lon": 120.7}
    assert len(near) == 60 and near == sorted(near)
    assert all(abs(h["sort"][0] - km(h["_source"]["at"], centre)) < 0.01 for h in hits)
    sort["_geo_distance"].update(order="desc", unit="m")
    far = [h["sort"][0] for h in index.search(sort=[sort], size=60)["hits"]["hits"]]
    assert all(abs(a / 1000 - b) < 1e-6 * b + 1e-9 for a, b in zip(far, reversed(near)))


def rule_from_and_size(index):
    """from skips, size limits; ten documents unless told otherwise."""
    index.with_hotels()
    assert len(index.search()["hits"]["hits"]) == 10
    whole = index.ids({"match_all": {}}, sort=["id"])
    for start, size in ((0, 7), (7, 7), (55, 10), (60, 10), (3, 0)):
        assert index.ids({"match_all": {}}, sort=["id"], **{"from": start, "size": size}) == whole[start:start + size]


def rule_collapse(index):
    """A collapse keeps the best document of each value; a field of several values is refused where it would count."""
    index.with_hotels()
    hits = index.search(collapse={"field": "city"}, sort=[{"price": "desc"}, {"id": "asc"}])["hits"]["hits"]
    best = [next(d for d in sorted(HOTELS, key=lambda d: (-d["price"], d["id"])) if d["city"] == h["fields"]["city"][0]) for h in hits]
    assert [int(h["_id"]) for h in hits] == [d["id"] for d in best] and len(hits) == 3
    index.put([{"id": 900, "city": ["上海", "北京"], "price": 0}])
    assert len(index.search(collapse={"field": "city"}, sort=[{"price": "desc"}], size=2)["hits"]["hits"]) == 2
    assert index.refused("GET", "_search", {"collapse": {"field": "city"}, "sort": ["price"]}, status=500) == "illegal_state_exception"


def rule_window(index):
    """from + size above 10,000 is refused."""
    index.create()
    assert index.ids({"match_all": {}}, **{"from": 9990, "size": 10}) == []
    assert index.refused("GET", "_search", {"from": 9991, "size": 10}) == "illegal_argument_exception"
    assert index.refused("GET", "_search", {"size": 10001}) == "illegal_argument_exception"
    assert index.refused("GET", "_search?scroll=1m", {"size": 10001}) == "illegal_argument_exception"
    assert index.refused("GET", "_search", {"size": 10001, "sort": ["_doc"], "search_after": [1]}) == "illegal_argument_exception"


def rule_search_after(index):
    """search_after goes on behind the last page's sort values; it needs a sort, and no from."""
    index.with_hotels(number_of_shards=2)
    seen, after = [], None
    while True:
        hits = index.search(sort=[{"price": "desc"}, {"id": "asc"}], size=7, **({"search_after": after} if after else {}))["hits"]["hits"]
        if not hits:
            break
        seen += [int(h["_id"]) for h in hits]
        after = hits[-1]["sort"]
    assert seen == [d["id"] for d in sorted(HOTELS, key=lambda d: (-d["price"], d["id"]))]
    assert index.refused("GET", "_search", {"search_after": [1]}) == "illegal_argument_exception"
    assert index.refused("GET", "_search", {"search_after": [1, 2], "sort": ["price", "id"], "from": 3}, status=500) == "search_exception"


def rule_scroll(index):
    """A scroll reads on in the state that its first page saw, whatever is written since."""
    index.with_hotels()
    answer = index.ok("GET", "_search?scroll=1m", {"size": 25, "sort": ["id"]})
    index.ok("PUT", "_doc/1000?refresh=true", {"id": 1000})
    index.ok("DELETE", "_doc/59?refresh=true")
    seen = [h["_id"] for h in answer["hits"]["hits"]]
    while answer["hits"]["hits"]:
        answer = index.ok("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": answer["_scroll_id"]})
        seen += [h["_id"] for h in answer["hits"]["hits"]]
    assert seen == [str(i) for i in range(60)]
    assert index.ok("DELETE", "/_search/scroll", {"scroll_id": answer["_scroll_id"]}) == {"succeeded": True, "num_freed": 1}
    assert index.call("POST", "/_search/scroll", {"scroll_id": answer["_scroll_id"]})[0] == 404


def rule_point_in_time(index):
    """A point in time is a snapshot for many searches: pages by search_after are those of its moment, whatever is written since;
    among equals _shard_doc decides."""
    index.with_hotels(number_of_shards=3)
    opened = index.ok("POST", "_pit?keep_alive=1m")
    assert list(opened) == ["id"]
    index.ok("PUT", "_doc/1000?refresh=true", {"id": 1000, "city": "上海"})
    index.ok("DELETE", "_doc/59?refresh=true")
    pit = {"id": opened["id"], "keep_alive": "1m"}
    for sort, n_values in (([{"city": "desc"}], 2), (["city", {"_shard_doc": "desc"}], 2), (["_score"], 2), ([{"price": "asc"}, {"id": "asc"}], 3)):
        seen, after = [], None
        while True:
            answer = index.ok("POST", "/_search", {"pit": pit, "sort": sort, "size": 7, **({"search_after": after} if after else {})})
            assert answer["pit_id"] == opened["id"] and answer["hits"]["total"]["value"] == 60
            hits = answer["hits"]["hits"]
            if not hits:
                break
            assert all(len(h["sort"]) == n_values for h in hits)
            seen += [h["_id"] for h in hits]
            after = hits[-1]["sort"]
        assert sorted(seen, key=int) == [str(i) for i in range(60)], sort
    answer = index.ok("POST", "/_search", {"pit": pit, "size": 0, "aggs": {"n": {"value_count": {"field": "id"}}}})
    assert answer["aggregations"]["n"]["value"] == 60 and index.search()["hits"]["total"]["value"] == 60
    assert len(index.ok("POST", "/_search", {"pit": pit, "sort": ["price"], "search_after": [100]})["hits"]["hits"][0]["sort"]) == 1
    groups = index.ok("POST", "/_search", {"pit": pit, "collapse": {"field": "city", "inner_hits": {"name": "i", "size": 60}}})["hits"]["hits"]
    assert sorted(len(g["inner_hits"]["i"]["hits"]["hits"]) for g in groups) == [20, 20, 20]
    assert index.ok("DELETE", "/_pit", {"id": opened["id"]}) == {"succeeded": True, "num_freed": 3}
    assert index.call("DELETE", "/_pit", {"id": opened["id"]}) == (404, {"succeeded": True, "num_freed": 0})
    assert index.refused("POST", "/_search", {"pit": pit}, status=404) == "search_context_missing_exception"


def rule_point_in_time_refusals(index):
    """What a point in time does not go with, ids that are none, indices that are gone."""
    index.with_hotels()
    opened = index.ok("POST", "_pit?keep_alive=1m")
    validation = "action_request_validation_exception"
    for path, body in (("_search", {}), ("/_search?routing=a", {}), ("/_search?preference=_local", {}), ("/_search?ignore_unavailable=true", {}), ("/_search?scroll=1m", {})):
        assert index.refused("POST", path, {"pit": opened, **body}) == validation, path
    assert index.refused("POST", "_search", {"sort": ["_shard_doc"]}) == validation
    assert index.refused("POST", "_pit") == validation == index.refused("POST", "/_pit?keep_alive=1m")
    assert index.refused("POST", "_pit?keep_alive=2d") == "illegal_argument_exception"
    assert index.refused("POST", "_pit?keep_alive=1m&size=3") == "illegal_argument_exception"
    assert index.refused("POST", f"/{index.name}-none/_pit?keep_alive=1m", status=404) == "index_not_found_exception"
    scroll = index.ok("GET", "_search?scroll=1m")["_scroll_id"]
    for ident in ("", "x", "!!", scroll):
        assert index.refused("POST", "/_search", {"pit": {"id": ident}}) == "illegal_argument_exception"
        assert index.refused("DELETE", "/_pit", {"id": ident}) == "illegal_argument_exception"
    assert index.refused("DELETE", "/_pit", {}) == "illegal_argument_exception"
    assert index.refused("DELETE", "/_pit", {"id": opened["id"], "more": 1}) == "x_content_parse_exception"
    assert index.refused("POST", "/_search", {"pit": {"id": opened["id"], "keep_alive": "2d"}}) == "illegal_argument_exception"
    assert index.refused("POST", "/_search", {"pit": opened, "slice": {"id": 0, "max": 2}}, status=500) == "search_exception"
    index.ok("DELETE", "")
    assert index.refused("POST", "/_search", {"pit": opened}, status=404) == "index_not_found_exception"


def rule_point_in_time_of_aliases(index):
    """A point in time opened over an alias keeps its filter."""
    index.with_hotels(number_of_shards=2)
    index.ok("POST", "/_aliases", {"actions": [{"add": {"index": index.name, "alias": index.name + "-sh", "filter": {"term": {"city": "上海"}}}}]})
    opened = index.ok("POST", f"/{index.name}-sh/_pit?keep_alive=1m")
    answer = index.ok("POST", "/_search", {"pit": opened, "size": 60})
    assert {h["_source"]["city"] for h in answer["hits"]["hits"]} == {"上海"} and answer["hits"]["total"]["value"] == 20


def rule_highlight(index):
    """Fragments with the words found between the tags, apart from _source."""
    index.with_hotels()
    hit = index.search(query={"match": {"title": "river"}}, highlight={"fields": {"title": {"pre_tags": "<b>", "post_tags": "</b>"}}})["hits"]["hits"][0]
    assert hit["highlight"] == {"title": [hit["_source"]["title"].replace("river", "<b>river</b>")]}
    hit = index.search(query={"match": {"title": "river"}}, highlight={"fields": {"title": {}}})["hits"]["hits"][0]
    assert "<em>river</em>" in hit["highlight"]["title"][0] and "<" not in hit["_source"]["title"]


def rule_highlight_of_the_searched_field(index):
    """A field that was not searched has no highlight, unless require_field_match is off."""
    text = {"type": "text"}
    index.create({"properties": {"name": {**text, "copy_to": "all"}, "all": text}}).put([{"name": "river view"}])
    query = {"match": {"all": "river"}}
    assert "highlight" not in index.search(query=query, highlight={"fields": {"name": {}}})["hits"]["hits"][0]
    hit = index.search(query=query, highlight={"fields": {"name": {"require_field_match": False}}})["hits"]["hits"][0]
    assert hit["highlight"] == {"name": ["<em>river</em> view"]}


def rule_no_highlight_of_ranges(index):
    """Range queries highlight nothing."""
    index.with_hotels()
    assert all("highlight" not in h for h in index.search(query={"range": {"price": {"gte": 0}}}, highlight={"fields": {"price": {}, "title": {}}})["hits"]["hits"])


def rule_several_shards_answer_as_one(index):
    """Scatter and gather: pages, sorts and totals are those of one shard."""
    index.with_hotels(number_of_shards=3)
    assert index.ids({"range": {"price": {"lt": 500}}}, sort=["price", "id"], size=15) == [
        str(d["id"]) for d in sorted(HOTELS, key=lambda d: (d["price"], d["id"])) if d["price"] < 500][:15]
    assert index.search(query={"term": {"city": "北京"}})["hits"]["total"]["value"] == 20


def rule_errors(index):
    """Errors have Elasticsearch's body: error with root_cause, type and reason, and the status."""
    status, answer = index.call("GET", "_search", {"query": {"match_all": {}}})
    assert status == 404 and answer["status"] == 404
    error = answer["error"]
    assert error["type"] == "index_not_found_exception" and error["reason"] and error["root_cause"][0]["type"] == error["type"] and error["index"] == index.name
    status, answer = index.call("GET", "/_no/such/path")
    assert status in (400, 404) and answer.get("error")
    index.create()
    for time, cause in (("month", ["illegal_argument_exception", "number_format_exception"]), ("1.5s", ["illegal_argument_exception", "number_format_exception"]), ("5x", ["illegal_argument_exception"])):
        error, chain = index.call("POST", "_search", {"timeout": time})[1]["error"], []
        while error:
            chain.append(error["type"])
            error = error.get("caused_by")
        assert chain == cause, (time, chain)
    assert index.call("POST", "_search?unknown=1", {})[0] == 400 and index.call("PATCH", "_search", {})[0] in (400, 405)


def rule_version(index):
    """The service presents itself as 7.12.1."""
    answer = index.ok("GET", "/")
    assert answer["version"]["number"] == "7.12.1" and answer["tagline"] == "You Know, for Search"


if __name__ == "__main__":
    rules.main(sys.modules[__name__])
