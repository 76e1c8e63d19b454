/* One value of a field: text into terms, numbers, points. */
#include "common/base/base64.h"
#include "common/base/coerce.h"
#include "common/base/geo.h"
#include "common/base/inet.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/utf8.h"
#include "engine/mapping/document_int.h"

#include <math.h>

static enum err no_room(struct doc_parser *p)
{
    return err_no_memory(p->em);
}

/* A malformed value of a field that ignores them. */
static enum err ignore(struct doc_parser *p, const struct field *f)
{
    if (p->em != NULL) {
        err_clear(p->em);
    }
    return doc_ignore(p, f) ? ERR_OK : no_room(p);
}

static bool is_container(const struct json *v)
{
    return v->type == JSON_OBJECT || v->type == JSON_ARRAY;
}

static bool may_ignore(const struct field *f, const struct json *v, enum err e)
{
    return f->ignore_malformed && e != ERR_NO_MEMORY && !is_container(v);
}

/* ---- exact terms ---- */

static enum err keyword_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e == ERR_OK && s.p == NULL && f->null_value != NULL) {
        s = f->null_value->s;
    }
    if (e != ERR_OK || s.p == NULL || (s.n > f->ignore_above && utf16_length(s) > f->ignore_above)) {
        return e;
    }
    if (f->normalizer != NULL) {
        e = analyzer_normalize(f->normalizer, s, p->arena, &s, p->em);
    }
    if (e != ERR_OK || (!f->index && !f->store && !f->doc_values)) {
        return e;
    }
    struct doc_value *to = doc_add(p, f, DOC_TERM);
    if (to == NULL) {
        return no_room(p);
    }
    to->bytes = s;
    return ERR_OK;
}

static enum err constant_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s.p == NULL) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "[constant_keyword] field [%.*s] doesn't accept [null] values", STR_ARG(f->path));
    }
    if (f->const_value.p != NULL) {
        return str_eq(f->const_value, s) ? ERR_OK
                                         : err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                                                   "[constant_keyword] field [%.*s] only accepts values that "
                                                   "are equal to the value defined in "
                                                   "the mappings [%.*s], but got [%.*s]",
                                                   STR_ARG(f->path), STR_ARG(f->const_value), STR_ARG(s));
    }
    struct json *def = ARENA_NEW(p->arena, struct json);
    if (def == NULL || !json_copy(def, f->def, p->arena)
        || !json_put(def, p->arena, STR("value"), json_mk_str(s))) {
        return no_room(p);
    }
    return doc_added(p, f->path, def) ? ERR_OK : no_room(p);
}

static enum err boolean_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    bool on = false;
    if (v->type == JSON_NULL) {
        if (f->null_value == NULL) {
            return ERR_OK;
        }
        on = f->null_value->b;
    } else if (v->type == JSON_BOOL) {
        on = v->b;
    } else if (v->type != JSON_STRING) {
        return err_set(p->em, ERR_JSON, "Current token (%s) not of boolean type", jr_token(v));
    } else if (v->s.n > 0 && !num_parse_bool(v->s, &on)) {
        return err_set(p->em, ERR_ILLEGAL_ARGUMENT,
                       "Failed to parse value [%.*s] as only [true] or [false] are allowed.", STR_ARG(v->s));
    }
    struct doc_value *to;
    if (f->index || f->store) {
        to = doc_add(p, f, DOC_TERM);
        if (to == NULL) {
            return no_room(p);
        }
        to->bytes = on ? STR("T") : STR("F");
        to->to_column = false;
    }
    if (f->doc_values) {
        to = doc_add(p, f, DOC_NUM);
        if (to == NULL) {
            return no_room(p);
        }
        to->num = on ? 1 : 0;
        to->to_index = to->to_store = false;
    }
    return ERR_OK;
}

static enum err ip_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    uint8_t address[INET_BYTES];
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    if (s.p == NULL && f->null_value != NULL) {
        s = f->null_value->s;
        if (inet_parse(s, address, NULL) != ERR_OK) {
            return ERR_OK; /* such a null_value counts as none */
        }
    }
    if (s.p == NULL) {
        return ERR_OK;
    }
    e = inet_parse(s, address, p->em);
    if (e != ERR_OK) {
        return may_ignore(f, v, e) ? ignore(p, f) : e;
    }
    struct str bytes = arena_str(p->arena, str_mk(address, sizeof(address)));
    struct doc_value *to = doc_add(p, f, DOC_TERM);
    if (bytes.p == NULL || to == NULL) {
        return no_room(p);
    }
    to->bytes = bytes;
    return ERR_OK;
}

