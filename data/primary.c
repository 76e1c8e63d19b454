/* The primary's side of replication: leading, the links to the other copies, what is sent and what comes of it. */
#include "data/replication.h"
#include "data/replication_bytes.h"

#include <stdlib.h>

#define REPLICATE_MS  60000            /* a copy that takes longer has failed */
#define CHECKPOINT_MS 10000            /* the same for one that is only told of the global checkpoint */
#define TELL_AGAIN_MS 1000             /* after that has failed */
#define SEND_BYTES    (256 * KIB)      /* operations of a long request go when they are so many */
#define RESYNC_BYTES  (4 * MIB)        /* of a message of what is re-sent */
#define LEASE_MS      (12 * 3600000LL) /* index.soft_deletes.retention_lease.period */

/* Another copy that this primary sends to, or that has to be taken out of the in-sync set. Gone when the tracker knows it
 * no more; it is freed when nothing is out. */
struct copy_link {
    struct copy_link *next;
    struct shard *sh;
    struct arena arena; /* the next one */
    struct str allocation_id;
    struct arena peer_arena;
    struct transport_peer peer; /* address.p == NULL: on no node */
    struct outgoing *sent;      /* at the transport */
    struct outgoing *failed;    /* wait for the master's word */
    bool gone, ended;           /* the copy is none of ours; this one does not lead any more */
    bool broken;                /* it has missed something */
    bool event_out;             /* the master is being asked to take it out */
    bool resyncing;
    struct errmsg event_error;
    struct engine_history *history; /* of what is re-sent */
    int64_t told, safe;             /* the global checkpoint that it has heard of; that it has on disk */
    int64_t tell_after_ms;
};

struct fanout {
    struct shard *sh;
    struct fanout *next, *prev; /* waiting */
    bool listed, dropped;
    struct buf ops; /* not sent yet */
    size_t n_ops;
    uint64_t mapping_version;
    uint32_t sends, pending, ok, failed;
    int64_t needs; /* the global checkpoint that it waits for */
    struct shard_waiter *waiter;
    struct errmsg error;
};

enum outgoing_kind { OUT_WRITE, OUT_RESYNC, OUT_CHECKPOINT };
struct outgoing {
    struct transport_rq rq;
    struct outgoing *next;
    struct copy_link *link;
    struct fanout *fanout; /* OUT_WRITE */
    enum outgoing_kind kind;
    bool counts; /* the first message to that copy: it is what _shards tells of */
    bool last;   /* OUT_RESYNC */
    int64_t global;
};

/* ---- links ----------------------------------------------------------------------------------------------------- */

static struct copy_link *find_link(struct shard *sh, struct str allocation_id)
{
    for (struct copy_link *l = sh->lead.links; l != NULL; l = l->next) {
        if (!l->gone && !l->ended && str_eq(l->allocation_id, allocation_id)) {
            return l;
        }
    }
    return NULL;
}

static void free_link(struct copy_link *l)
{
    engine_history_close(l->history);
    arena_fini(&l->arena);
    arena_fini(&l->peer_arena);
    free(l);
}

static void sweep_links(struct shard *sh)
{
    for (struct copy_link **at = &sh->lead.links; *at != NULL;) {
        struct copy_link *l = *at;
        if ((l->gone || l->ended) && l->sent == NULL && l->failed == NULL && !l->event_out) {
            *at = l->next;
            free_link(l);
        } else {
            at = &l->next;
        }
    }
}

static struct copy_link *new_link(struct shard *sh, struct str allocation_id)
{
    struct copy_link *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    arena_init(&l->arena, NULL, ARENA_UNLIMITED);
    arena_init(&l->peer_arena, NULL, ARENA_UNLIMITED);
    l->sh = sh;
    l->allocation_id = arena_str(&l->arena, allocation_id);
    l->told = SEQ_NONE;
    l->safe = sh->tracker.global_checkpoint;
    if (l->allocation_id.p == NULL) {
        free_link(l);
        return NULL;
    }
    l->next = sh->lead.links;
    sh->lead.links = l;
    return l;
}

static void cancel_sent(struct copy_link *l)
{
    const struct transport *tr = l->sh->service->o.transport;
    for (struct outgoing *o = l->sent; o != NULL; o = o->next) {
        tr->cancel(tr->self, &o->rq);
    }
}

