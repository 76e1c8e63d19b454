/* composite: every combination of its sources' values is a bucket; the first `size` after a given one are reported.
 *
 * While collecting, only the best `size` combinations are kept (a heap with the last of them at its root, and a table).
 * Documents go down to sub-aggregations in a second pass, when the combinations are known. */
#include "engine/aggs/composite.h"

#include "common/base/coerce.h"
#include "common/base/hash.h"
#include "common/base/heap.h"
#include "common/base/num.h"

#include <math.h>

/* ---- order ----------------------------------------------------------------------------------------------- */

static int text_cmp(struct term_dict *d, int64_t a, int64_t b)
{
    if (a == b) {
        return 0;
    }
    if (d->lazy && d->ords[a] != UINT64_MAX && d->ords[b] != UINT64_MAX) {
        return d->ords[a] < d->ords[b] ? -1 : 1;
    }
    return str_cmp(dict_text(d, (uint32_t)a), dict_text(d, (uint32_t)b));
}

/* Nulls come first ascending, last descending. */
static int combination_cmp(struct composite *m, const struct part *a, const struct part *b)
{
    for (uint32_t i = 0; i < m->n; i++) {
        int c;
        if (a[i].null || b[i].null) {
            c = (a[i].null ? 0 : 1) - (b[i].null ? 0 : 1);
        } else if (m->s[i].text) {
            c = text_cmp(&m->s[i].v.dict, a[i].v, b[i].v);
        } else {
            c = a[i].v < b[i].v ? -1 : a[i].v > b[i].v;
        }
        if (c != 0) {
            return m->s[i].spec->descending ? -c : c;
        }
    }
    return 0;
}

static struct part *slot_at(const struct composite *m, uint32_t slot)
{
    return m->slots + (size_t)slot * m->n;
}

/* ---- the table and the heap ------------------------------------------------------------------------------ */

static uint32_t table_home(const struct composite *m, const struct part *p)
{
    uint64_t h = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        h = hash_u64(h * 31 + (uint64_t)p[i].v + (p[i].null ? 0x9E3779B97F4A7C15ULL : 0));
    }
    return (uint32_t)h & (m->n_table - 1);
}

static bool same(const struct composite *m, const struct part *a, const struct part *b)
{
    for (uint32_t i = 0; i < m->n; i++) {
        if (a[i].null != b[i].null || a[i].v != b[i].v) {
            return false;
        }
    }
    return true;
}

static uint32_t table_find(const struct composite *m, const struct part *p)
{
    uint32_t at = table_home(m, p);
    while (m->table[at] != 0 && !same(m, slot_at(m, m->table[at] - 1), p)) {
        at = (at + 1) & (m->n_table - 1);
    }
    return at;
}

/* Takes an entry out; those behind it move up so that none is lost to a gap. */
static void table_remove(struct composite *m, uint32_t slot)
{
    uint32_t mask = m->n_table - 1, gap = table_find(m, slot_at(m, slot));
    m->table[gap] = 0;
    for (uint32_t at = (gap + 1) & mask; m->table[at] != 0; at = (at + 1) & mask) {
        uint32_t home = table_home(m, slot_at(m, m->table[at] - 1));
        if (((at - home) & mask) >= ((at - gap) & mask)) {
            m->table[gap] = m->table[at];
            m->table[at] = 0;
            gap = at;
        }
    }
}

/* `cx` points to the address of the composite. */
static bool later(const void *cx, const void *a, const void *b)
{
    struct composite *m = *(struct composite *const *)cx;
    return combination_cmp(m, slot_at(m, *(const uint32_t *)a), slot_at(m, *(const uint32_t *)b)) > 0;
}

/* ---- values ---------------------------------------------------------------------------------------------- */

static int64_t part_of(struct source *s, uint32_t i)
{
    const struct composite_source *spec = s->spec;
    switch (spec->kind) {
    case COMPOSITE_HISTOGRAM:
        return num_from_double(floor(s->v.d[i] / spec->interval) * spec->interval);
    case COMPOSITE_DATE:
        return rounding_round(&s->rounding, s->v.i[i]);
    case COMPOSITE_TERMS:
    case COMPOSITE_GEOTILE:
        break;
    }
    return s->text ? (int64_t)s->v.id[i] : s->v.i[i];
}

