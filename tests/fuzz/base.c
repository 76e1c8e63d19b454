/* Texts that requests and files bring: JSON, settings, dates, numbers, places, addresses, URIs. */
#include "tests/fuzz/fuzz.h"

#include "common/base/coerce.h"
#include "common/base/date_math.h"
#include "common/base/decimal_format.h"
#include "common/base/geo.h"
#include "common/base/inet.h"
#include "common/base/json_pull.h"
#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "common/base/rounding.h"
#include "common/base/uri.h"
#include "common/base/utf8.h"
#include "common/sys/conf.h"

#include <stdlib.h>

/* Tokens that a text of n bytes can give: each comes of a byte at least, a field's name and end of none. */
static void walk(const struct json *root, struct str text, struct arena *a)
{
    struct json_pull p;
    ERR_LOCAL(em);
    struct str s;
    double d;
    size_t steps = 0;
    if (!json_pull_init(&p, root, text, a)) {
        return;
    }
    while (json_pull_next(&p) != TOK_NONE && !p.broken) {
        FUZZ_HOLDS(++steps <= 4 * text.n + 16);
        fuzz_error(json_pull_text(&p, &s, &em), &em);
        fuzz_error(json_pull_double(&p, &d, &em), &em);
    }
}

static void write_again(const struct json *v, struct arena *a)
{
    struct buf b;
    struct json again;
    ERR_LOCAL(em);
    buf_init(&b, NULL, FUZZ_ARENA_BYTES);
    struct jsonw w;
    jsonw_init(&w, &b, false);
    jw_value(&w, v);
    if (!b.failed) {
        FUZZ_HOLDS(utf8_valid(buf_view(&b)));
        enum err e = json_parse(&again, buf_view(&b), a, &json_limits_default, &em);
        FUZZ_HOLDS(e == ERR_NO_MEMORY || (e == ERR_OK && json_equal(v, &again)));
    }
    buf_fini(&b);
}

static void one_json(struct str in)
{
    struct arena a;
    struct json v, part;
    ERR_LOCAL(em);
    size_t extra;
    fuzz_arena(&a);
    enum err e = json_parse(&v, in, &a, &json_limits_default, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        walk(&v, in, &a);
        write_again(&v, &a);
    }
    e = json_parse_until(&part, &extra, in, &a, &json_limits_default, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK || e == ERR_JSON || e == ERR_JSON_EOF) {
        walk(&part, in, &a);
    }
    arena_fini(&a);
}

static void one_settings(struct str in)
{
    struct arena a;
    struct settings s;
    struct json v;
    ERR_LOCAL(em);
    int64_t i;
    double d;
    bool b;
    fuzz_arena(&a);
    settings_init(&s, &a);
    if (json_parse(&v, in, &a, &json_limits_default, NULL) == ERR_OK) {
        fuzz_error(settings_from_json(&s, &v, STR("index"), &em), &em);
    }
    fuzz_error(parse_time_ms(in, "x", &i, &em), &em);
    fuzz_error(parse_bytes(in, "x", &i, &em), &em);
    for (size_t n = 0; n < s.n; n++) {
        const char *key = s.v[n].key.p;
        if (memchr(key, 0, s.v[n].key.n) == NULL) {
            struct str z = arena_str(&a, s.v[n].key);
            if (z.p != NULL) {
                fuzz_error(settings_i64(&s, z.p, 0, &i, &em), &em);
                fuzz_error(settings_double(&s, z.p, 0, &d, &em), &em);
                fuzz_error(settings_bool(&s, z.p, false, &b, &em), &em);
            }
        }
    }
    arena_fini(&a);
}

static void one_yaml(struct str in)
{
    struct arena a;
    struct settings s;
    ERR_LOCAL(em);
    static const char *const environment[] = {"NAME=value", NULL};
    fuzz_arena(&a);
    settings_init(&s, &a);
    fuzz_error(conf_yaml(&s, in, "serai.yml", environment, &em), &em);
    arena_fini(&a);
}

/* A line with a format, then a text. */
static void one_date(struct str in)
{
    struct arena a;
    const struct date_format *f;
    const struct zone *zone = &zone_utc;
    struct instant t;
    ERR_LOCAL(em);
    struct buf b;
    fuzz_arena(&a);
    buf_init(&b, NULL, MIB);
    struct str format = fuzz_line(&in), id = fuzz_line(&in);
    fuzz_error(zone_of(&zone, id, &a, &em), &em);
    enum err e = date_format_new(&f, format, &a, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        e = date_math(f, in, 1600000000000, zone, DATE_FILL_MAX, &t, &em);
        fuzz_error(e, &em);
        e = date_parse(f, in, zone, DATE_FILL_MIN, &t, &em);
        fuzz_error(e, &em);
        if (e == ERR_OK && date_print(f, t, zone, &b)) {
            FUZZ_HOLDS(b.failed || utf8_valid(buf_view(&b)));
        }
    }
    buf_fini(&b);
    arena_fini(&a);
}

