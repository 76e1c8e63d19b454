/* Tokenizers that look at one character at a time: keyword, whitespace, letter, lowercase, char_group. */
#include "common/base/utf8.h"
#include "engine/analysis/char_kind.h"
#include "engine/analysis/parts.h"

#include <unicode/uchar.h>

struct char_tokenizer {
    struct tokenizer base;
    bool (*is_part)(const struct char_tokenizer *t, uint32_t c);
    bool lower;
    uint32_t units_max;
    /* char_group */
    uint64_t ascii[2]; /* separators below 128 */
    uint32_t *others;
    size_t n_others;
    uint32_t kinds;
};

static bool char_token_add(struct token_list *out, struct str text, size_t from, size_t to)
{
    return token_add(out, (struct token){.text = str_slice(text, from, to),
                                         .start = (uint32_t)from,
                                         .end = (uint32_t)to,
                                         .pos_inc = 1,
                                         .pos_len = 1,
                                         .type = "word"});
}

static enum err run_keyword(UNUSED const struct tokenizer *self, struct str text, struct token_list *out,
                            struct errmsg *em)
{
    if (text.n == 0) { /* Lucene emits an empty token for an empty text */
        text = STR("");
    }
    return char_token_add(out, text, 0, text.n) ? ERR_OK : err_no_memory(em);
}

/* Cuts a token as Lucene's CharTokenizer: it ends as soon as it holds units_max units or more. */
static enum err run_chars(const struct tokenizer *self, struct str text, struct token_list *out,
                          struct errmsg *em)
{
    const struct char_tokenizer *t = (const struct char_tokenizer *)self;
    size_t start = 0, at = 0;
    uint32_t units = 0;
    while (at < text.n) {
        size_t from = at;
        uint32_t c = utf8_next(text, &at);
        if (t->is_part(t, c)) {
            if (units == 0) {
                start = from;
            }
            units += c >= 0x10000 ? 2 : 1;
            if (units < t->units_max) {
                continue;
            }
            from = at;
        }
        if (units > 0 && !char_token_add(out, text, start, from)) {
            return err_no_memory(em);
        }
        units = 0;
    }
    return units == 0 || char_token_add(out, text, start, text.n) ? ERR_OK : err_no_memory(em);
}

static enum err run_lower(const struct tokenizer *self, struct str text, struct token_list *out,
                          struct errmsg *em)
{
    enum err e = run_chars(self, text, out, em);
    for (size_t i = 0; token_next(out, i) && e == ERR_OK; i++) {
        out->v[i].text = part_lower(out->arena, out->v[i].text);
        e = out->v[i].text.p != NULL ? ERR_OK : err_no_memory(em);
    }
    return e;
}

static bool not_space(UNUSED const struct char_tokenizer *t, uint32_t c)
{
    return c < 0x80 ? !(c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F))
                    : !u_isWhitespace((UChar32)c);
}

static bool is_letter(UNUSED const struct char_tokenizer *t, uint32_t c)
{
    return part_is_letter(c);
}

static enum err chars_new(const void **out, const struct settings *s, struct arena *arena,
                          struct char_tokenizer **t, struct errmsg *em)
{
    int32_t max;
    enum err e = part_int(s, "max_token_length", 255, &max, em);
    if (e != ERR_OK) {
        return e;
    }
    if (max < 1 || max > 1048576) {
        return err_set(em, ERR_PART_UNUSABLE,
                       "maxTokenLen must be greater than 0 and less than 1048576 passed: %d", max);
    }
    *t = ARENA_NEW(arena, struct char_tokenizer);
    if (*t == NULL) {
        return err_no_memory(em);
    }
    (*t)->base.run = run_chars;
    (*t)->base.ends_at_token = true;
    (*t)->units_max = (uint32_t)max;
    *out = &(*t)->base;
    return ERR_OK;
}

