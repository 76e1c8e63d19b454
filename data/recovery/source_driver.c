/* Recovery, the side that gives: what a primary keeps for each copy that recovers from it. */
#include "data/recovery/recovery_int.h"
#include "data/replication/replication.h"

#include <stdlib.h>

/* A START that cannot be answered yet: the state that names the target, or makes this copy the primary, is on its
 * way. */
struct parked_start {
    struct shard *sh; /* a user of it */
    struct remote_rq *call;
    const struct recovery_start *m; /* the call's */
    int64_t since_ms;
    struct parked_start *next;
};

void recovery_refuse_no_session(struct remote_rq *rq)
{
    ERR_LOCAL(em);
    err_set(&em, ERR_NO_SHARD, "no such recovery here");
    remote_refuse(rq, &em);
}

/* ---- sessions ------------------------------------------------------------------------------------------ */

void recovery_session_unref(struct recovery_session *r)
{
    if (--r->refs != 0) {
        return;
    }
    struct shard *sh = r->sh;
    for (size_t i = 0; i < r->n_files; i++) {
        if (r->mapped[i]) {
            r->fs->unmap(r->fs->self, &r->maps[i]);
        }
    }
    engine_history_close(r->history);
    buf_fini(&r->bytes);
    pthread_mutex_destroy(&r->lock);
    arena_fini(&r->arena);
    free(r);
    shard_unref(sh);
}

struct recovery_session *recovery_find_session(struct data_service *s, uint64_t id)
{
    struct recoveries *all = s->recoveries;
    pthread_mutex_lock(&all->lock);
    struct recovery_session *r = all->sessions;
    while (r != NULL && r->id != id) {
        r = r->table;
    }
    if (r != NULL) {
        r->refs++;
    }
    pthread_mutex_unlock(&all->lock);
    return r;
}

/* What sessions still have to send stays in the log. */
void recovery_hold_history(struct shard *sh)
{
    int64_t from = INT64_MAX;
    for (const struct recovery_session *r = sh->recovery->sessions; r != NULL; r = r->next) {
        from = MIN_OF(from, r->from);
    }
    if (sh->engine != NULL) {
        engine_hold_history(sh->engine, from);
    }
}

void recovery_commit_unref(struct recovery_session *r)
{
    if (r->commit != NULL && r->sh->engine != NULL) {
        engine_commit_unref(r->sh->engine, r->commit);
    }
    r->commit = NULL;
}

void recovery_session_free(struct recovery_session *r)
{
    struct shard *sh = r->sh;
    struct data_service *s = sh->service;
    struct recovery_session **at = &sh->recovery->sessions;
    while (*at != r) {
        at = &(*at)->next;
    }
    *at = r->next;
    pthread_mutex_lock(&s->recoveries->lock);
    for (at = &s->recoveries->sessions; *at != r;) {
        at = &(*at)->table;
    }
    *at = r->table;
    pthread_mutex_unlock(&s->recoveries->lock);
    r->over = true;
    recovery_commit_unref(r);
    recovery_hold_history(sh);
    if (r->waiting != NULL) {
        recovery_refuse_no_session(r->waiting);
    }
    if (r->handover != NULL) {
        recovery_refuse_no_session(r->handover);
    }
    r->waiting = r->handover = NULL;
    recovery_session_unref(r);
}

void recovery_sessions_free(struct shard *sh)
{
    while (sh->recovery->sessions != NULL) {
        recovery_session_free(sh->recovery->sessions);
    }
}

/* ---- the beginning ------------------------------------------------------------------------------------- */

static bool can_serve(const struct shard *sh)
{
    return sh->engine != NULL && !sh->life.failing && sh->role.primary && replication_tracker(sh) != NULL
           && !replication_handing_over(sh);
}

static bool same_history(const struct shard *sh, const struct recovery_start *m)
{
    struct copy_data d;
    ERR_LOCAL(em);
    return m->history_uuid.n > 0 && copy_data_decode(&d, engine_user_data(sh->engine), &em) == ERR_OK
           && str_eq(d.history_uuid, m->history_uuid);
}

