/* exists: documents with a value of a field. */
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/weight_set.h"

static bool exists_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b);
}

static void exists_print(const struct query *q, struct buf *out)
{
    const struct field *f = q->field;
    if (f != NULL && !f->doc_values && f->class->is_analysed && f->norms) {
        buf_printf(out, "NormsFieldExistsQuery [field=%.*s]", STR_ARG(q->field_name));
    } else if (f == NULL || f->doc_values) { /* without a field: a column of every document */
        buf_printf(out, "DocValuesFieldExistsQuery [field=%.*s]", STR_ARG(q->field_name));
    } else {
        buf_printf(out, "_field_names:%.*s", STR_ARG(q->field_name));
    }
}

/* ---- weights ---- */

static uint64_t exists_cost(UNUSED const struct weight *w, const struct leaf *leaf)
{
    return leaf->doc_count;
}

static bool has_range(void *arg, doc_id doc)
{
    struct str from, to;
    const struct seg_field *const *f = arg;
    return seg_range_value(*f, doc, 0, &from, &to);
}

static bool has_bytes(void *arg, doc_id doc)
{
    struct str bytes;
    const struct seg_field *const *f = arg;
    return seg_bytes_value(*f, doc, 0, &bytes);
}

static enum err exists_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct seg_field *f = set_field(w, rq->leaf);
    const struct field *field = w->query->field;
    uint32_t n = rq->leaf->doc_count;
    /* Fielddata is no column: a text without a word has none, and yet it exists. */
    bool column = field == NULL || !field->class->needs_fielddata;
    if (f != NULL && column && (f->has & (SEG_NUMS | SEG_ORDS)) != 0) {
        struct num_column c;
        struct ord_column o;
        if (f->has & SEG_NUMS) {
            num_column_init(&c, f);
        } else {
            ord_column_init(&o, f);
            c = o.nums;
        }
        if (c.doc_count == 0) {
            return ERR_OK;
        }
        const uint64_t *present = num_column_present(&c);
        return present == NULL ? all_scorer_new(rq->arena, n, w->boost, out, rq->em)
                               : bits_scorer_new(rq->arena, present, n, c.doc_count, w->boost, out, rq->em);
    }
    /* Completions without a term have no length, and yet they exist. */
    if (f != NULL && (f->has & SEG_NORMS) && !(f->has & SEG_COMPLETION)) {
        const uint64_t *present = seg_norms_present(f);
        return present == NULL ? all_scorer_new(rq->arena, n, w->boost, out, rq->em)
                               : bits_scorer_new(rq->arena, present, n, f->doc_count, w->boost, out, rq->em);
    }
    if (f != NULL && (f->has & (SEG_RANGES | SEG_BYTES))) {
        const struct seg_field **of = ARENA_NEW(rq->arena, const struct seg_field *);
        if (of == NULL) {
            return err_no_memory(rq->em);
        }
        *of = f;
        return verify_scorer_new(rq->arena, NULL, n, n, f->has & SEG_RANGES ? has_range : has_bytes, of,
                                 w->boost, out, rq->em);
    }
    const struct seg_field *names = segment_field(rq->leaf->segment, STR("_field_names"));
    struct term_info t;
    struct scorer *s;
    if (names == NULL || !seg_term(names, w->query->field_name, &t)) {
        return ERR_OK;
    }
    enum err e = term_scorer_new(rq->arena, names, &t, NULL, &s, rq->em);
    return e == ERR_OK ? constant_scorer_new(rq->arena, s, w->boost, out, rq->em) : e;
}

static const struct weight_ops exists_ops = {.cost = exists_cost, .scorer = exists_scorer};

const struct query_ops q_exists = {
    .name = "exists", .same = exists_same, .print = exists_print, .plain_weight = &exists_ops};
