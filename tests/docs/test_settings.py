#!/usr/bin/env python3
"""docs/settings.md says what the program has: settings that are described have the defaults and the time of change that are
said, the others are listed, limits have the values of the sources. --write writes the lists anew."""
import glob
import os
import re
import subprocess
import sys

from pages import BUILD, ROOT, Checks, page, rows

check = Checks()
TOOL = os.path.join(BUILD, "tests", "tools", "settings_tool")
MARK = "<!-- From here on: written by tests/docs/test_settings.py --write -->"
# These are known to the node alone, not to the registry.
NODE_ONLY = {"path.conf"}
# The program takes another default than Elasticsearch's, which the registry holds.
OWN_DEFAULT = {"cluster.name", "node.name", "path.data", "http.port", "thread_pool.search.size", "thread_pool.write.size"}
KEPT = {"index.analysis.*", "index.similarity.*", "logger.*", "node.attr.*", "cluster.metadata.*", "discovery.zen.ping.unicast.hosts"}
KEPT |= {f"{of}.routing.allocation.{how}.*" for of in ("index", "cluster") for how in ("include", "exclude", "require")}


class Setting:
    def __init__(self, line):
        self.registry, name, self.kind, flags, self.default, low, high, choices, self.mark = line.rstrip("\n").split("\t")
        self.name = name + "*" if name.endswith(".") else name
        self.flags, self.choices = flags.split(), choices
        self.low, self.high = int(low), int(high)

    @property
    def when(self):
        return self.flags[0] if self.flags else "closed" if self.registry == "index" else "start"

    def row(self):
        kind = f"{self.kind}: {self.choices.replace(',', ', ')}" if self.choices else self.kind
        return f"| `{self.name}` | {kind} | {self.default.replace('|', chr(92) + '|')} | {self.when} | {self.mark or 'read'} |"


def registered():
    text = subprocess.run([TOOL], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {s.name: s for s in map(Setting, text.splitlines())}


def literals():
    """Texts in quotes in the sources, the registry's own aside: names that the program reads."""
    found = set()
    for folder in ("common", "engine", "data", "master", "coordinator", "node"):
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True):
            name = os.path.relpath(path, ROOT)
            if "setting_" in name or name == "coordinator/rest/cat.c":
                continue  # definitions, columns of tables
            with open(path, encoding="utf-8") as f:
                found.update(re.findall(r'"([A-Za-z_.-]+)"', f.read()))
    return found


def acts(setting, texts):
    """Is the setting read anywhere? An index's settings are read without 'index.', too, where that cannot be any other word."""
    short = setting.name[len("index."):] if setting.registry == "index" else ""
    return setting.name.rstrip("*") in texts or (("." in short or "_" in short) and short in texts)


def kept(setting):
    """No literal names these, or the literal is a part of the name: where nodes may be, what a user notes, refused at creation, set by the system."""
    return setting.name in KEPT or setting.name.startswith("index.sort.") or "private" in setting.flags


def lists(settings, described):
    """The page's last part."""
    out = [MARK, "", "## Accepted, kept and shown", "",
           "Elasticsearch's clients, templates and tools set these. *read*: some part of the program looks at it. *none*: it is taken and has no effect: the",
           "answer to a request that sets it has a `Warning` header that says so, and the log of a node that is started with it. *refused*: only the default is taken."]
    for registry, title in (("index", "Of an index"), ("cluster", "Of the cluster and its nodes")):
        out += ["", f"### {title}", "", "| setting | value | default | when | |", "|---|---|---|---|---|"]
        out += [s.row() for s in settings.values() if s.registry == registry and s.name not in described]
    return "\n".join(out) + "\n"


def main():
    text, settings, texts = page("docs/settings.md"), registered(), literals()
    head, mark, rest = text.partition(MARK)
    described = {}
    for row in rows(head):
        m = re.fullmatch(r"`([A-Za-z_.]+\*?)`", row[0])
        if m:
            described[m.group(1)] = row
    if sys.argv[1:] == ["--write"]:
        with open(os.path.join(ROOT, "docs", "settings.md"), "w", encoding="utf-8") as f:
            f.write(head + lists(settings, described))
        return
    check(mark + rest == lists(settings, described), "the lists are those of the registry (else: tests/docs/test_settings.py --write)")
    for s in settings.values():
        check(s.mark or kept(s) or acts(s, texts), f"{s.name} has a reader, or its definition says that it has none (SETTING_NO_EFFECT)")
        check(not (s.mark == "none" and acts(s, texts)), f"{s.name} has a reader: its definition need not say SETTING_NO_EFFECT any more")
    for name, row in described.items():
        s = settings.get(name)
        check(s is not None or name in NODE_ONLY, f"{name} is a setting")
        if s is None:
            continue
        if name not in OWN_DEFAULT:
            check(row[1] == s.default, f"{name}: its default", (row[1], s.default))
        if s.registry == "index":
            check(row[2] == s.when, f"{name}: when it may change", (row[2], s.when))
        check(name.endswith("*") or acts(s, texts) or name == "logger.level", f"{name} is read somewhere")
    for row in rows(head):
        m = re.fullmatch(r"`([A-Z_]+)`", row[-1])
        if m:
            found = subprocess.run(["grep", "-rhE", rf"define {m.group(1)} +{row[1]}U?\b", "common", "engine", "data"],
                                   cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
            check(found, f"{m.group(1)} is {row[1]}")
    check.end()


if __name__ == "__main__":
    main()
