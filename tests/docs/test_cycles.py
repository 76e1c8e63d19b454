#!/usr/bin/env python3
"""Finds cycles of symbols between the files of different folders below the top: a file that is used by what it uses, over whichever
way. The linker sees what includes do not: a declaration may be anywhere."""
import collections
import os
import subprocess
import sys

from pages import Checks
from test_symbols import ROOT, product

ROWS = "a list of rows names its files, and these look for other rows in it"
ONE = "one thing in several files, by its steps: they share the header that ends in _int.h, or the one of its name"
GRAMMAR = "what they read or print has itself inside"
# Cycles between files of one folder, with what makes them.
INSIDE = {
    "common/base": "memory counts itself, and errors in numbers are printed as numbers; dates are read and printed by one another",
    "common/settings": "a default that is computed reads other settings, whose defaults are in the rows",
    "common/cluster": GRAMMAR,
    "common/sys": ONE,
    "proto": f"{ROWS}; connections: {ONE}",
    "engine/script": f"{ROWS}; {GRAMMAR}",
    "engine/mapping": ROWS,
    "engine/ingest": f"{ROWS}; processors have processors inside",
    "engine/index": ONE,
    "engine/query": f"{ROWS}; {GRAMMAR}",
    "engine/collect": ONE,
    "engine/highlight": ONE,
    "engine/fetch": "hits have hits inside",
    "engine/suggest": GRAMMAR,
    "engine/aggs": f"{ROWS}; aggregations have aggregations inside",
    "master": f"{ONE}; templates are made of templates",
    "data/shard": ONE,
    "data/replication": ONE,
    "data/recovery": ONE,
    "data/search": ONE,
    "data/service": ONE,
    "coordinator/ops": ONE,
    "coordinator/rest": ONE,
    "hotel/cli": ONE,
    "node": ONE,
}


def edges():
    """file -> the files whose symbols it uses"""
    sources, defined, wanted = dict(product()), {}, collections.defaultdict(set)
    text = subprocess.run(["nm", "-A", "-g", *sources], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    for line in text.splitlines():
        path, rest = line.split(":", 1)
        kind, name = rest.split()[-2:]
        if kind == "U":
            wanted[sources[path]].add(name)
        elif kind in "TDBR":
            defined[name] = sources[path]
    return {f: {defined[n] for n in names if n in defined and defined[n] != f} for f, names in wanted.items()}


def knots(graph):
    """Tarjan's strongly connected components, of two files and more."""
    index, low, stack, on, out = {}, {}, [], set(), []

    def visit(v):
        work = [(v, iter(sorted(graph.get(v, ()))))]
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        while work:
            v, following = work[-1]
            for to in following:
                if to not in index:
                    index[to] = low[to] = len(index)
                    stack.append(to)
                    on.add(to)
                    work.append((to, iter(sorted(graph.get(to, ())))))
                    break
                if to in on:
                    low[v] = min(low[v], index[to])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[v])
                if low[v] == index[v]:
                    at = stack.index(v)
                    if len(stack) - at > 1:
                        out.append(sorted(stack[at:]))
                    on.difference_update(stack[at:])
                    del stack[at:]

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return out


def main():
    checks = Checks()
    checks(knots({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]], "a cycle of three is found")
    checks(knots({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == [], "what is no cycle is none")
    graph = edges()
    checks(len(graph) > 100, "the product is built")
    for knot in knots(graph):
        folders = {os.path.dirname(f) for f in knot}
        ok = len(folders) == 1
        ways = [f"{f} -> {to}" for f in knot for to in sorted(graph[f]) if to in knot and os.path.dirname(to) != os.path.dirname(f)]
        checks(ok, f"a cycle between {', '.join(sorted(folders))}", "; ".join(ways[:40]))
    there = {os.path.dirname(f) for knot in knots(graph) for f in knot}
    for folder in sorted(there | INSIDE.keys()):
        checks(folder in there and folder in INSIDE, f"the cycles inside of {folder} have their reason, and are there still")
    if "-v" in sys.argv:
        for knot in knots(graph):
            print(len(knot), " ".join(knot))
    checks.end()


if __name__ == "__main__":
    main()
