/* The links of a primary to the other copies: what is sent, what comes of it, and what follows when it fails. */
#include "data/replication/replication_int.h"

#include <stdlib.h>

#define RESYNC_BYTES (4 * MIB) /* of a message of what is re-sent */

struct copy_link *link_find(struct shard *sh, struct str allocation_id)
{
    for (struct copy_link *l = sh->replication->lead.links; l != NULL; l = l->next) {
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

void links_sweep(struct shard *sh)
{
    for (struct copy_link **at = &sh->replication->lead.links; *at != NULL;) {
        struct copy_link *l = *at;
        if ((l->gone || l->ended) && l->sent == NULL && l->failed == NULL && !l->event_out) {
            *at = l->next;
            free_link(l);
        } else {
            at = &l->next;
        }
    }
}

struct copy_link *link_new(struct shard *sh, struct str allocation_id)
{
    struct copy_link *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        return NULL;
    }
    arena_init(&l->arena, NULL, ARENA_UNLIMITED);
    arena_init(&l->peer_arena, NULL, ARENA_UNLIMITED);
    l->sh = sh;
    l->allocation_id = arena_str(&l->arena, allocation_id);
    l->known_checkpoint = SEQ_NONE;
    l->persisted_checkpoint = sh->replication->tracker.global_checkpoint;
    if (l->allocation_id.p == NULL) {
        free_link(l);
        return NULL;
    }
    l->next = sh->replication->lead.links;
    sh->replication->lead.links = l;
    return l;
}

void link_cancel(struct copy_link *l)
{
    const struct transport *tr = l->sh->service->o.transport;
    for (struct outgoing *o = l->sent; o != NULL; o = o->next) {
        tr->cancel(tr->self, &o->rq);
    }
}

/* Where the copy is, as the state says. What is under way to a node that left ends now. false: no memory. */
bool link_set_peer(struct copy_link *l, const struct node_meta *n)
{
    struct transport_peer to = n != NULL ? (struct transport_peer){n->transport_address, n->ephemeral_id}
                                         : (struct transport_peer){STR_NULL, STR_NULL};
    bool same = (to.address.p == NULL) == (l->peer.address.p == NULL) && str_eq(to.address, l->peer.address)
                && str_eq(to.ephemeral_id, l->peer.ephemeral_id);
    if (same) {
        return true;
    }
    link_cancel(l);
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

/* ---- copies that have failed ------------------------------------------------------------------------ */

static void settle(struct outgoing *o, bool ok, const struct errmsg *error)
{
    if (o->fanout != NULL) {
        fanout_settle(o->fanout, ok, o->counts && !o->absent, error);
    }
    buf_fini(&o->rq.answer_memory);
    free(o);
}

/* What failed at a copy may end: error NULL: the copy does not count any more. */
void link_settle_failed(struct copy_link *l, const struct errmsg *error)
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
    if (sh->replication->leads && !l->ended && tracker_drop(&sh->replication->tracker, l->allocation_id)) {
        primary_moved(sh);
    }
    link_settle_failed(l, NULL);
    primary_check_active(sh);
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
        primary_unknown(sh, &em);
        if (err_code(&l->event_error) == ERR_STALE_TERM && !l->ended) {
            sh->replication->lead.deposed = true;
            requests_unpark(sh);
        }
        link_settle_failed(l, &em);
    }
    links_sweep(sh);
    requests_look_drained(sh);
    shard_unref(sh);
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
void link_ask_master(struct copy_link *l, struct str why)
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
                            .primary_term = sh->replication->tracker.term,
                            .why = why};
    log_info(s->o.log, "data", "shard [%.*s][%u]: copy [%.*s] must leave the in-sync set: %.*s",
             STR_ARG(sh->index->name), sh->number, STR_ARG(l->allocation_id), STR_ARG(why));
    err_clear(&l->event_error);
    l->event_out = true;
    shard_ref(sh);
    s->o.shard_event(s->o.node_self, &e, master_answered, l);
}

void link_failed(struct outgoing *o, const struct errmsg *why)
{
    struct copy_link *l = o->link;
    struct errmsg em;
    o->absent |= l->left || err_code(why) == ERR_NO_SHARD;
    if (l->ended) {
        primary_unknown(l->sh, &em);
        settle(o, false, &em);
        return;
    }
    if (l->gone || o->kind == OUT_REFRESH) { /* which is no write that the copy has missed */
        settle(o, false, NULL);
        return;
    }
    o->next = l->failed;
    l->failed = o;
    link_ask_master(l, str_of(why->frame[0].reason));
}

/* ---- sending ---------------------------------------------------------------------------------------- */

static void next_resync(struct copy_link *l);

