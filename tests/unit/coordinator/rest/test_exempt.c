/* Which requests no limit of memory refuses. */
#include "coordinator/rest/service.h"

#include <check.h>
#include <stdlib.h>

static const struct {
    const char *path;
    bool exempt;
} cases[] = {
    {"/", true},
    {"", true},
    {"//", true},
    {"/_cluster/settings", true},
    {"/_cluster/settings/", true},
    {"/_cluster/settings2", false},
    {"/_cluster/health", true},
    {"/_cluster/health/hotels", true},
    {"/_cluster/state/metadata/hotels", true},
    {"/_cluster/stats/nodes/a", true},
    {"/_cluster/pending_tasks", false},
    {"/_cluster/reroute", false},
    {"/_cluster", false},
    {"/_nodes", true},
    {"/_nodes/a/stats/breaker", true},
    {"/_node", false},
    {"/_tasks", true},
    {"/_tasks/_cancel", true},
    {"/_tasks/a:1/_cancel", true},
    {"/_tasks/a:1", false},
    {"/_tasks/a:1/_cancel/more", false},
    {"/_stats", true},
    {"/hotels/_stats/docs", true},
    {"/hotels/_cache/clear", true},
    {"/hotels/_doc/_stats", false},
    {"/hotels/_search", false},
    {"/hotels", false},
    {"/_search", false},
    {"/_cat/health", false},
    {"/_console", true},
    {"/_prometheus/metrics", true},
};

START_TEST(paths)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_msg(rest_service_exempt(str_of(cases[i].path)) == cases[i].exempt, "%s", cases[i].path);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("exempt");
    TCase *t = tcase_create("all");
    tcase_add_test(t, paths);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
