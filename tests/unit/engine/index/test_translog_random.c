/* A translog at random, with crashes: what was durable is there, and nothing else. */
#include "common/base/rand.h"
#include "tests/unit/engine/index/translog_rig.h"

enum crash { CRASH_KILL, CRASH_DROP, CRASH_RANDOM };

/* A translog at random, and what it must hold: of each operation whether it was logged, and whether that is durable. */
struct course {
    int seed;
    struct rng r;
    struct fs_mem *disk;
    const struct fs *fs;
    struct tlog_opts o;
    struct translog t;
    int64_t next, global;
    int64_t oldest; /* what was trimmed may come back with a name that was not synced */
    uint64_t first;
    bool logged[OPS], durable[OPS], got[OPS];
};

static void roll_back(struct course *c)
{
    int64_t back = (int64_t)rng_below(&c->r, 20), to = MAX_OF(0, c->next - back);
    ck_assert_int_eq(translog_roll(&c->t, to, NULL), ERR_OK);
    ck_assert_int_eq(sync_all(&c->t, c->durable), ERR_OK);
    for (int64_t s = to + 1; s < c->next; s++) {
        c->logged[s] = c->durable[s] = false;
    }
    c->next = MIN_OF(c->next, to + 1);
}

static void trim(struct course *c)
{
    translog_trim(&c->t, c->first + rng_below(&c->r, 10));
    c->first = c->t.gens[0].header.generation;
    c->oldest = MAX_OF(c->oldest, translog_history_from(&c->t));
    read_all(&c->t, c->first, c->got);
    for (int64_t s = 0; s < c->next && s < translog_history_from(&c->t); s++) {
        c->logged[s] = c->durable[s] = c->got[s]; /* what went is no longer promised */
    }
}

/* Perhaps in the middle of a write that fails. */
static void crash(struct course *c)
{
    struct tlog_job *j = NULL;
    if (rng_below(&c->r, 2) == 0) {
        ck_assert_int_eq(translog_seal(&c->t, &j, NULL), ERR_OK);
        if (j != NULL) {
            fs_mem_fail_at(c->disk, 1 + rng_below(&c->r, 6),
                           rng_below(&c->r, 2) == 0 ? FS_MEM_FAIL : FS_MEM_TEAR);
            translog_job_run(j);
            fs_mem_fail_at(c->disk, 0, FS_MEM_FAIL);
            translog_job_finish(&c->t, j, nobody, c->durable, NULL);
        }
    }
    enum crash how = (enum crash)rng_below(&c->r, 3);
    if (how == CRASH_KILL) {
        fs_mem_kill(c->disk);
    } else if (how == CRASH_DROP) {
        fs_mem_drop_unsynced(c->disk);
    } else {
        fs_mem_crash(c->disk, &c->r);
    }
    translog_fini(&c->t);
}

/* What was durable is there, in order, and nothing that was not appended. */
static void reopen(struct course *c)
{
    ERR_LOCAL(em);
    enum err e = translog_open(&c->t, &c->o, c->first, &em);
    ck_assert_msg(e == ERR_OK, "seed %d: %s", c->seed, err_reason(&em));
    c->fs->sync_dir(c->fs->self, "/s", NULL);
    read_all(&c->t, 0, c->got);
    bool ended = false;
    for (int64_t s = 0; s < c->next; s++) {
        ck_assert_msg(c->got[s] || !c->durable[s], "seed %d: %lld lost", c->seed, (long long)s);
        ck_assert_msg(!c->got[s] || c->logged[s] || s < c->oldest, "seed %d: %lld from nowhere", c->seed,
                      (long long)s);
        ended |= c->logged[s] && !c->got[s];
        ck_assert(!ended || !c->got[s]); /* a prefix */
    }
    memcpy(c->logged, c->got, sizeof(c->got));
    memcpy(c->durable, c->got, sizeof(c->got));
    while (c->next > 0 && !c->logged[c->next - 1] && c->next > translog_history_from(&c->t)) {
        c->next--;
    }
    ck_assert_int_le(c->t.global_noted, c->global);
    c->global = c->t.global_noted;
}

static void one_step(struct course *c)
{
    uint64_t what = rng_below(&c->r, 1000);
    if (what < 700) {
        append(&c->t, c->next);
        c->logged[c->next++] = true;
    } else if (what < 750) {
        struct tlog_mark m = translog_mark(&c->t);
        append(&c->t, c->next);
        translog_unappend(&c->t, m);
    } else if (what < 900) {
        ck_assert_int_eq(sync_all(&c->t, c->durable), ERR_OK);
        ck_assert_uint_eq(c->t.durable, c->t.location);
        ck_assert_uint_eq(c->t.tail_bytes, 0);
    } else if (what < 920) {
        ck_assert_int_eq(translog_note_global(&c->t, ++c->global, NULL), ERR_OK);
    } else if (what < 940) {
        ck_assert_int_eq(translog_roll(&c->t, TLOG_NO_TRIM, NULL), ERR_OK);
    } else if (what < 950) {
        roll_back(c);
    } else if (what < 960) {
        trim(c);
    } else if (what < 980) {
        read_all(&c->t, 0, c->got);
        ck_assert_int_eq(memcmp(c->got, c->logged, sizeof(c->got)), 0);
    } else {
        crash(c);
        reopen(c);
    }
}

/* Appends, rolls, rollbacks, trims, taken-back appends, crashes. */
START_TEST(random_with_crashes)
{
    static struct course c;
    clock_sim_init(&clk, 1000);
    c = (struct course){.seed = _i, .disk = fs_mem_new(), .global = -1, .first = 1};
    rng_seed(&c.r, (uint64_t)_i);
    c.fs = fs_mem_fs(c.disk);
    c.o = opts(c.fs);
    ck_assert_int_eq(c.fs->make_dir(c.fs->self, "/s", NULL), ERR_OK);
    ck_assert_int_eq(translog_create(&c.t, &c.o, 1, -1, -1, NULL), ERR_OK);
    ck_assert_int_eq(c.fs->sync_dir(c.fs->self, "/s", NULL), ERR_OK);
    ck_assert_int_eq(c.fs->sync_dir(c.fs->self, "/", NULL), ERR_OK);
    for (unsigned steps = 0; steps < 2500 && c.next < OPS - 20; steps++) {
        one_step(&c);
    }
    translog_fini(&c.t);
    fs_mem_free(c.disk);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("translog: random");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, random_with_crashes, 0, 60);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
