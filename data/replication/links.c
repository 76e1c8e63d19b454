/* The links of a primary to the other copies: what its core wants done for them, and what comes of it. */
#include "data/replication/replication_int.h"

#include <stdlib.h>

#define RESYNC_BYTES (4 * MIB) /* of a message of what is re-sent */

static void free_link(struct copy_link *l)
{
    engine_history_close(l->history);
    arena_fini(&l->arena);
    arena_fini(&l->peer_arena);
    free(l);
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
    l->c.allocation_id = arena_str(&l->arena, allocation_id);
    if (l->c.allocation_id.p == NULL) {
        free_link(l);
        return NULL;
    }
    group_add(&sh->replication->group, &l->c);
    return l;
}

static void cancel(struct copy_link *l)
{
    const struct transport *tr = l->sh->service->o.transport;
    for (struct group_message *m = l->c.sent; m != NULL; m = m->next) {
        tr->cancel(tr->self, &CONTAINER_OF(m, struct outgoing, m)->call.t);
    }
}

bool link_set_peer(struct copy_link *l, const struct node_meta *n)
{
    struct transport_peer to = n != NULL ? (struct transport_peer){n->transport_address, n->ephemeral_id}
                                         : (struct transport_peer){STR_NULL, STR_NULL};
    bool same = (to.address.p == NULL) == (l->peer.address.p == NULL) && str_eq(to.address, l->peer.address)
                && str_eq(to.ephemeral_id, l->peer.ephemeral_id);
    if (same) {
        return true;
    }
    cancel(l); /* what is under way to where it was ends now */
    arena_reset(&l->peer_arena);
    l->peer = (struct transport_peer){STR_NULL, STR_NULL};
    group_place(&l->c, false);
    if (to.address.p != NULL) {
        struct transport_peer mine = {arena_str(&l->peer_arena, to.address),
                                      arena_str(&l->peer_arena, to.ephemeral_id)};
        if (mine.address.p == NULL || mine.ephemeral_id.p == NULL) {
            return false;
        }
        l->peer = mine;
        group_place(&l->c, l->sh->service->o.transport != NULL);
    }
    return true;
}

/* ---- copies that have failed ------------------------------------------------------------------------ */

static void master_has_answered(void *arg)
{
    struct copy_link *l = arg;
    struct shard *sh = l->sh;
    group_reported(&sh->replication->group, &l->c, l->event_result == ERR_OK,
                   l->event_result == ERR_STALE_TERM);
    group_perform(sh);
    shard_unref(sh);
}

static void master_answered(void *arg, const struct errmsg *error)
{
    struct copy_link *l = arg;
    l->event_result = error != NULL ? err_code(error) : ERR_OK;
    shard_post_back(l->sh, master_has_answered, l);
}

/* The copy has missed something: it must be out of the in-sync set before what it missed is acknowledged. */
static void report(struct copy_link *l)
{
    struct shard *sh = l->sh;
    struct data_service *s = sh->service;
    struct shard_event e = {.kind = SHARD_EVENT_STALE,
                            .index_uuid = sh->index->uuid,
                            .shard = sh->number,
                            .allocation_id = l->c.allocation_id,
                            .primary_term = sh->replication->group.tracker.term,
                            .why = str_of(l->c.why)};
    log_info(s->o.log, "data", "shard [%.*s][%u]: copy [%.*s] must leave the in-sync set: %s",
             STR_ARG(sh->index->name), sh->number, STR_ARG(l->c.allocation_id), l->c.why);
    shard_ref(sh);
    if (!s->o.shard_event(s->o.node_self, &e, master_answered, l)) {
        ERR_LOCAL(em);
        err_no_memory(&em);
        master_answered(l, &em);
    }
}

/* ---- sending ---------------------------------------------------------------------------------------- */

static void log_follows(const struct copy_link *l)
{
    const struct shard *sh = l->sh;
    log_info(sh->service->o.log, "data", "shard [%.*s][%u]: copy [%.*s] follows term %llu",
             STR_ARG(sh->index->name), sh->number, STR_ARG(l->c.allocation_id),
             (unsigned long long)sh->replication->group.tracker.term);
}

/* On the strand. */
static void answered(struct remote_call *call)
{
    struct outgoing *o = CONTAINER_OF(call, struct outgoing, call);
    struct copy_link *l = CONTAINER_OF(o->m.copy, struct copy_link, c);
    struct shard *sh = l->sh;
    struct group *g = &sh->replication->group;
    const struct replication_answer *a = &o->answer;
    if (!err_is(&call->error)) {
        if (o->m.kind == GROUP_RESYNC && o->m.last && !l->c.ended && !l->c.gone) {
            log_follows(l);
        }
        group_answered(g, &o->m, a->local_checkpoint, a->global_checkpoint,
                       sh->engine != NULL ? engine_max_seq_no(sh->engine) : a->local_checkpoint);
    } else {
        group_failed(g, &o->m, err_reason(&call->error), err_code(&call->error) == ERR_NO_SHARD,
                     clock_mono_ms(sh->service->o.clock));
    }
    group_perform(sh);
    shard_unref(sh);
}

struct outgoing *outgoing_new(struct copy_link *l, enum group_message_kind kind)
{
    struct outgoing *o = calloc(1, sizeof(*o));
    if (o != NULL) {
        o->m.kind = kind;
        o->call.on = strand_executor(l->sh->strand);
        o->call.done = answered;
        o->call.answer = &o->answer;
    }
    return o;
}

