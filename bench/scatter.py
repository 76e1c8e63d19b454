#!/usr/bin/env python3
"""Queries a second of clusters of 1, 3 and 5 data nodes, the same documents in 1 to 64 shards.

    bench/scatter.py [--node BINARY] [--other COMMAND] [--nodes 1,3,5] [--shards 1,4,16,64] [--docs N] [--seconds S] [--markdown FILE]

Needs wrk (Debian's package). For each number of nodes both clusters run side by side; for each number of shards both get the same
documents (no replica, one segment a shard), the answers of both are compared, and then each kind of search is asked for some
seconds, of one and of the other in turn, by --clients connections spread over all nodes: so every search is gathered from shards of
several nodes. Printed: queries a second, median and 99th percentile of the latency, and CPU time a query of all nodes of the
cluster together, which says more than the rest where nodes and load share a machine's cores.
--other: as in failover.py. Exit code 1: an error, or answers that differ."""
import argparse
import json
import os
import platform
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

from servers import OURS, Servers

INDEX = "scatter"
WORDS = 20000
MAPPINGS = {"properties": {"text": {"type": "text"}, "kind": {"type": "keyword"}, "number": {"type": "integer"}, "day": {"type": "date"}}}
KINDS = ("match", "filter, sorted", "aggregation")


def documents(count, seed):
    """Texts of words as rare as in a language (Zipf), a keyword, a number and a day."""
    rng = random.Random(seed)
    words = ["w%d" % i for i in range(WORDS)]
    weights = [1 / (i + 2) for i in range(WORDS)]
    for n in range(count):
        yield {"text": " ".join(rng.choices(words, weights, k=60)), "kind": "k%d" % rng.randrange(50), "number": rng.randrange(100000),
               "day": "20%02d-%02d-%02d" % (rng.randrange(25), rng.randrange(1, 13), rng.randrange(1, 29))}


def question(kind, rng):
    word = "w%d" % int(2 * 1000 ** rng.random())  # from the most frequent to rare ones
    if kind == "match":
        return {"query": {"match": {"text": word + " w%d" % rng.randrange(50, 5000)}}}
    if kind == "filter, sorted":
        low = rng.randrange(90000)
        return {"query": {"bool": {"filter": [{"match": {"text": word}}, {"range": {"number": {"gte": low, "lt": low + 10000}}}]}},
                "sort": [{"number": "desc"}, {"day": "asc"}]}
    return {"size": 0, "query": {"match": {"text": word}},
            "aggs": {"kinds": {"terms": {"field": "kind", "size": 50}, "aggs": {"n": {"avg": {"field": "number"}}}}}}


def write_questions(folder, count=500):
    """A file of each kind, for wrk. -> {kind: (path of the file, its bodies)}"""
    questions = {}
    for i, kind in enumerate(KINDS):
        rng = random.Random(i)
        bodies = [question(kind, rng) for _ in range(count)]
        questions[kind] = os.path.join(folder, "questions%d" % i), bodies
        with open(questions[kind][0], "w", encoding="ascii") as out:
            out.writelines(json.dumps(b) + "\n" for b in bodies)
    return questions


def must(answer):
    status, body = answer
    if status not in (200, 201) or body.get("errors"):
        raise RuntimeError("%s %s" % (status, json.dumps(body)[:500]))
    return body


def load(cluster, shards, docs):
    """The index anew, with the documents in so many shards."""
    port = cluster.http[0]
    cluster.client.ask(port, "DELETE", "/" + INDEX, timeout=60)
    must(cluster.client.ask(port, "PUT", "/" + INDEX, {"mappings": MAPPINGS, "settings": {
        "number_of_shards": shards, "number_of_replicas": 0, "refresh_interval": "-1"}}, timeout=60))
    lines = []
    for n, doc in enumerate(docs, 1):
        lines.append('{"index":{"_id":"%d"}}\n%s\n' % (n, json.dumps(doc)))
        if n % 1000 == 0 or n == len(docs):
            must(cluster.client.ask(port, "POST", "/%s/_bulk?filter_path=errors" % INDEX, "".join(lines).encode(), timeout=120))
            lines = []
    for step in ("_refresh", "_forcemerge?max_num_segments=1", "_refresh"):
        must(cluster.client.ask(port, "POST", "/%s/%s" % (INDEX, step), timeout=300))
    cluster.green(port, cluster.count, time.monotonic())


def answers(cluster, bodies):
    """What must be equal between servers: totals, buckets. Scores of one document differ by the shard that it is in, so that they
    are equal only where routing is; hits are compared by what they are sorted by."""
    found = []
    for body in bodies[:20]:
        a = must(cluster.client.ask(cluster.http[-1], "POST", "/%s/_search" % INDEX, body, timeout=60))
        if a["_shards"]["failed"]:
            raise RuntimeError(json.dumps(a["_shards"]))
        buckets = [(b["key"], b["doc_count"], round(b["n"]["value"], 6)) for b in a.get("aggregations", {}).get("kinds", {}).get("buckets", [])]
        found.append((a["hits"]["total"], [h.get("sort") or round(h["_score"], 4) for h in a["hits"]["hits"]], buckets))
    return found


