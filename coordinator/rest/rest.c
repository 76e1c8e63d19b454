#include "coordinator/core/script_error.h"
#include "coordinator/rest/absent.h"
#include "coordinator/rest/nodes_stats.h"
#include "coordinator/rest/tasks_listing.h"

#include "common/base/hash.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "coordinator/core/delays.h"
#include "coordinator/core/events.h"
#include "coordinator/core/shard_tasks.h"
#include "coordinator/core/tasks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void drop_state(void *s)
{
    cluster_state_unref(s);
}

void rest_renew_state(struct rest *r)
{
    struct cluster_state *now = r->co->o.state(r->co->o.self);
    if (!arena_defer(r->arena, drop_state, cluster_state_ref(r->state))) {
        cluster_state_unref(now); /* without memory the request goes on with the state that it has */
        return;
    }
    cluster_state_unref(r->state); /* the arena's reference is left */
    r->state = now;
}

bool rest_gone(void *http)
{
    return http != NULL && http_aborted(http);
}

bool rest_on_loop(const struct rest *r)
{
    return r->http != NULL && r->http->loop != NULL && loop_inside(r->http->loop);
}

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
        r->body.n = whole ? r->body.n : r->tree.end; /* nobody reads more, whoever gets the text */
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

/* ---- errors ------------------------------------------------------------------------------------------------------------------ */

/* One resource as a text; several, which ", " parts, as a list. */
static void write_resource(struct str ids, struct jsonw *w)
{
    bool many = false;
    jw_k(w, "resource.id");
    for (size_t at = 0, from = 0; at <= ids.n; at++) {
        const bool end = at == ids.n;
        if (end || (ids.p[at] == ',' && at + 1 < ids.n && ids.p[at + 1] == ' ')) {
            if (!end && !many) {
                jw_arr(w);
                many = true;
            }
            jw_str(w, str_slice(ids, from, at));
            from = at + 2;
        }
    }
    if (many) {
        jw_arr_end(w);
    }
}

static void write_about(struct jsonw *w, const struct errmsg *em, unsigned at)
{
    enum err code = em->frame[at].code;
    const struct err_about *a = &em->about;
    if (code == ERR_SCRIPT) {
        script_error_write(w, a, str_is(str_of(em->frame[at].reason), "compile error"));
        return;
    }
    if (code == ERR_TOO_MANY_BUCKETS) {
        jw_ki64(w, "max_buckets", a->limit);
        return;
    }
    if (err_family(code) != ERR_FAMILY_ES || code == ERR_RESOURCE_NOT_FOUND || code == ERR_GENERAL_SCRIPT
        || code == ERR_NO_MEMORY) {
        return;
    }
    if (a->resource_type[0] != '\0') {
        jw_kz(w, "resource.type", a->resource_type);
        write_resource(str_of(a->resource_id), w);
    }
    if ((a->index[0] != '\0' || a->index_uuid[0] != '\0') && code != ERR_PARSING && code != ERR_MAPPER_PARSING
        && code != ERR_PARSE && code != ERR_CLUSTER_BLOCK) {
        jw_kz(w, "index_uuid", a->index_uuid);
        if (a->shard >= 0) {
            jw_k(w, "shard");
            jw_strf(w, "%d", a->shard);
        }
        jw_kz(w, "index", a->index);
    }
}

static void write_frame(struct jsonw *w, const struct errmsg *em, unsigned at)
{
    const struct err_frame *f = &em->frame[at];
    jw_kz(w, "type", err_type(f->code));
    jw_k(w, "reason");
    bool silent = f->code == ERR_NO_SHARD || f->code == ERR_NO_VIABLE_ALT
                  || f->code == ERR_LEXER_NO_VIABLE_ALT || f->code == ERR_INPUT_MISMATCH
                  || f->code == ERR_STACK_OVERFLOW || f->code == ERR_NO_SUCH_ELEMENT
                  || f->code == ERR_CONCURRENT_MODIFICATION || f->code == ERR_UNSUPPORTED;
    if (silent && f->reason[0] == '\0') { /* there was nobody who could have said why */
        jw_null(w);
    } else {
        jw_z(w, f->reason);
    }
    if (f->line > 0) {
        jw_ki64(w, "line", f->line);
        jw_ki64(w, "col", f->col);
    }
    if (f->code == ERR_NO_MEMORY) {
        memory_write_refusal(w, &em->about.refused);
    }
    write_about(w, em, at);
}

