"""Suggestions: terms, phrases, completions."""
from world import WORDS

KINDS = ["completion", "text"]
BEGINNINGS = ["r", "re", "Red", "f", "", "上", "如家", "the q", "wi", "check-", "ü", "zz"]
MISSPELT = ["rad", "fxo", "hotle", "chep", "runing", "quikc brwon", "red fxo", "hotels chaep", "the", "上海外", "dgo runs"]


def term(draw, world):
    return {"term": {"field": world.field("text", "keyword"), **draw.keys(
        size=(0.3, lambda: draw.choice([1, 3, 10])), sort=(0.3, lambda: draw.choice(["score", "frequency"])), suggest_mode=(0.6, lambda: draw.choice(["missing", "popular", "always"])), max_edits=(0.2, lambda: draw.choice([1, 2])), prefix_length=(0.3, lambda: draw.choice([0, 1, 2])),
        min_word_length=(0.3, lambda: draw.choice([1, 2, 3])), string_distance=(0.3, lambda: draw.choice(["internal", "damerau_levenshtein", "levenshtein", "jaro_winkler", "ngram"])), analyzer=(0.1, lambda: "whitespace"), max_term_freq=(0.1, lambda: draw.choice([0.5, 2])), min_doc_freq=(0.1, lambda: draw.choice([0, 1, 0.1])),
        max_inspections=(0.05, lambda: 2), shard_size=(0.05, lambda: 5))}}


def phrase(draw, world):
    generator = lambda: {"field": world.field("text"), **draw.keys(suggest_mode=(0.6, lambda: draw.choice(["missing", "popular", "always"])), min_word_length=(0.5, lambda: draw.choice([1, 3])), prefix_length=(0.3, lambda: 0), size=(0.2, lambda: 2))}
    smoothing = [{"stupid_backoff": {"discount": 0.4}}, {"laplace": {"alpha": 0.5}}, {"linear": {"trigram_lambda": 0.5, "bigram_lambda": 0.3, "unigram_lambda": 0.2}}]
    return {"phrase": {"field": world.field("text"), **draw.keys(
        size=(0.3, lambda: 3), max_errors=(0.4, lambda: draw.choice([0.5, 1, 2, 3])), confidence=(0.5, lambda: draw.choice([0, 0.5, 1, 2])), real_word_error_likelihood=(0.2, lambda: 0.8), separator=(0.05, lambda: "+"), gram_size=(0.3, lambda: draw.choice([1, 2, 3])), direct_generator=(0.6, lambda: [generator() for _ in range(draw.randint(1, 2))]),
        highlight=(0.3, lambda: {"pre_tag": "<em>", "post_tag": "</em>"}), smoothing=(0.3, lambda: draw.choice(smoothing)), token_limit=(0.05, lambda: 2), force_unigrams=(0.1, lambda: False), collate=(0.05, lambda: {"query": {"source": {"match": {"t1": "{{suggestion}}"}}}, "prune": True}))}}


def completion(draw, world):
    fuzzy = lambda: draw.choice([True, {"fuzziness": draw.choice([0, 1, 2, "AUTO"])}, {"min_length": 1, "prefix_length": 0}, {"unicode_aware": True, "transpositions": False}])
    return {"completion": {"field": world.field("completion"), **draw.keys(size=(0.4, lambda: draw.choice([1, 3, 20])), skip_duplicates=(0.3, lambda: True), fuzzy=(0.35, fuzzy))}}


def suggestion(draw, world):
    kind = draw.random()
    if kind < 0.4:
        c = completion(draw, world)
        if draw.chance(0.15):
            c["completion"].pop("fuzzy", None)
            return {"regex": draw.choice(["r.*", "(re|fo).*", "[a-f].", "上.*"]), **c}
        return {draw.choice(["prefix", "prefix", "text"]): draw.choice(BEGINNINGS), **c}
    text = draw.choice([draw.choice(MISSPELT), world.text(3), draw.choice(WORDS)])
    return {"text": text, **(term if kind < 0.7 else phrase)(draw, world)}


def request(draw, world):
    body = {"suggest": {n: suggestion(draw, world) for n in ["s", "s2"][:draw.choice([1, 1, 1, 2])]}, **draw.keys(_source=(0.6, lambda: False), size=(0.4, lambda: 0))}
    if draw.chance(0.1):
        body["suggest"]["text"] = world.text(2)
    return "POST", f"/{world.index()}/_search{draw.choice(['', '', '', '?typed_keys=true'])}", body
