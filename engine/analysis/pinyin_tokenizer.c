/* The tokenizer: the whole text is one source. Its terms are sorted by position. Offsets are 0 unless
 * ignore_pinyin_offset is off. */
#include "engine/analysis/pinyin_int.h"

struct pinyin_tokenizer {
    struct tokenizer base;
    const struct dictionary *dict;
    struct pinyin_options options;
};

/* Byte offset of a unit; offsets outside the text are taken back into it. */
static uint32_t byte_at(const struct pinyin_work *w, int32_t unit)
{
    return w->at[MIN_OF((size_t)MAX_OF(unit, 0), w->n)];
}

static bool add_token(struct token_list *out, const struct pinyin_work *w, const struct pinyin_term *term,
                      int32_t last)
{
    struct token t = {
        .text = term->text, .pos_len = 1, .type = "word", .pos_inc = MAX_OF(term->position - last, 0)};
    if (!w->options->ignore_pinyin_offset) {
        int32_t start = MAX_OF(term->start, 0);
        int32_t end = term->end < start ? start + (int32_t)term->text.n : term->end;
        t.start = byte_at(w, start);
        t.end = byte_at(w, end);
    }
    return token_add(out, t);
}

static enum err tokenizer_run(const struct tokenizer *self, struct str text, struct token_list *out,
                              struct errmsg *em)
{
    const struct pinyin_tokenizer *t = (const struct pinyin_tokenizer *)self;
    struct pinyin_work w;
    out->end_pos_inc = 0;
    out->end_offset = 0;
    if (text.n > INT32_MAX / 8) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a text of [%zu] bytes is too long to analyze", text.n);
    }
    pinyin_work_init(&w, t->dict, &t->options, out->arena, true);
    if (!pinyin_work_run(&w, text)) {
        return err_no_memory(em);
    }
    if (!t->options.ignore_pinyin_offset) {
        out->end_offset = byte_at(&w, w.last_offset + 1);
    }
    if (w.blank) {
        return ERR_OK;
    }
    pinyin_work_sort(&w);
    int32_t last = 0;
    for (size_t i = 0; i < w.n_terms; i++) {
        if (!add_token(out, &w, &w.terms[i], last)) {
            return err_no_memory(em);
        }
        last = w.terms[i].position;
    }
    return ERR_OK;
}

PART_FACTORY(pinyin_tokenizer_new)
{
    if (env->pinyin == NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "no pinyin dictionary is loaded");
    }
    struct pinyin_tokenizer *t = ARENA_NEW(arena, struct pinyin_tokenizer);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->base.run = tokenizer_run;
    t->dict = env->pinyin;
    *out = &t->base;
    if (!str_is(settings_str(s, "type", part), "pinyin_first_letter")) {
        return pinyin_options_read(&t->options, s, em);
    }
    t->options = (struct pinyin_options){.keep_first_letter = true,
                                         .keep_none_chinese_together = true,
                                         .keep_none_chinese_in_first_letter = true,
                                         .lowercase = true,
                                         .trim_whitespace = true,
                                         .ignore_pinyin_offset = true,
                                         .limit_first_letter_length = 16};
    return ERR_OK;
}
