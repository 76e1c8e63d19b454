/* Every I/O call fails once, and every allocation; then the plug is pulled. What was acknowledged is there,
 * what is there is a prefix of what was done, and the copy goes on. */
#include "engine/index/translog_record.h"
#include "tests/unit/engine/index/engine_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct rig rig;
static unsigned tolerated; /* errors that did not fail the engine */

static bool failed(void)
{
    return rig.e == NULL || engine_failure(rig.e, NULL) != ERR_OK;
}

/* An error is either the engine's failure, or nothing happened. */
static bool ok(enum err e)
{
    tolerated += e != ERR_OK && !failed();
    return e == ERR_OK;
}

static void sync_now(void)
{
    int64_t last = rig.next - 1;
    if (ok(engine_sync(rig.e, NULL))) {
        rig.acked = last;
    }
}

static void flush_now(void)
{
    int64_t last = rig.next - 1;
    if (ok(engine_flush(rig.e, true, NULL))) {
        rig.acked = last;
    }
}

static void merge_now(uint32_t to)
{
    struct engine_merge *m = NULL;
    struct engine_merge_wish wish = {.max_segments = to};
    if (ok(engine_merge_plan(rig.e, &wish, &m, NULL)) && m != NULL) {
        rig_delete(&rig, 2, NULL);
        engine_merge_run(m);
        rig_index(&rig, 3, NULL);
        ok(engine_merge_commit(rig.e, m, NULL));
    }
}

static void rollback_now(int64_t to)
{
    int64_t acked = rig.acked;
    if (to >= rig.next - 1) {
        ok(engine_rollback(rig.e, to, NULL)); /* nothing to do, and nothing synced */
        return;
    }
    rig.acked = MIN_OF(acked, to); /* from here on, what is above it may be gone */
    enum err e = engine_rollback(rig.e, to, NULL);
    if (ok(e)) {
        rig.next = to + 1;
        rig.acked = to;
    } else if (!failed()) {
        rig.acked = acked;
    }
}

/* A bit of everything. Stops when the engine has failed. */
static void story(unsigned rounds)
{
    for (unsigned round = 0; round < rounds && !failed(); round++) {
        for (unsigned i = 0; i < 5 && !failed(); i++) {
            ok(rig_index(&rig, (i * 3 + round) % 8, NULL));
        }
        ok(rig_delete(&rig, round % 8, NULL));
        ok(engine_refresh(rig.e, NULL, NULL));
        sync_now();
        engine_set_global_checkpoint(rig.e, engine_persisted_checkpoint(rig.e) - 1);
        ok(rig_index(&rig, 1, NULL));
        if (round % 2 == 1) {
            sync_now();
        }
        flush_now();
        ok(rig_index(&rig, 4, NULL));
        ok(engine_refresh(rig.e, NULL, NULL));
        merge_now(round % 2 == 0 ? 1 : 2);
        ok(engine_refresh(rig.e, NULL, NULL));
        if (round == 1 && !failed()) {
            rollback_now(engine_global_checkpoint(rig.e) + 1);
        }
        engine_invariant(rig.e);
    }
    if (!failed()) {
        ok(rig_index(&rig, 9, NULL));
        flush_now();
        ok(rig_index(&rig, 10, NULL));
        sync_now();
        ok(rig_index(&rig, 11, NULL));
    }
}

/* A failed engine takes nothing and shows what it showed. */
static void check_failed(void)
{
    if (rig.e == NULL || !failed()) {
        return;
    }
    ERR_LOCAL(em);
    int64_t next = rig.next;
    ck_assert_int_ne(rig_index(&rig, 1, &em), ERR_OK);
    ck_assert_int_eq(rig.next, next);
    ck_assert_int_ne(engine_flush(rig.e, true, NULL), ERR_OK);
    struct view *v = engine_view_ref(rig.e);
    ck_assert_ptr_nonnull(v);
    view_unref(v);
}

static void go_on_and_close(void)
{
    story(1);
    ck_assert(!failed());
    ck_assert_int_eq(engine_flush(rig.e, false, NULL), ERR_OK);
    ck_assert_int_eq(engine_refresh(rig.e, NULL, NULL), ERR_OK);
    rig_check(&rig, true);
    rig.acked = rig.next - 1;
    rig_crash(&rig, 1);
    rig_recover(&rig);
    rig_fini(&rig);
}

static void set_small(unsigned variant)
{
    struct engine_settings *s = &rig.opts.settings;
    s->generation_bytes = 700;
    s->memory_segment_bytes_max = variant % 2 == 0 ? 0 : 1 * MIB;
}

