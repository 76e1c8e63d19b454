/* The rounds of a worker: page, writes, wait, next page. */
#include "common/base/memory_account.h"
#include "common/base/stop.h"
#include "common/base/uri.h"
#include "coordinator/core/broadcast.h"
#include "coordinator/core/error_json.h"
#include "coordinator/ops/by_query_int.h"

#include "engine/query/source.h"

#include <math.h>
#include <stdlib.h>

#define BULK_TRIES_MAX  11  /* of a bulk that was refused for lack of room */
#define BULK_PAUSE_MS   500 /* before the second try; doubles */
#define THROTTLE_NS_MAX 3600000000000
#define SCROLL_MS_MIN   1000 /* a client's shorter one would lose the pages under way */

static void prepare(void *arg);
static void next_page(struct by_query_worker *w, uint32_t written);
static void refresh_and_end(struct by_query_worker *w);
static void worker_end(struct by_query_worker *w);

static uint64_t task_of(const struct by_query_worker *w)
{
    return w->op->n_workers > 1 ? w->task.id : w->op->task.id;
}

static bool stopped(void *worker)
{
    return by_query_cancelled(worker);
}

/* ---- failing ------------------------------------------------------------------------------------------- */

static void fail(struct by_query_worker *w, const struct errmsg *em)
{
    struct jsonw j;
    w->error_status = err_http_status(em);
    jsonw_init(&j, &w->error, false);
    jw_obj(&j);
    error_write_cause(&j, em);
    jw_obj_end(&j);
    jsonw_init(&j, &w->answer, false);
    jw_obj(&j);
    jw_kobj(&j, "error");
    error_write(&j, em);
    jw_obj_end(&j);
    jw_ki64(&j, "status", w->error_status);
    jw_obj_end(&j);
    worker_end(w);
}

/* The search failed as a whole: its answer is the operation's. */
static void fail_search(struct by_query_worker *w)
{
    struct jsonw j;
    struct json tree;
    jsonw_init(&j, &w->answer, false);
    search_write(w->search, &j, &w->error_status);
    jsonw_init(&j, &w->error, false);
    jw_obj(&j);
    if (!w->answer.failed
        && json_parse(&tree, buf_view(&w->answer), &w->page, &json_limits_default, NULL) == ERR_OK) {
        const struct json *error = json_get(&tree, "error");
        for (uint32_t i = 0; error != NULL && i < error->n; i++) {
            if (!str_is(error->members[i].key, "root_cause")) {
                jw_key(&j, error->members[i].key);
                jw_value(&j, &error->members[i].value);
            }
        }
    }
    jw_obj_end(&j);
    worker_end(w);
}

/* ---- pages --------------------------------------------------------------------------------------------- */

static void free_page(struct by_query_worker *w)
{
    if (w->search != NULL) {
        search_free(w->search);
        w->search = NULL;
    }
    writes_fini(&w->set);
    arena_reset(&w->page);
    err_clear(&w->env.em);
    cluster_state_unref(w->env.state);
    w->env.state = w->op->co->o.state(w->op->co->o.self);
}

static void delay(struct by_query_worker *w, int64_t ns)
{
    if (ns <= 0) {
        prepare(w);
        return;
    }
    w->delay_rate = w->n.per_second;
    w->delay_ns = ns;
    w->n.until_ns = by_query_now_ns(w) + ns;
    delays_add(w->op->co->delays, &w->delay, (ns + 999999) / 1000000, prepare, w);
}

/* How long to wait so that what was written keeps to the rate. */
static int64_t throttle_ns(const struct by_query_worker *w)
{
    float rate = w->n.per_second;
    if (isinf(rate) || w->batch_n == 0) {
        return 0;
    }
    double due =
        (double)w->batch_start_ns + 1e9 * (double)w->batch_n / (double)rate - (double)by_query_now_ns(w);
    return due <= 0 ? 0 : due >= (double)THROTTLE_NS_MAX ? THROTTLE_NS_MAX : (int64_t)due;
}

