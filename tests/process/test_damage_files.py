#!/usr/bin/env python3
"""Damage in every kind of file of a data folder, with kill -9 and a start again: never a wrong answer, never silently less.

The truth is what was acknowledged. After the damage a node either does not start and names the file, or the index is red with
the reason, or every document is there as it was. What `serai-node check` says of the folder is compared with that.
In the long form (LONG=1): every 64th byte of every file, and every bit of the last record of the log of states.
"""
import glob
import os
import random
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import BUILD, HANG_SECONDS, Node, wait_for  # noqa: E402

LONG = os.environ.get("LONG") == "1"
SEED = int(os.environ.get("SEED", "1"))
PROGRAM = os.path.join(BUILD, "bin", "serai-node")
MAPPING = {"properties": {"n": {"type": "long"}, "text": {"type": "text"}, "k": {"type": "keyword"}, "at": {"type": "geo_point"}}}


def document(i):
    return {"n": i, "text": f"number {i} of all", "k": f"k{i % 7}", "at": {"lat": i % 80, "lon": i % 170}}


def below(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, files in os.walk(folder) for f in files)


def build(node):
    """Segments, deletions, a translog behind them: returns what is there."""
    truth = {}

    def bulk(ids):
        lines = []
        for i in ids:
            truth[str(i)] = document(i)
            lines += [{"index": {"_id": str(i)}}, document(i)]
        status, answer = node.call("POST", "/x/_bulk", lines)
        assert status == 200 and not answer["errors"], answer

    assert node.call("PUT", "/x", {"settings": {"number_of_replicas": 0, "refresh_interval": -1}, "mappings": MAPPING})[0] == 200
    for first in (0, 30):
        bulk(range(first, first + 30))
        assert node.call("POST", "/x/_flush?force=true")[0] == 200
    for i in (3, 33):
        assert node.call("DELETE", f"/x/_doc/{i}")[0] == 200
        del truth[str(i)]
    assert node.call("POST", "/x/_flush?force=true")[0] == 200
    for first in range(60, 80, 5):
        bulk(range(first, first + 5))
    assert node.call("PUT", "/_cluster/settings", {"persistent": {"cluster.routing.allocation.node_concurrent_recoveries": 3}})[0] == 200
    return truth


def run(node):
    """Starts it; "" when it serves, else what it said."""
    at = os.path.getsize(node.log_path)
    try:
        node.start()
        return ""
    except RuntimeError:
        with open(node.log_path, "rb") as f:
            f.seek(at)
            return f.read().decode("utf-8", "replace")


def settled(node):
    """The index's health once it is red with a reason, or green."""
    def look():
        status, h = node.call("GET", "/_cluster/health")
        if status != 200 or h["initializing_shards"] or h["status"] == "yellow":
            return None
        if h["active_shards"] + h["unassigned_shards"] == 0:
            return None  # the state is not there yet
        if h["status"] == "green":
            return "green"
        details = node.call("GET", "/_cat/shards?h=unassigned.details")[1]
        return "red" if details.strip() else None
    return wait_for("green, or red with a reason", look)


def compare(node, truth):
    """Every search and get is right, or an error. Returns whether all were right."""
    node.call("POST", "/x/_refresh")
    whole = True

    def search(body, check):
        nonlocal whole
        status, answer = node.call("POST", "/x/_search", body)
        if status != 200 or answer["_shards"]["failed"]:
            whole = False
        else:
            check(answer)

    def hits(answer):
        found = {h["_id"]: h["_source"] for h in answer["hits"]["hits"]}
        assert found == truth, f"{len(found)} of {len(truth)} documents, or wrong ones"

    def sums(answer):
        assert answer["hits"]["total"]["value"] == len(truth), answer["hits"]["total"]
        assert answer["aggregations"]["s"]["value"] == sum(d["n"] for d in truth.values()), answer["aggregations"]
        counts = {b["key"]: b["doc_count"] for b in answer["aggregations"]["k"]["buckets"]}
        assert counts == {k: sum(d["k"] == k for d in truth.values()) for k in {d["k"] for d in truth.values()}}, counts

    search({"size": 200, "sort": ["n"], "query": {"match_all": {}}}, hits)
    search({"size": 0, "track_total_hits": True, "aggs": {"s": {"sum": {"field": "n"}}, "k": {"terms": {"field": "k"}}}}, sums)
    search({"size": 200, "query": {"match": {"text": "all"}}}, hits)
    return whole


