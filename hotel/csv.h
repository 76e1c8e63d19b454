/* csv.h - comma-separated values as RFC 4180 has them, row by row.
 *
 * Fields may be quoted ("" is a quote inside), quoted fields may span lines; lines end in LF or CRLF, the
 * last with or without; a UTF-8 byte order mark is skipped, and so are lines with nothing on them. Fields are
 * borrowed from the text where they need no decoding, else they are in the arena. Pure; one thread. */
#ifndef HOTEL_CSV_H
#define HOTEL_CSV_H

#include "common/base/arena.h"
#include "common/base/err.h"

#define CSV_FIELDS_MAX 256

struct csv {
    struct str text;
    size_t at;
    uint64_t line; /* of the row that was read last, from 1 */
    uint64_t next_line;
};

void csv_init(struct csv *c, struct str text);
/* The next row: *n fields in v. *n == 0: the end. ERR_ILLEGAL_ARGUMENT "line 7: a quote is not closed"; what
 * is wrong with a row stays wrong: stop there. */
enum err csv_row(struct csv *c, struct arena *arena, struct str v[CSV_FIELDS_MAX], size_t *n,
                 struct errmsg *em);

#endif
