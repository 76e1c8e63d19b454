/* Filters that change single characters: lowercase, uppercase, decimal_digit, reverse. */
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"

#include <unicode/uchar.h>

struct char_map {
    struct token_filter base;
    uint32_t (*map)(uint32_t c);
};

/* ASCII capitals become small in one pass over the token; what has other characters goes the general way. */
static bool lower_token(struct token *t, struct arena *arena)
{
    size_t i = 0;
    unsigned char seen = 0;
    bool capitals = false;
    for (; i < t->text.n; i++) {
        unsigned char c = (unsigned char)t->text.p[i];
        seen |= c;
        capitals |= c >= 'A' && c <= 'Z';
    }
    if (!capitals && seen < 0x80) {
        return true;
    }
    if (seen >= 0x80) {
        t->text = part_lower(arena, t->text);
        return t->text.p != NULL;
    }
    char *to = arena_alloc(arena, t->text.n);
    if (to == NULL) {
        return false;
    }
    for (i = 0; i < t->text.n; i++) {
        char c = t->text.p[i];
        to[i] = (char)(c + ((c >= 'A' && c <= 'Z') << 5));
    }
    t->text.p = to;
    return true;
}

static enum err apply_lower(UNUSED const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        if (!lower_token(&l->v[i], l->arena)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err apply_map(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct char_map *f = (const struct char_map *)self;
    for (size_t i = 0; token_next(l, i); i++) {
        struct str from = l->v[i].text;
        char *to = arena_alloc(l->arena, from.n * 2 + 4);
        if (to == NULL) {
            return err_no_memory(em);
        }
        size_t n = 0;
        for (size_t at = 0; at < from.n;) {
            n += utf8_put(to + n, f->map(utf8_next(from, &at)));
        }
        l->v[i].text = str_mk(to, n);
    }
    return ERR_OK;
}

static uint32_t ascii_digit(uint32_t c)
{
    if (c >= 0x80 && u_charType((UChar32)c) == U_DECIMAL_DIGIT_NUMBER) {
        return '0' + (uint32_t)u_charDigitValue((UChar32)c);
    }
    return c;
}

/* Turkish: I and İ have small letters of their own; a dot above behind I (marks between them allowed) goes
 * with it. */
static bool dot_follows(struct str s, size_t at)
{
    while (at < s.n) {
        uint32_t c = utf8_next(s, &at);
        if (c == 0x307) {
            return true;
        }
        if (u_charType((UChar32)c) != U_NON_SPACING_MARK) {
            return false;
        }
    }
    return false;
}

static enum err apply_turkish(UNUSED const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        struct str from = l->v[i].text;
        char *to = arena_alloc(l->arena, from.n * 2 + 4);
        if (to == NULL) {
            return err_no_memory(em);
        }
        size_t n = 0;
        bool drop_dot = false;
        for (size_t at = 0; at < from.n;) {
            uint32_t c = utf8_next(from, &at);
            if (c == 'I') {
                drop_dot = dot_follows(from, at);
                c = drop_dot ? 'i' : 0x131;
            } else if (c == 0x307 && drop_dot) {
                drop_dot = false;
                continue;
            } else {
                c = part_lower_char(c);
            }
            n += utf8_put(to + n, c);
        }
        l->v[i].text = str_mk(to, n);
    }
    return ERR_OK;
}

static bool is_vowel(uint32_t c)
{
    switch (c) {
    case 'A':
    case 'E':
    case 'I':
    case 'O':
    case 'U':
    case 0xC1:
    case 0xC9:
    case 0xCD:
    case 0xD3:
    case 0xDA:
        return true;
    default:
        return false;
    }
}

/* Irish: a prefixed n or t before a capital vowel gets a hyphen: nAthair, n-athair. */
static enum err apply_irish(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        struct str s = l->v[i].text;
        size_t at = 1;
        if (s.n > 1 && (s.p[0] == 'n' || s.p[0] == 't') && is_vowel(utf8_next(s, &at))) {
            struct str with = arena_printf(l->arena, "%c-%.*s", s.p[0], (int)(s.n - 1), s.p + 1);
            if (with.p == NULL) {
                return err_no_memory(em);
            }
            l->v[i].text = with;
        }
    }
    return apply_lower(self, l, em);
}

static uint32_t greek_lower(uint32_t c)
{
    switch (c) {
    case 0x3C2: /* small final sigma */
        return 0x3C3;
    case 0x386: /* capital alpha with tonos */
    case 0x3AC:
        return 0x3B1;
    case 0x388:
    case 0x3AD:
        return 0x3B5;
    case 0x389:
    case 0x3AE:
        return 0x3B7;
    case 0x38A:
    case 0x3AA:
    case 0x3AF:
    case 0x3CA:
    case 0x390:
        return 0x3B9;
    case 0x38E:
    case 0x3AB:
    case 0x3CD:
    case 0x3CB:
    case 0x3B0:
        return 0x3C5;
    case 0x38C:
    case 0x3CC:
        return 0x3BF;
    case 0x38F:
    case 0x3CE:
        return 0x3C9;
    case 0x3A2: /* reserved; kept */
        return 0x3C2;
    default:
        return part_lower_char(c);
    }
}

static enum err map_new(const void **out, struct arena *arena, uint32_t (*map)(uint32_t), struct errmsg *em)
{
    struct char_map *f = ARENA_NEW(arena, struct char_map);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = apply_map;
    f->base.normal = &f->base;
    f->map = map;
    *out = &f->base;
    return ERR_OK;
}

PART_FACTORY(lowercase_filter_new)
{
    struct str language = settings_str(s, "language", STR_NULL);
    if (str_eq_nocase(language, STR("greek"))) {
        return map_new(out, arena, greek_lower, em);
    }
    bool irish = str_eq_nocase(language, STR("irish")), turkish = str_eq_nocase(language, STR("turkish"));
    if (language.p != NULL && !irish && !turkish) {
        return err_set(em, ERR_PART_UNUSABLE, "language [%.*s] not support for lower case",
                       STR_ARG(language));
    }
    struct token_filter *f = ARENA_NEW(arena, struct token_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->apply = irish ? apply_irish : turkish ? apply_turkish : apply_lower;
    f->normal = f;
    *out = f;
    return ERR_OK;
}

PART_FACTORY(uppercase_filter_new)
{
    return map_new(out, arena, part_upper_char, em);
}

PART_FACTORY(decimal_digit_filter_new)
{
    return map_new(out, arena, ascii_digit, em);
}

static enum err apply_reverse(UNUSED const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        struct str from = l->v[i].text;
        char *to = arena_alloc(l->arena, from.n + 1);
        if (to == NULL) {
            return err_no_memory(em);
        }
        size_t n = 0;
        for (size_t at = from.n; at > 0;) {
            size_t end = at;
            utf8_prev(from, &at);
            memcpy(to + n, from.p + at, end - at);
            n += end - at;
        }
        l->v[i].text = str_mk(to, n);
    }
    return ERR_OK;
}

PART_FACTORY(reverse_filter_new)
{
    struct token_filter *f = ARENA_NEW(arena, struct token_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->apply = apply_reverse;
    *out = f;
    return ERR_OK;
}
