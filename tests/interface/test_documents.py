#!/usr/bin/env python3
"""Documents: creating, replacing, changing, deleting, bulk."""
import sys

import rules


def rule_post_with_id(index):
    """POST /{index}/_doc/{id} creates the document; when the id exists it is replaced."""
    answer = index.ok("POST", "_doc/1", {"a": 1})
    assert answer["result"] == "created" and answer["_version"] == 1 and index.call("POST", "_doc/2", {})[0] == 201
    assert index.call("POST", "_doc/1", {"b": 2})[0] == 200
    answer = index.ok("GET", "_doc/1")
    assert answer["_source"] == {"b": 2} and answer["_version"] == 2


def rule_post_without_id(index):
    """POST /{index}/_doc creates the document under an id that nobody has."""
    ids = {index.ok("POST", "_doc", {"n": n})["_id"] for n in range(50)}
    assert len(ids) == 50 and all(len(i) == 20 for i in ids)


def rule_get(index):
    """GET answers with the document in _source; 404 and found: false without one."""
    source = {"text": "文字", "list": [1.5, 2.5, None], "object": {"a": True}}
    index.ok("PUT", "_doc/x", source)
    answer = index.ok("GET", "_doc/x")
    assert answer["found"] is True and answer["_source"] == source and answer["_index"] == index.name and answer["_id"] == "x"
    status, answer = index.call("GET", "_doc/y")
    assert status == 404 and answer == {"_index": index.name, "_type": "_doc", "_id": "y", "found": False}


def rule_delete(index):
    """DELETE deletes the document; there are no transactions: it is gone."""
    index.ok("PUT", "_doc/1?refresh=true", {"a": 1})
    assert index.ok("DELETE", "_doc/1?refresh=true")["result"] == "deleted"
    assert index.call("GET", "_doc/1")[0] == 404 and index.ids({"match_all": {}}) == []
    status, answer = index.call("DELETE", "_doc/1")
    assert status == 404 and answer["result"] == "not_found"


def rule_full_replacement(index):
    """PUT replaces the whole document; of an absent id it creates one, and does not fail."""
    assert index.call("PUT", "_doc/1", {"a": 1, "b": 1})[0] == 201
    assert index.call("PUT", "_doc/1", {"c": 3})[0] == 200
    assert index.ok("GET", "_doc/1")["_source"] == {"c": 3}


def rule_partial_update(index):
    """POST _update changes the listed fields only."""
    index.ok("PUT", "_doc/1", {"a": 1, "b": {"x": 1, "y": 2}})
    assert index.ok("POST", "_update/1", {"doc": {"b": {"y": 3}, "c": [1]}})["result"] == "updated"
    assert index.ok("GET", "_doc/1")["_source"] == {"a": 1, "b": {"x": 1, "y": 3}, "c": [1]}
    assert index.ok("POST", "_update/1", {"doc": {"a": 1}})["result"] == "noop"
    assert index.refused("POST", "_update/none", {"doc": {"a": 1}}, status=404) == "document_missing_exception"


def rule_scripted_update(index):
    """A script changes the document that ctx holds, or what is done with it; what it assigns to ctx itself nobody sees."""
    index.ok("PUT", "_doc/1", {"n": 1})
    for script, result, source in (("ctx._source.n += params.by", "updated", {"n": 4}), ("ctx = null", "updated", {"n": 4}), ("ctx = new HashMap(); ctx.op = 'delete'", "updated", {"n": 4}),
                                   ("if (ctx._source.n == 4) { return; } ctx._source.n = 9", "updated", {"n": 4}), ("ctx.op = 'none'", "noop", {"n": 4}),
                                   ("ctx.op = 'create'", "noop", {"n": 4}), ("params = [:]; ctx._source.p = params.size()", "updated", {"n": 4, "p": 0})):
        answer = index.ok("POST", "_update/1", {"script": {"source": script, "params": {"by": 3}}})
        assert answer["result"] == result and index.ok("GET", "_doc/1")["_source"] == source, script
    for script, status, kind in (("return 5", 400, "illegal_argument_exception"), ("return ctx", 400, "illegal_argument_exception"), ("ctx = 5", 400, "illegal_argument_exception"),
                                 ("params.by = 4", 400, "illegal_argument_exception"), ("int f(int x) { if (x > 1) { return 2 } } f(1)", 400, "illegal_argument_exception"),
                                 ("ctx._source = null", 400, "mapper_parsing_exception"), ("ctx._source = 5", 500, "class_cast_exception"), ("ctx.op = 5", 500, "class_cast_exception"),
                                 ("ctx.op = null", 500, "null_pointer_exception")):
        assert index.refused("POST", "_update/1", {"script": {"source": script, "params": {"by": 3}}}, status=status) == kind, script
    assert index.refused("POST", "_update/1", {"script": {"source": {"a": 1}}}) == "illegal_argument_exception"
    assert index.refused("POST", "_update/1", {"script": {"source": "ctx._source.n = 1", "options": {"a": "b"}}}) == "x_content_parse_exception"
    assert index.ok("POST", "_update/1", {"script": "ctx.op = 'delete'"})["result"] == "deleted"