def check_says(node):
    """(exit status, what is damaged)"""
    p = subprocess.run([PROGRAM, "check", node.settings["path.data"]], capture_output=True, text=True, timeout=HANG_SECONDS)
    assert p.returncode in (0, 1), (p.returncode, p.stdout, p.stderr)
    return p.returncode, p.stdout


class Bench:
    def __init__(self, node, truth):
        self.node, self.truth = node, truth
        self.folder = node.settings["path.data"]
        self.good = self.folder + ".good"
        shutil.copytree(self.folder, self.good)

    def restore(self):
        shutil.rmtree(self.folder)
        shutil.copytree(self.good, self.folder)

    def fault(self, what, name, damage, expect):
        """`expect`: outcomes that are right: refused, red, green (all there), error (an answer may be an error)."""
        self.restore()
        damage(os.path.join(self.folder, name))
        before = {f: open(os.path.join(self.folder, f), "rb").read() for f in below(self.folder)}
        status, said = check_says(self.node)
        assert before == {f: open(os.path.join(self.folder, f), "rb").read() for f in below(self.folder)}, "check changed something"
        refusal = run(self.node)
        if refusal:
            outcome = "refused"
            assert os.path.basename(name).split("-")[0] in refusal and "cannot start" in refusal, refusal
        else:
            outcome = settled(self.node)
            if outcome == "green":
                if not compare(self.node, self.truth):
                    outcome = "error"
                self.node.kill()
            else:
                self.node.kill()
        assert outcome in expect, f"{what}: {name}: {outcome}, expected {expect}"
        assert status == 1 or outcome == "green", f"{what}: {name}: {outcome}, and `check` found nothing: {said}"
        if status == 1:
            assert name.split("/")[0] in said, said


def flip(at, bit=2):
    def damage(path):
        with open(path, "r+b") as f:
            f.seek(at)
            old = f.read(1)
            f.seek(at)
            f.write(bytes([old[0] ^ 1 << bit]))
    return damage


def append(text):
    def damage(path):
        with open(path, "ab") as f:
            f.write(text)
    return damage


def cut(n):
    return lambda path: os.truncate(path, n)


