/* Settings by their ids: what is set, what is behind, what the row says. */
#include "common/settings/setting_read.h"
#include "common/settings/setting_registry.h"

#include <check.h>

static struct arena arena;
static struct settings s, behind;

static void setup(void)
{
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    settings_init(&s, &arena);
    settings_init(&behind, &arena);
    s.behind = &behind;
}

static void teardown(void)
{
    arena_fini(&arena);
}

static void put(struct settings *to, enum setting_id id, const char *value)
{
    ck_assert(settings_put(to, setting_name(id), str_of(value)));
}

/* Each default is a value that the row itself takes, whichever reader asks for it. */
START_TEST(defaults_fit_their_rows)
{
    for (enum setting_id id = 0; id < SETTINGS_N; id++) {
        const struct setting_def *d = &setting_rows[id];
        char room[SETTING_ROOM];
        struct setting v = {.key = setting_name(id), .value = setting_default(d, NULL, room)};
        ERR_LOCAL(em);
        bool none = v.value.n == 0;
        ck_assert_msg(none || setting_check(d, &v, &em) == ERR_OK, "%s", d->name);
        ck_assert_msg((d->here != NULL) == (d->why != NULL), "%s", d->name);
        ck_assert_msg(
            setting_def_find(id < SETTINGS_OF_CLUSTER ? &setting_registry_cluster : &setting_registry_index,
                             v.key)
                == d,
            "%s", d->name);
    }
}
END_TEST

START_TEST(the_nearest_counts)
{
    const enum setting_id id = SET_INDEX_MAX_RESULT_WINDOW;
    ck_assert_int_eq(setting_i64(NULL, id), 10000);
    ck_assert_int_eq(setting_i64(&s, id), 10000);
    put(&behind, id, "3");
    ck_assert_int_eq(setting_i64(&s, id), 3);
    put(&s, id, "2");
    ck_assert_int_eq(setting_i64(&s, id), 2);
    ck_assert(settings_put_null(&s, setting_name(id)));
    ck_assert_int_eq(setting_i64(&s, id), 3);
    put(&s, id, "many"); /* no request and no start lets it through */
    ck_assert_int_eq(setting_i64(&s, id), 10000);
}
END_TEST

START_TEST(kinds)
{
    put(&s, SET_INDEX_HIDDEN, "true");
    put(&s, SET_INDEX_REFRESH_INTERVAL, "-1");
    put(&s, SET_INDEX_TRANSLOG_FLUSH_THRESHOLD_SIZE, "2kb");
    put(&s, SET_INDICES_BREAKER_REQUEST_LIMIT, "50%");
    put(&s, SET_CLUSTER_ROUTING_ALLOCATION_BALANCE_INDEX, "0.25");
    ck_assert(setting_bool(&s, SET_INDEX_HIDDEN) && !setting_bool(NULL, SET_INDEX_HIDDEN));
    ck_assert_int_eq(setting_ms(&s, SET_INDEX_REFRESH_INTERVAL), -1);
    ck_assert_int_eq(setting_ms(NULL, SET_INDEX_REFRESH_INTERVAL), 1000);
    ck_assert_int_eq(setting_bytes(&s, SET_INDEX_TRANSLOG_FLUSH_THRESHOLD_SIZE), 2048);
    ck_assert_int_eq(setting_share(&s, SET_INDICES_BREAKER_REQUEST_LIMIT, 1000), 500);
    ck_assert_int_eq(setting_share(NULL, SET_INDICES_BREAKER_REQUEST_LIMIT, 1000), 600);
    ck_assert(setting_double(&s, SET_CLUSTER_ROUTING_ALLOCATION_BALANCE_INDEX) == 0.25);
    ck_assert(str_is(setting_str(&s, SET_INDEX_TRANSLOG_DURABILITY), "REQUEST"));
}
END_TEST

START_TEST(lists)
{
    struct str *v, none;
    uint32_t n;
    ck_assert(setting_list(&s, SET_INDEX_QUERY_DEFAULT_FIELD, &arena, &v, &n));
    ck_assert(n == 1 && str_is(v[0], "*"));
    ck_assert(setting_list(NULL, SET_DISCOVERY_SEED_HOSTS, &arena, &v, &n) && n == 0);
    put(&behind, SET_INDEX_QUERY_DEFAULT_FIELD, "a, b");
    ck_assert(setting_list(&s, SET_INDEX_QUERY_DEFAULT_FIELD, &arena, &v, &n));
    ck_assert(n == 2 && str_is(v[1], "b"));
    ck_assert(settings_put_list(&s, setting_name(SET_NODE_ROLES), &none, 0));
    ck_assert(setting_list(&s, SET_NODE_ROLES, &arena, &v, &n) && n == 0);
    put(&behind, SET_NODE_ROLES, "data");
    ck_assert(setting_list(&s, SET_NODE_ROLES, &arena, &v, &n) && n == 0);
}
END_TEST

static void __attribute__((noinline)) use_stack(void)
{
    volatile char bytes[8 * KIB];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = 'x';
    }
}

/* A default that is computed lies in the arena, and not where it was computed. */
START_TEST(lists_stay)
{
    struct str *v;
    uint32_t n;
    put(&s, SET_NODE_INGEST, "false");
    ck_assert(setting_list(&s, SET_NODE_ROLES, &arena, &v, &n));
    use_stack();
    ck_assert_uint_eq(n, 3);
    ck_assert(str_is(v[0], "data") && str_is(v[1], "remote_cluster_client") && str_is(v[2], "master"));
}
END_TEST

START_TEST(computed)
{
    char room[SETTING_ROOM];
    put(&s, SET_INDEX_MAX_RESULT_WINDOW, "77");
    ck_assert_int_eq(setting_i64(&s, SET_INDEX_MAX_RESCORE_WINDOW), 77);
    put(&s, SET_INDEX_MAX_RESCORE_WINDOW, "5");
    ck_assert_int_eq(setting_i64(&s, SET_INDEX_MAX_RESCORE_WINDOW), 5);
    put(&behind, SET_PROCESSORS, "6");
    ck_assert_int_eq(setting_i64(&s, SET_THREAD_POOL_SEARCH_SIZE), 10);
    ck_assert_int_eq(setting_i64(&s, SET_THREAD_POOL_WRITE_SIZE), 6);
    ck_assert(str_is(setting_text(&s, SET_INDICES_BREAKER_TOTAL_LIMIT, room), "95%"));
    put(&s, SET_INDICES_BREAKER_TOTAL_USE_REAL_MEMORY, "false");
    ck_assert(str_is(setting_text(&s, SET_INDICES_BREAKER_TOTAL_LIMIT, room), "70%"));
    put(&s, SET_CLUSTER_ROUTING_ALLOCATION_NODE_CONCURRENT_RECOVERIES, "9");
    ck_assert_int_eq(setting_i64(&s, SET_CLUSTER_ROUTING_ALLOCATION_NODE_CONCURRENT_INCOMING_RECOVERIES), 9);
    put(&s, SET_NODE_DATA, "false");
    ck_assert(str_is(setting_text(&s, SET_NODE_ROLES, room), "remote_cluster_client,ingest,master"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("setting_read");
    TCase *t = tcase_create("setting_read");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, defaults_fit_their_rows);
    tcase_add_test(t, the_nearest_counts);
    tcase_add_test(t, kinds);
    tcase_add_test(t, lists);
    tcase_add_test(t, lists_stay);
    tcase_add_test(t, computed);
    suite_add_tcase(suite, t);
    SRunner *r = srunner_create(suite);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed > 0;
}
