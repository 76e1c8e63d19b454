"""Fields of type rank_feature and rank_features: values of all kinds, over several segments and shards, and queries whose score is a function of them."""
from world import FEW_MERGES, WORDS

FIELDS = {"a": {"type": "rank_feature"}, "n": {"type": "rank_feature", "positive_score_impact": False}, "m": {"type": "rank_features"}, "o": {"properties": {"a": {"type": "rank_feature"}, "m": {"type": "rank_features"}}},
          "ne": {"type": "nested", "properties": {"a": {"type": "rank_feature"}, "m": {"type": "rank_features"}}}, "al": {"type": "alias", "path": "a"}, "t": {"type": "text"}, "k": {"type": "keyword", "fields": {"r": {"type": "rank_feature"}}}}
NAMES = ["x", "y", "x.y", "", "上海", "Z"]
BAD = [0, -1, "x", "", True, {}, {"x": 1}, [1, 2], 1e39, 1e-39, "NaN", "-Infinity", [[1]], None, [None, 3], "1e3", " 5 "]


def value(draw):
    return draw.choice([draw.randint(1, 20), round(draw.uniform(0.001, 100), 3), 10.0 ** draw.randint(-30, 30), str(draw.randint(1, 9)), 1.5, 2.7182818, 65535, 3.4e38]) if draw.chance(0.97) else draw.choice(BAD)


def values(draw):
    return {k: value(draw) for k in draw.some(NAMES, 0, 4)} if draw.chance(0.97) else draw.choice([None, 5, "x", [], [{"x": 1}, {"y": 2}], [{"x": 1}, {"x": 2}], {"x": {"y": 1}}, {"x": [1]}, {"x": None}])


def document(draw):
    part = lambda: draw.keys(a=(0.7, lambda: value(draw)), m=(0.7, lambda: values(draw)))
    return draw.keys(a=(0.7, lambda: value(draw)), n=(0.7, lambda: value(draw)), m=(0.8, lambda: values(draw)), o=(0.2, part), ne=(0.2, lambda: [part() for _ in range(draw.randint(1, 3))]), t=(0.6, lambda: " ".join(draw.choice(WORDS[:10]) for _ in range(3))), k=(0.2, lambda: str(draw.randint(1, 50))))


def feature(draw):
    return draw.choice(["a", "a", "n", "n", "al", "k.r", "o.a"] + [f"m.{k}" for k in NAMES] + ["o.m.x", "m", "k", "nope", "m.q", "ne.a", "_feature"][:7 if draw.chance(0.3) else 1])


def number(draw):
    return draw.choice([1, 2, 8, 0.5, 100, 1e10, 1e-10, "3", 1.5]) if draw.chance(0.95) else draw.choice([0, -1, "x", None, 1e39])


def rank(draw):
    kinds = {"saturation": lambda: draw.keys(pivot=(0.6, lambda: number(draw))), "log": lambda: {"scaling_factor": draw.choice([1, 2, 10, 1.5]) if draw.chance(0.95) else number(draw)}, "sigmoid": lambda: {"pivot": number(draw), "exponent": number(draw)}, "linear": dict}
    chosen = draw.choice([[], ["saturation"], ["log"], ["sigmoid"], ["linear"]]) if draw.chance(0.98) else draw.some(sorted(kinds), 2, 3)
    return {"rank_feature": {"field": feature(draw), **{k: kinds[k]() for k in chosen}, **draw.keys(boost=(0.3, lambda: draw.choice([0, 2, 0.5, 100, 1.5]) if draw.chance(0.95) else -1), _name=(0.1, lambda: "n"))}}


def other(draw):
    f = feature(draw)
    return draw.choice([{"match": {"t": draw.choice(WORDS[:10])}}, {"match_all": {}}, {"exists": {"field": f}}, {"term": {f: 3}}, {"range": {f: {"gte": 1}}}, {"match": {f: "3"}}, {"prefix": {f: "3"}}, {"query_string": {"query": draw.choice([f"{f}:3", f"{f}:*", "fox"])}}, {"terms": {f: [1, 2]}}, {"exists": {"field": draw.choice(["o", "a*", "ne"])}}])


