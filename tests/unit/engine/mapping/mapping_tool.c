/* Mappings and documents as lines of JSON: what they print, what they yield. Without argument it runs the few
 * lines below as a test; with "-" it reads lines from standard input and prints one line of JSON for each,
 * for comparing with another implementation (a second argument names the folder of ik.dict and pinyin.dict):
 *   {"settings":{..},"mapping":{..},"merge":[{..}],"docs":[{..} or
 * "text"],"steps":[{"merge":..},{"doc":..},{"get":1}]} */
#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "common/sys/fs_posix.h"
#include "engine/analysis/ik.h"
#include "engine/analysis/pinyin.h"
#include "engine/mapping/document.h"
#include "engine/mapping/field_class.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static void write_error(struct jsonw *w, const struct errmsg *em)
{
    jw_obj(w);
    jw_k(w, "error");
    jw_arr(w);
    for (const struct err_frame *f = em->frame; f != NULL; f = f->cause) {
        jw_strf(w, "%s: %s", err_type(f->code), f->reason);
        if (f->line > 0) {
            jw_strf(w, "%u:%u", f->line, f->col);
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void write_hex(struct jsonw *w, const void *p, size_t n)
{
    char hex[2 * 16 + 1];
    for (size_t i = 0; i < n; i++) {
        snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)p)[i]);
    }
    jw_str(w, str_mk(hex, 2 * n));
}

