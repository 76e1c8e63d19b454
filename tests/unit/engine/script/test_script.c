/* What scripts give. */
#include "tests/unit/engine/script/scripts.h"

#include <check.h>
#include <stdlib.h>

START_TEST(as_painless_does)
{
    for (size_t i = 0; i < painless_n; i++) {
        scripts_expect(painless[i].source, "painless", painless[i].want, painless[i].error);
    }
}
END_TEST

/* As Java's patterns do; places are in UTF-16. */
START_TEST(patterns)
{
    static const struct script_case cases[] = {
        {"'é1' ==~ /\\w+/", "[false]", NULL},
        {"'é1' =~ /\\d/", "[true]", NULL},
        {"def m = /b/.matcher('😀b'); m.find() ? [m.start(), m.end(), m.find()] : []", "[2,3,false]", NULL},
        {"def m = /x*/.matcher('ax'); def l = []; while (m.find()) { l.add(m.start()) } l", "[0,1,2]", NULL},
        {"def m = /(a)|(é)/.matcher('éa'); m.find(); [m.group(), m.group(1), m.groupCount()]",
         "[\"é\",null,2]", NULL},
        {"/(\\w)-/.matcher('a-b-c').replaceAll('$1+')", "[\"a+b+c\"]", NULL},
        {"'äöü'.replaceAll(/[äü]/, m -> m.group().toUpperCase())", "[\"ÄöÜ\"]", NULL},
        {"'aXbXc'.replaceFirst(/x/i, m -> '')", "[\"abXc\"]", NULL},
        {"/é|,/.split('aéb,c,,').length", "[3]", NULL},
        {"def l = []; 'ab'.replaceAll(/./, m -> { l.add(m); 'x' }); l[0].groupCount()", "[0]", NULL},
        {"'a' ==~ /(/", NULL, "illegal_argument_exception"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        scripts_expect(cases[i].source, "painless", cases[i].want, cases[i].error);
    }
}
END_TEST

START_TEST(documents)
{
    static const struct {
        const char *source, *want, *error;
    } cases[] = {{"doc['l'].value / 2", "[3]", NULL},
                 {"doc.l.value + 1", "[8]", NULL},
                 {"doc['ls']", "[1,5,9]", NULL},
                 {"doc['ls'][2]", "[9]", NULL},
                 {"doc['ls'].length", "[3]", NULL},
                 {"def s = 0; for (def x : doc['ls']) { s += x } s", "[15]", NULL},
                 {"doc['e'].size() == 0 ? 0.5 : doc['e'].value", "[0.5]", NULL},
                 {"doc['e'].value", NULL, "illegal_state_exception"},
                 {"doc['nope'].value", NULL, "illegal_argument_exception"},
                 {"doc.containsKey('nope')", "[false]", NULL},
                 {"doc['b'].value ? 1 : 0", "[1]", NULL},
                 {"doc['k'].value == 'a'", "[true]", NULL},
                 {"doc['k'].contains('b')", "[true]", NULL},
                 {"doc['dt'].value", "[\"2021-03-05T10:20:30.456Z\"]", NULL},
                 {"doc['dt'].value.year + doc['dt'].value.getMonthValue()", "[2024]", NULL},
                 {"doc['dt'].value.dayOfWeek", "[5]", NULL},
                 {"doc['dt'].value.getMillis()", "[1614939630456]", NULL},
                 {"doc['dt'].value.toInstant().toEpochMilli()", "[1614939630456]", NULL},
                 {"doc['dt'].value.plusDays(1).getDayOfMonth()", "[6]", NULL},
                 {"ChronoUnit.DAYS.between(doc['dt'].value, doc['dt'].value.plusDays(10))", "[10]", NULL},
                 {"doc['g'].lat", "[52.5]", NULL},
                 {"doc['g'].value.lon", "[13.4]", NULL},
                 {"doc['g'].value", "[{\"lat\":52.5,\"lon\":13.4}]", NULL},
                 {"(int)doc['g'].arcDistance(52.0, 13.0)", "[61907]", NULL},
                 {"params.a = 5; params.l.add(4); params.l.size() + params.a", "[9]", NULL}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        scripts_expect(cases[i].source, "painless", cases[i].want, cases[i].error);
    }
}
END_TEST

START_TEST(expressions)
{
    static const struct {
        const char *source, *want, *error;
    } cases[] = {{"1 + 2 * 3", "[7.0]", NULL},
                 {"doc['l'].value / 2", "[3.5]", NULL},
                 {"doc['e'].value + 1", "[1.0]", NULL},
                 {"doc['ls'].max() - doc['ls'].min()", "[8.0]", NULL},
                 {"doc['e'].empty ? 5 : 6", "[5.0]", NULL},
                 {"a + b", "[3.5]", NULL},
                 {"a < b && b != 0", "[1.0]", NULL},
                 {"!a || 2 > 3", "[0.0]", NULL},
                 {"max(sqrt(16), ln(1))", "[4.0]", NULL},
                 {"doc['dt'].getYear()", "[2021.0]", NULL},
                 {"doc['dt'].date.year", "[2021.0]", NULL},
                 {"doc[\"l\"]", "[7.0]", NULL},
                 {"5 & 3.7", "[1.0]", NULL},
                 {"1 << 65", "[2.0]", NULL},
                 {"-1 >>> 1", "[9.223372036854776E18]", NULL},
                 {"~5 ^ 2", "[-8.0]", NULL},
                 {"0x1f + 010 + .5e1", "[44.0]", NULL},
                 {"asinh(1) + logn(2, 8)", "[3.881373587019543]", NULL},
                 {"1 ? 0 ? 2 : 3 : 4", "[3.0]", NULL},
                 {"foo(1)", NULL, "parse_exception"},
                 {"1 +", NULL, "parse_exception"},
                 {"5d", NULL, "parse_exception"},
                 {"1;", NULL, "parse_exception"},
                 {"x = 5", NULL, "parse_exception"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        scripts_expect(cases[i].source, "expression", cases[i].want, cases[i].error);
    }
}
END_TEST

static double number(const char *source, enum script_context context, const struct script_env *e,
                     bool *is_null)
{
    struct script *s;
    struct script_run *r;
    ERR_LOCAL(em);
    double v = -1;
    ck_assert_msg(script_compile(&s, &(struct script_text){str_of(source), STR(""), STR_NULL}, context, &em)
                      == ERR_OK,
                  "%s: %s", source, err_innermost(&em)->reason);
    ck_assert_int_eq(script_run_new(&r, s, NULL, NULL, NULL), ERR_OK);
    static const struct script_var vars[] = {{{"x", 1}, 10, false}, {{"y", 1}, 4, false}};
    script_run_vars(r, vars, 2);
    ck_assert_msg(script_number(r, e, &v, is_null, &em) == ERR_OK, "%s: %s", source,
                  err_innermost(&em)->reason);
    script_run_free(r);
    script_unref(s);
    return v;
}

static void near(double got, double want)
{
    ck_assert_msg(got - want < 1e-9 && want - got < 1e-9, "%.17g, not %.17g", got, want);
}

START_TEST(numbers)
{
    bool is_null = false;
    static const double values[] = {1, 2, 3, 4};
    struct script_env moving = {.values = values, .values_n = 4};
    near(number("_score * 2", SCRIPT_SCORE, &scripts_env, NULL), 3);
    near(number("saturation(doc['l'].value, 7)", SCRIPT_SCORE, &scripts_env, NULL), 0.5);
    near(number("sigmoid(2, 2, 1)", SCRIPT_SCORE, &scripts_env, NULL), 0.5);
    near(number("decayNumericLinear(0, 10, 0, 0.5, 5)", SCRIPT_SCORE, &scripts_env, NULL), 0.75);
    near(number("decayNumericExp(0, 10, 0, 0.5, 10)", SCRIPT_SCORE, &scripts_env, NULL), 0.5);
    near(number("decayNumericGauss(0, 10, 0, 0.5, 10.0)", SCRIPT_SCORE, &scripts_env, NULL), 0.5);
    near(number("decayDateExp('2021-03-06T10:20:30.456Z', '1d', '0', 0.5, doc['dt'].value)", SCRIPT_SCORE,
                &scripts_env, NULL),
         0.5);
    near(number("decayGeoLinear('52.5,13.4', '10km', '0km', 0.5, doc['g'].value)", SCRIPT_SCORE, &scripts_env,
                NULL),
         1);
    near(number("params.x / params.y", SCRIPT_BUCKET, NULL, &is_null), 2.5);
    ck_assert(!is_null);
    (void)number("null", SCRIPT_BUCKET, NULL, &is_null);
    ck_assert(is_null);
    near(number("double x = params.x; return x", SCRIPT_BUCKET, NULL, &is_null), 10);
    near(number("if (params.x > 7) return 2; return 1.5f", SCRIPT_BUCKET, NULL, &is_null), 2);
    near(number("params.x > 10 ? 1 : 2L", SCRIPT_TERMS_SET, NULL, &is_null), 2);
    near(number("Number f(Number n) { return 1.5 } f(1)", SCRIPT_BUCKET, NULL, &is_null), 1.5);
    near(number("double f(Integer n) { return n } f(3)", SCRIPT_SCORE, NULL, NULL), 3);
    near(number("MovingFunctions.unweightedAvg(values)", SCRIPT_MOVING_FN, &moving, NULL), 2.5);
    near(number("MovingFunctions.max(values) - MovingFunctions.min(values)", SCRIPT_MOVING_FN, &moving, NULL),
         3);
    near(number("MovingFunctions.ewma(values, 0.5)", SCRIPT_MOVING_FN, &moving, NULL), 3.125);
    near(number("values.length", SCRIPT_MOVING_FN, &moving, NULL), 4);
}
END_TEST

START_TEST(updates)
{
    static const struct {
        const char *source, *want;
    } cases[] = {
        {"ctx._source.n += 1", "{\"_source\":{\"n\":2,\"tags\":[\"a\"]},\"op\":\"index\"}"},
        {"ctx._source.n++", "{\"_source\":{\"n\":2,\"tags\":[\"a\"]},\"op\":\"index\"}"},
        {"ctx._source.tags.add(params.s)",
         "{\"_source\":{\"n\":1,\"tags\":[\"a\",\"xyz\"]},\"op\":\"index\"}"},
        {"ctx._source.remove('n')", "{\"_source\":{\"tags\":[\"a\"]},\"op\":\"index\"}"},
        {"ctx.op = ctx._source.n > 0 ? 'delete' : 'none'",
         "{\"_source\":{\"n\":1,\"tags\":[\"a\"]},\"op\":\"delete\"}"},
        {"if (ctx._source.tags.contains('a')) { ctx._source.tags.remove(ctx._source.tags.indexOf('a')) }",
         "{\"_source\":{\"n\":1,\"tags\":[]},\"op\":\"index\"}"},
        {"ctx._source.total = ctx._source.n * 2.5",
         "{\"_source\":{\"n\":1,\"tags\":[\"a\"],\"total\":2.5},\"op\":\"index\"}"},
        {"ctx._source.o = ['k': params.l]",
         "{\"_source\":{\"n\":1,\"tags\":[\"a\"],\"o\":{\"k\":[3,1,2]}},\"op\":\"index\"}"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct arena a;
        struct json ctx, params, out, want;
        struct script *s;
        struct script_run *r;
        ERR_LOCAL(em);
        arena_init(&a, NULL, ARENA_UNLIMITED);
        struct str text = STR("{\"_source\":{\"n\":1,\"tags\":[\"a\"]},\"op\":\"index\"}");
        ck_assert_int_eq(json_parse(&ctx, text, &a, &json_limits_default, NULL), ERR_OK);
        ck_assert_int_eq(json_parse(&params, str_of(scripts_params), &a, &json_limits_default, NULL), ERR_OK);
        ck_assert_int_eq(json_parse(&want, str_of(cases[i].want), &a, &json_limits_default, NULL), ERR_OK);
        ck_assert_int_eq(
            script_compile(&s, &(struct script_text){str_of(cases[i].source), STR("painless"), STR_NULL},
                           SCRIPT_UPDATE, &em),
            ERR_OK);
        ck_assert_int_eq(script_run_new(&r, s, &params, NULL, NULL), ERR_OK);
        for (int twice = 0; twice < 2; twice++) { /* an execution leaves nothing behind */
            enum err e = script_update(r, NULL, &ctx, &a, &out, NULL, &em);
            ck_assert_msg(e == ERR_OK && json_equal(&out, &want), "%s", cases[i].source);
        }
        script_run_free(r);
        script_unref(s);
        arena_fini(&a);
    }
}
END_TEST

START_TEST(errors)
{
    struct script *s;
    ERR_LOCAL(em);
    ck_assert_int_eq(script_compile(&s,
                                    &(struct script_text){STR("doc['x'].value *"), STR("painless"), STR_NULL},
                                    SCRIPT_SCORE, &em),
                     ERR_SCRIPT);
    ck_assert_str_eq(err_reason(&em), "compile error");
    ck_assert_str_eq(em.frame->cause->reason, "unexpected end of script.");
    ck_assert_str_eq(err_about(&em)->script, "doc['x'].value *");
    ck_assert_str_eq(err_about(&em)->lang, "painless");
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){STR("1"), STR("cobol"), STR_NULL}, SCRIPT_SCORE, &em),
        ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){STR("'x'"), STR(""), STR_NULL}, SCRIPT_SCORE, &em),
        ERR_SCRIPT);
    ck_assert_int_eq(em.frame->cause->code, ERR_CLASS_CAST);
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){STR("1"), STR(""), STR_NULL}, SCRIPT_FILTER, &em),
        ERR_SCRIPT);
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){STR("ctx.x"), STR(""), STR_NULL}, SCRIPT_SCORE, &em),
        ERR_SCRIPT);
    char chain[20000];
    for (size_t i = 0; i + 2 < sizeof(chain); i += 2) {
        memcpy(chain + i, "1+", 3);
    }
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){str_of(chain), STR(""), STR_NULL}, SCRIPT_FIELD, &em),
        ERR_SCRIPT);
    char deep[4000];
    memset(deep, '(', sizeof(deep) - 1);
    deep[sizeof(deep) - 1] = '\0';
    ck_assert_int_eq(
        script_compile(&s, &(struct script_text){str_of(deep), STR(""), STR_NULL}, SCRIPT_FIELD, &em),
        ERR_SCRIPT);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("script");
    TCase *t = tcase_create("script");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, as_painless_does);
    tcase_add_test(t, patterns);
    tcase_add_test(t, documents);
    tcase_add_test(t, expressions);
    tcase_add_test(t, numbers);
    tcase_add_test(t, updates);
    tcase_add_test(t, errors);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
