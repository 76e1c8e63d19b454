#!/usr/bin/env python3
"""Queries: what matches, and how it is scored."""
import math
import random
import struct
import sys

import rules

HOTELS = rules.hotels()


def those(condition):
    return {d["id"] for d in HOTELS if condition(d)}


def km(a, b):
    """Haversine; the earth's mean radius."""
    la, lb = math.radians(a["lat"]), math.radians(b["lat"])
    h = math.sin((lb - la) / 2) ** 2 + math.cos(la) * math.cos(lb) * math.sin(math.radians(b["lon"] - a["lon"]) / 2) ** 2
    return 2 * 6371.0088 * math.asin(math.sqrt(h))


def close(a, b):
    return abs(a - b) <= 1e-5 * max(abs(a), abs(b), 1e-9)


def scores(index, query, **body):
    return {int(h["_id"]): h["_score"] for h in index.search(query=query, size=1000, **body)["hits"]["hits"]}


def rule_match_all(index):
    """match_all is every document, with score 1."""
    index.with_hotels()
    found = scores(index, {"match_all": {}})
    assert set(found) == those(lambda d: True) and set(found.values()) == {1.0}


def rule_match(index):
    """match analyzes its text; any term will do, or all with operator and."""
    index.with_hotels()
    assert index.found({"match": {"title": "RIVER"}}) == those(lambda d: d["id"] % 4 == 0)
    assert index.found({"match": {"title": "river 7"}}) == those(lambda d: d["id"] % 4 == 0 or d["id"] == 7)
    assert index.found({"match": {"title": {"query": "river 8", "operator": "and"}}}) == {8}
    assert index.found({"match": {"title": "lake"}}) == set()
    assert index.found({"match": {"city": "上海"}}) == those(lambda d: d["city"] == "上海"), "a keyword field has its whole value for a term"


def rule_flattened(index):
    """A flattened object is one field; its leaves are found by value, and by key and value; they sort and have buckets."""
    index.create({"properties": {"labels": {"type": "flattened", "depth_limit": 3, "ignore_above": 20, "null_value": "none"}, "other": {"type": "flattened"}}})
    index.put([{"labels": {"priority": "urgent", "release": ["v1.2.5", "v1.3.0"], "at": {"time": 1541458026}}, "other": {"priority": "low"}},
               {"labels": {"priority": "low", "release": "v1.3.0", "fixed": True}},
               {"labels": [{"priority": "mid high"}, {"gone": None}, {"long": "x" * 21}]},
               {"other": {"priority": "urgent"}}])
    assert index.found({"term": {"labels": "v1.3.0"}}) == {0, 1} and index.found({"term": {"labels.release": "v1.3.0"}}) == {0, 1}
    assert index.found({"term": {"labels.priority": "urgent"}}) == {0} and index.found({"term": {"labels.priority": "v1.3.0"}}) == set()
    assert index.found({"term": {"labels.at.time": 1541458026}}) == {0} and index.found({"term": {"labels.fixed": True}}) == {1}
    assert index.found({"terms": {"labels.priority": ["urgent", "low"]}}) == {0, 1}
    assert index.found({"prefix": {"labels.release": "v1.2"}}) == {0} and index.found({"prefix": {"labels.priority": "v"}}) == set()
    assert index.found({"range": {"labels.release": {"gte": "v1.2.9", "lt": "v2"}}}) == {0, 1}
    assert index.found({"match": {"labels.priority": "mid high"}}) == {2} and index.found({"match": {"labels.priority": "mid"}}) == set()
    assert index.found({"multi_match": {"query": "urgent", "fields": ["labels.priority", "other.priority"]}}) == {0, 3}
    assert index.found({"query_string": {"query": "labels.priority:low"}}) == {1}
    assert index.found({"simple_query_string": {"query": "low", "fields": ["labels.priority"]}}) == {1}
    assert index.found({"exists": {"field": "labels"}}) == {0, 1, 2} and index.found({"exists": {"field": "labels.release"}}) == {0, 1}
    assert index.found({"term": {"labels.gone": "none"}}) == {2} and index.found({"exists": {"field": "labels.long"}}) == set()
    for refused in ({"range": {"labels.release": {"gte": "v1"}}}, {"wildcard": {"labels.release": "v*"}}, {"fuzzy": {"labels.release": "v1.3.1"}},
                    {"regexp": {"labels.release": "v.*"}}):
        assert index.call("GET", "_search", {"query": refused})[0] >= 400, refused
    hits = index.search(sort=[{"labels.priority": "desc"}], docvalue_fields=["labels.priority"], fields=["labels"])["hits"]["hits"]
    assert [h["_id"] for h in hits] == ["0", "2", "1", "3"] and [h["sort"] for h in hits] == [["urgent"], ["mid high"], ["low"], [None]]
    assert hits[0]["fields"]["labels.priority"] == ["urgent"] and hits[1]["fields"]["labels.priority"] == ["mid high"]
    assert hits[2]["_source"]["labels"] == hits[2]["fields"]["labels"][0] == {"priority": "low", "release": "v1.3.0", "fixed": True}
    aggs = index.search(size=0, aggs={"r": {"terms": {"field": "labels.release"}}, "all": {"terms": {"field": "other"}},
                                      "n": {"cardinality": {"field": "labels.release"}}})["aggregations"]
    assert [(b["key"], b["doc_count"]) for b in aggs["r"]["buckets"]] == [("v1.3.0", 2), ("v1.2.5", 1)] and aggs["n"]["value"] == 2
    assert [(b["key"], b["doc_count"]) for b in aggs["all"]["buckets"]] == [("low", 1), ("urgent", 1)]
    assert index.refused("PUT", "_doc/9", {"labels": "a text"}) == "parsing_exception"
    assert index.refused("PUT", "_doc/9", {"labels": {"a": {"b": {"c": {"d": 1}}}}}) == "mapper_parsing_exception"
    assert list(index.ok("GET", "_mapping")[index.name]["mappings"]["properties"]) == ["labels", "other"]


