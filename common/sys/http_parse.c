/* http_parse.c - bytes into requests: http-parser's callbacks, with the limits that it does not know. */
#include "common/base/arena_list.h"
#include "common/base/later.h"
#include "common/base/memory_account.h"
#include "common/sys/http_conn.h"

#include <stdio.h>
#include <stdlib.h>

#define HEAD_BYTES_EXPECTED 512
#define BODY_BYTES_TRUSTED  (64 * KIB) /* of an announced length; a larger body grows as it comes */
#define BODY_PROGRESS_BYTES (16 * KIB)
#define PACKED_BYTES_HERE   (4 * KIB) /* of a packed body that the loop unpacks: a thousandfold at most */
#define OUT_BYTES_HIGH      (4 * MIB) /* unwritten answers at which reading stops */

static int refuse(struct http_conn *c, enum err e, int status, const char *reason)
{
    c->fail = e;
    c->fail_status = status;
    snprintf(c->fail_reason, sizeof(c->fail_reason), "%s", reason);
    return -1; /* ends http_parser_execute(); 1 would mean something else to it */
}

static int no_memory(struct http_conn *c)
{
    ERR_LOCAL(em);
    err_no_memory(&em);
    c->fail_refused = err_about(&em)->refused;
    return refuse(c, ERR_NO_MEMORY, 429, err_reason(&em));
}

void request_free(struct request *r)
{
    if (r == NULL) {
        return;
    }
    if (r->counted > 0) {
        atomic_fetch_sub(&r->conn->worker->server->inflight_bytes, r->counted);
    }
    if (r->released != NULL) {
        r->released(r->watch_arg);
    }
    buf_fini(&r->head);
    buf_fini(&r->body);
    buf_fini(&r->out_head);
    buf_fini(&r->out_body);
    arena_fini(&r->arena);
    free(r);
}

static struct request *request_new(struct http_conn *c)
{
    const struct http_server_opts *o = &c->worker->server->opts;
    struct request *r = calloc(1, sizeof(*r));
    if (r == NULL) {
        return NULL;
    }
    r->conn = c;
    memory_request_arena(&r->arena); /* the head finds room, so that it is seen what is asked */
    r->arena.alloc = memory_allocator_exempt(MEMORY_REQUEST);
    r->arena.bytes_max = o->arena_bytes_max > 0 ? o->arena_bytes_max : r->arena.bytes_max;
    buf_init(&r->head, NULL, o->limits.header_bytes_max + o->limits.line_bytes_max + KIB);
    buf_init(&r->body, memory_allocator(MEMORY_IN_FLIGHT), o->limits.body_bytes_max);
    buf_init(&r->out_head, NULL, BUF_UNLIMITED);
    buf_init(&r->out_body, NULL, BUF_UNLIMITED);
    buf_reserve(&r->head, HEAD_BYTES_EXPECTED);
    r->pub.arena = &r->arena;
    r->pub.loop = c->worker->loop;
    r->pub.loop_index = c->worker->index;
    r->pub.peer = str_of(c->peer);
    return r;
}

static int on_message_begin(http_parser *p)
{
    struct http_conn *c = p->data;
    c->cur = request_new(c);
    if (c->cur == NULL) {
        return no_memory(c);
    }
    c->phase = PHASE_HEAD;
    c->deadline_ms = server_now_ms(c->worker->server) + c->worker->server->opts.limits.header_ms_max;
    return 0;
}

static int on_url(http_parser *p, const char *at, size_t n)
{
    struct http_conn *c = p->data;
    struct request *r = c->cur;
    size_t max = c->worker->server->opts.limits.line_bytes_max;
    /* The line is method, blank, target, blank, "HTTP/1.1". */
    size_t rest = strlen(http_method_str((enum http_method)p->method)) + sizeof("  HTTP/1.1") - 1;
    if (r->head.n + n + rest > max) {
        char reason[64];
        snprintf(reason, sizeof(reason), "An HTTP line is larger than %zu bytes.", max);
        return refuse(c, ERR_TOO_LONG_FRAME, 400, reason);
    }
    buf_add(&r->head, at, n);
    r->target_n = r->head.n;
    return r->head.failed ? no_memory(c) : 0;
}

