#include "engine/query/bm25.h"

#include "common/base/num.h"

#include <math.h>

bool stats_of_field(const struct weight_shared *sh, struct str field, struct field_stats *out)
{
    const struct view *v = sh->cx.view;
    if (sh->cx.stats != NULL && sh->cx.stats->field(sh->cx.stats->self, field, out)) {
        return out->doc_count > 0;
    }
    *out = (struct field_stats){.max_doc = v->doc_count};
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        if (f != NULL && (f->has & SEG_TERMS)) {
            out->doc_count += f->doc_count;
            out->sum_df += (int64_t)f->sum_df;
            out->sum_ttf += (int64_t)f->sum_ttf;
        }
    }
    return out->doc_count > 0;
}

void stats_of_term(const struct weight_shared *sh, struct str field, struct str term, struct term_stats *out)
{
    const struct view *v = sh->cx.view;
    *out = (struct term_stats){0};
    if (sh->cx.stats != NULL && sh->cx.stats->term(sh->cx.stats->self, field, term, out)) {
        return;
    }
    for (uint32_t i = 0; i < v->n_leaves; i++) {
        const struct seg_field *f = segment_field(v->leaves[i].segment, field);
        struct term_info t;
        if (f != NULL && seg_term(f, term, &t)) {
            out->doc_freq += t.doc_freq;
            out->total_freq += (int64_t)t.total_freq;
        }
    }
}

static float idf_of(int64_t doc_freq, int64_t doc_count)
{
    return (float)log(1 + ((double)(doc_count - doc_freq) + 0.5) / ((double)doc_freq + 0.5));
}

enum err sim_init(struct sim *s, const struct weight_shared *sh, const struct field *f, struct str field_name,
                  float boost, const struct term_stats *terms, uint32_t n, struct errmsg *em)
{
    struct field_stats fs;
    double idf = 0;
    *s = (struct sim){.k1 = 1.2F, .b = 0.75F, .avgdl = 1, .n_terms = n};
    bool plain = sh->cx.plain_scores;
    if (f != NULL && !plain && f->similarity.kind == SIM_BOOLEAN) {
        s->flat = true;
        s->weight = s->boost = boost;
        return ERR_OK;
    }
    if (f != NULL && !plain) {
        s->k1 = f->similarity.k1;
        s->b = f->similarity.b;
    }
    bool made_up = sh->cx.unasked_scores;
    if (made_up) {
        fs = (struct field_stats){1, 1, 1, 1};
    } else if (stats_of_field(sh, field_name, &fs)) {
        s->avgdl = (float)((double)fs.sum_ttf / (double)fs.doc_count);
    }
    s->doc_count = fs.doc_count;
    s->terms = ARENA_ARRAY(sh->cx.arena, struct term_stats, n);
    if (s->terms == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        s->terms[i] = made_up ? (struct term_stats){1, 1} : terms[i];
        idf += idf_of(s->terms[i].doc_freq, fs.doc_count);
    }
    s->idf = (float)idf;
    s->boost = plain ? boost : boost * (1 + s->k1);
    s->weight = s->boost * s->idf;
    for (unsigned i = 0; i < 256; i++) {
        float length = made_up ? 1 : (float)norm_decode((uint8_t)i);
        s->cache[i] = 1.0F / (s->k1 * ((1 - s->b) + s->b * length / s->avgdl));
    }
    return ERR_OK;
}

float sim_best(const struct sim *s, const struct impact *v, unsigned n)
{
    float best = 0;
    for (unsigned i = 0; i < n; i++) {
        float score = sim_score(s, (float)v[i].freq, v[i].norm);
        best = score > best ? score : best;
    }
    return best;
}

static struct explanation *explain_idf(const struct sim *s, struct arena *a, uint32_t i)
{
    struct explanation *e = explain_new(a, true, idf_of(s->terms[i].doc_freq, s->doc_count),
                                        "idf, computed as log(1 + (N - n + 0.5) / (n + 0.5)) from:");
    e = explain_add(a, e, explain_whole(a, s->terms[i].doc_freq, "n, number of documents containing term"));
    return explain_add(a, e, explain_whole(a, s->doc_count, "N, total number of documents with field"));
}

static struct explanation *explain_tf(const struct sim *s, struct arena *a, struct explanation *freq,
                                      uint8_t norm)
{
    float length = (float)norm_decode(norm);
    float inverse = 1.0F / (s->k1 * ((1 - s->b) + s->b * length / s->avgdl));
    struct explanation *e =
        explain_new(a, true, 1.0F - 1.0F / (1 + freq->value * inverse),
                    "tf, computed as freq / (freq + k1 * (1 - b + b * dl / avgdl)) from:");
    e = explain_add(a, e, freq);
    e = explain_add(a, e, explain_new(a, true, s->k1, "k1, term saturation parameter"));
    e = explain_add(a, e, explain_new(a, true, s->b, "b, length normalization parameter"));
    e = explain_add(a, e,
                    explain_new(a, true, length,
                                norm > 39 ? "dl, length of field (approximate)" : "dl, length of field"));
    return explain_add(a, e, explain_new(a, true, s->avgdl, "avgdl, average length of field"));
}

struct explanation *sim_explain(const struct sim *s, struct arena *a, struct explanation *freq, uint8_t norm)
{
    if (freq == NULL) {
        return NULL;
    }
    if (s->flat) {
        struct explanation *e = explain_new(a, true, s->weight, "score(BooleanWeight), computed from:");
        return explain_add(a, e, explain_new(a, true, s->weight, "boost, query boost"));
    }
    struct buf number;
    buf_init(&number, NULL, 64);
    num_put_float(&number, freq->value);
    struct explanation *e =
        explain_new(a, true, sim_score(s, freq->value, norm),
                    "score(freq=%.*s), computed as boost * idf * tf from:", STR_ARG(buf_view(&number)));
    buf_fini(&number);
    if (s->boost != 1) {
        e = explain_add(a, e, explain_new(a, true, s->boost, "boost"));
    }
    if (s->n_terms == 1) {
        e = explain_add(a, e, explain_idf(s, a, 0));
    } else {
        struct explanation *sum = explain_new(a, true, s->idf, "idf, sum of:");
        for (uint32_t i = 0; i < s->n_terms; i++) {
            sum = explain_add(a, sum, explain_idf(s, a, i));
        }
        e = explain_add(a, e, sum);
    }
    return explain_add(a, e, explain_tf(s, a, freq, norm));
}
