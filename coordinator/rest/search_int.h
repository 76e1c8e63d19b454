/* search_int.h - declarations shared by search.c and search_params.c: a URL's parameters that go into the body. */
#ifndef COORDINATOR_REST_SEARCH_INT_H
#define COORDINATOR_REST_SEARCH_INT_H

#include "coordinator/rest/search.h"
#include "coordinator/rest/types.h"

/* The URL's parameters go into the body, so that shards get one text. */
struct url_overrides {
    struct rest *r;
    struct json *body; /* an object of the request's arena */
    bool changed;
};

enum err url_put(struct url_overrides *u, const char *key, struct json v);
struct json url_number(struct rest *r, int64_t v);
/* A parameter that is a whole number, under its own name. */
enum err url_int(struct url_overrides *u, const char *param, bool non_negative);
/* `q` and its companions. */
enum err url_query(struct url_overrides *u);
/* min_compatible_shard_node, which searches have that are no templates. */
enum err rest_check_compatible(struct rest *r);
/* The types of the path, and no documents of others. */
enum err url_type(struct url_overrides *u, enum deprecated_use use);

#endif
