#!/usr/bin/env python3
"""What operators see and order in a cluster of three: health and its waits, tables and statistics over nodes, tasks, reroute and its
explanations, voting exclusions, disks, metrics; through any node, and when one is gone."""
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

check = Checks()


def copies(node, index):
    rows = node.call("GET", f"/_cat/shards/{index}?format=json&h=shard,prirep,state,node,docs")[1]
    return {(r["shard"], r["prirep"]): r for r in rows}


def nodes_are_told(cluster):
    names = {n.name for n in cluster.nodes}
    for node in cluster.nodes:
        info = node.call("GET", "/_nodes")[1]
        check.equal(info["_nodes"], {"total": 3, "successful": 3, "failed": 0}, f"nodes asked by {node.name}")
        check.equal({n["name"] for n in info["nodes"].values()}, names, f"their names, through {node.name}")
        stats = node.call("GET", "/_nodes/stats/process,indices")[1]["nodes"].values()
        check.equal(len({n["process"]["open_file_descriptors"] > 0 for n in stats}), 1, "each tells of its process")
        pids = {r["pid"] for r in node.call("GET", "/_cat/nodes?format=json&h=pid,master")[1]}
        check.equal(pids, {str(n.process.pid) for n in cluster.nodes}, "each is asked itself")
    one = cluster.nodes[1]
    check.equal(len(one.call("GET", "/_nodes/_local")[1]["nodes"]), 1, "this one")
    check.equal(len(one.call("GET", "/_nodes/n1,n3")[1]["nodes"]), 2, "two by name")
    check.equal(len(one.call("GET", "/_nodes/rack:r2")[1]["nodes"]), 1, "one by attribute")
    check.equal(len(one.call("GET", "/_nodes/_all,data:false")[1]["nodes"]), 0, "none without data")
    check.equal(len(one.call("GET", "/_nodes/nobody")[1]["nodes"]), 0, "nobody")
    offered = next(iter(one.call("GET", "/_nodes/_local/aggregations")[1]["nodes"].values()))["aggregations"]
    check.equal(offered["terms"], {"types": ["boolean", "date", "ip", "keyword", "numeric"]}, "aggregations, as Elasticsearch 7.12.1 tells them")
    rows = one.call("GET", "/_cat/nodeattrs?format=json")[1]
    check.equal({(r["node"], r["value"]) for r in rows if r["attr"] == "rack"}, {("n1", "r1"), ("n2", "r2"), ("n3", "r3")}, "attributes")
    check.equal(one.call("GET", "/_cluster/stats")[1]["nodes"]["count"]["total"], 3, "nodes are counted")
    check.equal(one.call("GET", "/_nodes/hot_threads?interval=50ms")[1].count(":::"), 3, "threads of each")


def health_is_told(cluster):
    node = cluster.nodes[2]
    status, h = node.call("GET", "/_cluster/health?wait_for_nodes=%3E%3D3&wait_for_events=languid&timeout=240s")
    check.equal((status, h["number_of_nodes"], h["timed_out"]), (200, 3, False), "three nodes")
    status, h = node.call("GET", "/_cluster/health?wait_for_nodes=gt(3)&timeout=100ms")
    check.equal((status, h["timed_out"]), (408, True), "not four")
    waited = {}

    def wait_for_index():
        waited["answer"] = node.call("GET", "/_cluster/health/later?wait_for_status=green&timeout=240s&level=shards")

    thread = threading.Thread(target=wait_for_index)
    thread.start()
    cluster.nodes[0].call("PUT", "/later", {"settings": {"number_of_shards": 2, "number_of_replicas": 1}})
    thread.join()
    status, h = waited["answer"]
    check.equal((status, h["status"], h["active_shards"]), (200, "green", 4), "who waits hears of an index made elsewhere")
    check.equal({s["active_shards"] for s in h["indices"]["later"]["shards"].values()}, {2}, "shard by shard")
    check.equal(cluster.nodes[1].call("GET", "/_cluster/health?level=indices")[1]["indices"]["later"]["status"], "green", "elsewhere, too")


