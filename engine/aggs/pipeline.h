/* pipeline.h - what pipelines share: values of buckets by path, results that they add. Internal. */
#ifndef ENGINE_AGGS_PIPELINE_H
#define ENGINE_AGGS_PIPELINE_H

#include "engine/aggs/result.h"
#include "engine/script/script.h"

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

/* Over the buckets of `of`, which pipeline p is declared in. */
enum err pipe_parent(struct reduce *r, const struct agg *p, struct agg_result *of);
/* Moving averages (moving.c). */
enum err pipe_moving(struct reduce *r, const struct agg *p, struct agg_result *of);
/* Scripts (pipe_script.c): bucket_script, bucket_selector, moving_fn. */
enum err pipe_script(struct reduce *r, const struct agg *p, struct agg_result *of);

#endif
