/* The core's entrances: each step goes to the part that it concerns; effects queue up. */
#include "master/quorum_int.h"

#include "common/settings/setting_read.h"

#include <assert.h>
#include <stdlib.h>

/* Leader and followers check each other in the same way: what is set for either of them. */
static int64_t of_one_side(const struct settings *s, enum setting_id leader, enum setting_id follower,
                           int64_t (*read)(const struct settings *, enum setting_id))
{
    return read(s, setting_find(s, leader) != NULL ? leader : follower);
}

void quorum_settings_init(struct quorum_settings *out, const struct settings *s)
{
    *out = (struct quorum_settings){
        .election_initial_ms = setting_ms(s, SET_CLUSTER_ELECTION_INITIAL_TIMEOUT),
        .election_backoff_ms = setting_ms(s, SET_CLUSTER_ELECTION_BACK_OFF_TIME),
        .election_max_ms = setting_ms(s, SET_CLUSTER_ELECTION_MAX_TIMEOUT),
        .election_duration_ms = setting_ms(s, SET_CLUSTER_ELECTION_DURATION),
        .check_interval_ms = of_one_side(s, SET_CLUSTER_FAULT_DETECTION_LEADER_CHECK_INTERVAL,
                                         SET_CLUSTER_FAULT_DETECTION_FOLLOWER_CHECK_INTERVAL, setting_ms),
        .check_timeout_ms = of_one_side(s, SET_CLUSTER_FAULT_DETECTION_LEADER_CHECK_TIMEOUT,
                                        SET_CLUSTER_FAULT_DETECTION_FOLLOWER_CHECK_TIMEOUT, setting_ms),
        .check_retries =
            (uint32_t)of_one_side(s, SET_CLUSTER_FAULT_DETECTION_LEADER_CHECK_RETRY_COUNT,
                                  SET_CLUSTER_FAULT_DETECTION_FOLLOWER_CHECK_RETRY_COUNT, setting_i64),
        .publish_timeout_ms = setting_ms(s, SET_CLUSTER_PUBLISH_TIMEOUT),
        .lag_timeout_ms = setting_ms(s, SET_CLUSTER_FOLLOWER_LAG_TIMEOUT),
        .find_interval_ms = setting_ms(s, SET_DISCOVERY_FIND_PEERS_INTERVAL),
        .request_timeout_ms = setting_ms(s, SET_DISCOVERY_REQUEST_PEERS_TIMEOUT),
        .join_timeout_ms = setting_ms(s, SET_CLUSTER_JOIN_TIMEOUT)};
}

void id_copy(char out[32], struct str id)
{
    size_t n = MIN_OF(id.n, (size_t)31);
    memcpy(out, id.p != NULL ? id.p : "", n);
    out[n] = 0;
}

/* ---- effects ---- */

struct quorum_effect *quorum_emit(struct quorum *q, enum quorum_effect_kind kind)
{
    if (q->first_effect == q->n_effects) {
        q->first_effect = q->n_effects = 0;
    }
    if (q->n_effects == q->effects_cap) {
        size_t cap = q->effects_cap == 0 ? 32 : q->effects_cap * 2;
        struct quorum_effect *v = realloc(q->effects, cap * sizeof(*v));
        if (v == NULL) {
            q->starved = true;
            return NULL;
        }
        q->effects = v;
        q->effects_cap = cap;
    }
    struct quorum_effect *e = &q->effects[q->n_effects++];
    memset(e, 0, sizeof(*e));
    e->kind = kind;
    arena_init(&e->arena, NULL, ARENA_UNLIMITED);
    return e;
}

void quorum_effect_error(struct quorum_effect *e, const struct errmsg *em)
{
    struct errmsg kept = err_in(&e->arena);
    err_copy(&kept, em);
    kept.arena = NULL; /* the effect moves: nothing is put there later */
    err_copy(&e->error, &kept);
}

bool quorum_effect(struct quorum *q, struct quorum_effect *out)
{
    if (q->first_effect == q->n_effects) {
        return false;
    }
    *out = q->effects[q->first_effect++];
    return true;
}

void quorum_effect_fini(struct quorum_effect *e)
{
    cluster_state_unref(e->state);
    cluster_state_unref(e->base);
    arena_fini(&e->arena);
}

struct str quorum_cluster_uuid(const struct quorum *q)
{
    const struct cluster_state *s = q->safety.accepted;
    bool settled = s->coordination != NULL && s->coordination->uuid_committed;
    return settled && s->cluster_uuid.p != NULL ? s->cluster_uuid : STR("");
}

