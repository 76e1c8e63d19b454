/* A copy of a shard as it follows its primary: see follower.h. */
#include "data/replication/follower.h"

#include <assert.h>
#include <string.h>

/* What comes next for a message, after what is due already. */
static void give(struct follower *f, struct follower_message *m, enum follower_effect_kind what,
                 enum follower_state state)
{
    struct follower_message **at = &f->due;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    m->next = NULL;
    m->due = what;
    m->state = state;
    *at = m;
}

static void refuse(struct follower *f, struct follower_message *m, enum follower_refusal why)
{
    m->why = why;
    give(f, m, FOLLOWER_REFUSE, FOLLOWER_ENDED);
}

/* ---- waiting ------------------------------------------------------------------------------------------- */

static void wait_for(struct follower *f, struct follower_message *m, enum follower_state what,
                     const struct follower_view *v)
{
    if (v->leaving) {
        refuse(f, m, FOLLOWER_CLOSING);
        return;
    }
    m->state = what;
    m->next = f->waiting;
    f->waiting = m;
}

static bool may_go_on(const struct follower_message *m, enum follower_state waits_for,
                      const struct follower_view *v)
{
    return m->state == waits_for
           && (waits_for != FOLLOWER_FOR_MAPPING || v->mapping_version >= m->msg->mapping_version);
}

static void resume(struct follower *f, enum follower_state waits_for, const struct follower_view *v)
{
    for (struct follower_message **at = &f->waiting; *at != NULL;) {
        struct follower_message *m = *at;
        if (!may_go_on(m, waits_for, v)) {
            at = &m->next;
            continue;
        }
        *at = m->next;
        give(f, m, waits_for == FOLLOWER_FOR_MAPPING ? FOLLOWER_PARSE : FOLLOWER_RETURN, FOLLOWER_AWAY);
    }
}

static void take_mapping(struct follower *f, UNUSED const struct follower_event *e,
                         const struct follower_view *v)
{
    resume(f, FOLLOWER_FOR_MAPPING, v);
}

static void take_room(struct follower *f, UNUSED const struct follower_event *e,
                      const struct follower_view *v)
{
    resume(f, FOLLOWER_FOR_ROOM, v);
}

static void take_tick(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    resume(f, FOLLOWER_FOR_MAPPING, v);
    resume(f, FOLLOWER_FOR_ROOM, v);
    for (struct follower_message **at = &f->waiting; *at != NULL;) {
        struct follower_message *m = *at;
        if (m->deadline_ms > e->now_ms) {
            at = &m->next;
        } else {
            *at = m->next;
            refuse(f, m, FOLLOWER_NO_MAPPING);
        }
    }
}

static void take_stop(struct follower *f, UNUSED const struct follower_event *e,
                      UNUSED const struct follower_view *v)
{
    while (f->waiting != NULL) {
        struct follower_message *m = f->waiting;
        f->waiting = m->next;
        refuse(f, m, FOLLOWER_STOPPED);
    }
}

static void take_unparsed(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    struct follower_message *m = e->message;
    if (v->mapping_version >= m->msg->mapping_version) { /* it has come meanwhile */
        give(f, m, FOLLOWER_PARSE, FOLLOWER_AWAY);
    } else {
        wait_for(f, m, FOLLOWER_FOR_MAPPING, v);
    }
}

/* ---- whose history this copy has ----------------------------------------------------------------------- */

static void forget_own(struct follower *f)
{
    f->own = NULL;
    f->n_own = 0;
}

/* The first message about a copy in this place: what it has, its primary has, or gives it before it is in sync. */
static void take_copy(struct follower *f, const struct follower_event *e,
                      UNUSED const struct follower_view *v)
{
    if (str_is(e->id, f->id)) {
        return;
    }
    size_t n = MIN_OF(e->id.n, sizeof(f->id) - 1);
    memcpy(f->id, e->id.p != NULL ? e->id.p : "", n);
    f->id[n] = 0;
    f->term = e->term;
    f->resync_term = 0;
    f->diverged = false;
    forget_own(f);
}

