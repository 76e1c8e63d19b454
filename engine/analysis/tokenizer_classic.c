/* The classic tokenizer: Lucene's grammar of before Unicode's word breaks: words, acronyms, companies, mail
 * addresses, hosts, numbers. At each place the longest match counts, among equals the one that stands first
 * below. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"

#include <unicode/uchar.h>

struct classic {
    struct tokenizer base;
    uint32_t units_max; /* longer tokens are left out */
};

enum kind { KIND_OTHER, KIND_LETTER, KIND_DIGIT, KIND_CJ };

static bool is_cj(uint32_t c)
{
    return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3100 && c <= 0x312F) || (c >= 0x31F0 && c <= 0x31FF)
           || (c >= 0x3300 && c <= 0x337F) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x4E00 && c <= 0x9FFF)
           || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF65 && c <= 0xFF9F);
}

/* The grammar was made from Unicode 3.0. */
static bool is_known(uint32_t c)
{
    UVersionInfo age;
    u_charAge((UChar32)c, age);
    return age[0] < 3 || (age[0] == 3 && age[1] == 0);
}

static enum kind kind_of(uint32_t c)
{
    if (c < 0x80) {
        return (c | 32) >= 'a' && (c | 32) <= 'z' ? KIND_LETTER
               : c >= '0' && c <= '9'             ? KIND_DIGIT
                                                  : KIND_OTHER;
    }
    if (is_cj(c)) {
        return KIND_CJ;
    }
    if (c >= 0x0E00 && c <= 0x0E59) { /* Thai with its marks */
        return KIND_LETTER;
    }
    if (!is_known(c)) {
        return KIND_OTHER;
    }
    return u_isalpha((UChar32)c) ? KIND_LETTER : u_isdigit((UChar32)c) ? KIND_DIGIT : KIND_OTHER;
}

/* A run of letters and digits. */
struct segment {
    size_t end;
    size_t letters_end; /* of the letters that it begins with */
    bool has_digit;
    bool one_letter;
};

static struct segment segment_at(struct str s, size_t at)
{
    struct segment g = {.end = at, .letters_end = at};
    bool letters = true;
    for (size_t next = at, n = 0; next < s.n; n++) {
        uint32_t c = utf8_next(s, &next);
        enum kind k = kind_of(c);
        if (k != KIND_LETTER && k != KIND_DIGIT) {
            break;
        }
        letters &= k == KIND_LETTER;
        g.has_digit |= k == KIND_DIGIT && u_isdigit((UChar32)c);
        g.letters_end = letters ? next : g.letters_end;
        g.end = next;
        g.one_letter = n == 0 && letters;
    }
    return token_stop(g.end - at) ? (struct segment){.end = at, .letters_end = at} : g;
}

static bool is_char(struct str s, size_t at, const char *set)
{
    return at < s.n && s.p[at] != '\0' && strchr(set, s.p[at]) != NULL;
}

/* word ('x' word)+ with marks of a set between, or `at` when there is no second word. */
static size_t joined(struct str s, size_t at, const char *marks)
{
    size_t end = segment_at(s, at).end;
    bool any = false;
    while (is_char(s, end, marks)) {
        struct segment g = segment_at(s, end + 1);
        if (g.end == end + 1) {
            break;
        }
        end = g.end;
        any = true;
    }
    return any ? end : at;
}

static size_t letters_joined(struct str s, size_t at, const char *marks, bool once)
{
    size_t end = segment_at(s, at).letters_end;
    bool any = false;
    while (end > at && is_char(s, end, marks) && !(once && any)) {
        struct segment g = segment_at(s, end + 1);
        if (g.letters_end == end + 1) {
            break;
        }
        end = g.letters_end;
        any = true;
    }
    return any ? end : at;
}

/* (word '.') twice or more; only single letters for a proper acronym. */
static size_t dotted(struct str s, size_t at, bool letters)
{
    size_t end = at, parts = 0;
    for (;;) {
        struct segment g = segment_at(s, end);
        if (g.end == end || !is_char(s, g.end, ".") || (letters && !g.one_letter)) {
            break;
        }
        end = g.end + 1;
        parts++;
    }
    return parts >= 2 ? end : at;
}

