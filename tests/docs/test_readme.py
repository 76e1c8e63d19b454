#!/usr/bin/env python3
"""The README's tour works as it stands: every command is run, in order, as printed, beside another node."""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile

from pages import BUILD, Checks, page
from node import HANG_SECONDS, Node, skip, wait_for

check = Checks()
PORT, TRANSPORT, FOLDER = 9250, 9350, "/tmp/serai-tour"


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


def run(command):
    """The answer, as JSON; None when the command failed."""
    command = re.sub(r"^curl ", "curl -sS --fail-with-body ", command)
    p = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        answer = json.loads(p.stdout)
    except ValueError:
        answer = None
    check(p.returncode == 0 and answer is not None, command.splitlines()[0], p.stdout[:300])
    return answer or {}


def is_free(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) != 0


def start(command, folder):
    """The tour's node, as printed but for its data folder and where the programs are."""
    check(command.startswith("build/bin/serai-node ") and FOLDER in command, "the tour starts a node", command)
    command = command.replace(FOLDER, folder, 1).replace("build/bin", os.path.join(BUILD, "bin"), 1)
    with open(os.path.join(folder, "log"), "wb") as log:
        process = subprocess.Popen(command.split(), stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    wait_for("the tour's node", lambda: process.poll() is not None or not is_free(PORT))
    return process


def main():
    tour = commands()
    for port in (PORT, TRANSPORT):
        check(str(port) in tour[0], f"the node is told port {port}")
        if not is_free(port):
            skip(f"port {port} of the tour is in use")
    check.equal({p for c in tour[1:] for p in re.findall(r"localhost:(\d+)", c)}, {str(PORT)}, "all commands go to it")
    with Node() as other, tempfile.TemporaryDirectory() as folder:
        other.call("PUT", "/hotel/_doc/1?refresh=true", {"name": "a"})
        other.call("PUT", "/tour/_doc/1?refresh=true", {"name": "a"})
        process = start(tour[0], folder)
        try:
            answers = [run(c) for c in tour[1:]]
        finally:
            process.send_signal(signal.SIGINT)
            check.equal(process.wait(timeout=HANG_SECONDS), 0, "Ctrl-C ends it")
        for index in ("hotel", "tour"):
            check.equal(other.call("GET", f"/{index}/_count")[1].get("count"), 1, f"another node's index {index} is as it was")
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
