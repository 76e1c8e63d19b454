#!/usr/bin/env python3
"""Breaks an include of every wall that tools/layers knows, and sees it fail: a file of each folder is copied, and given a header of
each folder that it may not include."""
import glob
import importlib.machinery
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile

from pages import ROOT, Checks

LAYERS = os.path.join(ROOT, "tools", "layers")
# Walls that are there by name: what is left of "|" may not include what is right of it.
WALLS = ["coordinator/core|coordinator/ops", "coordinator/core|coordinator/rest", "coordinator/ops|coordinator/rest",
         "data|coordinator/core", "data/shard|data/search", "data/recovery|data/search", "engine/query|engine/search", "engine/search|data", "proto|data", "master|data", "common/base|common/sys"]


def rules():
    loader = importlib.machinery.SourceFileLoader("layers", LAYERS)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("layers", loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


def files_of(module, layer, suffix):
    found = sorted(glob.glob(os.path.join(ROOT, layer, "**", "*" + suffix), recursive=True))
    return [f for f in (os.path.relpath(f, ROOT) for f in found) if module.layer_of(f) == layer]


def fails(path, include):
    """What tools/layers says of a tree of this one file."""
    with tempfile.TemporaryDirectory(prefix="layers-") as tree:
        to = os.path.join(tree, path)
        os.makedirs(os.path.dirname(to))
        shutil.copy(os.path.join(ROOT, path), to)
        if include:
            with open(to, "a", encoding="utf-8") as f:
                f.write(f'#include "{include}"\n')
        run = subprocess.run([LAYERS], cwd=tree, stdout=subprocess.PIPE, text=True)
    return run.returncode != 0, run.stdout


def main():
    checks = Checks()
    module = rules()
    broken = set()
    for layer, allowed in module.ALLOWED.items():
        sources = files_of(module, layer, ".c") or files_of(module, layer, ".h")
        bad, said = fails(sources[0], None)
        checks(not bad, f"{sources[0]} as it is: {said}")
        for other in module.ALLOWED:
            headers = files_of(module, other, ".h")
            if not headers or any(headers[0].startswith(a) for a in allowed):
                continue
            bad, said = fails(sources[0], headers[0])
            checks(bad and f"may not include {headers[0]}" in said, f"{sources[0]} includes {headers[0]}, and nobody minds")
            broken.add(f"{layer}|{other}")
    for wall in WALLS:
        checks(wall in broken, f"there is no wall {wall}")
    checks.end()


if __name__ == "__main__":
    main()
