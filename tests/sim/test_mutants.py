#!/usr/bin/env python3
"""Would the simulator find a bug? Deliberate ones are put into the protocols, one at a time, each in a simulator of its own: a
seed that found it (mutants.seeds) is tried first, then the seeds from 1 on, 1,000 of them; the long form does not use what is known. MUTANT=name: only that."""
import os
import re
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build")
LONG = os.environ.get("LONG") == "1"
SEEDS = 1000

# name, file, what stands there, what is put in its place
MUTANTS = [
    ("two_votes_a_term", "master/safety.c", "    if (term <= s->term) {\n        return err_set(em, ERR_ILLEGAL_STATE, \"incoming term [%llu] not greater",
     "    if (term < s->term) {\n        return err_set(em, ERR_ILLEGAL_STATE, \"incoming term [%llu] not greater"),
    ("stale_copy_stays", "master/reported.c", "                                str_set_without(&mine->in_sync[shard], allocation_id, &mine->part.arena))) {",
     "                                str_set_copy(&mine->in_sync[shard], &mine->part.arena))) {"),
    ("commit_alone", "master/safety.c", "    *commit = config_has_quorum(&accepted_part(s)->committed, &s->publish_votes)\n              && config_has_quorum(&s->published_config, &s->publish_votes);",
     "    *commit = true;"),
    ("promote_any_copy", "master/allocation.c", "        if (copy_active(c) && alloc_node_of(a, c->node) != NULL\n            && str_set_has(&m->in_sync[shard], c->allocation_id)) {",
     "        if (c->state != COPY_UNASSIGNED && alloc_node_of(a, c->node) != NULL) {"),
    ("same_term_after_promotion", "master/allocation.c", "    m->primary_terms[shard]++;\n", ""),
    ("answer_before_fsync", "data/replica.c", "    if (sh->index->async || engine_durable(sh->engine) >= r->waiter.location) {",
     "    if (true) {"),
    ("primary_answers_before_fsync", "data/write.c", "    if (r->waiter.location <= engine_durable(en) || r->sh->index->async) {",
     "    if (true) {"),
    ("answer_before_copies", "data/write.c", "    } else if (fanout_settled(r->fanout, &em)) {", "    } else if (true) {"),
    ("old_terms_taken", "data/replica.c", "    if (m->term < newest || (sh->primary && m->term == newest)) {", "    if (false) {"),
    ("retries_applied_again", "engine/index/op_ids.c", "    if (o->n == 0 || id.session == 0) {\n        return NULL;", "    if (true) {\n        return NULL;"),
]


def seeds_of(path):
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#") and line.strip():
                    name, seed = line.split()
                    known[name] = int(seed)
    return known


def build(name, file, old, new):
    with open(file, encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        return None, f"what it changes in {file} stands there {text.count(old)} times"
    folder = os.path.join(BUILD, "mutants")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".c"), "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))
    p = subprocess.run(["make", "--no-print-directory", f"BUILD={BUILD_REL}", f"{BUILD_REL}/mutants/{name}"], capture_output=True, text=True)
    return (os.path.join(folder, name), "") if p.returncode == 0 else (None, p.stdout[-2000:] + p.stderr[-2000:])


def fails(program, seed):
    """Does that seed find it?"""
    try:
        p = subprocess.run([program, "--seed", str(seed), "--runs", "1"], capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "it did not end"
    return (p.stdout.strip().splitlines() or [f"status {p.returncode}"])[-1] if p.returncode != 0 else ""


def search(program):
    jobs = str(os.cpu_count() or 1)
    for first in range(1, SEEDS + 1, 50):
        p = subprocess.run([program, "--seed", str(first), "--runs", "50", "--jobs", jobs], capture_output=True, text=True)
        m = re.search(r"^seed (\d+): (.*)$", p.stdout, re.M)
        if m:
            return int(m.group(1)), m.group(2)
    return None, ""


def main():
    known = seeds_of(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutants.seeds"))
    passed = failed = 0
    for name, file, old, new in MUTANTS:
        if os.environ.get("MUTANT", name) != name:
            continue
        program, wrong = build(name, file, old, new)
        if program:
            seed = known[name] if name in known and not LONG else None
            what = fails(program, seed) if seed else ""
            if not what:
                seed, what = search(program)
            wrong = "" if what else f"not found in {SEEDS} seeds"
        print(f"{'ok' if not wrong else 'FAILED'}: {name}: {wrong or f'seed {seed}: {what}'}", flush=True)
        passed, failed = passed + (not wrong), failed + bool(wrong)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    BUILD_REL = os.path.relpath(BUILD)
    main()