static void write_from(struct jsonw *w, const struct errmsg *em, unsigned at)
{
    write_frame(w, em, at);
    if (at + 1 < em->n) {
        jw_k(w, "caused_by");
        jw_obj(w);
        write_from(w, em, at + 1);
        jw_obj_end(w);
    }
}

void error_write_cause(struct jsonw *w, const struct errmsg *em)
{
    write_from(w, em, 0);
    if (em->n_suppressed == 0) {
        return;
    }
    jw_k(w, "suppressed");
    jw_arr(w);
    for (unsigned i = 0; i < em->n_suppressed; i++) {
        jw_obj(w);
        jw_kz(w, "type", err_type(em->suppressed[i].code));
        jw_kz(w, "reason", em->suppressed[i].reason);
        if (em->suppressed_by[i].reason[0] != '\0') {
            jw_k(w, "caused_by");
            jw_obj(w);
            jw_kz(w, "type", err_type(em->suppressed_by[i].code));
            jw_kz(w, "reason", em->suppressed_by[i].reason);
            jw_obj_end(w);
        }
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

void error_write(struct jsonw *w, const struct errmsg *em)
{
    jw_k(w, "root_cause");
    jw_arr(w);
    jw_obj(w);
    write_frame(w, em, err_root(em));
    jw_obj_end(w);
    jw_arr_end(w);
    error_write_cause(w, em);
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

/* Whoever gives a parameter that does nothing hears so. */
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

static void end(struct rest *r, int status, const char *content_type, struct buf *b)
{
    struct http_request *http = r->http;
    const struct str *opaque = http_header_find(http->headers, http->headers_n, "x-opaque-id");
    if (opaque != NULL) {
        rest_header(r, "X-Opaque-Id", *opaque);
    }
    if (r->n_idle > 0) {
        warn_idle(r);
    }
    cluster_state_unref(r->state);
    r->state = NULL;
    http_respond(http, status, content_type, r->headers, r->n_headers, b); /* r is gone with it */
}

void rest_send_text(struct rest *r, int status, const char *content_type, struct buf *b)
{
    end(r, status, content_type, b);
}

static void write_failure(const struct errmsg *em, struct buf *b)
{
    struct jsonw w;
    jsonw_init(&w, b, false);
    jw_obj(&w);
    jw_k(&w, "error");
    jw_obj(&w);
    error_write(&w, em);
    jw_obj_end(&w);
    jw_ki64(&w, "status", err_http_status(em));
    jw_obj_end(&w);
}

/* In the place of an answer that found no room. */
static void too_large(struct buf *b)
{
    struct errmsg em;
    buf_fini(b);
    buf_init(b, NULL, BUF_UNLIMITED);
    err_no_memory(&em);
    write_failure(&em, b);
}

static void send_now(struct rest *r, int status, struct buf *b)
{
    const char *type;
    struct stop st = {.asked = rest_gone, .self = r->http};
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
    end(r, status, type, b);
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
    if (!rest_on_loop(r) || r->co->o.requests == NULL || rest_shape_is_quick(r, b)) {
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
    write_failure(em, &b);
    r->unfiltered = true;
    rest_send(r, err_http_status(em), &b);
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
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
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

/* ---- dispatch -------------------------------------------------------------------------------------------------------------------- */

/* Nothing stands before the first slash or behind the last ones; between two of them there is an empty part. They are not decoded:
 * an escape is no way to write the name of an endpoint. */
static enum err split_path(struct rest *r, struct str path, struct str *parts, unsigned *n)
{
    *n = 0;
    while (path.n > 0 && path.p[path.n - 1] == '/') {
        path.n--;
    }
    struct str rest = path.n > 0 ? str_slice(path, path.p[0] == '/' ? 1 : 0, path.n) : STR_NULL;
    while (rest.p != NULL) {
        struct str part = str_cut(rest, '/', &rest);
        if (*n == PATH_PARTS_MAX) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "the path has too many parts");
        }
        parts[(*n)++] = part;
    }
    return ERR_OK;
}

/* "type/subtype", letters, digits and the like. */
static bool well_formed(struct str media)
{
    size_t slash = str_find(media, '/', 0);
    if (slash == SIZE_MAX || slash == 0 || slash + 1 == media.n) {
        return false;
    }
    for (size_t i = 0; i < media.n; i++) {
        char c = media.p[i];
        if ((c <= ' ' || c == 0x7F || strchr("()<>@,;:\\\"[]?=", c) != NULL) || (c == '/' && i != slash)) {
            return false;
        }
    }
    return true;
}

static bool supported_content(struct str type)
{
    struct str rest, media = str_trim(str_cut(type, ';', &rest));
    return str_eq_nocase(media, STR("application/json")) || str_eq_nocase(media, STR("application/x-ndjson"))
           || str_eq_nocase(media, STR("application/yaml"))
           || str_eq_nocase(media, STR("application/vnd.elasticsearch+json"))
           || str_eq_nocase(media, STR("application/vnd.elasticsearch+x-ndjson"));
}

static bool is_yaml(struct str type)
{
    struct str rest;
    return str_eq_nocase(str_trim(str_cut(type, ';', &rest)), STR("application/yaml"));
}

bool rest_takes_lines(struct rest *r)
{
    const struct str *type = http_header_find(r->http->headers, r->http->headers_n, "content-type");
    bool ok = type == NULL || !is_yaml(*type);
    r->body_read = true;
    if (!ok) {
        rest_fail_text(r, 406,
                       "Content-Type [YAML] does not support stream parsing. Use JSON or SMILE instead");
    }
    return ok;
}

static bool looks_like_json(struct str body)
{
    struct str text = str_trim(body);
    return text.n == 0 || text.p[0] == '{' || text.p[0] == '[' || text.p[0] == '"';
}

static void no_handler(struct rest *r, unsigned allowed)
{
    static const enum http_verb order[] = {HTTP_M_DELETE, HTTP_M_GET, HTTP_M_HEAD, HTTP_M_POST, HTTP_M_PUT};
    struct buf names, header;
    struct str query = r->http->query;
    struct str path = query.n == 0
                          ? r->http->path
                          : arena_printf(r->arena, "%.*s?%.*s", STR_ARG(r->http->path), STR_ARG(query));
    buf_init(&names, NULL, KIB);
    buf_init(&header, NULL, KIB);
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        if ((allowed & (1U << order[i])) != 0) {
            buf_printf(&names, "%s%s", names.n > 0 ? ", " : "", http_method_name(order[i]));
            buf_printf(&header, "%s%s", header.n > 0 ? "," : "", http_method_name(order[i]));
        }
    }
    struct str kept = arena_str(r->arena, buf_view(&names)), allow = arena_str(r->arena, buf_view(&header));
    buf_fini(&names);
    buf_fini(&header);
    if (r->method == HTTP_M_OPTIONS) {
        struct buf none;
        buf_init(&none, NULL, KIB);
        if (allowed != 0) {
            rest_header(r, "Allow", allow);
        }
        rest_send_text(r, 200, "text/plain; charset=UTF-8", &none);
    } else if (r->em.n > 0 && err_code(&r->em) != ERR_ILLEGAL_ARGUMENT) {
        rest_fail(r, NULL);
    } else if (r->em.n > 0) { /* there is a handler, but what the path gives it cannot be decoded */
        rest_header(r, "Allow", allow);
        rest_fail_text(r, 405, "%s, allowed: [%.*s]", r->em.frame[0].reason, STR_ARG(kept));
    } else if (allowed != 0) {
        rest_header(r, "Allow", allow);
        rest_fail_text(r, 405, "Incorrect HTTP method for uri [%.*s] and method [%.*s], allowed: [%.*s]",
                       STR_ARG(path), STR_ARG(r->http->method_name), STR_ARG(kept));
    } else {
        struct buf b;
        struct jsonw w;
        buf_init(&b, NULL, BUF_UNLIMITED);
        jsonw_init(&w, &b, false);
        jw_obj(&w);
        jw_k(&w, "error");
        jw_strf(&w, "no handler found for uri [%.*s] and method [%.*s]", STR_ARG(path),
                STR_ARG(r->http->method_name));
        jw_obj_end(&w);
        rest_send(r, 400, &b);
    }
}

/* What an exempt request needs beside its arena is not refused either. */
static void run(struct rest *r, rest_handler handler)
{
    if (r->http->exempt) {
        bool guarded = memory_guard(false);
        handler(r);
        memory_guard(guarded);
    } else {
        handler(r);
    }
}

/* A request that is read away from its loop. It is held: its handler may look at it after it has answered, as it may on
 * the loop. */
struct apart {
    struct rest *r;
    rest_handler handler;
};

static void read_apart(void *arg)
{
    struct apart *a = arg;
    struct http_request *http = a->r->http;
    run(a->r, a->handler);
    http_release(http); /* and a is gone */
}

/* Away from the loop, when there is room for it there. */
static void read_later(struct rest *r, rest_handler handler, const struct executor *where)
{
    struct apart *a = ARENA_NEW(r->arena, struct apart);
    if (a != NULL) {
        *a = (struct apart){r, handler};
    }
    http_hold(r->http);
    if (a == NULL || !executor_submit(where, read_apart, a)) {
        struct http_request *http = r->http;
        err_set(&r->em, ERR_REJECTED, "rejected execution of a request: queue is full");
        rest_fail(r, NULL);
        http_release(http);
    }
}

/* The parameters of the query, and room to note which of them are asked for. Fills r->em. */
static enum err read_query(struct rest *r)
{
    enum err e = uri_query(r->http->query, r->arena, &r->params, &r->em);
    if (e != ERR_OK) {
        r->params.n = 0;
        return e != ERR_ILLEGAL_ARGUMENT
                   ? e
                   : err_wrap(&r->em, ERR_BAD_PARAMETER, "java.lang.IllegalArgumentException: %s",
                              r->em.frame[0].reason);
    }
    r->used = ARENA_ARRAY(r->arena, bool, r->params.n);
    if (r->params.n > 0) {
        r->asked = ARENA_ARRAY(r->arena, const char *, ASKED_MAX + 1);
    }
    return r->used == NULL || (r->params.n > 0 && r->asked == NULL) ? err_no_memory(&r->em) : ERR_OK;
}

/* Whether the body's type and the answer's form are served here. Where not, it has been answered. */
static bool forms_offered(struct rest *r)
{
    const struct http_request *req = r->http;
    const struct str *type = http_header_find(req->headers, req->headers_n, "content-type");
    struct str media_rest, wanted, shown = type != NULL ? uri_text(*type, r->arena) : STR("");
    unsigned types = 0;
    for (size_t i = 0; i < req->headers_n; i++) {
        types += str_eq_nocase(req->headers[i].name, STR("content-type")) ? 1 : 0;
    }
    if (types > 1) {
        static const char why[] = "only one Content-Type header should be provided";
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", why);
        err_wrap(&r->em, ERR_CONTENT_TYPE_HEADER, "java.lang.IllegalArgumentException: %s", why);
        rest_fail(r, NULL);
    } else if (type != NULL && !well_formed(str_trim(str_cut(*type, ';', &media_rest)))) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "invalid Content-Type header [%.*s]", STR_ARG(shown));
        err_wrap(&r->em, ERR_CONTENT_TYPE_HEADER,
                 "java.lang.IllegalArgumentException: invalid Content-Type header [%.*s]", STR_ARG(shown));
        rest_fail(r, NULL);
    } else if (req->body.n > 0 && (type == NULL || !supported_content(*type))) {
        rest_fail_text(r, 406, "Content-Type header [%.*s] is not supported", STR_ARG(shown));
    } else if (!rest_format_offered(r, &wanted)) {
        rest_fail_text(r, 406, "[%.*s] is not offered here: answers are JSON or YAML", STR_ARG(wanted));
    } else if (req->body.n > 0 && is_yaml(*type) && !looks_like_json(req->body)) {
        rest_fail_text(r, 406, "bodies in YAML are not offered here, but for what JSON is of it");
    } else {
        return true;
    }
    return false;
}

