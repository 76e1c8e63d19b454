/* The coordinator's life: what it has, and what it counts of the states that come by (coordinator.h). */
#include "coordinator/core/coordinator.h"

#include "common/base/hash.h"
#include "coordinator/core/events.h"
#include "coordinator/core/shard_tasks.h"
#include "coordinator/core/tasks.h"

#include <stdlib.h>

enum err coordinator_new(struct coordinator **out, const struct coordinator_opts *opts, struct errmsg *em)
{
    *out = NULL;
    struct coordinator *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        return err_no_memory(em);
    }
    c->o = *opts;
    c->id_seed = opts->seed;
    struct delays_opts d = {opts->clock, opts->timers, opts->timer_loop, opts->workers};
    c->events = event_log_new();
    if (c->events == NULL || tasks_new(&c->tasks, opts->clock, em) != ERR_OK
        || delays_new(&c->delays, &d, em) != ERR_OK) {
        coordinator_free(c);
        return err_no_memory(em);
    }
    pthread_mutex_init(&c->counts_lock, NULL);
    state_waits_init(&c->state_waits, c->delays);
    op_names_init(&c->op_names, hash_u64(opts->seed ^ (uint64_t)opts->started_ms));
    shard_tasks_serve(c);
    *out = c;
    return ERR_OK;
}

static void count_state(struct coordinator *c, int64_t took_us)
{
    const struct event_moment at = {clock_wall_ms(c->o.clock), clock_mono_ms(c->o.clock), took_us};
    struct cluster_state *now = c->o.state(c->o.self);
    pthread_mutex_lock(&c->counts_lock);
    struct cluster_state *before = c->counted;
    if (now != before) {
        state_counts_add(&c->counts, before, now);
        event_log_add(c->events, before, now, &at);
    }
    c->counted = now;
    pthread_mutex_unlock(&c->counts_lock);
    cluster_state_unref(before);
}

void coordinator_counts(struct coordinator *c, struct state_counts *out)
{
    pthread_mutex_lock(&c->counts_lock);
    *out = c->counts;
    pthread_mutex_unlock(&c->counts_lock);
}

void coordinator_applied(struct coordinator *c, int64_t took_us)
{
    count_state(c, took_us);
    state_waits_applied(&c->state_waits);
}

void coordinator_free(struct coordinator *c)
{
    if (c != NULL) {
        op_names_fini(&c->op_names);
        event_log_free(c->events);
        cluster_state_unref(c->counted);
        pthread_mutex_destroy(&c->counts_lock);
        state_waits_fini(&c->state_waits);
        delays_free(c->delays);
        tasks_free(c->tasks);
        free(c);
    }
}

void coordinator_stop(struct coordinator *c)
{
    tasks_stop(c->tasks);
    delays_stop(c->delays);
}

void coordinator_drain(struct coordinator *c)
{
    tasks_drain(c->tasks);
}

void coordinator_invariant(struct coordinator *c)
{
    op_names_invariant(&c->op_names);
    tasks_invariant(c->tasks);
    delays_invariant(c->delays);
    state_waits_invariant(&c->state_waits);
}
