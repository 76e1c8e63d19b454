#include "coordinator/ops/writes_ingest.h"

#include "common/base/memory_account.h"
#include "common/base/stop.h"
#include "common/cluster/nodes.h"
#include "common/settings/setting_read.h"
#include "coordinator/core/resolve.h"
#include "coordinator/ops/get.h"
#include "coordinator/ops/writes_int.h"
#include "engine/index/engine.h"
#include "engine/ingest/ingest.h"

static bool is_none(struct str name)
{
    return name.p == NULL || str_is(name, "_none");
}

/* ---- which ones ---------------------------------------------------------------------------------------- */

/* The pipelines of one index. */
struct index_pipelines {
    struct str first, final; /* "_none": none */
};

static bool of_settings(const struct settings *s, struct arena *a, struct index_pipelines *p)
{
    p->first = arena_str(a, setting_str(s, SET_INDEX_DEFAULT_PIPELINE));
    p->final = arena_str(a, setting_str(s, SET_INDEX_FINAL_PIPELINE));
    return p->first.p != NULL && p->final.p != NULL;
}

/* What else goes wrong here is told when the entry is resolved. false: no memory. */
static bool look_up_pipelines(struct write_set *w, struct str target, struct arena *scratch,
                              struct index_pipelines *p)
{
    const struct index_meta *meta = NULL;
    const struct alias_meta *alias;
    struct index_recipe recipe;
    struct str index;
    ERR_LOCAL(em);
    *p = (struct index_pipelines){STR("_none"), STR("_none")};
    enum err e = resolve_write(w->r->state, target, clock_wall_ms(w->r->co->o.clock), scratch, &meta, &alias,
                               &index, &em);
    if (e == ERR_OK && meta != NULL) {
        return of_settings(&meta->settings, w->r->arena, p);
    }
    if (e == ERR_OK && w->r->state->n_templates > 0) {
        e = index_recipe_make(&recipe, w->r->state, index, NULL, STR(""), scratch, &em);
        return e == ERR_OK ? of_settings(&recipe.settings, w->r->arena, p) : e != ERR_NO_MEMORY;
    }
    return e != ERR_NO_MEMORY;
}

/* They are looked up once for each name: templates may have to be put together for that. NULL: no memory. */
static const struct index_pipelines *find_pipelines(struct write_set *w, struct str target)
{
    static const struct index_pipelines none = {{"_none", 5}, {"_none", 5}};
    struct index_pipelines *p = target.n > 0 ? map_get(&w->pipelines, target) : NULL;
    struct arena scratch;
    if (p != NULL || target.n == 0) {
        return p != NULL ? p : &none;
    }
    p = ARENA_NEW(w->r->arena, struct index_pipelines);
    memory_request_arena(&scratch);
    bool ok = p != NULL && look_up_pipelines(w, target, &scratch, p) && map_put(&w->pipelines, target, p);
    arena_fini(&scratch);
    return ok ? p : NULL;
}

/* Does the entry write a document as it is? Of an update that is what it makes where there is none. */
static bool has_document(const struct write_entry *e)
{
    return e->item.kind == WRITE_INDEX
           || (e->item.kind == WRITE_UPDATE && e->update != NULL
               && (e->update->upsert || e->item.doc_as_upsert));
}

bool writes_ingest_plan(struct write_set *w)
{
    const struct index_pipelines *p = NULL;
    struct str target = STR_NULL; /* whose they are */
    map_init(&w->pipelines, w->r->arena);
    for (uint32_t i = 0; i < w->n; i++) {
        struct write_entry *e = &w->v[i];
        if (e->error != NULL || !has_document(e)) {
            continue;
        }
        if (p == NULL || !str_eq(target, e->target)) {
            target = e->target;
            p = find_pipelines(w, target);
        }
        if (p == NULL) { /* without its pipelines it is not written */
            ERR_LOCAL(em);
            err_no_memory(&em);
            e->index = target;
            writes_fail(w, e, &em);
            continue;
        }
        bool asked = e->pipeline.p != NULL && (e->item.kind == WRITE_INDEX || !e->item.doc_as_upsert);
        e->first_pipeline = asked ? e->pipeline : p->first;
        e->final_pipeline = p->final;
        e->ingests = !is_none(e->first_pipeline) || !is_none(e->final_pipeline);
        w->ingests |= e->ingests;
    }
    return w->ingests;
}

/* ---- documents ----------------------------------------------------------------------------------------- */

enum err ingest_source_parse(struct json *out, struct str text, struct arena *arena, struct errmsg *em)
{
    struct str begin = str_trim(text);
    if (begin.n == 0 || begin.p[0] != '{') {
        err_set(
            em, ERR_NOT_X_CONTENT,
            "Compressor detection can only be called on some xcontent bytes or compressed xcontent bytes");
        err_about_status(em, 500);
        return ERR_NOT_X_CONTENT;
    }
    enum err e = json_parse_first(out, text, arena, &json_limits_default, em);
    return e == ERR_OK || e == ERR_NO_MEMORY ? e : err_wrap(em, ERR_PARSE, "Failed to parse content to map");
}