static void take_history(struct follower *f, const struct follower_event *e,
                         UNUSED const struct follower_view *v)
{
    f->term = MAX_OF(f->term, e->term);
}

static void diverge(struct follower *f, struct follower_message *m, enum follower_refusal why)
{
    forget_own(f);
    f->diverged = m->diverges = true;
    refuse(f, m, why);
}

/* Does what is here go with what the new primary has? Nothing is forgotten here: a copy with other operations than its
 * primary has to leave the in-sync set first. */
static void compare(struct follower *f, struct follower_message *m)
{
    const struct replication_msg *msg = m->msg;
    for (size_t i = 0; i < msg->n; i++) {
        int64_t at = msg->ops[i].seq_no - f->own_from;
        if (at >= 0 && (uint64_t)at < f->n_own && f->own[at] != 0 && f->own[at] != msg->ops[i].primary_term) {
            m->seq_no = msg->ops[i].seq_no;
            m->here = f->own[at];
            m->there = msg->ops[i].primary_term;
            diverge(f, m, FOLLOWER_OTHER_TERM);
            return;
        }
    }
    m->here = f->own_from + (int64_t)f->n_own - 1;
    m->there = msg->max_seq_no;
    if (m->here > m->there) {
        diverge(f, m, FOLLOWER_HAS_MORE);
    } else {
        give(f, m, FOLLOWER_APPLY, FOLLOWER_APPLYING);
    }
}

/* What an earlier primary sent and has not come yet is refused from now on. */
static void begin_resync(struct follower *f, struct follower_message *m, const struct follower_view *v)
{
    f->resync_term = m->msg->term;
    f->diverged = false;
    forget_own(f);
    /* What either knows to be everywhere is the same in both. */
    f->own_from = MAX_OF(m->msg->global_checkpoint, v->global_checkpoint) + 1;
    if (v->max_seq_no < f->own_from) {
        compare(f, m);
    } else if (v->max_seq_no - f->own_from >= FOLLOWER_OWN_MAX) {
        m->here = v->max_seq_no - f->own_from + 1;
        diverge(f, m, FOLLOWER_HAS_TOO_MANY);
    } else {
        m->here = v->max_seq_no;
        give(f, m, FOLLOWER_READ, FOLLOWER_READING);
    }
}

static void take_own(struct follower *f, const struct follower_event *e, UNUSED const struct follower_view *v)
{
    if (e->error != ERR_OK) {
        diverge(f, e->message, FOLLOWER_FAILED);
        return;
    }
    f->own = e->own;
    f->n_own = e->n;
    compare(f, e->message);
}

/* ---- a message ----------------------------------------------------------------------------------------- */

static bool is_here(const struct follower_message *m, const struct follower_view *v)
{
    return v->copy.p != NULL && str_eq(v->copy, m->msg->allocation_id);
}

/* Is the sender this copy's primary? */
static void take_parsed(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    struct follower_message *m = e->message;
    uint64_t term = m->msg->term, newest = MAX_OF(MAX_OF(f->term, f->resync_term), v->term);
    if (!is_here(m, v)) {
        refuse(f, m, FOLLOWER_NOT_HERE);
    } else if (term < newest || (v->primary && term == newest)) {
        m->there = (int64_t)newest;
        refuse(f, m, FOLLOWER_STALE_TERM);
    } else if (m->resync && !v->leads && f->resync_term != term) {
        begin_resync(f, m, v);
    } else if (m->resync && !v->leads && f->diverged) {
        refuse(f, m, FOLLOWER_DIVERGED);
    } else if (m->resync && !v->leads) {
        compare(f, m);
    } else if (m->resync || (term > f->term && !v->initializing)) {
        refuse(f, m, FOLLOWER_NO_HISTORY); /* a former primary does not know yet that it is none */
    } else {
        f->term = term; /* of one that is initializing: its recovery gives it that primary's history */
        give(f, m, FOLLOWER_APPLY, FOLLOWER_APPLYING);
    }
}

