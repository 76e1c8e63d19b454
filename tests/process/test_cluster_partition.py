#!/usr/bin/env python3
"""Partitions of a cluster under writes and searches, of the kinds: the node of primaries is isolated, one node is, halves, a bridge
(one node sees both halves), one direction is lost, one link is. Clients reach every node all the time. Nothing acknowledged is lost,
nothing refused appears, copies are equal once the network is whole, and there is one history.

COUNT partitions (5; 60 in the long form), SEED the random seed (1). The network is made of namespaces, so this needs root."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import network  # noqa: E402
from cluster import Cluster  # noqa: E402
from faults import Faults, INDEX, LONG, count  # noqa: E402

NODES = 5


class Partitions(Faults):
    green_seconds = 30  # TCP tries again after about as long as nothing came through

    def __init__(self, cluster, net):
        super().__init__(cluster)
        self.net = net

    def number(self, node):
        return self.cluster.nodes.index(node)

    def isolate(self, i):
        self.net.part([i], [j for j in range(NODES) if j != i])

    def primaries(self):
        self.isolate(self.number(self.random.choice(self.cluster.holding(INDEX, True))))

    def master(self):
        self.isolate(self.number(self.cluster.master()))

    def single(self):
        self.isolate(self.random.randrange(NODES))

    def shuffled(self):
        return self.random.sample(range(NODES), NODES)

    def halves(self):
        order = self.shuffled()
        self.net.part(order[:2], order[2:])

    def bridge(self):
        order = self.shuffled()
        self.net.part(order[:2], order[3:])

    def direction(self):
        """What one node sends is lost, or what is sent to it."""
        i = self.random.randrange(NODES)
        away = [(i, j) for j in range(NODES) if j != i]
        self.net.cut(away if self.random.random() < 0.5 else [(b, a) for a, b in away])

    def link(self):
        a, b = self.shuffled()[:2]
        self.net.part([a], [b])

    def act(self, kind):
        def do():
            getattr(self, kind)()
            try:
                time.sleep(self.random.uniform(2, 12 if LONG else 4))
            finally:
                self.net.heal()

        return do


def main():
    network.enter()
    net = network.Network(NODES)
    cluster = Cluster(NODES, hosts=net.hosts)
    for i, node in enumerate(cluster.nodes):
        node.prefix = net.prefix(i)
    partitions = Partitions(cluster, net)
    kinds = ["primaries", "halves", "bridge", "direction", "single", "link", "master"]
    with cluster:
        partitions.create(replicas=partitions.random.choice([1, 2]))
        for n in range(count(5, 60)):
            kind = kinds[n] if n < len(kinds) else partitions.random.choice(kinds)
            partitions.round(f"partition {n + 1}, {kind}", partitions.act(kind))
    partitions.end()


main()
