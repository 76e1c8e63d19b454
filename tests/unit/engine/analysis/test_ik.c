/* IK's tokenizers: the choice among overlapping words against a model that walks as the plugin does, windows,
 * options. */
#include "common/base/rand.h"
#include "common/base/utf8.h"
#include "engine/analysis/ik_int.h"

#include <check.h>
#include <stdlib.h>

#define SPAN 24

/* The plugin's own way: a stack of lexemes that did not fit, each of which the way is cut back for. */
struct model_way {
    struct ik_lexeme v[64];
    size_t n;
};

static uint32_t payload(const struct model_way *w)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < w->n; i++) {
        sum += w->v[i].length;
    }
    return sum;
}

static bool crosses(const struct model_way *w, const struct ik_lexeme *l)
{
    if (w->n == 0) {
        return false;
    }
    uint32_t begin = w->v[0].begin, end = lexeme_end(&w->v[w->n - 1]);
    return (l->begin >= begin && l->begin < end) || (begin >= l->begin && begin < lexeme_end(l));
}

static void insert(struct model_way *w, struct ik_lexeme l)
{
    size_t at = w->n++;
    while (at > 0 && w->v[at - 1].begin > l.begin) {
        w->v[at] = w->v[at - 1];
        at--;
    }
    w->v[at] = l;
}

static size_t forward(const struct ik_lexeme *v, size_t n, size_t from, struct model_way *w, size_t *missed)
{
    size_t m = 0;
    for (size_t i = from; i < n; i++) {
        if (crosses(w, &v[i])) {
            missed[m++] = i;
        } else {
            insert(w, v[i]);
        }
    }
    return m;
}

static bool better(const struct model_way *a, const struct model_way *b)
{
    uint32_t pa = payload(a), pb = payload(b);
    if (pa != pb) {
        return pa > pb;
    }
    if (a->n != b->n) {
        return a->n < b->n;
    }
    uint32_t ea = lexeme_end(&a->v[a->n - 1]), eb = lexeme_end(&b->v[b->n - 1]);
    if (ea - a->v[0].begin != eb - b->v[0].begin) {
        return ea - a->v[0].begin > eb - b->v[0].begin;
    }
    if (ea != eb) {
        return ea > eb;
    }
    uint32_t xa = 1, xb = 1, wa = 0, wb = 0;
    for (uint32_t i = 0; i < a->n; i++) {
        xa *= a->v[i].length;
        wa += (i + 1) * a->v[i].length;
        xb *= b->v[i].length;
        wb += (i + 1) * b->v[i].length;
    }
    return xa != xb ? (int32_t)xa > (int32_t)xb : (int32_t)wa > (int32_t)wb;
}

static struct model_way model_judge(const struct ik_lexeme *v, size_t n)
{
    struct model_way w = {.n = 0}, best;
    size_t missed[64], ignored[64];
    size_t m = forward(v, n, 0, &w, missed);
    best = w;
    while (m > 0) {
        size_t at = missed[--m];
        while (crosses(&w, &v[at])) {
            w.n--;
        }
        forward(v, n, at, &w, ignored);
        if (better(&w, &best)) {
            best = w;
        }
    }
    return best;
}

START_TEST(judges_as_the_model)
{
    struct rng r;
    rng_seed(&r, 5);
    for (int round = 0; round < 50000; round++) {
        struct arena a;
        struct ik_lexemes l = {0};
        struct ik_lexeme out[64];
        struct ik_chain chains[64];
        arena_init(&a, NULL, ARENA_UNLIMITED);
        size_t want = 1 + rng_below(&r, 30);
        uint32_t span = 2 + (uint32_t)rng_below(&r, SPAN);
        for (size_t i = 0; i < want; i++) {
            uint32_t begin = (uint32_t)rng_below(&r, span);
            struct ik_lexeme x = {(uint16_t)begin, (uint16_t)(1 + rng_below(&r, 5)), IK_TYPE_CNWORD};
            ck_assert(ik_lexemes_add(&l, x, &a));
        }
        uint32_t end = lexeme_end(&l.v[0]); /* the first group of overlapping ones */
        size_t n = 1;
        for (; n < l.n && l.v[n].begin < end; n++) {
            end = MAX_OF(end, lexeme_end(&l.v[n]));
        }
        struct model_way model = model_judge(l.v, n);
        size_t got = ik_judge(l.v, n, out, chains);
        ck_assert_uint_eq(got, model.n);
        for (size_t i = 0; i < got; i++) {
            ck_assert_uint_eq(out[i].begin, model.v[i].begin);
            ck_assert_uint_eq(out[i].length, model.v[i].length);
        }
        arena_fini(&a);
    }
}
END_TEST

