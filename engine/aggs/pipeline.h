/* pipeline.h - what pipelines share: values of buckets by path, results that they add. Internal. */
#ifndef ENGINE_AGGS_PIPELINE_H
#define ENGINE_AGGS_PIPELINE_H

#include "engine/aggs/metrics.h"
#include "engine/script/script.h"

enum gap_policy { GAP_SKIP, GAP_ZEROS };

struct pipe_path {
    struct str var; /* bucket_script, bucket_selector: the variable */
    struct agg_path path;
};

struct pipe_sort {
    bool asc;
    struct agg_path path;
};

struct pipe_params {
    struct pipe_path *v; /* before agg_validate(): with their texts alone */
    uint32_t n;
    enum gap_policy gap;
    struct str format;
    const double *percents;
    uint32_t n_percents;
    bool keyed;
    double sigma;
    const struct json *script;
    int32_t window, shift, lag;
    struct str unit;        /* derivative; p == NULL: none */
    struct pipe_sort *sort; /* bucket_sort; NULL: none */
    uint32_t n_sort;
    int64_t from, size; /* bucket_sort; size -1: all */
    bool refused;       /* bucket_sort: from or size was read, and refused when it was set */
    /* moving_avg */
    const struct json *settings; /* NULL: none */
    struct str model_name;
    enum { MODEL_SIMPLE, MODEL_LINEAR, MODEL_EWMA, MODEL_HOLT, MODEL_HOLT_WINTERS } model;
    double alpha, beta, gamma;
    int32_t period, predict;
    bool multiplicative, pad;
};
AGG_PARAMS(pipe_params)

enum err parse_pipe(struct agg_parse *p, struct agg *a, const struct json *body);
/* The model of moving_avg and its settings, read when the rest is. ERR_PARSING. */
enum err moving_model_parse(struct agg_parse *p, struct agg *a, const struct json *body);

/* The result of most pipelines; those that have more begin with it. */
struct value_result {
    double value;
};
AGG_RESULT(value_result)

struct derivative_result {
    struct value_result single;
    double normal; /* per unit */
    bool has_normal;
};
AGG_RESULT(derivative_result)

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

/* Over the buckets of `of`, which pipeline p is declared in. */
enum err pipe_derivative(struct reduce *r, const struct agg *p, struct agg_result *of);
enum err pipe_cumulative(struct reduce *r, const struct agg *p, struct agg_result *of);
enum err pipe_difference(struct reduce *r, const struct agg *p, struct agg_result *of);
enum err pipe_bucket_sort(struct reduce *r, const struct agg *p, struct agg_result *of);
/* Moving averages (moving.c). */
enum err pipe_moving(struct reduce *r, const struct agg *p, struct agg_result *of);
/* Scripts (pipe_script.c): bucket_script, bucket_selector, moving_fn. */
enum err pipe_script(struct reduce *r, const struct agg *p, struct agg_result *of);
/* What they are checked against (validate.c). */
enum err check_sibling(struct agg_parse *p, const struct agg *level, const struct agg *a);
enum err check_sequential(struct agg_parse *p, const struct agg *level, const struct agg *a);
enum err check_scripted(struct agg_parse *p, const struct agg *level, const struct agg *a);
enum err check_bucket_sort(struct agg_parse *p, const struct agg *level, const struct agg *a);

#endif
