"""Numbers at the edges of every type, and addresses, points and ranges in every form: in documents, queries, sorts, aggregations."""
from world import FRACTIONS, NUMBERS, RANGES

KINDS = ["long", "integer", "short", "byte", "double", "float", "half_float", "scaled_float", "ip", "geo_point", "boolean", "ip_range", "integer_range", "long_range", "double_range", "float_range"]
ODD = [0, -1, 1, 127, 128, -128, -129, 32767, 32768, -32769, 2147483647, 2147483648, -2147483649, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -2**63, -2**63 - 1, 2**64 - 1, 2**64, 1.5, -0.5, 1.0, 2.9999999999, 0.1, 1e10, 1e19, 1e300, 3.4028235e38, 3.5e38, 65504, 65505, 65520, 1e-7, 6e-8, 1e-45, 1e-46, 5e-324, 127.9, -128.9, 127.5, -0.0,
       "0", "-0", "-1", "+1", " 1", "1 ", "1.0", "1.5", "1.", ".5", "-.5", "1e3", "1E3", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "nan", "0x10", "1_000", "1,5", "1f", "1d", "1L", "١", "", " ", "true", "x", "127.9", "00012", "-00", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1e19", "0.1", "1e-400", "12345678901234567890.5", "65504.0", "3.4028236e38",
       True, False, None, [], [1, 2], {}, {"a": 1}]
