#include "engine/aggs/values.h"

#include "common/base/base64.h"
#include "common/base/date_math.h"
#include "common/base/hash.h"
#include "common/base/inet.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"

#include <math.h>

/* ---- binding ------------------------------------------------------------------------------------------------------ */

static const enum source_kind kinds[] = {
    [VALUE_NUMBER] = SOURCE_NUMBER, [VALUE_DATE] = SOURCE_DATE,  [VALUE_BOOLEAN] = SOURCE_BOOLEAN,
    [VALUE_TEXT] = SOURCE_TEXT,     [VALUE_ADDRESS] = SOURCE_IP, [VALUE_POINT] = SOURCE_GEO,
    [VALUE_RANGE] = SOURCE_RANGE,
};

static bool kind_of_field(const struct field *f, enum source_kind *out)
{
    *out = kinds[f->class->kind];
    return f->class->kind != VALUE_NONE;
}

static enum err check_field(const struct values *v, struct errmsg *em)
{
    const struct field *f = v->field;
    if (f->class->needs_fielddata && !f->fielddata) {
        return field_without_values(f->path, em);
    }
    if (!field_has_column(f) && f->class->constant == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Can't load fielddata on [%.*s] because fielddata is unsupported on fields of type "
                       "[%s]. Use doc values instead.",
                       STR_ARG(f->path), f->class->name);
    }
    return ERR_OK;
}

static enum err check_hint(const struct values *v, struct errmsg *em)
{
    enum value_type hint = v->spec->value_type;
    bool number_wanted = hint == VT_LONG || hint == VT_DOUBLE || hint == VT_DATE || hint == VT_BOOLEAN;
    if (v->field == NULL || !number_wanted || ((1U << v->kind) & TAKES_NUMERIC) != 0) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Expected numeric type on field [%.*s], but got [%s]",
                   STR_ARG(v->field->path), v->field->class->name);
}

static enum source_kind kind_of_hint(enum value_type t, enum source_kind otherwise)
{
    switch (t) {
    case VT_STRING:
        return SOURCE_TEXT;
    case VT_LONG:
    case VT_DOUBLE:
        return SOURCE_NUMBER;
    case VT_DATE:
        return SOURCE_DATE;
    case VT_IP:
        return SOURCE_IP;
    case VT_BOOLEAN:
        return SOURCE_BOOLEAN;
    case VT_NONE:
        break;
    }
    return otherwise;
}

/* `f` may be NULL. */
static bool is_date_range(const struct field *f)
{
    return f != NULL && f->class->ends != NULL && f->class->ends->kind == VALUE_DATE;
}

static enum err make_shape(struct values *v, struct errmsg *em)
{
    struct value_shape *s = ARENA_NEW(v->run->arena, struct value_shape);
    if (s == NULL) {
        return err_no_memory(em);
    }
    bool given = v->spec->format.p != NULL;
    switch (v->kind) {
    case SOURCE_DATE:
        s->kind = FORMAT_DATE;
        s->pattern = given                                          ? v->spec->format
                     : v->field != NULL && v->field->format != NULL ? date_format_pattern(v->field->format)
                                                                    : STR(DATE_FORMAT_DEFAULT);
        break;
    case SOURCE_BOOLEAN:
        s->kind = FORMAT_BOOLEAN;
        break;
    case SOURCE_IP:
        s->kind = FORMAT_IP;
        break;
    case SOURCE_TEXT:
        s->kind = v->field != NULL && v->field->class->is_binary ? FORMAT_BINARY : FORMAT_RAW;
        break;
    case SOURCE_RANGE:
        if (is_date_range(v->field)) {
            s->kind = FORMAT_DATE;
            s->pattern = given ? v->spec->format : date_format_pattern(v->field->format);
            break;
        }
        s->kind = given ? FORMAT_DECIMAL : FORMAT_RAW;
        s->pattern = given ? v->spec->format : STR("");
        break;
    case SOURCE_NUMBER:
        s->kind = given ? FORMAT_DECIMAL : FORMAT_RAW;
        s->pattern = given ? v->spec->format : STR("");
        break;
    case SOURCE_GEO:
        break;
    }
    if (s->kind == FORMAT_DATE && v->spec->zone != NULL) {
        s->zone_id = v->spec->zone->id;
    }
    bool date = v->kind == SOURCE_DATE || is_date_range(v->field);
    bool zoned = v->field != NULL && v->spec->zone != NULL && !date;
    bool plain =
        v->kind == SOURCE_NUMBER || s->kind == FORMAT_BINARY; /* which has one form, whatever is asked for */
    if (zoned || (given && v->field != NULL && !date && !plain)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] of type [%s] does not support custom %s",
                       STR_ARG(v->field->path), v->field->class->name,
                       given && v->kind != SOURCE_NUMBER ? "formats" : "time zones");
    }
    v->shape = s;
    return value_shape_ready(s, v->run->arena, em);
}

