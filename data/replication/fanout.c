/* What a request sends to the other copies, and waits for; and requests that may not begin yet. */
#include "data/replication/replication_int.h"

#include <stdlib.h>

#define SEND_BYTES (256 * KIB) /* operations of a long request go when they are so many */

static void unlist(struct fanout *f)
{
    if (!f->listed) {
        return;
    }
    *(f->prev != NULL ? &f->prev->next : &f->sh->replication->lead.waiting) = f->next;
    if (f->next != NULL) {
        f->next->prev = f->prev;
    }
    f->listed = false;
}

static void free_if_done(struct fanout *f)
{
    if (f->dropped && f->pending == 0) {
        buf_fini(&f->ops);
        free(f);
    }
}

void fanout_wake(struct fanout *f, const struct errmsg *error)
{
    struct shard_waiter *w = f->waiter;
    unlist(f);
    f->waiter = NULL;
    w->wake(w, error); /* f may be gone now */
}

void fanout_wake_if_settled(struct fanout *f)
{
    struct errmsg em;
    err_clear(&em);
    if (f->waiter != NULL && fanout_settled(f, &em)) {
        fanout_wake(f, em.n > 0 ? &em : NULL);
    }
}

void fanout_settle(struct fanout *f, bool ok, bool counts, const struct errmsg *error)
{
    f->pending--;
    f->ok += ok && counts ? 1 : 0;
    f->failed += !ok && counts ? 1 : 0;
    if (error != NULL && f->error.n == 0) {
        f->error = *error;
    }
    if (f->waiter != NULL) {
        fanout_wake_if_settled(f); /* f may be gone now */
    } else {
        free_if_done(f);
    }
}

/* ---- may it begin? ---------------------------------------------------------------------------------- */

void requests_unpark(struct shard *sh)
{
    struct shard_waiter *in_order = NULL, *list = sh->replication->lead.parked;
    sh->replication->lead.parked = NULL;
    while (list != NULL) { /* the newest is first */
        struct shard_waiter *w = list;
        list = w->next;
        w->next = in_order;
        in_order = w;
    }
    while (in_order != NULL) {
        struct shard_waiter *w = in_order;
        in_order = w->next;
        w->wake(w, NULL);
    }
}

/* No request is under way, and what they sent has come to an end: a request that gave up waiting leaves messages. */
static bool is_drained(const struct shard *sh)
{
    bool quiet = sh->replication->lead.requests == 0;
    for (const struct copy_link *l = sh->replication->lead.links; quiet && l != NULL; l = l->next) {
        quiet = l->sent == NULL && l->failed == NULL && (!l->broken || l->gone || l->ended);
    }
    return quiet;
}

static void drained_task(void *arg)
{
    struct shard *sh = arg;
    void (*drained)(void *) = sh->replication->lead.drained;
    if (drained != NULL && is_drained(sh)) {
        sh->replication->lead.drained = NULL;
        drained(sh->replication->lead.drained_arg);
    }
    shard_unref(sh);
}

void requests_look_drained(struct shard *sh)
{
    if (sh->replication->lead.drained != NULL && is_drained(sh)) {
        shard_ref(sh);
        shard_post_back(sh, drained_task, sh);
    }
}

enum admission replication_enter(struct shard *sh, struct shard_waiter *w, int64_t deadline_ms,
                                 struct errmsg *em)
{
    struct primary_side *p = &sh->replication->lead;
    if (!sh->replication->leads || p->deposed || sh->life.leaving) {
        err_set(em, ERR_NOT_PRIMARY, "shard [%.*s][%u] is not the primary here", STR_ARG(sh->index->name),
                sh->number);
        err_about_index(em, sh->index->name, sh->index->uuid);
        err_about_shard(em, (int)sh->number);
        return REFUSED;
    }
    if (!p->active || sh->replication->lead.handing_over) {
        w->deadline_ms = deadline_ms;
        w->next = p->parked;
        p->parked = w;
        return PARKED;
    }
    p->requests++;
    return ADMITTED;
}

void replication_leave(struct shard *sh)
{
    sh->replication->lead.requests--;
    requests_look_drained(sh);
}

void replication_drain(struct shard *sh, void (*drained)(void *arg), void *arg)
{
    sh->replication->lead.handing_over = true;
    sh->replication->lead.drained = drained;
    sh->replication->lead.drained_arg = arg;
    requests_look_drained(sh);
}

void replication_undrain(struct shard *sh)
{
    sh->replication->lead.handing_over = false;
    sh->replication->lead.drained = NULL;
    requests_unpark(sh);
}

/* ---- a request -------------------------------------------------------------------------------------- */

