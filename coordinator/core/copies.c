#include "coordinator/core/copies.h"

#include "common/base/hash.h"
#include "common/base/num.h"

/* ---- preferences --------------------------------------------------------------------------------------- */

enum prefer { PREFER_ANY, PREFER_NODES, PREFER_ONLY, PREFER_HASH };

struct preference {
    enum prefer kind;
    struct str nodes; /* a list; of PREFER_NODES by id alone */
    struct str hash;
};

#define SHARDS "_shards:"

/* Without the part that names shards. */
static struct str behind_shards(struct str p)
{
    struct str rest;
    if (!str_starts(p, STR(SHARDS))) {
        return p;
    }
    str_cut(p, '|', &rest);
    return rest.p != NULL ? rest : STR("");
}

bool copies_wanted(struct str preference, uint32_t shard)
{
    struct str rest;
    if (!str_starts(preference, STR(SHARDS))) {
        return true;
    }
    struct str list = str_cut(str_slice(preference, sizeof(SHARDS) - 1, preference.n), '|', &rest);
    while (list.p != NULL) {
        int32_t n;
        struct str one = str_cut(list, ',', &list);
        if (num_parse_i32(one, &n) && n >= 0 && (uint32_t)n == shard) {
            return true;
        }
    }
    return false;
}

static enum err read_preference(struct preference *out, const struct copies_how *how, struct errmsg *em)
{
    struct str p = behind_shards(how->preference), value;
    bool after_shards = p.p != how->preference.p;
    *out = (struct preference){.kind = PREFER_ANY};
    if (p.n == 0) {
        return ERR_OK;
    }
    if (p.p[0] != '_' && !after_shards) {
        *out = (struct preference){.kind = PREFER_HASH, .hash = p};
        return ERR_OK;
    }
    struct str name = str_cut(p, ':', &value);
    if (str_is(p, "_local")) {
        *out = (struct preference){.kind = PREFER_NODES, .nodes = how->local_node};
    } else if (str_is(p, "_only_local")) {
        *out = (struct preference){.kind = PREFER_ONLY, .nodes = STR("_local")};
    } else if (str_is(name, "_prefer_nodes") && value.p != NULL) {
        *out = (struct preference){.kind = PREFER_NODES, .nodes = value};
    } else if (str_is(name, "_only_nodes") && value.p != NULL) {
        *out = (struct preference){.kind = PREFER_ONLY, .nodes = value};
    } else {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "no Preference for [%.*s]", STR_ARG(p));
    }
    return ERR_OK;
}

static bool names_id(struct str list, struct str id)
{
    while (list.p != NULL) {
        if (str_eq(str_cut(list, ',', &list), id)) {
            return true;
        }
    }
    return false;
}

/* "data:true", "rack:a*": a role, or an attribute. */
static void apply_pair(const struct node_meta *n, struct str name, struct str value, bool *out)
{
    static const struct {
        const char *name;
        uint32_t role;
    } roles[] = {{"data", ROLE_DATA}, {"master", ROLE_MASTER}};
    for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
        if (str_is(name, roles[i].name)) {
            if ((n->roles & roles[i].role) != 0) {
                *out = str_is(value, "true"); /* "data:false" takes it out again */
            }
            return;
        }
    }
    for (uint32_t i = 0; i < n->n_attrs; i++) {
        if (str_glob(name, n->attrs[i].name) && str_glob(value, n->attrs[i].value)) {
            *out = true;
        }
    }
}

/* As DiscoveryNodes.resolveNodes(): later names add to, or take from, what earlier ones said. */
static bool names_node(struct str list, const struct cluster_state *s, const struct node_meta *n,
                       struct str local)
{
    bool in = false;
    while (list.p != NULL) {
        struct str value, one = str_cut(list, ',', &list);
        if (str_is(one, "_all") || (str_is(one, "_local") && str_eq(n->id, local))
            || (str_is(one, "_master") && str_eq(n->id, s->nodes->master)) || str_eq(one, n->id)
            || str_glob(one, n->name) || str_glob(one, n->host) || str_glob(one, n->transport_address)) {
            in = true;
            continue;
        }
        struct str name = str_cut(one, ':', &value);
        if (value.p != NULL) {
            apply_pair(n, name, value, &in);
        }
    }
    return in;
}

