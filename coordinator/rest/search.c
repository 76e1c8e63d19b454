/* _search and _count. */
#include "coordinator/rest/search.h"
#include "common/base/num.h"
#include "engine/query/query.h"

/* What a URL says beside the body goes into the body, so that shards get one text. */
struct url_overrides {
    struct rest *r;
    struct json *body; /* an object of the request's arena */
    bool changed;
};

static enum err put(struct url_overrides *u, const char *key, struct json v)
{
    u->changed = true;
    return json_put(u->body, u->r->arena, str_of(key), v) ? ERR_OK : err_no_memory(&u->r->em);
}

static struct json number(struct rest *r, int64_t v)
{
    return (struct json){.type = JSON_NUMBER, .s = arena_printf(r->arena, "%lld", (long long)v)};
}

static enum err int_override(struct url_overrides *u, const char *param, bool non_negative)
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
    return e == ERR_OK ? put(u, param, number(u->r, v)) : e;
}

static enum err bool_override(struct url_overrides *u, const char *param)
{
    bool v;
    if (!rest_has(u->r, param)) {
        return ERR_OK;
    }
    enum err e = rest_bool(u->r, param, false, &v);
    return e == ERR_OK ? put(u, param, json_mk_bool(v)) : e;
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
    return put(u, key, list);
}

static enum err source_override(struct url_overrides *u)
{
    struct str plain = rest_param(u->r, "_source");
    bool lists = rest_has(u->r, "_source_includes") || rest_has(u->r, "_source_excludes");
    if (plain.p == NULL && !lists) {
        return ERR_OK;
    }
    if (!lists && (str_is(plain, "true") || str_is(plain, "false"))) {
        return put(u, "_source", json_mk_bool(str_is(plain, "true")));
    }
    if (str_is(plain, "false")) {
        return put(u, "_source", json_mk_bool(false));
    }
    struct json o = json_mk_object();
    bool names = plain.n > 0 && !str_is(plain, "true") && !str_is(plain, "false");
    enum err e = names ? list_override(u, "_source", "includes", &o) : ERR_OK;
    e = e == ERR_OK ? list_override(u, "_source_includes", "includes", &o) : e;
    e = e == ERR_OK ? list_override(u, "_source_excludes", "excludes", &o) : e;
    return e == ERR_OK ? put(u, "_source", o) : e;
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
    return list.n == 0 || by_score ? ERR_OK : put(u, "sort", list);
}

/* q, df, analyzer ... as a query_string query. */
static enum err query_override(struct url_overrides *u)
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
                       STR_ARG(rest_upper(r, op)));
    }
    ok = ok && (op.p == NULL || json_put(&inner, r->arena, STR("default_operator"), json_mk_str(op)))
         && json_put(&outer, r->arena, STR("query_string"), inner);
    return ok ? put(u, "query", outer) : err_no_memory(&r->em);
}

static enum err total_override(struct url_overrides *u)
{
    struct str v = rest_param(u->r, "track_total_hits");
    int32_t n;
    if (v.p == NULL) {
        return ERR_OK;
    }
    if (str_is(v, "true") || str_is(v, "false")) {
        return put(u, "track_total_hits", json_mk_bool(!str_is(v, "false")));
    }
    enum err e = rest_int(u->r, "track_total_hits", 0, &n);
    if (e == ERR_OK && n < -1) {
        return err_set(&u->r->em, ERR_ILLEGAL_ARGUMENT,
                       "[track_total_hits] parameter must be positive or equals to -1, got %d", (int)n);
    }
    return e == ERR_OK ? put(u, "track_total_hits", number(u->r, n)) : e;
}

/* Paths may still name types, of which there is one: nothing is of another. */
bool rest_types_foreign(struct str types)
{
    struct str rest = types;
    bool there = rest.n == 0;
    while (rest.n > 0) {
        struct str one = str_cut(rest, ',', &rest);
        there |= str_is(one, "_doc");
    }
    return !there;
}

static enum err type_override(struct url_overrides *u)
{
    struct json none = json_mk_object();
    if (!rest_types_foreign(rest_param(u->r, "type"))) {
        return ERR_OK;
    }
    return json_put(&none, u->r->arena, STR("match_none"), json_mk_object()) ? put(u, "query", none)
                                                                             : err_no_memory(&u->r->em);
}

static enum err terminate_override(struct url_overrides *u)
{
    int32_t n;
    enum err e = rest_int(u->r, "terminate_after", 0, &n);
    if (e == ERR_OK && n < 0) {
        e = err_set(&u->r->em, ERR_ILLEGAL_ARGUMENT, "terminateAfter must be > 0");
    }
    return e == ERR_OK && n > 0 ? put(u, "terminate_after", number(u->r, n)) : e;
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
        && json_put(&term, r->arena, STR("size"), number(r, size))
        && json_put(&term, r->arena, STR("suggest_mode"), json_mk_str(mode.p != NULL ? mode : STR("missing")))
        && (text.p == NULL || json_put(&one, r->arena, STR("text"), json_mk_str(text)))
        && json_put(&one, r->arena, STR("term"), term) && json_put(&all, r->arena, field, one);
    return ok ? put(u, "suggest", all) : err_no_memory(&r->em);
}

