/* Scripts of by-query operations: `ctx` is the document and where it goes; what the script leaves in it
 * decides. */
#include "coordinator/ops/by_query_int.h"

#include "engine/index/engine.h"
#include "engine/mapping/java.h"

static bool script_doc_put(struct json *o, struct arena *a, const char *key, struct json v)
{
    return json_put(o, a, str_of(key), v);
}

static struct json text_or_null(struct str s)
{
    return s.p != NULL ? json_mk_str(s) : (struct json){.type = JSON_NULL};
}

#define VERSION_UNKNOWN (-1) /* as Elasticsearch shows it to scripts */

static int64_t shown_version(const struct by_query_doc *d)
{
    return d->version == VERSION_ANY ? VERSION_UNKNOWN : d->version;
}

/* In the order in which a script that lists the keys sees them. The version is only known where it was asked
 * for. */
static enum err make_ctx(struct json *ctx, const struct by_query_worker *w, const struct by_query_doc *d,
                         struct errmsg *em)
{
    struct arena *a = w->env.arena;
    *ctx = json_mk_object();
    struct json version = {.type = JSON_NUMBER, .s = arena_printf(a, "%lld", (long long)shown_version(d))};
    bool ok = version.s.p != NULL && script_doc_put(ctx, a, "_routing", text_or_null(d->routing))
              && script_doc_put(ctx, a, "op", json_mk_str(STR("index")))
              && script_doc_put(ctx, a, "_index", json_mk_str(d->index))
              && script_doc_put(ctx, a, "_type", json_mk_str(d->type))
              && script_doc_put(ctx, a, "_source", *d->tree)
              && script_doc_put(ctx, a, "_id", json_mk_str(d->id))
              && script_doc_put(ctx, a, "_version", version);
    return ok ? ERR_OK : err_no_memory(em);
}

static enum err bad_cast(const struct json *v, const char *to, struct errmsg *em)
{
    return err_set(em, ERR_CLASS_CAST, "class %s cannot be cast to class %s", java_class(v), to);
}

static enum err read_op(const struct json *ctx, struct str *op, struct errmsg *em)
{
    const struct json *v = json_get(ctx, "op");
    if (v == NULL || v->type == JSON_NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Script cleared operation type");
    }
    if (v->type != JSON_STRING) {
        return bad_cast(v, "java.lang.String", em);
    }
    *op = v->s;
    return ERR_OK;
}

/* The source as it goes to the shard; a script that took it away leaves nothing, which the shard refuses. */
static enum err read_source(const struct json *ctx, struct arena *a, struct str *out, struct errmsg *em)
{
    const struct json *v = json_get(ctx, "_source");
    struct buf b;
    struct jsonw j;
    *out = STR("");
    if (v == NULL || v->type == JSON_NULL) {
        return ERR_OK;
    }
    if (v->type != JSON_OBJECT) {
        return bad_cast(v, "java.util.Map", em);
    }
    jsonw_start(&j, &b);
    jw_value(&j, v);
    *out = arena_str(a, buf_view(&b));
    bool ok = !b.failed && out->p != NULL;
    buf_fini(&b);
    return ok ? ERR_OK : err_no_memory(em);
}

/* Is the member what it was? */
static bool same_text(const struct json *v, struct str was)
{
    return v == NULL || v->type == JSON_NULL ? was.p == NULL
                                             : was.p != NULL && v->type == JSON_STRING && str_eq(v->s, was);
}

static enum err changed_version(const struct json *v, struct write_item *it, struct arena *a,
                                struct errmsg *em)
{
    if (v == NULL || v->type == JSON_NULL) {
        it->version = VERSION_ANY;
        it->version_type = VERSION_INTERNAL;
        return ERR_OK;
    }
    if (v->type != JSON_NUMBER) {
        struct str text = java_text(v, a);
        bad_cast(v, "java.lang.Number", em);
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT,
                        "_version may only be set to an int or a long but was [%.*s]", STR_ARG(text));
    }
    if (!json_i64(v, &it->version)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "_version may only be set to an int or a long but was [%.*s]", STR_ARG(v->s));
    }
    return ERR_OK;
}

