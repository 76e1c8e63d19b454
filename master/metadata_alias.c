/* Aliases: what names indices besides their own. */
#include "master/metadata_int.h"

#include "common/base/java_hash.h"
#include "common/base/jsonr.h"
#include "common/base/map.h"
#include "common/base/sort_items.h"

#include "common/cluster/blocks.h"

#include <stdio.h>

static enum err bad_alias(struct str name, const char *why, struct errmsg *em)
{
    return err_set(em, ERR_INVALID_ALIAS_NAME, "Invalid alias name [%.*s]: %s", STR_ARG(name), why);
}

/* The rules of index names without those on capitals. */
static enum err alias_name_check(struct str name, struct errmsg *em)
{
    static const char forbidden[] = {' ', '"', '*', '\\', '<', '|', ',', '>', '/', '?'};
    if (name.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "alias name is required");
    }
    for (size_t i = 0; i < ARRAY_LEN(forbidden); i++) {
        if (str_find(name, forbidden[i], 0) != SIZE_MAX) {
            return bad_alias(
                name, "must not contain the following characters [ , \", *, \\, <, |, ,, >, /, ?]", em);
        }
    }
    if (str_find(name, '#', 0) != SIZE_MAX) {
        return bad_alias(name, "must not contain '#'", em);
    }
    if (str_find(name, ':', 0) != SIZE_MAX) {
        return bad_alias(name, "must not contain ':'", em);
    }
    if (name.p[0] == '_' || name.p[0] == '-' || name.p[0] == '+') {
        return bad_alias(name, "must not start with '_', '-', or '+'", em);
    }
    if (name.n > 255) {
        char why[64];
        snprintf(why, sizeof(why), "index name is too long, (%zu > 255)", name.n);
        return bad_alias(name, why, em);
    }
    return str_is(name, ".") || str_is(name, "..") ? bad_alias(name, "must not be '.' or '..'", em) : ERR_OK;
}

static enum err check_filter(const struct metadata_env *env, const struct alias_meta *a,
                             const struct index_meta *index, struct errmsg *em)
{
    struct arena scratch;
    struct json tree;
    if (a->filter.n == 0) {
        return ERR_OK;
    }
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    enum err e = json_parse(&tree, a->filter, &scratch, &json_limits_default, em);
    e = e == ERR_OK ? env->check_query(env->self, &tree, a->filter, index, em) : e;
    if (e != ERR_OK && e != ERR_NO_MEMORY) {
        e = err_wrap(em, ERR_ILLEGAL_ARGUMENT, "failed to parse filter for alias [%.*s]", STR_ARG(a->name));
    }
    arena_fini(&scratch);
    return e;
}

enum err alias_check_alone(const struct alias_meta *a, struct errmsg *em)
{
    enum err e = alias_name_check(a->name, em);
    if (e == ERR_OK && a->index_routing.p != NULL && str_find(a->index_routing, ',', 0) != SIZE_MAX) {
        e = err_set(em, ERR_ILLEGAL_ARGUMENT,
                    "alias [%.*s] has several index routing values associated with it", STR_ARG(a->name));
    }
    return e;
}

enum err alias_check(const struct metadata_env *env, const struct cluster_state *s,
                     const struct index_meta *index, const struct alias_meta *a, struct errmsg *em)
{
    struct str self = index != NULL ? index->name : STR("");
    enum err e = alias_name_check(a->name, em);
    const struct index_meta *taken = e == ERR_OK ? cluster_index(s, a->name) : NULL;
    bool own = str_eq(a->name, self);
    if (e == ERR_OK && own && taken == NULL) {
        return err_set(
            em, ERR_ILLEGAL_STATE,
            "index, alias, and data stream names need to be unique, but the following duplicates were found "
            "[%.*s (alias of [%.*s]) conflicts with index]",
            STR_ARG(a->name), STR_ARG(self));
    }
    if (e == ERR_OK && a->index_routing.p != NULL && str_find(a->index_routing, ',', 0) != SIZE_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "alias [%.*s] has several index routing values associated with it", STR_ARG(a->name));
    }
    if (e == ERR_OK && (taken != NULL || own)) {
        err_set(em, ERR_INVALID_ALIAS_NAME,
                "Invalid alias name [%.*s], an index exists with the same name as the alias",
                STR_ARG(a->name));
        err_about_index(em, a->name, taken != NULL ? taken->uuid : STR("_na_"));
        return ERR_INVALID_ALIAS_NAME;
    }
    return e == ERR_OK ? check_filter(env, a, index, em) : e;
}

