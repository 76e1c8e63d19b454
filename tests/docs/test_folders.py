#!/usr/bin/env python3
"""Every folder that tools/layers orders has a README.md of at most 30 lines, and the files that it names exist."""
import os
import re
import runpy
import sys

LINES_MAX = 30
NAMED = re.compile(r"`([\w./*-]+\.[ch])`|\]\(([\w./-]+\.md)\)")


def problems(folder):
    page = os.path.join(folder, "README.md")
    if not os.path.exists(page):
        return [f"{folder}: no README.md"]
    text = open(page, encoding="utf-8").read()
    bad = []
    if text.count("\n") > LINES_MAX:
        bad.append(f"{page}: {text.count(chr(10))} lines")
    for m in NAMED.finditer(text):
        name = m.group(1) or m.group(2)
        if "*" not in name and "NAME" not in name and not any(os.path.exists(os.path.join(at, name)) for at in (folder, os.path.dirname(folder), ".")):
            bad.append(f"{page}: {name} does not exist")
    return bad


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    ordered = runpy.run_path("tools/layers")["ALLOWED"]
    passed = failed = 0
    for folder in sorted(ordered):
        bad = problems(folder)
        print("\n".join(bad), end="\n" if bad else "")
        passed, failed = passed + (not bad), failed + bool(bad)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
