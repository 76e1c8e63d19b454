/* The gathering of shard results into one page: reduction, and the fetch of the page's documents. */
#include "coordinator/core/ask.h"
#include "coordinator/core/retry.h"
#include "coordinator/ops/search_int.h"

#include "engine/suggest/suggest.h"

/* What is to be fetched: the documents that suggestions show, then the page's. */
static enum err wanted_docs(struct search_call *c, struct top_doc **out, uint32_t *n, uint32_t *n_suggested)
{
    const struct top_doc *suggested = NULL;
    *n_suggested = c->suggest != NULL ? suggest_docs(c->suggest, &suggested) : 0;
    *n = c->reduced.n + *n_suggested;
    *out = ARENA_ARRAY(&c->arena, struct top_doc, *n);
    if (*out == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < *n; i++) {
        (*out)[i] = i < *n_suggested ? suggested[i] : c->reduced.docs[i - *n_suggested];
    }
    return ERR_OK;
}

/* A shard whose documents could not be fetched failed as a whole, whatever it counted. */
static void count_failed_fetches(struct search_call *c)
{
    for (uint32_t s = 0; s < c->n_shards; s++) {
        struct errmsg *own = &c->queries[s].rq.error;
        if (!err_is(own) && err_is(&c->fetches[s].rq.error)) {
            err_copy(own, &c->fetches[s].rq.error);
            c->n_failed++;
            c->fetch_failed = true;
        }
    }
}

/* A node went, or forgot, between the phases. */
static bool lost_contexts(const struct search_call *c)
{
    bool lost = false;
    for (uint32_t s = 0; s < c->n_shards; s++) {
        const struct errmsg *em = &c->fetches[s].rq.error;
        lost |= retry_read(em) || err_code(em) == ERR_SEARCH_CONTEXT_MISSING;
    }
    return lost;
}

/* Other copies count documents otherwise: what was found there means nothing elsewhere, and all is asked
 * again, once. */
static void repeat(struct search_call *c)
{
    c->repeated = true;
    for (uint32_t s = 0; s < c->n_shards; s++) {
        struct shard_query *q = &c->queries[s];
        if (err_is(&c->fetches[s].rq.error)) {
            ask_forget(c->r->co, q->rq.node, q->rq.context);
        }
        shard_rq_fini(&c->fetches[s].rq);
        struct shard_ref shard = q->rq.shard;
        shard_rq_fini(&q->rq);
        shard_rq_init(&q->rq, &shard_op_query, search_queried, c);
        q->rq.shard = shard;
        q->rq.context = 0;
        q->result = NULL;
        q->hits = NULL;
        q->n_hits = 0;
    }
    c->fetches = NULL;
    c->suggest = NULL;
    c->reduced = (struct reduced){.n = 0};
    c->n_ok = c->n_failed = 0;
    search_send(c, &c->queries->rq, sizeof(*c->queries));
}

static void all_fetched(struct search_call *c)
{
    if (!search_keeps(c) && !c->next_page && !c->repeated && lost_contexts(c)) {
        repeat(c);
        return;
    }
    struct top_doc *docs;
    uint32_t n, n_suggested;
    uint32_t *at = ARENA_ARRAY(&c->arena, uint32_t, c->n_shards);
    struct str *hits =
        wanted_docs(c, &docs, &n, &n_suggested) == ERR_OK ? ARENA_ARRAY(&c->arena, struct str, n) : NULL;
    if (at == NULL || hits == NULL) {
        search_fail(c);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct shard_fetch *f = &c->fetches[docs[i].slot];
        if (!err_is(&f->rq.error) && f->hits != NULL) {
            hits[i] = f->hits[at[docs[i].slot]++];
        }
    }
    c->suggest_hits = hits;
    c->hits = hits + n_suggested;
    count_failed_fetches(c);
    search_expand(c);
}

static void fetch_done(struct shard_rq *rq)
{
    struct search_call *c = rq->user;
    if (--c->pending == 0) {
        all_fetched(c);
    }
}

static void release_contexts(struct search_call *c)
{
    for (uint32_t i = 0; !search_keeps(c) && i < c->n_shards; i++) {
        if (c->queries[i].rq.context != 0 && (c->fetches == NULL || c->fetches[i].n == 0)) {
            ask_forget(c->r->co, c->queries[i].rq.node, c->queries[i].rq.context);
        }
    }
}

