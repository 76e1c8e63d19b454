/* terms.h - declarations shared by the terms family: terms, rare_terms, significant_terms over texts and
 * numbers. Internal. */
#ifndef ENGINE_AGGS_TERMS_H
#define ENGINE_AGGS_TERMS_H

#include "engine/aggs/include.h"

struct terms_result {
    int64_t shard_size;
    int64_t error, other; /* terms: what counts may lack; documents of terms that are not shown */
    int64_t subset_size, superset_size; /* significant_terms */
};
AGG_RESULT(terms_result)

enum err parse_terms(struct agg_parse *p, struct agg *a, const struct json *body);
enum err parse_rare_terms(struct agg_parse *p, struct agg *a, const struct json *body);
enum err parse_significant(struct agg_parse *p, struct agg *a, const struct json *body);
enum err terms_new(struct collector **out, struct agg_run *r, const struct agg *a, struct errmsg *em);

struct terms {
    struct collector c;
    struct values v;
    struct include include;
    struct bucket_map map; /* keys: numbers of texts, or values */
    bool text;
    int64_t shard_size;
    struct collector **order_from; /* of each order by path */
    uint32_t *bucket_of_id;        /* of owner 0, + 1: saves the hash */
    uint32_t cap_of_id;
    /* Counting alone, by segment ordinals, when nothing else is asked for. */
    bool by_ord;
    uint32_t *ord_counts;
    uint64_t cap_ord_counts;
    int64_t *all_keys; /* min_doc_count 0: every key that there is */
    uint32_t n_all, cap_all;
    /* significant_terms */
    int64_t *owner_docs;
    uint32_t cap_owner_docs;
    struct filter_bits background;
    struct bucket_map background_counts;
    int64_t background_docs;
};

struct candidate {
    int64_t key;
    uint32_t bucket; /* NO_BUCKET: of no document */
    int64_t count, background;
    double score;
};

enum err significance(double *out, const struct terms_params *p, int64_t subset_df, int64_t subset,
                      int64_t superset_df, int64_t superset, struct errmsg *em) NODISCARD;
/* Every key of the field in the whole shard. */
enum err terms_all_keys(struct terms *t, struct errmsg *em);
/* How often each key occurs in the background. */
enum err terms_background(struct terms *t, struct errmsg *em);
/* Of equal scores, which stay depends on the order of the offers: later ones win against earlier, as in
 * Elasticsearch's queue. h is a heap from 0 with the lowest score first. */
void significant_offer(struct candidate *h, uint32_t *n, uint32_t max, const struct candidate *x);
/* The buckets of an owner in the order of their terms. */
enum err terms_in_order(struct terms *t, const uint32_t **list, uint32_t n, struct errmsg *em);
int terms_key_cmp(struct terms *t, int64_t a, int64_t b);
bool terms_key(struct terms *t, int64_t key, struct agg_key *out);

#endif
