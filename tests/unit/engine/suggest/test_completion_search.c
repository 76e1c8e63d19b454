/* The best of a section, of prefixes, fuzzy words and expressions, against looking at every entry. */
#include <check.h>
#include <stdlib.h>

#include "common/base/map.h"
#include "common/base/rand.h"
#include "engine/query/levenshtein.h"
#include "engine/suggest/completion_search.h"

#define N 4000

struct model {
    struct completion_entry e[N];
    size_t n;
    uint64_t live[N / 64 + 1];
    struct arena arena;
    struct buf bytes;
    struct completion_section section;
    struct rng r;
};

static int in_order(const void *a, const void *b)
{
    return completion_compare(a, b);
}

/* Few letters, few weights, few inputs: ties, groups and shared paths are common. */
static void make(struct model *m, uint64_t seed, size_t n, unsigned letters)
{
    struct completion_writer *w;
    rng_seed(&m->r, seed);
    arena_init(&m->arena, NULL, ARENA_UNLIMITED);
    buf_init(&m->bytes, NULL, BUF_UNLIMITED);
    m->n = n;
    ck_assert_int_eq(completion_writer_new(&w, NULL, NULL), ERR_OK);
    for (size_t i = 0; i < n; i++) {
        char path[9];
        size_t len = 1 + rng_below(&m->r, 8);
        for (size_t k = 0; k < len; k++) {
            path[k] = (char)('a' + rng_below(&m->r, letters));
        }
        m->e[i].path = arena_str(&m->arena, str_mk(path, len));
        m->e[i].input =
            arena_printf(&m->arena, "%.*s/%u", STR_ARG(m->e[i].path), (unsigned)rng_below(&m->r, 2));
        m->e[i].weight = (uint32_t)rng_below(&m->r, 1 + rng_below(&m->r, 40));
        m->e[i].doc = (doc_id)rng_below(&m->r, n);
        ck_assert_int_eq(completion_writer_add(w, &m->e[i], NULL), ERR_OK);
    }
    for (size_t i = 0; i < ARRAY_LEN(m->live); i++) {
        m->live[i] = rng_u64(&m->r) | rng_u64(&m->r);
    }
    ck_assert_int_eq(completion_writer_finish(w, &m->bytes, NULL), ERR_OK);
    completion_writer_free(w);
    if (n > 1) {
        qsort(m->e, n, sizeof(m->e[0]), in_order);
    }
    ck_assert(completion_section_open(&m->section, buf_view(&m->bytes)));
    ck_assert_uint_le(m->section.n_groups, n);
}

static void unmake(struct model *m)
{
    buf_fini(&m->bytes);
    arena_fini(&m->arena);
}

static bool lives(const struct model *m, doc_id d)
{
    return ((m->live[d / 64] >> (d % 64)) & 1) != 0;
}

struct wanted {
    float score;
    const struct completion_entry *e;
};

/* Score, then path: the order in which Lucene finds them. */
static int by_rank(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return completion_compare(x->e, y->e);
}

/* Scores and paths of the best k must be those of the model; with distinct inputs every input comes once. */
static void compare_best(struct model *m, const struct completion_ranges *ranges, struct wanted *all,
                         size_t n, uint32_t k, bool distinct)
{
    struct completion_request rq = {&m->section, ranges, m->live, (uint32_t)m->n, k, distinct};
    struct completion_hit *hits;
    uint32_t got;
    struct map seen;
    size_t expected = 0;
    ck_assert_int_eq(completion_search(&rq, &hits, &got, &m->arena, NULL), ERR_OK);
    map_init(&seen, &m->arena);
    if (n > 1) {
        qsort(all, n, sizeof(*all), by_rank);
    }
    for (size_t i = 0; i < n && expected < k; i++) {
        if (distinct && map_has(&seen, all[i].e->input)) {
            continue;
        }
        ck_assert(!distinct || map_put(&seen, all[i].e->input, m));
        ck_assert_uint_lt(expected, got);
        ck_assert(hits[expected].score == all[i].score);
        ck_assert(lives(m, hits[expected].doc));
        size_t path_n = str_find(hits[expected].input, '/', 0); /* the model's inputs tell their paths */
        ck_assert(str_eq(str_slice(hits[expected].input, 0, path_n), all[i].e->path));
        expected++;
    }
    ck_assert_uint_eq(got, expected);
}

