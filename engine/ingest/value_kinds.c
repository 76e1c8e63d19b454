/* Processors that make other values of values: convert, split, join, sort, json. */
#include "engine/ingest/processor_list.h"
#include "engine/ingest/text.h"

#include "common/base/inet.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"

/* ---- convert ------------------------------------------------------------------------------------------- */

enum convert_to { TO_INTEGER, TO_LONG, TO_DOUBLE, TO_FLOAT, TO_BOOLEAN, TO_STRING, TO_AUTO, TO_KINDS };

static const char *const convert_names[TO_KINDS] = {"integer", "long",   "double", "float",
                                                    "boolean", "string", "auto"};

struct convert_own {
    struct str field, target;
    enum convert_to to;
    bool ignore_missing;
};

static enum err read_convert(struct config *c, void *own)
{
    struct convert_own *o = own;
    struct str type;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_str(c, "type", &type) : e;
    e = e == ERR_OK ? config_str_maybe(c, "target_field", &o->target) : e;
    if (e != ERR_OK) {
        return e;
    }
    o->target = o->target.p != NULL ? o->target : o->field;
    while (o->to < TO_KINDS && !str_eq_nocase(type, str_of(convert_names[o->to]))) {
        o->to++;
    }
    if (o->to == TO_KINDS) {
        return config_fail(c, "type", "type [%.*s] not supported, cannot convert field.", STR_ARG(type));
    }
    return config_bool(c, "ignore_missing", false, &o->ignore_missing);
}

/* Java's decode() of "0x1F", "-0x1F". */
static bool parse_hex(struct str s, int64_t *out)
{
    bool minus = s.n > 0 && s.p[0] == '-';
    struct str digits = str_slice(s, minus ? 3 : 2, s.n);
    uint64_t v = 0;
    if (digits.n == 0 || digits.n > 16) {
        return false;
    }
    for (size_t i = 0; i < digits.n; i++) {
        char c = digits.p[i];
        int x = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (x < 0) {
            return false;
        }
        v = v * 16 + (uint64_t)x;
    }
    if (v > (uint64_t)INT64_MAX + (minus ? 1 : 0)) {
        return false;
    }
    *out = minus ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

static bool parse_whole(struct str s, enum convert_to to, int64_t *out)
{
    bool hex = str_starts(s, STR("0x")) || str_starts(s, STR("-0x"));
    bool ok = hex ? parse_hex(s, out) : num_parse_i64(s, out);
    return ok && (to == TO_LONG || (*out >= INT32_MIN && *out <= INT32_MAX));
}

/* What a text is in a type; false: nothing of it. */
static bool convert_text(struct str s, enum convert_to to, struct arena *arena, struct json *out)
{
    int64_t whole;
    double d = 0;
    if (to == TO_INTEGER || to == TO_LONG) {
        if (!parse_whole(s, to, &whole)) {
            return false;
        }
        *out = ingest_i64(whole, arena);
        return true;
    }
    if (to == TO_DOUBLE || to == TO_FLOAT) {
        float f = 0;
        if (!(to == TO_DOUBLE ? num_parse_double(s, &d) : num_parse_float(s, &f))) {
            return false;
        }
        d = to == TO_FLOAT ? (double)f : d;
        *out = ingest_double(d, to == TO_FLOAT, arena);
        return true;
    }
    bool yes = str_eq_nocase(s, STR("true"));
    *out = json_mk_bool(yes);
    return yes || str_eq_nocase(s, STR("false"));
}

/* What is no text stays as it is; the target gets values of its own. false: no memory. */
static bool convert_auto(const struct json *v, struct arena *arena, struct json *out)
{
    static const enum convert_to order[] = {TO_BOOLEAN, TO_INTEGER, TO_LONG, TO_FLOAT, TO_DOUBLE};
    if (v->type != JSON_STRING) {
        return ingest_copy(out, v, arena);
    }
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        if (convert_text(v->s, order[i], arena, out)) {
            return true;
        }
    }
    *out = *v;
    return true;
}

