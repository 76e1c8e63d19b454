/* Coordination in a small world: clusters of the core over a network that loses, delays and cuts, on disks
 * that forget what was not synced. Safety after every step, liveness once the world is whole again. */
#include "master/quorum_int.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES    5
#define EVENTS   200000
#define VERSIONS 20000

enum event_kind { EV_REQUEST, EV_ANSWER, EV_FAILED, EV_DURABLE, EV_APPLIED, EV_LOST, EV_RESTART };

struct event {
    int64_t at;
    uint64_t order;
    enum event_kind kind;
    int from, to;
    uint64_t incarnation; /* of `to` when it was sent */
    uint64_t id;
    struct buf bytes;
    bool refused;
    struct event *call; /* the request that an answer is to */
    int call_refs;
};

struct held { /* effects that wait for a ticket */
    struct quorum_effect e;
    struct held *next;
};

struct sim_node {
    struct quorum *q; /* NULL: down */
    uint64_t incarnation;
    struct node_meta meta;
    char id[16], ephemeral[24], address[24];
    /* the disk */
    uint64_t disk_term;
    struct cluster_state *disk_state;
    uint64_t durable;
    int64_t disk_busy_until;
    struct held *held, **held_last;
    bool wants_state; /* as leader: something is to be published */
    struct str_set config;
    struct arena config_arena;
    struct cluster_state *applied;
};

struct world {
    struct rng rng;
    int64_t now;
    uint64_t order, states;
    struct sim_node v[NODES];
    int n;
    bool cut[NODES][NODES];
    unsigned loss; /* of 100 */
    struct event *heap[4096];
    size_t n_heap;
    uint64_t leader_of_term[4096]; /* node + 1 */
    /* what was committed, by version: the state's uuid */
    char committed[VERSIONS][24];
    uint64_t committed_max;
    bool excluded[NODES]; /* what the next state says of who may vote */
    bool excluding;       /* some of the time */
};

static struct world w;

/* ---- events ---- */

static bool earlier(const struct event *a, const struct event *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct event *e)
{
    ck_assert(w.n_heap < 4096);
    size_t i = w.n_heap++;
    e->order = ++w.order;
    for (; i > 0 && earlier(e, w.heap[(i - 1) / 2]); i = (i - 1) / 2) {
        w.heap[i] = w.heap[(i - 1) / 2];
    }
    w.heap[i] = e;
}

static struct event *pop(void)
{
    struct event *top = w.heap[0], *last = w.heap[--w.n_heap];
    size_t i = 0;
    for (size_t c; (c = 2 * i + 1) < w.n_heap; i = c) {
        c += c + 1 < w.n_heap && earlier(w.heap[c + 1], w.heap[c]);
        if (!earlier(w.heap[c], last)) {
            break;
        }
        w.heap[i] = w.heap[c];
    }
    w.heap[i] = last;
    return top;
}

static struct event *event_new(enum event_kind kind, int from, int to, int64_t delay)
{
    struct event *e = calloc(1, sizeof(*e));
    *e = (struct event){
        .at = w.now + delay, .kind = kind, .from = from, .to = to, .incarnation = w.v[to].incarnation};
    buf_init(&e->bytes, NULL, BUF_UNLIMITED);
    return e;
}

static void event_free(struct event *e)
{
    buf_fini(&e->bytes);
    free(e);
}

static int64_t latency(void)
{
    return 1 + (int64_t)rng_below(&w.rng, rng_below(&w.rng, 20) == 0 ? 400 : 8);
}

static bool lost(int a, int b)
{
    return w.cut[a][b] || rng_below(&w.rng, 100) < w.loss;
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
    char *known = w.committed[s->version];
    if (known[0] == 0) {
        snprintf(known, 24, "%.*s", STR_ARG(s->state_uuid));
        w.committed_max = MAX_OF(w.committed_max, s->version);
    }
    ck_assert_msg(str_is(s->state_uuid, known), "two states committed as version %llu",
                  (unsigned long long)s->version);
}

