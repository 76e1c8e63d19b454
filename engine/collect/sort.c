#include "engine/collect/sort.h"

#include "common/base/coerce.h"
#include "common/base/geo.h"
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

#include <math.h>

enum err sort_plan_new(struct sort_plan **out, const struct search_context *cx, const struct sort_spec *specs,
                       uint32_t n, struct errmsg *em)
{
    struct sort_plan *p = ARENA_NEW(cx->arena, struct sort_plan);
    struct sort_key *keys = ARENA_ARRAY(cx->arena, struct sort_key, n);
    *out = NULL;
    if (p == NULL || keys == NULL) {
        return err_no_memory(em);
    }
    *p = (struct sort_plan){.cx = cx, .keys = keys, .n = n, .error = err_in(cx->arena)};
    for (uint32_t i = 0; i < n; i++) {
        keys[i].spec = &specs[i];
        enum err e = sort_key_bind(cx, &keys[i], p, em);
        if (e != ERR_OK) {
            sort_plan_fini(p);
            return e;
        }
    }
    *out = p;
    return ERR_OK;
}

static void close_stored(struct sort_plan *p)
{
    if (p->stored_open) {
        stored_reader_fini(&p->stored);
        p->stored_open = false;
    }
}

void sort_plan_fini(struct sort_plan *p)
{
    if (p != NULL) {
        close_stored(p);
        for (uint32_t i = 0; i < p->n; i++) {
            sort_nested_fini(&p->keys[i]);
        }
    }
}

bool sort_plan_needs_scores(const struct sort_plan *p)
{
    return p->needs_scores;
}

bool sort_plan_shows_scores(const struct sort_plan *p)
{
    return p->shows_scores;
}

