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
        finally:
            victim.clean_up()
            subprocess.run(["umount", "-l", mount])
    disk.end()


main()
