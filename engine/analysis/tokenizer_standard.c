/* The standard tokenizer: UAX #29 word boundaries in the form of Lucene's grammar, which keeps only what
 * holds a letter, a digit, an ideograph, a syllable or an emoji, takes the longest match at each place, and
 * drops the rest character by character. */
#include "common/base/stop.h"
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"
#include "engine/analysis/word_class.h"
#include "engine/analysis/word_scan.h"

#define TOKEN_UNITS_MAX   1048576
#define UTF8_BYTES_A_UNIT 3 /* at most, for a unit of UTF-16 */
#define BYTES_A_TOKEN     5 /* of English text, with the blank */

struct standard {
    struct tokenizer base;
    uint32_t units_max; /* longer tokens are cut: UTF-16 units */
};

/* End of a word of plain ASCII that starts at a letter, digit or '_' at `at`, or `at` itself when the general
 * scanner has to decide. */
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

/* The general scanner, which must not see more than units_max units: what it finds in the bytes that may hold
 * so many is right unless it is longer than that. */
static size_t scan(const struct standard *t, struct str text, size_t at, const char **type)
{
    size_t window = MIN_OF(text.n - at, (size_t)t->units_max * UTF8_BYTES_A_UNIT + 4);
    struct str seen = str_slice(text, 0, at + window);
    size_t end = word_scan(seen, at, type);
    if (end - at <= t->units_max || utf16_length(str_slice(text, at, end)) <= t->units_max) {
        return end;
    }
    struct str shown = str_slice(text, at, text.n);
    return word_scan(str_slice(text, 0, at + part_units(shown, t->units_max)), at, type);
}

static bool starts_nothing(unsigned char c)
{
    return c < 0x80 && (word_class_ascii[c] == WC_OTHER || word_class_ascii[c] > WC_EXTEND_NUM_LET)
           && c != '#' && c != '*';
}

static enum err standard_run(const struct tokenizer *self, struct str text, struct token_list *out,
                             struct errmsg *em)
{
    const struct standard *t = (const struct standard *)self;
    if (!token_reserve(out, text.n / BYTES_A_TOKEN + 1)) {
        return err_no_memory(em);
    }
    for (size_t at = 0; at < text.n;) {
        unsigned char c = (unsigned char)text.p[at];
        if (starts_nothing(c)) {
            at++;
            continue;
        }
        if (stop_often()) {
            break;
        }
        const char *type = NULL;
        size_t end = at;
        if (c < 0x80 && word_class_ascii[c] != WC_OTHER) {
            end = ascii_word(text, at, MIN_OF(text.n, at + t->units_max), &type);
        }
        if (end == at) {
            end = scan(t, text, at, &type);
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

PART_FACTORY(standard_tokenizer_new)
{
    int32_t max;
    enum err e = part_int(s, "max_token_length", 255, &max, em);
    if (e != ERR_OK) {
        return e;
    }
    if (max < 1) {
        return err_set(em, ERR_PART_UNUSABLE, "maxTokenLength must be greater than zero");
    }
    if (max > TOKEN_UNITS_MAX) {
        return err_set(em, ERR_PART_UNUSABLE, "maxTokenLength may not exceed %d", TOKEN_UNITS_MAX);
    }
    struct standard *t = ARENA_NEW(arena, struct standard);
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->base.run = standard_run;
    t->base.ends_at_token = true;
    t->units_max = (uint32_t)max;
    *out = &t->base;
    return ERR_OK;
}