static enum err overrides(struct url_overrides *u, bool with_size)
{
    static const char *const ints[] = {"from", "size"};
    static const char *const flags[] = {"explain", "version", "seq_no_primary_term", "track_scores"};
    enum err e = query_override(u);
    for (size_t i = 0; e == ERR_OK && i < (with_size ? 2U : 1U); i++) {
        e = int_override(u, ints[i], true);
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
        e = put(u, "timeout", json_mk_str(timeout));
    }
    e = e == ERR_OK ? source_override(u) : e;
    e = e == ERR_OK ? sort_override(u) : e;
    e = e == ERR_OK ? total_override(u) : e;
    e = e == ERR_OK ? list_override(u, "stored_fields", "stored_fields", NULL) : e;
    e = e == ERR_OK ? list_override(u, "docvalue_fields", "docvalue_fields", NULL) : e;
    e = e == ERR_OK ? type_override(u) : e;
    e = e == ERR_OK ? list_override(u, "stats", "stats", NULL) : e;
    return e == ERR_OK ? suggest_override(u) : e;
}

/* A second value behind the body's is an error of its own kind; any other error of syntax stays what it is. */
static enum err more_behind(struct rest *r)
{
    struct json first, second;
    size_t extra, more;
    enum err e = json_parse_until(&first, &extra, r->body, r->arena, &json_limits_default, &r->em);
    if (extra == SIZE_MAX) {
        return e;
    }
    struct str rest = str_slice(r->body, extra, r->body.n);
    struct errmsg em;
    bool open_text = str_starts(rest, STR("\"")); /* also where it does not end */
    bool open_container = str_starts(rest, STR("{")) || str_starts(rest, STR("["));
    if (json_parse_until(&second, &more, rest, r->arena, &json_limits_default, &em) != ERR_OK
        && more == SIZE_MAX && !open_text && !open_container) {
        return e;
    }
    return jr_fail(r->body, extra + second.off, &r->em, "Unexpected token [%s] found after the main object.",
                   open_text ? "VALUE_STRING" : json_token_name(&second));
}

/* Bodies are read as they come: a mistake of meaning before the place where the text breaks off is told first. */
static enum err earlier_mistake(struct rest *r, enum err broken)
{
    struct errmsg why = r->em, em = {0};
    struct json tree, whole;
    struct search_source s;
    size_t extra;
    enum err e = json_parse_until(&tree, &extra, r->body, r->arena, &json_limits_default, &em);
    if ((e != ERR_JSON && e != ERR_JSON_EOF) || extra != SIZE_MAX || tree.type != JSON_OBJECT
        || tree.n == 0) {
        return broken;
    }
    whole = tree;
    whole.n--;
    search_source_init(&s);
    err_clear(&em);
    e = search_source_parse(&s, &whole, r->body, r->arena, &em);
    const struct json_member *last = &tree.members[tree.n - 1];
    if (e == ERR_OK && last->value.type == JSON_OBJECT
        && (str_is(last->key, "query") || str_is(last->key, "post_filter"))) {
        e = query_check_until(&last->value, r->body, &why, NULL, r->arena, &em);
    }
    r->em = e != ERR_OK ? em : why;
    return e != ERR_OK ? e : broken;
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
static enum err check_compatible(struct rest *r)
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
    e = e == ERR_OK && !by_query ? check_compatible(r) : e;
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
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, tree);
    o->body = arena_str(r->arena, buf_view(&b));
    buf_fini(&b);
    if (own == NULL || o->body.p == NULL) {
        return err_no_memory(&r->em);
    }
    o->tree = own;
    return json_parse(own, o->body, r->arena, &json_limits_default, &r->em);
}

/* A mistake in the body is told first, at its place in the request's own text: behind it comes what the URL adds. */
static enum err check_own_body(struct rest *r, const struct json *body, enum err so_far)
{
    struct search_source s;
    struct errmsg em = {0};
    search_source_init(&s);
    enum err e = search_source_parse(&s, body, r->body, r->arena, &em);
    if (e != ERR_OK) {
        r->em = em;
    }
    return e != ERR_OK ? e : so_far;
}

