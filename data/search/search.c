/* The query and fetch phases of one shard, on the search pool. */
#include "data/search/search_int.h"
#include "engine/suggest/suggest.h"

void search_finish(struct shard *sh, struct view *v, struct shard_rq *rq)
{
    ERR_LOCAL(em);
    if (view_damage(v, &em) != ERR_OK) { /* then whatever came out counts for nothing */
        err_copy(&rq->error, &em);
        err_about_index(&rq->error, sh->index->name, sh->index->uuid);
        err_about_shard(&rq->error, (int)sh->number);
        shard_report_damage(sh);
    }
    view_unref(v);
    shard_unref(sh);
    shard_rq_answer(rq);
}

/* The shard and view to read: those of the context, or the newest. */
bool search_view(struct data_service *s, struct shard_rq *rq, int64_t keep_alive_ms, struct shard **sh,
                 struct view **v)
{
    if (rq->context == 0) {
        *sh = shard_find(s, &rq->shard, &rq->error);
        *v = *sh != NULL ? shard_view(*sh) : NULL;
        if (*sh != NULL && *v == NULL) {
            err_set(&rq->error, ERR_NO_SHARD, "the shard is not there");
            err_about_index(&rq->error, rq->shard.index, rq->shard.uuid);
            err_about_shard(&rq->error, (int)rq->shard.shard);
            shard_unref(*sh);
        }
        return *v != NULL;
    }
    if (!context_find(s, rq->context, keep_alive_ms, sh, v)) {
        err_set(&rq->error, ERR_SEARCH_CONTEXT_MISSING, "No search context found for id [%llu]",
                (unsigned long long)rq->context);
        return false;
    }
    return true;
}

/* The parsed form of a body, for the caller to change; NULL: rq->error says why not. */
struct search_source *search_body_parse(struct shard_rq *rq, const struct search_body *body)
{
    const struct json *tree = body->tree;
    struct search_source *src = ARENA_NEW(&rq->arena, struct search_source);
    struct json *own = ARENA_NEW(&rq->arena, struct json);
    if (src == NULL || own == NULL) {
        err_no_memory(&rq->error);
        return NULL;
    }
    search_source_init(src);
    enum err e = ERR_OK;
    if (tree == NULL && body->text.n > 0) {
        e = json_parse(own, body->text, &rq->arena, &json_limits_default, &rq->error);
        tree = own;
    }
    if (e == ERR_OK && tree != NULL) {
        e = search_source_parse(src, tree, body->text, &rq->arena, &rq->error);
    }
    if (body->adapted) {
        src->track_total = body->track_total;
        src->timeout_ms = body->timeout_ms;
    }
    return e == ERR_OK ? src : NULL;
}

enum err search_body_read(struct shard_rq *rq, struct search_body *body)
{
    if (body->source == NULL) {
        body->source = search_body_parse(rq, body);
    }
    return body->source != NULL ? ERR_OK : err_code(&rq->error);
}

void search_describe(struct search_shard *d, struct shard *sh, struct view *v,
                     const struct settings_part *settings, const struct search_scope *scope)
{
    *d = (struct search_shard){.scope = *scope,
                               .index_name = sh->index->name,
                               .index_uuid = sh->index->uuid,
                               .shard = (int32_t)sh->number,
                               .node_id = sh->service->node_id,
                               .view = v,
                               .index_settings = &settings->settings,
                               .filters = sh->filters,
                               .max_buckets = sh->service->searches->max_buckets,
                               .clock = sh->service->o.clock};
}

/* The page's documents, then those that the shard's suggestions show. */
static enum err fetch_now(struct shard_query *rq, const struct search_shard *d)
{
    struct query_result *res = rq->result;
    struct arena *a = &rq->rq.arena;
    int64_t from = rq->scope.scroll ? 0 : rq->body.source->from;
    uint32_t skip = (uint32_t)MIN_OF(from, (int64_t)res->n), n = res->n - skip, n_suggested = 0;
    const struct top_doc *suggested = NULL;
    if (res->suggest.n > 0) {
        struct suggest_reduced *r;
        struct suggest_partial own = {res->suggest, rq->scope.slot};
        enum err e = suggest_reduce(&r, rq->body.source->suggest_spec, &own, 1, a, &rq->rq.error);
        if (e != ERR_OK) {
            return e;
        }
        n_suggested = suggest_docs(r, &suggested);
    }
    rq->n_hits = n + n_suggested;
    rq->hits = ARENA_ARRAY(a, struct str, rq->n_hits);
    struct top_doc *docs = ARENA_ARRAY(a, struct top_doc, rq->n_hits);
    if (rq->hits == NULL || docs == NULL) {
        return err_no_memory(&rq->rq.error);
    }
    for (uint32_t i = 0; i < rq->n_hits; i++) {
        docs[i] = i < n ? res->docs[skip + i] : suggested[i - n];
    }
    return search_fetch_phase(rq->hits, d, rq->body.source, docs, rq->n_hits, a, &rq->rq.error);
}

