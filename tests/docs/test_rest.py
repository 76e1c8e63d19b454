#!/usr/bin/env python3
"""docs/rest.md lists the endpoints of the router's table, and for each the parameters that the program takes: a running node
is asked with every name that any endpoint knows. --write writes the table anew, keeping the notes."""
import glob
import os
import re
import sys

from pages import ROOT, Checks, page, rows
from node import Node

check = Checks()
# Every request may have these; the page says so once.
# Parts of paths are taken as parameters, too, as Elasticsearch does; they are not listed.
COMMON = {"index", "type", "id", "task_id", "name", "metric", "index_metric", "node", "nodes", "thread_pool_patterns", "scroll_id", "alias",
          "pretty", "human", "error_trace", "filter_path", "format", "source", "source_content_type"}
BODIES = [None, "{}", {"query": {"match_all": {}}}, {"doc": {"a": 1}}, {"text": "a"}, {"scroll_id": "x"}, {"id": "x"}, {"ids": ["1"]}, {"actions": []},
          {"transient": {"cluster.max_shards_per_node": 99}}, {"docs": [{"_index": "probe", "_id": "1"}]}, {"index": "probe", "alias": "zzz"}, {"index_patterns": ["zzz-*"]}, {"index_patterns": ["zzz-*"], "template": {}}, {"template": {}}, {"properties": {}},
          {"index.hidden": False}, {"requests": [{"id": "a", "ratings": [], "request": {}}], "metric": {"dcg": {}}}, {"actions": [{"add": {"index": "probe", "alias": "zzz"}}]}, {"dest": {"index": "zzz"}, "source": {"index": "probe"}},
          [{"index": {"_index": "probe", "_id": "1"}}, {"a": 1}], [{"index": "probe"}, {"query": {"match_all": {}}}], [{"index": "probe"}, {"id": "x"}],
          {"script": {"lang": "painless", "source": "1"}}, {"type": "fs", "indices": "a"}]
PARTS = {"index": "probe", "id": "1", "type": "_doc", "fields": "a", "metric": "_all", "index_metric": "docs", "node": "_local", "nodes": "_all", "thread_pool_patterns": "write",
         "block": "write", "scroll_id": "x"}
# Values that parse, where "1" does not.
VALUES = {"expand_wildcards": "open", "refresh": "true", "op_type": "index", "version_type": "internal", "search_type": "query_then_fetch",
          "wait_for_status": "green", "wait_for_events": "normal", "level": "indices", "bytes": "b", "time": "ms", "health": "green", "v": "true",
          "help": "false", "default_operator": "and", "conflicts": "proceed", "timeout": "1s", "scroll": "1m", "keep_alive": "1m", "suggest_mode": "always", "slices": "auto", "include_type_name": "true"}
BATCH = 24
# Groups of parameters that the page explains once.
GROUPS = {"*indices*": {"allow_no_indices", "expand_wildcards", "ignore_throttled", "ignore_unavailable"},
          "*table*": {"bytes", "h", "help", "s", "pri", "size", "time", "ts", "v"}}
# These refuse everything.
MUTE = ("_clone", "_shrink", "_split")


