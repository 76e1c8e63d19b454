/* Templates: legacy, composable, and the components those are made of. */
#include "master/metadata_int.h"

#include "common/base/jsonr.h"
#include "common/base/num.h"
#include "common/cluster/setting_registry.h"

/* ---- writing: bodies are kept as the API prints them --------------------------------------------------- */

static enum err write_settings(struct jsonw *w, const struct json *given, struct arena *arena,
                               struct errmsg *em)
{
    struct settings s;
    settings_init(&s, arena);
    enum err e = index_settings_given(&s, given, em);
    if (e == ERR_OK) {
        settings_write(&s, w, false);
    }
    return e;
}

static enum err write_aliases(struct jsonw *w, const struct json *given, struct arena *arena,
                              struct errmsg *em)
{
    enum err e = ERR_OK;
    jw_obj(w);
    for (uint32_t i = 0; e == ERR_OK && json_is(given, JSON_OBJECT) && i < given->n; i++) {
        struct alias_meta a = {.name = given->members[i].key};
        if (given->members[i].value.type != JSON_OBJECT) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "No alias is specified");
        }
        e = alias_from_json(&a, &given->members[i].value, false, arena, em);
        jw_key(w, a.name);
        alias_write(&a, w);
    }
    jw_obj_end(w);
    return e;
}

static const struct json *without_type(const struct json *mappings)
{
    bool typed =
        json_is(mappings, JSON_OBJECT) && mappings->n == 1 && str_is(mappings->members[0].key, "_doc");
    return typed ? &mappings->members[0].value : mappings;
}

static void write_patterns(struct jsonw *w, const struct template_meta *t)
{
    jw_k(w, "index_patterns");
    jw_arr(w);
    for (uint32_t i = 0; i < t->n_patterns; i++) {
        jw_str(w, t->patterns[i]);
    }
    jw_arr_end(w);
}

static void write_given(struct jsonw *w, const struct json *body, const char *name)
{
    const struct json *v = json_get(body, name);
    if (v != NULL && v->type != JSON_NULL) {
        jw_k(w, name);
        jw_value(w, v);
    }
}

static enum err write_legacy(struct jsonw *w, const struct template_meta *t, const struct json *body,
                             struct arena *arena, struct errmsg *em)
{
    const struct json *mappings = without_type(json_get(body, "mappings"));
    jw_obj(w);
    jw_ki64(w, "order", t->order);
    write_given(w, body, "version");
    write_patterns(w, t);
    jw_k(w, "settings");
    enum err e = write_settings(w, json_get(body, "settings"), arena, em);
    jw_k(w, "mappings");
    if (json_is(mappings, JSON_OBJECT)) {
        jw_value(w, mappings);
    } else {
        jw_obj(w);
        jw_obj_end(w);
    }
    jw_k(w, "aliases");
    e = e == ERR_OK ? write_aliases(w, json_get(body, "aliases"), arena, em) : e;
    jw_obj_end(w);
    return e;
}

/* {"settings":…, "mappings":…, "aliases":…}: those that were given. */
static enum err write_inner(struct jsonw *w, const struct json *inner, struct arena *arena, struct errmsg *em)
{
    const struct json *settings = json_get(inner, "settings"), *aliases = json_get(inner, "aliases");
    const struct json *mappings = json_get(inner, "mappings");
    enum err e = ERR_OK;
    jw_obj(w);
    if (settings != NULL) {
        jw_k(w, "settings");
        e = write_settings(w, settings, arena, em);
    }
    if (mappings != NULL) {
        jw_k(w, "mappings");
        jw_value(w, mappings);
    }
    if (aliases != NULL && e == ERR_OK) {
        jw_k(w, "aliases");
        e = write_aliases(w, aliases, arena, em);
    }
    jw_obj_end(w);
    return e;
}

/* A number that may have been given as a text, or with a fraction. */
static void write_whole(struct jsonw *w, const struct json *body, const char *name)
{
    const struct json *v = json_get(body, name);
    int64_t n;
    if (v != NULL && v->type != JSON_NULL && jr_long(v, &n, NULL) == ERR_OK) {
        jw_ki64(w, name, n);
    }
}

