/* fetch_phase.h - the fetch phase: chosen documents of one shard become hits, each a finished JSON object. */
#ifndef ENGINE_FETCH_FETCH_PHASE_H
#define ENGINE_FETCH_FETCH_PHASE_H

#include "engine/collect/search_context.h"

struct engine_doc;

/* hits[i] becomes the JSON object of docs[i], in `arena`. */
enum err search_fetch_phase(struct str *hits, const struct search_shard *shard,
                            const struct search_source *source, const struct top_doc *docs, uint32_t n,
                            struct arena *arena, struct errmsg *em);

/* The stored fields named (patterns) of one document, as the object under "fields"; n == 0 in *out: none. */
enum err stored_fields_json(const struct view *v, const struct engine_doc *doc, const struct str *names,
                            uint32_t n_names, struct arena *arena, struct str *out, struct errmsg *em);

#endif
