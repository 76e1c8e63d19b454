#!/usr/bin/env python3
"""deploy/local-cluster: nodes start, are killed, come back, and stop; data and settings stay; what is wrong is said."""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import node  # noqa: E402
from checks import Checks  # noqa: E402

check = Checks()


class Local:
    def __init__(self, folder):
        first = 15000 + os.getpid() % 10000  # below those that connections get
        self.env = dict(os.environ, BUILD=node.BUILD, CLUSTER=folder, HTTP_PORT=str(first), TRANSPORT_PORT=str(first + 1))

    def __call__(self, *args, ok=True):
        # Nodes outlive the script: what it prints must not wait for them.
        with tempfile.TemporaryFile("w+") as out:
            p = subprocess.run(["deploy/local-cluster", *args], cwd=node.ROOT, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
            out.seek(0)
            text = out.read()
        check((p.returncode == 0) == ok, f"local-cluster {' '.join(args)} {'works' if ok else 'is refused'}", text[-600:])
        return text


def get(url, path):
    with urllib.request.urlopen(url + path, timeout=node.HANG_SECONDS) as r:
        return json.load(r)


def main():
    if not os.access(os.path.join(node.BUILD, "bin", "serai-node"), os.X_OK):
        node.skip("serai-node is not built")
    with tempfile.TemporaryDirectory(prefix="serai-local-") as folder:
        local = Local(folder)
        local("status")
        check("local-cluster N" in local("start", ok=False), "it has to be said how many")
        try:
            said = local("3", "start", "-E", "cluster.name=tried")
            urls = re.findall(r"^  n\d  (http://[\d.:]+)  process \d+", said, re.M)
            check.equal(len(urls), 3, "three nodes")
            check.equal(len(re.findall(r", the master$", said, re.M)), 1, "one master")
            check(f"{urls[0]}/_console/" in said, "and the console", said)
            health = get(urls[2], "/_cluster/health")
            check.equal((health["cluster_name"], health["number_of_nodes"]), ("tried", 3), "one cluster, with the settings given")
            check.equal(re.findall(r"process \d+", local("3")), re.findall(r"process \d+", said), "what runs stays")
            check("comes back with" in local("kill", "2"), "one is killed")
            check(re.search(r"n2 .*not running", local("status")), "and is gone")
            local("kill", "2", ok=False)
            local("kill", "4", ok=False)
            node.wait_for("the others to notice", lambda: get(urls[0], "/_cluster/health?local=true")["number_of_nodes"] == 2)
            local("start", "2")
            check.equal(get(urls[1], "/_cluster/health?wait_for_nodes=3")["number_of_nodes"], 3, "it comes back, with the same settings")
            ids = set(get(urls[0], "/_nodes")["nodes"])
            local("stop")
            check.equal(len(re.findall("not running", local("status"))), 3, "all are stopped")
            urls = re.findall(r"(http://[\d.:]+)  process", local("3"))
            check.equal(set(get(urls[0], "/_nodes")["nodes"]), ids, "they are the same at the next start")
        finally:
            local("stop")
    check.end()


if __name__ == "__main__":
    main()