def rule_join(index):
    """Parents, children and their children, found by one another, as a plain model finds them: over several shards, updates and deletes."""
    draw = random.Random(7)
    index.create({"properties": {"j": {"type": "join", "relations": {"p": ["c", "d"], "c": "g"}}, "n": {"type": "integer"}}}, number_of_shards=3)
    docs = {}
    put = lambda i, root, doc: index.ok("PUT", f"_doc/{i}?routing={root}", doc) and docs.__setitem__(i, (root, doc))
    for i in range(160):
        kind = draw.choice("ppccccddgggg")
        above = [k for k, (_, d) in docs.items() if d["j"]["name"] == {"c": "p", "d": "p", "g": "c"}.get(kind)]
        if kind == "p" or not above:
            put(str(i), str(i), {"j": {"name": "p"}, "n": draw.randint(0, 9)})
        else:
            up = draw.choice(above[:6])
            put(str(i), docs[up][0], {"j": {"name": kind, "parent": up}, "n": draw.randint(0, 9)})
        if i % 20 == 5:  # a document that changes, one that goes, and a segment of its own
            again, gone = draw.choice(sorted(docs)), draw.choice(sorted(docs))
            put(again, docs[again][0], {**docs[again][1], "n": draw.randint(0, 9)})
            index.ok("DELETE", f"_doc/{gone}?routing={docs.pop(gone)[0]}")
            index.ok("POST", "_refresh")
    index.ok("POST", "_refresh")
    found = lambda query: {h["_id"]: h["_score"] for h in index.search(query=query, size=300)["hits"]["hits"]}
    name, parent = (lambda i: docs[i][1]["j"]["name"]), (lambda i: docs[i][1]["j"].get("parent"))
    for kind, above in (("c", "p"), ("d", "p"), ("g", "c")):
        for least in range(0, 10, 2):
            some = {"range": {"n": {"gte": least}}}
            hit = {i for i, (_, d) in docs.items() if d["n"] >= least}
            children = {up: [i for i in hit if name(i) == kind and parent(i) == up] for up in docs if name(up) == above}
            assert set(found({"has_child": {"type": kind, "query": some}})) == {up for up, below in children.items() if below}
            few = {"has_child": {"type": kind, "query": some, "min_children": 2, "max_children": 4}}
            assert set(found(few)) == {up for up, below in children.items() if 2 <= len(below) <= 4}
            scored = {"function_score": {"query": some, "field_value_factor": {"field": "n"}, "boost_mode": "replace"}}
            for mode, of in (("sum", sum), ("min", min), ("max", max), ("avg", lambda v: sum(v) / len(v))):
                want = {up: of([docs[i][1]["n"] for i in below]) for up, below in children.items() if below}
                got = found({"has_child": {"type": kind, "query": scored, "score_mode": mode}})
                assert got.keys() == want.keys() and all(abs(got[k] - want[k]) < 1e-5 for k in want), (mode, got, want)
            assert set(found({"has_parent": {"parent_type": above, "query": some}})) >= {i for i in docs if name(i) == kind and parent(i) in hit}
        for up in docs:
            want = {i for i in docs if name(i) == kind and parent(i) == up}
            assert set(found({"parent_id": {"type": kind, "id": up}})) == want
    below = {i for i in docs if name(i) in "cd" and docs.get(parent(i), (0, {"n": 0}))[1]["n"] >= 4}
    got = found({"has_parent": {"parent_type": "p", "query": {"function_score": {"query": {"range": {"n": {"gte": 4}}}, "field_value_factor": {"field": "n"}, "boost_mode": "replace"}}, "score": True}})
    assert got == {i: docs[parent(i)][1]["n"] for i in below}
    two = {"has_child": {"type": "c", "query": {"has_child": {"type": "g", "query": {"range": {"n": {"gte": 5}}}}}}}
    assert set(found(two)) == {u for i in docs if name(i) == "g" and docs[i][1]["n"] >= 5 and parent(i) in docs for u in [parent(parent(i))] if u in docs}
    below = {up: sorted(i for i in docs if name(i) == "c" and parent(i) == up) for up in docs if name(up) == "p"}
    body = {"query": {"has_child": {"type": "c", "query": {"match_all": {}}, "inner_hits": {"size": 100, "sort": ["n"], "_source": False}}}, "size": 300}
    for h in index.search(**body)["hits"]["hits"]:
        inner = h["inner_hits"]["c"]["hits"]
        assert sorted(x["_id"] for x in inner["hits"]) == below[h["_id"]] and inner["total"]["value"] == len(below[h["_id"]])
        assert all(x["_routing"] == docs[x["_id"]][0] and "_source" not in x and x["sort"] == [docs[x["_id"]][1]["n"]] for x in inner["hits"])
    for h in index.search(query={"has_parent": {"parent_type": "p", "query": {"match_all": {}}, "inner_hits": {"name": "up"}}}, size=300)["hits"]["hits"]:
        assert [x["_id"] for x in h["inner_hits"]["up"]["hits"]["hits"]] == [parent(h["_id"])]
    total = lambda ids: {"doc_count": len(ids), "n": {"value": float(sum(docs[i][1]["n"] for i in ids))}}
    aggs = {"n": {"terms": {"field": "n", "size": 20}, "aggs": {
        "below": {"children": {"type": "c"}, "aggs": {"n": {"sum": {"field": "n"}}}}, "above": {"parent": {"type": "c"}, "aggs": {"n": {"sum": {"field": "n"}}}},
        "two": {"children": {"type": "c"}, "aggs": {"g": {"children": {"type": "g"}, "aggs": {"n": {"sum": {"field": "n"}}}}}}}}}
    for bucket in index.search(size=0, aggs=aggs)["aggregations"]["n"]["buckets"]:
        mine = {i for i in docs if docs[i][1]["n"] == bucket["key"]}
        children = [i for i in docs if name(i) == "c" and parent(i) in mine and name(parent(i)) == "p"]
        assert bucket["below"] == total(children) and bucket["two"]["g"] == total([i for i in docs if name(i) == "g" and parent(i) in children])
        assert bucket["above"] == total({parent(i) for i in mine if name(i) == "c" and parent(i) in docs})
    assert index.refused("PUT", "_doc/x", {"j": {"name": "c", "parent": "0"}}) == "mapper_parsing_exception", "a child needs a routing"
    assert index.refused("PUT", "_mapping", {"properties": {"j": {"type": "join", "relations": {"p": "c"}}}}) == "illegal_argument_exception"
    index.ok("PUT", "_mapping", {"properties": {"j": {"type": "join", "relations": {"p": ["c", "d", "e"], "c": "g", "q": "r"}}}})


