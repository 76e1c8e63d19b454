/* The _cat endpoints about indices and their shards. */
#include "common/base/date.h"
#include "coordinator/rest/broadcast.h"
#include "coordinator/rest/health.h"
#include "coordinator/rest/stats.h"
#include "coordinator/rest/table.h"

#include <stddef.h>
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

enum { SHARDS_DOCS = 4, SHARDS_UNASSIGNED = 10 }; /* places in the table below */
static const struct table_column shards_columns[] = {
    {"index", "i,idx", "index name", false, false},
    {"shard", "s,sh", "shard name", false, false},
    {"prirep", "p,pr,primaryOrReplica", "primary or replica", false, false},
    {"state", "st", "shard state", false, false},
    {"docs", "d,dc", "number of docs in shard", true, false},
    {"store", "sto", "store size of shard (how much disk it uses)", true, false},
    {"ip", NULL, "ip of node where it lives", false, false},
    {"id", NULL, "unique id of node where it lives", false, true},
    {"node", "n", "name of node where it lives", false, false},
    {"sync_id", "sync_id", "sync id", false, true},
    {"unassigned.reason", "ur", "reason shard is unassigned", false, true},
    {"unassigned.at", "ua", "time shard became unassigned (UTC)", false, true},
    {"unassigned.for", "uf", "time has been unassigned", false, true},
    {"unassigned.details", "ud", "additional details as to why the shard became unassigned", false, true},
    {"recoverysource.type", "rs", "recovery source type", false, true},
    {"completion.size", "cs,completionSize", "size of completion", true, true},
    {"fielddata.memory_size", "fm,fielddataMemory", "used fielddata cache", true, true},
    {"fielddata.evictions", "fe,fielddataEvictions", "fielddata evictions", true, true},
    {"query_cache.memory_size", "qcm,queryCacheMemory", "used query cache", true, true},
    {"query_cache.evictions", "qce,queryCacheEvictions", "query cache evictions", true, true},
    {"flush.total", "ft,flushTotal", "number of flushes", true, true},
    {"flush.total_time", "ftt,flushTotalTime", "time spent in flush", true, true},
    {"get.current", "gc,getCurrent", "number of current get ops", true, true},
    {"get.time", "gti,getTime", "time spent in get", true, true},
    {"get.total", "gto,getTotal", "number of get ops", true, true},
    {"get.exists_time", "geti,getExistsTime", "time spent in successful gets", true, true},
    {"get.exists_total", "geto,getExistsTotal", "number of successful gets", true, true},
    {"get.missing_time", "gmti,getMissingTime", "time spent in failed gets", true, true},
    {"get.missing_total", "gmto,getMissingTotal", "number of failed gets", true, true},
    {"indexing.delete_current", "idc,indexingDeleteCurrent", "number of current deletions", true, true},
    {"indexing.delete_time", "idti,indexingDeleteTime", "time spent in deletions", true, true},
    {"indexing.delete_total", "idto,indexingDeleteTotal", "number of delete ops", true, true},
    {"indexing.index_current", "iic,indexingIndexCurrent", "number of current indexing ops", true, true},
    {"indexing.index_time", "iiti,indexingIndexTime", "time spent in indexing", true, true},
    {"indexing.index_total", "iito,indexingIndexTotal", "number of indexing ops", true, true},
    {"indexing.index_failed", "iif,indexingIndexFailed", "number of failed indexing ops", true, true},
    {"merges.current", "mc,mergesCurrent", "number of current merges", true, true},
    {"merges.current_docs", "mcd,mergesCurrentDocs", "number of current merging docs", true, true},
    {"merges.current_size", "mcs,mergesCurrentSize", "size of current merges", true, true},
    {"merges.total", "mt,mergesTotal", "number of completed merge ops", true, true},
    {"merges.total_docs", "mtd,mergesTotalDocs", "docs merged", true, true},
    {"merges.total_size", "mts,mergesTotalSize", "size merged", true, true},
    {"merges.total_time", "mtt,mergesTotalTime", "time spent in merges", true, true},
    {"refresh.total", "rto,refreshTotal", "total refreshes", true, true},
    {"refresh.time", "rti,refreshTime", "time spent in refreshes", true, true},
    {"refresh.external_total", "rto,refreshTotal", "total external refreshes", true, true},
    {"refresh.external_time", "rti,refreshTime", "time spent in external refreshes", true, true},
    {"refresh.listeners", "rli,refreshListeners", "number of pending refresh listeners", true, true},
    {"search.fetch_current", "sfc,searchFetchCurrent", "current fetch phase ops", true, true},
    {"search.fetch_time", "sfti,searchFetchTime", "time spent in fetch phase", true, true},
    {"search.fetch_total", "sfto,searchFetchTotal", "total fetch ops", true, true},
    {"search.open_contexts", "so,searchOpenContexts", "open search contexts", true, true},
    {"search.query_current", "sqc,searchQueryCurrent", "current query phase ops", true, true},
    {"search.query_time", "sqti,searchQueryTime", "time spent in query phase", true, true},
    {"search.query_total", "sqto,searchQueryTotal", "total query phase ops", true, true},
    {"search.scroll_current", "scc,searchScrollCurrent", "open scroll contexts", true, true},
    {"search.scroll_time", "scti,searchScrollTime", "time scroll contexts held open", true, true},
    {"search.scroll_total", "scto,searchScrollTotal", "completed scroll contexts", true, true},
    {"segments.count", "sc,segmentsCount", "number of segments", true, true},
    {"segments.memory", "sm,segmentsMemory", "memory used by segments", true, true},
    {"segments.index_writer_memory", "siwm,segmentsIndexWriterMemory", "memory used by index writer", true,
     true},
    {"segments.version_map_memory", "svmm,segmentsVersionMapMemory", "memory used by version map", true,
     true},
    {"segments.fixed_bitset_memory", "sfbm,fixedBitsetMemory",
     "memory used by fixed bit sets for nested object field types and type filters for types referred in "
     "_parent fields",
     true, true},
    {"seq_no.max", "sqm,maxSeqNo", "max sequence number", true, true},
    {"seq_no.local_checkpoint", "sql,localCheckpoint", "local checkpoint", true, true},
    {"seq_no.global_checkpoint", "sqg,globalCheckpoint", "global checkpoint", true, true},
    {"warmer.current", "wc,warmerCurrent", "current warmer ops", true, true},
    {"warmer.total", "wto,warmerTotal", "total warmer ops", true, true},
    {"warmer.total_time", "wtt,warmerTotalTime", "time spent in warmers", true, true},
    {"path.data", "pd,dataPath", "shard data path", true, true},
    {"path.state", "ps,statsPath", "shard state path", true, true},
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

/* What a hidden column says, by its name without "pri.". */
static const struct {
    const char *name;
    enum cell_kind kind;
    size_t offset; /* of an 8-byte counter in shard_stats; SIZE_MAX: always zero */
    bool nanoseconds;
} counters[] = {
    {"completion.size", CELL_BYTES, offsetof(struct shard_stats, completion_bytes), false},
    {"fielddata.memory_size", CELL_BYTES, SIZE_MAX, false},
    {"fielddata.evictions", CELL_NUMBER, SIZE_MAX, false},
    {"query_cache.memory_size", CELL_BYTES, offsetof(struct shard_stats, filter_bytes), false},
    {"query_cache.evictions", CELL_NUMBER, offsetof(struct shard_stats, filter_evictions), false},
    {"request_cache.memory_size", CELL_BYTES, SIZE_MAX, false},
    {"request_cache.evictions", CELL_NUMBER, SIZE_MAX, false},
    {"request_cache.hit_count", CELL_NUMBER, SIZE_MAX, false},
    {"request_cache.miss_count", CELL_NUMBER, SIZE_MAX, false},
    {"flush.total", CELL_NUMBER, offsetof(struct shard_stats, flush_total), false},
    {"flush.total_time", CELL_MS, offsetof(struct shard_stats, flush_ns), true},
    {"get.current", CELL_NUMBER, SIZE_MAX, false},
    {"get.time", CELL_MS, offsetof(struct shard_stats, get_ns), true},
    {"get.total", CELL_NUMBER, offsetof(struct shard_stats, get_total), false},
    {"get.exists_time", CELL_MS, offsetof(struct shard_stats, get_ns), true},
    {"get.exists_total", CELL_NUMBER, offsetof(struct shard_stats, get_total), false},
    {"get.missing_time", CELL_MS, SIZE_MAX, false},
    {"get.missing_total", CELL_NUMBER, offsetof(struct shard_stats, get_missing), false},
    {"indexing.delete_current", CELL_NUMBER, SIZE_MAX, false},
    {"indexing.delete_time", CELL_MS, offsetof(struct shard_stats, delete_ns), true},
    {"indexing.delete_total", CELL_NUMBER, offsetof(struct shard_stats, delete_total), false},
    {"indexing.index_current", CELL_NUMBER, SIZE_MAX, false},
    {"indexing.index_time", CELL_MS, offsetof(struct shard_stats, index_ns), true},
    {"indexing.index_total", CELL_NUMBER, offsetof(struct shard_stats, index_total), false},
    {"indexing.index_failed", CELL_NUMBER, offsetof(struct shard_stats, index_failed), false},
    {"merges.current", CELL_NUMBER, SIZE_MAX, false},
    {"merges.current_docs", CELL_NUMBER, SIZE_MAX, false},
    {"merges.current_size", CELL_BYTES, SIZE_MAX, false},
    {"merges.total", CELL_NUMBER, offsetof(struct shard_stats, merge_total), false},
    {"merges.total_docs", CELL_NUMBER, offsetof(struct shard_stats, merge_docs), false},
    {"merges.total_size", CELL_BYTES, offsetof(struct shard_stats, merge_bytes), false},
    {"merges.total_time", CELL_MS, offsetof(struct shard_stats, merge_ns), true},
    {"refresh.total", CELL_NUMBER, offsetof(struct shard_stats, refresh_total), false},
    {"refresh.time", CELL_MS, offsetof(struct shard_stats, refresh_ns), true},
    {"refresh.external_total", CELL_NUMBER, offsetof(struct shard_stats, refresh_total), false},
    {"refresh.external_time", CELL_MS, offsetof(struct shard_stats, refresh_ns), true},
    {"refresh.listeners", CELL_NUMBER, SIZE_MAX, false},
    {"search.fetch_current", CELL_NUMBER, SIZE_MAX, false},
    {"search.fetch_time", CELL_MS, offsetof(struct shard_stats, fetch_ns), true},
    {"search.fetch_total", CELL_NUMBER, offsetof(struct shard_stats, fetch_total), false},
    {"search.open_contexts", CELL_NUMBER, offsetof(struct shard_stats, contexts), false},
    {"search.query_current", CELL_NUMBER, offsetof(struct shard_stats, query_current), false},
    {"search.query_time", CELL_MS, offsetof(struct shard_stats, query_ns), true},
    {"search.query_total", CELL_NUMBER, offsetof(struct shard_stats, query_total), false},
    {"search.scroll_current", CELL_NUMBER, SIZE_MAX, false},
    {"search.scroll_time", CELL_MS, SIZE_MAX, false},
    {"search.scroll_total", CELL_NUMBER, offsetof(struct shard_stats, scroll_total), false},
    {"segments.count", CELL_NUMBER, offsetof(struct shard_stats, segments), false},
    {"segments.memory", CELL_BYTES, offsetof(struct shard_stats, segment_memory_bytes), false},
    {"segments.index_writer_memory", CELL_BYTES, offsetof(struct shard_stats, buffer_bytes), false},
    {"segments.version_map_memory", CELL_BYTES, offsetof(struct shard_stats, version_map_bytes), false},
    {"segments.fixed_bitset_memory", CELL_BYTES, SIZE_MAX, false},
    {"seq_no.max", CELL_NUMBER, offsetof(struct shard_stats, max_seq_no), false},
    {"seq_no.local_checkpoint", CELL_NUMBER, offsetof(struct shard_stats, local_checkpoint), false},
    {"seq_no.global_checkpoint", CELL_NUMBER, offsetof(struct shard_stats, global_checkpoint), false},
    {"warmer.current", CELL_NUMBER, SIZE_MAX, false},
    {"warmer.total", CELL_NUMBER, SIZE_MAX, false},
    {"warmer.total_time", CELL_MS, SIZE_MAX, false},
    {"suggest.current", CELL_NUMBER, SIZE_MAX, false},
    {"suggest.time", CELL_MS, SIZE_MAX, false},
    {"suggest.total", CELL_NUMBER, offsetof(struct shard_stats, suggest_total), false},
    {"memory.total", CELL_BYTES, offsetof(struct shard_stats, segment_memory_bytes), false},
};

/* The counter a column shows, or null. */
static void put_counter(struct table *t, const char *column, const struct shard_stats *s)
{
    const char *name = strncmp(column, "pri.", 4) == 0 ? column + 4 : column;
    for (size_t i = 0; s != NULL && i < ARRAY_LEN(counters); i++) {
        if (strcmp(counters[i].name, name) != 0) {
            continue;
        }
        int64_t v = 0;
        if (counters[i].offset != SIZE_MAX) {
            memcpy(&v, (const char *)s + counters[i].offset, sizeof(v));
        }
        if (strcmp(name, "get.exists_total") == 0) {
            v -= (int64_t)s->get_missing;
        }
        v /= counters[i].nanoseconds ? 1000000 : 1;
        if (counters[i].kind == CELL_NUMBER) {
            table_number(t, v);
        } else if (counters[i].kind == CELL_BYTES) {
            table_bytes(t, (uint64_t)v);
        } else {
            table_ms(t, v);
        }
        return;
    }
    table_null(t);
}

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

/* ---- indices ------------------------------------------------------------------------------------------- */

struct indices_rq {
    const struct index_target *t;
    uint32_t n;
    bool has_health, primaries_only;
    enum health health;
};

static bool sum_of(const struct broadcast *bc, struct str index, struct shard_stats *sum)
{
    bool any = false;
    *sum = (struct shard_stats){0};
    for (uint32_t i = 0; i < bc->n; i++) {
        if (bc->acts[i].stats != NULL && str_eq(bc->acts[i].rq.shard.index, index)) {
            stats_add(sum, bc->acts[i].stats);
            any = true;
        }
    }
    return any;
}

static void index_row(struct table *t, const struct index_meta *m, enum health health,
                      const struct shard_stats *s)
{
    table_row(t);
    table_z(t, health_name(health));
    table_z(t, m->closed ? "close" : "open");
    table_str(t, m->name);
    table_str(t, m->uuid);
    table_number(t, m->n_shards);
    table_number(t, m->n_replicas);
    if (s != NULL) {
        table_number(t, (int64_t)s->docs);
        table_number(t, (int64_t)s->docs_deleted);
    } else {
        table_null(t);
        table_null(t);
    }
    table_number(t, m->created_ms);
    table_str(t, text_of_ms(t->r, m->created_ms));
    for (unsigned i = 0; s != NULL && i < 2; i++) {
        table_bytes(t, s->store_bytes);
    }
    for (size_t i = 12; s != NULL && i < ARRAY_LEN(indices_columns); i++) {
        if (strcmp(indices_columns[i].name, "search.throttled") == 0) {
            table_z(t, "false");
        } else {
            put_counter(t, indices_columns[i].name, s);
        }
    }
}

static void indices_done(struct broadcast *bc)
{
    const struct indices_rq *q = bc->user;
    struct table t;
    table_init(&t, bc->r, indices_columns, ARRAY_LEN(indices_columns));
    for (uint32_t i = 0; i < q->n; i++) {
        const struct index_meta *m = q->t[i].meta;
        struct shards_health h = index_health(bc->r->state, m);
        struct shard_stats sum;
        if (q->has_health && h.status != q->health) {
            continue;
        }
        index_row(&t, m, h.status, sum_of(bc, m->name, &sum) ? &sum : NULL);
    }
    broadcast_release(bc);
    table_send(&t);
}

static void cat_indices(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    struct shard_act a = {.action = SHARD_STATS};
    struct indices_rq *q = ARENA_NEW(r->arena, struct indices_rq);
    if (table_help(r, indices_columns, ARRAY_LEN(indices_columns))) {
        return;
    }
    struct str health = rest_param(r, "health");
    rest_accept(r, "include_unloaded_segments");
    o.unblocked = 1U << BLOCK_METADATA_READ;
    enum err e = q != NULL ? rest_index_options(r, &o) : err_no_memory(&r->em);
    e = e == ERR_OK ? rest_bool(r, "pri", false, &q->primaries_only) : e;
    if (e == ERR_OK && health.p != NULL && !health_parse(health, &q->health)) {
        e = err_set(&r->em, ERR_ILLEGAL_ARGUMENT, "unknown cluster health status [%.*s]", STR_ARG(health));
    }
    e = e == ERR_OK ? resolve_indices(r->state, rest_param(r, "index"), &o, clock_wall_ms(r->co->o.clock),
                                      r->arena, &q->t, &q->n, &r->em)
                    : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
        return;
    }
    q->has_health = health.p != NULL;
    if (rest_ready(r)) {
        broadcast_run(r, q->t, q->n, &a, indices_done, q);
    }
}

