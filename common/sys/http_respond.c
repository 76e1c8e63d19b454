/* http_respond.c - answers into bytes. Runs on whatever thread answers, so that packing is not the loop's
 * work. */
#include "common/base/jsonw.h"
#include "common/base/memory_account.h"
#include "common/sys/http_conn.h"

#define PACKED_HERE_MAX (64 * KIB) /* a body that a loop packs: a millisecond or two */

/* Characters that would end a header's line become blanks: values may come from clients. */
static void add_header_text(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        buf_char(b, c == '\r' || c == '\n' || c == '\0' ? ' ' : c);
    }
}

static void add_header(struct buf *b, struct str name, struct str value)
{
    add_header_text(b, name);
    buf_add(b, ": ", 2);
    add_header_text(b, value);
    buf_add(b, "\r\n", 2);
}

/* Is the body to be packed, as the client takes it so? */
static bool may_pack(const struct request *r, const struct buf *body)
{
    const struct http_server_opts *o = &r->conn->worker->server->opts;
    return o->compression && r->gzip_ok && r->pub.method != HTTP_M_HEAD && body->n >= o->gzip_bytes_min;
}

/* Packs it where it becomes smaller by that. */
static bool pack(const struct request *r, struct buf *body)
{
    const struct http_server_opts *o = &r->conn->worker->server->opts;
    struct buf packed;
    buf_init(&packed, body->alloc, BUF_UNLIMITED);
    if (http_gzip(buf_view(body), o->compression_level, &packed, NULL) != ERR_OK || packed.n >= body->n) {
        buf_fini(&packed);
        return false;
    }
    buf_fini(body);
    *body = packed;
    return true;
}

static bool has_no_body(int status)
{
    return status < 200 || status == 204 || status == 304;
}

/* What lets a page elsewhere read the answer, and a preflight's leave. */
static void add_cors(const struct request *r, struct buf *h)
{
    const struct http_site *site = r->conn->worker->server->opts.site;
    add_header(h, STR("access-control-allow-origin"),
               *http_header_find(r->pub.headers, r->pub.headers_n, "origin"));
    add_header(h, STR("vary"), STR("Origin"));
    if (site->credentials) {
        add_header(h, STR("access-control-allow-credentials"), STR("true"));
    }
    if (r->preflight) {
        add_header(h, STR("access-control-allow-methods"), site->methods);
        add_header(h, STR("access-control-allow-headers"), site->headers);
        add_header(h, STR("access-control-max-age"), site->max_age);
    }
}

/* There was no room even for the words of a refusal. They are few: they get it. Returns the content type. */
static const char *refusal_text(struct buf *body)
{
    bool guarded = memory_guard(false);
    buf_fini(body);
    buf_init(body, NULL, BUF_UNLIMITED);
    const struct errmsg *em = err_out_of_memory();
    http_error_body(body, 429, err_type(ERR_NO_MEMORY), err_reason(em), &err_about(em)->refused);
    memory_guard(guarded);
    return "application/json; charset=UTF-8";
}

/* The head but for what the packing of the body decides; takes the body. */
static void begin_answer(struct request *r, int status, const char *content_type,
                         const struct http_header *headers, size_t headers_n, struct buf *body)
{
    struct buf none;
    buf_init(&none, NULL, 0);
    if (body != NULL && has_no_body(status)) {
        buf_fini(body);
    }
    body = body != NULL ? body : &none;
    if (status == 429 && body->n == 0) {
        content_type = refusal_text(body);
    }
    struct buf *h = &r->out_head;
    buf_reserve(h, 256);
    buf_add(h, "HTTP/1.1 ", 9);
    buf_i64(h, status);
    buf_char(h, ' ');
    buf_z(h, http_status_text(status));
    buf_add(h, "\r\n", 2);
    for (size_t i = 0; i < headers_n; i++) {
        add_header(h, headers[i].name, headers[i].value);
    }
    if (r->shared) {
        add_cors(r, h);
    }
    if (r->conn->worker->server->opts.product != NULL) {
        add_header(h, STR("X-elastic-product"), str_of(r->conn->worker->server->opts.product));
    }
    if (content_type != NULL) {
        add_header(h, STR("content-type"), str_of(content_type));
    }
    r->out_body = *body;
    r->bodyless = has_no_body(status);
    buf_init(body, body->alloc, body->bytes_max);
}

/* The connection adds whether it closes, and the empty line: only it knows what is last. */
static void end_answer(struct request *r, bool packed)
{
    struct buf *h = &r->out_head;
    if (packed) {
        buf_z(h, "content-encoding: gzip\r\n");
    }
    if (!r->bodyless) {
        buf_z(h, "content-length: ");
        buf_u64(h, r->out_body.n);
        buf_add(h, "\r\n", 2);
    }
    r->out_body_n = r->pub.method == HTTP_M_HEAD && r->head_done ? 0 : r->out_body.n;
}

