#!/usr/bin/env python3
"""What a client notices when a node of a three-node cluster dies, freezes, or all of them start.

    bench/failover.py [--node BINARY] [--kills N] [--other COMMAND ...] [--markdown FILE]

Three processes on this machine, an index of three shards with one replica and no delay before a lost copy is made anew.
Writers and searchers run through all of it; each tries the next node when one does not answer. Then, time and again:
  kill      SIGKILL of the elected master, or of a node that is not; until green with two nodes; started again; until green with three
  freeze    SIGSTOP of either; until green with two nodes; SIGCONT; until green with three
  form      three nodes without data: from the start of the first process until all three name the same master
At the end every acknowledged document is asked for. --other measures another server in the same run, its turns spread over ours: a
command line with {http} {transport} {name} {data} {seeds} {masters} to be filled in (seeds: the other two nodes; the process
that it becomes is the one that is killed: let scripts exec). Exit code 1: a document was lost or a search answered with an error.
"""
import argparse
import http.client
import json
import os
import platform
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from servers import OURS, Client, Servers, spread

INDEX = "failover"
SETTINGS = {"number_of_shards": 3, "number_of_replicas": 1, "index.unassigned.node_left.delayed_timeout": "0"}


class Cluster(Servers):
    """Three nodes, and what was measured of them."""

    def __init__(self, label, command, base, folder, patience):
        super().__init__(label, command, base, folder, patience)
        self.figures = {k: [] for k in (
            "form", "master gap", "master slowest", "master green", "data gap", "data slowest", "data green",
            "freeze gap", "freeze slowest", "freeze green", "quiet gap", "rss")}
        self.stuck = 0
        self.acked, self.lost, self.writes_refused, self.searches, self.search_errors = set(), 0, 0, 0, []

    def fresh_index(self):
        """An empty index: what the former one had must all be there."""
        self.check()
        self.client.any(0, "DELETE", "/" + INDEX, timeout=60)
        status, answer = self.client.any(0, "PUT", "/" + INDEX, {"settings": SETTINGS}, timeout=60)
        if status != 200:
            raise RuntimeError("%s: no index: %s" % (self.label, answer))
        self.green(self.http[0], 3, time.monotonic())

    def begin_anew(self):
        """After a round from which it did not come back: all nodes are ended, their data dropped."""
        self.stuck += 1
        self.acked.clear()
        self.form()
        self.fresh_index()

    def check(self):
        ids, self.acked = sorted(self.acked), set()
        for at in range(0, len(ids), 500):
            status, answer = self.client.any(0, "POST", "/%s/_mget" % INDEX, {"ids": ids[at:at + 500]}, timeout=60)
            if status != 200:
                raise RuntimeError("%s: mget: %s" % (self.label, answer))
            self.lost += sum(not doc.get("found") for doc in answer["docs"])


class Load:
    """Writers and searchers of one round."""

    def __init__(self, cluster, serial, writers, searchers, pause):
        self.cluster, self.serial, self.pause = cluster, serial, pause
        self.acks, self.times, self.refused, self.searches, self.errors = [], [], 0, 0, []
        self.over = False
        self.threads = [threading.Thread(target=self.write, args=(w,)) for w in range(writers)]
        self.threads += [threading.Thread(target=self.search, args=(s,)) for s in range(searchers)]
        for thread in self.threads:
            thread.start()

    def write(self, w):
        client, node, n = Client(self.cluster.http), w, 0
        while not self.over:
            n += 1
            doc = "%s-%d-%d" % (self.serial, w, n)
            begin = time.monotonic()
            for _ in range(40):
                try:
                    status, _ = client.ask(client.ports[node % 3], "PUT", "/%s/_doc/%s" % (INDEX, doc), {"n": n, "writer": w})
                    if status in (200, 201):
                        end = time.monotonic()
                        self.acks.append((end, doc))
                        self.times.append((begin, end))
                        break
                    self.refused += 1
                except (OSError, http.client.HTTPException, ValueError):
                    pass
                node += 1
                time.sleep(0.002)
            time.sleep(self.pause)

    def search(self, s):
        client, node = Client(self.cluster.http), s
        while not self.over:
            body = {"query": {"match": {"writer": s}}, "size": 3}
            try:
                status, answer = client.ask(client.ports[node % 3], "POST", "/%s/_search" % INDEX, body)
                self.searches += 1
                if status != 200 or answer["_shards"]["failed"]:
                    self.errors.append("%s %s" % (status, json.dumps(answer)[:600]))
            except (OSError, http.client.HTTPException, ValueError):
                node += 1
            time.sleep(self.pause)

    def end(self):
        self.over = True
        for thread in self.threads:
            thread.join()
        self.acks.sort()
        cluster = self.cluster
        cluster.acked.update(doc for _, doc in self.acks)
        cluster.writes_refused += self.refused
        cluster.searches += self.searches
        cluster.search_errors += self.errors

    def gap(self, begin, end):
        """Longest time between two acknowledged writes, of any writer, that ends in the interval."""
        times = [t for t, _ in self.acks]
        return max((b - a for a, b in zip(times, times[1:]) if begin < b <= end), default=end - begin)

    def slowest(self, since):
        """Longest wait of one write, retries included, that ended after `since`."""
        return max((end - begin for begin, end in self.times if end > since), default=float("inf"))


