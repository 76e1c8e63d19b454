/* Replays the recorded _analyze requests that need no server (../shared/conformance, where it exists) through
 * analyze_request, keeping the registries of the indices that the recordings create.
 *
 * With --lines it answers requests from standard input instead, one JSON object a line ({"settings": {...},
 * "body":
 * {...}}), with one line each: for comparisons with another implementation. */
#include "engine/analysis/analysis.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define ANALYSIS_SCENARIOS "../shared/conformance/scenarios/analysis/"

/* The recordings' mappings are not at hand; fields stand for what they say of themselves. */
static enum field_analysis field_analyzer(void *self, struct str field, const struct analyzer **out)
{
    const struct analysis *a = self;
    *out = NULL;
    if (str_is(field, "with_normalizer")) {
        *out = analysis_normalizer(a, STR("n"));
        return FIELD_ANALYZED;
    }
    return str_is(field, "whole") ? FIELD_WHOLE : str_is(field, "number") ? FIELD_NO_TEXT : FIELD_UNMAPPED;
}

static void write_error(struct jsonw *w, const struct err_frame *f)
{
    jw_kz(w, "type", err_type(f->code));
    jw_kz(w, "reason", f->reason);
    if (f->cause != NULL) {
        jw_k(w, "caused_by");
        jw_obj(w);
        write_error(w, f->cause);
        jw_obj_end(w);
    }
}

/* Answers as the server would: the response, or {"error": {...}, "status": n}. */
static int answer(struct analysis *a, const struct settings *s, bool has_index, const struct json *body,
                  struct arena *arena, struct buf *out)
{
    ERR_LOCAL(em);
    struct jsonw w;
    int64_t max = 10000;
    enum err e = settings_i64(s, "analyze.max_token_count", max, &max, &em);
    struct analyze_context cx = {.analysis = a,
                                 .has_index = has_index,
                                 .max_token_count = max,
                                 .field_analyzer = field_analyzer,
                                 .self = a};
    buf_reset(out);
    jsonw_init(&w, out, false);
    e = e == ERR_OK ? analyze_request(&cx, body, arena, &w, &em) : e;
    if (e == ERR_OK) {
        return 200;
    }
    buf_reset(out);
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_k(&w, "error");
    jw_obj(&w);
    jw_k(&w, "root_cause");
    jw_arr(&w);
    jw_obj(&w);
    const struct err_frame *root = err_root(&em);
    jw_kz(&w, "type", err_type(root->code));
    jw_kz(&w, "reason", root->reason);
    jw_obj_end(&w);
    jw_arr_end(&w);
    write_error(&w, em.frame);
    jw_obj_end(&w);
    jw_ki64(&w, "status", err_http_status(&em));
    jw_obj_end(&w);
    return err_http_status(&em);
}

/* As json_equal, but the wording of errors and the offsets' object order do not count. */
static bool same(const struct json *a, const struct json *b)
{
    if (a->type != b->type) {
        return false;
    }
    if (a->type == JSON_OBJECT) {
        for (uint32_t i = 0; i < a->n; i++) {
            const struct json *other = json_get_str(b, a->members[i].key);
            if (other == NULL
                || (!str_is(a->members[i].key, "reason") && !same(&a->members[i].value, other))) {
                return false;
            }
        }
        for (uint32_t i = 0; i < b->n; i++) {
            if (json_get_str(a, b->members[i].key) == NULL) {
                return false;
            }
        }
        return true;
    }
    if (a->type == JSON_ARRAY) {
        bool equal = a->n == b->n;
        for (uint32_t i = 0; i < a->n && equal; i++) {
            equal = same(&a->items[i], &b->items[i]);
        }
        return equal;
    }
    return json_equal(a, b);
}

static struct str read_whole(const char *path, struct arena *arena)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (f == NULL || fstat(fileno(f), &st) != 0) {
        if (f != NULL) {
            fclose(f);
        }
        return STR_NULL;
    }
    char *p = arena_alloc(arena, (size_t)st.st_size + 1);
    ck_assert_ptr_nonnull(p);
    size_t n = fread(p, 1, (size_t)st.st_size, f);
    fclose(f);
    return str_mk(p, n);
}

static struct str text_of(const struct json *v)
{
    return v != NULL ? json_text(v) : STR_NULL;
}

/* An index that a scenario made. */
struct index {
    struct str name;
    struct analysis *analysis;
    struct settings settings;
};

