/* One node of three among others that say anything: messages with any fields, answers to what was not asked, states of any version,
 * term and configuration. What always holds of the core goes on to hold; nothing is made of the rest. */
#include "master/quorum_int.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define NODES 4 /* n0 is the node; n3 is a stranger */
#define STEPS 4000
#define HELD  256

static struct rng rng;
static struct quorum *q;
static struct node_meta nodes[NODES];
static int64_t now_ms;
static uint64_t asked[HELD], tickets[HELD], applies[HELD];
static size_t n_asked, n_tickets, n_applies;
static int led, followed;
static bool wants_state;
static unsigned states;

static uint64_t one_of(uint64_t n)
{
    return rng_below(&rng, n);
}

static bool now_and_then(unsigned of)
{
    return rng_below(&rng, of) == 0;
}

/* ---- states -------------------------------------------------------------------------------------------------- */

static struct cluster_state *first_state(void)
{
    struct state_builder b;
    struct coordination_part *c = coordination_part_new();
    static const struct str ids[] = {{"n0", 2}, {"n1", 2}, {"n2", 2}};
    const struct str_set all = {(struct str *)(uintptr_t)ids, 3};
    ck_assert(state_builder_init(&b, NULL));
    c->committed = str_set_copy(&all, &c->part.arena);
    c->accepted = str_set_copy(&all, &c->part.arena);
    c->term = 1;
    state_put_coordination(&b, c);
    ck_assert(state_set_names(&b, STR("c"), STR("u")));
    return state_builder_seal(&b, STR("first"));
}

static struct str_set some_voters(struct arena *a)
{
    struct str_set set = {0};
    for (int i = 0; i < NODES; i++) {
        set = one_of(2) == 0 ? str_set_with(&set, nodes[i].id, a) : set;
    }
    return set;
}

/* What somebody may call the next one. */
static struct cluster_state *some_state(uint64_t term)
{
    struct state_builder b;
    struct cluster_state *from = quorum_accepted(q);
    char uuid[24];
    ck_assert(state_builder_init(&b, from));
    struct coordination_part *c = coordination_part_copy(from->coordination);
    c->term = now_and_then(10) ? one_of(20) : term;
    if (now_and_then(4)) {
        c->accepted = some_voters(&c->part.arena);
    }
    if (now_and_then(8)) {
        c->committed = some_voters(&c->part.arena);
    }
    state_put_coordination(&b, c);
    if (now_and_then(2)) {
        static const struct nodes_part none;
        struct nodes_part *p = nodes_part_copy(from->nodes != NULL ? from->nodes : &none, NODES);
        for (int i = 0; i < NODES; i++) {
            if (one_of(2) == 0) {
                ck_assert(nodes_part_put(p, &nodes[i]));
            } else {
                nodes_part_remove(p, nodes[i].id);
            }
        }
        p->master = arena_str(&p->part.arena, nodes[one_of(NODES)].id);
        state_put_nodes(&b, p);
    }
    b.next->version = now_and_then(20) ? UINT64_MAX - one_of(3)
                                       : from->version + one_of(4) - (from->version > 1 ? one_of(2) : 0);
    b.next->term = c->term;
    snprintf(uuid, sizeof(uuid), "h%u", ++states);
    return state_builder_seal(&b, str_of(uuid));
}

/* ---- messages ------------------------------------------------------------------------------------------------ */

static uint64_t some_term(void)
{
    uint64_t term = quorum_term(q), any = one_of(8);
    return any < 4    ? term
           : any == 4 ? term + 1
           : any == 5 ? term + one_of(5)
           : any == 6 ? one_of(term + 1)
                      : 0;
}

