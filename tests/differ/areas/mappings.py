"""Mappings: made by hand, changed, and made by documents of every shape, with templates, multi-fields and every parameter; and what of documents is then found."""
import json

NAMES = ["a", "b", "c", "d", "e", "l_n", "s_x", "when", "o", "o.x", "o.y", "p", "p.q.r", "ne", "ne.x", "名", "a b", "al"]
TYPES = ["rank_feature", "rank_features", "text", "keyword", "long", "integer", "short", "byte", "double", "float", "half_float", "scaled_float", "unsigned_long", "date", "date_nanos", "boolean", "ip", "geo_point", "binary", "completion", "token_count", "integer_range", "long_range", "float_range",
         "double_range", "date_range", "ip_range", "object", "nested", "alias", "constant_keyword", "murmur3", "string", "version"]
SHAPES = ["x", "red fox", "2020-01-01", "2020/01/02", "2020/01/02 10:11:12", "2020-01-01T10:00:00Z", "20200101", "2020", "12:30", "5", "5.5", "-7", "1e3", "0x10", "true", "", " ", "10.0.0.1", "1,2", 5, 0, -1, 7.5, 1e40, 2**31, 2**63 - 1, 2**63, -2**63 - 1, 2**64, 10**40, True, False, None, [], [1, "a"], [1, 2.5], ["a", None], [None],
          [[1], [2, [3]]], {}, {"x": 1}, {"x": "a", "y": 2.5}, [{"x": 1}, {"y": "z"}], {"gte": 1, "lt": 5}, {"gte": "2020-01-01", "lte": "2020-02-01"}, {"lat": 1, "lon": 2}, [1.5, 2.5], {"x": {"y": {"z": 1}}}, [{"x": [1, 2]}, {"x": 3}], {"x": None}, [True, "false"], {"type": "Point", "coordinates": [1, 2]}, "POINT (1 2)", "aGVsbG8=", {"input": "a", "weight": 2},
          ["2020-01-01", "x"], ["x", "2020-01-01"], [1, 2**40], "a" * 40, "9" * 20, 0.1, 1.0, "1.0", "2020-01-01T10:00:00.123456789Z", "2020-02-30", "99", "1577836800000", 1577836800000, "now", "2020-W01-1", "January 1"]
PARAMETERS = {"index": [True, False, "true", "no"], "store": [True, False, "false"], "doc_values": [True, False], "boost": [2, 1.5, "x"], "null_value": ["x", 1, True, "2020-01-01", "127.0.0.1", None, "NULL"], "ignore_malformed": [True, False], "coerce": [True, False], "ignore_above": [3, 10, 0, -1], "copy_to": ["c", ["c", "d"], [], "o.x", "nope"],
              "format": ["yyyy", "yyyy-MM-dd", "epoch_second", "epoch_millis", "strict_date", "basic_date", "yyyy/MM/dd||epoch_millis", "HH:mm", "bogus!", "dd.MM.yyyy", "strict_date_time||date", "week_date", "yyyy-MM-dd'T'HH:mm:ss.SSSZ", "date_hour_minute"], "fields": [{"raw": {"type": "keyword"}}, {"raw": {"type": "keyword", "ignore_above": 2}, "n": {"type": "long", "ignore_malformed": True}}, {"t": {"type": "text"}}, {}, {"n": {"type": "integer"}}, [], {"x": {}}],
              "analyzer": ["standard", "english", "nope"], "search_analyzer": ["whitespace"], "normalizer": ["lowercase", "nope"], "norms": [True, False], "similarity": ["BM25", "boolean", "nope"], "term_vector": ["yes", "no", "with_offsets", "x"], "index_options": ["docs", "freqs", "positions", "offsets", "x"], "fielddata": [True, False], "eager_global_ordinals": [True],
              "scaling_factor": [10, 100, 0, "x"], "meta": [{"unit": "m"}, {"a": 1}, {}], "path": ["a", "b", "o.x", "nope"], "dynamic": [True, False, "strict", "true", "runtime", "x"], "enabled": [False, True, "x"], "include_in_parent": [True], "include_in_root": [True], "properties": [{"x": {"type": "long"}}, {"x": {"type": "keyword"}, "y": {"type": "text"}}, {}, {"z": {"type": "nested"}}], "locale": ["en", "de"],
              "value": ["red", 1], "ignore_z_value": [True, False], "split_queries_on_whitespace": [True], "position_increment_gap": [5, -1], "index_prefixes": [{}, {"min_chars": 1, "max_chars": 3}, {"min_chars": 0}], "index_phrases": [True], "max_input_length": [5], "preserve_separators": [False], "enable_position_increments": [False], "positive_score_impact": [True, False, "x"], "foo": [1], "type": ["keyword"]}
