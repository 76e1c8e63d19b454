/* Values of search_after into cells. */
#include "engine/collect/sort.h"

#include "common/base/coerce.h"
#include "common/base/date_math.h"
#include "common/base/inet.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

/* The name that Lucene has for a key: none for documents' numbers. */
static struct str key_name(const struct sort_key *k)
{
    switch (k->spec->kind) {
    case SORT_SCORE:
        return STR("_score");
    case SORT_DOC:
        return STR("null");
    case SORT_SCRIPT:
        return STR("_script");
    case SORT_GEO:
        return k->spec->field;
    case SORT_SHARD_DOC:
    case SORT_FIELD:
        break;
    }
    return k->field == NULL ? STR("__anonymous_") : k->spec->field;
}

static enum err refuse_after(const struct sort_key *k, struct str text, struct errmsg *em)
{
    jr_bad_double(text, em);
    return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse search_after value for field [%.*s].",
                    STR_ARG(key_name(k)));
}

static enum err text_after(const struct sort_key *k, const struct json *v, struct sort_cell *out,
                           struct errmsg *em)
{
    struct str text = json_text(v);
    uint8_t ip[16];
    out->null = v->type == JSON_NULL;
    if (k->is_address && !out->null) {
        if (inet_parse(text, ip, em) != ERR_OK) {
            return ERR_ILLEGAL_ARGUMENT;
        }
        text = str_mk(ip, 16);
    }
    buf_str(&out->text, text);
    return out->text.failed ? err_no_memory(em) : ERR_OK;
}

static enum err fraction_after(const struct sort_key *k, struct str text, struct sort_cell *out,
                               struct errmsg *em)
{
    double d;
    if (!num_parse_double(text, &d)) {
        return refuse_after(k, text, em);
    }
    out->num = k->spec->kind == SORT_SCORE ? num_from_float((float)d)
                                           : num_from_double(k->is_float ? (double)(float)d : d);
    return ERR_OK;
}

static enum err date_after(const struct sort_key *k, struct str text, struct sort_cell *out,
                           struct errmsg *em)
{
    struct instant t;
    if (str_starts(text, STR("now"))) {
        err_set(em, ERR_ILLEGAL_STATE, "now() is not allowed in [search_after] key");
        return err_wrap(em, ERR_PARSE, "could not read the current timestamp");
    }
    enum err e = date_math(k->field->format, text, DATE_WITHOUT_NOW, NULL, DATE_FILL_MIN, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    if (k->is_nanos) {
        return instant_to_nanos(t, &out->num, em);
    }
    return instant_to_ms_exact(t, &out->num, em);
}

static enum err whole_after(const struct sort_key *k, const struct json *v, struct sort_cell *out,
                            struct errmsg *em)
{
    struct str text = json_text(v);
    enum value_kind kind = k->field != NULL ? k->field->class->kind : VALUE_NUMBER;
    double d;
    bool truth;
    if (v->type == JSON_NUMBER && num_parse_i64(text, &out->num)) {
        return ERR_OK;
    }
    if (v->type == JSON_NUMBER && num_parse_double(text, &d)) {
        out->num = num_double_to_i64(d);
        return ERR_OK;
    }
    if (kind == VALUE_DATE && k->field->format != NULL) {
        return date_after(k, text, out, em);
    }
    if (kind == VALUE_BOOLEAN) {
        if (!num_parse_bool(text, &truth) || text.n == 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Cannot parse boolean [%.*s], expected either [true] or [false]", STR_ARG(text));
        }
        out->num = truth;
        return ERR_OK;
    }
    if (num_parse_i64(text, &out->num)) {
        return ERR_OK;
    }
    if (!num_parse_double(text, &d)) {
        return refuse_after(k, text, em);
    }
    out->num = num_double_to_i64(floor(d));
    return ERR_OK;
}

enum err sort_cell_parse(const struct sort_plan *p, uint32_t i, const struct json *v, struct sort_cell *out,
                         struct errmsg *em)
{
    const struct sort_key *k = &p->keys[i];
    out->leaf = UINT32_MAX;
    out->settled = true;
    if (k->is_text) {
        return text_after(k, v, out, em);
    }
    if (v->type == JSON_NULL) {
        return refuse_after(k, STR("null"), em);
    }
    if (k->floating || k->spec->kind == SORT_SCORE) {
        return fraction_after(k, json_text(v), out, em);
    }
    return whole_after(k, v, out, em);
}
