/* Copies of a shard that come from another node: whatever is lost on the way, they end equal. */
#include "tests/unit/data/data_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct dr_rig rig;

static void put(unsigned id, unsigned n)
{
    char name[16], source[64];
    snprintf(name, sizeof(name), "%u", id);
    snprintf(source, sizeof(source), "{\"n\":%u,\"t\":\"x%u\"}", n, n % 7);
    ck_assert_int_eq(dr_write(&rig, name, source), ERR_OK);
}

static void drop(unsigned id)
{
    char name[16];
    snprintf(name, sizeof(name), "%u", id);
    ck_assert_int_eq(dr_write(&rig, name, NULL), ERR_OK);
}

START_TEST(an_empty_copy)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    int64_t since = clock_mono_ms(&rig.clock.base);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 300);
    ck_assert_int_le(clock_mono_ms(&rig.clock.base) - since, 100);
    dr_check_equal(&rig, 3);
    struct shard_recovery f = dr_figures(&rig, 1);
    ck_assert_int_eq(f.stage, RECOVERY_DONE);
    ck_assert_int_eq(f.source, RECOVER_PEER);
    dr_fini(&rig);
}
END_TEST

START_TEST(a_small_copy)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    for (unsigned i = 0; i < 50; i++) {
        put(i, i);
    }
    if (_i % 2 == 0) {
        dr_act(&rig, 0, SHARD_FLUSH);
    }
    for (unsigned i = 0; i < 30; i += 3) {
        drop(i);
        put(i + 1, 1000 + i);
    }
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 1000);
    ck_assert_uint_eq(dr_check_equal(&rig, 60), 40);
    dr_fini(&rig);
}
END_TEST

/* Several commits and segments, documents that were deleted and written again. */
static void fill(unsigned n, unsigned flushes)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned id = (unsigned)rng_below(&rig.rng, n / 2 + 1);
        if (rng_below(&rig.rng, 5) == 0) {
            drop(id);
        } else {
            put(id, i);
        }
        if (flushes > 0 && i % (n / flushes + 1) == 0) {
            dr_act(&rig, rig.copies[0].node, SHARD_FLUSH);
        }
    }
}

START_TEST(many_segments)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    fill(300, 8);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 3000);
    dr_check_equal(&rig, 160);
    struct shard_recovery f = dr_figures(&rig, 1);
    ck_assert_uint_gt(f.files_total, 3);
    ck_assert_uint_eq(f.files_recovered + f.files_reused, f.files_total);
    ck_assert_uint_eq(f.bytes_recovered + f.bytes_reused, f.bytes_total);
    fill(60, 2); /* and it goes on as a copy */
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* Writes go on all the time; none is refused, and the copy has them. */
static unsigned writing, refused;

static void write_some(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char id[16], source[64];
        snprintf(id, sizeof(id), "%u", (unsigned)rng_below(&rig.rng, 150));
        snprintf(source, sizeof(source), "{\"n\":%u}", (unsigned)rng_below(&rig.rng, 100000));
        dr_write_later(&rig, id, rng_below(&rig.rng, 6) == 0 ? NULL : source, &writing, &refused);
        if (rng_below(&rig.rng, 4) == 0) {
            dr_run(&rig, 1);
        }
    }
}

static bool quiet(struct dr_rig *r)
{
    (void)r;
    return writing == 0;
}

START_TEST(writes_meanwhile)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    fill(200, 4);
    writing = refused = 0;
    dr_add_copy(&rig, 1);
    for (unsigned i = 0; !dr_green(&rig); i++) {
        ck_assert_uint_lt(i, 3000);
        write_some(3);
        if (i % 20 == 7) {
            dr_act(&rig, 0, SHARD_FLUSH);
        }
    }
    write_some(20);
    dr_until(&rig, quiet, 5000);
    ck_assert_uint_eq(refused, 0);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* A copy that was away for a while gets operations alone. */
START_TEST(operations_are_enough)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 1000);
    fill(100, 2);
    dr_run(&rig, 2000);
    dr_stop(&rig, 1, _i % 3);
    dr_drop_copy(&rig, 1, false);
    fill(50, _i % 2 == 0 ? 3 : 0);
    unsigned chunks = rig.sent[MESSAGE_RECOVERY_CHUNK];
    dr_start(&rig, 1);
    dr_assign(&rig, 1, 1);
    dr_until(&rig, dr_green, 1000);
    ck_assert_uint_eq(rig.sent[MESSAGE_RECOVERY_CHUNK], chunks);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* Files that are here already are not sent again, not even when their copy cannot be opened. */
