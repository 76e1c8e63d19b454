#!/usr/bin/env python3
"""A primary whose only copy lies on a node where no rule would put it serves from there all the same when that node comes back."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

check = Checks()


def main():
    with Cluster(3) as cluster:
        status, _ = cluster.nodes[0].call("PUT", "/i", {"settings": {"number_of_replicas": 0}})
        check.equal(status, 200, "an index")
        cluster.wait_green("i")
        check.equal(cluster.nodes[0].call("PUT", "/i/_doc/1?refresh=true", {"n": 1})[0], 201, "a document")
        holder = cluster.holding("i", True)[0]
        others = [n for n in cluster.nodes if n is not holder]
        filters = {"index.routing.allocation.require._name": "nobody"}
        check.equal(others[0].call("PUT", "/i/_settings", filters)[0], 200, "a filter that no node passes")
        holder.kill()
        wait_for("its loss is seen", lambda: others[0].call("GET", "/_cluster/health/i")[1].get("status") == "red")
        holder.start()
        wait_for("it serves again", lambda: others[0].call("GET", "/_cluster/health/i")[1].get("status") == "green")
        check.equal(others[0].call("GET", "/i/_doc/1")[1].get("found"), True, "the document is there")
        check(cluster.holding("i", True)[0] is holder, "where it was")
        goes = others[0].name
        check.equal(others[0].call("PUT", "/i/_settings", {"index.routing.allocation.require._name": goes})[0], 200, "a filter that one passes")
        wait_for("it moves there", lambda: [n.name for n in cluster.holding("i", True)] == [goes])
        check.equal(others[1].call("GET", "/i/_doc/1")[1].get("found"), True, "the document moved with it")
    return check.end()


sys.exit(main())