static void page_done(struct search_call *c)
{
    struct by_query_worker *w = c->user;
    if (c->scroll_id.n > 0) {
        buf_reset(&w->scroll);
        buf_str(&w->scroll, c->scroll_id);
    }
    if (by_query_cancelled(w)) {
        worker_end(w);
        return;
    }
    if (err_is(&c->error) || search_all_failed(c)) {
        fail_search(w);
        return;
    }
    if (c->n_failed > 0 || c->reduced.timed_out) {
        batch_note_search(w);
        w->timed_out = c->reduced.timed_out;
        refresh_and_end(w);
        return;
    }
    w->n.total =
        w->max_docs != MAX_DOCS_ALL ? MIN_OF(c->reduced.total, (int64_t)w->max_docs) : c->reduced.total;
    delay(w, throttle_ns(w));
}

static struct search_call *new_page(struct by_query_worker *w)
{
    ERR_LOCAL(em);
    free_page(w);
    w->search = search_new(&w->env);
    if (w->search == NULL) {
        err_no_memory(&em);
        fail(w, &em);
        return NULL;
    }
    w->search->o.scroll_ms = MAX_OF(w->op->spec.search.scroll_ms, (int64_t)SCROLL_MS_MIN);
    w->search->done = page_done;
    w->search->user = w;
    w->search->parent_task = task_of(w);
    return w->search;
}

static void next_page(struct by_query_worker *w, uint32_t written)
{
    w->batch_n = written;
    struct search_call *c = new_page(w);
    if (c != NULL) {
        search_run_scroll(c, buf_view(&w->scroll));
    }
}

static bool json_member_add(struct json *o, struct arena *a, const char *key, struct json v)
{
    return json_get(o, key) != NULL || json_put(o, a, str_of(key), v);
}

/* The search of this worker: the client's, in index order unless it says otherwise, with what writing
 * needs. */
static enum err make_body(struct by_query_worker *w, struct search_opts *o, struct errmsg *em)
{
    struct arena *a = &w->own;
    const struct by_query_spec *s = &w->op->spec;
    struct json body = json_mk_object(), slice = json_mk_object();
    if (s->search.tree != NULL && !json_copy(&body, s->search.tree, a)) {
        return err_no_memory(em);
    }
    struct json size = {.type = JSON_NUMBER, .s = arena_printf(a, "%d", BY_QUERY_PAGE_DEFAULT)};
    bool ok = size.s.p != NULL && json_member_add(&body, a, "size", size)
              && json_member_add(&body, a, "sort", json_mk_str(STR("_doc")))
              && json_put(&body, a, STR("version"), json_mk_bool(true))
              && json_put(&body, a, STR("seq_no_primary_term"), json_mk_bool(true))
              && json_put(&body, a, STR("track_total_hits"), json_mk_bool(true));
    if (s->kind == BY_QUERY_DELETE) {
        ok = ok && json_put(&body, a, STR("_source"), json_mk_bool(false));
    }
    if (w->n_slices > 1) {
        struct json id = {.type = JSON_NUMBER, .s = arena_printf(a, "%d", MAX_OF((int)w->slice, 0))};
        struct json max = {.type = JSON_NUMBER, .s = arena_printf(a, "%d", (int)w->n_slices)};
        ok = ok && id.s.p != NULL && max.s.p != NULL && json_put(&slice, a, STR("id"), id)
             && json_put(&slice, a, STR("max"), max) && json_put(&body, a, STR("slice"), slice);
    }
    struct buf b;
    struct jsonw j;
    jsonw_start(&j, &b);
    jw_value(&j, &body);
    o->body = arena_str(a, buf_view(&b));
    struct json *tree = ARENA_NEW(a, struct json);
    ok = ok && !b.failed && o->body.p != NULL && tree != NULL;
    buf_fini(&b);
    if (!ok) {
        return err_no_memory(em);
    }
    o->tree = tree;
    return json_parse(tree, o->body, a, &json_limits_default, em);
}

