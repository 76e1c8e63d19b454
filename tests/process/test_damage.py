#!/usr/bin/env python3
"""Damaged files: a clear error, the shard down and not the node, the index red with the reason; and what is undamaged goes on."""
import glob
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import BUILD, HANG_SECONDS, Node, wait_for  # noqa: E402

DOCS = 300


def flip(path, at):
    with open(path, "r+b") as f:
        f.seek(at)
        old = f.read(1)
        f.seek(at)
        f.write(bytes([old[0] ^ 0x55]))


def shard_files(node, index, pattern):
    uuid = node.call("GET", f"/{index}/_settings")[1][index]["settings"]["index"]["uuid"]
    return sorted(glob.glob(os.path.join(node.data, "data", "indices", uuid, "0", pattern)))


def load(node, index, docs=DOCS):
    node.call("PUT", f"/{index}", {"settings": {"number_of_replicas": 0}})
    for start in range(0, docs, 50):
        lines = []
        for i in range(start, start + 50):
            lines += [{"index": {"_id": str(i)}}, {"n": i, "text": f"number {i} of {index}"}]
        status, answer = node.call("POST", f"/{index}/_bulk", lines)
        assert status == 200 and not answer["errors"], answer


def count(node, index):
    node.call("POST", f"/{index}/_refresh")
    return node.call("GET", f"/{index}/_count")


def down(node, index, words):
    """The index is red and says why; the other one serves."""
    shards = lambda: node.call("GET", f"/_cat/shards/{index}?h=state,unassigned.details")[1]
    details = wait_for("a shard without a place", lambda: (s := shards()).startswith("UNASSIGNED") and s)
    assert any(w in details for w in words), details
    assert node.call("GET", f"/_cluster/health/{index}")[1]["status"] == "red"
    status, answer = node.call("POST", f"/{index}/_search", {})
    assert status == 503 and answer["error"]["failed_shards"][0]["reason"]["type"] == "no_shard_available_action_exception", answer
    status, answer = node.call("GET", f"/{index}/_doc/1")
    assert status == 503, answer
    status, answer = node.call("PUT", f"/{index}/_doc/1?timeout=50ms", {"n": 1})
    assert status == 503 and answer["error"]["type"] == "unavailable_shards_exception", answer
    status, answer = count(node, "well")
    assert status == 200 and answer["count"] == DOCS, answer
    assert node.call("PUT", "/well/_doc/1", {"n": 1})[0] == 200
    assert "corrupt" in node.tail(200) or any(w in node.tail(200) for w in words), node.tail()


def damaged(what, flush, damage, words):
    with Node() as node:
        load(node, "well")
        load(node, "ill")
        if flush:
            assert node.call("POST", "/ill/_flush?force=true")[0] == 200
        files = {p: shard_files(node, "ill", p) for p in ("manifest_*", "segment_*", "translog_*")}
        node.kill()
        undo = damage(files)
        node.start()
        down(node, "ill", words)
        if undo:
            undo()
            wait_for("green", lambda: node.call("GET", "/_cluster/health/ill")[1]["status"] == "green")
            status, answer = count(node, "ill")
            assert answer["count"] == DOCS, answer
        assert node.call("DELETE", "/ill")[0] == 200
        assert node.call("GET", "/_cluster/health")[1]["status"] == "green"
    print(f"ok: {what}")


def flip_translog(files):
    """In the middle of what a later record says the disk has."""
    path = max(files["translog_*"], key=os.path.getsize)
    flip(path, 400)


def move_away(files, pattern):
    path = files[pattern][-1]
    os.rename(path, path + ".away")
    return lambda: os.rename(path + ".away", path)


def flip_footer(files):
    path = files["segment_*"][-1]
    at = os.path.getsize(path) - 20
    flip(path, at)
    return lambda: flip(path, at)


def flip_manifest(files):
    for path in files["manifest_*"]:
        flip(path, 40)
    return lambda: [flip(path, 40) for path in files["manifest_*"]]


def cut_segment(files):
    path = files["segment_*"][-1]
    with open(path, "rb") as f:
        whole = f.read()
    os.truncate(path, len(whole) // 2)

    def undo():
        with open(path, "wb") as f:
            f.write(whole)
    return undo


def damaged_state():
    """The cluster's metadata: the node refuses to start, names the file, and changes nothing."""
    with Node() as node:
        load(node, "well")
        node.stop()
        path = glob.glob(os.path.join(node.data, "data", "_state", "state-*.log"))[0]
        flip(path, os.path.getsize(path) // 2)
        args = [os.path.join(BUILD, "bin", "serai-node")] + [a for k, v in node.settings.items() for a in ("-E", f"{k}={v}")]
        p = subprocess.run(args, capture_output=True, text=True, timeout=HANG_SECONDS)
        assert p.returncode == 1 and "state-" in p.stderr and "damaged" in p.stderr, (p.returncode, p.stderr)
        flip(path, os.path.getsize(path) // 2)
        node.start()
        status, answer = count(node, "well")
        assert answer["count"] == DOCS, answer
    print("ok: cluster state")


def folder_that_is_none(files):
    """What lies on the disk cannot even be listed."""
    folder = os.path.dirname(files["manifest_*"][-1])
    os.rename(folder, folder + ".away")
    open(folder, "wb").close()

    def undo():
        os.remove(folder)
        os.rename(folder + ".away", folder)
    return undo


CASES = [
    ("a flipped byte in the translog", False, flip_translog, ["translog"]),
    ("a lost manifest", True, lambda f: move_away(f, "manifest_*"), ["manifest"]),
    ("a lost translog", False, lambda f: move_away(f, "translog_*"), ["translog"]),
    ("a lost segment", True, lambda f: move_away(f, "segment_*"), ["manifest", "translog", "segment"]),
    ("a flipped byte in a segment's footer", True, flip_footer, ["segment", "checksum", "manifest"]),
    ("flipped manifests", True, flip_manifest, ["manifest"]),
    ("a folder that is none", True, folder_that_is_none, ["directory"]),
    ("half a segment", True, cut_segment, ["segment", "manifest", "translog"]),
]


def main():
    passed = failed = 0
    for case in CASES + [None]:
        try:
            damaged(*case) if case else damaged_state()
            passed += 1
        except (AssertionError, RuntimeError) as e:
            failed += 1
            print(f"FAILED: {case[0] if case else 'cluster state'}: {e}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
