/* Numbers and dates: ranges, by points or by column, and sets of them. */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/weight_set.h"

/* A value of a numeric field. */
static void print_num(const struct query *q, int64_t v, struct buf *out)
{
    enum num_form form = q->field != NULL ? q->field->class->form : FORM_WHOLE;
    if (form == FORM_DOUBLE) {
        num_put_double(out, num_to_double(v));
    } else if (form == FORM_FLOAT) {
        num_put_float(out, num_to_float(v));
    } else {
        buf_i64(out, v);
    }
}

/* ---- ranges ---- */

static bool range_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b) && a->num.lo == b->num.lo && a->num.hi == b->num.hi;
}

static void range_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_char(out, '[');
    print_num(q, q->num.lo, out);
    buf_z(out, " TO ");
    print_num(q, q->num.hi, out);
    buf_char(out, ']');
}

/* A float's bits, in the order of the numbers. */
static int32_t sortable_float(float f)
{
    int32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    return bits ^ (bits >> 31 & 0x7FFFFFFF);
}

/* The same of a float that half of the bits hold exactly. */
static int32_t sortable_half(float f)
{
    int32_t bits;
    memcpy(&bits, &f, sizeof(bits));
    int32_t exponent = (bits >> 23 & 0xFF) - 112, mantissa = bits & 0x7FFFFF;
    int32_t half = exponent >= 31 ? 0x7C00
                   : exponent > 0 ? exponent << 10 | mantissa >> 13
                                  : (mantissa | 0x800000) >> MIN_OF(14 - exponent, 31);
    return bits < 0 ? (int16_t)((half | 0x8000) ^ 0x7FFF) : half;
}

static int64_t column_number(const struct query *q, int64_t v)
{
    if (q->field->class->form != FORM_FLOAT) {
        return v;
    }
    float f = num_to_float(v);
    return q->field->class->num == NUM_HALF_FLOAT ? sortable_half(f) : sortable_float(f);
}

/* Fractions are shown as the column holds them. */
static void range_print_column(const struct query *q, struct buf *out)
{
    bool fraction = q->field != NULL && q->field->doc_values && q->field->index && q->num.lo != q->num.hi
                    && (q->field->class->form == FORM_FLOAT || q->field->class->form == FORM_DOUBLE);
    if (!fraction) {
        range_print(q, out);
        return;
    }
    query_print_field(q, out);
    buf_char(out, '[');
    buf_i64(out, column_number(q, q->num.lo));
    buf_z(out, " TO ");
    buf_i64(out, column_number(q, q->num.hi));
    buf_char(out, ']');
}

static uint64_t range_docs(const struct view *v, const struct query *q)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, q->field_name);
        if (f != NULL && (f->has & SEG_POINTS) == 0) {
            return QUERY_COST_UNKNOWN;
        }
        sum += f != NULL ? seg_points_count(f, q->num.lo, q->num.hi) : 0;
    }
    return sum;
}

static void range_key(struct buf *b, const struct query *q)
{
    buf_add(b, &q->num.lo, sizeof(q->num.lo));
    buf_add(b, &q->num.hi, sizeof(q->num.hi));
}

static uint64_t range_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct seg_field *f = set_field(w, leaf);
    const struct query *q = w->query;
    if (f == NULL || q->num.lo > q->num.hi) {
        return 0;
    }
    return f->has & SEG_POINTS ? seg_points_count(f, q->num.lo, q->num.hi) : leaf->doc_count;
}

static enum err range_fill(const struct weight *w, UNUSED const struct scorer_request *rq,
                           const struct seg_field *f, uint64_t *bits)
{
    seg_points_range(f, w->query->num.lo, w->query->num.hi, bits);
    return ERR_OK;
}

static bool in_range(void *arg, doc_id doc)
{
    struct column_test *t = arg;
    int64_t lo = t->w->query->num.lo, hi = t->w->query->num.hi;
    uint64_t first;
    uint32_t n = num_column_seek(&t->column, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = num_column_value(&t->column, first + i);
        if (v >= lo && v <= hi) {
            return true;
        }
    }
    return false;
}

