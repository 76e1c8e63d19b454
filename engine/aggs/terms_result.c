/* Merging terms: counts, what may be missing from them, and the choice of the best. */
#include "engine/aggs/agg_row.h"
#include "engine/aggs/terms.h"

#include "common/base/heap.h"
#include "common/base/sort_items.h"
#include "common/base/utf8.h"

#include <math.h>

/* By how much a shard's report may understate any term that it left out; -1: nobody knows. */
static int64_t shard_error(const struct agg *a, const struct agg_result *t)
{
    const struct agg_order *first = &terms_params(a)->orders.v[0];
    if (t->n == 0 || t->n < terms_result(t)->shard_size || first->by == ORDER_KEY) {
        return 0;
    }
    if (first->by != ORDER_COUNT || first->asc) {
        return -1;
    }
    if (terms_result(t)->error > 0) { /* merged before */
        return terms_result(t)->error;
    }
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < t->n; i++) {
        least = MIN_OF(least, t->buckets[i].doc_count);
    }
    return least;
}

/* One term of several shards. The errors of the shards that told of it are known: only the others' may be
 * missing. */
static enum err merge_term(struct reduce *r, const struct agg *a, struct agg_bucket *const *in, uint32_t n,
                           struct agg_bucket *out)
{
    struct agg_result **subs = ARENA_ARRAY(r->arena, struct agg_result *, n);
    uint32_t have = 0;
    if (subs == NULL) {
        return err_no_memory(r->em);
    }
    *out = *in[0];
    out->doc_count = out->error = 0;
    for (uint32_t i = 0; i < n; i++) {
        out->doc_count += in[i]->doc_count;
        if (out->error != -1) {
            out->error = in[i]->error == -1 ? -1 : out->error + in[i]->error;
        }
        if (in[i]->subs != NULL) {
            subs[have++] = in[i]->subs;
        }
    }
    return reduce_subs(r, a, subs, have, &out->subs);
}

static enum err merge_all(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                          struct agg_bucket **out, uint32_t *n_out)
{
    struct agg_bucket **all;
    size_t total;
    enum err e = reduce_queue(r, a, bucket_key_cmp, in, n, &all, &total);
    struct agg_bucket *merged = e == ERR_OK ? ARENA_ARRAY(r->arena, struct agg_bucket, total) : NULL;
    if (merged == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    *n_out = 0;
    for (size_t i = 0, end; e == ERR_OK && i < total; i = end) {
        end = i + reduce_run(a, bucket_key_cmp, all + i, total - i);
        e = merge_term(r, a, all + i, (uint32_t)(end - i), &merged[(*n_out)++]);
    }
    *out = merged;
    return e;
}

/* Whole numbers in one index and fractions in another: all become fractions. */
static void make_fractions(struct agg_result *const *in, uint32_t n)
{
    bool fractions = false;
    for (uint32_t i = 0; i < n; i++) {
        fractions |= in[i]->form == RESULT_F64;
    }
    for (uint32_t i = 0; fractions && i < n; i++) {
        for (uint32_t k = 0; in[i]->form == RESULT_I64 && k < in[i]->n; k++) {
            struct agg_key *key = &in[i]->buckets[k].key;
            *key = (struct agg_key){.kind = KEY_F64, .d = (double)key->i};
        }
        in[i]->form = in[i]->form == RESULT_I64 ? RESULT_F64 : in[i]->form;
    }
}

static enum err check_forms(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if (in[i]->form != RESULT_UNMAPPED && in[i]->form != in[0]->form) {
            return err_set(r->em, ERR_AGG_EXECUTION,
                           "Merging/Reducing the aggregations failed when computing the aggregation [%.*s] "
                           "because the field you gave in "
                           "the aggregation query existed as two different types in two different indices",
                           STR_ARG(a->name));
        }
    }
    return ERR_OK;
}

