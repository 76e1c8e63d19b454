/* The URL parameters of a search, which override its body (search.h). */
#include "coordinator/rest/search_int.h"

#include "common/base/num.h"
#include "engine/query/query.h"

enum err url_put(struct url_overrides *u, const char *key, struct json v)
{
    u->changed = true;
    return json_put(u->body, u->r->arena, str_of(key), v) ? ERR_OK : err_no_memory(&u->r->em);
}

struct json url_number(struct rest *r, int64_t v)
{
    return (struct json){.type = JSON_NUMBER, .s = arena_printf(r->arena, "%lld", (long long)v)};
}

enum err url_int(struct url_overrides *u, const char *param, bool non_negative)
{
    int32_t v;
    if (!rest_has(u->r, param)) {
        return ERR_OK;
    }
    enum err e = rest_int(u->r, param, 0, &v);
    if (e == ERR_OK && v == -1 && non_negative) {
        return ERR_OK; /* the default */
    }
    if (e == ERR_OK && non_negative && v < 0) {
        e = err_set(&u->r->em, ERR_ILLEGAL_ARGUMENT, "[%s] parameter cannot be negative, found [%d]", param,
                    v);
    }
    return e == ERR_OK ? url_put(u, param, url_number(u->r, v)) : e;
}

static enum err bool_override(struct url_overrides *u, const char *param)
{
    bool v;
    if (!rest_has(u->r, param)) {
        return ERR_OK;
    }
    enum err e = rest_bool(u->r, param, false, &v);
    return e == ERR_OK ? url_put(u, param, json_mk_bool(v)) : e;
}

static enum err list_override(struct url_overrides *u, const char *param, const char *key, struct json *into)
{
    const struct str *v;
    uint32_t n;
    enum err e = rest_list(u->r, param, &v, &n);
    if (e != ERR_OK || !rest_has(u->r, param)) {
        return e;
    }
    struct json list = {.type = JSON_ARRAY, .n = n, .items = ARENA_ARRAY(u->r->arena, struct json, n)};
    for (uint32_t i = 0; list.items != NULL && i < n; i++) {
        list.items[i] = json_mk_str(v[i]);
    }
    if (list.items == NULL) {
        return err_no_memory(&u->r->em);
    }
    if (into != NULL) {
        return json_put(into, u->r->arena, str_of(key), list) ? ERR_OK : err_no_memory(&u->r->em);
    }
    return url_put(u, key, list);
}

static enum err source_override(struct url_overrides *u)
{
    struct str plain = rest_param(u->r, "_source");
    bool lists = rest_has(u->r, "_source_includes") || rest_has(u->r, "_source_excludes");
    if (plain.p == NULL && !lists) {
        return ERR_OK;
    }
    if (!lists && (str_is(plain, "true") || str_is(plain, "false"))) {
        return url_put(u, "_source", json_mk_bool(str_is(plain, "true")));
    }
    if (str_is(plain, "false")) {
        return url_put(u, "_source", json_mk_bool(false));
    }
    struct json o = json_mk_object();
    bool names = plain.n > 0 && !str_is(plain, "true") && !str_is(plain, "false");
    enum err e = names ? list_override(u, "_source", "includes", &o) : ERR_OK;
    e = e == ERR_OK ? list_override(u, "_source_includes", "includes", &o) : e;
    e = e == ERR_OK ? list_override(u, "_source_excludes", "excludes", &o) : e;
    return e == ERR_OK ? url_put(u, "_source", o) : e;
}

