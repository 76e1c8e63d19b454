/* The account of memory: what is counted, what is refused, and in which words; from many threads at once. */
#include "common/base/err.h"
#include "common/base/jsonw.h"
#include "common/base/memory_account.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic uint64_t resident_now;
static _Atomic uint64_t purged;

static uint64_t resident(bool refusing)
{
    atomic_fetch_add(&purged, refusing ? 1 : 0);
    return atomic_load(&resident_now);
}

static struct memory_limits limits(uint64_t total, uint64_t part)
{
    struct memory_limits l = {.heap = GIB, .request_bytes = part, .real = true, .resident = resident};
    for (unsigned i = 0; i < MEMORY_PARTS; i++) {
        l.limit[i] = i == MEMORY_PARENT ? total : part;
        l.overhead[i] = 1;
    }
    return l;
}

static void set(uint64_t total, uint64_t part, uint64_t now)
{
    struct memory_limits l = limits(total, part);
    atomic_store(&resident_now, now);
    memory_limits_set(&l);
}

static uint64_t used(enum memory_part part)
{
    struct memory_stats s;
    memory_stats(&s);
    return s.part[part].used;
}

static void has(const char *text)
{
    ERR_LOCAL(em);
    ck_assert_int_eq(err_no_memory(&em), ERR_NO_MEMORY);
    ck_assert_msg(strstr(err_reason(&em), text) != NULL, "[%s] is not in [%s]", text, err_reason(&em));
}

START_TEST(counts_blocks)
{
    struct arena a;
    struct buf b;
    memory_request_arena(&a);
    memory_request_buf(&b);
    ck_assert_ptr_nonnull(arena_alloc(&a, 3 * MIB));
    for (unsigned i = 0; i < 1000; i++) {
        buf_printf(&b, "%u", i);
    }
    ck_assert_uint_ge(used(MEMORY_REQUEST), 3 * MIB + b.n);
    arena_reset(&a);
    arena_fini(&a);
    buf_fini(&b);
    ck_assert_uint_eq(used(MEMORY_REQUEST), 0);
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_z(&b, "an answer");
    memory_adopt(MEMORY_IN_FLIGHT, &b);
    ck_assert_uint_ge(used(MEMORY_IN_FLIGHT), b.n);
    size_t n;
    const struct allocator *alloc = b.alloc;
    alloc_put(alloc, buf_take(&b, &n));
    ck_assert_uint_eq(used(MEMORY_IN_FLIGHT), 0);
}
END_TEST

START_TEST(refuses_over_a_parts_limit)
{
    set(100 * MIB, 10 * MIB, 0);
    ck_assert(memory_take(MEMORY_IN_FLIGHT, 10 * MIB));
    ck_assert(!memory_take(MEMORY_IN_FLIGHT, 1));
    has("[in_flight_requests] Data too large, data for [<http_request>] would be [10485761/10mb], which is "
        "larger than the limit "
        "of [10485760/10mb]");
    ck_assert(memory_take(MEMORY_REQUEST, 1)); /* the others are as they were */
    memory_give(MEMORY_IN_FLIGHT, 10 * MIB);
    memory_give(MEMORY_REQUEST, 1);
    struct memory_stats s;
    memory_stats(&s);
    ck_assert_uint_eq(s.part[MEMORY_IN_FLIGHT].tripped, 1);
    ck_assert_uint_eq(s.part[MEMORY_PARENT].tripped, 0);
    ck_assert_uint_eq(s.part[MEMORY_IN_FLIGHT].used, 0);
}
END_TEST

START_TEST(refuses_a_request_over_its_ceiling)
{
    struct arena a;
    struct buf b;
    set(100 * MIB, 4 * MIB, 0);
    memory_request_arena(&a);
    memory_request_buf(&b);
    ck_assert_ptr_null(arena_alloc(&a, 5 * MIB));
    has("[request] Data too large, data for [<reused_arrays>] would be [5");
    ck_assert_ptr_null(buf_reserve(&b, 5 * MIB));
    has("which is larger than the limit of [4194304/4mb]");
    has("[parent] Data too large"); /* said once */
    arena_fini(&a);
    buf_fini(&b);
}
END_TEST

