#!/usr/bin/env python3
"""Replays the recorded answers of Elasticsearch 7.12.1, where they lie beside the project, against a cluster of three nodes, through
one of them, while a fourth node joins and leaves time and again. What fails on one node (ratchet.txt) may fail here; what tells how
many nodes there are (more_nodes.txt) must differ; and a shard may be on its way.

Before the fourth node leaves, its shards move off, for which a cluster setting is needed: scenarios that show these run without it.

Copies stay where they are: the fourth node has none. In the long form it takes its part of them, and they move on when it leaves; what follows the order
of documents in a copy (completions, _doc), or a scroll over one, may then differ, and is for people to judge. There the replay goes through each of the three, and
through one that only coordinates. AREAS limits the replay to some areas."""
import os
import re
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), HERE]
from cluster import Cluster  # noqa: E402
from node import SHARED, free_port, skip, wait_for  # noqa: E402
from refreshing import Refreshing  # noqa: E402
from test_recordings import ratchet  # noqa: E402

LONG = os.environ.get("LONG") == "1"
SHOW_SETTINGS = ["cluster/settings-and-nodes"]
# A copy is on its way, or came that way; the master has work with it.
WHAT = re.compile(r"HTTP status|hits\.total|_shards|count|error|timed_out|status")  # what no order of documents changes
MOVING = re.compile(r'(relocating_shards|initializing_shards|relo|init|number_of_pending_tasks|number_of_in_flight_fetch'
                    r'|task_max_waiting_in_queue_millis): .*|.*\.type: "PEER", want "EMPTY_STORE"')


def steps_of(path):
    with open(path, encoding="utf-8") as f:
        return {line.strip() for line in f if line.strip() and not line.startswith("#")}


class Guest:
    """A fourth node that comes and goes until it is told to end."""

    def __init__(self, cluster):
        self.cluster, self.node, self.over, self.turns, self.failure = cluster, cluster.new_node("n9", free_port()), threading.Event(), 0, None
        if not LONG:
            self.node.settings["node.roles"] = "master"
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        try:
            while not self.over.is_set():
                self.node.start()
                self.over.wait(0.7)
                self.exclude(self.node.name)  # shards without a replica would go with it
                wait_for("a node without shards", lambda: self.node.name not in self.cluster.nodes[0].call("GET", "/_cat/shards?h=node")[1])
                self.node.stop()
                self.exclude(None)
                self.turns += 1
                self.over.wait(0.3)
        except Exception as e:  # noqa: BLE001 - told by end()
            self.failure = e

    def exclude(self, name):
        status, answer = self.cluster.nodes[0].call("PUT", "/_cluster/settings", {"transient": {"cluster.routing.allocation.exclude._name": name}})
        assert status == 200, answer

    def end(self):
        self.over.set()
        self.thread.join()
        self.node.clean_up()
        if self.failure:
            raise self.failure
        return self.turns


def failures(output):
    """{(scenario, step): [differences]} of what failed."""
    found, at = {}, None
    for line in output.splitlines():
        m = re.match(r"FAIL (\S+) · (.+?) · [A-Z]+ /", line)
        if m:
            at = found.setdefault((m.group(1), m.group(2)), [])
        elif at is not None and line.startswith("     "):
            at.append(line.strip())
        else:
            at = None
    return found


def scenarios(areas):
    """Names of all that are to be replayed."""
    root = os.path.join(SHARED, "conformance", "scenarios")
    names = (os.path.relpath(os.path.join(folder, f), root)[:-5] for folder, _, files in os.walk(root) for f in files if f.endswith(".json"))
    return sorted(n for n in names if not areas or any(n.startswith(a) for a in areas))


def replay(runner, node, names):
    """(steps that passed, {step that failed: differences})."""
    if not names:
        return 0, {}
    p = subprocess.run([sys.executable, runner, node.url, "--nodes", "3", "--verbose"] + names, stdout=subprocess.PIPE, text=True)
    closing = re.search(r"^(\d+) passed, (\d+) failed$", p.stdout, re.M)
    if not closing:
        sys.exit(p.stdout + "the replay did not finish")
    found = failures(p.stdout)
    assert sum(1 for line in p.stdout.splitlines() if line.startswith("FAIL ")) == int(closing.group(2)), p.stdout[-3000:]
    return int(closing.group(1)), found


def twice(runner, node, found, known):
    """Those of the failures that come again in another replay of their scenarios. Two copies of a shard may hold its documents in
    different orders, as in Elasticsearch: what follows that order (_doc, ties, completions) is one answer or the other, by chance.
    What was found, and whether, is not: that fails at once."""
    by_chance = {at for at, lines in found.items() if not any(WHAT.match(line) for line in lines)}
    names = sorted({scenario for (scenario, step) in by_chance if f"{scenario} · {step}" not in known})
    again = replay(runner, node, names)[1] if names else {}
    return {at: lines for at, lines in found.items() if at not in by_chance or at in again}


def shown_early(runner, node, found, known):
    """Those of the failures that are none of a copy that came after a write: it shows at once what nobody refreshed, as in Elasticsearch,
    where a recovery ends with a refresh. Which copies do depends on how quick they are. They answer as any does behind a refresh."""
    names = sorted({scenario for (scenario, step) in found if f"{scenario} · {step}" not in known})
    if not names:
        return found
    with Refreshing(node) as refreshing:
        shown = replay(runner, refreshing, names)[1]
    return {at: lines for at, lines in found.items() if shown.get(at) != lines}


def judge(found, known, may):
    """How many of the failures are none of more nodes; says each. `may`: how many steps of an area may fail, as on one node."""
    bad, left = 0, dict(may)
    for (scenario, step), lines in found.items():
        area = scenario.split("/")[0]
        if f"{scenario} · {step}" in known or all(MOVING.fullmatch(line) for line in lines):
            continue
        if left.get(area, 0) > 0:
            left[area] -= 1
            continue
        bad += 1
        print(f"{scenario} · {step}\n    " + "\n    ".join(lines[:6]))
    return bad


def main():
    runner = os.path.join(SHARED, "conformance", "run.py")
    if not os.path.exists(runner):
        skip("no recordings beside the project")
    known, names = steps_of(os.path.join(HERE, "more_nodes.txt")), scenarios(os.environ.get("AREAS", "").split())
    passed = failed = 0
    still = {} if LONG else {"cluster.routing.rebalance.enable": "none"}
    with Cluster(4 if LONG else 3, conf=os.path.join(SHARED, "conformance", "config"), coordinating=1 if LONG else 0, **still) as cluster:
        for node in cluster.nodes if LONG else [n for n in cluster.nodes if n is not cluster.master()][:1]:
            guest = Guest(cluster)
            try:
                ok, found = replay(runner, node, [n for n in names if n not in SHOW_SETTINGS])
            finally:
                turns = guest.end()
            more, others = replay(runner, node, [n for n in names if n in SHOW_SETTINGS])
            ok, found = ok + more, {**found, **others}
            for _ in range(3):
                found = twice(runner, node, found, known)
            found = shown_early(runner, node, found, known)
            bad = judge(found, known, ratchet())
            print(f"through {node.name}, a fourth node came and went {turns} times: {ok} steps passed, {bad} failed")
            assert turns > 0
            passed, failed = passed + ok, failed + bad
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
