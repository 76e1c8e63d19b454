/* Reading the values of batches of documents. Columns with one value a document have loops of their own: that
 * is where most of the time of most requests goes. */
#include "engine/aggs/values.h"

#include "common/base/coerce.h"
#include "common/base/inet.h"
#include "common/base/num.h"
#include "common/base/sort_items.h"

#define ROUND (4 * BATCH) /* values after which a round ends */

static bool room(struct values *v, uint32_t n)
{
    return run_reserve(v->run, &v->at, &v->cap_at, n, sizeof(*v->at))
           && run_reserve(v->run, &v->i, &v->cap_v, n, sizeof(struct geo_point));
}

static float score_of(const struct doc_run *d, uint32_t k)
{
    return d->scores != NULL ? d->scores[k] : 0;
}

/* ---- scripts ------------------------------------------------------------------------------------------- */

static enum err number_of(const struct json *j, double *out, int64_t *out_i, struct errmsg *em)
{
    if (j->type == JSON_BOOL) {
        *out = j->b ? 1 : 0;
        *out_i = j->b;
        return ERR_OK;
    }
    if (j->type == JSON_NUMBER) {
        *out = json_double(j);
        *out_i = json_i64(j, out_i) ? *out_i : num_double_to_i64(*out);
        return ERR_OK;
    }
    if (j->type == JSON_STRING && (str_is(j->s, "NaN") || str_ends(j->s, STR("Infinity")))
        && num_parse_double(j->s, out)) {
        *out_i = num_double_to_i64(*out);
        return ERR_OK;
    }
    return err_set(em, ERR_AGG_EXECUTION,
                   "Unsupported script value [%.*s], expected a number, date, or boolean",
                   STR_ARG(json_text(j)));
}

/* The numbers that a script gives for a document; false: failed. */
static bool script_numbers(struct values *v, const struct doc_run *d, uint32_t k,
                           const struct script_given *given, bool whole, uint32_t *n)
{
    struct json result;
    struct agg_run *r = v->run;
    enum err e = agg_script_value(v->script, d->docs[k], score_of(d, k), given, true, &result, &r->em);
    uint32_t count = e != ERR_OK || result.type == JSON_NULL ? 0 : result.type == JSON_ARRAY ? result.n : 1;
    if (e == ERR_OK && !room(v, *n + count)) {
        return false;
    }
    for (uint32_t i = 0; e == ERR_OK && i < count; i++) {
        double x = 0;
        int64_t l = 0;
        e = number_of(result.type == JSON_ARRAY ? &result.items[i] : &result, &x, &l, &r->em);
        if (whole) {
            v->i[*n] = v->floating ? num_from_double(x) : l;
        } else {
            v->d[*n] = x;
        }
        v->at[(*n)++] = k;
    }
    if (e != ERR_OK) {
        run_fail(r, e);
    }
    return e == ERR_OK;
}

