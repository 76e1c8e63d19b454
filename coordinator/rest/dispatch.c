/* A request's way to its handler: path, forms, room, and where it is read. */
#include "coordinator/rest/absent.h"
#include "coordinator/rest/service_int.h"

#include "common/base/memory_account.h"

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
    } else if (err_is(&r->em) && err_code(&r->em) != ERR_ILLEGAL_ARGUMENT) {
        rest_fail(r, NULL);
    } else if (err_is(&r->em)) { /* there is a handler, but what the path gives it cannot be decoded */
        rest_header(r, "Allow", allow);
        rest_fail_text(r, 405, "%s, allowed: [%.*s]", err_reason(&r->em), STR_ARG(kept));
    } else if (allowed != 0) {
        rest_header(r, "Allow", allow);
        rest_fail_text(r, 405, "Incorrect HTTP method for uri [%.*s] and method [%.*s], allowed: [%.*s]",
                       STR_ARG(path), STR_ARG(r->http->method_name), STR_ARG(kept));
    } else {
        struct buf b;
        struct jsonw w;
        jsonw_start(&w, &b);
        jw_obj(&w);
        jw_k(&w, "error");
        jw_strf(&w, "no handler found for uri [%.*s] and method [%.*s]", STR_ARG(path),
                STR_ARG(r->http->method_name));
        jw_obj_end(&w);
        rest_send(r, 400, &b);
    }
}

/* Memory of an exempt request beside its arena is not refused either. */
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

/* A request that is parsed off its loop. It is held: its handler may read it after it has answered, as it may on
 * the loop. */
struct deferred_request {
    struct rest *r;
    rest_handler handler;
};

static void deferred_read(void *arg)
{
    struct deferred_request *a = arg;
    struct http_request *http = a->r->http;
    run(a->r, a->handler);
    http_request_unref(http); /* and a is gone */
}

/* Away from the loop, when there is room for it there. */
static void read_later(struct rest *r, rest_handler handler, const struct executor *where)
{
    struct deferred_request *a = ARENA_NEW(r->arena, struct deferred_request);
    if (a != NULL) {
        *a = (struct deferred_request){r, handler};
    }
    http_request_ref(r->http);
    if (a == NULL || !executor_submit(where, deferred_read, a)) {
        struct http_request *http = r->http;
        err_set(&r->em, ERR_REJECTED, "rejected execution of a request: queue is full");
        rest_fail(r, NULL);
        http_request_unref(http);
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
                              err_reason(&r->em));
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

void rest_service_handle(void *service, struct http_request *req)
{
    const struct rest_service *s = service;
    struct coordinator *co = s->co;
    struct rest *r = ARENA_NEW(req->arena, struct rest);
    if (r == NULL) {
        http_respond(req, 429, NULL, NULL, 0, NULL);
        return;
    }
    *r = (struct rest){
        .co = co, .http = req, .arena = req->arena, .method = req->method, .body = without_mark(req->body)};
    r->em = err_in(r->arena);
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
    struct str absent = absent_part(parts, n);
    if (absent.p != NULL) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] of Elasticsearch is not offered here: [%.*s %.*s]",
                STR_ARG(absent), STR_ARG(req->method_name), STR_ARG(req->path));
        rest_fail(r, NULL);
        return;
    }
    rest_handler handler = router_find(s->router, r, parts, n, &allowed);
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
            rest_no_memory(r);
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
