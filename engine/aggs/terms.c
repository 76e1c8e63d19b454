/* Collecting terms, rare_terms and significant_terms, and choosing what a shard reports. */
#include "engine/aggs/terms.h"

#include "common/base/bits.h"
#include "common/base/heap.h"

#include <math.h>

/* ---- collecting ----------------------------------------------------------------------------------------------------- */

static enum err terms_leaf(struct collector *c, struct errmsg *em)
{
    struct terms *t = (struct terms *)c;
    enum err e = values_leaf(&t->v, em);
    if (e != ERR_OK) {
        return e;
    }
    bool ords = t->text && t->v.text_from == TEXT_ORDS && t->v.script == NULL && !t->v.has_missing;
    t->by_ord =
        ords && c->n_subs == 0 && c->agg->parent->type == &agg_type_root && c->agg->type == &agg_terms;
    if (t->by_ord && t->v.ords.n_ords > t->cap_ord_counts) {
        t->ord_counts = ARENA_ARRAY(c->run->arena, uint32_t, t->v.ords.n_ords);
        t->cap_ord_counts = t->v.ords.n_ords;
        return t->ord_counts != NULL ? ERR_OK : err_no_memory(em);
    }
    return ERR_OK;
}

static inline void count_ords(struct terms *t, doc_id doc)
{
    uint64_t first;
    uint32_t n = ord_column_seek(&t->v.ords, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        t->ord_counts[ord_column_value(&t->v.ords, first + i)]++;
    }
}

/* A slot for the bucket of every text met so far. */
static bool reserve_ids(struct terms *t)
{
    return run_reserve(t->c.run, &t->bucket_of_id, &t->cap_of_id, t->v.dict.n, sizeof(*t->bucket_of_id));
}

/* One document in one bucket; there is room for texts' buckets. */
static void terms_take(struct terms *t, const struct doc_run *d, uint32_t at, int64_t key)
{
    uint32_t owner = run_bucket(d, at), b;
    if (owner == 0 && t->text) {
        if (t->bucket_of_id[key] == 0) {
            t->bucket_of_id[key] = bucket_map_get(&t->map, 0, key) + 1;
        }
        b = t->bucket_of_id[key] - 1;
    } else {
        b = bucket_map_get(&t->map, owner, key);
    }
    if (b == NO_BUCKET) {
        return;
    }
    t->map.counts[b]++;
    collector_send(&t->c, d->docs[at], b, d->scores != NULL ? d->scores[at] : 0);
}

/* All terms are wanted, and all documents are in one bucket: theirs is known by the text once it was met. Neighbours often have
 * the same one, and go together. */
static void take_all(struct terms *t, const struct doc_run *d, uint32_t n)
{
    const uint32_t *id = t->v.id, *at = t->v.at;
    for (uint32_t i = 0, to; i < n; i = to) {
        uint32_t known = t->bucket_of_id[id[i]];
        to = i + 1;
        if (known == 0) {
            terms_take(t, d, at[i], id[i]);
            continue;
        }
        while (to < n && id[to] == id[i]) {
            to++;
        }
        t->map.counts[known - 1] += to - i;
        collector_send_all(&t->c, d, at + i, to - i, known - 1);
    }
}

static void collect_text(struct terms *t, const struct doc_run *d)
{
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_ids(&t->v, d, &pos);
        if (!reserve_ids(t)) {
            return;
        }
        if (d->buckets == NULL && t->include.any) {
            take_all(t, d, n);
            continue;
        }
        for (uint32_t i = 0; i < n; i++) {
            if (include_id(&t->include, t->v.id[i])) {
                terms_take(t, d, t->v.at[i], t->v.id[i]);
            }
        }
    }
}

/* A number that a document has twice counts once, but not towards being rare: as in Elasticsearch. */
static void collect_numbers(struct terms *t, const struct doc_run *d)
{
    bool rare = t->c.agg->type == &agg_rare_terms;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_longs(&t->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            bool again = !rare && i > 0 && t->v.at[i] == t->v.at[i - 1] && t->v.i[i] == t->v.i[i - 1];
            if (!again && include_long(&t->include, t->v.i[i])) {
                terms_take(t, d, t->v.at[i], t->v.i[i]);
            }
        }
    }
}

