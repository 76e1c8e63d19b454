/* The classes that scripts may name, as types: values, statics, constructors. */
#include "engine/script/classes.h"

static bool any_class(UNUSED struct type t, struct sv v)
{
    return v.kind != SV_NULL;
}

static bool class_number(UNUSED struct type t, struct sv v)
{
    return sv_is_number(v) && v.kind != SV_CHAR;
}

static bool list(UNUSED struct type t, struct sv v)
{
    return (v.kind == SV_LIST && v.list->form == LIST_LIST) || v.kind == SV_FIELD;
}

static bool set(UNUSED struct type t, struct sv v)
{
    return v.kind == SV_LIST && v.list->form == LIST_SET;
}

static bool stream(UNUSED struct type t, struct sv v)
{
    return v.kind == SV_LIST && v.list->form == LIST_STREAM;
}

static bool collection(UNUSED struct type t, struct sv v)
{
    return (v.kind == SV_LIST && v.list->form != LIST_ARRAY) || v.kind == SV_FIELD;
}

static bool map(UNUSED struct type t, struct sv v)
{
    return v.kind == SV_MAP || v.kind == SV_DOCS;
}

static bool local(struct type t, struct sv v)
{
    return v.kind == SV_LOCAL && v.aux == (uint32_t)(t.id - TYPE_LOCAL_DATE);
}

#define BOX(k)                           \
    {                                    \
        .kind = k, .statics = static_box \
    }

const struct class_row classes[TYPES] = {
    [TYPE_NONE] = {0},
    [TYPE_DEF] = {.holds = any_class},
    [TYPE_VOID] = {0},
    [TYPE_BOOLEAN] = BOX(SV_BOOL),
    [TYPE_BYTE] = BOX(SV_BYTE),
    [TYPE_SHORT] = BOX(SV_SHORT),
    [TYPE_CHAR] = BOX(SV_CHAR),
    [TYPE_INT] = BOX(SV_INT),
    [TYPE_LONG] = BOX(SV_LONG),
    [TYPE_FLOAT] = BOX(SV_FLOAT),
    [TYPE_DOUBLE] = BOX(SV_DOUBLE),
    [TYPE_BOX_BOOLEAN] = BOX(SV_BOOL),
    [TYPE_BOX_BYTE] = BOX(SV_BYTE),
    [TYPE_BOX_SHORT] = BOX(SV_SHORT),
    [TYPE_BOX_CHAR] = {.kind = SV_CHAR, .statics = static_character},
    [TYPE_BOX_INT] = BOX(SV_INT),
    [TYPE_BOX_LONG] = BOX(SV_LONG),
    [TYPE_BOX_FLOAT] = BOX(SV_FLOAT),
    [TYPE_BOX_DOUBLE] = BOX(SV_DOUBLE),
    [TYPE_NUMBER] = {.holds = class_number},
    [TYPE_OBJECT] = {.holds = any_class},
    [TYPE_STRING] = {.kind = SV_STR, .statics = static_string, .make = new_string},
    [TYPE_BUILDER] = {.kind = SV_BUILDER, .make = new_builder},
    [TYPE_LIST] = {.holds = list, .make = new_list},
    [TYPE_SET] = {.holds = set, .make = new_container},
    [TYPE_COLLECTION] = {.holds = collection},
    [TYPE_MAP] = {.holds = map, .make = new_container},
    [TYPE_ENTRY] = {.kind = SV_ENTRY, .statics = static_comparator},
    [TYPE_ITERATOR] = {.kind = SV_ITER},
    [TYPE_MATH] = {.statics = static_math},
    [TYPE_OBJECTS] = {.statics = static_objects},
    [TYPE_COLLECTIONS] = {.statics = static_collections},
    [TYPE_ARRAYS] = {.statics = static_arrays},
    [TYPE_COLLECTORS] = {.statics = static_collectors},
    [TYPE_COMPARATOR] = {.statics = static_comparator},
    [TYPE_DATE] = {.kind = SV_DATE, .statics = static_moment},
    [TYPE_INSTANT] = {.kind = SV_INSTANT, .statics = static_moment},
    [TYPE_ZONE] = {.kind = SV_ZONE, .statics = static_zone},
    [TYPE_FORMATTER] = {.kind = SV_FORMATTER, .statics = static_formatter},
    [TYPE_LOCAL_DATE] = {.holds = local, .statics = static_local},
    [TYPE_LOCAL_TIME] = {.holds = local, .statics = static_local},
    [TYPE_LOCAL_DATE_TIME] = {.holds = local, .statics = static_local},
    [TYPE_DURATION] = {.kind = SV_DURATION, .statics = static_duration},
    [TYPE_CHRONO_UNIT] = {0},
    [TYPE_CHRONO_FIELD] = {0},
    [TYPE_PATTERN] = {.kind = SV_PATTERN}, /* literals alone: a computed pattern could run without bound */
    [TYPE_MATCHER] = {.kind = SV_MATCHER},
    [TYPE_GEO] = {.kind = SV_GEO, .make = new_geo},
    [TYPE_OPTIONAL] = {.kind = SV_OPTIONAL, .statics = static_optional},
    [TYPE_MOVING] = {.statics = static_moving},
    [TYPE_EXCEPTION] = {.make = new_exception},
    [TYPE_SYSTEM] = {.statics = static_system},
    [TYPE_STREAM] = {.holds = stream, .statics = static_stream},
    [TYPE_FUNCTION] = {.kind = SV_FUNC, .statics = static_function}};

bool type_holds(struct type t, struct sv v)
{
    const struct class_row *row = &classes[t.id];
    if (t.dims > 0) {
        return v.kind == SV_LIST && v.list->form == LIST_ARRAY;
    }
    return row->holds != NULL ? row->holds(t, v) : row->kind != SV_NULL && v.kind == row->kind;
}
