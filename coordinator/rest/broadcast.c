/* Actions on what a request names (broadcast.h). */
#include "coordinator/rest/broadcast.h"

void rest_broadcast(struct rest *r, const struct index_target *targets, uint32_t n_targets,
                    const struct shard_act *model, void (*done)(struct broadcast *bc), void *user)
{
    if (!broadcast_start(&r->env, targets, n_targets, model, done, user)) {
        rest_no_memory(r);
    }
}

void rest_broadcast_path(struct rest *r, const struct expand_options *o, const struct shard_act *model,
                         void (*done)(struct broadcast *bc), void *user)
{
    struct expand_options with = *o;
    if (rest_index_options(r, &with) != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        rest_broadcast_named(r, &with, model, done, user);
    }
}

void rest_broadcast_named(struct rest *r, const struct expand_options *o, const struct shard_act *model,
                          void (*done)(struct broadcast *bc), void *user)
{
    const struct index_target *t;
    uint32_t n;
    struct str expression = rest_param(r, "index");
    enum err e = ERR_OK;
    if (e == ERR_OK && !rest_ready(r)) {
        return;
    }
    e = e == ERR_OK ? resolve_indices(r->state, expression, o, clock_wall_ms(r->co->o.clock), r->arena, &t,
                                      &n, &r->em)
                    : e;
    if (e != ERR_OK) {
        rest_fail(r, NULL);
    } else {
        rest_broadcast(r, t, n, model, done, user);
    }
}
