/* Collecting one shard: between the search's documents and the tree of collectors. */
#include "engine/aggs/collect.h"

#include "common/base/bits.h"
#include "common/base/memory_account.h"

#define AGG_BYTES \
    ((uint64_t)6 * KIB) /* that each aggregation is thought to need, however little it collects */

struct run {
    struct doc_collector api;
    struct agg_run r;
    struct collector **top; /* one an aggregation of the request's first level */
    uint32_t n;
    bool *by_doc; /* which of them did not take the last window's bits */
    bool in_leaf;
    doc_id docs[BATCH];
    float scores[BATCH];
    uint32_t pending;
};

static void flush(struct run *s)
{
    struct doc_run d = {s->docs, NULL, s->r.scores ? s->scores : NULL, s->pending};
    s->pending = 0;
    for (uint32_t i = 0; d.n > 0 && i < s->n && s->r.failed == ERR_OK; i++) {
        if (!s->top[i]->agg->type->top_only) {
            s->top[i]->ops->collect(s->top[i], &d);
        }
    }
}

static void end_leaf(struct run *s)
{
    flush(s);
    for (uint32_t i = 0; s->in_leaf && i < s->n; i++) {
        collector_leaf_end(s->top[i]);
    }
    s->in_leaf = false;
}

static enum err run_error(struct run *s, struct errmsg *em)
{
    if (s->r.failed != ERR_OK && em != NULL) {
        err_copy(em, &s->r.em);
    }
    return s->r.failed;
}

static enum err begin_leaf(struct run *s, const struct leaf *leaf, struct scorer *scorer, bool global,
                           struct errmsg *em)
{
    s->r.leaf = leaf;
    s->r.scorer = scorer;
    s->in_leaf = true;
    for (uint32_t i = 0; i < s->n; i++) {
        bool is_global = s->top[i]->agg->type->top_only;
        enum err e = is_global == global ? collector_leaf(s->top[i], em) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err on_leaf(void *self, const struct leaf *leaf, struct scorer *scorer, struct errmsg *em)
{
    struct run *s = self;
    end_leaf(s);
    enum err e = run_error(s, em);
    return e == ERR_OK && scorer != NULL ? begin_leaf(s, leaf, scorer, false, em) : e;
}

static void on_collect(void *self, doc_id doc, float score)
{
    struct run *s = self;
    s->docs[s->pending] = doc;
    s->scores[s->pending++] = score;
    if (s->pending == BATCH) {
        flush(s);
    }
}

/* Those that cannot take bits get the documents in batches. */
static void on_bits(void *self, doc_id from, const uint64_t *bits, uint32_t n)
{
    struct run *s = self;
    uint32_t left = 0, last = bits_words(n) == 0 ? 0 : (uint32_t)bits_words(n) - 1;
    for (uint32_t i = 0; i < s->n; i++) {
        struct collector *c = s->top[i];
        bool done = c->agg->type->top_only
                    || (c->ops->collect_bits != NULL && c->ops->collect_bits(c, from, bits, n));
        s->by_doc[i] = !done;
        left += !done;
    }
    struct doc_run d = {s->docs, NULL, NULL, 0};
    for (uint32_t w = 0; left > 0 && n > 0 && w <= last; w++) {
        for (uint64_t word = bits[w]; word != 0; word &= word - 1) {
            s->docs[d.n++] = from + w * 64 + (doc_id)__builtin_ctzll(word);
        }
        if (d.n == 0 || (d.n <= BATCH - 64 && w != last)) {
            continue;
        }
        for (uint32_t i = 0; i < s->n && s->r.failed == ERR_OK; i++) {
            if (s->by_doc[i]) {
                s->top[i]->ops->collect(s->top[i], &d);
            }
        }
        d.n = 0;
    }
}

static enum err on_done(void *self, struct errmsg *em)
{
    end_leaf(self);
    return run_error(self, em);
}

static uint64_t count_aggs(const struct agg *a)
{
    uint64_t n = a->n_subs;
    for (uint32_t i = 0; i < a->n_subs; i++) {
        n += count_aggs(a->subs[i]);
    }
    return n;
}

/* As in Elasticsearch: where aggregations have no room to begin with, the search is refused. */
static bool has_memory_to_begin(const struct agg_spec *spec)
{
    uint64_t n = count_aggs(&spec->root);
    return n == 0 || memory_room(MEMORY_REQUEST, n * AGG_BYTES, "preallocate[aggregations]");
}

enum err aggs_collector_new(struct doc_collector **out, const struct agg_spec *spec,
                            const struct search_context *cx, const struct weight *query, struct errmsg *em)
{
    struct run *s = has_memory_to_begin(spec) ? ARENA_NEW(cx->arena, struct run) : NULL;
    if (s == NULL) {
        return err_no_memory(em);
    }
    struct search_context *kept = ARENA_NEW(cx->arena, struct search_context);
    s->n = spec->root.n_subs;
    s->top = ARENA_ARRAY(cx->arena, struct collector *, s->n);
    s->by_doc = ARENA_ARRAY(cx->arena, bool, s->n);
    if (s->top == NULL || kept == NULL || s->by_doc == NULL) {
        return err_no_memory(em);
    }
    *kept = *cx;
    s->r = (struct agg_run){.spec = spec,
                            .cx = kept,
                            .query = query,
                            .arena = cx->arena,
                            .em = err_in(cx->arena),
                            .scores = spec->needs_scores};
    s->api = (struct doc_collector){.self = s,
                                    .needs_scores = spec->needs_scores,
                                    .leaf = on_leaf,
                                    .collect = on_collect,
                                    .collect_bits = on_bits,
                                    .done = on_done};
    for (uint32_t i = 0; i < s->n; i++) {
        enum err e = collector_new(&s->top[i], &s->r, spec->root.subs[i], em);
        if (e != ERR_OK) {
            aggs_collector_free(&s->api);
            return e;
        }
    }
    for (uint32_t i = 0; i < s->n; i++) {
        enum err e = collector_ready(s->top[i], em);
        if (e != ERR_OK) {
            aggs_collector_free(&s->api);
            return e;
        }
    }
    *out = &s->api;
    return ERR_OK;
}

void aggs_collector_free(struct doc_collector *c)
{
    if (c != NULL) {
        struct run *s = c->self;
        agg_scripts_free(&s->r);
        top_hits_free(&s->r);
    }
}

/* ---- global: every document of the shard, whatever the query ------------------------------------------------------------ */

static bool has_global(const struct run *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->top[i]->agg->type->top_only) {
            return true;
        }
    }
    return false;
}