/* The parent sees what nobody counts; small blocks get a little more than large ones; free pages are asked for first. */
START_TEST(refuses_by_what_the_process_holds)
{
    set(64 * MIB, 64 * MIB, 63 * MIB);
    atomic_store(&purged, 0);
    ck_assert(!memory_take(MEMORY_REQUEST, 3 * MIB));
    ck_assert_uint_ge(atomic_load(&purged), 1);
    has("[parent] Data too large, data for [<reused_arrays>] would be [");
    ck_assert(!memory_take(MEMORY_REQUEST, 3 * MIB));
    has("], which is larger than the limit of [67108864/64mb], real usage: [66060288/63mb], new bytes "
        "reserved: [3145728/3mb], usages "
        "[request=");
    ck_assert(memory_take(MEMORY_REQUEST, 4 * KIB));
    memory_give(MEMORY_REQUEST, 4 * KIB);
    set(64 * MIB, 64 * MIB, 64 * MIB + MIB);
    ck_assert(!memory_take(MEMORY_REQUEST, MEMORY_BLOCK_SMALL));
    ck_assert(memory_take(MEMORY_REQUEST, 4 * KIB));
    memory_give(MEMORY_REQUEST, 4 * KIB);
    set(64 * MIB, 64 * MIB, 67 * MIB);
    ck_assert(!memory_take(MEMORY_REQUEST, 4 * KIB));
    set(64 * MIB, 64 * MIB, 10 * MIB); /* what was freed is room again, at once */
    ck_assert(memory_take(MEMORY_REQUEST, 3 * MIB));
    memory_give(MEMORY_REQUEST, 3 * MIB);
    ck_assert_uint_eq(used(MEMORY_REQUEST), 0);
}
END_TEST

/* A limit of nothing refuses all, also what needs nothing; none at all refuses nothing. */
START_TEST(limits_of_nothing_and_none)
{
    set(MEMORY_UNLIMITED, 0, 0);
    ck_assert(!memory_take(MEMORY_IN_FLIGHT, 1));
    has("[in_flight_requests] Data too large, data for [<http_request>] would be [1/1b], which is larger "
        "than the "
        "limit of [0/0b]");
    ck_assert(!memory_room(MEMORY_IN_FLIGHT, 0, NULL));
    ck_assert(!memory_room(MEMORY_REQUEST, 6 * KIB, "preallocate[aggregations]"));
    has("[request] Data too large, data for [preallocate[aggregations]] would be [6144/6kb], which is larger "
        "than "
        "the limit of [0/0b]");
    set(0, MEMORY_UNLIMITED, 1);
    ck_assert(!memory_room(MEMORY_IN_FLIGHT, 0, NULL));
    has("[parent] Data too large, data for [<http_request>] would be [");
    set(MEMORY_UNLIMITED, MEMORY_UNLIMITED, 70 * MIB);
    ck_assert(memory_take(MEMORY_IN_FLIGHT, GIB));
    memory_give(MEMORY_IN_FLIGHT, GIB);
    ck_assert_uint_eq(used(MEMORY_IN_FLIGHT), 0);
}
END_TEST

/* Who needs little of a part is the parent's to refuse; asking for room counts nothing. */
START_TEST(small_requests_pass_a_parts_limit)
{
    struct arena a;
    set(GIB, 1, 0);
    memory_request_arena(&a);
    a.bytes_max = ARENA_UNLIMITED;
    ck_assert_ptr_nonnull(arena_alloc(&a, 3 * KIB));
    ck_assert_ptr_nonnull(arena_alloc(&a, 7 * KIB));
    ck_assert_ptr_null(arena_alloc(&a, MEMORY_BLOCK_SMALL));
    has("[request] Data too large");
    uint64_t before = used(MEMORY_REQUEST);
    ck_assert(!memory_room(MEMORY_REQUEST, 1, NULL));
    ck_assert_uint_eq(used(MEMORY_REQUEST), before);
    arena_fini(&a);
    ck_assert_uint_eq(used(MEMORY_REQUEST), 0);
}
END_TEST

/* What must be answered is counted, and not refused; its arena may come under the limits later. */
START_TEST(exempt_is_counted)
{
    struct arena a;
    set(1, 0, MIB);
    memory_request_arena(&a);
    a.bytes_max = ARENA_UNLIMITED;
    a.alloc = memory_allocator_exempt(MEMORY_REQUEST);
    ck_assert_ptr_nonnull(arena_alloc(&a, KIB));
    ck_assert_ptr_nonnull(arena_alloc(&a, MIB));
    ck_assert_uint_ge(used(MEMORY_REQUEST), MIB);
    a.alloc = memory_allocator(MEMORY_REQUEST);
    ck_assert_ptr_null(arena_alloc(&a, MIB));
    arena_fini(&a);
    ck_assert_uint_eq(used(MEMORY_REQUEST), 0);
}
END_TEST

/* A body that is sent to what is exempt may be small whatever the limits say, and large as others may. */
START_TEST(exempt_bodies_are_small)
{
    const struct allocator *exempt = memory_allocator_exempt(MEMORY_IN_FLIGHT);
    set(MEMORY_UNLIMITED, 0, 0);
    void *body = exempt->resize(exempt->self, NULL, MEMORY_BLOCK_SMALL / 2);
    ck_assert_ptr_nonnull(body);
    ck_assert_ptr_null(exempt->resize(exempt->self, body, MEMORY_BLOCK_SMALL));
    has("[in_flight_requests] Data too large");
    set(MEMORY_UNLIMITED, MIB, 0);
    body = exempt->resize(exempt->self, body, 2 * MEMORY_BLOCK_SMALL);
    ck_assert_ptr_nonnull(body);
    exempt->release(exempt->self, body);
    ck_assert_uint_eq(used(MEMORY_IN_FLIGHT), 0);
}
END_TEST

