/* The log of states: what was written is there again, whatever stops the writing. */
#include "common/base/rand.h"
#include "master/state_log.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct cluster_state *next_state(const struct cluster_state *from, struct rng *rng)
{
    struct state_builder b;
    char uuid[24], name[24];
    static char big[5000];
    ck_assert(state_builder_init(&b, from));
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    struct index_routing *r;
    memset(big, 'x', sizeof(big) - 1);
    snprintf(name, sizeof(name), "i%u", (unsigned)rng_below(rng, 20));
    r = index_routing_new(str_of(name), rng_below(rng, 4) == 0 ? str_of(big) : STR("u"), 2, 1);
    ck_assert(state_put_routing(&b, r));
    snprintf(uuid, sizeof(uuid), "%llu", (unsigned long long)rng_u64(rng));
    return state_builder_seal(&b, str_of(uuid));
}

static bool same(const struct cluster_state *a, const struct cluster_state *b)
{
    struct buf x, y;
    if (a == NULL || b == NULL) {
        return a == b;
    }
    buf_init(&x, NULL, BUF_UNLIMITED);
    buf_init(&y, NULL, BUF_UNLIMITED);
    cluster_state_encode(a, &x);
    cluster_state_encode(b, &y);
    bool eq = str_eq(buf_view(&x), buf_view(&y));
    buf_fini(&x);
    buf_fini(&y);
    return eq;
}

/* Crashes at random calls: afterwards there is what was durable, or what was being written. */
START_TEST(crashes)
{
    struct rng rng;
    struct fs_mem *disk = fs_mem_new();
    struct state_log *l = NULL;
    struct cluster_state *durable = NULL, *tried = NULL, *found;
    uint64_t term = 0, durable_term = 0, tried_term = 0;
    rng_seed(&rng, (uint64_t)_i);
    for (int life = 0; life < 30; life++) {
        ERR_LOCAL(em);
        enum err e = state_log_open(&l, fs_mem_fs(disk), "/d/_state", &term, &found, &em);
        ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
        ck_assert((term == durable_term && same(found, durable))
                  || (term == tried_term && same(found, tried)));
        cluster_state_unref(durable);
        cluster_state_unref(tried);
        durable = found;
        durable_term = tried_term = term;
        tried = durable != NULL ? cluster_state_ref(durable) : NULL;
        fs_mem_fail_at(disk, 1 + rng_below(&rng, 120),
                       rng_below(&rng, 2) == 0 ? FS_MEM_FAIL_FROM : FS_MEM_TEAR);
        for (int i = 0; i < 100; i++) {
            bool with_state = rng_below(&rng, 4) != 0;
            struct cluster_state *s = with_state ? next_state(durable, &rng) : NULL;
            tried_term = durable_term + 1;
            cluster_state_unref(tried);
            tried = s != NULL ? cluster_state_ref(s) : durable != NULL ? cluster_state_ref(durable) : NULL;
            e = state_log_write(l, tried_term, s, NULL);
            cluster_state_unref(s);
            if (e != ERR_OK) {
                break;
            }
            cluster_state_unref(durable);
            durable = tried != NULL ? cluster_state_ref(tried) : NULL;
            durable_term = tried_term;
        }
        fs_mem_fail_at(disk, 0, FS_MEM_FAIL);
        fs_mem_crash(disk, &rng);
        state_log_close(l);
    }
    cluster_state_unref(durable);
    cluster_state_unref(tried);
    fs_mem_free(disk);
}
END_TEST

/* A log of ten states in /d. */
static void write_ten(struct fs_mem *disk, struct cluster_state *s[10])
{
    struct rng rng;
    struct state_log *l;
    struct cluster_state *found;
    uint64_t term;
    rng_seed(&rng, 1);
    ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL), ERR_OK);
    for (unsigned i = 0; i < 10; i++) {
        s[i] = next_state(i > 0 ? s[i - 1] : NULL, &rng);
        ck_assert_int_eq(state_log_write(l, i + 1, s[i], NULL), ERR_OK);
    }
    state_log_close(l);
}

static void drop_ten(struct fs_mem *disk, struct cluster_state *s[10])
{
    for (unsigned i = 0; i < 10; i++) {
        cluster_state_unref(s[i]);
    }
    fs_mem_free(disk);
}

/* ERR_OK: it opened, with the last of the states. */
static enum err open_ten(struct fs_mem *disk, struct cluster_state *s[10])
{
    struct state_log *l;
    struct cluster_state *found;
    uint64_t term;
    enum err e = state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL);
    if (e == ERR_OK) {
        ck_assert(term == 10 && same(found, s[9]));
        cluster_state_unref(found);
        state_log_close(l);
    }
    return e;
}