/* The body without a byte order mark, which editors and shells put before texts. */
static struct str without_mark(struct str body)
{
    return str_starts(body, STR("\xEF\xBB\xBF")) ? str_slice(body, 3, body.n) : body;
}

void coordinator_handle(void *coordinator, struct http_request *req)
{
    struct coordinator *co = coordinator;
    struct rest *r = ARENA_NEW(req->arena, struct rest);
    if (r == NULL) {
        http_respond(req, 429, NULL, NULL, 0, NULL);
        return;
    }
    *r = (struct rest){
        .co = co, .http = req, .arena = req->arena, .method = req->method, .body = without_mark(req->body)};
    r->start_ns = co->o.clock->mono_ns(co->o.clock->self);
    r->state = co->o.state(co->o.self);
    req->path = uri_text(req->path, r->arena);
    req->query = uri_text(req->query, r->arena);
    struct str parts[PATH_PARTS_MAX];
    unsigned n, allowed;
    if (read_query(r) != ERR_OK || split_path(r, req->path, parts, &n) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!forms_offered(r)) {
        return;
    }
    bool pretty;
    if (rest_bool(r, "pretty", false, &pretty) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct str absent = absent_part(parts, n, r->method == HTTP_M_GET || r->method == HTTP_M_POST);
    if (absent.p != NULL) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] of Elasticsearch is not offered here: [%.*s %.*s]",
                STR_ARG(absent), STR_ARG(req->method_name), STR_ARG(req->path));
        rest_fail(r, NULL);
        return;
    }
    rest_handler handler = router_find(co->router, r, parts, n, &allowed);
    if (handler != NULL && str_is(req->path, "/favicon.ico") && r->method != HTTP_M_GET) {
        handler = NULL; /* a file that is never an index by itself */
        allowed = 1U << HTTP_M_GET;
    }
    if (handler == NULL) {
        no_handler(r, allowed);
        return;
    }
    if (!req->exempt) {
        if (!memory_room(MEMORY_IN_FLIGHT, 0, NULL)) {
            err_no_memory(&r->em);
            rest_fail(r, NULL);
            return;
        }
        req->arena->alloc = memory_allocator(MEMORY_REQUEST);
    }
    const struct executor *apart =
        r->body.n == 0 && !rest_given(r, "source") ? co->o.listings : co->o.requests;
    if (apart == NULL || rest_is_quick(r, parts, n)) {
        run(r, handler);
    } else {
        read_later(r, handler, apart);
    }
}

