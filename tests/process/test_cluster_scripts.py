#!/usr/bin/env python3
"""Stored scripts are on all nodes as soon as they are acknowledged, outlive the master, and are there again when the cluster is."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

check = Checks()
FIELD = {"script_fields": {"f": {"script": {"id": "s", "params": {"a": 2}}}}}


def value(node):
    """What the script makes of the one document, asked through the node."""
    status, answer = node.call("POST", "/i/_search", FIELD)
    hits = answer.get("hits", {}).get("hits") if status == 200 else None
    return hits[0]["fields"]["f"][0] if hits else answer


def main():
    with Cluster(3) as cluster:
        first = cluster.nodes[0]
        check.equal(first.call("PUT", "/i", {"settings": {"number_of_replicas": 2}})[0], 200, "an index")
        check.equal(first.call("PUT", "/i/_doc/1?refresh=true", {"n": 3})[0], 201, "a document")
        cluster.wait_green("i")
        for n in range(1, 16):
            via = cluster.nodes[n % 3]
            status, answer = via.call("PUT", "/_scripts/s", {"script": {"lang": "painless", "source": f"{n} * params.a"}})
            check.equal((status, answer), (200, {"acknowledged": True}), f"script {n}")
            for node in cluster.nodes:  # searches go to any copy in turn
                check.equal(value(node), 2 * n, f"script {n} through {node.name}")
        status, _ = first.call("PUT", "/_scripts/t", {"script": {"lang": "mustache", "source": {"size": "{{n}}"}}})
        check.equal(status, 200, "a template")
        old = cluster.master()
        old.kill()
        rest = [n for n in cluster.nodes if n is not old]
        wait_for("another master", lambda: rest[0].call("GET", "/_cat/master?h=node")[0] == 200 and cluster.master() is not old)
        check.equal(rest[0].call("DELETE", "/_scripts/t")[0], 200, "it goes with another master")
        check.equal(value(rest[1]), 30, "the other is there")
        for node in rest:
            node.stop()
        cluster.start()
        cluster.wait_green("i")
        for node in cluster.nodes:
            check.equal(value(node), 30, f"{node.name} has it again")
            check.equal(node.call("GET", "/_scripts/t")[0], 404, "what was deleted is not")
    return check.end()


sys.exit(main())