START_TEST(files_are_used_again)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    for (unsigned i = 0; i < 300;
         i++) { /* nothing is replaced: dead documents would have the segments merged */
        put(i, i);
        if (i % 50 == 49) {
            dr_act(&rig, 0, SHARD_FLUSH);
        }
    }
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 3000);
    dr_stop(&rig, 1, -1);
    dr_drop_copy(&rig, 1, false);
    const struct fs *fs = fs_mem_fs(rig.nodes[1].disk);
    struct fs_names names;
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(fs->list(fs->self, "/data/indices/" RIG_UUID "/0", &a, &names, NULL), ERR_OK);
    for (size_t i = 0; i < names.n; i++) {
        if (str_starts(names.v[i], STR("translog_"))) { /* or the commits */
            struct str path = arena_printf(&a, "/data/indices/" RIG_UUID "/0/%.*s", STR_ARG(names.v[i]));
            ck_assert(fs_mem_flip(rig.nodes[1].disk, path.p, 3, 1));
        }
    }
    arena_fini(&a);
    dr_start(&rig, 1);
    dr_assign(&rig, 1, 1);
    dr_until(&rig, dr_green, 3000);
    struct shard_recovery f = dr_figures(&rig, 1);
    ck_assert_uint_gt(f.files_reused, 0);
    dr_check_equal(&rig, 310);
    dr_fini(&rig);
}
END_TEST

/* A bit of each file of the copy at node 0 whose name begins so. */
static void flip_all(const char *prefix, uint64_t byte)
{
    const struct fs *fs = fs_mem_fs(rig.nodes[0].disk);
    struct fs_names names;
    struct arena a;
    unsigned flipped = 0;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(fs->list(fs->self, "/data/indices/" RIG_UUID "/0", &a, &names, NULL), ERR_OK);
    for (size_t i = 0; i < names.n; i++) {
        struct str path = arena_printf(&a, "/data/indices/" RIG_UUID "/0/%.*s", STR_ARG(names.v[i]));
        if (str_starts(names.v[i], str_of(prefix))) {
            flipped += fs_mem_flip(rig.nodes[0].disk, path.p, byte, 1);
        }
    }
    ck_assert_uint_gt(flipped, 0);
    arena_fini(&a);
}

/* The primary's log, or what says who lives, is damaged on its disk, and nobody has read it yet: what memory has is written anew
 * when a copy that recovers asks for it, and opens again. */
START_TEST(what_is_whole_in_memory)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    fill(300, 6);
    if (_i % 2 == 0) {
        flip_all("translog_", 300);
    } else {
        dr_act(&rig, 0, SHARD_FLUSH);
        fill(20, 2); /* some are deleted or replaced in the segment */
        dr_act(&rig, 0, SHARD_FLUSH);
        flip_all("live_", 40);
    }
    rig.again = true;
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 5000);
    dr_check_equal(&rig, 160);
    ck_assert_uint_eq(rig.failed, 0);
    dr_stop(&rig, 1, 0);
    dr_drop_copy(&rig, 1, false);
    dr_stop(&rig, 0, 0);
    dr_drop_copy(&rig, 0, true);
    dr_start(&rig, 0);
    dr_assign(&rig, 0, 0);
    dr_start(&rig, 1);
    dr_assign(&rig, 1, 1);
    dr_until(&rig, dr_green, 5000);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* Every twentieth message is lost. */
START_TEST(a_bad_network)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    fill(300, 8);
    rig.again = true;
    rig.loss = 20 + (unsigned)_i * 5;
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 60000);
    rig.loss = 0;
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

static unsigned cut_after, cut_for; /* chunks */

static bool cut_chunks(struct dr_rig *r, int from, int to, uint16_t kind)
{
    (void)r;
    (void)from;
    (void)to;
    if (kind != MESSAGE_RECOVERY_CHUNK) {
        return false;
    }
    if (cut_after > 0) {
        cut_after--;
        return false;
    }
    return cut_for > 0 && cut_for-- > 0;
}

