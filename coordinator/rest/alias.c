/* Aliases: given, taken away, listed. */
#include "coordinator/rest/meta.h"

/* ---- POST /_aliases: reading the actions --------------------------------------------------------------- */

struct action_list {
    struct rest *r;
    struct alias_action *v;
    size_t n, cap;
};

/* What one action says before its indices are resolved. */
struct given_action {
    enum alias_kind kind;
    const struct str *indices, *aliases;
    uint32_t n_indices, n_aliases;
    struct alias_meta alias;
    bool must_exist;
};

static const char *const add_fields[] = {"index",          "indices",
                                         "alias",          "aliases",
                                         "filter",         "routing",
                                         "index_routing",  "search_routing",
                                         "indexRouting",   "searchRouting",
                                         "is_write_index", "is_hidden",
                                         "must_exist",     NULL};

static enum err wrap(struct rest *r, const struct json *at, const char *parser, const char *field)
{
    return jr_wrap_field(r->body, at->off, parser, str_of(field), &r->em);
}

static bool is_name(const char *const *names, struct str s)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        if (str_is(s, names[i])) {
            return true;
        }
    }
    return false;
}

static bool fits(struct str key, const struct json *v)
{
    if (str_is(key, "filter")) {
        return v->type == JSON_OBJECT || v->type == JSON_NULL;
    }
    if (str_is(key, "indices") || str_is(key, "aliases")) {
        return v->type == JSON_ARRAY || v->type == JSON_STRING;
    }
    if (str_is(key, "index") || str_is(key, "alias")) {
        return v->type == JSON_STRING;
    }
    if (str_ends(key, STR("outing"))) {
        return v->type == JSON_STRING || v->type == JSON_NUMBER;
    }
    return v->type == JSON_BOOL || v->type == JSON_STRING;
}

/* The first element that has no text; NULL: all have. */
static const struct json *not_a_text(const struct json *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        enum json_type t = list->items[i].type;
        if (t == JSON_NULL || t == JSON_ARRAY || t == JSON_OBJECT) {
            return &list->items[i];
        }
    }
    return NULL;
}

static enum err check_field(struct rest *r, const char *action, enum alias_kind kind,
                            const struct json_member *m)
{
    static const char *const plain[] = {"index", "indices", "alias", "aliases", "must_exist", NULL};
    static const char *const whole[] = {"index", "indices", "must_exist", NULL};
    if (!is_name(add_fields, m->key) || (kind == ALIAS_ADD && str_is(m->key, "must_exist"))) {
        return jr_unknown_field(r->body, m->key_off, action, m->key, NULL, &r->em);
    }
    if (!fits(m->key, &m->value)) {
        return jr_fail_xc(r->body, m->value.off, &r->em, "[%s] %.*s doesn't support values of type: %s",
                          action, STR_ARG(m->key), json_token_name(&m->value));
    }
    bool supported = kind == ALIAS_ADD || is_name(kind == ALIAS_REMOVE ? plain : whole, m->key);
    if (supported && m->value.type == JSON_ARRAY && m->value.n == 0) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] can't be empty", STR_ARG(m->key));
        return jr_wrap_field(r->body, m->value.off + 1, action, m->key, &r->em);
    }
    const struct json *wrong = m->value.type == JSON_ARRAY ? not_a_text(&m->value) : NULL;
    if (supported && wrong != NULL) {
        err_set(&r->em, ERR_ILLEGAL_STATE,
                wrong->type == JSON_NULL ? "Can't get text on a %s" : "expected value but got [%s]",
                json_token_name(wrong));
        return jr_wrap_field(r->body, wrong->off, action, m->key, &r->em);
    }
    bool empty = m->value.type == JSON_STRING && m->value.s.n == 0
                 && (str_is(m->key, "index") || str_is(m->key, "alias") || str_is(m->key, "indices")
                     || str_is(m->key, "aliases"));
    bool truth;
    const bool flag =
        str_is(m->key, "is_write_index") || str_is(m->key, "is_hidden") || str_is(m->key, "must_exist");
    if (supported && flag && jr_bool(&m->value, &truth, &r->em) != ERR_OK) {
        return jr_wrap_field(r->body, m->value.off, action, m->key, &r->em);
    }
    if (!supported) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] is unsupported for [%s]", STR_ARG(m->key), action);
    } else if (empty) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "[%.*s] can't be empty string", STR_ARG(m->key));
    }
    return supported && !empty ? ERR_OK : jr_wrap_field(r->body, m->value.off, action, m->key, &r->em);
}

