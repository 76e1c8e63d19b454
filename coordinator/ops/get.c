/* Reading documents by id (get.h). */
#include "coordinator/ops/get.h"

#include "coordinator/core/routing_required.h"
#include "engine/index/engine.h"
#include "engine/mapping/source_filter.h"

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

static void write_ignored(struct jsonw *w, const struct str *names, uint32_t n)
{
    if (n == 0) {
        return;
    }
    jw_karr(w, "_ignored");
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
    jw_k(w, "_type");
    if (g->type.p != NULL) {
        jw_str(w, g->type);
    } else {
        jw_null(w); /* the index has none yet */
    }
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

void get_hide_other_type(struct get_call *g)
{
    if (g->meta != NULL && (g->type.p == NULL || str_is(g->type, "_all"))) { /* whatever it is */
        g->type = g->meta->mapping.n > 0 ? index_type(g->meta) : STR_NULL;
        return;
    }
    if (!err_is(&g->rq.rq.error) && !str_is(g->type, "_doc")
        && (g->meta == NULL || !str_eq(g->type, index_type(g->meta)))) {
        g->rq.found = false;
        g->rq.fields = STR_NULL;
    }
}

enum err get_locate(struct op_env *r, struct get_call *g, struct str name, struct str routing,
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
        err_set(em, ERR_ROUTING_MISSING, "routing is required for [%.*s]/[%.*s]/[%.*s]",
                STR_ARG(g->meta->name), STR_ARG(g->type.n > 0 ? g->type : STR("_doc")), STR_ARG(g->rq.id));
        err_about_index(em, g->meta->name, STR("_na_"));
        return ERR_ROUTING_MISSING;
    }
    g->rq.rq.shard = (struct shard_ref){g->meta->name, g->meta->uuid, shard_of(g->meta, g->rq.id, routing)};
    return ERR_OK;
}
