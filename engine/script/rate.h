/* rate.h - the limit of a node's rate of compilations (script.max_compilations_rate, script.context.*.max_compilations_rate).
 *
 * As in Elasticsearch, what counts is a script that was not among the last hundred: a bucket of `count` tokens fills up in
 * `window_ms`, each new script takes one, and where there is none the script is refused. Any thread. */
#ifndef SCRIPT_RATE_H
#define SCRIPT_RATE_H

#include "common/base/clock.h"
#include "engine/script/script.h"

struct script_rate {
    uint32_t count;
    int64_t window_ms; /* 0: as many as come */
};

struct script_rates {
    bool one;                               /* of all contexts together: that of `of[0]` */
    struct script_rate of[SCRIPT_CONTEXTS]; /* by context */
    const struct clock *clock;
};

/* Elasticsearch's name of a context: "score", "moving-function"; NULL behind the last one. */
const char *script_context_name(unsigned context);
/* What holds from now on. When that is something else than before, buckets are full again and what was seen is forgotten. */
void script_rates_set(const struct script_rates *rates);
/* A script is about to be compiled. ERR_GENERAL_SCRIPT around ERR_NO_MEMORY when it is one too many. */
enum err script_rate_take(enum script_context context, struct str source, struct str lang,
                          struct errmsg *em) NODISCARD;

#endif
