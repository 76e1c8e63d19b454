/* score_functions.h - the functions of function_score over one segment. Internal to engine/query. */
#ifndef ENGINE_QUERY_SCORE_FUNCTIONS_H
#define ENGINE_QUERY_SCORE_FUNCTIONS_H

#include "engine/query/script_use.h"
#include "engine/query/weight.h"

/* One function bound to a segment, for one thread. */
struct bound_function {
    const struct score_function *f;
    const struct leaf *leaf;
    struct weight_shared *shared;
    struct num_column column;
    bool whole_column;             /* values are whole numbers */
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