static void terms_collect(struct collector *c, const struct doc_run *d)
{
    struct terms *t = (struct terms *)c;
    if (t->by_ord) {
        for (uint32_t i = 0; i < d->n; i++) {
            count_ords(t, d->docs[i]);
        }
        return;
    }
    for (uint32_t i = 0; c->agg->type == &agg_significant_terms && i < d->n; i++) {
        uint32_t owner = run_bucket(d, i);
        if (!run_reserve(c->run, &t->owner_docs, &t->cap_owner_docs, owner + 1, sizeof(*t->owner_docs))) {
            return;
        }
        t->owner_docs[owner]++;
    }
    if (t->text) {
        collect_text(t, d);
    } else {
        collect_numbers(t, d);
    }
    collector_flush(c);
}

/* Whole windows at a time: the plain count of a field's terms. */
static bool terms_bits(struct collector *c, doc_id from, const uint64_t *bits, uint32_t n)
{
    struct terms *t = (struct terms *)c;
    bool single = t->v.ords.dense && !t->v.ords.multi;
    for (uint32_t w = 0; t->by_ord && w < bits_words(n); w++) {
        for (uint64_t word = bits[w]; word != 0; word &= word - 1) {
            doc_id doc = from + w * 64 + (doc_id)__builtin_ctzll(word);
            if (single) {
                t->ord_counts[ord_column_value(&t->v.ords, doc)]++;
            } else {
                count_ords(t, doc);
            }
        }
    }
    return t->by_ord;
}

/* Counts by ordinal become counts by term. */
static void terms_leaf_end(struct collector *c)
{
    struct terms *t = (struct terms *)c;
    for (uint64_t ord = 0; t->by_ord && ord < t->v.ords.n_ords; ord++) {
        if (t->ord_counts[ord] == 0) {
            continue;
        }
        uint32_t id = dict_of_ord(&t->v.dict, ord);
        if (id == NO_BUCKET) {
            return;
        }
        uint32_t b = include_id(&t->include, id) ? bucket_map_get(&t->map, 0, id) : NO_BUCKET;
        if (b != NO_BUCKET) {
            t->map.counts[b] += t->ord_counts[ord];
        }
        t->ord_counts[ord] = 0;
    }
}

/* ---- choosing --------------------------------------------------------------------------------------------------------- */

int terms_key_cmp(struct terms *t, int64_t a, int64_t b)
{
    if (!t->text) {
        return a < b ? -1 : a > b;
    }
    struct term_dict *d = &t->v.dict;
    if (d->lazy && d->ords[a] != UINT64_MAX && d->ords[b] != UINT64_MAX) {
        return d->ords[a] < d->ords[b] ? -1 : d->ords[a] > d->ords[b];
    }
    return str_cmp(dict_text(d, (uint32_t)a), dict_text(d, (uint32_t)b));
}

/* NaN sorts last in both directions. */
static int cmp_value(double a, double b, bool asc)
{
    if (isnan(a) || isnan(b)) {
        return isnan(a) - isnan(b);
    }
    int c = a < b ? -1 : a > b;
    return asc ? c : -c;
}

static int candidate_cmp(struct terms *t, const struct candidate *a, const struct candidate *b)
{
    const struct agg_orders *orders = &terms_params(t->c.agg)->orders;
    for (uint32_t i = 0; i < orders->n; i++) {
        const struct agg_order *o = &orders->v[i];
        int c;
        if (o->by == ORDER_COUNT) {
            c = a->count < b->count ? -1 : a->count > b->count;
            c = o->asc ? c : -c;
        } else if (o->by == ORDER_KEY) {
            c = terms_key_cmp(t, a->key, b->key);
            c = o->asc ? c : -c;
        } else {
            c = cmp_value(order_value(t->order_from[i], o, a->bucket),
                          order_value(t->order_from[i], o, b->bucket), o->asc);
        }
        if (c != 0) {
            return c;
        }
    }
    return 0;
}

/* For a heap with the worst of the best at its root. `cx` points to the address of the terms. */
static bool terms_behind(const void *cx, const void *a, const void *b)
{
    return candidate_cmp(*(struct terms *const *)cx, a, b) > 0;
}

static void offer(struct terms *t, struct candidate *h, uint32_t *n, uint32_t max, const struct candidate *x)
{
    if (t->c.agg->type == &agg_significant_terms) {
        significant_offer(h, n, max, x);
        return;
    }
    if (*n == max) {
        if (candidate_cmp(t, x, &h[0]) < 0) {
            h[0] = *x;
            heap_down(h, max, 0, sizeof(*h), terms_behind, &t);
        }
        return;
    }
    h[(*n)++] = *x;
    if (*n == max) {
        for (uint32_t i = max / 2 + 1; i-- > 0;) {
            heap_down(h, max, i, sizeof(*h), terms_behind, &t);
        }
    }
}