static enum err reduce_terms(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                             struct agg_result *out)
{
    struct terms_result *own = terms_result(out);
    const struct terms_params *p = terms_params(a);
    int64_t error = 0;
    uint32_t total = 0;
    make_fractions(in, n);
    out->form = in[0]->form;
    own->shard_size = terms_result(in[0])->shard_size; /* it may be merged again */
    enum err e = check_forms(r, a, in, n);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        int64_t mine = shard_error(a, in[i]);
        own->other += terms_result(in[i])->other;
        error = error == -1 || mine == -1 ? -1 : error + mine;
        for (uint32_t k = 0; k < in[i]->n; k++) {
            in[i]->buckets[k].error -= mine;
        }
    }
    e = e == ERR_OK ? merge_all(r, a, in, n, &out->buckets, &total) : e;
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < total; i++) {
        struct agg_bucket b = out->buckets[i];
        b.error = error == -1 ? -1 : b.error + error;
        if (b.doc_count >= p->min_doc_count) {
            out->buckets[out->n++] = b;
        }
    }
    e = buckets_sort(r, a, &p->orders, out->buckets, out->n);
    for (; out->n > p->size; out->n--) {
        own->other += out->buckets[out->n - 1].doc_count;
    }
    own->error = error == -1 ? -1 : n == 1 ? 0 : error;
    return e;
}

/* ---- significant terms --------------------------------------------------------------------------------- */

struct contingency { /* documents by class and by term */
    double n00, n01, n10, n11, n0_, n1_, n_0, n_1, n;
};

static struct contingency contingency_of(double sf, double s, double bf, double b, bool superset)
{
    if (superset) {
        return (struct contingency){.n00 = b - bf - (s - sf),
                                    .n01 = s - sf,
                                    .n10 = bf - sf,
                                    .n11 = sf,
                                    .n0_ = b - bf,
                                    .n1_ = bf,
                                    .n_0 = b - s,
                                    .n_1 = s,
                                    .n = b};
    }
    return (struct contingency){.n00 = b - bf,
                                .n01 = s - sf,
                                .n10 = bf,
                                .n11 = sf,
                                .n0_ = b - bf + s - sf,
                                .n1_ = bf + sf,
                                .n_0 = b,
                                .n_1 = s,
                                .n = b + s};
}

static double information(double nxy, double nx, double ny, double n)
{
    double numerator = fabs(n * nxy), denominator = fabs(nx * ny), factor = fabs(nxy / n);
    return numerator < 1e-7 && factor < 1e-7 ? 0 : factor * log(numerator / denominator) / log(2);
}

static double jlh(double sf, double s, double bf, double b)
{
    if (sf == 0 || s == 0) {
        return 0;
    }
    if (b == 0 || bf == 0) {
        bf = 1;
    }
    double in = sf / s, all = bf / b, change = in - all;
    return change <= 0 ? 0 : change * (in / all);
}

/* What the heuristics that know four classes of documents ask of a background that is said to hold everything. */
static enum err check_background(int64_t subset_df, int64_t subset, int64_t superset_df, int64_t superset,
                                 struct errmsg *em)
{
    const char *wrong = subset_df > superset_df ? "subsetFreq > supersetFreq"
                        : subset > superset     ? "subsetSize > supersetSize"
                        : superset_df - subset_df > superset - subset
                            ? "supersetFreq - subsetFreq > supersetSize - subsetSize"
                            : NULL;
    return wrong == NULL ? ERR_OK
                         : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                   "%s, does your background filter not include all documents in the bucket? "
                                   "If so and it is intentional, set \"background_is_superset\": false",
                                   wrong);
}

