/* Pipelines: definitions to processors, and processors run one after the other. */
#include "engine/ingest/processor_list.h"

#include "common/base/java_hash.h"
#include "common/base/stop.h"
#include "engine/script/stored.h"

static const struct processor_row *const rows[] = {
#define ROW_OF(name) &processor_##name,
    PROCESSORS(ROW_OF)};

/* ---- reading ------------------------------------------------------------------------------------------- */

static void release_script(void *p)
{
    script_unref(p);
}

static enum err form_text(struct config *c, const struct json *form, struct script_text *t)
{
    const struct json *id = json_get(form, "id"), *source = json_get(form, "source"),
                      *lang = json_get(form, "lang");
    *t = (struct script_text){STR(""), json_is(lang, JSON_STRING) ? lang->s : STR("painless"), STR_NULL};
    id = id != NULL ? id : json_get(form, "stored");
    source = source != NULL ? source : json_get(form, "inline");
    if (json_is(form, JSON_STRING)) {
        t->source = form->s;
        return ERR_OK;
    }
    if (id != NULL && json_text(id).p != NULL) {
        return stored_script_get(json_text(id), c->arena, t, c->em);
    }
    if (json_is(source, JSON_OBJECT)) {
        return script_template(source, c->em);
    }
    if (!json_is(source, JSON_STRING)) {
        return err_set(c->em, ERR_ILLEGAL_ARGUMENT,
                       "must specify either [source] for an inline script or [id] for a stored script");
    }
    t->source = source->s;
    return ERR_OK;
}

enum err config_script(struct config *c, const struct json *form, enum script_context context,
                       struct script **out, struct json *params)
{
    struct script_text t;
    const struct json *given = json_get(form, "params");
    *out = NULL;
    *params = json_mk_object();
    enum err e = form_text(c, form, &t);
    e = e == ERR_OK ? script_compile(out, &t, context, c->em) : e;
    if (e == ERR_OK && !arena_defer(c->arena, release_script, *out)) {
        *out = NULL;
        return err_no_memory(c->em);
    }
    return e == ERR_OK && json_is(given, JSON_OBJECT) && !ingest_copy(params, given, c->arena)
               ? err_no_memory(c->em)
               : e;
}

/* Is a condition a script at all? What it says is looked at later. */
static enum err check_condition(struct config *c, const struct json *form)
{
    if (form->type != JSON_STRING && form->type != JSON_OBJECT) {
        err_set(c->em, ERR_PARSE, "[script] property isn't a map or string, but of type [%s]",
                ingest_class(form));
        err_about_processor(c->em, STR("conditional"), STR_NULL, STR("script"));
        return ERR_PARSE;
    }
    bool says = form->type == JSON_STRING || json_get(form, "source") != NULL || json_get(form, "id") != NULL
                || json_get(form, "inline") != NULL || json_get(form, "stored") != NULL;
    return says ? ERR_OK
                : err_set(c->em, ERR_ILLEGAL_ARGUMENT,
                          "must specify either [source] for an inline script or [id] for a stored script");
}

static enum err read_condition(struct config *c, const struct json *form, struct processor *p)
{
    struct script_text t;
    enum err e = form_text(c, form, &t);
    if (e == ERR_OK) {
        p->condition_text.source = arena_str(c->arena, t.source);
    }
    return e == ERR_OK ? config_script(c, form, SCRIPT_CONDITION, &p->condition, &p->condition_params) : e;
}

static const struct processor_row *row_of(struct str type)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (str_is(type, rows[i]->name)) {
            return rows[i];
        }
    }
    return NULL;
}

