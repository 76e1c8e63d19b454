/* Queries for dates. */
#include "engine/query/field_queries.h"

#include "common/base/date_math.h"

enum err field_date(struct builder *b, const struct field *f, struct str text, bool round_up,
                    const struct zone *zone, const struct date_format *format, int64_t *out,
                    struct errmsg *em)
{
    struct instant t;
    enum err e = date_math(format != NULL ? format : f->format, text, b->cx->now_ms, zone,
                           round_up ? DATE_FILL_MAX : DATE_FILL_MIN, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    if (f->class->is_nanos) {
        return instant_to_nanos(t, out, em);
    }
    return instant_to_ms_exact(t, out, em);
}

enum err date_ends(struct builder *b, const struct field *f, const struct range_bounds *r, int64_t *lo,
                   int64_t *hi, struct errmsg *em)
{
    enum err e = ERR_OK;
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (r->from != NULL) {
        e = field_date(b, f, json_text(r->from), !r->from_inclusive, r->zone, r->format, lo, em);
    }
    if (e == ERR_OK && r->to != NULL) {
        e = field_date(b, f, json_text(r->to), r->to_inclusive, r->zone, r->format, hi, em);
    }
    return e;
}

enum err field_date_bounds(struct builder *b, const struct field *f, const struct range_bounds *r,
                           int64_t *lo, int64_t *hi, struct errmsg *em)
{
    enum err e = date_ends(b, f, r, lo, hi, em);
    if (e == ERR_OK && r->from != NULL) {
        *lo += r->from_inclusive || *lo == INT64_MAX ? 0 : 1; /* the last millisecond that there is */
    }
    if (e == ERR_OK && r->to != NULL) {
        *hi -= r->to_inclusive || *hi == INT64_MIN ? 0 : 1;
    }
    return e;
}

/* Without points nothing can lie within, and that is where it ends. */
enum err date_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                    struct query **out, struct errmsg *em)
{
    int64_t lo, hi;
    if (!f->index) {
        return qnode_none(b, out, em, "%s", "");
    }
    enum err e = field_date_bounds(b, f, r, &lo, &hi, em);
    return e == ERR_OK ? qnode_num_range(b, f, lo, hi, false, out, em) : e;
}