def rule_flattened_edges(index):
    """Of a flattened field: empty names, keys in scripts, what is not searchable, what it does not take."""
    index.create({"properties": {"f": {"type": "flattened", "boost": 2}, "a": {"type": "alias", "path": "f"}, "dark": {"type": "flattened", "index": False},
                                 "nothing": {"type": "flattened", "index": False, "doc_values": False}, "bare": {"type": "flattened", "doc_values": False}}})
    index.put([{"f": {"": {"p": "below"}, "q": {"": {"": "deep"}}}}, {"f": {"p": ["v", "u"], "": "empty"}, "dark": {"p": "x"}, "bare": {"p": "x"}},
               {"f": {"p": "w"}, "nothing": "a text"}, {"f": {}}])
    assert "boost" not in index.ok("GET", "_mapping")[index.name]["mappings"]["properties"]["f"], "a parameter without effect"
    for key, with_key in {"p": {1, 2}, ".p": {0}, "q..": {0}, "q.": set(), "": {1}}.items():
        assert index.found({"exists": {"field": f"f.{key}"}}) == with_key, key
        assert index.found({"range": {f"f.{key}": {}}}) == with_key, "a range without bounds is existence"
    assert index.found({"exists": {"field": "dark.p"}}) == set(), "no error, though nothing is indexed"
    assert index.found({"script": {"script": "doc.containsKey('f.p') && doc['f.p'].size() > 0 && doc['f.p'].value == 'w'"}}) == {2}
    assert index.found({"script": {"script": "doc['a.p'].contains('v')"}}) == {1}
    assert index.refused("GET", "_search", {"query": {"script": {"script": "doc['bare.p'].size() > 0"}}}) == "script_exception"
    aggs = index.search(size=0, aggs={"p": {"terms": {"script": "doc['f.p'].size() > 1 ? doc['f.p'][1] : 'none'"}}})["aggregations"]
    assert [(b["key"], b["doc_count"]) for b in aggs["p"]["buckets"]] == [("none", 3), ("v", 1)]
    random = scores(index, {"function_score": {"query": {"exists": {"field": "f.p"}}, "random_score": {"seed": 1, "field": "f.p"}, "boost_mode": "replace"}})
    assert len(set(random.values())) == 2
    for field in ("f", "f.p", "a.p"):
        assert [t["token"] for t in index.ok("POST", "_analyze", {"field": field, "text": "A B"})["tokens"]] == ["A B"]
    caps = index.ok("GET", "_field_caps?fields=f,f.p,a.p,dark.p,f.*")["fields"]
    assert list(caps) == ["a.p", "dark.p", "f", "f.p"] and not caps["dark.p"]["flattened"]["searchable"] and caps["f.p"]["flattened"]["aggregatable"]
    for parameter in ({"fields": {"x": {"type": "keyword"}}}, {"copy_to": "x"}):
        status, answer = index.call("PUT", "_mapping", {"properties": {"g": {"type": "flattened", **parameter}}})
        assert status == 400 and answer["error"]["reason"].endswith(f"flattened field [g] does not support [{list(parameter)[0]}]"), answer
    for path, words in (("f.p", "collapse is not supported for the field [f._keyed] of the type [flattened]"), ("a", "collapse is not supported for the field [f] of the type [flattened]")):
        status, answer = index.call("GET", "_search", {"collapse": {"field": path}})
        assert status == 400 and answer["error"]["root_cause"][0]["reason"] == words, answer
    for asks in ({"sort": ["bare.p"]}, {"docvalue_fields": ["bare.p"]}):
        status, answer = index.call("GET", "_search", asks)
        assert status == 400 and answer["error"]["root_cause"][0]["reason"].startswith("Can't load fielddata on [bare._keyed]"), answer


