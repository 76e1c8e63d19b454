#!/usr/bin/env python3
"""What pipelines may take: a bulk to many missing indices looks templates up once for each, one document has the ceiling of one
request, and no text in a document decides how deep a node recurses."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import Node  # noqa: E402

check = Checks()


def statuses(node, lines):
    status, answer = node.call("POST", "/_bulk", "".join(line + "\n" for line in lines))
    check(status == 200, "a bulk is answered", (status, answer))
    return {next(iter(item.values()))["status"] for item in answer["items"]}


def templates(node):
    fields = {f"f{i}": {"type": "keyword"} for i in range(300)}
    node.call("PUT", "/_template/t", {"index_patterns": ["m*"], "mappings": {"properties": fields}})
    node.call("PUT", "/_cluster/settings", {"transient": {"action.auto_create_index": "false"}})
    lines = []
    for i in range(20000):
        lines += [json.dumps({"index": {"_index": f"m{i % 2}"}}), "{}"]
    check(statuses(node, lines) == {404}, "entries of two missing indices in turn")
    node.call("PUT", "/_ingest/pipeline/turn",
              {"processors": [{"set": {"field": "_index", "value": "m{{n}}"}}]})
    lines = []
    for i in range(20000):
        lines += [json.dumps({"index": {"_index": "other", "pipeline": "turn"}}), json.dumps({"n": i % 2})]
    check(statuses(node, lines) == {404}, "entries that a pipeline sends there")
    node.call("PUT", "/_cluster/settings", {"transient": {"action.auto_create_index": None}})


def one_document(node):
    node.call("PUT", "/_ingest/pipeline/large", {"processors": [{"uppercase": {"field": "t"}}] * 50})
    status, answer = node.call("PUT", "/i/_doc/1?pipeline=large", {"t": "x" * (20 << 20)})
    check(status == 429, "a document that takes more than a request may", (status, str(answer)[:300]))
    status, answer = node.call("PUT", "/i/_doc/2?pipeline=large", {"t": "x"})
    check(status == 201, "a small one afterwards", (status, answer))


def depth(node):
    node.call("PUT", "/_ingest/pipeline/pairs",
              {"processors": [{"kv": {"field": "t", "field_split": " ", "value_split": "="}}]})
    status, answer = node.call("PUT", "/i/_doc/3?pipeline=pairs", {"t": "a." * 200000 + "a=1"})
    check(status == 400, "a text that would nest values without end", (status, str(answer)[:300]))
    status, answer = node.call("PUT", "/i/_doc/4?pipeline=pairs", {"t": "a.b=1"})
    check(status == 201, "a path of two", (status, answer))


with Node() as running:
    templates(running)
    if not os.environ.get("REPORTS"):  # what a sanitizer keeps counts as the node's memory
        one_document(running)
    depth(running)
check.end()
