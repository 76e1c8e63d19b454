/* Options, boundaries and passages of highlighting. */
#include "engine/highlight/highlight_int.h"

#include "common/base/stop.h"
#include "common/base/utf8.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static enum err parse(const char *body, const struct highlight_spec **out, struct arena *a, struct errmsg *em)
{
    struct json *v = ARENA_NEW(a, struct json);
    ck_assert_ptr_nonnull(v);
    ck_assert_int_eq(json_parse(v, str_of(body), a, &json_limits_default, em), ERR_OK);
    err_clear(em);
    return highlight_parse(out, v, str_of(body), a, em);
}

START_TEST(options_are_inherited)
{
    struct arena a;
    ERR_LOCAL(em);
    const struct highlight_spec *s;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(
        parse("{\"fragment_size\":30,\"tags_schema\":\"styled\",\"encoder\":\"html\",\"fields\":[{\"b\":{}},"
              "{\"a*\":{\"fragment_size\":\"7\",\"pre_tags\":\"<\",\"post_tags\":[\">\"],\"order\":\"SCORE\"}"
              "}]}",
              &s, &a, &em),
        ERR_OK);
    ck_assert_uint_eq(s->n, 2);
    ck_assert(str_is(s->fields[0].name, "b") && str_is(s->fields[1].name, "a*"));
    ck_assert_int_eq(s->fields[0].o.fragment_size, 30);
    ck_assert_int_eq(s->fields[1].o.fragment_size, 7);
    ck_assert(str_is(s->fields[0].o.pre_tags.v[0], "<em class=\"hlt1\">"));
    ck_assert(str_is(s->fields[1].o.pre_tags.v[0], "<"));
    ck_assert(s->fields[1].o.score_ordered && !s->fields[0].o.score_ordered);
    ck_assert(s->fields[0].o.html && s->fields[1].o.html && s->fields[1].o.require_field_match);
    ck_assert_int_eq(s->fields[1].o.number_of_fragments, 5);
    ck_assert(parse("{\"fields\":{\"a\":{\"boundary_scanner\":\"word\"},\"b\":{}}}", &s, &a, &em) == ERR_OK);
    ck_assert((s->fields[0].o.set & HL_SET_SCANNER) != 0 && (s->fields[1].o.set & HL_SET_SCANNER) == 0);
    arena_fini(&a);
}
END_TEST

START_TEST(options_are_refused)
{
    static const struct {
        const char *body;
        enum err code;
    } cases[] = {
        {"{\"field\":{}}", ERR_X_CONTENT},
        {"{\"fields\":\"x\"}", ERR_X_CONTENT},
        {"{\"fields\":null}", ERR_X_CONTENT},
        {"{\"fields\":{\"a\":3}}", ERR_X_CONTENT},
        {"{\"fields\":[{}]}", ERR_X_CONTENT},
        {"{\"fields\":[\"a\"]}", ERR_X_CONTENT},
        {"{\"fields\":[{\"a\":{},\"b\":{}}]}", ERR_X_CONTENT},
        {"{\"fields\":{\"a\":{\"fragment_length\":3}}}", ERR_X_CONTENT},
        {"{\"fields\":{\"a\":{\"fragment_size\":\"big\"}}}", ERR_X_CONTENT},
        {"{\"fragment_size\":3000000000}", ERR_X_CONTENT},
        {"{\"max_analyzed_offset\":0}", ERR_X_CONTENT},
        {"{\"order\":3}", ERR_X_CONTENT},
        {"{\"boundary_scanner\":\"x\"}", ERR_X_CONTENT},
        {"{\"tags_schema\":\"x\"}", ERR_X_CONTENT},
        {"{\"pre_tags\":[\"x\"]}", ERR_PARSING},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arena a;
        ERR_LOCAL(em);
        const struct highlight_spec *s;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        ck_assert_msg(parse(cases[i].body, &s, &a, &em) == cases[i].code, "%s: %s", cases[i].body,
                      err_is(&em) ? "other" : "none");
        arena_fini(&a);
    }
}
END_TEST

/* The breaks of a text, shown by bars. */
static void expect_breaks(bool words, const char *text, const char *shown)
{
    struct arena a;
    struct hl_breaks b;
    uint16_t u[256];
    uint32_t n = 0;
    struct buf out;
    struct str s = str_of(text);
    arena_init(&a, NULL, ARENA_UNLIMITED);
    buf_init(&out, NULL, BUF_UNLIMITED);
    for (size_t at = 0; at < s.n;) {
        u[n++] = (uint16_t)utf8_next(s, &at);
    }
    ck_assert(words ? hl_breaks_words(&b, u, n, &a) : hl_breaks_sentences(&b, u, n, &a));
    for (size_t i = 0; i + 1 < b.n_v; i++) {
        struct hl_text x = {.u = u, .n = n};
        hl_append(&out, &x, b.v[i], b.v[i + 1], false);
        buf_char(&out, '|');
    }
    ck_assert_str_eq(out.p, shown);
    buf_fini(&out);
    arena_fini(&a);
}