def rule_wildcard_field(index):
    """A field of type wildcard has the texts of a keyword: all queries for them find the same, and score the boost; its values sort and have buckets."""
    index.create({"properties": {"k": {"type": "keyword", "ignore_above": 20, "null_value": "none", "copy_to": "c"}, "w": {"type": "wildcard", "ignore_above": 20, "null_value": "none", "meta": {"a": "b"}},
                                 "c": {"type": "wildcard"}, "t": {"type": "text", "fields": {"w": {"type": "wildcard"}}}}})
    values = ["GET /a/b?x=1", "get /A/B", "POST /a", "", None, ["x", "*y?", "上海"], "x" * 21, "a\\b", "ß", [None, "zz top"], "none", "10", 7, True]
    index.put([{"k": v, "w": v, "t": v} for v in values] + [{}])
    queries = [{"wildcard": {"F": p}} for p in ("*", "GET*", "*/a/*", "?", "*b?x*", "\\*y\\?", "上*", "", "a\\\\b", "*o*")] + [{"prefix": {"F": p}} for p in ("GET", "g", "", "*")]
    queries += [{"regexp": {"F": p}} for p in ("[A-Z]+ /a.*", ".*", "x|none", "", "1[0-9]")] + [{"fuzzy": {"F": {"value": v, "fuzziness": 2}}} for v in ("nine", "POST /b", "x", "")]
    queries += [{"term": {"F": v}} for v in ("x", "", "*y?", "none", 7, True, "nope")] + [{"terms": {"F": ["x", "none", "10", 7]}}, {"exists": {"field": "F"}}]
    queries += [{"range": {"F": r}} for r in ({"gte": "a", "lt": "o"}, {"gt": "GET"}, {"lte": "x"}, {})] + [{"match": {"F": "POST /a"}}, {"match_bool_prefix": {"F": "POST"}}, {"query_string": {"query": "F:(x OR none)"}},
                {"query_string": {"query": "F:n*"}}, {"simple_query_string": {"query": "x", "fields": ["F"]}}, {"multi_match": {"query": "x", "fields": ["F"]}}, {"match_phrase_prefix": {"F": "PO"}}]
    for kind, v in (("wildcard", "gEt*"), ("prefix", "get"), ("regexp", "GET .*"), ("term", "get /a/b")):
        queries += [{kind: {"F": {"value": v, "case_insensitive": True}}}, {kind: {"F": {"value": v, "boost": 3, **({} if kind == "term" else {"rewrite": "scoring_boolean"})}}}]

    def of(query, field):
        return eval(repr(query).replace("'F", f"'{field}"))
    for query in queries:
        want = index.call("GET", "_search", {"query": of(query, "k"), "size": 100})
        have = index.call("GET", "_search", {"query": of(query, "w"), "size": 100})
        assert have[0] == want[0], (query, want, have)
        if have[0] == 200:
            assert {h["_id"] for h in have[1]["hits"]["hits"]} == {h["_id"] for h in want[1]["hits"]["hits"]}, query
            boosts = {3.0 if "boost" in repr(query) else 1.0} if have[1]["hits"]["hits"] else set()
            assert {h["_score"] for h in have[1]["hits"]["hits"]} == boosts, (query, have)
    assert index.found({"term": {"c": "zz top"}}) == {9} and index.found({"wildcard": {"t.w": "*top"}}) == {9}
    hits = {f: index.search(sort=[{f: "desc"}, "_doc"], size=100, fields=[f], docvalue_fields=[f], aggs={"a": {"terms": {"field": f, "size": 50}}, "n": {"cardinality": {"field": f}}, "m": {"missing": {"field": f}}})
            for f in ("k", "w")}
    shown = {f: [(h["_id"], h["sort"], h.get("fields", {}).get(f)) for h in a["hits"]["hits"]] for f, a in hits.items()}
    assert shown["k"] == shown["w"] and hits["k"]["aggregations"] == hits["w"]["aggregations"]
    assert index.found({"script": {"script": "doc['w'].size() > 0 && doc['w'].value.startsWith('GET')"}}) == {0}
    caps = index.ok("GET", "_field_caps?fields=w")["fields"]["w"]
    assert caps == {"keyword": {"type": "keyword", "searchable": True, "aggregatable": True, "meta": {"a": ["b"]}}}, "a member of that family"
    assert index.ok("GET", "_mapping")[index.name]["mappings"]["properties"]["w"] == {"type": "wildcard", "ignore_above": 20, "null_value": "none", "meta": {"a": "b"}}
    assert index.refused("PUT", "_mapping", {"properties": {"v": {"type": "wildcard", "ignore_above": -1}}}) == "mapper_parsing_exception"
    assert index.refused("PUT", "_mapping", {"properties": {"v": {"type": "wildcard", "normalizer": "lowercase"}}}) == "mapper_parsing_exception"
    assert index.refused("PUT", "_doc/x", {"w": {"a": 1}}) == "mapper_parsing_exception"
    assert index.refused("GET", "_search", {"collapse": {"field": "w"}}) == "illegal_argument_exception"
    index.ok("POST", "_forcemerge?max_num_segments=1")
    assert index.found({"wildcard": {"w": "*/a/*"}}) == {0}


def rule_rank_feature(index):
    """Features score by a function of their values, of which nine significant bits are kept; nothing else reads them. The scores are those of Elasticsearch 7.12.1."""
    index.create({"properties": {"a": {"type": "rank_feature"}, "n": {"type": "rank_feature", "positive_score_impact": False}, "m": {"type": "rank_features"}, "k": {"type": "keyword"}}}, number_of_shards=1)
    index.put([{"k": "u", "a": 1e30}, {"a": 3, "n": 2.7, "m": {"x": 5, "y": 7.77}}, {"a": 12345.678, "n": 0.001, "m": [{"x": "17"}, {"z": None}]}])
    f32 = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    for body, want in (({"field": "a"}, {0: 1, 1: 0, 2: 0}), ({"field": "a", "saturation": {"pivot": 8}}, {0: 1, 2: 0.9993511, 1: 0.27272725}), ({"field": "n", "saturation": {"pivot": 8}}, {2: 0.9920477, 1: 0.044218898}),
                       ({"field": "n"}, {2: 0.98089564, 1: 0.01868558}), ({"field": "a", "log": {"scaling_factor": "4"}}, {0: 69.07533, 2: 9.419304, 1: 1.9459101}), ({"field": "m.x"}, {2: 0.647619, 1: 0.35087717}),
                       ({"field": "n", "sigmoid": {"pivot": 7, "exponent": 0.6}}, {2: 0.9514737, 1: 0.14630163}), ({"field": "a", "linear": {}}, {0: 9.977797e29, 2: 12320, 1: 3}), ({"field": "n", "linear": {}}, {2: 998, 1: 0.3701172}),
                       ({"field": "m.x", "linear": {}, "boost": 2}, {2: 34, 1: 10}), ({"field": "m.none"}, {}), ({"field": "nope"}, {})):
        found = scores(index, {"rank_feature": body})
        assert {i: f32(v) for i, v in found.items()} == {i: f32(v) for i, v in want.items()}, (body, found)
    for body, words in (({"field": "n", "log": {"scaling_factor": 4}}, "Cannot use the [log] function with a field that has a negative score impact"), ({"field": "m"}, "only works on [rank_feature] fields and features of [rank_features] fields, not [rank_features]"),
                        ({"field": "a", "log": {"scaling_factor": 0.5}}, "scalingFactor must be >= 1, got: 0.5"), ({"field": "a", "saturation": {"pivot": 0}}, "pivot must be > 0, got: 0.0"), ({"field": "a", "sigmoid": {"pivot": 7}}, "Required [exponent]"),
                        ({"field": "a", "log": {"scaling_factor": 4}, "linear": {}}, "Can only specify one of [log], [saturation], [sigmoid] and [linear]"), ({"field": "a", "boost": -1}, "negative [boost] are not allowed in [{")):
        status, answer = index.call("GET", "_search", {"query": {"rank_feature": body}})
        assert status == 400 and words in repr(answer), (body, answer)
    for doc, words in (({"a": [1, 2]}, "do not support indexing multiple values for the same field [a]"), ({"m": [{"x": 1}, {"x": 2}]}, "multiple values for the same rank feature [m.x]"), ({"a": 0}, "featureValue must be a positive normal float, got: 0.0 for feature a on field _feature"),
                       ({"n": 0}, "featureValue must be finite, got: Infinity for feature n"), ({"m": {"x": -1}}, "got: -1.0 for feature x on field m"), ({"m": 5}, "expected a START_OBJECT but got: VALUE_NUMBER"), ({"m": {"x": {}}}, "but got unexpected token START_OBJECT")):
        status, answer = index.call("PUT", "_doc/x", doc)
        assert status == 400 and words in repr(answer), (doc, answer)
    for asks, words in (({"query": {"term": {"a": 3}}}, "Queries on [rank_feature] fields are not supported"), ({"sort": ["a"]}, "[rank_feature] fields do not support sorting, scripting or aggregating"), ({"aggs": {"x": {"max": {"field": "m"}}}}, "[rank_features] fields do not support sorting"),
                        ({"query": {"exists": {"field": "m"}}}, "[rank_features] fields do not support [exists] queries"), ({"query": {"term": {"_feature": "a"}}}, "The [_feature] field may not be queried directly"), ({"docvalue_fields": ["a"]}, "do not support sorting")):
        status, answer = index.call("GET", "_search", asks)
        assert status == 400 and words in repr(answer), (asks, answer)
    assert index.found({"exists": {"field": "n"}}) == {1, 2}
    explained = index.ok("POST", "_explain/1", {"query": {"rank_feature": {"field": "n", "boost": 2}}})["explanation"]
    assert explained["description"] == "Saturation function on the _feature field for the n feature, computed as w * S / (S + k) from:" and [d["value"] for d in explained["details"]] == [2.0, 19.4375, 0.3701172]
    index.ok("POST", "_forcemerge?max_num_segments=1")
    assert close(scores(index, {"rank_feature": {"field": "m.x"}})[2], 0.647619)


