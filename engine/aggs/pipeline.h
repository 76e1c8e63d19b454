/* pipeline.h - declarations shared by pipelines: values of buckets by path, results that they add. Internal. */
#ifndef ENGINE_AGGS_PIPELINE_H
#define ENGINE_AGGS_PIPELINE_H

#include "engine/aggs/metrics.h"
#include "engine/script/script.h"

enum gap_policy { GAP_SKIP, GAP_ZEROS };

struct pipe_path {
    struct str var; /* bucket_script, bucket_selector: the variable */
    struct agg_path path;
};

/* Parameters of every pipeline; those that have more begin with it. */
struct pipe_params {
    struct pipe_path *v; /* before agg_validate(): with their texts alone */
    uint32_t n;
    enum gap_policy gap;
    struct str format;
};
AGG_PARAMS(pipe_params)

/* Setters of shared parameters. `buckets_path`: "a>b", ["a>b", ...] or {"var":"a>b", ...}; of any values, as Java shows
 * them. */
enum err pipe_set_paths(struct agg_parse *p, struct agg *a, const struct json *v);
enum err pipe_set_any_paths(struct agg_parse *p, struct agg *a, const struct json *v);
enum err pipe_set_gap(struct agg_parse *p, struct agg *a, const struct json *v);
enum err pipe_set_format(struct agg_parse *p, struct agg *a, const struct json *v);
/* ERR_ARRAY_BOUNDS where the list of paths is empty: Elasticsearch checks this late. */
enum err pipe_need_path(struct agg_parse *p, const struct agg *a);
/* The required parameters of a declared parser: names, NULL for those that were given. */
enum err pipe_need(struct agg_parse *p, const char *const *missing, size_t n);

/* A definition that is read token by token. */
struct pipe_form {
    const char *called; /* where its path is missing */
    unsigned tokens;    /* of some parameter's value: others are not even looked at. 0: all are */
    bool no_format;
    /* Reads a parameter of its own; false: it is none. NULL: there are none. */
    bool (*member)(struct agg_parse *p, struct agg *a, const struct json_member *m, enum err *e);
};
enum err pipe_parse_older(struct agg_parse *p, struct agg *a, const struct json *body,
                          const struct pipe_form *form);

/* The result of most pipelines; those that have more begin with it. */
struct value_result {
    double value;
};
AGG_RESULT(value_result)
double pipe_number(const struct agg_result *r); /* rows' number */

/* A value that a path finds in a bucket. */
struct bucket_value {
    bool found; /* false: the path leads nowhere in this bucket */
    double v;   /* NaN: skipped by the gap policy */
};

/* Resolves steps [from, n) of a path below one of a's buckets. */
enum err pipe_bucket_value(struct reduce *r, const struct agg *a, const struct agg_bucket *b,
                           const struct agg_path *path, uint32_t from, enum gap_policy gap,
                           struct bucket_value *out);
/* The bucket's place for the result of pipeline p, made when it is first asked for. NULL: no memory. */
struct agg_result *pipe_place(struct reduce *r, const struct agg *a, struct agg_bucket *b,
                              const struct agg *p);
/* Adds a single value to a bucket. */
enum err pipe_add(struct reduce *r, const struct agg *a, struct agg_bucket *b, const struct agg *p, double v);
enum err pipe_shape(struct reduce *r, const struct agg *p, struct value_shape **out);

/* The values of a sibling's buckets. */
struct gathered {
    double *v;
    uint32_t *from; /* which bucket */
    uint32_t n;
    struct stats_result stats; /* of v */
};

/* The key of a bucket as a number. */
enum err pipe_key_number(struct reduce *r, const struct agg_result *of, uint32_t i, double *out);

/* ---- checks (validate.c) ---- */

/* Errors of pipelines are listed, and reported when the whole body has been read. */
enum err pipe_failed(struct agg_parse *p, struct str why);
enum err check_sibling(struct agg_parse *p, const struct agg *level, const struct agg *a);
enum err check_sequential(struct agg_parse *p, const struct agg *level, const struct agg *a);
enum err check_scripted(struct agg_parse *p, const struct agg *level, const struct agg *a);

#endif
