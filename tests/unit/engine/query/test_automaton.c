/* Automata: wildcards against a naive matcher, and expressions whose states are too many. */
#include "common/base/rand.h"
#include "engine/query/automaton.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct arena arena;
static struct errmsg em = {.arena = &arena};

static void setup(void)
{
    arena_init(&arena, NULL, 256 * MIB);
    err_clear(&em);
}

static void teardown(void)
{
    arena_fini(&arena);
}

static bool naive(const char *p, const char *s)
{
    if (*p == '\0') {
        return *s == '\0';
    }
    if (*p == '*') {
        return naive(p + 1, s) || (*s != '\0' && naive(p, s + 1));
    }
    return *s != '\0' && (*p == '?' || *p == *s) && naive(p + 1, s + 1);
}

START_TEST(wildcards_match_as_written)
{
    static const char letters[] = "aab*?*";
    struct rng rng;
    rng_seed(&rng, 11);
    for (int i = 0; i < 3000; i++) {
        char pattern[12] = "", text[12] = "";
        size_t n = rng_below(&rng, 9);
        for (size_t k = 0; k < n; k++) {
            pattern[k] = letters[rng_below(&rng, 6)];
        }
        const struct dfa *d;
        ck_assert_int_eq(dfa_wildcard(&d, str_of(pattern), false, &arena, &em), ERR_OK);
        for (int t = 0; t < 20; t++) {
            size_t m = rng_below(&rng, 9);
            memset(text, 0, sizeof(text));
            for (size_t k = 0; k < m; k++) {
                text[k] = letters[rng_below(&rng, 3)];
            }
            ck_assert_msg(dfa_match(d, str_of(text)) == (n > 0 && naive(pattern, text)), "%s on %s", pattern,
                          text);
        }
        arena_reset(&arena);
    }
}
END_TEST

/* As many stars as there is room for: a state of the automaton is one of the pattern's. */
START_TEST(stars_cost_nothing)
{
    char pattern[33000];
    const struct dfa *d;
    for (size_t i = 0; i < sizeof(pattern); i++) {
        pattern[i] = i % 2 == 0 ? '*' : 'a';
    }
    ck_assert_int_eq(dfa_wildcard(&d, str_mk(pattern, sizeof(pattern)), false, &arena, &em), ERR_OK);
    ck_assert_uint_le(d->n, sizeof(pattern) + 2);
    ck_assert(!dfa_match(d, STR("aaa")));
}
END_TEST

static void refused(const char *pattern, const char *reason)
{
    const struct dfa *d;
    err_clear(&em);
    ck_assert_int_eq(dfa_regexp(&d, str_of(pattern), REGEXP_ALL, false, 0, &arena, &em), ERR_TOO_COMPLEX);
    ck_assert_str_eq(err_reason(&em), reason);
    ck_assert_uint_lt(arena.bytes_used, 64 * MIB);
    arena_reset(&arena);
}

/* The numbers are Elasticsearch's. */
START_TEST(states_are_counted_while_they_come)
{
    refused("(a{1,1000}){1,1000}",
            "Determinizing (a{1,1000}){1,1000} would result in more than 1999000 states.");
    refused("((a*){1,1000}){1,1000}",
            "Determinizing ((a*){1,1000}){1,1000} would result in more than 999000 states.");
    refused("(a{1,100}){1,90}", "Determinizing (a{1,100}){1,90} would result in more than 17910 states.");
    refused(".*a.{14}", "Determinizing .*a.{14} would result in more than 10000 states.");
    refused("a{20000}", "Determinizing a{20000} would result in more than 20000 states.");
}
END_TEST

