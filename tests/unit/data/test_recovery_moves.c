/* Copies of a shard that move: the place of a primary is handed over, or the move is called off. */
#include "data/shard/shard.h"
#include "tests/unit/data/data_rig.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

static struct dr_rig rig;

static void put(unsigned id, unsigned n)
{
    char name[16], source[64];
    snprintf(name, sizeof(name), "%u", id);
    snprintf(source, sizeof(source), "{\"n\":%u,\"t\":\"x%u\"}", n, n % 7);
    ck_assert_int_eq(dr_write(&rig, name, source), ERR_OK);
}

static void drop(unsigned id)
{
    char name[16];
    snprintf(name, sizeof(name), "%u", id);
    ck_assert_int_eq(dr_write(&rig, name, NULL), ERR_OK);
}

/* Several commits and segments, documents that were deleted and written again. */
static void fill(unsigned n, unsigned flushes)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned id = (unsigned)rng_below(&rig.rng, n / 2 + 1);
        if (rng_below(&rig.rng, 5) == 0) {
            drop(id);
        } else {
            put(id, i);
        }
        if (flushes > 0 && i % (n / flushes + 1) == 0) {
            dr_act(&rig, rig.copies[0].node, SHARD_FLUSH);
        }
    }
}

/* Writes go on all the time; none is refused, and the copy has them. */
static unsigned writing, refused;

static void write_some(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        char id[16], source[64];
        snprintf(id, sizeof(id), "%u", (unsigned)rng_below(&rig.rng, 150));
        snprintf(source, sizeof(source), "{\"n\":%u}", (unsigned)rng_below(&rig.rng, 100000));
        dr_write_later(&rig, id, rng_below(&rig.rng, 6) == 0 ? NULL : source, &writing, &refused);
        if (rng_below(&rig.rng, 4) == 0) {
            dr_run(&rig, 1);
        }
    }
}

static bool quiet(struct dr_rig *r)
{
    (void)r;
    return writing == 0;
}

/* Replicas and primaries move, under load; nobody's write is refused for good. */
START_TEST(copies_move)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 1000);
    fill(150, 3);
    writing = refused = 0;
    unsigned copy = (unsigned)_i % 2;
    for (int i = 0; i < RIG_NODES; i++) { /* nobody hears of it at the same time */
        rig.nodes[i].lag_ms = _i < 12 ? 0 : (int64_t)rng_below(&rig.rng, 60);
    }
    dr_move(&rig, (int)copy, 2);
    for (unsigned i = 0; !dr_green(&rig); i++) {
        ck_assert_uint_lt(i, 3000);
        if (_i % 4 < 2) {
            write_some(2);
        } else {
            dr_run(&rig, 1);
        }
    }
    dr_until(&rig, quiet, 5000);
    dr_run(&rig, 100);
    ck_assert_int_eq(rig.copies[copy].node, 2);
    fill(50, 1);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* Requests that wait for a refresh which nobody would make do not hold a primary back. */
START_TEST(a_move_refreshes)
{
    dr_init(&rig, (uint64_t)_i);
    rig.no_refresh = true;
    dr_create(&rig, 0);
    fill(40, 2);
    writing = refused = 0;
    rig.refresh = REFRESH_WAIT;
    write_some(5);
    dr_run(&rig, 500);
    ck_assert_uint_eq(writing, 5);
    dr_move(&rig, 0, 1);
    dr_until(&rig, dr_green, 2000);
    dr_until(&rig, quiet, 100);
    ck_assert_uint_eq(refused, 0);
    dr_fini(&rig);
}
END_TEST

/* A primary on its way, whose target never becomes it. */
START_TEST(a_move_is_called_off)
{
    unsigned moment = (unsigned)_i;
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    dr_add_copy(&rig, 1);
    dr_until(&rig, dr_green, 1000);
    fill(80, 3);
    dr_move(&rig, 0, 2);
    for (unsigned i = 0; i < moment * 10; i++) {
        dr_step(&rig);
    }
    dr_stop(&rig, 2, 0);
    if (rig.copies[0].target == 2) {
        rig.copies[0].target = -1;
        rig.copies[0].state = COPY_STARTED;
        dr_publish(&rig);
    } else {
        dr_drop_copy(&rig, 0, false);
    }
    fill(40, 1);
    dr_start(&rig, 2);
    dr_publish(&rig);
    if (!dr_green(&rig)) {
        dr_assign(&rig, 1, 2);
    }
    dr_until(&rig, dr_green, 5000);
    dr_check_equal(&rig, 160);
    dr_fini(&rig);
}
END_TEST