/* A template that has none but a shape of its own is made of an empty list. */
static void write_parts(struct jsonw *w, const struct json *parts, bool shaped)
{
    static const struct json none = {.type = JSON_ARRAY};
    parts = parts == NULL && shaped ? &none : parts;
    if (parts == NULL || parts->type == JSON_NULL) {
        return;
    }
    jw_k(w, "composed_of");
    jw_arr(w);
    for (uint32_t i = 0; parts->type == JSON_ARRAY && i < parts->n; i++) {
        jw_str(w, json_text(&parts->items[i]));
    }
    if (parts->type != JSON_ARRAY) {
        jw_str(w, json_text(parts));
    }
    jw_arr_end(w);
}

static enum err write_modern(struct jsonw *w, const struct template_meta *t, const struct json *body,
                             struct arena *arena, struct errmsg *em)
{
    const struct json *inner = json_get(body, "template");
    enum err e = ERR_OK;
    jw_obj(w);
    if (t->kind == TEMPLATE_COMPOSABLE) {
        write_patterns(w, t);
    }
    if (inner != NULL) {
        jw_k(w, "template");
        e = write_inner(w, inner, arena, em);
    }
    if (t->kind == TEMPLATE_COMPOSABLE) {
        write_parts(w, json_get(body, "composed_of"), inner != NULL);
    }
    write_whole(w, body, "priority");
    write_whole(w, body, "version");
    write_given(w, body, "_meta");
    write_given(w, body, "allow_auto_create");
    jw_obj_end(w);
    return e;
}

/* ---- checking ------------------------------------------------------------------------------------------ */

static enum err invalid(struct str name, const char *why, struct errmsg *em)
{
    return err_set(em, ERR_INVALID_TEMPLATE,
                   "index_template [%.*s] invalid, cause [Validation Failed: 1: %s;]", STR_ARG(name), why);
}

static enum err check_name(struct str name, struct errmsg *em)
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

static enum err check_patterns(const struct template_meta *t, struct errmsg *em)
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
    if (str_is(v->key, "index.data_path") && v->value.n > 0) {
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
        struct errmsg one;
        if ((d == NULL ? setting_unknown(&setting_registry_index, s->v[i].key, &one)
                       : setting_check(d, &s->v[i], &one))
            != ERR_OK) {
            buf_printf(&why, "%u: %s;", ++n, one.frame[0].reason);
        } else {
            put_refused(&why, &n, d, &s->v[i]);
        }
    }
    return invalid_settings(name, n, &why, em);
}

/* As if an index were made of it. */
static enum err check_whole(const struct metadata_env *env, const struct index_recipe *x, struct arena *arena,
                            struct errmsg *em)
{
    struct settings view;
    struct buf out;
    struct json none = json_mk_object();
    if (!settings_sub(&view, &x->settings, STR("index"), arena)) {
        return err_no_memory(em);
    }
    enum err e = index_refuse_removed(&x->settings, em);
    e = e == ERR_OK ? env->check_analysis(env->self, &view, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&out, NULL, BUF_UNLIMITED);
    e = env->merge_mapping(env->self, &view, STR_NULL, x->mapping.type == JSON_OBJECT ? &x->mapping : &none,
                           &out, em);
    buf_fini(&out);
    return e;
}

/* env NULL: as far as can be told without making anything. */
static enum err check_recipe(const struct metadata_env *env, const struct cluster_state *cur,
                             const struct template_meta *t, const struct json *body, struct arena *arena,
                             struct errmsg *em)
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
    if (t->kind != TEMPLATE_LEGACY
        && json_get(own_mapping, "_doc") != NULL) { /* no type: a parameter like others */
        x.mapping = *own_mapping;
    }
    e = check_whole(env, &x, arena, em);
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