/* A flipped bit anywhere in the log is refused, in the last record too. */
START_TEST(flips)
{
    struct fs_mem *disk = fs_mem_new();
    struct cluster_state *s[10] = {NULL};
    write_ten(disk, s);
    for (uint64_t at = 0; fs_mem_flip(disk, "/d/state-1.log", at, at % 8); at++) {
        ck_assert_int_eq(open_ten(disk, s), ERR_CORRUPT);
        ck_assert(fs_mem_flip(disk, "/d/state-1.log", at, at % 8));
    }
    ck_assert_int_eq(open_ten(disk, s), ERR_OK);
    drop_ten(disk, s);
}
END_TEST

/* Puts `bytes` in place of a file. */
static void put_file(struct fs_mem *disk, const char *path, const void *bytes, size_t n)
{
    ck_assert_int_eq(fs_replace_file(fs_mem_fs(disk), path, str_mk(bytes, n), NULL), ERR_OK);
}

/* So it is in a log of before there were seals: a record whose bytes are all there is not a torn one. */
START_TEST(flips_without_seal)
{
    struct fs_mem *disk = fs_mem_new();
    struct cluster_state *s[10] = {NULL};
    struct arena a;
    struct str log;
    write_ten(disk, s);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(fs_read_file(fs_mem_fs(disk), "/d/state-1.log", 1 << 20, &a, &log, NULL), ERR_OK);
    char *older = arena_str(&a, log).p == NULL ? NULL : (char *)(uintptr_t)log.p;
    older[7] = '1';
    ck_assert_int_eq(fs_mem_fs(disk)->remove(fs_mem_fs(disk)->self, "/d/seal", NULL), ERR_OK);
    ck_assert_int_eq(open_ten(disk, s), ERR_CORRUPT); /* one with a seal */
    for (size_t at = 8; at < log.n; at++) {
        older[at] = (char)(older[at] ^ 1 << at % 8);
        put_file(disk, "/d/state-1.log", older, log.n);
        ck_assert_int_eq(open_ten(disk, s), ERR_CORRUPT);
        older[at] = (char)(older[at] ^ 1 << at % 8);
    }
    put_file(disk, "/d/state-1.log", older, log.n);
    ck_assert_int_eq(open_ten(disk, s), ERR_OK);
    arena_fini(&a);
    drop_ten(disk, s);
}
END_TEST

/* A log that is shorter than it was, or gone, is refused; a seal that is not whole is not believed, and hides nothing. */
START_TEST(cuts)
{
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct cluster_state *s[10] = {NULL};
    struct arena a;
    struct str log, seal;
    write_ten(disk, s);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(fs_read_file(fs, "/d/state-1.log", 1 << 20, &a, &log, NULL), ERR_OK);
    ck_assert_int_eq(fs_read_file(fs, "/d/seal", 1 << 20, &a, &seal, NULL), ERR_OK);
    for (size_t n = 0; n < log.n; n += 1 + n / 100) {
        put_file(disk, "/d/state-1.log", log.p, n);
        ck_assert_int_eq(open_ten(disk, s), ERR_CORRUPT);
    }
    ck_assert_int_eq(fs->remove(fs->self, "/d/state-1.log", NULL), ERR_OK);
    ck_assert_int_eq(open_ten(disk, s), ERR_CORRUPT);
    put_file(disk, "/d/state-1.log", log.p, log.n);
    for (uint64_t at = 0; fs_mem_flip(disk, "/d/seal", at, at % 8); at++) {
        ck_assert_int_eq(open_ten(disk, s), ERR_OK);
        put_file(disk, "/d/seal", seal.p, seal.n);
    }
    ck_assert_int_eq(open_ten(disk, s), ERR_OK);
    arena_fini(&a);
    drop_ten(disk, s);
}
END_TEST

/* The seal is older than the log after a power failure; what a process then finds there is missed when it is gone. */
START_TEST(cut_after_a_power_failure)
{
    struct fs_mem *disk = fs_mem_new();
    const struct fs *fs = fs_mem_fs(disk);
    struct cluster_state *s[10] = {NULL}, *found, *more;
    struct state_log *l, *again;
    struct rng rng;
    struct arena a;
    struct str log;
    uint64_t term;
    write_ten(disk, s);
    rng_seed(&rng, 2);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(state_log_open(&l, fs, "/d", &term, &found, NULL), ERR_OK);
    more = next_state(s[9], &rng);
    ck_assert_int_eq(state_log_write(l, 11, more, NULL), ERR_OK);
    fs_mem_drop_unsynced(disk);
    cluster_state_unref(s[0]);
    ck_assert_int_eq(state_log_open(&again, fs, "/d", &term, &s[0], NULL), ERR_OK); /* and is killed */
    ck_assert(term == 11 && same(s[0], more));
    fs_mem_kill(disk);
    ck_assert_int_eq(fs_read_file(fs, "/d/state-2.log", 1 << 20, &a, &log, NULL), ERR_OK);
    put_file(disk, "/d/state-2.log", log.p, log.n - 1);
    ck_assert_int_eq(open_ten(disk, s), ERR_CORRUPT);
    state_log_close(l);
    state_log_close(again);
    cluster_state_unref(found);
    cluster_state_unref(more);
    arena_fini(&a);
    drop_ten(disk, s);
}
END_TEST

