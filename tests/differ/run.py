#!/usr/bin/env python3
"""Sends random cases to Elasticsearch 7.12.1 and to Serai, and tells where the answers differ, shrunk to a few lines of curl, grouped by cause.

usage: run.py --oracle URL --serai URL [--seed N] [--count N] [--area A]… [--requests N] [--trials N] [--out FILE]

A case is a random world (indices, mappings, documents) and some requests of one area, generated while the data changes; its number is its seed, so that
`--seed N --count 1 --area A` is that case again. A fifth of the requests is wrong on purpose. Exit status: 0 when nothing differs, 1 when something does,
77 when no Elasticsearch answers."""
import argparse
import glob
import importlib
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
from compare import Client  # noqa: E402
from draw import Draw  # noqa: E402
from pair import Pair  # noqa: E402
from shrink import cause, curl, shrunk  # noqa: E402
from world import World  # noqa: E402

READING = ("GET", "HEAD")
WRONG = 0.2


def areas():
    return sorted(os.path.basename(p)[:-3] for p in glob.glob(os.path.join(HERE, "areas", "[a-z]*.py")))


class Case:
    """One case: what was sent so far, and how to send it again."""

    def __init__(self, pair, area, seed, requests, prefix="differ"):
        self.pair, self.module, self.requests = pair, importlib.import_module(f"areas.{area}"), requests
        self.draw = Draw(f"{area} {seed}")
        self.world = World(self.draw, f"{prefix}-{area}-", getattr(self.module, "KINDS", ()))
        for m in self.world.leaves().values() if getattr(self.module, "WITHOUT_IK", False) else ():
            if str(m.get("analyzer")).startswith("ik_"):  # the one that is asked may cut numbers elsewhere
                m["analyzer"] = "standard"
        self.steps = []

    def clean(self):
        for request in getattr(self.module, "CLEAN_FIRST", ()):
            self.pair.both(*request(self.world.prefix))
        for path in [f"/{self.world.prefix}*?expand_wildcards=all"] + ["/" + p.replace("{}", self.world.prefix) for p in getattr(self.module, "CLEANUP", ())]:
            self.pair.both("DELETE", path)

    def begin(self):
        """Nothing of an earlier case, and what this area wants to be there first."""
        self.clean()
        for request in getattr(self.module, "PREPARE", ()):
            self.pair.both(*request(self.world.prefix))

    def generated(self):
        """The requests of this case, in order; what changes data comes between what asks."""
        yield from self.world.create()
        for index in self.world.indices:
            yield "POST", f"/{index}/_bulk?refresh", self.world.bulk(self.draw.randint(1, 12))
        for _ in range(self.draw.randint(0, 4)):
            yield self.world.change()
        for _ in range(self.requests):
            if self.draw.chance(0.15):
                yield self.world.change()
            method, path, body = self.module.request(self.draw, self.world)
            if body is not None and not getattr(self.module, "UNSPOILT", False) and self.draw.chance(WRONG):
                body = self.draw.spoilt(body)
            yield method, path, body

    def run(self):
        """Yields (steps up to it, its differences) for each request whose answers differ, and None for others. It ends where a request that changes something was answered differently, by decision too: what follows may follow from that."""
        self.begin()
        for step in self.generated():
            self.steps.append(step)
            diffs = self.pair.differences(*step)
            yield (list(self.steps), diffs) if diffs else None
            if (diffs or self.pair.apart) and changes(step):
                return

    def replay(self, steps):
        """The differences of the last step, after the others."""
        self.begin()
        for step in steps[:-1]:
            self.pair.both(*step)
        return self.pair.differences(*steps[-1])


def changes(step):
    method, path, _ = step
    return method not in READING and not any(p in path for p in ("_search", "_count", "_explain", "_validate", "_analyze", "_mget", "_field_caps", "termvectors"))


