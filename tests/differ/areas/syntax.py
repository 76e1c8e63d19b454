"""The language of query_string and simple_query_string: every part of it, put together at random and sometimes broken, by the query it becomes."""
KINDS = ["text", "keyword", "date", "integer"]
WITHOUT_IK = True
WORDS = ["red", "fox", "Red", "a", "the", "酒店", "x1", "2020", "1", "2020-01-01", "wi-fi", "don't", "AND", "OR", "NOT", "TO", "and", "or", "not", "10.0.0.1", "naïve", "true", "1.5", "-3", "2020-01-01||/M", "&&", "||", "!", "*", "?", "r*", "*d", "r?d", "f*x", "\\*", "re\\?d",
         "a\\:b", "\\u0041", "\\u00", "\\", "\\(red\\)", "/r.d/", "/[a-f]+/", "/", "a/b", "'red", "\t", "　", "fox\u00a0red", "😀", "\\ ", "red\\ fox", "=", "{", "}", "[", "]", "<", ">", "\"", "~", "^", ":", "-", "+", "|", "(", ")", "()", "\"\"", "@", "#", "%", "$", ";", ","]
ENDS = ["", "", "", "", "~", "~1", "~2", "~0", "~3", "~0.5", "~0.8", "~1.0", "~1.5", "~2x", "^2", "^0.5", "^", "^-1", "^1e3", "^.5", "~1^2", "^2~1", "~AUTO", "^2.", "^0", "~10"]
NUMBERS = ["0", "1", "2", "2", "50%", "-1", "-25%", "2<75%", "3<-25%", "1<2 3<50%", "2<-1 5<80%", " 2 ", "100%", "0%", "-100%", "200%", 1, -1, 10, "2 < 50%", "x", "", "1<", "<1", "2<3<4", "1.5", "50.5%", "%"]


def word(draw):
    return draw.choice(WORDS[:16] if draw.chance(0.6) else WORDS) if draw.chance(0.9) else "".join(draw.choice(WORDS) for _ in range(2))


def name(draw, world):
    return draw.choice([world.field(), world.field(), "t1", "k1", "t*", "t\\*", "*1", "\\*", "*", "_exists_", "nope", "_id", "_index", "_type", "_field_names", "o.\\*", "o.*", "_source", "_routing", "*.raw", "x\\*", "n\\*", "k?", "_all"])


def bounds(draw):
    end = lambda: draw.choice(["1", "5", "a", "z", "*", "2020-01-01", "2021", "\"a b\"", "\"2020-01-01\"", "*", "-1", "10.0.0.1", "\\*", "now/y", "2020-01-01||+1M", "'a", "a*", "1.5", ""])
    if draw.chance(0.3):
        return draw.choice([">", ">=", "<", "<=", ">=\\", "> ", "<\"", "=>"]) + end()
    return f"{draw.choice('[[[{{')}{end()}{draw.choice([' TO ', ' TO ', ' TO ', ' ', '  TO ', ' to ', 'TO'])}{end()}{draw.choice(']]]}}')}"


def phrase(draw):
    return '"' + " ".join(word(draw) for _ in range(draw.randint(0, 3))) + '"' + draw.choice(["", "", "~2", "~", "~0", "~1.5", "^2", "~2^3", "~a", "~-1"])


def clause(draw, world, depth):
    kind = draw.random()
    sign = draw.choice(["", "", "", "", "+", "-", "!", "NOT ", "+ ", "- ", "--", "+-", "&&", "! "])
    if kind < 0.45:
        what = word(draw) + draw.choice(ENDS)
    elif kind < 0.6:
        what = phrase(draw)
    elif kind < 0.72:
        what = bounds(draw)
    elif depth > 0:
        what = f"({clauses(draw, world, depth - 1)}){draw.choice(ENDS)}"
    else:
        what = draw.choice(["*", "*:*", "**", "red", "", "/a.*/", "/a\\/b/", "/a b/", "/(/"])
    return sign + (name(draw, world) + draw.choice([":", ":", ":", ": ", " :", "::"]) if draw.chance(0.35) else "") + what


def clauses(draw, world, depth):
    return "".join(clause(draw, world, depth) + draw.choice([" ", " ", " ", " AND ", " OR ", " && ", " || ", "  ", " AND NOT ", " | ", " + ", "&&", "||", " OR OR ", "\n", ""]) for _ in range(draw.randint(1, 3))).strip(" " if draw.chance(0.9) else "")


def text(draw, world):
    s = clauses(draw, world, draw.choice([0, 1, 1, 2]))
    if s and draw.chance(0.1):
        at = draw.randrange(len(s))
        s = s[:at] + draw.choice(["", "\\", '"', "(", ")", ":", "~", "^", " ", "*", "[", "/"]) + s[at + draw.randint(0, 1):]
    return s


def analyzers():
    return ["standard", "whitespace", "keyword", "my_syn", "english", "stop", "my_ngram", "my_shingle"]