static size_t model_range(struct model *m, struct str prefix, float boost, struct wanted *all, size_t n)
{
    for (size_t i = 0; i < m->n; i++) {
        if (str_starts(m->e[i].path, prefix) && lives(m, m->e[i].doc)) {
            all[n++] = (struct wanted){completion_score(m->e[i].weight, boost), &m->e[i]};
        }
    }
    return n;
}

START_TEST(prefixes)
{
    static const size_t sizes[] = {0, 1, 33, 700, N};
    for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
        struct model m;
        make(&m, 7 + k, sizes[k], 3);
        struct wanted *all = ARENA_ARRAY(&m.arena, struct wanted, m.n + 1);
        struct completion_cursor c;
        completion_cursor_init(&c, &m.section);
        for (unsigned round = 0; round < 300; round++) {
            char prefix[4] = {(char)('a' + rng_below(&m.r, 4)), (char)('a' + rng_below(&m.r, 3)), 'a', 0};
            struct str p = str_mk(prefix, rng_below(&m.r, 4));
            struct completion_ranges ranges = {.arena = &m.arena};
            float boost = (float)rng_below(&m.r, 3);
            completion_cursor_seek(&c, p);
            uint64_t from = c.pos;
            completion_cursor_pass(&c, p);
            completion_ranges_add(&ranges, (struct completion_range){from, c.pos, boost, STR_NULL});
            size_t n = model_range(&m, p, boost, all, 0);
            compare_best(&m, &ranges, all, n, 1 + (uint32_t)rng_below(&m.r, 30), round % 2 == 0);
        }
        completion_cursor_fini(&c);
        unmake(&m);
    }
}
END_TEST

static float common_beginning(struct str a, struct str b)
{
    size_t n = 0;
    while (n < a.n && n < b.n && a.p[n] == b.p[n]) {
        n++;
    }
    return (float)n;
}

/* The shortest beginning of the path that is near enough to the word; -1: none. */
static float model_fuzzy(struct model *m, const struct fuzzy_options *o, struct str word, struct str path)
{
    bool exact = word.n <= o->prefix_length || word.n < o->min_length;
    struct levenshtein l;
    for (size_t n = 0; n <= path.n; n++) {
        struct str beginning = str_slice(path, 0, n);
        bool near = exact && str_eq(word, beginning);
        if (!exact
            && str_eq(str_slice(word, 0, o->prefix_length), str_slice(beginning, 0, o->prefix_length))) {
            size_t p = o->prefix_length;
            ck_assert(
                levenshtein_init(&l, str_slice(word, p, word.n), o->edits, 0, o->transpositions, &m->arena));
            near = n >= p && levenshtein_distance(&l, str_slice(beginning, p, n)) <= o->edits;
        }
        if (near) {
            return common_beginning(word, beginning);
        }
    }
    return -1;
}

START_TEST(fuzzy_words)
{
    struct model m;
    make(&m, 3, 1500, 4);
    struct wanted *all = ARENA_ARRAY(&m.arena, struct wanted, m.n);
    struct completion_cursor c;
    completion_cursor_init(&c, &m.section);
    for (unsigned round = 0; round < 200; round++) {
        char text[6];
        struct str word = str_mk(text, 1 + rng_below(&m.r, 6));
        for (size_t i = 0; i < word.n; i++) {
            text[i] = (char)('a' + rng_below(&m.r, 4));
        }
        struct fuzzy_options o = {(uint32_t)rng_below(&m.r, 3), (uint32_t)rng_below(&m.r, 4),
                                  (uint32_t)rng_below(&m.r, 3), rng_below(&m.r, 2) == 0,
                                  rng_below(&m.r, 2) == 0};
        struct completion_ranges ranges = {.arena = &m.arena};
        struct completion_matcher matcher;
        ck_assert(fuzzy_matcher_init(&matcher, &o, &word, 1, &m.arena));
        completion_walk(&c, STR_NULL, &matcher, 0, STR_NULL, &ranges);
        ck_assert(!ranges.failed && !matcher.failed && !c.corrupt);
        size_t n = 0;
        for (size_t i = 0; i < m.n; i++) {
            float boost = model_fuzzy(&m, &o, word, m.e[i].path);
            if (boost >= 0 && lives(&m, m.e[i].doc)) {
                all[n++] = (struct wanted){completion_score(m.e[i].weight, boost), &m.e[i]};
            }
        }
        compare_best(&m, &ranges, all, n, 1 + (uint32_t)rng_below(&m.r, 50), round % 3 == 0);
    }
    completion_cursor_fini(&c);
    unmake(&m);
}
END_TEST

