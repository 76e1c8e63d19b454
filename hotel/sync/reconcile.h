/* reconcile.h - makes documents of the index agree with rows of the database.
 *
 * The database decides: an existing row is indexed, a missing row is deleted from the index.
 * Fields that only the index has (isAD) are kept (docs/decisions/hotel-promotion.md). Every write carries the
 * sequence number of the document that was read, and after it row and document are read again, until they
 * agree: so of two that do this at once neither leaves an older row behind, and repeating it, in any order,
 * ends the same.
 *
 * Blocks; one thread for a struct. */
#ifndef HOTEL_SYNC_RECONCILE_H
#define HOTEL_SYNC_RECONCILE_H

#include "hotel/cli/remote.h"
#include "hotel/mysql/hotels.h"

#define RECONCILE_IDS_MAX 500 /* of one call */

enum agreement {
    AGREES,
    NOT_INDEXED, /* a row without document */
    NO_ROW,      /* a document without row */
    DIFFERS,
};

struct reconcile {
    struct remote remote;
    struct db *db;
    /* A document that the search service refuses for good: it is left as it is. */
    void (*on_refused)(void *arg, int64_t id, struct str type, struct str reason);
    void *arg;
    uint64_t written; /* documents indexed or deleted */
    struct arena arena;
    int64_t refreshed_ms; /* when a write was last made visible at once (monotonic) */
    bool unseen;          /* there were writes since */
};

void reconcile_init(struct reconcile *r, const struct hotel_config *config, struct db *db);
void reconcile_fini(struct reconcile *r);

/* ids: each once, at most RECONCILE_IDS_MAX. Errors of the database (db.h) and of the search service
 * (remote.h), ERR_REJECTED (busy), ERR_CONFLICT (others keep changing them): what is done is done, the same
 * call again goes on. */
enum err reconcile(struct reconcile *r, const int64_t *ids, size_t n, struct errmsg *em);

/* Makes searches see what was written, where they may not: when there is nothing else to do. Without success
 * the index does so by itself, later. */
void reconcile_show(struct reconcile *r);

/* Compares without changing anything. fields: what differs ("price, name"), for DIFFERS. */
enum err reconcile_look(struct reconcile *r, const int64_t *ids, size_t n,
                        void (*found)(void *arg, int64_t id, enum agreement a, struct str fields), void *arg,
                        struct errmsg *em);

#endif