static double score_of(const struct terms_params *p, int64_t subset_df, int64_t subset, int64_t superset_df,
                       int64_t superset)
{
    double sf = (double)subset_df, s = (double)subset, bf = (double)superset_df, b = (double)superset;
    struct contingency c = contingency_of(sf, s, bf, b, p->heuristic.background_is_superset);
    bool negative = c.n11 / c.n_1 < c.n10 / c.n_0;
    switch (p->heuristic.kind) {
    case HEURISTIC_PERCENTAGE:
        return bf == 0 ? 0 : sf / bf;
    case HEURISTIC_CHI:
        if (!p->heuristic.include_negatives && negative) {
            return -INFINITY;
        }
        return c.n * pow(c.n11 * c.n00 - c.n01 * c.n10, 2) / (c.n_1 * c.n1_ * c.n0_ * c.n_0);
    case HEURISTIC_MUTUAL:
        if (!p->heuristic.include_negatives && negative) {
            return -INFINITY;
        }
        return information(c.n00, c.n0_, c.n_0, c.n) + information(c.n01, c.n0_, c.n_1, c.n)
               + information(c.n10, c.n1_, c.n_0, c.n) + information(c.n11, c.n1_, c.n_1, c.n);
    case HEURISTIC_GND:
        if (c.n11 == 0) {
            return 0;
        }
        if (c.n1_ == c.n_1 && c.n1_ == c.n11) {
            return 1;
        }
        return exp(-(fmax(log(c.n1_), log(c.n_1)) - log(c.n11)) / (log(c.n) - fmin(log(c.n1_), log(c.n_1))));
    case HEURISTIC_JLH:
        break;
    }
    return jlh(sf, s, bf, b);
}

enum err significance(double *out, const struct terms_params *p, int64_t subset_df, int64_t subset,
                      int64_t superset_df, int64_t superset, struct errmsg *em)
{
    bool classes = p->heuristic.kind != HEURISTIC_JLH && p->heuristic.kind != HEURISTIC_PERCENTAGE;
    if (classes && p->heuristic.background_is_superset) {
        enum err e = check_background(subset_df, subset, superset_df, superset, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = score_of(p, subset_df, subset, superset_df, superset);
    return ERR_OK;
}

/* Equal scores are common here, and which of them comes first is up to the queue that Elasticsearch keeps
 * them in: a binary heap with the lowest score at its root, filled in the order of a Java hash table. Both
 * are followed. */
static uint32_t java_hash(const struct agg_result *r, const struct agg_bucket *b)
{
    struct buf text;
    uint32_t h = 0;
    buf_init(&text, NULL, BUF_UNLIMITED);
    bucket_key_text(r, b, &text);
    struct str s = buf_view(&text);
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at);
        if (c >= 0x10000) {
            h = h * 31 + (0xD800 + ((c - 0x10000) >> 10));
            c = 0xDC00 + ((c - 0x10000) & 0x3FF);
        }
        h = h * 31 + c;
    }
    buf_fini(&text);
    return h ^ (h >> 16);
}

struct scored {
    struct agg_bucket *b;
    uint32_t place, at;
};

static int by_place(const void *x, const void *y)
{
    const struct scored *a = x, *b = y;
    return a->place != b->place ? (a->place < b->place ? -1 : 1) : a->at < b->at ? -1 : a->at > b->at;
}

static bool lower(UNUSED const void *cx, const void *a, const void *b)
{
    return ((const struct scored *)a)->b->score < ((const struct scored *)b)->b->score;
}

static enum err best_scores(struct reduce *r, const struct agg *a, struct agg_result *out,
                            struct agg_bucket *v, uint32_t n)
{
    const struct terms_params *given = terms_params(a);
    uint32_t table = 16, have = 0, max = (uint32_t)MIN_OF(given->size, (int64_t)n);
    struct scored *order = ARENA_ARRAY(r->arena, struct scored, n),
                  *heap = ARENA_ARRAY(r->arena, struct scored, (size_t)max + 1);
    out->buckets = ARENA_ARRAY(r->arena, struct agg_bucket, max);
    if (order == NULL || heap == NULL || out->buckets == NULL) {
        return err_no_memory(r->em);
    }
    while (n > table / 4 * 3) {
        table *= 2;
    }
    for (uint32_t i = 0; i < n; i++) {
        order[i] = (struct scored){&v[i], java_hash(out, &v[i]) & (table - 1), i};
    }
    sort_items(order, n, sizeof(*order), by_place);
    for (uint32_t i = 0; i < n; i++) {
        if (!(order[i].b->score > 0) || order[i].b->doc_count < given->min_doc_count) {
            continue;
        }
        if (have < max) {
            heap[have] = order[i];
            heap_up(heap, have++, sizeof(*heap), lower, NULL);
        } else if (max > 0 && !(order[i].b->score < heap[0].b->score)) {
            heap[0] = order[i];
            heap_down(heap, have, 0, sizeof(*heap), lower, NULL);
        }
    }
    out->n = have;
    while (have > 0) {
        out->buckets[have - 1] = *heap[0].b;
        heap[0] = heap[--have];
        heap_down(heap, have, 0, sizeof(*heap), lower, NULL);
    }
    return ERR_OK;
}

