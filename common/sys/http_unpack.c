/* http_unpack.c - bodies that came packed: small ones where they are, others on the server's pool, so that no loop unpacks a
 * megabyte. The unpacked bytes count as in flight as they grow. */
#include "common/base/memory_account.h"
#include "common/sys/http_conn.h"

bool request_is_packed(const struct request *r)
{
    const struct str *how = http_header_find(r->pub.headers, r->pub.headers_n, "content-encoding");
    return http_is_packed(how) && r->body.n > 0;
}

enum err request_unpack(struct request *r, struct errmsg *em)
{
    return http_unpack(&r->body, r->body.alloc, r->conn->worker->server->opts.limits.inflated_bytes_max, em);
}

/* The client gets the error, and nothing more is read. */
static void refuse_body(struct request *r)
{
    struct http_conn *c = r->conn;
    struct buf body;
    int status = r->unpack_failed == ERR_TOO_LONG_FRAME ? 413 : err_status(r->unpack_failed);
    buf_init(&body, NULL, 4 * KIB);
    c->phase = PHASE_CLOSED;
    c->deadline_ms = INT64_MAX;
    c->linger = r->close = true;
    atomic_fetch_add_explicit(&c->worker->server->refused, 1, memory_order_relaxed);
    if (status != 413) { /* Elasticsearch leaves that to its HTTP layer: no body */
        http_error_body(&body, status, err_type(r->unpack_failed), r->unpack_reason,
                        r->unpack_failed == ERR_NO_MEMORY ? &r->unpack_refused : NULL);
    }
    http_respond(&r->pub, status, body.n > 0 ? "application/json; charset=UTF-8" : NULL, NULL, 0, &body);
    buf_fini(&body);
}

/* Back on the loop. */
static void unpacked(struct loop_task *t)
{
    struct request *r = (struct request *)(void *)((char *)t - offsetof(struct request, task));
    struct http_conn *c = r->conn;
    c->unpacking = false;
    c->reading = true; /* answers wait for the end of this */
    if (r->unpack_failed == ERR_OK && !http_aborted(&r->pub)) {
        r->pub.body = buf_view(&r->body);
        request_handle(r);
    } else {
        refuse_body(r);
    }
    c->reading = false;
    conn_run(c); /* c may be gone */
}

static void unpack_there(void *arg)
{
    struct request *r = arg;
    ERR_LOCAL(em);
    bool guarded = memory_guard(!r->pub.exempt);
    r->unpack_failed = http_aborted(&r->pub) ? ERR_CANCELLED : request_unpack(r, &em);
    memory_guard(guarded);
    r->unpack_refused = err_about(&em)->refused;
    struct str reason = arena_str(&r->arena, str_of(err_reason(&em)));
    r->unpack_reason = reason.p != NULL ? reason.p : "";
    r->task.run = unpacked;
    loop_post_task(r->pub.loop, &r->task);
}

void request_unpack_elsewhere(struct request *r)
{
    r->conn->unpacking = true;
    if (!executor_submit(r->conn->worker->server->opts.unpacking, unpack_there, r)) {
        r->unpack_failed = ERR_REJECTED;
        r->unpack_reason = "rejected execution of the unpacking of a body: queue is full";
        r->task.run = unpacked;
        loop_post_task(r->pub.loop, &r->task);
    }
}
