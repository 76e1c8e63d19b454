/* What a field's type makes of a term, several terms, a range, existence: MappedFieldType's queries. */
#include "engine/query/build.h"

#include "common/base/coerce.h"
#include "common/base/date_math.h"
#include "common/base/inet.h"
#include "common/base/java_hash.h"
#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/base/settings.h"
#include "common/base/sort_items.h"
#include "engine/query/print.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

const struct field *build_field(const struct builder *b, struct str name)
{
    const struct field *f = mapping_field(b->cx->mapping, name);
    return f == NULL || f->type == FT_OBJECT || f->type == FT_NESTED || f->type == FT_ALIAS ? NULL : f;
}

enum text_support field_text_support(const struct field *f)
{
    switch (f->type) {
    case FT_TEXT:
    case FT_COMPLETION:
        return TEXT_FULL;
    case FT_KEYWORD:
        return TEXT_KEYWORD;
    case FT_GEO_POINT:
    case FT_BINARY:
    case FT_META_SOURCE:
    case FT_META_VERSION:
        return TEXT_NONE;
    default:
        return TEXT_EXACT;
    }
}

static bool is_range_type(enum field_type t)
{
    return t >= FT_INTEGER_RANGE && t <= FT_IP_RANGE;
}

static bool is_term_type(enum field_type t)
{
    return t == FT_TEXT || t == FT_KEYWORD || t == FT_BOOLEAN || t == FT_COMPLETION || t == FT_META_ROUTING
           || t == FT_META_FIELD_NAMES || t == FT_META_IGNORED || t == FT_META_NESTED_PATH;
}

static bool is_date(const struct field *f)
{
    return f->type == FT_DATE || f->type == FT_DATE_NANOS;
}

/* Fields with one value for the whole index. */
static bool constant_value(const struct builder *b, const struct field *f, struct str *value)
{
    switch (f->type) {
    case FT_CONSTANT_KEYWORD:
        *value = f->const_value;
        return true;
    case FT_META_INDEX:
        *value = b->cx->index_name;
        return true;
    case FT_META_TYPE:
        *value = STR("_doc");
        return true;
    default:
        return false;
    }
}

bool index_named(const struct query_context *cx, struct str pattern)
{
    const struct setting *aliases =
        cx->index_settings != NULL ? settings_find(cx->index_settings, STR(INDEX_ALIASES)) : NULL;
    bool named = str_glob(pattern, cx->index_name);
    for (uint32_t i = 0; !named && aliases != NULL && i < aliases->n; i++) {
        named = str_glob(pattern, aliases->items[i]);
    }
    return named;
}

enum err field_constant(struct builder *b, const struct field *f, bool match, struct query **out,
                        struct errmsg *em)
{
    enum err e = match ? qnode_all(b, out, em) : qnode_none(b, out, em, "%s", "");
    if (e == ERR_OK && !match) {
        (*out)->field = f; /* build_dsl() asks whether the whole query is known to be none */
    }
    return e;
}

static enum err must_be_indexed(const struct field *f, struct errmsg *em)
{
    if (f->index || f->path.p[0] == '_' || f->type == FT_BINARY
        || f->type == FT_GEO_POINT) { /* words of their own */
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot search on field [%.*s] since it is not indexed.",
                   STR_ARG(f->path));
}

/* ---- values ---- */

static enum num_type num_type_of_field(enum field_type t)
{
    switch (t) {
    case FT_LONG:
    case FT_META_SEQ_NO:
        return NUM_LONG;
    case FT_FLOAT:
    case FT_HALF_FLOAT:
        return t == FT_FLOAT ? NUM_FLOAT : NUM_HALF_FLOAT;
    case FT_DOUBLE:
        return NUM_DOUBLE;
    default:
        return NUM_INTEGER; /* short and byte too: out of their range, a value is just not found */
    }
}

static bool is_whole(const struct field *f)
{
    return field_type_is_whole(f->type) || f->type == FT_TOKEN_COUNT || f->type == FT_META_SEQ_NO;
}

/* The shortest decimal form of a positive number: digits, least significant first, and the power of ten of the first. */
struct decimal {
    uint8_t digit[32];
    int n, exp;
};

static struct decimal decimal_of(double v)
{
    char text[40];
    struct decimal d = {.n = 0};
    for (int precision = 0; precision < 17; precision++) {
        snprintf(text, sizeof(text), "%.*e", precision, v);
        if (strtod(text, NULL) == v) {
            break;
        }
    }
    char *e = strchr(text, 'e');
    int fraction = 0;
    for (char *at = e - 1; at >= text; at--) {
        if (*at == '.') {
            fraction = d.n;
        } else {
            d.digit[d.n++] = (uint8_t)(*at - '0');
        }
    }
    d.exp = atoi(e + 1) - fraction;
    return d;
}

