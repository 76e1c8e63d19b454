/* The places of queries of spans in a text, and the tokens that they stand on. As Lucene's highlighters look for them in an index
 * of the text alone, whatever the fields of the query: a pattern stands for the text's own words. */
#include "engine/highlight/highlight_int.h"

#include "common/base/map.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"
#include "engine/query/span_match.h"

/* What is read as a SPAN_TERM. */
struct span_leaf {
    struct span base;
    const uint32_t *tokens; /* at each of its places */
};

struct reading {
    const struct hl_token *tokens;
    size_t n_tokens;
    int32_t base;
    struct str only; /* the field of the text, where others have no words in it */
    struct arena *arena;
    struct errmsg *em;
    uint32_t *at; /* tokens of the place at hand */
    size_t n_at, cap_at;
};

static const struct span_part leaf_part = {.kind = SPAN_TERM};

/* ---- words ---- */

/* A term, or a pattern of them. */
struct word {
    struct str term;
    bool is_pattern;
    struct term_matcher matcher;
    bool best; /* only these of what it matches: */
    struct map terms;
};

static float boost_of(const struct term_matcher *m, struct str token)
{
    if (m->kind != MATCH_TERMS_FUZZY) {
        return 1;
    }
    unsigned edits = levenshtein_distance(&m->lev, token);
    size_t shorter = MIN_OF(utf8_length(token), (size_t)m->lev.n);
    return edits == 0 ? 1.0F : 1.0F - (float)edits / (float)MAX_OF(shorter, (size_t)1);
}

struct ranked {
    struct str text;
    float boost;
};

static int best_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->boost != y->boost ? (x->boost > y->boost ? -1 : 1) : str_cmp(x->text, y->text);
}

/* The best ones of the text's words, as many as the pattern takes. */
static bool choose_best(struct word *w, uint32_t max, const struct hl_token *tokens, size_t n_tokens,
                        struct arena *arena)
{
    struct ranked *v = NULL;
    struct map seen;
    size_t n = 0, cap = 0;
    const struct hl_multi m = {.matcher = w->matcher};
    map_init(&seen, arena);
    map_init(&w->terms, arena);
    for (size_t i = 0; i < n_tokens && !stop_often(); i++) {
        struct str text = tokens[i].text;
        if (map_get(&seen, text) != NULL || !hl_multi_match(&m, text)) {
            continue;
        }
        struct ranked *grown = arena_grow(arena, v, n, &cap, sizeof(*v));
        if (grown == NULL || !map_put(&seen, text, w)) {
            return false;
        }
        v = grown;
        v[n++] = (struct ranked){text, boost_of(&w->matcher, text)};
    }
    sort_items(v, n, sizeof(*v), best_first);
    for (size_t i = 0; i < n && i < max; i++) {
        if (!map_put(&w->terms, v[i].text, w)) {
            return false;
        }
    }
    w->best = true;
    return true;
}

static enum err word_of(const struct span_part *part, const struct hl_token *tokens, size_t n_tokens,
                        struct word *out, struct arena *arena, struct errmsg *em)
{
    *out = (struct word){.term = part->term, .is_pattern = part->kind == SPAN_MULTI};
    if (!out->is_pattern) {
        return ERR_OK;
    }
    enum err e = part->multi->ops->matcher(&out->matcher, part->multi, arena, em);
    if (e != ERR_OK || !query_takes_best_terms(part->multi)) {
        return e;
    }
    return choose_best(out, part->multi->multi.rewrite_n, tokens, n_tokens, arena) ? ERR_OK
                                                                                   : err_no_memory(em);
}

static bool takes(const struct word *w, struct str token)
{
    const struct hl_multi m = {.matcher = w->matcher};
    return !w->is_pattern ? str_eq(w->term, token)
           : w->best      ? map_get(&w->terms, token) != NULL
                          : hl_multi_match(&m, token);
}

struct words {
    const struct hl_token *tokens;
    size_t n_tokens;
    hl_word_fn fn;
    void *self;
    struct arena *arena;
    struct errmsg *em;
};

static enum err words_of(const struct words *w, const struct span_part *part, struct str field)
{
    enum err e = ERR_OK;
    field = part->field.p != NULL ? part->field : field;
    if (part->kind == SPAN_TERM) {
        return w->fn(w->self, field, part->term, w->em);
    }
    if (part->kind == SPAN_MULTI) {
        struct word word;
        e = word_of(part, w->tokens, w->n_tokens, &word, w->arena, w->em);
        for (size_t i = 0; e == ERR_OK && i < w->n_tokens && !stop_often(); i++) {
            if (takes(&word, w->tokens[i].text)) {
                e = w->fn(w->self, field, w->tokens[i].text, w->em);
            }
        }
        return e;
    }
    for (uint32_t i = 0; i < (part->kind == SPAN_NOT ? 1 : part->n) && e == ERR_OK; i++) {
        e = words_of(w, &part->v[i], field);
    }
    return e;
}

enum err hl_span_words(const struct query *q, const struct hl_token *tokens, size_t n_tokens, hl_word_fn fn,
                       void *self, struct arena *arena, struct errmsg *em)
{
    const struct words w = {tokens, n_tokens, fn, self, arena, em};
    return words_of(&w, q->spans.root, q->field_name);
}

static bool part_within(const struct span_part *part, struct str field)
{
    bool looks_below = part->kind == SPAN_MASK || part->kind == SPAN_FIRST || part->kind == SPAN_NEAR
                       || part->kind == SPAN_OR || part->kind == SPAN_NOT;
    if (!looks_below) {
        return part->field.p == NULL || str_eq(part->field, field);
    }
    bool within = true;
    for (uint32_t i = 0; i < (part->kind == SPAN_NOT ? 1 : part->n) && within; i++) {
        within = part_within(&part->v[i], field);
    }
    return within;
}

