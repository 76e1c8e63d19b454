/* What a query looks for: terms, patterns and phrases, field by field. */
#include "engine/highlight/highlight_int.h"

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

static enum err add_term(struct hl_terms *t, struct str field, struct str text, float boost,
                         struct errmsg *em)
{
    struct hl_term *v = arena_grow(t->arena, t->terms, t->n_terms, &t->cap_terms, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    t->terms = v;
    v[t->n_terms] = (struct hl_term){field, text, boost, t->next_order++, number_of(t, field, text)};
    t->n_terms++;
    return ERR_OK;
}

static enum err add_multi(struct hl_terms *t, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_multi *v = arena_grow(t->arena, t->multis, t->n_multis, &t->cap_multis, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    t->multis = v;
    struct hl_multi *m = &v[t->n_multis];
    *m = (struct hl_multi){
        .field = q->field_name, .boost = boost, .order = t->next_order++, .number = t->next_number++};
    m->label = arena_printf(t->arena, "%d#%zu", (int)q->kind, t->n_multis);
    if (m->label.p == NULL) {
        return err_no_memory(em);
    }
    enum err e = term_matcher_init(&m->matcher, q, t->arena, em);
    t->n_multis += e == ERR_OK;
    return e;
}

static enum err add_phrase(struct hl_terms *t, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_phrase *v = arena_grow(t->arena, t->phrases, t->n_phrases, &t->cap_phrases, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    t->phrases = v;
    v[t->n_phrases++] = (struct hl_phrase){q, boost, t->next_order++, t->next_number++};
    return ERR_OK;
}

static enum err collect(struct hl_terms *t, const struct query *q, float boost, struct errmsg *em);

static enum err collect_terms(struct hl_terms *t, const struct query *q, float boost, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < q->terms.n && e == ERR_OK; i++) {
        float own = q->kind == Q_SYNONYM && q->terms.boosts != NULL ? q->terms.boosts[i] : 1;
        e = add_term(t, q->field_name, q->terms.v[i], boost * own, em);
    }
    return e;
}

static enum err collect_children(struct hl_terms *t, const struct query *q, float boost, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; q->kind == Q_BOOL && i < q->boolean.n && e == ERR_OK; i++) {
        if (q->boolean.v[i].occur != OCCUR_MUST_NOT) {
            e = collect(t, q->boolean.v[i].query, boost, em);
        }
    }
    for (uint32_t i = 0; q->kind == Q_DIS_MAX && i < q->dis_max.n && e == ERR_OK; i++) {
        e = collect(t, q->dis_max.v[i], boost, em);
    }
    for (uint32_t i = 0; q->kind == Q_BLENDED && i < q->blended.n && e == ERR_OK; i++) {
        const struct blended_term *b = &q->blended.v[i];
        e = b->field != NULL ? add_term(t, b->field->path, b->term, boost * b->boost, em) : ERR_OK;
    }
    return e;
}

static enum err collect(struct hl_terms *t, const struct query *q, float boost, struct errmsg *em)
{
    boost *= q->boost;
    switch (q->kind) {
    case Q_TERM:
        return add_term(t, q->field_name, q->term.term, boost, em);
    case Q_TERMS:
    case Q_SYNONYM:
        return q->field != NULL && q->field->type == FT_IP ? ERR_OK : collect_terms(t, q, boost, em);
    case Q_PHRASE:
        return add_phrase(t, q, boost, em);
    case Q_SPANS:
        return q->spans.paths != NULL ? collect(t, q->spans.paths, boost, em) : ERR_OK;
    case Q_PREFIX:
    case Q_WILDCARD:
    case Q_REGEXP:
    case Q_TERM_RANGE:
    case Q_FUZZY:
        return add_multi(t, q, boost, em);
    case Q_BOOL:
    case Q_DIS_MAX:
    case Q_BLENDED:
        return collect_children(t, q, boost, em);
    case Q_CONSTANT:
    case Q_BOOST:
        return collect(t, q->one.child, boost, em);
    case Q_BOOSTING:
        return collect(t, q->boosting.positive, boost, em);
    case Q_FUNCTION_SCORE:
        return collect(t, q->function_score.child, boost, em);
    case Q_SCRIPT_SCORE:
        return collect(t, q->script.child, boost, em);
    case Q_NESTED:
        return collect(t, q->nested.child, boost, em);
    default:
        return ERR_OK; /* numbers, places, ids: nothing of the text */
    }
}

enum err hl_terms_collect(struct hl_terms *out, const struct query *q, struct arena *arena, struct errmsg *em)
{
    *out = (struct hl_terms){.arena = arena};
    return collect(out, q, 1, em);
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
    default:
        return levenshtein_distance(&m->matcher.lev, token) <= m->matcher.lev.max;
    }
}