static const struct {
    const struct route *routes;
    const size_t *n;
} families[] = {
    {routes_root, &routes_root_n},
    {routes_index, &routes_index_n},
    {routes_document, &routes_document_n},
    {routes_update, &routes_update_n},
    {routes_bulk, &routes_bulk_n},
    {routes_search, &routes_search_n},
    {routes_maintenance, &routes_maintenance_n},
    {routes_scroll, &routes_scroll_n},
    {routes_msearch, &routes_msearch_n},
    {routes_pit, &routes_pit_n},
    {routes_field_caps, &routes_field_caps_n},
    {routes_index_settings, &routes_index_settings_n},
    {routes_alias, &routes_alias_n},
    {routes_template, &routes_template_n},
    {routes_open_close, &routes_open_close_n},
    {routes_cluster_settings, &routes_cluster_settings_n},
    {routes_field_mapping, &routes_field_mapping_n},
    {routes_get, &routes_get_n},
    {routes_mget, &routes_mget_n},
    {routes_explain, &routes_explain_n},
    {routes_search_shards, &routes_search_shards_n},
    {routes_health, &routes_health_n},
    {routes_resolve_index, &routes_resolve_index_n},
    {routes_index_stats, &routes_index_stats_n},
    {routes_cat_indices, &routes_cat_indices_n},
    {routes_cat, &routes_cat_n},
    {routes_nodes, &routes_nodes_n},
    {routes_nodes_stats, &routes_nodes_stats_n},
    {routes_cluster_stats, &routes_cluster_stats_n},
    {routes_cluster_state, &routes_cluster_state_n},
    {routes_reroute, &routes_reroute_n},
    {routes_metrics, &routes_metrics_n},
    {routes_recovery, &routes_recovery_n},
    {routes_hot_threads, &routes_hot_threads_n},
    {routes_console, &routes_console_n},
    {routes_cat_nodes, &routes_cat_nodes_n},
    {routes_cat_shards, &routes_cat_shards_n},
    {routes_cat_thread_pool, &routes_cat_thread_pool_n},
    {routes_by_query, &routes_by_query_n},
    {routes_reindex, &routes_reindex_n},
    {routes_tasks, &routes_tasks_n},
};

