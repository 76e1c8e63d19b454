/* Numbers in the form that sorts, and back. */
#include "common/base/coerce.h"
#include "engine/mapping/mapping.h"

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
    switch (f->type) {
    case FT_DOUBLE:
        return num_to_double(sortable);
    case FT_FLOAT:
    case FT_HALF_FLOAT:
        return (double)num_to_float(sortable);
    case FT_SCALED_FLOAT:
        return (double)sortable
               * (1.0 / f->scaling_factor); /* as Elasticsearch rounds: 2133 by 100 is 21.330000000000002 */
    default:
        return (double)sortable;
    }
}

void field_write_num(const struct field *f, int64_t sortable, struct jsonw *w)
{
    struct buf b;
    switch (f->type) {
    case FT_DOUBLE:
    case FT_SCALED_FLOAT:
        jw_double(w, field_num_to_double(f, sortable));
        return;
    case FT_FLOAT:
    case FT_HALF_FLOAT:
        /* Elasticsearch widens what it read: 3.8 comes back as 3.799999952316284. */
        jw_double(w, field_num_to_double(f, sortable));
        return;
    case FT_BOOLEAN:
        jw_bool(w, sortable != 0);
        return;
    case FT_DATE:
    case FT_DATE_NANOS:
        buf_init(&b, w->out->alloc, BUF_UNLIMITED);
        if (date_print(f->format, f->type == FT_DATE ? instant_of_ms(sortable) : instant_of_nanos(sortable),
                       NULL, &b)
            && !b.failed) {
            jw_str(w, buf_view(&b));
        } else {
            jw_null(w);
        }
        buf_fini(&b);
        return;
    default:
        jw_i64(w, sortable);
        return;
    }
}
