/* Prepared statements: parameters in, rows out. */
#include "hotel/mysql/db_int.h"

static enum err stmt_failed(struct db_conn *c, MYSQL_STMT *stmt, struct errmsg *em)
{
    return db_failed(c, mysql_stmt_errno(stmt), mysql_stmt_error(stmt), em);
}

static enum err find_statement(struct db_conn *c, const char *sql, MYSQL_STMT **out, struct errmsg *em)
{
    for (size_t i = 0; i < c->statements_n; i++) {
        if (c->statements[i].sql == sql) {
            *out = c->statements[i].stmt;
            return ERR_OK;
        }
    }
    assert(c->statements_n < DB_STATEMENTS_MAX);
    bool yes = true;
    MYSQL_STMT *stmt = mysql_stmt_init(c->mysql);
    if (stmt == NULL) {
        return err_no_memory(em);
    }
    mysql_stmt_attr_set(stmt, STMT_ATTR_UPDATE_MAX_LENGTH, &yes);
    if (mysql_stmt_prepare(stmt, sql, strlen(sql)) != 0) {
        enum err e = stmt_failed(c, stmt, em);
        mysql_stmt_close(stmt);
        return e;
    }
    c->statements[c->statements_n++] = (struct db_statement){sql, stmt};
    *out = stmt;
    return ERR_OK;
}

static enum err execute(struct db_conn *c, MYSQL_STMT *stmt, const struct db_value *params, size_t n,
                        struct errmsg *em)
{
    MYSQL_BIND bind[DB_PARAMS_MAX];
    int64_t numbers[DB_PARAMS_MAX];
    assert(n <= DB_PARAMS_MAX && n == mysql_stmt_param_count(stmt));
    memset(bind, 0, sizeof(bind));
    for (size_t i = 0; i < n; i++) {
        if (params[i].kind == DB_I64) {
            numbers[i] = params[i].i;
            bind[i].buffer_type = MYSQL_TYPE_LONGLONG;
            bind[i].buffer = &numbers[i];
        } else if (params[i].kind == DB_TEXT) {
            bind[i].buffer_type = MYSQL_TYPE_STRING;
            bind[i].buffer = UNCONST(void *, params[i].s.p); /* MariaDB's: it reads the parameter */
            bind[i].buffer_length = params[i].s.n;
        } else {
            bind[i].buffer_type = MYSQL_TYPE_NULL;
        }
    }
    if ((n > 0 && mysql_stmt_bind_param(stmt, bind)) || mysql_stmt_execute(stmt) != 0) {
        return stmt_failed(c, stmt, em);
    }
    return ERR_OK;
}

struct columns { /* where a fetched row lands */
    MYSQL_BIND bind[DB_COLUMNS_MAX];
    int64_t number[DB_COLUMNS_MAX];
    my_bool is_null[DB_COLUMNS_MAX];
    unsigned long length[DB_COLUMNS_MAX];
    size_t n;
};

static bool is_number(enum enum_field_types t)
{
    return t == MYSQL_TYPE_LONGLONG || t == MYSQL_TYPE_LONG || t == MYSQL_TYPE_SHORT || t == MYSQL_TYPE_TINY
           || t == MYSQL_TYPE_INT24;
}

/* Texts get room for the longest of the rows that were stored. */
static enum err bind_columns(struct db_conn *c, MYSQL_STMT *stmt, MYSQL_RES *meta, struct columns *cols,
                             struct arena *arena, struct errmsg *em)
{
    const MYSQL_FIELD *fields = mysql_fetch_fields(meta);
    memset(cols, 0, sizeof(*cols));
    cols->n = mysql_num_fields(meta);
    assert(cols->n <= DB_COLUMNS_MAX);
    for (size_t i = 0; i < cols->n; i++) {
        MYSQL_BIND *b = &cols->bind[i];
        b->is_null = &cols->is_null[i];
        b->length = &cols->length[i];
        if (is_number(fields[i].type)) {
            b->buffer_type = MYSQL_TYPE_LONGLONG;
            b->buffer = &cols->number[i];
            continue;
        }
        b->buffer_type = MYSQL_TYPE_STRING;
        b->buffer_length = fields[i].max_length + 1;
        b->buffer = arena_alloc(arena, b->buffer_length);
        if (b->buffer == NULL) {
            return err_no_memory(em);
        }
    }
    return mysql_stmt_bind_result(stmt, cols->bind) ? stmt_failed(c, stmt, em) : ERR_OK;
}

static bool take_row(const struct columns *cols, struct db_value *v, struct arena *arena)
{
    for (size_t i = 0; i < cols->n; i++) {
        if (cols->is_null[i]) {
            v[i] = (struct db_value){.kind = DB_NULL};
        } else if (cols->bind[i].buffer_type == MYSQL_TYPE_LONGLONG) {
            v[i] = db_i64(cols->number[i]);
        } else {
            v[i] = db_text(arena_str(arena, str_mk(cols->bind[i].buffer, cols->length[i])));
            if (v[i].s.p == NULL) {
                return false;
            }
        }
    }
    return true;
}

static enum err fetch(struct db_conn *c, MYSQL_STMT *stmt, MYSQL_RES *meta, struct arena *arena,
                      struct db_rows *out, struct errmsg *em)
{
    struct columns cols;
    if (mysql_stmt_store_result(stmt) != 0) {
        return stmt_failed(c, stmt, em);
    }
    /* The lengths are known only now. */
    MYSQL_RES *stored = mysql_stmt_result_metadata(stmt);
    enum err e = bind_columns(c, stmt, stored != NULL ? stored : meta, &cols, arena, em);
    size_t rows = mysql_stmt_num_rows(stmt);
    out->columns = cols.n;
    out->v = e == ERR_OK ? ARENA_ARRAY(arena, struct db_value, rows * cols.n + 1) : NULL;
    if (e == ERR_OK && out->v == NULL) {
        e = err_no_memory(em);
    }
    while (e == ERR_OK && out->rows < rows && mysql_stmt_fetch(stmt) == 0) {
        e = take_row(&cols, out->v + out->rows * cols.n, arena) ? ERR_OK : err_no_memory(em);
        out->rows++;
    }
    if (e == ERR_OK && out->rows < rows) {
        e = stmt_failed(c, stmt, em);
    }
    if (stored != NULL) {
        mysql_free_result(stored);
    }
    return e;
}

enum err db_run(struct db_conn *c, const char *sql, const struct db_value *params, size_t n,
                struct arena *arena, struct db_rows *out, struct errmsg *em)
{
    struct db_rows rows = {0};
    MYSQL_STMT *stmt = NULL;
    enum err e = find_statement(c, sql, &stmt, em);
    e = e != ERR_OK ? e : execute(c, stmt, params, n, em);
    if (e != ERR_OK) {
        return e;
    }
    rows.affected = mysql_stmt_affected_rows(stmt);
    MYSQL_RES *meta = mysql_stmt_result_metadata(stmt);
    if (meta != NULL) {
        e = fetch(c, stmt, meta, arena, &rows, em);
        mysql_free_result(meta);
        mysql_stmt_free_result(stmt);
    }
    if (out != NULL) {
        *out = rows;
    }
    return e;
}
