/* answer.h - the application's answers: from the search service's answers to page results, filter lists,
 * completions.
 *
 * An answer that lacks hits, shards or time is an error, never an empty list. Pure; any thread; bodies are
 * appended to `out`, scratch and nothing else goes to `arena`. Errors: ERR_PARSE for what is no answer to the
 * search, ERR_TIMEOUT and ERR_IO for one that is not complete. */
#ifndef HOTEL_APP_ANSWER_H
#define HOTEL_APP_ANSWER_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"

/* Parses it and sees that all shards have answered in time. */
enum err answer_open(struct str reply, struct json *root, struct arena *arena, struct errmsg *em);
/* {"total":..,"hotels":[..]}, each hotel with every key of the document. distance_at as rules_distance_at().
 * *at_least: the total is a lower bound. */
enum err answer_list(struct buf *out, struct str reply, int distance_at, struct arena *arena, bool *at_least,
                     struct errmsg *em);
/* {"品牌":[..],"城市":[..],"星级":[..]} */
enum err answer_filters(struct buf *out, struct str reply, struct arena *arena, struct errmsg *em);
/* {"version":"3-12.0"} */
enum err answer_version(struct buf *out, struct str reply, struct arena *arena, struct errmsg *em);
/* ["..",".."] */
enum err answer_suggestion(struct buf *out, struct str reply, struct arena *arena, struct errmsg *em);

#endif
