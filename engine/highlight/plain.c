/* The plain highlighter: a text is walked token by token, marked, and cut into fragments of about the same
 * length; the best are kept (Lucene's Highlighter with QueryScorer). */
#include "engine/highlight/highlight_int.h"

#include "common/base/arena_list.h"
#include "common/base/memory_account.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>

#define GROUP_TOKENS_MAX \
    50 /* overlapping tokens that are marked as one; what comes behind them is left out */

struct fragment {
    size_t from, to; /* in the marked-up text */
    float score;
    uint32_t number;
    struct str text;
};

/* What the query says about one term. */
struct weighted {
    float weight;
    bool anywhere;               /* not only where phrases match */
    const struct range **ranges; /* unused when anywhere */
    size_t n_ranges, cap_ranges;
    uint32_t fragment; /* last one that counted it, + 1 */
};

struct range {
    int32_t from, to; /* positions, both included */
};

enum fragmenter { FRAGMENT_NONE, FRAGMENT_SIMPLE, FRAGMENT_SPAN };

struct plain_run {
    const struct hl_target *t;
    const struct hl_text *x;
    const struct hl_value *value;
    struct arena *arena;
    struct buf *b;
    struct map terms; /* token text to struct weighted */
    struct fragment *fragments;
    size_t n_fragments, cap_fragments;
    uint32_t last_end;
    float total; /* the current fragment's score */
    /* the group of overlapping tokens */
    uint32_t group_n, group_start, group_end, match_start, match_end;
    float group_score;
    /* the fragmenter */
    enum fragmenter fragmenter;
    int64_t n_cuts;
    int32_t position, wait_for;
    bool failed;
};

/* ---- terms in this value
 * ------------------------------------------------------------------------------------------------- */

static struct weighted *weighted_of(struct plain_run *w, struct str text)
{
    struct weighted *v = map_get(&w->terms, text);
    if (v == NULL) {
        v = ARENA_NEW(w->arena, struct weighted);
        if (v == NULL || !map_put(&w->terms, text, v)) {
            w->failed = true;
            return NULL;
        }
    }
    return v;
}

static void weigh(struct plain_run *w, struct str text, float weight)
{
    struct weighted *v = weighted_of(w, text);
    if (v != NULL) {
        v->weight = weight;
        v->anywhere = true;
        v->n_ranges = 0;
    }
}

/* The weight of a pattern's match: the more edits a fuzzy match took, the lower. */
static float multi_weight(const struct hl_multi *m, struct str token)
{
    if (m->matcher.kind != MATCH_TERMS_FUZZY) {
        return m->boost;
    }
    unsigned edits = levenshtein_distance(&m->matcher.lev, token);
    size_t shorter = MIN_OF(MAX_OF(token.n, (size_t)1), MAX_OF((size_t)m->matcher.lev.n, (size_t)1));
    return edits == 0 ? m->boost : m->boost * MAX_OF(0.0F, 1.0F - (float)edits / (float)shorter);
}

static bool any_with_prefix(const struct query *phrase, const struct hl_token *tokens, uint32_t n)
{
    const struct phrase_term *last = &phrase->phrase.v[phrase->phrase.n - 1];
    for (uint32_t i = 0; phrase->phrase.n > 0 && i < n; i++) {
        for (uint32_t k = 0; k < last->n; k++) {
            if (str_starts(tokens[i].text, last->terms[k])) {
                return true;
            }
        }
    }
    return phrase->phrase.n == 0;
}

static enum err weigh_phrase(struct plain_run *w, const struct hl_phrase *p, struct errmsg *em)
{
    struct hl_span *spans;
    size_t n;
    const struct hl_token *tokens = w->x->tokens + w->value->token;
    struct query shorter = *p->query;
    if (shorter.phrase.prefix_last && !any_with_prefix(&shorter, tokens, w->value->n_tokens)) {
        shorter.phrase.prefix_last =
            false; /* the text has no word that the prefix could stand for: the others are looked for */
        shorter.phrase.n--;
    }
    enum err e = hl_spans(&spans, &n, &shorter, tokens, w->value->n_tokens, w->arena, em);
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        struct range *r = ARENA_NEW(w->arena, struct range);
        if (r == NULL) {
            return err_no_memory(em);
        }
        *r = (struct range){spans[i].from, spans[i].to - 1};
        /* words that another field's terms find are not this field's */
        uint32_t others = p->query->phrase.last_field != NULL && w->t->o->require_field_match ? 1 : 0;
        for (uint32_t k = 0; k + others < spans[i].n; k++) {
            struct weighted *v = weighted_of(w, tokens[spans[i].tokens[k]].text);
            const struct range **grown = v == NULL ? NULL
                                                   : arena_grow(w->arena, (void *)v->ranges, v->n_ranges,
                                                                &v->cap_ranges, sizeof(*grown));
            if (grown == NULL) {
                return err_no_memory(em);
            }
            v->ranges = grown;
            if (v->n_ranges == 0 || v->ranges[v->n_ranges - 1] != r) {
                v->ranges[v->n_ranges++] = r;
            }
            v->weight = v->anywhere ? v->weight : p->boost;
        }
    }
    return e;
}

