#include "engine/script/ast.h"

static const struct {
    const char *name;
    enum type_id id;
} table[] = {{"def", TYPE_DEF},
             {"void", TYPE_VOID},
             {"boolean", TYPE_BOOLEAN},
             {"byte", TYPE_BYTE},
             {"short", TYPE_SHORT},
             {"char", TYPE_CHAR},
             {"int", TYPE_INT},
             {"long", TYPE_LONG},
             {"float", TYPE_FLOAT},
             {"double", TYPE_DOUBLE},
             {"Boolean", TYPE_BOX_BOOLEAN},
             {"Byte", TYPE_BOX_BYTE},
             {"Short", TYPE_BOX_SHORT},
             {"Character", TYPE_BOX_CHAR},
             {"Integer", TYPE_BOX_INT},
             {"Long", TYPE_BOX_LONG},
             {"Float", TYPE_BOX_FLOAT},
             {"Double", TYPE_BOX_DOUBLE},
             {"Number", TYPE_NUMBER},
             {"Object", TYPE_OBJECT},
             {"String", TYPE_STRING},
             {"CharSequence", TYPE_STRING},
             {"StringBuilder", TYPE_BUILDER},
             {"StringBuffer", TYPE_BUILDER},
             {"ArrayList", TYPE_LIST},
             {"List", TYPE_LIST},
             {"LinkedList", TYPE_LIST},
             {"Set", TYPE_SET},
             {"HashSet", TYPE_SET},
             {"LinkedHashSet", TYPE_SET},
             {"TreeSet", TYPE_SET},
             {"Collection", TYPE_COLLECTION},
             {"Iterable", TYPE_COLLECTION},
             {"HashMap", TYPE_MAP},
             {"Map", TYPE_MAP},
             {"LinkedHashMap", TYPE_MAP},
             {"TreeMap", TYPE_MAP},
             {"Map.Entry", TYPE_ENTRY},
             {"Iterator", TYPE_ITERATOR},
             {"Math", TYPE_MATH},
             {"StrictMath", TYPE_MATH},
             {"Objects", TYPE_OBJECTS},
             {"Collections", TYPE_COLLECTIONS},
             {"Arrays", TYPE_ARRAYS},
             {"Collectors", TYPE_COLLECTORS},
             {"Comparator", TYPE_COMPARATOR},
             {"ZonedDateTime", TYPE_DATE},
             {"JodaCompatibleZonedDateTime", TYPE_DATE},
             {"Instant", TYPE_INSTANT},
             {"ZoneId", TYPE_ZONE},
             {"ZoneOffset", TYPE_ZONE},
             {"DateTimeFormatter", TYPE_FORMATTER},
             {"ChronoUnit", TYPE_CHRONO_UNIT},
             {"Pattern", TYPE_PATTERN},
             {"Matcher", TYPE_MATCHER},
             {"GeoPoint", TYPE_GEO},
             {"Optional", TYPE_OPTIONAL},
             {"OptionalDouble", TYPE_OPTIONAL},
             {"OptionalInt", TYPE_OPTIONAL},
             {"OptionalLong", TYPE_OPTIONAL},
             {"MovingFunctions", TYPE_MOVING},
             {"System", TYPE_SYSTEM},
             {"SortedMap", TYPE_MAP},
             {"NavigableMap", TYPE_MAP},
             {"SortedSet", TYPE_SET},
             {"NavigableSet", TYPE_SET},
             {"Exception", TYPE_EXCEPTION},
             {"RuntimeException", TYPE_EXCEPTION},
             {"IllegalArgumentException", TYPE_EXCEPTION},
             {"IllegalStateException", TYPE_EXCEPTION},
             {"ArithmeticException", TYPE_EXCEPTION},
             {"NumberFormatException", TYPE_EXCEPTION},
             {"NullPointerException", TYPE_EXCEPTION},
             {"ClassCastException", TYPE_EXCEPTION},
             {"IndexOutOfBoundsException", TYPE_EXCEPTION},
             {"UnsupportedOperationException", TYPE_EXCEPTION},
             {"DateTimeException", TYPE_EXCEPTION},
             {"Function", TYPE_FUNCTION},
             {"BiFunction", TYPE_FUNCTION},
             {"Predicate", TYPE_FUNCTION},
             {"Consumer", TYPE_FUNCTION},
             {"Supplier", TYPE_FUNCTION}};

enum type_id type_of_name(struct str name)
{
    if (str_starts(name, STR("java."))) { /* a full name ends with the short one */
        for (size_t dot; (dot = str_find(name, '.', 0)) != SIZE_MAX && !str_is(name, "Map.Entry");) {
            name = str_slice(name, dot + 1, name.n);
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_is(name, table[i].name)) {
            return table[i].id;
        }
    }
    return TYPE_NONE;
}

const char *type_name(enum type_id id)
{
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (table[i].id == id) {
            return table[i].name;
        }
    }
    return "def";
}

enum sv_kind type_kind(enum type_id id)
{
    if (id >= TYPE_BOOLEAN && id <= TYPE_DOUBLE) {
        return (enum sv_kind)(SV_BOOL + (int)(id - TYPE_BOOLEAN));
    }
    if (id >= TYPE_BOX_BOOLEAN && id <= TYPE_BOX_DOUBLE) {
        return (enum sv_kind)(SV_BOOL + (int)(id - TYPE_BOX_BOOLEAN));
    }
    return SV_NULL;
}

bool type_holds(struct type t, struct sv v)
{
    static const enum sv_kind kinds[] = {
        [TYPE_STRING] = SV_STR,        [TYPE_BUILDER] = SV_BUILDER, [TYPE_MAP] = SV_MAP,
        [TYPE_ENTRY] = SV_ENTRY,       [TYPE_ITERATOR] = SV_ITER,   [TYPE_DATE] = SV_DATE,
        [TYPE_INSTANT] = SV_INSTANT,   [TYPE_ZONE] = SV_ZONE,       [TYPE_FORMATTER] = SV_FORMATTER,
        [TYPE_PATTERN] = SV_PATTERN,   [TYPE_MATCHER] = SV_MATCHER, [TYPE_GEO] = SV_GEO,
        [TYPE_OPTIONAL] = SV_OPTIONAL, [TYPE_FUNCTION] = SV_FUNC};
    bool list = v.kind == SV_LIST;
    if (t.dims > 0) {
        return list && v.list->form == LIST_ARRAY;
    }
    if (type_kind(t.id) != SV_NULL) {
        return v.kind == type_kind(t.id);
    }
    switch (t.id) {
    case TYPE_DEF:
    case TYPE_OBJECT:
        return v.kind != SV_NULL;
    case TYPE_NUMBER:
        return sv_is_number(v) && v.kind != SV_CHAR;
    case TYPE_LIST:
        return (list && v.list->form == LIST_LIST) || v.kind == SV_FIELD;
    case TYPE_SET:
        return list && v.list->form == LIST_SET;
    case TYPE_COLLECTION:
        return (list && v.list->form != LIST_ARRAY) || v.kind == SV_FIELD;
    case TYPE_MAP:
        return v.kind == SV_MAP || v.kind == SV_DOCS;
    default:
        return (size_t)t.id < ARRAY_LEN(kinds) && kinds[t.id] != SV_NULL && v.kind == kinds[t.id];
    }
}
