/* Addresses of the database and the broker. */
#include "hotel/services.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* "user|password|host|port|path", or "error". */
static const char *parsed(const char *url)
{
    static char out[400];
    struct arena a;
    struct service_url u;
    ERR_LOCAL(em);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    if (service_url_parse(&u, str_of(url), "mysql", 3306, &a, &em) == ERR_OK) {
        snprintf(out, sizeof(out), "%.*s|%.*s|%.*s|%u|%.*s", STR_ARG(u.user), STR_ARG(u.password),
                 STR_ARG(u.host), u.port, STR_ARG(u.path));
    } else {
        ck_assert_ptr_null(strstr(err_reason(&em), "secret"));
        snprintf(out, sizeof(out), "error");
    }
    arena_fini(&a);
    return out;
}

START_TEST(urls)
{
    static const struct {
        const char *url, *want;
    } cases[] = {
        {"mysql://hotel:secret@db:3307/hotel", "hotel|secret|db|3307|hotel"},
        {"mysql://db", "||db|3306|"},
        {"mysql://db/", "||db|3306|"},
        {"mysql://root@127.0.0.1/a/b", "root||127.0.0.1|3306|a/b"},
        {"mysql://h:p%40ss%3Aword%2F@db/%2F", "h|p@ss:word/|db|3306|/"},
        {"mysql://h:a@secret@db/x", "h|a@secret|db|3306|x"},
        {"amqp://db", "error"},
        {"mysql:db", "error"},
        {"mysql://", "error"},
        {"mysql://h:secret@/x", "error"},
        {"mysql://db:0/x", "error"},
        {"mysql://db:65536/x", "error"},
        {"mysql://db:x/x", "error"},
        {"mysql://h:secret%4@db/x", "error"},
        {"", "error"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_str_eq(parsed(cases[i].url), cases[i].want);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("services");
    TCase *t = tcase_create("services");
    tcase_add_test(t, urls);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
