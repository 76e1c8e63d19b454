#include "hotel/app/params.h"

#include "common/base/json.h"
#include "common/base/num.h"
#include "common/base/utf8.h"
#include "hotel/names.h"

/* A request is an object of scalars: nothing deep is ever right. */
static const struct json_limits limits = {.depth_max = 8};

/* What is being read, and where errors go. */
struct reader {
    const struct json *body;
    const char *field;
    struct errmsg *em;
};

enum err params_text_ok(struct str text, const char *field, struct errmsg *em)
{
    size_t n = utf8_length(text);
    if (n > PARAMS_TEXT_CHARS_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s has %zu characters, at most %d are allowed", field, n,
                       PARAMS_TEXT_CHARS_MAX);
    }
    return ERR_OK;
}

static enum err read_text(struct reader *r, const char *field, struct str *out)
{
    const struct json *v = json_get(r->body, field);
    r->field = field;
    *out = json_text(v);
    if (v != NULL && (v->type == JSON_ARRAY || v->type == JSON_OBJECT)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "%s must be a text, not %s", field,
                       v->type == JSON_ARRAY ? "a list" : "an object");
    }
    return params_text_ok(*out, field, r->em);
}

/* *given false: keep what is in *out. */
static enum err read_i32(struct reader *r, const char *field, int32_t *out, bool *given)
{
    const struct json *v = json_get(r->body, field);
    struct str text = str_trim(json_text(v));
    r->field = field;
    *given = false;
    if (v == NULL || v->type == JSON_NULL || (v->type == JSON_STRING && text.n == 0)) {
        return ERR_OK;
    }
    if ((v->type != JSON_NUMBER && v->type != JSON_STRING) || !num_parse_i32(text, out)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "%s must be a whole number from %d to %d", field,
                       INT32_MIN, INT32_MAX);
    }
    *given = true;
    return ERR_OK;
}

static enum err read_page(struct reader *r, struct hotel_params *p)
{
    bool given;
    p->page = 1;
    p->size = PAGE_SIZE;
    enum err e = read_i32(r, "page", &p->page, &given);
    if (e == ERR_OK && p->page < 1) {
        e = err_set(r->em, ERR_ILLEGAL_ARGUMENT, "page counts from 1, it was %d", p->page);
    }
    e = e != ERR_OK ? e : read_i32(r, "size", &p->size, &given);
    if (e == ERR_OK && p->size < 0) {
        e = err_set(r->em, ERR_ILLEGAL_ARGUMENT, "size must not be negative, it was %d", p->size);
    }
    if (e == ERR_OK && (int64_t)p->page * p->size > RESULT_WINDOW) {
        r->field = "page";
        e = err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                    "page %d of size %d ends behind result %d, the last one that can be asked for", p->page,
                    p->size, RESULT_WINDOW);
    }
    return e;
}

static enum err read_prices(struct reader *r, struct hotel_params *p)
{
    bool min = false, max = false;
    enum err e = read_i32(r, "minPrice", &p->min_price, &min);
    e = e != ERR_OK ? e : read_i32(r, "maxPrice", &p->max_price, &max);
    p->has_price = min && max;
    return e;
}

static bool read_degrees(struct str text, double *out)
{
    text = str_trim(text);
    for (size_t i = 0; i < text.n; i++) { /* digits alone: no "NaN", no "1d", no hexadecimal */
        if (strchr("0123456789+-.eE", text.p[i]) == NULL) {
            return false;
        }
    }
    return num_parse_double(text, out);
}

/* "<latitude>,<longitude>", blanks allowed around both. ERR_ILLEGAL_ARGUMENT. */
static enum err params_location(struct str text, struct geo_point *out, struct errmsg *em)
{
    struct str lon, lat = str_cut(text, ',', &lon);
    if (lon.p == NULL || !read_degrees(lat, &out->lat) || !read_degrees(lon, &out->lon)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "location must be \"<latitude>,<longitude>\" in degrees, as \"31.23,121.47\"");
    }
    if (!geo_lat_ok(out->lat)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "location: the latitude must be from -90 to 90");
    }
    if (!geo_lon_ok(out->lon)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "location: the longitude must be from -180 to 180");
    }
    return ERR_OK;
}

static enum err read_location(struct reader *r, struct hotel_params *p)
{
    struct str text;
    enum err e = read_text(r, "location", &text);
    p->has_location = text.n > 0;
    return e != ERR_OK || text.n == 0 ? e : params_location(text, &p->location, r->em);
}

static enum sort_by sort_of(struct str text)
{
    return str_is(text, "score")       ? SORT_SCORE
           : str_is(text, "price")     ? SORT_PRICE
           : str_is(text, "priceDesc") ? SORT_PRICE_DESC
                                       : SORT_RELEVANCE;
}

static enum err read_all(struct reader *r, struct hotel_params *p)
{
    struct str sort, highlight;
    enum err e = read_text(r, "key", &p->key);
    e = e != ERR_OK ? e : read_text(r, F_CITY, &p->city);
    e = e != ERR_OK ? e : read_text(r, F_BRAND, &p->brand);
    e = e != ERR_OK ? e : read_text(r, F_STAR_NAME, &p->star_name);
    e = e != ERR_OK ? e : read_text(r, "sortBy", &sort);
    e = e != ERR_OK ? e : read_text(r, "highlight", &highlight);
    e = e != ERR_OK ? e : read_page(r, p);
    e = e != ERR_OK ? e : read_prices(r, p);
    e = e != ERR_OK ? e : read_location(r, p);
    if (e == ERR_OK) {
        p->sort_by = sort_of(sort);
        p->highlight = str_is(highlight, "true");
    }
    return e;
}

enum err params_read(struct hotel_params *out, struct str body, struct arena *arena, const char **field,
                     struct errmsg *em)
{
    struct json root;
    struct reader r = {.body = &root, .em = em};
    *out = (struct hotel_params){0};
    *field = NULL;
    enum err e = json_parse(&root, body, arena, &limits, em);
    if (e != ERR_OK) {
        return e;
    }
    if (root.type != JSON_OBJECT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the body must be a JSON object");
    }
    e = read_all(&r, out);
    *field = e == ERR_OK ? NULL : r.field;
    return e;
}
