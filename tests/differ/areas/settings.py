"""Settings of indices and of the cluster: given at creation, changed, read back in every form, and open and closed indices."""
CLEANUP = ("_template/{}*",)
BLOCKS = {"index.blocks." + b: None for b in ("read_only", "metadata", "write", "read", "read_only_allow_delete")}
CHANGED = {k: {n + ".*": None for n in ("action", "cluster", "search", "indices", "transport", "discovery")} for k in ("transient", "persistent")}
CLEAN_FIRST = (lambda prefix: ("PUT", f"/{prefix}*/_settings?expand_wildcards=all", BLOCKS), lambda prefix: ("PUT", "/_cluster/settings", CHANGED))

# name -> values, right and wrong
INDEX = {"number_of_replicas": [0, 0, "0", 1, -1, "x", 1.5, None], "number_of_shards": [1, 2, "3", 0, -1, "x", 1025, None], "refresh_interval": ["1s", "-1", -1, "5m", "500ms", "0", "x", 1, None, "1.5s", "2 s"], "max_result_window": [100, "10000", 0, 1, -1, "x", None, 1.5],
         "max_inner_result_window": [10, 0, None], "max_rescore_window": [500, 0, None], "max_docvalue_fields_search": [3, -1, "x"], "max_script_fields": [2, -1], "max_ngram_diff": [2, -1, None], "max_shingle_diff": [1, -1], "blocks.read_only": [False, "false", "x", None], "blocks.write": [False, "", "no", None],
         "blocks.read": [False, "0"], "blocks.metadata": [False, "x"], "blocks.read_only_allow_delete": [False, None], "max_refresh_listeners": [10, -1], "analyze.max_token_count": [100, 0, "x"], "highlight.max_analyzed_offset": [100, 0, "x"], "max_terms_count": [10, 0], "max_regex_length": [20, 0, -1],
         "routing.allocation.enable": ["all", "none", "x", "ALL", "new_primaries"], "routing.rebalance.enable": ["all", "none", "y", "replicas"], "gc_deletes": ["60s", "x", -1, "0"], "default_pipeline": ["_none"], "final_pipeline": ["_none"], "routing_partition_size": [1, 2, 0], "auto_expand_replicas": ["false", "0-1", "0-all", "x", "1", True, False, "2-1"],
         "codec": ["default", "best_compression", "x", None], "mapping.total_fields.limit": [100, 0, -1, "x"], "mapping.depth.limit": [20, 0], "mapping.nested_fields.limit": [5, -1], "mapping.nested_objects.limit": [100, -1], "mapping.field_name_length.limit": [50, 0], "mapping.coerce": [True, "x"], "mapping.ignore_malformed": [False, "true", 1],
         "query.default_field": ["t1", ["t1", "k1"], "*", []], "query_string.lenient": [True, "x"], "translog.durability": ["request", "async", "x", "REQUEST"], "translog.sync_interval": ["5s", "10ms", "x"], "translog.flush_threshold_size": ["1gb", "10b", "x", -1, "55b"], "search.idle.after": ["30s", "-1", "x"], "priority": [1, -1, "x"], "hidden": [False, "true", "x", None],
         "search.slowlog.threshold.query.warn": ["10s", "-1", "x", None], "search.slowlog.level": ["info", "x", "TRACE"], "indexing.slowlog.threshold.index.warn": ["10s", "x"], "indexing.slowlog.source": ["1000", True, "false", "x"], "merge.policy.max_merged_segment": ["5gb", "x"], "merge.scheduler.max_thread_count": [1, 0, "x"], "soft_deletes.enabled": [True, False, "x"],
         "soft_deletes.retention_lease.period": ["12h", "x"], "unassigned.node_left.delayed_timeout": ["1m", "x", "0"], "write.wait_for_active_shards": [1, "all", "x", -1, "0"], "max_adjacency_matrix_filters": [10, 1, -1], "shard.check_on_startup": [False, "true", "checksum", "x"], "lifecycle.name": ["p"], "foo": [1], "foo.bar": ["x"], "uuid": ["abc"], "creation_date": [1, "x"], "version.created": [7120199, 1],
         "provided_name": ["x"], "routing.allocation.include._name": ["*", "", None], "routing.allocation.exclude.zone": ["x", None], "routing.allocation.require._ip": ["127.0.0.1", "x", "*"], "routing.allocation.total_shards_per_node": [-1, 5, 0, -2], "allocation.max_retries": [5, 0, -1], "similarity.default.type": ["BM25", "x"], "mapper.dynamic": [True], "number_of_routing_shards": [2, 6, 7],
         "load_fixed_bitset_filters_eagerly": [True], "analysis.analyzer.a1.type": ["standard", "x", "custom", None], "analysis.filter.f1": [{"type": "stop"}, {"type": "x"}, {}], "sort.field": [], "data_path": ["x"], "requests.cache.enable": [True, "x"], "fielddata.cache": ["node"], "store.type": ["fs", "niofs"], "percolator.map_unmapped_fields_as_text": [True], "max_slices_per_scroll": [5, 0], "max_slices_per_pit": [5, 0]}
