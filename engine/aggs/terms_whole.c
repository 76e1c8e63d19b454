/* Data of the whole shard for terms aggregations, beside the matching documents: all keys of the
 * field, and how often each occurs. */
#include "engine/aggs/terms.h"

#include "common/base/bits.h"
#include "common/base/heap.h"

/* Calls `each` for every leaf, bound. The current segment is lost: only after collecting. */
static enum err each_leaf(struct terms *t, enum err (*each)(struct terms *t, struct errmsg *em),
                          struct errmsg *em)
{
    struct agg_run *r = t->c.run;
    const struct view *view = r->cx->shard->view;
    for (uint32_t i = 0; i < view->n_leaves; i++) {
        r->leaf = &view->leaves[i];
        enum err e = values_leaf(&t->v, em);
        e = e == ERR_OK ? each(t, em) : e;
        if (e != ERR_OK || r->failed != ERR_OK) {
            return e != ERR_OK ? e : err_no_memory(em);
        }
    }
    return ERR_OK;
}

static bool note_key(struct terms *t, int64_t key)
{
    if (!run_reserve(t->c.run, &t->all_keys, &t->cap_all, t->n_all + 1, sizeof(*t->all_keys))) {
        return false;
    }
    t->all_keys[t->n_all++] = key;
    return true;
}

static enum err leaf_texts(struct terms *t, struct errmsg *em)
{
    struct term_iter it;
    if (t->v.text_from != TEXT_ORDS && t->v.text_from != TEXT_UNINVERTED) {
        return ERR_OK;
    }
    bool ok = true;
    term_iter_init(&it, t->v.seg);
    while (ok && term_iter_next(&it)) {
        ok = dict_of_ord(&t->v.dict, it.info.ord) != NO_BUCKET;
    }
    term_iter_fini(&it);
    return ok ? ERR_OK : err_no_memory(em);
}

/* Values of documents in batches of all the segment's documents. */
static enum err each_batch(struct terms *t, const uint64_t *only,
                           void (*each)(struct terms *t, const struct doc_run *d))
{
    doc_id docs[BATCH];
    struct doc_run d = {.docs = docs};
    const struct leaf *leaf = t->c.run->leaf;
    for (doc_id doc = 0; doc < leaf->doc_count; doc++) {
        if (only == NULL || bits_test(only, doc)) {
            docs[d.n++] = doc;
        }
        if (d.n == BATCH || doc + 1 == leaf->doc_count) {
            each(t, &d);
            d.n = 0;
        }
    }
    return ERR_OK;
}

static void batch_numbers(struct terms *t, const struct doc_run *d)
{
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = values_longs(&t->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            if (bucket_map_find(&t->background_counts, 0, t->v.i[i]) == NO_BUCKET
                && include_long(&t->include, t->v.i[i])) {
                bucket_map_get(&t->background_counts, 0, t->v.i[i]);
                note_key(t, t->v.i[i]);
            }
        }
    }
}

static enum err leaf_numbers(struct terms *t, UNUSED struct errmsg *em)
{
    return each_batch(t, NULL, batch_numbers);
}

enum err terms_all_keys(struct terms *t, struct errmsg *em)
{
    enum err e = each_leaf(t, t->text ? leaf_texts : leaf_numbers, em);
    bool missing = t->text && t->v.has_missing; /* counts as a text that the field has */
    if (e == ERR_OK && missing && dict_of_text(&t->v.dict, t->v.missing_s) == NO_BUCKET) {
        return err_no_memory(em);
    }
    for (uint32_t id = 0; e == ERR_OK && t->text && id < t->v.dict.n; id++) {
        if (include_id(&t->include, id) && !note_key(t, id)) {
            return err_no_memory(em);
        }
    }
    return e;
}

/* ---- backgrounds --------------------------------------------------------------------------------------- */

static void count_key(struct terms *t, int64_t key, int64_t by)
{
    uint32_t b = bucket_map_get(&t->background_counts, 0, key);
    if (b != NO_BUCKET) {
        t->background_counts.counts[b] += by;
    }
}

/* Without a filter, a text's document frequency in the index is what counts, deleted documents included. */
static enum err leaf_frequencies(struct terms *t, struct errmsg *em)
{
    struct term_info info;
    for (uint32_t b = 0; b < t->map.n; b++) {
        bool first = bucket_map_find(&t->map, t->map.owners[b], t->map.keys[b]) == b;
        int64_t key = t->map.keys[b];
        /* several owners may have the key: counted once, by the first */
        for (uint32_t o = 0; first && o < t->map.owners[b]; o++) {
            first = bucket_map_find(&t->map, o, key) == NO_BUCKET;
        }
        struct str text = first ? dict_text(&t->v.dict, (uint32_t)key) : STR_NULL;
        if (first && t->v.seg != NULL && text.p != NULL && seg_term(t->v.seg, text, &info)) {
            count_key(t, key, info.doc_freq);
        }
    }
    return t->c.run->failed == ERR_OK ? ERR_OK : err_no_memory(em);
}

