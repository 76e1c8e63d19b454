/* The checks of by-query operations before they begin. */
#include "coordinator/ops/by_query_int.h"

#include "engine/index/engine.h"

static void complain(struct buf *b, unsigned *n, const char *what)
{
    buf_printf(b, "%u: %s;", ++*n, what);
}

static void check_search(struct buf *b, unsigned *n, const struct by_query_spec *s,
                         const struct search_source *src)
{
    if (src->track_total_given && src->track_total != TRACK_TOTAL_ACCURATE) {
        complain(b, n, "disabling [track_total_hits] is not allowed in a scroll context");
    }
    if (src->from > 0) {
        complain(b, n, "using [from] is not allowed in a scroll context");
    }
    if (src->size_given && src->size == 0) {
        complain(b, n, "[size] cannot be [0] in a scroll context");
    }
    if (src->n_rescore > 0) {
        complain(b, n, "using [rescore] is not allowed in a scroll context");
    }
    if (s->search.request_cache_given) {
        complain(b, n, "[request_cache] cannot be used in a scroll context");
    }
    if (src->pit_id.p != NULL) {
        complain(b, n, "[indices] cannot be used with point in time");
    }
}

static void check_reindex(struct buf *b, unsigned *n, const struct by_query_spec *s,
                          const struct search_source *src)
{
    if (s->search.index.n == 0) {
        complain(b, n, "use _all if you really want to copy from all existing indexes");
    }
    if (src->source.given && !src->source.enabled) {
        complain(b, n, "_source:false is not supported in this context");
    }
    if (s->dest.p == NULL) {
        complain(b, n, "index must be specified");
    } else if (s->dest_routing.p != NULL && s->routing == ROUTING_KEEP) {
        complain(b, n, "routing must be unset, [keep], [discard] or [=<some new value>]");
    }
}

enum err by_query_validate(const struct by_query_spec *s, const struct search_source *src, struct errmsg *em)
{
    struct buf b;
    unsigned n = 0;
    buf_init(&b, NULL, 4 * KIB);
    check_search(&b, &n, s, src);
    if (src->from > 0) {
        complain(&b, &n, "from is not supported in this context");
    }
    if (src->stored_fields_given) {
        complain(&b, &n, "stored_fields is not supported in this context");
    }
    if (s->max_docs == 0) {
        complain(
            &b, &n,
            "maxDocs should be greater than 0 if the request is limited to some number of documents or -1 "
            "if it isn't but it was [0]");
    }
    if (src->slice != NULL && s->slices != 1) {
        complain(&b, &n, "can't specify both manual and automatic slicing at the same time");
    }
    if (s->is_remote && s->slices != 1) {
        buf_printf(&b, "%u: reindex from remote sources doesn't support slices > 1 but was [%d];", ++n,
                   (int)s->slices);
    }
    if (s->kind == BY_QUERY_DELETE && src->query == NULL && src->pit_id.p == NULL) {
        complain(&b, &n, "query is missing");
    } else if (s->kind == BY_QUERY_REINDEX) {
        check_reindex(&b, &n, s, src);
    }
    enum err e =
        n > 0 ? err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(buf_view(&b))) : ERR_OK;
    buf_fini(&b);
    return e;
}

/* Reindexing must not read what it writes. */
static enum err check_target(struct by_query *op, const struct cluster_state *state, struct errmsg *em)
{
    const struct by_query_spec *s = &op->spec;
    const struct index_meta *meta;
    const struct alias_meta *alias;
    const struct index_target *from;
    struct str concrete;
    uint32_t n;
    int64_t now = clock_wall_ms(op->co->o.clock);
    if (s->require_alias && !cluster_has_alias(state, s->dest)) {
        err_set(em, ERR_INDEX_NOT_FOUND,
                "no such index [%.*s] and [require_alias] request flag is [true] and [%.*s] is not an alias",
                STR_ARG(s->dest), STR_ARG(s->dest));
        err_about_index(em, s->dest, STR("_na_"));
        return ERR_INDEX_NOT_FOUND;
    }
    enum err e = resolve_indices(state, s->search.index, &s->search.indices, now, &op->arena, &from, &n, em);
    if (e != ERR_OK) {
        return e;
    }
    if (index_name_check(s->dest, NULL) != ERR_OK && cluster_index(state, s->dest) == NULL
        && !cluster_has_alias(state, s->dest)) {
        return ERR_OK; /* each write will say so */
    }
    e = resolve_write(state, s->dest, now, &op->arena, &meta, &alias, &concrete, em);
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (str_eq(from[i].meta->name, concrete)) {
            return err_set(
                em, ERR_ACTION_VALIDATION,
                "Validation Failed: 1: reindex cannot write into an index its reading from [%.*s];",
                STR_ARG(s->dest));
        }
    }
    return ERR_OK;
}

enum err by_query_check_target(struct by_query *op, struct errmsg *em)
{
    if (op->spec.kind != BY_QUERY_REINDEX) {
        return ERR_OK;
    }
    struct cluster_state *state = op->co->o.state(op->co->o.self);
    enum err e = check_target(op, state, em);
    cluster_state_unref(state);
    return e;
}
