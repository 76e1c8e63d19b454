"""Tables of `_cat`, with columns, orders, units and formats; columns whose values no two runs share are left out."""
TABLES = {"indices": "health status index pri rep docs.count i idx h s p r dc".split(), "count": "epoch timestamp count c t".split()[2:], "aliases": "alias index filter routing.index routing.search is_write_index a i f fi ri rs w".split(), "shards": "index shard prirep state docs i s p st d unassigned.reason".split(),
          "templates": "name index_patterns order version composed_of n t o v c".split(), "segments": "index shard prirep segment docs.count i s p seg committed searchable".split()[:6], "recovery": "index shard type stage i s ty st".split(), "health": "node.total nt".split(),
          "thread_pool": "name type n t".split(), "repositories": "id type".split()}
CLEANUP = ("_template/{}*", "_index_template/{}*")


def parameters(draw, world, table):
    columns = lambda: ",".join(draw.choice(TABLES[table] * 9 + (["nope", "sh*", "doc*.c*"] if table != "health" else ["nope"])) for _ in range(draw.randint(1, 5)))
    chosen = draw.keys(h=(1, columns), s=(0.4, lambda: ",".join(draw.choice(TABLES[table]) + draw.choice(["", "", ":desc", ":asc", ":x"]) for _ in range(draw.randint(1, 2)))), v=(0.4, lambda: draw.choice(["", "true", "false"])), format=(0.3, lambda: draw.choice(["json", "json", "text", "yaml", "x"])),
                       bytes=(0.08, lambda: draw.choice(["b", "kb", "x"])), time=(0.05, lambda: draw.choice(["ms", "s", "x"])), size=(0.03, lambda: draw.choice(["k", ""])), foo=(0.01, lambda: 1))
    if table == "indices":
        chosen.update(draw.keys(health=(0.1, lambda: draw.choice(["green", "yellow", "red", "x"])), pri=(0.06, lambda: "true"), expand_wildcards=(0.1, lambda: draw.choice(["all", "closed", "open", "none", "hidden"]))))
    return "?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""


def request(draw, world):
    p, kind = world.prefix, draw.random()
    if kind < 0.15:
        body = {"actions": [{"add": {"index": draw.choice(world.indices), "alias": p + draw.choice("xyz"), **draw.keys(routing=(0.3, lambda: "1"), filter=(0.3, lambda: {"term": {"k1": "red"}}), is_write_index=(0.3, lambda: draw.choice([True, False])))}}]}
        return draw.choice([("POST", "/_aliases", body), ("PUT", f"/_template/{p}m", {"index_patterns": [p + "m*", "x"], "order": draw.randint(0, 3), **draw.keys(version=(0.5, lambda: 7))}), ("PUT", f"/_index_template/{p}n", {"index_patterns": [p + "n*"], **draw.keys(priority=(0.5, lambda: 5), version=(0.5, lambda: 7))}),
                            ("POST", f"/{draw.choice(world.indices)}/{draw.choice(['_close', '_open', '_open'])}?wait_for_active_shards=1", None)])
    if kind < 0.19:
        return "GET", f"/_cat/{draw.choice(sorted(TABLES) + ['', 'nodes', 'master', 'allocation', 'nodeattrs', 'tasks'])}?help", None
    table = draw.choice(sorted(TABLES) + ["indices", "indices", "count", "aliases", "shards", "shards", "templates"])
    names = {"indices": p, "count": p, "shards": p, "segments": p, "recovery": p, "aliases": p, "templates": p}
    part = "/" + draw.choice([p + "a", p + "*", p + "b", p + "x", p + "a," + p + "x", "nope" if draw.chance(0.3) else p + "*"]) if table in names else "/search" if table == "thread_pool" else ""
    return "GET", f"/_cat/{table}{part}{parameters(draw, world, table)}", None
