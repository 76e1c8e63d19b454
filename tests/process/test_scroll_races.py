#!/usr/bin/env python3
"""Pages of one scroll that are asked for at the same time, while the scroll is freed: each is answered, with a page or with 404."""
import concurrent.futures
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import Node  # noqa: E402

ROUNDS = 500 if os.environ.get("LONG") == "1" else 60
DOCS = 40


def fill(node, index, shards):
    settings = {"index": {"number_of_shards": shards, "number_of_replicas": 0}}
    assert node.call("PUT", f"/{index}", {"settings": settings})[0] == 200
    lines = []
    for i in range(DOCS):
        lines += [{"index": {"_id": str(i)}}, {"n": i, "word": f"w{i:03}"}]
    assert node.call("POST", f"/{index}/_bulk?refresh=true", lines)[1]["errors"] is False


def ids(answer):
    status, body = answer
    assert status in (200, 404), (status, body)
    return tuple(h["_id"] for h in body["hits"]["hits"]) if status == 200 else ()


def one_round(node, pool, index, sort, free_first):
    status, page = node.call("POST", f"/{index}/_search?scroll=1m", {"size": 2, "sort": sort, "query": {"match_all": {}}})
    assert status == 200, page
    scroll = {"scroll_id": page["_scroll_id"]}
    next_page = lambda: node.call("POST", "/_search/scroll", {**scroll, "scroll": "1m"})
    free = lambda: node.call("DELETE", "/_search/scroll", scroll)
    work = [free, next_page, next_page, next_page] if free_first else [next_page, next_page, next_page, free]
    answers = [f.result() for f in [pool.submit(w) for w in work]]
    freed = answers.pop(0 if free_first else -1)
    assert freed[0] in (200, 404), freed
    first = tuple(h["_id"] for h in page["hits"]["hits"])
    for page_ids in map(ids, answers):
        assert not set(first) & set(page_ids), (first, page_ids)
    assert next_page()[0] == 404


def test_races(node):
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for index in ("one", "three"):
            for i in range(ROUNDS):
                one_round(node, pool, index, [[{"word.keyword": "desc"}], ["_doc"], [{"n": "asc"}, {"word.keyword": "asc"}]][i % 3], i % 2 == 0)


def test_same_place(node):
    """Pages one after the other are all documents once, however many ask for each."""
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        status, page = node.call("POST", "/one/_search?scroll=1m", {"size": 7, "sort": [{"word.keyword": "asc"}]})
        seen = [h["_id"] for h in page["hits"]["hits"]]
        while len(seen) < DOCS:
            status, page = node.call("POST", "/_search/scroll", {"scroll_id": page["_scroll_id"], "scroll": "1m"})
            assert status == 200 and page["hits"]["hits"], page
            seen += [h["_id"] for h in page["hits"]["hits"]]
        assert seen == sorted(seen, key=int) and len(set(seen)) == DOCS, seen
        answers = [pool.submit(node.call, "POST", "/_search/scroll", {"scroll_id": page["_scroll_id"], "scroll": "1m"}) for _ in range(4)]
        assert all(ids(a.result()) == () for a in answers)
        assert node.call("DELETE", "/_search/scroll", {"scroll_id": page["_scroll_id"]})[0] == 200


def test_limit(node):
    """search.max_open_scroll_context is kept, for scrolls alone, and a freed one makes room."""
    assert node.call("PUT", "/_cluster/settings", {"transient": {"search.max_open_scroll_context": 2}})[0] == 200
    begin = lambda: node.call("POST", "/one/_search?scroll=1m", {"size": 1})
    opened = [begin()[1]["_scroll_id"] for _ in range(2)]
    status, body = begin()
    assert status == 500 and body["error"]["type"] == "search_phase_execution_exception", body
    cause = body["error"]["root_cause"][0]
    assert cause["type"] == "exception" and cause["reason"] == (
        "Trying to create too many scroll contexts. Must be less than or equal to: [2]. This limit can be set by changing the "
        "[search.max_open_scroll_context] setting."), cause
    assert node.call("POST", "/one/_pit?keep_alive=1m")[0] == 200
    assert node.call("DELETE", "/_search/scroll", {"scroll_id": opened[:1]})[0] == 200
    assert begin()[0] == 200
    assert node.call("DELETE", "/_search/scroll/_all")[1]["num_freed"] == 2
    assert node.call("PUT", "/_cluster/settings", {"transient": {"search.max_open_scroll_context": None}})[0] == 200


with Node() as started:
    fill(started, "one", 1)
    fill(started, "three", 3)
    test_races(started)
    test_same_place(started)
    test_limit(started)
print("3 passed, 0 failed")
