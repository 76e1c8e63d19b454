"""Pages of all kinds: scrolls, points in time, several searches at once, collapse, rescore, fields of hits."""
from areas.queries import query
from areas.sort import key
from world import NUMBERS

KINDS = ["keyword"]


def collapse(draw, world):
    inner = lambda: {"name": "i", **draw.keys(size=(0.5, lambda: 2), sort=(0.5, lambda: [{world.field(*NUMBERS): {"order": "asc", "unmapped_type": "long"}}]), _source=(0.8, lambda: False), **{"from": (0.1, lambda: 1)})}
    return {"collapse": {"field": world.field(*draw.choice([("keyword",), ("keyword",), NUMBERS, ()])), **draw.keys(inner_hits=(0.4, inner), max_concurrent_group_searches=(0.1, lambda: 2))}}


def rescore(draw, world):
    one = lambda: {"window_size": draw.choice([1, 3, 50]), "query": {"rescore_query": query(draw, world, 0), **draw.keys(query_weight=(0.4, lambda: 0.5), rescore_query_weight=(0.4, lambda: 2), score_mode=(0.5, lambda: draw.choice(["total", "multiply", "avg", "max", "min"])))}}
    return {"rescore": [one(), one()] if draw.chance(0.2) else one()}


def fields(draw, world):
    names = lambda: [draw.choice([world.field(), world.field(), "t*", "*", "_id", "o.*"]) for _ in range(draw.randint(1, 3))]
    dated = lambda: [{"field": world.field("date"), "format": draw.choice(["yyyy", "epoch_millis"])}]
    return draw.keys(docvalue_fields=(0.4, lambda: draw.choice([names(), dated()])), stored_fields=(0.15, lambda: draw.choice([names(), "_none_", ["_source"]])), fields=(0.4, lambda: draw.choice([names(), dated()])), script_fields=(0.15, lambda: {"sf": {"script": f"doc['{world.field(*NUMBERS)}']"}}),
                     _source=(0.3, lambda: draw.choice([False, "k*", ["o.k", "n*"], {"includes": ["t1", "ne"], "excludes": ["ne.k"]}, {"excludes": "*1"}, True])), version=(0.1, lambda: True), explain=(0.03, lambda: True), indices_boost=(0.05, lambda: [{world.indices[0]: 2}]))


def request(draw, world):
    kind = draw.random()
    body = {**draw.keys(query=(0.7, lambda: query(draw, world, 1)), size=(0.4, lambda: draw.choice([1, 2, 5])), **{"from": (0.2, lambda: draw.choice([0, 1, 3]))})}
    if kind < 0.3:
        return "POST", f"/{world.index()}/_search", {**body, **collapse(draw, world), **draw.keys(sort=(0.5, lambda: [key(draw, world)]), _source=(0.8, lambda: False))}
    if kind < 0.5:
        return "POST", f"/{world.index()}/_search", {**body, **rescore(draw, world), "_source": False}
    if kind < 0.75:
        return "POST", f"/{world.index()}/_search", {**body, **fields(draw, world)}
    if kind < 0.85:
        body.pop("from", None)
        return "POST", f"/{world.index()}/_search?scroll=1m{draw.choice(['', '&search_type=dfs_query_then_fetch'])}", {**body, **draw.keys(sort=(0.5, lambda: [key(draw, world)]), slice=(0.2, lambda: {"id": draw.randint(0, 1), "max": 2}))}
    if kind < 0.9:
        return "POST", f"/{world.index()}/_search/template", {"source": {"query": {"match": {world.field(): "{{q}}"}}}, "params": {"q": world.text(1)}}
    lines = []
    for _ in range(draw.randint(1, 3)):
        lines += [draw.choice([{}, {"index": world.indices[0]}, {"index": "nope"}, {"index": world.indices[0], "preference": "_local"}, {"search_type": "dfs_query_then_fetch"}, {"foo": 1} if draw.chance(0.2) else {}]), {"query": query(draw, world, 1), "size": 2}]
    return "POST", f"/{world.indices[0]}/_msearch", lines
