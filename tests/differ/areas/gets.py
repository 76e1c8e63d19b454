"""Documents read by their ids, one and many, with every parameter of that."""


def reading(draw, world, **more):
    fields = lambda: ",".join(draw.choice([world.field(), world.field(), "_source", "_routing", "t*", "_none_"]) for _ in range(draw.randint(1, 2)))
    return draw.keys(_source=(0.2, lambda: draw.choice(["false", "true", "n1,k1", "t*", "ne.k", "o", ""])), stored_fields=(0.2, fields), realtime=(0.2, lambda: draw.choice(["false", "true", "x"])), refresh=(0.1, lambda: draw.choice(["true", ""])), _source_excludes=(0.1, lambda: draw.choice(["t*", "ne.k,k1"])),
                     _source_includes=(0.1, lambda: draw.choice(["t*", "o.k", "*1"])), routing=(0.1, lambda: draw.choice(["a", "b"])), preference=(0.08, lambda: draw.choice(["_local", "abc", "_primary", "_shards:0"])), **more)


def tail(chosen):
    return "?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""


def get(draw, world):
    i, id_ = draw.choice([world.indices[0], world.indices[-1], "nope" if draw.chance(0.1) else world.indices[0]]), world.any_id()
    more = {"version": (0.12, lambda: draw.choice([1, 2, 3, 0, -1, "x"])), "version_type": (0.12, lambda: draw.choice(["internal", "external", "external_gte", "force"])), "foo": (0.02, lambda: 1)}
    kind = draw.choice(["_doc", "_doc", "_doc", "_source"])
    return draw.choice(["GET", "GET", "GET", "HEAD"]), f"/{i}/{kind}/{id_}{tail(reading(draw, world, **more))}", None


def item(draw, world):
    source = lambda: draw.choice([False, True, ["n1", "o"], "t*", {"include": ["k*"]}, {"includes": ["k*", "ne"], "excludes": ["ne.k"]}, {"exclude": "t1"}, [], ""])
    one = {"_id": world.any_id(), **draw.keys(_index=(0.3, lambda: draw.choice([world.indices[-1], world.indices[0], "nope"])), _source=(0.25, source), stored_fields=(0.15, lambda: draw.choice([world.field(), [world.field(), "_source"], "_none_"])), routing=(0.1, lambda: draw.choice(["a", 1])), version=(0.08, lambda: draw.choice([1, 2, 9])),
           version_type=(0.06, lambda: draw.choice(["external", "internal", "external_gte"])), _type=(0.04, lambda: draw.choice(["_doc", None])))}
    return one if draw.chance(0.97) else draw.choice([{}, {"_index": "x"}, [], "1", 1, {**one, "foo": 1}])


def mget(draw, world):
    body = draw.choice([{"ids": [draw.choice([world.any_id(), 1]) for _ in range(draw.randint(0, 3))]}, {"docs": [item(draw, world) for _ in range(draw.randint(0, 4))]}, {"docs": [item(draw, world) for _ in range(draw.randint(1, 4))]}])
    return draw.choice(["GET", "POST"]), f"{draw.choice(['/' + world.indices[0], '/' + world.indices[0], '/' + world.indices[0] + '/_doc', ''])}/_mget{tail(reading(draw, world))}", body


def request(draw, world):
    if draw.chance(0.12):
        return draw.choice([world.change, lambda: ("PUT", f"/{world.indices[0]}/_doc/{world.new_id()}?routing={draw.choice(['a', 'b'])}", world.document()), lambda: ("PUT", f"/{world.indices[0]}/_doc/{world.any_id()}?version={draw.randint(1, 9)}&version_type=external", world.document())])()
    return draw.choice([get, get, mget])(draw, world)
