/* Slices: every document is in exactly one, whatever the numbers of shards and slices; known members as
 * observed. */
#include "engine/query/slice.h"

#include "common/base/rand.h"

#include <check.h>
#include <stdio.h>

/* Is a document of that shard in the slice? */
static bool takes(struct slice s, uint32_t shard, uint32_t shards, struct str id)
{
    struct slice within;
    enum slice_scope scope = slice_of_shard(s, shard, shards, &within);
    return scope == SLICE_ALL || (scope == SLICE_SOME && slice_has_id(within, id));
}

START_TEST(exactly_one_slice)
{
    struct rng rng;
    rng_seed(&rng, 5);
    for (int round = 0; round < 20000; round++) {
        uint32_t shards = 1 + (uint32_t)(rng_u64(&rng) % 12), shard = (uint32_t)(rng_u64(&rng) % shards);
        int32_t max = 2 + (int32_t)(rng_u64(&rng) % 40), found = 0;
        char id[40];
        static const char *const before[] = {"", "", "k-", "\xe4\xb8\xad", ""};
        unsigned long long v = rng_u64(&rng);
        int n = round % 2 == 0 ? snprintf(id, sizeof(id), "%s%llu", before[round % 5], v)
                               : snprintf(id, sizeof(id), "%s%llx", before[round % 5], v);
        for (int32_t i = 0; i < max; i++) {
            found += takes((struct slice){i, max}, shard, shards, str_mk(id, (size_t)n));
        }
        ck_assert_int_eq(found, 1);
    }
}
END_TEST

START_TEST(members_as_observed)
{
    static const char *const first[] = {"3", "4", "5"}, *const second[] = {"1", "2"};
    for (size_t i = 0; i < ARRAY_LEN(first); i++) {
        ck_assert(slice_has_id((struct slice){0, 2}, str_of(first[i])));
    }
    for (size_t i = 0; i < ARRAY_LEN(second); i++) {
        ck_assert(slice_has_id((struct slice){1, 2}, str_of(second[i])));
    }
    ck_assert(slice_has_number((struct slice){0, 2}, 300));
    ck_assert(slice_has_number((struct slice){1, 2}, 100));
    ck_assert(slice_has_number((struct slice){1, 2}, 500));
}
END_TEST

START_TEST(odd_ids)
{
    char longest[600];
    memset(longest, 'a', sizeof(longest));
    static const char *const ids[] = {"x", "xx", "xxx", "____", "_w", "/w==", "-", "0", "00", "9"};
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        bool a = slice_has_id((struct slice){0, 2}, str_of(ids[i])),
             b = slice_has_id((struct slice){1, 2}, str_of(ids[i]));
        ck_assert(a != b);
    }
    for (size_t n = 0; n <= sizeof(longest); n++) { /* ids longer than any document's have a place too */
        bool a = slice_has_id((struct slice){0, 2}, str_mk(longest, n)),
             b = slice_has_id((struct slice){1, 2}, str_mk(longest, n));
        ck_assert(a != b);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("slice");
    TCase *c = tcase_create("slice");
    tcase_add_test(c, exactly_one_slice);
    tcase_add_test(c, members_as_observed);
    tcase_add_test(c, odd_ids);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
