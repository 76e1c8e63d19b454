#!/usr/bin/env python3
"""Nodes that are gone keep their votes or lose them as cluster.auto_shrink_voting_configuration says, also when it is set while
the cluster runs."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

check = Checks()


def voters(node):
    return node.call("GET", "/_cluster/state/metadata")[1]["metadata"]["cluster_coordination"]["last_committed_config"]


def shrink(node, on):
    status, answer = node.call("PUT", "/_cluster/settings", {"persistent": {"cluster.auto_shrink_voting_configuration": on}})
    check.equal(status, 200, f"auto_shrink is {on}: {answer}")


def main():
    with Cluster(5) as cluster:
        wait_for("five voters", lambda: len(voters(cluster.master())) == 5)
        shrink(cluster.master(), False)
        leaving = [n for n in cluster.nodes if n is not cluster.master()][:2]
        for node in leaving:
            node.kill()
        cluster.wait_nodes(3)
        check.equal(len(voters(cluster.master())), 5, "without it, those that are gone keep their votes")
        shrink(cluster.master(), True)
        wait_for("three voters", lambda: len(voters(cluster.master())) == 3)
        check(True, "with it, they lose them")
    return check.end()


sys.exit(main())
