/* Processors that take texts apart: kv, csv. */
#include "engine/ingest/processor_list.h"
#include "engine/ingest/text.h"

#include "common/base/stop.h"
#include "common/base/utf8.h"

/* ---- kv ------------------------------------------------------------------------------------------------ */

struct kv_own {
    struct str field, target, prefix, field_split, value_split;
    struct regex *trim_key, *trim_value;  /* NULL: none */
    const struct json *include, *exclude; /* lists; NULL: none */
    bool ignore_missing, strip;
};

static enum err read_list(struct config *c, const char *name, const struct json **out)
{
    const struct json *v;
    struct json *copy;
    enum err e = config_list(c, name, false, &v);
    *out = NULL;
    if (e != ERR_OK || v == NULL) {
        return e;
    }
    copy = ARENA_NEW(c->arena, struct json);
    *out = copy;
    return copy != NULL && ingest_copy(copy, v, c->arena) ? ERR_OK : err_no_memory(c->em);
}

/* Java compiles what trims when the processor is made. */
static enum err read_trim(struct config *c, struct str trim, struct regex **out)
{
    if (trim.p == NULL) {
        return ERR_OK;
    }
    struct str pattern = arena_printf(c->arena, "(^([%.*s]+))|([%.*s]+$)", STR_ARG(trim), STR_ARG(trim));
    return pattern.p != NULL ? config_regex(c, pattern, out) : err_no_memory(c->em);
}

/* What is one character long is compiled when it is used. */
static enum err check_split(struct config *c, struct str split)
{
    struct regex *r;
    return utf16_length(split) == 1 ? ERR_OK : config_regex(c, split, &r);
}

static enum err read_kv(struct config *c, void *own)
{
    struct kv_own *o = own;
    struct str trim_key, trim_value;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_str_maybe(c, "target_field", &o->target) : e;
    e = e == ERR_OK ? config_str(c, "field_split", &o->field_split) : e;
    e = e == ERR_OK ? config_str(c, "value_split", &o->value_split) : e;
    e = e == ERR_OK ? config_str_maybe(c, "trim_key", &trim_key) : e;
    e = e == ERR_OK ? config_str_maybe(c, "trim_value", &trim_value) : e;
    e = e == ERR_OK ? config_bool(c, "strip_brackets", false, &o->strip) : e;
    e = e == ERR_OK ? config_str_maybe(c, "prefix", &o->prefix) : e;
    e = e == ERR_OK ? read_list(c, "include_keys", &o->include) : e;
    e = e == ERR_OK ? read_list(c, "exclude_keys", &o->exclude) : e;
    e = e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
    e = e == ERR_OK ? check_split(c, o->field_split) : e;
    e = e == ERR_OK ? check_split(c, o->value_split) : e;
    e = e == ERR_OK ? read_trim(c, trim_key, &o->trim_key) : e;
    return e == ERR_OK ? read_trim(c, trim_value, &o->trim_value) : e;
}

static bool is_listed(const struct json *list, struct str key)
{
    for (uint32_t i = 0; i < list->n; i++) {
        if (list->items[i].type == JSON_STRING && str_eq(list->items[i].s, key)) {
            return true;
        }
    }
    return false;
}

/* Without what a class of characters matches at both ends. */
static enum err trim_text(const struct regex *r, struct str *s, struct errmsg *em)
{
    struct matcher *m;
    size_t start, end;
    bool found;
    struct str text = *s;
    size_t from = 0, to = text.n;
    enum err e = r != NULL ? matcher_new(&m, r, text, em) : ERR_OK;
    if (r == NULL || e != ERR_OK) {
        return e;
    }
    while (e == ERR_OK && (e = matcher_find(m, &found, em)) == ERR_OK && found) {
        (void)matcher_group(m, 0, &start, &end);
        from = start == 0 ? end : from;
        to = start > 0 && end == text.n ? start : to;
    }
    *s = str_slice(text, from, MAX_OF(to, from));
    matcher_free(m);
    return e;
}

static struct str strip_brackets(struct str s)
{
    s = s.n > 0 && strchr("([<\"'", s.p[0]) != NULL ? str_slice(s, 1, s.n) : s;
    return s.n > 0 && strchr(")]>\"'", s.p[s.n - 1]) != NULL ? str_slice(s, 0, s.n - 1) : s;
}

