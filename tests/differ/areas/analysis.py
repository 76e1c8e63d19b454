"""Analysis: analyzers, tokenizers and filters with all their options, inline and in the settings of an index."""
from world import ANALYZERS, WORDS

# What each part takes, with some values; the last ones of a list may be wrong.
GRAMS = {"min_gram": [1, 2, 3, 0, "x"], "max_gram": [2, 3, 1, 300, -1]}
TOKEN_CHARS = {"token_chars": [["letter"], ["letter", "digit"], ["whitespace", "punctuation"], "letter", ["symbol"], [], ["custom"], ["x"]], "custom_token_chars": ["+-_", "é"]}
WORDLIST = [["red", "fox"], ["the", "a", "of"], "_english_", "_none_", [], "red,fox", ["Red"], "_french_", "_x_", 5]
PATTERNS = ["\\W+", ",|-", "(\\d+)", "[aeiou]", "\\s", "(?i)FOX", "", ".", "(a)(b)?", "\\p{L}+", "[", "*", "(?<n>x)", "\\b", "o{2}"]
FLAGS = ["CASE_INSENSITIVE", "CASE_INSENSITIVE|COMMENTS", "DOTALL", "", "LITERAL", "X"]
LANGUAGES = ["English", "German", "French", "german2", "Porter", "Lovins", "Kp", "Dutch", "Russian", "Italian", "Spanish", "Turkish", "english", "Klingon"]
STEMMERS = ["english", "light_english", "minimal_english", "possessive_english", "porter2", "lovins", "german", "light_german", "minimal_german", "german2", "french", "light_french", "minimal_french", "russian", "light_russian", "spanish", "light_spanish", "italian", "light_italian", "portuguese", "light_portuguese", "minimal_portuguese", "dutch", "dutch_kp", "swedish", "light_swedish", "norwegian", "light_norwegian", "minimal_norwegian", "finnish", "light_finnish",
            "danish", "hungarian", "light_hungarian", "turkish", "romanian", "czech", "greek", "bulgarian", "catalan", "basque", "hindi", "indonesian", "latvian", "arabic", "armenian", "irish", "galician", "minimal_galician", "sorani", "bengali", "brazilian", "estonian", "lithuanian", "klingon"]
BOOLS = [True, False, "true", "false", "x"]
DELIMITING = {n: BOOLS for n in ("generate_word_parts", "generate_number_parts", "catenate_words", "catenate_numbers", "catenate_all", "split_on_case_change", "preserve_original", "split_on_numerics", "stem_english_possessive", "adjust_offsets", "ignore_keywords")}
DELIMITING.update({"protected_words": [["wi-fi"], ["XL500"], "wi-fi"], "type_table": [["- => ALPHA"], ["$ => DIGIT", "- => ALPHANUM"], ["x => Y"], ["a"]]})
SYNONYMS = {"synonyms": [["red, crimson", "fox => dog hen"], ["quick brown, fast"], ["wi fi => wifi"], ["a, b => c"], ["s(100000001,1,'red',v,1,0).", "s(100000001,2,'blue',v,1,0)."], ["=> x"], ["a => b => c"], [], ["red"], ["fox, fox"], "red,blue", ["\\=> , x"], ["the, of"]], "expand": BOOLS, "lenient": BOOLS, "format": ["solr", "wordnet", "x"], "updateable": [True], "tokenizer": ["whitespace", "keyword", "nope"]}

