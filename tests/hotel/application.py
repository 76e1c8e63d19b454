"""Starts serai-hotel for tests, over a node of its own or over the search service at SEARCH_URL."""
import csv
import http.client
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import node  # noqa: E402
from checks import Checks  # noqa: E402, F401

HOTEL = os.path.join(node.BUILD, "bin", "serai-hotel")
# GENERATED=1 leaves the real hotels aside.
REAL_CSV = "" if os.environ.get("GENERATED") else os.path.join(node.SHARED, "data", "tb_hotel.csv")


def need(*programs):
    for p in programs:
        if not os.access(os.path.join(node.BUILD, "bin", p), os.X_OK):
            node.skip(f"{p} is not built")


class Search:
    """The search service: a node, or what SEARCH_URL names; `index` is this test's own."""

    def __init__(self):
        self.index = f"hoteltest-{os.getpid()}"
        self.url = os.environ.get("SEARCH_URL")
        self.node = None

    def __enter__(self):
        if not self.url:
            need("serai-node")
            self.node = node.Node().start()
            self.url = self.node.url
        return self

    def call(self, method, path, body=None):
        host = self.url.split("//")[1]
        return call(host, method, path, body)

    def __exit__(self, *args):
        self.call("DELETE", f"/{self.index}")
        if self.node:
            self.node.__exit__(*args)


def call(host, method, path, body=None, headers=None):
    """Returns (status, parsed body or text, headers)."""
    conn = http.client.HTTPConnection(host, timeout=node.HANG_SECONDS)
    try:
        data = body if body is None or isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        conn.request(method, path, data, {"Content-Type": "application/json", **(headers or {})})
        r = conn.getresponse()
        text = r.read()
        try:
            return r.status, json.loads(text), r.headers
        except ValueError:
            return r.status, text.decode("utf-8", "replace"), r.headers
    finally:
        conn.close()


def command(search_url, index, *args, check=True, text=None):
    """Runs one command of serai-hotel; returns (exit status, stdout, stderr)."""
    p = subprocess.run([HOTEL, "--search-url", search_url, "--index", index, *args], input=text, capture_output=True, text=True, timeout=2 * node.HANG_SECONDS)
    if check and p.returncode != 0:
        raise RuntimeError(f"serai-hotel {args} ended with {p.returncode}: {p.stderr}")
    return p.returncode, p.stdout, p.stderr


class App:
    """One serving serai-hotel."""

    def __init__(self, search_url, index, *args):
        self.port = node.free_port()
        self.host = f"127.0.0.1:{self.port}"
        self.url = f"http://{self.host}"
        self.log = tempfile.TemporaryFile("w+")
        self.args = [HOTEL, "--search-url", search_url, "--index", index, "--port", str(self.port), *args]

    def __enter__(self):
        self.process = subprocess.Popen(self.args, stderr=self.log, stdin=subprocess.DEVNULL)
        deadline = time.monotonic() + node.HANG_SECONDS
        while time.monotonic() < deadline:
            try:
                call(self.host, "GET", "/icon.svg")
                return self
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.01)
        self.log.seek(0)
        raise RuntimeError("serai-hotel did not start: " + self.log.read())

    def post(self, path, body):
        status, answer, _ = call(self.host, "POST", path, body)
        return status, answer

    def get(self, path, headers=None):
        return call(self.host, "GET", path, headers=headers)

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            if self.process.wait(timeout=node.HANG_SECONDS) != 0:
                self.log.seek(0)
                raise RuntimeError("serai-hotel ended badly: " + self.log.read()[-2000:])


def hotels_csv(folder, generated=2000):
    """The path of a CSV file of hotels: the real ones where they are, else generated ones; and its rows."""
    path = REAL_CSV
    if not os.path.exists(path):
        path = os.path.join(folder, "hotels.csv")
        with open(path, "w", encoding="utf-8") as f:
            subprocess.run([HOTEL, "generate", str(generated)], stdout=f, check=True)
    with open(path, encoding="utf-8-sig", newline="") as f:
        return path, list(csv.DictReader(f))
