/* Bytes whose checksums are right and that a writer would not have written: the structure says so. */
#include "engine/index/structure.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base/hash.h"
#include "common/base/stop.h"
#include "engine/index/format.h"
#include "engine/index/seg_int.h"
#include "tests/unit/engine/index/random_docs.h"

struct tally {
    unsigned flips, found;
};

static struct segment *open_flipped(const struct segment *good, size_t at, unsigned bit)
{
    struct segment *s = NULL;
    char *p = alloc_get(alloc_default(), good->n);
    memcpy(p, good->p, good->n);
    p[at] = (char)(p[at] ^ 1 << bit);
    mend_segment(p, good->n);
    return segment_open_memory(&s, p, good->n, NULL, NULL) == ERR_OK ? s : NULL;
}

/* One bit after the other; never a crash. What is text or a number of the document's own may be anything. */
static void flip_all(const struct segment *good, size_t step, struct tally t[SECTION_KINDS])
{
    for (uint32_t i = 0; i < good->n_sections; i++) {
        const struct section *section = &good->sections[i];
        size_t from = (size_t)(section->p - good->p);
        for (size_t k = 0; k < section->n; k += step) {
            struct segment *s = open_flipped(good, from + k, (unsigned)(k / step) % 8);
            t[section->kind].flips++;
            t[section->kind].found += s == NULL || segment_check_structure(s, NULL) != ERR_OK;
            segment_unref(s);
        }
    }
}

START_TEST(flips_are_found)
{
    /* Of a hundred, so many at least; the rest is padding, or says something else that may be. */
    static const unsigned least[SECTION_KINDS] = {
        [SECTION_FIELDS] = 70, [SECTION_ROOTS] = 99, [SECTION_POSTINGS] = 70,  [SECTION_POSITIONS] = 5,
        [SECTION_TERMS] = 45,  [SECTION_NORMS] = 5,  [SECTION_NUMS] = 75,      [SECTION_ORDS] = 70,
        [SECTION_BYTES] = 45,  [SECTION_RANGES] = 5, [SECTION_POINTS] = 95,    [SECTION_GEO] = 95,
        [SECTION_STORED] = 40, [SECTION_IDS] = 70,   [SECTION_COMPLETION] = 20};
    struct tally t[SECTION_KINDS] = {0};
    struct made_doc *docs[400];
    for (unsigned seed = 1; seed < 4; seed++) {
        struct doc_maker m;
        doc_maker_init(&m, seed);
        m.words = 20 + 100 * seed;
        m.length = 12;
        m.nested = seed % 2 == 1;
        size_t n = seed == 3 ? 400 : 30;
        for (size_t i = 0; i < n; i++) {
            docs[i] = doc_maker_next(&m);
        }
        struct segment *s = build_segment(docs, n);
        flip_all(s, seed == 3 ? 97 : 3, t);
        segment_unref(s);
        doc_maker_fini(&m);
    }
    for (unsigned k = 1; k < SECTION_KINDS; k++) {
        if (getenv("FIGURES") != NULL) {
            printf("%u: %u of %u\n", k, t[k].found, t[k].flips);
        }
        ck_assert_msg(getenv("FIGURES") != NULL || t[k].found * 100 >= least[k] * t[k].flips,
                      "section kind %u: %u of %u", k, t[k].found, t[k].flips);
    }
}
END_TEST

static bool yes(void *self)
{
    (void)self;
    return true;
}

/* It ends when its node does. */
START_TEST(it_can_be_stopped)
{
    struct made_doc *docs[300];
    struct doc_maker m;
    struct stop st = {.asked = yes};
    doc_maker_init(&m, 1);
    m.words = 100;
    m.length = 12;
    for (size_t i = 0; i < 300; i++) {
        docs[i] = doc_maker_next(&m);
    }
    struct segment *s = build_segment(docs, 300);
    stop_enter(&st);
    ERR_LOCAL(em);
    ck_assert_msg(segment_check_structure(s, &em) == ERR_NODE_CLOSED, "%s", err_reason(&em));
    stop_leave(&st);
    segment_unref(s);
    doc_maker_fini(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("structure");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, flips_are_found);
    tcase_add_test(t, it_can_be_stopped);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