static size_t mail(struct str s, size_t at)
{
    size_t end = segment_at(s, at).end;
    while (is_char(s, end, ".-_")) {
        struct segment g = segment_at(s, end + 1);
        if (g.end == end + 1) {
            return at;
        }
        end = g.end;
    }
    if (!is_char(s, end, "@") || segment_at(s, end + 1).end == end + 1) {
        return at;
    }
    size_t host = joined(s, end + 1, ".-");
    return host > end + 1 ? host : at;
}

/* Words with marks between, every other one of which has a digit. */
static size_t classic_number(struct str s, size_t at)
{
    struct segment g = segment_at(s, at);
    bool even = g.has_digit, odd = true; /* may the words at even and odd places be those? */
    size_t best = at, i = 1;
    while (is_char(s, g.end, "_-/.,")) {
        size_t from = g.end + 1;
        g = segment_at(s, from);
        if (g.end == from) {
            break;
        }
        even &= i % 2 == 1 || g.has_digit;
        odd &= i % 2 == 0 || g.has_digit;
        if (!even && !odd) {
            break;
        }
        best = g.end;
        i++;
    }
    return best;
}

static size_t scan(struct str s, size_t at, const char **type, bool *drop_dot)
{
    size_t next = at;
    enum kind k = kind_of(utf8_next(s, &next));
    *drop_dot = false;
    if (k == KIND_OTHER) {
        return at;
    }
    if (k == KIND_CJ) {
        *type = "<CJ>";
        return next;
    }
    const struct {
        size_t end;
        const char *type;
    } found[] = {
        {segment_at(s, at).end, "<ALPHANUM>"},
        {letters_joined(s, at, "'", false), "<APOSTROPHE>"},
        {dotted(s, at, true), "<ACRONYM>"},
        {letters_joined(s, at, "&@", true), "<COMPANY>"},
        {mail(s, at), "<EMAIL>"},
        {joined(s, at, "."), "<HOST>"},
        {classic_number(s, at), "<NUM>"},
        {dotted(s, at, false), "<HOST>"},
    };
    size_t best = 0;
    for (size_t i = 1; i < ARRAY_LEN(found); i++) {
        best = found[i].end > found[best].end ? i : best;
    }
    *drop_dot = best == ARRAY_LEN(found) - 1;
    *type = found[best].type;
    return found[best].end;
}

static enum err classic_run(const struct tokenizer *self, struct str text, struct token_list *out,
                            struct errmsg *em)
{
    const struct classic *t = (const struct classic *)self;
    int32_t inc = 1;
    for (size_t at = 0; at < text.n;) {
        const char *type = NULL;
        bool drop_dot;
        size_t end = scan(text, at, &type, &drop_dot);
        if (end == at) {
            utf8_next(text, &at);
            continue;
        }
        struct str word = str_slice(text, at, end - (drop_dot ? 1 : 0));
        if (utf16_length(str_slice(text, at, end)) > t->units_max) {
            inc++;
        } else {
            struct token tok = {.text = word,
                                .start = (uint32_t)at,
                                .end = (uint32_t)end,
                                .pos_inc = inc,
                                .pos_len = 1,
                                .type = type};
            inc = 1;
            if (!token_add(out, tok)) {
                return err_no_memory(em);
            }
        }
        at = end;
    }
    out->end_pos_inc = inc - 1;
    return ERR_OK;
}

PART_FACTORY(classic_tokenizer_new)
{
    struct classic *t = ARENA_NEW(arena, struct classic);
    int32_t max;
    enum err e = part_int(s, "max_token_length", 255, &max, em);
    if (t == NULL || e != ERR_OK) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    if (max < 1) {
        return err_set(em, ERR_PART_UNUSABLE, "maxTokenLength must be greater than zero");
    }
    t->base.run = classic_run;
    t->base.ends_at_token = true;
    t->units_max = (uint32_t)max;
    *out = &t->base;
    return ERR_OK;
}