def rule_bulk(index):
    """One batch of creates, updates and deletes: each has an answer of its own, in order."""
    index.ok("PUT", "_doc/old", {"n": 0})
    lines = [{"index": {"_id": "1"}}, {"n": 1}, {"create": {"_id": "old"}}, {"n": 2}, {"update": {"_id": "old"}}, {"doc": {"m": 3}}, {"delete": {"_id": "none"}},
             {"create": {"_id": "2"}}, {"n": 4}]
    answer = index.ok("POST", "_bulk?refresh=true", lines)
    items = [next(iter(i.items())) for i in answer["items"]]
    assert answer["errors"] and [(k, v["status"]) for k, v in items] == [("index", 201), ("create", 409), ("update", 200), ("delete", 404), ("create", 201)]
    assert items[1][1]["error"]["type"] == "version_conflict_engine_exception"
    assert sorted(index.ids({"match_all": {}})) == ["1", "2", "old"] and index.ok("GET", "_doc/old")["_source"] == {"n": 0, "m": 3}
    assert index.refused("POST", "_bulk", '{"index":{}}\n{"a":1}') == "illegal_argument_exception", "no newline at the end"


def rule_visible_after_refresh(index):
    """A document is searchable after the next refresh; reading it by id does not wait for that."""
    index.create(refresh_interval=-1)
    index.ok("PUT", "_doc/1", {"a": 1})
    assert index.ids({"match_all": {}}) == [] and index.ok("GET", "_doc/1")["found"]
    index.ok("POST", "_refresh")
    assert index.ids({"match_all": {}}) == ["1"]
    index.ok("PUT", "_doc/2?refresh=true", {})
    assert sorted(index.ids({"match_all": {}})) == ["1", "2"]


def rule_optimistic_concurrency(index):
    """if_seq_no and if_primary_term: a write that others came before is refused."""
    first = index.ok("PUT", "_doc/1", {"a": 1})
    at = f"_doc/1?if_seq_no={first['_seq_no']}&if_primary_term={first['_primary_term']}"
    index.ok("PUT", at, {"a": 2})
    assert index.refused("PUT", at, {"a": 3}, status=409) == "version_conflict_engine_exception"
    assert index.refused("PUT", "_doc/1?op_type=create", {}, status=409) == "version_conflict_engine_exception"


def rule_documents_make_indices(index):
    """A document creates the index that it names, and maps the fields that it brings."""
    index.ok("PUT", "_doc/1", {"text": "a", "number": 1, "fraction": 1.5, "yes": True, "day": "2020-01-01", "object": {"x": 1}})
    fields = index.ok("GET", "")[index.name]["mappings"]["properties"]
    assert {k: v.get("type", "object") for k, v in fields.items()} == {"text": "text", "number": "long", "fraction": "float", "yes": "boolean", "day": "date",
                                                                      "object": "object"}
    assert fields["text"]["fields"] == {"keyword": {"type": "keyword", "ignore_above": 256}}


def rule_after_restart(index):
    """What was answered is there after a restart."""
    for i in range(20):
        index.ok("PUT", f"_doc/{i}", {"n": i})
    index.ok("DELETE", "_doc/3")
    index.node.kill()
    index.node.start()
    index.ok("POST", "_refresh")
    assert sorted(map(int, index.ids({"match_all": {}}))) == [i for i in range(20) if i != 3]


if __name__ == "__main__":
    rules.main(sys.modules[__name__])
