"""Explanations: of scores, of queries and whether they are valid, with the text of what they become."""
from areas.queries import query


def request(draw, world):
    q, kind = {"query": query(draw, world, draw.choice([0, 1, 2]))}, draw.random()
    if kind < 0.35:
        return "GET", f"/{draw.choice(world.indices)}/_explain/{world.any_id()}{draw.choice(['', '', '?_source=false', '?stored_fields=k1'])}", q
    if kind < 0.85:
        return "GET", f"/{world.index()}/_validate/query?{draw.choice(['explain=true', 'explain=true', 'rewrite=true&all_shards=true', 'explain=true&all_shards=true', 'rewrite=true&explain=true&all_shards=true', ''])}", q
    return "POST", f"/{world.index()}/_search", {**q, "explain": True, "_source": False}