START_TEST(sentences)
{
    expect_breaks(false, "One. Two.", "One. |Two.|");
    expect_breaks(false, "One. two, 3. 4 and \"a.\" (B) c", "One. two, 3. 4 and \"a.\" |(B) c|");
    expect_breaks(false, "What?yes! No", "What?|yes! |No|");
    expect_breaks(false, "e.g. it is U.S.A. Then", "e.g. it is U.S.A. |Then|");
    expect_breaks(false, "He said \"Stop.\" Then", "He said \"Stop.\" |Then|");
    expect_breaks(false, "很好。我们喜欢！真的", "很好。|我们喜欢！|真的|");
}
END_TEST

/* Going backwards, a full stop that a symbol follows comes out as a boundary, unless one before it is known. */
START_TEST(sentences_backwards)
{
    static const char text[] = "One two. Three U.S.A. & four five six";
    struct arena a;
    struct hl_breaks b;
    uint16_t u[64];
    uint32_t n = (uint32_t)strlen(text);
    int64_t known = -1;
    for (uint32_t i = 0; i < n; i++) {
        u[i] = (uint16_t)text[i];
    }
    arena_init(&a, NULL, ARENA_UNLIMITED);
    ck_assert(hl_breaks_sentences(&b, u, n, &a));
    ck_assert_int_eq(hl_break_before(&b, 30), 9);
    ck_assert_int_eq(hl_sentence_before(&b, &known, 30), 20);
    ck_assert_int_eq(known, 20);
    known = 9;
    ck_assert_int_eq(hl_sentence_before(&b, &known, 30), 9);
    known = -1;
    ck_assert_int_eq(hl_sentence_before(&b, &known, 12), 9);
    ck_assert_int_eq(hl_sentence_after(&b, &known, 12), n);
    ck_assert_int_eq(known, n);
    ck_assert_int_eq(hl_sentence_before(&b, &known, 0), -1);
    arena_fini(&a);
}
END_TEST

START_TEST(words)
{
    expect_breaks(true, "the fox's  den, 3.5%!", "the| |fox's|  |den|,| |3.5%|!|");
    expect_breaks(true, "a $3.50 x-y z", "a| |$3.50| |x-y| |z|");
    expect_breaks(true, "外滩酒店，カタカナひら1a", "外滩酒店|，|カタカナ|ひら|1a|");
}
END_TEST

/* ---- passages over random texts ------------------------------------------------------------------------ */

static uint32_t roll(uint64_t *seed, uint32_t n)
{
    *seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(*seed >> 33) % n;
}

static void random_text(struct hl_text *x, uint64_t *seed, struct arena *a)
{
    static const uint16_t pick[] = {'a', 'b', 'C',    ' ',    ' ',    '.',  '!',  ',', '"',
                                    '(', '5', 0x5916, 0x6EE9, 0x3002, 0xE9, '\n', '-'};
    uint32_t n = roll(seed, 300);
    *x = (struct hl_text){.u = ARENA_ARRAY(a, uint16_t, 2 * n + 8),
                          .values = ARENA_ARRAY(a, struct hl_value, n + 2)};
    ck_assert(x->u != NULL && x->values != NULL);
    x->n_values = 1;
    for (uint32_t i = 0; i < n; i++) {
        if (roll(seed, 60) == 0) {
            x->values[x->n_values - 1].end = x->n;
            x->u[x->n++] = 0;
            x->values[x->n_values++].start = x->n;
        } else if (roll(seed, 20) == 0) {
            x->u[x->n++] = 0xD83E;
            x->u[x->n++] = 0xDD8A;
        } else {
            x->u[x->n++] = pick[roll(seed, sizeof(pick) / sizeof(pick[0]))];
        }
    }
    x->values[x->n_values - 1].end = x->n;
}

static bool within_value(const struct hl_text *x, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < x->n_values; i++) {
        if (from >= x->values[i].start && to <= x->values[i].end) {
            return true;
        }
    }
    return false;
}

static bool splits_pair(const struct hl_text *x, uint32_t at)
{
    return at > 0 && at < x->n && x->u[at - 1] == 0xD83E && x->u[at] == 0xDD8A;
}

