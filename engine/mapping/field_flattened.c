/* flattened: an object as one field. Its leaves are terms, once as they are, and once more in a hidden field behind their keys
 * ("key\0value"), where queries, sorting and aggregations on "f.key" find them. */
#include "common/base/utf8.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

#define KEYED_NAME "_keyed"

static const struct param flattened_params[] = {
    PARAM_ROW_INDEX,
    PARAM_ROW_DOC_VALUES,
    {.name = "depth_limit",
     .kind = PARAM_INT,
     .flags = PARAM_UPDATEABLE,
     .offset = PARAM_AT(depth_limit),
     .dflt = 20},
    {.name = "null_value", .kind = PARAM_NULL_TEXT, .flags = PARAM_NULL_OK},
    PARAM_ROW_ORDINALS,
    {.name = "ignore_above",
     .kind = PARAM_INT,
     .flags = PARAM_UPDATEABLE,
     .offset = PARAM_AT(ignore_above),
     .dflt = INT32_MAX},
    {.name = "index_options", .kind = PARAM_INDEX_OPTIONS, .dflt = INDEX_FREQS},
    PARAM_ROW_SIMILARITY,
    {.name = "split_queries_on_whitespace",
     .kind = PARAM_BOOL,
     .flags = PARAM_UPDATEABLE,
     .offset = PARAM_AT(split_on_whitespace)},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static enum err build_flattened(struct builder *b, struct node *n)
{
    const char *too_much = n->n_kids > 0 ? "fields" : n->f.n_copy_to > 0 ? "copy_to" : NULL;
    if (too_much != NULL) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "flattened field [%.*s] does not support [%s]",
                       STR_ARG(n->f.name), too_much);
    }
    if (n->f.depth_limit < 0) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "[depth_limit] must be positive, got [%d]",
                       (int)n->f.depth_limit);
    }
    if (n->f.split_on_whitespace) {
        n->f.search_analyzer = analysis_analyzer(b->analysis, STR("whitespace"));
    }
    build_ignore_above(n);
    return ERR_OK;
}

/* ---- the field of all keys ---- */

static enum err keyed_term(const struct field *f, struct str text, struct arena *arena, struct str *out,
                           struct errmsg *em)
{
    size_t n = f->key_prefix.n;
    char *p = arena_alloc(arena, n + text.n + 1);
    if (p == NULL) {
        return err_no_memory(em);
    }
    memcpy(p, f->key_prefix.p, n);
    if (text.n > 0) {
        memcpy(p + n, text.p, text.n);
    }
    *out = str_mk(p, n + text.n);
    return ERR_OK;
}

static enum err refuse_keyed_pattern(UNUSED const struct field *f, const char *kind, struct errmsg *em)
{
    return strcmp(kind, "prefix") == 0
               ? ERR_OK
               : err_set(em, ERR_UNSUPPORTED,
                         "[%s] queries are not currently supported on keyed [flattened] fields.", kind);
}

static enum err refuse_open_range(UNUSED const struct field *f, struct errmsg *em)
{
    return err_set(
        em, ERR_ILLEGAL_ARGUMENT,
        "[range] queries on keyed [flattened] fields must include both an upper and a lower bound.");
}

/* Its values are shown with those of the whole field. */
static void show_nothing(UNUSED const struct value_format *f, UNUSED const struct json *v,
                         UNUSED struct arena *arena, UNUSED struct jsonw *w)
{
}

static const struct field_class keyed_class = {
    .name = "flattened",
    .params = flattened_params,
    .kind = VALUE_TEXT,
    .show = show_nothing,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_KEYWORD,
    .analysis = FIELD_WHOLE,
    .exists = EXISTS_TERMS,
    .takes_patterns = true,
    .refuse_pattern = refuse_keyed_pattern,
    .refuse_open_range = refuse_open_range,
    .term = keyed_term,
};

static enum err link_keyed(struct builder *b, struct node *n)
{
    struct field *keyed = ARENA_NEW(b->arena, struct field);
    struct str path = arena_printf(b->arena, "%.*s." KEYED_NAME, STR_ARG(n->f.path));
    if (keyed == NULL || path.p == NULL) {
        return no_memory(b);
    }
    *keyed = n->f;
    keyed->class = &keyed_class;
    keyed->path = path;
    keyed->name = str_slice(path, n->f.path.n + 1, path.n);
    keyed->is_hidden = true;
    keyed->keyed = NULL;
    keyed->null_value = NULL;
    n->f.keyed = keyed;
    return ERR_OK;
}

