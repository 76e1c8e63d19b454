/* A text is found where comparing at each place finds it. */
#include "common/base/rand.h"
#include "common/base/str.h"

#include <check.h>
#include <stdlib.h>

static size_t naive_find(struct str s, struct str needle)
{
    for (size_t at = 0; at + needle.n <= s.n; at++) {
        if (str_starts(str_slice(s, at, s.n), needle)) {
            return at;
        }
    }
    return SIZE_MAX;
}

START_TEST(finds)
{
    char text[600], word[8];
    struct rng rng;
    rng_seed(&rng, 11);
    for (int i = 0; i < 50000; i++) {
        struct str s = str_mk(text, rng_below(&rng, sizeof(text) + 1));
        struct str needle = str_mk(word, rng_below(&rng, sizeof(word) + 1));
        uint64_t letters = 1 + rng_below(&rng, 4);
        for (size_t k = 0; k < s.n; k++) {
            text[k] = (char)('a' + (char)rng_below(&rng, letters));
        }
        for (size_t k = 0; k < needle.n; k++) {
            word[k] = (char)('a' + (char)rng_below(&rng, letters));
        }
        ck_assert_uint_eq(str_find_str(s, needle), naive_find(s, needle));
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("str");
    TCase *t = tcase_create("all");
    tcase_add_test(t, finds);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
