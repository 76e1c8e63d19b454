/* The answer of a search as JSON: hits, aggregations and suggestions, or why there are none. */
#include "coordinator/core/error_json.h"
#include "coordinator/ops/search_int.h"

#include "common/cluster/search_limits.h"
#include "engine/aggs/aggs.h"
#include "engine/suggest/suggest.h"

#include <math.h>

static void write_failure(struct search_call *c, struct jsonw *w, const struct shard_query *q)
{
    jw_obj(w);
    if (err_code(&q->rq.error) == ERR_SEARCH_CONTEXT_MISSING) { /* whose it was is not known any more */
        jw_ki64(w, "shard", -1);
        jw_k(w, "index");
        jw_null(w);
    } else {
        jw_ki64(w, "shard", q->rq.shard.shard);
        jw_kstr(w, "index", q->rq.shard.index);
        jw_k(w, "node");
        if (q->rq.node.p != NULL || err_code(&q->rq.error) != ERR_NO_SHARD) {
            jw_str(w, q->rq.node.p != NULL ? q->rq.node : c->r->co->o.node_id);
        } else {
            jw_null(w); /* there is none that has a copy */
        }
    }
    jw_kobj(w, "reason");
    error_write_cause(w, &q->rq.error);
    jw_obj_end(w);
    jw_obj_end(w);
}

/* Failures that differ only in their shard are shown once an index ("grouped"). */
static bool seen_before(const struct search_call *c, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        const struct shard_rq *a = &c->queries[i].rq, *b = &c->queries[at].rq;
        if (err_is(&a->error) && str_eq(a->shard.index, b->shard.index)
            && err_code(&a->error) == err_code(&b->error)
            && strcmp(err_reason(&a->error), err_reason(&b->error)) == 0) {
            return true;
        }
    }
    return false;
}

static void write_failures(struct search_call *c, struct jsonw *w)
{
    jw_arr(w);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (err_is(&c->queries[i].rq.error) && !seen_before(c, i)) {
            write_failure(c, w, &c->queries[i]);
        }
    }
    jw_arr_end(w);
}

static void write_root_causes(struct search_call *c, struct jsonw *w)
{
    jw_karr(w, "root_cause");
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (err_is(&c->queries[i].rq.error) && !seen_before(c, i)) {
            const struct errmsg *em = &c->queries[i].rq.error;
            jw_obj(w);
            error_write_frame(w, err_root(em), err_about(em));
            jw_obj_end(w);
        }
    }
    jw_arr_end(w);
}

static const struct errmsg *first_failure(const struct search_call *c)
{
    for (uint32_t i = 0; i < c->n_shards; i++) {
        if (err_is(&c->queries[i].rq.error)) {
            return &c->queries[i].rq.error;
        }
    }
    return &c->error;
}

/* That of the first failure; a failure of the service among the others, the last one, counts more. */
static int failed_status(const struct search_call *c)
{
    const struct errmsg *first = first_failure(c);
    int status = err_http_status(first);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        const struct errmsg *em = &c->queries[i].rq.error;
        status = err_is(em) && em != first && err_http_status(em) >= 500 ? err_http_status(em) : status;
    }
    return status;
}

const struct errmsg *search_failed_with(const struct search_call *c)
{
    return err_is(&c->error) ? &c->error : c->unmatched ? first_failure(c) : NULL;
}

/* The first failure's root cause stands behind the whole, unless it is that failure itself. What is no exception of
 * Elasticsearch's own is shown wrapped in one, and bare inside. */
static void write_guessed_cause(struct jsonw *w, const struct errmsg *first)
{
    const struct err_frame *root = err_root(first);
    const struct err_about *about = err_about(first);
    bool own = err_family(root->code) == ERR_FAMILY_ES;
    if (own && root == first->frame && root->code != ERR_SEARCH_CONTEXT_MISSING) {
        return;
    }
    jw_kobj(w, "caused_by");
    if (!own) {
        error_write_frame(w, root, about);
        jw_kobj(w, "caused_by");
    }
    error_write_frames(w, root, about);
    if (!own) {
        jw_obj_end(w);
    }
    jw_obj_end(w);
}

