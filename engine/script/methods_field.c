/* Methods of a field's values, doc['f']: painless's, and those that expressions are rewritten to (#value
 * ...). */
#include "engine/script/vm.h"

/* ---- doc['f'] ---- */

static enum err field_missing(struct script_run *m)
{
    return err_set(m->em, ERR_ILLEGAL_STATE,
                   "A document doesn't have a value for a field! "
                   "Use doc[<field>].size()==0 to check if a document is missing a field!");
}

METHOD(field_value)
{
    if (self.field->doc.n == 0) {
        *out = sv_null();
        return self.field->doc.type == SCRIPT_DOC_IP ? ERR_OK : field_missing(m);
    }
    *out = sv_field_at(self.field, 0);
    return ERR_OK;
}

METHOD(field_get)
{
    int64_t i = 0;
    enum err e = vm_arg_i64(m, a[0], &i);
    if (e == ERR_OK && self.field->doc.n == 0 && self.field->doc.type != SCRIPT_DOC_IP) {
        return field_missing(m);
    }
    if (e == ERR_OK && self.field->doc.type == SCRIPT_DOC_IP && (i < 0 || i >= self.field->doc.n)) {
        return err_set(m->em, ERR_ARRAY_BOUNDS, "Index %lld out of bounds for length %u", (long long)i,
                       self.field->doc.n);
    }
    if (e == ERR_OK && (i < 0 || i >= self.field->doc.n)) {
        return vm_index(m, i, self.field->doc.n);
    }
    if (e == ERR_OK) {
        *out = sv_field_at(self.field, (uint32_t)i);
    }
    return e;
}

METHOD(field_size)
{
    *out = sv_int((int32_t)self.field->doc.n);
    return ERR_OK;
}

METHOD(field_empty)
{
    *out = sv_bool(self.field->doc.n == 0);
    return ERR_OK;
}

static enum err field_point(struct script_run *m, struct sv self, struct geo_point *p)
{
    if (self.field->doc.type != SCRIPT_DOC_GEO) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "dynamic method [%s, arcDistance/2] not found",
                       sv_class(self));
    }
    if (self.field->doc.n == 0) {
        return field_missing(m);
    }
    *p = self.field->doc.geo[0];
    return ERR_OK;
}

METHOD(field_lat)
{
    struct geo_point p = {0, 0};
    enum err e = field_point(m, self, &p);
    *out = sv_double(p.lat);
    return e;
}

METHOD(field_lon)
{
    struct geo_point p = {0, 0};
    enum err e = field_point(m, self, &p);
    *out = sv_double(p.lon);
    return e;
}

static enum err distance(struct script_run *m, struct sv self, struct sv *a, enum geo_distance_kind kind,
                         struct sv *out)
{
    struct geo_point p = {0, 0};
    double lat = 0, lon = 0;
    enum err e = field_point(m, self, &p);
    e = e == ERR_OK ? vm_arg_num(m, a[0], &lat) : e;
    e = e == ERR_OK ? vm_arg_num(m, a[1], &lon) : e;
    if (e == ERR_OK) {
        *out = sv_double(geo_distance(kind, p.lat, p.lon, lat, lon));
    }
    return e;
}

METHOD(field_arc)
{
    return distance(m, self, a, GEO_ARC, out);
}

METHOD(field_plane)
{
    return distance(m, self, a, GEO_PLANE, out);
}

METHOD(field_arc_default)
{
    if (self.field->doc.n == 0) {
        double otherwise = 0;
        enum err e = vm_arg_num(m, a[2], &otherwise);
        *out = sv_double(otherwise);
        return e;
    }
    return distance(m, self, a, GEO_ARC, out);
}

METHOD(field_plane_default)
{
    if (self.field->doc.n == 0) {
        double otherwise = 0;
        enum err e = vm_arg_num(m, a[2], &otherwise);
        *out = sv_double(otherwise);
        return e;
    }
    return distance(m, self, a, GEO_PLANE, out);
}

METHOD(field_geohash_distance)
{
    struct str hash;
    struct geo_point p = {0, 0}, q = {0, 0};
    enum err e = field_point(m, self, &p);
    e = e == ERR_OK ? vm_arg_str(m, a[0], &hash) : e;
    e = e == ERR_OK ? geohash_decode(hash, &q, m->em) : e;
    if (e == ERR_OK) {
        *out = sv_double(geo_arc(p.lat, p.lon, q.lat, q.lon));
    }
    return e;
}

