/* The lines of _msearch that stand before its searches. */
#include "coordinator/rest/msearch_int.h"
#include "coordinator/rest/types.h"

#include "common/base/num.h"
#include "engine/mapping/java.h"

/* A boolean of a header: `name` is the one that the error gives it, NULL: none. */
static enum err header_bool(const struct multi *m, const char *name, struct str text, bool *out)
{
    struct errmsg *em = &m->r->em;
    if (num_parse_bool(text, out)) {
        return ERR_OK;
    }
    err_set(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse value [%.*s] as only [true] or [false] are allowed.",
            STR_ARG(text));
    return name != NULL ? err_wrap(em, ERR_ILLEGAL_ARGUMENT, "Could not convert [%s] to boolean", name)
                        : ERR_ILLEGAL_ARGUMENT;
}

static enum err expand_of(const struct multi *m, struct search_opts *o, const struct json *v)
{
    enum err e = ERR_OK;
    o->indices.expand = 0;
    if (v->type != JSON_ARRAY) {
        return expand_parse(json_text(v), &o->indices.expand, &m->r->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < v->n; i++) {
        e = expand_parse(json_text(&v->items[i]), &o->indices.expand, &m->r->em);
    }
    return e;
}

/* How a header says which indices are meant; each has a second name. They are read behind all that stands in it. */
enum index_option {
    EXPAND_WILDCARDS,
    IGNORE_UNAVAILABLE,
    ALLOW_NO_INDICES,
    IGNORE_THROTTLED,
    N_INDEX_OPTIONS
};
static const char *const index_options[N_INDEX_OPTIONS][2] = {{"expand_wildcards", "expandWildcards"},
                                                              {"ignore_unavailable", "ignoreUnavailable"},
                                                              {"allow_no_indices", "allowNoIndices"},
                                                              {"ignore_throttled", "ignoreThrottled"}};

static unsigned index_option(struct str key)
{
    unsigned i = 0;
    while (i < N_INDEX_OPTIONS && !str_is(key, index_options[i][0]) && !str_is(key, index_options[i][1])) {
        i++;
    }
    return i;
}

/* The last of a header's members, in the order of a map, that says this. */
static const struct json *option_value(const struct json_member *const *members, uint32_t n, unsigned option)
{
    const struct json *v = NULL;
    for (uint32_t i = 0; i < n; i++) {
        v = index_option(members[i]->key) == option ? &members[i]->value : v;
    }
    return v != NULL && v->type != JSON_NULL ? v : NULL;
}

static enum err read_index_options(struct multi *m, struct search_opts *o,
                                   const struct json_member *const *members, uint32_t n)
{
    bool ignored; /* no index is throttled */
    bool *const flags[] = {NULL, &o->indices.ignore_unavailable, &o->indices.allow_no_indices, &ignored};
    enum err e = ERR_OK;
    for (unsigned i = 0; e == ERR_OK && i < N_INDEX_OPTIONS; i++) {
        const struct json *v = option_value(members, n, i);
        if (v != NULL) {
            e = flags[i] == NULL ? expand_of(m, o, v)
                                 : header_bool(m, index_options[i][0], json_text(v), flags[i]);
        }
    }
    return e;
}

/* Names, one or a list, with commas between them. */
static enum err names_of(const struct multi *m, struct arena *arena, const struct json *v, struct str *out)
{
    struct buf b;
    buf_init(&b, NULL, 64 * KIB);
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        struct str one = json_text(v->type == JSON_ARRAY ? &v->items[i] : v);
        buf_printf(&b, "%s%.*s", i > 0 ? "," : "", STR_ARG(one));
    }
    *out = arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return out->p != NULL ? ERR_OK : err_no_memory(&m->r->em);
}

static enum err read_header_member(struct multi *m, struct search_call *c, const struct json_member *k)
{
    struct search_opts *o = &c->o;
    struct errmsg *em = &m->r->em;
    struct str text = json_text(&k->value);
    bool ignored;
    if (str_is(k->key, "index") || str_is(k->key, "indices")) {
        return names_of(m, &c->arena, &k->value, &o->index);
    }
    if (str_is(k->key, "type") || str_is(k->key, "types")) {
        rest_deprecated(m->r, m->templates ? TYPED_MSEARCH_TEMPLATE : TYPED_MSEARCH);
        return names_of(m, &c->arena, &k->value, &m->types);
    }
    if (str_is(k->key, "search_type") || str_is(k->key, "searchType")) {
        o->dfs = str_is(text, "dfs_query_then_fetch");
        return o->dfs || str_is(text, "query_then_fetch") ? ERR_OK : rest_no_search_type(text, em);
    }
    if (str_is(k->key, "preference")) {
        o->preference = text;
    } else if (str_is(k->key, "routing")) {
        o->routing = text;
    } else if (str_is(k->key, "allow_partial_search_results")) {
        return header_bool(m, "null", text, &o->allow_partial);
    } else if (str_is(k->key, "request_cache") || str_is(k->key, "requestCache")) {
        return header_bool(m, "request_cache", text, &ignored);
    } else if (str_is(k->key, "ccs_minimize_roundtrips")) {
        return header_bool(m, NULL, text, &ignored);
    } else if (index_option(k->key) == N_INDEX_OPTIONS) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "key [%.*s] is not supported in the metadata section",
                       STR_ARG(k->key));
    }
    return ERR_OK;
}

enum err msearch_header(struct multi *m, struct search_call *c, struct str line)
{
    struct json tree;
    if (str_trim(line).n == 0) {
        return ERR_OK;
    }
    enum err e = json_parse_first(&tree, line, &c->arena, &json_limits_default, &m->r->em);
    if (e != ERR_OK || tree.type != JSON_OBJECT) {
        return e;
    }
    const struct json_member **members = java_order(&tree, &c->arena);
    if (members == NULL) {
        return err_no_memory(&m->r->em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < tree.n; i++) {
        e = read_header_member(m, c, members[i]);
    }
    return e == ERR_OK ? read_index_options(m, &c->o, members, tree.n) : e;
}