void request_answer(struct request *r, int status, const char *content_type,
                    const struct http_header *headers, size_t headers_n, struct buf *body)
{
    begin_answer(r, status, content_type, headers, headers_n, body);
    end_answer(r, may_pack(r, &r->out_body) && pack(r, &r->out_body));
}

/* Counts an answer until it is with the kernel. Is there room for it? A small one always finds some. */
static bool may_wait(const struct request *r, struct buf *body)
{
    bool ok = r->pub.exempt || body->cap < MEMORY_BLOCK_SMALL || memory_room(MEMORY_REQUEST, body->cap, NULL);
    if (ok) {
        memory_adopt(MEMORY_REQUEST, body);
    }
    return ok;
}

/* The answer is whole: r is the connection's again. */
static void hand_back(struct request *r)
{
    struct http_conn *c = r->conn;
    struct loop *loop = r->pub.loop;
    if (r->held) {
        http_request_unref(&r->pub);
        return;
    }
    if (loop_inside(loop) && c->reading) {
        r->answered = true; /* conn_run() flushes when it is through with the parser */
        return;
    }
    r->task.run = conn_answered;
    loop_post_task(loop, &r->task);
}

static void pack_there(void *arg)
{
    struct request *r = arg;
    bool guarded = memory_guard(!r->pub.exempt);
    bool packed = !http_aborted(&r->pub) && pack(r, &r->out_body);
    memory_guard(guarded);
    end_answer(r, packed);
    hand_back(r);
}

/* A body that takes long to pack is packed on the pool, not on a loop; it goes plain where the pool has no room. */
static void pack_answer(struct request *r)
{
    const struct executor *pool = r->conn->worker->server->opts.unpacking;
    bool wanted = may_pack(r, &r->out_body);
    if (!wanted || pool == NULL || r->out_body.n < PACKED_HERE_MAX || !loop_inside(r->pub.loop)) {
        end_answer(r, wanted && pack(r, &r->out_body));
        hand_back(r);
    } else if (!executor_submit(pool, pack_there, r)) {
        end_answer(r, false);
        hand_back(r);
    }
}

void http_respond(struct http_request *req, int status, const char *content_type,
                  const struct http_header *headers, size_t headers_n, struct buf *body)
{
    struct request *r = (struct request *)req;
    ERR_LOCAL(em);
    struct buf error;
    buf_init(&error, NULL, BUF_UNLIMITED);
    if (body != NULL && (body->failed || !may_wait(r, body))) {
        buf_fini(body);
        enum err e = err_no_memory(&em);
        status = err_status(e);
        content_type = "application/json; charset=UTF-8";
        http_error_body(&error, status, err_type(e), err_reason(&em), &err_about(&em)->refused);
        body = &error;
    }
    begin_answer(r, status, content_type, headers, headers_n, body);
    buf_fini(&error);
    pack_answer(r);
}

void http_request_ref(struct http_request *req)
{
    ((struct request *)req)->held = true;
}

void http_request_unref(struct http_request *req)
{
    struct request *r = (struct request *)req;
    if (atomic_exchange(&r->half_done, true)) {
        r->task.run = conn_answered;
        loop_post_task(r->pub.loop, &r->task);
    }
}

void http_watch(struct http_request *req, void (*aborted)(void *arg), void (*released)(void *arg), void *arg)
{
    struct request *r = (struct request *)req;
    r->aborted = aborted;
    r->released = released;
    r->watch_arg = arg;
}

bool http_aborted(const struct http_request *req)
{
    return atomic_load_explicit(&((const struct request *)req)->gone, memory_order_relaxed);
}

static void write_error(struct jsonw *w, const char *type, const char *reason,
                        const struct err_refused *refused)
{
    jw_kz(w, "type", type);
    jw_kz(w, "reason", reason);
    if (refused != NULL) {
        memory_write_refusal(w, refused);
    }
}

void http_error_body(struct buf *b, int status, const char *type, const char *reason,
                     const struct err_refused *refused)
{
    struct jsonw w;
    jsonw_init(&w, b, false);
    jw_obj(&w);
    if (type == NULL) {
        jw_kz(&w, "error", reason);
    } else {
        jw_kobj(&w, "error");
        jw_karr(&w, "root_cause");
        jw_obj(&w);
        write_error(&w, type, reason, refused);
        jw_obj_end(&w);
        jw_arr_end(&w);
        write_error(&w, type, reason, refused);
        jw_obj_end(&w);
    }
    jw_ki64(&w, "status", status);
    jw_obj_end(&w);
}