struct span_words {
    struct plain_run *w;
    const struct hl_span_query *spans;
    struct range *ranges;
    size_t n;
};

/* A word of spans counts wherever any of their places is. */
static enum err weigh_span_word(void *self, struct str field, struct str text, struct errmsg *em)
{
    const struct span_words *s = self;
    struct plain_run *w = s->w;
    if (w->t->o->require_field_match && !str_eq(field, w->t->field->path)) {
        return ERR_OK;
    }
    bool known = map_get(&w->terms, text) != NULL;
    struct weighted *v = weighted_of(w, text);
    for (size_t i = 0; v != NULL && i < s->n && !stop_often(); i++) {
        const struct range **grown =
            arena_grow(w->arena, (void *)v->ranges, v->n_ranges, &v->cap_ranges, sizeof(*grown));
        if (grown == NULL) {
            return err_no_memory(em);
        }
        v->ranges = grown;
        v->ranges[v->n_ranges++] = &s->ranges[i];
    }
    if (v != NULL && !known) {
        v->weight = s->spans->boost;
    }
    return v != NULL ? ERR_OK : err_no_memory(em);
}

static enum err weigh_spans(struct plain_run *w, const struct hl_span_query *q, struct errmsg *em)
{
    const struct hl_token *tokens = w->x->tokens + w->value->token;
    uint32_t n_tokens = w->value->n_tokens;
    struct hl_span *places;
    size_t n;
    int32_t base = n_tokens > 0 ? tokens[0].position - tokens[0].inc + 1 : 0;
    enum err e = hl_span_places(&places, &n, q->query, tokens, n_tokens, base, STR_NULL, w->arena, em);
    if (e != ERR_OK || n == 0) {
        return e;
    }
    struct span_words s = {w, q, ARENA_ARRAY(w->arena, struct range, n), n};
    for (size_t i = 0; s.ranges != NULL && i < n; i++) {
        s.ranges[i] = (struct range){places[i].from, places[i].to - 1};
    }
    return s.ranges != NULL ? hl_span_words(q->query, tokens, n_tokens, weigh_span_word, &s, w->arena, em)
                            : err_no_memory(em);
}

static void weigh_multi(struct plain_run *w, const struct hl_multi *m)
{
    for (uint32_t k = 0; k < w->value->n_tokens && !stop_often(); k++) {
        struct str text = w->x->tokens[w->value->token + k].text;
        if (hl_multi_match(m, text)) {
            weigh(w, text, multi_weight(m, text));
        }
    }
}

/* In the query's order: a term by itself forgets the phrases before it, one behind it adds its places. */
static enum err weigh_terms(struct plain_run *w, struct errmsg *em)
{
    const struct hl_terms *terms = &w->t->terms;
    size_t i = 0, p = 0, m = 0, s = 0;
    enum err e = ERR_OK;
    while (e == ERR_OK && !w->failed) {
        uint32_t term = i < terms->n_terms ? terms->terms[i].order : UINT32_MAX;
        uint32_t phrase = p < terms->n_phrases ? terms->phrases[p].order : UINT32_MAX;
        uint32_t multi = m < terms->n_multis ? terms->multis[m].order : UINT32_MAX;
        uint32_t span = s < terms->n_spans ? terms->spans[s].order : UINT32_MAX;
        if (span < term && span < phrase && span < multi) {
            e = weigh_spans(w, &terms->spans[s++], em);
        } else if (term < phrase && term < multi) {
            weigh(w, terms->terms[i].text, terms->terms[i].boost);
            i++;
        } else if (phrase < multi) {
            e = weigh_phrase(w, &terms->phrases[p++], em);
        } else if (multi != UINT32_MAX) {
            weigh_multi(w, &terms->multis[m++]);
        } else {
            break;
        }
    }
    return e == ERR_OK && w->failed ? err_no_memory(em) : e;
}

/* ---- walking
 * ---------------------------------------------------------------------------------------------------------------
 */

