/* The merging of data that has an order of its own: sorted numbers, geo points, completions. */
#include <stdlib.h>

#include "engine/index/completion_int.h"
#include "engine/index/merge_int.h"

struct point_merge {
    struct merge_field *f;
    struct points_iter *iters;
    int64_t *values; /* what each source has next */
    doc_id *docs;
    struct merge_heap heap;
    bool begun;
};

static int compare_points(void *self, uint32_t a, uint32_t b)
{
    const struct point_merge *p = self;
    return (p->values[a] > p->values[b]) - (p->values[a] < p->values[b]);
}

/* To a source's next live point. */
static bool advance_point(struct point_merge *p, uint32_t source)
{
    doc_id doc;
    while (points_iter_next(&p->iters[source], &p->values[source], &doc)) {
        p->docs[source] = p->f->m->remap[source][doc];
        if (p->docs[source] != DOC_END) {
            return true;
        }
    }
    if (p->iters[source].corrupt) {
        merge_corrupt(p->f->m);
    }
    return false;
}

static bool next_point(void *self, int64_t *value, doc_id *doc)
{
    struct point_merge *p = self;
    if (p->begun && p->heap.n > 0) {
        if (advance_point(p, p->heap.v[0])) {
            merge_heap_down(&p->heap);
        } else {
            merge_heap_pop(&p->heap);
        }
    }
    p->begun = true;
    if (p->heap.n == 0 || merge_stopped(p->f->m)) {
        return false;
    }
    *value = p->values[p->heap.v[0]];
    *doc = p->docs[p->heap.v[0]];
    return true;
}

void merge_points(struct merge_field *f)
{
    struct merging *m = f->m;
    struct point_merge p = {.f = f};
    bool single = true;
    p.iters = merge_alloc(m, m->n * sizeof(*p.iters));
    p.values = merge_alloc(m, m->n * sizeof(*p.values));
    p.docs = merge_alloc(m, m->n * sizeof(*p.docs));
    p.heap = (struct merge_heap){&p, compare_points, merge_alloc(m, m->n * sizeof(uint32_t)), 0};
    if (m->out.err == ERR_OK) {
        for (uint32_t i = 0; i < m->n; i++) {
            if (f->in[i] != NULL && impl_of(f->in[i])->points.there) {
                p.iters[i].field = f->in[i];
                single &= impl_of(f->in[i])->points.single;
                if (advance_point(&p, i)) {
                    merge_heap_push(&p.heap, i);
                }
            }
        }
        points_write(&m->out, &(struct point_source){&p, next_point}, single, &m->meta);
    }
    free(p.iters);
    free(p.values);
    free(p.docs);
    free(p.heap.v);
}

struct geo_merge {
    struct merge_field *f;
    struct geo_iter *iters;
    struct geo_entry *entries;
    uint64_t *keys;
    struct merge_heap heap;
    bool begun;
};

static int compare_geo(void *self, uint32_t a, uint32_t b)
{
    const struct geo_merge *g = self;
    return (g->keys[a] > g->keys[b]) - (g->keys[a] < g->keys[b]);
}

static bool advance_geo(struct geo_merge *g, uint32_t source)
{
    doc_id doc;
    struct geo_entry *e = &g->entries[source];
    while (geo_iter_next(&g->iters[source], &e->lat, &e->lon, &doc)) {
        e->doc = g->f->m->remap[source][doc];
        if (e->doc != DOC_END) {
            g->keys[source] = geo_curve(e->lat, e->lon);
            return true;
        }
    }
    if (g->iters[source].corrupt) {
        merge_corrupt(g->f->m);
    }
    return false;
}

static bool next_geo(void *self, struct geo_entry *e)
{
    struct geo_merge *g = self;
    if (g->begun && g->heap.n > 0) {
        if (advance_geo(g, g->heap.v[0])) {
            merge_heap_down(&g->heap);
        } else {
            merge_heap_pop(&g->heap);
        }
    }
    g->begun = true;
    if (g->heap.n == 0 || merge_stopped(g->f->m)) {
        return false;
    }
    *e = g->entries[g->heap.v[0]];
    return true;
}