/* The shard as this request sees it. */
static void describe(struct search_shard *d, const struct shard_rq *rq, const struct search_scope *scope,
                     struct shard *sh, struct view *v, const struct settings_part *settings)
{
    search_describe(d, sh, v, settings, scope);
    d->cancelled = rq->cancelled;
    d->self = rq->cancel_self;
}

/* What a search did, for the shard and the groups that it names. */
void search_count(struct shard *sh, const struct search_source *source, const struct shard_search_group *one)
{
    sh->searches->query_total += one->query_total;
    sh->searches->query_ns += one->query_ns;
    sh->searches->fetch_total += one->fetch_total;
    sh->searches->fetch_ns += one->fetch_ns;
    sh->searches->suggest_total += one->suggest_total;
    sh->searches->suggest_ns += one->suggest_ns;
    search_groups_add(&sh->searches->groups, source->stats, source->n_stats, one);
}

/* Who asks for suggestions alone does not search, as Elasticsearch counts. */
static bool suggests_alone(const struct search_source *s)
{
    return s->suggest != NULL && s->query == NULL && s->aggs == NULL;
}

static enum err run_phases(struct shard_query *rq, struct shard *sh, const struct search_shard *d, enum err e,
                           int64_t start)
{
    const struct clock *clock = sh->service->o.clock;
    rq->result = ARENA_NEW(&rq->rq.arena, struct query_result);
    if (e == ERR_OK) {
        e = rq->result != NULL
                ? search_query_phase(rq->result, d, rq->body.source, &rq->rq.arena, &rq->rq.error)
                : err_no_memory(&rq->rq.error);
    }
    int64_t queried = clock->mono_ns(clock->self);
    if (e == ERR_OK) {
        bool alone = suggests_alone(rq->body.source);
        uint64_t ns = (uint64_t)(queried - start);
        search_count(sh, rq->body.source,
                     &(struct shard_search_group){.query_total = !alone,
                                                  .query_ns = alone ? 0 : ns,
                                                  .suggest_total = alone,
                                                  .suggest_ns = alone ? ns : 0});
    }
    slowlog_search(sh, SLOW_QUERY, queried - start, e == ERR_OK ? rq : NULL, rq->body.text,
                   rq->scope.n_shards);
    if (e == ERR_OK && rq->fetch) {
        e = fetch_now(rq, d);
        int64_t took = clock->mono_ns(clock->self) - queried;
        search_count(sh, rq->body.source,
                     &(struct shard_search_group){.fetch_total = 1, .fetch_ns = (uint64_t)took});
        slowlog_search(sh, SLOW_FETCH, took, rq, rq->body.text, rq->scope.n_shards);
    }
    return e == ERR_OK && stop_now() ? err_set(&rq->rq.error, ERR_CANCELLED, "task cancelled") : e;
}

static void run_query(struct shard_query *rq, struct shard *sh, struct view *v, const struct query *q)
{
    struct data_service *s = sh->service;
    struct settings_part *settings = index_settings(sh->index);
    struct search_shard d;
    struct scroll_state *st = NULL;
    struct scroll_place *place = NULL;
    bool later_page = rq->rq.op == &shard_op_scroll;
    int64_t start = s->o.clock->mono_ns(s->o.clock->self);
    rq->rq.arena.bytes_max = s->searches->request_bytes_max;
    enum err e = later_page ? scroll_find(s, rq, &st, &place) : search_body_read(&rq->rq, &rq->body);
    describe(&d, &rq->rq, &rq->scope, sh, v, settings);
    struct search_stats given = search_given_stats(rq->dfs);
    d.stats = rq->dfs != NULL ? &given : NULL;
    d.dfs = rq->dfs != NULL;
    d.query = q;
    d.after_doc = place != NULL ? &place->last : NULL;
    e = run_phases(rq, sh, &d, e, start);
    if (e == ERR_OK && rq->rq.context == 0
        && (rq->keep || (!rq->fetch && (rq->result->n > 0 || rq->result->suggest.n > 0)))) {
        rq->rq.context =
            context_keep(s, sh, v, rq->keep_alive_ms > 0 ? rq->keep_alive_ms : s->searches->context_keep_ms,
                         rq->scope.scroll, &rq->rq.error);
    }
    if (e == ERR_OK && rq->scope.scroll) {
        scroll_keep(s, rq, &st);
    }
    if (later_page) { /* they were the state's */
        rq->scope.alias_filters = NULL;
        rq->scope.n_alias_filters = 0;
    }
    scroll_place_unref(place);
    scroll_state_unref(st);
    state_part_unref(&settings->part);
}

