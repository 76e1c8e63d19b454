#include "hotel/app/routes.h"

#include "common/base/jsonw.h"
#include "hotel/app/answer.h"
#include "hotel/app/find.h"
#include "hotel/app/params.h"
#include "hotel/app/rules.h"
#include "hotel/respond.h"

#define VERSION_KEEP_MS 500 /* however many pages look */

/* The page runs its own script and style, talks to its own server, and shows pictures from elsewhere only
 * when the visitor allows it (docs/decisions/hotel-pictures.md). */
#define PAGE_POLICY                                                                                        \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' https:; " \
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

/* One request that waits for the search service; in the request's arena. */
struct exchange {
    struct routes *routes;
    struct http_request *req;
    const struct route *route;
    int distance_at;
};

struct route {
    const char *path;
    enum http_verb method;
    /* Appends the search to ask, or refuses (with the field in *field). */
    enum err (*ask)(struct exchange *x, struct buf *body, const char **field, struct errmsg *em);
    const char *action;
    const char *preference; /* of all visitors; NULL: each has its own */
    /* Turns the answer to it into ours; *at_least: the total in it is a lower bound. */
    enum err (*tell)(struct exchange *x, struct str reply, struct buf *out, bool *at_least,
                     struct errmsg *em);
    /* Does it all, where one search is not enough; NULL: the above does. */
    void (*handle)(struct routes *r, struct http_request *req);
};

/* ---- requests and answers ---- */

static enum err ask_list(struct exchange *x, struct buf *body, const char **field, struct errmsg *em)
{
    struct hotel_params p;
    enum err e = service_read_params(x->req, &p, field, em);
    if (e == ERR_OK) {
        rules_list(body, &p);
        x->distance_at = rules_distance_at(&p);
    }
    return e;
}

static enum err ask_filters(struct exchange *x, struct buf *body, const char **field, struct errmsg *em)
{
    struct hotel_params p;
    enum err e = service_read_params(x->req, &p, field, em);
    if (e == ERR_OK) {
        rules_filters(body, &p);
    }
    return e;
}

static enum err ask_suggestion(struct exchange *x, struct buf *body, const char **field, struct errmsg *em)
{
    struct str key;
    enum err e = service_read_key(x->req, &key, field, em);
    if (e == ERR_OK) {
        rules_suggestion(body, key);
    }
    return e;
}

static enum err ask_count(UNUSED struct exchange *x, UNUSED struct buf *body, UNUSED const char **field,
                          UNUSED struct errmsg *em)
{
    return ERR_OK;
}

static enum err ask_version(UNUSED struct exchange *x, struct buf *body, UNUSED const char **field,
                            UNUSED struct errmsg *em)
{
    rules_version(body);
    return ERR_OK;
}

static enum err reply_list(struct exchange *x, struct str reply, struct buf *out, bool *at_least,
                           struct errmsg *em)
{
    return answer_list(out, reply, x->distance_at, x->req->arena, at_least, em);
}

static enum err reply_filters(struct exchange *x, struct str reply, struct buf *out, UNUSED bool *at_least,
                              struct errmsg *em)
{
    return answer_filters(out, reply, x->req->arena, em);
}

static enum err reply_suggestion(struct exchange *x, struct str reply, struct buf *out, UNUSED bool *at_least,
                                 struct errmsg *em)
{
    return answer_suggestion(out, reply, x->req->arena, em);
}

static enum err reply_version(struct exchange *x, struct str reply, struct buf *out, UNUSED bool *at_least,
                              struct errmsg *em)
{
    struct kept_version *kept = &x->routes->versions[x->req->loop_index];
    enum err e = answer_version(out, reply, x->req->arena, em);
    if (e == ERR_OK && !out->failed && buf_view(out).n < sizeof(kept->text)) {
        kept->n = buf_view(out).n;
        memcpy(kept->text, buf_view(out).p, kept->n);
        kept->until_ms = clock_mono_ms(x->routes->clock) + VERSION_KEEP_MS;
    }
    return e;
}

static void write_sync(struct jsonw *w, struct consumer *consumer)
{
    struct consumer_status s;
    consumer_status(consumer, &s);
    jw_kobj(w, "sync");
    jw_kz(w, "state", !s.connected ? "disconnected" : s.paused ? "paused" : "running");
    jw_ki64(w, "messages", (int64_t)s.messages);
    jw_ki64(w, "held", (int64_t)s.held);
    jw_ki64(w, "dead", (int64_t)s.dead);
    jw_ki64(w, "written", (int64_t)s.written);
    jw_kz(w, "problem", s.problem);
    jw_obj_end(w);
}

