/* One parameter of a field: from the definition into the field, and the form in which it prints. */
#include "common/base/coerce.h"
#include "common/base/geo.h"
#include "common/base/num.h"
#include "common/base/utf8.h"
#include "engine/mapping/java.h"
#include "engine/mapping/mapping_int.h"

#include <math.h>

struct json *json_new(struct builder *b, struct json v)
{
    struct json *p = ARENA_NEW(b->arena, struct json);
    if (p != NULL) {
        *p = v;
    }
    return p;
}

static enum err keep(struct builder *b, struct node *n, size_t i, struct json v)
{
    n->set[i] = json_new(b, v);
    return n->set[i] != NULL ? ERR_OK : no_memory(b);
}

static enum err text_of(struct builder *b, const struct json *v, struct str *out)
{
    *out = java_text(v, b->arena);
    return out->p != NULL ? ERR_OK : no_memory(b);
}

/* A number as Java prints it, as a value. */
static enum err keep_fraction(struct builder *b, double v, bool single, struct json *out)
{
    struct buf buf;
    buf_init(&buf, b->arena->alloc, 64);
    if (single) {
        num_put_float(&buf, (float)v);
    } else {
        num_put_double(&buf, v);
    }
    struct str s = buf.failed ? STR_NULL : arena_str(b->arena, buf_view(&buf));
    buf_fini(&buf);
    *out = (struct json){.type = JSON_NUMBER, .s = s};
    return s.p != NULL ? ERR_OK : no_memory(b);
}

static enum err keep_whole(struct builder *b, int64_t v, struct json *out)
{
    *out = (struct json){.type = JSON_NUMBER, .s = arena_printf(b->arena, "%lld", (long long)v)};
    return out->s.p != NULL ? ERR_OK : no_memory(b);
}

enum err parse_node_bool(struct builder *b, const struct json *v, bool *out)
{
    if (v->type == JSON_NULL) {
        return err_set(b->em, ERR_NULL_POINTER, "Cannot invoke \"Object.toString()\" because \"node\" is null");
    }
    struct str s;
    enum err e = text_of(b, v, &s);
    if (e == ERR_OK && !num_parse_bool(s, out)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Failed to parse value [%.*s] as only [true] or [false] are allowed.",
                       STR_ARG(s));
    }
    return e;
}

enum err parse_named_bool(struct builder *b, const char *name, const struct json *v, bool *out)
{
    enum err e = parse_node_bool(b, v, out);
    return e == ERR_ILLEGAL_ARGUMENT ? err_wrap(b->em, e, "Could not convert [%s] to boolean", name) : e;
}