/* Counts n more bytes of the head (or of a chunked body's trailer). */
static int count_head(struct http_conn *c, size_t n)
{
    size_t max = c->worker->server->opts.limits.header_bytes_max;
    c->cur->head_bytes += n;
    if (c->cur->head_bytes <= max) {
        return 0;
    }
    char reason[64];
    snprintf(reason, sizeof(reason), "HTTP header is larger than %zu bytes.", max);
    return refuse(c, ERR_TOO_LONG_FRAME, 400, reason);
}

static int on_header_field(http_parser *p, const char *at, size_t n)
{
    struct http_conn *c = p->data;
    struct request *r = c->cur;
    bool begins = r->headers_n == 0 || r->last_was_value;
    if (count_head(c, n + (begins ? sizeof(": \r\n") - 1 : 0)) != 0) {
        return -1;
    }
    if (r->head_done) {
        return 0; /* trailers are read over */
    }
    if (begins) {
        if (!ARENA_ADD(&r->arena, r->header, r->headers_n, r->headers_cap,
                       (struct header_at){.name = (uint32_t)r->head.n})) {
            return no_memory(c);
        }
        r->last_was_value = false;
    }
    r->header[r->headers_n - 1].name_n += (uint32_t)n;
    buf_add(&r->head, at, n);
    return r->head.failed ? no_memory(c) : 0;
}

static int on_header_value(http_parser *p, const char *at, size_t n)
{
    struct http_conn *c = p->data;
    struct request *r = c->cur;
    if (count_head(c, n) != 0) {
        return -1;
    }
    if (r->head_done) {
        return 0;
    }
    struct header_at *h = &r->header[r->headers_n - 1];
    if (r->last_was_value && at != c->value_end && at != c->piece) {
        return refuse(c, ERR_ILLEGAL_ARGUMENT, 400, "a header goes on in a second line");
    }
    c->value_end = at + n;
    if (!r->last_was_value) {
        h->value = (uint32_t)r->head.n;
        r->last_was_value = true;
    }
    h->value_n += (uint32_t)n;
    buf_add(&r->head, at, n);
    return r->head.failed ? no_memory(c) : 0;
}

/* "/path?query", "http://host/path?query", "*". */
static void split_target(struct request *r)
{
    struct str t = str_slice(buf_view(&r->head), 0, r->target_n);
    size_t scheme = str_find_str(t, STR("://"));
    if (t.n > 0 && t.p[0] != '/' && scheme != SIZE_MAX) {
        size_t path = str_find(t, '/', scheme + 3);
        t = path != SIZE_MAX ? str_slice(t, path, t.n) : STR("/");
    }
    t = str_slice(t, 0, str_find(t, '#', 0));
    size_t mark = str_find(t, '?', 0);
    r->pub.path = str_slice(t, 0, mark);
    r->pub.query = mark != SIZE_MAX ? str_slice(t, mark + 1, t.n) : STR_NULL;
}

static bool publish_head(struct request *r, const http_parser *p)
{
    struct http_header *v = ARENA_ARRAY(&r->arena, struct http_header, r->headers_n);
    if (v == NULL) {
        return false;
    }
    for (size_t i = 0; i < r->headers_n; i++) {
        const struct header_at *h = &r->header[i];
        v[i].name = str_mk(r->head.p + h->name, h->name_n);
        v[i].value = str_trim(str_mk(r->head.p + h->value, h->value_n));
    }
    r->pub.headers = v;
    r->pub.headers_n = r->headers_n;
    r->pub.method_name = str_of(http_method_str((enum http_method)p->method));
    r->pub.method = http_method_of(r->pub.method_name);
    split_target(r);
    return true;
}