static uint32_t next_values(struct source *s, const struct doc_run *d, uint32_t *pos)
{
    if (s->spec->kind == COMPOSITE_GEOTILE) {
        const struct grid_params *grid = &s->spec->grid;
        uint32_t n = values_points(&s->v, d, pos), have = 0;
        for (uint32_t i = 0; i < n; i++) { /* a cell takes less room than its point */
            struct geo_point point = s->v.g[i];
            if (grid_takes(grid, point)) {
                s->v.at[have] = s->v.at[i];
                s->v.i[have++] = geotile_cell(point, grid->precision);
            }
        }
        return have;
    }
    if (s->spec->kind == COMPOSITE_HISTOGRAM) {
        return values_doubles(&s->v, d, pos);
    }
    return s->text ? values_ids(&s->v, d, pos) : values_longs(&s->v, d, pos);
}

static bool add_part(struct composite *m, struct source *s, uint32_t n, struct part p)
{
    if (!run_reserve(m->c.run, &s->list, &s->cap, n + 1, sizeof(*s->list))) {
        return false;
    }
    s->list[n] = p;
    return true;
}

/* The values of every document of a batch; texts differ, numbers that give the same key count each. Documents without one have null when the source lets it be. */
static bool load_source(struct composite *m, struct source *s, const struct doc_run *d)
{
    uint32_t n = 0, k = 0;
    s->start[0] = 0;
    for (uint32_t pos = 0; pos < d->n;) {
        uint32_t got = next_values(s, d, &pos);
        for (uint32_t i = 0; i <= got; i++) {
            uint32_t at = i < got ? s->v.at[i] : pos;
            for (; k < at; k++) { /* documents before this value's are complete */
                if (n == s->start[k] && s->spec->missing_bucket
                    && !add_part(m, s, n++, (struct part){.null = true})) {
                    return false;
                }
                s->start[k + 1] = n;
            }
            if (i == got) {
                break;
            }
            struct part p = {.v = part_of(s, i)};
            bool again = n > s->start[k] && s->list[n - 1].v == p.v && (s->text || (s->once && !m->second));
            if (!again && !add_part(m, s, n++, p)) {
                return false;
            }
        }
    }
    return m->c.run->failed == ERR_OK;
}

/* ---- collecting ------------------------------------------------------------------------------------------ */

/* The combination in the last slot was met once. */
static void offer(struct composite *m)
{
    struct part *p = slot_at(m, m->size);
    if (m->after != NULL && combination_cmp(m, p, m->after) <= 0) {
        return;
    }
    uint32_t at = table_find(m, p);
    if (m->table[at] != 0) {
        m->counts[m->table[at] - 1]++;
        return;
    }
    uint32_t slot = m->used;
    if (m->used == m->size) {
        slot = m->heap[0];
        if (combination_cmp(m, p, slot_at(m, slot)) >= 0) {
            return;
        }
        table_remove(m, slot);
    }
    memcpy(slot_at(m, slot), p, m->n * sizeof(*p));
    m->counts[slot] = 1;
    m->table[table_find(m, p)] = slot + 1;
    if (m->used < m->size) {
        m->heap[m->used++] = slot;
        heap_up(m->heap, m->used - 1, sizeof(*m->heap), later, &m);
    } else {
        heap_down(m->heap, m->used, 0, sizeof(*m->heap), later, &m);
    }
}

static void send(struct composite *m, const struct doc_run *d, uint32_t k)
{
    uint32_t slot = m->table[table_find(m, slot_at(m, m->size))];
    if (slot != 0) {
        collector_send(&m->c, d->docs[k], m->rank[slot - 1], d->scores != NULL ? d->scores[k] : 0);
    }
}

static void combine(struct composite *m, const struct doc_run *d, uint32_t k, uint32_t i)
{
    if (i == m->n) {
        if (m->second) {
            send(m, d, k);
        } else {
            offer(m);
        }
        return;
    }
    const struct source *s = &m->s[i];
    for (uint32_t j = s->start[k]; j < s->start[k + 1]; j++) {
        slot_at(m, m->size)[i] = s->list[j];
        combine(m, d, k, i + 1);
    }
}