enum err values_term(const struct values *v, struct str text, struct str *out, struct errmsg *em)
{
    *out = text;
    if (v->kind == SOURCE_IP) {
        uint8_t *p = arena_alloc(v->run->arena, INET_BYTES);
        *out = str_mk(p, INET_BYTES);
        return p == NULL ? err_no_memory(em) : inet_parse(text, p, em);
    }
    if (v->shape == NULL || v->shape->kind != FORMAT_BINARY) {
        return ERR_OK;
    }
    char *to = arena_alloc(v->run->arena, text.n + 1);
    size_t n;
    if (to == NULL) {
        return err_no_memory(em);
    }
    if (!base64_decode(text, to, &n)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Illegal base64 character %x", (uint8_t)text.p[n]);
    }
    *out = str_mk(to, n);
    return ERR_OK;
}

enum err values_parse(struct values *v, const struct json *given, double *out, int64_t *out_i,
                      struct errmsg *em)
{
    struct str text = json_text(given);
    struct instant t;
    bool exact = given->type == JSON_NUMBER && json_i64(given, out_i);
    if (given->type == JSON_NUMBER) {
        *out = json_double(given);
        *out_i = exact ? *out_i : (int64_t)*out;
        return ERR_OK;
    }
    if ((v->kind == SOURCE_DATE || v->kind == SOURCE_RANGE) && v->shape != NULL && v->shape->date != NULL) {
        enum err e =
            date_math(v->shape->date, text, v->run->cx->query.now_ms, v->shape->zone, DATE_FILL_MIN, &t, em);
        e = e == ERR_OK ? instant_to_ms_exact(t, out_i, em) : e;
        *out = e == ERR_OK ? (double)*out_i : 0;
        return e;
    }
    if (v->kind == SOURCE_BOOLEAN) {
        bool b = str_is(text, "true");
        if (!b && !str_is(text, "false")) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Cannot parse boolean [%.*s], expected either [true] or [false]", STR_ARG(text));
        }
        *out = b ? 1 : 0;
        *out_i = b;
        return ERR_OK;
    }
    bool decimal = v->shape != NULL && v->shape->decimal != NULL;
    if (decimal && !decimal_format_parse(v->shape->decimal, text, out)) {
        err_set(em, ERR_QUERY_SYNTAX, "Unparseable number: \"%.*s\"", STR_ARG(text));
        return err_wrap(em, ERR_RUNTIME, "Cannot parse the value [%.*s] using the pattern [%.*s]",
                        STR_ARG(text), STR_ARG(v->shape->pattern));
    }
    if (!decimal && !num_parse_double(text, out)) {
        return jr_bad_double(text, em);
    }
    if (!num_parse_i64(text, out_i)) {
        *out_i = *out >= -0x1p63 && *out < 0x1p63 ? (int64_t)*out : 0;
    }
    return ERR_OK;
}

static enum err bind_missing(struct values *v, struct errmsg *em)
{
    const struct json *m = v->spec->missing;
    if (m == NULL) {
        return ERR_OK;
    }
    v->has_missing = true;
    v->none = false;
    enum err e = ERR_OK;
    if (v->kind == SOURCE_TEXT || v->kind == SOURCE_IP) {
        e = values_term(v, json_text(m), &v->missing_s, em);
    } else if (v->kind == SOURCE_GEO) {
        e = geo_point_of_text(&v->missing_g, json_text(m), true, em);
    } else if (v->kind == SOURCE_RANGE) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Can't apply missing values on a range field");
    } else {
        e = values_parse(v, m, &v->missing_d, &v->missing_i, em);
        v->floating |= e == ERR_OK && fmod(v->missing_d, 1) != 0;
    }
    return e;
}

