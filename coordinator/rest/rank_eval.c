/* _rank_eval: rated requests are searched for, and what comes back is judged by a metric. */
#include "coordinator/rest/search.h"
#include "coordinator/rest/search_template.h"

#include "common/base/jsonr_object.h"
#include "common/base/sort_items.h"
#include "engine/search/search.h"

#include <math.h>
#include <stdlib.h>

#define NOT_GIVEN INT32_MIN

struct rating {
    struct str index, id;
    int32_t rating;
};

struct metric;

struct judging { /* a metric with its parameters */
    const struct metric *metric;
    int32_t threshold, k, unknown, maximum;
    bool ignore_unlabeled, normalize;
};

struct rated_hit {
    struct str json;
    struct rating of;
    bool rated;
};

struct rated {
    struct str id, template_id;
    struct rating *v;
    uint32_t n;
    const struct json *request, *params; /* NULL: none */
    const struct str *summary;
    uint32_t n_summary;
    struct search_call *call;
    /* the result */
    struct str failure; /* an object; p == NULL: none */
    struct rated_hit *hits;
    uint32_t n_hits;
    double score;
    int64_t details[2]; /* what the metric counted */
    double dcg, ideal;
};

struct rank_eval {
    struct rest *r;
    struct judging how;
    struct rated *v;
    uint32_t n;
    struct named_template *templates;
    uint32_t n_templates;
    int32_t at_a_time; /* checked, and no more */
    struct expand_options indices;
    bool dfs;
    uint32_t started;
};

/* ---- metrics --------------------------------------------------------------------------------------------------------------------- */

struct metric {
    const char *name, *parser; /* parser NULL: it is called as the metric */
    unsigned params;           /* bits of the enum below */
    const char *details[2];    /* what it counts; NULL: nothing more */
    double (*score)(const struct judging *how, struct rated *q);
};

static bool relevant(const struct judging *how, const struct rated_hit *h)
{
    return h->rated && h->of.rating >= how->threshold;
}

static double precision(const struct judging *how, struct rated *q)
{
    for (uint32_t i = 0; i < q->n_hits; i++) {
        q->details[0] += relevant(how, &q->hits[i]);
        q->details[1] += q->hits[i].rated || !how->ignore_unlabeled;
    }
    return q->details[1] > 0 ? (double)q->details[0] / (double)q->details[1] : 0;
}

static double recall(const struct judging *how, struct rated *q)
{
    precision(how, q);
    q->details[1] = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        q->details[1] += q->v[i].rating >= how->threshold;
    }
    return q->details[1] > 0 ? (double)q->details[0] / (double)q->details[1] : 0;
}

static double reciprocal_rank(const struct judging *how, struct rated *q)
{
    q->details[0] = -1;
    for (uint32_t i = 0; q->details[0] < 0 && i < q->n_hits; i++) {
        q->details[0] = relevant(how, &q->hits[i]) ? (int64_t)i + 1 : -1;
    }
    return q->details[0] > 0 ? 1 / (double)q->details[0] : 0;
}

/* The rating of a hit, or what stands for one that has none. false: nothing does. */
static bool rating_of(const struct judging *how, const struct rated_hit *h, int32_t *out)
{
    *out = h->rated ? h->of.rating : how->unknown;
    return h->rated || how->unknown != NOT_GIVEN;
}

static double gain(int32_t rating, uint32_t rank)
{
    return (pow(2, rating) - 1) / (log((double)rank + 1) / log(2));
}

static int best_first(const void *a, const void *b)
{
    const int32_t x = ((const struct rating *)a)->rating, y = ((const struct rating *)b)->rating;
    return x < y ? 1 : x > y ? -1 : 0;
}

