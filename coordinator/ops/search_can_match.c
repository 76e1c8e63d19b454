/* Shards where nothing can match are not searched: they are asked first, which is little work, when there are many
 * of them, or when that is likely to pay (Elasticsearch's can_match phase, and its conditions). */
#include "coordinator/ops/search_int.h"

#define SHARDS_DEFAULT 128 /* more than these are asked first */

static bool sorted_by_field(const struct search_source *s)
{
    const struct sort_spec *first = s->n_sort > 0 ? &s->sort[0] : NULL;
    return first != NULL
           && (first->kind == SORT_FIELD || first->kind == SORT_DOC || first->kind == SORT_SHARD_DOC);
}

static bool any_read_only(const struct search_call *c)
{
    for (uint32_t i = 0; i < c->n_targets; i++) {
        if (index_block_check(c->r->state, c->targets[i].meta, BLOCK_WRITE, NULL) != ERR_OK) {
            return true;
        }
    }
    return false;
}

static bool any_filter(const struct search_call *c)
{
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (c->queries[i].scope.n_alias_filters > 0) {
            return true;
        }
    }
    return false;
}

bool search_prefilters(const struct search_call *c)
{
    bool sorted = sorted_by_field(&c->source);
    if (c->o.ask_only) {
        return c->n_shards > 0;
    }
    if (c->o.dfs || c->next_page
        || !(search_may_match_none(&c->source)
             || (sorted && any_filter(c)))) { /* the others would all match */
        return false;
    }
    int64_t most = c->o.pre_filter_shard_size > 0 ? c->o.pre_filter_shard_size
                   : sorted || any_read_only(c)   ? 1
                                                  : SHARDS_DEFAULT;
    return c->n_shards > most;
}

static bool may_match(const struct shard_can_match *m)
{
    return err_is(&m->rq.error) || m->matches;
}

bool search_index_matches(const struct search_call *c, struct str index)
{
    for (uint32_t i = 0; i < c->n_matchers; i++) {
        if (str_eq(c->matchers[i].rq.shard.index, index) && !err_is(&c->matchers[i].rq.error)
            && c->matchers[i].matches) {
            return true;
        }
    }
    return false;
}

/* One is searched in any case: the answer has to come from somewhere. */
static uint32_t matching(const struct search_call *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->n_matchers; i++) {
        n += may_match(&c->matchers[i]);
    }
    return n;
}

static void keep_matching(struct search_call *c)
{
    bool any = matching(c) > 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->n_matchers; i++) {
        if (any ? !may_match(&c->matchers[i]) : i > 0) {
            shard_rq_fini(&c->queries[i].rq);
            c->n_skipped++;
            continue;
        }
        struct shard_query *q = &c->queries[kept];
        if (kept != i) {
            struct str node = c->queries[i].rq.node;
            *q = c->queries[i];
            shard_rq_init(&q->rq, &shard_op_query, search_queried,
                          c); /* an arena is not moved; this one is still empty */
            q->rq.node = node;
        }
        q->scope.slot = kept++;
    }
    c->n_shards = kept;
}

/* Every shard refuses to rewrite the query: none is searched. */
static bool all_refuse(struct search_call *c)
{
    for (uint32_t i = 0; i < c->n_matchers; i++) {
        enum err e = err_code(&c->matchers[i].rq.error);
        if (!err_is(&c->matchers[i].rq.error) || e == ERR_NO_SHARD) {
            return false;
        }
    }
    for (uint32_t i = 0; i < c->n_matchers; i++) {
        err_copy(&c->queries[i].rq.error, &c->matchers[i].rq.error);
        c->queries[i].rq.node = c->matchers[i].rq.node;
    }
    c->n_failed = c->n_shards;
    return c->unmatched = true;
}

static void can_match_answered(struct shard_rq *rq)
{
    struct search_call *c = rq->user;
    if (--c->pending > 0) {
        return;
    }
    if (all_refuse(c) || c->o.ask_only) {
        search_done(c);
        return;
    }
    keep_matching(c);
    search_scatter(c);
}

void search_filter_shards(struct search_call *c)
{
    uint32_t n = c->n_shards;
    c->matchers = ARENA_ARRAY(&c->arena, struct shard_can_match, n);
    if (c->matchers == NULL) {
        search_fail(c);
        return;
    }
    c->n_matchers = n;
    for (uint32_t i = 0; i < n; i++) {
        struct shard_can_match *m = &c->matchers[i];
        const struct shard_query *q = &c->queries[i];
        shard_rq_init(&m->rq, &shard_op_can_match, can_match_answered, c);
        search_same_shard(c, &m->rq, &q->rq);
        m->body = q->body;
        m->scope = q->scope;
        m->scope.n_shards = n;
    }
    search_send(c, &c->matchers->rq, sizeof(*c->matchers));
}