static bool lasts(enum memory_part part)
{
    ERR_LOCAL(em);
    ck_assert(!memory_take(part, 65 * MIB));
    err_no_memory(&em);
    ck_assert_int_eq(err_about(&em)->refused.bytes_limit, 64 * MIB);
    ck_assert_int_ge(err_about(&em)->refused.bytes_wanted, 65 * MIB);
    return err_about(&em)->refused.lasting;
}

/* What goes with a reason, whatever its words are: what was wanted, the limit, whether what is in the way goes by itself. */
START_TEST(says_how_long_it_lasts)
{
    set(100 * MIB, 64 * MIB, 0);
    ck_assert(!lasts(MEMORY_REQUEST));
    ck_assert(!lasts(MEMORY_IN_FLIGHT));
    ck_assert(lasts(MEMORY_FIELDDATA));
    ck_assert(lasts(MEMORY_ACCOUNTING));
    set(64 * MIB, 100 * MIB, 0);
    memory_add(MEMORY_ACCOUNTING, 2);
    ck_assert(lasts(MEMORY_REQUEST));
    memory_add(MEMORY_REQUEST, 3);
    ck_assert(!lasts(MEMORY_REQUEST));
    memory_give(MEMORY_REQUEST, 3);
    memory_give(MEMORY_ACCOUNTING, 2);
}
END_TEST

START_TEST(writes_what_goes_with_a_refusal)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    memory_write_refusal(&w, &(struct err_refused){7, 5, true});
    jw_obj_end(&w);
    ck_assert(str_is(buf_view(&b), "{\"bytes_wanted\":7,\"bytes_limit\":5,\"durability\":\"PERMANENT\"}"));
    buf_fini(&b);
}
END_TEST

START_TEST(guards_the_default_allocator)
{
    struct buf b;
    set(64 * MIB, 64 * MIB, 70 * MIB);
    buf_init(&b, NULL, BUF_UNLIMITED);
    ck_assert_ptr_nonnull(buf_reserve(&b, MIB)); /* the node's own work */
    buf_fini(&b);
    ck_assert(!memory_guard(true));
    ck_assert_ptr_null(buf_reserve(&b, MIB));
    ck_assert(b.failed);
    buf_reset(&b);
    ck_assert_ptr_nonnull(buf_reserve(&b, KIB));
    ck_assert(memory_guard(false));
    buf_fini(&b);
}
END_TEST

static void *take_and_give(void *arg)
{
    unsigned *refused = arg;
    for (unsigned i = 0; i < 20000; i++) {
        size_t n = (size_t)(i % 64 + 1) * KIB;
        struct arena a;
        memory_request_arena(&a);
        if (memory_take(MEMORY_IN_FLIGHT, n)) {
            memory_give(MEMORY_IN_FLIGHT, n);
        } else {
            ++*refused;
        }
        *refused += arena_alloc(&a, n) == NULL;
        arena_fini(&a);
    }
    return NULL;
}

START_TEST(many_threads)
{
    enum { N = 4 };
    pthread_t t[N];
    unsigned refused[N] = {0};
    set(200 * MIB, 100 * MIB, 100 * MIB);
    for (unsigned i = 0; i < N; i++) {
        ck_assert_int_eq(pthread_create(&t[i], NULL, take_and_give, &refused[i]), 0);
    }
    for (unsigned i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        ck_assert_uint_eq(refused[i], 0); /* there was room for all of them at every moment */
    }
    ck_assert_uint_eq(used(MEMORY_IN_FLIGHT), 0);
    ck_assert_uint_eq(used(MEMORY_REQUEST), 0);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("memory account");
    TCase *t = tcase_create("all");
    tcase_add_test(t, counts_blocks);
    tcase_add_test(t, refuses_over_a_parts_limit);
    tcase_add_test(t, refuses_a_request_over_its_ceiling);
    tcase_add_test(t, refuses_by_what_the_process_holds);
    tcase_add_test(t, limits_of_nothing_and_none);
    tcase_add_test(t, small_requests_pass_a_parts_limit);
    tcase_add_test(t, exempt_is_counted);
    tcase_add_test(t, exempt_bodies_are_small);
    tcase_add_test(t, says_how_long_it_lasts);
    tcase_add_test(t, writes_what_goes_with_a_refusal);
    tcase_add_test(t, guards_the_default_allocator);
    tcase_add_test(t, many_threads);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
