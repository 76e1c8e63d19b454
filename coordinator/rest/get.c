/* Reading one document, and what every reader of documents shares. */
#include "coordinator/ops/get.h"
#include "coordinator/core/ask.h"
#include "coordinator/rest/search.h"
#include "coordinator/rest/source_param.h"
#include "coordinator/rest/types.h"

#include "common/base/stop.h"
#include "engine/index/engine.h"

/* Work that the loop does itself: bytes of a source times patterns, each with what the steps of a pattern take. */
#define FILTER_QUICK MIB
#define FILTER_STEPS 16

/* Refuses versions that no document can have. VERSION_ANY is fine. ERR_ACTION_VALIDATION. */
static enum err get_check_version(int64_t version, int type, struct errmsg *em)
{
    if (version == VERSION_ANY || version > 0 || (version == 0 && type != VERSION_INTERNAL)) {
        return ERR_OK;
    }
    return err_set(em, ERR_ACTION_VALIDATION,
                   "Validation Failed: 1: illegal version value [%lld] for version type [%s];",
                   (long long)version,
                   type == VERSION_INTERNAL   ? "INTERNAL"
                   : type == VERSION_EXTERNAL ? "EXTERNAL"
                                              : "EXTERNAL_GTE");
}

static void fail_get(struct get_call *g, const struct errmsg *em)
{
    struct rest *r = rest_of(g->r);
    err_copy(&r->em, em);
    shard_rq_fini(&g->rq.rq);
    rest_fail(r, NULL);
}

static void source_missing(struct get_call *g)
{
    struct rest *r = rest_of(g->r);
    ERR_LOCAL(em);
    err_set(&em, ERR_RESOURCE_NOT_FOUND,
            g->rq.found ? "Source not found [%.*s]/[%.*s]/[%.*s]" : "Document not found [%.*s]/[%.*s]/[%.*s]",
            STR_ARG(rest_param(r, "index")), STR_ARG(g->type), STR_ARG(g->rq.id));
    fail_get(g, &em);
}

static void answer(struct get_call *g)
{
    struct rest *r = rest_of(g->r);
    struct buf b;
    struct jsonw w;
    struct stop st = {.asked = op_client_gone, .self = r->http};
    int status = g->rq.found ? 200 : 404;
    jsonw_start(&w, &b);
    stop_enter(&st);
    if (g->source_only) {
        get_write_source(&w, &g->filter, g->rq.source, &g->rq.rq.arena);
        r->unfiltered = true;
    } else {
        get_write(g, &w);
    }
    stop_leave(&st);
    shard_rq_fini(&g->rq.rq);
    rest_send(r, status, &b);
}

static void answer_apart(void *arg)
{
    answer(arg);
}

/* Does a loop have the time to filter the source? */
static bool answer_is_quick(const struct get_call *g)
{
    const struct source_filter *f = &g->filter;
    size_t patterns = (size_t)f->n_includes + f->n_excludes;
    return patterns == 0 || g->rq.source.n <= FILTER_QUICK / (patterns * FILTER_STEPS);
}

static void got(struct shard_rq *rq)
{
    struct get_call *g = (struct get_call *)rq;
    struct rest *r = rest_of(g->r);
    ERR_LOCAL(em);
    get_hide_other_type(g);
    if (err_is(&rq->error) || get_version_clashes(g, &em)) {
        fail_get(g, err_is(&rq->error) ? &rq->error : &em);
        return;
    }
    if (g->source_only && (!g->rq.found || g->rq.source.n == 0)) {
        source_missing(g);
        return;
    }
    const struct executor *requests = r->co->o.requests;
    if (answer_is_quick(g) || !op_on_loop(&r->env) || requests == NULL
        || !executor_submit_force(requests, answer_apart, g)) {
        answer(g);
    }
}

