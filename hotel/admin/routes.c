#include "hotel/admin/routes.h"

#include "common/base/num.h"
#include "common/base/uri.h"
#include "hotel/admin/jobs.h"
#include "hotel/admin/promotion.h"
#include "hotel/respond.h"

/* The page runs its own script and style and talks to its own server. */
#define PAGE_POLICY                                                                                       \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " \
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
#define KEY_BYTES_MAX 255

static struct job *job_new(struct admin_routes *r, struct http_request *req,
                           enum err (*run)(struct job *j, struct db_conn *c, struct buf *out,
                                           struct errmsg *em))
{
    struct job *j = ARENA_NEW(req->arena, struct job);
    if (j == NULL) {
        respond_error(req, 429, "overloaded", NULL, "out of memory");
        return NULL;
    }
    *j = (struct job){.routes = r, .req = req, .run = run};
    return j;
}

static void start(struct admin_routes *r, struct http_request *req, int64_t id,
                  enum err (*run)(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em))
{
    struct job *j = job_new(r, req, run);
    if (j != NULL) {
        j->id = id;
        job_start(j);
    }
}

/* ---- list ---- */

static enum err read_number(const struct uri_params *query, const char *name, int64_t least, int64_t most,
                            int64_t *out, struct errmsg *em)
{
    const struct str *v = uri_param(query, name);
    if (v != NULL && v->n > 0 && (!num_parse_i64(*v, out) || *out < least || *out > most)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s must be a whole number from %lld to %lld", name,
                       (long long)least, (long long)most);
    }
    return ERR_OK;
}

static void list(struct admin_routes *r, struct http_request *req)
{
    struct uri_params query = {0};
    ERR_LOCAL(em);
    const char *field = NULL;
    struct job *j = job_new(r, req, job_list);
    if (j == NULL) {
        return;
    }
    j->page = 1;
    j->size = LIST_SIZE;
    enum err e = uri_query(req->query, req->arena, &query, &em);
    if (e == ERR_OK) {
        field = "page";
        e = read_number(&query, "page", 1, INT32_MAX, &j->page, &em);
    }
    if (e == ERR_OK) {
        field = "size";
        e = read_number(&query, "size", 0, LIST_SIZE_MAX, &j->size, &em);
    }
    const struct str *key = e == ERR_OK ? uri_param(&query, "key") : NULL;
    j->key = key != NULL ? str_trim(*key) : STR_NULL;
    if (j->key.n > KEY_BYTES_MAX) {
        field = "key";
        e = err_set(&em, ERR_ILLEGAL_ARGUMENT, "key has more than %d bytes", KEY_BYTES_MAX);
    }
    if (e != ERR_OK) {
        respond_error(req, 400, "bad_request", field, err_reason(&em));
    } else {
        job_start(j);
    }
}

/* ---- changes ---- */

/* Reads the body into j; false: answered with what is wrong. has_id: the path names the hotel j->id. */
static bool read_body(struct job *j, bool whole, bool has_id)
{
    ERR_LOCAL(em);
    j->record = ARENA_NEW(j->req->arena, struct record);
    enum err e = j->record == NULL ? err_no_memory(&em)
                                   : record_read(j->record, j->req->body, whole, j->req->arena, &em);
    if (e != ERR_OK) {
        bool memory = e == ERR_NO_MEMORY;
        respond_error(j->req, memory ? 429 : 400, memory ? "overloaded" : "bad_request", NULL,
                      err_reason(&em));
        return false;
    }
    struct record *r = j->record;
    if (has_id && r->given[HOTEL_COL_id] && r->h.id != j->id) {
        record_problem(r, HOTEL_COL_id, "must be that of the path, %lld, or be left out", (long long)j->id);
    }
    if (!has_id && !whole && !r->given[HOTEL_COL_id]) {
        record_problem(r, HOTEL_COL_id, "is required");
    }
    if (r->problems_n > 0) {
        struct buf out;
        buf_init(&out, NULL, BUF_UNLIMITED);
        record_write_problems(&out, r);
        respond_json(j->req, 400, NULL, &out);
        buf_fini(&out);
        return false;
    }
    j->id = has_id ? j->id : r->h.id;
    r->h.id = j->id;
    return true;
}

static void insert(struct admin_routes *r, struct http_request *req)
{
    struct job *j = job_new(r, req, job_insert);
    if (j != NULL && read_body(j, true, false)) {
        job_start(j);
    }
}

static void update(struct admin_routes *r, struct http_request *req, const int64_t *id)
{
    struct job *j = job_new(r, req, job_update);
    if (j != NULL) {
        j->id = id != NULL ? *id : 0;
        if (read_body(j, false, id != NULL)) {
            job_start(j);
        }
    }
}

/* ---- paths ---- */

static bool reads(const struct http_request *req)
{
    return req->method == HTTP_M_GET || req->method == HTTP_M_HEAD;
}

/* /hotel/{id} and what is below it. */
static void handle_hotel(struct admin_routes *r, struct http_request *req, struct str rest)
{
    struct str below, name = str_cut(rest, '/', &below);
    int64_t id;
    if (below.p != NULL && !str_is(below, "promotion")) {
        respond_error(req, 404, "not_found", NULL, "there is nothing at this path");
    } else if (!num_parse_i64(name, &id)) {
        respond_error(req, 400, "bad_request", "id", "the path names no hotel's id, which is a whole number");
    } else if (below.p != NULL) {
        if (req->method == HTTP_M_PUT) {
            promotion_set(r, req, id);
        } else {
            respond_wrong_method(req, "PUT");
        }
    } else if (reads(req)) {
        start(r, req, id, job_get);
    } else if (req->method == HTTP_M_PUT) {
        update(r, req, &id);
    } else if (req->method == HTTP_M_DELETE) {
        start(r, req, id, job_delete);
    } else {
        respond_wrong_method(req, "GET, PUT, DELETE");
    }
}

/* Forms of pages elsewhere send other types, without asking before. */
static bool is_json(const struct http_request *req)
{
    const struct str *type = http_header_find(req->headers, req->headers_n, "content-type");
    struct str rest;
    return type != NULL && str_eq_nocase(str_trim(str_cut(*type, ';', &rest)), STR("application/json"));
}

void admin_routes_handle(void *self, struct http_request *req)
{
    struct admin_routes *r = self;
    if (req->body.n > 0 && !reads(req) && !is_json(req)) {
        respond_error(req, 415, "unsupported_media_type", NULL, "bodies are application/json");
    } else if (str_is(req->path, "/hotel")) {
        if (req->method == HTTP_M_POST) {
            insert(r, req);
        } else if (req->method == HTTP_M_PUT) {
            update(r, req, NULL);
        } else {
            respond_wrong_method(req, "POST, PUT");
        }
    } else if (str_is(req->path, "/hotel/list") && reads(req)) {
        list(r, req);
    } else if (str_is(req->path, "/hotel/promotions") && reads(req)) {
        promotion_list(r, req);
    } else if (str_is(req->path, "/hotel/list") || str_is(req->path, "/hotel/promotions")) {
        respond_wrong_method(req, "GET");
    } else if (str_starts(req->path, STR("/hotel/"))) {
        handle_hotel(r, req, str_slice(req->path, 7, req->path.n));
    } else if (str_is(req->path, "/status") || str_is(req->path, "/health")) {
        if (reads(req)) {
            start(r, req, 0, job_status);
        } else {
            respond_wrong_method(req, "GET");
        }
    } else {
        respond_page(req, &hotel_admin_files, PAGE_POLICY);
    }
}
