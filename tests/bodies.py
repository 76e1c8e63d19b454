"""Requests of every kind whose bodies tests cut and damage: (method, path, body). They need the index of `SETUP`."""

SETUP = ("/edge", {
    "settings": {"number_of_shards": 1, "number_of_replicas": 0},
    "mappings": {"properties": {
        "t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "integer"}, "d": {"type": "date"}, "at": {"type": "geo_point"},
        "c": {"type": "completion"}, "r": {"type": "integer_range"}, "rf": {"type": "rank_feature"}, "rfs": {"type": "rank_features"}, "j": {"type": "join", "relations": {"up": ["down", "side"]}}, "o": {"type": "nested", "properties": {"x": {"type": "keyword"}}}, "q": {"type": "percolator"}}}})

QUERIES = [
    {"bool": {"must": [{"match_all": {}}], "should": {"term": {"k": "a"}}, "must_not": [], "filter": [{"exists": {"field": "k"}}], "minimum_should_match": 1}},
    {"boosting": {"positive": {"match_all": {}}, "negative": {"match_none": {}}, "negative_boost": 0.5}},
    {"constant_score": {"filter": {"term": {"k": {"value": "a"}}}, "boost": 2}},
    {"dis_max": {"queries": [{"match_all": {}}, {"term": {"k": "b"}}], "tie_breaker": 0.2}},
    {"nested": {"path": "o", "query": {"term": {"o.x": "a"}}, "score_mode": "max", "inner_hits": {"size": 2, "sort": ["_doc"]}}},
    {"has_child": {"type": "down", "query": {"match_all": {}}, "score_mode": "max", "min_children": 1, "max_children": 5, "inner_hits": {"size": 2, "sort": ["_doc"]}}},
    {"has_parent": {"parent_type": "up", "query": {"term": {"k": "a"}}, "score": True, "ignore_unmapped": True}}, {"parent_id": {"type": "down", "id": "1", "ignore_unmapped": True}},
    {"wrapper": {"query": "eyJtYXRjaF9hbGwiOnt9fQ=="}},
    {"function_score": {"query": {"match_all": {}}, "functions": [{"filter": {"term": {"k": "a"}}, "weight": 2},
                        {"gauss": {"n": {"origin": 1, "scale": 2, "decay": 0.4}, "multi_value_mode": "avg"}},
                        {"random_score": {"seed": 3, "field": "_seq_no"}}, {"field_value_factor": {"field": "n", "missing": 1}},
                        {"script_score": {"script": {"source": "params.a", "params": {"a": 1}}}}], "score_mode": "sum", "boost_mode": "sum"}},
    {"geo_bounding_box": {"at": {"top_left": {"lat": 1, "lon": 2}, "bottom_right": [3, 0]}, "validation_method": "COERCE"}},
    {"geo_bounding_box": {"at": {"wkt": "BBOX (1, 2, 4, 3)"}}},
    {"geo_bounding_box": {"at": {"top": 3, "left": 1, "bottom": 2, "right": 4}}},
    {"geo_distance": {"distance": "2km", "at": {"lat": 1, "lon": 2}, "distance_type": "plane"}},
    {"geo_distance": {"distance": 2, "unit": "km", "at": [1, 2]}},
    {"geo_polygon": {"at": {"points": [{"lat": 1, "lon": 2}, [2, 3], "4,5"]}}},
    {"match": {"t": {"query": "a b", "operator": "and", "fuzziness": "AUTO:2,4", "zero_terms_query": "all"}}},
    {"match_phrase": {"t": {"query": "a b", "slop": 2}}},
    {"match_phrase_prefix": {"t": "a b"}},
    {"match_bool_prefix": {"t": {"query": "a b", "minimum_should_match": "50%"}}},
    {"multi_match": {"query": "a b", "fields": ["t^2", "k"], "type": "cross_fields", "tie_breaker": 0.3}},
    {"match_all": {"boost": 2, "_name": "x"}}, {"match_none": {}},
    {"prefix": {"k": {"value": "a", "case_insensitive": True}}}, {"wildcard": {"k": {"value": "a*"}}},
    {"regexp": {"k": {"value": "a.*", "flags": "ALL", "max_determinized_states": 100}}}, {"fuzzy": {"k": {"value": "abc", "fuzziness": 1}}},
    {"query_string": {"query": "t:(a OR \"b c\"~2) AND n:[1 TO 5] k:/a+/ d:>2020", "fields": ["t", "k"], "default_operator": "AND"}},
    {"simple_query_string": {"query": "a + (b | -c) \"d e\"~1 f*", "fields": ["t"], "flags": "AND|OR"}},
    {"range": {"n": {"gte": 1, "lt": 5, "boost": 2}}}, {"range": {"d": {"gte": "now-1d/d", "format": "yyyy-MM-dd||epoch_millis", "time_zone": "+01:00"}}},
    {"range": {"r": {"gte": 1, "relation": "within"}}},
    {"script_score": {"query": {"match_all": {}}, "script": {"source": "doc['n'].value * 2"}, "min_score": 1}},
    {"script": {"script": {"source": "doc['n'].value > params.x", "lang": "painless", "params": {"x": [1, {"y": 2}]}}}},
    {"distance_feature": {"field": "d", "origin": "now", "pivot": "7d"}},
    {"term": {"k": "a"}}, {"terms": {"k": ["a", "b"], "boost": 1.5}}, {"terms": {"k": {"index": "edge", "id": "1", "path": "k"}}},
    {"terms_set": {"k": {"terms": ["a", "b"], "minimum_should_match_script": {"source": "params.num_terms"}}}},
    {"exists": {"field": "k"}}, {"ids": {"values": ["1", "2"]}}, {"type": {"value": "_doc"}},
    {"more_like_this": {"fields": ["t"], "like": ["a b", {"_index": "edge", "_id": "1"}], "min_term_freq": 1}},
    {"span_near": {"clauses": [{"span_term": {"t": "a"}}, {"span_or": {"clauses": [{"span_term": {"t": {"value": "b"}}}]}}], "slop": 1, "in_order": True}},
    {"common": {"t": {"query": "a b", "cutoff_frequency": 0.1, "low_freq_operator": "or", "minimum_should_match": {"low_freq": 1, "high_freq": 2}}}},
    {"span_not": {"include": {"span_first": {"match": {"span_term": {"t": "a"}}, "end": 3}}, "exclude": {"span_multi": {"match": {"prefix": {"t": "b"}}}}, "pre": 1, "post": 1}},
    {"span_containing": {"big": {"span_near": {"clauses": [{"span_term": {"t": "a"}}, {"span_gap": {"t": 1}}, {"span_term": {"t": "b"}}], "slop": 2}}, "little": {"field_masking_span": {"query": {"span_term": {"t": "b"}}, "field": "t"}}}},
    {"span_within": {"big": {"span_term": {"t": "a"}}, "little": {"span_term": {"t": "b"}}}},
    {"intervals": {"t": {"match": {"query": "a b", "max_gaps": 2, "ordered": True, "analyzer": "standard", "use_field": "t", "filter": {"not_containing": {"fuzzy": {"term": "b", "fuzziness": 1, "prefix_length": 0, "transpositions": True}}}}}}},
    {"intervals": {"t": {"all_of": {"intervals": [{"match": {"query": "a"}}, {"any_of": {"intervals": [{"prefix": {"prefix": "b"}}]}}], "ordered": True}}}},
    {"rank_feature": {"field": "n", "saturation": {"pivot": 8}}}, {"rank_feature": {"field": "rf", "boost": 2}}, {"rank_feature": {"field": "rf", "log": {"scaling_factor": 4}}},
    {"rank_feature": {"field": "rfs.x", "sigmoid": {"pivot": 7, "exponent": 0.6}}}, {"rank_feature": {"field": "rfs.x", "linear": {}}}, {"percolate": {"field": "q", "document": {"t": "a", "q": {"term": {"k": "a"}}}, "name": "p", "boost": 2, "_name": "q"}}, {"percolate": {"field": "q", "documents": [{"t": "a"}, {"o": [{"x": "b"}]}]}},
    {"percolate": {"field": "q", "index": "edge", "id": "1", "routing": "a", "preference": "_local", "version": 1}},
    {"pinned": {"ids": ["1"], "organic": {"match_all": {}}}}, {"geo_shape": {"at": {"shape": {"type": "point", "coordinates": [1, 2]}, "relation": "within"}}},
]

