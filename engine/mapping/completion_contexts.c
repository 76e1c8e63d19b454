/* The contexts of completion fields: their definitions. */
#include "common/base/geo.h"
#include "common/base/num.h"
#include "engine/mapping/completion_paths.h"
#include "engine/mapping/java.h"
#include "engine/mapping/mapping_int.h"

#include <math.h>

#define EARTH_EQUATOR        (2 * 3.14159265358979323846 * 6378137.0)
#define EARTH_POLAR_DISTANCE (3.14159265358979323846 * 6356752.314245)
#define PRECISION_DEFAULT    6

/* Elasticsearch's GeoUtils.geoHashLevelsForPrecision: the shortest geohash whose cell's diagonal is within
 * `metres`. */
uint32_t geohash_levels_for(double metres)
{
    if (!(metres > 0)) {
        return GEOHASH_MAX;
    }
    double ratio = 1 + EARTH_POLAR_DISTANCE / EARTH_EQUATOR;
    double width = sqrt(metres * metres / (ratio * ratio));
    double part = ceil(EARTH_EQUATOR / width);
    int bits = (int)ceil(log2(part));
    int full = bits / 5, left = bits - full * 5;
    int even = full + (left > 0 ? 1 : 0), odd = full + (left > 3 ? 1 : 0);
    return (uint32_t)MAX_OF(even + odd, 0);
}

static enum err parse_precision(struct builder *b, const struct json *v, uint32_t *out)
{
    int64_t i;
    struct str s = java_text(v, b->arena);
    if (json_i64(v, &i)) {
        *out = (uint32_t)MIN_OF(MAX_OF(i, 0), INT32_MAX);
        return ERR_OK;
    }
    double metres = 0;
    enum err e = s.p != NULL ? geo_distance_parse(s, 1, &metres, b->em) : no_memory(b);
    *out = geohash_levels_for(metres);
    return e;
}

static enum err parse_text(struct builder *b, const struct json *def, const char *name, struct str *out)
{
    const struct json *v = json_get(def, name);
    if (v == NULL || v->type == JSON_NULL) {
        return err_set(b->em, ERR_PARSE, "missing [%s] in context mapping", name);
    }
    *out = java_text(v, b->arena);
    return out->p != NULL ? ERR_OK : no_memory(b);
}

static enum err parse_type(struct builder *b, const struct json *def, enum context_kind *out)
{
    struct str s;
    enum err e = parse_text(b, def, "type", &s);
    if (e != ERR_OK) {
        return e;
    }
    *out = str_eq_nocase(s, STR("geo")) ? CONTEXT_GEO : CONTEXT_CATEGORY;
    return *out == CONTEXT_GEO || str_eq_nocase(s, STR("category"))
               ? ERR_OK
               : err_set(b->em, ERR_ILLEGAL_ARGUMENT, "No context type for [%.*s]", STR_ARG(s));
}

static enum err parse_context(struct builder *b, const struct json *def, struct completion_context *out)
{
    *out = (struct completion_context){.precision = PRECISION_DEFAULT};
    if (def->type != JSON_OBJECT) {
        return err_set(b->em, ERR_CLASS_CAST, "class %s cannot be cast to class java.util.Map",
                       java_class(def));
    }
    enum err e = parse_text(b, def, "name", &out->name);
    e = e == ERR_OK ? parse_type(b, def, &out->kind) : e;
    for (uint32_t i = 0; e == ERR_OK && i < def->n; i++) {
        const struct json_member *m = &def->members[i];
        if (str_is(m->key, "path")) {
            e = parse_text(b, def, "path", &out->path);
        } else if (str_is(m->key, "precision") && out->kind == CONTEXT_GEO) {
            e = parse_precision(b, &m->value, &out->precision);
        } else if (!str_is(m->key, "name") && !str_is(m->key, "type")) {
            struct str s = java_text(&m->value, b->arena);
            return err_set(b->em, ERR_MAPPER_PARSING,
                           "Mapping definition for [%.*s] has unsupported parameters:  [%.*s : %.*s]",
                           STR_ARG(out->name), STR_ARG(m->key), STR_ARG(s));
        }
    }
    return e;
}

static bool print_context(struct builder *b, const struct completion_context *c, struct json *out)
{
    *out = json_mk_object();
    bool geo = c->kind == CONTEXT_GEO;
    bool ok = json_put(out, b->arena, STR("name"), json_mk_str(c->name));
    ok = ok && json_put(out, b->arena, STR("type"), json_mk_str(geo ? STR("GEO") : STR("CATEGORY")));
    if (ok && geo) {
        struct str s = arena_printf(b->arena, "%u", c->precision);
        ok = s.p != NULL
             && json_put(out, b->arena, STR("precision"), (struct json){.type = JSON_NUMBER, .s = s});
    }
    return ok && (c->path.n == 0 || json_put(out, b->arena, STR("path"), json_mk_str(c->path)));
}

enum err contexts_parse(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    if (v->type != JSON_ARRAY && v->type != JSON_OBJECT) {
        return err_set(b->em, ERR_PARSE, "expected a list or an entry of context mapping");
    }
    const struct json *items = v->type == JSON_ARRAY ? v->items : v;
    uint32_t count = v->type == JSON_ARRAY ? v->n : 1;
    if (count == 0) {
        return err_set(b->em, ERR_PARSE, "expected at least one context mapping");
    }
    struct completion_context *contexts = ARENA_ARRAY(b->arena, struct completion_context, count);
    struct json shown = {.type = JSON_ARRAY, .n = count, .items = ARENA_ARRAY(b->arena, struct json, count)};
    if (contexts == NULL || shown.items == NULL) {
        return no_memory(b);
    }
    for (uint32_t k = 0; k < count; k++) {
        enum err e = parse_context(b, &items[k], &contexts[k]);
        if (e != ERR_OK) {
            return e;
        }
        if (!print_context(b, &contexts[k], &shown.items[k])) {
            return no_memory(b);
        }
    }
    n->f.contexts = contexts;
    n->f.n_contexts = count;
    n->set[i] = json_new(b, shown);
    return n->set[i] != NULL ? ERR_OK : no_memory(b);
}

enum err contexts_validate(const struct mapping *m, const struct field *f, struct errmsg *em)
{
    for (uint32_t i = 0; i < f->n_contexts; i++) {
        const struct completion_context *c = &f->contexts[i];
        if (c->kind != CONTEXT_GEO || c->path.n == 0) {
            continue;
        }
        const struct field *at = mapping_field_raw(m, c->path);
        if (at == NULL || at->class->is_object) {
            return err_set(em, ERR_PARSE,
                           "field [%.*s] referenced in context [%.*s] is not defined in the mapping",
                           STR_ARG(c->path), STR_ARG(c->name));
        }
        if (at->class->kind != VALUE_POINT) {
            return err_set(
                em, ERR_PARSE,
                "field [%.*s] referenced in context [%.*s] must be mapped to geo_point, found [%s]",
                STR_ARG(c->path), STR_ARG(c->name), at->class->name);
        }
    }
    return ERR_OK;
}