bool terms_key(struct terms *t, int64_t key, struct agg_key *out)
{
    if (t->text) {
        *out = (struct agg_key){.kind = KEY_STR, .s = dict_text(&t->v.dict, (uint32_t)key)};
        return out->s.p != NULL;
    }
    *out = t->v.floating ? (struct agg_key){.kind = KEY_F64, .d = num_to_double(key)}
                         : (struct agg_key){.kind = KEY_I64, .i = key};
    return true;
}

/* The best candidates of an owner; *other counts the documents of all. */
static enum err terms_choose(struct terms *t, uint32_t owner, struct candidate **out, uint32_t *n_out,
                             int64_t *other, struct errmsg *em)
{
    const struct agg *a = t->c.agg;
    const uint32_t *list;
    uint32_t n = bucket_map_of(&t->map, owner, &list), have = 0;
    bool zero = a->type == &agg_terms && terms_params(a)->min_doc_count == 0;
    uint32_t all = zero ? t->n_all : n;
    bool rare = a->type == &agg_rare_terms;
    uint32_t max = rare ? all : (uint32_t)MIN_OF((int64_t)all, t->shard_size);
    struct candidate *h = ARENA_ARRAY(t->c.run->arena, struct candidate, (size_t)max + 1);
    enum err e = h == NULL ? err_no_memory(em) : ERR_OK;
    if (a->type == &agg_significant_terms && t->text && t->c.n_subs == 0 && t->include.any && n > max) {
        e = terms_in_order(t, &list, n, em);
    }
    int64_t subset = owner < t->cap_owner_docs ? t->owner_docs[owner] : 0;
    int64_t least = MIN_OF(terms_params(a)->shard_min_doc_count, terms_params(a)->min_doc_count);
    for (uint32_t i = 0; e == ERR_OK && i < all && max > 0; i++) {
        struct candidate x = {.bucket = zero ? bucket_map_find(&t->map, owner, t->all_keys[i]) : list[i]};
        x.key = zero ? t->all_keys[i] : t->map.keys[x.bucket];
        x.count = x.bucket != NO_BUCKET ? t->map.counts[x.bucket] : 0;
        *other += x.count;
        if (a->type == &agg_significant_terms) {
            uint32_t b = bucket_map_find(&t->background_counts, 0, x.key);
            x.background = b != NO_BUCKET ? t->background_counts.counts[b] : 0;
            if (x.count >= least) {
                e = significance(&x.score, terms_params(a), x.count, subset, x.background, t->background_docs,
                                 em);
            }
        }
        if (rare || x.count >= least) {
            offer(t, h, &have, max, &x);
        }
    }
    *out = h;
    *n_out = have;
    return e;
}

