#!/usr/bin/env python3
"""Holds the names that the linker sees to two rules: no name stands for two things in the product, whichever program has
them, and no function is there that nobody calls. What tests alone call is listed below, with the reason. Lifetimes have the verbs of
CONTRIBUTING.md and no others."""
import collections
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OBJ = os.path.join(ROOT, os.environ.get("BUILD", "build"), "obj")
FOLDERS = ["common", "proto", "engine", "master", "data", "coordinator", "node", "hotel", "tools"]
MAINS = {"main", "malloc_conf"}  # of each program; of jemalloc
# Files that are a test's: what checks the state of a core.
SEAMS = re.compile(r".*/(\w+_)?invariant\.c")
CHECKS = re.compile(r".*_invariant")
FOR_TESTS = {
    "alloc_failing_init": "an allocator that fails where a test says so",
    "frame_encode": "what transport_nng_write.c writes in pieces, whole",
    "health_least_active": "what the naive model of the health is compared with",
    "http_server_addresses": "a port that the system chose",
    "http_watch": "a client that goes away, as the server sees it",
    "later_switch": "the simulator goes from one stack to another",
    "log_debug": "the level below those that the product writes",
    "mapping_routing_required": "what coordinator/ keeps of a mapping",
    "notify_watchdog_ms": "what systemd has asked for",
    "num_type_name": "failures in words",
    "pool_drain": "that nothing is under way any more",
    "quorum_term": "the simulator compares its nodes",
    "rng_double": "random cases",
    "segment_in_memory": "segments without a folder",
    "settings_has_prefix": "settings as a test reads them",
    "strand_inside": "who calls back",
}


# Verbs that say what new, free, init, fini, ref and unref say. The listed names are not about memory.
VERBS = re.compile(r"(?:.*_)?(?:drop|destroy|release|dispose|discard|clone|dup|create|delete)(?:_(?!check|index|template|tables|script|pipeline).*)?")
OTHER_VERBS = {
    "hotels_delete": "the method of HTTP",
    "job_delete": "the method of HTTP",
    "processor_drop": "a processor's name",
    "shard_limit_create": "the limit that the creation of an index meets",
    "translog_create": "a file",
}


def product():
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(OBJ, folder, "**", "*.o"), recursive=True)):
            source = os.path.relpath(path, OBJ)[:-2] + ".c"
            if os.path.exists(os.path.join(ROOT, source)):  # else it is left of an older build
                yield path, source


def main():
    sources = dict(product())
    if not sources:
        print("nothing is built", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    text = subprocess.run(["nm", "-A", "-g", *sources], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    defined, used = collections.defaultdict(list), set()
    for line in text.splitlines():
        m = re.match(r"(\S+?):\s*[0-9a-f]*\s*([A-Za-z]) ([A-Za-z_]\w*)$", line)
        if m and m.group(2) == "U":
            used.add(m.group(3))
        elif m and m.group(2) in "TDBR":
            defined[m.group(3)].append(sources[m.group(1)])
    failed, idle = [], set()
    for name, places in sorted(defined.items()):
        if name in MAINS:
            continue
        if VERBS.fullmatch(name) and name not in OTHER_VERBS and not SEAMS.fullmatch(places[0]):
            failed.append(f"{places[0]}: {name} has a verb that is not one of lifetimes (CONTRIBUTING.md)")
        if len(places) > 1:
            failed.append(f"{name} is defined in {' and in '.join(places)}")
        if name in used or SEAMS.fullmatch(places[0]) or CHECKS.fullmatch(name):
            continue
        with open(os.path.join(ROOT, places[0]), encoding="utf-8") as f:
            if len(re.findall(rf"\b{name}\b", f.read())) == 1:
                idle.add(name)
                if name not in FOR_TESTS:
                    failed.append(f"{places[0]}: nobody calls {name}")
    failed += [f"{name} is listed as a test's, and has a caller or is gone" for name in sorted(set(FOR_TESTS) - idle)]
    failed += [f"{name} is listed for its verb, and is gone" for name in sorted(set(OTHER_VERBS) - set(defined))]
    for line in failed:
        print(line)
    print(f"{len(defined) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
