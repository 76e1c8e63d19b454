"""Searches with every query, nested in each other."""
from world import IPS, NUMBERS, POINTS, RANGES, TERMS, WHOLE

TEXTS = ("text",)


def term_value(draw, world, field):
    v = world.value(field)
    while isinstance(v, (list, dict)) or v is None:
        v = v[0] if isinstance(v, list) and v else draw.choice([1, "red", "2020-01-01", 5])
    return v


def boost(draw):
    return draw.keys(boost=(0.12, lambda: draw.choice([0, 0.5, 2, 3])), _name=(0.06, lambda: "named"))


def match_options(draw):
    return draw.keys(operator=(0.3, lambda: draw.choice(["and", "or", "AND"])), minimum_should_match=(0.2, lambda: draw.choice([1, 2, "50%", "-1", "2<75%", "-25%", 10])), fuzziness=(0.2, lambda: draw.choice(["AUTO", 1, 2, 0])),
                     analyzer=(0.12, lambda: draw.choice(["standard", "whitespace", "keyword", "my_syn"])), zero_terms_query=(0.1, lambda: draw.choice(["all", "none"])), lenient=(0.1, lambda: True),
                     auto_generate_synonyms_phrase_query=(0.1, lambda: False), prefix_length=(0.05, lambda: 1), max_expansions=(0.05, lambda: 2), fuzzy_transpositions=(0.05, lambda: False))


def q_match(draw, world, depth):
    f = world.field(*draw.choice([TEXTS, TEXTS, ("keyword",), ()]))
    text = world.text(4) if draw.chance(0.8) else term_value(draw, world, f)
    return {"match": {f: text if draw.chance(0.35) else {"query": text, **match_options(draw), **boost(draw)}}}


def q_phrase(draw, world, depth):
    f, kind = world.field(*draw.choice([TEXTS, TEXTS, TEXTS, ("keyword",), ()])), draw.choice(["match_phrase", "match_phrase", "match_phrase_prefix", "match_bool_prefix"])
    if kind == "match_bool_prefix":
        options = draw.keys(operator=(0.3, lambda: "and"), fuzziness=(0.2, lambda: 1))
    else:
        options = draw.keys(slop=(0.3, lambda: draw.randint(0, 5)), analyzer=(0.1, lambda: draw.choice(["standard", "whitespace", "my_syn"])))
    if kind == "match_phrase_prefix":
        options.update(draw.keys(max_expansions=(0.2, lambda: draw.choice([1, 2, 50]))))
    return {kind: {f: world.text(3) if draw.chance(0.4) else {"query": world.text(3), **options, **boost(draw)}}}


def weighted(draw, world):
    return world.field(*draw.choice([TEXTS, TEXTS, ("keyword",), ()])) + draw.choice(["", "", "^2", "^0.5"])


def q_multi(draw, world, depth):
    kind, o = draw.choice(["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"]), match_options(draw)
    for gone in {"cross_fields": ["fuzziness"], "phrase": ["fuzziness", "operator"], "phrase_prefix": ["fuzziness", "operator"]}.get(kind, []):
        if draw.chance(0.9):
            o.pop(gone, None)
    fields = lambda: [weighted(draw, world) for _ in range(draw.randint(1, 3))] if draw.chance(0.85) else [draw.choice(["t*", "k*", "*1", "*"])]
    return {"multi_match": {"query": world.text(3), **draw.keys(fields=(0.95, fields), type=(0.8, lambda: kind), tie_breaker=(0.3, lambda: draw.choice([0, 0.3, 1]))), **o, **boost(draw)}}


def q_term(draw, world, depth):
    f = world.field()
    v = term_value(draw, world, f)
    return {"term": {f: v if draw.chance(0.5) else {"value": v, **draw.keys(case_insensitive=(0.15, lambda: True)), **boost(draw)}}}


def q_terms(draw, world, depth):
    f = world.field()
    return {"terms": {f: [term_value(draw, world, f) for _ in range(draw.randint(0, 4))], **boost(draw)}}


