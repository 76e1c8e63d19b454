#!/usr/bin/env python3
"""kill -9 under writes and searches on a cluster: of the master, of a node with a primary, of one with a replica, of one that only
coordinates, of any, of all at once, of one while copies move; and gentle ends. Each starts again. Nothing acknowledged is lost,
nothing refused appears, copies are equal.

COUNT kills (10; 200 in the long form), SEED the random seed (1), KINDS which of them ("master moving ...")."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cluster import Cluster  # noqa: E402
from faults import Faults, INDEX, LONG, count  # noqa: E402


class Kills(Faults):
    def victim(self, role):
        c = self.cluster
        if role == "master":
            return c.master()
        if role == "primary":
            return self.random.choice(c.holding(INDEX, True))
        if role == "replica":
            return self.random.choice(c.holding(INDEX, False))
        return c.nodes[-1] if role == "coordinating" else self.random.choice(c.nodes)

    def one(self, role):
        def act():
            node = self.victim(role)
            node.kill()
            time.sleep(self.random.choice([0, 0.2, 1.0]))
            node.start()

        return act

    def two(self):
        """The second before the first is back."""
        first, second = self.random.sample(self.cluster.nodes[:3], 2)
        first.kill()
        time.sleep(self.random.uniform(0, 0.5))
        second.kill()
        self.cluster.together(lambda n: n.start(), [first, second])

    def quickly(self):
        """Again, while it recovers."""
        node = self.random.choice(self.cluster.nodes[:3])
        for _ in range(2):
            node.kill()
            node.start()

    def gently(self):
        """One after the other, each as soon as the one before is back: some of them while they recover, or are recovered from."""
        for node in self.random.sample(self.cluster.nodes, 3):
            node.stop()
            node.start()

    def moving(self):
        """While copies move away from a node: of it, or of one that they move to."""
        def exclude(name):
            status, answer = self.cluster.alive()[0].call("PUT", "/_cluster/settings", {"transient": {"cluster.routing.allocation.exclude._name": name}})
            assert status == 200, answer

        leaving, node = self.random.sample(self.cluster.nodes[:3], 2)
        exclude(leaving.name)
        time.sleep(self.random.uniform(0, 0.3))
        if self.random.random() < 0.5:
            node = leaving
        node.kill()
        node.start()
        exclude(None)

    def all(self):
        for n in self.cluster.nodes:
            n.kill()
        self.cluster.together(lambda n: n.start(), self.cluster.nodes)


def main():
    cluster = Cluster(4, coordinating=1)
    kills = Kills(cluster)
    kinds = os.environ.get("KINDS", "").split() or ["master", "primary", "replica", "coordinating", "all", "gently", "two", "quickly", "any", "moving"]
    with cluster:
        kills.create(replicas=kills.random.choice([1, 2]) if LONG else 1)
        for n in range(count(10, 200)):
            kind = kinds[n] if n < len(kinds) else kills.random.choice(kinds)
            act = getattr(kills, kind) if hasattr(kills, kind) else kills.one(kind)
            kills.round(f"kill {n + 1}, {kind}", act, warm=kills.random.uniform(0.1, 1.0), strict_searches=kind in ("master", "primary", "replica", "coordinating"))
    kills.end()


main()
