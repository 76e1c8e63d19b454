/* Values from JSON and back. */
#include "common/base/bits.h"
#include "common/base/jsonw.h"
#include "engine/script/kinds.h"

#include <math.h>

enum err script_template(const struct json *source, struct errmsg *em)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, source);
    err_set(em, ERR_ILLEGAL_ARGUMENT,
            "Unrecognized compile-time parameter(s): {content_type=application/json; charset=UTF-8}");
    err_wrap(em, ERR_GENERAL_SCRIPT, "Failed to compile inline script [%.*s] using lang [painless]", (int)b.n,
             b.n > 0 ? b.p : "");
    buf_fini(&b);
    return ERR_GENERAL_SCRIPT;
}

static bool number_of_json(struct sv *out, const struct json *v)
{
    int64_t i;
    if (json_is_integral(v) && json_i64(v, &i)) {
        *out = i >= INT32_MIN && i <= INT32_MAX ? sv_int((int32_t)i) : sv_long(i);
    } else {
        *out = sv_double(json_double(v));
    }
    return true;
}

static bool text_copy(struct arena *a, struct str s, struct sv *out)
{
    struct str copy = arena_str(a, s);
    *out = sv_str(copy);
    return copy.p != NULL;
}

bool sv_of_json(struct sv *out, const struct json *v, struct arena *a, bool frozen)
{
    struct sv one;
    switch (v->type) {
    case JSON_NULL:
        *out = sv_null();
        return true;
    case JSON_BOOL:
        *out = sv_bool(v->b);
        return true;
    case JSON_NUMBER:
        return number_of_json(out, v);
    case JSON_STRING:
        return text_copy(a, v->s, out);
    case JSON_ARRAY:
        *out = sv_of_list(sv_list_new(a, LIST_LIST));
        for (uint32_t i = 0; out->list != NULL && i < v->n; i++) {
            if (!sv_of_json(&one, &v->items[i], a, frozen) || !sv_list_push(a, out->list, one)) {
                return false;
            }
        }
        if (out->list != NULL) {
            out->list->frozen = frozen;
        }
        return out->list != NULL;
    case JSON_OBJECT:
        *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(a)};
        for (uint32_t i = 0; out->map != NULL && i < v->n; i++) {
            struct sv key;
            if (!text_copy(a, v->members[i].key, &key) || !sv_of_json(&one, &v->members[i].value, a, frozen)
                || !sv_map_put(a, out->map, key, one)) {
                return false;
            }
        }
        if (out->map != NULL) {
            out->map->frozen = frozen;
            out->map->hashed = frozen; /* parameters; a document's own order is kept */
        }
        return out->map != NULL;
    }
    return false;
}

bool sv_thaw(struct sv *out, struct sv v, struct arena *a)
{
    struct sv one;
    *out = v;
    if (v.kind == SV_LIST) {
        out->list = sv_list_new(a, v.list->form);
        if (out->list != NULL) {
            out->list->element = v.list->element;
        }
        for (uint32_t i = 0; out->list != NULL && i < v.list->n; i++) {
            if (!sv_thaw(&one, v.list->v[i], a) || !sv_list_push(a, out->list, one)) {
                return false;
            }
        }
        return out->list != NULL;
    }
    if (v.kind == SV_MAP) {
        out->map = sv_map_new(a);
        if (out->map != NULL) {
            out->map->hashed = v.map->hashed;
        }
        for (uint32_t i = 0; out->map != NULL && i < v.map->n; i++) {
            if (!sv_thaw(&one, v.map->e[i].value, a) || !sv_map_put(a, out->map, v.map->e[i].key, one)) {
                return false;
            }
        }
        return out->map != NULL;
    }
    return true;
}

static enum err text_json(struct json *out, struct sv v, enum json_type type, struct arena *a,
                          struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, script_limits_default.bytes_max);
    bool ok = sv_text(v, &b, 0) && !b.failed;
    struct str copy = arena_str(a, buf_view(&b));
    buf_fini(&b);
    *out = (struct json){.type = type, .s = copy};
    return ok && copy.p != NULL ? ERR_OK : err_no_memory(em);
}

