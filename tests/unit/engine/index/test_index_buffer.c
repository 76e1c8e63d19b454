#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/mapping/field_class.h"
#include "tests/unit/engine/index/random_docs.h"

static struct field text = {.path = {"t", 1},
                            .class = &field_class_text,
                            .options = INDEX_POSITIONS,
                            .index = true,
                            .norms = true,
                            .similarity = {.discount_overlaps = true},
                            .position_increment_gap = 100};
static struct field bare = {
    .path = {"bare", 4}, .class = &field_class_text, .options = INDEX_POSITIONS, .index = true};
static struct field key = {
    .path = {"k", 1}, .class = &field_class_keyword, .index = true, .doc_values = true};
static const struct doc_meta meta = {1, 1, 1};

static struct doc_value text_value(const struct field *field, struct token *tokens, uint32_t n)
{
    struct doc_value v = {.field = field, .kind = DOC_TEXT, .to_index = true};
    v.text.v = tokens;
    v.text.n = n;
    v.text.end_offset = 10;
    return v;
}

static enum err add_values(struct index_buffer *b, struct doc_value *v, size_t n, struct errmsg *em)
{
    struct doc_part part = {v, n, NULL};
    struct parsed_doc doc = {.id = STR("x"), .source = STR("{}"), .parts = &part, .n_parts = 1};
    doc_id root;
    return index_buffer_add(b, &doc, &meta, &root, em);
}

START_TEST(bad_tokens_are_refused_as_lucene_does)
{
    struct index_buffer *b;
    ERR_LOCAL(em);
    ck_assert_int_eq(index_buffer_new(&b, NULL, &em), ERR_OK);
    struct token first = {.text = STR("a"), .pos_inc = 0, .end = 1};
    struct doc_value v = text_value(&text, &first, 1);
    ck_assert_int_eq(add_values(b, &v, 1, &em), ERR_ILLEGAL_ARGUMENT);
    ck_assert_str_eq(err_reason(&em), "first position increment must be > 0 (got 0) for field 't'");
    struct token back[2] = {{.text = STR("a"), .pos_inc = 1, .start = 5, .end = 6},
                            {.text = STR("b"), .pos_inc = 1, .start = 2, .end = 3}};
    v = text_value(&text, back, 2);
    ck_assert_int_eq(add_values(b, &v, 1, &em), ERR_ILLEGAL_ARGUMENT);
    char *big = malloc(40000);
    memset(big, 'a', 40000);
    struct token immense = {.text = {big, 32767}, .pos_inc = 1, .end = 32767};
    v = text_value(&text, &immense, 1);
    ck_assert_int_eq(add_values(b, &v, 1, &em), ERR_ILLEGAL_ARGUMENT);
    ck_assert_uint_eq(em.frame->depth, 2);
    ck_assert_int_eq(em.frame->cause->code, ERR_MAX_BYTES);
    ck_assert_str_eq(em.frame->cause->reason, "bytes can be at most 32766 in length; got 32767");
    struct doc_value k = {
        .field = &key, .kind = DOC_TERM, .to_index = true, .to_column = true, .bytes = {big, 32767}};
    ck_assert_int_eq(add_values(b, &k, 1, &em), ERR_ILLEGAL_ARGUMENT);
    ck_assert_uint_eq(index_buffer_docs(b), 0);
    k.bytes.n = 32766;
    ck_assert_int_eq(add_values(b, &k, 1, &em), ERR_OK);
    ck_assert_uint_eq(index_buffer_docs(b), 1);
    index_buffer_free(b);
    free(big);
}
END_TEST

START_TEST(lengths_and_names_are_kept)
{
    struct token overlap[3] = {{.text = STR("a"), .pos_inc = 1, .end = 1},
                               {.text = STR("b"), .pos_inc = 0, .end = 1},
                               {.text = STR("c"), .pos_inc = 1, .start = 2, .end = 3}};
    struct doc_value some[3] = {text_value(&text, overlap, 3), text_value(&text, overlap, 3),
                                text_value(&bare, overlap, 1)};
    struct doc_value empty = text_value(&text, NULL, 0);
    struct doc_part parts[3] = {{some, 3, NULL}, {&empty, 1, NULL}, {NULL, 0, NULL}};
    struct made_doc made[3], *docs[3];
    for (int i = 0; i < 3; i++) {
        made[i] = (struct made_doc){{.id = str_mk(&"123"[i], 1), .parts = &parts[i], .n_parts = 1}, meta};
        docs[i] = &made[i];
    }
    struct segment *s = build_segment(docs, 3);
    const struct seg_field *f = segment_field(s, STR("t")), *names = segment_field(s, STR("_field_names"));
    ck_assert_uint_eq(seg_norms(f)[0], 4);
    ck_assert_uint_eq(seg_norms(f)[1], 0);
    ck_assert_uint_eq(seg_norms_present(f)[0] & 7, 3); /* an empty value is there, with length 0 */
    ck_assert_uint_eq(f->doc_count, 1);
    struct term_info info;
    struct postings p;
    struct positions ps;
    ck_assert(seg_term(f, STR("c"), &info));
    postings_init(&p, f, &info, true);
    positions_init(&ps, &p, false);
    ck_assert_uint_eq(postings_next(&p), 0);
    ck_assert_uint_eq(positions_read(&ps), 2);
    ck_assert_uint_eq(ps.pos[0], 1);
    ck_assert_uint_eq(ps.pos[1], 103); /* 1, the gap of 100, and two more */
    positions_fini(&ps);
    ck_assert(names != NULL && seg_term(names, STR("bare"), &info));
    ck_assert(!seg_term(names, STR("t"), &info));
    segment_unref(s);
}
END_TEST