static enum err parse_node_int(struct builder *b, const struct json *v, int32_t *out)
{
    struct str s;
    enum err e = text_of(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (v->type != JSON_NUMBER) {
        return num_parse_i32(s, out) ? ERR_OK
                                     : err_set(b->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
    }
    double d = json_double(v);
    if (d != trunc(d)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "%.*s is not an integer value", STR_ARG(s));
    }
    if (d > INT32_MAX || d < INT32_MIN) {
        return err_set(b->em, ERR_ARITHMETIC, "integer overflow");
    }
    *out = (int32_t)d;
    return ERR_OK;
}

static enum err parse_node_double(struct builder *b, const struct json *v, double *out)
{
    struct str s;
    enum err e = text_of(b, v, &s);
    if (e == ERR_OK && !num_parse_double(s, out)) {
        return err_set(b->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
    }
    return e;
}

static enum err expect_map(struct builder *b, const struct json *v)
{
    return v->type == JSON_OBJECT ? ERR_OK
                                  : err_set(b->em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.Map",
                                            java_class(v));
}

static enum err leftover(struct builder *b, const struct node *n, const struct json_member *m)
{
    struct str s = java_text(&m->value, b->arena);
    return err_set(b->em, ERR_MAPPER_PARSING, "Mapping definition for [%.*s] has unsupported parameters:  [%.*s : %.*s]",
                   STR_ARG(n->f.name), STR_ARG(m->key), STR_ARG(s));
}

/* ---- kinds ---- */

static void *member_at(struct node *n, const struct param *p)
{
    return (char *)&n->f + p->offset;
}

static enum err take_bool(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    const struct param *p = &n->spec->params[i];
    bool value = false, dflt = p->dflt != 0;
    enum err e = parse_node_bool(b, v, &value);
    if (e != ERR_OK) {
        return e;
    }
    if (p->kind != PARAM_FLAG_ONLY) {
        *(bool *)member_at(n, p) = value;
    }
    n->set[i] = NULL;
    bool shown = p->kind == PARAM_EXPLICIT_BOOL || value != dflt;
    return shown ? keep(b, n, i, json_mk_bool(value)) : ERR_OK;
}

static enum err take_int(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    const struct param *p = &n->spec->params[i];
    int32_t value = 0;
    struct json shown;
    enum err e = parse_node_int(b, v, &value);
    if (e != ERR_OK || (e = keep_whole(b, value, &shown)) != ERR_OK) {
        return e;
    }
    *(int32_t *)member_at(n, p) = value;
    n->set[i] = NULL;
    return value != p->dflt ? keep(b, n, i, shown) : ERR_OK;
}

static enum err take_boost(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    struct json shown;
    float value = 1;
    enum err e = text_of(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (!num_parse_float(s, &value)) {
        return err_set(b->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
    }
    n->f.boost = value;
    n->set[i] = NULL;
    if (value == 1.0F || (e = keep_fraction(b, (double)value, true, &shown)) != ERR_OK) {
        return e;
    }
    return keep(b, n, i, shown);
}

static enum err unknown_value(struct builder *b, const struct param *p, struct str s, const char *accepted)
{
    return err_set(b->em, ERR_MAPPER_PARSING, "Unknown value [%.*s] for field [%s] - accepted values are [%s]", STR_ARG(s),
                   p->name, accepted);
}

static enum err take_index_options(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    static const char *const names[] = {"docs", "freqs", "positions", "offsets"};
    const struct param *p = &n->spec->params[i];
    struct str s;
    enum err e = text_of(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    for (int32_t k = 0; k <= p->dflt; k++) {
        if (str_is(s, names[k])) {
            enum index_options usual = n->f.type == FT_TEXT ? INDEX_POSITIONS : INDEX_DOCS;
            n->f.options = (enum index_options)k;
            n->set[i] = NULL;
            return n->f.options != usual ? keep(b, n, i, json_mk_str(s)) : ERR_OK;
        }
    }
    return unknown_value(b, p, s, p->dflt == INDEX_OFFSETS ? "positions, docs, freqs, offsets" : "docs, freqs");
}

static enum err take_term_vector(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    static const char *const names[] = {
        "no", "yes", "with_positions", "with_offsets", "with_positions_offsets", "with_positions_payloads",
        "with_positions_offsets_payloads",
    };
    struct str s;
    enum err e = text_of(b, v, &s);
    for (size_t k = 0; e == ERR_OK && k < ARRAY_LEN(names); k++) {
        if (str_is(s, names[k])) {
            n->set[i] = NULL;
            return k > 0 ? keep(b, n, i, json_mk_str(s)) : ERR_OK;
        }
    }
    return e != ERR_OK ? e
                       : unknown_value(b, &n->spec->params[i], s,
                                       "no, yes, with_positions, with_offsets, with_positions_offsets, "
                                       "with_positions_payloads, with_positions_offsets_payloads");
}

static enum err take_similarity(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    bool known = false;
    n->set[i] = NULL;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = text_of(b, v, &s);
    if (e == ERR_OK) {
        e = similarity_of(b, s, &n->f.similarity, &known);
    }
    if (e != ERR_OK) {
        return e;
    }
    if (known) {
        return keep(b, n, i, json_mk_str(s));
    }
    if (str_is(s, "classic")) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "The [classic] similarity may not be used anymore. Please use the [BM25] similarity or build a "
                       "custom [scripted] similarity instead.");
    }
    return err_set(b->em, ERR_MAPPER_PARSING, "Unknown Similarity type [%.*s] for field [%.*s]", STR_ARG(s),
                   STR_ARG(n->f.name));
}

static enum err take_analyzer(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    enum err e = text_of(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    const struct analyzer *an = analysis_analyzer(b->analysis, s);
    if (an == NULL) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "analyzer [%.*s] has not been configured in mappings", STR_ARG(s));
    }
    enum param_kind kind = n->spec->params[i].kind;
    if (kind == PARAM_ANALYZER) {
        n->f.analyzer = an;
    } else if (kind == PARAM_SEARCH_ANALYZER) {
        n->f.search_analyzer = an;
    } else {
        n->f.search_quote_analyzer = an;
    }
    return keep(b, n, i, json_mk_str(s)); /* params_build() forgets it when it is the default */
}

static enum err take_number_map(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    double min = 0, max = INT32_MAX;
    int32_t segment = 0;
    enum err e = expect_map(b, v);
    for (uint32_t k = 0; e == ERR_OK && k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (str_is(m->key, "min")) {
            e = parse_node_double(b, &m->value, &min);
        } else if (str_is(m->key, "max")) {
            e = parse_node_double(b, &m->value, &max);
        } else if (str_is(m->key, "min_segment_size")) {
            e = parse_node_int(b, &m->value, &segment);
        } else {
            return leftover(b, n, m);
        }
    }
    struct json out = json_mk_object(), x;
    n->set[i] = NULL;
    if (e != ERR_OK || (min == 0 && max == INT32_MAX && segment == 0)) {
        return e;
    }
    if ((e = keep_fraction(b, min, false, &x)) != ERR_OK) {
        return e;
    }
    bool ok = json_put(&out, b->arena, STR("min"), x);
    if ((e = keep_fraction(b, max, false, &x)) != ERR_OK) {
        return e;
    }
    ok = ok && json_put(&out, b->arena, STR("max"), x);
    if ((e = keep_whole(b, segment, &x)) != ERR_OK) {
        return e;
    }
    ok = ok && json_put(&out, b->arena, STR("min_segment_size"), x);
    return ok ? keep(b, n, i, out) : no_memory(b);
}

static enum err take_prefixes(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    int32_t min = 2, max = 5;
    n->set[i] = NULL;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = expect_map(b, v);
    for (uint32_t k = 0; e == ERR_OK && k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (str_is(m->key, "min_chars")) {
            e = parse_node_int(b, &m->value, &min);
        } else if (str_is(m->key, "max_chars")) {
            e = parse_node_int(b, &m->value, &max);
        } else {
            return leftover(b, n, m);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    if (min > max) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "min_chars [%d] must be less than max_chars [%d]", min, max);
    }
    if (min < 1) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "min_chars [%d] must be greater than zero", min);
    }
    if (max >= 20) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "max_chars [%d] must be less than 20", max);
    }
    struct json out = json_mk_object(), lo, hi;
    if ((e = keep_whole(b, min, &lo)) != ERR_OK || (e = keep_whole(b, max, &hi)) != ERR_OK) {
        return e;
    }
    bool ok = json_put(&out, b->arena, STR("min_chars"), lo) && json_put(&out, b->arena, STR("max_chars"), hi);
    return ok ? keep(b, n, i, out) : no_memory(b);
}