static enum err check_shape(const struct json *body, struct str text, enum template_kind kind,
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

/* ---- conflicts between composable templates ------------------------------------------------------------ */

/* Could one name match both patterns? Only `*` is special. */
static bool overlap(struct str a, struct str b)
{
    if (a.n == 0 || b.n == 0) {
        struct str rest = a.n == 0 ? b : a;
        for (size_t i = 0; i < rest.n; i++) {
            if (rest.p[i] != '*') {
                return false;
            }
        }
        return true;
    }
    if (a.p[0] == '*') {
        return overlap(str_slice(a, 1, a.n), b) || overlap(a, str_slice(b, 1, b.n));
    }
    if (b.p[0] == '*') {
        return overlap(a, str_slice(b, 1, b.n)) || overlap(str_slice(a, 1, a.n), b);
    }
    return a.p[0] == b.p[0] && overlap(str_slice(a, 1, a.n), str_slice(b, 1, b.n));
}

/* Overlap is exponential in the stars of both patterns: past this many, patterns are taken to overlap. */
#define STARS_MAX 8

static unsigned stars(struct str p)
{
    unsigned n = 0;
    for (size_t i = 0; i < p.n; i++) {
        n += p.p[i] == '*';
    }
    return n;
}

bool templates_overlap(const struct template_meta *a, const struct template_meta *b)
{
    for (uint32_t i = 0; i < a->n_patterns; i++) {
        for (uint32_t k = 0; k < b->n_patterns; k++) {
            if (stars(a->patterns[i]) + stars(b->patterns[k]) > STARS_MAX
                || overlap(a->patterns[i], b->patterns[k])) {
                return true;
            }
        }
    }
    return false;
}

static void list_patterns(struct buf *b, const struct template_meta *t)
{
    for (uint32_t i = 0; i < t->n_patterns; i++) {
        buf_printf(b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(t->patterns[i]));
    }
}

static enum err refuse_rival(const struct template_meta *t, const struct template_meta *o, struct errmsg *em)
{
    struct buf own, theirs;
    buf_init(&own, NULL, BUF_UNLIMITED);
    buf_init(&theirs, NULL, BUF_UNLIMITED);
    list_patterns(&own, t);
    list_patterns(&theirs, o);
    err_set(em, ERR_ILLEGAL_ARGUMENT,
            "index template [%.*s] has index patterns [%.*s] matching patterns from existing templates "
            "[%.*s] with "
            "patterns (%.*s => [%.*s]) that have the same priority [%lld], multiple index templates may not "
            "match "
            "during index creation, please use a different priority",
            STR_ARG(t->name), STR_ARG(buf_view(&own)), STR_ARG(o->name), STR_ARG(o->name),
            STR_ARG(buf_view(&theirs)), (long long)t->order);
    buf_fini(&own);
    buf_fini(&theirs);
    return ERR_ILLEGAL_ARGUMENT;
}

static enum err check_rivals(const struct cluster_state *cur, const struct template_meta *t,
                             struct errmsg *em)
{
    for (uint32_t i = 0; i < cur->n_templates; i++) {
        const struct template_meta *o = cur->templates[i];
        if (o->kind != TEMPLATE_COMPOSABLE || str_eq(o->name, t->name) || o->order != t->order
            || !templates_overlap(o, t)) {
            continue;
        }
        return refuse_rival(t, o, em);
    }
    return ERR_OK;
}

static enum err check_components(const struct cluster_state *cur, const struct template_meta *t,
                                 const struct json *body, struct errmsg *em)
{
    const struct json *parts = json_get(body, "composed_of");
    struct buf missing;
    enum err e = ERR_OK;
    buf_init(&missing, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; parts != NULL && i < (parts->type == JSON_ARRAY ? parts->n : 1); i++) {
        struct str name = json_text(parts->type == JSON_ARRAY ? &parts->items[i] : parts);
        if (cluster_template(cur, TEMPLATE_COMPONENT, name) == NULL) {
            buf_printf(&missing, "%s%.*s", missing.n > 0 ? ", " : "", STR_ARG(name));
        }
    }
    if (missing.n > 0) {
        e = err_set(em, ERR_INVALID_TEMPLATE,
                    "index_template [%.*s] invalid, cause [index template [%.*s] specifies component "
                    "templates [%.*s] that do not exist]",
                    STR_ARG(t->name), STR_ARG(t->name), STR_ARG(buf_view(&missing)));
    }
    buf_fini(&missing);
    return e;
}

/* ---- put ----------------------------------------------------------------------------------------------- */

/* A value as Java shows its objects: lists and objects may be patterns as well. */
static void put_java_text(struct buf *b, const struct json *v)
{
    bool list = v->type == JSON_ARRAY;
    if (!list && v->type != JSON_OBJECT) {
        buf_str(b, v->type == JSON_NULL ? STR("null") : json_text(v));
        return;
    }
    buf_char(b, list ? '[' : '{');
    for (uint32_t i = 0; i < v->n; i++) {
        buf_z(b, i > 0 ? ", " : "");
        if (!list) {
            buf_str(b, v->members[i].key);
            buf_char(b, '=');
        }
        put_java_text(b, list ? &v->items[i] : &v->members[i].value);
    }
    buf_char(b, list ? ']' : '}');
}

static struct str java_text(const struct json *v, struct arena *a)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    put_java_text(&b, v);
    struct str text = arena_str(a, buf_view(&b));
    buf_fini(&b);
    return text;
}