/* ---- numbers ---- */

static const uint8_t num_types[FT_TYPES] = {
    [FT_LONG] = NUM_LONG,
    [FT_INTEGER] = NUM_INTEGER,
    [FT_SHORT] = NUM_SHORT,
    [FT_BYTE] = NUM_BYTE,
    [FT_DOUBLE] = NUM_DOUBLE,
    [FT_FLOAT] = NUM_FLOAT,
    [FT_HALF_FLOAT] = NUM_HALF_FLOAT,
    [FT_SCALED_FLOAT] = NUM_DOUBLE,
};

static enum err add_num(struct doc_parser *p, const struct field *f, int64_t num)
{
    if (!f->index && !f->doc_values && !f->store) {
        return ERR_OK;
    }
    struct doc_value *to = doc_add(p, f, DOC_NUM);
    if (to == NULL) {
        return no_room(p);
    }
    to->num = num;
    return ERR_OK;
}

/* Text to store instead of a value that indexing rounds. */
static bool keep_text(struct doc_parser *p, struct doc_value *v, double a, const double *b)
{
    struct buf text;
    if (!v->field->store) {
        return true;
    }
    buf_init(&text, NULL, KIB);
    if (b != NULL) {
        num_put_double(&text, a);
        buf_z(&text, ", ");
        num_put_double(&text, *b);
    } else {
        num_put_float(&text, (float)a);
    }
    v->stored = arena_str(p->arena, buf_view(&text));
    bool ok = !text.failed && v->stored.p != NULL;
    buf_fini(&text);
    return ok;
}

static int64_t sortable(const struct field *f, const struct num *n)
{
    switch (f->type) {
    case FT_DOUBLE:
        return num_from_double(n->d);
    case FT_FLOAT:
    case FT_HALF_FLOAT:
        return num_from_float((float)n->d);
    case FT_SCALED_FLOAT:
        return field_scaled(f, n->d);
    default:
        return n->i;
    }
}

/* A scaled_float has its own words for a number that is not finite. */
static enum err not_finite(struct doc_parser *p, const struct json *v, enum err e)
{
    double d;
    if (!num_parse_double(json_text(v), &d) || isfinite(d)) {
        return e;
    }
    return err_set(p->em, e, "[scaled_float] only supports finite values, but got [%s]", num_text(d).s);
}

static enum err number_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct num n;
    enum num_type type = (enum num_type)num_types[f->type];
    if (v->type == JSON_NULL || (f->coerce && v->type == JSON_STRING && v->s.n == 0)) {
        if (f->null_value == NULL) {
            return ERR_OK;
        }
        enum err e = num_of_text(&n, f->null_value->s, type, true, p->em);
        return e == ERR_OK ? add_num(p, f, sortable(f, &n)) : e;
    }
    enum err e = num_of_json(&n, v, type, f->coerce, p->text, p->em);
    if (e != ERR_OK) {
        if (f->type
            == FT_SCALED_FLOAT) { /* its mapper keeps no note, and lets through what is a text or a number */
            e = e == ERR_ILLEGAL_ARGUMENT ? not_finite(p, v, e) : e;
            return e == ERR_JSON || !f->ignore_malformed ? e : ERR_OK;
        }
        return may_ignore(f, v, e) ? ignore(p, f) : e;
    }
    e = add_num(p, f, sortable(f, &n));
    double exact;
    if (e == ERR_OK && f->type == FT_HALF_FLOAT && f->store && num_parse_double(json_text(v), &exact)) {
        return keep_text(p, &p->part->v[p->part->n - 1], exact, NULL) ? ERR_OK : no_room(p);
    }
    return e;
}

static enum err parse_date(struct doc_parser *p, const struct field *f, struct str s, int64_t *out)
{
    struct instant t;
    if (f->type == FT_DATE) {
        return date_parse_ms(f->format, s, NULL, out, p->em);
    }
    enum err e = date_parse(f->format, s, NULL, DATE_FILL_MIN, &t, p->em);
    return e == ERR_OK ? instant_to_nanos(t, out, p->em) : e;
}

static enum err date_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    int64_t at;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK || (s.p == NULL && f->null_value == NULL)) {
        return e;
    }
    if (s.p == NULL) {
        struct errmsg *em = p->em;
        p->em = NULL;
        e = parse_date(p, f, f->null_value->s, &at);
        p->em = em;
        return e == ERR_OK ? add_num(p, f, at) : e == ERR_NO_MEMORY ? no_room(p) : ERR_OK;
    }
    e = parse_date(p, f, s, &at);
    if (e != ERR_OK) {
        return may_ignore(f, v, e) ? ignore(p, f) : e;
    }
    return add_num(p, f, at);
}