/* A process that ends while a new file's name is not durable leaves it to the next one: what that builds on it survives a power
 * failure. */
START_TEST(names_of_another_process)
{
    for (unsigned at = 1; at < 16; at++) {
        struct rng rng;
        struct fs_mem *disk = fs_mem_new();
        struct state_log *l;
        struct cluster_state *found;
        uint64_t term;
        rng_seed(&rng, at);
        ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL), ERR_OK);
        struct cluster_state *first = next_state(NULL, &rng), *second = next_state(first, &rng);
        fs_mem_fail_at(disk, at, FS_MEM_FAIL);
        (void)state_log_write(l, 1, first, NULL);
        fs_mem_fail_at(disk, 0, FS_MEM_FAIL);
        fs_mem_kill(disk);
        state_log_close(l);
        ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL), ERR_OK);
        cluster_state_unref(found);
        ck_assert_int_eq(state_log_write(l, 2, second, NULL), ERR_OK);
        fs_mem_drop_unsynced(disk);
        state_log_close(l);
        ERR_LOCAL(em);
        enum err e = state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, &em);
        ck_assert_msg(e == ERR_OK, "%u: %s", at, err_reason(&em));
        ck_assert_uint_eq(term, 2);
        ck_assert(same(found, second));
        state_log_close(l);
        cluster_state_unref(found);
        cluster_state_unref(first);
        cluster_state_unref(second);
        fs_mem_free(disk);
    }
}
END_TEST

/* A sync fails, the process is killed, and the system takes the pages for clean: what the next process begins with, and what it
 * writes, survives a power failure. */
START_TEST(tail_of_another_process)
{
    for (unsigned at = 1; at < 8; at++) {
        for (int written = 0; written < 2; written++) {
            struct fs_mem *disk = fs_mem_new();
            struct cluster_state *s[10] = {NULL}, *begun, *found;
            struct state_log *l;
            struct rng rng;
            uint64_t term, begun_term;
            write_ten(disk, s);
            rng_seed(&rng, at);
            ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL), ERR_OK);
            cluster_state_unref(found);
            struct cluster_state *more = next_state(s[9], &rng), *last = next_state(more, &rng);
            fs_mem_fail_at(disk, at, FS_MEM_FAIL_FROM);
            (void)state_log_write(l, 11, more, NULL);
            fs_mem_fail_at(disk, 0, FS_MEM_FAIL);
            fs_mem_kill(disk);
            state_log_close(l);
            ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d", &begun_term, &begun, NULL), ERR_OK);
            if (written) {
                ck_assert_int_eq(state_log_write(l, begun_term = 12, last, NULL), ERR_OK);
                cluster_state_unref(begun);
                begun = cluster_state_ref(last);
            }
            fs_mem_drop_unsynced(disk);
            state_log_close(l);
            ERR_LOCAL(em);
            enum err e = state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, &em);
            ck_assert_msg(e == ERR_OK, "%u: %s", at, err_reason(&em));
            ck_assert_uint_eq(term, begun_term);
            ck_assert(same(found, begun));
            state_log_close(l);
            cluster_state_unref(found);
            cluster_state_unref(begun);
            cluster_state_unref(more);
            cluster_state_unref(last);
            drop_ten(disk, s);
        }
    }
}
END_TEST

/* The disk keeps nothing of a record, and the seal that would miss it cannot be written: then it is not acknowledged. */
START_TEST(lost_without_seal)
{
    for (unsigned at = 1; at < 8; at++) {
        struct fs_mem *disk = fs_mem_new();
        struct cluster_state *s[10] = {NULL}, *found;
        struct state_log *l;
        uint64_t term;
        write_ten(disk, s);
        ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL), ERR_OK);
        cluster_state_unref(found);
        fs_mem_lose_write(disk, "/d", false, 1);
        fs_mem_fail_at(disk, at, FS_MEM_FAIL_FROM);
        enum err written = state_log_write(l, 11, NULL, NULL);
        fs_mem_fail_at(disk, 0, FS_MEM_FAIL);
        fs_mem_lose_write(disk, NULL, false, 0);
        fs_mem_kill(disk);
        state_log_close(l);
        enum err e = state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL);
        ck_assert(e == ERR_CORRUPT || (e == ERR_OK && (term == 11 || written != ERR_OK)));
        if (e == ERR_OK) {
            state_log_close(l);
            cluster_state_unref(found);
        }
        drop_ten(disk, s);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("state_log");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, crashes, 0, 20);
    tcase_add_test(c, flips);
    tcase_add_test(c, flips_without_seal);
    tcase_add_test(c, cuts);
    tcase_add_test(c, cut_after_a_power_failure);
    tcase_add_test(c, names_of_another_process);
    tcase_add_test(c, tail_of_another_process);
    tcase_add_test(c, lost_without_seal);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
