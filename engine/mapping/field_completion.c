/* completion: its row and its definition. Values are read in document_completion.c. */
#include "engine/mapping/document_int.h"
#include "engine/mapping/field_params.h"

static const struct param completion_params[] = {
    {.name = "analyzer", .kind = PARAM_ANALYZER, .flags = PARAM_ALWAYS},
    {.name = "search_analyzer", .kind = PARAM_SEARCH_ANALYZER, .flags = PARAM_UPDATEABLE},
    {.name = "preserve_separators",
     .kind = PARAM_BOOL,
     .flags = PARAM_ALWAYS,
     .offset = PARAM_AT(preserve_separators),
     .dflt = 1},
    {.name = "preserve_position_increments",
     .kind = PARAM_BOOL,
     .flags = PARAM_ALWAYS,
     .offset = PARAM_AT(preserve_position_increments),
     .dflt = 1},
    {.name = "max_input_length",
     .kind = PARAM_INT,
     .flags = PARAM_ALWAYS | PARAM_UPDATEABLE,
     .offset = PARAM_AT(max_input_length),
     .dflt = 50,
     .old_name = "max_input_len"},
    {.name = "contexts", .kind = PARAM_CONTEXTS},
    PARAM_ROW_META,
    PARAM_ROW_END,
};

static enum err build_completion(struct builder *b, struct node *n)
{
    bool known;
    enum err e = similarity_of(b, STR("default"), &n->f.similarity, &known);
    if (e != ERR_OK) {
        return e;
    }
    if (param_given(n, "analyzer").p == NULL || str_is(param_given(n, "analyzer"), "simple")) {
        n->f.analyzer = analysis_analyzer(b->analysis, STR("simple"));
        param_forget(n, "analyzer");
    }
    struct str index = param_given(n, "analyzer").p != NULL ? param_given(n, "analyzer") : STR("simple");
    struct str search = param_given(n, "search_analyzer");
    if (search.p == NULL || str_eq(search, index)) {
        n->f.search_analyzer = n->f.analyzer;
        param_forget(n, "search_analyzer");
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

const struct field_class field_class_completion = {
    .name = "completion",
    .params = completion_params,
    .usual_options = INDEX_FREQS,
    .usual_analyzer = "simple",
    .build = build_completion,
    .value = doc_completion_value,
    .takes_array = true,
    .takes_whole = true,
    .queries = QUERIES_TERMS,
    .text = FIELD_TEXT_FULL,
    .refuses_ranges = true,
};
