/* Statistics of terms of all shards: gathered on one, and used by another. */
#include "data/search/search_int.h"

static bool given_term(const void *self, struct str field, struct str term, struct term_stats *out)
{
    const struct dfs_stats *d = self;
    for (uint32_t i = 0; i < d->n_terms; i++) {
        if (str_eq(d->terms[i].field, field) && str_eq(d->terms[i].term, term)) {
            *out = (struct term_stats){d->terms[i].doc_freq, d->terms[i].total_freq};
            return true;
        }
    }
    return false;
}

static bool given_field(const void *self, struct str field, struct field_stats *out)
{
    const struct dfs_stats *d = self;
    for (uint32_t i = 0; i < d->n_fields; i++) {
        if (str_eq(d->fields[i].field, field)) {
            *out = (struct field_stats){d->fields[i].max_doc, d->fields[i].doc_count, d->fields[i].sum_df,
                                        d->fields[i].sum_ttf};
            return true;
        }
    }
    return false;
}

struct search_stats search_given_stats(const struct dfs_stats *d)
{
    return (struct search_stats){d, given_term, given_field};
}

static void add_field(struct dfs_stats *d, const struct view *v, struct str name)
{
    for (uint32_t i = 0; i < d->n_fields; i++) {
        if (str_eq(d->fields[i].field, name)) {
            return;
        }
    }
    struct dfs_field *f = &d->fields[d->n_fields++];
    *f = (struct dfs_field){.field = name, .max_doc = v->doc_count};
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *s = segment_field(v->leaves[i].segment, name);
        if (s != NULL) {
            f->doc_count += s->doc_count;
            f->sum_df += (int64_t)s->sum_df;
            f->sum_ttf += (int64_t)s->sum_ttf;
        }
    }
}

static void add_term(struct dfs_stats *d, const struct view *v, struct str field, struct str term)
{
    struct dfs_term *t = &d->terms[d->n_terms++];
    *t = (struct dfs_term){.field = field, .term = term};
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *s = segment_field(v->leaves[i].segment, field);
        struct term_info info;
        if (s != NULL && seg_term(s, term, &info)) {
            t->doc_freq += info.doc_freq;
            t->total_freq += (int64_t)info.total_freq;
        }
    }
}

enum err search_gather_dfs(struct shard_dfs *rq, const struct search_shard *d, struct view *v)
{
    struct search_context cx;
    const struct query *q;
    const struct search_source *source = rq->body.source;
    struct str(*terms)[2];
    uint32_t n;
    struct arena *a = &rq->rq.arena;
    enum err e = search_query_check(d, source, a, &rq->rq.error);
    if (e != ERR_OK || source->query == NULL) {
        return e;
    }
    search_context_init(&cx, d, source, a);
    e = query_build(&q, &cx.query, source->query, &rq->rq.error);
    if (e == ERR_OK && source->slice != NULL) { /* a shard that is not part of the slice counts no terms */
        e = search_add_slice(&q, &cx, &rq->rq.error);
    }
    e = e == ERR_OK ? query_scored_terms(q, v, a, &terms, &n, &rq->rq.error) : e;
    if (e != ERR_OK) {
        return e;
    }
    rq->stats.terms = ARENA_ARRAY(a, struct dfs_term, n);
    rq->stats.fields = ARENA_ARRAY(a, struct dfs_field, n);
    if (rq->stats.terms == NULL || rq->stats.fields == NULL) {
        return err_no_memory(&rq->rq.error);
    }
    for (uint32_t i = 0; i < n; i++) {
        add_field(&rq->stats, v, terms[i][0]);
        add_term(&rq->stats, v, terms[i][0], terms[i][1]);
    }
    return ERR_OK;
}
