#!/usr/bin/env python3
"""Ends are told by later() (docs/decisions/ends.md): the files that call back whoever asked are known, and how often. Each of these calls runs
when a task has returned, or in a task of its own. A new one is a new way in which an end could be told inside the call that asks for it."""
import glob
import os
import re

from pages import ROOT, Checks

FOLDERS = ["coordinator", "data", "proto", "master", "node"]
CALL = re.compile(r"(?:->|\.)(done|then|answer|event_done|apply_done|stopped|drained|wake)\(|^\s+(?:done|then|drained|stopped)\(")
KNOWN = {
    # put off with later()
    "proto/shard_api.c": 1, "coordinator/core/broadcast.c": 1, "coordinator/core/freeing.c": 1,
    "coordinator/core/node_calls.c": 1, "coordinator/ops/lookups.c": 1, "coordinator/ops/search.c": 1,
    "coordinator/ops/writes_send.c": 1, "coordinator/ops/task_results.c": 1, "coordinator/ops/by_query_end.c": 1,
    "coordinator/core/active.c": 2, "coordinator/rest/master_view.c": 2,
    "master/quorum_driver.c": 1,
    # go on from an end that was told to them
    "coordinator/core/ask.c": 1, "coordinator/core/shard_tasks.c": 1, "coordinator/core/meta.c": 1,
    "coordinator/rest/meta.c": 1, "coordinator/rest/tasks.c": 1, "coordinator/rest/search.c": 1,
    "coordinator/ops/term_vectors.c": 2, "coordinator/rest/reroute.c": 1, "proto/remote.c": 1, "node/member.c": 1,
    # a task of an executor: of the transport's, the applier's, the shard's strand, the master's loop
    "proto/transport_nng_requests.c": 1, "data/service/apply.c": 1, "data/service/reload.c": 1,
    "data/shard/follow.c": 1, "master/batch.c": 1,
    "master/master_requests.c": 5, "master/cluster.c": 2,
    # steps on a strand, whose callers do nothing afterwards
    "data/replication/fanout.c": 3, "data/shard/sync.c": 1,
}


def main():
    checks = Checks()
    met = {}
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True):
            with open(path, encoding="utf-8") as f:
                lines = [n for n, line in enumerate(f, 1) if CALL.search(line)]
            if lines:
                met[os.path.relpath(path, ROOT)] = lines
    for name in sorted({*met, *KNOWN}):
        lines = met.get(name, [])
        checks(len(lines) == KNOWN.get(name, 0), f"{name}: lines {lines} tell ends, {KNOWN.get(name, 0)} are known: inside the call perhaps")
    checks.end()


if __name__ == "__main__":
    main()
