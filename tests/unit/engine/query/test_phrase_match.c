/* Two terms of an exact phrase, and the documents that two postings share, against naive counting. */
#include <check.h>
#include <stdlib.h>

#include "common/base/rand.h"
#include "engine/query/phrase.h"
#include "engine/query/postings_pairs.h"

#define POSITIONS_MAX 60

struct list {
    uint32_t pos[POSITIONS_MAX + POSITION_RUNS_SLACK];
    uint32_t n;
};

/* Ascending, each `base` too large; now and then twice the same, as synonyms make them. What follows is not to be looked at. */
static void fill(struct list *l, struct phrase_slot *s, struct rng *r)
{
    uint32_t at = (uint32_t)rng_below(r, 10);
    l->n = (uint32_t)rng_below(r, rng_below(r, 3) == 0 ? POSITIONS_MAX : 12) + 1;
    s->base = rng_below(r, 2) == 0 ? (uint32_t)rng_below(r, 1000) : UINT32_MAX - (uint32_t)rng_below(r, 60);
    s->offset = (int32_t)rng_below(r, 4);
    s->n = 1;
    for (uint32_t i = 0; i < POSITIONS_MAX + POSITION_RUNS_SLACK; i++) {
        l->pos[i] = at + s->base;
        at += rng_below(r, 12) == 0 ? 0 : (uint32_t)rng_below(r, 5) + 1;
    }
    s->pos = l->pos;
    s->freq = l->n;
}

static uint32_t naive(const struct phrase_slot *a, const struct phrase_slot *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->freq; i++) {
        bool there = false;
        for (uint32_t k = 0; k < b->freq; k++) {
            int64_t from_a = (int64_t)(a->pos[i] - a->base) - a->offset;
            there = there || from_a == (int64_t)(b->pos[k] - b->base) - b->offset;
        }
        n += there ? 1 : 0;
    }
    return n;
}

START_TEST(two_terms_as_naively)
{
    struct rng r;
    rng_seed(&r, 20);
    uint32_t found = 0;
    for (int round = 0; round < 200000; round++) {
        struct list a, b;
        struct phrase_slot slots[2] = {{0}, {0}};
        fill(&a, &slots[0], &r);
        fill(&b, &slots[1], &r);
        uint32_t n = naive(&slots[0], &slots[1]);
        ck_assert_uint_eq(phrase_match_two(&slots[0], &slots[1]), n);
        found += n > 0 ? 1 : 0;
    }
    ck_assert_uint_gt(found, 10000);
}
END_TEST

/* One decoded block a side is all that a pair of blocks is made of. */
static void fill_block(struct postings *p, uint32_t spread, struct rng *r)
{
    memset(p, 0, sizeof(*p));
    p->n = (uint32_t)rng_below(r, POSTINGS_BLOCK) + 1;
    doc_id at = (doc_id)rng_below(r, spread);
    for (uint32_t i = 0; i < p->n; i++) {
        p->docs[i] = at;
        at += 1 + (doc_id)rng_below(r, spread);
    }
    p->docs[p->n] = DOC_END;
    p->doc = POSTINGS_UNPOSITIONED;
    p->n_blocks = 1;
    p->segment_docs = UINT32_MAX / 2;
}

static bool has(const struct postings *p, doc_id doc)
{
    for (uint32_t i = 0; i < p->n; i++) {
        if (p->docs[i] == doc) {
            return true;
        }
    }
    return false;
}

START_TEST(pairs_as_naively)
{
    struct rng r;
    rng_seed(&r, 21);
    for (int round = 0; round < 20000; round++) {
        static const uint32_t spreads[] = {1, 2, 3, 8, 40};
        struct postings a, b;
        struct postings_pairs x;
        uint32_t spread = spreads[rng_below(&r, ARRAY_LEN(spreads))];
        fill_block(&a, spread, &r);
        fill_block(&b, rng_below(&r, 2) == 0 ? spread : 2, &r);
        postings_pairs_init(&x, &a, &b);
        doc_id target = 0, doc;
        do {
            target += (doc_id)rng_below(&r, 3) * (doc_id)rng_below(&r, spread * 4);
            doc_id want = DOC_END;
            for (uint32_t i = 0; i < a.n && want == DOC_END; i++) {
                want = a.docs[i] >= target && has(&b, a.docs[i]) ? a.docs[i] : DOC_END;
            }
            uint32_t a_n = a.n, b_n = b.n;
            doc = postings_pairs_seek(&x, target);
            ck_assert_uint_eq(doc, want);
            ck_assert(doc == DOC_END
                      || (a.n == a_n && b.n == b_n && a.docs[a.at] == doc && b.docs[b.at] == doc));
            target = doc + 1;
        } while (doc != DOC_END);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("phrase_match");
    TCase *t = tcase_create("all");
    tcase_add_test(t, two_terms_as_naively);
    tcase_add_test(t, pairs_as_naively);
    suite_add_tcase(s, t);
    SRunner *run = srunner_create(s);
    srunner_run_all(run, CK_NORMAL);
    int failed = srunner_ntests_failed(run);
    srunner_free(run);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
