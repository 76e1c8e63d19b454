/* source_int.h - declarations shared by the parsers of a search's body. */
#ifndef ENGINE_QUERY_SOURCE_INT_H
#define ENGINE_QUERY_SOURCE_INT_H

#include "engine/query/source.h"

struct source_parse {
    struct search_source *s;
    struct str text;
    struct arena *arena;
    struct errmsg *em;
};

/* Which values a key takes. */
enum {
    SOURCE_SCALAR = 1, /* any value but null */
    SOURCE_OBJECT = 2,
    SOURCE_ARRAY = 4
};

struct source_key {
    const char *name;
    unsigned takes; /* SOURCE_* */
    enum err (*parse)(const struct source_parse *p, struct str key, const struct json *v);
};

/* The row of `key` that takes v; NULL: none. */
const struct source_key *source_key_find(const struct source_key *keys, size_t n, struct str key,
                                         const struct json *v);
/* A value of a kind that this key does not take. */
enum err source_unknown_key(const struct source_parse *p, struct str key, const struct json *v);
/* A key that shapes hits; any other is unknown. */
enum err source_hits_key(const struct source_parse *p, struct str key, const struct json *v);

#endif
