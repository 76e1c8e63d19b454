#include <check.h>
#include <stdlib.h>

#include "tests/unit/engine/index/random_docs.h"

static void round_trip(uint64_t seed, size_t n, unsigned words, unsigned length, bool nested)
{
    struct doc_maker m;
    struct made_doc **docs = calloc(n + 1, sizeof(struct made_doc *));
    doc_maker_init(&m, seed);
    m.words = words;
    m.length = length;
    m.nested = nested;
    for (size_t i = 0; i < n; i++) {
        docs[i] = doc_maker_next(&m);
    }
    struct segment *s = build_segment(docs, n);
    check_segment(s, docs, n);
    segment_unref(s);
    doc_maker_fini(&m);
    free(docs);
}

START_TEST(small_segments_hold_their_documents)
{
    for (size_t n = 0; n < 12; n++) {
        round_trip(100 + n, n, 20, 6, n % 2 == 1);
    }
}
END_TEST

/* A word or two in all: sections of a few bytes. */
START_TEST(tiny_segments_hold_their_documents)
{
    for (unsigned seed = 0; seed < 300; seed++) {
        round_trip(1000 + seed, 1 + seed % 3, 1 + seed % 4, 1 + seed % 5 / 2, seed % 7 == 0);
    }
}
END_TEST

START_TEST(segments_hold_their_documents)
{
    round_trip(1, 700, 300, 12, false);
    round_trip(2, 500, 30, 40, true);
    round_trip(3, 2500, 5000, 5, false);
}
END_TEST

START_TEST(norms_are_small_floats)
{
    for (uint32_t i = 0; i < 256; i++) {
        ck_assert_uint_eq(norm_encode(norm_decode((uint8_t)i)), i);
        ck_assert(i == 0 || norm_decode((uint8_t)i) > norm_decode((uint8_t)(i - 1)));
    }
    /* Values that Lucene's SmallFloat.byte4ToInt gives. */
    ck_assert_uint_eq(norm_decode(norm_encode(39)), 39);
    ck_assert_uint_eq(norm_decode(norm_encode(41)), 40);
    ck_assert_uint_eq(norm_decode(norm_encode(57)), 56);
    ck_assert_uint_eq(norm_decode(255), 2013265944);
    ck_assert_uint_eq(norm_encode(UINT32_MAX), 255);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("segment");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, small_segments_hold_their_documents);
    tcase_add_test(t, tiny_segments_hold_their_documents);
    tcase_add_test(t, segments_hold_their_documents);
    tcase_add_test(t, norms_are_small_floats);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
