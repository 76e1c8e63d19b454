/* jsonr.h - reading request bodies as Elasticsearch's parsers do: typed values out of JSON, refusals with a
 * place.
 *
 * XContentParser converts freely: numbers may be given as text, fractions are cut for whole parameters,
 * "true" is true. What it refuses, it refuses with the types used here. `text` is the body's text: places are
 * computed from it. Pure. */
#ifndef BASE_JSONR_H
#define BASE_JSONR_H

#include "common/base/err.h"
#include "common/base/json.h"

/* parser.intValue(), longValue(), floatValue(), doubleValue(), booleanValue(). */
enum err jr_int(const struct json *v, int32_t *out, struct errmsg *em);
enum err jr_long(const struct json *v, int64_t *out, struct errmsg *em);
enum err jr_float(const struct json *v, float *out, struct errmsg *em);
enum err jr_double(const struct json *v, double *out, struct errmsg *em);
enum err jr_bool(const struct json *v, bool *out, struct errmsg *em);

/* parsing_exception at a value's first character. */
enum err jr_fail(struct str text, size_t off, struct errmsg *em, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* The same as x_content_parse_exception, worded "[line:col] ...". */
enum err jr_fail_xc(struct str text, size_t off, struct errmsg *em, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* "[1:60] [parser] failed to parse field [name]" around what em holds: ObjectParser's wrapping. Returns
 * ERR_X_CONTENT. */
enum err jr_wrap_field(struct str text, size_t off, const char *parser, struct str field, struct errmsg *em);
/* "[1:60] [parser] unknown field [name]", with "did you mean" among `known` (NULL-terminated). */
enum err jr_unknown_field(struct str text, size_t off, const char *parser, struct str field,
                          const char *const *known, struct errmsg *em);
#define JR_HINT_MAX 512

/* Names close to `word` (Levenshtein, as Elasticsearch suggests them): " did you mean [x]?", " did you mean any of
 * [x, y]?" or "" into buf, which has room for JR_HINT_MAX bytes. */
void jr_did_you_mean(struct str word, const char *const *known, char *buf, size_t cap);

/* Kinds of values, as bits. */
enum jr_kind {
    JR_NULL = 1,
    JR_BOOL = 2,
    JR_NUMBER = 4,
    JR_STRING = 8,
    JR_ARRAY = 16,
    JR_OBJECT = 32,
    JR_VALUE = JR_NULL | JR_BOOL | JR_NUMBER | JR_STRING,
};

/* "[1:60] [parser] name doesn't support values of type: START_ARRAY" where the member's value is none of `kinds`:
 * ObjectParser's check. */
enum err jr_expect(struct str text, const char *parser, const struct json_member *m, unsigned kinds,
                   struct errmsg *em);
/* The token behind place *at of a body that is JSON, as a reader that stands there meets it next: its name
 * ("END_ARRAY", "FIELD_NAME", "VALUE_STRING"), with *at moved to where it begins. */
const char *jr_next_token(struct str text, size_t *at);
/* The object that ObjectParser reads where it finds `v`: `v`; or, as it takes one token when it stands before
 * none, what comes behind that token. The refusal "[parser] Expected START_OBJECT but was: END_ARRAY" where that
 * is no object, ERR_OK with *out == NULL where it is one outside of `v`. */
enum err jr_object(struct str text, const char *parser, const struct json *v, const struct json **out,
                   struct errmsg *em);
/* What Jackson calls a value: VALUE_NUMBER_INT, VALUE_TRUE. */
const char *jr_token(const struct json *v);
/* The refusal of a text that is no number with a fraction, in Java's words; returns ERR_NUMBER_FORMAT. */
enum err jr_bad_double(struct str s, struct errmsg *em);

/* One text or an array of texts, as patterns of _source and the like. ERR_ILLEGAL_ARGUMENT otherwise. */
bool jr_strings(const struct json *v, struct arena *arena, const struct str **out, uint32_t *n) NODISCARD;

#endif
