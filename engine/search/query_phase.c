/* The query phase: which documents, how many, in what order; and what is computed over all of them. */
#include "engine/search/query_int.h"

#include "common/base/stop.h"
#include "engine/aggs/aggs.h"
#include "engine/query/query_ops.h"
#include "engine/suggest/suggest.h"

#include <math.h>

#define TIMEOUT_GRACE_MS \
    100 /* what is not collecting, and so has nothing to show for it, gets so much more time */

static void set_total(const struct query_run *r, struct query_result *out)
{
    int32_t track = r->source->track_total;
    int64_t hits = r->known_hits >= 0 ? r->known_hits : r->hits;
    out->total = hits;
    out->relation = TOTAL_EQ;
    if (track == TRACK_TOTAL_DISABLED) {
        out->total = 0;
        out->relation = TOTAL_NONE;
    } else if (track != TRACK_TOTAL_ACCURATE && hits > track) {
        out->total = track;
        out->relation = TOTAL_GTE;
    }
}

static enum err take_bytes(struct buf *b, struct arena *arena, struct str *out, struct errmsg *em)
{
    *out = arena_str(arena, buf_view(b));
    bool ok = !b->failed && out->p != NULL;
    buf_fini(b);
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err query_phase_finish(struct query_run *r, struct query_result *out)
{
    const struct search_source *s = r->source;
    enum err e = ERR_OK;
    *out = (struct query_result){.slot = r->shard->scope.slot,
                                 .max_score = NAN,
                                 .timed_out = r->timed_out,
                                 .terminated_early = r->terminated,
                                 .limited = r->paged};
    set_total(r, out);
    if (r->top != NULL) {
        e = top_docs_take(r->top, r->shard->scope.slot, r->arena, &out->docs, &out->n, r->em);
    }
    out->n_sort = r->sort != NULL ? s->n_sort : 0;
    for (uint32_t i = 0; e == ERR_OK && i < s->n_rescore; i++) {
        e = query_rescore(r, &s->rescore[i], out->docs, out->n);
    }
    if (s->n_rescore > 0) {
        out->n = MIN_OF(out->n, (uint32_t)(s->from + s->size));
    }
    if (e == ERR_OK && out->n > 0 && r->sort == NULL && s->collapse.field.p == NULL) {
        out->max_score = out->docs[0].score;
    } else if (e == ERR_OK && r->top != NULL && r->hits > 0 && s->track_scores
               && s->collapse.field.p == NULL) {
        out->max_score = r->best;
    }
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (e == ERR_OK && r->aggs != NULL) {
        e = aggs_result(r->aggs, &b, r->em);
        e = e == ERR_OK ? take_bytes(&b, r->arena, &out->aggs, r->em) : e;
    }
    if (e == ERR_OK && s->suggest_spec != NULL) {
        e = suggest_run(s->suggest_spec, &r->cx, &b, r->em);
        e = e == ERR_OK ? take_bytes(&b, r->arena, &out->suggest, r->em) : e;
    }
    buf_fini(&b);
    return e;
}

/* Preparing took all the time there was: the answer is that of a search that found nothing. */
static enum err prepare_nothing(struct query_run *r)
{
    const struct search_source *s = r->source;
    struct query *none = ARENA_NEW(r->arena, struct query);
    aggs_collector_free(r->aggs);
    sort_plan_fini(r->sort);
    top_docs_free(r->top);
    r->aggs = NULL;
    r->sort = NULL;
    r->top = NULL;
    r->weight = r->post_filter = NULL;
    err_clear(r->em);
    if (none == NULL) {
        return err_no_memory(r->em);
    }
    none->ops = &q_match_none;
    none->boost = 1;
    r->query = none;
    r->known_hits = 0;
    r->hits = 0;
    r->timed_out = true;
    search_context_init(&r->cx, r->shard, s, r->arena);
    enum err e = query_prepare_sort(r);
    if (e == ERR_OK && s->agg_spec != NULL) {
        const struct weight *all;
        e = weight_new(&all, &r->cx.weight, none, NEED_NO_SCORES, r->em);
        e = e == ERR_OK ? aggs_collector_new(&r->aggs, s->agg_spec, &r->cx, all, r->em) : e;
    }
    return e;
}

/* Preparing and collecting, as long as the request's time lasts. */
static enum err run_query(struct query_run *r)
{
    struct stop until = {
        .clock = r->shard->clock, .deadline_ns = r->deadline_ns + TIMEOUT_GRACE_MS * 1000000, .within = true};
    bool timed = r->source->timeout_ms >= 0 && r->shard->clock != NULL;
    if (timed) {
        stop_enter(&until);
    }
    enum err e = query_prepare(r);
    e = e == ERR_OK ? query_collect(r) : e;
    if (timed) {
        stop_leave(&until);
    }
    r->timed_out |= until.late;
    return until.late && (e != ERR_OK || r->weight == NULL) ? prepare_nothing(r) : e;
}

/* A request of suggestions alone finds no documents. */
static bool suggest_only(const struct search_source *s)
{
    return s->suggest_spec != NULL && s->query == NULL && s->agg_spec == NULL && s->search_after == NULL;
}

enum err search_query_check(const struct search_shard *shard, const struct search_source *source,
                            struct arena *arena, struct errmsg *em)
{
    struct query_run r = {.shard = shard, .source = source, .arena = arena, .em = em, .known_hits = -1};
    enum err e = suggest_only(source) ? ERR_OK : query_prepare(&r);
    aggs_collector_free(r.aggs);
    sort_plan_fini(r.sort);
    top_docs_free(r.top);
    return e;
}

enum err search_query_phase(struct query_result *out, const struct search_shard *shard,
                            const struct search_source *source, struct arena *arena, struct errmsg *em)
{
    ERR_LOCAL(own);
    struct query_run r = {.shard = shard,
                          .source = source,
                          .arena = arena,
                          .em = em != NULL ? em : &own,
                          .known_hits = -1,
                          .best = -INFINITY};
    err_clear(r.em);
    if (source->timeout_ms >= 0 && shard->clock != NULL) {
        r.deadline_ns = shard->clock->mono_ns(shard->clock->self) + source->timeout_ms * 1000000;
    }
    enum err e = ERR_OK;
    if (suggest_only(source)) {
        search_context_init(&r.cx, shard, source, arena);
        r.known_hits = 0;
    } else {
        e = run_query(&r);
        if (e == ERR_OK && r.shard->cancelled != NULL && r.shard->cancelled(r.shard->self)) {
            e = err_set(r.em, ERR_CANCELLED, "task cancelled");
        }
    }
    if (e == ERR_OK) {
        e = query_phase_finish(&r, out);
    } else {
        *out = (struct query_result){.slot = shard->scope.slot, .first_key_refused = r.first_key_refused};
    }
    aggs_collector_free(r.aggs);
    sort_plan_fini(r.sort);
    top_docs_free(r.top);
    return e;
}
