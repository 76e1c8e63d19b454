/* value_format.h - values of fields as answers print them, with `format`; here those of the source. */
#ifndef ENGINE_MAPPING_VALUE_FORMAT_H
#define ENGINE_MAPPING_VALUE_FORMAT_H

#include "common/base/date.h"
#include "common/base/decimal_format.h"
#include "engine/mapping/field_class.h"

struct value_format {
    const struct field *field;
    const struct date_format *date;       /* dates; NULL: none */
    const struct decimal_format *decimal; /* numbers; NULL: as they are */
    bool wkt, nothing;                    /* geo points of `fields` */
};

/* The format of a value of the source, for `fields`. ERR_ILLEGAL_ARGUMENT when the field takes none. */
enum err source_format_new(struct value_format *out, const struct field *f, struct str format,
                           struct arena *arena, struct errmsg *em);
/* One value of the source, by the field's rules, for `fields`; values that the field would not index are left out. Writes
 * nothing then. */
void source_value_write(const struct value_format *f, const struct json *v, struct arena *arena,
                        struct jsonw *w);

/* ---- what rows share ---- */

/* A buffer's text as a string; the buffer is given back. */
void value_write_buf(struct buf *b, struct jsonw *w);
void value_write_date(const struct value_format *f, struct instant t, struct jsonw *w);
/* A value as its text. */
void value_show_text(const struct value_format *f, const struct json *v, struct arena *arena,
                     struct jsonw *w);
/* `format` of dates and ranges. */
enum err value_date_format(struct value_format *out, struct str format, struct arena *arena,
                           struct errmsg *em);
/* ERR_ILLEGAL_ARGUMENT: the field has no formats. */
enum err value_decimal_format(struct value_format *out, struct str format, struct arena *arena,
                              struct errmsg *em);
enum err value_no_formats(struct value_format *out, struct str format, struct arena *arena,
                          struct errmsg *em);

#endif
