/* The checks of a template: its name, its patterns, its members, and that an index can be made by it. */
#include "master/template_int.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/settings/setting_registry.h"

static enum err invalid(struct str name, const char *why, struct errmsg *em)
{
    return err_set(em, ERR_INVALID_TEMPLATE,
                   "index_template [%.*s] invalid, cause [Validation Failed: 1: %s;]", STR_ARG(name), why);
}

enum err template_check_name(struct str name, struct errmsg *em)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        if (c == ' ' || c == ',' || c == '#') {
            return invalid(name,
                           c == ' '   ? "name must not contain a space"
                           : c == ',' ? "name must not contain a ','"
                                      : "name must not contain a '#'",
                           em);
        }
        if (c >= 'A' && c <= 'Z') {
            return invalid(name, "name must be lower cased", em);
        }
    }
    return name.n > 0 && name.p[0] == '_' ? invalid(name, "name must not start with '_'", em) : ERR_OK;
}

/* Every mistake in one pattern, as numbered reasons. */
static void pattern_mistakes(struct str p, struct buf *why, unsigned *n)
{
    static const char forbidden[] = {'"', '\\', '<', '|', ',', '>', '/', '?', ' '};
    static const struct {
        char c;
        const char *what, *text;
    } marks[] = {{' ', "index_patterns", "a space"},
                 {',', "index_pattern", "a ','"},
                 {'#', "index_pattern", "a '#'"},
                 {':', "index_pattern", "a ':'"}};
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (str_find(p, marks[i].c, 0) != SIZE_MAX) {
            buf_printf(why, "%u: %s [%.*s] must not contain %s;", ++*n, marks[i].what, STR_ARG(p),
                       marks[i].text);
        }
    }
    if (p.n > 0 && p.p[0] == '_') {
        buf_printf(why, "%u: index_pattern [%.*s] must not start with '_';", ++*n, STR_ARG(p));
    }
    for (size_t k = 0; k < ARRAY_LEN(forbidden); k++) {
        if (str_find(p, forbidden[k], 0) != SIZE_MAX) {
            buf_printf(why,
                       "%u: index_pattern [%.*s] must not contain the following characters [ , \", *, \\, <, "
                       "|, ,, >, "
                       "/, ?];",
                       ++*n, STR_ARG(p));
            return;
        }
    }
}

enum err template_check_patterns(const struct template_meta *t, struct errmsg *em)
{
    struct buf why;
    unsigned n = 0;
    enum err e = ERR_OK;
    buf_init(&why, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < t->n_patterns; i++) {
        pattern_mistakes(t->patterns[i], &why, &n);
    }
    if (n > 0) {
        e = err_set(em, ERR_INVALID_TEMPLATE,
                    "index_template [%.*s] invalid, cause [Validation Failed: %.*s]", STR_ARG(t->name),
                    STR_ARG(buf_view(&why)));
    }
    buf_fini(&why);
    return e;
}

/* What is wrong with a setting, though its value is fit: into `why`. */
static void put_refused(struct buf *why, unsigned *n, const struct setting_def *d, const struct setting *v)
{
    if (d != NULL && (d->flags & SETTING_PRIVATE) != 0) {
        buf_printf(why, "%u: private index setting [%s] can not be set explicitly;", ++*n, d->name);
    }
    if (str_eq(v->key, setting_name(SET_INDEX_DATA_PATH)) && v->value.n > 0) {
        buf_printf(why, "%u: path.shared_data must be set in order to use custom data paths;", ++*n);
    }
}

static enum err invalid_settings(struct str name, unsigned n, struct buf *why, struct errmsg *em)
{
    enum err e = n == 0 ? ERR_OK
                        : err_set(em, ERR_INVALID_TEMPLATE,
                                  "index_template [%.*s] invalid, cause [Validation Failed: %.*s]",
                                  STR_ARG(name), STR_ARG(buf_view(why)));
    buf_fini(why);
    return e;
}

static enum err check_legacy_settings(struct str name, const struct settings *s, struct errmsg *em)
{
    struct buf why;
    unsigned n = 0;
    enum err e = settings_check(&setting_registry_index, s, false, em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&why, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < s->n; i++) {
        put_refused(&why, &n, setting_def_find(&setting_registry_index, s->v[i].key), &s->v[i]);
    }
    return invalid_settings(name, n, &why, em);
}

/* Every mistake in the settings, in the one reason of an invalid template. */
static enum err check_settings(struct str name, const struct settings *s, struct errmsg *em)
{
    struct buf why;
    unsigned n = 0;
    buf_init(&why, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < s->n; i++) {
        const struct setting_def *d = setting_def_find(&setting_registry_index, s->v[i].key);
        ERR_LOCAL(one);
        if ((d == NULL ? setting_unknown(&setting_registry_index, s->v[i].key, &one)
                       : setting_check(d, &s->v[i], &one))
            != ERR_OK) {
            buf_printf(&why, "%u: %s;", ++n, err_reason(&one));
        } else {
            put_refused(&why, &n, d, &s->v[i]);
        }
    }
    return invalid_settings(name, n, &why, em);
}