/* v × factor as exact decimals, rounded once, as BigDecimal does: 1.1 × 100 is 110. */
static double scaled(double v, double factor)
{
    char text[96];
    int digits[64] = {0}, n = 0;
    if (!isfinite(v) || v == 0) {
        return v * factor;
    }
    struct decimal a = decimal_of(fabs(v)), b = decimal_of(fabs(factor));
    for (int i = 0; i < a.n; i++) {
        for (int k = 0; k < b.n; k++) {
            digits[i + k] += a.digit[i] * b.digit[k];
        }
    }
    for (int i = 0; i + 1 < a.n + b.n; i++) {
        digits[i + 1] += digits[i] / 10;
        digits[i] %= 10;
    }
    for (int i = a.n + b.n - 1; i >= 0; i--) {
        text[n++] = (char)('0' + digits[i]);
    }
    snprintf(text + n, sizeof(text) - (size_t)n, "e%d", a.exp + b.exp);
    double product = strtod(text, NULL);
    return (v < 0) != (factor < 0) ? -product : product;
}

/* A bound of a range of whole numbers: one with a decimal part is refused. */
static enum err whole_number(const struct field *f, const struct json *v, int64_t *out, struct errmsg *em)
{
    struct num n;
    double d;
    struct str text = json_text(v);
    enum num_type type = num_type_of_field(f->type);
    if (!num_parse_double(text, &d) && type == NUM_LONG) {
        return jr_bad_double(text, em);
    }
    enum err e = num_of_value(&n, v, type, false, em);
    *out = n.i;
    return e;
}

/* The number that a value is in the field's column; *decimal: a whole-number field got a fraction. */
static enum err field_number(const struct field *f, const struct json *v, bool *decimal, int64_t *out,
                             struct errmsg *em)
{
    struct num n;
    struct str text = json_text(v);
    *decimal = false;
    if (f->type == FT_SCALED_FLOAT) {
        enum err e = num_of_text(&n, text, NUM_DOUBLE, true, em);
        double given;
        if (e == ERR_ILLEGAL_ARGUMENT && num_parse_double(text, &given)) { /* as BigDecimal says it */
            return err_set(
                em, ERR_NUMBER_FORMAT,
                "Character %c is neither a decimal digit number, decimal point, nor \"e\" notation "
                "exponential mark.",
                isnan(given) ? 'N' : 'I');
        }
        if (e == ERR_OK) {
            double d = scaled(n.d, f->scaling_factor);
            *out = num_double_to_i64(floor(d + 0.5));
        }
        return e;
    }
    if (is_whole(f)) {
        double d = 0;
        bool number = num_parse_double(text, &d);
        if (!number && num_type_of_field(f->type) == NUM_LONG) { /* longs are read as doubles first too */
            return jr_bad_double(text, em);
        }
        *decimal = number && fmod(d, 1) != 0;
    }
    enum err e = num_of_value(&n, v, num_type_of_field(f->type), true, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = n.whole ? n.i : f->type == FT_DOUBLE ? num_from_double(n.d) : num_from_float((float)n.d);
    return ERR_OK;
}

enum err field_date(struct builder *b, const struct field *f, struct str text, bool round_up,
                    const struct zone *zone, const struct date_format *format, int64_t *out,
                    struct errmsg *em)
{
    struct instant t;
    enum err e = date_math(format != NULL ? format : f->format, text, b->cx->now_ms, zone,
                           round_up ? DATE_FILL_MAX : DATE_FILL_MIN, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    if (f->type == FT_DATE_NANOS) {
        return instant_to_nanos(t, out, em);
    }
    return instant_to_ms_exact(t, out, em);
}

/* The bytes that a term-based field indexes for a value. */
static enum err term_bytes(struct builder *b, const struct field *f, struct str text, struct str *out,
                           struct errmsg *em)
{
    *out = text;
    if (f->type == FT_BOOLEAN) {
        if (str_is(text, "true")) {
            *out = STR("T");
        } else if (str_is(text, "false")) {
            *out = STR("F");
        } else {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Can't parse boolean value [%.*s], expected [true] or [false]", STR_ARG(text));
        }
        return ERR_OK;
    }
    if (f->type == FT_KEYWORD && f->normalizer != NULL) {
        return analyzer_normalize(f->normalizer, text, b->arena, out, em);
    }
    return ERR_OK;
}

/* ---- nodes of numbers and addresses ---- */

static enum err number_range(struct builder *b, const struct field *f, int64_t lo, int64_t hi, bool point,
                             struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_num_range);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->num.lo = lo;
    q->num.hi = hi;
    q->num.point = point;
    return ERR_OK;
}

static enum err term_range(struct builder *b, const struct field *f, struct str lo, struct str hi, bool lo_in,
                           bool hi_in, struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_term_range);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->term_range.lo = lo;
    q->term_range.hi = hi;
    q->term_range.lo_inclusive = lo_in;
    q->term_range.hi_inclusive = hi_in;
    return ERR_OK;
}