def statistics_are_told(cluster):
    lines = []
    for i in range(60):
        lines += [{"index": {"_id": str(i)}}, {"n": i}]
    cluster.nodes[0].call("POST", "/later/_bulk?refresh=true", lines)
    for node in cluster.nodes:
        stats = node.call("GET", "/later/_stats?level=shards")[1]
        check.equal((stats["_all"]["primaries"]["docs"]["count"], stats["_all"]["total"]["docs"]["count"]), (60, 120), f"documents through {node.name}")
        check.equal([len(s) for s in stats["indices"]["later"]["shards"].values()], [2, 2], "both copies of each shard")
        row = node.call("GET", "/_cat/indices/later?format=json&bytes=b")[1][0]
        check.equal((row["docs.count"], row["health"]), ("60", "green"), "the table of indices")
        check(int(row["store.size"]) > int(row["pri.store.size"]) > 0, "replicas take room", row)
        check.equal(sum(int(c["docs"]) for c in copies(node, "later").values()), 120, "the table of shards")
        recoveries = node.call("GET", "/later/_recovery")[1]["later"]["shards"]
        check.equal(sorted((r["type"], r["stage"]) for r in recoveries), [("EMPTY_STORE", "DONE")] * 2 + [("PEER", "DONE")] * 2, "recoveries")
        on = node.call("GET", "/_cat/allocation?format=json")[1]
        check.equal(sum(int(r["shards"]) for r in on), 4, "the table of allocation")
    sums = sum(n["indices"]["docs"]["count"] for n in cluster.nodes[2].call("GET", "/_nodes/stats/indices/docs")[1]["nodes"].values())
    check.equal(sums, 120, "each node counts its own copies")


def tasks_are_told(cluster):
    made, asked = cluster.nodes[0], cluster.nodes[1]
    lines = []
    for i in range(3000):
        lines += [{"index": {}}, {"n": i}]
    made.call("POST", "/tasks/_bulk?refresh=true", lines)
    task = made.call("POST", "/tasks/_update_by_query?wait_for_completion=false&requests_per_second=10&scroll_size=10")[1]["task"]
    listed = asked.call("GET", "/_tasks?actions=*byquery&detailed=true")[1]["nodes"]
    found = [t for n in listed.values() for t in n["tasks"]]
    check(task in found, "a task of another node is listed", found)
    status, one = asked.call("GET", f"/_tasks/{task}")
    check.equal((status, one["completed"]), (200, False), "and told by its id")
    status, gone = asked.call("POST", f"/_tasks/{task}/_cancel")
    check.equal(status, 200, "and cancelled")
    status, end = asked.call("GET", f"/_tasks/{task}?wait_for_completion=true&timeout=240s")
    check.equal((status, end.get("completed")), (200, True), "and waited for")
    status, none = asked.call("POST", f"/_tasks/{task}/_cancel")
    check.equal(none.get("nodes"), {}, "it is gone")
    made.call("DELETE", "/tasks")


