#!/usr/bin/env python3
"""Would the simulator find a bug? Deliberate ones are put into the protocols, one at a time, each in a simulator of its own: a
seed that found it (mutants.seeds) is tried first, then the seeds from 1 on, 1,000 of them; the long form does not use what is known. MUTANT=name: only that."""
import os
import re
import subprocess
import sys

BUILD = os.environ.get("BUILD", "build")
LONG = os.environ.get("LONG") == "1"
SEEDS = 3000

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
    ("answer_before_fsync", "data/replication/replica.c", "    if (sh->index->async || engine_durable(sh->engine) >= r->waiter.location) {",
     "    if (true) {"),
    ("primary_answers_before_fsync", "data/service/write.c", "    if (r->waiter.location <= engine_durable(en) || r->sh->index->async) {",
     "    if (true) {"),
    ("answer_before_copies", "data/service/write.c", "    } else if (fanout_settled(r->fanout, &em)) {", "    } else if (true) {"),
    ("failed_copy_forgotten", "data/replication/group.c", "    } else if (c->gone || m->kind == GROUP_REFRESH) {", "    } else if (true) {"),
    ("files_installed_early", "data/recovery/target.c", "    if (t->n_chunks > 0 || t->file < t->n_files) {", "    if (t->n_chunks > 0 && t->file < t->n_files) {"),
    ("old_terms_taken", "data/replication/follower.c", "    } else if (term < newest || (v->primary && term == newest)) {", "    } else if (false) {"),
    ("retries_applied_again", "engine/index/op_ids.c", "    if (o->n == 0 || id.session == 0) {\n        return NULL;", "    if (true) {\n        return NULL;"),
    ("older_state_wins", "master/safety.c", "    if (v->accepted_term > mine || (v->accepted_term == mine && v->accepted_version > s->accepted->version)) {",
     "    if (false) {"),
    ("vote_not_durable", "master/election.c", "        e->ticket = ticket;\n        e->message.has_vote = true;",
     "        e->message.has_vote = true;"),
    ("accept_not_durable", "master/publication.c", "        r->ticket = ticket;\n        election_repeat_vote",
     "        election_repeat_vote"),
    ("own_acceptance_at_once", "master/publication.c", "    if (p == NULL || p->own_ticket == 0 || q->durable < p->own_ticket) {",
     "    if (p == NULL || p->own_ticket == 0) {"),
    ("state_not_synced", "master/state_log.c", "        b.failed || payload.failed ? err_no_memory(em) : l->fs->write(l->fs->self, l->file, b.p, b.n, em);\n    e = e == ERR_OK ? l->fs->sync(l->fs->self, l->file, em) : e;",
     "        b.failed || payload.failed ? err_no_memory(em) : l->fs->write(l->fs->self, l->file, b.p, b.n, em);"),
    ("told_durable_when_begun", "master/quorum_driver.c", "    d->write_ticket = d->next_ticket;",
     "    d->write_ticket = d->durable = d->next_ticket;"),
    ("checkpoint_runs_ahead", "data/replication/tracker.c", "            lowest = MIN_OF(lowest, t->v[i].local_checkpoint);",
     "            lowest = str_eq(t->v[i].allocation_id, t->own) ? t->v[i].local_checkpoint : lowest;"),
    ("recovery_without_primary", "master/allocation.c", "        if (s->copies[i].state == COPY_INITIALIZING) {",
     "        if (false) {"),
    ("started_not_in_sync", "master/reported.c", "        } else {\n            ok = replace_in_sync(mine, shard, str_set_with(in, allocation_id, arena));",
     "        } else if (c->primary) {\n            ok = replace_in_sync(mine, shard, str_set_with(in, allocation_id, arena));"),
    ("even_voters", "master/voting.c", "    return n - (n % 2 == 0 && n > 0 ? 1 : 0);",
     "    return n;"),
    ("any_copy_on_disk", "master/assign.c", "        return str_set_has(&m->in_sync[shard], f->allocation_id);",
     "        return true;"),
    ("urgent_tasks_wait", "master/batch.c", "    for (int p = (int)t->priority; p >= 0 && at == &c->queue; p--) { /* what is as urgent came first */",
     "    for (int p = TASK_PRIORITIES - 1; p >= 0 && at == &c->queue; p--) {"),
    ("persisted_when_processed", "engine/index/engine_ops.c", "    if (e->replaying) {\n        seq_tracker_mark(&e->persisted, op->seq_no);",
     "    if (true) {\n        seq_tracker_mark(&e->persisted, op->seq_no);"),
    ("compare_and_set_ignored", "engine/index/engine_ops.c", "        || (!absent && f->seq_no == op->if_seq_no && f->primary_term == op->if_primary_term)) {",
     "        || !absent) {"),
    ("in_sync_too_early", "data/replication/tracker.c", "    bool far = c->local_checkpoint >= t->global_checkpoint && c->local_checkpoint >= c->floor;",
     "    bool far = true;"),
    ("checksums_not_looked_at", "engine/index/seg_check.c", "    return hash_bytes(s->p + from, n, block) == load_u64(s->checks->sums + 8 * block);",
     "    return n > 0;"),
    ("damaged_copy_preferred", "master/assign.c", "    return failed << 2 | (f->damaged ? 2U : 0) | (last ? 0 : 1U);",
     "    return last ? 0 : failed << 2 | (f->damaged ? 2U : 0) | 1U;"),
    ("marks_ignored", "engine/index/translog_record.c", "    const struct tlog_synced *m = &h->mark;\n    const char *what",
     "    if (h->generation > 0) {\n        return ERR_OK;\n    }\n    const struct tlog_synced *m = &h->mark;\n    const char *what"),
    ("own_log_never_doubted", "data/recovery/send.c", "        if (run->result == ERR_CORRUPT) {",
     "        if (false) {"),
]
# What disks do must be in every seed.
DAMAGE = {"checksums_not_looked_at", "damaged_copy_preferred", "marks_ignored", "own_log_never_doubted"}


