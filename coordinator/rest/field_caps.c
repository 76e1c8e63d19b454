/* _field_caps: which types a field has over several indices, and what can be done with it there; from mappings alone. */
#include "common/base/jsonr.h"
#include "common/base/path_join.h"
#include "common/base/sort_items.h"
#include "coordinator/rest/rest.h"
#include "coordinator/rest/search.h"
#include "engine/query/query.h"

/* One field of one index. */
struct cap {
    struct str path, type;
    uint32_t index; /* which of the targets */
    bool searchable, aggregatable;
    const struct json *meta; /* NULL: none */
};

static const struct {
    const char *path, *type;
    bool searchable, aggregatable;
} root_fields[] = {
    {"_doc_count", "integer", false, false},       {"_feature", "_feature", false, false},
    {"_field_names", "_field_names", true, false}, {"_id", "_id", true, true},
    {"_ignored", "_ignored", true, false},         {"_index", "_index", true, true},
    {"_routing", "_routing", true, false},         {"_seq_no", "_seq_no", true, true},
    {"_source", "_source", false, false},          {"_type", "_type", true, true},
    {"_version", "_version", false, false},
};

struct caps {
    struct rest *r;
    const struct str *names;
    uint32_t n_names;
    const struct index_target *targets;
    uint32_t n_targets;
    bool unmapped;
    const struct json *filter; /* index_filter; NULL: none */
    struct cap *v;
    size_t n, cap;
    const struct json *mapping; /* of the index being walked */
    uint32_t index;
    enum err e;
};

/* ---- the fields of one index --------------------------------------------------------------------------- */

static bool field_requested(const struct caps *c, struct str path)
{
    for (uint32_t i = 0; i < c->n_names; i++) {
        if (str_glob(c->names[i], path)) {
            return true;
        }
    }
    return false;
}

static void caps_add(struct caps *c, struct cap one)
{
    if (c->n == c->cap) {
        size_t more = c->cap == 0 ? 64 : c->cap * 2;
        struct cap *v = ARENA_ARRAY(c->r->arena, struct cap, more);
        if (v == NULL) {
            c->e = err_no_memory(&c->r->em);
            return;
        }
        if (c->n > 0) {
            memcpy(v, c->v, c->n * sizeof(*v));
        }
        c->v = v;
        c->cap = more;
    }
    one.index = c->index;
    c->v[c->n++] = one;
}

static bool flag(const struct json *field, const char *key, bool otherwise)
{
    const struct json *v = json_get(field, key);
    return v == NULL ? otherwise : v->type == JSON_BOOL ? v->b : str_is(json_text(v), "true");
}

static const struct json *inner_fields(const struct json *field)
{
    const struct json *in = json_get(field, "properties");
    return in != NULL ? in : json_get(field, "fields");
}

/* The definition behind a dotted path; NULL: there is none. */
static const struct json *definition(const struct json *mapping, struct str path)
{
    const struct json *at = mapping;
    while (at != NULL && path.p != NULL) {
        at = json_get_str(inner_fields(at), str_cut(path, '.', &path));
    }
    return at;
}

/* The types of which something else holds than of most: these are shown under their own name, are searchable where they have an
 * index, and aggregatable where they have a column, which is the default. */
static const struct type_caps {
    const char *type, *shown; /* NULL: its own name */
    bool unsearchable;
    const char *column; /* the parameter that says so, where it does not by default; "": nothing does */
} type_caps[] = {
    {"binary", NULL, true, "doc_values"},
    {"completion", NULL, false, ""},
    {"constant_keyword", "keyword", false, NULL},
    {"dense_vector", NULL, true, ""},
    {"percolator", NULL, true, ""},
    {"rank_feature", NULL, false, ""},
    {"rank_features", NULL, true, ""},
    {"text", NULL, false, "fielddata"},
    {"token_count", "integer", false, NULL},
    {"wildcard", "keyword", false, NULL},
};

