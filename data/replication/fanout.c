/* The messages of a request to the other copies, and their answers; and requests that may not begin yet. */
#include "data/replication/replication_int.h"

#include <stdlib.h>

#define SEND_BYTES (256 * KIB) /* operations of a long request go when they are so many */

/* ---- may it begin? ---------------------------------------------------------------------------------- */

void request_unparked(struct shard *sh, struct parked_request *p, enum group_outcome outcome)
{
    ERR_LOCAL(em);
    if (outcome == GROUP_TIMED_OUT) {
        err_set(&em, ERR_NOT_PRIMARY, "shard [%.*s][%u]: the primary has not begun to serve in time",
                STR_ARG(sh->index->name), sh->number);
    }
    p->waiter->wake(p->waiter, outcome == GROUP_TIMED_OUT ? &em : NULL); /* p may be gone now */
}

static void quiet_task(void *arg)
{
    struct shard *sh = arg;
    struct replication *p = sh->replication;
    void (*drained)(void *) = p->drained;
    if (group_still_quiet(&p->group) && drained != NULL) { /* else something has begun meanwhile */
        p->drained = NULL;
        drained(p->drained_arg);
    }
    shard_unref(sh);
}

void requests_quiet(struct shard *sh)
{
    shard_post_back(shard_ref(sh), quiet_task, sh);
}

enum admission replication_enter(struct shard *sh, struct parked_request *p, int64_t deadline_ms,
                                 struct errmsg *em)
{
    struct group *g = &sh->replication->group;
    enum group_admission a = sh->life.leaving ? GROUP_REFUSED : group_enter(g, &p->p, deadline_ms);
    if (a != GROUP_REFUSED) {
        return a == GROUP_ADMITTED ? ADMITTED : PARKED;
    }
    err_set(em, ERR_NOT_PRIMARY, "shard [%.*s][%u] is not the primary here", STR_ARG(sh->index->name),
            sh->number);
    err_about_index(em, sh->index->name, sh->index->uuid);
    err_about_shard(em, (int)sh->number);
    return REFUSED;
}

void replication_leave(struct shard *sh)
{
    group_leave(&sh->replication->group);
    group_perform(sh);
}

void replication_drain(struct shard *sh, void (*drained)(void *arg), void *arg)
{
    sh->replication->drained = drained;
    sh->replication->drained_arg = arg;
    group_drain(&sh->replication->group);
    group_perform(sh);
}

void replication_undrain(struct shard *sh)
{
    sh->replication->drained = NULL;
    group_undrain(&sh->replication->group);
    group_perform(sh);
}

/* ---- a request -------------------------------------------------------------------------------------- */

static void explain(const struct fanout *f, enum group_outcome outcome, struct errmsg *em)
{
    const struct shard *sh = f->sh;
    switch (outcome) {
    case GROUP_FINE:
        err_clear(em);
        break;
    case GROUP_UNKNOWN:
        err_set(em, ERR_STALE_TERM,
                "shard [%.*s][%u] is not led by this copy any more: whether the operation is kept is unknown",
                STR_ARG(sh->index->name), sh->number);
        break;
    case GROUP_NO_MEMORY:
        err_no_memory(em);
        break;
    case GROUP_TIMED_OUT:
        err_set(em, ERR_TIMEOUT,
                "shard [%.*s][%u]: not all copies have answered in time: the outcome is unknown",
                STR_ARG(sh->index->name), sh->number);
        break;
    }
}

struct fanout *fanout_new(struct shard *sh, struct errmsg *em)
{
    const struct group *g = &sh->replication->group;
    err_clear(em);
    if (!g->leads || g->tracker.n == 1) {
        return NULL;
    }
    struct fanout *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        err_no_memory(em);
        return NULL;
    }
    f->sh = sh;
    f->r.needs = SEQ_NONE;
    buf_init(&f->ops, NULL, BUF_UNLIMITED);
    return f;
}

void fanout_add(struct fanout *f, const struct engine_op *op, const struct engine_result *res)
{
    struct engine_op o = *op;
    o.seq_no = res->seq_no;
    o.primary_term = res->primary_term;
    o.version = res->version;
    o.outcome = res->outcome;
    replicated_op_encode(&o, &f->ops);
    f->n_ops++;
    f->mapping_version = MAX_OF(f->mapping_version, o.mapping_version);
}

