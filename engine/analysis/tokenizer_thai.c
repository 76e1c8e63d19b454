/* The thai tokenizer: ICU's dictionary-based word boundaries. */
#include "engine/analysis/parts.h"

#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

static enum err take_words(UBreakIterator *words, struct str text, struct token_list *out, struct errmsg *em)
{
    int32_t from = ubrk_first(words), to;
    while ((to = ubrk_next(words)) != UBRK_DONE) {
        if (ubrk_getRuleStatus(words) >= UBRK_WORD_NONE_LIMIT) {
            struct token t = {.text = str_slice(text, (size_t)from, (size_t)to),
                              .start = (uint32_t)from,
                              .end = (uint32_t)to,
                              .pos_inc = 1,
                              .pos_len = 1,
                              .type = "word"};
            if (!token_add(out, t)) {
                return err_no_memory(em);
            }
        }
        from = to;
    }
    return ERR_OK;
}

static enum err thai_run(UNUSED const struct tokenizer *self, struct str text, struct token_list *out,
                         struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    UText *ut = utext_openUTF8(NULL, text.n > 0 ? text.p : "", (int64_t)text.n, &status);
    UBreakIterator *words = ubrk_open(UBRK_WORD, "th", NULL, 0, &status);
    ubrk_setUText(words, ut, &status);
    enum err e = U_FAILURE(status) ? err_no_memory(em) : take_words(words, text, out, em);
    ubrk_close(words);
    utext_close(ut);
    return e;
}

PART_FACTORY(thai_tokenizer_new)
{
    struct tokenizer *t = ARENA_NEW(arena, struct tokenizer);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->run = thai_run;
    *out = t;
    return ERR_OK;
}