def orders_are_obeyed(cluster):
    node = cluster.nodes[1]
    node.call("PUT", "/moved?wait_for_active_shards=all", {"settings": {"number_of_shards": 1, "number_of_replicas": 1}})
    node.call("PUT", "/moved/_doc/1?refresh=true", {"a": 1})
    node.call("PUT", "/_cluster/settings", {"transient": {"cluster.routing.rebalance.enable": "none"}})
    cluster.wait_green("moved")
    now = copies(node, "moved")
    held = {now["0", "p"]["node"], now["0", "r"]["node"]}
    free = ({n.name for n in cluster.nodes} - held).pop()
    move = {"commands": [{"move": {"index": "moved", "shard": 0, "from_node": now["0", "p"]["node"], "to_node": free}}]}
    status, dry = node.call("POST", "/_cluster/reroute?dry_run=true&explain=true&metric=routing_table", move)
    check.equal(status, 200, "a dry run")
    state = {c["state"] for c in dry["state"]["routing_table"]["indices"]["moved"]["shards"]["0"]}
    check.equal(state, {"RELOCATING", "STARTED"}, "tells what would be")
    check.equal({d["decision"] for d in dry["explanations"][0]["decisions"]}, {"YES"}, "and why")
    check.equal(copies(node, "moved")["0", "p"]["node"], now["0", "p"]["node"], "and does nothing")
    status, answer = node.call("POST", "/_cluster/reroute?metric=none", move)
    check.equal((status, answer["acknowledged"]), (200, True), "a move")
    cluster.wait_green("moved")
    check.equal(copies(cluster.nodes[2], "moved")["0", "p"]["node"], free, "the primary has moved")
    check.equal(cluster.nodes[0].call("GET", "/moved/_count")[1]["count"], 1, "with its documents")
    back = {"commands": [{"move": {"index": "moved", "shard": 0, "from_node": "n1", "to_node": "nobody"}}]}
    check.equal(node.call("POST", "/_cluster/reroute", back)[0], 400, "no move to nobody")
    cancel = {"commands": [{"cancel": {"index": "moved", "shard": 0, "node": free, "allow_primary": True}}]}
    check.equal(node.call("POST", "/_cluster/reroute?metric=none", cancel)[0], 200, "a primary is cancelled")
    cluster.wait_green("moved")
    check(copies(node, "moved")["0", "p"]["node"] != free, "its replica took over")
    check.equal(node.call("GET", "/moved/_count")[1]["count"], 1, "nothing was lost")
    for where in cluster.nodes:
        status, why = where.call("POST", "/_cluster/allocation/explain", {"index": "moved", "shard": 0, "primary": True})
        check.equal((status, why["current_state"], why["can_remain_on_current_node"]), (200, "started", "yes"), f"explained by {where.name}")
    node.call("PUT", "/moved/_settings", {"number_of_replicas": 3})
    status, why = node.call("GET", "/_cluster/allocation/explain")
    check.equal((status, why["can_allocate"]), (200, "no"), "one replica too many")
    check.equal({d["decider"] for n in why["node_allocation_decisions"] for d in n["deciders"]}, {"same_shard"}, "every node has a copy")
    node.call("DELETE", "/moved")
    node.call("PUT", "/_cluster/settings", {"transient": {"cluster.routing.rebalance.enable": None}})


def closed_indices_stay(cluster):
    node = cluster.nodes[0]
    node.call("PUT", "/shut?wait_for_active_shards=all", {"settings": {"number_of_shards": 1, "number_of_replicas": 1}})
    node.call("PUT", "/shut/_doc/1", {"a": 1})
    node.call("POST", "/shut/_close")
    h = node.call("GET", "/_cluster/health/shut?wait_for_status=green&timeout=240s")[1]
    check.equal((h["status"], h["active_shards"]), ("green", 2), "a closed index keeps its copies")
    node.call("POST", "/shut/_open?wait_for_active_shards=all")
    check.equal(cluster.nodes[1].call("GET", "/shut/_doc/1")[1].get("found"), True, "and its documents")
    node.call("DELETE", "/shut")


def disks_are_watched(cluster):
    node = cluster.nodes[2]
    marks = {f"cluster.routing.allocation.disk.watermark.{k}": v for k, v in (("low", "1b"), ("high", "1b"), ("flood_stage", "1b"))}
    full = {k: "100000tb" for k in marks}  # so much has to be free
    node.call("PUT", "/_cluster/settings", {"transient": {**full, "cluster.info.update.interval": "10s"}})
    key = "index.blocks.read_only_allow_delete"
    blocked = lambda: node.call("GET", "/later/_settings?flat_settings=true")[1]["later"]["settings"].get(key)
    wait_for("a full disk to be noticed", lambda: blocked() == "true")
    status, answer = node.call("PUT", "/later/_doc/x", {"n": 1})
    check.equal((status, answer["error"]["type"]), (429, "cluster_block_exception"), "a full disk takes no writes")
    node.call("PUT", "/_cluster/settings", {"transient": {k: None for k in marks}})
    wait_for("room to be noticed", lambda: blocked() is None)
    check.equal(node.call("PUT", "/later/_doc/x", {"n": 1})[0], 201, "and takes them again")
    node.call("PUT", "/_cluster/settings", {"transient": {"cluster.info.update.interval": None}})