enum err coordinator_new(struct coordinator **out, const struct coordinator_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct coordinator *c = ARENA_NEW(&arena, struct coordinator);
    if (c == NULL || router_new(&c->router, &arena, em) != ERR_OK) {
        arena_fini(&arena);
        return err_no_memory(em);
    }
    c->o = *opts;
    c->id_seed = opts->seed;
    bool ok = true;
    for (size_t i = 0; ok && i < ARRAY_LEN(families); i++) {
        ok = router_add(c->router, families[i].routes, *families[i].n, &arena);
    }
    c->arena = arena;
    struct delays_opts d = {opts->clock, opts->timers, opts->timer_loop, opts->workers};
    c->events = event_log_new();
    if (!ok || c->events == NULL || tasks_new(&c->tasks, opts->clock, em) != ERR_OK
        || delays_new(&c->delays, &d, em) != ERR_OK) {
        coordinator_free(c);
        return err_no_memory(em);
    }
    pthread_mutex_init(&c->counts_lock, NULL);
    state_waits_init(&c->state_waits, c->delays);
    op_names_init(&c->op_names, hash_u64(opts->seed ^ (uint64_t)opts->started_ms));
    const int first = MESSAGE_NODE_INFO;
    c->services[MESSAGE_NODE_INFO - first] = nodes_info_serve;
    c->services[MESSAGE_NODE_STATS - first] = nodes_stats_serve;
    c->services[MESSAGE_TASKS - first] = tasks_serve;
    node_calls_serve(c);
    shard_tasks_serve(c);
    *out = c;
    return ERR_OK;
}