static void publish_if_wanted(struct sim_node *n)
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
    for (int i = 0; i < w.n; i++) {
        if (w.excluded[i]) {
            struct str id = arena_str(&p->part.arena, str_of(w.v[i].id));
            p->exclusions[p->n_exclusions++] = (struct voting_exclusion){id, id};
        }
    }
    snprintf(uuid, sizeof(uuid), "s%llu", (unsigned long long)++w.states);
    struct cluster_state *s = state_builder_seal(&b, str_of(uuid));
    n->wants_state = false;
    struct errmsg em;
    enum err e = quorum_publish(n->q, s, w.now, &em);
    ck_assert_msg(e == ERR_OK, "%s", em.frame[0].reason);
    cluster_state_unref(s);
}

/* ---- the driver ---- */

static void answer(struct sim_node *n, void *call, const struct quorum_effect *e, bool refused)
{
    struct event *rq = call;
    int me = (int)(n - w.v);
    if (lost(me, rq->from)) {
        event_free(rq);
        return;
    }
    struct event *a = event_new(refused ? EV_FAILED : EV_ANSWER, me, rq->from, latency());
    a->id = rq->id;
    if (!refused) {
        quorum_message_encode(&e->message, &a->bytes);
    }
    push(a);
    event_free(rq);
}

static int node_at(struct str address)
{
    for (int i = 0; i < w.n; i++) {
        if (str_is(address, w.v[i].address)) {
            return i;
        }
    }
    return -1;
}

static void send_request(struct sim_node *n, struct quorum_effect *e)
{
    int me = (int)(n - w.v), to = node_at(e->peer.address);
    struct event *timeout = event_new(EV_FAILED, to < 0 ? me : to, me, e->timeout_ms);
    timeout->id = e->id;
    timeout->incarnation = n->incarnation;
    push(timeout);
    bool wrong = to < 0 || w.v[to].q == NULL
                 || (e->peer.ephemeral_id.n > 0 && !str_is(e->peer.ephemeral_id, w.v[to].ephemeral));
    if (wrong) {

        struct event *now = event_new(EV_FAILED, me, me, 1);
        now->id = e->id;
        push(now);
        return;
    }
    if (lost(me, to)) {
        return;
    }
    struct event *rq = event_new(EV_REQUEST, me, to, latency());
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
        quorum_message_encode(&e->message, &rq->bytes);
        buf_fini(&b);
    } else {
        quorum_message_encode(&e->message, &rq->bytes);
    }
    push(rq);
}