static enum err ip_term(struct builder *b, const struct field *f, struct str text, struct query **out,
                        struct errmsg *em)
{
    uint8_t lo[INET_BYTES], hi[INET_BYTES];
    enum err e;
    if (inet_is_cidr(text)) {
        e = inet_cidr(text, lo, hi, em);
    } else {
        e = inet_parse(text, lo, em);
        memcpy(hi, lo, sizeof(hi));
    }
    if (e != ERR_OK) {
        return e;
    }
    struct str a = arena_str(b->arena, str_mk(lo, sizeof(lo))),
               z = arena_str(b->arena, str_mk(hi, sizeof(hi)));
    if (a.p == NULL || z.p == NULL) {
        return err_no_memory(em);
    }
    return term_range(b, f, a, z, true, true, out, em);
}

/* ---- term ---- */

static enum err unsearchable(struct builder *b, const struct field *f, struct errmsg *em)
{
    switch (f->type) {
    case FT_GEO_POINT:
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "Geometry fields do not support exact searching, use dedicated geometry queries instead: [%.*s]",
            STR_ARG(f->path));
    case FT_BINARY:
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Binary fields do not support searching");
    case FT_META_VERSION:
        return err_query_shard(b, em, "VersionField field [_version] is not searchable");
    default:
        return err_query_shard(b, em, "The [%.*s] field is not searchable", STR_ARG(f->path));
    }
}

static enum err number_term(struct builder *b, const struct field *f, const struct json *v,
                            struct query **out, struct errmsg *em)
{
    bool decimal;
    int64_t n;
    enum err e = field_number(f, v, &decimal, &n, em);
    if (e != ERR_OK && !decimal) {
        return e;
    }
    if (decimal) {
        struct buf shown;
        err_clear(em); /* whether it is a number of the type at all is not looked at: "1.5d", NaN */
        buf_init(&shown, NULL, BUF_UNLIMITED);
        num_value_print(v, &shown);
        e = qnode_none(b, out, em, "Value [%.*s] has a decimal part", STR_ARG(buf_view(&shown)));
        buf_fini(&shown);
        return e;
    }
    return number_range(b, f, n, n, true, out, em);
}

static enum err ids_term(struct builder *b, const struct field *f, const struct str *v, uint32_t n,
                         struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, f->type == FT_META_ID ? &q_ids : &q_terms);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->terms.v = v;
    q->terms.n = n;
    return ERR_OK;
}

enum err field_term(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                    struct errmsg *em)
{
    struct str text = json_text(v), term;
    if (constant_value(b, f, &term)) {
        return field_constant(
            b, f,
            term.p != NULL && (f->type == FT_META_INDEX ? index_named(b->cx, text) : str_eq(text, term)), out,
            em);
    }
    enum err e = must_be_indexed(f, em);
    if (e != ERR_OK) {
        return e;
    }
    if (is_term_type(f->type)) {
        e = term_bytes(b, f, text, &term, em);
        return e == ERR_OK ? qnode_term(b, f, term, out, em) : e;
    }
    if (field_type_is_numeric(f->type) || f->type == FT_TOKEN_COUNT || f->type == FT_META_SEQ_NO) {
        return number_term(b, f, v, out, em);
    }
    if (is_date(f) || is_range_type(f->type)) {
        struct range_bounds r = {.from = v, .to = v, .from_inclusive = true, .to_inclusive = true};
        return field_range(b, f, &r, out, em);
    }
    if (f->type == FT_IP) {
        return ip_term(b, f, text, out, em);
    }
    if (f->type == FT_META_ID) {
        struct str *id = ARENA_NEW(b->arena, struct str);
        if (id == NULL) {
            return err_no_memory(em);
        }
        if (text.n == 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Ids can't be empty");
        }
        *id = text;
        return ids_term(b, f, id, 1, out, em);
    }
    return unsearchable(b, f, em);
}

enum err field_term_text(struct builder *b, const struct field *f, struct str text, struct query **out,
                         struct errmsg *em)
{
    struct json v = json_mk_str(text);
    return field_term(b, f, &v, out, em);
}

