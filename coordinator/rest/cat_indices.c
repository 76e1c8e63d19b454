/* The _cat endpoints about indices. */
#include "common/cluster/health.h"
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/cat_counters.h"
#include "coordinator/rest/master_view.h"
#include "coordinator/rest/search.h"
#include "coordinator/rest/stats.h"
#include "coordinator/rest/table.h"

#include <stdio.h>
#include <time.h>

static const struct table_column indices_columns[] = {
    {"health", "h", "current health status", false, false},
    {"status", "s", "open/close status", false, false},
    {"index", "i,idx", "index name", false, false},
    {"uuid", "id,uuid", "index uuid", false, false},
    {"pri", "p,shards.primary,shardsPrimary", "number of primary shards", true, false},
    {"rep", "r,shards.replica,shardsReplica", "number of replica shards", true, false},
    {"docs.count", "dc,docsCount", "available docs", true, false},
    {"docs.deleted", "dd,docsDeleted", "deleted docs", true, false},
    {"creation.date", "cd", "index creation date (millisecond value)", false, true},
    {"creation.date.string", "cds", "index creation date (as string)", false, true},
    {"store.size", "ss,storeSize", "store size of primaries & replicas", true, false},
    {"pri.store.size", NULL, "store size of primaries", true, false},
    CAT_CACHES(CAT_COLUMN_PRI),
    CAT_REQUEST_CACHE(CAT_COLUMN_PRI, ""),
    CAT_OPERATIONS(CAT_COLUMN_PRI),
    CAT_SEARCHES(CAT_COLUMN_PRI),
    CAT_WARMER(CAT_COLUMN_PRI),
    CAT_SUGGEST(CAT_COLUMN_PRI),
    {"memory.total", "tm,memoryTotal", "total used memory", true, true},
    {"pri.memory.total", NULL, "total user memory", true, true},
    {"search.throttled", "sth", "indicates if the index is search throttled", true, true},
};

static const struct table_column aliases_columns[] = {
    {"alias", "a", "alias name", false, false},
    {"index", "i,idx", "index alias points to", false, false},
    {"filter", "f,fi", "filter", false, false},
    {"routing.index", "ri,routingIndex", "index routing", false, false},
    {"routing.search", "rs,routingSearch", "search routing", false, false},
    {"is_write_index", "w,isWriteIndex", "write index", false, false},
};

static const struct table_column count_columns[] = {
    {"epoch", "t,time", "seconds since 1970-01-01 00:00:00", false, false},
    {"timestamp", "ts,hms,hhmmss", "time in HH:MM:SS", false, false},
    {"count", "dc,docs.count,docsCount", "the document count", true, false},
};

static struct str text_of_ms(struct rest *r, int64_t ms)
{
    time_t s = (time_t)(ms / 1000);
    struct tm tm;
    char text[40] = "";
    if (gmtime_r(&s, &tm) != NULL) {
        size_t n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(text + n, sizeof(text) - n, ".%03dZ", (int)(ms % 1000));
    }
    return arena_str(r->arena, str_of(text));
}

/* ---- indices ----------------------------------------------------------------------------------------- */

struct indices_rq {
    const struct index_target *t;
    uint32_t n;
    bool has_health, primaries_only;
    enum health health;
};

/* All copies of an index, or its primaries. */
static bool sum_of(const struct broadcast *bc, struct str index, bool primaries, struct shard_stats *sum)
{
    bool any = false;
    *sum = (struct shard_stats){0};
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL && str_eq(bc->acts[i].rq.shard.index, index)
            && (!primaries || bc->asked[i].primary)) {
            stats_add(sum, bc->acts[i].stats);
            any = true;
        }
    }
    return any;
}

/* all == NULL: nobody has answered. */
static void index_row(struct table *t, const struct index_meta *m, enum health health,
                      const struct shard_stats *all, const struct shard_stats *primaries)
{
    table_row(t);
    table_z(t, health_name(health));
    table_z(t, m->closed ? "close" : "open");
    table_str(t, m->name);
    table_str(t, m->uuid);
    table_number(t, m->n_shards);
    table_number(t, m->n_replicas);
    if (all != NULL) {
        table_number(t, (int64_t)primaries->docs);
        table_number(t, (int64_t)primaries->docs_deleted);
    } else {
        table_null(t);
        table_null(t);
    }
    table_number(t, m->created_ms);
    table_str(t, text_of_ms(t->r, m->created_ms));
    if (all == NULL) {
        return;
    }
    table_bytes(t, all->store_bytes);
    table_bytes(t, primaries->store_bytes);
    for (size_t i = 12; i < ARRAY_LEN(indices_columns); i++) {
        const char *name = indices_columns[i].name;
        if (strcmp(name, "search.throttled") == 0) {
            table_z(t, "false");
        } else {
            cat_put_counter(t, name, strncmp(name, "pri.", 4) == 0 ? primaries : all);
        }
    }
}

