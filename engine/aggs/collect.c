/* The tree of collectors: batches on their way down, buckets by key, and the entry points of aggs.h that collect. */
#include "engine/aggs/collect.h"

#include "common/base/bits.h"
#include "common/base/hash.h"
#include "common/base/num.h"

#include <stdarg.h>

void run_fail(struct agg_run *r, enum err e)
{
    if (r->failed == ERR_OK) {
        r->failed = e;
    }
}

void run_no_memory(struct agg_run *r)
{
    if (r->failed == ERR_OK) {
        run_fail(r, err_no_memory(&r->em));
    }
}

bool run_reserve(struct agg_run *r, void *array, uint32_t *cap, uint64_t n, size_t size)
{
    if (n <= *cap) {
        return true;
    }
    uint64_t want = MAX_OF(n, MAX_OF((uint64_t)*cap * 2, (uint64_t)16));
    void *old, *p = want <= UINT32_MAX ? arena_alloc(r->arena, (size_t)want * size) : NULL;
    if (p == NULL) {
        run_no_memory(r);
        return false;
    }
    memcpy(&old, array, sizeof(old));
    if (*cap > 0) {
        memcpy(p, old, (size_t)*cap * size);
    }
    memset((char *)p + (size_t)*cap * size, 0, (size_t)(want - *cap) * size);
    memcpy(array, &p, sizeof(p));
    *cap = (uint32_t)want;
    return true;
}

/* ---- the tree ---------------------------------------------------------------------------------------------------- */

static enum err check_global(const struct agg *a, struct errmsg *em)
{
    if (a->parent->type != &agg_type_root && a->type->top_only) {
        return err_set(em, ERR_AGG_EXECUTION,
                       "Aggregation [%.*s] cannot have a global sub-aggregation [%.*s]. Global aggregations "
                       "can only be defined as "
                       "top level aggregations",
                       STR_ARG(a->parent->name), STR_ARG(a->name));
    }
    return ERR_OK;
}

enum err collector_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    enum err e = a->type->collector(out, r, a, em);
    if (e == ERR_OK && r->failed != ERR_OK) {
        err_copy(em, &r->em);
        e = r->failed;
    }
    for (uint32_t i = 0; e == ERR_OK && i < (*out)->n_subs; i++) {
        e = collector_new(&(*out)->subs[i], r, a->subs[i], em);
        if (e == ERR_OK) {
            (*out)->subs[i]->parent = *out;
        }
    }
    return e == ERR_OK && (*out)->ops->made != NULL ? (*out)->ops->made(*out, em) : e;
}

bool collector_asked_once(const struct collector *c)
{
    const struct collector *p = c->parent;
    while (p != NULL && p->single) {
        p = p->parent;
    }
    return p == NULL;
}

enum err collector_ready(struct collector *c, struct errmsg *em)
{
    enum err e = check_global(c->agg, em);
    e = e == ERR_OK && c->ops->check != NULL ? c->ops->check(c, em) : e;
    for (uint32_t i = 0; e == ERR_OK && i < c->n_subs; i++) {
        e = collector_ready(c->subs[i], em);
        c->rewritten |= c->subs[i]->rewritten;
    }
    return e == ERR_OK && c->ops->check_orders != NULL ? c->ops->check_orders(c, em) : e;
}

enum err collector_init(struct collector *c, const struct collector_ops *ops, struct agg_run *r,
                        const struct agg *a, struct errmsg *em)
{
    c->ops = ops;
    c->run = r;
    c->agg = a;
    c->n_subs = a->n_subs;
    c->subs = ARENA_ARRAY(r->arena, struct collector *, a->n_subs);
    if (c->subs == NULL) {
        return err_no_memory(em);
    }
    if (a->n_subs == 0) {
        return ERR_OK;
    }
    c->out_docs = ARENA_ARRAY(r->arena, doc_id, BATCH);
    c->out_buckets = ARENA_ARRAY(r->arena, uint32_t, BATCH);
    c->out_scores = r->scores ? ARENA_ARRAY(r->arena, float, BATCH) : NULL;
    if (c->out_docs == NULL || c->out_buckets == NULL || (r->scores && c->out_scores == NULL)) {
        return err_no_memory(em);
    }
    return ERR_OK;
}

void collector_flush(struct collector *c)
{
    struct doc_run d = {c->out_docs, c->out_buckets, c->out_scores, c->out_n};
    c->out_n = 0;
    if (d.n == 0 || c->run->failed != ERR_OK) {
        return;
    }
    for (uint32_t i = 0; i < c->n_subs; i++) {
        c->subs[i]->ops->collect(c->subs[i], &d);
    }
}