bool hl_spans_within(const struct query *q, struct str field)
{
    /* Elasticsearch does not look into one that is boosted */
    return q->boost != 1 ? str_eq(q->field_name, field) : part_within(q->spans.root, field);
}

/* ---- the tree over the text ---- */

static enum err open_leaf(struct reading *r, const struct span_part *part, struct str field,
                          struct span **out)
{
    if (r->only.p != NULL && !str_eq(field, r->only)) {
        return ERR_OK;
    }
    struct word word;
    uint32_t count = 0;
    enum err e = word_of(part, r->tokens, r->n_tokens, &word, r->arena, r->em);
    for (size_t i = 0; e == ERR_OK && i < r->n_tokens && !stop_often(); i++) {
        count += takes(&word, r->tokens[i].text) ? 1 : 0;
    }
    if (e != ERR_OK || count == 0) {
        return e;
    }
    struct span_leaf *l = ARENA_NEW(r->arena, struct span_leaf);
    uint32_t *places = ARENA_ARRAY(r->arena, uint32_t, count),
             *tokens = ARENA_ARRAY(r->arena, uint32_t, count), n = 0;
    if (l == NULL || places == NULL || tokens == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; n < count && i < r->n_tokens; i++) {
        if (takes(&word, r->tokens[i].text)) {
            places[n] = (uint32_t)(r->tokens[i].position - r->base);
            tokens[n++] = (uint32_t)i;
        }
    }
    l->base = (struct span){.part = &leaf_part, .places = places, .n = n, .is_read = true};
    l->tokens = tokens;
    *out = &l->base;
    return ERR_OK;
}

static enum err open_place(struct reading *r, const struct span_part *part, struct str field,
                           struct span **out)
{
    field = part->field.p != NULL ? part->field : field;
    *out = NULL;
    if (part->kind == SPAN_TERM || part->kind == SPAN_MULTI) {
        return open_leaf(r, part, field, out);
    }
    if (part->kind == SPAN_NONE || part->kind == SPAN_PREFIX) {
        return ERR_OK;
    }
    struct span *s = span_new(part, part->n, r->arena);
    if (s == NULL) {
        return err_no_memory(r->em);
    }
    s->doc = 0;
    for (uint32_t i = 0; i < part->n; i++) {
        enum err e = open_place(r, &part->v[i], field, &s->v[s->n_parts]);
        bool needed = part->kind != SPAN_OR && !(part->kind == SPAN_NOT && i == 1);
        if (e != ERR_OK || (s->v[s->n_parts] == NULL && needed)) {
            return e;
        }
        s->n_parts += s->v[s->n_parts] != NULL ? 1 : 0;
    }
    *out = part->kind == SPAN_MASK ? s->v[0] : part->kind != SPAN_GAP && s->n_parts == 0 ? NULL : s;
    return ERR_OK;
}

/* ---- places ---- */

static bool add_token(struct reading *r, uint32_t token)
{
    uint32_t *v = arena_grow(r->arena, r->at, r->n_at, &r->cap_at, sizeof(*v));
    if (v == NULL) {
        return false;
    }
    r->at = v;
    v[r->n_at++] = token;
    return true;
}

/* The tokens that a span stands on. */
static bool collect(struct reading *r, struct span *s)
{
    bool ok = true;
    switch (s->part->kind) {
    case SPAN_TERM:
        return add_token(r, ((const struct span_leaf *)(const void *)s)->tokens[s->at - 1]);
    case SPAN_OR:
        return s->heap_n == 0 || collect(r, s->heap[1]);
    case SPAN_NOT:
    case SPAN_FIRST:
        return collect(r, s->v[0]);
    case SPAN_NEAR:
    case SPAN_CONTAINING:
    case SPAN_WITHIN:
        for (uint32_t i = 0; i < s->n_parts && ok; i++) {
            ok = collect(r, s->v[i]);
        }
        return ok;
    case SPAN_PREFIX:
    case SPAN_MULTI:
    case SPAN_MASK:
    case SPAN_GAP:
    case SPAN_NONE:
        break;
    }
    return true;
}

enum err hl_span_places(struct hl_span **out, size_t *n, const struct query *q, const struct hl_token *tokens,
                        size_t n_tokens, int32_t base, struct str only, struct arena *arena,
                        struct errmsg *em)
{
    struct reading r = {
        .tokens = tokens, .n_tokens = n_tokens, .base = base, .only = only, .arena = arena, .em = em};
    struct span *root;
    size_t cap = 0;
    *out = NULL;
    *n = 0;
    enum err e = open_place(&r, q->spans.root, q->field_name, &root);
    if (e != ERR_OK || root == NULL) {
        return e;
    }
    span_rewind(root);
    while (!stop_often() && span_next(root) != SPAN_END) {
        struct hl_span *v = arena_grow(arena, *out, *n, &cap, sizeof(*v));
        r.n_at = 0;
        uint32_t *at =
            v != NULL && collect(&r, root) ? ARENA_ARRAY(arena, uint32_t, MAX_OF(r.n_at, (size_t)1)) : NULL;
        if (at == NULL) {
            return err_no_memory(em);
        }
        for (size_t i = 0; i < r.n_at; i++) {
            at[i] = r.at[i];
        }
        *out = v;
        v[(*n)++] = (struct hl_span){root->start + base, root->end + base, at, (uint32_t)r.n_at};
    }
    return ERR_OK;
}
