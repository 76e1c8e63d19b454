/* db.h - connections to the relational database: a pool of them, statements prepared once each, time-outs.
 *
 * Knows SQL's outside (parameters, rows, errors), not the tables. Calls block: never on a loop's thread. A
 * connection belongs to one thread from db_take() to db_give(). One that failed is closed when it is given
 * back, and the next taker opens another: that is how the pool reconnects.
 *
 * Errors: ERR_IO the database is away, refuses us or went away in between; ERR_TIMEOUT it was too slow, or
 * all connections stayed taken; ERR_CONFLICT a key that is there already; ERR_REJECTED a deadlock or a lock
 * that was not given: try the transaction again; ERR_NO_SUCH_FILE a table is missing; ERR_STATUS any other. */
#ifndef HOTEL_MYSQL_DB_H
#define HOTEL_MYSQL_DB_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "hotel/services.h"

struct db;
struct db_conn;

struct db_opts {
    const struct service_url *url;  /* borrowed; its path is the database's name */
    int64_t connect_ms_max, ms_max; /* of connecting, of each answer; whole seconds count */
    unsigned connections_max;
};

/* Before any other thread; connects to nothing yet. */
enum err db_new(struct db **out, const struct db_opts *opts, struct errmsg *em);
void db_free(struct db *db); /* all connections are back. NULL ok */

/* A connection, kept or new. Waits up to ms_max for one. */
enum err db_take(struct db *db, struct db_conn **out, struct errmsg *em);
void db_give(struct db *db, struct db_conn *c); /* NULL ok; an open transaction is rolled back */

/* Has db_give() close it: its session's state (a lock by name) is not to live on. */
void db_mark_broken(struct db_conn *c);
/* At the end of a thread of one's own that made calls. */
void db_thread_done(void);

enum db_kind { DB_NULL, DB_I64, DB_TEXT };

struct db_value {
    enum db_kind kind;
    int64_t i;
    struct str s; /* UTF-8 */
};

struct db_rows {        /* in the arena given */
    struct db_value *v; /* rows * columns */
    size_t rows, columns;
    uint64_t affected;
};

static inline struct db_value db_i64(int64_t i)
{
    return (struct db_value){.kind = DB_I64, .i = i};
}

/* s.p == NULL: null. */
static inline struct db_value db_text(struct str s)
{
    return (struct db_value){.kind = s.p == NULL ? DB_NULL : DB_TEXT, .s = s};
}

/* Runs a statement with its parameters. sql: a constant that lives as long as the program: it is prepared
 * once for a connection, and recognised by its address. out may be NULL. */
enum err db_run(struct db_conn *c, const char *sql, const struct db_value *params, size_t n,
                struct arena *arena, struct db_rows *out, struct errmsg *em);
/* Several statements without parameters or rows, one after the other: for the schema. */
enum err db_script(struct db_conn *c, struct str sql, struct errmsg *em);

enum err db_begin(struct db_conn *c, struct errmsg *em);
/* After ERR_IO or ERR_TIMEOUT, it is unknown whether it was done. */
enum err db_commit(struct db_conn *c, struct errmsg *em);
void db_rollback(struct db_conn *c);

#endif
