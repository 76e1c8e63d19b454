/* Java's equals and compareTo. */
#include "engine/script/kinds.h"

#include "common/base/stop.h"

#include <math.h>

#define COMPARED_MAX \
    40000000 /* values at a time, which is as much as a run may do: lists of lists that are one list have no end otherwise */

bool kinds_equal(struct sv a, struct sv b, struct comparing *c)
{
    c->steps++;
    if (a.kind != b.kind || c->depth > DEPTH_MAX || c->steps > COMPARED_MAX || stop_often()) {
        return false;
    }
    return kinds[a.kind].equal != NULL ? kinds[a.kind].equal(a, b, c) : a.p == b.p;
}

bool sv_equals(struct sv a, struct sv b, uint64_t *steps)
{
    struct comparing c = {0};
    bool is = kinds_equal(a, b, &c);
    *steps += c.steps;
    return is;
}

/* ---- equals of each kind ---- */

bool equal_always(UNUSED struct sv a, UNUSED struct sv b, UNUSED struct comparing *c)
{
    return true;
}

bool equal_bool(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return a.b == b.b;
}

bool equal_whole(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return a.i == b.i;
}

bool equal_fraction(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return (isnan(a.d) && isnan(b.d)) || (a.d == b.d && signbit(a.d) == signbit(b.d));
}

bool equal_text(struct sv a, struct sv b, struct comparing *c)
{
    c->steps += a.s.n == b.s.n ? a.s.n / 64 : 0;
    return str_eq(a.s, b.s);
}

static uint32_t find_element(const struct sv_list *l, struct sv v, struct comparing *c)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (kinds_equal(l->v[i], v, c)) {
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
        if (set ? find_element(b, a->v[i], c) == UINT32_MAX : !kinds_equal(a->v[i], b->v[i], c)) {
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
        uint32_t other = sv_map_find(b, a->e[i].key, a->e[i].hash, c);
        if (other == UINT32_MAX || !kinds_equal(a->e[i].value, b->e[other].value, c)) {
            return false;
        }
    }
    return true;
}

bool equal_list(struct sv a, struct sv b, struct comparing *c)
{
    c->depth++;
    bool is = a.list == b.list || lists_equal(a.list, b.list, c);
    c->depth--;
    return is;
}

bool equal_map(struct sv a, struct sv b, struct comparing *c)
{
    c->depth++;
    bool is = a.map == b.map || maps_equal(a.map, b.map, c);
    c->depth--;
    return is;
}

static bool same_instant(struct instant a, struct instant b)
{
    return a.seconds == b.seconds && a.nanos == b.nanos;
}

bool equal_date(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return same_instant(a.date->t, b.date->t) && str_eq(a.date->zone->id, b.date->zone->id);
}

bool equal_instant(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return a.aux == b.aux && same_instant(a.date->t, b.date->t);
}

bool equal_geo(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return a.geo->lat == b.geo->lat && a.geo->lon == b.geo->lon;
}

bool equal_named(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return a.i == b.i && a.aux == b.aux;
}

bool equal_zone(struct sv a, struct sv b, UNUSED struct comparing *c)
{
    return str_eq(a.zone->id, b.zone->id);
}

uint32_t sv_list_find(const struct sv_list *l, struct sv v, uint64_t *steps)
{
    struct comparing c = {0};
    uint32_t at = find_element(l, v, &c);
    *steps += c.steps / 4;
    return at;
}

/* ---- order ---- */

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
        *out = sv_is_whole(a) && sv_is_whole(b) ? (a.i > b.i) - (a.i < b.i) : order(sv_num(a), sv_num(b));
        return true;
    }
    return a.kind == b.kind && kinds[a.kind].compare != NULL && kinds[a.kind].compare(a, b, out);
}

bool compare_text(struct sv a, struct sv b, int *out)
{
    *out = str_cmp(a.s, b.s);
    return true;
}

bool compare_bool(struct sv a, struct sv b, int *out)
{
    *out = (int)a.b - (int)b.b;
    return true;
}

bool compare_date(struct sv a, struct sv b, int *out)
{
    *out = sv_compare_dates(a, b);
    return true;
}

/* A date, a time of day, or both: each has an order of its own. */
bool compare_local(struct sv a, struct sv b, int *out)
{
    return a.aux == b.aux && compare_date(a, b, out);
}

bool compare_enum(struct sv a, struct sv b, int *out)
{
    *out = (a.i > b.i) - (a.i < b.i);
    return true;
}