static enum err token_count_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str s;
    enum err e = doc_text(p, v, &s);
    if (e != ERR_OK) {
        return e;
    }
    int64_t count = 0;
    if (s.p == NULL) {
        return f->null_value == NULL || !num_parse_i64(f->null_value->s, &count) ? ERR_OK
                                                                                 : add_num(p, f, count);
    }
    e = analyzer_run(f->analyzer, s, &p->tokens, p->em);
    for (size_t i = 0; e == ERR_OK && i < p->tokens.n; i++) {
        int32_t inc = p->tokens.v[i].pos_inc;
        count += f->enable_position_increments ? inc : MIN_OF(1, inc);
    }
    count += f->enable_position_increments ? p->tokens.end_pos_inc : 0;
    return e == ERR_OK ? add_num(p, f, count) : e;
}

/* ---- binary ---- */

/* Jackson's MIME-NO-LINEFEEDS: white space between units is skipped, padding is required. */
static bool mime_decode(struct str s, struct arena *arena, struct str *out, bool *room)
{
    char *to = arena_alloc(arena, s.n / 4 * 3 + 3);
    size_t n = 0, digits = 0, pads = 0;
    uint32_t bits = 0;
    *room = to != NULL;
    for (size_t i = 0; to != NULL && i < s.n; i++) {
        int d = base64_digit(s.p[i]);
        if (s.p[i] == '=' && digits >= 2) {
            d = 0;
            pads++;
        } else if ((uint8_t)s.p[i] <= ' ' && digits == 0) {
            continue;
        } else if (d < 0 || pads > 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)d;
        if (++digits == 4) {
            to[n++] = (char)(bits >> 16);
            to[n++] = (char)(bits >> 8);
            to[n++] = (char)bits;
            n -= pads;
            digits = 0;
            bits = 0;
        }
    }
    *out = str_mk(to, n);
    return to != NULL && digits == 0;
}

static enum err binary_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct str bytes;
    bool room = true;
    if ((!f->store && !f->doc_values) || v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_STRING) {
        return err_set(
            p->em, ERR_JSON,
            "Current token (%s) not VALUE_STRING or VALUE_EMBEDDED_OBJECT, can not access as binary",
            json_token_name(v));
    }
    if (!mime_decode(v->s, p->arena, &bytes, &room)) {
        return room ? err_set(p->em, ERR_JSON,
                              "Failed to decode VALUE_STRING as base64 (MIME-NO-LINEFEEDS): illegal text")
                    : no_room(p);
    }
    struct doc_value *to = doc_add(p, f, DOC_BYTES);
    if (to == NULL) {
        return no_room(p);
    }
    to->bytes = bytes;
    return ERR_OK;
}

/* ---- points ---- */

struct geo_sink {
    struct doc_parser *p;
    const struct field *f;
    struct buf hashes; /* what multi-fields read */
    uint32_t n;
};

