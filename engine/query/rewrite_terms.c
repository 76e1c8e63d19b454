#include "engine/query/rewrite_terms.h"
#include "common/base/num.h"

#include "common/base/hash.h"
#include "common/base/sort_items.h"
#include "common/base/utf8.h"
#include "engine/query/bm25.h"
#include "engine/query/multi_terms.h"
#include "engine/query/query_ops.h"

#include <stdlib.h>

struct found_term {
    struct str term;
    float boost;
    int64_t doc_freq, total_freq;
};

/* The best terms so far over all segments. */
struct gathering {
    struct arena *arena;
    struct found_term *v;
    size_t n, cap;
    uint32_t max; /* 0: no limit but the node's, past which it fails */
    uint32_t word_chars;
    bool none; /* not even one term, which only a field without any survives */
    bool too_many, failed;
};

static float boost_of(const struct gathering *g, struct str term, unsigned edits)
{
    if (edits == 0) {
        return 1;
    }
    uint32_t chars = MIN_OF((uint32_t)utf8_length(term), g->word_chars);
    return 1.0F - (float)edits / (float)chars; /* below 0 when more differs than the shorter word has */
}

/* Higher boosts first, among equals the smaller term. */
static bool better(float boost_a, struct str a, float boost_b, struct str b)
{
    return boost_a > boost_b || (boost_a == boost_b && str_cmp(a, b) < 0);
}

static size_t worst(const struct gathering *g)
{
    size_t at = 0;
    for (size_t i = 1; i < g->n; i++) {
        if (better(g->v[at].boost, g->v[at].term, g->v[i].boost, g->v[i].term)) {
            at = i;
        }
    }
    return at;
}

static bool take(void *self, const struct term_iter *it, unsigned edits)
{
    struct gathering *g = self;
    float boost = boost_of(g, it->term, edits);
    if (g->none) {
        g->too_many = true;
        return false;
    }
    for (size_t i = 0; i < g->n; i++) {
        if (str_eq(g->v[i].term, it->term)) {
            return true;
        }
    }
    size_t at = g->n;
    if (g->max > 0 && g->n >= g->max) {
        at = worst(g);
        if (!better(boost, it->term, g->v[at].boost, g->v[at].term)) {
            return true;
        }
    } else if (g->n >= query_node_settings()->clauses_max) {
        g->too_many = true;
        return false;
    }
    struct str copy = arena_str(g->arena, it->term);
    if (copy.p == NULL) {
        g->failed = true;
        return false;
    }
    if (at == g->n) {
        struct found_term *v = arena_grow(g->arena, g->v, g->n, &g->cap, sizeof(*v));
        if (v == NULL) {
            g->failed = true;
            return false;
        }
        g->v = v;
        g->n++;
    }
    g->v[at] = (struct found_term){.term = copy, .boost = boost};
    return true;
}

static int by_term(const void *a, const void *b)
{
    return str_cmp(((const struct found_term *)a)->term, ((const struct found_term *)b)->term);
}

static enum err gather(struct weight_shared *sh, const struct query *q, struct gathering *g,
                       struct errmsg *em)
{
    struct term_matcher m;
    enum err e = term_matcher_init(&m, q, sh->cx.arena, em);
    if (e != ERR_OK) {
        return e;
    }
    *g = (struct gathering){.arena = sh->cx.arena, .word_chars = (uint32_t)utf8_length(q->multi.pattern)};
    if (q->multi.rewrite != REWRITE_SCORING_BOOLEAN) {
        g->max = MIN_OF(q->multi.rewrite_n, query_node_settings()->clauses_max);
        g->none = g->max == 0;
    }
    for (uint32_t i = 0; i < sh->cx.view->n_leaves; i++) {
        const struct seg_field *f = segment_field(sh->cx.view->leaves[i].segment, q->field_name);
        if (f != NULL && !term_matcher_walk(&m, f, take, g)) {
            g->failed = true;
        }
    }
    if (g->failed) {
        return err_no_memory(em);
    }
    if (g->too_many && g->none) {
        return err_set(em, ERR_NULL_POINTER, "Cannot read field \"boost\" because \"t\" is null");
    }
    if (g->too_many) {
        return err_set(em, ERR_TOO_MANY_CLAUSES, "maxClauseCount is set to %u",
                       query_node_settings()->clauses_max);
    }
    sort_items(g->v, g->n, sizeof(*g->v), by_term);
    return ERR_OK;
}

