/* The tracker beside a model that computes everything anew: copies come, catch up, are dropped. */
#include "data/replication/tracker.h"

#include "common/base/rand.h"
#include "engine/index/engine.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#define COPIES 5 /* allocation ids a0 ... a4; a0 is the primary's own */

static struct rng rng;
static struct index_meta *meta;
static struct shard_routing routing;

static struct model {
    bool routed, in_sync, tracked,
        catching;  /* routed: it has a node; in_sync: also by what the master says */
    bool promised; /* the master's set has it */
    int64_t checkpoint, floor;
} model[COPIES];
static int64_t global_checkpoint;

static struct str id_of(int i)
{
    static const char *const ids[] = {"a0", "a1", "a2", "a3", "a4"};
    return str_of(ids[i]);
}

static struct str node_of(int i)
{
    static const char *const nodes[] = {"n0", "n1", "n2", "n3", "n4"};
    return str_of(nodes[i]);
}

/* What the master's state says, from the model. */
static void show(void)
{
    static struct shard_copy copies[COPIES];
    static struct str set[COPIES];
    routing = (struct shard_routing){copies, 0};
    meta->in_sync[0] = (struct str_set){set, 0};
    for (int i = 0; i < COPIES; i++) {
        if (model[i].routed) {
            copies[routing.n++] =
                (struct shard_copy){.state = model[i].promised ? COPY_STARTED : COPY_INITIALIZING,
                                    .primary = i == 0,
                                    .node = node_of(i),
                                    .allocation_id = id_of(i)};
        }
        if (model[i].promised) {
            set[meta->in_sync[0].n++] = id_of(i);
        }
    }
}

static void settle(void)
{
    int64_t lowest = INT64_MAX;
    for (int i = 0; i < COPIES; i++) {
        struct model *m = &model[i];
        if (m->catching && m->checkpoint >= global_checkpoint && m->checkpoint >= m->floor) {
            m->catching = false;
            m->in_sync = true;
        }
    }
    for (int i = 0; i < COPIES; i++) {
        if (model[i].catching) {
            return;
        }
        if (model[i].in_sync) {
            lowest = model[i].checkpoint < lowest ? model[i].checkpoint : lowest;
        }
    }
    if (lowest != INT64_MAX && lowest > global_checkpoint) {
        global_checkpoint = lowest;
    }
}

static void forget(int i)
{
    model[i] = (struct model){.checkpoint = SEQ_NONE, .floor = SEQ_NONE};
}

static void check(struct tracker *t)
{
    uint32_t n = 0;
    tracker_invariant(t);
    ck_assert_int_eq(t->global_checkpoint, global_checkpoint);
    for (int i = 0; i < COPIES; i++) {
        const struct model *m = &model[i];
        const struct tracked *c = tracker_find(t, id_of(i));
        bool known = m->routed || m->in_sync;
        ck_assert_msg((c != NULL) == known, "copy %d", i);
        n += known;
        if (c != NULL) {
            ck_assert(c->in_sync == m->in_sync);
            ck_assert((c->node.p != NULL) == m->routed);
            ck_assert(c->catching_up == m->catching);
            ck_assert(tracker_sends_to(t, c) == (i != 0 && m->routed && (m->tracked || m->in_sync)));
        }
    }
    ck_assert_uint_eq(t->n, n);
}

static void update(struct tracker *t)
{
    for (int i = 1; i < COPIES; i++) {
        struct model *m = &model[i];
        if (!m->routed && !m->promised) {
            forget(i);
        } else if (m->promised) {
            m->in_sync = m->tracked = true;
            m->catching = false;
        }
    }
    settle();
    show();
    ck_assert_int_eq(tracker_update(t, meta, 0, &routing, NULL), ERR_OK);
}

static void step(struct tracker *t, int64_t *max)
{
    int i = 1 + (int)rng_below(&rng, COPIES - 1);
    struct model *m = &model[i];
    bool now, ok;
    switch (rng_below(&rng, 8)) {
    case 0: /* a node gets, or loses, the copy; what it had promised stays */
        m->routed = !m->routed;
        if (!m->routed) {
            m->catching = false;
            m->promised |= m->in_sync;
        }
        update(t);
        break;
    case 1: /* the primary goes on */
        *max += (int64_t)rng_below(&rng, 4);
        tracker_advance(t, id_of(0), *max);
        model[0].checkpoint = *max;
        settle();
        break;
    case 2:
    case 3:
        if (m->routed && (m->tracked || m->in_sync)) {
            int64_t to = m->checkpoint + (int64_t)rng_below(&rng, 5);
            to = to > *max ? *max : to;
            tracker_advance(t, id_of(i), to);
            m->checkpoint = to > m->checkpoint ? to : m->checkpoint;
            settle();
        }
        break;
    case 4:
        ok = tracker_track(t, id_of(i), node_of(i), *max);
        ck_assert(ok == m->routed);
        if (m->routed && !m->in_sync) {
            m->catching = false;
            m->checkpoint = SEQ_NONE;
            m->floor = *max;
        }
        m->tracked |= m->routed;
        break;
    case 5:
        ok = tracker_catch_up(t, id_of(i), *max, &now);
        ck_assert(ok == (m->routed && (m->tracked || m->in_sync)));
        if (ok) {
            m->checkpoint = *max;
            m->catching = !m->in_sync;
            if (m->catching && *max >= global_checkpoint && *max >= m->floor) {
                m->catching = false;
                m->in_sync = true;
            }
            ck_assert(now == m->in_sync);
            settle();
        }
        break;
    case 6: /* the master vouches for what this primary vouched for */
        if (m->in_sync && m->routed) {
            m->promised = true;
            update(t);
        }
        break;
    default: /* stale */
        if (m->in_sync) {
            tracker_remove(t, id_of(i));
            forget(i);
            settle();
            update(t);
        }
    }
    check(t);
}

