#!/usr/bin/env python3
"""Requests of every kind through any node of three, wherever the shards are; and what is left of them when a node goes."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402

SHARDS = 6
DOCS = 200
check = Checks()


def write_everywhere(cluster):
    """One document after the other, each through another node; ids that the nodes make up, too."""
    made = set()
    for i in range(DOCS):
        node = cluster.nodes[i % 3]
        status, answer = node.call("PUT", f"/i/_doc/{i}", {"n": i, "t": f"word{i % 7} all", "g": i % 5})
        check.equal(status, 201, f"document {i}")
        if i % 20 == 0:
            status, answer = node.call("POST", "/i/_doc", {"n": 1000 + i, "t": "made", "g": 9})
            made.add(answer["_id"])
    check.equal(len(made), DOCS // 20, "ids made up")
    lines = []
    for i in range(60):
        lines += [{"index": {"_id": f"b{i}"}}, {"n": 2000 + i, "t": "bulk all", "g": 7}]
    status, answer = cluster.nodes[1].call("POST", "/i/_bulk", lines)
    check.equal((status, answer.get("errors")), (200, False), "a bulk over all shards")
    status, answer = cluster.nodes[2].call("POST", "/i/_update/7", {"doc": {"u": True}})
    check.equal((status, answer.get("result")), (200, "updated"), "an update")
    status, answer = cluster.nodes[0].call("DELETE", "/i/_doc/8")
    check.equal((status, answer.get("result")), (200, "deleted"), "a deletion")
    status, answer = cluster.nodes[0].call("POST", "/i/_refresh")
    check.equal(answer["_shards"], {"total": SHARDS, "successful": SHARDS, "failed": 0}, "every copy is refreshed")


def read_everywhere(cluster):
    answers = []
    for node in cluster.nodes:
        status, a = node.call("POST", "/i/_search", {
            "query": {"match": {"t": "word3 all"}}, "size": 20, "sort": ["n"],
            "aggs": {"g": {"terms": {"field": "g"}, "aggs": {"m": {"avg": {"field": "n"}}}}},
            "suggest": {"s": {"text": "wrod3", "term": {"field": "t"}}}})
        a.pop("took", None)
        answers.append((status, a))
        status, a = node.call("GET", "/i/_doc/7")
        check.equal((status, a.get("_source", {}).get("u")), (200, True), f"a document through {node.name}")
        check.equal(node.call("GET", "/i/_doc/8")[0], 404, f"one that is gone, through {node.name}")
        status, a = node.call("POST", "/i/_mget", {"ids": [str(i) for i in range(30)]})
        check.equal([d["found"] for d in a["docs"]], [i != 8 for i in range(30)], f"many through {node.name}")
        # More than are read at a time, some of them twice, some in an index that is not there.
        asked = [{"_id": str(i % 45), "_index": "none" if i % 50 == 7 else "i"} for i in range(1000)]
        status, a = node.call("POST", "/_mget", {"docs": asked})
        check.equal([(d["_id"], d["_index"]) for d in a["docs"]], [(d["_id"], d["_index"]) for d in asked], f"a thousand in the order asked for through {node.name}")
        check.equal([d.get("found", d.get("error", {}).get("type")) for d in a["docs"]],
                    ["index_not_found_exception" if d["_index"] == "none" else d["_id"] != "8" for d in asked], f"what became of each through {node.name}")
        status, a = node.call("POST", "/i/_explain/7", {"query": {"term": {"t": "all"}}})
        check.equal(a.get("matched"), True, f"an explanation through {node.name}")
        status, a = node.call("GET", "/i/_count?q=t:all")
        check.equal(a.get("count"), DOCS - 1 + 60, f"a count through {node.name}")
        status, a = node.call("POST", "/i/_search?search_type=dfs_query_then_fetch&size=3", {"query": {"match": {"t": "word3"}}})
        scores = {h["_score"] for h in a["hits"]["hits"]}
        check.equal(len(scores), 1, f"scores of summed statistics through {node.name}")
        status, a = node.call("GET", "/i/_stats/docs")
        check.equal(a["_all"]["total"]["docs"]["count"], DOCS - 1 + DOCS // 20 + 60, f"statistics through {node.name}")
    check.equal(answers[1], answers[0], "a search says the same through the second node")
    check.equal(answers[2], answers[0], "a search says the same through the third node")


def scroll(cluster, first, then):
    """Pages through one node, begun at another."""
    status, a = first.call("POST", "/i/_search?scroll=1m&size=37", {"sort": ["n"]})
    seen = [h["_id"] for h in a["hits"]["hits"]]
    while a["hits"]["hits"]:
        status, a = then.call("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": a["_scroll_id"]})
        seen += [h["_id"] for h in a["hits"]["hits"]]
    check.equal((len(seen), len(set(seen))), (DOCS - 1 + DOCS // 20 + 60,) * 2, f"a scroll, {first.name} then {then.name}")
    status, a = then.call("DELETE", "/_search/scroll", {"scroll_id": a["_scroll_id"]})
    check.equal((status, a.get("num_freed")), (200, SHARDS), "its contexts are freed, on every node")


def point_in_time(cluster):
    status, a = cluster.nodes[0].call("POST", "/i/_pit?keep_alive=1m")
    pit = a["id"]
    cluster.nodes[1].call("PUT", "/i/_doc/late?refresh=true", {"n": 5000, "t": "late", "g": 1})
    body = {"query": {"match_all": {}}, "track_total_hits": True, "pit": {"id": pit}, "size": 0}
    status, a = cluster.nodes[2].call("POST", "/_search", body)
    check.equal(a["hits"]["total"]["value"], DOCS - 1 + DOCS // 20 + 60, "a point in time does not see what came later")
    status, a = cluster.nodes[1].call("DELETE", "/_pit", {"id": pit})
    check.equal(a, {"succeeded": True, "num_freed": SHARDS}, "it is closed from another node")
    status, a = cluster.nodes[0].call("POST", "/_search", body)
    check.equal(status, 404, "and gone then")
    cluster.nodes[0].call("DELETE", "/i/_doc/late?refresh=true")


def preferences(cluster):
    """Which copies are asked shows in _search_shards, and where none may be."""
    ids = cluster.ids()
    for i, name in ids.items():
        status, a = cluster.nodes[0].call("GET", f"/i/_search_shards?preference=_prefer_nodes:{i}")
        check.equal(len(a["shards"]), SHARDS, f"all shards, {name} preferred")
        for copies in a["shards"]:
            has = any(c["node"] == i for c in copies)
            check(not has or copies[0]["node"] == i, f"{name} is asked first where it has a copy")
    status, a = cluster.nodes[0].call("GET", "/i/_search?preference=_only_nodes:nobody")
    check.equal((status, a["error"]["type"]), (400, "illegal_argument_exception"), "nodes that are none")
    status, a = cluster.nodes[0].call("GET", "/i/_search?size=0&preference=_shards:2,3")
    check.equal(a["_shards"]["total"], 2, "some shards only")


def lose_a_node(cluster):
    """Without replicas its shards go with it: partial results, and words about it."""
    status, a = cluster.nodes[0].call("GET", "/i/_search_shards")
    ids = cluster.ids()
    victim = cluster.nodes[2]
    lost = sum(ids[copies[0]["node"]] == victim.name for copies in a["shards"])
    check(0 < lost < SHARDS, "the shards are spread", lost)
    victim.kill()
    cluster.wait_nodes(2)
    node = cluster.nodes[0]
    status, a = node.call("GET", "/i/_search?size=0")
    check.equal((status, a["_shards"]["total"], a["_shards"]["successful"], a["_shards"]["failed"]),
                (200, SHARDS, SHARDS - lost, lost), "partial results")
    failures = a["_shards"].get("failures", [{}])
    check.equal((failures[0].get("node", ""), failures[0].get("reason", {}).get("type")),
                (None, "no_shard_available_action_exception"), "and why")
    status, a = node.call("GET", "/i/_search?size=0&allow_partial_search_results=false")
    check.equal((status, a["error"]["type"]), (503, "search_phase_execution_exception"), "or none at all")
    statuses = set()
    for i in range(40):
        statuses.add(node.call("GET", f"/i/_doc/{i}")[0])
    check.equal(statuses - {404}, {200, 503}, "documents of lost shards cannot be read, others can")
    status, a = node.call("POST", "/i/_bulk?timeout=200ms",
                          [line for i in range(40) for line in ({"index": {"_id": f"x{i}"}}, {"n": i})])
    check.equal({item["index"]["status"] for item in a["items"]}, {201, 503}, "nor can they be written")
    status, a = node.call("POST", "/i/_refresh")
    check.equal(a["_shards"], {"total": SHARDS, "successful": SHARDS - lost, "failed": 0}, "copies that are there are refreshed")
    victim.start()
    cluster.wait_nodes(3)
    cluster.wait_green("i")
    status, a = node.call("GET", "/i/_count?q=t:all")
    check.equal(a, {"count": DOCS - 1 + 60, "_shards": {"total": SHARDS, "successful": SHARDS, "skipped": 0, "failed": 0}},
                "everything is there again")


def a_write_that_waits(cluster):
    """The primary's node is away for a moment: the client of another node hears of the write's success alone."""
    import threading
    ids = cluster.ids()
    status, a = cluster.nodes[0].call("GET", "/i/_search_shards?routing=7")
    name = ids[a["shards"][0][0]["node"]]
    victim = next(n for n in cluster.nodes if n.name == name)
    other = next(n for n in cluster.nodes if n.name != name)
    victim.kill()
    answer = []
    thread = threading.Thread(target=lambda: answer.append(other.call("PUT", "/i/_doc/7", {"n": 7, "t": "again", "g": 1})))
    thread.start()
    victim.start()
    thread.join()
    check.equal(answer[0][0], 200, "the write waited for its primary")
    check.equal(other.call("GET", "/i/_doc/7")[1]["_source"]["t"], "again", "and is there")


def main():
    with Cluster(3) as cluster:
        status, a = cluster.nodes[1].call("PUT", "/i", {"settings": {"number_of_shards": SHARDS, "number_of_replicas": 0}})
        check.equal(status, 200, "an index")
        cluster.wait_green("i")
        write_everywhere(cluster)
        read_everywhere(cluster)
        scroll(cluster, cluster.nodes[0], cluster.nodes[1])
        scroll(cluster, cluster.nodes[2], cluster.nodes[0])
        point_in_time(cluster)
        preferences(cluster)
        lose_a_node(cluster)
        a_write_that_waits(cluster)
    check.end()


main()