/* Through bytes, as from the network: what cannot be read is refused there. */
static bool make(struct quorum_message *m, struct arena *a)
{
    struct quorum_message said = {.kind = (enum message_kind)one_of(MESSAGE_HAND_OVER + 3),
                                  .answer = one_of(2) == 0,
                                  .from = nodes[now_and_then(12) ? 0 : 1 + one_of(NODES - 1)],
                                  .cluster_name = now_and_then(30) ? STR("other") : STR("c"),
                                  .cluster_uuid = now_and_then(10) ? STR("v") : STR("u"),
                                  .term = some_term(),
                                  .accepted_term = some_term(),
                                  .version = quorum_accepted(q)->version + one_of(4) - one_of(2),
                                  .ok = one_of(3) > 0,
                                  .has_vote = one_of(3) > 0,
                                  .nodes = nodes,
                                  .n_nodes = (uint32_t)one_of(NODES + 1)};
    struct buf state, bytes;
    buf_init(&state, NULL, BUF_UNLIMITED);
    buf_init(&bytes, NULL, BUF_UNLIMITED);
    if (one_of(3) == 0) {
        said.master = nodes[one_of(NODES)];
    }
    if (now_and_then(8)) { /* the same node in another life, or at another place */
        said.from.ephemeral_id = STR("e9");
        said.from.transport_address = now_and_then(2) ? nodes[one_of(NODES)].transport_address : STR("");
    }
    if (said.kind == MESSAGE_PUBLISH) {
        struct cluster_state *s = some_state(said.term);
        bool difference = one_of(2) == 0;
        if (difference) {
            cluster_state_diff(quorum_accepted(q), s, &state);
            said.base_uuid = quorum_accepted(q)->state_uuid;
        } else {
            cluster_state_encode(s, &state);
        }
        said.state = buf_view(&state);
        cluster_state_unref(s);
    }
    message_join.request->encode(&said, &bytes);
    struct str copy = arena_str(a, buf_view(&bytes));
    buf_fini(&bytes);
    buf_fini(&state);
    return codec_read(message_join.request, m, copy, a);
}

/* ---- the driver ---------------------------------------------------------------------------------------------- */

static void put(uint64_t v[HELD], size_t *n, uint64_t x)
{
    if (*n < HELD) {
        v[(*n)++] = x;
    }
}

static uint64_t take(uint64_t v[HELD], size_t *n)
{
    size_t at = (size_t)one_of(*n);
    uint64_t x = v[at];
    v[at] = v[--*n];
    return x;
}

static void step(struct quorum_event e)
{
    ERR_LOCAL(em);
    e.now = now_ms;
    (void)quorum_step(q, &e, &em);
}

static void perform(const struct quorum_effect *e)
{
    switch (e->kind) {
    case EFFECT_SEND:
    case EFFECT_PUBLISH:
        put(asked, &n_asked, e->id);
        break;
    case EFFECT_PERSIST:
        put(tickets, &n_tickets, e->ticket);
        break;
    case EFFECT_APPLY:
        put(applies, &n_applies, e->version);
        break;
    case EFFECT_MODE:
        led += e->mode == QUORUM_LEADER;
        followed += e->mode == QUORUM_FOLLOWER;
        wants_state = e->mode == QUORUM_LEADER;
        break;
    case EFFECT_JOINED:
    case EFFECT_LEFT:
    case EFFECT_RECONFIGURE:
        wants_state = true;
        break;
    default:
        break;
    }
}

static void drain(void)
{
    struct quorum_effect e;
    while (quorum_effect(q, &e)) {
        perform(&e);
        quorum_effect_fini(&e);
    }
    quorum_invariant(q);
}

static void publish(void)
{
    struct state_builder b;
    struct cluster_state *from = quorum_accepted(q);
    char uuid[24];
    if (quorum_mode(q) != QUORUM_LEADER || quorum_publishing(q) || from->version > UINT64_MAX / 2) {
        return;
    }
    ck_assert(state_builder_init(&b, from));
    ck_assert_int_eq(quorum_next_nodes(q, from, &b, NULL), ERR_OK);
    snprintf(uuid, sizeof(uuid), "s%u", ++states);
    struct cluster_state *s = state_builder_seal(&b, str_of(uuid));
    ck_assert(cluster_node(s, STR("n0")) != NULL);
    ck_assert(str_is(cluster_node(s, STR("n0"))->ephemeral_id, "e0"));
    step((struct quorum_event){.kind = EVENT_PUBLISH, .state = s});
    wants_state = false;
    cluster_state_unref(s);
}