static int cmp_long(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static int cmp_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

/* A column's value in the form that values_longs() promises. */
static int64_t whole_of(const struct values *v, int64_t raw)
{
    switch (v->form) {
    case FORM_FLOAT:
    case FORM_SCALED:
        return num_from_double(field_num_to_double(v->field, raw));
    case FORM_DOUBLE:
        return raw;
    case FORM_WHOLE:
        break;
    }
    if (v->nanos) {
        return floor_div(raw, 1000000);
    }
    return v->floating ? num_from_double((double)raw) : raw;
}

static double double_of(const struct values *v, int64_t raw)
{
    return v->nanos ? (double)floor_div(raw, 1000000) : field_num_to_double(v->field, raw);
}

/* What a script knows as _value: a Long where whole numbers are asked for (dates in their histogram), a Double
 * everywhere else. */
static void given_number(const struct values *v, int64_t raw, bool whole, struct script_given *g)
{
    whole = whole && !v->floating;
    *g = (struct script_given){.has = true, .whole = whole, .d = double_of(v, raw)};
    g->i = !whole ? 0 : v->nanos ? floor_div(raw, 1000000) : raw;
}

/* One document's numbers behind the first *n. */
static bool one_doc(struct values *v, const struct doc_run *d, uint32_t k, bool whole, uint32_t *n)
{
    uint32_t before = *n;
    uint64_t first = 0;
    if (v->script_alone) {
        struct script_given none = {.has = false};
        if (!script_numbers(v, d, k, &none, whole, n)) {
            return false;
        }
    } else {
        uint32_t count = v->field != NULL ? num_column_seek(&v->nums, d->docs[k], &first) : 0;
        if (!room(v, *n + count)) {
            return false;
        }
        for (uint32_t i = 0; i < count; i++) {
            int64_t raw = num_column_value(&v->nums, first + i);
            struct script_given given;
            if (v->script != NULL) {
                given_number(v, raw, whole, &given);
                if (!script_numbers(v, d, k, &given, whole, n)) {
                    return false;
                }
                continue;
            }
            if (whole) {
                v->i[*n] = whole_of(v, raw);
            } else {
                v->d[*n] = double_of(v, raw);
            }
            v->at[(*n)++] = k;
        }
    }
    if (*n == before && v->has_missing) {
        if (!room(v, *n + 1)) {
            return false;
        }
        if (whole) {
            v->i[*n] = v->floating ? num_from_double(v->missing_d) : v->missing_i;
        } else {
            v->d[*n] = v->missing_d;
        }
        v->at[(*n)++] = k;
    } else if (*n - before > 1 && v->script != NULL) {
        sort_items(&v->i[before], *n - before, sizeof(int64_t), whole ? cmp_long : cmp_double);
    }
    return true;
}

static uint32_t numbers(struct values *v, const struct doc_run *d, uint32_t *pos, bool whole)
{
    uint32_t n = 0;
    while (*pos < d->n && n < ROUND) {
        if (v->run->failed != ERR_OK || !one_doc(v, d, *pos, whole, &n)) {
            *pos = d->n;
            return 0;
        }
        ++*pos;
    }
    return n;
}

/* Every document has exactly one value and nothing is in between. */
static bool values_plain(const struct values *v)
{
    return v->field != NULL && v->script == NULL && v->nums.dense;
}

uint32_t values_doubles(struct values *v, const struct doc_run *d, uint32_t *pos)
{
    if (v->none) {
        *pos = d->n;
        return 0;
    }
    if (!values_plain(v) || *pos != 0) {
        return numbers(v, d, pos, false);
    }
    if (!room(v, d->n)) {
        *pos = d->n;
        return 0;
    }
    bool whole = !v->floating && !v->nanos, dbl = v->form == FORM_DOUBLE;
    const struct num_column nums = v->nums; /* its own: what is written cannot be part of it */
    uint32_t *at = v->at;
    double *out = v->d;
    for (uint32_t k = 0; k < d->n; k++) {
        int64_t raw = num_column_value(&nums, d->docs[k]);
        at[k] = k;
        out[k] = whole ? (double)raw : dbl ? num_to_double(raw) : double_of(v, raw);
    }
    return *pos = d->n;
}

uint32_t values_longs(struct values *v, const struct doc_run *d, uint32_t *pos)
{
    if (v->none) {
        *pos = d->n;
        return 0;
    }
    if (!values_plain(v) || *pos != 0) {
        return numbers(v, d, pos, true);
    }
    if (!room(v, d->n)) {
        *pos = d->n;
        return 0;
    }
    bool same = v->form == FORM_DOUBLE || (!v->floating && !v->nanos);
    const struct num_column nums = v->nums;
    uint32_t *at = v->at;
    int64_t *out = v->i;
    for (uint32_t k = 0; k < d->n; k++) {
        int64_t raw = num_column_value(&nums, d->docs[k]);
        at[k] = k;
        out[k] = same ? raw : whole_of(v, raw);
    }
    return *pos = d->n;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static bool push_id(struct values *v, uint32_t k, uint32_t id, uint32_t *n)
{
    if (id == NO_BUCKET || !room(v, *n + 1)) {
        return false;
    }
    v->at[*n] = k;
    v->id[(*n)++] = id;
    return true;
}

static bool script_texts(struct values *v, const struct doc_run *d, uint32_t k,
                         const struct script_given *given, uint32_t *n)
{
    struct json result;
    struct agg_run *r = v->run;
    uint8_t address[INET_BYTES];
    enum err e = agg_script_value(v->script, d->docs[k], score_of(d, k), given, false, &result, &r->em);
    uint32_t count = e != ERR_OK || result.type == JSON_NULL ? 0 : result.type == JSON_ARRAY ? result.n : 1;
    bool ok = true;
    for (uint32_t i = 0; ok && e == ERR_OK && i < count; i++) {
        struct str s = json_text(result.type == JSON_ARRAY ? &result.items[i] : &result);
        if (v->kind == SOURCE_IP) {
            e = inet_parse(s, address, &r->em);
            s = str_mk(address, INET_BYTES);
        }
        ok = e == ERR_OK && push_id(v, k, dict_of_text(&v->dict, s), n);
    }
    if (e != ERR_OK) {
        run_fail(r, e);
    }
    return ok && e == ERR_OK;
}

/* The document's texts, each handed to a value script first. */
static bool scripted_doc(struct values *v, const struct doc_run *d, uint32_t k, uint32_t *n)
{
    if (v->script_alone) {
        struct script_given none = {.has = false};
        return script_texts(v, d, k, &none, n);
    }
    struct buf b;
    uint64_t first;
    bool ok = true;
    uint32_t count = v->text_from == TEXT_ORDS ? ord_column_seek(&v->ords, d->docs[k], &first) : 0;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = seg_term_by_ord(v->seg, ord_column_value(&v->ords, first + i), &b);
        struct script_given given = {.has = true, .s = buf_view(&b)};
        ok = ok && script_texts(v, d, k, &given, n);
    }
    buf_fini(&b);
    return ok;
}

static bool column_doc(struct values *v, doc_id doc, uint32_t k, uint32_t *n)
{
    uint64_t first = 0;
    uint32_t count;
    struct str s;
    switch (v->text_from) {
    case TEXT_ORDS:
        count = ord_column_seek(&v->ords, doc, &first);
        for (uint32_t i = 0; i < count; i++) {
            if (!push_id(v, k, dict_of_ord(&v->dict, ord_column_value(&v->ords, first + i)), n)) {
                return false;
            }
        }
        return true;
    case TEXT_BYTES:
        for (uint32_t i = 0; seg_bytes_value(v->seg, doc, i, &s); i++) {
            if (!push_id(v, k, dict_of_text(&v->dict, s), n)) {
                return false;
            }
        }
        return true;
    case TEXT_UNINVERTED:
        for (uint32_t i = v->inverted_starts[doc]; i < v->inverted_starts[doc + 1]; i++) {
            if (!push_id(v, k, dict_of_ord(&v->dict, v->inverted_ords[i]), n)) {
                return false;
            }
        }
        return true;
    case TEXT_INDEX:
        s = v->field->class->constant(v->field, v->run->cx->shard->index_name);
        return s.p == NULL || push_id(v, k, dict_of_text(&v->dict, s), n);
    case TEXT_NONE:
        break;
    }
    return true;
}

static int cmp_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Scripts and binary values may name a text twice for one document. */
static void drop_duplicates(struct values *v, uint32_t from, uint32_t *n)
{
    sort_items(&v->id[from], *n - from, sizeof(uint32_t), cmp_id);
    uint32_t to = from;
    for (uint32_t i = from; i < *n; i++) {
        if (i == from || v->id[i] != v->id[i - 1]) {
            v->id[to++] = v->id[i];
        }
    }
    *n = to;
}

/* Every document has exactly one ordinal and nothing is in between. */
static bool plain_ords(const struct values *v)
{
    return v->field != NULL && v->script == NULL && v->text_from == TEXT_ORDS && v->ords.dense
           && !v->ords.multi;
}

static uint32_t ids_of_ords(struct values *v, const struct doc_run *d)
{
    if (!room(v, d->n)) {
        return 0;
    }
    const struct ord_column ords = v->ords;
    uint32_t *at = v->at, *out = v->id;
    for (uint32_t k = 0; k < d->n; k++) {
        at[k] = k;
        out[k] = dict_of_ord(&v->dict, ord_column_value(&ords, d->docs[k]));
        if (out[k] == NO_BUCKET) {
            run_no_memory(v->run);
            return 0;
        }
    }
    return d->n;
}

uint32_t values_ids(struct values *v, const struct doc_run *d, uint32_t *pos)
{
    uint32_t n = 0;
    if (v->none) {
        *pos = d->n;
        return 0;
    }
    if (*pos == 0 && plain_ords(v)) {
        *pos = d->n;
        return ids_of_ords(v, d);
    }
    while (*pos < d->n && n < ROUND) {
        uint32_t k = *pos, before = n;
        bool ok = v->script != NULL ? scripted_doc(v, d, k, &n)
                                    : v->field == NULL || column_doc(v, d->docs[k], k, &n);
        if (ok && n == before && v->has_missing) {
            ok = push_id(v, k, dict_of_text(&v->dict, v->missing_s), &n);
        }
        if (!ok || v->run->failed != ERR_OK) {
            run_no_memory(v->run);
            *pos = d->n;
            return 0;
        }
        if (n - before > 1 && (v->script != NULL || v->text_from == TEXT_BYTES)) {
            drop_duplicates(v, before, &n);
        }
        ++*pos;
    }
    return n;
}

/* ---- points, counts, ranges ---------------------------------------------------------------------------- */

uint32_t values_points(struct values *v, const struct doc_run *d, uint32_t *pos)
{
    uint32_t n = 0;
    if (v->none) {
        *pos = d->n;
        return 0;
    }
    while (*pos < d->n && n < ROUND) {
        uint64_t first = 0;
        uint32_t count = v->field != NULL ? num_column_seek(&v->nums, d->docs[*pos], &first) : 0;
        if (!room(v, n + MAX_OF(count, 1U))) {
            *pos = d->n;
            return 0;
        }
        for (uint32_t i = 0; i < count; i++) {
            v->at[n] = *pos;
            v->g[n++] = geo_unpack(num_column_value(&v->nums, first + i));
        }
        if (count == 0 && v->has_missing) {
            v->at[n] = *pos;
            v->g[n++] = v->missing_g;
        }
        ++*pos;
    }
    return n;
}

static uint32_t count_column(struct values *v, doc_id doc)
{
    uint64_t first;
    struct str a, b;
    uint32_t n = 0;
    if (v->field == NULL) {
        return 0;
    }
    if (v->kind == SOURCE_RANGE) {
        return v->seg != NULL && seg_range_value(v->seg, doc, 0, &a, &b) ? 1 : 0;
    }
    if (v->kind != SOURCE_TEXT && v->kind != SOURCE_IP) {
        return num_column_seek(&v->nums, doc, &first);
    }
    switch (v->text_from) {
    case TEXT_ORDS:
        return ord_column_seek(&v->ords, doc, &first);
    case TEXT_BYTES:
        while (seg_bytes_value(v->seg, doc, n, &a)) {
            n++;
        }
        return n;
    case TEXT_UNINVERTED:
        return v->inverted_starts[doc + 1] - v->inverted_starts[doc];
    case TEXT_INDEX:
        return 1;
    case TEXT_NONE:
        break;
    }
    return 0;
}

/* Scripts are run for their number of values. */
static uint32_t count_scripted(struct values *v, const struct doc_run *d, uint32_t k)
{
    struct json result;
    struct script_given none = {.has = false};
    if (!v->script_alone) {
        return count_column(v, d->docs[k]);
    }
    enum err e = agg_script_value(v->script, d->docs[k], score_of(d, k), &none, false, &result, &v->run->em);
    if (e != ERR_OK) {
        run_fail(v->run, e);
        return 0;
    }
    return result.type == JSON_NULL ? 0 : result.type == JSON_ARRAY ? result.n : 1;
}

uint32_t values_count(struct values *v, const struct doc_run *d)
{
    if (!room(v, d->n)) {
        return 0;
    }
    for (uint32_t k = 0; k < d->n && v->run->failed == ERR_OK; k++) {
        uint32_t n = v->script != NULL ? count_scripted(v, d, k) : count_column(v, d->docs[k]);
        v->at[k] = n == 0 && v->has_missing ? 1 : n;
    }
    return v->run->failed == ERR_OK ? d->n : 0;
}

bool values_range(struct values *v, doc_id doc, uint32_t i, double *from, double *to)
{
    struct str lo, hi;
    if (v->field == NULL || v->seg == NULL || !seg_range_value(v->seg, doc, i, &lo, &hi) || lo.n != 8
        || hi.n != 8) {
        return false;
    }
    int64_t a = (int64_t)load_u64(lo.p), b = (int64_t)load_u64(hi.p);
    enum num_form form = v->field->class->ends->form;
    if (form == FORM_DOUBLE) {
        *from = num_to_double(a);
        *to = num_to_double(b);
    } else if (form == FORM_FLOAT) {
        *from = (double)num_to_float(a);
        *to = (double)num_to_float(b);
    } else {
        *from = (double)a;
        *to = (double)b;
    }
    return true;
}
