#include "master/disk.h"

#include "common/settings/setting_read.h"
#include "master/allocation_int.h"

static const struct disk_usage *usage_of(const struct disk_usage *v, uint32_t n, struct str node)
{
    for (uint32_t i = 0; i < n; i++) {
        if (str_eq(v[i].node_id, node)) {
            return v[i].total_bytes > 0 ? &v[i] : NULL;
        }
    }
    return NULL;
}

enum level { LEVEL_UNKNOWN, LEVEL_FINE, LEVEL_LOW, LEVEL_HIGH, LEVEL_FLOOD };

static enum level level_of(const struct cluster_state *s, const struct disk_usage *d)
{
    static const struct {
        enum setting_id id;
        enum level level;
    } marks[] = {
        {SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_FLOOD_STAGE, LEVEL_FLOOD},
        {SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_HIGH, LEVEL_HIGH},
        {SET_CLUSTER_ROUTING_ALLOCATION_DISK_WATERMARK_LOW, LEVEL_LOW},
    };
    if (d == NULL) {
        return LEVEL_UNKNOWN;
    }
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        if (disk_beyond(cluster_setting(s, marks[i].id), d)) {
            return marks[i].level;
        }
    }
    return LEVEL_FINE;
}

/* The worst and the best level of the nodes that hold copies of the index, arriving ones too. */
static void levels_of(const struct cluster_state *s, const struct index_routing *r,
                      const struct disk_usage *v, uint32_t n, enum level *worst, bool *unknown)
{
    *worst = LEVEL_FINE;
    *unknown = false;
    for (uint32_t i = 0; i < r->n; i++) {
        for (uint32_t k = 0; k < r->shards[i].n; k++) {
            struct str at[] = {r->shards[i].copies[k].node, r->shards[i].copies[k].target_node};
            for (size_t j = 0; j < ARRAY_LEN(at); j++) {
                enum level l = at[j].p != NULL ? level_of(s, usage_of(v, n, at[j])) : LEVEL_FINE;
                *worst = MAX_OF(*worst, l);
                *unknown |= l == LEVEL_UNKNOWN;
            }
        }
    }
}

bool disk_decide(const struct cluster_state *s, const struct disk_usage *before, uint32_t n_before,
                 const struct disk_usage *now, uint32_t n_now, struct arena *arena, struct disk_verdict *out)
{
    *out = (struct disk_verdict){.reroute = false};
    if (!cluster_setting_bool(s, SET_CLUSTER_ROUTING_ALLOCATION_DISK_THRESHOLD_ENABLED)) {
        return true;
    }
    for (uint32_t i = 0; i < n_now; i++) {
        enum level l = level_of(s, usage_of(now, n_now, now[i].node_id));
        enum level was = level_of(s, usage_of(before, n_before, now[i].node_id));
        out->flooded |= l == LEVEL_FLOOD;
        out->reroute |= (was != LEVEL_UNKNOWN && l != was) || l >= LEVEL_HIGH;
    }
    for (uint32_t i = 0; i < s->n_routing; i++) {
        const struct index_meta *m = cluster_index(s, s->routing[i]->name);
        enum level worst;
        bool unknown;
        if (m == NULL) {
            continue;
        }
        levels_of(s, s->routing[i], now, n_now, &worst, &unknown);
        bool blocked = setting_bool(&m->settings, SET_INDEX_BLOCKS_READ_ONLY_ALLOW_DELETE);
        if (worst == LEVEL_FLOOD && !blocked) {
            out->block = str_set_with(&out->block, m->name, arena);
            if (out->block.v == NULL) {
                return false;
            }
        } else if (blocked && !unknown && worst < LEVEL_HIGH) {
            out->release = str_set_with(&out->release, m->name, arena);
            if (out->release.v == NULL) {
                return false;
            }
        }
    }
    return true;
}