static double dcg(const struct judging *how, struct rated *q)
{
    int32_t rating;
    for (uint32_t i = 0; i < q->n_hits; i++) {
        q->dcg += rating_of(how, &q->hits[i], &rating) ? gain(rating, i + 1) : 0;
        q->details[0] += !q->hits[i].rated;
    }
    if (!how->normalize) {
        return q->dcg;
    }
    sort_items(q->v, q->n, sizeof(*q->v), best_first); /* what is rated is looked up no more */
    for (uint32_t i = 0; i < MIN_OF(q->n, q->n_hits); i++) {
        q->ideal += gain(q->v[i].rating, i + 1);
    }
    return q->ideal != 0 ? q->dcg / q->ideal : 0;
}

static double expected_reciprocal_rank(const struct judging *how, struct rated *q)
{
    double left = 1, sum = 0;
    int32_t rating;
    for (uint32_t i = 0; i < q->n_hits; i++) {
        if (rating_of(how, &q->hits[i], &rating)) {
            double likely = (pow(2, rating) - 1) / pow(2, how->maximum);
            sum += left * likely / (double)(i + 1);
            left *= 1 - likely;
        }
        q->details[0] += !q->hits[i].rated;
    }
    return sum;
}

/* Parameters, and the bits that name them in a metric's row. */
enum { THRESHOLD = 1, IGNORE = 2, NORMALIZE = 4, UNKNOWN = 8, MAXIMUM = 16, K = 32 };
static const struct jr_field parameters[] = {
    {"relevant_rating_threshold", JR_INT_AT(struct judging, threshold), JR_OPTIONAL},
    {"ignore_unlabeled", JR_BOOL_AT(struct judging, ignore_unlabeled), JR_OPTIONAL},
    {"normalize", JR_BOOL_AT(struct judging, normalize), JR_OPTIONAL},
    {"unknown_doc_rating", JR_INT_AT(struct judging, unknown), JR_OPTIONAL},
    {"maximum_relevance", JR_INT_AT(struct judging, maximum), JR_REQUIRED},
    {"k", JR_INT_AT(struct judging, k), JR_OPTIONAL}};

static const struct metric metrics[] = {
    {"precision", NULL, THRESHOLD | IGNORE | K, {"relevant_docs_retrieved", "docs_retrieved"}, precision},
    {"recall", NULL, THRESHOLD | K, {"relevant_docs_retrieved", "relevant_docs"}, recall},
    {"mean_reciprocal_rank", "reciprocal_rank", THRESHOLD | K, {"first_relevant"}, reciprocal_rank},
    {"dcg", NULL, NORMALIZE | UNKNOWN | K, {"unrated_docs"}, dcg},
    {"expected_reciprocal_rank", NULL, MAXIMUM | UNKNOWN | K, {"unrated_docs"}, expected_reciprocal_rank},
};

static enum err metric_build(struct jr_reader *rd, void *to)
{
    const struct judging *how = to;
    const char *why = (how->metric->params & THRESHOLD) == 0 ? NULL
                      : how->threshold < 0
                          ? "Relevant rating threshold for precision must be positive integer."
                      : how->k <= 0 ? "Window size k must be positive."
                                    : NULL;
    return why == NULL ? ERR_OK : err_set(rd->em, ERR_ILLEGAL_ARGUMENT, "%s", why);
}

static enum err read_metric(struct jr_reader *rd, struct judging *how, const struct json *v)
{
    const char *names[ARRAY_LEN(metrics) + 1] = {0};
    size_t at;
    for (size_t i = 0; i < ARRAY_LEN(metrics); i++) {
        names[i] = metrics[i].name;
    }
    enum err e = jr_named_object(rd, names, v, &at);
    if (e != ERR_OK) {
        return e;
    }
    const struct metric *m = how->metric = &metrics[at];
    struct jr_field fields[ARRAY_LEN(parameters)];
    struct jr_object o = {m->parser != NULL ? m->parser : m->name, fields, 0, NULL, metric_build};
    for (size_t i = 0; i < ARRAY_LEN(parameters); i++) {
        if ((m->params >> i & 1) != 0) {
            fields[o.n++] = parameters[i];
        }
    }
    e = jr_object_at(rd, &o, how, &v->members[0].value);
    return e == ERR_OK ? jr_named_end(rd, v) : e;
}