/* ---- shards -------------------------------------------------------------------------------------------- */

/* From "docs" on: all null but why the shard has no place. */
static void unassigned_cells(struct table *t, const struct shard_down *d)
{
    const struct date_format *f;
    struct buf at;
    buf_init(&at, NULL, 64);
    for (size_t i = SHARDS_DOCS; i < SHARDS_UNASSIGNED; i++) {
        table_null(t);
    }
    table_z(t, "ALLOCATION_FAILED");
    if (date_format_new(&f, STR("strict_date_time"), t->r->arena, NULL) == ERR_OK
        && date_print_ms(f, d->since_ms, NULL, &at)) {
        table_f(t, "%.*s", STR_ARG(buf_view(&at)));
    } else {
        table_null(t);
    }
    buf_fini(&at);
    table_ms(t, clock_wall_ms(t->r->co->o.clock) - d->since_ms);
    table_f(t, "failed shard, tried %u times: %.*s", d->tries, STR_ARG(d->details));
}

static void shard_row(struct table *t, const struct shard_act *a)
{
    const struct shard_stats *s = a->stats;
    const struct rest *r = t->r;
    table_row(t);
    table_str(t, a->rq.shard.index);
    table_number(t, a->rq.shard.shard);
    table_z(t, "p");
    const struct shard_down *down = cluster_shard_down(r->state, a->rq.shard.uuid, a->rq.shard.shard);
    table_z(t, down != NULL ? "UNASSIGNED" : "STARTED");
    if (down != NULL) {
        unassigned_cells(t, down);
    }
    if (s == NULL || down != NULL) {
        return;
    }
    table_number(t, (int64_t)s->docs);
    table_bytes(t, s->store_bytes);
    table_z(t, "127.0.0.1");
    table_str(t, r->co->o.node_id);
    table_str(t, r->co->o.node_name);
    for (size_t i = 9; i < ARRAY_LEN(shards_columns); i++) {
        put_counter(t, shards_columns[i].name, s);
    }
}