def rule_dense_vector(index):
    """Vectors score by the functions of scripts, exactly; what is no vector of that many numbers is refused, and so is every other use of the field."""
    f32 = lambda x: struct.unpack("f", struct.pack("f", x))[0]
    rng, dims = random.Random(7), 5
    index.create({"properties": {"v": {"type": "dense_vector", "dims": dims, "meta": {"a": "b"}}, "n": {"type": "integer"}, "w": {"type": "dense_vector", "dims": 1},
                                 "o": {"type": "nested", "properties": {"v": {"type": "dense_vector", "dims": 2}}}}})
    vectors = [[f32(rng.uniform(-4, 4)) for _ in range(dims)] for _ in range(25)] + [[1, 2.5, -3, 0, 1e-3]]
    index.put([{"v": v, "n": i, "o": [{"v": [i, 1]}, {"v": [1, i + 1]}]} for i, v in enumerate(vectors)] + [{"n": 99}])
    query = [0.5, -1.25, 3, 2, 0.1]
    q = [f32(x) for x in query]
    dot = lambda v, q=q: sum(f32(a * b) for a, b in zip(q, v))
    size = math.sqrt(sum(f32(x * x) for x in q))
    expected = {"dotProduct": dot, "cosineSimilarity": lambda v: dot(v, [f32(x / size) for x in q]) / math.sqrt(sum(x * x for x in v)), "l1norm": lambda v: sum(abs(f32(a - b)) for a, b in zip(q, v)),
                "l2norm": lambda v: math.sqrt(sum(f32(a - b) ** 2 for a, b in zip(q, v)))}

    def scored(source, **params):
        return scores(index, {"script_score": {"query": {"exists": {"field": "v"}}, "script": {"source": source, "params": {"q": query, **params}}}})
    for name, fn in expected.items():
        for field in ("'v'", "doc['v']"):
            found = scored(f"{name}(params.q, {field}) + 100.0")
            assert set(found) == set(range(26)) and all(abs(found[i] - (fn([f32(x) for x in v]) + 100)) < 2e-4 for i, v in enumerate(vectors)), (name, found)
    found = scored("float[] v = doc['v'].vectorValue; double s = 0; for (int i = 0; i < v.length; i++) { s += v[i] * params.q[i] } return Math.abs(s) + doc['v'].magnitude")
    assert all(close(found[i], abs(sum(a * b for a, b in zip(query, v))) + math.sqrt(sum(x * x for x in v))) for i, v in enumerate(vectors)), found
    best = index.ids({"script_score": {"query": {"exists": {"field": "v"}}, "script": {"source": "cosineSimilarity(params.q, 'v') + 1.0", "params": {"q": vectors[25]}}}}, size=1)
    assert best == ["25"], "nothing is nearer than itself"
    assert index.found({"exists": {"field": "v"}}) == set(range(26)) and index.found({"script": {"script": "doc['v'].size() == 0"}}) == {26}
    nested = index.search(query={"nested": {"path": "o", "score_mode": "max", "query": {"script_score": {"query": {"match_all": {}}, "script": {"source": "l1norm([0, 0], 'o.v')"}}}}}, size=1)["hits"]["hits"]
    assert [(h["_id"], h["_score"]) for h in nested] == [("25", 27.0)]
    assert index.search(query={"ids": {"values": ["25"]}}, fields=["v"])["hits"]["hits"][0]["fields"] == {"v": [1, 2.5, -3, 0, 1e-3]}
    assert index.ok("GET", "_doc/25")["_source"]["v"] == [1, 2.5, -3, 0, 1e-3]
    aggs = index.search(size=0, aggs={"m": {"max": {"script": "doc['v'].size() > 0 ? doc['v'].magnitude : 0"}}})["aggregations"]
    assert close(aggs["m"]["value"], max(math.sqrt(sum(x * x for x in v)) for v in vectors))

    def reasons(answer):
        return repr(answer)
    for source, words in (("cosineSimilarity([1, 2], 'v')", "The query vector has a different number of dimensions [2] than the document vectors [5]."), ("dotProduct(params.q, 'n')", "DenseVectorScriptDocValues"),
                          ("dotProduct(params.q, 'nope')", "No field found for [nope] in mapping"), ("dotProduct(params.q, 3)", "For vector functions, the 2nd argument must be of type String or VectorScriptDocValues"),
                          ("doc['v'].value", "is not supported"), ("doc['v'].get(0)", "is not supported"), ("doc['v'][0]", "is not supported"), ("double s = 0; for (def x : doc['v']) { s += 1 } return s", "is not supported"),
                          ("dotProduct(['a', 1, 1, 1, 1], 'v')", "cannot implicitly cast"), ("dotProduct(null, 'v')", ""), ("l2norm(params.q)", "Unknown call"), ("doc['v'].nope", "nope")):
        status, answer = index.call("GET", "_search", {"query": {"script_score": {"query": {"term": {"n": 3}}, "script": {"source": source, "params": {"q": query}}}}})
        assert status == 400 and words in reasons(answer), (source, status, answer)
    for source in ("dotProduct(params.q, 'v')", "doc['v'].magnitude", "doc['v'].vectorValue.length"):
        status, answer = index.call("GET", "_search", {"query": {"script_score": {"query": {"term": {"n": 99}}, "script": {"source": source, "params": {"q": query}}}}})
        assert status == 400 and "A document doesn't have a value for a vector field!" in reasons(answer), answer
    assert index.refused("GET", "_search", {"query": {"script": {"script": {"source": "dotProduct(params.q, 'v') > 0", "params": {"q": query}}}}}) == "script_exception", "functions of scores alone"
    for doc, words in (({"v": [1, 2]}, "has number of dimensions [2] less than defined in the mapping [5]"), ({"v": [1] * 6}, "has exceeded the number of dimensions [5] defined in mapping"), ({"v": [1, 2, 3, 4, "5"]}, "but found [VALUE_STRING]"),
                       ({"v": 3}, "expecting token of type [VALUE_NUMBER]"), ({"v": "x"}, "expecting token of type [VALUE_NUMBER]"), ({"v": [[1, 2, 3, 4, 5]]}, "but found [START_ARRAY]"), ({"v": {"x": 1}}, "expecting token"), ({"v": [1, 2, 3, 4, None]}, "VALUE_NULL"),
                       ({"v": []}, "has number of dimensions [0]"), ('{"v": [1, 2', "end-of-input")):
        status, answer = index.call("PUT", "_doc/x", doc)
        assert status == 400 and words in reasons(answer) and answer["error"]["type"] == "mapper_parsing_exception", (doc, answer)
    for asks, words in (({"query": {"term": {"v": 1}}}, "Field [v] of type [dense_vector] doesn't support queries"), ({"query": {"range": {"v": {"gte": 1}}}}, "does not support range queries"), ({"query": {"match": {"v": "1"}}}, "does not support match queries"),
                        ({"sort": ["v"]}, "can't sort on the vector field"), ({"aggs": {"a": {"terms": {"field": "v"}}}}, "doesn't support docvalue_fields or aggregations"), ({"docvalue_fields": ["v"]}, "doesn't support docvalue_fields or aggregations"),
                        ({"fields": [{"field": "v", "format": "x"}]}, "Field [v] of type [dense_vector] doesn't support formats."), ({"collapse": {"field": "v"}}, "collapse is not supported")):
        status, answer = index.call("GET", "_search", asks)
        assert status == 400 and words in reasons(answer), (asks, answer)
    status, answer = index.call("GET", "_search", {"script_fields": {"x": {"script": "doc['v']"}}, "query": {"term": {"n": 3}}})
    assert status == 500 and "is not supported" in reasons(answer), answer
    index.ok("PUT", "_mapping", {"properties": {"p": {"type": "nested", "include_in_parent": True, "properties": {"v": {"type": "dense_vector", "dims": 1}}}}})
    status, answer = index.call("PUT", "_doc/x", {"p": [{"v": [1]}, {"v": [2]}]})
    assert status == 400 and 'DocValuesField "p.v" appears more than once in this document' in reasons(answer), answer
    index.ok("PUT", "_doc/101", {"p": [{"v": [1]}, {}]})
    for dims, words in ((None, "Missing required parameter [dims]"), (0, "should be in the range [1, 2048] but was [0]"), (2049, "should be in the range [1, 2048] but was [2049]"), (-1, "was [-1]")):
        status, answer = index.call("PUT", "_mapping", {"properties": {"z": {"type": "dense_vector", **({} if dims is None else {"dims": dims})}}})
        assert status == 400 and words in reasons(answer), answer
    status, answer = index.call("PUT", "_mapping", {"properties": {"v": {"type": "dense_vector", "dims": 6}}})
    assert status == 400 and "Cannot update parameter [dims] from [5] to [6]" in reasons(answer)
    caps = index.ok("GET", "_field_caps?fields=v")["fields"]["v"]["dense_vector"]
    assert not caps["searchable"] and not caps["aggregatable"] and caps["meta"] == {"a": ["b"]}
    index.ok("PUT", "_mapping", {"properties": {"big": {"type": "dense_vector", "dims": 2048}}})
    index.ok("PUT", "_doc/100?refresh", {"big": [0.5] * 2048})
    assert scores(index, {"script_score": {"query": {"exists": {"field": "big"}}, "script": {"source": "dotProduct(params.q, 'big')", "params": {"q": [2] * 2048}}}}) == {100: 2048.0}
    before = scored("dotProduct(params.q, 'v') + 100.0")
    index.ok("POST", "_forcemerge?max_num_segments=1")
    assert scored("dotProduct(params.q, 'v') + 100.0") == before


