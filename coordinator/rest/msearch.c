/* _msearch: several searches in one body of lines, run side by side, answered in order. So many run at a time as the search
 * threads of all data nodes take on: more would only stand in the way of other requests. */
#include "common/base/memory_account.h"
#include "common/base/num.h"
#include "common/base/stop.h"
#include "common/cluster/health.h"
#include "coordinator/rest/nodes.h"
#include "coordinator/rest/search.h"
#include "engine/mapping/java.h"

#define THREADS_COUNTED 10 /* of a node, at most */

#define KEPT 64 /* searches that are held from the first look at the body until the answer */

/* One of the searches. Those behind the first ones are read again when they begin, and end as a text, so that however many there are
 * they hold little, and are gone at once when the client is. */
struct part {
    struct multi *m;
    struct str header, body;
    struct search_call *call; /* NULL: not begun, or written */
    struct buf answer;
};

struct multi {
    struct rest *r;
    struct part *parts;
    uint32_t n;
    size_t cap;
    struct str index, type, routing; /* of the URL */
    bool dfs;
    uint32_t at_a_time;
    uint32_t started, ended; /* of whoever found `turns` at 0 */
    bool left;               /* the client has gone, and what had not begun does not begin */
    _Atomic uint32_t turns;  /* searches that ended and are not looked at yet, and 1 for the first start */
    bool typed_keys, total_as_int;
    struct expand_options indices; /* of the URL */
    bool url_gives_indices;
    struct str types; /* of the search that is read */
};

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

static enum err read_header(struct multi *m, struct search_call *c, struct str line)
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

/* No document is of a type that the search names. */
static enum err find_nothing(struct multi *m, struct search_opts *o)
{
    struct arena *arena = m->r->arena;
    struct json own, none = json_mk_object();
    bool ok = json_copy(&own, o->tree, arena) && json_put(&none, arena, STR("match_none"), json_mk_object())
              && json_put(&own, arena, STR("query"), none);
    return ok ? rest_search_body(m->r, &own, o) : err_no_memory(&m->r->em);
}

/* Syntax errors in any body refuse the whole request, before anything runs. */
static enum err read_search(struct multi *m, struct search_call *c, struct str body)
{
    struct json *tree = ARENA_NEW(&c->arena, struct json);
    struct search_source probe;
    if (tree == NULL) {
        return err_no_memory(&m->r->em);
    }
    if (str_trim(body).n == 0) {
        return err_set_at(&m->r->em, ERR_PARSING, 1, 0, "Expected [START_OBJECT] but found [null]");
    }
    enum err e = json_parse_first(tree, body, &c->arena, &json_limits_default, &m->r->em);
    body.n = e == ERR_OK ? tree->end : body.n;
    if (e == ERR_OK) {
        search_source_init(&probe);
        e = search_source_parse(&probe, tree, body, &c->arena, &m->r->em);
        e = e == ERR_OK && m->total_as_int ? search_total_as_int(&probe, &m->r->em) : e;
    }
    c->o.body = body;
    c->o.tree = tree;
    return e == ERR_OK && rest_types_foreign(m->types) ? find_nothing(m, &c->o) : e;
}

static bool next_line(struct str *rest, struct str *line)
{
    if (rest->n == 0) {
        return false;
    }
    *line = str_cut(*rest, '\n', rest);
    return true;
}

/* Makes a part's search of its two lines; *out is NULL where that fails. */
static enum err read_part(struct multi *m, const struct part *p, struct search_call **out)
{
    struct search_call *c = *out = search_new(&m->r->env);
    if (c == NULL) {
        return err_no_memory(&m->r->em);
    }
    c->o.index = m->index;
    c->o.routing = m->routing;
    c->o.dfs = m->dfs;
    c->o.indices = m->indices;
    c->o.typed_keys = m->typed_keys;
    c->o.total_as_int = m->total_as_int;
    m->types = m->type;
    enum err e = read_header(m, c, p->header);
    e = e == ERR_OK ? read_search(m, c, p->body) : e;
    if (e != ERR_OK) {
        search_free(c);
        *out = NULL;
    }
    return e;
}

/* A header that nothing follows is read, and is no search. */
static enum err read_last_header(struct multi *m, struct str header)
{
    struct search_call *c = search_new(&m->r->env);
    enum err e = c != NULL ? read_header(m, c, header) : err_no_memory(&m->r->em);
    if (c != NULL) {
        search_free(c);
    }
    return e;
}

