/* Reading one document, and what every reader of documents shares. */
#include "coordinator/rest/get.h"
#include "coordinator/core/ask.h"
#include "coordinator/core/routing_required.h"

#include "common/base/stop.h"
#include "engine/index/engine.h"
#include "engine/mapping/source_filter.h"

/* Work that the loop does itself: bytes of a source times patterns, each with what the steps of a pattern take. */
#define FILTER_QUICK MIB
#define FILTER_STEPS 16

enum err get_version_type(struct str text, int *out, struct errmsg *em)
{
    static const struct {
        const char *name;
        int type; /* enum version_type */
    } types[] = {{"internal", VERSION_INTERNAL},
                 {"external", VERSION_EXTERNAL},
                 {"external_gt", VERSION_EXTERNAL},
                 {"external_gte", VERSION_EXTERNAL_GTE}};
    *out = VERSION_INTERNAL;
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        if (text.p == NULL || str_is(text, types[i].name)) {
            *out = types[i].type;
            return ERR_OK;
        }
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "No version type match [%.*s]", STR_ARG(text));
}

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

const struct json *rest_source_filter(struct rest *r)
{
    struct str plain = rest_param(r, "_source"), in = rest_param(r, "_source_includes"),
               ex = rest_param(r, "_source_excludes");
    if (plain.p == NULL && in.p == NULL && ex.p == NULL) {
        return NULL;
    }
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    if (str_is(plain, "false") || (str_is(plain, "true") && in.p == NULL && ex.p == NULL)) {
        jw_bool(&w, str_is(plain, "true"));
    } else {
        const char *keys[2] = {"includes", "excludes"};
        struct str lists[2] = {in.p != NULL || str_is(plain, "true") ? in : plain, ex};
        jw_obj(&w);
        for (int i = 0; i < 2; i++) {
            struct str rest = lists[i];
            jw_k(&w, keys[i]);
            jw_arr(&w);
            while (rest.n > 0) {
                jw_str(&w, str_trim(str_cut(rest, ',', &rest)));
            }
            jw_arr_end(&w);
        }
        jw_obj_end(&w);
    }
    struct json *v = ARENA_NEW(r->arena, struct json);
    struct str text = arena_str(r->arena, buf_view(&b));
    buf_fini(&b);
    return v != NULL && text.p != NULL
                   && json_parse(v, text, r->arena, &json_limits_default, &r->em) == ERR_OK
               ? v
               : NULL;
}

void get_write_source(struct jsonw *w, const struct source_filter *f, struct str source, struct arena *arena)
{
    struct json tree;
    struct source_patterns p = {f->includes, f->excludes, f->n_includes, f->n_excludes};
    if ((p.n_includes > 0 || p.n_excludes > 0)
        && json_parse(&tree, source, arena, &json_limits_default, NULL) == ERR_OK) {
        source_filter_write(&tree, &p, w);
    } else {
        jw_raw(w, source);
    }
}

static void fail_get(struct get_call *g, const struct errmsg *em)
{
    struct rest *r = g->r;
    r->em = *em;
    shard_rq_fini(&g->rq.rq);
    rest_fail(r, NULL);
}

bool get_version_clashes(const struct get_call *g, struct errmsg *em)
{
    if (g->version == VERSION_ANY || !g->rq.found || g->version == g->rq.version) {
        return false;
    }
    err_set(em, ERR_CONFLICT,
            "[%.*s]: version conflict, current version [%lld] is different than the one provided [%lld]",
            STR_ARG(g->rq.id), (long long)g->rq.version, (long long)g->version);
    err_about_index(em, g->meta->name, g->meta->uuid);
    err_about_shard(em, (int)g->rq.rq.shard.shard);
    return true;
}

static void source_missing(struct get_call *g)
{
    struct rest *r = g->r;
    struct errmsg em;
    err_set(&em, ERR_RESOURCE_NOT_FOUND,
            g->rq.found ? "Source not found [%.*s]/[%.*s]/[%.*s]" : "Document not found [%.*s]/[%.*s]/[%.*s]",
            STR_ARG(rest_param(r, "index")), STR_ARG(g->type), STR_ARG(g->rq.id));
    fail_get(g, &em);
}

static void write_ignored(struct jsonw *w, const struct str *names, uint32_t n)
{
    if (n == 0) {
        return;
    }
    jw_k(w, "_ignored");
    jw_arr(w);
    for (uint32_t i = 0; i < n; i++) {
        jw_str(w, names[i]);
    }
    jw_arr_end(w);
}

bool get_names_source(const struct str *fields, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_is(fields[i], "_source")) {
            return true;
        }
    }
    return false;
}

void get_write_metadata(const struct shard_get *rq, struct jsonw *w)
{
    if (rq->routing.p != NULL) {
        jw_kstr(w, "_routing", rq->routing);
    }
    write_ignored(w, rq->ignored, rq->n_ignored);
}

