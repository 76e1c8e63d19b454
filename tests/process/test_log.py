#!/usr/bin/env python3
"""What a node says of itself: who and where it is, what changes in its cluster, whom it looks for and why it is not taken; lines for
people on a terminal. And what keeps it from starting is said."""
import json
import os
import pty
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from checks import Checks  # noqa: E402
from node import BUILD, HANG_SECONDS, Node, free_port, wait_for  # noqa: E402

check = Checks()
PROGRAM = os.path.join(BUILD, "bin", "serai-node")


def lines(node):
    with open(node.log_path, encoding="utf-8") as f:
        return [json.loads(line) for line in f if line.startswith("{")]


def said(node, *words):
    """A line whose message has all the words."""
    return next((line for line in lines(node) if all(w in line["message"] for w in words)), None)


def hears(node, what, *words):
    wait_for(what, lambda: said(node, *words) or node.process.poll() is not None)
    check(said(node, *words) is not None, what, [line["message"] for line in lines(node)][-5:])


def test_itself():
    with Node(**{"cluster.name": "logs", "node.name": "one"}) as node:
        hears(node, "the first line", "Serai", "pid", f"HTTP 127.0.0.1:{node.port}", "transport 127.0.0.1:", "roles [data, ingest, master", "data [")
        check.equal({(line.get("cluster.name"), line.get("node.name")) for line in lines(node)}, {("logs", "one")}, "each line has the cluster and the node")
        check(said(node, "other machines") is None, "a node on 127.0.0.1 is not warned of")
        node.call("PUT", "/made", {"settings": {"number_of_shards": 2}})
        hears(node, "an index that is made", "[made] created: 2 shards, 1 replicas")
        node.call("PUT", "/made/_settings", {"refresh_interval": "7s"})
        hears(node, "a setting of an index", "index made", "[index.refresh_interval] from [] to [7s]")
        node.call("PUT", "/made/_settings", {"refresh_interval": None})
        hears(node, "a setting that is taken away", "[index.refresh_interval] from [7s] to []")
        node.call("POST", "/made/_close")
        hears(node, "an index that is closed", "[made] closed")
        node.call("DELETE", "/made")
        hears(node, "an index that is deleted", "[made] deleted")
        node.call("PUT", "/_cluster/settings", {"persistent": {"cluster.routing.allocation.enable": "primaries"}})
        hears(node, "a setting of the cluster", "persistent: [cluster.routing.allocation.enable] from [] to [primaries]")
        status, _ = node.call("PUT", "/_cluster/settings", {"transient": {"logger.level": "WARN"}})
        check.equal(status, 200, "logger.level may change")
        node.call("PUT", "/quiet")
        node.call("PUT", "/_cluster/settings", {"transient": {"logger.level": None}})
        node.call("PUT", "/heard")
        hears(node, "what is said at the level of before", "[heard] created")
        check(said(node, "[quiet] created") is None, "and not what came at another level")


def test_forming():
    """A node that finds nobody says so, with the reason for each address."""
    with Node(**{"cluster.name": "other"}) as other:
        status, answer = other.call("GET", "/_nodes/_local/transport")
        address = next(iter(answer["nodes"].values()))["transport"]["publish_address"] if status == 200 else ""
        nowhere = f"127.0.0.1:{free_port()}"
        alone = Node(**{"node.name": "alone", "cluster.name": "mine", "discovery.seed_hosts": f"{address},{nowhere}", "cluster.initial_master_nodes": "alone,gone",
                        "discovery.cluster_formation_warning_timeout": "500ms", "discovery.initial_state_timeout": "1s"})
        try:
            alone.launch()
            hears(alone, "whom it looks for", "no master for", nowhere, f"{address} (this node is of cluster [other], not of [mine])", "more than half of [alone, gone]")
        finally:
            alone.kill()
            alone.clean_up()


def test_ports():
    first = free_port(2)
    with Node(port=first), Node(port=first + 1, **{"http.port": f"{first}-{first + 1}"}) as second:
        wait_for("the second node", lambda: said(second, "started"))
        hears(second, "a port that was taken", f"port {first} is taken: HTTP listens on port {first + 1}")


def run(*arguments):
    p = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=HANG_SECONDS)
    return p.returncode, p.stderr


def test_refused(folder):
    status, text = run("-E", f"path.conf={folder}/nope")
    check(status == 64 and f"{folder}/nope" in text and "path.conf" in text, "a folder of settings that is not there", (status, text))
    status, text = run("-E", f"path.data={folder}/data", "-E", f"http.port={free_port()}", "-E", f"transport.port={free_port()}", "-p", f"{folder}/nope/pid")
    check(status == 1 and f"{folder}/nope/pid" in text, "a file for the process id that cannot be written", (status, text))


def test_terminal(folder):
    leader, follower = pty.openpty()
    process = subprocess.Popen([PROGRAM, "-E", f"path.data={folder}/terminal", "-E", f"http.port={free_port()}", "-E", f"transport.port={free_port()}", "-E", "node.name=shown",
                                "-E", "network.host=0.0.0.0"], stdin=subprocess.DEVNULL, stdout=follower, stderr=follower)
    os.close(follower)
    text, deadline = "", time.monotonic() + HANG_SECONDS
    while "started" not in text and time.monotonic() < deadline:
        text += os.read(leader, 4096).decode("utf-8", "replace")
    process.terminate()
    process.wait(timeout=HANG_SECONDS)
    line = next((part for part in text.splitlines() if "started" in part), "")
    check(line.startswith("[20") and "[INFO ]" in line and "[shown] Serai" in line and "{" not in line, "lines for people on a terminal", line)


def test_reachable(folder):
    addresses = subprocess.run(["hostname", "-I"], capture_output=True, text=True).stdout.split()
    if not any("." in a and not a.startswith("127.") for a in addresses):
        return  # this machine has no address that others could reach
    with Node(**{"transport.host": "0.0.0.0"}) as node:
        hears(node, "that others may reach it", "other machines may reach this node", "no encryption")


def main():
    with tempfile.TemporaryDirectory() as folder:
        test_itself()
        test_forming()
        test_ports()
        test_refused(folder)
        test_terminal(folder)
        test_reachable(folder)
    check.end()


if __name__ == "__main__":
    main()
