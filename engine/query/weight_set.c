/* Queries that only select: every match scores the boost. Ranges, sets of terms and numbers, patterns, areas, existence,
 * identifiers. A segment's matches are a bitmap (kept in the filter cache when they come back), a short list, or, when few
 * documents will be looked at, a test by column. */
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "engine/query/filter_cache.h"
#include "engine/query/geo_shape.h"
#include "engine/query/multi_terms.h"
#include "engine/query/query_ops.h"
#include "engine/query/scorers.h"
#include "engine/query/script_use.h"

#include <stdlib.h>

#define LIST_MAX  2048U /* matches up to which a list is made instead of a bitmap */
#define CACHE_MIN 4096U /* documents from which on a segment's bitmaps are worth keeping */

struct set_weight {
    struct weight base;
    struct term_matcher matcher;
    struct geo_shape shape;
    struct str key; /* of the filter cache; n == 0: not kept */
};

static const struct set_weight *self(const struct weight *w)
{
    return (const struct set_weight *)(const void *)w;
}

static const struct seg_field *field_of(const struct weight *w, const struct leaf *leaf)
{
    return segment_field(leaf->segment, w->query->field_name);
}

/* ---- keys ---- */

static void key_str(struct buf *b, struct str s)
{
    buf_u64(b, s.n);
    buf_char(b, s.p == NULL ? '-' : ':');
    buf_str(b, s);
}

/* The bytes that tell this filter from all others; false: not kept. */
static bool put_key(struct buf *b, const struct query *q)
{
    buf_printf(b, "%d ", (int)q->ops->kind);
    key_str(b, q->field_name);
    switch (q->ops->kind) {
    case KIND_terms:
        for (uint32_t i = 0; i < q->terms.n && !stop_often(); i++) {
            key_str(b, q->terms.v[i]);
        }
        return true;
    case KIND_prefix:
    case KIND_wildcard:
    case KIND_regexp:
    case KIND_fuzzy:
        key_str(b, q->multi.pattern);
        buf_printf(b, "%d %d %u %u %u %d", q->multi.case_insensitive, q->multi.exact, q->multi.flags,
                   q->multi.max_edits, q->multi.prefix_length, q->multi.transpositions);
        return true;
    case KIND_term_range:
        key_str(b, q->term_range.lo);
        key_str(b, q->term_range.hi);
        buf_printf(b, "%d %d", q->term_range.lo_inclusive, q->term_range.hi_inclusive);
        return true;
    case KIND_num_range:
        buf_add(b, &q->num.lo, sizeof(q->num.lo));
        buf_add(b, &q->num.hi, sizeof(q->num.hi));
        return true;
    case KIND_num_set:
        buf_add(b, q->num.v, q->num.n * sizeof(*q->num.v));
        return true;
    case KIND_geo_box:
    case KIND_geo_distance:
        buf_add(b,
                (const double[]){q->geo.top, q->geo.left, q->geo.bottom, q->geo.right, q->geo.lat, q->geo.lon,
                                 q->geo.distance_m},
                7 * sizeof(double));
        return true;
    case KIND_slice:
        buf_printf(b, "%d %d %d", q->field != NULL, (int)q->slice.id, (int)q->slice.max);
        return true;
    case KIND_geo_polygon:
        buf_add(b, q->geo.corners, q->geo.n * sizeof(*q->geo.corners));
        return true;
    default:
        return false;
    }
}

/* ---- cost ---- */

static uint64_t set_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct query *q = w->query;
    const struct seg_field *f = field_of(w, leaf);
    uint64_t sum = 0;
    switch (q->ops->kind) {
    case KIND_match_all:
    case KIND_script:
        return leaf->doc_count;
    case KIND_match_none:
        return 0;
    case KIND_exists:
        return leaf->doc_count;
    case KIND_slice:
        return leaf->doc_count / (uint64_t)q->slice.max + 1;
    case KIND_ids:
        return q->terms.n;
    default:
        break;
    }
    if (f == NULL) {
        return 0;
    }
    switch (q->ops->kind) {
    case KIND_num_range:
        if (q->num.lo > q->num.hi) {
            return 0;
        }
        return f->has & SEG_POINTS ? seg_points_count(f, q->num.lo, q->num.hi) : leaf->doc_count;
    case KIND_num_set:
        for (uint32_t i = 0; i < q->num.n && sum < leaf->doc_count; i++) {
            sum += f->has & SEG_POINTS ? seg_points_count(f, q->num.v[i], q->num.v[i]) : leaf->doc_count;
        }
        return sum;
    default:
        return MAX_OF(f->doc_count, 1U) > leaf->doc_count ? leaf->doc_count : MAX_OF(leaf->doc_count / 2, 1U);
    }
}

