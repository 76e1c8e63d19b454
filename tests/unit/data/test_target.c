/* The course of a recovery beside a naive model of what has to happen in which order: with random ends of everything that it asks
 * for, and with all ends of a short one. */
#include "data/recovery/target.h"

#include "common/base/rand.h"

#include <check.h>
#include <string.h>

#define FILES       4
#define CHUNK_BYTES 10
#define BATCHES     3

static const uint64_t bytes[FILES] = {25, 7, 0, 40};
static bool have[FILES]; /* here already */

/* Plain data, so that a course can be copied and taken up from there in another way. */
static struct arena errors;

struct world {
    struct target t;
    struct target_view v;
    size_t n_files;
    uint64_t batches, ops; /* of the source; of each batch */
    bool by_files, moves;
    /* What is out. */
    bool job, question, yield;
    enum target_effect_kind job_kind, question_kind;
    unsigned writing;
    bool asked[TARGET_CHUNKS_MAX];
    /* What has been done. */
    size_t file;
    uint64_t offset; /* written of it */
    bool open, complete, took, synced, finalized, handed_over, left;
    bool hopeless;           /* what is on disk cannot be rolled back: only files help */
    uint64_t batch, applied; /* complete ones; of the next one */
    bool holds;              /* the limit of bytes a second is reached */
    enum target_end end;
};

static void skip_what_is_here(struct world *w)
{
    while (w->file < w->n_files && have[w->file]) {
        w->file++;
    }
}

static void step(struct world *w, const struct target_event *e)
{
    target_step(&w->t, e);
    target_invariant(&w->t);
}

/* From the beginning of an attempt: nothing counts any more that it has done. */
static void forget(struct world *w)
{
    w->file = 0;
    w->offset = 0;
    w->complete = w->synced = w->finalized = w->handed_over = false;
    w->batch = w->applied = 0;
    skip_what_is_here(w);
}

static bool nothing_out(const struct world *w)
{
    bool asked = false;
    for (unsigned i = 0; i < TARGET_CHUNKS_MAX; i++) {
        asked |= w->asked[i];
    }
    return !w->job && !w->question && !w->yield && !asked;
}

static void check_written(struct world *w, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct target_chunk *c = &w->t.chunks[(w->t.first + i) % TARGET_CHUNKS_MAX];
        ck_assert_uint_eq(c->file, w->file);
        ck_assert_uint_eq(c->offset, w->offset);
        w->offset += c->length;
        if (w->offset == bytes[w->file]) {
            w->file++;
            w->offset = 0;
            skip_what_is_here(w);
        }
    }
}

static void begin_job(struct world *w, const struct target_effect *f)
{
    ck_assert(!w->job && !w->question);
    w->job = true;
    w->job_kind = f->kind;
    if (f->kind == TARGET_DO_LOOK) {
        forget(w);
        w->open = false;
    } else if (f->kind == TARGET_DO_WRITE) {
        w->writing = f->n;
    } else if (f->kind == TARGET_DO_INSTALL) {
        ck_assert(nothing_out(w) || w->job);
        ck_assert_uint_eq(w->file, w->n_files);
    } else if (f->kind == TARGET_DO_ROLLBACK) {
        ck_assert(w->open);
        forget(w);
    }
}

static void ask(struct world *w, const struct target_effect *f)
{
    ck_assert(nothing_out(w));
    ck_assert(f->kind != TARGET_DO_START || w->t.no_history || !w->hopeless);
    ck_assert(f->kind != TARGET_DO_OPS || (w->took && f->batch == w->batch));
    ck_assert(f->kind != TARGET_DO_FINALIZE || (w->took && w->synced && w->batch == w->batches));
    ck_assert(f->kind != TARGET_DO_HANDOFF || (w->finalized && w->moves));
    w->question = true;
    w->question_kind = f->kind;
}

