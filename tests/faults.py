"""What the tests of a cluster under faults share: rounds of load, one fault in each, and what must hold after it."""
import os
import random
import shutil
import sys
import tempfile
import time

from cluster import Cluster
from history import Final, check, equal_copies
from load import INDEX, MAPPING, Load
from node import promised, wait_for, wait_for

LONG = os.environ.get("LONG") == "1"
SEED = int(os.environ.get("SEED", "1"))
GREEN_SECONDS = 10  # after everything is whole again


def count(short, long):
    return int(os.environ.get("COUNT", str(long if LONG else short)))


class Faults:
    """A cluster with the index, and a load on it. Counts rounds as checks do."""

    green_seconds = GREEN_SECONDS

    def __init__(self, cluster, **load):
        self.cluster, self.random = cluster, random.Random(SEED)
        self.load = Load([(n.host, n.port) for n in cluster.nodes], SEED, **load)
        self.passed = self.failed = 0
        self.gaps, self.greens = [], []

    def create(self, shards=3, replicas=1, delayed="0"):
        self.shards = shards
        status, answer = self.cluster.nodes[0].call("PUT", f"/{INDEX}", {"mappings": MAPPING, "settings": {
            "number_of_shards": shards, "number_of_replicas": replicas, "index.unassigned.node_left.delayed_timeout": delayed,
            "index.refresh_interval": "200ms", "index.allocation.max_retries": 50}})
        assert status == 200, answer
        self.cluster.healthy(INDEX, promised(GREEN_SECONDS))

    def round(self, what, act, warm=0.3, strict_searches=False):
        """Load, the fault and its end (`act`), the way back to green, and all checks."""
        bad, green = [], 0.0
        try:
            self.load.start()
            time.sleep(warm)
            act()
            green = self.cluster.healthy(INDEX, promised(self.green_seconds))
            time.sleep(0.1)  # of load on what is whole again
        except Exception as e:  # noqa: BLE001 - whatever it is, the round failed, and the next one goes on
            bad.append(f"{type(e).__name__}: {e}")
        bad += self.load.stop()
        acked = self.load.acked
        if strict_searches:
            bad += [f"a search failed: {f}" for f in self.load.search_failures]
        try:
            bad += self.verify()
        except Exception as e:  # noqa: BLE001
            bad.append(f"{type(e).__name__}: {e}")
        self.gaps.append(self.load.gaps.longest)
        self.greens.append(green)
        print(f"{what}: {acked} acknowledged by now, {self.load.gaps.longest * 1000:.0f} ms without, green after {green:.2f} s, "
              f"{len(self.load.refusals)} refused, {len(self.load.search_failures)} searches failed, {len(bad)} wrong", flush=True)
        for line in bad[:12]:
            print("    " + line, flush=True)
        if os.environ.get("VERBOSE"):
            for line in sorted(set(self.load.refusals))[:5] + sorted(set(self.load.search_failures))[:5]:
                print("    (heard: %s %s)" % line, flush=True)
        if bad:
            self.keep_logs(what)
        self.passed, self.failed = self.passed + (not bad), self.failed + bool(bad)
        return not bad

    def verify(self):
        """Copies are equal, and the history can be true."""
        cluster = self.cluster
        via = self.random.choice(cluster.nodes)
        # A write whose client gave up may still be on its way: a node that was cut off sends it again when it can.
        wait_for("the end of all writes", lambda: not via.call("GET", "/_tasks?actions=indices:data/write*")[1].get("nodes"))
        refused = wait_for("a refresh of all copies", lambda: self.refreshed(via), promised(self.green_seconds))
        if refused is not True:
            return [f"a refresh says {refused}"]
        shards, final, bad = {}, {}, []
        for shard, primary, node_id, name in wait_for("a primary of each shard", self.copies, promised(self.green_seconds)):
            docs = cluster.documents(INDEX, shard, node_id, via)
            shards.setdefault(shard, {})[name] = docs
            if primary:
                final.update({i: Final(d[0], d[1], d[3]["l"] if "l" in d[3] else d[3]["t"]) for i, d in docs.items()})
        for copies in shards.values():
            bad += equal_copies(copies)
        bad += check(self.load.history, final) + self.gets(final)
        bad += self.checkpoints(via)
        return bad

    def refreshed(self, via):
        """True; None while a copy is in no place (see copies()); what is said where a copy failed."""
        status, answer = via.call("POST", f"/{INDEX}/_refresh")
        if status != 200 or answer["_shards"]["failed"]:
            return f"{status} {answer}"
        return answer["_shards"]["successful"] == answer["_shards"]["total"] or None

    def copies(self):
        """None while a shard has no primary: that a node was cut off may be noticed when all had seemed to be whole again."""
        copies = self.cluster.copies(INDEX)
        return copies if sum(primary for _, primary, _, _ in copies) == self.shards else None

    def gets(self, final):
        """Documents by id, from any copy, are what searches find."""
        ids = sorted({op.doc for op in self.load.history.ops if op.doc})
        ids = self.random.sample(ids, min(len(ids), 300))
        bad = []
        if ids:
            via = self.random.choice(self.cluster.nodes)
            status, answer = via.call("POST", f"/{INDEX}/_mget", {"ids": ids})
            assert status == 200, answer
            for d in answer["docs"]:
                have = final.get(d["_id"])
                if d.get("found", False) != (have is not None) or (have and d["_seq_no"] != have.seq):
                    bad.append(f"get says {d}, search {have}")
        return bad

    def checkpoints(self, via):
        status, answer = via.call("GET", f"/{INDEX}/_stats?level=shards")
        bad = []
        for shard, copies in answer["indices"][INDEX]["shards"].items():
            numbers = {(c["seq_no"]["max_seq_no"], c["seq_no"]["local_checkpoint"]) for c in copies}
            if len(numbers) != 1 or any(a != b for a, b in numbers):
                bad.append(f"shard {shard}: (max_seq_no, local_checkpoint) of its copies are {sorted(numbers)}")
        return bad

    def keep_logs(self, what):
        """The logs as they were when a round failed, for whoever looks for why."""
        folder = os.environ.get("KEEP_LOGS")
        if folder:
            into = tempfile.mkdtemp(prefix=what.replace(" ", "-").replace("/", "-")[:60] + "-", dir=folder)
            for n in self.cluster.nodes:
                shutil.copy(n.log_path, os.path.join(into, n.name))

    def end(self):
        greens, gaps = sorted(self.greens), sorted(self.gaps)
        if gaps:
            print(f"{len(gaps)} rounds, {self.load.acked} acknowledged writes, {self.load.searches} searches; longest time without an acknowledged write: "
                  f"median {gaps[len(gaps) // 2]:.2f} s, worst {gaps[-1]:.2f} s; green: median {greens[len(greens) // 2]:.2f} s, worst {greens[-1]:.2f} s")
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.load.acked else 0)
