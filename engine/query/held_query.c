#include "engine/query/held_query.h"

#include "common/base/arena_list.h"
#include "common/settings/setting_read.h"
#include "engine/index/format.h"
#include "engine/query/query_ops.h"

/* ---- fields that are not mapped ---- */

const struct field *held_query_text(const struct query_context *cx, struct str name, struct arena *arena)
{
    struct analysis *a = mapping_analysis(cx->mapping);
    if (cx->index_settings == NULL
        || !setting_bool(cx->index_settings, SET_INDEX_PERCOLATOR_MAP_UNMAPPED_FIELDS_AS_TEXT)) {
        return NULL;
    }
    struct field *f = ARENA_NEW(arena, struct field);
    if (f == NULL) {
        return NULL;
    }
    *f = (struct field){.path = name,
                        .name = name,
                        .class = &field_class_text,
                        .number = FIELD_NO_NUMBER,
                        .index = true,
                        .norms = true,
                        .options = INDEX_POSITIONS,
                        .boost = 1,
                        .ignore_above = UINT32_MAX,
                        .parent = mapping_root(cx->mapping)};
    f->similarity = (struct similarity){SIM_BM25, 1.2F, 0.75F, true};
    f->analyzer = analysis_analyzer(a, STR("default"));
    f->search_analyzer = analysis_analyzer(a, STR("default_search"));
    f->search_analyzer = f->search_analyzer != NULL ? f->search_analyzer : f->analyzer;
    f->search_quote_analyzer = f->search_analyzer;
    return f->analyzer != NULL ? f : NULL;
}

/* ---- the terms that a query needs ---- */

#define TERMS_MAX 1024 /* of a query: more are as good as none */

struct needed {
    struct str *v;
    size_t n, cap;
    bool any; /* documents without them may match */
};

struct needing {
    struct arena *arena;
    struct errmsg *em;
    struct needed *out;
    bool one; /* of several children: all of them are alternatives */
};

static enum err needed_of(struct needing *x, const struct query *q, struct needed *out);

struct str held_query_term(struct str field, struct str term, struct arena *arena)
{
    char *p = arena_alloc(arena, field.n + 1 + term.n);
    if (p == NULL) {
        return STR_NULL;
    }
    memcpy(p, field.p, field.n);
    p[field.n] = 0;
    if (term.n > 0) {
        memcpy(p + field.n + 1, term.p, term.n);
    }
    return str_mk(p, field.n + 1 + term.n);
}

static enum err add_term(struct needing *x, struct needed *to, struct str field, struct str term)
{
    if (to->n == TERMS_MAX) {
        to->any = true;
    }
    if (to->any) {
        return ERR_OK;
    }
    struct str both = held_query_term(field, term, x->arena);
    return both.p != NULL && ARENA_ADD(x->arena, to->v, to->n, to->cap, both) ? ERR_OK : err_no_memory(x->em);
}

/* Both are alternatives. */
static enum err add_all(struct needing *x, struct needed *to, const struct needed *from)
{
    to->any |= from->any || to->n + from->n > TERMS_MAX;
    for (size_t i = 0; !to->any && i < from->n; i++) {
        if (!ARENA_ADD(x->arena, to->v, to->n, to->cap, from->v[i])) {
            return err_no_memory(x->em);
        }
    }
    return ERR_OK;
}

/* Both are needed: the one that fewer documents are likely to have, which is what has fewer terms, or longer ones. */
static size_t shortest(const struct needed *s)
{
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < s->n; i++) {
        least = MIN_OF(least, s->v[i].n);
    }
    return least;
}

static void keep_better(struct needed *best, const struct needed *other)
{
    bool better =
        best->any ? !other->any
                  : !other->any
                        && (other->n < best->n || (other->n == best->n && shortest(other) > shortest(best)));
    *best = better ? *other : *best;
}

/* The terms of a field are read by its name, but for those behind a key and those of metadata. */
static bool has_plain_terms(const struct query *q)
{
    const struct field *f = q->field;
    return q->field_name.n > 0 && (f == NULL || (f->key_prefix.n == 0 && !f->class->is_metadata));
}