/* The body's text and tree, with what the URL adds. */
static enum err options(struct rest *r, struct search_opts *o)
{
    const struct json *body;
    struct json own = json_mk_object();
    bool changed = false;
    enum err e = rest_body_whole(r, &body);
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        e = more_behind(r);
    }
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        e = earlier_mistake(r, e);
    }
    if (e == ERR_OK && json_is(body, JSON_OBJECT) && !json_copy(&own, body, r->arena)) {
        e = err_no_memory(&r->em);
    }
    if (e == ERR_OK) {
        e = rest_search_params(r, o, &own, false, &changed);
        e = json_is(body, JSON_OBJECT) && (changed || e != ERR_OK) ? check_own_body(r, body, e) : e;
    }
    if (e != ERR_OK) {
        return e;
    }
    o->body = body != NULL ? r->body : STR("");
    o->tree = body;
    return changed && (body == NULL || body->type == JSON_OBJECT) ? rest_search_body(r, &own, o) : ERR_OK;
}

static void searched(struct search_call *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    int status;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    search_write(c, &w, &status);
    r->unfiltered = status >= 400;
    search_free(c);
    rest_send(r, status, &b);
}

static void search(struct rest *r)
{
    struct search_call *c = search_new(&r->env);
    enum err e = c != NULL ? options(r, &c->o) : err_no_memory(&r->em);
    if (e != ERR_OK) {
        if (c != NULL) {
            search_free(c);
        }
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        search_free(c);
        return;
    }
    const struct json *profile = json_get(c->o.tree, "profile");
    if (json_is(profile, JSON_BOOL) && profile->b) {
        rest_idle(r, "profile");
    }
    c->done = searched;
    c->o.here = true;
    search_run(c);
}

/* ---- _count --------------------------------------------------------------------------------------------------------------------- */

static void counted(struct search_call *c)
{
    struct rest *r = rest_of(c->r);
    struct buf b;
    struct jsonw w;
    int status;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    if (c->error.n > 0 || search_all_failed(c)) {
        search_write(c, &w, &status);
        r->unfiltered = true;
    } else {
        status = 200;
        jw_obj(&w);
        if (c->source.terminate_after != 0 && c->n_shards == 0) { /* nobody says */
            jw_k(&w, "terminated_early");
            jw_null(&w);
        } else if (c->source.terminate_after != 0) {
            jw_kbool(&w, "terminated_early", c->reduced.terminated_early);
        }
        jw_ki64(&w, "count", c->reduced.total);
        search_write_shards(c, &w);
        jw_obj_end(&w);
    }
    search_free(c);
    rest_send(r, status, &b);
}

/* An error of reading the body's query is one of parsing it, whatever it was, at the last token that was read. */
static enum err failed_to_parse(struct rest *r, enum err e, size_t at)
{
    uint32_t line, col;
    if (e == ERR_OK || e == ERR_PARSING || e == ERR_NO_MEMORY) {
        return e;
    }
    json_place(r->body, at, &line, &col);
    return err_wrap_at(&r->em, ERR_PARSING, line, col, "Failed to parse");
}

/* The members of a body that may hold a query and nothing else, read as far as it goes. */
static enum err query_body(struct rest *r, const struct json *body, const struct errmsg *broken,
                           const struct json **query)
{
    size_t at = body->off;
    if (body->type != JSON_OBJECT) {
        if (json_is_broken(body)) {
            r->em = *broken;
            return failed_to_parse(r, r->em.frame[0].code, at);
        }
        return jr_fail(r->body, body->off, &r->em, "Expected [START_OBJECT] but found [%s]",
                       json_token_name(body));
    }
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json_member *m = &body->members[i];
        if (m->key.p == NULL) { /* the text breaks off */
            break;
        }
        if (!str_is(m->key, "query") && json_is_broken(&m->value) && !m->value.b) {
            r->em = *broken; /* a name is read together with how its value begins */
            return failed_to_parse(r, r->em.frame[0].code, m->key_off);
        }
        if (!str_is(m->key, "query")) {
            return jr_fail(r->body, m->key_off, &r->em, "request does not support [%.*s]", STR_ARG(m->key));
        }
        *query = &m->value;
        at = m->key_off;
        enum err e = json_is_broken(&m->value)
                         ? ERR_OK
                         : query_check_until(&m->value, r->body, broken, &at, r->arena, &r->em);
        if (e != ERR_OK) {
            return failed_to_parse(r, e, at);
        }
    }
    if (broken->n > 0) {
        r->em = *broken;
        return failed_to_parse(r, r->em.frame[0].code, at);
    }
    return ERR_OK;
}

/* The body's query; what follows the body's object is not read. */
static enum err read_query_body(struct rest *r, const struct json **query)
{
    const struct json *body;
    struct errmsg broken = {0};
    size_t extra;
    *query = NULL;
    enum err e = rest_body(r, &body);
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        broken = r->em;
        if (json_parse_until(&r->tree, &extra, r->body, r->arena, &json_limits_default, &r->em)
            == ERR_NO_MEMORY) {
            return ERR_NO_MEMORY;
        }
        err_clear(&r->em);
        body = &r->tree;
    } else if (e != ERR_OK) {
        return e;
    }
    return body != NULL ? query_body(r, body, &broken, query) : ERR_OK;
}

