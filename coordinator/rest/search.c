/* _search and _count. */
#include "common/base/num.h"
#include "coordinator/rest/search_int.h"
#include "engine/query/query.h"

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
    ERR_LOCAL(em);
    bool open_text = str_starts(rest, STR("\"")); /* also where it does not end */
    bool open_container = str_starts(rest, STR("{")) || str_starts(rest, STR("["));
    if (json_parse_until(&second, &more, rest, r->arena, &json_limits_default, &em) != ERR_OK
        && more == SIZE_MAX && !open_text && !open_container) {
        return e;
    }
    return jr_fail(r->body, extra + second.off, &r->em, "Unexpected token [%s] found after the main object.",
                   open_text ? "VALUE_STRING" : json_token_name(&second));
}

/* Bodies are parsed as a stream: a semantic error before the place where the text breaks off is reported first. */
static enum err earlier_mistake(struct rest *r, enum err broken)
{
    struct errmsg em = err_in(r->arena);
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
        e = query_check_until(&last->value, r->body, &r->em, NULL, r->arena, &em);
    }
    if (e != ERR_OK) {
        r->em = em;
    }
    return e != ERR_OK ? e : broken;
}

/* An error in the body is reported first, at its place in the original text; the URL's parameters are added after that. */
static enum err check_own_body(struct rest *r, const struct json *body, enum err so_far)
{
    struct search_source s;
    ERR_LOCAL(em);
    search_source_init(&s);
    enum err e = search_source_parse(&s, body, r->body, r->arena, &em);
    if (e != ERR_OK) {
        err_copy(&r->em, &em);
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
        e = e == ERR_OK ? rest_check_compatible(r) : e;
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
    jsonw_start(&w, &b);
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
    jsonw_start(&w, &b);
    if (err_is(&c->error) || search_all_failed(c)) {
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
            err_copy(&r->em, broken);
            return failed_to_parse(r, err_code(&r->em), at);
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
            err_copy(&r->em, broken); /* a name is read together with how its value begins */
            return failed_to_parse(r, err_code(&r->em), m->key_off);
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
    if (err_is(broken)) {
        err_copy(&r->em, broken);
        return failed_to_parse(r, err_code(&r->em), at);
    }
    return ERR_OK;
}

/* The body's query; what follows the body's object is not read. */
static enum err read_query_body(struct rest *r, const struct json **query)
{
    const struct json *body;
    ERR_LOCAL(broken);
    size_t extra;
    *query = NULL;
    enum err e = rest_body(r, &body);
    if (e == ERR_JSON || e == ERR_JSON_EOF) {
        err_copy(&broken, &r->em);
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
    e = url_query(&u);
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
    e = r->body.n == 0 ? url_query(&u) : ERR_OK;
    e = e == ERR_OK && limits ? url_int(&u, "terminate_after", false) : e;
    if (e == ERR_OK && json_get(&own, "terminate_after") != NULL
        && json_double(json_get(&own, "terminate_after")) < 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "terminateAfter must be > 0");
    }
    if (e == ERR_OK && query != NULL && json_get(&own, "query") == NULL) {
        e = url_put(&u, "query", *query);
    }
    e = e == ERR_OK && limits ? url_type(&u, TYPED_COUNT) : e;
    if (e == ERR_OK && limits && rest_has(r, "min_score")) {
        float score;
        e = rest_float(r, "min_score", -1, &score);
        e = e == ERR_OK ? url_put(&u, "min_score", json_mk_str(rest_param(r, "min_score"))) : e;
    }
    e = e == ERR_OK ? url_put(&u, "size", url_number(r, 0)) : e;
    e = e == ERR_OK ? url_put(&u, "track_total_hits", json_mk_bool(true)) : e;
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
    if (err_is(&c->error) || search_all_failed(c)) {
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
        rest_no_memory(r);
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
