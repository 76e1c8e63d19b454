/* jsonr_object.h - objects in request bodies, read by a row for each field as Elasticsearch's ConstructingObjectParser does it.
 *
 * Fields that are arguments make the object once the last of them is there, or at its end; setters come before or behind that.
 * What is refused has the words and the place that it has there. Pure. */
#ifndef BASE_JSONR_OBJECT_H
#define BASE_JSONR_OBJECT_H

#include "common/base/jsonr.h"

#include <stddef.h>

struct jr_reader {
    struct str text; /* of the body */
    struct arena *arena;
    struct errmsg *em;
    size_t at; /* where the parser stands: the place of a refusal that has none of its own */
};

enum jr_store { JR_TO_READER, JR_TO_INT, JR_TO_BOOL, JR_TO_STR, JR_TO_VALUE };

struct jr_field {
    const char *name;
    unsigned kinds;      /* enum jr_kind */
    enum jr_store store; /* where its value goes: a member of the object that is read, or its reader */
    size_t offset;
    enum { JR_OPTIONAL, JR_REQUIRED, JR_SETTER } is;
};
/* kinds, store and offset of a field, by the type of the member that it goes to. */
#define JR_INT_AT(type, member)    JR_NUMBER | JR_STRING, JR_TO_INT, offsetof(type, member)
#define JR_BOOL_AT(type, member)   JR_BOOL | JR_STRING, JR_TO_BOOL, offsetof(type, member)
#define JR_STR_AT(type, member)    JR_STRING, JR_TO_STR, offsetof(type, member)
#define JR_OBJECT_AT(type, member) JR_OBJECT, JR_TO_VALUE, offsetof(type, member)
#define JR_BY_READER(kinds)        kinds, JR_TO_READER, 0

struct jr_object {
    const char *parser; /* its name in refusals */
    const struct jr_field *fields;
    size_t n; /* at most 15 */
    /* Reads the value of a field that goes to no member; NULL: there is none. */
    enum err (*read)(struct jr_reader *rd, void *to, const char *field, const struct json *v);
    /* Checks what its arguments come to; NULL: nothing is to be checked. */
    enum err (*build)(struct jr_reader *rd, void *to);
};

/* `v` is an object. The error is in rd->em. */
enum err jr_read_object(struct jr_reader *rd, const struct jr_object *o, void *to, const struct json *v);
/* The objects of an array, or one by itself, into *out: n items of `size` bytes, which begin as zeros. */
enum err jr_read_objects(struct jr_reader *rd, const struct jr_object *o, const struct json *v, size_t size,
                         void **out, uint32_t *n);
/* `v` where an object has to be. */
enum err jr_object_at(struct jr_reader *rd, const struct jr_object *o, void *to, const struct json *v);
/* An object whose only member's name says what its value is: the place of that name among `names` (which end with NULL). Once the value
 * is read, jr_named_end() refuses a second member. */
enum err jr_named_object(struct jr_reader *rd, const char *const *names, const struct json *v, size_t *at);
enum err jr_named_end(struct jr_reader *rd, const struct json *v);

#endif