SUITED = {"text": "index store boost copy_to fields analyzer search_analyzer norms similarity term_vector index_options fielddata eager_global_ordinals meta position_increment_gap index_prefixes index_phrases", "keyword": "index store doc_values boost null_value ignore_above copy_to fields normalizer norms similarity index_options eager_global_ordinals meta split_queries_on_whitespace",
          "date": "index store doc_values boost null_value ignore_malformed copy_to format fields meta locale", "date_nanos": "index store doc_values null_value ignore_malformed format", "object": "dynamic enabled properties", "nested": "dynamic include_in_parent include_in_root properties", "alias": "path", "boolean": "index store doc_values boost null_value copy_to fields meta", "scaled_float": "scaling_factor index store null_value ignore_malformed coerce",
          "ip": "index store doc_values null_value ignore_malformed copy_to", "geo_point": "ignore_malformed ignore_z_value null_value store", "binary": "store doc_values", "token_count": "analyzer index store doc_values null_value enable_position_increments", "completion": "analyzer search_analyzer max_input_length preserve_separators", "constant_keyword": "value", "rank_feature": "positive_score_impact meta copy_to fields", "rank_features": "meta copy_to fields", "date_range": "format index store coerce boost", "ip_range": "index store"}
NUMERIC = "index store doc_values boost null_value ignore_malformed coerce copy_to fields meta"


def field(draw):
    kind = draw.choice(TYPES[:28] if draw.chance(0.97) else TYPES)
    m = {"type": kind} if kind != "object" or draw.chance(0.3) else {}
    if kind == "alias":
        m["path"] = draw.choice(["a", "b", "c", "o.x"])
    if kind == "scaled_float":
        m["scaling_factor"] = draw.choice([1, 10, 100, 0.5])
    if kind == "token_count":
        m["analyzer"] = "standard"
    suited = SUITED.get(kind, "coerce store index boost" if "range" in kind else NUMERIC).split()
    for name in draw.some(suited, 0, 3) + ([draw.choice(sorted(PARAMETERS))] if draw.chance(0.05) else []):
        m[name] = draw.choice(PARAMETERS[name])
    if not m or (kind in ("object", "nested") and "properties" not in m and draw.chance(0.6)):
        m["properties"] = {n: field(draw) for n in draw.some("xyz", 1, 2)} if draw.chance(0.5) else draw.choice(PARAMETERS["properties"])
    return m


def template(draw):
    matching = draw.choice([{"match_mapping_type": draw.choice(["string", "long", "double", "boolean", "date", "object", "*", "binary", "x"])}, {"match": draw.choice(["*_n", "l_*", "a", "*"])}, {"path_match": draw.choice(["o.*", "*.x", "p.*"])}, {"match": "l_*", "match_mapping_type": "long"}, {"match": "^[ab]$", "match_pattern": "regex"}, {"match": "*", "unmatch": "a*"}, {"path_match": "*", "path_unmatch": "o.*"}, {"match_mapping_type": "string", "match": "s_*"}])
    made = draw.choice([{"type": "keyword"}, {"type": "text", "fields": {"raw": {"type": "keyword"}}}, {"type": "{dynamic_type}"}, {"type": "{dynamic_type}", "store": True}, {}, {"copy_to": "{name}_copy"}, {"type": "integer"}, {"type": "date", "format": "yyyy/MM/dd||strict_date"}, {"type": "keyword", "ignore_above": 3}, {"type": "object", "enabled": False}, {"type": "nested"}, {"type": "long", "ignore_malformed": True}, {"type": "double"}, {"type": "boolean"},
                        {"type": "text", "analyzer": "{name}"}, {"index": False}, {"type": "geo_point"}, {"type": "ip"}, {"type": "bogus"}])
    return {draw.choice(["t1", "t2", "t3"]): {**matching, "mapping": made, **draw.keys(foo=(0.02, lambda: 1))}}