/* ---- bitmaps ---- */

struct gather {
    uint64_t *bits;
    const struct seg_field *field;
    struct postings *postings; /* scratch */
};

static void gather_postings(struct gather *g, const struct term_info *t)
{
    postings_open(g->postings, g->field, t, false);
    for (doc_id d = postings_next(g->postings); d != DOC_END && !stop_often();
         d = postings_next(g->postings)) {
        bits_set(g->bits, d);
    }
}

static bool gather_term(void *arg, const struct term_iter *it, unsigned edits)
{
    (void)edits;
    gather_postings(arg, &it->info);
    return true;
}

/* The objects of a document have its id, too. */
static void add_objects(const struct leaf *leaf, uint64_t *bits)
{
    const uint64_t *roots = leaf->roots;
    for (size_t d = roots != NULL ? bits_next(bits, 0, leaf->doc_count) : leaf->doc_count;
         d < leaf->doc_count; d = bits_next(bits, d + 1, leaf->doc_count)) {
        for (size_t i = d; i > 0 && !bits_test(roots, i - 1); i--) {
            bits_set(bits, i - 1);
        }
    }
}

static enum err fill_bits(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
                          uint64_t *bits)
{
    const struct query *q = w->query;
    struct gather g = {bits, f, arena_alloc(rq->arena, sizeof(struct postings))};
    if (g.postings == NULL) {
        return err_no_memory(rq->em);
    }
    switch (q->ops->kind) {
    case KIND_slice:
        return slice_bits(q->slice, q->field == NULL, f, rq->leaf->doc_count, bits) ? ERR_OK
                                                                                    : err_no_memory(rq->em);
    case KIND_terms:
    case KIND_ids:
        for (uint32_t i = 0; i < q->terms.n && !stop_often(); i++) {
            struct term_info t;
            if (seg_term(f, q->terms.v[i], &t)) {
                gather_postings(&g, &t);
            }
        }
        if (q->ops == &q_ids) {
            add_objects(rq->leaf, bits);
        }
        return ERR_OK;
    case KIND_num_range:
        seg_points_range(f, q->num.lo, q->num.hi, bits);
        return ERR_OK;
    case KIND_num_set:
        for (uint32_t i = 0; i < q->num.n; i++) {
            seg_points_range(f, q->num.v[i], q->num.v[i], bits);
        }
        return ERR_OK;
    case KIND_geo_box:
    case KIND_geo_distance:
    case KIND_geo_polygon: {
        struct geo_visitor v = geo_shape_visitor(&self(w)->shape);
        seg_geo_visit(f, &v, bits);
        return ERR_OK;
    }
    default:
        return term_matcher_walk(&self(w)->matcher, f, gather_term, &g) ? ERR_OK : err_no_memory(rq->em);
    }
}

static void release_cached(void *p)
{
    cached_bits_release(p);
}

/* The bitmap from the cache; *bits stays NULL when it is not there. */
static enum err cached(const struct weight *w, const struct scorer_request *rq, const uint64_t **bits,
                       uint32_t *count, bool *worth)
{
    struct filter_cache *c = w->shared->cx.cache;
    *worth = false;
    *bits = NULL;
    if (c == NULL || self(w)->key.n == 0 || rq->leaf->doc_count < CACHE_MIN) {
        return ERR_OK;
    }
    const struct cached_bits *hit =
        filter_cache_get(c, segment_unique(rq->leaf->segment), self(w)->key, worth);
    if (hit == NULL) {
        return ERR_OK;
    }
    if (!arena_defer(rq->arena, release_cached, (void *)(uintptr_t)hit)) {
        return err_no_memory(rq->em);
    }
    *bits = hit->words;
    *count = hit->count;
    return ERR_OK;
}

