"""A Docker for tests: the containers of the compose files, on a base image made by debootstrap. Long: only with LONG=1, as root, where Docker can run.

DOCKER_HOST names a Docker that runs, with its images; else one is started, and all that it makes goes away with it. MIRROR says where Debian's packages are, else debootstrap knows."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import node  # noqa: E402

BASE = "debian:bookworm-slim"
MIRROR = os.environ.get("MIRROR", "").split()


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


def debian(root):
    """A fresh Debian in this folder, which gets packages from where this machine gets them."""
    p = subprocess.run(["debootstrap", "--variant=minbase", "bookworm", root, *MIRROR], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode != 0:
        node.skip("debootstrap gets no packages here: " + p.stdout.strip().splitlines()[-1])
    sources = "etc/apt/sources.list.d/debian.sources"  # this machine's, where it has them in this file
    if os.path.exists("/" + sources):
        shutil.copy("/" + sources, os.path.join(root, sources))
        os.remove(os.path.join(root, "etc/apt/sources.list"))
    for path in glob.glob("/etc/apt/apt.conf.d/*prox*"):
        shutil.copy(path, os.path.join(root, path.lstrip("/")))
    for path in glob.glob(os.path.join(root, "var/cache/apt/archives/*.deb")):
        os.remove(path)


class Docker:
    """The containers of one project, of these compose files; `variables` go to them. They and their data end with it."""

    def __init__(self, *files, **variables):
        self.files = [a for f in files for a in ("-f", f)]
        self.folder = tempfile.mkdtemp(prefix="serai-docker-")
        self.env = dict(os.environ, COMPOSE_PROJECT_NAME=f"serai-test-{os.getpid()}", DOCKER_BUILDKIT="0", COMPOSE_DOCKER_CLI_BUILD="0", **{k: str(v) for k, v in variables.items()})
        self.daemon = None

    def __enter__(self):
        if "DOCKER_HOST" not in self.env:
            self.start_daemon()
        if subprocess.run(["docker", "image", "inspect", BASE], env=self.env, capture_output=True).returncode != 0:
            self.make_base()
        return self

    def start_daemon(self):
        f = self.folder
        self.env["DOCKER_HOST"] = f"unix://{f}/sock"
        with open(f"{f}/log", "wb") as log:
            self.daemon = subprocess.Popen(["dockerd", "--data-root", f"{f}/data", "--exec-root", f"{f}/exec", "-p", f"{f}/pid", "-H", f"unix://{f}/sock"], stdout=log, stderr=log)
        end = time.monotonic() + 120
        while subprocess.run(["docker", "info"], env=self.env, capture_output=True).returncode != 0:
            if self.daemon.poll() is not None or time.monotonic() > end:
                with open(f"{f}/log", encoding="utf-8", errors="replace") as log:
                    last = "".join(log.readlines()[-1:]).strip()
                self.close()
                node.skip("dockerd does not run here: " + last)
            time.sleep(0.2)

    def run(self, *args, stdin=None, ok=True):
        p = subprocess.run(args, cwd=node.ROOT, env=self.env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if ok and p.returncode != 0:
            raise RuntimeError(f"{' '.join(args)} ended with {p.returncode}:\n{p.stdout[-3000:]}")
        return p.stdout

    def compose(self, *args, ok=True):
        return self.run(*compose_command(), *self.files, *args, ok=ok)

    def execute(self, service, *args):
        """Runs a program in a container; returns (exit status, output)."""
        p = subprocess.run(["docker", "exec", self.container(service), *args], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return p.returncode, p.stdout

    def container(self, service):
        project = f"label=com.docker.compose.project={self.env['COMPOSE_PROJECT_NAME']}"
        return self.run("docker", "ps", "-a", "-q", "--filter", project, "--filter", f"label=com.docker.compose.service={service}").strip()

    def inspect(self, service, what):
        """What Docker says of a service's container: "{{.State.Status}}"."""
        return self.run("docker", "inspect", "-f", what, self.container(service)).strip()

    def megabytes(self, image):
        return int(self.run("docker", "image", "inspect", "-f", "{{.Size}}", image)) >> 20

    def kill(self, service):
        """As a user does it: Docker takes it for his will, and does not start it again."""
        self.run("docker", "kill", self.container(service))

    def crash(self, service):
        """Its first process dies of itself, as far as Docker can see."""
        os.kill(int(self.inspect(service, "{{.State.Pid}}")), 9)

    def make_base(self):
        """Debian's smallest, under the name that the Dockerfiles begin with."""
        root = os.path.join(self.folder, "base")
        try:
            debian(root)
        except SystemExit:
            self.close()
            raise
        with subprocess.Popen(["tar", "-C", root, "-c", "."], stdout=subprocess.PIPE) as tar:
            self.run("docker", "import", "-", BASE, stdin=tar.stdout)
        shutil.rmtree(root)

    def close(self):
        if self.daemon and self.daemon.poll() is None:
            self.daemon.terminate()
            self.daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __exit__(self, kind, value, trace):
        if kind is not None:
            print(self.compose("logs", "--no-color", "--tail", "20", ok=False)[-6000:])
        self.compose("down", "-v", ok=False)
        self.close()
