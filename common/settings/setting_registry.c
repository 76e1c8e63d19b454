#include "common/settings/setting_registry.h"

#include "common/base/java_hash.h"
#include "common/settings/setting_rows.h"

#include <stdio.h>
#include <stdlib.h>

static const struct setting_def index_families[] = {
    {.name = "index.analysis."},
    {.name = "index.similarity."},
    {.name = "index.routing.allocation.include.", .flags = SETTING_DYNAMIC},
    {.name = "index.routing.allocation.exclude.", .flags = SETTING_DYNAMIC},
    {.name = "index.routing.allocation.require.", .flags = SETTING_DYNAMIC},
};

static const struct setting_def cluster_families[] = {
    {.name = "logger.", .kind = SETTING_LOG_LEVEL, .flags = SETTING_DYNAMIC},
    {.name = "cluster.routing.allocation.include.", .flags = SETTING_DYNAMIC},
    {.name = "cluster.routing.allocation.exclude.", .flags = SETTING_DYNAMIC},
    {.name = "cluster.routing.allocation.require.", .flags = SETTING_DYNAMIC},
    {.name = "cluster.routing.allocation.awareness.force.", .flags = SETTING_DYNAMIC},
    {.name = "cluster.metadata.", .flags = SETTING_DYNAMIC},
    {.name = "cluster.remote.", .flags = SETTING_DYNAMIC | SETTING_NO_EFFECT},
    {.name = "search.remote.", .flags = SETTING_DYNAMIC | SETTING_NO_EFFECT},
    {.name = "script.context.", .flags = SETTING_DYNAMIC},
    {.name = "node.attr."},
    {.name = "transport.profiles.", .flags = SETTING_NO_EFFECT},
    {.name = "monitor.jvm.gc.collector.", .flags = SETTING_NO_EFFECT},
};

const struct setting_registry setting_registry_index = {&setting_rows[SETTINGS_OF_CLUSTER],
                                                        SETTINGS_N - SETTINGS_OF_CLUSTER, index_families,
                                                        ARRAY_LEN(index_families)};
const struct setting_registry setting_registry_cluster = {setting_rows, SETTINGS_OF_CLUSTER, cluster_families,
                                                          ARRAY_LEN(cluster_families)};

static int by_name(const void *key, const void *def)
{
    return str_cmp(*(const struct str *)key, str_of(((const struct setting_def *)def)->name));
}

const struct setting_def *setting_def_find(const struct setting_registry *r, struct str key)
{
    const struct setting_def *d = bsearch(&key, r->defs, r->n, sizeof(*d), by_name);
    for (size_t i = 0; d == NULL && i < r->n_families; i++) {
        struct str family = str_of(r->families[i].name);
        if (key.n > family.n && str_starts(key, family)) {
            d = &r->families[i];
        }
    }
    return d;
}

/* ---- names --------------------------------------------------------------------------------------------- */

#define LIKE_MAX 24

struct likeness {
    const char *name[LIKE_MAX];
    float score[LIKE_MAX];
    uint32_t bucket[LIKE_MAX];
    size_t n;
};

/* The closest first, of equal ones as a hash map of all names has them. */
static void add_like(struct likeness *l, const char *name, float score, uint32_t bucket)
{
    size_t at = l->n < LIKE_MAX ? l->n++ : LIKE_MAX;
    for (; at > 0 && (score > l->score[at - 1] || (score == l->score[at - 1] && bucket < l->bucket[at - 1]));
         at--) {
        if (at < LIKE_MAX) {
            l->name[at] = l->name[at - 1];
            l->score[at] = l->score[at - 1];
            l->bucket[at] = l->bucket[at - 1];
        }
    }
    if (at < LIKE_MAX) {
        l->name[at] = name;
        l->score[at] = score;
        l->bucket[at] = bucket;
    }
}

/* The registered names above Elasticsearch's threshold of likeness. */
static void find_like(const struct setting_registry *r, struct str key, struct likeness *l)
{
    uint32_t buckets = java_map_buckets(r->n);
    l->n = 0;
    for (size_t i = 0; key.n <= STR_DISTANCE_MAX && i < r->n; i++) {
        struct str name = str_of(r->defs[i].name);
        if (name.n > STR_DISTANCE_MAX) {
            continue;
        }
        float score = 1.0F - (float)str_distance(key, name) / (float)MAX_OF(key.n, name.n);
        if (score > 0.7F) {
            add_like(l, r->defs[i].name, score, java_map_bucket(name, buckets));
        }
    }
}

enum err setting_unknown(const struct setting_registry *r, struct str key, struct errmsg *em)
{
    struct likeness like;
    char names[ERR_REASON_BYTES];
    size_t n = 0;
    find_like(r, key, &like);
    for (size_t i = 0; i < like.n && n < sizeof(names); i++) {
        n += (size_t)snprintf(names + n, sizeof(names) - n, "%s%s", i > 0 ? ", " : "", like.name[i]);
    }
    if (like.n > 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "unknown setting [%.*s] did you mean %s[%s]?", STR_ARG(key),
                       like.n > 1 ? "any of " : "", names);
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "unknown setting [%.*s] please check that any required plugins are installed, or check "
                   "the breaking changes documentation "
                   "for removed settings",
                   STR_ARG(key));
}

static enum err check_one(const struct setting_registry *r, const struct setting *s, bool change,
                          struct errmsg *em)
{
    const struct setting_def *d = setting_def_find(r, s->key);
    if (d == NULL) {
        return setting_unknown(r, s->key, em);
    }
    if (change && (d->flags & SETTING_PRIVATE) != 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "can not update private setting [%.*s]; this setting is managed by Elasticsearch",
                       STR_ARG(s->key));
    }
    return change ? ERR_OK : setting_check(d, s, em);
}

