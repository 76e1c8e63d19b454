/* Exact texts: keyword, wildcard, and constant_keyword, which has one for the whole index. */
#include "common/base/utf8.h"
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/value_format.h"

static const struct param keyword_params[] = {
    PARAM_ROW_INDEX,
    PARAM_ROW_DOC_VALUES,
    PARAM_ROW_STORE,
    {.name = "null_value", .kind = PARAM_NULL_TEXT, .flags = PARAM_NULL_OK},
    PARAM_ROW_ORDINALS,
    {.name = "ignore_above",
     .kind = PARAM_INT,
     .flags = PARAM_UPDATEABLE,
     .offset = PARAM_AT(ignore_above),
     .dflt = INT32_MAX},
    {.name = "index_options", .kind = PARAM_INDEX_OPTIONS, .dflt = INDEX_FREQS},
    {.name = "norms", .kind = PARAM_BOOL, .flags = PARAM_TO_FALSE, .offset = PARAM_AT(norms)},
    PARAM_ROW_SIMILARITY,
    {.name = "normalizer", .kind = PARAM_NORMALIZER, .flags = PARAM_NULL_OK},
    {.name = "split_queries_on_whitespace",
     .kind = PARAM_BOOL,
     .flags = PARAM_UPDATEABLE,
     .offset = PARAM_AT(split_on_whitespace)},
    PARAM_ROW_BOOST,
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static enum err build_keyword(struct builder *b, struct node *n)
{
    struct str normalizer = param_given(n, "normalizer");
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
    build_ignore_above(n);
    return ERR_OK;
}

/* ---- exact terms ---- */
static enum err keyword_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e == ERR_OK && s.p == NULL && f->null_value != NULL) {
        s = f->null_value->s;
    }
    if (e != ERR_OK || s.p == NULL || (s.n > f->ignore_above && utf16_length(s) > f->ignore_above)) {
        return e;
    }
    if (f->normalizer != NULL) {
        e = analyzer_normalize(f->normalizer, s, p->arena, &s, p->em);
    }
    if (e != ERR_OK || (!f->index && !f->store && !f->doc_values)) {
        return e;
    }
    struct doc_value *to = doc_add(p, f, DOC_TERM);
    if (to == NULL) {
        return err_no_memory(p->em);
    }
    to->bytes = s;
    return ERR_OK;
}

static enum err keyword_term(const struct field *f, struct str text, struct arena *arena, struct str *out,
                             struct errmsg *em)
{
    *out = text;
    return f->normalizer != NULL ? analyzer_normalize(f->normalizer, text, arena, out, em) : ERR_OK;
}

static void show_keyword(const struct value_format *f, const struct json *v, struct arena *arena,
                         struct jsonw *w)
{
    const struct field *field = f->field;
    struct str text = json_text(v), shown = text;
    if (field->ignore_above != UINT32_MAX && utf16_length(text) > field->ignore_above) {
        return;
    }
    if (field->normalizer != NULL
        && analyzer_normalize(field->normalizer, text, arena, &shown, NULL) != ERR_OK) {
        return;
    }
    jw_str(w, shown);
}

const struct field_class field_class_keyword = {
    .name = "keyword",
    .params = keyword_params,
    .build = build_keyword,
    .value = keyword_value,
    .kind = VALUE_TEXT,
    .is_string = true,
    .collapses = true,
    .show = show_keyword,
    .analysis = FIELD_WHOLE,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_KEYWORD,
    .takes_patterns = true,
    .term = keyword_term,
};

/* ---- wildcard: its texts are those of a keyword; queries for them do not score ---- */

static const struct param wildcard_params[] = {
    {.name = "ignore_above",
     .kind = PARAM_INT,
     .flags = PARAM_UPDATEABLE,
     .offset = PARAM_AT(ignore_above),
     .dflt = INT32_MAX},
    {.name = "null_value", .kind = PARAM_NULL_TEXT, .flags = PARAM_NULL_OK},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static void wildcard_init(UNUSED struct builder *b, struct node *n)
{
    n->f.doc_values = true;
}

static enum err build_wildcard(struct builder *b, struct node *n)
{
    int32_t above = (int32_t)n->f.ignore_above;
    if (above < 0) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "[ignore_above] must be positive, got [%d]", above);
    }
    build_ignore_above(n);
    return ERR_OK;
}

const struct field_class field_class_wildcard = {
    .name = "wildcard",
    .params = wildcard_params,
    .init = wildcard_init,
    .build = build_wildcard,
    .value = keyword_value,
    .kind = VALUE_TEXT,
    .is_string = true,
    .show = show_keyword,
    .analysis = FIELD_WHOLE,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_KEYWORD,
    .takes_patterns = true,
    .constant_scores = true,
};

/* ---- constant_keyword ---- */

static const struct param constant_params[] = {
    {.name = "value", .kind = PARAM_CONST, .flags = PARAM_ONCE | PARAM_NULL_OK},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static enum err constant_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s.p == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[constant_keyword] field [%.*s] doesn't accept [null] values", STR_ARG(f->path));
    }
    if (f->const_value.p != NULL) {
        return str_eq(f->const_value, s) ? ERR_OK
                                         : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                                   "[constant_keyword] field [%.*s] only accepts values that "
                                                   "are equal to the value defined in "
                                                   "the mappings [%.*s], but got [%.*s]",
                                                   STR_ARG(f->path), STR_ARG(f->const_value), STR_ARG(s));
    }
    struct json *def = ARENA_NEW(p->arena, struct json);
    if (def == NULL || !json_copy(def, f->def, p->arena)
        || !json_put(def, p->arena, STR("value"), json_mk_str(s))) {
        return err_no_memory(p->em);
    }
    return doc_added(p, f->path, def) ? ERR_OK : err_no_memory(p->em);
}

static struct str constant_of(const struct field *f, UNUSED struct str index_name)
{
    return f->const_value;
}

const struct field_class field_class_constant_keyword = {
    .name = "constant_keyword",
    .params = constant_params,
    .value = constant_value,
    .kind = VALUE_TEXT,
    .constant = constant_of,
    .show = value_show_text,
    .queries = QUERIES_CONSTANT,
    .exists = EXISTS_CONSTANT,
};