def trouble(cluster, kind, serial, args):
    """One round: kind is master, data or freeze."""
    rng = random.Random("%d %s" % (args.seed, serial))
    load = Load(cluster, serial, args.writers, args.searchers, args.pause / 1000)
    try:
        start = time.monotonic()
        time.sleep(args.settle)
        master = cluster.master()
        victim = master if kind == "master" else rng.choice([i for i in range(3) if i != master])
        if kind == "freeze" and rng.random() < 0.5:
            victim = master
        witness = cluster.http[(victim + 1) % 3]
        now = time.monotonic()
        if kind == "freeze":
            os.kill(cluster.processes[victim].pid, signal.SIGSTOP)
        else:
            cluster.kill(victim)
        green = cluster.green(witness, 2, now)
        time.sleep(0.3)
        end = time.monotonic()
    finally:
        if kind == "freeze":
            for process in cluster.processes:
                os.kill(process.pid, signal.SIGCONT)
        load.end()
    figures = cluster.figures
    figures["quiet gap"].append(load.gap(start + 0.2, now))
    figures[kind + " gap"].append(load.gap(now, end))
    figures[kind + " slowest"].append(load.slowest(now))
    figures[kind + " green"].append(green)
    if kind != "freeze":
        cluster.start(victim)
    cluster.green(witness, 3, time.monotonic())
    cluster.green(cluster.http[victim], 3, time.monotonic())
    figures["rss"] += cluster.status_mb("VmRSS")
    print("%s %s %s: gap %.3f slowest %.3f green %.3f quiet %.3f writes %d refused %d search errors %d load %.1f" % (
        cluster.label, kind, serial, figures[kind + " gap"][-1], figures[kind + " slowest"][-1], green, figures["quiet gap"][-1],
        len(load.acks), load.refused, len(load.errors), os.getloadavg()[0]), flush=True)


ROWS = (
    ("three nodes form a cluster", "form", "s"),
    ("no acknowledged write, master killed", "master gap", "s"),
    ("no acknowledged write, data node killed", "data gap", "s"),
    ("no acknowledged write, node frozen", "freeze gap", "s"),
    ("no acknowledged write, nothing happens", "quiet gap", "s"),
    ("slowest write, master killed", "master slowest", "s"),
    ("slowest write, data node killed", "data slowest", "s"),
    ("slowest write, node frozen", "freeze slowest", "s"),
    ("green, master killed", "master green", "s"),
    ("green, data node killed", "data green", "s"),
    ("green, node frozen", "freeze green", "s"),
    ("resident memory of a node", "rss", "MB"))


def table(clusters):
    head = "| |" + "".join(" %s: n | median | 95 %% | worst |" % c.label for c in clusters)
    lines = [head, "|---|" + "---:|" * 4 * len(clusters)]
    for title, key, unit in ROWS:
        line = "| %s (%s) |" % (title, unit)
        for cluster in clusters:
            values = cluster.figures[key]
            shape = " %.0f |" if unit == "MB" else " %.3f |"
            line += " %d |" % len(values)
            line += "".join(shape % spread(values, p) for p in (0.5, 0.95, 1)) if values else " – | – | – |"
        lines.append(line)
    for title, value in (("acknowledged writes lost", lambda c: c.lost), ("writes answered with an error", lambda c: c.writes_refused),
                         ("searches", lambda c: c.searches), ("searches with an error", lambda c: len(c.search_errors)),
                         ("requests to retry failed copies", lambda c: c.helped),
                         ("rounds that did not end green", lambda c: c.stuck)):
        lines.append("| %s |" % title + "".join(" %d | | | |" % value(c) for c in clusters))
    return "\n".join(lines) + "\n"