/* _i: how it fails × how it ends × variant */
START_TEST(io_sweep)
{
    enum fs_mem_fault how = (enum fs_mem_fault)(_i % 4);
    unsigned end = (unsigned)_i / 4 % 3, variant = (unsigned)_i / 12;
    bool fired = true;
    unsigned runs = 0;
    for (uint64_t n = 1; fired; n++, runs++) {
        rig_init(&rig, n);
        set_small(variant);
        fs_mem_fail_at(rig.disk, n, how);
        rig.opts.mode = ENGINE_CREATE;
        if (engine_open(&rig.e, &rig.opts, NULL) == ERR_OK) {
            story(3);
        }
        fired = fs_mem_fired(rig.disk);
        check_failed();
        fs_mem_fail_at(rig.disk, 0, FS_MEM_FAIL);
        if (rig.e == NULL) { /* it failed while it was made: made again from whatever that left */
            rig_crash(&rig, end);
            rig_open(&rig, ENGINE_OPEN_OR_CREATE);
        } else {
            rig_crash(&rig, end);
            rig_recover(&rig);
        }
        go_on_and_close();
    }
    ck_assert_uint_gt(runs, 100);
}
END_TEST

/* The same for the calls of a recovery. */
START_TEST(io_sweep_of_recovery)
{
    enum fs_mem_fault how = (enum fs_mem_fault)(_i % 4);
    bool fired = true;
    for (uint64_t n = 1; fired; n++) {
        rig_init(&rig, n);
        set_small(n % 2);
        rig_open(&rig, ENGINE_CREATE);
        story(3);
        rig_crash(&rig, (unsigned)_i / 4);
        fs_mem_fail_at(rig.disk, n, how);
        rig.opts.mode = ENGINE_EXISTING;
        if (engine_open(&rig.e, &rig.opts, NULL) == ERR_OK) {
            ck_assert_int_ge(engine_max_seq_no(rig.e), rig.acked);
            ck_assert_int_lt(engine_max_seq_no(rig.e), rig.next);
            rig.acked = engine_max_seq_no(rig.e);
            rig.next = rig.acked + 1;
            rig_check(&rig, false);
        }
        fired = fs_mem_fired(rig.disk);
        fs_mem_fail_at(rig.disk, 0, FS_MEM_FAIL);
        rig_crash(&rig, (unsigned)_i / 4);
        rig_recover(&rig);
        go_on_and_close();
    }
}
END_TEST

/* A rollback that fails at any of its calls leaves a commit of what it was to forget, older than the one that it made: the next
 * rollback forgets that one, too. */
START_TEST(io_sweep_of_rollbacks)
{
    bool fired = true;
    unsigned runs = 0;
    for (uint64_t n = 1; fired; n++, runs++) {
        rig_init(&rig, n);
        rig_open(&rig, ENGINE_CREATE);
        ck_assert_int_eq(rig_index(&rig, 1, NULL), ERR_OK);
        flush_now();
        ck_assert_int_eq(rig_index(&rig, 2, NULL), ERR_OK);
        sync_now();
        engine_set_global_checkpoint(rig.e, 1);
        ck_assert_int_eq(rig_index(&rig, 3, NULL), ERR_OK);
        flush_now();
        ck_assert_int_eq(engine_set_user_data(rig.e, STR("renamed"), NULL), ERR_OK);
        fs_mem_fail_at(rig.disk, n, FS_MEM_FAIL);
        rollback_now(1);
        fired = fs_mem_fired(rig.disk);
        fs_mem_fail_at(rig.disk, 0, FS_MEM_FAIL);
        rig_crash(&rig, (unsigned)_i);
        rig_recover(&rig);
        ck_assert_int_eq(engine_set_user_data(rig.e, STR("again"), NULL), ERR_OK);
        rollback_now(1);
        ck_assert(!failed());
        engine_invariant(rig.e);
        rig_check(&rig, true);
        go_on_and_close();
    }
    ck_assert_uint_gt(runs, 10);
}
END_TEST

START_TEST(disk_full)
{
    for (uint64_t room = 500; room < 16000; room += 331) {
        rig_init(&rig, room);
        set_small((unsigned)room);
        rig_open(&rig, ENGINE_CREATE);
        fs_mem_set_capacity(rig.disk, room);
        story(4);
        check_failed();
        rig_crash(&rig, (unsigned)room % 3);
        fs_mem_set_capacity(rig.disk, (uint64_t)1 << 40);
        rig_recover(&rig);
        go_on_and_close();
    }
}
END_TEST

/* An allocator whose nth request fails, once or from then on. */
struct nth_alloc {
    struct allocator base;
    uint64_t countdown;
    bool for_good, fired;
};

