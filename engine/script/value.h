/* value.h - the values that scripts compute with. Private to engine/script.
 *
 * A value carries its kind, and numbers keep Java's: int, long, float and double promote as in Java. Lists,
 * maps and texts live in the run's arena. A frozen container (parameters) refuses changes. */
#ifndef ENGINE_SCRIPT_VALUE_H
#define ENGINE_SCRIPT_VALUE_H

#include "common/base/arena.h"
#include "common/base/buf.h"
#include "common/base/date.h"
#include "common/base/err.h"
#include "common/base/geo.h"
#include "common/base/json.h"
#include "engine/script/script.h"

enum sv_kind {
    SV_NULL,
    SV_BOOL,
    SV_BYTE, /* numbers in the order of promotion; char counts as a number */
    SV_SHORT,
    SV_CHAR,
    SV_INT,
    SV_LONG,
    SV_FLOAT,
    SV_DOUBLE,
    SV_STR,
    SV_LIST, /* lists, sets, arrays, streams */
    SV_MAP,
    SV_ENTRY, /* of a map: map and index */
    SV_DOCS,  /* the variable `doc` */
    SV_FIELD, /* doc['f'] */
    SV_DATE,  /* a date and time in a zone */
    SV_INSTANT,
    SV_GEO,
    SV_FUNC, /* a lambda */
    SV_TYPE, /* a class, for its static members */
    SV_ITER,
    SV_PATTERN,
    SV_MATCHER,
    SV_FORMATTER,
    SV_ZONE,
    SV_ENUM,     /* a month or a weekday */
    SV_BUILDER,  /* StringBuilder */
    SV_OPTIONAL, /* a list of none or one */
    SV_LOCAL,    /* a date, a time of day or both, without a zone: as in UTC */
    SV_DURATION, /* seconds and nanoseconds */
    SV_KINDS     /* how many there are */
};

struct sv_list;
struct sv_map;
struct sv_field;
struct sv_func;
struct sv_iter;
struct sv_matcher;
struct sv_builder;

struct sv_date {
    struct instant t;
    const struct zone *zone;
};

#define DATE_OF_DOC 1 /* SV_DATE's aux: of a field, with the methods of older versions */

enum sv_enum { ENUM_MONTH, ENUM_WEEKDAY };
enum sv_local { LOCAL_DATE, LOCAL_TIME, LOCAL_DATE_TIME };

struct sv {
    enum sv_kind kind;
    uint32_t aux; /* SV_ENTRY: index; SV_DATE: DATE_OF_DOC; SV_ENUM: enum sv_enum; SV_LOCAL: enum sv_local;
                     SV_TYPE: enum type_id; SV_FORMATTER: the number of an ISO constant, or 0 */
    union {
        bool b;
        int64_t i; /* every whole kind, SV_ENUM */
        double d;  /* SV_FLOAT (rounded to float), SV_DOUBLE */
        struct str s;
        struct sv_list *list;
        struct sv_map *map;
        struct sv_field *field;
        const struct sv_date *date;
        const struct geo_point *geo;
        struct sv_func *func;
        struct sv_iter *iter;
        struct sv_matcher *matcher;
        struct sv_builder *builder;
        const struct date_format *format;
        const struct zone *zone;
        void *p;
    };
};

enum list_form { LIST_LIST, LIST_SET, LIST_ARRAY, LIST_STREAM };

struct sv_list {
    struct sv *v;
    uint32_t n;
    size_t cap;
    enum list_form form;
    enum sv_kind element; /* LIST_ARRAY: what assignment converts to; SV_NULL: anything */
    bool frozen;
    bool sorted; /* a TreeSet */
    bool hashed; /* a HashSet: in the order of its buckets */
    struct sv_map
        *of; /* the keys, values or entries of this map: what is removed here leaves it, nothing is added */
};

struct sv_map_entry {
    struct sv key, value;
    uint32_t hash;
    uint32_t put; /* the how manieth new key it was */
};

struct sv_map {
    struct sv_map_entry *e; /* in order of insertion, or of keys */
    uint32_t n;
    size_t cap;
    uint32_t *slots; /* entry + 1; built when the map is large */
    uint32_t slots_n;
    bool frozen;
    bool sorted;   /* a TreeMap */
    bool hashed;   /* a HashMap: */
    bool arranged; /* its entries are in the order of their buckets */
    uint32_t puts;
};

struct sv_field {
    struct str name;
    struct script_doc doc;
    struct arena *arena;
};

