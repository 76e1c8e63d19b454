/* value_format.h - values of fields as answers print them: doc values and source values, with `format`. */
#ifndef ENGINE_COLLECT_VALUE_FORMAT_H
#define ENGINE_COLLECT_VALUE_FORMAT_H

#include "common/base/date.h"
#include "common/base/decimal_format.h"
#include "engine/index/segment.h"
#include "engine/mapping/mapping.h"

struct value_format {
    const struct field *field;
    const struct date_format *date;       /* dates; NULL: none */
    const struct decimal_format *decimal; /* numbers; NULL: as they are */
    bool wkt, nothing;                    /* geo points of `fields` */
};

/* The format of a doc value: `format` p == NULL or "use_field_mapping" means the mapping's. ERR_ILLEGAL_ARGUMENT when the
 * field takes none. */
enum err value_format_new(struct value_format *out, const struct field *f, struct str format,
                          struct arena *arena, struct errmsg *em);
/* The format of a value of the source, for `fields`. ERR_ILLEGAL_ARGUMENT likewise. */
enum err source_format_new(struct value_format *out, const struct field *f, struct str format,
                           struct arena *arena, struct errmsg *em);
/* A column's value. */
void value_write_num(const struct value_format *f, int64_t sortable, struct jsonw *w);
/* A term of a keyword or address field. */
void value_write_term(const struct value_format *f, struct str term, struct jsonw *w);
/* Bytes, as Base64. */
void value_write_binary(struct str bytes, bool padded, struct jsonw *w);
/* All doc values of one document, as elements of the open array. */
void doc_values_write(const struct value_format *f, const struct seg_field *seg, doc_id doc, struct jsonw *w);
/* One value of the source, by the field's rules, for `fields`; values that the field would not index are left out. Writes
 * nothing then. */
void source_value_write(const struct value_format *f, const struct json *v, struct arena *arena,
                        struct jsonw *w);

#endif