static struct dictionary *dictionary;
static struct arena arena;

static void setup(void)
{
    static const char *const words[] = {"中国", "国人",    "中国人", "酒店",
                                        "万元", "7天酒店", "啊啊",   "啊啊啊"};
    static const char *const counts[] = {"元", "个", "公里", "里"};
    static const char *const stops[] = {"the", "a"};
    struct lexicon l;
    lexicon_init(&l);
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        ck_assert_int_eq(lexicon_add(&l, IK_MAIN, str_of(words[i]), STR_NULL, NULL), ERR_OK);
    }
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        ck_assert_int_eq(lexicon_add(&l, IK_QUANTIFIER, str_of(counts[i]), STR_NULL, NULL), ERR_OK);
    }
    for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
        ck_assert_int_eq(lexicon_add(&l, IK_STOP, str_of(stops[i]), STR_NULL, NULL), ERR_OK);
    }
    ck_assert_int_eq(dictionary_of(&dictionary, &dictionary_ik, &l, NULL), ERR_OK);
    lexicon_fini(&l);
    arena_init(&arena, NULL, ARENA_UNLIMITED);
}

static void teardown(void)
{
    dictionary_unref(dictionary);
    arena_fini(&arena);
}

static const struct tokenizer *make(const char *type, const char *key, const char *value)
{
    const struct tokenizer *t;
    struct settings s;
    struct analysis_env env = {.ik = dictionary};
    settings_init(&s, &arena);
    ck_assert(settings_put(&s, STR("type"), str_of(type)));
    ck_assert(key == NULL || settings_put(&s, str_of(key), str_of(value)));
    ck_assert_int_eq(ik_tokenizer_new((const void **)&t, STR("mine"), &s, &env, &arena, NULL), ERR_OK);
    return t;
}

