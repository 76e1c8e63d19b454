/* coerce.h - JSON values into typed numbers by the rules of Elasticsearch's numeric fields. Pure; any thread.
 */
#ifndef BASE_COERCE_H
#define BASE_COERCE_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"

enum num_type { NUM_BYTE, NUM_SHORT, NUM_INTEGER, NUM_LONG, NUM_FLOAT, NUM_DOUBLE, NUM_HALF_FLOAT };

/* "byte", "half_float" ...; NULL for none. */
const char *num_type_name(enum num_type t);
static inline bool num_type_is_whole(enum num_type t)
{
    return t <= NUM_LONG;
}

struct num {
    bool whole;
    int64_t i; /* whole */
    double d;  /* not whole: rounded to the type's precision */
};

/* A document's value. `text` is the whole body, for the place in Jackson's errors. Whole types truncate
 * fractions and read text when `coerce`; else ERR_ILLEGAL_ARGUMENT. ERR_INPUT_COERCION for JSON numbers out
 * of range, ERR_ILLEGAL_ARGUMENT for text out of range, ERR_NUMBER_FORMAT for no number. Null and "" are the
 * caller's. */
enum err num_of_json(struct num *out, const struct json *v, enum num_type type, bool coerce, struct str text,
                     struct errmsg *em) NODISCARD;
/* A query's or a parameter's value given as text: fractions pass when `coerce`. */
enum err num_of_text(struct num *out, struct str s, enum num_type type, bool coerce,
                     struct errmsg *em) NODISCARD;
/* A query's value. As num_of_text, but where Elasticsearch names the value as it has it, errors do so too: num_value_print(). */
enum err num_of_value(struct num *out, const struct json *v, enum num_type type, bool coerce,
                      struct errmsg *em) NODISCARD;
/* A scalar of a query as Java prints it: texts, and whole numbers beyond 64 bits, by their bytes, "[31 2e 35]"; others as Long
 * or Double. */
void num_value_print(const struct json *v, struct buf *out);
/* The type's own range. */
void num_range(enum num_type type, int64_t *min, int64_t *max);

/* Java's (long)double and (int)double: saturating, NaN is 0. */
int64_t num_double_to_i64(double v);
int32_t num_double_to_i32(double v);

/* IEEE half precision as Lucene's HalfFloatPoint: round half to even; not finite becomes infinity. */
uint16_t half_of_float(float v);
float half_to_float(uint16_t h);

#endif
