/* One term in several fields, scored as if it were equally rare in all (cross_fields): a dis_max of terms with blended
 * statistics, or what a cutoff makes of them. */
#include "common/base/num.h"
#include "engine/query/bm25.h"
#include "engine/query/build.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"

static const struct blended *own_of(const struct query *q)
{
    return q->own;
}

static enum err blended_words(const struct query *q, float boost, const struct word_sink *s,
                              struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < own_of(q)->n && e == ERR_OK; i++) {
        const struct blended_term *t = &own_of(q)->v[i];
        e = t->field != NULL ? s->term(s->self, t->field->path, t->term, boost * t->boost, em) : ERR_OK;
    }
    return e;
}

static void blended_print(const struct query *q, struct buf *out)
{
    buf_z(out, "blended(terms:[");
    for (uint32_t i = 0; i < own_of(q)->n; i++) {
        const struct blended_term *t = &own_of(q)->v[i];
        buf_printf(out, "%s%.*s:%.*s", i > 0 ? ", " : "", STR_ARG(t->field->path), STR_ARG(t->term));
        if (t->boost != 1) {
            buf_char(out, '^');
            num_put_float(out, t->boost);
        }
    }
    buf_z(out, "])");
}

/* Elasticsearch's BlendedTermQuery: the commonest field's frequency is taken for all, with a small bias that
 * lets commoner fields win ties. */
static void blend_fields(struct weight_shared *sh, const struct query *q, struct term_override *o)
{
    int64_t max_doc = sh->cx.view->doc_count, min_sum = INT64_MAX, max = 0, sum = 0;
    uint32_t n = own_of(q)->n;
    for (uint32_t i = 0; i < n; i++) {
        struct field_stats fs;
        struct term_stats ts;
        struct weight_shared own;
        memcpy(&own.cx, &sh->cx, sizeof(own.cx));
        own.cx.stats = NULL;
        stats_of_term(&own, own_of(q)->v[i].field->path, own_of(q)->v[i].term, &ts);
        stats_of_field(&own, own_of(q)->v[i].field->path, &fs);
        o[i] = (struct term_override){ts.doc_freq, ts.total_freq};
        max = MAX_OF(max, ts.doc_freq);
        if (ts.total_freq > 0) {
            min_sum = MIN_OF(min_sum, fs.sum_ttf);
        }
    }
    max_doc = MIN_OF(max_doc, min_sum);
    if (max == 0 || n <= 1) {
        return;
    }
    bool *used = ARENA_ARRAY(sh->cx.arena, bool, n);
    int64_t actual = MIN_OF(max_doc, max), prev = max;
    for (uint32_t round = 0; round < n && used != NULL; round++) {
        uint32_t at = UINT32_MAX;
        for (uint32_t i = 0; i < n; i++) { /* the commonest first, in order among equals */
            if (!used[i] && (at == UINT32_MAX || o[i].doc_freq > o[at].doc_freq)) {
                at = i;
            }
        }
        used[at] = true;
        int64_t current = o[at].doc_freq;
        if (current == 0) {
            break;
        }
        actual += prev > current ? 1 : 0;
        o[at].doc_freq = MIN_OF(max_doc, actual);
        prev = current;
        sum += o[at].total_freq;
    }
    sum = MIN_OF(sum, min_sum);
    for (uint32_t i = 0; i < n; i++) {
        if (o[i].doc_freq > 0) {
            o[i].total_freq = MAX_OF(sum, o[i].doc_freq);
        }
    }
}

/* A cutoff makes clauses of the words, which share no best one. */
static enum err blended_clauses(struct weight_shared *sh, const struct query *q, struct query **v,
                                const struct query **out, struct errmsg *em)
{
    uint32_t n = own_of(q)->n;
    struct bool_clause *c = ARENA_ARRAY(sh->cx.arena, struct bool_clause, n);
    struct query *made = NULL;
    if (c == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        c[i] = (struct bool_clause){.occur = OCCUR_SHOULD, .query = v[i]};
    }
    enum err e = split_common(sh, c, n, own_of(q)->common, &made, em);
    if (e == ERR_OK) {
        made->boost = q->boost;
        *out = made;
    }
    return e;
}

static enum err expand(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em)
{
    uint32_t n = own_of(q)->n;
    struct term_override *o = ARENA_ARRAY(sh->cx.arena, struct term_override, n);
    struct query **v = ARENA_ARRAY(sh->cx.arena, struct query *, n);
    struct query *best = ARENA_NEW(sh->cx.arena, struct query);
    if (o == NULL || v == NULL || best == NULL) {
        return err_no_memory(em);
    }
    blend_fields(sh, q, o);
    for (uint32_t i = 0; i < n; i++) {
        struct query like = {.field = own_of(q)->v[i].field, .field_name = own_of(q)->v[i].field->path};
        struct query *t = rewrite_to_term(sh, &like, own_of(q)->v[i].term, own_of(q)->v[i].boost);
        if (t == NULL) {
            return err_no_memory(em);
        }
        t->term.override = &o[i];
        v[i] = t;
    }
    if (own_of(q)->common != NULL) {
        return blended_clauses(sh, q, v, out, em);
    }
    *best = (struct query){.ops = &q_dis_max, .boost = q->boost};
    best->dis_max.v = (const struct query *const *)v;
    best->dis_max.n = n;
    best->dis_max.tie_breaker = own_of(q)->tie_breaker;
    *out = best;
    if (n == 1) {
        v[0]->boost *= q->boost;
        *out = v[0];
    }
    return ERR_OK;
}

static enum err blended_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                struct errmsg *em)
{
    enum err e = expand(sh, q, out, em);
    return e == ERR_OK && (*out)->ops == &q_bool ? query_rewrite(sh, *out, out, em) : e;
}

const struct query_ops q_blended = {
    .name = "blended", .words = blended_words, .print = blended_print, .rewrite = blended_rewrite};
