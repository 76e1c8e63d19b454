#!/usr/bin/env python3
"""No file of C is longer than 600 lines, and no function than 76."""
import os
import re
import sys

TOPS = ("common", "proto", "engine", "master", "data", "coordinator", "node", "hotel", "tests", "tools", "bench")
FILE_MAX, FUNCTION_MAX = 600, 76


def functions(lines):
    """(name, lines) of each: from the first line of its head to the brace that closes it."""
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            start = i
            while start > 0 and re.match(r"[\w ].*[,)\w*]$", lines[start - 1]):
                start -= 1
        elif line == "}" and start is not None:
            name = re.search(r"(\w+)\(", " ".join(lines[start:i]))
            yield name.group(1) if name else "?", i - start + 1
            start = None


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    bad = []
    count = 0
    for path in sorted(os.path.join(d, f) for top in TOPS for d, _, files in os.walk(top) for f in files if f.endswith((".c", ".h"))):
        lines = open(path, encoding="utf-8").read().split("\n")[:-1]
        count += 1
        if len(lines) > FILE_MAX:
            bad.append(f"{path}: {len(lines)} lines")
        if not path.startswith(("tests/", "bench/")):
            bad += [f"{path}: {name}() has {n} lines" for name, n in functions(lines) if n > FUNCTION_MAX]
    tried = list(functions(["static int", "f(int a,", "  int b)", "{", "    return 0;", "}"]))
    ok = tried == [("f", 6)]
    print("\n".join(bad), end="\n" if bad else "")
    print(f"{count - len(bad) + ok} passed, {len(bad) + (not ok)} failed")
    sys.exit(1 if bad or not ok else 0)


if __name__ == "__main__":
    main()