enum err field_term_nocase(struct builder *b, const struct field *f, const struct json *v, struct query **out,
                           struct errmsg *em)
{
    struct str text = json_text(v), term;
    if (constant_value(b, f, &term)) {
        return field_constant(b, f, term.p != NULL && str_eq_nocase(text, term), out, em);
    }
    if (!is_term_type(f->type)) {
        return err_query_shard(
            b, em, "[%.*s] field which is of type [%s], does not support case insensitive term queries",
            STR_ARG(f->path), field_shown_type(f));
    }
    enum err e = must_be_indexed(f, em);
    if (e == ERR_OK) {
        e = term_bytes(b, f, text, &term, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct query *q = *out = qnode_new(b, &q_wildcard);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->multi.pattern = term;
    q->multi.case_insensitive = q->multi.exact = true;
    return ERR_OK;
}

/* ---- terms ---- */

static int cmp_i64(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static int cmp_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static enum err number_terms(struct builder *b, const struct field *f, const struct json *const *v,
                             uint32_t n, struct query **out, struct errmsg *em)
{
    int64_t *nums = ARENA_ARRAY(b->arena, int64_t, n);
    uint32_t kept = 0;
    if (nums == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        bool decimal;
        enum err e = field_number(f, v[i], &decimal, &nums[kept], em);
        if (e != ERR_OK && !decimal) {
            return e;
        }
        kept += decimal ? 0 : 1;
    }
    err_clear(em);
    if (kept == 0) {
        return qnode_none(b, out, em, "All values have a decimal part");
    }
    sort_items(nums, kept, sizeof(*nums), cmp_i64);
    uint32_t distinct = 1;
    for (uint32_t i = 1; i < kept; i++) {
        if (nums[i] != nums[distinct - 1]) {
            nums[distinct++] = nums[i];
        }
    }
    struct query *q = *out = qnode_new(b, &q_num_set);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->num.v = nums;
    q->num.n = distinct;
    return ERR_OK;
}

static uint32_t sorted_distinct(struct str *v, uint32_t n)
{
    uint32_t distinct = MIN_OF(n, 1U);
    sort_items(v, n, sizeof(*v), cmp_str);
    for (uint32_t i = 1; i < n; i++) {
        if (!str_eq(v[i], v[distinct - 1])) {
            v[distinct++] = v[i];
        }
    }
    return distinct;
}

static enum err string_terms(struct builder *b, const struct field *f, const struct json *const *v,
                             uint32_t n, struct query **out, struct errmsg *em)
{
    struct str *terms = ARENA_ARRAY(b->arena, struct str, n);
    if (terms == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = term_bytes(b, f, json_text(v[i]), &terms[i], em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ids_term(b, f, terms, sorted_distinct(terms, n), out, em);
}

/* Addresses as one set of points; one without an index has none. */
static enum err ip_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                         struct query **out, struct errmsg *em)
{
    struct str *terms = ARENA_ARRAY(b->arena, struct str, n);
    uint8_t(*bytes)[INET_BYTES] = arena_alloc(b->arena, (size_t)n * sizeof(*bytes));
    if (terms == NULL || bytes == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        enum err e = inet_parse(json_text(v[i]), bytes[i], em);
        if (e != ERR_OK) {
            return e;
        }
        terms[i] = str_mk(bytes[i], INET_BYTES);
    }
    return f->index ? ids_term(b, f, terms, sorted_distinct(terms, n), out, em)
                    : qnode_none(b, out, em, "%s", "");
}

static bool has_cidr(const struct json *const *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (inet_is_cidr(json_text(v[i]))) {
            return true;
        }
    }
    return false;
}

enum err field_terms(struct builder *b, const struct field *f, const struct json *const *v, uint32_t n,
                     struct query **out, struct errmsg *em)
{
    struct str value;
    if (constant_value(b, f, &value)) {
        bool match = false;
        for (uint32_t i = 0; i < n; i++) {
            match = match
                    || (value.p != NULL
                        && (f->type == FT_META_INDEX ? index_named(b->cx, json_text(v[i]))
                                                     : str_eq(json_text(v[i]), value)));
        }
        return field_constant(b, f, match, out, em);
    }
    if (f->type == FT_IP && !has_cidr(v, n)) {
        return ip_terms(b, f, v, n, out, em);
    }
    enum err e = must_be_indexed(f, em);
    if (e != ERR_OK) {
        return e;
    }
    if (is_term_type(f->type) || f->type == FT_META_ID) {
        return string_terms(b, f, v, n, out, em);
    }
    if (field_type_is_numeric(f->type) || f->type == FT_TOKEN_COUNT || f->type == FT_META_SEQ_NO) {
        return number_terms(b, f, v, n, out, em);
    }
    struct bool_build bb = {0};
    struct query *any;
    for (uint32_t i = 0; i < n; i++) {
        struct query *one;
        e = field_term(b, f, v[i], &one, em);
        if (e == ERR_OK) {
            e = bool_add(b, &bb, OCCUR_SHOULD, one, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    e = bool_done(b, &bb, &any, em);
    return e == ERR_OK ? qnode_constant(b, any, out, em) : e;
}

/* ---- range ---- */

static enum err whole_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                             bool *none, struct errmsg *em)
{
    int64_t min = num_type_of_field(f->type) == NUM_LONG ? INT64_MIN : INT32_MIN;
    int64_t max = num_type_of_field(f->type) == NUM_LONG ? INT64_MAX : INT32_MAX;
    bool decimal;
    double d = 0;
    *lo = min;
    *hi = max;
    if (r->from != NULL) {
        enum err e = field_number(f, r->from, &decimal, lo, em);
        if (e != ERR_OK) {
            return e;
        }
        num_parse_double(json_text(r->from), &d);
        if (decimal ? d > 0 : !r->from_inclusive) {
            *none = *none || *lo == max;
            *lo += *lo == max ? 0 : 1;
        }
    }
    if (r->to != NULL) {
        enum err e = field_number(f, r->to, &decimal, hi, em);
        if (e != ERR_OK) {
            return e;
        }
        num_parse_double(json_text(r->to), &d);
        if (decimal ? d < 0 : !r->to_inclusive) {
            *none = *none || *hi == min;
            *hi -= *hi == min ? 0 : 1;
        }
    }
    return ERR_OK;
}

/* The smallest half precision number that is not below v, or the greatest that is not above it. */
static float half_bound(float v, bool up)
{
    uint16_t h = half_of_float(v);
    float near = half_to_float(h);
    if (isnan(v) || (up ? near >= v : near <= v)) {
        return near;
    }
    int32_t s = (h & 0x8000) != 0 ? -(int32_t)(h & 0x7FFF) - 1 : (int32_t)h;
    s += up ? 1 : -1;
    return half_to_float(s < 0 ? (uint16_t)(0x8000 | (uint16_t)(-s - 1)) : (uint16_t)s);
}

/* Bounds of fractions; exclusive ones move to the neighbour, those of half precision to a number that it has. */
static enum err fraction_bound(const struct field *f, const struct json *v, bool inclusive, bool lower,
                               int64_t *out, struct errmsg *em)
{
    struct num n;
    enum err e = f->type == FT_HALF_FLOAT ? num_of_text(&n, json_text(v), NUM_HALF_FLOAT, true, em) : ERR_OK;
    e = e == ERR_OK ? num_of_text(&n, json_text(v), f->type == FT_DOUBLE ? NUM_DOUBLE : NUM_FLOAT, true, em)
                    : e;
    if (e != ERR_OK) {
        return e;
    }
    if (f->type == FT_DOUBLE) {
        *out = num_from_double(n.d) + (inclusive ? 0 : lower ? 1 : -1);
        return ERR_OK;
    }
    float x = (float)n.d;
    if (!inclusive && x == 0) { /* the two zeros are neighbours */
        x = lower == (signbit(x) != 0) ? -x : nextafterf(x, lower ? INFINITY : -INFINITY);
    } else if (!inclusive) {
        x = nextafterf(x, lower ? INFINITY : -INFINITY);
    }
    *out = num_from_float(f->type == FT_HALF_FLOAT ? half_bound(x, lower) : x);
    return ERR_OK;
}

static enum err fraction_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                                struct errmsg *em)
{
    bool dbl = f->type == FT_DOUBLE;
    enum err e = ERR_OK;
    *lo = dbl ? num_from_double(-INFINITY) : num_from_float(-INFINITY);
    *hi = dbl ? num_from_double(INFINITY) : num_from_float(INFINITY);
    if (r->from != NULL) {
        e = fraction_bound(f, r->from, r->from_inclusive, true, lo, em);
    }
    if (e == ERR_OK && r->to != NULL) {
        e = fraction_bound(f, r->to, r->to_inclusive, false, hi, em);
    }
    return e;
}

/* scaled_float: bounds move inwards to whole scaled numbers. */
static enum err scaled_bounds(const struct field *f, const struct range_bounds *r, int64_t *lo, int64_t *hi,
                              struct errmsg *em)
{
    struct num n;
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (r->from != NULL) {
        enum err e = num_of_text(&n, json_text(r->from), NUM_DOUBLE, true, em);
        if (e != ERR_OK) {
            return e;
        }
        double d = scaled(n.d, f->scaling_factor);
        *lo = num_double_to_i64(ceil(r->from_inclusive ? d : nextafter(d, INFINITY)));
    }
    if (r->to != NULL) {
        enum err e = num_of_text(&n, json_text(r->to), NUM_DOUBLE, true, em);
        if (e != ERR_OK) {
            return e;
        }
        double d = scaled(n.d, f->scaling_factor);
        *hi = num_double_to_i64(floor(r->to_inclusive ? d : nextafter(d, -INFINITY)));
    }
    return ERR_OK;
}

/* The instants that are given, rounded as exclusive ones are where they are exclusive. */
static enum err date_ends(struct builder *b, const struct field *f, const struct range_bounds *r, int64_t *lo,
                          int64_t *hi, struct errmsg *em)
{
    enum err e = ERR_OK;
    *lo = INT64_MIN;
    *hi = INT64_MAX;
    if (r->from != NULL) {
        e = field_date(b, f, json_text(r->from), !r->from_inclusive, r->zone, r->format, lo, em);
    }
    if (e == ERR_OK && r->to != NULL) {
        e = field_date(b, f, json_text(r->to), r->to_inclusive, r->zone, r->format, hi, em);
    }
    return e;
}

enum err field_date_bounds(struct builder *b, const struct field *f, const struct range_bounds *r,
                           int64_t *lo, int64_t *hi, struct errmsg *em)
{
    enum err e = date_ends(b, f, r, lo, hi, em);
    if (e == ERR_OK && r->from != NULL) {
        *lo += r->from_inclusive || *lo == INT64_MAX ? 0 : 1; /* the last millisecond that there is */
    }
    if (e == ERR_OK && r->to != NULL) {
        *hi -= r->to_inclusive || *hi == INT64_MIN ? 0 : 1;
    }
    return e;
}

static enum err ip_bounds(const struct range_bounds *r, uint8_t lo[INET_BYTES], uint8_t hi[INET_BYTES],
                          bool *none, struct errmsg *em)
{
    memset(lo, 0, INET_BYTES);
    memset(hi, 0xFF, INET_BYTES);
    if (r->from != NULL) {
        enum err e = inet_parse(json_text(r->from), lo, em);
        if (e != ERR_OK) {
            return e;
        }
        *none = *none || (!r->from_inclusive && !inet_next(lo));
    }
    if (r->to != NULL) {
        enum err e = inet_parse(json_text(r->to), hi, em);
        if (e != ERR_OK) {
            return e;
        }
        *none = *none || (!r->to_inclusive && !inet_prev(hi));
    }
    return ERR_OK;
}

static enum err ip_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                         struct query **out, struct errmsg *em)
{
    uint8_t lo[INET_BYTES], hi[INET_BYTES];
    bool none = false;
    enum err e = ip_bounds(r, lo, hi, &none, em);
    if (e != ERR_OK) {
        return e;
    }
    if (none) {
        return qnode_none(b, out, em, "%s", "");
    }
    struct str a = arena_str(b->arena, str_mk(lo, sizeof(lo))),
               z = arena_str(b->arena, str_mk(hi, sizeof(hi)));
    if (a.p == NULL || z.p == NULL) {
        return err_no_memory(em);
    }
    return term_range(b, f, a, z, true, true, out, em);
}

/* Bounds in the wrong order are a mistake of the request; those that exclusion leaves nothing between match nothing. */
static enum err check_order(const struct field *f, const struct range_bounds *r, const int64_t dates[2],
                            bool wrong, struct errmsg *em)
{
    if (!wrong || r->from == NULL || r->to == NULL) {
        return ERR_OK;
    }
    struct buf texts[2];
    const struct json *bounds[2] = {r->from, r->to};
    uint8_t address[INET_BYTES];
    for (int i = 0; i < 2; i++) {
        double d;
        struct str given = json_text(bounds[i]);
        buf_init(&texts[i], NULL, BUF_UNLIMITED);
        if (f->type == FT_FLOAT_RANGE && num_parse_double(given, &d)) {
            num_put_float(&texts[i], (float)d);
        } else if (f->type == FT_DOUBLE_RANGE && num_parse_double(given, &d)) {
            num_put_double(&texts[i], d);
        } else if (f->type == FT_IP_RANGE && inet_parse(given, address, NULL) == ERR_OK) {
            buf_char(&texts[i], '/');
            query_print_address(address, &texts[i]);
        } else if (f->type == FT_DATE_RANGE) {
            buf_printf(&texts[i], "%lld", (long long)dates[i]);
        } else {
            buf_str(&texts[i], given);
        }
    }
    enum err e =
        err_set(em, ERR_ILLEGAL_ARGUMENT, "Range query `from` value (%.*s) is greater than `to` value (%.*s)",
                STR_ARG(buf_view(&texts[0])), STR_ARG(buf_view(&texts[1])));
    buf_fini(&texts[0]);
    buf_fini(&texts[1]);
    return e;
}

static enum err range_bounds_of(struct builder *b, const struct field *f, const struct range_bounds *r,
                                struct query *q, bool *none, struct errmsg *em)
{
    struct field value = *f; /* the same field as if it held single values */
    int64_t *lo = &q->range_field.lo, *hi = &q->range_field.hi;
    enum err e;
    switch (f->type) {
    case FT_IP_RANGE:
        e = ip_bounds(r, q->range_field.ip_lo, q->range_field.ip_hi, none, em);
        *none = *none || memcmp(q->range_field.ip_lo, q->range_field.ip_hi, INET_BYTES) > 0;
        return e;
    case FT_DATE_RANGE:
        value.type = FT_DATE;
        e = field_date_bounds(b, &value, r, lo, hi, em);
        break;
    case FT_FLOAT_RANGE:
    case FT_DOUBLE_RANGE:
        value.type = f->type == FT_FLOAT_RANGE ? FT_FLOAT : FT_DOUBLE;
        e = fraction_bounds(&value, r, lo, hi, em);
        break;
    default:
        value.type = f->type == FT_INTEGER_RANGE ? FT_INTEGER : FT_LONG;
        e = r->from != NULL ? whole_number(&value, r->from, lo, em) : ERR_OK;
        e = e == ERR_OK && r->to != NULL ? whole_number(&value, r->to, hi, em) : e;
        e = e == ERR_OK ? whole_bounds(&value, r, lo, hi, none, em) : e;
    }
    *none = *none || *lo > *hi;
    return e;
}

/* Range fields: the bounds are values of the fields' own type. */
static enum err range_of_ranges(struct builder *b, const struct field *f, const struct range_bounds *r,
                                struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_range_field);
    if (q == NULL) {
        return err_no_memory(em);
    }
    struct range_bounds closed = *r;
    struct field date = *f;
    bool none = false, wrong = false;
    q->field = f;
    q->field_name = f->path;
    q->range_field.relation = (int)r->relation;
    closed.from_inclusive = closed.to_inclusive = true;
    enum err e;
    if (f->type == FT_DATE_RANGE) { /* an exclusive end is rounded as such before the ends are compared */
        date.type = FT_DATE;
        e = date_ends(b, &date, r, &q->range_field.lo, &q->range_field.hi, em);
        wrong = q->range_field.lo > q->range_field.hi;
    } else {
        e = range_bounds_of(b, f, &closed, q, &wrong, em);
    }
    if (e == ERR_OK) {
        e = check_order(f, r, (int64_t[2]){q->range_field.lo, q->range_field.hi}, wrong, em);
    }
    if (e == ERR_OK) {
        e = range_bounds_of(b, f, r, q, &none, em);
    }
    return e == ERR_OK && none ? qnode_none(b, out, em, "%s", "") : e;
}

static enum err text_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                           struct query **out, struct errmsg *em)
{
    struct str lo = STR_NULL, hi = STR_NULL;
    enum err e = ERR_OK;
    if (r->from != NULL) {
        e = term_bytes(b, f, json_text(r->from), &lo, em);
        lo.p = lo.p != NULL ? lo.p : "";
    }
    if (e == ERR_OK && r->to != NULL) {
        e = term_bytes(b, f, json_text(r->to), &hi, em);
        hi.p = hi.p != NULL ? hi.p : "";
    }
    return e == ERR_OK ? term_range(b, f, lo, hi, r->from_inclusive, r->to_inclusive, out, em) : e;
}

/* The one type that there is lies within the bounds, or nothing does. */
static enum err type_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                           struct query **out, struct errmsg *em)
{
    int low = r->from != NULL ? str_cmp(STR("_doc"), json_text(r->from)) : 1;
    int high = r->to != NULL ? str_cmp(STR("_doc"), json_text(r->to)) : -1;
    bool within =
        (low > 0 || (low == 0 && r->from_inclusive)) && (high < 0 || (high == 0 && r->to_inclusive));
    return field_constant(b, f, within, out, em);
}

