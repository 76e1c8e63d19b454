/* A page of hits made into a bulk, and what came of it. */
#include "common/base/stop.h"
#include "coordinator/core/error_json.h"
#include "coordinator/ops/by_query_int.h"

#include "engine/index/engine.h"

/* ---- hits ---------------------------------------------------------------------------------------------- */

static int64_t number_of(const struct json *hit, const char *key, int64_t otherwise)
{
    const struct json *v = json_get(hit, key);
    int64_t n;
    return v != NULL && json_i64(v, &n) ? n : otherwise;
}

static enum err read_hit(struct by_query_worker *w, struct str text, struct by_query_doc *d,
                         struct errmsg *em)
{
    const struct by_query_spec *s = &w->op->spec;
    struct json hit;
    enum err e = json_parse(&hit, text, w->env.arena, &json_limits_default, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *source = json_get(&hit, "_source");
    *d = (struct by_query_doc){.index = json_text(json_get(&hit, "_index")),
                               .type = json_text(json_get(&hit, "_type")),
                               .id = json_text(json_get(&hit, "_id")),
                               .routing = json_text(json_get(&hit, "_routing")),
                               .version = VERSION_ANY,
                               .seq_no = number_of(&hit, "_seq_no", SEQ_UNASSIGNED),
                               .primary_term = number_of(&hit, "_primary_term", 0)};
    if (s->kind == BY_QUERY_REINDEX && s->dest_version_type != VERSION_INTERNAL) {
        d->version = number_of(&hit, "_version", VERSION_ANY);
    }
    if (source != NULL) {
        struct json *kept = ARENA_NEW(w->env.arena, struct json);
        if (kept == NULL) {
            return err_no_memory(em);
        }
        *kept = *source;
        d->tree = kept;
        d->source = str_slice(text, source->off, source->end);
    } else if (s->kind != BY_QUERY_DELETE) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[%.*s][%.*s][%.*s] didn't store _source", STR_ARG(d->index),
                       STR_ARG(d->type), STR_ARG(d->id));
    }
    return ERR_OK;
}

/* ---- writes -------------------------------------------------------------------------------------------- */

static void write_of(const struct by_query_spec *s, const struct by_query_doc *d, struct write_entry *e)
{
    struct write_item *it = &e->item;
    *e = (struct write_entry){.target = d->index, .action = s->kind == BY_QUERY_DELETE ? "delete" : "index"};
    *it = (struct write_item){.kind = s->kind == BY_QUERY_DELETE ? WRITE_DELETE : WRITE_INDEX,
                              .id = d->id,
                              .type = d->type,
                              .routing = d->routing,
                              .source = d->source,
                              .auto_id_ms = -1,
                              .version = VERSION_ANY,
                              .if_seq_no = d->seq_no,
                              .if_primary_term = d->primary_term};
    if (s->kind != BY_QUERY_REINDEX) {
        return;
    }
    e->target = s->dest;
    it->type = s->dest_type;
    e->require_alias = s->require_alias;
    it->create = s->dest_create;
    it->if_seq_no = SEQ_UNASSIGNED;
    it->if_primary_term = 0;
    it->version_type = s->dest_version_type;
    it->version = d->version;
    it->routing = s->routing == ROUTING_KEEP  ? d->routing
                  : s->routing == ROUTING_SET ? s->dest_routing
                                              : STR_NULL;
    if (it->create) {
        e->action = "create";
    }
}

/* The write fails by itself; the others go on. */
static enum err refuse(struct by_query_worker *w, struct write_entry *e, enum err code, struct str why,
                       struct errmsg *em)
{
    e->error = ARENA_NEW(w->env.arena, struct errmsg);
    if (e->error == NULL) {
        return err_no_memory(em);
    }
    e->index = e->target;
    *e->error = err_in(w->env.arena);
    err_set(e->error, code, "%.*s", STR_ARG(why));
    return ERR_OK;
}

static enum err finish_write(struct by_query_worker *w, struct write_entry *e, struct write_complaints *c,
                             struct errmsg *em)
{
    struct write_item *it = &e->item;
    if (it->kind == WRITE_INDEX) {
        e->pipeline = w->op->spec.pipeline;
    }
    if (e->auto_id && it->kind == WRITE_INDEX) {
        it->id = writes_auto_id(&w->env);
        it->auto_id_ms = clock_wall_ms(w->op->co->o.clock);
        it->create = true;
        return it->id.p != NULL ? ERR_OK : err_no_memory(em);
    }
    if (it->id.n == 0) {
        return refuse(w, e, ERR_ILLEGAL_ARGUMENT, STR("if _id is specified it must not be empty"), em);
    }
    if (e->target.n == 0) {
        return refuse(w, e, ERR_STRING_BOUNDS, STR("String index out of range: 0"), em);
    }
    writes_complain(c, e);
    return ERR_OK;
}