static int by_document(const void *a, const void *b)
{
    const struct rating *x = a, *y = b;
    int order = str_cmp(x->index, y->index);
    return order != 0 ? order : str_cmp(x->id, y->id);
}

static enum err rated_read(struct jr_reader *rd, void *to, const char *field, const struct json *v)
{
    static const struct jr_field fields[] = {{"_index", JR_STR_AT(struct rating, index), JR_REQUIRED},
                                             {"_id", JR_STR_AT(struct rating, id), JR_REQUIRED},
                                             {"rating", JR_INT_AT(struct rating, rating), JR_REQUIRED}};
    static const struct jr_object object = {"rated_document", fields, ARRAY_LEN(fields), NULL, NULL};
    struct rated *q = to;
    struct search_source probe;
    if (strcmp(field, "ratings") == 0) {
        return jr_read_objects(rd, &object, v, sizeof(*q->v), (void **)&q->v, &q->n);
    }
    if (strcmp(field, "summary_fields") == 0) {
        return jr_strings(v, rd->arena, &q->summary, &q->n_summary) ? ERR_OK : err_no_memory(rd->em);
    }
    q->request = v;
    search_source_init(&probe);
    return search_source_parse(&probe, v, rd->text, rd->arena, rd->em);
}

/* A part that a rated request may not have; NULL: it has none. */
static const char *not_evaluated(const struct json *source)
{
    static const char *const wrong[][2] = {
        {"suggest", "Query in rated requests should not contain a suggest section."},
        {"aggs", "Query in rated requests should not contain aggregations."},
        {"aggregations", "Query in rated requests should not contain aggregations."},
        {"highlight", "Query in rated requests should not contain a highlighter section."},
        {"explain", "Query in rated requests should not use explain."},
        {"profile", "Query in rated requests should not use profile."}};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        const struct json *v = json_get(source, wrong[i][0]);
        if (v != NULL && !str_is(json_text(v), "false")) {
            return wrong[i][1];
        }
    }
    return NULL;
}

static enum err rated_build(struct jr_reader *rd, void *to)
{
    struct rated *q = to;
    const bool params = q->params != NULL && q->params->n > 0;
    const char *why =
        q->request != NULL && (params || q->template_id.p != NULL)
            ? "Ambiguous rated request: Set both, verbatim test request and test request template parameters."
        : q->request == NULL && !params
            ? "Need to set at least test request or test request template parameters."
        : params && q->template_id.p == NULL
            ? "If template parameters are supplied need to set id of template to apply them to too."
            : NULL;
    sort_items(q->v, q->n, sizeof(*q->v), by_document);
    for (uint32_t i = 1; why == NULL && i < q->n; i++) {
        if (by_document(&q->v[i - 1], &q->v[i]) == 0) {
            return err_set(rd->em, ERR_ILLEGAL_ARGUMENT,
                           "Found duplicate rated document key [{\"_index\":\"%.*s\",\"_id\":\"%.*s\"}] in "
                           "evaluation request [%.*s]",
                           STR_ARG(q->v[i].index), STR_ARG(q->v[i].id), STR_ARG(q->id));
        }
    }
    why = why == NULL && q->request != NULL ? not_evaluated(q->request) : why;
    return why == NULL ? ERR_OK : err_set(rd->em, ERR_ILLEGAL_ARGUMENT, "%s", why);
}