static void acknowledged(struct outgoing *o, const struct replication_answer *a)
{
    struct copy_link *l = o->link;
    struct shard *sh = l->sh;
    if (l->ended || l->gone) {
        return;
    }
    l->known_checkpoint = MAX_OF(l->known_checkpoint, o->global);
    l->persisted_checkpoint = MAX_OF(l->persisted_checkpoint, a->global_checkpoint);
    if (sh->replication->leads
        && tracker_advance(&sh->replication->tracker, l->allocation_id, a->local_checkpoint)) {
        primary_moved(sh);
    }
    if (o->kind == OUT_RESYNC && o->last) {
        l->resyncing = false;
        log_info(sh->service->o.log, "data", "shard [%.*s][%u]: copy [%.*s] follows term %llu",
                 STR_ARG(sh->index->name), sh->number, STR_ARG(l->allocation_id),
                 (unsigned long long)sh->replication->tracker.term);
        primary_check_active(sh);
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
        acknowledged(o, &a);
        if (l->ended) { /* the copy has it; whether it lasts, the new primary knows */
            primary_unknown(sh, &em);
        }
        settle(o, true, l->ended ? &em : NULL);
    } else if (o->kind == OUT_CHECKPOINT) {
        l->tell_after_ms = clock_mono_ms(sh->service->o.clock) + TELL_AGAIN_MS;
        settle(o, false, NULL);
    } else {
        link_failed(o, &em);
    }
    links_sweep(sh);
    requests_look_drained(sh);
    shard_unref(sh);
}

struct outgoing *outgoing_new(struct copy_link *l, enum outgoing_kind kind)
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
void link_send(struct outgoing *o, struct replication_msg *m, size_t n, struct str ops)
{
    static const uint16_t kinds[] = {MESSAGE_REPLICATE, MESSAGE_REPLICATE, MESSAGE_RESYNC,
                                     MESSAGE_GLOBAL_CHECKPOINT};
    struct copy_link *l = o->link;
    struct shard *sh = l->sh;
    const struct transport *tr = sh->service->o.transport;
    struct errmsg em;
    m->uuid = sh->index->uuid;
    m->shard = sh->number;
    m->allocation_id = l->allocation_id;
    m->term = sh->replication->tracker.term;
    m->global_checkpoint = o->global = sh->replication->tracker.global_checkpoint;
    m->max_seq_no = engine_max_seq_no(sh->engine);
    m->retain_from = sh->replication->replica.retain_from;
    m->last = o->last;
    if (tr == NULL || l->broken || l->peer.address.p == NULL) {
        o->absent = l->peer.address.p == NULL;
        err_set(&em, ERR_NODE_NOT_CONNECTED,
                l->broken ? "the copy has failed before" : "the copy is on no node");
        link_failed(o, &em);
        return;
    }
    buf_init(&o->rq.payload, NULL, TRANSPORT_DATA_BYTES_MAX);
    replication_msg_begin(m, n, &o->rq.payload);
    buf_str(&o->rq.payload, ops);
    if (o->rq.payload.failed) {
        buf_fini(&o->rq.payload);
        err_no_memory(&em);
        link_failed(o, &em);
        return;
    }
    o->rq.kind = kinds[o->kind];
    o->next = l->sent;
    l->sent = o;
    shard_ref(sh);
    tr->send(tr->self, &l->peer, &o->rq);
}

/* ---- after a promotion ------------------------------------------------------------------------------ */

/* As copies get it: with all that was decided here. */
void replicated_op_encode(const struct engine_op *op, struct buf *out)
{
    struct engine_op o = *op;
    if (o.kind == OP_NOOP) {
        o.version = 0; /* it has none */
    }
    op_encode(&o, out);
}

/* The next part of what lies above the global checkpoint. */
static void next_resync(struct copy_link *l)
{
    struct shard *sh = l->sh;
    struct outgoing *o = outgoing_new(l, OUT_RESYNC);
    if (o == NULL) {
        link_ask_master(l, STR("the primary had no memory for it"));
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
            replicated_op_encode(&op, &ops);
            m.mapping_version = MAX_OF(m.mapping_version, op.mapping_version);
            n++;
        }
    }
    o->last = !more;
    e = e == ERR_OK && ops.failed ? err_no_memory(&em) : e;
    if (e != ERR_OK) {
        if (e == ERR_CORRUPT) {
            shard_doubt_disk(sh, &em);
        }
        link_failed(o, &em);
    } else {
        link_send(o, &m, n, buf_view(&ops));
    }
    if (o->last || e != ERR_OK) {
        engine_history_close(l->history);
        l->history = NULL;
    }
    buf_fini(&ops);
}

void links_resync(struct shard *sh)
{
    for (uint32_t i = 0; i < sh->replication->tracker.n; i++) {
        const struct tracked *c = &sh->replication->tracker.v[i];
        struct copy_link *l = c->in_sync && c->node.p != NULL ? link_find(sh, c->allocation_id) : NULL;
        struct errmsg em;
        if (l == NULL) {
            continue;
        }
        l->resyncing = true;
        if (engine_history_open(&l->history, sh->engine, sh->replication->tracker.global_checkpoint + 1,
                                engine_max_seq_no(sh->engine), &em)
            != ERR_OK) {
            l->history = NULL;
        }
    }
    for (struct copy_link *l = sh->replication->lead.links; l != NULL; l = l->next) {
        if (l->resyncing && !l->ended && !l->gone) {
            next_resync(l);
        }
    }
}