static enum err terms_needed(struct needing *x, const struct query *q, const struct str *v, uint32_t n,
                             struct needed *out)
{
    enum err e = ERR_OK;
    *out = (struct needed){.any = !has_plain_terms(q) || n > TERMS_MAX};
    for (uint32_t i = 0; e == ERR_OK && !out->any && i < n; i++) {
        e = add_term(x, out, q->field_name, v[i]);
    }
    return e;
}

/* Any position's terms will do; the last one's may be beginnings of terms. */
static enum err phrase_needed(struct needing *x, const struct query *q, struct needed *out)
{
    uint32_t n = q->phrase.n;
    enum err e = ERR_OK;
    if (n > 0 && (q->phrase.prefix_last || q->phrase.last_field != NULL)) {
        n--;
    }
    *out = (struct needed){.any = true};
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        struct needed one;
        e = terms_needed(x, q, q->phrase.v[i].terms, q->phrase.v[i].n, &one);
        keep_better(out, &one);
    }
    return e;
}

static enum err bool_needed(struct needing *x, const struct query *q, struct needed *out)
{
    struct needed any_of = {0};
    uint32_t n_should = 0, n_must = 0;
    enum err e = ERR_OK;
    *out = (struct needed){.any = true};
    for (uint32_t i = 0; e == ERR_OK && q->boolean.common == NULL && i < q->boolean.n; i++) {
        const struct bool_clause *c = &q->boolean.v[i];
        struct needed one;
        if (c->occur == OCCUR_MUST_NOT) {
            continue;
        }
        e = needed_of(x, c->query, &one);
        if (e == ERR_OK && c->occur == OCCUR_SHOULD) {
            n_should++;
            e = add_all(x, &any_of, &one);
        } else if (e == ERR_OK) {
            n_must++;
            keep_better(out, &one);
        }
    }
    if (n_should > 0 && (n_must == 0 || q->boolean.min_should > 0)) {
        keep_better(out, &any_of);
    }
    return e;
}

static enum err child_needed(void *arg, const struct query *child, enum child_role role)
{
    struct needing *x = arg;
    struct needed one;
    if (role != CHILD_SCORES && role != CHILD_FILTERS) {
        return ERR_OK;
    }
    struct needing inner = *x;
    enum err e = needed_of(&inner, child, &one);
    if (e == ERR_OK && x->one) {
        return add_all(x, x->out, &one);
    }
    keep_better(x->out, &one);
    return e;
}

static enum err children_needed(struct needing *x, const struct query *q, bool one, struct needed *out)
{
    struct needing inner = *x;
    *out = (struct needed){.any = !one};
    inner.out = out;
    inner.one = one;
    return query_each_child(q, child_needed, &inner);
}

static enum err needed_of(struct needing *x, const struct query *q, struct needed *out)
{
    static const struct query_ops *const around[] = {&q_constant,       &q_boost,        &q_boosting,
                                                     &q_function_score, &q_script_score, &q_nested};
    *out = (struct needed){.any = true};
    if (q->ops == &q_match_none) {
        out->any = false;
        return ERR_OK;
    }
    if (q->ops == &q_term) {
        return terms_needed(x, q, &q->term.term, 1, out);
    }
    if (q->ops == &q_terms || q->ops == &q_synonym) {
        return terms_needed(x, q, q->terms.v, q->terms.n, out);
    }
    if (q->ops == &q_phrase) {
        return phrase_needed(x, q, out);
    }
    if (q->ops == &q_bool) {
        return bool_needed(x, q, out);
    }
    if (q->ops == &q_dis_max) {
        return children_needed(x, q, true, out);
    }
    for (size_t i = 0; i < ARRAY_LEN(around); i++) {
        if (q->ops == around[i]) {
            return children_needed(x, q, false, out);
        }
    }
    return ERR_OK;
}

enum err held_query_terms(const struct query *q, struct arena *arena, struct held_query *out,
                          struct errmsg *em)
{
    static const struct str any[] = {{HELD_QUERY_ANY, 1}};
    struct needing x = {.arena = arena, .em = em};
    struct needed needed;
    enum err e = needed_of(&x, q, &needed);
    bool all = needed.any;
    for (size_t i = 0; i < needed.n; i++) {
        all |= needed.v[i].n > SEG_TERM_BYTES_MAX;
    }
    *out = all ? (struct held_query){any, 1} : (struct held_query){needed.v, (uint32_t)needed.n};
    return e;
}

