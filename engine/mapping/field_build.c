/* Fields as a whole: defaults before their parameters are read, and what can be checked and resolved only
 * after. */
#include "engine/mapping/mapping_int.h"

#include "common/base/num.h"

#include <math.h>
#include <stdio.h>

static void set_defaults_of_index(struct builder *b, struct node *n)
{
    if (param_find(n->spec, STR("ignore_malformed")) != SIZE_MAX) {
        n->f.ignore_malformed = b->ignore_malformed;
    }
    if (field_type_is_numeric(n->f.type) || (n->f.type >= FT_INTEGER_RANGE && n->f.type <= FT_IP_RANGE)) {
        n->f.coerce = b->coerce;
    }
}

void params_init(struct builder *b, struct node *n)
{
    n->f.index = true;
    n->f.boost = 1;
    n->f.similarity = (struct similarity){SIM_BM25, 1.2F, 0.75F, true};
    n->f.options = n->f.type == FT_TEXT         ? INDEX_POSITIONS
                   : n->f.type == FT_COMPLETION ? INDEX_FREQS
                                                : INDEX_DOCS;
    n->f.ignore_above = UINT32_MAX;
    n->f.position_increment_gap = 100;
    for (size_t i = 0; n->spec->params[i].name != NULL; i++) {
        const struct param *p = &n->spec->params[i];
        void *at = (char *)&n->f + p->offset;
        if (p->kind == PARAM_BOOL || p->kind == PARAM_EXPLICIT_BOOL) {
            *(bool *)at = p->dflt != 0;
        } else if (p->kind == PARAM_INT) {
            *(int32_t *)at = p->dflt;
        }
    }
    n->f.index = n->f.index && n->f.type != FT_BINARY;
    set_defaults_of_index(b, n);
    size_t format = param_find(n->spec, STR("format"));
    bool is_date = n->f.type == FT_DATE || n->f.type == FT_DATE_NANOS;
    if (is_date && b->date_format.p != NULL && !str_is(b->date_format, DATE_FORMAT_DEFAULT)) {
        n->set[format] = json_new(b, json_mk_str(b->date_format));
    }
}

static struct str set_text(const struct node *n, const char *name)
{
    size_t i = param_find(n->spec, str_of(name));
    return i != SIZE_MAX && n->set[i] != NULL ? n->set[i]->s : STR_NULL;
}

static void forget(struct node *n, const char *name)
{
    n->set[param_find(n->spec, str_of(name))] = NULL;
}

static enum err check_index_time(struct builder *b, const struct analyzer *an)
{
    if (an != NULL && an->search_only) {
        return err_set(b->em, ERR_MAPPER,
                       "analyzer [%.*s] contains filters that are not allowed to run in index time mode.",
                       STR_ARG(an->name));
    }
    return ERR_OK;
}

/* What is left out follows from what is given; what was given as the default would have it counts as left
 * out. */
static enum err build_text_analyzers(struct builder *b, struct node *n)
{
    const struct analyzer *search_default = analysis_default_search(b->analysis);
    bool own_search = search_default != analysis_default(b->analysis);
    struct str index = set_text(n, "analyzer");
    if (index.p == NULL || str_is(index, "default")) {
        forget(n, "analyzer");
        index = STR_NULL;
        n->f.analyzer = analysis_default(b->analysis);
    }
    struct str usual = index.p != NULL ? index : own_search ? STR("default_search") : STR("default");
    struct str search = set_text(n, "search_analyzer");
    if (search.p == NULL || str_eq(search, usual)) {
        forget(n, "search_analyzer");
        search = usual;
        n->f.search_analyzer = index.p != NULL ? n->f.analyzer : search_default;
    }
    struct str quote = set_text(n, "search_quote_analyzer");
    if (quote.p == NULL || str_eq(quote, search)) {
        forget(n, "search_quote_analyzer");
        n->f.search_quote_analyzer = n->f.search_analyzer;
    }
    return check_index_time(b, n->f.analyzer);
}

static enum err build_text(struct builder *b, struct node *n)
{
    enum err e = build_text_analyzers(b, n);
    if (e != ERR_OK) {
        return e;
    }
    int name_n = (int)n->f.name.n;
    const char *name = n->f.name.p;
    bool positions = n->f.options >= INDEX_POSITIONS;
    if (n->f.position_increment_gap < 0) {
        return err_set(b->em, ERR_MAPPER_PARSING, "[position_increment_gap] must be positive, got [%d]",
                       n->f.position_increment_gap);
    }
    if (n->set[param_find(n->spec, STR("position_increment_gap"))] != NULL && (!positions || !n->f.index)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot set position_increment_gap on field [%.*s] without positions enabled", name_n,
                       name);
    }
    if (n->f.fielddata && !n->f.index) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot enable fielddata on a [text] field that is not indexed: [%.*s]", name_n, name);
    }
    if (n->set[param_find(n->spec, STR("index_prefixes"))] != NULL && !n->f.index) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Cannot set index_prefixes on unindexed field [%.*s]",
                       name_n, name);
    }
    const struct json *phrases = n->set[param_find(n->spec, STR("index_phrases"))];
    if (phrases != NULL && !n->f.index) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Cannot set index_phrases on unindexed field [%.*s]",
                       name_n, name);
    }
    if (phrases != NULL && !positions) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot set index_phrases on field [%.*s] if positions are not enabled", name_n, name);
    }
    return ERR_OK;
}

