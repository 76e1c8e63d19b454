/* rest.h - one REST request: its path, parameters, body, and its one answer.
 *
 * A handler reads what it needs (every parameter it knows is marked as used), calls rest_ready() - which refuses the request
 * if it has parameters that nobody asked for - and answers now or later, from any thread, with exactly one of the
 * rest_send/rest_fail calls. Memory: r->arena, one thread at a time. */
#ifndef COORDINATOR_REST_REST_H
#define COORDINATOR_REST_REST_H

#include "common/base/jsonr.h"
#include "common/base/uri.h"
#include "coordinator/core/error_json.h"
#include "coordinator/core/op_env.h"
#include "coordinator/core/resolve.h"

struct router;

#define PATH_PARTS_MAX    16
#define ASKED_MAX         128U  /* names of parameters that a handler may ask for */
#define MASTER_TIMEOUT_MS 30000 /* master_timeout's default */

struct path_param {
    const char *name; /* "index" */
    struct str value;
};

struct rest {
    union { /* operations get `env`; its state is released with the answer */
        struct op_env env;
        struct {
            OP_ENV_MEMBERS
        };
    };
    enum http_verb method;
    struct path_param path[PATH_PARTS_MAX];
    unsigned n_path;
    struct uri_params params;
    bool *used;
    const char **asked; /* the names that the handler has asked for; NULL: the request has no parameters */
    unsigned n_asked;
    const char *idle[8]; /* parameters that were given and do nothing here */
    unsigned n_idle;
    const char *warned[4]; /* texts of Warning headers: what is deprecated */
    unsigned n_warned;
    struct str body;
    bool body_read;   /* by this kind of request: the others may have none */
    struct json tree; /* of the body, once rest_body() was called */
    struct http_header headers[8];
    unsigned n_headers;
    int64_t start_ns;
    int64_t ack_ms;  /* of a change of metadata: how long what follows it is waited for */
    bool unfiltered; /* filter_path does not hold: errors, plain sources */
    void *user;      /* the handler's */
};

static inline struct rest *rest_of(struct op_env *env)
{
    return CONTAINER_OF(env, struct rest, env);
}

typedef void (*rest_handler)(struct rest *r);

enum {
    M_GET = 1 << HTTP_M_GET,
    M_HEAD = 1 << HTTP_M_HEAD,
    M_POST = 1 << HTTP_M_POST,
    M_PUT = 1 << HTTP_M_PUT,
    M_DELETE = 1 << HTTP_M_DELETE
};

struct route {
    unsigned methods;
    const char *pattern; /* "/{index}/_search" */
    rest_handler handler;
};

/* The build that clients are told of: Elasticsearch's date, and a hash of our own. */
#define BUILD_HASH "serai"
#define BUILD_DATE "2021-04-20T20:56:39.040728659Z"

/* ---- routing (router.c) ---- */
enum err router_new(struct router **out, struct arena *arena, struct errmsg *em);
bool router_add(struct router *r, const struct route *routes, size_t n, struct arena *arena);
/* Finds the handler and fills rq->path; NULL with *allowed != 0: other methods would do; 0: nothing at all. */
rest_handler router_find(const struct router *r, struct rest *rq, const struct str *parts, unsigned n_parts,
                         unsigned *allowed);

/* Does it take so little to read the request that its loop can do it (quick.c)? `parts` of the path. */
bool rest_is_quick(const struct rest *r, const struct str *parts, unsigned n_parts);

/* ---- reading ---- */

