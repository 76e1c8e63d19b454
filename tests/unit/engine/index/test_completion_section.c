#include <check.h>
#include <stdlib.h>

#include "common/base/rand.h"
#include "engine/index/completion_int.h"

#define N 1500

struct model {
    struct completion_entry e[N];
    size_t n;
    struct arena arena;
};

static void make(struct model *m, uint64_t seed, size_t n)
{
    struct rng r;
    rng_seed(&r, seed);
    arena_init(&m->arena, NULL, ARENA_UNLIMITED);
    m->n = n;
    for (size_t i = 0; i < n; i++) {
        m->e[i].path =
            arena_printf(&m->arena, "%.*s%u", (int)rng_below(&r, 6), "abcabc", (unsigned)rng_below(&r, 40));
        m->e[i].input = arena_printf(&m->arena, "Input %u", (unsigned)rng_below(&r, 4));
        m->e[i].weight = (uint32_t)rng_below(&r, 4);
        m->e[i].doc = (doc_id)i;
    }
}

static int compare(const void *a, const void *b)
{
    return completion_compare(a, b);
}

static struct buf write_section(const struct model *m)
{
    struct completion_writer *w;
    struct buf out;
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(completion_writer_new(&w, NULL, NULL), ERR_OK);
    for (size_t i = 0; i < m->n; i++) {
        size_t before = completion_writer_bytes(w);
        ck_assert_int_eq(completion_writer_add(w, &m->e[(i + 1) % m->n], NULL), ERR_OK);
        ck_assert_uint_gt(completion_writer_bytes(w), before);
        completion_writer_cut(w, before);
        ck_assert_int_eq(completion_writer_add(w, &m->e[i], NULL), ERR_OK);
    }
    ck_assert_int_eq(completion_writer_finish(w, &out, NULL), ERR_OK);
    ck_assert_uint_eq(completion_writer_bytes(w), 0);
    completion_writer_free(w);
    return out;
}

START_TEST(entries_come_back_in_order)
{
    static const size_t sizes[] = {0, 1, 31, 32, 33, 600, N};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        struct model m;
        struct completion_iter it;
        make(&m, k, sizes[k]);
        struct buf out = write_section(&m);
        if (m.n > 0) {
            qsort(m.e, m.n, sizeof(m.e[0]), compare);
        }
        completion_iter_init(&it, buf_view(&out));
        for (size_t i = 0; i < m.n; i++) {
            ck_assert(completion_iter_next(&it));
            ck_assert(str_eq(it.entry.path, m.e[i].path));
            ck_assert(str_eq(it.entry.input, m.e[i].input));
            ck_assert_uint_eq(it.entry.weight, m.e[i].weight);
            ck_assert_uint_eq(it.entry.doc, m.e[i].doc);
        }
        ck_assert(!completion_iter_next(&it) && !it.corrupt);
        completion_iter_fini(&it);
        buf_fini(&out);
        arena_fini(&m.arena);
    }
}
END_TEST

START_TEST(any_damage_ends)
{
    struct model m;
    make(&m, 9, 80);
    struct buf out = write_section(&m);
    for (size_t at = 0; at < out.n; at++) {
        for (size_t n = out.n; n > 0; n = n == out.n ? at : 0) {
            struct completion_iter it;
            size_t steps = 0;
            char *copy = malloc(n);
            memcpy(copy, out.p, n);
            copy[at < n ? at : 0] = (char)(copy[at < n ? at : 0] ^ 0x81);
            completion_iter_init(&it, str_mk(copy, n));
            while (completion_iter_next(&it)) {
                ck_assert_uint_lt(steps++, out.n);
            }
            completion_iter_fini(&it);
            free(copy);
        }
    }
    buf_fini(&out);
    arena_fini(&m.arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("completion_section");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, entries_come_back_in_order);
    tcase_add_test(t, any_damage_ends);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
