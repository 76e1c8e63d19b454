/* Dates: milliseconds (date) or nanoseconds (date_nanos) since 1970. */
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

static const struct param date_params[] = {
    PARAM_ROW_INDEX,
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_STORE,
    {.name = "format", .kind = PARAM_FORMAT},
    {.name = "locale", .kind = PARAM_LOCALE},
    {.name = "null_value", .kind = PARAM_NULL_TEXT, .flags = PARAM_NULL_OK},
    PARAM_ROW_MALFORMED_B,
    PARAM_ROW_BOOST,
    PARAM_ROW_META,
    PARAM_ROW_END,
};

/* A date that was detected has the format that it was detected by. */
static void date_init(struct builder *b, struct node *n)
{
    if (b->date_format.p != NULL && !str_is(b->date_format, DATE_FORMAT_DEFAULT)) {
        n->set[param_find(n->f.class, STR("format"))] = json_new(b, json_mk_str(b->date_format));
    }
}

enum err build_date_format(struct builder *b, struct node *n)
{
    struct str given = param_given(n, "format");
    bool is_range = n->f.class->ends != NULL;
    if (given.p != NULL && str_is(given, DATE_FORMAT_DEFAULT)) {
        param_forget(n, "format");
        given = STR_NULL;
    }
    if (is_range && n->f.class->ends->kind != VALUE_DATE) {
        param_forget(n, "locale");
        return given.p == NULL
                   ? ERR_OK
                   : err_set(
                       b->em, ERR_ILLEGAL_ARGUMENT,
                       "field [%.*s] of type [range] should not define a dateTimeFormatter unless it is "
                       "a DATE type",
                       STR_ARG(n->f.name));
    }
    struct str pattern = given.p != NULL ? given : STR(DATE_FORMAT_DEFAULT);
    enum err e = date_format_new(&n->f.format, pattern, b->arena, b->em);
    if (e == ERR_ILLEGAL_ARGUMENT && !is_range) {
        return err_wrap(b->em, e, "Error parsing [format] on field [%.*s]: %s", STR_ARG(n->f.name),
                        err_reason(b->em));
    }
    struct str locale = param_given(n, "locale");
    return e != ERR_OK || locale_is_english(locale) || !date_format_is_local(n->f.format)
               ? e
               : err_set(
                   b->em, ERR_ILLEGAL_ARGUMENT,
                   "locale [%.*s] of field [%.*s] is not supported with the format [%.*s]: names and weeks "
                   "are English",
                   STR_ARG(locale), STR_ARG(n->f.name), STR_ARG(pattern));
}

static enum err parse_date(struct doc_parser *p, const struct field *f, struct str s, int64_t *out)
{
    struct instant t;
    if (!f->class->is_nanos) {
        return date_parse_ms(f->format, s, NULL, out, p->em);
    }
    enum err e = date_parse(f->format, s, NULL, DATE_FILL_MIN, &t, p->em);
    return e == ERR_OK ? instant_to_nanos(t, out, p->em) : e;
}

static enum err date_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    int64_t at;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK || (s.p == NULL && f->null_value == NULL)) {
        return e;
    }
    if (s.p == NULL) {
        struct errmsg *em = p->em;
        p->em = NULL;
        e = parse_date(p, f, f->null_value->s, &at);
        p->em = em;
        return e == ERR_OK ? doc_add_num(p, f, at) : e == ERR_NO_MEMORY ? err_no_memory(p->em) : ERR_OK;
    }
    e = parse_date(p, f, s, &at);
    if (e != ERR_OK) {
        return doc_malformed(p, f, v, e);
    }
    return doc_add_num(p, f, at);
}

static void show_date(const struct value_format *f, const struct json *v, UNUSED struct arena *arena,
                      struct jsonw *w)
{
    struct instant t;
    if (f->field->format != NULL
        && date_parse(f->field->format, json_text(v), NULL, DATE_FILL_MIN, &t, NULL) == ERR_OK) {
        value_write_date(f, t, w);
    }
}

#define DATE(type_name)                                                                           \
    .name = (type_name), .params = date_params, .init = date_init, .build = build_date_format,    \
    .value = date_value, .kind = VALUE_DATE, .show_format = value_date_format, .show = show_date, \
    .queries = QUERIES_DATES

const struct field_class field_class_date = {DATE("date")};

const struct field_class field_class_date_nanos = {DATE("date_nanos"), .is_nanos = true};