static void add_field(struct caps *c, struct str path, const struct json *field)
{
    static const struct type_caps usual;
    struct str type = json_text(json_get(field, "type"));
    const struct type_caps *t = &usual;
    for (size_t i = 0; i < ARRAY_LEN(type_caps); i++) {
        t = str_is(type, type_caps[i].type) ? &type_caps[i] : t;
    }
    caps_add(c, (struct cap){.path = path,
                             .type = t->shown != NULL ? str_of(t->shown) : type,
                             .searchable = !t->unsearchable && flag(field, "index", true),
                             .aggregatable = t->column == NULL ? flag(field, "doc_values", true)
                                                               : flag(field, t->column, false),
                             .meta = json_get(field, "meta")});
}

/* Keys of a flattened field are fields where they are asked for by name. */
static bool add_keys(struct caps *c, struct str path, const struct json *field)
{
    bool any = false;
    for (uint32_t i = 0; str_is(json_text(json_get(field, "type")), "flattened") && i < c->n_names; i++) {
        struct str name = c->names[i];
        if (name.n > path.n && name.p[path.n] == '.' && str_starts(name, path)
            && str_find(name, '*', 0) == SIZE_MAX) {
            add_field(c, name, field);
            any = true;
        }
    }
    return any;
}

/* What a join field has beside it for each of its relations: true: one is wanted. */
static bool add_relations(struct caps *c, struct str path, const struct json *field)
{
    const struct json *relations = json_get(field, "relations");
    bool any = false;
    for (uint32_t i = 0; json_is(relations, JSON_OBJECT) && i < relations->n; i++) {
        struct str name =
            arena_printf(c->r->arena, "%.*s#%.*s", STR_ARG(path), STR_ARG(relations->members[i].key));
        if (name.p == NULL) {
            c->e = err_no_memory(&c->r->em);
            return any;
        }
        if (field_requested(c, name)) {
            caps_add(c, (struct cap){
                            .path = name, .type = STR("parent"), .searchable = true, .aggregatable = true});
            any = true;
        }
    }
    return any;
}

/* true: it, a key of it or a relation is wanted. */
static bool walk_leaf(struct caps *c, struct str path, const struct json *field)
{
    bool any = field_requested(c, path);
    if (str_is(json_text(json_get(field, "type")), "alias")) {
        struct str of = json_text(json_get(field, "path"));
        field = definition(c->mapping, of);
        if (any && field == NULL && str_find(of, '#', 0) != SIZE_MAX) { /* a relation of the join field */
            caps_add(c, (struct cap){
                            .path = path, .type = STR("parent"), .searchable = true, .aggregatable = true});
        }
    } else {
        any = add_relations(c, path, field) || any;
    }
    if (field == NULL) {
        return any;
    }
    if (field_requested(c, path)) {
        add_field(c, path, field);
    }
    return add_keys(c, path, field) || any;
}

/* true: something below `prefix` is wanted, which makes the objects around it part of the answer. */
static bool walk(struct caps *c, struct str prefix, const struct json *fields)
{
    bool any = false;
    for (uint32_t i = 0; c->e == ERR_OK && json_is(fields, JSON_OBJECT) && i < fields->n; i++) {
        const struct json_member *m = &fields->members[i];
        struct str path = prefix.n > 0 ? path_join(c->r->arena, prefix, m->key) : m->key;
        if (path.p == NULL) {
            c->e = err_no_memory(&c->r->em);
            return any;
        }
        const struct json *type = json_get(&m->value, "type");
        bool nested = type != NULL && str_is(json_text(type), "nested");
        bool object = type == NULL || nested || str_is(json_text(type), "object");
        any = (!object && walk_leaf(c, path, &m->value)) || any;
        bool inside = walk(c, path, inner_fields(&m->value));
        if (object && inside) {
            caps_add(c, (struct cap){.path = path, .type = nested ? STR("nested") : STR("object")});
        }
        any |= inside;
    }
    return any;
}

static void collect(struct caps *c)
{
    for (c->index = 0; c->e == ERR_OK && c->index < c->n_targets; c->index++) {
        struct json *mapping = ARENA_NEW(c->r->arena, struct json);
        c->e = mapping != NULL ? json_parse(mapping, index_mapping_text(c->targets[c->index].meta),
                                            c->r->arena, &json_limits_default, &c->r->em)
                               : err_no_memory(&c->r->em);
        for (size_t i = 0;
             c->e == ERR_OK && c->targets[c->index].meta->mapping.n > 0 && i < ARRAY_LEN(root_fields); i++) {
            struct str path = str_of(root_fields[i].path);
            if (field_requested(c, path)) {
                caps_add(c, (struct cap){.path = path,
                                         .type = str_of(root_fields[i].type),
                                         .searchable = root_fields[i].searchable,
                                         .aggregatable = root_fields[i].aggregatable});
            }
        }
        if (c->e == ERR_OK) {
            c->mapping = mapping;
            walk(c, STR(""), json_get(mapping, "properties"));
        }
    }
}

