/* record.h - a hotel's row as the management service's requests and answers have it: JSON in, every column's
 * rule checked; JSON out.
 *
 * Names are those of the hotel document (starName), latitude and longitude apart. Pure; any thread. */
#ifndef HOTEL_ADMIN_RECORD_H
#define HOTEL_ADMIN_RECORD_H

#include "common/base/arena.h"
#include "common/base/json.h"
#include "common/base/jsonw.h"
#include "hotel/hotel.h"

#define RECORD_SCORE_MAX 50 /* in tenths */

struct record_problem {
    const char *field;
    char reason[200];
};

struct record {     /* texts are borrowed from the body or in the arena */
    struct hotel h; /* what was given; texts that were given empty are STR_NULL */
    bool given[HOTEL_COLUMNS_N];
    struct record_problem problems[HOTEL_COLUMNS_N]; /* of as many fields, each once */
    size_t problems_n;
};

/* Reads a request's body. Absent and null: not given; `whole`: what is required must be. Members that nobody
 * knows are ignored. ERR_JSON, ERR_JSON_EOF, ERR_ILLEGAL_ARGUMENT (the body is no object) for the body as a
 * whole; a field that is wrong is a problem, and ERR_OK. */
enum err record_read(struct record *out, struct str body, bool whole, struct arena *arena, struct errmsg *em);
/* Notes one more problem of a field, unless it has one. */
void record_problem(struct record *r, enum hotel_column c, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Puts what was given over a stored row. */
void record_merge(struct hotel *stored, const struct record *given);

void record_write(struct jsonw *w, const struct hotel *h);
/* {"status":400,"error":"bad_request","reason":..,"fields":[{"field":"price","reason":..}]} */
void record_write_problems(struct buf *out, const struct record *r);

#endif
