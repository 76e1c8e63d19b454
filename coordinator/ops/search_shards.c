/* The shards of a search, and the boosts of their indices. */
#include "coordinator/ops/search_int.h"

#include "common/base/jsonr.h"
#include "common/base/sort_items.h"
#include "common/settings/setting_read.h"
#include "coordinator/core/ask.h"
#include "coordinator/core/copies.h"

static float index_boost(const struct search_call *c, const struct index_meta *m)
{
    const struct json *b = c->source.indices_boost;
    if (b == NULL) {
        return 1;
    }
    uint32_t n = b->type == JSON_ARRAY ? b->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct json *o = b->type == JSON_ARRAY ? &b->items[i] : b;
        for (uint32_t k = 0; o->type == JSON_OBJECT && k < o->n; k++) {
            struct str name = o->members[k].key;
            if (str_glob(name, m->name) || index_alias(m, name) != NULL) {
                float boost = 1;
                return jr_float(&o->members[k].value, &boost, NULL) == ERR_OK ? boost : 1;
            }
        }
    }
    return 1;
}

enum err search_check_boosts(struct search_call *c)
{
    const struct json *b = c->source.indices_boost;
    uint32_t n = b == NULL ? 0 : b->type == JSON_ARRAY ? b->n : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct json *o = b->type == JSON_ARRAY ? &b->items[i] : b;
        for (uint32_t k = 0; o->type == JSON_OBJECT && k < o->n; k++) {
            const struct index_target *t;
            uint32_t found;
            enum err e = resolve_indices(c->r->state, o->members[k].key, &c->o.indices, c->now_ms, &c->arena,
                                         &t, &found, &c->error);
            if (e != ERR_OK) {
                return e;
            }
        }
    }
    return ERR_OK;
}

/* A routing list picks shards; without one, all are asked. */
static bool search_routed_here(const struct index_meta *m, uint32_t shard, struct str routing)
{
    struct str rest = routing;
    if (routing.n == 0) {
        return true;
    }
    while (rest.p != NULL) {
        struct str one = str_cut(rest, ',', &rest);
        if (m->routing_partition == 1 && shard_of(m, one, one) == shard) {
            return true;
        }
        if (m->routing_partition > 1) { /* one value spreads over a range of shards */
            return true;
        }
    }
    return false;
}

static bool is_listed(struct str list, struct str one)
{
    while (list.p != NULL) {
        if (str_eq(str_cut(list, ',', &list), one)) {
            return true;
        }
    }
    return false;
}

bool search_goes_to(const struct index_target *t, uint32_t shard, struct str routing)
{
    struct str rest = t->search_routing;
    bool any = false;
    if (t->unrouted || rest.p == NULL) {
        return search_routed_here(t->meta, shard, routing);
    }
    if (routing.n == 0) {
        return search_routed_here(t->meta, shard, rest);
    }
    while (rest.p != NULL) { /* what the aliases and the request both say */
        struct str one = str_cut(rest, ',', &rest);
        if (is_listed(routing, one)) {
            any = true;
            if (search_routed_here(t->meta, shard, one)) {
                return true;
            }
        }
    }
    return !any; /* they have nothing in common: then the request is about all shards */
}

struct search_body search_body_of(const struct search_call *c)
{
    return (struct search_body){
        .text = c->o.body, .tree = c->o.tree_apart ? c->o.tree : NULL, .source = &c->source};
}

void search_ask(struct search_call *c, struct shard_query *q, const struct index_meta *m, uint32_t shard)
{
    shard_rq_init(&q->rq, &shard_op_query, search_queried, c);
    q->rq.shard = (struct shard_ref){m->name, m->uuid, shard};
    q->body = search_body_of(c);
    q->scope = (struct search_scope){
        .slot = (uint32_t)(q - c->queries),
        .index_boost = index_boost(c, m),
        .now_ms = c->now_ms,
        .refuse_expensive = !cluster_setting_bool(c->r->state, SET_SEARCH_ALLOW_EXPENSIVE_QUERIES),
        .scroll = c->o.scroll_ms > 0};
    search_part(c, &q->rq);
    q->keep = search_keeps(c);
    q->keep_alive_ms = search_keep_ms(c);
}

