#include "engine/script/value.h"

#include "common/base/coerce.h"
#include "common/base/hash.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"

#include <math.h>
#include <stdio.h>

#define DEPTH_MAX 100

const char *sv_class(struct sv v)
{
    static const char *const names[] = {[SV_NULL] = "null",
                                        [SV_BOOL] = "java.lang.Boolean",
                                        [SV_BYTE] = "java.lang.Byte",
                                        [SV_SHORT] = "java.lang.Short",
                                        [SV_CHAR] = "java.lang.Character",
                                        [SV_INT] = "java.lang.Integer",
                                        [SV_LONG] = "java.lang.Long",
                                        [SV_FLOAT] = "java.lang.Float",
                                        [SV_DOUBLE] = "java.lang.Double",
                                        [SV_STR] = "java.lang.String",
                                        [SV_LIST] = "java.util.ArrayList",
                                        [SV_MAP] = "java.util.HashMap",
                                        [SV_ENTRY] = "java.util.Map.Entry",
                                        [SV_DOCS] = "org.elasticsearch.search.lookup.LeafDocLookup",
                                        [SV_FIELD] = "ScriptDocValues",
                                        [SV_DATE] = "java.time.ZonedDateTime",
                                        [SV_INSTANT] = "java.time.Instant",
                                        [SV_GEO] = "org.elasticsearch.common.geo.GeoPoint",
                                        [SV_FUNC] = "lambda",
                                        [SV_TYPE] = "java.lang.Class",
                                        [SV_ITER] = "java.util.Iterator",
                                        [SV_PATTERN] = "java.util.regex.Pattern",
                                        [SV_MATCHER] = "java.util.regex.Matcher",
                                        [SV_FORMATTER] = "java.time.format.DateTimeFormatter",
                                        [SV_ZONE] = "java.time.ZoneId",
                                        [SV_ENUM] = "java.lang.Enum",
                                        [SV_BUILDER] = "java.lang.StringBuilder",
                                        [SV_OPTIONAL] = "java.util.Optional",
                                        [SV_LOCAL] = "java.time.LocalDate",
                                        [SV_DURATION] = "java.time.Duration"};
    if (v.kind == SV_LOCAL && v.aux != LOCAL_DATE) {
        return v.aux == LOCAL_TIME ? "java.time.LocalTime" : "java.time.LocalDateTime";
    }
    if (v.kind == SV_LIST && v.list->form == LIST_SET) {
        return v.list->sorted ? "java.util.TreeSet" : "java.util.HashSet";
    }
    if (v.kind == SV_MAP && v.map->sorted) {
        return "java.util.TreeMap";
    }
    if (v.kind == SV_FIELD) {
        switch (v.field->doc.type) {
#define CLASS(t, name) \
    case t:            \
        return "org.elasticsearch.index.fielddata.ScriptDocValues." name
            CLASS(SCRIPT_DOC_LONG, "Longs");
            CLASS(SCRIPT_DOC_DOUBLE, "Doubles");
            CLASS(SCRIPT_DOC_BOOLEAN, "Booleans");
            CLASS(SCRIPT_DOC_DATE, "Dates");
            CLASS(SCRIPT_DOC_DATE_NANOS, "Dates");
            CLASS(SCRIPT_DOC_KEYWORD, "Strings");
            CLASS(SCRIPT_DOC_IP, "Strings");
            CLASS(SCRIPT_DOC_GEO, "GeoPoints");
#undef CLASS
        }
    }
    return names[v.kind];
}

/* ---- comparing ---- */

#define COMPARED_MAX \
    40000000 /* values at a time, which is as much as a run may do: lists of lists that are one list have no end otherwise */

struct comparing {
    uint64_t steps; /* so far */
    unsigned depth;
};

static bool equal(struct sv a, struct sv b, struct comparing *c);
static uint32_t find_entry(const struct sv_map *m, struct sv key, uint32_t hash, struct comparing *c);