static void batch_counts(struct terms *t, const struct doc_run *d)
{
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t n = t->text ? values_ids(&t->v, d, &pos) : values_longs(&t->v, d, &pos);
        for (uint32_t i = 0; i < n; i++) {
            if (t->text) {
                count_key(t, t->v.id[i], 1);
            } else if (i == 0 || t->v.at[i] != t->v.at[i - 1] || t->v.i[i] != t->v.i[i - 1]) {
                count_key(t, t->v.i[i], 1);
            }
        }
    }
}

static enum err leaf_counts(struct terms *t, struct errmsg *em)
{
    const struct leaf *leaf = t->c.run->leaf;
    if (terms_params(t->c.agg)->background == NULL) {
        return each_batch(t, NULL, batch_counts);
    }
    uint64_t *only = ARENA_ARRAY(t->c.run->arena, uint64_t, bits_words(leaf->doc_count));
    enum err e = only == NULL ? err_no_memory(em) : filter_bits_leaf(&t->background, em);
    for (doc_id doc = 0; e == ERR_OK && doc < leaf->doc_count; doc++) {
        if (leaf_live(leaf, doc) && filter_bits_test(&t->background, doc)) {
            bits_set(only, doc);
            t->background_docs++;
        }
    }
    return e == ERR_OK ? each_batch(t, only, batch_counts) : e;
}

/* A shard without any term of the field, also of dead documents, compares with its living documents, whatever the background:
 * only then does Elasticsearch leave out the dead ones. */
static bool no_terms(const struct terms *t)
{
    const struct view *view = t->c.run->cx->shard->view;
    bool none = t->text && t->v.field != NULL && t->v.script == NULL && !t->v.has_missing
                && !str_is(terms_params(t->c.agg)->execution_hint, "map");
    for (uint32_t i = 0; none && i < view->n_leaves; i++) {
        const struct seg_field *f = segment_field_of(view->leaves[i].segment, t->v.field, t->c.run->arena);
        none = f == NULL || f->n_terms == 0;
    }
    return none;
}

static int64_t living_docs(const struct view *view)
{
    int64_t n = 0;
    for (uint32_t i = 0; i < view->n_leaves; i++) {
        const struct leaf *l = &view->leaves[i];
        n += l->live != NULL ? (int64_t)bits_count(l->live, l->doc_count) : (int64_t)l->doc_count;
    }
    return n;
}

enum err terms_background(struct terms *t, struct errmsg *em)
{
    const struct view *view = t->c.run->cx->shard->view;
    bool frequencies = t->text && terms_params(t->c.agg)->background == NULL && t->v.text_from != TEXT_NONE;
    if (no_terms(t)) {
        t->background_docs = living_docs(view);
        return ERR_OK;
    }
    t->background_docs = terms_params(t->c.agg)->background == NULL ? view->doc_count : 0;
    return each_leaf(t, frequencies ? leaf_frequencies : leaf_counts, em);
}

/* ---- choosing among scores ----------------------------------------------------------------------------- */

static bool lower(UNUSED const void *cx, const void *a, const void *b)
{
    return ((const struct candidate *)a)->score < ((const struct candidate *)b)->score;
}

void significant_offer(struct candidate *h, uint32_t *n, uint32_t max, const struct candidate *x)
{
    if (*n < max) {
        h[*n] = *x;
        heap_up(h, (*n)++, sizeof(*h), lower, NULL);
    } else if (!(x->score < h[0].score)) {
        h[0] = *x;
        heap_down(h, max, 0, sizeof(*h), lower, NULL);
    }
}

static void merge_lists(struct terms *t, uint32_t *v, uint32_t *tmp, uint32_t n)
{
    if (n < 2) {
        return;
    }
    uint32_t half = n / 2, i = 0, j = half, to = 0;
    merge_lists(t, v, tmp, half);
    merge_lists(t, v + half, tmp, n - half);
    while (i < half || j < n) {
        bool left = j == n || (i < half && terms_key_cmp(t, t->map.keys[v[i]], t->map.keys[v[j]]) <= 0);
        tmp[to++] = left ? v[i++] : v[j++];
    }
    memcpy(v, tmp, n * sizeof(*v));
}

enum err terms_in_order(struct terms *t, const uint32_t **list, uint32_t n, struct errmsg *em)
{
    uint32_t *v = ARENA_ARRAY(t->c.run->arena, uint32_t, n), *tmp = ARENA_ARRAY(t->c.run->arena, uint32_t, n);
    if (v == NULL || tmp == NULL) {
        return err_no_memory(em);
    }
    memcpy(v, *list, n * sizeof(*v));
    merge_lists(t, v, tmp, n);
    *list = v;
    return ERR_OK;
}