static enum err add_part(struct multi *m, struct str header, struct str body)
{
    struct part *v = arena_grow(m->r->arena, m->parts, m->n, &m->cap, sizeof(*v));
    if (v == NULL) {
        return err_no_memory(&m->r->em);
    }
    m->parts = v;
    v[m->n] = (struct part){.m = m, .header = header, .body = body};
    struct search_call *c;
    enum err e = read_part(m, &v[m->n], &c);
    if (e == ERR_OK && m->n < KEPT) {
        v[m->n].call = c;
    } else if (e == ERR_OK) {
        search_free(c);
    }
    m->n += e == ERR_OK ? 1 : 0;
    return e;
}

static enum err read_lines(struct multi *m, struct str rest)
{
    struct str header, body;
    enum err e = ERR_OK;
    while (e == ERR_OK && next_line(&rest, &header)) {
        if (stop_now()) {
            e = err_set(&m->r->em, ERR_CANCELLED, "task cancelled");
        } else if (next_line(&rest, &body)) {
            e = add_part(m, header, body);
        } else {
            e = read_last_header(m, header);
        }
    }
    return e;
}

static enum err read_all(struct multi *m)
{
    struct rest *r = m->r;
    struct str rest = r->body, line;
    if (r->body.n == 0) {
        return err_set(&r->em, ERR_PARSE, "request body or source parameter is required");
    }
    if (r->body.p[r->body.n - 1] != '\n') {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT,
                       "The msearch request must be terminated by a newline [\n]");
    }
    if (r->body.p[0] == '\n') { /* one empty line may stand before the first header */
        (void)next_line(&rest, &line);
    }
    m->index = rest_param(r, "index");
    m->type = rest_param(r, "type");
    m->routing = rest_param(r, "routing");
    m->dfs = str_is(rest_param(r, "search_type"), "dfs_query_then_fetch");
    struct stop st = {.asked = op_client_gone, .self = r->http};
    stop_enter(&st);
    enum err e = read_lines(m, rest);
    stop_leave(&st);
    return e != ERR_OK || m->n > 0
               ? e
               : err_set(&r->em, ERR_ACTION_VALIDATION, "Validation Failed: 1: no requests added;");
}

static void free_parts(struct multi *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        if (m->parts[i].call != NULL) {
            search_free(m->parts[i].call);
        }
        buf_fini(&m->parts[i].answer);
    }
    m->n = 0;
}

/* An answer gets its status as well. */
static void write_call(struct search_call *c, struct jsonw *w)
{
    int status;
    size_t start = w->out->n;
    search_write(c, w, &status);
    if (!err_is(&c->error) && status == 200 && w->out->n > start) {
        buf_truncate(w->out, w->out->n - 1);
        buf_printf(w->out, ",\"status\":%d}", status);
    }
}

static void write_part(struct part *p, struct jsonw *w)
{
    if (p->call != NULL) {
        write_call(p->call, w);
        return;
    }
    w->out->failed |= p->answer.failed;
    jw_raw(w, buf_view(&p->answer));
    buf_fini(&p->answer);
}

/* A search that is not kept has ended. */
static void keep_text(struct part *p)
{
    struct jsonw w;
    if (!op_client_gone(p->m->r->http)) {
        memory_request_buf(&p->answer);
        jsonw_init(&w, &p->answer, false);
        write_call(p->call, &w);
    }
    search_free(p->call);
    p->call = NULL;
}

static void answer(struct multi *m)
{
    struct rest *r = m->r;
    struct buf b;
    struct jsonw w;
    if (m->left) {
        free_parts(m);
        err_set(&r->em, ERR_CANCELLED, "task cancelled");
        rest_fail(r, NULL);
        return;
    }
    memory_request_buf(&b);
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    jw_ki64(&w, "took", (r->co->o.clock->mono_ns(r->co->o.clock->self) - r->start_ns) / 1000000);
    jw_k(&w, "responses");
    jw_arr(&w);
    for (uint32_t i = 0; i < m->n && !b.failed && !op_client_gone(r->http); i++) {
        write_part(&m->parts[i], &w);
    }
    jw_arr_end(&w);
    jw_obj_end(&w);
    free_parts(m);
    rest_send(r, 200, &b);
}

static void start_next(struct multi *m);

/* For each search that ended another begins; after the last one m is gone. */
static void msearch_continue(void *arg)
{
    struct multi *m = arg;
    do {
        m->ended++;
        if (m->started < m->n && op_client_gone(m->r->http)) {
            m->left = true;
            m->ended += m->n - m->started;
            m->started = m->n;
        }
        if (m->ended == m->n) {
            answer(m);
            return;
        }
        start_next(m);
    } while (atomic_fetch_sub(&m->turns, 1) > 1);
}

/* Searches end on any thread: one at a time goes on, the others leave a turn. What begins is read again, and the loop that
 * answers has other work. */
