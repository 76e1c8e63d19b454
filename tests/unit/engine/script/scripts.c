#include "tests/unit/engine/script/scripts.h"

#include "common/base/jsonw.h"

#include <check.h>
#include <stdio.h>

static enum err doc_values(void *self, struct str field, struct script_doc *out, struct errmsg *em)
{
    static const int64_t longs[] = {1, 5, 9}, one[] = {7}, yes[] = {1}, date[] = {1614939630456LL};
    static const double price[] = {2.5};
    static const struct str tags[] = {{"a", 1}, {"b", 1}};
    static const struct geo_point point[] = {{52.5, 13.4}};
    static const struct {
        const char *name;
        struct script_doc doc;
    } fields[] = {{"l", {.type = SCRIPT_DOC_LONG, .n = 1, .i = one}},
                  {"ls", {.type = SCRIPT_DOC_LONG, .n = 3, .i = longs}},
                  {"e", {.type = SCRIPT_DOC_LONG}},
                  {"d", {.type = SCRIPT_DOC_DOUBLE, .n = 1, .d = price}},
                  {"b", {.type = SCRIPT_DOC_BOOLEAN, .n = 1, .i = yes}},
                  {"k", {.type = SCRIPT_DOC_KEYWORD, .n = 2, .s = tags}},
                  {"dt", {.type = SCRIPT_DOC_DATE, .n = 1, .i = date}},
                  {"g", {.type = SCRIPT_DOC_GEO, .n = 1, .geo = point}}};
    (void)self;
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        if (str_is(field, fields[i].name)) {
            *out = fields[i].doc;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No field found for [%.*s] in mapping", STR_ARG(field));
}

static double score(void *self)
{
    (void)self;
    return 1.5;
}

const struct script_env scripts_env = {.doc_values = doc_values, .score = score, .now_ms = 1614939630456LL};

const char *const scripts_params =
    "{\"a\":1,\"b\":2.5,\"s\":\"xyz\",\"l\":[3,1,2],\"m\":{\"x\":1,\"y\":\"z\"},\"n\":null}";

enum err scripts_run(const char *source, const char *lang, char *out, size_t cap, struct errmsg *em)
{
    struct arena a;
    struct json params, v;
    struct script *s = NULL;
    struct script_run *r = NULL;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(json_parse(&params, str_of(scripts_params), &a, &json_limits_default, NULL), ERR_OK);
    enum err e =
        script_compile(&s, &(struct script_text){str_of(source), str_of(lang), STR_NULL}, SCRIPT_FIELD, em);
    e = e == ERR_OK ? script_run_new(&r, s, &params, NULL, em) : e;
    e = e == ERR_OK ? script_value(r, &scripts_env, &a, &v, em) : e;
    if (e == ERR_OK) {
        struct buf b;
        struct jsonw w;
        buf_init(&b, NULL, BUF_UNLIMITED);
        jsonw_init(&w, &b, false);
        if (v.type == JSON_ARRAY) {
            jw_value(&w, &v);
        } else {
            jw_arr(&w);
            jw_value(&w, &v);
            jw_arr_end(&w);
        }
        snprintf(out, cap, "%.*s", STR_ARG(buf_view(&b)));
        buf_fini(&b);
    }
    script_run_free(r);
    script_unref(s);
    arena_fini(&a);
    return e;
}

void scripts_expect(const char *source, const char *lang, const char *want, const char *error)
{
    char got[4096] = "";
    ERR_LOCAL(em);
    enum err e = scripts_run(source, lang, got, sizeof(got), &em);
    if (want != NULL) {
        ck_assert_msg(e == ERR_OK && strcmp(got, want) == 0, "%s: %s, not %s (%s)", source, got, want,
                      err_is(&em) ? err_innermost(&em)->reason : "");
    } else {
        /* what the script_exception is about; the parser's own exceptions lie below that */
        const char *type =
            err_is(&em) ? err_type((em.frame->cause != NULL ? em.frame->cause : em.frame)->code) : "";
        ck_assert_msg(e != ERR_OK && strcmp(type, error) == 0, "%s: %s %s, not %s", source, got, type, error);
    }
}
