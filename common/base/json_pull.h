/* json_pull.h - a cursor of tokens over a JSON tree.
 *
 * Elasticsearch reads request bodies token by token, and what its errors say (which token was met, in which
 * line and column) depends on how far its readers had come. Readers written over this cursor move as those
 * do, so their errors agree, also for bodies that make no sense. The cursor knows nothing of queries. One
 * owner at a time. */
#ifndef BASE_JSON_PULL_H
#define BASE_JSON_PULL_H

#include "common/base/json.h"

enum json_token {
    TOK_NONE, /* before the first, behind the last */
    TOK_START_OBJECT,
    TOK_END_OBJECT,
    TOK_START_ARRAY,
    TOK_END_ARRAY,
    TOK_FIELD_NAME,
    TOK_STRING,
    TOK_NUMBER,
    TOK_BOOLEAN,
    TOK_NULL
};

struct json_pull_level {
    const struct json *container;
    uint32_t i;    /* next child */
    bool at_value; /* objects: the child's name was given, its value comes next */
};

struct json_pull {
    struct str text; /* the whole body, for places */
    enum json_token token;
    const struct json *value; /* the value that the token is, begins or ends; of a field name: its value */
    struct str name;          /* current name, as Jackson's getCurrentName() */
    size_t off;               /* where the token begins */
    uint32_t depth;
    bool broken; /* the text broke off (json_parse_until): nothing follows */
    struct json_pull_level *levels;
    const struct json *root;
    struct arena *arena;
};

/* Stands before the root. false: no memory. Tree and text are borrowed. */
bool json_pull_init(struct json_pull *p, const struct json *root, struct str text,
                    struct arena *arena) NODISCARD;
/* Moves to the next token and returns it; TOK_NONE at the end. Where a broken text breaks, the cursor stays
 * on the last token that could be read, and `broken` is set: no error that a reader then finds is worth
 * telling. Readers' loops turn on json_pull_more, json_pull_until or json_pull_member, never on this: those end on every text
 * (tools/layers looks). */
enum json_token json_pull_next(struct json_pull *p);
/* Moves to the next token. false where there is none: the text has ended or breaks off. */
static inline bool json_pull_more(struct json_pull *p)
{
    return json_pull_next(p) != TOK_NONE;
}
/* Moves to the next token. false when that is `end` (TOK_END_OBJECT, TOK_END_ARRAY), or there is none. */
static inline bool json_pull_until(struct json_pull *p, enum json_token end)
{
    return json_pull_more(p) && p->token != end;
}
/* Moves to the next token of an object that is no name of a member, and leaves the last name that it passes in *name. false at
 * the object's end, or where there is none. */
static inline bool json_pull_member(struct json_pull *p, struct str *name)
{
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token != TOK_FIELD_NAME) {
            return true;
        }
        *name = p->name;
    }
    return false;
}
/* On START_OBJECT or START_ARRAY: to its end; elsewhere nothing. */
void json_pull_skip(struct json_pull *p);

/* "START_OBJECT", "VALUE_STRING" ... */
const char *json_token_text(enum json_token t);
/* The token is a string, number or boolean. */
static inline bool json_token_is_value(enum json_token t)
{
    return t == TOK_STRING || t == TOK_NUMBER || t == TOK_BOOLEAN;
}

/* The current token's value by XContentParser's rules. */
enum err json_pull_text(const struct json_pull *p, struct str *out, struct errmsg *em);
/* null gives STR_NULL. */
enum err json_pull_text_or_null(const struct json_pull *p, struct str *out, struct errmsg *em);
enum err json_pull_i32(const struct json_pull *p, int32_t *out, struct errmsg *em);
enum err json_pull_float(const struct json_pull *p, float *out, struct errmsg *em);
enum err json_pull_double(const struct json_pull *p, double *out, struct errmsg *em);
enum err json_pull_bool(const struct json_pull *p, bool *out, struct errmsg *em);

/* ERR_PARSING and other errors that carry line and column apart, at the current token. */
enum err json_pull_err(const struct json_pull *p, struct errmsg *em, enum err code, const char *fmt, ...)
    PRINTF_LIKE(4, 5);
/* Content errors (ERR_X_CONTENT, ERR_NAMED_OBJECT), which carry their place in the wording, at byte `off`. */
enum err json_pull_err_content(const struct json_pull *p, size_t off, struct errmsg *em, enum err code,
                               const char *fmt, ...) PRINTF_LIKE(5, 6);
/* Puts a content error at the current token around what em holds. */
enum err json_pull_wrap_content(const struct json_pull *p, struct errmsg *em, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

#endif
