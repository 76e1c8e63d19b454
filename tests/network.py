"""Networks for tests: a network namespace for each node, on a bridge in one of the test's own, so that links between nodes can
be cut. Everything lives in namespaces that end with the test. Needs root.

Links are cut by a wrong address of the neighbour: what is sent there is lost in silence, as on a broken network; each direction
by itself. The test itself reaches every node always."""
import os
import subprocess
import sys

from node import skip

MARK = "SERAI_TEST_NETWORK"
NOWHERE = "02:00:00:00:ff:ff"


def enter():
    """Goes on inside of namespaces of its own; skips the test where they cannot be made. To be called first."""
    if os.environ.get(MARK):
        return
    if os.geteuid() != 0:
        skip("network namespaces need root")
    unshare = ["unshare", "--net", "--mount", "--propagation", "private"]
    script = "mkdir -p /run/netns && mount -t tmpfs serai-test /run/netns && ip link set lo up && ip link add br0 type bridge && ip netns add probe"
    try:
        made = subprocess.run([*unshare, "sh", "-c", script], capture_output=True, text=True)
    except OSError as e:
        skip(f"network namespaces cannot be made here: {e}")
    if made.returncode != 0:
        skip("network namespaces cannot be made here: " + made.stderr.strip())
    setup = "mount -t tmpfs serai-test /run/netns && ip link set lo up && exec \"$@\""
    os.environ[MARK] = "1"
    sys.stdout.flush()
    os.execvp("unshare", [*unshare, "sh", "-c", setup, "sh", sys.executable, *sys.argv])


def ip(*args):
    done = subprocess.run(["ip", *args], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"ip {' '.join(args)}: {done.stderr.strip()}")


class Network:
    """Namespaces n1 ... with the addresses 10.99.0.1 ...; the test has 10.99.0.254."""

    def __init__(self, n):
        self.n = n
        ip("link", "add", "br0", "type", "bridge")
        ip("addr", "add", "10.99.0.254/24", "dev", "br0")
        ip("link", "set", "br0", "up")
        for i in range(n):
            name = f"n{i + 1}"
            ip("netns", "add", name)
            ip("link", "add", f"v{i + 1}", "type", "veth", "peer", "name", "eth0", "address", self.mac(i), "netns", name)
            ip("link", "set", f"v{i + 1}", "master", "br0", "up")
            ip("-n", name, "addr", "add", self.host(i) + "/24", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
            ip("-n", name, "link", "set", "lo", "up")

    @staticmethod
    def mac(i):
        return f"02:00:00:00:00:{i + 1:02x}"

    @staticmethod
    def host(i):
        return f"10.99.0.{i + 1}"

    @property
    def hosts(self):
        return [self.host(i) for i in range(self.n)]

    @staticmethod
    def prefix(i):
        """Of a command that is to run at node i."""
        return ["nsenter", f"--net=/run/netns/n{i + 1}"]

    def aim(self, source, target, mac):
        ip("-n", f"n{source + 1}", "neigh", "replace", self.host(target), "lladdr", mac, "dev", "eth0", "nud", "permanent")

    def cut(self, pairs):
        """Nothing gets from the first to the second of each pair."""
        for a, b in pairs:
            self.aim(a, b, NOWHERE)

    def part(self, one, other):
        self.cut([(a, b) for a in one for b in other] + [(b, a) for a in one for b in other])

    def heal(self):
        for a in range(self.n):
            for b in range(self.n):
                if a != b:
                    self.aim(a, b, self.mac(b))
