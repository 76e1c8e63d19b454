/* Tries against a sorted list of words; images with every byte flipped. */
#include "common/base/rand.h"
#include "common/base/utf8.h"
#include "engine/analysis/dict/dat_build.h"
#include "engine/analysis/dict/ik_dict.h"
#include "tests/seams/fs_mem.h"

#include <check.h>
#include <stdlib.h>

struct word {
    uint16_t units[8];
    uint32_t n, value;
};

static int by_units(const void *x, const void *y)
{
    const struct word *a = x, *b = y;
    for (uint32_t i = 0; i < MIN_OF(a->n, b->n); i++) {
        if (a->units[i] != b->units[i]) {
            return a->units[i] < b->units[i] ? -1 : 1;
        }
    }
    return a->n < b->n ? -1 : a->n > b->n;
}

static struct word random_word(struct rng *r, unsigned alphabet)
{
    struct word w = {.n = 1 + (uint32_t)rng_below(r, 8), .value = (uint32_t)rng_below(r, 3) * 77};
    for (uint32_t i = 0; i < w.n; i++) {
        w.units[i] = (uint16_t)(rng_below(r, alphabet) * 31 + 1);
    }
    return w;
}

static bool is_prefix(const struct word *p, const struct word *w)
{
    return p->n <= w->n && memcmp(p->units, w->units, p->n * sizeof(p->units[0])) == 0;
}

/* What the sorted list says about `q`: is it a word, do longer ones follow, its value. */
static void look_up(const struct word *v, size_t n, const struct word *q, bool *word, bool *more,
                    uint32_t *value)
{
    *word = *more = false;
    *value = 0;
    for (size_t i = 0; i < n; i++) {
        if (is_prefix(q, &v[i])) {
            *word = *word || v[i].n == q->n;
            *more = *more || v[i].n > q->n;
            *value = v[i].n == q->n ? v[i].value : *value;
        }
    }
}

static void compare_with_list(struct rng *r, unsigned alphabet, size_t n)
{
    struct word *v = calloc(n + 1, sizeof(*v));
    struct dat_entry *entries = calloc(n + 1, sizeof(*entries));
    for (size_t i = 0; i < n; i++) {
        v[i] = random_word(r, alphabet);
    }
    qsort(v, n, sizeof(*v), by_units);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || by_units(&v[i], &v[kept - 1]) != 0) {
            v[kept++] = v[i];
        }
    }
    for (size_t i = 0; i < kept; i++) {
        entries[i] = (struct dat_entry){v[i].units, v[i].n, v[i].value};
    }
    struct buf codes, nodes;
    buf_init(&codes, NULL, BUF_UNLIMITED);
    buf_init(&nodes, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(dat_build(entries, kept, &codes, &nodes, NULL), ERR_OK);
    struct dat d = {(const void *)codes.p, (const void *)nodes.p,
                    (uint32_t)(nodes.n / sizeof(struct dat_node))};
    for (size_t i = 0; i < 2000; i++) {
        struct word q =
            kept > 0 && rng_below(r, 2) == 0 ? v[rng_below(r, kept)] : random_word(r, alphabet + 1);
        q.n = 1 + (uint32_t)rng_below(r, q.n);
        bool word, more;
        uint32_t value, state = DAT_ROOT;
        look_up(v, kept, &q, &word, &more, &value);
        for (uint32_t k = 0; k < q.n; k++) {
            state = dat_step(&d, state, q.units[k]);
        }
        ck_assert_int_eq(state != 0, word || more);
        if (state != 0) {
            ck_assert_int_eq(dat_is_word(&d, state), word);
            ck_assert_int_eq(dat_has_more(&d, state), more);
            ck_assert_uint_eq(dat_value(&d, state), value);
        }
    }
    buf_fini(&codes);
    buf_fini(&nodes);
    free(v);
    free(entries);
}

