/* table.h - rows and columns as the _cat endpoints print them.
 *
 * A table is filled column by column in the request's arena; sending it applies what the request asks for:
 * which columns (h), their order, sorting (s), the header (v), help, units of bytes and times, and the
 * format. It knows nothing of what the cells mean. One thread at a time. */
#ifndef COORDINATOR_REST_TABLE_H
#define COORDINATOR_REST_TABLE_H

#include "coordinator/rest/rest.h"

enum cell_kind { CELL_NULL, CELL_TEXT, CELL_NUMBER, CELL_BYTES, CELL_MS };

struct cell {
    enum cell_kind kind;
    struct str text; /* CELL_TEXT: borrowed from the request's arena, the state, or constant */
    int64_t number;
};

struct table_column {
    const char *name, *aliases; /* "docs.count", "dc,docsCount"; NULL: none */
    const char *about;
    bool right, hidden; /* aligned right; only shown when asked for */
};

struct table {
    struct rest *r;
    const struct table_column *columns;
    uint32_t n_columns, n_rows, at; /* at: the next cell of the last row */
    struct cell *cells;
    size_t cells_cap;
    bool failed;
};

void table_init(struct table *t, struct rest *r, const struct table_column *columns, uint32_t n_columns);
/* Marks the parameters that every table knows; true: help was asked for, and it or the refusal of other parameters was sent. */
bool table_help(struct rest *r, const struct table_column *columns, uint32_t n_columns);
/* A row, then a cell for each column in order; cells left out are null. */
void table_row(struct table *t);
void table_null(struct table *t);
void table_str(struct table *t, struct str s);
void table_z(struct table *t, const char *z);
void table_f(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
void table_number(struct table *t, int64_t v);
void table_bytes(struct table *t, uint64_t v);
void table_ms(struct table *t, int64_t v);
/* Answers the request. */
void table_send(struct table *t);

#endif
