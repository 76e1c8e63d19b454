/* Aliases: given, taken away, listed. */
#include "coordinator/rest/alias_actions.h"

#include "common/base/arena_list.h"

/* ---- from expressions to indices ----------------------------------------------------------------------- */

static enum err alias_join(struct rest *r, const struct str *v, uint32_t n, struct str *out)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&b, "%s%.*s", i > 0 ? "," : "", STR_ARG(v[i]));
    }
    *out = b.failed ? STR_NULL : arena_str(r->arena, buf_view(&b));
    buf_fini(&b);
    return out->p != NULL ? ERR_OK : err_no_memory(&r->em);
}

static enum err expand_action(struct action_list *l, const struct given_action *g)
{
    struct rest *r = l->r;
    struct expand_options o = {false, false, EXPAND_OPEN, false, true, 0};
    const struct index_target *t;
    uint32_t n;
    struct str expression;
    for (uint32_t i = 0; i < g->n_indices; i++) {
        if (str_find(g->indices[i], ',', 0) != SIZE_MAX) { /* each is one name */
            err_set(&r->em, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(g->indices[i]));
            err_about_index(&r->em, g->indices[i], STR("_na_"));
            err_about_resource(&r->em, "index_or_alias", g->indices[i]);
            return ERR_INDEX_NOT_FOUND;
        }
    }
    enum err e = alias_join(r, g->indices, g->n_indices, &expression);
    e = e == ERR_OK ? resolve_indices(r->state, expression, &o, clock_wall_ms(r->co->o.clock), r->arena, &t,
                                      &n, &r->em)
                    : e;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        if (!ARENA_ADD(r->arena, l->v, l->n, l->cap,
                       (struct alias_action){.kind = g->kind,
                                             .index = t[i].meta->name,
                                             .aliases = g->aliases,
                                             .n_aliases = g->n_aliases,
                                             .alias = g->alias,
                                             .must_exist = g->must_exist})) {
            return err_no_memory(&r->em);
        }
    }
    return e;
}

static void send_actions(struct rest *r, struct action_list *l, int64_t timeout_ms)
{
    if (!rest_ready(r)) {
        return;
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < l->n_given; i++) {
        e = expand_action(l, &l->given[i]);
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    struct meta_request *rq = rest_meta(r, META_ALIASES, NULL, 0);
    if (rq != NULL) { /* the actions live in r->arena, which waits for the answer */
        rq->alias_actions = l->v;
        rq->n_alias_actions = (uint32_t)l->n;
        rq->timeout_ms = timeout_ms;
        rest_meta_acknowledge(r, rq);
    }
}

static void post_aliases(struct rest *r)
{
    struct action_list l = {.r = r};
    const struct json *body;
    int64_t timeout_ms;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    e = e == ERR_OK ? alias_actions_read(r, body, &l) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        send_actions(r, &l, timeout_ms);
    }
}

/* ---- one alias ----------------------------------------------------------------------------------------- */

/* The last text that a value has, itself or as a list. */
static struct str last_text(const struct json *v)
{
    struct str text = json_text(v);
    for (uint32_t i = 0; v->type == JSON_ARRAY && i < v->n; i++) {
        struct str one = last_text(&v->items[i]);
        text = one.p != NULL ? one : text;
    }
    return text;
}

/* A list of the path, in which only the last names may be empty: those are left out. */
static enum err named_list(struct rest *r, const char *parameter, const char *what, const struct str **out,
                           uint32_t *n)
{
    enum err e = rest_list(r, parameter, out, n);
    while (e == ERR_OK && *n > 0 && (*out)[*n - 1].n == 0) {
        (*n)--;
    }
    for (uint32_t i = 0; e == ERR_OK && i < *n; i++) {
        e = (*out)[i].n == 0 ? err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%s] can't contain empty string", what)
                             : ERR_OK;
    }
    return e;
}

/* One name: a comma in it is none between two. */
static enum err fill_put(struct rest *r, const struct json *body, struct given_action *g)
{
    const struct json *index = json_get(body, "index"), *alias = json_get(body, "alias");
    struct str *name = ARENA_NEW(r->arena, struct str);
    enum err e =
        name != NULL ? named_list(r, "index", "indices", &g->indices, &g->n_indices) : err_no_memory(&r->em);
    if (e == ERR_OK && index != NULL && !jr_strings(index, r->arena, &g->indices, &g->n_indices)) {
        e = err_no_memory(&r->em);
    }
    if (e == ERR_OK && g->n_indices == 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[indices] can't be empty");
    }
    if (e == ERR_OK) {
        struct str named = rest_param(r, "name"), given = alias != NULL ? last_text(alias) : STR_NULL;
        *name = given.p != NULL ? given : named;
        g->aliases = name;
        g->n_aliases = 1;
    }
    if (e == ERR_OK && name->n == 0) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[alias] can't be empty string");
    }
    return e == ERR_OK ? alias_from_json(&g->alias, body, true, r->arena, &r->em) : e;
}

static void put_alias(struct rest *r)
{
    struct given_action g = {.kind = ALIAS_ADD};
    struct action_list l = {.r = r, .given = &g, .n_given = 1};
    const struct json *body;
    int64_t timeout_ms;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_body_whole(r, &body) : e;
    e = e == ERR_OK ? fill_put(r, body, &g) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        send_actions(r, &l, timeout_ms);
    }
}

static void delete_alias(struct rest *r)
{
    struct given_action g = {.kind = ALIAS_REMOVE};
    struct action_list l = {.r = r, .given = &g, .n_given = 1};
    int64_t timeout_ms;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? named_list(r, "index", "indices", &g.indices, &g.n_indices) : e;
    e = e == ERR_OK ? named_list(r, "name", "aliases", &g.aliases, &g.n_aliases) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        send_actions(r, &l, timeout_ms);
    }
}