START_TEST(test_random)
{
    struct tracker t;
    int64_t max = SEQ_NONE;
    rng_seed(&rng, (uint64_t)_i);
    meta = index_meta_new();
    struct str_set none = {0};
    uint64_t term = 3;
    meta->n_shards = 1;
    meta->primary_terms = &term;
    meta->in_sync = &none;
    for (int i = 0; i < COPIES; i++) {
        forget(i);
    }
    global_checkpoint = SEQ_NONE;
    model[0].routed = model[0].promised = model[0].in_sync = true;
    show();
    ck_assert_int_eq(tracker_init(&t, id_of(0), SEQ_NONE, SEQ_NONE, meta, 0, &routing, NULL), ERR_OK);
    check(&t);
    for (int k = 0; k < 2000; k++) {
        step(&t, &max);
    }
    tracker_fini(&t);
    state_part_unref(&meta->part);
}
END_TEST

START_TEST(test_before_it_was_tracked)
{
    /* Something is written, not on disk yet, when a copy begins to be tracked: the copy is not in sync without it. */
    struct tracker t;
    bool now;
    struct str_set none = {0};
    uint64_t term = 1;
    meta = index_meta_new();
    meta->n_shards = 1;
    meta->primary_terms = &term;
    meta->in_sync = &none;
    for (int i = 0; i < COPIES; i++) {
        forget(i);
    }
    model[0].routed = model[0].promised = model[1].routed = true;
    show();
    ck_assert_int_eq(tracker_init(&t, id_of(0), 9, 9, meta, 0, &routing, NULL), ERR_OK);
    ck_assert(tracker_track(&t, id_of(1), node_of(1), 10));
    ck_assert(tracker_catch_up(&t, id_of(1), 9, &now));
    ck_assert(!now);
    ck_assert(!tracker_advance(&t, id_of(0), 10)); /* and the checkpoint waits for it */
    ck_assert_int_eq(t.global_checkpoint, 9);
    ck_assert(tracker_advance(&t, id_of(1), 10));
    ck_assert(tracker_find(&t, id_of(1))->in_sync);
    ck_assert_int_eq(t.global_checkpoint, 10);
    ck_assert(!tracker_track(&t, id_of(1), node_of(2), 10));
    ck_assert(!tracker_catch_up(&t, id_of(2), 10, &now));
    tracker_fini(&t);
    state_part_unref(&meta->part);
}
END_TEST

START_TEST(test_what_cannot_be)
{
    struct tracker t;
    struct str_set none = {0};
    uint64_t term = 1;
    meta = index_meta_new();
    meta->n_shards = 1;
    meta->primary_terms = &term;
    meta->in_sync = &none;
    for (int i = 0; i < COPIES; i++) {
        forget(i);
    }
    for (int i = 0; i < 2; i++) {
        model[i].routed = model[i].promised = true;
    }
    model[2].routed = true;
    show();
    ck_assert_int_eq(tracker_init(&t, id_of(0), 9, 5, meta, 0, &routing, NULL), ERR_OK);
    /* More than the primary has; less than a copy in sync has promised, unless that is an old answer. */
    ck_assert(!tracker_believes(&t, id_of(1), 11, 10));
    ck_assert(!tracker_believes(&t, id_of(1), 4, 10));
    ck_assert(tracker_believes(&t, id_of(1), 5, 10));
    ck_assert(tracker_believes(&t, id_of(2), 4, 10) && !tracker_believes(&t, id_of(2), 11, 10));
    ck_assert(tracker_believes(&t, id_of(4), 11, 10));
    ck_assert(tracker_advance(&t, id_of(1), 7));
    ck_assert_int_eq(t.global_checkpoint, 7);
    ck_assert(tracker_believes(&t, id_of(1), 4, 10));
    /* The master has a copy in sync of which this one knows that it is not: what it has is to be heard of it. */
    ck_assert(tracker_track(&t, id_of(2), node_of(2), 9));
    ck_assert(!tracker_advance(&t, id_of(2), 3));
    model[2].promised = true;
    show();
    ck_assert_int_eq(tracker_update(&t, meta, 0, &routing, NULL), ERR_OK);
    tracker_invariant(&t);
    ck_assert(!tracker_believes(&t, id_of(2), 3, 10) && tracker_believes(&t, id_of(2), 7, 10));
    ck_assert(!tracker_advance(&t, id_of(1), 9));
    ck_assert(tracker_advance(&t, id_of(2), 9));
    ck_assert_int_eq(t.global_checkpoint, 9);
    tracker_fini(&t);
    state_part_unref(&meta->part);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("tracker");
    TCase *c = tcase_create("all");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, test_random, 0, 20);
    tcase_add_test(c, test_before_it_was_tracked);
    tcase_add_test(c, test_what_cannot_be);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