/* Several shards sorted by a field are asked first whether they can match at all: that is where they refuse it, when all do. */
static const char *failed_phase(const struct search_call *c)
{
    bool refused = true, absent = true, unprobed = false;
    for (uint32_t i = 0; i < c->n_shards; i++) {
        refused &= c->queries[i].result != NULL && c->queries[i].result->first_key_refused;
        unprobed |= c->probes != NULL && err_code(&c->probes[i].rq.error) != ERR_OK;
        absent &= err_code(&c->queries[i].rq.error) == ERR_NO_SHARD;
    }
    if (c->unmatched) {
        return "can_match";
    }
    if (absent) {
        return search_first_phase(c);
    }
    if (c->fetch_failed) {
        return "fetch";
    }
    if (c->o.dfs && c->n_shards > 1) {
        return unprobed ? "dfs" : "dfs_query";
    }
    return c->n_shards > 1 && refused ? "can_match" : "query";
}

/* An error that no shard is named for. */
static void write_bare_phase(struct search_call *c, struct jsonw *w, int *status)
{
    *status = err_http_status(&c->error);
    jw_kobj(w, "error");
    jw_karr(w, "root_cause");
    jw_arr_end(w);
    jw_kz(w, "type", err_type(ERR_SEARCH_PHASE));
    jw_kz(w, "reason", "");
    jw_kz(w, "phase", c->bare_phase);
    jw_kbool(w, "grouped", true);
    jw_karr(w, "failed_shards");
    jw_arr_end(w);
    jw_kobj(w, "caused_by");
    error_write_cause(w, &c->error);
    if (err_code(&c->error) == ERR_SEARCH_PHASE) {
        jw_kz(w, "phase", c->bare_phase);
        jw_kbool(w, "grouped", true);
        jw_karr(w, "failed_shards");
        jw_arr_end(w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
    jw_ki64(w, "status", *status);
}

/* search_phase_execution_exception: what it is when no shard answered. */
static void write_all_failed(struct search_call *c, struct jsonw *w, bool with_root)
{
    const struct errmsg *first = first_failure(c);
    if (with_root) {
        write_root_causes(c, w);
    }
    jw_kz(w, "type", err_type(ERR_SEARCH_PHASE));
    jw_kz(w, "reason",
          c->n_failed == c->n_shards + c->n_skipped ? "all shards failed" : "Partial shards failure");
    jw_kz(w, "phase", failed_phase(c));
    jw_kbool(w, "grouped", true);
    jw_k(w, "failed_shards");
    write_failures(c, w);
    write_guessed_cause(w, first);
}

/* The first of a collapse's groups that could not be searched stands for the whole. */
static void write_unexpanded(struct search_call *c, struct jsonw *w, int *status)
{
    struct search_call *group = c->unexpanded;
    bool shards = !err_is(&group->error);
    *status = shards ? failed_status(group) : err_http_status(&group->error);
    jw_kobj(w, "error");
    jw_karr(w, "root_cause");
    jw_arr_end(w);
    jw_kz(w, "type", err_type(ERR_SEARCH_PHASE));
    jw_kz(w, "reason", "failed to expand hits");
    jw_kz(w, "phase", "expand");
    jw_kbool(w, "grouped", true);
    jw_karr(w, "failed_shards");
    jw_arr_end(w);
    jw_kobj(w, "caused_by");
    if (shards) {
        write_all_failed(group, w, false);
    } else {
        error_write_cause(w, &group->error);
    }
    jw_obj_end(w);
    jw_obj_end(w);
    jw_ki64(w, "status", *status);
}

void search_write_shards(struct search_call *c, struct jsonw *w)
{
    jw_kobj(w, "_shards");
    jw_ki64(w, "total", c->n_shards + c->n_skipped);
    jw_ki64(w, "successful", c->n_shards + c->n_skipped - c->n_failed);
    jw_ki64(w, "skipped", c->n_skipped);
    jw_ki64(w, "failed", c->n_failed);
    if (c->n_failed > 0) {
        jw_k(w, "failures");
        write_failures(c, w);
    }
    jw_obj_end(w);
}

static void write_total(struct search_call *c, struct jsonw *w)
{
    if (c->reduced.relation == TOTAL_NONE) {
        if (c->o.total_as_int) {
            jw_ki64(w, "total", -1);
        }
        return;
    }
    jw_k(w, "total");
    if (c->o.total_as_int) {
        jw_i64(w, c->reduced.total);
        return;
    }
    jw_obj(w);
    jw_ki64(w, "value", c->reduced.total);
    jw_kz(w, "relation", c->reduced.relation == TOTAL_GTE ? "gte" : "eq");
    jw_obj_end(w);
}

/* The totals of inner hits as numbers, as the request wants all totals. */
static void plain_totals(struct json *hit)
{
    struct json *inner = json_member_of(hit, STR("inner_hits"));
    for (uint32_t i = 0; json_is(inner, JSON_OBJECT) && i < inner->n; i++) {
        struct json *hits = json_member_of(&inner->members[i].value, STR("hits"));
        struct json *total = json_member_of(hits, STR("total")), *list = json_member_of(hits, STR("hits"));
        const struct json *value = json_get(total, "value");
        if (value != NULL) {
            *total = *value;
        }
        for (uint32_t k = 0; json_is(list, JSON_ARRAY) && k < list->n; k++) {
            plain_totals(&list->items[k]);
        }
    }
}

static void write_hit(struct search_call *c, struct jsonw *w, struct str hit)
{
    struct json tree;
    if (c->o.total_as_int && c->source.nested_hits
        && json_parse(&tree, hit, &c->arena, &json_limits_default, NULL) == ERR_OK) {
        plain_totals(&tree);
        jw_value(w, &tree);
    } else {
        jw_raw(w, hit);
    }
}

void search_write_hits(struct search_call *c, struct jsonw *w)
{
    jw_kobj(w, "hits");
    write_total(c, w);
    jw_k(w, "max_score");
    if (c->n_shards + c->n_skipped == 0 || (c->n_ok == 0 && c->n_failed > 0)) { /* nothing was reduced */
        jw_float(w, 0);
    } else if (isnan(c->reduced.max_score)) {
        jw_null(w);
    } else {
        jw_float(w, c->reduced.max_score);
    }
    jw_karr(w, "hits");
    for (uint32_t i = 0; c->hits != NULL && i < c->reduced.n; i++) {
        if (c->hits[i].n > 0) {
            write_hit(c, w, c->hits[i]);
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static enum err write_aggs(struct search_call *c, struct jsonw *w)
{
    if (c->source.agg_spec == NULL || c->source.aggs->n == 0 || c->n_shards == 0) {
        return ERR_OK;
    }
    struct str *partials = ARENA_ARRAY(&c->arena, struct str, c->n_ok);
    for (uint32_t i = 0; partials != NULL && i < c->n_ok; i++) {
        partials[i] = c->results[i].aggs;
    }
    jw_k(w, "aggregations");
    struct search_limits limits = search_limits_of(c->r->state);
    struct aggs_reduce_opts opts = {.typed_keys = c->o.typed_keys, .max_buckets = limits.max_buckets};
    c->arena.bytes_max = c->arena.bytes_used + limits.request_bytes;
    if (partials == NULL) {
        return err_no_memory(&c->error);
    }
    struct stop st;
    search_stop_begin(c, &st);
    enum err e = aggs_reduce(c->source.agg_spec, partials, c->n_ok, &opts, &c->arena, w, &c->error);
    return search_stop_end(c, &st, e);
}

/* In how many steps Elasticsearch reduces results of so many shards: whenever a batch is there, the one of before among it, and
 * at the end. Where there is nothing to reduce but counts, at the end alone. */
static uint32_t reduce_phases(const struct search_call *c)
{
    bool counts_only = c->source.size == 0 && (c->source.agg_spec == NULL || c->source.aggs->n == 0);
    uint32_t batch = MIN_OF((uint32_t)c->o.batched_reduce, c->n_shards + c->n_skipped), held = 0, phases = 1;
    for (uint32_t i = 0; !counts_only && batch > 1 && i < c->n_ok; i++) {
        if (held >= batch) {
            phases++;
            held = 1;
        }
        held++;
    }
    return phases;
}

static enum err write_body(struct search_call *c, struct jsonw *w)
{
    int64_t took = (c->r->co->o.clock->mono_ns(c->r->co->o.clock->self) - c->start_ns) / 1000000;
    if (c->o.scroll_ms > 0 && c->scroll_id.n > 0) {
        jw_kstr(w, "_scroll_id", c->scroll_id);
    }
    if (c->pit_id.n > 0) {
        jw_kstr(w, "pit_id", c->pit_id);
    }
    jw_ki64(w, "took", took);
    jw_kbool(w, "timed_out", c->reduced.timed_out);
    if (c->reduced.terminated_early || c->reduced.limited
        || (c->source.terminate_after != 0 && c->n_shards > 0)) {
        jw_kbool(w, "terminated_early", c->reduced.terminated_early);
    }
    uint32_t phases = reduce_phases(c);
    if (phases > 1) {
        jw_ki64(w, "num_reduce_phases", phases);
    }
    search_write_shards(c, w);
    search_write_hits(c, w);
    enum err e = write_aggs(c, w);
    if (e == ERR_OK && c->suggest != NULL) {
        jw_k(w, "suggest");
        suggest_write(c->suggest, c->suggest_hits, c->o.typed_keys, w);
    }
    return e;
}

/* A value without a JSON form fails the whole answer, whichever shard it came from. */
static void refuse_unwritable(struct search_call *c)
{
    for (uint32_t i = 0; !err_is(&c->error) && i < c->n_shards; i++) {
        if (err_code(&c->queries[i].rq.error) == ERR_UNWRITABLE) {
            err_copy(&c->error, &c->queries[i].rq.error);
        }
    }
}

void search_write(struct search_call *c, struct jsonw *w, int *status)
{
    size_t start = w->out->n;
    struct jsonw saved = *w;
    refuse_unwritable(c);
    *status = 200;
    jw_obj(w);
    enum err e = ERR_OK;
    if (!err_is(&c->error) && search_all_failed(c)) {
        *status = failed_status(c);
        jw_kobj(w, "error");
        write_all_failed(c, w, true);
        jw_obj_end(w);
        jw_ki64(w, "status", *status);
    } else if (!err_is(&c->error) && c->unexpanded != NULL) {
        write_unexpanded(c, w, status);
    } else if (!err_is(&c->error)) {
        e = write_body(c, w);
        if (e != ERR_OK && c->bare_phase == NULL) { /* what shards found could not be put together */
            buf_truncate(w->out, start);
            *w = saved;
            jw_obj(w);
            c->bare_phase = "fetch";
        }
    }
    if (c->bare_phase != NULL) {
        write_bare_phase(c, w, status);
        jw_obj_end(w);
        return;
    }
    if (err_is(&c->error) || e != ERR_OK) {
        buf_truncate(w->out, start);
        *w = saved;
        jw_obj(w);
        jw_kobj(w, "error");
        error_write(w, &c->error);
        jw_obj_end(w);
        *status = err_http_status(&c->error);
        jw_ki64(w, "status", *status);
    }
    jw_obj_end(w);
}