static bool compact(const struct json *v, struct arena *arena, struct str *out)
{
    struct buf b;
    struct jsonw w;
    buf_init(&b, NULL, BUF_UNLIMITED);
    jsonw_init(&w, &b, false);
    jw_value(&w, v);
    *out = b.failed ? STR_NULL : arena_str(arena, buf_view(&b));
    buf_fini(&b);
    return out->p != NULL;
}

static enum err flag(const struct json *body, const char *name, bool lenient, bool *has, bool *value,
                     struct errmsg *em)
{
    const struct json *v = json_get(body, name);
    *has = v != NULL && (lenient ? v->type != JSON_NULL : v->type == JSON_BOOL);
    return *has ? jr_bool(v, value, em) : ERR_OK;
}

/* The member, when it can be routing: a text, or whatever has one. */
static const struct json *routing_of(const struct json *body, const char *name, bool lenient)
{
    const struct json *v = json_get(body, name);
    return v != NULL && (lenient || v->type == JSON_STRING) ? v : NULL;
}

enum err alias_from_json(struct alias_meta *out, const struct json *body, bool lenient, struct arena *arena,
                         struct errmsg *em)
{
    const struct json *filter = json_get(body, "filter"), *routing = routing_of(body, "routing", lenient);
    const struct json *index = routing_of(body, "index_routing", lenient);
    const struct json *search = routing_of(body, "search_routing", lenient);
    if (json_is(filter, JSON_OBJECT) && filter->n > 0 && !compact(filter, arena, &out->filter)) {
        return err_no_memory(em);
    }
    index = index != NULL ? index : routing;
    search = search != NULL ? search : routing;
    out->index_routing = index != NULL ? json_text(index) : STR_NULL;
    out->search_routing = search != NULL ? json_text(search) : STR_NULL;
    enum err e = flag(body, "is_write_index", lenient, &out->has_is_write, &out->is_write, em);
    return e == ERR_OK ? flag(body, "is_hidden", lenient, &out->has_is_hidden, &out->is_hidden, em) : e;
}

void alias_write(const struct alias_meta *a, struct jsonw *w)
{
    jw_obj(w);
    if (a->filter.n > 0) {
        jw_k(w, "filter");
        jw_raw(w, a->filter);
    }
    if (a->index_routing.p != NULL) {
        jw_kstr(w, "index_routing", a->index_routing);
    }
    if (a->search_routing.p != NULL) {
        jw_kstr(w, "search_routing", a->search_routing);
    }
    if (a->has_is_write) {
        jw_kbool(w, "is_write_index", a->is_write);
    }
    if (a->has_is_hidden) {
        jw_kbool(w, "is_hidden", a->is_hidden);
    }
    jw_obj_end(w);
}

static bool same_opt(struct str a, struct str b)
{
    return (a.p == NULL) == (b.p == NULL) && str_eq(a, b);
}

static bool same_alias(const struct alias_meta *a, const struct alias_meta *b)
{
    return str_eq(a->filter, b->filter) && same_opt(a->index_routing, b->index_routing)
           && same_opt(a->search_routing, b->search_routing) && a->has_is_write == b->has_is_write
           && a->is_write == b->is_write && a->has_is_hidden == b->has_is_hidden
           && a->is_hidden == b->is_hidden;
}

static struct str keep(struct arena *a, struct str s, bool *ok)
{
    struct str copy = s.p != NULL ? arena_str(a, s) : s;
    *ok &= s.p == NULL || copy.p != NULL;
    return copy;
}

static bool copy_alias(struct alias_meta *to, const struct alias_meta *from, struct arena *arena)
{
    bool ok = true;
    *to = *from;
    to->name = keep(arena, from->name, &ok);
    to->filter = keep(arena, from->filter, &ok);
    to->index_routing = keep(arena, from->index_routing, &ok);
    to->search_routing = keep(arena, from->search_routing, &ok);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    const struct alias_meta *const *x = a, *const *y = b;
    int c = str_cmp((*x)->name, (*y)->name);
    return c != 0 ? c : *x < *y ? -1 : *x > *y;
}

