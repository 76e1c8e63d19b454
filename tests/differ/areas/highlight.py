"""Highlighting: every highlighter over every analyzer, with every option."""
from areas.queries import ALL, LEAVES, q_bool, q_match, q_multi, q_pattern, q_phrase, q_simple, q_string, query
from world import WORDS

KINDS = ("text", "text")
TAGS = [(["<b>"], ["</b>"]), (["<1>", "<2>"], ["</1>", "</2>"]), (["["], ["]"]), (["<1>", "<2>"], ["</>"])]
QUERIES = [q_match, q_match, q_match, q_phrase, q_phrase, q_multi, q_string, q_simple, q_pattern, q_bool]


def asked(draw, world, depth=1):
    """A query that often finds words."""
    return draw.choice(QUERIES)(draw, world, depth) if draw.chance(0.85) else draw.choice(ALL if depth else LEAVES)(draw, world, depth)


def tags(draw):
    pre, post = draw.choice(TAGS)
    return draw.choice([{"pre_tags": pre, "post_tags": post}, {"pre_tags": pre, "post_tags": post}, {"pre_tags": pre, "post_tags": post}, {"tags_schema": "styled"}])


def boundaries(draw):
    if draw.chance(0.4):
        return {"boundary_scanner": "chars", **draw.keys(boundary_max_scan=(0.6, lambda: draw.choice([0, 1, 5, 50])), boundary_chars=(0.4, lambda: draw.choice([" ", ".", "", ".,!? \t\n", "o"])))}
    return {"boundary_scanner": draw.choice(["word", "sentence", "sentence"]), **draw.keys(boundary_scanner_locale=(0.3, lambda: draw.choice(["en-US", "zh-CN", "de", "und", "xx"])))}


def options(draw, world):
    """Options that a field has as well as the whole request."""
    out = draw.keys(type=(0.7, lambda: draw.choice(["unified", "plain", "fvh"])), fragment_size=(0.4, lambda: draw.choice([0, 1, 5, 10, 18, 20, 40, 100])), number_of_fragments=(0.45, lambda: draw.choice([0, 0, 1, 2, 3, 10])), order=(0.3, lambda: draw.choice(["score", "none"])),
                    require_field_match=(0.35, lambda: draw.choice([False, False, True])), no_match_size=(0.2, lambda: draw.choice([0, 1, 5, 10, 30, 100])), highlight_query=(0.2, lambda: asked(draw, world)), phrase_limit=(0.05, lambda: draw.choice([1, 2])), fragmenter=(0.15, lambda: draw.choice(["simple", "span"])),
                    force_source=(0.05, lambda: True), max_analyzed_offset=(0.06, lambda: draw.choice([1, 10, 30])), highlight_filter=(0.03, lambda: False), options=(0.02, lambda: {"a": 1}))
    if draw.chance(0.25):
        out.update(boundaries(draw))
    return out


def of_field(draw, world, name):
    if draw.chance(0.45):
        return {}
    pre_post = draw.choice(TAGS[:3])
    own = draw.keys(matched_fields=(0.15, lambda: [name, *draw.some([world.field("text"), f"{name}.raw", "t1"], 0, 2)]), fragment_offset=(0.05, lambda: draw.choice([0, 2, 10])), pre_tags=(0.15, lambda: pre_post[0]), post_tags=(0.15, lambda: pre_post[1]))
    return {**options(draw, world), **own}


def fields(draw, world):
    names = [draw.choice([world.field("text"), world.field("text"), world.field("text"), world.field("keyword"), world.field(), "t*", "*", "ne.t", "o.*"]) for _ in range(draw.randint(1, 3))]
    if draw.chance(0.15):
        return [{n: of_field(draw, world, n)} for n in names]
    return {n: of_field(draw, world, n) for n in names}


def nested(draw, world):
    inner = {"highlight": {"fields": {"ne.t": {}}}}
    return {"nested": {"path": "ne", "query": {"match": {"ne.t": draw.choice(WORDS)}}, "ignore_unmapped": True, "inner_hits": inner}}


def request(draw, world):
    marks = {"fields": fields(draw, world), **draw.keys(encoder=(0.1, lambda: draw.choice(["html", "default"])))}
    if draw.chance(0.6):
        marks.update(options(draw, world))
    if draw.chance(0.25):
        marks.update(tags(draw))
    asks = nested(draw, world) if draw.chance(0.05) else asked(draw, world)
    return "POST", f"/{world.index()}/_search", {"query": asks, "highlight": marks, "_source": False, **draw.keys(rescore=(0.04, lambda: {"query": {"rescore_query": query(draw, world, 0)}}), size=(0.1, lambda: 3), stored_fields=(0.03, lambda: "_none_"))}
