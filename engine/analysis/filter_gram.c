/* Filters that join neighbours: shingle, common_grams, fingerprint. */
#include "common/base/memory_account.h"
#include "common/base/sort_items.h"
#include "common/base/utf8.h"
#include "common/settings/setting_read.h"
#include "engine/analysis/parts.h"

struct shingle_filter {
    struct token_filter base;
    int32_t min, max;
    bool unigrams, unigrams_if_none;
    struct str separator, filler;
};

/* The tokens with fillers in the gaps: what shingles are cut from. A filler has no type. */
struct shingling {
    const struct shingle_filter *f;
    struct token_list items, to;
};

static bool is_filler(const struct token *t)
{
    return t->type == NULL;
}

static bool add_fillers(struct shingling *g, int32_t n, uint32_t offset)
{
    struct token filler = {.text = g->f->filler, .start = offset, .end = offset, .pos_inc = 1, .pos_len = 1};
    for (int32_t i = 0; i < n && i < g->f->max - 1; i++) {
        if (!token_add(&g->items, filler)) {
            return false;
        }
    }
    return true;
}

static bool add_shingle(struct shingling *g, size_t from, size_t n, bool *here)
{
    const struct token *v = g->items.v + from;
    size_t bytes = 0, at = 0;
    bool real = false;
    for (size_t i = 0; i < n; i++) {
        bytes += v[i].text.n + (i > 0 ? g->f->separator.n : 0);
        real |= !is_filler(&v[i]);
    }
    if (!real) {
        return true;
    }
    struct token t = v[0];
    if (n > 1) {
        char *p = arena_alloc(g->to.arena, bytes + 1);
        if (p == NULL) {
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            struct str separator = i > 0 ? g->f->separator : STR("");
            memcpy(p + at, separator.p, separator.n);
            memcpy(p + at + separator.n, v[i].text.n > 0 ? v[i].text.p : "", v[i].text.n);
            at += separator.n + v[i].text.n;
        }
        t.text = str_mk(p, bytes);
        t.end = v[n - 1].end;
        t.type = "shingle";
        t.keyword = false;
    }
    t.pos_inc = *here ? 0 : 1;
    /* Without single words the smallest shingle is what spans one position. */
    size_t span = g->f->unigrams || n < (size_t)g->f->min ? n : n - (size_t)g->f->min + 1;
    t.pos_len = (uint16_t)span;
    *here = true;
    return token_add(&g->to, t);
}

static bool cut_shingles(struct shingling *g)
{
    const struct shingle_filter *f = g->f;
    size_t n = g->items.n;
    bool unigrams = f->unigrams || (f->unigrams_if_none && n < (size_t)f->min);
    for (size_t i = 0; token_next(&g->items, i); i++) {
        bool here = false;
        if (unigrams && !add_shingle(g, i, 1, &here)) {
            return false;
        }
        for (size_t k = (size_t)f->min; k <= (size_t)f->max && i + k <= n; k++) {
            if (!add_shingle(g, i, k, &here)) {
                return false;
            }
        }
    }
    return true;
}

static enum err apply_shingle(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    struct shingling g = {.f = (const struct shingle_filter *)self};
    token_list_init(&g.items, l->arena);
    token_list_init(&g.to, l->arena);
    for (size_t i = 0; token_next(l, i); i++) {
        if (!add_fillers(&g, l->v[i].pos_inc - 1, l->v[i].start) || !token_add(&g.items, l->v[i])) {
            return err_no_memory(em);
        }
    }
    if (!add_fillers(&g, l->end_pos_inc, l->end_offset) || !cut_shingles(&g)) {
        return err_no_memory(em);
    }
    token_list_take(l, &g.to);
    l->no_graph = l->no_graph || g.f->unigrams || g.f->min != g.f->max;
    return ERR_OK;
}

static enum err shingle_sizes(const struct shingle_filter *f, const struct analysis_env *env,
                              struct errmsg *em)
{
    const int64_t most = setting_i64(env->index, SET_INDEX_MAX_SHINGLE_DIFF),
                  diff = (int64_t)f->max - f->min + (f->unigrams ? 1 : 0);
    if (diff > most) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "In Shingle TokenFilter the difference between max_shingle_size and min_shingle_size "
            "(and +1 if outputting "
            "unigrams) must be less than or equal to: [%lld] but was [%lld]. This limit can be set "
            "by changing the "
            "[index.max_shingle_diff] index level setting.",
            (long long)most, (long long)diff);
    }
    if (f->max < 2) {
        return err_set(em, ERR_PART_UNUSABLE, "Max shingle size must be >= 2");
    }
    if (f->min < 2) {
        return err_set(em, ERR_PART_UNUSABLE, "Min shingle size must be >= 2");
    }
    if (f->min > f->max) {
        return err_set(em, ERR_PART_UNUSABLE, "Min shingle size must be <= max shingle size");
    }
    return ERR_OK;
}