static void start(struct by_query_worker *w)
{
    ERR_LOCAL(em);
    struct search_call *c = new_page(w);
    if (c == NULL) {
        return;
    }
    int64_t scroll_ms = c->o.scroll_ms;
    c->o = w->op->spec.search;
    c->o.scroll_ms = scroll_ms;
    enum err e = make_body(w, &c->o, &em);
    if (e == ERR_OK && w->op->script != NULL) {
        e = script_run_new(&w->run, w->op->script, w->op->spec.params, NULL, &em);
    }
    if (e != ERR_OK) {
        fail(w, &em);
        return;
    }
    search_run(c);
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static int64_t processed(const struct by_query_worker *w)
{
    return w->n.updated + w->n.created + w->n.deleted;
}

/* Was the bulk refused for lack of room, and nothing else? Then it is tried again. */
static bool was_rejected(const struct write_set *s)
{
    uint32_t rejected = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct errmsg *em = s->v[i].error != NULL ? s->v[i].error : s->v[i].item.error;
        rejected += em != NULL && err_code(em) == ERR_REJECTED;
    }
    return rejected > 0;
}

static void written(struct write_set *set);

/* Only what was refused goes again; what is done is counted first. */
static void try_again(void *arg)
{
    struct by_query_worker *w = arg;
    if (by_query_cancelled(w)) {
        worker_end(w);
        return;
    }
    writes_run(&w->set);
}

static void keep_rejected(struct by_query_worker *w)
{
    struct write_set all = w->set;
    uint32_t kept = 0;
    struct write_entry *again = ARENA_ARRAY(&w->page, struct write_entry, all.n);
    if (again == NULL) {
        return;
    }
    for (uint32_t i = 0; i < all.n; i++) {
        struct write_entry *e = &all.v[i];
        const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
        if (em != NULL && err_code(em) == ERR_REJECTED) {
            again[kept] = *e;
            again[kept].error = again[kept].item.error = NULL;
            kept++;
            *e = all.v[--all.n];
            i--;
        }
    }
    w->set.n = all.n;
    batch_count(w);
    writes_fini(&w->set);
    w->set = (struct write_set){.r = &w->env,
                                .v = again,
                                .n = kept,
                                .timeout_ms = w->op->spec.timeout_ms,
                                .active = w->op->spec.active,
                                .done = written,
                                .user = w,
                                .parent_task = task_of(w)};
}

static void written(struct write_set *set)
{
    struct by_query_worker *w = set->user;
    if (was_rejected(set) && w->bulk_tries < BULK_TRIES_MAX && !by_query_cancelled(w)) {
        w->n.bulk_retries++;
        keep_rejected(w);
        if (w->failures.n == 0) {
            delays_add(w->op->co->delays, &w->delay, (int64_t)BULK_PAUSE_MS << w->bulk_tries++, try_again, w);
            return;
        }
    } else {
        batch_count(w);
    }
    if (by_query_cancelled(w)) {
        worker_end(w);
    } else if (w->failures.n > 0 || (w->max_docs != MAX_DOCS_ALL && processed(w) >= w->max_docs)) {
        refresh_and_end(w);
    } else {
        next_page(w, w->batch_n);
    }
}