/* "sort=price:desc,name": pairs split at the last colon. */
static enum err sort_override(struct url_overrides *u)
{
    const struct str *v;
    uint32_t n;
    enum err e = rest_list(u->r, "sort", &v, &n);
    if (e != ERR_OK || n == 0) {
        return e;
    }
    struct json list = {.type = JSON_ARRAY, .n = n, .items = ARENA_ARRAY(u->r->arena, struct json, n)};
    if (list.items == NULL) {
        return err_no_memory(&u->r->em);
    }
    list.n = 0;
    for (uint32_t i = 0; i < n; i++) {
        size_t colon = v[i].n;
        while (colon > 0 && v[i].p[colon - 1] != ':') {
            colon--;
        }
        struct str order = str_slice(v[i], colon, v[i].n);
        if (colon > 0 && !str_is(order, "asc") && !str_is(order, "desc")) {
            continue; /* an order that is none: the key is forgotten with it */
        }
        struct json *item = &list.items[list.n++];
        *item = json_mk_str(v[i]);
        if (colon > 0) {
            *item = json_mk_object();
            if (!json_put(item, u->r->arena, str_slice(v[i], 0, colon - 1), json_mk_str(order))) {
                return err_no_memory(&u->r->em);
            }
        }
    }
    bool by_score = list.n == 1 && list.items[0].type == JSON_STRING && str_is(list.items[0].s, "_score");
    return list.n == 0 || by_score ? ERR_OK : url_put(u, "sort", list);
}

/* q, df, analyzer ... as a query_string query. */
enum err url_query(struct url_overrides *u)
{
    static const struct {
        const char *param, *key;
    } parts[] = {{"df", "default_field"}, {"analyzer", "analyzer"}};
    static const char *const flags[] = {"analyze_wildcard", "lenient"};
    struct rest *r = u->r;
    struct str q = rest_param(r, "q");
    if (q.p == NULL) {
        return ERR_OK; /* its companions mean nothing, and are refused as unknown */
    }
    struct json inner = json_mk_object(), outer = json_mk_object();
    bool ok = json_put(&inner, r->arena, STR("query"), json_mk_str(q));
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        struct str v = rest_param(r, parts[i].param);
        ok = ok && (v.p == NULL || json_put(&inner, r->arena, str_of(parts[i].key), json_mk_str(v)));
    }
    for (size_t i = 0; i < ARRAY_LEN(flags); i++) {
        bool on;
        enum err e = rest_bool(r, flags[i], false, &on);
        if (e != ERR_OK) {
            return e;
        }
        bool given =
            rest_param(r, flags[i]).n > 0 || (i == 0 && rest_has(r, flags[i])); /* "lenient=" says nothing */
        ok = ok && (!given || json_put(&inner, r->arena, str_of(flags[i]), json_mk_bool(on)));
    }
    struct str op = rest_param(r, "default_operator"); /* not read, and so unknown, behind a wrong flag */
    if (op.p != NULL && !str_eq_nocase(op, STR("and")) && !str_eq_nocase(op, STR("or"))) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "No enum constant org.elasticsearch.index.query.Operator.%.*s",
                       STR_ARG(arena_upper(r->arena, op)));
    }
    ok = ok && (op.p == NULL || json_put(&inner, r->arena, STR("default_operator"), json_mk_str(op)))
         && json_put(&outer, r->arena, STR("query_string"), inner);
    return ok ? url_put(u, "query", outer) : err_no_memory(&r->em);
}

static enum err total_override(struct url_overrides *u)
{
    struct str v = rest_param(u->r, "track_total_hits");
    int32_t n;
    if (v.p == NULL) {
        return ERR_OK;
    }
    if (str_is(v, "true") || str_is(v, "false")) {
        return url_put(u, "track_total_hits", json_mk_bool(!str_is(v, "false")));
    }
    enum err e = rest_int(u->r, "track_total_hits", 0, &n);
    if (e == ERR_OK && n < -1) {
        return err_set(&u->r->em, ERR_ILLEGAL_ARGUMENT,
                       "[track_total_hits] parameter must be positive or equals to -1, got %d", (int)n);
    }
    return e == ERR_OK ? url_put(u, "track_total_hits", url_number(u->r, n)) : e;
}

/* Paths may still name types, of which there is one: nothing is of another. */
enum err url_type(struct url_overrides *u, enum deprecated_use use)
{
    struct rest *r = u->r;
    struct json own;
    bool changed;
    enum err e = rest_types_limit(r->state, rest_type(r, use), u->body, r->arena, &own, &changed, &r->em);
    return e == ERR_OK && changed ? url_put(u, "query", *json_get(&own, "query")) : e;
}

static enum err terminate_override(struct url_overrides *u)
{
    int32_t n;
    enum err e = rest_int(u->r, "terminate_after", 0, &n);
    if (e == ERR_OK && n < 0) {
        e = err_set(&u->r->em, ERR_ILLEGAL_ARGUMENT, "terminateAfter must be > 0");
    }
    return e == ERR_OK && n > 0 ? url_put(u, "terminate_after", url_number(u->r, n)) : e;
}

