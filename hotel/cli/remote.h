/* remote.h - the commands' calls to the search service, one after the other, with patience for one that is
 * busy. */
#ifndef HOTEL_CLI_REMOTE_H
#define HOTEL_CLI_REMOTE_H

#include "common/base/arena.h"
#include "common/base/json.h"
#include "hotel/config.h"

#define REMOTE_TRIES   8   /* of one call that is answered with 429 or 503 */
#define REMOTE_WAIT_MS 100 /* before the second; doubles, up to 5 s */

struct remote {
    const struct hotel_config *config;
    unsigned tries; /* [REMOTE_TRIES] */
    int64_t ms_max; /* [2 min] of one try */
};

struct remote_answer { /* in the arena */
    int status;
    struct json body; /* JSON_NULL when there is none */
};

/* One call to <search.url>/<path>, of the first node that answers; body.p == NULL: without. Repeats what is answered with 429 or 503. ERR_IO
 * and ERR_TIMEOUT when there is no answer, ERR_PARSE for one that is not JSON; any status is ERR_OK. */
enum err remote_call(const struct remote *r, const char *method, struct str path, struct str body,
                     const char *content_type, struct arena *arena, struct remote_answer *out,
                     struct errmsg *em);
/* The same to <search.url>/<index><action>. */
enum err remote_index_call(const struct remote *r, const char *method, const char *action, struct str body,
                           struct arena *arena, struct remote_answer *out, struct errmsg *em);
/* The error of an answer, as text: "the search service answered 400: mapper_parsing_exception:
 * ...". */
enum err remote_refused(const struct remote_answer *a, const char *doing, struct errmsg *em);
/* Waits before try number `n` (from 1). */
void remote_wait(unsigned n);

#endif
