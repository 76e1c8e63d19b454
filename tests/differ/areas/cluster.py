"""What an operator or a client reads of the cluster: health, state, statistics, nodes, tasks; _count and _msearch with every parameter."""
from areas.queries import query
from world import NUMBERS

SORTED = ("text", "keyword", "date", "boolean", "ip", *NUMBERS)  # a sort on a range stands by decision, also inside of _msearch

# Of statistics what does not depend on when and where: numbers of documents and shards, and whether a part is there.
STATS = ["docs", "store", "indexing", "get", "search", "merge", "refresh", "flush", "warmer", "query_cache", "fielddata", "completion", "segments", "translog", "request_cache", "recovery", "_all", "nope", "docs,store", "suggest", "bulk", "docs,nope"]


def where(draw, world):
    p = world.prefix
    return draw.choice([world.indices[0], ",".join(world.indices), p + "*", p + "c1", p + "a,nope", "nope", p + "c*", "-" + p + "a", p + "*,-" + p + "a"])


def flags(draw, **more):
    parts = draw.keys(ignore_unavailable=(0.12, lambda: draw.choice(["true", "x"])), expand_wildcards=(0.1, lambda: draw.choice(["all", "open", "closed", "none", "hidden", "x"])), allow_no_indices=(0.08, lambda: "false"), **more)
    return "&".join(f"{k}={v}" for k, v in parts.items())


def joined(path, *parts):
    text = "&".join(p for p in parts if p)
    return path + ("?" + text if text else "")


def health(draw, world):
    more = flags(draw, level=(0.5, lambda: draw.choice(["cluster", "indices", "shards", "x"])), wait_for_status=(0.15, lambda: draw.choice(["green", "yellow", "red", "x"])), wait_for_no_relocating_shards=(0.1, lambda: "true"), wait_for_nodes=(0.1, lambda: draw.choice(["1", ">=1", "<3", "ge(1)", "x"])), wait_for_active_shards=(0.1, lambda: draw.choice(["1", "all", "x"])),
                 wait_for_events=(0.06, lambda: draw.choice(["normal", "languid", "x"])), local=(0.06, lambda: "true"), wait_for_no_initializing_shards=(0.06, lambda: "true"))
    return "GET", joined(f"/_cluster/health/{where(draw, world)}", "timeout=1s", more), None


def state(draw, world):
    metric = draw.choice(["metadata", "routing_table", "blocks", "metadata,routing_table", "version,master_node", "nope", "_all", "routing_nodes"])
    paths = ["metadata.indices.*.mappings", "metadata.indices.*.aliases", "metadata.indices.*.state", "metadata.indices.*.routing_num_shards", "metadata.indices.*.settings.index.number_of_shards", "metadata.indices.*.primary_terms", "metadata.indices.*.rollover_info", "metadata.indices.*.system", "routing_table.indices.*.shards.*.state", "routing_table.indices.*.shards.*.primary",
             "routing_table.indices.*.shards.*.shard", "routing_table.indices.*.shards.*.index", "blocks.indices", "error", "status"]
    return "GET", joined(f"/_cluster/state/{metric}/{where(draw, world)}", "filter_path=" + ",".join(paths), flags(draw, flat_settings=(0.1, lambda: "true"), local=(0.1, lambda: "true"))), None


def stats(draw, world):
    docs = ["**.docs", "_shards", "error", "status"]
    more = draw.choice([docs, docs, ["_all.*.*.missing", "indices.*.*.docs", "error", "status"], ["**.index_total", "**.delete_total", "error", "status"], ["**.index_current", "**.noop_update_total", "**.is_throttled", "_shards", "error"], ["**.fielddata", "error"], ["**.completion", "error"]])
    metric = draw.choice(["", "", "/" + draw.choice(STATS)])
    return "GET", joined(f"/{where(draw, world)}/_stats{metric}", "filter_path=" + ",".join(more), flags(draw, level=(0.3, lambda: draw.choice(["cluster", "indices", "shards", "x"])), forbid_closed_indices=(0.1, lambda: "false"), groups=(0.05, lambda: "a"), fields=(0.05, lambda: "*"), foo=(0.01, lambda: 1))), None


