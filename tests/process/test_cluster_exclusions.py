#!/usr/bin/env python3
"""A master that is excluded from voting gives its place up, and those that write hear nothing of it."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import promised, wait_for  # noqa: E402

check = Checks()


def voters(node):
    return node.call("GET", "/_cluster/state/metadata")[1]["metadata"]["cluster_coordination"]["last_committed_config"]


def main():
    with Cluster(3) as cluster:
        status, _ = cluster.nodes[0].call("PUT", "/i", {"settings": {"number_of_replicas": 1}})
        check.equal(status, 200, "an index")
        cluster.wait_green("i")
        for n in range(3):
            old = cluster.master()
            begin = time.monotonic()
            status, answer = old.call("POST", f"/_cluster/voting_config_exclusions?node_names={old.name}&timeout=240s")
            check.equal(status, 200, f"{old.name} is excluded: {answer}")
            ids = {name: i for i, name in cluster.ids().items()}
            other = next(x for x in cluster.nodes if x is not old)
            check(ids[old.name] not in voters(other), "its vote does not count", voters(other))
            wait_for("another master", lambda: cluster.master() is not old)
            took = time.monotonic() - begin
            check(took < promised(1), "that takes no time-out of an election", f"{took:.2f} s")
            status, answer = old.call("PUT", f"/i/_doc/{n}", {"n": n})
            check.equal(status, 201, "writes go on through it")
            check.equal(old.call("GET", "/_cluster/health")[1]["number_of_nodes"], 3, "it stays in the cluster")
            status, answer = old.call("DELETE", "/_cluster/voting_config_exclusions?wait_for_removal=false")
            check.equal(status, 200, "it may vote again")
            wait_for("three voters", lambda: len(voters(other)) == 3)
    return check.end()


sys.exit(main())