static int by_path_type_index(const void *a, const void *b)
{
    const struct cap *x = a, *y = b;
    int by = str_cmp(x->path, y->path);
    by = by != 0 ? by : str_cmp(x->type, y->type);
    return by != 0 ? by : (x->index > y->index) - (x->index < y->index);
}

/* ---- what they are together ---------------------------------------------------------------------------- */

static void write_index(const struct caps *c, struct jsonw *w, uint32_t index)
{
    jw_str(w, c->targets[index].meta->name);
}

static bool searchable(const struct cap *f)
{
    return f->searchable;
}

static bool aggregatable(const struct cap *f)
{
    return f->aggregatable;
}

/* The flag that holds where it holds everywhere; *mixed: here and not there. */
static void write_flag(struct jsonw *w, const char *name, const struct cap *f, size_t n,
                       bool (*is)(const struct cap *f), bool *mixed)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += is(&f[i]);
    }
    jw_kbool(w, name, count == n);
    *mixed = count > 0 && count < n;
}

static void write_without(const struct caps *c, struct jsonw *w, const char *name, const struct cap *f,
                          size_t n, bool (*is)(const struct cap *f), bool mixed)
{
    if (!mixed) {
        return;
    }
    jw_karr(w, name);
    for (size_t i = 0; i < n; i++) {
        if (!is(&f[i])) {
            write_index(c, w, f[i].index);
        }
    }
    jw_arr_end(w);
}

struct meta_pair {
    struct str key, value;
};

static int by_key_value(const void *a, const void *b)
{
    const struct meta_pair *x = a, *y = b;
    int by = str_cmp(x->key, y->key);
    return by != 0 ? by : str_cmp(x->value, y->value);
}

/* What the indices' mappings say in `meta`: the values of each key, once each. */
static enum err write_meta(const struct caps *c, struct jsonw *w, const struct cap *f, size_t n)
{
    size_t most = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        most += json_is(f[i].meta, JSON_OBJECT) ? f[i].meta->n : 0;
    }
    struct meta_pair *v = ARENA_ARRAY(c->r->arena, struct meta_pair, most);
    if (v == NULL) {
        return err_no_memory(&c->r->em);
    }
    if (most == 0) {
        return ERR_OK;
    }
    for (size_t i = 0; i < n; i++) {
        for (uint32_t k = 0; json_is(f[i].meta, JSON_OBJECT) && k < f[i].meta->n; k++) {
            v[at++] = (struct meta_pair){f[i].meta->members[k].key, json_text(&f[i].meta->members[k].value)};
        }
    }
    sort_items(v, at, sizeof(*v), by_key_value);
    jw_kobj(w, "meta");
    for (size_t i = 0; i < at; i++) {
        if (i == 0 || !str_eq(v[i].key, v[i - 1].key)) {
            jw_key(w, v[i].key);
            jw_arr(w);
        }
        if (i == 0 || by_key_value(&v[i], &v[i - 1]) != 0) {
            jw_str(w, v[i].value);
        }
        if (i + 1 == at || !str_eq(v[i].key, v[i + 1].key)) {
            jw_arr_end(w);
        }
    }
    jw_obj_end(w);
    return ERR_OK;
}

/* A field's type in the indices that have it so. */
static enum err write_type(const struct caps *c, struct jsonw *w, const struct cap *f, size_t n, bool alone)
{
    bool any_searchable, any_aggregatable;
    jw_key(w, f->type);
    jw_obj(w);
    jw_kstr(w, "type", f->type);
    write_flag(w, "searchable", f, n, searchable, &any_searchable);
    write_flag(w, "aggregatable", f, n, aggregatable, &any_aggregatable);
    if (!alone) {
        jw_karr(w, "indices");
        for (size_t i = 0; i < n; i++) {
            write_index(c, w, f[i].index);
        }
        jw_arr_end(w);
    }
    write_without(c, w, "non_searchable_indices", f, n, searchable, any_searchable);
    write_without(c, w, "non_aggregatable_indices", f, n, aggregatable, any_aggregatable);
    enum err e = write_meta(c, w, f, n);
    jw_obj_end(w);
    return e;
}

