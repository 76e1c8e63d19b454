/* _ingest: pipelines, their simulation, and what processors know. */
#include "engine/ingest/ingest.h"

#include "common/base/java_hash.h"
#include "common/base/memory_account.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"
#include "coordinator/ops/get.h"
#include "coordinator/ops/writes_ingest.h"
#include "coordinator/rest/meta.h"
#include "engine/ingest/config.h"
#include "engine/ingest/grok.h"

/* ---- get ----------------------------------------------------------------------------------------------- */

static bool is_asked(struct str id, const struct str *names, uint32_t n)
{
    bool any = n == 0;
    for (uint32_t i = 0; !any && i < n; i++) {
        any = str_glob(names[i], id);
    }
    return any;
}

static void get_pipelines(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    const struct str *names;
    uint32_t n, found = 0;
    enum err e = rest_list(r, "id", &names, &n);
    e = e == ERR_OK ? rest_check_time(r, "master_timeout") : e;
    if (!rest_reads_state(r, e)) {
        return;
    }
    const struct pipelines_part *p = r->state->pipelines;
    jsonw_start(&w, &b);
    jw_obj(&w);
    for (uint32_t i = 0; p != NULL && i < p->n; i++) {
        if (is_asked(p->v[i].id, names, n)) {
            jw_key(&w, p->v[i].id);
            jw_raw(&w, p->v[i].body);
            found++;
        }
    }
    jw_obj_end(&w);
    rest_send(r, found > 0 ? 200 : 404, &b);
}

/* ---- put, delete --------------------------------------------------------------------------------------- */

/* The body as a map, as handlers of pipelines read it. */
static enum err read_map(struct rest *r, struct json *out)
{
    struct str body = r->body;
    r->body_read = true;
    if (body.n == 0) {
        body = rest_param(r, "source");
        rest_accept(r, "source_content_type");
    }
    return body.n == 0 ? err_set(&r->em, ERR_PARSE, "request body or source parameter is required")
                       : ingest_source_parse(out, body, r->arena, &r->em);
}

static enum err check_pipeline(struct rest *r, struct str id, const struct json *v)
{
    struct arena scratch;
    struct pipeline *p;
    memory_request_arena(&scratch);
    enum err e = pipeline_read(&p, id, v, &scratch, &r->em);
    arena_fini(&scratch);
    return e;
}

static void put_pipeline(struct rest *r)
{
    struct json v;
    int64_t timeout_ms = MASTER_TIMEOUT_MS;
    struct str id = rest_param(r, "id");
    enum err e = read_map(r, &v);
    e = e == ERR_OK ? rest_meta_timeouts(r, &timeout_ms) : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? check_pipeline(r, id, &v) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_meta(r, META_PUT_PIPELINE, &id, 1);
    if (rq == NULL) {
        return;
    }
    rq->timeout_ms = timeout_ms;
    if (!ingest_copy(&rq->body, &v, &rq->arena)) {
        rest_meta_free(rq);
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    rest_meta_acknowledge(r, rq);
}

static void delete_pipeline(struct rest *r)
{
    int64_t timeout_ms;
    struct str id = rest_param(r, "id");
    if (rest_meta_timeouts(r, &timeout_ms) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_DELETE_PIPELINE, &id, 1) : NULL;
    if (rq != NULL) {
        rq->timeout_ms = timeout_ms;
        rest_meta_acknowledge(r, rq);
    }
}

/* ---- simulate ------------------------------------------------------------------------------------------ */

struct simulation {
    struct rest *r;
    struct config c; /* of the body */
    const struct pipeline *pipeline;
    struct ingest_set *set;
    bool verbose;
    struct arena *arena; /* of one document */
};

static enum err text_or_int(struct config *c, const char *name, const char *otherwise, struct str *out)
{
    const struct json *v = config_take(c, name);
    *out = otherwise != NULL ? str_of(otherwise) : STR_NULL;
    if (v == NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_STRING && strcmp(ingest_class(v), "java.lang.Integer") != 0) {
        return config_fail(c, name, "property isn't a string or int, but of type [%s]", ingest_class(v));
    }
    *out = v->s;
    return ERR_OK;
}

/* A number that Java has as a Long, which small ones are not. */
static enum err long_number(struct config *c, const char *name, bool *has, int64_t *out)
{
    const struct json *v = json_get(c->v, name);
    *has = v != NULL;
    if (v == NULL) {
        return ERR_OK;
    }
    v = config_take(c, name);
    if (v == NULL) {
        return config_fail(c, name, "required property is missing");
    }
    const char *class = ingest_class(v);
    if (strcmp(class, "java.lang.Long") != 0) {
        return err_set(
            c->em, ERR_CLASS_CAST,
            "class %s cannot be cast to class java.lang.Long (%s and java.lang.Long are in module java.base "
            "of loader 'bootstrap')",
            class, class);
    }
    *has = json_i64(v, out);
    return ERR_OK;
}

static enum err read_version(struct config *c, struct ingest_meta *m)
{
    int ignored;
    enum err e = long_number(c, "_version", &m->has_version, &m->version);
    if (e != ERR_OK || json_get(c->v, "_version_type") == NULL) {
        return e;
    }
    e = config_str(c, "_version_type", &m->version_type);
    return e == ERR_OK ? get_version_type(m->version_type, &ignored, c->em) : e;
}

static enum err put_number(struct ingest_doc *d, struct config *c, const char *name)
{
    bool has;
    int64_t v;
    enum err e = long_number(c, name, &has, &v);
    return e == ERR_OK && has && !json_put(&d->root, d->arena, str_of(name), ingest_i64(v, d->arena))
               ? err_no_memory(c->em)
               : e;
}

static enum err read_document(struct simulation *s, const struct json *v, struct ingest_doc *d)
{
    struct config c;
    const struct json *source;
    struct ingest_meta m = {.index = STR_NULL};
    struct errmsg *em = &s->r->em;
    if (v->type != JSON_OBJECT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "malformed [docs] section, should include an inner object");
    }
    enum err e = config_init(&c, v, s->r->arena, 0, em);
    e = e == ERR_OK ? config_map(&c, "_source", true, &source) : e;
    e = e == ERR_OK ? text_or_int(&c, "_index", "_index", &m.index) : e;
    e = e == ERR_OK ? text_or_int(&c, "_type", "_doc", &m.type) : e;
    e = e == ERR_OK ? text_or_int(&c, "_id", "_id", &m.id) : e;
    e = e == ERR_OK ? text_or_int(&c, "_routing", NULL, &m.routing) : e;
    e = e == ERR_OK ? read_version(&c, &m) : e;
    e = e == ERR_OK ? ingest_doc_init(d, source, &m, ingest_now(s->r->co->o.clock), s->r->arena, em) : e;
    e = e == ERR_OK ? put_number(d, &c, "_if_seq_no") : e;
    return e == ERR_OK ? put_number(d, &c, "_if_primary_term") : e;
}

