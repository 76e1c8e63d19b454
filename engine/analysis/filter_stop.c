/* Filters that drop tokens by a list: stop, keep, keep_types; and by measure: length, limit. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"

struct word_filter {
    struct token_filter base;
    struct word_set words;
    bool include;
};

static bool not_stopped(const void *cx, const struct token *t)
{
    return !word_set_has(cx, t->text);
}

static enum err apply_stop(const struct token_filter *self, struct token_list *l, UNUSED struct errmsg *em)
{
    tokens_keep(l, not_stopped, &((const struct word_filter *)self)->words);
    return ERR_OK;
}

/* Leaves a stop word that ends the text: somebody may still be typing it. */
static enum err apply_stop_but_last(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct word_filter *f = (const struct word_filter *)self;
    if (l->n == 0 || l->v[l->n - 1].end < l->end_offset || !word_set_has(&f->words, l->v[l->n - 1].text)) {
        return apply_stop(self, l, em);
    }
    struct token last = l->v[--l->n];
    int32_t end = l->end_pos_inc;
    l->end_pos_inc = 0;
    tokens_keep(l, not_stopped, &f->words);
    last.pos_inc += l->end_pos_inc;
    last.keyword = true;
    l->v[l->n++] = last;
    l->end_pos_inc = end;
    return ERR_OK;
}

PART_FACTORY(stop_filter_new)
{
    struct word_filter *f = ARENA_NEW(arena, struct word_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    bool found, remove_trailing;
    enum err e = settings_bool(s, "ignore_case", false, &f->words.ignore_case, em);
    e = e == ERR_OK ? settings_bool(s, "remove_trailing", true, &remove_trailing, em) : e;
    e = e == ERR_OK ? word_set_read(&f->words, &found, s, "stopwords", true, env, arena, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    bool known;
    if (!found && !word_set_add_named(&f->words, arena, STR("_english_"), &known)) {
        return err_no_memory(em);
    }
    f->base.apply = remove_trailing ? apply_stop : apply_stop_but_last;
    f->base.shows_keyword = !remove_trailing;
    *out = &f->base;
    return ERR_OK;
}

static bool is_kept_word(const void *cx, const struct token *t)
{
    return word_set_has(cx, t->text);
}

static enum err apply_keep(const struct token_filter *self, struct token_list *l, UNUSED struct errmsg *em)
{
    tokens_keep(l, is_kept_word, &((const struct word_filter *)self)->words);
    return ERR_OK;
}

PART_FACTORY(keep_filter_new)
{
    const struct setting *list = settings_find(s, STR("keep_words"));
    bool has_path = settings_find(s, STR("keep_words_path")) != NULL;
    bool has_list = list != NULL || settings_find(s, STR("keep_words.0")) != NULL;
    if (has_list == has_path) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "keep requires either `keep_words` or `keep_words_path` to be configured");
    }
    if (settings_find(s, STR("enable_position_increments")) != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "enable_position_increments is not supported anymore. Please fix your analysis chain");
    }
    struct word_filter *f = ARENA_NEW(arena, struct word_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    bool found;
    enum err e = settings_bool(s, "keep_words_case", false, &f->words.ignore_case, em);
    e = e == ERR_OK ? word_set_read(&f->words, &found, s, "keep_words", true, env, arena, em) : e;
    f->base.apply = apply_keep;
    *out = &f->base;
    return e;
}

static bool has_type(const void *cx, const struct token *t)
{
    const struct word_filter *f = cx;
    return map_has(&f->words.words, str_of(t->type)) == f->include;
}

static enum err apply_types(const struct token_filter *self, struct token_list *l, UNUSED struct errmsg *em)
{
    tokens_keep(l, has_type, self);
    return ERR_OK;
}

PART_FACTORY(keep_types_filter_new)
{
    struct str mode = settings_str(s, "mode", STR("include"));
    bool include = str_eq_nocase(mode, STR("include"));
    struct word_filter *f = ARENA_NEW(arena, struct word_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    bool found;
    enum err e = word_set_read(&f->words, &found, s, "types", false, env, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    if (f->words.words.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "keep_types requires `types` to be configured");
    }
    if (!include && !str_eq_nocase(mode, STR("exclude"))) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "`keep_types` tokenfilter mode can only be [include] or [exclude] but was [%.*s].",
                       STR_ARG(mode));
    }
    f->include = include;
    f->base.apply = apply_types;
    *out = &f->base;
    return ERR_OK;
}

struct measure_filter {
    struct token_filter base;
    int32_t min, max;
    bool consume_all;
};

static bool has_length(const void *cx, const struct token *t)
{
    const struct measure_filter *f = cx;
    size_t n = part_is_ascii(t->text) ? t->text.n : utf16_length(t->text);
    return n >= (size_t)f->min && n <= (size_t)f->max;
}

static enum err apply_length(const struct token_filter *self, struct token_list *l, UNUSED struct errmsg *em)
{
    tokens_keep(l, has_length, self);
    return ERR_OK;
}

PART_FACTORY(length_filter_new)
{
    struct measure_filter *f = ARENA_NEW(arena, struct measure_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    enum err e = part_int(s, "min", 0, &f->min, em);
    e = e == ERR_OK ? part_int(s, "max", INT32_MAX, &f->max, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (f->min < 0) {
        return err_set(em, ERR_PART_UNUSABLE, "minimum length must be greater than or equal to zero");
    }
    if (f->min > f->max) {
        return err_set(em, ERR_PART_UNUSABLE, "maximum length must not be greater than minimum length");
    }
    f->base.apply = apply_length;
    *out = &f->base;
    return ERR_OK;
}

static enum err apply_limit(const struct token_filter *self, struct token_list *l, UNUSED struct errmsg *em)
{
    const struct measure_filter *f = (const struct measure_filter *)self;
    if (l->n < (size_t)f->max) {
        return ERR_OK;
    }
    l->n = (size_t)f->max;
    if (!f->consume_all) { /* what is behind is never read */
        l->end_pos_inc = 0;
        l->end_offset = l->ends_at_token ? l->v[l->n - 1].end : l->end_offset;
    }
    return ERR_OK;
}

PART_FACTORY(limit_filter_new)
{
    struct measure_filter *f = ARENA_NEW(arena, struct measure_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    enum err e = part_int(s, "max_token_count", 1, &f->max, em);
    e = e == ERR_OK ? settings_bool(s, "consume_all_tokens", false, &f->consume_all, em) : e;
    if (e == ERR_OK && f->max < 1) {
        return err_set(em, ERR_PART_UNUSABLE, "maxTokenCount must be greater than zero");
    }
    f->base.apply = apply_limit;
    *out = &f->base;
    return e;
}
