"""Sorting and paging."""
from areas.queries import query
from world import NUMBERS

SORTABLE = [("keyword",), NUMBERS, NUMBERS, ("date", "date_nanos"), ("boolean",), ("ip",), ("text",), ()]


def key(draw, world):
    kind = draw.random()
    if kind < 0.1:
        return draw.choice(["_score", "_doc", {"_score": "asc"}, {"_doc": "desc"}, {"_id": "asc"}])
    if kind < 0.2:
        return {"_geo_distance": {world.field("geo_point"): draw.choice(["31,121", [0, 0], {"lat": 10, "lon": 170}]), **draw.keys(order=(0.5, lambda: "desc"), unit=(0.5, lambda: "km"), mode=(0.3, lambda: draw.choice(["min", "max", "avg"])), distance_type=(0.2, lambda: "arc"), ignore_unmapped=(0.3, lambda: True))}}
    if kind < 0.27:
        f = world.field(*NUMBERS)
        return {"_script": {"type": "number", "script": {"source": f"doc['{f}'].size() == 0 ? -1 : doc['{f}'].value"}, "order": draw.choice(["asc", "desc"])}}
    if kind < 0.33:
        return {draw.choice(["ne.n", "ne.k"]): {"order": draw.choice(["asc", "desc"]), "unmapped_type": "long", **draw.keys(nested=(0.9, lambda: {"path": "ne", **draw.keys(filter=(0.4, lambda: {"range": {"ne.n": {"gte": 2}}}))}), mode=(0.4, lambda: draw.choice(["min", "max", "sum"])))}}
    f = world.field(*draw.choice(SORTABLE))
    if draw.chance(0.3):
        return draw.choice([f, {f: "desc"}, {f: "asc"}])
    return {f: draw.keys(order=(0.8, lambda: draw.choice(["asc", "desc"])), missing=(0.3, lambda: draw.choice(["_first", "_last", "_first", 3, "b", "2020-01-01", "8.8.8.8"])), mode=(0.25, lambda: draw.choice(["min", "max", "avg", "sum", "median"])), unmapped_type=(0.3, lambda: draw.choice(["long", "keyword", "date"])),
                         format=(0.05, lambda: "yyyy"), numeric_type=(0.07, lambda: draw.choice(["long", "double", "date", "date_nanos"])))}


def after(draw, world, sort):
    """Values for search_after, one a key."""
    values = []
    for k in sort:
        name = k if isinstance(k, str) else next(iter(k))
        values.append(1.5 if name in ("_score", "_geo_distance", "_script") else draw.choice([world.value(name), world.value(name), 3, "red", None]) if name in world.leaves() else draw.choice([1, "red"]))
    return values


def request(draw, world):
    sort = [key(draw, world) for _ in range(draw.choice([1, 1, 2, 3]))]
    body = {"sort": sort if len(sort) > 1 or draw.chance(0.7) else sort[0], **draw.keys(
        query=(0.4, lambda: query(draw, world, 1)), size=(0.4, lambda: draw.choice([1, 2, 5, 0, 30])), track_scores=(0.15, lambda: True), track_total_hits=(0.15, lambda: draw.choice([True, False, 2])), _source=(0.7, lambda: False), search_after=(0.2, lambda: after(draw, world, sort)), min_score=(0.04, lambda: 1),
        stored_fields=(0.04, lambda: ["_none_"]), terminate_after=(0.03, lambda: 50), **{"from": (0.2, lambda: draw.choice([0, 1, 3, 50, 9999, 10001]))})}
    return "POST", f"/{world.index()}/_search{draw.choice(['', '', '', '', '?rest_total_hits_as_int=true', '?typed_keys'])}", body
