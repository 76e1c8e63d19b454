#!/usr/bin/env python3
"""Replays the recorded answers of Elasticsearch 7.12.1 that lie beside the project, where they do, against a fresh node.

AREAS (hotel) names the areas whose every step must pass; the others are run too and reported."""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from node import SHARED, Node, skip  # noqa: E402

runner = os.path.join(SHARED, "conformance", "run.py")
if not os.path.exists(runner):
    skip("no recordings beside the project")
areas = os.environ.get("AREAS", "hotel").split()
with Node(conf=os.path.join(SHARED, "conformance", "config")) as node:
    p = subprocess.run([sys.executable, runner, node.url] + areas, stdout=subprocess.PIPE, text=True)
    print(p.stdout)
    if not re.search(r"^\d+ passed, \d+ failed$", p.stdout, re.M):
        sys.exit("the replay did not finish")
sys.exit(p.returncode)