def faults(folder, rng):
    """(what, name, damage, outcomes that are right)"""
    needed = max(glob.glob(os.path.join(folder, "indices/*/0/translog_*")), key=lambda p: int(p.rsplit("_", 1)[1]))
    for name in below(folder):
        base, size = os.path.basename(name), os.path.getsize(os.path.join(folder, name))
        with open(os.path.join(folder, name), "rb") as f:
            content = f.read()
        if base in ("node.lock", "reserve"):
            continue
        state = name.startswith("_state")
        log = base.startswith("state-")
        # What is not one of these may only be refused, red, or as it was.
        strict = {"refused"} if state and base != "seal" else {"red"} if base.startswith(("manifest", "live")) else None
        if base.startswith("translog"):
            strict = {"red"} if os.path.join(folder, name) == needed else {"green", "red"}
        if base == "seal":
            strict = {"green", "refused"}
        strict = strict or {"red", "green", "error"}
        last = [size - 1 - i for i in range(0, 60, 3)] if log else []
        places = list(range(0, size, 64)) + last if LONG else rng.sample(range(size), min(size, 2)) + last[:4]
        for at in sorted(set(places)):
            okay = strict | {"green"} if base.startswith("translog") and 128 <= at < 216 else strict
            yield f"flip at {at}", name, flip(at, rng.randrange(8)), okay
        if LONG and log:
            for at in range(size - 60, size):
                for bit in range(8):
                    yield f"flip at {at}.{bit}", name, flip(at, bit), strict
        yield "half", name, cut(size // 2), strict
        if LONG or state:
            yield "empty", name, cut(0), strict
            yield "gone", name, os.remove, {"refused", "red"} if not base.startswith("translog") else strict
        if base.startswith("translog"):
            garbage = bytes(rng.randrange(256) for _ in range(rng.randrange(1, 200)))
            for text in (garbage, content[300:650] or garbage, bytes(100)):
                yield "bytes behind the end", name, append(text), {"green"}
            if os.path.join(folder, name) == needed:
                yield "cut by a byte", name, cut(size - 1), {"red"}


def lost_state(bench):
    """All of _state: the data of indices is not taken for a new node's."""
    bench.restore()
    shutil.rmtree(os.path.join(bench.folder, "_state"))
    refusal = run(bench.node)
    assert "_state" in refusal and "cannot start" in refusal, refusal
    assert check_says(bench.node)[0] == 1


def lost_folders(bench):
    """A shard's folder, its index's, all of them: red, and why is said; nothing begins empty, and what is put back is there again."""
    for pattern in ("indices/*/0", "indices/*", "indices"):
        bench.restore()
        node = bench.node
        gone = os.path.relpath(glob.glob(os.path.join(bench.folder, "indices/*/0"))[0], bench.folder)
        for path in glob.glob(os.path.join(bench.folder, pattern)):
            shutil.rmtree(path)
        status, said = check_says(node)
        assert status == 1 and gone in said and "it is missing" in said, said
        at = os.path.getsize(node.log_path)
        assert run(node) == ""
        missed(node)
        with open(node.log_path, encoding="utf-8") as f:
            f.seek(at)
            log = f.read()
        assert gone in log and "is red" in log and "not open yet" not in log, log
        node.kill()
        for path in glob.glob(os.path.join(bench.good, "indices")):
            shutil.copytree(path, os.path.join(bench.folder, "indices"), dirs_exist_ok=True)
        assert run(node) == "" and settled(node) == "green" and compare(node, bench.truth)
        node.kill()


def missed(node):
    """Red: the copy is nowhere."""
    explain = lambda: node.call("GET", "/_cluster/allocation/explain", {"index": "x", "shard": 0, "primary": True})[1]
    wait_for("the explanation", lambda: explain().get("can_allocate") == "no_valid_shard_copy")
    assert node.call("GET", "/_cluster/health")[1]["status"] == "red"
    assert node.call("GET", "/x/_count")[0] == 503


def lost_while_running(bench):
    """The same, of a node that runs: once it needs the folder; and after a start."""
    bench.restore()
    node = bench.node
    assert run(node) == "" and settled(node) == "green"
    shutil.rmtree(glob.glob(os.path.join(bench.folder, "indices/*/0"))[0])
    node.call("PUT", "/x/_doc/new?timeout=100ms", document(1))
    node.call("POST", "/x/_flush?force=true")
    missed(node)
    node.kill()
    assert run(node) == ""
    missed(node)
    node.kill()


def over_a_commit(bench):
    """An empty copy is never begun where data is, unless somebody asks for that with its loss accepted."""
    bench.restore()
    node = bench.node
    for path in glob.glob(os.path.join(bench.folder, "indices/*/0/manifest_*")):
        flip(40)(path)
    assert run(node) == ""
    assert settled(node) == "red"
    name = next(iter(node.call("GET", "/_nodes")[1]["nodes"].values()))["name"]
    command = {"commands": [{"allocate_empty_primary": {"index": "x", "shard": 0, "node": name, "accept_data_loss": True}}]}
    status, answer = node.call("POST", "/_cluster/reroute", command)
    assert status == 200, answer
    wait_for("green", lambda: node.call("GET", "/_cluster/health")[1]["status"] == "green")
    assert node.call("GET", "/x/_count")[1]["count"] == 0
    node.kill()


def check_itself(bench):
    """Its exit status, and that it does not look at a folder in use."""
    bench.restore()
    assert check_says(bench.node)[0] == 0, check_says(bench.node)
    p = subprocess.run([PROGRAM, "check", bench.folder + "/none"], capture_output=True, text=True, timeout=HANG_SECONDS)
    assert p.returncode == 2 and "data folder" in p.stderr, p
    assert subprocess.run([PROGRAM, "check"], capture_output=True, text=True, timeout=HANG_SECONDS).returncode == 2
    bench.node.start()
    p = subprocess.run([PROGRAM, "check", bench.folder], capture_output=True, text=True, timeout=HANG_SECONDS)
    assert p.returncode == 2 and "in use" in p.stderr, p
    assert settled(bench.node) == "green" and compare(bench.node, bench.truth)
    bench.node.kill()


def main():
    passed, failed = 0, 0
    node = Node()
    node.start()
    truth = build(node)
    node.kill()
    bench = Bench(node, truth)
    rng = random.Random(SEED)
    cases = [(f.__name__, lambda f=f: f(bench)) for f in (check_itself, lost_state, lost_folders, lost_while_running, over_a_commit)]
    cases += [(f"{what}: {name}", lambda f=f: bench.fault(*f)) for f in list(faults(bench.good, rng)) for what, name in [f[:2]]]
    for name, case in cases:
        try:
            case()
            passed += 1
        except (AssertionError, RuntimeError) as e:
            failed += 1
            print(f"FAILED: {re.sub(r'[0-9A-Za-z_-]{22}', 'UUID', name)}: {e}")
            if node.process.poll() is None:
                node.kill()
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
