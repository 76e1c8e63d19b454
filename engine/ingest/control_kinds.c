/* Processors that run others, or nothing: script, pipeline, foreach, drop, fail. */
#include "engine/ingest/processor_list.h"

#include "common/base/java_hash.h"
#include "engine/script/stored.h"

/* ---- script -------------------------------------------------------------------------------------------- */

struct script_own {
    struct script *script; /* NULL: a stored one, which is looked up for each document */
    struct str id;
    struct json params;
};

static const char *const parts[] = {"id", "stored", "source", "inline", "lang", "params", "options"};

/* What is left of the definition is read as a script's form, whose text has members in a map's order: refusals name places in it. */
static enum err check_form(struct config *c)
{
    const struct json_member **order = java_order(c->v, c->arena);
    size_t at = 1;
    for (uint32_t i = 0; order != NULL && i < c->v->n; i++) {
        const struct json_member *m = order[i];
        struct buf value;
        struct jsonw w;
        bool known = false, fits = true, used = c->used[m - c->v->members];
        if (used) {
            continue;
        }
        for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
            known = known || str_is(m->key, parts[k]);
        }
        bool map = str_is(m->key, "params") || str_is(m->key, "options");
        fits = map ? m->value.type == JSON_OBJECT
                   : m->value.type == JSON_STRING
                         || (m->value.type == JSON_OBJECT
                             && (str_is(m->key, "source") || str_is(m->key, "inline")));
        size_t column = known ? at + 1 + m->key.n + 3 : at + 1;
        if (!known || !fits) {
            err_set(c->em, ERR_X_CONTENT,
                    known ? "[1:%zu] [script] %.*s doesn't support values of type: %s"
                          : "[1:%zu] [script] unknown field [%.*s]%s",
                    column, STR_ARG(m->key), known ? json_token_name(&m->value) : "");
            return err_wrap(c->em, ERR_INTERNAL,
                            "org.elasticsearch.common.xcontent.XContentParseException: %s",
                            err_reason(c->em));
        }
        jsonw_start(&w, &value);
        jw_value(&w, &m->value);
        at += m->key.n + 3 + value.n + 1;
        buf_fini(&value);
    }
    return order != NULL ? ERR_OK : err_no_memory(c->em);
}

static enum err read_script(struct config *c, void *own)
{
    struct script_own *o = own;
    const struct json *id = json_get(c->v, "id");
    enum err e = check_form(c);
    e = e == ERR_OK ? config_script(c, c->v, SCRIPT_INGEST, &o->script, &o->params) : e;
    if (e == ERR_OK && id != NULL && json_text(id).p != NULL) {
        o->script = NULL; /* which c->arena keeps */
        o->id = arena_str(c->arena, json_text(id));
        e = o->id.p != NULL ? ERR_OK : err_no_memory(c->em);
    }
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        (void)config_take(c, parts[i]);
    }
    return e;
}

static enum err run_compiled(const struct script_own *o, struct script *s, struct ingest_doc *d,
                             struct errmsg *em)
{
    struct script_run *run;
    struct json out;
    const struct script_env env = {.now_ms = 0};
    enum err e = script_run_new(&run, s, &o->params, NULL, em);
    if (e != ERR_OK) {
        return e;
    }
    e = script_update(run, &env, &d->root, d->arena, &out, NULL, em);
    if (e == ERR_ILLEGAL_ARGUMENT
        && str_is(str_of(err_reason(em)), "Iterable object is self-referencing itself")) {
        err_set(em, e, "Iterable object is self-referencing itself (ingest script)");
    }
    if (e == ERR_OK && out.type == JSON_OBJECT) {
        e = ingest_copy(&d->root, &out, d->arena) ? ERR_OK : err_no_memory(em);
    }
    script_run_free(run);
    return e;
}

static enum err run_script(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct script_own *o = own;
    struct script_text t;
    struct script *s;
    if (o->script != NULL) {
        return run_compiled(o, o->script, d, em);
    }
    enum err e = stored_script_get(o->id, d->arena, &t, em);
    e = e == ERR_OK ? script_compile(&s, &t, SCRIPT_INGEST, em) : e;
    if (e == ERR_OK) {
        e = run_compiled(o, s, d, em);
        script_unref(s);
    }
    return e;
}

const struct processor_row processor_script = {"script", sizeof(struct script_own), read_script, run_script};

/* ---- pipeline ------------------------------------------------------------------------------------------ */

struct pipeline_own {
    struct snippet name;
};

static enum err read_inner(struct config *c, void *own)
{
    struct pipeline_own *o = own;
    return config_snippet(c, "name", &o->name);
}

