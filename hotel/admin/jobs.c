#include "hotel/admin/jobs.h"

#include "hotel/broker_names.h"
#include "hotel/mysql/hotels.h"
#include "hotel/respond.h"

#define TRIES          3
#define FAILURE_LOG_MS 5000

/* ---- what is done ---- */

static enum err no_hotel(int64_t id, struct errmsg *em)
{
    return err_set(em, ERR_DOCUMENT_MISSING, "there is no hotel %lld", (long long)id);
}

static void write_hotel(struct job *j, struct buf *out, const struct hotel *h, int status)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    record_write(&w, h);
    j->status = status;
}

enum err job_list(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em)
{
    struct arena *arena = j->req->arena;
    struct hotel *v = NULL;
    size_t n = 0;
    int64_t total;
    struct jsonw w;
    enum err e = hotels_count(c, j->key, arena, &total, em);
    if (e == ERR_OK && j->size > 0) {
        e = hotels_page(c, j->key, (j->page - 1) * j->size, j->size, arena, &v, &n, em);
    }
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "total", total);
    jw_karr(&w, "hotels");
    for (size_t i = 0; i < n; i++) {
        record_write(&w, &v[i]);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    j->status = 200;
    return e;
}

enum err job_get(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em)
{
    struct hotel *v;
    size_t n;
    enum err e = hotels_get(c, &j->id, 1, j->req->arena, &v, &n, em);
    if (e == ERR_OK && n == 0) {
        return no_hotel(j->id, em);
    }
    if (e == ERR_OK) {
        write_hotel(j, out, &v[0], 200);
    }
    return e;
}

/* The change's message goes into the outbox, and both are committed. */
static enum err finish_change(struct job *j, struct db_conn *c, int64_t id, bool deleted, struct errmsg *em)
{
    enum err e = outbox_add(c, id, deleted, j->req->arena, em);
    if (e != ERR_OK) {
        return e;
    }
    j->committing = true;
    e = db_commit(c, em);
    return e == ERR_OK
               ? e
               : err_prefix(em, e, "whether the change was made is not known, look before you try again");
}

enum err job_insert(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em)
{
    const struct hotel *h = &j->record->h;
    enum err e = db_begin(c, em);
    e = e != ERR_OK ? e : hotels_insert(c, h, j->req->arena, em);
    if (e == ERR_CONFLICT) {
        return err_set(em, ERR_CONFLICT, "there is a hotel %lld already", (long long)h->id);
    }
    e = e != ERR_OK ? e : finish_change(j, c, h->id, false, em);
    if (e == ERR_OK) {
        write_hotel(j, out, h, 201);
    }
    return e;
}

enum err job_update(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em)
{
    struct hotel h;
    bool found = false;
    enum err e = db_begin(c, em);
    e = e != ERR_OK ? e : hotels_lock(c, j->id, j->req->arena, &h, &found, em);
    if (e == ERR_OK && !found) {
        return no_hotel(j->id, em);
    }
    if (e == ERR_OK) {
        record_merge(&h, j->record);
        e = hotels_update(c, &h, j->req->arena, em);
    }
    e = e != ERR_OK ? e : finish_change(j, c, j->id, false, em);
    if (e == ERR_OK) {
        write_hotel(j, out, &h, 200);
    }
    return e;
}

enum err job_delete(struct job *j, struct db_conn *c, UNUSED struct buf *out, struct errmsg *em)
{
    struct hotel h;
    bool found = false;
    enum err e = db_begin(c, em);
    e = e != ERR_OK ? e : hotels_lock(c, j->id, j->req->arena, &h, &found, em);
    if (e == ERR_OK && !found) {
        return no_hotel(j->id, em);
    }
    e = e != ERR_OK ? e : hotels_delete(c, j->id, j->req->arena, em);
    e = e != ERR_OK ? e : finish_change(j, c, j->id, true, em);
    j->status = 204;
    return e;
}

/* ---- state ---- */

static void write_queue(struct jsonw *w, const char *name, const struct broker_queue *q)
{
    jw_obj(w);
    jw_kz(w, "name", name);
    jw_ki64(w, "messages", q->ready);
    jw_ki64(w, "consumers", q->consumers);
    jw_obj_end(w);
}