static enum err reply_health(struct exchange *x, struct str reply, struct buf *out, UNUSED bool *at_least,
                             struct errmsg *em)
{
    struct json root;
    int64_t count;
    if (json_parse(&root, reply, x->req->arena, &json_limits_default, NULL) != ERR_OK
        || !json_i64(json_get(&root, "count"), &count)) {
        return err_set(em, ERR_PARSE, "the search service's answer is no count");
    }
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_kz(&w, "status", "up");
    jw_kstr(&w, "index", x->routes->config->index);
    jw_ki64(&w, "hotels", count);
    if (x->routes->consumer != NULL) {
        write_sync(&w, x->routes->consumer);
    }
    jw_obj_end(&w);
    return ERR_OK;
}

static const struct route routes[] = {
    {"/hotel/list", HTTP_M_POST, ask_list, "_search", NULL, reply_list, NULL},
    {"/hotel/filters", HTTP_M_POST, ask_filters, "_search", NULL, reply_filters, NULL},
    {"/hotel/suggestion", HTTP_M_GET, ask_suggestion, "_search", NULL, reply_suggestion, NULL},
    {"/hotel/version", HTTP_M_GET, ask_version, "_search", "version", reply_version, NULL},
    {"/health", HTTP_M_GET, ask_count, "_count", "health", reply_health, NULL},
    {"/hotel/find", HTTP_M_POST, NULL, NULL, NULL, NULL, find_handle},
    {"/hotel/complete", HTTP_M_GET, NULL, NULL, NULL, NULL, find_complete},
};

/* ---- the search service's part ---- */

static void on_reply(void *arg, const struct http_reply *reply)
{
    struct exchange *x = arg;
    ERR_LOCAL(em);
    struct buf body;
    bool at_least = false;
    if (!service_reply_ok(x->routes, x->req, reply)) {
        return;
    }
    buf_init(&body, NULL, BUF_UNLIMITED);
    if (x->route->tell(x, reply->body, &body, &at_least, &em) != ERR_OK) {
        service_search_failed(x->routes, x->req, &em, "");
    } else {
        struct http_header relation = {STR("x-total-relation"), at_least ? STR("gte") : STR("eq")};
        respond_json(x->req, 200, x->route->tell == reply_list ? &relation : NULL, &body);
    }
    buf_fini(&body);
}

/* The version that was seen a moment ago serves whoever asks. */
static bool tell_kept(struct routes *r, struct http_request *req, const struct route *route)
{
    const struct kept_version *kept = &r->versions[req->loop_index];
    struct buf body;
    if (route->tell != reply_version || kept->until_ms <= clock_mono_ms(r->clock)) {
        return false;
    }
    buf_init(&body, NULL, BUF_UNLIMITED);
    buf_str(&body, (struct str){kept->text, kept->n});
    respond_json(req, 200, NULL, &body);
    buf_fini(&body);
    return true;
}

static void run_route(struct routes *r, struct http_request *req, const struct route *route)
{
    struct exchange *x = ARENA_NEW(req->arena, struct exchange);
    ERR_LOCAL(em);
    struct buf body;
    const char *field = NULL;
    if (tell_kept(r, req, route)) {
        return;
    }
    buf_init(&body, NULL, BUF_UNLIMITED);
    if (x == NULL) {
        err_no_memory(&em);
        respond_error(req, 429, "overloaded", NULL, err_reason(&em));
        return;
    }
    *x = (struct exchange){.routes = r, .req = req, .route = route, .distance_at = -1};
    enum err e = route->ask(x, &body, &field, &em);
    if (e == ERR_OK && body.failed) {
        e = err_no_memory(&em);
    }
    if (e == ERR_NO_MEMORY) {
        respond_error(req, 429, "overloaded", NULL, err_reason(&em));
    } else if (e != ERR_OK) {
        respond_error(req, 400, "bad_request", field, err_reason(&em));
    } else if (search_call(r->search[req->loop_index], route->action,
                           route->preference != NULL ? str_of(route->preference) : service_visitor(req),
                           buf_view(&body), req->arena, on_reply, x, &em)
               != ERR_OK) {
        service_search_failed(r, req, &em, "");
    }
    buf_fini(&body);
}

void routes_handle(void *self, struct http_request *req)
{
    bool reads = req->method == HTTP_M_GET || req->method == HTTP_M_HEAD;
    for (size_t i = 0; i < ARRAY_LEN(routes); i++) {
        if (!str_is(req->path, routes[i].path)) {
            continue;
        }
        if (req->method == routes[i].method || (reads && routes[i].method == HTTP_M_GET)) {
            routes[i].handle != NULL ? routes[i].handle(self, req) : run_route(self, req, &routes[i]);
        } else {
            respond_wrong_method(req, http_method_name(routes[i].method));
        }
        return;
    }
    respond_page(req, &hotel_web_files, PAGE_POLICY);
}