static void *nth_resize(void *self, void *p, size_t n)
{
    struct nth_alloc *a = self;
    if (a->countdown == 1 || (a->fired && a->for_good)) {
        a->countdown = 0;
        a->fired = true;
        return NULL;
    }
    a->countdown -= a->countdown > 0;
    return realloc(p, n);
}

static void nth_release(void *self, void *p)
{
    (void)self;
    free(p);
}

START_TEST(memory_sweep)
{
    bool fired = true;
    unsigned failures = 0, runs = 0;
    for (uint64_t n = 1; fired; n += 1 + n / 400, runs++) {
        struct nth_alloc a = {.countdown = n, .for_good = _i % 2 == 1};
        a.base = (struct allocator){&a, nth_resize, nth_release};
        rig_init(&rig, n);
        set_small((unsigned)_i / 2);
        rig.opts.alloc = &a.base;
        rig.opts.mode = ENGINE_CREATE;
        if (engine_open(&rig.e, &rig.opts, NULL) == ERR_OK) {
            story(3);
        }
        fired = a.fired;
        failures += rig.e != NULL && failed();
        check_failed();
        bool made = rig.e != NULL;
        engine_close(rig.e);
        rig.e = NULL;
        rig.opts.alloc = NULL;
        if (made) {
            rig_recover(&rig);
        } else {
            rig_open(&rig, ENGINE_OPEN_OR_CREATE);
        }
        go_on_and_close();
    }
    ck_assert_uint_gt(runs, 200);
    if (_i % 2 == 0) {
        ck_assert_uint_lt(failures * 2, runs); /* most leave the engine well */
    }
}
END_TEST

/* A bit flips in some file of a copy at rest: found at the open, or by verifying, or harmless because that
 * byte is not needed (an older commit); never a wrong answer. */
START_TEST(flipped_bits)
{
    rig_init(&rig, 1);
    set_small(0);
    rig_open(&rig, ENGINE_CREATE);
    story(2);
    sync_now();
    engine_close(rig.e);
    rig.e = NULL;
    const struct fs *fs = rig.opts.fs;
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct fs_names names;
    ck_assert_int_eq(fs->list(fs->self, "/shard", &a, &names, NULL), ERR_OK);
    unsigned found = 0, opened = 0;
    for (size_t i = 0; i < names.n; i++) {
        char path[128];
        snprintf(path, sizeof(path), "/shard/%s", names.v[i].p);
        bool must = str_starts(names.v[i], STR("translog_")) || str_starts(names.v[i], STR("live_"));
        bool log = str_starts(names.v[i], STR("translog_"));
        for (uint64_t byte = 0; fs_mem_flip(rig.disk, path, byte, (unsigned)byte % 8); byte += 1) {
            if (log && byte >= 128 && byte < TLOG_HEADER_BYTES) { /* one of two marks: test_translog.c */
                ck_assert(fs_mem_flip(rig.disk, path, byte, (unsigned)byte % 8));
                continue;
            }
            struct engine *e;
            rig.opts.mode = ENGINE_EXISTING;
            enum err r = engine_open(&e, &rig.opts, NULL);
            if (r == ERR_OK) {
                opened++;
                ck_assert_int_eq(engine_max_seq_no(e), rig.next - 1);
                engine_close(e);
                /* An open may have written: only what is still there can be flipped back. */
            } else {
                ck_assert_int_eq(r, ERR_CORRUPT);
                found++;
            }
            ck_assert(fs_mem_flip(rig.disk, path, byte, (unsigned)byte % 8) || r == ERR_OK);
            if (r == ERR_OK) {
                break; /* an unneeded file: gone, or as good as */
            }
            if (!must) {
                byte += 6;
            }
        }
    }
    ck_assert_uint_gt(found, 300);
    rig_recover(&rig);
    rig_fini(&rig);
    arena_fini(&a);
}
END_TEST

/* As the shard does: a commit is written once its operations are durable. */
static void flush_when_durable(void)
{
    struct engine_flush *f;
    ck_assert_int_eq(engine_flush_begin(rig.e, true, &f, NULL), ERR_OK);
    if (engine_durable(rig.e) < engine_flush_location(f)) {
        ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
    }
    engine_flush_run(f);
    ck_assert_int_eq(engine_flush_finish(rig.e, f, NULL), ERR_OK);
}