struct instant ingest_now(const struct clock *clock)
{
    struct instant t = instant_of_ms(clock_wall_ms(clock));
    t.nanos += (int32_t)(clock->mono_ns(clock->self) % 1000000);
    return t;
}

static const char *version_name(const struct write_item *it)
{
    return it->version_type == VERSION_INTERNAL   ? "internal"
           : it->version_type == VERSION_EXTERNAL ? "external"
                                                  : "external_gte";
}

#define MATCH_ANY     (-3) /* as Elasticsearch numbers what is no version */
#define MATCH_DELETED (-4)

/* One document on its way: of an update, what it makes where there is none. */
struct ingest_work {
    struct write_set *w;
    struct write_entry *e;
    struct ingest_set *set;
    struct arena scratch;
    struct json whole;  /* of an update: its body */
    struct json source; /* the document */
    struct errmsg *em;
};

static int64_t shown_version(const struct write_entry *e)
{
    return e->item.kind == WRITE_INDEX && e->item.version != VERSION_ANY && e->item.version > 0
               ? e->item.version
           : e->item.kind == WRITE_INDEX && e->item.create ? MATCH_DELETED
                                                           : MATCH_ANY;
}

static struct ingest_meta meta_of(const struct write_entry *e)
{
    struct ingest_meta m = {.type = STR("_doc"), .has_version = true, .version = shown_version(e)};
    m.version_type = str_of(version_name(&e->item));
    if (e->item.kind == WRITE_INDEX) {
        m.index = e->target;
        m.type = write_item_type(&e->item);
        m.id = e->item.id;
        m.routing = e->item.routing;
    }
    return m;
}

static bool keep_text(struct str *to, struct str s, struct arena *a)
{
    if (s.p == NULL || str_eq(*to, s)) {
        *to = s.p == NULL ? STR_NULL : *to;
        return true;
    }
    *to = arena_str(a, s);
    return to->p != NULL;
}

/* What a pipeline says of where the document goes. */
static enum err keep_meta(struct ingest_work *k, const struct ingest_meta *m)
{
    struct write_entry *e = k->e;
    struct arena *a = k->w->r->arena;
    if (e->item.kind != WRITE_INDEX) {
        return ERR_OK;
    }
    bool ok = keep_text(&e->target, m->index, a) && keep_text(&e->item.id, m->id, a)
              && keep_text(&e->item.routing, m->routing, a)
              && (e->item.type.p == NULL
                      ? m->type.p == NULL || str_is(m->type, "_doc") || keep_text(&e->item.type, m->type, a)
                      : keep_text(&e->item.type, m->type, a));
    e->auto_id = e->auto_id && e->item.id.p == NULL;
    if (m->has_version && m->version != shown_version(e)) {
        e->item.version = m->version == MATCH_ANY || m->version == MATCH_DELETED ? VERSION_ANY : m->version;
    }
    if (m->version_type.p != NULL && !str_is(m->version_type, version_name(&e->item))) {
        return get_version_type(m->version_type, &e->item.version_type, k->em);
    }
    if (ok && e->target.p == NULL) {
        return err_set(k->em, ERR_ILLEGAL_ARGUMENT, "a pipeline leaves the document without an index");
    }
    return ok ? ERR_OK : err_no_memory(k->em);
}

static enum err run_pipeline(struct ingest_work *k, const struct pipeline *p)
{
    struct ingest_doc *d = ARENA_NEW(&k->scratch, struct ingest_doc);
    struct ingest_meta m = meta_of(k->e);
    enum err e =
        d != NULL ? ingest_doc_init(d, &k->source, &m, ingest_now(k->w->r->co->o.clock), &k->scratch, k->em)
                  : err_no_memory(k->em);
    if (e != ERR_OK) {
        return e;
    }
    d->set = k->set;
    e = pipeline_run(p, d, k->em);
    if (e != ERR_OK || d->dropped) {
        k->e->dropped = e == ERR_OK;
        return e;
    }
    e = ingest_doc_take(d, &m, k->em);
    k->source = d->root;
    return e == ERR_OK ? keep_meta(k, &m) : e;
}

/* The pipelines one after the other. A first one that changes the index leaves only the final one of the new index. */
static enum err run_both(struct ingest_work *k, bool *changed)
{
    struct write_entry *e = k->e;
    struct str names[2] = {e->first_pipeline, e->final_pipeline};
    *changed = false;
    for (unsigned i = 0; i < 2; i++) {
        struct str target = e->target, name = names[i];
        if (is_none(name)) {
            continue;
        }
        const struct pipeline *found = ingest_set_find(k->set, name);
        if (found == NULL) {
            return err_set(k->em, ERR_ILLEGAL_ARGUMENT, "pipeline with id [%.*s] does not exist",
                           STR_ARG(name));
        }
        if (pipeline_is_empty(found)) {
            continue;
        }
        *changed = true;
        enum err err = run_pipeline(k, found);
        if (err != ERR_OK || e->dropped) {
            return err;
        }
        if (str_eq(target, e->target)) {
            continue;
        }
        if (i == 1) {
            return err_set(k->em, ERR_ILLEGAL_STATE, "final pipeline [%.*s] can't change the target index",
                           STR_ARG(name));
        }
        const struct index_pipelines *p = find_pipelines(k->w, e->target);
        if (p == NULL) {
            return err_no_memory(k->em);
        }
        names[1] = p->final;
    }
    return ERR_OK;
}