START_TEST(passages_hold_their_bounds)
{
    uint64_t seed = 42;
    static const int32_t sizes[] = {0, 1, 5, 18, 40, 100, INT32_MAX, -1, INT32_MIN};
    for (int round = 0; round < 3000; round++) {
        struct arena a;
        struct hl_text x;
        struct hl_match matches[64];
        size_t n = 0, n_p;
        struct hl_passage *p;
        struct hl_options o = {.fragment_size = sizes[roll(&seed, 9)],
                               .number_of_fragments = (int32_t)roll(&seed, 6)};
        o.scanner = roll(&seed, 3) == 0 ? SCANNER_WORD : SCANNER_SENTENCE;
        o.score_ordered = roll(&seed, 2) == 0;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        random_text(&x, &seed, &a);
        for (uint32_t at = roll(&seed, 20); at + 1 < x.n && n < 64; at += 1 + roll(&seed, 20)) {
            uint32_t end = at + 1 + (at + 2 < x.n && roll(&seed, 2) == 0);
            if (within_value(&x, at, end) && !splits_pair(&x, at) && !splits_pair(&x, end)) {
                matches[n++] = (struct hl_match){at, end, roll(&seed, 2) == 0 ? STR("x") : STR("y"), 3};
            }
        }
        ck_assert_int_eq(hl_passages(&p, &n_p, &x, &o, roll(&seed, 4) == 0, matches, n, &a, NULL), ERR_OK);
        ck_assert(n == 0 || n_p > 0);
        ck_assert(o.number_of_fragments == 0 || n_p <= (size_t)o.number_of_fragments);
        for (size_t i = 0; i < n_p; i++) {
            ck_assert(p[i].start < p[i].end && p[i].end <= x.n && within_value(&x, p[i].start, p[i].end));
            ck_assert(!splits_pair(&x, p[i].start) && !splits_pair(&x, p[i].end));
            ck_assert(p[i].n > 0 && p[i].matches[0].start >= p[i].start && p[i].matches[0].start < p[i].end);
            ck_assert(i == 0
                      || (o.score_ordered ? p[i - 1].score >= p[i].score : p[i - 1].end <= p[i].start));
        }
        arena_fini(&a);
    }
}
END_TEST

/* The same as what all boundaries of each beginning say. */
START_TEST(beginnings_of_a_text)
{
    uint64_t seed = 11;
    for (int round = 0; round < 4000; round++) {
        struct arena a;
        struct hl_text x;
        struct hl_breaks b;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        random_text(&x, &seed, &a);
        bool by_word = roll(&seed, 2) == 0;
        struct hl_cuts cuts = {.u = x.u, .words = by_word};
        for (uint32_t at = roll(&seed, 12); at <= x.n; at += roll(&seed, 12)) {
            int64_t known = -1, before = 0;
            ck_assert(by_word ? hl_breaks_words(&b, x.u, at, &a) : hl_breaks_sentences(&b, x.u, at, &a));
            before = by_word ? hl_break_before(&b, at) : hl_sentence_before(&b, &known, at);
            ck_assert_uint_eq(hl_cut_before(&cuts, at), (uint32_t)MAX_OF(before, (int64_t)0));
            ck_assert(by_word ? hl_breaks_words(&b, x.u + at, x.n - at, &a)
                              : hl_breaks_sentences(&b, x.u + at, x.n - at, &a));
            int64_t first = MAX_OF(hl_break_after(&b, 0), (int64_t)0);
            ck_assert_uint_eq(hl_first_break(x.u + at, x.n - at, by_word), (uint32_t)first);
        }
        arena_fini(&a);
    }
}
END_TEST

static bool count_look(void *self)
{
    ++*(uint64_t *)self;
    return false;
}

/* However many beginnings there are, the text is looked through about once. */
START_TEST(beginnings_cost_a_text)
{
    enum { N = 400000 };
    static const char *const texts[] = {"Alpha beta. Gamma - delta! ", "alpha beta. gamma delta. ",
                                        "alpha beta gamma ", "- - . - "};
    static uint16_t u[N];
    for (size_t t = 0; t < sizeof(texts) / sizeof(texts[0]); t++) {
        for (uint32_t i = 0; i < N; i++) {
            u[i] = (uint16_t)texts[t][i % strlen(texts[t])];
        }
        for (int kind = 0; kind < 2; kind++) {
            uint64_t looks = 0;
            struct stop st = {.asked = count_look, .self = &looks};
            struct hl_cuts cuts = {.u = u, .words = kind == 1};
            stop_enter(&st);
            for (uint32_t at = 0; at < N; at += 100) {
                ck_assert_uint_le(hl_cut_before(&cuts, at), at);
            }
            stop_leave(&st);
            ck_assert_uint_ge(looks, N / STOP_WORK / 2);
            ck_assert_uint_le(looks, 6 * N / STOP_WORK);
        }
    }
}
END_TEST

START_TEST(little_memory_is_an_error)
{
    uint64_t seed = 7;
    struct arena text, a;
    struct hl_text x;
    struct hl_passage *p;
    size_t n_p;
    struct hl_options o = {.fragment_size = 20, .number_of_fragments = 5};
    arena_init(&text, NULL, ARENA_UNLIMITED);
    random_text(&x, &seed, &text);
    struct hl_match m = {0, 1, STR("x"), 1};
    arena_init(&a, NULL, 0);
    ck_assert_int_eq(hl_passages(&p, &n_p, &x, &o, false, &m, 1, &a, NULL), ERR_NO_MEMORY);
    arena_fini(&a);
    arena_fini(&text);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("highlight");
    TCase *t = tcase_create("highlight");
    tcase_add_test(t, options_are_inherited);
    tcase_add_test(t, options_are_refused);
    tcase_add_test(t, sentences);
    tcase_add_test(t, sentences_backwards);
    tcase_add_test(t, words);
    tcase_add_test(t, passages_hold_their_bounds);
    tcase_add_test(t, beginnings_of_a_text);
    tcase_add_test(t, beginnings_cost_a_text);
    tcase_add_test(t, little_memory_is_an_error);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_NORMAL);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