def masters_are_excluded(cluster):
    node = cluster.nodes[0]
    master = lambda: node.call("GET", "/_cat/master?h=node")[1].strip()
    was = master()
    status, _ = node.call("POST", f"/_cluster/voting_config_exclusions?node_names={was}")
    check.equal(status, 200, "the master is excluded")
    wait_for("another master", lambda: master() not in (was, "-"))
    cluster.wait_nodes(3)
    coordination = node.call("GET", "/_cluster/state/metadata")[1]["metadata"]["cluster_coordination"]
    excluded = coordination["voting_config_exclusions"]
    check.equal([e["node_name"] for e in excluded], [was], "the state says so")
    check(excluded[0]["node_id"] not in coordination["last_committed_config"], "it does not vote")
    check.equal(node.call("DELETE", "/_cluster/voting_config_exclusions?wait_for_removal=false")[0], 200, "exclusions are lifted")
    config = lambda: node.call("GET", "/_cluster/state/metadata")[1]["metadata"]["cluster_coordination"]["last_committed_config"]
    wait_for("three to vote again", lambda: len(config()) == 3)
    check.equal(node.call("POST", "/_cluster/voting_config_exclusions")[0], 400, "nobody is excluded by nobody")


def metrics_are_told(cluster):
    for node in cluster.nodes:
        text = node.call("GET", "/_prometheus/metrics")[1]
        values = {line.split(" ")[0].split("{")[0]: line.rsplit(" ", 1)[1] for line in text.splitlines() if line and line[0] != "#"}
        check.equal((values["es_cluster_nodes_number"], values["serai_cluster_has_master"]), ("3", "1"), f"metrics of {node.name}")
        check(float(values["serai_cluster_states_applied_total"]) > 3, "states are counted", values)
    leading = [n for n in cluster.nodes if 'serai_cluster_is_master' in (t := n.call("GET", "/_prometheus/metrics")[1])
               and [l for l in t.splitlines() if l.startswith("serai_cluster_is_master")][0].endswith(" 1")]
    check.equal(len(leading), 1, "one leads")


def nodes_go(cluster):
    master = cluster.nodes[0].call("GET", "/_cat/master?h=node")[1].strip()
    gone = next(n for n in cluster.nodes if n.name != master)
    gone.kill()
    node = next(n for n in cluster.alive())
    status, h = node.call("GET", "/_cluster/health?wait_for_nodes=2&timeout=240s")
    check.equal((status, h["number_of_nodes"]), (200, 2), "a node is gone")
    check.equal(node.call("GET", "/_nodes")[1]["_nodes"]["total"], 2, "it is not asked any more")
    status, h = node.call("GET", "/_cluster/health")
    check.equal(h["delayed_unassigned_shards"] > 0, True, "its copies are waited for")
    status, why = node.call("GET", "/_cluster/allocation/explain")
    check.equal(why.get("can_allocate"), "allocation_delayed", "and explained")
    next(n for n in cluster.alive() if n.name == master).kill()
    last = cluster.alive()[0]
    wait_for("nobody to lead", lambda: str(last.call("GET", "/_cat/master?h=node")[1]).strip() == "-")  # an error where the master that was asked has gone
    status, h = last.call("GET", "/_cluster/health?local=true")
    check.equal((status, h["status"]), (200, "red"), "nobody leads")
    status, answer = last.call("GET", "/_cluster/health?master_timeout=100ms")
    check.equal((status, answer["error"]["type"]), (503, "master_not_discovered_exception"), "nobody can be asked")
    state = last.call("GET", "/_cluster/state/master_node,blocks?local=true")[1]
    check.equal((state["master_node"], list(state["blocks"]["global"])), (None, ["2"]), "the state says so")
    asked = last.call("GET", "/_nodes/stats/process")[1]["_nodes"]
    check.equal((asked["successful"], asked["successful"] + asked["failed"]), (1, asked["total"]), "who does not answer is counted")
    check('serai_cluster_has_master{' in last.call("GET", "/_prometheus/metrics")[1], "metrics are told without a master")
    for n in cluster.nodes:
        if n not in cluster.alive():
            n.start()
    cluster.wait_nodes(3)
    cluster.wait_green()
    check(True, "all is well in the end")


def main():
    cluster = Cluster(3)
    for i, n in enumerate(cluster.nodes):
        n.settings["node.attr.rack"] = f"r{i + 1}"
    with cluster:
        for part in (nodes_are_told, health_is_told, statistics_are_told, tasks_are_told, orders_are_obeyed, closed_indices_stay,
                     disks_are_watched, masters_are_excluded, metrics_are_told, nodes_go):
            part(cluster)
    check.end()


if __name__ == "__main__":
    main()
