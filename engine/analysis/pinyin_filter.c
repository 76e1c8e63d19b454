/* The token filter. Every token is replaced by its terms, at the token's offsets; their positions start
 * afresh with each token, so that the first may stand at the position before (increment 0) and gaps before
 * the token are forgotten.
 *
 * The plugin sorts terms by position for the first token that an instance of it meets, and never again.
 * Analyzers of indices have long met theirs; one that _analyze is given inline has not, unless its tokenizer
 * makes a token of the empty text (keyword), which is run through it when it is built. token_list.first_use
 * says so. */
#include "engine/analysis/pinyin_int.h"

struct pinyin_filter {
    struct token_filter base;
    const struct dictionary *dict;
    struct pinyin_options options;
};

struct option {
    const char *name;
    bool *to;
    bool otherwise;
};

enum err pinyin_options_read(struct pinyin_options *o, const struct settings *s, struct errmsg *em)
{
    const struct option options[] = {
        {"keep_first_letter", &o->keep_first_letter, true},
        {"keep_separate_first_letter", &o->keep_separate_first_letter, false},
        {"keep_full_pinyin", &o->keep_full_pinyin, true},
        {"keep_joined_full_pinyin", &o->keep_joined_full_pinyin, false},
        {"keep_none_chinese", &o->keep_none_chinese, true},
        {"keep_none_chinese_together", &o->keep_none_chinese_together, true},
        {"none_chinese_pinyin_tokenize", &o->none_chinese_pinyin_tokenize, true},
        {"keep_original", &o->keep_original, false},
        {"lowercase", &o->lowercase, true},
        {"trim_whitespace", &o->trim_whitespace, true},
        {"keep_none_chinese_in_first_letter", &o->keep_none_chinese_in_first_letter, true},
        {"keep_none_chinese_in_joined_full_pinyin", &o->keep_none_chinese_in_joined_full_pinyin, false},
        {"remove_duplicated_term", &o->remove_duplicated_term, false},
        {"fixed_pinyin_offset", &o->fixed_pinyin_offset, false},
        {"ignore_pinyin_offset", &o->ignore_pinyin_offset, true},
        {"keep_separate_chinese", &o->keep_separate_chinese, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(options); i++) {
        enum err e = settings_bool(s, options[i].name, options[i].otherwise, options[i].to, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    enum err e = settings_i64(s, "limit_first_letter_length", 16, &o->limit_first_letter_length, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!(o->keep_first_letter || o->keep_separate_first_letter || o->keep_full_pinyin
          || o->keep_joined_full_pinyin || o->keep_separate_chinese)) {
        return err_set(
            em, ERR_CONFIG_ERROR,
            "pinyin config error, can't disable separate_first_letter, first_letter and full_pinyin at the "
            "same time.");
    }
    return ERR_OK;
}

static bool add_terms(struct token_list *to, const struct token *from, const struct pinyin_work *w)
{
    int32_t last = 0;
    for (size_t i = 0; i < w->n_terms; i++) {
        struct token t = *from;
        t.text = w->terms[i].text;
        t.pos_inc = MAX_OF(w->terms[i].position - last, 0);
        last = w->terms[i].position;
        if (!token_add(to, t)) {
            return false;
        }
    }
    return true;
}

static enum err filter_apply(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct pinyin_filter *f = (const struct pinyin_filter *)self;
    struct pinyin_work w;
    struct token_list to;
    token_list_init(&to, l->arena);
    pinyin_work_init(&w, f->dict, &f->options, l->arena, false);
    for (size_t i = 0; token_next(l, i); i++) {
        const struct token *t = &l->v[i];
        if (!pinyin_work_run(&w, f->options.trim_whitespace ? text_trim(t->text) : t->text)) {
            return err_no_memory(em);
        }
        /* A token without terms stays; so does a blank one, whose terms come as well. */
        if ((w.blank || w.n_terms == 0) && !token_add(&to, *t)) {
            return err_no_memory(em);
        }
        if (l->first_use && i == 0) {
            pinyin_work_sort(&w);
        }
        if (!add_terms(&to, t, &w)) {
            return err_no_memory(em);
        }
    }
    token_list_take(l, &to);
    return ERR_OK;
}

PART_FACTORY(pinyin_filter_new)
{
    if (env->pinyin == NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "no pinyin dictionary is loaded");
    }
    struct pinyin_filter *f = ARENA_NEW(arena, struct pinyin_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = filter_apply;
    f->dict = env->pinyin;
    *out = &f->base;
    return pinyin_options_read(&f->options, s, em);
}
