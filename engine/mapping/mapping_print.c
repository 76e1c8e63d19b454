/* Mappings as the API shows them, and field values as they print. */
#include "common/base/buf.h"
#include "common/base/coerce.h"
#include "common/base/num.h"
#include "engine/mapping/mapping_int.h"

static bool put(struct builder *b, struct json *to, const char *key, struct json v)
{
    return json_put(to, b->arena, str_of(key), v);
}

static bool put_z(struct builder *b, struct json *to, const char *key, const char *v)
{
    return put(b, to, key, json_mk_str(str_of(v)));
}

static bool put_strs(struct builder *b, struct json *to, const char *key, const struct str *v, uint32_t n)
{
    struct json a = {.type = JSON_ARRAY, .n = n, .items = ARENA_ARRAY(b->arena, struct json, n)};
    for (uint32_t i = 0; a.items != NULL && i < n; i++) {
        a.items[i] = json_mk_str(v[i]);
    }
    return a.items != NULL && put(b, to, key, a);
}

/* The value of an analyzer that is shown although it is the default: some other analyzer of the field
 * differs. */
static bool shows_default(const struct node *n, const struct param *p)
{
    const struct json *const *set = n->set;
    size_t search = param_find(n->f.class, STR("search_analyzer")),
           quote = param_find(n->f.class, STR("search_quote_analyzer"));
    if (quote == SIZE_MAX) {
        return false;
    }
    if (p->kind == PARAM_ANALYZER) {
        return set[search] != NULL || set[quote] != NULL || n->f.search_analyzer != n->f.analyzer;
    }
    return p->kind == PARAM_SEARCH_ANALYZER && set[quote] != NULL;
}

static struct str default_analyzer_name(const struct node *n, const struct param *p)
{
    const struct json *index = n->set[param_find(n->f.class, STR("analyzer"))];
    if (n->f.class->usual_analyzer != NULL) {
        return str_of(n->f.class->usual_analyzer);
    }
    if (p->kind == PARAM_SEARCH_ANALYZER && index != NULL) {
        return index->s;
    }
    bool own_search = p->kind == PARAM_SEARCH_ANALYZER && n->f.search_analyzer != n->f.analyzer;
    return own_search ? STR("default_search") : STR("default");
}

static bool print_param(struct builder *b, struct node *n, size_t i)
{
    const struct param *p = &n->f.class->params[i];
    if (n->set[i] != NULL) {
        return put(b, &n->def, p->name, *n->set[i]);
    }
    if (p->kind == PARAM_ANALYZER || p->kind == PARAM_SEARCH_ANALYZER) {
        bool shown = (p->flags & PARAM_ALWAYS) != 0 || shows_default(n, p);
        return !shown || put(b, &n->def, p->name, json_mk_str(default_analyzer_name(n, p)));
    }
    if ((p->flags & PARAM_ALWAYS) == 0) {
        return true;
    }
    if (p->kind == PARAM_INT) {
        struct str s = arena_printf(b->arena, "%d", (int)p->dflt);
        return s.p != NULL && put(b, &n->def, p->name, (struct json){.type = JSON_NUMBER, .s = s});
    }
    return put(b, &n->def, p->name, json_mk_bool(p->dflt != 0));
}

static bool print_field(struct builder *b, struct node *n)
{
    bool ok = put_z(b, &n->def, "type", n->f.class->name);
    if (n->f.class->is_alias) {
        return ok && put(b, &n->def, "path", json_mk_str(n->alias_path));
    }
    for (size_t i = 0; n->f.class->params[i].name != NULL; i++) {
        ok = ok && print_param(b, n, i);
    }
    return ok && (n->f.n_copy_to == 0 || put_strs(b, &n->def, "copy_to", n->f.copy_to, n->f.n_copy_to));
}

static bool print_object(struct builder *b, struct node *n)
{
    static const char *const modes[] = {"", "true", "false", "strict"};
    bool ok = true, is_root = n->f.path.n == 0;
    if (n->f.class->is_nested) {
        ok = put_z(b, &n->def, "type", "nested");
        ok = ok && (!n->f.include_in_parent || put(b, &n->def, "include_in_parent", json_mk_bool(true)));
        ok = ok && (!n->f.include_in_root || put(b, &n->def, "include_in_root", json_mk_bool(true)));
    } else if (n->n_kids == 0 && !is_root) {
        ok = put_z(b, &n->def, "type", "object");
    }
    if (n->f.dynamic != DYNAMIC_INHERIT) {
        ok = ok && put_z(b, &n->def, "dynamic", modes[n->f.dynamic]);
    }
    return ok && (n->f.enabled || put(b, &n->def, "enabled", json_mk_bool(false)));
}