static void perform(struct sim_node *n, struct quorum_effect *e)
{
    int me = (int)(n - w.v);
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
        struct event *a = event_new(EV_APPLIED, me, me, 1 + (int64_t)rng_below(&w.rng, 5));
        a->id = e->version;
        push(a);
        break;
    }
    case EFFECT_MODE:
        n->wants_state = e->mode == QUORUM_LEADER;
        n->config.n = 0;
        if (e->mode == QUORUM_LEADER) {
            ck_assert_uint_lt(e->term, 4096);
            uint64_t *who = &w.leader_of_term[e->term];
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

static void drain(struct sim_node *n)
{
    struct quorum_effect e;
    int me = (int)(n - w.v);
    for (;;) {
        publish_if_wanted(n);
        if (!quorum_effect(n->q, &e)) {
            break;
        }
        if (e.kind == EFFECT_PERSIST) {
            n->disk_busy_until = MAX_OF(n->disk_busy_until, w.now) + 1 + (int64_t)rng_below(&w.rng, 10);
            struct event *d = event_new(EV_DURABLE, me, me, n->disk_busy_until - w.now);
            d->id = e.ticket;
            put_u64(&d->bytes, e.term);
            put_bool(&d->bytes, e.state != NULL);
            if (e.state != NULL) {
                cluster_state_encode(e.state, &d->bytes);
            }
            push(d);
        } else if (e.ticket > n->durable) {
            struct held *h = calloc(1, sizeof(*h));
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

static void durable(struct sim_node *n, struct event *d)
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
        struct held *h = n->held;
        n->held = h->next;
        n->held_last = n->held == NULL ? &n->held : n->held_last;
        perform(n, &h->e);
        quorum_effect_fini(&h->e);
        free(h);
    }
    quorum_durable(n->q, d->id, w.now);
}

static void drop(struct quorum_effect *e)
{
    if (e->kind == EFFECT_REPLY || e->kind == EFFECT_REFUSE) {
        event_free(e->call);
    }
    quorum_effect_fini(e);
}

/* The process ends: what it held, and requests that waited for an answer, go with it. */
static void shut(struct sim_node *n)
{
    struct quorum_effect e;
    struct errmsg em;
    while (n->held != NULL) {
        struct held *h = n->held;
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

static void boot(struct sim_node *n)
{
    const struct str names[] = {STR("n0"), STR("n1"), STR("n2"), STR("n3"), STR("n4")};
    int me = (int)(n - w.v);
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
                            .n_initial_masters = (uint32_t)w.n,
                            .rng = &w.rng};
    quorum_settings_init(&o.settings);
    ck_assert_int_eq(quorum_new(&n->q, &o, NULL), ERR_OK);
    n->durable = 0;
    n->wants_state = false;
    n->config.n = 0;
    cluster_state_unref(n->applied);
    n->applied = NULL;
    struct str seeds[NODES];
    for (int i = 0; i < w.n; i++) {
        seeds[i] = str_of(w.v[i].address);
    }
    quorum_seeds(n->q, seeds, (uint32_t)w.n, w.now);
    quorum_start(n->q, w.now);
    drain(n);
}

static void tell_lost(int down)
{
    for (int i = 0; i < w.n; i++) {
        if (i != down && w.v[i].q != NULL && !w.cut[i][down]) {
            struct event *l = event_new(EV_LOST, down, i, latency());
            buf_z(&l->bytes, w.v[down].ephemeral);
            push(l);
        }
    }
}

static void crash(int at)
{
    struct sim_node *n = &w.v[at];
    tell_lost(at);
    shut(n);
    struct event *r = event_new(EV_RESTART, at, at, 50 + (int64_t)rng_below(&w.rng, 3000));
    push(r);
}

static void happen(struct event *e)
{
    struct sim_node *n = &w.v[e->to];
    struct arena scratch;
    struct quorum_message m;
    struct errmsg em;
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
        ck_assert_int_eq(quorum_message_decode(&m, buf_view(&e->bytes), &scratch, &em), ERR_OK);
        keep = true;
        quorum_receive(n->q, &m, e, w.now);
        break;
    case EV_ANSWER:
        ck_assert_int_eq(quorum_message_decode(&m, buf_view(&e->bytes), &scratch, &em), ERR_OK);
        quorum_answer(n->q, e->id, &m, w.now);
        break;
    case EV_FAILED:
        err_set(&em, ERR_RECEIVE_TIMEOUT, "time");
        quorum_failed(n->q, e->id, &em, w.now);
        break;
    case EV_DURABLE:
        durable(n, e);
        break;
    case EV_APPLIED:
        quorum_applied(n->q, e->id, w.now);
        break;
    default:
        quorum_lost(n->q, buf_view(&e->bytes), w.now);
    }
    drain(n);
    arena_fini(&scratch);
    if (!keep) {
        event_free(e);
    }
}

static void run_until(int64_t end)
{
    int idle = 0; /* ticks in a row that did not move the time on */
    while (w.now < end) {
        int64_t next = w.n_heap > 0 ? w.heap[0]->at : end;
        int sleeper = -1;
        for (int i = 0; i < w.n; i++) {
            if (w.v[i].q != NULL && quorum_wake_ms(w.v[i].q) < next) {
                next = quorum_wake_ms(w.v[i].q);
                sleeper = i;
            }
        }
        if (next >= end) {
            w.now = end;
            return;
        }
        w.now = MAX_OF(w.now, next);
        if (sleeper >= 0) {
            quorum_tick(w.v[sleeper].q, w.now);
            drain(&w.v[sleeper]);
            idle = quorum_wake_ms(w.v[sleeper].q) > w.now ? 0 : idle + 1;
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
    for (int i = 0; i < w.n; i++) {
        if (w.v[i].q == NULL) {
            return false;
        }
        leader = quorum_mode(w.v[i].q) == QUORUM_LEADER ? i : leader;
    }
    if (leader < 0 || w.v[leader].applied == NULL || w.v[leader].applied->nodes->n != (uint32_t)w.n
        || quorum_publishing(w.v[leader].q)) {
        return false;
    }
    for (int i = 0; i < w.n; i++) {
        if (w.v[i].applied == NULL || !str_eq(w.v[i].applied->state_uuid, w.v[leader].applied->state_uuid)
            || quorum_term(w.v[i].q) != quorum_term(w.v[leader].q)) {
            return false;
        }
    }
    uint32_t voters = w.v[leader].applied->coordination->committed.n;
    /* who voted for another in this term is asked in the next: where exclusions made voters few, they may stay
     * so until then */
    return voters % 2 == 1 && voters >= (w.n < 3 || w.excluding ? 1U : 3U);
}

static void describe(void)
{
    static const char *const modes[] = {"candidate", "follower", "leader"};
    for (int i = 0; i < w.n; i++) {
        const struct quorum *q = w.v[i].q;
        if (q == NULL) {
            fprintf(stderr, "%d: down\n", i);
            continue;
        }
        const struct cluster_state *s = q->safety.accepted;
        fprintf(stderr,
                "%d: %s of term %llu, accepted %llu in term %llu (%u nodes, %u and %u voters), applied "
                "%llu%s, peers",
                i, modes[q->mode], (unsigned long long)q->safety.term, (unsigned long long)s->version,
                (unsigned long long)s->coordination->term, s->nodes != NULL ? s->nodes->n : 0,
                s->coordination->committed.n, s->coordination->accepted.n,
                (unsigned long long)(w.v[i].applied != NULL ? w.v[i].applied->version : 0),
                q->publication != NULL ? ", publishing" : "");
        for (const struct peer *p = q->peers; p != NULL; p = p->next) {
            fprintf(stderr, " %s%s%s%s", p->address + 7, p->node.id.p != NULL ? "" : "?",
                    p->in_state ? "" : "-", p->leaving ? "!" : "");
        }
        fprintf(stderr, "\n");
    }
}

static bool settles_within(int64_t ms)
{
    int64_t end = w.now + ms;
    while (w.now < end && !settled()) {
        run_until(w.now + 50);
    }
    if (!settled()) {
        describe();
    }
    return settled();
}

static void open_world(int n, uint64_t seed)
{
    memset(&w, 0, sizeof(w));
    rng_seed(&w.rng, seed);
    w.n = n;
    for (int i = 0; i < n; i++) {
        struct sim_node *v = &w.v[i];
        snprintf(v->id, sizeof(v->id), "id-%d", i);
        snprintf(v->address, sizeof(v->address), "10.0.0.%d:9300", i);
        v->disk_state = empty_state();
        v->held_last = &v->held;
        arena_init(&v->config_arena, NULL, ARENA_UNLIMITED);
    }
    for (int i = 0; i < n; i++) {
        boot(&w.v[i]);
    }
}

static void close_world(void)
{
    for (int i = 0; i < w.n; i++) {
        struct sim_node *v = &w.v[i];
        shut(v);
        cluster_state_unref(v->disk_state);
        cluster_state_unref(v->applied);
        arena_fini(&v->config_arena);
    }
    for (size_t i = 0; i < w.n_heap; i++) {
        event_free(w.heap[i]);
    }
}

static void client(void)
{
    for (int i = 0; i < w.n; i++) {
        if (w.v[i].q != NULL && quorum_mode(w.v[i].q) == QUORUM_LEADER) {
            w.v[i].wants_state = true;
            drain(&w.v[i]);
        }
    }
}

static int leader_now(void)
{
    for (int i = 0; i < w.n; i++) {
        if (w.v[i].q != NULL && quorum_mode(w.v[i].q) == QUORUM_LEADER) {
            return i;
        }
    }
    return -1;
}

static bool any_excluded(void)
{
    int leader = leader_now();
    return leader < 0 || w.v[leader].applied == NULL || w.v[leader].applied->coordination->n_exclusions > 0;
}

/* Until a state without any is applied where somebody leads. */
static void lift_exclusions(void)
{
    memset(w.excluded, 0, sizeof(w.excluded));
    for (int64_t end = w.now + 30000; any_excluded() && w.now < end;) {
        client();
        run_until(w.now + 100);
    }
}

/* Who is excluded, the master itself, leads no more, and votes no more. */
START_TEST(excluded_masters)
{
    open_world(3 + _i % 3, (uint64_t)_i * 31 + 5);
    ck_assert(settles_within(20000));
    for (int round = 0; round < 4; round++) {
        int was = leader_now();
        w.excluded[was] = true;
        client();
        int64_t begun = w.now;
        bool done = false;
        while (!done && w.now - begun < 10000) {
            run_until(w.now + 10);
            int now = leader_now();
            done = now >= 0 && now != was && w.v[now].applied != NULL
                   && !str_set_has(&w.v[now].applied->coordination->committed, str_of(w.v[was].id));
        }
        if (!done) {
            describe();
        }
        ck_assert_msg(done, "round %d: the excluded master leads, or votes", round);
        run_until(w.now + 5000);
        ck_assert_int_ne(leader_now(), was);
        lift_exclusions();
        ck_assert(settles_within(20000));
    }
    close_world();
}
END_TEST

START_TEST(trouble)
{
    open_world(1 + _i % NODES, (uint64_t)_i * 7919 + 1);
    ck_assert_msg(settles_within(20000), "no cluster formed");
    w.excluding = _i / NODES % 2 == 1;
    for (int round = 0; round < 6; round++) {
        w.loss = rng_below(&w.rng, 3) == 0 ? (unsigned)rng_below(&w.rng, 30) : 0;
        for (int k = 0; k < 12; k++) {
            int a = (int)rng_below(&w.rng, (uint64_t)w.n), b = (int)rng_below(&w.rng, (uint64_t)w.n);
            switch (rng_below(&w.rng, 6)) {
            case 0:
                if (w.v[a].q != NULL) {
                    crash(a);
                }
                break;
            case 1:
                w.cut[a][b] = true; /* one way */
                break;
            case 2:
                w.cut[a][b] = w.cut[b][a] = a != b;
                break;
            case 3:
                memset(w.cut, 0, sizeof(w.cut));
                break;
            case 4:
                w.excluded[a] = w.excluding && !w.excluded[a] && rng_below(&w.rng, 3) == 0;
                client();
                break;
            default:
                client();
            }
            run_until(w.now + (int64_t)rng_below(&w.rng, 2000));
        }
        w.loss = 0;
        memset(w.cut, 0, sizeof(w.cut));
        uint64_t before = w.committed_max;
        lift_exclusions();
        ck_assert_msg(settles_within(60000), "round %d: the cluster did not come together", round);
        client();
        run_until(w.now + 1000);
        ck_assert_msg(w.committed_max > before, "nothing was committed after it");
    }
    close_world();
}
END_TEST

/* Messages with terms that no cluster reaches change nothing: afterwards a master is elected as before. */
START_TEST(forged_terms)
{
    static const uint64_t terms[] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t)INT64_MAX, (uint64_t)1 << 40};
    open_world(3, 7);
    ck_assert(settles_within(20000));
    for (size_t t = 0; t < ARRAY_LEN(terms); t++) {
        for (int kind = MESSAGE_HANDSHAKE; kind <= MESSAGE_HAND_OVER; kind++) {
            for (int to = 0; to < w.n; to++) {
                int from = (to + 1) % w.n;
                struct quorum_message m = {.kind = (enum message_kind)kind,
                                           .from = w.v[from].meta,
                                           .cluster_name = STR("c"),
                                           .term = terms[t],
                                           .accepted_term = terms[t],
                                           .version = UINT64_MAX};
                struct event *e = event_new(EV_REQUEST, from, to, latency());
                quorum_message_encode(&m, &e->bytes);
                push(e);
            }
        }
    }
    run_until(w.now + 1000);
    for (int i = 0; i < w.n; i++) {
        if (w.v[i].q != NULL && quorum_mode(w.v[i].q) == QUORUM_LEADER) {
            crash(i);
            break;
        }
    }
    ck_assert(settles_within(20000));
    uint64_t before = w.committed_max;
    client();
    run_until(w.now + 1000);
    ck_assert_uint_gt(w.committed_max, before);
    close_world();
}
END_TEST

static int by_size(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* How long without a master when one is killed: its followers hear of the closed connection, both at once, and
 * seldom take each other's votes. Messages here take up to 8 ms, some 400, syncs up to 10. */
START_TEST(failover_time)
{
    enum { KILLS = 200 };
    int64_t took[KILLS];
    open_world(3, 42);
    ck_assert(settles_within(20000));
    for (int k = 0; k < KILLS; k++) {
        for (int i = 0; i < w.n; i++) {
            if (quorum_mode(w.v[i].q) == QUORUM_LEADER) {
                crash(i);
                break;
            }
        }
        int64_t begun = w.now;
        uint64_t before = w.committed_max;
        while (w.committed_max == before) {
            run_until(w.now + 1);
            ck_assert_int_lt(w.now - begun, 5000);
        }
        took[k] = w.now - begun;
        ck_assert(settles_within(20000));
    }
    qsort(took, KILLS, sizeof(*took), by_size);
    ck_assert_int_lt(took[KILLS / 2], 150);
    ck_assert_int_lt(took[KILLS * 9 / 10], 500);
    close_world();
}
END_TEST

/* A master that is not killed but frozen: its connections stay. */
START_TEST(frozen_master)
{
    enum { TIMES = 20 };
    int64_t took[TIMES];
    open_world(3, 4711);
    ck_assert(settles_within(20000));
    for (int k = 0; k < TIMES; k++) {
        int was = leader_now(), now = was;
        for (int i = 0; i < w.n; i++) {
            w.cut[was][i] = w.cut[i][was] = i != was;
        }
        int64_t begun = w.now;
        bool out = false;
        while (!out) {
            run_until(w.now + 1);
            ck_assert_int_lt(w.now - begun, 10000);
            for (int i = 0; i < w.n; i++) {
                now = i != was && quorum_mode(w.v[i].q) == QUORUM_LEADER ? i : now;
            }
            out = now != was && w.v[now].applied != NULL && quorum_mode(w.v[now].q) == QUORUM_LEADER
                  && cluster_node(w.v[now].applied, str_of(w.v[was].id)) == NULL;
        }
        took[k] = w.now - begun;
        memset(w.cut, 0, sizeof(w.cut));
        ck_assert(settles_within(20000));
    }
    qsort(took, TIMES, sizeof(*took), by_size);
    ck_assert_int_lt(took[TIMES / 2], 3000);
    close_world();
}
END_TEST

static struct str_set ids(const char *list, struct arena *a)
{
    struct str_set s = {0};
    for (const char *p = list; *p != 0; p++) {
        s = str_set_with(&s, str_mk(p, 1), a);
    }
    return s;
}

START_TEST(voters)
{
    static const struct {
        const char *current, *live, *excluded, *want;
        bool shrink;
    } cases[] = {
        {"a", "a", "", "a", true},
        {"a", "ab", "", "a", true},
        {"a", "abc", "", "abc", true},
        {"abc", "abcd", "", "abc", true},
        {"abc", "abcde", "", "abcde", true},
        {"abc", "ab", "", "abc", true},
        {"abc", "abd", "", "abd", true},
        {"abcde", "abc", "", "abc", true},
        {"abcde", "abc", "", "abcde", false},
        {"abc", "abc", "c", "a", true},
        {"abc", "abcd", "c", "abd", true},
        {"abc", "a", "", "abc", true},
        {"abcde", "ab", "", "abc", true},
    };
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct str_set current = ids(cases[i].current, &a), live = ids(cases[i].live, &a),
                       excluded = ids(cases[i].excluded, &a), want = ids(cases[i].want, &a);
        struct str_set got = voting_improve(&current, &live, &excluded, STR("a"), cases[i].shrink, &a);
        ck_assert_msg(str_set_eq(&got, &want), "case %zu: %u voters", i, got.n);
    }
    arena_fini(&a);
}
END_TEST

int main(void)
{
    const char *runs = getenv("RUNS");
    Suite *s = suite_create("quorum");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 600);
    tcase_add_loop_test(c, trouble, 0, runs != NULL ? atoi(runs) : 60);
    tcase_add_loop_test(c, excluded_masters, 0, 12);
    tcase_add_test(c, forged_terms);
    tcase_add_test(c, failover_time);
    tcase_add_test(c, frozen_master);
    tcase_add_test(c, voters);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