static void write_publisher(struct jsonw *w, const struct publisher_status *p)
{
    jw_kobj(w, "publisher");
    jw_kz(w, "broker", p->broker_up ? "up" : "away");
    jw_kbool(w, "leading", p->leading);
    jw_ki64(w, "published", (int64_t)p->published);
    jw_kz(w, "problem", p->problem);
    jw_obj_end(w);
    jw_k(w, "queues");
    if (p->queues_at_ms == 0 || !p->broker_up) {
        jw_null(w);
        return;
    }
    jw_arr(w);
    write_queue(w, MQ_INSERT_QUEUE, &p->insert);
    write_queue(w, MQ_DELETE_QUEUE, &p->remove);
    write_queue(w, MQ_DEAD_QUEUE, &p->dead);
    jw_arr_end(w);
}

/* c NULL: the database is away, which is a state, too. */
enum err job_status(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em)
{
    struct publisher_status p;
    struct jsonw w;
    int64_t waiting = 0, oldest_ms = 0;
    bool up = c != NULL && outbox_state(c, j->req->arena, &waiting, &oldest_ms, em) == ERR_OK;
    publisher_status(j->routes->publisher, &p);
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_kz(&w, "status", up ? "up" : "down");
    jw_kz(&w, "database", up ? "up" : "away");
    jw_k(&w, "outbox");
    if (up) {
        jw_obj(&w);
        jw_ki64(&w, "waiting", waiting);
        jw_ki64(&w, "oldestMs", oldest_ms);
        jw_obj_end(&w);
    } else {
        jw_null(&w);
    }
    write_publisher(&w, &p);
    jw_obj_end(&w);
    j->status = up || str_is(j->req->path, "/status") ? 200 : 503;
    return ERR_OK;
}

/* ---- running ---- */

/* One try, with a connection of its own. */
static enum err attempt(struct job *j, struct buf *out, struct errmsg *em)
{
    struct db_conn *c = NULL;
    buf_reset(out);
    enum err e = db_take(j->routes->db, &c, em);
    if (e == ERR_OK || j->run == job_status) {
        e = j->run(j, c, out, em);
    }
    if (e == ERR_NO_SUCH_FILE && hotels_create_tables(c, j->req->arena, em) == ERR_OK) {
        e = ERR_REJECTED; /* there are tables now */
    }
    db_give(j->routes->db, c);
    return e != ERR_OK || !out->failed ? e : err_no_memory(em);
}

static bool may_repeat(const struct job *j, enum err e)
{
    return !j->committing && (e == ERR_IO || e == ERR_REJECTED);
}

static void refuse(struct job *j, enum err e, const struct errmsg *em)
{
    const char *reason = err_reason(em);
    uint64_t dropped;
    if (e == ERR_DOCUMENT_MISSING) {
        respond_error(j->req, 404, "not_found", NULL, reason);
        return;
    }
    if (e == ERR_CONFLICT) {
        respond_error(j->req, 409, "conflict", "id", reason);
        return;
    }
    if (log_rate_ok(&j->routes->failures, j->routes->log, FAILURE_LOG_MS, &dropped)) {
        log_warn(j->routes->log, "hotel.admin", "a request failed: %s (%llu more not logged)", reason,
                 (unsigned long long)dropped);
    }
    if (e == ERR_NO_MEMORY) {
        respond_error(j->req, 429, "overloaded", NULL, reason);
    } else {
        respond_error(j->req, 503, "database_unavailable", NULL, reason);
    }
}

static void run_job(void *arg)
{
    struct job *j = arg;
    ERR_LOCAL(em);
    struct buf out;
    buf_init(&out, NULL, BUF_UNLIMITED);
    enum err e = attempt(j, &out, &em);
    for (unsigned tries = 1; tries < TRIES && may_repeat(j, e); tries++) {
        e = attempt(j, &out, &em);
    }
    if (e == ERR_OK && j->committing) {
        publisher_wake(j->routes->publisher);
    }
    if (e != ERR_OK) {
        refuse(j, e, &em);
    } else if (j->status == 204) {
        http_respond(j->req, 204, NULL, NULL, 0, NULL);
    } else {
        struct http_header location = {STR("location"),
                                       arena_printf(j->req->arena, "/hotel/%lld", (long long)j->id)};
        respond_json(j->req, j->status, j->status == 201 && location.value.p != NULL ? &location : NULL,
                     &out);
    }
    buf_fini(&out);
}

void job_start(struct job *j)
{
    if (!executor_submit(j->routes->executor, run_job, j)) {
        respond_error(j->req, 429, "overloaded", NULL, "too many requests wait for the database");
    }
}
