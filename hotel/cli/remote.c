#include "hotel/cli/remote.h"

#include "common/base/buf.h"
#include "common/base/uri.h"
#include "common/sys/http_client.h"

#include <time.h>

#define WAIT_MS_MAX 5000
#define CALL_MS_MAX 120000 /* a bulk may wait for merges */

void remote_wait(unsigned n)
{
    int64_t ms = REMOTE_WAIT_MS;
    for (unsigned i = 1; i < n && ms < WAIT_MS_MAX; i++) {
        ms *= 2;
    }
    ms = MIN_OF(ms, (int64_t)WAIT_MS_MAX);
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static enum err call_once(const struct http_client_request *req, struct arena *arena,
                          struct remote_answer *out, struct errmsg *em)
{
    struct http_reply reply;
    *out = (struct remote_answer){0};
    enum err e = http_fetch(req, arena, &reply, em);
    if (e != ERR_OK) {
        return err_prefix(em, e, "the search service does not answer (%.*s)", STR_ARG(req->url));
    }
    out->status = reply.status;
    if (str_trim(reply.body).n > 0
        && json_parse(&out->body, reply.body, arena, &json_limits_default, NULL) != ERR_OK) {
        return err_set(em, ERR_PARSE, "what answers at %.*s is no search service: status %d, not JSON",
                       STR_ARG(req->url), reply.status);
    }
    return ERR_OK;
}

/* The nodes in turn, until one answers. */
static enum err call_nodes(const struct hotel_config *config, struct str path,
                           struct http_client_request *req, struct arena *arena, struct remote_answer *out,
                           struct errmsg *em)
{
    enum err e = ERR_IO;
    for (uint32_t i = 0; i < config->search_urls_n && e == ERR_IO; i++) {
        req->url = arena_printf(arena, "%.*s/%.*s", STR_ARG(config->search_urls[i]), STR_ARG(path));
        e = req->url.p != NULL ? call_once(req, arena, out, em) : err_no_memory(em);
    }
    return e;
}

enum err remote_call(const struct remote *r, const char *method, struct str path, struct str body,
                     const char *content_type, struct arena *arena, struct remote_answer *out,
                     struct errmsg *em)
{
    struct http_client_request req = {.method = method,
                                      .body = body,
                                      .content_type = body.p != NULL ? content_type : NULL,
                                      .ms_max = r->ms_max > 0 ? r->ms_max : CALL_MS_MAX};
    unsigned tries = r->tries > 0 ? r->tries : REMOTE_TRIES;
    for (unsigned n = 1;; n++) {
        enum err e = call_nodes(r->config, path, &req, arena, out, em);
        if (e != ERR_OK || (out->status != 429 && out->status != 503) || n == tries) {
            return e;
        }
        remote_wait(n);
    }
}

enum err remote_index_call(const struct remote *r, const char *method, const char *action, struct str body,
                           struct arena *arena, struct remote_answer *out, struct errmsg *em)
{
    struct buf path;
    buf_init(&path, NULL, 4 * KIB);
    uri_encode(&path, r->config->index);
    buf_z(&path, action);
    enum err e = path.failed
                     ? err_no_memory(em)
                     : remote_call(r, method, buf_view(&path), body, "application/json", arena, out, em);
    buf_fini(&path);
    return e;
}

enum err remote_refused(const struct remote_answer *a, const char *doing, struct errmsg *em)
{
    const struct json *error = json_get(&a->body, "error");
    struct str type = json_text(json_get(error, "type")), reason = json_text(json_get(error, "reason"));
    if (reason.p == NULL) {
        reason = json_text(error);
    }
    return err_set(em, ERR_STATUS, "%s: the search service answered %d%s%.*s%s%.*s", doing, a->status,
                   type.n > 0 ? ", " : "", STR_ARG(type), reason.n > 0 ? ": " : "", STR_ARG(reason));
}
