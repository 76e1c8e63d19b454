/* A small world of coordinating nodes: its network, its disks, its time. See quorum_world.h. */
#include "tests/unit/master/quorum_world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

struct quorum_world quorum_world;

/* ---- events ---- */

static bool earlier(const struct quorum_world_event *a, const struct quorum_world_event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void world_push(struct quorum_world_event *e)
{
    ck_assert(quorum_world.n_heap < 4096);
    size_t i = quorum_world.n_heap++;
    e->order = ++quorum_world.order;
    for (; i > 0 && earlier(e, quorum_world.heap[(i - 1) / 2]); i = (i - 1) / 2) {
        quorum_world.heap[i] = quorum_world.heap[(i - 1) / 2];
    }
    quorum_world.heap[i] = e;
}

static struct quorum_world_event *pop(void)
{
    struct quorum_world_event *top = quorum_world.heap[0], *last = quorum_world.heap[--quorum_world.n_heap];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < quorum_world.n_heap; i = c) {
        c += c + 1 < quorum_world.n_heap && earlier(quorum_world.heap[c + 1], quorum_world.heap[c]);
        if (!earlier(quorum_world.heap[c], last)) {
            break;
        }
        quorum_world.heap[i] = quorum_world.heap[c];
    }
    quorum_world.heap[i] = last;
    return top;
}

struct quorum_world_event *world_event_new(enum event_kind kind, int from, int to, int64_t delay)
{
    struct quorum_world_event *e = calloc(1, sizeof(*e));
    *e = (struct quorum_world_event){.at = quorum_world.now + delay,
                                     .kind = kind,
                                     .from = from,
                                     .to = to,
                                     .incarnation = quorum_world.v[to].incarnation};
    buf_init(&e->bytes, NULL, BUF_UNLIMITED);
    return e;
}

static void event_free(struct quorum_world_event *e)
{
    buf_fini(&e->bytes);
    free(e);
}

int64_t world_latency(void)
{
    return 1 + (int64_t)rng_below(&quorum_world.rng, rng_below(&quorum_world.rng, 20) == 0 ? 400 : 8);
}

static bool lost(int a, int b)
{
    return quorum_world.cut[a][b] || rng_below(&quorum_world.rng, 100) < quorum_world.loss;
}

/* ---- states ---- */

static struct cluster_state *empty_state(void)
{
    struct state_builder b;
    ck_assert(state_builder_init(&b, NULL));
    state_put_coordination(&b, coordination_part_new());
    ck_assert(state_set_names(&b, STR("c"), STR("")));
    b.next->version--;
    return state_builder_seal(&b, STR("empty"));
}

static void note_committed(const struct cluster_state *s)
{
    ck_assert_uint_lt(s->version, VERSIONS);
    char *known = quorum_world.committed[s->version];
    if (known[0] == 0) {
        snprintf(known, 24, "%.*s", STR_ARG(s->state_uuid));
        quorum_world.committed_max = MAX_OF(quorum_world.committed_max, s->version);
    }
    ck_assert_msg(str_is(s->state_uuid, known), "two states committed as version %llu",
                  (unsigned long long)s->version);
}

static void step(struct quorum_node *n, const struct quorum_event *e)
{
    struct quorum_event at = *e;
    at.now = quorum_world.now;
    ck_assert_int_eq(quorum_step(n->q, &at, NULL), ERR_OK);
}