TOKENIZERS = {"standard": {"max_token_length": [3, 255, 1, 0, -1, "x"]}, "whitespace": {"max_token_length": [3, 1]}, "letter": {}, "lowercase": {}, "keyword": {"buffer_size": [256, 1, 0]}, "classic": {"max_token_length": [3, 1]}, "uax_url_email": {"max_token_length": [4, 20]}, "thai": {},
              "ngram": {**GRAMS, **TOKEN_CHARS}, "edge_ngram": {**GRAMS, **TOKEN_CHARS}, "pattern": {"pattern": PATTERNS, "flags": FLAGS, "group": [-1, 0, 1, 2, 5]}, "simple_pattern": {"pattern": ["[a-z]+", "[0-9]{2}", "fox|dog", "", "(", "~x"]}, "simple_pattern_split": {"pattern": ["[ ,]", "-", "o+", ""]},
              "char_group": {"tokenize_on_chars": [["whitespace"], ["-", "."], ["letter"], ["digit", "punctuation"], ["symbol", "\\n"], [], "whitespace", ["ab"], ["\\t"]], "max_token_length": [3, 1]}, "path_hierarchy": {"delimiter": ["/", "-", " ", "ab", ""], "replacement": ["|", "/", ""], "reverse": BOOLS, "skip": [1, 2, 0, -1], "buffer_size": [1024, 1]}, "nope": {}}
FILTERS = {"lowercase": {"language": ["greek", "turkish", "irish", "x"]}, "uppercase": {}, "asciifolding": {"preserve_original": BOOLS}, "stop": {"stopwords": WORDLIST, "ignore_case": BOOLS, "remove_trailing": BOOLS}, "porter_stem": {}, "kstem": {}, "snowball": {"language": LANGUAGES}, "stemmer": {"language": STEMMERS, "name": STEMMERS},
           "shingle": {"min_shingle_size": [2, 3, 1], "max_shingle_size": [2, 3, 4, 9], "output_unigrams": BOOLS, "output_unigrams_if_no_shingles": BOOLS, "token_separator": ["", "_", " "], "filler_token": ["", "_", "xx"]}, "unique": {"only_on_same_position": BOOLS}, "reverse": {}, "trim": {}, "truncate": {"length": [2, 5, 0, -1, "x"]},
           "word_delimiter": DELIMITING, "word_delimiter_graph": DELIMITING, "cjk_bigram": {"ignored_scripts": [["han"], ["hiragana", "katakana"], ["hangul"], "han", ["x"]], "output_unigrams": BOOLS}, "cjk_width": {}, "elision": {"articles": [["l", "d"], "l", []], "articles_case": BOOLS}, "fingerprint": {"max_output_size": [5, 100, 0], "separator": ["+", "", "ab"]},
           "ngram": {**GRAMS, "preserve_original": BOOLS}, "edge_ngram": {**GRAMS, "preserve_original": BOOLS, "side": ["front", "back", "x"]}, "apostrophe": {}, "decimal_digit": {}, "keyword_repeat": {}, "remove_duplicates": {}, "classic": {}, "limit": {"max_token_count": [2, 1, 0, -1], "consume_all_tokens": BOOLS}, "length": {"min": [2, 0, 5], "max": [4, 1, 10, -1]},
           "synonym": SYNONYMS, "synonym_graph": SYNONYMS, "flatten_graph": {}, "pattern_replace": {"pattern": PATTERNS, "replacement": ["_", "", "$1", "$2", "\\$", "${n}", "$"], "all": BOOLS, "flags": FLAGS}, "pattern_capture": {"patterns": [["([a-z])(\\d)"], "(\\w)-(\\w)", ["([a-z]+)", "(o)"], []], "preserve_original": BOOLS},
           "keep": {"keep_words": WORDLIST[:6], "keep_words_case": BOOLS}, "keep_types": {"types": [["<NUM>"], ["<ALPHANUM>", "word"], [], "<NUM>"], "mode": ["include", "exclude", "x"]}, "keyword_marker": {"keywords": [["running"], ["Hotels", "fox"]], "keywords_pattern": ["run.*", "["], "ignore_case": BOOLS}, "common_grams": {"common_words": WORDLIST[:3], "ignore_case": BOOLS, "query_mode": BOOLS},
           "multiplexer": {"filters": [["lowercase", "reverse"], ["uppercase"], ["lowercase, porter_stem"], [], "reverse", ["nope"], ["ngram"]], "preserve_original": BOOLS}, "stemmer_override": {"rules": [["running => run"], ["a, b => c"], ["x"], []]}, "delimited_payload": {"delimiter": ["|", "-", "+", "ab"], "encoding": ["float", "int", "identity", "x"]},
           "arabic_normalization": {}, "german_normalization": {}, "hindi_normalization": {}, "indic_normalization": {}, "persian_normalization": {}, "scandinavian_folding": {}, "scandinavian_normalization": {}, "serbian_normalization": {}, "sorani_normalization": {}, "bengali_normalization": {}, "german_stem": {}, "french_stem": {}, "dutch_stem": {}, "czech_stem": {}, "russian_stem": {}, "brazilian_stem": {}, "arabic_stem": {},
           "min_hash": {"hash_count": [1]}, "condition": {"filter": [["lowercase"]], "script": [{"source": "token.term.length() > 2"}]}, "nope": {}}