static float token_score(struct plain_run *w, const struct hl_token *token)
{
    struct weighted *v = map_get(&w->terms, token->text);
    if (v == NULL) {
        return 0;
    }
    bool here = v->anywhere;
    for (size_t i = 0; i < v->n_ranges && !here; i++) {
        here = token->position >= v->ranges[i]->from && token->position <= v->ranges[i]->to;
    }
    if (!here) {
        return 0;
    }
    if (v->fragment != w->n_fragments) {
        v->fragment = (uint32_t)w->n_fragments;
        w->total += v->weight;
    }
    return v->weight;
}

static void add_to_group(struct plain_run *w, const struct hl_token *k, float score)
{
    if (w->group_n >= GROUP_TOKENS_MAX) {
        return;
    }
    if (w->group_n == 0) {
        w->group_start = w->match_start = k->start;
        w->group_end = w->match_end = k->end;
        w->group_score = score;
    } else {
        w->group_start = MIN_OF(w->group_start, k->start);
        w->group_end = MAX_OF(w->group_end, k->end);
        if (score > 0) {
            w->match_start = w->group_score > 0 ? MIN_OF(w->match_start, k->start) : k->start;
            w->match_end = w->group_score > 0 ? MAX_OF(w->match_end, k->end) : k->end;
            w->group_score += score;
        }
    }
    w->group_n++;
}

static void flush_group(struct plain_run *w)
{
    const struct hl_options *o = w->t->o;
    if (w->match_start > w->last_end) {
        hl_append(w->b, w->x, w->last_end, w->match_start, o->html);
    }
    if (w->group_score > 0) {
        buf_str(w->b, o->pre_tags.v[0]);
    }
    hl_append(w->b, w->x, w->match_start, w->match_end, o->html);
    if (w->group_score > 0) {
        buf_str(w->b, o->post_tags.v[0]);
    }
    w->last_end = MAX_OF(w->last_end, w->match_end);
    w->group_n = 0;
    w->group_score = 0;
}

static void open_fragment(struct plain_run *w)
{
    if (!ARENA_ROOM(w->arena, w->fragments, w->n_fragments, w->cap_fragments)) {
        w->failed = true;
        return;
    }
    w->fragments[w->n_fragments] = (struct fragment){.from = w->b->n, .number = (uint32_t)w->n_fragments};
    w->n_fragments++;
    w->total = 0;
}

static void close_fragment(struct plain_run *w)
{
    struct fragment *f = &w->fragments[w->n_fragments - 1];
    f->score = w->total;
    f->to = w->b->n;
}

/* A fragment does not end inside a phrase's place. The position counts only the tokens that were asked about.
 */
static bool inside_span(struct plain_run *w, const struct hl_token *k)
{
    w->position += k->inc;
    if (w->wait_for == w->position) {
        w->wait_for = -1;
    } else if (w->wait_for != -1) {
        return true;
    }
    const struct weighted *v = map_get(&w->terms, k->text);
    for (size_t i = 0; v != NULL && i < v->n_ranges; i++) {
        if (v->ranges[i]->from == w->position) {
            w->wait_for = v->ranges[i]->to + 1;
            break;
        }
    }
    return false;
}

static bool begins_fragment(struct plain_run *w, const struct hl_token *k)
{
    int64_t size = w->t->o->fragment_size;
    int64_t end = k->end - w->value->start, length = w->value->end - w->value->start;
    bool begins = false;
    if (w->fragmenter == FRAGMENT_SIMPLE) {
        begins = end >= size * w->n_cuts;
    } else if (w->fragmenter == FRAGMENT_SPAN && !inside_span(w, k)) {
        begins = end >= size * w->n_cuts && length - end >= size / 2;
    }
    w->n_cuts += begins;
    return begins;
}

static void walk_value(struct plain_run *w)
{
    open_fragment(w);
    for (uint32_t i = 0; i < w->value->n_tokens && !w->failed && !stop_often(); i++) {
        const struct hl_token *k = &w->x->tokens[w->value->token + i];
        if (w->group_n > 0 && k->start >= w->group_end) {
            flush_group(w);
            if (begins_fragment(w, k)) {
                close_fragment(w);
                open_fragment(w);
            }
        }
        add_to_group(w, k, token_score(w, k));
    }
    if (w->failed) {
        return;
    }
    float total = w->total;
    if (w->group_n > 0) {
        flush_group(w);
    }
    w->total = total;
    if (w->last_end < w->value->end) {
        hl_append(w->b, w->x, w->last_end, w->value->end, w->t->o->html);
    }
    close_fragment(w);
}

/* ---- the best
 * ----------------------------------------------------------------------------------------------------------------
 */

