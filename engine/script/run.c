/* Compiling scripts, executing them, and what they give back. */
#include "engine/script/expression.h"
#include "engine/script/rate.h"
#include "engine/script/vm.h"

#include "common/base/regex.h"
#include "common/base/utf8.h"

/* ---- executing ---- */

void run_prepare(struct script_run *m, const struct script_env *env)
{
    static const struct script_env nothing = {0};
    m->env = env != NULL ? env : &nothing;
    m->own_em = err_in(&m->mem);
    m->em = &m->own_em;
    m->steps = 0;
    m->sp = 0;
    m->depth = 0;
    m->has_source = false;
    m->placed = false;
}

static void about_script(const struct script *s, struct errmsg *em)
{
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->script = err_text(em, s->source);
        a->lang = err_text(em, s->lang);
    }
}

static void about_id(const struct script *s, struct errmsg *em)
{
    struct err_about *a = s->id.p != NULL ? err_about_change(em) : NULL;
    if (a != NULL) {
        a->script_id = err_text(em, s->id);
    }
}

/* Does the language of numbers serve a context? */
static bool answers_in_numbers(enum script_context c)
{
    return c != SCRIPT_STRING_SORT && !script_changes_ctx(c) && c != SCRIPT_MOVING_FN && c < SCRIPT_CONDITION;
}

/* An error while the script runs is shown with the statement that it is in: up to where the next one begins. */
static void about_statement(const struct script_run *m)
{
    const struct script *s = m->script;
    struct err_about *a = err_about_change(m->em);
    if (a == NULL) {
        return;
    }
    a->script_placed = m->placed && m->off != OFF_UNKNOWN;
    a->script_at = m->off;
    a->script_start = 0;
    a->script_end = (uint32_t)s->source.n;
    if (str_is(s->lang, "expression")) {
        a->script_placed = false;
        a->script_at = 0;
        return;
    }
    for (uint32_t i = 0; i < s->statements_n; i++) {
        if (s->statements[i] <= m->off) {
            a->script_start = MAX_OF(a->script_start, s->statements[i]);
        }
    }
    for (uint32_t i = 0; i < s->statements_n; i++) {
        if (s->statements[i] > a->script_start) {
            a->script_end = MIN_OF(a->script_end, s->statements[i]);
        }
    }
}

/* What the run says goes to whoever asked for it. */
static enum err fail(const struct script_run *m, enum err e, struct errmsg *em)
{
    err_copy(em, m->em);
    return e;
}

static enum err fail_script(struct script_run *m, enum err e, struct errmsg *em)
{
    if (e != ERR_NO_MEMORY) {
        e = err_wrap(m->em, ERR_SCRIPT, "runtime error");
        about_script(m->script, m->em);
        about_id(m->script, m->em);
        about_statement(m);
    }
    return fail(m, e, em);
}

/* Parameters with the caller's numbers over them. */
static enum err with_vars(struct script_run *m)
{
    if (m->vars_n == 0) {
        return ERR_OK;
    }
    struct sv all = {.kind = SV_MAP, .map = sv_map_new(&m->mem)};
    if (all.map == NULL) {
        return vm_no_memory(m);
    }
    for (uint32_t i = 0; i < m->params.map->n; i++) {
        if (!sv_map_put(&m->mem, all.map, m->params.map->e[i].key, m->params.map->e[i].value)) {
            return vm_no_memory(m);
        }
    }
    for (uint32_t i = 0; i < m->vars_n; i++) {
        if (!sv_map_put(&m->mem, all.map, sv_str(m->vars[i].name),
                        m->vars[i].null ? sv_null() : sv_double(m->vars[i].v))) {
            return vm_no_memory(m);
        }
    }
    all.map->frozen = true;
    all.map->hashed = true;
    m->params = all;
    return ERR_OK;
}

enum err run_execute(struct script_run *m, struct sv *out, struct errmsg *em)
{
    struct sv params = m->params;
    if (m->script->mutates && !sv_thaw(&m->params, params, &m->mem)) {
        m->params = params;
        return fail(m, vm_no_memory(m), em);
    }
    if (script_changes_ctx(m->script->context) || m->script->context == SCRIPT_FILTER) {
        m->params.map->frozen = true; /* what is in it may change */
    }
    enum err e = with_vars(m);
    e = e == ERR_OK ? vm_run(m, 0, NULL, 0, out) : e;
    m->params = params;
    return e == ERR_OK ? e : fail_script(m, e, em);
}

