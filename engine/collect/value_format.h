/* value_format.h - doc values as answers print them, with `format`. */
#ifndef ENGINE_COLLECT_VALUE_FORMAT_H
#define ENGINE_COLLECT_VALUE_FORMAT_H

#include "engine/index/segment.h"
#include "engine/mapping/value_format.h"

/* The format of a doc value: `format` p == NULL or "use_field_mapping" means the mapping's. ERR_ILLEGAL_ARGUMENT when the
 * field takes none. */
enum err value_format_new(struct value_format *out, const struct field *f, struct str format,
                          struct arena *arena, struct errmsg *em);
/* A column's value. */
void value_write_num(const struct value_format *f, int64_t sortable, struct jsonw *w);
/* A term of a keyword or address field. */
void value_write_term(const struct value_format *f, struct str term, struct jsonw *w);
/* Bytes, as Base64. */
void value_write_binary(struct str bytes, bool padded, struct jsonw *w);
/* All doc values of one document, as elements of the open array. */
void doc_values_write(const struct value_format *f, const struct seg_field *seg, doc_id doc, struct jsonw *w);

#endif
