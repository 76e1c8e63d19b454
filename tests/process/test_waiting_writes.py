#!/usr/bin/env python3
"""Writes that wait for a refresh which never comes are answered when their index goes, and keep no node from ending."""
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import Node, wait_for  # noqa: E402

NEVER = {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"}}


def write(node, index, answers):
    """Begins a write that waits; the thread ends with its answer."""
    t = threading.Thread(target=lambda: answers.append(node.call("PUT", f"/{index}/_doc/1?refresh=wait_for", {"n": 1})))
    t.start()
    wait_for("the document to be there", lambda: node.call("GET", f"/{index}/_doc/1")[0] == 200)
    return t


def main():
    with Node() as node:
        for i in range(5):
            answers = []
            assert node.call("PUT", f"/i{i}", NEVER)[0] == 200
            t = write(node, f"i{i}", answers)
            assert node.call("DELETE", f"/i{i}")[0] == 200
            t.join()
            assert answers[0][0] == 201 and answers[0][1]["result"] == "created", answers
        assert node.call("PUT", "/last", NEVER)[0] == 200
        t = write(node, "last", answers)
        node.stop()
        t.join()
        assert answers[-1][0] == 201, answers[-1]
    print("7 passed, 0 failed")


if __name__ == "__main__":
    main()
