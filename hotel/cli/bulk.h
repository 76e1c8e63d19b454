/* bulk.h - documents into the index in batches: busy batches are tried again, refused documents are reported with their
 * line. */
#ifndef HOTEL_CLI_BULK_H
#define HOTEL_CLI_BULK_H

#include "common/base/buf.h"
#include "hotel/cli/remote.h"
#include "hotel/hotel.h"

#define BULK_ITEMS_MAX 1000
#define BULK_BYTES_MAX (4 * MIB)

struct bulk_item {
    size_t from, to; /* its two lines in the batch's text */
    int64_t id;
    uint64_t line; /* of the CSV file */
};

struct bulk {
    const struct remote *remote;
    struct arena arena; /* answers; emptied with each batch */
    struct buf text;
    struct bulk_item items[BULK_ITEMS_MAX];
    size_t n;
    uint64_t done, refused; /* hotels */
    /* Called for each hotel that is refused for good. */
    void (*on_refused)(void *arg, const struct bulk_item *item, struct str type, struct str reason);
    void *arg;
};

void bulk_init(struct bulk *b, const struct remote *remote);
void bulk_fini(struct bulk *b);
/* Adds one; sends the batch first when it is full. */
enum err bulk_add(struct bulk *b, const struct hotel *h, uint64_t line, struct errmsg *em);
/* Sends what is there. ERR_IO, ERR_TIMEOUT, ERR_PARSE, ERR_STATUS; ERR_REJECTED when it stays busy. */
enum err bulk_send(struct bulk *b, struct errmsg *em);

#endif