enum err field_range(struct builder *b, const struct field *f, const struct range_bounds *r,
                     struct query **out, struct errmsg *em)
{
    int64_t lo, hi;
    bool none = false;
    enum err e = ERR_OK;
    *out = NULL;
    if (is_date(f) && !f->index) { /* no points: nothing can lie within, and that is where it ends */
        return qnode_none(b, out, em, "%s", "");
    }
    if (f->type == FT_META_TYPE) {
        return type_range(b, f, r, out, em);
    }
    e = must_be_indexed(f, em);
    if (e != ERR_OK) {
        return e;
    }
    if (is_range_type(f->type)) {
        return range_of_ranges(b, f, r, out, em);
    }
    if (is_term_type(f->type) && f->type != FT_COMPLETION && f->type != FT_META_FIELD_NAMES) {
        return text_range(b, f, r, out, em);
    }
    if (f->type == FT_IP) {
        return ip_range(b, f, r, out, em);
    }
    if (is_date(f)) {
        e = field_date_bounds(b, f, r, &lo, &hi, em);
    } else if (is_whole(f)) {
        e = whole_bounds(f, r, &lo, &hi, &none, em);
    } else if (f->type == FT_SCALED_FLOAT) {
        e = scaled_bounds(f, r, &lo, &hi, em);
    } else if (field_type_is_numeric(f->type)) {
        e = fraction_bounds(f, r, &lo, &hi, em);
    } else {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Field [%.*s] of type [%s] does not support range queries",
                       STR_ARG(f->path), field_shown_type(f));
    }
    if (e != ERR_OK) {
        return e;
    }
    return none ? qnode_none(b, out, em, "%s", "") : number_range(b, f, lo, hi, false, out, em);
}

