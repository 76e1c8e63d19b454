"""Starts and stops serai-node for tests: its own data folder, a port that the system chose, no waiting by the clock."""
import atexit
import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.environ.get("ROOT", os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("BUILD", os.path.join(ROOT, "build"))
SHARED = os.path.join(os.path.dirname(ROOT), "shared")
HANG_SECONDS = 300  # what guards against hanging is far above what a slow machine needs



def promised(seconds):
    """How long what is promised within so many seconds may take. The long form, with a machine of its own, takes promises at their word."""
    return seconds if os.environ.get("LONG") == "1" else 30 * seconds


def wait_for(what, ok, seconds=HANG_SECONDS):
    """Returns what `ok()` says once that is true."""
    end = time.monotonic() + seconds
    while not (value := ok()):
        if time.monotonic() > end:
            raise AssertionError(f"waited in vain for: {what}")
        time.sleep(0.02)
    return value


def skip(why):
    """Says why the test cannot run here, and ends it as skipped."""
    print(why)
    sys.exit(77)


def free_port(n=1):
    """The first of n ports in a row that nobody has; below those that the system gives to clients, so that they stay free."""
    import random
    import socket
    for _ in range(1000):
        first = random.SystemRandom().randrange(15000, 32000)
        try:
            for port in range(first, first + n):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port))
            return first
        except OSError:
            pass
    raise RuntimeError("no port is free")



# A test that is told to end cleans up behind itself, as one that fails does.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


class Node:
    """One serai-node. `settings` go to it as -E; the data folder is kept across restart()."""

    def __init__(self, conf=None, data=None, host="127.0.0.1", port=None, **settings):
        self.own_data = data is None
        self.data = data or tempfile.mkdtemp(prefix="serai-test-")
        self.host, self.port = host, port or free_port()
        self.log_path = os.path.join(self.data, "node.log")
        self.settings = {"http.port": self.port, "path.data": os.path.join(self.data, "data"), **settings}
        if conf:
            self.settings["path.conf"] = conf
        self.process = None
        atexit.register(self.clean_up)
        self.prefix = []  # of the command: a shell that sets limits

    @property
    def url(self):
        return f"http://{self.host}:{self.port}"

    def launch(self):
        """Starts it and waits for nothing."""
        program = os.path.join(BUILD, "bin", "serai-node")
        if not os.path.exists(program):
            skip("serai-node is not part of this build")
        args = [*self.prefix, program]
        for name, value in self.settings.items():
            args += ["-E", f"{name}={value}"]
        self.log = open(self.log_path, "ab")
        env = {"MALLOC_CONF": "junk:free", **os.environ}  # memory that is read after its end has no sense
        self.process = subprocess.Popen(args, stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL, env=env)
        return self

    def start(self):
        self.launch()
        deadline = time.monotonic() + HANG_SECONDS
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise RuntimeError(f"serai-node ended with {self.process.returncode}:\n{self.tail()}")
            try:
                if self.listens():
                    self.call("GET", "/")
                    return self
            except OSError:
                pass
            time.sleep(0.01)
        raise RuntimeError("serai-node did not answer:\n" + self.tail())

    def listens(self):
        """Is it this process that listens on the port, and not a node of another test that took it in between?"""
        own = set()
        for fd in os.listdir(f"/proc/{self.process.pid}/fd"):
            try:
                own.add(os.readlink(f"/proc/{self.process.pid}/fd/{fd}"))
            except OSError:
                pass
        for table in ("tcp", "tcp6"):
            with open(f"/proc/{self.process.pid}/net/{table}") as f:
                for row in list(f)[1:]:
                    v = row.split()
                    if v[3] == "0A" and int(v[1].rsplit(":", 1)[1], 16) == self.port and f"socket:[{v[9]}]" in own:
                        return True
        return False

    def tail(self, lines=30):
        with open(self.log_path, "rb") as f:
            return "\n".join(f.read().decode("utf-8", "replace").splitlines()[-lines:])

    def call(self, method, path, body=None, timeout=HANG_SECONDS):
        """Returns (status, parsed body)."""
        conn = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            data, kind = None, "application/json"
            if isinstance(body, list):
                data, kind = "".join(json.dumps(l, ensure_ascii=False) + "\n" for l in body).encode(), "application/x-ndjson"
            elif body is not None:
                data = body.encode() if isinstance(body, str) else json.dumps(body, ensure_ascii=False).encode()
            conn.request(method, path, data, {"Content-Type": kind} if data is not None else {})
            r = conn.getresponse()
            text = r.read().decode("utf-8", "replace")
            try:
                return r.status, json.loads(text)
            except ValueError:
                return r.status, text
        finally:
            conn.close()

    def memory(self):
        """Resident and anonymous memory in bytes."""
        text = open(f"/proc/{self.process.pid}/status").read()
        pick = lambda key: int(re.search(rf"^{key}:\s+(\d+)", text, re.M).group(1)) * 1024
        return pick("VmRSS"), pick("RssAnon")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.log.close()

    def stop(self):
        """Ends it gently; its exit status must be 0."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            status = self.process.wait(timeout=HANG_SECONDS)
            self.log.close()
            if status != 0:
                raise RuntimeError(f"serai-node ended with {self.process.returncode}:\n{self.tail()}")

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, value, trace):
        try:
            self.stop()
        finally:
            self.clean_up()

    def clean_up(self):
        """Leaves neither a process nor files behind, however the test ends."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.own_data:
            shutil.rmtree(self.data, ignore_errors=True)
