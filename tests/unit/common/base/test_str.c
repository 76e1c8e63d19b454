/* A text is found where comparing at each place finds it. */
#include "common/base/rand.h"
#include "common/base/str.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static bool naive_glob(struct str pattern, struct str s)
{
    if (pattern.n == 0) {
        return s.n == 0;
    }
    struct str rest = str_slice(pattern, 1, pattern.n);
    if (pattern.p[0] != '*') {
        return s.n > 0 && s.p[0] == pattern.p[0] && naive_glob(rest, str_slice(s, 1, s.n));
    }
    for (size_t at = 0; at <= s.n; at++) {
        if (naive_glob(rest, str_slice(s, at, s.n))) {
            return true;
        }
    }
    return false;
}

START_TEST(globs)
{
    char text[10], pattern[8];
    struct rng rng;
    rng_seed(&rng, 12);
    for (int i = 0; i < 200000; i++) {
        struct str s = str_mk(text, rng_below(&rng, sizeof(text) + 1));
        struct str p = str_mk(pattern, rng_below(&rng, sizeof(pattern) + 1));
        for (size_t k = 0; k < s.n; k++) {
            text[k] = "ab*"[rng_below(&rng, 3)];
        }
        for (size_t k = 0; k < p.n; k++) {
            pattern[k] = "ab**"[rng_below(&rng, 4)];
        }
        ck_assert_msg(str_glob(p, s) == naive_glob(p, s), "[%.*s] [%.*s]", STR_ARG(p), STR_ARG(s));
    }
    ck_assert(str_glob(STR("*"), STR_NULL) && str_glob(STR("**"), STR_NULL)
              && !str_glob(STR("*a"), STR_NULL));
}
END_TEST

#define LONG     (1 << 20)
#define LIMIT_MS 2000 /* some are needed; with a try at each place it was minutes */

/* A pattern that nearly matches at each place of a long text. */
START_TEST(globs_take_no_longer_than_texts)
{
    char *text = malloc(LONG), *pattern = malloc(LONG / 2 + 3);
    memset(text, 'a', LONG);
    memset(pattern, 'a', LONG / 2 + 3);
    pattern[0] = pattern[LONG / 2 + 2] = '*';
    pattern[LONG / 2 + 1] = 'b';
    clock_t start = clock();
    ck_assert(!str_glob(str_mk(pattern, LONG / 2 + 3), str_mk(text, LONG)));
    ck_assert_int_lt((clock() - start) * 1000 / CLOCKS_PER_SEC, LIMIT_MS);
    free(text);
    free(pattern);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("str");
    TCase *t = tcase_create("all");
    tcase_add_test(t, finds);
    tcase_add_test(t, globs);
    tcase_add_test(t, globs_take_no_longer_than_texts);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