/* The sender, as every message has it. Strings of the core outlive no effect, so they are copied. */
static void fill_message(struct quorum *q, struct quorum_effect *e, enum message_kind kind)
{
    struct quorum_message *m = &e->message;
    m->kind = kind;
    if (!node_meta_copy(&m->from, &q->local, &e->arena)) {
        q->starved = true;
    }
    m->cluster_name = arena_str(&e->arena, q->cluster_name);
    m->cluster_uuid = arena_str(&e->arena, quorum_cluster_uuid(q));
    m->term = q->safety.term;
    m->accepted_term = safety_accepted_term(&q->safety);
    m->version = q->safety.accepted->version;
    m->ok = true;
}

static bool remember(struct quorum *q, const struct transport_peer *to, enum message_kind kind, uint64_t id)
{
    if (q->n_asked == q->asked_cap) {
        size_t cap = q->asked_cap == 0 ? 32 : q->asked_cap * 2;
        struct asked *v = realloc(q->asked, cap * sizeof(*v));
        if (v == NULL) {
            return false;
        }
        q->asked = v;
        q->asked_cap = cap;
    }
    struct asked *a = &q->asked[q->n_asked++];
    *a = (struct asked){.id = id, .kind = kind};
    id_copy(a->ephemeral_id, to->ephemeral_id);
    size_t n = MIN_OF(to->address.n, sizeof(a->address) - 1);
    memcpy(a->address, to->address.p, n);
    return true;
}

struct quorum_effect *quorum_ask(struct quorum *q, const struct transport_peer *to, enum message_kind kind,
                                 int64_t timeout_ms)
{
    uint64_t id = q->next_id + 1;
    if (!remember(q, to, kind, id)) {
        q->starved = true;
        return NULL;
    }
    struct quorum_effect *e = quorum_emit(q, EFFECT_SEND);
    if (e == NULL) {
        q->n_asked--;
        return NULL;
    }
    q->next_id = id;
    fill_message(q, e, kind);
    e->id = id;
    e->timeout_ms = timeout_ms;
    e->peer.address = arena_str(&e->arena, to->address);
    e->peer.ephemeral_id = arena_str(&e->arena, to->ephemeral_id);
    return e;
}

struct quorum_effect *quorum_reply(struct quorum *q, void *call, enum message_kind kind, bool ok)
{
    struct quorum_effect *e = quorum_emit(q, EFFECT_REPLY);
    if (e != NULL) {
        fill_message(q, e, kind);
        e->message.answer = true;
        e->message.ok = ok;
        e->call = call;
    }
    return e;
}

void quorum_refuse(struct quorum *q, void *call, const struct errmsg *em)
{
    struct quorum_effect *e = quorum_emit(q, EFFECT_REFUSE);
    if (e != NULL) {
        e->call = call;
        quorum_effect_error(e, em);
    }
}

uint64_t quorum_persist(struct quorum *q, bool with_state)
{
    struct quorum_effect *e = quorum_emit(q, EFFECT_PERSIST);
    /* without memory for the effect the ticket never becomes durable: nothing is promised */
    uint64_t ticket = ++q->next_ticket;
    if (e != NULL) {
        e->ticket = ticket;
        e->term = q->safety.term;
        e->state = with_state ? cluster_state_ref(q->safety.accepted) : NULL;
    }
    return ticket;
}

/* ---- modes ---- */

void quorum_saw_term(struct quorum *q, uint64_t term)
{
    q->seen_term = MAX_OF(q->seen_term, term);
}

static void tell_mode(struct quorum *q)
{
    struct quorum_effect *e = quorum_emit(q, EFFECT_MODE);
    if (e != NULL) {
        e->mode = q->mode;
        e->term = q->safety.term;
        if (q->mode == QUORUM_FOLLOWER && !node_meta_copy(&e->node, &q->leader, &e->arena)) {
            q->starved = true;
        }
    }
}

void quorum_become_candidate(struct quorum *q, const char *why)
{
    if (q->mode == QUORUM_LEADER) {
        publication_abandon(q, why);
        safety_give_up(&q->safety);
    }
    if (q->mode != QUORUM_CANDIDATE) {
        joiners_clear(q);
    }
    bool changed = q->mode != QUORUM_CANDIDATE;
    q->mode = QUORUM_CANDIDATE;
    q->leader = (struct node_meta){0};
    arena_reset(&q->leader_arena);
    q->next_find_ms = q->now;
    q->joining[0] = 0;
    q->reconfiguring = false;
    q->vote_missing = false;
    if (changed) {
        q->attempts = 0;
        q->next_election_ms = INT64_MAX;
        tell_mode(q);
    }
}

