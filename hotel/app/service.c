#include "hotel/app/service.h"

#include "common/base/uri.h"
#include "hotel/respond.h"

#define FAILURE_LOG_MS    5000
#define VISITOR_CHARS_MAX 64

enum err service_read_params(struct http_request *req, struct hotel_params *p, const char **field,
                             struct errmsg *em)
{
    if (str_trim(req->body).n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the body is empty, a JSON object is expected");
    }
    enum err e = params_read(p, req->body, req->arena, field, em);
    return e == ERR_JSON || e == ERR_JSON_EOF ? err_prefix(em, e, "the body is not JSON") : e;
}

enum err service_read_key(struct http_request *req, struct str *out, const char **field, struct errmsg *em)
{
    struct uri_params query = {0};
    *field = "key";
    enum err e = uri_query(req->query, req->arena, &query, em);
    const struct str *key = e == ERR_OK ? uri_param(&query, "key") : NULL;
    if (e == ERR_OK && key == NULL) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "the parameter key is missing: %.*s?key=...",
                    STR_ARG(req->path));
    }
    e = e != ERR_OK ? e : params_text_ok(*key, "key", em);
    *out = e == ERR_OK ? *key : STR_NULL;
    return e;
}

void service_search_failed(struct routes *r, struct http_request *req, const struct errmsg *em,
                           const char *detail)
{
    uint64_t dropped;
    if (log_rate_ok(&r->failures, r->log, FAILURE_LOG_MS, &dropped)) {
        log_warn(r->log, "hotel.search", "%s: %s%s%s (%.*s; %llu more not logged)", "a search failed",
                 err_reason(em), detail[0] != '\0' ? ": " : "", detail, STR_ARG(r->config->search_urls[0]),
                 (unsigned long long)dropped);
    }
    respond_error(req, 503, "search_unavailable", NULL, err_reason(em));
}

bool service_reply_ok(struct routes *r, struct http_request *req, const struct http_reply *reply)
{
    ERR_LOCAL(em);
    char detail[200] = "";
    if (search_failure(reply, &em) == ERR_OK) {
        return true;
    }
    struct str why = reply->err != ERR_OK ? str_of(reply->reason) : reply->body;
    memcpy(detail, why.p != NULL ? why.p : "", MIN_OF(why.n, sizeof(detail) - 1));
    service_search_failed(r, req, &em, detail);
    return false;
}

struct str service_visitor(const struct http_request *req)
{
    const struct str *name = http_header_find(req->headers, req->headers_n, "x-visitor");
    return name != NULL && name->n > 0 && name->n <= VISITOR_CHARS_MAX && name->p[0] != '_'
               ? *name
               : str_slice(req->peer, 0, str_rfind(req->peer, ':'));
}