def nodes(draw, world):
    kind, node = draw.random(), draw.choice(["_all", "_local", "_master", "nobody", "*", "_only_master", "master:true", "data:false"])
    if kind < 0.4:
        metric = draw.choice(["settings", "os", "process", "jvm", "thread_pool", "transport", "http", "plugins", "ingest", "aggregations", "indices", "nope", "_all"])
        return "GET", f"/_nodes/{node}/{metric}?filter_path=_nodes,nodes.*.roles,nodes.*.version,nodes.*.aggregations.terms,error,status", None
    if kind < 0.7:
        metric = draw.choice(["indices", "os", "process", "jvm", "thread_pool", "fs", "transport", "http", "breaker", "script", "discovery", "ingest", "nope", "indices/docs", "indices/nope", "os/docs", "_all", "indices,os", "adaptive_selection"])
        return "GET", f"/_nodes/{node}/stats/{metric}?filter_path=_nodes,nodes.*.roles,nodes.*.thread_pool.search.queue,error,status", None
    return "GET", draw.choice(["/_tasks?filter_path=error,status", "/_tasks/x", "/_tasks/a:1", "/_tasks?group_by=x", "/_tasks?actions=nope", "/_tasks?nodes=nobody", "/_cluster/stats?filter_path=_nodes,error,status,nodes.count", "/_cluster/stats/nodes/nobody?filter_path=_nodes,error,nodes.count", "/_cluster/pending_tasks", "/_nodes/hot_threads?interval=x", "/_remote/info", "/_cluster/nope", "/_cluster", "/_nodes/nope/nope/nope"]), None


def explain(draw, world):
    body = draw.choice([{"index": world.indices[0], "shard": 0, "primary": True}, {"index": "nope", "shard": 0, "primary": True}, {"index": world.indices[0], "shard": 9, "primary": True}, {"index": world.indices[0]}, {"shard": 0}, {"index": world.indices[0], "shard": 0, "primary": False}, {"foo": 1}])
    return draw.choice(["GET", "POST"]), "/_cluster/allocation/explain?filter_path=index,shard,primary,current_state,can_remain_on_current_node,error,status", body


def reroute(draw, world):
    command = draw.choice([{"move": {"index": world.indices[0], "shard": 0, "from_node": "nobody", "to_node": "none"}}, {"cancel": {"index": world.indices[0], "shard": 0, "node": "nobody"}}, {"allocate_replica": {"index": world.indices[0], "shard": 0, "node": "nobody"}}, {"nope": {}}, {"allocate_stale_primary": {"index": world.indices[0], "shard": 0, "node": "nobody"}}, {"move": {}}, {"allocate_empty_primary": {"index": "nope", "shard": 0, "node": "nobody", "accept_data_loss": True}}])
    return "POST", f"/_cluster/reroute?dry_run=true&filter_path=acknowledged,explanations,error,status{draw.choice(['', '&explain=true', '&metric=none', '&metric=nope', '&retry_failed=true'])}", draw.choice([{"commands": [command]}, {"commands": [command]}, {}, {"commands": []}, {"foo": 1}, None])


def count(draw, world):
    more = flags(draw, q=(0.25, lambda: draw.choice(["k1:red", "t1:(red fox)", "*", "nope:1", "t1:[", "n1:>3", "red AND"])), df=(0.06, lambda: world.field()), default_operator=(0.06, lambda: draw.choice(["AND", "or", "x"])), analyzer=(0.04, lambda: draw.choice(["simple", "nope"])), lenient=(0.06, lambda: draw.choice(["true", "x"])), min_score=(0.06, lambda: draw.choice(["0.5", "x"])),
                 terminate_after=(0.08, lambda: draw.choice(["1", "0", "-1", "x"])), routing=(0.06, lambda: "a"), preference=(0.05, lambda: draw.choice(["_local", "_nope", "abc"])), analyze_wildcard=(0.04, lambda: "true"), foo=(0.02, lambda: 1), size=(0.02, lambda: 1))
    body = draw.choice([None, {"query": query(draw, world, draw.choice([0, 1]))}, {"query": query(draw, world, 0)}, {}, {"size": 1}, {"query": {}}, {"query": {"match_all": {}}, "sort": ["n1"]}])
    return draw.choice(["GET", "POST"]), joined(f"/{where(draw, world)}/_count", more), body


