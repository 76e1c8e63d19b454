/* Contexts in requests of completions, and in their options. */
#include "common/base/geo.h"
#include "common/base/java_hash.h"
#include "common/base/num.h"
#include "engine/mapping/completion_paths.h"
#include "engine/suggest/suggest_int.h"

#define QUERY_PRECISION 6 /* of a geo context in a request, when not given */

struct reader {
    const struct field *field;
    const struct completion_context *context;
    unsigned number;
    struct arena *arena;
    struct context_query *v;
    size_t n, cap;
    struct errmsg *em;
};

static enum err add_key(struct reader *r, struct str value, float boost, bool exact)
{
    for (size_t i = 0; i < r->n; i++) {
        if (r->v[i].key.p[0] == (char)r->number && str_eq(str_slice(r->v[i].key, 1, r->v[i].key.n), value)) {
            r->v[i].boost = boost;
            r->v[i].exact = exact;
            return ERR_OK;
        }
    }
    struct context_query *v = arena_grow(r->arena, r->v, r->n, &r->cap, sizeof(*v));
    char *key = arena_alloc(r->arena, value.n + 1);
    if (v == NULL || key == NULL) {
        return err_no_memory(r->em);
    }
    key[0] = (char)r->number;
    memcpy(key + 1, value.n > 0 ? value.p : "", value.n);
    r->v = v;
    v[r->n++] = (struct context_query){str_mk(key, value.n + 1), boost, exact};
    return ERR_OK;
}

static bool whole_number(const struct json *v, int32_t *out)
{
    return (v->type == JSON_STRING || v->type == JSON_NUMBER) && num_parse_i32(v->s, out);
}

/* ---- categories ---- */

static enum err bad_category(struct reader *r)
{
    return err_set(r->em, ERR_X_CONTENT, "category context must be a string, number or boolean");
}

static enum err read_category(struct reader *r, const struct json *v)
{
    struct str value = STR_NULL;
    int32_t boost = 1;
    bool prefix = false;
    if (v->type == JSON_STRING || v->type == JSON_NUMBER || v->type == JSON_BOOL) {
        return add_key(r, json_text(v), 1, true);
    }
    if (v->type != JSON_OBJECT) {
        return err_set(r->em, ERR_X_CONTENT, "category context must be an object, string, number or boolean");
    }
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *m = &v->members[i].value;
        struct str key = v->members[i].key;
        bool scalar = m->type == JSON_STRING || m->type == JSON_NUMBER || m->type == JSON_BOOL;
        if (str_is(key, "context") && scalar) {
            value = json_text(m);
        } else if (str_is(key, "boost") && whole_number(m, &boost) && boost > 0) {
            continue;
        } else if (str_is(key, "prefix")
                   && (m->type == JSON_BOOL || str_is(json_text(m), "true")
                       || str_is(json_text(m), "false"))) {
            prefix = m->type == JSON_BOOL ? m->b : str_is(m->s, "true");
        } else {
            return bad_category(r);
        }
    }
    if (value.p == NULL) {
        return err_set(r->em, ERR_NULL_POINTER, "category must not be null");
    }
    return add_key(r, value, (float)boost, !prefix);
}

/* ---- places ---- */

struct place {
    struct geo_point point;
    bool given, has_lat, has_lon;
    int32_t boost, precision;
    int32_t neighbours[GEOHASH_MAX];
    uint32_t n_neighbours;
};

static enum err bad_geo(struct reader *r, struct str key, const struct json *v)
{
    return err_set(r->em, ERR_X_CONTENT, "[geo] %.*s doesn't support values of type: %s", STR_ARG(key),
                   json_token_name(v));
}

/* A length of geohashes, or a distance that becomes one. */
static enum err read_precision(struct reader *r, const struct json *v, int32_t *out)
{
    if (!whole_number(v, out)) {
        double metres;
        enum err e = geo_distance_parse(json_text(v), 1, &metres, r->em);
        if (e != ERR_OK) {
            return e;
        }
        *out = (int32_t)geohash_levels_for(metres);
    }
    if (*out < 1 || *out > GEOHASH_MAX) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "Invalid geohash aggregation precision of %d. Must be between 1 and 12.", *out);
    }
    return ERR_OK;
}

