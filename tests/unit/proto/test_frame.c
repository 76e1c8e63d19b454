/* Frames and errors as bytes: what went in comes out; damage is noticed. */
#include "common/base/rand.h"
#include "proto/err_bytes.h"
#include "proto/frame.h"

#include <check.h>
#include <stdlib.h>

START_TEST(round_trip)
{
    struct buf b;
    struct frame f = {.flags = FRAME_ANSWER,
                      .cls = 1,
                      .kind = 65,
                      .from = STR("me"),
                      .target = STR("you"),
                      .payload = STR("hello")},
                 g;
    buf_init(&b, NULL, BUF_UNLIMITED);
    frame_encode(&f, &b);
    ck_assert_int_eq(frame_decode(&g, buf_view(&b), NULL), ERR_OK);
    ck_assert(g.flags == f.flags && g.cls == f.cls && g.kind == f.kind && str_eq(g.from, f.from)
              && str_eq(g.target, f.target) && str_eq(g.payload, f.payload));
    for (size_t i = 0; i < b.n; i++) {
        for (int bit = 0; bit < 8; bit++) {
            b.p[i] = (char)(b.p[i] ^ (1 << bit));
            ck_assert_int_eq(frame_decode(&g, buf_view(&b), NULL), ERR_CORRUPT);
            b.p[i] = (char)(b.p[i] ^ (1 << bit));
        }
        ck_assert_int_eq(frame_decode(&g, str_mk(b.p, i), NULL), ERR_CORRUPT);
    }
    buf_fini(&b);
}
END_TEST

/* The head alone, with the payload kept elsewhere, says the same: its checksum is made in two parts. */
START_TEST(in_parts)
{
    enum { LONGEST = 5000 };
    static char payload[300000];
    struct rng rng;
    struct buf b;
    rng_seed(&rng, 4);
    for (size_t i = 0; i < sizeof(payload); i++) {
        payload[i] = (char)rng_u64(&rng);
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (size_t n = 0; n < LONGEST + 200; n++) {
        size_t k = n < LONGEST ? n : rng_below(&rng, sizeof(payload));
        struct frame f = {.cls = 2,
                          .kind = (uint16_t)n,
                          .from = str_mk("0123456789abcdef0123456789abcdef", n % 33),
                          .target = str_mk("0123456789abcdef0123456789abcdef", n / 33 % 33),
                          .payload = str_mk(payload, k)},
                     g;
        buf_reset(&b);
        frame_encode_head(&f, &b);
        ck_assert_uint_le(b.n, FRAME_HEADER_MAX);
        buf_str(&b, f.payload);
        ck_assert_int_eq(frame_decode(&g, buf_view(&b), NULL), ERR_OK);
        ck_assert(g.payload.n == k && memcmp(g.payload.p, payload, k) == 0);
    }
    buf_fini(&b);
}
END_TEST

START_TEST(errors)
{
    struct buf b;
    ERR_LOCAL(em);
    ERR_LOCAL(out);
    struct rng rng;
    rng_seed(&rng, 3);
    buf_init(&b, NULL, BUF_UNLIMITED);
    err_set_at(&em, ERR_PARSING, 3, 9, "inner");
    err_wrap(&em, ERR_SEARCH_PHASE, "outer");
    err_about_index(&em, STR("hotel"), STR("uuid"));
    err_about_shard(&em, 4);
    struct err_about *a = err_about_change(&em);
    a->script_placed = true;
    a->script_at = 300;
    a->script_start = 7;
    a->script_end = 70000;
    a->refused = (struct err_refused){7, 5, true};
    errmsg_encode(&em, &b);
    struct bytes_in in = bytes_in(buf_view(&b));
    errmsg_decode(&out, &in);
    ck_assert(!in.bad && bytes_left(&in) == 0 && out.frame->depth == 2 && err_about(&out)->shard == 4);
    ck_assert(err_about(&out)->script_placed && err_about(&out)->script_at == 300
              && err_about(&out)->script_start == 7 && err_about(&out)->script_end == 70000);
    ck_assert(err_about(&out)->refused.bytes_wanted == 7 && err_about(&out)->refused.bytes_limit == 5
              && err_about(&out)->refused.lasting);
    ck_assert_str_eq(out.frame->cause->reason, "inner");
    ck_assert_uint_eq(out.frame->cause->line, 3);
    ck_assert_int_eq(err_http_status(&out), err_http_status(&em));
    for (size_t i = 0; i < b.n; i++) { /* read as something else, or refused */
        char was = b.p[i];
        b.p[i] = (char)rng_u64(&rng);
        in = bytes_in(buf_view(&b));
        errmsg_decode(&out, &in);
        ck_assert(!in.bad || !err_is(&out));
        b.p[i] = was;
    }
    buf_fini(&b);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("frame");
    TCase *c = tcase_create("all");
    tcase_add_test(c, round_trip);
    tcase_add_test(c, in_parts);
    tcase_add_test(c, errors);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
