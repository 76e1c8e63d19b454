/* _explain and _validate/query: a query looked into. */
#include "coordinator/core/ask.h"
#include "coordinator/ops/lookups.h"
#include "coordinator/rest/search.h"
#include "coordinator/rest/source_param.h"
#include "coordinator/rest/types.h"
#include "engine/index/engine.h"

#include <ctype.h>
#include <stdatomic.h>

/* ---- _explain ------------------------------------------------------------------------------------------ */

struct explain_call {
    struct shard_explain rq; /* first: done() gets it */
    struct get_call place;   /* the document's own fields, read when they are asked for */
    struct rest *r;
    struct str type; /* that the request names */
};

static void write_document(struct jsonw *w, struct explain_call *c)
{
    jw_kobj(w, "get");
    jw_ki64(w, "_seq_no", c->rq.seq_no);
    jw_ki64(w, "_primary_term", c->rq.primary_term);
    get_write_metadata(&c->place.rq, w);
    jw_kbool(w, "found", true);
    if (c->rq.want_source && c->rq.source.n > 0) {
        jw_k(w, "_source");
        get_write_source(w, &c->place.filter, c->rq.source, &c->rq.rq.arena);
    }
    if (c->place.rq.fields.n > 0) {
        jw_k(w, "fields");
        jw_raw(w, c->place.rq.fields);
    }
    jw_obj_end(w);
}

static bool shows_document(const struct explain_call *c)
{
    return c->rq.found && (c->rq.want_source || c->place.rq.n_stored_fields > 0);
}

static void send_explanation(struct explain_call *c)
{
    struct rest *r = c->r;
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kstr(&w, "_index", c->place.meta->name);
    jw_kstr(&w, "_type", c->type);
    jw_kstr(&w, "_id", c->rq.id);
    jw_kbool(&w, "matched", c->rq.matched);
    if (c->rq.explanation.n > 0) {
        jw_k(&w, "explanation");
        jw_raw(&w, c->rq.explanation);
    }
    if (shows_document(c)) {
        write_document(&w, c);
    }
    jw_obj_end(&w);
    int status = c->rq.found ? 200 : 404;
    shard_rq_fini(&c->place.rq.rq);
    shard_rq_fini(&c->rq.rq);
    rest_send(r, status, &b);
}

static void fields_read(struct shard_rq *rq)
{
    send_explanation(rq->user);
}

static void explained(struct shard_rq *rq)
{
    struct explain_call *c = (struct explain_call *)rq;
    struct rest *r = c->r;
    if (err_is(&rq->error)) {
        err_copy(&r->em, &rq->error);
        shard_rq_fini(&c->place.rq.rq);
        shard_rq_fini(rq);
        rest_fail(r, NULL);
    } else if (shows_document(c)) {
        struct ask_where where = ask_anywhere(r->co, r->state, rest_param(r, "preference"));
        c->place.rq.rq.node = rq->node;
        ask_get(r->co, &where, &c->place.rq);
    } else {
        send_explanation(c);
    }
}

static enum err explain_read(struct explain_call *c, const struct json *filter)
{
    struct rest *r = c->r;
    struct get_call *g = &c->place;
    shard_rq_init(&g->rq.rq, &shard_op_get, fields_read, c);
    g->filter = (struct source_filter){.enabled = true};
    g->rq.id = rest_param(r, "id");
    enum err e = filter != NULL ? source_filter_parse(&g->filter, filter, STR(""), r->arena, &r->em) : ERR_OK;
    return e == ERR_OK ? rest_list(r, "stored_fields", &g->rq.stored_fields, &g->rq.n_stored_fields) : e;
}