/* true: *e has come of it. */
static bool perform_now(struct world *w, struct rng *r, const struct target_effect *f, struct target_event *e)
{
    bool lucky = r == NULL || rng_below(r, 4) > 0;
    switch ((int)f->kind) {
    case TARGET_DO_CHUNK:
        ck_assert(!w->asked[f->slot] && w->t.step == TARGET_COPY);
        if (w->holds && !f->again) {
            e->kind = TARGET_CHUNK_HELD;
            return true;
        }
        w->asked[f->slot] = true;
        return false;
    case TARGET_DO_TAKE:
        ck_assert(w->open && w->complete);
        w->open = false;
        w->took = true;
        e->kind = TARGET_TAKEN;
        return true;
    case TARGET_DO_APPLY:
        if (!lucky && rng_below(r, 2) == 0) {
            e->kind = TARGET_NOT_YET;
            return true;
        }
        e->kind = TARGET_APPLIED;
        e->ops.n = w->ops - w->applied < 2 ? w->ops - w->applied : 2;
        if (!lucky && e->ops.n > 0) {
            static struct errmsg full = {.arena = &errors};
            err_set(&full, ERR_REJECTED, "full");
            e->ops.n = 1;
            e->error = &full;
        }
        w->applied += e->ops.n;
        w->synced = false;
        if (e->error == NULL && w->applied == w->ops) {
            w->batch++;
            w->applied = 0;
        }
        return true;
    case TARGET_DO_SYNC:
        w->synced = lucky;
        e->kind = lucky ? TARGET_SYNCED : TARGET_NOT_YET;
        return true;
    default:
        ck_assert_int_eq(f->kind, TARGET_DO_CLOSE);
        w->took = w->took && !lucky;
        e->kind = lucky ? TARGET_CLOSED : TARGET_BUSY;
        return true;
    }
}

static void leave(struct world *w, const struct target_effect *f)
{
    ck_assert(nothing_out(w) && !w->left);
    w->left = true;
    w->end = f->end;
    if (f->end == TARGET_GOES_ON) {
        ck_assert(w->took && w->synced && w->finalized && w->batch == w->batches);
        ck_assert(w->handed_over || !w->moves);
        ck_assert_uint_eq(w->t.term, w->v.term);
    }
}

/* Everything that the core wants until it waits for an event. */
static void settle(struct world *w, struct rng *r)
{
    struct target_effect f;
    while (!w->left && target_effect(&w->t, &w->v, &f)) {
        struct target_event e = {0};
        target_invariant(&w->t);
        if (f.kind == TARGET_DO_LEAVE) {
            leave(w, &f);
        } else if (f.kind <= TARGET_DO_ROLLBACK) {
            begin_job(w, &f);
        } else if (f.kind == TARGET_DO_YIELD) {
            ck_assert(nothing_out(w));
            w->yield = true;
        } else if (f.kind == TARGET_DO_START || (f.kind >= TARGET_DO_OPS && f.kind <= TARGET_DO_HANDOFF)) {
            ask(w, &f);
        } else if (f.kind == TARGET_DO_RESET) {
            ck_assert(nothing_out(w));
            forget(w);
        } else if (f.kind != TARGET_DO_ABANDON && perform_now(w, r, &f, &e)) {
            step(w, &e);
        }
    }
}

/* ---- ends of what is out -------------------------------------------------------------------------------- */

static void end_job(struct world *w, const struct errmsg *error)
{
    static const enum target_event_kind kinds[] = {[TARGET_DO_OPEN] = TARGET_OPENED,
                                                   [TARGET_DO_LOOK] = TARGET_LOOKED,
                                                   [TARGET_DO_WRITE] = TARGET_WRITTEN,
                                                   [TARGET_DO_INSTALL] = TARGET_INSTALLED,
                                                   [TARGET_DO_ROLLBACK] = TARGET_ROLLED_BACK};
    struct target_event e = {.kind = kinds[w->job_kind], .error = error};
    w->job = false;
    if (w->job_kind == TARGET_DO_OPEN) {
        w->open = e.has_engine = error == NULL;
    } else if (w->job_kind == TARGET_DO_LOOK) {
        e.files.bytes = bytes;
        e.files.have = have;
        e.files.n = error == NULL ? w->n_files : 0;
    } else if (w->job_kind == TARGET_DO_WRITE) {
        check_written(w, error == NULL ? w->writing : 0);
    } else {
        w->complete = error == NULL;
        w->hopeless = error != NULL && (w->hopeless || w->job_kind == TARGET_DO_ROLLBACK);
        w->open = error == NULL || (w->job_kind == TARGET_DO_ROLLBACK && w->open);
    }
    step(w, &e);
}

