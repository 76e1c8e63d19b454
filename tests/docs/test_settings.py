#!/usr/bin/env python3
"""docs/settings.md says what the program has: settings that are described have the defaults and the time of change that are
said, the others are listed, limits have the values of the sources. --write writes the lists anew. And the program reads a
setting in one way: by its id, without a default of the reader's own."""
import glob
import os
import re
import subprocess
import sys

from pages import BUILD, ROOT, Checks, page, rows

check = Checks()
TOOL = os.path.join(BUILD, "tests", "tools", "settings_tool")
MARK = "<!-- From here on: written by tests/docs/test_settings.py --write -->"
LISTS = ("common/settings/setting_rows_cluster.def", "common/settings/setting_rows_index.def")
# These are known to the node alone, not to the registry.
NODE_ONLY = {"path.conf"}
# What the page says of these in words of its own.
OWN_WORDS = {"node.name", "path.data", "cluster.name"}

# The readers of maps of settings that no row names: of analysis, similarities, and files of the hotel services.
MAP_READER = re.compile(r"\bsettings_(?:str|bool|i64|double|time_ms|bytes|list)\s*\(")
MAPS = ("common/base/", "common/settings/", "engine/analysis/", "engine/mapping/similarity.c", "coordinator/rest/cluster_stats.c", "node/main.c", "node/node.c")
# A value of its own where the setting is not set.
OTHERWISE = re.compile(r"setting_find\s*\([^;{}]*\?[^;{}?]*:\s*-?(?:\d|STR\(|\")")
# What the cluster's settings may change is read of the cluster's settings: what the node was started with is behind these (cluster_settings()).
OF_NODE = ("node/", "common/sys/", "master/quorum")
READER = re.compile(r"\bsetting_\w+\([^;]*?\bSET_(\w+)")
ONE_PART = re.compile(r"\b(?:persistent|transient)->settings\b")
PARTS = ("common/cluster/state", "node/logging.c")
# Words of answers and columns of tables that are spelt as a setting is.
WORDS = {"common/base/log.c", "coordinator/rest/cat.c", "coordinator/rest/cat_shards.c", "coordinator/rest/nodes_info.c"}


class Setting:
    def __init__(self, line):
        self.registry, name, self.kind, flags, self.default, low, high, choices, self.mark, self.original, self.why = line.rstrip("\n").split("\t")
        self.name = name + "*" if name.endswith(".") else name
        self.flags, self.choices = flags.split(), choices
        self.low, self.high = int(low), int(high)

    @property
    def when(self):
        return self.flags[0] if self.flags else "closed" if self.registry == "index" else "start"

    def row(self):
        kind = f"{self.kind}: {self.choices.replace(',', ', ')}" if self.choices else self.kind
        return f"| `{self.name}` | {kind} | {cell(self.default)} | {self.when} | {self.mark or 'read'} |"


def cell(text):
    return text.replace("|", "\\|")


def registered():
    text = subprocess.run([TOOL], stdout=subprocess.PIPE, check=True, text=True).stdout
    return {s.name: s for s in map(Setting, text.splitlines())}


# ---- readers -------------------------------------------------------------------------------------------------------------


def ids():
    """{id: name} of the rows that have one."""
    text = "".join(page(name) for name in LISTS)
    return dict(re.findall(r'^ROW\((\w+), "([^"]+)"', text, re.M))


def dynamic():
    """The ids of the cluster's settings that may change while it runs."""
    return set(re.findall(r'^ROW\((\w+), "[^"]+", \w+, DYNAMIC,', page(LISTS[0]), re.M))


def sources():
    """{path: text without comments} of the program."""
    found = {}
    for folder in ("common", "engine", "proto", "data", "master", "coordinator", "node"):
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.[ch]"), recursive=True):
            with open(path, encoding="utf-8") as f:
                found[os.path.relpath(path, ROOT)] = re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)
    return found