static void one_done(struct search_call *c)
{
    struct part *p = c->user;
    struct multi *m = p->m;
    if (p - m->parts >= KEPT) {
        keep_text(p);
    }
    if (atomic_fetch_add(&m->turns, 1) > 0) {
        return;
    }
    const struct executor *workers = m->r->co->o.workers;
    if (m->started == m->n || workers == NULL || !executor_submit_force(workers, msearch_continue, m)) {
        msearch_continue(m);
    }
}

static void start_next(struct multi *m)
{
    if (m->started >= m->n) {
        return;
    }
    struct part *p = &m->parts[m->started++];
    if (p->call == NULL
        && read_part(m, p, &p->call) != ERR_OK) { /* it was read before: only memory can be wanting */
        p->answer.failed = true;
        m->turns++;
        return;
    }
    p->call->done = one_done;
    p->call->user = p;
    search_run(p->call);
}

/* As many as Elasticsearch runs at a time when the request does not say, but for one: its default is all threads of the nodes, and
 * then 200 slow searches in one request leave none for others. */
static uint32_t default_at_a_time(const struct rest *r)
{
    struct node_report own;
    nodes_report(r, &own);
    uint32_t threads = MIN_OF(own.cores * 3 / 2 + 1, THREADS_COUNTED);
    return MAX_OF((threads - 1) * health_nodes(r->state, ROLE_DATA), 1U);
}

static void start(struct multi *m)
{
    if (m->at_a_time == 0 && m->n > 1) {
        m->at_a_time = default_at_a_time(m->r);
    }
    m->turns = 1;
    for (uint32_t i = 0; i < MAX_OF(m->at_a_time, 1U) && m->started < m->n; i++) {
        start_next(m);
    }
    if (atomic_fetch_sub(&m->turns, 1) > 1) {
        msearch_continue(m);
    }
}

/* Parameters that are checked; only the first count changes anything here. */
static enum err check_params(struct rest *r, uint32_t *at_a_time)
{
    static const struct {
        const char *name, *complaint;
    } counts[] = {{"max_concurrent_searches", "maxConcurrentSearchRequests must be positive"},
                  {"max_concurrent_shard_requests", "maxConcurrentShardRequests must be >= 1"},
                  {"pre_filter_shard_size", "preFilterShardSize must be >= 1"}};
    struct str type = rest_param(r, "search_type");
    enum err e = rest_check_bool(r, "ccs_minimize_roundtrips"); /* there are no other clusters */
    rest_accept(r, "index");
    rest_accept(r, "routing");
    rest_accept(r, "type");
    for (size_t i = 0; e == ERR_OK && i < ARRAY_LEN(counts); i++) {
        int32_t n;
        e = rest_int(r, counts[i].name, 1, &n);
        if (e == ERR_OK && n < 1) {
            e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "%s", counts[i].complaint);
        }
        if (e == ERR_OK && i == 0 && rest_has(r, counts[i].name)) {
            *at_a_time = (uint32_t)n;
        }
        if (e == ERR_OK && i > 0 && rest_has(r, counts[i].name)) {
            rest_idle(r, counts[i].name);
        }
    }
    if (e == ERR_OK && type.p != NULL && !str_is(type, "query_then_fetch")
        && !str_is(type, "dfs_query_then_fetch")) {
        e = rest_no_search_type(type, &r->em);
    }
    return e;
}

static void msearch(struct rest *r)
{
    struct multi *m = ARENA_NEW(r->arena, struct multi);
    if (!rest_takes_lines(r)) {
        return;
    }
    if (m == NULL) {
        err_no_memory(&r->em);
        rest_fail(r, NULL);
        return;
    }
    *m = (struct multi){.r = r, .indices = EXPAND_OPTIONS_SEARCH};
    enum err e = rest_index_options(r, &m->indices);
    e = e == ERR_OK ? check_params(r, &m->at_a_time) : e;
    e = e == ERR_OK ? rest_bool(r, "typed_keys", false, &m->typed_keys) : e;
    e = e == ERR_OK ? rest_bool(r, "rest_total_hits_as_int", false, &m->total_as_int) : e;
    e = e == ERR_OK ? read_all(m) : e;
    if (e != ERR_OK) {
        free_parts(m);
        rest_fail(r, NULL);
    } else if (rest_ready(r)) {
        start(m);
    } else {
        free_parts(m);
    }
}

const struct route routes_msearch[] = {
    {M_GET | M_POST, "/_msearch", msearch},
    {M_GET | M_POST, "/{index}/_msearch", msearch},
    {M_GET | M_POST, "/{index}/{type}/_msearch", msearch},
};
const size_t routes_msearch_n = ARRAY_LEN(routes_msearch);
