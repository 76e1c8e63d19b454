#include "engine/mapping/document.h"

#include "common/base/rand.h"
#include "engine/mapping/completion_paths.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct world {
    struct arena arena; /* of documents */
    struct analysis *analysis;
    struct mapping *mapping;
    struct errmsg em;
    struct parsed_doc doc;
};

static void world_init(struct world *w, const char *body)
{
    *w = (struct world){0};
    struct settings none;
    struct analysis_env env = {0};
    struct json v;
    arena_init(&w->arena, NULL, ARENA_UNLIMITED);
    w->em = err_in(&w->arena);
    settings_init(&none, &w->arena);
    ck_assert_int_eq(analysis_new(&w->analysis, &none, &env, NULL), ERR_OK);
    ck_assert_int_eq(json_parse(&v, str_of(body), &w->arena, &json_limits_default, &w->em), ERR_OK);
    ck_assert_msg(mapping_new(&w->mapping, &v, w->analysis, &none, &w->em) == ERR_OK, "%s",
                  err_reason(&w->em));
}

static void world_fini(struct world *w)
{
    mapping_unref(w->mapping);
    analysis_unref(w->analysis);
    arena_fini(&w->arena);
}

static enum err parse(struct world *w, const char *text)
{
    struct source_to_parse in = {
        .index_name = STR("i"), .id = STR("1"), .source = str_of(text), .dynamic_allowed = true};
    err_clear(&w->em);
    return document_parse(&w->doc, w->mapping, &in, &w->arena, &w->em);
}

/* What a part holds, as text: "field=value ..." in order. */
static const char *shown(struct world *w, size_t part)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct jsonw jw;
    jsonw_init(&jw, &b, false);
    for (size_t i = 0; i < w->doc.parts[part].n; i++) {
        const struct doc_value *v = &w->doc.parts[part].values[i];
        buf_printf(&b, "%s%.*s=", i > 0 ? " " : "", STR_ARG(v->field->path));
        switch (v->kind) {
        case DOC_TEXT:
            for (uint32_t k = 0; k < v->text.n; k++) {
                buf_printf(&b, "%s%.*s", k > 0 ? "|" : "", STR_ARG(v->text.v[k].text));
            }
            break;
        case DOC_NUM:
            jsonw_init(&jw, &b, false);
            field_write_num(v->field, v->num, &jw);
            break;
        case DOC_COMPLETION:
            buf_printf(&b, "%.*s*%u/%u", STR_ARG(v->completion.input), v->completion.weight,
                       v->completion.n_contexts);
            break;
        case DOC_RANGE:
            buf_printf(&b, "%lld..%lld", (long long)v->range.from, (long long)v->range.to);
            break;
        case DOC_FEATURE:
            buf_printf(&b, "%.*s*%u", STR_ARG(v->feature.name), v->feature.freq);
            break;
        case DOC_GEO:
            buf_z(&b, "point");
            break;
        case DOC_TERM:
        case DOC_BYTES:
            buf_str(&b, v->bytes);
            break;
        }
    }
    struct str s = arena_str(&w->arena, buf_view(&b));
    buf_fini(&b);
    return s.p;
}

static const char *update(struct world *w)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct jsonw jw;
    jsonw_init(&jw, &b, false);
    jw_value(&jw, w->doc.mapping_update);
    struct str s = arena_str(&w->arena, buf_view(&b));
    buf_fini(&b);
    return s.p;
}

