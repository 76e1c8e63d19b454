#include "common/base/settings.h"
#include "common/base/arena_list.h"
#include "common/base/coerce.h"

#include "common/base/num.h"

#include <math.h>

void settings_init(struct settings *s, struct arena *arena)
{
    *s = (struct settings){.arena = arena};
}

/* Index of the first key that is not below `key`. */
static size_t lower_bound(const struct settings *s, struct str key)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(s->v[mid].key, key) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

const struct setting *settings_find(const struct settings *s, struct str key)
{
    size_t at = lower_bound(s, key);
    return at < s->n && str_eq(s->v[at].key, key) ? &s->v[at] : NULL;
}

/* The slot of `key`, made where absent; NULL: no memory. */
static struct setting *slot(struct settings *s, struct str key)
{
    size_t at = lower_bound(s, key);
    if (at < s->n && str_eq(s->v[at].key, key)) {
        return &s->v[at];
    }
    struct setting *v = arena_grow(s->arena, s->v, s->n, &s->cap, sizeof(*v));
    struct str copy = arena_str(s->arena, key);
    if (v == NULL || copy.p == NULL) {
        return NULL;
    }
    s->v = v;
    memmove(&v[at + 1], &v[at], (s->n - at) * sizeof(*v));
    s->n++;
    v[at] = (struct setting){.key = copy};
    return &v[at];
}

bool settings_put(struct settings *s, struct str key, struct str value)
{
    struct str copy = arena_str(s->arena, value);
    struct setting *t = copy.p != NULL ? slot(s, key) : NULL;
    if (t == NULL) {
        return false;
    }
    *t = (struct setting){.key = t->key, .value = copy};
    return true;
}

bool settings_put_null(struct settings *s, struct str key)
{
    struct setting *t = slot(s, key);
    if (t == NULL) {
        return false;
    }
    *t = (struct setting){.key = t->key, .is_null = true};
    return true;
}

bool settings_put_list(struct settings *s, struct str key, const struct str *items, uint32_t n)
{
    struct str *copy = ARENA_ARRAY(s->arena, struct str, n);
    if (copy == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = arena_str(s->arena, items[i]);
        if (copy[i].p == NULL) {
            return false;
        }
    }
    struct setting *t = slot(s, key);
    if (t == NULL) {
        return false;
    }
    *t = (struct setting){.key = t->key, .is_list = true, .items = copy, .n = n};
    return true;
}

bool settings_remove(struct settings *s, struct str key)
{
    size_t at = lower_bound(s, key);
    if (at == s->n || !str_eq(s->v[at].key, key)) {
        return false;
    }
    memmove(&s->v[at], &s->v[at + 1], (s->n - at - 1) * sizeof(*s->v));
    s->n--;
    return true;
}

bool settings_sub(struct settings *out, const struct settings *s, struct str prefix, struct arena *arena)
{
    settings_init(out, arena);
    for (size_t i = lower_bound(s, prefix); i < s->n; i++) {
        struct setting t = s->v[i];
        if (!str_starts(t.key, prefix)) {
            break;
        }
        if (t.key.n <= prefix.n || t.key.p[prefix.n] != '.') {
            continue;
        }
        if (!ARENA_ROOM(arena, out->v, out->n, out->cap)) {
            return false;
        }
        t.key = str_slice(t.key, prefix.n + 1, t.key.n);
        out->v[out->n++] = t; /* order of the suffixes is the order of the whole names */
    }
    return true;
}

bool settings_has_prefix(const struct settings *s, struct str prefix)
{
    for (size_t i = lower_bound(s, prefix); i < s->n && str_starts(s->v[i].key, prefix); i++) {
        if (s->v[i].key.n > prefix.n && s->v[i].key.p[prefix.n] == '.') {
            return true;
        }
    }
    return false;
}

static const struct setting *find_value(const struct settings *s, const char *key)
{
    const struct setting *t = settings_find(s, str_of(key));
    return t != NULL && !t->is_null ? t : NULL;
}

struct str settings_str(const struct settings *s, const char *key, struct str otherwise)
{
    const struct setting *t = find_value(s, key);
    return t != NULL && !t->is_list ? t->value : otherwise;
}

void settings_put_text(const struct setting *t, struct buf *b)
{
    if (!t->is_list) {
        buf_str(b, t->value);
        return;
    }
    buf_char(b, '[');
    for (uint32_t i = 0; i < t->n; i++) {
        if (i > 0) {
            buf_str(b, STR(", "));
        }
        buf_str(b, t->items[i]);
    }
    buf_char(b, ']');
}

