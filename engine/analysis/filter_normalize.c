/* Filters that make spellings alike, letter by letter: asciifolding, the normalizations of languages,
 * cjk_width. */
#include "common/base/utf8.h"
#include "engine/analysis/fold_table.h"
#include "engine/analysis/parts.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>

struct fold_filter {
    struct token_filter base;
    struct token_filter plain; /* for single terms: without the original */
    bool preserve;
};

/* The folded text; the token's own when nothing folds, p == NULL: no memory. */
static struct str fold(struct str s, struct arena *arena)
{
    if (part_is_ascii(s)) {
        return s;
    }
    char *to = arena_alloc(arena, s.n * 3);
    size_t n = 0;
    if (to == NULL) {
        return STR_NULL;
    }
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        uint32_t c = utf8_next(s, &at);
        const char *with = c >= 0x80 ? ascii_fold(c) : NULL;
        size_t width = with != NULL ? strlen(with) : at - from;
        memcpy(to + n, with != NULL ? with : s.p + from, width);
        n += width;
    }
    return str_mk(to, n);
}

static enum err apply_fold(UNUSED const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        l->v[i].text = fold(l->v[i].text, l->arena);
        if (l->v[i].text.p == NULL) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err apply_fold_keeping(UNUSED const struct token_filter *self, struct token_list *l,
                                   struct errmsg *em)
{
    struct token_list to;
    token_list_init(&to, l->arena);
    for (size_t i = 0; token_next(l, i); i++) {
        struct token t = l->v[i];
        struct str original = t.text;
        t.text = fold(original, l->arena);
        if (t.text.p == NULL || !token_add(&to, t)) {
            return err_no_memory(em);
        }
        if (!str_eq(t.text, original)) {
            t.text = original;
            t.pos_inc = 0;
            if (!token_add(&to, t)) {
                return err_no_memory(em);
            }
        }
    }
    token_list_take(l, &to);
    return ERR_OK;
}

PART_FACTORY(asciifolding_filter_new)
{
    struct fold_filter *f = ARENA_NEW(arena, struct fold_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->plain.apply = apply_fold;
    f->base.apply = apply_fold;
    f->base.normal = &f->plain;
    *out = &f->base;
    enum err e = settings_bool(s, "preserve_original", false, &f->preserve, em);
    if (f->preserve) {
        f->base.apply = apply_fold_keeping;
        f->base.synonym_use = SYNONYM_USE_OTHER;
        f->base.synonym_other = &f->plain;
    }
    return e;
}

/* One letter and what stands for it. */
struct char_rule {
    uint16_t c;
    const char *to;
};

static const struct char_rule arabic_rules[] = {
    {0x622, "ا"}, {0x623, "ا"}, {0x625, "ا"}, {0x629, "ه"}, {0x640, ""}, {0x649, "ي"}, {0x64B, ""},
    {0x64C, ""},  {0x64D, ""},  {0x64E, ""},  {0x64F, ""},  {0x650, ""}, {0x651, ""},  {0x652, ""},
};

static const struct char_rule persian_rules[] = {
    {0x654, ""}, {0x6A9, "ك"}, {0x6C0, "ه"}, {0x6C1, "ه"}, {0x6CC, "ي"}, {0x6D2, "ي"},
};

static const struct char_rule serbian_rules[] = {
    {0x107, "c"}, {0x10D, "c"},  {0x111, "dj"}, {0x161, "s"},  {0x17E, "z"},  {0x430, "a"}, {0x431, "b"},
    {0x432, "v"}, {0x433, "g"},  {0x434, "d"},  {0x435, "e"},  {0x436, "z"},  {0x437, "z"}, {0x438, "i"},
    {0x43A, "k"}, {0x43B, "l"},  {0x43C, "m"},  {0x43D, "n"},  {0x43E, "o"},  {0x43F, "p"}, {0x440, "r"},
    {0x441, "s"}, {0x442, "t"},  {0x443, "u"},  {0x444, "f"},  {0x445, "h"},  {0x446, "c"}, {0x447, "c"},
    {0x448, "s"}, {0x452, "dj"}, {0x458, "j"},  {0x459, "lj"}, {0x45A, "nj"}, {0x45B, "c"}, {0x45F, "dz"},
};

struct rule_filter {
    struct token_filter base;
    const struct char_rule *rules; /* sorted */
    size_t n;
};

static const char *find_rule(const struct rule_filter *f, uint32_t c)
{
    for (size_t i = 0; i < f->n && f->rules[i].c <= c; i++) {
        if (f->rules[i].c == c) {
            return f->rules[i].to;
        }
    }
    return NULL;
}

static enum err apply_rules(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct rule_filter *f = (const struct rule_filter *)self;
    for (size_t i = 0; token_next(l, i); i++) {
        struct str s = l->v[i].text;
        char *to = part_is_ascii(s) ? NULL : arena_alloc(l->arena, s.n * 2);
        size_t n = 0;
        if (part_is_ascii(s)) {
            continue;
        }
        if (to == NULL) {
            return err_no_memory(em);
        }
        for (size_t at = 0; at < s.n;) {
            size_t from = at;
            const char *with = find_rule(f, utf8_next(s, &at));
            size_t width = with != NULL ? strlen(with) : at - from;
            memcpy(to + n, with != NULL ? with : s.p + from, width);
            n += width;
        }
        l->v[i].text = str_mk(to, n);
    }
    return ERR_OK;
}

static enum err rules_new(const void **out, const struct char_rule *rules, size_t n, struct arena *arena,
                          struct errmsg *em)
{
    struct rule_filter *f = ARENA_NEW(arena, struct rule_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    *f = (struct rule_filter){.base = {.apply = apply_rules, .normal = &f->base}, .rules = rules, .n = n};
    *out = &f->base;
    return ERR_OK;
}

PART_FACTORY(arabic_normalization_filter_new)
{
    return rules_new(out, arabic_rules, ARRAY_LEN(arabic_rules), arena, em);
}

PART_FACTORY(persian_normalization_filter_new)
{
    return rules_new(out, persian_rules, ARRAY_LEN(persian_rules), arena, em);
}

PART_FACTORY(serbian_normalization_filter_new)
{
    return rules_new(out, serbian_rules, ARRAY_LEN(serbian_rules), arena, em);
}

static enum err simple_new(const void **out,
                           enum err (*apply)(const struct token_filter *, struct token_list *,
                                             struct errmsg *),
                           struct arena *arena, struct errmsg *em)
{
    struct token_filter *f = ARENA_NEW(arena, struct token_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->apply = apply;
    f->normal = f;
    *out = f;
    return ERR_OK;
}

/* German: umlauts lose their dots, "ae", "oe", "ue" their e (not behind a vowel or q), sharp s becomes ss.
 * States as in the German2 variation of Snowball's stemmer: plain, behind a letter that may be written as an
 * umlaut, behind a vowel. */
static size_t german(struct str s, char *to)
{
    enum { PLAIN, UMLAUT, VOWEL } state = PLAIN;
    size_t n = 0;
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        uint32_t c = utf8_next(s, &at);
        switch (c) {
        case 'a':
        case 'o':
            state = UMLAUT;
            break;
        case 'u':
            state = state == PLAIN ? UMLAUT : VOWEL;
            break;
        case 'e':
            if (state == UMLAUT) {
                state = VOWEL;
                continue;
            }
            state = VOWEL;
            break;
        case 'i':
        case 'q':
        case 'y':
            state = VOWEL;
            break;
        case 0xE4:
        case 0xF6:
        case 0xFC:
            to[n++] = c == 0xE4 ? 'a' : c == 0xF6 ? 'o' : 'u';
            state = VOWEL;
            continue;
        case 0xDF:
            to[n++] = 's';
            to[n++] = 's';
            state = PLAIN;
            continue;
        default:
            state = PLAIN;
        }
        memcpy(to + n, s.p + from, at - from);
        n += at - from;
    }
    return n;
}

static enum err apply_german(UNUSED const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        char *to = arena_alloc(l->arena, l->v[i].text.n + 1);
        if (to == NULL) {
            return err_no_memory(em);
        }
        l->v[i].text = str_mk(to, german(l->v[i].text, to));
    }
    return ERR_OK;
}

PART_FACTORY(german_normalization_filter_new)
{
    return simple_new(out, apply_german, arena, em);
}

/* The Scandinavian vowel that one letter, or two where the second is a, e or o, is written for. *wide: both
 * letters are it. 0: none. */
static uint32_t scandinavian_vowel(uint32_t c, uint32_t next, bool *wide)
{
    uint32_t lower = next < 0x80 ? next | 0x20 : 0;
    bool upper = c == 'A' || c == 'O' || c == 0xC4 || c == 0xD6;
    uint32_t vowel = 0;
    *wide = false;
    if (c == 0xE4 || c == 0xC4) {
        vowel = 0xE6;
    } else if (c == 0xF6 || c == 0xD6) {
        vowel = 0xF8;
    } else if (c == 'a' || c == 'A') {
        vowel = lower == 'a' || lower == 'o' ? 0xE5 : lower == 'e' ? 0xE6 : 0;
        *wide = vowel != 0;
    } else if (c == 'o' || c == 'O') {
        vowel = lower == 'e' || lower == 'o' ? 0xF8 : 0;
        *wide = vowel != 0;
    }
    return vowel != 0 && upper ? vowel - 0x20 : vowel;
}

static uint32_t scandinavian_plain(uint32_t c)
{
    switch (c) {
    case 0xC4:
    case 0xC5:
    case 0xC6:
        return 'A';
    case 0xE4:
    case 0xE5:
    case 0xE6:
        return 'a';
    case 0xD6:
    case 0xD8:
        return 'O';
    case 0xF6:
    case 0xF8:
        return 'o';
    default:
        return c;
    }
}

static enum err scandinavian(struct token_list *l, bool plain, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        struct str s = l->v[i].text;
        char *to = arena_alloc(l->arena, 2 * s.n + 1);
        size_t n = 0;
        if (to == NULL) {
            return err_no_memory(em);
        }
        for (size_t at = 0; at < s.n;) {
            bool wide;
            uint32_t c = utf8_next(s, &at);
            uint32_t vowel = scandinavian_vowel(c, at < s.n ? (unsigned char)s.p[at] : 0, &wide);
            at += wide;
            c = vowel != 0 ? vowel : c;
            n += utf8_put(to + n, plain ? scandinavian_plain(c) : c);
        }
        l->v[i].text = str_mk(to, n);
    }
    return ERR_OK;
}

static enum err apply_scandinavian(UNUSED const struct token_filter *self, struct token_list *l,
                                   struct errmsg *em)
{
    return scandinavian(l, false, em);
}

static enum err apply_scandinavian_plain(UNUSED const struct token_filter *self, struct token_list *l,
                                         struct errmsg *em)
{
    return scandinavian(l, true, em);
}

PART_FACTORY(scandinavian_normalization_filter_new)
{
    return simple_new(out, apply_scandinavian, arena, em);
}

PART_FACTORY(scandinavian_folding_filter_new)
{
    return simple_new(out, apply_scandinavian_plain, arena, em);
}

/* Half-width katakana as their full-width forms, from U+FF65 on. */
static const uint16_t wide_kana[] = {
    0x30FB, 0x30F2, 0x30A1, 0x30A3, 0x30A5, 0x30A7, 0x30A9, 0x30E3, 0x30E5, 0x30E7, 0x30C3, 0x30FC,
    0x30A2, 0x30A4, 0x30A6, 0x30A8, 0x30AA, 0x30AB, 0x30AD, 0x30AF, 0x30B1, 0x30B3, 0x30B5, 0x30B7,
    0x30B9, 0x30BB, 0x30BD, 0x30BF, 0x30C1, 0x30C4, 0x30C6, 0x30C8, 0x30CA, 0x30CB, 0x30CC, 0x30CD,
    0x30CE, 0x30CF, 0x30D2, 0x30D5, 0x30D8, 0x30DB, 0x30DE, 0x30DF, 0x30E0, 0x30E1, 0x30E2, 0x30E4,
    0x30E6, 0x30E8, 0x30E9, 0x30EA, 0x30EB, 0x30EC, 0x30ED, 0x30EF, 0x30F3, 0x3099, 0x309A,
};

static uint32_t usual_width(uint32_t c)
{
    if (c >= 0xFF01 && c <= 0xFF5E) {
        return c - 0xFEE0;
    }
    return c >= 0xFF65 && c <= 0xFF9F ? wide_kana[c - 0xFF65] : c;
}

static size_t cjk_width(struct str s, char *to, const UNormalizer2 *nfc)
{
    size_t n = 0, last = 0; /* where the character before begins */
    uint32_t before = 0;
    for (size_t at = 0; at < s.n;) {
        uint32_t c = utf8_next(s, &at), wide = usual_width(c);
        bool mark = c == 0xFF9E || c == 0xFF9F;
        UChar32 whole = mark && before >= 0x30A6 && before <= 0x30FD
                            ? unorm2_composePair(nfc, (UChar32)before, (UChar32)wide)
                            : -1;
        if (whole >= 0) {
            n = last;
            wide = (uint32_t)whole;
        }
        last = n;
        n += utf8_put(to + n, wide);
        before = wide;
    }
    return n;
}

static enum err apply_cjk_width(UNUSED const struct token_filter *self, struct token_list *l,
                                struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    const UNormalizer2 *nfc = unorm2_getNFCInstance(&status);
    if (U_FAILURE(status)) {
        return err_no_memory(em);
    }
    for (size_t i = 0; token_next(l, i); i++) {
        struct str s = l->v[i].text;
        char *to = part_is_ascii(s) ? NULL : arena_alloc(l->arena, s.n + 3);
        if (to == NULL && !part_is_ascii(s)) {
            return err_no_memory(em);
        }
        if (to != NULL) {
            l->v[i].text = str_mk(to, cjk_width(s, to, nfc));
        }
    }
    return ERR_OK;
}

PART_FACTORY(cjk_width_filter_new)
{
    return simple_new(out, apply_cjk_width, arena, em);
}
