/* The state kept for the searches of a node and of each shard: limits and counters. */
#include "common/cluster/search_limits.h"
#include "data/search/search_int.h"

#include <stdlib.h>

enum err searches_init(struct data_service *s, struct errmsg *em)
{
    struct searches *all = calloc(1, sizeof(*all));
    if (all == NULL) {
        return err_no_memory(em);
    }
    pthread_mutex_init(&all->lock, NULL);
    /* An id of an earlier process is of none that is open here. */
    all->next_context = ((uint64_t)clock_wall_ms(s->o.clock) << 20) + 1;
    s->searches = all;
    searches_take_settings(s, NULL);
    return ERR_OK;
}

void searches_fini(struct data_service *s)
{
    if (s->searches != NULL) {
        pthread_mutex_destroy(&s->searches->lock);
        free(s->searches);
        s->searches = NULL;
    }
}

void searches_take_settings(struct data_service *s, const struct cluster_state *state)
{
    struct search_limits limits = search_limits_of(state);
    s->searches->max_buckets = limits.max_buckets;
    s->searches->scrolls_max = limits.scrolls;
    s->searches->context_keep_ms = limits.keep_ms;
    s->searches->request_bytes_max = limits.request_bytes;
}

/* ---- a shard's part ------------------------------------------------------------------------------------ */

enum err shard_searches_new(struct shard *sh, struct errmsg *em)
{
    sh->searches = calloc(1, sizeof(*sh->searches));
    if (sh->searches == NULL) {
        return err_no_memory(em);
    }
    search_groups_init(&sh->searches->groups);
    return ERR_OK;
}

void shard_searches_free(struct shard *sh)
{
    if (sh->searches != NULL) {
        search_groups_fini(&sh->searches->groups);
        free(sh->searches);
        sh->searches = NULL;
    }
}

bool shard_searches_tell(struct shard *sh, struct shard_stats *t, struct arena *arena)
{
    struct shard_searches *p = sh->searches;
    t->query_total = p->query_total;
    t->query_ns = p->query_ns;
    t->fetch_total = p->fetch_total;
    t->fetch_ns = p->fetch_ns;
    t->scroll_total = p->scroll_total;
    t->suggest_total = p->suggest_total;
    t->suggest_ns = p->suggest_ns;
    t->query_current = p->query_current;
    t->contexts = contexts_of_shard(sh->service, sh);
    return search_groups_copy(&p->groups, arena, &t->groups, &t->n_groups);
}