enum err settings_check(const struct setting_registry *r, const struct settings *s, bool change,
                        struct errmsg *em)
{
    enum err first = ERR_OK;
    for (size_t i = 0; i < s->n; i++) {
        ERR_LOCAL(one);
        if (change && str_find(s->v[i].key, '*', 0) != SIZE_MAX) {
            continue;
        }
        enum err e = check_one(r, &s->v[i], change, &one);
        if (e == ERR_OK) {
            continue;
        }
        if (first != ERR_OK) {
            err_suppress(em, &one);
            if (em == NULL
                || em->suppressed->n == ERR_SUPPRESSED_MAX) { /* what would not be said is not looked for */
                break;
            }
            continue;
        }
        first = e;
        err_copy(em, &one);
    }
    return first;
}

static bool put_default(const struct setting_def *d, const struct settings *of, struct settings *out)
{
    char room[SETTING_ROOM];
    struct str name = str_of(d->name), value = setting_default(d, of, room);
    if (d->kind != SETTING_LIST) {
        return settings_put(out, name, value);
    }
    struct str items[16], rest = value;
    uint32_t n = 0;
    while (value.n > 0 && rest.p != NULL && n < ARRAY_LEN(items)) {
        items[n++] = str_cut(rest, ',', &rest);
    }
    return settings_put_list(out, name, items, n);
}

bool settings_put_defaults(const struct setting_registry *r, const struct settings *given,
                           const struct settings *also, const struct settings *of, struct settings *out)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct setting_def *d = &r->defs[i];
        struct str name = str_of(d->name);
        bool is_set =
            settings_find(given, name) != NULL || (also != NULL && settings_find(also, name) != NULL);
        if (!is_set && (d->flags & SETTING_NO_DEFAULT) == 0 && !put_default(d, of, out)) {
            return false;
        }
    }
    return true;
}

size_t settings_without_effect(const struct setting_registry *r, const struct settings *s, struct buf *names)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct setting_def *d = setting_def_find(r, s->v[i].key);
        if (d != NULL && (d->flags & SETTING_NO_EFFECT) != 0 && !setting_is_default(d, &s->v[i])) {
            buf_printf(names, "%s%.*s", n++ > 0 ? ", " : "", STR_ARG(s->v[i].key));
        }
    }
    return n;
}

/* ---- changes ------------------------------------------------------------------------------------------- */

static bool may_reset(const struct settings_change *c, struct str key)
{
    const struct setting_def *d = setting_def_find(c->registry, key);
    if (d == NULL) {
        return str_starts(key, STR("archived.")); /* what nobody knows any more may always go */
    }
    return (d->flags & SETTING_FINAL) == 0 && (!c->only_dynamic || (d->flags & SETTING_DYNAMIC) != 0);
}

static bool same_value(const struct setting *a, const struct setting *b)
{
    if (a == NULL || a->is_list != b->is_list || a->n != b->n || !str_eq(a->value, b->value)) {
        return false;
    }
    for (uint32_t i = 0; i < a->n; i++) {
        if (!str_eq(a->items[i], b->items[i])) {
            return false;
        }
    }
    return true;
}

static bool put_copy(struct settings *to, const struct setting *s)
{
    return s->is_list ? settings_put_list(to, s->key, s->items, s->n) : settings_put(to, s->key, s->value);
}

static enum err set_one(struct settings_change *c, struct settings *target, const struct setting *s,
                        struct settings *updates, struct errmsg *em)
{
    const struct setting_def *d = setting_def_find(c->registry, s->key);
    if (d == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s setting [%.*s], not recognized", c->what,
                       STR_ARG(s->key));
    }
    bool fit = (d->flags & SETTING_FINAL) == 0 && (!c->only_dynamic || (d->flags & SETTING_DYNAMIC) != 0);
    if (s->is_null || !fit) {
        bool final = (d->flags & SETTING_FINAL) != 0;
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%s%s setting [%.*s], not %s", final ? "final " : "",
                       c->what, STR_ARG(s->key), final ? "updateable" : "dynamically updateable");
    }
    enum err e = setting_check(d, s, em);
    if (e != ERR_OK) {
        return e;
    }
    c->changed |= !same_value(settings_find(target, s->key), s);
    return put_copy(target, s) && (updates == NULL || put_copy(updates, s)) ? ERR_OK : err_no_memory(em);
}

static void reset(struct settings_change *c, struct settings *target, struct str pattern)
{
    for (size_t i = target->n; i-- > 0;) {
        struct str key = target->v[i].key;
        if (str_glob(pattern, key) && may_reset(c, key)) {
            c->changed |= settings_remove(target, key);
        }
    }
}

enum err settings_apply(struct settings_change *c, struct settings *target, const struct settings *given,
                        struct settings *updates, struct errmsg *em)
{
    /* Resets go first, so that one request can reset a group and set one of its settings. */
    for (size_t i = 0; i < given->n; i++) {
        const struct setting *s = &given->v[i];
        if (s->is_null && (may_reset(c, s->key) || str_ends(s->key, STR("*")))) {
            reset(c, target, s->key);
        }
    }
    for (size_t i = 0; i < given->n; i++) {
        const struct setting *s = &given->v[i];
        if (s->is_null && (may_reset(c, s->key) || str_ends(s->key, STR("*")))) {
            continue;
        }
        enum err e = set_one(c, target, s, updates, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}
