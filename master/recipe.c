/* The composition of a new index from templates and a request. Later layers win: components in their order, the template
 * that names them, the request; legacy templates by their order, and only where no composable template
 * matches. */
#include "master/metadata_int.h"

#include "common/base/arena_list.h"
#include "common/base/java_hash.h"

/* ---- mappings ------------------------------------------------------------------------------------------ */

/* Legacy templates are merged key by key, composable ones field by field: a later definition of a field
 * replaces it. */
enum merge_mode { MERGE_KEYS, MERGE_FIELDS };

static bool is_object_field(const struct json *v)
{
    const struct json *type = json_get(v, "type");
    return v->type == JSON_OBJECT
           && (type == NULL
               || (type->type == JSON_STRING && (str_is(type->s, "object") || str_is(type->s, "nested"))));
}

static bool merge_mapping(struct json *base, const struct json *over, enum merge_mode mode,
                          struct arena *arena);

static bool merge_keys(struct json *base, const struct json *over, struct arena *arena)
{
    for (uint32_t i = 0; i < over->n; i++) {
        const struct json_member *m = &over->members[i];
        struct json *old = json_member_of(base, m->key);
        bool both = json_is(old, JSON_OBJECT) && m->value.type == JSON_OBJECT;
        if (!(both ? merge_keys(old, &m->value, arena) : json_put(base, arena, m->key, m->value))) {
            return false;
        }
    }
    return true;
}

static bool merge_properties(struct json *base, const struct json *over, enum merge_mode mode,
                             struct arena *arena)
{
    for (uint32_t i = 0; i < over->n; i++) {
        const struct json_member *m = &over->members[i];
        struct json *old = json_member_of(base, m->key);
        bool merge = json_is(old, JSON_OBJECT) && m->value.type == JSON_OBJECT
                     && (mode == MERGE_KEYS || (is_object_field(old) && is_object_field(&m->value)));
        if (!(merge ? merge_mapping(old, &m->value, mode, arena) : json_put(base, arena, m->key, m->value))) {
            return false;
        }
    }
    return true;
}

/* Where `list` defines the dynamic template of this name; list->n: nowhere. */
static uint32_t dynamic_slot(const struct json *list, struct str name)
{
    uint32_t i = 0;
    while (i < list->n && json_get_str(&list->items[i], name) == NULL) {
        i++;
    }
    return i;
}

/* dynamic_templates: a later one takes the place of the earlier of its name, new ones go behind. */
static bool merge_dynamic(struct json *base, const struct json *over, struct arena *arena)
{
    struct json *v = ARENA_ARRAY(arena, struct json, (size_t)base->n + over->n);
    if (v == NULL) {
        return false;
    }
    if (base->n > 0) {
        memcpy(v, base->items, base->n * sizeof(*v));
    }
    base->items = v;
    for (uint32_t i = 0; i < over->n; i++) {
        const struct json *t = &over->items[i];
        uint32_t at = t->type == JSON_OBJECT && t->n > 0 ? dynamic_slot(base, t->members[0].key) : base->n;
        v[at] = *t;
        base->n = MAX_OF(base->n, at + 1);
    }
    return true;
}

