/* The shards asked: for the statistics of terms when they are to be summed, then for documents. */
#include "coordinator/core/ask.h"
#include "coordinator/ops/search_int.h"

void search_send(struct search_call *c, struct shard_rq *first, size_t size)
{
    struct coordinator *co = c->r->co;
    uint32_t n = c->n_shards; /* c, and the request's state, may be gone with the last call */
    struct cluster_state *state = cluster_state_ref(c->r->state);
    struct ask_where where = ask_anywhere(co, state, c->o.preference);
    c->pending = n;
    for (uint32_t i = 0; i < n; i++) {
        ask_search(co, &where, (struct shard_rq *)(void *)((char *)first + i * size));
    }
    cluster_state_unref(state);
}

void search_same_shard(struct search_call *c, struct shard_rq *rq, const struct shard_rq *as)
{
    rq->shard = as->shard;
    rq->node = as->node;
    rq->context = as->context;
    search_part(c, rq);
}

void search_scatter(struct search_call *c)
{
    uint32_t n = c->n_shards;
    struct shard_query *q = c->queries;
    for (uint32_t i = 0; i < n; i++) {
        q[i].scope.n_shards = n;
        q[i].fetch = n == 1;
        q[i].dfs = c->dfs;
        q[i].here = n == 1 && c->o.here && op_on_loop(c->r);
        if (c->probes != NULL && q[i].rq.context == 0) {
            q[i].rq.node = c->probes[i].rq.node; /* the copy whose statistics were summed */
        }
    }
    search_send(c, &q->rq, sizeof(*q));
}

/* Sums what the shards know of the query's terms. Terms that a shard does not have count nothing there. */
static enum err sum_stats(struct search_call *c)
{
    uint32_t terms = 0, fields = 0;
    struct dfs_stats *sum = ARENA_NEW(&c->arena, struct dfs_stats);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        terms += c->probes[i].stats.n_terms;
        fields += c->probes[i].stats.n_fields;
    }
    if (sum == NULL || (sum->terms = ARENA_ARRAY(&c->arena, struct dfs_term, terms)) == NULL
        || (sum->fields = ARENA_ARRAY(&c->arena, struct dfs_field, fields)) == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_shards; i++) {
        const struct dfs_stats *d = &c->probes[i].stats;
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
    c->probes = ARENA_ARRAY(&c->arena, struct shard_dfs, n);
    if (c->probes == NULL) {
        search_fail(c);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct shard_dfs *p = &c->probes[i];
        const struct shard_query *q = &c->queries[i];
        shard_rq_init(&p->rq, &shard_op_dfs, probe_done, c);
        search_same_shard(c, &p->rq, &q->rq);
        p->body = q->body;
        p->scope = q->scope;
    }
    search_send(c, &c->probes->rq, sizeof(*c->probes));
}
