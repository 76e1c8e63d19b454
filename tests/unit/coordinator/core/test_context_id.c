/* Ids of contexts: what is written comes back; what clients make of ids is refused, and never read beyond. */
#include "common/base/rand.h"
#include "coordinator/core/context_id.h"

#include <check.h>
#include <stdlib.h>

static struct str random_text(struct rng *r, struct arena *a)
{
    size_t n = rng_below(r, 20);
    char *p = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++) {
        p[i] = (char)rng_below(r, 256);
    }
    return str_mk(p, n);
}

static uint32_t random_refs(struct rng *r, struct arena *a, struct context_ref **refs)
{
    uint32_t n = (uint32_t)rng_below(r, 6);
    *refs = ARENA_ARRAY(a, struct context_ref, n);
    for (uint32_t i = 0; i < n; i++) {
        struct context_ref *c = &(*refs)[i];
        c->shard = (struct shard_ref){random_text(r, a), random_text(r, a), (uint32_t)rng_below(r, 1000)};
        c->context = rng_u64(r);
        c->n_filters = (uint32_t)rng_below(r, 3);
        struct str *filters = ARENA_ARRAY(a, struct str, c->n_filters);
        for (uint32_t k = 0; k < c->n_filters; k++) {
            filters[k] = random_text(r, a);
        }
        c->filters = filters;
    }
    return n;
}

START_TEST(what_is_written_comes_back)
{
    struct rng r;
    rng_seed(&r, 7);
    for (int round = 0; round < 500; round++) {
        struct arena a;
        struct context_ref *refs, *back;
        uint32_t n_back;
        arena_init(&a, NULL, ARENA_UNLIMITED);
        uint32_t n = random_refs(&r, &a, &refs);
        struct str id = context_id_write(CONTEXT_ID_PIT, refs, n, &a);
        ck_assert(id.n > 0 && context_id_read(CONTEXT_ID_PIT, id, &a, &back, &n_back));
        ck_assert_uint_eq(n_back, n);
        for (uint32_t i = 0; i < n; i++) {
            ck_assert(str_eq(back[i].shard.index, refs[i].shard.index));
            ck_assert(str_eq(back[i].shard.uuid, refs[i].shard.uuid));
            ck_assert_uint_eq(back[i].shard.shard, refs[i].shard.shard);
            ck_assert_uint_eq(back[i].context, refs[i].context);
            ck_assert_uint_eq(back[i].n_filters, refs[i].n_filters);
            for (uint32_t k = 0; k < refs[i].n_filters; k++) {
                ck_assert(str_eq(back[i].filters[k], refs[i].filters[k]));
            }
        }
        ck_assert(!context_id_read(CONTEXT_ID_SCROLL, id, &a, &back, &n_back));
        ck_assert_uint_eq(n_back, 0);
        arena_fini(&a);
    }
}
END_TEST

START_TEST(ids_of_elasticsearch)
{
    static const struct {
        const char *id, *node;
        uint64_t context;
    } ids[] = {
        {"DXF1ZXJ5QW5kRmV0Y2gBAAAAAAAAAD4WYm9laVYtZndUQlNsdDcwakFMNjU1QQ==", "boeiV-fwTBSlt70jAL655A", 62},
        {"FGluY2x1ZGVfY29udGV4dF91dWlkDXF1ZXJ5QW5kRmV0Y2gBFEp5WmxaSGdCX2JrcUN0dGpYVUlLAAAAAAAAAAEWbXNDZVNWVGZ"
         "SdEdm"
         "UEJfYWZ3NW9FZw==",
         "msCeSVTfRtGfPB_afw5oEg", 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        struct arena a;
        struct context_ref *refs;
        uint32_t n;
        struct str id = str_of(ids[i].id);
        arena_init(&a, NULL, ARENA_UNLIMITED);
        ck_assert(context_id_read_elasticsearch(id, &a, &refs, &n));
        ck_assert_uint_eq(n, 1);
        ck_assert_uint_eq(refs[0].context, ids[i].context);
        ck_assert(str_is(refs[0].node, ids[i].node));
        for (size_t cut = 0; cut + 3 < id.n; cut++) {
            ck_assert(!context_id_read_elasticsearch(str_mk(id.p, cut), &a, &refs, &n));
            ck_assert_uint_eq(n, 0);
        }
        arena_fini(&a);
    }
}
END_TEST

START_TEST(damaged_ids)
{
    struct rng r;
    rng_seed(&r, 8);
    for (int round = 0; round < 2000; round++) {
        struct arena a;
        struct context_ref *refs, *back;
        uint32_t n_back;
        arena_init(&a, NULL, 4 * MIB);
        uint32_t n = random_refs(&r, &a, &refs);
        struct str id = context_id_write(CONTEXT_ID_PIT, refs, n, &a);
        char *p = malloc(id.n); /* of its own, so that a read beyond it is seen */
        memcpy(p, id.p, id.n);
        size_t len = round % 2 == 0 ? rng_below(&r, id.n - 1) : id.n;
        for (int k = round % 2; k > 0; k--) {
            p[rng_below(&r, id.n)] = "AZaz09-_!="[rng_below(&r, 10)];
        }
        bool ok = context_id_read(CONTEXT_ID_PIT, str_mk(p, len), &a, &back, &n_back);
        ck_assert_msg(!ok || len == id.n, "what is cut short is no id");
        for (uint32_t i = 0; ok && i < n_back; i++) {
            ck_assert(back[i].n_filters == 0 || back[i].filters != NULL);
        }
        free(p);
        arena_fini(&a);
    }
}
END_TEST

START_TEST(ids_that_are_none)
{
    static const char *const bad[] = {"", "x", "!!", "AAAA", "lw", "l_8", "l______8"};
    struct arena a;
    struct context_ref *refs;
    uint32_t n;
    arena_init(&a, NULL, ARENA_UNLIMITED);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        ck_assert(!context_id_read(CONTEXT_ID_PIT, str_of(bad[i]), &a, &refs, &n));
        ck_assert_uint_eq(n, 0);
    }
    arena_fini(&a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("context_id");
    TCase *t = tcase_create("all");
    tcase_add_test(t, what_is_written_comes_back);
    tcase_add_test(t, ids_of_elasticsearch);
    tcase_add_test(t, damaged_ids);
    tcase_add_test(t, ids_that_are_none);
    suite_add_tcase(s, t);
    SRunner *sr = srunner_create(s);
    srunner_run_all(sr, CK_ENV);
    int failed = srunner_ntests_failed(sr);
    srunner_free(sr);
    return failed == 0 ? 0 : 1;
}
