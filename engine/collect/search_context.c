#include "engine/collect/search_context.h"

#include "engine/query/query.h"

void search_context_init(struct search_context *cx, const struct search_shard *shard,
                         const struct search_source *source, struct arena *arena)
{
    *cx = (struct search_context){.shard = shard, .source = source, .arena = arena};
    cx->query = (struct query_context){.mapping = shard->view->mapping,
                                       .view = shard->view,
                                       .arena = arena,
                                       .text = source->text,
                                       .index_name = shard->index_name,
                                       .index_uuid = shard->index_uuid,
                                       .shard = shard->shard,
                                       .now_ms = shard->scope.now_ms,
                                       .clauses_max = query_node_settings()->clauses_max,
                                       .depth_max = QUERY_DEPTH_MAX,
                                       .index_settings = shard->index_settings,
                                       .allow_expensive = !shard->scope.refuse_expensive};
    cx->weight = (struct weight_context){.view = shard->view,
                                         .arena = arena,
                                         .stats = shard->stats,
                                         .cache = shard->filters,
                                         .index_name = shard->index_name,
                                         .shard = shard->shard,
                                         .now_ms = shard->scope.now_ms,
                                         .cancelled = shard->cancelled,
                                         .self = shard->self};
}
