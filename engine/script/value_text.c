/* Values as Java's toString shows them, and the names of their classes. */
#include "engine/script/kinds.h"

#include "common/base/num.h"
#include "common/base/utf8.h"

/* ---- classes ---- */

const char *sv_class(struct sv v)
{
    return kinds[v.kind].class_of != NULL ? kinds[v.kind].class_of(v) : kinds[v.kind].class;
}

const char *class_of_list(struct sv v)
{
    return v.list->form != LIST_SET ? kinds[SV_LIST].class
           : v.list->sorted         ? "java.util.TreeSet"
                                    : "java.util.HashSet";
}

const char *class_of_map(struct sv v)
{
    return v.map->sorted ? "java.util.TreeMap" : kinds[SV_MAP].class;
}

const char *class_of_local(struct sv v)
{
    return v.aux == LOCAL_DATE   ? kinds[SV_LOCAL].class
           : v.aux == LOCAL_TIME ? "java.time.LocalTime"
                                 : "java.time.LocalDateTime";
}

#define VALUES "org.elasticsearch.index.fielddata.ScriptDocValues."

const char *class_of_field(struct sv v)
{
    static const char *const classes[] = {
        [SCRIPT_DOC_LONG] = VALUES "Longs",
        [SCRIPT_DOC_DOUBLE] = VALUES "Doubles",
        [SCRIPT_DOC_BOOLEAN] = VALUES "Booleans",
        [SCRIPT_DOC_DATE] = VALUES "Dates",
        [SCRIPT_DOC_DATE_NANOS] = VALUES "Dates",
        [SCRIPT_DOC_KEYWORD] = VALUES "Strings",
        [SCRIPT_DOC_IP] = VALUES "Strings",
        [SCRIPT_DOC_GEO] = VALUES "GeoPoints",
        [SCRIPT_DOC_VECTOR] = "org.elasticsearch.xpack.vectors.query.DenseVectorScriptDocValues"};
    return classes[v.field->doc.type];
}

/* ---- texts ---- */

bool sv_text(struct sv v, struct buf *out, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        return false;
    }
    if (kinds[v.kind].text == NULL) {
        buf_z(out, sv_class(v));
        return !out->failed;
    }
    return kinds[v.kind].text(v, out, depth);
}

bool text_null(UNUSED struct sv v, struct buf *out, UNUSED unsigned depth)
{
    buf_z(out, "null");
    return !out->failed;
}

bool text_bool(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    buf_z(out, v.b ? "true" : "false");
    return !out->failed;
}

bool text_whole(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    buf_i64(out, v.i);
    return !out->failed;
}

bool text_char(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    buf_utf8(out, (uint32_t)v.i);
    return !out->failed;
}

bool text_float(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    num_put_float(out, (float)v.d);
    return !out->failed;
}

bool text_double(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    num_put_double(out, v.d);
    return !out->failed;
}

bool text_str(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    buf_str(out, v.s);
    return !out->failed;
}

bool text_list(struct sv v, struct buf *out, unsigned depth)
{
    buf_char(out, '[');
    for (uint32_t i = 0; i < v.list->n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        if (!sv_text(v.list->v[i], out, depth + 1)) {
            return false;
        }
    }
    buf_char(out, ']');
    return !out->failed;
}

bool text_optional(struct sv v, struct buf *out, unsigned depth)
{
    buf_z(out, v.list->n == 0 ? "Optional.empty" : "Optional");
    return v.list->n == 0 ? !out->failed : text_list(v, out, depth);
}

bool text_field(struct sv v, struct buf *out, unsigned depth)
{
    buf_char(out, '[');
    for (uint32_t i = 0; i < v.field->doc.n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        if (!sv_text(sv_field_at(v.field, i), out, depth + 1)) {
            return false;
        }
    }
    buf_char(out, ']');
    return !out->failed;
}

static bool put_entry(const struct sv_map_entry *e, struct buf *out, unsigned depth)
{
    if (!sv_text(e->key, out, depth + 1)) {
        return false;
    }
    buf_char(out, '=');
    return sv_text(e->value, out, depth + 1);
}

bool text_map(struct sv v, struct buf *out, unsigned depth)
{
    sv_map_arrange(v.map);
    buf_char(out, '{');
    for (uint32_t i = 0; i < v.map->n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        if (!put_entry(&v.map->e[i], out, depth)) {
            return false;
        }
    }
    buf_char(out, '}');
    return !out->failed;
}

bool text_entry(struct sv v, struct buf *out, unsigned depth)
{
    return put_entry(&v.map->e[v.aux], out, depth);
}

bool text_geo(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    num_put_double(out, v.geo->lat);
    buf_z(out, ", ");
    num_put_double(out, v.geo->lon);
    return !out->failed;
}

bool text_zone(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    buf_str(out, v.zone->id);
    return !out->failed;
}

bool text_enum(struct sv v, struct buf *out, UNUSED unsigned depth)
{
    static const char *const months[] = {"JANUARY",   "FEBRUARY", "MARCH",    "APRIL",
                                         "MAY",       "JUNE",     "JULY",     "AUGUST",
                                         "SEPTEMBER", "OCTOBER",  "NOVEMBER", "DECEMBER"};
    static const char *const days[] = {"MONDAY", "TUESDAY",  "WEDNESDAY", "THURSDAY",
                                       "FRIDAY", "SATURDAY", "SUNDAY"};
    buf_z(out, v.aux == ENUM_MONTH ? months[(v.i - 1) % 12] : days[(v.i - 1) % 7]);
    return !out->failed;
}
