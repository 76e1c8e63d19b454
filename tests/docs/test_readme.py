#!/usr/bin/env python3
"""The README's tour works as it stands: every command is run, in order, against a node."""
import json
import os
import re
import subprocess

from pages import Checks, page
from node import Node

check = Checks()


def commands():
    """The tour's commands: indented lines, as far as their quotes reach."""
    tour = page("README.md").split("## Five minutes with curl")[1].split("\n## ")[0]
    lines = [line[4:] for line in tour.splitlines() if line.startswith("    ")]
    found, current = [], ""
    for line in lines:
        current = f"{current}\n{line}" if current else line
        if current.count("'") % 2 == 0:
            found.append(current)
            current = ""
    return found


def run(command, port):
    """The answer, as JSON; None when the command failed."""
    command = command.replace("localhost:9200", f"127.0.0.1:{port}")
    command = re.sub(r"^curl ", "curl -sS --fail-with-body ", command)
    p = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        answer = json.loads(p.stdout)
    except ValueError:
        answer = None
    check(p.returncode == 0 and answer is not None, command.splitlines()[0], p.stdout[:300])
    return answer or {}


def main():
    tour = commands()
    check.equal(tour[0], "build/bin/serai-node &", "the tour starts a node")
    with Node() as node:
        answers = [run(c, node.port) for c in tour[1:]]
        check.equal(node.call("HEAD", "/hotel")[0], 404, "the tour tidies up")
    root, created, bulk, search, cities, tokens, deleted = answers
    check.equal(root["version"]["number"], "7.12.1", "the version")
    check(created["acknowledged"] and not bulk["errors"] and deleted["acknowledged"], "an index, three hotels, and no index any more")
    check.equal([h["_id"] for h in search["hits"]["hits"]], ["1", "3"], "cheap hotels, the nearest first")
    check.equal([(b["key"], b["doc_count"], b["price"]["value"]) for b in cities["aggregations"]["cities"]["buckets"]], [("上海", 2, 1134.5), ("北京", 1, 259.0)], "cities")
    check("外滩" in [t["token"] for t in tokens["tokens"]], "the text is split into words")
    for path in ("hotel/list", "hotel/suggestion"):
        check(path in page(os.path.join("deploy", "demo")), f"the demo shows {path}")
    check.end()


if __name__ == "__main__":
    main()