/* One hit's write, kept where it is made. */
static enum err build_write(struct by_query_worker *w, struct str hit, struct write_complaints *c,
                            struct errmsg *em)
{
    struct write_entry *e = &w->set.v[w->set.n];
    struct by_query_doc d;
    enum script_outcome outcome = SCRIPT_WRITES;
    enum err err = read_hit(w, hit, &d, em);
    if (err != ERR_OK) {
        return err;
    }
    write_of(&w->op->spec, &d, e);
    if (w->op->script_error != NULL) {
        err_copy(em, w->op->script_error);
        return err_code(em);
    }
    if (w->run != NULL) {
        err = by_query_script(w, &d, e, &outcome, em);
    }
    if (err == ERR_OK && outcome == SCRIPT_SKIPS) {
        w->n.noops++;
        return ERR_OK;
    }
    err = err == ERR_OK ? finish_write(w, e, c, em) : err;
    w->set.n += err == ERR_OK ? 1 : 0;
    return err;
}

enum err batch_build(struct by_query_worker *w, uint32_t most, struct errmsg *em)
{
    const struct search_call *c = w->search;
    const struct by_query_spec *s = &w->op->spec;
    uint32_t n = MIN_OF(c->reduced.n, most);
    w->set = (struct write_set){.r = &w->env, .timeout_ms = s->timeout_ms, .active = s->active};
    w->set.v = ARENA_ARRAY(w->env.arena, struct write_entry, n);
    if (w->set.v == NULL) {
        return err_no_memory(em);
    }
    struct write_complaints complaints;
    enum err err = ERR_OK;
    write_complaints_init(&complaints);
    for (uint32_t i = 0; i < n && err == ERR_OK && !stop_now(); i++) {
        if (c->hits[i].n > 0) { /* else its shard failed to fetch it */
            err = build_write(w, c->hits[i], &complaints, em);
        }
    }
    enum err refused = writes_complained(&complaints, err == ERR_OK ? em : NULL);
    return err == ERR_OK ? refused : err;
}

/* ---- results ------------------------------------------------------------------------------------------- */

static void note_failure(struct by_query_worker *w, const struct write_entry *e, const struct errmsg *em)
{
    struct jsonw j;
    int status = err_http_status(em);
    if (w->failures.n > 0) {
        buf_char(&w->failures, ',');
    }
    jsonw_init(&j, &w->failures, false);
    jw_obj(&j);
    jw_kstr(&j, "index", e->meta != NULL ? e->meta->name : e->index.p != NULL ? e->index : e->target);
    jw_kstr(&j, "type", write_item_type(&e->item));
    jw_kstr(&j, "id", e->item.id);
    jw_kobj(&j, "cause");
    error_write_cause(&j, em);
    jw_obj_end(&j);
    jw_ki64(&j, "status", status);
    jw_obj_end(&j);
    w->failure_status = MAX_OF(w->failure_status, status);
}

static void note_touched(struct by_query_worker *w, struct str index)
{
    for (size_t i = 0; i < w->n_touched; i++) {
        if (str_eq(w->touched[i], index)) {
            return;
        }
    }
    struct str *v = arena_grow(&w->own, w->touched, w->n_touched, &w->touched_cap, sizeof(*v));
    struct str name = v != NULL ? arena_str(&w->own, index) : STR_NULL;
    if (v != NULL) {
        w->touched = v;
    }
    if (name.p != NULL) { /* without memory it is refreshed when its own time comes */
        v[w->n_touched++] = name;
    }
}

static void count_success(struct by_query_worker *w, const struct write_entry *e)
{
    if (e->item.kind == WRITE_DELETE) {
        w->n.deleted++;
    } else if (e->item.outcome == WRITE_CREATED) {
        w->n.created++;
    } else {
        w->n.updated++;
    }
    note_touched(w, e->meta->name);
}

void batch_count(struct by_query_worker *w)
{
    for (uint32_t i = 0; i < w->set.n; i++) {
        const struct write_entry *e = &w->set.v[i];
        const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
        if (em == NULL) {
            count_success(w, e);
            continue;
        }
        if (err_http_status(em) == 409) {
            w->n.conflicts++;
            if (w->op->spec.proceed) {
                continue;
            }
        }
        note_failure(w, e, em);
    }
}

void batch_note_search(struct by_query_worker *w)
{
    const struct search_call *c = w->search;
    for (uint32_t i = 0; i < c->n_shards; i++) {
        const struct shard_rq *rq = &c->queries[i].rq;
        struct jsonw j;
        if (!err_is(&rq->error)) {
            continue;
        }
        if (w->failures.n > 0) {
            buf_char(&w->failures, ',');
        }
        jsonw_init(&j, &w->failures, false);
        jw_obj(&j);
        jw_ki64(&j, "shard", rq->shard.shard);
        jw_kstr(&j, "index", rq->shard.index);
        jw_kstr(&j, "node", w->op->co->o.node_id);
        jw_kobj(&j, "reason");
        error_write_cause(&j, &rq->error);
        jw_obj_end(&j);
        jw_ki64(&j, "status", err_http_status(&rq->error));
        jw_obj_end(&j);
        w->failure_status = MAX_OF(w->failure_status, err_http_status(&rq->error));
    }
}
