/* The checks of pipelines on the coordinating node, before it asks any shard; and the order in which they
 * run. */
#include "engine/aggs/agg_int.h"
#include "engine/aggs/pipeline.h"

static struct agg *find_agg(struct agg *const *v, uint32_t n, struct str name)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_eq(v[i]->name, name)) {
            return v[i];
        }
    }
    return NULL;
}

static bool is_special(struct str s)
{
    return str_is(s, "_count") || str_is(s, "_key") || str_is(s, "_bucket_count");
}

enum err pipe_failed(struct agg_parse *p, struct str why)
{
    struct agg_spec *spec = p->spec;
    spec->failures = why.p == NULL ? why
                                   : arena_printf(p->arena, "%.*s%u: %.*s;", STR_ARG(spec->failures),
                                                  ++spec->n_failures, STR_ARG(why));
    return spec->failures.p == NULL ? err_no_memory(p->em) : ERR_OK;
}

static enum err invalid(struct agg_parse *p, const struct agg *a, const char *before, const char *after)
{
    return pipe_failed(p, arena_printf(p->arena, "%s%s aggregation [%.*s] %s", before, a->type->name,
                                       STR_ARG(a->name), after));
}

/* The rest of a path, below the first aggregation that it names. */
static struct str check_below(struct agg_parse *p, const struct agg *first, const struct agg_path *path)
{
    const struct agg *at = first;
    for (uint32_t i = 1; i < path->n; i++) {
        struct str name = path->v[i].name;
        if (i + 1 == path->n && is_special(name)) {
            return STR_NULL;
        }
        const struct agg *next = find_agg(at->subs, at->n_subs, name);
        if (next == NULL && find_agg(at->pipes, at->n_pipes, name) != NULL) {
            return STR_NULL;
        }
        if (next == NULL) {
            return arena_printf(p->arena, "No aggregation [%.*s] found for path [%.*s]", STR_ARG(name),
                                STR_ARG(path->text));
        }
        at = next;
    }
    return STR_NULL;
}

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

struct ordering {
    struct agg_parse *p;
    struct str wrong; /* why there is no order: the first path that leads nowhere */
    struct agg *level;
    uint8_t *marks;
    struct agg **out;
    uint32_t n;
};

static void visit(struct ordering *o, uint32_t i);

/* Reads the text of a path. What cannot be read ends the request. */
static bool read_path(struct ordering *o, struct agg_path *path)
{
    struct agg_spec *spec = o->p->spec;
    ERR_LOCAL(em);
    enum err e = agg_path_parse(path, path->text, o->p->arena, &em);
    if (e == ERR_OK) {
        return true;
    }
    o->wrong = arena_printf(o->p->arena, "%s", err_reason(&em));
    spec->bad_path = e == ERR_AGG_EXECUTION && spec->bad_path.p == NULL ? o->wrong : spec->bad_path;
    return false;
}

static void visit_path(struct ordering *o, struct agg_path *path)
{
    if (!read_path(o, path)) {
        return;
    }
    struct str first = path->v[0].name;
    if (is_special(first)) {
        return;
    }
    const struct agg *sub = find_agg(o->level->subs, o->level->n_subs, first);
    if (sub != NULL) {
        o->wrong = check_below(o->p, sub, path);
        return;
    }
    for (uint32_t k = 0; k < o->level->n_pipes; k++) {
        if (str_eq(o->level->pipes[k]->name, first)) {
            visit(o, k);
            return;
        }
    }
    o->wrong = arena_printf(o->p->arena, "No aggregation found for path [%.*s]", STR_ARG(path->text));
}

static void visit(struct ordering *o, uint32_t i)
{
    struct agg *a = o->level->pipes[i];
    if (o->marks[i] == MARK_DONE) {
        return;
    }
    if (o->marks[i] == MARK_OPEN) {
        o->wrong = arena_printf(o->p->arena, "Cyclical dependency found with pipeline aggregator [%.*s]",
                                STR_ARG(a->name));
        return;
    }
    o->marks[i] = MARK_OPEN;
    for (uint32_t k = 0; o->wrong.p == NULL && k < pipe_params(a)->n; k++) {
        visit_path(o, &pipe_params(a)->v[k].path);
    }
    o->marks[i] = MARK_DONE;
    o->out[o->n++] = a;
}

