/* What Elasticsearch 7.12.1 answered, where the recordings are at hand (../shared/conformance, or $CONFORMANCE_DIR): the
 * analyses of text by IK and pinyin, run through the parts themselves. */
#include "common/base/json.h"
#include "common/base/utf8.h"
#include "common/sys/fs_posix.h"
#include "engine/analysis/ik.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/pinyin.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_MIN 600 /* fewer, and the test has lost its way */

struct replay {
    struct analysis_env env;
    struct arena arena;         /* a step's */
    struct arena file;          /* a scenario's */
    const struct json *declared; /* settings.analysis of the scenario's index */
    size_t done, skipped, failed;
};

struct pipeline {
    const struct tokenizer *tokenizer;
    const struct token_filter *filters[8];
    size_t n;
    bool first_use;
    int32_t gap;
};

static tokenizer_factory tokenizer_of(struct str type)
{
    return str_is(type, "ik_smart") || str_is(type, "ik_max_word") ? ik_tokenizer_new
           : str_is(type, "pinyin")                                ? pinyin_tokenizer_new
           : str_is(type, "keyword")                               ? keyword_tokenizer_new
           : str_is(type, "standard")                              ? standard_tokenizer_new
           : str_is(type, "whitespace")                            ? whitespace_tokenizer_new
                                                                   : NULL;
}

static token_filter_factory filter_of(struct str type)
{
    return str_is(type, "pinyin")      ? pinyin_filter_new
           : str_is(type, "lowercase") ? lowercase_filter_new
           : str_is(type, "length")    ? length_filter_new
           : str_is(type, "keep")      ? keep_filter_new
           : str_is(type, "stop")      ? stop_filter_new
                                       : NULL;
}

/* A part is given by its definition, by a declared name or by a type's name. */
static struct str definition(struct replay *r, const struct json *given, const char *kind, struct settings *s)
{
    const struct json *object = given;
    settings_init(s, &r->arena);
    if (json_is(given, JSON_STRING)) {
        object = json_get_str(json_get(r->declared, kind), given->s);
    }
    if (object == NULL) {
        return given->s;
    }
    ck_assert_int_eq(settings_from_json(s, object, STR(""), NULL), ERR_OK);
    return settings_str(s, "type", STR(""));
}

static bool add_filter(struct replay *r, struct pipeline *p, const struct json *given)
{
    struct settings s;
    struct str type = definition(r, given, "filter", &s);
    token_filter_factory f = filter_of(type);
    return f != NULL && p->n < ARRAY_LEN(p->filters) && f(&p->filters[p->n++], type, &s, &r->env, &r->arena, NULL) == ERR_OK;
}

static bool add_parts(struct replay *r, struct pipeline *p, const struct json *of)
{
    struct settings s;
    const struct json *filter = json_get(of, "filter");
    struct str type = definition(r, json_get(of, "tokenizer"), "tokenizer", &s);
    tokenizer_factory f = tokenizer_of(type);
    if (json_get(of, "char_filter") != NULL || f == NULL
        || f(&p->tokenizer, type, &s, &r->env, &r->arena, NULL) != ERR_OK) {
        return false;
    }
    if (json_is(filter, JSON_ARRAY)) {
        for (uint32_t i = 0; i < filter->n; i++) {
            if (!add_filter(r, p, &filter->items[i])) {
                return false;
            }
        }
        return true;
    }
    return filter == NULL || add_filter(r, p, filter);
}

/* false: the step uses parts that are not tested here. */
static bool build(struct replay *r, struct pipeline *p, const struct json *body)
{
    struct settings none;
    const struct json *name = json_get(body, "analyzer");
    *p = (struct pipeline){.first_use = false};
    settings_init(&none, &r->arena);
    if (name == NULL) {
        struct token_list empty;
        token_list_init(&empty, &r->arena);
        if (json_get(body, "tokenizer") == NULL || !add_parts(r, p, body)
            || p->tokenizer->run(p->tokenizer, STR(""), &empty, NULL) != ERR_OK) {
            return false;
        }
        p->first_use = empty.n == 0;
        return true;
    }
    const struct json *declared = json_get_str(json_get(r->declared, "analyzer"), name->s);
    if (declared != NULL) {
        p->gap = 100;
        return json_get(declared, "tokenizer") != NULL && add_parts(r, p, declared);
    }
    if (!str_starts(name->s, STR("ik_")) && !str_is(name->s, "pinyin")) {
        return false;
    }
    tokenizer_factory f = tokenizer_of(name->s);
    return f(&p->tokenizer, name->s, &none, &r->env, &r->arena, NULL) == ERR_OK;
}

static bool same_number(const struct json *want, const char *key, int64_t got)
{
    int64_t v;
    const struct json *n = json_get(want, key);
    return n == NULL || (json_i64(n, &v) && v == got);
}

static bool same_token(const struct json *want, const struct token *t, struct str text, int64_t offset, int64_t position)
{
    const struct json *type = json_get(want, "type"), *token = json_get(want, "token");
    return str_eq(token->s, t->text) && (type == NULL || str_is(type->s, t->type))
           && same_number(want, "start_offset", offset + (int64_t)utf16_length(str_slice(text, 0, t->start)))
           && same_number(want, "end_offset", offset + (int64_t)utf16_length(str_slice(text, 0, t->end)))
           && same_number(want, "position", position);
}

