#!/usr/bin/env python3
"""A node that has never found a master: it says nothing of indices, which it cannot know, and whatever it is asked,
it lives."""
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "docs")]
from checks import Checks  # noqa: E402
from node import Node  # noqa: E402
from test_rest import PARTS, routes  # noqa: E402

check = Checks()
READS = ("/x/_search", "/_search", "/x/_doc/1", "/_count", "/x/_mapping", "/_cat/indices", "/_refresh", "/x", "/_field_caps?fields=*", "/x/_explain/1?q=a:b", "/_stats",
         "/_scripts/x", "/_template", "/_index_template", "/_component_template/x", "/_ingest/pipeline/x", "/_cluster/settings", "/_alias/x")


def ask(node, route):
    """Asks a route for the shortest time that it takes as a limit. Who waits for a master is left waiting: the client hangs up."""
    pattern, method = route
    path = re.sub(r"\{(\w+)\}", lambda m: PARTS.get(m.group(1), "zzz"), pattern)
    body = {} if method in ("POST", "PUT") else None
    for limit in ("?master_timeout=10ms", "?timeout=10ms", ""):
        try:
            status, answer = node.call(method, path + limit, body, timeout=3)
        except TimeoutError:
            return "waits"
        if limit[1:].split("=")[0] not in str(answer) or status != 400:
            break
    return status


def main():
    settings = {"cluster.initial_master_nodes": "nobody", "discovery.initial_state_timeout": "0s",
                "cluster.name": f"alone-{os.getpid()}", "discovery.seed_hosts": "127.0.0.1:1"}  # nodes of other tests are no masters of it
    with Node(**settings) as node:
        for path in READS:
            status, answer = node.call("GET", path)
            check.equal((status, answer["error"]["type"], answer["error"]["reason"]),
                        (503, "cluster_block_exception", "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];"), path)
        status, answer = node.call("GET", "/_cluster/health?master_timeout=10ms")
        check.equal((status, answer["error"]["type"]), (503, "master_not_discovered_exception"), "health")
        all_routes = sorted(r for r in routes() if "/_tests" not in r[0])
        with ThreadPoolExecutor(32) as pool:
            statuses = list(pool.map(lambda r: ask(node, r), all_routes))
        check(len(statuses) > 200, "the routes are known")
        check.equal(node.call("GET", "/")[0], 200, "the node lives")
    check.end()


if __name__ == "__main__":
    main()