static enum err on_point(void *self, struct geo_point point, struct errmsg *em)
{
    struct geo_sink *sink = self;
    const struct field *f = sink->f;
    if (f->ignore_malformed) {
        if (!isfinite(point.lat) || !isfinite(point.lon)) {
            return err_set(em, ERR_PARSE, "cannot normalize the point - not a number");
        }
        point = geo_point_normalise(point);
    } else {
        enum err e = geo_point_check(point, f->path, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    struct doc_value *to = doc_add(sink->p, f, DOC_GEO);
    if (to == NULL) {
        return err_no_memory(em);
    }
    to->geo.lat = geo_encode_lat(point.lat);
    to->geo.lon = geo_encode_lon(point.lon);
    if (!keep_text(sink->p, to, point.lat, &point.lon)) {
        return err_no_memory(em);
    }
    if (f->n_multi_fields > 0) {
        char hash[GEOHASH_MAX + 1];
        geohash_encode(point, GEOHASH_MAX, hash);
        buf_z(&sink->hashes, sink->n > 0 ? "," : "");
        buf_z(&sink->hashes, hash);
    }
    sink->n++;
    return ERR_OK;
}

/* Multi-fields read the points' geohashes: one, or "[a,b]". */
static enum err geo_multi_fields(struct geo_sink *sink)
{
    struct doc_parser *p = sink->p;
    enum err e = ERR_OK;
    if (sink->f->n_multi_fields == 0 || sink->n == 0) {
        return e;
    }
    struct str s = arena_printf(p->arena, sink->n > 1 ? "[%.*s]" : "%.*s", STR_ARG(buf_view(&sink->hashes)));
    struct json text = json_mk_str(s);
    if (s.p == NULL || sink->hashes.failed) {
        return no_room(p);
    }
    p->geohashes = true;
    for (uint32_t i = 0; e == ERR_OK && i < sink->f->n_multi_fields; i++) {
        e = doc_parse_field(p, sink->f->multi_fields[i], &text);
    }
    p->geohashes = false;
    return e;
}

static enum err null_point(struct geo_sink *sink)
{
    if (sink->f->null_value == NULL) {
        return ERR_OK;
    }
    struct geo_point point;
    enum err e = geo_point_of_json(&point, sink->f->null_value, true, sink->p->em);
    return e == ERR_OK ? on_point(sink, point, sink->p->em) : e;
}

/* One point that is an item of an array. */
static enum err item_point(struct geo_sink *sink, const struct json *v)
{
    struct geo_point point = {NAN, NAN};
    bool empty = v->type == JSON_ARRAY && v->n == 0;
    enum err e = empty ? ERR_OK : geo_point_of_json(&point, v, sink->f->ignore_z, sink->p->em);
    return e == ERR_OK ? on_point(sink, point, sink->p->em) : e;
}

/* *rest is where reading stopped: behind the item of an array that was malformed. */
static enum err read_points(struct geo_sink *sink, const struct json *v, uint32_t *rest)
{
    struct doc_parser *p = sink->p;
    *rest = UINT32_MAX;
    if (json_is_broken(v)) {
        return doc_broken(p);
    }
    if (v->type == JSON_NULL) {
        return null_point(sink);
    }
    if (v->type != JSON_ARRAY || v->n == 0 || v->items[0].type == JSON_NUMBER) {
        return geo_points_of_json(v, sink->f->ignore_z, on_point, sink, p->em);
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        *rest = i + 1;
        e = json_is_broken(&v->items[i]) ? doc_broken(p) : item_point(sink, &v->items[i]);
    }
    return e;
}

/* Elasticsearch's parser goes on behind the malformed item, and takes what is left for values of their own.
 */
static enum err ignore_point(struct doc_parser *p, const struct field *f, const struct json *v, uint32_t rest)
{
    enum err e = ignore(p, f);
    for (uint32_t i = rest; e == ERR_OK && v->type == JSON_ARRAY && i < v->n; i++) {
        e = doc_geo_value(p, f, &v->items[i]);
    }
    return e;
}

enum err doc_geo_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    struct geo_sink sink = {.p = p, .f = f};
    size_t before = p->part->n;
    uint32_t rest;
    if (json_is_broken(v) && !v->b) {
        return doc_broken(p);
    }
    buf_init(&sink.hashes, p->arena->alloc, BUF_UNLIMITED);
    enum err e = read_points(&sink, v, &rest);
    if (e == ERR_OK) {
        e = geo_multi_fields(&sink);
    }
    buf_fini(&sink.hashes);
    if (e == ERR_OK || e == ERR_NO_MEMORY) {
        return e;
    }
    if (f->ignore_malformed) {
        p->part->n = before;
        return ignore_point(p, f, v, rest);
    }
    return err_wrap(p->em, ERR_MAPPER_PARSING, "failed to parse field [%.*s] of type [geo_point]",
                    STR_ARG(f->path));
}

/* ---- by type ---- */

enum err doc_field_value(struct doc_parser *p, const struct field *f, const struct json *v)
{
    switch (f->type) {
    case FT_TEXT:
        return doc_text_value(p, f, v);
    case FT_KEYWORD:
        return keyword_value(p, f, v);
    case FT_CONSTANT_KEYWORD:
        return constant_value(p, f, v);
    case FT_LONG:
    case FT_INTEGER:
    case FT_SHORT:
    case FT_BYTE:
    case FT_DOUBLE:
    case FT_FLOAT:
    case FT_HALF_FLOAT:
    case FT_SCALED_FLOAT:
        return number_value(p, f, v);
    case FT_BOOLEAN:
        return boolean_value(p, f, v);
    case FT_DATE:
    case FT_DATE_NANOS:
        return date_value(p, f, v);
    case FT_IP:
        return ip_value(p, f, v);
    case FT_BINARY:
        return binary_value(p, f, v);
    case FT_TOKEN_COUNT:
        return token_count_value(p, f, v);
    default:
        return doc_range_value(p, f, v);
    }
}
