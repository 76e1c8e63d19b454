#include "engine/query/filter_cache.h"

#include "common/base/bits.h"
#include "common/base/rand.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#define SHARDS   3
#define SEGMENTS 8 /* numbers are unique: segment s belongs to shard s % SHARDS */
#define KEYS     20
#define DOCS     1000

static void words_of(uint64_t segment, unsigned key, uint64_t words[DOCS / 64 + 1])
{
    for (size_t i = 0; i < bits_words(DOCS); i++) {
        words[i] = segment * 1000003 + key * 101 + i;
    }
}

static struct str key_of(unsigned key, char text[16])
{
    snprintf(text, 16, "key-%u", key);
    return str_of(text);
}

/* What the cache gives is what was put, for the right segment; a filter is worth keeping when it comes again; sizes add up. */
START_TEST(gives_what_was_put)
{
    struct rng r;
    rng_seed(&r, (uint64_t)_i);
    size_t entry = bits_words(DOCS) * 8 + 200, budget = (size_t)(4 + rng_below(&r, 60)) * entry;
    struct filter_store *st = filter_store_new(NULL, budget);
    struct filter_cache *c[SHARDS];
    struct cached_bits *held = NULL;
    for (unsigned i = 0; i < SHARDS; i++) {
        c[i] = filter_cache_new(st);
    }
    uint64_t hits = 0, misses = 0, words[DOCS / 64 + 1];
    for (int i = 0; i < 3000; i++) {
        uint64_t segment = rng_below(&r, SEGMENTS);
        unsigned shard = (unsigned)segment % SHARDS, key = (unsigned)rng_below(&r, KEYS);
        char text[16];
        bool worth;
        struct cached_bits *b = filter_cache_get(c[shard], segment, key_of(key, text), &worth);
        words_of(segment, key, words);
        if (b != NULL) {
            hits++;
            ck_assert(b->n_docs == DOCS && b->count == key
                      && memcmp(b->words, words, bits_words(DOCS) * 8) == 0);
            if (held == NULL) {
                held = b; /* outlives whatever happens to its entry */
            } else {
                cached_bits_unref(b);
            }
        } else {
            misses++;
            if (worth) {
                filter_cache_put(c[shard], segment, key_of(key, text), words, DOCS, key);
            }
        }
        if (rng_below(&r, 500) == 0) {
            filter_cache_clear(c[shard]);
            ck_assert_uint_eq(filter_cache_stats(c[shard]).bytes, 0);
        }
    }
    struct filter_cache_stats sum = {0};
    for (unsigned i = 0; i < SHARDS; i++) {
        struct filter_cache_stats s = filter_cache_stats(c[i]);
        sum.hits += s.hits;
        sum.misses += s.misses;
        sum.bytes += s.bytes;
    }
    ck_assert(sum.hits == hits && sum.misses == misses && sum.bytes <= budget);
    ck_assert(hits > 100);
    for (unsigned i = 0; i < SHARDS; i++) {
        filter_cache_free(c[i]);
    }
    filter_store_free(st);
    cached_bits_unref(held);
}
END_TEST

START_TEST(keeps_the_segments_that_are)
{
    struct filter_store *st = filter_store_new(NULL, MIB);
    struct filter_cache *a = filter_cache_new(st), *b = filter_cache_new(st);
    uint64_t words[DOCS / 64 + 1], kept[] = {2, 3};
    bool worth;
    for (uint64_t s = 0; s < 4; s++) {
        words_of(s, 1, words);
        filter_cache_put(s == 0 ? b : a, s, STR("k"), words, DOCS, 1);
    }
    filter_cache_keep(a, kept, 2);
    ck_assert_uint_eq(filter_cache_stats(a).entries, 2);
    ck_assert_uint_eq(filter_cache_stats(b).entries, 1);
    ck_assert_ptr_null(filter_cache_get(a, 1, STR("k"), &worth));
    struct cached_bits *bits = filter_cache_get(a, 3, STR("k"), &worth);
    ck_assert_ptr_nonnull(bits);
    cached_bits_unref(bits);
    filter_cache_free(a);
    filter_cache_free(b);
    filter_store_free(st);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("filter_cache");
    TCase *c = tcase_create("all");
    tcase_add_loop_test(c, gives_what_was_put, 0, 20);
    tcase_add_test(c, keeps_the_segments_that_are);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