START_TEST(walks_as_the_list_says)
{
    struct rng r;
    rng_seed(&r, 1);
    compare_with_list(&r, 3, 0);
    compare_with_list(&r, 1, 5);
    for (int i = 0; i < 10; i++) {
        compare_with_list(&r, 3, 300);
        compare_with_list(&r, 60, 500);
        compare_with_list(&r, 2000, 800);
    }
}
END_TEST

static void compile_some(struct buf *out, bool backwards)
{
    static const char *const words[] = {"中国", "国中", "中", "国人", "啊啊啊", "𠮷野", "abc", "中国人民"};
    struct lexicon l;
    lexicon_init(&l);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        const char *w = words[backwards ? ARRAY_LEN(words) - 1 - i : i];
        ck_assert_int_eq(lexicon_add(&l, IK_MAIN, str_of(w), STR("a text"), NULL), ERR_OK);
        ck_assert_int_eq(lexicon_add(&l, IK_STOP, str_of(w), STR_NULL, NULL), ERR_OK);
    }
    ck_assert_int_eq(lexicon_compile(&l, IMAGE_IK, out, NULL), ERR_OK);
    lexicon_fini(&l);
}

START_TEST(the_same_words_give_the_same_bytes)
{
    struct buf a, b;
    buf_init(&a, NULL, BUF_UNLIMITED);
    buf_init(&b, NULL, BUF_UNLIMITED);
    compile_some(&a, false);
    compile_some(&b, true);
    ck_assert(str_eq(buf_view(&a), buf_view(&b)));
    buf_fini(&a);
    buf_fini(&b);
}
END_TEST

START_TEST(a_later_value_wins_and_long_words_are_left_out)
{
    struct lexicon l;
    struct buf b;
    struct image im;
    struct dat d;
    char longest[255 * 3];
    lexicon_init(&l);
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < sizeof(longest); i += 3) {
        memcpy(longest + i, "中", 3);
    }
    ck_assert_int_eq(lexicon_add(&l, 1, STR("x"), STR("old"), NULL), ERR_OK);
    ck_assert_int_eq(lexicon_add(&l, 1, STR("x"), STR("new"), NULL), ERR_OK);
    ck_assert_int_eq(lexicon_add(&l, 1, STR(""), STR("new"), NULL), ERR_OK);
    ck_assert_int_eq(lexicon_add(&l, 1, str_mk(longest, sizeof(longest)), STR_NULL, NULL), ERR_OK);
    ck_assert_uint_eq(l.n, 2);
    ck_assert_int_eq(lexicon_add(&l, 1, str_mk(longest, 253 * 3), STR_NULL, NULL), ERR_OK);
    ck_assert_uint_eq(l.n, 3);
    ck_assert_int_eq(lexicon_compile(&l, IMAGE_PINYIN, &b, NULL), ERR_OK);
    ck_assert_int_eq(image_take(&im, &b, IMAGE_PINYIN, NULL), ERR_OK);
    ck_assert_int_eq(image_dat(&im, &d, NULL), ERR_OK);
    uint32_t state = dat_step(&d, dat_step(&d, DAT_ROOT, 1), 'x');
    ck_assert(str_is(image_text(&im, dat_value(&d, state)), "new"));
    ck_assert_uint_eq(image_text(&im, 1 << 20).n, 0);
    image_close(&im);
    lexicon_fini(&l);
}
END_TEST

