/* Merging: documents are numbered anew in the order of the sources; every section is read in the order in
 * which it is written. */
#include <stdlib.h>

#include "engine/index/merge_int.h"
#include "engine/index/stored_int.h"
#include "engine/index/stored_write.h"

bool merge_stopped(struct merging *m)
{
    if (m->out.err == ERR_OK && (m->polls++ & 1023) == 0 && m->io->cancelled != NULL
        && m->io->cancelled(m->io->self)) {
        seg_out_fail(&m->out, err_set(m->em, ERR_CANCELLED, "merge was cancelled"));
    }
    return m->out.err != ERR_OK;
}

void merge_corrupt(struct merging *m)
{
    if (m->out.err == ERR_OK) {
        seg_out_fail(&m->out, err_set(m->em, ERR_CORRUPT, "segment: damaged bytes met while merging"));
    }
}

void *merge_alloc(struct merging *m, size_t n)
{
    void *p = calloc(1, MAX_OF(n, (size_t)1));
    if (p == NULL) {
        seg_out_fail(&m->out, err_no_memory(m->em));
    }
    return p;
}

static bool heap_before(const struct merge_heap *h, uint32_t a, uint32_t b)
{
    int order = h->compare(h->self, a, b);
    return order < 0 || (order == 0 && a < b);
}

void merge_heap_push(struct merge_heap *h, uint32_t source)
{
    uint32_t at = h->n++;
    for (; at > 0 && heap_before(h, source, h->v[(at - 1) / 2]); at = (at - 1) / 2) {
        h->v[at] = h->v[(at - 1) / 2];
    }
    h->v[at] = source;
}

void merge_heap_down(struct merge_heap *h)
{
    uint32_t source = h->v[0], at = 0;
    for (uint32_t child; (child = 2 * at + 1) < h->n; at = child) {
        child += child + 1 < h->n && heap_before(h, h->v[child + 1], h->v[child]);
        if (!heap_before(h, h->v[child], source)) {
            break;
        }
        h->v[at] = h->v[child];
    }
    h->v[at] = source;
}

void merge_heap_pop(struct merge_heap *h)
{
    h->v[0] = h->v[--h->n];
    if (h->n > 0) {
        merge_heap_down(h);
    }
}

static enum err number_documents(struct merging *m, struct arena *arena)
{
    uint64_t next = 0;
    m->remap = ARENA_ARRAY(arena, doc_id *, m->n);
    for (size_t i = 0; m->remap != NULL && i < m->n; i++) {
        const struct merge_source *s = &m->sources[i];
        uint32_t n = segment_doc_count(s->segment);
        m->remap[i] = arena_alloc(arena, (size_t)n * sizeof(doc_id));
        if (m->remap[i] == NULL) {
            return err_no_memory(m->em);
        }
        for (uint32_t d = 0; d < n; d++) {
            bool live = s->live == NULL || bits_test(s->live, d);
            m->remap[i][d] = live ? (doc_id)next++ : DOC_END;
        }
        if (next > SEG_DOCS_MAX) {
            return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "a segment cannot hold over %u documents",
                           SEG_DOCS_MAX);
        }
    }
    m->doc_count = (uint32_t)next;
    return m->remap != NULL ? ERR_OK : err_no_memory(m->em);
}

static void merge_stored(struct merging *m)
{
    struct stored_writer w;
    stored_writer_init(&w, &m->out);
    for (size_t i = 0; i < m->n; i++) {
        const struct segment *s = m->sources[i].segment;
        struct stored_reader r;
        stored_reader_init(&r, s);
        for (doc_id d = 0; d < s->doc_count && !merge_stopped(m); d++) {
            struct str record;
            if (m->remap[i][d] == DOC_END) {
                continue;
            }
            enum err e = stored_record(&r, d, &record, m->em);
            if (e != ERR_OK) {
                seg_out_fail(&m->out, e);
                break;
            }
            stored_writer_doc(&w, m->remap[i][d], record);
        }
        stored_reader_fini(&r);
    }
    stored_writer_finish(&w, &m->dir.stored);
    stored_writer_fini(&w);
}

static void merge_roots(struct merging *m)
{
    bool all = true;
    for (size_t i = 0; i < m->n; i++) {
        all &= m->sources[i].segment->roots == NULL;
    }
    uint64_t *bits = all ? NULL : merge_alloc(m, (bits_words(m->doc_count) + 1) * sizeof(*bits));
    if (bits == NULL) {
        return;
    }
    for (size_t i = 0; i < m->n; i++) {
        const struct segment *s = m->sources[i].segment;
        for (doc_id d = 0; d < s->doc_count; d++) {
            if (m->remap[i][d] != DOC_END && (s->roots == NULL || bits_test(s->roots, d))) {
                bits_set(bits, m->remap[i][d]);
            }
        }
    }
    if (bits_count(bits, m->doc_count) < m->doc_count) {
        seg_out_begin(&m->out, SECTION_ROOTS);
        seg_out_bytes(&m->out, bits, bits_words(m->doc_count) * sizeof(*bits));
        m->dir.roots = seg_out_end(&m->out);
    }
    free(bits);
}

/* What the result keeps of the field: everything that some source has, but of terms no more than all sources
 * with terms have (norms and the like can be turned off by a later mapping). */