static enum err take_meta(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        struct str s = java_text(v, b->arena);
        const char *class = strrchr(java_class(v), '.') + 1;
        return err_set(b->em, ERR_MAPPER_PARSING, "[meta] must be an object, got %s[%.*s] for field [%.*s]", class,
                       STR_ARG(s), STR_ARG(n->f.name));
    }
    if (v->n > 5) {
        return err_set(b->em, ERR_MAPPER_PARSING, "[meta] can't have more than 5 entries, but got %u on field [%.*s]",
                       v->n, STR_ARG(n->f.name));
    }
    for (uint32_t k = 0; k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (m->key.n > 20 && utf8_length(m->key) > 20) {
            return err_set(b->em, ERR_MAPPER_PARSING, "[meta] keys can't be longer than 20 chars, but got [%.*s] for field [%.*s]",
                           STR_ARG(m->key), STR_ARG(n->f.name));
        }
    }
    for (uint32_t k = 0; k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (m->value.type == JSON_NULL) {
            return err_set(b->em, ERR_MAPPER_PARSING, "[meta] values can't be null (field [%.*s])", STR_ARG(n->f.name));
        }
        if (m->value.type != JSON_STRING) {
            struct str s = java_text(&m->value, b->arena);
            return err_set(b->em, ERR_MAPPER_PARSING, "[meta] values can only be strings, but got %s[%.*s] for field [%.*s]",
                           strrchr(java_class(&m->value), '.') + 1, STR_ARG(s), STR_ARG(n->f.name));
        }
        if (utf16_length(m->value.s) > 50) {
            return err_set(b->em, ERR_MAPPER_PARSING,
                           "[meta] values can't be longer than 50 chars, but got [%.*s] for field [%.*s]",
                           STR_ARG(m->value.s), STR_ARG(n->f.name));
        }
    }
    n->set[i] = v->n > 0 ? v : NULL;
    return ERR_OK;
}

static enum err take_locale(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    enum err e = text_of(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    size_t parts = 1;
    for (size_t k = 0; k < s.n; k++) {
        parts += s.p[k] == '_' || s.p[k] == '-';
    }
    if (parts > 3) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Locales can have at most 3 parts but got %zu: [%.*s]", parts, STR_ARG(s));
    }
    n->set[i] = NULL;
    return s.n > 0 && !str_is(s, "ROOT") ? keep(b, n, i, json_mk_str(s)) : ERR_OK;
}

static enum err take_scaling(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    double d = 0;
    struct json shown;
    enum err e = v->type == JSON_NULL ? ERR_OK : parse_node_double(b, v, &d);
    if (e == ERR_OK) {
        e = keep_fraction(b, d, false, &shown);
    }
    n->f.scaling_factor = d;
    return e == ERR_OK && v->type != JSON_NULL ? keep(b, n, i, shown) : e;
}