def search_body(draw, world):
    return {**draw.keys(query=(0.7, lambda: query(draw, world, 0)), size=(0.4, lambda: draw.randint(0, 3)), aggs=(0.2, lambda: {"a": {"value_count": {"field": world.field()}}}), sort=(0.3, lambda: [draw.choice(["_doc", "_id", world.field(*SORTED)])]), foo=(0.02, lambda: 1), track_total_hits=(0.1, lambda: draw.choice([True, False, 2])), terminate_after=(0.05, lambda: 1), from_=(0.01, lambda: 1))}


def msearch(draw, world):
    header = lambda: draw.keys(index=(0.7, lambda: draw.choice([world.indices[0], world.indices, "nope", world.prefix + "*", [], ""])), search_type=(0.1, lambda: draw.choice(["query_then_fetch", "dfs_query_then_fetch", "x"])), preference=(0.06, lambda: "_local"), routing=(0.06, lambda: "a"), ignore_unavailable=(0.12, lambda: draw.choice([True, "true", "x"])), allow_no_indices=(0.06, lambda: False),
                               expand_wildcards=(0.06, lambda: draw.choice(["open", ["open", "closed"], "x"])), request_cache=(0.04, lambda: True), allow_partial_search_results=(0.05, lambda: draw.choice([True, False])), foo=(0.03, lambda: 1), ccs_minimize_roundtrips=(0.03, lambda: True), indices=(0.03, lambda: world.indices[0]))
    lines = []
    for _ in range(draw.randint(1, 4)):
        lines += [draw.choice([header(), header(), {}, {}]) if draw.chance(0.96) else draw.choice(["", " ", "[]", "{", "null", "1"]), search_body(draw, world) if draw.chance(0.94) else draw.choice(["", "{", "[]", "{}}", "null", '{"query":{"nope":{}}}', '{"size":-1}'])]
    if draw.chance(0.05):
        lines.pop()
    parts = draw.keys(typed_keys=(0.1, lambda: "true"), rest_total_hits_as_int=(0.15, lambda: "true"), max_concurrent_searches=(0.08, lambda: draw.choice([1, 2, 0, "x"])), search_type=(0.06, lambda: draw.choice(["dfs_query_then_fetch", "x"])), ignore_unavailable=(0.08, lambda: "true"), routing=(0.04, lambda: "a"), foo=(0.02, lambda: 1), filter_path=(0.05, lambda: "responses.hits.total"))
    return draw.choice(["GET", "POST", "POST"]), joined(draw.choice(["/_msearch", f"/{world.index()}/_msearch", f"/{world.indices[0]}/_msearch", "/nope/_msearch"]), "&".join(f"{k}={v}" for k, v in parts.items())), lines


def changing(draw, world):
    p, kind = world.prefix, draw.random()
    name = p + draw.choice(["c1", "c2"])
    if kind < 0.4:
        return "PUT", f"/{name}", {"settings": {"number_of_shards": draw.randint(1, 3), "number_of_replicas": draw.choice([0, 0, 1]), **draw.keys(hidden=(0.1, lambda: True))}}
    if kind < 0.55:
        return "DELETE", f"/{name}", None
    if kind < 0.75:
        return "POST", f"/{name}/{draw.choice(['_close', '_open', '_open'])}?wait_for_active_shards=1", None
    return "POST", joined(f"/{where(draw, world)}/{draw.choice(['_refresh', '_flush', '_forcemerge', '_cache/clear'])}", flags(draw, foo=(0.03, lambda: 1))), None


def request(draw, world):
    return draw.choice([health, health, state, stats, stats, nodes, explain, reroute, count, count, msearch, msearch, msearch, changing])(draw, world)
