/* The copies of a shard as their primary sees them: see group.h. */
#include "data/replication/group.h"

#include "engine/index/engine.h"

#include <stdio.h>

/* ---- requests ------------------------------------------------------------------------------------------ */

bool group_settled(const struct group *g, const struct group_request *r)
{
    return r->outcome != GROUP_FINE
           || (r->pending == 0 && (!g->leads || g->tracker.global_checkpoint >= r->needs));
}

static void unlist(struct group *g, struct group_request *r)
{
    *(r->prev != NULL ? &r->prev->next : &g->waiting) = r->next;
    if (r->next != NULL) {
        r->next->prev = r->prev;
    }
    r->next = r->prev = NULL;
    r->waits = false;
}

static void wake(struct group *g, struct group_request *r, enum group_outcome outcome)
{
    unlist(g, r);
    r->outcome = outcome;
    struct group_request **at = &g->woken; /* in the order in which it came about */
    while (*at != NULL) {
        at = &(*at)->next;
    }
    *at = r;
}

static void look(struct group *g, struct group_request *r)
{
    if (r->waits && group_settled(g, r)) {
        wake(g, r, r->outcome);
    }
}

static void free_if_over(struct group *g, struct group_request *r)
{
    if (r->dropped && r->pending == 0) {
        r->next = g->done;
        g->done = r;
    }
}

void group_wait(struct group *g, struct group_request *r, int64_t deadline_ms)
{
    r->deadline_ms = deadline_ms;
    r->waits = true;
    r->prev = NULL;
    r->next = g->waiting;
    if (r->next != NULL) {
        r->next->prev = r;
    }
    g->waiting = r;
}

void group_abandon(struct group *g, struct group_request *r)
{
    if (r->waits) {
        unlist(g, r);
    }
    r->dropped = true;
    free_if_over(g, r);
}

bool group_concerns(const struct group *g, const struct tracked *c, enum group_message_kind kind)
{
    bool lost = c->in_sync && c->node.p == NULL && !str_eq(c->allocation_id, g->tracker.own);
    return tracker_sends_to(&g->tracker, c) || (lost && kind == GROUP_WRITE);
}

/* ---- may it begin? ------------------------------------------------------------------------------------- */

enum group_admission group_enter(struct group *g, struct group_parked *p, int64_t deadline_ms)
{
    if (!g->leads || g->deposed) {
        return GROUP_REFUSED;
    }
    if (!g->active || g->handing_over) {
        *p = (struct group_parked){.next = g->parked, .deadline_ms = deadline_ms};
        g->parked = p;
        return GROUP_PARKED;
    }
    g->requests++;
    return GROUP_ADMITTED;
}

void group_leave(struct group *g)
{
    g->requests--;
}

void group_drain(struct group *g)
{
    g->handing_over = g->quiet_wanted = true;
}

void group_undrain(struct group *g)
{
    g->handing_over = g->quiet_wanted = false;
    g->admits = true;
}

/* No request is under way, and what they sent has come to an end: a request that gave up waiting leaves messages. */
bool group_is_quiet(const struct group *g)
{
    bool quiet = g->requests == 0;
    for (const struct group_copy *c = g->copies; quiet && c != NULL; c = c->next) {
        quiet = c->sent == NULL && c->failed == NULL && (!c->broken || c->gone || c->ended);
    }
    return quiet;
}

bool group_still_quiet(struct group *g)
{
    bool quiet = group_is_quiet(g);
    g->quiet_wanted |= !quiet && g->handing_over;
    return quiet;
}

static void unpark(struct group *g, struct group_parked *p)
{
    struct group_parked **at = &g->unparked;
    while (*at != NULL) {
        at = &(*at)->next;
    }
    p->next = NULL;
    *at = p;
}

/* All of them, the oldest first. */
static void unpark_all(struct group *g)
{
    while (g->parked != NULL) {
        struct group_parked *p = g->parked;
        g->parked = p->next;
        p->next = g->unparked;
        g->unparked = p;
    }
}

static void expire_parked(struct group *g, int64_t now_ms)
{
    for (struct group_parked **at = &g->parked; *at != NULL;) {
        struct group_parked *p = *at;
        if (p->deadline_ms == 0 || p->deadline_ms > now_ms) {
            at = &p->next;
            continue;
        }
        *at = p->next;
        p->timed_out = true;
        unpark(g, p);
    }
}

void group_check_active(struct group *g)
{
    if (!g->leads || g->active) {
        return;
    }
    for (const struct group_copy *c = g->copies; c != NULL; c = c->next) {
        if (c->resyncing && !c->gone && !c->ended) {
            return;
        }
    }
    g->active = g->admits = true;
}

/* ---- messages ------------------------------------------------------------------------------------------ */