static enum err spec_read(struct jr_reader *rd, void *to, const char *field, const struct json *v)
{
    static const struct jr_field rated_fields[] = {
        {"id", JR_STR_AT(struct rated, id), JR_REQUIRED},
        {"ratings", JR_BY_READER(JR_ARRAY | JR_OBJECT), JR_REQUIRED},
        {"request", JR_BY_READER(JR_OBJECT), JR_OPTIONAL},
        {"params", JR_OBJECT_AT(struct rated, params), JR_OPTIONAL},
        {"summary_fields", JR_BY_READER(JR_ARRAY | JR_STRING), JR_SETTER},
        {"template_id", JR_STR_AT(struct rated, template_id), JR_OPTIONAL}};
    static const struct jr_field template_fields[] = {
        {"id", JR_STR_AT(struct named_template, id), JR_REQUIRED},
        {"template", JR_OBJECT_AT(struct named_template, script), JR_REQUIRED}};
    static const struct jr_object rated = {"request", rated_fields, ARRAY_LEN(rated_fields), rated_read,
                                           rated_build};
    static const struct jr_object template = {"script_with_id", template_fields, ARRAY_LEN(template_fields),
                                              NULL, NULL};
    struct rank_eval *q = to;
    return field[0] == 'm'   ? read_metric(rd, &q->how, v)
           : field[0] == 'r' ? jr_read_objects(rd, &rated, v, sizeof(*q->v), (void **)&q->v, &q->n)
                             : jr_read_objects(rd, &template, v, sizeof(*q->templates),
                                               (void **)&q->templates, &q->n_templates);
}

static enum err spec_build(struct jr_reader *rd, void *to)
{
    const struct rank_eval *q = to;
    if (q->n == 0) {
        return err_set(
            rd->em, ERR_ILLEGAL_ARGUMENT,
            "Cannot evaluate ranking if no search requests with rated results are provided. Seen: []");
    }
    for (uint32_t i = 0; q->n_templates == 0 && i < q->n; i++) {
        if (q->v[i].request == NULL) {
            return err_set(
                rd->em, ERR_ILLEGAL_STATE,
                "Cannot evaluate ranking if neither template nor evaluation request is provided. Seen for "
                "request id: %.*s",
                STR_ARG(q->v[i].id));
        }
    }
    return ERR_OK;
}

static enum err read_spec(struct rank_eval *q)
{
    static const struct jr_field fields[] = {
        {"requests", JR_BY_READER(JR_ARRAY | JR_OBJECT), JR_REQUIRED},
        {"metric", JR_BY_READER(JR_OBJECT), JR_REQUIRED},
        {"templates", JR_BY_READER(JR_ARRAY | JR_OBJECT), JR_OPTIONAL},
        {"max_concurrent_searches", JR_INT_AT(struct rank_eval, at_a_time), JR_SETTER}};
    static const struct jr_object object = {"rank_eval", fields, ARRAY_LEN(fields), spec_read, spec_build};
    struct rest *r = q->r;
    const struct json *body;
    enum err e = rest_body(r, &body);
    if (e != ERR_OK || body == NULL) {
        return e != ERR_OK ? e : err_set(&r->em, ERR_PARSE, "request body or source parameter is required");
    }
    struct jr_reader rd = {.text = r->body, .arena = r->arena, .em = &r->em};
    e = rest_index_options(r, &q->indices);
    struct str type = rest_param(r, "search_type");
    q->dfs = str_is(type, "dfs_query_then_fetch");
    if (e == ERR_OK && type.p != NULL && !q->dfs && !str_is(type, "query_then_fetch")) {
        e = rest_no_search_type(type, &r->em);
    }
    e = e == ERR_OK ? jr_object_at(&rd, &object, q, body) : e;
    return e == ERR_OK && q->at_a_time < 1
               ? err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "maxConcurrentSearchRequests must be positive")
               : e;
}

static void answer(struct rank_eval *q);

static void free_calls(struct rank_eval *q)
{
    for (uint32_t i = 0; i < q->n && q->v[i].call != NULL; i++) {
        search_free(q->v[i].call);
    }
}

/* One after the other: a request of many searches leaves room for those of others. None begins once the client is gone. */
static void rank_eval_next(struct rank_eval *q)
{
    if (op_client_gone(q->r->http)) {
        free_calls(q);
        err_set(&q->r->em, ERR_CANCELLED, "the client is gone");
        rest_fail(q->r, NULL);
    } else if (q->started == q->n) {
        answer(q);
    } else {
        search_run(q->v[q->started++].call); /* q may be gone */
    }
}

static void searched(struct search_call *c)
{
    rank_eval_next(c->user);
}