/* What was lost is asked for again, what had come is not. */
START_TEST(chunks_are_asked_for_again)
{
    static char big[1100];
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    for (unsigned i = 0; i < 3000; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%u", i);
        int at = snprintf(big, sizeof(big), "{\"n\":%u,\"t\":\"", i);
        for (; at < 1080; at++) {
            big[at] = (char)('a' + rng_below(&rig.rng, 26));
        }
        snprintf(big + at, sizeof(big) - (size_t)at, "\"}");
        ck_assert_int_eq(dr_write(&rig, id, big), ERR_OK);
    }
    dr_act(&rig, 0, SHARD_FORCE_MERGE);
    dr_act(&rig, 0, SHARD_FLUSH);
    rig.drop = cut_chunks;
    cut_after = 1 + (unsigned)_i;
    cut_for = 3;
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 10000);
    struct shard_recovery f = dr_figures(&rig, 1);
    unsigned chunks = 0;
    chunks = (unsigned)(f.bytes_total / TRANSPORT_CHUNK_BYTES);
    ck_assert_uint_ge(chunks, 3);
    ck_assert_uint_le(rig.sent[MESSAGE_RECOVERY_CHUNK], chunks + f.files_total + 1);
    ck_assert_uint_eq(f.bytes_recovered, f.bytes_total);
    ck_assert_uint_eq(rig.sent[MESSAGE_RECOVERY_START], 1);
    dr_check_equal(&rig, 20);
    dr_fini(&rig);
}
END_TEST

/* indices.recovery.max_bytes_per_sec */
START_TEST(not_too_fast)
{
    dr_init(&rig, (uint64_t)_i);
    snprintf(rig.rate, sizeof(rig.rate), "%s", "20kb");
    dr_create(&rig, 0);
    fill(600, 6);
    int64_t since = clock_mono_ms(&rig.clock.base);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 60000);
    struct shard_recovery f = dr_figures(&rig, 1);
    int64_t took = clock_mono_ms(&rig.clock.base) - since;
    int64_t least = (int64_t)f.bytes_recovered * 1000 / 20480;
    ck_assert_int_gt(least, 500);
    ck_assert_int_ge(took, least / 2);
    ck_assert_int_le(took, least * 3 + 1000);
    ck_assert_int_gt(f.target_throttle_ms, 0);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* Whatever the moment: the copy is taken away, its node or its source ends, or is cut off for a while; in the end there
 * are two equal copies. */
START_TEST(at_any_moment)
{
    unsigned moment = (unsigned)_i / 4;
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    dr_add_copy(&rig, 2);
    dr_until(&rig, dr_green, 1000);
    fill(150, 4);
    rig.again = true;
    int k = dr_add_copy(&rig, 1);
    for (unsigned i = 0; i < moment * 12; i++) {
        dr_step(&rig);
    }
    switch (_i % 4) {
    case 0: /* taken away, and given back */
        dr_drop_copy(&rig, k, false);
        dr_run(&rig, (int64_t)rng_below(&rig.rng, 300));
        dr_assign(&rig, k, 1);
        break;
    case 1: /* its node */
        dr_stop(&rig, 1, (int)rng_below(&rig.rng, 3));
        dr_drop_copy(&rig, k, false);
        dr_start(&rig, 1);
        dr_run(&rig, (int64_t)rng_below(&rig.rng, 300));
        dr_assign(&rig, k, 1);
        break;
    case 2: /* its source: another copy is the primary */
        dr_stop(&rig, 0, (int)rng_below(&rig.rng, 3));
        dr_drop_copy(&rig, 0, true);
        dr_run(&rig, (int64_t)rng_below(&rig.rng, 300));
        dr_start(&rig, 0);
        dr_assign(&rig, 1, 0);
        break;
    default: /* cut off, longer than a request waits */
        rig.nodes[1].cut = true;
        dr_run(&rig, (int64_t)rng_below(&rig.rng, 40000));
        rig.nodes[1].cut = false;
    }
    dr_until(&rig, dr_green, 20000);
    fill(30, 1);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* The target's disk fails at some call: the copy fails, or is there; never half. */
START_TEST(a_failing_disk)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    fill(100, 3);
    rig.again = true;
    fs_mem_fail_at(rig.nodes[1].disk, 1 + (uint64_t)_i,
                   _i % 3 == 0   ? FS_MEM_TEAR
                   : _i % 3 == 1 ? FS_MEM_FAIL
                                 : FS_MEM_AFTERWARDS);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 20000);
    fill(20, 1);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* A primary that was cut off has operations that nobody acknowledged, under numbers that others have now. */
