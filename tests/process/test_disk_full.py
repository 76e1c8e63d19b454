#!/usr/bin/env python3
"""A disk that fills up: the shard fails with a clear reason, the node goes on, and once there is room again everything that was
acknowledged is there and writes go on. The disk is a small tmpfs, so this needs root."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import Node, skip, wait_for  # noqa: E402

MEGABYTES = 80
BALLAST = 24 << 20  # removed to make room: a translog generation is written again at open


def fill(node, acknowledged):
    """Indexes until something is refused. Returns the refusal."""
    text = "x" * 2000
    for n in range(100000):
        ids = [f"{n}-{i}" for i in range(20)]
        lines = []
        for i in ids:
            lines += [{"index": {"_id": i}}, {"v": n, "text": text + i}]
        status, answer = node.call("POST", "/full/_bulk?timeout=1s", lines)
        if status != 200:
            return answer
        for item in answer["items"]:
            if item["index"]["status"] in (200, 201):
                acknowledged.add(item["index"]["_id"])
        if answer["errors"]:
            return next(i["index"]["error"] for i in answer["items"] if "error" in i["index"])
    raise AssertionError("the disk never filled up")


def health(node):
    return node.call("GET", "/_cluster/health/full")[1]["status"]


def missing(node, acknowledged):
    node.call("POST", "/full/_refresh")
    found = set()
    body = {"size": 10000, "_source": False, "query": {"match_all": {}}, "sort": ["_doc"]}
    status, page = node.call("POST", "/full/_search?scroll=1m", body)
    assert status == 200, page
    while page["hits"]["hits"]:
        found |= {h["_id"] for h in page["hits"]["hits"]}
        status, page = node.call("POST", "/_search/scroll", {"scroll": "1m", "scroll_id": page["_scroll_id"]})
        assert status == 200, page
    return acknowledged - found


def begin_without_room(node, mount):
    """An index that is made on the full disk is acknowledged: its shard waits for room, or gets what little a log of states let go of."""
    with open(os.path.join(mount, "rest"), "wb") as f:
        try:
            while True:
                os.write(f.fileno(), bytes(4096))
        except OSError:
            pass
    status, answer = node.call("PUT", "/late?timeout=5s&wait_for_active_shards=0", {"settings": {"number_of_replicas": 0}})
    assert status == 200 and answer["acknowledged"], answer


def run(mount, restart):
    ballast = os.path.join(mount, "ballast")
    with open(ballast, "wb") as f:
        f.write(b"\0" * BALLAST)
    with Node(**{"path.data": os.path.join(mount, "data")}) as node:
        status, answer = node.call("PUT", "/full", {"settings": {"number_of_replicas": 0}, "mappings": {"properties": {
            "text": {"type": "keyword", "index": False, "doc_values": False}}}})
        assert status == 200, answer
        acknowledged = set()
        refusal = fill(node, acknowledged)
        assert acknowledged and "o space left" in str(refusal) or "primary shard is not active" in str(refusal), refusal
        why = lambda: node.call("GET", "/_cat/shards/full?h=state,unassigned.reason,unassigned.details")[1]
        wait_for("a shard that says why", lambda: "UNASSIGNED ALLOCATION_FAILED" in (text := why()) and "o space left" in text)
        assert health(node) == "red"
        # The node goes on: other requests are answered, and searches and writes of the shard are refused clearly.
        status, answer = node.call("POST", "/full/_search", {"size": 1})
        assert status == 503 and answer["error"]["type"] == "search_phase_execution_exception", answer
        status, answer = node.call("PUT", "/full/_doc/late?timeout=100ms", {"v": 0})
        assert status == 503 and answer["error"]["type"] == "unavailable_shards_exception", answer
        status, answer = node.call("GET", "/_cluster/health")
        assert status == 200 and answer["unassigned_shards"] + answer["initializing_shards"] == 1, answer  # it is tried again and again
        begin_without_room(node, mount)
        if restart:
            node.kill()
        os.unlink(os.path.join(mount, "rest"))
        os.unlink(ballast)
        if restart:
            node.start()
        wait_for("a green index", lambda: health(node) == "green")
        wait_for("the index that was made without room", lambda: node.call("GET", "/_cluster/health/late")[1]["status"] == "green")
        assert node.call("PUT", "/late/_doc/1", {"v": 1})[0] == 201
        gone = missing(node, acknowledged)
        assert not gone, f"{len(gone)} of {len(acknowledged)} acknowledged documents are gone"
        status, answer = node.call("PUT", "/full/_doc/after?refresh=true", {"v": 1})
        assert status == 201 and answer["_primary_term"] > 1, answer
        print(f"{len(acknowledged)} acknowledged documents are there")


def main():
    if os.geteuid() != 0:
        skip("mounting a small disk needs root")
    passed = failed = 0
    for restart in (False, True):
        with tempfile.TemporaryDirectory() as mount:
            made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "serai-test", mount], capture_output=True, text=True)
            if made.returncode != 0:
                skip("no tmpfs can be mounted here: " + made.stderr.strip())
            try:
                run(mount, restart)
                passed += 1
            except (AssertionError, RuntimeError) as e:
                print(f"restart={restart}: {e}")
                failed += 1
            finally:
                subprocess.run(["umount", "-l", mount])
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
