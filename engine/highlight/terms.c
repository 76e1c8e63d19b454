/* The terms of a query, for highlighting: terms, patterns and phrases, field by field. */
#include "engine/highlight/highlight_int.h"
#include "engine/query/query_ops.h"

#define COMPARED_TERMS_MAX 256U /* in longer lists equal terms may get numbers of their own */

static uint32_t number_of(struct hl_terms *t, struct str field, struct str text)
{
    for (size_t i = 0; i < t->n_terms && i < COMPARED_TERMS_MAX; i++) {
        if (str_eq(t->terms[i].text, text) && str_eq(t->terms[i].field, field)) {
            return t->terms[i].number;
        }
    }
    return t->next_number++;
}

static enum err add_term(void *self, struct str field, struct str text, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    struct hl_term *v = arena_grow(t->arena, t->terms, t->n_terms, &t->cap_terms, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    t->terms = v;
    v[t->n_terms] = (struct hl_term){field, text, boost, t->next_order++, number_of(t, field, text)};
    t->n_terms++;
    return ERR_OK;
}

static enum err add_pattern(void *self, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    struct hl_multi *v = arena_grow(t->arena, t->multis, t->n_multis, &t->cap_multis, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    t->multis = v;
    struct hl_multi *m = &v[t->n_multis];
    *m = (struct hl_multi){
        .field = q->field_name, .boost = boost, .order = t->next_order++, .number = t->next_number++};
    m->label = arena_printf(t->arena, "%s#%zu", q->ops->name, t->n_multis);
    if (m->label.p == NULL) {
        return err_no_memory(em);
    }
    enum err e = q->ops->matcher(&m->matcher, q, t->arena, em);
    t->n_multis += e == ERR_OK;
    return e;
}

static enum err add_phrase(void *self, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    struct hl_phrase *v = arena_grow(t->arena, t->phrases, t->n_phrases, &t->cap_phrases, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    t->phrases = v;
    v[t->n_phrases++] = (struct hl_phrase){q, boost, t->next_order++, t->next_number++};
    return ERR_OK;
}

enum err hl_terms_collect(struct hl_terms *out, const struct query *q, struct arena *arena, struct errmsg *em)
{
    const struct word_sink sink = {out, add_term, add_pattern, add_phrase};
    *out = (struct hl_terms){.arena = arena};
    return query_words(q, 1, &sink, em);
}

static bool in_range(const struct term_matcher *m, struct str token)
{
    if (m->lo.p != NULL) {
        int c = str_cmp(token, m->lo);
        if (c < 0 || (c == 0 && !m->lo_inclusive)) {
            return false;
        }
    }
    if (m->hi.p != NULL) {
        int c = str_cmp(token, m->hi);
        if (c > 0 || (c == 0 && !m->hi_inclusive)) {
            return false;
        }
    }
    return true;
}

bool hl_multi_match(const struct hl_multi *m, struct str token)
{
    switch (m->matcher.kind) {
    case MATCH_TERMS_ALL:
        return true;
    case MATCH_TERMS_PREFIX:
        return str_starts(token, m->matcher.lo);
    case MATCH_TERMS_RANGE:
        return in_range(&m->matcher, token);
    case MATCH_TERMS_DFA:
        return dfa_match(m->matcher.dfa, token);
    case MATCH_TERMS_FUZZY:
        break;
    }
    return levenshtein_distance(&m->matcher.lev, token) <= m->matcher.lev.max;
}