static void indices_done(struct broadcast *bc)
{
    const struct indices_rq *q = bc->user;
    struct table t;
    table_init(&t, rest_of(bc->r), indices_columns, ARRAY_LEN(indices_columns));
    for (uint32_t i = 0; i < q->n; i++) {
        const struct index_meta *m = q->t[i].meta;
        struct shards_health h = index_health(bc->r->state, m);
        struct shard_stats all, primaries;
        if (q->has_health && h.status != q->health) {
            continue;
        }
        sum_of(bc, m->name, true, &primaries);
        bool any = sum_of(bc, m->name, q->primaries_only, &all);
        index_row(&t, m, h.status, any ? &all : NULL, &primaries);
    }
    broadcast_fini(bc);
    table_send(&t);
}

static void ask_indices(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    struct shard_act a = {.action = SHARD_STATS};
    struct indices_rq *q = ARENA_NEW(r->arena, struct indices_rq);
    struct str health = rest_param(r, "health");
    o.unblocked = 1U << BLOCK_METADATA_READ;
    enum err e = q != NULL ? rest_index_options(r, &o) : err_no_memory(&r->em);
    e = e == ERR_OK ? rest_check_bool(r, "include_unloaded_segments") : e; /* there are none */
    e = e == ERR_OK ? rest_bool(r, "pri", false, &q->primaries_only) : e;
    e = e == ERR_OK ? resolve_indices(r->state, rest_param(r, "index"), &o, clock_wall_ms(r->co->o.clock),
                                      r->arena, &q->t, &q->n, &r->em)
                    : e;
    if (e == ERR_OK && health.p != NULL && !health_parse(health, &q->health)) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "unknown cluster health status [%.*s]", STR_ARG(health));
    }
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    q->has_health = health.p != NULL;
    if (rest_ready(r)) {
        rest_broadcast(r, q->t, q->n, &a, indices_done, q);
    }
}

static void cat_indices(struct rest *r)
{
    if (!table_help(r, indices_columns, ARRAY_LEN(indices_columns))) {
        rest_with_master_state(r, ask_indices);
    }
}

/* ---- aliases ----------------------------------------------------------------------------------------- */

static void cat_aliases(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    struct table t;
    if (table_help(r, aliases_columns, ARRAY_LEN(aliases_columns))) {
        return;
    }
    const struct str *wanted;
    const struct index_target *ignored;
    uint32_t n, n_wanted;
    o.unblocked = 1U << BLOCK_METADATA_READ;
    if (rest_index_options(r, &o) != ERR_OK || rest_check_bool(r, "local") != ERR_OK
        || rest_list(r, "alias", &wanted, &n_wanted) != ERR_OK
        || resolve_indices(r->state, STR_NULL, &o, clock_wall_ms(r->co->o.clock), r->arena, &ignored, &n,
                           &r->em)
               != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    if (!rest_ready(r)) {
        return;
    }
    table_init(&t, r, aliases_columns, ARRAY_LEN(aliases_columns));
    for (uint32_t i = 0; i < r->state->n_indices; i++) {
        const struct index_meta *m = r->state->indices[i];
        for (uint32_t k = 0; k < m->n_aliases; k++) {
            const struct alias_meta *a = &m->aliases[k];
            if (!alias_is_named(wanted, n_wanted, a->name)) {
                continue;
            }
            table_row(&t);
            table_str(&t, a->name);
            table_str(&t, m->name);
            table_z(&t, a->filter.n > 0 ? "*" : "-");
            table_str(&t, a->index_routing.p != NULL ? a->index_routing : STR("-"));
            table_str(&t, a->search_routing.p != NULL ? a->search_routing : STR("-"));
            table_z(&t, !a->has_is_write ? "-" : a->is_write ? "true" : "false");
        }
    }
    table_send(&t);
}

/* ---- count ------------------------------------------------------------------------------------------- */

static void count_done(struct rest *r, int64_t docs)
{
    struct table t;
    int64_t now = clock_wall_ms(r->co->o.clock) / 1000;
    table_init(&t, r, count_columns, ARRAY_LEN(count_columns));
    table_row(&t);
    table_number(&t, now);
    table_f(&t, "%02d:%02d:%02d", (int)(now / 3600 % 24), (int)(now / 60 % 60), (int)(now % 60));
    table_number(&t, docs);
    table_send(&t);
}

static void cat_count(struct rest *r)
{
    if (!table_help(r, count_columns, ARRAY_LEN(count_columns))) {
        rest_count(r, count_done);
    }
}

const struct route routes_cat_indices[] = {
    {M_GET, "/_cat/indices", cat_indices}, {M_GET, "/_cat/indices/{index}", cat_indices},
    {M_GET, "/_cat/aliases", cat_aliases}, {M_GET, "/_cat/aliases/{alias}", cat_aliases},
    {M_GET, "/_cat/count", cat_count},     {M_GET, "/_cat/count/{index}", cat_count},
};
const size_t routes_cat_indices_n = ARRAY_LEN(routes_cat_indices);