/* "index" or "indices": one of them. */
static enum err names_of(struct rest *r, const struct json *body, const char *one, const char *many,
                         const char *action, const struct str **out, uint32_t *n)
{
    const struct json *a = json_get(body, one), *b = json_get(body, many);
    *n = 0;
    if (a != NULL && b != NULL) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Only one of [%s] and [%s] is supported", one, many);
        return jr_wrap_field(r->body, b->end - 1, action, str_of(many), &r->em);
    }
    a = a != NULL ? a : b;
    if (a == NULL) {
        return ERR_OK;
    }
    return jr_strings(a, r->arena, out, n) ? ERR_OK : err_no_memory(&r->em);
}

static enum err read_fields(struct rest *r, const char *action, struct given_action *g,
                            const struct json *body)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < body->n; i++) {
        e = check_field(r, action, g->kind, &body->members[i]);
    }
    e = e == ERR_OK ? names_of(r, body, "index", "indices", action, &g->indices, &g->n_indices) : e;
    e = e == ERR_OK ? names_of(r, body, "alias", "aliases", action, &g->aliases, &g->n_aliases) : e;
    e = e == ERR_OK ? alias_from_json(&g->alias, body, true, r->arena, &r->em) : e;
    const struct json *must = json_get(body, "must_exist");
    g->must_exist = must != NULL && str_is(json_text(must), "true");
    return e;
}

static enum err read_action(struct rest *r, const struct json *v, struct given_action *g)
{
    static const char *const known[] = {"add", "remove", "remove_index", NULL};
    const struct json_member *m = v->n > 0 ? &v->members[0] : NULL;
    for (uint32_t i = 0; i < v->n; i++) {
        if (!is_name(known, v->members[i].key)) {
            return jr_unknown_field(r->body, v->members[i].key_off, "alias_action", v->members[i].key, known,
                                    &r->em);
        }
    }
    if (v->n == 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "No operation declared on operation entry");
    }
    if (v->n > 1) {
        err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "Too many operations declared on operation entry");
        return err_wrap(&r->em, ERR_X_CONTENT,
                        "Failed to build [alias_action] after last required field arrived");
    }
    if (m->value.type != JSON_OBJECT) {
        return jr_fail_xc(r->body, m->value.off, &r->em,
                          "[alias_action] %.*s doesn't support values of type: %s", STR_ARG(m->key),
                          json_token_name(&m->value));
    }
    g->kind = str_is(m->key, "add")      ? ALIAS_ADD
              : str_is(m->key, "remove") ? ALIAS_REMOVE
                                         : ALIAS_REMOVE_INDEX;
    const char *action = g->kind == ALIAS_ADD ? "add" : g->kind == ALIAS_REMOVE ? "remove" : "remove_index";
    if (read_fields(r, action, g, &m->value) != ERR_OK) {
        return wrap(r, &m->value, "alias_action", action);
    }
    if (g->n_indices == 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "One of [index] or [indices] is required");
    }
    if (g->kind != ALIAS_REMOVE_INDEX && g->n_aliases == 0) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "One of [alias] or [aliases] is required");
    }
    return ERR_OK;
}

/* ---- from expressions to indices ----------------------------------------------------------------------- */

static enum err join(struct rest *r, const struct str *v, uint32_t n, struct str *out)
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
    enum err e = join(r, g->indices, g->n_indices, &expression);
    e = e == ERR_OK ? resolve_indices(r->state, expression, &o, clock_wall_ms(r->co->o.clock), r->arena, &t,
                                      &n, &r->em)
                    : e;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        struct alias_action *v = arena_grow(r->arena, l->v, l->n, &l->cap, sizeof(*v));
        if (v == NULL) {
            return err_no_memory(&r->em);
        }
        l->v = v;
        v[l->n++] = (struct alias_action){.kind = g->kind,
                                          .index = t[i].meta->name,
                                          .aliases = g->aliases,
                                          .n_aliases = g->n_aliases,
                                          .alias = g->alias,
                                          .must_exist = g->must_exist};
    }
    return e;
}

static void send_actions(struct rest *r, struct action_list *l, int64_t timeout_ms)
{
    struct meta_request *rq = rest_ready(r) ? rest_meta(r, META_ALIASES, NULL, 0) : NULL;
    if (rq != NULL) { /* the actions live in r->arena, which waits for the answer */
        rq->alias_actions = l->v;
        rq->n_alias_actions = (uint32_t)l->n;
        rq->timeout_ms = timeout_ms;
        rest_meta_acknowledge(r, rq);
    }
}

/* What stands before an action and is none: a value is passed over, and then the next one has to be an object. A list among the
 * actions is refused. *at moves to the action. */
