#include "engine/mapping/mapping_int.h"

#include <check.h>
#include <stdlib.h>

static struct analysis *standard(void)
{
    struct analysis *a = NULL;
    struct arena scratch;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct settings none;
    settings_init(&none, &scratch);
    struct analysis_env env = {0};
    ck_assert_int_eq(analysis_new(&a, &none, &env, NULL), ERR_OK);
    arena_fini(&scratch);
    return a;
}

struct world {
    struct arena arena;
    struct analysis *analysis;
    struct settings settings;
    struct errmsg em;
};

static void world_init(struct world *w)
{
    *w = (struct world){.analysis = standard()};
    arena_init(&w->arena, NULL, ARENA_UNLIMITED);
    w->em = err_in(&w->arena);
    settings_init(&w->settings, &w->arena);
}

static void world_fini(struct world *w)
{
    analysis_unref(w->analysis);
    arena_fini(&w->arena);
}

static struct json *json_of(struct world *w, const char *text)
{
    struct json *v = ARENA_NEW(&w->arena, struct json);
    ck_assert_int_eq(json_parse(v, str_of(text), &w->arena, &json_limits_default, &w->em), ERR_OK);
    return v;
}

static enum err make(struct world *w, const char *body, struct mapping **out)
{
    err_clear(&w->em);
    return mapping_new(out, json_of(w, body), w->analysis, &w->settings, &w->em);
}

static struct str printed(struct world *w, const struct mapping *m)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    struct jsonw jw;
    jsonw_init(&jw, &b, false);
    mapping_write(m, &jw);
    struct str s = arena_str(&w->arena, buf_view(&b));
    buf_fini(&b);
    return s;
}

static const char *const whole =
    "{\"dynamic\":\"strict\",\"_meta\":{\"a\":[1]},\"_routing\":{\"required\":true},\"_source\":{"
    "\"excludes\":[\"x\"]},"
    "\"dynamic_date_formats\":[\"yyyy\"],\"dynamic_templates\":[{\"t\":{\"match\":\"a*\",\"mapping\":{"
    "\"type\":\"keyword\"}}}],"
    "\"date_detection\":false,\"properties\":{"
    "\"al\":{\"type\":\"alias\",\"path\":\"name.raw\"},"
    "\"c\":{\"type\":\"completion\",\"analyzer\":\"simple\",\"preserve_separators\":true,\"preserve_position_"
    "increments\":true,"
    "\"max_input_length\":50,\"contexts\":[{\"name\":\"p\",\"type\":\"GEO\",\"precision\":6,\"path\":\"g\"}]}"
    ","
    "\"d\":{\"type\":\"date\",\"format\":\"yyyy/MM/dd\",\"null_value\":\"2020/01/01\"},"
    "\"g\":{\"type\":\"geo_point\",\"ignore_malformed\":true,\"null_value\":{\"lat\":1.0,\"lon\":2.0}},"
    "\"n\":{\"type\":\"nested\",\"include_in_root\":true,\"properties\":{\"x\":{\"type\":\"long\",\"coerce\":"
    "false}}},"
    "\"name\":{\"type\":\"text\",\"fields\":{\"raw\":{\"type\":\"keyword\",\"ignore_above\":9}},\"copy_to\":["
    "\"o.all\"],"
    "\"analyzer\":\"default\",\"search_analyzer\":\"simple\"},"
    "\"o\":{\"properties\":{\"all\":{\"type\":\"text\",\"norms\":false}}},"
    "\"s\":{\"type\":\"scaled_float\",\"scaling_factor\":10.0,\"null_value\":1.5}}}";

START_TEST(prints_what_it_was_given)
{
    struct world w;
    world_init(&w);
    struct mapping *m, *again;
    ck_assert_msg(make(&w, whole, &m) == ERR_OK, "%s", err_reason(&w.em));
    struct str text = printed(&w, m);
    ck_assert_msg(json_equal(json_of(&w, text.p), json_of(&w, whole)), "%s", text.p);
    ck_assert_int_eq(make(&w, text.p, &again), ERR_OK);
    ck_assert_str_eq(printed(&w, again).p, text.p);
    mapping_unref(again);
    mapping_unref(m);
    world_fini(&w);
}
END_TEST

