/* num.h - numbers to and from text as Java prints and reads them. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include "common/base/buf.h"
#include "common/base/err.h"

/* Shortest decimal that reads back as the same value, in the form of Java's Double.toString and
 * Float.toString: "1.0", "0.001", "1.0E7", "1.0E-4", "NaN", "Infinity". Whole numbers beyond the type's bits
 * have the digits that Java gives them, sometimes one more: "2.14748365E9". */
void num_put_double(struct buf *b, double v);
void num_put_float(struct buf *b, float v);

/* The text of one number, for a format: err_set(em, code, "got [%s]", num_text(v).s). */
struct num_text {
    char s[32];
};
struct num_text num_text(double v);

/* Java's Double.parseDouble: surrounding white space, "NaN", "Infinity", hexadecimal floats and the suffixes
 * d and f are accepted. false where Java throws NumberFormatException. */
bool num_parse_double(struct str s, double *out);
bool num_parse_float(struct str s, float *out);
/* Java's Long.parseLong: digits with an optional sign, nothing else. */
bool num_parse_i64(struct str s, int64_t *out);
bool num_parse_i32(struct str s, int32_t *out);
/* Java's Boolean as Elasticsearch reads settings and parameters: exactly "true" or "false". */
bool num_parse_bool(struct str s, bool *out);

/* Java's Math.max and Math.min: no number stays none, and -0.0 is less than 0.0. */
double num_max(double a, double b);
double num_min(double a, double b);

/* a / b, rounded down. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

#endif