static enum err refuse_bool(const struct setting *t, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, ERR_REASON_MAX);
    settings_put_text(t, &b);
    enum err e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                         "Failed to parse value [%.*s] as only [true] or [false] are allowed.", (int)b.n,
                         b.n > 0 ? b.p : "");
    buf_fini(&b);
    return e;
}

enum err settings_bool(const struct settings *s, const char *key, bool otherwise, bool *out,
                       struct errmsg *em)
{
    const struct setting *t = find_value(s, key);
    *out = otherwise;
    if (t == NULL || (!t->is_list && num_parse_bool(t->value, out))) {
        return ERR_OK;
    }
    return refuse_bool(t, em);
}

enum err settings_i64(const struct settings *s, const char *key, int64_t otherwise, int64_t *out,
                      struct errmsg *em)
{
    const struct setting *t = find_value(s, key);
    *out = otherwise;
    if (t == NULL || (!t->is_list && num_parse_i64(t->value, out))) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse value [%.*s] for setting [%s]",
                   STR_ARG(t->value), key);
}

enum err settings_double(const struct settings *s, const char *key, double otherwise, double *out,
                         struct errmsg *em)
{
    const struct setting *t = find_value(s, key);
    *out = otherwise;
    if (t == NULL || (!t->is_list && num_parse_double(t->value, out))) {
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse value [%.*s] for setting [%s]",
                   STR_ARG(t->value), key);
}

struct unit {
    const char *suffix;
    double factor;
};

/* Longest suffixes first, so that "ms" is not taken for "s". */
static enum err parse_unit(struct str text, const struct unit *units, size_t n, int64_t *out)
{
    struct str t = str_trim(text);
    char lowered[32];
    if (t.n == 0 || t.n >= sizeof(lowered)) {
        return ERR_PARSE;
    }
    for (size_t i = 0; i < t.n; i++) {
        lowered[i] = t.p[i] >= 'A' && t.p[i] <= 'Z' ? (char)(t.p[i] + 32) : t.p[i];
    }
    t.p = lowered;
    for (size_t i = 0; i < n; i++) {
        struct str suffix = str_of(units[i].suffix);
        if (!str_ends(t, suffix)) {
            continue;
        }
        struct str digits = str_trim(str_slice(t, 0, t.n - suffix.n));
        int64_t whole;
        double fraction;
        if (num_parse_i64(digits, &whole)) {
            *out = num_double_to_i64((double)whole * units[i].factor);
            return ERR_OK;
        }
        if (num_parse_double(digits, &fraction) && isfinite(fraction)) {
            *out = num_double_to_i64(fraction * units[i].factor);
            return ERR_OK;
        }
        return ERR_PARSE;
    }
    return ERR_PARSE;
}

/* Times are whole numbers of their units: is this one of a unit, and none? */
static bool no_whole(struct str text, const struct unit *units, size_t n, struct str *digits, bool *fraction)
{
    struct str t = str_trim(text);
    double ignored;
    int64_t whole;
    for (size_t i = 0; i < n; i++) {
        if (str_ends(t, str_of(units[i].suffix))) {
            *digits = str_trim(str_slice(t, 0, t.n - strlen(units[i].suffix)));
            *fraction = num_parse_double(*digits, &ignored);
            return !num_parse_i64(*digits, &whole);
        }
    }
    return false;
}

enum err parse_time_ms(struct str text, const char *name, int64_t *out, struct errmsg *em)
{
    static const struct unit units[] = {{"nanos", 1e-6}, {"micros", 1e-3}, {"ms", 1},   {"s", 1e3},
                                        {"m", 6e4},      {"h", 36e5},      {"d", 864e5}};
    struct str t = str_trim(text);
    if (str_is(t, "-1") || str_is(t, "0")) {
        *out = t.p[0] == '-' ? -1 : 0;
        return ERR_OK;
    }
    struct str digits;
    bool fraction;
    if (no_whole(t, units, ARRAY_LEN(units), &digits, &fraction)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(digits));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to parse [%.*s]%s", STR_ARG(text),
                        fraction ? ", fractional time values are not supported" : "");
    }
    if (parse_unit(text, units, ARRAY_LEN(units), out) == ERR_OK) {
        return ERR_OK;
    }
    return err_set(
        em, ERR_ILLEGAL_ARGUMENT,
        "failed to parse setting [%s] with value [%.*s] as a time value: unit is missing or unrecognized",
        name, STR_ARG(text));
}

