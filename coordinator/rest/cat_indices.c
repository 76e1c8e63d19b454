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
    {"completion.size", "cs,completionSize", "size of completion", true, true},
    {"pri.completion.size", NULL, "size of completion", true, true},
    {"fielddata.memory_size", "fm,fielddataMemory", "used fielddata cache", true, true},
    {"pri.fielddata.memory_size", NULL, "used fielddata cache", true, true},
    {"fielddata.evictions", "fe,fielddataEvictions", "fielddata evictions", true, true},
    {"pri.fielddata.evictions", NULL, "fielddata evictions", true, true},
    {"query_cache.memory_size", "qcm,queryCacheMemory", "used query cache", true, true},
    {"pri.query_cache.memory_size", NULL, "used query cache", true, true},
    {"query_cache.evictions", "qce,queryCacheEvictions", "query cache evictions", true, true},
    {"pri.query_cache.evictions", NULL, "query cache evictions", true, true},
    {"request_cache.memory_size", "rcm,requestCacheMemory", "used request cache", true, true},
    {"pri.request_cache.memory_size", NULL, "used request cache", true, true},
    {"request_cache.evictions", "rce,requestCacheEvictions", "request cache evictions", true, true},
    {"pri.request_cache.evictions", NULL, "request cache evictions", true, true},
    {"request_cache.hit_count", "rchc,requestCacheHitCount", "request cache hit count", true, true},
    {"pri.request_cache.hit_count", NULL, "request cache hit count", true, true},
    {"request_cache.miss_count", "rcmc,requestCacheMissCount", "request cache miss count", true, true},
    {"pri.request_cache.miss_count", NULL, "request cache miss count", true, true},
    {"flush.total", "ft,flushTotal", "number of flushes", true, true},
    {"pri.flush.total", NULL, "number of flushes", true, true},
    {"flush.total_time", "ftt,flushTotalTime", "time spent in flush", true, true},
    {"pri.flush.total_time", NULL, "time spent in flush", true, true},
    {"get.current", "gc,getCurrent", "number of current get ops", true, true},
    {"pri.get.current", NULL, "number of current get ops", true, true},
    {"get.time", "gti,getTime", "time spent in get", true, true},
    {"pri.get.time", NULL, "time spent in get", true, true},
    {"get.total", "gto,getTotal", "number of get ops", true, true},
    {"pri.get.total", NULL, "number of get ops", true, true},
    {"get.exists_time", "geti,getExistsTime", "time spent in successful gets", true, true},
    {"pri.get.exists_time", NULL, "time spent in successful gets", true, true},
    {"get.exists_total", "geto,getExistsTotal", "number of successful gets", true, true},
    {"pri.get.exists_total", NULL, "number of successful gets", true, true},
    {"get.missing_time", "gmti,getMissingTime", "time spent in failed gets", true, true},
    {"pri.get.missing_time", NULL, "time spent in failed gets", true, true},
    {"get.missing_total", "gmto,getMissingTotal", "number of failed gets", true, true},
    {"pri.get.missing_total", NULL, "number of failed gets", true, true},
    {"indexing.delete_current", "idc,indexingDeleteCurrent", "number of current deletions", true, true},
    {"pri.indexing.delete_current", NULL, "number of current deletions", true, true},
    {"indexing.delete_time", "idti,indexingDeleteTime", "time spent in deletions", true, true},
    {"pri.indexing.delete_time", NULL, "time spent in deletions", true, true},
    {"indexing.delete_total", "idto,indexingDeleteTotal", "number of delete ops", true, true},
    {"pri.indexing.delete_total", NULL, "number of delete ops", true, true},
    {"indexing.index_current", "iic,indexingIndexCurrent", "number of current indexing ops", true, true},
    {"pri.indexing.index_current", NULL, "number of current indexing ops", true, true},
    {"indexing.index_time", "iiti,indexingIndexTime", "time spent in indexing", true, true},
    {"pri.indexing.index_time", NULL, "time spent in indexing", true, true},
    {"indexing.index_total", "iito,indexingIndexTotal", "number of indexing ops", true, true},
    {"pri.indexing.index_total", NULL, "number of indexing ops", true, true},
    {"indexing.index_failed", "iif,indexingIndexFailed", "number of failed indexing ops", true, true},
    {"pri.indexing.index_failed", NULL, "number of failed indexing ops", true, true},
    {"merges.current", "mc,mergesCurrent", "number of current merges", true, true},
    {"pri.merges.current", NULL, "number of current merges", true, true},
    {"merges.current_docs", "mcd,mergesCurrentDocs", "number of current merging docs", true, true},
    {"pri.merges.current_docs", NULL, "number of current merging docs", true, true},
    {"merges.current_size", "mcs,mergesCurrentSize", "size of current merges", true, true},
    {"pri.merges.current_size", NULL, "size of current merges", true, true},
    {"merges.total", "mt,mergesTotal", "number of completed merge ops", true, true},
    {"pri.merges.total", NULL, "number of completed merge ops", true, true},
    {"merges.total_docs", "mtd,mergesTotalDocs", "docs merged", true, true},
    {"pri.merges.total_docs", NULL, "docs merged", true, true},
    {"merges.total_size", "mts,mergesTotalSize", "size merged", true, true},
    {"pri.merges.total_size", NULL, "size merged", true, true},
    {"merges.total_time", "mtt,mergesTotalTime", "time spent in merges", true, true},
    {"pri.merges.total_time", NULL, "time spent in merges", true, true},
    {"refresh.total", "rto,refreshTotal", "total refreshes", true, true},
    {"pri.refresh.total", NULL, "total refreshes", true, true},
    {"refresh.time", "rti,refreshTime", "time spent in refreshes", true, true},
    {"pri.refresh.time", NULL, "time spent in refreshes", true, true},
    {"refresh.external_total", "rto,refreshTotal", "total external refreshes", true, true},
    {"pri.refresh.external_total", NULL, "total external refreshes", true, true},
    {"refresh.external_time", "rti,refreshTime", "time spent in external refreshes", true, true},
    {"pri.refresh.external_time", NULL, "time spent in external refreshes", true, true},
    {"refresh.listeners", "rli,refreshListeners", "number of pending refresh listeners", true, true},
    {"pri.refresh.listeners", NULL, "number of pending refresh listeners", true, true},
    {"search.fetch_current", "sfc,searchFetchCurrent", "current fetch phase ops", true, true},
    {"pri.search.fetch_current", NULL, "current fetch phase ops", true, true},
    {"search.fetch_time", "sfti,searchFetchTime", "time spent in fetch phase", true, true},
    {"pri.search.fetch_time", NULL, "time spent in fetch phase", true, true},
    {"search.fetch_total", "sfto,searchFetchTotal", "total fetch ops", true, true},
    {"pri.search.fetch_total", NULL, "total fetch ops", true, true},
    {"search.open_contexts", "so,searchOpenContexts", "open search contexts", true, true},
    {"pri.search.open_contexts", NULL, "open search contexts", true, true},
    {"search.query_current", "sqc,searchQueryCurrent", "current query phase ops", true, true},
    {"pri.search.query_current", NULL, "current query phase ops", true, true},
    {"search.query_time", "sqti,searchQueryTime", "time spent in query phase", true, true},
    {"pri.search.query_time", NULL, "time spent in query phase", true, true},
    {"search.query_total", "sqto,searchQueryTotal", "total query phase ops", true, true},
    {"pri.search.query_total", NULL, "total query phase ops", true, true},
    {"search.scroll_current", "scc,searchScrollCurrent", "open scroll contexts", true, true},
    {"pri.search.scroll_current", NULL, "open scroll contexts", true, true},
    {"search.scroll_time", "scti,searchScrollTime", "time scroll contexts held open", true, true},
    {"pri.search.scroll_time", NULL, "time scroll contexts held open", true, true},
    {"search.scroll_total", "scto,searchScrollTotal", "completed scroll contexts", true, true},
    {"pri.search.scroll_total", NULL, "completed scroll contexts", true, true},
    {"segments.count", "sc,segmentsCount", "number of segments", true, true},
    {"pri.segments.count", NULL, "number of segments", true, true},
    {"segments.memory", "sm,segmentsMemory", "memory used by segments", true, true},
    {"pri.segments.memory", NULL, "memory used by segments", true, true},
    {"segments.index_writer_memory", "siwm,segmentsIndexWriterMemory", "memory used by index writer", true,
     true},
    {"pri.segments.index_writer_memory", NULL, "memory used by index writer", true, true},
    {"segments.version_map_memory", "svmm,segmentsVersionMapMemory", "memory used by version map", true,
     true},
    {"pri.segments.version_map_memory", NULL, "memory used by version map", true, true},
    {"segments.fixed_bitset_memory", "sfbm,fixedBitsetMemory",
     "memory used by fixed bit sets for nested object field types and type filters for types referred in "
     "_parent fields",
     true, true},
    {"pri.segments.fixed_bitset_memory", NULL,
     "memory used by fixed bit sets for nested object field types and type filters for types referred in "
     "_parent fields",
     true, true},
    {"warmer.current", "wc,warmerCurrent", "current warmer ops", true, true},
    {"pri.warmer.current", NULL, "current warmer ops", true, true},
    {"warmer.total", "wto,warmerTotal", "total warmer ops", true, true},
    {"pri.warmer.total", NULL, "total warmer ops", true, true},
    {"warmer.total_time", "wtt,warmerTotalTime", "time spent in warmers", true, true},
    {"pri.warmer.total_time", NULL, "time spent in warmers", true, true},
    {"suggest.current", "suc,suggestCurrent", "number of current suggest ops", true, true},
    {"pri.suggest.current", NULL, "number of current suggest ops", true, true},
    {"suggest.time", "suti,suggestTime", "time spend in suggest", true, true},
    {"pri.suggest.time", NULL, "time spend in suggest", true, true},
    {"suggest.total", "suto,suggestTotal", "number of suggest ops", true, true},
    {"pri.suggest.total", NULL, "number of suggest ops", true, true},
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
