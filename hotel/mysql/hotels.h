/* hotels.h - the statements on table tb_hotel and on its outbox.
 *
 * Texts and rows are in the arena given. Errors are those of db.h. One thread for a connection. */
#ifndef HOTEL_MYSQL_HOTELS_H
#define HOTEL_MYSQL_HOTELS_H

#include "hotel/hotel.h"
#include "hotel/mysql/db.h"

#define HOTELS_IDS_MAX 100 /* of one hotels_get() */

/* Makes the tables that are missing (deploy/mysql). Without the right to: ERR_STATUS, unless they are there. */
enum err hotels_create_tables(struct db_conn *c, struct arena *arena, struct errmsg *em);

/* Those of the ids (at most HOTELS_IDS_MAX) that have a row, ordered by id. */
enum err hotels_get(struct db_conn *c, const int64_t *ids, size_t n, struct arena *arena, struct hotel **out,
                    size_t *out_n, struct errmsg *em);
/* Up to n rows with an id above `after`, ordered by id; first: from the lowest one on. */
enum err hotels_after(struct db_conn *c, bool first, int64_t after, int64_t n, struct arena *arena,
                      struct hotel **out, size_t *out_n, struct errmsg *em);
/* key.n == 0: all; else those with the key in their name, brand, city or district, or as their id. */
enum err hotels_page(struct db_conn *c, struct str key, int64_t from, int64_t n, struct arena *arena,
                     struct hotel **out, size_t *out_n, struct errmsg *em);
enum err hotels_count(struct db_conn *c, struct str key, struct arena *arena, int64_t *out,
                      struct errmsg *em);

/* ---- inside a transaction ---- */

/* The row, locked until the transaction ends. *found false: there is none. */
enum err hotels_lock(struct db_conn *c, int64_t id, struct arena *arena, struct hotel *out, bool *found,
                     struct errmsg *em);
enum err hotels_insert(struct db_conn *c, const struct hotel *h, struct arena *arena, struct errmsg *em);
enum err hotels_update(struct db_conn *c, const struct hotel *h, struct arena *arena, struct errmsg *em);
enum err hotels_delete(struct db_conn *c, int64_t id, struct arena *arena, struct errmsg *em);

/* ---- the outbox ---- */

struct outbox_row {
    int64_t seq, hotel_id;
    bool deleted; /* else: added or changed */
};

#define OUTBOX_ROWS_MAX 100 /* of one outbox_remove() */

/* In the transaction that changes the row: after the change, so that a hotel's entries are in the order in
 * which its changes were committed. */
enum err outbox_add(struct db_conn *c, int64_t hotel_id, bool deleted, struct arena *arena,
                    struct errmsg *em);
/* The oldest n, in order. */
enum err outbox_read(struct db_conn *c, int64_t n, struct arena *arena, struct outbox_row **out,
                     size_t *out_n, struct errmsg *em);
enum err outbox_remove(struct db_conn *c, const struct outbox_row *rows, size_t n, struct arena *arena,
                       struct errmsg *em);
/* How many wait, and for how many milliseconds the oldest one has. */
enum err outbox_state(struct db_conn *c, struct arena *arena, int64_t *waiting, int64_t *oldest_ms,
                      struct errmsg *em);
/* Lets one publisher at a time read the outbox: true while this connection is the one. */
enum err outbox_lead(struct db_conn *c, struct arena *arena, bool *leading, struct errmsg *em);

#endif
