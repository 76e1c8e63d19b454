#include "hotel/mysql/db_int.h"

#include <errno.h>
#include <mariadb/errmsg.h>
#include <mariadb/mysqld_error.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct db {
    struct db_opts opts;
    pthread_mutex_t lock;
    pthread_cond_t given;
    struct db_conn *idle;
    unsigned open;
};

enum err db_new(struct db **out, const struct db_opts *opts, struct errmsg *em)
{
    struct db *db = calloc(1, sizeof(*db));
    pthread_condattr_t attr;
    *out = NULL;
    if (db == NULL || mysql_library_init(0, NULL, NULL) != 0) {
        free(db);
        return err_no_memory(em);
    }
    db->opts = *opts;
    pthread_mutex_init(&db->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&db->given, &attr);
    pthread_condattr_destroy(&attr);
    *out = db;
    return ERR_OK;
}

static void conn_close(struct db_conn *c)
{
    for (size_t i = 0; i < c->statements_n; i++) {
        mysql_stmt_close(c->statements[i].stmt);
    }
    mysql_close(c->mysql);
    free(c);
}

void db_free(struct db *db)
{
    if (db == NULL) {
        return;
    }
    while (db->idle != NULL) {
        struct db_conn *c = db->idle;
        db->idle = c->next;
        conn_close(c);
    }
    pthread_cond_destroy(&db->given);
    pthread_mutex_destroy(&db->lock);
    free(db);
}

/* ---- errors ---- */

static bool is_away(unsigned code)
{
    return (code >= CR_MIN_ERROR && code <= CR_MAX_ERROR) || code == ER_SERVER_SHUTDOWN
           || code == ER_CON_COUNT_ERROR || code == ER_ACCESS_DENIED_ERROR || code == ER_DBACCESS_DENIED_ERROR
           || code == ER_BAD_DB_ERROR || code == ER_CONNECTION_KILLED || code == ER_NET_READ_ERROR
           || code == ER_NET_READ_INTERRUPTED || code == ER_NET_ERROR_ON_WRITE
           || code == ER_NET_WRITE_INTERRUPTED || code == ER_NORMAL_SHUTDOWN || code == ER_DISK_FULL;
}

enum err db_failed(struct db_conn *c, unsigned code, const char *text, struct errmsg *em)
{
    if (is_away(code)) {
        c->broken = true;
        return err_set(em, ERR_IO, "the database: %s (%u)", text, code);
    }
    enum err e = code == ER_DUP_ENTRY                                       ? ERR_CONFLICT
                 : code == ER_LOCK_DEADLOCK || code == ER_LOCK_WAIT_TIMEOUT ? ERR_REJECTED
                 : code == ER_NO_SUCH_TABLE                                 ? ERR_NO_SUCH_FILE
                                                                            : ERR_STATUS;
    return err_set(em, e, "the database: %s (%u)", text, code);
}

static enum err query(struct db_conn *c, const char *sql, struct errmsg *em)
{
    return mysql_query(c->mysql, sql) == 0 ? ERR_OK
                                           : db_failed(c, mysql_errno(c->mysql), mysql_error(c->mysql), em);
}

/* ---- the pool ---- */

static unsigned seconds(int64_t ms)
{
    return (unsigned)MAX_OF((int64_t)1, (ms + 999) / 1000);
}