CLUSTER = {"cluster.routing.allocation.enable": ["all", "x", None, "ALL"], "cluster.routing.rebalance.enable": ["all", "none", "x"], "cluster.max_shards_per_node": [1000, 0, "x", 5000], "cluster.routing.allocation.cluster_concurrent_rebalance": [2, -1, -2, "x"], "cluster.routing.allocation.node_concurrent_recoveries": [2, -1, "x"],
           "cluster.routing.allocation.disk.threshold_enabled": [True, "true", "x"], "cluster.routing.allocation.disk.watermark.low": ["85%", "x", "101%", "50gb"], "cluster.routing.allocation.balance.shard": [0.45, -1, "x"], "cluster.info.update.interval": ["30s", "1s", "x"], "cluster.blocks.read_only": [False, "x"], "action.auto_create_index": [True, "x", "+a*,-b*", "true"],
           "action.destructive_requires_name": [False, "x"], "search.default_search_timeout": ["-1", -1, "x"], "search.max_buckets": [65535, 0, -1, "x"], "search.max_open_scroll_context": [500, -1, "x"], "search.default_keep_alive": ["5m", "x", "25h"], "search.max_keep_alive": ["24h", "x"], "search.low_level_cancellation": [True, "x"], "search.default_allow_partial_results": [True, "x"],
           "indices.recovery.max_bytes_per_sec": ["40mb", "x", "0b"], "indices.breaker.total.limit": ["95%", "x"], "indices.query.bool.max_clause_count": [1024], "logger.org.elasticsearch": ["info", "x", None], "cluster.name": ["x"], "foo.bar": [1, None], "archived.x": [None], "cluster.persistent_tasks.allocation.enable": ["all", "x"],
           "node.name": ["x"], "http.port": [1], "cluster.routing.allocation.exclude._name": ["nobody", "", None], "cluster.routing.allocation.awareness.attributes": ["", "zone", []], "cluster.no_master_block": ["write", "all", "x"], "transport.tracer.include": ["", "x"], "network.host": ["x"], "cluster.metadata.x": ["note", None, {"a": 1}], "search.max_async_search_response_size": ["10mb"],
           "cluster.routing.use_adaptive_replica_selection": [True, "x"], "cluster.service.slow_task_logging_threshold": ["30s", "x"], "indices.id_field_data.enabled": [True, False], "discovery.zen.minimum_master_nodes": [1], "ingest.geoip.downloader.enabled": [True]}


def nested(flat):
    """Settings as objects in objects."""
    out = {}
    for name, value in flat.items():
        at, parts = out, name.split(".")
        for part in parts[:-1]:
            at = at.setdefault(part, {})
            if not isinstance(at, dict):
                return flat
        at[parts[-1]] = value
    return out


