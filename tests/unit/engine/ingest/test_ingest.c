/* Pipelines: definitions, documents, failures, and what bounds them. */
#include "common/base/stop.h"
#include "engine/ingest/ingest.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool stop_asked;

static bool stopped(void *self)
{
    (void)self;
    return stop_asked;
}

/* Runs a pipeline ("[processors]") on a document; out: the document, or the error's reason. */
static enum err run(const char *processors, const char *source, struct ingest_set *set, char *out, size_t cap)
{
    struct arena a;
    struct json def, doc;
    struct pipeline *p;
    struct buf b;
    struct jsonw w;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ERR_LOCAL(em);
    struct str text = arena_printf(&a, "{\"processors\":%s}", processors);
    ck_assert_msg(json_parse(&def, text, &a, &json_limits_default, &em) == ERR_OK, "%s %zu", err_reason(&em),
                  text.n);
    ck_assert_int_eq(json_parse(&doc, str_of(source), &a, &json_limits_default, &em), ERR_OK);
    struct ingest_doc *d = ARENA_NEW(&a, struct ingest_doc);
    const struct ingest_meta meta = {.index = STR("i"), .type = STR("_doc"), .id = STR("1")};
    struct ingest_meta left = {.index = STR_NULL};
    enum err e = pipeline_read(&p, STR("p"), &def, &a, &em);
    e = e == ERR_OK ? ingest_doc_init(d, &doc, &meta, (struct instant){0, 0}, &a, &em) : e;
    d->set = set;
    struct stop st = {.asked = stopped};
    stop_enter(&st);
    e = e == ERR_OK ? pipeline_run(p, d, &em) : e;
    stop_leave(&st);
    if (e == ERR_OK && d->dropped) {
        snprintf(out, cap, "dropped");
    } else if (e == ERR_OK) {
        ck_assert_int_eq(ingest_doc_take(d, &left, &em), ERR_OK);
        jsonw_start(&w, &b);
        jw_value(&w, &d->root);
        snprintf(out, cap, "%.*s %.*s", STR_ARG(left.index), STR_ARG(buf_view(&b)));
        buf_fini(&b);
    } else {
        snprintf(out, cap, "%s", err_reason(&em));
    }
    arena_fini(&a);
    return e;
}

static void expect(const char *processors, const char *source, const char *want)
{
    char out[2000];
    (void)(run(processors, source, NULL, out, sizeof(out)) == ERR_OK);
    ck_assert_msg(strcmp(out, want) == 0, "%s on %s: %s, not %s", processors, source, out, want);
}

START_TEST(documents)
{
    expect("[]", "{\"b\":1.50,\"a\":1e3}", "i {\"a\":1000.0,\"b\":1.5}");
    expect("[{\"set\":{\"field\":\"a.b\",\"value\":\"{{c}}!\"}}]", "{\"c\":1}",
           "i {\"a\":{\"b\":\"1!\"},\"c\":1}");
    expect("[{\"set\":{\"field\":\"_index\",\"value\":\"j\"}}]", "{}", "j {}");
    expect("[{\"append\":{\"field\":\"a\",\"value\":[2,3]}},{\"remove\":{\"field\":\"a.0\"}},{\"append\":{"
           "\"field\":\"a\",\"value\":4}}]",
           "{\"a\":1}", "i {\"a\":[2,3,4]}");
    expect("[{\"rename\":{\"field\":\"x\",\"target_field\":\"y\"}}]", "{}", "field [x] doesn't exist");
    expect("[{\"drop\":{\"if\":\"ctx.a > 1\"}}]", "{\"a\":2}", "dropped");
    expect("[{\"drop\":{\"if\":\"ctx.a > 1\"}}]", "{\"a\":1}", "i {\"a\":1}");
    expect("[{\"script\":{\"source\":\"ctx.l.add(params.x)\",\"params\":{\"x\":5}}},{\"append\":{\"field\":"
           "\"l\",\"value\":6}}]",
           "{\"l\":[1,2]}", "i {\"l\":[1,2,5,6]}");
    expect("[{\"foreach\":{\"field\":\"l\",\"processor\":{\"uppercase\":{\"field\":\"_ingest._value\"}}}}]",
           "{\"l\":[\"a\",\"b\"]}", "i {\"l\":[\"A\",\"B\"]}");
    expect("[{\"split\":{\"field\":\"a\",\"separator\":\",\"}}]", "{\"a\":\"a,,b,,\"}",
           "i {\"a\":[\"a\",\"\",\"b\"]}");
}
END_TEST