void quorum_become_follower(struct quorum *q, const struct node_meta *leader)
{
    if (q->mode == QUORUM_FOLLOWER && str_eq(q->leader.ephemeral_id, leader->ephemeral_id)) {
        return;
    }
    if (q->mode == QUORUM_LEADER) {
        publication_abandon(q, "another node leads");
        safety_give_up(&q->safety);
    }
    struct arena fresh;
    arena_init(&fresh, NULL, ARENA_UNLIMITED);
    struct node_meta copy;
    if (!node_meta_copy(&copy, leader, &fresh)) {
        arena_fini(&fresh);
        q->starved = true;
        quorum_become_candidate(q, "out of memory");
        return;
    }
    arena_fini(&q->leader_arena);
    q->leader_arena = fresh;
    q->leader = copy;
    q->mode = QUORUM_FOLLOWER;
    q->next_election_ms = INT64_MAX;
    q->asking_pre_votes = false;
    q->joining[0] = 0;
    q->leader_missed = 0;
    q->leader_check = 0;
    q->next_leader_check_ms = q->now + q->set.check_interval_ms;
    joiners_clear(q);
    discovery_note_node(q, leader);
    tell_mode(q);
}

void quorum_become_leader(struct quorum *q)
{
    assert(q->mode == QUORUM_CANDIDATE && q->safety.won);
    q->mode = QUORUM_LEADER;
    q->next_election_ms = INT64_MAX;
    q->asking_pre_votes = false;
    q->joining[0] = 0;
    detection_lead(q);
    tell_mode(q);
}

/* ---- life ---- */

enum err quorum_new(struct quorum **out, const struct quorum_opts *o, struct errmsg *em)
{
    struct quorum *q = calloc(1, sizeof(*q));
    *out = NULL;
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->set = o->settings;
    q->rng = o->rng;
    arena_init(&q->arena, NULL, ARENA_UNLIMITED);
    arena_init(&q->leader_arena, NULL, ARENA_UNLIMITED);
    q->initial_masters = ARENA_ARRAY(&q->arena, struct str, o->n_initial_masters);
    q->cluster_name = arena_str(&q->arena, o->cluster_name);
    bool ok = q->initial_masters != NULL && q->cluster_name.p != NULL
              && node_meta_copy(&q->local, &o->local, &q->arena);
    for (uint32_t i = 0; ok && i < o->n_initial_masters; i++) {
        q->initial_masters[i] = arena_str(&q->arena, o->initial_masters[i]);
        ok = q->initial_masters[i].p != NULL;
        q->n_initial_masters++;
    }
    safety_init(&q->safety, q->local.id, o->term, o->accepted);
    q->seen_term = o->term;
    q->stood_ms = INT64_MIN;
    q->next_find_ms = q->next_election_ms = INT64_MAX;
    if (!ok) {
        quorum_free(q);
        return err_no_memory(em);
    }
    *out = q;
    return ERR_OK;
}

void quorum_free(struct quorum *q)
{
    if (q == NULL) {
        return;
    }
    struct quorum_effect e;
    while (quorum_effect(q, &e)) {
        quorum_effect_fini(&e);
    }
    free(q->effects);
    free(q->asked);
    free(q->commits);
    publications_free(q);
    joiners_clear(q);
    discovery_free(q);
    id_set_fini(&q->pre_votes);
    safety_fini(&q->safety);
    arena_fini(&q->leader_arena);
    arena_fini(&q->arena);
    free(q);
}

int64_t quorum_wake_ms(const struct quorum *q)
{
    int64_t wake = MIN_OF(discovery_wake(q), election_wake(q));
    wake = MIN_OF(wake, publication_wake(q));
    return MIN_OF(wake, detection_wake(q));
}

/* ---- views ---- */

enum quorum_mode quorum_mode(const struct quorum *q)
{
    return q->mode;
}

uint64_t quorum_term(const struct quorum *q)
{
    return q->safety.term;
}

struct cluster_state *quorum_accepted(const struct quorum *q)
{
    return q->safety.accepted;
}

bool quorum_publishing(const struct quorum *q)
{
    return q->publication != NULL;
}
