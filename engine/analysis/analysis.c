#include "engine/analysis/analysis.h"

#include "engine/analysis/dict/dictionary.h"
#include "engine/analysis/registry.h"

/* Calls `each` for every name below "analysis.<group>." with its settings. */
struct group_walk {
    struct analysis *a;
    struct part_builder b;
    enum part_kind kind;
};

typedef enum err (*each_fn)(struct group_walk *w, struct str name, const struct settings *s,
                            struct errmsg *em);

static enum err each_in_group(struct group_walk *w, const char *group, each_fn each, struct errmsg *em)
{
    struct settings all, one;
    struct str prefix = arena_printf(&w->a->arena, "index.analysis.%s", group);
    if (prefix.p == NULL || !settings_sub(&all, &w->a->settings, prefix, &w->a->arena)) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < all.n;) {
        size_t dot = str_find(all.v[i].key, '.', 0);
        if (dot == SIZE_MAX) {
            return err_set(em, ERR_SETTINGS,
                           "Failed to get setting group for [%.*s.] setting prefix and setting "
                           "[%.*s.%.*s] because of a "
                           "missing '.'",
                           STR_ARG(prefix), STR_ARG(prefix), STR_ARG(all.v[i].key));
        }
        struct str name = str_slice(all.v[i].key, 0, dot);
        if (!settings_sub(&one, &all, name, &w->a->arena)) {
            return err_no_memory(em);
        }
        enum err e = each(w, name, &one, em);
        if (e != ERR_OK) {
            return e;
        }
        i += one.n;
    }
    return ERR_OK;
}

static enum err missing_type(const char *component, struct str name, struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s [%.*s] must specify either an analyzer type, or a tokenizer",
                   component, STR_ARG(name));
}

static enum err unknown_type(const char *component, struct str type, struct str name, struct errmsg *em)
{
    enum err e = strcmp(component, "analyzer") == 0 ? analyzer_not_built(type, em) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown %s type [%.*s] for [%.*s]", component, STR_ARG(type),
                   STR_ARG(name));
}

static enum err build_part(struct group_walk *w, struct str name, const struct settings *s, struct errmsg *em)
{
    struct str type = part_type(s, &w->a->arena);
    const char *component = part_kind_name(w->kind);
    if (type.p == NULL) {
        return missing_type(component, name, em);
    }
    const void *part;
    bool known;
    enum err e = part_new(&part, w->kind, type, name, s, &w->b, &known, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!known) {
        return unknown_type(component, type, name, em);
    }
    return parts_put(&w->a->parts[w->kind], name, part) ? ERR_OK : err_no_memory(em);
}

/* Finds a part for an analyzer ("Custom Analyzer" or "Custom normalizer") in the settings, or says that it is
 * not there. */
static enum err need_part(const void **out, struct group_walk *w, enum part_kind kind, const char *what,
                          struct str analyzer, struct str name, struct errmsg *em)
{
    enum err e = part_by_name(out, kind, name, &w->b, em);
    if (e != ERR_OK || *out != NULL) {
        return e;
    }
    /* Elasticsearch calls a normalizer an analyzer where a filter is missing. */
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s [%.*s] failed to find %s under name [%.*s]",
                   kind == PART_TOKEN_FILTER ? "Custom Analyzer" : what, STR_ARG(analyzer),
                   part_kind_name(kind), STR_ARG(name));
}

