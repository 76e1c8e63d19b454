#include "hotel/app/rules.h"

#include "common/base/jsonw.h"
#include "hotel/names.h"

static void write_must(struct jsonw *w, const struct hotel_params *p)
{
    jw_k(w, "must");
    jw_arr(w);
    jw_obj(w);
    jw_k(w, p->key.n > 0 ? "match" : "match_all");
    jw_obj(w);
    if (p->key.n > 0) {
        jw_kstr(w, F_ALL, p->key);
    }
    jw_obj_end(w);
    jw_obj_end(w);
    jw_arr_end(w);
}

static void write_term(struct jsonw *w, const char *field, struct str value)
{
    if (value.n == 0) {
        return;
    }
    jw_obj(w);
    jw_k(w, "term");
    jw_obj(w);
    jw_kstr(w, field, value);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_filters(struct jsonw *w, const struct hotel_params *p)
{
    jw_k(w, "filter");
    jw_arr(w);
    write_term(w, F_CITY, p->city);
    write_term(w, F_BRAND, p->brand);
    write_term(w, F_STAR_NAME, p->star_name);
    if (p->has_price) {
        jw_obj(w);
        jw_k(w, "range");
        jw_obj(w);
        jw_k(w, F_PRICE);
        jw_obj(w);
        jw_ki64(w, "gte", p->min_price);
        jw_ki64(w, "lte", p->max_price);
        jw_obj_end(w);
        jw_obj_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
}

/* Promoted hotels weigh ten times as much; combined by multiplying, the default. */
static void write_functions(struct jsonw *w)
{
    jw_k(w, "functions");
    jw_arr(w);
    jw_obj(w);
    jw_k(w, "filter");
    jw_obj(w);
    jw_k(w, "term");
    jw_obj(w);
    jw_kbool(w, F_IS_AD, true);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_ki64(w, "weight", PROMOTED_WEIGHT);
    jw_obj_end(w);
    jw_arr_end(w);
}

static void write_query(struct jsonw *w, const struct hotel_params *p)
{
    jw_k(w, "query");
    jw_obj(w);
    jw_k(w, "function_score");
    jw_obj(w);
    jw_k(w, "query");
    jw_obj(w);
    jw_k(w, "bool");
    jw_obj(w);
    write_must(w, p);
    write_filters(w, p);
    jw_obj_end(w);
    jw_obj_end(w);
    write_functions(w);
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_sort_field(struct jsonw *w, const char *field, const char *order)
{
    jw_obj(w);
    jw_kz(w, field, order);
    jw_obj_end(w);
}

static void write_sort_distance(struct jsonw *w, struct geo_point at)
{
    jw_obj(w);
    jw_k(w, "_geo_distance");
    jw_obj(w);
    jw_k(w, F_LOCATION);
    jw_obj(w);
    jw_kdouble(w, "lat", at.lat);
    jw_kdouble(w, "lon", at.lon);
    jw_obj_end(w);
    jw_kz(w, "order", "asc");
    jw_kz(w, "unit", "km");
    jw_obj_end(w);
    jw_obj_end(w);
}

/* Without a sort, hits come by relevance; then nothing is written. */
static void write_sort(struct jsonw *w, const struct hotel_params *p)
{
    if (p->sort_by == SORT_RELEVANCE && !p->has_location) {
        return;
    }
    jw_k(w, "sort");
    jw_arr(w);
    if (p->sort_by == SORT_SCORE) {
        write_sort_field(w, F_SCORE, "desc");
    } else if (p->sort_by == SORT_PRICE) {
        write_sort_field(w, F_PRICE, "asc");
    } else if (p->sort_by == SORT_PRICE_DESC) {
        write_sort_field(w, F_PRICE, "desc");
    }
    if (p->has_location) {
        write_sort_distance(w, p->location);
    }
    jw_arr_end(w);
}

/* The key is searched in [all]: what it matches of the fields that were copied there is marked in them. A
 * query of its own, so that filters' values are not. */
static void write_highlight(struct jsonw *w, struct str key)
{
    static const char *const fields[] = {F_NAME, F_BRAND, F_BUSINESS};
    jw_k(w, "highlight");
    jw_obj(w);
    jw_kbool(w, "require_field_match", false);
    jw_ki64(w, "number_of_fragments", 0);
    jw_k(w, "highlight_query");
    jw_obj(w);
    jw_k(w, "match");
    jw_obj(w);
    jw_kstr(w, F_ALL, key);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_k(w, "pre_tags");
    jw_arr(w);
    jw_z(w, MARK_BEGIN);
    jw_arr_end(w);
    jw_k(w, "post_tags");
    jw_arr(w);
    jw_z(w, MARK_END);
    jw_arr_end(w);
    jw_k(w, "fields");
    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        jw_k(w, fields[i]);
        jw_obj(w);
        jw_obj_end(w);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

int rules_distance_at(const struct hotel_params *p)
{
    return !p->has_location ? -1 : p->sort_by == SORT_RELEVANCE ? 0 : 1;
}

void rules_list(struct buf *out, const struct hotel_params *p)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    write_query(&w, p);
    jw_ki64(&w, "from", ((int64_t)p->page - 1) * p->size);
    jw_ki64(&w, "size", p->size);
    write_sort(&w, p);
    if (p->highlight && p->key.n > 0) {
        write_highlight(&w, p->key);
    }
    jw_obj_end(&w);
}

static void write_agg(struct jsonw *w, const char *name, const char *field)
{
    jw_k(w, name);
    jw_obj(w);
    jw_k(w, "terms");
    jw_obj(w);
    jw_kz(w, "field", field);
    jw_ki64(w, "size", FILTER_VALUES);
    jw_obj_end(w);
    jw_obj_end(w);
}

void rules_filters(struct buf *out, const struct hotel_params *p)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    write_query(&w, p);
    jw_ki64(&w, "size", 0);
    jw_k(&w, "aggs");
    jw_obj(&w);
    write_agg(&w, AGG_BRAND, F_BRAND);
    write_agg(&w, AGG_CITY, F_CITY);
    write_agg(&w, AGG_STAR, F_STAR_NAME);
    jw_obj_end(&w);
    jw_obj_end(&w);
}

/* No hits are wanted beside the completions. */
void rules_suggestion(struct buf *out, struct str key)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "size", 0);
    jw_kbool(&w, "_source", false);
    jw_k(&w, "suggest");
    jw_obj(&w);
    jw_k(&w, SUGGEST_NAME);
    jw_obj(&w);
    jw_kstr(&w, "prefix", key);
    jw_k(&w, "completion");
    jw_obj(&w);
    jw_kz(&w, "field", F_SUGGESTION);
    jw_kbool(&w, "skip_duplicates", true);
    jw_ki64(&w, "size", SUGGESTIONS_MAX);
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
}