def q_range(draw, world, depth):
    f = world.field(*draw.choice([NUMBERS, ("date", "date_nanos"), ("keyword",), RANGES, ("ip",), (), TEXTS]))
    kind = world.leaves().get(f, {"type": "keyword"})["type"]
    if kind in ("date", "date_nanos", "date_range"):
        v = lambda: draw.choice(["2020-01-01", "2020-01-01||/M", "2020-02-29||+1d", "2019", "1970", "2021-12-31||-1y/d", 0, "1577836800000"])
    elif kind in RANGES:
        v = lambda: draw.choice(IPS) if kind == "ip_range" else draw.randint(-5, 30)
    else:
        v = lambda: term_value(draw, world, f)
    body = {draw.choice(["gte", "gt"]): v(), draw.choice(["lte", "lt"]): v()}
    if draw.chance(0.3):
        body.pop(draw.choice(list(body)))
    relation = (0.2 if kind in RANGES else 0.03, lambda: draw.choice(["within", "contains", "intersects"]))
    return {"range": {f: {**body, **boost(draw), **draw.keys(relation=relation, format=(0.04, lambda: "yyyy"), time_zone=(0.06, lambda: draw.choice(["+08:00", "Europe/Berlin"])))}}}


def q_pattern(draw, world, depth):
    f, kind = world.field(*draw.choice([("keyword",), TEXTS, ()])), draw.choice(["prefix", "wildcard", "regexp", "fuzzy"])
    v = draw.choice({"prefix": ["r", "re", "", "上", "Red"], "wildcard": ["r*", "*d", "?ed", "*", "r?*", "上*", "R*"], "regexp": ["r.*", "(red|blue)", "[a-f]+", "gre+n.*", "<1-10>", ".", "~red", "r.d"], "fuzzy": ["rad", "bleu", "fx", "read", "上每"]}[kind])
    rewrites = ["constant_score", "scoring_boolean", "constant_score_boolean", "top_terms_2", "top_terms_boost_2", "top_terms_blended_freqs_2"]
    options = draw.keys(rewrite=(0.15, lambda: draw.choice(rewrites)))
    if kind == "fuzzy":
        options.update(draw.keys(fuzziness=(0.5, lambda: draw.choice(["AUTO", 1, 2, 0, "AUTO:1,3"])), prefix_length=(0.2, lambda: 1), max_expansions=(0.2, lambda: 2), transpositions=(0.2, lambda: False)))
    else:
        options.update(draw.keys(case_insensitive=(0.15, lambda: True)))
    if kind == "regexp":
        options.update(draw.keys(flags=(0.2, lambda: draw.choice(["ALL", "NONE", "INTERVAL|COMPLEMENT"])), max_determinized_states=(0.05, lambda: draw.choice([1, 10, 10000]))))
    key = draw.choice(["value", "wildcard"]) if kind == "wildcard" else "value"
    return {kind: {f: v if draw.chance(0.3) else {key: v, **options, **boost(draw)}}}


def q_string(draw, world, depth):
    part = lambda: draw.choice([world.text(1), world.text(2), f'"{world.text(2)}"', f"{world.field()}:{world.text(1)}", "r*", "*", f"{world.field(*NUMBERS)}:[1 TO 5]", f"{world.field(*NUMBERS)}:>=3", "NOT red", "+fox", "-dog", f'"{world.text(2)}"~2', "rad~1", "(red OR fox)", "fox^2",
                                f"_exists_:{world.field()}", "/r.d/", f"{world.field('date')}:[2020-01-01 TO *]", f"{world.field('keyword')}:{{a TO c}}", "red\\:fox", "o.\\*:red"])
    options = draw.keys(default_field=(0.3, world.field), default_operator=(0.2, lambda: "and"), lenient=(0.3, lambda: True), analyze_wildcard=(0.1, lambda: True), phrase_slop=(0.1, lambda: 2), minimum_should_match=(0.1, lambda: draw.choice(["50%", 2])),
                        allow_leading_wildcard=(0.05, lambda: False), enable_position_increments=(0.05, lambda: False), fuzziness=(0.1, lambda: 1), quote_field_suffix=(0.05, lambda: ".raw"), auto_generate_synonyms_phrase_query=(0.1, lambda: False))
    if "default_field" not in options and draw.chance(0.5):
        options["fields"] = [weighted(draw, world) for _ in range(draw.randint(1, 3))]
        options.update(draw.keys(type=(0.4, lambda: draw.choice(["best_fields", "most_fields", "cross_fields", "phrase", "bool_prefix"])), tie_breaker=(0.2, lambda: 0.3)))
    return {"query_string": {"query": draw.choice([" ", " AND ", " OR ", " "]).join(part() for _ in range(draw.randint(1, 3))), **options, **boost(draw)}}


