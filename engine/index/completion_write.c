#include <stdlib.h>

#include "common/base/arena.h"
#include "engine/index/completion_int.h"

/* An entry and its strings, one behind the other, in the writer's buffer. */
struct writer_entry {
    size_t at; /* path, input */
    uint32_t path_n, input_n;
    uint32_t weight;
    doc_id doc;
};

struct completion_writer {
    const struct allocator *alloc;
    struct writer_entry *v;
    size_t n, cap;
    struct buf text;
};

enum err completion_writer_new(struct completion_writer **out, const struct allocator *alloc,
                               struct errmsg *em)
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

enum err completion_writer_add(struct completion_writer *w, const struct completion_entry *e,
                               struct errmsg *em)
{
    if (w->n == w->cap) {
        size_t cap = MAX_OF(w->cap * 2, (size_t)16);
        struct writer_entry *v = w->alloc->resize(w->alloc->self, w->v, cap * sizeof(*v));
        if (v == NULL) {
            return err_no_memory(em);
        }
        w->v = v;
        w->cap = cap;
    }
    size_t at = w->text.n;
    buf_str(&w->text, e->path);
    buf_str(&w->text, e->input);
    if (w->text.failed) {
        w->text.failed = false;
        buf_truncate(&w->text, at);
        return err_no_memory(em);
    }
    w->v[w->n++] = (struct writer_entry){at, (uint32_t)e->path.n, (uint32_t)e->input.n, e->weight, e->doc};
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

static struct completion_entry entry_of(const struct completion_writer *w, const struct writer_entry *k)
{
    const char *at = w->text.p + k->at;
    return (struct completion_entry){str_mk(at, k->path_n), str_mk(at + k->path_n, k->input_n), k->weight,
                                     k->doc};
}

static int completion_input_compare(const void *a, const void *b, void *self)
{
    const struct completion_writer *w = self;
    const struct writer_entry *x = a, *y = b;
    struct completion_entry ex = entry_of(w, x), ey = entry_of(w, y);
    int order = completion_compare(&ex, &ey);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

enum err completion_writer_finish(struct completion_writer *w, struct buf *out, struct errmsg *em)
{
    struct completion_out o;
    completion_out_init(&o, w->alloc);
    if (w->n > 0) {
        qsort_r(w->v, w->n, sizeof(*w->v), completion_input_compare, w);
    }
    for (size_t i = 0; i < w->n; i++) {
        struct completion_entry e = entry_of(w, &w->v[i]);
        completion_out_add(&o, &e);
    }
    enum err e = completion_out_end(&o, em);
    buf_add(out, o.to.p, o.to.n);
    if (e == ERR_OK && out->failed) {
        e = err_no_memory(em);
    }
    completion_out_fini(&o);
    w->n = 0;
    buf_reset(&w->text);
    return e;
}
