/* agg_row.h - building blocks of the rows of aggregations: pieces of printing, bytes and values that families share. Internal. */
#ifndef ENGINE_AGGS_AGG_ROW_H
#define ENGINE_AGGS_AGG_ROW_H

#include "engine/aggs/collect.h"

/* ---- printing (print.c) ---- */
bool result_ends(const struct jsonw *w, size_t before);
bool result_shaped(const struct value_shape *s);
/* A number that is not finite is written as text; null if there is no value. */
void print_number(struct jsonw *w, const char *key, double v, bool there);
/* "<name>_as_string" */
void print_as_string(struct jsonw *w, const struct value_shape *s, const char *name, double v);
void print_key(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w);
void print_key_text(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w);
void print_key_as_string(const struct agg_result *r, const struct agg_bucket *b, struct jsonw *w);
/* Rows' print_bucket of those with a key, and its text behind or before it. */
void print_keyed_head(const struct agg_result *r, const struct agg_bucket *b, bool keyed, struct jsonw *w);
/* Rows' print of single values. */
void print_single(const struct agg_result *r, struct jsonw *w);
void print_value(const struct agg_result *r, double v, bool is, struct jsonw *w);

/* ---- bytes (result_bytes.c) ---- */
struct result_reading {
    struct bytes_in *in;
    struct arena *arena;
    struct errmsg *em;
};
enum err result_corrupt(const struct result_reading *d);
void put_shape(struct buf *b, const struct value_shape *s);
enum err get_shape(const struct result_reading *d, struct value_shape **out);
void put_key(struct buf *b, const struct agg_key *k);
void get_key(const struct result_reading *d, struct agg_key *k);
int64_t get_size(const struct result_reading *d);

/* ---- values (result.c) ---- */
enum err value_unknown(const struct agg_result *r, struct str key, double *out, struct errmsg *em);

/* ---- merging (reduce.c) ---- */
enum err reduce_by_place(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                         struct agg_result *out);
enum err reduce_keys(struct reduce *r, const struct agg *a, struct agg_result *const *in, uint32_t n,
                     struct agg_result *out);

/* n numbers, each of which has the value value(r, i). */
void print_percents(const struct agg_result *r, bool keyed, const double *at, uint32_t n,
                    double (*value)(const struct agg_result *r, uint32_t i), struct jsonw *w);

#endif
