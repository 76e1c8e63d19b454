/* Coordination in a small world: safety after every step, liveness once the world is whole again. */
#include "tests/unit/master/quorum_world.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static bool any_excluded(void)
{
    int leader = world_leader_now();
    return leader < 0 || quorum_world.v[leader].applied == NULL
           || quorum_world.v[leader].applied->coordination->n_exclusions > 0;
}

/* Until a state without any is applied where somebody leads. */
static void lift_exclusions(void)
{
    memset(quorum_world.excluded, 0, sizeof(quorum_world.excluded));
    for (int64_t end = quorum_world.now + 30000; any_excluded() && quorum_world.now < end;) {
        world_client();
        world_run_until(quorum_world.now + 100);
    }
}

/* Who is excluded, the master itself, leads no more, and votes no more. */
START_TEST(excluded_masters)
{
    world_open(3 + _i % 3, (uint64_t)_i * 31 + 5);
    ck_assert(world_settles_within(20000));
    for (int round = 0; round < 4; round++) {
        int was = world_leader_now();
        quorum_world.excluded[was] = true;
        world_client();
        int64_t begun = quorum_world.now;
        bool done = false;
        while (!done && quorum_world.now - begun < 10000) {
            world_run_until(quorum_world.now + 10);
            int now = world_leader_now();
            done = now >= 0 && now != was && quorum_world.v[now].applied != NULL
                   && !str_set_has(&quorum_world.v[now].applied->coordination->committed,
                                   str_of(quorum_world.v[was].id));
        }
        if (!done) {
            world_describe();
        }
        ck_assert_msg(done, "round %d: the excluded master leads, or votes", round);
        world_run_until(quorum_world.now + 5000);
        ck_assert_int_ne(world_leader_now(), was);
        lift_exclusions();
        ck_assert(world_settles_within(20000));
    }
    world_close();
}
END_TEST

START_TEST(trouble)
{
    world_open(1 + _i % NODES, (uint64_t)_i * 7919 + 1);
    ck_assert_msg(world_settles_within(20000), "no cluster formed");
    quorum_world.excluding = _i / NODES % 2 == 1;
    for (int round = 0; round < 6; round++) {
        quorum_world.loss =
            rng_below(&quorum_world.rng, 3) == 0 ? (unsigned)rng_below(&quorum_world.rng, 30) : 0;
        for (int k = 0; k < 12; k++) {
            int a = (int)rng_below(&quorum_world.rng, (uint64_t)quorum_world.n),
                b = (int)rng_below(&quorum_world.rng, (uint64_t)quorum_world.n);
            switch (rng_below(&quorum_world.rng, 6)) {
            case 0:
                if (quorum_world.v[a].q != NULL) {
                    world_crash(a);
                }
                break;
            case 1:
                quorum_world.cut[a][b] = true; /* one way */
                break;
            case 2:
                quorum_world.cut[a][b] = quorum_world.cut[b][a] = a != b;
                break;
            case 3:
                memset(quorum_world.cut, 0, sizeof(quorum_world.cut));
                break;
            case 4:
                quorum_world.excluded[a] = quorum_world.excluding && !quorum_world.excluded[a]
                                           && rng_below(&quorum_world.rng, 3) == 0;
                world_client();
                break;
            default:
                world_client();
            }
            world_run_until(quorum_world.now + (int64_t)rng_below(&quorum_world.rng, 2000));
        }
        quorum_world.loss = 0;
        memset(quorum_world.cut, 0, sizeof(quorum_world.cut));
        uint64_t before = quorum_world.committed_max;
        lift_exclusions();
        ck_assert_msg(world_settles_within(60000), "round %d: the cluster did not come together", round);
        world_client();
        world_run_until(quorum_world.now + 1000);
        ck_assert_msg(quorum_world.committed_max > before, "nothing was committed after it");
    }
    world_close();
}
END_TEST

