#include "engine/ingest/text.h"

#include "common/base/stop.h"
#include "common/base/utf8.h"

static void release_regex(void *p)
{
    regex_free(p);
}

enum err config_keep_regex(struct config *c, struct regex *r)
{
    return arena_defer(c->arena, release_regex, r) ? ERR_OK : err_no_memory(c->em);
}

enum err config_regex(struct config *c, struct str pattern, struct regex **out)
{
    enum err e = regex_new(out, pattern, 0, c->em);
    return e == ERR_OK ? config_keep_regex(c, *out) : e;
}

static bool push_text(struct json *list, struct str s, struct arena *arena)
{
    const struct json v = json_mk_str(s);
    return ingest_push(list, &v, arena);
}

static enum err split_parts(struct matcher *m, struct str text, struct ingest_doc *d, struct json *out,
                            struct errmsg *em)
{
    size_t from = 0, start, end;
    bool found;
    enum err e;
    while ((e = matcher_find(m, &found, em)) == ERR_OK && found) {
        if (stop_often()) {
            return err_set(em, ERR_CANCELLED, "the pipeline was cancelled");
        }
        (void)matcher_group(m, 0, &start, &end);
        if (start == end
            && (start == 0 || start == text.n)) { /* nothing before the text or behind it is no part */
            continue;
        }
        if (!push_text(out, str_slice(text, from, start), d->arena)) {
            return err_no_memory(em);
        }
        from = end;
    }
    if (e == ERR_OK && !push_text(out, str_slice(text, from, text.n), d->arena)) {
        e = err_no_memory(em);
    }
    return e;
}

enum err text_split(const struct regex *r, struct str text, bool keep_last, struct ingest_doc *d,
                    struct json *out, struct errmsg *em)
{
    struct matcher *m;
    *out = ingest_list();
    enum err e = matcher_new(&m, r, text, em);
    if (e != ERR_OK) {
        return e;
    }
    e = split_parts(m, text, d, out, em);
    matcher_free(m);
    while (!keep_last && out->n > 1 && out->items[out->n - 1].s.n == 0) {
        out->n--;
    }
    if (!keep_last && out->n == 1 && out->items[0].s.n == 0 && text.n > 0) {
        out->n = 0;
    }
    return e;
}

static int hex_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static enum err bad_escape(struct str two, int at, struct errmsg *em)
{
    return err_set(
        em, ERR_ILLEGAL_ARGUMENT,
        "URLDecoder: Illegal hex characters in escape (%%) pattern - Error at index %d in: \"%.*s\"", at,
        STR_ARG(two));
}

enum err text_urldecode(struct str s, struct arena *arena, struct str *out, struct errmsg *em)
{
    char *raw = arena_alloc(arena, s.n + 1), *whole = arena_alloc(arena, s.n * 3 + 1);
    size_t n = 0;
    if (raw == NULL || whole == NULL) {
        return err_no_memory(em);
    }
    for (size_t at = 0; at < s.n; at++) {
        char c = s.p[at];
        if (c != '%') {
            raw[n++] = c == '+' ? ' ' : c;
            continue;
        }
        struct str two = str_slice(s, at + 1, at + 3);
        if (two.n < 2) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "URLDecoder: Incomplete trailing escape (%%) pattern");
        }
        int high = hex_of(two.p[0]), low = hex_of(two.p[1]);
        if (high < 0 || low < 0) {
            return bad_escape(two, high < 0 ? 0 : 1, em);
        }
        raw[n++] = (char)(high * 16 + low);
        at += 2;
    }
    *out = str_mk(whole, utf8_mend(whole, str_mk(raw, n)));
    return ERR_OK;
}