static void composite_collect(struct collector *c, const struct doc_run *d)
{
    struct composite *m = (struct composite *)c;
    for (uint32_t i = 0; i < m->n; i++) {
        if (!load_source(m, &m->s[i], d)) {
            return;
        }
    }
    for (uint32_t k = 0; k < d->n; k++) {
        combine(m, d, k, 0);
    }
    for (uint32_t k = 0; c->n_subs > 0 && !m->second && k < d->n; k++) {
        if (!run_reserve(c->run, &m->noted, &m->cap_noted, m->n_noted + 1, sizeof(*m->noted))) {
            return;
        }
        m->noted[m->n_noted++] = (struct put_off){.doc = c->run->leaf->base + d->docs[k],
                                                  .score = d->scores != NULL ? d->scores[k] : 0};
    }
    collector_flush(c);
}

static enum err composite_leaf(struct collector *c, struct errmsg *em)
{
    struct composite *m = (struct composite *)c;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < m->n; i++) {
        e = values_leaf(&m->s[i].v, em);
    }
    return e;
}

/* ---- the second pass and results ------------------------------------------------------------------------- */

/* Heap sort: the heap becomes the slots in order. */
static enum err rank_slots(struct composite *m, struct errmsg *em)
{
    uint32_t n = m->used;
    m->rank = ARENA_ARRAY(m->c.run->arena, uint32_t, (size_t)n + 1);
    if (m->rank == NULL) {
        return err_no_memory(em);
    }
    while (m->used > 1) {
        uint32_t last = m->heap[0];
        m->heap[0] = m->heap[--m->used];
        m->heap[m->used] = last;
        heap_down(m->heap, m->used, 0, sizeof(*m->heap), later, &m);
    }
    m->used = n;
    for (uint32_t i = 0; i < n; i++) {
        m->rank[m->heap[i]] = i;
    }
    return ERR_OK;
}

static enum err composite_finish(struct collector *c, struct errmsg *em)
{
    struct composite *m = (struct composite *)c;
    struct agg_run *r = c->run;
    const struct view *view = r->cx->shard->view;
    enum err e = rank_slots(m, em);
    doc_id docs[BATCH];
    float scores[BATCH];
    uint32_t at = 0;
    m->second = true;
    for (uint32_t i = 0; e == ERR_OK && c->n_subs > 0 && i < view->n_leaves; i++) {
        const struct leaf *leaf = &view->leaves[i];
        r->leaf = leaf;
        r->scorer = NULL;
        e = collector_leaf(c, em);
        while (e == ERR_OK && at < m->n_noted && m->noted[at].doc < leaf->base + leaf->doc_count) {
            struct doc_run d = {docs, NULL, r->scores ? scores : NULL, 0};
            for (; d.n < BATCH && at < m->n_noted && m->noted[at].doc < leaf->base + leaf->doc_count; at++) {
                docs[d.n] = m->noted[at].doc - leaf->base;
                scores[d.n++] = m->noted[at].score;
            }
            composite_collect(c, &d);
        }
        collector_leaf_end(c);
    }
    if (e == ERR_OK && r->failed != ERR_OK) {
        err_copy(em, &r->em);
        e = r->failed;
    }
    return e;
}

static bool part_key(struct source *s, const struct part *p, struct agg_key *out)
{
    if (p->null) {
        *out = (struct agg_key){.kind = KEY_NULL};
        return true;
    }
    if (s->text) {
        *out = (struct agg_key){.kind = KEY_STR, .s = dict_text(&s->v.dict, (uint32_t)p->v)};
        return out->s.p != NULL;
    }
    bool fraction =
        s->spec->kind == COMPOSITE_HISTOGRAM || (s->spec->kind == COMPOSITE_TERMS && s->v.floating);
    *out = fraction ? (struct agg_key){.kind = KEY_F64, .d = num_to_double(p->v)}
                    : (struct agg_key){.kind = KEY_I64, .i = p->v};
    return true;
}