/* What belongs to every processor, then its own properties. */
static enum err read_properties(struct config *c, struct processor *p)
{
    struct str type = c->type;
    const struct json *on_failure;
    c->type = STR_NULL; /* which errors of these do not name */
    enum err e = config_str_maybe(c, "tag", &p->tag);
    e = e == ERR_OK ? config_str_maybe(c, "description", &p->description) : e;
    e = e == ERR_OK ? config_bool(c, "ignore_failure", false, &p->ignore_failure) : e;
    e = e == ERR_OK ? config_list(c, "on_failure", false, &on_failure) : e;
    e = e == ERR_OK && on_failure != NULL ? processors_read(c, on_failure, &p->on_failure) : e;
    c->type = type;
    c->tag = p->tag;
    if (e != ERR_OK) {
        return e;
    }
    if (on_failure != NULL && p->on_failure.n == 0) {
        return config_fail(c, "on_failure", "processors list cannot be empty");
    }
    p->guarded = p->ignore_failure || p->on_failure.n > 0;
    p->row = row_of(type);
    if (p->row == NULL) {
        return config_fail(c, NULL, "No processor type exists with name [%.*s]", STR_ARG(type));
    }
    const struct json *form = config_take(c, "if");
    e = form != NULL ? check_condition(c, form) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    p->own = arena_zalloc(c->arena, p->row->size);
    e = p->own != NULL ? p->row->read(c, p->own) : err_no_memory(c->em);
    if (e == ERR_OK) {
        struct str what = arena_printf(c->arena, "processor [%.*s]", STR_ARG(type));
        e = config_end(c, what);
    }
    e = e == ERR_OK && form != NULL ? read_condition(c, form, p) : e;
    return e != ERR_OK && e != ERR_NO_MEMORY ? config_wrap(c, NULL) : e;
}

enum err processor_read(const struct json *v, struct str type, unsigned depth, struct arena *arena,
                        struct processor **out, struct errmsg *em)
{
    struct config c;
    struct json as_script;
    struct processor *p = ARENA_NEW(arena, struct processor);
    *out = p;
    if (p != NULL) {
        p->counts = ARENA_NEW(arena, struct ingest_counts);
    }
    if (p == NULL || p->counts == NULL) {
        return err_no_memory(em);
    }
    if (v->type == JSON_STRING && str_is(type, "script")) {
        as_script = json_mk_object();
        if (!json_put(&as_script, arena, STR("source"), *v)) {
            return err_no_memory(em);
        }
        v = &as_script;
    }
    static const struct json nothing = {.type = JSON_OBJECT};
    enum err e = config_init(&c, v->type == JSON_OBJECT ? v : &nothing, arena, depth + 1, em);
    c.type = type;
    if (e == ERR_OK && v->type != JSON_OBJECT) {
        return v->type == JSON_NULL
                   ? err_set(em, ERR_NULL_POINTER, "%s", "")
                   : config_fail(&c, NULL, "property isn't a map, but of type [%s]", ingest_class(v));
    }
    if (e == ERR_OK && depth >= INGEST_DEPTH_MAX) {
        return config_fail(&c, NULL, "processors are nested too deeply");
    }
    return e == ERR_OK ? read_properties(&c, p) : e;
}

/* Keeps the first refusal, and beside it those that follow. */
static void gather_refusal(struct errmsg *all, const struct errmsg *one)
{
    if (!err_is(all)) {
        err_copy(all, one);
    } else {
        err_suppress(all, one);
    }
}