def rule_multi_match(index):
    """multi_match: a match in any of the fields qualifies."""
    index.create({"properties": {"a": {"type": "text"}, "b": {"type": "text"}}}).put([{"a": "x"}, {"b": "x"}, {"a": "y", "b": "z"}])
    assert index.found({"multi_match": {"query": "x", "fields": ["a", "b"]}}) == {0, 1}
    assert index.found({"multi_match": {"query": "x y", "fields": ["a"]}}) == {0, 2}


def rule_term(index):
    """term is exact on keyword, number, date and boolean fields."""
    index.with_hotels()
    assert index.found({"term": {"city": {"value": "北京"}}}) == those(lambda d: d["city"] == "北京")
    assert index.found({"term": {"city": {"value": "北"}}}) == set()
    assert index.found({"term": {"price": 174}}) == those(lambda d: d["price"] == 174)
    assert index.found({"term": {"score": {"value": 2.5}}}) == those(lambda d: d["score"] == 2.5) != set()
    assert index.found({"term": {"open": "2020-03-03"}}) == those(lambda d: d["open"] == "2020-03-03")
    assert index.found({"term": {"pool": True}}) == those(lambda d: d["pool"])


def rule_term_is_not_analyzed(index):
    """A phrase of several words matches nothing on a keyword field that holds one, and is no error."""
    index.with_hotels()
    assert index.found({"term": {"city": {"value": "上海 北京"}}}) == set()
    assert index.found({"term": {"title": {"value": "River"}}}) == set()


