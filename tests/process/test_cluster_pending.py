#!/usr/bin/env python3
"""What waits at the master: the most urgent first, as every node shows it."""
import os
import signal
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from cluster import Cluster  # noqa: E402
from node import wait_for  # noqa: E402

check = Checks()
RANK = ["IMMEDIATE", "URGENT", "HIGH", "NORMAL", "LOW", "LANGUID"]
REQUESTS = [("PUT", "/a/_mapping", {"properties": {"f": {"type": "keyword"}}}, "put-mapping", "HIGH"),
            ("PUT", "/b", None, "create-index", "URGENT"),
            ("PUT", "/a/_settings", {"index.refresh_interval": "7s"}, "update-settings", "URGENT"),
            ("PUT", "/_cluster/settings", {"transient": {"cluster.routing.allocation.node_concurrent_recoveries": 3}}, "cluster_update_settings", "IMMEDIATE"),
            ("POST", "/_cluster/reroute", {}, "cluster_reroute (api)", "IMMEDIATE")]


def main():
    # Followers that stand still keep a state from being published, and are not thought gone for long.
    with Cluster(3, **{"cluster.fault_detection.follower_check.timeout": "30s", "cluster.fault_detection.leader_check.timeout": "30s"}) as cluster:
        master = cluster.master()
        status, _ = master.call("PUT", "/a", {"settings": {"number_of_replicas": 0}})
        check.equal(status, 200, "an index")
        check.equal(master.call("GET", "/_cluster/pending_tasks")[1], {"tasks": []}, "nothing waits")
        others = [n for n in cluster.nodes if n is not master]
        threads = []
        try:
            for n in others:
                n.process.send_signal(signal.SIGSTOP)
            first = threading.Thread(target=master.call, args=("PUT", "/first", None))
            first.start()
            threads.append(first)
            waiting = lambda: master.call("GET", "/_cluster/pending_tasks")[1]["tasks"]
            wait_for("the first is under way", lambda: len(waiting()) == 1)
            for method, path, body, _, _ in REQUESTS:
                t = threading.Thread(target=master.call, args=(method, path, body))
                t.start()
                threads.append(t)
                time.sleep(0.05)
            wait_for("the others wait", lambda: len(waiting()) == 1 + len(REQUESTS))
            tasks = waiting()
            local = master.call("GET", "/_cluster/pending_tasks?local=true")[1]["tasks"]
            table = master.call("GET", "/_cat/pending_tasks?h=priority,source")[1].strip().split("\n")
        finally:
            for n in others:
                n.process.send_signal(signal.SIGCONT)
        for t in threads:
            t.join()
        check.equal([t["source"] for t in local], [t["source"] for t in tasks], "local, at the master: the same")
        check.equal((tasks[0]["executing"], tasks[0]["source"]), (True, "create-index [first], cause [api]"), "the one under way comes first")
        check.equal([t["executing"] for t in tasks[1:]], [False] * len(REQUESTS), "the others are not")
        keys = [(RANK.index(t["priority"]), t["insert_order"]) for t in tasks[1:]]
        check.equal(keys, sorted(keys), "by urgency, then by age")
        for _, _, _, source, priority in REQUESTS:
            found = [t["priority"] for t in tasks[1:] if t["source"].startswith(source)]
            check.equal(found, [priority], source)
        check.equal([line.split()[0] for line in table], [t["priority"] for t in tasks], "the table says the same")
        check(all(t["time_in_queue_millis"] >= 0 for t in tasks), "how long they wait", tasks)
        wait_for("nothing waits any more", lambda: cluster.nodes[0].call("GET", "/_cluster/pending_tasks")[1]["tasks"] == [])
        check.equal(cluster.nodes[1].call("GET", "/a/_settings?flat_settings=true")[1]["a"]["settings"]["index.refresh_interval"], "7s", "all of it was done")
        try:
            master.process.send_signal(signal.SIGSTOP)
            for path, none in (("/_cluster/pending_tasks?local=true", {"tasks": []}), ("/_cat/pending_tasks?local=true", "")):
                check.equal(others[0].call("GET", path), (200, none), f"elsewhere nothing waits, and nobody is asked: {path}")
        finally:
            master.process.send_signal(signal.SIGCONT)
    return check.end()


sys.exit(main())