static void message(bool is_answer)
{
    struct quorum_message m;
    struct arena a;
    static char call;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    if (make(&m, &a)) {
        step((struct quorum_event){.kind = is_answer ? EVENT_ANSWER : EVENT_REQUEST,
                                   .message = &m,
                                   .call = is_answer ? NULL : &call,
                                   .id = is_answer && n_asked > 0 ? take(asked, &n_asked) : one_of(100)});
    }
    arena_fini(&a);
}

static void happens(void)
{
    ERR_LOCAL(em);
    switch (one_of(12)) {
    case 0:
    case 1:
    case 2:
        message(false);
        break;
    case 3:
    case 4:
    case 5:
        message(true);
        break;
    case 6:
        if (n_asked > 0 && now_and_then(3)) {
            err_set(&em, ERR_RECEIVE_TIMEOUT, "no answer");
            step((struct quorum_event){.kind = EVENT_FAILED, .id = take(asked, &n_asked), .error = &em});
        }
        break;
    case 7:
        if (n_tickets > 0) {
            step((struct quorum_event){.kind = EVENT_DURABLE, .number = take(tickets, &n_tickets)});
        }
        break;
    case 8:
        if (n_applies > 0) {
            step((struct quorum_event){.kind = EVENT_APPLIED, .number = take(applies, &n_applies)});
        }
        break;
    case 9:
        if (now_and_then(10)) {
            step(
                (struct quorum_event){.kind = EVENT_LOST, .ephemeral_id = nodes[one_of(NODES)].ephemeral_id});
        } else if (now_and_then(10)) {
            step((struct quorum_event){.kind = now_and_then(2) ? EVENT_HAND_OVER : EVENT_NOT_RECONFIGURED});
        }
        break;
    default:
        now_ms += (int64_t)one_of(400);
        step((struct quorum_event){.kind = EVENT_TICK});
    }
    drain();
    if (wants_state) {
        publish();
        drain();
    }
}

static void begin(void)
{
    static const char *const names[NODES][3] = {{"n0", "e0", "1.1.1.0:1"},
                                                {"n1", "e1", "1.1.1.1:1"},
                                                {"n2", "e2", "1.1.1.2:1"},
                                                {"n3", "e3", "1.1.1.3:1"}};
    for (int i = 0; i < NODES; i++) {
        nodes[i] = (struct node_meta){.id = str_of(names[i][0]),
                                      .name = str_of(names[i][0]),
                                      .ephemeral_id = str_of(names[i][1]),
                                      .host = STR("h"),
                                      .transport_address = str_of(names[i][2]),
                                      .roles = ROLE_MASTER | ROLE_DATA};
    }
    n_asked = n_tickets = n_applies = 0;
    now_ms = 1000;
    wants_state = false;
    struct cluster_state *s = first_state();
    struct quorum_opts o = {
        .local = nodes[0], .cluster_name = STR("c"), .term = 1, .accepted = s, .rng = &rng};
    quorum_settings_init(&o.settings, NULL);
    ck_assert_int_eq(quorum_new(&q, &o, NULL), ERR_OK);
    cluster_state_unref(s);
    const struct str seeds[] = {nodes[1].transport_address, nodes[2].transport_address};
    step((struct quorum_event){.kind = EVENT_START, .seeds = seeds, .n_seeds = 2});
    drain();
}

START_TEST(test_random)
{
    rng_seed(&rng, (uint64_t)_i + 1);
    led = followed = 0;
    for (int round = 0; round < 20; round++) {
        begin();
        for (int i = 0; i < STEPS; i++) {
            happens();
        }
        quorum_free(q);
    }
    ck_assert(led > 0 && followed > 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("quorum_hostile");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 120);
    tcase_add_loop_test(c, test_random, 0, 10);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
