/* The classes that scripts may name. */
#include "engine/script/ast.h"

#include <stdio.h>

static const struct {
    const char *name, *java;
    enum type_id id;
} table[] = {
    {"def", "def", TYPE_DEF},
    {"void", "void", TYPE_VOID},
    {"boolean", "boolean", TYPE_BOOLEAN},
    {"byte", "byte", TYPE_BYTE},
    {"short", "short", TYPE_SHORT},
    {"char", "char", TYPE_CHAR},
    {"int", "int", TYPE_INT},
    {"long", "long", TYPE_LONG},
    {"float", "float", TYPE_FLOAT},
    {"double", "double", TYPE_DOUBLE},
    {"Boolean", "java.lang.Boolean", TYPE_BOX_BOOLEAN},
    {"Byte", "java.lang.Byte", TYPE_BOX_BYTE},
    {"Short", "java.lang.Short", TYPE_BOX_SHORT},
    {"Character", "java.lang.Character", TYPE_BOX_CHAR},
    {"Integer", "java.lang.Integer", TYPE_BOX_INT},
    {"Long", "java.lang.Long", TYPE_BOX_LONG},
    {"Float", "java.lang.Float", TYPE_BOX_FLOAT},
    {"Double", "java.lang.Double", TYPE_BOX_DOUBLE},
    {"Number", "java.lang.Number", TYPE_NUMBER},
    {"Object", "java.lang.Object", TYPE_OBJECT},
    {"Comparable", "java.lang.Comparable", TYPE_OBJECT},
    {"String", "java.lang.String", TYPE_STRING},
    {"CharSequence", "java.lang.CharSequence", TYPE_STRING},
    {"StringBuilder", "java.lang.StringBuilder", TYPE_BUILDER},
    {"StringBuffer", "java.lang.StringBuffer", TYPE_BUILDER},
    {"ArrayList", "java.util.ArrayList", TYPE_LIST},
    {"List", "java.util.List", TYPE_LIST},
    {"LinkedList", "java.util.LinkedList", TYPE_LIST},
    {"Set", "java.util.Set", TYPE_SET},
    {"HashSet", "java.util.HashSet", TYPE_SET},
    {"LinkedHashSet", "java.util.LinkedHashSet", TYPE_SET},
    {"TreeSet", "java.util.TreeSet", TYPE_SET},
    {"Collection", "java.util.Collection", TYPE_COLLECTION},
    {"Iterable", "java.lang.Iterable", TYPE_COLLECTION},
    {"HashMap", "java.util.HashMap", TYPE_MAP},
    {"Map", "java.util.Map", TYPE_MAP},
    {"LinkedHashMap", "java.util.LinkedHashMap", TYPE_MAP},
    {"TreeMap", "java.util.TreeMap", TYPE_MAP},
    {"Map.Entry", "java.util.Map.Entry", TYPE_ENTRY},
    {"Iterator", "java.util.Iterator", TYPE_ITERATOR},
    {"Math", "java.lang.Math", TYPE_MATH},
    {"StrictMath", "java.lang.StrictMath", TYPE_MATH},
    {"Objects", "java.util.Objects", TYPE_OBJECTS},
    {"Collections", "java.util.Collections", TYPE_COLLECTIONS},
    {"Arrays", "java.util.Arrays", TYPE_ARRAYS},
    {"Collectors", "java.util.stream.Collectors", TYPE_COLLECTORS},
    {"Comparator", "java.util.Comparator", TYPE_COMPARATOR},
    {"ZonedDateTime", "java.time.ZonedDateTime", TYPE_DATE},
    {"JodaCompatibleZonedDateTime", "org.elasticsearch.script.JodaCompatibleZonedDateTime", TYPE_DATE},
    {"Instant", "java.time.Instant", TYPE_INSTANT},
    {"ZoneId", "java.time.ZoneId", TYPE_ZONE},
    {"ZoneOffset", "java.time.ZoneOffset", TYPE_ZONE},
    {"DateTimeFormatter", "java.time.format.DateTimeFormatter", TYPE_FORMATTER},
    {"ChronoUnit", "java.time.temporal.ChronoUnit", TYPE_CHRONO_UNIT},
    {"ChronoField", "java.time.temporal.ChronoField", TYPE_CHRONO_FIELD},
    {"LocalDate", "java.time.LocalDate", TYPE_LOCAL_DATE},
    {"LocalTime", "java.time.LocalTime", TYPE_LOCAL_TIME},
    {"LocalDateTime", "java.time.LocalDateTime", TYPE_LOCAL_DATE_TIME},
    {"Duration", "java.time.Duration", TYPE_DURATION},
    {"Pattern", "java.util.regex.Pattern", TYPE_PATTERN},
    {"Matcher", "java.util.regex.Matcher", TYPE_MATCHER},
    {"GeoPoint", "org.elasticsearch.common.geo.GeoPoint", TYPE_GEO},
    {"Optional", "java.util.Optional", TYPE_OPTIONAL},
    {"OptionalDouble", "java.util.OptionalDouble", TYPE_OPTIONAL},
    {"OptionalInt", "java.util.OptionalInt", TYPE_OPTIONAL},
    {"OptionalLong", "java.util.OptionalLong", TYPE_OPTIONAL},
    {"MovingFunctions", "org.elasticsearch.search.aggregations.pipeline.MovingFunctions", TYPE_MOVING},
    {"System", "java.lang.System", TYPE_SYSTEM},
    {"SortedMap", "java.util.SortedMap", TYPE_MAP},
    {"NavigableMap", "java.util.NavigableMap", TYPE_MAP},
    {"SortedSet", "java.util.SortedSet", TYPE_SET},
    {"NavigableSet", "java.util.NavigableSet", TYPE_SET},
    {"Exception", "java.lang.Exception", TYPE_EXCEPTION},
    {"RuntimeException", "java.lang.RuntimeException", TYPE_EXCEPTION},
    {"IllegalArgumentException", "java.lang.IllegalArgumentException", TYPE_EXCEPTION},
    {"IllegalStateException", "java.lang.IllegalStateException", TYPE_EXCEPTION},
    {"ArithmeticException", "java.lang.ArithmeticException", TYPE_EXCEPTION},
    {"NumberFormatException", "java.lang.NumberFormatException", TYPE_EXCEPTION},
    {"NullPointerException", "java.lang.NullPointerException", TYPE_EXCEPTION},
    {"ClassCastException", "java.lang.ClassCastException", TYPE_EXCEPTION},
    {"IndexOutOfBoundsException", "java.lang.IndexOutOfBoundsException", TYPE_EXCEPTION},
    {"UnsupportedOperationException", "java.lang.UnsupportedOperationException", TYPE_EXCEPTION},
    {"DateTimeException", "java.time.DateTimeException", TYPE_EXCEPTION},
    {"Function", "java.util.function.Function", TYPE_FUNCTION},
    {"BiFunction", "java.util.function.BiFunction", TYPE_FUNCTION},
    {"Predicate", "java.util.function.Predicate", TYPE_FUNCTION},
    {"Consumer", "java.util.function.Consumer", TYPE_FUNCTION},
    {"Supplier", "java.util.function.Supplier", TYPE_FUNCTION},
    {"BaseStream", "java.util.stream.BaseStream", TYPE_STREAM},
    {"Stream", "java.util.stream.Stream", TYPE_STREAM},
    {"IntStream", "java.util.stream.IntStream", TYPE_STREAM},
    {"LongStream", "java.util.stream.LongStream", TYPE_STREAM},
    {"DoubleStream", "java.util.stream.DoubleStream", TYPE_STREAM}};

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