def fields(draw, world):
    one = lambda: draw.choice([world.field(), world.field("text"), world.field("text", "keyword"), "t*", "k*", "*", "*1", "nope", "o.*", "*.raw", "_id"]) + draw.choice(["", "", "", "^2", "^0.5", "^0", "^x", "^-1", "^1^2"])
    return [one() for _ in range(draw.randint(0, 3))]


def query_string(draw, world):
    o = draw.keys(default_operator=(0.2, lambda: draw.choice(["and", "AND", "or", "x"])), lenient=(0.5, lambda: draw.chance(0.9)), analyze_wildcard=(0.15, lambda: True), phrase_slop=(0.1, lambda: draw.choice([1, 3])), minimum_should_match=(0.25, lambda: draw.choice(NUMBERS)), allow_leading_wildcard=(0.05, lambda: False), fuzziness=(0.15, lambda: draw.choice([0, 1, 2, "AUTO", "AUTO:1,3", "AUTO:0,0", "AUTO:3,1", "auto", "1.5", 3, "AUTO:", "AUTO:1", "AUTO:1,x", "-1", 0.5])),
                  fuzzy_prefix_length=(0.07, lambda: 1), fuzzy_max_expansions=(0.07, lambda: 2), fuzzy_transpositions=(0.07, lambda: False), quote_field_suffix=(0.1, lambda: draw.choice([".raw", ".nope", ""])), auto_generate_synonyms_phrase_query=(0.1, lambda: False), analyzer=(0.15, lambda: draw.choice(analyzers())), quote_analyzer=(0.1, lambda: draw.choice(analyzers())), escape=(0.1, lambda: True),
                  enable_position_increments=(0.05, lambda: False), max_determinized_states=(0.03, lambda: draw.choice([1, 100])), rewrite=(0.07, lambda: draw.choice(["constant_score", "scoring_boolean", "top_terms_3", "top_terms_boost_2"])), fuzzy_rewrite=(0.05, lambda: "constant_score"), time_zone=(0.07, lambda: draw.choice(["+08:00", "Europe/Berlin", "x"])), boost=(0.05, lambda: 2))
    kind = draw.random()
    if kind < 0.4:
        o["default_field"] = draw.choice([world.field(), "t1", "*", "t*", "k1", "nope"])
    elif kind < 0.75:
        o["fields"] = fields(draw, world)
        o.update(draw.keys(type=(0.4, lambda: draw.choice(["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"])), tie_breaker=(0.2, lambda: draw.choice([0, 0.3, 1]))))
    return {"query_string": {"query": text(draw, world), **o}}


def simple(draw, world):
    flags = ["ALL", "NONE", "AND", "OR", "NOT", "PREFIX", "PHRASE", "PRECEDENCE", "ESCAPE", "WHITESPACE", "FUZZY", "NEAR", "SLOP"]
    o = draw.keys(fields=(0.6, lambda: fields(draw, world)), default_operator=(0.3, lambda: draw.choice(["and", "OR"])), flags=(0.3, lambda: draw.choice([lambda: "|".join(draw.some(flags, 1, 5)), lambda: draw.randint(-1, 2047), lambda: "x", lambda: "and|phrase"])()), lenient=(0.5, lambda: draw.chance(0.9)),
                  analyze_wildcard=(0.1, lambda: True), minimum_should_match=(0.25, lambda: draw.choice(NUMBERS)), quote_field_suffix=(0.1, lambda: draw.choice([".raw", ".nope"])), analyzer=(0.15, lambda: draw.choice(analyzers())), auto_generate_synonyms_phrase_query=(0.1, lambda: False), fuzzy_prefix_length=(0.1, lambda: 1),
                  fuzzy_max_expansions=(0.1, lambda: 2), fuzzy_transpositions=(0.1, lambda: False), boost=(0.05, lambda: 2))
    return {"simple_query_string": {"query": text(draw, world), **o}}


def match(draw, world):
    kind = draw.choice(["match", "match", "multi_match"])
    o = draw.keys(minimum_should_match=(0.7, lambda: draw.choice(NUMBERS)), operator=(0.2, lambda: "and"), fuzziness=(0.3, lambda: draw.choice([0, 1, 2, "AUTO", "AUTO:1,3", "AUTO:0,0", "AUTO:3,1", "1.5", 3, "AUTO:1"])), analyzer=(0.2, lambda: draw.choice(analyzers())))
    words = " ".join(draw.choice(WORDS[:16]) for _ in range(draw.randint(1, 6)))
    return {"match": {world.field("text"): {"query": words, **o}}} if kind == "match" else {"multi_match": {"query": words, "fields": fields(draw, world), **o}}


def request(draw, world):
    query = draw.choice([query_string, query_string, query_string, simple, simple, match])(draw, world)
    if draw.chance(0.75):
        return "POST", f"/{world.indices[0]}/_validate/query?explain=true{'&rewrite=true&all_shards=true' if draw.chance(0.1) else ''}", {"query": query}
    return "POST", f"/{world.indices[0]}/_search", {"query": query, "_source": False}
