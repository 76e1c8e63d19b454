/* Values: numbers from one kind to another, lists, maps, values of fields. */
#include "engine/script/kinds.h"

#include "common/base/arena_list.h"
#include "common/base/coerce.h"
#include "common/base/hash.h"
#include "common/base/num.h"

/* ---- numbers ---- */

struct sv sv_to_kind(struct sv v, enum sv_kind kind)
{
    if (kind < SV_BYTE || kind > SV_DOUBLE) {
        return v;
    }
    if (kind == SV_DOUBLE) {
        return sv_double(sv_num(v));
    }
    if (kind == SV_FLOAT) {
        return sv_is_whole(v) ? sv_float((float)v.i) : sv_float((float)v.d);
    }
    int64_t whole = sv_is_whole(v) ? v.i : kind == SV_LONG ? num_double_to_i64(v.d) : num_double_to_i32(v.d);
    return (struct sv){.kind = kind,
                       .i = kind == SV_BYTE    ? (int8_t)whole
                            : kind == SV_SHORT ? (int16_t)whole
                            : kind == SV_CHAR  ? (uint16_t)whole
                            : kind == SV_INT   ? (int32_t)whole
                                               : whole};
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
    return ARENA_ADD(a, l->v, l->n, l->cap, v);
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

/* ---- maps ---- */

#define SLOTS_FROM 16 /* entries: below, looking through them is quicker */

struct sv_map *sv_map_new(struct arena *a)
{
    return ARENA_NEW(a, struct sv_map);
}

uint32_t sv_map_find(const struct sv_map *m, struct sv key, uint32_t hash, struct comparing *c)
{
    if (m->slots == NULL) {
        for (uint32_t i = 0; i < m->n; i++) {
            if (m->e[i].hash == hash && kinds_equal(m->e[i].key, key, c)) {
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
        if (m->e[i - 1].hash == hash && kinds_equal(m->e[i - 1].key, key, c)) {
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
    uint32_t i = sv_map_find(m, key, sv_hash(key), &(struct comparing){0});
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
    uint32_t hash = sv_hash(key), i = sv_map_find(m, key, hash, &(struct comparing){0});
    if (i != UINT32_MAX) {
        m->e[i].value = value;
        return true;
    }
    if (!ARENA_ADD(a, m->e, m->n, m->cap, (struct sv_map_entry){key, value, hash, m->puts++})) {
        return false;
    }
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
    uint32_t i = sv_map_find(m, key, sv_hash(key), &(struct comparing){0});
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
    case SCRIPT_DOC_VECTOR: /* vectorValue alone gives it */
        return sv_null();
    case SCRIPT_DOC_DATE:
    case SCRIPT_DOC_DATE_NANOS:
        break;
    }
    struct sv_date *date = ARENA_NEW(f->arena, struct sv_date);
    if (date == NULL) {
        return sv_null();
    }
    date->t = d->type == SCRIPT_DOC_DATE ? instant_of_ms(d->i[i]) : instant_of_nanos(d->i[i]);
    date->zone = &zone_utc;
    return (struct sv){.kind = SV_DATE, .aux = DATE_OF_DOC, .date = date};
}