static enum err add_char_filters(struct chain *c, struct group_walk *w, const char *what,
                                 const struct settings *s, struct errmsg *em)
{
    struct str *names;
    uint32_t n;
    if (!settings_list(s, "char_filter", c->b->arena, &names, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const void *part;
        enum err e = need_part(&part, w, PART_CHAR_FILTER, what, c->an.name, names[i], em);
        if (e == ERR_OK && c->an.is_normalizer && !((const struct char_filter *)part)->normalizes) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Custom normalizer [%.*s] may not use char filter [%.*s]",
                        STR_ARG(c->an.name), STR_ARG(names[i]));
        }
        e = e == ERR_OK ? chain_add_char_filter(c, part, names[i], em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err add_filters(struct chain *c, struct group_walk *w, const char *what, const struct settings *s,
                            struct errmsg *em)
{
    struct str *names;
    uint32_t n;
    if (!settings_list(s, "filter", c->b->arena, &names, &n)) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const void *part;
        enum err e = need_part(&part, w, PART_TOKEN_FILTER, what, c->an.name, names[i], em);
        if (e == ERR_OK && c->an.is_normalizer && ((const struct token_filter *)part)->normal == NULL) {
            e = err_set(em, ERR_ILLEGAL_ARGUMENT, "Custom normalizer [%.*s] may not use filter [%.*s]",
                        STR_ARG(c->an.name), STR_ARG(names[i]));
        }
        e = e == ERR_OK ? chain_add_filter(c, part, names[i], em) : e;
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err custom_analyzer_new(const struct analyzer **out, struct group_walk *w, struct str name,
                                    const struct settings *s, struct errmsg *em)
{
    static const char what[] = "Custom Analyzer";
    struct str tokenizer = settings_str(s, "tokenizer", STR_NULL);
    if (tokenizer.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Custom Analyzer [%.*s] must be configured with a tokenizer",
                       STR_ARG(name));
    }
    struct chain c;
    chain_init(&c, &w->b, name);
    c.an.is_custom = true;
    c.an.tokenizer_name = tokenizer;
    const void *part;
    enum err e = need_part(&part, w, PART_TOKENIZER, what, name, tokenizer, em);
    if (e == ERR_OK) {
        c.an.tokenizer = part;
        e = add_char_filters(&c, w, what, s, em);
    }
    e = e == ERR_OK ? part_int(s, "position_increment_gap", 100, &c.an.position_increment_gap, em) : e;
    e = e == ERR_OK ? add_filters(&c, w, what, s, em) : e;
    return e == ERR_OK ? chain_end(&c, out, em) : e;
}

static enum err build_analyzer(struct group_walk *w, struct str name, const struct settings *s,
                               struct errmsg *em)
{
    struct str type = settings_str(s, "type", STR_NULL);
    const struct analyzer *an = NULL;
    if (name.n > 0 && name.p[0] == '_') {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "analyzer name must not start with '_'. got \"%.*s\"",
                       STR_ARG(name));
    }
    if (str_is(name, "default_index")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "setting [index.analysis.analyzer.default_index] is not supported anymore, use "
                       "[index.analysis.analyzer.default] instead for index [_na_]");
    }
    enum err e = ERR_OK;
    bool known = true;
    if (type.p == NULL && settings_find(s, STR("tokenizer")) == NULL) {
        return missing_type("analyzer", name, em);
    }
    if (type.p == NULL || str_is(type, "custom")) {
        e = custom_analyzer_new(&an, w, name, s, em);
    } else {
        known = !str_is(type, "classic") && !str_is(type, "chinese"); /* these have only names */
        e = known ? builtin_analyzer_new(&an, type, name, s, &w->b, &known, em) : ERR_OK;
    }
    if (e != ERR_OK) {
        return e;
    }
    if (!known) {
        return unknown_type("analyzer", type, name, em);
    }
    return parts_put(&w->a->analyzers, name, an) ? ERR_OK : err_no_memory(em);
}

static enum err normalizer_parts(struct chain *c, struct group_walk *w, const char *tokenizer,
                                 const struct settings *s, struct errmsg *em)
{
    static const char what[] = "Custom normalizer";
    enum err e = chain_add_builtin(c, PART_TOKENIZER, tokenizer, NULL, em);
    e = e == ERR_OK ? add_char_filters(c, w, what, s, em) : e;
    return e == ERR_OK ? add_filters(c, w, what, s, em) : e;
}

static enum err normalizer_new(const struct analyzer **out, struct group_walk *w, struct str name,
                               bool custom, const struct settings *s, struct errmsg *em)
{
    if (settings_find(s, STR("tokenizer")) != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Custom normalizer [%.*s] cannot configure a tokenizer",
                       STR_ARG(name));
    }
    struct chain split, c;
    chain_init(&split, &w->b, name);
    chain_init(&c, &w->b, name);
    c.an.is_normalizer = true;
    c.an.is_custom = custom;
    enum err e = normalizer_parts(&c, w, "keyword", s, em);
    e = e == ERR_OK ? normalizer_parts(&split, w, "whitespace", s, em) : e;
    e = e == ERR_OK ? chain_end(&split, &c.an.on_whitespace, em) : e;
    return e == ERR_OK ? chain_end(&c, out, em) : e;
}

