/* document.h - writes of one document: what index, create, delete and update share.
 *
 * Each reads its parameters, fills the one entry of the set and runs it; the answer is the entry's result or
 * its error. */
#ifndef COORDINATOR_REST_DOCUMENT_H
#define COORDINATOR_REST_DOCUMENT_H

#include "coordinator/ops/writes.h"
#include "coordinator/rest/rest.h"

/* A set of one entry, in r->arena; NULL: no memory (r->em says so). */
struct write_set *document_write_new(struct rest *r);
/* Reads refresh, timeout, wait_for_active_shards of a request. */
enum err rest_write_params(struct rest *r, struct write_set *w);
/* The parameters that every write has, and where the path says it goes. */
enum err document_write_params(struct rest *r, struct write_set *w);
/* Goes on with what has been read, or refuses the request for `e` (the error in r->em). */
void document_write_run(struct rest *r, struct write_set *w, enum err e);

/* Reads the body of an update (doc, script, upsert ...) into the entry, whose source it becomes. A value
 * behind the body is not looked at. r->body is the text that places in errors are of. */
enum err update_body_read(struct rest *r, struct write_entry *e, struct str text);

#endif
