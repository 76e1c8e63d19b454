"""Ingest pipelines: definitions right and wrong, documents of all kinds, simulated and indexed, with failures and their handlers."""
CLEANUP = ("_ingest/pipeline/{}p", "_ingest/pipeline/{}q", "_ingest/pipeline/{}f")
FIELDS = ["a", "b", "s", "l", "m", "n", "t", "m.k", "m.k.j", "l.0", "l.2.k", "l.9", "l.x", "x", "x.y", "m.x", "_index", "_id", "_routing", "_ingest.x", "_ingest._value", "_ingest.timestamp.x", "_source.a", "a.b", "e", "ls", "ln", "{{s}}", "{{x}}", "m.{{s}}", "d.e", "u", "_version", "_type", "", ".", "a..b", "m."]
DOC = {"a": 1, "b": 2.50, "s": "Key b", "l": [1, "q", {"k": [True, None]}, None], "m": {"k": {"j": "deep"}, "l": [3]}, "n": None, "t": True, "e": "", "ls": ["Ab", "cD", ""], "ln": [3, 1, 2], "d.e": 5, "u": "1,2, 3,,", "big": 12345678901, "f": 1e-3, "h": "<p>x &amp; y</p>", "j": "{\"k\": [1, {\"z\": null}]}", "k": "12kb", "w": " pad\t", "z": "%41+b", "dt": "2021-03-05T12:13:14.156Z", "kv": "x=1&y=2&x=3", "url": "http://me:pw@www.example.com:80/foo.gif?key1=val1#frag", "log": "55.3.244.1 GET /index.html?q=1 15824 0.043", "dis": "a  b [c], d:1", "cs": " 1 ,'2,3',\"x\"\"y\",, 5 ", "num": "1614834367", "day": "04/03/2021", "tai": "@4000000050d506482dbdf024"}
VALUES = [1, 2.5, "x", True, None, "{{a}}", "{{{s}}} {{l.1}}", ["x", "{{b}}"], {"k": "{{t}}", "{{s}}": 1}, "", "{{x}}", "{{_ingest.pipeline}}", "{{m}}", [], {}, 12345678901, "{{_source.a}}", "{{_index}}/{{_id}}"]
CONDITIONS = ["ctx.a == 1", "ctx.a > 5", "ctx.x == null", "ctx.l.size() > 2", "ctx.m?.k?.j == 'deep'", "true", "false", "ctx.s.contains('b')", "ctx.x.y == 1", "ctx.t", {"source": "ctx.a == params.p", "params": {"p": 1}}, "ctx.a +", 5, {}, "ctx.ls.stream().anyMatch(x -> x == 'Ab')"]
SCRIPTS = ["ctx.z = ctx.a * 2", "ctx.remove('a')", "ctx.l.add(5); ctx.m.q = ctx.s", "ctx._index = 'other'", "ctx.x.y = 1", "ctx.z = params.p", "for (def x : ctx.ls) { ctx[x] = x.length() }", "ctx.z = [1, 2.5, 'x', null, true]", "ctx.m = null", "ctx.s = ctx.s.toUpperCase()", "ctx.z = 1L + ctx.big", "ctx.tags = ['a': ['b': 1]]"]


GROKS = ["%{IP:ip} %{WORD:verb} %{URIPATHPARAM:req} %{NUMBER:bytes:int} %{NUMBER:dur:double}", "%{WORD:w}", "%{OWN:o}", "%{NUMBER:a.n:long}", "^%{TIMESTAMP_ISO8601:dt2}$", "%{URI:uri}", "(?<x>[a-z]+) (?<y>\\w)", "%{GREEDYDATA:all}", "%{NOPE:x}", "%{IP:s}|%{WORD:s}"]
DISSECTS = ["%{p}", "%{q}", "%{+p}", "%{+p/2}", "%{+p/1}", "%{p->}", "%{}", "%{?k}", "%{*k}", "%{&k}", "%{m.k}", "%{+q->}"]
DATES = ["ISO8601", "UNIX", "UNIX_MS", "TAI64N", "dd/MM/yyyy", "yyyy-MM-dd'T'HH:mm:ss.SSSX", "yyyy", "nope"]


def field(draw):
    return draw.choice(FIELDS) if draw.chance(0.5) else draw.choice(list(DOC))


def common(draw, depth):
    return draw.keys(**{"tag": (0.15, lambda: draw.choice(["t1", "t2"])), "description": (0.05, lambda: "what"), "if": (0.12, lambda: draw.choice(CONDITIONS)), "ignore_failure": (0.1, lambda: draw.choice([True, False])),
                        "on_failure": (0.1 if depth else 0, lambda: processors(draw, depth - 1, 1, 2)), "bogus": (0.01, lambda: 1)})