CHARS = {"html_strip": {"escaped_tags": [["b"], "b", []]}, "mapping": {"mappings": [["ü => ue", "a => "], ["- => _"], ["\\u0041 => b"], ["x"], ["a=>b", "a=>c"], [], ["fox => f", "fo => g"]]}, "pattern_replace": {"pattern": PATTERNS, "replacement": ["<$1>", "", "_", "$9"], "flags": FLAGS}, "nope": {}}
LANGUAGE = {"stopwords": WORDLIST, "stem_exclusion": [["running"], ["Hotels"], "fox"]}
BUILT_IN = {"standard": {"stopwords": WORDLIST, "max_token_length": [3, 1]}, "simple": {}, "whitespace": {}, "stop": {"stopwords": WORDLIST}, "keyword": {}, "pattern": {"pattern": PATTERNS, "flags": FLAGS, "lowercase": BOOLS, "stopwords": WORDLIST}, "fingerprint": {"separator": ["+", " "], "max_output_size": [5, 255], "stopwords": WORDLIST}, "snowball": {"language": LANGUAGES, "stopwords": WORDLIST},
            **{n: LANGUAGE for n in ("english", "german", "french", "russian", "spanish", "italian", "portuguese", "dutch", "swedish", "norwegian", "danish", "finnish", "cjk", "hungarian", "turkish", "czech", "greek")}}
MORE = ["Wi-Fi 4G-Router XL500", "a-b.c_d@e.com http://x.y/z?q=1", "<b>bold</b> &amp; &lt;x&gt;", "l'avion n'est", "ＡＢＣ １２３", "かな カナ 漢字", "ภาษาไทย", "İstanbul ŞIŞ", "1,234.5 3.14", "😀 fox👍", "don''t \t\n tab", "", " ", "-", "/a/b//c/", "a|1.5 b|2 c|x", "Häuser läuft die Straße", "les chevaux étaient", "the the red red", "PowerShot's 500-42", "한국어 텍스트", "привет мирами", "fox fox-fox fo", "<p class='x'>a</p><!-- c --><br/>b &#65;&nbsp;&bogus;", "a" * 300, "é e\u0301", "I.B.M. AT&T a.b", "x\u0000y", "٣٤ १२"]
ATTRIBUTES = [["keyword"], ["positionLength", "bytes"], "keyword", [], ["nope"], ["type", "termFrequency"]]


def part(draw, table):
    """A part by its name, or with a definition of its own."""
    name = draw.choice(sorted(table))
    if draw.chance(0.35) and name != "nope":
        return name
    options = table[name]
    chosen = draw.some(sorted(options), 0, min(3, len(options))) if options else []
    return {"type": name, **{n: options[n][0] if draw.chance(0.25) else draw.choice(options[n]) for n in chosen}}


