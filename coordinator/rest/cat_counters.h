/* cat_counters.h - the counters of shards that several _cat tables have hidden columns for. Any thread. */
#ifndef COORDINATOR_REST_CAT_COUNTERS_H
#define COORDINATOR_REST_CAT_COUNTERS_H

#include "coordinator/rest/table.h"

/* X(name, aliases, about, cell): a column, and what it says: a member of struct shard_stats, or always zero. */
#define CAT_CACHES(X)                                                                                  \
    X("completion.size", "cs,completionSize", "size of completion", BYTES(completion_bytes)),          \
        X("fielddata.memory_size", "fm,fielddataMemory", "used fielddata cache", NO_BYTES),            \
        X("fielddata.evictions", "fe,fielddataEvictions", "fielddata evictions", NO_NUMBER),           \
        X("query_cache.memory_size", "qcm,queryCacheMemory", "used query cache", BYTES(filter_bytes)), \
        X("query_cache.evictions", "qce,queryCacheEvictions", "query cache evictions",                 \
          NUMBER(filter_evictions))
/* `s`: "s" behind the last word where nodes are counted. */
#define CAT_REQUEST_CACHE(X, s)                                                                            \
    X("request_cache.memory_size", "rcm,requestCacheMemory", "used request cache", NO_BYTES),              \
        X("request_cache.evictions", "rce,requestCacheEvictions", "request cache evictions", NO_NUMBER),   \
        X("request_cache.hit_count", "rchc,requestCacheHitCount", "request cache hit count" s, NO_NUMBER), \
        X("request_cache.miss_count", "rcmc,requestCacheMissCount", "request cache miss count" s, NO_NUMBER)
#define CAT_OPERATIONS(X)                                                                                    \
    X("flush.total", "ft,flushTotal", "number of flushes", NUMBER(flush_total)),                             \
        X("flush.total_time", "ftt,flushTotalTime", "time spent in flush", MS(flush_ns)),                    \
        X("get.current", "gc,getCurrent", "number of current get ops", NO_NUMBER),                           \
        X("get.time", "gti,getTime", "time spent in get", MS(get_ns)),                                       \
        X("get.total", "gto,getTotal", "number of get ops", NUMBER(get_total)),                              \
        X("get.exists_time", "geti,getExistsTime", "time spent in successful gets", MS(get_ns)),             \
        X("get.exists_total", "geto,getExistsTotal", "number of successful gets", NUMBER(get_total)),        \
        X("get.missing_time", "gmti,getMissingTime", "time spent in failed gets", NO_MS),                    \
        X("get.missing_total", "gmto,getMissingTotal", "number of failed gets", NUMBER(get_missing)),        \
        X("indexing.delete_current", "idc,indexingDeleteCurrent", "number of current deletions", NO_NUMBER), \
        X("indexing.delete_time", "idti,indexingDeleteTime", "time spent in deletions", MS(delete_ns)),      \
        X("indexing.delete_total", "idto,indexingDeleteTotal", "number of delete ops",                       \
          NUMBER(delete_total)),                                                                             \
        X("indexing.index_current", "iic,indexingIndexCurrent", "number of current indexing ops",            \
          NO_NUMBER),                                                                                        \
        X("indexing.index_time", "iiti,indexingIndexTime", "time spent in indexing", MS(index_ns)),          \
        X("indexing.index_total", "iito,indexingIndexTotal", "number of indexing ops", NUMBER(index_total)), \
        X("indexing.index_failed", "iif,indexingIndexFailed", "number of failed indexing ops",               \
          NUMBER(index_failed)),                                                                             \
        X("merges.current", "mc,mergesCurrent", "number of current merges", NO_NUMBER),                      \
        X("merges.current_docs", "mcd,mergesCurrentDocs", "number of current merging docs", NO_NUMBER),      \
        X("merges.current_size", "mcs,mergesCurrentSize", "size of current merges", NO_BYTES),               \
        X("merges.total", "mt,mergesTotal", "number of completed merge ops", NUMBER(merge_total)),           \
        X("merges.total_docs", "mtd,mergesTotalDocs", "docs merged", NUMBER(merge_docs)),                    \
        X("merges.total_size", "mts,mergesTotalSize", "size merged", BYTES(merge_bytes)),                    \
        X("merges.total_time", "mtt,mergesTotalTime", "time spent in merges", MS(merge_ns)),                 \
        X("refresh.total", "rto,refreshTotal", "total refreshes", NUMBER(refresh_total)),                    \
        X("refresh.time", "rti,refreshTime", "time spent in refreshes", MS(refresh_ns)),                     \
        X("refresh.external_total", "rto,refreshTotal", "total external refreshes", NUMBER(refresh_total)),  \
        X("refresh.external_time", "rti,refreshTime", "time spent in external refreshes", MS(refresh_ns)),   \
        X("refresh.listeners", "rli,refreshListeners", "number of pending refresh listeners", NO_NUMBER)