static enum err build_keyword(struct builder *b, struct node *n)
{
    struct str normalizer = set_text(n, "normalizer");
    if (normalizer.p != NULL) {
        n->f.normalizer = analysis_normalizer(b->analysis, normalizer);
        if (n->f.normalizer == NULL) {
            return err_set(b->em, ERR_MAPPER_PARSING, "normalizer [%.*s] not found for field [%.*s]",
                           STR_ARG(normalizer), STR_ARG(n->f.name));
        }
    }
    if (n->f.split_on_whitespace) {
        n->f.search_analyzer = n->f.normalizer != NULL ? n->f.normalizer->on_whitespace
                                                       : analysis_analyzer(b->analysis, STR("whitespace"));
    }
    int32_t above = (int32_t)n->f.ignore_above;
    n->f.ignore_above = above == INT32_MAX ? UINT32_MAX : above < 0 ? 0 : (uint32_t)above;
    return ERR_OK;
}

static enum err build_format(struct builder *b, struct node *n)
{
    struct str given = set_text(n, "format");
    bool is_range = n->f.type >= FT_INTEGER_RANGE && n->f.type <= FT_IP_RANGE;
    if (given.p != NULL && str_is(given, DATE_FORMAT_DEFAULT)) {
        forget(n, "format");
        given = STR_NULL;
    }
    if (is_range && n->f.type != FT_DATE_RANGE) {
        forget(n, "locale");
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
        char why[ERR_REASON_BYTES];
        snprintf(why, sizeof(why), "%s", b->em != NULL ? b->em->frame[0].reason : "");
        return err_wrap(b->em, e, "Error parsing [format] on field [%.*s]: %s", STR_ARG(n->f.name), why);
    }
    struct str locale = set_text(n, "locale");
    return e != ERR_OK || locale_is_english(locale) || !date_format_is_local(n->f.format)
               ? e
               : err_set(
                   b->em, ERR_ILLEGAL_ARGUMENT,
                   "locale [%.*s] of field [%.*s] is not supported with the format [%.*s]: names and weeks "
                   "are English",
                   STR_ARG(locale), STR_ARG(n->f.name), STR_ARG(pattern));
}

static enum err build_completion(struct builder *b, struct node *n)
{
    if (set_text(n, "analyzer").p == NULL || str_is(set_text(n, "analyzer"), "simple")) {
        n->f.analyzer = analysis_analyzer(b->analysis, STR("simple"));
        forget(n, "analyzer");
    }
    struct str index = set_text(n, "analyzer").p != NULL ? set_text(n, "analyzer") : STR("simple");
    struct str search = set_text(n, "search_analyzer");
    if (search.p == NULL || str_eq(search, index)) {
        n->f.search_analyzer = n->f.analyzer;
        forget(n, "search_analyzer");
    }
    if (n->f.analyzer == NULL) {
        return no_memory(b);
    }
    if ((int32_t)n->f.max_input_length <= 0) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "[max_input_length] must be > 0 but was [%d]",
                       (int)n->f.max_input_length);
    }
    return check_index_time(b, n->f.analyzer);
}

static enum err build_scaled(struct builder *b, struct node *n)
{
    if (set_text(n, "scaling_factor").p == NULL) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Field [scaling_factor] is required");
    }
    if (!isfinite(n->f.scaling_factor) || n->f.scaling_factor <= 0) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "[scaling_factor] must be a positive number, got [%s]",
                       num_text(n->f.scaling_factor).s);
    }
    return ERR_OK;
}

enum err params_build(struct builder *b, struct node *n)
{
    bool known = true;
    struct similarity usual;
    size_t at = param_find(n->spec, STR("similarity"));
    if (at != SIZE_MAX ? n->set[at] == NULL : n->f.type == FT_COMPLETION) {
        enum err e = similarity_of(b, STR("default"), &usual, &known);
        if (e != ERR_OK) {
            return e;
        }
        n->f.similarity = usual;
    }
    switch (n->f.type) {
    case FT_TEXT:
        return build_text(b, n);
    case FT_KEYWORD:
        return build_keyword(b, n);
    case FT_COMPLETION:
        return build_completion(b, n);
    case FT_TOKEN_COUNT:
        if (n->f.analyzer == NULL) {
            return err_set(b->em, ERR_MAPPER_PARSING, "Analyzer must be set for field [%.*s] but wasn't.",
                           STR_ARG(n->f.name));
        }
        return ERR_OK;
    case FT_SCALED_FLOAT:
        return build_scaled(b, n);
    case FT_DATE:
    case FT_DATE_NANOS:
    case FT_INTEGER_RANGE:
    case FT_LONG_RANGE:
    case FT_FLOAT_RANGE:
    case FT_DOUBLE_RANGE:
    case FT_DATE_RANGE:
    case FT_IP_RANGE:
        return build_format(b, n);
    default:
        return ERR_OK;
    }
}
