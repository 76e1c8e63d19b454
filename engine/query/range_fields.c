/* Ranges against fields that hold ranges. */
#include "common/base/num.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/weight_set.h"

static void range_field_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_z(out, "<ranges:[");
    const struct field_class *ends = q->field->class->ends;
    if (ends->kind == VALUE_ADDRESS) {
        buf_char(out, '/');
        query_print_address(q->range_field.ip_lo, out);
        buf_z(out, " : /");
        query_print_address(q->range_field.ip_hi, out);
    } else if (ends->form == FORM_DOUBLE) {
        num_put_double(out, num_to_double(q->range_field.lo));
        buf_z(out, " : ");
        num_put_double(out, num_to_double(q->range_field.hi));
    } else if (ends->form == FORM_FLOAT) {
        num_put_float(out, num_to_float(q->range_field.lo));
        buf_z(out, " : ");
        num_put_float(out, num_to_float(q->range_field.hi));
    } else {
        buf_i64(out, q->range_field.lo);
        buf_z(out, " : ");
        buf_i64(out, q->range_field.hi);
    }
    buf_z(out, "]>");
}

/* ---- weights ---- */

struct range_test {
    const struct seg_field *field;
    const struct query *query;
};

static int64_t load_i64(struct str s)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) {
        v |= (uint64_t)(uint8_t)s.p[i] << (8 * i);
    }
    return (int64_t)v;
}

/* -1, 0, 1 of the two ends of a document's range against those of the query. */
static bool relates(int lo_lo, int hi_hi, int lo_hi, int hi_lo, int relation)
{
    switch (relation) {
    case 1: /* contains: the document's range holds the query's */
        return lo_lo <= 0 && hi_hi >= 0;
    case 2: /* within */
        return lo_lo >= 0 && hi_hi <= 0;
    default: /* intersects */
        return lo_hi <= 0 && hi_lo >= 0;
    }
}

static int cmp_i64(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b ? 1 : 0;
}

static bool range_relates(void *arg, doc_id doc)
{
    const struct range_test *t = arg;
    const struct query *q = t->query;
    struct str from, to;
    for (uint32_t i = 0; seg_range_value(t->field, doc, i, &from, &to); i++) {
        bool yes;
        if (from.n == 16) {
            const uint8_t *lo = q->range_field.ip_lo, *hi = q->range_field.ip_hi;
            yes = relates(memcmp(from.p, lo, 16), memcmp(to.p, hi, 16), memcmp(from.p, hi, 16),
                          memcmp(to.p, lo, 16), q->range_field.relation);
        } else {
            int64_t a = load_i64(from), b = load_i64(to), lo = q->range_field.lo, hi = q->range_field.hi;
            yes = relates(cmp_i64(a, lo), cmp_i64(b, hi), cmp_i64(a, hi), cmp_i64(b, lo),
                          q->range_field.relation);
        }
        if (yes) {
            return true;
        }
    }
    return false;
}

static enum err range_field_scorer(const struct weight *w, const struct scorer_request *rq,
                                   struct scorer **out)
{
    const struct seg_field *f = set_field(w, rq->leaf);
    struct range_test *t = ARENA_NEW(rq->arena, struct range_test);
    if (t == NULL) {
        return err_no_memory(rq->em);
    }
    *t = (struct range_test){f, w->query};
    return f == NULL ? ERR_OK
                     : verify_scorer_new(rq->arena, NULL, rq->leaf->doc_count, rq->leaf->doc_count,
                                         range_relates, t, w->boost, out, rq->em);
}

static const struct weight_ops range_field_ops = {.cost = set_cost, .scorer = range_field_scorer};

const struct query_ops q_range_field = {
    .name = "range_field", .print = range_field_print, .plain_weight = &range_field_ops};