START_TEST(expressions)
{
    static const char *const patterns[] = {"ab",      "a.c", "[ab]*c", "(ab|ba)+",
                                           "a{2,3}b", ".*",  "c.?",    "abc.*d"};
    struct model m;
    make(&m, 5, 1500, 4);
    struct wanted *all = ARENA_ARRAY(&m.arena, struct wanted, m.n);
    struct completion_cursor c;
    completion_cursor_init(&c, &m.section);
    for (size_t k = 0; k < ARRAY_LEN(patterns); k++) {
        const struct dfa *dfa;
        struct completion_ranges ranges = {.arena = &m.arena};
        struct completion_matcher matcher;
        ck_assert_int_eq(dfa_regexp(&dfa, str_of(patterns[k]), REGEXP_ALL, false, 0, &m.arena, NULL), ERR_OK);
        ck_assert(regex_matcher_init(&matcher, dfa, &m.arena));
        completion_walk(&c, STR_NULL, &matcher, 0, STR_NULL, &ranges);
        size_t n = 0;
        for (size_t i = 0; i < m.n; i++) {
            struct str written = arena_printf(&m.arena, "%.*s%c%c", STR_ARG(m.e[i].path), 0, 0);
            bool matches = false;
            for (size_t len = 0; len <= written.n; len++) {
                matches |= dfa_match(dfa, str_slice(written, 0, len));
            }
            if (matches && lives(&m, m.e[i].doc)) {
                all[n++] = (struct wanted){(float)m.e[i].weight, &m.e[i]};
            }
        }
        compare_best(&m, &ranges, all, n, 40, k % 2 == 0);
    }
    completion_cursor_fini(&c);
    unmake(&m);
}
END_TEST

/* Whatever the bytes say, a search ends and stays inside them. */
START_TEST(damage)
{
    struct model m;
    make(&m, 11, 120, 3);
    for (size_t at = 0; at < m.bytes.n; at++) {
        char *copy = malloc(m.bytes.n);
        memcpy(copy, m.bytes.p, m.bytes.n);
        copy[at] = (char)(copy[at] ^ (1 << rng_below(&m.r, 8)));
        struct completion_section s;
        if (completion_section_open(&s, str_mk(copy, m.bytes.n))) {
            struct completion_cursor c;
            struct completion_ranges ranges = {.arena = &m.arena};
            struct completion_hit *hits;
            uint32_t n;
            completion_cursor_init(&c, &s);
            completion_cursor_seek(&c, STR("b"));
            uint64_t from = c.pos;
            completion_cursor_pass(&c, STR("b"));
            completion_ranges_add(&ranges, (struct completion_range){from, c.pos, 0, STR_NULL});
            completion_cursor_fini(&c);
            struct completion_request rq = {&s, &ranges, m.live, 120, 50, at % 2 == 0};
            enum err e = completion_search(&rq, &hits, &n, &m.arena, NULL);
            ck_assert(e == ERR_OK || e == ERR_CORRUPT);
        }
        free(copy);
    }
    unmake(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("completion_search");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, prefixes);
    tcase_add_test(t, fuzzy_words);
    tcase_add_test(t, expressions);
    tcase_add_test(t, damage);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