SEARCHES = [
    {"from": 0, "size": 2, "sort": [{"n": {"order": "desc", "missing": "_last", "mode": "min"}}, "_score",
                                    {"_geo_distance": {"at": [{"lat": 1, "lon": 2}, "3,4"], "unit": "km"}},
                                    {"_script": {"type": "number", "script": {"source": "1"}, "order": "asc"}},
                                    {"o.x": {"nested": {"path": "o", "filter": {"match_all": {}}}}}], "search_after": [1, 2, 3, 4, "a"]},
    {"_source": {"includes": ["t*"], "excludes": "k"}, "stored_fields": ["_none_"], "docvalue_fields": [{"field": "d", "format": "epoch_millis"}, "n"],
     "fields": ["k", {"field": "d", "format": "yyyy"}], "script_fields": {"x": {"script": {"source": "1"}}}, "version": True},
    {"query": {"match": {"t": "a"}}, "highlight": {"fields": [{"t": {"type": "plain", "highlight_query": {"match": {"t": "b"}}}}], "pre_tags": ["<b>"],
                                                    "order": "score", "fragment_size": 10}},
    {"suggest": {"text": "abc", "x": {"term": {"field": "t", "size": 2, "suggest_mode": "always"}},
                 "y": {"prefix": "a", "completion": {"field": "c", "fuzzy": {"fuzziness": 1}, "skip_duplicates": True}},
                 "z": {"phrase": {"field": "t", "direct_generator": [{"field": "t", "size": 2}], "highlight": {"pre_tag": "<", "post_tag": ">"},
                                  "smoothing": {"linear": {"trigram_lambda": 0.5, "bigram_lambda": 0.3, "unigram_lambda": 0.2}},
                                  "collate": {"query": {"source": "{}"}, "params": {"a": 1}, "prune": True}}}}},
    {"collapse": {"field": "k", "inner_hits": [{"name": "a", "size": 1, "sort": [{"n": "asc"}], "collapse": {"field": "n"}}], "max_concurrent_group_searches": 2}},
    {"rescore": [{"window_size": 5, "query": {"rescore_query": {"match_all": {}}, "query_weight": 0.5, "score_mode": "max"}}]},
    {"post_filter": {"term": {"k": "a"}}, "min_score": 0.1, "timeout": "1s", "terminate_after": 5, "track_total_hits": 10, "explain": True,
     "indices_boost": [{"edge": 1.5}], "stats": ["g"], "slice": {"id": 0, "max": 2}, "runtime_mappings": {"rt": {"type": "long", "script": {"source": "emit(1)"}}}},
]