static bool operations_do(const struct shard *sh, const struct recovery_start *m)
{
    struct engine_stats st;
    engine_stats(sh->engine, &st);
    return source_by_operations(&(struct source_choice){.from = m->from,
                                                        .same_history = same_history(sh, m),
                                                        .max_seq_no = engine_max_seq_no(sh->engine),
                                                        .history_from = engine_history_from(sh->engine),
                                                        .docs = st.docs});
}

/* The newest commit whose following operations can be read, the safe one before others. NULL: one is due. */
static const struct engine_commit *usable_commit(struct engine *e)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct engine_commit *c = engine_commit_ref(e, i == 0);
        if (c != NULL && c->local_checkpoint + 1 >= engine_history_from(e)) {
            return c;
        }
        if (c != NULL) {
            engine_commit_unref(e, c);
        }
    }
    return NULL;
}

static enum err pin_files(struct recovery_session *r, struct engine *e, struct errmsg *em)
{
    const struct engine_commit *c = usable_commit(e);
    if (c == NULL) { /* nothing else may ask for it while nobody writes */
        shard_want_flush(r->sh, false);
        return err_set(em, ERR_ILLEGAL_STATE, "the primary's next commit is not there yet");
    }
    r->commit = c;
    r->from = c->local_checkpoint + 1;
    r->files = ARENA_ARRAY(&r->arena, struct engine_file, c->n_files);
    r->maps = ARENA_ARRAY(&r->arena, struct fs_map, c->n_files);
    r->mapped = ARENA_ARRAY(&r->arena, bool, c->n_files);
    bool ok = r->files != NULL && r->maps != NULL && r->mapped != NULL;
    for (size_t i = 0; ok && i < c->n_files; i++) {
        r->files[i] = c->files[i];
        r->files[i].name = arena_str(&r->arena, c->files[i].name);
        ok = r->files[i].name.p != NULL;
    }
    r->n_files = ok ? c->n_files : 0;
    return ok ? ERR_OK : err_no_memory(em);
}

static struct recovery_session *session_new(struct shard *sh, const struct recovery_start *m)
{
    struct recovery_session *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return NULL;
    }
    r->refs = 1;
    r->sh = sh;
    r->fs = sh->service->o.fs;
    r->heard_ms = shard_now_ms(sh);
    r->from = m->from;
    pthread_mutex_init(&r->lock, NULL);
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
    buf_init(&r->bytes, NULL, BUF_UNLIMITED);
    r->allocation_id = arena_str(&r->arena, m->allocation_id);
    r->node_id = arena_str(&r->arena, m->node_id);
    struct recoveries *all = sh->service->recoveries;
    pthread_mutex_lock(&all->lock);
    r->id = ++all->next_id;
    r->table = all->sessions;
    all->sessions = r;
    pthread_mutex_unlock(&all->lock);
    r->next = sh->recovery->sessions;
    sh->recovery->sessions = r;
    shard_ref(sh);
    return r;
}

static void forget_target(struct shard *sh, struct str allocation_id)
{
    for (struct recovery_session *r = sh->recovery->sessions; r != NULL; r = r->next) {
        if (str_eq(r->allocation_id, allocation_id)) {
            recovery_session_free(r);
            return;
        }
    }
}

static enum err start(struct shard *sh, struct remote_rq *call, const struct recovery_start *m,
                      struct errmsg *em)
{
    forget_target(sh, m->allocation_id); /* it begins again */
    struct recovery_session *r = session_new(sh, m);
    if (r == NULL) {
        return err_no_memory(em);
    }
    bool ops = operations_do(sh, m);
    enum err e = r->allocation_id.p == NULL || r->node_id.p == NULL ? err_no_memory(em) : ERR_OK;
    e = e == ERR_OK && !ops ? pin_files(r, sh->engine, em) : e;
    if (e != ERR_OK) {
        recovery_session_free(r);
        return e;
    }
    recovery_hold_history(sh);
    struct recovery_plan plan = {.session = r->id,
                                 .primary_term = (uint64_t)sh->role.term,
                                 .global_checkpoint = engine_global_checkpoint(sh->engine),
                                 .manifest = ops ? STR("") : r->commit->manifest,
                                 .ops = (uint64_t)(engine_max_seq_no(sh->engine) + 1 - r->from)};
    log_info(sh->service->o.log, "data", "shard [%.*s][%u] recovers at %.*s by %s", STR_ARG(sh->index->name),
             sh->number, STR_ARG(r->node_id), ops ? "operations" : "files");
    remote_reply(call, &plan);
    return ERR_OK;
}

