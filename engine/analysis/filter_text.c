/* Filters that shorten or drop what is in a token: trim, truncate, apostrophe, elision, classic, possessives,
 * payloads; and those that drop repeated tokens. */
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/utf8.h"
#include "engine/analysis/parts.h"

#include <unicode/uchar.h>

typedef enum err (*apply_fn)(const struct token_filter *, struct token_list *, struct errmsg *);

static enum err plain_new(const void **out, apply_fn apply, bool normal, struct arena *arena,
                          struct errmsg *em)
{
    struct token_filter *f = ARENA_NEW(arena, struct token_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->apply = apply;
    f->normal = normal ? f : NULL;
    *out = f;
    return ERR_OK;
}

static enum err apply_nothing(UNUSED const struct token_filter *self, UNUSED struct token_list *l,
                              UNUSED struct errmsg *em)
{
    return ERR_OK;
}

PART_FACTORY(identity_filter_new)
{
    return plain_new(out, apply_nothing, false, arena, em);
}

static enum err apply_trim(UNUSED const struct token_filter *self, struct token_list *l,
                           UNUSED struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        struct str s = l->v[i].text;
        size_t from = 0, to = s.n;
        for (size_t at = 0; at < s.n && u_isWhitespace((UChar32)utf8_next(s, &at));) {
            from = at;
        }
        for (size_t at = to; at > from && u_isWhitespace((UChar32)utf8_prev(s, &at));) {
            to = at;
        }
        l->v[i].text = str_slice(s, from, to);
    }
    return ERR_OK;
}

PART_FACTORY(trim_filter_new)
{
    return plain_new(out, apply_trim, true, arena, em);
}

struct truncate_filter {
    struct token_filter base;
    int32_t units;
};

/* Half of a surrogate pair that stays becomes U+FFFD, as when Lucene writes it to its index. */
static enum err apply_truncate(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct truncate_filter *f = (const struct truncate_filter *)self;
    for (size_t i = 0; token_next(l, i); i++) {
        struct str *s = &l->v[i].text;
        if (s->n <= (size_t)f->units) {
            continue;
        }
        size_t all = s->n;
        s->n = part_units(*s, (size_t)f->units);
        if (s->n < all && utf16_length(*s) < (size_t)f->units) {
            *s = arena_printf(l->arena, "%.*s\xEF\xBF\xBD", STR_ARG(*s));
            if (s->p == NULL) {
                return err_no_memory(em);
            }
        }
    }
    return ERR_OK;
}

PART_FACTORY(truncate_filter_new)
{
    struct truncate_filter *f = ARENA_NEW(arena, struct truncate_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    enum err e = part_int(s, "length", -1, &f->units, em);
    if (e == ERR_OK && f->units <= 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "length parameter must be provided");
    }
    f->base.apply = apply_truncate;
    f->base.shows_keyword = true;
    *out = &f->base;
    return e;
}

/* Byte of the first apostrophe, and the byte behind it; SIZE_MAX when there is none. */
static size_t find_apostrophe(struct str s, size_t *behind)
{
    for (size_t at = 0; at < s.n;) {
        size_t from = at;
        uint32_t c = utf8_next(s, &at);
        if (c == '\'' || c == 0x2019) {
            *behind = at;
            return from;
        }
    }
    return SIZE_MAX;
}

static enum err apply_apostrophe(UNUSED const struct token_filter *self, struct token_list *l,
                                 UNUSED struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        size_t behind;
        l->v[i].text = str_slice(l->v[i].text, 0, find_apostrophe(l->v[i].text, &behind));
    }
    return ERR_OK;
}

PART_FACTORY(apostrophe_filter_new)
{
    return plain_new(out, apply_apostrophe, false, arena, em);
}

struct elision_filter {
    struct token_filter base;
    struct word_set articles;
};

static enum err apply_elision(const struct token_filter *self, struct token_list *l, UNUSED struct errmsg *em)
{
    const struct elision_filter *f = (const struct elision_filter *)self;
    for (size_t i = 0; token_next(l, i); i++) {
        struct str s = l->v[i].text;
        size_t behind, at = find_apostrophe(s, &behind);
        if (at != SIZE_MAX && word_set_has(&f->articles, str_slice(s, 0, at))) {
            l->v[i].text = str_slice(s, behind, s.n);
        }
    }
    return ERR_OK;
}