/* Where the copy is, as the state says. What is under way to a node that left ends now. false: no memory. */
static bool set_peer(struct copy_link *l, const struct node_meta *n)
{
    struct transport_peer to = n != NULL ? (struct transport_peer){n->transport_address, n->ephemeral_id}
                                         : (struct transport_peer){STR_NULL, STR_NULL};
    bool same = (to.address.p == NULL) == (l->peer.address.p == NULL) && str_eq(to.address, l->peer.address)
                && str_eq(to.ephemeral_id, l->peer.ephemeral_id);
    if (same) {
        return true;
    }
    cancel_sent(l);
    arena_reset(&l->peer_arena);
    l->peer = (struct transport_peer){STR_NULL, STR_NULL};
    if (to.address.p == NULL) {
        return true;
    }
    struct transport_peer mine = {arena_str(&l->peer_arena, to.address),
                                  arena_str(&l->peer_arena, to.ephemeral_id)};
    if (mine.address.p == NULL || mine.ephemeral_id.p == NULL) {
        return false;
    }
    l->peer = mine;
    return true;
}

/* ---- requests that wait ------------------------------------------------------------------------------------------ */

static void unlist(struct fanout *f)
{
    if (!f->listed) {
        return;
    }
    *(f->prev != NULL ? &f->prev->next : &f->sh->lead.waiting) = f->next;
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

static void wake(struct fanout *f, const struct errmsg *error)
{
    struct shard_waiter *w = f->waiter;
    unlist(f);
    f->waiter = NULL;
    w->wake(w, error); /* f may be gone now */
}

static void wake_if_settled(struct fanout *f)
{
    struct errmsg em;
    err_clear(&em);
    if (f->waiter != NULL && fanout_settled(f, &em)) {
        wake(f, em.n > 0 ? &em : NULL);
    }
}

/* The global checkpoint has moved. */
static void moved(struct shard *sh)
{
    if (sh->engine == NULL) {
        return;
    }
    engine_set_global_checkpoint(sh->engine, sh->tracker.global_checkpoint);
    for (struct fanout *f = sh->lead.waiting, *next; f != NULL; f = next) {
        next = f->next;
        if (f->needs != SEQ_NONE) {
            wake_if_settled(f);
        }
    }
}

static void wake_parked(struct shard *sh)
{
    struct shard_waiter *in_order = NULL, *list = sh->lead.parked;
    sh->lead.parked = NULL;
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

static void drained_task(void *arg)
{
    struct shard *sh = arg;
    void (*drained)(void *) = sh->lead.drained;
    if (drained != NULL && sh->lead.requests == 0) {
        sh->lead.drained = NULL;
        drained(sh->lead.drained_arg);
    }
    shard_release(sh);
}

static void look_drained(struct shard *sh)
{
    if (sh->lead.drained != NULL && sh->lead.requests == 0) {
        shard_use(sh);
        shard_post_back(sh, drained_task, sh);
    }
}

enum admission replication_enter(struct shard *sh, struct shard_waiter *w, int64_t deadline_ms,
                                 struct errmsg *em)
{
    struct primary_side *p = &sh->lead;
    if (!sh->tracking || p->deposed || sh->replica.closed) {
        err_set(em, ERR_NOT_PRIMARY, "shard [%.*s][%u] is not the primary here", STR_ARG(sh->index->name),
                sh->number);
        err_about_index(em, sh->index->name, sh->index->uuid);
        err_about_shard(em, (int)sh->number);
        return REFUSED;
    }
    if (!p->active || sh->handing_over) {
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
    sh->lead.requests--;
    look_drained(sh);
}

void replication_drain(struct shard *sh, void (*drained)(void *arg), void *arg)
{
    sh->handing_over = true;
    sh->lead.drained = drained;
    sh->lead.drained_arg = arg;
    look_drained(sh);
}

void replication_undrain(struct shard *sh)
{
    sh->handing_over = false;
    sh->lead.drained = NULL;
    wake_parked(sh);
}

/* ---- copies that have failed ------------------------------------------------------------------------------------- */

static void check_active(struct shard *sh)
{
    struct primary_side *p = &sh->lead;
    if (!sh->tracking || p->active) {
        return;
    }
    for (struct copy_link *l = p->links; l != NULL; l = l->next) {
        if (l->resyncing && !l->gone && !l->ended) {
            return;
        }
    }
    p->active = true;
    wake_parked(sh);
}

static void settle(struct outgoing *o, bool ok, const struct errmsg *error)
{
    struct fanout *f = o->fanout;
    if (f != NULL) {
        f->pending--;
        f->ok += ok && o->counts ? 1 : 0;
        f->failed += !ok && o->counts ? 1 : 0;
        if (error != NULL && f->error.n == 0) {
            f->error = *error;
        }
        if (f->waiter != NULL) {
            wake_if_settled(f); /* f may be gone now */
        } else {
            free_if_done(f);
        }
    }
    buf_fini(&o->rq.answer_memory);
    free(o);
}

static void unknown(struct shard *sh, struct errmsg *em)
{
    err_set(em, ERR_STALE_TERM,
            "shard [%.*s][%u] is not led by this copy any more: whether the operation is kept is unknown",
            STR_ARG(sh->index->name), sh->number);
}

/* What failed at a copy may end: error NULL: the copy does not count any more. */
static void settle_failed(struct copy_link *l, const struct errmsg *error)
{
    struct outgoing *list = l->failed;
    l->failed = NULL;
    while (list != NULL) {
        struct outgoing *o = list;
        list = o->next;
        settle(o, false, error);
    }
}

static void take_out(struct copy_link *l)
{
    struct shard *sh = l->sh;
    l->gone = true;
    l->resyncing = false;
    if (sh->tracking && !l->ended && tracker_drop(&sh->tracker, l->allocation_id)) {
        moved(sh);
    }
    settle_failed(l, NULL);
    check_active(sh);
}

static void master_has_answered(void *arg)
{
    struct copy_link *l = arg;
    struct shard *sh = l->sh;
    l->event_out = false;
    if (l->event_error.n == 0) {
        take_out(l);
    } else {
        struct errmsg em;
        unknown(sh, &em);
        if (err_code(&l->event_error) == ERR_STALE_TERM && !l->ended) {
            sh->lead.deposed = true;
            wake_parked(sh);
        }
        settle_failed(l, &em);
    }
    sweep_links(sh);
    shard_release(sh);
}

static void master_answered(void *arg, const struct errmsg *error)
{
    struct copy_link *l = arg;
    if (error != NULL) {
        l->event_error = *error;
    }
    shard_post_back(l->sh, master_has_answered, l);
}

/* The copy has missed something: it must be out of the in-sync set before what it missed is acknowledged. */
static void ask_master(struct copy_link *l, struct str why)
{
    struct shard *sh = l->sh;
    struct data_service *s = sh->service;
    l->broken = true;
    if (l->event_out || l->gone || l->ended) {
        return;
    }
    struct shard_event e = {.kind = SHARD_EVENT_STALE,
                            .index_uuid = sh->index->uuid,
                            .shard = sh->number,
                            .allocation_id = l->allocation_id,
                            .primary_term = sh->tracker.term,
                            .why = why};
    log_info(s->o.log, "data", "shard [%.*s][%u]: copy [%.*s] must leave the in-sync set: %.*s",
             STR_ARG(sh->index->name), sh->number, STR_ARG(l->allocation_id), STR_ARG(why));
    err_clear(&l->event_error);
    l->event_out = true;
    shard_use(sh);
    s->o.shard_event(s->o.node_self, &e, master_answered, l);
}

static void copy_failed(struct outgoing *o, const struct errmsg *why)
{
    struct copy_link *l = o->link;
    struct errmsg em;
    if (l->ended) {
        unknown(l->sh, &em);
        settle(o, false, &em);
        return;
    }
    if (l->gone) {
        settle(o, false, NULL);
        return;
    }
    o->next = l->failed;
    l->failed = o;
    ask_master(l, str_of(why->frame[0].reason));
}

/* ---- sending ------------------------------------------------------------------------------------------------------ */

static void next_resync(struct copy_link *l);

static void took(struct outgoing *o, const struct replication_answer *a)
{
    struct copy_link *l = o->link;
    struct shard *sh = l->sh;
    if (l->ended || l->gone) {
        return;
    }
    l->told = MAX_OF(l->told, o->global);
    l->safe = MAX_OF(l->safe, a->global_checkpoint);
    if (sh->tracking && tracker_advance(&sh->tracker, l->allocation_id, a->local_checkpoint)) {
        moved(sh);
    }
    if (o->kind == OUT_RESYNC && o->last) {
        l->resyncing = false;
        log_info(sh->service->o.log, "data", "shard [%.*s][%u]: copy [%.*s] follows term %llu",
                 STR_ARG(sh->index->name), sh->number, STR_ARG(l->allocation_id),
                 (unsigned long long)sh->tracker.term);
        check_active(sh);
    } else if (o->kind == OUT_RESYNC) {
        next_resync(l);
    }
}

static void unlink_sent(struct outgoing *o)
{
    struct outgoing **at = &o->link->sent;
    while (*at != o) {
        at = &(*at)->next;
    }
    *at = o->next;
}

/* On the strand. */
static void answered(struct transport_rq *rq)
{
    struct outgoing *o = rq->user;
    struct copy_link *l = o->link;
    struct shard *sh = l->sh;
    struct replication_answer a;
    struct errmsg em = rq->error;
    unlink_sent(o);
    bool ok = em.n == 0 && replication_answer_decode(&a, rq->answer, &em) == ERR_OK;
    if (ok) {
        took(o, &a);
        if (l->ended) { /* the copy has it; whether it lasts, the new primary knows */
            unknown(sh, &em);
        }
        settle(o, true, l->ended ? &em : NULL);
    } else if (o->kind == OUT_CHECKPOINT) {
        l->tell_after_ms = clock_mono_ms(sh->service->o.clock) + TELL_AGAIN_MS;
        settle(o, false, NULL);
    } else {
        copy_failed(o, &em);
    }
    sweep_links(sh);
    shard_release(sh);
}

static struct outgoing *new_outgoing(struct copy_link *l, enum outgoing_kind kind)
{
    struct outgoing *o = calloc(1, sizeof(*o));
    if (o == NULL) {
        return NULL;
    }
    o->link = l;
    o->kind = kind;
    o->rq.cls = TRANSPORT_DATA;
    o->rq.timeout_ms = kind == OUT_CHECKPOINT ? CHECKPOINT_MS : REPLICATE_MS;
    o->rq.on = strand_executor(l->sh->strand);
    o->rq.done = answered;
    o->rq.user = o;
    return o;
}

/* Sends it with these operations, or lets it fail. */
static void dispatch(struct outgoing *o, struct replication_msg *m, size_t n, struct str ops)
{
    static const uint16_t kinds[] = {MESSAGE_REPLICATE, MESSAGE_RESYNC, MESSAGE_GLOBAL_CHECKPOINT};
    struct copy_link *l = o->link;
    struct shard *sh = l->sh;
    const struct transport *tr = sh->service->o.transport;
    struct errmsg em;
    m->uuid = sh->index->uuid;
    m->shard = sh->number;
    m->allocation_id = l->allocation_id;
    m->term = sh->tracker.term;
    m->global_checkpoint = o->global = sh->tracker.global_checkpoint;
    m->max_seq_no = engine_max_seq_no(sh->engine);
    m->retain_from = sh->replica.retain_from;
    m->last = o->last;
    if (tr == NULL || l->broken || l->peer.address.p == NULL) {
        err_set(&em, ERR_NODE_NOT_CONNECTED,
                l->broken ? "the copy has failed before" : "the copy is on no node");
        copy_failed(o, &em);
        return;
    }
    buf_init(&o->rq.payload, NULL, TRANSPORT_DATA_BYTES_MAX);
    replication_msg_begin(m, n, &o->rq.payload);
    buf_str(&o->rq.payload, ops);
    if (o->rq.payload.failed) {
        buf_fini(&o->rq.payload);
        err_no_memory(&em);
        copy_failed(o, &em);
        return;
    }
    o->rq.kind = kinds[o->kind];
    o->next = l->sent;
    l->sent = o;
    shard_use(sh);
    tr->send(tr->self, &l->peer, &o->rq);
}

struct fanout *fanout_new(struct shard *sh, struct errmsg *em)
{
    err_clear(em);
    if (!sh->tracking || sh->tracker.n == 1) {
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

/* As copies get it: with all that was decided here. */
static void encode_op(const struct engine_op *op, struct buf *out)
{
    struct engine_op o = *op;
    if (o.kind == OP_NOOP) {
        o.version = 0; /* it has none */
    }
    op_encode(&o, out);
}

void fanout_add(struct fanout *f, const struct engine_op *op, const struct engine_result *res)
{
    struct engine_op o = *op;
    o.seq_no = res->seq_no;
    o.primary_term = res->primary_term;
    o.version = res->version;
    o.outcome = res->outcome;
    encode_op(&o, &f->ops);
    f->n_ops++;
    f->mapping_version = MAX_OF(f->mapping_version, o.mapping_version);
}

void fanout_needs(struct fanout *f, int64_t seq_no)
{
    f->needs = MAX_OF(f->needs, seq_no);
}

static void send_to(struct fanout *f, const struct tracked *c, enum refresh_policy refresh)
{
    struct shard *sh = f->sh;
    struct copy_link *l = find_link(sh, c->allocation_id);
    struct outgoing *o = l != NULL ? new_outgoing(l, OUT_WRITE) : NULL;
    if (o == NULL) { /* the copy will miss it: nobody can say any more what becomes of it */
        err_no_memory(&f->error);
        if (l != NULL) {
            ask_master(l, STR("the primary had no memory for it"));
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
        copy_failed(o, &em);
        return;
    }
    struct replication_msg m = {.mapping_version = f->mapping_version, .refresh = refresh};
    dispatch(o, &m, f->n_ops, buf_view(&f->ops));
}

void fanout_send(struct fanout *f, enum refresh_policy refresh, bool hurry, bool last)
{
    struct shard *sh = f->sh;
    bool due = last ? f->n_ops > 0 || (f->sends > 0 && refresh != REFRESH_NONE)
                    : f->n_ops > 0 && (hurry || f->ops.n >= SEND_BYTES);
    if (!due) {
        return;
    }
    if (!sh->tracking || sh->engine == NULL) {
        unknown(sh, &f->error);
        return;
    }
    /* A copy that is in sync on no node has missed it already. */
    for (uint32_t i = 0; i < sh->tracker.n; i++) {
        const struct tracked *c = &sh->tracker.v[i];
        if (tracker_sends_to(&sh->tracker, c)
            || (c->in_sync && c->node.p == NULL && !str_eq(c->allocation_id, sh->tracker.own))) {
            send_to(f, c, last ? refresh : REFRESH_NONE);
        }
    }
    f->sends++;
    f->n_ops = 0;
    f->mapping_version = 0;
    buf_reset(&f->ops);
}

bool fanout_settled(const struct fanout *f, struct errmsg *em)
{
    if (f->error.n > 0) {
        *em = f->error;
        return true;
    }
    return f->pending == 0 && (!f->sh->tracking || f->sh->tracker.global_checkpoint >= f->needs);
}

void fanout_wait(struct fanout *f, struct shard_waiter *w, int64_t deadline_ms)
{
    struct primary_side *p = &f->sh->lead;
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

/* ---- after a promotion -------------------------------------------------------------------------------------------- */

/* The next part of what lies above the global checkpoint. */
static void next_resync(struct copy_link *l)
{
    struct shard *sh = l->sh;
    struct outgoing *o = new_outgoing(l, OUT_RESYNC);
    if (o == NULL) {
        ask_master(l, STR("the primary had no memory for it"));
        return;
    }
    struct replication_msg m = {0};
    struct buf ops;
    struct errmsg em;
    size_t n = 0;
    bool more = sh->engine != NULL && l->history != NULL;
    enum err e = more ? ERR_OK : err_set(&em, ERR_ILLEGAL_STATE, "the history cannot be read");
    buf_init(&ops, NULL, BUF_UNLIMITED);
    while (e == ERR_OK && more && ops.n < RESYNC_BYTES) {
        struct engine_op op;
        e = engine_history_next(l->history, &op, &more, &em);
        if (e == ERR_OK && more) {
            encode_op(&op, &ops);
            m.mapping_version = MAX_OF(m.mapping_version, op.mapping_version);
            n++;
        }
    }
    o->last = !more;
    e = e == ERR_OK && ops.failed ? err_no_memory(&em) : e;
    if (e != ERR_OK) {
        copy_failed(o, &em);
    } else {
        dispatch(o, &m, n, buf_view(&ops));
    }
    if (o->last || e != ERR_OK) {
        engine_history_close(l->history);
        l->history = NULL;
    }
    buf_fini(&ops);
}

static void begin_resync(struct shard *sh)
{
    for (uint32_t i = 0; i < sh->tracker.n; i++) {
        const struct tracked *c = &sh->tracker.v[i];
        struct copy_link *l = c->in_sync && c->node.p != NULL ? find_link(sh, c->allocation_id) : NULL;
        struct errmsg em;
        if (l == NULL) {
            continue;
        }
        l->resyncing = true;
        if (engine_history_open(&l->history, sh->engine, sh->tracker.global_checkpoint + 1,
                                engine_max_seq_no(sh->engine), &em)
            != ERR_OK) {
            l->history = NULL;
        }
    }
    for (struct copy_link *l = sh->lead.links; l != NULL; l = l->next) {
        if (l->resyncing && !l->ended && !l->gone) {
            next_resync(l);
        }
    }
}

/* ---- leading ------------------------------------------------------------------------------------------------------ */

/* One link a copy, where the state says that it is. What is under way to copies that went ends. */
static enum err update_links(struct shard *sh, const struct cluster_state *state, struct errmsg *em)
{
    bool ok = true;
    for (struct copy_link *l = sh->lead.links; l != NULL; l = l->next) {
        if (!l->ended && !l->gone && tracker_find(&sh->tracker, l->allocation_id) == NULL) {
            /* It may come back, and ask for what it missed. */
            struct primary_side *p = &sh->lead;
            p->lease_from =
                p->lease_from == SEQ_UNASSIGNED ? l->safe + 1 : MIN_OF(p->lease_from, l->safe + 1);
            p->lease_ms = clock_mono_ms(sh->service->o.clock);
            l->gone = true;
            l->resyncing = false;
            cancel_sent(l);
            settle_failed(l, NULL);
        }
    }
    for (uint32_t i = 0; ok && i < sh->tracker.n; i++) {
        const struct tracked *c = &sh->tracker.v[i];
        if (str_eq(c->allocation_id, sh->tracker.own)) {
            continue;
        }
        struct copy_link *l = find_link(sh, c->allocation_id);
        l = l != NULL ? l : new_link(sh, c->allocation_id);
        ok = l != NULL && set_peer(l, c->node.p != NULL ? cluster_node(state, c->node) : NULL);
    }
    sweep_links(sh);
    return ok ? ERR_OK : err_no_memory(em);
}

static void stop_leading(struct shard *sh)
{
    struct errmsg em;
    struct primary_side *p = &sh->lead;
    if (!sh->tracking) {
        return;
    }
    sh->tracking = false;
    p->active = p->deposed = false;
    unknown(sh, &em);
    for (struct copy_link *l = p->links; l != NULL; l = l->next) {
        l->ended = true;
        cancel_sent(l);
        settle_failed(l, &em);
    }
    for (struct fanout *f = p->waiting, *next; f != NULL; f = next) {
        next = f->next;
        if (f->pending == 0) { /* waits for a checkpoint that nobody moves any more */
            wake(f, &em);
        }
    }
    tracker_fini(&sh->tracker);
    sweep_links(sh);
    wake_parked(sh);
}

static enum err begin_leading(struct shard *sh, const struct index_meta *m, const struct shard_routing *r,
                              const struct cluster_state *state, struct errmsg *em)
{
    struct primary_side *p = &sh->lead;
    uint64_t term = m->primary_terms[sh->number], filled;
    /* A copy that takes over from one that let go of its own accord has all that this one had, and so have the others. */
    bool promoted = sh->replica.term < term;
    enum err e = engine_fill_gaps(sh->engine, (int64_t)term, &filled, em);
    e = e == ERR_OK ? tracker_init(&sh->tracker, sh->allocation_id, engine_persisted_checkpoint(sh->engine),
                                   engine_global_checkpoint(sh->engine), m, sh->number, r, em)
                    : e;
    if (e != ERR_OK) {
        return e;
    }
    sh->tracking = true;
    sh->replica.term = term;
    p->active = p->deposed = false;
    p->lease_from = SEQ_UNASSIGNED;
    e = update_links(sh, state, em);
    if (e != ERR_OK) {
        stop_leading(sh);
        return e;
    }
    moved(sh); /* alone, what is on disk is everywhere */
    if (sh->tracker.n > 1 && promoted) {
        shard_start_sync(sh); /* the gaps */
        begin_resync(sh);
    }
    check_active(sh);
    return ERR_OK;
}

static enum err keep_leading(struct shard *sh, const struct index_meta *m, const struct shard_routing *r,
                             const struct cluster_state *state, struct errmsg *em)
{
    int64_t before = sh->tracker.global_checkpoint;
    enum err e = tracker_update(&sh->tracker, m, sh->number, r, em);
    e = e == ERR_OK ? update_links(sh, state, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (sh->tracker.global_checkpoint != before) {
        moved(sh);
    }
    check_active(sh);
    bool all = true;
    for (uint32_t i = 0; i < r->n; i++) {
        all &= copy_active(&r->copies[i]);
    }
    if (all) {
        sh->lead.lease_from = SEQ_UNASSIGNED;
    }
    return ERR_OK;
}

/* The first that is heard of a copy in this place: what it has, its primary has, or gives it before it is in sync. */
static void meet_copy(struct shard *sh, uint64_t term)
{
    struct replica_side *rs = &sh->replica;
    if (str_is(sh->allocation_id, rs->allocation_id)) {
        return;
    }
    size_t n = MIN_OF(sh->allocation_id.n, sizeof(rs->allocation_id) - 1);
    memcpy(rs->allocation_id, sh->allocation_id.p != NULL ? sh->allocation_id.p : "", n);
    rs->allocation_id[n] = 0;
    rs->term = term;
    rs->resync_term = 0;
    rs->diverged = false;
    rs->retain_from = 0;
}

void replication_follow(struct shard *sh, const struct cluster_state *state)
{
    const struct index_meta *m = cluster_index_by_uuid(state, sh->index->uuid);
    const struct index_routing *ir = m != NULL ? cluster_routing(state, m->name) : NULL;
    const struct shard_routing *r = ir != NULL && sh->number < ir->n ? &ir->shards[sh->number] : NULL;
    bool leads =
        r != NULL && sh->primary && !sh->initializing && sh->of_role && sh->engine != NULL && !sh->failing;
    struct errmsg em;
    enum err e = ERR_OK;
    if (m != NULL) {
        meet_copy(sh, m->primary_terms[sh->number]);
    }
    if (!leads || sh->tracker.term != m->primary_terms[sh->number]
        || !str_eq(sh->tracker.own, sh->allocation_id)) {
        stop_leading(sh);
    }
    if (leads) {
        e = sh->tracking ? keep_leading(sh, m, r, state, &em) : begin_leading(sh, m, r, state, &em);
    }
    if (e != ERR_OK) {
        log_error(sh->service->o.log, "data", "shard [%.*s][%u] cannot lead: %s", STR_ARG(sh->index->name),
                  sh->number, em.frame[0].reason);
        stop_leading(sh);
        shard_fail(sh, &em);
    }
    if (sh->engine != NULL && !sh->failing) {
        replication_retain(sh);
    }
}

void replication_stop(struct shard *sh)
{
    stop_leading(sh);
    replica_give_up(sh);
}

static void close_task(void *arg)
{
    struct shard *sh = arg;
    sh->replica.closed = true;
    replication_stop(sh);
    shard_release(sh);
}

void replication_close(struct shard *sh)
{
    shard_use(sh);
    if (!executor_submit_force(strand_executor(sh->strand), close_task, sh)) {
        sh->users--; /* nothing runs any more; the caller's reference remains */
    }
}

void replication_persisted(struct shard *sh)
{
    if (!sh->tracking || sh->engine == NULL) {
        return;
    }
    if (tracker_advance(&sh->tracker, sh->tracker.own, engine_persisted_checkpoint(sh->engine))) {
        moved(sh);
    }
}

bool replication_track(struct shard *sh, struct str allocation_id, struct str node)
{
    return sh->tracking && sh->engine != NULL
           && tracker_track(&sh->tracker, allocation_id, node, engine_max_seq_no(sh->engine));
}

bool replication_catch_up(struct shard *sh, struct str allocation_id, int64_t local_checkpoint, bool *now)
{
    *now = false;
    int64_t before = sh->tracking ? sh->tracker.global_checkpoint : SEQ_NONE;
    if (!sh->tracking || !tracker_catch_up(&sh->tracker, allocation_id, local_checkpoint, now)) {
        return false;
    }
    if (sh->tracker.global_checkpoint != before) {
        moved(sh);
    }
    return true;
}

/* ---- now and then -------------------------------------------------------------------------------------------------- */

void replication_retain(struct shard *sh)
{
    struct primary_side *p = &sh->lead;
    int64_t from = engine_global_checkpoint(sh->engine) + 1;
    if (!sh->tracking) {
        from = sh->primary ? from : MIN_OF(from, sh->replica.retain_from);
        engine_set_retention(sh->engine, from);
        return;
    }
    if (p->lease_from != SEQ_UNASSIGNED && clock_mono_ms(sh->service->o.clock) - p->lease_ms < LEASE_MS) {
        from = MIN_OF(from, p->lease_from);
    }
    for (const struct copy_link *l = p->links; l != NULL; l = l->next) {
        if (!l->gone && !l->ended) {
            from = MIN_OF(from, l->safe + 1);
        }
    }
    sh->replica.retain_from = from;
    engine_set_retention(sh->engine, from);
}

static void tell_checkpoints(struct shard *sh, int64_t now_ms)
{
    bool any = false;
    for (struct copy_link *l = sh->lead.links; l != NULL; l = l->next) {
        const struct tracked *c =
            l->gone || l->ended || l->broken ? NULL : tracker_find(&sh->tracker, l->allocation_id);
        if (c == NULL || !tracker_sends_to(&sh->tracker, c) || l->sent != NULL || l->resyncing
            || l->peer.address.p == NULL || l->told >= sh->tracker.global_checkpoint
            || now_ms < l->tell_after_ms) {
            continue;
        }
        struct outgoing *o = new_outgoing(l, OUT_CHECKPOINT);
        if (o != NULL) {
            struct replication_msg m = {0};
            dispatch(o, &m, 0, STR_NULL);
            any = true;
        }
    }
    if (any) {
        shard_start_sync(sh); /* this copy's disk hears of it, too */
    }
}

static void time_out(struct shard *sh, int64_t now_ms)
{
    struct errmsg em;
    err_set(&em, ERR_TIMEOUT,
            "shard [%.*s][%u]: not all copies have answered in time: the outcome is unknown",
            STR_ARG(sh->index->name), sh->number);
    for (struct fanout *f = sh->lead.waiting, *next; f != NULL; f = next) {
        next = f->next;
        if (f->waiter->deadline_ms != 0 && f->waiter->deadline_ms <= now_ms) {
            wake(f, &em);
        }
    }
    err_set(&em, ERR_NOT_PRIMARY, "shard [%.*s][%u]: the primary has not begun to serve in time",
            STR_ARG(sh->index->name), sh->number);
    for (struct shard_waiter **at = &sh->lead.parked; *at != NULL;) {
        struct shard_waiter *w = *at;
        if (w->deadline_ms != 0 && w->deadline_ms <= now_ms) {
            *at = w->next;
            w->wake(w, &em);
        } else {
            at = &w->next;
        }
    }
}

void replication_tick(struct shard *sh, int64_t now_ms)
{
    time_out(sh, now_ms);
    replica_tick(sh, now_ms);
    if (!sh->tracking || sh->engine == NULL || sh->failing) {
        return;
    }
    tell_checkpoints(sh, now_ms);
    for (struct copy_link *l = sh->lead.links; l != NULL; l = l->next) {
        if (l->broken && !l->event_out && !l->gone && !l->ended && !sh->lead.deposed) {
            ask_master(l, STR("it has missed a write")); /* nobody waits for it; the checkpoint does */
        }
    }
}

void replication_fini(struct shard *sh)
{
    sh->tracking = false;
    for (struct copy_link *l = sh->lead.links; l != NULL; l = l->next) {
        l->ended = true;
    }
    sweep_links(sh);
    tracker_fini(&sh->tracker);
    free(sh->replica.own_terms);
    sh->replica.own_terms = NULL;
}