/* What repeats too often is found before there is any state, wherever it stands. */
START_TEST(what_repeats_too_often_may_stand_anywhere)
{
    static const char *const around[] = {"%s",      "%sx",    "x%s",      "~(%s)",  "~(%sx)", "(%s|x)",
                                         "(x|%s)",  "(%s&x)", "(x&%s)",   "(%s)*",  "(%s)+",  "(%s)?",
                                         "(%s){2}", "x*%s",   "~(x&%s)y", "%s<1-9>"};
    static const char *const often[] = {"(abcdefghij){1200}", "(a{500}){79}", "((a|b){300}c){79,}"};
    const struct dfa *d;
    for (size_t i = 0; i < ARRAY_LEN(around); i++) {
        for (size_t k = 0; k < ARRAY_LEN(often); k++) {
            char pattern[100];
            snprintf(pattern, sizeof(pattern), "%.*s%s%s", (int)(strchr(around[i], '%') - around[i]),
                     around[i], often[k], strchr(around[i], '%') + 2);
            ck_assert_msg(dfa_regexp(&d, str_of(pattern), REGEXP_ALL, false, 0, &arena, &em)
                              == ERR_TOO_COMPLEX,
                          "%s", pattern);
            arena_reset(&arena);
        }
    }
}
END_TEST

/* Numbers in words: without as many digits at both ends, zeros may stand before them. */
START_TEST(intervals_are_numbers)
{
    struct rng rng;
    rng_seed(&rng, 12);
    for (int i = 0; i < 400; i++) {
        char pattern[64], text[32];
        uint32_t bound = 1;
        for (uint64_t n = rng_below(&rng, 9); n > 0; n--) {
            bound *= 10;
        }
        uint32_t a = (uint32_t)rng_below(&rng, bound), b = (uint32_t)rng_below(&rng, bound);
        int width = i % 2 == 0 ? 0 : 9;
        snprintf(pattern, sizeof(pattern), "<%0*u-%0*u>", width, a, width, b);
        bool equal = snprintf(text, sizeof(text), "%0*u", width, a) == snprintf(NULL, 0, "%0*u", width, b);
        size_t digits = strlen(text);
        const struct dfa *d;
        ck_assert_int_eq(dfa_regexp(&d, str_of(pattern), REGEXP_ALL, false, 0, &arena, &em), ERR_OK);
        ck_assert_uint_le(d->n, 64);
        for (int t = 0; t < 60; t++) {
            uint32_t v = t == 0 ? a : t == 1 ? b : t == 2 ? MIN_OF(a, b) - 1 : t == 3 ? MAX_OF(a, b) + 1 : 0;
            v = t > 3 ? (uint32_t)rng_below(&rng, 2ULL * bound) : v;
            snprintf(text, sizeof(text), "%0*u", t % 4 == 3 ? (int)digits : (int)rng_below(&rng, 12), v);
            bool want = v >= MIN_OF(a, b) && v <= MAX_OF(a, b) && (!equal || strlen(text) == digits);
            ck_assert_msg(dfa_match(d, str_of(text)) == want, "%s on %s", pattern, text);
        }
        arena_reset(&arena);
    }
}
END_TEST

START_TEST(what_fits_is_taken)
{
    static const char *const fit[] = {"a{1,1000}",  "(ab){1,2000}", ".*a.{8}",
                                      "(a|b|c)*d+", "<1-1000>",     "~(abc.*)"};
    const struct dfa *d;
    for (size_t i = 0; i < ARRAY_LEN(fit); i++) {
        ck_assert_msg(dfa_regexp(&d, str_of(fit[i]), REGEXP_ALL, false, 0, &arena, &em) == ERR_OK, "%s",
                      fit[i]);
        arena_reset(&arena);
    }
    ck_assert_int_eq(dfa_regexp(&d, STR("(ab){2,3}"), REGEXP_ALL, false, 0, &arena, &em), ERR_OK);
    ck_assert(dfa_match(d, STR("abab")) && dfa_match(d, STR("ababab")) && !dfa_match(d, STR("ab")));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("automaton");
    TCase *t = tcase_create("automaton");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, wildcards_match_as_written);
    tcase_add_test(t, stars_cost_nothing);
    tcase_add_test(t, states_are_counted_while_they_come);
    tcase_add_test(t, what_fits_is_taken);
    tcase_add_test(t, what_repeats_too_often_may_stand_anywhere);
    tcase_add_test(t, intervals_are_numbers);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