def plan(cluster, kills, freezes, forms):
    """The turns of a cluster, in order."""
    turns = [("form", i) for i in range(forms)]
    for i in range(kills):
        turns += [("master", i), ("data", i)]
        turns += [("freeze", i)] if i < freezes else []
    return [(cluster, kind, i, at / max(1, len(turns))) for at, (kind, i) in enumerate(turns)]


def turn(cluster, kind, i, args):
    if kind == "form":
        cluster.figures["form"].append(cluster.form())
        print("%s form %d: %.3f" % (cluster.label, i, cluster.figures["form"][-1]), flush=True)
        return
    if kind == "master" and i % 10 == 0:
        cluster.fresh_index()
    trouble(cluster, kind, "%s%d" % (kind, i), args)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--node", default=os.path.join(os.path.dirname(__file__), "..", "build", "bin", "serai-node"))
    parser.add_argument("--options", default="", help="more options of our nodes")
    parser.add_argument("--port", type=int, default=9621, help="HTTP ports of ours from here, transport from 100 above")
    parser.add_argument("--kills", type=int, default=50, help="of the master, and as many of a data node")
    parser.add_argument("--freezes", type=int, default=10)
    parser.add_argument("--forms", type=int, default=10)
    parser.add_argument("--other", help="command line of another server")
    parser.add_argument("--other-label", default="Elasticsearch")
    parser.add_argument("--other-port", type=int, default=9641)
    parser.add_argument("--other-kills", type=int, default=6)
    parser.add_argument("--other-freezes", type=int, default=2)
    parser.add_argument("--other-forms", type=int, default=2)
    parser.add_argument("--writers", type=int, default=4)
    parser.add_argument("--searchers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=2, help="ms between two requests of a writer or searcher")
    parser.add_argument("--settle", type=float, default=1.0, help="s of load before something happens")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", help="file for the table")
    parser.add_argument("--json", help="file for every figure")
    return parser.parse_args()


def main():
    args = arguments()
    folder = tempfile.mkdtemp(prefix="failover-")
    command = shlex.quote(os.path.abspath(args.node)) + OURS + args.options
    clusters = [Cluster("Serai", command, args.port, os.path.join(folder, "a"), 60)]
    turns = plan(clusters[0], args.kills, args.freezes, args.forms)
    if args.other:
        clusters.append(Cluster(args.other_label, args.other, args.other_port, os.path.join(folder, "b"), 90))
        turns += plan(clusters[1], args.other_kills, args.other_freezes, args.other_forms)
    turns.sort(key=lambda t: t[3])
    loads = [os.getloadavg()[0]]
    given_up = []
    try:
        while turns:
            cluster, kind, i, _ = turns.pop(0)
            try:
                turn(cluster, kind, i, args)
            except RuntimeError as error:
                print("gave up:", error, flush=True)
                cluster.stop()
                if cluster is clusters[0]:
                    given_up.append(str(error))
                    break
                cluster.begin_anew()
            loads.append(os.getloadavg()[0])
        for cluster in clusters:
            if cluster.acked and cluster.processes[0].poll() is None:
                cluster.check()
    finally:
        for cluster in clusters:
            cluster.stop()
        if not given_up:
            shutil.rmtree(folder, ignore_errors=True)
        text = table(clusters)
        text += "\n%d cores, %s; load average over the run: %.1f to %.1f, median %.1f.\n" % (
            os.cpu_count(), platform.release(), min(loads), max(loads), spread(loads, 0.5))
        print(text)
        if args.markdown:
            with open(args.markdown, "w", encoding="utf-8") as out:
                out.write(text)
        if args.json:
            with open(args.json, "w", encoding="utf-8") as out:
                json.dump({c.label: dict(c.figures, search_errors=c.search_errors[:50], lost=c.lost) for c in clusters}, out)
    for error in clusters[0].search_errors[:5]:
        print("search:", error)
    if given_up:
        print("logs and data in", folder)
    return 1 if given_up or clusters[0].lost or clusters[0].search_errors else 0


if __name__ == "__main__":
    sys.exit(main())