struct replay {
    struct arena arena;
    struct index indices[64];
    size_t n;
    struct analysis *global;
    struct settings none;
    unsigned passed, failed;
};

static void index_settings(struct settings *out, const struct json *body, struct arena *arena)
{
    struct settings all;
    settings_init(&all, arena);
    settings_init(out, arena);
    const struct json *s = json_get(body, "settings");
    if (s == NULL) {
        return;
    }
    ck_assert_int_eq(settings_from_json(&all, s, STR(""), NULL), ERR_OK);
    for (size_t i = 0; i < all.n; i++) { /* "index.x" and "x" are the same */
        struct setting *t = &all.v[i];
        struct str key =
            str_starts(t->key, STR("index.")) ? t->key : arena_printf(arena, "index.%.*s", STR_ARG(t->key));
        ck_assert(t->is_null   ? settings_put_null(out, key)
                  : t->is_list ? settings_put_list(out, key, t->items, t->n)
                               : settings_put(out, key, t->value));
    }
}

static void check_step(struct replay *r, const char *file, const struct json *step, int status,
                       struct str got)
{
    const struct json *want = json_get(step, "response");
    struct json v;
    int64_t want_status = 0;
    ck_assert(json_i64(json_get(step, "status"), &want_status));
    bool ok = status == want_status && json_parse(&v, got, &r->arena, &json_limits_default, NULL) == ERR_OK
              && (want == NULL || same(want, &v));
    r->passed += ok;
    r->failed += !ok;
    if (!ok) {
        struct buf b;
        struct jsonw w;
        buf_init(&b, NULL, BUF_UNLIMITED);
        jsonw_init(&w, &b, false);
        jw_value(&w, want);
        struct str name = text_of(json_get(step, "name"));
        printf("%s: %.*s\n  want %lld %s\n  got  %d %.*s\n", file, STR_ARG(name), (long long)want_status, b.p,
               status, STR_ARG(got));
        buf_fini(&b);
    }
}

static const struct json *body_of(const struct json *step, struct json *room, struct arena *arena)
{
    const struct json *body = json_get(step, "body");
    if (body != NULL && body->type == JSON_STRING) {
        return json_parse(room, body->s, arena, &json_limits_default, NULL) == ERR_OK ? room : NULL;
    }
    return body;
}

static void create_index(struct replay *r, const char *file, struct str name, const struct json *step)
{
    ERR_LOCAL(em);
    struct json room;
    struct index *x = &r->indices[r->n];
    struct analysis_env env = {0};
    ck_assert_uint_lt(r->n, ARRAY_LEN(r->indices));
    const struct json *body = body_of(step, &room, &r->arena);
    if (json_get(body, "mappings") != NULL && json_get(body, "settings") == NULL) {
        return;
    }
    index_settings(&x->settings, body, &r->arena);
    enum err e = analysis_new(&x->analysis, &x->settings, &env, &em);
    int64_t want = 0;
    ck_assert(json_i64(json_get(step, "status"), &want));
    bool ok = want == err_http_status(&em);
    if (e != ERR_OK && ok) {
        ok = str_is(text_of(json_path(json_get(step, "response"), "error.type")), err_type(err_code(&em)));
    }
    r->passed += ok;
    r->failed += !ok;
    if (!ok) {
        printf("%s: create %.*s: %s\n", file, STR_ARG(name), err_is(&em) ? err_reason(&em) : "made");
    }
    if (e == ERR_OK) {
        x->name = name;
        r->n++;
    }
}

static struct index *find_index(struct replay *r, struct str name)
{
    for (size_t i = 0; i < r->n; i++) {
        if (str_eq(r->indices[i].name, name)) {
            return &r->indices[i];
        }
    }
    return NULL;
}

/* New settings for an index: the registry is built again. */
static void change_index(struct replay *r, struct index *x, const struct json *step)
{
    struct settings more;
    struct analysis_env env = {0};
    int64_t status = 0;
    ck_assert(json_i64(json_get(step, "status"), &status));
    if (x == NULL || status != 200) {
        return;
    }
    settings_init(&more, &r->arena);
    ck_assert_int_eq(settings_from_json(&more, json_get(step, "body"), STR("index"), NULL), ERR_OK);
    ck_assert(settings_merge(&x->settings, &more));
    analysis_unref(x->analysis);
    ck_assert_int_eq(analysis_new(&x->analysis, &x->settings, &env, NULL), ERR_OK);
}

