"""Bulks: every action with every key of its line, well and badly formed lines, parameters, and what is there afterwards."""


# Indices that a write makes are refreshed when somebody asks for it, not by the clock.
PREPARE = (lambda prefix: ("PUT", f"/_template/{prefix}r", {"index_patterns": [prefix + "*"], "order": -1, "settings": {"refresh_interval": "-1"}}),)
CLEANUP = ("_template/{}r",)


def meta(draw, world):
    i = world.indices
    m = draw.keys(_id=(0.85, lambda: world.any_id() if draw.chance(0.6) else world.new_id()), _index=(0.2, lambda: draw.choice([i[0], i[-1], world.prefix + "n1", world.prefix + "nope", "_all", "Up", "", "-" + world.prefix, world.prefix + "*", world.prefix + "al"])), routing=(0.08, lambda: draw.choice(["a", "b", "", 1])), version=(0.08, lambda: draw.choice([1, 2, 5, 0, -1, "3", "x"])),
                  version_type=(0.07, lambda: draw.choice(["external", "internal", "external_gte", "force", "x"])), if_seq_no=(0.06, lambda: draw.choice([0, 1, 5, -1, "2", None])), if_primary_term=(0.06, lambda: draw.choice([1, 2, 0, -1])), require_alias=(0.05, lambda: draw.choice([True, False, "true", "x"])), retry_on_conflict=(0.04, lambda: draw.choice([0, 3, -1])),
                  _type=(0.04, lambda: draw.choice(["_doc", "x"])), pipeline=(0.02, lambda: draw.choice(["_none", "nope"])), op_type=(0.02, lambda: "create"), _source=(0.02, lambda: True), dynamic_templates=(0.01, dict), parent=(0.01, lambda: "p"), _routing=(0.02, lambda: "a"), _version=(0.02, lambda: 1), id=(0.01, lambda: "1"))
    if "_id" not in m and world.is_spread():
        m["routing"] = "a"
    if draw.chance(0.03):
        m[draw.choice(["_id", "_index", "routing"])] = draw.choice([1, 1.5, True, None, "", [], ["a"], {}, "x" * 513])
    return m


def updating(draw, world):
    return draw.choice([{"doc": world.document()}, {"doc": {}}, {"doc": {}, "doc_as_upsert": True}, {"script": "ctx._source.n1 = 1"}, {"script": {"source": "ctx._source.k1 = params.x", "params": {"x": "new"}}}, {"script": {"source": "ctx.op = 'none'"}, "upsert": world.document()}, {"doc": {"k1": "red"}, "detect_noop": False}, {"doc": {"k1": "red"}, "_source": True}, {"doc": {"k1": "x"}, "_source": ["k1"]}, {"script": "ctx.op='delete'"},
                        {"upsert": {"k1": "u"}, "scripted_upsert": True, "script": "ctx._source.n1 = 4"}, {"doc": {"k1": "q"}, "upsert": {"n1": 3}}, {}, {"foo": 1}, {"doc": 1}, {"doc": {}, "script": "1"}, {"script": "nonsense("}, {"doc": {"n1": "abc"}}, {"script": "ctx._source.x.y = 1"}])


def bulk(draw, world):
    lines = []
    for _ in range(draw.randint(1, 6)):
        kind = draw.choice(["index", "index", "create", "delete", "update", "update"])
        lines.append({kind: meta(draw, world)})
        if kind == "update":
            lines.append(updating(draw, world))
        elif kind != "delete":
            doc = world.document()
            if draw.chance(0.15):
                doc[draw.choice(sorted(doc) or ["k1"])] = draw.choice(["abc", {"x": 1}, [[1, "a"]], True, 1e300, -1, 99999999999, "", None, "2020-13-01"])
            lines.append(doc if draw.chance(0.95) else draw.choice([{}, {"new": {"x": 1}}, {"new": "s"}, "[]", "1", "null", "{", '{"a":1,"a":2}', '{"a":1} {"b":2}', '"x"', "{}}", '{"_id":"1"}', '{"_index":"x"}', '{"":1}', '{"a.":1}', '{".a":1}', '{"a..b":1}', '{"a":{"b":1},"a.b":2}']))
    if draw.chance(0.12):
        lines[draw.randrange(len(lines))] = draw.choice(["{", "", " ", {"index": {}, "x": 1}, {"foo": {"_id": "1"}}, {"index": []}, "[]", {"delete": {}}, {"index": None}, {"index": "x"}, '{"index":{}} ', '{"index":{"_id":"1","_id":"2"}}', {"update": {}}, {}, "null", "1", '{"index" {}}', {"Index": {}}, '{"create":{"_id":"c1"}}'])
    return lines


def request(draw, world):
    p, kind = world.prefix, draw.random()
    if kind < 0.15:
        return "POST", f"/{p}*/_search", {"size": 50, "sort": ["_index", "_seq_no"], "version": True, "seq_no_primary_term": True}
    if kind < 0.2:
        return "GET", f"/{draw.choice(world.indices)}/_doc/{world.any_id()}", None
    if kind < 0.23:
        return "POST", "/_aliases", {"actions": [{"add": {"index": draw.choice(world.indices), "alias": p + "al", **draw.keys(routing=(0.2, lambda: "a"), is_write_index=(0.3, lambda: draw.choice([True, False])))}}]}
    if kind < 0.25:
        return "DELETE", f"/{p}n1?ignore_unavailable=true", None
    parts = draw.keys(refresh=(0.5, lambda: draw.choice(["true", "", "false", "x"])), routing=(0.05, lambda: "a"), require_alias=(0.05, lambda: draw.choice(["true", "false"])), _source=(0.05, lambda: draw.choice(["true", "k1", "false"])), _source_includes=(0.03, lambda: "k*"), pipeline=(0.03, lambda: draw.choice(["_none", "nope"])), timeout=(0.03, lambda: draw.choice(["10s", "x"])), wait_for_active_shards=(0.03, lambda: draw.choice(["1", "all", "x"])), foo=(0.01, lambda: "1"))
    tail = "?" + "&".join(f"{k}={v}" for k, v in parts.items()) if parts else ""
    path = draw.choice([f"/{world.indices[0]}/_bulk"] * 5 + ["/_bulk", f"/{p}al/_bulk", f"/{p}n1/_bulk", f"/{p}a/_doc/_bulk"])
    return draw.choice(["POST", "POST", "PUT"]), path + tail, bulk(draw, world)