static enum err convert_one(const struct convert_own *o, const struct json *v, struct ingest_doc *d,
                            struct json *out, struct errmsg *em)
{
    if (o->to == TO_AUTO) {
        return convert_auto(v, d->arena, out) ? ERR_OK : err_no_memory(em);
    }
    if (v->type == JSON_NULL) {
        return err_set(em, ERR_NULL_POINTER, "Cannot invoke \"Object.toString()\" because \"value\" is null");
    }
    struct str s = ingest_text(v, d->arena);
    if (s.p == NULL) {
        return err_no_memory(em);
    }
    if (o->to == TO_STRING) {
        *out = json_mk_str(s);
        return ERR_OK;
    }
    if (convert_text(s, o->to, d->arena, out)) {
        return ERR_OK;
    }
    if (o->to == TO_BOOLEAN) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%.*s] is not a boolean value, cannot convert to boolean",
                       STR_ARG(s));
    }
    if (o->to == TO_DOUBLE || o->to == TO_FLOAT) {
        (void)jr_bad_double(s, em);
    } else {
        bool hex = str_starts(s, STR("0x")) || str_starts(s, STR("-0x"));
        struct str digits = str_slice(s, hex ? (s.p[0] == '-' ? 3 : 2) : 0, s.n);
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%s%.*s\"%s", hex && s.p[0] == '-' ? "-" : "",
                STR_ARG(digits), "");
    }
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "unable to convert [%.*s] to %s", STR_ARG(s),
                    convert_names[o->to]);
}

static enum err run_convert(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct convert_own *o = own;
    struct json *v, out = ingest_list();
    enum err e = ingest_get_maybe(d, o->field, o->ignore_missing, &v, em);
    if (e != ERR_OK) {
        return e;
    }
    if (v == NULL || v->type == JSON_NULL) {
        return o->ignore_missing ? ERR_OK
                                 : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                           "Field [%.*s] is null, cannot be converted to type [%s]",
                                           STR_ARG(o->field), convert_names[o->to]);
    }
    if (v->type != JSON_ARRAY) {
        e = convert_one(o, v, d, &out, em);
    }
    for (uint32_t i = 0; v->type == JSON_ARRAY && e == ERR_OK && i < v->n; i++) {
        struct json one;
        e = convert_one(o, &v->items[i], d, &one, em);
        e = e == ERR_OK && !ingest_push(&out, &one, d->arena) ? err_no_memory(em) : e;
    }
    return e == ERR_OK ? ingest_put(d, o->target, &out, em) : e;
}

const struct processor_row processor_convert = {"convert", sizeof(struct convert_own), read_convert,
                                                run_convert};

/* ---- split, join --------------------------------------------------------------------------------------- */

struct split_own {
    struct str field, target, separator;
    struct regex *pattern;
    bool ignore_missing, keep_last, descending;
};

static enum err read_target(struct config *c, struct split_own *o)
{
    enum err e = config_str_maybe(c, "target_field", &o->target);
    o->target = o->target.p != NULL ? o->target : o->field;
    return e;
}

static enum err read_split(struct config *c, void *own)
{
    struct split_own *o = own;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
    e = e == ERR_OK ? read_target(c, o) : e;
    e = e == ERR_OK ? config_bool(c, "preserve_trailing", false, &o->keep_last) : e;
    return e == ERR_OK ? config_str(c, "separator", &o->separator) : e;
}

static enum err run_split(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct split_own *o = own;
    struct json *v, out;
    struct regex *r;
    enum err e = ingest_get_as(d, o->field, JSON_STRING, o->ignore_missing, &v, em);
    if (e != ERR_OK || (v == NULL && o->ignore_missing)) {
        return e;
    }
    if (v == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot split.", STR_ARG(o->field));
    }
    e = regex_new(&r, o->separator, 0, em); /* what is wrong with it is told when it is used */
    if (e != ERR_OK) {
        return e;
    }
    e = text_split(r, v->s, o->keep_last, d, &out, em);
    regex_free(r);
    return e == ERR_OK ? ingest_put(d, o->target, &out, em) : e;
}

const struct processor_row processor_split = {"split", sizeof(struct split_own), read_split, run_split};

