/* The terms of a query, for highlighting: terms, patterns and phrases, field by field. */
#include "engine/highlight/highlight_int.h"

#include "common/base/arena_list.h"
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
    if (!ARENA_ROOM(t->arena, t->terms, t->n_terms, t->cap_terms)) {
        return err_no_memory(em);
    }
    t->terms[t->n_terms] =
        (struct hl_term){field, text, boost, t->next_order++, number_of(t, field, text), false, false};
    t->n_terms++;
    return ERR_OK;
}

static enum err add_loose(void *self, struct str field, struct str text, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    enum err e = add_term(t, field, text, boost, em);
    if (e == ERR_OK) {
        t->terms[t->n_terms - 1].loose = true;
    }
    return e;
}

static enum err add_pattern(void *self, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    if (!ARENA_ROOM(t->arena, t->multis, t->n_multis, t->cap_multis)) {
        return err_no_memory(em);
    }
    struct hl_multi *m = &t->multis[t->n_multis];
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

static enum err add_loose_pattern(void *self, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    enum err e = add_pattern(t, q, boost, em);
    if (e == ERR_OK) {
        t->multis[t->n_multis - 1].loose = true;
    }
    return e;
}

static enum err add_phrase(void *self, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    return ARENA_ADD(t->arena, t->phrases, t->n_phrases, t->cap_phrases,
                     (struct hl_phrase){q, boost, t->next_order++, t->next_number++})
               ? ERR_OK
               : err_no_memory(em);
}

/* A single term, or a pattern that stands for one alone in the index. NULL: it is neither. */
static const struct query *term_of_spans(const struct hl_terms *t, const struct query *q)
{
    const struct query *plain = q;
    ERR_LOCAL(em);
    if (q->boost != 1) {
        return NULL;
    }
    if (q->spans.root->kind == SPAN_MULTI && query_simplify(&plain, t->index, q, &em) != ERR_OK) {
        return NULL;
    }
    return plain->ops == &q_spans && plain->spans.root->kind == SPAN_TERM ? plain : NULL;
}

static enum err add_spans(void *self, const struct query *q, float boost, struct errmsg *em)
{
    struct hl_terms *t = self;
    struct hl_span_query *v = arena_grow(t->arena, t->spans, t->n_spans, &t->cap_spans, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(em);
    }
    t->spans = v;
    v[t->n_spans++] = (struct hl_span_query){q, boost, t->next_order++};
    const struct query *one = term_of_spans(t, q);
    if (one == NULL) {
        return ERR_OK;
    }
    enum err e = add_term(t, one->field_name, one->spans.root->term, boost, em);
    if (e == ERR_OK) {
        t->terms[t->n_terms - 1].of_spans = true;
    }
    return e;
}

enum err hl_terms_collect(struct hl_terms *out, const struct query *q, const struct weight_context *index,
                          struct errmsg *em)
{
    const struct word_sink sink = {out,        add_term, add_loose, add_pattern, add_loose_pattern,
                                   add_phrase, add_spans};
    *out = (struct hl_terms){.arena = index->arena, .index = index};
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
