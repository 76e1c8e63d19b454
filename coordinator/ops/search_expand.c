/* The groups of a collapse: a search each for every hit of the page and every `inner_hits` of the request.
 *
 * A group's search is the request's own query with the group's value as a filter, over the same shards. So
 * many run at a time as the request allows; whichever ends makes and starts the next, and the last one finishes
 * the search around them. A client that goes leaves no groups that were made for nothing. */
#include "coordinator/ops/search_int.h"

#include "common/base/memory_account.h"

#define GROUPS_AT_ONCE 4 /* unless the request says */

/* What a group's search found is a text as soon as it ends: however many there are, they are gone at once when the client is. */
struct group {
    struct expansion *x;
    struct search_call *call; /* NULL: not begun, or written; one that failed is kept */
    struct buf hits;          /* the member "hits" */
};

struct expansion {
    struct search_call *outer;
    struct group *groups; /* [hit * n_inner + inner] */
    struct str *values;   /* of each hit that is shown: JSON in the hit's text; p NULL: it has none */
    uint32_t n, n_inner;
    _Atomic uint32_t next, left;
    _Atomic bool failed;
};

void search_expansion_free(struct expansion *x)
{
    for (uint32_t i = 0; x != NULL && x->groups != NULL && i < x->n; i++) {
        if (x->groups[i].call != NULL) {
            search_free(x->groups[i].call);
        }
        buf_fini(&x->groups[i].hits);
    }
}

/* ---- a group's request --------------------------------------------------------------------------------- */

/* {"bool":{"filter":[the group],"must":[the query]}}; documents without a value are a group, too. */
static void write_query(struct jsonw *w, const struct search_source *s, struct str value)
{
    jw_kobj(w, "query");
    jw_kobj(w, "bool");
    jw_kobj(w, value.p != NULL ? "filter" : "must_not");
    jw_kobj(w, value.p != NULL ? "match" : "exists");
    if (value.p != NULL) {
        jw_key(w, s->collapse.field);
        jw_obj(w);
        jw_k(w, "query");
        jw_raw(w, value);
        jw_obj_end(w);
    } else {
        jw_kstr(w, "field", s->collapse.field);
    }
    jw_obj_end(w);
    jw_obj_end(w);
    if (s->query != NULL) {
        jw_k(w, "must");
        jw_value(w, s->query);
    }
    jw_obj_end(w);
    jw_obj_end(w);
}

static void write_request(struct jsonw *w, const struct search_source *s, const struct inner_hits_spec *inner,
                          struct str value)
{
    jw_obj(w);
    write_query(w, s, value);
    if (s->pit_id.p != NULL) { /* groups are of the state that the hits are of */
        jw_kobj(w, "pit");
        jw_kstr(w, "id", s->pit_id);
        jw_obj_end(w);
    }
    if (s->post_filter != NULL) {
        jw_k(w, "post_filter");
        jw_value(w, s->post_filter);
    }
    if (json_get(inner->body, "size") == NULL) {
        jw_ki64(w, "size", inner->source->size);
    }
    for (uint32_t i = 0; i < inner->body->n; i++) {
        const struct json_member *m = &inner->body->members[i];
        if (!str_is(m->key, "name") && !str_is(m->key, "ignore_unmapped")) {
            jw_key(w, m->key);
            jw_value(w, &m->value);
        }
    }
    jw_obj_end(w);
}

/* ---- running them -------------------------------------------------------------------------------------- */

static enum err assemble(struct expansion *x);

static void group_done(struct search_call *g);

/* Makes a group's search; false: no memory. */
static bool new_group(struct expansion *x, uint32_t at)
{
    struct search_call *c = x->outer, *g = search_new(c->r);
    if (g == NULL) {
        return false;
    }
    x->groups[at] = (struct group){.x = x, .call = g};
    g->o = c->o;
    g->o.total_as_int = false;
    g->done = group_done;
    g->user = &x->groups[at];
    g->now_ms = c->now_ms;
    g->parent_task = c->task.id;
    struct buf b;
    struct jsonw w;
    struct json *tree = ARENA_NEW(&g->arena, struct json);
    jsonw_start(&w, &b);
    write_request(&w, &c->source, &c->source.collapse.inner[at % x->n_inner], x->values[at / x->n_inner]);
    g->o.body = arena_str(&g->arena, buf_view(&b));
    bool ok = !b.failed && tree != NULL && g->o.body.p != NULL;
    buf_fini(&b);
    g->o.tree = tree;
    g->o.tree_apart = false;
    return ok && json_parse(tree, g->o.body, &g->arena, &json_limits_default, &g->error) == ERR_OK;
}

