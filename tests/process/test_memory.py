#!/usr/bin/env python3
"""One account of memory: a node in a cgroup of 256 MB under bulks, large aggregations and packed bodies that grow a thousandfold,
from ten clients at once. It answers 429 to what has no room, lives, loses nothing that it acknowledged, and answers small requests
at once afterwards; what its statistics say of its limits is what it keeps.

SECONDS of the mix in the long form (600); the short form sends a fixed number of requests."""
import gzip
import http.client
import json
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import HANG_SECONDS, Node, skip, wait_for  # noqa: E402

LONG = os.environ.get("LONG") == "1"
SECONDS = float(os.environ.get("SECONDS", "600"))
ROUNDS = 6  # of each client, in the short form
LIMIT = 256 << 20
KINDS = {200, 201, 400, 413, 429, 503}
check = Checks()


def make_group():
    """A cgroup with a limit of memory, or None and why not. Returns the file that takes its processes."""
    name = f"serai-test-{os.getpid()}"
    for base, limit in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        path = os.path.join(base, name)
        try:
            os.mkdir(path)
        except OSError:
            continue
        try:
            with open(os.path.join(path, limit), "r+", encoding="ascii") as f:
                f.write(str(LIMIT))
            return path
        except OSError:
            os.rmdir(path)
    return None


