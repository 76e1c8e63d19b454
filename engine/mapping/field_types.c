/* The field types and the parameters of each: names, what may change later, how they print. */
#include "engine/mapping/mapping_int.h"

#define AT(member) (uint16_t) offsetof(struct field, member)

#define INDEX                                \
    {                                        \
        "index", PARAM_BOOL, 0, AT(index), 1 \
    }
#define DOC_VALUES                                     \
    {                                                  \
        "doc_values", PARAM_BOOL, 0, AT(doc_values), 1 \
    }
#define STORE                                \
    {                                        \
        "store", PARAM_BOOL, 0, AT(store), 0 \
    }
#define BOOST                                        \
    {                                                \
        "boost", PARAM_BOOST, PARAM_UPDATEABLE, 0, 0 \
    }
#define META                                       \
    {                                              \
        "meta", PARAM_META, PARAM_UPDATEABLE, 0, 0 \
    }
#define MALFORMED                                                                          \
    {                                                                                      \
        "ignore_malformed", PARAM_EXPLICIT_BOOL, PARAM_UPDATEABLE, AT(ignore_malformed), 0 \
    }
#define MALFORMED_B                                                               \
    {                                                                             \
        "ignore_malformed", PARAM_BOOL, PARAM_UPDATEABLE, AT(ignore_malformed), 0 \
    }
#define COERCE                                                         \
    {                                                                  \
        "coerce", PARAM_EXPLICIT_BOOL, PARAM_UPDATEABLE, AT(coerce), 1 \
    }
#define ORDINALS                                                                     \
    {                                                                                \
        "eager_global_ordinals", PARAM_BOOL, PARAM_UPDATEABLE, AT(eager_ordinals), 0 \
    }
#define SIMILARITY                                          \
    {                                                       \
        "similarity", PARAM_SIMILARITY, PARAM_NULL_OK, 0, 0 \
    }
#define END                       \
    {                             \
        NULL, PARAM_BOOL, 0, 0, 0 \
    }

static const struct param text_params[] = {
    BOOST,
    INDEX,
    STORE,
    META,
    {"index_options", PARAM_INDEX_OPTIONS, 0, 0, INDEX_OFFSETS},
    {"term_vector", PARAM_TERM_VECTOR, 0, 0, 0},
    {"norms", PARAM_BOOL, PARAM_TO_FALSE, AT(norms), 1},
    {"analyzer", PARAM_ANALYZER, 0, 0, 0},
    {"search_analyzer", PARAM_SEARCH_ANALYZER, PARAM_UPDATEABLE, 0, 0},
    {"search_quote_analyzer", PARAM_QUOTE_ANALYZER, PARAM_UPDATEABLE, 0, 0},
    SIMILARITY,
    ORDINALS,
    {"position_increment_gap", PARAM_INT, 0, AT(position_increment_gap), 100},
    {"fielddata", PARAM_BOOL, PARAM_UPDATEABLE, AT(fielddata), 0},
    {"fielddata_frequency_filter", PARAM_FREQ_FILTER, PARAM_UPDATEABLE, 0, 0},
    {"index_prefixes", PARAM_PREFIXES, PARAM_NULL_OK, 0, 0},
    {"index_phrases", PARAM_BOOL, 0, AT(index_phrases), 0},
    END,
};

static const struct param keyword_params[] = {
    INDEX,
    DOC_VALUES,
    STORE,
    {"null_value", PARAM_NULL_TEXT, PARAM_NULL_OK, 0, 0},
    ORDINALS,
    {"ignore_above", PARAM_INT, PARAM_UPDATEABLE, AT(ignore_above), INT32_MAX},
    {"index_options", PARAM_INDEX_OPTIONS, 0, 0, INDEX_FREQS},
    {"norms", PARAM_BOOL, PARAM_TO_FALSE, AT(norms), 0},
    SIMILARITY,
    {"normalizer", PARAM_NORMALIZER, PARAM_NULL_OK, 0, 0},
    {"split_queries_on_whitespace", PARAM_BOOL, PARAM_UPDATEABLE, AT(split_on_whitespace), 0},
    BOOST,
    META,
    END,
};

static const struct param number_params[] = {
    INDEX, DOC_VALUES, STORE, MALFORMED, COERCE, {"null_value", PARAM_NULL_NUMBER, PARAM_NULL_OK, 0, 0},
    META,  END,
};

static const struct param scaled_params[] = {
    INDEX,
    DOC_VALUES,
    STORE,
    MALFORMED,
    COERCE,
    {"scaling_factor", PARAM_SCALING, PARAM_NULL_OK, 0, 0},
    {"null_value", PARAM_NULL_NUMBER, PARAM_NULL_OK, 0, 0},
    META,
    END,
};

static const struct param boolean_params[] = {
    DOC_VALUES, INDEX, {"null_value", PARAM_NULL_BOOL, PARAM_NULL_OK, 0, 0}, STORE, BOOST, META, END,
};

static const struct param date_params[] = {
    INDEX,
    DOC_VALUES,
    STORE,
    {"format", PARAM_FORMAT, 0, 0, 0},
    {"locale", PARAM_LOCALE, 0, 0, 0},
    {"null_value", PARAM_NULL_TEXT, PARAM_NULL_OK, 0, 0},
    MALFORMED_B,
    BOOST,
    META,
    END,
};

static const struct param ip_params[] = {
    INDEX, DOC_VALUES, STORE, MALFORMED_B, {"null_value", PARAM_NULL_TEXT, PARAM_NULL_OK, 0, 0}, META, END,
};

