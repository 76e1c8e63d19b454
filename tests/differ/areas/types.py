"""Types of 7.x by their names: indices, mappings, templates, documents, bulks, reads and searches that name the type of an index, another one, or none."""
CLEANUP = ("_template/{}t1", "_template/{}t2")
TYPES = ["hotel", "hotel", "hotel", "motel", "_doc", "_doc", "_x", "a,b", ".a", "_all", "ho*"]
LEAF = {"type": "keyword"}


def type_of(draw):
    return draw.choice(TYPES)


def index_of(draw, world):
    return world.prefix + draw.choice(["n1", "n1", "n2", "n3", "m1", "m2", "a"])


def mapping(draw):
    return draw.choice([{}, {"properties": {"u": LEAF}}, {"properties": {draw.choice(["u", "v", "w"]): {"type": "long"}}}, {"_routing": {"required": False}}, {"properties": {"v": {"type": "nope"}}}, {"x": {}}])


def wrapped(draw):
    """A mapping, under the name of a type or without."""
    kind = draw.random()
    if kind < 0.6:
        return {type_of(draw): mapping(draw)}
    return mapping(draw) if kind < 0.95 else {"hotel": mapping(draw), "_doc": mapping(draw)}


def flag(draw):
    return draw.choice(["", "", "?include_type_name=true", "?include_type_name=true", "?include_type_name=false", "?include_type_name=x"])


def definition(draw, world):
    i, kind = index_of(draw, world), draw.random()
    if kind < 0.3:
        return "PUT", f"/{i}{flag(draw)}", {"mappings": wrapped(draw)} if draw.chance(0.7) else None
    if kind < 0.6:
        path = draw.choice(["_mapping", f"_mapping/{type_of(draw)}", f"{type_of(draw)}/_mapping", f"_mappings/{type_of(draw)}"])
        return "PUT", f"/{i}/{path}{flag(draw)}", wrapped(draw)
    if kind < 0.75:
        return "PUT", f"/_template/{world.prefix}t1{flag(draw)}", {"index_patterns": [world.prefix + "m*"], **({"mappings": wrapped(draw)} if draw.chance(0.8) else {})}
    if kind < 0.85:
        return "GET", f"/_template/{world.prefix}t1{flag(draw)}", None
    return "DELETE", f"/{i}", None


def document(draw):
    return {draw.choice(["p", "q"]): draw.choice(["a", "b"])}


def line(draw, world):
    meta = {"_index": index_of(draw, world), "_id": str(draw.randint(1, 4)), **({"_type": type_of(draw)} if draw.chance(0.7) else {})}
    kind = draw.choice(["index", "create", "delete", "update"])
    return [{kind: meta}] + ([] if kind == "delete" else [{"doc": document(draw)} if kind == "update" else document(draw)])


def writing(draw, world):
    i, n, kind = index_of(draw, world), draw.randint(1, 4), draw.random()
    t = type_of(draw)
    if kind < 0.4:
        return "PUT", f"/{i}/{t}/{n}{draw.choice(['', '', '?refresh', '/_create'])}", document(draw)
    if kind < 0.55:
        return "POST", f"/{i}/{t}/{n}/_update", draw.choice([{"doc": document(draw)}, {"doc": document(draw), "doc_as_upsert": True}, {"script": "ctx._source.t = ctx._type", "upsert": {}}])
    if kind < 0.65:
        return "DELETE", f"/{i}/{t}/{n}", None
    if kind < 0.9:
        return "POST", draw.choice(["/_bulk", f"/{i}/{t}/_bulk"]) + "?refresh", [x for _ in range(draw.randint(1, 4)) for x in line(draw, world)]
    return "POST", f"/{i}/_refresh", None


def reading(draw, world):
    i, n, t, kind = index_of(draw, world), draw.randint(1, 4), type_of(draw), draw.random()
    if kind < 0.25:
        return draw.choice(["GET", "GET", "HEAD"]), f"/{i}/{t}/{n}{draw.choice(['', '', '/_source'])}", None
    if kind < 0.4:
        return "POST", draw.choice(["/_mget", f"/{i}/_mget", f"/{i}/{t}/_mget"]), {"docs": [{"_index": i, "_id": str(n), **({"_type": t} if draw.chance(0.6) else {})} for _ in range(2)]}
    if kind < 0.55:
        return "GET", f"/{draw.choice([i, i, world.prefix + '*'])}/{draw.choice(['_mapping', '_mapping/' + t, t + '/_mapping', '_mapping/hotel,' + t, '_mapping/field/p', '_mapping/' + t + '/field/p'])}{flag(draw)}", None
    if kind < 0.6:
        return "HEAD", f"/{i}/_mapping/{t}", None
    if kind < 0.7:
        return "GET", f"/{i}/{t}/{n}/_explain", {"query": {"match_all": {}}}
    query = draw.choice([{"match_all": {}}, {"term": {"_type": t}}, {"type": {"value": t}}, {"terms": {"_type": [t, "hotel"]}}, {"prefix": {"_type": "ho"}}])
    return "POST", f"/{draw.choice([i, world.prefix + '*'])}/{draw.choice([t, 'hotel', t + ',hotel'])}/{draw.choice(['_count', '_count', '_search?size=0'])}", {"query": query}


def request(draw, world):
    return draw.choice([definition, writing, writing, reading, reading, reading])(draw, world)