def query(draw, depth):
    kind = draw.random()
    again = lambda: query(draw, depth - 1)
    if depth <= 0 or kind < 0.45:
        return rank(draw) if draw.chance(0.8) else other(draw)
    if kind < 0.8:
        return {"bool": {c: [again() for _ in range(draw.randint(1, 2))] for c in draw.some(["must", "should", "filter", "must_not"], 1, 2)}}
    if kind < 0.88:
        return {"nested": {"path": "ne", "query": {"rank_feature": {"field": draw.choice(["ne.a", "ne.m.x"]), **draw.choice([{}, {"linear": {}}])}}, "score_mode": draw.choice(["max", "sum", "avg"])}}
    return draw.choice([{"constant_score": {"filter": again()}}, {"dis_max": {"queries": [again(), again()], "tie_breaker": 0.3}}, {"boosting": {"positive": again(), "negative": again(), "negative_boost": 0.5}}, {"function_score": {"query": again(), "weight": 3}}, {"script_score": {"query": again(), "script": "_score + 1"}}])


def search(draw, name):
    f = draw.choice(["a", "n", "m", "t", "k.r", "m.x"])
    body = {"query": query(draw, 2), **draw.keys(size=(0.3, lambda: draw.choice([0, 1, 3])), explain=(0.2, lambda: True), fields=(0.2, lambda: [draw.choice(["*", f])]), rescore=(0.1, lambda: {"window_size": 10, "query": {"rescore_query": rank(draw)}}), min_score=(0.05, lambda: 0.5), track_total_hits=(0.1, lambda: draw.choice([True, False, 3])),
                                                 sort=(0.05, lambda: [f]), aggs=(0.05, lambda: {"g": {draw.choice(["terms", "max", "missing", "value_count"]): {"field": f}}}), docvalue_fields=(0.03, lambda: [f]), stored_fields=(0.03, lambda: [f]), collapse=(0.02, lambda: {"field": f}), highlight=(0.05, lambda: {"fields": {"*": {}}}))}
    return "POST", f"/{name}/_search{draw.choice(['', '', '?search_type=dfs_query_then_fetch'])}", body


def request(draw, world):
    name = world.prefix + "f"
    docs = getattr(world, "features", None)
    if docs is None:
        world.features = 0
        return "PUT", "/" + name, {"settings": {"number_of_shards": draw.choice([1, 1, 2, 3]), "number_of_replicas": 0, "refresh_interval": "-1", **FEW_MERGES}, "mappings": {"properties": FIELDS}}
    kind = draw.random()
    if kind < 0.2 or docs < 10:
        lines = []
        for _ in range(draw.randint(1, 8)):
            world.features += 1
            lines += [{"index": {"_id": str(world.features)}}, document(draw)]
        if draw.chance(0.2):
            lines.append({"delete": {"_id": str(draw.randint(1, world.features))}})
        return "POST", f"/{name}/_bulk?refresh", lines
    if kind < 0.85:
        return search(draw, name)
    if kind < 0.93:
        return "POST", f"/{name}/_explain/{draw.randint(1, docs)}", {"query": query(draw, 1)}
    if kind < 0.97:
        return "POST", f"/{name}/_validate/query?{draw.choice(['explain=true', 'rewrite=true'])}", {"query": query(draw, 1)}
    return draw.choice([("GET", f"/{name}/_field_caps?fields={draw.choice(['*', 'm*', '_feature'])}", None), ("GET", f"/{name}/_mapping/field/{draw.choice(['a', 'm', '*'])}?include_defaults=true", None), ("POST", f"/{name}/_count", {"query": query(draw, 1)})])
