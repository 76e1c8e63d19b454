/* msearch_int.h - declarations shared by msearch.c and msearch_header.c: several searches in one request. */
#ifndef COORDINATOR_REST_MSEARCH_INT_H
#define COORDINATOR_REST_MSEARCH_INT_H

#include "coordinator/rest/search.h"

#define KEPT 64 /* searches that are held from the first look at the body until the answer */

/* One of the searches. Those behind the first ones are read again when they begin, and end as a text, so that however many there are
 * they hold little, and are gone at once when the client is. */
struct part {
    struct multi *m;
    struct str header, body;
    struct search_call *call; /* NULL: not begun, or written */
    struct buf answer;
    bool refused; /* no search comes of its template: `answer` says why */
};

struct multi {
    struct rest *r;
    struct part *parts;
    uint32_t n;
    size_t cap;
    struct str index, type, routing; /* of the URL */
    bool dfs;
    uint32_t at_a_time;
    uint32_t started, ended; /* of whoever found `turns` at 0 */
    bool left;               /* the client has gone, and what had not begun does not begin */
    _Atomic uint32_t turns;  /* searches that ended and are not looked at yet, and 1 for the first start */
    bool typed_keys, total_as_int;
    bool templates;   /* bodies are templates */
    uint32_t n_empty; /* templates that are missing */
    uint32_t n_refused;
    struct expand_options indices; /* of the URL */
    struct str types;              /* of the search that is read */
};

/* The line before a search: which indices, and how. What it says goes to c->o and m->types; the error is in m->r->em. */
enum err msearch_header(struct multi *m, struct search_call *c, struct str line);

#endif
