"""Joins: random relations of two or three levels, documents that come, change and go over several segments and shards, and all that asks for parents and children."""
from world import FEW_MERGES, WORDS

RELATIONS = [{"q": "a"}, {"q": ["a", "c"]}, {"q": ["a", "c"], "a": "v"}, {"q": "a", "a": ["v", "w"], "v": "x"}, {"q": "a", "r": ["b", "c"], "b": ["v"]}, {"q": ["a", "b", "c"]}]
KEYS = ["x", "y", "z", "上海"]
MODES = ["none", "min", "max", "sum", "avg"]


def pairs(relations):
    """(parent, child) of all."""
    return [(p, c) for p, cs in relations.items() for c in ([cs] if isinstance(cs, str) else cs)]


class Forest:
    """The documents of one index."""

    def __init__(self, draw, name):
        self.draw, self.name, self.relations, self.docs, self.serial = draw, name, draw.choice(RELATIONS), {}, 0
        self.pairs = pairs(self.relations)
        self.children = [c for _, c in self.pairs]
        self.parents = sorted({p for p, _ in self.pairs})
        self.shards = draw.choice([1, 1, 2, 3])

    def create(self):
        fields = {"j": {"type": "join", "relations": self.relations, **self.draw.keys(eager_global_ordinals=(0.2, lambda: False))}, "t": {"type": "text"}, "k": {"type": "keyword"}, "n": {"type": "integer"}, "f": {"type": "double"},
                  "ne": {"type": "nested", "properties": {"k": {"type": "keyword"}, "n": {"type": "integer"}}}}
        return "PUT", f"/{self.name}", {"settings": {"number_of_shards": self.shards, "number_of_replicas": 0, "refresh_interval": "-1", **FEW_MERGES}, "mappings": {"properties": fields}}

    def values(self, nests=True):
        """Objects are nested in what is nobody's parent alone: Elasticsearch finds those of a parent among its inner hits, and fails to show them."""
        draw = self.draw
        return draw.keys(t=(0.8, lambda: " ".join(draw.choice(WORDS[:12]) for _ in range(draw.randint(1, 4)))), k=(0.8, lambda: draw.choice(KEYS)), n=(0.85, lambda: draw.randint(0, 6)), f=(0.5, lambda: draw.choice([0.5, 1.25, 3.1, 7])),
                         ne=(0.25 if nests else 0, lambda: [{"k": draw.choice(KEYS), "n": draw.randint(0, 3)} for _ in range(draw.randint(1, 2))]))

    def document(self):
        """(id, routing, body) of a new one."""
        draw = self.draw
        self.serial += 1
        new = str(self.serial)
        if draw.chance(0.05):
            self.docs[new] = (new, None)
            return new, None, self.values()
        possible = [(p, c, i) for p, c in self.pairs for i, (_, name) in self.docs.items() if name == p]
        if not possible or draw.chance(0.3):
            name = draw.choice([p for p in self.parents if p not in self.children])
            self.docs[new] = (new, name)
            return new, draw.choice([None, new]), {**self.values(False), "j": draw.choice([name, {"name": name}])}
        _, child, up = draw.choice(possible)
        root = self.docs[up][0]
        self.docs[new] = (root, child)
        return new, root, {**self.values(child not in self.parents), "j": {"name": child, "parent": up if draw.chance(0.93) else "nobody"}}

    def bulk(self, most):
        draw, lines = self.draw, []
        for _ in range(draw.randint(1, most)):
            kind = draw.random()
            if kind < 0.7 or not self.docs:
                new, routing, body = self.document()
                lines += [{"index": {"_id": new, **({"routing": routing} if routing else {})}}, body]
                continue
            old = draw.choice(sorted(self.docs, key=int))
            at = {"_id": old, "routing": self.docs[old][0]}
            if kind < 0.85:
                lines += [{"update": at}, {"doc": self.values(False)}]
            else:
                lines.append({"delete": at})
                del self.docs[old]
        return "POST", f"/{self.name}/_bulk?refresh", lines

    def type(self, names):
        return self.draw.choice(names) if self.draw.chance(0.95) else self.draw.choice(["q", "a", "zz", "v"])

    def any_id(self):
        return self.draw.choice(sorted(self.docs, key=int)) if self.docs and self.draw.chance(0.92) else "none"