static void answer(struct world *w, struct rng *r, const struct errmsg *error)
{
    struct target_event e = {.kind = TARGET_LOST, .error = error};
    bool counts = error == NULL && w->t.end == TARGET_GOES_ON;
    w->question = false;
    if (error == NULL && w->question_kind == TARGET_DO_START) {
        e.kind = TARGET_STARTED;
        e.started.term = w->v.term;
        e.started.by_files = w->by_files || !w->open || w->t.no_history;
    } else if (error == NULL && w->question_kind == TARGET_DO_OPS) {
        e.kind = TARGET_GOT_OPS;
        e.ops.batch = w->batch;
        e.ops.n = w->ops;
        e.ops.more = w->batch + 1 < w->batches;
    } else if (error == NULL && w->question_kind == TARGET_DO_FINALIZE) {
        e.kind = TARGET_FINALIZED;
        e.finalized.in_sync = r == NULL || rng_below(r, 2) == 0;
        w->finalized = counts && e.finalized.in_sync;
        w->synced &= e.finalized.in_sync; /* it is asked again when more is on its disk */
        e.finalized.moves = w->moves;
    } else if (error == NULL) {
        e.kind = TARGET_HANDED_OVER;
        w->handed_over = counts;
    }
    step(w, &e);
}

static void end_chunk(struct world *w, unsigned slot, const struct errmsg *error)
{
    w->asked[slot] = false;
    step(w, &(struct target_event){
                .kind = error == NULL ? TARGET_CHUNK : TARGET_CHUNK_LOST, .error = error, .slot = slot});
}

/* The k-th of what is out ends so; false: there is none. */
static bool end_one(struct world *w, struct rng *r, unsigned k, const struct errmsg *error)
{
    if (w->job && k-- == 0) {
        end_job(w, error);
        return true;
    }
    if (w->question && k-- == 0) {
        answer(w, r, error);
        return true;
    }
    if (w->yield && k-- == 0) {
        w->yield = false;
        step(w, &(struct target_event){.kind = TARGET_RESUMED});
        return true;
    }
    for (unsigned i = 0; i < TARGET_CHUNKS_MAX; i++) {
        if (w->asked[i] && k-- == 0) {
            end_chunk(w, i, error);
            return true;
        }
    }
    return false;
}

/* From here on everything succeeds: it comes to its end. */
static void finish(struct world w)
{
    w.holds = false;
    for (int i = 0; i < 400 && !w.left; i++) {
        settle(&w, NULL);
        if (!w.left && !end_one(&w, NULL, 0, NULL)) {
            step(&w, &(struct target_event){.kind = TARGET_TICK});
        }
    }
    ck_assert(w.left);
}

static struct world world_new(bool by_files, bool moves, size_t n_files)
{
    struct world w;
    memset(&w, 0, sizeof(w));
    target_init(&w.t, CHUNK_BYTES, &errors);
    w.v = (struct target_view){true, 1};
    w.by_files = by_files;
    w.moves = moves;
    w.n_files = n_files;
    w.batches = BATCHES;
    w.ops = 3;
    return w;
}

static void error_of(struct errmsg *em, unsigned which)
{
    static const enum err codes[] = {ERR_NODE_DISCONNECTED, ERR_CORRUPT, ERR_NO_SHARD, ERR_IO, ERR_REJECTED};
    err_set(em, codes[which], "no");
}

/* ---- random courses ------------------------------------------------------------------------------------- */

