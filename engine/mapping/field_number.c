/* Numbers: whole ones, fractions, fractions kept as whole numbers (scaled_float), and counts of tokens. */
#include "common/base/num.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

#include <math.h>

static const struct param number_params[] = {
    PARAM_ROW_INDEX,  PARAM_ROW_DOC_VALUES,
    PARAM_ROW_STORE,  PARAM_ROW_MALFORMED,
    PARAM_ROW_COERCE, {.name = "null_value", .kind = PARAM_NULL_NUMBER, .flags = PARAM_NULL_OK},
    PARAM_ROW_META,   PARAM_ROW_END,
};

static const struct param scaled_params[] = {
    PARAM_ROW_INDEX,
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_STORE,
    PARAM_ROW_MALFORMED,
    PARAM_ROW_COERCE,
    {.name = "scaling_factor", .kind = PARAM_SCALING, .flags = PARAM_NULL_OK},
    {.name = "null_value", .kind = PARAM_NULL_NUMBER, .flags = PARAM_NULL_OK},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static const struct param token_count_params[] = {
    PARAM_ROW_INDEX,
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_STORE,
    {.name = "analyzer", .kind = PARAM_ANALYZER, .flags = PARAM_UPDATEABLE},
    {.name = "null_value", .kind = PARAM_NULL_NUMBER, .flags = PARAM_NULL_OK},
    {.name = "enable_position_increments",
     .kind = PARAM_BOOL,
     .offset = PARAM_AT(enable_position_increments),
     .dflt = 1},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static enum err build_scaled(struct builder *b, struct node *n)
{
    if (param_given(n, "scaling_factor").p == NULL) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Field [scaling_factor] is required");
    }
    if (!isfinite(n->f.scaling_factor) || n->f.scaling_factor <= 0) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "[scaling_factor] must be a positive number, got [%s]",
                       num_text(n->f.scaling_factor).s);
    }
    return ERR_OK;
}

static enum err build_token_count(struct builder *b, struct node *n)
{
    return n->f.analyzer != NULL
               ? ERR_OK
               : err_set(b->em, ERR_MAPPER_PARSING, "Analyzer must be set for field [%.*s] but wasn't.",
                         STR_ARG(n->f.name));
}

/* ---- values ---- */

static int64_t sortable(const struct field *f, const struct num *n)
{
    switch (f->class->form) {
    case FORM_DOUBLE:
        return num_from_double(n->d);
    case FORM_FLOAT:
        return num_from_float((float)n->d);
    case FORM_SCALED:
        return field_scaled(f, n->d);
    case FORM_WHOLE:
        return n->i;
    }
    return n->i;
}

/* A scaled_float has its own words for a number that is not finite. */
static enum err not_finite(struct doc_parser *p, const struct json *v, enum err e)
{
    double d;
    if (!num_parse_double(json_text(v), &d) || isfinite(d)) {
        return e;
    }
    return err_set(p->em, e, "[scaled_float] only supports finite values, but got [%s]", num_text(d).s);
}

static enum err number_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct num n;
    enum num_type type = f->class->num;
    if (v->type == JSON_NULL || (f->coerce && v->type == JSON_STRING && v->s.n == 0)) {
        if (f->null_value == NULL) {
            return ERR_OK;
        }
        enum err e = num_of_text(&n, f->null_value->s, type, true, p->em);
        return e == ERR_OK ? doc_add_num(p, f, sortable(f, &n)) : e;
    }
    enum err e = num_of_json(&n, v, type, f->coerce, p->text, p->em);
    if (e != ERR_OK) {
        if (f->class->form
            == FORM_SCALED) { /* its mapper keeps no note, and lets through what is a text or a number */
            e = e == ERR_ILLEGAL_ARGUMENT ? not_finite(p, v, e) : e;
            return e == ERR_JSON || !f->ignore_malformed ? e : ERR_OK;
        }
        return doc_malformed(p, f, v, e);
    }
    e = doc_add_num(p, f, sortable(f, &n));
    double exact;
    if (e == ERR_OK && type == NUM_HALF_FLOAT && f->store && num_parse_double(json_text(v), &exact)) {
        return doc_keep_text(p, &p->part->v[p->part->n - 1], exact, NULL) ? ERR_OK : err_no_memory(p->em);
    }
    return e;
}