/* Pages elsewhere. */
static int check_site(struct http_conn *c)
{
    struct request *r = c->cur;
    const struct http_site *site = c->worker->server->opts.site;
    enum http_site_says says =
        site != NULL ? http_site_check(site, r->pub.method, r->pub.path, r->pub.headers, r->pub.headers_n)
                     : SITE_OWN;
    r->shared = says == SITE_SHARED;
    r->preflight =
        r->shared && r->pub.method == HTTP_M_OPTIONS
        && http_header_find(r->pub.headers, r->pub.headers_n, "access-control-request-method") != NULL;
    return says == SITE_FOREIGN
               ? refuse(c, ERR_OK, 403,
                        "a page of another site asks, or this server is asked by a name that it does not "
                        "have [http.cors.allow-origin]")
               : 0;
}

/* Names are without blanks, versions known, and nothing is framed in two ways (RFC 9112). */
static int check_form(struct http_conn *c, const http_parser *p)
{
    struct request *r = c->cur;
    for (size_t i = 0; i < r->pub.headers_n; i++) {
        struct str name = r->pub.headers[i].name;
        if (name.n == 0 || str_find(name, ' ', 0) != SIZE_MAX || str_find(name, '\t', 0) != SIZE_MAX) {
            return refuse(c, ERR_ILLEGAL_ARGUMENT, 400, "a header's name ends before its colon");
        }
        if (str_eq_nocase(name, STR("transfer-encoding"))
            && !str_eq_nocase(str_trim(r->pub.headers[i].value), STR("chunked"))) {
            return refuse(c, ERR_ILLEGAL_ARGUMENT, 400, "no Transfer-Encoding but [chunked] is known here");
        }
    }
    if (p->http_major != 1) {
        return refuse(c, ERR_ILLEGAL_ARGUMENT, 505, "HTTP/1.0 and HTTP/1.1 are spoken here");
    }
    if (p->http_minor == 0
        && http_header_find(r->pub.headers, r->pub.headers_n, "transfer-encoding") != NULL) {
        return refuse(c, ERR_ILLEGAL_ARGUMENT, 400, "HTTP/1.0 knows no Transfer-Encoding");
    }
    return 0;
}

/* "Expect", "Accept-Encoding" and the announced length. */
static int check_head(struct http_conn *c, const http_parser *p)
{
    struct request *r = c->cur;
    const struct http_limits *limits = &c->worker->server->opts.limits;
    bool sized = (p->flags & F_CONTENTLENGTH) != 0;
    if (sized && p->content_length > limits->body_bytes_max) {
        return refuse(c, ERR_TOO_LONG_FRAME, 413, "");
    }
    const struct str *expect = http_header_find(r->pub.headers, r->pub.headers_n, "expect");
    if (expect != NULL && p->http_major == 1 && p->http_minor >= 1) {
        if (!str_eq_nocase(*expect, STR("100-continue"))) {
            return refuse(c, ERR_ILLEGAL_ARGUMENT, 417, "");
        }
        r->wants_continue = (p->flags & F_CHUNKED) != 0 || (sized && p->content_length > 0);
    }
    const struct str *accept = http_header_find(r->pub.headers, r->pub.headers_n, "accept-encoding");
    r->gzip_ok = accept != NULL && http_list_accepts(*accept, "gzip");
    if (sized && p->content_length > 0) {
        buf_reserve(&r->body, MIN_OF((size_t)p->content_length, BODY_BYTES_TRUSTED));
    }
    return 0;
}

/* From here on the limits of memory hold for the body, but where the request is exempt. Where some are, the handler has their arenas
 * come under the limits. */
static void set_limits(struct request *r, const struct http_server_opts *o)
{
    r->pub.exempt = o->exempt != NULL && o->exempt(r->pub.path);
    if (r->pub.exempt) {
        r->body.alloc = memory_allocator_exempt(MEMORY_IN_FLIGHT);
    } else if (o->exempt == NULL) {
        r->arena.alloc = memory_allocator(MEMORY_REQUEST);
    }
}

static int on_headers_complete(http_parser *p)
{
    struct http_conn *c = p->data;
    struct request *r = c->cur;
    /* An offer to change the protocol (h2c, WebSocket) is declined by answering in HTTP/1.1; the body, if
     * any, is read as always. */
    p->upgrade = 0;
    r->head_done = true;
    r->http_1_0 = p->http_major < 1 || (p->http_major == 1 && p->http_minor == 0);
    r->keep_alive = http_should_keep_alive(p) != 0;
    if (!publish_head(r, p)) {
        return no_memory(c);
    }
    set_limits(r, &c->worker->server->opts);
    if (check_form(c, p) != 0 || check_site(c) != 0 || check_head(c, p) != 0) {
        return -1;
    }
    c->phase = PHASE_BODY;
    c->body_mark = 0;
    c->deadline_ms = server_now_ms(c->worker->server) + c->worker->server->opts.limits.body_ms_max;
    return 0;
}

