#include "hotel/app/answer.h"

#include "common/base/jsonw.h"
#include "hotel/names.h"

/* Members of a hotel in an answer, in order; each is there always. */
static const char *const keys[] = {F_ID,    F_NAME,     F_ADDRESS,   F_PRICE,     F_SCORE,
                                   F_BRAND, F_CITY,     F_STAR_NAME, F_BUSINESS,  F_LOCATION,
                                   F_PIC,   F_DISTANCE, F_IS_AD,     F_SUGGESTION};

static enum err answer_refuse(struct errmsg *em, const char *what)
{
    return err_set(em, ERR_PARSE, "the search service's answer has no %s", what);
}

enum err answer_open(struct str reply, struct json *root, struct arena *arena, struct errmsg *em)
{
    enum err e = json_parse(root, reply, arena, &json_limits_default, em);
    if (e != ERR_OK) {
        return e == ERR_NO_MEMORY ? e : err_set(em, ERR_PARSE, "the search service's answer is not JSON");
    }
    const struct json *timed_out = json_get(root, "timed_out");
    int64_t failed;
    if (!json_i64(json_path(root, "_shards.failed"), &failed)) {
        return answer_refuse(em, "_shards");
    }
    if (failed > 0) {
        return err_set(em, ERR_IO, "%lld shards of the index could not answer", (long long)failed);
    }
    if (json_is(timed_out, JSON_BOOL) && timed_out->b) {
        return err_set(em, ERR_TIMEOUT, "the search was stopped before it was complete");
    }
    return ERR_OK;
}

/* The distance is a sort value; a hotel without a place has "Infinity" there, which is no distance. */
static void write_distance(struct jsonw *w, const struct json *hit, int at)
{
    const struct json *sort = json_get(hit, "sort");
    bool there = at >= 0 && json_is(sort, JSON_ARRAY) && (uint32_t)at < sort->n;
    if (there && sort->items[at].type == JSON_NUMBER) {
        jw_value(w, &sort->items[at]);
    } else {
        jw_null(w);
    }
}

/* {"name":"..."}: of each field the whole text, with marks. */
static void write_highlight(struct jsonw *w, const struct json *hit)
{
    const struct json *fields = json_get(hit, F_HIGHLIGHT);
    if (!json_is(fields, JSON_OBJECT)) {
        return;
    }
    jw_kobj(w, F_HIGHLIGHT);
    for (uint32_t i = 0; i < fields->n; i++) {
        const struct json *v = &fields->members[i].value;
        if (json_is(v, JSON_ARRAY) && v->n > 0) {
            jw_key(w, fields->members[i].key);
            jw_value(w, &v->items[0]);
        }
    }
    jw_obj_end(w);
}

static void write_hotel(struct jsonw *w, const struct json *hit, int distance_at)
{
    const struct json *source = json_get(hit, "_source");
    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        const struct json *v = json_get(source, keys[i]);
        jw_k(w, keys[i]);
        if (str_is(str_of(keys[i]), F_DISTANCE)) {
            write_distance(w, hit, distance_at);
        } else if (v == NULL) {
            jw_null(w);
        } else {
            jw_value(w, v);
        }
    }
    write_highlight(w, hit);
    jw_obj_end(w);
}

enum err answer_list(struct buf *out, struct str reply, int distance_at, struct arena *arena, bool *at_least,
                     struct errmsg *em)
{
    struct json root;
    enum err e = answer_open(reply, &root, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *hits = json_path(&root, "hits.hits");
    int64_t total;
    if (!json_is(hits, JSON_ARRAY) || !json_i64(json_path(&root, "hits.total.value"), &total)) {
        return answer_refuse(em, "hits");
    }
    *at_least = str_is(json_text(json_path(&root, "hits.total.relation")), "gte");
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    jw_ki64(&w, "total", total);
    jw_karr(&w, "hotels");
    for (uint32_t i = 0; i < hits->n; i++) {
        write_hotel(&w, &hits->items[i], distance_at);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    return ERR_OK;
}

static enum err write_buckets(struct jsonw *w, const char *key, const struct json *aggs, const char *name,
                              struct errmsg *em)
{
    const struct json *buckets = json_get(json_get(aggs, name), "buckets");
    if (!json_is(buckets, JSON_ARRAY)) {
        return answer_refuse(em, name);
    }
    jw_karr(w, key);
    for (uint32_t i = 0; i < buckets->n; i++) {
        jw_str(w, json_text(json_get(&buckets->items[i], "key")));
    }
    jw_arr_end(w);
    return ERR_OK;
}

enum err answer_filters(struct buf *out, struct str reply, struct arena *arena, struct errmsg *em)
{
    struct json root;
    enum err e = answer_open(reply, &root, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *aggs = json_get(&root, "aggregations");
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_obj(&w);
    e = write_buckets(&w, FILTERS_BRAND, aggs, AGG_BRAND, em);
    e = e != ERR_OK ? e : write_buckets(&w, FILTERS_CITY, aggs, AGG_CITY, em);
    e = e != ERR_OK ? e : write_buckets(&w, FILTERS_STAR, aggs, AGG_STAR, em);
    jw_obj_end(&w);
    return e;
}

enum err answer_version(struct buf *out, struct str reply, struct arena *arena, struct errmsg *em)
{
    struct json root;
    int64_t total;
    enum err e = answer_open(reply, &root, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *sum = json_path(&root, "aggregations." AGG_CHANGES ".value");
    if (!json_is(sum, JSON_NUMBER) || !json_i64(json_path(&root, "hits.total.value"), &total)) {
        return answer_refuse(em, AGG_CHANGES);
    }
    buf_printf(out, "{\"version\":\"%lld-%.*s\"}", (long long)total, STR_ARG(sum->s));
    return ERR_OK;
}

enum err answer_suggestion(struct buf *out, struct str reply, struct arena *arena, struct errmsg *em)
{
    struct json root;
    enum err e = answer_open(reply, &root, arena, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *entries = json_get(json_get(&root, "suggest"), SUGGEST_NAME);
    if (!json_is(entries, JSON_ARRAY)) {
        return answer_refuse(em, "suggestions");
    }
    struct jsonw w;
    jsonw_init(&w, out, false);
    jw_arr(&w);
    for (uint32_t i = 0; i < entries->n; i++) {
        const struct json *options = json_get(&entries->items[i], "options");
        for (uint32_t k = 0; json_is(options, JSON_ARRAY) && k < options->n; k++) {
            jw_str(&w, json_text(json_get(&options->items[k], "text")));
        }
    }
    jw_arr_end(&w);
    return ERR_OK;
}