static void write_completion(struct jsonw *w, const struct doc_value *v)
{
    jw_obj(w);
    jw_kstr(w, "input", v->completion.input);
    jw_ki64(w, "weight", v->completion.weight);
    jw_k(w, "paths");
    jw_arr(w);
    for (uint32_t i = 0; i < v->completion.n_paths; i++) {
        jw_str(w, v->completion.paths[i]);
    }
    jw_arr_end(w);
    jw_k(w, "contexts");
    jw_arr(w);
    for (uint32_t i = 0; i < 2 * v->completion.n_contexts; i++) {
        jw_str(w, v->completion.contexts[i]);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static void write_value(struct jsonw *w, const struct doc_value *v)
{
    const struct field_class *c = v->field->class->ends != NULL ? v->field->class->ends : v->field->class;
    bool ip = c->kind == VALUE_ADDRESS;
    switch (v->kind) {
    case DOC_TEXT:
        jw_arr(w);
        for (uint32_t i = 0; i < v->text.n; i++) {
            jw_str(w, v->text.v[i].text);
        }
        jw_arr_end(w);
        break;
    case DOC_TERM:
    case DOC_BYTES:
        if (ip) {
            write_hex(w, v->bytes.p, MIN_OF(v->bytes.n, 16));
        } else {
            jw_str(w, v->bytes);
        }
        break;
    case DOC_NUM:
        field_write_num(v->field, v->num, w);
        break;
    case DOC_GEO:
        jw_arr(w);
        jw_i64(w, v->geo.lat);
        jw_i64(w, v->geo.lon);
        jw_arr_end(w);
        break;
    case DOC_FEATURE:
        jw_str(w, v->feature.name);
        break;
    case DOC_COMPLETION:
        write_completion(w, v);
        break;
    case DOC_RANGE:
        jw_arr(w);
        if (ip) {
            write_hex(w, v->range.ip_from, 16);
            write_hex(w, v->range.ip_to, 16);
        } else {
            jw_i64(w, v->range.from);
            jw_i64(w, v->range.to);
        }
        jw_arr_end(w);
        break;
    }
}

static void write_doc(struct jsonw *w, const struct parsed_doc *d)
{
    jw_obj(w);
    if (d->mapping_update != NULL) {
        jw_k(w, "update");
        jw_value(w, d->mapping_update);
    }
    jw_k(w, "parts");
    jw_arr(w);
    for (size_t p = 0; p < d->n_parts; p++) {
        jw_arr(w);
        for (size_t i = 0; i < d->parts[p].n; i++) {
            const struct doc_value *v = &d->parts[p].values[i];
            jw_arr(w);
            jw_str(w, v->field->path);
            jw_strf(w, "%s%s%s", v->to_index ? "i" : "", v->to_column ? "c" : "", v->to_store ? "s" : "");
            write_value(w, v);
            jw_arr_end(w);
        }
        jw_arr_end(w);
    }
    jw_arr_end(w);
    jw_k(w, "ignored");
    jw_arr(w);
    for (size_t i = 0; i < d->n_ignored; i++) {
        jw_str(w, d->ignored[i]);
    }
    jw_arr_end(w);
    jw_kstr(w, "source", d->source);
    jw_obj_end(w);
}

static enum err merge_into(struct mapping **m, const struct json *body, struct errmsg *em)
{
    struct mapping *new;
    enum err e = mapping_merge(&new, *m, body, em);
    if (e == ERR_OK) {
        mapping_unref(*m);
        *m = new;
    }
    return e;
}

static void run_doc(struct jsonw *w, struct mapping **m, const struct json *doc)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct buf text;
    buf_init(&text, NULL, BUF_UNLIMITED);
    if (doc->type == JSON_STRING) {
        buf_str(&text, doc->s);
    } else {
        struct jsonw tw;
        jsonw_init(&tw, &text, false);
        jw_value(&tw, doc);
    }
    struct source_to_parse in = {
        .index_name = STR("i"), .id = STR("1"), .source = buf_view(&text), .dynamic_allowed = true};
    ERR_LOCAL(em);
    struct parsed_doc d;
    enum err e = ERR_OK;
    for (int round = 0; round < 5; round++) {
        err_clear(&em);
        e = document_parse(&d, *m, &in, &a, &em);
        if (e != ERR_OK || d.mapping_update == NULL) {
            break;
        }
        e = merge_into(m, d.mapping_update, &em);
        if (e != ERR_OK) {
            break;
        }
    }
    if (e != ERR_OK) {
        write_error(w, &em);
    } else {
        write_doc(w, &d);
    }
    buf_fini(&text);
    arena_fini(&a);
}

/* {"merge":..}, {"doc":..}, {"get":..} in turn. */
static void run_sequence(struct jsonw *w, struct mapping **m, const struct json *steps)
{
    jw_k(w, "steps");
    jw_arr(w);
    for (uint32_t i = 0; steps != NULL && i < steps->n; i++) {
        const struct json *doc = json_get(&steps->items[i], "doc"),
                          *merge = json_get(&steps->items[i], "merge");
        ERR_LOCAL(em);
        if (doc != NULL) {
            run_doc(w, m, doc);
        } else if (merge != NULL && merge_into(m, merge, &em) != ERR_OK) {
            write_error(w, &em);
        } else {
            mapping_write(*m, w);
        }
    }
    jw_arr_end(w);
}

static void run_steps(struct jsonw *w, struct mapping **m, const struct json *line)
{
    ERR_LOCAL(em);
    const struct json *merges = json_get(line, "merge"), *docs = json_get(line, "docs");
    jw_k(w, "merge");
    jw_arr(w);
    for (uint32_t i = 0; merges != NULL && i < merges->n; i++) {
        err_clear(&em);
        if (merge_into(m, &merges->items[i], &em) != ERR_OK) {
            write_error(w, &em);
        } else {
            mapping_write(*m, w);
        }
    }
    jw_arr_end(w);
    jw_k(w, "docs");
    jw_arr(w);
    for (uint32_t i = 0; docs != NULL && i < docs->n; i++) {
        run_doc(w, m, &docs->items[i]);
    }
    jw_arr_end(w);
    run_sequence(w, m, json_get(line, "steps"));
}

static void run_line(struct str text, const struct analysis_env *env, struct buf *out)
{
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct jsonw w;
    jsonw_init(&w, out, false);
    struct json line;
    ERR_LOCAL(em);
    struct settings settings;
    settings_init(&settings, &a);
    struct analysis *analysis = NULL;
    struct mapping *m = NULL;
    jw_obj(&w);
    enum err e = json_parse(&line, text, &a, &json_limits_default, &em);
    if (e == ERR_OK && json_get(&line, "settings") != NULL) {
        e = settings_from_json(&settings, json_get(&line, "settings"), STR("index"), &em);
    }
    if (e == ERR_OK) {
        e = analysis_new(&analysis, &settings, env, &em);
    }
    if (e == ERR_OK) {
        e = mapping_new(&m, json_get(&line, "mapping"), analysis, &settings, &em);
    }
    jw_k(&w, "mapping");
    if (e != ERR_OK) {
        write_error(&w, &em);
    } else {
        mapping_write(m, &w);
        run_steps(&w, &m, &line);
        jw_k(&w, "after");
        mapping_write(m, &w);
    }
    jw_obj_end(&w);
    mapping_unref(m);
    analysis_unref(analysis);
    arena_fini(&a);
}

static const char *const samples[][2] = {
    {"{\"mapping\":{\"properties\":{\"b\":{\"type\":\"integer\"},\"a\":{\"type\":\"keyword\",\"index\":true}}"
     "}}",
     "{\"mapping\":{\"properties\":{\"a\":{\"type\":\"keyword\"},\"b\":{\"type\":\"integer\"}}},\"merge\":[],"
     "\"docs\":[],\"steps\":[],"
     "\"after\":{\"properties\":{\"a\":{\"type\":\"keyword\"},\"b\":{\"type\":\"integer\"}}}}"},
    {"{\"mapping\":{\"x\":1}}", "{\"mapping\":{\"error\":[\"mapper_parsing_exception: Failed to parse "
                                "mapping [_doc]: Root mapping definition has "
                                "unsupported parameters:  [x : 1]\",\"mapper_parsing_exception: Root mapping "
                                "definition has unsupported parameters:  "
                                "[x : 1]\"]}}"},
};

START_TEST(sample_lines)
{
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        struct buf out;
        buf_init(&out, NULL, BUF_UNLIMITED);
        run_line(str_of(samples[i][0]), &(struct analysis_env){0}, &out);
        ck_assert_str_eq(out.p, samples[i][1]);
        buf_fini(&out);
    }
}
END_TEST