static enum err token_count_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    int64_t count = 0;
    if (s.p == NULL) {
        return f->null_value == NULL || !num_parse_i64(f->null_value->s, &count) ? ERR_OK
                                                                                 : doc_add_num(p, f, count);
    }
    e = analyzer_run(f->analyzer, s, &p->tokens, p->em);
    for (size_t i = 0; e == ERR_OK && i < p->tokens.n; i++) {
        int32_t inc = p->tokens.v[i].pos_inc;
        count += f->enable_position_increments ? inc : MIN_OF(1, inc);
    }
    count += f->enable_position_increments ? p->tokens.end_pos_inc : 0;
    return e == ERR_OK ? doc_add_num(p, f, count) : e;
}

/* As the source has it: malformed values that were let through are not values. */
static void show_number(const struct value_format *f, const struct json *v, UNUSED struct arena *arena,
                        struct jsonw *w)
{
    struct num n;
    const struct field *field = f->field;
    enum num_type type = field->class->num;
    struct str text = json_text(v);
    double shown;
    enum err e = num_type_is_whole(type) ? num_of_text(&n, text, type, field->coerce, NULL)
                                         : num_of_json(&n, v, type, true, STR(""), NULL);
    if (text.n == 0 || e != ERR_OK) {
        return;
    }
    switch (field->class->form) {
    case FORM_WHOLE:
        jw_i64(w, n.i);
        return;
    case FORM_FLOAT:
        shown = n.d;
        if (type != NUM_HALF_FLOAT || num_parse_double(text, &shown)) {
            jw_float(w, (float)shown);
        }
        return;
    case FORM_SCALED:
        jw_double(w, (double)field_scaled(field, n.d) / field->scaling_factor);
        return;
    case FORM_DOUBLE:
        jw_double(w, n.d);
        return;
    }
}

#define NUMBER(type_name, type_params, type, column)                                           \
    .name = (type_name), .params = (type_params), .value = number_value, .kind = VALUE_NUMBER, \
    .num = (type), .form = (column), .is_numeric = true, .show = show_number, .queries = QUERIES_NUMBERS

const struct field_class field_class_long = {
    NUMBER("long", number_params, NUM_LONG, FORM_WHOLE),
    .collapses = true,
};

const struct field_class field_class_integer = {
    NUMBER("integer", number_params, NUM_INTEGER, FORM_WHOLE),
    .collapses = true,
};

const struct field_class field_class_short = {
    NUMBER("short", number_params, NUM_SHORT, FORM_WHOLE),
    .collapses = true,
};

const struct field_class field_class_byte = {
    NUMBER("byte", number_params, NUM_BYTE, FORM_WHOLE),
    .collapses = true,
};

const struct field_class field_class_double = {
    NUMBER("double", number_params, NUM_DOUBLE, FORM_DOUBLE),
    .collapses = true,
};

const struct field_class field_class_float = {
    NUMBER("float", number_params, NUM_FLOAT, FORM_FLOAT),
    .collapses = true,
};

const struct field_class field_class_half_float = {
    NUMBER("half_float", number_params, NUM_HALF_FLOAT, FORM_FLOAT),
    .collapses = true,
};

const struct field_class field_class_scaled_float = {
    NUMBER("scaled_float", scaled_params, NUM_DOUBLE, FORM_SCALED),
    .build = build_scaled,
};

const struct field_class field_class_token_count = {
    .name = "token_count",
    .shown = "integer",
    .params = token_count_params,
    .build = build_token_count,
    .value = token_count_value,
    .kind = VALUE_NUMBER,
    .num = NUM_INTEGER,
    .is_numeric = true,
    .is_derived = true,
    .collapses = true,
    .show_format = value_decimal_format,
    .queries = QUERIES_NUMBERS,
};
