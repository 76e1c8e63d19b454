/* Text: the parameters, the tokens of a value, and what is indexed beside them for index_prefixes and index_phrases. */
#include "engine/analysis/grams.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

static const struct param text_params[] = {
    PARAM_ROW_BOOST,
    PARAM_ROW_INDEX,
    PARAM_ROW_STORE,
    PARAM_ROW_META,
    {.name = "index_options", .kind = PARAM_INDEX_OPTIONS, .dflt = INDEX_OFFSETS},
    {.name = "term_vector", .kind = PARAM_TERM_VECTOR},
    {.name = "norms", .kind = PARAM_BOOL, .flags = PARAM_TO_FALSE, .offset = PARAM_AT(norms), .dflt = 1},
    {.name = "analyzer", .kind = PARAM_ANALYZER},
    {.name = "search_analyzer", .kind = PARAM_SEARCH_ANALYZER, .flags = PARAM_UPDATEABLE},
    {.name = "search_quote_analyzer", .kind = PARAM_QUOTE_ANALYZER, .flags = PARAM_UPDATEABLE},
    PARAM_ROW_SIMILARITY,
    PARAM_ROW_ORDINALS,
    {.name = "position_increment_gap",
     .kind = PARAM_INT,
     .offset = PARAM_AT(position_increment_gap),
     .dflt = 100},
    {.name = "fielddata", .kind = PARAM_BOOL, .flags = PARAM_UPDATEABLE, .offset = PARAM_AT(fielddata)},
    {.name = "fielddata_frequency_filter", .kind = PARAM_FREQ_FILTER, .flags = PARAM_UPDATEABLE},
    {.name = "index_prefixes", .kind = PARAM_PREFIXES, .flags = PARAM_NULL_OK},
    {.name = "index_phrases", .kind = PARAM_BOOL, .offset = PARAM_AT(index_phrases)},
    PARAM_ROW_END,
};

_Static_assert(ARRAY_LEN(text_params) <= PARAMS_MAX + 1, "node.set has room for every parameter");

/* ---- the definition ---- */

/* What is left out follows from what is given; what was given as the default would have it counts as left
 * out. */
static enum err build_text_analyzers(struct builder *b, struct node *n)
{
    const struct analyzer *search_default = analysis_default_search(b->analysis);
    bool own_search = search_default != analysis_default(b->analysis);
    struct str index = param_given(n, "analyzer");
    if (index.p == NULL || str_is(index, "default")) {
        param_forget(n, "analyzer");
        index = STR_NULL;
        n->f.analyzer = analysis_default(b->analysis);
    }
    struct str usual = index.p != NULL ? index : own_search ? STR("default_search") : STR("default");
    struct str search = param_given(n, "search_analyzer");
    if (search.p == NULL || str_eq(search, usual)) {
        param_forget(n, "search_analyzer");
        search = usual;
        n->f.search_analyzer = index.p != NULL ? n->f.analyzer : search_default;
    }
    struct str quote = param_given(n, "search_quote_analyzer");
    if (quote.p == NULL || str_eq(quote, search)) {
        param_forget(n, "search_quote_analyzer");
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
    if (param_is_set(n, "position_increment_gap") && (!positions || !n->f.index)) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot set position_increment_gap on field [%.*s] without positions enabled", name_n,
                       name);
    }
    if (n->f.fielddata && !n->f.index) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot enable fielddata on a [text] field that is not indexed: [%.*s]", name_n, name);
    }
    if (param_is_set(n, "index_prefixes") && !n->f.index) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Cannot set index_prefixes on unindexed field [%.*s]",
                       name_n, name);
    }
    bool phrases = param_is_set(n, "index_phrases");
    if (phrases && !n->f.index) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "Cannot set index_phrases on unindexed field [%.*s]",
                       name_n, name);
    }
    if (phrases && !positions) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot set index_phrases on field [%.*s] if positions are not enabled", name_n, name);
    }
    return ERR_OK;
}

/* ---- a value ---- */

static bool keep_tokens(struct doc_parser *p, const struct token_list *list, struct doc_value *to)
{
    struct token *v = arena_alloc(p->arena, list->n * sizeof(*v));
    if (v == NULL) {
        return false;
    }
    if (list->n > 0) {
        memcpy(v, list->v, list->n * sizeof(*v));
    }
    to->text.v = v;
    to->text.n = (uint32_t)list->n;
    to->text.end_pos_inc = list->end_pos_inc;
    to->text.end_offset = list->end_offset;
    return true;
}

static enum err hidden_value(struct doc_parser *p, const struct field *hidden,
                             const struct token_list *tokens, bool made)
{
    struct doc_value *to = made ? doc_add(p, hidden, DOC_TEXT) : NULL;
    return to != NULL && keep_tokens(p, tokens, to) ? ERR_OK : err_no_memory(p->em);
}

static enum err hidden_values(struct doc_parser *p, const struct field *f)
{
    struct token_list more;
    enum err e = ERR_OK;
    if (f->prefix_field != NULL) {
        token_list_init(&more, p->arena);
        bool made = edge_grams(&p->tokens, f->prefix_min_chars, f->prefix_max_chars, &more);
        e = hidden_value(p, f->prefix_field, &more, made);
    }
    if (e == ERR_OK && f->phrase_field != NULL) {
        token_list_init(&more, p->arena);
        bool made = pairs_of_tokens(&p->tokens, &more);
        e = hidden_value(p, f->phrase_field, &more, made);
    }
    return e;
}

static enum err text_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK || s.p == NULL || (!f->index && !f->store)) {
        return e;
    }
    struct doc_value *to = doc_add(p, f, DOC_TEXT);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->text.raw = s;
    if (!f->index) {
        return ERR_OK;
    }
    e = analyzer_run(f->analyzer, s, &p->tokens, p->em);
    if (e != ERR_OK) {
        return e;
    }
    return keep_tokens(p, &p->tokens, to) ? hidden_values(p, f) : err_no_memory(p->em);
}

const struct field_class field_class_text = {
    .name = "text",
    .params = text_params,
    .usual_options = INDEX_POSITIONS,
    .build = build_text,
    .link = text_hidden_fields,
    .value = text_value,
    .kind = VALUE_TEXT,
    .needs_fielddata = true,
    .is_string = true,
    .is_analysed = true,
    .show_format = value_no_formats,
    .show = value_show_text,
    .analysis = FIELD_ANALYZED,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_FULL,
    .takes_patterns = true,
};

enum err field_refuses_values(const struct field *f, struct errmsg *em)
{
    return f->class->refuse_values != NULL
               ? f->class->refuse_values(f, em)
               : err_set(em, ERR_ILLEGAL_ARGUMENT, "Fielddata is not supported on field [%.*s] of type [%s]",
                         STR_ARG(f->path), f->class->name);
}

enum err field_without_values(struct str name, struct errmsg *em)
{
    return err_set(
        em, ERR_ILLEGAL_ARGUMENT,
        "Text fields are not optimised for operations that require per-document field data like aggregations "
        "and sorting, so these operations are disabled by default. Please use a keyword field instead. "
        "Alternatively, set fielddata=true on [%.*s] in order to load field data by uninverting the inverted "
        "index. Note that this can use significant memory.",
        STR_ARG(name));
}