static int refuse_in_flight(struct http_conn *c, uint64_t wanted, uint64_t limit)
{
    struct buf reason;
    buf_init(&reason, NULL, KIB);
    buf_printf(&reason, "[in_flight_requests] Data too large, data for [<http_request>] would be [%llu/",
               (unsigned long long)wanted);
    memory_print_bytes(&reason, wanted);
    buf_printf(&reason, "], which is larger than the limit of [%llu/", (unsigned long long)limit);
    memory_print_bytes(&reason, limit);
    buf_z(&reason, "]");
    buf_char(&reason, '\0');
    c->fail_refused = (struct err_refused){(int64_t)wanted, (int64_t)limit, false};
    int refused = refuse(c, ERR_NO_MEMORY, 429, reason.failed ? "" : reason.p);
    buf_fini(&reason);
    return refused;
}

static int on_body(http_parser *p, const char *at, size_t n)
{
    struct http_conn *c = p->data;
    struct request *r = c->cur;
    struct http_server *s = c->worker->server;
    if (n > s->opts.limits.body_bytes_max - r->body.n) {
        return refuse(c, ERR_TOO_LONG_FRAME, 413, "");
    }
    r->counted += n;
    uint64_t inflight = atomic_fetch_add(&s->inflight_bytes, n) + n;
    if (inflight > s->opts.limits.inflight_bytes_max) {
        return refuse_in_flight(c, inflight, s->opts.limits.inflight_bytes_max);
    }
    buf_add(&r->body, at, n);
    if (r->body.n - c->body_mark >= BODY_PROGRESS_BYTES) {
        c->body_mark = r->body.n;
        c->deadline_ms = server_now_ms(s) + s->opts.limits.body_ms_max;
    }
    return r->body.failed ? no_memory(c) : 0;
}

/* A chunk that will be too long is not waited for. */
static int on_chunk_header(http_parser *p)
{
    struct http_conn *c = p->data;
    return p->content_length > c->worker->server->opts.limits.body_bytes_max - c->cur->body.n
               ? refuse(c, ERR_TOO_LONG_FRAME, 413, "")
               : 0;
}

/* Unknown encodings are the handler's to refuse. */
static int unpack(struct http_conn *c)
{
    ERR_LOCAL(em);
    enum err e = request_unpack(c->cur, &em);
    c->fail_refused = err_about(&em)->refused;
    return e == ERR_OK ? 0 : refuse(c, e, e == ERR_TOO_LONG_FRAME ? 413 : err_status(e), err_reason(&em));
}

bool conn_must_pause(const struct http_conn *c)
{
    return c->unpacking || c->pending >= c->worker->server->opts.limits.pipelined_max
           || (c->bev != NULL && evbuffer_get_length(bufferevent_get_output(c->bev)) > OUT_BYTES_HIGH);
}

/* Takes the request being read out of the reader's hands and puts it behind those that wait for an answer. */
static struct request *enqueue(struct http_conn *c)
{
    struct request *r = c->cur;
    c->cur = NULL;
    if (c->first == NULL) {
        c->first = r;
    } else {
        c->last->next = r;
    }
    c->last = r;
    c->pending++;
    return r;
}

void request_handle(struct request *r)
{
    const struct http_server_opts *o = &r->conn->worker->server->opts;
    struct later_list list;
    later_open(&list);
    o->handle(o->self, &r->pub);
    later_close(&list); /* r may be gone */
}