static void prepare(struct script_run *m, const struct script_env *env)
{
    arena_reset(&m->mem);
    run_prepare(m, env);
}

static enum err start(struct script_run *m, const struct script_env *env, struct sv *out, struct errmsg *em)
{
    prepare(m, env);
    return run_execute(m, out, em);
}

enum err script_number(struct script_run *run, const struct script_env *env, double *out, bool *is_null,
                       struct errmsg *em)
{
    struct sv v;
    enum err e = start(run, env, &v, em);
    if (e != ERR_OK) {
        return e;
    }
    if (is_null != NULL) {
        *is_null = v.kind == SV_NULL;
    }
    if (v.kind == SV_NULL && (is_null != NULL || run->script->context == SCRIPT_SCORE)) {
        *out = 0; /* a script that ends without a return gives Java's zero */
        return ERR_OK;
    }
    e = vm_arg_num(run, v.kind == SV_BOOL ? sv_int(v.b) : v, out);
    return e == ERR_OK ? e : fail_script(run, e, em);
}

enum err script_bool(struct script_run *run, const struct script_env *env, bool *out, struct errmsg *em)
{
    struct sv v;
    enum err e = start(run, env, &v, em);
    if (e != ERR_OK) {
        return e;
    }
    if (v.kind == SV_NULL) {
        *out = false;
        return ERR_OK;
    }
    if (sv_is_number(v)) { /* expressions answer in numbers */
        *out = run->script->context == SCRIPT_BUCKET_SELECTOR ? sv_num(v) == 1 : sv_num(v) != 0;
        return ERR_OK;
    }
    e = vm_arg_bool(run, v, out);
    return e == ERR_OK ? e : fail_script(run, e, em);
}

enum err script_text(struct script_run *run, const struct script_env *env, struct str *out, struct errmsg *em)
{
    struct sv v;
    enum err e = start(run, env, &v, em);
    if (e == ERR_OK) {
        e = vm_text(run, v, out);
        e = e == ERR_OK ? e : fail_script(run, e, em);
    }
    return e;
}

enum err script_value(struct script_run *run, const struct script_env *env, struct arena *arena,
                      struct json *out, struct errmsg *em)
{
    struct sv v;
    enum err e = start(run, env, &v, em);
    if (e == ERR_OK && v.kind == SV_LIST && v.list->form == LIST_ARRAY) { /* one value, unlike a list */
        struct json *array = ARENA_NEW(arena, struct json);
        *out = (struct json){.type = JSON_ARRAY, .n = 1, .items = array};
        return array != NULL ? sv_to_json(array, v, arena, 0, em) : err_no_memory(em);
    }
    return e == ERR_OK ? sv_to_json(out, v, arena, 0, em) : e;
}

enum err script_values(struct script_run *run, const struct script_env *env, bool numbers,
                       struct arena *arena, struct json *out, struct errmsg *em)
{
    struct sv v;
    enum err e = start(run, env, &v, em);
    return e == ERR_OK ? sv_values(out, v, numbers, arena, em) : e;
}

enum err script_condition(struct script_run *run, const struct script_env *env, const struct json *ctx,
                          bool *out, struct errmsg *em)
{
    struct sv v = {0};
    prepare(run, env);
    if (!sv_of_json(&run->ctx, ctx, &run->mem, true)) {
        return fail(run, vm_no_memory(run), em);
    }
    enum err e = run_execute(run, &v, em);
    run->ctx = sv_null();
    *out = false;
    if (e == ERR_OK && v.kind != SV_NULL) {
        e = vm_arg_bool(run, v, out);
        e = e == ERR_OK ? e : fail_script(run, e, em);
    }
    return e;
}

enum err script_update(struct script_run *run, const struct script_env *env, const struct json *ctx,
                       struct arena *arena, struct json *out, bool *unwritable, struct errmsg *em)
{
    struct sv ignored;
    prepare(run, env);
    if (!sv_of_json(&run->ctx, ctx, &run->mem, false)) {
        return fail(run, vm_no_memory(run), em);
    }
    enum err e = run_execute(run, &ignored, em);
    if (e == ERR_OK) {
        e = sv_to_json(out, run->ctx, arena, 0, em);
        if (unwritable != NULL) {
            *unwritable = e != ERR_OK;
        }
    }
    run->ctx = sv_null();
    return e;
}