/* ---- exists ---- */

static enum err exists_node(struct builder *b, const struct field *f, struct query **out, struct errmsg *em)
{
    struct query *q;
    if (f->type == FT_META_SOURCE) {
        return err_query_shard(b, em, "The _source field is not searchable");
    }
    if (f->type == FT_META_DOC_COUNT || f->type == FT_META_FIELD_NAMES) {
        return err_query_shard(b, em, "Field [%.*s] of type [%.*s] does not support exists queries",
                               STR_ARG(f->path), STR_ARG(f->path));
    }
    if (f->type == FT_META_ID || f->type == FT_META_TYPE || f->type == FT_META_INDEX
        || f->type == FT_META_SEQ_NO || f->type == FT_META_VERSION) {
        return qnode_all(b, out, em);
    }
    if (f->type == FT_CONSTANT_KEYWORD) {
        return field_constant(b, f, f->const_value.p != NULL, out, em);
    }
    /* These have terms and nothing else: any term will do. */
    bool terms_alone = f->type == FT_META_IGNORED || f->type == FT_META_ROUTING;
    q = *out = qnode_new(b, terms_alone ? &q_term_range : &q_exists);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    return ERR_OK;
}

static struct str path_of(const void *item)
{
    return (*(const struct field *const *)item)->path;
}