static void happens(struct world *w, struct rng *r)
{
    ERR_LOCAL(em);
    switch (rng_below(r, 24)) {
    case 0:
        step(w, &(struct target_event){.kind = TARGET_TICK});
        return;
    case 1:
        step(w, &(struct target_event){.kind = TARGET_CHANGED});
        return;
    case 2:
        if (w->t.step > TARGET_ASK && w->t.step < TARGET_DONE && rng_below(r, 4) == 0) {
            step(w, &(struct target_event){.kind = TARGET_SOURCE_GONE});
        }
        return;
    case 3:
        w->v.term += rng_below(r, 8) == 0;
        return;
    case 4:
        w->holds = rng_below(r, 2) == 0;
        return;
    case 5:
    case 6:
        error_of(&em, (unsigned)rng_below(r, 5));
        end_one(w, r, (unsigned)rng_below(r, 5), &em);
        return;
    default:
        end_one(w, r, (unsigned)rng_below(r, 5), NULL);
    }
}

START_TEST(test_random)
{
    struct rng r;
    rng_seed(&r, (uint64_t)_i + 1);
    int complete = 0;
    for (int round = 0; round < 200; round++) {
        struct world w = world_new(rng_below(&r, 2) == 0, rng_below(&r, 2) == 0, rng_below(&r, FILES + 1));
        for (size_t i = 0; i < w.n_files; i++) {
            have[i] = rng_below(&r, 3) == 0;
        }
        settle(&w, &r);
        for (int i = 0; i < 300 && !w.left; i++) {
            happens(&w, &r);
            settle(&w, &r);
            if (i % 50 == 0) {
                finish(w);
            }
        }
        if (rng_below(&r, 2) == 0) {
            w.v.wanted = false;
        }
        finish(w);
        complete += w.left && w.end == TARGET_GOES_ON;
    }
    ck_assert_int_gt(complete, 5);
}
END_TEST

/* ---- all courses of a short one ------------------------------------------------------------------------- */

static void go_on(const struct world *from, int depth)
{
    if (from->left || depth == 0) {
        finish(*from);
        return;
    }
    for (unsigned k = 0; k < 1 + TARGET_CHUNKS_MAX; k++) {
        for (unsigned how = 0; how < 3; how++) {
            ERR_LOCAL(em);
            struct world w = *from;
            error_of(&em, how % 2);
            if (!end_one(&w, NULL, k, how == 2 ? NULL : &em)) {
                break;
            }
            settle(&w, NULL);
            go_on(&w, depth - 1);
        }
    }
    for (int kind = TARGET_CHANGED; kind <= TARGET_TICK; kind++) {
        struct world w = *from;
        step(&w, &(struct target_event){.kind = (enum target_event_kind)kind});
        settle(&w, NULL);
        if (memcmp(&w, from, sizeof(w)) != 0) {
            go_on(&w, depth - 1);
        }
    }
}

START_TEST(test_all)
{
    struct world w = world_new(true, false, 1); /* its one file comes in three parts */
    w.batches = 1;
    settle(&w, NULL);
    for (int i = 0; i < 3; i++) { /* opened, started, looked */
        ck_assert(end_one(&w, NULL, 0, NULL));
        settle(&w, NULL);
    }
    ck_assert_int_eq(w.t.step, TARGET_COPY);
    go_on(&w, 6);
}
END_TEST

/* A source whose disk is damaged is asked a few times; then the master should know. */
START_TEST(test_gives_up)
{
    ERR_LOCAL(em);
    struct world w = world_new(true, false, 1);
    settle(&w, NULL);
    end_one(&w, NULL, 0, NULL);
    for (int i = 0; i < TARGET_FAILURES_MAX; i++) {
        settle(&w, NULL);
        while (!w.left && !w.question) {
            step(&w, &(struct target_event){.kind = TARGET_TICK});
            settle(&w, NULL);
        }
        err_set(&em, ERR_IO, "a bad block");
        end_one(&w, NULL, 0, &em);
    }
    settle(&w, NULL);
    ck_assert(w.left && w.end == TARGET_FAILS);
    ck_assert_int_eq(err_code(&w.t.why), ERR_IO);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("target");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, test_random, 0, 10);
    tcase_add_test(c, test_all);
    tcase_add_test(c, test_gives_up);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
