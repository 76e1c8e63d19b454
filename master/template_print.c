/* Templates as the API prints them, which is how they are kept. */
#include "master/template_int.h"

#include "common/base/jsonr.h"

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

static void write_patterns(struct jsonw *w, const struct template_meta *t)
{
    jw_karr(w, "index_patterns");
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

enum err template_write_legacy(struct jsonw *w, const struct template_meta *t, const struct json *body,
                               struct str type, struct arena *arena, struct errmsg *em)
{
    const struct json *mappings = json_get(body, "mappings");
    jw_obj(w);
    jw_ki64(w, "order", t->order);
    write_given(w, body, "version");
    write_patterns(w, t);
    jw_k(w, "settings");
    enum err e = write_settings(w, json_get(body, "settings"), arena, em);
    jw_k(w, "mappings");
    if (json_is(mappings, JSON_OBJECT) && type.n > 0) {
        jw_obj(w);
        jw_key(w, type);
        jw_value(w, mappings);
        jw_obj_end(w);
    } else if (json_is(mappings, JSON_OBJECT)) {
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
    jw_karr(w, "composed_of");
    for (uint32_t i = 0; parts->type == JSON_ARRAY && i < parts->n; i++) {
        jw_str(w, json_text(&parts->items[i]));
    }
    if (parts->type != JSON_ARRAY) {
        jw_str(w, json_text(parts));
    }
    jw_arr_end(w);
}

enum err template_write_modern(struct jsonw *w, const struct template_meta *t, const struct json *body,
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