#define CAT_SEARCHES(X)                                                                                      \
    X("search.fetch_current", "sfc,searchFetchCurrent", "current fetch phase ops", NO_NUMBER),               \
        X("search.fetch_time", "sfti,searchFetchTime", "time spent in fetch phase", MS(fetch_ns)),           \
        X("search.fetch_total", "sfto,searchFetchTotal", "total fetch ops", NUMBER(fetch_total)),            \
        X("search.open_contexts", "so,searchOpenContexts", "open search contexts", NUMBER(contexts)),        \
        X("search.query_current", "sqc,searchQueryCurrent", "current query phase ops",                       \
          NUMBER(query_current)),                                                                            \
        X("search.query_time", "sqti,searchQueryTime", "time spent in query phase", MS(query_ns)),           \
        X("search.query_total", "sqto,searchQueryTotal", "total query phase ops", NUMBER(query_total)),      \
        X("search.scroll_current", "scc,searchScrollCurrent", "open scroll contexts", NO_NUMBER),            \
        X("search.scroll_time", "scti,searchScrollTime", "time scroll contexts held open", NO_MS),           \
        X("search.scroll_total", "scto,searchScrollTotal", "completed scroll contexts",                      \
          NUMBER(scroll_total)),                                                                             \
        X("segments.count", "sc,segmentsCount", "number of segments", NUMBER(segments)),                     \
        X("segments.memory", "sm,segmentsMemory", "memory used by segments", BYTES(segment_memory_bytes)),   \
        X("segments.index_writer_memory", "siwm,segmentsIndexWriterMemory", "memory used by index writer",   \
          BYTES(buffer_bytes)),                                                                              \
        X("segments.version_map_memory", "svmm,segmentsVersionMapMemory", "memory used by version map",      \
          BYTES(version_map_bytes)),                                                                         \
        X("segments.fixed_bitset_memory", "sfbm,fixedBitsetMemory",                                          \
          "memory used by fixed bit sets for nested object field types and type filters for types referred " \
          "in "                                                                                              \
          "_parent fields",                                                                                  \
          NO_BYTES)
#define CAT_WARMER(X)                                                         \
    X("warmer.current", "wc,warmerCurrent", "current warmer ops", NO_NUMBER), \
        X("warmer.total", "wto,warmerTotal", "total warmer ops", NO_NUMBER),  \
        X("warmer.total_time", "wtt,warmerTotalTime", "time spent in warmers", NO_MS)
#define CAT_SUGGEST(X)                                                                      \
    X("suggest.current", "suc,suggestCurrent", "number of current suggest ops", NO_NUMBER), \
        X("suggest.time", "suti,suggestTime", "time spend in suggest", NO_MS),              \
        X("suggest.total", "suto,suggestTotal", "number of suggest ops", NUMBER(suggest_total))

/* The columns of a group, and those of its primaries. */
#define CAT_COLUMN(name, aliases, about, cell) \
    {                                          \
        name, aliases, about, true, true       \
    }
#define CAT_COLUMN_PRI(name, aliases, about, cell) \
    CAT_COLUMN(name, aliases, about, cell), CAT_COLUMN("pri." name, NULL, about, cell)

/* Adds the cell of a column ("get.total"; "pri." in front counts for nothing); null: s is NULL, or there
 * is no such counter. */
void cat_put_counter(struct table *t, const char *column, const struct shard_stats *s);

#endif
