/* Which handlers there are (service.h). */
#include "coordinator/rest/service_int.h"

#include "coordinator/rest/nodes_stats.h"
#include "coordinator/rest/tasks_listing.h"

static const struct {
    const struct route *routes;
    const size_t *n;
} families[] = {
    {routes_root, &routes_root_n},
    {routes_index, &routes_index_n},
    {routes_document, &routes_document_n},
    {routes_update, &routes_update_n},
    {routes_bulk, &routes_bulk_n},
    {routes_search, &routes_search_n},
    {routes_maintenance, &routes_maintenance_n},
    {routes_scroll, &routes_scroll_n},
    {routes_msearch, &routes_msearch_n},
    {routes_pit, &routes_pit_n},
    {routes_field_caps, &routes_field_caps_n},
    {routes_index_settings, &routes_index_settings_n},
    {routes_alias, &routes_alias_n},
    {routes_template, &routes_template_n},
    {routes_open_close, &routes_open_close_n},
    {routes_cluster_settings, &routes_cluster_settings_n},
    {routes_field_mapping, &routes_field_mapping_n},
    {routes_get, &routes_get_n},
    {routes_mget, &routes_mget_n},
    {routes_explain, &routes_explain_n},
    {routes_search_shards, &routes_search_shards_n},
    {routes_health, &routes_health_n},
    {routes_resolve_index, &routes_resolve_index_n},
    {routes_index_stats, &routes_index_stats_n},
    {routes_cat_indices, &routes_cat_indices_n},
    {routes_cat, &routes_cat_n},
    {routes_nodes, &routes_nodes_n},
    {routes_nodes_stats, &routes_nodes_stats_n},
    {routes_cluster_stats, &routes_cluster_stats_n},
    {routes_cluster_state, &routes_cluster_state_n},
    {routes_reroute, &routes_reroute_n},
    {routes_metrics, &routes_metrics_n},
    {routes_recovery, &routes_recovery_n},
    {routes_hot_threads, &routes_hot_threads_n},
    {routes_console, &routes_console_n},
    {routes_cat_nodes, &routes_cat_nodes_n},
    {routes_cat_shards, &routes_cat_shards_n},
    {routes_cat_thread_pool, &routes_cat_thread_pool_n},
    {routes_by_query, &routes_by_query_n},
    {routes_reindex, &routes_reindex_n},
    {routes_tasks, &routes_tasks_n},
};

enum err rest_service_new(struct rest_service **out, struct coordinator *co, struct errmsg *em)
{
    struct arena arena;
    arena_init(&arena, NULL, ARENA_UNLIMITED);
    struct rest_service *s = ARENA_NEW(&arena, struct rest_service);
    bool ok = s != NULL && router_new(&s->router, &arena, em) == ERR_OK;
    for (size_t i = 0; ok && i < ARRAY_LEN(families); i++) {
        ok = router_add(s->router, families[i].routes, *families[i].n, &arena);
    }
    if (!ok) {
        arena_fini(&arena);
        return err_no_memory(em);
    }
    s->co = co;
    s->arena = arena;
    node_calls_serve(co, MESSAGE_NODE_INFO, nodes_info_serve);
    node_calls_serve(co, MESSAGE_NODE_STATS, nodes_stats_serve);
    node_calls_serve(co, MESSAGE_TASKS, tasks_serve);
    *out = s;
    return ERR_OK;
}

void rest_service_free(struct rest_service *s)
{
    if (s != NULL) {
        struct arena arena = s->arena;
        arena_fini(&arena);
    }
}
