/* http_reply.c - bytes into an answer. */
#include "common/sys/http_call.h"

#define HEAD_BYTES_MAX (256 * KIB)

static int fail(struct reply_in *r, enum err e, const char *reason)
{
    r->fail = e;
    r->reason = reason;
    return -1;
}

static int add_text(struct reply_in *r, const char *at, size_t n)
{
    buf_add(&r->head, at, n);
    return r->head.failed ? fail(r, ERR_TOO_LONG_FRAME, "the answer's head is too large") : 0;
}

static int on_header_field(http_parser *p, const char *at, size_t n)
{
    struct reply_in *r = p->data;
    if (r->n == 0 || r->last_was_value) {
        struct reply_header *v = arena_grow(&r->arena, r->v, r->n, &r->cap, sizeof(*v));
        if (v == NULL) {
            return fail(r, ERR_NO_MEMORY, "out of memory");
        }
        r->v = v;
        v[r->n++] = (struct reply_header){.name = r->head.n};
        r->last_was_value = false;
    }
    r->v[r->n - 1].name_n += n;
    return add_text(r, at, n);
}

static int on_header_value(http_parser *p, const char *at, size_t n)
{
    struct reply_in *r = p->data;
    struct reply_header *h = &r->v[r->n - 1];
    if (!r->last_was_value) {
        h->value = r->head.n;
        r->last_was_value = true;
    }
    h->value_n += n;
    return add_text(r, at, n);
}

static int on_headers_complete(http_parser *p)
{
    struct reply_in *r = p->data;
    if ((p->flags & F_CONTENTLENGTH) != 0 && p->content_length > r->body.bytes_max && !r->is_head) {
        return fail(r, ERR_TOO_LONG_FRAME, "the answer is too large");
    }
    p->upgrade = 0;
    return r->is_head ? 1 : 0; /* 1: no body follows, whatever the head says */
}

static int on_body(http_parser *p, const char *at, size_t n)
{
    struct reply_in *r = p->data;
    buf_add(&r->body, at, n);
    return r->body.failed ? fail(r, ERR_TOO_LONG_FRAME, "the answer is too large") : 0;
}

static int on_message_complete(http_parser *p)
{
    struct reply_in *r = p->data;
    if (p->status_code / 100 == 1) { /* "100 Continue": the answer is still to come */
        buf_reset(&r->head);
        r->n = 0;
        r->last_was_value = false;
        return 0;
    }
    r->whole = true;
    r->keep_alive = http_should_keep_alive(p) != 0;
    http_parser_pause(p, 1);
    return 0;
}

static const http_parser_settings callbacks = {
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
};

void reply_init(struct reply_in *r, bool is_head, size_t body_bytes_max)
{
    *r = (struct reply_in){.is_head = is_head};
    http_parser_init(&r->parser, HTTP_RESPONSE);
    buf_init(&r->head, NULL, HEAD_BYTES_MAX);
    buf_init(&r->body, NULL, body_bytes_max);
    arena_init(&r->arena, NULL, ARENA_UNLIMITED);
}

void reply_fini(struct reply_in *r)
{
    buf_fini(&r->head);
    buf_fini(&r->body);
    arena_fini(&r->arena);
}

bool reply_feed(struct reply_in *r, const char *p, size_t n)
{
    r->parser.data = r;
    r->begun |= n > 0;
    size_t used = http_parser_execute(&r->parser, &callbacks, p, n);
    enum http_errno code = HTTP_PARSER_ERRNO(&r->parser);
    if (r->whole) {
        r->keep_alive = r->keep_alive && used == n; /* more than was asked for: not to be trusted again */
        return true;
    }
    if (r->fail == ERR_OK && code != HPE_OK) {
        fail(r, ERR_PARSE, http_errno_description(code));
    } else if (r->fail == ERR_OK && n == 0) {
        fail(r, ERR_IO, "the connection was closed before the answer was whole");
    }
    return r->fail == ERR_OK;
}

enum err reply_finish(struct reply_in *r, struct http_reply *out, size_t body_bytes_max, struct errmsg *em)
{
    struct http_header *v = ARENA_ARRAY(&r->arena, struct http_header, r->n);
    if (v == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < r->n; i++) {
        v[i].name = str_mk(r->head.p + r->v[i].name, r->v[i].name_n);
        v[i].value = str_trim(str_mk(r->head.p + r->v[i].value, r->v[i].value_n));
    }
    const struct str *how = http_header_find(v, r->n, "content-encoding");
    enum err e =
        http_is_packed(how) && r->body.n > 0 ? http_unpack(&r->body, NULL, body_bytes_max, em) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    out->status = (int)r->parser.status_code;
    out->headers = v;
    out->headers_n = r->n;
    out->body = buf_view(&r->body);
    return ERR_OK;
}