static enum err composite_build(struct collector *c, UNUSED uint32_t owner, struct agg_result *out,
                                struct errmsg *em)
{
    struct composite_result *own = composite_result(out);
    struct composite *m = (struct composite *)c;
    out->form = RESULT_PLAIN;
    out->n = m->used;
    own->n_shapes = m->n;
    out->buckets = ARENA_ARRAY(c->run->arena, struct agg_bucket, m->used);
    own->shapes = ARENA_ARRAY(c->run->arena, struct value_shape *, m->n);
    if (out->buckets == NULL || own->shapes == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        own->shapes[i] = m->s[i].v.shape;
    }
    for (uint32_t i = 0; i < m->used; i++) {
        struct agg_key *keys = ARENA_ARRAY(c->run->arena, struct agg_key, m->n);
        if (keys == NULL) {
            return err_no_memory(em);
        }
        uint32_t slot = m->heap[i];
        for (uint32_t k = 0; k < m->n; k++) {
            if (!part_key(&m->s[k], slot_at(m, slot) + k, &keys[k])) {
                return err_no_memory(em);
            }
        }
        out->buckets[i].keys = keys;
        out->buckets[i].doc_count = m->counts[slot];
        enum err e = collector_subs(c, i, &out->buckets[i].subs, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- binding --------------------------------------------------------------------------------------------- */

/* Dates without a format are shown as numbers here, unlike everywhere else. */
static void fix_shape(struct source *s)
{
    struct value_shape *shape = s->v.shape;
    if (s->spec->kind == COMPOSITE_GEOTILE) {
        shape->kind = FORMAT_GEOTILE;
    } else if (shape->kind == FORMAT_DATE && s->spec->vs.format.p == NULL
               && s->spec->kind != COMPOSITE_HISTOGRAM) {
        shape->kind = FORMAT_RAW;
    }
}

static enum err check_place(const struct agg *a, struct errmsg *em)
{
    const struct agg *parent = a->parent;
    while (parent->type->nests) {
        parent = parent->parent;
    }
    if (parent->type != &agg_type_root) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "[composite] aggregation cannot be used with a parent aggregation of type: [%s]",
                       parent->type->factory);
    }
    return ERR_OK;
}

/* The memory for `size` combinations; the size is known to be reasonable. */
static enum err make_slots(struct composite *m, struct arena *arena, struct errmsg *em)
{
    m->size = (uint32_t)composite_params(m->c.agg)->size;
    for (m->n_table = 16; m->n_table < 2 * m->size;) {
        m->n_table *= 2;
    }
    m->slots = ARENA_ARRAY(arena, struct part, (size_t)(m->size + 1) * m->n);
    m->counts = ARENA_ARRAY(arena, int64_t, m->size);
    m->heap = ARENA_ARRAY(arena, uint32_t, m->size);
    m->table = ARENA_ARRAY(arena, uint32_t, m->n_table);
    bool made = m->slots != NULL && m->counts != NULL && m->heap != NULL && m->table != NULL;
    return made ? ERR_OK : err_no_memory(em);
}

static enum err composite_check(struct collector *c, struct errmsg *em)
{
    const struct agg *a = c->agg;
    int64_t max = c->run->cx->shard->max_buckets > 0 ? c->run->cx->shard->max_buckets : AGG_BUCKETS_MAX;
    if (composite_params(a)->size > max) {
        return err_too_many_buckets(max, composite_params(a)->size, em);
    }
    if (composite_params(a)->size < 0) {
        return err_set(em, ERR_NEGATIVE_ARRAY_SIZE, "%lld", (long long)composite_params(a)->size);
    }
    if (composite_params(a)->size == 0) {
        return err_set(em, ERR_NULL_POINTER, "composite of no buckets");
    }
    return make_slots((struct composite *)c, c->run->arena, em);
}

static const struct collector_ops composite_ops = {.check = composite_check,
                                                   .leaf = composite_leaf,
                                                   .collect = composite_collect,
                                                   .finish = composite_finish,
                                                   .build = composite_build};

enum err composite_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em)
{
    const struct composite_params *given = composite_params(a);
    struct composite *m = ARENA_NEW(r->arena, struct composite);
    if (m == NULL) {
        return err_no_memory(em);
    }
    *out = &m->c;
    enum err e = check_place(a, em);
    e = e == ERR_OK ? collector_init(&m->c, &composite_ops, r, a, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    m->n = given->n;
    m->s = ARENA_ARRAY(r->arena, struct source, m->n);
    if (m->s == NULL) {
        return err_no_memory(em);
    }
    e = composite_bind(m, given, em);
    if (e == ERR_OK && m->n > 0) {
        m->s[0].once = composite_lead_once(r, a, m->s[0].v.field, m->after == NULL || m->after[0].null);
    }
    for (uint32_t i = 0; e == ERR_OK && i < m->n; i++) {
        fix_shape(&m->s[i]);
    }
    return e;
}