enum err index_put_aliases(struct index_meta *m, const struct alias_meta *add, size_t n, uint32_t *changed,
                           struct errmsg *em)
{
    struct arena *arena = &m->part.arena;
    const struct alias_meta **sorted = ARENA_ARRAY(arena, const struct alias_meta *, n);
    struct alias_meta *to = ARENA_ARRAY(arena, struct alias_meta, m->n_aliases + n);
    uint32_t at = 0, out = 0;
    *changed = 0;
    if (sorted == NULL || to == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < n; i++) {
        sorted[i] = &add[i];
    }
    sort_items(sorted, n, sizeof(*sorted), by_name);
    for (size_t i = 0; i < n; i++) {
        if (i + 1 < n && str_eq(sorted[i]->name, sorted[i + 1]->name)) {
            continue;
        }
        while (at < m->n_aliases && str_cmp(m->aliases[at].name, sorted[i]->name) < 0) {
            to[out++] = m->aliases[at++];
        }
        bool there = at < m->n_aliases && str_eq(m->aliases[at].name, sorted[i]->name);
        *changed += !there || !same_alias(&m->aliases[at], sorted[i]) ? 1 : 0;
        at += there ? 1 : 0;
        if (!copy_alias(&to[out++], sorted[i], arena)) {
            return err_no_memory(em);
        }
    }
    while (at < m->n_aliases) {
        to[out++] = m->aliases[at++];
    }
    m->aliases = to;
    m->n_aliases = out;
    return ERR_OK;
}

/* ---- rules over several indices ------------------------------------------------------------------------ */

static void add_name(struct buf *b, const struct index_meta *m)
{
    buf_printf(b, "%s%.*s", b->n > 0 ? "," : "", STR_ARG(m->name));
}

static enum err alias_agrees(const struct cluster_state *s, struct str name, struct errmsg *em)
{
    struct buf writers, hidden, shown;
    uint32_t n_writers = 0;
    enum err e = ERR_OK;
    buf_init(&writers, NULL, BUF_UNLIMITED);
    buf_init(&hidden, NULL, BUF_UNLIMITED);
    buf_init(&shown, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < s->n_indices; i++) {
        const struct alias_meta *a = index_alias(s->indices[i], name);
        if (a == NULL) {
            continue;
        }
        if (a->has_is_write && a->is_write) {
            n_writers++;
            add_name(&writers, s->indices[i]);
        }
        add_name(a->has_is_hidden && a->is_hidden ? &hidden : &shown, s->indices[i]);
    }
    if (n_writers > 1) {
        e = err_set(em, ERR_ILLEGAL_STATE, "alias [%.*s] has more than one write index [%.*s]", STR_ARG(name),
                    STR_ARG(buf_view(&writers)));
    } else if (hidden.n > 0 && shown.n > 0) {
        e = err_set(em, ERR_ILLEGAL_STATE,
                    "alias [%.*s] has is_hidden set to true on indices [%.*s] but does not have is_hidden "
                    "set to true on indices [%.*s]; "
                    "alias must have the same is_hidden setting on all indices",
                    STR_ARG(name), STR_ARG(buf_view(&hidden)), STR_ARG(buf_view(&shown)));
    }
    buf_fini(&writers);
    buf_fini(&hidden);
    buf_fini(&shown);
    return e;
}

enum err aliases_agree(const struct cluster_state *s, struct errmsg *em)
{
    enum err e = ERR_OK;
    struct arena scratch;
    struct map seen;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    map_init(&seen, &scratch);
    for (uint32_t i = 0; e == ERR_OK && i < s->n_indices; i++) {
        struct index_meta *m = s->indices[i];
        for (uint32_t a = 0; e == ERR_OK && a < m->n_aliases; a++) {
            if (!map_has(&seen, m->aliases[a].name)) {
                e = map_put(&seen, m->aliases[a].name, m) ? alias_agrees(s, m->aliases[a].name, em)
                                                          : err_no_memory(em);
            }
        }
    }
    arena_fini(&scratch);
    return e;
}

/* ---- META_ALIASES -------------------------------------------------------------------------------------- */

/* What becomes of an alias. */
struct alias_change {
    struct alias_meta to;
    const struct alias_action *gone; /* the action that removed it; NULL: it is `to` */
};

/* The index that actions are about, while they are about the same one: a copy to change, and what is to be changed. */
struct opened {
    struct meta_request *rq;
    struct state_builder *b;
    struct index_meta *m; /* NULL: none; as it was until it is closed */
    uint32_t changes;
    struct map aliases; /* struct alias_change, by name */
};