static void fetch(struct search_call *c)
{
    struct coordinator *co = c->r->co;
    uint32_t asked = 0;
    c->fetches = ARENA_ARRAY(&c->arena, struct shard_fetch, c->n_shards);
    struct top_doc *wanted;
    uint32_t n_wanted, n_suggested;
    enum err e = wanted_docs(c, &wanted, &n_wanted, &n_suggested);
    struct top_doc *docs = e == ERR_OK ? ARENA_ARRAY(&c->arena, struct top_doc, n_wanted) : NULL;
    if (c->fetches == NULL || docs == NULL) {
        search_fail(c);
        return;
    }
    for (uint32_t s = 0; s < c->n_shards; s++) {
        struct shard_fetch *f = &c->fetches[s];
        shard_rq_init(&f->rq, &shard_op_fetch, fetch_done, c);
        search_same_shard(c, &f->rq, &c->queries[s].rq);
        f->body = search_body_of(c);
        f->scope = (struct search_scope){.n_shards = c->n_shards, .now_ms = c->now_ms, .index_boost = 1};
        f->keep = search_keeps(c);
        f->n_sort = c->queries[s].result != NULL ? c->queries[s].result->n_sort : 0;
        f->docs = docs;
        for (uint32_t i = 0; i < n_wanted; i++) {
            if (wanted[i].slot == s) {
                docs[f->n++] = wanted[i];
                f->n_suggested += i < n_suggested;
            }
        }
        docs += f->n;
        asked += f->n > 0;
    }
    release_contexts(c);
    if (asked == 0) {
        all_fetched(c);
        return;
    }
    c->pending = asked;
    uint32_t n = c->n_shards; /* c may be gone after the last call */
    struct shard_fetch *f = c->fetches;
    for (uint32_t s = 0; s < n && asked > 0; s++) {
        if (f[s].n > 0) {
            asked--;
            ask_fetch(co, &f[s]);
        }
    }
}

/* ---- what the shards found ----------------------------------------------------------------------------- */

/* A later page's request comes from the shards' contexts. */
static enum err adopt_body(struct search_call *c)
{
    for (uint32_t i = 0; i < c->n_shards; i++) {
        struct shard_query *q = &c->queries[i];
        struct json *tree =
            !err_is(&q->rq.error) && q->body.text.n > 0 ? ARENA_NEW(&c->arena, struct json) : NULL;
        if (tree == NULL) {
            continue;
        }
        enum err e = json_parse(tree, q->body.text, &c->arena, &json_limits_default, &c->error);
        e = e == ERR_OK ? search_source_parse(&c->source, tree, q->body.text, &c->arena, &c->error) : e;
        c->source.agg_spec = NULL;
        c->o.body = q->body.text;
        return e;
    }
    return ERR_OK;
}

/* Suggestions belong to a search's first page. */
static enum err reduce_suggestions(struct search_call *c)
{
    if (c->next_page || c->source.suggest_spec == NULL || suggest_is_empty(c->source.suggest_spec)) {
        return ERR_OK;
    }
    struct suggest_partial *partials = ARENA_ARRAY(&c->arena, struct suggest_partial, c->n_ok);
    if (partials == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_ok; i++) {
        partials[i] = (struct suggest_partial){c->results[i].suggest, c->results[i].slot};
    }
    return suggest_reduce(&c->suggest, c->source.suggest_spec, partials, c->n_ok, &c->arena, &c->error);
}

/* Nobody will ask for what the shards that did answer have kept; what was open before may be asked again. */
static void free_contexts(struct search_call *c)
{
    for (uint32_t i = 0; !c->next_page && c->pit == NULL && i < c->n_shards; i++) {
        if (c->queries[i].rq.context != 0) {
            ask_forget(c->r->co, c->queries[i].rq.node, c->queries[i].rq.context);
        }
    }
}

/* A text that stands for a missing address is shown as one, and has to be as long. */
static enum err check_addresses(struct search_call *c)
{
    for (uint32_t i = 0; i < c->reduced.n; i++) {
        const struct sort_value *v = c->reduced.docs[i].sort;
        for (uint32_t k = 0; v != NULL && k < c->source.n_sort; k++) {
            if (v[k].kind == SV_IP && !sort_address_is_one(v[k].s)) {
                c->bare_phase = "fetch";
                return err_set(&c->error, ERR_ILLEGAL_ARGUMENT, "encoded bytes are of incorrect length");
            }
        }
    }
    return ERR_OK;
}

static enum err reduce(struct search_call *c)
{
    struct stop st;
    search_stop_begin(c, &st);
    enum err e = reduce_hits(&c->reduced, c->results, c->n_ok, &c->source, &c->arena, &c->error);
    e = e == ERR_OK ? reduce_suggestions(c) : e;
    e = e == ERR_OK ? check_addresses(c) : e;
    return search_stop_end(c, &st, e);
}

static void all_queried(struct search_call *c)
{
    if (c->next_page && adopt_body(c) != ERR_OK) {
        search_fail(c);
        return;
    }
    c->results = ARENA_ARRAY(&c->arena, struct query_result, c->n_shards);
    if (c->results == NULL) {
        search_fail(c);
        return;
    }
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (err_is(&c->queries[i].rq.error)) {
            c->n_failed++;
        } else {
            c->results[c->n_ok++] = *c->queries[i].result;
        }
    }
    if (search_all_failed(c)) {
        free_contexts(c);
        search_done(c);
        return;
    }
    search_scroll_id(c);
    pit_answer(c);
    if (reduce(c) != ERR_OK) {
        free_contexts(c);
        search_fail(c);
        return;
    }
    if (c->n_shards == 1 && c->queries[0].fetch) {
        const struct top_doc *docs;
        uint32_t suggested = c->suggest != NULL ? suggest_docs(c->suggest, &docs) : 0;
        c->hits = c->queries[0].hits;
        c->suggest_hits =
            suggested <= c->queries[0].n_hits ? c->hits + (c->queries[0].n_hits - suggested) : NULL;
        search_expand(c);
        return;
    }
    fetch(c);
}

void search_queried(struct shard_rq *rq)
{
    struct search_call *c = rq->user;
    if (--c->pending == 0) {
        all_queried(c);
    }
}