static void count_state(struct coordinator *c, int64_t took_us)
{
    const struct event_moment at = {clock_wall_ms(c->o.clock), clock_mono_ms(c->o.clock), took_us};
    struct cluster_state *now = c->o.state(c->o.self);
    pthread_mutex_lock(&c->counts_lock);
    struct cluster_state *before = c->counted;
    if (now != before) {
        state_counts_add(&c->counts, before, now);
        event_log_add(c->events, before, now, &at);
    }
    c->counted = now;
    pthread_mutex_unlock(&c->counts_lock);
    cluster_state_unref(before);
}

void coordinator_counts(struct coordinator *c, struct state_counts *out)
{
    pthread_mutex_lock(&c->counts_lock);
    *out = c->counts;
    pthread_mutex_unlock(&c->counts_lock);
}

void coordinator_applied(struct coordinator *c, int64_t took_us)
{
    count_state(c, took_us);
    state_waits_applied(&c->state_waits);
}

void coordinator_free(struct coordinator *c)
{
    if (c != NULL) {
        struct arena arena = c->arena;
        op_names_fini(&c->op_names);
        event_log_free(c->events);
        cluster_state_unref(c->counted);
        pthread_mutex_destroy(&c->counts_lock);
        state_waits_fini(&c->state_waits);
        delays_free(c->delays);
        tasks_free(c->tasks);
        arena_fini(&arena);
    }
}

void coordinator_stop(struct coordinator *c)
{
    tasks_stop(c->tasks);
    delays_stop(c->delays);
}

void coordinator_drain(struct coordinator *c)
{
    tasks_drain(c->tasks);
}