static bool same_answer(struct replay *r, struct pipeline *p, const struct json *text, const struct json *want)
{
    const struct json *texts = text->type == JSON_ARRAY ? text->items : text;
    size_t n = text->type == JSON_ARRAY ? text->n : 1, at = 0;
    int64_t offset = 0, position = -1;
    for (size_t i = 0; i < n; i++) {
        struct token_list l;
        token_list_init(&l, &r->arena);
        l.first_use = p->first_use;
        l.end_offset = (uint32_t)texts[i].s.n;
        ck_assert_int_eq(p->tokenizer->run(p->tokenizer, texts[i].s, &l, NULL), ERR_OK);
        p->first_use = p->first_use && l.n == 0;
        for (size_t f = 0; f < p->n; f++) {
            ck_assert_int_eq(p->filters[f]->apply(p->filters[f], &l, NULL), ERR_OK);
        }
        for (size_t k = 0; k < l.n; k++, at++) {
            position += l.v[k].pos_inc;
            if (at >= want->n || !same_token(&want->items[at], &l.v[k], texts[i].s, offset, position)) {
                fprintf(stderr, "token %zu: %.*s\n", at, STR_ARG(l.v[k].text));
                return false;
            }
        }
        offset += (int64_t)utf16_length(str_slice(texts[i].s, 0, l.end_offset)) + 1;
        position += l.end_pos_inc + p->gap;
    }
    return at == want->n;
}

static void run_step(struct replay *r, const char *name, const struct json *step)
{
    const struct json *body = json_get(step, "body"), *path = json_get(step, "path"), *text = json_get(body, "text");
    const struct json *declared = json_path(body, "settings.analysis");
    struct pipeline p;
    if (declared != NULL) {
        r->declared = declared;
    }
    const struct json *want = json_path(step, "response.tokens");
    if (path == NULL || str_find_str(path->s, STR("/_analyze")) == SIZE_MAX || text == NULL || !json_is(want, JSON_ARRAY)) {
        return;
    }
    if (!build(r, &p, body)) {
        r->skipped++;
    } else if (same_answer(r, &p, text, want)) {
        r->done++;
    } else {
        fprintf(stderr, "%s: %.*s\n", name, STR_ARG(json_get(step, "name")->s));
        r->failed++;
    }
    arena_reset(&r->arena);
}

static void run_file(struct replay *r, const char *dir, struct str name)
{
    char path[2048];
    struct str bytes;
    struct json scenario;
    snprintf(path, sizeof(path), "%s/%.*s", dir, STR_ARG(name));
    ck_assert_int_eq(fs_read_file(fs_posix(), path, 64 * MIB, &r->file, &bytes, NULL), ERR_OK);
    ck_assert_int_eq(json_parse(&scenario, bytes, &r->file, &json_limits_default, NULL), ERR_OK);
    const struct json *steps = json_get(&scenario, "steps");
    r->declared = NULL;
    for (uint32_t i = 0; i < steps->n; i++) {
        run_step(r, path, &steps->items[i]);
    }
    arena_reset(&r->file);
}

START_TEST(recorded_answers)
{
    const char *dir = getenv("CONFORMANCE_DIR");
    char config[1024], scenarios[1024];
    struct ik_dictionary *ik;
    struct pinyin_dictionary *pinyin;
    struct fs_names names;
    struct arena arena;
    bool present;
    const struct fs *fs = fs_posix();
    snprintf(config, sizeof(config), "%s/config", dir != NULL ? dir : "../shared/conformance");
    snprintf(scenarios, sizeof(scenarios), "%s/scenarios/analysis", dir != NULL ? dir : "../shared/conformance");
    if (ik_dictionary_present(fs, config, &present, NULL) != ERR_OK || !present) {
        printf("skipped: no recordings\n");
        return;
    }
    struct replay r = {0};
    arena_init(&r.arena, NULL, ARENA_UNLIMITED);
    arena_init(&r.file, NULL, ARENA_UNLIMITED);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(ik_dictionary_load(&ik, fs, config, NULL, NULL), ERR_OK);
    ck_assert_int_eq(pinyin_dictionary_load(&pinyin, fs, config, NULL, NULL), ERR_OK);
    r.env = (struct analysis_env){.ik = ik, .pinyin = pinyin};
    ck_assert_int_eq(fs->list(fs->self, scenarios, &arena, &names, NULL), ERR_OK);
    for (size_t i = 0; i < names.n; i++) {
        if (str_starts(names.v[i], STR("ik-")) || str_starts(names.v[i], STR("pinyin-"))) {
            run_file(&r, scenarios, names.v[i]);
        }
    }
    printf("%zu steps equal, %zu differ, %zu skipped for other parts\n", r.done, r.failed, r.skipped);
    ck_assert_uint_eq(r.failed, 0);
    ck_assert_uint_ge(r.done, STEPS_MIN);
    ik_dictionary_unref(ik);
    pinyin_dictionary_unref(pinyin);
    arena_fini(&r.arena);
    arena_fini(&r.file);
    arena_fini(&arena);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ik_pinyin_replay");
    TCase *t = tcase_create("ik_pinyin_replay");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, recorded_answers);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