/* ---- order --------------------------------------------------------------------------------------------- */

static uint64_t start_at(const struct preference *p, const struct copies_how *how,
                         const struct index_routing *r, uint32_t shard)
{
    if (p->kind != PREFER_HASH) {
        return how->turn + shard;
    }
    /* Another copy for each shard of the same value, or one node would serve it all. */
    uint32_t value = (uint32_t)hash_routing(p->hash), index = (uint32_t)hash_routing(r->uuid);
    return (uint64_t)value * 31 + index + shard;
}

/* The nodes of the copies that are active, or of those that are coming, in the order of the routing. */
static uint32_t nodes_of(const struct shard_routing *sr, bool active, struct str *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sr->n; i++) {
        const struct shard_copy *c = &sr->copies[i];
        if (active && copy_active(c)) {
            out[n++] = c->node;
        } else if (!active && c->state == COPY_INITIALIZING) {
            out[n++] = c->node;
        } else if (!active && c->state == COPY_RELOCATING) {
            out[n++] = c->target_node;
        }
    }
    return n;
}

static bool chosen(const struct preference *p, const struct cluster_state *s, struct str id,
                   const struct copies_how *how)
{
    if (p->kind == PREFER_NODES) {
        return names_id(p->nodes, id);
    }
    const struct node_meta *n = cluster_node(s, id);
    return n != NULL && names_node(p->nodes, s, n, how->local_node);
}

/* Turns the list so that it begins at `start`, then puts those that are chosen before the others, or
 * instead of them. */
static uint32_t arrange(struct str *v, uint32_t n, uint64_t start, const struct preference *p,
                        const struct cluster_state *s, const struct copies_how *how, struct str *scratch)
{
    uint32_t kept = 0, others = 0;
    if (n == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < n; i++) {
        scratch[i] = v[(start + i) % n];
    }
    bool all = p->kind == PREFER_ANY || p->kind == PREFER_HASH;
    for (uint32_t i = 0; i < n; i++) {
        if (all || chosen(p, s, scratch[i], how)) {
            v[kept++] = scratch[i];
        } else {
            scratch[others++] = scratch[i];
        }
    }
    for (uint32_t i = 0; p->kind == PREFER_NODES && i < others; i++) {
        v[kept++] = scratch[i];
    }
    return kept;
}

enum err copies_in_order(struct copies *out, const struct cluster_state *s, const struct index_routing *r,
                         uint32_t shard, const struct copies_how *how, struct arena *arena, struct errmsg *em)
{
    struct preference p;
    *out = (struct copies){.n = 0};
    enum err e = read_preference(&p, how, em);
    if (e != ERR_OK || shard >= r->n) {
        return e;
    }
    const struct shard_routing *sr = &r->shards[shard];
    out->nodes = ARENA_ARRAY(arena, struct str, 2 * (size_t)sr->n);
    struct str *scratch = ARENA_ARRAY(arena, struct str, sr->n);
    if (out->nodes == NULL || scratch == NULL) {
        return err_no_memory(em);
    }
    uint32_t n = nodes_of(sr, true, out->nodes);
    out->n_active = arrange(out->nodes, n, start_at(&p, how, r, shard), &p, s, how, scratch);
    n = nodes_of(sr, false, out->nodes + out->n_active);
    if (p.kind != PREFER_ONLY) {
        p.kind = PREFER_ANY; /* those that may not be there yet come last, whoever they are */
    }
    out->n = out->n_active + arrange(out->nodes + out->n_active, n, 0, &p, s, how, scratch);
    if (out->n == 0 && p.kind == PREFER_ONLY && !str_is(p.nodes, "_local")) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "no data nodes with %s [%.*s] found for shard: [%.*s][%u]",
                       str_find(p.nodes, ',', 0) == SIZE_MAX ? "criteria" : "criterion", STR_ARG(p.nodes),
                       STR_ARG(r->name), shard);
    }
    return ERR_OK;
}

struct str copies_primary(const struct index_routing *r, uint32_t shard)
{
    const struct shard_copy *c = shard < r->n && r->shards[shard].n > 0 ? &r->shards[shard].copies[0] : NULL;
    return c != NULL && c->primary && copy_active(c) ? c->node : STR_NULL;
}