static enum err run_inner(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct pipeline_own *o = own;
    struct str name;
    enum err e = snippet_text(&o->name, d, &name, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct pipeline *p = ingest_set_find(d->set, name);
    if (p == NULL && d->report != NULL) {
        d->thrown = true;
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Pipeline processor configured for non-existent pipeline [%.*s]", STR_ARG(name));
    }
    return p != NULL
               ? pipeline_enter(p, d, em)
               : err_set(em, ERR_ILLEGAL_STATE,
                         "Pipeline processor configured for non-existent pipeline [%.*s]", STR_ARG(name));
}

const struct processor_row processor_pipeline = {"pipeline", sizeof(struct pipeline_own), read_inner,
                                                 run_inner};

/* ---- foreach ------------------------------------------------------------------------------------------- */

struct foreach_own {
    struct str field;
    struct processor *inner;
    bool ignore_missing;
};

static enum err read_foreach(struct config *c, void *own)
{
    struct foreach_own *o = own;
    const struct json *v;
    enum err e = config_str(c, "field", &o->field);
    e = e == ERR_OK ? config_map(c, "processor", true, &v) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (v->n != 1) {
        return config_fail(c, "processor", "Must specify exactly one processor type");
    }
    if (v->members[0].value.type != JSON_OBJECT) {
        const char *class = ingest_class(&v->members[0].value);
        return err_set(
            c->em, ERR_CLASS_CAST,
            "class %s cannot be cast to class java.util.Map (%s and java.util.Map are in module java.base "
            "of loader 'bootstrap')",
            class, class);
    }
    e = processor_read(&v->members[0].value, v->members[0].key, c->depth, c->arena, &o->inner, c->em);
    return e == ERR_OK ? config_bool(c, "ignore_missing", false, &o->ignore_missing) : e;
}

/* The value is a copy while it is changed, as the list may be, too. What an error leaves of an object stays in the list. */
static enum err foreach_value(const struct foreach_own *o, struct json *in, struct ingest_doc *d,
                              struct json *out, struct errmsg *em)
{
    const struct json *was = json_get(&d->ingest, "_value");
    const struct json before = was != NULL ? *was : ingest_null();
    struct json value;
    if (!ingest_copy(&value, in, d->arena) || !ingest_note(d, "_value", value)) {
        return err_no_memory(em);
    }
    enum err e = processor_run(o->inner, d, em);
    const struct json *now = json_get(&d->ingest, "_value");
    struct json one = now != NULL ? *now : ingest_null();
    if (e != ERR_OK && one.type == in->type && (one.type == JSON_OBJECT || one.type == JSON_ARRAY)) {
        *in = one;
    }
    if (!ingest_push(out, &one, d->arena) || !ingest_note(d, "_value", before)) {
        return err_no_memory(em);
    }
    return e;
}

static enum err run_foreach(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct foreach_own *o = own;
    struct ingest_report *report = d->report;
    struct json *list, out = ingest_list();
    enum err e = ingest_get_as(d, o->field, JSON_ARRAY, o->ignore_missing, &list, em);
    if (e != ERR_OK) {
        d->thrown = true;
        return e;
    }
    if (list == NULL) {
        return o->ignore_missing
                   ? ERR_OK
                   : err_set(em, ERR_ILLEGAL_ARGUMENT, "field [%.*s] is null, cannot loop over its elements.",
                             STR_ARG(o->field));
    }
    const struct json values = *list; /* the field may go while they are looped over */
    d->report = NULL;                 /* steps are those of the pipeline */
    for (uint32_t i = 0; e == ERR_OK && !d->dropped && i < values.n; i++) {
        e = foreach_value(o, &values.items[i], d, &out, em);
    }
    d->report = report;
    return e == ERR_OK && !d->dropped ? ingest_put(d, o->field, &out, em) : e;
}

const struct processor_row processor_foreach = {"foreach", sizeof(struct foreach_own), read_foreach,
                                                run_foreach};

/* ---- drop, fail ---------------------------------------------------------------------------------------- */

static enum err read_nothing(struct config *c, void *own)
{
    (void)c;
    (void)own;
    return ERR_OK;
}

static enum err run_drop(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    (void)own;
    (void)em;
    d->dropped = true;
    return ERR_OK;
}

const struct processor_row processor_drop = {"drop", 1, read_nothing, run_drop};

struct fail_own {
    struct snippet message;
};

static enum err read_fail(struct config *c, void *own)
{
    struct fail_own *o = own;
    return config_snippet(c, "message", &o->message);
}

static enum err run_fail(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct fail_own *o = own;
    struct str text;
    enum err e = snippet_text(&o->message, d, &text, em);
    return e == ERR_OK ? err_set(em, ERR_FAIL_PROCESSOR, "%.*s", STR_ARG(text)) : e;
}

const struct processor_row processor_fail = {"fail", sizeof(struct fail_own), read_fail, run_fail};
