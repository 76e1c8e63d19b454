/* Values of completion fields: the forms in which inputs may come, their weights and contexts. */
#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "common/base/utf8.h"
#include "engine/mapping/completion_paths.h"
#include "engine/mapping/document_int.h"

struct input {
    struct str text;
    uint32_t weight;
    const struct str *contexts; /* pairs */
    uint32_t n_contexts;
};

struct inputs {
    struct input *v;
    size_t n, cap;
};

static enum err illegal(struct doc_parser *p, const char *what, const struct json *v)
{
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "%s, but was [%s]", what, json_token_name(v));
}

/* The same input twice: the greater weight counts. */
static enum err add_input(struct doc_parser *p, struct inputs *in, struct input one, bool replace)
{
    for (size_t i = 0; i < in->n; i++) {
        if (str_eq(in->v[i].text, one.text)) {
            if (replace || in->v[i].weight < one.weight) {
                in->v[i] = one;
            }
            return ERR_OK;
        }
    }
    return ARENA_ADD(p->arena, in->v, in->n, in->cap, one) ? ERR_OK : err_no_memory(p->em);
}

static enum err parse_weight(struct doc_parser *p, const struct json *v, uint32_t *out)
{
    int64_t w;
    if (v->type != JSON_STRING && v->type != JSON_NUMBER) {
        return illegal(p, "weight must be a number or string", v);
    }
    bool ok = v->type == JSON_STRING ? num_parse_i64(v->s, &w) : json_i64(v, &w);
    if (!ok) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "weight must be an integer, but was [%.*s]",
                       STR_ARG(v->s));
    }
    if (w < 0 || w > INT32_MAX) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "weight must be in the interval [0..2147483647], but was [%lld]", (long long)w);
    }
    *out = (uint32_t)w;
    return ERR_OK;
}

static enum err check_texts(struct doc_parser *p, const struct json *v)
{
    if (v->type == JSON_STRING) {
        return ERR_OK;
    }
    if (v->type != JSON_ARRAY) {
        return illegal(p, "input must be a string or array", v);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        if (json_is_broken(&v->items[i])) {
            return doc_broken(p);
        }
        if (v->items[i].type != JSON_STRING) {
            return illegal(p, "input array must have string values", &v->items[i]);
        }
    }
    return ERR_OK;
}

static enum err parse_attribute(struct doc_parser *p, const struct field *f, const struct json_member *m,
                                struct input *one, const struct json **texts)
{
    if (m->key.p == NULL) {
        return doc_broken(p);
    }
    bool known = str_is(m->key, "input") || str_is(m->key, "weight") || str_is(m->key, "contexts");
    if (!known) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "unknown field name [%.*s], must be one of [input, weight, contexts]",
                       STR_ARG(m->key));
    }
    if (json_is_broken(&m->value)) {
        return doc_broken(p);
    }
    if (str_is(m->key, "input")) {
        *texts = &m->value;
        return check_texts(p, &m->value);
    }
    if (str_is(m->key, "weight")) {
        return parse_weight(p, &m->value, &one->weight);
    }
    if (f->n_contexts == 0) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "contexts field is not supported for field: [%.*s]",
                       STR_ARG(f->path));
    }
    return doc_parse_contexts(p, f, &m->value, &one->contexts, &one->n_contexts);
}

static enum err parse_one(struct doc_parser *p, const struct field *f, const struct json *v, bool in_array,
                          struct inputs *in)
{
    struct input one = {.weight = 1};
    if (v->type == JSON_STRING) {
        one.text = v->s;
        return add_input(p, in, one, true);
    }
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type != JSON_OBJECT) {
        uint32_t line, col;
        json_place(p->text, v->off, &line, &col);
        return err_set_at(p->em, ERR_PARSING, line, col,
                          "failed to parse [%.*s]: expected text or object, but got %s",
                          STR_ARG(in_array ? STR("null") : f->name), json_token_name(v));
    }
    const struct json *texts = NULL;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = parse_attribute(p, f, &v->members[i], &one, &texts);
    }
    bool many = texts != NULL && texts->type == JSON_ARRAY;
    uint32_t n = texts == NULL ? 0 : many ? texts->n : 1;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        one.text = many ? texts->items[i].s : texts->s;
        e = add_input(p, in, one, false);
    }
    return e;
}