/* The suggester of a request without a body. */
static enum err suggest_override(struct url_overrides *u)
{
    struct rest *r = u->r;
    struct str field = rest_param(r, "suggest_field");
    struct json term = json_mk_object(), one = json_mk_object(), all = json_mk_object();
    if (field.p == NULL) {
        return ERR_OK; /* its companions mean nothing, and are refused as unknown */
    }
    struct str q = rest_param(r, "q"), text = rest_param(r, "suggest_text"),
               mode = rest_param(r, "suggest_mode");
    int32_t size;
    enum err e = rest_int(r, "suggest_size", 5, &size);
    if (e != ERR_OK) {
        return e;
    }
    text = text.p != NULL ? text : q;
    bool ok =
        json_put(&term, r->arena, STR("field"), json_mk_str(field))
        && json_put(&term, r->arena, STR("size"), url_number(r, size))
        && json_put(&term, r->arena, STR("suggest_mode"), json_mk_str(mode.p != NULL ? mode : STR("missing")))
        && (text.p == NULL || json_put(&one, r->arena, STR("text"), json_mk_str(text)))
        && json_put(&one, r->arena, STR("term"), term) && json_put(&all, r->arena, field, one);
    return ok ? url_put(u, "suggest", all) : err_no_memory(&r->em);
}

static enum err overrides(struct url_overrides *u, bool with_size)
{
    static const char *const ints[] = {"from", "size"};
    static const char *const flags[] = {"explain", "version", "seq_no_primary_term", "track_scores"};
    enum err e = url_query(u);
    for (size_t i = 0; e == ERR_OK && i < (with_size ? 2U : 1U); i++) {
        e = url_int(u, ints[i], true);
    }
    e = e == ERR_OK ? terminate_override(u) : e;
    for (size_t i = 0; e == ERR_OK && i < ARRAY_LEN(flags); i++) {
        e = bool_override(u, flags[i]);
    }
    struct str timeout = rest_param(u->r, "timeout");
    if (e == ERR_OK && timeout.p != NULL) {
        int64_t ms;
        e = rest_time(u->r, "timeout", 0, &ms);
    }
    if (e == ERR_OK && timeout.p != NULL) {
        e = url_put(u, "timeout", json_mk_str(timeout));
    }
    e = e == ERR_OK ? source_override(u) : e;
    e = e == ERR_OK ? sort_override(u) : e;
    e = e == ERR_OK ? total_override(u) : e;
    e = e == ERR_OK ? list_override(u, "stored_fields", "stored_fields", NULL) : e;
    e = e == ERR_OK ? list_override(u, "docvalue_fields", "docvalue_fields", NULL) : e;
    e = e == ERR_OK ? url_type(u, TYPED_SEARCH) : e;
    e = e == ERR_OK ? list_override(u, "stats", "stats", NULL) : e;
    return e == ERR_OK ? suggest_override(u) : e;
}

enum err rest_check_preference(struct rest *r, struct str preference)
{
    static const char *const known[] = {"_local", "_only_local"};
    if (preference.n == 0 || preference.p[0] != '_') {
        return ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (str_is(preference, known[i])) {
            return ERR_OK;
        }
    }
    if (str_starts(preference, STR("_shards:")) || str_starts(preference, STR("_prefer_nodes:"))
        || str_starts(preference, STR("_only_nodes:"))) {
        return ERR_OK;
    }
    return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "no Preference for [%.*s]", STR_ARG(preference));
}