static void end_message(struct group *g, struct group_message *m, bool ok, enum group_outcome outcome)
{
    struct group_request *r = m->request;
    if (r != NULL) {
        r->pending--;
        r->ok += ok && m->counts && !m->absent ? 1 : 0;
        r->failed += !ok && m->counts && !m->absent ? 1 : 0;
        group_spoil(r, outcome);
        look(g, r);
        free_if_over(g, r);
    }
    m->request = NULL;
    m->next = g->over;
    g->over = m;
}

/* What failed at a copy may end: GROUP_FINE: the copy does not count any more. */
static void end_failed(struct group *g, struct group_copy *c, enum group_outcome outcome)
{
    struct group_message *list = c->failed;
    c->failed = NULL;
    while (list != NULL) {
        struct group_message *m = list;
        list = m->next;
        end_message(g, m, false, outcome);
    }
}

void group_report(struct group_copy *c, const char *why)
{
    c->broken = true;
    if (!c->reporting && !c->gone && !c->ended) {
        c->reporting = c->reports = true;
        snprintf(c->why, sizeof(c->why), "%s", why);
    }
}

static void take_failure(struct group *g, struct group_message *m, const char *why, bool absent)
{
    struct group_copy *c = m->copy;
    m->absent |= absent || c->left;
    if (c->ended) {
        end_message(g, m, false, GROUP_UNKNOWN);
    } else if (c->gone || m->kind == GROUP_REFRESH) { /* which is no write that the copy has missed */
        end_message(g, m, false, GROUP_FINE);
    } else {
        m->next = c->failed;
        c->failed = m;
        group_report(c, why);
    }
}

bool group_send(struct group *g, struct group_copy *c, struct group_message *m)
{
    m->copy = c;
    m->global = g->tracker.global_checkpoint;
    if (m->request != NULL) {
        m->counts = m->request->sends == 0;
        m->request->pending++;
    }
    if (c->broken || !c->placed) {
        take_failure(g, m, c->broken ? "the copy has failed before" : "the copy is on no node", !c->placed);
        return false;
    }
    m->next = c->sent;
    c->sent = m;
    return true;
}

static void unlink_sent(struct group_message *m)
{
    struct group_message **at = &m->copy->sent;
    while (*at != m) {
        at = &(*at)->next;
    }
    *at = m->next;
}

void group_failed(struct group *g, struct group_message *m, const char *why, bool absent, int64_t now_ms)
{
    unlink_sent(m);
    if (m->kind == GROUP_CHECKPOINT) {
        m->copy->tell_after_ms = now_ms + GROUP_TELL_AGAIN_MS;
        end_message(g, m, false, GROUP_FINE);
    } else {
        take_failure(g, m, why, absent);
    }
}

void group_checkpoint_moved(struct group *g)
{
    g->moved = true;
    for (struct group_request *r = g->waiting, *next; r != NULL; r = next) {
        next = r->next;
        if (r->needs != SEQ_NONE) {
            look(g, r);
        }
    }
}

void group_answered(struct group *g, struct group_message *m, int64_t local_checkpoint,
                    int64_t global_checkpoint, int64_t max_seq_no)
{
    struct group_copy *c = m->copy;
    bool ours = !c->ended && !c->gone;
    unlink_sent(m);
    if (ours && g->leads && !tracker_believes(&g->tracker, c->allocation_id, local_checkpoint, max_seq_no)) {
        group_report(c, "it has not what all copies have, or more than its primary");
        take_failure(g, m, c->why, false);
        return;
    }
    if (ours) {
        c->known_checkpoint = MAX_OF(c->known_checkpoint, m->global);
        c->persisted_checkpoint = MAX_OF(c->persisted_checkpoint, global_checkpoint);
        if (g->leads && tracker_advance(&g->tracker, c->allocation_id, local_checkpoint)) {
            group_checkpoint_moved(g);
        }
        c->resyncs |= m->kind == GROUP_RESYNC && !m->last;
        c->resyncing &= m->kind != GROUP_RESYNC || !m->last;
        group_check_active(g);
    }
    /* The copy has it; whether it lasts, the new primary knows. */
    end_message(g, m, true, c->ended ? GROUP_UNKNOWN : GROUP_FINE);
}

void group_missed(struct group_copy *c, struct group_request *r, const char *why)
{
    group_spoil(r, GROUP_NO_MEMORY);
    group_report(c, why);
}

void group_sent(struct group_request *r)
{
    r->sends++;
}

void group_spoil(struct group_request *r, enum group_outcome outcome)
{
    r->outcome = r->outcome == GROUP_FINE ? outcome : r->outcome;
}