void collector_send_all(struct collector *c, const struct doc_run *d, const uint32_t *at, uint32_t n,
                        uint32_t bucket)
{
    for (uint32_t i = 0; i < n && c->n_subs > 0;) {
        if (c->out_n == BATCH) {
            collector_flush(c);
        }
        uint32_t some = MIN_OF(n - i, BATCH - c->out_n);
        doc_id *docs = c->out_docs + c->out_n;
        uint32_t *buckets = c->out_buckets + c->out_n;
        for (uint32_t k = 0; k < some; k++) {
            docs[k] = d->docs[at[i + k]];
            buckets[k] = bucket;
        }
        for (uint32_t k = 0; k < some && c->out_scores != NULL; k++) {
            c->out_scores[c->out_n + k] = d->scores != NULL ? d->scores[at[i + k]] : 0;
        }
        c->out_n += some;
        i += some;
    }
}

enum err collector_leaf(struct collector *c, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < c->n_subs; i++) {
        e = collector_leaf(c->subs[i], em);
    }
    return e == ERR_OK && c->ops->leaf != NULL ? c->ops->leaf(c, em) : e;
}

/* Pending batches go down before the collectors below end their segment. */
void collector_leaf_end(struct collector *c)
{
    collector_flush(c);
    if (c->ops->leaf_end != NULL) {
        c->ops->leaf_end(c);
        collector_flush(c);
    }
    for (uint32_t i = 0; i < c->n_subs; i++) {
        collector_leaf_end(c->subs[i]);
    }
}

enum err collector_replay(struct collector *c, const struct put_off *v, uint32_t n, struct errmsg *em)
{
    struct agg_run *r = c->run;
    const struct view *view = r->cx->shard->view;
    uint32_t at = 0;
    r->scorer = NULL;
    for (uint32_t i = 0; i < view->n_leaves && c->n_subs > 0; i++) {
        const struct leaf *leaf = &view->leaves[i];
        if (at == n || v[at].doc >= leaf->base + leaf->doc_count) {
            continue;
        }
        r->leaf = leaf;
        for (uint32_t k = 0; k < c->n_subs; k++) {
            enum err e = collector_leaf(c->subs[k], em);
            if (e != ERR_OK) {
                return e;
            }
        }
        for (; at < n && v[at].doc < leaf->base + leaf->doc_count; at++) {
            collector_send(c, v[at].doc - leaf->base, v[at].bucket, v[at].score);
        }
        collector_flush(c);
        for (uint32_t k = 0; k < c->n_subs; k++) {
            collector_leaf_end(c->subs[k]);
        }
    }
    if (r->failed != ERR_OK) {
        err_copy(em, &r->em);
    }
    return r->failed;
}

enum err collector_finish(struct collector *c, struct errmsg *em)
{
    enum err e = c->ops->finish != NULL ? c->ops->finish(c, em) : ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < c->n_subs; i++) {
        e = collector_finish(c->subs[i], em);
    }
    return e;
}