/* The members that only reindexing may change: the document's destination. */
static enum err take_target(const struct json *ctx, const struct by_query_doc *d, struct write_entry *e,
                            struct arena *a, struct errmsg *em)
{
    const struct json *index = json_get(ctx, "_index"), *type = json_get(ctx, "_type"),
                      *id = json_get(ctx, "_id"), *routing = json_get(ctx, "_routing"),
                      *version = json_get(ctx, "_version");
    int64_t v;
    if (!same_text(index, d->index)) {
        if (index == NULL || index->type == JSON_NULL) {
            return err_set(em, ERR_NULL_POINTER, "Can't reindex without a destination index!");
        }
        e->target = java_text(index, a);
    }
    if (type == NULL || type->type == JSON_NULL) {
        return err_set(em, ERR_NULL_POINTER, "Can't reindex without a destination type!");
    }
    if (!same_text(type, d->type)) {
        e->item.type = java_text(type, a);
    }
    if (!same_text(id, d->id)) {
        e->auto_id = id == NULL || id->type == JSON_NULL;
        e->item.id = e->auto_id ? STR_NULL : java_text(id, a);
    }
    if (version == NULL || version->type != JSON_NUMBER || !json_i64(version, &v) || v != shown_version(d)) {
        enum err err = changed_version(version, &e->item, a, em);
        if (err != ERR_OK) {
            return err;
        }
    }
    if (!same_text(routing, d->routing)) {
        struct str to = routing == NULL || routing->type == JSON_NULL ? STR_NULL : java_text(routing, a);
        e->item.routing = to.n > 0 ? to : STR_NULL;
    }
    return ERR_OK;
}

static enum err refuse_changes(const struct json *ctx, const struct by_query_doc *d, struct errmsg *em)
{
    const struct {
        const char *key;
        struct str was;
    } fixed[] = {{"_index", d->index}, {"_type", d->type}, {"_id", d->id}, {"_routing", d->routing}};
    const struct json *version = json_get(ctx, "_version");
    int64_t v;
    for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
        if (!same_text(json_get(ctx, fixed[i].key), fixed[i].was)) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Modifying [%s] not allowed", fixed[i].key);
        }
    }
    if (version == NULL || version->type != JSON_NUMBER || !json_i64(version, &v) || v != shown_version(d)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Modifying [_version] not allowed");
    }
    return ERR_OK;
}

static enum err refuse_more(const struct json *ctx, struct errmsg *em)
{
    static const char *const known[] = {"op", "_source", "_index", "_type", "_id", "_version", "_routing"};
    for (uint32_t i = 0; i < ctx->n; i++) {
        bool is_known = false;
        for (size_t k = 0; k < ARRAY_LEN(known); k++) {
            is_known |= str_is(ctx->members[i].key, known[k]);
        }
        if (!is_known) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Invalid fields added to context [%.*s]",
                           STR_ARG(ctx->members[i].key));
        }
    }
    return ERR_OK;
}

static void make_delete(struct write_entry *e)
{
    struct write_item *it = &e->item;
    it->kind = WRITE_DELETE;
    it->create = false;
    it->source = STR_NULL;
    it->version_type = VERSION_INTERNAL;
    it->if_seq_no = SEQ_UNASSIGNED; /* such a delete is unconditional in Elasticsearch */
    it->if_primary_term = 0;
    e->action = "delete";
}

static enum err take_op(struct str op, const struct json *ctx, struct write_entry *e,
                        enum script_outcome *out, struct errmsg *em)
{
    if (str_eq_nocase(op, STR("index"))) {
        return refuse_more(ctx, em);
    }
    if (str_eq_nocase(op, STR("noop"))) {
        *out = SCRIPT_SKIPS;
        return ERR_OK;
    }
    if (str_eq_nocase(op, STR("delete"))) {
        make_delete(e);
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "Operation type [%.*s] not allowed, only [noop, index, delete] are allowed", STR_ARG(op));
}

enum err by_query_script(struct by_query_worker *w, const struct by_query_doc *d, struct write_entry *e,
                         enum script_outcome *out, struct errmsg *em)
{
    struct script_env env = {.now_ms = clock_wall_ms(w->op->co->o.clock)};
    struct arena *a = w->env.arena;
    struct json ctx, after;
    struct str op = STR_NULL;
    *out = SCRIPT_WRITES;
    enum err err = make_ctx(&ctx, w, d, em);
    err = err == ERR_OK ? script_update(w->run, &env, &ctx, a, &after, NULL, em) : err;
    err = err == ERR_OK ? read_op(&after, &op, em) : err;
    err = err == ERR_OK ? read_source(&after, a, &e->item.source, em) : err;
    if (err == ERR_OK) {
        err = w->op->spec.kind == BY_QUERY_REINDEX ? take_target(&after, d, e, a, em)
                                                   : refuse_changes(&after, d, em);
    }
    return err == ERR_OK ? take_op(op, &after, e, out, em) : err;
}