static uint32_t merged_flags(const struct merge_field *f)
{
    const uint32_t details = SEG_FREQS | SEG_POSITIONS | SEG_OFFSETS | SEG_NORMS;
    uint32_t any = 0, all = details;
    for (size_t i = 0; i < f->m->n; i++) {
        if (f->in[i] != NULL) {
            any |= f->in[i]->has;
            all &= f->in[i]->has & SEG_TERMS ? f->in[i]->has : details;
        }
    }
    return (any & ~details) | (any & all & details);
}

static void free_ords(struct merge_field *f)
{
    for (size_t i = 0; i < f->m->n && f->ords != NULL; i++) {
        free(f->ords[i]);
    }
    free(f->ords);
}

/* In the order of read_field() in directory_read.c. */
static void merge_field(struct merge_field *f)
{
    struct merging *m = f->m;
    struct directory_field df = {.name = f->name, .has = f->has = merged_flags(f)};
    struct buf norms_meta;
    uint8_t *norms = NULL;
    buf_reset(&m->meta);
    buf_init(&norms_meta, NULL, BUF_UNLIMITED);
    if (f->has & SEG_NORMS) {
        norms = merge_alloc(m, (size_t)m->doc_count + 1);
        if (norms != NULL) {
            merge_norms(f, norms);
        }
        f->norms = norms;
        buf_add(&norms_meta, m->meta.p, m->meta.n);
        buf_reset(&m->meta);
    }
    if (f->has & (SEG_TERMS | SEG_ORDS)) {
        merge_terms(f, &df);
    }
    buf_add(&m->meta, norms_meta.p, norms_meta.n);
    if (f->has & SEG_NUMS) {
        merge_nums(f);
    }
    if (f->has & SEG_ORDS) {
        merge_ordinals(f);
    }
    if (f->has & SEG_BYTES) {
        merge_bytes(f, false);
    }
    if (f->has & SEG_RANGES) {
        merge_bytes(f, true);
    }
    if (f->has & SEG_POINTS) {
        merge_points(f);
    }
    if (f->has & SEG_GEO) {
        merge_geo(f);
    }
    if (f->has & SEG_COMPLETION) {
        merge_completion(f);
    }
    seg_out_check(&m->out, &norms_meta);
    directory_add(&m->dir, &df, &m->meta);
    free_ords(f);
    buf_fini(&norms_meta);
    free(norms);
}

/* Walks the sources' fields, all sorted by name, side by side. */
static void merge_fields(struct merging *m)
{
    uint32_t *at = merge_alloc(m, m->n * sizeof(*at));
    const struct seg_field **in = merge_alloc(m, m->n * sizeof(struct seg_field *));
    while (at != NULL && in != NULL && !merge_stopped(m)) {
        const struct seg_field *least = NULL;
        for (size_t i = 0; i < m->n; i++) {
            const struct segment *s = m->sources[i].segment;
            if (at[i] < s->n_fields && (least == NULL || str_cmp(s->fields[at[i]].name, least->name) < 0)) {
                least = &s->fields[at[i]];
            }
        }
        if (least == NULL) {
            break;
        }
        for (size_t i = 0; i < m->n; i++) {
            const struct segment *s = m->sources[i].segment;
            bool has = at[i] < s->n_fields && str_eq(s->fields[at[i]].name, least->name);
            in[i] = has ? &s->fields[at[i]++] : NULL;
        }
        merge_field(&(struct merge_field){.m = m, .name = least->name, .in = in});
    }
    free(at);
    free(in);
}

static enum err verify_sources(struct merging *m)
{
    for (size_t i = 0; i < m->n; i++) {
        m->polls = 0;
        enum err e = merge_stopped(m) ? m->out.err : segment_verify(m->sources[i].segment, m->em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err segment_merge(const struct merge_source *sources, size_t n, const struct merge_io *io,
                       struct arena *arena, doc_id ***remap, struct errmsg *em)
{
    struct merging m = {.sources = sources, .n = n, .io = io, .em = em};
    seg_out_init(&m.out, io->path != NULL ? io->fs : NULL, io->path, io->memory, em);
    directory_init(&m.dir, &m.out);
    buf_init(&m.meta, NULL, BUF_UNLIMITED);
    enum err e = m.out.err;
    e = e == ERR_OK ? verify_sources(&m) : e;
    e = e == ERR_OK ? number_documents(&m, arena) : e;
    if (e == ERR_OK) {
        merge_stored(&m);
        merge_roots(&m);
        merge_ids(&m);
        merge_fields(&m);
        seg_out_check(&m.out, &m.meta);
        e = m.out.err == ERR_OK ? directory_finish(&m.dir, m.doc_count) : m.out.err;
        for (size_t i = 0; i < n && e == ERR_OK; i++) {
            e = segment_damage(sources[i].segment, em); /* since it was verified */
        }
    }
    directory_fini(&m.dir);
    seg_out_fini(&m.out);
    buf_fini(&m.meta);
    if (e != ERR_OK && io->path != NULL) {
        io->fs->remove(io->fs->self, io->path, NULL);
    }
    if (remap != NULL) {
        *remap = e == ERR_OK ? m.remap : NULL;
    }
    return e;
}
