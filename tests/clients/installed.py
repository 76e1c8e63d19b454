"""Clients from registries, each version in a virtual environment of its own, and what their tests count."""
import os
import re
import subprocess
import sys

from node import BUILD, skip

ROOT = os.path.dirname(BUILD) if os.path.basename(BUILD) != "build" else BUILD


class Checks:
    """check(name, ok, detail): counts and says it."""

    def __init__(self):
        self.passed = self.failed = 0

    def __call__(self, name, ok, detail=""):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        print(f"{'ok' if ok else 'FAILED'} {name} {'' if ok else detail}")

    def end(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed else 0)


def environment(package, version):
    """The Python of an environment that has the package in that version; without a registry the test is skipped."""
    venv = os.path.join(ROOT, "venv", f"{package}-{version}")
    python, done = os.path.join(venv, "bin", "python3"), os.path.join(venv, "done")
    if not os.path.exists(done):
        subprocess.run(["python3", "-m", "venv", "--clear", venv], check=True)
        p = subprocess.run([python, "-m", "pip", "install", "-q", f"{package}=={version}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if p.returncode != 0:
            skip("the client cannot be installed here: " + p.stdout.decode()[-200:])
        open(done, "w").close()
    return python


def each_version(test, package, versions):
    """Runs the test under each version and ends; returns in the runs themselves."""
    if os.environ.get("CLIENT_VERSION"):
        return
    passed = failed = 0
    for version in versions:
        p = subprocess.run([environment(package, version), os.path.abspath(test)], env={**os.environ, "CLIENT_VERSION": version}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        out = p.stdout.decode()
        print(f"---- {package} {version}\n{out}")
        m = re.search(r"^(\d+) passed, (\d+) failed$", out, re.M)
        passed += int(m.group(1)) if m else 0
        failed += max(int(m.group(2)) if m else 0, 1 if p.returncode != 0 else 0)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)