static enum err find_action(struct rest *r, const struct json *list, uint32_t *at)
{
    const struct json *v = &list->items[*at];
    if (v->type == JSON_OBJECT) {
        return ERR_OK;
    }
    if (v->type == JSON_ARRAY) {
        err_set(&r->em, ERR_ILLEGAL_STATE, "expected value but got [START_ARRAY]");
        return jr_wrap_field(r->body, v->off, "aliases", STR("actions"), &r->em);
    }
    const struct json *next = ++*at < list->n ? &list->items[*at] : NULL;
    if (next != NULL && next->type == JSON_OBJECT) {
        return ERR_OK;
    }
    size_t off = next != NULL ? next->off : list->end - 1;
    jr_fail_xc(r->body, off, &r->em, "[alias_action] Expected START_OBJECT but was: %s",
               next != NULL ? json_token_name(next) : "END_ARRAY");
    return jr_wrap_field(r->body, off, "aliases", STR("actions"), &r->em);
}

static enum err read_actions(struct rest *r, const struct json *body, struct action_list *l)
{
    static const char *const known[] = {"actions", NULL};
    if (body->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, body->off, &r->em, "[aliases] Expected START_OBJECT but was: %s",
                          json_token_name(body));
    }
    const struct json *v = json_get(body, "actions");
    struct given_action *given =
        ARENA_ARRAY(r->arena, struct given_action, v != NULL && v->type == JSON_ARRAY ? v->n : 0);
    if (given == NULL) {
        return err_no_memory(&r->em);
    }
    for (uint32_t i = 0; i < body->n; i++) {
        if (!str_is(body->members[i].key, "actions")) {
            return jr_unknown_field(r->body, body->members[i].key_off, "aliases", body->members[i].key, known,
                                    &r->em);
        }
    }
    if (v != NULL && v->type != JSON_ARRAY && v->type != JSON_OBJECT) {
        return jr_fail_xc(r->body, v->off, &r->em, "[aliases] actions doesn't support values of type: %s",
                          json_token_name(v));
    }
    if (v != NULL && v->type == JSON_OBJECT) {
        struct given_action one = {0};
        if (read_action(r, v, &one) != ERR_OK) {
            return jr_wrap_field(r->body, v->end - 1, "aliases", STR("actions"), &r->em);
        }
        return expand_action(l, &one);
    }
    if (v == NULL || v->n == 0 || v->type != JSON_ARRAY) {
        return err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "No action specified");
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < v->n; i++) {
        enum err found = find_action(r, v, &i);
        if (found != ERR_OK) {
            return found;
        }
        if (read_action(r, &v->items[i], &given[n++])
            != ERR_OK) { /* noticed behind the action, unless a place is told */
            size_t end = v->items[i].end - (v->items[i].n > 1); /* of several, the last brace tells */
            return jr_wrap_field(r->body, end, "aliases", STR("actions"), &r->em);
        }
    }
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        e = expand_action(l, &given[i]);
    }
    return e;
}

static void post_aliases(struct rest *r)
{
    struct action_list l = {.r = r};
    const struct json *body;
    int64_t timeout_ms;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_body_required(r, &body) : e;
    e = e == ERR_OK ? read_actions(r, body, &l) : e;
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

/* One name: a comma in it is none between two. */
static enum err fill_put(struct rest *r, const struct json *body, struct given_action *g)
{
    const struct json *index = json_get(body, "index"), *alias = json_get(body, "alias");
    struct str *name = ARENA_NEW(r->arena, struct str);
    enum err e = name != NULL ? rest_list(r, "index", &g->indices, &g->n_indices) : err_no_memory(&r->em);
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
    struct action_list l = {.r = r};
    const struct json *body;
    int64_t timeout_ms;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_body_whole(r, &body) : e;
    e = e == ERR_OK ? fill_put(r, body, &g) : e;
    e = e == ERR_OK ? expand_action(&l, &g) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        send_actions(r, &l, timeout_ms);
    }
}

static void delete_alias(struct rest *r)
{
    struct given_action g = {.kind = ALIAS_REMOVE};
    struct action_list l = {.r = r};
    int64_t timeout_ms;
    enum err e = rest_meta_timeouts(r, &timeout_ms);
    e = e == ERR_OK ? rest_list(r, "index", &g.indices, &g.n_indices) : e;
    e = e == ERR_OK ? rest_list(r, "name", &g.aliases, &g.n_aliases) : e;
    e = e == ERR_OK ? expand_action(&l, &g) : e;
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
static uint32_t missing(struct rest *r, const struct str *names, uint32_t n, const struct index_target *t,
                        uint32_t n_targets, struct str *out)
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
    (void)join(r, list, count, out);
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
    jw_k(w, "aliases");
    jw_obj(w);
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
    e = e == ERR_OK ? resolve_indices(r->state, rest_param(r, "index"), &o, clock_wall_ms(r->co->o.clock),
                                      r->arena, &t, &n, &r->em)
                    : e;
    e = e == ERR_OK ? rest_metadata_readable(r, t, n) : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    uint32_t n_lost = missing(r, names, n_names, t, n, &lost);
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
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
