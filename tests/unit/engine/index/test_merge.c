#include <check.h>
#include <stdlib.h>

#include "common/base/bits.h"
#include "tests/unit/engine/index/random_docs.h"

struct batch {
    struct made_doc *docs[3000];
    size_t n;
    struct segment *s;
    uint64_t *live;
};

static void make_batch(struct batch *b, struct doc_maker *m, size_t n, unsigned dead_in)
{
    b->n = n;
    for (size_t i = 0; i < n; i++) {
        b->docs[i] = doc_maker_next(m);
    }
    b->s = build_segment(b->docs, n);
    uint32_t count = segment_doc_count(b->s);
    b->live = calloc(bits_words(count) + 1, 8);
    doc_id d = 0;
    for (size_t i = 0; i < n; i++) {
        bool dead = dead_in > 0 && rng_below(&m->rng, dead_in) == 0;
        for (size_t k = 0; k < b->docs[i]->doc.n_parts; k++, d++) {
            if (!dead) {
                bits_set(b->live, d);
            }
        }
        b->docs[i] = dead ? NULL : b->docs[i];
    }
}

static bool never(void *self)
{
    (*(int *)self)++;
    return false;
}

/* Merges the batches; the result must be the index of what survived. */
static void merge_and_check(struct batch *batches, size_t n)
{
    struct merge_source sources[8];
    struct made_doc **all = calloc(20000, sizeof(struct made_doc *));
    size_t n_all = 0, bytes;
    struct buf out;
    struct arena arena;
    ERR_LOCAL(em);
    struct segment *s;
    doc_id **remap;
    int polls = 0;
    buf_init(&out, NULL, BUF_UNLIMITED);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    for (size_t i = 0; i < n; i++) {
        sources[i] = (struct merge_source){batches[i].s, batches[i].live};
        for (size_t k = 0; k < batches[i].n; k++) {
            if (batches[i].docs[k] != NULL) {
                all[n_all++] = batches[i].docs[k];
            }
        }
    }
    struct merge_io io = {.memory = &out, .cancelled = never, .self = &polls};
    enum err e = segment_merge(sources, n, &io, &arena, &remap, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    ck_assert_int_gt(polls, 0);
    char *p = buf_take(&out, &bytes);
    e = segment_open_memory(&s, p, bytes, NULL, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    ck_assert_int_eq(segment_verify(s, &em), ERR_OK);
    e = segment_check_structure(s, &em);
    ck_assert_msg(e == ERR_OK, "%s", err_reason(&em));
    check_segment(s, all, n_all);
    doc_id next = 0;
    for (size_t i = 0; i < n; i++) {
        for (doc_id d = 0; d < segment_doc_count(batches[i].s); d++) {
            ck_assert_uint_eq(remap[i][d], bits_test(batches[i].live, d) ? next++ : DOC_END);
        }
    }
    segment_unref(s);
    arena_fini(&arena);
    free(all);
}

static void run(uint64_t seed, const size_t *sizes, size_t n, unsigned dead_in, bool nested, unsigned words)
{
    struct doc_maker m;
    struct batch *batches = calloc(n, sizeof(*batches));
    doc_maker_init(&m, seed);
    m.nested = nested;
    m.words = words;
    for (size_t i = 0; i < n; i++) {
        make_batch(&batches[i], &m, sizes[i], dead_in);
    }
    merge_and_check(batches, n);
    for (size_t i = 0; i < n; i++) {
        segment_unref(batches[i].s);
        free(batches[i].live);
    }
    free(batches);
    doc_maker_fini(&m);
}

START_TEST(merging_is_indexing_what_survived)
{
    run(1, (const size_t[]){3}, 1, 2, false, 20);
    run(2, (const size_t[]){1, 0, 4, 2}, 4, 3, true, 20);
    run(3, (const size_t[]){300, 20, 150}, 3, 4, false, 200);
    run(4, (const size_t[]){100, 200, 1, 50, 70}, 5, 2, true, 50);
    run(5, (const size_t[]){900, 800, 700}, 3, 0, false, 3000);
    run(6, (const size_t[]){5, 5}, 2, 1, false, 30);
}
END_TEST

static bool at_once(void *self)
{
    (void)self;
    return true;
}

START_TEST(merging_refuses_damage_and_can_be_cancelled)
{
    struct doc_maker m;
    struct batch *b = calloc(1, sizeof(*b));
    struct buf out;
    struct arena arena;
    ERR_LOCAL(em);
    doc_maker_init(&m, 9);
    make_batch(b, &m, 50, 0);
    buf_init(&out, NULL, BUF_UNLIMITED);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct merge_source source = {b->s, NULL};
    struct merge_io io = {.memory = &out, .cancelled = at_once};
    ck_assert_int_eq(segment_merge(&source, 1, &io, &arena, NULL, &em), ERR_CANCELLED);
    buf_fini(&out);
    segment_unref(b->s);
    free(b->live);
    free(b);
    arena_fini(&arena);
    doc_maker_fini(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("merge");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, merging_is_indexing_what_survived);
    tcase_add_test(t, merging_refuses_damage_and_can_be_cancelled);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
