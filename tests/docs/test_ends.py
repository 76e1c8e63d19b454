#!/usr/bin/env python3
"""Ends are told by later() (docs/decisions/ends.md): the functions that call back whoever asked are known, and each runs when a task has
returned, or in a task of its own. A new one is a new way in which an end could be told inside the call that asks for it."""
import glob
import os
import re

from pages import ROOT, Checks

FOLDERS = ["coordinator", "data", "proto", "master", "node"]
CALL = re.compile(r"(?:->|\.)(done|then|answer|event_done|apply_done|stopped|drained|wake)\(|^\s+(?:done|then|drained|stopped)\(")
KNOWN = {
    # put off with later()
    "proto/shard_api.c": {"answered"}, "coordinator/core/broadcast.c": {"finish"}, "coordinator/core/freeing.c": {"finish"},
    "coordinator/core/node_calls.c": {"all_answered"}, "coordinator/ops/lookups.c": {"all_read"}, "coordinator/ops/search.c": {"ended"},
    "coordinator/ops/writes_send.c": {"ended"}, "coordinator/ops/task_results.c": {"ended"}, "coordinator/ops/by_query_end.c": {"answer"},
    "coordinator/core/active.c": {"active_reached", "active_look"}, "coordinator/rest/master_view.c": {"master_view_local", "master_view_continue"},
    "master/quorum_driver.c": {"ended"},
    # go on from an end that was told to them
    "coordinator/core/ask.c": {"copy_answered"}, "coordinator/core/shard_tasks.c": {"served"}, "coordinator/core/meta.c": {"done"},
    "coordinator/rest/meta.c": {"done"}, "coordinator/rest/tasks.c": {"asked"}, "coordinator/rest/search.c": {"count_known"},
    "coordinator/rest/reroute.c": {"look"}, "proto/remote.c": {"answered"}, "node/member.c": {"mapping_done"},
    # a task of an executor: of the transport's, the applier's, the shard's strand, the master's loop
    "proto/transport_nng_requests.c": {"run_done"}, "data/service/apply.c": {"done_with_state"}, "data/service/reload.c": {"reload"},
    "data/shard/follow.c": {"follow"}, "master/batch.c": {"finish_tasks"},
    "master/master_requests.c": {"finish", "not_submitted", "not_asked"}, "master/cluster.c": {"ended", "applied_on_loop"},
    # steps on a strand, whose callers do nothing afterwards
    "data/replication/fanout.c": {"request_unparked", "quiet_task", "fanout_woken"}, "data/shard/sync.c": {"wake_all"},
}


def calls_of(path):
    """(function, line) of each call of an end."""
    function = None
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            begins = re.match(r"^[a-z].*?\b(\w+)\([^;]*$", line)
            function = begins.group(1) if begins else function
            if CALL.search(line):
                yield function, number


def main():
    checks = Checks()
    met = {}
    for folder in FOLDERS:
        for path in glob.glob(os.path.join(ROOT, folder, "**", "*.c"), recursive=True):
            name = os.path.relpath(path, ROOT)
            for function, line in calls_of(name):
                met.setdefault(name, set()).add(function)
                checks(function in KNOWN.get(name, set()), f"{name}:{line}: {function}() tells an end, inside the call perhaps")
    for name, functions in KNOWN.items():
        for function in functions:
            checks(function in met.get(name, set()), f"{name}: {function}() tells no end any more")
    checks.end()


if __name__ == "__main__":
    main()