static void take_applied(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    struct follower_message *m = e->message;
    m->at += e->n;
    if (e->error == ERR_REJECTED) { /* too much waits for the disk */
        f->syncs = true;
        wait_for(f, m, FOLLOWER_FOR_ROOM, v);
    } else if (e->error != ERR_OK) {
        refuse(f, m, FOLLOWER_FAILED);
    } else {
        if (m->resync && m->msg->last) {
            f->term = m->msg->term;
            forget_own(f);
        }
        give(f, m, FOLLOWER_KEEP, FOLLOWER_KEEPING);
    }
}

static void goes_on(struct follower *f, const struct follower_event *e, const struct follower_view *v,
                    enum follower_effect_kind what, enum follower_state state)
{
    if (e->error != ERR_OK) {
        refuse(f, e->message, FOLLOWER_FAILED);
    } else if (!is_here(e->message, v)) {
        refuse(f, e->message, FOLLOWER_NOT_HERE);
    } else {
        give(f, e->message, what, state);
    }
}

static void take_kept(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    goes_on(f, e, v, FOLLOWER_SHOW, FOLLOWER_SHOWING);
}

static void take_shown(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    goes_on(f, e, v, FOLLOWER_REPLY, FOLLOWER_ENDED);
}

static void take_lost(struct follower *f, const struct follower_event *e,
                      UNUSED const struct follower_view *v)
{
    refuse(f, e->message, FOLLOWER_NOT_HERE);
}

/* ---- events and effects -------------------------------------------------------------------------------- */

/* What an event does, and what its message is in when it comes. */
static const struct follower_row {
    void (*take)(struct follower *f, const struct follower_event *e, const struct follower_view *v);
    enum follower_state of;
} rows[] = {
    [FOLLOWER_COPY] = {take_copy, FOLLOWER_AWAY},
    [FOLLOWER_HISTORY] = {take_history, FOLLOWER_AWAY},
    [FOLLOWER_UNPARSED] = {take_unparsed, FOLLOWER_AWAY},
    [FOLLOWER_PARSED] = {take_parsed, FOLLOWER_AWAY},
    [FOLLOWER_OWN] = {take_own, FOLLOWER_READING},
    [FOLLOWER_APPLIED] = {take_applied, FOLLOWER_APPLYING},
    [FOLLOWER_KEPT] = {take_kept, FOLLOWER_KEEPING},
    [FOLLOWER_SHOWN] = {take_shown, FOLLOWER_SHOWING},
    [FOLLOWER_LOST] = {take_lost, FOLLOWER_AWAY},
    [FOLLOWER_MAPPING] = {take_mapping, FOLLOWER_AWAY},
    [FOLLOWER_ROOM] = {take_room, FOLLOWER_AWAY},
    [FOLLOWER_TICK] = {take_tick, FOLLOWER_AWAY},
    [FOLLOWER_STOP] = {take_stop, FOLLOWER_AWAY},
};

void follower_step(struct follower *f, const struct follower_event *e, const struct follower_view *v)
{
    assert(e->message == NULL || e->kind == FOLLOWER_LOST
           || (e->message->state == rows[e->kind].of && e->message->due == FOLLOWER_NOTHING));
    rows[e->kind].take(f, e, v);
}

bool follower_effect(struct follower *f, struct follower_effect *out)
{
    struct follower_message *m = f->due;
    *out = (struct follower_effect){.kind = FOLLOWER_SYNC};
    if (m == NULL) {
        bool syncs = f->syncs;
        f->syncs = false;
        return syncs;
    }
    f->due = m->next;
    m->next = NULL;
    out->kind = m->due;
    out->message = m;
    if (m->due == FOLLOWER_READ) {
        out->from = f->own_from;
        out->to = m->here;
    }
    m->due = FOLLOWER_NOTHING;
    return true;
}