def own(draw, kind, depth):
    target = draw.keys(target_field=(0.3, lambda: field(draw)), ignore_missing=(0.25, lambda: draw.choice([True, False])))
    if kind == "set":
        return {"field": field(draw), "value": draw.choice(VALUES), **draw.keys(override=(0.2, lambda: draw.choice([True, False])), ignore_empty_value=(0.2, lambda: draw.choice([True, False])))}
    if kind == "append":
        return {"field": field(draw), "value": draw.choice(VALUES), **draw.keys(allow_duplicates=(0.3, lambda: draw.choice([True, False])))}
    if kind == "remove":
        return {"field": field(draw) if draw.chance(0.7) else [field(draw), field(draw)], **draw.keys(ignore_missing=(0.3, lambda: True))}
    if kind == "rename":
        return {"field": field(draw), "target_field": field(draw), **draw.keys(ignore_missing=(0.3, lambda: True))}
    if kind in ("lowercase", "uppercase", "trim", "html_strip", "bytes", "urldecode"):
        return {"field": field(draw) if draw.chance(0.6) else draw.choice(["s", "h", "k", "w", "z", "ls"]), **target}
    if kind == "gsub":
        return {"field": draw.choice(["s", "ls", "h", "u", "x", "a"]), "pattern": draw.choice(["b", "[a-z]", "(.)(.)", "\\s+", "^", "x*", ","]), "replacement": draw.choice(["", "-", "$1", "$2$1", "\\$"]), **target}
    if kind == "convert":
        return {"field": field(draw), "type": draw.choice(["integer", "long", "float", "double", "boolean", "string", "auto", "AUTO", "nope"]), **target}
    if kind == "split":
        return {"field": draw.choice(["u", "s", "ls", "x", "e", "n"]), "separator": draw.choice([",", ",\\s*", "", " ", "b"]), **draw.keys(preserve_trailing=(0.3, lambda: True)), **target}
    if kind == "join":
        return {"field": draw.choice(["l", "ls", "ln", "s", "n", "x"]), "separator": draw.choice(["-", "", ", "]), **draw.keys(target_field=(0.3, lambda: field(draw)))}
    if kind == "sort":
        return {"field": draw.choice(["ls", "ln", "s", "n", "x"]), **draw.keys(order=(0.5, lambda: draw.choice(["asc", "desc", "up"])), target_field=(0.3, lambda: field(draw)))}
    if kind == "json":
        return {"field": draw.choice(["j", "j", "a", "t", "l", "x"]), **draw.keys(add_to_root=(0.3, lambda: True), target_field=(0.3, lambda: field(draw)))}
    if kind == "dot_expander":
        return {"field": draw.choice(["d.e", "a.b", "m.k", "nodot", "d.e.", "s.t"]), **draw.keys(path=(0.2, lambda: draw.choice(["m", "x", "l"])))}
    if kind == "script":
        return {"source": draw.choice(SCRIPTS), **draw.keys(params=(0.5, lambda: {"p": draw.choice([1, "x", [1]])}), lang=(0.1, lambda: draw.choice(["painless", "expression", "nope"])))}
    if kind == "foreach":
        return {"field": draw.choice(["ls", "ln", "l", "s", "x", "n"]), "processor": draw.choice([{"uppercase": {"field": "_ingest._value"}}, {"set": {"field": "_ingest._value", "value": "{{a}}"}}, {"append": {"field": "z", "value": "{{_ingest._value}}"}}, {"convert": {"field": "_ingest._value", "type": "string"}}, {"remove": {"field": "_ingest._value"}}, processor(draw, 0) if depth else {"drop": {}}]),
                **draw.keys(ignore_missing=(0.2, lambda: True))}
    if kind == "grok":
        return {"field": draw.choice(["log", "log", "s", "h", "url", "dt", "ls", "x", "n"]), "patterns": draw.some(GROKS, 1, 3), **draw.keys(trace_match=(0.3, lambda: True), ignore_missing=(0.3, lambda: True), pattern_definitions=(0.4, lambda: {"OWN": draw.choice(["[a-z]+", "(?<own>\\d+)", "a|b", "%{WORD}", "%{OWN}"])}))}
    if kind == "dissect":
        return {"field": draw.choice(["dis", "dis", "log", "u", "kv", "x", "n", "a"]), "pattern": "".join(draw.choice(DISSECTS) + draw.choice([" ", ",", ", ", ":", "=", "&", "[", "] ", "  "]) for _ in range(draw.randint(1, 4))) + draw.choice(["%{last}", "%{last->}", ""]), **draw.keys(append_separator=(0.3, lambda: draw.choice(["-", ""])), ignore_missing=(0.2, lambda: True))}
    if kind == "kv":
        return {"field": draw.choice(["kv", "kv", "url", "s", "ls", "n", "x"]), "field_split": draw.choice(["&", " ", "[&?]", ""]), "value_split": draw.choice(["=", ":", "=+"]),
                **draw.keys(target_field=(0.3, lambda: field(draw)), prefix=(0.2, lambda: "p_"), include_keys=(0.2, lambda: ["x"]), exclude_keys=(0.2, lambda: ["y"]), trim_key=(0.2, lambda: "x"), trim_value=(0.2, lambda: "12"), strip_brackets=(0.2, lambda: True), ignore_missing=(0.2, lambda: True))}
    if kind == "csv":
        return {"field": draw.choice(["cs", "cs", "u", "s", "e", "n", "x", "ls"]), "target_fields": [field(draw) for _ in range(draw.randint(1, 4))], **draw.keys(separator=(0.3, lambda: draw.choice([";", " ", ",", "", ",,"])), quote=(0.3, lambda: draw.choice(["'", "\"", "x", "ab"])), trim=(0.4, lambda: True), empty_value=(0.3, lambda: draw.choice(["", 0, None, {"z": 1}])), ignore_missing=(0.2, lambda: True))}
    if kind == "date":
        return {"field": draw.choice(["dt", "day", "num", "big", "tai", "a", "b", "s", "x", "n"]), "formats": draw.some(DATES, 1, 1), **draw.keys(timezone=(0.3, lambda: draw.choice(["Europe/Paris", "+05:30", "UTC", "Nowhere", "{{s}}"])), target_field=(0.3, lambda: field(draw)), output_format=(0.3, lambda: draw.choice(["yyyy", "yyyy-MM-dd HH:mm:ss", "epoch_millis", "q!"])))}
    if kind == "date_index_name":
        return {"field": draw.choice(["dt", "day", "num", "tai", "s", "x", "n"]), "date_rounding": draw.choice(["y", "M", "d", "h", "{{s}}"]), "date_formats": draw.some(DATES, 1, 1), **draw.keys(index_name_prefix=(0.5, lambda: draw.choice(["p-", "{{s}}-"])), index_name_format=(0.3, lambda: draw.choice(["yyyy", "yyyy-MM"])), timezone=(0.3, lambda: draw.choice(["Europe/Paris", "UTC"])))}
    if kind == "fail":
        return {"message": draw.choice(["no", "{{a}} {{s}}", "{{_ingest.on_failure_message}}", ""])}
    return {}