void link_send(struct outgoing *o, struct replication_msg *m, size_t n, const struct buf *ops)
{
    static const struct message *const messages[] = {[GROUP_WRITE] = &message_replicate,
                                                     [GROUP_REFRESH] = &message_replicate,
                                                     [GROUP_RESYNC] = &message_resync,
                                                     [GROUP_CHECKPOINT] = &message_global_checkpoint};
    struct copy_link *l = CONTAINER_OF(o->m.copy, struct copy_link, c);
    struct shard *sh = l->sh;
    struct group *g = &sh->replication->group;
    if (ops != NULL && ops->failed) {
        group_failed(g, &o->m, "the primary had no memory for it", false,
                     clock_mono_ms(sh->service->o.clock));
        return;
    }
    m->uuid = sh->index->uuid;
    m->shard = sh->number;
    m->allocation_id = l->c.allocation_id;
    m->term = g->tracker.term;
    m->global_checkpoint = o->m.global;
    m->max_seq_no = engine_max_seq_no(sh->engine);
    m->retain_from = sh->replication->retain_from;
    m->last = o->m.last;
    m->n = n;
    m->bytes = ops != NULL ? buf_view(ops) : STR_NULL;
    shard_ref(sh);
    remote_ask(sh->service->o.transport, &l->peer, messages[o->m.kind], m, &o->call);
}

static void send_checkpoint(struct copy_link *l)
{
    struct outgoing *o = outgoing_new(l, GROUP_CHECKPOINT);
    if (o != NULL) {
        struct replication_msg m = {0};
        if (group_send(&l->sh->replication->group, &l->c, &o->m)) {
            link_send(o, &m, 0, NULL);
        }
        shard_start_sync(l->sh); /* this copy's disk gets it, too */
    }
}

/* ---- after a promotion ------------------------------------------------------------------------------ */

static enum err read_part(struct copy_link *l, struct replication_msg *m, struct buf *ops, size_t *n,
                          bool *more, struct errmsg *em)
{
    struct shard *sh = l->sh;
    enum err e = ERR_OK;
    if (l->history == NULL) {
        e = engine_history_open(&l->history, sh->engine, sh->replication->group.tracker.global_checkpoint + 1,
                                engine_max_seq_no(sh->engine), em);
    }
    while (e == ERR_OK && *more && ops->n < RESYNC_BYTES) {
        struct engine_op op;
        e = engine_history_next(l->history, &op, more, em);
        if (e == ERR_OK && *more) {
            replicated_op_encode(&op, ops);
            m->mapping_version = MAX_OF(m->mapping_version, op.mapping_version);
            ++*n;
        }
    }
    return e == ERR_OK && ops->failed ? err_no_memory(em) : e;
}

/* The next part of what lies above the global checkpoint. */
static void send_resync(struct copy_link *l)
{
    struct shard *sh = l->sh;
    struct replication_msg m = {0};
    struct buf ops;
    ERR_LOCAL(em);
    size_t n = 0;
    bool more = true;
    if (sh->engine == NULL) {
        return; /* it is about to end */
    }
    buf_init(&ops, NULL, BUF_UNLIMITED);
    enum err e = read_part(l, &m, &ops, &n, &more, &em);
    struct outgoing *o = e == ERR_OK ? outgoing_new(l, GROUP_RESYNC) : NULL;
    if (e == ERR_CORRUPT) {
        shard_doubt_disk(sh, &em);
    }
    if (o == NULL) {
        group_report(&l->c, e != ERR_OK ? err_reason(&em) : "the primary had no memory for it");
    } else {
        o->m.last = !more;
        if (group_send(&sh->replication->group, &l->c, &o->m)) {
            link_send(o, &m, n, &ops);
        }
    }
    if (!more || o == NULL) {
        engine_history_close(l->history);
        l->history = NULL;
    }
    buf_fini(&ops);
}

/* As copies get it: with all that was decided here. */
void replicated_op_encode(const struct engine_op *op, struct buf *out)
{
    struct engine_op o = *op;
    if (o.kind == OP_NOOP) {
        o.version = 0; /* it has none */
    }
    op_encode(&o, out);
}

/* ---- what the core wants ---------------------------------------------------------------------------- */

static void perform(struct shard *sh, const struct group_effect *e)
{
    struct group *g = &sh->replication->group;
    struct copy_link *l = e->copy != NULL ? CONTAINER_OF(e->copy, struct copy_link, c) : NULL;
    struct outgoing *o = e->message != NULL ? CONTAINER_OF(e->message, struct outgoing, m) : NULL;
    struct fanout *f = e->request != NULL ? CONTAINER_OF(e->request, struct fanout, r) : NULL;
    switch (e->kind) {
    case GROUP_MOVED:
        if (sh->engine != NULL) {
            engine_set_global_checkpoint(sh->engine, g->tracker.global_checkpoint);
        }
        break;
    case GROUP_MESSAGE_OVER:
        remote_call_fini(&o->call);
        free(o);
        break;
    case GROUP_WAKE:
        fanout_woken(f, e->outcome);
        break;
    case GROUP_REQUEST_OVER:
        buf_fini(&f->ops);
        free(f);
        break;
    case GROUP_CANCEL:
        cancel(l);
        break;
    case GROUP_REPORT:
        report(l);
        break;
    case GROUP_SEND_RESYNC:
        send_resync(l);
        break;
    case GROUP_SEND_CHECKPOINT:
        send_checkpoint(l);
        break;
    case GROUP_UNPARK:
        request_unparked(sh, CONTAINER_OF(e->parked, struct parked_request, p), e->outcome);
        break;
    case GROUP_QUIET:
        requests_quiet(sh);
        break;
    case GROUP_COPY_OVER:
        free_link(l);
        break;
    }
}

void group_perform(struct shard *sh)
{
    struct group_effect e;
    if (sh->replication->performing) {
        return; /* who is at it goes on */
    }
    sh->replication->performing = true;
    while (group_effect(&sh->replication->group, &e)) {
        perform(sh, &e);
    }
    sh->replication->performing = false;
}