AGGS = [
    {"terms": {"field": "k", "size": 3, "order": [{"_count": "asc"}, {"m": "desc"}], "include": {"partition": 0, "num_partitions": 2}, "missing": "x"},
     "aggs": {"m": {"max": {"field": "n", "script": {"source": "_value"}}}}},
    {"date_histogram": {"field": "d", "calendar_interval": "month", "time_zone": "+01:00", "extended_bounds": {"min": "2020", "max": "2021"}},
     "aggs": {"s": {"sum": {"field": "n"}}, "dv": {"derivative": {"buckets_path": "s"}}, "mf": {"moving_fn": {"buckets_path": "s", "window": 2, "script": "MovingFunctions.max(values)"}},
              "bs": {"bucket_script": {"buckets_path": {"a": "s"}, "script": "params.a"}}, "so": {"bucket_sort": {"sort": [{"s": {"order": "desc"}}], "size": 2}}}},
    {"histogram": {"field": "n", "interval": 2, "hard_bounds": {"min": 0, "max": 9}, "keyed": True}},
    {"range": {"field": "n", "ranges": [{"to": 2, "key": "a"}, {"from": 2}]}}, {"date_range": {"field": "d", "format": "yyyy", "ranges": [{"from": "now-1y"}]}},
    {"filters": {"filters": {"a": {"match_all": {}}, "b": {"term": {"k": "a"}}}, "other_bucket": True}}, {"filter": {"term": {"k": "a"}}},
    {"adjacency_matrix": {"filters": {"a": {"match_all": {}}}}}, {"nested": {"path": "o"}, "aggs": {"r": {"reverse_nested": {}}}}, {"children": {"type": "down"}, "aggs": {"up": {"parent": {"type": "down"}}}},
    {"composite": {"size": 2, "sources": [{"a": {"terms": {"field": "k", "order": "desc"}}}, {"b": {"histogram": {"field": "n", "interval": 2}}}], "after": {"a": "x", "b": 2}}},
    {"percentiles": {"field": "n", "percents": [1, 50], "tdigest": {"compression": 50}}}, {"percentile_ranks": {"field": "n", "values": [1, 2]}},
    {"top_hits": {"size": 1, "sort": [{"n": "asc"}], "_source": ["k"], "highlight": {"fields": {"t": {}}}}},
    {"scripted_metric": {"init_script": "state.a = 0", "map_script": "state.a++", "combine_script": "state.a", "reduce_script": {"source": "states.size()"}}},
    {"geo_distance": {"field": "at", "origin": {"lat": 1, "lon": 2}, "unit": "km", "ranges": [{"to": 10}]}}, {"geohash_grid": {"field": "at", "bounds": {"top_left": "1,2", "bottom_right": "0,3"}}},
    {"significant_terms": {"field": "k", "background_filter": {"match_all": {}}, "jlh": {}}}, {"rare_terms": {"field": "k", "exclude": ["a"]}},
    {"weighted_avg": {"value": {"field": "n"}, "weight": {"field": "n", "missing": 2}}}, {"matrix_stats": {"fields": ["n"], "missing": {"n": 1}}},
    {"auto_date_histogram": {"field": "d", "buckets": 3}}, {"variable_width_histogram": {"field": "n", "buckets": 3, "shard_size": 8, "initial_buffer": 6}}, {"ip_range": {"field": "k", "ranges": [{"mask": "10.0.0.0/8"}]}}, {"cardinality": {"field": "k", "precision_threshold": 10}},
]