/* The document of an update's body, and where it stands there. */
static enum err open_source(struct ingest_work *k, struct json **at)
{
    enum err e = ingest_source_parse(&k->whole, k->e->item.source, &k->scratch, k->em);
    *at = &k->whole;
    if (e == ERR_OK && k->e->item.kind == WRITE_UPDATE) {
        *at = json_member_of(&k->whole, k->e->item.doc_as_upsert ? STR("doc") : STR("upsert"));
    }
    if (e == ERR_OK && *at != NULL) {
        k->source = **at;
    }
    return e;
}

static enum err write_source(struct ingest_work *k, struct json *at)
{
    struct buf b;
    struct jsonw w;
    *at = k->source;
    buf_init(&b, k->w->r->arena->alloc, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, &k->whole);
    k->e->item.source = b.failed ? STR_NULL : arena_str(k->w->r->arena, buf_view(&b));
    buf_fini(&b);
    return k->e->item.source.p != NULL ? ERR_OK : err_no_memory(k->em);
}

/* A pipeline that is missing is told before the document is looked at. */
static enum err check_first(const struct ingest_work *k)
{
    struct str name = is_none(k->e->first_pipeline) ? k->e->final_pipeline : k->e->first_pipeline;
    return ingest_set_find(k->set, name) != NULL
               ? ERR_OK
               : err_set(k->em, ERR_ILLEGAL_ARGUMENT, "pipeline with id [%.*s] does not exist",
                         STR_ARG(name));
}

static enum err ingest_entry(struct ingest_work *k)
{
    struct json *at;
    bool changed;
    enum err e = check_first(k);
    e = e == ERR_OK ? open_source(k, &at) : e;
    if (e != ERR_OK || at == NULL) {
        return e;
    }
    e = run_both(k, &changed);
    return e == ERR_OK && changed && !k->e->dropped ? write_source(k, at) : e;
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static void ingest_all(void *arg)
{
    struct write_set *w = arg;
    struct stop st = {.asked = w->r->http != NULL ? op_client_gone : NULL, .self = w->r->http};
    struct ingest_work k = {.w = w, .set = ingest_set_now()};
    int64_t since = clock_mono_ms(w->r->co->o.clock);
    memory_request_arena(&k.scratch); /* the ceiling holds for each document */
    stop_enter(&st);
    for (uint32_t i = 0; i < w->n; i++) {
        struct write_entry *e = &w->v[i];
        ERR_LOCAL(em);
        if (!e->ingests || e->error != NULL) {
            continue;
        }
        err_clear(&em);
        k.e = e;
        k.em = &em;
        atomic_fetch_add(&ingest_total.count, 1);
        if (ingest_entry(&k) != ERR_OK) {
            atomic_fetch_add(&ingest_total.failed, 1);
            e->index = e->target;
            writes_fail(w, e, &em);
        }
        arena_reset(&k.scratch);
    }
    stop_leave(&st);
    arena_fini(&k.scratch);
    ingest_set_unref(k.set);
    w->ingest_ms = clock_mono_ms(w->r->co->o.clock) - since;
    atomic_fetch_add(&ingest_total.time_ns, w->ingest_ms * 1000000);
    w->after_ingest(w);
}

static bool has_ingest_node(const struct cluster_state *s)
{
    bool any = s->nodes == NULL || s->nodes->n == 0;
    for (uint32_t i = 0; !any && i < s->nodes->n; i++) {
        const struct node_meta *n = &s->nodes->v[i];
        bool brief = n->roles != 0 && (n->roles & ~(uint32_t)(ROLE_MASTER | ROLE_DATA)) == 0;
        any = brief
              || (node_roles(n) & 1U << NODE_INGEST) != 0; /* brief: it tells only what the cluster goes by */
    }
    return any;
}

static void refuse_all(struct write_set *w, enum err code, const char *why)
{
    ERR_LOCAL(em);
    err_set(&em, code, "%s", why);
    for (uint32_t i = 0; i < w->n; i++) {
        writes_fail(w, &w->v[i], &em);
    }
    w->blocked = true;
    writes_finish(w);
}

void writes_ingest(struct write_set *w, void (*then)(void *w))
{
    const struct executor *pool = w->r->co->o.requests;
    w->after_ingest = then;
    if (!has_ingest_node(w->r->state)) {
        refuse_all(w, ERR_ILLEGAL_STATE,
                   "There are no ingest nodes in this cluster, unable to forward request to an ingest node.");
    } else if (pool == NULL) {
        ingest_all(w);
    } else if (!executor_submit(pool, ingest_all, w)) {
        refuse_all(w, ERR_REJECTED, "rejected execution of ingest pipelines");
    }
}
