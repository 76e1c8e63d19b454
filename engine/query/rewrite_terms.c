#include "engine/query/rewrite_terms.h"
#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "engine/query/query_ops.h"

#include "common/base/hash.h"
#include "common/base/map.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/query/bm25.h"
#include "engine/query/multi_terms.h"
#include "engine/query/rewrite.h"

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
    bool none;        /* not even one term, which only a field without any survives */
    struct map *seen; /* the terms, where there may be many; NULL: they are looked for */
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
    for (size_t i = 1; i < g->n && !stop_often(); i++) {
        if (better(g->v[at].boost, g->v[at].term, g->v[i].boost, g->v[i].term)) {
            at = i;
        }
    }
    return at;
}

static bool is_known(const struct gathering *g, struct str term)
{
    if (g->seen != NULL) {
        return map_get(g->seen, term) != NULL;
    }
    for (size_t i = 0; i < g->n; i++) {
        if (str_eq(g->v[i].term, term)) {
            return true;
        }
    }
    return false;
}

static bool terms_take(void *self, const struct term_iter *it, unsigned edits)
{
    struct gathering *g = self;
    float boost = boost_of(g, it->term, edits);
    if (g->none) {
        g->too_many = true;
        return false;
    }
    if (is_known(g, it->term)) {
        return true;
    }
    size_t at = g->n;
    if (g->max > 0 && g->n >= g->max) {
        at = worst(g);
        if (!better(boost, it->term, g->v[at].boost, g->v[at].term)) {
            return true;
        }
    } else if (g->max == 0 && g->n >= query_node_settings()->clauses_max) {
        g->too_many = true;
        return false;
    }
    struct str copy = arena_str(g->arena, it->term);
    if (copy.p == NULL || (g->seen != NULL && !map_put(g->seen, copy, g))) {
        g->failed = true;
        return false;
    }
    if (at == g->n) {
        if (!ARENA_ROOM(g->arena, g->v, g->n, g->cap)) {
            g->failed = true;
            return false;
        }
        g->n++;
    }
    g->v[at] = (struct found_term){.term = copy, .boost = boost};
    return true;
}

static int by_term(const void *a, const void *b)
{
    return str_cmp(((const struct found_term *)a)->term, ((const struct found_term *)b)->term);
}

/* As far as the limits of g let it. */
static enum err gather_within(struct weight_shared *sh, const struct query *q, struct gathering *g,
                              struct errmsg *em)
{
    struct term_matcher m;
    enum err e = q->ops->matcher(&m, q, sh->cx.arena, em);
    if (e != ERR_OK) {
        return e;
    }
    for (uint32_t i = 0; i < sh->cx.view->n_leaves; i++) {
        const struct seg_field *f = segment_field(sh->cx.view->leaves[i].segment, q->field_name);
        if (f != NULL && !term_matcher_walk(&m, f, terms_take, g)) {
            g->failed = true;
        }
    }
    if (g->failed) {
        return err_no_memory(em);
    }
    if (g->too_many && g->none) {
        return err_set(em, ERR_NULL_POINTER, "Cannot read field \"boost\" because \"t\" is null");
    }
    sort_items(g->v, g->n, sizeof(*g->v), by_term);
    return ERR_OK;
}

static enum err terms_gather(struct weight_shared *sh, const struct query *q, struct gathering *g,
                             struct errmsg *em)
{
    *g = (struct gathering){.arena = sh->cx.arena, .word_chars = (uint32_t)utf8_length(q->multi.pattern)};
    if (q->multi.rewrite != REWRITE_SCORING_BOOLEAN) {
        g->max = MIN_OF(q->multi.rewrite_n, query_node_settings()->clauses_max);
        g->none = g->max == 0;
    }
    enum err e = gather_within(sh, q, g, em);
    return e == ERR_OK && g->too_many ? err_set(em, ERR_TOO_MANY_CLAUSES, "maxClauseCount is set to %u",
                                                query_node_settings()->clauses_max)
                                      : e;
}

bool query_takes_best_terms(const struct query *q)
{
    bool chooses = q->ops == &q_prefix || q->ops == &q_wildcard || q->ops == &q_regexp || q->ops == &q_fuzzy;
    return chooses && q->multi.rewrite != REWRITE_CONSTANT && q->multi.rewrite != REWRITE_SCORING_BOOLEAN;
}

enum err terms_of_pattern(struct weight_shared *sh, const struct query *q, struct str **out, size_t *n,
                          struct errmsg *em)
{
    struct map seen;
    struct gathering g = {.arena = sh->cx.arena, .word_chars = 1, .seen = &seen};
    map_init(&seen, sh->cx.arena);
    if (query_takes_best_terms(q)) {
        g.word_chars = (uint32_t)utf8_length(q->multi.pattern);
        g.max = q->multi.rewrite_n;
        g.none = g.max == 0;
    }
    enum err e = gather_within(sh, q, &g, em);
    if (e == ERR_OK && g.too_many) {
        struct str text = query_text(q, sh->cx.arena);
        return err_set(em, ERR_INTERNAL,
                       "[%.*s ] exceeds maxClauseCount [ Boolean maxClauseCount is set to %u]", STR_ARG(text),
                       query_node_settings()->clauses_max);
    }
    *out = ARENA_ARRAY(sh->cx.arena, struct str, MAX_OF(g.n, (size_t)1));
    *n = g.n;
    for (size_t i = 0; *out != NULL && i < g.n; i++) {
        (*out)[i] = g.v[i].term;
    }
    return e != ERR_OK ? e : *out != NULL ? ERR_OK : err_no_memory(em);
}

/* The same where a term scores its boost alone. */
static struct query *constant_node(struct weight_shared *sh, const struct query *like, struct str term,
                                   float boost)
{
    struct query *t = rewrite_to_term(sh, like, term, 1), *q = ARENA_NEW(sh->cx.arena, struct query);
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
    enum err e = terms_gather(sh, q, &g, em);
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
            (constant ? constant_node : rewrite_to_term)(sh, q, g.v[i].term, MAX_OF(g.v[i].boost, 0.0F));
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

/* ---- beginnings of words ---- */

static bool take_prefix(void *self, const struct term_iter *it, UNUSED unsigned edits)
{
    struct prefix_terms *p = self;
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

void terms_with_prefix(struct weight_shared *sh, struct str field, struct str prefix, struct prefix_terms *p)
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
