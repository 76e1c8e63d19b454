#include "hotel/admin/promotion.h"

#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "common/base/uri.h"
#include "hotel/names.h"
#include "hotel/respond.h"

#define IDS_MAX 1000

struct call { /* in the request's arena */
    struct admin_routes *routes;
    struct http_request *req;
    int64_t id;
    bool on;
};

static struct call *call_new(struct admin_routes *r, struct http_request *req, int64_t id)
{
    struct call *c = ARENA_NEW(req->arena, struct call);
    if (c == NULL) {
        respond_error(req, 429, "overloaded", NULL, "out of memory");
        return NULL;
    }
    *c = (struct call){.routes = r, .req = req, .id = id};
    return c;
}

/* Is this a whole answer with one of the statuses 200 and 404? If not, the request is answered. */
static bool usable(struct call *c, const struct http_reply *reply, struct json *body)
{
    ERR_LOCAL(em);
    if (reply->err == ERR_OK && (reply->status == 200 || reply->status == 404)
        && json_parse(body, reply->body, c->req->arena, &json_limits_default, NULL) == ERR_OK) {
        return true;
    }
    if (search_failure(reply, &em) == ERR_OK) {
        err_set(&em, ERR_PARSE, "the search service's answer is not understood");
    }
    respond_error(c->req, 503, "search_unavailable", NULL, err_reason(&em));
    return false;
}

static void send(struct call *c, const char *action, struct str body,
                 void (*done)(void *arg, const struct http_reply *reply))
{
    ERR_LOCAL(em);
    if (search_call(c->routes->search, action, STR_NULL, body, c->req->arena, done, c, &em) != ERR_OK) {
        respond_error(c->req, 503, "search_unavailable", NULL, err_reason(&em));
    }
}

/* ---- set ---- */

static void not_indexed(struct call *c)
{
    respond_error(c->req, 404, "not_found", NULL,
                  "the hotel is not in the index: promotion is kept there, with the document");
}

static void on_updated(void *arg, const struct http_reply *reply)
{
    struct call *c = arg;
    struct json body;
    struct jsonw w;
    struct buf out;
    if (!usable(c, reply, &body)) {
        return;
    }
    if (reply->status == 404) {
        not_indexed(c);
        return;
    }
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    jw_obj(&w);
    jw_ki64(&w, F_ID, c->id);
    jw_kbool(&w, F_IS_AD, c->on);
    jw_obj_end(&w);
    respond_json(c->req, 200, NULL, &out);
    buf_fini(&out);
}

/* An update would create an index that is not there, without its mapping: so the document is looked for
 * first. */
static void on_found(void *arg, const struct http_reply *reply)
{
    struct call *c = arg;
    struct json body;
    if (!usable(c, reply, &body)) {
        return;
    }
    if (reply->status == 404) {
        not_indexed(c);
        return;
    }
    struct str action =
        arena_printf(c->req->arena, "_update/%lld?retry_on_conflict=10&refresh=true", (long long)c->id);
    if (action.p == NULL) {
        respond_error(c->req, 429, "overloaded", NULL, "out of memory");
        return;
    }
    send(c, action.p,
         c->on ? STR("{\"doc\":{\"" F_IS_AD "\":true}}") : STR("{\"doc\":{\"" F_IS_AD "\":false}}"),
         on_updated);
}

void promotion_set(struct admin_routes *r, struct http_request *req, int64_t id)
{
    struct json body;
    const struct json *on = NULL;
    if (json_parse(&body, req->body, req->arena, &json_limits_default, NULL) == ERR_OK) {
        on = json_get(&body, F_IS_AD);
    }
    if (!json_is(on, JSON_BOOL)) {
        respond_error(req, 400, "bad_request", F_IS_AD, "{\"isAD\":true} or {\"isAD\":false} is expected");
        return;
    }
    struct call *c = call_new(r, req, id);
    struct str action = arena_printf(req->arena, "_doc/%lld?_source=false", (long long)id);
    if (c != NULL && action.p != NULL) {
        c->on = on->b;
        send(c, action.p, STR_NULL, on_found);
    } else if (c != NULL) {
        respond_error(req, 429, "overloaded", NULL, "out of memory");
    }
}

/* ---- list ---- */

static bool is_promoted(const struct json *doc)
{
    const struct json *on = json_path(doc, "_source." F_IS_AD);
    return json_is(on, JSON_BOOL) && on->b;
}

static void write_ids(struct jsonw *w, const char *key, const struct json *docs, bool promoted)
{
    jw_karr(w, key);
    for (uint32_t i = 0; json_is(docs, JSON_ARRAY) && i < docs->n; i++) {
        const struct json *found = json_get(&docs->items[i], "found");
        if (json_is(found, JSON_BOOL) && found->b && (!promoted || is_promoted(&docs->items[i]))) {
            jw_str(w, json_text(json_get(&docs->items[i], "_id")));
        }
    }
    jw_arr_end(w);
}

static void on_docs(void *arg, const struct http_reply *reply)
{
    struct call *c = arg;
    struct json body;
    struct jsonw w;
    struct buf out;
    if (!usable(c, reply, &body)) {
        return;
    }
    const struct json *docs = json_get(&body, "docs"); /* without an index: none */
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    jw_obj(&w);
    write_ids(&w, "indexed", docs, false);
    write_ids(&w, "promoted", docs, true);
    jw_obj_end(&w);
    respond_json(c->req, 200, NULL, &out);
    buf_fini(&out);
}

/* {"ids":["1","2"]} of "1,2". */
static enum err write_mget(struct buf *out, struct str ids, struct errmsg *em)
{
    struct jsonw w;
    size_t n = 0;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_karr(&w, "ids");
    for (struct str rest = ids; rest.p != NULL;) {
        struct str one = str_cut(rest, ',', &rest);
        int64_t id;
        if (!num_parse_i64(one, &id) || ++n > IDS_MAX) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "ids are at most %d whole numbers with commas between them", IDS_MAX);
        }
        jw_strf(&w, "%lld", (long long)id);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    return out->failed ? err_no_memory(em) : ERR_OK;
}

void promotion_list(struct admin_routes *r, struct http_request *req)
{
    struct uri_params query = {0};
    ERR_LOCAL(em);
    struct buf body;
    buf_init(&body, NULL, BUF_UNLIMITED);
    enum err e = uri_query(req->query, req->arena, &query, &em);
    const struct str *ids = e == ERR_OK ? uri_param(&query, "ids") : NULL;
    e = e != ERR_OK ? e : write_mget(&body, ids != NULL ? *ids : STR(""), &em);
    if (e != ERR_OK) {
        respond_error(req, 400, "bad_request", "ids", err_reason(&em));
    } else {
        struct call *c = call_new(r, req, 0);
        if (c != NULL) {
            send(c, "_mget?_source=" F_IS_AD, buf_view(&body), on_docs);
        }
    }
    buf_fini(&body);
}
