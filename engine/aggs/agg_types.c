/* The list of aggregation types. */
#include "engine/aggs/agg_int.h"

const struct agg_type agg_type_root = {.name = "root", .class = CLASS_SINGLE};

#define ROW(name) &agg_##name,
const struct agg_type *const agg_types[] = {AGG_TYPES(ROW) NULL};
#undef ROW
#define NAME(name) #name,
const char *const agg_type_names[] = {AGG_TYPES(NAME) AGG_TYPES_ABSENT(NAME) NULL};
#undef NAME

bool agg_type_known(struct str name)
{
    for (size_t i = 0; agg_type_names[i] != NULL; i++) {
        if (str_is(name, agg_type_names[i])) {
            return true;
        }
    }
    return false;
}

const struct agg_type *agg_type_find(struct str name)
{
    for (size_t i = 0; agg_types[i] != NULL; i++) {
        if (str_is(name, agg_types[i]->name)) {
            return agg_types[i];
        }
    }
    return NULL;
}
