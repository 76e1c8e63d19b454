/* scorer_windows.h - disjunctions computed window by window: MAXSCORE over block bounds. Internal to
 * engine/query. */
#ifndef ENGINE_QUERY_SCORER_WINDOWS_H
#define ENGINE_QUERY_SCORER_WINDOWS_H

#include "engine/query/scorers.h"

/* For children without a second phase. */
enum err window_scorer_new(struct arena *a, struct scorer **v, uint32_t n, const struct disjunction_opts *o,
                           uint64_t cost, struct scorer **out, struct errmsg *em);

#endif
