#!/usr/bin/env python3
"""The disk of one node of a cluster fills up under writes: its copies fail, others go on, and once there is room everything that
was acknowledged is there, on all copies. The disk is a small tmpfs, so this needs root. SEED is the random seed (1)."""
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from cluster import Cluster  # noqa: E402
from faults import Faults, INDEX, count  # noqa: E402
from node import skip, wait_for  # noqa: E402

MEGABYTES = 60


class FullDisk(Faults):
    def __init__(self, cluster, mount, victim):
        super().__init__(cluster)
        self.ballast, self.victim = os.path.join(mount, "ballast"), victim

    def fill(self):
        """All that is left, but for less than a page."""
        with open(self.ballast, "ab", buffering=0) as f:
            for size in (1 << 20, 1 << 12):
                try:
                    while f.write(b"\0" * size) == size:
                        pass
                except OSError:
                    pass

    def holds(self):
        return any(name == self.victim.name for _, _, _, name in self.cluster.copies(INDEX))

    def act(self, restart):
        def do():
            self.fill()
            wait_for("its copies fail", lambda: self.fill() or not self.holds())
            acked = self.load.acked
            wait_for("writes go on without it", lambda: self.load.acked > acked + 50)
            if restart:
                self.victim.kill()
            os.unlink(self.ballast)
            if restart:
                self.victim.start()
            time.sleep(0.2)
            status, answer = self.cluster.nodes[0].call("POST", "/_cluster/reroute?retry_failed=true")
            assert status == 200, answer

        return do


    def verify(self):
        """No client heard of the disk: what its copies could not write, others did."""
        return [f"a client heard {r}" for r in self.load.refusals if r[0] >= 500 or "io_exception" in r[1]] + super().verify()


def flood(cluster, disk):
    """Above the flood stage the indices there take no writes, but for deletions of whole indices; with room again they do."""
    node, victim = cluster.nodes[0], cluster.nodes[1]
    status, answer = node.call("PUT", "/_cluster/settings", {"transient": {
        "cluster.routing.allocation.disk.threshold_enabled": True, "cluster.info.update.interval": "10s",
        "cluster.routing.allocation.disk.watermark.low": "10mb", "cluster.routing.allocation.disk.watermark.high": "6mb",
        "cluster.routing.allocation.disk.watermark.flood_stage": "4mb"}})
    assert status == 200, answer
    node.call("PUT", "/flooded", {"settings": {"number_of_shards": 1, "number_of_replicas": 0, "index.routing.allocation.include._name": victim.name}})
    assert node.call("PUT", "/flooded/_doc/1?refresh", {"n": 1})[0] == 201
    with open(disk.ballast, "wb") as f:
        while os.statvfs(disk.ballast).f_bavail * os.statvfs(disk.ballast).f_frsize > (3 << 20):
            f.write(b"\0" * (1 << 18))
            f.flush()
    key = "index.blocks.read_only_allow_delete"
    block = lambda: node.call("GET", "/flooded/_settings?flat_settings=true")[1].get("flooded", {}).get("settings", {}).get(key)
    wait_for("the block", lambda: block() == "true")
    status, answer = node.call("PUT", "/flooded/_doc/2", {"n": 2})
    assert (status, answer["error"]["type"]) == (429, "cluster_block_exception"), answer
    status, answer = node.call("DELETE", "/flooded/_doc/1")
    assert status == 429, answer
    status, answer = node.call("GET", "/flooded/_search")
    assert (status, answer["hits"]["total"]["value"]) == (200, 1), answer
    os.unlink(disk.ballast)
    wait_for("no block", lambda: block() is None)
    status, answer = node.call("PUT", "/flooded/_doc/2", {"n": 2})
    assert status == 201, answer
    assert node.call("DELETE", "/flooded")[0] == 200
    disk.passed += 1


def main():
    if os.geteuid() != 0:
        skip("mounting a small disk needs root")
    with tempfile.TemporaryDirectory() as mount:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={MEGABYTES}m", "serai-test", mount], capture_output=True, text=True)
        if made.returncode != 0:
            skip("no tmpfs can be mounted here: " + made.stderr.strip())
        # Disks that are full are for the test, not for the allocation that knows of them.
        cluster = Cluster(3, **{"cluster.routing.allocation.disk.threshold_enabled": "false"})
        victim = cluster.nodes[1]
        victim.settings["path.data"] = os.path.join(mount, "data")
        disk = FullDisk(cluster, mount, victim)
        try:
            with cluster:
                disk.create(replicas=2)
                for n in range(count(2, 10)):
                    disk.round(f"full disk {n + 1}{', restarted' if n % 2 else ''}", disk.act(n % 2 == 1))
                flood(cluster, disk)
        finally:
            victim.clean_up()
            subprocess.run(["umount", "-l", mount])
    disk.end()


main()