/* Filters of the aliases that the search came by hold even here. NULL: none. */
static enum err alias_filter(struct run *s, struct filter_bits **out, uint32_t *n, struct errmsg *em)
{
    const struct search_shard *shard = s->r.cx->shard;
    *n = shard->scope.n_alias_filters;
    *out = ARENA_ARRAY(s->r.arena, struct filter_bits, *n);
    struct json *trees = ARENA_ARRAY(s->r.arena, struct json, *n);
    if (*out == NULL || trees == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < *n; i++) {
        enum err e =
            json_parse(&trees[i], shard->scope.alias_filters[i], s->r.arena, &json_limits_default, em);
        e = e == ERR_OK ? filter_bits_init(&(*out)[i], &s->r, &trees[i], em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static void send_global(struct run *s, uint32_t n)
{
    struct doc_run d = {s->docs, NULL, s->r.scores ? s->scores : NULL, n};
    for (uint32_t i = 0; n > 0 && i < s->n && s->r.failed == ERR_OK; i++) {
        if (s->top[i]->agg->type->top_only) {
            s->top[i]->ops->collect(s->top[i], &d);
        }
    }
}

static enum err global_leaf(struct run *s, const struct leaf *leaf, struct filter_bits *f, uint32_t n_f,
                            struct errmsg *em)
{
    uint32_t n = 0;
    enum err e = begin_leaf(s, leaf, NULL, true, em);
    for (uint32_t i = 0; e == ERR_OK && i < n_f; i++) {
        e = filter_bits_leaf(&f[i], em);
    }
    for (doc_id doc = 0; e == ERR_OK && doc < leaf->doc_count; doc++) {
        bool in = leaf_live(leaf, doc) && (leaf->roots == NULL || bits_test(leaf->roots, doc)),
             any = n_f == 0;
        for (uint32_t i = 0; in && !any && i < n_f; i++) {
            any = filter_bits_test(&f[i], doc);
        }
        if (!in || !any) {
            continue;
        }
        s->scores[n] = 1;
        s->docs[n++] = doc;
        if (n == BATCH) {
            send_global(s, n);
            n = 0;
        }
    }
    send_global(s, n);
    for (uint32_t i = 0; i < s->n; i++) {
        if (s->top[i]->agg->type->top_only) {
            collector_leaf_end(s->top[i]);
        }
    }
    s->in_leaf = false;
    return e != ERR_OK ? e : run_error(s, em);
}

static enum err collect_global(struct run *s, struct errmsg *em)
{
    struct filter_bits *f;
    uint32_t n;
    enum err e = alias_filter(s, &f, &n, em);
    const struct view *view = s->r.cx->shard->view;
    for (uint32_t i = 0; e == ERR_OK && i < view->n_leaves; i++) {
        e = global_leaf(s, &view->leaves[i], f, n, em);
    }
    return e;
}

/* ---- the result: a version, the shard's place in the request, one result an aggregation ------------------------------------ */

enum err aggs_result(struct doc_collector *c, struct buf *out, struct errmsg *em)
{
    struct run *s = c->self;
    ERR_LOCAL(own);
    em = em != NULL ? em : &own;
    end_leaf(s);
    enum err e = run_error(s, em);
    e = e == ERR_OK && has_global(s) ? collect_global(s, em) : e;
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        e = collector_finish(s->top[i], em);
    }
    struct agg_result *results = results_new(s->r.arena, &s->r.spec->root);
    e = e == ERR_OK && results == NULL ? err_no_memory(em) : e;
    put_u8(out, 1);
    put_varint(out, s->r.cx->shard->scope.slot);
    for (uint32_t i = 0; e == ERR_OK && i < s->n; i++) {
        struct agg_result *r = &results[i];
        e = s->top[i]->ops->build(s->top[i], 0, r, em);
        r->rewritten = s->top[i]->rewritten;
        e = e == ERR_OK ? run_error(s, em) : e;
        if (e == ERR_OK) {
            result_encode(r, out);
        }
    }
    e = e == ERR_OK ? run_error(s, em) : e;
    return e == ERR_OK && out->failed ? err_no_memory(em) : e;
}
