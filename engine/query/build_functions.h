/* build_functions.h - the functions of function_score: as they are written, and as they run. Internal to engine/query. */
#ifndef ENGINE_QUERY_BUILD_FUNCTIONS_H
#define ENGINE_QUERY_BUILD_FUNCTIONS_H

#include "engine/query/build.h"
#include "engine/query/score_functions.h"

struct dsl_function {
    enum score_function_kind kind;
    struct dsl *filter; /* NULL: none given */
    float weight;
    bool has_weight;
    struct str field;
    float factor;
    enum value_modifier modifier;
    double missing;
    bool has_missing;
    int32_t seed;
    bool has_seed;
    const struct json *script;
    enum decay_kind decay;
    const struct json *decay_params; /* {"origin":..,"scale":..,"offset":..,"decay":..} */
    enum multi_value_mode mode;
};

enum err build_function(struct builder *b, const struct dsl_function *f, struct score_function *out,
                        struct errmsg *em);

#endif
