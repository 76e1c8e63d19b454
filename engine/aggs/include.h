/* include.h - which terms an aggregation lets in: include and exclude as expressions, lists or partitions. */
#ifndef ENGINE_AGGS_INCLUDE_H
#define ENGINE_AGGS_INCLUDE_H

#include "engine/aggs/values.h"

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
