#!/usr/bin/env python3
"""kill -9 of the node at any moment under writes: every acknowledged write is there afterwards, none is there twice.

Writers index, update and delete documents of their own and note what was acknowledged. The node is killed at a random moment,
started again on the same data, and read back. COUNT kills (5; 50 in the long form), SEED the random seed (1)."""
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import HANG_SECONDS, Node  # noqa: E402

LONG = os.environ.get("LONG") == "1"
COUNT = int(os.environ.get("COUNT", "50" if LONG else "5"))
SEED = int(os.environ.get("SEED", "1"))
WRITERS = 4
IDS = 40  # of each writer


class Writer(threading.Thread):
    """Writes documents that nobody else touches. `known` maps an id to the values that it may have: the last acknowledged one,
    and those of requests without an answer since."""

    def __init__(self, node, number, seed):
        super().__init__(daemon=True)
        self.node, self.number, self.random = node, number, random.Random(seed)
        self.known, self.counter, self.acknowledged, self.stop = {}, 0, 0, False

    def attempt(self, ids, method, path, body, value):
        """One request: until it is answered, every id may have the old value or the new one."""
        for i in ids:
            self.known.setdefault(i, {None}).add(value)
        try:
            status, answer = self.node.call(method, path, body, timeout=HANG_SECONDS)
        except OSError:
            return False
        except Exception:  # a torn answer is no answer
            return False
        if isinstance(answer, dict) and answer.get("errors"):
            raise AssertionError(f"bulk failed: {answer}")
        if status in (200, 201) or (method == "DELETE" and status == 404):
            for i in ids:
                self.known[i] = {value}
            self.acknowledged += len(ids)
            return True
        raise AssertionError(f"{method} {path}: {status} {answer}")

    def step(self):
        self.counter += 1
        ids = [f"w{self.number}-{n}" for n in self.random.sample(range(IDS), 8)]
        kind = self.random.random()
        if kind < 0.3:
            lines = []
            for i in ids:
                lines += [{"index": {"_id": i}}, {"v": self.counter, "text": f"value {self.counter} of {i}"}]
            return self.attempt(ids, "POST", "/kill/_bulk", lines, self.counter)
        if kind < 0.7:
            refresh = "?refresh=true" if self.random.random() < 0.1 else ""
            return self.attempt(ids[:1], "PUT", f"/kill/_doc/{ids[0]}{refresh}", {"v": self.counter, "text": "one"}, self.counter)
        if kind < 0.85:
            body = {"doc": {"v": self.counter}, "doc_as_upsert": True}
            return self.attempt(ids[:1], "POST", f"/kill/_update/{ids[0]}", body, self.counter)
        return self.attempt(ids[:1], "DELETE", f"/kill/_doc/{ids[0]}", None, None)

    def run(self):
        try:
            while not self.stop and self.step():
                pass
        except AssertionError as e:
            self.failure = e


def check(node, writers):
    """Reads everything back, by id and by search."""
    bad = []
    node.call("POST", "/kill/_refresh")
    status, answer = node.call("POST", "/kill/_search", {"size": 10000, "query": {"match_all": {}}})
    assert status == 200, answer
    found = {}
    for hit in answer["hits"]["hits"]:
        if hit["_id"] in found:
            bad.append(f"{hit['_id']} is there twice")
        found[hit["_id"]] = hit["_source"]["v"]
    for w in writers:
        for i, values in w.known.items():
            status, doc = node.call("GET", f"/kill/_doc/{i}")
            value = doc["_source"]["v"] if doc.get("found") else None
            if value not in values:
                bad.append(f"{i} has {value}, acknowledged {values}")
            if found.get(i) != value:
                bad.append(f"{i}: search says {found.get(i)}, get says {value}")
            w.known[i] = {value}  # it is settled now
    return bad


def main():
    rng = random.Random(SEED)
    node = Node()
    node.start()
    status, answer = node.call("PUT", "/kill", {"settings": {"number_of_replicas": 0, "number_of_shards": rng.choice([1, 2])}})
    assert status == 200, answer
    passed = failed = total = 0
    known = [{} for _ in range(WRITERS)]
    for round_ in range(COUNT):
        writers = [Writer(node, n, rng.random()) for n in range(WRITERS)]
        for w, k in zip(writers, known):
            w.known, w.counter = k, round_ * 100000
            w.start()
        time.sleep(rng.uniform(0.05, 1.5))  # the moment is random, nothing is waited for
        node.kill()
        for w in writers:
            w.stop = True
            w.join()
        node.start()
        bad = check(node, writers) + [str(w.failure) for w in writers if hasattr(w, "failure")]
        total += sum(w.acknowledged for w in writers)
        print(f"kill {round_ + 1}: {sum(w.acknowledged for w in writers)} acknowledged, {len(bad)} wrong", flush=True)
        for b in bad[:10]:
            print("    " + b)
        passed, failed = passed + (not bad), failed + bool(bad)
    node.stop()
    node.__exit__(None, None, None)
    print(f"{total} acknowledged writes in all")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or total == 0 else 0)


if __name__ == "__main__":
    main()
