#include "coordinator/ops/search_int.h"

#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/time_text.h"
#include "common/base/uri.h"
#include "common/cluster/search_limits.h"
#include "common/settings/setting_read.h"
#include "coordinator/core/ask.h"

#include <stdlib.h>

#define SHARDS_HERE 64 /* that a loop asks: a few microseconds each */

struct search_call *search_new(struct op_env *r)
{
    struct search_call *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return NULL;
    }
    c->r = r;
    memory_request_arena(&c->arena);
    c->error = err_in(&c->arena);
    c->o.indices = EXPAND_OPTIONS_SEARCH;
    c->o.allow_partial = cluster_setting_bool(r->state, SET_SEARCH_DEFAULT_ALLOW_PARTIAL_RESULTS);
    c->o.batched_reduce = BATCHED_REDUCE;
    c->start_ns = r->co->o.clock->mono_ns(r->co->o.clock->self);
    c->now_ms = clock_wall_ms(r->co->o.clock);
    return c;
}

void search_free(struct search_call *c)
{
    tasks_end(c->r->co->tasks, &c->task);
    for (uint32_t i = 0; c->queries != NULL && i < c->n_shards; i++) {
        shard_rq_fini(&c->queries[i].rq);
    }
    for (uint32_t i = 0; c->probes != NULL && i < c->n_shards; i++) {
        shard_rq_fini(&c->probes[i].rq);
    }
    for (uint32_t i = 0; i < c->n_matchers; i++) {
        shard_rq_fini(&c->matchers[i].rq);
    }
    for (uint32_t i = 0; c->fetches != NULL && i < c->n_shards; i++) {
        shard_rq_fini(&c->fetches[i].rq);
    }
    search_expansion_free(c->expansion);
    arena_fini(&c->arena);
    free(c);
}

/* ---- the task ------------------------------------------------------------------------------------------------------------------- */

static void describe(const struct task *t, struct buf *out)
{
    const struct search_call *c =
        (const struct search_call *)(const void *)((const char *)t - offsetof(struct search_call, task));
    struct str rest = c->o.index;
    if (c->next_page) {
        buf_z(out, "scrollId[...]");
        return;
    }
    buf_z(out, "indices[");
    while (rest.n > 0) {
        buf_str(out, str_cut(rest, ',', &rest));
        buf_z(out, rest.n > 0 ? ", " : "");
    }
    buf_printf(out, "], types[], search_type[%s], ", c->o.dfs ? "DFS_QUERY_THEN_FETCH" : "QUERY_THEN_FETCH");
    if (c->o.scroll_ms > 0) {
        buf_printf(out, "scroll[Scroll{keepAlive=%llds}], ", (long long)(c->o.scroll_ms / 1000));
    }
    buf_z(out, "source[");
    buf_str(out, c->o.body);
    buf_char(out, ']');
}

/* The shards of this node notice it themselves; other nodes get a message. */
static void cancel(struct task *t)
{
    struct search_call *c = (struct search_call *)(void *)((char *)t - offsetof(struct search_call, task));
    ask_check_soon(c->r->co);
}

static const struct task_ops task_ops = {.describe = describe, .cancel = cancel, .cancellable = true};

void search_begin(struct search_call *c)
{
    struct str opaque = op_opaque_id(c->r);
    c->task = (struct task){.ops = &task_ops,
                            .action = c->next_page ? "indices:data/read/scroll" : "indices:data/read/search",
                            .type = "transport",
                            .parent = c->parent_task};
    c->task.opaque_id = opaque.p != NULL ? uri_text(opaque, c->r->arena) : STR_NULL;
    tasks_begin(c->r->co->tasks, &c->task);
}

bool search_cancelled(void *call)
{
    const struct search_call *c = call;
    return c->task.cancelled || op_client_gone(c->r->http);
}

void search_part(struct search_call *c, struct shard_rq *rq)
{
    rq->cancelled = search_cancelled;
    rq->cancel_self = c;
    rq->parent = c->task.id;
    rq->opaque_id = c->task.opaque_id;
}

static void ended(struct later *l)
{
    struct search_call *c = CONTAINER_OF(l, struct search_call, end);
    c->done(c);
}

void search_done(struct search_call *c)
{
    if (c->source.agg_spec == NULL) { /* else the longest part of the work may be still to come */
        tasks_end(c->r->co->tasks, &c->task);
    }
    later(&c->end, ended);
}

void search_fail(struct search_call *c)
{
    if (!err_is(&c->error)) {
        err_no_memory(&c->error);
    }
    search_done(c);
}

