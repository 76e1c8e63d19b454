/* The n-gram tokenizers: all runs of min to max characters, inside stretches of token characters. */
#include "common/base/utf8.h"
#include "common/settings/setting_read.h"
#include "engine/analysis/char_kind.h"
#include "engine/analysis/parts.h"

struct ngram_tokenizer {
    struct tokenizer base;
    int32_t min, max;
    bool edges; /* only those at the start of a stretch */
    bool any;   /* every character is a token character */
    uint32_t kinds;
    struct str custom;
};

static bool is_token_char(const struct ngram_tokenizer *t, uint32_t c)
{
    if (t->any || char_kind_has(t->kinds, c)) {
        return true;
    }
    for (size_t at = 0; at < t->custom.n;) {
        if (utf8_next(t->custom, &at) == c) {
            return true;
        }
    }
    return false;
}

/* The grams that start at byte `at`. */
static enum err grams_at(const struct ngram_tokenizer *t, struct str text, size_t at, struct token_list *out,
                         struct errmsg *em)
{
    size_t end = at;
    for (int32_t n = 1; n <= t->max && end < text.n && !token_stop(0); n++) {
        if (!is_token_char(t, utf8_next(text, &end))) {
            return ERR_OK;
        }
        struct token gram = {.text = str_slice(text, at, end),
                             .start = (uint32_t)at,
                             .end = (uint32_t)end,
                             .pos_inc = 1,
                             .pos_len = 1,
                             .type = "word"};
        if (n >= t->min && !token_add(out, gram)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err ngram_run(const struct tokenizer *self, struct str text, struct token_list *out,
                          struct errmsg *em)
{
    const struct ngram_tokenizer *t = (const struct ngram_tokenizer *)self;
    bool inside = false;
    enum err e = ERR_OK;
    for (size_t at = 0; at < text.n && e == ERR_OK;) {
        size_t from = at;
        bool part = is_token_char(t, utf8_next(text, &at));
        if (part && !(t->edges && inside)) {
            e = grams_at(t, text, from, out, em);
        }
        inside = part;
    }
    return e;
}

static enum err read_kinds(struct ngram_tokenizer *t, const struct settings *s, struct arena *arena,
                           struct errmsg *em)
{
    struct str *names;
    uint32_t n;
    if (!settings_list(s, "token_chars", arena, &names, &n)) {
        return err_no_memory(em);
    }
    t->any = n == 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t mask = char_kind_mask(names[i]);
        if (str_eq_nocase(names[i], STR("custom"))) {
            t->custom = arena_str(arena, settings_str(s, "custom_token_chars", STR("")));
            if (t->custom.p == NULL) {
                return err_no_memory(em);
            }
            if (settings_find(s, STR("custom_token_chars")) == NULL) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT,
                               "Token type: 'custom' requires setting `custom_token_chars`");
            }
        } else if (mask == 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown token type: '%.*s', must be one of [%s]",
                           STR_ARG(names[i]), char_kind_names());
        }
        t->kinds |= mask;
    }
    return ERR_OK;
}

enum err ngram_sizes(int32_t min, int32_t max, struct errmsg *em)
{
    if (min < 1) {
        return err_set(em, ERR_PART_UNUSABLE, "minGram must be greater than zero");
    }
    return min <= max ? ERR_OK : err_set(em, ERR_PART_UNUSABLE, "minGram must not be greater than maxGram");
}

enum err ngram_width(int32_t min, int32_t max, const struct analysis_env *env, struct errmsg *em)
{
    const int64_t most = setting_i64(env->index, SET_INDEX_MAX_NGRAM_DIFF);
    if ((int64_t)max - min > most) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "The difference between max_gram and min_gram in NGram Tokenizer must be less than or "
            "equal to: [%lld] but was "
            "[%d]. This limit can be set by changing the [index.max_ngram_diff] index level setting.",
            (long long)most, max - min);
    }
    return ERR_OK;
}

static enum err grams_new(struct ngram_tokenizer **out, const struct settings *s, struct arena *arena,
                          struct errmsg *em)
{
    struct ngram_tokenizer *t = ARENA_NEW(arena, struct ngram_tokenizer);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->base.run = ngram_run;
    *out = t;
    enum err e = part_int(s, "min_gram", 1, &t->min, em);
    return e == ERR_OK ? part_int(s, "max_gram", 2, &t->max, em) : e;
}

PART_FACTORY(ngram_tokenizer_new)
{
    struct ngram_tokenizer *t;
    enum err e = grams_new(&t, s, arena, em);
    e = e == ERR_OK ? ngram_width(t->min, t->max, env, em) : e;
    e = e == ERR_OK ? read_kinds(t, s, arena, em) : e;
    e = e == ERR_OK ? ngram_sizes(t->min, t->max, em) : e;
    *out = e == ERR_OK ? &t->base : NULL;
    return e;
}

PART_FACTORY(edge_ngram_tokenizer_new)
{
    struct ngram_tokenizer *t;
    enum err e = grams_new(&t, s, arena, em);
    if (e == ERR_OK) {
        t->edges = true;
        e = read_kinds(t, s, arena, em);
    }
    e = e == ERR_OK ? ngram_sizes(t->min, t->max, em) : e;
    *out = e == ERR_OK ? &t->base : NULL;
    return e;
}