static void open_dictionaries(const char *dir, const struct fs *fs, struct analysis_env *env)
{
    char path[4096];
    struct dictionary *ik = NULL;
    struct dictionary *pinyin = NULL;
    snprintf(path, sizeof(path), "%s/ik.dict", dir);
    if (dictionary_open(&ik, &dictionary_ik, fs, path, NULL) == ERR_OK) {
        env->ik = ik;
    }
    snprintf(path, sizeof(path), "%s/pinyin.dict", dir);
    if (dictionary_open(&pinyin, &dictionary_pinyin, fs, path, NULL) == ERR_OK) {
        env->pinyin = pinyin;
    }
}

static int run_stdin(const struct analysis_env *env)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        struct buf out;
        buf_init(&out, NULL, BUF_UNLIMITED);
        run_line(str_mk(line, (size_t)n), env, &out);
        printf("%s\n", out.p);
        fflush(stdout);
        buf_fini(&out);
    }
    free(line);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "-") == 0) {
        struct analysis_env env = {0};
        if (argc > 2) {
            open_dictionaries(argv[2], fs_posix(), &env);
        }
        int rc = run_stdin(&env);
        dictionary_unref((struct dictionary *)(uintptr_t)env.ik);
        dictionary_unref((struct dictionary *)(uintptr_t)env.pinyin);
        return rc;
    }
    Suite *s = suite_create("mapping lines");
    TCase *t = tcase_create("lines");
    tcase_add_test(t, sample_lines);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
