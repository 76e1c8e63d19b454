/* The beginning of a word where analyze_wildcard asks for its analysis: its last position is the prefix, what stands
 * before it are terms. */
#include "engine/query/query_string.h"

static enum err prefix_node(struct string_run *r, const struct field *f, struct str text, struct query **out)
{
    if (!r->simple && hidden_prefix_takes(f, text)) {
        struct pattern_opts o = {.rewrite = r->q->rewrite};
        return hidden_prefix(r->b, f, text, &o, out, r->em);
    }
    struct query *q = *out = qnode_new(r->b, &q_prefix);
    if (q == NULL) {
        return err_no_memory(r->em);
    }
    q->field = f;
    q->field_name = f->path;
    q->multi.pattern = text;
    q->multi.rewrite = REWRITE_CONSTANT;
    return set_rewrite(q, r->q->rewrite, r->em);
}

static enum err synonyms(struct string_run *r, const struct field *f, const struct token *t, size_t n,
                         struct query **out)
{
    struct query *q = *out = qnode_new(r->b, &q_synonym);
    struct str *terms = ARENA_ARRAY(r->b->arena, struct str, n);
    if (q == NULL || terms == NULL) {
        return err_no_memory(r->em);
    }
    uint32_t distinct = 0;
    for (size_t i = 0; i < n; i++) { /* sorted, as they stay few */
        uint32_t at = distinct;
        while (at > 0 && str_cmp(terms[at - 1], t[i].text) > 0) {
            at--;
        }
        if (at > 0 && str_eq(terms[at - 1], t[i].text)) {
            continue;
        }
        memmove(&terms[at + 1], &terms[at], (distinct - at) * sizeof(*terms));
        terms[at] = t[i].text;
        distinct++;
    }
    q->field = f;
    q->field_name = f->path;
    q->terms.v = terms;
    q->terms.n = distinct;
    return ERR_OK;
}

static enum err one_position(struct string_run *r, const struct field *f, const struct token *t, size_t n,
                             bool last, struct query **out)
{
    if (n == 1) {
        return last ? prefix_node(r, f, t[0].text, out) : qnode_term(r->b, f, t[0].text, out, r->em);
    }
    if (!last) {
        return synonyms(r, f, t, n, out);
    }
    struct bool_build any = {0};
    enum err e = ERR_OK;
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        struct query *q;
        e = prefix_node(r, f, t[i].text, &q);
        e = e == ERR_OK ? bool_add(r->b, &any, OCCUR_SHOULD, q, r->em) : e;
    }
    return e == ERR_OK ? bool_done(r->b, &any, out, r->em) : e;
}

static enum err over_positions(struct string_run *r, const struct field *f, const struct token_list *list,
                               struct query **out)
{
    struct bool_build all = {0};
    enum err e = ERR_OK;
    for (size_t i = 0, next; i < list->n && e == ERR_OK; i = next) {
        for (next = i + 1; next < list->n && list->v[next].pos_inc <= 0; next++) {
        }
        bool last = next == list->n;
        struct query *q;
        e = one_position(r, f, &list->v[i], next - i, last, &q);
        if (e == ERR_OK && i == 0 && last && next == 1) {
            *out = q;
            return ERR_OK;
        }
        e = e == ERR_OK ? bool_add(r->b, &all, r->q->and ? OCCUR_MUST : OCCUR_SHOULD, q, r->em) : e;
    }
    return e == ERR_OK ? bool_done(r->b, &all, out, r->em) : e;
}

enum err string_prefix(struct string_run *r, const struct field *f, struct str text, struct query **out)
{
    const struct analyzer *an = r->analyzer != NULL          ? r->analyzer
                                : f->search_analyzer != NULL ? f->search_analyzer
                                                             : f->normalizer;
    struct token_list list;
    *out = NULL;
    if (f->class->text == FIELD_TEXT_NONE) {
        return err_set(r->em, ERR_UNSUPPORTED, "Field [%.*s] of type [%s] has no analyzer", STR_ARG(f->path),
                       field_shown_type(f));
    }
    if (an == NULL) {
        return prefix_node(r, f, text, out);
    }
    token_list_init(&list, r->b->arena);
    enum err e = analyzer_run(an, text, &list, r->em);
    return e != ERR_OK || list.n == 0 ? e : over_positions(r, f, &list, out);
}
