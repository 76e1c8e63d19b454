#!/usr/bin/env python3
"""The containers: `docker-compose up` from this tree gives a green cluster, and the service goes on answering when any one of them is
killed. A Docker of its own, with a base image made by debootstrap. Long: only with LONG=1, as root, where Docker can run.

MIRROR says where Debian's packages are."""
import glob
import http.client
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import node  # noqa: E402
from checks import Checks  # noqa: E402

BASE = "debian:bookworm-slim"
MIRROR = os.environ.get("MIRROR", "http://deb.debian.org/debian")
NODES = {name: node.free_port() for name in ("search", "n1", "n2", "n3")}
DOCS = 50
check = Checks()


def need():
    if os.environ.get("LONG") != "1":
        node.skip("containers are tried in the long form alone (LONG=1)")
    if os.geteuid() != 0:
        node.skip("Docker cannot be started by others than root")
    missing = [p for p in ("docker", "dockerd", "debootstrap") if not shutil.which(p)]
    if missing or not compose_command():
        node.skip(f"not installed: {' '.join(missing or ['docker-compose'])} (apt-get install docker.io docker-compose debootstrap)")


def compose_command():
    if shutil.which("docker-compose"):
        return ["docker-compose"]
    works = subprocess.run(["docker", "compose", "version"], capture_output=True).returncode == 0
    return ["docker", "compose"] if works else None


class Docker:
    """A daemon of its own; everything that it makes is in `folder`, and goes with it."""

    def __init__(self, folder):
        self.folder = folder
        self.env = dict(os.environ, DOCKER_HOST=f"unix://{folder}/sock", COMPOSE_PROJECT_NAME="serai", DOCKER_BUILDKIT="0", COMPOSE_DOCKER_CLI_BUILD="0",
                        **{f"{name.upper()}_PORT": str(port) for name, port in NODES.items()})

    def __enter__(self):
        path = os.path.join(self.folder, "log")
        with open(path, "wb") as log:
            f = self.folder
            self.daemon = subprocess.Popen(["dockerd", "--data-root", f"{f}/data", "--exec-root", f"{f}/exec", "-p", f"{f}/pid", "-H", f"unix://{f}/sock"], stdout=log, stderr=log)
        end = time.monotonic() + 120
        while subprocess.run(["docker", "info"], env=self.env, capture_output=True).returncode != 0:
            if self.daemon.poll() is not None or time.monotonic() > end:
                self.close()
                with open(path, encoding="utf-8", errors="replace") as log:
                    node.skip("dockerd does not run here: " + "".join(log.readlines()[-1:]).strip())
            time.sleep(0.2)
        return self

    def run(self, *args, stdin=None, ok=True):
        p = subprocess.run(args, cwd=node.ROOT, env=self.env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ok and p.returncode != 0:
            raise RuntimeError(f"{' '.join(args)} ended with {p.returncode}:\n{p.stdout[-3000:]}")
        return p.stdout

    def compose(self, *args, ok=True):
        return self.run(*compose_command(), *args, ok=ok)

    def kill(self, service):
        self.run("docker", "kill", self.compose("ps", "-q", service).strip())

    def make_base(self):
        """Debian's smallest, under the name that the Dockerfile begins with."""
        root = os.path.join(self.folder, "base")
        p = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, MIRROR], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if p.returncode != 0:
            self.close()
            node.skip("debootstrap gets no packages here: " + p.stdout.strip().splitlines()[-1])
        sources = "etc/apt/sources.list.d/debian.sources"  # this machine's, where it has them in this file
        if os.path.exists("/" + sources):
            shutil.copy("/" + sources, os.path.join(root, sources))
            os.remove(os.path.join(root, "etc/apt/sources.list"))
        for path in glob.glob("/etc/apt/apt.conf.d/*prox*"):
            shutil.copy(path, os.path.join(root, path.lstrip("/")))
        for path in glob.glob(os.path.join(root, "var/cache/apt/archives/*.deb")):
            os.remove(path)
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
            self.run("docker", "import", "-", BASE, stdin=tar.stdout)
        shutil.rmtree(root)

    def close(self):
        if self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait()

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print(self.compose("logs", "--no-color", "--tail", "20", ok=False)[-6000:])
        self.compose("down", "-v", ok=False)
        self.close()


def call(service, method, path, body=None):
    """(status, answer) of a node; (None, why) when it does not answer."""
    conn = http.client.HTTPConnection("127.0.0.1", NODES[service], timeout=60)
    try:
        conn.request(method, path, json.dumps(body) if body is not None else None, {"Content-Type": "application/json"})
        r = conn.getresponse()
        text = r.read().decode()
        return r.status, json.loads(text) if text[:1] in "{[" else text
    except (OSError, http.client.HTTPException) as e:
        return None, str(e)
    finally:
        conn.close()


def green(service):
    status, answer = call(service, "GET", "/_cluster/health?wait_for_status=green&wait_for_nodes=4&timeout=10s")
    return status == 200 and answer["number_of_nodes"] == 4


def wait_green(service):
    node.wait_for(f"a green cluster of four at {service}", lambda: green(service))


def try_without(docker, service, written):
    """The others answer all the same, and take what is written."""
    docker.kill(service)
    killed = time.monotonic()
    others = [s for s in NODES if s != service]
    for other in others:
        number = written + others.index(other)
        node.wait_for(f"{other} writes without {service}", lambda: call(other, "PUT", f"/t/_doc/{number}?refresh=true", {"n": number})[0] in (200, 201))
        status, answer = call(other, "POST", "/t/_search", {"size": 0, "track_total_hits": True})
        check(status == 200 and answer["hits"]["total"]["value"] == number + 1 and answer["_shards"]["failed"] == 0, f"{other} finds everything without {service}", answer)
    print(f"without {service}: all others answered within {time.monotonic() - killed:.2f} s", flush=True)
    docker.compose("start", service)
    wait_green(others[0])
    wait_green(service)
    return written + len(others)


def main():
    need()
    with tempfile.TemporaryDirectory(prefix="serai-docker-") as folder, Docker(folder) as docker:
        docker.make_base()
        docker.compose("build", "search")
        size = int(docker.run("docker", "image", "inspect", "-f", "{{.Size}}", "serai")) >> 20
        base = int(docker.run("docker", "image", "inspect", "-f", "{{.Size}}", BASE)) >> 20
        print(f"the image has {size} MB, {base} of them its base", flush=True)
        check(size - base < 150, "the image is small", size - base)
        check.equal(docker.run("docker", "run", "--rm", "serai", "id", "-u").strip(), "1000", "not root")
        docker.compose("up", "-d", "search")
        wait_green("search")
        check.equal(call("search", "PUT", "/t", {"settings": {"number_of_shards": 3, "number_of_replicas": 1}})[0], 200, "an index")
        for i in range(DOCS):
            call("search", "PUT", f"/t/_doc/{i}", {"n": i})
        call("search", "POST", "/t/_refresh")
        wait_green("search")
        roles = {n: r for n, r in (line.split() for line in call("search", "GET", "/_cat/nodes?h=name,node.role")[1].splitlines())}
        check(roles["search"] == "-" and "m" in roles["n1"], "who holds data and who only coordinates", roles)
        written = DOCS
        for service in NODES:
            written = try_without(docker, service, written)
        node.wait_for("containers that call themselves healthy", lambda: docker.run("docker", "ps", "--format", "{{.Status}}").count("(healthy)") == 4)
    check.end()


if __name__ == "__main__":
    main()
