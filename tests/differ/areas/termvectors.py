"""Term vectors, of documents that are there and of others. Bodies are never spoilt: an array in an object's place keeps a
thread of Elasticsearch busy for ever."""
from areas.gets import tail

UNSPOILT = True  # run.py


def fields(draw, world):
    return [draw.choice([world.field("text"), world.field("text", "keyword"), "t*", "*", "k1", "nope", "n1", "o.*", "ne.*", "_routing"]) for _ in range(draw.randint(1, 2))]


def filtered(draw):
    return draw.keys(max_num_terms=(0.4, lambda: draw.choice([1, 2, 50])), min_term_freq=(0.3, lambda: draw.choice([1, 2])), max_term_freq=(0.1, lambda: 1), min_doc_freq=(0.3, lambda: draw.choice([0, 1, 2])), max_doc_freq=(0.2, lambda: draw.choice([1, 3])), min_word_length=(0.2, lambda: 3), max_word_length=(0.2, lambda: 4), foo=(0.03, lambda: 1))


def shown(draw, world, url):
    flag = lambda: draw.choice(["true", "false"]) if url else draw.choice([True, False])
    return draw.keys(fields=(0.7, lambda: ",".join(fields(draw, world)) if url else fields(draw, world)), offsets=(0.2, flag), positions=(0.2, flag), payloads=(0.1, flag), term_statistics=(0.5, flag), field_statistics=(0.2, flag), version=(0.06, lambda: draw.choice([1, 2, 9])), version_type=(0.04, lambda: draw.choice(["external", "internal", "x"])),
                     routing=(0.05, lambda: draw.choice(["a", "b"])), **({} if url else {"per_field_analyzer": (0.15, lambda: {world.field("text"): draw.choice(["keyword", "simple", "whitespace", "nope"])}), "zork": (0.02, lambda: 1), "dfs": (0.02, lambda: True)}))


def item(draw, world):
    # A filter looks at terms that the index lacks by where Lucene's reader stands: documents that are not indexed have none.
    if draw.chance(0.3):
        return {"doc": world.document(), **shown(draw, world, False), "routing": draw.choice(["a", "b"])}
    return {"_id": world.any_id(), **shown(draw, world, False), **draw.keys(filter=(0.3, lambda: filtered(draw)))}


def single(draw, world):
    path = f"/{draw.choice([world.indices[0], world.indices[0], world.indices[-1], 'nope' if draw.chance(0.2) else world.indices[0]])}/_termvectors"
    if draw.chance(0.4):
        return draw.choice(["GET", "POST"]), f"{path}/{world.any_id()}{tail({**shown(draw, world, True), **draw.keys(realtime=(0.2, lambda: draw.choice(['true', 'false'])), preference=(0.1, lambda: '_local'), foo=(0.02, lambda: 1))})}", None
    body = item(draw, world)  # a document without a routing (that of the URL) is of any shard
    return draw.choice(["GET", "POST"]), path + ("?routing=" + body["routing"] if "doc" in body else ""), body


def multi(draw, world):
    body = draw.choice([{"docs": [item(draw, world) for _ in range(draw.randint(0, 3))]}, {"ids": [world.any_id() for _ in range(draw.randint(0, 3))], "parameters": shown(draw, world, False)}])
    return draw.choice(["GET", "POST"]), f"{draw.choice(['/' + world.indices[0], '/' + world.indices[0], ''])}/_mtermvectors", body


def request(draw, world):
    if draw.chance(0.12):
        return world.change()
    return draw.choice([single, single, multi])(draw, world)