/* "text/type@start-end ..." with byte offsets. */
static void check(const struct tokenizer *t, const char *text, const char *want)
{
    struct token_list l;
    struct buf b;
    token_list_init(&l, &arena);
    buf_init(&b, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(t->run(t, str_of(text), &l, NULL), ERR_OK);
    for (size_t i = 0; i < l.n; i++) {
        ck_assert_int_eq(l.v[i].pos_inc, 1);
        buf_printf(&b, "%s%.*s/%s@%u-%u", i > 0 ? " " : "", STR_ARG(l.v[i].text), l.v[i].type, l.v[i].start,
                   l.v[i].end);
    }
    ck_assert_uint_eq(l.end_offset, l.n > 0 ? l.v[l.n - 1].end : 0);
    ck_assert_str_eq(b.n > 0 ? b.p : "", want);
    buf_fini(&b);
}

START_TEST(tokens_and_types)
{
    const struct tokenizer *smart = make("ik_smart", NULL, NULL),
                           *max = make("ik_max_word", "use_smart", "true");
    check(smart, "", "");
    check(smart, "中国人", "中国人/CN_WORD@0-9");
    check(max, "中国人", "中国人/CN_WORD@0-9 中国/CN_WORD@0-6 国人/CN_WORD@3-9");
    check(smart, "The 中 A", "中/CN_CHAR@4-7");
    check(smart, "３00元", "300元/TYPE_CQUAN@0-8");
    check(max, "３00元", "300/ARABIC@0-5 元/COUNT@5-8");
    check(smart, "三公里", "三公里/TYPE_CQUAN@0-9");
    check(max, "三公里", "三/TYPE_CNUM@0-3 公里/COUNT@3-9 里/COUNT@6-9");
    check(smart, "1.8万元", "1.8/ARABIC@0-3 万元/CN_WORD@3-9");
    check(max, "C++ a-b", "c++/LETTER@0-3 c/ENGLISH@0-1 a-b/LETTER@4-7 b/ENGLISH@6-7");
    check(smart, "か中é😀x", "か/OTHER_CJK@0-3 中/CN_CHAR@3-6 x/ENGLISH@12-13");
    check(smart, "7天酒店", "7天酒店/CN_WORD@0-10");
    check(smart, "\xFF中\xE4\xB8", "中/CN_CHAR@1-4");
}
END_TEST

START_TEST(lowercase_is_an_option)
{
    check(make("ik_smart", "enable_lowercase", "false"), "AbＣd", "AbCd/ENGLISH@0-6");
    check(make("ik_smart", "enable_lowercase", "true"), "AbＣd", "abCd/ENGLISH@0-6");
    const struct tokenizer *t;
    struct settings s;
    struct analysis_env none = {0};
    settings_init(&s, &arena);
    ck_assert_int_eq(ik_tokenizer_new((const void **)&t, STR("ik_smart"), &s, &none, &arena, NULL),
                     ERR_ILLEGAL_STATE);
}
END_TEST

/* Past the window all goes on; a text that fills it exactly loses or repeats what the plugin does. */
START_TEST(windows)
{
    static const char *const fill[] = {"中国", "a,", "😀", "啊"};
    const struct tokenizer *types[] = {make("ik_smart", NULL, NULL), make("ik_max_word", NULL, NULL)};
    for (size_t f = 0; f < ARRAY_LEN(fill) * 2; f++) {
        const struct tokenizer *t = types[f % 2];
        for (size_t units = 4090; units < 12300; units += units % 4096 < 4 || units % 4096 > 4091 ? 1 : 97) {
            struct buf b;
            struct token_list l;
            buf_init(&b, NULL, BUF_UNLIMITED);
            token_list_init(&l, &arena);
            size_t each = utf16_length(str_of(fill[f / 2]));
            for (size_t have = 0; have < units; have += each) {
                buf_z(&b, fill[f / 2]);
            }
            ck_assert_int_eq(t->run(t, buf_view(&b), &l, NULL), ERR_OK);
            for (size_t i = 0; i < l.n; i++) {
                ck_assert_uint_lt(l.v[i].start, l.v[i].end);
                ck_assert_uint_le(l.v[i].end, b.n);
            }
            ck_assert(l.n > 0 || f / 2 >= 1);
            buf_fini(&b);
            arena_reset(&arena);
            types[0] = make("ik_smart", NULL, NULL);
            types[1] = make("ik_max_word", NULL, NULL);
            t = types[f % 2];
        }
    }
}
END_TEST

START_TEST(any_bytes_are_safe)
{
    struct rng r;
    rng_seed(&r, 9);
    for (int i = 0; i < 3000; i++) {
        char text[300];
        struct token_list l;
        size_t n = rng_below(&r, sizeof(text));
        for (size_t k = 0; k < n; k++) {
            text[k] =
                (char)(rng_below(&r, 3) == 0 ? rng_u64(&r) : (uint64_t) "中国人1a.,元"[rng_below(&r, 17)]);
        }
        const struct tokenizer *t = make(i % 2 == 0 ? "ik_smart" : "ik_max_word", NULL, NULL);
        token_list_init(&l, &arena);
        ck_assert_int_eq(t->run(t, str_mk(text, n), &l, NULL), ERR_OK);
        for (size_t k = 0; k < l.n; k++) {
            ck_assert(l.v[k].start < l.v[k].end && l.v[k].end <= n && l.v[k].text.n > 0);
        }
        arena_reset(&arena);
    }
}
END_TEST

START_TEST(no_memory_is_reported)
{
    const struct tokenizer *t = make("ik_max_word", NULL, NULL);
    struct str text = STR("中国人 ABC 三公里 1.8万元");
    for (size_t max = 0;; max += 64) {
        struct arena small;
        struct token_list l;
        arena_init(&small, NULL, max);
        token_list_init(&l, &small);
        enum err e = t->run(t, text, &l, NULL);
        arena_fini(&small);
        if (e == ERR_OK) {
            break;
        }
        ck_assert_int_eq(e, ERR_NO_MEMORY);
        ck_assert_uint_lt(max, MIB);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("ik");
    TCase *t = tcase_create("ik");
    tcase_set_timeout(t, 120);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, judges_as_the_model);
    tcase_add_test(t, tokens_and_types);
    tcase_add_test(t, lowercase_is_an_option);
    tcase_add_test(t, windows);
    tcase_add_test(t, any_bytes_are_safe);
    tcase_add_test(t, no_memory_is_reported);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