/* Begins the next group. Whoever calls has not counted itself among those that left, so that none here is the last. */
static void start_next(struct expansion *x)
{
    for (;;) {
        uint32_t i = x->next++;
        if (i >= x->n) {
            return;
        }
        if (!x->failed && !search_cancelled(x->outer) && new_group(x, i)) {
            search_run(x->groups[i].call);
            return;
        }
        x->failed = true;
        x->left--;
    }
}

static void leave(struct expansion *x)
{
    struct search_call *c = x->outer;
    if (--x->left > 0) {
        return;
    }
    if (assemble(x) != ERR_OK) {
        search_fail(c);
    } else {
        search_done(c);
    }
}

static bool has_failed(const struct search_call *g)
{
    return err_is(&g->error) || search_all_failed(g);
}

static void write_hits(struct group *group)
{
    struct search_call *g = group->call;
    struct jsonw w;
    memory_request_buf(&group->hits);
    jsonw_init(&w, &group->hits, false);
    g->o.total_as_int = group->x->outer->o.total_as_int;
    search_write_hits(g, &w);
    group->x->failed |= group->hits.failed;
    search_free(g);
    group->call = NULL;
}

static void group_done(struct search_call *g)
{
    struct group *group = g->user;
    struct expansion *x = group->x;
    if (has_failed(g)) {
        x->failed = true;
    } else if (!search_cancelled(x->outer)) {
        write_hits(group);
    }
    start_next(x);
    leave(x);
}

/* The group's value as the hit shows it; p NULL: none. */
static struct str group_value(const struct json *hit, struct str text, struct str field)
{
    const struct json *values = json_get_str(json_get(hit, "fields"), field);
    return json_is(values, JSON_ARRAY) && values->n > 0
               ? str_slice(text, values->items[0].off, values->items[0].end)
               : STR_NULL;
}

/* Looks for the groups' values in the hits. */
static enum err read_values(struct expansion *x)
{
    struct search_call *c = x->outer;
    struct arena scratch;
    struct stop st;
    enum err e = ERR_OK;
    uint32_t n = 0;
    memory_request_arena(&scratch);
    search_stop_begin(c, &st);
    for (uint32_t i = 0; e == ERR_OK && i < c->reduced.n && !stop_now(); i++) {
        struct json hit;
        if (c->hits[i].n == 0) {
            continue;
        }
        e = json_parse(&hit, c->hits[i], &scratch, &json_limits_default, &c->error);
        x->values[n++] = e == ERR_OK ? group_value(&hit, c->hits[i], c->source.collapse.field) : STR_NULL;
        arena_reset(&scratch);
    }
    arena_fini(&scratch);
    x->n = n * x->n_inner;
    return search_stop_end(c, &st, e);
}

void search_expand(struct search_call *c)
{
    const struct collapse_spec *spec = &c->source.collapse;
    if (spec->n_inner == 0 || c->reduced.n == 0 || c->hits == NULL || search_all_failed(c)) {
        search_done(c);
        return;
    }
    struct expansion *x = c->expansion = ARENA_NEW(&c->arena, struct expansion);
    size_t most = (size_t)c->reduced.n * spec->n_inner;
    if (x == NULL || (x->groups = ARENA_ARRAY(&c->arena, struct group, most)) == NULL
        || (x->values = ARENA_ARRAY(&c->arena, struct str, c->reduced.n)) == NULL) {
        err_no_memory(&c->error);
        search_fail(c);
        return;
    }
    x->outer = c;
    x->n_inner = spec->n_inner;
    if (read_values(x) != ERR_OK) {
        search_fail(c);
        return;
    }
    uint32_t width = spec->max_concurrent > 0 ? (uint32_t)spec->max_concurrent : GROUPS_AT_ONCE;
    x->left = x->n + 1; /* one for this function, which may see the groups end before it does */
    for (uint32_t i = 0; i < width && i < x->n; i++) {
        start_next(x);
    }
    leave(x);
}