/* ---- scripts and runs ---- */

const struct script_limits script_limits_default = {.steps_max = 10000000, .bytes_max = (size_t)64 << 20};

#define SURROUNDINGS 25 /* UTF-16 units of a script that are shown on either side */

static void about_surroundings(const struct script *s, struct errmsg *em)
{
    struct err_about *a = err_about_change(em);
    if (a == NULL) {
        return;
    }
    if (str_is(s->lang, "expression")) { /* they are shown whole, without numbers of a place */
        a->script_placed = false;
        a->script_start = 0;
        a->script_end = (uint32_t)s->source.n;
        return;
    }
    a->script_at = MIN_OF(a->script_at, (uint32_t)s->source.n);
    size_t at = utf16_length(str_slice(s->source, 0, a->script_at));
    a->script_start = (uint32_t)utf16_to_byte(s->source, at > SURROUNDINGS ? at - SURROUNDINGS : 0);
    a->script_end = (uint32_t)utf16_to_byte(s->source, at + SURROUNDINGS);
}

static enum err compile_error(struct script *s, enum err e, struct errmsg *em)
{
    if (e == ERR_NO_MEMORY) {
        return e;
    }
    (void)err_wrap(em, ERR_SCRIPT, "compile error");
    about_script(s, em);
    about_surroundings(s, em);
    return ERR_SCRIPT;
}

static enum err keep_links(struct script *s, const struct program *p, struct errmsg *em)
{
    s->links = ARENA_ARRAY(&s->arena, struct link, p->links_n + 1);
    s->links_n = s->links != NULL ? p->links_n : 0;
    for (uint32_t i = 0; i < s->links_n; i++) {
        s->links[i] = (struct link){arena_str(&s->arena, p->links[i].text), p->links[i].off};
        if (s->links[i].text.p == NULL) {
            return err_no_memory(em);
        }
    }
    return s->links != NULL ? ERR_OK : err_no_memory(em);
}

/* The language has no scripts of the context. */
static enum err unserved(const struct script_text *t, enum script_context context, struct errmsg *em)
{
    bool mustache = str_is(t->lang, "mustache");
    err_set(em, ERR_ILLEGAL_ARGUMENT, "%s engine does not know how to handle %scontext [%s]",
            mustache ? "mustache" : "expression", mustache ? "" : "script ", script_context_name(context));
    return err_wrap(em, ERR_GENERAL_SCRIPT, "Failed to compile %s script [%.*s] using lang [%.*s]",
                    t->id.p != NULL ? "stored" : "inline", STR_ARG(t->id.p != NULL ? t->id : t->source),
                    STR_ARG(t->lang));
}

static enum err compile(struct script *s, struct errmsg *em)
{
    struct program program;
    struct arena scratch;
    arena_init(&scratch, NULL, (size_t)64 << 20);
    enum err e = str_is(s->lang, "expression")
                     ? script_parse_expression(&program, s->source, s->context, &scratch, em)
                     : script_parse(&program, s->source, &scratch, em);
    if (e == ERR_OK && str_is(s->lang, "expression") && !answers_in_numbers(s->context)) {
        arena_fini(&scratch);
        return unserved(&(struct script_text){s->source, s->lang, s->id}, s->context, em);
    }
    if (e == ERR_OK && str_trim(s->source).n == 0) {
        e = err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "invalid function definition: found no statements for function [execute] with [%d] parameters",
            s->context == SCRIPT_INGEST || s->context == SCRIPT_CONDITION);
        script_error_at(em, (uint32_t)s->source.n);
    }
    if (s->context == SCRIPT_INGEST) { /* which differs in name alone */
        s->context = SCRIPT_UPDATE;
    }
    e = e == ERR_OK ? script_generate(s, &program, em) : e;
    e = e == ERR_OK ? keep_links(s, &program, em) : e;
    arena_fini(&scratch);
    return e == ERR_OK ? e : compile_error(s, e, em);
}

static _Atomic size_t source_bytes_max = SIZE_MAX;

void script_limit_source(size_t bytes)
{
    atomic_store_explicit(&source_bytes_max, bytes, memory_order_relaxed);
}