def faults(files, named, changing):
    """What is wrong with how settings are read, a line each."""
    read, names, wrong = set(), set(named.values()), []
    for path, text in files.items():
        read.update(re.findall(r"\bSET_(\w+)", text))
        if path not in WORDS:
            wrong += [f"{path}: \"{s}\" is the name of a setting: setting_name() of its id" for s in re.findall(r'"([a-z_.-]+)"', text) if "." in s and s in names]
        if MAP_READER.search(text) and not path.startswith(MAPS):
            wrong.append(f"{path}: a setting is read by its id (common/settings/setting_read.h), not by a name with a default")
        if OTHERWISE.search(text):
            wrong.append(f"{path}: a default is the row's alone")
        if path.startswith(OF_NODE):
            wrong += [f"{path}: SET_{i} may change while the cluster runs: cluster_setting_*()" for i in READER.findall(text) if i in changing]
        if ONE_PART.search(text) and not path.startswith(PARTS):
            wrong.append(f"{path}: what a node was started with is passed over: cluster_settings()")
    wrong += [f"{i} has no reader: its row is IDLE, or a RULE" for i in named if i not in read]
    wrong += [f"SET_{i} has no row" for i in read if i not in named]
    return wrong


def check_faults_are_found():
    """Each kind of fault, in sources made up for it."""
    named, changing = {"INDEX_HIDDEN": "index.hidden"}, {"INDEX_HIDDEN"}
    good = "setting_bool(s, SET_INDEX_HIDDEN)"
    check(faults({"node/a.c": "cluster_" + good}, named, changing) == [], "the cluster's settings may be read by a node")
    check(len(faults({"node/a.c": good}, named, changing)) == 1, "a reader of the node's own is found")
    check(faults({"data/a.c": good}, named, changing) == [], "what is right is right")
    for what, text in (("a row without a reader", "int x;"), ("a reader without a row", good + "; setting_bool(s, SET_INDEX_SHOWN)"),
                       ("a name in a reader", good + '; settings_find(s, STR("index.hidden"))'),
                       ("a default at a reader", good + '; settings_bool(s, key, true, &on, NULL)'),
                       ("a default beside a reader", good + "; n = setting_find(s, SET_INDEX_HIDDEN) != NULL ? setting_i64(s, SET_INDEX_HIDDEN) : 10;"),
                       ("a reader of one part", good + "; settings_find(&s->persistent->settings, key)")):
        check(len(faults({"data/a.c": text}, named, changing)) == 1, f"{what} is found", faults({"data/a.c": text}, named, changing))


# ---- the page ------------------------------------------------------------------------------------------------------------


def lists(settings, described):
    """The page's last part."""
    out = [MARK, "", "## Serai's own defaults", "",
           "Where nothing is set, these are not what Elasticsearch 7.12.1 has. `include_defaults` shows what holds here.", "",
           "| setting | Serai | Elasticsearch | because |", "|---|---|---|---|"]
    out += [f"| `{s.name}` | {cell(s.default)} | {cell(s.original)} | {cell(s.why)} |" for s in settings.values() if s.why]
    out += ["", "## Accepted, kept and shown", "",
            "Elasticsearch's clients, templates and tools set these. *read*: some part of the program looks at it. *none*: it is taken and has no effect: the",
            "answer to a request that sets it has a `Warning` header that says so, and the log of a node that is started with it. *refused*: only the default is taken."]
    for registry, title in (("index", "Of an index"), ("cluster", "Of the cluster and its nodes")):
        out += ["", f"### {title}", "", "| setting | value | default | when | |", "|---|---|---|---|---|"]
        out += [s.row() for s in settings.values() if s.registry == registry and s.name not in described]
    return "\n".join(out) + "\n"


def main():
    text, settings = page("docs/settings.md"), registered()
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
    check_faults_are_found()
    found = faults(sources(), ids(), dynamic())
    check(not found, "settings are read by their ids, and have their defaults in their rows", *found)
    for name, row in described.items():
        s = settings.get(name)
        check(s is not None or name in NODE_ONLY, f"{name} is a setting")
        if s is None:
            continue
        if name not in OWN_WORDS:
            check(row[1] == s.default, f"{name}: its default", (row[1], s.default))
        if s.registry == "index":
            check(row[2] == s.when, f"{name}: when it may change", (row[2], s.when))
        check(s.mark != "none", f"{name} has an effect")
    for row in rows(head):
        m = re.fullmatch(r"`([A-Z_]+)`", row[-1])
        if m:
            found = subprocess.run(["grep", "-rhE", rf"define {m.group(1)} +{row[1]}U?\b", "common", "engine", "data"],
                                   cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout
            check(found, f"{m.group(1)} is {row[1]}")
    check.end()


if __name__ == "__main__":
    main()