class Mix:
    """What the clients do, and what they heard."""

    def __init__(self, node, seconds):
        self.node, self.end = node, time.monotonic() + seconds if seconds else None
        self.lock = threading.Lock()
        self.acknowledged, self.statuses, self.odd = set(), {}, []

    def goes_on(self, rounds):
        return rounds < ROUNDS if self.end is None else time.monotonic() < self.end

    def send(self, path, body, headers):
        """(status, text); (None, "") when the node closed the connection instead of reading on."""
        conn = http.client.HTTPConnection(self.node.host, self.node.port, timeout=HANG_SECONDS)
        try:
            conn.request("POST", path, body, headers)
            r = conn.getresponse()
            status, text = r.status, r.read()
        except (ConnectionError, http.client.HTTPException):
            status, text = None, b""
        finally:
            conn.close()
        with self.lock:
            self.statuses[status] = self.statuses.get(status, 0) + 1
            if status is not None and status not in KINDS or status == 429 and b"_exception" not in text:
                self.odd.append((path, status, text[:500]))
        return status, text

    def bulks(self, seed):
        rng, rounds = random.Random(seed), 0
        while self.goes_on(rounds):
            ids = [f"{seed}-{rounds}-{i}" for i in range(rng.choice((10, 100, 1000, 3000)))]
            lines = []
            for i in ids:
                lines.append(json.dumps({"index": {"_id": i}}))
                lines.append(json.dumps({"k": f"key{rng.randrange(100000)}", "n": rng.randrange(10 ** 6), "who": seed,
                                         "t": " ".join(f"w{rng.randrange(5000)}" for _ in range(30))}))
            status, text = self.send("/m/_bulk", "\n".join(lines) + "\n", {"Content-Type": "application/x-ndjson"})
            if status == 200:
                done = {item["index"]["_id"] for item in json.loads(text)["items"] if item["index"]["status"] in (200, 201)}
                with self.lock:
                    self.acknowledged |= done
            rounds += 1

    def aggregations(self, seed):
        rng, rounds = random.Random(seed), 0
        while self.goes_on(rounds):
            body = {"size": rng.choice((0, 100)), "query": {"range": {"n": {"gte": rng.randrange(1000)}}},
                    "aggs": {"k": {"terms": {"field": "k", "size": 60000},
                                   "aggs": {"n": {"stats": {"field": "n"}}, "p": {"percentiles": {"field": "n"}},
                                            "c": {"cardinality": {"field": "n"}}}},
                             "h": {"histogram": {"field": "n", "interval": 20}, "aggs": {"x": {"cardinality": {"field": "k"}}}}}}
            self.send("/m/_search", json.dumps(body), {"Content-Type": "application/json"})
            rounds += 1

    def bombs(self, seed):
        """Packed bodies of 40 and 99 MB: blanks, one long text, many small documents, settings."""
        rng, rounds = random.Random(seed), 0
        line = b'{"index":{}}\n{"t":"' + b"a" * 4000 + b'"}\n'
        bodies = [("/m/_search", gzip.compress(b" " * (40 << 20))), ("/m/_bulk", gzip.compress(line * ((40 << 20) // len(line)))),
                  ("/m/_search", gzip.compress(b'{"query":{"match":{"t":"' + b"a" * (99 << 20) + b'"}}}')),
                  ("/_cluster/settings", gzip.compress(b'{"transient":{"a":"' + b"a" * (99 << 20) + b'"}}')),  # no limit refuses it while it is small
                  ("/_analyze", gzip.compress(b'{"tokenizer":"standard","text":"' + b"a " * (20 << 20) + b'"}'))]
        while self.goes_on(rounds):
            path, body = rng.choice(bodies)
            kind = "application/x-ndjson" if path.endswith("_bulk") else "application/json"
            self.send(path, body, {"Content-Type": kind, "Content-Encoding": "gzip"})
            rounds += 1

    def run(self):
        jobs = [self.bulks] * 4 + [self.aggregations] * 3 + [self.bombs] * 3
        threads = [threading.Thread(target=job, args=(i,)) for i, job in enumerate(jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()


def all_there(node, ids):
    """Those of them that the index does not have."""
    ids, missing = sorted(ids), []
    for start in range(0, len(ids), 1000):
        status, r = node.call("POST", "/m/_mget?_source=false", {"ids": ids[start:start + 1000]})
        assert status == 200, r
        missing += [d for d in r["docs"] if not d.get("found")]
    return missing


def breakers(node):
    return next(iter(node.call("GET", "/_nodes/_local/stats/breaker")[1]["nodes"].values()))["breakers"]


def small_requests(node, when):
    status, r = node.call("GET", "/")
    check(status == 200, f"GET / {when}", r)
    status, r = node.call("POST", "/m/_search", {"size": 1, "query": {"term": {"who": 0}}})
    check(status == 200 and r["_shards"]["failed"] == 0, f"a small search {when}", r)
    status, r = node.call("PUT", "/m/_doc/small?refresh=true", {"k": "small", "who": -1})
    check(status in (200, 201), f"a small write {when}", r)


def limits(node):
    """Limits are shares of what the group gives; those that are set are kept at once, in Elasticsearch's words."""
    b = breakers(node)
    check(LIMIT // 2 < b["parent"]["limit_size_in_bytes"] < LIMIT, "the parent's limit", b["parent"])
    check(b["request"]["limit_size_in_bytes"] < b["parent"]["limit_size_in_bytes"], "a part's limit", b["request"])
    check(b["parent"]["estimated_size_in_bytes"] > 0, "what the node holds", b["parent"])
    status, r = node.call("PUT", "/_cluster/settings", {"transient": {"network.breaker.inflight_requests.limit": "2mb"}})
    assert status == 200, r
    wait_for("the limit", lambda: breakers(node)["in_flight_requests"]["limit_size_in_bytes"] == 2 << 20)
    status, r = node.call("POST", "/m/_search", {"query": {"match": {"t": "a" * (1 << 20) + "b"}}})
    reason = r["error"]["reason"] if isinstance(r, dict) and "error" in r else str(r)[:500]
    check(status == 429 and r["error"]["type"] == "circuit_breaking_exception"
          and reason.startswith("[in_flight_requests] Data too large, data for [<http_request>] would be [")
          and reason.endswith("which is larger than the limit of [2097152/2mb]"), "a body over the limit", (status, reason))
    check(breakers(node)["in_flight_requests"]["tripped"] > 0, "the refusal is counted", breakers(node))
    node.call("PUT", "/_cluster/settings", {"transient": {"network.breaker.inflight_requests.limit": None}})
    wait_for("no limit", lambda: breakers(node)["in_flight_requests"]["limit_size_in_bytes"] > 2 << 20)
    check(wait_for("nothing in flight", lambda: breakers(node)["in_flight_requests"]["estimated_size_in_bytes"] < 1 << 20),
          "bodies are given back")


def growing_analysis(node):
    """Texts that grow in analysis: each is refused, and the node is as small as before."""
    bodies = [{"tokenizer": "keyword", "text": "a" * 200000,
               "char_filter": [{"type": "pattern_replace", "pattern": "a", "replacement": "b" * 60000}]},
              {"tokenizer": "keyword", "text": "a" * 200000, "char_filter": [{"type": "mapping", "mappings": ["a=>" + "b" * 60000]}]},
              {"tokenizer": "whitespace", "text": "a " * 9000,
               "filter": [{"type": "synonym_graph", "synonyms": ["a => " + ",".join(f"s{i}" for i in range(20000))]}]},
              {"tokenizer": "keyword", "text": "a" * 200000,
               "filter": [{"type": "pattern_replace", "pattern": "a", "replacement": "b" * 60000}]}]
    for i, body in enumerate(bodies):
        status, r = node.call("POST", "/_analyze", body)
        check(status == 429 and r["error"]["type"] == "circuit_breaking_exception", f"analysis that grows: {i}", (status, str(r)[:300]))
        check(node.process.poll() is None, f"the node lives after {i}")
    small_requests(node, "after growing analysis")


def many_small_documents(node):
    """A bulk takes memory for what its items are, not for how they are read."""
    n = 60000
    status, r = node.call("POST", "/tiny/_bulk", "".join('{"index":{}}\n{"a":%d}\n' % i for i in range(n)))
    check(status == 200 and r["errors"] is False and len(r["items"]) == n, "many small documents at once", (status, str(r)[:300]))
    node.call("DELETE", "/tiny")


def many_small_searches(node):
    """Of searches in one body those take memory that run."""
    n = 10000
    status, r = node.call("POST", "/_msearch", "".join('{"index":"m"}\n{"query":{"term":{"who":%d}}}\n' % i for i in range(n)))
    ok = status == 200 and len(r["responses"]) == n and all(a.get("status") == 200 for a in r["responses"])
    check(ok, "many small searches at once", (status, str(r)[:300]))


def run(node):
    node.call("PUT", "/m", {"settings": {"number_of_shards": 2, "number_of_replicas": 0},
                            "mappings": {"properties": {"k": {"type": "keyword"}, "n": {"type": "integer"},
                                                        "who": {"type": "integer"}, "t": {"type": "text"}}}})
    limits(node)
    many_small_documents(node)
    many_small_searches(node)
    growing_analysis(node)
    mix = Mix(node, SECONDS if LONG else None)
    mix.run()
    print(f"{len(mix.acknowledged)} documents acknowledged; answers: {mix.statuses}; {breakers(node)['parent']}")
    if not check(node.process.poll() is None, "the node lives", node.tail()):
        return
    check(not mix.odd, "statuses and errors", mix.odd[:3])
    check(mix.statuses.get(200, 0) > 0, "most is answered", mix.statuses)
    small_requests(node, "after the mix")
    check(not (missing := all_there(node, mix.acknowledged)), "what was acknowledged is there", (len(missing), missing[:5]))
    node.kill()
    node.start()
    wait_for("primaries", lambda: node.call("GET", "/_cluster/health?wait_for_status=yellow")[0] == 200)
    check(not (missing := all_there(node, mix.acknowledged)), "and after a crash", (len(missing), missing[:5]))


def main():
    if os.environ.get("REPORTS"):
        skip("what a sanitizer keeps counts as the node's memory")
    group = make_group()
    if group is None:
        skip("no cgroup with a limit of memory can be made here")
    try:
        node = Node()
        node.prefix = ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
        with node:
            run(node)
    finally:
        for _ in range(200):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.05)
    check.end()


main()
