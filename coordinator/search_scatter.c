/* The shards asked: for the statistics of terms when they are to be summed, then for documents. */
#include "coordinator/ask.h"
#include "coordinator/search_int.h"

void search_send(struct search_call *c, struct shard_query *queries)
{
    struct coordinator *co = c->r->co;
    uint32_t n = c->n_shards; /* c, and the request's state, may be gone with the last call */
    struct ask_where where = ask_anywhere(co, cluster_state_ref(c->r->state), c->o.preference);
    c->pending = n;
    for (uint32_t i = 0; i < n; i++) {
        ask_query(co, &where, &queries[i]);
    }
    cluster_state_unref((struct cluster_state *)(uintptr_t)where.state);
}

void search_scatter(struct search_call *c)
{
    uint32_t n = c->n_shards;
    struct shard_query *q = c->queries;
    for (uint32_t i = 0; i < n; i++) {
        q[i].n_shards = n;
        q[i].fetch = n == 1;
        q[i].dfs = c->dfs;
        q[i].here = n == 1 && c->o.here && rest_on_loop(c->r);
        if (c->probes != NULL && q[i].context == 0) {
            q[i].rq.node = c->probes[i].rq.node; /* the copy whose statistics were summed */
        }
    }
    search_send(c, q);
}

/* Sums what the shards know of the query's terms. Terms that a shard does not have count nothing there. */
static enum err sum_stats(struct search_call *c)
{
    uint32_t terms = 0, fields = 0;
    struct dfs_stats *sum = ARENA_NEW(&c->arena, struct dfs_stats);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        terms += c->probes[i].dfs_out.n_terms;
        fields += c->probes[i].dfs_out.n_fields;
    }
    if (sum == NULL || (sum->terms = ARENA_ARRAY(&c->arena, struct dfs_term, terms)) == NULL
        || (sum->fields = ARENA_ARRAY(&c->arena, struct dfs_field, fields)) == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_shards; i++) {
        const struct dfs_stats *d = &c->probes[i].dfs_out;
        for (uint32_t k = 0; k < d->n_terms; k++) {
            uint32_t at = 0;
            while (at < sum->n_terms
                   && !(str_eq(sum->terms[at].field, d->terms[k].field)
                        && str_eq(sum->terms[at].term, d->terms[k].term))) {
                at++;
            }
            if (at == sum->n_terms) {
                sum->terms[sum->n_terms++] = d->terms[k];
            } else {
                sum->terms[at].doc_freq += d->terms[k].doc_freq;
                sum->terms[at].total_freq += d->terms[k].total_freq;
            }
        }
        for (uint32_t k = 0; k < d->n_fields; k++) {
            uint32_t at = 0;
            while (at < sum->n_fields && !str_eq(sum->fields[at].field, d->fields[k].field)) {
                at++;
            }
            if (at == sum->n_fields) {
                sum->fields[sum->n_fields++] = d->fields[k];
            } else {
                sum->fields[at].max_doc += d->fields[k].max_doc;
                sum->fields[at].doc_count += d->fields[k].doc_count;
                sum->fields[at].sum_df += d->fields[k].sum_df;
                sum->fields[at].sum_ttf += d->fields[k].sum_ttf;
            }
        }
    }
    c->dfs = sum;
    return ERR_OK;
}

static void probe_done(struct shard_rq *rq)
{
    struct search_call *c = rq->user;
    if (--c->pending > 0) {
        return;
    }
    if (sum_stats(c) != ERR_OK) {
        search_fail(c);
    } else {
        search_scatter(c); /* a shard that could not be probed will say why when it is searched */
    }
}

void search_gather_stats(struct search_call *c)
{
    uint32_t n = c->n_shards;
    c->probes = ARENA_ARRAY(&c->arena, struct shard_query, n);
    if (c->probes == NULL) {
        search_fail(c);
        return;
    }
    struct shard_query *p = c->probes;
    for (uint32_t i = 0; i < n; i++) {
        p[i] = c->queries[i];
        shard_rq_init(&p[i].rq, &shard_op_query, probe_done, c);
        p[i].rq.node = c->queries[i].rq.node;
        p[i].dfs_only = true;
    }
    search_send(c, p);
}