/* The request that a template makes of the parameters. */
static enum err take_template(struct rank_eval *q, struct rated *v)
{
    struct rest *r = q->r;
    enum err e = named_template_body(q->templates, q->n_templates, v->template_id, v->params, r, &v->request);
    const char *why = e == ERR_OK ? not_evaluated(v->request) : NULL;
    return why == NULL ? e : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", why);
}

static enum err prepare(struct rank_eval *q, struct rated *v)
{
    struct rest *r = q->r;
    struct json body, source = json_mk_bool(false);
    if (v->request == NULL && take_template(q, v) != ERR_OK) {
        return err_code(&r->em);
    }
    if (q->how.k < 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[size] parameter cannot be negative, found [%d]",
                       q->how.k);
    }
    struct json size = {.type = JSON_NUMBER, .s = arena_printf(r->arena, "%d", q->how.k)};
    struct json *items = ARENA_ARRAY(r->arena, struct json, v->n_summary);
    for (uint32_t i = 0; items != NULL && i < v->n_summary; i++) {
        items[i] = json_mk_str(v->summary[i]);
    }
    if (v->n_summary > 0) {
        source = (struct json){.type = JSON_ARRAY, .n = v->n_summary, .items = items};
    }
    v->call = search_new(&r->env);
    if (v->call == NULL || items == NULL || size.s.p == NULL || !json_copy(&body, v->request, r->arena)
        || !json_put(&body, r->arena, STR("size"), size)
        || !json_put(&body, r->arena, STR("_source"), source)) {
        return err_no_memory(&r->em);
    }
    v->call->o.index = rest_param(r, "index");
    v->call->o.indices = q->indices;
    v->call->o.dfs = q->dfs;
    v->call->done = searched;
    v->call->user = q;
    return rest_search_body(r, &body, &v->call->o);
}

/* The error of a search as an object. */
static void keep_failure(const struct rank_eval *q, struct rated *v)
{
    struct json *tree = ARENA_NEW(q->r->arena, struct json);
    struct buf b;
    struct jsonw w;
    int status;
    jsonw_start(&w, &b);
    search_write(v->call, &w, &status);
    struct str text = arena_str(q->r->arena, buf_view(&b));
    if (text.p != NULL && tree != NULL
        && json_parse(tree, text, q->r->arena, &json_limits_default, NULL) == ERR_OK
        && json_get(tree, "error") != NULL) {
        v->failure = str_slice(text, json_get(tree, "error")->off, json_get(tree, "error")->end);
    }
    buf_fini(&b);
}

/* false: the search failed. */
static bool judge(const struct rank_eval *q, struct rated *v)
{
    const struct search_call *c = v->call;
    struct arena *arena = q->r->arena;
    struct json hit;
    if (err_is(&c->error) || search_all_failed(c)) {
        keep_failure(q, v);
    }
    v->hits = ARENA_ARRAY(arena, struct rated_hit, c->reduced.n);
    for (uint32_t i = 0; v->failure.p == NULL && c->hits != NULL && v->hits != NULL && i < c->reduced.n;
         i++) {
        struct str text = arena_str(arena, c->hits[i]);
        if (text.n == 0 || json_parse(&hit, text, arena, &json_limits_default, NULL) != ERR_OK) {
            continue;
        }
        const struct rating key = {.index = json_text(json_get(&hit, "_index")),
                                   .id = json_text(json_get(&hit, "_id"))};
        const struct rating *found = v->n > 0 ? bsearch(&key, v->v, v->n, sizeof(key), by_document) : NULL;
        v->hits[v->n_hits++] = (struct rated_hit){text, found != NULL ? *found : key, found != NULL};
    }
    v->score = q->how.metric->score(&q->how, v);
    return v->failure.p == NULL;
}

/* Of several requests by one id, the last one counts. */
static bool counts(const struct rank_eval *q, uint32_t at)
{
    uint32_t later = at + 1;
    while (later < q->n && !str_eq(q->v[later].id, q->v[at].id)) {
        later++;
    }
    return later == q->n;
}