static void write_document(struct jsonw *w, const struct json *root, const struct json *ingest,
                           struct arena *arena)
{
    static const char *const metadata[] = {"_index",   "_type",         "_id",        "_routing",
                                           "_version", "_version_type", "_if_seq_no", "_if_primary_term"};
    struct json source = java_ordered(root, arena);
    jw_obj(w);
    for (size_t i = 0; i < ARRAY_LEN(metadata); i++) {
        const struct json *v = json_get(&source, metadata[i]);
        if (v != NULL && v->type != JSON_NULL) {
            jw_kstr(w, metadata[i], ingest_text(v, arena));
        }
    }
    jw_k(w, "_source");
    jw_obj(w);
    for (uint32_t k = 0; k < source.n; k++) {
        bool own = true;
        for (size_t i = 0; i < ARRAY_LEN(metadata); i++) {
            own = own && !str_is(source.members[k].key, metadata[i]);
        }
        if (own) {
            jw_key(w, source.members[k].key);
            jw_value(w, &source.members[k].value);
        }
    }
    jw_obj_end(w);
    jw_k(w, "_ingest");
    jw_value(w, ingest);
    jw_obj_end(w);
}

static void write_failure(struct jsonw *w, const struct errmsg *em)
{
    jw_k(w, "error");
    jw_obj(w);
    error_write(w, em);
    jw_obj_end(w);
}

static void write_step(struct jsonw *w, const struct ingest_step *s, struct arena *arena)
{
    static const char *const names[] = {"success", "error", "error_ignored", "skipped", "dropped"};
    jw_obj(w);
    jw_kz(w, "processor_type", s->type);
    jw_kz(w, "status", names[s->kind]);
    if (s->description.p != NULL) {
        jw_kstr(w, "description", s->description);
    }
    if (s->tag.p != NULL) {
        jw_kstr(w, "tag", s->tag);
    }
    if (s->has_condition) {
        jw_k(w, "if");
        jw_obj(w);
        jw_kstr(w, "condition", s->condition);
        jw_kbool(w, "result", s->condition_result);
        jw_obj_end(w);
    }
    if (s->kind == STEP_ERROR_IGNORED) {
        jw_k(w, "ignored_error");
        jw_obj(w);
        write_failure(w, s->error);
        jw_obj_end(w);
    } else if (s->kind == STEP_ERROR) {
        write_failure(w, s->error);
    }
    if (s->source.type == JSON_OBJECT) {
        jw_k(w, "doc");
        write_document(w, &s->source, &s->ingest, arena);
    }
    jw_obj_end(w);
}