static enum err put_pair(const struct kv_own *o, struct str key, struct str value, struct ingest_doc *d,
                         struct errmsg *em)
{
    bool there;
    enum err e = trim_text(o->trim_key, &key, em);
    if (e != ERR_OK || (o->include != NULL && !is_listed(o->include, key))
        || (o->exclude != NULL && is_listed(o->exclude, key))) {
        return e;
    }
    value = o->strip ? strip_brackets(value) : value;
    e = trim_text(o->trim_value, &value, em);
    const struct json v = json_mk_str(value);
    struct str path = arena_printf(d->arena, "%.*s%s%.*s%.*s", STR_ARG(o->target),
                                   o->target.p != NULL ? "." : "", STR_ARG(o->prefix), STR_ARG(key));
    if (e != ERR_OK || path.p == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    e = ingest_has(d, path, false, &there, em);
    return e != ERR_OK ? e : there ? ingest_append(d, path, &v, true, em) : ingest_put(d, path, &v, em);
}

static enum err put_pairs(const struct kv_own *o, struct str text, const struct regex *fields,
                          const struct regex *values, struct ingest_doc *d, struct errmsg *em)
{
    struct json parts;
    enum err e = text_split(fields, text, false, d, &parts, em);
    for (uint32_t i = 0; e == ERR_OK && i < parts.n; i++) {
        struct matcher *m;
        struct str part = parts.items[i].s;
        size_t start = 0, end = 0;
        bool found = false;
        e = matcher_new(&m, values, part, em);
        if (e == ERR_OK) {
            do { /* nothing at the start divides nothing */
                e = matcher_find(m, &found, em);
                (void)(e == ERR_OK && found && matcher_group(m, 0, &start, &end));
            } while (e == ERR_OK && found && end == 0);
            matcher_free(m);
        }
        if (e == ERR_OK && !found) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] does not contain value_split [%.*s]",
                           STR_ARG(o->field), STR_ARG(o->value_split));
        }
        if (stop_often()) {
            return err_set(em, ERR_CANCELLED, "the pipeline was cancelled");
        }
        e = e == ERR_OK ? put_pair(o, str_slice(part, 0, start), str_slice(part, end, part.n), d, em) : e;
    }
    return e;
}

static enum err run_kv(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct kv_own *o = own;
    struct json *v;
    struct regex *fields, *values;
    enum err e = ingest_get_as(d, o->field, JSON_STRING, o->ignore_missing, &v, em);
    if (e != ERR_OK || (v == NULL && o->ignore_missing)) {
        return e;
    }
    if (v == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot extract key-value pairs.",
                       STR_ARG(o->field));
    }
    e = regex_new(&fields, o->field_split, 0, em);
    if (e != ERR_OK) {
        return e;
    }
    e = regex_new(&values, o->value_split, 0, em);
    if (e == ERR_OK) {
        e = put_pairs(o, v->s, fields, values, d, em);
        regex_free(values);
    }
    regex_free(fields);
    return e;
}

const struct processor_row processor_kv = {"kv", sizeof(struct kv_own), read_kv, run_kv};

/* ---- csv ----------------------------------------------------------------------------------------------- */

struct csv_own {
    struct str field;
    struct str *targets;
    uint32_t n;
    struct str separator, quote; /* a character each */
    bool trim, ignore_missing, has_empty;
    struct json empty;
};

static enum err read_csv(struct config *c, void *own)
{
    struct csv_own *o = own;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_str_or(c, "quote", "\"", &o->quote) : e;
    if (e == ERR_OK && utf16_length(o->quote) != 1) {
        return config_fail(c, "quote", "quote has to be single character like \" or '");
    }
    e = e == ERR_OK ? config_str_or(c, "separator", ",", &o->separator) : e;
    if (e == ERR_OK && utf16_length(o->separator) != 1) {
        return config_fail(c, "separator", "separator has to be single character like , or ;");
    }
    e = e == ERR_OK ? config_bool(c, "trim", false, &o->trim) : e;
    const struct json *empty = e == ERR_OK ? config_take(c, "empty_value") : NULL;
    if (e == ERR_OK && empty == NULL && json_get(c->v, "empty_value") != NULL) { /* null */
        return config_fail(c, "empty_value", "required property is missing");
    }
    o->has_empty = empty != NULL;
    if (empty != NULL && !ingest_copy(&o->empty, empty, c->arena)) {
        return err_no_memory(c->em);
    }
    e = e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
    e = e == ERR_OK ? config_strs(c, "target_fields", true, &o->targets, &o->n) : e;
    if (e == ERR_OK && o->n == 0) {
        return config_fail(c, "target_fields", "target fields list can't be empty");
    }
    return e;
}

struct csv_reader {
    const struct csv_own *o;
    struct ingest_doc *d;
    struct errmsg *em;
    struct str text;
    size_t at, from; /* from: where the field begins, as Elasticsearch counts */
    uint32_t field;
};

