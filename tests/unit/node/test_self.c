#include "node/self.h"

#include <check.h>

static struct arena arena;
static struct settings settings;

static void setup(void)
{
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&settings, &arena);
}

static void teardown(void)
{
    arena_fini(&arena);
}

static void put(const char *key, const char *value)
{
    ck_assert(settings_put(&settings, str_of(key), str_of(value)));
}

START_TEST(defaults)
{
    struct self me;
    struct node_report r;
    ERR_LOCAL(em);
    ck_assert_int_eq(self_init(&me, &settings, &arena, &em), ERR_OK);
    ck_assert_uint_eq(me.roles, 1U << NODE_DATA | 1U << NODE_INGEST | 1U << NODE_MASTER | 1U << NODE_REMOTE);
    ck_assert_int_eq(self_reachable(&me, &settings, 9303, &arena, &em), ERR_OK);
    ck_assert(str_is(me.transport_address, "127.0.0.1:9303"));
    ck_assert_int_eq(self_listening(&me, &settings, 9241, &arena, &em), ERR_OK);
    me.data_dir = STR("/");
    self_sample(&me);
    self_report(&me, NULL, &r);
    ck_assert(str_is(r.http_address, "127.0.0.1:9241"));
    ck_assert_uint_eq(r.http_body_bytes_max, 100 * MIB);
    ck_assert(r.disk.total_bytes > 0 && r.disk.available_bytes <= r.disk.free_bytes);
    ck_assert(r.cpu_percent >= -1 && r.cpu_percent <= 100);
    ck_assert_uint_eq(r.n_pools, 0);
}
END_TEST

START_TEST(roles)
{
    struct self me;
    ERR_LOCAL(em);
    put("node.master", "false");
    ck_assert_int_eq(self_init(&me, &settings, &arena, &em), ERR_OK);
    ck_assert_uint_eq(me.roles >> NODE_MASTER & 1, 0);
    put("node.roles", "master, data_hot");
    ck_assert_int_eq(self_init(&me, &settings, &arena, &em), ERR_OK);
    ck_assert_uint_eq(me.roles, 1U << NODE_MASTER | 1U << NODE_DATA_HOT);
    put("node.roles", "master,cook");
    ck_assert_int_eq(self_init(&me, &settings, &arena, &em), ERR_ILLEGAL_ARGUMENT);
}
END_TEST

START_TEST(no_roles)
{
    struct self me;
    ERR_LOCAL(em);
    ck_assert(settings_put_list(&settings, STR("node.roles"), NULL, 0));
    ck_assert_int_eq(self_init(&me, &settings, &arena, &em), ERR_OK);
    ck_assert_uint_eq(me.roles, 0);
}
END_TEST

START_TEST(addresses)
{
    struct self me;
    ERR_LOCAL(em);
    put("network.host", "10.1.2.3");
    put("transport.publish_port", "9400");
    put("http.publish_host", "::1");
    put("http.publish_port", "80");
    ck_assert_int_eq(self_init(&me, &settings, &arena, &em), ERR_OK);
    ck_assert_int_eq(self_listening(&me, &settings, 9200, &arena, &em), ERR_OK);
    ck_assert_int_eq(self_reachable(&me, &settings, 9300, &arena, &em), ERR_OK);
    ck_assert(str_is(me.transport_address, "10.1.2.3:9400"));
    ck_assert(str_is(me.http_address, "[::1]:80"));
}
END_TEST

START_TEST(pools)
{
    struct node_report r = {0};
    struct pool *p;
    ERR_LOCAL(em);
    struct pool_opts o = {.name = "t", .threads_max = 3, .queue_max = 7};
    ck_assert_int_eq(pool_new(&p, &o, &em), ERR_OK);
    self_add_pool(&r, "write", p);
    self_add_pool(&r, "none", NULL);
    ck_assert_uint_eq(r.n_pools, 1);
    ck_assert_uint_eq(r.pools[0].threads_max, 3);
    ck_assert_int_eq(r.pools[0].queue_max, 7);
    pool_free(p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("self");
    TCase *t = tcase_create("self");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults);
    tcase_add_test(t, roles);
    tcase_add_test(t, no_roles);
    tcase_add_test(t, addresses);
    tcase_add_test(t, pools);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