static struct query *term_node(struct weight_shared *sh, const struct query *like, struct str term,
                               float boost)
{
    struct query *t = ARENA_NEW(sh->cx.arena, struct query);
    if (t != NULL) {
        *t = (struct query){
            .ops = &q_term, .boost = boost, .field = like->field, .field_name = like->field_name};
        t->term.term = term;
    }
    return t;
}

/* The same where a term scores its boost alone. */
static struct query *constant_node(struct weight_shared *sh, const struct query *like, struct str term,
                                   float boost)
{
    struct query *t = term_node(sh, like, term, 1), *q = ARENA_NEW(sh->cx.arena, struct query);
    if (t == NULL || q == NULL) {
        return NULL;
    }
    *q = (struct query){.ops = &q_constant, .boost = boost};
    q->one.child = t;
    return q;
}

/* More may differ in a term than it has characters; the best terms alone forgive what it would score. */
static enum err check_boosts(const struct query *q, const struct gathering *g, struct errmsg *em)
{
    for (size_t i = 0; i < g->n && q->multi.rewrite == REWRITE_SCORING_BOOLEAN; i++) {
        if (g->v[i].boost < 0) {
            struct buf shown;
            buf_init(&shown, NULL, BUF_UNLIMITED);
            num_put_float(&shown, g->v[i].boost);
            enum err e = err_set(em, ERR_ILLEGAL_ARGUMENT, "boost must be a positive float, got %.*s",
                                 STR_ARG(buf_view(&shown)));
            buf_fini(&shown);
            return e;
        }
    }
    return ERR_OK;
}

/* All terms are scored as if each were as frequent as the commonest. */
static struct term_override *blend(struct weight_shared *sh, const struct query *q, struct gathering *g)
{
    struct term_override *o = ARENA_NEW(sh->cx.arena, struct term_override);
    struct weight_shared own;
    for (size_t i = 0; i < g->n && o != NULL; i++) {
        struct term_stats ts;
        memcpy(&own.cx, &sh->cx, sizeof(own.cx));
        own.cx.stats = NULL; /* the shard's own, also in a dfs search */
        stats_of_term(&own, q->field_name, g->v[i].term, &ts);
        o->doc_freq = MAX_OF(o->doc_freq, ts.doc_freq);
        o->total_freq += ts.total_freq;
    }
    return o;
}