void group_reported(struct group *g, struct group_copy *c, bool out, bool deposed)
{
    c->reporting = false;
    if (!out) {
        if (deposed && !c->ended) {
            g->deposed = g->admits = true;
        }
        end_failed(g, c, GROUP_UNKNOWN);
        return;
    }
    c->gone = true;
    c->resyncing = false;
    if (g->leads && !c->ended && tracker_remove(&g->tracker, c->allocation_id)) {
        group_checkpoint_moved(g);
    }
    end_failed(g, c, GROUP_FINE);
    group_check_active(g);
}

/* ---- leading ------------------------------------------------------------------------------------------- */

struct group_copy *group_find(const struct group *g, struct str allocation_id)
{
    for (struct group_copy *c = g->copies; c != NULL; c = c->next) {
        if (!c->gone && !c->ended && str_eq(c->allocation_id, allocation_id)) {
            return c;
        }
    }
    return NULL;
}

void group_add(struct group *g, struct group_copy *c)
{
    c->known_checkpoint = SEQ_NONE;
    c->persisted_checkpoint = g->tracker.global_checkpoint;
    c->next = g->copies;
    g->copies = c;
}

void group_place(struct group_copy *c, bool placed)
{
    c->placed = placed;
}

void group_forget_gone(struct group *g, int64_t now_ms)
{
    for (struct group_copy *c = g->copies; c != NULL; c = c->next) {
        if (c->ended || c->gone || tracker_find(&g->tracker, c->allocation_id) != NULL) {
            continue;
        }
        int64_t lacks = c->persisted_checkpoint + 1; /* it may come back, and ask for what it missed */
        g->lease_from = g->lease_from == SEQ_UNASSIGNED ? lacks : MIN_OF(g->lease_from, lacks);
        g->lease_ms = now_ms;
        c->gone = c->left = c->cancels = true;
        c->resyncing = false;
        end_failed(g, c, GROUP_FINE);
    }
}

void group_end_lease(struct group *g)
{
    g->lease_from = SEQ_UNASSIGNED;
}

void group_begin(struct group *g)
{
    g->leads = true;
    g->active = g->deposed = false;
    g->lease_from = SEQ_UNASSIGNED;
}

void group_serve(struct group *g, bool promoted)
{
    for (uint32_t i = 0; promoted && i < g->tracker.n; i++) {
        const struct tracked *t = &g->tracker.v[i];
        struct group_copy *c = t->in_sync && t->node.p != NULL ? group_find(g, t->allocation_id) : NULL;
        if (c != NULL) {
            c->resyncing = c->resyncs = true;
        }
    }
    group_checkpoint_moved(g); /* alone, what is on disk is everywhere */
    group_check_active(g);
}

void group_stop(struct group *g)
{
    g->leads = g->active = g->deposed = false;
    for (struct group_copy *c = g->copies; c != NULL; c = c->next) {
        c->ended = c->cancels = true;
        end_failed(g, c, GROUP_UNKNOWN);
    }
    for (struct group_request *r = g->waiting, *next; r != NULL; r = next) {
        next = r->next;
        if (r->pending == 0) { /* waits for a checkpoint that nobody moves any more */
            wake(g, r, GROUP_UNKNOWN);
        }
    }
    g->moved = false;
    g->admits = true;
}

/* The next write would have it marked stale; what waits for the checkpoint already may be what no write can begin before: the
 * end of a primary that moves. */
void group_report_lost(struct group *g)
{
    bool held = false;
    for (const struct group_request *r = g->waiting; r != NULL; r = r->next) {
        held |= r->needs > g->tracker.global_checkpoint;
    }
    for (uint32_t i = 0; held && i < g->tracker.n; i++) {
        const struct tracked *t = &g->tracker.v[i];
        bool lost = t->in_sync && t->node.p == NULL && !str_eq(t->allocation_id, g->tracker.own);
        struct group_copy *c = lost ? group_find(g, t->allocation_id) : NULL;
        if (c != NULL) {
            group_report(c, "it is on no node, and a request waits for it");
        }
    }
}

/* ---- now and then -------------------------------------------------------------------------------------- */

/* A copy that does not know the global checkpoint; or, now and then, one whose answer came before all was on its
 * disk (asynchronous durability, another primary before this one). */
static bool worth_telling(struct group *g, const struct group_copy *c, int64_t now_ms, int64_t max_seq_no)
{
    if (c->gone || c->ended || c->broken || c->sent != NULL || c->resyncing || !c->placed
        || now_ms < c->tell_after_ms) {
        return false;
    }
    const struct tracked *t = tracker_find(&g->tracker, c->allocation_id);
    return t != NULL && tracker_sends_to(&g->tracker, t)
           && (c->known_checkpoint < g->tracker.global_checkpoint || t->local_checkpoint < max_seq_no);
}