/* ---- a value ---- */

struct flattening {
    struct doc_parser *p;
    const struct field *f;
    struct buf key; /* names of the objects around, and of the leaf, with dots between them */
    int32_t depth;
};

static enum err add_term(struct doc_parser *p, const struct field *f, struct str term)
{
    struct doc_value *to = doc_add(p, f, DOC_TERM);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->bytes = term;
    return ERR_OK;
}

static enum err add_leaf(struct flattening *w, struct str text)
{
    struct str key = buf_view(&w->key), keyed = STR_NULL;
    if (text.n > w->f->ignore_above && utf16_length(text) > w->f->ignore_above) {
        return ERR_OK;
    }
    if (key.n > 0 && memchr(key.p, 0, key.n) != NULL) {
        return err_set(w->p->em, ERR_ILLEGAL_ARGUMENT,
                       "Keys in [flattened] fields cannot contain the reserved character \\0. Offending key: "
                       "[%.*s].",
                       STR_ARG(key));
    }
    buf_char(&w->key, 0);
    struct field of_key = *w->f->keyed;
    of_key.key_prefix = buf_view(&w->key);
    if (w->key.failed) {
        return err_no_memory(w->p->em);
    }
    enum err e = keyed_term(&of_key, text, w->p->arena, &keyed, w->p->em);
    w->key.n = key.n;
    e = e == ERR_OK ? add_term(w->p, w->f, text) : e;
    return e == ERR_OK ? add_term(w->p, w->f->keyed, keyed) : e;
}

static enum err flatten(struct flattening *w, const struct json *v);

/* A name below another one stands behind a dot, if one of them is empty too. */
static enum err flatten_members(struct flattening *w, const struct json *v)
{
    size_t before = w->key.n;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        const struct json_member *m = &v->members[i];
        if (m->key.p == NULL) {
            return doc_broken(w->p);
        }
        if (w->depth > 0) {
            buf_char(&w->key, '.');
        }
        buf_str(&w->key, m->key);
        e = w->key.failed ? err_no_memory(w->p->em) : flatten(w, &m->value);
        w->key.n = before;
    }
    return e;
}

static enum err flatten_object(struct flattening *w, const struct json *v)
{
    if (w->depth + 2 > w->f->depth_limit) {
        return err_set(w->p->em, ERR_ILLEGAL_ARGUMENT,
                       "The provided [flattened] field [%.*s] exceeds the maximum depth limit of [%d].",
                       STR_ARG(w->f->path), (int)w->f->depth_limit);
    }
    w->depth++;
    enum err e = flatten_members(w, v);
    w->depth--;
    return e;
}

static enum err flatten(struct flattening *w, const struct json *v)
{
    enum err e = ERR_OK;
    if (json_is_broken(v)) {
        return doc_broken(w->p);
    }
    if (v->type == JSON_OBJECT) {
        return flatten_object(w, v);
    }
    if (v->type == JSON_ARRAY) {
        for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
            e = flatten(w, &v->items[i]);
        }
        return e;
    }
    const struct json *leaf = v->type == JSON_NULL ? w->f->null_value : v;
    return leaf != NULL ? add_leaf(w, json_text(leaf)) : ERR_OK;
}

static enum err flattened_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    if (v->type == JSON_NULL || (!f->index && !f->doc_values)) {
        return ERR_OK;
    }
    if (v->type != JSON_OBJECT) {
        uint32_t line, col;
        json_place(p->text, v->off, &line, &col);
        return err_set_at(p->em, ERR_PARSING, line, col,
                          "Failed to parse object: expecting token of type [START_OBJECT] but found [%s]",
                          json_token_name(v));
    }
    struct flattening w = {.p = p, .f = f};
    buf_init(&w.key, p->arena->alloc, BUF_UNLIMITED);
    enum err e = flatten_members(&w, v);
    buf_fini(&w.key);
    return e;
}

const struct field_class field_class_flattened = {
    .name = "flattened",
    .params = flattened_params,
    .build = build_flattened,
    .link = link_keyed,
    .value = flattened_value,
    .kind = VALUE_TEXT,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_KEYWORD,
    .analysis = FIELD_WHOLE,
    .takes_patterns = true,
};
