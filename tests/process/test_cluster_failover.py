#!/usr/bin/env python3
"""kill -9 of one node of three under writes and searches: what was acknowledged is there once, nothing that was refused is, ids
that the nodes made up are not made twice; searches through the nodes that are left do not fail.

COUNT kills (4; 30 in the long form), SEED the random seed (1)."""
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402

LONG = os.environ.get("LONG") == "1"
COUNT = int(os.environ.get("COUNT", "30" if LONG else "4"))
SEED = int(os.environ.get("SEED", "1"))
WRITERS = 3
check = Checks()


class Client(threading.Thread):
    """Sends to one node after the other, as clients do: to the next when one is not there."""

    def __init__(self, cluster, number):
        super().__init__(daemon=True)
        self.cluster, self.number, self.random, self.stop = cluster, number, random.Random(SEED * 100 + number), False
        self.errors = []

    def call(self, method, path, body):
        """(status, answer), or None when it is not known what became of it."""
        node = self.random.choice(self.cluster.nodes)
        try:
            return node.call(method, path, body, timeout=90)
        except ConnectionRefusedError:
            return 0, None
        except Exception:  # the node went while it had the request
            return None

    def run(self):
        try:
            while not self.stop:
                self.step()
        except Exception as e:
            self.errors.append(repr(e))


class Writer(Client):
    """Values tell documents apart. `sure` were acknowledged, `maybe` may be there, and no other is."""

    def __init__(self, cluster, number):
        super().__init__(cluster, number)
        self.sure, self.maybe, self.next, self.slowest = set(), set(), 0, 0.0

    def note(self, values, answer, began):
        if answer is None:
            self.maybe.update(values)
            return
        status, body = answer
        if status == 0:
            return
        self.slowest = max(self.slowest, time.monotonic() - began)
        if status in (200, 201) and not body.get("errors"):
            self.sure.update(values)
        elif "unknown" in str(body):
            self.maybe.update(values)
        else:
            self.errors.append(f"{status} {str(body)[:300]}")

    def step(self):
        values = [f"{self.number}-{self.next + i}" for i in range(5)]
        self.next += 5
        began = time.monotonic()
        kind = self.random.random()
        if kind < 0.3:
            self.note(values[:1], self.call("POST", "/f/_doc", {"v": values[0]}), began)
        elif kind < 0.6:
            self.note(values[:1], self.call("PUT", f"/f/_doc/{values[0]}", {"v": values[0]}), began)
        else:
            lines = []
            for i, v in enumerate(values):
                lines += [{"index": {"_id": v} if i % 2 else {}}, {"v": v}]
            self.note(values, self.call("POST", "/f/_bulk", lines), began)


class Searcher(Client):
    count = 0

    def step(self):
        answer = self.call("POST", "/f/_search", {"query": {"match_all": {}}, "size": 5})
        if answer is None or answer[0] == 0:
            return
        self.count += 1
        status, body = answer
        if status != 200 or body["_shards"]["failed"] > 0:
            self.errors.append(f"{status} {str(body)[:300]}")
        time.sleep(0.005)


def values_of(node):
    """How often each value is there."""
    found = {}
    status, a = node.call("POST", "/f/_search?scroll=1m&size=1000", {"sort": ["_doc"]})
    while a["hits"]["hits"]:
        for h in a["hits"]["hits"]:
            found[h["_source"]["v"]] = found.get(h["_source"]["v"], 0) + 1
        status, a = node.call("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": a["_scroll_id"]})
    node.call("DELETE", "/_search/scroll", {"scroll_id": a["_scroll_id"]})
    return found


def main():
    rng = random.Random(SEED)
    with Cluster(3) as cluster:
        status, a = cluster.nodes[0].call("PUT", "/f", {"settings": {
            "number_of_shards": 3, "number_of_replicas": 1, "index.unassigned.node_left.delayed_timeout": "0"},
            "mappings": {"properties": {"v": {"type": "keyword"}}}})
        check.equal(status, 200, "an index")
        cluster.wait_green("f")
        clients = [Writer(cluster, i) for i in range(WRITERS)] + [Searcher(cluster, WRITERS)]
        for c in clients:
            c.start()
        for kill in range(COUNT):
            time.sleep(rng.uniform(0.3, 0.8))
            victim = rng.choice(cluster.nodes)
            victim.kill()
            time.sleep(rng.uniform(0.3, 1.5))
            victim.start()
            cluster.wait_nodes(3)
            cluster.wait_green("f")
        for c in clients:
            c.stop = True
        for c in clients:
            c.join()
            check.equal(c.errors[:3], [], f"errors that client {c.number} saw ({len(c.errors)})")
        cluster.nodes[0].call("POST", "/f/_refresh")
        sure = set().union(*(c.sure for c in clients[:WRITERS]))
        maybe = set().union(*(c.maybe for c in clients[:WRITERS]))
        for node in cluster.nodes:
            found = values_of(node)
            check.equal(sorted(sure - found.keys())[:10], [], f"acknowledged and not there, through {node.name}")
            check.equal(sorted(found.keys() - sure - maybe)[:10], [], f"there, and never sent or refused, through {node.name}")
            check.equal([v for v, n in found.items() if n > 1][:10], [], f"there twice, through {node.name}")
        print(f"{COUNT} kills, {len(sure)} writes acknowledged, {len(maybe)} unknown, {clients[-1].count} searches, "
              f"slowest write {max(c.slowest for c in clients[:WRITERS]):.2f} s")
    check.end()


main()