enum err processors_read(struct config *c, const struct json *list, struct processor_list *out)
{
    struct errmsg all = err_in(c->em->arena);
    size_t cap = 0;
    *out = (struct processor_list){0};
    for (uint32_t i = 0; i < list->n; i++) {
        const struct json *v = &list->items[i];
        if (v->type != JSON_OBJECT) {
            const char *class = ingest_class(v);
            return err_set(
                c->em, v->type == JSON_NULL ? ERR_NULL_POINTER : ERR_CLASS_CAST,
                "class %s cannot be cast to class java.util.Map (%s and java.util.Map are in module "
                "java.base of loader 'bootstrap')",
                class, class);
        }
        const struct json_member **order = java_order(v, c->arena);
        for (uint32_t k = 0; order != NULL && k < v->n; k++) {
            struct processor **grown = arena_grow(c->arena, out->v, out->n, &cap, sizeof(struct processor *));
            struct errmsg one = err_in(c->em->arena);
            if (grown == NULL) {
                return err_no_memory(c->em);
            }
            out->v = grown;
            enum err e =
                processor_read(&order[k]->value, order[k]->key, c->depth, c->arena, &grown[out->n], &one);
            if (e == ERR_NO_MEMORY) {
                return err_no_memory(c->em);
            }
            if (e != ERR_OK) {
                gather_refusal(&all, &one);
            }
            out->n += e == ERR_OK;
        }
        if (order == NULL) {
            return err_no_memory(c->em);
        }
    }
    if (err_is(&all)) {
        *c->em = all;
        return err_code(&all);
    }
    return ERR_OK;
}

static enum err read_pipeline(struct config *c, struct pipeline *p)
{
    const struct json *list, *on_failure = NULL, *version = json_get(c->v, "version");
    enum err e = config_str_maybe(c, "description", &p->description);
    p->has_version = version != NULL && version->type != JSON_NULL;
    e = e == ERR_OK ? config_i32(c, "version", 0, &p->version) : e;
    e = e == ERR_OK ? config_list(c, "processors", true, &list) : e;
    e = e == ERR_OK ? processors_read(c, list, &p->all) : e;
    e = e == ERR_OK ? config_list(c, "on_failure", false, &on_failure) : e;
    e = e == ERR_OK && on_failure != NULL ? processors_read(c, on_failure, &p->on_failure) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct str what = arena_printf(c->arena, "pipeline [%.*s]", STR_ARG(p->id));
    e = config_end(c, what);
    return e == ERR_OK && on_failure != NULL && p->on_failure.n == 0 ? config_fail(
               c, NULL, "pipeline [%.*s] cannot have an empty on_failure option defined", STR_ARG(p->id))
                                                                     : e;
}

enum err pipeline_read(struct pipeline **out, struct str id, const struct json *v, struct arena *arena,
                       struct errmsg *em)
{
    struct config c;
    struct pipeline *p = ARENA_NEW(arena, struct pipeline);
    *out = p;
    if (p == NULL) {
        return err_no_memory(em);
    }
    p->id = arena_str(arena, id);
    p->counts = ARENA_NEW(arena, struct ingest_counts);
    if (p->id.p == NULL || p->counts == NULL) {
        return err_no_memory(em);
    }
    enum err e = config_init(&c, v, arena, 0, em);
    return e == ERR_OK ? read_pipeline(&c, p) : e;
}

bool pipeline_is_empty(const struct pipeline *p)
{
    return p->all.n == 0;
}

/* ---- what a simulation is told ---------------------------------------------------------------------------- */

static struct ingest_step *step_add(struct ingest_doc *d, const struct processor *p,
                                    enum ingest_step_kind kind)
{
    struct ingest_report *r = d->report;
    struct ingest_step *v = arena_grow(d->arena, r->v, r->n, &r->cap, sizeof(*r->v));
    if (v == NULL) {
        return NULL;
    }
    r->v = v;
    v[r->n] = (struct ingest_step){.kind = kind,
                                   .type = p->row->name,
                                   .tag = p->tag,
                                   .description = p->description,
                                   .condition = p->condition_text.source,
                                   .has_condition = p->condition != NULL,
                                   .condition_result = kind != STEP_SKIPPED};
    return &v[r->n++];
}

static bool step_document(struct ingest_doc *d, struct ingest_step *s)
{
    return ingest_copy(&s->source, &d->root, d->arena) && ingest_copy(&s->ingest, &d->ingest, d->arena);
}