enum err expand_terms(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em)
{
    struct gathering g;
    enum err e = gather(sh, q, &g, em);
    e = e == ERR_OK ? check_boosts(q, &g, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct query *any = ARENA_NEW(sh->cx.arena, struct query);
    struct bool_clause *v = ARENA_ARRAY(sh->cx.arena, struct bool_clause, g.n);
    struct term_override *o = NULL;
    if (any == NULL || v == NULL) {
        return err_no_memory(em);
    }
    if (q->multi.rewrite == REWRITE_TOP_TERMS_BLENDED && (o = blend(sh, q, &g)) == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < g.n; i++) {
        bool constant = q->multi.rewrite == REWRITE_TOP_TERMS_BOOST;
        struct query *t =
            (constant ? constant_node : term_node)(sh, q, g.v[i].term, MAX_OF(g.v[i].boost, 0.0F));
        if (t == NULL) {
            return err_no_memory(em);
        }
        if (!constant) {
            t->term.override = o;
        }
        v[i] = (struct bool_clause){OCCUR_SHOULD, t};
    }
    *any = (struct query){.ops = &q_bool, .boost = q->boost};
    any->boolean.v = v;
    any->boolean.n = (uint32_t)g.n;
    *out = any;
    return ERR_OK;
}

/* ---- phrase prefixes ---- */

struct prefix_terms {
    struct arena *arena;
    struct str *v;
    size_t n, cap;
    uint32_t max;
    bool full; /* there are enough for this beginning */
    bool failed;
};

static bool take_prefix(void *self, const struct term_iter *it, unsigned edits)
{
    struct prefix_terms *p = self;
    (void)edits;
    for (size_t i = 0; i < p->n; i++) {
        if (str_eq(p->v[i], it->term)) {
            p->full = p->n >= p->max;
            return !p->full;
        }
    }
    struct str *v = arena_grow(p->arena, p->v, p->n, &p->cap, sizeof(*v));
    struct str copy = arena_str(p->arena, it->term);
    if (v == NULL || copy.p == NULL) {
        p->failed = true;
        return false;
    }
    p->v = v;
    p->v[p->n++] = copy;
    p->full = p->n >= p->max;
    return !p->full;
}

/* Those of the segments, one after the other, until there are enough: at least one of each beginning. */
static void terms_with_prefix(struct weight_shared *sh, struct str field, struct str prefix,
                              struct prefix_terms *p)
{
    struct term_matcher m = {.kind = MATCH_TERMS_PREFIX, .lo = prefix};
    p->full = false;
    for (uint32_t i = 0; i < sh->cx.view->n_leaves && !p->full && !p->failed; i++) {
        const struct seg_field *f = segment_field(sh->cx.view->leaves[i].segment, field);
        if (f != NULL) {
            term_matcher_walk(&m, f, take_prefix, p);
        }
    }
}

/* The part with the terms that there are for its beginnings. false: no memory. */
static bool expand_span(struct weight_shared *sh, const struct query *q, const struct span_part *part,
                        struct span_part *out)
{
    struct prefix_terms p = {.arena = sh->cx.arena, .max = q->spans.max_expansions};
    *out = *part;
    if (part->kind == SPAN_TERM) {
        return true;
    }
    if (part->kind == SPAN_PREFIX) {
        terms_with_prefix(sh, q->field_name, part->term, &p);
        *out = (struct span_part){.kind = SPAN_OR, .n = (uint32_t)p.n};
    }
    struct span_part *v = ARENA_ARRAY(sh->cx.arena, struct span_part, MAX_OF(out->n, 1U));
    bool ok = v != NULL && !p.failed;
    for (uint32_t i = 0; ok && i < out->n; i++) {
        if (part->kind == SPAN_PREFIX) {
            v[i] = (struct span_part){.kind = SPAN_TERM, .term = p.v[i]};
        } else {
            ok = expand_span(sh, q, &part->v[i], &v[i]);
        }
    }
    out->v = v;
    if (ok && part->kind == SPAN_PREFIX && out->n == 1) {
        *out = v[0];
    }
    return ok;
}

enum err expand_spans(struct weight_shared *sh, const struct query *q, const struct query **out,
                      struct errmsg *em)
{
    struct query *c = ARENA_NEW(sh->cx.arena, struct query);
    struct span_part *root = ARENA_NEW(sh->cx.arena, struct span_part);
    if (c == NULL || root == NULL || !expand_span(sh, q, q->spans.root, root)) {
        return err_no_memory(em);
    }
    *c = *q;
    c->name = STR_NULL;
    c->spans.root = root;
    c->spans.prefix = false;
    *out = c;
    return ERR_OK;
}

enum err expand_phrase_prefix(struct weight_shared *sh, const struct query *q, const struct query **out,
                              struct errmsg *em)
{
    const struct phrase_term *last = &q->phrase.v[q->phrase.n - 1];
    struct prefix_terms p = {.arena = sh->cx.arena, .max = q->phrase.max_expansions};
    for (uint32_t t = 0; t < last->n && p.n <= p.max; t++) {
        terms_with_prefix(sh, q->field_name, last->terms[t], &p);
    }
    struct query *c = ARENA_NEW(sh->cx.arena, struct query);
    struct phrase_term *v = ARENA_ARRAY(sh->cx.arena, struct phrase_term, q->phrase.n);
    if (p.failed || c == NULL || v == NULL) {
        return err_no_memory(em);
    }
    *c = *q;
    c->name = STR_NULL;
    *out = c;
    if (p.n == 0) {
        c->ops = &q_match_none;
        c->boost = 1;
        c->none.reason =
            STR("No terms supplied for org.elasticsearch.common.lucene.search.MultiPhrasePrefixQuery");
        return ERR_OK;
    }
    memcpy(v, q->phrase.v, q->phrase.n * sizeof(*v));
    v[q->phrase.n - 1].terms = p.v;
    v[q->phrase.n - 1].n = (uint32_t)p.n;
    c->phrase.v = v;
    c->phrase.prefix_last = false;
    return ERR_OK;
}

/* ---- cross_fields ---- */

/* Elasticsearch's BlendedTermQuery: the commonest field's frequency is taken for all, with a small bias that
 * lets commoner fields win ties. */
static void blend_fields(struct weight_shared *sh, const struct query *q, struct term_override *o)
{
    int64_t max_doc = sh->cx.view->doc_count, min_sum = INT64_MAX, max = 0, sum = 0;
    uint32_t n = q->blended.n;
    for (uint32_t i = 0; i < n; i++) {
        struct field_stats fs;
        struct term_stats ts;
        struct weight_shared own;
        memcpy(&own.cx, &sh->cx, sizeof(own.cx));
        own.cx.stats = NULL;
        stats_of_term(&own, q->blended.v[i].field->path, q->blended.v[i].term, &ts);
        stats_of_field(&own, q->blended.v[i].field->path, &fs);
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
static enum err blended_clauses(struct weight_shared *sh, const struct query *q, const struct query **v,
                                const struct query **out, struct errmsg *em)
{
    uint32_t n = q->blended.n;
    struct bool_clause *c = ARENA_ARRAY(sh->cx.arena, struct bool_clause, n);
    struct query *made = NULL;
    if (c == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        c[i] = (struct bool_clause){.occur = OCCUR_SHOULD, .query = v[i]};
    }
    enum err e = split_common(sh, c, n, q->blended.common, &made, em);
    if (e == ERR_OK) {
        made->boost = q->boost;
        *out = made;
    }
    return e;
}

enum err expand_blended(struct weight_shared *sh, const struct query *q, const struct query **out,
                        struct errmsg *em)
{
    uint32_t n = q->blended.n;
    struct term_override *o = ARENA_ARRAY(sh->cx.arena, struct term_override, n);
    const struct query **v = ARENA_ARRAY(sh->cx.arena, const struct query *, n);
    struct query *best = ARENA_NEW(sh->cx.arena, struct query);
    if (o == NULL || v == NULL || best == NULL) {
        return err_no_memory(em);
    }
    blend_fields(sh, q, o);
    for (uint32_t i = 0; i < n; i++) {
        struct query like = {.field = q->blended.v[i].field, .field_name = q->blended.v[i].field->path};
        struct query *t = term_node(sh, &like, q->blended.v[i].term, q->blended.v[i].boost);
        if (t == NULL) {
            return err_no_memory(em);
        }
        t->term.override = &o[i];
        v[i] = t;
    }
    if (q->blended.common != NULL) {
        return blended_clauses(sh, q, v, out, em);
    }
    *best = (struct query){.ops = &q_dis_max, .boost = q->boost};
    best->dis_max.v = v;
    best->dis_max.n = n;
    best->dis_max.tie_breaker = q->blended.tie_breaker;
    *out = best;
    if (n == 1) {
        struct query *only = (struct query *)(uintptr_t)v[0];
        only->boost *= q->boost;
        *out = only;
    }
    return ERR_OK;
}

static enum err blended_words(const struct query *q, float boost, const struct word_sink *s,
                              struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < q->blended.n && e == ERR_OK; i++) {
        const struct blended_term *t = &q->blended.v[i];
        e = t->field != NULL ? s->term(s->self, t->field->path, t->term, boost * t->boost, em) : ERR_OK;
    }
    return e;
}

const struct query_ops q_blended = {.name = "blended", .kind = KIND_blended, .words = blended_words};