static uint32_t find_element(const struct sv_list *l, struct sv v, struct comparing *c)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (equal(l->v[i], v, c)) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool lists_equal(const struct sv_list *a, const struct sv_list *b, struct comparing *c)
{
    bool set = a->form == LIST_SET;
    if (a->n != b->n) {
        return false;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (set ? find_element(b, a->v[i], c) == UINT32_MAX : !equal(a->v[i], b->v[i], c)) {
            return false;
        }
    }
    return true;
}

static bool maps_equal(const struct sv_map *a, const struct sv_map *b, struct comparing *c)
{
    if (a->n != b->n) {
        return false;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        uint32_t other = find_entry(b, a->e[i].key, a->e[i].hash, c);
        if (other == UINT32_MAX || !equal(a->e[i].value, b->e[other].value, c)) {
            return false;
        }
    }
    return true;
}

static bool nested_equal(struct sv a, struct sv b, struct comparing *c)
{
    c->depth++;
    bool is = a.kind == SV_MAP ? maps_equal(a.map, b.map, c) : lists_equal(a.list, b.list, c);
    c->depth--;
    return is;
}

/* What nests deeper than any real value (a list may hold itself), or holds more, is not equal. */
static bool equal(struct sv a, struct sv b, struct comparing *c)
{
    c->steps++;
    if (a.kind != b.kind || c->depth > DEPTH_MAX || c->steps > COMPARED_MAX || stop_often()) {
        return false;
    }
    switch (a.kind) {
    case SV_NULL:
    case SV_DOCS:
        return true;
    case SV_BOOL:
        return a.b == b.b;
    case SV_FLOAT:
    case SV_DOUBLE:
        return (isnan(a.d) && isnan(b.d)) || (a.d == b.d && signbit(a.d) == signbit(b.d));
    case SV_STR:
        c->steps += a.s.n == b.s.n ? a.s.n / 64 : 0;
        return str_eq(a.s, b.s);
    case SV_LIST:
    case SV_OPTIONAL:
        return a.list == b.list || nested_equal(a, b, c);
    case SV_MAP:
        return a.map == b.map || nested_equal(a, b, c);
    case SV_DATE:
        return a.date->t.seconds == b.date->t.seconds && a.date->t.nanos == b.date->t.nanos
               && str_eq(a.date->zone->id, b.date->zone->id);
    case SV_INSTANT:
    case SV_LOCAL:
    case SV_DURATION:
        return a.aux == b.aux && a.date->t.seconds == b.date->t.seconds && a.date->t.nanos == b.date->t.nanos;
    case SV_GEO:
        return a.geo->lat == b.geo->lat && a.geo->lon == b.geo->lon;
    case SV_ENUM:
    case SV_TYPE:
        return a.i == b.i && a.aux == b.aux;
    case SV_ZONE:
        return str_eq(a.zone->id, b.zone->id);
    default:
        return sv_is_whole(a) ? a.i == b.i : a.p == b.p;
    }
}

bool sv_equals(struct sv a, struct sv b, uint64_t *steps)
{
    struct comparing c = {0};
    bool is = equal(a, b, &c);
    *steps += c.steps;
    return is;
}

static int order(double a, double b)
{
    if (a < b || a > b) {
        return a < b ? -1 : 1;
    }
    if (a == b) {
        return (signbit(a) ? 0 : 1) - (signbit(b) ? 0 : 1);
    }
    return (isnan(a) ? 1 : 0) - (isnan(b) ? 1 : 0);
}

bool sv_compare(struct sv a, struct sv b, int *out)
{
    if (sv_is_number(a) && sv_is_number(b)) {
        if (sv_is_whole(a) && sv_is_whole(b)) {
            *out = a.i < b.i ? -1 : a.i > b.i;
        } else {
            *out = order(sv_num(a), sv_num(b));
        }
        return true;
    }
    if (a.kind != b.kind) {
        return false;
    }
    switch (a.kind) {
    case SV_STR:
        *out = str_cmp(a.s, b.s);
        return true;
    case SV_BOOL:
        *out = (int)a.b - (int)b.b;
        return true;
    case SV_LOCAL:
        if (a.aux != b.aux) {
            return false;
        }
        *out = sv_compare_dates(a, b);
        return true;
    case SV_DATE:
    case SV_INSTANT:
    case SV_DURATION:
        *out = sv_compare_dates(a, b);
        return true;
    case SV_ENUM:
        *out = a.i < b.i ? -1 : a.i > b.i;
        return true;
    default:
        return false;
    }
}

