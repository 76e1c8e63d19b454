"""Percolation: random queries that documents hold, over several segments and shards, and random documents that are tried on them."""
from world import FEW_MERGES, WORDS

KEYS = ["x", "y", "z", "上海"]
FIELDS = ["q", "q", "q", "o.p"]


def words(draw, most=3):
    return " ".join(draw.choice(WORDS[:10]) for _ in range(draw.randint(1, most)))


def leaf(draw, held):
    """A query of one field; one that a document holds has no field that is unmapped, but for the mistake of it."""
    kind = draw.randrange(16)
    boost = draw.keys(boost=(0.15, lambda: draw.choice([0, 0.5, 3])), _name=(0.05, lambda: "n"))
    field = draw.choice(["t", "t", "te"]) if draw.chance(0.97) else "un"
    if kind < 4:
        return {"match": {field: {"query": words(draw), **draw.keys(operator=(0.3, lambda: "and"), minimum_should_match=(0.15, lambda: draw.choice([1, 2, "-1", "50%"])), fuzziness=(0.05, lambda: 1)), **boost}}}
    if kind < 6:
        return {draw.choice(["match_phrase", "match_phrase", "match_phrase_prefix", "match_bool_prefix"]): {field: words(draw)}}
    if kind < 8:
        return {"term": {**draw.choice([{"k": {"value": draw.choice(KEYS), **boost}}, {"k": "x"}, {"b": {"value": "true", **boost}}])}} if draw.chance(0.6) else {"terms": {"k": draw.some(KEYS, 1, 3)}}
    if kind < 10:
        return {"range": {"n": {"gte": draw.randint(0, 4), **draw.keys(lt=(0.4, lambda: draw.randint(3, 8))), **boost}}} if draw.chance(0.6) else {"term": {"n": draw.randint(0, 5)}}
    if kind < 11:
        return {"range": {"d": draw.choice([{"gte": "2020-01-01"}, {"lt": "now"}, {"gte": "now-1d/d"}, {"gte": "2020-01-01", "lt": "2021-01-01||/y"}])}}
    if kind < 12:
        return {draw.choice(["prefix", "wildcard", "regexp"]): {draw.choice(["k", "t"]): draw.choice(["x", "r.*", "f*", "h"])}}
    if kind < 13:
        return draw.choice([{"match_all": boost}, {"match_all": {}}, {"match_none": {}}, {"exists": {"field": draw.choice(["t", "n", "k", "ne.k", "zz"])}}])
    if kind < 14:
        return {"nested": {"path": "ne", "query": draw.choice([{"term": {"ne.k": draw.choice(KEYS)}}, {"range": {"ne.n": {"gte": draw.randint(0, 3)}}}, {"bool": {"filter": [{"term": {"ne.k": "x"}}, {"term": {"ne.n": 1}}]}}]), **draw.keys(score_mode=(0.4, lambda: draw.choice(["none", "max", "sum"])))}}
    if kind < 15:
        return {"query_string": {"query": draw.choice(["red fox", "t:red AND k:x", "\"red fox\"", "te:hen OR k:y", "fo*"]), **draw.keys(fields=(0.5, lambda: draw.some(["t", "te", "k"], 1, 2)), default_operator=(0.3, lambda: "and"))}}
    return draw.choice([{"span_near": {"clauses": [{"span_term": {"t": "red"}}, {"span_term": {"t": "fox"}}], "slop": 1, "in_order": draw.chance(0.5)}}, {"ids": {"values": ["1"]}}, {"geo_distance": {"distance": "1000km", "at": "1,1"}}, {"terms_set": {"k": {"terms": ["x", "y"], "minimum_should_match_field": "n"}}}])


def query(draw, depth, held=True):
    kind = draw.random()
    again = lambda: query(draw, depth - 1, held)
    if depth <= 0 or kind < 0.4:
        return leaf(draw, held)
    if kind < 0.85:
        return {"bool": {**{c: [again() for _ in range(draw.randint(1, 2))] for c in draw.some(["must", "should", "filter", "must_not"], 1, 3)}, **draw.keys(minimum_should_match=(0.15, lambda: draw.choice([0, 1, 2])))}}
    if kind > 0.99:
        return {"has_child": {"type": "a", "query": {"match_all": {}}}}
    return draw.choice([lambda: {"constant_score": {"filter": again()}}, lambda: {"dis_max": {"queries": [again(), again()], "tie_breaker": 0.3}}, lambda: {"boosting": {"positive": again(), "negative": again(), "negative_boost": 0.5}}, lambda: {"function_score": {"query": again(), "weight": 3}}])()


