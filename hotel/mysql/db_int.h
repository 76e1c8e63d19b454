/* db_int.h - the inside of a database connection. For hotel/mysql/db*.c alone. */
#ifndef HOTEL_MYSQL_DB_INT_H
#define HOTEL_MYSQL_DB_INT_H

#include "hotel/mysql/db.h"

#include <mariadb/mysql.h>

#define DB_STATEMENTS_MAX 32
#define DB_PARAMS_MAX     128
#define DB_COLUMNS_MAX    16

struct db_statement {
    const char *sql; /* whose address it is known by */
    MYSQL_STMT *stmt;
};

struct db_conn {
    struct db_conn *next; /* of the idle ones */
    MYSQL *mysql;
    struct db_statement statements[DB_STATEMENTS_MAX];
    size_t statements_n;
    bool broken, in_transaction;
};

/* The database's error as ours; marks the connection when it cannot be used any more. */
enum err db_failed(struct db_conn *c, unsigned code, const char *text, struct errmsg *em);

#endif