class Report:
    """Groups of differences, each with how often it came and its first case, shrunk."""

    def __init__(self, trials):
        self.groups, self.trials, self.asked, self.cases, self.areas = {}, trials, 0, 0, {}

    def add(self, case, area, seed, steps, diffs):
        fields = list(case.world.leaves())
        key = cause(steps[-1][0], steps[-1][1], diffs, fields)
        group = self.groups.setdefault(key, {"count": 0, "areas": set(), "seed": f"{area} {seed}"})
        group["count"] += 1
        group["areas"].add(area)
        if group["count"] > 1:
            return
        same = lambda d: bool(d) and cause(steps[-1][0], steps[-1][1], d, fields) == key
        quick = (lambda step: False) if changes(steps[-1]) or self.trials < 0 else (lambda step: same(case.pair.differences(*step)))
        small = shrunk([s for s in steps[:-1] if changes(s)] + steps[-1:], lambda s: same(case.replay(s)), quick, self.trials)
        if self.trials > 0:
            diffs = case.replay(small) or diffs
            case.replay(steps)  # the case goes on where it was
        elif not changes(steps[-1]) and not self.trials:
            diffs = case.pair.differences(*small[-1]) or diffs
        group["diffs"] = diffs[:4]
        group["steps"] = small

    def text(self):
        lines = []
        for key, g in sorted(self.groups.items(), key=lambda kv: -kv[1]["count"]):
            lines += [f"## {g['count']} × {key}", f"   ({', '.join(sorted(g['areas']))}; first: {g['seed']})"]
            lines += ["   " + curl(s) for s in g["steps"]] + [f"   -> {p}: {m}" for p, m in g["diffs"]] + [""]
        lines += [f"{a:12} {n - d} of {n} equal, {100 * (n - d) / n:.2f} %" for a, (n, d) in sorted(self.areas.items())]
        return "\n".join(lines)


def run_case(pair, area, seed, args, report):
    case = Case(pair, area, seed, args.requests, args.prefix)
    report.cases += 1
    counts = report.areas.setdefault(area, [0, 0])
    for found in case.run():
        counts[0] += 1
        if found:
            counts[1] += 1
            report.add(case, area, seed, *found)
    case.clean()


def arguments():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--oracle", default=os.environ.get("ORACLE_URL", "http://127.0.0.1:9201"))
    ap.add_argument("--serai", default=os.environ.get("SERAI_URL", "http://127.0.0.1:9200"))
    ap.add_argument("--seed", type=int, default=1, help="the first case")
    ap.add_argument("--count", type=int, default=10, help="how many cases an area")
    ap.add_argument("--area", action="append", choices=areas(), help="one area of: " + ", ".join(areas()))
    ap.add_argument("--requests", type=int, default=25, help="requests a case")
    ap.add_argument("--trials", type=int, default=40, help="replays to shrink a case; 0: shrink only its last request, over the data that is there; -1: shrink nothing")
    ap.add_argument("--prefix", default="differ", help="what names of indices begin with: runs that share a service take different ones")
    ap.add_argument("--seconds", type=float, default=0, help="end after so long")
    ap.add_argument("--out", help="write the report there, too, after each case")
    return ap.parse_args()


def main():
    args = arguments()
    try:
        Client(args.oracle).call("GET", "/")
    except OSError:
        print(f"no Elasticsearch answers at {args.oracle}")
        sys.exit(77)
    # the real one compiles 75 scripts in five minutes, and then refuses whatever they are
    Client(args.oracle).call("PUT", "/_cluster/settings", {"transient": {"script.max_compilations_rate": "100000/1m"}})
    pair, report, start = Pair(args.oracle, args.serai), Report(args.trials), time.monotonic()
    for seed in range(args.seed, args.seed + args.count):
        for area in args.area or areas():
            run_case(pair, area, seed, args, report)
            if args.out:
                with open(args.out, "w", encoding="utf-8", errors="backslashreplace") as f:  # a half of a pair of surrogates can be in an answer
                    f.write(report.text() + "\n")
        if args.seconds and time.monotonic() - start > args.seconds:
            break
    print(report.text().encode("utf-8", "backslashreplace").decode())
    asked, differing = (sum(c[i] for c in report.areas.values()) for i in (0, 1))
    print(f"{report.cases} cases, {asked} requests, {differing} differences that are not named, in {len(report.groups)} ways, {time.monotonic() - start:.0f} s")
    sys.exit(1 if report.groups else 0)


if __name__ == "__main__":
    main()