static void shards_done(struct broadcast *bc)
{
    struct rest *r = bc->r;
    struct table t;
    table_init(&t, r, shards_columns, ARRAY_LEN(shards_columns));
    for (uint32_t i = 0; i < bc->n; i++) {
        const struct shard_ref *ref = &bc->acts[i].rq.shard;
        const struct index_meta *m = cluster_index(r->state, ref->index);
        shard_row(&t, &bc->acts[i]);
        for (uint32_t k = 0; m != NULL && k < m->n_replicas; k++) {
            table_row(&t);
            table_str(&t, ref->index);
            table_number(&t, ref->shard);
            table_z(&t, "r");
            table_z(&t, "UNASSIGNED");
        }
    }
    broadcast_release(bc);
    table_send(&t);
}

static void cat_shards(struct rest *r)
{
    struct shard_act a = {.action = SHARD_STATS};
    if (!table_help(r, shards_columns, ARRAY_LEN(shards_columns))) {
        broadcast_path(r,
                       &(struct expand_options){false, true, EXPAND_OPEN | EXPAND_CLOSED, false, false,
                                                1U << BLOCK_METADATA_READ},
                       &a, shards_done, NULL);
    }
}

/* ---- aliases ------------------------------------------------------------------------------------------- */

static bool alias_wanted(struct str list, struct str alias)
{
    struct str rest = list;
    while (rest.p != NULL && rest.n > 0) {
        struct str pattern = str_cut(rest, ',', &rest);
        if (str_is(pattern, "_all") || str_glob(pattern, alias)) {
            return true;
        }
    }
    return list.n == 0;
}