/* What has that name after the actions before this one; NULL: nothing. */
static const struct alias_meta *alias_now(const struct opened *o, struct str name)
{
    const struct alias_change *c = map_get(&o->aliases, name);
    return c == NULL ? index_alias(o->m, name) : c->gone != NULL ? NULL : &c->to;
}

static bool change_alias(struct opened *o, struct str name, const struct alias_change *to)
{
    struct alias_change *c = ARENA_NEW(&o->rq->arena, struct alias_change);
    if (c != NULL) {
        *c = *to;
    }
    return c != NULL && map_put(&o->aliases, name, c);
}

static enum err put_changes(struct opened *o, struct errmsg *em)
{
    struct index_meta *m = o->m;
    struct alias_meta *added = ARENA_ARRAY(&o->rq->arena, struct alias_meta, o->aliases.n);
    uint32_t left = 0, n = 0, changed;
    if (added == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < m->n_aliases; i++) {
        const struct alias_change *c = map_get(&o->aliases, m->aliases[i].name);
        if (c == NULL || c->gone == NULL) {
            m->aliases[left++] = m->aliases[i];
        }
    }
    m->n_aliases = left;
    for (size_t i = 0; i < o->aliases.n; i++) {
        const struct alias_change *c = o->aliases.entries[i].value;
        if (c->gone == NULL) {
            added[n++] = c->to;
        }
    }
    return index_put_aliases(m, added, n, &changed, em);
}

/* Puts the copy in the index's place, if there was no error and it has changed. Returns the error. */
static enum err close_index(struct opened *o, enum err e, struct errmsg *em)
{
    struct index_meta *m = o->m;
    if (m == NULL) {
        return e;
    }
    e = e == ERR_OK && o->changes > 0 ? put_changes(o, em) : e;
    o->m = NULL;
    if (e != ERR_OK || o->changes == 0) {
        state_part_unref(&m->part);
        return e;
    }
    m->version += o->changes;
    m->aliases_version++;
    o->rq->changed = true;
    return state_put_index(o->b, m) ? ERR_OK : err_no_memory(em);
}

static enum err open_index(struct opened *o, struct str name, struct errmsg *em)
{
    if (o->m != NULL && str_eq(o->m->name, name)) {
        return ERR_OK;
    }
    enum err e = close_index(o, ERR_OK, em);
    if (e != ERR_OK) {
        return e;
    }
    const struct index_meta *m = cluster_index(o->b->next, name);
    if (m == NULL) { /* another action removes it */
        err_set(em, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(name));
        err_about_index(em, name, STR("_na_"));
        return ERR_INDEX_NOT_FOUND;
    }
    o->m = index_meta_copy(m);
    o->changes = 0;
    map_init(&o->aliases, &o->rq->arena);
    return o->m != NULL ? ERR_OK : err_no_memory(em);
}

static enum err required(struct str alias, struct errmsg *em)
{
    return err_set(em, ERR_RESOURCE_NOT_FOUND, "required alias [%.*s] does not exist", STR_ARG(alias));
}

static enum err add(const struct metadata_env *env, const struct alias_action *x, struct opened *o,
                    struct errmsg *em)
{
    enum err e = open_index(o, x->index, em);
    for (uint32_t i = 0; e == ERR_OK && i < x->n_aliases; i++) {
        struct alias_meta a = x->alias;
        a.name = x->aliases[i];
        e = alias_check(env, o->b->next, o->m, &a, em);
        if (e != ERR_OK) {
            return e;
        }
        const struct alias_meta *now = alias_now(o, a.name);
        if (now == NULL && x->must_exist) {
            return required(a.name, em);
        }
        o->changes += now == NULL || !same_alias(now, &a) ? 1 : 0;
        if (!change_alias(o, a.name, &(struct alias_change){.to = a})) {
            return err_no_memory(em);
        }
    }
    return e;
}

/* Do names mean just the aliases that are called so? */
static bool are_plain(const struct str *names, uint32_t n)
{
    bool plain = n > 0;
    for (uint32_t i = 0; i < n && plain; i++) {
        plain = names[i].n > 0 && names[i].p[0] != '-' && str_find(names[i], '*', 0) == SIZE_MAX
                && !str_is(names[i], "_all");
    }
    return plain;
}