void group_expire(struct group *g, int64_t now_ms)
{
    for (struct group_request *r = g->waiting, *next; r != NULL; r = next) {
        next = r->next;
        if (r->deadline_ms != 0 && r->deadline_ms <= now_ms) {
            wake(g, r, GROUP_TIMED_OUT);
        }
    }
    expire_parked(g, now_ms);
}

void group_tick(struct group *g, int64_t now_ms, int64_t max_seq_no)
{
    for (struct group_copy *c = g->leads ? g->copies : NULL; c != NULL; c = c->next) {
        if (worth_telling(g, c, now_ms, max_seq_no)) {
            bool news = c->known_checkpoint < g->tracker.global_checkpoint;
            c->tell_after_ms = now_ms + (news ? 0 : GROUP_TELL_AGAIN_MS);
            c->tells = true;
        }
        if (c->broken && !c->reporting && !c->gone && !c->ended && !g->deposed) {
            group_report(c, "it has missed a write"); /* nobody waits for it; the checkpoint does */
        }
    }
}

int64_t group_retain_from(const struct group *g, int64_t from, int64_t now_ms)
{
    if (g->lease_from != SEQ_UNASSIGNED && now_ms - g->lease_ms < GROUP_LEASE_MS) {
        from = MIN_OF(from, g->lease_from);
    }
    for (const struct group_copy *c = g->copies; c != NULL; c = c->next) {
        if (!c->gone && !c->ended) {
            from = MIN_OF(from, c->persisted_checkpoint + 1);
        }
    }
    return from;
}

/* ---- effects ------------------------------------------------------------------------------------------- */

static bool take_flag(bool *flag)
{
    bool was = *flag;
    *flag = false;
    return was;
}

static bool effect_of_copy(struct group_copy *c, struct group_effect *out)
{
    bool ours = !c->gone && !c->ended;
    out->copy = c;
    if (take_flag(&c->cancels) && c->sent != NULL) {
        out->kind = GROUP_CANCEL;
        return true;
    }
    if (take_flag(&c->reports)) {
        out->kind = GROUP_REPORT;
        c->reporting = ours;
        if (ours) {
            return true;
        }
    }
    if (take_flag(&c->resyncs) && ours) {
        out->kind = GROUP_SEND_RESYNC;
        return true;
    }
    if (take_flag(&c->tells) && ours) {
        out->kind = GROUP_SEND_CHECKPOINT;
        return true;
    }
    return false;
}

/* Gone, with nothing out. */
static bool take_over(struct group *g, struct group_effect *out)
{
    for (struct group_copy **at = &g->copies; *at != NULL; at = &(*at)->next) {
        struct group_copy *c = *at;
        if ((c->gone || c->ended) && c->sent == NULL && c->failed == NULL && !c->reporting) {
            *at = c->next;
            *out = (struct group_effect){.kind = GROUP_COPY_OVER, .copy = c};
            return true;
        }
    }
    return false;
}

static bool effect_of_request(struct group *g, struct group_effect *out)
{
    struct group_request *r = g->woken;
    if (r != NULL) {
        g->woken = r->next;
        r->next = NULL;
        *out = (struct group_effect){.kind = GROUP_WAKE, .request = r, .outcome = r->outcome};
        return true;
    }
    r = g->done;
    if (r != NULL) {
        g->done = r->next;
        *out = (struct group_effect){.kind = GROUP_REQUEST_OVER, .request = r};
    }
    return r != NULL;
}

bool group_effect(struct group *g, struct group_effect *out)
{
    *out = (struct group_effect){.kind = GROUP_MOVED};
    if (take_flag(&g->moved)) {
        return true;
    }
    struct group_message *m = g->over;
    if (m != NULL) {
        g->over = m->next;
        *out = (struct group_effect){.kind = GROUP_MESSAGE_OVER, .message = m};
        return true;
    }
    if (effect_of_request(g, out)) {
        return true;
    }
    for (struct group_copy *c = g->copies; c != NULL; c = c->next) {
        if (effect_of_copy(c, out)) {
            return true;
        }
    }
    if (take_over(g, out)) {
        return true;
    }
    if (g->unparked == NULL && take_flag(&g->admits)) {
        unpark_all(g);
    }
    if (g->unparked != NULL) {
        struct group_parked *p = g->unparked;
        g->unparked = p->next;
        *out = (struct group_effect){
            .kind = GROUP_UNPARK, .parked = p, .outcome = p->timed_out ? GROUP_TIMED_OUT : GROUP_FINE};
        return true;
    }
    if (g->quiet_wanted && group_is_quiet(g)) {
        g->quiet_wanted = false;
        out->kind = GROUP_QUIET;
        return true;
    }
    return false;
}