static enum err read_neighbours(struct reader *r, const struct json *v, struct place *p)
{
    if (v->type != JSON_ARRAY) {
        return err_set(r->em, ERR_X_CONTENT, "[geo] neighbours must be a list");
    }
    p->n_neighbours = 0;
    for (uint32_t i = 0; i < v->n && p->n_neighbours < GEOHASH_MAX; i++) {
        enum err e = read_precision(r, &v->items[i], &p->neighbours[p->n_neighbours++]);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err read_coordinate(struct reader *r, struct str key, const struct json *v, double *to, bool *has)
{
    if ((v->type != JSON_NUMBER && v->type != JSON_STRING) || !num_parse_double(v->s, to)) {
        return bad_geo(r, key, v);
    }
    *has = true;
    return ERR_OK;
}

static enum err read_place_member(struct reader *r, struct place *p, struct str key, const struct json *v)
{
    if (str_is(key, "context")) {
        p->given = true;
        return v->type == JSON_OBJECT ? geo_point_of_json(&p->point, v, true, r->em) : bad_geo(r, key, v);
    }
    if (str_is(key, "boost")) {
        if (!whole_number(v, &p->boost)) {
            return bad_geo(r, key, v);
        }
        return p->boost > 0 ? ERR_OK : err_set(r->em, ERR_X_CONTENT, "[geo] failed to parse field [boost]");
    }
    if (str_is(key, "precision")) {
        enum err e = read_precision(r, v, &p->precision);
        return e == ERR_OK ? e : err_wrap(r->em, ERR_X_CONTENT, "[geo] failed to parse field [precision]");
    }
    if (str_is(key, "neighbours")) {
        enum err e = read_neighbours(r, v, p);
        return e == ERR_OK ? e : err_wrap(r->em, ERR_X_CONTENT, "[geo] failed to parse field [neighbours]");
    }
    if (str_is(key, "lat")) {
        return read_coordinate(r, key, v, &p->point.lat, &p->has_lat);
    }
    if (str_is(key, "lon")) {
        return read_coordinate(r, key, v, &p->point.lon, &p->has_lon);
    }
    return err_set(r->em, ERR_X_CONTENT, "[geo] unknown field [%.*s]", STR_ARG(key));
}

static enum err add_hash(struct reader *r, const struct place *p, struct str hash)
{
    return add_key(r, hash, (float)p->boost, hash.n >= r->context->precision);
}

/* The eight cells around one, those past a pole left out. */
static enum err add_around(struct reader *r, const struct place *p, struct str hash)
{
    struct geo_box box;
    char to[GEOHASH_MAX + 1];
    enum err e = geohash_box(hash, &box, r->em);
    double height = box.top - box.bottom, width = box.right - box.left;
    for (int i = 0; e == ERR_OK && i < 9; i++) {
        struct geo_point at = {(box.top + box.bottom) / 2 + (i / 3 - 1) * height,
                               (box.left + box.right) / 2 + (i % 3 - 1) * width};
        if (i == 4 || at.lat > 90 || at.lat < -90) {
            continue;
        }
        at.lon += at.lon > 180 ? -360 : at.lon < -180 ? 360 : 0;
        geohash_encode(at, (int)hash.n, to);
        e = add_hash(r, p, str_of(to));
    }
    return e;
}

static enum err add_place(struct reader *r, const struct place *p)
{
    char to[GEOHASH_MAX + 1];
    uint32_t precision = MIN_OF(MAX_OF(r->context->precision, 1U), (uint32_t)p->precision);
    geohash_encode(p->point, (int)precision, to);
    struct str hash = str_of(to);
    enum err e = add_hash(r, p, hash);
    if (p->n_neighbours == 0 && hash.n == r->context->precision) {
        return e == ERR_OK ? add_around(r, p, hash) : e;
    }
    for (uint32_t i = 0; e == ERR_OK && i < p->n_neighbours; i++) {
        if ((size_t)p->neighbours[i] < hash.n) {
            struct str wider = str_slice(hash, 0, (size_t)p->neighbours[i]);
            e = add_hash(r, p, wider);
            e = e == ERR_OK ? add_around(r, p, wider) : e;
        }
    }
    return e;
}

static enum err read_place(struct reader *r, const struct json *v)
{
    struct place p = {.boost = 1, .precision = QUERY_PRECISION};
    enum err e = ERR_OK;
    if (v->type == JSON_STRING) {
        e = geo_point_of_text(&p.point, v->s, true, r->em);
        return e == ERR_OK ? add_place(r, &p) : e;
    }
    if (v->type != JSON_OBJECT) {
        return err_set(r->em, ERR_X_CONTENT, "geo context must be an object or string");
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = read_place_member(r, &p, v->members[i].key, &v->members[i].value);
    }
    if (e == ERR_OK && !p.given && (!p.has_lat || !p.has_lon)) {
        return err_set(r->em, ERR_NULL_POINTER, "geoPoint must not be null");
    }
    return e == ERR_OK ? add_place(r, &p) : e;
}

/* ---- all of them ---- */

static enum err read_context(struct reader *r, struct str name, const struct json *v)
{
    r->context = NULL;
    for (uint32_t i = 0; i < r->field->n_contexts; i++) {
        if (str_eq(r->field->contexts[i].name, name)) {
            r->context = &r->field->contexts[i];
            r->number = i;
        }
    }
    if (r->context == NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Unknown context name [%.*s], must be one of [%.*s]",
                       STR_ARG(name), STR_ARG(r->field->contexts[0].name));
    }
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        const struct json *one = v->type == JSON_ARRAY ? &v->items[i] : v;
        e = r->context->kind == CONTEXT_GEO ? read_place(r, one) : read_category(r, one);
    }
    return e;
}

