/* uri.h - percent encoding and query strings, as Elasticsearch reads them (strict; '+' is a blank). */
#ifndef BASE_URI_H
#define BASE_URI_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/err.h"

struct uri_param {
    struct str name, value; /* decoded; a name without '=' has the value "" */
};

struct uri_params {
    struct uri_param *v; /* in order of appearance; a name may repeat */
    size_t n;
};

#define URI_PARAMS_MAX 1024 /* more are ERR_ILLEGAL_ARGUMENT */

/* Decodes %XX and, when `plus`, '+' as a blank. Text without either is returned as it is (not copied).
 * ERR_ILLEGAL_ARGUMENT for a bad or cut escape and for a result that is not UTF-8 (then with U+FFFD, as Java
 * does: no error). */
enum err uri_decode(struct str s, bool plus, struct arena *arena, struct str *out, struct errmsg *em);
/* "a=1&b&c=%20;d=2": pairs end at '&' or ';'. Empty names are skipped. An error leaves none of them. */
enum err uri_query(struct str query, struct arena *arena, struct uri_params *out, struct errmsg *em);
/* The last value of `name` (Elasticsearch keeps the last), or NULL. */
const struct str *uri_param(const struct uri_params *p, const char *name);
/* Bytes of a request line or header as text: UTF-8 as it is, others a character each (ISO-8859-1), as Elasticsearch
 * reads them. Empty when there is no memory. */
struct str uri_text(struct str s, struct arena *arena);
/* Appends s with everything but unreserved characters as %XX. */
void uri_encode(struct buf *b, struct str s);

#endif