enum err rest_query(struct rest *r, const struct json **query)
{
    enum err e = read_query_body(r, query);
    struct json *own = ARENA_NEW(r->arena, struct json);
    if (e != ERR_OK || own == NULL) {
        return e != ERR_OK ? e : err_no_memory(&r->em);
    }
    *own = json_mk_object();
    if (r->body.n > 0) {
        return ERR_OK; /* a query in the URL is refused as unknown */
    }
    struct url_overrides u = {.r = r, .body = own};
    e = query_override(&u);
    *query = e == ERR_OK ? json_get(own, "query") : NULL;
    return e;
}

static enum err count_body(struct rest *r, struct search_opts *o, bool limits)
{
    const struct json *query;
    enum err e = read_query_body(r, &query);
    if (e != ERR_OK) {
        return e;
    }
    struct json own = json_mk_object();
    struct url_overrides u = {.r = r, .body = &own};
    e = r->body.n == 0 ? query_override(&u) : ERR_OK;
    e = e == ERR_OK && limits ? int_override(&u, "terminate_after", false) : e;
    if (e == ERR_OK && json_get(&own, "terminate_after") != NULL
        && json_double(json_get(&own, "terminate_after")) < 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "terminateAfter must be > 0");
    }
    if (e == ERR_OK && query != NULL && json_get(&own, "query") == NULL) {
        e = put(&u, "query", *query);
    }
    e = e == ERR_OK && limits ? type_override(&u) : e;
    if (e == ERR_OK && limits && rest_has(r, "min_score")) {
        float score;
        e = rest_float(r, "min_score", -1, &score);
        e = e == ERR_OK ? put(&u, "min_score", json_mk_str(rest_param(r, "min_score"))) : e;
    }
    e = e == ERR_OK ? put(&u, "size", number(r, 0)) : e;
    e = e == ERR_OK ? put(&u, "track_total_hits", json_mk_bool(true)) : e;
    if (e != ERR_OK) {
        return e;
    }
    struct json *tree = ARENA_NEW(r->arena, struct json);
    if (tree == NULL) {
        return err_no_memory(&r->em);
    }
    *tree = own; /* places still are those of the request's own text */
    o->tree = tree;
    o->tree_apart = true;
    o->body = r->body;
    return ERR_OK;
}

static enum err count_places(struct rest *r, struct search_opts *o)
{
    o->routing = rest_param(r, "routing");
    o->preference = rest_param(r, "preference");
    return rest_index_options(r, &o->indices);
}

/* places: routing, preference and how indices are named are parameters too. */
static void run_count(struct rest *r, bool places, void (*done)(struct search_call *c))
{
    struct search_call *c = search_new(&r->env);
    enum err e = c != NULL ? ERR_OK : err_no_memory(&r->em);
    if (e == ERR_OK) {
        c->o.index = rest_param(r, "index");
        e = places ? count_places(r, &c->o) : ERR_OK;
        e = e == ERR_OK ? count_body(r, &c->o, places) : e;
        e = e == ERR_OK && places ? rest_check_preference(r, c->o.preference) : e;
    }
    if (e != ERR_OK) {
        if (c != NULL) {
            search_free(c);
        }
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        search_free(c);
        return;
    }
    c->done = done;
    c->o.here = true;
    search_run(c);
}

static void count(struct rest *r)
{
    run_count(r, true, counted);
}

static void count_known(struct search_call *c)
{
    struct rest *r = rest_of(c->r);
    void (*then)(struct rest * r, int64_t n);
    memcpy(&then, r->user, sizeof(then));
    if (c->error.n > 0 || search_all_failed(c)) {
        counted(c);
        return;
    }
    int64_t n = c->reduced.total;
    search_free(c);
    then(r, n);
}

void rest_count(struct rest *r, void (*then)(struct rest *r, int64_t n))
{
    r->user = arena_alloc(r->arena, sizeof(then));
    if (r->user == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    memcpy(r->user, &then, sizeof(then));
    run_count(r, false, count_known);
}

const struct route routes_search[] = {
    {M_GET | M_POST, "/_search", search},
    {M_GET | M_POST, "/{index}/_search", search},
    {M_GET | M_POST, "/{index}/{type}/_search", search},
    {M_GET | M_POST, "/_count", count},
    {M_GET | M_POST, "/{index}/_count", count},
    {M_GET | M_POST, "/{index}/{type}/_count", count},
};
const size_t routes_search_n = ARRAY_LEN(routes_search);
