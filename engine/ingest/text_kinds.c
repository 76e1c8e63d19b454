/* Processors that make another text of a text, or of each in a list. */
#include "engine/ingest/processor_list.h"
#include "engine/ingest/text.h"

#include "common/base/settings.h"
#include "common/base/stop.h"
#include "engine/analysis/html_entity.h"

#include <unicode/ucasemap.h>

struct text_own {
    struct str field, target;
    bool ignore_missing;
    struct regex *pattern; /* gsub */
    struct str replacement;
};

static enum err read_text(struct config *c, void *own)
{
    struct text_own *o = own;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
    e = e == ERR_OK ? config_str_maybe(c, "target_field", &o->target) : e;
    if (o->target.p == NULL) {
        o->target = o->field;
    }
    return e;
}

typedef enum err text_fn(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                         struct errmsg *em);

static enum err text_of_list(const struct text_own *o, const struct json *list, text_fn *fn,
                             struct ingest_doc *d, struct json *out, struct errmsg *em)
{
    *out = ingest_list();
    for (uint32_t i = 0; i < list->n; i++) {
        const struct json *v = &list->items[i];
        struct json one;
        if (v->type == JSON_NULL) {
            return err_set(em, ERR_NULL_POINTER,
                           "Cannot invoke \"Object.getClass()\" because \"value\" is null");
        }
        if (v->type != JSON_STRING) {
            struct str shown = ingest_text(v, d->arena);
            return err_set(
                em, ERR_ILLEGAL_ARGUMENT,
                "value [%.*s] of type [%s] in list field [%.*s] cannot be cast to [java.lang.String]",
                STR_ARG(shown), ingest_class(v), STR_ARG(o->field));
        }
        enum err e = fn(o, v->s, d, &one, em);
        if (e != ERR_OK || !ingest_push(out, &one, d->arena)) {
            return e != ERR_OK ? e : err_no_memory(em);
        }
        if (stop_often()) {
            return err_set(em, ERR_CANCELLED, "the pipeline was cancelled");
        }
    }
    return ERR_OK;
}

static enum err run_text(const struct text_own *o, text_fn *fn, struct ingest_doc *d, struct errmsg *em)
{
    struct json *v, out;
    enum err e = ingest_get_maybe(d, o->field, o->ignore_missing, &v, em);
    if (e != ERR_OK) {
        return e;
    }
    if (v == NULL || v->type == JSON_NULL) {
        return o->ignore_missing ? ERR_OK
                                 : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                           "field [%.*s] is null, cannot process it.", STR_ARG(o->field));
    }
    if (v->type == JSON_ARRAY) {
        e = text_of_list(o, v, fn, d, &out, em);
    } else if (v->type == JSON_STRING) {
        e = fn(o, v->s, d, &out, em);
    } else {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "field [%.*s] of type [%s] cannot be cast to [java.lang.String]", STR_ARG(o->field),
                       ingest_class(v));
    }
    return e == ERR_OK ? ingest_put(d, o->target, &out, em) : e;
}

#define TEXT_ROW(kind, reader, function)                                                 \
    static enum err run_##kind(const void *own, struct ingest_doc *d, struct errmsg *em) \
    {                                                                                    \
        return run_text(own, function, d, em);                                           \
    }                                                                                    \
    const struct processor_row processor_##kind = {#kind, sizeof(struct text_own), reader, run_##kind};

/* ---- case ---------------------------------------------------------------------------------------------- */

typedef int32_t case_fn(const UCaseMap *m, char *to, int32_t room, const char *from, int32_t n,
                        UErrorCode *status);

static enum err map_case(case_fn *map, struct str s, struct ingest_doc *d, struct json *out,
                         struct errmsg *em)
{
    UErrorCode status = U_ZERO_ERROR;
    size_t room = s.n * 3 + 8;
    char *to = s.n < INT32_MAX / 4 ? arena_alloc(d->arena, room) : NULL;
    UCaseMap *m = to != NULL ? ucasemap_open("", 0, &status) : NULL;
    int32_t n = m != NULL ? map(m, to, (int32_t)room, s.p != NULL ? s.p : "", (int32_t)s.n, &status) : 0;
    ucasemap_close(m);
    if (to == NULL || U_FAILURE(status)) {
        return err_no_memory(em);
    }
    *out = json_mk_str(str_mk(to, (size_t)n));
    return ERR_OK;
}

static enum err to_lower(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                         struct errmsg *em)
{
    (void)o;
    return map_case(ucasemap_utf8ToLower, s, d, out, em);
}

