/* whole_query.h - a request's query with what Elasticsearch puts around it: the boost of its index, the
 * filters of the aliases that it names, and the filter that keeps nested objects out.
 *
 * Searching keeps nested objects out by itself, so the last one is there only where a query is shown. For
 * those that search and those that show queries. */
#ifndef ENGINE_COLLECT_WHOLE_QUERY_H
#define ENGINE_COLLECT_WHOLE_QUERY_H

#include "engine/collect/search_context.h"

enum query_use { QUERY_RUN, QUERY_SHOWN /* printed or explained */ };

/* The source's query (none: match_all) in cx's arena. */
enum err whole_query(const struct query **out, const struct search_context *cx, enum query_use use,
                     struct errmsg *em);

#endif
