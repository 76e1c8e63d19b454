/* What Elasticsearch 7.12.1 answered, where the recordings are at hand (../shared/conformance, or
 * $CONFORMANCE_DIR): the analyses of text by IK and pinyin, through the registry as _analyze runs them. */
#include "common/base/json.h"
#include "common/sys/fs_posix.h"
#include "engine/analysis/analysis.h"
#include "engine/analysis/ik.h"
#include "engine/analysis/pinyin.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS_MIN 730 /* fewer, and the test has lost its way */

struct replay {
    struct analysis_env env;
    struct arena arena; /* a step's */
    struct arena file;  /* a scenario's */
    struct analysis *global, *index;
    size_t done, skipped, failed;
};

/* The index that a step creates. */
static void create(struct replay *r, const struct json *settings)
{
    struct settings s;
    ERR_LOCAL(em);
    settings_init(&s, &r->file);
    ck_assert_int_eq(settings_from_json(&s, settings, STR("index"), &em), ERR_OK);
    analysis_unref(r->index);
    r->index = NULL;
    if (analysis_new(&r->index, &s, &r->env, &em) != ERR_OK) {
        printf("not run: %s\n", err_reason(&em));
    }
}

/* Filtered answers (filter_path) have fewer members. */
static bool same_token(const struct json *want, const struct json *got)
{
    for (uint32_t i = 0; i < want->n; i++) {
        const struct json *v = json_get_str(got, want->members[i].key);
        if (v == NULL || !json_equal(v, &want->members[i].value)) {
            return false;
        }
    }
    return true;
}

static bool same_tokens(const struct json *want, const struct json *got)
{
    if (!json_is(want, JSON_ARRAY) || !json_is(got, JSON_ARRAY) || want->n != got->n) {
        return false;
    }
    for (uint32_t i = 0; i < want->n; i++) {
        if (!same_token(&want->items[i], &got->items[i])) {
            return false;
        }
    }
    return true;
}

static bool same_answer(const struct json *want, const struct json *got)
{
    const struct json *tokens = json_get(want, "tokens");
    return tokens != NULL ? same_tokens(tokens, json_get(got, "tokens")) : json_equal(want, got);
}

static void run_step(struct replay *r, const char *file, const struct json *step)
{
    const struct json *body = json_get(step, "body"), *path = json_get(step, "path"),
                      *settings = json_get(body, "settings");
    int64_t status = 0;
    json_i64(json_get(step, "status"), &status);
    if (settings != NULL && status == 200) {
        create(r, settings);
    }
    if (str_find_str(path->s, STR("/_analyze")) == SIZE_MAX || status != 200) {
        return;
    }
    if (json_get(body, "field") != NULL) {
        r->skipped++; /* needs a mapping */
        return;
    }
    bool has_index = !str_starts(path->s, STR("/_analyze"));
    struct analyze_context cx = {
        .analysis = has_index ? r->index : r->global, .has_index = has_index, .max_token_count = 10000};
    struct buf b;
    struct jsonw w;
    struct json got;
    ERR_LOCAL(em);
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    enum err e = cx.analysis == NULL ? ERR_ILLEGAL_STATE : analyze_request(&cx, body, &r->arena, &w, &em);
    if (e != ERR_OK) {
        r->skipped++; /* it has parts that are not built in */
    } else if (json_parse(&got, buf_view(&b), &r->arena, &json_limits_default, &em) == ERR_OK
               && same_answer(json_get(step, "response"), &got)) {
        r->done++;
    } else {
        fprintf(stderr, "%s: %.*s\n", file, STR_ARG(json_get(step, "name")->s));
        r->failed++;
    }
    buf_fini(&b);
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
    for (uint32_t i = 0; i < steps->n; i++) {
        run_step(r, path, &steps->items[i]);
    }
    analysis_unref(r->index);
    r->index = NULL;
    arena_reset(&r->file);
}

START_TEST(recorded_answers)
{
    const char *dir = getenv("CONFORMANCE_DIR");
    char config[1024], scenarios[1024];
    struct dictionary *ik;
    struct dictionary *pinyin;
    struct fs_names names;
    struct arena arena;
    struct settings none;
    bool present;
    const struct fs *fs = fs_posix();
    snprintf(config, sizeof(config), "%s/config", dir != NULL ? dir : "../shared/conformance");
    snprintf(scenarios, sizeof(scenarios), "%s/scenarios/analysis",
             dir != NULL ? dir : "../shared/conformance");
    if (dictionary_present(&dictionary_ik, fs, config, &present, NULL) != ERR_OK || !present) {
        printf("skipped: no recordings\n");
        return;
    }
    struct replay r = {0};
    arena_init(&r.arena, NULL, ARENA_UNLIMITED);
    arena_init(&r.file, NULL, ARENA_UNLIMITED);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&none, &arena);
    ck_assert_int_eq(dictionary_load(&ik, &dictionary_ik, fs, config, NULL, NULL), ERR_OK);
    ck_assert_int_eq(dictionary_load(&pinyin, &dictionary_pinyin, fs, config, NULL, NULL), ERR_OK);
    r.env = (struct analysis_env){.ik = ik, .pinyin = pinyin};
    ck_assert_int_eq(analysis_new(&r.global, &none, &r.env, NULL), ERR_OK);
    dictionary_unref(ik); /* the registries keep them */
    dictionary_unref(pinyin);
    ck_assert_int_eq(fs->list(fs->self, scenarios, &arena, &names, NULL), ERR_OK);
    for (size_t i = 0; i < names.n; i++) {
        if (str_starts(names.v[i], STR("ik-")) || str_starts(names.v[i], STR("pinyin-"))) {
            run_file(&r, scenarios, names.v[i]);
        }
    }
    printf("%zu steps equal, %zu differ, %zu skipped\n", r.done, r.failed, r.skipped);
    ck_assert_uint_eq(r.failed, 0);
    ck_assert_uint_ge(r.done, STEPS_MIN);
    analysis_unref(r.global);
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