static bool merge_mapping(struct json *base, const struct json *over, enum merge_mode mode,
                          struct arena *arena)
{
    for (uint32_t i = 0; i < over->n; i++) {
        const struct json_member *m = &over->members[i];
        struct json *old = json_member_of(base, m->key);
        bool ok;
        if (json_is(old, JSON_OBJECT) && m->value.type == JSON_OBJECT && str_is(m->key, "properties")) {
            ok = merge_properties(old, &m->value, mode, arena);
        } else if (json_is(old, JSON_OBJECT) && m->value.type == JSON_OBJECT
                   && (mode == MERGE_KEYS || str_is(m->key, "_meta"))) {
            ok = merge_keys(old, &m->value, arena);
        } else if (json_is(old, JSON_ARRAY) && m->value.type == JSON_ARRAY
                   && str_is(m->key, "dynamic_templates")) {
            ok = merge_dynamic(old, &m->value, arena);
        } else {
            ok = json_put(base, arena, m->key, m->value);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* ---- types ---- */

#define TYPE_NAME_BYTES_MAX 255

const struct json *mapping_untyped(const struct json *v, struct str *type)
{
    static const char *const known[] = {
        "date_detection", "dynamic", "dynamic_date_formats", "dynamic_templates", "numeric_detection",
        "properties",     "runtime"};
    *type = STR("");
    if (!json_is(v, JSON_OBJECT) || v->n != 1 || v->members[0].value.type != JSON_OBJECT) {
        return v;
    }
    struct str key = v->members[0].key;
    if (key.n > 0 && key.p[0] == '_' && !str_is(key, "_doc")) { /* no name of a type */
        return v;
    }
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_is(key, known[i])) {
            return v;
        }
    }
    if (!str_is(key, "_doc")) {
        *type = key;
    }
    return &v->members[0].value;
}

enum err type_name_check(struct str type, struct errmsg *em)
{
    static const char refused[] = {'#', ','};
    if (type.n == 0) {
        err_set(em, ERR_ILLEGAL_ARGUMENT, "name cannot be empty string");
        return err_wrap(em, ERR_MAPPER_PARSING, "Failed to parse mapping []: name cannot be empty string");
    }
    if (type.n > TYPE_NAME_BYTES_MAX) {
        return err_set(em, ERR_INVALID_TYPE_NAME,
                       "mapping type name [%.*s] is too long; limit is length 255 but was [%zu]",
                       STR_ARG(type), type.n);
    }
    if (type.p[0] == '_' && !str_is(type, "_doc")) {
        return err_set(em, ERR_INVALID_TYPE_NAME,
                       "mapping type name [%.*s] can't start with '_' unless it is called [_doc]",
                       STR_ARG(type));
    }
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        if (str_find(type, refused[i], 0) != SIZE_MAX) {
            return err_set(em, ERR_INVALID_TYPE_NAME,
                           "mapping type name [%.*s] should not include '%c' in it", STR_ARG(type),
                           refused[i]);
        }
    }
    return type.p[0] == '.' ? err_set(em, ERR_ILLEGAL_ARGUMENT,
                                      "mapping type name [%.*s] must not start with a '.'", STR_ARG(type))
                            : ERR_OK;
}

enum err type_rejected(const struct index_meta *m, struct str type, struct errmsg *em)
{
    return err_set(
        em, ERR_ILLEGAL_ARGUMENT,
        "Rejecting mapping update to [%.*s] as the final mapping would have more than 1 type: [%.*s, %.*s]",
        STR_ARG(m->name), STR_ARG(index_type(m)), STR_ARG(type));
}

/* ---- layers -------------------------------------------------------------------------------------------- */

static enum err add_mapping(struct index_recipe *x, const struct json *mapping, const struct str *named,
                            enum merge_mode mode, struct arena *arena, struct errmsg *em)
{
    if (mapping == NULL || mapping->type == JSON_NULL) {
        return ERR_OK;
    }
    struct str type, had = x->type;
    bool first = x->mapping.type != JSON_OBJECT;
    if (named != NULL) {
        type = *named;
    } else {
        mapping = mapping_untyped(mapping, &type);
    }
    type = str_is(type, "_doc") ? STR("") : type;
    x->type = type;                                                 /* what is said later names it */
    if (first || (type.n > 0 && had.n > 0 && !str_eq(type, had))) { /* of two types one stays */
        return json_copy(&x->mapping, mapping, arena) ? ERR_OK : err_no_memory(em);
    }
    struct json copy; /* what is merged in may be merged into later */
    return json_copy(&copy, mapping, arena) && merge_mapping(&x->mapping, &copy, mode, arena)
               ? ERR_OK
               : err_no_memory(em);
}

static enum err add_alias(struct index_recipe *x, const struct alias_meta *a, struct arena *arena,
                          struct errmsg *em)
{
    for (uint32_t i = 0; i < x->n_aliases; i++) {
        if (str_eq(x->aliases[i].name, a->name)) {
            x->aliases[i] = *a;
            return ERR_OK;
        }
    }
    return ARENA_ADD(arena, x->aliases, x->n_aliases, x->aliases_cap, *a) ? ERR_OK : err_no_memory(em);
}

