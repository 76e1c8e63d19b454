/* Numbers in the form that sorts, and back. */
#include "common/base/coerce.h"
#include "engine/mapping/field_class.h"

#include <math.h>

static const int64_t sign64 = INT64_MAX, sign32 = INT32_MAX;

int64_t num_from_double(double v)
{
    int64_t bits;
    if (v != v) {
        bits = 0x7FF8000000000000LL; /* one NaN, above all */
    } else {
        memcpy(&bits, &v, sizeof(bits));
    }
    return bits < 0 ? bits ^ sign64 : bits;
}

double num_to_double(int64_t sortable)
{
    int64_t bits = sortable < 0 ? sortable ^ sign64 : sortable;
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

int64_t num_from_float(float v)
{
    int32_t bits;
    if (v != v) {
        bits = 0x7FC00000;
    } else {
        memcpy(&bits, &v, sizeof(bits));
    }
    return bits < 0 ? bits ^ (int32_t)sign32 : bits;
}

float num_to_float(int64_t sortable)
{
    int32_t bits = (int32_t)sortable;
    bits = bits < 0 ? bits ^ (int32_t)sign32 : bits;
    float v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

int64_t field_scaled(const struct field *f, double v)
{
    double scaled = v * f->scaling_factor, up = floor(scaled + 0.5);
    return num_double_to_i64(up - (up - scaled > 0.5 ? 1 : 0));
}

double field_num_to_double(const struct field *f, int64_t sortable)
{
    switch (f->class->form) {
    case FORM_DOUBLE:
        return num_to_double(sortable);
    case FORM_FLOAT:
        return (double)num_to_float(sortable);
    case FORM_SCALED:
        return (double)sortable
               * (1.0 / f->scaling_factor); /* as Elasticsearch rounds: 2133 by 100 is 21.330000000000002 */
    case FORM_WHOLE:
        return (double)sortable;
    }
    return (double)sortable;
}

static void write_date(const struct field *f, int64_t v, struct jsonw *w)
{
    struct buf b;
    buf_init(&b, w->out->alloc, BUF_UNLIMITED);
    struct instant t = f->class->is_nanos ? instant_of_nanos(v) : instant_of_ms(v);
    if (date_print(f->format, t, NULL, &b) && !b.failed) {
        jw_str(w, buf_view(&b));
    } else {
        jw_null(w);
    }
    buf_fini(&b);
}

void field_write_num(const struct field *f, int64_t sortable, struct jsonw *w)
{
    if (f->class->kind == VALUE_BOOLEAN) {
        jw_bool(w, sortable != 0);
    } else if (f->class->kind == VALUE_DATE) {
        write_date(f, sortable, w);
    } else if (f->class->form != FORM_WHOLE) {
        /* Elasticsearch widens floats that it read: 3.8 comes back as 3.799999952316284. */
        jw_double(w, field_num_to_double(f, sortable));
    } else {
        jw_i64(w, sortable);
    }
}