static enum err bitmap_scorer(const struct weight *w, const struct scorer_request *rq,
                              const struct seg_field *f, const uint64_t *known, uint32_t known_count,
                              bool worth, struct scorer **out)
{
    uint32_t n = rq->leaf->doc_count;
    if (known != NULL) {
        return known_count == 0 ? ERR_OK
                                : bits_scorer_new(rq->arena, known, n, known_count, w->boost, out, rq->em);
    }
    uint64_t *bits = ARENA_ARRAY(rq->arena, uint64_t, bits_words(n));
    if (bits == NULL) {
        return err_no_memory(rq->em);
    }
    enum err e = fill_bits(w, rq, f, bits);
    if (e != ERR_OK) {
        return e;
    }
    uint32_t count = (uint32_t)bits_count(bits, n);
    if (worth) {
        filter_cache_put(w->shared->cx.cache, segment_unique(rq->leaf->segment), self(w)->key, bits, n,
                         count);
    }
    return count == 0 ? ERR_OK : bits_scorer_new(rq->arena, bits, n, count, w->boost, out, rq->em);
}

/* ---- tests by column ---- */

struct column_test {
    struct num_column column;
    const struct query *query;
    const struct geo_shape *shape;
};

static bool in_range(void *arg, doc_id doc)
{
    struct column_test *t = arg;
    uint64_t first;
    uint32_t n = num_column_seek(&t->column, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = num_column_value(&t->column, first + i);
        if (v >= t->query->num.lo && v <= t->query->num.hi) {
            return true;
        }
    }
    return false;
}