def chain(draw):
    """The parts of an analyzer: what _analyze takes, and custom analyzers."""
    return draw.keys(tokenizer=(0.92, lambda: part(draw, TOKENIZERS)), filter=(0.85, lambda: [part(draw, FILTERS) for _ in range(draw.choice([1, 1, 1, 2, 3]))]), char_filter=(0.25, lambda: [part(draw, CHARS) for _ in range(draw.choice([1, 1, 2]))]))


def settings(draw):
    """Analysis in the settings of an index: parts with names, analyzers and normalizers of them."""
    named = lambda table, name: {name: p if isinstance(p := part(draw, table), dict) else {"type": p}}
    analyzer = lambda: draw.choice([lambda: {"type": "custom", **draw.keys(tokenizer=(0.95, lambda: draw.choice(["tk", "standard", "whitespace", "keyword"])), filter=(0.8, lambda: draw.choice([["lowercase", "fi"], ["fi"], ["fi", "lowercase"], "fi"])), char_filter=(0.3, lambda: ["ch"]), position_increment_gap=(0.05, lambda: draw.choice([1, -1])))},
                                    lambda: {k: v for k, v in named(BUILT_IN, "a")["a"].items()}])()
    normalizer = lambda: {"type": "custom", **draw.keys(filter=(0.9, lambda: draw.choice([["lowercase"], ["asciifolding", "uppercase"], ["fi"], [draw.choice(sorted(FILTERS))]])), char_filter=(0.3, lambda: ["ch"]), tokenizer=(0.03, lambda: "standard"))}
    return {"tokenizer": named(TOKENIZERS, "tk"), "filter": named(FILTERS, "fi"), "char_filter": named(CHARS, "ch"), "analyzer": {"an": analyzer(), **draw.keys(default=(0.05, analyzer))}, **draw.keys(normalizer=(0.4, lambda: {"no": normalizer()}))}


def words(draw, world):
    text = draw.choice([world.text(6), world.text(2), draw.choice(MORE), draw.choice(MORE), [world.text(2), draw.choice(MORE)], " ".join(draw.choice(WORDS) for _ in range(9))])
    return text if draw.chance(0.98) else draw.choice([5, None, [], [1, "a"], {"a": 1}])


def request(draw, world):
    own, kind = world.prefix + "an", draw.random()
    if kind < 0.09:
        return "DELETE", f"/{own}?ignore_unavailable=true", None
    if kind < 0.2:
        return "PUT", f"/{own}", {"settings": {"number_of_replicas": 0, "max_ngram_diff": 5, "max_shingle_diff": 5, "analysis": settings(draw)}, "mappings": {"properties": {"t": {"type": "text", "analyzer": "an"}}}}
    if kind < 0.35:
        return "POST", f"/{own}/_analyze", {"text": words(draw, world), **draw.choice([{"analyzer": "an"}, {"analyzer": "an"}, {"field": "t"}, {"normalizer": "no"}, {"tokenizer": "tk", "filter": ["fi"]}, {"filter": ["fi"]}, {"tokenizer": "keyword", "char_filter": ["ch"]}, {}]), **draw.keys(explain=(0.3, lambda: True), attributes=(0.05, lambda: draw.choice(ATTRIBUTES)))}
    body = {"text": words(draw, world)}
    if kind < 0.5:
        body["analyzer"] = draw.choice(ANALYZERS + sorted(BUILT_IN) + ["arabic", "my_none"])
    elif kind < 0.55:
        body["field"] = world.field()
    elif kind < 0.58:
        body["normalizer"] = draw.choice(["my_lower", "lowercase"])
    else:
        body.update(chain(draw))
    body.update(draw.keys(explain=(0.25, lambda: True), attributes=(0.06, lambda: draw.choice(ATTRIBUTES))))
    index = f"/{world.indices[0]}/_analyze"
    return draw.choice(["GET", "POST"]), index if "field" in body else draw.choice([index, index, "/_analyze"]), body