static void write_steps(struct jsonw *w, const struct ingest_report *report, struct arena *arena)
{
    jw_obj(w);
    jw_k(w, "processor_results");
    jw_arr(w);
    for (uint32_t i = 0; i < report->n; i++) {
        write_step(w, &report->v[i], arena);
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

/* ERR_OK: the document's result is written, be it an error. */
static enum err simulate_document(struct simulation *s, struct ingest_doc *d, struct jsonw *w)
{
    struct rest *r = s->r;
    struct ingest_report report = {0};
    d->set = s->set;
    d->report = s->verbose ? &report : NULL;
    enum err e = pipeline_run(s->pipeline, d, &r->em);
    if (e == ERR_CANCELLED || e == ERR_NO_MEMORY || d->thrown) {
        return e;
    }
    if (s->verbose) {
        write_steps(w, &report, r->arena);
    } else if (e != ERR_OK) {
        jw_obj(w);
        write_failure(w, &r->em);
        jw_obj_end(w);
    } else if (d->dropped) {
        jw_null(w);
    } else {
        jw_obj(w);
        jw_k(w, "doc");
        write_document(w, &d->root, &d->ingest, r->arena);
        jw_obj_end(w);
    }
    err_clear(&r->em);
    return ERR_OK;
}

static enum err find_pipeline(struct simulation *s, struct str id)
{
    struct pipeline *own;
    const struct json *v;
    struct rest *r = s->r;
    if (id.p != NULL) {
        s->pipeline = ingest_set_find(s->set, id);
        return s->pipeline != NULL
                   ? ERR_OK
                   : err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "pipeline [%.*s] does not exist", STR_ARG(id));
    }
    enum err e = config_map(&s->c, "pipeline", true, &v);
    e = e == ERR_OK ? pipeline_read(&own, STR("_simulate_pipeline"), v, r->arena, &r->em) : e;
    s->pipeline = e == ERR_OK ? own : NULL;
    return e;
}

/* All documents are read before the first is run. */
static enum err simulate_all(struct simulation *s, const struct json *docs, struct jsonw *w)
{
    struct rest *r = s->r;
    struct ingest_doc *d = ARENA_ARRAY(r->arena, struct ingest_doc, docs->n);
    enum err e = d != NULL ? ERR_OK : err_no_memory(&r->em);
    for (uint32_t i = 0; e == ERR_OK && i < docs->n; i++) {
        e = read_document(s, &docs->items[i], &d[i]);
    }
    jw_obj(w);
    jw_k(w, "docs");
    jw_arr(w);
    for (uint32_t i = 0; e == ERR_OK && i < docs->n; i++) {
        e = simulate_document(s, &d[i], w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
    return e;
}

static enum err simulate_body(struct simulation *s, struct str id, const struct json *body, struct jsonw *w)
{
    struct rest *r = s->r;
    const struct json *docs;
    enum err e = config_init(&s->c, body, r->arena, 0, &r->em);
    e = e == ERR_OK ? find_pipeline(s, id) : e;
    e = e == ERR_OK ? config_list(&s->c, "docs", true, &docs) : e;
    if (e == ERR_OK && docs->n == 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "must specify at least one document in [docs]");
    }
    return e == ERR_OK ? simulate_all(s, docs, w) : e;
}

static void simulate(struct rest *r)
{
    struct json body;
    struct buf b;
    struct jsonw w;
    struct stop st = {.asked = op_client_gone, .self = r->http};
    struct simulation s = {.r = r};
    struct str id = rest_param(r, "id");
    enum err e = rest_bool(r, "verbose", false, &s.verbose);
    e = e == ERR_OK ? read_map(r, &body) : e;
    if (!rest_goes_on(r, e)) {
        return;
    }
    jsonw_start(&w, &b);
    s.set = ingest_set_now();
    stop_enter(&st);
    e = simulate_body(&s, id, &body, &w);
    stop_leave(&st);
    ingest_set_unref(s.set);
    if (e != ERR_OK) {
        buf_fini(&b);
        rest_fail(r, NULL);
    } else {
        rest_send(r, 200, &b);
    }
}

/* ---- what grok knows ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct grok_pattern *const *)a)->name,
                  (*(const struct grok_pattern *const *)b)->name);
}

/* `s`: they are in the order of their names; else in that of the list. */
static void get_grok(struct rest *r)
{
    bool sorted;
    struct buf b;
    struct jsonw w;
    if (rest_bool(r, "s", false, &sorted) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    const struct grok_pattern **v = ARENA_ARRAY(r->arena, const struct grok_pattern *, grok_patterns_n);
    if (v == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    for (size_t i = 0; i < grok_patterns_n; i++) {
        v[i] = &grok_patterns[i];
    }
    if (sorted) {
        sort_items(v, grok_patterns_n, sizeof(*v), by_name);
    }
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_k(&w, "patterns");
    jw_obj(&w);
    for (size_t i = 0; i < grok_patterns_n; i++) {
        jw_kz(&w, v[i]->name, v[i]->text);
    }
    jw_obj_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

const struct route routes_ingest[] = {
    {M_GET, "/_ingest/pipeline", get_pipelines},
    {M_GET, "/_ingest/pipeline/{id}", get_pipelines},
    {M_PUT, "/_ingest/pipeline/{id}", put_pipeline},
    {M_DELETE, "/_ingest/pipeline/{id}", delete_pipeline},
    {M_GET | M_POST, "/_ingest/pipeline/_simulate", simulate},
    {M_GET | M_POST, "/_ingest/pipeline/{id}/_simulate", simulate},
    {M_GET, "/_ingest/processor/grok", get_grok},
};
const size_t routes_ingest_n = ARRAY_LEN(routes_ingest);