static const struct param geo_point_params[] = {
    DOC_VALUES,
    INDEX,
    STORE,
    MALFORMED,
    {"ignore_z_value", PARAM_EXPLICIT_BOOL, PARAM_UPDATEABLE, AT(ignore_z), 1},
    {"null_value", PARAM_NULL_POINT, PARAM_NULL_OK, 0, 0},
    META,
    END,
};

static const struct param binary_params[] = {
    STORE,
    {"doc_values", PARAM_BOOL, 0, AT(doc_values), 0},
    META,
    END,
};

static const struct param completion_params[] = {
    {"analyzer", PARAM_ANALYZER, PARAM_ALWAYS, 0, 0},
    {"search_analyzer", PARAM_SEARCH_ANALYZER, PARAM_UPDATEABLE, 0, 0},
    {"preserve_separators", PARAM_BOOL, PARAM_ALWAYS, AT(preserve_separators), 1},
    {"preserve_position_increments", PARAM_BOOL, PARAM_ALWAYS, AT(preserve_position_increments), 1},
    {"max_input_length", PARAM_INT, PARAM_ALWAYS | PARAM_UPDATEABLE, AT(max_input_length), 50},
    {"contexts", PARAM_CONTEXTS, 0, 0, 0},
    META,
    END,
};

static const struct param token_count_params[] = {
    INDEX,
    DOC_VALUES,
    STORE,
    {"analyzer", PARAM_ANALYZER, PARAM_UPDATEABLE, 0, 0},
    {"null_value", PARAM_NULL_NUMBER, PARAM_NULL_OK, 0, 0},
    {"enable_position_increments", PARAM_BOOL, 0, AT(enable_position_increments), 1},
    META,
    END,
};

static const struct param range_params[] = {
    INDEX, DOC_VALUES, STORE, COERCE, {"format", PARAM_FORMAT, 0, 0, 0}, {"locale", PARAM_LOCALE, 0, 0, 0},
    BOOST, META,       END,
};

static const struct param constant_params[] = {
    {"value", PARAM_CONST, PARAM_ONCE | PARAM_NULL_OK, 0, 0},
    META,
    END,
};

static const struct type_spec specs[] = {
    {"text", FT_TEXT, text_params},
    {"keyword", FT_KEYWORD, keyword_params},
    {"constant_keyword", FT_CONSTANT_KEYWORD, constant_params},
    {"long", FT_LONG, number_params},
    {"integer", FT_INTEGER, number_params},
    {"short", FT_SHORT, number_params},
    {"byte", FT_BYTE, number_params},
    {"double", FT_DOUBLE, number_params},
    {"float", FT_FLOAT, number_params},
    {"half_float", FT_HALF_FLOAT, number_params},
    {"scaled_float", FT_SCALED_FLOAT, scaled_params},
    {"boolean", FT_BOOLEAN, boolean_params},
    {"date", FT_DATE, date_params},
    {"date_nanos", FT_DATE_NANOS, date_params},
    {"ip", FT_IP, ip_params},
    {"geo_point", FT_GEO_POINT, geo_point_params},
    {"binary", FT_BINARY, binary_params},
    {"completion", FT_COMPLETION, completion_params},
    {"token_count", FT_TOKEN_COUNT, token_count_params},
    {"integer_range", FT_INTEGER_RANGE, range_params},
    {"long_range", FT_LONG_RANGE, range_params},
    {"float_range", FT_FLOAT_RANGE, range_params},
    {"double_range", FT_DOUBLE_RANGE, range_params},
    {"date_range", FT_DATE_RANGE, range_params},
    {"ip_range", FT_IP_RANGE, range_params},
};

_Static_assert(ARRAY_LEN(text_params) <= PARAMS_MAX + 1, "node.set has room for every parameter");

static const char *const other_names[FT_TYPES] = {
    [FT_OBJECT] = "object",
    [FT_NESTED] = "nested",
    [FT_ALIAS] = "alias",
    [FT_META_ID] = "_id",
    [FT_META_ROUTING] = "_routing",
    [FT_META_INDEX] = "_index",
    [FT_META_SOURCE] = "_source",
    [FT_META_FIELD_NAMES] = "_field_names",
    [FT_META_IGNORED] = "_ignored",
    [FT_META_SEQ_NO] = "_seq_no",
    [FT_META_VERSION] = "_version",
    [FT_META_TYPE] = "_type",
    [FT_META_NESTED_PATH] = "_nested_path",
    [FT_META_DOC_COUNT] = "_doc_count",
};

const struct type_spec *type_spec_of(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        if (str_is(name, specs[i].name)) {
            return &specs[i];
        }
    }
    return NULL;
}

static const struct type_spec *type_spec_at(enum field_type t)
{
    for (size_t i = 0; i < ARRAY_LEN(specs); i++) {
        if (specs[i].type == t) {
            return &specs[i];
        }
    }
    return NULL;
}

const char *field_type_name(enum field_type t)
{
    if ((size_t)t >= FT_TYPES) {
        return "";
    }
    const struct type_spec *s = type_spec_at(t);
    return s != NULL ? s->name : other_names[t];
}

bool field_type_is_whole(enum field_type t)
{
    return t >= FT_LONG && t <= FT_BYTE;
}

bool field_type_is_numeric(enum field_type t)
{
    return t >= FT_LONG && t <= FT_SCALED_FLOAT;
}

size_t param_find(const struct type_spec *s, struct str name)
{
    if (s->type == FT_COMPLETION && str_is(name, "max_input_len")) {
        name = STR("max_input_length");
    }
    for (size_t i = 0; s->params[i].name != NULL; i++) {
        if (str_is(name, s->params[i].name)) {
            return i;
        }
    }
    return SIZE_MAX;
}
