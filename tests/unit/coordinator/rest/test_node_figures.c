/* A node's figures as bytes: what went in comes out, and damaged ones are refused. */
#include "coordinator/rest/node_figures.h"

#include <check.h>
#include <stddef.h>
#include <stdlib.h>

static struct rng rng;

static struct node_figures random_figures(struct arena *a)
{
    struct node_figures f = {.pid = (int64_t)rng_below(&rng, 99999), .started_ms = -7};
    f.report = (struct node_report){.host = STR("127.0.0.1"),
                                    .transport_address =
                                        arena_printf(a, "127.0.0.1:%u", (unsigned)rng_below(&rng, 65536)),
                                    .http_address = STR(""),
                                    .data_dir = STR("/data"),
                                    .roles = (unsigned)rng_below(&rng, 1U << NODE_ROLES_N),
                                    .cores = 3,
                                    .disk = {rng_u64(&rng), rng_u64(&rng), rng_u64(&rng)},
                                    .cpu_percent = -1,
                                    .process_cpu_percent = 55,
                                    .n_pools = (unsigned)rng_below(&rng, NODE_POOLS_MAX + 1)};
    for (unsigned i = 0; i < f.report.n_pools; i++) {
        f.report.pools[i] =
            (struct pool_report){.name = "write",
                                 .stats = {.queue = (size_t)rng_below(&rng, 100), .rejected = 5},
                                 .threads_max = 4,
                                 .queue_max = -1};
    }
    f.process.rss_bytes = rng_u64(&rng);
    f.machine.load_5m = 0.25;
    f.machine.memory_limit_bytes = rng_u64(&rng);
    f.shards.docs = rng_u64(&rng);
    f.shards.max_seq_no = -1;
    return f;
}

START_TEST(figures)
{
    struct arena a;
    struct buf b;
    struct node_figures out;
    rng_seed(&rng, (uint64_t)_i);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    struct node_figures in = random_figures(&a);
    buf_init(&b, NULL, BUF_UNLIMITED);
    node_figures_encode(&in, &b);
    ck_assert_int_eq(node_figures_decode(&out, buf_view(&b), &a, NULL), ERR_OK);
    ck_assert(in.pid == out.pid && in.started_ms == out.started_ms);
    ck_assert(str_eq(in.report.transport_address, out.report.transport_address));
    ck_assert_uint_eq(in.report.roles, out.report.roles);
    ck_assert_uint_eq(in.report.disk.available_bytes, out.report.disk.available_bytes);
    ck_assert_int_eq(out.report.cpu_percent, -1);
    ck_assert_uint_eq(in.report.n_pools, out.report.n_pools);
    for (unsigned i = 0; i < in.report.n_pools; i++) {
        ck_assert_str_eq(out.report.pools[i].name, "write");
        ck_assert_uint_eq(in.report.pools[i].stats.queue, out.report.pools[i].stats.queue);
        ck_assert_int_eq(out.report.pools[i].queue_max, -1);
    }
    ck_assert_uint_eq(in.process.rss_bytes, out.process.rss_bytes);
    ck_assert_double_eq(out.machine.load_5m, 0.25);
    ck_assert_uint_eq(in.shards.docs, out.shards.docs);
    ck_assert_int_eq(out.shards.max_seq_no, -1);
    for (size_t cut = 0; cut < b.n; cut++) {
        ck_assert_int_eq(node_figures_decode(&out, str_slice(buf_view(&b), 0, cut), &a, NULL), ERR_CORRUPT);
    }
    for (int i = 0; i < 300; i++) {
        size_t at = (size_t)rng_below(&rng, b.n);
        char was = b.p[at];
        b.p[at] = (char)(int)(rng_below(&rng, 256) - 128);
        enum err e = node_figures_decode(&out, buf_view(&b), &a, NULL);
        ck_assert(e == ERR_OK || e == ERR_CORRUPT);
        b.p[at] = was;
    }
    buf_fini(&b);
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("node_figures");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, figures, 0, 40);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