static const char *const everything =
    "{\"properties\":{\"t\":{\"type\":\"text\",\"fields\":{\"k\":{\"type\":\"keyword\",\"ignore_above\":5}}},"
    "\"k\":{\"type\":\"keyword\",\"null_value\":\"NONE\",\"copy_to\":[\"all\"]},\"all\":{\"type\":\"text\"},"
    "\"i\":{\"type\":\"integer\",\"ignore_malformed\":true},\"f\":{\"type\":\"half_float\"},\"b\":{\"type\":"
    "\"boolean\"},"
    "\"d\":{\"type\":\"date\"},\"g\":{\"type\":\"geo_point\",\"fields\":{\"h\":{\"type\":\"keyword\"}}},"
    "\"s\":{\"type\":\"scaled_float\",\"scaling_factor\":100},\"r\":{\"type\":\"integer_range\"},"
    "\"c\":{\"type\":\"completion\",\"max_input_length\":5},\"n\":{\"type\":\"nested\",\"include_in_root\":"
    "true,\"properties\":{"
    "\"x\":{\"type\":\"long\"},\"m\":{\"type\":\"nested\",\"properties\":{\"y\":{\"type\":\"long\"}}}}},"
    "\"o\":{\"properties\":{\"p\":{\"type\":\"keyword\"}}},\"off\":{\"enabled\":false},"
    "\"bin\":{\"type\":\"binary\",\"doc_values\":true},\"tc\":{\"type\":\"token_count\",\"analyzer\":"
    "\"standard\"},"
    "\"con\":{\"type\":\"constant_keyword\",\"value\":\"v\"}}}";

START_TEST(values_of_every_type)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"{\"t\":\"The Quick\"}", "t=the|quick"},
        {"{\"t\":\"ab\"}", "t=ab t.k=ab"},
        {"{\"t\":[1,true,null]}", "t=1 t.k=1 t=true t.k=true"},
        {"{\"k\":null}", "k=NONE"},
        {"{\"k\":\"A B\"}", "k=A B all=a|b"},
        {"{\"i\":\" 5 \"}", "i=5"},
        {"{\"i\":[1,[2,[3.7]]]}", "i=1 i=2 i=3"},
        {"{\"i\":\"x\"}", ""},
        {"{\"f\":0.333}", "f=0.3330078125"},
        {"{\"b\":\"\"}", "b=F b=false"},
        {"{\"d\":\"2020-01-01\"}", "d=\"2020-01-01T00:00:00.000Z\""},
        {"{\"d\":5}", "d=\"1970-01-01T00:00:00.005Z\""},
        {"{\"s\":1.005}", "s=1.0"},
        {"{\"s\":\"1.239\"}", "s=1.24"},
        {"{\"r\":{\"gt\":1,\"lt\":5}}", "r=2..4"},
        {"{\"c\":[\"a\",{\"input\":[\"abcdefg\",\"a\"],\"weight\":7}]}", "c=a*7/0 c=abcde*7/0"},
        {"{\"o.p\":\"q\"}", "o.p=q"},
        {"{\"off\":{\"x\":[1,{}]}}", ""},
        {"{\"g\":[[1,2],[3,4]]}", "g=point g=point g.h=[s037ms06g7h0,s0dzwz0z1h00]"},
        {"{\"bin\":\"U29tZQ==\"}", "bin=Some"},
        {"{\"tc\":\"one two three\"}", "tc=3"},
        {"{\"con\":\"v\"}", ""},
        {"{}", ""},
    };
    struct world w;
    world_init(&w, everything);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_msg(parse(&w, cases[i].text) == ERR_OK, "%s: %s", cases[i].text, err_reason(&w.em));
        ck_assert_ptr_null(w.doc.mapping_update);
        if (strstr(cases[i].want, "g.h") == NULL) {
            ck_assert_str_eq(shown(&w, w.doc.n_parts - 1), cases[i].want);
        }
    }
    world_fini(&w);
}
END_TEST