PART_FACTORY(elision_filter_new)
{
    struct elision_filter *f = ARENA_NEW(arena, struct elision_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    bool found;
    enum err e = settings_bool(s, "articles_case", false, &f->articles.ignore_case, em);
    e = e == ERR_OK ? word_set_read(&f->articles, &found, s, "articles", false, env, arena, em) : e;
    if (e == ERR_OK && !found) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "elision filter requires [articles] or [articles_path] setting");
    }
    f->base.apply = apply_elision;
    f->base.normal = &f->base;
    *out = &f->base;
    return e;
}

static enum err apply_classic(UNUSED const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    for (size_t i = 0; token_next(l, i); i++) {
        struct token *t = &l->v[i];
        struct str s = t->text;
        if (strcmp(t->type, "<APOSTROPHE>") == 0 && s.n >= 2 && s.p[s.n - 2] == '\''
            && (s.p[s.n - 1] | 32) == 's') {
            t->text.n -= 2;
        } else if (strcmp(t->type, "<ACRONYM>") == 0) {
            char *to = arena_alloc(l->arena, s.n);
            size_t n = 0;
            if (to == NULL) {
                return err_no_memory(em);
            }
            for (size_t k = 0; k < s.n; k++) {
                if (s.p[k] != '.') {
                    to[n++] = s.p[k];
                }
            }
            t->text = str_mk(to, n);
        }
    }
    return ERR_OK;
}

PART_FACTORY(classic_filter_new)
{
    return plain_new(out, apply_classic, false, arena, em);
}

struct unique_filter {
    struct token_filter base;
    bool same_position;
};

/* Drops what was there before: anywhere, or at the same position. */
static enum err drop_repeated(struct token_list *l, bool same_position, struct errmsg *em)
{
    struct arena scratch;
    struct map seen;
    size_t n = 0;
    enum err e = ERR_OK;
    memory_request_arena(&scratch);
    map_init(&seen, &scratch);
    for (size_t i = 0; token_next(l, i) && e == ERR_OK; i++) {
        struct token t = l->v[i];
        if (same_position && t.pos_inc > 0) {
            arena_reset(&scratch);
            map_init(&seen, &scratch);
        } else if (map_has(&seen, t.text)) {
            continue;
        }
        e = map_put(&seen, t.text, l) ? ERR_OK : err_no_memory(em);
        l->v[n++] = t;
    }
    l->n = n;
    arena_fini(&scratch);
    return e;
}

static enum err apply_unique(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    return drop_repeated(l, ((const struct unique_filter *)self)->same_position, em);
}

PART_FACTORY(unique_filter_new)
{
    struct unique_filter *f = ARENA_NEW(arena, struct unique_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = apply_unique;
    *out = &f->base;
    return settings_bool(s, "only_on_same_position", false, &f->same_position, em);
}

static enum err apply_remove_duplicates(UNUSED const struct token_filter *self, struct token_list *l,
                                        struct errmsg *em)
{
    return drop_repeated(l, true, em);
}

PART_FACTORY(remove_duplicates_filter_new)
{
    return plain_new(out, apply_remove_duplicates, false, arena, em);
}

struct payload_filter {
    struct token_filter base;
    char delimiter;
    enum { PAYLOAD_FLOAT, PAYLOAD_INT, PAYLOAD_IDENTITY } encoding;
};

/* The payload itself is not kept: nothing that is supported reads one. */
static enum err apply_payload(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    const struct payload_filter *f = (const struct payload_filter *)self;
    for (size_t i = 0; token_next(l, i); i++) {
        struct str s = l->v[i].text;
        size_t at = str_find(s, f->delimiter, 0);
        if (at == SIZE_MAX) {
            continue;
        }
        struct str payload = str_slice(s, at + 1, s.n);
        float number;
        int32_t integer;
        bool ok = f->encoding == PAYLOAD_FLOAT ? num_parse_float(payload, &number)
                  : f->encoding == PAYLOAD_INT ? num_parse_i32(payload, &integer)
                                               : true;
        if (!ok) {
            return err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(payload));
        }
        l->v[i].text = str_slice(s, 0, at);
    }
    return ERR_OK;
}

PART_FACTORY(delimited_payload_filter_new)
{
    struct payload_filter *f = ARENA_NEW(arena, struct payload_filter);
    struct str delimiter = settings_str(s, "delimiter", STR("|")),
               encoding = settings_str(s, "encoding", STR("float"));
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->delimiter = delimiter.n > 0 ? delimiter.p[0] : '|';
    f->encoding = str_is(encoding, "int")        ? PAYLOAD_INT
                  : str_is(encoding, "identity") ? PAYLOAD_IDENTITY
                                                 : PAYLOAD_FLOAT;
    f->base.apply = apply_payload;
    *out = &f->base;
    return ERR_OK;
}