static enum err read_patterns(struct template_meta *t, const struct json *v, struct errmsg *em)
{
    const struct str *given = NULL;
    uint32_t n = 0;
    struct arena *a = &t->part.arena;
    if (v != NULL && !jr_strings(v, a, &given, &n)) {
        return err_no_memory(em);
    }
    t->patterns = ARENA_ARRAY(a, struct str, n);
    for (uint32_t i = 0; t->patterns != NULL && i < n; i++) {
        bool text = v == NULL || v->type != JSON_ARRAY || given[i].p != NULL || v->items[i].type == JSON_NULL;
        t->patterns[i] = text ? arena_str(a, given[i]) : java_text(&v->items[i], a);
        if (t->patterns[i].p == NULL) {
            return err_no_memory(em);
        }
        t->n_patterns++;
    }
    return t->patterns != NULL ? ERR_OK : err_no_memory(em);
}

static enum err fill(struct template_meta *t, struct meta_request *rq, struct errmsg *em)
{
    const struct json *body = &rq->body,
                      *order = json_get(body, t->kind == TEMPLATE_LEGACY ? "order" : "priority");
    const struct json *patterns = json_get(body, "index_patterns");
    struct buf out;
    struct jsonw w;
    t->name = arena_str(&t->part.arena, rq->names[0]);
    if (patterns == NULL && t->kind == TEMPLATE_LEGACY) {
        patterns = json_get(body, "template");
    }
    if (order != NULL) {
        (void)jr_long(order, &t->order, NULL);
    }
    enum err e = t->name.p != NULL ? read_patterns(t, patterns, em) : err_no_memory(em);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&out, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &out, false);
    e = t->kind == TEMPLATE_LEGACY ? write_legacy(&w, t, body, &rq->arena, em)
                                   : write_modern(&w, t, body, &rq->arena, em);
    if (e == ERR_OK) {
        t->body = out.failed ? STR_NULL : arena_str(&t->part.arena, buf_view(&out));
        e = t->body.p != NULL ? ERR_OK : err_no_memory(em);
    }
    buf_fini(&out);
    return e;
}

static enum err check(const struct metadata_env *env, const struct cluster_state *cur,
                      const struct template_meta *t, struct meta_request *rq, struct errmsg *em)
{
    bool there = cluster_template(cur, t->kind, t->name) != NULL;
    if (t->kind == TEMPLATE_LEGACY && t->n_patterns == 0) {
        return err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: 1: index patterns are missing;");
    }
    if (rq->create_only && there) {
        const char *what = t->kind == TEMPLATE_LEGACY       ? "index_template"
                           : t->kind == TEMPLATE_COMPOSABLE ? "index template"
                                                            : "component template";
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s [%.*s] already exists", what, STR_ARG(t->name));
    }
    if (t->kind == TEMPLATE_COMPOSABLE && t->order < 0) {
        return err_set(em, ERR_ACTION_VALIDATION,
                       "Validation Failed: 1: index template priority must be >= 0;");
    }
    if (t->kind == TEMPLATE_COMPOSABLE && t->n_patterns == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "There must be at least one pattern, zero given");
    }
    enum err e = check_name(t->name, em);
    e = e == ERR_OK ? check_patterns(t, em) : e;
    if (e == ERR_OK && t->kind == TEMPLATE_COMPOSABLE) {
        e = check_components(cur, t, &rq->body, em);
        e = e == ERR_OK ? check_rivals(cur, t, em) : e;
    }
    return e == ERR_OK ? check_recipe(env, cur, t, &rq->body, &rq->arena, em) : e;
}

static bool same_template(const struct template_meta *a, const struct template_meta *b)
{
    return a != NULL && a->order == b->order && str_eq(a->body, b->body);
}