/* As if an index were made of it. */
static enum err check_whole(const struct metadata_env *env, const struct index_recipe *x, struct errmsg *em)
{
    struct buf out;
    struct json none = json_mk_object();
    enum err e = index_refuse_removed(&x->settings, em);
    e = e == ERR_OK ? env->check_analysis(env->self, &x->settings, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&out, NULL, BUF_UNLIMITED);
    e = x->type.n > 0 ? type_name_check(x->type, em) : ERR_OK;
    if (e == ERR_OK) {
        e = env->merge_mapping(env->self, &x->settings, STR_NULL, x->type,
                               x->mapping.type == JSON_OBJECT ? &x->mapping : &none, &out, em);
    }
    buf_fini(&out);
    return e;
}

/* env NULL: as far as can be told without making anything. */
enum err template_check_recipe(const struct metadata_env *env, const struct cluster_state *cur,
                               const struct template_meta *t, const struct json *body, struct str type,
                               struct arena *arena, struct errmsg *em)
{
    struct index_recipe x;
    struct json *wrapped = ARENA_NEW(arena, struct json);
    if (wrapped == NULL) {
        return err_no_memory(em);
    }
    *wrapped = *body;
    if (t->kind == TEMPLATE_LEGACY) { /* one layer, as a composable template has it under "template" */
        *wrapped = json_mk_object();
        if (!json_put(wrapped, arena, STR("template"), *body)) {
            return err_no_memory(em);
        }
    }
    struct settings own;
    settings_init(&own, arena);
    enum err e = index_settings_given(&own, json_path(wrapped, "template.settings"), em);
    if (e == ERR_OK) {
        e = t->kind == TEMPLATE_COMPOSABLE ? check_settings(t->name, &own, em)
                                           : check_legacy_settings(t->name, &own, em);
    }
    if (e != ERR_OK || env == NULL) {
        return e;
    }
    e = index_recipe_of_template(&x, cur, wrapped, arena, em);
    for (uint32_t i = 0; e == ERR_OK && i < x.n_aliases; i++) {
        e = alias_check_alone(&x.aliases[i], em);
    }
    if (e != ERR_OK) {
        return e;
    }
    const struct json *own_mapping = json_path(wrapped, "template.mappings");
    if (json_is(own_mapping, JSON_OBJECT)
        && (t->kind == TEMPLATE_LEGACY
            || json_get(own_mapping, "_doc") != NULL)) { /* no type: a parameter like others */
        x.mapping = *own_mapping;
        x.type = type;
    }
    e = check_whole(env, &x, em);
    for (uint32_t i = 0; e == ERR_OK && t->kind == TEMPLATE_COMPOSABLE && i < x.n_aliases; i++) {
        e = alias_check(env, cur, NULL, &x.aliases[i], em);
    }
    if (e != ERR_OK && t->kind == TEMPLATE_COMPOSABLE) {
        if (e == ERR_MAPPER_PARSING || e == ERR_MAPPER) {
            err_wrap(em, ERR_ILLEGAL_ARGUMENT, "invalid composite mappings for [%.*s]", STR_ARG(t->name));
        }
        e = err_wrap(em, ERR_ILLEGAL_ARGUMENT,
                     "composable template [%.*s] template after composition is invalid", STR_ARG(t->name));
    }
    return e;
}

static enum err check_fields(const struct json *body, struct str text, const char *parser,
                             const char *const *known, struct errmsg *em)
{
    for (uint32_t i = 0; i < body->n; i++) {
        bool ok = false;
        for (size_t k = 0; known[k] != NULL; k++) {
            ok |= str_is(body->members[i].key, known[k]);
        }
        if (!ok) {
            return jr_unknown_field(text, body->members[i].key_off, parser, body->members[i].key, known, em);
        }
    }
    return ERR_OK;
}

static unsigned kinds_of(struct str key)
{
    if (str_is(key, "template") || str_is(key, "_meta") || str_is(key, "data_stream")
        || str_is(key, "settings") || str_is(key, "mappings") || str_is(key, "aliases")) {
        return JR_OBJECT;
    }
    if (str_is(key, "index_patterns") || str_is(key, "composed_of")) {
        return JR_STRING | JR_ARRAY;
    }
    return str_is(key, "allow_auto_create") ? JR_BOOL | JR_STRING : JR_NUMBER | JR_STRING;
}