static void explain(struct rest *r)
{
    struct explain_call *c = ARENA_NEW(r->arena, struct explain_call);
    const struct json *query = NULL, *filter = rest_source_filter(r);
    enum err e = c != NULL ? rest_query(r, &query) : err_no_memory(&r->em);
    rest_accept(r, "q");      /* also beside a body, which counts */
    rest_accept(r, "parent"); /* which Elasticsearch takes, too, and has no use for */
    if (e == ERR_OK && rest_has(r, "fields")) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                    "The parameter [fields] is no longer supported, please use [stored_fields] to retrieve "
                    "stored fields");
    }
    struct str index = rest_param(r, "index"), routing = rest_param(r, "routing");
    struct str preference = rest_param(r, "preference"), type = rest_type(r, TYPED_EXPLAIN);
    if (e == ERR_OK) {
        *c = (struct explain_call){.r = r, .type = type.p != NULL ? type : STR("_doc")};
        c->place.type = c->type;
        e = explain_read(c, filter);
    }
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    if (e == ERR_OK && query == NULL) {
        e = err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: query is missing;");
    }
    e = e == ERR_OK ? get_locate(&r->env, &c->place, index, routing, r->arena, &r->em) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    shard_rq_init(&c->rq.rq, &shard_op_explain, explained, NULL);
    c->rq.rq.cancelled = op_client_gone;
    c->rq.rq.cancel_self = r->http;
    c->rq.rq.shard = c->place.rq.rq.shard;
    c->rq.query = query;
    c->rq.text = r->body;
    c->rq.id = c->place.rq.id;
    c->rq.alias_filters = c->place.target->filters;
    c->rq.n_alias_filters = c->place.target->n_filters;
    if (!index_has_type(c->place.meta, c->type)) { /* nothing is of another type */
        send_explanation(c);
        return;
    }
    c->rq.want_source = filter != NULL
                            ? c->place.filter.enabled
                            : get_names_source(c->place.rq.stored_fields, c->place.rq.n_stored_fields);
    c->place.rq.want_source = c->rq.want_source; /* values that are read with it are explained, too */
    c->rq.now_ms = clock_wall_ms(r->co->o.clock);
    struct ask_where where = ask_anywhere(r->co, r->state, preference);
    ask_explain(r->co, &where, &c->rq);
}

/* ---- _validate/query ----------------------------------------------------------------------------------- */

struct validate_call {
    struct rest *r;
    struct shard_explain *shards;
    const struct index_target *targets;
    uint32_t n, n_targets;
    const struct json *query;
    struct str text;
    struct lookups lookups;
    bool explain, rewrite, all_shards, detailed;
    _Atomic uint32_t pending;
};

/* number_format_exception as Java's NumberFormatException. */
static void class_name(struct buf *b, const char *type)
{
    bool upper = true;
    for (; *type != '\0'; type++) {
        if (*type == '_') {
            upper = true;
            continue;
        }
        buf_char(b, upper ? (char)toupper((unsigned char)*type) : *type);
        upper = false;
    }
}

/* The package of a class where it stands with its whole name. */
static const char *package_of(enum err code)
{
    static const char *const packages[ERR_COUNT] = {
        [ERR_QUERY_SHARD] = "org.elasticsearch.index.query.",
        [ERR_PARSING] = "org.elasticsearch.common.",
        [ERR_PARSE] = "org.elasticsearch.",
        [ERR_SCRIPT] = "org.elasticsearch.script.",
        [ERR_NAMED_OBJECT] = "org.elasticsearch.common.xcontent.",
        [ERR_X_CONTENT] = "org.elasticsearch.common.xcontent.",
        [ERR_QUERY_SYNTAX] = "org.apache.lucene.queryparser.classic.",
        [ERR_TOKEN_MGR] = "org.apache.lucene.queryparser.classic.",
        [ERR_TOO_MANY_CLAUSES] = "org.apache.lucene.search.BooleanQuery$",
        [ERR_TOO_COMPLEX] = "org.apache.lucene.util.automaton.",
        [ERR_JSON] = "com.fasterxml.jackson.core.",
        [ERR_JSON_EOF] = "com.fasterxml.jackson.core.io.",
        [ERR_INPUT_COERCION] = "com.fasterxml.jackson.core.exc.",
        [ERR_DATE_TIME_PARSE] = "java.time.format.",
        [ERR_ZONE_RULES] = "java.time.zone.",
        [ERR_DATE_TIME] = "java.time.",
        [ERR_PATTERN_SYNTAX] = "java.util.regex.",
        [ERR_NO_MEMORY] = "org.elasticsearch.common.breaker.",
        [ERR_QUERY_VALIDATION] = "org.elasticsearch.index.query.",
    };
    return packages[code] != NULL ? packages[code] : "java.lang.";
}

static void put_class(struct buf *b, enum err code)
{
    if (code == ERR_PARSE) {
        buf_z(b, "Elasticsearch");
    }
    class_name(b, code == ERR_JSON_EOF ? "json_EOF_exception" : err_type(code));
}

static void put_whole_class(struct buf *b, const struct err_frame *f)
{
    buf_z(b, package_of(f->code));
    put_class(b, f->code);
    if (f->reason[0] != '\0') {
        buf_printf(b, ": %s", f->reason);
    }
}

/* ElasticsearchException.getDetailedMessage(): the causes by their classes, then the same of the cause
 * alone. */
