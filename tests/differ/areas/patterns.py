"""Queries by a pattern: regular expressions of every part of their language, wildcards, prefixes, fuzzy words, over short words of few characters."""
KINDS = ["keyword", "keyword"]
PARTS = ["a", "b", "ab", "A", "B", "1", "2", "0", "7", "-", "<", ">", "é", "中", "😀", " ", ".", '"', "\\", "#", "@", "&", "~", "_", "\t", "(", "[", ")", "]", "^", "x", "*", "?", "{", "}"]
ATOMS = ["a", "b", "A", "1", ".", "[ab]", "[^a]", "[a-z0-9]", "\\d", "\\w", "\\D", "[\\d-]", "é", "中", "😀", '"a.b"', "@", "#", "()", "<1-12>", "<07-10>", "<10-7>", "<0-1000000>", "\\.", "\\\\", "-", "_", " ", "[^\\d]", "[a\\]]", "[-a]", "[a-]", "[b-a]", "[]", "[^]", '""', '"',
         "<1>", "\\", "x", "[中-龥]", "[^é]", ".*", "a*"]
TIMES = ["*", "+", "?", "{2}", "{1,2}", "{0,}", "{2,1}", "{,2}", "{0}", "{3", "{1,2}?", "**"]


def expression(draw, depth):
    kind = draw.random()
    one = lambda: expression(draw, depth - 1)
    if depth <= 0 or kind < 0.3:
        return draw.choice(ATOMS)
    if kind < 0.55:
        return one() + one()
    if kind < 0.65:
        return f"({one()}|{one()})"
    if kind < 0.7:
        return f"{one()}|{one()}"
    if kind < 0.77:
        return f"({one()})&({one()})"
    if kind < 0.84:
        return f"~({one()})"
    if kind < 0.88:
        return draw.choice(["~", "~", "~", "(", ")", "[", "]", "{", "|", "&", "*"]) + one()
    return f"({one()}){draw.choice(TIMES)}"


def word(draw, most):
    return "".join(draw.choice(PARTS) for _ in range(draw.randint(0, most)))


def pattern(draw):
    """(kind of query, its parameters)."""
    kind = draw.choice(["regexp", "regexp", "regexp", "wildcard", "prefix", "fuzzy"])
    case = {"case_insensitive": (0.25, lambda: True)}
    if kind == "regexp":
        flags = ["NONE", "INTERSECTION", "COMPLEMENT|INTERVAL", "ALL", "EMPTY", "ANYSTRING", "INTERVAL", "AUTOMATON", "none", "ALL|X", ""]
        return kind, {"value": expression(draw, draw.randint(1, 4)), **draw.keys(flags=(0.2, lambda: draw.choice(flags)), **case)}
    if kind == "wildcard":
        return kind, {"value": "".join(draw.choice(PARTS + ["*", "*", "?"]) for _ in range(draw.randint(0, 5))), **draw.keys(**case)}
    if kind == "prefix":
        return kind, {"value": word(draw, 2), **draw.keys(**case)}
    return kind, {"value": word(draw, 5), **draw.keys(fuzziness=(0.5, lambda: draw.choice([0, 1, 2, "AUTO", "AUTO:1,3"])), transpositions=(0.3, lambda: False), prefix_length=(0.3, lambda: draw.randint(0, 3)), max_expansions=(0.2, lambda: draw.randint(1, 5)))}


def request(draw, world):
    field = world.field("keyword")
    if draw.chance(0.25):
        lines = []
        for _ in range(20):
            lines += [{"index": {"_id": f"p{draw.randint(0, 300)}"}}, {field.split(".")[0]: word(draw, draw.choice([2, 3, 5])) if draw.chance(0.7) else "".join(draw.choice("aabAB127") for _ in range(draw.randint(0, 5)))}]
        return "POST", f"/{world.indices[0]}/_bulk?refresh&filter_path=errors", lines
    kind, parameters = pattern(draw)
    return "POST", f"/{world.index()}/_search", {"size": 0, "query": {kind: {field: parameters}}, "aggs": {"found": {"terms": {"field": field, "size": 300, "order": {"_key": "asc"}}}}}
