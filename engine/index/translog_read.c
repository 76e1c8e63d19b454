#include "engine/index/translog.h"

#include <inttypes.h>
#include <stdio.h>

static enum err add_file(struct tlog_reader *r, const struct translog *t, const struct tlog_gen *g,
                         struct errmsg *em)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/" TLOG_PREFIX "%" PRIu64, t->o.dir, g->header.generation);
    struct tlog_part p = {.generation = g->header.generation,
                          .at = tlog_header_bytes(&g->header),
                          .end = g->written,
                          .trim = translog_trim_of(t, g->header.generation)};
    enum err e = r->fs->map(r->fs->self, path, &p.map, em);
    if (e != ERR_OK) {
        return e;
    }
    r->parts[r->n_parts++] = p;
    if (p.map.n < p.end) {
        return err_set(em, ERR_CORRUPT, "translog generation [%" PRIu64 "] is cut short",
                       g->header.generation);
    }
    return ERR_OK;
}

static enum err add_chunk(struct tlog_reader *r, const struct translog *t, const struct tlog_chunk *c,
                          struct errmsg *em)
{
    size_t skip = c->create ? TLOG_HEADER_BYTES : 0;
    if (c->bytes.n <= skip) {
        return ERR_OK;
    }
    struct tlog_part p = {.generation = c->generation,
                          .at = c->at + skip,
                          .start = c->at + skip,
                          .end = c->at + c->bytes.n,
                          .trim = translog_trim_of(t, c->generation)};
    p.bytes = alloc_get(r->alloc, c->bytes.n - skip);
    if (p.bytes == NULL) {
        return err_no_memory(em);
    }
    memcpy(p.bytes, c->bytes.p + skip, c->bytes.n - skip);
    r->parts[r->n_parts++] = p;
    return ERR_OK;
}

static size_t chunk_count(const struct tlog_chunk *c)
{
    size_t n = 0;
    for (; c != NULL; c = c->next) {
        n++;
    }
    return n;
}

enum err tlog_reader_open(struct tlog_reader *r, const struct translog *t, uint64_t from, struct errmsg *em)
{
    *r = (struct tlog_reader){.fs = t->o.fs, .alloc = t->o.alloc};
    const struct tlog_chunk *lists[2] = {t->out != NULL ? t->out->chunks : NULL, t->first};
    size_t n = t->n_gens + chunk_count(lists[0]) + chunk_count(lists[1]);
    r->parts = alloc_get(r->alloc, n * sizeof(*r->parts));
    if (r->parts == NULL) {
        return err_no_memory(em);
    }
    enum err e = ERR_OK;
    for (size_t i = 0; i < t->n_gens && e == ERR_OK; i++) {
        const struct tlog_gen *g = &t->gens[i];
        if (g->header.generation >= from) {
            r->total += g->sum.ops;
            e = g->written > tlog_header_bytes(&g->header) ? add_file(r, t, g, em) : ERR_OK;
        }
    }
    for (size_t l = 0; l < 2; l++) {
        for (const struct tlog_chunk *c = lists[l]; c != NULL && e == ERR_OK; c = c->next) {
            e = c->generation >= from ? add_chunk(r, t, c, em) : ERR_OK;
        }
    }
    if (e != ERR_OK) {
        tlog_reader_close(r);
    }
    return e;
}

enum err tlog_reader_next(struct tlog_reader *r, struct engine_op *op, bool *more, struct errmsg *em)
{
    while (r->part < r->n_parts) {
        struct tlog_part *p = &r->parts[r->part];
        if (p->at >= p->end) {
            r->part++;
            continue;
        }
        const char *base = p->bytes != NULL ? p->bytes : (const char *)p->map.p;
        struct tlog_record rec;
        struct str rest = str_mk(base + (p->at - p->start), (size_t)(p->end - p->at));
        enum err e = tlog_decode(&rec, rest, p->generation, p->at, em);
        if (e != ERR_OK) {
            return e;
        }
        p->at += rec.size;
        if (rec.kind != TLOG_GLOBAL && rec.kind != TLOG_END && rec.op.seq_no <= p->trim) {
            *op = rec.op;
            *more = true;
            return ERR_OK;
        }
    }
    *more = false;
    return ERR_OK;
}

void tlog_reader_close(struct tlog_reader *r)
{
    for (size_t i = 0; i < r->n_parts; i++) {
        if (r->parts[i].bytes != NULL) {
            alloc_put(r->alloc, r->parts[i].bytes);
        } else {
            r->fs->unmap(r->fs->self, &r->parts[i].map);
        }
    }
    if (r->alloc != NULL) {
        alloc_put(r->alloc, r->parts);
    }
    *r = (struct tlog_reader){0};
}