/* What a processor has come to. false: no memory. */
static bool step_report(struct ingest_doc *d, const struct processor *p, enum err e, const struct errmsg *em)
{
    enum ingest_step_kind kind = e != ERR_OK  ? (p->ignore_failure ? STEP_ERROR_IGNORED : STEP_ERROR)
                                 : d->dropped ? STEP_DROPPED
                                              : STEP_SUCCESS;
    struct ingest_step *s = step_add(d, p, kind);
    if (s == NULL) {
        return false;
    }
    if (e != ERR_OK) {
        s->error = err_keep(d->arena, em);
    }
    return kind == STEP_ERROR || kind == STEP_DROPPED || step_document(d, s);
}

/* ---- running ------------------------------------------------------------------------------------------- */

struct ingest_counts ingest_total;

static enum err run_condition(const struct processor *p, struct ingest_doc *d, bool *out, struct errmsg *em)
{
    struct script_run *run;
    const struct script_env env = {.now_ms = 0};
    *out = false;
    enum err e = script_run_new(&run, p->condition, &p->condition_params, NULL, em);
    if (e == ERR_OK) {
        e = script_condition(run, &env, &d->root, out, em);
        script_run_free(run);
    }
    return e;
}

/* Does an error end the whole? */
static bool fatal(const struct ingest_doc *d, enum err e)
{
    return e == ERR_CANCELLED || e == ERR_NO_MEMORY || d->thrown;
}

static enum err put_failure(struct ingest_doc *d, const struct errmsg *em)
{
    const struct err_frame *f = err_innermost(em);
    struct str why = arena_str(d->arena, str_of(f != NULL ? f->reason : ""));
    bool ok = why.p != NULL && ingest_note(d, "on_failure_message", json_mk_str(why))
              && ingest_note(d, "on_failure_processor_type", json_mk_str(d->failed_type))
              && ingest_note(d, "on_failure_processor_tag",
                             d->failed_tag.p != NULL ? json_mk_str(d->failed_tag) : ingest_null());
    if (ok && d->failed_pipeline.p != NULL) {
        ok = ingest_note(d, "on_failure_pipeline", json_mk_str(d->failed_pipeline));
    }
    return ok ? ERR_OK : ERR_NO_MEMORY;
}

static void forget_failure(struct ingest_doc *d)
{
    ingest_forget(d, "on_failure_message");
    ingest_forget(d, "on_failure_processor_type");
    ingest_forget(d, "on_failure_processor_tag");
    ingest_forget(d, "on_failure_pipeline");
}

/* The first processor that an error passes is the one that failed. */
static void blame(struct ingest_doc *d, const struct processor *p, bool whole)
{
    if (!d->failed) {
        d->failed = true;
        d->failed_type =
            whole && p->condition != NULL && d->report == NULL ? STR("conditional") : str_of(p->row->name);
        d->failed_tag = p->tag;
        d->failed_pipeline = d->n_running > 1 ? d->running[d->n_running - 1]->id : STR_NULL;
    }
}

static enum err run_failure(const struct processor_list *l, struct ingest_doc *d, struct errmsg *em)
{
    enum err e = put_failure(d, em);
    d->failed = false;
    if (e != ERR_OK) {
        return err_no_memory(em);
    }
    err_clear(em);
    for (uint32_t i = 0; e == ERR_OK && !d->dropped && i < l->n; i++) {
        e = processor_run(l->v[i], d, em);
        if (e != ERR_OK) {
            blame(d, l->v[i], true);
        }
    }
    forget_failure(d);
    return e;
}

static enum err run_bare(const struct processor *p, struct ingest_doc *d, struct errmsg *em)
{
    if (++d->steps > INGEST_STEPS_MAX) {
        return err_set(em, ERR_ILLEGAL_STATE, "a document passes at most [%d] processors", INGEST_STEPS_MAX);
    }
    uint32_t steps = d->report != NULL ? d->report->n : 0;
    bool inner = p->row == &processor_pipeline;
    if (d->report != NULL && inner && step_add(d, p, STEP_SUCCESS) == NULL) {
        return err_no_memory(em);
    }
    enum err e = p->row->run(p->own, d, em);
    if (d->report != NULL && inner && e != ERR_OK && d->report->n == steps + 1) { /* it ran nothing */
        d->report->n--;
        inner = false;
    }
    if (d->report != NULL && !fatal(d, e) && !inner && !step_report(d, p, e, em)) {
        return err_no_memory(em);
    }
    return e;
}

