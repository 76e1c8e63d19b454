/* The log of states: what was written is there again, whatever stops the writing. */
#include "common/base/rand.h"
#include "common/sys/fs_mem.h"
#include "master/state_log.h"

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
        ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d/_state", &term, &found, NULL), ERR_OK);
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
            enum err e = state_log_write(l, tried_term, s, NULL);
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

/* A flipped bit is noticed, or it was in the last record. */
START_TEST(flips)
{
    struct rng rng;
    struct fs_mem *disk = fs_mem_new();
    struct state_log *l;
    struct cluster_state *s[10] = {NULL}, *found;
    uint64_t term;
    rng_seed(&rng, 1);
    ck_assert_int_eq(state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL), ERR_OK);
    for (unsigned i = 0; i < 10; i++) {
        s[i] = next_state(i > 0 ? s[i - 1] : NULL, &rng);
        ck_assert_int_eq(state_log_write(l, i + 1, s[i], NULL), ERR_OK);
    }
    state_log_close(l);
    unsigned refused = 0, older = 0;
    for (uint64_t at = 0; fs_mem_flip(disk, "/d/state-1.log", at, at % 8); at++) {
        enum err e = state_log_open(&l, fs_mem_fs(disk), "/d", &term, &found, NULL);
        ck_assert(e == ERR_OK || e == ERR_CORRUPT);
        if (e == ERR_OK) {
            ck_assert(term == 9 && same(found, s[8]));
            cluster_state_unref(found);
            state_log_close(l);
            older++;
        } else {
            refused++;
        }
        ck_assert(fs_mem_flip(disk, "/d/state-1.log", at, at % 8));
    }
    ck_assert(refused > 0 && older > 0);
    for (unsigned i = 0; i < 10; i++) {
        cluster_state_unref(s[i]);
    }
    fs_mem_free(disk);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("state_log");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, crashes, 0, 20);
    tcase_add_test(c, flips);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
