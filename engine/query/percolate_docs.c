/* The documents of a percolate query: indexed in memory, and what their terms say of the queries that may match them. */
#include "common/base/arena_list.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "engine/index/segment_writer.h"
#include "engine/query/build.h"
#include "engine/query/held_query.h"
#include "engine/query/percolate.h"

struct indexing {
    struct builder *b;
    struct percolate *own;
    struct mapping *grown; /* with what dynamic mapping adds; NULL: nothing so far */
    struct index_buffer *buffer;
    struct errmsg *em;
};

static enum err parse_doc(struct indexing *x, const struct source_to_parse *in, struct parsed_doc *doc)
{
    const struct query_context *cx = x->b->cx;
    const struct mapping *m = x->grown != NULL ? x->grown : cx->mapping;
    enum err e = document_parse(doc, m, in, x->b->arena, x->em);
    if (e != ERR_OK || doc->mapping_update == NULL) {
        return e;
    }
    struct mapping *grown;
    e = mapping_published(&grown, m, doc->mapping_update, mapping_analysis(m), cx->index_settings,
                          mapping_type(m), x->em);
    if (e != ERR_OK) {
        return e;
    }
    mapping_unref(x->grown);
    x->grown = grown;
    e = document_parse(doc, grown, in, x->b->arena, x->em);
    return e == ERR_OK && doc->mapping_update != NULL
               ? err_set(x->em, ERR_ILLEGAL_STATE, "dynamic mapping of a document does not settle")
               : e;
}

static enum err add_docs(struct indexing *x)
{
    const struct query_context *cx = x->b->cx;
    struct held_query_reader reader;
    enum err e = ERR_OK;
    held_query_reader_init(&reader, cx->index_name, cx->index_uuid, cx->index_settings, cx->now_ms, false);
    for (uint32_t i = 0; e == ERR_OK && i < x->own->n_docs; i++) {
        struct source_to_parse in = {.index_name = cx->index_name,
                                     .id = STR("_temp_id"),
                                     .source = x->own->docs[i],
                                     .dynamic_allowed = true,
                                     .queries = &reader.base};
        struct doc_meta meta = {.seq_no = i, .primary_term = 1, .version = 1};
        struct parsed_doc doc;
        doc_id root;
        if (stop_now()) {
            return err_set(x->em, ERR_CANCELLED, "task cancelled");
        }
        e = parse_doc(x, &in, &doc);
        /* Lucene keeps a single document in another kind of index than several, or one with nested documents. */
        index_buffer_count_terms(x->buffer, x->own->n_docs == 1 && e == ERR_OK && doc.n_parts == 1);
        e = e == ERR_OK ? index_buffer_add(x->buffer, &doc, &meta, &root, x->em) : e;
    }
    return e;
}

static void segment_end(void *p)
{
    segment_unref(p);
}

static enum err open_view(struct indexing *x)
{
    const struct allocator *alloc = x->b->arena->alloc;
    struct percolate *own = x->own;
    struct segment *segment;
    struct buf out;
    size_t n = 0;
    buf_init(&out, alloc, BUF_UNLIMITED);
    enum err e = index_buffer_write(x->buffer, &out, x->em);
    char *bytes = e == ERR_OK ? buf_take(&out, &n) : NULL;
    buf_fini(&out);
    if (e == ERR_OK && bytes == NULL) {
        return err_no_memory(x->em);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = segment_open_memory(&segment, bytes, n, alloc, x->em); /* takes the bytes, whatever comes of it */
    if (e != ERR_OK) {
        return e;
    }
    if (!arena_defer(x->b->arena, segment_end, segment)) {
        return err_no_memory(x->em);
    }
    own->leaf = (struct leaf){.segment = segment,
                              .roots = segment_roots(segment),
                              .doc_count = segment_doc_count(segment),
                              .live_count = own->n_docs};
    own->view = (struct view){.leaves = &own->leaf,
                              .n_leaves = 1,
                              .doc_count = own->leaf.doc_count,
                              .live_count = own->n_docs,
                              .mapping = x->b->cx->view != NULL ? x->b->cx->view->mapping : NULL,
                              .refs = 1};
    return ERR_OK;
}

static enum err index_docs(struct builder *b, struct percolate *own, struct errmsg *em)
{
    struct indexing x = {.b = b, .own = own, .em = em};
    enum err e = index_buffer_new(&x.buffer, b->arena->alloc, em);
    if (e != ERR_OK) {
        return e;
    }
    e = add_docs(&x);
    e = e == ERR_OK ? open_view(&x) : e;
    index_buffer_free(x.buffer);
    mapping_unref(x.grown);
    return e;
}

/* ---- candidates ---- */

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct doc_terms {
    struct str *v;
    size_t n, cap;
};

static enum err add_field_terms(struct builder *b, const struct seg_field *f, struct doc_terms *to,
                                struct errmsg *em)
{
    struct term_iter it;
    enum err e = ERR_OK;
    term_iter_init(&it, f);
    while (e == ERR_OK && term_iter_next(&it) && !stop_often()) {
        struct str both = held_query_term(f->name, it.term, b->arena);
        e = both.p != NULL && ARENA_ADD(b->arena, to->v, to->n, to->cap, both) ? ERR_OK : err_no_memory(em);
    }
    term_iter_fini(&it);
    return e;
}

/* Queries that need any of the documents' terms, or nothing that is known. */
static enum err candidates(struct builder *b, struct percolate *own, struct errmsg *em)
{
    const struct segment *s = own->leaf.segment;
    struct doc_terms terms = {0};
    struct query *q = qnode_new(b, &q_terms), *constant;
    enum err e = q != NULL && ARENA_ADD(b->arena, terms.v, terms.n, terms.cap, STR(HELD_QUERY_ANY))
                     ? ERR_OK
                     : err_no_memory(em);
    for (uint32_t i = 0; e == ERR_OK && i < segment_field_count(s); i++) {
        const struct seg_field *f = segment_field_at(s, i);
        if ((f->has & SEG_TERMS) != 0 && f->name.n > 0 && f->name.p[0] != '_') {
            e = add_field_terms(b, f, &terms, em);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    sort_items(terms.v, terms.n, sizeof(*terms.v), by_bytes);
    q->field = own->field->needed;
    q->field_name = own->field->needed->path;
    q->terms.v = terms.v;
    q->terms.n = (uint32_t)terms.n;
    e = qnode_constant(b, q, &constant, em);
    own->candidates = constant;
    return e;
}

enum err percolate_index(struct builder *b, struct percolate *p, struct errmsg *em)
{
    enum err e = index_docs(b, p, em);
    return e == ERR_OK ? candidates(b, p, em) : e;
}
