/* The side of a recovery that gives beside a target that asks in its own way, over a network that loses questions and answers. */
#include "data/recovery/source.h"

#include "common/base/rand.h"

#include <check.h>
#include <string.h>

#define BATCHES 5

static struct rng rng;

/* What has been read of the history: each batch once, in order. */
static uint64_t was_read;

static void read_next(struct source *s, bool first)
{
    if (first) {
        ck_assert(!s->begun);
        source_begun(s);
    }
    ck_assert(s->reading);
    ck_assert_uint_eq(s->batch, was_read);
}

/* The batch that an answer has; UINT64_MAX: none comes. */
static uint64_t ask_ops(struct source *s, uint64_t batch)
{
    switch (source_ask_ops(s, batch)) {
    case SOURCE_BEGIN:
        read_next(s, true);
        break;
    case SOURCE_READ:
        read_next(s, false);
        break;
    case SOURCE_ANSWER_LAST:
        ck_assert_uint_eq(batch + 1, was_read);
        return batch;
    case SOURCE_BUSY:
        ck_assert(s->reading);
        return UINT64_MAX;
    case SOURCE_NOT_NEXT:
        ck_assert(batch != was_read && batch + 1 != was_read);
        return UINT64_MAX;
    case SOURCE_ANSWER:
    case SOURCE_LATER:
    case SOURCE_GONE:
        ck_abort_msg("no answer to a batch");
    }
    if (rng_below(&rng, 4) == 0) { /* it takes long: another question comes meanwhile, and is asked again */
        ck_assert_int_eq(source_ask_ops(s, batch), SOURCE_BUSY);
    }
    source_read(s, true);
    return was_read++;
}

START_TEST(test_operations)
{
    rng_seed(&rng, (uint64_t)_i + 1);
    struct source s;
    memset(&s, 0, sizeof(s));
    was_read = 0;
    for (uint64_t have = 0; have < BATCHES;) {
        uint64_t wrong = have + 2 + rng_below(&rng, 3);
        if (rng_below(&rng, 5) == 0) {
            ck_assert_uint_eq(ask_ops(&s, wrong), UINT64_MAX);
        }
        if (rng_below(&rng, 3) == 0) {
            continue; /* the question is lost */
        }
        uint64_t got = ask_ops(&s, have);
        ck_assert_uint_eq(got, have);
        have += rng_below(&rng, 3) > 0; /* else the answer is */
    }
    ck_assert_uint_ge(was_read, BATCHES);
}
END_TEST

/* FINALIZE is answered once: at once, when the target has come up, or when it has waited. It is never said to be in sync while another
 * copy takes this one's place. */
START_TEST(test_end)
{
    rng_seed(&rng, (uint64_t)_i + 1);
    struct source s;
    memset(&s, 0, sizeof(s));
    bool asked = false, handover = false;
    int64_t silent = 0;
    for (int i = 0; i < 2000; i++) {
        bool in_sync = rng_below(&rng, 3) == 0, handing = handover && rng_below(&rng, 2) == 0;
        bool tick = rng_below(&rng, 2) == 0, tracked = rng_below(&rng, 50) > 0;
        silent += (int64_t)rng_below(&rng, 400);
        struct source_view v = {tracked, in_sync, handing, silent};
        bool was = s.in_sync;
        switch (rng_below(&rng, 4)) {
        case 0: {
            enum source_answer a = source_ask_finalize(&s, tracked, in_sync);
            silent = 0;
            ck_assert((a == SOURCE_BUSY) == asked);
            ck_assert((a == SOURCE_GONE) == (!asked && !tracked));
            ck_assert((a == SOURCE_ANSWER) == (!asked && tracked && in_sync));
            ck_assert(a != SOURCE_ANSWER || s.in_sync);
            asked |= a == SOURCE_LATER;
            break;
        }
        case 1: {
            enum source_answer a = source_ask_handoff(&s, rng_below(&rng, 2) == 0);
            silent = 0;
            ck_assert(a == SOURCE_BUSY || (a == SOURCE_LATER && was && !handover));
            handover |= a == SOURCE_LATER;
            break;
        }
        case 2:
            ck_assert(source_drained(&s) == handover);
            handover = false;
            break;
        default: {
            enum source_look l = source_look(&s, &v, tick);
            ck_assert((l == SOURCE_OVER) == (!tracked || silent >= SOURCE_SESSION_MS));
            if (l == SOURCE_FINALIZES) {
                ck_assert(asked && s.in_sync == (in_sync && !handing));
                ck_assert(s.in_sync || (tick && silent >= SOURCE_FINALIZE_WAIT_MS));
                asked = false;
            } else if (l == SOURCE_GOES_ON && asked) {
                ck_assert(!in_sync || handing);
            }
        }
        }
        ck_assert(s.waits == asked);
    }
}
END_TEST

START_TEST(test_choice)
{
    struct source_choice c = {
        .from = 10, .same_history = true, .max_seq_no = 99, .history_from = 5, .docs = 90};
    ck_assert(source_by_operations(&c));
    c.from = 100; /* it lacks nothing */
    ck_assert(source_by_operations(&c));
    c.from = 101; /* it has what is not here */
    ck_assert(!source_by_operations(&c));
    c.from = 4; /* the history has gone */
    ck_assert(!source_by_operations(&c));
    c.from = -1;
    c.history_from = -5;
    ck_assert(!source_by_operations(&c));
    c = (struct source_choice){.from = 0, .max_seq_no = 99, .docs = 90};
    ck_assert(!source_by_operations(&c));
    c = (struct source_choice){
        .from = 0, .same_history = true, .max_seq_no = SOURCE_OPS_ALWAYS - 1, .history_from = 0, .docs = 1};
    ck_assert(source_by_operations(&c));
    c.max_seq_no++; /* so many, and more than a tenth of the documents */
    ck_assert(!source_by_operations(&c));
    c.docs = (SOURCE_OPS_ALWAYS + 1) * 10;
    ck_assert(source_by_operations(&c));
}
END_TEST

/* Whatever number comes first: nothing has been read that could be answered again. */
START_TEST(test_first_batch)
{
    struct source s = {0};
    ck_assert_int_eq(source_ask_ops(&s, UINT64_MAX), SOURCE_NOT_NEXT);
    ck_assert_int_eq(source_ask_ops(&s, 1), SOURCE_NOT_NEXT);
    ck_assert_int_eq(source_ask_ops(&s, 0), SOURCE_BEGIN);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("source");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, test_operations, 0, 20);
    tcase_add_loop_test(c, test_end, 0, 20);
    tcase_add_test(c, test_choice);
    tcase_add_test(c, test_first_batch);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
