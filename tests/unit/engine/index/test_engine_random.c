/* The engine against the naive model: random operations, jobs that overlap them, crashes. */
#include "tests/unit/engine/index/engine_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define VIEWS 4

struct run {
    struct rig rig;
    struct view *views[VIEWS]; /* kept, with what they must show */
    struct rig_doc shown[VIEWS][RIG_IDS];
    struct engine_flush *flush;
    struct engine_merge *merge;
    struct engine_sync *sync;
    int64_t sealed; /* operations that the sync or flush has */
    bool fresh;     /* nothing was applied since the last refresh */
    int64_t seen;   /* operations that searches see */
    int64_t since_open;
};

static void add_op(struct run *u)
{
    struct rig *r = &u->rig;
    struct rng *g = &r->rng;
    struct rig_doc now[RIG_IDS];
    rig_state(r, r->next - 1, now);
    unsigned id = (unsigned)rng_below(g, RIG_IDS);
    const struct rig_doc *d = &now[id];
    struct engine_op op;
    struct engine_result res;
    char id_text[16], text[64];
    uint64_t what = rng_below(g, 100);
    enum err want = ERR_OK;
    rig_make_op(&op, what < 70 ? OP_INDEX : what < 95 ? OP_DELETE : OP_NOOP, id, ++r->numbers, id_text, text);
    if (op.kind == OP_NOOP) {
        op.version = 0;
    } else if (rng_below(g, 4) == 0) {
        bool right = rng_below(g, 2) == 0;
        op.if_seq_no = d->seq_no + (right ? 0 : 1);
        op.if_primary_term = d->term;
        want = d->there && right ? ERR_OK : ERR_CONFLICT;
    } else if (op.kind == OP_INDEX && rng_below(g, 4) == 0) {
        op.version = VERSION_MUST_BE_NEW;
        want = d->there ? ERR_CONFLICT : ERR_OK;
    }
    int64_t before = r->next;
    enum err e = rig_primary(r, &op, &res, NULL);
    ck_assert_msg(e == want, "%s, not %s", err_type(e), err_type(want));
    if (e != ERR_OK) {
        ck_assert_int_eq(r->next, before);
        return;
    }
    u->fresh = false;
    if (op.kind == OP_INDEX) {
        ck_assert_int_eq(res.outcome, d->there ? OUTCOME_UPDATED : OUTCOME_CREATED);
    } else if (op.kind == OP_DELETE) {
        ck_assert_int_eq(res.outcome, d->there ? OUTCOME_DELETED : OUTCOME_NOT_FOUND);
    }
    if (op.kind != OP_NOOP && d->there) {
        ck_assert_int_eq(res.version, d->version + 1);
    } else if (op.kind != OP_NOOP && d->version > 0 && d->seq_no >= u->since_open) {
        ck_assert(res.version == d->version + 1); /* the clock stands still: its tombstone is there */
    }
}

static void finish_sync(struct run *u)
{
    if (u->sync != NULL) {
        engine_sync_run(u->sync);
        ck_assert_int_eq(engine_sync_finish(u->rig.e, u->sync, NULL), ERR_OK);
        u->sync = NULL;
        u->rig.acked = u->sealed;
        ck_assert_int_ge(engine_persisted_checkpoint(u->rig.e), u->sealed);
    }
}

/* Searches see what was there at the last refresh: flushes and merges show nothing more. */
static void check_seen(struct run *u)
{
    static struct rig_doc want[RIG_IDS];
    rig_state(&u->rig, u->seen - 1, want);
    struct view *v = engine_view_ref(u->rig.e);
    rig_check_view(v, want);
    view_unref(v);
}

static void finish_flush(struct run *u)
{
    if (u->flush == NULL) {
        return;
    }
    finish_sync(u);
    if (engine_durable(u->rig.e) < engine_flush_location(u->flush)) {
        ck_assert_int_eq(engine_sync(u->rig.e, NULL), ERR_OK);
        u->rig.acked = u->rig.next - 1;
    }
    engine_flush_run(u->flush);
    ck_assert_int_eq(engine_flush_finish(u->rig.e, u->flush, NULL), ERR_OK);
    u->flush = NULL;
}

static void finish_merge(struct run *u)
{
    if (u->merge != NULL) {
        engine_merge_run(u->merge);
        ERR_LOCAL(em);
        enum err e = engine_merge_commit(u->rig.e, u->merge, &em);
        ck_assert_msg(e == ERR_OK || e == ERR_CANCELLED, "merge: %s", err_reason(&em));
        u->merge = NULL;
        check_seen(u);
        ck_assert_int_eq(engine_show_merged(u->rig.e, NULL), ERR_OK);
        check_seen(u);
    }
}

static void drop_views(struct run *u)
{
    for (unsigned i = 0; i < VIEWS; i++) {
        if (u->views[i] != NULL) {
            rig_check_view(u->views[i], u->shown[i]);
            view_unref(u->views[i]);
            u->views[i] = NULL;
        }
    }
}

