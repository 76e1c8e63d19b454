/* Hotels out of CSV, and as documents. */
#include "hotel/table.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define HEADER "id,name,address,price,score,brand,city,star_name,business,latitude,longitude,pic\n"

/* The first hotel's document, or the error. */
static const char *first(const char *text)
{
    static char out[2000];
    struct arena a;
    struct table t;
    struct hotel h;
    ERR_LOCAL(em);
    bool got = false;
    struct buf b;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    enum err e = table_open(&t, str_of(text), &a, &em);
    e = e != ERR_OK ? e : table_next(&t, &a, &h, &got, &em);
    if (e == ERR_OK && got) {
        hotel_write(&b, &h);
    }
    snprintf(out, sizeof(out), "%s", e != ERR_OK ? err_reason(&em) : got ? b.p : "none");
    buf_fini(&b);
    arena_fini(&a);
    return out;
}

START_TEST(documents)
{
    ck_assert_str_eq(
        first(HEADER "5,如家,路1号,99,45,如家,上海,二钻,外滩/人民广场,31.2,121.5,http://p/x.jpg\n"),
        "{\"id\":5,\"name\":\"如家\",\"address\":\"路1号\",\"price\":99,\"score\":45,\"brand\":\"如家\","
        "\"city\":\"上海\",\"starName\":\"二钻\",\"business\":\"外滩/人民广场\",\"location\":\"31.2, 121.5\","
        "\"pic\":\"http://p/x.jpg\",\"suggestion\":[\"如家\",\"外滩\",\"人民广场\"]}");
    ck_assert_str_eq(
        first(HEADER "5,n,a,1,2,b,c,,,0,0,\n"),
        "{\"id\":5,\"name\":\"n\",\"address\":\"a\",\"price\":1,\"score\":2,\"brand\":\"b\",\"city\":\"c\","
        "\"starName\":null,\"business\":null,\"location\":\"0, 0\",\"pic\":null,\"suggestion\":[\"b\"]}");
    ck_assert_ptr_nonnull(
        strstr(first(HEADER "5,n,a,1,2,b,c,,/x//y/,0,0,\n"), "\"suggestion\":[\"b\",\"x\",\"y\"]"));
}
END_TEST

START_TEST(columns_in_any_order)
{
    ck_assert_ptr_nonnull(strstr(first("longitude,latitude,ID,Name,address,extra,price,score,brand,city\n"
                                       "121,31,7,n,a,?,1,2,b,c\n"),
                                 "\"location\":\"31, 121\""));
    ck_assert_str_eq(first(""), "line 1: there is no header, the file is empty");
    ck_assert_str_eq(
        first("id,name\n"),
        "line 1: the header has no column named address, price, score, brand, city, latitude, longitude");
    ck_assert_str_eq(first("id,id,name\n"), "line 1: column id is there twice");
    ck_assert_str_eq(first(HEADER), "none");
}
END_TEST

START_TEST(bad_rows)
{
    static const struct {
        const char *row, *want;
    } cases[] = {
        {"5,n,a,cheap,2,b,c,,,0,0,\n", "line 2: price: [cheap] is not a whole number of 32 bits"},
        {"5,n,a,3000000000,2,b,c,,,0,0,\n", "line 2: price: [3000000000] is not a whole number of 32 bits"},
        {"x,n,a,1,2,b,c,,,0,0,\n", "line 2: id: [x] is not a whole number of 64 bits"},
        {"5,,a,1,2,b,c,,,0,0,\n", "line 2: name: is required and empty"},
        {"5,n,a,1,2,b,c,,,91,0,\n", "line 2: latitude: [91] is not a number from -90 to 90"},
        {"5,n,a,1,2,b,c,,,0,east,\n", "line 2: longitude: [east] is not a number from -180 to 180"},
        {"5,n,a,1,2,b,c,,,0,NaN,\n", "line 2: longitude: [NaN] is not a number from -180 to 180"},
        {"5,n,a,1,2,b,c,12345678901234567,,0,0,\n",
         "line 2: star_name: 17 characters, at most 16 are allowed"},
        {"5,n\xFF,a,1,2,b,c,,,0,0,\n", "line 2: name: is not UTF-8"},
        {"5,n\n", "line 2: 2 fields, the header has 12"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char text[500];
        snprintf(text, sizeof(text), HEADER "%s", cases[i].row);
        ck_assert_str_eq(first(text), cases[i].want);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("table");
    TCase *t = tcase_create("table");
    tcase_add_test(t, documents);
    tcase_add_test(t, columns_in_any_order);
    tcase_add_test(t, bad_rows);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
