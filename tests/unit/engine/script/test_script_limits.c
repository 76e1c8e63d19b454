/* Whatever the text, there is a value or an error, within the budget. */
#include "common/base/rand.h"
#include "engine/script/rate.h"
#include "tests/unit/engine/script/scripts.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows of operators within rows make a tree as high as all of them together. */
START_TEST(rows_within_rows)
{
    static const char *const more[] = {"|1",   "+1",  "&&1",   "||1", "<1",
                                       "?1:1", "==1", ".a(1)", "[0]", " instanceof def"};
    static const char *const langs[] = {"painless", "expression"};
    enum { LEVELS = 40, ROW = 280, BYTES = 65000 };
    char *text = malloc(2 * BYTES);
    for (size_t i = 0; i < ARRAY_LEN(more); i++) {
        for (size_t l = 0; l < ARRAY_LEN(langs); l++) {
            size_t n = 0, row = MIN_OF((size_t)ROW, BYTES / LEVELS / strlen(more[i]));
            memset(text, '(', LEVELS);
            n += LEVELS;
            text[n++] = '1';
            for (size_t level = 0; level < LEVELS; level++) {
                for (size_t k = 0; k < row; k++) {
                    n += (size_t)sprintf(text + n, "%s", more[i]);
                }
                text[n++] = ')';
            }
            struct script *s = NULL;
            ERR_LOCAL(em);
            ck_assert_msg(script_compile(&s,
                                         &(struct script_text){str_mk(text, n), str_of(langs[l]), STR_NULL},
                                         SCRIPT_FIELD, &em)
                              == ERR_SCRIPT,
                          "%s", more[i]);
        }
    }
    free(text);
}
END_TEST

/* Nothing runs for ever, recurses through the stack, or eats the machine. */
START_TEST(limits)
{
    static const char *const greedy[] = {
        "int i = 0; for (;;) { i++ }",
        "def f(def x) { return f(x) } f(1)",
        "def l = []; while (l.size() >= 0) { l.add(1) }",
        "def s = 'x'; while (s.length() > 0) { s += s }",
        "def m = [:]; int i = 0; while (m.size() >= 0) { m[i++] = i }",
        "def l = [1]; l.add(l); l.toString()",
        "def m = [:]; m.m = m; m",
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa' ==~ /(a*)*(a*)*(a*)*b/",
        "int[] a = new int[2000000000]; a.length",
        "def a = []; def b = []; for (int i = 0; i < 5000; i++) { a = [a]; b = [b] } a == b ? [a] : b",
        "def a = [1]; a.add(a); def b = [1]; b.add(b); a == b ? a : b",
        "Set a = new HashSet(); a.add(a); Set b = new HashSet(); b.add(b); a == b ? a : b",
        ("def k = []; def m = [:]; m[k] = 1; k.add(m); def l = []; def o = [:]; o[l] = 1; l.add(o);"
         " m == o ? m : o")};
    for (size_t i = 0; i < ARRAY_LEN(greedy); i++) {
        char out[256] = "";
        ERR_LOCAL(em);
        ck_assert_msg(scripts_run(greedy[i], "painless", out, sizeof(out), &em) != ERR_OK || i == 7, "%s: %s",
                      greedy[i], out);
    }
}
END_TEST

static int64_t at_ns;

static int64_t mono(void *self)
{
    (void)self;
    return at_ns;
}

static void compiled(enum script_context context, const char *source, const char *refused_by)
{
    struct script *s;
    ERR_LOCAL(em);
    enum err e = script_compile(&s, &(struct script_text){str_of(source), STR(""), STR_NULL}, context, &em);
    ck_assert_int_eq(e, refused_by != NULL ? ERR_GENERAL_SCRIPT : ERR_OK);
    if (refused_by != NULL) {
        ck_assert_int_eq(em.frame->cause->code, ERR_NO_MEMORY);
        ck_assert_ptr_nonnull(strstr(em.frame->cause->reason, refused_by));
    }
    script_unref(s);
}

/* Scripts that are compiled anew are counted; those that were used lately are not. */
START_TEST(rates)
{
    static const struct clock clock = {.mono_ns = mono};
    struct script_rates r = {.clock = &clock};
    const char *own =
        "within, max: [2/1m]; please use indexed, or scripts with parameters instead; this limit can be "
        "changed by the [script.context.filter.max_compilations_rate] setting";
    r.of[SCRIPT_FILTER] = (struct script_rate){2, 60000};
    script_rates_set(&r);
    compiled(SCRIPT_FILTER, "1 == 1", NULL);
    compiled(SCRIPT_FILTER, "1 == 2", NULL);
    compiled(SCRIPT_FILTER, "1 == 1", NULL);
    compiled(SCRIPT_FILTER, "1 == 3", own);
    compiled(SCRIPT_FIELD, "1 == 3", NULL);
    at_ns += 29 * INT64_C(1000000000);
    compiled(SCRIPT_FILTER, "1 == 3", own);
    at_ns += 2 * INT64_C(1000000000);
    compiled(SCRIPT_FILTER, "1 == 3", NULL);
    compiled(SCRIPT_FILTER, "1 == 4", own);
    script_rates_set(&r); /* nothing new: nothing is forgotten */
    compiled(SCRIPT_FILTER, "1 == 4", own);
    at_ns += 3600 * INT64_C(1000000000); /* no more than the bucket holds */
    compiled(SCRIPT_FILTER, "1 == 4", NULL);
    compiled(SCRIPT_FILTER, "1 == 5", NULL);
    compiled(SCRIPT_FILTER, "1 == 6", own);
    r = (struct script_rates){.one = true, .of[0] = {1, 3600000}, .clock = &clock};
    script_rates_set(&r);
    compiled(SCRIPT_FILTER, "1 == 1", NULL);
    compiled(SCRIPT_FIELD, "1 == 1",
             "max: [1/1h]; please use indexed, or scripts with parameters instead; this limit can "
             "be changed by the [script.max_compilations_rate] setting");
    r = (struct script_rates){.clock = &clock};
    script_rates_set(&r);
    compiled(SCRIPT_FIELD, "1 == 1", NULL);
}
END_TEST

