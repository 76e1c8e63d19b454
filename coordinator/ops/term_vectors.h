/* term_vectors.h - term vectors of documents: what is asked for, finding the shards, many at a time.
 *
 * Shared by the endpoints and by what looks documents up. A set is used by one thread at a time: the one that runs it, then
 * those that its requests' answers come on, one after the other. */
#ifndef COORDINATOR_OPS_TERM_VECTORS_H
#define COORDINATOR_OPS_TERM_VECTORS_H

#include "common/base/json_pull.h"
#include "coordinator/core/ask.h"
#include "coordinator/ops/get.h"

#include <stdatomic.h>

struct term_vectors_item {
    struct str index, type; /* p == NULL: none given */
    struct str id;          /* p == NULL: none given, or `doc` is */
    struct str doc;         /* a source; p == NULL: none */
    struct str routing;
    bool realtime;
    int64_t version; /* VERSION_ANY: any */
    int version_type;
    struct term_vectors_options options;
};
/* What is meant where nothing is said. */
void term_vectors_item_init(struct term_vectors_item *it);
/* Reads an object over what *it says; the cursor stands before its first member, and ends at its end. What it keeps is in the
 * arena, or borrowed from the text. ERR_PARSE and others, as Elasticsearch's. */
enum err term_vectors_item_read(struct term_vectors_item *it, struct json_pull *p, struct arena *arena,
                                struct errmsg *em);
/* Adds a name or a pattern to the fields. ERR_NO_MEMORY. */
enum err term_vectors_add_field(struct term_vectors_item *it, struct str name, struct arena *arena,
                                struct errmsg *em);

/* One item on its way. */
struct term_vectors_call {
    struct shard_term_vectors rq;  /* first; its error is also that of finding the shard */
    const struct index_meta *meta; /* NULL: no index was found */
    bool failed;                   /* to find its shard: rq was never asked */
};
/* Finds the shard, and sets the request up; `arena` is for what that takes. false: rq->rq.error says why not. */
bool term_vectors_locate(struct op_env *r, struct term_vectors_call *c, const struct term_vectors_item *it,
                         struct arena *arena);
/* Has the answer something that the type of the item allows? */
void term_vectors_hide_other_type(struct term_vectors_call *c, const struct term_vectors_item *it);

struct term_vectors_many {
    struct op_env *r;
    struct arena *arena;
    const struct term_vectors_item *items;
    uint32_t n;
    struct str preference;
    bool (*cancelled)(void *self); /* then no more are begun; NULL: never */
    void *cancel_self;
    /* Called for each item in their order, with its answer; the call is gone afterwards. */
    void (*each)(struct term_vectors_many *m, uint32_t i, struct term_vectors_call *c);
    void (*done)(struct term_vectors_many *m); /* once, on any thread, maybe inside of term_vectors_run() */
    void *user;
    struct errmsg error; /* afterwards: there was no memory to begin; empty otherwise */
    /* own */
    struct term_vectors_call *calls;
    uint32_t begun, n_calls;
    struct ask_where where;
    _Atomic uint32_t pending;
};
void term_vectors_run(struct term_vectors_many *m);

#endif
