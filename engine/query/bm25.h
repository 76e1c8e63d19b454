/* bm25.h - scores of terms: BM25 as Lucene 8.8 computes it (with Elasticsearch 7's factor k1 + 1), float by
 * float, and the boolean similarity. Internal to engine/query. */
#ifndef ENGINE_QUERY_BM25_H
#define ENGINE_QUERY_BM25_H

#include "engine/query/weight.h"

struct sim {
    bool flat;    /* the boolean similarity: every match scores `weight` */
    float weight; /* boost × idf */
    float boost;  /* with the factor k1 + 1 */
    float idf, k1, b, avgdl;
    uint32_t n_terms; /* the idf is a sum over so many terms (phrases) */
    struct term_stats *terms;
    int64_t doc_count;
    float cache[256]; /* 1 / (k1 × (1 - b + b × length / average)) by SmallFloat byte */
};

/* Statistics of a field over the view (or as given). false: the field has no document. */
bool stats_of_field(const struct weight_shared *sh, struct str field, struct field_stats *out);
/* `out` accumulates over leaves; doc_freq 0: nowhere. */
void stats_of_term(const struct weight_shared *sh, struct str field, struct str term, struct term_stats *out);

/* terms: those that exist, n > 0. */
enum err sim_init(struct sim *s, const struct weight_shared *sh, const struct field *f, struct str field_name,
                  float boost, const struct term_stats *terms, uint32_t n, struct errmsg *em);

static inline float sim_score(const struct sim *s, float freq, uint8_t norm)
{
    /* Not freq / (freq + norm): this form is monotonic in both (and is Lucene's). */
    return s->flat ? s->weight : s->weight - s->weight / (1.0F + freq * s->cache[norm]);
}

/* "score(freq=..), computed as boost * idf * tf from:"; freq is the explanation of the frequency. */
struct explanation *sim_explain(const struct sim *s, struct arena *a, struct explanation *freq, uint8_t norm);
/* What explanations call the similarity of a weight. */
static inline const char *sim_name(const struct weight_shared *sh)
{
    return sh->cx.plain_scores ? "BM25Similarity" : "PerFieldSimilarity";
}
/* The best score that (freq, norm) pairs allow. */
float sim_best(const struct sim *s, const struct impact *v, unsigned n);

#endif
