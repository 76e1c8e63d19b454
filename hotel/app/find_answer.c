#include "hotel/app/find_answer.h"

#include "common/base/jsonw.h"
#include "hotel/app/answer.h"
#include "hotel/names.h"

static const char *const matches[] = {
    [FIND_ALL] = "all", [FIND_CORRECTED] = "corrected", [FIND_SOME] = "some"};

static void write_understood(struct jsonw *w, const struct find_query *q)
{
    jw_karr(w, "understood");
    for (size_t i = 0; i < q->key->n; i++) {
        const struct understood *u = &q->key->v[i];
        if (!find_value_counts(q, u->value)) {
            continue;
        }
        jw_obj(w);
        jw_kz(w, "kind", value_kind_name(u->value->kind));
        jw_kstr(w, "value", u->value->text);
        jw_kstr(w, "text", u->text);
        jw_karr(w, "terms");
        for (size_t k = 0; k < u->value->terms_n; k++) {
            jw_str(w, u->value->terms[k]);
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_karr(w, "words");
    for (size_t i = 0; i < q->key->n; i++) {
        if (q->key->v[i].value == NULL) {
            jw_str(w, q->key->v[i].text);
        }
    }
    jw_arr_end(w);
}

static enum err write_facets(struct jsonw *w, const struct json *root, struct errmsg *em)
{
    jw_kobj(w, "facets");
    for (enum value_kind k = 0; k < VALUE_KINDS_N; k++) {
        const struct json *agg = json_get(json_get(root, "aggregations"), value_kind_name(k));
        const struct json *buckets = json_path(agg, "values.buckets");
        if (!json_is(buckets, JSON_ARRAY)) {
            return err_set(em, ERR_PARSE, "the search service's answer has no %s", value_kind_name(k));
        }
        jw_karr(w, value_kind_name(k));
        for (uint32_t i = 0; i < buckets->n; i++) {
            const struct json *count = json_get(&buckets->items[i], "doc_count");
            jw_obj(w);
            jw_kstr(w, "value", json_text(json_get(&buckets->items[i], "key")));
            jw_k(w, "count");
            if (count != NULL) {
                jw_value(w, count);
            } else {
                jw_null(w);
            }
            jw_obj_end(w);
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
    return ERR_OK;
}

enum err find_answer(struct buf *out, const struct found *f, struct arena *arena, struct errmsg *em)
{
    struct json root;
    struct buf list;
    struct jsonw w;
    bool at_least;
    buf_init(&list, NULL, BUF_UNLIMITED);
    enum err e = answer_list(&list, f->reply, find_rules_distance_at(f->query), arena, &at_least, em);
    e = e != ERR_OK ? e : answer_open(f->reply, &root, arena, em);
    if (e == ERR_OK && list.failed) {
        e = err_no_memory(em);
    }
    if (e == ERR_OK) {
        jsonw_init(&w, out, false);
        jw_obj(&w);
        jw_members(&w, buf_view(&list));
        jw_kz(&w, "match", matches[f->match]);
        jw_k(&w, "didYouMean");
        if (f->corrected.n > 0) {
            jw_str(&w, f->corrected);
        } else {
            jw_null(&w);
        }
        write_understood(&w, f->query);
        e = write_facets(&w, &root, em);
        if (f->search.n > 0) {
            jw_k(&w, "search");
            jw_raw(&w, f->search);
        }
        jw_obj_end(&w);
    }
    buf_fini(&list);
    return e;
}

enum err find_answer_total(struct str reply, struct arena *arena, int64_t *total, struct errmsg *em)
{
    struct json root;
    enum err e = answer_open(reply, &root, arena, em);
    if (e == ERR_OK && !json_i64(json_path(&root, "hits.total.value"), total)) {
        e = err_set(em, ERR_PARSE, "the search service's answer has no hits");
    }
    return e;
}

enum err find_answer_words(struct str reply, struct arena *arena, int64_t *hotels, size_t n,
                           struct errmsg *em)
{
    struct json root;
    enum err e = answer_open(reply, &root, arena, em);
    const struct json *buckets = e == ERR_OK ? json_path(&root, "aggregations.words.buckets") : NULL;
    if (!json_is(buckets, JSON_ARRAY) || buckets->n != n) {
        return e != ERR_OK ? e : err_set(em, ERR_PARSE, "the search service's answer has no words");
    }
    for (size_t i = 0; i < n; i++) {
        if (!json_i64(json_get(&buckets->items[i], "doc_count"), &hotels[i])) {
            return err_set(em, ERR_PARSE, "the search service's answer has a word without a number");
        }
    }
    return ERR_OK;
}

static void write_completion(struct jsonw *w, struct str text, const char *kind, int64_t hotels)
{
    jw_obj(w);
    jw_kstr(w, "text", text);
    jw_kz(w, "kind", kind);
    if (hotels >= 0) {
        jw_ki64(w, "count", hotels);
    }
    jw_obj_end(w);
}

/* Hits of the same name before this one. */
static bool named_before(const struct json *hits, uint32_t at, struct str name)
{
    for (uint32_t i = 0; i < at; i++) {
        if (str_eq(json_text(json_path(&hits->items[i], "_source." F_NAME)), name)) {
            return true;
        }
    }
    return false;
}

enum err find_answer_completions(struct buf *out, const struct completion *v, size_t n, size_t hotels,
                                 struct str reply, struct arena *arena, struct errmsg *em)
{
    struct json root;
    struct jsonw w;
    enum err e = answer_open(reply, &root, arena, em);
    const struct json *hits = e == ERR_OK ? json_path(&root, "hits.hits") : NULL;
    if (!json_is(hits, JSON_ARRAY)) {
        return e != ERR_OK ? e : err_set(em, ERR_PARSE, "the search service's answer has no hits");
    }
    jsonw_init(&w, out, false);
    jw_arr(&w);
    for (size_t i = 0; i < n; i++) {
        write_completion(&w, v[i].text, value_kind_name(v[i].value->kind), v[i].hotels);
    }
    for (uint32_t i = 0; i < hits->n && hotels > 0; i++) {
        struct str name = json_text(json_path(&hits->items[i], "_source." F_NAME));
        if (name.n > 0 && !named_before(hits, i, name)) {
            write_completion(&w, name, "hotel", -1);
            hotels--;
        }
    }
    jw_arr_end(&w);
    return ERR_OK;
}