/* false: not yet. */
static bool try_start(const struct parked_start *p, bool last)
{
    struct shard *sh = p->sh;
    ERR_LOCAL(em);
    const struct tracked *c = can_serve(sh) ? replication_copy(sh, p->m->allocation_id) : NULL;
    bool there = c != NULL && c->node.p != NULL;
    if (!there && !last) {
        return false;
    }
    if (!there) {
        err_set(&em, ERR_NOT_PRIMARY, "shard [%.*s][%u] cannot recover from here now",
                STR_ARG(sh->index->name), sh->number);
        remote_refuse(p->call, &em);
    } else if (start(sh, p->call, p->m, &em) != ERR_OK) {
        remote_refuse(p->call, &em);
    }
    shard_unref(sh);
    return true;
}

static void try_parked(struct shard *sh, bool all)
{
    for (struct parked_start **at = &sh->recovery->parked; *at != NULL;) {
        struct parked_start *p = *at, *next = p->next;
        bool last = all || shard_now_ms(sh) - p->since_ms >= RECOVERY_PARK_MS;
        if (try_start(p, last)) {
            *at = next;
        } else {
            at = &p->next;
        }
    }
}

static void start_arrived(void *arg)
{
    struct parked_start *p = arg;
    struct shard *sh = p->sh;
    p->since_ms = shard_now_ms(sh);
    if (!try_start(p, sh->life.leaving)) {
        p->next = sh->recovery->parked;
        sh->recovery->parked = p;
    }
}

void recovery_serve_start(void *self, struct remote_rq *rq)
{
    struct data_service *s = self;
    const struct recovery_start *m = remote_body(rq);
    struct parked_start *p = ARENA_NEW(&rq->arena, struct parked_start);
    struct shard_ref which = {.index = m->index_uuid, .uuid = m->index_uuid, .shard = m->shard};
    ERR_LOCAL(em);
    struct shard *sh = NULL;
    if (p == NULL) {
        err_no_memory(&em);
    } else {
        sh = shard_find(s, &which, &em);
    }
    if (sh == NULL) {
        remote_refuse(rq, &em);
        return;
    }
    *p = (struct parked_start){.sh = sh, .call = rq, .m = m};
    shard_post_back(sh, start_arrived, p);
}

/* ---- when something has changed ------------------------------------------------------------------------ */

/* true: it is over. */
static bool step_session(struct recovery_session *r, bool tick)
{
    struct shard *sh = r->sh;
    const struct tracked *c = replication_copy(sh, r->allocation_id);
    struct source_view v = {.tracked = c != NULL && c->node.p != NULL,
                            .in_sync = c != NULL && c->in_sync,
                            .handing_over = replication_handing_over(sh),
                            .silent_ms = shard_now_ms(sh) - r->heard_ms};
    enum source_look look = source_look(&r->core, &v, tick);
    if (look == SOURCE_FINALIZES) {
        struct remote_rq *rq = r->waiting;
        r->waiting = NULL;
        recovery_answer_finalize(r, rq);
    }
    if (look != SOURCE_OVER && r->core.handing_over) {
        recovery_refresh_waiting(sh);
    }
    return look == SOURCE_OVER;
}

void recovery_step_sessions(struct shard *sh, bool tick)
{
    if (replication_handing_over(sh)
        && (!sh->role.primary || strcmp(sh->role.moving_to, sh->recovery->handed_to) != 0)) {
        replication_undrain(sh); /* as the state says: done, or called off */
    }
    if (sh->engine == NULL || sh->life.failing || !sh->role.primary || replication_tracker(sh) == NULL
        || sh->life.leaving) {
        recovery_sessions_free(sh);
    }
    for (struct recovery_session *r = sh->recovery->sessions, *next; r != NULL; r = next) {
        next = r->next;
        if (step_session(r, tick)) {
            recovery_session_free(r);
        }
    }
    try_parked(sh, sh->life.leaving);
}

void recovery_abandon_sessions(struct shard *sh)
{
    while (sh->recovery->sessions != NULL) {
        sh->recovery->sessions->refs = 1;
        recovery_session_free(sh->recovery->sessions);
    }
    try_parked(sh, true);
}
