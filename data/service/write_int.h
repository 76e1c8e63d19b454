/* write_int.h - declarations shared by the files of writes: a request in progress (write.c), parsed (write_parse.c), applied item by item
 * (write_items.c). */
#ifndef DATA_SERVICE_WRITE_INT_H
#define DATA_SERVICE_WRITE_INT_H

#include "data/replication/replication.h"
#include "data/service/service_int.h"

/* The values of parsed documents point into the mapping that parsed them. */
struct held_mapping {
    struct mapping *m;
    struct held_mapping *next;
};

struct write_run {
    struct shard_waiter waiter; /* first; its location is what must be on disk */
    uint64_t written;           /* the location of its newest operation */
    struct shard_write *rq;
    struct shard *sh;
    uint32_t slice, slice_end; /* the items under way: [slice, slice_end) */
    struct parsed_doc *docs;   /* of each; id.p == NULL: not parsed (a delete, an update, a failure) */
    struct arena scratch;      /* of the slice: docs and what is in them */
    uint32_t at;               /* the next item to parse, or to apply */
    bool applying;
    uint32_t mapping_rounds; /* of the current item */
    bool begun;              /* it was admitted on the strand */
    struct parked_request parked;
    struct fanout *fanout;     /* NULL: nothing goes elsewhere */
    int64_t *parse_ns;         /* of each item, for the slow log; NULL: it is off */
    struct held_mapping *held; /* newest first */
};

/* ---- write.c ---- */

/* Goes on with a request that was admitted: on the pool, or on the strand when it is applying. */
void write_resume(struct write_run *r);
void write_fail_item(struct write_run *r, struct write_item *it, const struct errmsg *em);

/* ---- write_parse.c ---- */

/* The items from `from` on whose sources fill a slice. false: no memory. */
bool write_begin_slice(struct write_run *r, uint32_t from);
/* [pool] Parses the slice; then it is applied. */
void write_parse_task(void *arg);
enum err write_parse_source(struct write_run *r, const struct write_item *it, struct str source,
                            struct parsed_doc *doc, struct errmsg *em);
/* Sends the fields that the document wants to the master. The run goes on when they are there. */
void write_ask_for_fields(struct write_run *r, const struct json *update);
/* Does the item name another type than the one that the index has? */
bool write_type_differs(struct write_run *r, const struct write_item *it);
/* What took long has come to its end, or the node has, which ended it. */
enum err write_until_end(struct stop *st, enum err e, struct errmsg *em);

/* ---- write_items.c ---- */

/* [strand] *wait: new fields were asked for, and it is applied again. */
enum err write_apply_item(struct write_run *r, struct write_item *it, bool *wait, struct errmsg *em);
/* What the item was answered from must last, too: whoever is told of a conflict may rely on it. */
void write_confirm(struct write_run *r);

#endif