START_TEST(fields_are_found)
{
    struct world w;
    world_init(&w);
    struct mapping *m;
    ck_assert_int_eq(make(&w, whole, &m), ERR_OK);
    const struct field *raw = mapping_field(m, STR("name.raw"));
    ck_assert_ptr_nonnull(raw);
    ck_assert(raw->is_multi_field && raw->ignore_above == 9 && raw->class == &field_class_keyword);
    ck_assert_ptr_eq(mapping_field(m, STR("al")), raw);
    ck_assert(mapping_field_raw(m, STR("al"))->class->is_alias);
    ck_assert_ptr_eq(mapping_field(m, STR("n.x"))->nested, mapping_field(m, STR("n")));
    ck_assert_ptr_null(mapping_field(m, STR("name.none")));
    ck_assert_ptr_nonnull(mapping_field(m, STR("_id")));
    ck_assert(mapping_routing_required(m) && mapping_source_enabled(m) && mapping_has_nested(m));
    ck_assert_str_eq(mapping_field(m, STR("s"))->class->name, "scaled_float");
    for (uint32_t i = 0; i < mapping_field_count(m); i++) {
        ck_assert_uint_eq(mapping_field_at(m, i)->number, i);
    }
    const struct field **found;
    size_t n;
    ck_assert(mapping_match(m, STR("n*"), &w.arena, &found, &n));
    ck_assert_uint_eq(n, 3);
    ck_assert(str_is(found[0]->path, "n.x") && str_is(found[1]->path, "name")
              && str_is(found[2]->path, "name.raw"));
    ck_assert(mapping_match(m, STR("_routing"), &w.arena, &found, &n) && n == 1);
    ck_assert(mapping_match(m, STR("o"), &w.arena, &found, &n) && n == 0);
    mapping_unref(m);
    world_fini(&w);
}
END_TEST

START_TEST(merging_keeps_numbers)
{
    struct world w;
    world_init(&w);
    struct mapping *m, *merged;
    ck_assert_int_eq(make(&w,
                          "{\"properties\":{\"k\":{\"type\":\"keyword\"},\"o\":{\"properties\":{\"x\":{"
                          "\"type\":\"long\"}}}}}",
                          &m),
                     ERR_OK);
    const struct json *body = json_of(
        &w, "{\"properties\":{\"a\":{\"type\":\"date\"},\"o\":{\"properties\":{\"b\":{\"type\":\"ip\"}}},"
            "\"k\":{\"type\":\"keyword\",\"fields\":{\"t\":{\"type\":\"text\"}}}}}");
    ck_assert_int_eq(mapping_merge(&merged, m, body, &w.em), ERR_OK);
    for (uint32_t i = 0; i < mapping_field_count(m); i++) {
        ck_assert(str_eq(mapping_field_at(m, i)->path, mapping_field_at(merged, i)->path));
    }
    ck_assert_uint_eq(mapping_field_count(merged), mapping_field_count(m) + 3);
    ck_assert_str_eq(printed(&w, merged).p,
                     "{\"properties\":{\"a\":{\"type\":\"date\"},\"k\":{\"type\":\"keyword\",\"fields\":{"
                     "\"t\":{\"type\":\"text\"}}},"
                     "\"o\":{\"properties\":{\"b\":{\"type\":\"ip\"},\"x\":{\"type\":\"long\"}}}}}");
    mapping_unref(merged);
    mapping_unref(m);
    world_fini(&w);
}
END_TEST

