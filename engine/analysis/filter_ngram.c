/* The n-gram filters: grams of each token, at its position and with its offsets. */
#include "common/base/utf8.h"
#include "engine/analysis/grams.h"
#include "engine/analysis/parts.h"

struct ngram_filter {
    struct token_filter base;
    int32_t min, max;
    bool preserve;
    bool edges;
    bool back; /* edges at the end, by reversing twice */
};

struct gramming {
    const struct ngram_filter *f;
    struct token_list to;
    struct token t; /* the token that is cut up */
    int32_t inc;    /* for the next gram; what tokens without grams skipped is added */
};

static bool ngram_put(struct gramming *g, size_t from, size_t end)
{
    struct token gram = g->t;
    gram.text = str_slice(g->t.text, from, end);
    gram.pos_inc = g->inc;
    g->inc = 0;
    return token_add(&g->to, gram);
}

/* Grams that start at byte `from`. */
static bool put_from(struct gramming *g, size_t from)
{
    size_t end = from;
    for (int32_t n = 1; n <= g->f->max && end < g->t.text.n && !token_stop(0); n++) {
        utf8_next(g->t.text, &end);
        if (n >= g->f->min && !ngram_put(g, from, end)) {
            return false;
        }
    }
    return true;
}

static bool put_ending(struct gramming *g)
{
    size_t from = g->t.text.n;
    for (int32_t n = 1; n <= g->f->max && from > 0 && !token_stop(0); n++) {
        utf8_prev(g->t.text, &from);
        if (n >= g->f->min && !ngram_put(g, from, g->t.text.n)) {
            return false;
        }
    }
    return true;
}

static bool cut_up(struct gramming *g)
{
    const struct ngram_filter *f = g->f;
    struct str s = g->t.text;
    if (f->edges) {
        if (!(f->back ? put_ending(g) : put_from(g, 0))) {
            return false;
        }
    } else {
        for (size_t at = 0; at < s.n;) {
            if (!put_from(g, at)) {
                return false;
            }
            utf8_next(s, &at);
        }
    }
    if (!f->preserve) {
        return true;
    }
    size_t length = utf8_length(s);
    return (length >= (size_t)f->min && length <= (size_t)f->max) || ngram_put(g, 0, s.n);
}

static enum err ngram_apply(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    struct gramming g = {.f = (const struct ngram_filter *)self};
    token_list_init(&g.to, l->arena);
    for (size_t i = 0; token_next(l, i); i++) {
        g.t = l->v[i];
        g.inc += g.t.pos_inc;
        if (!cut_up(&g)) {
            return err_no_memory(em);
        }
    }
    token_list_take(l, &g.to);
    l->end_pos_inc = g.inc; /* Lucene's forget what was skipped behind the last token before them */
    return ERR_OK;
}

bool edge_grams(const struct token_list *in, int32_t min, int32_t max, struct token_list *out)
{
    struct ngram_filter f = {.min = min, .max = max, .edges = true};
    struct gramming g = {.f = &f, .to = *out};
    for (size_t i = 0; token_next(in, i); i++) {
        g.t = in->v[i];
        g.inc += g.t.pos_inc;
        if (!cut_up(&g)) {
            return false;
        }
    }
    g.to.end_pos_inc = g.inc;
    g.to.end_offset = in->end_offset;
    *out = g.to;
    return !stop_now();
}

static enum err grams_new(struct ngram_filter **out, const struct settings *s, int32_t max,
                          struct arena *arena, struct errmsg *em)
{
    struct ngram_filter *f = ARENA_NEW(arena, struct ngram_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = ngram_apply;
    f->base.synonym_use = SYNONYM_USE_REFUSED;
    *out = f;
    enum err e = part_int(s, "min_gram", 1, &f->min, em);
    e = e == ERR_OK ? part_int(s, "max_gram", max, &f->max, em) : e;
    return e == ERR_OK ? settings_bool(s, "preserve_original", false, &f->preserve, em) : e;
}

PART_FACTORY(ngram_filter_new)
{
    struct ngram_filter *f;
    enum err e = grams_new(&f, s, 2, arena, em);
    e = e == ERR_OK ? ngram_width(f->min, f->max, env, em) : e;
    e = e == ERR_OK ? ngram_sizes(f->min, f->max, em) : e;
    *out = e == ERR_OK ? &f->base : NULL;
    return e;
}

PART_FACTORY(edge_ngram_filter_new)
{
    struct ngram_filter *f;
    struct str side = settings_str(s, "side", STR("front"));
    bool back = str_is(side, "back");
    enum err e = back || str_is(side, "front")
                     ? ERR_OK
                     : err_set(em, ERR_ILLEGAL_ARGUMENT, "invalid side: %.*s", STR_ARG(side));
    e = e == ERR_OK ? grams_new(&f, s, 2, arena, em) : e;
    if (e == ERR_OK) {
        f->edges = true;
        f->back = back;
    }
    e = e == ERR_OK ? ngram_sizes(f->min, f->max, em) : e;
    *out = e == ERR_OK ? &f->base : NULL;
    return e;
}
