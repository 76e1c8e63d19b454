"""Analysis: analyzers, tokenizers and filters, with their options."""
from world import ANALYZERS, WORDS

TOKENIZERS = ["standard", "whitespace", "letter", "lowercase", "keyword", "ngram", "edge_ngram", "path_hierarchy", "pattern", "classic", "uax_url_email", "ik_smart", "ik_max_word", "thai", {"type": "ngram", "min_gram": 2, "max_gram": 3}, {"type": "pattern", "pattern": ",|-", "group": -1}, {"type": "char_group", "tokenize_on_chars": ["whitespace", "-", "."]},
              {"type": "simple_pattern", "pattern": "[a-z]+"}, {"type": "edge_ngram", "min_gram": 1, "max_gram": 4, "token_chars": ["letter"]}, {"type": "path_hierarchy", "delimiter": "-", "reverse": True}, {"type": "standard", "max_token_length": 3}]
FILTERS = ["lowercase", "uppercase", "asciifolding", "stop", "porter_stem", "kstem", "shingle", "unique", "reverse", "trim", "truncate", "word_delimiter", "word_delimiter_graph", "cjk_bigram", "cjk_width", "elision", "fingerprint", "ngram", "edge_ngram", "apostrophe", "decimal_digit", "keyword_repeat", "remove_duplicates", "classic", "limit", "length", "snowball",
           {"type": "stop", "stopwords": "_french_"}, {"type": "shingle", "min_shingle_size": 2, "max_shingle_size": 3, "output_unigrams": False}, {"type": "synonym", "synonyms": ["red, crimson", "fox => dog hen"]}, {"type": "synonym_graph", "synonyms": ["quick brown, fast", "wi fi => wifi"]}, {"type": "stemmer", "language": "german"}, {"type": "length", "min": 2, "max": 4},
           {"type": "edge_ngram", "min_gram": 1, "max_gram": 3, "preserve_original": True}, {"type": "pattern_replace", "pattern": "[aeiou]", "replacement": "_"}, {"type": "pattern_capture", "patterns": ["([a-z])(\\d)"]}, {"type": "keep", "keep_words": ["red", "fox"]}, {"type": "keyword_marker", "keywords": ["running"]}, {"type": "limit", "max_token_count": 2},
           {"type": "common_grams", "common_words": ["the", "a"]}, {"type": "keep_types", "types": ["<NUM>"]}, {"type": "truncate", "length": 2}, {"type": "multiplexer", "filters": ["lowercase", "reverse"]}, {"type": "condition", "filter": ["lowercase"], "script": {"source": "token.term.length() > 2"}}, {"type": "stemmer_override", "rules": ["running => run"]}, {"type": "word_delimiter_graph", "catenate_all": True, "preserve_original": True}]
CHARS = ["html_strip", {"type": "mapping", "mappings": ["ü => ue", "a => "]}, {"type": "pattern_replace", "pattern": "(\\d)", "replacement": "<$1>"}]
MORE = ["Wi-Fi 4G-Router XL500", "a-b.c_d@e.com http://x.y/z?q=1", "<b>bold</b> &amp; &lt;x&gt;", "l'avion n'est", "ＡＢＣ １２３", "かな カナ 漢字", "ภาษาไทย", "İstanbul ŞIŞ", "1,234.5 3.14", "😀 fox👍", "don''t \t\n tab", ""]


def request(draw, world):
    text = draw.choice([world.text(6), world.text(2), draw.choice(MORE), [world.text(2), draw.choice(MORE)], " ".join(draw.choice(WORDS) for _ in range(9))])
    kind, body = draw.random(), {"text": text}
    if kind < 0.25:
        body["analyzer"] = draw.choice(ANALYZERS + ["pattern", "fingerprint", "german", "french", "cjk", "russian", "arabic", "thai", "brazilian", "my_none"])
    elif kind < 0.35:
        body["field"] = world.field()
    elif kind < 0.42:
        body["normalizer"] = draw.choice(["my_lower", "lowercase"])
    else:
        body.update(draw.keys(tokenizer=(0.9, lambda: draw.choice(TOKENIZERS)), filter=(0.9, lambda: [draw.choice(FILTERS) for _ in range(draw.randint(1, 3))]), char_filter=(0.3, lambda: [draw.choice(CHARS)])))
    body.update(draw.keys(explain=(0.2, lambda: True), attributes=(0.05, lambda: ["keyword"])))
    return draw.choice(["GET", "POST"]), draw.choice([f"/{world.indices[0]}/_analyze", f"/{world.indices[0]}/_analyze", "/_analyze" if "field" not in body else f"/{world.indices[0]}/_analyze"]), body
