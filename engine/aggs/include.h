/* include.h - the filter of an aggregation's terms: include and exclude as expressions, lists or partitions. */
#ifndef ENGINE_AGGS_INCLUDE_H
#define ENGINE_AGGS_INCLUDE_H

#include "engine/aggs/values.h"

struct include_list {
    struct str regex; /* p == NULL: none */
    const struct str *v;
    const struct json *const *raw; /* the same as they were written */
    uint32_t n;
    bool given;
};

struct terms_params {
    int64_t size, shard_size, min_doc_count, shard_min_doc_count; /* shard_size -1: not given */
    struct agg_orders orders;
    struct include_list include, exclude;
    int32_t partition, partitions; /* partitions > 0: in use */
    bool show_error;
    struct str execution_hint;
    const struct json *background; /* significant_terms */
    struct {
        enum { HEURISTIC_JLH, HEURISTIC_MUTUAL, HEURISTIC_CHI, HEURISTIC_GND, HEURISTIC_PERCENTAGE } kind;
        bool include_negatives, background_is_superset;
    } heuristic;
};
AGG_PARAMS(terms_params)

struct dfa;

struct include {
    const struct terms_params *p;
    struct values *v;
    bool any; /* everything is let in */
    bool numeric;
    const struct dfa *in, *out;
    const struct str *in_text, *out_text; /* sorted */
    const int64_t *in_num, *out_num;      /* sorted */
    uint32_t n_in, n_out;
    uint8_t *known; /* of texts by number: 0 unknown, 1 in, 2 out */
    uint32_t cap_known;
};

/* The source is bound already. Errors are those of the request. */
enum err include_bind(struct include *x, const struct agg *a, struct values *v, struct errmsg *em);
bool include_id(struct include *x, uint32_t id);
bool include_long(const struct include *x, int64_t v);

#endif
