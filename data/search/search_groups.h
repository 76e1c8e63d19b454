/* search_groups.h - counters of the searches on a shard that name groups in their `stats`: how many, and how long.
 *
 * Thread-safe. */
#ifndef DATA_SEARCH_SEARCH_GROUPS_H
#define DATA_SEARCH_SEARCH_GROUPS_H

#include "proto/shard_api.h"

#include <pthread.h>

#define SEARCH_GROUPS_MAX 1000 /* groups of a shard; names beyond are not counted */

struct search_groups {
    pthread_mutex_t lock;
    struct arena names;
    struct shard_search_group *v;
    uint32_t n, cap;
};

void search_groups_init(struct search_groups *g);
void search_groups_fini(struct search_groups *g);
/* Adds the numbers of `one` (its name does not matter) to each of these groups; a name that stands twice counts twice. */
void search_groups_add(struct search_groups *g, const struct str *names, uint32_t n,
                       const struct shard_search_group *one);
/* All of them as of now, in the arena. false: no memory. */
bool search_groups_copy(struct search_groups *g, struct arena *arena, const struct shard_search_group **out,
                        uint32_t *n);

#endif
