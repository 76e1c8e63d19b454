/* decimal_format.h - java.text.DecimalFormat (Locale.ROOT): what `format` means for numbers in aggregations
 * and doc values. Immutable once parsed; any thread. */
#ifndef BASE_DECIMAL_FORMAT_H
#define BASE_DECIMAL_FORMAT_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"

struct decimal_format;

/* ERR_ILLEGAL_ARGUMENT for a malformed pattern, as Java words it. */
enum err decimal_format_new(const struct decimal_format **out, struct str pattern, struct arena *arena,
                            struct errmsg *em) NODISCARD;
/* Rounds half to even on the exact binary value, as Java does. */
void decimal_format_print(const struct decimal_format *f, double v, struct buf *out);
void decimal_format_print_i64(const struct decimal_format *f, int64_t v, struct buf *out);
/* Reads a number at the start of the text (the rest is ignored); false where Java throws ParseException. */
bool decimal_format_parse(const struct decimal_format *f, struct str text, double *out);

#endif
