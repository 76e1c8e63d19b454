/* The list of types, and looking in it. */
#include "engine/mapping/field_class.h"

#define FIELD_CLASS_ROW(name) &field_class_##name,
static const struct field_class *const classes[] = {FIELD_CLASSES(FIELD_CLASS_ROW)};

const struct field_class *field_class_at(size_t i)
{
    return classes[i];
}

const struct field_class *field_class_named(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(classes); i++) {
        if (str_is(name, classes[i]->name)) {
            return classes[i];
        }
    }
    return NULL;
}