static inline struct sv sv_null(void)
{
    return (struct sv){.kind = SV_NULL};
}

static inline struct sv sv_bool(bool b)
{
    return (struct sv){.kind = SV_BOOL, .b = b};
}

static inline struct sv sv_int(int32_t i)
{
    return (struct sv){.kind = SV_INT, .i = i};
}

static inline struct sv sv_long(int64_t i)
{
    return (struct sv){.kind = SV_LONG, .i = i};
}

static inline struct sv sv_double(double d)
{
    return (struct sv){.kind = SV_DOUBLE, .d = d};
}

static inline struct sv sv_float(float d)
{
    return (struct sv){.kind = SV_FLOAT, .d = (double)d};
}

static inline struct sv sv_str(struct str s)
{
    return (struct sv){.kind = SV_STR, .s = s};
}

static inline struct sv sv_of_list(struct sv_list *l)
{
    return (struct sv){.kind = SV_LIST, .list = l};
}

static inline bool sv_is_number(struct sv v)
{
    return v.kind >= SV_BYTE && v.kind <= SV_DOUBLE;
}

static inline bool sv_is_whole(struct sv v)
{
    return v.kind >= SV_BYTE && v.kind <= SV_LONG;
}

static inline double sv_num(struct sv v)
{
    return sv_is_whole(v) ? (double)v.i : v.d;
}

/* Java's class name, for errors: "java.lang.Integer". */
const char *sv_class(struct sv v);
/* Java's equals and hashCode, as far as maps and lists need them (1 equals 1, not 1L). */
/* Its cost is added to *steps. At most a million values are compared; larger containers are not equal. */
bool sv_equals(struct sv a, struct sv b, uint64_t *steps);
uint32_t sv_hash(struct sv v);
/* Java's compareTo; false: they do not compare. */
bool sv_compare(struct sv a, struct sv b, int *out);
/* Java's String.valueOf; false: no memory or too deep. */
bool sv_text(struct sv v, struct buf *out, unsigned depth);
/* Dates, times and durations: what XContent shows, and compareTo. */
void sv_put_shown_local(struct sv v, struct buf *out);
int sv_compare_dates(struct sv a, struct sv b);
/* The value as a number of `kind`, as a Java cast converts primitives. */
struct sv sv_to_kind(struct sv v, enum sv_kind kind);

struct sv_list *sv_list_new(struct arena *a, enum list_form form);
bool sv_list_push(struct arena *a, struct sv_list *l, struct sv v) NODISCARD;
bool sv_list_insert(struct arena *a, struct sv_list *l, uint32_t at, struct sv v) NODISCARD;
void sv_list_remove(struct sv_list *l, uint32_t at);
/* Index of an equal element, or UINT32_MAX. Its cost is added to *steps. */
uint32_t sv_list_find(const struct sv_list *l, struct sv v, uint64_t *steps);

struct sv_map *sv_map_new(struct arena *a);
struct sv *sv_map_get(const struct sv_map *m, struct sv key); /* NULL: absent */
bool sv_map_put(struct arena *a, struct sv_map *m, struct sv key, struct sv value) NODISCARD;
bool sv_map_remove(struct sv_map *m, struct sv key, struct sv *was);
void sv_map_remove_at(struct sv_map *m, uint32_t i);
void sv_map_index(struct sv_map *m); /* entries have moved: the index of keys is rebuilt */
/* Entries of a HashMap into the order in which Java walks them: before they are walked. false: no memory, they stay as they are. */
bool sv_map_arrange(struct sv_map *m);
/* The newest element of a HashSet to its place. */
void sv_set_settle(struct sv_list *l);

/* Trees in and out. Whole numbers become int, or long where they do not fit; fractions double. */
bool sv_of_json(struct sv *out, const struct json *v, struct arena *a, bool frozen) NODISCARD;
/* A deep copy that may be changed. */
bool sv_thaw(struct sv *out, struct sv v, struct arena *a) NODISCARD;
/* ERR_ILLEGAL_ARGUMENT for what has no JSON form, or contains itself. */
enum err sv_to_json(struct json *out, struct sv v, struct arena *a, unsigned depth,
                    struct errmsg *em) NODISCARD;
/* What an aggregation takes a result for: null, a value, or an array of values, each a number or a text. */
enum err sv_values(struct json *out, struct sv v, bool numbers, struct arena *a, struct errmsg *em) NODISCARD;

/* ---- a field's values ---- */

struct sv sv_field_at(const struct sv_field *f, uint32_t i);

#endif