static enum err num_scorer(const struct weight *w, const struct scorer_request *rq, set_fill fill,
                           bool (*test)(void *arg, doc_id doc), struct scorer **out)
{
    const struct seg_field *f = set_field(w, rq->leaf);
    struct set_known known;
    if (f == NULL) {
        return ERR_OK;
    }
    enum err e = set_known_of(w, rq, &known);
    if (e == ERR_OK && known.bits == NULL && set_by_column(w, rq, f, SEG_POINTS)) {
        return set_column_scorer(w, rq, f, test, out);
    }
    return e == ERR_OK ? set_bits_scorer(w, rq, f, &known, fill, out) : e;
}

static enum err range_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    return num_scorer(w, rq, range_fill, in_range, out);
}

static const struct weight_ops range_ops = {.cost = range_cost, .scorer = range_scorer};

static enum err range_weight(struct weight_shared *sh, const struct query *q, float boost,
                             enum score_need need, const struct weight **out, struct errmsg *em)
{
    *out = set_weight_new(sh, sizeof(struct set_weight), &range_ops, q, boost, need, range_key);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

/* lo..hi, inclusive, of sortable numbers. */
const struct query_ops q_num_range = {.name = "num_range",
                                      .may = nested_by_field,
                                      .same = range_same,
                                      .print = range_print,
                                      .print_column = range_print_column,
                                      .cost = range_docs,
                                      .weight = range_weight};

/* ---- sets ---- */

static bool set_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b) && a->num.n == b->num.n
           && memcmp(a->num.v, b->num.v, a->num.n * sizeof(*a->num.v)) == 0;
}

static void set_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_char(out, '{');
    for (uint32_t i = 0; i < q->num.n; i++) {
        if (i > 0) {
            buf_char(out, ' ');
        }
        print_num(q, q->num.v[i], out);
    }
    buf_char(out, '}');
}

static void set_num_key(struct buf *b, const struct query *q)
{
    buf_add(b, q->num.v, q->num.n * sizeof(*q->num.v));
}

static uint64_t set_num_cost(const struct weight *w, const struct leaf *leaf)
{
    const struct seg_field *f = set_field(w, leaf);
    const struct query *q = w->query;
    uint64_t sum = 0;
    for (uint32_t i = 0; f != NULL && i < q->num.n && sum < leaf->doc_count; i++) {
        sum += f->has & SEG_POINTS ? seg_points_count(f, q->num.v[i], q->num.v[i]) : leaf->doc_count;
    }
    return sum;
}

static enum err set_num_fill(const struct weight *w, UNUSED const struct scorer_request *rq,
                             const struct seg_field *f, uint64_t *bits)
{
    const struct query *q = w->query;
    for (uint32_t i = 0; i < q->num.n; i++) {
        seg_points_range(f, q->num.v[i], q->num.v[i], bits);
    }
    return ERR_OK;
}

static bool in_set(void *arg, doc_id doc)
{
    struct column_test *t = arg;
    uint64_t first;
    uint32_t n = num_column_seek(&t->column, doc, &first);
    for (uint32_t i = 0; i < n; i++) {
        int64_t v = num_column_value(&t->column, first + i);
        uint32_t lo = 0, hi = t->w->query->num.n;
        while (lo < hi) {
            uint32_t mid = (lo + hi) / 2;
            if (t->w->query->num.v[mid] < v) {
                lo = mid + 1;
            } else {
                hi = mid;
            }
        }
        if (lo < t->w->query->num.n && t->w->query->num.v[lo] == v) {
            return true;
        }
    }
    return false;
}

static enum err set_num_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    return num_scorer(w, rq, set_num_fill, in_set, out);
}

static const struct weight_ops set_ops = {.cost = set_num_cost, .scorer = set_num_scorer};

static enum err set_weight(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                           const struct weight **out, struct errmsg *em)
{
    *out = set_weight_new(sh, sizeof(struct set_weight), &set_ops, q, boost, need, set_num_key);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

const struct query_ops q_num_set = {
    .name = "num_set", .same = set_same, .print = set_print, .weight = set_weight};
