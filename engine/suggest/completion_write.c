#include <stdlib.h>

#include "common/base/arena.h"
#include "engine/suggest/completion_int.h"

/* An entry and its strings, one behind the other, in the writer's buffer. */
struct kept {
    size_t at; /* path, input, contexts */
    uint32_t path_n, input_n, contexts_n;
    uint32_t weight;
    doc_id doc;
};

struct completion_writer {
    const struct allocator *alloc;
    struct kept *v;
    size_t n, cap;
    struct buf text;
};

enum err completion_writer_new(struct completion_writer **out, const struct allocator *alloc, struct errmsg *em)
{
    alloc = alloc != NULL ? alloc : alloc_default();
    struct completion_writer *w = alloc_get(alloc, sizeof(*w));
    *out = w;
    if (w == NULL) {
        return err_no_memory(em);
    }
    *w = (struct completion_writer){.alloc = alloc};
    buf_init(&w->text, alloc, BUF_UNLIMITED);
    return ERR_OK;
}

void completion_writer_free(struct completion_writer *w)
{
    if (w != NULL) {
        alloc_put(w->alloc, w->v);
        buf_fini(&w->text);
        alloc_put(w->alloc, w);
    }
}

enum err completion_writer_add(struct completion_writer *w, const struct completion_entry *e, struct errmsg *em)
{
    if (w->n == w->cap) {
        size_t cap = MAX_OF(w->cap * 2, (size_t)16);
        struct kept *v = w->alloc->resize(w->alloc->self, w->v, cap * sizeof(*v));
        if (v == NULL) {
            return err_no_memory(em);
        }
        w->v = v;
        w->cap = cap;
    }
    size_t at = w->text.n;
    buf_str(&w->text, e->path);
    buf_str(&w->text, e->input);
    buf_str(&w->text, e->contexts);
    if (w->text.failed) {
        w->text.failed = false;
        buf_truncate(&w->text, at);
        return err_no_memory(em);
    }
    w->v[w->n++] = (struct kept){at,        (uint32_t)e->path.n, (uint32_t)e->input.n, (uint32_t)e->contexts.n,
                                 e->weight, e->doc};
    return ERR_OK;
}

size_t completion_writer_bytes(const struct completion_writer *w)
{
    return w->n * sizeof(*w->v) + w->text.n;
}

void completion_writer_cut(struct completion_writer *w, size_t bytes)
{
    while (w->n > 0 && completion_writer_bytes(w) > bytes) {
        buf_truncate(&w->text, w->v[--w->n].at);
    }
}

static struct str path_of(const struct completion_writer *w, const struct kept *k)
{
    return str_mk(w->text.p + k->at, k->path_n);
}

static int compare(const void *a, const void *b, void *self)
{
    const struct completion_writer *w = self;
    const struct kept *x = a, *y = b;
    int order = str_cmp(path_of(w, x), path_of(w, y));
    if (order != 0) {
        return order;
    }
    if (x->weight != y->weight) {
        return x->weight > y->weight ? -1 : 1;
    }
    if (x->doc != y->doc) {
        return x->doc < y->doc ? -1 : 1;
    }
    return (x->at > y->at) - (x->at < y->at);
}

static void put_entry(struct completion_writer *w, const struct kept *k, struct str last, struct buf *out)
{
    struct str path = path_of(w, k);
    size_t shared = 0, most = MIN_OF(last.n, path.n);
    while (shared < most && last.p[shared] == path.p[shared]) {
        shared++;
    }
    put_varint(out, shared);
    put_str(out, str_slice(path, shared, path.n));
    put_varint(out, k->weight);
    put_varint(out, k->doc);
    put_str(out, str_mk(w->text.p + k->at + k->path_n, k->input_n));
    put_str(out, str_mk(w->text.p + k->at + k->path_n + k->input_n, k->contexts_n));
}

/* The greatest weights of groups of the level below, level by level, until one is left. */
static void put_weight_levels(struct buf *weights)
{
    size_t begin = 0, n = weights->n / 4;
    while (n > 1 && !weights->failed) {
        size_t above = (n + COMPLETION_FAN - 1) / COMPLETION_FAN;
        for (size_t i = 0; i < above; i++) {
            uint32_t most = 0;
            for (size_t k = i * COMPLETION_FAN; k < MIN_OF((i + 1) * COMPLETION_FAN, n); k++) {
                most = MAX_OF(most, load_u32(weights->p + 4 * (begin + k)));
            }
            put_u32(weights, most);
        }
        begin += n;
        n = above;
    }
}

enum err completion_writer_finish(struct completion_writer *w, struct buf *out, struct errmsg *em)
{
    struct buf blocks, offsets, weights;
    buf_init(&blocks, w->alloc, BUF_UNLIMITED);
    buf_init(&offsets, w->alloc, BUF_UNLIMITED);
    buf_init(&weights, w->alloc, BUF_UNLIMITED);
    if (w->n > 0) {
        qsort_r(w->v, w->n, sizeof(*w->v), compare, w);
    }
    for (size_t i = 0; i < w->n; i += COMPLETION_BLOCK) {
        struct str last = STR_NULL;
        uint32_t most = 0;
        put_u64(&offsets, blocks.n);
        for (size_t k = i; k < MIN_OF(i + COMPLETION_BLOCK, w->n); k++) {
            put_entry(w, &w->v[k], last, &blocks);
            last = path_of(w, &w->v[k]);
            most = MAX_OF(most, w->v[k].weight);
        }
        put_u32(&weights, most);
    }
    put_weight_levels(&weights);
    uint8_t header[COMPLETION_HEADER_BYTES] = {0};
    store_u32(header, COMPLETION_VERSION);
    store_u32(header + 4, (uint32_t)(offsets.n / 8));
    store_u64(header + 8, w->n);
    store_u64(header + 16, weights.n / 4);
    store_u64(header + 24, blocks.n);
    buf_add(out, header, sizeof(header));
    buf_add(out, offsets.p, offsets.n);
    buf_add(out, weights.p, weights.n);
    buf_add(out, blocks.p, blocks.n);
    enum err e = blocks.failed || offsets.failed || weights.failed || out->failed ? err_no_memory(em) : ERR_OK;
    w->n = 0;
    buf_reset(&w->text);
    buf_fini(&blocks);
    buf_fini(&offsets);
    buf_fini(&weights);
    return e;
}
