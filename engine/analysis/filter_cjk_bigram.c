/* The cjk_bigram filter: pairs of neighbouring Han, kana and Hangul characters. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"

struct bigram_filter {
    struct token_filter base;
    bool unigrams;
    bool ignored[4]; /* by script, in the order of `scripts` */
};

static const struct {
    const char *name, *type;
} scripts[] = {
    {"han", "<IDEOGRAPHIC>"}, {"hiragana", "<HIRAGANA>"}, {"katakana", "<KATAKANA>"}, {"hangul", "<HANGUL>"}};

struct bigramming {
    const struct bigram_filter *f;
    struct token_list chars, to; /* characters that touch each other; what comes out */
};

static bool cjk_bigram_put(struct bigramming *g, const struct token *a, const struct token *b, int32_t inc)
{
    struct token t = *a;
    t.pos_inc = inc;
    t.pos_len = 1;
    t.keyword = false;
    t.type = "<SINGLE>";
    if (b != NULL) {
        /* Characters of one run lie in the tokens' own texts: side by side only when those do. */
        t.text = b->text.p == a->text.p + a->text.n
                     ? str_mk(a->text.p, a->text.n + b->text.n)
                     : arena_printf(g->to.arena, "%.*s%.*s", STR_ARG(a->text), STR_ARG(b->text));
        t.end = b->end;
        t.type = "<DOUBLE>";
        t.pos_len = inc == 0 ? 2 : 1;
    }
    return t.text.p != NULL && token_add(&g->to, t);
}

static bool flush(struct bigramming *g)
{
    const struct token *c = g->chars.v;
    size_t n = g->chars.n;
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        bool pair = i + 1 < n;
        if (g->f->unigrams || n == 1) {
            ok = cjk_bigram_put(g, &c[i], NULL, 1) && (!pair || cjk_bigram_put(g, &c[i], &c[i + 1], 0));
        } else if (pair) {
            ok = cjk_bigram_put(g, &c[i], &c[i + 1], 1);
        }
    }
    g->chars.n = 0;
    return ok;
}

static bool take_chars(struct bigramming *g, const struct token *t)
{
    bool exact = t->end - t->start == t->text.n;
    for (size_t at = 0; at < t->text.n;) {
        size_t from = at;
        struct token c = *t;
        utf8_next(t->text, &at);
        c.text = str_slice(t->text, from, at);
        if (exact) {
            c.start = t->start + (uint32_t)from;
            c.end = t->start + (uint32_t)at;
        }
        if (!token_add(&g->chars, c)) {
            return false;
        }
    }
    return true;
}

static bool is_bigrammed(const struct bigram_filter *f, const char *type)
{
    for (size_t i = 0; i < ARRAY_LEN(scripts); i++) {
        if (!f->ignored[i] && strcmp(type, scripts[i].type) == 0) {
            return true;
        }
    }
    return false;
}

static enum err cjk_bigram_apply(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    struct bigramming g = {.f = (const struct bigram_filter *)self};
    uint32_t end = UINT32_MAX;
    token_list_init(&g.chars, l->arena);
    token_list_init(&g.to, l->arena);
    for (size_t i = 0; token_next(l, i); i++) {
        const struct token *t = &l->v[i];
        bool taken = is_bigrammed(g.f, t->type), ok = true;
        if (!taken || t->start != end) {
            ok = flush(&g);
        }
        if (taken) {
            ok = ok && take_chars(&g, t);
            end = t->end;
        } else {
            ok = ok && token_add(&g.to, *t);
        }
        if (!ok) {
            return err_no_memory(em);
        }
    }
    if (!flush(&g)) {
        return err_no_memory(em);
    }
    token_list_take(l, &g.to);
    return ERR_OK;
}

PART_FACTORY(cjk_bigram_filter_new)
{
    struct bigram_filter *f = ARENA_NEW(arena, struct bigram_filter);
    struct str *ignored;
    uint32_t n;
    if (f == NULL || !settings_list(s, "ignored_scripts", arena, &ignored, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < ARRAY_LEN(scripts); k++) {
            f->ignored[k] |= str_is(ignored[i], scripts[k].name);
        }
    }
    f->base.apply = cjk_bigram_apply;
    *out = &f->base;
    enum err e = settings_bool(s, "output_unigrams", false, &f->unigrams, em);
    f->base.synonym_use = f->unigrams ? SYNONYM_USE_REFUSED : SYNONYM_USE_SELF;
    return e;
}