static enum err drop_alias(struct opened *o, const struct alias_action *x, struct str name, bool *dropped,
                           struct errmsg *em)
{
    const struct alias_change *c = map_get(&o->aliases, name);
    if (c != NULL && c->gone == x) { /* the action names it twice */
        return ERR_OK;
    }
    if (alias_now(o, name) == NULL) {
        return x->must_exist ? required(name, em) : ERR_OK;
    }
    *dropped = true;
    return change_alias(o, name, &(struct alias_change){.gone = x}) ? ERR_OK : err_no_memory(em);
}

/* Takes away what the index had before the request: what an action before this one added stays, unless it must be there. */
static enum err take_away(const struct cluster_state *cur, const struct alias_action *x, struct opened *o,
                          bool *any, struct errmsg *em)
{
    const struct index_meta *was = cluster_index(cur, x->index);
    bool plain = are_plain(x->aliases, x->n_aliases), dropped = false;
    uint32_t found = 0;
    enum err e = open_index(o, x->index, em);
    for (uint32_t i = 0; e == ERR_OK && i < (plain ? x->n_aliases : was->n_aliases); i++) {
        struct str name = plain ? x->aliases[i] : was->aliases[i].name;
        if (plain ? index_alias(was, name) != NULL : alias_is_named(x->aliases, x->n_aliases, name)) {
            e = drop_alias(o, x, name, &dropped, em);
            found++;
        }
    }
    *any |= found > 0;
    if (e == ERR_OK && found == 0 && x->must_exist) { /* by its first name, whoever added that */
        e = drop_alias(o, x, x->aliases[0], &dropped, em);
    }
    o->changes += dropped ? 1 : 0;
    return e;
}

static enum err none_found(struct meta_request *rq, struct errmsg *em)
{
    struct buf names;
    struct map seen;
    map_init(&seen, &rq->arena);
    for (uint32_t i = 0; i < rq->n_alias_actions; i++) {
        const struct alias_action *x = &rq->alias_actions[i];
        for (uint32_t k = 0; k < x->n_aliases; k++) {
            if (!map_put(&seen, x->aliases[k], rq)) {
                return err_no_memory(em);
            }
        }
    }
    struct str *all = ARENA_ARRAY(&rq->arena, struct str, seen.n);
    if (all == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < seen.n; i++) {
        all[i] = seen.entries[i].key;
    }
    java_set_order(all, (uint32_t)seen.n);
    buf_init(&names, NULL, BUF_UNLIMITED);
    for (size_t i = 0; i < seen.n; i++) {
        buf_printf(&names, "%s%.*s", i > 0 ? ", " : "", STR_ARG(all[i]));
    }
    err_set(em, ERR_ALIASES_NOT_FOUND, "aliases [%.*s] missing", STR_ARG(buf_view(&names)));
    err_about_resource(em, "aliases", buf_view(&names));
    buf_fini(&names);
    return ERR_ALIASES_NOT_FOUND;
}

enum err meta_aliases(const struct metadata_env *env, const struct cluster_state *cur,
                      struct meta_request *rq, struct state_builder *b, struct errmsg *em)
{
    bool any = false;
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_alias_actions; i++) {
        const struct index_meta *m = cluster_index(cur, rq->alias_actions[i].index);
        e = m != NULL ? index_block_check(cur, m, BLOCK_METADATA_WRITE, em)
                      : no_such_index(rq->alias_actions[i].index, em);
    }
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_alias_actions;
         i++) { /* an alias may take a removed index's name */
        const struct alias_action *x = &rq->alias_actions[i];
        if (x->kind == ALIAS_REMOVE_INDEX && (cluster_index(b->next, x->index) != NULL)) {
            e = state_remove_index(b, x->index) ? ERR_OK : no_such_index(x->index, em);
            any = rq->changed = true;
        }
    }
    struct opened o = {.rq = rq, .b = b};
    for (uint32_t i = 0; e == ERR_OK && i < rq->n_alias_actions; i++) {
        const struct alias_action *x = &rq->alias_actions[i];
        if (x->kind == ALIAS_ADD) {
            any = true;
            e = add(env, x, &o, em);
        } else if (x->kind == ALIAS_REMOVE) {
            e = take_away(cur, x, &o, &any, em);
        }
    }
    e = close_index(&o, e, em);
    if (e == ERR_OK && !any && rq->n_alias_actions > 0) {
        return none_found(rq, em);
    }
    return e == ERR_OK && rq->changed ? aliases_agree(b->next, em) : e;
}