def document(draw):
    return draw.keys(t=(0.8, lambda: words(draw, 6)), te=(0.4, lambda: words(draw, 4)), k=(0.7, lambda: draw.choice(KEYS + [["x", "y"], ["x", "x"]])), n=(0.7, lambda: draw.choice([draw.randint(0, 6), [1, 5]])), d=(0.4, lambda: draw.choice(["2020-05-05", "2019-01-01", "2035-01-01"])), b=(0.2, lambda: True), at=(0.2, lambda: "1,2"),
                     ne=(0.25, lambda: [{"k": draw.choice(KEYS), "n": draw.randint(0, 3)} for _ in range(draw.randint(1, 3))]), new=(0.1, lambda: "red"), un=(0.05, lambda: "red"))


def percolate(draw, s, name=None):
    body = {"field": draw.choice(FIELDS) if draw.chance(0.98) else draw.choice(["k", "zz", "o"])}
    kind = draw.random()
    if kind < 0.5:
        body["document"] = document(draw)
    elif kind < 0.85:
        body["documents"] = [document(draw) for _ in range(draw.randint(1, 4))]
    else:
        body.update(index=s["name"], id=draw.choice(["d1", "d2", "d3", "none"]), **draw.keys(version=(0.1, lambda: 1)))
    if name is not None:
        body["name"] = name
    return {"percolate": {**body, **draw.keys(boost=(0.1, lambda: 2), _name=(0.1, lambda: "p"))}}


def around(draw, s):
    kind = draw.random()
    p = lambda n=None: percolate(draw, s, n)
    if kind < 0.5:
        return p()
    if kind < 0.6:
        return {"bool": {"filter": [p()], **draw.keys(must=(0.4, lambda: {"exists": {"field": "k"}}))}}
    if kind < 0.75:
        return {"bool": {draw.choice(["must", "filter"]): [p("one")], "should": [p("two")]}}
    if kind < 0.8:
        return {"bool": {"must": p(), "must_not": p("no")}}
    return draw.choice([lambda: {"constant_score": {"filter": p(), "boost": 2}}, lambda: {"function_score": {"query": p(), "weight": 2}}, lambda: {"dis_max": {"queries": [p("a"), p("b")]}}, lambda: {"boosting": {"positive": p(), "negative": {"match_none": {}}, "negative_boost": 0.5}}])()


def begin(draw, world):
    name = world.prefix + "perc"
    s = {"name": name, "serial": 0, "shards": draw.choice([1, 1, 2, 3])}
    settings = {"number_of_shards": s["shards"], "number_of_replicas": 0, "refresh_interval": "-1", **FEW_MERGES, **draw.keys(**{"percolator.map_unmapped_fields_as_text": (0.2, lambda: True)})}
    fields = {"q": {"type": "percolator"}, "o": {"properties": {"p": {"type": "percolator"}}}, "t": {"type": "text"}, "te": {"type": "text", "analyzer": "english", **draw.keys(norms=(0.3, lambda: False), similarity=(0.3, lambda: "boolean"))}, "k": {"type": "keyword"}, "n": {"type": "integer"}, "d": {"type": "date"}, "b": {"type": "boolean"}, "at": {"type": "geo_point"},
              "ne": {"type": "nested", "properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}}}}
    first = [("PUT", f"/{name}", {"settings": settings, "mappings": {"dynamic": False, "properties": fields}})]
    first += [("PUT", f"/{name}/_doc/d{i}?refresh", document(draw)) for i in (1, 2, 3)]
    return s, first + [bulk(draw, s, 25) for _ in range(2)]


def bulk(draw, s, most):
    lines = []
    for _ in range(draw.randint(1, most)):
        s["serial"] += 1
        held = query(draw, 3)
        lines += [{"index": {"_id": str(s["serial"]) if draw.chance(0.9) else "1"}}, {**draw.choice([{"q": held}, {"q": held}, {"o": {"p": held}}, {"q": [held]}]), "k": draw.choice(KEYS)}]
    return "POST", f"/{s['name']}/_bulk?refresh", lines


def request(draw, world):
    if "percolation" not in world.__dict__:
        world.percolation, world.todo_percolation = begin(draw, world)
    if world.todo_percolation:
        return world.todo_percolation.pop(0)
    s = world.percolation
    kind = draw.random()
    if kind < 0.12:
        return bulk(draw, s, 8)
    if kind < 0.17:
        s["serial"] += 1
        return "PUT", f"/{s['name']}/_doc/{s['serial']}?refresh", {"q": draw.spoilt(query(draw, 2))}
    body = {"query": around(draw, s), "size": 30, "_source": False, **draw.keys(highlight=(0.3, lambda: {"fields": {"t": {}, **draw.keys(te=(0.5, lambda: {"type": "plain"}), k=(0.3, lambda: {}))}}), sort=(0.15, lambda: [{"k": "asc"}, "_doc"]), min_score=(0.05, lambda: 0.3), aggs=(0.1, lambda: {"k": {"terms": {"field": "k"}}, "f": {"filter": percolate(draw, s)}}))}
    if kind < 0.25:
        return "GET", f"/{s['name']}/_count", {"query": body["query"]}
    if kind < 0.32:
        return "GET", f"/{s['name']}/_search", draw.spoilt(body)
    return "GET", f"/{s['name']}/_search", body