/* The allocator refuses the nth request; the buffer must hold what it held, and go on. */
START_TEST(a_failed_addition_leaves_no_trace)
{
    for (uint64_t nth = 1, fired = 1; fired; nth++) {
        struct doc_maker m;
        struct made_doc *docs[60];
        struct alloc_failing failing;
        struct index_buffer *b;
        size_t n = 0;
        doc_maker_init(&m, 5);
        m.nested = true;
        alloc_failing_init(&failing, nth);
        enum err e = index_buffer_new(&b, &failing.base, NULL);
        for (int i = 0; e == ERR_OK && i < 60; i++) {
            struct made_doc *d = doc_maker_next(&m);
            doc_id root;
            uint32_t before = index_buffer_docs(b);
            enum err added = index_buffer_add(b, &d->doc, &d->meta, &root, NULL);
            if (added == ERR_OK) {
                docs[n++] = d;
            } else {
                ck_assert_int_eq(added, ERR_NO_MEMORY);
                ck_assert_uint_eq(index_buffer_docs(b), before);
                failing.countdown = UINT64_MAX; /* from here on there is memory */
            }
        }
        fired = failing.fired;
        if (e == ERR_OK) {
            struct buf out;
            struct segment *s;
            size_t bytes;
            failing.countdown = UINT64_MAX;
            buf_init(&out, NULL, BUF_UNLIMITED);
            ck_assert_int_eq(index_buffer_write(b, &out, NULL), ERR_OK);
            ck_assert_uint_eq(index_buffer_docs(b), 0);
            char *p = buf_take(&out, &bytes);
            ck_assert_int_eq(segment_open_memory(&s, p, bytes, NULL, NULL), ERR_OK);
            check_segment(s, docs, n);
            segment_unref(s);
        }
        index_buffer_free(b);
        doc_maker_fini(&m);
    }
}
END_TEST

START_TEST(refused_documents_leave_no_trace)
{
    struct doc_maker m;
    struct made_doc *docs[100];
    struct index_buffer *b;
    ERR_LOCAL(em);
    struct buf out;
    struct segment *s;
    doc_id root;
    size_t bytes;
    doc_maker_init(&m, 6);
    ck_assert_int_eq(index_buffer_new(&b, NULL, &em), ERR_OK);
    for (int i = 0; i < 100; i++) {
        /* A good document with a bad value at its end, then the good one. */
        struct token bad = {.text = STR("bad"), .pos_inc = -3};
        docs[i] = doc_maker_next(&m);
        struct doc_part *part = &docs[i]->doc.parts[0];
        struct doc_value *more = calloc(part->n + 1, sizeof(*more));
        memcpy(more, part->values, part->n * sizeof(*more));
        more[part->n] = text_value(&bare, &bad, 1);
        struct doc_part with = {more, part->n + 1, NULL};
        struct parsed_doc worse = docs[i]->doc;
        worse.parts = &with;
        ck_assert_int_eq(index_buffer_add(b, &worse, &meta, &root, &em), ERR_ILLEGAL_ARGUMENT);
        ck_assert_int_eq(index_buffer_add(b, &docs[i]->doc, &docs[i]->meta, &root, &em), ERR_OK);
        free(more);
        struct str source, routing;
        ck_assert(index_buffer_stored(b, root, &source, &routing));
        ck_assert(str_eq(source, docs[i]->doc.source));
        ck_assert(str_eq(routing, docs[i]->doc.routing));
        ck_assert_int_eq(index_buffer_meta(b, root)->seq_no, docs[i]->meta.seq_no);
    }
    ck_assert(index_buffer_bytes(b) > 1000);
    buf_init(&out, NULL, BUF_UNLIMITED);
    ck_assert_int_eq(index_buffer_write(b, &out, &em), ERR_OK);
    char *p = buf_take(&out, &bytes);
    ck_assert_int_eq(segment_open_memory(&s, p, bytes, NULL, &em), ERR_OK);
    ck_assert(segment_field(s, STR("bare")) == NULL);
    check_segment(s, docs, 100);
    segment_unref(s);
    index_buffer_free(b);
    doc_maker_fini(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("index_buffer");
    TCase *t = tcase_create("core");
    tcase_set_timeout(t, 120);
    tcase_add_test(t, bad_tokens_are_refused_as_lucene_does);
    tcase_add_test(t, lengths_and_names_are_kept);
    tcase_add_test(t, a_failed_addition_leaves_no_trace);
    tcase_add_test(t, refused_documents_leave_no_trace);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