def routes():
    """(pattern, method) of the tables in the sources."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "coordinator", "rest", "*.c")):
        with open(path, encoding="utf-8") as f:
            for methods, pattern in re.findall(r'\{\s*((?:M_[A-Z]+(?:\s*\|\s*)?)+),\s*"(/[^"]*)",', f.read()):
                found.update((pattern, m) for m in re.findall(r"M_([A-Z]+)", methods))
    return found


def candidates():
    """Every word in quotes in the handlers: what may be the name of a parameter."""
    found = set()
    for path in glob.glob(os.path.join(ROOT, "coordinator", "rest", "*.c")):
        with open(path, encoding="utf-8") as f:
            found.update(re.findall(r'"(_?[a-z][a-z_]*)"', f.read()))
    return sorted(found - COMMON)


class Prober:
    def __init__(self, node):
        self.node, self.names = node, candidates()
        self.also = []  # parameters that go along with those asked for

    def refused(self, method, path, body, names):
        """Those of the names that the endpoint does not know; None: it said something else."""
        query = "&".join(f"{n}={VALUES.get(n, '1')}" for n in names + self.also + ["zzz"])
        status, answer = self.node.call("POST" if method == "HEAD" else method, f"{path}?{query}", body)
        error = answer.get("error") if isinstance(answer, dict) else None
        reason = error.get("reason", "") if isinstance(error, dict) else ""
        if status != 400 or "unrecognized parameter" not in reason:
            return None
        return set(re.findall(r"(?:: |, )\[([^\]]*)\]", reason.split("unrecognized parameter", 1)[1]))

    def known(self, method, path, body, names):
        """Those that it knows. One alone that is answered with another error is known: its value was read."""
        refused = self.refused(method, path, body, names)
        if refused is not None and "zzz" in refused:  # the reason is whole
            return set(names) - refused
        if len(names) == 1:
            return set(names)
        half = len(names) // 2
        return self.known(method, path, body, names[:half]) | self.known(method, path, body, names[half:])

    def parameters(self, pattern, method):
        """The names that this endpoint takes; None: it could not be brought to tell."""
        inside = set(re.findall(r"\{(\w+)\}", pattern))
        parts = {**PARTS, "metric": "indices"} if "/_nodes/" in pattern else PARTS
        path = re.sub(r"\{(\w+)\}", lambda m: parts.get(m.group(1), "zzz"), pattern)
        for self.also in ([], ["requests_per_second"], ["fields"], ["node_names"], ["include_type_name"], ["repository"]):  # some ask for it
            body = next((b for b in BODIES if self.refused(method, path, b, []) == {"zzz"}), "none")
            if body != "none":
                break
        else:
            return None
        asked_for = set(self.also)
        names = [n for n in self.names if n not in inside]
        found = self.all_known(method, path, body, names)
        for with_it in ("q", "suggest_field"):  # some go with another one only
            if with_it in found and (body is None or with_it != "q"):
                self.also = [with_it]
                found |= self.all_known(method, path, body, [n for n in names if n != with_it])
        return found | asked_for

    def all_known(self, method, path, body, names):
        return set().union(*(self.known(method, path, body, names[at:at + BATCH]) for at in range(0, len(names), BATCH)))


def table(node):
    """Rows of the page: paths with the same last parts, methods and parameters share one."""
    prober, groups = Prober(node), {}
    by_pattern = {}
    for pattern, method in routes():
        by_pattern.setdefault(pattern, set()).add(method)
    for pattern in sorted(by_pattern):
        methods = by_pattern[pattern] - {"HEAD"}  # HEAD is GET without a body
        told = {m: prober.parameters(pattern, m) for m in methods}
        for m, names in told.items():
            check(names is not None or (m, pattern) == ("DELETE", "/") or any(f"/{m}/" in pattern for m in MUTE), f"{m} {pattern} tells its parameters")
        names = set().union(*(n or set() for n in told.values()))
        for group, members in GROUPS.items():
            if members <= names:
                names = names - members | {group}
        tail = re.sub(r"^/\{index\}(?=/)", "", pattern)
        key = (tail, ", ".join(sorted(by_pattern[pattern])), ", ".join(sorted(names)))
        groups.setdefault(key, []).append(pattern)
    return [(f"`{'`, `'.join(patterns)}`", methods, names) for (_, methods, names), patterns in sorted(groups.items())]


def main():
    with Node() as node:
        node.call("PUT", "/probe/_doc/1?refresh=true", {"a": 1})
        scroll = node.call("POST", "/probe/_search?scroll=1m", {"size": 1})[1]["_scroll_id"]
        BODIES.append({"scroll_id": scroll})
        PARTS["scroll_id"] = scroll
        PARTS["task_id"] = next(iter(node.call("GET", "/_nodes")[1]["nodes"])) + ":1"
        have = table(node)
    text = page("docs/rest.md")
    start = text.index("| endpoint |")
    notes = {(row[0], row[1]): row[3] for row in rows(text[start:]) if len(row) == 4}
    if sys.argv[1:] == ["--write"]:
        lines = ["| endpoint | methods | parameters | |", "|---|---|---|---|"]
        lines += [f"| {p} | {m} | {n} | {notes.get((p, m), '')} |" for p, m, n in have]
        with open(os.path.join(ROOT, "docs", "rest.md"), "w", encoding="utf-8") as f:
            f.write(text[:start] + "\n".join(lines) + "\n")
        return
    said = [tuple(row[:3]) for row in rows(text[start:])][1:]
    for row in sorted(set(have) - set(said)):
        check(False, "is missing on the page, or stands there with other methods or parameters", row)
    for row in sorted(set(said) - set(have)):
        check(False, "stands on the page, and is not so", row)
    check(len(have) > 50, "there are endpoints")
    check(not set(have) ^ set(said), "the table is true (else: tests/docs/test_rest.py --write)")
    check.end()


if __name__ == "__main__":
    main()