void get_write(struct get_call *g, struct jsonw *w)
{
    jw_obj(w);
    jw_kstr(w, "_index", g->meta->name);
    jw_kstr(w, "_type", g->type);
    jw_kstr(w, "_id", g->rq.id);
    if (g->rq.found) {
        jw_ki64(w, "_version", g->rq.version);
        jw_ki64(w, "_seq_no", g->rq.seq_no);
        jw_ki64(w, "_primary_term", g->rq.primary_term);
        if (g->rq.want_source || g->rq.n_stored_fields > 0) { /* else nothing that is stored is looked at */
            get_write_metadata(&g->rq, w);
        }
    }
    jw_kbool(w, "found", g->rq.found);
    if (g->rq.found && g->rq.want_source && g->rq.source.n > 0) {
        jw_k(w, "_source");
        get_write_source(w, &g->filter, g->rq.source, &g->rq.rq.arena);
    }
    if (g->rq.fields.n > 0) {
        jw_k(w, "fields");
        jw_raw(w, g->rq.fields);
    }
    jw_obj_end(w);
}

void get_drop_other_type(struct get_call *g)
{
    if (g->rq.rq.error.n == 0 && !str_is(g->type, "_doc")) {
        g->rq.found = false;
        g->rq.fields = STR_NULL;
    }
}

static void answer(struct get_call *g)
{
    struct rest *r = g->r;
    struct buf b;
    struct jsonw w;
    struct stop st = {.asked = rest_gone, .self = r->http};
    int status = g->rq.found ? 200 : 404;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
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
    struct rest *r = g->r;
    struct errmsg em;
    get_drop_other_type(g);
    if (rq->error.n > 0 || get_version_clashes(g, &em)) {
        fail_get(g, rq->error.n > 0 ? &rq->error : &em);
        return;
    }
    if (g->source_only && (!g->rq.found || g->rq.source.n == 0)) {
        source_missing(g);
        return;
    }
    const struct executor *requests = r->co->o.requests;
    if (answer_is_quick(g) || !rest_on_loop(r) || requests == NULL
        || !executor_submit_force(requests, answer_apart, g)) {
        answer(g);
    }
}

enum err get_locate(struct rest *r, struct get_call *g, struct str name, struct str routing,
                    struct arena *arena, struct errmsg *em)
{
    struct expand_options o = {false, false, EXPAND_OPEN, true, false, 1U << BLOCK_READ};
    enum err e = resolve_single(r->state, name, &o, clock_wall_ms(r->co->o.clock), arena, &g->target, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct index_target *t = g->target;
    g->meta = t->meta;
    if (routing.p == NULL && t->search_routing.p != NULL) {
        routing = t->search_routing;
    }
    if (routing.p == NULL && routing_required(g->meta->mapping)) {
        err_set(em, ERR_ROUTING_MISSING, "routing is required for [%.*s]/[_doc]/[%.*s]",
                STR_ARG(g->meta->name), STR_ARG(g->rq.id));
        err_about_index(em, g->meta->name, STR("_na_"));
        return ERR_ROUTING_MISSING;
    }
    g->rq.rq.shard = (struct shard_ref){g->meta->name, g->meta->uuid, shard_of(g->meta, g->rq.id, routing)};
    return ERR_OK;
}

/* The list of stored fields; "_source" among them is the source. */
static enum err stored_fields(struct get_call *g)
{
    struct rest *r = g->r;
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
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    shard_rq_init(&g->rq.rq, &shard_op_get, got, NULL);
    g->r = r;
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
    e = e == ERR_OK ? get_locate(r, g, index, routing.n > 0 ? routing : STR_NULL, r->arena, &r->em) : e;
    e = e == ERR_OK ? rest_check_preference(r, preference) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    /* Stored fields stand for the source, unless it is asked for as well. */
    g->rq.want_source =
        source_only || (g->filter.enabled && (!g->fields_given || filter != NULL || g->source_field));
    g->rq.here = rest_on_loop(r);
    g->rq.rq.cancelled = rest_gone;
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
    struct str type = rest_param(r, "type");
    get_any(r, type.p != NULL ? type : STR("_doc"), true);
}

static void typed_get(struct rest *r)
{
    get_any(r, rest_param(r, "type"), false);
}

const struct route routes_get[] = {
    {M_GET | M_HEAD, "/{index}/_doc/{id}", get_doc},
    {M_GET | M_HEAD, "/{index}/_source/{id}", get_source},
    {M_GET | M_HEAD, "/{index}/{type}/{id}", typed_get},
    {M_GET | M_HEAD, "/{index}/{type}/{id}/_source", get_source},
};
const size_t routes_get_n = ARRAY_LEN(routes_get);