def seeds_of(path):
    known = {}
    if os.path.exists(path):
        with open(path, encoding="utf-8") as f:
            for line in f:
                if not line.startswith("#") and line.strip():
                    name, seed = line.split()
                    known[name] = int(seed)
    return known


def write(name, file, old, new):
    """The changed file; says what is wrong, or nothing."""
    with open(file, encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        return f"what it changes in {file} stands there {text.count(old)} times"
    folder = os.path.join(BUILD, "mutants")
    os.makedirs(folder, exist_ok=True)
    if os.path.exists(os.path.join(folder, name)):
        os.remove(os.path.join(folder, name))
    with open(os.path.join(folder, name + ".c"), "w", encoding="utf-8") as f:
        f.write(text.replace(old, new))
    return ""


def build(names):
    """All at once; what the compiler said of those that could not be built."""
    jobs = f"-j{os.cpu_count() or 1}"
    p = subprocess.run(["make", "--no-print-directory", jobs, "-k", f"BUILD={BUILD_REL}"] + [f"{BUILD_REL}/mutants/{n}" for n in names],
                       capture_output=True, text=True)
    return "" if p.returncode == 0 else p.stdout[-2000:] + p.stderr[-2000:]


def more(program):
    return ["--damage"] if os.path.basename(program) in DAMAGE else []


def fails(program, seed):
    """Does that seed find it?"""
    try:
        p = subprocess.run([program, "--seed", str(seed), "--runs", "1"] + more(program), capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return "it did not end"
    said = p.stdout.strip() or p.stderr.strip() or f"status {p.returncode}"
    return said.splitlines()[-1] if p.returncode != 0 else ""


def search(program):
    jobs = str(os.cpu_count() or 1)
    for first in range(1, SEEDS + 1, 50):
        p = subprocess.run([program, "--seed", str(first), "--runs", "50", "--jobs", jobs] + more(program), capture_output=True, text=True)
        m = re.search(r"^seed (\d+): (.*)$", p.stdout, re.M)
        if m:
            return int(m.group(1)), m.group(2)
    return None, ""


def main():
    known = seeds_of(os.path.join(os.path.dirname(os.path.abspath(__file__)), "mutants.seeds"))
    passed = failed = 0
    wanted = [m for m in MUTANTS if os.environ.get("MUTANT", m[0]) == m[0]]
    wrongs = {m[0]: write(*m) for m in wanted}
    said = build([name for name, wrong in wrongs.items() if not wrong])
    for name, _, _, _ in wanted:
        wrong = wrongs[name]
        program = os.path.join(BUILD, "mutants", name)
        if not wrong and not os.path.exists(program):
            wrong = said or "not built"
        if not wrong:
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