static void keep_view(struct run *u)
{
    unsigned i = (unsigned)rng_below(&u->rig.rng, VIEWS);
    if (u->views[i] != NULL) {
        rig_check_view(u->views[i], u->shown[i]);
        view_unref(u->views[i]);
    }
    u->views[i] = engine_view_ref(u->rig.e);
    rig_state(&u->rig, u->rig.next - 1, u->shown[i]);
    rig_check_view(u->views[i], u->shown[i]);
}

static void refresh(struct run *u)
{
    bool changed;
    uint64_t before = engine_refreshed(u->rig.e);
    ck_assert_int_eq(engine_refresh(u->rig.e, &changed, NULL), ERR_OK);
    ck_assert_uint_ge(engine_refreshed(u->rig.e), before);
    ck_assert_uint_eq(engine_refreshed(u->rig.e), engine_location(u->rig.e));
    ck_assert(!engine_refresh_needed(u->rig.e));
    u->fresh = true;
    u->seen = u->rig.next;
    keep_view(u);
}

static void reopened(struct run *u)
{
    u->fresh = true;
    u->seen = u->rig.next;
    u->since_open = u->rig.next;
}

static void restart(struct run *u)
{
    finish_flush(u);
    finish_sync(u);
    finish_merge(u);
    if (rng_below(&u->rig.rng, 2) == 0) { /* an orderly end */
        drop_views(u);
        engine_close(u->rig.e);
        u->rig.e = NULL;
        u->rig.acked = u->rig.next - 1;
    } else {
        drop_views(u);
        rig_crash(&u->rig, (unsigned)rng_below(&u->rig.rng, 3));
    }
    rig_recover(&u->rig);
    reopened(u);
}

static void roll_back(struct run *u)
{
    finish_flush(u);
    finish_sync(u);
    struct rig *r = &u->rig;
    int64_t low = engine_global_checkpoint(r->e),
            to = low + (int64_t)rng_below(&r->rng, (uint64_t)(r->next - low));
    if (engine_persisted_global_checkpoint(r->e) < low) {
        ck_assert_int_eq(engine_sync(r->e, NULL), ERR_OK);
    }
    ck_assert_int_eq(engine_rollback(r->e, to, NULL), ERR_OK);
    r->term++;
    if (to + 1 < r->next) {
        r->next = to + 1;
        r->acked = to;
        reopened(u);
    }
    rig_check(r, u->fresh);
}

static void check_history(struct run *u)
{
    struct rig *r = &u->rig;
    struct engine_history *h;
    int64_t from = MAX_OF(engine_history_from(r->e), 0);
    ck_assert_int_le(from, r->next);
    ck_assert_int_eq(engine_history_open(&h, r->e, from, INT64_MAX, NULL), ERR_OK);
    static bool seen[RIG_OPS];
    memset(seen, 0, sizeof(seen));
    for (bool more = true; more;) {
        struct engine_op op;
        ck_assert_int_eq(engine_history_next(h, &op, &more, NULL), ERR_OK);
        if (more) {
            ck_assert(op.seq_no >= from && op.seq_no < r->next && !seen[op.seq_no]);
            seen[op.seq_no] = true;
            ck_assert_int_eq(op.kind, r->ops[op.seq_no].kind);
            ck_assert_int_eq(op.version, r->ops[op.seq_no].version);
        }
    }
    for (int64_t s = from; s < r->next; s++) {
        ck_assert_msg(seen[s], "operation %lld is not in the history", (long long)s);
    }
    engine_history_close(h);
}

/* A copy made of a commit's files is that commit. */
static void check_copy(struct run *u)
{
    struct rig *r = &u->rig;
    const struct fs *fs = r->opts.fs;
    const struct engine_commit *c = engine_commit_ref(r->e, rng_below(&r->rng, 2) == 0);
    if (c == NULL) {
        return;
    }
    struct engine_opts o = r->opts;
    o.dir = "/copy";
    o.mode = ENGINE_EXISTING;
    ck_assert_int_eq(fs->remove_tree(fs->self, "/copy", NULL), ERR_OK);
    ck_assert_int_eq(fs->make_dir(fs->self, "/copy", NULL), ERR_OK);
    for (size_t i = 0; i < c->n_files; i++) {
        char from[128], to[128];
        struct fs_map map;
        struct fs_file *f;
        snprintf(from, sizeof(from), "/shard/%s", c->files[i].name.p);
        snprintf(to, sizeof(to), "/copy/" ENGINE_RECEIVED_PREFIX "%s", c->files[i].name.p);
        ck_assert_int_eq(fs->map(fs->self, from, &map, NULL), ERR_OK);
        ck_assert_uint_eq(map.n, c->files[i].bytes);
        ck_assert_int_eq(fs->open(fs->self, to, true, &f, NULL), ERR_OK);
        ck_assert_int_eq(fs->write(fs->self, f, map.p, map.n, NULL), ERR_OK);
        ck_assert_int_eq(fs->sync(fs->self, f, NULL), ERR_OK);
        fs->close(fs->self, f);
        fs->unmap(fs->self, &map);
    }
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    bool *have;
    const struct engine_file *files;
    size_t n;
    ck_assert_int_eq(engine_files_present(fs, "/copy", c->manifest, &a, &have, &files, &n, NULL), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        ck_assert(have[i]);
    }
    struct engine *e;
    ERR_LOCAL(em);
    int64_t global = rng_below(&r->rng, 2) == 0 ? engine_global_checkpoint(r->e) : SEQ_NONE;
    o.user_data = rng_below(&r->rng, 2) == 0 ? STR("a copy") : STR_NULL;
    ck_assert_int_eq(engine_install(&o, c->manifest, global, &em), ERR_OK);
    ck_assert_int_eq(engine_open(&e, &o, &em), ERR_OK);
    ck_assert(o.user_data.n == 0 || str_eq(engine_user_data(e), o.user_data));
    ck_assert_int_ge(engine_global_checkpoint(e), MIN_OF(global, c->local_checkpoint));
    ck_assert_int_le(engine_global_checkpoint(e), c->local_checkpoint);
    struct rig_doc want[RIG_IDS];
    rig_state(r, c->max_seq_no, want);
    struct view *v = engine_view_ref(e);
    rig_check_view(v, want);
    view_unref(v);
    ck_assert_int_eq(engine_max_seq_no(e), c->max_seq_no);
    ck_assert_int_eq(engine_history_from(e), c->local_checkpoint + 1);
    engine_invariant(e);
    engine_close(e);
    engine_commit_unref(r->e, c);
    arena_fini(&a);
}

