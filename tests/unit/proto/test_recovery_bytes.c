/* Numbers in messages of recoveries that no source sends. Whether all comes back that was sent, the walk over all messages says
 * (tests/unit/node/test_messages.c). */
#include "proto/recovery_bytes.h"

#include <check.h>
#include <stdlib.h>

/* Does it read? */
static bool reads(const struct codec *c, const void *of, void *out)
{
    struct arena arena;
    struct buf b;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    c->encode(of, &b);
    bool ok = codec_read(c, out, buf_view(&b), &arena);
    buf_fini(&b);
    arena_fini(&arena);
    return ok;
}

static bool reads_term(uint64_t term)
{
    struct recovery_plan p = {.primary_term = term, .manifest = STR("")}, got;
    return reads(message_recovery_start.answer, &p, &got) && got.primary_term == term;
}

/* A copy that took one that none can follow would refuse every primary from then on. */
START_TEST(terms)
{
    ck_assert(reads_term(1) && reads_term(INT64_MAX));
    ck_assert(!reads_term(0) && !reads_term((uint64_t)INT64_MAX + 1));
}
END_TEST

static bool reads_chunk(uint32_t length)
{
    struct recovery_chunk c = {3, 4, 1ULL << 35, length}, got;
    return reads(message_recovery_chunk.request, &c, &got) && got.length == length && got.offset == c.offset;
}

START_TEST(chunks)
{
    ck_assert(reads_chunk(1) && reads_chunk(TRANSPORT_CHUNK_BYTES));
    ck_assert(!reads_chunk(0) && !reads_chunk(TRANSPORT_CHUNK_BYTES + 1));
}
END_TEST

static bool reads_ops(uint64_t n)
{
    struct recovery_ops o = {.batch = 7, .n = n, .ops = STR("1234")}, got;
    return reads(message_recovery_ops.answer, &o, &got) && got.n == n;
}

/* Every operation has some bytes. */
START_TEST(operations)
{
    ck_assert(reads_ops(0) && reads_ops(4));
    ck_assert(!reads_ops(5) && !reads_ops(UINT64_MAX));
}
END_TEST

START_TEST(names)
{
    struct recovery_start s = {STR("uuid"), 7, STR("copy"), STR("node"), STR(""), -2}, got;
    const struct codec *c = message_recovery_start.request;
    ck_assert(reads(c, &s, &got) && got.shard == 7 && got.from == -2);
    s.allocation_id = STR("");
    ck_assert(!reads(c, &s, &got));
    s.allocation_id = STR("copy");
    s.node_id = STR("");
    ck_assert(!reads(c, &s, &got));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recovery_bytes");
    TCase *c = tcase_create("all");
    tcase_add_test(c, terms);
    tcase_add_test(c, chunks);
    tcase_add_test(c, operations);
    tcase_add_test(c, names);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