static atomic_bool regexes_refused;

void script_allow_regexes(bool allowed)
{
    atomic_store_explicit(&regexes_refused, !allowed, memory_order_relaxed);
}

bool script_regexes_allowed(void)
{
    return !atomic_load_explicit(&regexes_refused, memory_order_relaxed);
}

enum err script_check_size(const struct script_text *t, struct errmsg *em)
{
    size_t most = atomic_load_explicit(&source_bytes_max, memory_order_relaxed);
    return t->id.p != NULL || t->source.n <= most
               ? ERR_OK
               : err_set(
                   em, ERR_ILLEGAL_ARGUMENT,
                   "exceeded max allowed inline script size in bytes [%zu] with size [%zu] for script [%.*s]",
                   most, t->source.n, STR_ARG(t->source));
}

enum err script_compile(struct script **out, const struct script_text *t, enum script_context context,
                        struct errmsg *em)
{
    struct str lang = t->lang.n > 0 ? t->lang : STR("painless");
    *out = NULL;
    if (str_is(lang, "mustache")) {
        return unserved(t, context, em);
    }
    if (!str_is(lang, "painless") && !str_is(lang, "expression")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "script_lang not supported [%.*s]", STR_ARG(lang));
    }
    enum err e = script_check_size(t, em);
    e = e == ERR_OK ? script_rate_take(context, t->source, t->lang, em) : e;
    struct script *s = e == ERR_OK ? alloc_get(alloc_default(), sizeof(*s)) : NULL;
    if (s == NULL) {
        return e == ERR_OK ? err_no_memory(em) : e;
    }
    memset(s, 0, sizeof(*s));
    atomic_init(&s->refs, 1);
    arena_init(&s->arena, NULL, (size_t)16 << 20);
    s->context = context;
    s->source = arena_str(&s->arena, t->source);
    s->lang = arena_str(&s->arena, lang);
    s->id = t->id.p != NULL ? arena_str(&s->arena, t->id) : STR_NULL;
    bool kept = s->source.p != NULL && s->lang.p != NULL && (s->id.p != NULL || t->id.p == NULL);
    e = kept ? compile(s, em) : err_no_memory(em);
    if (e != ERR_OK) {
        script_unref(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

static struct script *script_ref(struct script *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void script_unref(struct script *s)
{
    if (s != NULL && atomic_fetch_sub(&s->refs, 1) == 1) {
        arena_fini(&s->arena);
        alloc_put(alloc_default(), s);
    }
}

bool script_needs_score(const struct script *s)
{
    return s->needs_score;
}

enum err script_link(const struct script *s, const struct json *params, struct errmsg *em)
{
    enum err e = expression_link(s, params, em);
    if (e != ERR_OK) {
        about_script(s, em);
    }
    return e;
}

enum err script_run_new(struct script_run **out, struct script *s, const struct json *params,
                        const struct script_limits *limits, struct errmsg *em)
{
    *out = NULL;
    enum err e = script_link(s, params, em);
    if (e != ERR_OK) {
        return e;
    }
    struct script_run *m = alloc_get(alloc_default(), sizeof(*m));
    if (m == NULL) {
        return err_no_memory(em);
    }
    memset(m, 0, sizeof(*m));
    m->limits = limits != NULL ? *limits : script_limits_default;
    m->script = script_ref(s);
    arena_init(&m->fixed, NULL, m->limits.bytes_max);
    arena_init(&m->mem, NULL, m->limits.bytes_max);
    m->stack = ARENA_ARRAY(&m->fixed, struct sv, STACK_MAX);
    const struct json none = {.type = JSON_OBJECT};
    if (m->stack == NULL
        || !sv_of_json(&m->params, json_is(params, JSON_OBJECT) ? params : &none, &m->fixed, true)) {
        script_run_free(m);
        return err_no_memory(em);
    }
    *out = m;
    return ERR_OK;
}

void script_run_free(struct script_run *run)
{
    if (run != NULL) {
        regex_free(run->regex);
        arena_fini(&run->fixed);
        arena_fini(&run->mem);
        script_unref(run->script);
        alloc_put(alloc_default(), run);
    }
}

void script_run_vars(struct script_run *run, const struct script_var *vars, uint32_t n)
{
    run->vars = vars;
    run->vars_n = n;
}