static enum err check_kind(const struct values *v, const char *called, unsigned takes, struct errmsg *em)
{
    static const char *const types[] = {[VT_STRING] = "string", [VT_LONG] = "long", [VT_DOUBLE] = "double",
                                        [VT_DATE] = "date",     [VT_IP] = "ip",     [VT_BOOLEAN] = "boolean"};
    enum source_kind kind = kind_of_hint(v->spec->value_type, v->kind);
    unsigned given = 1U << kind, own = 1U << v->kind;
    bool numbers = ((given | own) & ~(unsigned)TAKES_NUMERIC) == 0; /* are read as whatever number is said */
    if ((takes & given) != 0 && ((takes & own) != 0 || numbers)) {
        return ERR_OK;
    }
    if (v->field == NULL && v->spec->value_type == VT_NONE) {
        return ERR_OK;
    }
    if (v->field != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Field [%.*s] of type [%s] is not supported for aggregation [%s]",
                       STR_ARG(v->field->path), v->field->class->name, called);
    }
    return v->spec->field.p != NULL ? err_set(em, ERR_ILLEGAL_ARGUMENT,
                                              "unmapped field is not supported for aggregation [%s]", called)
                                    : err_set(em, ERR_ILLEGAL_ARGUMENT,
                                              "Script yielding [%s] is not supported for aggregation [%s]",
                                              types[v->spec->value_type], called);
}

enum err values_supported(const struct values *v, const struct agg *a, unsigned takes, struct errmsg *em)
{
    return check_kind(v, a->type->name, takes, em);
}

enum err values_bind(struct values *v, struct agg_run *r, const struct agg *a, const struct source_spec *s,
                     unsigned takes, enum source_kind otherwise, struct errmsg *em)
{
    return values_bind_called(v, r, a->type->name, s, takes, otherwise, em);
}

enum err values_bind_called(struct values *v, struct agg_run *r, const char *called,
                            const struct source_spec *s, unsigned takes, enum source_kind otherwise,
                            struct errmsg *em)
{
    *v = (struct values){.run = r, .spec = s, .kind = otherwise};
    v->dict = (struct term_dict){.run = r, .lazy = r->cx->shard->view->n_leaves == 1};
    enum err e = ERR_OK;
    if (s->field.p != NULL) {
        v->field = mapping_field_in(r->cx->query.mapping, s->field, r->arena);
        if (v->field != NULL && v->field->class->is_object) {
            v->field = NULL;
        }
        if (v->field != NULL && !kind_of_field(v->field, &v->kind)) {
            return field_refuses_values(v->field, em);
        }
        v->none = v->field == NULL;
        e = v->field != NULL ? check_field(v, em) : ERR_OK;
    }
    if (v->field == NULL) {
        v->kind = kind_of_hint(s->value_type, otherwise);
        v->floating = s->value_type == VT_DOUBLE;
    } else {
        v->floating = field_is_fraction(v->field);
        v->form = v->field->class->form;
        v->nanos = v->field->class->is_nanos;
    }
    if (e == ERR_OK && s->script != NULL && !v->none) {
        v->script_alone = v->field == NULL;
        /* a script may make a fraction of anything, unless it was said what it gives */
        bool number = v->kind == SOURCE_NUMBER || v->kind == SOURCE_DATE || v->kind == SOURCE_BOOLEAN;
        v->floating = number && !(v->script_alone && s->value_type != VT_NONE && s->value_type != VT_DOUBLE);
        e = agg_script_new(&v->script, r, s->script, em);
    }
    e = e == ERR_OK ? make_shape(v, em) : e;
    e = e == ERR_OK ? check_hint(v, em) : e;
    e = e == ERR_OK ? bind_missing(v, em) : e;
    return e == ERR_OK ? check_kind(v, called, takes, em) : e;
}

