#!/usr/bin/env python3
"""Bytes of a segment that went wrong are found before they are answered: the only copy, a replica, a primary with a replica.

What is answered is right or says corrupt_index_exception; a damaged copy fails with that reason, is healed from another one, and
with none the index is red and says why. FLIPS is how many places the only copy is damaged in, one after the other (5; 60 in the
long form), SEED the random seed (1)."""
import glob
import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cluster import Cluster  # noqa: E402
from node import Node, wait_for  # noqa: E402

LONG = os.environ.get("LONG") == "1"
FLIPS = int(os.environ.get("FLIPS", "60" if LONG else "5"))
SEED = int(os.environ.get("SEED", "1"))
DOCS = 1500
BLOCK = 16384


def flip(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        old = f.read(1)
        f.seek(at)
        f.write(bytes([old[0] ^ 0x10]))


def folder(node, index):
    uuid = node.call("GET", f"/{index}/_settings")[1][index]["settings"]["index"]["uuid"]
    return os.path.join(node.data, "data", "indices", uuid, "0")


def in_folder(path, pattern):
    return sorted(glob.glob(os.path.join(path, pattern)))


class Documents:
    """What is in the index, and requests of which the answers are known."""

    def __init__(self, seed):
        r = random.Random(seed)
        self.docs = [{"n": i, "k": f"k{i % 7}", "text": " ".join(f"{r.randrange(1 << 40):x}" for _ in range(12))} for i in range(DOCS)]

    def load(self, node, index, replicas, **more):
        mapping = {"properties": {"n": {"type": "long"}, "k": {"type": "keyword"}, "text": {"type": "text"}}}
        settings = {"number_of_shards": 1, "number_of_replicas": replicas, "refresh_interval": -1, **more}
        status, answer = node.call("PUT", f"/{index}?wait_for_active_shards=all&timeout=120s", {"settings": {"index": settings}, "mappings": mapping})
        assert status == 200 and answer["shards_acknowledged"], answer
        for start in range(0, DOCS, 250):
            lines = []
            for i in range(start, start + 250):
                lines += [{"index": {"_id": str(i)}}, self.docs[i]]
            status, answer = node.call("POST", f"/{index}/_bulk", lines)
            assert status == 200 and not answer["errors"], answer
        self.settle(node, index, replicas + 1)

    @staticmethod
    def settle(node, index, copies):
        """One segment and one commit in every copy, nothing else that a copy could be opened from."""
        def all_know():
            shards = node.call("GET", f"/{index}/_stats?level=shards")[1]["indices"][index]["shards"].get("0", [])
            return len(shards) == copies and all(s["seq_no"]["global_checkpoint"] == DOCS - 1 == s["seq_no"]["local_checkpoint"] for s in shards)

        wait_for("the global checkpoint in every copy", all_know)
        status, answer = node.call("POST", f"/{index}/_forcemerge?max_num_segments=1&flush=true")
        assert status == 200 and answer["_shards"]["failed"] == 0, answer
        assert node.call("POST", f"/{index}/_refresh")[0] == 200

    def settled(self, node, index, path):
        def one():
            status, answer = node.call("POST", f"/{index}/_flush?force=true&wait_if_ongoing=true")
            return status == 200 and answer["_shards"]["failed"] == 0 and len(in_folder(path, "segment_*")) == 1 and len(in_folder(path, "manifest_*")) == 1

        wait_for(f"one segment in {path}", one)
        return in_folder(path, "segment_*")[0]

    def requests(self, seed):
        r = random.Random(seed)
        d = r.choice(self.docs)
        yield {"size": DOCS, "sort": ["n"], "track_total_hits": True}, lambda a: [h["_source"] for h in a["hits"]["hits"]] == self.docs
        yield ({"size": 0, "aggs": {"s": {"sum": {"field": "n"}}, "k": {"terms": {"field": "k"}}}},
               lambda a: a["aggregations"]["s"]["value"] == DOCS * (DOCS - 1) / 2 and sum(b["doc_count"] for b in a["aggregations"]["k"]["buckets"]) == DOCS)
        yield {"query": {"match": {"text": d["text"].split()[3]}}}, lambda a: [h["_id"] for h in a["hits"]["hits"]] == [str(d["n"])]
        yield {"query": {"match_phrase": {"text": " ".join(d["text"].split()[2:6])}}}, lambda a: [h["_id"] for h in a["hits"]["hits"]] == [str(d["n"])]
        yield {"query": {"term": {"k": d["k"]}}, "track_total_hits": True, "size": 0}, lambda a: a["hits"]["total"]["value"] == sum(x["k"] == d["k"] for x in self.docs)
        yield {"query": {"range": {"n": {"gte": 100, "lt": 700}}}, "track_total_hits": True, "size": 0}, lambda a: a["hits"]["total"]["value"] == 600

    def ask(self, node, index, seed, query=""):
        """All of them: right, or the reasons why not. Wrong is never."""
        reasons = []
        for body, right in self.requests(seed):
            status, answer = node.call("POST", f"/{index}/_search{query}", body)
            assert isinstance(answer, dict), (body, answer[:300])
            if status == 200 and answer["_shards"]["failed"] == 0:
                assert right(answer), f"a wrong answer to {json.dumps(body)}: {json.dumps(answer)[:600]}"
                continue
            if "error" in answer:
                reasons += [f["reason"] for f in answer["error"].get("failed_shards", [])] or [answer["error"]]
            else:
                reasons += [f["reason"] for f in answer["_shards"]["failures"]]
        for r in reasons:
            assert r["type"] in ("corrupt_index_exception", "no_shard_available_action_exception"), r
        return reasons

    def get(self, node, index, seed, query=""):
        """The same of one document."""
        d = random.Random(seed).choice(self.docs)
        status, answer = node.call("GET", f"/{index}/_doc/{d['n']}{query}")
        assert (status == 200 and answer["_source"] == d) or status in (500, 503), (status, answer)
        return [] if status == 200 else [answer["error"]]


def only_copy():
    docs = Documents(SEED)
    r = random.Random(SEED)
    with Node() as node:
        docs.load(node, "i", 0)
        path = folder(node, "i")
        segment = docs.settled(node, "i", path)
        size = os.path.getsize(segment)
        assert size > 8 * BLOCK, size
        found = 0
        for turn in range(FLIPS):
            # Stored documents, which the first request reads, or anything. Not the last block: what an open reads is test_damage.py's.
            at = r.randrange(BLOCK, 5 * BLOCK if turn % 2 == 0 else size - 2 * BLOCK)
            node.kill()
            flip(segment, at)
            node.start()
            wait_for("the shard", lambda: node.call("GET", "/_cluster/health/i")[1]["status"] == "green")
            reasons = docs.get(node, "i", turn) + docs.ask(node, "i", turn)
            if reasons:
                found += 1
                first = reasons[0]
                assert first["type"] == "corrupt_index_exception" and "checksum failed" in first["reason"] and os.path.basename(segment) in first["reason"], reasons
                explained(node, at, path)
            node.kill()
            flip(segment, at)
            node.start()
            wait_for(f"green after {at} was mended", lambda: node.call("GET", "/_cluster/health/i")[1]["status"] == "green")
            assert docs.ask(node, "i", turn) == [], "all is right again"
            assert in_folder(path, "corrupted_*") == [], "what is right again is not marked"
        assert found >= (FLIPS + 1) // 2, f"of {FLIPS} damaged places {found} were found"


def explained(node, at, path):
    """Red, with the reason; nothing of it is served."""
    shards = lambda: node.call("GET", "/_cat/shards/i?h=state,unassigned.details")[1]
    details = wait_for("a shard without a place", lambda: (s := shards()).startswith("UNASSIGNED") and "checksum failed" in s and s)
    assert "section [" in details, (at, details)
    assert node.call("GET", "/_cluster/health/i")[1]["status"] == "red"
    status, answer = node.call("GET", "/_cluster/allocation/explain", {"index": "i", "shard": 0, "primary": True})
    assert status == 200 and "checksum failed" in answer["unassigned_info"]["details"], answer
    assert len(in_folder(path, "corrupted_*")) == 1
    status, answer = node.call("POST", "/i/_search", {})
    assert status == 503, answer
    assert "checksum failed" in open(node.log_path, encoding="utf-8").read()


def check_on_startup():
    """Found while the shard is opened; nobody needs to read it."""
    docs = Documents(SEED)
    with Node() as node:
        docs.load(node, "i", 0, **{"shard.check_on_startup": "checksum"})
        path = folder(node, "i")
        segment = docs.settled(node, "i", path)
        node.kill()
        flip(segment, 2 * BLOCK)
        node.start()
        shards = lambda: node.call("GET", "/_cat/shards/i?h=state,unassigned.details")[1]
        wait_for("a shard without a place", lambda: (s := shards()).startswith("UNASSIGNED") and "checksum failed" in s)
        flip(segment, 2 * BLOCK)
        wait_for("green", lambda: node.call("GET", "/_cluster/health/i")[1]["status"] == "green")
        assert docs.ask(node, "i", 1) == []


def damage_in_cluster(primary, seed, openable=True):
    """One of two copies. With a node gone there is no majority: where the copies are stays as it is. For the primary both nodes were
    ended, so that each copy may be it."""
    docs = Documents(seed)
    with Cluster(2) as cluster:
        node = cluster.nodes[0]
        docs.load(node, "i", 1)
        cluster.wait_green("i")
        victim = cluster.holding("i", primary)[0]
        path = folder(victim, "i")
        segment = docs.settled(node, "i", path)
        if primary:
            for n in cluster.nodes:
                n.kill()
        else:
            victim.kill()
        size = os.path.getsize(segment)
        whole = open(segment, "rb").read()
        # Of stored documents: what the first request reads. Or of the footer: what an open reads.
        for at in range(BLOCK, min(size - 2 * BLOCK, 8 * BLOCK), BLOCK) if openable else [size - 25]:
            flip(segment, at + 5)
        damaged = open(segment, "rb").read()
        assert damaged != whole
        cluster.together(lambda n: n.start(), cluster.nodes if primary else [victim])
        cluster.wait_nodes(2)
        cluster.wait_green("i")
        seen = []
        ids = {name: i for i, name in cluster.ids().items()}

        def healed():
            """Both copies asked; nothing is wrong meanwhile."""
            for name in sorted({c[3] for c in cluster.copies("i")}):
                seen.extend(docs.ask(node, "i", seed, f"?preference=_only_nodes:{ids[name]}"))
            docs.get(node, "i", seed)
            if in_folder(path, "corrupted_*") or (os.path.exists(segment) and open(segment, "rb").read() == damaged):
                return False
            health = node.call("GET", "/_cluster/health/i")[1]
            return health["status"] == "green" and len(cluster.copies("i")) == 2

        wait_for("the damaged copy to be healed", healed)
        cluster.wait_green("i")
        for _, _, node_id, name in cluster.copies("i"):
            assert docs.ask(node, "i", seed, f"?preference=_only_nodes:{node_id}") == [], name
        why = "checksum failed" if openable else "footer is damaged"
        assert any(why in open(n.log_path, encoding="utf-8").read() for n in cluster.nodes), "nobody said why"


CASES = [("the only copy", only_copy), ("index.shard.check_on_startup", check_on_startup), ("a replica", lambda: damage_in_cluster(False, SEED + 1)),
         ("a primary with a replica", lambda: damage_in_cluster(True, SEED + 2)),
         ("a primary that cannot be opened, with a replica", lambda: damage_in_cluster(True, SEED + 3, False))]


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