START_TEST(regexes_may_be_refused)
{
    struct script *s;
    ERR_LOCAL(em);
    script_allow_regexes(false);
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){STR("'a' ==~ /b/"), STR(""), STR_NULL}, SCRIPT_FIELD, &em),
        ERR_SCRIPT);
    ck_assert_int_eq(em.frame->cause->code, ERR_ILLEGAL_STATE);
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){STR("4 / 2 / 1"), STR(""), STR_NULL}, SCRIPT_FIELD, &em),
        ERR_OK);
    script_unref(s);
    script_allow_regexes(true);
}
END_TEST

START_TEST(noise_is_harmless)
{
    static const char *const words[] = {
        "def",    "int",        "x",      "y",      "doc",   "params", "'a'",   "1",   "2.5",       "1L",
        "(",      ")",          "[",      "]",      "{",     "}",      ".",     ",",   ";",         "+",
        "-",      "*",          "/",      "%",      "=",     "==",     "!=",    "<",   ">",         "&&",
        "||",     "!",          "?",      ":",      "?.",    "?:",     "->",    "::",  "if",        "else",
        "for",    "while",      "return", "break",  "try",   "catch",  "throw", "new", "ArrayList", "Math",
        "String", "List",       "size",   "add",    "value", "length", "++",    "--",  "+=",        "null",
        "true",   "instanceof", "in",     "do",     "/x/",   "=~",     "~",     "<<",  "Exception", "e",
        "stream", "map",        "sort",   "remove", "get",   "0",      "''"};
    struct rng rng;
    struct script_limits small = {.steps_max = 20000, .bytes_max = 4 << 20};
    rng_seed(&rng, 42);
    int compiled = 0;
    for (int i = 0; i < 72000; i++) {
        char text[512];
        size_t n = 0, count = 1 + rng_below(&rng, 14);
        for (size_t k = 0; k < count; k++) {
            n +=
                (size_t)snprintf(text + n, sizeof(text) - n, "%s ", words[rng_below(&rng, ARRAY_LEN(words))]);
        }
        struct script *s;
        struct script_run *r;
        struct json v;
        struct arena a;
        enum script_context context = (enum script_context)rng_below(&rng, SCRIPT_CONTEXTS);
        if (script_compile(&s,
                           &(struct script_text){str_mk(text, n),
                                                 rng_below(&rng, 8) == 0 ? STR("expression") : STR(""),
                                                 STR_NULL},
                           context, NULL)
            != ERR_OK) {
            continue;
        }
        compiled++;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        enum err e = script_run_new(&r, s, NULL, &small, NULL);
        ck_assert(e == ERR_OK
                  || (e == ERR_SCRIPT && r == NULL)); /* an expression whose variables are not there */
        e = e == ERR_OK ? script_value(r, &scripts_env, &a, &v, NULL) : e;
        ck_assert(e != ERR_INTERNAL);
        script_run_free(r);
        script_unref(s);
        arena_fini(&a);
    }
    ck_assert_int_gt(compiled, 500);
}
END_TEST

/* Whole scripts with one thing changed. */
START_TEST(mutations_are_harmless)
{
    struct rng rng;
    rng_seed(&rng, 43);
    for (int i = 0; i < 20000; i++) {
        char text[512], out[512] = "";
        const char *source = painless[rng_below(&rng, painless_n)].source;
        size_t n = MIN_OF(strlen(source), sizeof(text) - 1);
        if (n == 0 || strstr(source, "while") != NULL || strstr(source, "for") != NULL) {
            continue;
        }
        memcpy(text, source, n);
        text[n] = '\0';
        text[rng_below(&rng, n)] = (char)(32 + rng_below(&rng, 95));
        enum err e = scripts_run(text, "painless", out, sizeof(out), NULL);
        ck_assert(e != ERR_INTERNAL);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("script limits");
    TCase *t = tcase_create("script limits");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, rows_within_rows);
    tcase_add_test(t, limits);
    tcase_add_test(t, rates);
    tcase_add_test(t, regexes_may_be_refused);
    tcase_add_test(t, noise_is_harmless);
    tcase_add_test(t, mutations_are_harmless);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
