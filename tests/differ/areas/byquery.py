"""Many documents at once by a query: updated, deleted, copied, and what stands there afterwards."""
from areas.queries import query
from world import TERMS

SCRIPTS = ["ctx._source.n1 = 5", "ctx.op = 'delete'", "ctx.op = 'noop'", "ctx.op = 'none'", "ctx._source.remove('t1')", "ctx._source.k1 = params.k", "ctx._source.x.y = 1", "if (ctx._source.k1 == 'red') { ctx.op = 'noop' } else { ctx._source.n1 = 1 }",
           "ctx._id = 'other'", "ctx._version = 7", "ctx._routing = 'a'", "ctx._index = 'x'", "ctx._source = ['k1': 'new']", "ctx.foo = 1", "ctx._source.d1 = 'not a date'", "ctx._source.k2 = ctx._id + ctx._index", "ctx._source.clear()"]


# Indices that a write makes are refreshed when somebody asks for it, not by the clock.
PREPARE = (lambda prefix: ("PUT", f"/_template/{prefix}r", {"index_patterns": [prefix + "*"], "order": -1, "settings": {"refresh_interval": "-1"}}),)
CLEANUP = ("_template/{}r",)


def parameters(draw, delete=False):
    chosen = draw.keys(refresh=(0.75, lambda: draw.choice(["", "true", "true", "false"])), conflicts=(0.4, lambda: draw.choice(["proceed", "proceed", "abort", "foo" if draw.chance(0.1) else "proceed"])), max_docs=(0.15, lambda: draw.choice([1, 2, 100, 0, -1, "x"])), scroll_size=(0.15, lambda: draw.choice([1, 2, 1000, 0])),
                       slices=(0.1, lambda: draw.choice([1, 2, "auto", 0])), requests_per_second=(0.05, lambda: draw.choice([-1, 100000, 0])), routing=(0.05, lambda: "a"), q=(0.06, lambda: "k1:red"), size=(0.04, lambda: 2), sort=(0.03, lambda: "n1:asc"), scroll=(0.04, lambda: "1m"), pipeline=(0.02, lambda: "nope"),
                       wait_for_active_shards=(0.04, lambda: draw.choice([1, "all", 9, "x"])), timeout=(0.03, lambda: "30s"), terminate_after=(0.03, lambda: 1), _source=(0.03, lambda: "k1"), preference=(0.03, lambda: "_local"), version=(0.03, lambda: "true"))
    return "?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""


def script(draw):
    return draw.choice([draw.choice(SCRIPTS), {"source": draw.choice(SCRIPTS), "params": {"k": draw.choice(TERMS)}}, {"source": draw.choice(SCRIPTS), "lang": draw.choice(["painless", "painless", "expression", "mustache", "foo"]), "params": {"k": "new"}}])


def by_query(draw, world, kind):
    body = draw.keys(query=(0.9 if kind == "_delete_by_query" else 0.75, lambda: query(draw, world, draw.choice([0, 0, 1]))), max_docs=(0.08, lambda: draw.choice([1, 3, 50])), conflicts=(0.08, lambda: "proceed"), slice=(0.06, lambda: {"id": draw.randint(0, 1), "max": 2}), size=(0.04, lambda: 3),
                     sort=(0.04, lambda: [{"n1": "asc"}]), _source=(0.03, lambda: ["k1"]))
    if kind == "_update_by_query":
        body.update(draw.keys(script=(0.7, lambda: script(draw))))
    return "POST", f"/{world.index()}/{kind}{parameters(draw)}", body if body or kind == "_delete_by_query" or draw.chance(0.5) else None


def reindex(draw, world):
    name = world.prefix + "dest"
    source = {"index": draw.choice([world.indices[0], world.indices, "nope" if draw.chance(0.15) else world.indices[0]]), **draw.keys(query=(0.5, lambda: query(draw, world, 0)), size=(0.15, lambda: draw.choice([1, 2, 100, 0])), _source=(0.15, lambda: draw.choice([["k1", "n1"], "t*", True, {"excludes": ["k1"]}])),
              sort=(0.06, lambda: [{"n1": "desc"}]), slice=(0.05, lambda: {"id": 0, "max": 2}), remote=(0.02, lambda: {"host": "http://127.0.0.1:1"}))}
    dest = {"index": draw.choice([name, name, name, name, world.indices[0]]), **draw.keys(op_type=(0.25, lambda: draw.choice(["create", "index"])), version_type=(0.25, lambda: draw.choice(["internal", "external", "external_gte"])), routing=(0.1, lambda: draw.choice(["keep", "discard", "=cat", "x"])), pipeline=(0.02, lambda: "nope"))}
    body = {"source": source, "dest": dest, **draw.keys(script=(0.35, lambda: script(draw)), max_docs=(0.15, lambda: draw.choice([1, 2, 100])), conflicts=(0.4, lambda: "proceed"), size=(0.04, lambda: 2))}
    chosen = draw.keys(refresh=(0.8, lambda: draw.choice(["", "true"])), slices=(0.08, lambda: draw.choice([1, 2, "auto"])), max_docs=(0.06, lambda: draw.choice([1, 3])), requests_per_second=(0.04, lambda: -1), scroll=(0.04, lambda: "1m"), timeout=(0.03, lambda: "10s"), require_alias=(0.04, lambda: "true"))
    return "POST", "/_reindex" + ("?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""), body


def request(draw, world):
    kind = draw.random()
    if kind < 0.3:
        where = draw.choice([world.index(), world.prefix + "*", world.prefix + "dest"])
        return "POST", f"/{where}/_search?ignore_unavailable=true", {"size": 60, "sort": ["_index", "_id"], "version": True, "seq_no_primary_term": draw.chance(0.7)}
    if kind < 0.5:
        return by_query(draw, world, "_update_by_query")
    if kind < 0.65:
        return by_query(draw, world, "_delete_by_query")
    return reindex(draw, world)