bool values_extremes(const struct values *v, int64_t *min, int64_t *max)
{
    const struct view *view = v->run->cx->shard->view;
    struct num_column nums;
    *min = INT64_MAX;
    *max = INT64_MIN;
    for (uint32_t i = 0; i < view->n_leaves; i++) {
        const struct seg_field *f = segment_field_of(view->leaves[i].segment, v->field, v->run->arena);
        if (f != NULL && (f->has & SEG_NUMS) != 0) {
            num_column_place(&nums, f);
            *min = MIN_OF(*min, v->nanos ? floor_div(nums.min, 1000000) : nums.min);
            *max = MAX_OF(*max, v->nanos ? floor_div(nums.max, 1000000) : nums.max);
        }
    }
    return *min <= *max;
}

/* ---- segments -------------------------------------------------------------------------------------------------------- */

static bool dict_leaf(struct term_dict *d, const struct seg_field *seg, uint64_t n_ords)
{
    if (d->lazy && d->seg == seg && d->n_ids == n_ords) {
        return true; /* the only segment again: its numbers stand */
    }
    d->seg = seg;
    if (n_ords > d->cap_ids) {
        d->ids = ARENA_ARRAY(d->run->arena, uint32_t, n_ords);
        d->cap_ids = n_ords;
        if (d->ids == NULL) {
            run_no_memory(d->run);
            return false;
        }
    } else if (n_ords > 0) {
        memset(d->ids, 0, (size_t)n_ords * sizeof(*d->ids));
    }
    d->n_ids = n_ords;
    return true;
}

/* Terms of an analysed text by document, out of its postings: counted, then placed. */
static enum err uninvert(struct values *v, struct errmsg *em)
{
    uint32_t docs = v->run->leaf->doc_count;
    uint32_t *starts = ARENA_ARRAY(v->run->arena, uint32_t, (size_t)docs + 2), *ords = NULL;
    if (starts == NULL) {
        return err_no_memory(em);
    }
    uint64_t total = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct term_iter it;
        struct postings p;
        term_iter_init(&it, v->seg);
        while (term_iter_next(&it)) {
            postings_init(&p, v->seg, &it.info, false);
            for (doc_id doc = postings_next(&p); doc < docs; doc = postings_next(&p)) {
                if (pass == 0) {
                    starts[doc + 2]++;
                    total++;
                } else if (starts[doc + 1] < total) {
                    ords[starts[doc + 1]++] = (uint32_t)it.info.ord;
                }
            }
        }
        term_iter_fini(&it);
        if (pass == 0) {
            for (uint32_t d = 2; d <= docs + 1; d++) {
                starts[d] += starts[d - 1];
            }
            ords = ARENA_ARRAY(v->run->arena, uint32_t, total);
            if (ords == NULL) {
                return err_no_memory(em);
            }
        }
    }
    v->inverted_starts = starts;
    v->inverted_ords = ords;
    return ERR_OK;
}

static enum err text_leaf(struct values *v, struct errmsg *em)
{
    uint64_t n_ords = 0;
    v->text_from = TEXT_NONE;
    enum err e = ERR_OK;
    if (v->field->class->constant != NULL) {
        v->text_from = TEXT_INDEX;
    } else if (v->seg == NULL) {
        v->text_from = TEXT_NONE;
    } else if ((v->seg->has & SEG_ORDS) != 0) {
        ord_column_init(&v->ords, v->seg);
        v->text_from = TEXT_ORDS;
        n_ords = v->ords.n_ords;
    } else if ((v->seg->has & SEG_BYTES) != 0) {
        v->text_from = TEXT_BYTES;
    } else if ((v->seg->has & SEG_TERMS) != 0) {
        v->text_from = TEXT_UNINVERTED;
        n_ords = v->seg->n_terms;
        e = uninvert(v, em);
    }
    if (e == ERR_OK && !dict_leaf(&v->dict, v->seg, n_ords)) {
        e = err_no_memory(em);
    }
    return e;
}

enum err values_leaf(struct values *v, struct errmsg *em)
{
    enum err e = ERR_OK;
    if (v->field != NULL) {
        if (v->of != v->run->leaf->segment) { /* the same segment again has the same dictionary */
            v->of = v->run->leaf->segment;
            v->seg = segment_field_of(v->of, v->field, v->run->arena);
        }
        if (v->kind == SOURCE_TEXT || v->kind == SOURCE_IP) {
            e = text_leaf(v, em);
        } else if (v->kind != SOURCE_RANGE) {
            num_column_init(&v->nums, v->seg != NULL && (v->seg->has & SEG_NUMS) != 0 ? v->seg : NULL);
        }
    }
    return e == ERR_OK && v->script != NULL ? agg_script_leaf(v->script, em) : e;
}