def leaf(draw, f):
    kind = draw.randrange(10)
    if kind < 3:
        return {"match": {"t": draw.choice([draw.choice(WORDS[:12]), " ".join(draw.choice(WORDS[:12]) for _ in range(3))])}}
    if kind < 5:
        return {"range": {"n": {"gte": draw.randint(0, 4), **draw.keys(lte=(0.4, lambda: draw.randint(3, 6)), boost=(0.2, lambda: 2))}}}
    if kind < 6:
        return {"match_all": draw.keys(boost=(0.3, lambda: draw.choice([0, 0.5, 3])))}
    if kind < 7:
        return {"term": {draw.choice(["k", "k", "j"]): draw.choice(KEYS + f.children)}}
    if kind < 8:
        return {"function_score": {"query": {"exists": {"field": "n"}}, "field_value_factor": {"field": "n"}, "boost_mode": draw.choice(["replace", "sum"])}}
    if kind < 9:
        return {"nested": {"path": "ne", "query": {"term": {"ne.k": draw.choice(KEYS)}}, **draw.keys(inner_hits=(0.1, lambda: {"name": f"n{draw.randrange(10**6)}"}))}}
    return draw.choice([{"terms": {f"j#{draw.choice(f.parents)}": [f.any_id(), f.any_id()]}}, {"exists": {"field": f"j#{draw.choice(f.parents)}"}}, {"match_none": {}}, {"term": {f"j#{draw.choice(f.parents)}": f.any_id()}}])


def inner(draw, f):
    return draw.keys(size=(0.5, lambda: draw.choice([0, 1, 2, 5, 100])), **{"from": (0.2, lambda: draw.choice([0, 1, 3]))}, name=(0.75, lambda: f"i{draw.randrange(10**6)}"), sort=(0.4, lambda: draw.choice(["n", [{"n": "desc"}], [{"k": {"order": "asc"}}, "_score"], ["_doc"], [{"f": {"order": "desc", "missing": "_first"}}], "_score"])),
                     _source=(0.3, lambda: draw.choice([False, ["t"], {"excludes": ["j"]}, "n"])), fields=(0.15, lambda: [draw.choice(["j", "k", "n", "t"])]), docvalue_fields=(0.2, lambda: ["j", f"j#{draw.choice(f.parents)}"]), highlight=(0.2, lambda: {"fields": {"t": {}}}),
                     explain=(0.05, lambda: True), version=(0.1, lambda: True), seq_no_primary_term=(0.1, lambda: True), track_scores=(0.1, lambda: True), ignore_unmapped=(0.05, lambda: True), script_fields=(0.03, lambda: {"s": {"script": "1"}}), stored_fields=(0.04, lambda: draw.choice(["_none_", ["j"]])))


def query(draw, f, depth):
    kind = draw.random()
    again = lambda: query(draw, f, depth - 1)
    common = draw.keys(boost=(0.15, lambda: draw.choice([0, 2, 0.5])), _name=(0.2, lambda: draw.choice(["n1", "n2", "n3"])), ignore_unmapped=(0.1, lambda: draw.chance(0.7)), inner_hits=(0.3, lambda: inner(draw, f)))
    if depth <= 0 or kind < 0.12:
        return leaf(draw, f)
    if kind < 0.47:
        return {"has_child": {"type": f.type(f.children), "query": again(), **common, **draw.keys(score_mode=(0.65, lambda: draw.choice(MODES)), min_children=(0.2, lambda: draw.randint(0, 3)), max_children=(0.15, lambda: draw.choice([1, 2, 3, 10])))}}
    if kind < 0.72:
        return {"has_parent": {"parent_type": f.type(f.parents), "query": again(), **common, **draw.keys(score=(0.5, lambda: draw.chance(0.8)))}}
    common.pop("inner_hits", None)
    if kind < 0.8:
        return {"parent_id": {"type": f.type(f.children), "id": f.any_id(), **common}}
    if kind < 0.96:
        clauses = {c: [again() for _ in range(draw.randint(1, 2))] for c in draw.some(["must", "should", "filter", "must_not"], 1, 2)}
        return {"bool": clauses}
    return draw.choice([{"constant_score": {"filter": again()}}, {"dis_max": {"queries": [again(), again()]}}, {"boosting": {"positive": again(), "negative": again(), "negative_boost": 0.5}}, {"function_score": {"query": again(), "weight": 3}}])


