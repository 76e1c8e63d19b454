#!/usr/bin/env python3
"""What a node holds beside its files: index buffers stay within one budget of all shards, whoever writes, and open segments are accounted for."""
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import Node, wait_for  # noqa: E402

BUDGET = 1 << 20
INDICES = 12
ROUNDS = 8


def writes(node, which):
    for r in range(ROUNDS):
        lines = []
        for i in range(150):
            lines += [{"index": {}}, {"t": " ".join(f"w{which}x{r}x{i}x{k}" for k in range(20)), "n": i}]
        status, answer = node.call("POST", f"/i{which}/_bulk", lines)
        assert status == 200 and not answer["errors"], answer


def held(node):
    return node.call("GET", "/_stats/segments")[1]["_all"]["total"]["segments"]["index_writer_memory_in_bytes"]


def accounting(node):
    return next(iter(node.call("GET", "/_nodes/_local/stats/breaker")[1]["nodes"].values()))["breakers"]["accounting"]["estimated_size_in_bytes"]


def main():
    with Node(**{"indices.memory.index_buffer_size": str(BUDGET) + "b"}) as node:
        for i in range(INDICES):
            assert node.call("PUT", f"/i{i}", {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": -1}})[0] == 200
        assert accounting(node) == 0, accounting(node)
        threads = [threading.Thread(target=writes, args=(node, i)) for i in range(INDICES)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        wait_for("buffers within their budget", lambda: held(node) <= BUDGET)
        for i in range(INDICES):
            assert node.call("POST", f"/i{i}/_flush?force=true")[0] == 200 and node.call("POST", f"/i{i}/_refresh")[0] == 200
            assert node.call("GET", f"/i{i}/_count")[1]["count"] == ROUNDS * 150
        assert accounting(node) > 0
        assert node.call("DELETE", "/i*")[0] == 200
        wait_for("segments that went to be given back", lambda: accounting(node) == 0)
    print("ok")


main()