/* ---- text ---- */

static bool put_list(const struct sv_list *l, struct buf *out, unsigned depth)
{
    buf_char(out, '[');
    for (uint32_t i = 0; i < l->n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        if (!sv_text(l->v[i], out, depth + 1)) {
            return false;
        }
    }
    buf_char(out, ']');
    return !out->failed;
}

static bool put_map(struct sv_map *m, struct buf *out, unsigned depth)
{
    sv_map_arrange(m);
    buf_char(out, '{');
    for (uint32_t i = 0; i < m->n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        if (!sv_text(m->e[i].key, out, depth + 1)) {
            return false;
        }
        buf_char(out, '=');
        if (!sv_text(m->e[i].value, out, depth + 1)) {
            return false;
        }
    }
    buf_char(out, '}');
    return !out->failed;
}

static const char *enum_name(struct sv v)
{
    static const char *const months[] = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                         "MAY",       "JUNE",     "JULY",     "AUGUST",
                                         "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};
    static const char *const days[] = {"MONDAY", "TUESDAY",  "WEDNESDAY", "THURSDAY",
                                       "FRIDAY", "SATURDAY", "SUNDAY"};
    return v.aux == ENUM_MONTH ? months[(v.i - 1) % 12] : days[(v.i - 1) % 7];
}

bool sv_text(struct sv v, struct buf *out, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        return false;
    }
    switch (v.kind) {
    case SV_NULL:
        buf_z(out, "null");
        break;
    case SV_BOOL:
        buf_z(out, v.b ? "true" : "false");
        break;
    case SV_CHAR:
        buf_utf8(out, (uint32_t)v.i);
        break;
    case SV_FLOAT:
        num_put_float(out, (float)v.d);
        break;
    case SV_DOUBLE:
        num_put_double(out, v.d);
        break;
    case SV_STR:
        buf_str(out, v.s);
        break;
    case SV_OPTIONAL:
        if (v.list->n == 0) {
            buf_z(out, "Optional.empty");
            break;
        }
        buf_z(out, "Optional");
        return put_list(v.list, out, depth);
    case SV_LIST:
        return put_list(v.list, out, depth);
    case SV_MAP:
        return put_map(v.map, out, depth);
    case SV_ENTRY:
        return sv_text(v.map->e[v.aux].key, out, depth + 1) && (buf_char(out, '='), true)
               && sv_text(v.map->e[v.aux].value, out, depth + 1);
    case SV_DATE:
    case SV_INSTANT:
    case SV_LOCAL:
    case SV_DURATION:
        sv_put_date(v, out);
        break;
    case SV_GEO:
        num_put_double(out, v.geo->lat);
        buf_z(out, ", ");
        num_put_double(out, v.geo->lon);
        break;
    case SV_FIELD:
        buf_char(out, '[');
        for (uint32_t i = 0; i < v.field->doc.n; i++) {
            buf_z(out, i > 0 ? ", " : "");
            if (!sv_text(sv_field_at(v.field, i), out, depth + 1)) {
                return false;
            }
        }
        buf_char(out, ']');
        break;
    case SV_ZONE:
        buf_str(out, v.zone->id);
        break;
    case SV_ENUM:
        buf_z(out, enum_name(v));
        break;
    default:
        if (sv_is_whole(v)) {
            buf_i64(out, v.i);
        } else {
            buf_z(out, sv_class(v));
        }
    }
    return !out->failed;
}

/* ---- numbers ---- */