void search_stop_begin(struct search_call *c, struct stop *st)
{
    *st = (struct stop){.asked = search_cancelled, .self = c};
    stop_enter(st);
}

enum err search_stop_end(struct search_call *c, struct stop *st, enum err e)
{
    stop_leave(st);
    if (st->on) {
        err_clear(&c->error);
        e = err_set(&c->error, ERR_CANCELLED, "task cancelled");
    }
    return e;
}

/* ---- before any shard is asked -------------------------------------------------------------------------------------------------- */

enum err search_total_as_int(struct search_source *s, struct errmsg *em)
{
    if (s->track_total == TRACK_TOTAL_DISABLED || s->track_total == TRACK_TOTAL_ACCURATE) {
        return ERR_OK;
    }
    if (s->track_total_given) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[rest_total_hits_as_int] cannot be used if the tracking of total hits is not "
                       "accurate, got %d",
                       s->track_total);
    }
    s->track_total = TRACK_TOTAL_ACCURATE;
    return ERR_OK;
}

/* The checks across the parts of the request, before any shard is asked. */
static enum err check_request(struct search_call *c)
{
    const struct search_source *s = &c->source;
    struct buf b;
    unsigned n = 0;
    enum err e = ERR_OK;
    if (c->o.total_as_int && search_total_as_int(&c->source, &c->error) != ERR_OK) {
        return ERR_ILLEGAL_ARGUMENT;
    }
    if (pit_check(c) != ERR_OK) {
        return ERR_ACTION_VALIDATION;
    }
    buf_init(&b, NULL, KIB);
    if (c->o.scroll_ms > 0) {
        if (s->track_total_given && s->track_total != TRACK_TOTAL_ACCURATE) {
            buf_printf(&b, "%u: disabling [track_total_hits] is not allowed in a scroll context;", ++n);
        }
        if (s->from > 0) {
            buf_printf(&b, "%u: using [from] is not allowed in a scroll context;", ++n);
        }
        if (s->size == 0) {
            buf_printf(&b, "%u: [size] cannot be [0] in a scroll context;", ++n);
        }
        if (c->o.request_cache_given) {
            buf_printf(&b, "%u: [request_cache] cannot be used in a scroll context;", ++n);
        }
        if (s->n_rescore > 0) {
            buf_printf(&b, "%u: using [rescore] is not allowed in a scroll context;", ++n);
        }
        if (s->pit_id.p != NULL) {
            buf_printf(&b, "%u: using [point in time] is not allowed in a scroll context;", ++n);
        }
    }
    for (uint32_t i = 0; s->pit_id.p == NULL && i < s->n_sort; i++) {
        if (s->sort[i].kind == SORT_SHARD_DOC) {
            buf_printf(&b, "%u: [_shard_doc] sort field cannot be used without [point in time];", ++n);
        }
    }
    if (n > 0) {
        e = err_set(&c->error, ERR_ACTION_VALIDATION, "Validation Failed: %.*s", STR_ARG(buf_view(&b)));
    }
    buf_fini(&b);
    return e;
}

bool search_kept_too_long(struct search_call *c)
{
    int64_t keep = search_keep_ms(c), most = search_limits_of(c->r->state).keep_max_ms;
    struct buf asked, limit;
    if (keep <= most) {
        return false;
    }
    buf_init(&asked, NULL, BUF_UNLIMITED);
    buf_init(&limit, NULL, BUF_UNLIMITED);
    time_put_ns(&asked, MIN_OF(keep, INT64_MAX / 1000000) * 1000000);
    time_put_ns(&limit, MIN_OF(most, INT64_MAX / 1000000) * 1000000);
    for (uint32_t i = 0; i < c->n_shards; i++) {
        err_set(&c->queries[i].rq.error, ERR_ILLEGAL_ARGUMENT,
                "Keep alive for request (%.*s) is too large. It must be less than (%.*s). This limit can be "
                "set by changing the [search.max_keep_alive] cluster level setting.",
                STR_ARG(buf_view(&asked)), STR_ARG(buf_view(&limit)));
    }
    buf_fini(&asked);
    buf_fini(&limit);
    c->n_failed = c->n_shards;
    return true;
}

/* Refusals that the shards would make alike: said as if all of them had. */
static bool refused_by_shards(struct search_call *c)
{
    if (c->source.track_total < TRACK_TOTAL_DISABLED) {
        err_set(&c->error, ERR_ILLEGAL_ARGUMENT, "value must be >= 0, got %d", c->source.track_total);
        c->bare_phase = "fetch";
    } else {
        return search_kept_too_long(c);
    }
    return true;
}

