/* script_fields.h - script_fields of a hit. */
#ifndef ENGINE_FETCH_SCRIPT_FIELDS_H
#define ENGINE_FETCH_SCRIPT_FIELDS_H

#include "engine/fetch/fetch.h"

/* The checks in the query phase: refuses scripts that are missing or do not compile. */
enum err script_fields_check(const struct search_context *cx, struct errmsg *em);
/* Writes each script's value as "name":[value ...]. A script marked ignore_failure that fails is left out. */
enum err script_fields_write(struct fetch *f, struct fetch_hit *h, struct jsonw *w);

#endif
