#!/usr/bin/env python3
"""What a cluster of three says of its nodes and copies: the values that recordings of one node cannot hold."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

check = Checks()
ALL = {"total": 4, "successful": 4, "failed": 0}  # copies of the index
BOTH = {"total": 2, "successful": 2, "failed": 0}  # copies of a shard


def indices(ask):
    two = {"settings": {"number_of_shards": 2, "number_of_replicas": 1}}
    check.equal(ask("PUT", "/i?wait_for_active_shards=all", two), (200, {"acknowledged": True, "shards_acknowledged": True, "index": "i"}),
                "an index waits for all its copies")
    ask("PUT", "/many", {"settings": {"number_of_shards": 1, "number_of_replicas": 3}})
    status, a = ask("GET", "/_cluster/health/many?wait_for_active_shards=3&timeout=240s")
    check.equal((status, a["status"], a["active_shards"], a["unassigned_shards"]), (200, "yellow", 3, 1), "the fourth copy has no node")
    status, a = ask("GET", "/_cluster/allocation/explain", {"index": "many", "shard": 0, "primary": False})
    check.equal((status, a["current_state"], a["can_allocate"]), (200, "unassigned", "no"), "and it is said why")
    check.equal(sorted(d["decider"] for n in a["node_allocation_decisions"] for d in n["deciders"]), ["same_shard"] * 3, "each node has a copy")
    status, a = ask("PUT", "/late?wait_for_active_shards=3&timeout=100ms", {"settings": {"number_of_replicas": 1}})
    check.equal((status, a.get("error", {}).get("type")), (400, "illegal_argument_exception"), "more copies than there are cannot be waited for")
    ask("DELETE", "/many")


def documents(ask):
    status, a = ask("PUT", "/i/_doc/1", {"n": 1})
    check.equal((status, a["_shards"]), (201, BOTH), "a document is written to both copies")
    status, a = ask("POST", "/i/_update/1", {"doc": {"n": 2}})
    check.equal((status, a["_shards"]), (200, BOTH), "an update too")
    status, a = ask("POST", "/i/_update/1", {"doc": {"n": 2}})
    check.equal((status, a["result"], a["_shards"]), (200, "noop", {"total": 0, "successful": 0, "failed": 0}), "one that changes nothing to none")
    status, a = ask("POST", "/i/_bulk?refresh=true", '{"index":{"_id":"2"}}\n{"n":5}\n{"delete":{"_id":"1"}}\n{"index":{"_id":"3"}}\n{"n":7}\n')
    check.equal([list(i.values())[0]["_shards"] for i in a["items"]], [BOTH] * 3, "each line of a bulk")
    for path in ("_refresh", "_flush", "_forcemerge", "_cache/clear"):
        check.equal(ask("POST", f"/i/{path}"), (200, {"_shards": ALL}), f"{path} goes to every copy")
    status, a = ask("GET", "/i/_search")
    check.equal((a["_shards"], a["hits"]["total"]["value"]), ({"total": 2, "successful": 2, "skipped": 0, "failed": 0}, 2), "a search asks a copy a shard")
    status, a = ask("GET", "/i/_search_shards")
    check.equal([len(copies) for copies in a["shards"]], [2, 2], "the copies that a search may ask")
    check.equal(len(a["nodes"]) in (2, 3), True, "and their nodes")
    status, a = ask("GET", "/i/_stats")
    check.equal((a["_shards"], a["_all"]["primaries"]["docs"]["count"], a["_all"]["total"]["docs"]["count"]), (ALL, 2, 4), "statistics of primaries and of all")
    status, a = ask("GET", "/i/_stats?level=shards")
    check.equal(sorted((n, c["routing"]["primary"], c["routing"]["state"]) for n, v in a["indices"]["i"]["shards"].items() for c in v),
                sorted((n, p, "STARTED") for n in "01" for p in (False, True)), "and of each copy")
    status, a = ask("GET", "/i/_segments")
    check.equal((a["_shards"], sorted(len(v) for v in a["indices"]["i"]["shards"].values())), (ALL, [2, 2]), "segments of each copy")
    status, a = ask("GET", "/i/_recovery")
    check.equal(sorted((s["id"], s["primary"], s["type"], s["stage"]) for s in a["i"]["shards"]),
                [(0, False, "PEER", "DONE"), (0, True, "EMPTY_STORE", "DONE"), (1, False, "PEER", "DONE"), (1, True, "EMPTY_STORE", "DONE")],
                "how each copy came to be")


def fewer_copies(ask):
    ask("PUT", "/fewer?wait_for_active_shards=all", {"settings": {"number_of_replicas": 1}})
    ask("PUT", "/fewer/_settings", {"number_of_replicas": 0})
    for n in range(2):
        status, a = ask("PUT", f"/fewer/_doc/{n}", {"n": n})
        check.equal((status, a["_shards"]), (201, {"total": 1, "successful": 1, "failed": 0}), "a copy that the index gave up has not failed")
    ask("DELETE", "/fewer")


def health(ask):
    status, a = ask("GET", "/_cluster/health/i?level=shards")
    want = {"status": "green", "timed_out": False, "number_of_nodes": 3, "number_of_data_nodes": 3, "active_primary_shards": 2, "active_shards": 4,
            "relocating_shards": 0, "initializing_shards": 0, "unassigned_shards": 0, "delayed_unassigned_shards": 0,
            "active_shards_percent_as_number": 100.0}
    check.equal({k: a[k] for k in want}, want, "health")
    of_index = a["indices"]["i"]
    check.equal((of_index["status"], of_index["number_of_shards"], of_index["number_of_replicas"], of_index["active_shards"]), ("green", 2, 1, 4), "health of the index")
    check.equal([(s["status"], s["primary_active"], s["active_shards"]) for s in of_index["shards"].values()], [("green", True, 2)] * 2, "health of the shards")
    for nodes, met in (("3", True), (">=3", True), ("ge(3)", True), ("<4", True), ("4", False), (">3", False), ("lt(3)", False)):
        status, a = ask("GET", f"/_cluster/health?wait_for_nodes={nodes.replace('>', '%3E').replace('<', '%3C')}&timeout=50ms")
        check.equal((status, a["timed_out"], a["number_of_nodes"]), (200 if met else 408, not met, 3), f"waiting for {nodes} nodes")


def tables(ask, master):
    line = lambda path: str(ask("GET", path)[1]).split()  # noqa: E731
    check.equal(line("/_cat/health?h=status,node.total,node.data,shards,pri,relo,init,unassign,active_shards_percent"),
                ["green", "3", "3", "4", "2", "0", "0", "0", "100.0%"], "_cat/health")
    check.equal(sorted(line("/_cat/nodes?h=name")), ["n1", "n2", "n3"], "_cat/nodes has a line a node")
    check.equal(ask("GET", "/_cat/nodes?h=master,name&s=master")[1].split("\n")[0].split(), ["*", master], "one of them is the master")
    check.equal(line("/_cat/master?h=node"), [master], "_cat/master")
    check.equal(line("/_cat/indices/i?h=health,status,pri,rep,docs.count"), ["green", "open", "2", "1", "2"], "_cat/indices")
    shards = [s.split() for s in ask("GET", "/_cat/shards/i?h=shard,prirep,state,docs&s=shard,prirep")[1].strip().split("\n")]
    check.equal([s[:3] for s in shards], [[n, p, "STARTED"] for n in "01" for p in "pr"], "_cat/shards")
    check.equal([shards[0][3], shards[2][3]], [shards[1][3], shards[3][3]], "copies have as many documents")
    check.equal(sum(int(n) for n in line("/_cat/allocation?h=shards")), 4, "_cat/allocation")
    check.equal(line("/_cat/thread_pool/search?h=name"), ["search"] * 3, "_cat/thread_pool")
    check.equal(sorted(set(line("/_cat/segments/i?h=prirep"))), ["p", "r"], "_cat/segments")
    check.equal(sorted(line("/_cat/recovery/i?h=type")), ["empty_store", "empty_store", "peer", "peer"], "_cat/recovery")
    check.equal(line("/_cat/count/i?h=count"), ["2"], "_cat/count counts primaries")


def nodes(ask, master):
    for path, names in (("/_nodes", ["n1", "n2", "n3"]), ("/_nodes/_master", [master]), ("/_nodes/n1,n2", ["n1", "n2"]), ("/_nodes/n*", ["n1", "n2", "n3"]),
                        ("/_nodes/data:true/stats", ["n1", "n2", "n3"]), ("/_nodes/data:false", [])):
        status, a = ask("GET", path)
        check.equal((a["_nodes"], sorted(n["name"] for n in a["nodes"].values())),
                    ({"total": len(names), "successful": len(names), "failed": 0}, names), path)
    status, a = ask("GET", "/_cluster/stats")
    check.equal((a["_nodes"]["total"], a["nodes"]["count"]["total"], a["nodes"]["count"]["data"], a["nodes"]["count"]["master"]), (3, 3, 3, 3), "_cluster/stats: nodes")
    check.equal([a["indices"]["shards"][k] for k in ("total", "primaries", "replication")], [4, 2, 1.0], "_cluster/stats: shards")
    check.equal(a["indices"]["docs"]["count"], 2, "_cluster/stats: documents of primaries")
    status, a = ask("GET", "/_cluster/state/master_node,nodes,routing_table")
    check.equal((a["nodes"][a["master_node"]]["name"], len(a["nodes"])), (master, 3), "_cluster/state")
    check.equal([len({c["node"] for c in copies}) for copies in a["routing_table"]["indices"]["i"]["shards"].values()], [2, 2], "copies of a shard are on two nodes")


def one_less(cluster, ask):
    """A node leaves: what is missing is said, and is not made anew before its time."""
    leaving = next(n for n in cluster.nodes[1:] if n in cluster.holding("i", True) + cluster.holding("i", False))
    lost = sum(1 for c in cluster.copies("i") if c[3] == leaving.name)
    leaving.stop()
    wait_for("two nodes", lambda: ask("GET", "/_cluster/health")[1]["number_of_nodes"] == 2)
    status, a = ask("GET", "/_cluster/health/i")
    check.equal((a["status"], a["active_shards"], a["unassigned_shards"], a["delayed_unassigned_shards"]), ("yellow", 4 - lost, lost, lost), "health is yellow")
    check.equal(a["active_shards_percent_as_number"], 100.0 * (4 - lost) / 4, "with a share of the copies")
    rows = [r.split() for r in ask("GET", "/_cat/shards/i?h=prirep,state,unassigned.reason")[1].strip().split("\n")]
    check.equal([r for r in rows if r[1] == "UNASSIGNED"], [["r", "UNASSIGNED", "NODE_LEFT"]] * lost, "what is missing is replicas")
    status, a = ask("GET", "/i/_search")
    check.equal((a["_shards"]["successful"], a["hits"]["total"]["value"]), (2, 2), "every document is found")
    status, a = ask("POST", "/i/_refresh")
    check.equal(a["_shards"], {"total": 4, "successful": 4 - lost, "failed": 0}, "missing copies have not failed")
    for n in range(20):  # some in each shard
        status, a = ask("PUT", f"/i/_doc/left-{n}", {"n": n})
        total, here = a["_shards"]["total"], a["_shards"]["successful"]
        check.equal((status, total, here in (1, 2), a["_shards"]["failed"]), (201, 2, True, 0), "nor have they for a write")
    leaving.start()
    cluster.wait_green("i")
    check.equal(ask("GET", "/_cluster/health/i")[1]["active_shards"], 4, "they are there again when it is back")


def main():
    with Cluster(3) as cluster:
        ask = cluster.nodes[0].call
        indices(ask)
        documents(ask)
        fewer_copies(ask)
        health(ask)
        master = cluster.master().name
        tables(ask, master)
        nodes(ask, master)
        one_less(cluster, ask)
    check.end()


main()
