/* Booleans: terms "T" and "F", and 1 and 0 by document. */
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

static const struct param boolean_params[] = {
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_INDEX,
    {.name = "null_value", .kind = PARAM_NULL_BOOL, .flags = PARAM_NULL_OK},
    PARAM_ROW_STORE,
    PARAM_ROW_BOOST,
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static enum err boolean_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    bool on = false;
    if (v->type == JSON_NULL) {
        if (f->null_value == NULL) {
            return ERR_OK;
        }
        on = f->null_value->b;
    } else if (v->type == JSON_BOOL) {
        on = v->b;
    } else if (v->type != JSON_STRING) {
        return err_set(p->em, ERR_JSON, "Current token (%s) not of boolean type", jr_token(v));
    } else if (v->s.n > 0 && !num_parse_bool(v->s, &on)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] as only [true] or [false] are allowed.", STR_ARG(v->s));
    }
    struct doc_value *to;
    if (f->index || f->store) {
        to = doc_add(p, f, DOC_TERM);
        if (to == NULL) {
            return err_no_memory(p->em);
        }
        to->bytes = on ? STR("T") : STR("F");
        to->to_column = false;
    }
    if (f->doc_values) {
        to = doc_add(p, f, DOC_NUM);
        if (to == NULL) {
            return err_no_memory(p->em);
        }
        to->num = on ? 1 : 0;
        to->to_index = to->to_store = false;
    }
    return ERR_OK;
}

static enum err boolean_term(UNUSED const struct field *f, struct str text, UNUSED struct arena *arena,
                             struct str *out, struct errmsg *em)
{
    bool on = str_is(text, "true");
    if (!on && !str_is(text, "false")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Can't parse boolean value [%.*s], expected [true] or [false]", STR_ARG(text));
    }
    *out = on ? STR("T") : STR("F");
    return ERR_OK;
}

static void show_boolean(UNUSED const struct value_format *f, const struct json *v,
                         UNUSED struct arena *arena, struct jsonw *w)
{
    struct str text = json_text(v);
    bool b;
    if (v->type == JSON_BOOL) {
        jw_bool(w, v->b);
    } else if (text.n == 0) {
        jw_bool(w, false);
    } else if (num_parse_bool(text, &b)) {
        jw_bool(w, b);
    }
}

const struct field_class field_class_boolean = {
    .name = "boolean",
    .params = boolean_params,
    .value = boolean_value,
    .kind = VALUE_BOOLEAN,
    .queries = QUERIES_TERMS,
    .term = boolean_term,
    .show = show_boolean,
};
