#!/usr/bin/env python3
"""Anything done to a copy's files, on one of three nodes, while it runs or after kill -9: nothing acknowledged is lost, nothing wrong is answered, the copy is
healed. On all of them: every answer is right, or the index is red and says why. COUNT is how often (4; 30 in the long form), SEED the random seed (1)."""
import glob
import os
import random
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

LONG = os.environ.get("LONG") == "1"
COUNT = int(os.environ.get("COUNT", "30" if LONG else "4"))
SEED = int(os.environ.get("SEED", "1"))
SETTINGS = {"number_of_shards": 2, "number_of_replicas": 2, "refresh_interval": -1, "index.unassigned.node_left.delayed_timeout": "0"}


class Index:
    """What is in it, as far as it was acknowledged; `maybe` has what may be there instead."""

    def __init__(self, cluster, name, rng):
        self.cluster, self.name, self.rng = cluster, name, rng
        self.truth, self.maybe, self.next = {}, {}, 0
        via = cluster.nodes[0]
        status, answer = via.call("PUT", f"/{name}?wait_for_active_shards=all", {"settings": SETTINGS, "mappings": {"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}}}})
        assert status == 200, answer
        self.uuid = via.call("GET", f"/{name}/_settings")[1][name]["settings"]["index"]["uuid"]

    def write(self, n):
        """New documents, new versions of old ones, deletes, a flush now and then."""
        via = self.rng.choice(self.cluster.alive())
        for _ in range(n):
            i = str(self.next if self.rng.random() < 0.7 or not self.truth else self.rng.choice(sorted(self.truth)))
            if i in self.truth and self.rng.random() < 0.3:
                self.put(i, None, *via.call("DELETE", f"/{self.name}/_doc/{i}?timeout=10s"))
            else:
                doc = {"n": self.next, "k": f"k{self.next % 5}", "text": f"number {self.next} " * self.rng.randrange(1, 8)}
                self.put(i, doc, *via.call("PUT", f"/{self.name}/_doc/{i}?timeout=10s", doc))
            self.next += 1
            if self.rng.random() < 0.05:
                via.call("POST", f"/{self.name}/_flush?force=true")
            if self.rng.random() < 0.05:
                via.call("POST", f"/{self.name}/_refresh")

    def put(self, i, doc, status, answer):
        if status in (200, 201):
            self.maybe.pop(i, None)
            self.truth.pop(i, None)
            if doc is not None:
                self.truth[i] = doc
        else:
            self.maybe.setdefault(i, []).append(doc)

    def read(self, node, node_id):
        """What the copies on a node have; None: an error."""
        body = {"size": 10000, "query": {"match_all": {}}, "aggs": {"s": {"sum": {"field": "n"}}, "k": {"terms": {"field": "k"}}}}
        status, answer = node.call("POST", f"/{self.name}/_search?preference=_only_nodes:{node_id}", body)
        if status != 200 or answer["_shards"]["failed"]:
            return None
        found = {h["_id"]: h["_source"] for h in answer["hits"]["hits"]}
        assert answer["hits"]["total"]["value"] == len(found) and answer["aggregations"]["s"]["value"] == sum(d["n"] for d in found.values()), (answer["aggregations"], answer["hits"]["total"], answer["_shards"], answer["timed_out"], sorted(h["_id"] for h in answer["hits"]["hits"]))
        assert sum(b["doc_count"] for b in answer["aggregations"]["k"]["buckets"]) == len(found), answer["aggregations"]
        return found

    def right(self, found, what, whole=True):
        for i in set(found) | (set(self.truth) if whole else set()):
            may = self.maybe.get(i, []) + [self.truth.get(i)]
            assert found.get(i) in may, f"{what}: document {i} is {found.get(i)}, and should be one of {may}"

    def folder(self, node, shard):
        return os.path.join(node.data, "data", "indices", self.uuid, str(shard))


# ---- what is done to files ----

def change(path, at, content):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(content)


def flips(r, path):
    for _ in range(r.randrange(1, 6)):
        at = r.randrange(os.path.getsize(path))
        with open(path, "rb") as f:
            f.seek(at)
            old = f.read(1)[0]
        change(path, at, bytes([old ^ 1 << r.randrange(8)]))


def zeros(r, path):
    at = r.randrange(os.path.getsize(path)) // 512 * 512
    change(path, at, bytes(min(512, os.path.getsize(path) - at)))


def cut(r, path):
    os.truncate(path, r.randrange(os.path.getsize(path)))


def noise(r, path):
    at = r.randrange(os.path.getsize(path))
    change(path, at, bytes(r.randrange(256) for _ in range(min(r.randrange(1, 300), os.path.getsize(path) - at))))


def gone(_, path):
    os.remove(path)


def twice(_, path):
    """Under the next number, too."""
    head, number = path.rsplit("_", 1)
    shutil.copy(path, f"{head}_{int(number) + 1}")


def of_another(r, path):
    """What another copy, or the other shard, has under a like name; in its place, so that who has it open keeps what was there."""
    base = os.path.basename(path).split("_")[0]
    here = glob.glob(os.path.join(os.path.dirname(os.path.dirname(path)), "*", base + "_*"))
    like = [p for p in here + OTHERS if os.path.basename(p).startswith(base) and p != path and os.path.exists(p)]
    if like:
        shutil.copy(r.choice(like), path + ".other")
        os.replace(path + ".other", path)


OTHERS = []  # files of other nodes' copies
IN_PLACE = [flips, flips, zeros, cut, noise]
MOVED = [gone, twice, of_another, of_another]


def damage(r, folder, running):
    """One to three things, to files of a copy, or all of it is gone. Says what. A segment that a node has open is not changed under its hands: a disk shows
    what became of it when it is read again, and a block that was right is trusted for minutes."""
    said = []
    if r.random() < 0.1:
        shutil.rmtree(folder)
        return ["the folder is gone"]
    for _ in range(r.randrange(1, 4)):
        files = [p for p in sorted(glob.glob(os.path.join(folder, "*_*"))) if os.path.getsize(p) > 0 and "corrupted" not in p and "recovery." not in p]
        if files:
            path = r.choice(files)
            how = r.choice(MOVED if running and "segment_" in path else IN_PLACE + MOVED)
            try:
                how(r, path)
                said.append(f"{how.__name__} {os.path.basename(path)}")
            except FileNotFoundError:
                pass  # a node that runs removed it
    return said


# ---- ----

def settled(cluster, name):
    """Green, or red with a reason."""
    def look():
        via = cluster.alive()[0]
        status, h = via.call("GET", f"/_cluster/health/{name}")
        if status != 200 or h["initializing_shards"] or h["relocating_shards"]:
            return None
        if h["status"] == "green":
            return "green"
        if h["status"] != "red":
            return None
        for shard in range(2):
            x = via.call("GET", "/_cluster/allocation/explain", {"index": name, "shard": shard, "primary": True})[1]
            if x.get("current_state") == "unassigned" and (x["can_allocate"] == "no_valid_shard_copy" or x["unassigned_info"].get("failed_allocation_attempts", 0) > 2):
                return "red"
        return None
    return wait_for("green, or red with a reason", look)


def look_at_all(cluster, index, what, must):
    """All copies are asked, and all files read; who finds damage heals."""
    state = settled(cluster, index.name)
    assert state == "green" or not must, f"{what}: {state}"
    via = cluster.alive()[0]
    via.call("POST", f"/{index.name}/_refresh")
    for node_id in cluster.ids():
        found = index.read(via, node_id)
        if found is not None:
            index.right(found, what, whole=must)
    return state


def turn(cluster, number, r):
    index = Index(cluster, f"i{number}", r)
    index.write(60)
    everywhere, running = r.random() < 0.25, r.random() < 0.4
    shard, victims = r.randrange(2), cluster.nodes if everywhere else [r.choice(cluster.nodes)]
    what = f"{'running' if running else 'killed'}, shard {shard}:"
    kill = [] if running else (cluster.nodes if everywhere or r.random() < 0.5 else victims)
    for n in kill:
        n.kill()
    OTHERS[:] = [p for n in cluster.nodes if n not in victims for s in range(2) for p in glob.glob(os.path.join(index.folder(n, s), "*_*"))]
    for n in victims:
        what += f" {n.name}: {', '.join(damage(r, index.folder(n, shard), running))};"
    print(what, flush=True)
    cluster.together(lambda n: n.start(), kill)
    cluster.wait_nodes(3)
    look_at_all(cluster, index, what, not everywhere)
    if not everywhere:
        index.write(20)
        cluster.alive()[0].call("POST", f"/{index.name}/_flush?force=true")
    look_at_all(cluster, index, what, not everywhere)
    for n in cluster.nodes:  # what only an opening finds
        n.kill()
    cluster.together(lambda n: n.start(), cluster.nodes)
    cluster.wait_nodes(3)
    state = look_at_all(cluster, index, what, not everywhere)
    assert cluster.alive()[0].call("DELETE", f"/{index.name}")[0] == 200
    return state


def main():
    passed = failed = 0
    with Cluster(3) as cluster:
        for i in range(COUNT):
            try:
                state = turn(cluster, i, random.Random(SEED * 1000 + i))
                passed += 1
                print(f"ok: {state}", flush=True)
            except (AssertionError, RuntimeError) as e:
                failed += 1
                print(f"FAILED: seed {SEED}, turn {i}: {e}", flush=True)
                break
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
