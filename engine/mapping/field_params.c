/* One parameter of a field: from the definition into the field, and the form in which it prints. */
#include "engine/mapping/field_params.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "engine/mapping/java.h"

#include <math.h>

struct json *json_new(struct builder *b, struct json v)
{
    struct json *p = ARENA_NEW(b->arena, struct json);
    if (p != NULL) {
        *p = v;
    }
    return p;
}

enum err param_keep(struct builder *b, struct node *n, size_t i, struct json v)
{
    n->set[i] = json_new(b, v);
    return n->set[i] != NULL ? ERR_OK : no_memory(b);
}

enum err param_text(struct builder *b, const struct json *v, struct str *out)
{
    *out = java_text(v, b->arena);
    return out->p != NULL ? ERR_OK : no_memory(b);
}

/* A number as Java prints it, as a value. */
enum err param_fraction(struct builder *b, double v, bool single, struct json *out)
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

enum err param_whole(struct builder *b, int64_t v, struct json *out)
{
    *out = (struct json){.type = JSON_NUMBER, .s = arena_printf(b->arena, "%lld", (long long)v)};
    return out->s.p != NULL ? ERR_OK : no_memory(b);
}

enum err parse_node_bool(struct builder *b, const struct json *v, bool *out)
{
    if (v->type == JSON_NULL) {
        return err_set(b->em, ERR_NULL_POINTER,
                       "Cannot invoke \"Object.toString()\" because \"node\" is null");
    }
    struct str s;
    enum err e = param_text(b, v, &s);
    if (e == ERR_OK && !num_parse_bool(s, out)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] as only [true] or [false] are allowed.", STR_ARG(s));
    }
    return e;
}

enum err parse_named_bool(struct builder *b, const char *name, const struct json *v, bool *out)
{
    enum err e = parse_node_bool(b, v, out);
    return e == ERR_ILLEGAL_ARGUMENT ? err_wrap(b->em, e, "Could not convert [%s] to boolean", name) : e;
}

enum err parse_node_int(struct builder *b, const struct json *v, int32_t *out)
{
    return java_int(v, out, b->arena, b->em);
}

enum err parse_node_double(struct builder *b, const struct json *v, double *out)
{
    struct str s;
    enum err e = param_text(b, v, &s);
    if (e == ERR_OK && !num_parse_double(s, out)) {
        return jr_bad_double(s, b->em);
    }
    return e;
}

/* ---- kinds ---- */

static void *member_at(struct node *n, const struct param *p)
{
    return (char *)&n->f + p->offset;
}

static enum err take_bool(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    const struct param *p = &n->f.class->params[i];
    bool value = false, dflt = p->dflt != 0;
    enum err e = parse_node_bool(b, v, &value);
    if (e != ERR_OK) {
        return e;
    }
    *(bool *)member_at(n, p) = value;
    n->set[i] = NULL;
    bool shown = p->kind == PARAM_EXPLICIT_BOOL || value != dflt;
    return shown ? param_keep(b, n, i, json_mk_bool(value)) : ERR_OK;
}

static enum err take_int(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    const struct param *p = &n->f.class->params[i];
    int32_t value = 0;
    struct json shown;
    enum err e = parse_node_int(b, v, &value);
    if (e != ERR_OK || (e = param_whole(b, value, &shown)) != ERR_OK) {
        return e;
    }
    *(int32_t *)member_at(n, p) = value;
    n->set[i] = NULL;
    return value != p->dflt ? param_keep(b, n, i, shown) : ERR_OK;
}