static void cat_aliases(struct rest *r)
{
    struct expand_options o = EXPAND_OPTIONS_ADMIN;
    struct table t;
    if (table_help(r, aliases_columns, ARRAY_LEN(aliases_columns))) {
        return;
    }
    struct str wanted = rest_param(r, "alias");
    const struct index_target *ignored;
    uint32_t n;
    o.unblocked = 1U << BLOCK_METADATA_READ;
    if (rest_index_options(r, &o) != ERR_OK
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
            if (!alias_wanted(wanted, a->name)) {
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

/* ---- count --------------------------------------------------------------------------------------------- */

static void count_done(struct broadcast *bc)
{
    struct table t;
    int64_t now = clock_wall_ms(bc->r->co->o.clock) / 1000;
    uint64_t docs = 0;
    for (uint32_t i = 0; i < bc->n; i++) {
        docs += bc->acts[i].stats != NULL ? bc->acts[i].stats->docs : 0;
    }
    broadcast_release(bc);
    table_init(&t, bc->r, count_columns, ARRAY_LEN(count_columns));
    table_row(&t);
    table_number(&t, now);
    table_f(&t, "%02d:%02d:%02d", (int)(now / 3600 % 24), (int)(now / 60 % 60), (int)(now % 60));
    table_number(&t, (int64_t)docs);
    table_send(&t);
}

static void cat_count(struct rest *r)
{
    struct shard_act a = {.action = SHARD_STATS};
    if (!table_help(r, count_columns, ARRAY_LEN(count_columns))) {
        broadcast_path(r, &(struct expand_options){false, true, EXPAND_OPEN, true, false, 1U << BLOCK_READ},
                       &a, count_done, NULL);
    }
}

const struct route routes_cat_indices[] = {
    {M_GET, "/_cat/indices", cat_indices}, {M_GET, "/_cat/indices/{index}", cat_indices},
    {M_GET, "/_cat/shards", cat_shards},   {M_GET, "/_cat/shards/{index}", cat_shards},
    {M_GET, "/_cat/aliases", cat_aliases}, {M_GET, "/_cat/aliases/{alias}", cat_aliases},
    {M_GET, "/_cat/count", cat_count},     {M_GET, "/_cat/count/{index}", cat_count},
};
const size_t routes_cat_indices_n = ARRAY_LEN(routes_cat_indices);
