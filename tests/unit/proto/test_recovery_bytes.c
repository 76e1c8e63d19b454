/* Messages of recoveries: what goes in comes out; whatever else comes in is refused or harmless. */
#include "common/base/rand.h"
#include "proto/recovery_bytes.h"
#include "proto/transport.h"

#include <check.h>
#include <stdlib.h>

static struct buf b;

static struct bytes_in again(void)
{
    ck_assert(!b.failed);
    return bytes_in(buf_view(&b));
}

START_TEST(there_and_back)
{
    struct recovery_start s = {STR("uuid"), 7, STR("copy"), STR("node"), STR("history"), -2}, s2;
    struct recovery_plan p = {1ULL << 40, 9, -1, STR("manifest"), 12345}, p2;
    struct recovery_chunk c = {3, 4, 1ULL << 35, TRANSPORT_CHUNK_BYTES}, c2;
    struct recovery_ops_wish w = {5, 6}, w2;
    struct recovery_ops o = {7, 0, 9, true, 10}, o2;
    struct recovery_finalize f = {11, -1}, f2;
    struct recovery_finalized d = {true, 12}, d2;
    struct recovery_handoff h = {13, 1}, h2;
    struct recovery_copy k = {STR("copy"), 14, true}, k2;
    struct bytes_in in;
    buf_init(&b, NULL, BUF_UNLIMITED);
    recovery_start_encode(&s, &b);
    recovery_plan_encode(&p, &b);
    recovery_chunk_encode(&c, &b);
    recovery_ops_wish_encode(&w, &b);
    recovery_ops_encode(&o, &b);
    recovery_finalize_encode(&f, &b);
    recovery_finalized_encode(&d, &b);
    recovery_handoff_encode(&h, &b);
    recovery_copy_encode(&k, &b);
    in = again();
    recovery_start_decode(&s2, &in);
    recovery_plan_decode(&p2, &in);
    recovery_chunk_decode(&c2, &in);
    recovery_ops_wish_decode(&w2, &in);
    recovery_ops_decode(&o2, &in);
    recovery_finalize_decode(&f2, &in);
    recovery_finalized_decode(&d2, &in);
    recovery_handoff_decode(&h2, &in);
    recovery_copy_decode(&k2, &in);
    ck_assert(!in.bad && bytes_left(&in) == 0);
    ck_assert(str_eq(s.index_uuid, s2.index_uuid) && s.shard == s2.shard && s.from == s2.from);
    ck_assert(str_eq(s.allocation_id, s2.allocation_id) && str_eq(s.node_id, s2.node_id)
              && str_eq(s.history_uuid, s2.history_uuid));
    ck_assert(p.session == p2.session && p.primary_term == p2.primary_term && p.ops == p2.ops
              && p.global_checkpoint == p2.global_checkpoint && str_eq(p.manifest, p2.manifest));
    ck_assert(c.session == c2.session && c.file == c2.file && c.offset == c2.offset && c.length == c2.length);
    ck_assert(w.session == w2.session && w.batch == w2.batch);
    ck_assert(o.batch == o2.batch && o.n == o2.n && o.total == o2.total && o.more == o2.more
              && o.mapping_version == o2.mapping_version);
    ck_assert(f.session == f2.session && f.local_checkpoint == f2.local_checkpoint);
    ck_assert(d.in_sync == d2.in_sync && d.global_checkpoint == d2.global_checkpoint);
    ck_assert(h.global_checkpoint == h2.global_checkpoint && h.n == h2.n);
    ck_assert(str_eq(k.allocation_id, k2.allocation_id) && k.local_checkpoint == k2.local_checkpoint
              && k.in_sync == k2.in_sync);
    buf_fini(&b);
}
END_TEST

START_TEST(whatever_comes)
{
    struct rng rng;
    rng_seed(&rng, (uint64_t)_i);
    for (unsigned round = 0; round < 2000; round++) {
        char bytes[48];
        size_t n = (size_t)rng_below(&rng, sizeof(bytes) + 1);
        for (size_t i = 0; i < n; i++) {
            bytes[i] = (char)(rng_below(&rng, 3) == 0 ? rng_below(&rng, 256) : rng_below(&rng, 4));
        }
        char *copy = malloc(n + 1); /* its end is the allocation's, for what watches */
        memcpy(copy, bytes, n);
        struct bytes_in in = bytes_in(str_mk(copy, n));
        struct recovery_start s;
        struct recovery_chunk c;
        struct recovery_ops o;
        struct recovery_handoff h;
        struct recovery_copy k;
        recovery_start_decode(&s, &in);
        ck_assert(in.bad || (s.allocation_id.n > 0 && s.node_id.n > 0));
        in = bytes_in(str_mk(copy, n));
        recovery_chunk_decode(&c, &in);
        ck_assert(in.bad || (c.length > 0 && c.length <= TRANSPORT_CHUNK_BYTES));
        in = bytes_in(str_mk(copy, n));
        recovery_ops_decode(&o, &in);
        ck_assert(in.bad || o.n <= n);
        in = bytes_in(str_mk(copy, n));
        recovery_handoff_decode(&h, &in);
        for (size_t i = 0; i < h.n && !in.bad; i++) {
            recovery_copy_decode(&k, &in);
        }
        free(copy);
    }
}
END_TEST

static bool reads_term(uint64_t term)
{
    struct recovery_plan p = {.primary_term = term, .manifest = STR("")}, got;
    buf_init(&b, NULL, BUF_UNLIMITED);
    recovery_plan_encode(&p, &b);
    struct bytes_in in = again();
    recovery_plan_decode(&got, &in);
    buf_fini(&b);
    return !in.bad;
}

/* A copy that took one that none can follow would refuse every primary from then on. */
START_TEST(terms)
{
    ck_assert(reads_term(1) && reads_term(INT64_MAX));
    ck_assert(!reads_term(0) && !reads_term((uint64_t)INT64_MAX + 1));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("recovery_bytes");
    TCase *c = tcase_create("all");
    tcase_add_test(c, terms);
    tcase_add_test(c, there_and_back);
    tcase_add_loop_test(c, whatever_comes, 0, 5);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