RAW = ["1e400", "-1e400", "-0", "-0.0", "1E5", "123456789012345678901234567890", "0.1e1", "1e-400", "1.0", "100000000000000000000.5", "9007199254740993.0", "1e18", "1e0"]
IPS = ["10.0.0.1", "10.0.0.0/8", "10.0.0.1/32", "10.0.0.1/0", "10.0.0.1/33", "10.0.0.1/", "/8", "10.0.0", "10.0.0.256", "010.0.0.1", "::", "::1", "::ffff:10.0.0.1", "::10.0.0.1", "2001:db8::/32", "2001:db8::/129", "2001:DB8::FF", "2001:db8:0:0:0:0:0:ff", "1:2:3:4:5:6:7:8:9", "fe80::1%eth0", "[::1]", "::ffff:10.0.0.0/104", "10.0.0.1 ", "", "x", "1", 1, 1.5, True, None,
       "255.255.255.255", "0.0.0.0", "::ffff:0:0/96", "10.*", "2001:db8::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "1.2.3.4.5", "10.0.0.1/-1", "10.0.0.1/8/8", "::/0", "0:0:0:0:0:0:0:0", ":::", "1::2::3"]
POINTS = ["1,2", "1, 2", " 1,2", "91,2", "1,181", "-90,-180", "90,180", "1,2,3", "1", "1,", ",", "x,y", "", "u33db", "u33db2z", "s", "POINT (1 2)", "point(1 2)", "POINT (1 2 3)", "POINT EMPTY", "POINT(1,2)", "LINESTRING (1 2, 3 4)", [1, 2], [1, 2, 3], [1], [], [1, 2, 3, 4], ["1", "2"], [[1, 2], [3, 4]], [[1, 2, 3]], [91, 181], [181, 91], {"lat": 1, "lon": 2}, {"lat": "1", "lon": "2"}, {"lat": 1},
          {"lon": 1}, {"lat": 91, "lon": 2}, {"lat": 1, "lon": 2, "z": 3}, {"lat": 1, "lon": 2, "x": 3}, {"geohash": "u33db"}, {"geohash": ""}, {"geohash": "a"}, {"type": "Point", "coordinates": [1, 2]}, {"lat": None, "lon": 2}, {"lat": "x", "lon": 2}, {}, 1, True, None, {"lat": [1], "lon": 2}, {"lat": 1e300, "lon": 0}, {"lat": "NaN", "lon": 0}, "NaN,0", {"lat": -0.0, "lon": -180.0}, ["POINT (1 2)", "3,4"],
          {"lat": 89.99999999, "lon": 179.99999999}, "0,180.0000001", "90.0000001,0", "1 ,2", "1e1,2E1", "+1,+2", "1;2"]


def number(draw):
    return draw.choice(ODD)


def value(draw, kind):
    if kind == "ip":
        return draw.choice(IPS)
    if kind == "geo_point":
        return draw.choice(POINTS)
    if kind == "ip_range":
        return draw.choice([draw.choice(IPS), {"gte": draw.choice(IPS), "lte": draw.choice(IPS)}, {"gt": draw.choice(IPS)}])
    if kind in RANGES:
        return draw.choice([{draw.choice(["gte", "gt"]): number(draw), draw.choice(["lte", "lt"]): number(draw)}, {draw.choice(["gte", "gt", "lte", "lt"]): number(draw)}, number(draw), {}, {"gte": 1, "x": 2}, {"from": 1, "to": 5}])
    return number(draw)


def parameters(draw, kind):
    o = draw.keys(ignore_malformed=(0.3, lambda: True), store=(0.2, lambda: True), doc_values=(0.1, lambda: False))
    if kind in NUMBERS:
        o.update(draw.keys(coerce=(0.2, lambda: False), null_value=(0.1, lambda: number(draw))))
    if kind in RANGES:
        o = draw.keys(coerce=(0.2, lambda: False), store=(0.1, lambda: True))
    if kind == "scaled_float":
        o["scaling_factor"] = draw.choice([1, 10, 100, 0.1, 1e10, 3.3])
    if kind == "geo_point":
        o.update(draw.keys(ignore_z_value=(0.3, lambda: draw.choice([True, False])), null_value=(0.1, lambda: draw.choice(POINTS))))
    if kind == "ip":
        o.update(draw.keys(null_value=(0.1, lambda: draw.choice(IPS))))
    return o


def made(draw, world):
    """A new field of some type, named for it; it may exist already."""
    kind = draw.choice(KINDS)
    return "PUT", f"/{world.indices[0]}/_mapping", {"properties": {f"e_{kind}_{draw.randint(0, 3)}": {"type": kind, **parameters(draw, kind)}}}


def field(draw, world):
    """(name, type): of the world, or perhaps one that was made."""
    if draw.chance(0.6):
        kind = draw.choice(KINDS)
        return f"x{KINDS.index(kind)}", kind
    kind = draw.choice(KINDS)
    return f"e_{kind}_{draw.randint(0, 3)}", kind


def known(draw, world):
    kind = draw.choice(KINDS)
    return f"x{KINDS.index(kind)}", kind


def written(draw, world):
    lines = []
    for _ in range(10):
        name, kind = known(draw, world)
        text = f'{{"{name}": {draw.choice(RAW)}}}' if kind in NUMBERS and draw.chance(0.2) else {name: value(draw, kind)}
        lines += [{"index": {"_id": f"e{draw.randint(0, 60)}"}}, text]
    return "POST", f"/{world.indices[0]}/_bulk?refresh", lines


def asked(draw, world):
    name, kind = known(draw, world)
    one = lambda: draw.choice(IPS) if kind in ("ip", "ip_range") else draw.choice(POINTS) if kind == "geo_point" else number(draw)
    query = draw.choice([lambda: {"term": {name: one()}}, lambda: {"terms": {name: [one() for _ in range(draw.randint(1, 3))]}}, lambda: {"range": {name: {draw.choice(["gte", "gt"]): one(), **draw.keys(**{draw.choice(["lte", "lt"]): (0.6, one)}), **draw.keys(relation=(0.1, lambda: draw.choice(["within", "contains", "intersects", "disjoint", "x"])))}}},
                         lambda: {"match": {name: one()}}, lambda: {"query_string": {"query": f"{name}:{one()}".replace(":", "\\:").replace("\\:", ":", 1), **draw.keys(lenient=(0.3, lambda: True))}}])()
    if draw.chance(0.5):
        return "POST", f"/{world.indices[0]}/_validate/query?explain=true", {"query": query}
    return "POST", f"/{world.indices[0]}/_search", {"query": query, "_source": False, "sort": "_id"}


def near(draw, world):
    name = f"x{KINDS.index('geo_point')}"
    p = lambda: draw.choice(POINTS)
    box = draw.choice([lambda: {"top_left": p(), "bottom_right": p()}, lambda: {"top_right": p(), "bottom_left": p()}, lambda: {"top": number(draw), "left": number(draw), "bottom": number(draw), "right": number(draw)}, lambda: {"wkt": draw.choice(["BBOX (-10, 10, 50, -50)", "BBOX (10, -10, 50, -50)", "POINT (1 2)", "BBOX(1,2,3)", "x"])}, lambda: {"top_left": "u33d", "bottom_right": "s"}])
    distance = draw.choice(["100km", "1", 5, "1nmi", "12 mi", "1e3m", "100 km", "0m", "-1km", "x", "1nauticalmiles", "10 yards", "3ft", "3feet", "1in", "5cm", "20mm", "1 kilometers", "km", "", "1.5KM", "100NM"])
    query = draw.choice([lambda: {"geo_distance": {"distance": distance, name: p(), **draw.keys(validation_method=(0.4, lambda: draw.choice(["STRICT", "IGNORE_MALFORMED", "COERCE", "x"])), distance_type=(0.2, lambda: draw.choice(["plane", "arc", "x"])), unit=(0.1, lambda: draw.choice(["km", "mi", "x"])))}},
                         lambda: {"geo_bounding_box": {name: box(), **draw.keys(validation_method=(0.4, lambda: draw.choice(["STRICT", "IGNORE_MALFORMED", "COERCE"])), type=(0.2, lambda: draw.choice(["indexed", "memory"])))}}, lambda: {"geo_polygon": {name: {"points": [p() for _ in range(draw.randint(0, 4))]}, **draw.keys(validation_method=(0.3, lambda: "COERCE"))}}])()
    if draw.chance(0.4):
        return "POST", f"/{world.indices[0]}/_validate/query?explain=true", {"query": query}
    sort = [{"_geo_distance": {name: p(), **draw.keys(unit=(0.5, lambda: draw.choice(["km", "mi", "m", "yd", "x", "nmi", "in"])), mode=(0.2, lambda: draw.choice(["min", "max", "avg", "median", "sum"])), validation_method=(0.3, lambda: "COERCE"))}}, "_id"]
    return "POST", f"/{world.indices[0]}/_search", {"query": query, "_source": False, "sort": sort if draw.chance(0.5) else "_id"}


def seen(draw, world):
    name, kind = known(draw, world)
    how = draw.choice([lambda: {"fields": [{"field": name, **draw.keys(format=(0.3, lambda: draw.choice(["wkt", "geojson", "0.00", "#,##0", "hex", "x"])))}]}, lambda: {"docvalue_fields": [{"field": name, **draw.keys(format=(0.4, lambda: draw.choice(["0.00", "#", "000", "#.###E0", "0%", "$0", "", "yyyy", "use_field_mapping", "#,##0.0;(#)", "'x'0", "#'#'", "0.0.0", "¤0", "0‰"])))}]}, lambda: {"stored_fields": [name]},
                       lambda: {"script_fields": {"s": {"script": f"doc['{name}'].size() == 0 ? null : doc['{name}']"}}}])()
    sort = draw.choice(["_id", "_id", [{name: {"order": draw.choice(["asc", "desc"]), **draw.keys(missing=(0.3, lambda: draw.choice(["_first", "_last", number(draw)])), mode=(0.3, lambda: draw.choice(["min", "max", "sum", "avg", "median"])), numeric_type=(0.15, lambda: draw.choice(["long", "double", "date", "date_nanos"])))}}, "_id"]])
    after = {} if sort == "_id" or draw.chance(0.7) else {"search_after": [draw.choice([number(draw), *IPS[:9]]), "e3"]}
    return "POST", f"/{world.indices[0]}/_search", {**how, "_source": False, "sort": sort, **after}


def gathered(draw, world):
    name, kind = known(draw, world)
    missing = draw.keys(missing=(0.2, lambda: draw.choice(IPS) if kind == "ip" else number(draw)))
    bounds = lambda: {k: number(draw) for k in draw.choice([["from"], ["to"], ["from", "to"]])}
    agg = draw.choice([lambda: {"terms": {"field": name, "size": 100, "order": {"_key": "asc"}, **missing, **draw.keys(format=(0.2, lambda: "0.0"), include=(0.15, lambda: [number(draw)]), exclude=(0.1, lambda: [number(draw)]))}}, lambda: {"range": {"field": name, "ranges": [bounds(), bounds()], **draw.keys(format=(0.2, lambda: "0.0"))}}, lambda: {draw.choice(["min", "max", "sum", "avg", "stats", "cardinality", "value_count", "extended_stats", "median_absolute_deviation"]): {"field": name, **missing}},
                       lambda: {"histogram": {"field": name, "interval": draw.choice([1, 0.5, 1e19, 1e300, 100, 0, -1, "5", "x", 1e-300]), "min_doc_count": 1, **draw.keys(offset=(0.2, lambda: number(draw)))}} if kind not in RANGES else {"missing": {"field": name}}, lambda: {"percentiles": {"field": name, "percents": draw.choice([[0, 50, 100], [-1], [101], [], ["5"], 50, [50, 50]])}},
                       lambda: {"ip_range": {"field": name, "ranges": [draw.choice([{"mask": draw.choice(IPS)}, {"from": draw.choice(IPS), "to": draw.choice(IPS)}])]}}, lambda: {"composite": {"sources": [{"s": {"terms": {"field": name, **draw.keys(missing_bucket=(0.3, lambda: True), order=(0.3, lambda: "desc"))}}}], **draw.keys(after=(0.3, lambda: {"s": number(draw)}))}}])()
    return "POST", f"/{world.indices[0]}/_search", {"size": 0, "aggs": {"a": agg}}


def request(draw, world):
    return draw.choice([written, written, asked, asked, asked, near, seen, seen, gathered, gathered, made])(draw, world)
