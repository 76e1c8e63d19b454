/* hotel.h - one hotel: the record of table `tb_hotel`, and the document that stands for it in the index.
 *
 * The one place that knows how a record becomes a document. Knows nothing of files, the network or the
 * database. Pure; any thread. */
#ifndef HOTEL_HOTEL_H
#define HOTEL_HOTEL_H

#include "common/base/buf.h"
#include "common/base/err.h"

struct hotel { /* texts are borrowed; p == NULL: the column is null */
    int64_t id;
    struct str name, address;
    int32_t price, score; /* score in tenths: 45 is 4.5 */
    struct str brand, city;
    struct str star_name, business; /* may be null */
    struct str latitude, longitude;
    struct str pic; /* may be null */
};

/* Columns of tb_hotel in the table's order; an X(column, member, kind, characters at most, required). */
#define HOTEL_COLUMNS(X)                       \
    X("id", id, I64, 0, true)                  \
    X("name", name, TEXT, 255, true)           \
    X("address", address, TEXT, 255, true)     \
    X("price", price, I32, 0, true)            \
    X("score", score, I32, 0, true)            \
    X("brand", brand, TEXT, 32, true)          \
    X("city", city, TEXT, 32, true)            \
    X("star_name", star_name, TEXT, 16, false) \
    X("business", business, TEXT, 255, false)  \
    X("latitude", latitude, TEXT, 32, true)    \
    X("longitude", longitude, TEXT, 32, true)  \
    X("pic", pic, TEXT, 255, false)

enum hotel_column {
#define HOTEL_COLUMN_ENUM(column, member, kind, max, required) HOTEL_COL_##member,
    HOTEL_COLUMNS(HOTEL_COLUMN_ENUM)
#undef HOTEL_COLUMN_ENUM
        HOTEL_COLUMNS_N
};

const char *hotel_column_name(enum hotel_column c); /* as the table has it: "star_name" */
bool hotel_column_required(enum hotel_column c);

/* Sets one column from text; empty text is null for columns that may be null, and an error for others.
 * ERR_ILLEGAL_ARGUMENT "price: [cheap] is not a whole number". */
enum err hotel_set(struct hotel *h, enum hotel_column c, struct str text, struct errmsg *em);
/* The check that hotel_set() cannot make column by column: latitude and longitude are a valid place. */
enum err hotel_check(const struct hotel *h, struct errmsg *em);

/* Appends the document in JSON: every field of the record under its document's name (nulls as null),
 * `location` as
 * "<latitude>, <longitude>" and `suggestion`: the brand, then the parts of business between '/'. Without
 * isAD: a document that replaces another is not promoted. */
void hotel_write(struct buf *out, const struct hotel *h);

#endif
