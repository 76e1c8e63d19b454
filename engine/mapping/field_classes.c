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

_Static_assert((int)FIELD_CLASS_COUNT == (int)FT_TYPES, "both lists have the same types");

const char *field_type_name(enum field_type t)
{
    return (size_t)t < FT_TYPES ? classes[t]->name : "";
}

bool field_type_is_whole(enum field_type t)
{
    return t >= FT_LONG && t <= FT_BYTE;
}

bool field_type_is_numeric(enum field_type t)
{
    return classes[t]->is_numeric;
}
