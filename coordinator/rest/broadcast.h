/* broadcast.h - one action to every active copy of what a request names; a lack of memory answers the request. */
#ifndef COORDINATOR_REST_BROADCAST_H
#define COORDINATOR_REST_BROADCAST_H

#include "coordinator/core/broadcast.h"
#include "coordinator/rest/rest.h"

/* To the targets, as broadcast_start(). */
void rest_broadcast(struct rest *r, const struct index_target *targets, uint32_t n_targets,
                    const struct shard_act *model, void (*done)(struct broadcast *bc), void *user);
/* The same for what the path's {index} names: reads the options of indices over *o, refuses unknown
 * parameters. */
void rest_broadcast_path(struct rest *r, const struct expand_options *o, const struct shard_act *model,
                         void (*done)(struct broadcast *bc), void *user);
/* The same for requests without such options. */
void rest_broadcast_named(struct rest *r, const struct expand_options *o, const struct shard_act *model,
                          void (*done)(struct broadcast *bc), void *user);

#endif