static bool in_set(void *arg, doc_id doc)
{
    struct column_test *t = arg;
    uint64_t first;
    uint32_t n = num_column_seek(&t->column, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = num_column_value(&t->column, first + i);
        uint32_t lo = 0, hi = t->query->num.n;
        while (lo < hi) {
            uint32_t mid = (lo + hi) / 2;
            if (t->query->num.v[mid] < v) {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        if (lo < t->query->num.n && t->query->num.v[lo] == v) {
            return true;
        }
    }
    return false;
}

static bool in_shape(void *arg, doc_id doc)
{
    struct column_test *t = arg;
    uint64_t first;
    uint32_t n = num_column_seek(&t->column, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t v = (uint64_t)num_column_value(&t->column, first + i);
        if (geo_shape_has(t->shape, (int32_t)(uint32_t)(v >> 32), (int32_t)(uint32_t)v)) {
            return true;
        }
    }
    return false;
}

static bool is_geo(const struct query_ops *k)
{
    return k == &q_geo_box || k == &q_geo_distance || k == &q_geo_polygon;
}

static enum err column_scorer(const struct weight *w, const struct scorer_request *rq,
                              const struct seg_field *f, struct scorer **out)
{
    struct column_test *t = ARENA_NEW(rq->arena, struct column_test);
    if (t == NULL) {
        return err_no_memory(rq->em);
    }
    num_column_open(&t->column, f);
    t->query = w->query;
    t->shape = &self(w)->shape;
    if (t->column.doc_count == 0) {
        return ERR_OK;
    }
    verify_fn test = is_geo(w->query->ops) ? in_shape : w->query->ops == &q_num_set ? in_set : in_range;
    return verify_scorer_new(rq->arena, num_column_present(&t->column), rq->leaf->doc_count,
                             t->column.doc_count, test, t, w->boost, out, rq->em);
}

/* A column is better when few documents will be looked at, as Lucene's IndexOrDocValuesQuery decides. */
static bool by_column(const struct weight *w, const struct scorer_request *rq, const struct seg_field *f,
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

/* ---- other kinds ---- */

static int cmp_doc(const void *a, const void *b)
{
    doc_id x = *(const doc_id *)a, y = *(const doc_id *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static enum err list_scorer(const struct weight *w, const struct scorer_request *rq, doc_id *docs, uint32_t n,
                            struct scorer **out)
{
    uint32_t distinct = 0;
    if (n == 0) {
        return ERR_OK;
    }
    sort_items(docs, n, sizeof(*docs), cmp_doc);
    for (uint32_t i = 0; i < n; i++) {
        if (distinct == 0 || docs[distinct - 1] != docs[i]) {
            docs[distinct++] = docs[i];
        }
    }
    return docs_scorer_new(rq->arena, docs, distinct, w->boost, out, rq->em);
}

/* Few documents altogether: a list. *listed tells whether it was made. */
static enum err terms_as_list(const struct weight *w, const struct scorer_request *rq,
                              const struct seg_field *f, bool *listed, struct scorer **out)
{
    const struct query *q = w->query;
    struct term_info *t = ARENA_ARRAY(rq->arena, struct term_info, q->terms.n);
    struct postings *p = arena_alloc(rq->arena, sizeof(*p));
    uint64_t sum = 0;
    uint32_t n = 0, n_docs = 0;
    *listed = false;
    if (t == NULL || p == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < q->terms.n && sum <= LIST_MAX && !stop_often(); i++) {
        if (seg_term(f, q->terms.v[i], &t[n])) {
            sum += t[n++].doc_freq;
        }
    }
    if (sum > LIST_MAX) {
        return ERR_OK;
    }
    *listed = true;
    doc_id *docs = ARENA_ARRAY(rq->arena, doc_id, sum);
    if (docs == NULL) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        postings_open(p, f, &t[i], false);
        for (doc_id d = postings_next(p); d != DOC_END && n_docs < sum && !stop_often();
             d = postings_next(p)) {
            docs[n_docs++] = d;
        }
    }
    return list_scorer(w, rq, docs, n_docs, out);
}

struct range_test {
    const struct seg_field *field;
    const struct query *query;
};

static bool has_range(void *arg, doc_id doc)
{
    struct str from, to;
    return seg_range_value(((const struct range_test *)arg)->field, doc, 0, &from, &to);
}

static bool has_bytes(void *arg, doc_id doc)
{
    struct str bytes;
    return seg_bytes_value(((const struct range_test *)arg)->field, doc, 0, &bytes);
}

static enum err exists_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct seg_field *f = field_of(w, rq->leaf);
    uint32_t n = rq->leaf->doc_count;
    if (f != NULL && (f->has & (SEG_NUMS | SEG_ORDS)) != 0) {
        struct num_column c;
        struct ord_column o;
        if (f->has & SEG_NUMS) {
            num_column_open(&c, f);
        } else {
            ord_column_open(&o, f);
            c = o.nums;
        }
        if (c.doc_count == 0) {
            return ERR_OK;
        }
        const uint64_t *present = num_column_present(&c);
        return present == NULL ? all_scorer_new(rq->arena, n, w->boost, out, rq->em)
                               : bits_scorer_new(rq->arena, present, n, c.doc_count, w->boost, out, rq->em);
    }
    /* Completions without a term have no length, and yet they exist. */
    if (f != NULL && (f->has & SEG_NORMS) && !(f->has & SEG_COMPLETION)) {
        const uint64_t *present = seg_norms_present(f);
        return present == NULL ? all_scorer_new(rq->arena, n, w->boost, out, rq->em)
                               : bits_scorer_new(rq->arena, present, n, f->doc_count, w->boost, out, rq->em);
    }
    if (f != NULL && (f->has & (SEG_RANGES | SEG_BYTES))) {
        struct range_test *r = ARENA_NEW(rq->arena, struct range_test);
        if (r == NULL) {
            return err_no_memory(rq->em);
        }
        *r = (struct range_test){f, w->query};
        return verify_scorer_new(rq->arena, NULL, n, n, f->has & SEG_RANGES ? has_range : has_bytes, r,
                                 w->boost, out, rq->em);
    }
    const struct seg_field *names = segment_field(rq->leaf->segment, STR("_field_names"));
    struct term_info t;
    struct scorer *s;
    if (names == NULL || !seg_term(names, w->query->field_name, &t)) {
        return ERR_OK;
    }
    enum err e = term_scorer_new(rq->arena, names, &t, NULL, &s, rq->em);
    return e == ERR_OK ? constant_scorer_new(rq->arena, s, w->boost, out, rq->em) : e;
}

static int64_t load_i64(struct str s)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) {
        v |= (uint64_t)(uint8_t)s.p[i] << (8 * i);
    }
    return (int64_t)v;
}

/* -1, 0, 1 of the two ends of a document's range against those of the query. */
static bool relates(int lo_lo, int hi_hi, int lo_hi, int hi_lo, int relation)
{
    switch (relation) {
    case 1: /* contains: the document's range holds the query's */
        return lo_lo <= 0 && hi_hi >= 0;
    case 2: /* within */
        return lo_lo >= 0 && hi_hi <= 0;
    default: /* intersects */
        return lo_hi <= 0 && hi_lo >= 0;
    }
}

static int cmp_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

static bool range_relates(void *arg, doc_id doc)
{
    const struct range_test *t = arg;
    const struct query *q = t->query;
    struct str from, to;
    for (uint32_t i = 0; seg_range_value(t->field, doc, i, &from, &to); i++) {
        bool yes;
        if (from.n == 16) {
            const uint8_t *lo = q->range_field.ip_lo, *hi = q->range_field.ip_hi;
            yes = relates(memcmp(from.p, lo, 16), memcmp(to.p, hi, 16), memcmp(from.p, hi, 16),
                          memcmp(to.p, lo, 16), q->range_field.relation);
        } else {
            int64_t a = load_i64(from), b = load_i64(to), lo = q->range_field.lo, hi = q->range_field.hi;
            yes = relates(cmp_i64(a, lo), cmp_i64(b, hi), cmp_i64(a, hi), cmp_i64(b, lo),
                          q->range_field.relation);
        }
        if (yes) {
            return true;
        }
    }
    return false;
}

static enum err range_field_scorer(const struct weight *w, const struct scorer_request *rq,
                                   const struct seg_field *f, struct scorer **out)
{
    struct range_test *t = ARENA_NEW(rq->arena, struct range_test);
    if (t == NULL) {
        return err_no_memory(rq->em);
    }
    *t = (struct range_test){f, w->query};
    return verify_scorer_new(rq->arena, NULL, rq->leaf->doc_count, rq->leaf->doc_count, range_relates, t,
                             w->boost, out, rq->em);
}

struct script_test {
    struct script_docs *docs;
    struct weight_shared *shared;
    bool failed;
};

static bool script_says(void *arg, doc_id doc)
{
    struct script_test *t = arg;
    struct errmsg em;
    bool yes = false;
    if (t->failed) {
        return false;
    }
    err_clear(&em);
    if (script_docs_bool(t->docs, doc, &yes, &em) != ERR_OK) {
        t->failed = true;
        weight_fail(t->shared, &em);
        return false;
    }
    return yes;
}

static enum err script_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct script_test *t = ARENA_NEW(rq->arena, struct script_test);
    struct script_docs_opts o = {.script = w->query->script.script,
                                 .params = w->query->script.params,
                                 .mapping = w->shared->cx.view->mapping,
                                 .index_name = w->shared->cx.index_name,
                                 .leaf = rq->leaf,
                                 .arena = rq->arena,
                                 .now_ms = w->shared->cx.now_ms};
    if (t == NULL) {
        return err_no_memory(rq->em);
    }
    t->shared = w->shared;
    enum err e = script_docs_new(&t->docs, &o, rq->em);
    if (e != ERR_OK) {
        return e;
    }
    return verify_scorer_new(rq->arena, NULL, rq->leaf->doc_count, rq->leaf->doc_count, script_says, t,
                             w->boost, out, rq->em);
}

