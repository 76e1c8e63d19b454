/* A request's body, and its one answer (rest.h). */
#include "coordinator/rest/rest.h"

#include "common/base/stop.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- body ------------------------------------------------------------------------------------------------------------------ */

/* The text of the body, also where it stands in the URL; none is fine. */
static enum err body_text(struct rest *r)
{
    r->body_read = true;
    if (r->body.n == 0 && rest_given(r, "source")) {
        if (!rest_has(r, "source_content_type")) {
            return err_set(&r->em, ERR_ILLEGAL_STATE,
                           "source and source_content_type parameters are required");
        }
        r->body = rest_param(r, "source");
    }
    return r->body.n > 0 && str_trim(r->body).n == 0
               ? err_set_at(&r->em, ERR_PARSING, 1, 0, "Expected [START_OBJECT] but found [null]")
               : ERR_OK;
}

static enum err read_body(struct rest *r, bool whole, const struct json **out)
{
    *out = NULL;
    enum err e = body_text(r);
    if (e != ERR_OK || r->body.n == 0) {
        return e;
    }
    e = (whole ? json_parse : json_parse_first)(&r->tree, r->body, r->arena, &json_limits_default, &r->em);
    if (e == ERR_OK) {
        *out = &r->tree;
        r->body.n = whole ? r->body.n : r->tree.end; /* no reader gets more of the text */
    }
    return e;
}

enum err rest_body(struct rest *r, const struct json **out)
{
    return read_body(r, false, out);
}

enum err rest_body_whole(struct rest *r, const struct json **out)
{
    return read_body(r, true, out);
}

enum err rest_body_required(struct rest *r, const struct json **out)
{
    enum err e = rest_body(r, out);
    if (e == ERR_OK && *out == NULL) {
        e = err_set(&r->em, ERR_PARSE, "request body is required");
    }
    return e;
}

/* ---- answers ------------------------------------------------------------------------------------------------------------------- */

void rest_header(struct rest *r, const char *name, struct str value)
{
    if (r->n_headers < ARRAY_LEN(r->headers)) {
        r->headers[r->n_headers++] = (struct http_header){str_of(name), value};
    }
}

#define AGENT "Elasticsearch-7.12.1-3186837139b9c6b6d23c3200870651f10d3343b7"

void rest_warn_idle(struct rest *r, struct str names, size_t n)
{
    struct str text = arena_printf(r->arena, "299 " AGENT " \"[%.*s] %s accepted and %s no effect here\"",
                                   STR_ARG(names), n > 1 ? "are" : "is", n > 1 ? "have" : "has");
    if (text.p != NULL) {
        rest_header(r, "Warning", text);
    }
}

void rest_warn(struct rest *r, const char *text)
{
    for (unsigned i = 0; i < r->n_warned; i++) {
        if (r->warned[i] == text) {
            return;
        }
    }
    if (r->n_warned < ARRAY_LEN(r->warned)) {
        r->warned[r->n_warned++] = text;
    }
}

static void warn_deprecated(struct rest *r)
{
    for (unsigned i = 0; i < r->n_warned; i++) {
        struct str text = arena_printf(r->arena, "299 " AGENT " \"%s\"", r->warned[i]);
        if (text.p != NULL) {
            rest_header(r, "Warning", text);
        }
    }
}

/* A parameter without effect gets a warning. */
static void warn_idle(struct rest *r)
{
    struct buf names;
    buf_init(&names, NULL, KIB);
    for (unsigned i = 0; i < r->n_idle; i++) {
        buf_printf(&names, "%s%s", i > 0 ? ", " : "", r->idle[i]);
    }
    rest_warn_idle(r, buf_view(&names), r->n_idle);
    buf_fini(&names);
}

static void answer_end(struct rest *r, int status, const char *content_type, struct buf *b)
{
    struct http_request *http = r->http;
    const struct str *opaque = http_header_find(http->headers, http->headers_n, "x-opaque-id");
    if (opaque != NULL) {
        rest_header(r, "X-Opaque-Id", *opaque);
    }
    if (r->n_idle > 0) {
        warn_idle(r);
    }
    warn_deprecated(r);
    cluster_state_unref(r->state);
    r->state = NULL;
    http_respond(http, status, content_type, r->headers, r->n_headers, b); /* r is gone with it */
}

void rest_send_text(struct rest *r, int status, const char *content_type, struct buf *b)
{
    answer_end(r, status, content_type, b);
}

/* In the place of an answer that found no room. */
static void too_large(struct buf *b)
{
    ERR_LOCAL(em);
    buf_fini(b);
    buf_init(b, NULL, BUF_UNLIMITED);
    err_no_memory(&em);
    error_answer(&em, b);
}

static void send_now(struct rest *r, int status, struct buf *b)
{
    const char *type;
    struct stop st = {.asked = op_client_gone, .self = r->http};
    stop_enter(&st);
    enum err e = rest_shape(r, b, &type);
    stop_leave(&st);
    if (e == ERR_ILLEGAL_ARGUMENT) { /* filter_path */
        buf_fini(b);
        rest_fail(r, NULL);
        return;
    }
    if (e != ERR_OK || b->failed) {
        too_large(b);
        status = 429;
        type = "application/json; charset=UTF-8";
    }
    answer_end(r, status, type, b);
}

/* An answer that takes long to be filtered or indented, which its loop has no time for. */
struct unshaped {
    struct rest *r;
    int status;
    struct buf b;
};

static void send_apart(void *arg)
{
    struct unshaped *u = arg;
    send_now(u->r, u->status, &u->b);
}

void rest_send(struct rest *r, int status, struct buf *b)
{
    if (!op_on_loop(&r->env) || r->co->o.requests == NULL || rest_shape_is_quick(r, b)) {
        send_now(r, status, b);
        return;
    }
    struct unshaped *u = ARENA_NEW(r->arena, struct unshaped);
    if (u != NULL) {
        *u = (struct unshaped){r, status, *b};
    }
    if (u == NULL || !executor_submit_force(r->co->o.requests, send_apart, u)) {
        send_now(r, status, b);
        return;
    }
    buf_init(b, NULL, BUF_UNLIMITED);
}

void rest_fail(struct rest *r, const struct errmsg *em)
{
    struct buf b;
    em = em != NULL ? em : &r->em;
    buf_init(&b, NULL, BUF_UNLIMITED);
    error_answer(em, &b);
    r->unfiltered = true;
    rest_send(r, err_http_status(em), &b);
}

void rest_no_memory(struct rest *r)
{
    err_no_memory(&r->em);
    rest_fail(r, NULL);
}

void rest_send_or_fail(struct rest *r, enum err e, struct buf *b)
{
    if (e == ERR_OK) {
        rest_send(r, 200, b);
    } else {
        buf_fini(b);
        rest_fail(r, NULL);
    }
}

void rest_fail_text(struct rest *r, int status, const char *fmt, ...)
{
    char text[ERR_REASON_BYTES];
    struct buf b;
    struct jsonw w;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kz(&w, "error", text);
    jw_ki64(&w, "status", status);
    jw_obj_end(&w);
    rest_send(r, status, &b);
}

void rest_acknowledge(struct rest *r)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_z(&b, "{\"acknowledged\":true}");
    rest_send(r, 200, &b);
}