static void write_details(const struct rank_eval *q, const struct rated *v, struct jsonw *w)
{
    jw_kdouble(w, "metric_score", v->score);
    jw_karr(w, "unrated_docs");
    for (uint32_t i = 0; i < v->n_hits; i++) {
        if (!v->hits[i].rated) {
            jw_obj(w);
            jw_kstr(w, "_index", v->hits[i].of.index);
            jw_kstr(w, "_id", v->hits[i].of.id);
            jw_obj_end(w);
        }
    }
    jw_arr_end(w);
    jw_karr(w, "hits");
    for (uint32_t i = 0; i < v->n_hits; i++) {
        jw_obj(w);
        jw_k(w, "hit");
        jw_raw(w, v->hits[i].json);
        jw_k(w, "rating");
        if (v->hits[i].rated) {
            jw_i64(w, v->hits[i].of.rating);
        } else {
            jw_null(w);
        }
        jw_obj_end(w);
    }
    jw_arr_end(w);
    jw_kobj(w, "metric_details");
    jw_kobj(w, q->how.metric->name);
    if (q->how.metric->score == dcg) {
        jw_kdouble(w, "dcg", v->dcg);
    }
    if (v->ideal != 0) {
        jw_kdouble(w, "ideal_dcg", v->ideal);
        jw_kdouble(w, "normalized_dcg", v->score);
    }
    for (size_t i = 0; i < ARRAY_LEN(v->details) && q->how.metric->details[i] != NULL; i++) {
        jw_ki64(w, q->how.metric->details[i], v->details[i]);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

/* Those that failed, or those that did not. */
static void write_part(const struct rank_eval *q, const char *key, bool of_failed, struct jsonw *w)
{
    jw_kobj(w, key);
    for (uint32_t i = 0; i < q->n; i++) {
        const struct rated *v = &q->v[i];
        if ((v->failure.p != NULL) == of_failed && counts(q, i)) {
            jw_key(w, v->id);
            jw_obj(w);
            if (of_failed) {
                jw_k(w, "error");
                jw_raw(w, v->failure);
            } else {
                write_details(q, v, w);
            }
            jw_obj_end(w);
        }
    }
    jw_obj_end(w);
}

static void answer(struct rank_eval *q)
{
    struct buf b;
    struct jsonw w;
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < q->n; i++) {
        if (judge(q, &q->v[i]) && counts(q, i)) {
            sum += q->v[i].score;
            n++;
        }
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_k(&w, "metric_score");
    if (n > 0) {
        jw_double(&w, sum / n);
    } else {
        jw_z(&w, "NaN");
    }
    write_part(q, "details", false, &w);
    write_part(q, "failures", true, &w);
    jw_obj_end(&w);
    free_calls(q);
    rest_send(q->r, 200, &b);
}

static void rank_eval(struct rest *r)
{
    struct rank_eval *q = ARENA_NEW(r->arena, struct rank_eval);
    enum err e = q != NULL ? ERR_OK : err_no_memory(&r->em);
    if (e == ERR_OK) {
        *q = (struct rank_eval){.r = r,
                                .how = {.threshold = 1, .k = 10, .unknown = NOT_GIVEN},
                                .at_a_time = 1,
                                .indices = EXPAND_OPTIONS_SEARCH};
        rest_accept(r, "index");
        e = read_spec(q);
    }
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? named_templates_check(q->templates, q->n_templates, r->state, r->arena, &r->em) : e;
    for (uint32_t i = 0; e == ERR_OK && i < q->n; i++) {
        e = prepare(q, &q->v[i]);
    }
    if (e == ERR_OK) {
        rank_eval_next(q);
        return;
    }
    if (q != NULL) {
        free_calls(q);
    }
    rest_fail(r, NULL);
}

const struct route routes_rank_eval[] = {
    {M_GET | M_POST, "/_rank_eval", rank_eval},
    {M_GET | M_POST, "/{index}/_rank_eval", rank_eval},
};
const size_t routes_rank_eval_n = ARRAY_LEN(routes_rank_eval);