static void put_detailed(struct buf *b, const struct errmsg *em, const struct err_frame *from)
{
    bool whole = from == em->frame;
    if (from->cause == NULL || (!whole && err_family(from->code) != ERR_FAMILY_ES)) {
        put_whole_class(b, from);
        return;
    }
    const struct err_about *about = err_about(em);
    if (whole && about->index[0] != '\0') {
        buf_printf(b, "[%s/%s] ", about->index, about->index_uuid);
    }
    for (const struct err_frame *f = from; f != NULL; f = f->cause) {
        buf_z(b, f != from ? "; nested: " : "");
        put_class(b, f->code);
        if (f->reason[0] != '\0') {
            buf_printf(b, "[%s]", f->reason);
        }
    }
    buf_z(b, ";; ");
    put_detailed(b, em, from->cause);
}

static void write_detailed(struct jsonw *w, const char *key, const struct errmsg *em, struct arena *arena)
{
    struct buf b;
    buf_init(&b, NULL, 64 * KIB);
    if (err_is(em)) {
        put_detailed(&b, em, em->frame);
    }
    jw_kstr(w, key, arena_str(arena, buf_view(&b)));
    buf_fini(&b);
}

/* The shard's verdict on the query; any other error is the shard's own failure. */
static bool refused(const struct shard_explain *s)
{
    return err_is(&s->rq.error)
           && (err_code(&s->rq.error) == ERR_QUERY_SHARD || err_code(&s->rq.error) == ERR_PARSING);
}

static void write_explanation(struct jsonw *w, const struct validate_call *c, struct shard_explain *s)
{
    jw_obj(w);
    jw_kstr(w, "index", s->rq.shard.index);
    if (c->all_shards) {
        jw_ki64(w, "shard", s->rq.shard.shard);
    }
    jw_kbool(w, "valid", !refused(s));
    if (refused(s)) {
        write_detailed(w, "error", &s->rq.error, &s->rq.arena);
    } else {
        jw_kstr(w, "explanation", s->printed);
    }
    jw_obj_end(w);
}

static void write_validation(struct jsonw *w, struct validate_call *c)
{
    uint32_t failed = 0, absent = 0;
    bool valid = true;
    for (uint32_t i = 0; i < c->n; i++) {
        const struct errmsg *em = &c->shards[i].rq.error;
        bool no_copy = err_code(em) == ERR_NO_SHARD; /* counted in the total alone */
        valid &= !refused(&c->shards[i]);
        failed += err_is(em) && !refused(&c->shards[i]) && !no_copy;
        absent += no_copy;
    }
    jw_obj(w);
    jw_kobj(w, "_shards");
    jw_ki64(w, "total", c->n);
    jw_ki64(w, "successful", c->n - failed - absent);
    jw_ki64(w, "failed", failed);
    jw_obj_end(w);
    jw_kbool(w, "valid", valid);
    if (c->detailed && c->n > failed + absent) {
        jw_karr(w, "explanations");
        for (uint32_t i = 0; i < c->n; i++) {
            if (!err_is(&c->shards[i].rq.error) || refused(&c->shards[i])) {
                write_explanation(w, c, &c->shards[i]);
            }
        }
        jw_arr_end(w);
    }
    jw_obj_end(w);
}

static void all_validated(struct validate_call *c)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    write_validation(&w, c);
    for (uint32_t i = 0; i < c->n; i++) {
        shard_rq_fini(&c->shards[i].rq);
    }
    rest_send(c->r, 200, &b);
}

static void validated(struct shard_rq *rq)
{
    struct validate_call *c = rq->user;
    if (atomic_fetch_sub(&c->pending, 1) == 1) {
        all_validated(c);
    }
}

/* A query that cannot be read is an answer, not an error. */
static void send_invalid(struct rest *r, bool explain_it)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kbool(&w, "valid", false);
    if (explain_it && err_code(&r->em) == ERR_PARSING) {
        write_detailed(&w, "error", &r->em, r->arena);
    } else if (explain_it) { /* of the URL's parameters: the reason alone */
        jw_kz(&w, "error", err_reason(&r->em));
    }
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

