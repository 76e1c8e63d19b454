/* params.h - the application's request object (RequestParams): read from JSON, checked once, plain values
 * from there.
 *
 * Null, absent and "" all mean that the member is not given. Whole numbers may be given as text, scalars for texts are taken as
 * they are written; members that nobody knows are ignored. Pure; any thread. */
#ifndef HOTEL_APP_PARAMS_H
#define HOTEL_APP_PARAMS_H

#include "common/base/arena.h"
#include "common/base/err.h"
#include "common/base/geo.h"

#define PARAMS_BODY_BYTES_MAX ((size_t)64 << 10)
#define PARAMS_TEXT_CHARS_MAX 512 /* of any text: a match has a clause a term, and those are limited */

enum sort_by { SORT_RELEVANCE, SORT_SCORE, SORT_PRICE, SORT_PRICE_DESC };

struct hotel_params {
    struct str key, city, brand, star_name; /* n == 0: not given */
    enum sort_by sort_by;
    int32_t page, size; /* page >= 1, size >= 0, page * size <= RESULT_WINDOW */
    bool has_price;     /* both bounds are given */
    int32_t min_price, max_price;
    bool has_location;
    struct geo_point location;
    bool highlight; /* what matches the key is to be marked */
};

/* Reads a request's body. ERR_JSON, ERR_JSON_EOF, ERR_ILLEGAL_ARGUMENT with a reason for people; *field names
 * the member that is wrong, NULL when it is the whole. Texts are borrowed from body or in arena. */
enum err params_read(struct hotel_params *out, struct str body, struct arena *arena, const char **field,
                     struct errmsg *em);
/* At most PARAMS_TEXT_CHARS_MAX characters? ERR_ILLEGAL_ARGUMENT. */
enum err params_text_ok(struct str text, const char *field, struct errmsg *em);

#endif