static enum err to_upper(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                         struct errmsg *em)
{
    (void)o;
    return map_case(ucasemap_utf8ToUpper, s, d, out, em);
}

TEXT_ROW(lowercase, read_text, to_lower)
TEXT_ROW(uppercase, read_text, to_upper)

/* ---- others -------------------------------------------------------------------------------------------- */

/* Java's trim(): everything up to the blank. */
static enum err to_trimmed(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                           struct errmsg *em)
{
    (void)o;
    (void)d;
    (void)em;
    while (s.n > 0 && (unsigned char)s.p[0] <= ' ') {
        s = str_slice(s, 1, s.n);
    }
    while (s.n > 0 && (unsigned char)s.p[s.n - 1] <= ' ') {
        s.n--;
    }
    *out = json_mk_str(s);
    return ERR_OK;
}

static enum err to_bytes(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                         struct errmsg *em)
{
    int64_t n;
    (void)o;
    enum err e = parse_bytes(s, "Ingest Field", &n, em);
    if (e == ERR_OK) {
        *out = ingest_i64(n, d->arena);
    } else if (str_ends(str_of(err_reason(em)), STR("as a size in bytes"))) {
        bool digits = s.n > 1 && (s.p[s.n - 1] == 'b' || s.p[s.n - 1] == 'B');
        return digits
                   ? err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"",
                             STR_ARG(str_slice(s, 0, s.n - 1)))
                   : err_set(
                       em, e,
                       "failed to parse setting [Ingest Field] with value [%.*s] as a size in bytes: unit is "
                       "missing or unrecognized",
                       STR_ARG(s));
    }
    return e;
}

static enum err to_decoded(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                           struct errmsg *em)
{
    struct str text;
    (void)o;
    enum err e = text_urldecode(s, d->arena, &text, em);
    *out = json_mk_str(text);
    return e;
}

static enum err without_html(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                             struct errmsg *em)
{
    (void)o;
    enum err e = html_strip_text(&s, d->arena, em);
    *out = json_mk_str(s);
    return e;
}

TEXT_ROW(trim, read_text, to_trimmed)
TEXT_ROW(bytes, read_text, to_bytes)
TEXT_ROW(urldecode, read_text, to_decoded)
TEXT_ROW(html_strip, read_text, without_html)

/* ---- gsub ---------------------------------------------------------------------------------------------- */

static enum err read_gsub(struct config *c, void *own)
{
    struct text_own *o = own;
    struct str pattern;
    enum err e = read_text(c, own);
    e = e == ERR_OK ? config_str(c, "pattern", &pattern) : e;
    e = e == ERR_OK ? config_str(c, "replacement", &o->replacement) : e;
    if (e == ERR_OK && config_regex(c, pattern, &o->pattern) != ERR_OK) {
        struct str why = arena_str(c->arena, str_of(err_reason(c->em)));
        e = config_fail(c, "pattern", "Invalid regex pattern. %.*s", STR_ARG(why));
    }
    return e;
}

static enum err replace_all(struct matcher *m, const struct text_own *o, struct str s, struct buf *b,
                            struct errmsg *em)
{
    size_t from = 0, start, end;
    bool found;
    enum err e;
    while ((e = matcher_find(m, &found, em)) == ERR_OK && found) {
        (void)matcher_group(m, 0, &start, &end);
        buf_str(b, str_slice(s, from, start));
        e = matcher_expand(m, s, o->replacement, b, em);
        from = end;
        if (e != ERR_OK || stop_often()) {
            return e != ERR_OK ? e : err_set(em, ERR_CANCELLED, "the pipeline was cancelled");
        }
    }
    buf_str(b, str_slice(s, from, s.n));
    return e == ERR_OK && b->failed ? err_no_memory(em) : e;
}

static enum err to_replaced(const struct text_own *o, struct str s, struct ingest_doc *d, struct json *out,
                            struct errmsg *em)
{
    struct matcher *m;
    struct buf b;
    enum err e = matcher_new(&m, o->pattern, s, em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, d->arena->alloc, (size_t)64 << 20);
    e = replace_all(m, o, s, &b, em);
    matcher_free(m);
    *out = json_mk_str(e == ERR_OK ? arena_str(d->arena, buf_view(&b)) : STR_NULL);
    buf_fini(&b);
    return e == ERR_OK && out->s.p == NULL ? err_no_memory(em) : e;
}

TEXT_ROW(gsub, read_gsub, to_replaced)
