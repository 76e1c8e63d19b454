/* java.h - the effects of Java's data structures on answers: the order of a HashMap's keys decides which
 * of two mistakes in a mapping is reported, and toString() words a value in an error. Pure; any thread. */
#ifndef ENGINE_MAPPING_JAVA_H
#define ENGINE_MAPPING_JAVA_H

#include "common/base/buf.h"
#include "common/base/java_hash.h"
#include "common/base/json.h"

/* The class that Jackson gives a value: "Integer", "HashMap"; "null". */
const char *java_class_name(const struct json *v);

/* Appends what toString() gives: maps as {a=1, b=[x, y]}, whole numbers verbatim, fractions as Double prints
 * them. */
void java_put_text(struct buf *b, const struct json *v);
/* The same in `arena`; strings, booleans and whole numbers are not copied. p == NULL: no memory. */
struct str java_text(const struct json *v, struct arena *arena) NODISCARD;
/* The value as an `int` of a mapping or a template: a whole number, or the text of one. `arena` holds the text of an error.
 * ERR_NUMBER_FORMAT, ERR_ILLEGAL_ARGUMENT (a fraction), ERR_ARITHMETIC (out of range), ERR_NO_MEMORY. */
enum err java_int(const struct json *v, int32_t *out, struct arena *arena, struct errmsg *em) NODISCARD;
/* Nodes' classes as errors name them: "java.lang.String" ... */
const char *java_class(const struct json *v);

#endif