enum err sort_plan_leaf(struct sort_plan *p, const struct leaf *leaf, struct scorer *scorer,
                        struct errmsg *em)
{
    p->leaf = leaf;
    p->scorer = scorer;
    for (uint32_t i = 0; i < p->n; i++) {
        struct sort_key *k = &p->keys[i];
        k->seg = k->field != NULL ? segment_field_of(leaf->segment, k->field, p->cx->arena) : NULL;
        num_column_init(&k->nums, k->is_text ? NULL : k->seg);
        ord_column_init(&k->ords, k->is_text ? k->seg : NULL);
        if (k->is_id) {
            close_stored(p);
            stored_reader_init(&p->stored, leaf->segment);
            p->stored_open = true;
        }
        enum err e = k->is_script ? sort_script_leaf(p, k, leaf, em) : ERR_OK;
        e = e == ERR_OK && k->nested != NULL ? sort_nested_leaf(k, leaf, em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* ---- reading a document's keys ------------------------------------------------------------------------------------------ */

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* As Elasticsearch's MultiValueMode: whole numbers round their averages. */
static double pick_double(enum sort_mode mode, const double *v, size_t n)
{
    double sum = 0;
    switch (mode) {
    case SORT_MODE_MAX:
        return v[n - 1];
    case SORT_MODE_SUM:
    case SORT_MODE_AVG:
        for (size_t i = 0; i < n; i++) {
            sum += v[i];
        }
        return mode == SORT_MODE_AVG ? sum / (double)n : sum;
    case SORT_MODE_MEDIAN:
        return n % 2 == 0 ? (v[n / 2 - 1] + v[n / 2]) / 2 : v[n / 2];
    case SORT_MODE_DEFAULT:
    case SORT_MODE_MIN:
        break;
    }
    return v[0];
}

static int64_t pick_long(enum sort_mode mode, const struct num_column *c, uint64_t first, uint32_t n)
{
    int64_t sum = 0;
    switch (mode) {
    case SORT_MODE_MAX:
        return num_column_value(c, first + n - 1);
    case SORT_MODE_SUM:
    case SORT_MODE_AVG:
        for (uint32_t i = 0; i < n; i++) {
            sum = (int64_t)((uint64_t)sum + (uint64_t)num_column_value(c, first + i));
        }
        return mode == SORT_MODE_AVG && n > 1 ? (int64_t)floor((double)sum / n + 0.5) : sum;
    case SORT_MODE_MEDIAN: {
        int64_t high = num_column_value(c, first + n / 2);
        return n % 2 == 0 ? (int64_t)floor(
                   ((double)num_column_value(c, first + n / 2 - 1) + (double)high) / 2.0 + 0.5)
                          : high;
    }
    case SORT_MODE_DEFAULT:
    case SORT_MODE_MIN:
        break;
    }
    return num_column_value(c, first);
}

#define FEW 64

/* A value as a fraction; nanoseconds become milliseconds. */
double sort_fraction(const struct sort_key *k, int64_t v)
{
    return k->is_nanos ? (double)v / 1e6 : field_num_to_double(k->field, v);
}

/* Room for n values: `few` when they fit, else to be freed. NULL: no memory, and the plan says so. */
static double *room_for(struct sort_plan *p, size_t n, double *few)
{
    double *v = n <= FEW ? few : alloc_array(memory_allocator(MEMORY_REQUEST), n, sizeof(double));
    if (v == NULL && !err_is(&p->error)) {
        err_no_memory(&p->error);
    }
    return v;
}

static void done_with(double *v, const double *few)
{
    if (v != few) {
        alloc_put(memory_allocator(MEMORY_REQUEST), v);
    }
}

static int64_t pick_fraction(struct sort_plan *p, const struct sort_key *k, uint64_t first, uint32_t n)
{
    double few[FEW] = {0}, *v = room_for(p, n, few);
    if (v == NULL) {
        return k->missing_num;
    }
    for (uint32_t i = 0; i < n; i++) {
        v[i] = sort_fraction(k, num_column_value(&k->nums, first + i));
    }
    double d = pick_double(k->mode, v, n);
    done_with(v, few);
    return num_from_double(d);
}

static int64_t distance(struct sort_plan *p, const struct sort_key *k, doc_id doc)
{
    uint64_t first;
    uint32_t n = num_column_seek(&k->nums, doc, &first);
    const struct sort_spec *s = k->spec;
    size_t total = (size_t)n * s->n_points;
    if (total == 0) {
        return k->missing_num;
    }
    if (total == 1) {
        struct geo_point g = geo_unpack(num_column_value(&k->nums, first));
        return num_from_double(
            geo_distance(s->plane ? GEO_PLANE : GEO_ARC, s->lats[0], s->lons[0], g.lat, g.lon)
            / s->unit_metres);
    }
    double few[FEW] = {0}, *v = room_for(p, total, few);
    if (v == NULL) {
        return k->missing_num;
    }
    size_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct geo_point g = geo_unpack(num_column_value(&k->nums, first + i));
        for (uint32_t j = 0; j < s->n_points && !stop_often(); j++) {
            double metres =
                geo_distance(s->plane ? GEO_PLANE : GEO_ARC, s->lats[j], s->lons[j], g.lat, g.lon);
            v[at++] = metres / s->unit_metres;
        }
    }
    memset(&v[at], 0, (total - at) * sizeof(*v)); /* stopped: nobody reads what comes of it */
    sort_items(v, total, sizeof(double), cmp_double);
    double d = pick_double(k->mode, v, total);
    done_with(v, few);
    return num_from_double(d);
}

#define METRES_PER_DEGREE 111195.0 /* of latitude */

/* A place is no nearer than its latitude is; the slack covers the tables that distances are computed with. */
bool sort_surely_after(const struct sort_plan *p, doc_id doc, const struct sort_cell *bound)
{
    const struct sort_key *k = &p->keys[0];
    const struct sort_spec *s = k->spec;
    uint64_t first;
    if (!k->is_geo || s->descending || s->n_points != 1 || k->nested != NULL
        || num_column_seek(&k->nums, doc, &first) != 1) {
        return false;
    }
    double lat = geo_unpack(num_column_value(&k->nums, first)).lat;
    return fabs(lat - s->lats[0]) * (METRES_PER_DEGREE * 0.999) - 1.0
           > num_to_double(bound->num) * s->unit_metres;
}

#define NANOS_MS_MAX (INT64_MAX / 1000000)

void sort_check_nanos(struct sort_plan *p, const struct sort_key *k, int64_t v)
{
    if (!str_is(k->spec->numeric_type, "date_nanos") || !field_is_date(k->field) || k->is_nanos
        || err_is(&p->error)) {
        return;
    }
    if (v < 0) {
        err_set(&p->error, ERR_ILLEGAL_ARGUMENT,
                "milliSeconds [%lld] are before the epoch in 1970 and cannot be converted to nanoseconds",
                (long long)v);
    } else if (v > NANOS_MS_MAX) {
        err_set(&p->error, ERR_ILLEGAL_ARGUMENT,
                "milliSeconds [%lld] are after 2262-04-11T23:47:16.854775807 and cannot be converted to "
                "nanoseconds",
                (long long)v);
    }
}

/* numeric_type: dates as nanoseconds or milliseconds, whole numbers as fractions and back. */
int64_t sort_cast(const struct sort_key *k, int64_t v)
{
    struct str t = k->spec->numeric_type;
    bool date = field_is_date(k->field);
    if (str_is(t, "date_nanos") && date && !k->is_nanos) {
        return v < 0 || v > NANOS_MS_MAX ? 0 : v * 1000000; /* refused by sort_check_nanos() */
    }
    if (str_is(t, "date") && k->is_nanos) {
        return v / 1000000;
    }
    if ((str_is(t, "long") || str_is(t, "date")) && field_is_fraction(k->field)) {
        return num_double_to_i64(field_num_to_double(k->field, v));
    }
    return v;
}

static void load_number(struct sort_plan *p, const struct sort_key *k, doc_id doc, struct sort_cell *out)
{
    uint64_t first;
    uint32_t n = num_column_seek(&k->nums, doc, &first);
    for (uint32_t i = 0; k->spec->numeric_type.p != NULL && i < n; i++) {
        sort_check_nanos(p, k, num_column_value(&k->nums, first + i));
    }
    if (n == 0) {
        out->num = k->missing_num;
    } else if (k->floating) {
        out->num = n == 1 ? num_from_double(sort_fraction(k, num_column_value(&k->nums, first)))
                          : pick_fraction(p, k, first, n);
    } else {
        int64_t v = n == 1 ? num_column_value(&k->nums, first) : pick_long(k->mode, &k->nums, first, n);
        out->num = k->spec->numeric_type.p != NULL ? sort_cast(k, v) : v;
    }
}

static void set_text(struct sort_cell *c, struct str text)
{
    buf_reset(&c->text);
    buf_str(&c->text, text);
    c->leaf = UINT32_MAX;
    c->null = false;
    c->settled = true;
}

static void load_text(struct sort_plan *p, const struct sort_key *k, doc_id doc, struct sort_cell *out)
{
    out->null = true;
    out->settled = false;
    out->leaf = p->leaf->index;
    if (k->constant.p != NULL) {
        set_text(out, k->constant);
        return;
    }
    if (k->is_id) {
        struct arena scratch;
        struct stored_doc stored;
        arena_init(&scratch, NULL, ARENA_UNLIMITED);
        if (stored_read(&p->stored, doc, STORED_ID, &scratch, &stored, NULL) == ERR_OK) {
            set_text(out, stored.id);
        }
        arena_fini(&scratch);
        return;
    }
    uint64_t first;
    uint32_t n = k->nested == NULL ? ord_column_seek(&k->ords, doc, &first) : 0;
    if (n > 0) {
        out->ord = ord_column_value(&k->ords, k->mode == SORT_MODE_MAX ? first + n - 1 : first);
        out->null = false;
    } else if (k->nested != NULL && sort_nested_ord(k, doc, &out->ord)) {
        out->null = false;
    } else if (k->missing_text.p != NULL) {
        set_text(out, k->missing_text);
    }
}

void sort_cell_load(struct sort_plan *p, uint32_t i, doc_id doc, struct sort_cell *out)
{
    struct sort_key *k = &p->keys[i];
    if (k->is_script) {
        sort_script_load(p, k, doc, out);
    } else if (k->is_text) {
        load_text(p, k, doc, out);
    } else if (k->spec->kind == SORT_SCORE) {
        out->num = num_from_float(p->score);
    } else if (k->spec->kind == SORT_DOC) {
        out->num = (int64_t)p->leaf->base + doc;
    } else if (k->spec->kind == SORT_SHARD_DOC) {
        out->num = (int64_t)p->cx->shard->scope.slot << 32 | (int64_t)(p->leaf->base + doc);
    } else if (k->nested != NULL) {
        sort_nested_number(p, k, doc, out);
    } else if (k->is_geo) {
        out->num = distance(p, k, doc);
    } else {
        load_number(p, k, doc, out);
    }
}

bool sort_cell_settle(struct sort_plan *p, uint32_t i, struct sort_cell *c)
{
    const struct sort_key *k = &p->keys[i];
    if (!k->is_text || c->null || c->settled) {
        return true;
    }
    c->settled = seg_term_by_ord(k->seg, c->ord, &c->text);
    if (!c->settled && !err_is(&p->error) && c->text.failed) {
        err_no_memory(&p->error);
    } else if (!c->settled && !err_is(&p->error)) {
        err_set(&p->error, ERR_CORRUPT, "a term of field [%.*s] cannot be read", STR_ARG(k->field->name));
    }
    return c->settled;
}

int sort_cell_cmp(struct sort_plan *p, uint32_t i, struct sort_cell *a, struct sort_cell *b)
{
    const struct sort_key *k = &p->keys[i];
    int c;
    if (!k->is_text) {
        c = a->num < b->num ? -1 : a->num > b->num;
    } else if (a->null || b->null) { /* where nulls go does not depend on the direction */
        int nulls = (int)a->null - (int)b->null;
        return k->missing_first ? -nulls : nulls;
    } else if (a->leaf == b->leaf && a->leaf != UINT32_MAX) {
        c = a->ord < b->ord ? -1 : a->ord > b->ord;
    } else {
        if (!sort_cell_settle(p, i, a) || !sort_cell_settle(p, i, b)) {
            return 0;
        }
        c = str_cmp(buf_view(&a->text), buf_view(&b->text));
    }
    return k->spec->descending ? -c : c;
}

bool sort_cell_value(const struct sort_plan *p, uint32_t i, const struct sort_cell *c, struct arena *arena,
                     struct sort_value *out)
{
    const struct sort_key *k = &p->keys[i];
    if (k->is_text) {
        out->kind = c->null ? SV_NULL : SV_STR;
        if (c->null) {
            return true;
        }
        struct str text = buf_view(&c->text);
        if (k->is_address) { /* `missing` is taken for bytes, too */
            out->kind = SV_IP;
        }
        out->s = arena_str(arena, text);
        return out->s.p != NULL;
    }
    if (k->spec->kind == SORT_SCORE) {
        *out = (struct sort_value){.kind = SV_FLOAT, .d = (double)num_to_float(c->num)};
    } else if (k->floating) {
        *out = (struct sort_value){.kind = k->is_float ? SV_FLOAT : SV_DOUBLE, .d = num_to_double(c->num)};
    } else {
        *out = (struct sort_value){.kind = SV_LONG, .l = c->num};
    }
    return true;
}

bool sort_cell_of_value(const struct sort_plan *p, uint32_t i, const struct sort_value *v,
                        struct sort_cell *out)
{
    const struct sort_key *k = &p->keys[i];
    out->leaf = UINT32_MAX;
    out->settled = true;
    out->null = v->kind == SV_NULL;
    if (sort_value_is_bytes(v)) {
        buf_str(&out->text, v->s);
    } else if (v->kind == SV_DOUBLE || v->kind == SV_FLOAT) {
        out->num = k->spec->kind == SORT_SCORE ? num_from_float((float)v->d) : num_from_double(v->d);
    } else if (v->kind != SV_NULL) {
        out->num = v->l;
    }
    return !out->text.failed;
}
