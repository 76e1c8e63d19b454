#include "common/base/uri.h"
#include "common/base/arena_list.h"

#include "common/base/utf8.h"

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static enum err mend_utf8(struct str s, struct arena *arena, struct str *out, struct errmsg *em)
{
    char *to = arena_alloc(arena, s.n * 3 + 1); /* a bad byte becomes three */
    if (to == NULL) {
        return err_no_memory(em);
    }
    *out = str_mk(to, utf8_mend(to, s));
    return ERR_OK;
}

enum err uri_decode(struct str s, bool plus, struct arena *arena, struct str *out, struct errmsg *em)
{
    bool plain = true;
    for (size_t i = 0; i < s.n && plain; i++) {
        plain = s.p[i] != '%' && !(plus && s.p[i] == '+');
    }
    if (plain) {
        *out = s;
        return utf8_valid(s) ? ERR_OK : mend_utf8(s, arena, out, em);
    }
    char *to = arena_alloc(arena, s.n);
    if (to == NULL) {
        return err_no_memory(em);
    }
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (c == '+' && plus) {
            c = ' ';
        } else if (c == '%' && i + 1 < s.n && s.p[i + 1] == '%') { /* as Elasticsearch has it */
            i++;
        } else if (c == '%') {
            if (s.n - i < 3) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s escape sequence at end of string: %.*s",
                               s.n - i < 2 ? "unterminated" : "partial", STR_ARG(s));
            }
            int hi = hex_value(s.p[i + 1]), lo = hex_value(s.p[i + 2]);
            if (hi < 0 || lo < 0) {
                return err_set(em, ERR_ILLEGAL_ARGUMENT,
                               "invalid escape sequence `%%%c%c' at index %zu of: %.*s", s.p[i + 1],
                               s.p[i + 2], i, STR_ARG(s));
            }
            c = (char)(hi * 16 + lo);
            i += 2;
        }
        to[n++] = c;
    }
    *out = str_mk(to, n);
    return utf8_valid(*out) ? ERR_OK : mend_utf8(*out, arena, out, em);
}

struct str uri_text(struct str s, struct arena *arena)
{
    if (utf8_valid(s)) {
        return s;
    }
    char *to = arena_alloc(arena, s.n * 2);
    size_t n = 0;
    for (size_t i = 0; to != NULL && i < s.n; i++) {
        n += utf8_put(to + n, (unsigned char)s.p[i]);
    }
    return to != NULL ? str_mk(to, n) : STR("");
}

struct query_reader {
    struct arena *arena;
    struct uri_params *out;
    size_t cap;
    struct errmsg *em;
};

static enum err add_param(struct query_reader *q, struct str name, struct str value)
{
    struct uri_params *out = q->out;
    if (out->n >= URI_PARAMS_MAX) {
        return err_set(q->em, ERR_ILLEGAL_ARGUMENT, "too many parameters, the limit is %d", URI_PARAMS_MAX);
    }
    if (!ARENA_ROOM(q->arena, out->v, out->n, q->cap)) {
        return err_no_memory(q->em);
    }
    enum err e = uri_decode(name, true, q->arena, &out->v[out->n].name, q->em);
    e = e == ERR_OK ? uri_decode(value, true, q->arena, &out->v[out->n].value, q->em) : e;
    out->n += e == ERR_OK ? 1 : 0;
    return e;
}

enum err uri_query(struct str query, struct arena *arena, struct uri_params *out, struct errmsg *em)
{
    *out = (struct uri_params){0};
    struct query_reader q = {.arena = arena, .out = out, .em = em};
    query = str_slice(query, 0, str_find(query, '#', 0));
    size_t at = 0;
    while (at < query.n) {
        size_t end = at;
        while (end < query.n && query.p[end] != '&' && query.p[end] != ';') {
            end++;
        }
        /* A leading '=' names nothing: what follows it is the name, as Elasticsearch has it. */
        while (at < end && query.p[at] == '=') {
            at++;
        }
        struct str rest, name = str_cut(str_slice(query, at, end), '=', &rest);
        enum err e = name.n > 0 ? add_param(&q, name, rest) : ERR_OK;
        if (e != ERR_OK) {
            *out = (struct uri_params){0};
            return e;
        }
        at = end + 1;
    }
    return ERR_OK;
}

const struct str *uri_param(const struct uri_params *p, const char *name)
{
    for (size_t i = p->n; i > 0; i--) {
        if (str_is(p->v[i - 1].name, name)) {
            return &p->v[i - 1].value;
        }
    }
    return NULL;
}

void uri_encode(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')
                     || (c != 0 && strchr("-._~", c) != NULL);
        if (plain) {
            buf_char(b, (char)c);
        } else {
            buf_printf(b, "%%%02X", c);
        }
    }
}