/* The list of stored fields; "_source" among them is the source. */
static enum err stored_fields(struct get_call *g)
{
    struct rest *r = rest_of(g->r);
    const struct str *v;
    uint32_t n;
    enum err e = rest_list(r, "stored_fields", &v, &n);
    struct str *kept = e == ERR_OK ? ARENA_ARRAY(r->arena, struct str, n) : NULL;
    if (kept == NULL) {
        return e != ERR_OK ? e : err_no_memory(&r->em);
    }
    g->fields_given = rest_has(r, "stored_fields");
    for (uint32_t i = 0; i < n; i++) {
        if (str_is(v[i], "_source")) {
            g->source_field = true;
        } else if (v[i].n > 0) {
            kept[g->rq.n_stored_fields++] = v[i];
        }
    }
    g->rq.stored_fields = kept;
    return ERR_OK;
}

static void get_any(struct rest *r, struct str type, bool source_only)
{
    struct get_call *g = ARENA_NEW(r->arena, struct get_call);
    if (g == NULL) {
        rest_no_memory(r);
        return;
    }
    shard_rq_init(&g->rq.rq, &shard_op_get, got, NULL);
    g->r = &r->env;
    g->type = type;
    g->source_only = source_only;
    g->filter = (struct source_filter){.enabled = true};
    g->rq.id = rest_param(r, "id");
    const struct json *filter = rest_source_filter(r);
    enum err e = filter != NULL ? source_filter_parse(&g->filter, filter, STR(""), r->arena, &r->em) : ERR_OK;
    e = e == ERR_OK ? rest_bool(r, "realtime", true, &g->rq.realtime) : e;
    e = e == ERR_OK ? rest_bool(r, "refresh", false, &g->rq.refresh) : e;
    g->version = VERSION_ANY;
    if (!source_only) {
        if (e == ERR_OK && rest_has(r, "fields")) {
            e = err_set(
                &r->em, ERR_ILLEGAL_ARGUMENT,
                "the parameter [fields] is no longer supported, please use [stored_fields] to retrieve "
                "stored fields or [_source] to load the field from _source");
        }
        e = e == ERR_OK ? rest_long(r, "version", VERSION_ANY, &g->version) : e;
        e = e == ERR_OK ? get_version_type(rest_param(r, "version_type"), &g->version_type, &r->em) : e;
        e = e == ERR_OK ? stored_fields(g) : e;
    }
    struct str index = rest_param(r, "index"), routing = rest_param(r, "routing"),
               preference = rest_param(r, "preference");
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? get_check_version(g->version, g->version_type, &r->em) : e;
    if (e == ERR_OK && source_only && !g->filter.enabled) {
        e = err_set(&r->em, ERR_ACTION_VALIDATION,
                    "Validation Failed: 1: fetching source can not be disabled;");
    }
    e = e == ERR_OK ? get_locate(&r->env, g, index, routing.n > 0 ? routing : STR_NULL, r->arena, &r->em) : e;
    e = e == ERR_OK ? rest_check_preference(r, preference) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    /* Stored fields stand for the source, unless it is asked for as well. */
    g->rq.want_source =
        source_only || (g->filter.enabled && (!g->fields_given || filter != NULL || g->source_field));
    g->rq.here = op_on_loop(&r->env);
    g->rq.rq.cancelled = op_client_gone;
    g->rq.rq.cancel_self = r->http;
    struct ask_where where = ask_anywhere(r->co, r->state, preference);
    ask_get(r->co, &where, &g->rq);
}

static void get_doc(struct rest *r)
{
    struct str type = rest_param(r, "type");
    get_any(r, type.p != NULL ? type : STR("_doc"), false);
}

static void get_source(struct rest *r)
{
    struct str type = rest_type(r, TYPED_SOURCE);
    get_any(r, type.p != NULL ? type : STR("_doc"), true);
}

static void typed_get(struct rest *r)
{
    get_any(r, rest_type(r, TYPED_GET), false);
}

const struct route routes_get[] = {
    {M_GET | M_HEAD, "/{index}/_doc/{id}", get_doc},
    {M_GET | M_HEAD, "/{index}/_source/{id}", get_source},
    {M_GET | M_HEAD, "/{index}/{type}/{id}", typed_get},
    {M_GET | M_HEAD, "/{index}/{type}/{id}/_source", get_source},
};
const size_t routes_get_n = ARRAY_LEN(routes_get);
