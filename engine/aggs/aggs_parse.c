/* The tree of aggregations out of a request: names, types, sub-aggregations, meta. */
#include "engine/aggs/agg_int.h"

#include "common/base/jsonr.h"

#define AGG_DEPTH_MAX 100 /* levels of aggregations inside each other */

static bool valid_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '[' || s.p[i] == ']' || s.p[i] == '>') {
            return false;
        }
    }
    return s.n > 0;
}

static enum err parse_level(struct agg_parse *p, struct agg *parent, const struct json *v, uint32_t depth);

static enum err unknown_type(struct agg_parse *p, const struct json_member *m)
{
    char hint[JR_HINT_MAX];
    uint32_t line, col;
    json_place(p->text, m->value.off, &line, &col);
    jr_did_you_mean(m->key, agg_type_names, hint, sizeof(hint));
    err_set(p->em, ERR_NAMED_OBJECT, "[%u:%u] unknown field [%.*s]", line, col, STR_ARG(m->key));
    return err_wrap_at(p->em, ERR_PARSING, line, col, "Unknown aggregation type [%.*s]%s", STR_ARG(m->key),
                       hint);
}

static enum err parse_type(struct agg_parse *p, struct agg *a, const struct json_member *m)
{
    if (a->type != NULL) {
        return jr_fail(p->text, m->value.off, p->em,
                       "Found two aggregation type definitions in [%.*s]: [%s] and [%.*s]", STR_ARG(a->name),
                       a->type->name, STR_ARG(m->key));
    }
    a->type = agg_type_find(m->key);
    if (a->type == NULL) {
        return agg_type_known(m->key)
                   ? err_set(p->em, ERR_ILLEGAL_ARGUMENT, "aggregation type [%.*s] of [%.*s] is not offered",
                             STR_ARG(m->key), STR_ARG(a->name))
                   : unknown_type(p, m);
    }
    a->body = &m->value;
    a->params = arena_zalloc(p->arena, a->type->params_size);
    if (a->params == NULL) {
        return err_no_memory(p->em);
    }
    return a->type->parse(p, a, &m->value);
}

/* One member of a definition: its type, its sub-aggregations or its meta. */
static enum err parse_member(struct agg_parse *p, struct agg *a, const struct json_member *m,
                             const struct json **subs)
{
    if (m->value.type != JSON_OBJECT) {
        return jr_fail(p->text, m->value.off, p->em,
                       "Expected [START_OBJECT] under [%.*s], but got a [%s] in [%.*s]", STR_ARG(m->key),
                       json_token_name(&m->value), STR_ARG(a->name));
    }
    if (str_is(m->key, "meta")) {
        a->meta = &m->value;
        return ERR_OK;
    }
    if (str_is(m->key, "aggs") || str_is(m->key, "aggregations")) {
        if (*subs != NULL) {
            return jr_fail(p->text, m->value.off, p->em, "Found two sub aggregation definitions under [%.*s]",
                           STR_ARG(a->name));
        }
        *subs = &m->value;
        return ERR_OK;
    }
    return parse_type(p, a, m);
}

static enum err refuse_subs(struct agg_parse *p, const struct agg *a)
{
    if (a->type->class == CLASS_METRIC) {
        return err_set(p->em, ERR_AGG_INIT, "Aggregator [%.*s] of type [%s] cannot accept sub-aggregations",
                       STR_ARG(a->name), a->type->name);
    }
    return err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Aggregation [%.*s] cannot define sub-aggregations",
                   STR_ARG(a->name));
}

