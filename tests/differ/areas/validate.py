"""Searches in an address, and whether queries are valid: parameters of every kind, right ones and wrong ones."""
from areas.queries import q_string, q_simple, query


def words(draw, world):
    return draw.choice([q_string(draw, world, 0)["query_string"]["query"], world.text(2), f"{world.field()}:{world.text(1)}", f"{world.field()}:{draw.choice(['>3', '[1 TO 2]', '*', '(a b)', 'x~', '/a/'])}", "", "*:*", "AND", "(", "a:b:c", "\\"])


def flags(draw, world, **more):
    escaped = lambda: words(draw, world).replace("%", "%25").replace("&", "%26").replace("+", "%2B").replace("#", "%23").replace("^", "%5E").replace('"', "%22").replace(" ", draw.choice(["%20", "%20", "+"]))
    chosen = draw.keys(q=(0.85, escaped), df=(0.25, world.field), default_operator=(0.25, lambda: draw.choice(["AND", "or", "and", "x" if draw.chance(0.2) else "OR"])), analyzer=(0.15, lambda: draw.choice(["standard", "whitespace", "keyword", "nope" if draw.chance(0.3) else "simple"])), lenient=(0.25, lambda: draw.choice(["true", "false", "x" if draw.chance(0.1) else ""])),
                       analyze_wildcard=(0.15, lambda: "true"), **more)
    return "?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""


def validate(draw, world):
    more = {"explain": (0.7, lambda: draw.choice(["true", "true", "", "false"])), "rewrite": (0.4, lambda: "true"), "all_shards": (0.15, lambda: "true"), "ignore_unavailable": (0.05, lambda: "true")}
    where = draw.choice([world.index(), world.index(), world.index(), world.indices[0] + ",nope", "nope", world.indices[0] + "*"])
    if draw.chance(0.5):
        tail = flags(draw, world, **more)
        return draw.choice(["GET", "POST"]), f"/{where}/_validate/query{tail}{'&all_shards=true' if 'rewrite' in tail and 'all_shards' not in tail else ''}", None
    chosen = draw.keys(**more)
    if "rewrite" in chosen:
        chosen["all_shards"] = "true"  # a rewritten query is the shard's
    body = {"query": query(draw, world, draw.choice([0, 1]))}
    if draw.chance(0.1):
        body = draw.choice([{}, {"query": {}}, {"match_all": {}}, {"query": None}, {"size": 3}, {**body, "size": 1}, {"query": []}, [body], {"query": {"bool": {"must": {}}}}])
    return draw.choice(["GET", "POST"]), f"/{where}/_validate/query" + ("?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""), body


def search(draw, world):
    more = {"size": (0.2, lambda: draw.choice([0, 2, -1, "x"])), "from": (0.1, lambda: draw.choice([1, -1, 10001])), "sort": (0.2, lambda: draw.choice(["n1", "n1:desc,k1", "_score", "_doc", "n1:x", "nope", "k1:asc"])), "_source": (0.2, lambda: draw.choice(["false", "k1,n*", "true"])), "_source_includes": (0.06, lambda: "k*"),
            "_source_excludes": (0.06, lambda: "t*"), "stored_fields": (0.08, lambda: draw.choice(["k1", "_none_", "_source,t1"])), "docvalue_fields": (0.08, lambda: draw.choice(["k1", "n1,d1"])), "version": (0.06, lambda: "true"), "seq_no_primary_term": (0.05, lambda: "true"), "explain": (0.04, lambda: "true"), "track_scores": (0.08, lambda: "true"),
            "track_total_hits": (0.1, lambda: draw.choice(["true", "false", 2, -2, "x"])), "terminate_after": (0.04, lambda: draw.choice([1, 50, -1])), "rest_total_hits_as_int": (0.06, lambda: "true"), "timeout": (0.04, lambda: draw.choice(["10s", "x"])), "search_type": (0.06, lambda: draw.choice(["dfs_query_then_fetch", "query_then_fetch", "x"])),
            "batched_reduce_size": (0.04, lambda: draw.choice([2, 1, 0])), "pre_filter_shard_size": (0.03, lambda: draw.choice([1, 0])), "allow_partial_search_results": (0.05, lambda: draw.choice(["false", "true"])), "suggest_field": (0.03, lambda: "t1"), "suggest_text": (0.03, lambda: "fxo"), "foo": (0.01, lambda: 1), "request_cache": (0.03, lambda: "true"),
            "routing": (0.05, lambda: "a"), "preference": (0.06, lambda: draw.choice(["_local", "x", "_shards:0", "_only_local", "_shards:9", "_foo"])), "typed_keys": (0.03, lambda: "")}
    return "GET", f"/{world.index()}/_search{flags(draw, world, **more)}", None


def request(draw, world):
    kind = draw.random()
    if kind < 0.5:
        return validate(draw, world)
    if kind < 0.85:
        return search(draw, world)
    if kind < 0.93:
        return draw.choice(["GET", "POST"]), f"/{world.index()}/_count{flags(draw, world, min_score=(0.1, lambda: 0.5), terminate_after=(0.05, lambda: 1), routing=(0.05, lambda: 'a'))}", None
    return "GET", f"/{draw.choice(world.indices)}/_explain/{world.any_id()}{flags(draw, world, _source=(0.2, lambda: 'k1'), stored_fields=(0.1, lambda: 'k1'))}", None