MAPPING = {"dynamic": "strict", "_source": {"enabled": True}, "_routing": {"required": False}, "dynamic_templates": [{"a": {"match": "x*", "mapping": {"type": "keyword"}}}],
           "properties": {"a": {"type": "text", "analyzer": "standard", "fields": {"k": {"type": "keyword", "ignore_above": 5}}, "index_prefixes": {"min_chars": 1}},
                          "b": {"type": "object", "properties": {"c": {"type": "date", "format": "yyyy"}}}, "e": {"type": "alias", "path": "a"}}}
ANALYSIS = {"char_filter": {"m": {"type": "mapping", "mappings": ["a => b"]}, "p": {"type": "pattern_replace", "pattern": "a+", "replacement": "$0"}},
            "tokenizer": {"n": {"type": "ngram", "min_gram": 1, "max_gram": 2, "token_chars": ["letter"]}},
            "filter": {"s": {"type": "synonym", "synonyms": ["a, b => c"]}, "w": {"type": "stop", "stopwords": "_english_"}},
            "analyzer": {"x": {"type": "custom", "char_filter": ["m", "p"], "tokenizer": "n", "filter": ["lowercase", "s", "w"]}}}

OTHERS = [
    ("PUT", "/edge-new", {"settings": {"index": {"number_of_shards": 2}, "analysis": ANALYSIS}, "mappings": MAPPING, "aliases": {"al": {"filter": {"term": {"k": "a"}}}}}),
    ("PUT", "/edge/_mapping", {"properties": MAPPING["properties"]}), ("PUT", "/edge/_settings", {"index": {"refresh_interval": "1s", "blocks.read": False}}),
    ("PUT", "/_template/edge", {"index_patterns": ["edge-*"], "order": 1, "settings": {"number_of_shards": 1}, "mappings": {"properties": {"a": {"type": "keyword"}}}}),
    ("PUT", "/_index_template/edge", {"index_patterns": ["edge-*"], "priority": 1, "template": {"settings": {"number_of_shards": 1}}, "composed_of": []}),
    ("POST", "/_aliases", {"actions": [{"add": {"index": "edge", "alias": "edge-a", "filter": {"term": {"k": "a"}}}}, {"remove": {"index": "edge", "alias": "edge-a"}}]}),
    ("POST", "/_analyze", {"tokenizer": "standard", "filter": ["lowercase", {"type": "stop", "stopwords": ["a"]}], "char_filter": [ANALYSIS["char_filter"]["m"]], "text": ["a b", "c"]}),
    ("PUT", "/_cluster/settings", {"transient": {"cluster.routing.allocation.enable": "all"}, "persistent": {"action": {"destructive_requires_name": None}}}),
    ("POST", "/_cluster/reroute?dry_run=true", {"commands": [{"move": {"index": "edge", "shard": 0, "from_node": "a", "to_node": "b"}}]}),
    ("PUT", "/edge/_doc/1", {"t": "a b", "k": ["a", "b"], "n": 1, "d": "2020-01-01", "at": {"lat": 1, "lon": 2}, "c": {"input": ["x"], "weight": 2}, "r": {"gte": 1, "lte": 2}, "o": [{"x": "a"}], "q": {"bool": {"must": [{"match": {"t": "a"}}], "filter": {"range": {"n": {"gte": 1}}}}}}),
    ("POST", "/edge/_update/1", {"script": {"source": "ctx._source.n += params.x", "params": {"x": 1}}, "upsert": {"n": 1}, "_source": ["n"]}),
    ("POST", "/edge/_update/1", {"doc": {"n": {"x": 1}}, "doc_as_upsert": True, "detect_noop": False}),
    ("POST", "/_mget", {"docs": [{"_index": "edge", "_id": "1", "_source": {"includes": ["n"]}}, {"_index": "edge", "_id": "2"}]}), ("POST", "/edge/_mget", {"ids": ["1", 2]}),
    ("POST", "/edge/_update_by_query?conflicts=proceed", {"query": {"term": {"k": "no"}}, "script": {"source": "ctx.op = 'noop'"}, "max_docs": 1}),
    ("POST", "/edge/_delete_by_query?conflicts=proceed", {"query": {"term": {"k": "no"}}, "max_docs": 1}),
    ("POST", "/_reindex", {"source": {"index": ["edge"], "query": {"term": {"k": "no"}}, "_source": ["k"], "size": 10}, "dest": {"index": "edge-re", "op_type": "create"}, "max_docs": 1}),
    ("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": "abc"}), ("DELETE", "/_search/scroll", {"scroll_id": ["abc", "def"]}),
    ("POST", "/edge/_termvectors/1", {"fields": ["t"], "filter": {"max_num_terms": 3}, "per_field_analyzer": {"t": "keyword"}, "offsets": False, "routing": "1"}), ("POST", "/edge/_termvectors", {"doc": {"t": "a b", "k": ["a"]}, "term_statistics": True, "fields": ["*"]}),
    ("POST", "/_mtermvectors", {"docs": [{"_index": "edge", "_id": "1", "version": 1, "filter": {"min_doc_freq": 1}}, {"_index": "edge", "doc": {"t": "a"}}]}), ("POST", "/edge/_mtermvectors", {"ids": ["1", 2], "parameters": {"fields": ["t"], "positions": False}}), ("POST", "/edge/_field_caps?fields=*", {"index_filter": {"match_all": {}}}),
    ("POST", "/edge/_rank_eval", {"requests": [{"id": "a", "request": {"query": {"match_all": {}}}, "ratings": [{"_index": "edge", "_id": "1", "rating": 1}]}], "metric": {"precision": {"k": 3}}}),
    ("PUT", "/_scripts/edge", {"script": {"lang": "painless", "source": "params.a", "options": {"content_type": "application/json"}}}),
    ("POST", "/_render/template", {"source": "{{#l}}{{k}}{{^last}},{{/last}}{{/l}}{{#toJson}}l{{/toJson}}{{#join}}m.a{{/join}}", "params": {"l": [{"k": 1}, {"k": "b", "last": True}], "m": {"a": [1, None]}}}),
    ("POST", "/edge/_search", {"script_fields": {"a": {"script": {"id": "edge", "params": {"a": 1}}}}}),
    ("POST", "/edge/_rank_eval", {"templates": [{"id": "t", "template": {"source": {"query": {"term": {"k": "{{k}}"}}}}}], "requests": [{"id": "a", "template_id": "t", "params": {"k": "a"}, "ratings": []}], "metric": {"recall": {}}}),
    ("POST", "/_render/template", {"source": {"query": {"match": {"t": "{{x}}"}}}, "params": {"x": "a"}}), ("POST", "/edge/_search/template", {"source": "{\"size\":{{n}}}", "params": {"n": 1}}),
    ("POST", "/_scripts/painless/_execute", {"script": {"source": "params.a", "params": {"a": 1}}, "context": "painless_test"}),
    ("POST", "/edge/_rollover", {"conditions": {"max_docs": 5}, "settings": {"number_of_shards": 1}}), ("PUT", "/_ingest/pipeline/edge", {"processors": [{"set": {"field": "a", "value": 1}}]}),
    ("POST", "/_ingest/pipeline/_simulate?verbose", {"pipeline": {"description": "d", "version": 1, "processors": [
        {"grok": {"field": "a", "patterns": ["%{IP:i} %{NUMBER:n:int}", "%{X:x}"], "pattern_definitions": {"X": "[a-z]+"}, "trace_match": True, "ignore_failure": True}},
        {"dissect": {"field": "a", "pattern": "%{b->} %{+c/1} %{*k}:%{&k}", "append_separator": "-", "on_failure": [{"set": {"field": "e", "value": "{{_ingest.on_failure_message}}"}}]}},
        {"kv": {"field": "q", "field_split": "&", "value_split": "=", "trim_key": " ", "include_keys": ["x"], "prefix": "p_", "strip_brackets": True}},
        {"csv": {"field": "v", "target_fields": ["v1", "v2"], "separator": ";", "quote": "'", "trim": True, "empty_value": 0}},
        {"date": {"field": "d", "formats": ["ISO8601", "UNIX", "dd/MM/yyyy"], "timezone": "Europe/Paris", "output_format": "yyyy-MM-dd"}},
        {"date_index_name": {"field": "d", "date_rounding": "M", "index_name_prefix": "p-", "date_formats": ["ISO8601"]}}]},
        "docs": [{"_index": "i", "_id": "1", "_source": {"a": "1.2.3.4 5 k:v", "q": "x=(1)&y=2", "v": "1;'2'", "d": "2021-03-04"}}]}),
    ("POST", "/_ingest/pipeline/_simulate", {"pipeline": {"on_failure": [{"remove": {"field": "z", "ignore_missing": True}}], "processors": [
        {"foreach": {"field": "l", "processor": {"uppercase": {"field": "_ingest._value"}}}}, {"script": {"source": "ctx.n += params.x", "params": {"x": 1}}},
        {"convert": {"field": "n", "type": "string"}}, {"split": {"field": "s", "separator": ",", "if": "ctx.s != null"}}, {"append": {"field": "l", "value": ["{{n}}"]}},
        {"gsub": {"field": "n", "pattern": "1", "replacement": "2"}}, {"json": {"field": "j", "target_field": "o"}}, {"rename": {"field": "j", "target_field": "k.l"}}, {"fail": {"message": "{{n}}"}}]},
        "docs": [{"_source": {"l": ["a", "b"], "n": 1, "s": "a,b", "j": "{}"}}, {"_source": {"l": []}}]}),
]