static enum err check_kinds(const struct json *body, struct str text, const char *parser, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        e = jr_expect(text, parser, m, kinds_of(m->key), em);
        for (uint32_t k = 0; e == ERR_OK && m->value.type == JSON_ARRAY && k < m->value.n; k++) {
            const struct json *one = &m->value.items[k];
            if (json_text(one).p == NULL) {
                uint32_t line, col;
                json_place(text, one->off, &line, &col);
                err_set(em, ERR_ILLEGAL_STATE, "Can't get text on a %s at %u:%u", json_token_name(one), line,
                        col);
                e = jr_wrap_field(text, one->off, parser, m->key, em);
            }
        }
        int64_t n;
        if (e == ERR_OK && (str_is(m->key, "priority") || str_is(m->key, "version"))
            && jr_long(&m->value, &n, em) != ERR_OK) {
            e = jr_wrap_field(text, m->value.off, parser, m->key, em);
        }
    }
    return e;
}

/* The first value of a list among settings that is itself a list, an object or null; NULL: there is none. */
static const struct json *odd_item(const struct json *v)
{
    for (uint32_t i = 0; (json_is(v, JSON_ARRAY) || json_is(v, JSON_OBJECT)) && i < v->n; i++) {
        const struct json *item = v->type == JSON_ARRAY ? &v->items[i] : &v->members[i].value;
        bool scalar = item->type != JSON_ARRAY && item->type != JSON_OBJECT && item->type != JSON_NULL;
        const struct json *odd = v->type == JSON_OBJECT ? odd_item(item) : scalar ? NULL : item;
        if (odd != NULL) {
            return odd;
        }
    }
    return NULL;
}

static enum err check_lists(const struct json *settings, struct str text, struct errmsg *em)
{
    const struct json *odd = odd_item(settings);
    if (odd == NULL) {
        return ERR_OK;
    }
    err_set(em, ERR_ILLEGAL_STATE, "only value lists are allowed in serialized settings");
    return jr_wrap_field(text, odd->off, "template", STR("settings"), em);
}

enum err template_check_shape(const struct json *body, struct str text, enum template_kind kind,
                              struct errmsg *em)
{
    static const char *const composable[] = {"index_patterns", "template",          "priority",
                                             "composed_of",    "version",           "_meta",
                                             "data_stream",    "allow_auto_create", NULL};
    static const char *const component[] = {"template", "version", "_meta", NULL};
    static const char *const inner[] = {"settings", "mappings", "aliases", NULL};
    static const char *const legacy[] = {"index_patterns", "template", "order",   "version",
                                         "settings",       "mappings", "aliases", NULL};
    if (kind == TEMPLATE_LEGACY) {
        const struct json *version = json_get(body, "version"), *settings = json_get(body, "settings");
        const struct json *mappings = json_get(body, "mappings"),
                          *patterns = json_get(body, "index_patterns");
        if (patterns != NULL && patterns->type != JSON_STRING && patterns->type != JSON_ARRAY) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Malformed [template] value, should be a string or a list of strings");
        }
        if (settings != NULL && settings->type != JSON_OBJECT) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Malformed [settings] section, should include an inner object");
        }
        if (mappings != NULL && mappings->type != JSON_OBJECT) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "Malformed [mappings] section, should include an inner object");
        }
        if (check_fields(body, text, "", legacy, NULL) == ERR_OK) {
            return version == NULL || json_is_integral(version)
                       ? ERR_OK
                       : err_set(em, ERR_ILLEGAL_ARGUMENT, "Malformed [version] value, should be an integer");
        }
        for (uint32_t i = 0; i < body->n; i++) {
            struct json one = {.type = JSON_OBJECT, .n = 1, .members = &body->members[i]};
            if (check_fields(&one, text, "", legacy, NULL) != ERR_OK) {
                return err_set(em, ERR_PARSE, "unknown key [%.*s] in the template ",
                               STR_ARG(body->members[i].key));
            }
        }
    }
    const char *parser = kind == TEMPLATE_COMPOSABLE ? "index_template" : "component_template";
    enum err e = check_fields(body, text, parser, kind == TEMPLATE_COMPOSABLE ? composable : component, em);
    e = e == ERR_OK ? check_kinds(body, text, parser, em) : e;
    const struct json *t = json_get(body, "template");
    if (e == ERR_OK && json_is(t, JSON_OBJECT)) {
        e = check_fields(t, text, "template", inner, em);
        e = e == ERR_OK ? check_kinds(t, text, "template", em) : e;
        e = e == ERR_OK ? check_lists(json_get(t, "settings"), text, em) : e;
        if (e != ERR_OK) {
            e = jr_wrap_field(text, t->end, parser, STR("template"), em);
        }
    }
    if (e == ERR_OK && json_get(body, "data_stream") != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[data_stream]: data streams are not supported");
    }
    if (e == ERR_OK && kind == TEMPLATE_COMPOSABLE && json_get(body, "index_patterns") == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Required [index_patterns]");
    }
    if (e == ERR_OK && kind == TEMPLATE_COMPONENT && t == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Required [template]");
    }
    return e;
}
