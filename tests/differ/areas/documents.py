"""Single documents: written, read, updated, deleted, many at once."""
from areas.queries import query


def params(draw, **more):
    chosen = draw.keys(refresh=(0.4, lambda: draw.choice(["true", "", "wait_for" if draw.chance(0.05) else "false"])), **more)
    return "?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""


def versions(draw):
    return draw.choice([{}, {}, {}, {"version": (1, lambda: draw.randint(1, 6)), "version_type": (1, lambda: draw.choice(["external", "external_gte"]))}, {"if_seq_no": (1, lambda: draw.randint(0, 5)), "if_primary_term": (1, lambda: 1)}, {"op_type": (1, lambda: draw.choice(["create", "index"]))},
                        {"routing": (1, lambda: draw.choice(["a", "b"]))}])


def write(draw, world):
    i, id_ = draw.choice(world.indices), world.any_id() if draw.chance(0.5) else world.new_id()
    kind = draw.random()
    if kind < 0.4:
        return "PUT", f"/{i}/_doc/{id_}{params(draw, **versions(draw))}", world.document()
    if kind < 0.5:
        return "PUT", f"/{i}/_create/{id_}{params(draw)}", world.document()
    if kind < 0.6:
        return "POST", f"/{i}/_doc{params(draw, **({'routing': (1, lambda: 'a')} if world.is_spread(i) else {}))}", world.document()
    return "DELETE", f"/{i}/_doc/{id_}{params(draw, **versions(draw))}", None


def update(draw, world):
    script = {"source": draw.choice(["ctx._source.n1 = 5", "ctx.op = 'delete'", "ctx.op = 'none'", "ctx._source.remove('t1')", "ctx._source.k1 = params.k", "ctx._source.x.y = 1"]), "params": {"k": "new"}}
    body = draw.choice([{"doc": world.document()}, {"doc": dict(list(world.document().items())[:1]), "detect_noop": False}, {"script": script}, {"doc": {}, "doc_as_upsert": True}, {"script": script, "upsert": world.document()}, {"script": script, "scripted_upsert": True, "upsert": {}}, {"doc": {}}])
    more = draw.keys(_source=(0.2, lambda: draw.choice([True, ["n1"], "k*"])))
    return "POST", f"/{draw.choice(world.indices)}/_update/{world.any_id()}{params(draw)}", {**body, **more}


def reading(draw, world):
    i, id_ = draw.choice(world.indices), world.any_id()
    options = draw.keys(_source=(0.2, lambda: draw.choice(["false", "n1,k1", "t*"])), stored_fields=(0.15, lambda: ",".join([world.field(), "_source"][:draw.randint(1, 2)])), realtime=(0.2, lambda: "false"), _source_excludes=(0.1, lambda: "t*"), version=(0.05, lambda: draw.randint(1, 3)), routing=(0.05, lambda: "a"))
    tail = "?" + "&".join(f"{k}={v}" for k, v in options.items()) if options else ""
    return draw.choice(["GET", "GET", "HEAD"]), f"/{i}/{draw.choice(['_doc', '_doc', '_source'])}/{id_}{tail}", None


def mget(draw, world):
    doc = lambda: {"_id": world.any_id(), **draw.keys(_index=(0.2, lambda: draw.choice([world.indices[0], "nope"])), _source=(0.2, lambda: draw.choice([False, ["n1"], {"include": ["k*"]}])), stored_fields=(0.1, lambda: [world.field()]), routing=(0.05, lambda: "a"))}
    return "POST", f"/{world.indices[0]}/_mget", draw.choice([{"ids": [world.any_id() for _ in range(3)]}, {"docs": [doc() for _ in range(draw.randint(1, 4))]}])


def bulk(draw, world):
    lines = []
    for _ in range(draw.randint(1, 6)):
        id_ = world.any_id() if draw.chance(0.6) else world.new_id()
        meta = {"_id": id_, **draw.keys(_index=(0.1, lambda: draw.choice(world.indices)), routing=(0.05, lambda: "a"), version=(0.04, lambda: 3), version_type=(0.03, lambda: "external"), if_seq_no=(0.03, lambda: 0), require_alias=(0.03, lambda: True), retry_on_conflict=(0.02, lambda: 1))}
        kind = draw.choice(["index", "index", "create", "delete", "update"])
        lines.append({kind: meta})
        if kind == "update":
            lines.append(draw.choice([{"doc": world.document()}, {"script": "ctx._source.n1 = 1"}, {"doc": {}, "doc_as_upsert": True}]))
        elif kind != "delete":
            lines.append(world.document())
    if draw.chance(0.15):
        lines[draw.randrange(len(lines))] = draw.choice(["{", "", {"index": {}, "x": 1}, {"foo": {"_id": "1"}}, {"index": []}, "[]", {"delete": {}}])
    return "POST", f"/{world.indices[0]}/_bulk{params(draw)}", lines


def broken(draw, world):
    """A document with a value that its field does not take."""
    doc = world.document()
    f = draw.choice(list(world.properties))
    doc[f] = draw.choice(["abc", {"x": 1}, [[1, "a"]], True, 1e300, -1, "12.5", 99999999999, "1e3", "", " 5", {"lat": 100, "lon": 0}, {"gte": 5, "lte": 1}, [None, 1], "2020-13-01", "300.1.1.1"])
    return "PUT", f"/{draw.choice(world.indices)}/_doc/{world.any_id()}{params(draw)}", doc


def request(draw, world):
    if draw.chance(0.15):
        return "POST", f"/{world.index()}/_search", {"query": query(draw, world, 0), "version": True, "seq_no_primary_term": True}
    return draw.choice([write, write, update, reading, reading, mget, bulk, broken])(draw, world)
