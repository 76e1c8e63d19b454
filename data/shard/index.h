/* index.h - one index of this node: its analysis, mapping and settings, for all of its shards here.
 *
 * Counted. Immutable parts are replaced, not changed; `lock` guards the pointers. The applier's strand alone replaces. */
#ifndef DATA_SHARD_INDEX_H
#define DATA_SHARD_INDEX_H

#include "common/cluster/state.h"
#include "data/shard/node.h"
#include "engine/mapping/mapping.h"

/* Slow logs' thresholds of an index. */
enum slow_part { SLOW_QUERY, SLOW_FETCH, SLOW_INDEX, SLOW_PARTS };
#define SLOW_LEVELS 4 /* trace, debug, info, warn */
struct slowlog {
    _Atomic bool on[SLOW_PARTS];
    _Atomic int64_t from_ns[SLOW_PARTS][SLOW_LEVELS]; /* -1: none */
    _Atomic int64_t source_chars;
};

struct index_service {
    _Atomic uint32_t refs;
    pthread_mutex_t lock;
    struct arena arena; /* name, uuid */
    struct str name, uuid;
    struct analysis *analysis;
    struct mapping *mapping;
    struct settings_part *settings; /* names without "index." */
    _Atomic uint64_t mapping_version;
    struct slowlog slow;
    uint64_t version, settings_version, aliases_version; /* of the metadata applied */
    _Atomic int64_t refresh_ms;                          /* -1: never by itself */
    _Atomic int64_t idle_after_ms;                       /* index.search.idle.after */
    _Atomic bool refresh_explicit; /* index.refresh_interval is set: being idle changes nothing */
    _Atomic bool analyzes_long;    /* its analysis may make much of a short text */
    _Atomic bool async; /* index.translog.durability: writes are answered before they are on disk */
    bool closed;
};

enum err index_service_new(struct index_service **out, struct data_service *s, const struct index_meta *m,
                           struct errmsg *em);
struct index_service *index_service_ref(struct index_service *ix);
void index_service_unref(struct index_service *ix); /* NULL ok */
/* References; any thread. */
struct mapping *index_mapping(struct index_service *ix, uint64_t *version);
struct settings_part *index_settings(struct index_service *ix);
struct analysis *index_analysis(struct index_service *ix);

/* Applier: the index as the state has it now. What changed is in *c; ERR: the mapping stays as it was. */
struct index_change {
    bool mapping, settings;
    bool opens; /* it was closed */
};
enum err index_update(struct index_service *ix, struct data_service *s, const struct index_meta *m,
                      struct index_change *c, struct errmsg *em);
/* Applier: analysis with the service's dictionaries as they are now, and the mapping that points into it. */
enum err index_reload(struct index_service *ix, struct data_service *s, struct errmsg *em);

/* slowlog.c; any thread. */
void slowlog_read(struct slowlog *l, const struct settings *s);
void slowlog_search(struct shard *sh, enum slow_part part, int64_t took_ns, const struct shard_query *rq,
                    struct str body, uint32_t n_shards);
void slowlog_index(struct shard *sh, int64_t took_ns, const struct write_item *it, struct str source);

#endif
