/* The resolution of index expressions: lists, wildcards, exclusions, aliases, date math. */
#include "coordinator/core/resolve.h"
#include "common/base/date.h"
#include "common/base/date_math.h"
#include "common/settings/setting_read.h"

struct resolve {
    const struct cluster_state *s;
    const struct expand_options *o;
    int64_t now_ms;
    struct arena *arena;
    struct errmsg *em;
    struct index_target *v;          /* parallel to s->indices; meta == NULL: not in */
    bool *whole;                     /* named by itself: alias filters do not apply */
    bool *found;                     /* by a wildcard */
    const struct index_meta *closed; /* one that is named, and must be open */
};

static enum err no_index(struct str name, const char *resource, struct errmsg *em)
{
    err_set(em, ERR_INDEX_NOT_FOUND, "no such index [%.*s]", STR_ARG(name));
    err_about_index(em, name, STR("_na_"));
    err_about_resource(em, resource, name);
    return ERR_INDEX_NOT_FOUND;
}

enum err index_expression_missing(struct str name, struct errmsg *em)
{
    bool all = str_is(name, "_all"); /* where one index is wanted, it stands for none */
    err_set(em, ERR_INDEX_NOT_FOUND, "no such index [%.*s]%s", STR_ARG(name),
            all ? " and no indices exist" : "");
    err_about_index(em, name, STR("_na_"));
    err_about_resource(em, "index_expression", name);
    return ERR_INDEX_NOT_FOUND;
}

static enum err bad_underscore(struct str name, struct errmsg *em)
{
    err_set(em, ERR_INVALID_INDEX_NAME, "Invalid index name [%.*s], must not start with '_'.", STR_ARG(name));
    err_about_index(em, name, STR("_na_"));
    return ERR_INVALID_INDEX_NAME;
}

enum err expand_parse(struct str text, unsigned *expand, struct errmsg *em)
{
    struct str rest = text;
    while (rest.p != NULL) {
        struct str one = str_trim(str_cut(rest, ',', &rest));
        if (str_is(one, "open")) {
            *expand |= EXPAND_OPEN;
        } else if (str_is(one, "closed")) {
            *expand |= EXPAND_CLOSED;
        } else if (str_is(one, "hidden")) {
            *expand |= EXPAND_HIDDEN;
        } else if (str_is(one, "all")) {
            *expand |= EXPAND_OPEN | EXPAND_CLOSED | EXPAND_HIDDEN;
        } else if (str_is(one, "none")) {
            *expand = 0;
        } else {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "No valid expand wildcard value [%.*s]", STR_ARG(one));
        }
    }
    return ERR_OK;
}

/* Date math evaluated at now, printed by `format` in `zone_name`. */
static enum err print_math(struct resolve *x, struct str math, struct str format, struct str zone_name,
                           struct buf *out)
{
    const struct date_format *f, *standard;
    const struct zone *zone = NULL;
    struct instant t;
    enum err e = date_format_new(&f, format, x->arena, x->em);
    e = e == ERR_OK ? date_format_new(&standard, STR(DATE_FORMAT_DEFAULT), x->arena, x->em) : e;
    if (e == ERR_OK && zone_name.n > 0) {
        e = zone_of(&zone, zone_name, x->arena, x->em);
    }
    e = e == ERR_OK ? date_math(standard, math, x->now_ms, zone, DATE_FILL_MIN, &t, x->em) : e;
    if (e == ERR_OK && !date_print(f, t, zone, out)) {
        e = err_set(x->em, ERR_ILLEGAL_ARGUMENT, "date format [%.*s] cannot be printed", STR_ARG(format));
    }
    return e;
}