struct sv sv_to_kind(struct sv v, enum sv_kind kind)
{
    int64_t whole = sv_is_whole(v) ? v.i : kind == SV_LONG ? num_double_to_i64(v.d) : num_double_to_i32(v.d);
    switch (kind) {
    case SV_BYTE:
        return (struct sv){.kind = SV_BYTE, .i = (int8_t)whole};
    case SV_SHORT:
        return (struct sv){.kind = SV_SHORT, .i = (int16_t)whole};
    case SV_CHAR:
        return (struct sv){.kind = SV_CHAR, .i = (uint16_t)whole};
    case SV_INT:
        return sv_int((int32_t)whole);
    case SV_LONG:
        return sv_long(whole);
    case SV_FLOAT:
        return sv_is_whole(v) ? sv_float((float)v.i) : sv_float((float)v.d);
    case SV_DOUBLE:
        return sv_double(sv_num(v));
    default:
        return v;
    }
}

/* ---- lists ---- */

struct sv_list *sv_list_new(struct arena *a, enum list_form form)
{
    struct sv_list *l = ARENA_NEW(a, struct sv_list);
    if (l != NULL) {
        l->form = form;
    }
    return l;
}

bool sv_list_push(struct arena *a, struct sv_list *l, struct sv v)
{
    struct sv *grown = arena_grow(a, l->v, l->n, &l->cap, sizeof(*l->v));
    if (grown == NULL) {
        return false;
    }
    l->v = grown;
    l->v[l->n++] = v;
    return true;
}

bool sv_list_insert(struct arena *a, struct sv_list *l, uint32_t at, struct sv v)
{
    if (!sv_list_push(a, l, v)) {
        return false;
    }
    memmove(&l->v[at + 1], &l->v[at], (l->n - 1 - at) * sizeof(*l->v));
    l->v[at] = v;
    return true;
}

/* What is taken out of a map's keys, values or entries leaves the map; the entries behind it move up. */
static void remove_from_map(struct sv_list *l, uint32_t at)
{
    sv_map_remove_at(l->of, at);
    for (uint32_t i = at; i < l->n; i++) {
        if (l->v[i].kind == SV_ENTRY && l->v[i].map == l->of) {
            l->v[i].aux = i;
        }
    }
}

void sv_list_remove(struct sv_list *l, uint32_t at)
{
    memmove(&l->v[at], &l->v[at + 1], (l->n - 1 - at) * sizeof(*l->v));
    l->n--;
    if (l->of != NULL && at < l->of->n) {
        remove_from_map(l, at);
    }
}

uint32_t sv_list_find(const struct sv_list *l, struct sv v, uint64_t *steps)
{
    struct comparing c = {0};
    uint32_t at = find_element(l, v, &c);
    *steps += c.steps / 4;
    return at;
}

/* ---- maps ---- */

#define SLOTS_FROM 16 /* entries: below, looking through them is quicker */

struct sv_map *sv_map_new(struct arena *a)
{
    return ARENA_NEW(a, struct sv_map);
}

static uint32_t find_entry(const struct sv_map *m, struct sv key, uint32_t hash, struct comparing *c)
{
    if (m->slots == NULL) {
        for (uint32_t i = 0; i < m->n; i++) {
            if (m->e[i].hash == hash && equal(m->e[i].key, key, c)) {
                return i;
            }
        }
        return UINT32_MAX;
    }
    for (uint32_t at = (uint32_t)hash_u64(hash) & (m->slots_n - 1);; at = (at + 1) & (m->slots_n - 1)) {
        uint32_t i = m->slots[at];
        if (i == 0) {
            return UINT32_MAX;
        }
        if (m->e[i - 1].hash == hash && equal(m->e[i - 1].key, key, c)) {
            return i - 1;
        }
    }
}

void sv_map_index(struct sv_map *m)
{
    memset(m->slots, 0, m->slots_n * sizeof(*m->slots));
    for (uint32_t i = 0; i < m->n; i++) {
        uint32_t at = (uint32_t)hash_u64(m->e[i].hash) & (m->slots_n - 1);
        while (m->slots[at] != 0) {
            at = (at + 1) & (m->slots_n - 1);
        }
        m->slots[at] = i + 1;
    }
}