/* ---- texts by number ----------------------------------------------------------------------------------------------------- */

static uint32_t text_slot(const struct term_dict *d, struct str text)
{
    uint32_t mask = d->n_slots - 1, at = (uint32_t)hash_str(text) & mask;
    while (d->slots[at] != 0 && !str_eq(d->text[d->slots[at] - 1], text)) {
        at = (at + 1) & mask;
    }
    return at;
}

static bool dict_rehash(struct term_dict *d)
{
    uint32_t n = d->n_slots == 0 ? 64 : d->n_slots * 2;
    uint32_t *slots = ARENA_ARRAY(d->run->arena, uint32_t, n);
    if (slots == NULL || n < d->n_slots) {
        run_no_memory(d->run);
        return false;
    }
    d->slots = slots;
    d->n_slots = n;
    for (uint32_t i = 0; i < d->n; i++) {
        if (d->text[i].p != NULL) {
            slots[text_slot(d, d->text[i])] = i + 1;
        }
    }
    return true;
}

static uint32_t dict_append(struct term_dict *d, struct str text, uint64_t ord)
{
    if (!run_reserve(d->run, &d->text, &d->cap_text, d->n + 1, sizeof(*d->text))
        || (d->lazy && !run_reserve(d->run, &d->ords, &d->cap_ords, d->n + 1, sizeof(*d->ords)))) {
        return NO_BUCKET;
    }
    d->text[d->n] = text;
    if (d->lazy) {
        d->ords[d->n] = ord;
    }
    return d->n++;
}

/* The empty text must not look like one that was not read. */
static struct str values_keep(struct agg_run *r, struct str text)
{
    struct str s = arena_str(r->arena, text);
    if (s.p == NULL) {
        run_no_memory(r);
    }
    return s;
}

uint32_t dict_of_text(struct term_dict *d, struct str text)
{
    struct term_info info;
    if (d->lazy && d->n_ids > 0 && seg_term(d->seg, text, &info) && info.ord < d->n_ids) {
        return dict_of_ord(d, info.ord);
    }
    if ((uint64_t)(d->n + 1) * 2 > d->n_slots && !dict_rehash(d)) {
        return NO_BUCKET;
    }
    uint32_t at = text_slot(d, text);
    if (d->slots[at] != 0) {
        return d->slots[at] - 1;
    }
    struct str kept = values_keep(d->run, text);
    uint32_t id = kept.p != NULL ? dict_append(d, kept, UINT64_MAX) : NO_BUCKET;
    if (id != NO_BUCKET) {
        d->slots[at] = id + 1;
    }
    return id;
}

uint32_t dict_of_ord_slow(struct term_dict *d, uint64_t ord)
{
    uint32_t id;
    if (d->lazy) {
        id = dict_append(d, STR_NULL, ord);
    } else {
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        id = NO_BUCKET;
        if (seg_term_by_ord(d->seg, ord, &b)) {
            id = dict_of_text(d, buf_view(&b));
        } else {
            run_fail(d->run, err_set(&d->run->em, ERR_CORRUPT, "a term of field [%.*s] cannot be read",
                                     STR_ARG(d->seg->name)));
        }
        buf_fini(&b);
    }
    if (id != NO_BUCKET) {
        d->ids[ord] = id + 1;
    }
    return id;
}

struct str dict_text(struct term_dict *d, uint32_t id)
{
    if (d->text[id].p == NULL && d->lazy && d->ords[id] != UINT64_MAX) {
        struct buf b;
        buf_init(&b, NULL, BUF_UNLIMITED);
        if (seg_term_by_ord(d->seg, d->ords[id], &b)) {
            d->text[id] = values_keep(d->run, buf_view(&b));
        } else {
            run_fail(d->run, err_set(&d->run->em, ERR_CORRUPT, "a term of field [%.*s] cannot be read",
                                     STR_ARG(d->seg->name)));
        }
        buf_fini(&b);
    }
    return d->text[id];
}
