/* Which searches run on the thread that has them in hand. docs/decisions/small-searches.md says why. */
#include "data/shard/shard.h"
#include "engine/search/search_cost.h"

#define SMALL_COST 16384 /* documents to be looked at: a tenth of a millisecond, give or take */

bool search_analyzes_long(const struct settings *s)
{
    static const char *const kinds[] = {"pattern", "synonym",     "ngram",  "nGram",
                                        "shingle", "multiplexer", "mapping"};
    for (size_t i = 0; i < s->n; i++) {
        const struct setting *v = &s->v[i];
        if (!str_starts(v->key, STR("analysis.")) || v->is_list) {
            continue;
        }
        for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
            if (str_find_str(v->value, str_of(kinds[k])) != SIZE_MAX) {
                return true;
            }
        }
    }
    return false;
}

bool search_is_small(struct shard_query *rq, struct shard *sh, struct view *v, const struct query **q)
{
    struct search_context cx;
    struct search_shard d;
    if (rq->body.source == NULL || rq->scope.n_shards != 1 || !rq->fetch || rq->rq.context != 0
        || rq->scope.scroll || rq->keep || rq->dfs != NULL || rq->scope.n_alias_filters > 0) {
        return false;
    }
    struct settings_part *settings = index_settings(sh->index);
    rq->rq.arena.bytes_max = sh->service->request_bytes_max;
    shard_describe(&d, sh, v, settings, &rq->scope);
    search_context_init(&cx, &d, rq->body.source, &rq->rq.arena);
    bool small = !sh->index->analyzes_long && search_cost(&cx, q) <= SMALL_COST;
    state_part_unref(&settings->part);
    return small;
}
