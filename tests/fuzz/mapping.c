/* Mappings, and documents read by them. */
#include "tests/fuzz/fuzz.h"

#include "common/base/utf8.h"
#include "engine/analysis/analysis.h"
#include "engine/mapping/document.h"

#include <stdlib.h>

static struct arena kept;
static struct settings settings;
static struct analysis *analysis;
static struct mapping *mapping;

static const char mapping_text[] =
    "{\"properties\":{\"t\":{\"type\":\"text\",\"fields\":{\"k\":{\"type\":\"keyword\",\"ignore_above\":20}}}"
    ",\"k\":{\"type\":\"keyword\"},"
    "\"i\":{\"type\":\"integer\"},\"l\":{\"type\":\"long\",\"ignore_malformed\":true},\"d\":{\"type\":"
    "\"double\"},\"f\":{\"type\":\"half_float\"},"
    "\"s\":{\"type\":\"scaled_float\",\"scaling_factor\":100},\"b\":{\"type\":\"boolean\"},\"a\":{\"type\":"
    "\"date\"},\"n\":{\"type\":\"date_nanos\"},"
    "\"ip\":{\"type\":\"ip\"},\"g\":{\"type\":\"geo_point\"},\"x\":{\"type\":\"binary\",\"doc_values\":true},"
    "\"c\":{\"type\":\"completion\",\"contexts\":[{\"name\":\"cat\",\"type\":\"category\"},{\"name\":\"geo\","
    "\"type\":\"geo\",\"precision\":4}]},"
    "\"r\":{\"type\":\"integer_range\"},\"dr\":{\"type\":\"date_range\"},\"w\":{\"type\":\"token_count\","
    "\"analyzer\":\"standard\"},"
    "\"rf\":{\"type\":\"rank_feature\"},\"rs\":{\"type\":\"rank_features\"},\"dv\":{\"type\":\"dense_"
    "vector\",\"dims\":3},\"wc\":{\"type\":\"wildcard\",\"ignore_above\":30},"
    "\"o\":{\"properties\":{\"p\":{\"type\":\"keyword\",\"copy_to\":\"t\"}}},\"q\":{\"type\":\"nested\","
    "\"properties\":{\"v\":{\"type\":\"integer\"}}}}}";

static void init(void)
{
    const struct analysis_env env = {0};
    struct json body;
    ERR_LOCAL(em);
    if (mapping != NULL) {
        return;
    }
    fuzz_arena(&kept);
    settings_init(&settings, &kept);
    FUZZ_HOLDS(analysis_new(&analysis, &settings, &env, &em) == ERR_OK);
    FUZZ_HOLDS(json_parse(&body, str_of(mapping_text), &kept, &json_limits_default, NULL) == ERR_OK);
    FUZZ_HOLDS(mapping_new(&mapping, &body, analysis, &settings, &em) == ERR_OK);
}

/* What it prints makes it again. */
static void print_again(const struct mapping *m, struct arena *a)
{
    struct buf b, c;
    struct jsonw w;
    struct json v;
    ERR_LOCAL(em);
    struct mapping *again;
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    buf_init(&c, NULL, FUZZ_ARENA_BYTES);
    jsonw_init(&w, &b, false);
    mapping_write(m, &w);
    if (!b.failed && json_parse(&v, buf_view(&b), a, &json_limits_default, &em) == ERR_OK) {
        enum err e = mapping_new(&again, &v, analysis, &settings, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            jsonw_init(&w, &c, false);
            mapping_write(again, &w);
            FUZZ_HOLDS(c.failed || str_eq(buf_view(&b), buf_view(&c)));
            mapping_unref(again);
        }
    }
    buf_fini(&b);
    buf_fini(&c);
}

static void one_mapping(struct str in)
{
    struct arena a;
    struct json v;
    struct mapping *m;
    ERR_LOCAL(em);
    fuzz_arena(&a);
    if (json_parse(&v, in, &a, &json_limits_default, NULL) == ERR_OK && v.type == JSON_OBJECT) {
        enum err e = mapping_new(&m, &v, analysis, &settings, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            print_again(m, &a);
            mapping_unref(m);
        }
        e = mapping_merge(&m, mapping, &v, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK) {
            mapping_unref(m);
        }
    }
    arena_fini(&a);
}

static void one_document(struct str in)
{
    struct arena a;
    struct parsed_doc doc;
    ERR_LOCAL(em);
    const struct source_to_parse s = {
        .index_name = STR("i"), .id = STR("1"), .source = in, .dynamic_allowed = true};
    fuzz_arena(&a);
    fuzz_error(document_parse(&doc, mapping, &s, &a, &em), &em);
    arena_fini(&a);
}

const struct fuzz_target fuzz_mapping[] = {
    {"mapping", one_mapping, init, FUZZ_BYTES},
    {"document", one_document, init, FUZZ_BYTES},
    {0},
};
