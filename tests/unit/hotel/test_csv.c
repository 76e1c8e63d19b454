/* CSV: what RFC 4180 allows, what is refused, and where; a random table survives the round trip. */
#include "common/base/buf.h"
#include "common/base/rand.h"
#include "hotel/csv.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

/* Rows as "a|b;c|d", or the error's text. */
static void read_all(const char *text, char *to, size_t cap)
{
    struct arena a;
    struct csv c;
    struct str v[CSV_FIELDS_MAX];
    ERR_LOCAL(em);
    struct buf b;
    size_t n = 1;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_z(&b, "");
    csv_init(&c, str_of(text));
    for (;;) {
        enum err e = csv_row(&c, &a, v, &n, &em);
        if (e != ERR_OK) {
            buf_reset(&b);
            buf_z(&b, err_reason(&em));
            break;
        }
        if (n == 0) {
            break;
        }
        for (size_t i = 0; i < n; i++) {
            buf_printf(&b, "%s%.*s", i > 0 ? "|" : b.n > 0 ? ";" : "", STR_ARG(v[i]));
        }
    }
    snprintf(to, cap, "%s", b.p);
    buf_fini(&b);
    arena_fini(&a);
}

START_TEST(rows)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", ""},
        {"a,b\nc,d\n", "a|b;c|d"},
        {"a,b\r\nc,d", "a|b;c|d"},
        {"\xEF\xBB\xBF"
         "a,b",
         "a|b"},
        {"a,,\n", "a||"},
        {"\"a,b\",\"c\"\"d\"\n", "a,b|c\"d"},
        {"\"two\nlines\",x\n", "two\nlines|x"},
        {"\"\",\"\"\"\"\n", "|\""},
        {"a\n\n\r\nb\n", "a;b"},
        {"a,b\rc\n", "a|b\rc"},
        {"\n\n", ""},
        {"a\n\"b", "line 2: a quote is not closed"},
        {"a\nb\"c\n", "line 2: a quote inside a field that is not quoted"},
        {"\"a\nb\"c\n", "line 2: text behind a closing quote"},
        {"\"a\nb\"\nc\"", "line 3: a quote inside a field that is not quoted"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char have[200];
        read_all(cases[i].text, have, sizeof(have));
        ck_assert_str_eq(have, cases[i].want);
    }
}
END_TEST

START_TEST(too_many_fields)
{
    char text[2 * CSV_FIELDS_MAX + 10], have[100];
    memset(text, ',', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    read_all(text, have, sizeof(have));
    ck_assert_str_eq(have, "line 1: more than 256 fields");
}
END_TEST

#define ROWS 300
#define COLS 5

/* Writes random fields as another program might, quoted where needed or by chance, and reads them back. */
START_TEST(round_trip)
{
    static const char letters[] = "ab,\"\n\r;中";
    static char cell[ROWS][COLS][24];
    struct rng r;
    struct buf b;
    rng_seed(&r, 4180);
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < COLS; k++) {
            size_t n = rng_below(&r, 20);
            bool quote = rng_below(&r, 3) == 0 || COLS == 1;
            for (size_t j = 0; j < n; j++) {
                cell[i][k][j] = letters[rng_below(&r, sizeof(letters) - 1)];
                quote = quote || strchr(",\"\n\r", cell[i][k][j]) != NULL;
            }
            buf_z(&b, k > 0 ? "," : "");
            buf_z(&b, quote ? "\"" : "");
            for (size_t j = 0; j < n; j++) {
                buf_char(&b, cell[i][k][j]);
                if (cell[i][k][j] == '"') {
                    buf_char(&b, '"');
                }
            }
            buf_z(&b, quote ? "\"" : "");
        }
        buf_z(&b, rng_below(&r, 2) == 0 ? "\n" : "\r\n");
    }
    struct arena a;
    struct csv c;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    csv_init(&c, buf_view(&b));
    for (int i = 0; i < ROWS; i++) {
        struct str v[CSV_FIELDS_MAX];
        size_t n;
        ck_assert_int_eq(csv_row(&c, &a, v, &n, NULL), ERR_OK);
        ck_assert_uint_eq(n, COLS);
        for (int k = 0; k < COLS; k++) {
            ck_assert(str_is(v[k], cell[i][k]));
        }
    }
    arena_fini(&a);
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("csv");
    TCase *t = tcase_create("csv");
    tcase_add_test(t, rows);
    tcase_add_test(t, too_many_fields);
    tcase_add_test(t, round_trip);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