static enum err build_normalizer(struct group_walk *w, struct str name, const struct settings *s,
                                 struct errmsg *em)
{
    struct str type = settings_str(s, "type", STR("custom"));
    if (!str_is(type, "custom") && !str_is(type, "lowercase")) {
        return unknown_type("normalizer", type, name, em);
    }
    const struct analyzer *an;
    enum err e;
    if (str_is(type, "lowercase")) {
        struct settings lower;
        if (!settings_of_text(&lower, "filter=lowercase", &w->a->arena)) {
            return err_no_memory(em);
        }
        e = normalizer_new(&an, w, name, false, &lower, em);
    } else {
        e = normalizer_new(&an, w, name, true, s, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    return parts_put(&w->a->normalizers, name, an) ? ERR_OK : err_no_memory(em);
}

static enum err build(struct analysis *a, struct errmsg *em)
{
    struct group_walk w = {.a = a, .b = {.a = a, .arena = &a->arena, .env = &a->env}};
    static const enum part_kind order[] = {PART_CHAR_FILTER, PART_TOKENIZER, PART_TOKEN_FILTER};
    for (size_t i = 0; i < ARRAY_LEN(order); i++) {
        w.kind = order[i];
        enum err e = each_in_group(&w, part_kind_name(order[i]), build_part, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    enum err e = each_in_group(&w, "analyzer", build_analyzer, em);
    e = e == ERR_OK ? each_in_group(&w, "normalizer", build_normalizer, em) : e;
    struct settings lower;
    if (e == ERR_OK && !map_has(&a->normalizers, STR("lowercase"))) {
        settings_init(&lower, &a->arena);
        if (!settings_put(&lower, STR("type"), STR("lowercase"))) {
            return err_no_memory(em);
        }
        e = build_normalizer(&w, STR("lowercase"), &lower, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    a->default_index = parts_get(&a->analyzers, STR("default"));
    if (a->default_index == NULL) { /* the standard one under a name of its own */
        const struct analyzer *standard = analysis_analyzer(a, STR("standard"));
        struct analyzer *own = standard != NULL ? ARENA_NEW(&a->arena, struct analyzer) : NULL;
        if (own != NULL) {
            *own = *standard;
            own->name = STR("default");
        }
        a->default_index = own;
    }
    a->default_search = parts_get(&a->analyzers, STR("default_search"));
    if (a->default_search == NULL) {
        a->default_search = a->default_index;
    }
    return a->default_index != NULL ? ERR_OK : err_no_memory(em);
}

struct analysis_env analysis_env_ref(const struct analysis_env *env)
{
    dictionary_ref(env->ik);
    dictionary_ref(env->pinyin);
    return *env;
}

void analysis_env_unref(const struct analysis_env *env)
{
    dictionary_unref(env->ik);
    dictionary_unref(env->pinyin);
}

#define REGISTRY_BYTES_MAX (1 * GIB)

enum err analysis_new(struct analysis **out, const struct settings *index_settings,
                      const struct analysis_env *env, struct errmsg *em)
{
    *out = NULL;
    struct analysis *a = alloc_get(alloc_default(), sizeof(*a));
    if (a == NULL) {
        return err_no_memory(em);
    }
    *a = (struct analysis){.env = analysis_env_ref(env)};
    atomic_init(&a->refs, 1);
    pthread_mutex_init(&a->lock, NULL);
    arena_init(&a->arena, NULL, REGISTRY_BYTES_MAX);
    settings_init(&a->settings, &a->arena);
    a->env.index = &a->settings;
    a->env.cleanups = &a->cleanups;
    for (size_t i = 0; i < ARRAY_LEN(a->parts); i++) {
        map_init(&a->parts[i], &a->arena);
    }
    map_init(&a->analyzers, &a->arena);
    map_init(&a->normalizers, &a->arena);
    map_init(&a->builtin, &a->arena);
    enum err e = settings_merge(&a->settings, index_settings) ? build(a, em) : err_no_memory(em);
    if (e != ERR_OK) {
        analysis_unref(a);
        return e;
    }
    *out = a;
    return ERR_OK;
}

struct analysis *analysis_ref(struct analysis *a)
{
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void analysis_unref(struct analysis *a)
{
    if (a == NULL || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1) {
        return;
    }
    cleanups_run(&a->cleanups);
    arena_fini(&a->arena);
    analysis_env_unref(&a->env);
    pthread_mutex_destroy(&a->lock);
    alloc_put(alloc_default(), a);
}

/* Under the lock: the arena is shared with nobody else once the registry is built. */
static const struct analyzer *builtin_made(struct analysis *a, struct str name)
{
    const struct analyzer *an = parts_get(&a->builtin, name);
    if (an != NULL) {
        return an;
    }
    struct part_builder b = {.a = a, .arena = &a->arena, .env = &a->env};
    struct settings none;
    settings_init(&none, &a->arena);
    bool known;
    struct str copy = arena_str(&a->arena, name);
    if (copy.p == NULL || builtin_analyzer_new(&an, copy, copy, &none, &b, &known, NULL) != ERR_OK
        || an == NULL || !parts_put(&a->builtin, copy, an)) {
        return NULL;
    }
    return an;
}

const struct analyzer *analysis_analyzer(struct analysis *a, struct str name)
{
    const struct analyzer *an = parts_get(&a->analyzers, name);
    if (an != NULL) {
        return an;
    }
    if (str_is(name, "default") && a->default_index != NULL) {
        return a->default_index;
    }
    /* The cache of built-in analyzers is the only thing in the registry that changes. */
    pthread_mutex_lock(&a->lock);
    an = builtin_made(a, name);
    pthread_mutex_unlock(&a->lock);
    return an;
}

const struct analyzer *analysis_normalizer(const struct analysis *a, struct str name)
{
    return parts_get(&a->normalizers, name);
}

const struct analyzer *analysis_default(const struct analysis *a)
{
    return a->default_index;
}

const struct analyzer *analysis_default_search(const struct analysis *a)
{
    return a->default_search;
}
