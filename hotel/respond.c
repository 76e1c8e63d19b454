#include "hotel/respond.h"

#include "common/base/jsonw.h"

#include <stdio.h>

#define JSON_TYPE "application/json; charset=UTF-8"
#define NO_STORE                              \
    {                                         \
        STR("cache-control"), STR("no-store") \
    }
#define NO_SNIFF                                      \
    {                                                 \
        STR("x-content-type-options"), STR("nosniff") \
    }

void respond_json(struct http_request *req, int status, const struct http_header *extra, struct buf *body)
{
    struct http_header h[3] = {NO_STORE, NO_SNIFF};
    size_t n = 2;
    if (extra != NULL) {
        h[n++] = *extra;
    }
    http_respond(req, status, JSON_TYPE, h, n, body);
}

void respond_error_body(struct buf *out, int status, const char *error, const char *field, const char *reason)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "status", status);
    jw_kz(&w, "error", error);
    if (field != NULL) {
        jw_kz(&w, "field", field);
    }
    jw_kz(&w, "reason", reason);
    jw_obj_end(&w);
}

void respond_error(struct http_request *req, int status, const char *error, const char *field,
                   const char *reason)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    respond_error_body(&b, status, error, field, reason);
    respond_json(req, status, NULL, &b);
    buf_fini(&b);
}

void respond_wrong_method(struct http_request *req, const char *allowed)
{
    struct buf b;
    struct http_header allow = {STR("allow"), str_of(allowed)};
    char reason[100];
    snprintf(reason, sizeof(reason), "this path takes %s, not %.*s", allowed,
             (int)MIN_OF(req->method_name.n, (size_t)20), req->method_name.p);
    buf_init(&b, NULL, BUF_UNLIMITED);
    respond_error_body(&b, 405, "method_not_allowed", NULL, reason);
    respond_json(req, 405, &allow, &b);
    buf_fini(&b);
}

static bool has_etag(const struct http_request *req, const char *etag)
{
    const struct str *v = http_header_find(req->headers, req->headers_n, "if-none-match");
    return v != NULL && str_find_str(*v, str_of(etag)) != SIZE_MAX;
}

static void respond_file(struct http_request *req, const struct web_file *f, const char *policy)
{
    const struct http_header h[] = {
        {STR("etag"), str_of(f->etag)},
        {STR("cache-control"), STR("no-cache")},
        {STR("vary"), STR("accept-encoding")},
        {STR("content-security-policy"), str_of(policy)},
        {STR("referrer-policy"), STR("no-referrer")},
        {STR("permissions-policy"), STR("geolocation=(self)")},
        NO_SNIFF,
    };
    struct buf body;
    buf_init(&body, NULL, BUF_UNLIMITED);
    if (has_etag(req, f->etag)) {
        http_respond(req, 304, NULL, h, ARRAY_LEN(h), NULL);
        return;
    }
    buf_add(&body, f->bytes, f->bytes_n);
    http_respond(req, 200, f->type, h, ARRAY_LEN(h), &body);
    buf_fini(&body);
}

void respond_page(struct http_request *req, const struct web_files *files, const char *policy)
{
    struct str name = str_slice(req->path, 1, req->path.n);
    const struct web_file *f = web_file(files, name.n > 0 ? name : STR("index.html"));
    if (f == NULL) {
        respond_error(req, 404, "not_found", NULL, "there is nothing at this path");
    } else if (req->method != HTTP_M_GET && req->method != HTTP_M_HEAD) {
        respond_wrong_method(req, "GET");
    } else {
        respond_file(req, f, policy);
    }
}
