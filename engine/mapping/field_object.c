/* Fields without values of their own: objects, nested objects, aliases. */
#include "engine/mapping/field_class.h"

const struct field_class field_class_object = {.name = "object", .is_object = true};

const struct field_class field_class_nested = {.name = "nested", .is_object = true, .is_nested = true};

const struct field_class field_class_alias = {.name = "alias", .is_alias = true};
