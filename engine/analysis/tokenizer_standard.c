/* The standard tokenizer: UAX #29 word boundaries in the form of Lucene's grammar, which keeps only what holds a
 * letter, a digit, an ideograph, a syllable or an emoji, takes the longest match at each place, and drops the rest
 * character by character. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/word_class.h"
#include "engine/analysis/word_scan.h"

#define TOKEN_UNITS_MAX 1048576

struct standard {
    struct tokenizer base;
    uint32_t units_max; /* longer tokens are cut: UTF-16 units */
};

/* End of a word of plain ASCII that starts at a letter, digit or '_' at `at`, or `at` itself when the general scanner
 * has to decide. */
static size_t ascii_word(struct str text, size_t at, size_t end, const char **type)
{
    const uint8_t *p = (const uint8_t *)text.p;
    uint8_t last = word_class_ascii[p[at]];
    bool letters = false, digits = false;
    size_t i = at;
    for (;;) {
        letters |= last == WC_LETTER;
        digits |= last == WC_NUMERIC;
        i++;
        if (i == end) {
            break;
        }
        if (p[i] >= 0x80) {
            return at;
        }
        uint8_t class = word_class_ascii[p[i]];
        if (class == WC_LETTER || class == WC_NUMERIC || class == WC_EXTEND_NUM_LET) {
            last = class;
            continue;
        }
        if (class == WC_OTHER || i + 1 == end || class == WC_DOUBLE_QUOTE) {
            break;
        }
        if (p[i + 1] >= 0x80) {
            return at;
        }
        /* '.', ':', ',' ... join only like with like */
        uint8_t next = word_class_ascii[p[i + 1]];
        bool joins_letters = last == WC_LETTER && next == WC_LETTER && class != WC_MID_NUM;
        bool joins_digits = last == WC_NUMERIC && next == WC_NUMERIC && class != WC_MID_LETTER;
        if (!joins_letters && !joins_digits) {
            break;
        }
    }
    if (!letters && !digits) {
        return at;
    }
    *type = letters ? "<ALPHANUM>" : "<NUM>";
    return i;
}

static enum err run(const struct tokenizer *self, struct str text, struct token_list *out, struct errmsg *em)
{
    const struct standard *t = (const struct standard *)self;
    size_t at = 0;
    while (at < text.n) {
        unsigned char c = (unsigned char)text.p[at];
        if (c < 0x80 && word_class_ascii[c] == WC_OTHER && c != '#' && c != '*') {
            at++;
            continue;
        }
        const char *type = NULL;
        size_t end = at;
        if (c < 0x80 && word_class_ascii[c] != WC_OTHER && word_class_ascii[c] <= WC_EXTEND_NUM_LET) {
            end = ascii_word(text, at, MIN_OF(text.n, at + t->units_max), &type);
        }
        if (end == at) {
            size_t limit = text.n - at > t->units_max ? at + part_units(str_slice(text, at, text.n), t->units_max) : text.n;
            end = word_scan(str_slice(text, 0, limit), at, &type);
        }
        if (end == at) {
            if (utf8_next(text, &at) >= 0x10000 && t->units_max == 1) {
                break; /* Lucene's scanner cannot get over a surrogate pair in a buffer of one */
            }
            continue;
        }
        struct token tok = {.text = str_slice(text, at, end),
                            .start = (uint32_t)at,
                            .end = (uint32_t)end,
                            .pos_inc = 1,
                            .pos_len = 1,
                            .type = type};
        if (!token_add(out, tok)) {
            return err_no_memory(em);
        }
        at = end;
    }
    return ERR_OK;
}

TOKENIZER_FACTORY(standard_tokenizer_new)
{
    (void)part, (void)env;
    int32_t max;
    enum err e = part_int(s, "max_token_length", 255, &max, em);
    if (e != ERR_OK) {
        return e;
    }
    if (max < 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "maxTokenLength must be greater than zero");
    }
    if (max > TOKEN_UNITS_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "maxTokenLength may not exceed %d", TOKEN_UNITS_MAX);
    }
    struct standard *t = ARENA_NEW(arena, struct standard);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->base.run = run;
    t->units_max = (uint32_t)max;
    *out = &t->base;
    return ERR_OK;
}
