#!/usr/bin/env python3
"""Nodes of a cluster stand still for seconds (SIGSTOP, SIGCONT) under writes and searches: the master, one with primaries, any, two.
They believe that no time has passed when they go on. Nothing acknowledged is lost, nothing refused appears, copies are equal.

COUNT times (3; 60 in the long form), SEED the random seed (1)."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cluster import Cluster  # noqa: E402
from faults import Faults, INDEX, count  # noqa: E402


class Freezes(Faults):
    def victims(self, kind):
        c = self.cluster
        if kind == "master":
            return [c.master()]
        if kind == "primary":
            return [self.random.choice(c.holding(INDEX, True))]
        return self.random.sample(c.nodes, 2 if kind == "two" else 1)

    def act(self, kind):
        def do():
            frozen = self.victims(kind)
            for node in frozen:
                node.process.send_signal(signal.SIGSTOP)
            try:
                time.sleep(self.random.uniform(2, 5))
            finally:
                for node in frozen:
                    node.process.send_signal(signal.SIGCONT)

        return do


def main():
    cluster = Cluster(3)
    freezes = Freezes(cluster)
    kinds = ["two", "primary", "master", "any"]
    with cluster:
        freezes.create()
        for n in range(count(3, 60)):
            kind = kinds[n] if n < len(kinds) else freezes.random.choice(kinds)
            freezes.round(f"freeze {n + 1}, {kind}", freezes.act(kind))
    freezes.end()


main()