void fields_order(const struct field **fields, size_t n)
{
    java_map_sort(fields, n, sizeof(*fields), path_of, java_map_buckets(n));
}

enum err build_exists(struct builder *b, struct str pattern, struct query **out, struct errmsg *em)
{
    const struct field **fields = NULL, *direct = mapping_field(b->cx->mapping, pattern);
    size_t n = 0;
    struct str like = pattern;
    bool object = direct != NULL && (direct->type == FT_OBJECT || direct->type == FT_NESTED);
    const struct field *count = mapping_field(b->cx->mapping, STR("_doc_count"));
    if (!object && count != NULL && str_find(pattern, '*', 0) != SIZE_MAX && str_glob(pattern, count->path)) {
        struct query *none;
        return exists_node(b, count, &none, em); /* refused */
    }
    if (object) {
        like = arena_printf(b->arena, "%.*s.*", STR_ARG(pattern));
    }
    if (like.p == NULL || !mapping_match(b->cx->mapping, like, b->arena, &fields, &n)) {
        return err_no_memory(em);
    }
    if (n == 0) {
        return qnode_none(b, out, em, "unmapped field:%.*s", STR_ARG(pattern));
    }
    fields_order(fields, n);
    struct bool_build bb = {0};
    struct query *one = NULL;
    for (size_t i = 0; i < n; i++) {
        if (fields[i]->type == FT_ALIAS) {
            fields[i] = fields[i]->alias_of;
        }
        enum err e = exists_node(b, fields[i], &one, em);
        if (e == ERR_OK && n > 1 && !object) { /* each is a query of its own, under the whole one */
            e = qnode_constant(b, one, &one, em);
        }
        if (e == ERR_OK) {
            e = bool_add(b, &bb, OCCUR_SHOULD, one, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (n > 1 || object) {
        enum err e = bool_done(b, &bb, &one, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return qnode_constant(b, one, out, em);
}