/* *ordered: there is an order in which each pipeline's input is ready. */
static enum err order_pipes(struct agg_parse *p, struct agg *level, bool *ordered)
{
    struct ordering o = {.p = p, .level = level};
    o.marks = ARENA_ARRAY(p->arena, uint8_t, level->n_pipes);
    o.out = ARENA_ARRAY(p->arena, struct agg *, level->n_pipes);
    if (o.marks == NULL || o.out == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; o.wrong.p == NULL && i < level->n_pipes; i++) {
        visit(&o, i);
    }
    *ordered = o.wrong.p == NULL;
    if (!*ordered) {
        return pipe_failed(p, o.wrong);
    }
    level->pipes = o.out;
    return ERR_OK;
}

/* A sibling pipeline reads the buckets of an aggregation beside it. */
enum err check_sibling(struct agg_parse *p, const struct agg *level, const struct agg *a)
{
    const struct pipe_params *given = pipe_params(a);
    if (given->n == 0) {
        return invalid(p, a, "", "must have a buckets_path");
    }
    struct str text = given->v[0].path.text;
    size_t end = 0;
    while (end < text.n && text.p[end] != '>' && text.p[end] != '.') {
        end++;
    }
    struct str first = str_slice(text, 0, end);
    const struct agg *sub = find_agg(level->subs, level->n_subs, first);
    if (sub == NULL) {
        return pipe_failed(
            p, arena_printf(p->arena, "buckets_path aggregation does not exist for aggregation [%.*s]: %.*s",
                            STR_ARG(a->name), STR_ARG(text)));
    }
    if (sub->type->builder != NULL) {
        return pipe_failed(
            p, arena_printf(p->arena,
                            "The first aggregation in buckets_path must be a multi-bucket aggregation for "
                            "aggregation [%.*s] found :org.elasticsearch.%s%s for buckets path: %.*s",
                            STR_ARG(a->name),
                            strncmp(sub->type->builder, "join.", 5) != 0 ? "search.aggregations." : "",
                            sub->type->builder, STR_ARG(text)));
    }
    return ERR_OK;
}

enum err check_sequential(struct agg_parse *p, const struct agg *level, const struct agg *a)
{
    if (level->type->gapless == NULL) {
        return invalid(p, a, "",
                       level->type == &agg_type_root
                           ? "must have a histogram, date_histogram or auto_date_histogram as parent but "
                             "doesn't have a parent"
                           : "must have a histogram, date_histogram or auto_date_histogram as parent");
    }
    return level->type->gapless(level)
               ? ERR_OK
               : invalid(p, a, "parent histogram of ", "must have min_doc_count of 0");
}

enum err check_scripted(struct agg_parse *p, const struct agg *level, const struct agg *a)
{
    return level->type == &agg_type_root ? invalid(p, a, "", "must be declared inside of another aggregation")
                                         : ERR_OK;
}

enum err agg_validate(struct agg_parse *p, struct agg *level)
{
    bool ordered;
    enum err e = order_pipes(p, level, &ordered);
    for (uint32_t i = 0; e == ERR_OK && i < level->n_pipes; i++) {
        level->pipes[i]->place = level->n_subs + i;
        e = ordered ? level->pipes[i]->type->validate(p, level, level->pipes[i]) : ERR_OK;
    }
    for (uint32_t i = 0; e == ERR_OK && i < level->n_subs; i++) {
        level->subs[i]->place = i;
        e = agg_validate(p, level->subs[i]);
    }
    return e;
}

enum err aggs_check(const struct agg_spec *spec, struct errmsg *em)
{
    if (spec->bad_path.p != NULL) {
        return err_set(em, ERR_AGG_EXECUTION, "%.*s", STR_ARG(spec->bad_path));
    }
    return spec->n_failures == 0
               ? ERR_OK
               : err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(spec->failures));
}
