/* table.h - hotels out of a CSV file with the columns of tb_hotel, named by its first line in any order.
 *
 * Columns that the table does not have are ignored; a missing required one is an error, a missing optional
 * one null for all. Errors name the line. Pure; one thread. */
#ifndef HOTEL_TABLE_H
#define HOTEL_TABLE_H

#include "hotel/csv.h"
#include "hotel/hotel.h"

struct table {
    struct csv csv;
    size_t width;                 /* fields of the header line */
    size_t from[HOTEL_COLUMNS_N]; /* field of each column; SIZE_MAX: it is not there */
};

/* Reads the header line. ERR_ILLEGAL_ARGUMENT. The text is borrowed. */
enum err table_open(struct table *t, struct str text, struct arena *arena, struct errmsg *em);
/* The next hotel; its texts are borrowed from the text or in arena. *got false: the end. ERR_ILLEGAL_ARGUMENT
 * "line 12: price: [cheap] is not a whole number". */
enum err table_next(struct table *t, struct arena *arena, struct hotel *out, bool *got, struct errmsg *em);
uint64_t table_line(const struct table *t); /* of the hotel read last */

#endif