def q_simple(draw, world, depth):
    part = lambda: draw.choice([world.text(1), f'"{world.text(2)}"', "+fox", "-dog", "r*", "rad~1", "(red | fox)", f'"{world.text(2)}"~2', "|", "*", "\\"])
    options = draw.keys(fields=(0.6, lambda: [weighted(draw, world) for _ in range(draw.randint(1, 3))]), default_operator=(0.3, lambda: "and"), flags=(0.15, lambda: draw.choice(["ALL", "AND|PREFIX", "NONE", "OR|PHRASE"])), lenient=(0.3, lambda: True), analyze_wildcard=(0.1, lambda: True),
                        minimum_should_match=(0.15, lambda: draw.choice(["50%", 2])), quote_field_suffix=(0.05, lambda: ".raw"), analyzer=(0.05, lambda: "whitespace"), auto_generate_synonyms_phrase_query=(0.1, lambda: False))
    return {"simple_query_string": {"query": " ".join(part() for _ in range(draw.randint(1, 4))), **options, **boost(draw)}}


def q_bool(draw, world, depth):
    clause = lambda: [query(draw, world, depth - 1) for _ in range(draw.randint(1, 3))] if draw.chance(0.7) else query(draw, world, depth - 1)
    return {"bool": {**draw.keys(must=(0.5, clause), should=(0.5, clause), filter=(0.3, clause), must_not=(0.25, clause), minimum_should_match=(0.15, lambda: draw.choice([0, 1, 2, "50%", "-1"]))), **boost(draw)}}


def q_compound(draw, world, depth):
    sub = lambda: query(draw, world, depth - 1)
    kind = draw.randrange(3)
    if kind == 0:
        return {"constant_score": {"filter": sub(), **boost(draw)}}
    if kind == 1:
        return {"dis_max": {"queries": [sub() for _ in range(draw.randint(1, 3))], **draw.keys(tie_breaker=(0.5, lambda: draw.choice([0, 0.5, 1]))), **boost(draw)}}
    return {"boosting": {"positive": sub(), "negative": sub(), "negative_boost": draw.choice([0.2, 0.5, 1]), **boost(draw)}}


def decay(draw, world):
    f = world.field(*draw.choice([NUMBERS, ("date",), ("geo_point",)]))
    kind = world.leaves().get(f, {"type": "integer"})["type"]
    if kind in ("date", "date_nanos"):
        body = {"origin": "2020-06-01", "scale": draw.choice(["10d", "365d"]), **draw.keys(offset=(0.3, lambda: "1d"))}
    elif kind == "geo_point":
        body = {"origin": draw.choice(["31,121", {"lat": 0, "lon": 0}]), "scale": draw.choice(["100km", "5000km"]), **draw.keys(offset=(0.3, lambda: "10km"))}
    else:
        body = {"origin": draw.randint(0, 10), "scale": draw.choice([1, 5, 50]), **draw.keys(offset=(0.3, lambda: 2))}
    body.update(draw.keys(decay=(0.4, lambda: draw.choice([0.3, 0.5, 0.9]))))
    return {draw.choice(["gauss", "exp", "linear"]): {f: body, **draw.keys(multi_value_mode=(0.2, lambda: draw.choice(["min", "max", "avg", "sum"])))}}


def function(draw, world):
    modifiers = ["log1p", "sqrt", "square", "none", "ln2p", "reciprocal"]
    factor = lambda: {"field_value_factor": {"field": world.field(*NUMBERS), "missing": 1, **draw.keys(factor=(0.5, lambda: 1.2), modifier=(0.5, lambda: draw.choice(modifiers)))}}
    f = draw.choice([lambda: {"weight": draw.choice([2, 0.5])}, lambda: decay(draw, world), factor, lambda: {"script_score": {"script": "_score * 2"}}])()
    return {**f, **draw.keys(filter=(0.5, lambda: query(draw, world, 0)), weight=(0.3, lambda: 2))}


def q_function(draw, world, depth):
    if draw.chance(0.3):
        body = function(draw, world)
        body.pop("filter", None)
    else:
        body = {"functions": [function(draw, world) for _ in range(draw.randint(1, 3))]}
    options = draw.keys(score_mode=(0.4, lambda: draw.choice(["sum", "multiply", "avg", "first", "max", "min"])), boost_mode=(0.4, lambda: draw.choice(["sum", "multiply", "avg", "replace", "max", "min"])), max_boost=(0.1, lambda: 3), min_score=(0.1, lambda: draw.choice([0, 1, 2])))
    return {"function_score": {**draw.keys(query=(0.8, lambda: query(draw, world, depth - 1))), **body, **options, **boost(draw)}}