enum err collector_subs(struct collector *c, uint32_t bucket, struct agg_result **out, struct errmsg *em)
{
    *out = NULL;
    if (c->n_subs == 0) {
        return ERR_OK;
    }
    struct agg_result *subs = results_new(c->run->arena, c->agg);
    if (subs == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < c->n_subs; i++) {
        enum err e = c->subs[i]->ops->build(c->subs[i], bucket, &subs[i], em);
        subs[i].rewritten = c->subs[i]->rewritten;
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = subs;
    return ERR_OK;
}

enum err collector_single(struct collector *c, uint32_t bucket, int64_t doc_count, struct agg_result *out,
                          struct errmsg *em)
{
    out->form = RESULT_PLAIN;
    out->n = 1;
    out->buckets = ARENA_NEW(c->run->arena, struct agg_bucket);
    if (out->buckets == NULL) {
        return err_no_memory(em);
    }
    out->buckets->doc_count = doc_count;
    return collector_subs(c, bucket, &out->buckets->subs, em);
}

enum err collector_empty_subs(struct collector *c, struct agg_result **out, struct errmsg *em)
{
    bool before = c->run->empty;
    c->run->empty = true;
    enum err e = collector_subs(c, NO_BUCKET, out, em);
    c->run->empty = before;
    return e;
}

/* ---- buckets by key --------------------------------------------------------------------------------------------------- */

void bucket_map_init(struct bucket_map *m, struct agg_run *r)
{
    *m = (struct bucket_map){.run = r};
}

static uint32_t key_slot(const struct bucket_map *m, uint32_t owner, int64_t key)
{
    uint32_t mask = m->n_slots - 1;
    uint32_t at = (uint32_t)hash_u64((uint64_t)key + (uint64_t)owner * 0x9E3779B97F4A7C15ULL) & mask;
    while (m->slots[at] != 0) {
        uint32_t b = m->slots[at] - 1;
        if (m->keys[b] == key && m->owners[b] == owner) {
            break;
        }
        at = (at + 1) & mask;
    }
    return at;
}

static bool grow_slots(struct bucket_map *m)
{
    uint32_t n = m->n_slots == 0 ? 64 : m->n_slots * 2;
    uint32_t *slots = ARENA_ARRAY(m->run->arena, uint32_t, n);
    if (slots == NULL || n < m->n_slots) {
        run_no_memory(m->run);
        return false;
    }
    m->slots = slots;
    m->n_slots = n;
    for (uint32_t b = 0; b < m->n; b++) {
        slots[key_slot(m, m->owners[b], m->keys[b])] = b + 1;
    }
    return true;
}

uint32_t bucket_map_find(const struct bucket_map *m, uint32_t owner, int64_t key)
{
    if (m->n_slots == 0) {
        return NO_BUCKET;
    }
    uint32_t slot = m->slots[key_slot(m, owner, key)];
    return slot != 0 ? slot - 1 : NO_BUCKET;
}

uint32_t bucket_map_get(struct bucket_map *m, uint32_t owner, int64_t key)
{
    if (m->n_slots > 0) {
        uint32_t at = key_slot(m, owner, key);
        if (m->slots[at] != 0) {
            return m->slots[at] - 1;
        }
    }
    if ((uint64_t)(m->n + 1) * 2 > m->n_slots && !grow_slots(m)) {
        return NO_BUCKET;
    }
    if (!run_reserve(m->run, &m->keys, &m->cap_keys, m->n + 1, sizeof(*m->keys))
        || !run_reserve(m->run, &m->owners, &m->cap_owners, m->n + 1, sizeof(*m->owners))
        || !run_reserve(m->run, &m->counts, &m->cap_counts, m->n + 1, sizeof(*m->counts))) {
        return NO_BUCKET;
    }
    m->keys[m->n] = key;
    m->owners[m->n] = owner;
    m->slots[key_slot(m, owner, key)] = m->n + 1;
    return m->n++;
}

enum err bucket_map_group(struct bucket_map *m, struct errmsg *em)
{
    uint32_t owners = 0;
    for (uint32_t b = 0; b < m->n; b++) {
        owners = MAX_OF(owners, m->owners[b] + 1);
    }
    m->starts = ARENA_ARRAY(m->run->arena, uint32_t, (size_t)owners + 2);
    m->by_owner = ARENA_ARRAY(m->run->arena, uint32_t, m->n);
    if (m->starts == NULL || m->by_owner == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t b = 0; b < m->n; b++) {
        m->starts[m->owners[b] + 2]++;
    }
    for (uint32_t o = 2; o <= owners + 1; o++) {
        m->starts[o] += m->starts[o - 1];
    }
    for (uint32_t b = 0; b < m->n; b++) {
        m->by_owner[m->starts[m->owners[b] + 1]++] = b;
    }
    m->n_owners = owners;
    return ERR_OK;
}

/* ---- orders by sub-aggregations ------------------------------------------------------------------------------------------- */

static struct collector *sub_named(struct collector *c, struct str name)
{
    for (uint32_t i = 0; i < c->n_subs; i++) {
        if (str_eq(c->subs[i]->agg->name, name)) {
            return c->subs[i];
        }
    }
    return NULL;
}

static enum err bad_path(const struct agg_order *o, struct errmsg *em, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
static enum err bad_path(const struct agg_order *o, struct errmsg *em, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    err_setv(em, ERR_ILLEGAL_ARGUMENT, 0, 0, fmt, args);
    va_end(args);
    return err_wrap(em, ERR_AGG_EXECUTION, "Invalid aggregation order path [%.*s]. %s", STR_ARG(o->path.text),
                    err_reason(em));
}

#define NOT_SINGLE                                                                                         \
    "Buckets can only be sorted on a sub-aggregator path that is built out of zero or more single-bucket " \
    "aggregations within the path and a final single-bucket or a metrics aggregation at the path end."

/* How a name with or without a key is written in such errors. */
static enum err drop_key(const struct agg_order *o, const struct agg *a, const char *kind, const char *key,
                         const char *end, struct errmsg *em)
{
    return bad_path(
        o, em,
        "Ordering on a single-%s can only be done on its %s. Either drop the key (a la \"%.*s\") or "
        "change it to \"%s\" (a la \"%.*s.%s\")%s",
        kind, key, STR_ARG(a->name), key, STR_ARG(a->name), key, end);
}

/* The end of a path must give one number. */
static enum err check_end(const struct agg_order *o, const struct agg *a, struct str key, struct errmsg *em)
{
    if (a->type->class == CLASS_SINGLE) {
        return key.p == NULL || str_is(key, "doc_count")
                   ? ERR_OK
                   : drop_key(o, a, "bucket aggregation", "doc_count", " or \"key\".", em);
    }
    if (a->type->number != NULL) {
        return key.p == NULL || str_is(key, "value")
                   ? ERR_OK
                   : drop_key(o, a, "value metrics aggregation", "value", "", em);
    }
    if (a->type->has_value == NULL) {
        return bad_path(o, em, NOT_SINGLE);
    }
    if (key.p == NULL) {
        return bad_path(
            o, em, "When ordering on a multi-value metrics aggregation a metric name must be specified.");
    }
    double d;
    if (a->type->named_by_number && !num_parse_double(key, &d)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(key));
        return err_wrap(em, ERR_AGG_EXECUTION,
                        "Invalid aggregation order path [%.*s]. For input string: \"%.*s\"",
                        STR_ARG(o->path.text), STR_ARG(key));
    }
    if (!a->type->has_value(a, key)) {
        return bad_path(o, em, "Unknown metric name [%.*s] on multi-value metrics aggregation [%.*s]",
                        STR_ARG(key), STR_ARG(a->name));
    }
    return ERR_OK;
}

/* A step of a path as it was written, with its key. */
static struct str whole_step(const struct agg_step *s)
{
    if (s->key.p == NULL) {
        return s->name;
    }
    const char *end = s->key.p + s->key.n + (s->name.p[s->name.n] == '[');
    return (struct str){s->name.p, (size_t)(end - s->name.p)};
}

enum err order_bind(struct collector *c, const struct agg_order *o, struct collector **out, struct errmsg *em)
{
    *out = c;
    for (uint32_t i = 0; i < o->path.n; i++) {
        struct str name = o->path.v[i].name;
        struct collector *next = sub_named(*out, name);
        if (next == NULL) {
            return bad_path(
                o, em,
                "The provided aggregation [%.*s] either does not exist, or is a pipeline aggregation "
                "and cannot be used to sort the buckets.",
                STR_ARG(whole_step(&o->path.v[i])));
        }
        if (i + 1 < o->path.n && (next->agg->type->class != CLASS_SINGLE || next->unmapped)) {
            return bad_path(o, em, NOT_SINGLE " [%.*s] is not single-bucket.", STR_ARG(name));
        }
        *out = next;
    }
    return (*out)->unmapped ? bad_path(o, em, NOT_SINGLE)
                            : check_end(o, (*out)->agg, o->path.v[o->path.n - 1].key, em);
}

double order_value(struct collector *leaf, const struct agg_order *o, uint32_t bucket)
{
    struct str key = o->path.v[o->path.n - 1].key;
    return leaf->ops->value(leaf, bucket, key);
}

/* ---- filters over segments -------------------------------------------------------------------------------------------------- */

#define WINDOW 4096

enum err filter_bits_init(struct filter_bits *f, struct agg_run *r, const struct json *query,
                          struct errmsg *em)
{
    const struct query *q;
    *f = (struct filter_bits){.run = r};
    struct query_context qcx = r->cx->query;
    qcx.raw_errors = true;
    enum err e = query_build(&q, &qcx, query, em);
    if (e == ERR_OK) {
        struct weight_context cx = r->cx->weight;
        cx.nested_too = true; /* which documents are asked about is the caller's affair */
        e = weight_new(&f->weight, &cx, q, NEED_NO_SCORES, em);
    }
    f->bits = ARENA_ARRAY(r->arena, uint64_t, WINDOW / 64);
    return e == ERR_OK && f->bits == NULL ? err_no_memory(em) : e;
}

enum err filter_bits_leaf(struct filter_bits *f, struct errmsg *em)
{
    f->from = f->to = 0;
    return weight_scorer(f->weight, f->run->leaf, f->run->arena, &f->scorer, em);
}

static void fill_window(struct filter_bits *f, doc_id doc)
{
    struct scorer *s = f->scorer;
    f->from = doc & ~(doc_id)(WINDOW - 1);
    f->to = MIN_OF(f->from + WINDOW, f->run->leaf->doc_count);
    memset(f->bits, 0, WINDOW / 8);
    if (s->ops->fill != NULL) {
        s->ops->fill(s, f->from, f->to, f->bits);
    } else {
        if (s->doc == POSTINGS_UNPOSITIONED || s->doc < f->from) {
            s->ops->seek(s, f->from);
        }
        for (; s->doc < f->to; s->ops->next(s)) {
            if (scorer_accepts(s)) {
                bits_set(f->bits, s->doc - f->from);
            }
        }
    }
    enum err e = weight_error(f->weight, &f->run->em);
    if (e != ERR_OK) {
        run_fail(f->run, e);
    }
}

bool filter_bits_test(struct filter_bits *f, doc_id doc)
{
    if (f->scorer == NULL) {
        return false;
    }
    if (doc >= f->to) {
        fill_window(f, doc);
    }
    return bits_test(f->bits, doc - f->from);
}