static void step(struct run *u)
{
    struct rig *r = &u->rig;
    uint64_t what = rng_below(&r->rng, 1000);
    if (what < 600) {
        add_op(u);
    } else if (what < 680) {
        refresh(u);
    } else if (what < 700) {
        ck_assert_int_eq(engine_spill(r->e, NULL), ERR_OK);
    } else if (what < 760) {
        finish_sync(u);
        ck_assert_int_eq(engine_sync_begin(r->e, &u->sync, NULL), ERR_OK);
        u->sealed = r->next - 1;
    } else if (what < 800) {
        finish_sync(u);
        engine_set_global_checkpoint(r->e, (int64_t)rng_below(&r->rng, (uint64_t)(r->acked + 2)) - 1);
    } else if (what < 850) {
        finish_flush(u);
        ck_assert_int_eq(engine_flush_begin(r->e, rng_below(&r->rng, 3) == 0, &u->flush, NULL), ERR_OK);
        check_seen(u);
    } else if (what < 910) {
        finish_merge(u);
        struct engine_merge_wish wish = {.max_segments = (uint32_t)rng_below(&r->rng, 4),
                                         .only_expunge_deletes = rng_below(&r->rng, 3) == 0};
        ck_assert_int_eq(engine_merge_plan(r->e, &wish, &u->merge, NULL), ERR_OK);
        if (u->merge != NULL && rng_below(&r->rng, 10) == 0) {
            engine_merge_cancel(u->merge);
        }
    } else if (what < 940) {
        finish_merge(u);
        finish_flush(u);
    } else if (what < 950) {
        check_history(u);
    } else if (what < 960) {
        check_copy(u);
    } else if (what < 975) {
        roll_back(u);
    } else if (what < 990) {
        restart(u);
    } else {
        engine_set_retention(r->e, rng_below(&r->rng, 2) == 0 ? INT64_MAX : r->next / 2);
        if (u->flush == NULL) {
            engine_trim(r->e);
        }
        rig_check(r, u->fresh);
    }
    engine_invariant(r->e);
}

START_TEST(random_runs)
{
    struct run *u = calloc(1, sizeof(*u));
    rig_init(&u->rig, (uint64_t)_i);
    struct engine_settings *s = &u->rig.opts.settings;
    s->generation_bytes = 2000;
    s->memory_segment_bytes_max = _i % 3 == 0 ? 0 : _i % 3 == 1 ? 2500 : 1 * MIB;
    s->buffer_bytes_max = _i % 4 == 0 ? 1 : 32 * MIB;
    s->retention_bytes = 10000;
    s->merge.segments_per_tier = 3;
    s->merge.max_merge_at_once = 3;
    s->merge.floor_bytes = 4000;
    rig_open(&u->rig, ENGINE_CREATE);
    for (int i = 0; i < 2500; i++) {
        step(u);
    }
    finish_flush(u);
    finish_sync(u);
    finish_merge(u);
    ck_assert_int_eq(engine_flush(u->rig.e, true, NULL), ERR_OK);
    check_seen(u);
    ck_assert_int_eq(engine_refresh(u->rig.e, NULL, NULL), ERR_OK);
    rig_check(&u->rig, true);
    u->rig.acked = u->rig.next - 1;
    drop_views(u);
    rig_crash(&u->rig, 1);
    rig_recover(&u->rig);
    ck_assert(str_is(engine_user_data(u->rig.e), "history"));
    rig_fini(&u->rig);
    free(u);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, random_runs, 0, 24);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