static enum err add_aliases(struct index_recipe *x, const struct json *aliases, struct arena *arena,
                            struct errmsg *em)
{
    enum err e = ERR_OK;
    if (aliases == NULL || aliases->type == JSON_NULL) {
        return ERR_OK;
    }
    if (aliases->type != JSON_OBJECT) {
        return err_set(em, ERR_CLASS_CAST, "aliases must be an object");
    }
    for (uint32_t i = 0; e == ERR_OK && i < aliases->n; i++) {
        struct alias_meta a = {.name = aliases->members[i].key};
        if (aliases->members[i].value.type != JSON_OBJECT) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "No alias is specified");
        }
        e = alias_from_json(&a, &aliases->members[i].value, false, arena, em);
        e = e == ERR_OK ? add_alias(x, &a, arena, em) : e;
    }
    return e;
}

/* `named`: the type of the layer's mapping; NULL: the mapping says. */
static enum err add_layer(struct index_recipe *x, const struct json *layer, const struct str *named,
                          enum merge_mode mode, struct arena *arena, struct errmsg *em)
{
    if (layer == NULL) {
        return ERR_OK;
    }
    enum err e = index_settings_given(&x->settings, json_get(layer, "settings"), em);
    e = e == ERR_OK ? add_mapping(x, json_get(layer, "mappings"), named, mode, arena, em) : e;
    return e == ERR_OK ? add_aliases(x, json_get(layer, "aliases"), arena, em) : e;
}

static enum err parse_body(struct json **out, const struct template_meta *t, struct arena *arena,
                           struct errmsg *em)
{
    *out = ARENA_NEW(arena, struct json);
    return *out != NULL ? json_parse(*out, t->body, arena, &json_limits_default, em) : err_no_memory(em);
}

static enum err add_composable(struct index_recipe *x, const struct cluster_state *s, const struct json *body,
                               struct arena *arena, struct errmsg *em)
{
    const struct json *parts = json_get(body, "composed_of");
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && json_is(parts, JSON_ARRAY) && i < parts->n; i++) {
        const struct template_meta *t = cluster_template(s, TEMPLATE_COMPONENT, json_text(&parts->items[i]));
        struct json *component;
        if (t == NULL) {
            continue;
        }
        e = parse_body(&component, t, arena, em);
        e = e == ERR_OK ? add_layer(x, json_get(component, "template"), NULL, MERGE_FIELDS, arena, em) : e;
    }
    return e == ERR_OK ? add_layer(x, json_get(body, "template"), NULL, MERGE_FIELDS, arena, em) : e;
}

static bool matches(const struct template_meta *t, struct str name, bool hidden)
{
    for (uint32_t i = 0; i < t->n_patterns; i++) {
        if (str_glob(t->patterns[i], name) && !(hidden && str_is(t->patterns[i], "*"))) {
            return true;
        }
    }
    return false;
}

const struct template_meta *template_for_index(const struct cluster_state *s, struct str name, bool hidden)
{
    const struct template_meta *best = NULL;
    for (uint32_t i = 0; i < s->n_templates; i++) {
        const struct template_meta *t = s->templates[i];
        if (t->kind == TEMPLATE_COMPOSABLE && matches(t, name, hidden)
            && (best == NULL || t->order > best->order)) {
            best = t;
        }
    }
    return best;
}

/* The matching legacy template with the lowest (order, name) above `after`; NULL: no more. */
static const struct template_meta *next_legacy(const struct cluster_state *s, struct str name, bool hidden,
                                               const struct template_meta *after)
{
    const struct template_meta *best = NULL;
    for (uint32_t i = 0; i < s->n_templates; i++) {
        const struct template_meta *t = s->templates[i];
        if (t->kind != TEMPLATE_LEGACY || !matches(t, name, hidden)) {
            continue;
        }
        bool above = after == NULL || t->order > after->order
                     || (t->order == after->order && str_cmp(t->name, after->name) > 0);
        if (above
            && (best == NULL || t->order < best->order
                || (t->order == best->order && str_cmp(t->name, best->name) < 0))) {
            best = t;
        }
    }
    return best;
}

