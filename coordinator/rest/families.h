/* families.h - the families of handlers, in the order that their routes are added: each is a file with its `routes_NAME`. */
#ifndef COORDINATOR_REST_FAMILIES_H
#define COORDINATOR_REST_FAMILIES_H

#include "coordinator/rest/rest.h"

#define REST_FAMILIES(X) \
    X(root)              \
    X(license)           \
    X(snapshot)          \
    X(index)             \
    X(mapping)           \
    X(document)          \
    X(update)            \
    X(bulk)              \
    X(search)            \
    X(maintenance)       \
    X(scroll)            \
    X(msearch)           \
    X(pit)               \
    X(field_caps)        \
    X(index_settings)    \
    X(alias)             \
    X(rollover)          \
    X(template)          \
    X(stored_script)     \
    X(ingest)            \
    X(search_template)   \
    X(open_close)        \
    X(cluster_settings)  \
    X(field_mapping)     \
    X(get)               \
    X(mget)              \
    X(explain)           \
    X(term_vectors)      \
    X(search_shards)     \
    X(rank_eval)         \
    X(health)            \
    X(resolve_index)     \
    X(index_stats)       \
    X(cat_indices)       \
    X(cat)               \
    X(nodes)             \
    X(nodes_stats)       \
    X(cluster_stats)     \
    X(cluster_state)     \
    X(reroute)           \
    X(metrics)           \
    X(recovery)          \
    X(hot_threads)       \
    X(dangling)          \
    X(console)           \
    X(cat_nodes)         \
    X(cat_shards)        \
    X(cat_thread_pool)   \
    X(by_query)          \
    X(reindex)           \
    X(tasks)             \
    X(cat_tasks)

#define REST_FAMILY(name)                      \
    extern const struct route routes_##name[]; \
    extern const size_t routes_##name##_n;
REST_FAMILIES(REST_FAMILY)

#endif