/* ---- queries as they are indexed ---- */

static enum err refuse_joins(const struct json *query, struct errmsg *em);

static enum err refuse_joins_in(const struct json *v, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (v == NULL || v->type != JSON_ARRAY) {
        return v != NULL ? refuse_joins(v, em) : ERR_OK;
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = refuse_joins(&v->items[i], em);
    }
    return e;
}

/* Elasticsearch looks for them below these queries alone. */
static enum err refuse_joins(const struct json *query, struct errmsg *em)
{
    static const struct {
        const char *query, *clause;
    } below[] = {{"bool", "must"},         {"bool", "filter"},           {"bool", "should"},
                 {"bool", "must_not"},     {"constant_score", "filter"}, {"function_score", "query"},
                 {"boosting", "positive"}, {"boosting", "negative"},     {"dis_max", "queries"}};
    if (query->type != JSON_OBJECT || query->n == 0) {
        return ERR_OK;
    }
    struct str name = query->members[0].key;
    const struct json *body = &query->members[0].value;
    enum err e = ERR_OK;
    if (str_is(name, "has_child") || str_is(name, "has_parent")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the [%.*s] query is unsupported inside a percolator query",
                       STR_ARG(name));
    }
    for (size_t i = 0; e == ERR_OK && i < ARRAY_LEN(below); i++) {
        if (str_is(name, below[i].query)) {
            e = refuse_joins_in(json_get(body, below[i].clause), em);
        }
    }
    const struct json *functions = str_is(name, "function_score") ? json_get(body, "functions") : NULL;
    for (uint32_t i = 0; e == ERR_OK && json_is(functions, JSON_ARRAY) && i < functions->n; i++) {
        e = refuse_joins_in(json_get(&functions->items[i], "filter"), em);
    }
    return e;
}

enum err held_query_build(const struct query **out, const struct query_context *cx, const struct json *query,
                          struct str text, struct errmsg *em)
{
    struct query_context own = *cx;
    own.text = text;
    own.nested = NULL;
    own.held = own.raw_errors = true;
    own.one_phase = false;
    return query_build(out, &own, query, em);
}

static enum err no_object(const struct json *v, struct str text, struct errmsg *em)
{
    uint32_t line, col;
    json_place(text, v->end, &line, &col);
    return err_set_at(em, ERR_PARSING, line, col, "[_na] query malformed, must start with start_object");
}

static enum err reader_read(const struct query_reader *self, const struct mapping *m,
                            const struct json *query, struct str text, struct arena *arena,
                            struct held_query *out, struct errmsg *em)
{
    const struct held_query_reader *r = (const struct held_query_reader *)(const void *)self;
    struct held_query kept = *out;
    struct query_context cx = r->cx;
    const struct query *q;
    ERR_LOCAL(own);
    em = em != NULL ? em : &own;
    cx.mapping = m;
    cx.arena = arena;
    enum err e =
        query->type == JSON_OBJECT ? query_check(query, text, NULL, arena, em) : no_object(query, text, em);
    e = e == ERR_OK ? refuse_joins(query, em) : e;
    e = e == ERR_OK ? held_query_build(&q, &cx, query, text, em) : e;
    e = e == ERR_OK ? held_query_terms(q, arena, out, em) : e;
    if (r->accepted && e != ERR_OK && e != ERR_NO_MEMORY) {
        err_clear(em);
        *out = kept;
        return ERR_OK;
    }
    return e;
}

void held_query_reader_init(struct held_query_reader *r, struct str index_name, struct str index_uuid,
                            const struct settings *settings, int64_t now_ms, bool accepted)
{
    *r = (struct held_query_reader){.base = {reader_read},
                                    .cx = {.index_name = index_name,
                                           .index_uuid = index_uuid,
                                           .now_ms = now_ms,
                                           .clauses_max = query_node_settings()->clauses_max,
                                           .depth_max = QUERY_DEPTH_MAX,
                                           .index_settings = settings,
                                           .allow_expensive = true,
                                           .only_read = true},
                                    .accepted = accepted};
}