PART_FACTORY(keyword_tokenizer_new)
{
    int32_t buffer;
    struct tokenizer *t = ARENA_NEW(arena, struct tokenizer);
    enum err e = part_int(s, "buffer_size", 256, &buffer, em);
    if (e != ERR_OK || t == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    if (buffer < 1 || buffer > 1048576) {
        return err_set(em, ERR_PART_UNUSABLE,
                       "maxTokenLen must be greater than 0 and less than 1048576 passed: %d", buffer);
    }
    t->run = run_keyword;
    *out = t;
    return ERR_OK;
}

PART_FACTORY(whitespace_tokenizer_new)
{
    struct char_tokenizer *t;
    enum err e = chars_new(out, s, arena, &t, em);
    if (e == ERR_OK) {
        t->is_part = not_space;
    }
    return e;
}

static enum err letters_new(const void **out, const struct settings *s, struct arena *arena,
                            struct char_tokenizer **t, struct errmsg *em)
{
    enum err e = chars_new(out, s, arena, t, em);
    if (e == ERR_OK) {
        (*t)->is_part = is_letter;
        (*t)->units_max = 255; /* the setting is read and left aside */
    }
    return e;
}

PART_FACTORY(letter_tokenizer_new)
{
    struct char_tokenizer *t;
    return letters_new(out, s, arena, &t, em);
}

PART_FACTORY(lowercase_tokenizer_new)
{
    struct char_tokenizer *t;
    enum err e = letters_new(out, s, arena, &t, em);
    if (e == ERR_OK) {
        t->base.run = run_lower;
    }
    return e;
}

static bool not_in_group(const struct char_tokenizer *t, uint32_t c)
{
    if (c < 128 && (t->ascii[c >> 6] >> (c & 63) & 1) != 0) {
        return false;
    }
    for (size_t i = 0; i < t->n_others; i++) {
        if (t->others[i] == c) {
            return false;
        }
    }
    return !char_kind_has(t->kinds, c);
}

static enum err bad_escape(struct str item, struct errmsg *em)
{
    return item.n > 1 && (item.p[1] & 0x80) == 0
               ? err_set(em, ERR_RUNTIME, "Invalid escaped char %c in [%.*s]", item.p[1], STR_ARG(item))
               : err_set(em, ERR_RUNTIME, "Invalid escaped char in [%.*s]", STR_ARG(item));
}

/* "\n", "\u0020" or the character itself. */
static enum err group_char(struct str item, uint32_t *c, struct errmsg *em)
{
    size_t at = 0;
    *c = utf8_next(item, &at);
    if (*c != '\\') {
        return at == item.n ? ERR_OK
                            : err_set(em, ERR_RUNTIME, "Invalid escaped char in [%.*s]", STR_ARG(item));
    }
    if (item.n == 1) {
        return bad_escape(item, em);
    }
    switch (item.p[1]) {
    case '\\':
        *c = '\\';
        return ERR_OK;
    case 'n':
        *c = '\n';
        return ERR_OK;
    case 't':
        *c = '\t';
        return ERR_OK;
    case 'r':
        *c = '\r';
        return ERR_OK;
    case 'b':
        *c = '\b';
        return ERR_OK;
    case 'f':
        *c = '\f';
        return ERR_OK;
    case 'u':
        if (item.n > 6) {
            return bad_escape(item, em);
        }
        *c = 0;
        for (size_t i = 2; i < item.n; i++) {
            int d = u_digit((unsigned char)item.p[i], 16);
            if (d < 0) {
                return bad_escape(item, em);
            }
            *c = *c << 4 | (uint32_t)d;
        }
        return ERR_OK;
    default:
        return bad_escape(item, em);
    }
}

static enum err group_add(struct char_tokenizer *t, struct str item, struct arena *arena, struct errmsg *em)
{
    static const char *const classes[] = {"letter", "digit", "whitespace", "punctuation", "symbol"};
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (str_is(item, classes[i])) {
            t->kinds |= char_kind_mask(item);
            return ERR_OK;
        }
    }
    if (item.n == 0) {
        return err_set(em, ERR_RUNTIME, "[tokenize_on_chars] cannot contain empty characters");
    }
    uint32_t c;
    enum err e = group_char(item, &c, em);
    if (e != ERR_OK) {
        return e;
    }
    if (c < 128) {
        t->ascii[c >> 6] |= (uint64_t)1 << (c & 63);
        return ERR_OK;
    }
    uint32_t *more = arena_alloc(arena, (t->n_others + 1) * sizeof(*more));
    if (more == NULL) {
        return err_no_memory(em);
    }
    if (t->n_others > 0) {
        memcpy(more, t->others, t->n_others * sizeof(*more));
    }
    more[t->n_others++] = c;
    t->others = more;
    return ERR_OK;
}

PART_FACTORY(char_group_tokenizer_new)
{
    struct char_tokenizer *t;
    struct str *items;
    uint32_t n;
    enum err e = chars_new(out, s, arena, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    t->is_part = not_in_group;
    t->base.hides_frequency = true;
    if (!settings_list(s, "tokenize_on_chars", arena, &items, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        e = group_add(t, items[i], arena, em);
    }
    return e;
}