/* "<logs-{now/d{yyyy.MM.dd|+08:00}}>" into its name. */
static enum err date_math_name(struct resolve *x, struct str text, struct str *out)
{
    struct buf b;
    struct str in = str_slice(text, 1, text.n - 1);
    enum err e = ERR_OK;
    buf_init(&b, NULL, KIB);
    for (size_t at = 0; e == ERR_OK && at < in.n;) {
        if (in.p[at] != '{') {
            buf_char(&b, in.p[at++]);
            continue;
        }
        size_t depth = 0, end = at;
        do {
            depth += in.p[end] == '{';
            depth -= in.p[end] == '}';
            end++;
        } while (depth > 0 && end < in.n);
        if (depth > 0) {
            e = err_set(x->em, ERR_PARSE,
                        "invalid dynamic name expression [%.*s]. date math placeholder is open ended",
                        STR_ARG(in));
            break;
        }
        struct str inner = str_slice(in, at + 1, end - 1);
        size_t brace = str_find(inner, '{', 0);
        struct str math = str_slice(inner, 0, brace), format = STR("yyyy.MM.dd"), zone_name = STR_NULL;
        if (brace != SIZE_MAX) {
            format = str_cut(str_slice(inner, brace + 1, inner.n - 1), '|', &zone_name);
        }
        e = print_math(x, math, format, zone_name, &b);
        at = end;
    }
    *out = arena_str(x->arena, buf_view(&b));
    e = e == ERR_OK && (out->p == NULL || b.failed) ? err_no_memory(x->em) : e;
    buf_fini(&b);
    return e;
}

static bool is_hidden(const struct index_meta *m)
{
    return setting_bool(&m->settings, SET_INDEX_HIDDEN);
}

/* Adds an index: by itself (alias == NULL) or through an alias. An index found by a wildcard has no routing. */
static enum err resolve_add(struct resolve *x, uint32_t at, const struct alias_meta *alias, bool found)
{
    struct index_target *t = &x->v[at];
    t->meta = x->s->indices[at];
    x->found[at] |= found;
    if (alias == NULL || alias->filter.n == 0) {
        x->whole[at] = true;
    } else {
        struct str *more = ARENA_ARRAY(x->arena, struct str, (size_t)t->n_filters + 1);
        if (more == NULL) {
            return err_no_memory(x->em);
        }
        if (t->n_filters > 0) {
            memcpy(more, t->filters, t->n_filters * sizeof(*more));
        }
        more[t->n_filters++] = alias->filter;
        t->filters = more;
    }
    if (alias == NULL || found || alias->search_routing.p == NULL) {
        t->unrouted = true;
    } else {
        t->search_routing = t->search_routing.p == NULL
                                ? alias->search_routing
                                : arena_printf(x->arena, "%.*s,%.*s", STR_ARG(t->search_routing),
                                               STR_ARG(alias->search_routing));
    }
    return ERR_OK;
}

static void resolve_drop(struct resolve *x, uint32_t at)
{
    x->v[at] = (struct index_target){0};
    x->whole[at] = x->found[at] = false;
}

static bool expands_to(const struct resolve *x, const struct index_meta *m, struct str pattern)
{
    unsigned state = m->closed ? EXPAND_CLOSED : EXPAND_OPEN;
    bool hidden = is_hidden(m) && !(pattern.n > 0 && pattern.p[0] == '.' && m->name.p[0] == '.');
    return (x->o->expand & state) != 0 && (!hidden || (x->o->expand & EXPAND_HIDDEN) != 0);
}

/* A wildcard, or an exclusion when `minus`. *matched tells whether anything did. */
static enum err wildcard(struct resolve *x, struct str pattern, bool minus, bool *matched)
{
    *matched = false;
    for (uint32_t i = 0; i < x->s->n_indices; i++) {
        const struct index_meta *m = x->s->indices[i];
        if (str_glob(pattern, m->name)) {
            *matched = true;
            if (minus) {
                resolve_drop(x, i);
            } else if (expands_to(x, m, pattern)) {
                enum err e = resolve_add(x, i, NULL, true);
                if (e != ERR_OK) {
                    return e;
                }
            }
            continue;
        }
        for (uint32_t a = 0; !x->o->no_aliases && a < m->n_aliases; a++) {
            if (!str_glob(pattern, m->aliases[a].name)) {
                continue;
            }
            *matched = true;
            if (minus) {
                resolve_drop(x, i);
            } else if (expands_to(x, m, pattern)
                       && ((x->o->expand & EXPAND_HIDDEN) != 0
                           || !(m->aliases[a].has_is_hidden && m->aliases[a].is_hidden))) {
                enum err e = resolve_add(x, i, &m->aliases[a], true);
                if (e != ERR_OK) {
                    return e;
                }
            }
        }
    }
    return ERR_OK;
}