static int on_message_complete(http_parser *p)
{
    struct http_conn *c = p->data;
    struct http_server *s = c->worker->server;
    bool packed = !c->cur->preflight && request_is_packed(c->cur);
    bool elsewhere = packed && s->opts.unpacking != NULL && c->cur->body.n > PACKED_BYTES_HERE;
    if (packed && !elsewhere && unpack(c) != 0) {
        return -1;
    }
    struct request *r = enqueue(c);
    r->pub.body = buf_view(&r->body);
    r->pub.received_ns = s->clock->mono_ns(s->clock->self);
    r->close = !r->keep_alive;
    c->phase = r->keep_alive ? PHASE_IDLE : PHASE_CLOSED;
    c->deadline_ms = INT64_MAX;
    c->idle_ms = r->pub.received_ns / 1000000;
    atomic_fetch_add_explicit(&s->requests, 1, memory_order_relaxed);
    if (elsewhere) {
        request_unpack_elsewhere(r);
    } else if (r->preflight) {
        http_respond(&r->pub, 200, NULL, NULL, 0, NULL);
    } else {
        request_handle(r);
    }
    if (c->phase == PHASE_CLOSED || conn_must_pause(c)) {
        http_parser_pause(p, 1);
        c->paused = true;
    }
    return 0;
}

static const http_parser_settings callbacks = {
    .on_message_begin = on_message_begin,
    .on_url = on_url,
    .on_header_field = on_header_field,
    .on_header_value = on_header_value,
    .on_headers_complete = on_headers_complete,
    .on_body = on_body,
    .on_message_complete = on_message_complete,
    .on_chunk_header = on_chunk_header,
};

void conn_parser_init(struct http_conn *c)
{
    http_parser_init(&c->parser, HTTP_REQUEST);
    c->parser.data = c;
}

void conn_refuse(struct http_conn *c, enum err e, int status, const char *reason,
                 const struct err_refused *refused)
{
    atomic_fetch_add_explicit(&c->worker->server->refused, 1, memory_order_relaxed);
    c->phase = PHASE_CLOSED;
    c->deadline_ms = INT64_MAX;
    c->linger = true;
    if (c->cur == NULL) {
        c->cur = request_new(c);
    }
    if (c->cur == NULL) {
        conn_close(c);
        return;
    }
    struct request *r = enqueue(c);
    r->close = true;
    struct buf body;
    buf_init(&body, NULL, BUF_UNLIMITED);
    if (status != 413 && status != 417) { /* Elasticsearch leaves those to its HTTP layer: no body */
        http_error_body(&body, status, e != ERR_OK ? err_type(e) : NULL, reason, refused);
    }
    request_answer(r, status, body.n > 0 ? "application/json; charset=UTF-8" : NULL, NULL, 0, &body);
    buf_fini(&body);
    r->answered = true;
}

static void refuse_malformed(struct http_conn *c)
{
    enum http_errno code = HTTP_PARSER_ERRNO(&c->parser);
    if (c->fail_status != 0) {
        conn_refuse(c, c->fail, c->fail_status, c->fail_reason,
                    c->fail == ERR_NO_MEMORY ? &c->fail_refused : NULL);
    } else if (code == HPE_INVALID_METHOD) {
        conn_refuse(c, ERR_OK, 405, "Unexpected http method", NULL);
    } else if (code == HPE_HEADER_OVERFLOW) {
        conn_refuse(c, ERR_TOO_LONG_FRAME, 400, "HTTP header is too large", NULL);
    } else {
        conn_refuse(c, ERR_ILLEGAL_ARGUMENT, 400, http_errno_description(code), NULL);
    }
}

void conn_parse(struct http_conn *c)
{
    struct evbuffer *in = bufferevent_get_input(c->bev);
    while (c->bev != NULL && !c->paused && c->phase < PHASE_CLOSED) {
        struct evbuffer_iovec piece;
        if (evbuffer_peek(in, -1, NULL, &piece, 1) < 1 || piece.iov_len == 0) {
            return;
        }
        c->piece = piece.iov_base;
        size_t used = http_parser_execute(&c->parser, &callbacks, piece.iov_base, piece.iov_len);
        enum http_errno code = HTTP_PARSER_ERRNO(&c->parser);
        if (code != HPE_OK && code != HPE_PAUSED) {
            refuse_malformed(c);
            return;
        }
        evbuffer_drain(in, used);
    }
}