START_TEST(what_nobody_acknowledged_goes)
{
    writing = refused = 0;
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 1000);
    fill(80, _i % 3 == 0 ? 0 : 3);
    dr_run(&rig, _i % 2 == 0 ? 1500 : 0); /* the global checkpoint is known, or not quite */
    rig.nodes[0].cut = true;
    for (unsigned i = 0; i < 12; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%u", i % 2 == 0 ? i : 200 + i);
        dr_write_later(&rig, id, "{\"n\":-1,\"t\":\"lost\"}", &writing, &refused);
        dr_run(&rig, 3);
    }
    dr_run(&rig, 50);
    if (_i % 3 == 1) {
        dr_act(&rig, 0, SHARD_FLUSH);
    }
    if (_i % 3 == 2) {
        dr_stop(&rig, 0, 0);
    }
    dr_drop_copy(&rig, 0, true);
    for (unsigned i = 0; i < 40; i++) {
        put((unsigned)rng_below(&rig.rng, 60), 5000 + i);
    }
    if (_i % 3 == 2) {
        dr_start(&rig, 0);
    }
    rig.nodes[0].cut = false;
    dr_publish(&rig);
    dr_run(&rig, 300);
    dr_assign(&rig, 1, 0);
    dr_until(&rig, dr_green, 5000);
    dr_until(&rig, quiet, 70000);
    fill(10, 0);
    dr_check_equal(&rig, 220);
    dr_fini(&rig);
}
END_TEST

/* A copy that has missed writes is made the primary by force: what the one that had them has under the same numbers
 * must not count as the same. */
START_TEST(a_stale_primary)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 1000);
    fill(60, 2);
    dr_run(&rig, 500);
    dr_stop(&rig, 1, -1);
    char stale[16];
    snprintf(stale, sizeof(stale), "%s", rig.copies[1].id);
    dr_drop_copy(&rig, 1, false);
    for (unsigned i = 0; i < 30; i++) {
        put(i, 7000 + i); /* acknowledged, and lost by what follows */
    }
    dr_run(&rig, 500);
    dr_stop(&rig, 0, _i % 3);
    dr_start(&rig, 1);
    struct dr_copy *c = &rig.copies[0];
    *c = (struct dr_copy){
        .state = COPY_INITIALIZING, .node = 1, .target = -1, .source = RECOVER_EXISTING_STORE};
    snprintf(c->id, sizeof(c->id), "%s", stale);
    rig.term++;
    dr_publish(&rig);
    dr_run(&rig, 500);
    ck_assert_int_eq(c->state, COPY_STARTED);
    for (unsigned i = 0; i < 80; i++) {
        put(100 + i, 9000 + i);
    }
    dr_start(&rig, 0);
    dr_assign(&rig, 1, 0);
    dr_until(&rig, dr_green, 3000);
    dr_check_equal(&rig, 220);
    dr_fini(&rig);
}
END_TEST

static void add(Suite *s, const char *name, const TTest *test, int n)
{
    TCase *c = tcase_create(name);
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, test, 0, n);
    suite_add_tcase(s, c);
}

int main(void)
{
    Suite *s = suite_create("recovery");
    add(s, "an_empty_copy", an_empty_copy, 5);
    add(s, "a_small_copy", a_small_copy, 6);
    add(s, "many_segments", many_segments, 5);
    add(s, "writes_meanwhile", writes_meanwhile, 10);
    add(s, "operations_are_enough", operations_are_enough, 12);
    add(s, "files_are_used_again", files_are_used_again, 3);
    add(s, "what_is_whole_in_memory", what_is_whole_in_memory, 8);
    add(s, "a_bad_network", a_bad_network, 10);
    add(s, "chunks_are_asked_for_again", chunks_are_asked_for_again, 3);
    add(s, "not_too_fast", not_too_fast, 3);
    add(s, "at_any_moment", at_any_moment, 160);
    add(s, "a_failing_disk", a_failing_disk, 100);
    add(s, "what_nobody_acknowledged_goes", what_nobody_acknowledged_goes, 12);
    add(s, "a_stale_primary", a_stale_primary, 6);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