static enum err take_boost(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    struct json shown;
    float value = 1;
    enum err e = param_text(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (!num_parse_float(s, &value)) {
        return jr_bad_double(s, b->em);
    }
    n->f.boost = value;
    n->set[i] = NULL;
    if (value == 1.0F || (e = param_fraction(b, (double)value, true, &shown)) != ERR_OK) {
        return e;
    }
    return param_keep(b, n, i, shown);
}

static enum err unknown_value(struct builder *b, const struct param *p, struct str s, const char *accepted)
{
    return err_set(b->em, ERR_MAPPER_PARSING,
                   "Unknown value [%.*s] for field [%s] - accepted values are [%s]", STR_ARG(s), p->name,
                   accepted);
}

static enum err take_index_options(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    static const char *const names[] = {"docs", "freqs", "positions", "offsets"};
    const struct param *p = &n->f.class->params[i];
    struct str s;
    enum err e = param_text(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    for (int32_t k = 0; k <= p->dflt; k++) {
        if (str_is(s, names[k])) {
            enum index_options usual = n->f.class->usual_options;
            n->f.options = (enum index_options)k;
            n->set[i] = NULL;
            return n->f.options != usual ? param_keep(b, n, i, json_mk_str(s)) : ERR_OK;
        }
    }
    return unknown_value(b, p, s,
                         p->dflt == INDEX_OFFSETS ? "positions, docs, freqs, offsets" : "docs, freqs");
}

static enum err take_term_vector(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    static const char *const names[] = {
        "no",
        "yes",
        "with_positions",
        "with_offsets",
        "with_positions_offsets",
        "with_positions_payloads",
        "with_positions_offsets_payloads",
    };
    struct str s;
    enum err e = param_text(b, v, &s);
    for (size_t k = 0; e == ERR_OK && k < ARRAY_LEN(names); k++) {
        if (str_is(s, names[k])) {
            n->set[i] = NULL;
            return k > 0 ? param_keep(b, n, i, json_mk_str(s)) : ERR_OK;
        }
    }
    return e != ERR_OK ? e
                       : unknown_value(b, &n->f.class->params[i], s,
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
    enum err e = param_text(b, v, &s);
    e = e == ERR_OK ? similarity_of(b, s, &n->f.similarity, &known) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (known) {
        return param_keep(b, n, i, json_mk_str(s));
    }
    if (str_is(s, "classic")) {
        return err_set(
            b->em, ERR_ILLEGAL_ARGUMENT,
            "The [classic] similarity may not be used anymore. Please use the [BM25] similarity or build a "
            "custom [scripted] similarity instead.");
    }
    return err_set(b->em, ERR_MAPPER_PARSING, "Unknown Similarity type [%.*s] for field [%.*s]", STR_ARG(s),
                   STR_ARG(n->f.name));
}

static enum err take_analyzer(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    enum err e = param_text(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    const struct analyzer *an = analysis_analyzer(b->analysis, s);
    if (an == NULL) {
        e = analyzer_not_built(s, b->em);
        return e != ERR_OK ? e
                           : err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                                     "analyzer [%.*s] has not been configured in mappings", STR_ARG(s));
    }
    enum param_kind kind = n->f.class->params[i].kind;
    if (kind == PARAM_ANALYZER) {
        n->f.analyzer = an;
    } else if (kind == PARAM_SEARCH_ANALYZER) {
        n->f.search_analyzer = an;
    } else {
        n->f.search_quote_analyzer = an;
    }
    return param_keep(b, n, i, json_mk_str(s)); /* params_build() forgets it when it is the default */
}

static enum err take_locale(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    enum err e = param_text(b, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    e = locale_parse(b, s, &s);
    n->set[i] = NULL;
    return e == ERR_OK && s.n > 0 ? param_keep(b, n, i, json_mk_str(s)) : e;
}

static enum err take_scaling(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    double d = 0;
    struct json shown;
    enum err e = v->type == JSON_NULL ? ERR_OK : parse_node_double(b, v, &d);
    e = e == ERR_OK ? param_fraction(b, d, false, &shown) : e;
    n->f.scaling_factor = d;
    return e == ERR_OK && v->type != JSON_NULL ? param_keep(b, n, i, shown) : e;
}

static enum err take_text(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    struct str s;
    n->set[i] = NULL;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = param_text(b, v, &s);
    if (n->f.class->params[i].kind == PARAM_CONST) {
        n->f.const_value = s;
    }
    return e == ERR_OK ? param_keep(b, n, i, json_mk_str(s)) : e;
}

enum err param_parse(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    switch (n->f.class->params[i].kind) {
    case PARAM_BOOL:
    case PARAM_EXPLICIT_BOOL:
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
        return param_number_map(b, n, i, v);
    case PARAM_PREFIXES:
        return param_prefixes(b, n, i, v);
    case PARAM_LOCALE:
        return take_locale(b, n, i, v);
    case PARAM_META:
        return param_meta(b, n, i, v);
    case PARAM_CONTEXTS:
        return contexts_parse(b, n, i, v);
    case PARAM_RELATIONS:
        return param_relations(b, n, i, v);
    case PARAM_SCALING:
        return take_scaling(b, n, i, v);
    case PARAM_NULL_TEXT:
    case PARAM_NULL_NUMBER:
    case PARAM_NULL_BOOL:
    case PARAM_NULL_POINT:
        return param_null_value(b, n, i, v);
    case PARAM_CONST:
    case PARAM_FORMAT:
    case PARAM_NORMALIZER:
        return take_text(b, n, i, v);
    }
    return ERR_OK;
}