static enum num_type num_type_for(enum field_type t)
{
    switch (t) {
    case FT_LONG:
        return NUM_LONG;
    case FT_INTEGER:
    case FT_TOKEN_COUNT:
        return NUM_INTEGER;
    case FT_SHORT:
        return NUM_SHORT;
    case FT_BYTE:
        return NUM_BYTE;
    case FT_FLOAT:
        return NUM_FLOAT;
    case FT_HALF_FLOAT:
        return NUM_HALF_FLOAT;
    default:
        return NUM_DOUBLE;
    }
}

static enum err take_null_number(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    struct num num;
    struct json shown;
    double any;
    enum err e = text_of(b, v, &s);
    if (e == ERR_OK && !num_parse_double(s, &any)) {
        return err_set(b->em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
    }
    if (e == ERR_OK) {
        e = num_of_text(&num, s, num_type_for(n->f.type), false, b->em);
    }
    if (e == ERR_OK) {
        bool single = n->f.type == FT_FLOAT || n->f.type == FT_HALF_FLOAT;
        e = num.whole ? keep_whole(b, num.i, &shown) : keep_fraction(b, num.d, single, &shown);
    }
    return e == ERR_OK ? keep(b, n, i, shown) : e;
}

static enum err take_null_point(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct geo_point p;
    enum err e = geo_point_of_json(&p, v, true, b->em);
    if (e != ERR_OK) {
        return e;
    }
    if (!geo_lat_ok(p.lat)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "illegal latitude value [%g]", p.lat);
    }
    if (!geo_lon_ok(p.lon)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "illegal longitude value [%g]", p.lon);
    }
    struct json out = json_mk_object(), lat, lon;
    if ((e = keep_fraction(b, p.lat, false, &lat)) != ERR_OK || (e = keep_fraction(b, p.lon, false, &lon)) != ERR_OK) {
        return e;
    }
    bool ok = json_put(&out, b->arena, STR("lat"), lat) && json_put(&out, b->arena, STR("lon"), lon);
    return ok ? keep(b, n, i, out) : no_memory(b);
}

static enum err take_null_value(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    n->set[i] = NULL;
    n->f.null_value = NULL;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = ERR_OK;
    struct str s;
    bool flag = false;
    switch (n->spec->params[i].kind) {
    case PARAM_NULL_NUMBER:
        e = take_null_number(b, n, i, v);
        break;
    case PARAM_NULL_BOOL:
        e = parse_node_bool(b, v, &flag);
        e = e == ERR_OK ? keep(b, n, i, json_mk_bool(flag)) : e;
        break;
    case PARAM_NULL_POINT:
        e = take_null_point(b, n, i, v);
        break;
    default:
        e = text_of(b, v, &s);
        e = e == ERR_OK ? keep(b, n, i, json_mk_str(s)) : e;
        break;
    }
    n->f.null_value = n->set[i];
    return e;
}

static enum err take_text(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    n->set[i] = NULL;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = text_of(b, v, &s);
    if (n->spec->params[i].kind == PARAM_CONST) {
        n->f.const_value = s;
    }
    return e == ERR_OK ? keep(b, n, i, json_mk_str(s)) : e;
}

enum err param_parse(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    switch (n->spec->params[i].kind) {
    case PARAM_BOOL:
    case PARAM_EXPLICIT_BOOL:
    case PARAM_FLAG_ONLY:
        return take_bool(b, n, i, v);
    case PARAM_INT:
        return take_int(b, n, i, v);
    case PARAM_BOOST:
        return take_boost(b, n, i, v);
    case PARAM_INDEX_OPTIONS:
        return take_index_options(b, n, i, v);
    case PARAM_TERM_VECTOR:
        return take_term_vector(b, n, i, v);
    case PARAM_SIMILARITY:
        return take_similarity(b, n, i, v);
    case PARAM_ANALYZER:
    case PARAM_SEARCH_ANALYZER:
    case PARAM_QUOTE_ANALYZER:
        return take_analyzer(b, n, i, v);
    case PARAM_FREQ_FILTER:
        return take_number_map(b, n, i, v);
    case PARAM_PREFIXES:
        return take_prefixes(b, n, i, v);
    case PARAM_LOCALE:
        return take_locale(b, n, i, v);
    case PARAM_META:
        return take_meta(b, n, i, v);
    case PARAM_CONTEXTS:
        return contexts_parse(b, n, i, v);
    case PARAM_SCALING:
        return take_scaling(b, n, i, v);
    case PARAM_NULL_TEXT:
    case PARAM_NULL_NUMBER:
    case PARAM_NULL_BOOL:
    case PARAM_NULL_POINT:
        return take_null_value(b, n, i, v);
    case PARAM_CONST:
    case PARAM_FORMAT:
    case PARAM_NORMALIZER:
        return take_text(b, n, i, v);
    }
    return ERR_OK;
}
