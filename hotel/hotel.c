#include "hotel/hotel.h"

#include "common/base/jsonw.h"
#include "common/base/num.h"
#include "common/base/utf8.h"
#include "hotel/names.h"

enum column_kind { COLUMN_I64, COLUMN_I32, COLUMN_TEXT };

static const struct column {
    const char *name;
    size_t offset;
    enum column_kind kind;
    size_t chars_max;
    bool required;
} columns[HOTEL_COLUMNS_N] = {
#define COLUMN_ROW(column, member, kind, max, required) \
    {column, offsetof(struct hotel, member), COLUMN_##kind, max, required},
    HOTEL_COLUMNS(COLUMN_ROW)
#undef COLUMN_ROW
};

const char *hotel_column_name(enum hotel_column c)
{
    return columns[c].name;
}

bool hotel_column_required(enum hotel_column c)
{
    return columns[c].required;
}

static enum err set_text(struct str *to, const struct column *c, struct str text, struct errmsg *em)
{
    if (!utf8_valid(text)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s: is not UTF-8", c->name);
    }
    size_t n = utf8_length(text);
    if (n > c->chars_max) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s: %zu characters, at most %zu are allowed", c->name, n,
                       c->chars_max);
    }
    *to = text;
    return ERR_OK;
}

enum err hotel_set(struct hotel *h, enum hotel_column column, struct str text, struct errmsg *em)
{
    const struct column *c = &columns[column];
    void *to = (char *)h + c->offset;
    if (text.n == 0 && c->required) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s: is required and empty", c->name);
    }
    if (c->kind == COLUMN_TEXT) {
        return set_text(to, c, text.n > 0 ? text : STR_NULL, em);
    }
    struct str digits = str_trim(text);
    bool ok = c->kind == COLUMN_I64 ? num_parse_i64(digits, to) : num_parse_i32(digits, to);
    if (!ok) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s: [%.*s] is not a whole number of %d bits", c->name,
                       (int)MIN_OF(text.n, (size_t)64), text.p, c->kind == COLUMN_I64 ? 64 : 32);
    }
    return ERR_OK;
}

static enum err check_degrees(struct str text, const char *name, double limit, struct errmsg *em)
{
    double v;
    if (!num_parse_double(text, &v) || !(v >= -limit && v <= limit)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s: [%.*s] is not a number from -%g to %g", name,
                       STR_ARG(text), limit, limit);
    }
    return ERR_OK;
}

enum err hotel_check(const struct hotel *h, struct errmsg *em)
{
    enum err e = check_degrees(h->latitude, "latitude", 90, em);
    return e != ERR_OK ? e : check_degrees(h->longitude, "longitude", 180, em);
}

static void write_text(struct jsonw *w, const char *key, struct str v)
{
    jw_k(w, key);
    if (v.p == NULL) {
        jw_null(w);
    } else {
        jw_str(w, v);
    }
}

/* Empty parts ("/外滩") are left out: an empty completion would be offered to nobody. */
static void write_suggestion(struct jsonw *w, const struct hotel *h)
{
    jw_karr(w, F_SUGGESTION);
    jw_str(w, h->brand);
    for (struct str rest = h->business; rest.p != NULL;) {
        struct str part = str_cut(rest, '/', &rest);
        if (part.n > 0) {
            jw_str(w, part);
        }
    }
    jw_arr_end(w);
}

void hotel_write(struct buf *out, const struct hotel *h)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, F_ID, h->id);
    write_text(&w, F_NAME, h->name);
    write_text(&w, F_ADDRESS, h->address);
    jw_ki64(&w, F_PRICE, h->price);
    jw_ki64(&w, F_SCORE, h->score);
    write_text(&w, F_BRAND, h->brand);
    write_text(&w, F_CITY, h->city);
    write_text(&w, F_STAR_NAME, h->star_name);
    write_text(&w, F_BUSINESS, h->business);
    jw_k(&w, F_LOCATION);
    jw_strf(&w, "%.*s, %.*s", STR_ARG(h->latitude), STR_ARG(h->longitude));
    write_text(&w, F_PIC, h->pic);
    write_suggestion(&w, h);
    jw_obj_end(&w);
}
