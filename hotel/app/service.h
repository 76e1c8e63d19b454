/* service.h - the state and the steps that all requests of the application share. On the request's loop. */
#ifndef HOTEL_APP_SERVICE_H
#define HOTEL_APP_SERVICE_H

#include "common/base/clock.h"
#include "common/base/log.h"
#include "common/sys/http_server.h"
#include "hotel/app/lexicon.h"
#include "hotel/app/params.h"
#include "hotel/app/search.h"
#include "hotel/sync/consumer.h"

struct kept_version { /* the last answer of /hotel/version */
    char text[96];
    size_t n;
    int64_t until_ms;
};

struct routes {
    const struct hotel_config *config;
    const struct log *log; /* may be NULL */
    const struct clock *clock;
    struct kept_version *versions; /* one a loop */
    struct search *const *search;  /* one a loop, by loop_index */
    struct consumer *consumer;     /* NULL: the index follows no database */
    struct log_rate failures;      /* keeps an absent search service from flooding the log */
    const struct words *words;
    struct lexicon **lexicons; /* one a loop: the last one made, or NULL */
};

/* The request object of a body, the parameter key of a query. ERR_ILLEGAL_ARGUMENT and JSON's errors, with the field. */
enum err service_read_params(struct http_request *req, struct hotel_params *p, const char **field,
                             struct errmsg *em);
enum err service_read_key(struct http_request *req, struct str *out, const char **field, struct errmsg *em);
/* Whatever keeps a search from being answered whole is 503, never an empty list. detail: for the log alone. */
void service_search_failed(struct routes *r, struct http_request *req, const struct errmsg *em,
                           const char *detail);
/* Is it an answer? Where not, req is answered so. */
bool service_reply_ok(struct routes *r, struct http_request *req, const struct http_reply *reply);
/* A visitor's searches go to the same copies: a page is known by the name that it gives itself, others by their address. */
struct str service_visitor(const struct http_request *req);

#endif
