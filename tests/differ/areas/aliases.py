"""Aliases and templates: made, read by patterns, changed, removed, and what indices and searches become by them."""
from areas.queries import query
from world import mapping_of

CLEANUP = ("_index_template/{}*", "_template/{}*", "_component_template/{}*")


def alias(draw, world):
    return world.prefix + draw.choice(["x", "y", "z", "xy"])


def pattern(draw, world):
    p = world.prefix
    return ",".join(draw.choice([p + "x", p + "y", p + "z", p + "*", p + "x*", p + "q", "-" + p + "x", "-" + p + "x*", p + "*y"]) for _ in range(draw.choice([1, 1, 1, 2, 3])))


def where(draw, world):
    p = world.prefix
    return draw.choice([world.indices[0], world.indices[-1], ",".join(world.indices), p + "*", p + "a,nope", p + "x", "nope", p + "t1"])


def options(draw, world):
    return draw.keys(filter=(0.35, lambda: query(draw, world, 0)), routing=(0.15, lambda: draw.choice(["a", "a,b", 1])), index_routing=(0.1, lambda: draw.choice(["a", "a,b"])), search_routing=(0.1, lambda: draw.choice(["b", "a,b"])), is_write_index=(0.15, lambda: draw.choice([True, False])), is_hidden=(0.1, lambda: draw.choice([True, False])))


def action(draw, world):
    p = world.prefix
    indices = lambda: draw.choice([{"index": draw.choice([world.indices[0], world.indices[-1], p + "*", p + "x", "nope" if draw.chance(0.3) else p + "a"])}, {"indices": [draw.choice([world.indices[0], p + "t1", p + "*"])]}])
    names = lambda: draw.choice([{"alias": alias(draw, world)}, {"aliases": [alias(draw, world), alias(draw, world)]}])
    kind = draw.random()
    if kind < 0.6:
        return {"add": {**indices(), **names(), **options(draw, world), **draw.keys(must_exist=(0.03, lambda: True))}}
    if kind < 0.93:
        return {"remove": {**indices(), **draw.choice([names(), {"alias": p + "*"}]), **draw.keys(must_exist=(0.15, lambda: draw.choice([True, False])))}}
    return {"remove_index": {"index": draw.choice([p + "t1", p + "t2", alias(draw, world)])}}


def flags(draw):
    chosen = draw.keys(ignore_unavailable=(0.1, lambda: "true"), expand_wildcards=(0.12, lambda: draw.choice(["all", "open", "closed", "none", "hidden", "open,hidden"])), allow_no_indices=(0.06, lambda: "false"), local=(0.05, lambda: "true"))
    return "?" + "&".join(f"{k}={v}" for k, v in chosen.items()) if chosen else ""


def change_alias(draw, world):
    kind = draw.random()
    if kind < 0.6:
        return "POST", "/_aliases", {"actions": [action(draw, world) for _ in range(draw.choice([1, 1, 2, 3]))]}
    if kind < 0.8:
        return draw.choice(["PUT", "POST"]), f"/{where(draw, world)}/{draw.choice(['_alias', '_alias', '_aliases'])}/{alias(draw, world)}", options(draw, world) if draw.chance(0.7) else None
    return "DELETE", f"/{where(draw, world)}/_alias/{pattern(draw, world)}", None


def read_alias(draw, world):
    p, kind = world.prefix, draw.random()
    if kind < 0.25:
        return draw.choice(["GET", "HEAD"]), f"/_alias/{pattern(draw, world)}{flags(draw)}", None
    if kind < 0.55:
        return draw.choice(["GET", "GET", "HEAD"]), f"/{where(draw, world)}/_alias{draw.choice(['', '/' + pattern(draw, world)])}{flags(draw)}", None
    if kind < 0.65:
        return "GET", f"/_cat/aliases/{pattern(draw, world)}?h=alias,index,filter,routing.index,routing.search,is_write_index&s=alias,index", None
    if kind < 0.75:
        return "GET", f"/{draw.choice([p + 'x', p + 'y', p + 'a', p + 't1'])}?filter_path=*.aliases,*.mappings,error,status", None
    if kind < 0.85:
        return "GET", f"/_resolve/index/{draw.choice([p + '*', p + 'x', p + 'a,' + p + 'y', 'nope'])}", None
    return "GET", f"/{pattern(draw, world)}/_search_shards?filter_path=indices,error,status", None