static bool csv_at(const struct csv_reader *r, struct str what)
{
    return str_starts(str_slice(r->text, r->at, r->text.n), what);
}

static enum err csv_put(struct csv_reader *r, struct str s)
{
    const struct csv_own *o = r->o;
    struct json v = json_mk_str(s);
    struct str path = o->targets[r->field++];
    if (s.n == 0) {
        if (!o->has_empty) {
            return ERR_OK;
        }
        if (!ingest_copy(&v, &o->empty, r->d->arena)) {
            return err_no_memory(r->em);
        }
    }
    return ingest_put(r->d, path, &v, r->em);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* What is wrong at a place, which is told in UTF-16 units. */
static size_t csv_place(const struct csv_reader *r)
{
    return utf16_length(str_slice(r->text, 0, r->at));
}

static enum err csv_quoted(struct csv_reader *r)
{
    const struct csv_own *o = r->o;
    struct buf b;
    buf_init(&b, r->d->arena->alloc, (size_t)64 << 20);
    bool closed = false;
    for (r->at += o->quote.n; !closed && r->at < r->text.n;) {
        if (!csv_at(r, o->quote)) {
            buf_char(&b, r->text.p[r->at++]);
            continue;
        }
        r->at += o->quote.n;
        closed = !csv_at(r, o->quote);
        if (!closed) { /* two quotes are one */
            buf_str(&b, o->quote);
            r->at += o->quote.n;
        }
    }
    struct str s = arena_str(r->d->arena, buf_view(&b));
    bool failed = b.failed || s.p == NULL;
    buf_fini(&b);
    if (failed) {
        return err_no_memory(r->em);
    }
    if (!closed) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Unmatched quote");
    }
    while (r->at < r->text.n && !csv_at(r, o->separator) && is_blank(r->text.p[r->at])) {
        r->at++;
    }
    if (r->at < r->text.n && !csv_at(r, o->separator)) {
        struct str rest = str_slice(r->text, r->at, r->text.n);
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "character '%.*s' after quoted field at %zu",
                       STR_ARG(str_slice(rest, 0, utf16_to_byte(rest, 1))), csv_place(r));
    }
    r->at += r->at < r->text.n ? o->separator.n : 0;
    r->from = r->at;
    return csv_put(r, s);
}

/* Blanks behind the last field of a text stay, and a line may end in the first character of a field. */
static enum err csv_plain(struct csv_reader *r)
{
    const struct csv_own *o = r->o;
    bool first = true;
    for (; r->at < r->text.n && (first || csv_at(r, o->quote) || !csv_at(r, o->separator));
         first = false, r->at++) {
        char c = r->text.p[r->at];
        if (!first && (csv_at(r, o->quote) || c == '\n' || c == '\r')) {
            return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Illegal character inside unquoted field at %zu",
                           csv_place(r));
        }
    }
    struct str s = str_slice(r->text, r->from, r->at);
    while (o->trim && r->at < r->text.n && s.n > 0 && is_blank(s.p[s.n - 1])) {
        s.n--;
    }
    r->at += r->at < r->text.n ? o->separator.n : 0;
    r->from = r->at;
    return csv_put(r, s);
}

static enum err csv_fields(struct csv_reader *r)
{
    const struct csv_own *o = r->o;
    enum err e = ERR_OK;
    while (e == ERR_OK && r->field < o->n && r->at < r->text.n) {
        if (csv_at(r, o->quote)) {
            e = csv_quoted(r);
        } else if (csv_at(r, o->separator)) { /* nothing but blanks: the next field begins one character on */
            r->from += r->from == r->at ? o->separator.n : 1;
            r->at += o->separator.n;
            e = csv_put(r, STR(""));
        } else if (is_blank(r->text.p[r->at])) {
            r->at++;
            r->from += o->trim;
        } else {
            e = csv_plain(r);
        }
        if (stop_often()) {
            return err_set(r->em, ERR_CANCELLED, "the pipeline was cancelled");
        }
    }
    return e;
}

static enum err run_csv(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct csv_own *o = own;
    struct json *v;
    enum err e = ingest_get_as(d, o->field, JSON_STRING, o->ignore_missing, &v, em);
    if (e != ERR_OK || (v == NULL && o->ignore_missing)) {
        return e;
    }
    if (v == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot process it.",
                       STR_ARG(o->field));
    }
    struct csv_reader r = {.o = o, .d = d, .em = em, .text = v->s};
    return v->s.n > 0 ? csv_fields(&r) : ERR_OK;
}

const struct processor_row processor_csv = {"csv", sizeof(struct csv_own), read_csv, run_csv};
