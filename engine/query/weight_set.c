/* Functions shared by weights of queries without scores: bitmaps and their cache, tests by column. */
#include "engine/query/weight_set.h"

#include "common/base/stop.h"
#include "engine/query/filter_cache.h"
#include "engine/query/query_ops.h"

#define CACHE_MIN 4096U /* documents from which on a segment's bitmaps are worth keeping */

static const struct set_weight *self(const struct weight *w)
{
    return (const struct set_weight *)(const void *)w;
}

void set_key_str(struct buf *b, struct str s)
{
    buf_u64(b, s.n);
    buf_char(b, s.p == NULL ? '-' : ':');
    buf_str(b, s);
}

void *set_weight_new(struct weight_shared *sh, size_t size, const struct weight_ops *ops,
                     const struct query *q, float boost, enum score_need need, set_key key)
{
    struct set_weight *w = weight_alloc(sh, size, ops, q, boost, need);
    if (w != NULL && key != NULL && sh->cx.cache != NULL) {
        struct buf b;
        buf_init(&b, NULL, 64 * KIB);
        buf_printf(&b, "%s ", q->ops->name);
        set_key_str(&b, q->field_name);
        key(&b, q);
        w->key = b.failed ? STR_NULL : arena_str(sh->cx.arena, buf_view(&b));
        buf_fini(&b);
    }
    return w;
}

uint64_t set_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct seg_field *f = set_field(w, leaf);
    if (f == NULL) {
        return 0;
    }
    return MAX_OF(f->doc_count, 1U) > leaf->doc_count ? leaf->doc_count : MAX_OF(leaf->doc_count / 2, 1U);
}

static void release_cached(void *p)
{
    cached_bits_unref(p);
}

enum err set_known_of(const struct weight *w, const struct scorer_request *rq, struct set_known *out)
{
    struct filter_cache *c = w->shared->cx.cache;
    *out = (struct set_known){0};
    if (c == NULL || self(w)->key.n == 0 || rq->leaf->doc_count < CACHE_MIN) {
        return ERR_OK;
    }
    struct cached_bits *hit =
        filter_cache_get(c, segment_unique(rq->leaf->segment), self(w)->key, &out->worth);
    if (hit == NULL) {
        return ERR_OK;
    }
    if (!arena_defer(rq->arena, release_cached, hit)) {
        return err_no_memory(rq->em);
    }
    out->bits = hit->words;
    out->count = hit->count;
    return ERR_OK;
}

enum err set_bits_scorer(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                         const struct set_known *known, set_fill fill, struct scorer **out)
{
    uint32_t n = rq->leaf->doc_count;
    if (known->bits != NULL) {
        return known->count == 0
                   ? ERR_OK
                   : bits_scorer_new(rq->arena, known->bits, n, known->count, w->boost, out, rq->em);
    }
    uint64_t *bits = ARENA_ARRAY(rq->arena, uint64_t, bits_words(n));
    if (bits == NULL) {
        return err_no_memory(rq->em);
    }
    enum err e = fill(w, rq, f, bits);
    if (e != ERR_OK) {
        return e;
    }
    uint32_t count = (uint32_t)bits_count(bits, n);
    if (known->worth) {
        filter_cache_put(w->shared->cx.cache, segment_unique(rq->leaf->segment), self(w)->key, bits, n,
                         count);
    }
    return count == 0 ? ERR_OK : bits_scorer_new(rq->arena, bits, n, count, w->boost, out, rq->em);
}

void postings_bits(struct postings *p, const struct seg_field *f, const struct term_info *t, uint64_t *bits)
{
    postings_init(p, f, t, false);
    for (doc_id d = postings_next(p); d != DOC_END && !stop_often(); d = postings_next(p)) {
        bits_set(bits, d);
    }
}

/* ---- tests by column ---- */

enum err set_column_scorer(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                           bool (*test)(void *arg, doc_id doc), struct scorer **out)
{
    struct column_test *t = ARENA_NEW(rq->arena, struct column_test);
    if (t == NULL) {
        return err_no_memory(rq->em);
    }
    num_column_init(&t->column, f);
    t->w = w;
    if (t->column.doc_count == 0) {
        return ERR_OK;
    }
    return verify_scorer_new(rq->arena, num_column_present(&t->column), rq->leaf->doc_count,
                             t->column.doc_count, test, t, w->boost, out, rq->em);
}

bool set_by_column(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                   uint32_t index)
{
    if ((f->has & SEG_NUMS) == 0) {
        return false;
    }
    if ((f->has & index) == 0) {
        return true;
    }
    return w->ops->cost(w, rq->leaf) / 8 > rq->lead_cost;
}
