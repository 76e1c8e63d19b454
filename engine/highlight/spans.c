/* The places where a phrase's terms stand together. As Lucene turns phrases into spans when it highlights: without slop
 * the terms follow each other in order, with slop they stand in any order within a window; gaps in the phrase
 * widen it. */
#include "engine/highlight/highlight_int.h"

#include "common/base/stop.h"

struct slot {
    uint32_t *tokens; /* ascending by position */
    uint32_t n, at;
};

struct search {
    const struct hl_token *tokens;
    struct slot *slots;
    uint32_t n;
    int64_t slop;
    struct arena *arena;
    struct hl_span *v;
    size_t n_v, cap_v;
};

bool hl_slot_takes(const struct query *q, uint32_t slot, struct str token)
{
    const struct phrase_term *t = &q->phrase.v[slot];
    bool prefix = q->phrase.prefix_last && slot == q->phrase.n - 1;
    for (uint32_t i = 0; i < t->n; i++) {
        if (prefix ? str_starts(token, t->terms[i]) : str_eq(token, t->terms[i])) {
            return true;
        }
    }
    return false;
}

static bool fill_slots(struct search *s, const struct query *q, size_t n_tokens)
{
    s->slots = ARENA_ARRAY(s->arena, struct slot, s->n);
    for (uint32_t i = 0; s->slots != NULL && i < s->n; i++) {
        uint32_t count = 0;
        for (size_t t = 0; t < n_tokens && !stop_often(); t++) {
            count += hl_slot_takes(q, i, s->tokens[t].text);
        }
        s->slots[i].tokens = ARENA_ARRAY(s->arena, uint32_t, count);
        if (s->slots[i].tokens == NULL) {
            return false;
        }
        for (size_t t = 0; t < n_tokens && s->slots[i].n < count; t++) {
            if (hl_slot_takes(q, i, s->tokens[t].text)) {
                s->slots[i].tokens[s->slots[i].n++] = (uint32_t)t;
            }
        }
    }
    return s->slots != NULL;
}

static int32_t position_of(const struct search *s, uint32_t slot)
{
    const struct slot *x = &s->slots[slot];
    return s->tokens[x->tokens[x->at]].position;
}

static bool add_span(struct search *s, int32_t from, int32_t to)
{
    struct hl_span *v = arena_grow(s->arena, s->v, s->n_v, &s->cap_v, sizeof(*v));
    uint32_t *tokens = ARENA_ARRAY(s->arena, uint32_t, s->n);
    if (v == NULL || tokens == NULL) {
        return false;
    }
    s->v = v;
    for (uint32_t i = 0; i < s->n; i++) {
        tokens[i] = s->slots[i].tokens[s->slots[i].at];
    }
    v[s->n_v++] = (struct hl_span){from, to, tokens, s->n};
    return true;
}

/* Every start of the first term is tried once; the others go to the first place behind the one before. */
static bool find_ordered(struct search *s)
{
    struct slot *first = &s->slots[0];
    for (; first->at < first->n && !stop_often(); first->at++) {
        int64_t width = 0;
        int32_t end = position_of(s, 0) + 1;
        for (uint32_t i = 1; i < s->n; i++) {
            struct slot *x = &s->slots[i];
            while (x->at < x->n && position_of(s, i) < end) {
                x->at++;
            }
            if (x->at >= x->n) {
                return true;
            }
            width += position_of(s, i) - end;
            end = position_of(s, i) + 1;
        }
        if (width <= s->slop && !add_span(s, position_of(s, 0), end)) {
            return false;
        }
    }
    return true;
}

static bool find_unordered(struct search *s)
{
    for (;;) {
        uint32_t least = 0;
        int32_t from = INT32_MAX, to = INT32_MIN;
        for (uint32_t i = 0; i < s->n; i++) {
            if (s->slots[i].at >= s->slots[i].n) {
                return true;
            }
            int32_t p = position_of(s, i);
            if (p < from) {
                from = p;
                least = i;
            }
            to = MAX_OF(to, p + 1);
        }
        if ((int64_t)to - from - s->n <= s->slop && !add_span(s, from, to)) {
            return false;
        }
        s->slots[least].at++;
    }
}

enum err hl_spans(struct hl_span **out, size_t *n, const struct query *phrase, const struct hl_token *tokens,
                  size_t n_tokens, struct arena *arena, struct errmsg *em)
{
    struct search s = {.tokens = tokens, .n = phrase->phrase.n, .arena = arena};
    *out = NULL;
    *n = 0;
    if (s.n == 0) {
        return ERR_OK;
    }
    const struct phrase_term *v = phrase->phrase.v;
    int64_t gaps = (int64_t)v[s.n - 1].position - v[0].position - s.n + 1;
    s.slop = (int64_t)phrase->phrase.slop + MAX_OF(gaps, (int64_t)0);
    if (!fill_slots(&s, phrase, n_tokens)) {
        return err_no_memory(em);
    }
    if (!(phrase->phrase.slop == 0 ? find_ordered(&s) : find_unordered(&s))) {
        return err_no_memory(em);
    }
    *out = s.v;
    *n = s.n_v;
    return ERR_OK;
}