static enum err set_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct query *q = w->query;
    const struct seg_field *f;
    const uint64_t *bits;
    uint32_t count = 0;
    bool worth, listed;
    switch (q->ops->kind) {
    case KIND_match_all:
        return all_scorer_new(rq->arena, rq->leaf->doc_count, w->boost, out, rq->em);
    case KIND_match_none:
        return ERR_OK;
    case KIND_exists:
        return exists_scorer(w, rq, out);
    case KIND_script:
        return script_scorer(w, rq, out);
    default:
        break;
    }
    f = field_of(w, rq->leaf);
    if (f == NULL && q->ops != &q_slice) {
        return ERR_OK;
    }
    enum err e = cached(w, rq, &bits, &count, &worth);
    if (e != ERR_OK) {
        return e;
    }
    switch (q->ops->kind) {
    case KIND_range_field:
        return range_field_scorer(w, rq, f, out);
    case KIND_num_range:
    case KIND_num_set:
        if (bits == NULL && by_column(w, rq, f, SEG_POINTS)) {
            return column_scorer(w, rq, f, out);
        }
        break;
    case KIND_geo_box:
    case KIND_geo_distance:
    case KIND_geo_polygon:
        if ((f->has & SEG_GEO) == 0) { /* without points nothing is found, whatever the column has */
            return ERR_OK;
        }
        if (bits == NULL && by_column(w, rq, f, SEG_GEO)) {
            return column_scorer(w, rq, f, out);
        }
        break;
    case KIND_terms:
    case KIND_ids:
        if (bits == NULL && (q->ops == &q_terms || rq->leaf->roots == NULL)) {
            e = terms_as_list(w, rq, f, &listed, out);
            if (e != ERR_OK || listed) {
                return e;
            }
        }
        break;
    default:
        break;
    }
    return bitmap_scorer(w, rq, f, bits, count, worth, out);
}

