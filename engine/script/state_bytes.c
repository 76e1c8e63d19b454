/* Bytes of values, which keep their types: what a shard's scripts of a scripted_metric give. */
#include "engine/script/state.h"

/* What stands in front of a value. Their numbers travel. */
enum state_tag {
    STATE_NULL,
    STATE_BOOL,
    STATE_BYTE,
    STATE_SHORT,
    STATE_INT,
    STATE_LONG,
    STATE_FLOAT,
    STATE_DOUBLE,
    STATE_STR,
    STATE_LIST,
    STATE_SET,
    STATE_ARRAY,
    STATE_MAP,
    STATE_HASH_MAP,
    STATE_DATE,
    STATE_GEO
};

static enum err cannot_write(const struct state_writing *w, struct sv v)
{
    return err_set(w->em, ERR_ILLEGAL_ARGUMENT,
                   w->combined ? "Cannot write type [%s] to stream" : "can not write type [class %s]",
                   sv_class(v));
}

static enum err put_list(const struct state_writing *w, struct sv v, unsigned depth)
{
    const struct sv_list *l = v.list;
    if (l->form == LIST_STREAM || (l->form == LIST_ARRAY && l->element == SV_BOOL)) {
        return cannot_write(w, v);
    }
    put_u8(w->b, l->form == LIST_SET ? STATE_SET : l->form == LIST_ARRAY ? STATE_ARRAY : STATE_LIST);
    put_varint(w->b, l->n);
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < l->n; i++) {
        e = state_put(w, l->v[i], depth);
    }
    return e;
}

static enum err put_field(const struct state_writing *w, const struct sv_field *f, unsigned depth)
{
    put_u8(w->b, STATE_LIST);
    put_varint(w->b, f->doc.n);
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < f->doc.n; i++) {
        e = state_put(w, sv_field_at(f, i), depth);
    }
    return e;
}

static enum err put_map(const struct state_writing *w, struct sv v, unsigned depth)
{
    struct sv_map *m = v.map;
    if (!sv_map_arrange(m)) {
        return err_no_memory(w->em);
    }
    put_u8(w->b, m->hashed ? STATE_HASH_MAP : STATE_MAP);
    put_varint(w->b, m->n);
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < m->n; i++) {
        if (m->e[i].key.kind != SV_STR) {
            return err_set(
                w->em, ERR_CLASS_CAST,
                "class %s cannot be cast to class java.lang.String (%s and java.lang.String are in module "
                "java.base of loader 'bootstrap')",
                sv_class(m->e[i].key), sv_class(m->e[i].key));
        }
        put_str(w->b, m->e[i].key.s);
        e = state_put(w, m->e[i].value, depth);
    }
    return e;
}

enum err state_put(const struct state_writing *w, struct sv v, unsigned depth)
{
    if (depth > DEPTH_MAX) {
        return err_set(w->em, ERR_ILLEGAL_ARGUMENT, "Iterable object is self-referencing itself (%s)",
                       w->combined ? "Scripted metric aggs combine script" : "reduce script");
    }
    if (w->b->failed || stop_often()) {
        return err_no_memory(w->em);
    }
    switch (v.kind) {
    case SV_NULL:
        put_u8(w->b, STATE_NULL);
        return ERR_OK;
    case SV_BOOL:
        put_u8(w->b, STATE_BOOL);
        put_bool(w->b, v.b);
        return ERR_OK;
    case SV_BYTE:
    case SV_SHORT:
    case SV_INT:
    case SV_LONG:
        put_u8(w->b, v.kind == SV_BYTE    ? STATE_BYTE
                     : v.kind == SV_SHORT ? STATE_SHORT
                     : v.kind == SV_INT   ? STATE_INT
                                          : STATE_LONG);
        put_zigzag(w->b, v.i);
        return ERR_OK;
    case SV_FLOAT:
    case SV_DOUBLE:
        put_u8(w->b, v.kind == SV_FLOAT ? STATE_FLOAT : STATE_DOUBLE);
        put_f64(w->b, v.d);
        return ERR_OK;
    case SV_STR:
        put_u8(w->b, STATE_STR);
        put_str(w->b, v.s);
        return ERR_OK;
    case SV_LIST:
        return put_list(w, v, depth + 1);
    case SV_FIELD:
        return put_field(w, v.field, depth + 1);
    case SV_MAP:
        return put_map(w, v, depth + 1);
    case SV_DATE:
        put_u8(w->b, STATE_DATE);
        put_zigzag(w->b, v.date->t.seconds);
        put_varint(w->b, (uint64_t)v.date->t.nanos);
        put_str(w->b, v.date->zone->id);
        return ERR_OK;
    case SV_GEO:
        put_u8(w->b, STATE_GEO);
        put_f64(w->b, v.geo->lat);
        put_f64(w->b, v.geo->lon);
        return ERR_OK;
    case SV_CHAR:
    case SV_INSTANT:
    case SV_ENTRY:
    case SV_DOCS:
    case SV_FUNC:
    case SV_TYPE:
    case SV_ITER:
    case SV_PATTERN:
    case SV_MATCHER:
    case SV_FORMATTER:
    case SV_ZONE:
    case SV_ENUM:
    case SV_BUILDER:
    case SV_OPTIONAL:
    case SV_LOCAL:
    case SV_DURATION:
    case SV_KINDS:
        break;
    }
    return cannot_write(w, v);
}