static bool wants_hidden(const struct json *body)
{
    const char *name = setting_rows[SET_INDEX_HIDDEN].name;
    const struct json *s = json_get(body, "settings"), *v = json_get(s, name);
    v = v != NULL ? v : json_get(s, "hidden");
    v = v != NULL ? v : json_path(s, name);
    return v != NULL && str_is(json_text(v), "true");
}

enum err index_recipe_of_template(struct index_recipe *out, const struct cluster_state *s,
                                  const struct json *composable, struct arena *arena, struct errmsg *em)
{
    *out = (struct index_recipe){0};
    settings_init(&out->settings, arena);
    return add_composable(out, s, composable, arena, em);
}

enum err index_recipe_make(struct index_recipe *out, const struct cluster_state *s, struct str name,
                           const struct json *body, struct str type, struct arena *arena, struct errmsg *em)
{
    bool hidden = wants_hidden(body);
    const struct template_meta *t = template_for_index(s, name, hidden);
    enum merge_mode mode = t != NULL ? MERGE_FIELDS : MERGE_KEYS;
    struct json *tree;
    enum err e = ERR_OK;
    *out = (struct index_recipe){0};
    settings_init(&out->settings, arena);
    if (t != NULL) {
        e = parse_body(&tree, t, arena, em);
        e = e == ERR_OK ? add_composable(out, s, tree, arena, em) : e;
    } else {
        while (e == ERR_OK && (t = next_legacy(s, name, hidden, t)) != NULL) {
            e = parse_body(&tree, t, arena, em);
            struct json *mappings = e == ERR_OK ? json_member_of(tree, STR("mappings")) : NULL;
            if (json_is(mappings, JSON_OBJECT) && mappings->n == 0) { /* stored so where none were given */
                *mappings = (struct json){.type = JSON_NULL};
            }
            e = e == ERR_OK ? add_layer(out, tree, NULL, mode, arena, em) : e;
        }
    }
    return e == ERR_OK ? add_layer(out, body, &type, mode, arena, em) : e;
}

static bool recipe_has_alias(const struct index_recipe *recipe, struct str alias)
{
    uint32_t i = 0;
    while (i < recipe->n_aliases && !str_eq(recipe->aliases[i].name, alias)) {
        i++;
    }
    return i < recipe->n_aliases;
}

static enum err refuse_alias(const struct template_meta *t, const struct index_recipe *recipe,
                             struct str alias, struct arena *arena, struct errmsg *em)
{
    struct buf names;
    struct str *all = ARENA_ARRAY(arena, struct str, recipe->n_aliases);
    if (all == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < recipe->n_aliases; i++) {
        all[i] = recipe->aliases[i].name;
    }
    java_set_order(all, recipe->n_aliases);
    buf_init(&names, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < recipe->n_aliases; i++) {
        buf_printf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(all[i]));
    }
    err_set(em, ERR_ILLEGAL_ARGUMENT,
            "Rollover alias [%.*s] can point to multiple indices, found duplicated alias [[%.*s]] in index "
            "template [%.*s]",
            STR_ARG(alias), STR_ARG(buf_view(&names)), STR_ARG(t->name));
    buf_fini(&names);
    return ERR_ILLEGAL_ARGUMENT;
}

enum err index_recipe_lacks_alias(const struct cluster_state *s, struct str name, struct str alias,
                                  bool hidden, struct arena *arena, struct errmsg *em)
{
    const struct template_meta *composable = template_for_index(s, name, hidden);
    const struct template_meta *t = composable != NULL ? composable : next_legacy(s, name, hidden, NULL);
    enum err e = ERR_OK;
    while (e == ERR_OK && t != NULL) {
        struct index_recipe recipe = {0};
        struct json *tree;
        settings_init(&recipe.settings, arena);
        e = parse_body(&tree, t, arena, em);
        if (e == ERR_OK) {
            e = composable != NULL ? add_composable(&recipe, s, tree, arena, em)
                                   : add_layer(&recipe, tree, NULL, MERGE_KEYS, arena, em);
        }
        if (e == ERR_OK && recipe_has_alias(&recipe, alias)) {
            e = refuse_alias(t, &recipe, alias, arena, em);
        }
        t = composable != NULL ? NULL : next_legacy(s, name, hidden, t);
    }
    return e;
}