static void run_dfs(struct shard_dfs *rq, struct shard *sh, struct view *v)
{
    struct settings_part *settings = index_settings(sh->index);
    struct search_shard d;
    rq->rq.arena.bytes_max = sh->service->searches->request_bytes_max;
    describe(&d, &rq->rq, &rq->scope, sh, v, settings);
    d.dfs = true;
    if (search_body_read(&rq->rq, &rq->body) == ERR_OK) {
        search_gather_dfs(rq, &d, v);
    }
    state_part_unref(&settings->part);
}

static bool search_abandoned(void *self)
{
    const struct shard_stop *st = self;
    return data_ends(st->s) || shard_rq_cancelled(st->rq);
}

void shard_stop_begin(struct shard_stop *st, struct data_service *s, const struct shard_rq *rq)
{
    *st = (struct shard_stop){.stop = {.asked = search_abandoned, .self = st}, .rq = rq, .s = s};
    stop_enter(&st->stop);
}

bool shard_stop_end(struct shard_stop *st, struct shard_rq *rq)
{
    stop_leave(&st->stop);
    if (st->stop.on) {
        err_clear(&rq->error);
        err_set(&rq->error, ERR_CANCELLED, "task cancelled");
    }
    return st->stop.on;
}

/* What takes long: as long as somebody waits for it. */
static void search_task(void *arg)
{
    struct search_run *r = arg;
    struct shard_rq *rq = r->rq;
    struct shard *sh = r->sh;
    struct view *v = r->view;
    if (shard_rq_cancelled(rq)) { /* while it waited for its turn */
        err_set(&rq->error, ERR_CANCELLED, "task cancelled");
        search_finish(sh, v, rq);
        return;
    }
    struct shard_stop st;
    sh->searches->query_current++;
    shard_stop_begin(&st, sh->service, rq);
    if (rq->op == &shard_op_dfs) {
        run_dfs(SHARD_RQ(rq, shard_dfs), sh, v);
    } else {
        run_query(SHARD_RQ(rq, shard_query), sh, v, r->query);
    }
    shard_stop_end(&st, rq);
    sh->searches->query_current--;
    search_finish(sh, v, rq);
}

void search_submit(struct data_service *s, struct shard_rq *rq, struct shard *sh, struct view *v,
                   void (*task)(void *))
{
    struct search_run *r = ARENA_NEW(&rq->arena, struct search_run);
    if (r == NULL) {
        err_no_memory(&rq->error);
        search_finish(sh, v, rq);
        return;
    }
    *r = (struct search_run){sh, v, rq, NULL};
    if (!executor_submit(s->o.search_pool, task, r)) {
        err_set(&rq->error, ERR_REJECTED, "rejected execution of search on shard [%.*s][%u]: queue is full",
                STR_ARG(sh->index->name), sh->number);
        search_finish(sh, v, rq);
    }
}

/* A shard that nobody searched for a while was not refreshed either: on the strand, before the search. */
static void refresh_first(void *arg)
{
    struct search_run *r = arg;
    struct shard *sh = r->sh;
    ERR_LOCAL(em);
    if (sh->upkeep.refresh_owed && shard_readable(sh, &em)) {
        if (shard_refresh(sh, NULL, &em) != ERR_OK) {
            shard_check(sh);
        }
        shard_maintain(sh);
    }
    struct view *v = shard_view(sh);
    if (v != NULL) { /* else the copy has gone meanwhile: what was there when it was asked is as good */
        view_unref(r->view);
        r->view = v;
    }
    search_submit(sh->service, r->rq, sh, r->view, search_task);
}

/* true: the search goes on from the strand. */
static bool refreshes_first(struct shard_rq *rq, struct shard *sh, struct view *v)
{
    shard_searched(sh);
    struct search_run *r =
        rq->context == 0 && sh->upkeep.refresh_owed ? ARENA_NEW(&rq->arena, struct search_run) : NULL;
    if (r == NULL) {
        return false;
    }
    *r = (struct search_run){sh, v, rq, NULL};
    return shard_post(sh, refresh_first, r);
}

