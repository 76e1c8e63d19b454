#include "common/sys/http.h"

#include <http_parser.h>
#include <zlib.h>

#define INFLATE_STEP ((size_t)16 << 10)

static const char *const names[] = {"GET",     "HEAD",  "POST",  "PUT",    "DELETE",
                                    "OPTIONS", "PATCH", "TRACE", "CONNECT"};

const char *http_method_name(enum http_verb m)
{
    return (size_t)m < ARRAY_LEN(names) ? names[m] : "OTHER";
}

enum http_verb http_method_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_is(name, names[i])) {
            return (enum http_verb)i;
        }
    }
    return HTTP_M_OTHER;
}

const char *http_status_text(int status)
{
    return http_status_str((enum http_status)status); /* "<unknown>" for what is none */
}

const struct str *http_header_find(const struct http_header *v, size_t n, const char *name)
{
    struct str wanted = str_of(name);
    for (size_t i = 0; i < n; i++) {
        if (v[i].name.n == wanted.n && str_eq_nocase(v[i].name, wanted)) {
            return &v[i].value;
        }
    }
    return NULL;
}

/* "q=0", "q=0.0": the client refuses. */
static bool refuses(struct str params)
{
    while (params.p != NULL) {
        struct str p = str_trim(str_cut(params, ';', &params));
        if (p.n >= 3 && (p.p[0] == 'q' || p.p[0] == 'Q') && p.p[1] == '=') {
            for (size_t i = 2; i < p.n; i++) {
                if (p.p[i] != '0' && p.p[i] != '.') {
                    return false;
                }
            }
            return true;
        }
    }
    return false;
}

bool http_list_accepts(struct str list, const char *token)
{
    bool any = false;
    while (list.p != NULL) {
        struct str params, item = str_cut(list, ',', &list);
        struct str name = str_trim(str_cut(item, ';', &params));
        if (str_eq_nocase(name, str_of(token))) {
            return !refuses(params);
        }
        any |= str_is(name, "*") && !refuses(params);
    }
    return any;
}

/* One call of inflate() into the buffer; at its ceiling into a byte of our own, which must stay empty. */
static enum err inflate_some(z_stream *z, struct buf *out, int *rc, struct errmsg *em)
{
    Bytef spare;
    size_t room = MIN_OF(INFLATE_STEP, out->bytes_max - out->n);
    char *to = room > 0 ? buf_reserve(out, room) : (char *)&spare;
    if (to == NULL) {
        return err_no_memory(em);
    }
    z->next_out = (Bytef *)to;
    z->avail_out = room > 0 ? (uInt)room : 1;
    *rc = inflate(z, Z_NO_FLUSH);
    if (room == 0 && z->avail_out == 0) {
        return err_set(em, ERR_TOO_LONG_FRAME, "the decompressed body is larger than %zu bytes",
                       out->bytes_max);
    }
    out->n += room > 0 ? room - z->avail_out : 0;
    return ERR_OK;
}

static enum err inflate_all(z_stream *z, struct buf *out, struct errmsg *em)
{
    for (;;) {
        int rc = Z_OK;
        enum err e = inflate_some(z, out, &rc, em);
        if (e != ERR_OK) {
            return e;
        }
        if (rc == Z_STREAM_END) {
            if (z->avail_in == 0) {
                return ERR_OK;
            }
            rc = inflateReset(z); /* gzip members may follow each other */
        } else if (rc == Z_BUF_ERROR || (rc == Z_OK && z->avail_in == 0 && z->avail_out > 0)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "the compressed body is cut short");
        }
        if (rc == Z_MEM_ERROR) {
            return err_no_memory(em);
        }
        if (rc != Z_OK) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "the body is not gzip: %s",
                           z->msg != NULL ? z->msg : "damaged");
        }
    }
}

enum err http_inflate(struct str in, struct buf *out, struct errmsg *em)
{
    if (in.n > UINT32_MAX) {
        return err_set(em, ERR_TOO_LONG_FRAME, "the compressed body is too large");
    }
    z_stream z = {.next_in = UNCONST(Bytef *, in.p) /* zlib's */, .avail_in = (uInt)in.n};
    if (inflateInit2(&z, 15 + 32) != Z_OK) { /* gzip or zlib, by their headers */
        return err_no_memory(em);
    }
    enum err e = inflate_all(&z, out, em);
    inflateEnd(&z);
    if (e == ERR_OK && out->p != NULL) {
        out->p[out->n] = '\0';
    }
    return e;
}

bool http_is_packed(const struct str *encoding)
{
    return encoding != NULL
           && (str_eq_nocase(*encoding, STR("gzip")) || str_eq_nocase(*encoding, STR("x-gzip"))
               || str_eq_nocase(*encoding, STR("deflate")));
}

enum err http_unpack(struct buf *body, const struct allocator *alloc, size_t bytes_max, struct errmsg *em)
{
    struct buf plain;
    buf_init(&plain, alloc, bytes_max);
    enum err e = http_inflate(buf_view(body), &plain, em);
    if (e != ERR_OK) {
        buf_fini(&plain);
        return e;
    }
    buf_fini(body);
    *body = plain;
    return ERR_OK;
}

enum err http_gzip(struct str in, int level, struct buf *out, struct errmsg *em)
{
    if (in.n > UINT32_MAX / 2) {
        return err_set(em, ERR_TOO_LONG_FRAME, "the body is too large to compress");
    }
    z_stream z = {.next_in = UNCONST(Bytef *, in.p) /* zlib's */, .avail_in = (uInt)in.n};
    /* A window no larger than the input needs: less memory to clear for small answers. */
    int window = 15, memory = 8;
    while (window > 9 && (size_t)1 << (window - 1) >= in.n) {
        window--;
        memory = MAX_OF(memory - 1, 4);
    }
    if (deflateInit2(&z, level, Z_DEFLATED, window + 16, memory, Z_DEFAULT_STRATEGY) != Z_OK) {
        return err_no_memory(em);
    }
    size_t bound = deflateBound(&z, (uLong)in.n);
    char *to = buf_reserve(out, bound);
    int rc = Z_MEM_ERROR;
    if (to != NULL) {
        z.next_out = (Bytef *)to;
        z.avail_out = (uInt)bound;
        rc = deflate(&z, Z_FINISH);
        out->n += bound - z.avail_out;
        out->p[out->n] = '\0';
    }
    deflateEnd(&z);
    return rc == Z_STREAM_END ? ERR_OK : err_no_memory(em);
}
