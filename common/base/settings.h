/* settings.h - Elasticsearch's settings: a flat, sorted map from dotted names to text or lists of text.
 *
 * Every value is text, as in Elasticsearch: 5 and "5" are the same setting. `{"a":{"b":1}}` and `{"a.b":1}`
 * too. A list is one value; lists given as "a.0", "a.1" are recognised when read. Null values stay (they
 * reset a setting). */
#ifndef BASE_SETTINGS_H
#define BASE_SETTINGS_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/base/json.h"
#include "common/base/jsonw.h"

struct setting {
    struct str key;
    bool is_null, is_list;
    struct str value;  /* when neither */
    struct str *items; /* is_list */
    uint32_t n;
};

struct settings {
    struct arena *arena; /* borrowed: keys, values and the array live there */
    struct setting *v;   /* sorted by key */
    size_t n, cap;
    const struct settings *behind; /* where readers by ids look for what is not here; NULL: nowhere */
};

void settings_init(struct settings *s, struct arena *arena);
/* Sets or replaces one value (text is copied). false: no memory. */
bool settings_put(struct settings *s, struct str key, struct str value) NODISCARD;
bool settings_put_null(struct settings *s, struct str key) NODISCARD;
bool settings_put_list(struct settings *s, struct str key, const struct str *items, uint32_t n) NODISCARD;
/* Removes the exact key; true if it was there. */
bool settings_remove(struct settings *s, struct str key);
/* Flattens an object into s, each name prefixed with `prefix` (may be empty; else without its dot). Arrays of
 * scalars are lists; ERR_SETTINGS for others. */
enum err settings_from_json(struct settings *s, const struct json *object, struct str prefix,
                            struct errmsg *em);
/* Copies all of `from` over s. */
bool settings_merge(struct settings *s, const struct settings *from) NODISCARD;
/* A view of those below `prefix` + ".", with the prefix cut off, in `arena` (texts are shared). */
bool settings_sub(struct settings *out, const struct settings *s, struct str prefix,
                  struct arena *arena) NODISCARD;

/* NULL when absent. */
const struct setting *settings_find(const struct settings *s, struct str key);
/* Any setting below `prefix` + "."? */
bool settings_has_prefix(const struct settings *s, struct str prefix);
/* The text, or `otherwise` when absent or null. */
struct str settings_str(const struct settings *s, const char *key, struct str otherwise);
/* A value as errors show it: a list in brackets. */
void settings_put_text(const struct setting *t, struct buf *b);
/* ERR_ILLEGAL_ARGUMENT as Elasticsearch words it when the text is no such value. */
enum err settings_bool(const struct settings *s, const char *key, bool otherwise, bool *out,
                       struct errmsg *em);
enum err settings_i64(const struct settings *s, const char *key, int64_t otherwise, int64_t *out,
                      struct errmsg *em);
enum err settings_double(const struct settings *s, const char *key, double otherwise, double *out,
                         struct errmsg *em);
/* "30s", "1m", "500ms", "-1", "1d" in milliseconds (-1 stays -1); a number without unit is refused but for 0
 * and -1. */
enum err settings_time_ms(const struct settings *s, const char *key, int64_t otherwise, int64_t *out,
                          struct errmsg *em);
/* The list (a single text counts as a list split at commas, as Elasticsearch does), with "key.0", "key.1" ...
 * gathered. *n == 0 and *out == NULL when absent. */
bool settings_list(const struct settings *s, const char *key, struct arena *arena, struct str **out,
                   uint32_t *n) NODISCARD;

/* A text split at commas, its parts trimmed. */
bool settings_split(struct str text, struct arena *arena, struct str **out, uint32_t *n) NODISCARD;
/* The parsers on bare text, parse_bytes() of "10kb", "1gb", "100b"; `name` is for the error's wording. */
enum err parse_time_ms(struct str text, const char *name, int64_t *out, struct errmsg *em);
enum err parse_bytes(struct str text, const char *name, int64_t *out, struct errmsg *em);

/* As an object: nested ({"index":{"a":"1"}}) or flat ({"index.a":"1"}). Nulls are left out. */
void settings_write(const struct settings *s, struct jsonw *w, bool flat);

#endif