enum err node_print(struct builder *b, struct node *n, struct json *out)
{
    bool is_object = n->f.class->is_object;
    n->def = json_mk_object();
    if (!(is_object ? print_object(b, n) : print_field(b, n))) {
        return no_memory(b);
    }
    *out = n->def;
    if (n->n_kids == 0 || n->f.class->hides_fields) {
        return ERR_OK;
    }
    struct json kids = json_mk_object();
    for (size_t i = 0; i < n->n_kids; i++) {
        struct json kid;
        enum err e = node_print(b, n->kids[i], &kid);
        if (e != ERR_OK) {
            return e;
        }
        if (!json_put_new(&kids, b->arena, n->kids[i]->f.name, &kid)) {
            return no_memory(b);
        }
    }
    /* The definition without children stays as it is: the copy gets room of its own. */
    struct json whole = json_mk_object();
    for (uint32_t i = 0; i < n->def.n; i++) {
        if (!json_put(&whole, b->arena, n->def.members[i].key, n->def.members[i].value)) {
            return no_memory(b);
        }
    }
    *out = whole;
    return put(b, out, is_object ? "properties" : "fields", kids) ? ERR_OK : no_memory(b);
}

static bool print_template(struct builder *b, const struct dynamic_template *t, struct json *out)
{
    struct json def = json_mk_object();
    bool ok = t->match.p == NULL || put(b, &def, "match", json_mk_str(t->match));
    ok = ok && (t->path_match.p == NULL || put(b, &def, "path_match", json_mk_str(t->path_match)));
    ok = ok && (t->unmatch.p == NULL || put(b, &def, "unmatch", json_mk_str(t->unmatch)));
    ok = ok && (t->path_unmatch.p == NULL || put(b, &def, "path_unmatch", json_mk_str(t->path_unmatch)));
    if (t->type.p != NULL) {
        ok = ok && put(b, &def, "match_mapping_type", json_mk_str(t->type));
    } else if (t->match.p == NULL && t->path_match.p == NULL) {
        ok = ok && put_z(b, &def, "match_mapping_type", "*");
    }
    ok = ok && (!t->regex || put_z(b, &def, "match_pattern", "regex"));
    ok = ok && put(b, &def, "mapping", *t->mapping);
    *out = json_mk_object();
    return ok && json_put(out, b->arena, t->name, def);
}

static bool print_templates(struct builder *b, const struct root_def *d, struct json *to)
{
    struct json a = {
        .type = JSON_ARRAY, .n = d->n_templates, .items = ARENA_ARRAY(b->arena, struct json, d->n_templates)};
    bool ok = a.items != NULL;
    for (uint32_t i = 0; ok && i < d->n_templates; i++) {
        ok = print_template(b, &d->templates[i], &a.items[i]);
    }
    return ok && put(b, to, "dynamic_templates", a);
}

static bool print_meta_fields(struct builder *b, const struct root_def *d, struct json *to)
{
    bool ok = d->meta == NULL || put(b, to, "_meta", *d->meta);
    struct json o = json_mk_object();
    if (d->field_names >= 0) {
        ok = ok && put(b, &o, "enabled", json_mk_bool(d->field_names != 0)) && put(b, to, "_field_names", o);
    }
    if (d->routing_required) {
        o = json_mk_object();
        ok = ok && put(b, &o, "required", json_mk_bool(true)) && put(b, to, "_routing", o);
    }
    o = json_mk_object();
    ok = ok && (d->source_enabled || put(b, &o, "enabled", json_mk_bool(false)));
    ok = ok && (d->n_includes == 0 || put_strs(b, &o, "includes", d->includes, d->n_includes));
    ok = ok && (d->n_excludes == 0 || put_strs(b, &o, "excludes", d->excludes, d->n_excludes));
    return ok && (o.n == 0 || put(b, to, "_source", o));
}

static bool print_detection(struct builder *b, const struct root_def *d, struct json *to)
{
    bool ok = true;
    if (d->has_date_formats) {
        struct str *patterns = ARENA_ARRAY(b->arena, struct str, d->n_date_formats);
        for (uint32_t i = 0; patterns != NULL && i < d->n_date_formats; i++) {
            patterns[i] = date_format_pattern(d->date_formats[i]);
        }
        ok = patterns != NULL && put_strs(b, to, "dynamic_date_formats", patterns, d->n_date_formats);
    }
    ok = ok && (!d->has_templates || print_templates(b, d, to));
    ok = ok && (d->date_detection < 0 || put(b, to, "date_detection", json_mk_bool(d->date_detection != 0)));
    return ok
           && (d->numeric_detection < 0
               || put(b, to, "numeric_detection", json_mk_bool(d->numeric_detection != 0)));
}

enum err mapping_print(struct builder *b, struct mapping *m)
{
    struct json whole, out = json_mk_object();
    enum err e = node_print(b, m->root, &whole);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *properties = json_get(&whole, "properties");
    bool ok = true;
    for (uint32_t i = 0; i < m->root->def.n; i++) {
        ok = ok && json_put(&out, b->arena, m->root->def.members[i].key, m->root->def.members[i].value);
    }
    ok = ok && print_meta_fields(b, &m->def, &out) && print_detection(b, &m->def, &out);
    ok = ok && (properties == NULL || put(b, &out, "properties", *properties));
    m->source = out;
    return ok ? ERR_OK : no_memory(b);
}

void mapping_write(const struct mapping *m, struct jsonw *w)
{
    jw_value(w, &m->source);
}
