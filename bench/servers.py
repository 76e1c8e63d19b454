"""Processes of a search server on this machine that form a cluster, and a client of theirs: what the measurements share."""
import http.client
import json
import os
import shlex
import shutil
import subprocess
import sys
import time

CLIENT_TIMEOUT = 1.0  # seconds after which a client asks the next node
HELP_AFTER = 15  # seconds without green before _cluster/reroute is asked to retry what failed, and between two such requests
OURS = (" -E node.name={name} -E http.port={http} -E transport.port={transport} -E path.data={data}"
        " -E cluster.initial_master_nodes={masters} -E discovery.seed_hosts={seeds} ")


class Client:
    """Connections of one thread to the nodes, kept open."""

    def __init__(self, ports):
        self.ports = ports
        self.open = {}

    def ask(self, port, method, path, body=None, timeout=CLIENT_TIMEOUT):
        """Status and parsed body; OSError or HTTPException when the node does not answer."""
        conn = self.open.pop(port, None) or http.client.HTTPConnection("127.0.0.1", port)
        conn.timeout = timeout
        if conn.sock:
            conn.sock.settimeout(timeout)
        try:
            data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
            conn.request(method, path, data, {"Content-Type": "application/json"})
            answer = conn.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            conn.close()
            raise
        self.open[port] = conn
        return answer.status, json.loads(text) if text else None

    def any(self, first, method, path, body=None, timeout=CLIENT_TIMEOUT):
        """The answer of the first node, from `first` on, that gives one; (None, None) if none does."""
        for i in range(len(self.ports)):
            try:
                return self.ask(self.ports[(first + i) % len(self.ports)], method, path, body, timeout)
            except (OSError, http.client.HTTPException, ValueError):
                pass
        return None, None


class Servers:
    """`count` processes of one server; `command` starts one of them, with {http} {transport} {name} {data} {seeds} {masters} to be
    filled in. HTTP ports from `base` on, transport ports from 100 above. `patience`: seconds that anything may take."""

    def __init__(self, label, command, base, folder, patience, count=3):
        self.label, self.command, self.folder, self.patience, self.count = label, command, folder, patience, count
        self.http = [base + i for i in range(count)]
        self.transport = [base + 100 + i for i in range(count)]
        self.processes = [None] * count
        self.helped = 0
        self.client = Client(self.http)

    def name(self, i):
        return "%s%d" % (self.label[0], i + 1)

    def start(self, i):
        data = os.path.join(self.folder, self.name(i))
        os.makedirs(data, exist_ok=True)
        line = self.command.format(
            http=self.http[i], transport=self.transport[i], name=self.name(i), data=data,
            seeds=",".join("127.0.0.1:%d" % self.transport[j] for j in range(self.count) if j != i) or "127.0.0.1:%d" % self.transport[i],
            masters=",".join(self.name(j) for j in range(self.count)))
        with open(data + ".log", "ab") as log:
            self.processes[i] = subprocess.Popen(shlex.split(line), stdout=log, stderr=log, stdin=subprocess.DEVNULL)

    def kill(self, i):
        self.processes[i].kill()
        self.processes[i].wait()

    def stop(self):
        for process in self.processes:
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def master_name(self, port):
        status, state = self.client.ask(port, "GET", "/_cluster/state/master_node,nodes?local=true")
        if status != 200 or not state.get("master_node") or len(state["nodes"]) != self.count:
            return None
        return state["nodes"][state["master_node"]]["name"]

    def master(self):
        return next(i for i in range(self.count) if self.name(i) == self.master_name(self.http[0]))

    def form(self):
        """Seconds from the start of the first process, without data, until all know the same master."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)
        begin = time.monotonic()
        for i in range(self.count):
            self.start(i)
        while time.monotonic() - begin < self.patience:
            try:
                names = {self.master_name(port) for port in self.http}
                if len(names) == 1 and None not in names:
                    return time.monotonic() - begin
            except (OSError, http.client.HTTPException, ValueError):
                pass
            if any(process.poll() is not None for process in self.processes):
                sys.exit("%s: a node ended; see %s" % (self.label, self.folder))
            time.sleep(0.005)
        raise RuntimeError("%s: no cluster after %d s" % (self.label, self.patience))

    def green(self, port, nodes, since):
        """Seconds from `since` until the node at `port` says green with so many nodes and nothing on the move. Copies that have failed
        too often to be tried again by themselves are helped, as an operator would, and counted."""
        help_at = time.monotonic() + HELP_AFTER
        while time.monotonic() - since < self.patience:
            try:
                status, health = self.client.ask(port, "GET", "/_cluster/health")
                if (status == 200 and health["status"] == "green" and health["number_of_nodes"] == nodes
                        and not health["relocating_shards"] and not health["initializing_shards"]):
                    return time.monotonic() - since
                if time.monotonic() > help_at:
                    help_at = time.monotonic() + HELP_AFTER
                    self.helped += 1
                    self.client.ask(port, "POST", "/_cluster/reroute?retry_failed=true")
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.01)
        raise RuntimeError("%s: not green after %d s" % (self.label, self.patience))

    def status_mb(self, key):
        """A line of /proc/PID/status (VmRSS, RssAnon), in MB, of each node."""
        values = []
        for process in self.processes:
            with open("/proc/%d/status" % process.pid, encoding="ascii") as status:
                values += [int(line.split()[1]) / 1024 for line in status if line.startswith(key + ":")]
        return values

    def cpu_seconds(self):
        """CPU time of all nodes so far."""
        ticks = 0
        for process in self.processes:
            with open("/proc/%d/stat" % process.pid, encoding="ascii") as stat:
                fields = stat.read().rsplit(") ", 1)[1].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")


def spread(values, part):
    """The value that `part` of them do not exceed (nearest rank)."""
    values = sorted(values)
    return values[max(0, -(-int(part * 1000) * len(values) // 1000) - 1)]