/* ---- GET, HEAD ----------------------------------------------------------------------------------------- */

static bool is_all(struct str s)
{
    return str_is(s, "_all") || str_is(s, "*");
}

static bool is_exclusion(struct str s)
{
    return s.n > 0 && s.p[0] == '-';
}

/* An exclusion behind names[i], from the first wildcard on, takes names[i] away. */
static bool taken_away(const struct str *names, uint32_t n, uint32_t i, uint32_t first_wildcard)
{
    for (uint32_t k = MAX_OF(i + 1, first_wildcard); k < n; k++) {
        if (is_exclusion(names[k])) {
            struct str p = str_slice(names[k], 1, names[k].n);
            if (is_all(p) || str_glob(p, names[i])) {
                return true;
            }
        }
    }
    return false;
}

/* In order, none twice. */
static void put_sorted(struct str *list, uint32_t *n, struct str name)
{
    uint32_t at = *n;
    while (at > 0 && str_cmp(list[at - 1], name) > 0) {
        at--;
    }
    if (at > 0 && str_eq(list[at - 1], name)) {
        return;
    }
    memmove(list + at + 1, list + at, (*n - at) * sizeof(*list));
    list[at] = name;
    (*n)++;
}

/* Names without wildcards that no index in sight has, joined by commas. */
static uint32_t alias_missing(struct rest *r, const struct str *names, uint32_t n,
                              const struct index_target *t, uint32_t n_targets, struct str *out)
{
    uint32_t count = 0, first_wildcard = 0;
    struct str *list = ARENA_ARRAY(r->arena, struct str, (size_t)n + 1);
    *out = STR("");
    if (list == NULL) {
        return 0;
    }
    while (first_wildcard < n && str_find(names[first_wildcard], '*', 0) == SIZE_MAX) {
        first_wildcard++;
    }
    for (uint32_t i = 0; i < n; i++) {
        bool found = is_all(names[i]) || str_find(names[i], '*', 0) != SIZE_MAX
                     || (i > first_wildcard && is_exclusion(names[i]))
                     || taken_away(names, n, i, first_wildcard);
        for (uint32_t k = 0; !found && k < n_targets; k++) {
            found = index_alias(t[k].meta, names[i]) != NULL;
        }
        if (!found) {
            put_sorted(list, &count, names[i]);
        }
    }
    (void)alias_join(r, list, count, out);
    return count;
}

static void write_index(struct jsonw *w, const struct index_meta *m, const struct str *names, uint32_t n)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        shown += alias_is_named(names, n, m->aliases[i].name);
    }
    if (n > 0 && shown == 0) {
        return;
    }
    jw_key(w, m->name);
    jw_obj(w);
    jw_kobj(w, "aliases");
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        if (alias_is_named(names, n, m->aliases[i].name)) {
            jw_key(w, m->aliases[i].name);
            alias_write(&m->aliases[i], w);
        }
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void get_alias(struct rest *r)
{
    struct expand_options o = {false, true, EXPAND_OPEN | EXPAND_CLOSED | EXPAND_HIDDEN, false, false, 0};
    const struct index_target *t;
    const struct str *names;
    uint32_t n, n_names;
    struct str lost;
    struct buf b;
    struct jsonw w;
    enum err e = rest_index_options(r, &o);
    e = e == ERR_OK ? rest_check_bool(r, "local") : e;
    e = e == ERR_OK ? rest_list(r, "name", &names, &n_names) : e;
    if (!rest_targets(r, e, &o, &t, &n)) {
        return;
    }
    if (rest_metadata_readable(r, t, n) != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    uint32_t n_lost = alias_missing(r, names, n_names, t, n, &lost);
    jsonw_start(&w, &b);
    jw_obj(&w);
    if (n_lost > 0) {
        jw_k(&w, "error");
        jw_strf(&w, n_lost == 1 ? "alias [%.*s] missing" : "aliases [%.*s] missing", STR_ARG(lost));
        jw_ki64(&w, "status", 404);
    }
    for (uint32_t i = 0; i < n; i++) {
        write_index(&w, t[i].meta, names, n_names);
    }
    jw_obj_end(&w);
    if (r->method == HTTP_M_HEAD) {
        buf_reset(&b);
        rest_send_text(r, n_lost > 0 ? 404 : 200, "application/json; charset=UTF-8", &b);
        return;
    }
    rest_send(r, n_lost > 0 ? 404 : 200, &b);
}

const struct route routes_alias[] = {
    {M_POST, "/_aliases", post_aliases},
    {M_GET, "/_aliases", get_alias},
    {M_GET, "/_alias", get_alias},
    {M_GET | M_HEAD, "/_alias/{name}", get_alias},
    {M_GET | M_HEAD, "/{index}/_alias", get_alias},
    {M_GET | M_HEAD, "/{index}/_alias/{name}", get_alias},
    {M_PUT | M_POST, "/{index}/_alias/{name}", put_alias},
    {M_PUT | M_POST, "/{index}/_aliases/{name}", put_alias},
    {M_PUT | M_POST, "/_alias/{name}", put_alias},
    {M_PUT | M_POST, "/_aliases/{name}", put_alias},
    {M_PUT, "/{index}/_alias", put_alias},
    {M_PUT, "/{index}/_aliases", put_alias},
    {M_PUT, "/_alias", put_alias},
    {M_DELETE, "/{index}/_alias/{name}", delete_alias},
    {M_DELETE, "/{index}/_aliases/{name}", delete_alias},
};
const size_t routes_alias_n = ARRAY_LEN(routes_alias);