PART_FACTORY(shingle_filter_new)
{
    struct shingle_filter *f = ARENA_NEW(arena, struct shingle_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = apply_shingle;
    f->base.synonym_use = SYNONYM_USE_REFUSED;
    *out = &f->base;
    f->separator = arena_str(arena, settings_str(s, "token_separator", STR(" ")));
    f->filler = arena_str(arena, settings_str(s, "filler_token", STR("_")));
    enum err e = f->separator.p != NULL && f->filler.p != NULL ? ERR_OK : err_no_memory(em);
    e = e == ERR_OK ? part_int(s, "min_shingle_size", 2, &f->min, em) : e;
    e = e == ERR_OK ? part_int(s, "max_shingle_size", 2, &f->max, em) : e;
    e = e == ERR_OK ? settings_bool(s, "output_unigrams", true, &f->unigrams, em) : e;
    if (e == ERR_OK) {
        e = settings_bool(s, "output_unigrams_if_no_shingles", false, &f->unigrams_if_none, em);
    }
    f->base.no_unigrams = !f->unigrams;
    e = e == ERR_OK ? shingle_sizes(f, env, em) : e;
    f->base.shingle_words = e == ERR_OK && settings_find(s, STR("type")) != NULL ? (uint32_t)f->max : 0;
    return e;
}

struct grams_filter {
    struct token_filter base;
    struct word_set common;
    bool query_mode;
};

#define GRAM_TYPE "gram"

static bool is_gram(const struct token *t)
{
    return strcmp(t->type, GRAM_TYPE) == 0;
}

/* Every token, with a pair behind each one that is common or comes before a common one. */
static bool pair_up(const struct grams_filter *f, const struct token_list *l, struct token_list *to)
{
    bool before = false; /* the last token was common */
    for (size_t i = 0; token_next(l, i); i++) {
        struct token t = l->v[i];
        bool common = word_set_has(&f->common, t.text);
        if (i > 0 && (before || common)) {
            struct str whole =
                arena_printf(l->arena, "%.*s_%.*s", STR_ARG(l->v[i - 1].text), STR_ARG(t.text));
            struct token gram = {.text = whole,
                                 .start = l->v[i - 1].start,
                                 .end = t.end,
                                 .pos_inc = 0,
                                 .pos_len = 2,
                                 .type = GRAM_TYPE};
            if (whole.p == NULL || !token_add(to, gram)) {
                return false;
            }
        }
        if (!token_add(to, t)) {
            return false;
        }
        before = common;
    }
    return true;
}

/* For queries: only the pairs, and the words that are in none. */
static void drop_paired(struct token_list *l)
{
    size_t n = 0;
    bool last_was_gram = false;
    struct token previous = {0};
    for (size_t i = 0; token_next(l, i); i++) {
        struct token t = l->v[i];
        if (i > 0 && !is_gram(&t)) {
            last_was_gram = is_gram(&previous);
            previous.pos_inc = last_was_gram ? 1 : previous.pos_inc;
            previous.pos_len = 1;
            l->v[n++] = previous;
        }
        previous = t;
    }
    if (l->n > 0 && !last_was_gram) {
        l->v[n++] = previous;
    }
    l->n = n;
}

static enum err apply_grams(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct grams_filter *f = (const struct grams_filter *)self;
    struct token_list to;
    token_list_init(&to, l->arena);
    if (!pair_up(f, l, &to)) {
        return err_no_memory(em);
    }
    if (f->query_mode) {
        drop_paired(&to);
    }
    token_list_take(l, &to);
    return ERR_OK;
}

PART_FACTORY(common_grams_filter_new)
{
    struct grams_filter *f = ARENA_NEW(arena, struct grams_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    bool found;
    enum err e = settings_bool(s, "ignore_case", false, &f->common.ignore_case, em);
    e = e == ERR_OK ? settings_bool(s, "query_mode", false, &f->query_mode, em) : e;
    e = e == ERR_OK ? word_set_read(&f->common, &found, s, "common_words", true, env, arena, em) : e;
    if (e == ERR_OK && f->common.words.n == 0 && !found) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "missing or empty [common_words] or [common_words_path] configuration for "
                       "common_grams token filter");
    }
    f->base.apply = apply_grams;
    f->base.synonym_use = SYNONYM_USE_REFUSED;
    *out = &f->base;
    return e;
}

struct fingerprint_filter {
    struct token_filter base;
    char separator;
    int32_t units_max;
};

static int token_order(const void *a, const void *b)
{
    return part_cmp_utf16(((const struct token *)a)->text, ((const struct token *)b)->text);
}

static enum err apply_fingerprint(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct fingerprint_filter *f = (const struct fingerprint_filter *)self;
    struct buf all;
    enum err e = ERR_OK;
    if (l->n == 0) {
        l->end_pos_inc = 1;
        return ERR_OK;
    }
    sort_items(l->v, l->n, sizeof(*l->v), token_order);
    memory_request_buf(&all);
    for (size_t i = 0; token_next(l, i); i++) {
        if (i > 0 && str_eq(l->v[i].text, l->v[i - 1].text)) {
            continue;
        }
        if (i > 0) {
            buf_char(&all, f->separator);
        }
        buf_str(&all, l->v[i].text);
    }
    struct str text = arena_str(l->arena, buf_view(&all));
    if (all.failed || text.p == NULL) {
        e = err_no_memory(em);
    }
    buf_fini(&all);
    l->n = 0;
    l->end_pos_inc = 1;
    if (e == ERR_OK && utf16_length(text) <= (size_t)f->units_max) {
        l->v[l->n++] = (struct token){
            .text = text, .end = l->end_offset, .pos_inc = 1, .pos_len = 1, .type = "fingerprint"};
    }
    return e;
}

PART_FACTORY(fingerprint_filter_new)
{
    struct fingerprint_filter *f = ARENA_NEW(arena, struct fingerprint_filter);
    struct str separator = settings_str(s, "separator", STR(" "));
    if (f == NULL) {
        return err_no_memory(em);
    }
    if (separator.n != 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Setting [separator] must be a single, non-null character. [%.*s] was provided.",
                       STR_ARG(separator));
    }
    f->separator = separator.p[0];
    f->base.apply = apply_fingerprint;
    f->base.synonym_use = SYNONYM_USE_REFUSED;
    *out = &f->base;
    return part_int(s, "max_output_size", 255, &f->units_max, em);
}