def q_script(draw, world, depth):
    f = world.field(*NUMBERS)
    if draw.chance(0.5):
        source = draw.choice([f"doc['{f}'].size() > 0 && doc['{f}'].value > params.p", f"doc['{f}'].value > 3", "1 == 1"])
        return {"script": {"script": {"source": source, "params": {"p": draw.randint(0, 9)}}, **boost(draw)}}
    source = draw.choice(["_score + 1", f"doc['{f}'].size() == 0 ? 0 : Math.abs(doc['{f}'].value)", "params.p", "-1"])
    return {"script_score": {"query": query(draw, world, depth - 1), "script": {"source": source, "params": {"p": 2}}, **draw.keys(min_score=(0.1, lambda: 1)), **boost(draw)}}


def q_nested(draw, world, depth):
    match, n = {"match": {draw.choice(["ne.k", "ne.t"]): draw.choice(TERMS)}}, {"range": {"ne.n": {"gte": draw.randint(0, 5)}}}
    inner = draw.choice([match, n, {"exists": {"field": "ne.k"}}, {"bool": {"must": [match, n]}}, {"match_all": {}}])
    return {"nested": {"path": "ne", "query": inner, **draw.keys(score_mode=(0.5, lambda: draw.choice(["avg", "sum", "min", "max", "none"])), ignore_unmapped=(0.6, lambda: True), inner_hits=(0.15, dict)), **boost(draw)}}


def q_geo(draw, world, depth):
    f, p = world.field("geo_point"), draw.choice(POINTS[:5])
    box = {"top_left": {"lat": draw.randint(10, 80), "lon": draw.randint(-170, 100)}, "bottom_right": {"lat": draw.randint(-80, 5), "lon": draw.randint(-100, 170)}}
    return draw.choice([{"geo_distance": {"distance": draw.choice(["100km", "2000km", "20000km", "5mi"]), f: p, **draw.keys(distance_type=(0.2, lambda: "arc"))}}, {"geo_bounding_box": {f: box}}, {"geo_polygon": {f: {"points": [{"lat": 0, "lon": 0}, {"lat": 50, "lon": 130}, {"lat": 60, "lon": 0}]}}},
                        {"distance_feature": {"field": f, "origin": "31,121", "pivot": "100km"}}, {"distance_feature": {"field": world.field("date"), "origin": "2020-01-01", "pivot": "7d"}}])


def like(draw, world):
    likes = draw.choice([world.text(4), {"_index": world.indices[0], "_id": world.any_id()}, [world.text(2), {"_id": world.any_id()}]])
    return {"more_like_this": {"fields": [world.field("text", "keyword")], "like": likes, "min_term_freq": 1, "min_doc_freq": draw.choice([1, 2]), **draw.keys(max_query_terms=(0.2, lambda: 2), minimum_should_match=(0.3, lambda: draw.choice([1, "50%"])), include=(0.2, lambda: True))}}


def q_other(draw, world, depth):
    return draw.choice([lambda: {"match_all": boost(draw)}, lambda: {"match_none": boost(draw)}, lambda: {"exists": {"field": draw.choice([world.field(), world.field(), "o", "ne", "t*", "_id"]), **boost(draw)}}, lambda: {"ids": {"values": [world.any_id() for _ in range(draw.randint(0, 3))], **boost(draw)}},
                        lambda: {"terms_set": {world.field("keyword", "text"): {"terms": [draw.choice(TERMS), "red", "a"], **draw.choice([{"minimum_should_match_field": world.field(*WHOLE)}, {"minimum_should_match_script": {"source": "Math.min(params.num_terms, 1)"}}])}}},
                        lambda: like(draw, world)])()


def span(draw, world, f, depth):
    """A random query of spans over the field, at most `depth` others around each other."""
    term = lambda: {"span_term": {f: draw.choice([world.text(1).split(" ")[0], draw.choice(TERMS)])}}
    sub = lambda: span(draw, world, f, depth - 1)
    if depth <= 0 or draw.chance(0.15):
        return term() if draw.chance(0.7) else {"span_multi": {"match": draw.choice([{"prefix": {f: draw.choice(["r", "f", "re", "上"])}}, {"wildcard": {f: draw.choice(["r*", "*d", "?o?"])}}, {"fuzzy": {f: {"value": draw.choice(["rad", "fx", "bleu"])}}}, {"range": {f: {"gte": "b", "lt": "g"}}}])}}
    kind = draw.choice(["span_near", "span_near", "span_near", "span_or", "span_not", "span_first", "span_containing", "span_within", "field_masking_span"])
    if kind == "span_near":
        clauses = [sub() for _ in range(draw.randint(1, 3))]
        ordered = draw.chance(0.6)
        if ordered and draw.chance(0.15):
            clauses.insert(draw.randint(0, len(clauses)), {"span_gap": {f: draw.randint(0, 3)}})
        return {kind: {"clauses": clauses, "in_order": ordered, **draw.keys(slop=(0.8, lambda: draw.choice([0, 1, 2, 5, 100])))}}
    if kind == "span_or":
        return {kind: {"clauses": [sub() for _ in range(draw.randint(1, 3))]}}
    if kind == "span_not":
        return {kind: {"include": sub(), "exclude": sub(), **draw.choice([{}, {}, {"dist": draw.randint(0, 3)}, {"pre": draw.randint(0, 3)}, {"post": draw.randint(-1, 3), "pre": 1}])}}
    if kind == "span_first":
        return {kind: {"match": sub(), "end": draw.choice([0, 1, 2, 3, 8])}}
    if kind == "field_masking_span":
        return {kind: {"query": sub(), "field": f if draw.chance(0.8) else world.field()}}
    return {kind: {"big": sub(), "little": sub()}}