static enum err run_guarded(const struct processor *p, struct ingest_doc *d, struct errmsg *em)
{
    enum err e = run_bare(p, d, em);
    if (e == ERR_OK || fatal(d, e) || !p->guarded) {
        return e;
    }
    blame(d, p, false);
    if (p->ignore_failure) {
        d->failed = false;
        err_clear(em);
        return ERR_OK;
    }
    return run_failure(&p->on_failure, d, em);
}

enum err processor_run(const struct processor *p, struct ingest_doc *d, struct errmsg *em)
{
    bool runs = true;
    if (stop_now()) {
        return err_set(em, ERR_CANCELLED, "the pipeline was cancelled");
    }
    enum err e = p->condition != NULL ? run_condition(p, d, &runs, em) : ERR_OK;
    if (e != ERR_OK) {
        d->thrown = d->report != NULL; /* a simulation that is told of each step ends */
        return e;
    }
    if (!runs) {
        return d->report == NULL || step_add(d, p, STEP_SKIPPED) != NULL ? ERR_OK : err_no_memory(em);
    }
    atomic_fetch_add_explicit(&p->counts->count, 1, memory_order_relaxed);
    e = run_guarded(p, d, em);
    if (e != ERR_OK) {
        atomic_fetch_add_explicit(&p->counts->failed, 1, memory_order_relaxed);
    }
    return e;
}

static enum err run_all(const struct pipeline *p, struct ingest_doc *d, struct errmsg *em)
{
    for (uint32_t i = 0; !d->dropped && i < p->all.n; i++) {
        enum err e = processor_run(p->all.v[i], d, em);
        if (e == ERR_OK) {
            continue;
        }
        if (fatal(d, e)) {
            return e;
        }
        blame(d, p->all.v[i], true);
        return p->on_failure.n > 0 ? run_failure(&p->on_failure, d, em) : e;
    }
    return ERR_OK;
}

enum err pipeline_enter(const struct pipeline *p, struct ingest_doc *d, struct errmsg *em)
{
    for (uint32_t i = 0; i < d->n_running; i++) {
        if (str_eq(d->running[i]->id, p->id)) {
            return err_set(em, ERR_ILLEGAL_STATE, "Cycle detected for pipeline: %.*s", STR_ARG(p->id));
        }
    }
    if (d->n_running == INGEST_PIPELINES_MAX) {
        return err_set(em, ERR_ILLEGAL_STATE, "pipelines call each other more than [%d] deep",
                       INGEST_PIPELINES_MAX);
    }
    const struct pipeline *before = d->n_running > 0 ? d->running[d->n_running - 1] : NULL;
    d->running[d->n_running++] = p;
    if (!ingest_note(d, "pipeline", json_mk_str(p->id))) {
        return err_no_memory(em);
    }
    atomic_fetch_add_explicit(&p->counts->count, 1, memory_order_relaxed);
    enum err e = run_all(p, d, em);
    if (e != ERR_OK) {
        atomic_fetch_add_explicit(&p->counts->failed, 1, memory_order_relaxed);
    }
    d->n_running--;
    if (before == NULL) {
        ingest_forget(d, "pipeline");
    } else if (!ingest_note(d, "pipeline", json_mk_str(before->id))) {
        return err_no_memory(em);
    }
    return e;
}

enum err pipeline_run(const struct pipeline *p, struct ingest_doc *d, struct errmsg *em)
{
    return pipeline_enter(p, d, em);
}
