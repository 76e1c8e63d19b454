#!/usr/bin/env python3
"""Pages name what exists: links lead somewhere, tests and files that are named are there, interface-coverage.md leaves no test out."""
import glob
import os
import re

from pages import ROOT, Checks, page

check = Checks()
NAMES = r"(?:rule|test)_\w+"
# Describes what is being built: files of later steps are named there.
PLANS = {"docs/cluster.md"}


def all_pages():
    names = glob.glob(os.path.join(ROOT, "*.md")) + glob.glob(os.path.join(ROOT, "docs", "**", "*.md"), recursive=True)
    return sorted(os.path.relpath(n, ROOT) for n in names)


def there(path):
    return os.path.exists(os.path.join(ROOT, path))


def test_links(name, text):
    for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in link:
            check(there(os.path.join(os.path.dirname(name), link)), f"{name}: the link {link} leads somewhere")


def test_files(name, text):
    """Files of this project named in `backquotes`."""
    for path in re.findall(r"`((?:tests|docs|tools|common|engine|data|master|coordinator|node|hotel|proto|deploy|bench)/[\w./-]+\.\w+)`", text):
        check(there(path), f"{name}: {path} is there")


def functions(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return set(re.findall(rf"^def ({NAMES})", f.read(), re.M))


def test_coverage():
    text, named = page("docs/interface-coverage.md"), set()
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        of_section = re.search(r"`(tests/[\w/.]+)`", section.splitlines()[0])
        for cell in re.findall(r"^\|.*\| (.*) \|$", section, re.M):
            path = of_section.group(1) if of_section else None
            for part in re.findall(rf"`(tests/[\w/.]+|{NAMES})`", cell):
                if part.startswith("tests/"):
                    path = part
                    continue
                check(path and part in functions(path), f"{part} is a test of {path}")
                named.add((path, part))
    for path in sorted(glob.glob(os.path.join(ROOT, "tests", "interface", "test_*.py"))):
        path = os.path.relpath(path, ROOT)
        for name in sorted(functions(path)):
            check((path, name) in named, f"{name} of {path} stands in docs/interface-coverage.md")


def main():
    for name in all_pages():
        text = page(name)
        test_links(name, text)
        if name not in PLANS:
            test_files(name, text)
    test_coverage()
    check.end()


if __name__ == "__main__":
    main()