/* A part of the path, and nothing else; p == NULL: it has none of that name. */
static inline struct str rest_path(const struct rest *r, const char *name)
{
    for (unsigned i = 0; i < r->n_path; i++) {
        if (r->path[i].name[0] == name[0] && strcmp(r->path[i].name, name) == 0) {
            return r->path[i].value;
        }
    }
    return STR_NULL;
}
/* rest_param() of a request that has parameters. */
struct str rest_query_param(struct rest *r, const char *name);
/* A part of the path ("index"), or the query parameter of that name; p == NULL when absent. Marks it used. */
static inline struct str rest_param(struct rest *r, const char *name)
{
    return r->params.n == 0 ? rest_path(r, name) : rest_query_param(r, name);
}
bool rest_has(struct rest *r, const char *name);
/* Is there a parameter of that name? It is neither marked as used, nor known thereby. */
bool rest_given(const struct rest *r, const char *name);
/* Typed parameters; the error, in r->em, is worded as Elasticsearch's. */
enum err rest_bool(struct rest *r, const char *name, bool otherwise, bool *out);
enum err rest_int(struct rest *r, const char *name, int32_t otherwise, int32_t *out);
enum err rest_long(struct rest *r, const char *name, int64_t otherwise, int64_t *out);
enum err rest_time(struct rest *r, const char *name, int64_t otherwise_ms, int64_t *out);
/* A comma-separated list; *n == 0 when absent. */
enum err rest_list(struct rest *r, const char *name, const struct str **out, uint32_t *n);
/* Marks a parameter as used that is read elsewhere, or whose every value comes to the same. */
void rest_accept(struct rest *r, const char *name);
/* Parameters whose value is checked and then comes to the same. */
enum err rest_check_bool(struct rest *r, const char *name);
enum err rest_check_int(struct rest *r, const char *name);
enum err rest_check_time(struct rest *r, const char *name);
/* The same of several booleans. */
enum err rest_check_bools(struct rest *r, const char *const *names, size_t n);
/* A parameter of Elasticsearch that is read and not kept: the answer says so (Warning). `name` is a constant. */
void rest_idle(struct rest *r, const char *name);
/* A float, worded as rest_int()'s errors. */
enum err rest_float(struct rest *r, const char *name, float otherwise, float *out);
/* A time whose name in errors is another than its own. */
enum err rest_time_as(struct rest *r, const char *name, const char *shown, int64_t otherwise_ms,
                      int64_t *out);
/* The parsed body in *out, NULL when there is none (also `source` as parameter). Errors of syntax are in r->em. What follows the
 * value is not read, and r->body ends with it. */
enum err rest_body(struct rest *r, const struct json **out);
/* As rest_body, but anything behind the value is an error of syntax. */
enum err rest_body_whole(struct rest *r, const struct json **out);
/* As rest_body, but a missing body is refused (parse_exception). */
enum err rest_body_required(struct rest *r, const struct json **out);
/* Has a body of several lines a form that has such? false: it was refused, and answered. */
bool rest_takes_lines(struct rest *r);
/* The path as errors show it: decoded. */
struct str rest_shown_path(const struct rest *r);
/* true: go on. false: the request was refused, for an unused parameter or an unread body, and answered. */
bool rest_ready(struct rest *r);
/* The same, of the path's parts with names too: those that nobody asked for are refused as parameters. */
bool rest_ready_pathless(struct rest *r);
/* The same, where e is what reading its parameters came to. */
bool rest_goes_on(struct rest *r, enum err e);
/* The same of a request that reads the cluster's metadata, which is refused (503) before a state was applied here. */
bool rest_reads_state(struct rest *r, enum err e);

/* ---- answering: each ends the request ---- */

/* Sends JSON (taken from b), shaped by pretty, filter_path, format. */
void rest_send(struct rest *r, int status, struct buf *b);
/* Text as it is. */
void rest_send_text(struct rest *r, int status, const char *content_type, struct buf *b);
/* The error in em (or r->em when NULL) in Elasticsearch's form. */
void rest_fail(struct rest *r, const struct errmsg *em);
void rest_no_memory(struct rest *r);
/* 200 with JSON (taken from b), or r->em when writing it failed. */
void rest_send_or_fail(struct rest *r, enum err e, struct buf *b);
/* {"error":"text","status":n}: what some refusals have for an error. */
void rest_fail_text(struct rest *r, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* {"acknowledged":true} */
void rest_acknowledge(struct rest *r);
void rest_header(struct rest *r, const char *name, struct str value);
/* A Warning header with this text, a constant, once. */
void rest_warn(struct rest *r, const char *text);
/* The Warning header that says that `n` names, with commas, have no effect here. */
void rest_warn_idle(struct rest *r, struct str names, size_t n);

/* Can the answer have the form that is asked for, whose name goes into *wanted? What is merely unknown stands for JSON. */
bool rest_format_offered(struct rest *r, struct str *wanted);
/* Output shaping (output.c): pretty, filter_path, yaml. Replaces b's content; sets the content type. */
enum err rest_shape(struct rest *r, struct buf *b, const char **content_type);
/* Does that take so little that a loop may do it? */
bool rest_shape_is_quick(struct rest *r, const struct buf *b);

/* ---- indices in paths ---- */
/* Reads ignore_unavailable, allow_no_indices, expand_wildcards over the defaults in *o. */
enum err rest_index_options(struct rest *r, struct expand_options *o);

/* wait_for_active_shards: a number of copies, or one of coordinator/core/active.h's. */
enum err rest_active_shards(struct rest *r, int32_t *out);
/* The indices of the request's path, once the request is known to be whole: e is what reading its parameters came to. false: it was
 * refused, and answered. */
bool rest_targets(struct rest *r, enum err e, const struct expand_options *o, const struct index_target **out,
                  uint32_t *n);

#endif