START_TEST(refused_values)
{
    static const struct {
        const char *text;
        enum err outer, inner;
    } cases[] = {
        {"{\"d\":\"soon\"}", ERR_MAPPER_PARSING, ERR_DATE_TIME_PARSE},
        {"{\"b\":\"yes\"}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"{\"k\":{\"a\":1}}", ERR_MAPPER_PARSING, ERR_ILLEGAL_STATE},
        {"{\"i\":{\"a\":1}}", ERR_MAPPER_PARSING, ERR_JSON},
        {"{\"o\":5}", ERR_MAPPER_PARSING, ERR_MAPPER_PARSING},
        {"{\"_id\":5}", ERR_MAPPER_PARSING, ERR_MAPPER_PARSING},
        {"{\"\":5}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"{\"a..b\":5}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"{\"n.x\":5}", ERR_MAPPER_PARSING, ERR_MAPPER_PARSING},
        {"{\"c\":5}", ERR_MAPPER_PARSING, ERR_PARSING},
        {"{\"c\":{\"weight\":-1}}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"{\"g\":\"91,0\"}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"{\"r\":{\"gte\":5,\"lte\":1}}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"{\"con\":\"w\"}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"[1]", ERR_MAPPER_PARSING, ERR_NOT_X_CONTENT},
        {"{\"k\":1", ERR_MAPPER_PARSING, ERR_JSON_EOF},
        {"{\"k\":\"\\x\"}", ERR_MAPPER_PARSING, ERR_JSON},
        {"{\"d\":\"soon\",", ERR_MAPPER_PARSING, ERR_DATE_TIME_PARSE},
        {"{\"k\":1}{}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
        {"{\"new\":[1.5,2]}", ERR_ILLEGAL_ARGUMENT, ERR_ILLEGAL_ARGUMENT},
        {"{\"new\":1e40}", ERR_MAPPER_PARSING, ERR_ILLEGAL_ARGUMENT},
    };
    struct world w;
    world_init(&w, everything);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        enum err e = parse(&w, cases[i].text);
        ck_assert_msg(e == cases[i].outer && err_innermost(&w.em)->code == cases[i].inner, "%s: %s ... %s",
                      cases[i].text, err_type(e), err_type(err_innermost(&w.em)->code));
    }
    world_fini(&w);
}
END_TEST

START_TEST(nested_objects_come_first)
{
    struct world w;
    world_init(&w, everything);
    ck_assert_int_eq(parse(&w, "{\"n\":[{\"x\":1,\"m\":[{\"y\":2},{\"y\":3}]},{\"x\":4}],\"i\":5}"), ERR_OK);
    ck_assert_uint_eq(w.doc.n_parts, 5);
    ck_assert_str_eq(shown(&w, 0), "n.m.y=2");
    ck_assert_str_eq(shown(&w, 1), "n.m.y=3");
    ck_assert_str_eq(shown(&w, 2), "n.x=1");
    ck_assert_str_eq(shown(&w, 3), "n.x=4");
    ck_assert_str_eq(shown(&w, 4), "n.x=1 n.x=4 i=5");
    ck_assert(str_is(w.doc.parts[0].nested->path, "n.m") && w.doc.parts[4].nested == NULL);
    world_fini(&w);
}
END_TEST

START_TEST(malformed_values_are_remembered)
{
    struct world w;
    world_init(&w, everything);
    ck_assert_int_eq(parse(&w, "{\"i\":[\"x\",2,\"y\"],\"c\":\" \"}"), ERR_OK);
    ck_assert_uint_eq(w.doc.n_ignored, 2);
    ck_assert(str_is(w.doc.ignored[0], "i") && str_is(w.doc.ignored[1], "c"));
    ck_assert_str_eq(shown(&w, 0), "i=2");
    world_fini(&w);
}
END_TEST

START_TEST(new_fields_are_asked_for)
{
    struct world w;
    world_init(&w,
               "{\"properties\":{\"o\":{\"properties\":{}},\"shut\":{\"dynamic\":false,\"properties\":{}}}}");
    ck_assert_int_eq(parse(&w, "{\"a\":1,\"b\":\"x\",\"o\":{\"c\":[true]},\"p.q\":\"2020/01/"
                               "01\",\"shut\":{\"z\":1},\"e\":[],\"n\":null}"),
                     ERR_OK);
    ck_assert_str_eq(
        update(&w),
        "{\"properties\":{\"a\":{\"type\":\"long\"},\"b\":{\"type\":\"text\",\"fields\":{\"keyword\":"
        "{\"type\":\"keyword\",\"ignore_above\":256}}},\"o\":{\"type\":\"object\",\"properties\":{\"c\":"
        "{\"type\":\"boolean\"}}},\"p\":{\"type\":\"object\",\"properties\":{\"q\":{\"type\":\"date\","
        "\"format\":"
        "\"yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis\"}}}}}");
    struct mapping *merged;
    ck_assert_int_eq(mapping_merge(&merged, w.mapping, w.doc.mapping_update, &w.em), ERR_OK);
    mapping_unref(w.mapping);
    w.mapping = merged;
    ck_assert_int_eq(parse(&w, "{\"a\":1,\"o\":{\"c\":[true]}}"), ERR_OK);
    ck_assert_ptr_null(w.doc.mapping_update);
    ck_assert_str_eq(shown(&w, 0), "a=1 o.c=T o.c=true");
    world_fini(&w);
}
END_TEST

static struct str mapping_text(struct world *w, const struct mapping *m)
{
    struct buf b;
    struct jsonw jw;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&jw, &b, false);
    mapping_write(m, &jw);
    struct str s = arena_str(&w->arena, buf_view(&b));
    buf_fini(&b);
    return s;
}

/* n new fields in one object, under names with dots. Returns the memory that asking for them took. */
static size_t ask_for(struct world *w, unsigned n)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (unsigned i = 0; i < n; i++) {
        buf_printf(&b, "%s\"o.p.f%u\":%u", i > 0 ? "," : "{", i, i);
    }
    buf_z(&b, "}");
    struct str text = arena_str(&w->arena, buf_view(&b));
    buf_fini(&b);
    size_t before = w->arena.bytes_used;
    ck_assert_int_eq(parse(w, text.p), ERR_OK);
    return w->arena.bytes_used - before;
}

/* What they take grows with their number, not with its square; and asked for once more they change nothing. */
START_TEST(many_new_fields)
{
    struct world w;
    world_init(&w, "{}");
    size_t few = ask_for(&w, 120), many = ask_for(&w, 960);
    ck_assert_msg(many < 20 * few, "%zu bytes for 120 fields, %zu for 960", few, many);
    const struct json *asked = json_path(w.doc.mapping_update, "properties.o.properties.p.properties");
    ck_assert(asked != NULL && asked->n == 960 && str_is(asked->members[959].key, "f959"));
    struct mapping *m, *again;
    ck_assert_int_eq(mapping_merge(&m, w.mapping, w.doc.mapping_update, &w.em), ERR_OK);
    ck_assert_int_eq(mapping_merge(&again, m, w.doc.mapping_update, &w.em), ERR_OK);
    struct str once = mapping_text(&w, m), twice = mapping_text(&w, again);
    ck_assert(once.n > 960 && str_eq(once, twice));
    ck_assert_uint_eq(mapping_field_count(m), mapping_field_count(again));
    mapping_unref(m);
    mapping_unref(again);
    ck_assert_int_eq(parse(&w, "{\"o.x\":1,\"o.p\":{\"y\":1},\"o\":{\"x.z\":2}}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(parse(&w, "{\"o.x\":1,\"o\":{\"x\":2}}"), ERR_OK);
    ck_assert_str_eq(update(&w), "{\"properties\":{\"o\":{\"type\":\"object\",\"properties\":{\"x\":"
                                 "{\"type\":\"long\"}}}}}");
    world_fini(&w);
}
END_TEST

START_TEST(contexts_of_completions)
{
    struct world w;
    world_init(
        &w, "{\"properties\":{\"city\":{\"type\":\"keyword\"},\"c\":{\"type\":\"completion\",\"contexts\":["
            "{\"name\":\"city\",\"type\":\"category\",\"path\":\"city\"},{\"name\":\"kind\",\"type\":"
            "\"category\"}]}}}");
    ck_assert_int_eq(
        parse(&w, "{\"c\":{\"input\":\"a\",\"contexts\":{\"kind\":[\"x\",\"y\"]}},\"city\":\"z\"}"), ERR_OK);
    ck_assert_str_eq(shown(&w, 0), "c=a*1/3 city=z");
    ck_assert_int_eq(parse(&w, "{\"c\":\"a\"}"), ERR_ILLEGAL_ARGUMENT);
    ck_assert_int_eq(parse(&w, "{\"c\":{\"input\":\"a\",\"contexts\":{\"none\":\"x\"}}}"),
                     ERR_MAPPER_PARSING);
    world_fini(&w);
}
END_TEST

START_TEST(source_rules)
{
    struct world w;
    world_init(&w, "{\"_source\":{\"includes\":[\"a*\"],\"excludes\":[\"ab\"]},\"dynamic\":false}");
    ck_assert_int_eq(parse(&w, "{\"a\":1,\"ab\":2,\"c\":3}"), ERR_OK);
    ck_assert_str_eq(arena_str(&w.arena, w.doc.source).p, "{\"a\":1}");
    world_fini(&w);
    world_init(&w, "{\"_source\":{\"enabled\":false}}");
    ck_assert_int_eq(parse(&w, "{}"), ERR_OK);
    ck_assert_uint_eq(w.doc.source.n, 0);
    world_fini(&w);
}
END_TEST

START_TEST(values_in_a_source)
{
    struct world w;
    world_init(&w, "{}");
    struct json v;
    const struct json **out;
    size_t n;
    ck_assert_int_eq(json_parse(&v, STR("{\"a\":[{\"b\":[3,[4,null]]},{\"b\":2}],\"a.b\":1}"), &w.arena,
                                &json_limits_default, NULL),
                     ERR_OK);
    ck_assert(source_values(&v, STR("a.b"), &w.arena, &out, &n));
    ck_assert_uint_eq(n, 5);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_int_eq((int)json_double(out[i]), (int)i + 1);
    }
    ck_assert_int_eq(out[4]->type, JSON_NULL);
    world_fini(&w);
}
END_TEST

static const char *const pieces[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"t\"",
    "\"k\"",
    "\"i\"",
    "\"n\"",
    "\"m\"",
    "\"o\"",
    "\"g\"",
    "\"c\"",
    "\"r\"",
    "\"input\"",
    "\"weight\"",
    "\"gte\"",
    "\"lat\"",
    "\"lon\"",
    "1",
    "-2.5e3",
    "true",
    "null",
    "\"x.y\"",
    "\"o.p\"",
    "\"2020-01-01\"",
    "\"\\u",
    "\"",
    "\\",
    "é",
    "\"n.m\"",
    "\"\"",
    "/*",
    "*/",
    "1e999",
    "\"off\"",
    "\"b\"",
    "\"d\"",
    "\"s\"",
    " ",
    "\"_id\"",
    "\"contexts\"",
};

/* Any bytes: random pieces of documents glued together. It must not crash, and what it accepts must be whole.
 */
START_TEST(random_documents)
{
    struct rng rng;
    rng_seed(&rng, 42);
    struct world w;
    world_init(&w, everything);
    for (int round = 0; round < 20000; round++) {
        char text[512];
        size_t n = 0, want = (size_t)(rng_u64(&rng) % 24);
        text[n++] = '{';
        for (size_t i = 0; i < want; i++) {
            /* mostly "key": value, so that some get deep */
            const char *piece = pieces[rng_u64(&rng) % ARRAY_LEN(pieces)];
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", piece);
            if (i % 2 == 0 && rng_u64(&rng) % 4 != 0) {
                text[n++] = ':';
            } else if (i % 2 == 1 && rng_u64(&rng) % 4 != 0) {
                text[n++] = ',';
            }
        }
        text[n++] = '}';
        text[n] = '\0';
        enum err e = parse(&w, text);
        ck_assert_msg(e == ERR_OK || err_is(&w.em), "%s", text);
        arena_reset(&w.arena);
    }
    world_fini(&w);
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    struct world w;
    world_init(&w, everything);
    struct buf text;
    buf_init(&text, NULL, BUF_UNLIMITED);
    buf_z(&text, "{\"new\":{\"x\":\"y\"},\"g\":\"1,2\",\"c\":\"one two\",\"t\":[");
    for (int i = 0; i < 3000; i++) {
        buf_printf(&text, "%s\"the quick brown fox %d\"", i > 0 ? "," : "", i);
    }
    buf_z(&text, "],\"n\":[{\"x\":1}],\"k\":\"escaped \\u00e9\"}");
    struct source_to_parse in = {
        .index_name = STR("i"), .id = STR("1"), .source = buf_view(&text), .dynamic_allowed = true};
    bool fired = true;
    uint64_t nth = 1;
    for (; fired; nth++) {
        struct alloc_failing f;
        struct arena a;
        alloc_failing_init(&f, nth);
        arena_init(&a, &f.base, ARENA_UNLIMITED);
        enum err e = document_parse(&w.doc, w.mapping, &in, &a, &w.em);
        fired = f.fired;
        ck_assert_int_eq(e, fired ? ERR_NO_MEMORY : ERR_OK);
        arena_fini(&a);
    }
    ck_assert_uint_gt(nth, 5);
    /* And at every size of a small arena. */
    struct source_to_parse small = in;
    small.source = STR("{\"new\":{\"x\":\"y\"},\"g\":\"1,2\",\"c\":\"one two\",\"t\":\"a b "
                       "c\",\"n\":[{\"x\":1}],\"d\":\"2020-01-01\"}");
    enum err e = ERR_NO_MEMORY;
    for (size_t max = 256; e != ERR_OK; max += 64) {
        struct arena a;
        arena_init(&a, NULL, max);
        e = document_parse(&w.doc, w.mapping, &small, &a, &w.em);
        ck_assert(e == ERR_OK || e == ERR_NO_MEMORY);
        arena_fini(&a);
    }
    buf_fini(&text);
    world_fini(&w);
}
END_TEST

START_TEST(paths_of_completions)
{
    static const struct {
        const char *analyzer, *text, *want;
        bool separators, increments;
    } cases[] = {
        {"simple", "Hotel Lake", "hotel\x1flake", true, true},
        {"simple", "Hotel Lake", "hotellake", false, true},
        {"stop", "the lake", "\x1flake", true, true},
        {"stop", "the lake", "lake", true, false},
        {"stop", "lake the", "lake\x1f", true, true},
        {"keyword", "Hotel Lake", "Hotel Lake", true, true},
    };
    struct world w;
    world_init(&w, "{}");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct str *paths;
        uint32_t n;
        struct completion_options o = {analysis_analyzer(w.analysis, str_of(cases[i].analyzer)),
                                       cases[i].separators, cases[i].increments};
        ck_assert_int_eq(completion_paths(&o, str_of(cases[i].text), &w.arena, &paths, &n, NULL), ERR_OK);
        ck_assert_uint_eq(n, 1);
        ck_assert_str_eq(paths[0].p, cases[i].want);
    }
    world_fini(&w);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("document");
    TCase *t = tcase_create("document");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, values_of_every_type);
    tcase_add_test(t, refused_values);
    tcase_add_test(t, nested_objects_come_first);
    tcase_add_test(t, malformed_values_are_remembered);
    tcase_add_test(t, new_fields_are_asked_for);
    tcase_add_test(t, many_new_fields);
    tcase_add_test(t, contexts_of_completions);
    tcase_add_test(t, source_rules);
    tcase_add_test(t, values_in_a_source);
    tcase_add_test(t, random_documents);
    tcase_add_test(t, every_failed_allocation_is_reported);
    tcase_add_test(t, paths_of_completions);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
