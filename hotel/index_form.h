/* index_form.h - the index of hotels: how it is created, and which form one that exists has.
 *
 * The mapping is written here once; creating and recognising go by the same table. Pure; any thread. */
#ifndef HOTEL_INDEX_FORM_H
#define HOTEL_INDEX_FORM_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/json.h"

enum index_form {
    INDEX_FORM_FINAL,
    INDEX_FORM_EARLIER, /* before pinyin: no `suggestion`, no analyzers of its own */
    INDEX_FORM_OTHER,   /* something else: `why` says what differs first */
};

/* Appends the body of `PUT /{index}`: settings and mappings of the final form. */
void index_form_write(struct buf *out);
/* definition: the answer to `GET /{index}`. Fields that were added later (isAD) do not matter. why: what is
 * not as in the final form, for people. ERR_PARSE when it is no definition of exactly one index. */
enum err index_form_of(const struct json *definition, enum index_form *out, struct errmsg *why,
                       struct errmsg *em);

/* May `name` be the index of hotels? One plain name: no pattern, no list, nothing that leaves the path. */
bool index_name_ok(struct str name);

#endif
