/* Partial results through their byte form and the reduce: what comes out is what went in, damage is
 * refused. */
#include <check.h>
#include <stdlib.h>

#include "common/base/rand.h"
#include "engine/suggest/suggest_int.h"

static const char body[] =
    "{\"c\":{\"prefix\":\"a\",\"completion\":{\"field\":\"f\",\"size\":7,\"skip_duplicates\":true}},"
    "\"t\":{\"text\":\"a\",\"term\":{\"field\":\"f\"}}}";

struct setup {
    struct arena arena;
    struct rng r;
    const struct suggest_spec *spec;
};

static void begin(struct setup *s)
{
    struct json *tree;
    arena_init(&s->arena, NULL, ARENA_UNLIMITED);
    rng_seed(&s->r, 5);
    tree = ARENA_NEW(&s->arena, struct json);
    ck_assert_int_eq(json_parse(tree, str_of(body), &s->arena, &json_limits_default, NULL), ERR_OK);
    ck_assert_int_eq(suggest_parse(&s->spec, tree, str_of(body), &s->arena, NULL), ERR_OK);
}

static int best(const void *a, const void *b)
{
    const struct suggest_option *x = a, *y = b;
    return x->score != y->score ? (x->score > y->score ? -1 : 1) : str_cmp(x->text, y->text);
}

/* One shard's options, best first, with the contexts that some have. */
static struct str partial(struct setup *s, struct suggest_option *options, uint32_t n)
{
    static const struct str contexts[] = {{"kind", 4}, {"a", 1}, {"kind", 4}, {"b", 1}};
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < n; i++) {
        options[i] =
            (struct suggest_option){.text = arena_printf(&s->arena, "o%u", (unsigned)rng_below(&s->r, 30)),
                                    .score = (float)rng_below(&s->r, 5),
                                    .doc = (uint32_t)rng_below(&s->r, 1000),
                                    .contexts = contexts,
                                    .n_contexts = (uint32_t)rng_below(&s->r, 3)};
    }
    if (n > 1) {
        qsort(options, n, sizeof(*options), best);
    }
    struct suggest_entry entry = {.text = STR("a"), .length = 1, .options = options, .n = n};
    suggest_result_encode(&(struct suggest_result){&entry, 1}, &b);
    suggest_result_encode(&(struct suggest_result){NULL, 0}, &b);
    struct str bytes = arena_str(&s->arena, buf_view(&b));
    buf_fini(&b);
    return bytes;
}

START_TEST(the_best_of_all_shards)
{
    struct setup s;
    begin(&s);
    for (unsigned round = 0; round < 200; round++) {
        struct suggest_option all[60];
        struct suggest_partial partials[4];
        uint32_t total = 0, n = 2 + (uint32_t)rng_below(&s.r, 3);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t here = (uint32_t)rng_below(&s.r, 12);
            partials[i] = (struct suggest_partial){partial(&s, all + total, here), i};
            total += here;
        }
        struct suggest_reduced *reduced;
        const struct top_doc *docs;
        ck_assert_int_eq(suggest_reduce(&reduced, s.spec, partials, n, &s.arena, NULL), ERR_OK);
        uint32_t got = suggest_docs(reduced, &docs), expected = 0;
        if (total > 1) {
            qsort(all, total, sizeof(all[0]), best);
        }
        for (uint32_t i = 0; i < total && expected < 7; i++) {
            bool again = false;
            for (uint32_t k = 0; k < i; k++) {
                again |= str_eq(all[k].text, all[i].text);
            }
            if (!again) {
                ck_assert_uint_lt(expected, got);
                ck_assert(docs[expected].score == all[i].score);
                expected++;
            }
        }
        ck_assert_uint_eq(got, expected);
    }
    arena_fini(&s.arena);
}
END_TEST

START_TEST(printing)
{
    struct setup s;
    struct suggest_option one[1];
    struct buf out;
    struct jsonw w;
    struct suggest_reduced *reduced;
    begin(&s);
    struct suggest_partial p = {partial(&s, one, 1), 0};
    struct str hit = STR("{\"_id\":\"1\"}");
    ck_assert_int_eq(suggest_reduce(&reduced, s.spec, &p, 1, &s.arena, NULL), ERR_OK);
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    suggest_write(reduced, &hit, true, &w);
    struct str expected = arena_printf(
        &s.arena,
        "{\"completion#c\":[{\"text\":\"a\",\"offset\":0,\"length\":1,\"options\":[{\"text\":\"%.*s\","
        "\"_id\":\"1\"%s}]}],\"term#t\":[]}",
        STR_ARG(one[0].text),
        one[0].n_contexts == 0   ? ""
        : one[0].n_contexts == 1 ? ",\"contexts\":{\"kind\":[\"a\"]}"
                                 : ",\"contexts\":{\"kind\":[\"a\",\"b\"]}");
    ck_assert_str_eq(out.p, expected.p);
    buf_fini(&out);
    arena_fini(&s.arena);
}
END_TEST

START_TEST(damage)
{
    struct setup s;
    struct suggest_option options[10];
    begin(&s);
    struct str bytes = partial(&s, options, 10);
    for (size_t at = 0; at < 2 * bytes.n; at++) {
        size_t n = at < bytes.n ? at : bytes.n;
        char *copy = malloc(n + 1);
        memcpy(copy, bytes.p, n);
        if (at >= bytes.n) {
            copy[at - bytes.n] = (char)(copy[at - bytes.n] ^ (1 << rng_below(&s.r, 8)));
        }
        struct suggest_partial p = {str_mk(copy, n), 0};
        struct suggest_reduced *reduced;
        enum err e = suggest_reduce(&reduced, s.spec, &p, 1, &s.arena, NULL);
        ck_assert(e == ERR_CORRUPT || (e == ERR_OK && at >= bytes.n));
        free(copy);
    }
    arena_fini(&s.arena);
}
END_TEST

START_TEST(order_of_utf16)
{
    ck_assert_int_lt(utf16_cmp(STR("a"), STR("b")), 0);
    ck_assert_int_lt(utf16_cmp(STR("a"), STR("ab")), 0);
    ck_assert_int_eq(utf16_cmp(STR("外"), STR("外")), 0);
    ck_assert_int_lt(utf16_cmp(STR("\xF0\x9F\x98\x80"), STR("\xEF\xBC\xA1")),
                     0); /* a surrogate before U+FF21 */
    ck_assert_int_gt(utf16_cmp(STR("\xF0\x9F\x98\x80"), STR("外")), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("suggest_bytes");
    TCase *t = tcase_create("core");
    tcase_add_test(t, the_best_of_all_shards);
    tcase_add_test(t, printing);
    tcase_add_test(t, damage);
    tcase_add_test(t, order_of_utf16);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
