/* Sources of intervals: equal ones are found as naively, and in a time that grows with their number alone. */
#include <check.h>
#include <stdlib.h>

#include "common/base/arena.h"
#include "common/base/rand.h"
#include "engine/query/intervals.h"

#define MANY      300000
#define SOURCES   200
#define PARTS_MAX 3

static struct arena arena;
static struct errmsg em;
static const struct interval_builder builder = {&arena, &em};

static void setup(void)
{
    arena_init(&arena, NULL, ARENA_UNLIMITED);
}

static void teardown(void)
{
    arena_fini(&arena);
}

static struct interval_source *word(uint64_t number)
{
    struct interval_source *s = interval_new(&builder, INTERVAL_TERM);
    s->text = arena_printf(&arena, "%llu", (unsigned long long)number);
    return s;
}

static const struct interval_source *random_source(struct rng *r, uint32_t depth)
{
    static const enum interval_kind kinds[] = {INTERVAL_ANY, INTERVAL_ORDERED, INTERVAL_MAX_GAPS,
                                               INTERVAL_OF_FIELD, INTERVAL_EXTENDED};
    if (depth == 0 || rng_below(r, 2) == 0) {
        return word(rng_below(r, 3));
    }
    struct interval_source *s = interval_new(&builder, kinds[rng_below(r, ARRAY_LEN(kinds))]);
    struct interval_list parts = {0};
    uint64_t n = rng_below(r, PARTS_MAX + 1);
    for (uint64_t i = 0; i < n; i++) {
        ck_assert(interval_add(&builder, &parts, random_source(r, depth - 1)));
    }
    s->v = parts.v;
    s->n = (uint32_t)parts.n;
    s->before = (int32_t)rng_below(r, 2);
    s->after = (int32_t)rng_below(r, 2);
    s->field = rng_below(r, 2) == 0 ? STR("f") : STR("");
    return s;
}

static bool same_naively(const struct interval_source *x, const struct interval_source *y)
{
    bool same = x->kind == y->kind && x->n == y->n && x->before == y->before && x->after == y->after
                && str_eq(x->text, y->text) && str_eq(x->field, y->field);
    for (uint32_t i = 0; same && i < x->n; i++) {
        same = same_naively(x->v[i], y->v[i]);
    }
    return same;
}

START_TEST(sets_as_naively)
{
    struct rng r;
    uint32_t known = 0;
    rng_seed(&r, 33);
    for (int round = 0; round < 300; round++) {
        const struct interval_source *v[SOURCES];
        struct interval_set set = {0};
        size_t n = 0;
        for (uint32_t i = 0; i < SOURCES; i++) {
            const struct interval_source *s = random_source(&r, 2);
            size_t at = 0, number = SIZE_MAX;
            while (at < n && !same_naively(v[at], s)) {
                at++;
            }
            ck_assert(interval_set_add(&builder, &set, s, &number));
            ck_assert_uint_eq(number, at);
            known += at < n ? 1 : 0;
            if (at == n) {
                v[n++] = s;
            }
            ck_assert_uint_eq(set.list.n, n);
            ck_assert_ptr_eq(set.list.v[at], v[at]);
        }
        arena_reset(&arena);
    }
    ck_assert_uint_gt(known, 10000);
}
END_TEST

/* Twice each. */
static void fill_many(struct interval_list *l)
{
    for (uint64_t i = 0; i < 2 * (uint64_t)MANY; i++) {
        ck_assert(interval_add(&builder, l, word(i / 2)));
    }
}

START_TEST(any_of_many)
{
    struct interval_list l = {0};
    const struct interval_source *s;
    fill_many(&l);
    ck_assert_int_eq(interval_any(&builder, &l, &s), ERR_OK);
    ck_assert_int_eq(s->kind, INTERVAL_ANY);
    ck_assert_uint_eq(s->n, MANY);
    ck_assert(str_is(s->v[MANY - 1]->text, "299999"));
}
END_TEST

START_TEST(all_of_many)
{
    struct interval_list l = {0};
    const struct interval_source *s;
    fill_many(&l);
    ck_assert_int_eq(interval_combine(&builder, &l, -1, false, &s), ERR_OK);
    ck_assert_int_eq(s->kind, INTERVAL_UNORDERED);
    ck_assert_uint_eq(s->n, MANY);
    ck_assert_int_eq(s->v[MANY - 1]->kind, INTERVAL_REPEATED);
    ck_assert_int_eq(s->v[MANY - 1]->before, 2);
    ck_assert(str_is(s->v[MANY - 1]->v[0]->text, "299999"));
}
END_TEST

/* An iterator of a word at the first positions of a document, each reaching over half of all positions. */
static struct interval_iter *wide_word(uint32_t *places, uint32_t n)
{
    struct interval_iter *it = ARENA_NEW(&arena, struct interval_iter),
                         *wide = ARENA_NEW(&arena, struct interval_iter);
    struct interval_source *s = interval_new(&builder, INTERVAL_EXTENDED);
    it->source = word(0);
    it->positions.pos = places;
    it->n_places = n;
    it->is_read = true;
    s->after = INT32_MAX / 2;
    *wide = (struct interval_iter){.source = s, .v = ARENA_NEW(&arena, struct interval_iter *), .n = 1};
    wide->v[0] = it;
    return wide;
}

/* Widths whose sum is more than a number holds wrap around, as in Java; the sanitizer watches. */
START_TEST(wide_parts)
{
    uint32_t places[] = {0, 1, 2, 3, 4};
    const uint32_t n = ARRAY_LEN(places);
    for (int repeated = 0; repeated < 2; repeated++) {
        struct interval_source *all =
                                   interval_new(&builder, repeated ? INTERVAL_REPEATED : INTERVAL_UNORDERED),
                               *few = interval_new(&builder, INTERVAL_MAX_GAPS);
        struct interval_iter of_all = {.source = all, .n = repeated ? 1 : n}, top = {.source = few, .n = 1};
        struct interval_iter *below = &of_all;
        all->before = (int32_t)n;
        top.v = &below;
        of_all.v = ARENA_ARRAY(&arena, struct interval_iter *, n);
        of_all.heap = ARENA_ARRAY(&arena, struct interval_iter *, n + 1);
        of_all.ring = repeated ? arena_alloc(&arena, n * sizeof(*of_all.ring)) : NULL;
        for (uint32_t i = 0; i < of_all.n; i++) {
            of_all.v[i] = wide_word(places, repeated ? n : 1);
        }
        interval_reset(&top);
        int32_t start = interval_next(&top);
        ck_assert_int_eq(start, repeated ? INTERVAL_END : 0);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("interval_sources");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 30);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, sets_as_naively);
    tcase_add_test(t, any_of_many);
    tcase_add_test(t, all_of_many);
    tcase_add_test(t, wide_parts);
    suite_add_tcase(s, t);
    SRunner *run = srunner_create(s);
    srunner_run_all(run, CK_NORMAL);
    int failed = srunner_ntests_failed(run);
    srunner_free(run);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
