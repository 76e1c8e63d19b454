#!/usr/bin/env python3
"""A log that is cut short: the copy is healed from another one, nothing that was acknowledged is lost. And what docs/damage.md says of going on
without what cannot be healed: an older copy, or an empty one, takes the place of a damaged one when somebody says so, and only then."""
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

DOCS = 200
SETTINGS = {"number_of_shards": 1, "number_of_replicas": 1, "index.routing.allocation.include._name": "n1,n2"}


def folder(node, index):
    uuid = node.call("GET", f"/{index}/_settings")[1][index]["settings"]["index"]["uuid"]
    return os.path.join(node.data, "data", "indices", uuid, "0")


def write(node, first, last):
    for i in range(first, last):
        status, answer = node.call("PUT", f"/i/_doc/{i}", {"n": i})
        assert status == 201, answer


def cut(path):
    """The end of the newest log goes, of what was synced long before."""
    log = max(glob.glob(os.path.join(path, "translog_*")), key=lambda f: int(f.rsplit("_", 1)[1]))
    os.truncate(log, os.path.getsize(log) * 2 // 3)


def equal(cluster, via, ids):
    """Both copies have exactly these."""
    assert via.call("POST", "/i/_refresh")[0] == 200
    copies = cluster.copies("i")
    assert len(copies) == 2, copies
    have = [cluster.documents("i", 0, c[2], via) for c in copies]
    assert have[0] == have[1] and sorted(map(int, have[0])) == list(ids), [len(h) for h in have]


def said(cluster, words):
    assert any(words in open(n.log_path, encoding="utf-8").read() for n in cluster.nodes), words


def healed(primary):
    with Cluster(3) as cluster:
        watcher = cluster.nodes[2]
        assert watcher.call("PUT", "/i?wait_for_active_shards=all", {"settings": SETTINGS})[0] == 200
        write(watcher, 0, DOCS)
        victim = cluster.holding("i", primary)[0]
        path = folder(victim, "i")
        ended = cluster.nodes[:2] if primary else [victim]
        for n in ended:  # both, so that either may become the primary
            n.kill()
        cut(path)
        cluster.together(lambda n: n.start(), ended)
        cluster.wait_nodes(3)
        cluster.wait_green("i")
        equal(cluster, watcher, range(DOCS))
        said(cluster, "operations from there on are missing")


def without_it():
    """The only copy in sync is damaged; another node has an older one."""
    with Cluster(3) as cluster:
        watcher = cluster.nodes[2]
        assert watcher.call("PUT", "/i?wait_for_active_shards=all", {"settings": SETTINGS})[0] == 200
        write(watcher, 0, DOCS)
        newer, older = cluster.holding("i", True)[0], cluster.holding("i", False)[0]
        path = folder(newer, "i")
        older.kill()
        cluster.wait_nodes(2)
        write(watcher, DOCS, 2 * DOCS)
        newer.kill()
        cut(path)
        cluster.together(lambda n: n.start(), [newer, older])
        cluster.wait_nodes(3)
        shards = lambda: watcher.call("GET", "/_cat/shards/i?h=prirep,state,unassigned.details")[1]
        wait_for("the reason", lambda: "operations from there on are missing" in shards())
        assert watcher.call("GET", "/_cluster/health/i")[1]["status"] == "red"

        told = lambda: watcher.call("GET", "/_cluster/allocation/explain", {"index": "i", "shard": 0, "primary": True})[1].get("can_allocate") != "awaiting_info"

        def order(kind, node, **more):
            return watcher.call("POST", "/_cluster/reroute?metric=none", {"commands": [{kind: {"index": "i", "shard": 0, "node": node.name, **more}}]})

        def ordered(kind, node, **more):
            """Its answer: once no attempt to open a damaged copy, of which there is one now and then, is under way."""
            return wait_for("the order", lambda: (a := order(kind, node, **more)) and (a[0] == 200 or "already assigned" not in a[1]["error"]["reason"]) and a)

        for kind in ("allocate_stale_primary", "allocate_empty_primary"):
            status, answer = ordered(kind, older)
            assert status == 400 and "accept_data_loss" in answer["error"]["reason"], answer
        assert watcher.call("GET", "/_cluster/health/i")[1]["status"] == "red", "nothing has happened"
        wait_for("the master to know what the nodes have", told)
        status, answer = ordered("allocate_stale_primary", older, accept_data_loss=True)
        assert status == 200, answer
        cluster.wait_green("i")
        equal(cluster, watcher, range(DOCS))
        write(watcher, DOCS, 3 * DOCS)
        equal(cluster, watcher, range(3 * DOCS))
        for n in (newer, older):  # and now there is no whole copy any more
            n.kill()
        for n in (newer, older):
            cut(folder_of(n, path))
        cluster.together(lambda n: n.start(), [newer, older])
        cluster.wait_nodes(3)
        wait_for("the reason", lambda: "operations from there on are missing" in shards())
        status, answer = ordered("allocate_empty_primary", newer, accept_data_loss=True)
        assert status == 200, answer
        cluster.wait_green("i")
        equal(cluster, watcher, range(0))
        write(watcher, 0, 5)
        equal(cluster, watcher, range(5))


def folder_of(node, path):
    """Where the other copy lies: the same below another node's data."""
    return os.path.join(node.data, *path.split(os.sep)[-4:]) if not path.startswith(node.data) else path


CASES = [("a replica's log", lambda: healed(False)), ("a primary's log", lambda: healed(True)), ("without what cannot be healed", without_it)]


def main():
    passed = failed = 0
    for what, case in CASES:
        try:
            case()
            passed += 1
            print(f"ok: {what}", flush=True)
        except (AssertionError, RuntimeError) as e:
            failed += 1
            print(f"FAILED: {what}: {e}", flush=True)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