static enum err terms_build(struct collector *c, uint32_t owner, struct agg_result *out, struct errmsg *em)
{
    struct terms_result *own = terms_result(out);
    struct terms *t = (struct terms *)c;
    const struct agg *a = c->agg;
    struct candidate *best = NULL;
    uint32_t n = 0;
    out->form = t->v.none ? RESULT_UNMAPPED : t->text ? RESULT_STR : t->v.floating ? RESULT_F64 : RESULT_I64;
    out->shape = t->v.shape;
    own->shard_size = t->shard_size;
    enum err e = t->v.none ? ERR_OK : terms_choose(t, owner, &best, &n, &own->other, em);
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, n);
    if (e != ERR_OK || out->buckets == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    own->subset_size = owner < t->cap_owner_docs ? t->owner_docs[owner] : 0;
    own->superset_size = t->background_docs;
    for (uint32_t i = 0; i < n; i++) {
        struct agg_bucket *b = &out->buckets[out->n++];
        b->doc_count = best[i].count;
        b->superset_df = best[i].background;
        own->other -= best[i].count;
        if (!terms_key(t, best[i].key, &b->key)) {
            return c->run->failed != ERR_OK ? err_set(em, c->run->failed, "a term cannot be read")
                                            : err_no_memory(em);
        }
        bool frequent = a->type == &agg_rare_terms && b->doc_count > terms_params(a)->size;
        e = frequent ? ERR_OK : collector_subs(c, best[i].bucket, &b->subs, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err terms_finish(struct collector *c, struct errmsg *em)
{
    struct terms *t = (struct terms *)c;
    enum err e = bucket_map_group(&t->map, em);
    if (e == ERR_OK && c->agg->type == &agg_terms && terms_params(c->agg)->min_doc_count == 0 && !t->v.none) {
        e = terms_all_keys(t, em);
    }
    return e == ERR_OK && c->agg->type == &agg_significant_terms && !t->v.none ? terms_background(t, em) : e;
}

/* ---- binding ---------------------------------------------------------------------------------------------------------- */

static enum err bind_orders(struct terms *t, struct errmsg *em)
{
    const struct agg_orders *orders = &terms_params(t->c.agg)->orders;
    t->order_from = ARENA_ARRAY(t->c.run->arena, struct collector *, orders->n);
    if (t->order_from == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < orders->n; i++) {
        enum err e =
            orders->v[i].by == ORDER_PATH ? order_bind(&t->c, &orders->v[i], &t->order_from[i], em) : ERR_OK;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static void choose_shard_size(struct terms *t)
{
    const struct terms_params *p = terms_params(t->c.agg);
    bool significant = t->c.agg->type == &agg_significant_terms;
    bool by_key = p->orders.n > 0 && p->orders.v[0].by == ORDER_KEY;
    t->shard_size = p->shard_size;
    if (p->shard_size < 0 && !by_key) {
        t->shard_size = (int64_t)((double)p->size * 1.5 + 10) * (significant ? 2 : 1);
    }
    t->shard_size = MIN_OF(MAX_OF(t->shard_size, p->size), (int64_t)INT32_MAX);
}

static enum err check_hint(const struct terms *t, struct errmsg *em)
{
    struct str hint = terms_params(t->c.agg)->execution_hint;
    if (hint.p == NULL || !t->text || str_is(hint, "map") || str_is(hint, "global_ordinals")) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Unknown `execution_hint`: [%.*s], expected any of [map, global_ordinals]", STR_ARG(hint));
}

static enum err terms_check(struct collector *c, struct errmsg *em)
{
    struct terms *t = (struct terms *)c;
    const struct agg_type *k = c->agg->type;
    if (t->v.none) {
        return ERR_OK;
    }
    if (k != &agg_terms && !t->text && t->v.floating) {
        return err_set(em, k == &agg_rare_terms ? ERR_ILLEGAL_ARGUMENT : ERR_UNSUPPORTED,
                       k == &agg_rare_terms ? "RareTerms aggregation does not support floating point fields."
                                            : "No support for examining floating point numerics");
    }
    const struct field *f = t->v.field;
    if (k == &agg_significant_terms && f != NULL && f->path.p[0] != '_'
        && (!f->index || f->class->is_binary)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "SignificantText aggregation requires fields to be searchable, but [%.*s] is not",
                       STR_ARG(f->path));
    }
    enum err e = include_bind(&t->include, c->agg, &t->v, em);
    return e == ERR_OK ? check_hint(t, em) : e;
}

static enum err terms_check_orders(struct collector *c, struct errmsg *em)
{
    return c->agg->type == &agg_terms ? bind_orders((struct terms *)c, em) : ERR_OK;
}

static const struct collector_ops terms_ops = {.check = terms_check,
                                               .check_orders = terms_check_orders,
                                               .leaf = terms_leaf,
                                               .collect = terms_collect,
                                               .leaf_end = terms_leaf_end,
                                               .finish = terms_finish,
                                               .build = terms_build,
                                               .collect_bits = terms_bits};

enum err terms_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    const struct terms_params *given = terms_params(a);
    struct terms *t = ARENA_NEW(r->arena, struct terms);
    if (t == NULL) {
        return err_no_memory(em);
    }
    *out = &t->c;
    bucket_map_init(&t->map, r);
    bucket_map_init(&t->background_counts, r);
    enum err e = collector_init(&t->c, &terms_ops, r, a, em);
    if (e == ERR_OK) {
        e = values_bind(&t->v, r, a, &a->vs, TAKES_NUMERIC | TAKES_TEXT | TAKES_IP, SOURCE_TEXT, em);
    }
    t->text = t->v.kind == SOURCE_TEXT || t->v.kind == SOURCE_IP;
    if (e == ERR_OK && given->background != NULL) {
        e = filter_bits_init(&t->background, r, given->background, em);
        t->c.rewritten = e == ERR_OK && query_is_rewritten(r, given->background);
    }
    choose_shard_size(t);
    return e;
}
