#include "hotel/app/rules.h"

#include "common/base/jsonw.h"
#include "hotel/names.h"

static void write_must(struct jsonw *w, const struct hotel_params *p)
{
    jw_karr(w, "must");
    jw_obj(w);
    jw_kobj(w, p->key.n > 0 ? "match" : "match_all");
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
    jw_kobj(w, "term");
    jw_kstr(w, field, value);
    jw_obj_end(w);
    jw_obj_end(w);
}

void rules_price(struct jsonw *w, const struct hotel_params *p)
{
    if (p->has_price) {
        jw_obj(w);
        jw_kobj(w, "range");
        jw_kobj(w, F_PRICE);
        jw_ki64(w, "gte", p->min_price);
        jw_ki64(w, "lte", p->max_price);
        jw_obj_end(w);
        jw_obj_end(w);
        jw_obj_end(w);
    }
}

static void write_filters(struct jsonw *w, const struct hotel_params *p)
{
    jw_karr(w, "filter");
    write_term(w, F_CITY, p->city);
    write_term(w, F_BRAND, p->brand);
    write_term(w, F_STAR_NAME, p->star_name);
    rules_price(w, p);
    jw_arr_end(w);
}

void rules_promotion(struct jsonw *w)
{
    jw_karr(w, "functions");
    jw_obj(w);
    jw_kobj(w, "filter");
    jw_kobj(w, "term");
    jw_kbool(w, F_IS_AD, true);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_ki64(w, "weight", PROMOTED_WEIGHT);
    jw_obj_end(w);
    jw_arr_end(w);
}

static void write_query(struct jsonw *w, const struct hotel_params *p)
{
    jw_kobj(w, "query");
    jw_kobj(w, "function_score");
    jw_kobj(w, "query");
    jw_kobj(w, "bool");
    write_must(w, p);
    write_filters(w, p);
    jw_obj_end(w);
    jw_obj_end(w);
    rules_promotion(w);
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
    jw_kobj(w, "_geo_distance");
    jw_kobj(w, F_LOCATION);
    jw_kdouble(w, "lat", at.lat);
    jw_kdouble(w, "lon", at.lon);
    jw_obj_end(w);
    jw_kz(w, "order", "asc");
    jw_kz(w, "unit", "km");
    jw_obj_end(w);
    jw_obj_end(w);
}

void rules_sort(struct jsonw *w, const struct hotel_params *p)
{
    jw_karr(w, "sort");
    if (p->sort_by == SORT_RELEVANCE && !p->has_location) {
        write_sort_field(w, "_score", "desc");
    } else if (p->sort_by == SORT_SCORE) {
        write_sort_field(w, F_SCORE, "desc");
    } else if (p->sort_by == SORT_PRICE) {
        write_sort_field(w, F_PRICE, "asc");
    } else if (p->sort_by == SORT_PRICE_DESC) {
        write_sort_field(w, F_PRICE, "desc");
    }
    if (p->has_location) {
        write_sort_distance(w, p->location);
    }
    write_sort_field(w, F_ID, "asc");
    jw_arr_end(w);
}

void rules_highlight(struct jsonw *w, struct str key)
{
    static const char *const fields[] = {F_NAME, F_BRAND, F_BUSINESS};
    jw_kobj(w, "highlight");
    jw_kbool(w, "require_field_match", false);
    jw_ki64(w, "number_of_fragments", 0);
    jw_kobj(w, "highlight_query");
    jw_kobj(w, "match");
    jw_kstr(w, F_ALL, key);
    jw_obj_end(w);
    jw_obj_end(w);
    jw_karr(w, "pre_tags");
    jw_z(w, MARK_BEGIN);
    jw_arr_end(w);
    jw_karr(w, "post_tags");
    jw_z(w, MARK_END);
    jw_arr_end(w);
    jw_kobj(w, "fields");
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        jw_kobj(w, fields[i]);
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
    rules_sort(&w, p);
    if (p->highlight && p->key.n > 0) {
        rules_highlight(&w, p->key);
    }
    jw_obj_end(&w);
}

static void write_agg(struct jsonw *w, const char *name, const char *field)
{
    jw_kobj(w, name);
    jw_kobj(w, "terms");
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
    jw_kobj(&w, "aggs");
    write_agg(&w, AGG_BRAND, F_BRAND);
    write_agg(&w, AGG_CITY, F_CITY);
    write_agg(&w, AGG_STAR, F_STAR_NAME);
    jw_obj_end(&w);
    jw_obj_end(&w);
}

/* Of what can be found: a hotel that is written has a new sequence number, and one that is deleted takes its own away. */
void rules_version(struct buf *out)
{
    buf_z(out, "{\"size\":0,\"track_total_hits\":true,\"aggs\":{\"" AGG_CHANGES
               "\":{\"sum\":{\"field\":\"_seq_no\"}}}}");
}

/* No hits are wanted beside the completions. */
void rules_suggestion(struct buf *out, struct str key)
{
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "size", 0);
    jw_kbool(&w, "_source", false);
    jw_kobj(&w, "suggest");
    jw_kobj(&w, SUGGEST_NAME);
    jw_kstr(&w, "prefix", key);
    jw_kobj(&w, "completion");
    jw_kz(&w, "field", F_SUGGESTION);
    jw_kbool(&w, "skip_duplicates", true);
    jw_ki64(&w, "size", SUGGESTIONS_MAX);
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
    jw_obj_end(&w);
}