/* Requests that need dictionaries are another test's. */
static bool needs_dictionary(const struct json *body)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, body);
    bool needs = str_find_str(buf_view(&b), STR("ik_")) != SIZE_MAX
                 || str_find_str(buf_view(&b), STR("pinyin")) != SIZE_MAX;
    buf_fini(&b);
    return needs;
}

static void replay_step(struct replay *r, const char *file, const struct json *step)
{
    struct str path = text_of(json_get(step, "path")), method = text_of(json_get(step, "method"));
    struct str rest, name = str_cut(str_slice(path, 1, path.n), '/', &rest);
    struct json room;
    struct settings *s = &r->none;
    struct analysis *a = r->global;
    if (str_is(method, "PUT") && rest.p == NULL && !str_starts(name, STR("_"))) {
        create_index(r, file, name, step);
        return;
    }
    if (str_is(method, "PUT") && str_is(rest, "_settings")) {
        change_index(r, find_index(r, name), step);
        return;
    }
    bool global = str_is(name, "_analyze"), in_index = str_is(rest, "_analyze");
    const struct json *body = body_of(step, &room, &r->arena);
    if (str_is(method, "PUT") || (!global && !in_index) || body == NULL || json_get(body, "field") != NULL
        || needs_dictionary(body)) {
        return; /* belongs to the server around this */
    }
    struct index *x = in_index ? find_index(r, name) : NULL;
    if (x != NULL) {
        a = x->analysis;
        s = &x->settings;
    }
    if (in_index
        && (a == r->global
            || str_is(text_of(json_path(json_get(step, "response"), "error.type")),
                      "index_closed_exception"))) {
        return;
    }
    struct buf out;
    buf_init(&out, NULL, BUF_UNLIMITED);
    int status = answer(a, s, in_index, body, &r->arena, &out);
    check_step(r, file, step, status, buf_view(&out));
    buf_fini(&out);
}

static void replay_file(const char *file, unsigned *passed, unsigned *failed)
{
    struct replay *r = calloc(1, sizeof(*r));
    struct json doc;
    struct analysis_env env = {0};
    ck_assert_ptr_nonnull(r);
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
    settings_init(&r->none, &r->arena);
    ck_assert_int_eq(analysis_new(&r->global, &r->none, &env, NULL), ERR_OK);
    struct str path = arena_printf(&r->arena, "%s%s.json", ANALYSIS_SCENARIOS, file);
    struct str text = read_whole(path.p, &r->arena);
    if (text.p == NULL) {
        printf("%s: skipped\n", file);
    } else {
        ck_assert_int_eq(json_parse(&doc, text, &r->arena, &json_limits_default, NULL), ERR_OK);
        const struct json *steps = json_get(&doc, "steps");
        for (uint32_t i = 0; i < steps->n; i++) {
            replay_step(r, file, &steps->items[i]);
        }
        printf("%s: %u passed, %u failed\n", file, r->passed, r->failed);
    }
    *passed += r->passed;
    *failed += r->failed;
    for (size_t i = 0; i < r->n; i++) {
        analysis_unref(r->indices[i].analysis);
    }
    analysis_unref(r->global);
    arena_fini(&r->arena);
    free(r);
}

START_TEST(recordings)
{
    static const char *const files[] = {"analyze-api",  "analysis-definitions", "built-in-analyzers",
                                        "char-filters", "token-filters",        "tokenizers"};
    unsigned passed = 0, failed = 0;
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        replay_file(files[i], &passed, &failed);
    }
    ck_assert_msg(failed == 0, "%u of %u recorded steps fail", failed, passed + failed);
}
END_TEST

/* Fields: a keyword's normalizer is shown by its parts, a keyword without one as it is, others are
 * refused. */
#define ONE_EMPTY                                                                                          \
    "[{\"token\":\"\",\"start_offset\":0,\"end_offset\":0,\"type\":\"word\",\"position\":0,\"bytes\":\"[]" \
    "\","                                                                                                  \
    "\"positionLength\":1,\"termFrequency\":1}]"