struct sv *sv_map_get(const struct sv_map *m, struct sv key)
{
    uint32_t i = find_entry(m, key, sv_hash(key), &(struct comparing){0});
    return i == UINT32_MAX ? NULL : &m->e[i].value;
}

/* Moves a sorted map's newest entry to its place. */
static void sink_newest(struct sv_map *m)
{
    struct sv_map_entry newest = m->e[m->n - 1];
    uint32_t at = m->n - 1;
    for (int c; at > 0 && sv_compare(newest.key, m->e[at - 1].key, &c) && c < 0; at--) {
        m->e[at] = m->e[at - 1];
    }
    m->e[at] = newest;
    if (at < m->n - 1 && m->slots != NULL) {
        sv_map_index(m);
    }
}

bool sv_map_put(struct arena *a, struct sv_map *m, struct sv key, struct sv value)
{
    uint32_t hash = sv_hash(key), i = find_entry(m, key, hash, &(struct comparing){0});
    if (i != UINT32_MAX) {
        m->e[i].value = value;
        return true;
    }
    struct sv_map_entry *grown = arena_grow(a, m->e, m->n, &m->cap, sizeof(*m->e));
    if (grown == NULL) {
        return false;
    }
    m->e = grown;
    m->e[m->n++] = (struct sv_map_entry){key, value, hash, m->puts++};
    m->arranged = false;
    if (m->n > SLOTS_FROM && m->n * 2 > m->slots_n) {
        uint32_t n = MAX_OF(64U, m->slots_n * 2);
        m->slots = ARENA_ARRAY(a, uint32_t, n);
        m->slots_n = n;
        if (m->slots == NULL) {
            m->slots_n = 0;
            return false;
        }
        sv_map_index(m);
    } else if (m->slots != NULL) {
        uint32_t at = (uint32_t)hash_u64(hash) & (m->slots_n - 1);
        while (m->slots[at] != 0) {
            at = (at + 1) & (m->slots_n - 1);
        }
        m->slots[at] = m->n;
    }
    if (m->sorted) {
        sink_newest(m);
    }
    return true;
}

void sv_map_remove_at(struct sv_map *m, uint32_t i)
{
    memmove(&m->e[i], &m->e[i + 1], (m->n - 1 - i) * sizeof(*m->e));
    m->n--;
    if (m->slots != NULL) {
        sv_map_index(m);
    }
}

bool sv_map_remove(struct sv_map *m, struct sv key, struct sv *was)
{
    uint32_t i = find_entry(m, key, sv_hash(key), &(struct comparing){0});
    if (i == UINT32_MAX) {
        return false;
    }
    *was = m->e[i].value;
    sv_map_remove_at(m, i);
    return true;
}

/* ---- fields ---- */

struct sv sv_field_at(const struct sv_field *f, uint32_t i)
{
    const struct script_doc *d = &f->doc;
    struct sv_date *date;
    switch (d->type) {
    case SCRIPT_DOC_LONG:
        return sv_long(d->i[i]);
    case SCRIPT_DOC_DOUBLE:
        return sv_double(d->d[i]);
    case SCRIPT_DOC_BOOLEAN:
        return sv_bool(d->i[i] != 0);
    case SCRIPT_DOC_KEYWORD:
    case SCRIPT_DOC_IP:
        return sv_str(d->s[i]);
    case SCRIPT_DOC_GEO:
        return (struct sv){.kind = SV_GEO, .geo = &d->geo[i]};
    default:
        date = ARENA_NEW(f->arena, struct sv_date);
        if (date == NULL) {
            return sv_null();
        }
        date->t = d->type == SCRIPT_DOC_DATE ? instant_of_ms(d->i[i]) : instant_of_nanos(d->i[i]);
        date->zone = &zone_utc;
        return (struct sv){.kind = SV_DATE, .aux = DATE_OF_DOC, .date = date};
    }
}