static void write_unmapped(const struct caps *c, struct jsonw *w, const bool *has)
{
    jw_kobj(w, "unmapped");
    jw_kz(w, "type", "unmapped");
    jw_kbool(w, "searchable", false);
    jw_kbool(w, "aggregatable", false);
    jw_karr(w, "indices");
    for (uint32_t i = 0; i < c->n_targets; i++) {
        if (!has[i]) {
            write_index(c, w, i);
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

/* All types of one field; no index has a field twice. */
static enum err write_field(const struct caps *c, struct jsonw *w, const struct cap *f, size_t n)
{
    bool *has = ARENA_ARRAY(c->r->arena, bool, c->n_targets);
    enum err e = has != NULL ? ERR_OK : err_no_memory(&c->r->em);
    bool one_type = str_eq(f[0].type, f[n - 1].type), everywhere = !c->unmapped || n == c->n_targets;
    jw_key(w, f->path);
    jw_obj(w);
    for (size_t i = 0, k; e == ERR_OK && i < n; i = k) {
        for (k = i; k < n && str_eq(f[i].type, f[k].type); k++) {
            has[f[k].index] = true;
        }
        e = write_type(c, w, &f[i], k - i, one_type && everywhere);
    }
    if (e == ERR_OK && !everywhere) {
        write_unmapped(c, w, has);
    }
    jw_obj_end(w);
    return e;
}

static enum err write_answer(const struct caps *c, struct jsonw *w)
{
    enum err e = ERR_OK;
    jw_obj(w);
    jw_karr(w, "indices");
    for (uint32_t i = 0; i < c->n_targets; i++) {
        write_index(c, w, i);
    }
    jw_arr_end(w);
    jw_kobj(w, "fields");
    for (size_t i = 0, k; e == ERR_OK && i < c->n; i = k) {
        for (k = i + 1; k < c->n && str_eq(c->v[i].path, c->v[k].path); k++) {
        }
        e = write_field(c, w, &c->v[i], k - i);
    }
    jw_obj_end(w);
    jw_obj_end(w);
    return e;
}

/* ---- the request --------------------------------------------------------------------------------------- */

static enum err read_filter(struct caps *c, const struct json_member *m)
{
    struct rest *r = c->r;
    if (m->value.type != JSON_OBJECT) {
        return jr_fail_xc(r->body, m->value.off, &r->em,
                          "[field_caps_request] index_filter doesn't support values of type: %s",
                          json_token_name(&m->value));
    }
    if (query_check(&m->value, r->body, NULL, r->arena, &r->em) != ERR_OK) {
        return jr_wrap_field(r->body, m->value.off, "field_caps_request", m->key, &r->em);
    }
    c->filter = json_get(&m->value, "match_all") == NULL ? &m->value : NULL;
    return ERR_OK;
}

static enum err read_body(struct caps *c)
{
    static const char *const known[] = {"index_filter", "runtime_mappings", NULL};
    struct rest *r = c->r;
    const struct json *body;
    enum err e = rest_body(r, &body);
    if (e != ERR_OK || body == NULL) {
        return e;
    }
    if (body->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, body->off, &r->em,
                          "[field_caps_request] Expected START_OBJECT but was: %s", json_token_name(body));
    }
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (str_is(m->key, "index_filter")) {
            e = read_filter(c, m);
        } else if (!str_is(m->key, "runtime_mappings")) {
            return jr_unknown_field(r->body, m->key_off, "field_caps_request", m->key, known, &r->em);
        } else if (m->value.type != JSON_OBJECT) {
            return jr_fail_xc(r->body, m->value.off, &r->em,
                              "[field_caps_request] runtime_mappings doesn't support values of type: %s",
                              json_token_name(&m->value));
        } else if (m->value.n > 0) {
            return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                           "[runtime_mappings]: runtime fields are not supported");
        }
    }
    return e;
}