enum err completion_contexts(const struct field *f, const struct json *given, struct arena *arena,
                             struct context_query **out, size_t *n, struct errmsg *em)
{
    struct reader r = {.field = f, .arena = arena, .em = em};
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && given != NULL && i < given->n; i++) {
        e = read_context(&r, given->members[i].key, &given->members[i].value);
    }
    if (e == ERR_OK && r.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Missing mandatory contexts in context query");
    }
    *out = r.v;
    *n = r.n;
    return e;
}

/* ---- in options ---- */

static bool context_seen(const struct str *pairs, uint32_t from, uint32_t to, struct str value)
{
    for (uint32_t i = from; i < to; i++) {
        if (str_eq(pairs[2 * i + 1], value)) {
            return true;
        }
    }
    return false;
}

struct context_pair {
    struct str name, value;
};

static struct str value_of(const void *item)
{
    return ((const struct context_pair *)item)->value;
}

enum err completion_named_contexts(const struct field *f, const struct str *keys, size_t n,
                                   struct arena *arena, struct suggest_option *out, struct errmsg *em)
{
    struct str *pairs = ARENA_ARRAY(arena, struct str, 2 * n);
    uint32_t m = 0;
    if (pairs == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t number = 0; number < f->n_contexts && n > 0; number++) {
        uint32_t from = m;
        for (size_t i = 0; i < n; i++) {
            struct str value = str_slice(keys[i], 1, keys[i].n);
            if (keys[i].n > 0 && (uint8_t)keys[i].p[0] == number && !context_seen(pairs, from, m, value)) {
                pairs[2 * m] = f->contexts[number].name;
                pairs[2 * m + 1] = value;
                m++;
            }
        }
        java_map_sort(pairs + 2 * (size_t)from, m - from, sizeof(struct context_pair), value_of,
                      java_map_buckets(m - from));
    }
    out->contexts = pairs;
    out->n_contexts = m;
    return ERR_OK;
}
