"""Aggregations two and three deep, with pipelines."""
from areas.queries import query
from world import NUMBERS, RANGES

ZONES = ["+08:00", "Europe/Berlin", "America/New_York", "-03:30", "UTC", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Sao_Paulo"]


def order(draw):
    return draw.choice([{"_count": "asc"}, {"_key": "desc"}, {"_key": "asc"}, [{"_count": "desc"}, {"_key": "desc"}], {"m": "desc"}, {"m.value": "asc"}])


def a_terms(draw, world):
    f = world.field(*draw.choice([("keyword",), ("keyword",), NUMBERS, ("boolean",), ("ip",), ("date",), ("text",), ()]))
    includes = ["r.*", ["red", "a"], [1, 2], {"partition": 0, "num_partitions": 2}]
    return {"terms": {"field": f, **draw.keys(
        size=(0.3, lambda: draw.choice([1, 2, 100])), shard_size=(0.1, lambda: 3), order=(0.3, lambda: order(draw)), min_doc_count=(0.2, lambda: draw.choice([0, 2])), missing=(0.15, lambda: draw.choice(["miss", 0, "127.0.0.1", "2020-01-01", True])), include=(0.1, lambda: draw.choice(includes)),
        exclude=(0.07, lambda: draw.choice(["r.*", ["red"]])), format=(0.03, lambda: "0000"), collect_mode=(0.1, lambda: "breadth_first"), execution_hint=(0.1, lambda: "map"), show_term_doc_count_error=(0.1, lambda: True), value_type=(0.03, lambda: "long"))}}


def a_histogram(draw, world):
    f = world.field(*NUMBERS) if draw.chance(0.9) else world.field(*RANGES)
    if world.leaves().get(f, {}).get("type") in RANGES:  # with an open end the real one counts buckets for ever
        return {"histogram": {"field": f, "interval": draw.choice([1, 5, 10]), "min_doc_count": 1, "hard_bounds": {"min": -50, "max": 100}}}
    # min_doc_count is there with most: without it extremes make more buckets than anybody allows
    return {"histogram": {"field": f, "interval": draw.choice([1, 5, 0.5, 10, 50, 1e18]), **draw.keys(
        offset=(0.2, lambda: draw.choice([1, 0.25, -3])), min_doc_count=(0.8, lambda: draw.choice([1, 1, 2])), order=(0.15, lambda: order(draw)), keyed=(0.15, lambda: True), missing=(0.1, lambda: 0), extended_bounds=(0.1, lambda: {"min": 0, "max": 10}), hard_bounds=(0.05, lambda: {"min": 0, "max": 10}),
        format=(0.05, lambda: "#.#"))}}


def a_date(draw, world):
    f = world.field("date", "date_nanos") if draw.chance(0.92) else world.field("date_range")
    kind = draw.choice([{"calendar_interval": draw.choice(["month", "1y", "quarter", "week", "1d", "year", "1M", "day"])}, {"fixed_interval": draw.choice(["30d", "365d", "1000h", "7d", "12345m"])}])
    options = draw.keys(time_zone=(0.3, lambda: draw.choice(ZONES)), offset=(0.15, lambda: draw.choice(["+6h", "-1d", 3600000])), format=(0.2, lambda: draw.choice(["yyyy-MM", "yyyy-MM-dd HH:mm", "epoch_millis", "yyyy-MM-dd'T'HH:mm:ssXXX"])), keyed=(0.15, lambda: True),
                        missing=(0.1, lambda: "2020-01-01"), order=(0.1, lambda: order(draw)), hard_bounds=(0.1, lambda: draw.choice([{"min": "2019-06-01", "max": "2020-06-01"}, {"max": "2021"}, {"min": 1577836800000}])))
    if draw.chance(0.2) and f != "nope":  # all buckets between two bounds, as charts want them
        return {"date_histogram": {"field": f, "calendar_interval": draw.choice(["month", "quarter", "year"]), "min_doc_count": 0, **options, "hard_bounds": {"min": "2019-01-01", "max": "2022-01-01"}, **draw.keys(extended_bounds=(0.7, lambda: draw.choice([{"min": "2019-03-01", "max": "2020-02-01"}, {"max": "2021-01-01"}])))}}
    return {"date_histogram": {"field": f, **kind, "min_doc_count": draw.choice([1, 1, 1, 2]), **options}}


def a_range(draw, world):
    ranges = [{"to": 3}, {"from": 3, "to": 10}, {"from": 5}, {"key": "x", "from": 0}, {}]
    return {"range": {"field": world.field(*NUMBERS), "ranges": draw.some(ranges, 1, 4), **draw.keys(keyed=(0.3, lambda: True), missing=(0.1, lambda: 1))}}


def a_range_of(draw, world):
    kind = draw.randrange(3)
    if kind == 0:
        ranges = [{"to": "2020-01-01"}, {"from": "2020-01-01", "to": "2021"}, {"from": "2020-06-01||/y"}, {"key": "x", "from": "1970-01-01"}]
        return {"date_range": {"field": world.field("date", "date_nanos"), "ranges": draw.some(ranges, 1, 3), **draw.keys(format=(0.3, lambda: "yyyy"), time_zone=(0.2, lambda: draw.choice(ZONES)), keyed=(0.2, lambda: True), missing=(0.1, lambda: "2020"))}}
    if kind == 1:
        ranges = [{"mask": "10.0.0.0/8"}, {"to": "127.0.0.1"}, {"from": "8.8.8.8", "to": "200.0.0.0"}, {"key": "v6", "from": "::"}]
        return {"ip_range": {"field": world.field("ip"), "ranges": draw.some(ranges, 1, 3), **draw.keys(keyed=(0.2, lambda: True))}}
    ranges = [{"to": 500}, {"from": 500, "to": 5000}, {"from": 5000}]
    return {"geo_distance": {"field": world.field("geo_point"), "origin": "31,121", "unit": "km", "ranges": ranges, **draw.keys(keyed=(0.2, lambda: True), distance_type=(0.3, lambda: "arc"))}}


def a_filters(draw, world):
    q = lambda: query(draw, world, 0)
    return draw.choice([lambda: {"filter": q()}, lambda: {"filters": {"filters": {"x": q(), "y": q()}, **draw.keys(other_bucket=(0.3, lambda: True), other_bucket_key=(0.2, lambda: "rest"))}}, lambda: {"filters": {"filters": [q(), q()]}}, lambda: {"missing": {"field": world.field()}},
                        lambda: {"global": {}}, lambda: {"adjacency_matrix": {"filters": {"A": q(), "B": q(), "C": q()}}}])()


def box(draw):
    return draw.choice([{"top_left": "60,-180", "bottom_right": "-40,180"}, {"top": 50, "left": 10, "bottom": 20, "right": 130}, {"top_left": {"lat": 40, "lon": 100}, "bottom_right": [150, -40]}, {"wkt": "BBOX (100, 160, 50, -50)"}, {"top_left": "50,170", "bottom_right": "-50,-170"}])


def significant(draw, world):
    how = draw.choice([{}, {"jlh": {}}, {"gnd": {}}, {"percentage": {}}, {"chi_square": {"include_negatives": True}}, {"mutual_information": {"include_negatives": draw.chance(0.5)}}])
    return {"significant_terms": {"field": world.field("keyword", "keyword", *NUMBERS), "min_doc_count": draw.choice([1, 1, 2]), **how, **draw.keys(
        size=(0.2, lambda: 2), background_filter=(0.2, lambda: query(draw, world, 0)), include=(0.1, lambda: "[a-r].*"), exclude=(0.1, lambda: ["a"]), shard_min_doc_count=(0.1, lambda: 1))}}


def a_variable(draw, world):
    """The real one's request cache knows only `buckets` of the sizes: the others follow from it, so that no two requests differ in them alone."""
    n = draw.choice([1, 2, 3, 5, 7, 10, 20])
    return {"variable_width_histogram": {"field": world.field(*NUMBERS), "buckets": n, **({"shard_size": 2 * n + 2, "initial_buffer": n + 3} if n % 2 else {}), **draw.keys(missing=(0.15, lambda: draw.choice([0, 7.5])), format=(0.1, lambda: "#.#"))}}


def a_other(draw, world):
    return draw.choice([
        lambda: {"geohash_grid": {"field": world.field("geo_point"), "precision": draw.choice([1, 2, 3, 4, 5, 6, "100km"]), **draw.keys(size=(0.2, lambda: 2), bounds=(0.3, lambda: box(draw)))}}, lambda: {"geotile_grid": {"field": world.field("geo_point"), "precision": draw.randint(0, 10), **draw.keys(bounds=(0.3, lambda: box(draw)))}},
        lambda: a_variable(draw, world), lambda: {"sampler": {"shard_size": draw.choice([1, 3, 100])}}, lambda: {"diversified_sampler": {"field": world.field("keyword", *NUMBERS), "shard_size": 5, "max_docs_per_value": draw.choice([1, 2])}}, lambda: significant(draw, world), lambda: significant(draw, world),
        lambda: {"rare_terms": {"field": world.field("keyword", "integer", "long", "double", "date", "ip", "boolean"), **draw.keys(max_doc_count=(0.5, lambda: 2), missing=(0.1, lambda: 1), include=(0.1, lambda: draw.choice([["a", "b"], "r.*"])), exclude=(0.1, lambda: ["red"]))}},
        lambda: {"auto_date_histogram": {"field": world.field("date", "date_nanos"), "buckets": draw.choice([1, 2, 5, 10, 30]), **draw.keys(time_zone=(0.3, lambda: draw.choice(ZONES)), format=(0.2, lambda: "yyyy-MM-dd"), minimum_interval=(0.2, lambda: draw.choice(["minute", "day", "month", "year"])), missing=(0.1, lambda: "2020-01-01"))}},
        lambda: {draw.choice(["significant_text", "string_stats", "boxplot", "top_metrics", "rate", "multi_terms", "t_test"]): {"field": world.field(*NUMBERS)}}])()


def a_nested(draw, world):
    inner = draw.choice([{"avg": {"field": "ne.n"}}, {"terms": {"field": "ne.k"}}, {"reverse_nested": {}}, {"max": {"field": "ne.n"}}, {"filter": {"range": {"ne.n": {"gte": 3}}}}, {"histogram": {"field": "ne.n", "interval": 10, "min_doc_count": 1}}, {"top_hits": {"size": 2, "_source": draw.chance(0.5)}},
                         {"cardinality": {"field": "ne.k"}}, {"composite": {"sources": [{"x": {"terms": {"field": "ne.k"}}}]}}, {"range": {"field": "ne.n", "ranges": [{"to": 5}, {"from": 5}]}}, {"sampler": {"shard_size": 2}}, {"significant_terms": {"field": "ne.k", "min_doc_count": 1}}, {"rare_terms": {"field": "ne.k"}}])
    if not {"terms", "filter", "histogram", "composite", "range", "sampler", "significant_terms", "rare_terms"}.isdisjoint(inner) and draw.chance(0.6):
        inner["aggs"] = {"i": draw.choice([{"reverse_nested": {}, "aggs": {"r": a_metric(draw, world)}}, {"reverse_nested": {}, "aggs": {"r": draw.choice(BUCKETS[:9])(draw, world)}}, {"avg": {"field": "ne.n"}}, {"terms": {"field": "ne.n"}}, {"nested": {"path": "ne"}}])}
    if "reverse_nested" in inner and draw.chance(0.6):
        inner["aggs"] = {"r": draw.choice([a_metric, a_terms])(draw, world)}
    return {"nested": {"path": "ne"}, "aggs": {"m": inner}}


def source(draw, world):
    o = draw.keys(order=(0.3, lambda: draw.choice(["asc", "desc"])), missing_bucket=(0.25, lambda: True))
    return draw.choice([
        {"terms": {"field": world.field("keyword", *NUMBERS, "date", "ip", "boolean"), **o}}, {"terms": {"field": world.field("keyword"), **o}}, {"histogram": {"field": world.field(*NUMBERS), "interval": 5, **o}},
        {"date_histogram": {"field": world.field("date"), "calendar_interval": "month", **draw.keys(format=(0.4, lambda: "yyyy-MM"), time_zone=(0.2, lambda: "+08:00")), **o}}, {"geotile_grid": {"field": world.field("geo_point"), "precision": 5, **o}}])


def a_composite(draw, world):
    sources = [{n: source(draw, world)} for n in "xyz"[:draw.randint(1, 3)]]
    return {"composite": {"sources": sources, **draw.keys(size=(0.5, lambda: draw.choice([1, 2, 5, 100])), after=(0.25, lambda: {n: after(draw, world, s[n]) for s in sources for n in s}))}}


def after(draw, world, s):
    """A value behind which a page of `composite` may begin: mostly of the source's type."""
    kind, body = next(iter(s.items()))
    if draw.chance(0.1):
        return draw.choice([None, "a", 5, 1.5, True, "2020-01", "x/y"])
    if kind == "geotile_grid":
        return draw.choice(["5/16/16", "5/0/0", "5/26/13"])
    if kind == "date_histogram" and "format" in body:
        return draw.choice(["1969-07", "2020-01", "2020-02"])
    if kind == "date_histogram":
        return draw.choice([1577836800000, 0, -1000, 1580515200000])
    return draw.choice([0, 5, 10, 2.5]) if kind == "histogram" else world.value(body["field"]) if body["field"] != "nope" else "a"


def a_metric(draw, world):
    num = lambda: world.field(*draw.choice([NUMBERS, NUMBERS, NUMBERS, ("date",), ("boolean",), ()]))
    missing = draw.keys(missing=(0.15, lambda: draw.choice([0, 5])))
    simple = lambda: {draw.choice(["avg", "sum", "min", "max", "stats", "extended_stats", "value_count"]): {"field": num(), **missing}}
    shaped = draw.keys(**{"from": (0.2, lambda: 1)}, highlight=(0.2, lambda: {"fields": {"t1": {}, "t2": {}}}), script_fields=(0.15, lambda: {"s": {"script": "1 + 1"}}), fields=(0.2, lambda: ["k*", "d1", "n1"]), seq_no_primary_term=(0.1, lambda: True), explain=(0.05, lambda: True), track_scores=(0.15, lambda: True),
                       stored_fields=(0.1, lambda: ["n1", "t1", "k1"]), _source=(0.4, lambda: draw.choice([True, ["k1", "n*"], {"excludes": ["t*"]}])))
    scripts = draw.choice(["_value * 2", "_value + params.x", "_value > 5 ? 1 : _value"])
    hits = draw.keys(sort=(0.6, lambda: [{world.field(*NUMBERS): {"order": "desc", "unmapped_type": "long"}}]), version=(0.2, lambda: True), docvalue_fields=(0.2, lambda: [world.field("keyword", *NUMBERS)]))
    matrix = lambda: {"matrix_stats": {"fields": [num() for _ in range(draw.randint(1, 4))], **draw.keys(mode=(0.4, lambda: draw.choice(["min", "max", "sum", "avg", "median"])), missing=(0.2, lambda: {num(): draw.choice([0, 2.5, "7"])}))}}
    counted = {"init_script": "state.c = 0", "map_script": "state.c++", "combine_script": "return state.c", "reduce_script": "double t = 0; for (s in states) { t += s } return t"}
    return draw.choice([
        simple, simple, simple, simple, lambda: {"cardinality": {"field": world.field(), **missing}}, lambda: {"value_count": {"field": world.field()}},
        lambda: {"percentiles": {"field": num(), **draw.keys(percents=(0.5, lambda: [1, 50, 99.9]), keyed=(0.3, lambda: False), **draw.choice([{}, {"hdr": (0.4, lambda: {"number_of_significant_value_digits": draw.choice([1, 2, 3])})}, {"tdigest": (0.4, lambda: {"compression": draw.choice([50, 200])})}]))}}, lambda: {"percentile_ranks": {"field": num(), "values": [1, 5, 10], **draw.keys(keyed=(0.3, lambda: False))}},
        lambda: {"median_absolute_deviation": {"field": num()}}, lambda: {"weighted_avg": {"value": {"field": num()}, "weight": {"field": num(), "missing": 1}}}, lambda: {"geo_bounds": {"field": world.field("geo_point")}}, lambda: {"geo_centroid": {"field": world.field("geo_point")}}, matrix, matrix,
        lambda: {"top_hits": {"size": draw.choice([1, 3]), "_source": False, **hits, **shaped}}, lambda: {draw.choice(["avg", "sum", "max", "stats", "cardinality", "percentiles"]): {"field": num(), "script": {"source": scripts, "params": {"x": 0.5}}, **missing}}, lambda: {"extended_stats": {"field": num(), "sigma": 1.5}}, lambda: {"scripted_metric": counted}, lambda: {"avg": {"script": {"source": f"doc['{world.field(*NUMBERS)}'].size() == 0 ? 1 : 2"}}}])()


def sibling(draw):
    path = draw.choice(["a>m", "a>_count", "a>m.value", "a>p", "a>none", "a._count"])
    kind = draw.choice(["avg_bucket", "sum_bucket", "min_bucket", "max_bucket", "stats_bucket", "extended_stats_bucket", "percentiles_bucket"])
    return {kind: {"buckets_path": path, **draw.keys(gap_policy=(0.2, lambda: "insert_zeros"), format=(0.15, lambda: "0.00"))}}


def parent(draw):
    path = draw.choice(["m", "m", "_count", "m.value", "none", "m.max"])
    scripts = ["MovingFunctions.min(values)", "MovingFunctions.unweightedAvg(values)", "MovingFunctions.stdDev(values, 1)"]
    return draw.choice([
        {"derivative": {"buckets_path": path, **draw.keys(unit=(0.2, lambda: "1d"))}}, {"cumulative_sum": {"buckets_path": path, **draw.keys(format=(0.2, lambda: "0.0"))}}, {"serial_diff": {"buckets_path": path, "lag": draw.choice([1, 2])}},
        {"moving_fn": {"buckets_path": path, "window": draw.choice([1, 3]), "script": draw.choice(scripts)}}, {"bucket_script": {"buckets_path": {"x": path, "y": "_count"}, "script": "params.x + params.y"}}, {"bucket_selector": {"buckets_path": {"x": path}, "script": "params.x > 1"}},
        {"bucket_sort": draw.keys(sort=(0.7, lambda: [{path: {"order": "desc"}}]), size=(0.5, lambda: 2), **{"from": (0.3, lambda: 1)})}, {"moving_avg": {"buckets_path": path, "window": 3}}])


BUCKETS = [a_terms, a_terms, a_terms, a_histogram, a_histogram, a_date, a_date, a_range, a_range_of, a_filters, a_other, a_nested, a_composite]


def aggregation(draw, world, depth):
    """A random aggregation with at most `depth` levels of buckets."""
    if depth == 0 or draw.chance(0.15):
        return a_metric(draw, world)
    a = draw.choice(BUCKETS)(draw, world)
    if "aggs" not in a and draw.chance(0.75):
        a["aggs"] = {"m": aggregation(draw, world, draw.choice([0, 0, depth - 1])), **draw.keys(n=(0.2, lambda: a_metric(draw, world)), p=(0.3, lambda: parent(draw)))}
    return a


def retyped(draw, world, aggs, pages=False):
    """The same over other fields here and there, of any type: most refuse them, each in its own words."""
    if isinstance(aggs, list):
        return [retyped(draw, world, a, pages) for a in aggs]
    if not isinstance(aggs, dict):
        return aggs
    out = {}
    for k, v in aggs.items():
        endless = k in ("histogram", "date_histogram") and not pages and not (isinstance(v, dict) and v.get("min_doc_count", 0) > 0)  # over moments the real one would count buckets for ever
        out[k] = world.field() if k == "field" and isinstance(v, str) and draw.chance(0.3) else v if endless or k in ("query", "filter", "filters", "background_filter") else retyped(draw, world, v, pages or k == "sources")
    return out


def request(draw, world):
    aggs = {"a": aggregation(draw, world, draw.choice([1, 2, 2, 3])), **draw.keys(b=(0.2, lambda: aggregation(draw, world, 1)), s=(0.25, lambda: sibling(draw)))}
    if draw.chance(0.15):
        aggs = retyped(draw, world, aggs)
    return "POST", f"/{world.index()}/_search{draw.choice(['', '', '', '?typed_keys=true'])}", {"size": 0, "aggs": aggs, **draw.keys(query=(0.25, lambda: query(draw, world, 0)))}
