#include "master/wait_clock.h"

static int64_t latest_ms(const struct cluster_state *s)
{
    int64_t ms = INT64_MIN;
    for (uint32_t i = 0; s != NULL && i < s->n_routing; i++) {
        for (uint32_t k = 0; k < s->routing[i]->n; k++) {
            const struct shard_routing *r = &s->routing[i]->shards[k];
            for (uint32_t c = 0; c < r->n; c++) {
                bool waits = r->copies[c].state == COPY_UNASSIGNED || r->copies[c].state == COPY_INITIALIZING;
                ms = waits ? MAX_OF(ms, r->copies[c].trouble.at_ms) : ms;
            }
        }
    }
    return ms;
}

void wait_clock_begin(struct wait_clock *k, const struct cluster_state *s, int64_t mono_ms, int64_t wall_ms)
{
    k->ahead_ms = MAX_OF(wall_ms, latest_ms(s)) - mono_ms;
}

void wait_clock_catch_up(struct wait_clock *k, int64_t mono_ms, int64_t wall_ms)
{
    k->ahead_ms = MAX_OF(k->ahead_ms, wall_ms - mono_ms);
}
