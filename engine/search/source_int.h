/* source_int.h - what the parsers of a search's body share. */
#ifndef ENGINE_SEARCH_SOURCE_INT_H
#define ENGINE_SEARCH_SOURCE_INT_H

#include "engine/search/source.h"

struct parse {
    struct search_source *s;
    struct str text;
    struct arena *arena;
    struct errmsg *em;
};

/* A value of a kind that this key does not take. */
enum err unknown_key(const struct parse *p, struct str key, const struct json *v);

/* Values of single keys, into p->s; mistakes into p->em (source_parts.c). */
enum err source_rescore(const struct parse *p, const struct json *v);
enum err source_slice(const struct parse *p, const struct json *v);
enum err source_point_in_time(const struct parse *p, const struct json *v);
enum err source_indices_boost(const struct parse *p, const struct json *v);
enum err source_ext(const struct parse *p, const struct json *v);
enum err source_runtime(const struct parse *p, const struct json *v);

#endif