START_TEST(failures)
{
    expect("[{\"remove\":{\"field\":\"x\",\"ignore_failure\":true}},{\"set\":{\"field\":\"a\",\"value\":1}}]",
           "{}", "i {\"a\":1}");
    expect("[{\"fail\":{\"message\":\"m\",\"tag\":\"t\",\"on_failure\":[{\"set\":{\"field\":\"a\",\"value\":"
           "\"{{_ingest.on_failure_message}} "
           "{{_ingest.on_failure_processor_type}} {{_ingest.on_failure_processor_tag}}\"}}]}}]",
           "{}", "i {\"a\":\"m fail t\"}");
    expect("[{\"fail\":{\"message\":\"m\",\"on_failure\":[{\"fail\":{\"message\":\"n\"}}]}}]", "{}", "n");
    expect("[{\"set\":{\"value\":1}}]", "{}", "[field] required property is missing");
    expect("[{\"nope\":{}}]", "{}", "No processor type exists with name [nope]");
    expect("[{\"set\":{\"field\":\"a\",\"value\":1,\"x\":1}}]", "{}",
           "processor [set] doesn't support one or more provided configuration parameters [x]");
}
END_TEST

/* Pipelines call each other, also in circles, and counters go on where one is replaced. */
START_TEST(sets)
{
    char out[2000];
    struct ingest_source v[] = {{STR("a"), STR("{\"processors\":[{\"pipeline\":{\"name\":\"b\"}}]}")},
                                {STR("b"), STR("{\"processors\":[{\"pipeline\":{\"name\":\"a\"}}]}")},
                                {STR("c"), STR("{\"processors\":[{\"nope\":{}}]}")}};
    ck_assert(ingest_set_replace(v, 3));
    struct ingest_set *set = ingest_set_now();
    ck_assert_int_ne(run("[{\"pipeline\":{\"name\":\"a\"}}]", "{}", set, out, sizeof(out)), ERR_OK);
    ck_assert_str_eq(out, "Cycle detected for pipeline: a");
    ck_assert_int_ne(run("[{\"pipeline\":{\"name\":\"c\"}}]", "{}", set, out, sizeof(out)), ERR_OK);
    ck_assert_ptr_nonnull(strstr(out, "could not be loaded"));
    v[1].body = STR("{\"processors\":[{\"set\":{\"field\":\"x\",\"value\":1}}]}");
    ck_assert(ingest_set_replace(v, 2));
    struct ingest_set *next = ingest_set_now();
    ck_assert(ingest_set_find(next, STR("a")) == ingest_set_find(set, STR("a")));
    ck_assert_ptr_null(ingest_set_find(next, STR("c")));
    ck_assert_int_eq(run("[{\"pipeline\":{\"name\":\"a\"}}]", "{}", next, out, sizeof(out)), ERR_OK);
    ck_assert_str_eq(out, "i {\"x\":1}");
    ingest_set_unref(set);
    ingest_set_unref(next);
    ck_assert(ingest_set_replace(NULL, 0));
}
END_TEST

START_TEST(bounds)
{
    char out[2000], deep[20000];
    size_t n = 0;
    stop_asked = true;
    ck_assert_int_eq(run("[{\"set\":{\"field\":\"a\",\"value\":1}}]", "{}", NULL, out, sizeof(out)),
                     ERR_CANCELLED);
    ck_assert_int_eq(run("[{\"set\":{\"field\":\"a\",\"value\":1,\"if\":\"ctx.x != null\"}}]", "{}", NULL,
                         out, sizeof(out)),
                     ERR_CANCELLED);
    stop_asked = false;
    for (int i = 0; i < 60; i++) {
        n += (size_t)snprintf(deep + n, sizeof(deep) - n,
                              "%s{\"foreach\":{\"field\":\"a\",\"processor\":", i == 0 ? "[" : "");
    }
    n += (size_t)snprintf(deep + n, sizeof(deep) - n, "{\"drop\":{}}");
    for (int i = 0; i < 60; i++) { /* each has two objects around it */
        n += (size_t)snprintf(deep + n, sizeof(deep) - n, "}}");
    }
    snprintf(deep + n, sizeof(deep) - n, "]");
    ck_assert_int_ne(run(deep, "{}", NULL, out, sizeof(out)), ERR_OK);
    ck_assert_ptr_nonnull(strstr(out, "nested too deeply"));
}
END_TEST