static enum err conn_open(struct db *db, struct db_conn **out, struct errmsg *em)
{
    const struct service_url *u = db->opts.url;
    struct db_conn *c = calloc(1, sizeof(*c));
    unsigned connect_s = seconds(db->opts.connect_ms_max), answer_s = seconds(db->opts.ms_max), no = 0;
    const enum mysql_protocol_type tcp = MYSQL_PROTOCOL_TCP;
    *out = NULL;
    if (c == NULL || (c->mysql = mysql_init(NULL)) == NULL) {
        free(c);
        return err_no_memory(em);
    }
    mysql_options(c->mysql, MYSQL_OPT_CONNECT_TIMEOUT, &connect_s);
    mysql_options(c->mysql, MYSQL_OPT_READ_TIMEOUT, &answer_s);
    mysql_options(c->mysql, MYSQL_OPT_WRITE_TIMEOUT, &answer_s);
    mysql_options(c->mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    mysql_options(c->mysql, MYSQL_OPT_PROTOCOL, &tcp); /* "localhost" too */
    mysql_options(c->mysql, MYSQL_OPT_LOCAL_INFILE, &no);
    if (mysql_real_connect(c->mysql, u->host.p, u->user.p, u->password.p, u->path.p, u->port, NULL, 0)
        == NULL) {
        enum err e = db_failed(c, mysql_errno(c->mysql), mysql_error(c->mysql), em);
        conn_close(c);
        return e;
    }
    *out = c;
    return ERR_OK;
}

/* Waits for a connection or the right to open one; *c is the kept one, or NULL. */
static enum err take_place(struct db *db, struct db_conn **c, struct errmsg *em)
{
    struct timespec until;
    int waited = 0;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += seconds(db->opts.ms_max);
    pthread_mutex_lock(&db->lock);
    while (db->idle == NULL && db->open >= db->opts.connections_max && waited != ETIMEDOUT) {
        waited = pthread_cond_timedwait(&db->given, &db->lock, &until);
    }
    *c = db->idle;
    bool ok = true;
    if (*c != NULL) {
        db->idle = (*c)->next;
    } else if (db->open < db->opts.connections_max) {
        db->open++;
    } else {
        ok = false;
    }
    pthread_mutex_unlock(&db->lock);
    return ok ? ERR_OK : err_set(em, ERR_TIMEOUT, "the database: all connections are taken");
}

static void leave_place(struct db *db)
{
    pthread_mutex_lock(&db->lock);
    db->open--;
    pthread_cond_signal(&db->given);
    pthread_mutex_unlock(&db->lock);
}

/* When one has died the others may have, too: the next takers open new ones instead of finding that out one
 * by one. */
static void close_idle(struct db *db)
{
    pthread_mutex_lock(&db->lock);
    struct db_conn *c = db->idle;
    db->idle = NULL;
    pthread_mutex_unlock(&db->lock);
    while (c != NULL) {
        struct db_conn *next = c->next;
        conn_close(c);
        leave_place(db);
        c = next;
    }
}

enum err db_take(struct db *db, struct db_conn **out, struct errmsg *em)
{
    enum err e = take_place(db, out, em);
    if (e == ERR_OK && *out == NULL) {
        e = conn_open(db, out, em);
        if (e != ERR_OK) {
            leave_place(db);
        }
    }
    return e;
}

void db_give(struct db *db, struct db_conn *c)
{
    if (c == NULL) {
        return;
    }
    if (c->in_transaction && !c->broken) {
        db_rollback(c);
    }
    if (c->broken) {
        conn_close(c);
        leave_place(db);
        close_idle(db);
        return;
    }
    pthread_mutex_lock(&db->lock);
    c->next = db->idle;
    db->idle = c;
    pthread_cond_signal(&db->given);
    pthread_mutex_unlock(&db->lock);
}

void db_mark_broken(struct db_conn *c)
{
    c->broken = true;
}

void db_thread_done(void)
{
    mysql_thread_end();
}

/* ---- transactions and scripts ---- */

enum err db_begin(struct db_conn *c, struct errmsg *em)
{
    enum err e = query(c, "START TRANSACTION", em);
    c->in_transaction = e == ERR_OK;
    return e;
}

enum err db_commit(struct db_conn *c, struct errmsg *em)
{
    enum err e = query(c, "COMMIT", em);
    c->in_transaction = false;
    c->broken = c->broken || e != ERR_OK;
    return e;
}

void db_rollback(struct db_conn *c)
{
    if (query(c, "ROLLBACK", NULL) != ERR_OK) {
        c->broken = true;
    }
    c->in_transaction = false;
}

/* Without the lines that are comments. */
static struct str skip_comments(struct str s)
{
    for (s = str_trim(s); str_starts(s, STR("--")); s = str_trim(s)) {
        struct str rest;
        str_cut(s, '\n', &rest);
        s = rest;
    }
    return s;
}

/* No text or comment of the script's statements has a ';' in it; whole lines of comments may. */
enum err db_script(struct db_conn *c, struct str sql, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (struct str rest = sql; rest.p != NULL && e == ERR_OK;) {
        struct str one = str_cut(skip_comments(rest), ';', &rest);
        if (str_trim(one).n > 0 && mysql_real_query(c->mysql, one.p, one.n) != 0) {
            e = db_failed(c, mysql_errno(c->mysql), mysql_error(c->mysql), em);
        }
    }
    return e;
}
