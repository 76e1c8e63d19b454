"""Cases of documents that are deep, wide or long, and of requests that show parts of them: _source filters, filter_path, pretty and YAML together."""
import json

KEYS = ["a", "b", "c", "aa", "a.b", "", " ", "*", "a*", "-a", "_id", "_source", "酒店", "İ", "\u2028", "a\\b", 'a"b', "#", "- a", "y", "null", "1", ".", "..", "x" * 300]
SCALARS = [None, True, False, 0, -1, 1.5, 1e300, 2**63, "", " ", "a", "yes", "null", "- a", "a: b", "# a", "'", "\0", "\x7f", "\u0085", "😀", "a\nb\n", "\t", "酒店" * 30, "x" * 3000]
READS = ["_search", "_mget", "_doc", "_source", "_msearch", "_update", "_explain", "top_hits", "inner_hits", "_bulk", "_termvectors", "_mtermvectors"]
DEEPEST, WIDEST, LONGEST = 700, 2000, 40000


def part(rng, depth=0):
    """A value of some levels and members."""
    kind = rng.randrange(8)
    if depth > 5 or kind < 3:
        return rng.choice(SCALARS)
    if kind < 5:
        return [part(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 5]))]
    return {rng.choice(KEYS): part(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 5]))}


def document(rng):
    kind, inner = rng.randrange(6), part(rng)
    if kind < 2:
        for _ in range(rng.choice([10, 90, 300, DEEPEST])):
            inner = [inner] if rng.random() < 0.3 else {rng.choice(KEYS[:5]): inner}
        return inner if isinstance(inner, dict) else {"a": inner}
    if kind == 2:
        return {f"k{i}": rng.choice(SCALARS[:14]) for i in range(rng.randint(1, WIDEST))}
    if kind == 3:
        return {"a": [{"b": i, "c": rng.choice(KEYS)} for i in range(rng.randint(1, WIDEST // 2))]}
    if kind == 4:
        return {"a": rng.choice(["x", "a.", "酒", "\n", "\\", '"', "\x01"]) * rng.randint(1, LONGEST // 6)}
    return {rng.choice(KEYS): part(rng) for _ in range(9)}


def pattern(rng):
    """A path, some of whose parts are names and some of them globs."""
    parts = [rng.choice(["*", "**", "a", "b", "c", "a*", "*a", "?", "", "k1*", "hits", "docs", "_source", "hits.hits", "responses", rng.choice(KEYS)]) for _ in range(rng.choice([1, 2, 3, 8, 60]))]
    return rng.choice(["", "", "", "-"]) + ".".join(parts)


def patterns(rng):
    return [pattern(rng)[:1500] for _ in range(rng.choice([1, 1, 2, 5, 30]))]


def shape(rng):
    """Parameters that say how an answer looks."""
    given = [p for p, often in (("pretty", 0.4), ("format=yaml", 0.4), ("human", 0.1), ("error_trace", 0.1)) if rng.random() < often]
    if rng.random() < 0.6:
        given.append("filter_path=" + ",".join(patterns(rng))[:3000].replace("&", "").replace("#", "%23"))
    return given


def source_filter(rng):
    kind = rng.randrange(5)
    lists = [p.lstrip("-") for p in patterns(rng)]
    if kind == 0:
        return lists
    if kind == 1:
        return lists[0]
    return {"includes": lists if kind != 2 else [], "excludes": [p.lstrip("-") for p in patterns(rng)] if kind != 3 else []}


def read(rng, index):
    """A request that shows parts of documents."""
    kind, given, doc = rng.choice(READS), shape(rng), str(rng.randrange(4))
    search = {"_source": source_filter(rng), "size": 10}
    if kind in ("_doc", "_source", "_explain", "_update") and rng.random() < 0.7:
        given.append(rng.choice(["_source", "_source_includes", "_source_excludes"]) + "=" + ",".join(patterns(rng))[:2000].replace("&", "").replace("#", "%23"))
    query = "?" + "&".join(given) if given else ""
    if kind in ("_doc", "_source"):
        return "GET", f"/{index}/{kind}/{doc}{query}", None
    if kind == "_mget":
        return "POST", f"/{index}/_mget{query}", {"docs": [{"_id": str(i % 5), "_source": source_filter(rng)} for i in range(rng.choice([1, 4, 40]))]}
    if kind == "_termvectors":
        artificial = rng.random() < 0.4
        body = {"fields": patterns(rng)[:20], "term_statistics": True, "filter": {"max_num_terms": rng.choice([0, 1, 100000])}, "per_field_analyzer": {p: rng.choice(["keyword", "standard"]) for p in patterns(rng)[:3]}}
        return "POST", f"/{index}/_termvectors" + ("" if artificial else f"/{doc}"), {**body, "doc": document(rng)} if artificial else body
    if kind == "_mtermvectors":
        return "POST", f"/{index}/_mtermvectors", {"docs": [{"_id": str(i % 5), "fields": patterns(rng)[:5]} if rng.random() < 0.8 else {"doc": document(rng)} for i in range(rng.choice([1, 4, 40]))]}
    if kind == "_explain":
        return "POST", f"/{index}/_explain/{doc}{query}", {"query": {"match_all": {}}}
    if kind == "_update":
        return "POST", f"/{index}/_update/{doc}{query}", {"doc": document(rng), "_source": source_filter(rng)}
    if kind == "_msearch":
        return "POST", f"/{index}/_msearch{query}", [{}, search, {}, {"_source": source_filter(rng), "fields": patterns(rng)[:5]}]
    if kind == "_bulk":
        return "POST", f"/{index}/_bulk{query}", [{"update": {"_id": doc, "_source": source_filter(rng)}}, {"doc": document(rng)}]
    if kind == "top_hits":
        search = {"size": 0, "aggs": {"f": {"filters": {"filters": [{"match_all": {}}] * rng.choice([1, 5])}, "aggs": {"t": {"top_hits": search}}}}}
    elif kind == "inner_hits":
        search = {**search, "collapse": {"field": "g", "inner_hits": [{"name": f"i{i}", "_source": source_filter(rng)} for i in range(rng.choice([1, 3]))]}}
    elif rng.random() < 0.3:
        search["fields"] = [p.lstrip("-") for p in patterns(rng)]
    return "POST", f"/{index}/_search{query}", search


def documents_case(rng, worker):
    """(name, what to delete, steps)."""
    index, body = f"w{worker}-documents", {"settings": {"number_of_shards": rng.choice([1, 1, 3]), "index.mapping.depth.limit": 1000, "index.mapping.total_fields.limit": 100000}}
    if rng.random() < 0.7:
        body["mappings"] = {"dynamic": False, "properties": {"g": {"type": "keyword"}}}
    elif rng.random() < 0.5:
        body["mappings"] = {"enabled": False}
    steps = [("PUT", f"/{index}", body)]
    steps += [("PUT", f"/{index}/_doc/{i}?refresh", {**document(rng), "g": rng.choice("ab")}) for i in range(4)]
    steps += [read(rng, index) for _ in range(25)]
    return "documents", [index], [(m, p, json.loads(json.dumps(b))) for m, p, b in steps]