static enum err reduce_significant(struct reduce *r, const struct agg *a, struct agg_result *const *in,
                                   uint32_t n, struct agg_result *out)
{
    struct terms_result *own = terms_result(out);
    struct agg_bucket *all;
    uint32_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct terms_result *part = terms_result(in[i]);
        own->subset_size += part->subset_size;
        own->superset_size += part->superset_size;
    }
    enum err e = reduce_by_key(r, a, in, n, &all, &total);
    for (uint32_t i = 0; e == ERR_OK && i < total; i++) {
        e = significance(&all[i].score, terms_params(a), all[i].doc_count, own->subset_size,
                         all[i].superset_df, own->superset_size, r->em);
    }
    return e == ERR_OK ? best_scores(r, a, out, all, total) : e;
}

static enum err reduce_rare(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                            struct agg_result *out)
{
    static const struct agg_order order[] = {{.by = ORDER_COUNT, .asc = true},
                                             {.by = ORDER_KEY, .asc = true}};
    static const struct agg_orders orders = {order, 2};
    struct agg_bucket *all;
    uint32_t total = 0;
    enum err e = reduce_by_key(r, a, in, n, &all, &total);
    if (e != ERR_OK) {
        return e;
    }
    out->buckets = all;
    for (uint32_t i = 0; i < total; i++) {
        if (all[i].doc_count <= terms_params(a)->size) {
            all[out->n++] = all[i];
        }
    }
    return buckets_sort(r, a, &orders, out->buckets, out->n);
}

/* ---- bytes, printing, rows ---- */

static void terms_put(struct buf *b, const struct agg_result *r)
{
    const struct terms_result *own = terms_result(r);
    put_varint(b, (uint64_t)own->other);
    put_varint(b, (uint64_t)own->shard_size);
}

static enum err terms_get(const struct result_reading *d, struct agg_result *r)
{
    struct terms_result *own = terms_result(r);
    own->other = get_size(d);
    own->shard_size = get_size(d);
    return ERR_OK;
}

static void terms_put_bucket(struct buf *b, UNUSED const struct agg *a, const struct agg_bucket *k)
{
    put_key(b, &k->key);
    put_zigzag(b, k->error);
}

static enum err terms_get_bucket(const struct result_reading *d, UNUSED const struct agg *a,
                                 struct agg_bucket *k)
{
    get_key(d, &k->key);
    k->error = get_zigzag(d->in);
    return ERR_OK;
}

static void terms_print(const struct agg_result *r, struct jsonw *w)
{
    const struct terms_result *own = terms_result(r);
    jw_ki64(w, "doc_count_error_upper_bound", own->error);
    jw_ki64(w, "sum_other_doc_count", own->other);
}

static void terms_print_error(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w)
{
    if (terms_params(r->agg)->show_error) {
        jw_ki64(w, "doc_count_error_upper_bound", b->error);
    }
}

static bool terms_every_document(const struct agg *a)
{
    return terms_params(a)->min_doc_count == 0;
}

static void significant_put(struct buf *b, const struct agg_result *r)
{
    const struct terms_result *own = terms_result(r);
    put_varint(b, (uint64_t)own->subset_size);
    put_varint(b, (uint64_t)own->superset_size);
}

