/* get.h - reading documents by id: finding the shard, the answer's form.
 *
 * Shared by get, multi-get and whatever looks documents up. Knows nothing of searching. A call is used by one
 * thread at a time: the one that makes it, then the one that its request's done() is called on. */
#ifndef COORDINATOR_OPS_GET_H
#define COORDINATOR_OPS_GET_H

#include "coordinator/core/op_env.h"
#include "coordinator/core/resolve.h"
#include "engine/query/source.h"

struct get_call {
    struct shard_get rq; /* first: the request's done() gets it */
    struct op_env *r;
    const struct index_meta *meta;
    const struct index_target *target; /* where the name led; in the arena that it was resolved in */
    struct str type;
    struct source_filter filter;
    int64_t version; /* VERSION_ANY: none asked for */
    int version_type;
    bool source_only;
    bool fields_given, source_field; /* stored fields are asked for; "_source" is one of them */
};

/* "internal", "external" ...: as enum version_type; p == NULL is internal. ERR_ILLEGAL_ARGUMENT. */
enum err get_version_type(struct str text, int *out, struct errmsg *em);
/* Finds the one index behind `name` and the shard of g->rq.id: sets meta and rq.rq.shard. routing.p == NULL:
 * none given. `arena` is for what it takes to resolve the name. ERR_INDEX_NOT_FOUND, ERR_ROUTING_MISSING,
 * ERR_ILLEGAL_ARGUMENT (several indices). */
enum err get_locate(struct op_env *r, struct get_call *g, struct str name, struct str routing,
                    struct arena *arena, struct errmsg *em);
/* Nothing is of another type than the one there is: an answered call that asked for another found nothing. One that asked for any (type.p
 * == NULL, `_all`) gets its name. */
void get_hide_other_type(struct get_call *g);
/* The document was found, and is not of the version asked for: *em says so. */
bool get_version_clashes(const struct get_call *g, struct errmsg *em);
/* A source as the filter lets it through, as a value. */
void get_write_source(struct jsonw *w, const struct source_filter *f, struct str source, struct arena *arena);
/* Is the source among these stored fields? */
bool get_names_source(const struct str *fields, uint32_t n);
/* _routing and _ignored of a document that was found, as members. */
void get_write_metadata(const struct shard_get *rq, struct jsonw *w);
/* The answered call as an object: _index ... _source. */
void get_write(struct get_call *g, struct jsonw *w);

#endif
