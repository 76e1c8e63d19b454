/* agg_rig.h - documents in up to four shards, requests of aggregations over them, and what the documents hold
 * as plain arrays for the naive models. */
#ifndef TEST_AGG_RIG_H
#define TEST_AGG_RIG_H

#include "common/base/rand.h"
#include "engine/aggs/result.h"
#include "engine/index/engine.h"
#include "engine/search/search.h"
#include "tests/seams/clock_sim.h"
#include "tests/seams/fs_mem.h"

#define AR_SHARDS 4
#define AR_DOCS   600
#define AR_VALUES 3
#define AR_WORDS  12

extern const char *const ar_words[AR_WORDS]; /* ascending by their bytes */

struct ar_part { /* a nested document */
    int32_t n;
    uint32_t word;
};

struct ar_doc {
    uint32_t words[AR_VALUES], n_words; /* k: keywords, by number; ascending, none twice */
    int32_t i[AR_VALUES];               /* i: integers, ascending */
    uint32_t n_i;
    double d; /* d: double */
    bool has_d;
    int64_t t; /* t: milliseconds */
    bool has_t, b;
    double lat, lon;
    bool has_point;
    uint32_t ip;                     /* the last byte of 10.0.0.x */
    struct ar_part parts[AR_VALUES]; /* nested: p.n, p.w */
    uint32_t n_parts;
};

struct agg_rig {
    struct arena arena;
    struct rng rng;
    struct clock_sim clock;
    struct fs_mem *disk;
    struct settings settings;
    struct analysis *analysis;
    struct mapping *mapping;
    struct engine *engines[AR_SHARDS];
    struct view *views[AR_SHARDS];
    uint32_t n_shards;
    struct ar_doc docs[AR_DOCS];
    uint32_t n;
    int64_t max_buckets;
    bool typed_keys;
};

/* n documents from a seed, dealt to the shards in turn; refreshed every `segment` documents (0: once). */
void ar_init(struct agg_rig *r, uint64_t seed, uint32_t n_shards, uint32_t n, uint32_t segment);
void ar_fini(struct agg_rig *r);

/* One run: parsed request, partial results, the answer. Its memory is its own. */
struct ar_run {
    struct arena arena;
    struct search_source source;
    struct str partials[AR_SHARDS];
    struct json answer; /* the object of the aggregations */
    struct str text;
    struct errmsg em;
};
/* Parses {"aggs":...} with a query where given, asks the shards, merges. Returns the first failure. */
enum err ar_run(struct agg_rig *r, struct ar_run *run, const char *body);
enum err ar_run_with(struct agg_rig *r, struct ar_run *run, const char *body, const struct allocator *alloc);
void ar_run_fini(struct ar_run *run);
enum err ar_reduce(struct agg_rig *r, struct ar_run *run, const struct str *partials, uint32_t n);
/* The value at a path of the answer ("a.buckets.0.doc_count"); fails the test when there is none. */
const struct json *ar_at(const struct ar_run *run, const char *path);
double ar_num(const struct ar_run *run, const char *path);
/* Succeeds and gives exactly this text (single quotes stand for double ones). */
void ar_expect(struct agg_rig *r, const char *body, const char *answer);
void ar_refused(struct agg_rig *r, const char *body, enum err code);
/* Single quotes to double ones, in the rig's arena. */
const char *ar_json(struct agg_rig *r, const char *text);

#endif
