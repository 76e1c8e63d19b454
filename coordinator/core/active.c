#include "coordinator/core/active.h"

#include "common/base/num.h"
#include "common/cluster/health.h"
#include "common/settings/setting_read.h"

#define LOOK_AGAIN_MS 20

enum err active_parse(struct str v, int32_t *out, struct errmsg *em)
{
    *out = v.p == NULL ? ACTIVE_DEFAULT : ACTIVE_ALL;
    if (v.p == NULL || str_is(v, "all")) {
        return ERR_OK;
    }
    if (!num_parse_i32(v, out)) {
        err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(v));
        return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "cannot parse ActiveShardCount[%.*s]", STR_ARG(v));
    }
    return *out >= 0 ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "shard count cannot be a negative value");
}

int32_t active_wanted(const struct index_meta *m, int32_t wanted)
{
    if (wanted == ACTIVE_DEFAULT) {
        struct str own = setting_str(&m->settings, SET_INDEX_WRITE_WAIT_FOR_ACTIVE_SHARDS);
        wanted = num_parse_i32(own, &wanted) ? wanted : ACTIVE_ALL;
    }
    return wanted == ACTIVE_ALL ? 1 + (int32_t)m->n_replicas : wanted;
}

static bool met(const struct active_wait *w)
{
    struct coordinator *co = w->r->co;
    struct cluster_state *s = co->o.state(co->o.self);
    bool ok = true;
    for (uint32_t i = 0; ok && i < w->n_names; i++) {
        const struct index_meta *m = cluster_index(s, w->names[i]);
        int32_t wanted = m != NULL ? active_wanted(m, w->wanted) : 0;
        ok = m == NULL
             || (w->one_shard ? (int32_t)shard_health(s, m, w->shard).active >= wanted
                              : health_enough_active(s, m, wanted));
    }
    cluster_state_unref(s);
    return ok;
}

static void active_look(void *arg)
{
    struct active_wait *w = arg;
    struct state_waits *waits = &w->r->co->state_waits;
    uint64_t seen = state_waits_seen(waits);
    int64_t left = w->deadline_ms - clock_mono_ms(w->r->co->o.clock);
    bool ok = met(w);
    if (ok || left <= 0 || delays_stopped(w->r->co->delays)) {
        w->then(w, ok);
    } else {
        state_waits_add(waits, &w->wait, seen, MIN_OF(left, LOOK_AGAIN_MS), active_look, w);
    }
}

static void active_reached(struct later *l)
{
    struct active_wait *w = CONTAINER_OF(l, struct active_wait, end);
    w->then(w, true);
}

void active_wait_begin(struct active_wait *w)
{
    w->deadline_ms = clock_mono_ms(w->r->co->o.clock) + w->timeout_ms;
    uint64_t seen = state_waits_seen(&w->r->co->state_waits);
    if (met(w)) {
        later(&w->end, active_reached);
    } else {
        state_waits_add(&w->r->co->state_waits, &w->wait, seen, 0, active_look, w);
    }
}