static enum err scatter_params(struct rest *r, struct search_opts *o)
{
    int32_t concurrent, filter;
    bool cache;
    enum err e = rest_int(r, "batched_reduce_size", BATCHED_REDUCE, &o->batched_reduce);
    if (e == ERR_OK && o->batched_reduce < 2) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "batchedReduceSize must be >= 2");
    }
    o->request_cache_given = rest_has(r, "request_cache");
    e = e == ERR_OK ? rest_bool(r, "request_cache", false, &cache) : e;
    if (e == ERR_OK && cache) {
        rest_idle(r, "request_cache");
    }
    e = e == ERR_OK ? rest_bool(r, "allow_partial_search_results", o->allow_partial, &o->allow_partial) : e;
    e = e == ERR_OK ? rest_int(r, "pre_filter_shard_size", 0, &filter) : e;
    o->pre_filter_shard_size = e == ERR_OK ? filter : 0;
    if (e == ERR_OK && rest_has(r, "pre_filter_shard_size") && o->pre_filter_shard_size < 1) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "preFilterShardSize must be >= 1");
    }
    e = e == ERR_OK ? rest_int(r, "max_concurrent_shard_requests", 5, &concurrent) : e;
    if (e == ERR_OK && concurrent < 1) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "maxConcurrentShardRequests must be >= 1");
    }
    if (e == ERR_OK && concurrent != 5) {
        rest_idle(r, "max_concurrent_shard_requests");
    }
    return e == ERR_OK ? rest_check_bool(r, "ccs_minimize_roundtrips") : e; /* there are no other clusters */
}

/* All nodes here are of one version. */
enum err rest_check_compatible(struct rest *r)
{
    struct str v = rest_param(r, "min_compatible_shard_node"), rest = v;
    int32_t part[3] = {0}, ours[3] = {7, 12, 1};
    bool ok = true, newer = false, known = false;
    if (v.n == 0) {
        return ERR_OK;
    }
    for (unsigned i = 0; ok && i < 3; i++) {
        struct str one = rest.p != NULL ? str_cut(rest, '.', &rest) : STR_NULL;
        ok = one.n > 0 && num_parse_i32(one, &part[i]) && part[i] >= 0;
        newer = known ? newer : part[i] > ours[i];
        known = known || part[i] != ours[i];
    }
    if (!ok || rest.p != NULL) {
        return err_set(
            &r->em, ERR_ILLEGAL_ARGUMENT,
            "the version needs to contain major, minor, and revision, and optionally the build: %.*s",
            STR_ARG(v));
    }
    return newer ? err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                           "One of the shards is incompatible with the required minimum version [%.*s]",
                           STR_ARG(v))
                 : ERR_OK;
}

enum err rest_no_search_type(struct str type, struct errmsg *em)
{
    bool once = str_is(type, "query_and_fetch") || str_is(type, "dfs_query_and_fetch");
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s [%.*s]",
                   once ? "Unsupported search type" : "No search type for", STR_ARG(type));
}

enum err rest_search_params(struct rest *r, struct search_opts *o, struct json *body, bool by_query,
                            bool *changed)
{
    struct str type = rest_param(r, "search_type");
    o->dfs = str_is(type, "dfs_query_then_fetch");
    if (type.p != NULL && !o->dfs && !str_is(type, "query_then_fetch")) {
        return rest_no_search_type(type, &r->em);
    }
    o->index = rest_param(r, "index");
    o->routing = rest_param(r, "routing");
    o->preference = rest_param(r, "preference");
    enum err e = rest_index_options(r, &o->indices);
    e = e == ERR_OK ? rest_check_preference(r, o->preference) : e;
    e = e == ERR_OK && !by_query ? rest_bool(r, "typed_keys", false, &o->typed_keys) : e;
    e = e == ERR_OK ? rest_bool(r, "rest_total_hits_as_int", false, &o->total_as_int) : e;
    e = e == ERR_OK ? scatter_params(r, o) : e;
    e = e == ERR_OK ? rest_time(r, "scroll", o->scroll_ms, &o->scroll_ms) : e;
    struct url_overrides u = {.r = r, .body = body};
    e = e == ERR_OK ? overrides(&u, !by_query) : e;
    *changed = u.changed;
    return e;
}

enum err rest_search_body(struct rest *r, const struct json *tree, struct search_opts *o)
{
    struct buf b;
    struct jsonw w;
    struct json *own = ARENA_NEW(r->arena, struct json);
    jsonw_start(&w, &b);
    jw_value(&w, tree);
    o->body = arena_str(r->arena, buf_view(&b));
    buf_fini(&b);
    if (own == NULL || o->body.p == NULL) {
        return err_no_memory(&r->em);
    }
    o->tree = own;
    return json_parse(own, o->body, r->arena, &json_limits_default, &r->em);
}