static enum err resolve_closed(const struct index_meta *m, struct errmsg *em)
{
    err_set(em, ERR_INDEX_CLOSED, "closed");
    err_about_index(em, m->name, m->uuid);
    return ERR_INDEX_CLOSED;
}

static enum err exact(struct resolve *x, struct str name, bool *found)
{
    *found = false;
    for (uint32_t i = 0; i < x->s->n_indices; i++) {
        const struct index_meta *m = x->s->indices[i];
        const struct alias_meta *alias = str_eq(m->name, name) ? NULL : index_alias(m, name);
        if (alias == NULL && !str_eq(m->name, name)) {
            continue;
        }
        if (alias != NULL && x->o->no_aliases && x->o->ignore_unavailable) {
            *found = true;
            continue;
        }
        if (alias != NULL && x->o->no_aliases) {
            return err_set(x->em, ERR_ILLEGAL_ARGUMENT,
                           "The provided expression [%.*s] matches an alias, specify the corresponding "
                           "concrete indices instead.",
                           STR_ARG(name));
        }
        *found = true;
        if (m->closed && x->o->forbid_closed) {
            if (x->o->ignore_unavailable) {
                continue;
            }
            x->closed = x->closed != NULL ? x->closed : m; /* missing indices are reported first */
        }
        enum err e = resolve_add(x, i, alias, false);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

/* Where wildcards expand to nothing, a name that nothing has is left out or refused by itself. */
static enum err unexpanded(struct resolve *x, struct str name, bool alone)
{
    bool found, taken = alone ? x->o->allow_no_indices : x->o->ignore_unavailable;
    enum err e = exact(x, name, &found);
    return e == ERR_OK && !found && !taken ? no_index(name, "index_expression", x->em) : e;
}

/* A name takes away what stands there by that name: a wildcard finds indices, an alias's name is none of theirs. */
static enum err exclude(struct resolve *x, struct str name)
{
    for (uint32_t i = 0; i < x->s->n_indices; i++) {
        const struct index_meta *m = x->s->indices[i];
        if (str_eq(m->name, name) || (!x->found[i] && index_alias(m, name) != NULL)) {
            resolve_drop(x, i);
        }
    }
    return ERR_OK;
}

static enum err one_part(struct resolve *x, struct str part, bool *seen_wildcard, bool alone)
{
    bool found;
    struct str name = part;
    enum err e = ERR_OK;
    if (part.n > 2 && part.p[0] == '<' && part.p[part.n - 1] == '>') {
        e = date_math_name(x, part, &name);
        if (e != ERR_OK) {
            return e;
        }
    }
    if ((x->o->expand & (EXPAND_OPEN | EXPAND_CLOSED)) == 0) {
        return unexpanded(x, name, alone);
    }
    bool minus = name.n > 1 && name.p[0] == '-' && *seen_wildcard;
    if (minus) {
        name = str_slice(name, 1, name.n);
        return str_find(name, '*', 0) != SIZE_MAX ? wildcard(x, name, true, &found) : exclude(x, name);
    }
    bool is_pattern = str_find(name, '*', 0) != SIZE_MAX;
    if (is_pattern) {
        *seen_wildcard = true;
        e = wildcard(x, name, false, &found);
        if (e == ERR_OK && !found && !x->o->allow_no_indices) {
            return no_index(part, "index_or_alias", x->em);
        }
        return e;
    }
    if (name.p[0] == '_') {
        return bad_underscore(name, x->em);
    }
    e = exact(x, name, &found);
    if (e == ERR_OK && !found && !x->o->ignore_unavailable) {
        return no_index(name, "index_or_alias", x->em);
    }
    return e;
}

/* Nothing is left of an expression, and something has to be. */
static enum err none_left(const struct resolve *x, struct str expression)
{
    const bool pattern = str_find(expression, '*', 0) != SIZE_MAX;
    struct buf names;
    if (!pattern && str_find(expression, ',', 0) == SIZE_MAX) {
        return no_index(expression, "index_expression", x->em);
    }
    buf_init(&names, NULL, BUF_UNLIMITED);
    for (struct str rest = expression; rest.p != NULL;) {
        struct str name = str_cut(rest, ',', &rest);
        buf_printf(&names, "%s%.*s", names.n > 0 ? ", " : "", STR_ARG(name));
    }
    err_set(x->em, ERR_INDEX_NOT_FOUND, "no such index [null]");
    err_about_resource(x->em, pattern ? "index_or_alias" : "index_expression", buf_view(&names));
    buf_fini(&names);
    return ERR_INDEX_NOT_FOUND;
}

static enum err resolve_gather(struct resolve *x, struct str expression, const struct index_target **out,
                               uint32_t *n)
{
    uint32_t used = 0;
    if (x->closed != NULL) {
        return resolve_closed(x->closed, x->em);
    }
    for (uint32_t i = 0; i < x->s->n_indices; i++) {
        if (x->v[i].meta == NULL) {
            continue;
        }
        if (x->v[i].meta->closed && x->o->forbid_closed && !x->o->ignore_unavailable) {
            return resolve_closed(x->v[i].meta, x->em);
        }
        if (x->v[i].meta->closed && x->o->forbid_closed) {
            continue;
        }
        x->v[used] = x->v[i];
        if (x->whole[i]) {
            x->v[used].n_filters = 0;
        }
        used++;
    }
    if (used == 0 && !x->o->allow_no_indices) {
        return none_left(x, expression);
    }
    *out = x->v;
    *n = used;
    return ERR_OK;
}

static enum err check_blocks(const struct resolve *x, const struct index_target *t, uint32_t n)
{
    const struct index_meta **v = ARENA_ARRAY(x->arena, const struct index_meta *, n);
    enum err e = v != NULL ? ERR_OK : err_no_memory(x->em);
    for (uint32_t i = 0; v != NULL && i < n; i++) {
        v[i] = t[i].meta;
    }
    for (unsigned level = 0; e == ERR_OK && level <= BLOCK_METADATA_WRITE; level++) {
        if ((x->o->unblocked & 1U << level) != 0) {
            e = n > 0 ? indices_block_check(x->s, v, n, (enum block_level)level, x->em)
                      : cluster_block_check(x->s, (enum block_level)level, x->em);
        }
    }
    return e;
}

static bool has_names(struct str list)
{
    size_t i = 0;
    while (i < list.n && list.p[i] == ',') {
        i++;
    }
    return i < list.n;
}

enum err resolve_indices(const struct cluster_state *s, struct str expression, const struct expand_options *o,
                         int64_t now_ms, struct arena *arena, const struct index_target **out, uint32_t *n,
                         struct errmsg *em)
{
    struct resolve x = {.s = s, .o = o, .now_ms = now_ms, .arena = arena, .em = em};
    if (state_recovered_check(s, em) != ERR_OK) {
        return ERR_CLUSTER_BLOCK;
    }
    x.v = ARENA_ARRAY(arena, struct index_target, s->n_indices);
    x.whole = ARENA_ARRAY(arena, bool, s->n_indices);
    x.found = ARENA_ARRAY(arena, bool, s->n_indices);
    if (x.v == NULL || x.whole == NULL || x.found == NULL) {
        return err_no_memory(em);
    }
    bool all = expression.n == 0 || str_is(expression, "_all") || str_is(expression, "*");
    bool seen_wildcard = false;
    enum err e = ERR_OK;
    struct str rest = all ? STR("*") : expression;
    bool alone = str_find(expression, ',', 0) == SIZE_MAX;
    all = all && (o->expand & (EXPAND_OPEN | EXPAND_CLOSED)) == 0;
    if (all) { /* nothing is all that there is */
        return resolve_gather(&x, expression, out, n);
    }
    while (e == ERR_OK && rest.p != NULL) {
        struct str part = str_cut(rest, ',', &rest);
        if (part.n > 0) {
            e = one_part(&x, part, &seen_wildcard, alone);
        } else if (has_names(rest)) { /* commas at the end are no names */
            const bool expands = (o->expand & (EXPAND_OPEN | EXPAND_CLOSED)) != 0;
            e = expands ? no_index(part, "index_or_alias", em) : unexpanded(&x, part, alone);
        }
    }
    e = e == ERR_OK ? resolve_gather(&x, expression, out, n) : e;
    return e == ERR_OK && o->unblocked != 0 ? check_blocks(&x, *out, *n) : e;
}

enum err resolve_date_math(struct str name, int64_t now_ms, struct arena *arena, struct str *out,
                           struct errmsg *em)
{
    struct resolve x = {.now_ms = now_ms, .arena = arena, .em = em};
    *out = name;
    return name.n > 2 && name.p[0] == '<' && name.p[name.n - 1] == '>' ? date_math_name(&x, name, out)
                                                                       : ERR_OK;
}

enum err resolve_write(const struct cluster_state *s, struct str name, int64_t now_ms, struct arena *arena,
                       const struct index_meta **out, const struct alias_meta **alias, struct str *concrete,
                       struct errmsg *em)
{
    *out = NULL;
    *alias = NULL;
    *concrete = name;
    enum err e = resolve_date_math(name, now_ms, arena, concrete, em);
    if (e != ERR_OK) {
        return e;
    }
    name = *concrete;
    *out = cluster_index(s, name);
    if (*out != NULL) {
        return (*out)->closed ? resolve_closed(*out, em) : ERR_OK;
    }
    uint32_t n = 0;
    const struct index_meta *only = NULL;
    for (uint32_t i = 0; i < s->n_indices; i++) {
        const struct alias_meta *a = index_alias(s->indices[i], name);
        if (a == NULL) {
            continue;
        }
        n++;
        only = s->indices[i];
        if (a->has_is_write && a->is_write) {
            *out = s->indices[i];
            *alias = a;
        } else if (*alias == NULL && !(a->has_is_write && !a->is_write)) {
            *alias = NULL;
        }
    }
    if (n == 0) {
        return ERR_OK;
    }
    if (*out == NULL && n == 1) {
        const struct alias_meta *a = index_alias(only, name);
        if (!(a->has_is_write && !a->is_write)) {
            *out = only;
            *alias = a;
        }
    }
    if (*out == NULL) {
        return err_set(
            em, ERR_ILLEGAL_ARGUMENT,
            "no write index is defined for alias [%.*s]. The write index may be explicitly disabled using "
            "is_write_index=false "
            "or the alias points to multiple indices without one being designated as a write index",
            STR_ARG(name));
    }
    *concrete = (*out)->name;
    return (*out)->closed ? resolve_closed(*out, em) : ERR_OK;
}

static enum err several_indices(struct str name, const struct index_target *t, uint32_t n, struct errmsg *em)
{
    struct buf b;
    buf_init(&b, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(&b, "%s%.*s", i > 0 ? ", " : "", STR_ARG(t[i].meta->name));
    }
    err_set(em, ERR_ILLEGAL_ARGUMENT,
            "alias [%.*s] has more than one index associated with it [%.*s], can't execute a single index op",
            STR_ARG(name), STR_ARG(buf_view(&b)));
    buf_fini(&b);
    return ERR_ILLEGAL_ARGUMENT;
}

enum err resolve_single(const struct cluster_state *s, struct str name, const struct expand_options *o,
                        int64_t now_ms, struct arena *arena, const struct index_target **out,
                        struct errmsg *em)
{
    uint32_t n = 0;
    if (state_recovered_check(s, em) != ERR_OK) {
        return ERR_CLUSTER_BLOCK;
    }
    const bool one = str_find(name, ',', 0) == SIZE_MAX && str_find(name, '*', 0) == SIZE_MAX
                     && !str_starts(name, STR("_"));
    enum err e = one ? resolve_indices(s, name, o, now_ms, arena, out, &n, em) : ERR_INDEX_NOT_FOUND;
    if (e == ERR_INDEX_NOT_FOUND || (e == ERR_OK && n == 0)) {
        return index_expression_missing(name, em);
    }
    return e == ERR_OK && n > 1 ? several_indices(name, *out, n, em) : e;
}