/* A request that says nothing of a time-out gets search.default_search_timeout. */
static void default_timeout(struct search_call *c)
{
    if (c->source.timeout_ms < 0) {
        c->source.timeout_ms = cluster_setting_ms(c->r->state, SET_SEARCH_DEFAULT_SEARCH_TIMEOUT);
    }
}

static enum err check_shard_count(struct search_call *c)
{
    const int64_t most = cluster_setting_i64(c->r->state, SET_ACTION_SEARCH_SHARD_COUNT_LIMIT);
    uint32_t n = c->n_shards;
    return n <= most
               ? ERR_OK
               : err_set(&c->error, ERR_ILLEGAL_ARGUMENT,
                         "Trying to query %u shards, which is over the limit of %lld. This limit exists "
                         "because querying many shards at the same time can make the job of the "
                         "coordinating node very CPU and/or memory intensive. It is usually a better "
                         "idea to have a smaller number of larger shards. Update "
                         "[action.search.shard_count.limit] to a greater value if you really want to "
                         "query that many shards at the same time.",
                         n, (long long)most);
}

static enum err search_read_source(struct search_call *c)
{
    struct stop st;
    search_stop_begin(c, &st);
    enum err e = search_source_parse(&c->source, c->o.tree, c->o.body, &c->arena, &c->error);
    return search_stop_end(c, &st, e);
}

static enum err prepare(struct search_call *c)
{
    struct op_env *r = c->r;
    enum err e = ERR_OK;
    if (c->o.tree != NULL) {
        e = search_read_source(c);
    }
    default_timeout(c);
    e = e == ERR_OK ? check_request(c) : e;
    if (e == ERR_OK && c->source.pit_id.p != NULL) {
        e = pit_prepare(c);
        e = e == ERR_OK ? search_check_boosts(c) : e;
        return e == ERR_OK ? pit_choose_shards(c) : e;
    }
    if (e == ERR_OK) {
        c->o.indices.unblocked = 1U << BLOCK_READ;
        e = resolve_indices(r->state, c->o.index, &c->o.indices, c->now_ms, &c->arena, &c->targets,
                            &c->n_targets, &c->error);
    }
    e = e == ERR_OK ? search_check_boosts(c) : e;
    e = e == ERR_OK ? search_choose_shards(c) : e;
    e = e == ERR_OK ? check_shard_count(c) : e;
    return e == ERR_OK ? search_check_copies(c) : e;
}

static void send_all(void *arg)
{
    struct search_call *c = arg;
    if (search_prefilters(c)) {
        search_filter_shards(c);
    } else if (c->o.dfs && c->n_shards > 1) {
        search_gather_stats(c);
    } else {
        search_scatter(c);
    }
}

/* A loop asks a few shards itself; so many take milliseconds, which it has no time for. */
static void send_off_loop(struct search_call *c)
{
    const struct executor *requests = c->r->co->o.requests;
    if (c->n_shards <= SHARDS_HERE || requests == NULL || !op_on_loop(c->r)
        || !executor_submit_force(requests, send_all, c)) {
        send_all(c);
    }
}

static void ask_shards(struct search_call *c)
{
    if (prepare(c) != ERR_OK) {
        search_fail(c);
        return;
    }
    if (refused_by_shards(c)) {
        search_done(c);
        return;
    }
    if (c->n_shards == 0) {
        c->reduced = (struct reduced){.max_score = 0, .relation = TOTAL_EQ};
        if (c->source.track_total == TRACK_TOTAL_DISABLED) {
            c->reduced.relation = TOTAL_NONE;
        }
        search_done(c);
        return;
    }
    send_off_loop(c);
}

static void looked_up(struct lookups *l)
{
    struct search_call *c = l->user;
    if (err_is(&l->error)) {
        err_copy(&c->error, &l->error);
        search_fail(c);
        return;
    }
    c->o.tree = l->tree;
    c->o.tree_apart = false;
    c->o.body = l->text;
    search_source_init(&c->source);
    ask_shards(c);
}

/* Documents that terms come from are read once the request is known to be well formed: its places are still the client's. */
void search_run(struct search_call *c)
{
    search_begin(c);
    search_source_init(&c->source);
    if (!lookups_needed(c->o.tree)) {
        ask_shards(c);
        return;
    }
    if (search_read_source(c) != ERR_OK) {
        search_fail(c);
        return;
    }
    c->lookups =
        (struct lookups){.r = c->r, .arena = &c->arena, .tree = c->o.tree, .done = looked_up, .user = c};
    lookups_run(&c->lookups);
}
