/* join.h - the relations of a join field. Pure; any thread. */
#ifndef ENGINE_MAPPING_JOIN_H
#define ENGINE_MAPPING_JOIN_H

#include "engine/mapping/field_class.h"

/* A relation that has children. */
struct join_relation {
    struct str parent;
    const struct str *children; /* in the order of a Java set */
    uint32_t n_children;
    const struct field
        *ids; /* the hidden field "field#parent": the parent's id, in the parent and in its children */
};

/* The relation whose parent, or one of whose children, has this name; NULL: none. */
const struct join_relation *join_parent(const struct field *join, struct str name);
const struct join_relation *join_child(const struct field *join, struct str name);

#endif