static int best_first(const void *a, const void *b)
{
    const struct fragment *x = a, *y = b;
    if (x->score != y->score) {
        return x->score > y->score ? -1 : 1;
    }
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Elasticsearch compares rounded differences here: fragments less than half a point apart keep their order.
 */
static void order_by_score(struct fragment *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct fragment f = v[i];
        size_t j = i;
        for (; j > 0 && floorf(f.score - v[j - 1].score + 0.5F) > 0; j--) {
            v[j] = v[j - 1];
        }
        v[j] = f;
    }
}

struct fragment_list {
    struct fragment *v;
    size_t n, cap;
};

static enum err keep_best(struct fragment_list *kept, struct plain_run *w, size_t max, struct errmsg *em)
{
    sort_items(w->fragments, w->n_fragments, sizeof(*w->fragments), best_first);
    for (size_t i = 0; i < w->n_fragments && i < max; i++) {
        struct fragment *f = &w->fragments[i];
        if (!(f->score > 0)) {
            break;
        }
        struct fragment *v = arena_grow(w->arena, kept->v, kept->n, &kept->cap, sizeof(*v));
        f->text = arena_str(w->arena, str_slice(buf_view(w->b), f->from, f->to));
        if (v == NULL || f->text.p == NULL) {
            return err_no_memory(em);
        }
        kept->v = v;
        v[kept->n++] = *f;
    }
    return ERR_OK;
}

static enum err one_value(struct fragment_list *kept, struct plain_run *w, size_t max, struct errmsg *em)
{
    struct buf b;
    memory_request_buf(&b);
    w->b = &b;
    w->last_end = w->value->start;
    w->n_cuts = 1;
    if (w->value->n_tokens > 0) {
        const struct hl_token *first = &w->x->tokens[w->value->token];
        w->position = first->position - first->inc;
    }
    w->wait_for = -1;
    map_init(&w->terms, w->arena);
    enum err e = weigh_terms(w, em);
    if (e == ERR_OK) {
        walk_value(w);
        e = w->failed || b.failed ? err_no_memory(em) : keep_best(kept, w, max, em);
    }
    buf_fini(&b);
    return e;
}

/* Without a match: the beginning, up to the last token that fits. */
static enum err beginning(struct hl_fragments *out, const struct hl_target *t, const struct hl_text *x,
                          struct errmsg *em)
{
    const struct hl_value *v = &x->values[0];
    uint32_t size = (uint32_t)t->o->no_match_size, end = 0;
    for (uint32_t i = 0; i < v->n_tokens; i++) {
        uint32_t to = x->tokens[v->token + i].end - v->start;
        if (to > size) {
            break;
        }
        end = to;
        if (to == size) {
            break;
        }
    }
    struct buf b;
    memory_request_buf(&b);
    hl_append(&b, x, v->start, v->start + end, false);
    bool ok = end == 0 || hl_fragment_add(out, &b);
    buf_fini(&b);
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err fragmenter_of(enum fragmenter *out, const struct hl_target *t, struct errmsg *em)
{
    const struct hl_options *o = t->o;
    *out = FRAGMENT_SPAN;
    if (o->number_of_fragments == 0) {
        *out = FRAGMENT_NONE;
    } else if (str_is(o->fragmenter, "simple")) {
        *out = FRAGMENT_SIMPLE;
    } else if (o->fragmenter.p != NULL && !str_is(o->fragmenter, "span")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown fragmenter option [%.*s] for the field [%.*s]",
                       STR_ARG(o->fragmenter), STR_ARG(t->key));
    }
    return ERR_OK;
}

enum err hl_plain(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x, struct arena *arena,
                  struct errmsg *em)
{
    enum fragmenter fragmenter;
    struct fragment_list kept = {.n = 0};
    enum err e = fragmenter_of(&fragmenter, t, em);
    size_t max = t->o->number_of_fragments > 0 ? (size_t)t->o->number_of_fragments : 1;
    for (uint32_t i = 0; i < x->n_values && e == ERR_OK; i++) {
        struct plain_run w = {
            .t = t, .x = x, .value = &x->values[i], .arena = arena, .fragmenter = fragmenter};
        e = one_value(&kept, &w, max, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (t->o->score_ordered) {
        order_by_score(kept.v, kept.n);
    }
    bool all = t->o->number_of_fragments == 0 && x->n_values > 1;
    for (size_t i = 0; i < kept.n && (all || i < max); i++) {
        if (!ARENA_ADD(arena, out->v, out->n, out->cap, kept.v[i].text)) {
            return err_no_memory(em);
        }
    }
    return out->n == 0 && t->o->no_match_size > 0 && x->n_values > 0 ? beginning(out, t, x, em) : ERR_OK;
}
