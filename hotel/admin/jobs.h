/* jobs.h - the jobs of the management service in the database: each job runs on one of the pool's threads.
 *
 * A row and its outbox entry are written in one transaction. A job that met a deadlock, or a connection that
 * had gone, is tried again; not so one whose commit was not answered. */
#ifndef HOTEL_ADMIN_JOBS_H
#define HOTEL_ADMIN_JOBS_H

#include "hotel/admin/record.h"
#include "hotel/admin/routes.h"

#define LIST_SIZE_MAX 1000
#define LIST_SIZE     10

struct job { /* in the request's arena */
    struct admin_routes *routes;
    struct http_request *req;
    /* Appends the answer and sets `status`. ERR_DOCUMENT_MISSING, ERR_CONFLICT and the database's errors. */
    enum err (*run)(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em);
    struct record *record; /* what POST and PUT were given */
    int64_t id;
    struct str key; /* of a list */
    int64_t page, size;
    int status;
    bool committing; /* the commit was sent */
};

/* run, for each request */
enum err job_list(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em);
enum err job_get(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em);
enum err job_insert(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em);
enum err job_update(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em);
enum err job_delete(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em);
enum err job_status(struct job *j, struct db_conn *c, struct buf *out, struct errmsg *em);

/* Hands it to the pool, which answers the request; 429 when too many wait. */
void job_start(struct job *j);

#endif
