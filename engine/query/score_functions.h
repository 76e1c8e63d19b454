/* score_functions.h - the functions of function_score, and what they are over one segment. Internal to engine/query. */
#ifndef ENGINE_QUERY_SCORE_FUNCTIONS_H
#define ENGINE_QUERY_SCORE_FUNCTIONS_H

#include "engine/query/script_use.h"
#include "engine/query/weight.h"

enum score_function_kind { FUNC_WEIGHT, FUNC_FIELD_VALUE, FUNC_RANDOM, FUNC_SCRIPT, FUNC_DECAY };
enum boost_mode { BOOST_MULTIPLY, BOOST_REPLACE, BOOST_SUM, BOOST_AVG, BOOST_MAX, BOOST_MIN };
enum value_modifier {
    MOD_NONE,
    MOD_LOG,
    MOD_LOG1P,
    MOD_LOG2P,
    MOD_LN,
    MOD_LN1P,
    MOD_LN2P,
    MOD_SQUARE,
    MOD_SQRT,
    MOD_RECIPROCAL
};
enum decay_kind { DECAY_GAUSS, DECAY_EXP, DECAY_LINEAR };
enum multi_value_mode { MODE_MIN, MODE_MAX, MODE_SUM, MODE_AVG, MODE_MEDIAN };
/* The one number of a document that has n > 0, which come ascending. */
double multi_value_pick(enum multi_value_mode mode, const double *v, uint32_t n);

struct score_function {
    enum score_function_kind kind;
    const struct query *filter; /* NULL: every document */
    float weight;
    bool has_weight;
    const struct field *field;
    /* FUNC_FIELD_VALUE */
    float factor;
    enum value_modifier modifier;
    double missing;
    bool has_missing;
    /* FUNC_RANDOM */
    int64_t seed;
    bool has_seed;
    int32_t random_salt; /* of index name and shard */
    /* FUNC_SCRIPT */
    struct script *script;
    const struct json *params, *form;
    /* FUNC_DECAY: numbers, dates (ms) or metres */
    enum decay_kind decay;
    double origin, scale, offset, decay_to;
    double origin_lat, origin_lon;
    enum multi_value_mode mode;
};

/* Parameters of a q_function_score. */
struct function_score {
    const struct query *child;
    const struct score_function *v;
    uint32_t n;
    enum score_mode score_mode;
    enum boost_mode boost_mode;
    float max_boost;
    float min_score;
    bool has_min_score;
    bool single_form; /* one function without a filter */
};
static inline const struct function_score *function_score_of(const struct query *q)
{
    return q->own;
}

/* One function bound to a segment, for one thread. */
struct bound_function {
    const struct score_function *f;
    const struct leaf *leaf;
    struct weight_shared *shared;
    struct num_column column;
    const struct seg_field *bytes; /* random_score: _id or a keyword's dictionary */
    struct ord_column ords;
    struct buf term;
    struct script_docs *script;
    double *values; /* scratch of decay */
    uint32_t cap;
    struct arena *arena;
};

enum err function_bind(struct bound_function *b, const struct score_function *f, struct weight_shared *sh,
                       const struct leaf *leaf, struct arena *arena, struct errmsg *em);
/* The function's value with its weight. ERR_ILLEGAL_ARGUMENT, ERR_INTERNAL, ERR_SCRIPT at run time. */
enum err function_value(struct bound_function *b, doc_id doc, float score, double *out, struct errmsg *em);
/* As function_value, before the weight. */
enum err function_raw(struct bound_function *b, doc_id doc, float score, double *out, struct errmsg *em);
enum err function_explain(struct bound_function *b, doc_id doc, float score, struct explanation *query,
                          struct arena *a, struct explanation **out, struct errmsg *em);

#endif