def chosen(draw, table, most=3, right=0.5):
    """Some settings; mostly their first, right, values."""
    return {n: table[n][0] if table[n] and draw.chance(right) else draw.choice(table[n] or [None]) for n in draw.some(sorted(table), 1, most)}


def index_settings(draw, most=3):
    flat = chosen(draw, INDEX, most)
    kind = draw.random()
    if kind < 0.3:
        return {"index." + n: v for n, v in flat.items()}
    if kind < 0.5:
        return {"index": nested(flat)}
    if kind < 0.6:
        return nested(flat)
    if kind < 0.65:
        return {"settings": flat}
    return flat


def tail(draw, **more):
    parts = draw.keys(flat_settings=(0.25, lambda: draw.choice(["true", "true", "false", "x"])), **more)
    return "?" + "&".join(f"{k}={v}" for k, v in parts.items()) if parts else ""


def reading(draw, world):
    p = world.prefix
    where = draw.choice([world.indices[0], p + "s1", p + "s2", p + "*", p + "s*", p + "a,nope", "nope"])
    names = draw.choice(["", "", "/index.number_of_shards", "/index.n*", "/index.refresh_interval,index.max_result_window", "/_all", "/*", "/nope", "/index.blocks.*", "/-index.*", "/index.routing.*", "/index.mapping.*"])
    more = tail(draw, include_defaults=(0.06, lambda: "false"), ignore_unavailable=(0.1, lambda: "true"), expand_wildcards=(0.06, lambda: draw.choice(["all", "closed", "none"])), human=(0.05, lambda: "true"), local=(0.03, lambda: "true"), foo=(0.01, lambda: 1))
    return "GET", f"/{where}/_settings{names}{more}", None


def request(draw, world):
    p, kind = world.prefix, draw.random()
    name = p + draw.choice(["s1", "s1", "s2"])
    if kind < 0.2:
        settings = {**({"number_of_replicas": 0} if draw.chance(0.8) else {}), **index_settings(draw, 4)}
        return "PUT", f"/{name}", draw.choice([{"settings": settings}, {"settings": settings}, {"settings": settings, "mappings": {"properties": {"t": {"type": "text"}}}}, settings])
    if kind < 0.27:
        return "DELETE", f"/{name}", None
    if kind < 0.5:
        where = draw.choice([name, name, world.indices[0], p + "s*", "nope"])
        return "PUT", f"/{where}/_settings{tail(draw, preserve_existing=(0.15, lambda: draw.choice(['true', 'x'])), ignore_unavailable=(0.1, lambda: 'true'), timeout=(0.03, lambda: '10s'), expand_wildcards=(0.04, lambda: 'all'))}", index_settings(draw)
    if kind < 0.7:
        return reading(draw, world)
    if kind < 0.74:
        return "POST", f"/{name}/{draw.choice(['_close', '_open', '_open'])}?wait_for_active_shards=1", None
    if kind < 0.78:
        return "PUT", f"/{name}/_block/{draw.choice(['write', 'read', 'metadata', 'read_only', 'x'])}", None
    if kind < 0.82:
        return "PUT", f"/_template/{p}m", {"index_patterns": [p + "s*"], "order": draw.randint(0, 2), "settings": index_settings(draw)}
    if kind < 0.84:
        return "GET", f"/_template/{p}m{tail(draw)}", None
    if kind < 0.87:
        return "PUT", f"/{name}/_doc/1?refresh", {"t": "red fox"}
    if kind < 0.9:
        return "GET", f"/{name}{tail(draw)}", None
    if kind < 0.93:
        return "POST", f"/{name}/_search", {"size": draw.choice([1, 50, 150])}
    if kind < 0.97:
        return "PUT", f"/_cluster/settings{tail(draw)}", {draw.choice(["transient", "persistent"]): {n: v for n, v in chosen(draw, CLUSTER, 2).items()}}
    return "PUT", "/_cluster/settings", {draw.choice(["transient", "persistent"]): {draw.choice(sorted(CLUSTER)): None}}