static int by_name(const void *a, const void *b)
{
    return str_cmp((*(const struct index_target *const *)a)->meta->name,
                   (*(const struct index_target *const *)b)->meta->name);
}

static void choose_shard(struct search_call *c, const struct index_target *t, uint32_t shard)
{
    if (shard >= t->meta->n_shards || !search_goes_to(t, shard, c->o.routing)
        || !copies_wanted(c->o.preference, shard)) {
        return;
    }
    struct shard_query *q = &c->queries[c->n_shards++];
    search_ask(c, q, t->meta, shard);
    q->scope.alias_filters = t->filters;
    q->scope.n_alias_filters = t->n_filters;
}

/* All shards 0 by the names of their indices, then all shards 1 ...: equal results are reported in this order. */
enum err search_choose_shards(struct search_call *c)
{
    uint32_t all = 0, most = 0;
    for (uint32_t i = 0; i < c->n_targets; i++) {
        all += c->targets[i].meta->n_shards;
        most = MAX_OF(most, c->targets[i].meta->n_shards);
    }
    const struct index_target **targets = ARENA_ARRAY(&c->arena, const struct index_target *, c->n_targets);
    c->queries = ARENA_ARRAY(&c->arena, struct shard_query, all);
    if (c->queries == NULL || targets == NULL) {
        return err_no_memory(&c->error);
    }
    for (uint32_t i = 0; i < c->n_targets; i++) {
        targets[i] = &c->targets[i];
    }
    sort_items(targets, c->n_targets, sizeof(struct index_target *), by_name);
    for (uint32_t s = 0; s < most; s++) {
        for (uint32_t i = 0; i < c->n_targets; i++) {
            choose_shard(c, targets[i], s);
        }
    }
    for (uint32_t k = 0; k < c->n_shards; k++) {
        c->queries[k].scope.asked_shard = k;
        c->queries[k].scope.asked_shards = c->n_shards;
    }
    return ERR_OK;
}

const char *search_first_phase(const struct search_call *c)
{
    bool sorted =
        c->source.n_sort > 0 && (c->source.sort[0].kind == SORT_FIELD || c->source.sort[0].kind == SORT_DOC);
    return c->n_shards <= 1 ? "query" : c->o.dfs ? "dfs" : sorted ? "can_match" : "query";
}

enum err search_check_copies(struct search_call *c)
{
    bool picky = c->o.preference.n > 0 && c->o.preference.p[0] == '_', possible;
    struct ask_where where = {c->r->state, c->o.preference, 0};
    struct buf missing;
    enum err e = ERR_OK;
    if (!picky && c->o.allow_partial) {
        return ERR_OK;
    }
    buf_init(&missing, NULL, KIB);
    for (uint32_t i = 0; e == ERR_OK && i < c->n_shards; i++) {
        const struct shard_ref *shard = &c->queries[i].rq.shard;
        e = ask_possible(c->r->co, &where, shard, &possible, &c->arena, &c->error);
        if (e == ERR_OK && !possible && !missing.failed) {
            buf_printf(&missing, "%s[%.*s][%u]", missing.n > 0 ? ", " : "", STR_ARG(shard->index),
                       shard->shard);
        }
    }
    if (e == ERR_OK && missing.n > 0 && !c->o.allow_partial) {
        c->bare_phase = search_first_phase(c);
        e = err_set(&c->error, ERR_SEARCH_PHASE,
                    "Search rejected due to missing shards [%.*s]. Consider using "
                    "`allow_partial_search_results` setting to bypass this error.",
                    STR_ARG(buf_view(&missing)));
    }
    buf_fini(&missing);
    return e;
}