/* A text "a.a...a" of n parts. */
static const char *long_path(char *to, size_t cap, int n)
{
    size_t at = 0;
    for (int i = 0; i < n; i++) {
        at += (size_t)snprintf(to + at, cap - at, i == 0 ? "a" : ".a");
    }
    return to;
}

/* Values nest as deep as a text that is parsed, however their paths come about. */
START_TEST(depth)
{
    enum { CAP = 500000 };
    char out[4000], *def = malloc(CAP), *doc = malloc(CAP), *path = malloc(CAP);
    ck_assert(def != NULL && doc != NULL && path != NULL);
    const char *kv = "[{\"kv\":{\"field\":\"t\",\"field_split\":\" \",\"value_split\":\"=\"}}]";
    snprintf(doc, CAP, "{\"t\":\"%s=1\"}", long_path(path, CAP, 200000));
    ck_assert_int_eq(run(kv, doc, NULL, out, sizeof(out)), ERR_ILLEGAL_ARGUMENT);
    ck_assert_str_eq(out, "values nest more than [1000] deep in a document");
    snprintf(doc, CAP, "{\"t\":\"%s=1\"}", long_path(path, CAP, 1000));
    ck_assert_int_eq(run(kv, doc, NULL, out, sizeof(out)), ERR_OK);
    long_path(path, CAP, 600);
    snprintf(def, CAP,
             "[{\"set\":{\"field\":\"%s\",\"value\":1}},{\"rename\":{\"field\":\"a\",\"target_field\":"
             "\"b.%s\"}}]",
             path, path);
    ck_assert_int_eq(run(def, "{}", NULL, out, sizeof(out)), ERR_ILLEGAL_ARGUMENT);
    ck_assert_str_eq(out, "values nest more than [1000] deep in a document");
    long_path(path, CAP, 1000);
    snprintf(def, CAP, "[{\"append\":{\"field\":\"%s\",\"value\":1}}]", path);
    ck_assert_int_eq(run(def, "{}", NULL, out, sizeof(out)), ERR_ILLEGAL_ARGUMENT);
    snprintf(def, CAP,
             "[{\"set\":{\"field\":\"%s\",\"value\":1}},{\"append\":{\"field\":\"%s\",\"value\":[]}}]", path,
             path);
    ck_assert_int_eq(run(def, "{}", NULL, out, sizeof(out)), ERR_ILLEGAL_ARGUMENT);
    free(def);
    free(doc);
    free(path);
}
END_TEST

/* No two places of a document share a value. */
START_TEST(shares_nothing)
{
    expect("[{\"convert\":{\"field\":\"a\",\"type\":\"auto\",\"target_field\":\"a.self\"}}]",
           "{\"a\":{\"self\":1}}", "i {\"a\":{\"self\":{\"self\":1}}}");
    expect("[{\"convert\":{\"field\":\"a\",\"type\":\"auto\",\"target_field\":\"a.self\"}},{\"set\":{"
           "\"field\":\"a.self.q\",\"value\":1}}]",
           "{\"a\":{\"x\":1,\"y\":2,\"z\":3}}",
           "i {\"a\":{\"x\":1,\"y\":2,\"self\":{\"q\":1,\"x\":1,\"y\":2,\"z\":3},\"z\":3}}");
    expect("[{\"convert\":{\"field\":\"a\",\"type\":\"auto\",\"target_field\":\"b\"}},{\"set\":{\"field\":"
           "\"a.0.p\",\"value\":1}},{\"set\":{\"field\":\"b.0.q\",\"value\":2}}]",
           "{\"a\":[{\"x\":1,\"y\":2,\"z\":3}]}",
           "i {\"a\":[{\"p\":1,\"x\":1,\"y\":2,\"z\":3}],\"b\":[{\"q\":2,\"x\":1,\"y\":2,\"z\":3}]}");
    expect(
        "[{\"foreach\":{\"field\":\"a\",\"ignore_failure\":true,\"processor\":{\"pipeline\":{\"name\":"
        "\"none\",\"on_failure\":[{\"rename\":{\"field\":\"_ingest._value\",\"target_field\":\"a.0.self\"}}"
        ",{\"set\":{\"field\":\"a.0.self.q\",\"value\":1}},{\"fail\":{\"message\":\"m\"}}]}}}}]",
        "{\"a\":[{\"x\":1,\"y\":2,\"z\":3}]}",
        "i {\"a\":[{\"x\":1,\"y\":2,\"self\":{\"q\":1,\"x\":1,\"y\":2,\"z\":3},\"z\":3}]}");
    /* what an error leaves of an object */
    expect("[{\"foreach\":{\"field\":\"a\",\"ignore_failure\":true,\"processor\":{\"pipeline\":{\"name\":"
           "\"none\",\"on_failure\":[{\"set\":{\"field\":\"_ingest._value.x\",\"value\":2}},{\"fail\":{"
           "\"message\":\"m\"}}]}}}}]",
           "{\"a\":[{\"x\":1}]}", "i {\"a\":[{\"x\":2}]}");
    expect("[{\"dot_expander\":{\"field\":\"a.b\",\"path\":\"_source\"}}]",
           "{\"_source\":{\"c\":2,\"a.b\":1,\"d\":3},\"x\":0,\"y\":0}",
           "i {\"a\":{\"b\":1},\"x\":0,\"y\":0,\"_source\":{\"c\":2,\"d\":3}}");
}
END_TEST