def rule_range(index):
    """gte and lte include their bounds, gt and lt do not."""
    index.with_hotels()
    for given, holds in (({"gte": 211, "lte": 400}, lambda p: 211 <= p <= 400), ({"gt": 211, "lt": 396}, lambda p: 211 < p < 396), ({"gte": 500}, lambda p: p >= 500),
                         ({"lt": 137}, lambda p: p < 137)):
        assert index.found({"range": {"price": given}}) == those(lambda d: holds(d["price"])), given
    assert index.found({"range": {"open": {"gte": "2020-06-01", "lt": "2020-07-01"}}}) == those(lambda d: d["open"][:7] == "2020-06")
    assert index.found({"range": {"city": {"gt": "上"}}}) == those(lambda d: d["city"].encode() > "上".encode())


def rule_ids(index):
    """ids: documents by id; absent ones do not matter."""
    index.with_hotels()
    assert index.found({"ids": {"values": ["3", "5", "nothing"]}}) == {3, 5}


def rule_geo_bounding_box(index):
    """geo_bounding_box: points inside the rectangle."""
    index.with_hotels()
    box = {"top_left": {"lat": 31.52, "lon": 120.4}, "bottom_right": {"lat": 30.6, "lon": 120.8}}
    want = those(lambda d: 30.6 <= d["at"]["lat"] <= 31.52 and 120.4 <= d["at"]["lon"] <= 120.8)
    assert want and index.found({"geo_bounding_box": {"at": box}}) == want


def rule_geo_distance(index):
    """geo_distance: points within the distance of the centre, in every unit."""
    index.with_hotels()
    centre = {"lat": 31.2, "lon": 120.7}
    want = those(lambda d: km(d["at"], centre) <= 40)
    assert want and len(want) < 60
    for distance in ("40km", "40000m", "24.854847689493358mi"):
        assert index.found({"geo_distance": {"distance": distance, "at": "31.2,120.7"}}) == want, distance


def rule_bool(index):
    """must and filter must match, must_not must not, should is optional beside them, and else one of it must match."""
    index.with_hotels()
    shanghai, river, cheap = {"term": {"city": "上海"}}, {"match": {"title": "river"}}, {"range": {"price": {"lt": 300}}}
    is_s, is_r, is_c = (lambda d: d["city"] == "上海"), (lambda d: d["id"] % 4 == 0), (lambda d: d["price"] < 300)
    assert index.found({"bool": {"must": [shanghai], "filter": [cheap]}}) == those(lambda d: is_s(d) and is_c(d))
    assert index.found({"bool": {"must": [shanghai], "must_not": [river]}}) == those(lambda d: is_s(d) and not is_r(d))
    assert index.found({"bool": {"must": [shanghai], "should": [river]}}) == those(is_s)
    assert index.found({"bool": {"should": [shanghai, river]}}) == those(lambda d: is_s(d) or is_r(d))
    assert index.found({"bool": {"should": [shanghai, river, cheap], "minimum_should_match": 2}}) == those(lambda d: is_s(d) + is_r(d) + is_c(d) >= 2)
    assert index.found({"bool": {}}) == those(lambda d: True)


def rule_bool_scores(index):
    """must and should count for the score, filter and must_not do not."""
    index.with_hotels()
    river, cheap = {"match": {"title": "river"}}, {"range": {"price": {"lt": 300}}}
    alone = scores(index, river)
    assert set(scores(index, {"bool": {"filter": [river]}}).values()) == {0.0}
    filtered = scores(index, {"bool": {"must": [river], "filter": [cheap], "must_not": [{"term": {"price": 100}}]}})
    assert filtered and all(close(s, alone[i]) for i, s in filtered.items())
    both = scores(index, {"bool": {"must": [river], "should": [cheap]}})
    assert all(close(s, alone[i] + (HOTELS[i]["price"] < 300)) for i, s in both.items())


def bm25(documents, term):
    """The score of every document that has the term, as the formula says: k1 = 1.2, b = 0.75, lengths up to 40 exact."""
    split = [d.split() for d in documents]
    n, have = len(split), sum(term in d for d in split)
    average = sum(map(len, split)) / n
    idf = math.log(1 + (n - have + 0.5) / (have + 0.5))
    return {i: 2.2 * idf * d.count(term) / (d.count(term) + 1.2 * (0.25 + 0.75 * len(d) / average)) for i, d in enumerate(split) if term in d}


def rule_bm25(index):
    """Relevance is BM25: rare terms and short texts weigh more, and a term's influence is capped."""
    texts = ["a b c", "a a a a b", "b", "c " * 30, "a " * 35, "d b b a"]
    index.create({"properties": {"t": {"type": "text"}}}).put([{"t": t} for t in texts])
    for term in "abcd":
        have, want = scores(index, {"match": {"t": term}}), bm25(texts, term)
        assert set(have) == set(want) and all(close(have[i], want[i]) for i in want), (term, have, want)
    sums = scores(index, {"match": {"t": "a d"}})
    assert all(close(s, bm25(texts, "a").get(i, 0) + bm25(texts, "d").get(i, 0)) for i, s in sums.items())


def rule_relevance_order(index):
    """Documents come by _score, the highest first; max_score is the first one's."""
    index.with_hotels()
    answer = index.search(query={"match": {"title": "river 8 12"}}, size=60)["hits"]
    have = [h["_score"] for h in answer["hits"]]
    assert have == sorted(have, reverse=True) and answer["max_score"] == have[0]
    assert {h["_id"] for h in answer["hits"][:2]} == {"8", "12"}