/* ---- indexing ---- */

/* At most `units` UTF-16 units, never half a character. */
static struct str truncate(struct str s, uint32_t units)
{
    if (s.n <= units || utf16_length(s) <= units) {
        return s;
    }
    size_t at = 0, n = 0;
    while (at < s.n && n < units) {
        n += utf8_next(s, &at) >= 0x10000 ? 2 : 1;
    }
    return str_slice(s, 0, at);
}

static enum err refuse_reserved(struct doc_parser *p, struct str s)
{
    size_t at = 0, unit = 0;
    while (at < s.n) {
        uint32_t c = utf8_next(s, &at);
        if (c == 0 || c == 0x1E || c == 0x1F) {
            return err_set(
                p->em, ERR_ILLEGAL_ARGUMENT,
                "Illegal input [%.*s] UTF-16 codepoint [0x%x] at position %zu is a reserved character",
                STR_ARG(s), c, unit);
        }
        unit += c >= 0x10000 ? 2 : 1;
    }
    return ERR_OK;
}

static bool is_blank(struct str s) /* String.trim().isEmpty() */
{
    size_t i = 0;
    while (i < s.n && (uint8_t)s.p[i] <= ' ') {
        i++;
    }
    return i == s.n;
}

static enum err add_value(struct doc_parser *p, const struct field *f, const struct input *in)
{
    if (is_blank(in->text)) {
        return doc_ignore(p, f) ? ERR_OK : err_no_memory(p->em);
    }
    struct str text = truncate(in->text, f->max_input_length);
    enum err e = refuse_reserved(p, text);
    if (e != ERR_OK) {
        return e;
    }
    struct doc_value *to = doc_add(p, f, DOC_COMPLETION);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->to_index = true;
    to->completion.input = text;
    to->completion.weight = in->weight;
    to->completion.contexts = in->contexts;
    to->completion.n_contexts = in->n_contexts;
    p->has_contexts |= f->n_contexts > 0;
    struct completion_options o = {f->analyzer, f->preserve_separators, f->preserve_position_increments};
    return completion_paths(&o, text, p->arena, &to->completion.paths, &to->completion.n_paths, p->em);
}

/* Multi-fields that are completions take input, weight and contexts over; others read the input's text. */
static enum err multi_fields(struct doc_parser *p, const struct field *f, const struct inputs *in)
{
    enum err e = ERR_OK;
    for (size_t i = 0; i < in->n; i++) {
        struct json text = json_mk_str(in->v[i].text);
        for (uint32_t k = 0; e == ERR_OK && k < f->n_multi_fields; k++) {
            const struct field *sub = f->multi_fields[k];
            if (sub->class != &field_class_completion) {
                e = doc_parse_field(p, sub, &text);
                continue;
            }
            struct inputs same = {.v = &in->v[i], .n = 1};
            e = add_value(p, sub, &in->v[i]);
            e = e == ERR_OK ? multi_fields(p, sub, &same) : e;
        }
    }
    return e;
}

enum err doc_completion_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct inputs in = {0};
    enum err e = ERR_OK;
    if (v->type == JSON_NULL && !json_is_broken(v)) {
        return ERR_OK;
    }
    if (v->type != JSON_ARRAY) {
        e = parse_one(p, f, v, false, &in);
    } else {
        for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
            e = parse_one(p, f, &v->items[i], true, &in);
        }
    }
    if (e == ERR_OK && in.n == 0) { /* the field is there, with nothing to suggest */
        struct doc_value *to = doc_add(p, f, DOC_COMPLETION);
        if (to == NULL) {
            return err_no_memory(p->em);
        }
        to->to_index = true;
        to->completion.input = STR_NULL;
    }
    for (size_t i = 0; e == ERR_OK && i < in.n; i++) {
        e = add_value(p, f, &in.v[i]);
    }
    return e == ERR_OK ? multi_fields(p, f, &in) : e;
}