struct type type_called(struct str name)
{
    struct type t = {.id = type_of_name(name)};
    for (size_t i = 0; i < ARRAY_LEN(table) && t.row == 0; i++) {
        struct str java = str_of(table[i].java);
        if (table[i].id == t.id && (str_is(name, table[i].name) || str_eq(name, java))) {
            t.row = (uint8_t)(i + 1);
        }
    }
    return t;
}

static size_t row_of(struct type t)
{
    for (size_t i = 0; t.row == 0 && i < ARRAY_LEN(table); i++) {
        if (table[i].id == t.id) {
            return i;
        }
    }
    return t.row > 0 ? t.row - 1U : 0;
}

bool type_same(struct type a, struct type b)
{
    return a.id == b.id && a.dims == b.dims && row_of(a) == row_of(b);
}

static struct type_text with_dims(const char *name, unsigned dims)
{
    struct type_text out;
    size_t n = (size_t)snprintf(out.s, sizeof(out.s), "%s", name);
    for (unsigned i = 0; i < dims && n + 2 < sizeof(out.s); i++, n += 2) {
        memcpy(out.s + n, "[]", 3);
    }
    return out;
}

struct type_text type_java(struct type t)
{
    return with_dims(table[row_of(t)].java, t.dims);
}

struct type_text type_written(struct type t)
{
    return with_dims(table[row_of(t)].name, t.dims);
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