/* The page's turn has come. */
static void prepare(void *arg)
{
    struct by_query_worker *w = arg;
    ERR_LOCAL(em);
    if (by_query_cancelled(w)) {
        worker_end(w);
        return;
    }
    w->n.throttled_ns += w->delay_ns;
    w->delay_ns = 0;
    if (w->search->reduced.n == 0) {
        refresh_and_end(w);
        return;
    }
    w->n.batches++;
    w->batch_start_ns = by_query_now_ns(w);
    w->bulk_tries = 0;
    uint32_t most = UINT32_MAX;
    if (w->max_docs != MAX_DOCS_ALL) {
        most = (uint32_t)MAX_OF((int64_t)w->max_docs - processed(w), (int64_t)0);
    }
    struct stop st = {.asked = stopped, .self = w};
    stop_enter(&st);
    enum err e = batch_build(w, most, &em);
    stop_leave(&st);
    if (by_query_cancelled(w)) {
        worker_end(w);
        return;
    }
    if (e != ERR_OK) {
        fail(w, &em);
        return;
    }
    if (w->set.n == 0) {
        next_page(w, 0);
        return;
    }
    w->batch_n = w->set.n;
    w->set.done = written;
    w->set.user = w;
    w->set.parent_task = task_of(w);
    writes_run(&w->set);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void refreshed(struct broadcast *bc)
{
    struct by_query_worker *w = bc->user;
    broadcast_fini(bc);
    worker_end(w);
}

static void refresh_and_end(struct by_query_worker *w)
{
    struct shard_act model = {.action = SHARD_REFRESH};
    if (!w->op->spec.refresh || w->n_touched == 0) {
        worker_end(w);
        return;
    }
    free_page(w);
    struct index_target *t = ARENA_ARRAY(&w->page, struct index_target, w->n_touched);
    uint32_t n = 0;
    for (size_t i = 0; t != NULL && i < w->n_touched; i++) {
        t[n].meta = cluster_index(w->env.state, w->touched[i]);
        n += t[n].meta != NULL;
    }
    if (t == NULL || !broadcast_start(&w->env, t, n, &model, refreshed, w)) {
        worker_end(w); /* what was written shows when its own refresh comes */
    }
}

static void worker_end(struct by_query_worker *w)
{
    struct by_query *op = w->op;
    if (w->search != NULL) {
        search_free(w->search);
        w->search = NULL;
    }
    writes_fini(&w->set);
    if (w->scroll.n > 0) {
        scroll_forget(&w->env, buf_view(&w->scroll));
    }
    script_run_free(w->run);
    w->run = NULL;
    arena_fini(&w->page);
    cluster_state_unref(w->env.state);
    w->env.state = NULL;
    w->n.done = true;
    tasks_end(op->co->tasks, &w->task);
    if (--op->pending == 0) {
        by_query_ended(op);
    }
}

/* ---- making and starting ------------------------------------------------------------------------------- */

struct by_query *by_query_new(struct op_env *env, struct by_query_spec **spec, struct arena **arena)
{
    struct by_query *op = calloc(1, sizeof(*op));
    if (op == NULL) {
        return NULL;
    }
    op->co = env->co;
    struct str opaque = op_opaque_id(env);
    memory_request_arena(&op->arena);
    op->task.opaque_id = opaque.p != NULL ? arena_str(&op->arena, uri_text(opaque, &op->arena)) : STR_NULL;
    op->spec = (struct by_query_spec){.max_docs = MAX_DOCS_ALL, .slices = 1, .per_second = INFINITY};
    op->spec.search.indices = EXPAND_OPTIONS_SEARCH;
    op->spec.search.scroll_ms = BY_QUERY_SCROLL_MS;
    *spec = &op->spec;
    *arena = &op->arena;
    return op;
}

void by_query_free(struct by_query *op)
{
    for (uint32_t i = 0; op->workers != NULL && i < op->n_workers; i++) {
        struct by_query_worker *w = &op->workers[i];
        buf_fini(&w->scroll);
        buf_fini(&w->failures);
        buf_fini(&w->error);
        buf_fini(&w->answer);
        arena_fini(&w->own);
    }
    free(op->workers);
    script_unref(op->script);
    arena_fini(&op->arena);
    free(op);
}

/* "auto": a slice for each shard of the index that has fewest, whichever of them are asked. */
static uint32_t auto_slices(struct by_query *op)
{
    const struct search_opts *o = &op->spec.search;
    struct cluster_state *state = op->co->o.state(op->co->o.self);
    const struct index_target *t;
    uint32_t n = 0, least = BY_QUERY_AUTO_MAX;
    bool found = resolve_indices(state, o->index, &o->indices, clock_wall_ms(op->co->o.clock), &op->arena, &t,
                                 &n, NULL)
                 == ERR_OK;
    for (uint32_t i = 0; found && i < n; i++) {
        least = MIN_OF(least, MAX_OF(t[i].meta->n_shards, 1U));
    }
    cluster_state_unref(state);
    return found && n > 0 ? least : 1;
}

static void init_worker(struct by_query *op, uint32_t i)
{
    struct by_query_worker *w = &op->workers[i];
    const struct by_query_spec *s = &op->spec;
    bool alone = op->n_workers == 1;
    int64_t id;
    const struct json *own = json_get(json_get(s->search.tree, "slice"), "id");
    w->op = op;
    w->slice = !alone ? (int32_t)i : own != NULL && json_i64(own, &id) ? (int32_t)id : -1;
    w->n_slices = alone && s->slices <= BY_QUERY_SLICES_MAX ? 1 : alone ? s->slices : (int32_t)op->n_workers;
    w->delay.off = alone ? &op->task.cancelled : &w->task.cancelled;
    w->max_docs = s->max_docs == MAX_DOCS_ALL || alone ? s->max_docs : s->max_docs / (int32_t)op->n_workers;
    w->n.per_second = s->per_second / (float)op->n_workers;
    w->env = (struct op_env){.co = op->co, .arena = &w->page, .em = err_in(&w->page)};
    memory_request_arena(&w->own);
    memory_request_arena(&w->page);
    buf_init(&w->scroll, NULL, 16 * MIB);
    buf_init(&w->failures, NULL, BUF_UNLIMITED);
    buf_init(&w->error, NULL, BUF_UNLIMITED);
    buf_init(&w->answer, NULL, BUF_UNLIMITED);
    w->task = (struct task){.ops = &by_query_worker_ops,
                            .action = op->task.action,
                            .type = "transport",
                            .opaque_id = op->task.opaque_id};
}

static const char *action_of(enum by_query_kind kind)
{
    static const char *const names[] = {"indices:data/write/update/byquery",
                                        "indices:data/write/delete/byquery", "indices:data/write/reindex"};
    return names[kind];
}

/* The script. Its errors are reported with the first document that it should run over. */
static void compile(struct by_query *op)
{
    ERR_LOCAL(why);
    const struct script_text text = {op->spec.script, op->spec.lang, op->spec.script_id};
    enum err e = ERR_OK;
    if (op->spec.script_template != NULL) {
        e = script_template(op->spec.script_template, &why);
    }
    e = e == ERR_OK ? script_compile(&op->script, &text, SCRIPT_UPDATE, &why) : e;
    op->script_error = e != ERR_OK ? err_keep(&op->arena, &why) : NULL;
}

enum err by_query_run(struct by_query *op, uint64_t *task, struct errmsg *why)
{
    ERR_LOCAL(em);
    enum err e = by_query_check_target(op, &em); /* before anything is cut into slices */
    uint32_t n = e != ERR_OK ? 1 : op->spec.slices == 0 ? auto_slices(op) : (uint32_t)op->spec.slices;
    if (e == ERR_OK && n > 1 && op->spec.max_docs != MAX_DOCS_ALL && op->spec.max_docs < (int32_t)n) {
        e = err_set(&em, ERR_ILLEGAL_ARGUMENT, "[max_docs] should be >= [slices]");
        n = 1;
    }
    n = n > BY_QUERY_SLICES_MAX ? 1 : n; /* the shards refuse so many: asking once is enough */
    op->workers = calloc(n, sizeof(*op->workers));
    if (op->workers == NULL) {
        by_query_free(op);
        return err_no_memory(why);
    }
    op->n_workers = n;
    op->pending = n;
    op->per_second = op->spec.per_second;
    op->task = (struct task){.ops = &by_query_ops,
                             .action = action_of(op->spec.kind),
                             .type = "transport",
                             .opaque_id = op->task.opaque_id};
    for (uint32_t i = 0; i < n; i++) {
        init_worker(op, i);
    }
    tasks_begin(op->co->tasks, &op->task);
    if (task != NULL) {
        op->stores = true;
        *task = op->task.id;
    }
    if (e == ERR_OK && op->spec.has_script) {
        compile(op);
    }
    struct by_query_worker *w = op->workers; /* op may be gone after the last start */
    for (uint32_t i = 0; n > 1 && i < n; i++) {
        w[i].task.parent = op->task.id;
        tasks_begin(op->co->tasks, &w[i].task);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (e != ERR_OK) {
            fail(&w[i], &em);
        } else {
            start(&w[i]);
        }
    }
    return ERR_OK;
}
