"""Templates: mustache of all kinds, right and wrong, rendered and searched; stored scripts, and their ids wherever scripts stand."""
from areas.queries import query

CLEANUP = ("_scripts/{}t", "_scripts/{}p", "_scripts/{}f")
PARAMS = {"a": 1, "b": 2.5, "s": "x\"y\n/é", "l": [1, "q", {"k": [True, None]}, None], "m": {"k": {"j": "deep"}, "l": [3]}, "t": True, "f": False, "e": "", "z": 0, "n": None, "el": [], "em": {}, "a.b": "dotted"}
NAMES = ["a", "b", "s", "l", "m", "t", "f", "e", "z", "n", "el", "em", "a.b", "m.k", "m.k.j", "m.x", "m.x.y", "l.0", "l.2.k", "l.2.k.0", "l.size", "m.l.size", "l.3", "l.x", ".", "nope", "nope.a", "l.size.x", "s.x", " a ", "t.y", "l.2.k.size"]
SECTIONS = ["l", "m", "t", "f", "e", "z", "n", "el", "em", "s", "m.k", "m.l", "l.2", "l.2.k", "nope", "a", "l.size"]
FUNCTIONS = ["toJson", "join", "join delimiter='-'", "join delimiter=''", "url", "TOJSON", "Join", "toJson x", "join delimiter=-"]
TYPES = ["text/plain", "application/json", "application/json; charset=UTF-8", "application/x-www-form-urlencoded"]


def piece(draw, depth):
    """Something between two other things of a template."""
    kind = draw.random()
    if kind < 0.3 or depth == 0:
        return draw.choice(["{{%s}}", "{{%s}}", "{{{%s}}}", "{{&%s}}", "{{& %s }}", "{{ %s }}"]) % draw.choice(NAMES)
    if kind < 0.5:
        return draw.choice(["a", " ", "\n", "  \n", "\r\n", "\t", "é", "\"", "{", "}", "{ {", "}}", "x y", "<", ",", "\n\n", "{a}", "\\"])
    if kind < 0.72:
        name = draw.choice(SECTIONS)
        edge = draw.choice(["", "", "\n", "  \n"])
        return f"{{{{{draw.choice('##^$')}{name}}}}}{edge}{text(draw, depth - 1)}{edge}{{{{/{name}}}}}"
    if kind < 0.85:
        name = draw.choice(FUNCTIONS)
        return f"{{{{#{name}}}}}{draw.choice([draw.choice(NAMES), draw.choice(NAMES), text(draw, depth - 1)])}{{{{/{name}}}}}"
    if kind < 0.9:
        return draw.choice(["{{! note }}", "{{!}}", "{{! a\nb }}", "{{%p}}", "{{%p q}}"])
    if kind < 0.95:
        return draw.choice(["{{=<% %>=}}<%a%><%={{ }}=%>", "{{=| |=}}|a||={{ }}=|", "{{= [ ] =}}[#l][.][/l][={{ }}=]"])
    return draw.choice(["{{", "{{a", "{{}}", "{{/a}}", "{{#a}}", "{{{a}}", "{{>a}}", "{{<a}}{{/a}}", "{{=a=}}", "{{=}}", "{{==}}", "{{=a b c=}}", "{{#a}}{{/b}}", "{{l.9}}", "{{#toJson}}{{/toJson}}", "{{l.-1}}"]) if draw.chance(0.4) else "-"


def text(draw, depth=2):
    return "".join(piece(draw, depth) for _ in range(draw.randint(1, 5)))


def params(draw):
    return PARAMS if draw.chance(0.8) else {k: PARAMS[k] for k in draw.some(PARAMS, 0, 6)}


def form(draw, world):
    """A template as requests have it."""
    kind = draw.random()
    if kind < 0.6:
        return {"source": text(draw), "params": params(draw)}
    if kind < 0.75:
        return {"source": {"query": {"match": {world.field(): "{{s}}"}}, "size": 2, "x" if draw.chance(0.1) else "from": 0}, "params": params(draw)}
    return {"id": world.prefix + draw.choice("ttpfx"), "params": params(draw)}


def searched(draw, world):
    """A template of which a search comes, mostly."""
    if draw.chance(0.2):
        return form(draw, world)
    import json
    body = {"query": query(draw, world, 1), "_source": False, **draw.keys(size=(0.4, lambda: 2), explain=(0.1, lambda: True))}
    return {**({"source": body} if draw.chance(0.5) else {"source": json.dumps(body)}), **draw.keys(params=(0.4, lambda: params(draw)), explain=(0.1, lambda: draw.choice([True, False, "true"])))}


def stored(draw, world):
    lang, source = draw.choice([("mustache", text(draw)), ("mustache", {"size": "{{a}}"}), ("painless", draw.choice(["params.a * 2", "_score + params.a", "ctx._source.n = params.a"])), ("expression", draw.choice(["_score * a", "a +"])), ("nope", "1")])
    path = f"/_scripts/{world.prefix}{draw.choice('tpf')}"
    if draw.chance(0.2):
        path += "/" + draw.choice(["score", "template", "filter", "field", "update", "nope"])
    return "PUT", path, {"script": {"lang": lang, "source": source, **draw.keys(options=(0.3, lambda: {"content_type": draw.choice(TYPES)}) if lang == "mustache" else (0, dict))}}


def by_id(draw, world):
    script = {"id": world.prefix + draw.choice("ttpfx"), **draw.keys(params=(0.8, lambda: {"a": draw.choice([1, 2.5])}), lang=(0.05, lambda: "painless"))}
    return "POST", f"/{world.index()}/_search", draw.choice([{"script_fields": {"f": {"script": script}}}, {"query": {"script_score": {"query": {"match_all": {}}, "script": script}}, "_source": False}, {"size": 0, "aggs": {"a": {"max": {"script": script}}}},
                                                             {"sort": [{"_script": {"type": "number", "script": script}}, "_id"], "_source": False}])


def request(draw, world):
    kind = draw.random()
    if kind < 0.45:
        method, path, body = "POST", "/_render/template", form(draw, world)
    elif kind < 0.65:
        method, path, body = "POST", f"/{world.index()}/_search/template", searched(draw, world)
    elif kind < 0.75:
        lines = []
        for _ in range(draw.randint(1, 3)):
            lines += [{"index": draw.choice([world.indices[0], world.indices[0], "nope"])}, searched(draw, world)]
        return "POST", "/_msearch/template", lines
    elif kind < 0.9:
        method, path, body = stored(draw, world)
    elif kind < 0.95:
        return draw.choice(["GET", "GET", "DELETE"]), f"/_scripts/{world.prefix}{draw.choice('tpfx')}", None
    else:
        method, path, body = by_id(draw, world)
    return method, path, draw.spoilt(body) if draw.chance(0.06) else body