/* A power failure at each step of a flush: what a flush makes of the rest can be opened after another one. */
START_TEST(flush_after_a_cut_flush)
{
    for (unsigned at = 1; at < 40; at++) {
        rig_init(&rig, at);
        rig_open(&rig, ENGINE_CREATE);
        ck_assert_int_eq(rig_index(&rig, 1, NULL), ERR_OK);
        ck_assert_int_eq(engine_sync(rig.e, NULL), ERR_OK);
        rig.acked = rig.next - 1;
        fs_mem_fail_at(rig.disk, at, FS_MEM_FAIL_FROM);
        (void)engine_flush(rig.e, true, NULL);
        fs_mem_fail_at(rig.disk, 0, FS_MEM_FAIL);
        rig_crash(&rig, 1);
        rig_recover(&rig);
        flush_when_durable();
        rig_crash(&rig, 1);
        rig_recover(&rig);
        rig_fini(&rig);
    }
}
END_TEST

static void put(const char *path, struct str bytes, bool sync)
{
    const struct fs *fs = rig.opts.fs;
    struct fs_file *f;
    ck_assert_int_eq(fs->open(fs->self, path, true, &f, NULL), ERR_OK);
    ck_assert_int_eq(fs->write(fs->self, f, bytes.p, bytes.n, NULL), ERR_OK);
    ck_assert(!sync || fs->sync(fs->self, f, NULL) == ERR_OK);
    fs->close(fs->self, f);
}

static bool is_present(struct str manifest)
{
    struct arena a;
    bool *have;
    const struct engine_file *files;
    size_t n;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(engine_files_present(rig.opts.fs, "/copy", manifest, &a, &have, &files, &n, NULL),
                     ERR_OK);
    ck_assert_uint_eq(n, 1);
    bool is = have[0];
    arena_fini(&a);
    return is;
}

/* A file that no commit names may be in the system's memory alone: a recovery does not build on it. One that arrived damaged does
 * not take the place of a good one. */
START_TEST(files_that_are_there)
{
    const struct fs *fs;
    struct fs_map map;
    struct arena a;
    rig_init(&rig, 1);
    fs = rig.opts.fs;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    rig_open(&rig, ENGINE_CREATE);
    ck_assert_int_eq(rig_index(&rig, 1, NULL), ERR_OK);
    ck_assert_int_eq(engine_flush(rig.e, true, NULL), ERR_OK);
    const struct engine_commit *c = engine_commit_ref(rig.e, false);
    ck_assert_uint_eq(c->n_files, 1);
    char from[96], in_place[96], received[96], manifest[96];
    snprintf(from, sizeof(from), "/shard/%s", c->files[0].name.p);
    snprintf(in_place, sizeof(in_place), "/copy/%s", c->files[0].name.p);
    snprintf(received, sizeof(received), "/copy/" ENGINE_RECEIVED_PREFIX "%s", c->files[0].name.p);
    snprintf(manifest, sizeof(manifest), "/copy/manifest_%d", (int)c->generation);
    ck_assert_int_eq(fs->make_dir(fs->self, "/copy", NULL), ERR_OK);
    ck_assert_int_eq(fs->map(fs->self, from, &map, NULL), ERR_OK);
    struct str right = str_mk(map.p, map.n);
    char *wrong = arena_alloc(&a, right.n);
    ck_assert_ptr_nonnull(wrong);
    memcpy(wrong, right.p, right.n);
    wrong[right.n / 2] ^= 1;
    put(in_place, right, false);
    ck_assert(!is_present(c->manifest));
    put(in_place, right, true);
    put(manifest, c->manifest, true);
    ck_assert(is_present(c->manifest));
    put(received, str_mk(wrong, right.n), true);
    ck_assert(is_present(c->manifest));
    struct engine_opts o = rig.opts;
    struct engine *e;
    o.dir = "/copy";
    o.mode = ENGINE_EXISTING;
    ck_assert_int_eq(engine_install(&o, c->manifest, SEQ_NONE, NULL), ERR_OK);
    ck_assert_int_eq(engine_open(&e, &o, NULL), ERR_OK);
    engine_close(e);
    fs->unmap(fs->self, &map);
    engine_commit_unref(rig.e, c);
    arena_fini(&a);
    rig_fini(&rig);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("engine_faults");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, io_sweep, 0, 24);
    tcase_add_loop_test(c, io_sweep_of_recovery, 0, 12);
    tcase_add_loop_test(c, io_sweep_of_rollbacks, 0, 3);
    tcase_add_test(c, disk_full);
    tcase_add_loop_test(c, memory_sweep, 0, 4);
    tcase_add_test(c, flipped_bits);
    tcase_add_test(c, flush_after_a_cut_flush);
    tcase_add_test(c, files_that_are_there);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int n_failed = srunner_ntests_failed(r);
    srunner_free(r);
    return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
