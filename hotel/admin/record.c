#include "hotel/admin/record.h"

#include "common/base/num.h"
#include "hotel/names.h"

#include <stdarg.h>
#include <stdio.h>

/* A record is an object of scalars: nothing deep is ever right. */
static const struct json_limits limits = {.depth_max = 16};

static const char *const names[HOTEL_COLUMNS_N] = {
    [HOTEL_COL_id] = F_ID,
    [HOTEL_COL_name] = F_NAME,
    [HOTEL_COL_address] = F_ADDRESS,
    [HOTEL_COL_price] = F_PRICE,
    [HOTEL_COL_score] = F_SCORE,
    [HOTEL_COL_brand] = F_BRAND,
    [HOTEL_COL_city] = F_CITY,
    [HOTEL_COL_star_name] = F_STAR_NAME,
    [HOTEL_COL_business] = F_BUSINESS,
    [HOTEL_COL_latitude] = "latitude",
    [HOTEL_COL_longitude] = "longitude",
    [HOTEL_COL_pic] = F_PIC,
};

void record_problem(struct record *r, enum hotel_column c, const char *fmt, ...)
{
    va_list args;
    for (size_t i = 0; i < r->problems_n; i++) {
        if (r->problems[i].field == names[c]) {
            return;
        }
    }
    struct record_problem *p = &r->problems[r->problems_n++];
    p->field = names[c];
    va_start(args, fmt);
    vsnprintf(p->reason, sizeof(p->reason), fmt, args);
    va_end(args);
}

static bool is_number(enum hotel_column c)
{
    return c == HOTEL_COL_id || c == HOTEL_COL_price || c == HOTEL_COL_score;
}

static bool is_degrees(enum hotel_column c)
{
    return c == HOTEL_COL_latitude || c == HOTEL_COL_longitude;
}

/* Has the value the JSON type that the column takes? Whole numbers may be given as text (ids are longer than
 * what browsers count exactly), degrees as numbers. */
static bool type_ok(struct record *r, enum hotel_column c, const struct json *v)
{
    bool number = v->type == JSON_NUMBER && (is_number(c) || is_degrees(c));
    if (number || v->type == JSON_STRING) {
        return true;
    }
    record_problem(r, c, is_number(c) ? "must be a whole number" : "must be a text");
    return false;
}

/* hotel_set() puts the column's name in front of its reason; ours stands beside it. */
static void set_column(struct record *r, enum hotel_column c, struct str text)
{
    ERR_LOCAL(em);
    if (hotel_set(&r->h, c, text, &em) == ERR_OK) {
        r->given[c] = true;
        return;
    }
    const char *colon = strstr(err_reason(&em), ": ");
    record_problem(r, c, "%s", colon != NULL ? colon + 2 : err_reason(&em));
}

static void read_column(struct record *r, enum hotel_column c, const struct json *v, bool whole)
{
    if (v == NULL || v->type == JSON_NULL) {
        if (whole && hotel_column_required(c)) {
            record_problem(r, c, "is required");
        }
        return;
    }
    if (!type_ok(r, c, v)) {
        return;
    }
    struct str text = json_text(v);
    if (str_trim(text).n == 0) {
        text = STR(""); /* nothing but blanks says nothing */
    }
    set_column(r, c, text);
}

/* ---- what each column means ---- */

static void check_degrees(struct record *r, enum hotel_column c, struct str text, double most)
{
    double v = 0;
    bool plain = text.n > 0;
    for (size_t i = 0; i < text.n; i++) { /* digits alone: no "NaN", no "1d", no hexadecimal */
        plain = plain && strchr("0123456789+-.", text.p[i]) != NULL;
    }
    if (!plain || !num_parse_double(text, &v) || !(v >= -most && v <= most)) {
        record_problem(r, c, "must be a number of degrees from -%g to %g", most, most);
    }
}

static void check_range(struct record *r, enum hotel_column c, int32_t v, int32_t least, int32_t most)
{
    if (v < least || v > most) {
        record_problem(r, c, "must be from %d to %d, it was %d", least, most, v);
    }
}

