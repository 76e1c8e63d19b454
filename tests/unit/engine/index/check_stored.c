/* The naive model of what is kept by document: bytes, completions, sources and ids. */
#include <check.h>
#include <stdlib.h>

#include "common/base/bits.h"
#include "engine/index/completion_int.h"
#include "tests/unit/engine/index/check_segment_int.h"

void check_bytes(const struct model *m)
{
    const struct seg_field *bin = segment_field(m->s, STR("bin")), *span = segment_field(m->s, STR("span"));
    for (doc_id d = 0; d < m->n; d++) {
        uint32_t n_bin = 0, n_span = 0;
        struct str a, b;
        for (size_t i = 0; i < m->docs[d].part->n; i++) {
            const struct doc_value *v = &m->docs[d].part->values[i];
            if (str_is(v->field->path, "bin")) {
                ck_assert(seg_bytes_value(bin, d, n_bin++, &a));
                ck_assert(str_eq(a, v->bytes));
            } else if (str_is(v->field->path, "span")) {
                ck_assert(seg_range_value(span, d, n_span++, &a, &b));
                ck_assert_int_eq((int64_t)load_u64(a.p), v->range.from);
                ck_assert_int_eq((int64_t)load_u64(b.p), v->range.to);
            }
        }
        ck_assert(bin == NULL || !seg_bytes_value(bin, d, n_bin, &a));
        ck_assert(span == NULL || !seg_range_value(span, d, n_span, &a, &b));
    }
}

/* Every entry is some document's, in order, and there are as many as there should be. */
void check_completions(const struct model *m)
{
    const struct seg_field *f = segment_field(m->s, STR("comp"));
    struct completion_iter it;
    struct completion_entry before = {.doc = 0};
    struct buf path;
    size_t expected = 0, got = 0;
    buf_init(&path, NULL, BUF_UNLIMITED);
    completion_iter_init(&it, f != NULL ? seg_completion_bytes(f) : STR_NULL);
    for (; completion_iter_next(&it); got++) {
        bool found = false;
        struct term_info term;
        ck_assert(seg_term(f, it.entry.path, &term)); /* what suggests can be searched too */
        ck_assert_uint_lt(it.entry.doc, m->n);
        before.path = buf_view(&path);
        ck_assert(got == 0 || completion_compare(&before, &it.entry) <= 0);
        for (size_t i = 0; i < m->docs[it.entry.doc].part->n; i++) {
            const struct doc_value *v = &m->docs[it.entry.doc].part->values[i];
            for (uint32_t k = 0; v->kind == DOC_COMPLETION && k < v->completion.n_paths; k++) {
                found |= str_eq(v->completion.paths[k], it.entry.path)
                         && v->completion.weight == it.entry.weight
                         && str_eq(v->completion.input, it.entry.input);
            }
        }
        ck_assert(found);
        buf_reset(&path);
        buf_str(&path, it.entry.path);
        before = it.entry;
    }
    ck_assert(!it.corrupt);
    for (doc_id d = 0; d < m->n; d++) {
        for (size_t i = 0; i < m->docs[d].part->n; i++) {
            const struct doc_value *v = &m->docs[d].part->values[i];
            expected += v->kind == DOC_COMPLETION ? v->completion.n_paths : 0;
        }
    }
    ck_assert_uint_eq(got, expected);
    ck_assert_uint_eq(f != NULL ? f->sum_ttf : 0, expected);
    completion_iter_fini(&it);
    buf_fini(&path);
}

static void check_root(const struct model *m, struct stored_reader *reader, doc_id d)
{
    const struct parsed_doc *doc = &m->docs[d].made->doc;
    struct arena arena;
    struct stored_doc got;
    ERR_LOCAL(em);
    doc_id found = 0;
    size_t kept = 0;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    ck_assert_int_eq(stored_read(reader, d, STORED_ID | STORED_SOURCE | STORED_VALUES, &arena, &got, &em),
                     ERR_OK);
    ck_assert(str_eq(got.id, doc->id));
    ck_assert_int_eq(got.routing.p != NULL, doc->routing.p != NULL);
    ck_assert(str_eq(got.routing, doc->routing));
    ck_assert_int_eq(got.source.p != NULL, doc->source.n > 0);
    ck_assert(str_eq(got.source, doc->source));
    for (size_t i = 0; i < m->docs[d].part->n; i++) {
        const struct doc_value *v = &m->docs[d].part->values[i];
        if (v->to_store) {
            ck_assert_uint_lt(kept, got.n_values);
            ck_assert(str_eq(got.values[kept].name, v->field->path));
            ck_assert(str_eq(got.values[kept++].bytes, v->bytes));
        }
    }
    ck_assert_uint_eq(kept, got.n_values);
    ck_assert(seg_find_id(m->s, doc->id, NULL, &found));
    ck_assert_uint_eq(found, d);
    arena_fini(&arena);
}

void check_documents(const struct model *m)
{
    static const char *const names[] = {"_seq_no", "_primary_term", "_version"};
    struct stored_reader reader;
    struct num_column c[3];
    stored_reader_init(&reader, m->s);
    for (int i = 0; i < 3; i++) {
        num_column_init(&c[i], segment_field(m->s, str_of(names[i])));
        ck_assert(m->n == 0 || c[i].dense);
    }
    const uint64_t *roots = segment_roots(m->s);
    for (doc_id d = 0; d < m->n; d++) {
        const struct doc_meta *meta = &m->docs[d].made->meta;
        ck_assert_int_eq(num_column_value(&c[0], d), meta->seq_no);
        ck_assert_int_eq(num_column_value(&c[1], d), meta->primary_term);
        ck_assert_int_eq(num_column_value(&c[2], d), meta->version);
        ck_assert_int_eq(roots == NULL || bits_test(roots, d), m->docs[d].root);
        if (m->docs[d].root) {
            check_root(m, &reader, d);
        }
    }
    doc_id found;
    ck_assert(!seg_find_id(m->s, STR("nobody"), NULL, &found));
    ck_assert(!seg_find_id(m->s, STR(""), NULL, &found));
    stored_reader_fini(&reader);
}