START_TEST(fields)
{
    static const struct {
        const char *body;
        int status;
        const char *want;
    } cases[] = {
        {"{\"field\":\"with_normalizer\",\"text\":[\"A b\",\"C\"]}", 200,
         "{\"tokens\":[{\"token\":\"a "
         "b\",\"start_offset\":0,\"end_offset\":3,\"type\":\"word\",\"position\":0},"
         "{\"token\":\"c\",\"start_offset\":4,\"end_offset\":5,\"type\":\"word\",\"position\":1}]}"},
        {"{\"field\":\"with_normalizer\",\"text\":\"\",\"explain\":true}", 200,
         "{\"detail\":{\"custom_analyzer\":true,\"charfilters\":[],\"tokenizer\":{\"name\":\"keyword\","
         "\"tokens\":" ONE_EMPTY "},"
         "\"tokenfilters\":[{\"name\":\"lowercase\",\"tokens\":" ONE_EMPTY "}]}}"},
        {"{\"normalizer\":\"lowercase\",\"text\":\"\",\"explain\":true}", 200,
         "{\"detail\":{\"custom_analyzer\":false,\"analyzer\":{\"name\":\"lowercase\",\"tokens\":" ONE_EMPTY
         "}}}"},
        {"{\"field\":\"whole\",\"text\":[\"A b\",\"C\"]}", 200,
         "{\"tokens\":[{\"token\":\"A "
         "b\",\"start_offset\":0,\"end_offset\":3,\"type\":\"word\",\"position\":0},"
         "{\"token\":\"C\",\"start_offset\":4,\"end_offset\":5,\"type\":\"word\",\"position\":1}]}"},
        {"{\"field\":\"number\",\"text\":\"5\"}", 400, NULL},
    };
    struct arena arena;
    struct settings s;
    struct analysis *a;
    struct analysis_env env = {0};
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&s, &arena);
    ck_assert(settings_put(&s, STR("index.analysis.normalizer.n.type"), STR("custom"))
              && settings_put(&s, STR("index.analysis.normalizer.n.filter"), STR("lowercase")));
    ck_assert_int_eq(analysis_new(&a, &s, &env, NULL), ERR_OK);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json body, got, want;
        struct buf out;
        buf_init(&out, NULL, BUF_UNLIMITED);
        ck_assert_int_eq(json_parse(&body, str_of(cases[i].body), &arena, &json_limits_default, NULL),
                         ERR_OK);
        ck_assert_int_eq(answer(a, &s, true, &body, &arena, &out), cases[i].status);
        ck_assert_int_eq(json_parse(&got, buf_view(&out), &arena, &json_limits_default, NULL), ERR_OK);
        if (cases[i].want != NULL) {
            ck_assert_int_eq(json_parse(&want, str_of(cases[i].want), &arena, &json_limits_default, NULL),
                             ERR_OK);
            ck_assert_msg(json_equal(&want, &got), "%s gives %.*s", cases[i].body, (int)out.n, out.p);
        }
        buf_fini(&out);
    }
    analysis_unref(a);
    arena_fini(&arena);
}
END_TEST

static void answer_line(struct str line, const struct analysis_env *env, struct analysis *global)
{
    struct arena arena;
    struct json v;
    ERR_LOCAL(em);
    struct settings s;
    struct analysis *a = NULL;
    struct buf out;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    if (json_parse(&v, line, &arena, &json_limits_default, &em) == ERR_OK) {
        index_settings(&s, &v, &arena);
        bool has_index = json_get(&v, "settings") != NULL;
        if (!has_index || analysis_new(&a, &s, env, &em) == ERR_OK) {
            answer(has_index ? a : global, &s, has_index, json_get(&v, "body"), &arena, &out);
        }
    }
    if (err_is(&em)) {
        printf("{\"error\":{\"type\":\"%s\"}}\n", err_type(err_code(&em)));
    } else {
        printf("%.*s\n", STR_ARG(buf_view(&out)));
    }
    fflush(stdout);
    analysis_unref(a);
    buf_fini(&out);
    arena_fini(&arena);
}

static int answer_lines(const char *path_conf)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    struct analysis_env env = {.path_conf = path_conf};
    struct analysis *global;
    struct settings none = {0};
    if (analysis_new(&global, &none, &env, NULL) != ERR_OK) {
        return 1;
    }
    while ((n = getline(&line, &cap, stdin)) > 0) {
        answer_line(str_mk(line, (size_t)n), &env, global);
    }
    free(line);
    analysis_unref(global);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--lines") == 0) {
        return answer_lines(argc > 2 ? argv[2] : NULL);
    }
    Suite *suite = suite_create("analyze");
    TCase *tc = tcase_create("recordings");
    tcase_add_test(tc, recordings);
    tcase_add_test(tc, fields);
    suite_add_tcase(suite, tc);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