def rule_function_score_weight(index):
    """A function's weight multiplies the scores of the documents that its filter selects, and leaves the others."""
    index.with_hotels()
    query = {"function_score": {"query": {"match": {"title": "river"}}, "functions": [{"filter": {"term": {"city": "上海"}}, "weight": 10}]}}
    alone = scores(index, {"match": {"title": "river"}})
    have = scores(index, query)
    assert set(have) == set(alone) and all(close(s, alone[i] * (10 if HOTELS[i]["city"] == "上海" else 1)) for i, s in have.items())


def rule_functions_combine(index):
    """Of several functions each counts where its filter matches; one without a filter counts everywhere."""
    index.with_hotels()
    functions = [{"filter": {"term": {"city": "上海"}}, "weight": 3}, {"filter": {"term": {"pool": True}}, "weight": 5}, {"weight": 2}]
    have = scores(index, {"function_score": {"query": {"match_all": {}}, "functions": functions}})
    assert all(close(s, 2 * (3 if HOTELS[i]["city"] == "上海" else 1) * (5 if HOTELS[i]["pool"] else 1)) for i, s in have.items())
    assert len(have) == 60


def rule_function_score_value(index):
    """field_value_factor is a field's value, with factor, modifier and a value for those that lack it."""
    index.with_hotels()
    have = scores(index, {"function_score": {"field_value_factor": {"field": "price", "factor": 0.5, "modifier": "sqrt"}, "boost_mode": "replace"}})
    assert all(close(s, math.sqrt(0.5 * HOTELS[i]["price"])) for i, s in have.items())


def rule_function_score_random(index):
    """random_score lies between 0 and 1, and is the same for the same seed and field."""
    index.with_hotels()
    query = {"function_score": {"random_score": {"seed": 7, "field": "_seq_no"}, "boost_mode": "replace"}}
    have = scores(index, query)
    assert have == scores(index, query) and all(0 <= s < 1 for s in have.values()) and len(set(have.values())) > 50
    query["function_score"]["random_score"]["seed"] = 8
    assert have != scores(index, query)


def rule_function_score_script(index):
    """script_score computes the score of fields and _score."""
    index.with_hotels()
    source = "_score * doc['price'].value + params.more"
    have = scores(index, {"function_score": {"script_score": {"script": {"source": source, "params": {"more": 3}}}, "boost_mode": "replace"}})
    assert all(close(s, HOTELS[i]["price"] + 3) for i, s in have.items())
    have = scores(index, {"script_score": {"query": {"match_all": {}}, "script": {"source": "doc['price'].value / 2.0"}}})
    assert all(close(s, HOTELS[i]["price"] / 2) for i, s in have.items())


def rule_scripts_read_terms(index):
    """A script reads a text field's terms where fielddata keeps them, and is refused elsewhere."""
    index.create({"properties": {"t": {"type": "text", "fielddata": True}, "plain": {"type": "text"}}}).put([{"t": "red foxes jump", "plain": "a"}, {}, {"t": ["b a a", "c"]}])
    have = scores(index, {"script_score": {"query": {"match_all": {}}, "script": {"source": "doc['t'].size()"}}})
    assert have == {0: 3, 1: 0, 2: 3}
    hits = index.search(sort=["_doc"], script_fields={"f": {"script": "doc['t'].size() == 0 ? 'none' : doc['t'][0]"}})["hits"]["hits"]
    assert [h["fields"]["f"] for h in hits] == [["foxes"], ["none"], ["a"]]
    assert index.refused("GET", "_search", {"script_fields": {"f": {"script": "doc['plain']"}}}) == "script_exception"


def rule_boost_modes(index):
    """boost_mode combines: multiply (the default), replace, sum, avg, max, min."""
    index.with_hotels()
    alone = scores(index, {"match": {"title": "river"}})
    function = {i: struct.unpack("f", struct.pack("f", HOTELS[i]["price"] / 400))[0] for i in alone}
    modes = {None: lambda q, f: q * f, "multiply": lambda q, f: q * f, "replace": lambda q, f: f, "sum": lambda q, f: q + f, "avg": lambda q, f: (q + f) / 2,
             "max": max, "min": min}
    for mode, combined in modes.items():
        query = {"query": {"match": {"title": "river"}}, "functions": [{"field_value_factor": {"field": "price", "factor": 1 / 400}}]}
        have = scores(index, {"function_score": {**query, **({"boost_mode": mode} if mode else {})}})
        assert set(have) == set(alone) and all(close(s, combined(alone[i], function[i])) for i, s in have.items()), mode


def rule_rewrites(index):
    """How a pattern's terms count is for `rewrite` to say; top_terms_boost_N takes the N best and scores their boosts."""
    index.create({"properties": {"k": {"type": "keyword"}}}).put([{"k": ["ra", "rb"]}, {"k": "rb"}, {"k": ["rc", "ra"]}, {"k": "rd"}])
    for rewrite, want in (("constant_score", {0: 1, 1: 1, 2: 1, 3: 1}), ("top_terms_boost_2", {0: 2, 1: 1, 2: 1}), ("top_terms_boost_1", {0: 1, 2: 1})):
        assert scores(index, {"prefix": {"k": {"value": "r", "rewrite": rewrite}}}) == want, rewrite
    for query in ({"prefix": {"k": {"value": "r", "rewrite": "best"}}}, {"match": {"k": {"query": "r", "fuzzy_rewrite": "top_terms_boost_-1"}}},
                  {"query_string": {"query": "r", "rewrite": "best"}}, {"multi_match": {"query": "", "fields": ["k"], "fuzzy_rewrite": ""}}):
        assert index.refused("GET", "_search", {"query": query}) == "query_shard_exception", query


def rule_unknown_queries(index):
    """A query that nobody knows, or a malformed one, is refused with 400."""
    index.with_hotels()
    assert index.refused("GET", "_search", {"query": {"macth": {"title": "a"}}}) == "parsing_exception"
    assert index.refused("GET", "_search", {"query": {"range": {"price": {"above": 3}}}}) == "parsing_exception"
    assert index.refused("GET", "_search", '{"query": {') in ("json_e_o_f_exception", "parsing_exception", "json_parse_exception")


if __name__ == "__main__":
    rules.main(sys.modules[__name__])