/* Messages with terms that no cluster reaches change nothing: afterwards a master is elected as before. */
START_TEST(forged_terms)
{
    static const uint64_t terms[] = {UINT64_MAX, UINT64_MAX - 1, (uint64_t)INT64_MAX, (uint64_t)1 << 40};
    world_open(3, 7);
    ck_assert(world_settles_within(20000));
    for (size_t t = 0; t < ARRAY_LEN(terms); t++) {
        for (int kind = MESSAGE_HANDSHAKE; kind <= MESSAGE_HAND_OVER; kind++) {
            for (int to = 0; to < quorum_world.n; to++) {
                int from = (to + 1) % quorum_world.n;
                struct quorum_message m = {.kind = (enum message_kind)kind,
                                           .from = quorum_world.v[from].meta,
                                           .cluster_name = STR("c"),
                                           .term = terms[t],
                                           .accepted_term = terms[t],
                                           .version = UINT64_MAX};
                struct quorum_world_event *e = world_event_new(EV_REQUEST, from, to, world_latency());
                message_join.request->encode(&m, &e->bytes);
                world_push(e);
            }
        }
    }
    world_run_until(quorum_world.now + 1000);
    for (int i = 0; i < quorum_world.n; i++) {
        if (quorum_world.v[i].q != NULL && quorum_mode(quorum_world.v[i].q) == QUORUM_LEADER) {
            world_crash(i);
            break;
        }
    }
    ck_assert(world_settles_within(20000));
    uint64_t before = quorum_world.committed_max;
    world_client();
    world_run_until(quorum_world.now + 1000);
    ck_assert_uint_gt(quorum_world.committed_max, before);
    world_close();
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
    world_open(3, 42);
    ck_assert(world_settles_within(20000));
    for (int k = 0; k < KILLS; k++) {
        for (int i = 0; i < quorum_world.n; i++) {
            if (quorum_mode(quorum_world.v[i].q) == QUORUM_LEADER) {
                world_crash(i);
                break;
            }
        }
        int64_t begun = quorum_world.now;
        uint64_t before = quorum_world.committed_max;
        while (quorum_world.committed_max == before) {
            world_run_until(quorum_world.now + 1);
            ck_assert_int_lt(quorum_world.now - begun, 5000);
        }
        took[k] = quorum_world.now - begun;
        ck_assert(world_settles_within(20000));
    }
    qsort(took, KILLS, sizeof(*took), by_size);
    ck_assert_int_lt(took[KILLS / 2], 150);
    ck_assert_int_lt(took[KILLS * 9 / 10], 500);
    world_close();
}
END_TEST

/* A master that is not killed but frozen: its connections stay. */
START_TEST(frozen_master)
{
    enum { TIMES = 20 };
    int64_t took[TIMES];
    world_open(3, 4711);
    ck_assert(world_settles_within(20000));
    for (int k = 0; k < TIMES; k++) {
        int was = world_leader_now(), now = was;
        for (int i = 0; i < quorum_world.n; i++) {
            quorum_world.cut[was][i] = quorum_world.cut[i][was] = i != was;
        }
        int64_t begun = quorum_world.now;
        bool out = false;
        while (!out) {
            world_run_until(quorum_world.now + 1);
            ck_assert_int_lt(quorum_world.now - begun, 10000);
            for (int i = 0; i < quorum_world.n; i++) {
                now = i != was && quorum_mode(quorum_world.v[i].q) == QUORUM_LEADER ? i : now;
            }
            out = now != was && quorum_world.v[now].applied != NULL
                  && quorum_mode(quorum_world.v[now].q) == QUORUM_LEADER
                  && cluster_node(quorum_world.v[now].applied, str_of(quorum_world.v[was].id)) == NULL;
        }
        took[k] = quorum_world.now - begun;
        memset(quorum_world.cut, 0, sizeof(quorum_world.cut));
        ck_assert(world_settles_within(20000));
    }
    qsort(took, TIMES, sizeof(*took), by_size);
    ck_assert_int_lt(took[TIMES / 2], 3000);
    world_close();
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