static int64_t set_count(const struct weight *w, const struct leaf *leaf)
{
    if (w->query->ops == &q_match_none) {
        return 0;
    }
    return w->query->ops == &q_match_all ? (int64_t)leaf->live_count : -1;
}

static const struct weight_ops set_ops = {set_cost, set_scorer, NULL, set_count};

enum err weight_set(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                    const struct weight **out, struct errmsg *em)
{
    struct set_weight *w = weight_alloc(sh, sizeof(*w), &set_ops, q, boost, need);
    enum err e = ERR_OK;
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    switch (q->ops->kind) {
    case KIND_prefix:
    case KIND_wildcard:
    case KIND_regexp:
    case KIND_fuzzy:
    case KIND_term_range:
        e = term_matcher_init(&w->matcher, q, sh->cx.arena, em);
        break;
    case KIND_geo_box:
    case KIND_geo_distance:
    case KIND_geo_polygon:
        e = geo_shape_init(&w->shape, q, sh->cx.arena) ? ERR_OK : err_no_memory(em);
        break;
    default:
        break;
    }
    if (e == ERR_OK && sh->cx.cache != NULL) {
        struct buf key;
        buf_init(&key, NULL, 64 * KIB);
        if (put_key(&key, q) && !key.failed) {
            w->key = arena_str(sh->cx.arena, buf_view(&key));
        }
        buf_fini(&key);
    }
    return e;
}

/* Addresses are points: nothing of the text. */
static enum err terms_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em)
{
    enum err e = ERR_OK;
    bool text = q->field == NULL || q->field->type != FT_IP;
    for (uint32_t i = 0; text && i < q->terms.n && e == ERR_OK; i++) {
        e = s->term(s->self, q->field_name, q->terms.v[i], boost, em);
    }
    return e;
}

static enum err pattern_words(const struct query *q, float boost, const struct word_sink *s,
                              struct errmsg *em)
{
    return s->pattern(s->self, q, boost, em);
}

const struct query_ops q_match_all = {.name = "match_all", .kind = KIND_match_all};
const struct query_ops q_match_none = {.name = "match_none", .kind = KIND_match_none};
const struct query_ops q_terms = {.name = "terms", .kind = KIND_terms, .words = terms_words};
const struct query_ops q_ids = {.name = "ids", .kind = KIND_ids};
const struct query_ops q_prefix = {
    .name = "prefix",
    .kind = KIND_prefix,
    .words = pattern_words,
    .expensive = "[prefix] queries",
    .expensive_advice = " For optimised prefix queries on text fields please enable [index_prefixes]."};
const struct query_ops q_wildcard = {
    .name = "wildcard", .kind = KIND_wildcard, .words = pattern_words, .expensive = "[wildcard] queries"};
const struct query_ops q_regexp = {
    .name = "regexp", .kind = KIND_regexp, .words = pattern_words, .expensive = "[regexp] queries"};
const struct query_ops q_fuzzy = {
    .name = "fuzzy", .kind = KIND_fuzzy, .words = pattern_words, .expensive = "[fuzzy] queries"};
const struct query_ops q_term_range = {.name = "term_range",
                                       .kind = KIND_term_range,
                                       .words = pattern_words,
                                       .expensive = "[range] queries on [text] or [keyword] fields"};
const struct query_ops q_num_range = {.name = "num_range", .kind = KIND_num_range};
const struct query_ops q_num_set = {.name = "num_set", .kind = KIND_num_set};
const struct query_ops q_range_field = {.name = "range_field", .kind = KIND_range_field};
const struct query_ops q_geo_box = {.name = "geo_box", .kind = KIND_geo_box};
const struct query_ops q_geo_distance = {.name = "geo_distance", .kind = KIND_geo_distance};
const struct query_ops q_geo_polygon = {.name = "geo_polygon", .kind = KIND_geo_polygon};
const struct query_ops q_exists = {.name = "exists", .kind = KIND_exists};
const struct query_ops q_slice = {.name = "slice", .kind = KIND_slice};
const struct query_ops q_script = {.name = "script", .kind = KIND_script, .expensive = "[script] queries"};
