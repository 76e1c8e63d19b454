/* source_int.h - the parts of a search's body that have a file of their own (source_parts.c). */
#ifndef ENGINE_SEARCH_SOURCE_INT_H
#define ENGINE_SEARCH_SOURCE_INT_H

#include "engine/query/source_int.h"

/* Values of single keys, into p->s; mistakes into p->em (source_parts.c). */
enum err source_rescore(const struct source_parse *p, struct str key, const struct json *v);
enum err source_slice(const struct source_parse *p, struct str key, const struct json *v);
enum err source_point_in_time(const struct source_parse *p, struct str key, const struct json *v);
enum err source_indices_boost(const struct source_parse *p, struct str key, const struct json *v);
enum err source_ext(const struct source_parse *p, struct str key, const struct json *v);
enum err source_runtime(const struct source_parse *p, struct str key, const struct json *v);

#endif