/* "五星级", "二钻", "4星": a number from 1 to 5, and what is counted. */
static bool is_star_name(struct str text)
{
    static const char *const counts[] = {"一", "二", "三", "四", "五", "1", "2", "3", "4", "5"};
    static const char *const kinds[] = {"星级", "星", "钻", "钻级"};
    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        for (size_t k = 0; k < ARRAY_LEN(kinds) && str_starts(text, str_of(counts[i])); k++) {
            if (str_is(str_slice(text, strlen(counts[i]), text.n), kinds[k])) {
                return true;
            }
        }
    }
    return false;
}

static void check_meaning(struct record *r)
{
    const struct hotel *h = &r->h;
    if (r->given[HOTEL_COL_price]) {
        check_range(r, HOTEL_COL_price, h->price, 0, INT32_MAX);
    }
    if (r->given[HOTEL_COL_score]) {
        check_range(r, HOTEL_COL_score, h->score, 0, RECORD_SCORE_MAX);
    }
    if (r->given[HOTEL_COL_latitude]) {
        check_degrees(r, HOTEL_COL_latitude, h->latitude, 90);
    }
    if (r->given[HOTEL_COL_longitude]) {
        check_degrees(r, HOTEL_COL_longitude, h->longitude, 180);
    }
    if (h->star_name.n > 0 && !is_star_name(h->star_name)) {
        record_problem(r, HOTEL_COL_star_name,
                       "must be 1 to 5 stars or 1 to 5 diamonds: 一星 to 五星级, 一钻 to 五钻");
    }
}

enum err record_read(struct record *out, struct str body, bool whole, struct arena *arena, struct errmsg *em)
{
    struct json root;
    *out = (struct record){0};
    if (str_trim(body).n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the body is empty, a JSON object is expected");
    }
    enum err e = json_parse(&root, body, arena, &limits, em);
    if (e != ERR_OK) {
        return e == ERR_JSON || e == ERR_JSON_EOF ? err_prefix(em, e, "the body is not JSON") : e;
    }
    if (root.type != JSON_OBJECT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "the body must be a JSON object");
    }
    for (unsigned c = 0; c < HOTEL_COLUMNS_N; c++) {
        read_column(out, (enum hotel_column)c, json_get(&root, names[c]), whole);
    }
    check_meaning(out);
    return ERR_OK;
}

void record_merge(struct hotel *stored, const struct record *given)
{
#define MERGE_COLUMN(column, member, kind, max, required) \
    if (given->given[HOTEL_COL_##member]) {               \
        stored->member = given->h.member;                 \
    }
    HOTEL_COLUMNS(MERGE_COLUMN)
#undef MERGE_COLUMN
}

/* ---- out ---- */

static void write_text(struct jsonw *w, enum hotel_column c, struct str v)
{
    jw_k(w, names[c]);
    if (v.p == NULL) {
        jw_null(w);
    } else {
        jw_str(w, v);
    }
}

void record_write(struct jsonw *w, const struct hotel *h)
{
    jw_obj(w);
#define WRITE_I64(c, v)                                   jw_ki64(w, names[c], v)
#define WRITE_I32(c, v)                                   jw_ki64(w, names[c], v)
#define WRITE_TEXT(c, v)                                  write_text(w, c, v)
#define WRITE_COLUMN(column, member, kind, max, required) WRITE_##kind(HOTEL_COL_##member, h->member);
    HOTEL_COLUMNS(WRITE_COLUMN)
#undef WRITE_COLUMN
#undef WRITE_TEXT
#undef WRITE_I32
#undef WRITE_I64
    jw_obj_end(w);
}

void record_write_problems(struct buf *out, const struct record *r)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "status", 400);
    jw_kz(&w, "error", "bad_request");
    jw_k(&w, "reason");
    jw_strf(&w, "%s %s%s", r->problems[0].field, r->problems[0].reason,
            r->problems_n > 1 ? ", and other fields are wrong" : "");
    jw_karr(&w, "fields");
    for (size_t i = 0; i < r->problems_n; i++) {
        jw_obj(&w);
        jw_kz(&w, "field", r->problems[i].field);
        jw_kz(&w, "reason", r->problems[i].reason);
        jw_obj_end(&w);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
}