enum err write_list(struct json *out, struct sv v, struct arena *a, unsigned depth, struct errmsg *em)
{
    bool field = v.kind == SV_FIELD;
    if (field && v.field->doc.type == SCRIPT_DOC_VECTOR) {
        return vector_whole_refused(em);
    }
    uint32_t n = field ? v.field->doc.n : v.list->n;
    *out = (struct json){.type = JSON_ARRAY, .n = n, .items = ARENA_ARRAY(a, struct json, n)};
    if (out->items == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e =
            sv_to_json(&out->items[i], field ? sv_field_at(v.field, i) : v.list->v[i], a, depth + 1, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err write_map(struct json *out, struct sv v, struct arena *a, unsigned depth, struct errmsg *em)
{
    struct sv_map *m = v.map;
    if (!sv_map_arrange(m)) {
        return err_no_memory(em);
    }
    size_t room = m->n <= 1 ? m->n : (size_t)1 << bits_width(m->n - 1); /* as json_put() expects */
    *out = (struct json){.type = JSON_OBJECT, .n = m->n, .members = ARENA_ARRAY(a, struct json_member, room)};
    if (out->members == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < m->n; i++) {
        struct json key;
        if (m->e[i].key.kind == SV_NULL) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field name cannot be null");
        }
        enum err e = text_json(&key, m->e[i].key, JSON_STRING, a, em);
        if (e == ERR_OK) {
            out->members[i].key = key.s;
            e = sv_to_json(&out->members[i].value, m->e[i].value, a, depth + 1, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

enum err write_geo(struct json *out, struct sv v, struct arena *a, UNUSED unsigned depth, struct errmsg *em)
{
    struct json lat, lon;
    enum err e = text_json(&lat, sv_double(v.geo->lat), JSON_NUMBER, a, em);
    e = e == ERR_OK ? text_json(&lon, sv_double(v.geo->lon), JSON_NUMBER, a, em) : e;
    *out = json_mk_object();
    if (e == ERR_OK && (!json_put(out, a, STR("lat"), lat) || !json_put(out, a, STR("lon"), lon))) {
        e = err_no_memory(em);
    }
    return e;
}

/* A time of day shows its milliseconds, and one of a date is taken for UTC. */
enum err write_local(struct json *out, struct sv v, struct arena *a, UNUSED unsigned depth, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, 64);
    sv_put_shown_local(v, &b);
    struct str text = arena_str(a, buf_view(&b));
    buf_fini(&b);
    *out = json_mk_str(text);
    return text.p != NULL ? ERR_OK : err_no_memory(em);
}

/* A moment is shown as a field's dates are. */
enum err write_moment(struct json *out, struct sv v, struct arena *a, UNUSED unsigned depth,
                      struct errmsg *em)
{
    v.kind = SV_DATE;
    v.aux = DATE_OF_DOC;
    return text_json(out, v, JSON_STRING, a, em);
}

enum err write_null(struct json *out, UNUSED struct sv v, UNUSED struct arena *a, UNUSED unsigned depth,
                    UNUSED struct errmsg *em)
{
    *out = (struct json){.type = JSON_NULL};
    return ERR_OK;
}

enum err write_bool(struct json *out, struct sv v, UNUSED struct arena *a, UNUSED unsigned depth,
                    UNUSED struct errmsg *em)
{
    *out = json_mk_bool(v.b);
    return ERR_OK;
}

enum err write_whole(struct json *out, struct sv v, struct arena *a, UNUSED unsigned depth, struct errmsg *em)
{
    return text_json(out, v, JSON_NUMBER, a, em);
}

enum err write_fraction(struct json *out, struct sv v, struct arena *a, UNUSED unsigned depth,
                        struct errmsg *em)
{
    return text_json(out, v, isfinite(v.d) ? JSON_NUMBER : JSON_STRING, a, em);
}

enum err write_text(struct json *out, struct sv v, struct arena *a, UNUSED unsigned depth, struct errmsg *em)
{
    return text_json(out, v, JSON_STRING, a, em);
}

enum err sv_to_json(struct json *out, struct sv v, struct arena *a, unsigned depth, struct errmsg *em)
{
    if (depth > DEPTH_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Iterable object is self-referencing itself");
    }
    bool stream = v.kind == SV_LIST && v.list->form == LIST_STREAM;
    if (stream || kinds[v.kind].json == NULL) {
        return err_set(em, ERR_UNWRITABLE, "cannot write xcontent for unknown value of type class %s",
                       stream ? "java.util.stream.ReferencePipeline$Head" : sv_class(v));
    }
    return kinds[v.kind].json(out, v, a, depth, em);
}

/* One of the values that an aggregation computes with: dates are their milliseconds where numbers are asked for; what is no number
 * then, and everything where texts are, is its text. */
static enum err one_value(struct json *out, struct sv v, bool numbers, struct arena *a, struct errmsg *em)
{
    if (numbers && (v.kind == SV_DATE || sv_is_number(v) || v.kind == SV_BOOL)) {
        return sv_to_json(out, v.kind == SV_DATE ? sv_long(instant_to_ms(v.date->t)) : v, a, 0, em);
    }
    if (v.kind == SV_NULL && !numbers) {
        *out = json_mk_str(STR(""));
        return ERR_OK;
    }
    return text_json(out, v, JSON_STRING, a, em);
}

enum err sv_values(struct json *out, struct sv v, bool numbers, struct arena *a, struct errmsg *em)
{
    const bool field = v.kind == SV_FIELD;
    enum err e = ERR_OK;
    if (v.kind == SV_NULL) {
        *out = (struct json){.type = JSON_NULL};
        return ERR_OK;
    }
    if (!field && (v.kind != SV_LIST || v.list->form == LIST_STREAM)) {
        return one_value(out, v, numbers, a, em);
    }
    uint32_t n = field ? v.field->doc.n : v.list->n;
    *out = (struct json){.type = JSON_ARRAY, .n = n, .items = ARENA_ARRAY(a, struct json, n)};
    for (uint32_t i = 0; out->items != NULL && e == ERR_OK && i < n; i++) {
        e = one_value(&out->items[i], field ? sv_field_at(v.field, i) : v.list->v[i], numbers, a, em);
    }
    return out->items != NULL ? e : err_no_memory(em);
}
