#!/usr/bin/env python3
"""Replays the recorded answers of Elasticsearch 7.12.1 that lie beside the project, where they do, against a fresh node.

ratchet.txt says how many steps of each area may fail, none where it says 'whole'. More than that fails the test; fewer asks
for a lower number there. AREAS limits the run to some areas."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from node import SHARED, Node, skip  # noqa: E402


def ratchet():
    """Area -> how many of its steps may fail."""
    with open(os.path.join(HERE, "ratchet.txt"), encoding="utf-8") as f:
        lines = [line.split() for line in f if line.strip() and not line.startswith("#")]
    return {area: 0 if allowed == "whole" else int(allowed) for area, allowed in lines}


def replay(runner, areas):
    """What the runner printed."""
    with Node(conf=os.path.join(SHARED, "conformance", "config")) as node:
        p = subprocess.run([sys.executable, runner, node.url] + areas, stdout=subprocess.PIPE, text=True)
    if not re.search(r"^\d+ passed, \d+ failed$", p.stdout, re.M):
        sys.exit(p.stdout + "the replay did not finish")
    return p.stdout


def main():
    runner = os.path.join(SHARED, "conformance", "run.py")
    if not os.path.exists(runner):
        skip("no recordings beside the project")
    output = replay(runner, os.environ.get("AREAS", "").split())
    print(output)
    allowed = ratchet()
    passed = failed = known = 0
    for area, ok, all_ in re.findall(r"^(\S+) +(\d+) of (\d+)$", output, re.M):
        bad, may = int(all_) - int(ok), allowed.get(area, 0)
        passed, known, failed = passed + int(ok), known + min(bad, may), failed + max(bad - may, 0)
        if bad > may:
            print(f"{area}: {bad} steps fail, {may} may")
        elif bad < may:
            print(f"{area}: {bad} steps fail, ratchet.txt allows {may}: lower it")
    if known:
        print(f"known to fail: {known} steps")
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