static enum err read_join(struct config *c, void *own)
{
    struct split_own *o = own;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_str(c, "separator", &o->separator) : e;
    return e == ERR_OK ? read_target(c, o) : e;
}

static enum err join_items(const struct json *v, struct str separator, struct ingest_doc *d, struct buf *b,
                           struct errmsg *em)
{
    for (uint32_t i = 0; i < v->n; i++) {
        if (v->items[i].type == JSON_NULL) {
            return err_set(em, ERR_NULL_POINTER, "%s", "");
        }
        struct str s = ingest_text(&v->items[i], d->arena);
        buf_str(b, i > 0 ? separator : STR(""));
        buf_str(b, s);
        if (s.p == NULL || b->failed) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

static enum err run_join(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct split_own *o = own;
    struct json *v, out;
    struct buf b;
    enum err e = ingest_get_as(d, o->field, JSON_ARRAY, false, &v, em);
    if (e != ERR_OK || v == NULL) {
        return e != ERR_OK ? e
                           : err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot join.",
                                     STR_ARG(o->field));
    }
    buf_init(&b, d->arena->alloc, (size_t)64 << 20);
    e = join_items(v, o->separator, d, &b, em);
    out = json_mk_str(e == ERR_OK ? arena_str(d->arena, buf_view(&b)) : STR_NULL);
    buf_fini(&b);
    e = e == ERR_OK && out.s.p == NULL ? err_no_memory(em) : e;
    return e == ERR_OK ? ingest_put(d, o->target, &out, em) : e;
}

const struct processor_row processor_join = {"join", sizeof(struct split_own), read_join, run_join};

/* ---- sort ---------------------------------------------------------------------------------------------- */

static enum err read_sort(struct config *c, void *own)
{
    struct split_own *o = own;
    struct str order;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? read_target(c, o) : e;
    e = e == ERR_OK ? config_str_or(c, "order", "asc", &order) : e;
    if (e == ERR_OK && !str_is(order, "asc") && !str_is(order, "desc")) {
        return config_fail(c, "order", "Sort direction [%.*s] not recognized. Valid values are: [asc, desc]",
                           STR_ARG(order));
    }
    o->descending = e == ERR_OK && str_is(order, "desc");
    return e;
}

static int compare_utf16(struct str a, struct str b)
{
    size_t i = 0, k = 0;
    while (i < a.n && k < b.n) {
        uint32_t x = utf8_next(a, &i), y = utf8_next(b, &k);
        if (x != y) { /* halves of pairs stand before the last characters of the first plane */
            uint32_t u = x >= 0x10000 ? 0xD800 : x, v = y >= 0x10000 ? 0xD800 : y;
            return u != v ? (u < v ? -1 : 1) : x < y ? -1 : 1;
        }
    }
    return i < a.n ? 1 : k < b.n ? -1 : 0;
}

static int compare_values(const void *a, const void *b)
{
    const struct json *x = a, *y = b;
    int64_t i, k;
    if (x->type == JSON_STRING) {
        return compare_utf16(x->s, y->s);
    }
    if (x->type == JSON_BOOL) {
        return (int)x->b - (int)y->b;
    }
    if (json_i64(x, &i) && json_i64(y, &k)) {
        return i < k ? -1 : i > k;
    }
    double u = json_double(x), v = json_double(y);
    return u < v ? -1 : u > v;
}

/* Values of one class have an order. */
static enum err check_order(const struct json *v, struct errmsg *em)
{
    for (uint32_t i = 0; v->n > 1 && i < v->n; i++) {
        const struct json *x = &v->items[i], *before = &v->items[i > 0 ? i - 1 : 0];
        if (x->type == JSON_NULL) {
            return err_set(em, ERR_NULL_POINTER, "%s", "");
        }
        if (x->type == JSON_ARRAY || x->type == JSON_OBJECT) {
            const char *class = ingest_class(x);
            return err_set(
                em, ERR_CLASS_CAST,
                "class %s cannot be cast to class java.lang.Comparable (%s and java.lang.Comparable "
                "are in module java.base of loader 'bootstrap')",
                class, class);
        }
        const char *class = ingest_class(x), *other = ingest_class(before);
        if (strcmp(class, other) != 0) {
            return err_set(em, ERR_CLASS_CAST,
                           "class %s cannot be cast to class %s (%s and %s are in module java.base of loader "
                           "'bootstrap')",
                           other, class, other, class);
        }
    }
    return ERR_OK;
}

static enum err run_sort(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct split_own *o = own;
    struct json *v, out;
    enum err e = ingest_get_as(d, o->field, JSON_ARRAY, false, &v, em);
    if (e == ERR_OK && v == NULL) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot sort.", STR_ARG(o->field));
    }
    e = e == ERR_OK ? check_order(v, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (!ingest_copy(&out, v, d->arena)) {
        return err_no_memory(em);
    }
    sort_items(out.items, out.n, sizeof(*out.items), compare_values);
    for (uint32_t i = 0; o->descending && i < out.n / 2; i++) {
        struct json one = out.items[i];
        out.items[i] = out.items[out.n - 1 - i];
        out.items[out.n - 1 - i] = one;
    }
    return ingest_put(d, o->target, &out, em);
}

const struct processor_row processor_sort = {"sort", sizeof(struct split_own), read_sort, run_sort};

/* ---- json ---------------------------------------------------------------------------------------------- */

struct json_own {
    struct str field, target;
    bool to_root;
};

static enum err read_json(struct config *c, void *own)
{
    struct json_own *o = own;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_str_maybe(c, "target_field", &o->target) : e;
    e = e == ERR_OK ? config_bool(c, "add_to_root", false, &o->to_root) : e;
    if (e == ERR_OK && o->to_root && o->target.p != NULL) {
        return config_fail(c, "target_field",
                           "Cannot set a target field while also setting `add_to_root` to true");
    }
    o->target = o->target.p != NULL ? o->target : o->field;
    return e;
}

#define BYTES_SOURCE  "(byte[])"
#define STREAM_SOURCE "(org.elasticsearch.common.io.stream.InputStreamStreamInput)"

/* The mistake as a parser of a stream says it, which does not show the text. */
static enum err stream_mistake(enum err e, struct ingest_doc *d, struct errmsg *em)
{
    struct str why = str_of(err_reason(em)), source = STR("[Source: ");
    size_t at = str_find_str(why, source), semi = at != SIZE_MAX ? str_rfind(why, ';') : SIZE_MAX;
    if (e == ERR_NO_MEMORY) {
        return e;
    }
    if (semi != SIZE_MAX && semi > at) {
        why = arena_printf(d->arena, "%.*s" STREAM_SOURCE "%.*s", STR_ARG(str_slice(why, 0, at + source.n)),
                           STR_ARG(str_slice(why, semi, why.n)));
        err_set(em, e, "%.*s", STR_ARG(why));
    }
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "com.fasterxml.jackson.core.%s: %s",
                    e == ERR_JSON_EOF ? "io.JsonEOFException" : "JsonParseException", err_reason(em));
}

static enum err run_json(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct json_own *o = own;
    struct json *v, parsed = ingest_null(), out;
    enum err e = ingest_get(d, o->field, &v, em);
    if (e != ERR_OK) {
        return e;
    }
    struct str text = ingest_text(v, d->arena);
    if (text.p == NULL && v->type != JSON_STRING) {
        return err_no_memory(em);
    }
    if (str_trim(text).n > 0) {
        e = json_parse_first(&parsed, text, d->arena, &json_limits_default, em);
        if (e != ERR_OK) {
            return stream_mistake(e, d, em);
        }
    }
    if (!ingest_copy(&out, &parsed, d->arena)) {
        return err_no_memory(em);
    }
    if (!o->to_root) {
        return ingest_put(d, o->target, &out, em);
    }
    if (out.type != JSON_OBJECT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "cannot add non-map fields to root of document");
    }
    for (uint32_t i = 0; i < out.n; i++) {
        if (!json_put(&d->root, d->arena, out.members[i].key, out.members[i].value)) {
            return err_no_memory(em);
        }
    }
    return ERR_OK;
}

const struct processor_row processor_json = {"json", sizeof(struct json_own), read_json, run_json};