/* ---- the hits again, with their groups ----------------------------------------------------------------- */

/* Names may repeat: the last one of a name stands. */
static bool is_shadowed(const struct collapse_spec *spec, uint32_t at)
{
    for (uint32_t i = at + 1; i < spec->n_inner; i++) {
        if (str_eq(spec->inner[i].name, spec->inner[at].name)) {
            return true;
        }
    }
    return false;
}

static bool is_named(const struct collapse_spec *spec, struct str name)
{
    for (uint32_t i = 0; i < spec->n_inner; i++) {
        if (str_eq(spec->inner[i].name, name)) {
            return true;
        }
    }
    return false;
}

/* The hit's text with the groups in its member "inner_hits", which nested queries may have begun: it is the
 * last one. */
static enum err add_groups(struct search_call *c, struct str *hit, struct group *groups,
                           struct arena *scratch)
{
    const struct collapse_spec *spec = &c->source.collapse;
    struct json tree;
    struct buf b;
    struct jsonw w;
    enum err e = json_parse(&tree, *hit, scratch, &json_limits_default, &c->error);
    if (e != ERR_OK) {
        return e;
    }
    const struct json *old = json_get(&tree, "inner_hits");
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_str(&b, str_slice(*hit, 0, old != NULL ? old->off : tree.end - 1));
    if (old == NULL) {
        buf_str(&b, STR(",\"inner_hits\":"));
    }
    jsonw_init(&w, &b, false);
    jw_obj(&w);
    for (uint32_t i = 0; old != NULL && i < old->n; i++) {
        if (!is_named(spec, old->members[i].key)) {
            jw_key(&w, old->members[i].key);
            jw_raw(&w, str_slice(*hit, old->members[i].value.off, old->members[i].value.end));
        }
    }
    for (uint32_t k = 0; k < spec->n_inner; k++) {
        if (!is_shadowed(spec, k)) {
            jw_key(&w, spec->inner[k].name);
            jw_obj(&w);
            jw_raw(&w, buf_view(&groups[k].hits));
            jw_obj_end(&w);
        }
    }
    jw_obj_end(&w);
    buf_char(&b, '}');
    *hit = arena_str(&c->arena, buf_view(&b));
    bool ok = !b.failed && hit->p != NULL;
    buf_fini(&b);
    return ok ? ERR_OK : err_no_memory(&c->error);
}

static enum err assemble(struct expansion *x)
{
    struct search_call *c = x->outer;
    for (uint32_t i = 0; i < x->n; i++) {
        if (x->groups[i].call != NULL && has_failed(x->groups[i].call)) {
            c->unexpanded = x->groups[i].call;
            return ERR_OK;
        }
    }
    if (x->failed) {
        return search_cancelled(c) ? err_set(&c->error, ERR_CANCELLED, "task cancelled")
                                   : err_no_memory(&c->error);
    }
    for (uint32_t k = 0; k < x->n_inner; k++) {
        if (c->source.collapse.inner[k].name.p == NULL) {
            return err_set(&c->error, ERR_ILLEGAL_ARGUMENT, "Field name cannot be null");
        }
    }
    struct arena scratch;
    enum err e = ERR_OK;
    uint32_t at = 0;
    struct stop st;
    memory_request_arena(&scratch);
    search_stop_begin(c, &st);
    for (uint32_t i = 0; e == ERR_OK && i < c->reduced.n && !stop_now(); i++) {
        if (c->hits[i].n > 0) {
            e = add_groups(c, &c->hits[i], x->groups + at, &scratch);
            at += x->n_inner;
            arena_reset(&scratch);
        }
    }
    arena_fini(&scratch);
    return search_stop_end(c, &st, e);
}
