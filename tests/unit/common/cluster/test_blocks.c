/* What a cluster without a master refuses, and what it says. */
#include "common/cluster/blocks.h"

#include <check.h>
#include <stdlib.h>

static struct cluster_state *new_state(const char *master, const char *mode)
{
    struct state_builder b;
    struct settings given;
    struct arena a;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert(state_builder_init(&b, NULL));
    struct nodes_part *p = nodes_part_new();
    p->master = master != NULL ? arena_str(&p->part.arena, str_of(master)) : STR_NULL;
    state_put_nodes(&b, p);
    settings_init(&given, &a);
    if (mode != NULL) {
        ck_assert(settings_put(&given, STR("cluster.no_master_block"), str_of(mode)));
    }
    struct settings_part *s = settings_part_new(&given);
    ck_assert_ptr_nonnull(s);
    state_put_settings(&b, s, true);
    struct cluster_state *state = state_builder_seal(&b, STR("s"));
    arena_fini(&a);
    ck_assert_ptr_nonnull(state);
    return state;
}

static void says(const struct cluster_state *s, const char *want)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    ck_assert(blocks_write(s, NULL, &w) == (want[0] != '\0'));
    ck_assert_msg(str_is(buf_view(&b), want), "%.*s", STR_ARG(buf_view(&b)));
    buf_fini(&b);
}

START_TEST(nobody_leads)
{
    static const struct {
        const char *master, *mode;
        bool reads; /* are refused */
        const char *said;
    } cases[] = {
        {"n1", NULL, false, ""},
        {"n1", "all", false, ""},
        {NULL, NULL, false,
         "{\"2\":{\"description\":\"no "
         "master\",\"retryable\":true,\"levels\":[\"write\",\"metadata_write\"]}}"},
        {NULL, "metadata_write", false,
         "{\"2\":{\"description\":\"no master\",\"retryable\":true,\"levels\":[\"metadata_write\"]}}"},
        {NULL, "all", true,
         "{\"2\":{\"description\":\"no master\",\"retryable\":true,\"levels\":[\"read\",\"write\","
         "\"metadata_read\",\"metadata_write\"]}}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct cluster_state *s = new_state(cases[i].master, cases[i].mode);
        ERR_LOCAL(em);
        enum err e = cluster_block_check(s, BLOCK_READ, &em);
        ck_assert_int_eq(e, cases[i].reads ? ERR_CLUSTER_BLOCK : ERR_OK);
        if (cases[i].reads) {
            ck_assert_str_eq(err_reason(&em), "blocked by: [SERVICE_UNAVAILABLE/2/no master];");
            ck_assert_int_eq(err_http_status(&em), 503);
        }
        ck_assert_int_eq(cluster_block_check(s, BLOCK_WRITE, &em), ERR_OK); /* they wait for a master */
        says(s, cases[i].said);
        cluster_state_unref(s);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("blocks");
    TCase *c = tcase_create("all");
    tcase_add_test(c, nobody_leads);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