def q_span(draw, world, depth):
    body = span(draw, world, world.field(*draw.choice([TEXTS, TEXTS, TEXTS, TEXTS, ("keyword",), ()])), draw.randint(0, 3))
    next(iter(body.values())).update(boost(draw) if "span_term" not in body else {})
    return body


def rule(draw, world, depth):
    """A random rule of intervals."""
    if depth <= 0 or draw.chance(0.35):
        kind = draw.choice(["match", "match", "match", "prefix", "wildcard", "fuzzy"])
        body = {"match": lambda: {"query": world.text(3), **draw.keys(ordered=(0.4, lambda: draw.chance(0.6)), max_gaps=(0.4, lambda: draw.choice([-1, 0, 1, 5])), analyzer=(0.1, lambda: "whitespace"), use_field=(0.1, lambda: world.field("text")))},
                "prefix": lambda: {"prefix": draw.choice(["r", "f", "Re"])}, "wildcard": lambda: {"pattern": draw.choice(["r*", "*d", "?o?"])}, "fuzzy": lambda: {"term": draw.choice(["rad", "fx"]), **draw.keys(fuzziness=(0.4, lambda: draw.choice([0, 1, "AUTO"])))}}[kind]()
    else:
        kind = draw.choice(["all_of", "any_of"])
        body = {"intervals": [rule(draw, world, depth - 1) for _ in range(draw.randint(1, 3))]}
        if kind == "all_of":
            body.update(draw.keys(ordered=(0.5, lambda: draw.chance(0.6)), max_gaps=(0.4, lambda: draw.choice([-1, 0, 1, 5]))))
    if kind in ("match", "all_of", "any_of") and draw.chance(0.2):
        body["filter"] = {draw.choice(["containing", "contained_by", "not_containing", "not_contained_by", "overlapping", "not_overlapping", "before", "after"]): rule(draw, world, depth - 1)}
    return {kind: body}


def q_intervals(draw, world, depth):
    return {"intervals": {world.field(*draw.choice([TEXTS, TEXTS, TEXTS, ()])): {**rule(draw, world, draw.randint(0, 2)), **boost(draw)}}}


def q_common(draw, world, depth):
    options = draw.keys(cutoff_frequency=(0.9, lambda: draw.choice([0, 0.001, 0.1, 0.3, 1, 10])), low_freq_operator=(0.3, lambda: "and"), high_freq_operator=(0.3, lambda: "and"), minimum_should_match=(0.4, lambda: draw.choice([1, "50%", {"low_freq": 2}, {"high_freq": "50%"}])))
    return {"common": {world.field(*draw.choice([TEXTS, TEXTS, ("keyword",)])): {"query": world.text(4), **options, **boost(draw)}}}


LEAVES = [q_match, q_match, q_phrase, q_phrase, q_multi, q_multi, q_term, q_term, q_terms, q_range, q_range, q_pattern, q_pattern, q_string, q_simple, q_other, q_other, q_geo, q_span, q_intervals, q_common]
ALL = LEAVES + [q_bool, q_bool, q_bool, q_compound, q_compound, q_function, q_function, q_script, q_nested]


def query(draw, world, depth=2):
    """A random query, at most `depth` others around each other."""
    return draw.choice(ALL if depth > 0 else LEAVES)(draw, world, depth)


def request(draw, world):
    if draw.chance(0.1):
        return "POST", f"/{world.index()}/_count", {"query": query(draw, world)}
    options = draw.keys(size=(0.15, lambda: draw.choice([0, 3, 40])), min_score=(0.05, lambda: 0.5), _source=(0.5, lambda: False), version=(0.05, lambda: True), seq_no_primary_term=(0.03, lambda: True), post_filter=(0.06, lambda: query(draw, world, 0)))
    return "POST", f"/{world.index()}/_search", {"query": query(draw, world), **options}
