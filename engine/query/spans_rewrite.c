/* Beginnings and patterns among spans: replaced by the terms that there are. */
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"
#include "engine/query/spans.h"

struct expansion {
    struct weight_shared *sh;
    const struct query *q;
    struct errmsg *em;
};

/* Any of the terms; one of them alone where `single` says so. */
static enum err any_of(const struct expansion *x, const struct span_part *part, const struct str *terms,
                       size_t n, bool single, struct span_part *out)
{
    struct span_part *v = ARENA_ARRAY(x->sh->cx.arena, struct span_part, MAX_OF(n, (size_t)1));
    if (v == NULL) {
        return err_no_memory(x->em);
    }
    for (size_t i = 0; i < n; i++) {
        v[i] = (struct span_part){
            .kind = SPAN_TERM, .term = terms[i], .field = part->field, .mapped = part->mapped};
    }
    *out = n == 1 && single
               ? v[0]
               : (struct span_part){
                   .kind = SPAN_OR, .v = v, .n = (uint32_t)n, .field = part->field, .mapped = part->mapped};
    return ERR_OK;
}

static enum err expand_beginning(const struct expansion *x, const struct span_part *part,
                                 struct span_part *out)
{
    struct prefix_terms p = {.arena = x->sh->cx.arena, .max = x->q->spans.max_expansions};
    terms_with_prefix(x->sh, x->q->field_name, part->term, &p);
    return p.failed ? err_no_memory(x->em) : any_of(x, part, p.v, p.n, true, out);
}

static enum err expand_pattern(const struct expansion *x, const struct span_part *part, struct span_part *out)
{
    struct arena *a = x->sh->cx.arena;
    struct str *terms = NULL;
    size_t n = 0;
    bool best = query_takes_best_terms(part->multi);
    enum err e = terms_of_pattern(x->sh, part->multi, &terms, &n, x->em);
    if (e != ERR_OK) {
        return e;
    }
    if (n > 0 || best) {
        return any_of(x, part, terms, n, !best, out);
    }
    struct str text = query_text(part->multi, a);
    *out = (struct span_part){.kind = SPAN_NONE, .field = part->field, .mapped = part->mapped};
    out->term = arena_printf(a, "no expansion found for %.*s", STR_ARG(text));
    return out->term.p != NULL ? ERR_OK : err_no_memory(x->em);
}

/* The part with the terms that there are. */
static enum err expand_span(const struct expansion *x, const struct span_part *part, struct span_part *out)
{
    if (part->kind == SPAN_PREFIX) {
        return expand_beginning(x, part, out);
    }
    if (part->kind == SPAN_MULTI) {
        return expand_pattern(x, part, out);
    }
    *out = *part;
    if (part->n == 0) {
        return ERR_OK;
    }
    struct span_part *v = ARENA_ARRAY(x->sh->cx.arena, struct span_part, part->n);
    enum err e = v != NULL ? ERR_OK : err_no_memory(x->em);
    for (uint32_t i = 0; e == ERR_OK && i < part->n; i++) {
        e = expand_span(x, &part->v[i], &v[i]);
    }
    out->v = v;
    return e;
}

enum err spans_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                       struct errmsg *em)
{
    const struct expansion x = {sh, q, em};
    if (!q->spans.prefix) {
        return ERR_OK;
    }
    struct query *c = rewrite_copy(sh, q);
    struct span_part *root = ARENA_NEW(sh->cx.arena, struct span_part);
    if (c == NULL || root == NULL) {
        return err_no_memory(em);
    }
    enum err e = expand_span(&x, q->spans.root, root);
    c->spans.root = root;
    c->spans.prefix = false;
    *out = c;
    return e;
}
