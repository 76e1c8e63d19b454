#!/usr/bin/env python3
"""Update, delete and reindex by query on a running node: many pages and slices under concurrent writes, rates, cancelling,
results that are asked for later (also after a restart), and a node that stops while operations run.

DOCS documents (20000; 200000 in the long form)."""
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import HANG_SECONDS, Node, wait_for  # noqa: E402

LONG = os.environ.get("LONG") == "1"
DOCS = int(os.environ.get("DOCS", "200000" if LONG else "20000"))
passed = failed = 0


def check(name, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    print(f"{'ok' if ok else 'FAILED'} {name} {'' if ok else str(detail)[:2000]}", flush=True)


def wait(node, task, seconds=HANG_SECONDS):
    """The result of an operation, once there is one."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        status, r = node.call("GET", f"/_tasks/{task}")
        if status != 200 or r["completed"]:
            return r
        time.sleep(0.02)
    raise RuntimeError(f"{task} does not end: {r}")


def fill(node, index, n, shards=3):
    node.call("PUT", f"/{index}", {"settings": {"number_of_shards": shards, "number_of_replicas": 0},
                                   "mappings": {"properties": {"n": {"type": "integer"}, "k": {"type": "keyword"}}}})
    for start in range(0, n, 5000):
        lines = []
        for i in range(start, min(start + 5000, n)):
            lines += [{"index": {"_id": f"d{i}"}}, {"n": i, "k": f"k{i % 7}"}]
        assert not node.call("POST", f"/{index}/_bulk", lines)[1]["errors"]
    node.call("POST", f"/{index}/_refresh")


def restart(node):
    """A node that answers need not have read its shards yet."""
    node.start()
    wait_for("primaries", lambda: node.call("GET", "/_cluster/health?wait_for_status=yellow")[0] == 200)


def count(node, index, query):
    return node.call("POST", f"/{index}/_count", {"query": query})[1]["count"]


def pages(node):
    fill(node, "a", DOCS)
    status, r = node.call("POST", "/a/_update_by_query?refresh=true", {"script": {"source": "ctx._source.m = ctx._source.n + 1"}})
    check("update in pages", status == 200 and r["updated"] == DOCS and r["batches"] == (DOCS + 999) // 1000, r)
    check("every document was changed", count(node, "a", {"range": {"m": {"gte": 1}}}) == DOCS)
    status, r = node.call("POST", "/_reindex?refresh=true&slices=5", {"source": {"index": "a"}, "dest": {"index": "b"}})
    check("reindex in slices", status == 200 and r["created"] == DOCS and len(r["slices"]) == 5, r)
    check("no slice got nothing or all", all(0 < s["created"] < DOCS for s in r["slices"]), r["slices"])
    status, r = node.call("POST", "/b/_delete_by_query?refresh=true&slices=auto", {"query": {"term": {"k": "k3"}}})
    left = DOCS - len(range(3, DOCS, 7))
    check("delete in slices", status == 200 and r["deleted"] == DOCS - left and count(node, "b", {"match_all": {}}) == left, r)
    resident, anonymous = node.memory()
    check("memory stays bounded", anonymous < 400 << 20, anonymous)


def conflicts(node):
    """A writer changes documents behind the operation's back: nothing is lost, and each conflict is counted."""
    fill(node, "c", 5000, shards=2)
    stop, touched = threading.Event(), set()

    def write():
        i = 0
        while not stop.is_set():
            status, _ = node.call("PUT", f"/c/_doc/d{i % 5000}", {"n": i % 5000, "k": "mine", "by": "writer"})
            if status == 200:
                touched.add(i % 5000)
            i += 37
    writer = threading.Thread(target=write)
    writer.start()
    totals = {"updated": 0, "version_conflicts": 0}
    for _ in range(5):
        status, r = node.call("POST", "/c/_update_by_query?conflicts=proceed&refresh=true&scroll_size=100&slices=2",
                              {"script": {"source": "ctx._source.c = ctx._source.c == null ? 1 : ctx._source.c + 1"}})
        if status != 200 or r["updated"] + r["version_conflicts"] != r["total"]:
            check("conflicts are counted", False, r)
        totals = {k: totals[k] + r[k] for k in totals}
    stop.set()
    writer.join()
    check("updates beside a writer", totals["updated"] > 0, totals)
    node.call("POST", "/c/_refresh")
    lost = [i for i in touched if node.call("GET", f"/c/_doc/d{i}")[1]["_source"].get("by") != "writer"]
    check("no write was undone", not lost, lost[:5])
    check("documents stay as many", count(node, "c", {"match_all": {}}) == 5000)


def tasks(node):
    status, r = node.call("POST", "/a/_update_by_query?wait_for_completion=false&requests_per_second=1&scroll_size=10")
    task = r["task"]
    status, r = node.call("GET", "/_tasks?actions=*byquery&detailed=true")
    listed = [t for n in r["nodes"].values() for t in n["tasks"]]
    check("a task that runs is listed", task in listed, r)
    number = task.split(":")[1]
    check("and in the table", number in node.call("GET", "/_cat/tasks?h=id")[1])
    paused = lambda: (r := node.call("GET", f"/_tasks/{task}")[1])["task"]["status"]["throttled_until_millis"] > 0 and r
    r = wait_for("a pause", paused)
    check("its status moves", not r["completed"] and 0 < r["task"]["status"]["updated"] < DOCS, r)
    node.call("POST", f"/_update_by_query/{task}/_rethrottle?requests_per_second=-1")
    r = wait(node, task)
    check("a rate can be lifted", r["completed"] and r["response"]["updated"] == DOCS and r["response"]["throttled_millis"] > 0, r)
    status, r = node.call("POST", "/a/_update_by_query?wait_for_completion=false&requests_per_second=1&slices=3")
    cancelled = r["task"]
    begin = time.monotonic()
    status, r = node.call("POST", f"/_tasks/{cancelled}/_cancel?wait_for_completion=true")
    check("cancelling ends it", time.monotonic() - begin < HANG_SECONDS / 2 and status == 200, r)
    r = wait(node, cancelled)
    check("and says so", r["response"]["canceled"] == "by user request" and len(r["response"]["slices"]) == 3, r)
    status, r = node.call("POST", "/a/_update_by_query?wait_for_completion=false", {"script": {"source": "throw new Exception('no')"}})
    r = wait(node, r["task"])
    check("a failure is kept", r["error"]["type"] == "script_exception" and "response" not in r, r)
    node.stop()
    restart(node)
    status, r = node.call("GET", f"/_tasks/{task}")
    check("results outlive the node", status == 200 and r["response"]["updated"] == DOCS, r)


def stopping(node):
    """What runs when the node stops ends with it, at once and cleanly."""
    node.call("POST", "/a/_update_by_query?wait_for_completion=false&requests_per_second=1")
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(node.call("POST", "/b/_delete_by_query?requests_per_second=1",
                                                                     {"query": {"match_all": {}}})))
    waiting.start()
    wait_for("the request to be there", lambda: node.call("GET", "/_tasks?actions=*delete/byquery")[1]["nodes"])
    begin = time.monotonic()
    node.stop()
    waiting.join()
    check("stopping does not wait for rates", time.monotonic() - begin < HANG_SECONDS / 2, time.monotonic() - begin)
    check("who waited was answered", answers and answers[0][0] == 200 and "canceled" in answers[0][1], answers)
    restart(node)
    check("everything is there", count(node, "a", {"match_all": {}}) == DOCS)


with Node() as node:
    pages(node)
    conflicts(node)
    tasks(node)
    stopping(node)
print(f"{passed} passed, {failed} failed")
sys.exit(1 if failed else 0)