/* A line with a zone, one with a unit, then eight bytes a moment. */
static void one_rounding(struct str in)
{
    struct arena a;
    const struct zone *zone = &zone_utc;
    ERR_LOCAL(em);
    enum date_unit unit;
    int64_t interval;
    struct rounding r;
    fuzz_arena(&a);
    fuzz_error(zone_of(&zone, fuzz_line(&in), &a, &em), &em);
    struct str text = fuzz_line(&in);
    bool ok = false;
    if (date_unit_of(text, &unit)) {
        r = rounding_calendar(unit, zone, 0);
        ok = true;
    } else if (fixed_interval_parse(text, "interval", &interval, &em) == ERR_OK) {
        ok = rounding_fixed(&r, interval, zone, 0, &em) == ERR_OK;
    }
    for (; ok && in.n >= 8; in = str_mk(in.p + 8, in.n - 8)) {
        int64_t t;
        memcpy(&t, in.p, sizeof(t));
        t %= (int64_t)1 << 52; /* about the years that dates can have */
        int64_t key = rounding_round(&r, t);
        FUZZ_HOLDS(key <= t);
        FUZZ_HOLDS(rounding_next(&r, key) > key);
    }
    arena_fini(&a);
}

static void one_number(struct str in)
{
    double d;
    float f;
    int64_t i;
    int32_t n;
    bool b;
    struct buf out;
    buf_init(&out, NULL, MIB);
    if (num_parse_double(in, &d)) {
        double again;
        num_put_double(&out, d);
        FUZZ_HOLDS(d != d || (num_parse_double(buf_view(&out), &again) && again == d));
    }
    buf_reset(&out);
    if (num_parse_float(in, &f)) {
        float again;
        num_put_float(&out, f);
        FUZZ_HOLDS(f != f || (num_parse_float(buf_view(&out), &again) && again == f));
    }
    (void)num_parse_i64(in, &i);
    (void)num_parse_i32(in, &n);
    (void)num_parse_bool(in, &b);
    buf_fini(&out);
}

static void one_decimal_format(struct str in)
{
    struct arena a;
    const struct decimal_format *f;
    ERR_LOCAL(em);
    struct buf out;
    double d;
    fuzz_arena(&a);
    buf_init(&out, NULL, MIB);
    enum err e = decimal_format_new(&f, fuzz_line(&in), &a, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        (void)decimal_format_parse(f, in, &d);
        static const double values[] = {0, -0.0, 1, -1.5, 1e300, 1e-300, 0.5, 123456789.987654321};
        for (size_t i = 0; i < ARRAY_LEN(values); i++) {
            decimal_format_print(f, values[i], &out);
        }
        decimal_format_print_i64(f, INT64_MIN, &out);
        FUZZ_HOLDS(out.failed || utf8_valid(buf_view(&out)));
    }
    buf_fini(&out);
    arena_fini(&a);
}

static enum err take_point(void *self, struct geo_point p, struct errmsg *em)
{
    (void)self;
    (void)em;
    (void)geo_pack(geo_point_normalise(p));
    return ERR_OK;
}

static void one_geo(struct str in)
{
    struct arena a;
    struct geo_point p;
    struct geo_box box;
    ERR_LOCAL(em);
    struct json v;
    double metres;
    fuzz_arena(&a);
    fuzz_error(geo_point_of_text(&p, in, false, &em), &em);
    fuzz_error(geohash_decode(in, &p, &em), &em);
    fuzz_error(geohash_box(in, &box, &em), &em);
    fuzz_error(geo_distance_parse(in, 1, &metres, &em), &em);
    if (json_parse(&v, in, &a, &json_limits_default, NULL) == ERR_OK) {
        fuzz_error(geo_points_of_json(&v, true, take_point, NULL, &em), &em);
    }
    arena_fini(&a);
}

static void one_inet(struct str in)
{
    uint8_t a[INET_BYTES], b[INET_BYTES];
    ERR_LOCAL(em);
    struct buf out;
    buf_init(&out, NULL, KIB);
    enum err e = inet_parse(in, a, &em);
    fuzz_error(e, &em);
    if (e == ERR_OK) {
        inet_print(a, &out);
        FUZZ_HOLDS(inet_parse(buf_view(&out), b, &em) == ERR_OK && memcmp(a, b, INET_BYTES) == 0);
    }
    fuzz_error(inet_cidr(in, a, b, &em), &em);
    buf_fini(&out);
}

static void one_uri(struct str in)
{
    struct arena a;
    struct uri_params params;
    ERR_LOCAL(em);
    struct str s;
    fuzz_arena(&a);
    fuzz_error(uri_decode(in, true, &a, &s, &em), &em);
    enum err e = uri_query(in, &a, &params, &em);
    fuzz_error(e, &em);
    arena_fini(&a);
}

const struct fuzz_target fuzz_base[] = {
    {"json", one_json, NULL, FUZZ_BYTES},
    {"settings", one_settings, NULL, FUZZ_TEXT},
    {"yaml", one_yaml, NULL, FUZZ_BYTES},
    {"date", one_date, NULL, FUZZ_TEXT},
    {"rounding", one_rounding, NULL, FUZZ_TEXT},
    {"number", one_number, NULL, FUZZ_TEXT},
    {"decimal", one_decimal_format, NULL, FUZZ_TEXT},
    {"geo", one_geo, NULL, FUZZ_TEXT},
    {"inet", one_inet, NULL, FUZZ_TEXT},
    {"uri", one_uri, NULL, FUZZ_BYTES},
    {0},
};