def mapping(draw):
    m = draw.keys(dynamic=(0.3, lambda: draw.choice([True, False, "true", "false", "strict", "runtime"])), date_detection=(0.15, lambda: draw.choice([True, False, "false"])), numeric_detection=(0.25, lambda: draw.choice([True, False])), dynamic_date_formats=(0.15, lambda: draw.choice([["yyyy/MM/dd"], ["MM/dd/yyyy||dd-MM"], "yyyyMMdd", [], ["yyyy", "HH:mm"], ["strict_date_optional_time"]])),
                  dynamic_templates=(0.4, lambda: [template(draw) for _ in range(draw.randint(0, 3))]), _source=(0.08, lambda: draw.choice([{"enabled": False}, {"includes": ["a", "o.*"]}, {"excludes": ["b", "o"]}, {"enabled": True}])), _routing=(0.06, lambda: {"required": draw.choice([True, False])}), _meta=(0.05, lambda: {"v": 1}), _field_names=(0.02, lambda: {"enabled": True}), _size=(0.01, dict), runtime=(0.04, lambda: {"rt": {"type": "long"}}))
    properties = {}
    for name in draw.some(NAMES, 0, 5):
        properties[name] = field(draw)
    if properties or draw.chance(0.3):
        m["properties"] = properties
    return m


def document(draw):
    shape = lambda: draw.choice(SHAPES)
    doc = {}
    for name in draw.some(NAMES, 1, 4):
        doc[name] = draw.choice([shape, shape, shape, lambda: [shape() for _ in range(draw.randint(0, 3))], lambda: {draw.choice("xyz"): shape() for _ in range(2)}])()
    return doc


def search(draw):
    name = draw.choice(NAMES)
    body = draw.choice([{"fields": ["*"]}, {"fields": [name, {"field": "when", "format": "yyyy"}]}, {"docvalue_fields": [name]}, {"query": {"exists": {"field": name}}}, {"query": {"term": {name: draw.choice([1, "x", "2020-01-01", True, "red", "5"])}}}, {"stored_fields": ["*", "_source"]}, {"stored_fields": [name]}, {"sort": [{name: {"order": "asc", "unmapped_type": "long"}}]},
                        {"query": {"range": {name: {"gte": draw.choice([0, "2020-01-01", "a"])}}}}, {"aggs": {"x": {"terms": {"field": name}}}}, {"query": {"query_string": {"query": draw.choice(["x", "2020", "5", "red"])}}}, {"query": {"match": {name: draw.choice(["red fox", 5, "5"])}}}, {"aggs": {"x": {"missing": {"field": name}}}}])
    return {"size": 30, **({} if "sort" in body else {"sort": ["_id"]}), **body}


def request(draw, world):
    i = world.prefix + "m" + draw.choice("112")
    kind = draw.random()
    if kind < 0.07:
        return "DELETE", "/" + i, None
    if kind < 0.2:
        return "PUT", "/" + i, {"settings": {"number_of_shards": 1, "number_of_replicas": 0, **draw.keys(**{"mapping.coerce": (0.05, lambda: False), "mapping.ignore_malformed": (0.08, lambda: True), "mapping.total_fields.limit": (0.05, lambda: draw.choice([3, 6])), "mapping.depth.limit": (0.03, lambda: 2), "query.default_field": (0.04, lambda: "a")})}, "mappings": mapping(draw)}
    if kind < 0.3:
        return "PUT", f"/{i}/_mapping", mapping(draw)
    if kind < 0.37:
        return "GET", f"/{i}/_mapping", None
    if kind < 0.42:
        return "GET", f"/{i}/_mapping/field/{draw.choice(NAMES + ['*', 'o.*', 'a,b', 'a*,nope', '_id', '*.raw', '_*'])}{draw.choice(['', '', '?include_defaults=true'])}", None
    if kind < 0.5:
        return "GET", f"/{i}/_field_caps?fields={draw.choice(NAMES + ['*', 'o*', 'a,b'])}{draw.choice(['', '&include_unmapped=true'])}", None
    if kind < 0.62:
        return "GET", f"/{i}/_doc/{draw.randint(1, 6)}{draw.choice(['', '?stored_fields=*', '?stored_fields=a,b,o.x', '?realtime=false', '?_source_includes=o'])}", None
    if kind < 0.8:
        if draw.chance(0.2):
            return "POST", f"/{i}/_update/{draw.randint(1, 6)}?refresh=true", {"doc": document(draw)}
        return "PUT", f"/{i}/_doc/{draw.randint(1, 6)}?refresh=true", json.dumps(document(draw)) if draw.chance(0.5) else document(draw)
    return "POST", f"/{i}/_search", search(draw)