/* Patterns that run away end with an error, and so do those that refer to each other without end, or grow. */
START_TEST(runaway_patterns)
{
    char out[2000], text[400], *def = malloc(8192);
    const char *const patterns[] = {"(a+)+$", "(a|aa)+$", "(a*)*(b|c)$", "((a+)+)+%{WORD:w}$"};
    ck_assert_ptr_nonnull(def);
    memset(text, 'a', sizeof(text));
    memcpy(text, "{\"f\":\"", 6);
    memcpy(text + sizeof(text) - 4, "!\"}", 4);
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        snprintf(def, 8192,
                 "[{\"grok\":{\"field\":\"f\",\"patterns\":[\"%%{A:x}\"],\"pattern_definitions\":{\"A\":\"%"
                 "s\"}}}]",
                 patterns[i]);
        ck_assert_int_eq(run(def, text, NULL, out, sizeof(out)), ERR_ILLEGAL_ARGUMENT);
        ck_assert_msg(strstr(out, "takes too long") != NULL, "%s: %s", patterns[i], out);
    }
    expect("[{\"grok\":{\"field\":\"f\",\"patterns\":[\"%{A}\"],\"pattern_definitions\":{\"A\":\"%{B}\","
           "\"B\":\"%{A}\"}}}]",
           "{}",
           "[patterns] Invalid regex pattern found in: [%{A}]. circular reference in pattern [B][%{A}] back "
           "to pattern "
           "[A]");
    expect("[{\"grok\":{\"field\":\"f\",\"patterns\":[\"x\"],\"pattern_definitions\":{\"A\":\"%{B}\",\"B\":"
           "\"%{C}\",\"C\":\"%{A}\"}}}]",
           "{}",
           "[patterns] Invalid regex pattern found in: [x]. circular reference in pattern [C][%{A}] back to "
           "pattern [A]");
    int n = snprintf(def, 8192,
                     "[{\"grok\":{\"field\":\"f\",\"patterns\":[\"%%{P0}\"],\"pattern_definitions\":{");
    for (int i = 0; i < 40; i++) { /* each is twice the one before */
        n += snprintf(def + n, 8192 - (size_t)n, "\"P%d\":\"%%{P%d}%%{P%d}\",", i, i + 1, i + 1);
    }
    snprintf(def + n, 8192 - (size_t)n, "\"P40\":\"a\"}}}]");
    ck_assert_int_ne(run(def, "{\"f\":\"a\"}", NULL, out, sizeof(out)), ERR_OK);
    ck_assert_msg(strstr(out, "grows beyond") != NULL, "%s", out);
    free(def);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ingest");
    TCase *t = tcase_create("ingest");
    suite_add_tcase(s, t);
    tcase_add_test(t, runaway_patterns);
    tcase_add_test(t, documents);
    tcase_add_test(t, failures);
    tcase_add_test(t, sets);
    tcase_add_test(t, bounds);
    tcase_add_test(t, depth);
    tcase_add_test(t, shares_nothing);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
