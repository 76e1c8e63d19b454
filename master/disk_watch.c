/* The master asks every data node how full its disk is. On the loop. */
#include "common/settings/setting_read.h"
#include "master/cluster_int.h"
#include "master/disk.h"

#include <stdio.h>
#include <stdlib.h>

#define FLOODED_MS \
    5000 /* while writes are refused for lack of space: they should not be for longer than needed */

struct disk_call {
    struct remote_call call;
    struct cluster *c;
    char node_id[32];
};

/* Nothing is asked without a pause: what is no time counts as not set. */
static int64_t pause_ms(const struct cluster *c, enum setting_id id)
{
    int64_t ms = cluster_setting_ms(quorum_accepted(quorum_driver_core(c->driver)), id);
    return ms > 0 ? ms : setting_ms(NULL, id);
}

struct disk_usage *disk_watch_usage(const struct disk_entry *v, uint32_t n, struct arena *arena)
{
    struct disk_usage *out = ARENA_ARRAY(arena, struct disk_usage, n);
    for (uint32_t i = 0; out != NULL && i < n; i++) {
        out[i] = (struct disk_usage){.node_id = arena_str(arena, str_of(v[i].node_id)),
                                     .total_bytes = v[i].total_bytes,
                                     .free_bytes = v[i].free_bytes};
        if (out[i].node_id.p == NULL) {
            return NULL;
        }
    }
    return out;
}

/* ---- what follows from it ---- */

static void settings_set(struct task *t, UNUSED uint64_t version)
{
    meta_request_fini(t->rq);
    free(t->rq);
    task_free(t);
}

static void never(struct meta_request *rq)
{
    (void)rq; /* the task's done() ends it */
}

/* A change of settings, asked for by the master itself. */
static void set_blocks(struct cluster *c, const struct str_set *indices, bool on)
{
    static const char *const bodies[] = {"{\"index.blocks.read_only_allow_delete\":null}",
                                         "{\"index.blocks.read_only_allow_delete\":\"true\"}"};
    struct meta_request *rq = indices->n > 0 ? calloc(1, sizeof(*rq)) : NULL;
    struct task *t = rq != NULL ? task_new(TASK_META) : NULL;
    if (t == NULL) {
        free(rq);
        return;
    }
    meta_request_init(rq, META_UPDATE_SETTINGS, never, NULL);
    rq->text = str_of(bodies[on]);
    struct str_set names = str_set_copy(indices, &rq->arena);
    t->rq = rq;
    if (names.v == NULL
        || json_parse(&rq->body, rq->text, &rq->arena, &json_limits_default, NULL) != ERR_OK) {
        settings_set(t, 0);
        return;
    }
    rq->names = names.v;
    rq->n_names = names.n;
    t->done = settings_set;
    log_warn(c->o.log, "disk",
             on ? "%u indices take no more writes: a disk that they lie on is full"
                : "%u indices take writes again",
             indices->n);
    batch_add(c, t);
}

static void decide(struct cluster *c)
{
    struct arena scratch;
    struct disk_verdict v;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    struct disk_usage *before = disk_watch_usage(c->disks, c->n_disks, &scratch),
                      *now = disk_watch_usage(c->disks_next, c->n_disks_next, &scratch);
    bool ok = before != NULL && now != NULL
              && disk_decide(quorum_accepted(quorum_driver_core(c->driver)), before, c->n_disks, now,
                             c->n_disks_next, &scratch, &v);
    free(c->disks);
    c->disks = c->disks_next;
    c->n_disks = c->n_disks_next;
    c->disks_next = NULL;
    c->n_disks_next = 0;
    if (ok) {
        c->disks_at_ms = clock_mono_ms(c->o.clock)
                         + (v.flooded ? FLOODED_MS : pause_ms(c, SET_CLUSTER_INFO_UPDATE_INTERVAL));
        set_blocks(c, &v.block, true);
        set_blocks(c, &v.release, false);
        struct task *t = v.reroute ? task_new(TASK_REROUTE) : NULL;
        if (t != NULL) {
            t->priority = HIGH;
            t->why = STR("cluster_reroute(disk threshold monitor)");
            batch_add(c, t);
        }
    }
    arena_fini(&scratch);
    cluster_set_timer(c, c->disks_at_ms);
}

/* ---- asking ---- */

static void asked(struct remote_call *call)
{
    struct disk_call *l = CONTAINER_OF(call, struct disk_call, call);
    struct cluster *c = l->c;
    const struct disk_answer *a = call->answer;
    if (!err_is(&call->error) && a->total_bytes > 0 && a->free_bytes <= a->total_bytes
        && c->disks_next != NULL) {
        struct disk_entry *d = &c->disks_next[c->n_disks_next++];
        snprintf(d->node_id, sizeof(d->node_id), "%s", l->node_id);
        d->total_bytes = a->total_bytes;
        d->free_bytes = a->free_bytes;
    }
    remote_call_fini(call);
    free(l);
    if (--c->disks_asked == 0 && c->mode == QUORUM_LEADER) {
        decide(c);
    }
    cluster_left(c);
}

void disk_watch_tick(struct cluster *c)
{
    int64_t now = clock_mono_ms(c->o.clock);
    if (c->mode != QUORUM_LEADER || c->stopping || c->disks_asked > 0 || now < c->disks_at_ms) {
        return;
    }
    const struct nodes_part *nodes = quorum_accepted(quorum_driver_core(c->driver))->nodes;
    c->disks_at_ms = now + pause_ms(c, SET_CLUSTER_INFO_UPDATE_INTERVAL);
    free(c->disks_next);
    c->n_disks_next = 0;
    c->disks_next = nodes != NULL ? calloc((size_t)nodes->n + 1, sizeof(c->disks_next[0])) : NULL;
    for (uint32_t i = 0; c->disks_next != NULL && i < nodes->n; i++) {
        struct disk_call *l = (nodes->v[i].roles & ROLE_DATA) != 0 ? calloc(1, sizeof(*l)) : NULL;
        if (l == NULL) {
            continue;
        }
        struct transport_peer to = {nodes->v[i].transport_address, nodes->v[i].ephemeral_id};
        l->c = c;
        snprintf(l->node_id, sizeof(l->node_id), "%.*s", STR_ARG(nodes->v[i].id));
        l->call = (struct remote_call){
            .on = c->o.loop, .done = asked, .timeout_ms = pause_ms(c, SET_CLUSTER_INFO_UPDATE_TIMEOUT)};
        cluster_under_way(c);
        c->disks_asked++;
        remote_ask(c->o.transport, &to, &message_disk_usage, NULL, &l->call);
    }
    cluster_set_timer(c, c->disks_at_ms);
}

/* ---- being asked: on the compute pool ---- */

void disk_watch_receive(void *self, struct remote_rq *rq)
{
    struct cluster *c = self;
    struct disk_answer answer = {0};
    if (c->o.disk_space != NULL) {
        c->o.disk_space(c->o.self, &answer.total_bytes, &answer.free_bytes);
    }
    remote_reply(rq, &answer);
}
