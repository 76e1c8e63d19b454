/* Which requests are taken for a page's of elsewhere. */
#include "common/sys/http_site.h"

#include <check.h>

static enum http_site_says ask(const struct http_site *site, enum http_verb method, const char *path,
                               const char *host, const char *origin, const char *fetch, const char *mode)
{
    const char *names[] = {"Host", "Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"},
               *values[] = {host, origin, fetch, mode};
    struct http_header h[4];
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (values[i] != NULL) {
            h[n++] = (struct http_header){str_of(names[i]), str_of(values[i])};
        }
    }
    return http_site_check(site, method, str_of(path), h, n);
}

START_TEST(by_headers)
{
    static const struct str hosts[] = {{"search.example", 14}},
                            origins[] = {{"https://shop.example:8443", 25}};
    static const struct http_site site = {
        .hosts = hosts, .hosts_n = 1, .origins = origins, .origins_n = 1, .pages = "/_console"};
    static const struct {
        enum http_verb method;
        const char *path, *host, *origin, *fetch, *mode;
        enum http_site_says says;
    } cases[] = {
        /* no browsers */
        {HTTP_M_POST, "/", "evil.example", NULL, NULL, NULL, SITE_OWN},
        {HTTP_M_POST, "/", NULL, NULL, NULL, NULL, SITE_OWN},
        /* our own pages */
        {HTTP_M_POST, "/", "localhost:9200", "http://localhost:9200", "same-origin", "cors", SITE_OWN},
        {HTTP_M_POST, "/", "LOCALHOST:80", "http://localhost", NULL, NULL, SITE_OWN},
        {HTTP_M_POST, "/", "a.localhost", "http://a.localhost", NULL, NULL, SITE_OWN},
        {HTTP_M_POST, "/", "10.1.2.3:9200", "http://10.1.2.3:9200", NULL, NULL, SITE_OWN},
        {HTTP_M_POST, "/", "[::1]:9200", "http://[::1]:9200", NULL, NULL, SITE_OWN},
        {HTTP_M_POST, "/", "search.example", "https://search.example", NULL, NULL, SITE_OWN},
        {HTTP_M_GET, "/a", "localhost", NULL, "none", "navigate", SITE_OWN},
        {HTTP_M_GET, "/a", "localhost", NULL, "same-origin", "cors", SITE_OWN},
        /* pages elsewhere */
        {HTTP_M_POST, "/", "localhost:9200", "http://evil.example", NULL, NULL, SITE_FOREIGN},
        {HTTP_M_POST, "/", "localhost:9200", "http://localhost:8000", NULL, NULL, SITE_FOREIGN},
        {HTTP_M_POST, "/", "localhost:9200", "null", NULL, NULL, SITE_FOREIGN},
        {HTTP_M_POST, "/", "localhost:9200", "", NULL, NULL, SITE_FOREIGN},
        {HTTP_M_POST, "/", "localhost:9200", NULL, "cross-site", "no-cors", SITE_FOREIGN},
        {HTTP_M_POST, "/", "localhost:9200", NULL, "same-site", "cors", SITE_FOREIGN},
        {HTTP_M_POST, "/_console/", "localhost:9200", NULL, "cross-site", "navigate", SITE_FOREIGN},
        {HTTP_M_GET, "/_console/", "localhost:9200", NULL, "cross-site", "navigate", SITE_OWN},
        {HTTP_M_GET, "/_search", "localhost:9200", NULL, "cross-site", "navigate", SITE_FOREIGN},
        {HTTP_M_POST, "/", "localhost:9200", "https://shop.example:8443", "cross-site", "cors", SITE_SHARED},
        {HTTP_M_POST, "/", "localhost:9200", "http://shop.example:8443", "cross-site", "cors", SITE_FOREIGN},
        /* a name that was made to lead here */
        {HTTP_M_POST, "/", "evil.example:9200", "http://evil.example:9200", "same-origin", "cors",
         SITE_FOREIGN},
        {HTTP_M_GET, "/", "evil.example:9200", NULL, "same-origin", "cors", SITE_FOREIGN},
        {HTTP_M_GET, "/", "localhost.evil.example", NULL, "same-origin", "cors", SITE_FOREIGN},
        {HTTP_M_GET, "/", "10.1.2.3.evil.example", NULL, "same-origin", "cors", SITE_FOREIGN},
        {HTTP_M_GET, "/", NULL, NULL, "same-origin", "cors", SITE_FOREIGN},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        ck_assert_msg(ask(&site, cases[i].method, cases[i].path, cases[i].host, cases[i].origin,
                          cases[i].fetch, cases[i].mode)
                          == cases[i].says,
                      "%zu", i);
    }
    struct http_site own = {0};
    ck_assert(ask(&own, HTTP_M_GET, "/a", "localhost", NULL, "cross-site", "navigate") == SITE_OWN);
    static const struct str any[] = {{"*", 1}};
    own.origins = any;
    own.origins_n = 1;
    ck_assert(ask(&own, HTTP_M_POST, "/a", "localhost", "http://evil.example", NULL, NULL) == SITE_SHARED);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("http site");
    TCase *c = tcase_create("http site");
    tcase_add_test(c, by_headers);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? 0 : 1;
}