void fanout_needs(struct fanout *f, int64_t seq_no)
{
    f->r.needs = MAX_OF(f->r.needs, seq_no);
}

void fanout_confirm(struct fanout *f)
{
    f->confirms = true;
    if (!f->sh->index->async) { /* else it was answered before it was on any disk */
        fanout_needs(f, engine_max_seq_no(f->sh->engine));
    }
}

static void send_to(struct fanout *f, struct group_copy *c, enum group_message_kind kind,
                    enum refresh_policy refresh)
{
    struct copy_link *l = CONTAINER_OF(c, struct copy_link, c);
    struct outgoing *o = outgoing_new(l, kind);
    if (o == NULL) { /* the copy will miss it, unless it is a refresh */
        if (kind != GROUP_REFRESH) {
            group_missed(c, &f->r, "the primary had no memory for it");
        }
        return;
    }
    o->m.request = &f->r;
    if (refresh == REFRESH_WAIT) {
        o->call.timeout_ms = -1; /* as long as the copy's refresh takes; its node's end ends it */
    }
    if (group_send(&f->sh->replication->group, c, &o->m)) {
        struct replication_msg m = {.mapping_version = f->mapping_version, .refresh = refresh};
        link_send(o, &m, f->n_ops, &f->ops);
    }
}

static void send_to_all(struct fanout *f, enum group_message_kind kind, enum refresh_policy refresh)
{
    struct group *g = &f->sh->replication->group;
    for (uint32_t i = 0; i < g->tracker.n; i++) {
        const struct tracked *t = &g->tracker.v[i];
        struct group_copy *c = group_concerns(g, t, kind) ? group_find(g, t->allocation_id) : NULL;
        if (c != NULL) {
            send_to(f, c, kind, refresh);
        } else if (kind == GROUP_WRITE && group_concerns(g, t, kind)) {
            group_spoil(&f->r, GROUP_NO_MEMORY); /* there was none for its link */
        }
    }
}

void fanout_send(struct fanout *f, enum refresh_policy refresh, bool hurry, bool last)
{
    struct shard *sh = f->sh;
    bool due = last ? f->n_ops > 0 || f->confirms || (f->r.sends > 0 && refresh != REFRESH_NONE)
                    : f->n_ops > 0 && (hurry || f->ops.n >= SEND_BYTES);
    if (!due) {
        return;
    }
    if (!sh->replication->group.leads || sh->engine == NULL) {
        group_spoil(&f->r, GROUP_UNKNOWN);
        return;
    }
    send_to_all(f, GROUP_WRITE, last ? refresh : REFRESH_NONE);
    group_sent(&f->r);
    f->confirms = false;
    f->n_ops = 0;
    f->mapping_version = 0;
    buf_reset(&f->ops);
    group_perform(sh);
}

void fanout_refresh(struct fanout *f)
{
    if (f->sh->replication->group.leads) {
        send_to_all(f, GROUP_REFRESH, REFRESH_NOW);
        group_perform(f->sh);
    }
}

bool fanout_settled(const struct fanout *f, struct errmsg *em)
{
    if (f->r.outcome != GROUP_FINE) {
        explain(f, f->r.outcome, em);
    }
    return group_settled(&f->sh->replication->group, &f->r);
}

void fanout_wait(struct fanout *f, struct shard_waiter *w, int64_t deadline_ms)
{
    f->waiter = w;
    group_wait(&f->sh->replication->group, &f->r, deadline_ms);
}

void fanout_woken(struct fanout *f, enum group_outcome outcome)
{
    struct shard_waiter *w = f->waiter;
    ERR_LOCAL(em);
    f->waiter = NULL;
    explain(f, outcome, &em);
    w->wake(w, outcome != GROUP_FINE ? &em : NULL); /* f may be gone now */
}

void fanout_count(const struct fanout *f, uint32_t *ok, uint32_t *failed)
{
    *ok = 1 + f->r.ok;
    *failed = f->r.failed;
}

void fanout_free(struct fanout *f)
{
    if (f != NULL) {
        struct shard *sh = f->sh;
        group_abandon(&sh->replication->group, &f->r);
        group_perform(sh);
    }
}
