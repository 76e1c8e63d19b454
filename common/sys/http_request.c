/* http_request.c - a call's url and the bytes of its request. */
#include "common/base/num.h"
#include "common/sys/http_call.h"

static enum err url_parse(struct str s, struct url *out, struct errmsg *em)
{
    struct str whole = s;
    *out = (struct url){0};
    out->tls = str_starts(s, STR("https://"));
    bool ok = out->tls || str_starts(s, STR("http://"));
    s = str_slice(s, out->tls ? 8 : 7, s.n);
    size_t end = 0;
    while (end < s.n && s.p[end] != '/' && s.p[end] != '?') {
        ok = ok && s.p[end] > ' ';
        end++;
    }
    out->authority = str_slice(s, 0, end);
    out->target = end < s.n ? str_slice(s, end, s.n) : STR("/");
    for (size_t i = 0; i < out->target.n; i++) {
        ok = ok && (unsigned char)out->target.p[i] > ' ';
    }
    struct str host = out->authority, port = STR_NULL;
    size_t bracket = str_find(host, ']', 0);
    if (host.n > 0 && host.p[0] == '[' && bracket != SIZE_MAX) {
        struct str behind = str_slice(host, bracket + 1, host.n);
        ok = ok && (behind.n == 0 || behind.p[0] == ':');
        port = behind.n > 0 ? str_slice(behind, 1, behind.n) : STR_NULL;
        host = str_slice(host, 1, bracket);
    } else {
        host = str_cut(host, ':', &port);
    }
    int64_t n = out->tls ? 443 : 80;
    ok = ok && host.n > 0 && (port.p == NULL || num_parse_i64(port, &n)) && n > 0 && n <= 65535;
    out->host = host;
    out->port = (uint16_t)n;
    return ok ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "bad url [%.*s]", STR_ARG(whole));
}

static bool headers_are_lines(const struct http_client_request *req)
{
    for (size_t i = 0; i < req->headers_n; i++) {
        struct str v = req->headers[i].value, n = req->headers[i].name;
        if (str_find(v, '\r', 0) != SIZE_MAX || str_find(v, '\n', 0) != SIZE_MAX
            || str_find(n, '\r', 0) != SIZE_MAX || str_find(n, '\n', 0) != SIZE_MAX) {
            return false;
        }
    }
    return true;
}

enum err request_check(const struct http_client_request *req, struct url *out, struct errmsg *em)
{
    if (!headers_are_lines(req)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a header has a line break");
    }
    return url_parse(req->url, out, em);
}

void request_write(struct buf *b, const struct http_client_request *req, const struct url *u)
{
    buf_printf(b, "%s %s%.*s HTTP/1.1\r\nhost: %.*s\r\n", req->method, u->target.p[0] == '?' ? "/" : "",
               STR_ARG(u->target), STR_ARG(u->authority));
    for (size_t i = 0; i < req->headers_n; i++) {
        buf_printf(b, "%.*s: %.*s\r\n", STR_ARG(req->headers[i].name), STR_ARG(req->headers[i].value));
    }
    if (req->content_type != NULL) {
        buf_printf(b, "content-type: %s\r\n", req->content_type);
    }
    bool expects_body = strcmp(req->method, "POST") == 0 || strcmp(req->method, "PUT") == 0;
    if (req->body.p != NULL || expects_body) {
        buf_printf(b, "content-length: %zu\r\n", req->body.n);
    }
    buf_add(b, "\r\n", 2);
    buf_str(b, req->body);
}