static enum err state_corrupt(const struct state_reading *d)
{
    return err_set(d->em, ERR_CORRUPT, "the state of a script is malformed");
}

static enum err get_list(const struct state_reading *d, enum list_form form, struct sv *out, unsigned depth)
{
    size_t n = get_count(d->in, 1);
    struct sv one;
    *out = sv_of_list(sv_list_new(d->a, form));
    enum err e = out->list != NULL ? ERR_OK : err_no_memory(d->em);
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        e = state_get(d, &one, depth);
        if (e == ERR_OK && !sv_list_push(d->a, out->list, one)) {
            e = err_no_memory(d->em);
        }
    }
    return e;
}

static enum err get_map(const struct state_reading *d, bool hashed, struct sv *out, unsigned depth)
{
    size_t n = get_count(d->in, 2);
    struct sv one;
    *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(d->a)};
    if (out->map == NULL) {
        return err_no_memory(d->em);
    }
    out->map->hashed = hashed;
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        struct str key = arena_str(d->a, get_str(d->in));
        e = key.p != NULL ? state_get(d, &one, depth) : err_no_memory(d->em);
        if (e == ERR_OK && !sv_map_put(d->a, out->map, sv_str(key), one)) {
            e = err_no_memory(d->em);
        }
    }
    return e;
}

static enum err get_date(const struct state_reading *d, struct sv *out)
{
    struct sv_date *date = ARENA_NEW(d->a, struct sv_date);
    if (date == NULL) {
        return err_no_memory(d->em);
    }
    *out = (struct sv){.kind = SV_DATE, .date = date};
    date->t.seconds = get_zigzag(d->in);
    uint64_t nanos = get_varint(d->in);
    struct str zone = get_str(d->in);
    if (d->in->bad || nanos >= 1000000000) {
        return state_corrupt(d);
    }
    date->t.nanos = (int32_t)nanos;
    return zone_of(&date->zone, zone, d->a, d->em);
}

static enum err get_geo(const struct state_reading *d, struct sv *out)
{
    struct geo_point *p = ARENA_NEW(d->a, struct geo_point);
    if (p == NULL) {
        return err_no_memory(d->em);
    }
    p->lat = get_f64(d->in);
    p->lon = get_f64(d->in);
    *out = (struct sv){.kind = SV_GEO, .geo = p};
    return ERR_OK;
}

static enum err get_text(const struct state_reading *d, struct sv *out)
{
    *out = sv_str(arena_str(d->a, get_str(d->in)));
    return out->s.p != NULL ? ERR_OK : err_no_memory(d->em);
}

enum err state_get(const struct state_reading *d, struct sv *out, unsigned depth)
{
    uint8_t tag = get_u8(d->in);
    *out = sv_null();
    if (d->in->bad || tag > STATE_GEO || depth > DEPTH_MAX) {
        return state_corrupt(d);
    }
    enum err e = ERR_OK;
    switch ((enum state_tag)tag) {
    case STATE_NULL:
        break;
    case STATE_BOOL:
        *out = sv_bool(get_bool(d->in));
        break;
    case STATE_BYTE:
        *out = (struct sv){.kind = SV_BYTE, .i = (int8_t)get_zigzag(d->in)};
        break;
    case STATE_SHORT:
        *out = (struct sv){.kind = SV_SHORT, .i = (int16_t)get_zigzag(d->in)};
        break;
    case STATE_INT:
        *out = sv_int((int32_t)get_zigzag(d->in));
        break;
    case STATE_LONG:
        *out = sv_long(get_zigzag(d->in));
        break;
    case STATE_FLOAT:
        *out = sv_float((float)get_f64(d->in));
        break;
    case STATE_DOUBLE:
        *out = sv_double(get_f64(d->in));
        break;
    case STATE_STR:
        e = get_text(d, out);
        break;
    case STATE_LIST:
        e = get_list(d, LIST_LIST, out, depth + 1);
        break;
    case STATE_SET:
        e = get_list(d, LIST_SET, out, depth + 1);
        break;
    case STATE_ARRAY:
        e = get_list(d, LIST_ARRAY, out, depth + 1);
        break;
    case STATE_MAP:
    case STATE_HASH_MAP:
        e = get_map(d, tag == STATE_HASH_MAP, out, depth + 1);
        break;
    case STATE_DATE:
        e = get_date(d, out);
        break;
    case STATE_GEO:
        e = get_geo(d, out);
        break;
    }
    return e == ERR_OK && d->in->bad ? state_corrupt(d) : e;
}