def ask(cluster, path, seconds, clients):
    """wrk's figures, and CPU milliseconds a request."""
    command = ["wrk", "-t%d" % cluster.count, "-c%d" % max(clients, cluster.count), "-d%ds" % seconds, "--timeout", "30s", "-s",
               os.path.join(os.path.dirname(os.path.abspath(__file__)), "scatter.lua"), "http://127.0.0.1:%d" % cluster.http[0], "--",
               "/%s/_search?request_cache=false" % INDEX, path] + [str(p) for p in cluster.http]
    cpu = cluster.cpu_seconds()
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    cpu = cluster.cpu_seconds() - cpu
    figures = {w[0]: int(w[1]) for w in (line.split() for line in out.splitlines()) if len(w) == 2 and w[1].isdigit()}
    return {"rate": figures["requests"] / (figures["duration_us"] / 1e6), "p50": figures["p50_us"] / 1000, "p99": figures["p99_us"] / 1000,
            "cpu": cpu * 1000 / max(1, figures["requests"]), "errors": figures["errors"]}


def measure(clusters, questions, docs, args):
    """Rows of one number of nodes, and what went wrong."""
    rows, bad = [], []
    for shards in args.shards:
        for cluster in clusters:
            load(cluster, shards, docs)
        for kind in KINDS:
            path, bodies = questions[kind]
            said = [answers(cluster, bodies) for cluster in clusters]
            if any(s != said[0] for s in said):
                bad.append("%d nodes, %d shards, %s: answers differ" % (clusters[0].count, shards, kind))
            for cluster in clusters:  # a warm-up each: compilers, caches of the kernel
                ask(cluster, path, 2 if args.seconds < 10 else 5, args.clients)
            figures = [ask(cluster, path, args.seconds, args.clients) for cluster in clusters]
            bad += ["%s: %d errors" % (c.label, f["errors"]) for c, f in zip(clusters, figures) if f["errors"]]
            rows.append((clusters[0].count, shards, kind, figures))
            print(line_of(rows[-1]), flush=True)
    return rows, bad


def line_of(row):
    nodes, shards, kind, figures = row
    line = "| %d | %d | %s |" % (nodes, shards, kind)
    for f in figures:
        line += " %.0f | %.2f | %.2f | %.3f |" % (f["rate"], f["p50"], f["p99"], f["cpu"])
    if len(figures) == 2:
        line += " %.1f | %.1f |" % (figures[0]["rate"] / max(figures[1]["rate"], 1e-9), figures[1]["cpu"] / max(figures[0]["cpu"], 1e-9))
    return line


def table(rows, labels):
    head = "| nodes | shards | search |" + "".join(" %s: q/s | median ms | p99 ms | CPU ms |" % label for label in labels)
    rule = "|---:|---:|---|" + "---:|" * 4 * len(labels)
    if len(labels) == 2:
        head, rule = head + " q/s, times | CPU, times |", rule + "---:|---:|"
    return "\n".join([head, rule] + [line_of(row) for row in rows]) + "\n"


def arguments():
    numbers = lambda text: [int(n) for n in text.split(",")]  # noqa: E731
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--node", default=os.path.join(os.path.dirname(__file__), "..", "build", "bin", "serai-node"))
    parser.add_argument("--port", type=int, default=9661, help="HTTP ports of ours from here, transport from 100 above")
    parser.add_argument("--other", help="command line of another server")
    parser.add_argument("--other-label", default="Elasticsearch")
    parser.add_argument("--other-port", type=int, default=9681)
    parser.add_argument("--nodes", type=numbers, default=[1, 3, 5])
    parser.add_argument("--shards", type=numbers, default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--docs", type=int, default=50000)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--markdown", help="file for the table")
    return parser.parse_args()


def main():
    args = arguments()
    folder = tempfile.mkdtemp(prefix="scatter-")
    commands = [("Serai", shlex.quote(os.path.abspath(args.node)) + OURS, args.port)]
    if args.other:
        commands.append((args.other_label, args.other, args.other_port))
    docs, questions = list(documents(args.docs, args.seed)), write_questions(folder)
    rows, bad, loads = [], [], []
    try:
        for nodes in args.nodes:
            clusters = [Servers(label, command, port, os.path.join(folder, label), 300, nodes) for label, command, port in commands]
            try:
                for cluster in clusters:
                    cluster.form()
                more, wrong = measure(clusters, questions, docs, args)
                rows, bad = rows + more, bad + wrong
                loads.append(os.getloadavg()[0])
                for cluster in clusters:
                    print("%d nodes, %s: %s MB resident" % (nodes, cluster.label, "/".join("%.0f" % mb for mb in cluster.status_mb("VmRSS"))))
            finally:
                for cluster in clusters:
                    cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    text = table(rows, [c[0] for c in commands])
    text += "\n%d documents, %d clients; %d cores, %s; load average %.1f to %.1f.\n" % (
        args.docs, args.clients, os.cpu_count(), platform.release(), min(loads), max(loads))
    print(text + "\n".join(bad))
    if args.markdown:
        with open(args.markdown, "w", encoding="utf-8") as out:
            out.write(text)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