def _lines(*values):
    import json
    return "".join(json.dumps(v) + "\n" for v in values)


LINES = [
    ("POST", "/_bulk", _lines({"index": {"_index": "edge", "_id": "1", "routing": "a"}}, {"t": "a", "n": 1}, {"update": {"_index": "edge", "_id": "1"}}, {"doc": {"n": 2}}, {"delete": {"_index": "edge", "_id": "2"}})),
    ("POST", "/_msearch", _lines({"index": "edge", "preference": "_local"}, {"query": {"match_all": {}}, "size": 1}, {}, {"size": 0})),
    ("POST", "/_msearch/template", _lines({"index": "edge"}, {"source": {"size": "{{n}}"}, "params": {"n": 1}})),
]


def all_bodies():
    """(method, path, text, whether it is lines)"""
    import json
    for q in QUERIES:
        yield "POST", "/edge/_search", json.dumps({"query": q}), False
    yield "POST", "/edge/_validate/query?explain=true", json.dumps({"query": QUERIES[0]}), False
    yield "POST", "/edge/_explain/1", json.dumps({"query": QUERIES[0]}), False
    yield "POST", "/edge/_count", json.dumps({"query": QUERIES[0]}), False
    for s in SEARCHES:
        yield "POST", "/edge/_search", json.dumps(s), False
    for a in AGGS:
        yield "POST", "/edge/_search", json.dumps({"size": 0, "aggs": {"a": a}}), False
    for method, path, body in OTHERS:
        yield method, path, json.dumps(body), False
    for method, path, text in LINES:
        yield method, path, text, True