def use_alias(draw, world):
    a, kind = alias(draw, world), draw.random()
    if kind < 0.35:
        return "POST", f"/{draw.choice([a, a, pattern(draw, world), where(draw, world)])}/_search{flags(draw)}", {"query": query(draw, world, 0), "_source": False}
    if kind < 0.5:
        return "POST", f"/{a}/_count{draw.choice(['', '?routing=a', '?routing=b'])}", None
    if kind < 0.65:
        return "PUT", f"/{a}/_doc/{world.any_id()}?refresh{draw.choice(['', '', '&routing=a', '&require_alias=true'])}", world.document()
    if kind < 0.8:
        return "GET", f"/{a}/_doc/{world.any_id()}{draw.choice(['', '?routing=a'])}", None
    if kind < 0.9:
        return "POST", f"/{a}/_bulk?refresh", [{"index": {"_id": world.any_id(), **draw.keys(routing=(0.2, lambda: "a"))}}, world.document(), {"delete": {"_id": world.any_id()}}]
    return "POST", f"/{world.index()}/_search", {"query": {"term": {"_index": a}}, "_source": False}


def part(draw, world):
    """What a template gives to an index."""
    kinds = ["keyword", "long", "text", "date"]
    mappings = lambda: {"properties": {f: mapping_of(draw, draw.choice(kinds)) if f != "t" else {"type": "text"} for f in draw.some(["p", "q", "t", "o"], 1, 3)}, **draw.keys(dynamic=(0.15, lambda: draw.choice([True, "strict", "false"])), _meta=(0.1, lambda: {"m": 1}), date_detection=(0.06, lambda: False))}
    settings = lambda: draw.choice([{"number_of_replicas": 0}, {"index": {"number_of_replicas": 0, "refresh_interval": "5s"}}, {"index.number_of_shards": draw.choice([1, 2]), "number_of_replicas": "0"}, {"number_of_shards": 0}])
    return draw.keys(settings=(0.7, settings), mappings=(0.6, mappings), aliases=(0.4, lambda: {alias(draw, world): draw.choice([{}, options(draw, world)])}))


def change_template(draw, world):
    p, kind = world.prefix, draw.random()
    name, patterns = p + draw.choice(["m", "n", "o"]), lambda: draw.choice([[p + "t*"], p + "t1", [p + "t1", p + "t2*"], [p + "*"], [p + "t*", "zz*"]])
    if kind < 0.35:
        return "PUT", f"/_index_template/{name}{draw.choice(['', '', '?create=true'])}", {"index_patterns": patterns(), **draw.keys(template=(0.8, lambda: part(draw, world)), composed_of=(0.3, lambda: draw.some([p + "c1", p + "c2"], 1, 2)), priority=(0.5, lambda: draw.randint(0, 3)), version=(0.3, lambda: 3), _meta=(0.2, lambda: {"a": 1}))}
    if kind < 0.55:
        return "PUT", f"/_component_template/{p}{draw.choice(['c1', 'c2'])}{draw.choice(['', '', '?create=true'])}", {"template": part(draw, world), **draw.keys(version=(0.3, lambda: 3), _meta=(0.2, lambda: {"a": 1}))}
    if kind < 0.8:
        return "PUT", f"/_template/{name}{draw.choice(['', '', '?create=true', '?order=2'])}", {"index_patterns": patterns(), **part(draw, world), **draw.keys(order=(0.5, lambda: draw.randint(0, 3)), version=(0.3, lambda: 3))}
    return "DELETE", f"/{draw.choice(['_index_template', '_template', '_component_template'])}/{draw.choice([name, p + 'c1', p + '*', p + 'c*'])}", None


def read_template(draw, world):
    p, kind = world.prefix, draw.random()
    name = draw.choice([p + "m", p + "*", p + "n", p + "c1", p + "m*", f"{p}m,{p}n", "nope"])
    if kind < 0.55:
        return draw.choice(["GET", "GET", "HEAD"]), f"/{draw.choice(['_index_template', '_template', '_component_template'])}/{name}{draw.choice(['', '', '', '?flat_settings=true'])}", None
    if kind < 0.7:
        return "POST", f"/_index_template/_simulate_index/{p}{draw.choice(['t1', 't2', 'q'])}", None
    if kind < 0.8:
        return "POST", f"/_index_template/_simulate/{draw.choice([p + 'm', p + 'n'])}", None
    if kind < 0.9:
        return "POST", "/_index_template/_simulate", {"index_patterns": [p + "t*"], "template": part(draw, world), "priority": draw.randint(4, 6)}
    return "GET", f"/_cat/templates/{name}?h=name,index_patterns,order,version,composed_of&s=name", None


def use_template(draw, world):
    p, kind = world.prefix, draw.random()
    name = p + draw.choice(["t1", "t2", "t3"])
    if kind < 0.4:
        return "PUT", f"/{name}", draw.choice([None, {}, part(draw, world)])
    if kind < 0.65:
        return "DELETE", f"/{name}", None
    return "GET", f"/{name}?filter_path=**.aliases,**.mappings,**.number_of_shards,**.number_of_replicas,**.refresh_interval,error,status", None


def request(draw, world):
    return draw.choice([change_alias, change_alias, read_alias, read_alias, use_alias, use_alias, change_template, read_template, use_template])(draw, world)
