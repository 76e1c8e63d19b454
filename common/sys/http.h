/* http.h - declarations shared by the HTTP server and client. */
#ifndef SYS_HTTP_H
#define SYS_HTTP_H

#include "common/base/buf.h"
#include "common/base/err.h"

enum http_verb {
    HTTP_M_GET,
    HTTP_M_HEAD,
    HTTP_M_POST,
    HTTP_M_PUT,
    HTTP_M_DELETE,
    HTTP_M_OPTIONS,
    HTTP_M_PATCH,
    HTTP_M_TRACE,
    HTTP_M_CONNECT,
    HTTP_M_OTHER, /* known to HTTP, not to us: its name is in the request */
};

struct http_header {
    struct str name, value;
};

const char *http_method_name(enum http_verb m);
enum http_verb http_method_of(struct str name);
const char *http_status_text(int status); /* "Not Found"; never NULL */
/* The first header of this name (any case), or NULL. */
const struct str *http_header_find(const struct http_header *v, size_t n, const char *name);
/* Does a comma-separated list such as Accept-Encoding take `token` (any case, q=0 refuses, "*" takes)? */
bool http_list_accepts(struct str list, const char *token);

/* One gzip or zlib member, whole. Appends to out; ERR_ILLEGAL_ARGUMENT when it is none or cut,
 * ERR_TOO_LONG_FRAME past out's ceiling, ERR_NO_MEMORY. */
enum err http_inflate(struct str in, struct buf *out, struct errmsg *em);
/* Is a body packed that came with this content-encoding (NULL: none)? */
bool http_is_packed(const struct str *encoding);
/* A packed body in place of itself: what it held, in memory of `alloc` (NULL: the default), at most bytes_max. Errors as of
 * http_inflate(); the body is as it was then. */
enum err http_unpack(struct buf *body, const struct allocator *alloc, size_t bytes_max, struct errmsg *em);
enum err http_gzip(struct str in, int level, struct buf *out, struct errmsg *em); /* level 1-9 */

#endif