START_TEST(merging_refuses)
{
    static const struct {
        const char *body;
        enum err want;
    } cases[] = {
        {"{\"properties\":{\"k\":{\"type\":\"text\"}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"properties\":{\"k\":{\"type\":\"keyword\",\"doc_values\":false}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"properties\":{\"k\":{\"type\":\"keyword\",\"ignore_above\":3}}}", ERR_OK},
        {"{\"properties\":{\"k\":{\"properties\":{}}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"properties\":{\"o\":{\"type\":\"nested\"}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"properties\":{\"o\":{\"enabled\":false}}}", ERR_MAPPER},
        {"{\"properties\":{\"t\":{\"type\":\"text\",\"norms\":false}}}", ERR_OK},
        {"{\"properties\":{\"q\":{\"type\":\"text\"}}}", ERR_ILLEGAL_ARGUMENT},
        {"{\"properties\":{\"x\":{\"type\":\"nope\"}}}", ERR_MAPPER_PARSING},
        {"{\"_routing\":{\"required\":true}}", ERR_ILLEGAL_ARGUMENT},
        {"{}", ERR_OK},
    };
    struct world w;
    world_init(&w);
    struct mapping *m, *merged;
    ck_assert_int_eq(make(&w,
                          "{\"properties\":{\"k\":{\"type\":\"keyword\"},\"o\":{\"properties\":{}},\"t\":{"
                          "\"type\":\"text\"},"
                          "\"q\":{\"type\":\"text\",\"norms\":false}}}",
                          &m),
                     ERR_OK);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        err_clear(&w.em);
        enum err e = mapping_merge(&merged, m, json_of(&w, cases[i].body), &w.em);
        ck_assert_msg(e == cases[i].want, "%s: %s", cases[i].body, err_type(e));
        mapping_unref(merged);
    }
    mapping_unref(m);
    world_fini(&w);
}
END_TEST

START_TEST(limits_hold)
{
    static const struct {
        const char *setting, *value, *body;
    } cases[] = {
        {"index.mapping.total_fields.limit", "1",
         "{\"properties\":{\"a\":{\"type\":\"text\",\"fields\":{\"k\":{\"type\":\"keyword\"}}}}}"},
        {"index.mapping.depth.limit", "1",
         "{\"properties\":{\"a\":{\"properties\":{\"b\":{\"type\":\"long\"}}}}}"},
        {"index.mapping.nested_fields.limit", "0", "{\"properties\":{\"a\":{\"type\":\"nested\"}}}"},
        {"index.mapping.field_name_length.limit", "2", "{\"properties\":{\"abc\":{\"type\":\"long\"}}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct world w;
        world_init(&w);
        struct mapping *m;
        ck_assert_int_eq(make(&w, cases[i].body, &m), ERR_OK);
        mapping_unref(m);
        ck_assert(settings_put(&w.settings, str_of(cases[i].setting), str_of(cases[i].value)));
        ck_assert_int_eq(make(&w, cases[i].body, &m), ERR_ILLEGAL_ARGUMENT);
        world_fini(&w);
    }
}
END_TEST

START_TEST(every_failed_allocation_is_reported)
{
    struct world w;
    world_init(&w);
    const struct json *body = json_of(&w, whole);
    bool fired = true;
    for (uint64_t nth = 1; fired; nth++) {
        struct alloc_failing f;
        alloc_failing_init(&f, nth);
        struct mapping *m;
        enum err e = mapping_new_with(&m, body, w.analysis, &w.settings, STR(""), &f.base, &w.em);
        struct mapping *merged = NULL;
        if (e == ERR_OK) {
            enum err e2 =
                mapping_merge(&merged, m, json_of(&w, "{\"properties\":{\"z\":{\"type\":\"long\"}}}"), &w.em);
            ck_assert_int_eq(e2, f.fired ? ERR_NO_MEMORY : ERR_OK);
        } else {
            ck_assert_int_eq(e, ERR_NO_MEMORY);
        }
        mapping_unref(merged);
        mapping_unref(m);
        fired = f.fired;
    }
    world_fini(&w);
}
END_TEST

START_TEST(numbers_sort)
{
    static const double v[] = {-1e300, -1.5, -1, -1e-300, -0.0, 0.0, 1e-300, 1, 1.5, 1e300};
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        ck_assert(num_to_double(num_from_double(v[i])) == v[i]);
        ck_assert(num_to_float(num_from_float((float)v[i])) == (float)v[i]);
        if (i > 0) {
            ck_assert(num_from_double(v[i - 1]) < num_from_double(v[i]));
            ck_assert(num_from_float((float)v[i - 1]) <= num_from_float((float)v[i]));
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mapping");
    TCase *t = tcase_create("mapping");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, prints_what_it_was_given);
    tcase_add_test(t, fields_are_found);
    tcase_add_test(t, merging_keeps_numbers);
    tcase_add_test(t, merging_refuses);
    tcase_add_test(t, limits_hold);
    tcase_add_test(t, every_failed_allocation_is_reported);
    tcase_add_test(t, numbers_sort);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
