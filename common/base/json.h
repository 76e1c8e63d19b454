/* json.h - JSON text into a tree.
 *
 * The tree lives in an arena and keeps what Elasticsearch's answers depend on: the text of numbers, the order
 * of members, and byte offsets, from which errors get their line and column. Comments are accepted, duplicate
 * keys are refused, depth and size are limited. The parser underneath is yajl; nothing outside json.c knows
 * it.
 *
 * Strings are UTF-8, borrowed from the text where they have no escapes: the text must outlive the tree. */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include "common/base/arena.h"
#include "common/base/err.h"

enum json_type { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_member;

struct json {
    enum json_type type;
    bool b;       /* JSON_BOOL */
    uint32_t off; /* byte offset of the value's first character */
    uint32_t end; /* byte offset behind its last */
    uint32_t n;   /* elements or members */
    union {
        struct str s;                /* JSON_STRING: decoded; JSON_NUMBER: its text */
        struct json *items;          /* JSON_ARRAY */
        struct json_member *members; /* JSON_OBJECT */
    };
};

struct json_member {
    struct str key;
    uint32_t key_off; /* byte offset of the key's opening quote */
    struct json value;
};

struct json_limits {
    uint32_t depth_max; /* nested containers */
    bool repeats;       /* a key may come twice in an object */
};

#define JSON_DEPTH_MAX 1000
extern const struct json_limits json_limits_default;

/* Parses one value that fills `text` (white space and comments around it are fine). ERR_JSON, ERR_JSON_EOF
 * (the text ends too early) with line and column in the reason as Jackson words it; ERR_NO_MEMORY. */
enum err json_parse(struct json *out, struct str text, struct arena *arena, const struct json_limits *limits,
                    struct errmsg *em) NODISCARD;

/* As json_parse, for readers that act on what comes before a mistake, as streaming parsers do: on ERR_JSON
 * and ERR_JSON_EOF, *out holds the values that were complete, with open containers closed, and
 * json_is_broken() for the one where the text breaks off (a member without a value has a broken one; a
 * mistake where a key is due is a broken member whose key has p == NULL). *extra is the offset of what
 * follows a complete value, SIZE_MAX where that is not the mistake. Broken values are JSON_NULL; their `b`
 * tells a mistake inside a string. */
enum err json_parse_until(struct json *out, size_t *extra, struct str text, struct arena *arena,
                          const struct json_limits *limits, struct errmsg *em) NODISCARD;
/* As json_parse, for the value that the text begins with: what follows it is not read. */
enum err json_parse_first(struct json *out, struct str text, struct arena *arena,
                          const struct json_limits *limits, struct errmsg *em) NODISCARD;
#define JSON_BROKEN UINT32_MAX
static inline bool json_is_broken(const struct json *v)
{
    return v->type == JSON_NULL && v->n == JSON_BROKEN;
}

/* Line and column (both from 1, columns in bytes) of byte `off` in `text`. */
void json_place(struct str text, size_t off, uint32_t *line, uint32_t *col);

/* The member's value, or NULL (also when v is NULL or no object). Linear: bodies are small. */
const struct json *json_get(const struct json *v, const char *key);
const struct json *json_get_str(const struct json *v, struct str key);
/* The same of an object that may be written. */
struct json *json_member_of(struct json *v, struct str key);
/* Follows a dotted path of members. */
const struct json *json_path(const struct json *v, const char *path);

static inline bool json_is(const struct json *v, enum json_type t)
{
    return v != NULL && v->type == t;
}

/* The number has neither fraction nor exponent. */
bool json_is_integral(const struct json *v);
/* Exact, for integral numbers that fit; false otherwise. */
bool json_i64(const struct json *v, int64_t *out);
/* Nearest double of a number (HUGE_VAL past the range); 0 for what is no number. */
double json_double(const struct json *v);
/* The text of a scalar as Java's XContentParser.text() gives it: strings decoded, numbers verbatim, true,
 * false; STR_NULL for null, containers and v == NULL. */
struct str json_text(const struct json *v);
/* "START_OBJECT", "VALUE_STRING" ...: the token with which the value begins, as Elasticsearch names it. */
const char *json_token_name(const struct json *v);

/* Values made by hand. */
struct json json_mk_str(struct str s);
struct json json_mk_bool(bool b);
struct json json_mk_object(void);
/* Adds or replaces a member; false: no memory. *cap-free: grows by doubling in the arena. */
bool json_put(struct json *object, struct arena *arena, struct str key, struct json value) NODISCARD;
/* json_put() of a member that is known not to be there: nothing is looked through. false: no memory. */
bool json_put_new(struct json *object, struct arena *arena, struct str key,
                  const struct json *value) NODISCARD;
/* Deep copy into another arena, strings included; false: no memory. */
bool json_copy(struct json *out, const struct json *v, struct arena *arena) NODISCARD;
/* Same value: objects irrespective of order, numbers by text. */
bool json_equal(const struct json *a, const struct json *b);

#endif