/* On the caller's thread, as one of the search pool's. false: it is for the pool. */
static bool runs_here(struct data_service *s, struct shard_query *rq, struct shard *sh, struct view *v)
{
    const struct query *q;
    struct search_run *r =
        rq->here && search_is_small(rq, sh, v, &q) ? ARENA_NEW(&rq->rq.arena, struct search_run) : NULL;
    if (r == NULL) {
        return false;
    }
    *r = (struct search_run){sh, v, &rq->rq, q};
    return executor_run_here(s->o.search_pool, search_task, r);
}

void data_query(struct data_service *s, struct shard_query *rq)
{
    struct shard *sh;
    struct view *v;
    if (!search_view(s, &rq->rq, rq->keep_alive_ms, &sh, &v)) {
        shard_rq_answer(&rq->rq);
    } else if (!refreshes_first(&rq->rq, sh, v) && !runs_here(s, rq, sh, v)) {
        search_submit(s, &rq->rq, sh, v, search_task);
    }
}

void data_scroll(struct data_service *s, struct shard_query *rq)
{
    data_query(s, rq);
}

void data_dfs(struct data_service *s, struct shard_dfs *rq)
{
    struct shard *sh;
    struct view *v;
    if (!search_view(s, &rq->rq, 0, &sh, &v)) {
        shard_rq_answer(&rq->rq);
    } else if (!refreshes_first(&rq->rq, sh, v)) {
        search_submit(s, &rq->rq, sh, v, search_task);
    }
}

void data_can_match(struct data_service *s, struct shard_can_match *rq)
{
    struct shard *sh;
    struct view *v;
    if (!search_view(s, &rq->rq, 0, &sh, &v)) {
        shard_rq_answer(&rq->rq);
        return;
    }
    search_answer_can_match(rq, sh, v);
    search_finish(sh, v, &rq->rq);
}

static void fetch_task(void *arg)
{
    struct search_run *r = arg;
    struct shard_fetch *rq = (struct shard_fetch *)r->rq;
    struct shard *sh = r->sh;
    struct view *v = r->view;
    struct data_service *s = sh->service;
    int64_t start = s->o.clock->mono_ns(s->o.clock->self);
    struct settings_part *settings = index_settings(sh->index);
    struct search_shard d;
    struct shard_stop st;
    shard_stop_begin(&st, s, &rq->rq);
    describe(&d, &rq->rq, &rq->scope, sh, v, settings);
    enum err e = search_body_read(&rq->rq, &rq->body);
    rq->hits = ARENA_ARRAY(&rq->rq.arena, struct str, rq->n);
    if (e == ERR_OK && rq->hits == NULL) {
        err_no_memory(&rq->rq.error);
    } else if (e == ERR_OK) {
        struct scroll_state *scroll;
        struct scroll_place *place;
        context_scroll(s, rq->rq.context, &scroll, &place);
        e = search_fetch_phase(rq->hits, &d, rq->body.source, rq->docs, rq->n, &rq->rq.arena, &rq->rq.error);
        if (e == ERR_OK && scroll != NULL && rq->n > rq->n_suggested && !stop_now()) {
            scroll_page_ended(s, scroll, &rq->docs[rq->n - 1], rq->body.source->n_sort, &rq->rq.error);
        }
        scroll_place_unref(place);
        scroll_state_unref(scroll);
    }
    shard_stop_end(&st, &rq->rq);
    int64_t took = s->o.clock->mono_ns(s->o.clock->self) - start;
    if (e == ERR_OK) {
        search_count(sh, rq->body.source,
                     &(struct shard_search_group){.fetch_total = 1, .fetch_ns = (uint64_t)took});
    }
    slowlog_search(sh, SLOW_FETCH, took, NULL, rq->body.text, rq->scope.n_shards);
    state_part_unref(&settings->part);
    if (!rq->keep) {
        context_free(s, rq->rq.context);
    }
    search_finish(sh, v, &rq->rq);
}

void data_fetch(struct data_service *s, struct shard_fetch *rq)
{
    struct shard *sh;
    struct view *v;
    if (!search_view(s, &rq->rq, 0, &sh, &v)) {
        shard_rq_answer(&rq->rq);
        return;
    }
    search_submit(s, &rq->rq, sh, v, fetch_task);
}