/* ---- what expressions see of a field: numbers only, zero where there is none ---- */

static double number_at(const struct sv_field *f, uint32_t i)
{
    switch (f->doc.type) {
    case SCRIPT_DOC_DOUBLE:
        return f->doc.d[i];
    case SCRIPT_DOC_LONG:
    case SCRIPT_DOC_BOOLEAN:
    case SCRIPT_DOC_DATE:
        return (double)f->doc.i[i];
    case SCRIPT_DOC_DATE_NANOS:
        return (double)instant_to_ms(instant_of_nanos(f->doc.i[i]));
    case SCRIPT_DOC_KEYWORD:
    case SCRIPT_DOC_IP:
    case SCRIPT_DOC_GEO:
    case SCRIPT_DOC_VECTOR:
        break;
    }
    return 0;
}

static enum err numeric(struct script_run *m, const struct sv_field *f)
{
    bool text =
        f->doc.type == SCRIPT_DOC_KEYWORD || f->doc.type == SCRIPT_DOC_IP || f->doc.type == SCRIPT_DOC_VECTOR;
    return text ? err_set(m->em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] must be numeric, date, or geopoint",
                          STR_ARG(f->name))
                : ERR_OK;
}

METHOD(plain_value)
{
    *out = sv_double(self.field->doc.n > 0 ? number_at(self.field, 0) : 0);
    return numeric(m, self.field);
}

METHOD(plain_empty)
{
    *out = sv_double(self.field->doc.n == 0 ? 1 : 0);
    return ERR_OK;
}

METHOD(plain_count)
{
    *out = sv_double(self.field->doc.n);
    return ERR_OK;
}

METHOD(plain_sum)
{
    double sum = 0;
    for (uint32_t i = 0; i < self.field->doc.n; i++) {
        sum += number_at(self.field, i);
    }
    *out = sv_double(sum);
    return numeric(m, self.field);
}

METHOD(plain_avg)
{
    enum err e = plain_sum(m, self, a, n, out);
    out->d = self.field->doc.n > 0 ? out->d / self.field->doc.n : 0;
    return e;
}

/* Values are in order. */
METHOD(plain_min)
{
    return plain_value(m, self, a, n, out);
}

METHOD(plain_max)
{
    *out = sv_double(self.field->doc.n > 0 ? number_at(self.field, self.field->doc.n - 1) : 0);
    return numeric(m, self.field);
}

METHOD(plain_median)
{
    uint32_t count = self.field->doc.n, half = count / 2;
    *out = sv_double(count == 0       ? 0
                     : count % 2 != 0 ? number_at(self.field, half)
                                      : (number_at(self.field, half - 1) + number_at(self.field, half)) / 2);
    return numeric(m, self.field);
}

enum err methods_field(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                       struct sv *out, bool *found)
{
    static const struct method table[] = {{"getValue", 0, field_value},
                                          {"get", 1, field_get},
                                          {"size", 0, field_size},
                                          {"getLength", 0, field_size},
                                          {"isEmpty", 0, field_empty},
                                          {"getLat", 0, field_lat},
                                          {"getLon", 0, field_lon},
                                          {"arcDistance", 2, field_arc},
                                          {"planeDistance", 2, field_plane},
                                          {"arcDistanceWithDefault", 3, field_arc_default},
                                          {"planeDistanceWithDefault", 3, field_plane_default},
                                          {"geohashDistance", 1, field_geohash_distance},
                                          {"#value", 0, plain_value},
                                          {"#empty", 0, plain_empty},
                                          {"#count", 0, plain_count},
                                          {"#length", 0, plain_count},
                                          {"#sum", 0, plain_sum},
                                          {"#avg", 0, plain_avg},
                                          {"#min", 0, plain_min},
                                          {"#max", 0, plain_max},
                                          {"#median", 0, plain_median}};
    if (self.field->doc.type == SCRIPT_DOC_VECTOR) {
        return methods_vector(m, self, name, a, n, out, found);
    }
    enum err e = vm_table(m, table, ARRAY_LEN(table), self, name, a, n, out, found);
    if (e != ERR_OK || *found) {
        return e;
    }
    struct sv list = sv_null(); /* everything else that a list can do */
    e = vm_arg_list(m, self, &list.list);
    list.kind = SV_LIST;
    return e == ERR_OK ? methods_list(m, list, name, a, n, out, found) : e;
}