/* Nor is an index that may not be read. */
static void send_blocked(struct rest *r)
{
    struct buf b;
    struct jsonw w;
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_kobj(&w, "_shards");
    jw_ki64(&w, "total", 0);
    jw_ki64(&w, "successful", 0);
    jw_ki64(&w, "failed", 0);
    jw_obj_end(&w);
    jw_kbool(&w, "valid", false);
    jw_karr(&w, "explanations");
    jw_obj(&w);
    jw_kbool(&w, "valid", false);
    jw_kz(&w, "error", err_reason(&r->em));
    jw_obj_end(&w);
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

/* One shard of each index, unless all are asked for: then all shards 0, all shards 1 ... */
static void ask(struct validate_call *c)
{
    struct rest *r = c->r;
    const struct index_target *t = c->targets;
    uint32_t most = 0, rounds = 1;
    for (uint32_t i = 0; i < c->n_targets; i++) {
        most += c->all_shards ? t[i].meta->n_shards : 1;
        rounds = c->all_shards ? MAX_OF(rounds, t[i].meta->n_shards) : 1;
    }
    c->shards = ARENA_ARRAY(r->arena, struct shard_explain, most);
    if (c->shards == NULL && most > 0) {
        rest_no_memory(r);
        return;
    }
    for (uint32_t s = 0; s < rounds; s++) {
        for (uint32_t i = 0; i < c->n_targets; i++) {
            if (s >= t[i].meta->n_shards) {
                continue;
            }
            struct shard_explain *x = &c->shards[c->n++];
            shard_rq_init(&x->rq, &shard_op_explain, validated, c);
            x->rq.cancelled = op_client_gone;
            x->rq.cancel_self = c->r->http;
            x->rq.shard = (struct shard_ref){t[i].meta->name, t[i].meta->uuid, s};
            x->query = c->query;
            x->text = c->text;
            x->alias_filters = t[i].filters;
            x->n_alias_filters = t[i].n_filters;
            x->rewritten = c->rewrite;
            x->now_ms = clock_wall_ms(r->co->o.clock);
        }
    }
    if (most == 0) {
        all_validated(c);
        return;
    }
    c->pending = c->n;
    struct coordinator *co = r->co; /* r and c may be gone after the last call */
    struct shard_explain *shards = c->shards;
    struct ask_where where = ask_anywhere(co, r->state, STR_NULL);
    for (uint32_t i = 0; i < most; i++) {
        ask_explain(co, &where, &shards[i]);
    }
}

static void looked_up(struct lookups *l)
{
    struct validate_call *c = l->user;
    if (err_is(&l->error)) {
        err_copy(&c->r->em, &l->error);
        rest_fail(c->r, NULL);
        return;
    }
    c->query = l->tree;
    c->text = l->text;
    ask(c);
}

static void look_up(struct validate_call *c)
{
    if (c->query == NULL || !lookups_needed(c->query)) {
        ask(c);
        return;
    }
    c->lookups = (struct lookups){
        .r = &c->r->env, .arena = c->r->arena, .tree = c->query, .done = looked_up, .user = c};
    lookups_run(&c->lookups);
}

static void validate(struct rest *r)
{
    struct validate_call *c = ARENA_NEW(r->arena, struct validate_call);
    struct expand_options o = EXPAND_OPTIONS_SEARCH;
    enum err e = c != NULL ? ERR_OK : err_no_memory(&r->em);
    o.allow_no_indices = false;
    if (e == ERR_OK) {
        *c = (struct validate_call){.r = r};
        e = rest_bool(r, "explain", false, &c->explain);
        e = e == ERR_OK ? rest_bool(r, "rewrite", false, &c->rewrite) : e;
        e = e == ERR_OK ? rest_bool(r, "all_shards", false, &c->all_shards) : e;
        e = e == ERR_OK ? rest_index_options(r, &o) : e;
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    o.forbid_closed = false;      /* it is blocked, as others may be */
    const bool tell = c->explain; /* what is wrong with a query that cannot be read */
    c->detailed = c->explain || c->rewrite || c->all_shards;
    struct str index = rest_param(r, "index");
    o.unblocked = 1U << BLOCK_READ;
    (void)rest_type(r, TYPED_VALIDATE);
    e = rest_query(r, &c->query);
    struct errmsg why = r->em;
    if (!rest_ready(r)) {
        return;
    }
    if (e != ERR_OK) {
        err_copy(&r->em, &why);
        send_invalid(r, tell);
        return;
    }
    if (c->query == NULL && r->body.n > 0) {
        err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: query cannot be null;");
        rest_fail(r, NULL);
        return;
    }
    e = resolve_indices(r->state, index, &o, clock_wall_ms(r->co->o.clock), r->arena, &c->targets,
                        &c->n_targets, &r->em);
    if (e == ERR_CLUSTER_BLOCK) {
        send_blocked(r);
    } else if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        c->text = r->body;
        look_up(c);
    }
}

const struct route routes_explain[] = {
    {M_GET | M_POST, "/{index}/_explain/{id}", explain},
    {M_GET | M_POST, "/{index}/{type}/{id}/_explain", explain},
    {M_GET | M_POST, "/_validate/query", validate},
    {M_GET | M_POST, "/{index}/_validate/query", validate},
    {M_GET | M_POST, "/{index}/{type}/_validate/query", validate},
};
const size_t routes_explain_n = ARRAY_LEN(routes_explain);