/* The template that META_PUT_TEMPLATE asks for, checked against the state; the caller's. */
static enum err template_check(const struct metadata_env *env, const struct cluster_state *cur,
                               struct meta_request *rq, struct template_meta **out, struct errmsg *em)
{
    *out = NULL;
    if (rq->body.type != JSON_OBJECT) {
        return err_set(em, ERR_PARSE, "a template must be an object");
    }
    enum err e = check_shape(&rq->body, rq->text, rq->template_kind, em);
    struct template_meta *t = e == ERR_OK ? template_meta_new() : NULL;
    if (t == NULL) {
        return e == ERR_OK ? err_no_memory(em) : e;
    }
    t->kind = rq->template_kind;
    e = fill(t, rq, em);
    e = e == ERR_OK ? check(env, cur, t, rq, em) : e;
    if (e != ERR_OK) {
        state_part_unref(&t->part);
        return e;
    }
    *out = t;
    return ERR_OK;
}

enum err meta_put_template(const struct metadata_env *env, const struct cluster_state *cur,
                           struct meta_request *rq, struct state_builder *b, struct errmsg *em)
{
    struct template_meta *t;
    enum err e = template_check(env, cur, rq, &t, em);
    if (e != ERR_OK) {
        return e;
    }
    if ((rq->options & META_DRY_RUN) != 0 || same_template(cluster_template(cur, t->kind, t->name), t)) {
        state_part_unref(&t->part);
        return ERR_OK;
    }
    rq->changed = true;
    return state_put_template(b, t) ? ERR_OK : err_no_memory(em);
}

enum err metadata_with_template(const struct cluster_state *cur, struct str name, const struct json *body,
                                struct str text, struct cluster_state **out, struct errmsg *em)
{
    struct meta_request rq;
    struct template_meta *t;
    struct state_builder b;
    meta_request_init(&rq, META_PUT_TEMPLATE, NULL, NULL);
    rq.template_kind = TEMPLATE_COMPOSABLE;
    rq.names = &name;
    rq.n_names = 1;
    rq.body = *body;
    rq.text = text;
    enum err e = template_check(NULL, cur, &rq, &t, em);
    meta_request_fini(&rq);
    *out = NULL;
    if (e != ERR_OK) {
        return e;
    }
    if (!state_builder_init(&b, cur)) {
        state_part_unref(&t->part);
        return err_no_memory(em);
    }
    if (!state_put_template(&b, t)) {
        state_builder_drop(&b);
        return err_no_memory(em);
    }
    *out = state_builder_seal(&b, cur->state_uuid);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

/* ---- delete -------------------------------------------------------------------------------------------- */

/* Index templates that name a component, separated by commas; n == 0: none. */
static struct str users_of(const struct cluster_state *cur, struct str component, struct arena *arena)
{
    struct str users = STR("");
    for (uint32_t i = 0; i < cur->n_templates; i++) {
        const struct template_meta *t = cur->templates[i];
        struct json body;
        if (t->kind != TEMPLATE_COMPOSABLE
            || json_parse(&body, t->body, arena, &json_limits_default, NULL) != ERR_OK) {
            continue;
        }
        const struct json *parts = json_get(&body, "composed_of");
        for (uint32_t k = 0; json_is(parts, JSON_ARRAY) && k < parts->n; k++) {
            if (str_eq(json_text(&parts->items[k]), component)) {
                users = arena_printf(arena, "%.*s%s%.*s", STR_ARG(users), users.n > 0 ? ", " : "",
                                     STR_ARG(t->name));
                break;
            }
        }
    }
    return users;
}

static enum err delete_matching(const struct cluster_state *cur, struct meta_request *rq, struct str pattern,
                                struct state_builder *b, struct errmsg *em)
{
    bool found = false;
    for (uint32_t i = 0; i < cur->n_templates; i++) {
        const struct template_meta *t = cur->templates[i];
        if (t->kind != rq->template_kind || !str_glob(pattern, t->name)) {
            continue;
        }
        struct str users = t->kind == TEMPLATE_COMPONENT ? users_of(cur, t->name, &rq->arena) : STR("");
        if (users.n > 0) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT,
                           "component templates [%.*s] cannot be removed as they are still in use by index "
                           "templates [%.*s]",
                           STR_ARG(t->name), STR_ARG(users));
        }
        found = rq->changed = true;
        state_remove_template(b, t->kind, t->name);
    }
    if (!found && !str_is(pattern, "*")) {
        return err_set(em, ERR_TEMPLATE_MISSING, "index_template [%.*s] missing", STR_ARG(pattern));
    }
    return ERR_OK;
}

enum err meta_delete_template(const struct cluster_state *cur, struct meta_request *rq,
                              struct state_builder *b, struct errmsg *em)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_names; i++) {
        e = delete_matching(cur, rq, rq->names[i], b, em);
    }
    return e;
}