void merge_geo(struct merge_field *f)
{
    struct merging *m = f->m;
    struct geo_merge g = {.f = f};
    g.iters = merge_alloc(m, m->n * sizeof(*g.iters));
    g.entries = merge_alloc(m, m->n * sizeof(*g.entries));
    g.keys = merge_alloc(m, m->n * sizeof(*g.keys));
    g.heap = (struct merge_heap){&g, compare_geo, merge_alloc(m, m->n * sizeof(uint32_t)), 0};
    if (m->out.err == ERR_OK) {
        for (uint32_t i = 0; i < m->n; i++) {
            if (f->in[i] != NULL && impl_of(f->in[i])->geo.there) {
                g.iters[i].field = f->in[i];
                if (advance_geo(&g, i)) {
                    merge_heap_push(&g.heap, i);
                }
            }
        }
        geo_write(&m->out, &(struct geo_source){&g, next_geo}, &m->meta);
    }
    free(g.iters);
    free(g.entries);
    free(g.keys);
    free(g.heap.v);
}

struct completion_merge {
    struct merge_field *f;
    struct completion_iter *iters;
    struct merge_heap heap;
};

static int compare_completions(void *self, uint32_t a, uint32_t b)
{
    const struct completion_merge *c = self;
    return completion_compare(&c->iters[a].entry, &c->iters[b].entry);
}

/* To a source's next live entry, under its new number. */
static bool advance_completion(struct completion_merge *c, uint32_t source)
{
    struct merging *m = c->f->m;
    struct completion_iter *it = &c->iters[source];
    while (completion_iter_next(it)) {
        if (it->entry.doc >= m->sources[source].segment->doc_count) {
            it->corrupt = true;
            break;
        }
        it->entry.doc = m->remap[source][it->entry.doc];
        if (it->entry.doc != DOC_END) {
            return true;
        }
    }
    if (it->corrupt) {
        merge_corrupt(m);
    }
    return false;
}

static void write_completions(struct completion_merge *c, struct completion_out *o)
{
    struct merging *m = c->f->m;
    while (c->heap.n > 0 && !merge_stopped(m)) {
        uint32_t source = c->heap.v[0];
        completion_out_add(o, &c->iters[source].entry);
        if (o->to.n >= SEG_HASH_BYTES) {
            seg_out_bytes(&m->out, o->to.p, o->to.n);
            o->taken += o->to.n;
            buf_reset(&o->to);
        }
        if (advance_completion(c, source)) {
            merge_heap_down(&c->heap);
        } else {
            merge_heap_pop(&c->heap);
        }
    }
    seg_out_fail(&m->out, completion_out_end(o, m->em));
    seg_out_bytes(&m->out, o->to.p, o->to.n);
}

void merge_completion(struct merge_field *f)
{
    struct merging *m = f->m;
    struct completion_merge c = {.f = f};
    struct completion_out o;
    c.iters = merge_alloc(m, m->n * sizeof(*c.iters));
    c.heap = (struct merge_heap){&c, compare_completions, merge_alloc(m, m->n * sizeof(uint32_t)), 0};
    completion_out_init(&o, NULL);
    if (m->out.err == ERR_OK) {
        for (uint32_t i = 0; i < m->n; i++) {
            completion_iter_init(&c.iters[i], f->in[i] != NULL ? seg_completion_bytes(f->in[i]) : STR_NULL);
            if (advance_completion(&c, i)) {
                merge_heap_push(&c.heap, i);
            }
        }
        seg_out_begin(&m->out, SECTION_COMPLETION);
        write_completions(&c, &o);
        put_varint(&m->meta, seg_out_end(&m->out));
        for (uint32_t i = 0; i < m->n; i++) {
            completion_iter_fini(&c.iters[i]);
        }
    }
    completion_out_fini(&o);
    free(c.iters);
    free(c.heap.v);
}