/* The fields of the targets as the answer. */
static void send(struct caps *c)
{
    struct rest *r = c->r;
    struct buf b;
    struct jsonw w;
    collect(c);
    if (c->e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    sort_items(c->v, c->n, sizeof(*c->v), by_path_type_index);
    jsonw_start(&w, &b);
    if (write_answer(c, &w) != ERR_OK) {
        buf_fini(&b);
        rest_fail(r, NULL);
        return;
    }
    rest_send(r, 200, &b);
}

/* Targets of which no shard can match the filter are left out. */
static void filtered(struct search_call *s)
{
    struct caps *c = s->user;
    struct index_target *kept = ARENA_ARRAY(c->r->arena, struct index_target, c->n_targets);
    const struct errmsg *failed = search_failed_with(s);
    uint32_t n = 0;
    if (failed != NULL || kept == NULL) {
        if (failed != NULL) {
            err_copy(&c->r->em, failed);
        } else {
            err_no_memory(&c->r->em);
        }
        search_free(s);
        rest_fail(c->r, NULL);
        return;
    }
    for (uint32_t i = 0; i < c->n_targets; i++) {
        if (search_index_matches(s, c->targets[i].meta->name)) {
            kept[n++] = c->targets[i];
        }
    }
    c->targets = kept;
    c->n_targets = n;
    search_free(s);
    send(c);
}

/* Closed indices have no fields that could be searched. */
static void leave_closed(struct caps *c)
{
    struct index_target *open = ARENA_ARRAY(c->r->arena, struct index_target, c->n_targets);
    uint32_t n = 0;
    for (uint32_t i = 0; open != NULL && i < c->n_targets; i++) {
        if (!c->targets[i].meta->closed) {
            open[n++] = c->targets[i];
        }
    }
    c->targets = open;
    c->n_targets = n;
}

/* Which indices the filter might match is for their shards to say. */
static void ask_shards(struct caps *c, const struct expand_options *o)
{
    struct rest *r = c->r;
    struct json body = json_mk_object();
    struct search_call *s = search_new(&r->env);
    enum err e =
        s != NULL && json_put(&body, r->arena, STR("query"), *c->filter) ? ERR_OK : err_no_memory(&r->em);
    e = e == ERR_OK ? rest_search_body(r, &body, &s->o) : e;
    if (e != ERR_OK) {
        if (s != NULL) {
            search_free(s);
        }
        rest_fail(r, NULL);
        return;
    }
    s->o.index = rest_param(r, "index");
    s->o.indices = *o;
    s->o.indices.forbid_closed = true;
    s->o.indices.ignore_unavailable = true; /* what is closed has no shard that could say */
    s->o.ask_only = true;
    s->user = c;
    s->done = filtered;
    search_run(s);
}

static void field_caps(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_SEARCH;
    struct caps *c = ARENA_NEW(r->arena, struct caps);
    enum err e = c != NULL ? ERR_OK : err_no_memory(&r->em);
    if (e == ERR_OK) {
        *c = (struct caps){.r = r};
        o.forbid_closed = false;
        rest_accept(r, "index");
        e = rest_list(r, "fields", &c->names, &c->n_names);
    }
    if (e == ERR_OK && (c->n_names == 0 || (c->n_names == 1 && c->names[0].n == 0))) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "specified fields can't be null or empty");
    }
    e = e == ERR_OK ? rest_index_options(r, &o) : e;
    e = e == ERR_OK ? rest_bool(r, "include_unmapped", false, &c->unmapped) : e;
    e = e == ERR_OK ? read_body(c) : e;
    if (!rest_goes_on(r, e)) {
        return;
    }
    e = resolve_indices(r->state, rest_param(r, "index"), &o, clock_wall_ms(r->co->o.clock), r->arena,
                        &c->targets, &c->n_targets, &r->em);
    if (e == ERR_OK) {
        leave_closed(c);
        e = c->targets != NULL ? ERR_OK : err_no_memory(&r->em);
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else if (c->filter != NULL && c->n_targets > 0) {
        ask_shards(c, &o);
    } else {
        send(c);
    }
}

const struct route routes_field_caps[] = {
    {M_GET | M_POST, "/_field_caps", field_caps},
    {M_GET | M_POST, "/{index}/_field_caps", field_caps},
};
const size_t routes_field_caps_n = ARRAY_LEN(routes_field_caps);