static void publish_if_wanted(struct quorum_node *n)
{
    if (!n->wants_state || quorum_mode(n->q) != QUORUM_LEADER || quorum_publishing(n->q)) {
        return;
    }
    struct state_builder b;
    struct cluster_state *from = quorum_accepted(n->q);
    char uuid[24];
    ck_assert(state_builder_init(&b, from));
    ck_assert_int_eq(quorum_next_nodes(n->q, from, &b, NULL), ERR_OK);
    if (n->config.n > 0) {
        b.next->coordination->accepted = str_set_copy(&n->config, &b.next->coordination->part.arena);
        n->config.n = 0;
    }
    struct coordination_part *p = b.next->coordination;
    p->exclusions = ARENA_ARRAY(&p->part.arena, struct voting_exclusion, NODES);
    p->n_exclusions = 0;
    for (int i = 0; i < quorum_world.n; i++) {
        if (quorum_world.excluded[i]) {
            struct str id = arena_str(&p->part.arena, str_of(quorum_world.v[i].id));
            p->exclusions[p->n_exclusions++] = (struct voting_exclusion){id, id};
        }
    }
    snprintf(uuid, sizeof(uuid), "s%llu", (unsigned long long)++quorum_world.states);
    struct cluster_state *s = state_builder_seal(&b, str_of(uuid));
    n->wants_state = false;
    ERR_LOCAL(em);
    enum err e = quorum_step(
        n->q, &(struct quorum_event){.kind = EVENT_PUBLISH, .now = quorum_world.now, .state = s}, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    cluster_state_unref(s);
}

/* ---- the driver ---- */

static void answer(struct quorum_node *n, void *call, const struct quorum_effect *e, bool refused)
{
    struct quorum_world_event *rq = call;
    int me = (int)(n - quorum_world.v);
    if (lost(me, rq->from)) {
        event_free(rq);
        return;
    }
    struct quorum_world_event *a =
        world_event_new(refused ? EV_FAILED : EV_ANSWER, me, rq->from, world_latency());
    a->id = rq->id;
    if (!refused) {
        message_join.request->encode(&e->message, &a->bytes);
    }
    world_push(a);
    event_free(rq);
}

static int node_at(struct str address)
{
    for (int i = 0; i < quorum_world.n; i++) {
        if (str_is(address, quorum_world.v[i].address)) {
            return i;
        }
    }
    return -1;
}

static void send_request(struct quorum_node *n, struct quorum_effect *e)
{
    int me = (int)(n - quorum_world.v), to = node_at(e->peer.address);
    struct quorum_world_event *timeout = world_event_new(EV_FAILED, to < 0 ? me : to, me, e->timeout_ms);
    timeout->id = e->id;
    timeout->incarnation = n->incarnation;
    world_push(timeout);
    bool wrong =
        to < 0 || quorum_world.v[to].q == NULL
        || (e->peer.ephemeral_id.n > 0 && !str_is(e->peer.ephemeral_id, quorum_world.v[to].ephemeral));
    if (wrong) {

        struct quorum_world_event *now = world_event_new(EV_FAILED, me, me, 1);
        now->id = e->id;
        world_push(now);
        return;
    }
    if (lost(me, to)) {
        return;
    }
    struct quorum_world_event *rq = world_event_new(EV_REQUEST, me, to, world_latency());
    rq->id = e->id;
    if (e->kind == EFFECT_PUBLISH) {
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        if (e->base != NULL) {
            cluster_state_diff(e->base, e->state, &b);
            e->message.base_uuid = e->base->state_uuid;
        } else {
            cluster_state_encode(e->state, &b);
        }
        e->message.state = buf_view(&b);
        message_join.request->encode(&e->message, &rq->bytes);
        buf_fini(&b);
    } else {
        message_join.request->encode(&e->message, &rq->bytes);
    }
    world_push(rq);
}

static void perform(struct quorum_node *n, struct quorum_effect *e)
{
    int me = (int)(n - quorum_world.v);
    switch (e->kind) {
    case EFFECT_SEND:
    case EFFECT_PUBLISH:
        send_request(n, e);
        break;
    case EFFECT_REPLY:
        answer(n, e->call, e, false);
        break;
    case EFFECT_REFUSE:
        answer(n, e->call, e, true);
        break;
    case EFFECT_APPLY: {
        note_committed(e->state);
        ck_assert(n->applied == NULL || n->applied->version <= e->state->version);
        cluster_state_unref(n->applied);
        n->applied = cluster_state_ref(e->state);
        struct quorum_world_event *a =
            world_event_new(EV_APPLIED, me, me, 1 + (int64_t)rng_below(&quorum_world.rng, 5));
        a->id = e->version;
        world_push(a);
        break;
    }
    case EFFECT_MODE:
        n->wants_state = e->mode == QUORUM_LEADER;
        n->config.n = 0;
        if (e->mode == QUORUM_LEADER) {
            ck_assert_uint_lt(e->term, 4096);
            uint64_t *who = &quorum_world.leader_of_term[e->term];
            ck_assert_msg(*who == 0 || *who == (uint64_t)me + 1, "two masters in term %llu",
                          (unsigned long long)e->term);
            *who = (uint64_t)me + 1;
        }
        break;
    case EFFECT_JOINED:
    case EFFECT_LEFT:
        n->wants_state = true;
        break;
    case EFFECT_RECONFIGURE:
        arena_reset(&n->config_arena);
        n->config = str_set_copy(&e->config, &n->config_arena);
        n->wants_state = true;
        break;
    default:
        break;
    }
}

static void drain(struct quorum_node *n)
{
    struct quorum_effect e;
    int me = (int)(n - quorum_world.v);
    for (;;) {
        publish_if_wanted(n);
        if (!quorum_effect(n->q, &e)) {
            break;
        }
        if (e.kind == EFFECT_PERSIST) {
            n->disk_busy_until =
                MAX_OF(n->disk_busy_until, quorum_world.now) + 1 + (int64_t)rng_below(&quorum_world.rng, 10);
            struct quorum_world_event *d =
                world_event_new(EV_DURABLE, me, me, n->disk_busy_until - quorum_world.now);
            d->id = e.ticket;
            put_u64(&d->bytes, e.term);
            put_bool(&d->bytes, e.state != NULL);
            if (e.state != NULL) {
                cluster_state_encode(e.state, &d->bytes);
            }
            world_push(d);
        } else if (e.ticket > n->durable) {
            struct held_effect *h = calloc(1, sizeof(*h));
            h->e = e;
            *n->held_last = h;
            n->held_last = &h->next;
            continue;
        } else {
            perform(n, &e);
        }
        quorum_effect_fini(&e);
    }
    quorum_invariant(n->q);
}

static void durable(struct quorum_node *n, struct quorum_world_event *d)
{
    struct bytes_in in = bytes_in(buf_view(&d->bytes));
    ck_assert_uint_gt(d->id, n->durable);
    n->disk_term = get_u64(&in);
    if (get_bool(&in)) {
        struct cluster_state *s;
        ck_assert_int_eq(cluster_state_decode(&s, str_mk((const char *)in.at, bytes_left(&in)), NULL),
                         ERR_OK);
        cluster_state_unref(n->disk_state);
        n->disk_state = s;
    }
    n->durable = d->id;
    while (n->held != NULL && n->held->e.ticket <= n->durable) {
        struct held_effect *h = n->held;
        n->held = h->next;
        n->held_last = n->held == NULL ? &n->held : n->held_last;
        perform(n, &h->e);
        quorum_effect_fini(&h->e);
        free(h);
    }
    step(n, &(struct quorum_event){.kind = EVENT_DURABLE, .number = d->id});
}

static void drop(struct quorum_effect *e)
{
    if (e->kind == EFFECT_REPLY || e->kind == EFFECT_REFUSE) {
        event_free(e->call);
    }
    quorum_effect_fini(e);
}

/* The process ends: what it held, and requests that waited for an answer, go with it. */
static void shut(struct quorum_node *n)
{
    struct quorum_effect e;
    ERR_LOCAL(em);
    while (n->held != NULL) {
        struct held_effect *h = n->held;
        n->held = h->next;
        drop(&h->e);
        free(h);
    }
    n->held_last = &n->held;
    if (n->q != NULL) {
        err_set(&em, ERR_NODE_CLOSED, "stopping");
        quorum_refuse_waiting(n->q, &em);
        while (quorum_effect(n->q, &e)) {
            drop(&e);
        }
        quorum_free(n->q);
        n->q = NULL;
    }
}

static void boot(struct quorum_node *n)
{
    const struct str names[] = {STR("n0"), STR("n1"), STR("n2"), STR("n3"), STR("n4")};
    int me = (int)(n - quorum_world.v);
    n->incarnation++;
    snprintf(n->ephemeral, sizeof(n->ephemeral), "e%d-%llu", me, (unsigned long long)n->incarnation);
    n->meta = (struct node_meta){.id = str_of(n->id),
                                 .name = names[me],
                                 .ephemeral_id = str_of(n->ephemeral),
                                 .host = STR("h"),
                                 .transport_address = str_of(n->address),
                                 .roles = ROLE_MASTER | ROLE_DATA};
    struct quorum_opts o = {.local = n->meta,
                            .cluster_name = STR("c"),
                            .term = n->disk_term,
                            .accepted = n->disk_state,
                            .initial_masters = names,
                            .n_initial_masters = (uint32_t)quorum_world.n,
                            .rng = &quorum_world.rng};
    quorum_settings_init(&o.settings, NULL);
    ck_assert_int_eq(quorum_new(&n->q, &o, NULL), ERR_OK);
    n->durable = 0;
    n->wants_state = false;
    n->config.n = 0;
    cluster_state_unref(n->applied);
    n->applied = NULL;
    struct str seeds[NODES];
    for (int i = 0; i < quorum_world.n; i++) {
        seeds[i] = str_of(quorum_world.v[i].address);
    }
    step(n, &(struct quorum_event){.kind = EVENT_START, .seeds = seeds, .n_seeds = (uint32_t)quorum_world.n});
    drain(n);
}

static void tell_lost(int down)
{
    for (int i = 0; i < quorum_world.n; i++) {
        if (i != down && quorum_world.v[i].q != NULL && !quorum_world.cut[i][down]) {
            struct quorum_world_event *l = world_event_new(EV_LOST, down, i, world_latency());
            buf_z(&l->bytes, quorum_world.v[down].ephemeral);
            world_push(l);
        }
    }
}

void world_crash(int at)
{
    struct quorum_node *n = &quorum_world.v[at];
    tell_lost(at);
    shut(n);
    struct quorum_world_event *r =
        world_event_new(EV_RESTART, at, at, 50 + (int64_t)rng_below(&quorum_world.rng, 3000));
    world_push(r);
}

static void happen(struct quorum_world_event *e)
{
    struct quorum_node *n = &quorum_world.v[e->to];
    struct arena scratch;
    struct quorum_message m;
    ERR_LOCAL(em);
    bool keep = false;
    if (e->kind == EV_RESTART) {
        boot(n);
        event_free(e);
        return;
    }
    if (n->q == NULL || e->incarnation != n->incarnation) {
        event_free(e);
        return;
    }
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    switch (e->kind) {
    case EV_REQUEST:
        ck_assert(codec_read(message_join.request, &m, buf_view(&e->bytes), &scratch));
        keep = true;
        step(n, &(struct quorum_event){.kind = EVENT_REQUEST, .message = &m, .call = e});
        break;
    case EV_ANSWER:
        ck_assert(codec_read(message_join.request, &m, buf_view(&e->bytes), &scratch));
        step(n, &(struct quorum_event){.kind = EVENT_ANSWER, .id = e->id, .message = &m});
        break;
    case EV_FAILED:
        err_set(&em, ERR_RECEIVE_TIMEOUT, "time");
        step(n, &(struct quorum_event){.kind = EVENT_FAILED, .id = e->id, .error = &em});
        break;
    case EV_DURABLE:
        durable(n, e);
        break;
    case EV_APPLIED:
        step(n, &(struct quorum_event){.kind = EVENT_APPLIED, .number = e->id});
        break;
    default:
        step(n, &(struct quorum_event){.kind = EVENT_LOST, .ephemeral_id = buf_view(&e->bytes)});
    }
    drain(n);
    arena_fini(&scratch);
    if (!keep) {
        event_free(e);
    }
}

void world_run_until(int64_t end)
{
    int idle = 0; /* ticks in a row that did not move the time on */
    while (quorum_world.now < end) {
        int64_t next = quorum_world.n_heap > 0 ? quorum_world.heap[0]->at : end;
        int sleeper = -1;
        for (int i = 0; i < quorum_world.n; i++) {
            if (quorum_world.v[i].q != NULL && quorum_wake_ms(quorum_world.v[i].q) < next) {
                next = quorum_wake_ms(quorum_world.v[i].q);
                sleeper = i;
            }
        }
        if (next >= end) {
            quorum_world.now = end;
            return;
        }
        quorum_world.now = MAX_OF(quorum_world.now, next);
        if (sleeper >= 0) {
            step(&quorum_world.v[sleeper], &(struct quorum_event){.kind = EVENT_TICK});
            drain(&quorum_world.v[sleeper]);
            idle = quorum_wake_ms(quorum_world.v[sleeper].q) > quorum_world.now ? 0 : idle + 1;
            ck_assert_int_lt(idle, 10);
        } else {
            happen(pop());
        }
    }
}

/* One master, followed by all, and all have applied what it has. */
static bool settled(void)
{
    int leader = -1;
    for (int i = 0; i < quorum_world.n; i++) {
        if (quorum_world.v[i].q == NULL) {
            return false;
        }
        leader = quorum_mode(quorum_world.v[i].q) == QUORUM_LEADER ? i : leader;
    }
    if (leader < 0 || quorum_world.v[leader].applied == NULL
        || quorum_world.v[leader].applied->nodes->n != (uint32_t)quorum_world.n
        || quorum_publishing(quorum_world.v[leader].q)) {
        return false;
    }
    for (int i = 0; i < quorum_world.n; i++) {
        if (quorum_world.v[i].applied == NULL
            || !str_eq(quorum_world.v[i].applied->state_uuid, quorum_world.v[leader].applied->state_uuid)
            || quorum_term(quorum_world.v[i].q) != quorum_term(quorum_world.v[leader].q)) {
            return false;
        }
    }
    uint32_t voters = quorum_world.v[leader].applied->coordination->committed.n;
    /* who voted for another in this term is asked in the next: where exclusions made voters few, they may stay
     * so until then */
    return voters % 2 == 1 && voters >= (quorum_world.n < 3 || quorum_world.excluding ? 1U : 3U);
}

void world_describe(void)
{
    static const char *const modes[] = {"candidate", "follower", "leader"};
    for (int i = 0; i < quorum_world.n; i++) {
        const struct quorum *q = quorum_world.v[i].q;
        if (q == NULL) {
            fprintf(stderr, "%d: down\n", i);
            continue;
        }
        const struct cluster_state *s = q->safety.accepted;
        fprintf(
            stderr,
            "%d: %s of term %llu, accepted %llu in term %llu (%u nodes, %u and %u voters), applied "
            "%llu%s, peers",
            i, modes[q->mode], (unsigned long long)q->safety.term, (unsigned long long)s->version,
            (unsigned long long)s->coordination->term, s->nodes != NULL ? s->nodes->n : 0,
            s->coordination->committed.n, s->coordination->accepted.n,
            (unsigned long long)(quorum_world.v[i].applied != NULL ? quorum_world.v[i].applied->version : 0),
            q->publication != NULL ? ", publishing" : "");
        for (const struct peer *p = q->peers; p != NULL; p = p->next) {
            fprintf(stderr, " %s%s%s%s", p->address + 7, p->node.id.p != NULL ? "" : "?",
                    p->in_state ? "" : "-", p->leaving ? "!" : "");
        }
        fprintf(stderr, "\n");
    }
}

bool world_settles_within(int64_t ms)
{
    int64_t end = quorum_world.now + ms;
    while (quorum_world.now < end && !settled()) {
        world_run_until(quorum_world.now + 50);
    }
    if (!settled()) {
        world_describe();
    }
    return settled();
}

void world_open(int n, uint64_t seed)
{
    memset(&quorum_world, 0, sizeof(quorum_world));
    rng_seed(&quorum_world.rng, seed);
    quorum_world.n = n;
    for (int i = 0; i < n; i++) {
        struct quorum_node *v = &quorum_world.v[i];
        snprintf(v->id, sizeof(v->id), "id-%d", i);
        snprintf(v->address, sizeof(v->address), "10.0.0.%d:9300", i);
        v->disk_state = empty_state();
        v->held_last = &v->held;
        arena_init(&v->config_arena, NULL, ARENA_UNLIMITED);
    }
    for (int i = 0; i < n; i++) {
        boot(&quorum_world.v[i]);
    }
}

void world_close(void)
{
    for (int i = 0; i < quorum_world.n; i++) {
        struct quorum_node *v = &quorum_world.v[i];
        shut(v);
        cluster_state_unref(v->disk_state);
        cluster_state_unref(v->applied);
        arena_fini(&v->config_arena);
    }
    for (size_t i = 0; i < quorum_world.n_heap; i++) {
        event_free(quorum_world.heap[i]);
    }
}

void world_client(void)
{
    for (int i = 0; i < quorum_world.n; i++) {
        if (quorum_world.v[i].q != NULL && quorum_mode(quorum_world.v[i].q) == QUORUM_LEADER) {
            quorum_world.v[i].wants_state = true;
            drain(&quorum_world.v[i]);
        }
    }
}

int world_leader_now(void)
{
    for (int i = 0; i < quorum_world.n; i++) {
        if (quorum_world.v[i].q != NULL && quorum_mode(quorum_world.v[i].q) == QUORUM_LEADER) {
            return i;
        }
    }
    return -1;
}