enum err parse_bytes(struct str text, const char *name, int64_t *out, struct errmsg *em)
{
    static const struct unit units[] = {{"pb", 0x1p50}, {"tb", 0x1p40}, {"gb", 0x1p30}, {"mb", 0x1p20},
                                        {"kb", 0x1p10}, {"p", 0x1p50},  {"t", 0x1p40},  {"g", 0x1p30},
                                        {"m", 0x1p20},  {"k", 0x1p10},  {"b", 1}};
    struct str t = str_trim(text);
    if (str_is(t, "-1") || str_is(t, "0")) {
        *out = t.p[0] == '-' ? -1 : 0;
        return ERR_OK;
    }
    if (parse_unit(text, units, ARRAY_LEN(units), out) == ERR_OK && *out >= 0) {
        return ERR_OK;
    }
    return err_set(em, ERR_PARSE, "failed to parse setting [%s] with value [%.*s] as a size in bytes", name,
                   STR_ARG(text));
}

enum err settings_time_ms(const struct settings *s, const char *key, int64_t otherwise, int64_t *out,
                          struct errmsg *em)
{
    const struct setting *t = find_value(s, key);
    *out = otherwise;
    return t == NULL ? ERR_OK : parse_time_ms(t->value, key, out, em);
}

bool settings_split(struct str text, struct arena *arena, struct str **out, uint32_t *n)
{
    size_t cap = 0, used = 0;
    struct str *items = NULL, rest = text;
    while (rest.p != NULL) {
        struct str part = str_trim(str_cut(rest, ',', &rest));
        if (!ARENA_ADD(arena, items, used, cap, part)) {
            return false;
        }
    }
    *out = items;
    *n = (uint32_t)used;
    return true;
}

bool settings_list(const struct settings *s, const char *key, struct arena *arena, struct str **out,
                   uint32_t *n)
{
    *out = NULL;
    *n = 0;
    const struct setting *t = find_value(s, key);
    if (t != NULL && t->is_list) {
        *out = t->items;
        *n = t->n;
        return true;
    }
    if (t != NULL) {
        return settings_split(t->value, arena, out, n);
    }
    size_t cap = 0, used = 0;
    struct str *items = NULL;
    for (unsigned i = 0;; i++) {
        struct str name = arena_printf(arena, "%s.%u", key, i);
        if (name.p == NULL) {
            return false;
        }
        t = settings_find(s, name);
        if (t == NULL || t->is_null || t->is_list) {
            break;
        }
        if (!ARENA_ADD(arena, items, used, cap, t->value)) {
            return false;
        }
    }
    *out = items;
    *n = (uint32_t)used;
    return true;
}

static void write_value(const struct setting *t, struct jsonw *w)
{
    if (t->is_null) {
        jw_null(w);
        return;
    }
    if (!t->is_list) {
        jw_str(w, t->value);
        return;
    }
    jw_arr(w);
    for (uint32_t i = 0; i < t->n; i++) {
        jw_str(w, t->items[i]);
    }
    jw_arr_end(w);
}

static bool find_set(const struct settings *s, struct str key)
{
    const struct setting *t = settings_find(s, key);
    return t != NULL && !t->is_null;
}

/* Writes the settings [*at, n) that begin with the first `depth` bytes of v[*at]'s key as members of one
 * object. */
static void write_nested(const struct settings *s, size_t *at, size_t depth, struct jsonw *w)
{
    struct str prefix = str_slice(s->v[*at].key, 0, depth);
    while (*at < s->n && str_starts(s->v[*at].key, prefix)) {
        const struct setting *t = &s->v[*at];
        struct str rest = str_slice(t->key, depth, t->key.n);
        size_t dot = str_find(rest, '.', 0);
        /* A name that has a value cannot be an object too: what lies below it keeps its dots. */
        bool head_has_value = dot != SIZE_MAX && find_set(s, str_slice(t->key, 0, depth + dot));
        if (dot == SIZE_MAX || head_has_value) {
            jw_key(w, rest);
            write_value(t, w);
            (*at)++;
        } else {
            jw_key(w, str_slice(rest, 0, dot));
            jw_obj(w);
            write_nested(s, at, depth + dot + 1, w);
            jw_obj_end(w);
        }
    }
}

void settings_write(const struct settings *s, struct jsonw *w, bool flat)
{
    jw_obj(w);
    if (flat) {
        for (size_t i = 0; i < s->n; i++) {
            jw_key(w, s->v[i].key);
            write_value(&s->v[i], w);
        }
    } else {
        for (size_t at = 0; at < s->n;) {
            write_nested(s, &at, 0, w);
        }
    }
    jw_obj_end(w);
}