def agg(draw, f, depth):
    kind = draw.random()
    subs = {"aggs": {f"s{i}": agg(draw, f, depth - 1) for i in range(draw.randint(1, 2))}} if depth > 0 and draw.chance(0.8) else {}
    if kind < 0.35:
        return {"children": {"type": f.type(f.children)}, **subs}
    if kind < 0.6:
        return {"parent": {"type": f.type(f.children)}, **subs}
    if kind < 0.75:
        field = draw.choice(["k", "j", f"j#{draw.choice(f.parents)}", "n"])
        order = {}
        if subs and draw.chance(0.3):
            name, one = sorted(subs["aggs"].items())[0]
            if "children" in one or "parent" in one:
                order = {"order": draw.choice([{name: "desc"}, {f"{name}._count": "asc"}])}
        return {"terms": {"field": field, **order, **draw.keys(size=(0.3, lambda: 2), collect_mode=(0.2, lambda: draw.choice(["breadth_first", "depth_first"])))}, **subs}
    if kind < 0.82:
        return {"filter": query(draw, f, 1), **subs}
    if kind < 0.86:
        return {"nested": {"path": "ne"}, "aggs": {"k": {"terms": {"field": "ne.k"}}}}
    if kind < 0.9:
        return {"top_hits": {"size": draw.randint(1, 3), "sort": [{"n": "asc"}], "_source": ["n"]}}
    return {draw.choice(["avg", "sum", "max", "stats", "value_count", "cardinality"]): {"field": draw.choice(["n", "f"])}}


def search(draw, f):
    body = {"query": query(draw, f, draw.randint(1, 3))} if draw.chance(0.85) else {}
    if draw.chance(0.3):
        body["aggs"] = {f"g{i}": agg(draw, f, 2) for i in range(draw.randint(1, 2))}
    body.update(draw.keys(size=(0.3, lambda: draw.choice([0, 1, 3, 50])), sort=(0.2, lambda: draw.choice([["n", "_doc"], [{"j": "asc"}, {"n": "desc"}, "_doc"], [{f"j#{draw.choice(f.parents)}": "desc"}, "_doc"]])), explain=(0.12, lambda: True), post_filter=(0.08, lambda: query(draw, f, 1)),
                          highlight=(0.1, lambda: {"fields": {"t": {}}}), track_scores=(0.1, lambda: True), min_score=(0.05, lambda: 0.5), rescore=(0.04, lambda: {"window_size": 10, "query": {"rescore_query": query(draw, f, 1)}}), docvalue_fields=(0.1, lambda: ["j"]), collapse=(0.05, lambda: {"field": "n"})))
    params = draw.choice(["", "", "", "", "?search_type=dfs_query_then_fetch", f"?routing={f.any_id()}", "?rest_total_hits_as_int=true", "?typed_keys=true", "?pre_filter_shard_size=1"])
    return "POST", f"/{f.name}/_search{params}", body


def request(draw, world):
    f = getattr(world, "forest", None)
    if f is None:
        f = world.forest = Forest(draw, world.prefix + "j")
        return f.create()
    kind = draw.random()
    if kind < 0.25 or f.serial < 20:
        return f.bulk(10)
    if kind < 0.83:
        return search(draw, f)
    asks = {"query": query(draw, f, 2)}
    if kind < 0.88:
        one = f.any_id()
        return "POST", f"/{f.name}/_explain/{one}?routing={f.docs[one][0] if one in f.docs else one}", asks
    if kind < 0.92:
        return "POST", f"/{f.name}/_validate/query?explain=true{draw.choice(['', '&rewrite=true', '&all_shards=true'])}", asks
    if kind < 0.95:
        return "POST", f"/{f.name}/_count", asks
    if kind < 0.96:
        return "GET", f"/{f.name}/_search_shards?routing={f.any_id()}&filter_path=shards.shard", None
    if kind < 0.98:
        return "POST", f"/{f.name}/_update_by_query?refresh&conflicts=proceed", asks
    return "GET", f"/{f.name}/_field_caps?fields={draw.choice(['*', 'j*', 'j', 'j%23q'])}", None