static enum err significant_get(const struct result_reading *d, struct agg_result *r)
{
    struct terms_result *own = terms_result(r);
    own->subset_size = get_size(d);
    own->superset_size = get_size(d);
    return ERR_OK;
}

static void significant_put_bucket(struct buf *b, UNUSED const struct agg *a, const struct agg_bucket *k)
{
    put_key(b, &k->key);
    put_varint(b, (uint64_t)k->superset_df);
}

static enum err significant_get_bucket(const struct result_reading *d, UNUSED const struct agg *a,
                                       struct agg_bucket *k)
{
    get_key(d, &k->key);
    k->superset_df = get_size(d);
    return ERR_OK;
}

static void significant_print(const struct agg_result *r, struct jsonw *w)
{
    const struct terms_result *own = terms_result(r);
    if (r->form != RESULT_UNMAPPED) {
        jw_ki64(w, "doc_count", own->subset_size);
        jw_ki64(w, "bg_count", own->superset_size);
    }
}

static void significant_print_counts(UNUSED const struct agg_result *r, const struct agg_bucket *b,
                                     struct jsonw *w)
{
    jw_kdouble(w, "score", b->score);
    jw_ki64(w, "bg_count", b->superset_df);
}

static void significant_print_bucket(const struct agg_result *r, const struct agg_bucket *b, bool keyed,
                                     struct jsonw *w)
{
    if (r->shape == NULL || r->shape->kind != FORMAT_BOOLEAN || b->key.kind == KEY_STR) {
        print_keyed_head(r, b, keyed, w);
        return;
    }
    print_key(r, b, w);
    struct buf text;
    buf_init(&text, NULL, BUF_UNLIMITED);
    bucket_key_text(r, b, &text);
    jw_kbool(w, "key_as_string", str_is(buf_view(&text), "true")); /* no text here, of all places */
    buf_fini(&text);
}

const struct agg_type agg_terms = {
    .name = "terms",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct terms_params),
    .result_size = sizeof(struct terms_result),
    .parse = parse_terms,
    .collector = terms_new,
    .factory = "TermsAggregatorFactory",
    .results = {"StringTerms", "LongTerms", "DoubleTerms", "UnmappedTerms"},
    .typed = {"sterms", "lterms", "dterms", "sterms"},
    .every_document = terms_every_document,
    .put = terms_put,
    .get = terms_get,
    .put_bucket = terms_put_bucket,
    .get_bucket = terms_get_bucket,
    .reduce = reduce_terms,
    .print = terms_print,
    .print_bucket = print_keyed_head,
    .print_counts = terms_print_error,
};

const struct agg_type agg_rare_terms = {
    .name = "rare_terms",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct terms_params),
    .result_size = sizeof(struct terms_result),
    .parse = parse_rare_terms,
    .collector = terms_new,
    .factory = "RareTermsAggregatorFactory",
    .results = {"StringRareTerms", "LongRareTerms", "LongRareTerms", "UnmappedRareTerms"},
    .typed = {"srareterms", "lrareterms", "lrareterms", "sterms"},
    .reduce = reduce_rare,
    .print_bucket = print_keyed_head,
};

const struct agg_type agg_significant_terms = {
    .name = "significant_terms",
    .class = CLASS_MULTI,
    .params_size = sizeof(struct terms_params),
    .result_size = sizeof(struct terms_result),
    .parse = parse_significant,
    .collector = terms_new,
    .factory = "SignificantTermsAggregatorFactory",
    .results = {"SignificantStringTerms", "SignificantLongTerms", "SignificantLongTerms",
                "UnmappedSignificantTerms"},
    .typed = {"sigsterms", "siglterms", "siglterms", "sigsterms"},
    .put = significant_put,
    .get = significant_get,
    .put_bucket = significant_put_bucket,
    .get_bucket = significant_get_bucket,
    .reduce = reduce_significant,
    .print = significant_print,
    .print_bucket = significant_print_bucket,
    .print_counts = significant_print_counts,
};