KINDS = ["set", "set", "append", "remove", "rename", "lowercase", "uppercase", "trim", "html_strip", "bytes", "urldecode", "gsub", "convert", "convert", "split", "join", "sort", "json", "dot_expander", "script", "script", "foreach", "foreach", "fail", "drop", "grok", "dissect", "dissect", "kv", "csv", "date", "date_index_name"]


def processor(draw, depth):
    kind = draw.choice(KINDS)
    body = {**own(draw, kind, depth), **common(draw, depth)}
    if draw.chance(0.02) and body:
        del body[draw.choice(list(body))]
    if draw.chance(0.02) and body:
        body[draw.choice(list(body))] = draw.choice([1, None, [], {}, "x", True])
    return {kind if draw.chance(0.99) else "nope": body}


def processors(draw, depth=2, least=1, most=4):
    return [processor(draw, depth) for _ in range(draw.randint(least, most))]


def definition(draw, world):
    body = {"processors": processors(draw), **draw.keys(description=(0.2, lambda: "d"), version=(0.2, lambda: draw.choice([1, "2", "x"])), on_failure=(0.25, lambda: processors(draw, 1, 1, 2)), extra=(0.02, lambda: 1))}
    if draw.chance(0.15):
        body["processors"].append({"pipeline": {"name": world.prefix + draw.choice("pqfx")}})
    return body


def document(draw):
    return {k: DOC[k] for k in draw.some(list(DOC), 3, len(DOC))} if draw.chance(0.5) else DOC


def request(draw, world):
    kind = draw.random()
    if kind < 0.6:
        docs = [{"_source": document(draw), **draw.keys(_index=(0.1, lambda: "i"), _id=(0.1, lambda: draw.choice(["x", 5])), _routing=(0.1, lambda: "r"))} for _ in range(draw.randint(1, 2))]
        return "POST", "/_ingest/pipeline/_simulate" + ("?verbose" if draw.chance(0.3) else ""), {"pipeline": definition(draw, world), "docs": docs}
    if kind < 0.75:
        return "PUT", f"/_ingest/pipeline/{world.prefix}{draw.choice('pqf')}", definition(draw, world)
    if kind < 0.85:
        return "POST", f"/_ingest/pipeline/{world.prefix}{draw.choice('pqfx')}/_simulate" + ("?verbose" if draw.chance(0.3) else ""), {"docs": [{"_source": document(draw)}]}
    if kind < 0.9:
        return draw.choice(["GET", "DELETE"]), f"/_ingest/pipeline/{world.prefix}{draw.choice('pqfx')}", None
    path = f"/{world.index()}/_doc/{draw.choice('12')}"
    return draw.choice([("PUT", f"{path}?pipeline={world.prefix}{draw.choice('pqfx')}", {"a": 1}), ("GET", path, None)])