static enum err parse_one(struct agg_parse *p, struct agg *a, const struct json_member *m, uint32_t depth)
{
    const struct json *subs = NULL;
    a->name = m->key;
    if (!valid_name(m->key)) {
        return jr_fail(p->text, m->key_off, p->em,
                       "Invalid aggregation name [%.*s]. Aggregation names can contain any character except "
                       "'[', ']', and '>'",
                       STR_ARG(m->key));
    }
    if (m->value.type != JSON_OBJECT) {
        return jr_fail(p->text, m->value.off, p->em,
                       "Aggregation definition for [%.*s starts with a [%s], expected a [START_OBJECT].",
                       STR_ARG(m->key), json_token_name(&m->value));
    }
    for (uint32_t i = 0; i < m->value.n; i++) {
        enum err e = parse_member(p, a, &m->value.members[i], &subs);
        if (e != ERR_OK) {
            return e;
        }
        if (subs == &m->value.members[i].value) {
            e = parse_level(p, a, subs, depth + 1);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    if (a->type == NULL) {
        return jr_fail(p->text, m->value.end - 1, p->em, "Missing definition for aggregation [%.*s]",
                       STR_ARG(m->key));
    }
    if (a->type == &agg_scripted_metric) { /* which takes some, and collects none of them */
        a->n_subs = a->n_pipes = 0;
        return ERR_OK;
    }
    bool empty = agg_places(a) == 0;
    return subs != NULL && !agg_has_buckets(a) && (!empty || a->type->class > CLASS_METRIC)
               ? refuse_subs(p, a)
               : ERR_OK;
}

static enum err parse_level(struct agg_parse *p, struct agg *parent, const struct json *v, uint32_t depth)
{
    if (depth > AGG_DEPTH_MAX) {
        return jr_fail(p->text, v->off, p->em, "more than %d levels of aggregations", AGG_DEPTH_MAX);
    }
    parent->subs = ARENA_ARRAY(p->arena, struct agg *, v->n);
    parent->pipes = ARENA_ARRAY(p->arena, struct agg *, v->n);
    if (parent->subs == NULL || parent->pipes == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < v->n; i++) {
        struct agg *a = ARENA_NEW(p->arena, struct agg);
        if (a == NULL) {
            return err_no_memory(p->em);
        }
        a->parent = parent;
        enum err e = parse_one(p, a, &v->members[i], depth);
        if (e != ERR_OK) {
            return e;
        }
        if (a->type->class >= CLASS_SIBLING) {
            parent->pipes[parent->n_pipes++] = a;
        } else {
            parent->subs[parent->n_subs++] = a;
        }
    }
    return ERR_OK;
}

/* Scripts may ask for _score: whether they do shows when they are compiled, so their text decides here. */
bool script_wants_score(const struct json *script)
{
    const struct json *source = json_is(script, JSON_OBJECT) ? json_get(script, "source") : script;
    return source != NULL && str_find_str(json_text(source), STR("_score")) != SIZE_MAX;
}

bool agg_wants_scores(const struct agg *a)
{
    if (a->type->wants_scores != NULL && a->type->wants_scores(a)) {
        return true;
    }
    if (a->vs.script != NULL && script_wants_score(a->vs.script)) {
        return true;
    }
    for (uint32_t i = 0; i < a->n_subs; i++) {
        if (agg_wants_scores(a->subs[i])) {
            return true;
        }
    }
    return false;
}

enum err aggs_parse(const struct agg_spec **out, const struct json *aggs, struct str text,
                    struct arena *arena, struct errmsg *em)
{
    struct agg_spec *spec = ARENA_NEW(arena, struct agg_spec);
    if (spec == NULL) {
        return err_no_memory(em);
    }
    spec->root.type = &agg_type_root;
    spec->text = text;
    struct agg_parse p = {.spec = spec, .text = text, .arena = arena, .em = em};
    enum err e = parse_level(&p, &spec->root, aggs, 0);
    e = e == ERR_OK ? agg_validate(&p, &spec->root) : e;
    if (e == ERR_OK) {
        spec->needs_scores = agg_wants_scores(&spec->root);
        *out = spec;
    }
    return e;
}

bool aggs_visit_all(const struct agg_spec *spec)
{
    for (uint32_t i = 0; i < spec->root.n_subs; i++) {
        const struct agg *a = spec->root.subs[i];
        if (a->type->every_document != NULL && a->type->every_document(a)) {
            return true;
        }
    }
    return false;
}

bool aggs_need_scores(const struct agg_spec *spec)
{
    return spec->needs_scores;
}