void primary_unknown(struct shard *sh, struct errmsg *em)
{
    err_set(em, ERR_STALE_TERM,
            "shard [%.*s][%u] is not led by this copy any more: whether the operation is kept is unknown",
            STR_ARG(sh->index->name), sh->number);
}

struct fanout *fanout_new(struct shard *sh, struct errmsg *em)
{
    err_clear(em);
    if (!sh->replication->leads || sh->replication->tracker.n == 1) {
        return NULL;
    }
    struct fanout *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        err_no_memory(em);
        return NULL;
    }
    f->sh = sh;
    f->needs = SEQ_NONE;
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
    f->needs = MAX_OF(f->needs, seq_no);
}

void fanout_confirm(struct fanout *f)
{
    f->confirms = true;
    if (!f->sh->index->async) { /* else it was answered before it was on any disk */
        fanout_needs(f, engine_max_seq_no(f->sh->engine));
    }
}

static void send_to(struct fanout *f, const struct tracked *c, enum outgoing_kind kind,
                    enum refresh_policy refresh)
{
    struct shard *sh = f->sh;
    struct copy_link *l = link_find(sh, c->allocation_id);
    struct outgoing *o = l != NULL ? outgoing_new(l, kind) : NULL;
    if (o == NULL && kind == OUT_REFRESH) {
        return;
    }
    if (o == NULL) { /* the copy will miss it: nobody can say any more what becomes of it */
        err_no_memory(&f->error);
        if (l != NULL) {
            link_ask_master(l, STR("the primary had no memory for it"));
        }
        return;
    }
    o->fanout = f;
    o->counts = f->sends == 0;
    f->pending++;
    if (refresh == REFRESH_WAIT) {
        o->rq.timeout_ms = 0; /* as long as the copy's refresh takes; its node's end ends it */
    }
    if (f->ops.failed) {
        struct errmsg em;
        err_no_memory(&em);
        link_failed(o, &em);
        return;
    }
    struct replication_msg m = {.mapping_version = f->mapping_version, .refresh = refresh};
    link_send(o, &m, f->n_ops, buf_view(&f->ops));
}

void fanout_send(struct fanout *f, enum refresh_policy refresh, bool hurry, bool last)
{
    struct shard *sh = f->sh;
    bool due = last ? f->n_ops > 0 || f->confirms || (f->sends > 0 && refresh != REFRESH_NONE)
                    : f->n_ops > 0 && (hurry || f->ops.n >= SEND_BYTES);
    if (!due) {
        return;
    }
    if (!sh->replication->leads || sh->engine == NULL) {
        primary_unknown(sh, &f->error);
        return;
    }
    /* A copy that is in sync on no node has missed it already; it is no failure of this request. */
    for (uint32_t i = 0; i < sh->replication->tracker.n; i++) {
        const struct tracked *c = &sh->replication->tracker.v[i];
        if (tracker_sends_to(&sh->replication->tracker, c)
            || (c->in_sync && c->node.p == NULL && !str_eq(c->allocation_id, sh->replication->tracker.own))) {
            send_to(f, c, OUT_WRITE, last ? refresh : REFRESH_NONE);
        }
    }
    f->sends++;
    f->confirms = false;
    f->n_ops = 0;
    f->mapping_version = 0;
    buf_reset(&f->ops);
}

void fanout_refresh(struct fanout *f)
{
    for (uint32_t i = 0; f->sh->replication->leads && i < f->sh->replication->tracker.n; i++) {
        const struct tracked *c = &f->sh->replication->tracker.v[i];
        if (tracker_sends_to(&f->sh->replication->tracker, c)) {
            send_to(f, c, OUT_REFRESH, REFRESH_NOW);
        }
    }
}

bool fanout_settled(const struct fanout *f, struct errmsg *em)
{
    if (f->error.n > 0) {
        *em = f->error;
        return true;
    }
    return f->pending == 0
           && (!f->sh->replication->leads || f->sh->replication->tracker.global_checkpoint >= f->needs);
}

void fanout_wait(struct fanout *f, struct shard_waiter *w, int64_t deadline_ms)
{
    struct primary_side *p = &f->sh->replication->lead;
    w->deadline_ms = deadline_ms;
    f->waiter = w;
    f->listed = true;
    f->prev = NULL;
    f->next = p->waiting;
    if (f->next != NULL) {
        f->next->prev = f;
    }
    p->waiting = f;
}

void fanout_count(const struct fanout *f, uint32_t *ok, uint32_t *failed)
{
    *ok = 1 + f->ok;
    *failed = f->failed;
}

void fanout_drop(struct fanout *f)
{
    if (f != NULL) {
        unlist(f);
        f->waiter = NULL;
        f->dropped = true;
        free_if_done(f);
    }
}