/* Every byte of a file damaged in turn: refused, all of them are under some checksum but the padding. */
START_TEST(damage_is_found)
{
    struct buf b;
    struct fs_mem *mem = fs_mem_new();
    const struct fs *fs = fs_mem_fs(mem);
    struct image im;
    ERR_LOCAL(em);
    buf_init(&b, NULL, BUF_UNLIMITED);
    compile_some(&b, false);
    struct rng r;
    rng_seed(&r, 2);
    for (size_t at = 0; at < b.n; at += at < 400 ? 1 : 1 + rng_below(&r, 500)) {
        unsigned char *p = (unsigned char *)b.p + at;
        unsigned char was = *p;
        *p ^= (unsigned char)(1 + rng_below(&r, 255));
        ck_assert_int_eq(fs_replace_file(fs, "d", buf_view(&b), &em), ERR_OK);
        enum err e = image_map(&im, fs, "d", IMAGE_IK, &em);
        if (e == ERR_OK) {
            ck_assert_msg(at >= 40 + 3 * 32 + 8 && was == 0, "byte %zu", at);
            image_close(&im);
        } else {
            ck_assert_int_eq(e, ERR_CORRUPT);
        }
        *p = was;
    }
    for (size_t n = 0; n < b.n; n += n < 200 ? 1 : 5000) {
        ck_assert_int_eq(fs_replace_file(fs, "d", str_slice(buf_view(&b), 0, n), &em), ERR_OK);
        ck_assert_int_eq(image_map(&im, fs, "d", IMAGE_IK, &em), ERR_CORRUPT);
    }
    ck_assert_int_eq(fs_replace_file(fs, "d", buf_view(&b), &em), ERR_OK);
    ck_assert_int_eq(image_map(&im, fs, "d", IMAGE_PINYIN, &em), ERR_CORRUPT);
    ck_assert_int_eq(image_map(&im, fs, "absent", IMAGE_IK, &em), ERR_IO);
    ck_assert_int_eq(image_map(&im, fs, "d", IMAGE_IK, &em), ERR_OK);
    image_close(&im);
    buf_fini(&b);
    fs_mem_free(mem);
}
END_TEST

/* Tables of noise under right checksums: walks stay inside. */
START_TEST(noise_is_harmless)
{
    struct rng r;
    rng_seed(&r, 3);
    for (int round = 0; round < 20; round++) {
        struct buf codes, nodes, texts, b;
        struct image im;
        struct dat d;
        buf_init(&codes, NULL, BUF_UNLIMITED);
        buf_init(&nodes, NULL, BUF_UNLIMITED);
        buf_init(&texts, NULL, BUF_UNLIMITED);
        buf_init(&b, NULL, BUF_UNLIMITED);
        for (size_t i = 0; i < DAT_CODES; i++) {
            uint16_t c = (uint16_t)rng_below(&r, 8);
            buf_add(&codes, &c, 2);
        }
        for (size_t i = 0; i < 64; i++) {
            struct dat_node n = {(uint32_t)rng_below(&r, 80) | (uint32_t)rng_below(&r, 4) << 30,
                                 (uint32_t)rng_below(&r, 64)};
            buf_add(&nodes, &n, sizeof(n));
            buf_char(&texts, (char)rng_u64(&r));
        }
        struct image_part parts[] = {{SECTION_CODES, buf_view(&codes)},
                                     {SECTION_NODES, buf_view(&nodes)},
                                     {SECTION_TEXTS, buf_view(&texts)}};
        ck_assert_int_eq(image_write(&b, IMAGE_IK, 1, parts, 3, NULL), ERR_OK);
        ck_assert_int_eq(image_take(&im, &b, IMAGE_IK, NULL), ERR_OK);
        ck_assert_int_eq(image_dat(&im, &d, NULL), ERR_OK);
        uint32_t state = DAT_ROOT;
        size_t seen = 0;
        for (int i = 0; i < 5000; i++) {
            state = dat_step(&d, state, (uint16_t)rng_u64(&r));
            if (state == 0) {
                state = DAT_ROOT;
            }
            struct str text = image_text(&im, dat_value(&d, state));
            for (size_t k = 0; k < text.n; k++) {
                seen += (unsigned char)text.p[k];
            }
        }
        ck_assert(seen < SIZE_MAX);
        image_close(&im);
        buf_fini(&codes);
        buf_fini(&nodes);
        buf_fini(&texts);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dat");
    TCase *t = tcase_create("dat");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, walks_as_the_list_says);
    tcase_add_test(t, the_same_words_give_the_same_bytes);
    tcase_add_test(t, a_later_value_wins_and_long_words_are_left_out);
    tcase_add_test(t, damage_is_found);
    tcase_add_test(t, noise_is_harmless);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
