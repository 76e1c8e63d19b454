/* GET /_resolve/index/{name}: the indices and aliases that an expression names. */
#include "coordinator/rest/rest.h"

#include "common/settings/setting_read.h"

static bool is_wild(struct str s)
{
    return str_find(s, '*', 0) != SIZE_MAX || str_is(s, "_all");
}

/* Does the expression name this by its own name, not by way of an alias or an index? */
static bool names(const struct str *list, uint32_t n, struct str name)
{
    bool in = false;
    for (uint32_t i = 0; i < n; i++) {
        bool minus = i > 0 && list[i].n > 1 && list[i].p[0] == '-';
        struct str p = minus ? str_slice(list[i], 1, list[i].n) : list[i];
        if (str_is(p, "_all") || str_glob(p, name)) {
            in = !minus;
        }
    }
    return in;
}

static void write_index(struct jsonw *w, const struct index_meta *m)
{
    jw_obj(w);
    jw_kstr(w, "name", m->name);
    if (m->n_aliases > 0) {
        jw_karr(w, "aliases");
        for (uint32_t i = 0; i < m->n_aliases; i++) {
            jw_str(w, m->aliases[i].name);
        }
        jw_arr_end(w);
    }
    jw_karr(w, "attributes");
    const bool hidden = setting_bool(&m->settings, SET_INDEX_HIDDEN);
    if (m->closed) { /* in the order of their names */
        jw_z(w, "closed");
    }
    if (hidden) {
        jw_z(w, "hidden");
    }
    if (!m->closed) {
        jw_z(w, "open");
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

/* The smallest alias name above `after` (p == NULL: any); p == NULL: no more. */
static struct str next_alias(const struct cluster_state *s, struct str after)
{
    struct str best = STR_NULL;
    for (uint32_t i = 0; i < s->n_indices; i++) {
        for (uint32_t k = 0; k < s->indices[i]->n_aliases; k++) {
            struct str a = s->indices[i]->aliases[k].name;
            if ((after.p == NULL || str_cmp(a, after) > 0) && (best.p == NULL || str_cmp(a, best) < 0)) {
                best = a;
            }
        }
    }
    return best;
}

static void write_alias(struct jsonw *w, const struct cluster_state *s, struct str name)
{
    jw_obj(w);
    jw_kstr(w, "name", name);
    jw_karr(w, "indices");
    for (uint32_t i = 0; i < s->n_indices; i++) {
        if (index_alias(s->indices[i], name) != NULL) {
            jw_str(w, s->indices[i]->name);
        }
    }
    jw_arr_end(w);
    jw_obj_end(w);
}

static bool is_listed(const struct str *list, uint32_t n, struct str name)
{
    uint32_t i = 0;
    while (i < n && !str_eq(list[i], name)) {
        i++;
    }
    return i < n;
}

/* Whether one of its indices says so: patterns do not mean it then. */
static bool is_hidden_alias(const struct cluster_state *s, struct str name)
{
    for (uint32_t i = 0; i < s->n_indices; i++) {
        const struct alias_meta *a = index_alias(s->indices[i], name);
        if (a != NULL) {
            return a->has_is_hidden && a->is_hidden;
        }
    }
    return false;
}

static void resolve_index(struct rest *r)
{
    struct expand_options o = {true, true, EXPAND_OPEN, false, false, 0};
    const struct str *list;
    const struct index_target *t;
    uint32_t n_list, n;
    struct buf b;
    struct jsonw w;
    enum err e = rest_index_options(r, &o);
    o.allow_no_indices = true; /* nothing is an answer */
    const bool expands = (o.expand & (EXPAND_OPEN | EXPAND_CLOSED)) != 0;
    e = e == ERR_OK ? rest_list(r, "name", &list, &n_list) : e;
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? resolve_indices(r->state, rest_param(r, "name"), &o, clock_wall_ms(r->co->o.clock),
                                      r->arena, &t, &n, &r->em)
                    : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    bool exact = n_list == 1 && !is_wild(list[0]);
    jsonw_start(&w, &b);
    jw_obj(&w);
    jw_karr(&w, "indices");
    for (uint32_t i = 0; i < n; i++) {
        if (names(list, n_list, t[i].meta->name) || (exact && list[0].p[0] == '<')) {
            write_index(&w, t[i].meta);
        }
    }
    jw_arr_end(&w);
    jw_karr(&w, "aliases");
    for (struct str a = next_alias(r->state, STR_NULL); a.p != NULL; a = next_alias(r->state, a)) {
        const bool by_pattern = expands && ((o.expand & EXPAND_HIDDEN) != 0 || !is_hidden_alias(r->state, a));
        if (by_pattern ? names(list, n_list, a) : is_listed(list, n_list, a)) {
            write_alias(&w, r->state, a);
        }
    }
    jw_arr_end(&w);
    jw_karr(&w, "data_streams");
    jw_arr_end(&w);
    jw_obj_end(&w);
    rest_send(r, 200, &b);
}

const struct route routes_resolve_index[] = {
    {M_GET, "/_resolve/index/{name}", resolve_index},
};
const size_t routes_resolve_index_n = ARRAY_LEN(routes_resolve_index);
