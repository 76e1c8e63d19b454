/* A primary whose commits are of no use to a copy that comes: it makes one that is. */
#include "common/base/hash.h"
#include "tests/unit/data/data_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define FOLDER "/data/indices/" RIG_UUID "/0"

static struct dr_rig rig;

static void put(unsigned id)
{
    char name[16], source[64];
    snprintf(name, sizeof(name), "%u", id);
    snprintf(source, sizeof(source), "{\"n\":%u,\"t\":\"x\"}", id);
    ck_assert_int_eq(dr_write(&rig, name, source), ERR_OK);
}

/* The oldest generation of the log at node 0. */
static uint64_t first_generation(const struct fs *fs)
{
    struct fs_names names;
    struct arena a;
    uint64_t first = UINT64_MAX;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(fs->list(fs->self, FOLDER, &a, &names, NULL), ERR_OK);
    for (size_t i = 0; i < names.n; i++) {
        if (str_starts(names.v[i], STR("translog_"))) {
            first = MIN_OF(first, strtoull(names.v[i].p + 9, NULL, 10));
        }
    }
    arena_fini(&a);
    return first;
}

/* The log of node 0 says that its history begins behind that operation, which the newest commit does not have: as logs of before
 * said in front of a gap. */
static void begin_behind(uint64_t seq_no)
{
    static char bytes[65536];
    const struct fs *fs = fs_mem_fs(rig.nodes[0].disk);
    struct fs_map map;
    struct fs_file *f;
    char path[128];
    uint64_t generation = first_generation(fs);
    snprintf(path, sizeof(path), FOLDER "/translog_%llu", (unsigned long long)generation);
    ck_assert_int_eq(fs->map(fs->self, path, &map, NULL), ERR_OK);
    size_t n = map.n;
    ck_assert_uint_le(n, sizeof(bytes));
    memcpy(bytes, map.p, n);
    fs->unmap(fs->self, &map);
    memcpy(bytes + 32, &seq_no, 8);
    uint64_t sum = hash_bytes(bytes, 120, generation);
    memcpy(bytes + 120, &sum, 8);
    ck_assert_int_eq(fs->remove(fs->self, path, NULL), ERR_OK);
    ck_assert_int_eq(fs->open(fs->self, path, true, &f, NULL), ERR_OK);
    ck_assert_int_eq(fs->write(fs->self, f, bytes, n, NULL), ERR_OK);
    ck_assert_int_eq(fs->sync(fs->self, f, NULL), ERR_OK);
    fs->close(fs->self, f);
}

/* No commit's operations can all be read behind it. Nobody writes, so that none would come by itself: the copy that recovers
 * has the primary make one. */
START_TEST(a_commit_is_asked_for)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    for (unsigned i = 0; i < 20; i++) {
        put(i);
    }
    dr_run(&rig, 2000); /* all know that all have it: the commit is the one to go back to */
    dr_act(&rig, 0, SHARD_FLUSH);
    for (unsigned i = 20; i < 23; i++) {
        put(i);
    }
    dr_stop(&rig, 0, 0);
    dr_drop_copy(&rig, 0, true);
    begin_behind(20);
    dr_start(&rig, 0);
    dr_assign(&rig, 0, 0);
    rig.again = true;
    dr_until(&rig, dr_green, 3000);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 5000);
    ck_assert_uint_eq(dr_check_equal(&rig, 30), 23);
    dr_fini(&rig);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recovery and commits");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, a_commit_is_asked_for, 0, 3);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