/* States reach the nodes at different times: the source hears of the target late, the target of a mapping. */
START_TEST(late_states)
{
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    fill(60, 2);
    rig.nodes[0].lag_ms = _i % 2 == 0 ? 150 : 0;
    rig.nodes[1].lag_ms = _i % 2 == 0 ? 0 : 400;
    snprintf(rig.mapping, sizeof(rig.mapping), "%s",
             "{\"properties\":{\"n\":{\"type\":\"long\"},\"t\":{\"type\":\"keyword\"},\"more\":{\"type\":"
             "\"keyword\"}}}");
    int64_t since = clock_mono_ms(&rig.clock.base);
    dr_add_copy(&rig, 1);
    dr_run(&rig, 600);
    rig.mapping_version++;
    dr_publish(&rig);
    dr_run(&rig, rig.nodes[0].lag_ms + 20);
    if (_i % 4 < 2) {
        dr_until(&rig, dr_green, 2000);
        ck_assert_int_le(clock_mono_ms(&rig.clock.base) - since, 1000);
        dr_move(&rig, 1, 2);
    }
    for (unsigned i = 0; i < 10; i++) {
        char id[16];
        snprintf(id, sizeof(id), "%u", i);
        ck_assert_int_eq(dr_write(&rig, id, "{\"more\":\"field\"}"), ERR_OK);
    }
    dr_until(&rig, dr_green, 2000);
    dr_run(&rig, 500);
    dr_check_equal(&rig, 60);
    dr_fini(&rig);
}
END_TEST

/* ---- a shard that is busy ---- */

static bool rejected;

static void act_done(struct shard_rq *rq)
{
    rejected |= err_code(&rq->error) == ERR_REJECTED;
    shard_rq_fini(rq);
    free(rq);
}

/* As much waits as may. */
static void fill_strand(const struct shard_api *api)
{
    for (rejected = false; !rejected;) {
        struct shard_act *a = calloc(1, sizeof(*a));
        shard_rq_init(&a->rq, &shard_op_act, act_done, NULL);
        a->action = SHARD_CLEAR_CACHE;
        a->rq.shard = (struct shard_ref){STR("i"), STR(RIG_UUID), 0};
        api->serve(api->self, &a->rq);
        later_run(); /* what is refused */
    }
}

/* What searches see knows the fields of the newest mapping. */
START_TEST(a_mapping_reaches_a_busy_shard)
{
    ERR_LOCAL(em);
    dr_init(&rig, (uint64_t)_i);
    dr_create(&rig, 0);
    fill(5, 0);
    struct data_service *s = rig.nodes[0].s;
    struct mapping *old = data_mapping(s, STR(RIG_UUID)), *new = NULL;
    rig.mapping_version++;
    dr_publish(&rig);
    for (unsigned i = 0; new == NULL; i++) {
        ck_assert_uint_lt(i, 1000);
        fill_strand(data_api(s));
        dr_step(&rig);
        new = data_mapping(s, STR(RIG_UUID));
        if (new == old) {
            mapping_unref(new);
            new = NULL;
        }
    }
    dr_run(&rig, 500);
    struct shard *sh = shard_find(s, &(struct shard_ref){STR("i"), STR(RIG_UUID), 0}, &em);
    struct view *v = shard_view(sh);
    ck_assert_ptr_eq(v->mapping, new);
    view_unref(v);
    shard_unref(sh);
    mapping_unref(old);
    mapping_unref(new);
    dr_fini(&rig);
}
END_TEST

static void add(Suite *s, const char *name, const TTest *test, int n)
{
    TCase *c = tcase_create(name);
    tcase_set_timeout(c, 300);
    tcase_add_loop_test(c, test, 0, n);
    suite_add_tcase(s, c);
}

int main(void)
{
    Suite *s = suite_create("recovery of copies that move");
    add(s, "copies_move", copies_move, 60);
    add(s, "a_move_refreshes", a_move_refreshes, 4);
    add(s, "a_move_is_called_off", a_move_is_called_off, 40);
    add(s, "late_states", late_states, 8);
    add(s, "a_mapping_reaches_a_busy_shard", a_mapping_reaches_a_busy_shard, 4);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
