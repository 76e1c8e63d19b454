/* The memory of all shards of a node together: operations that are in no segment yet, and filters kept for searches. */
#include "data/shard/shard.h"

#include "common/base/memory_account.h"
#include "common/settings/setting_read.h"

enum err data_memory_init(struct data_service *s, struct errmsg *em)
{
    s->index_buffer_max =
        s->o.index_buffer_bytes > 0
            ? s->o.index_buffer_bytes
            : (size_t)setting_share(NULL, SET_INDICES_MEMORY_INDEX_BUFFER_SIZE, memory_heap_bytes());
    if (s->o.filter_cache_bytes > 0) {
        s->filters = filter_store_new(NULL, s->o.filter_cache_bytes);
        return s->filters != NULL ? ERR_OK : err_no_memory(em);
    }
    return ERR_OK;
}

size_t shard_buffer_max(const struct data_service *s, size_t otherwise)
{
    return s->o.index_buffer_given ? s->index_buffer_max : MIN_OF(otherwise, s->index_buffer_max);
}

/* ---- index buffers ---------------------------------------------------------------------------------------------------- */

static void set_buffer_bytes(struct shard *sh, size_t now)
{
    size_t before = sh->upkeep.buffer_bytes;
    sh->upkeep.buffer_bytes = now;
    atomic_fetch_add(&sh->service->buffer_bytes, now - before); /* wraps when it shrinks, and back */
}

void shard_buffer_gone(struct shard *sh)
{
    set_buffer_bytes(sh, 0);
}

static void spill_largest(struct data_service *s);

static void spill_own(struct shard *sh)
{
    if (sh->engine != NULL && !sh->life.failing) {
        engine_spill(sh->engine, NULL); /* a failure has failed the engine: shard_check() sees it */
        set_buffer_bytes(sh, engine_buffer_bytes(sh->engine));
    }
}

static void spill(void *arg)
{
    struct shard *sh = arg;
    struct data_service *s = sh->service;
    bool some = sh->upkeep.buffer_bytes > 0;
    sh->upkeep.spill_queued = false;
    spill_own(sh);
    if (some && s->buffer_bytes > s->index_buffer_max) { /* the next one, although nobody writes any more */
        spill_largest(s);
    }
    shard_check(sh);
    shard_unref(sh);
}

#define WORTHWHILE 64 /* a buffer of less than such a part of the limit makes no room */

/* The shard that frees most makes a segment, not yet searchable, of what it holds. */
static void spill_largest(struct data_service *s)
{
    struct shard *largest = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_shards; i++) {
        struct shard *sh = s->shards[i];
        if (sh->upkeep.spill_queued) { /* one at a time */
            largest = NULL;
            break;
        }
        if (largest == NULL || sh->upkeep.buffer_bytes > largest->upkeep.buffer_bytes) {
            largest = sh;
        }
    }
    if (largest != NULL) {
        largest->upkeep.spill_queued = true;
        shard_ref(largest);
    }
    pthread_mutex_unlock(&s->lock);
    if (largest != NULL) {
        shard_post_back(largest, spill, largest);
    }
}

void shard_buffer_changed(struct shard *sh)
{
    struct data_service *s = sh->service;
    set_buffer_bytes(sh, sh->engine != NULL ? engine_buffer_bytes(sh->engine) : 0);
    size_t max = s->index_buffer_max;
    if (s->buffer_bytes > max + max / 2 && sh->upkeep.buffer_bytes > max / WORTHWHILE) {
        spill_own(sh); /* writing is quicker than making room: who writes waits for it */
    }
    if (s->buffer_bytes > max) {
        spill_largest(s);
    }
}

/* ---- filters -------------------------------------------------------------------------------------------------------------- */

void shard_keep_filters(struct shard *sh)
{
    struct arena scratch;
    if (sh->filters == NULL || sh->engine == NULL) {
        return;
    }
    struct view *v = engine_view_ref(sh->engine);
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    uint64_t *segments = ARENA_ARRAY(&scratch, uint64_t, v->n_leaves);
    for (uint32_t i = 0; segments != NULL && i < v->n_leaves; i++) {
        segments[i] = segment_unique(v->leaves[i].segment);
    }
    if (segments != NULL) {
        filter_cache_keep(sh->filters, segments, v->n_leaves);
    }
    arena_fini(&scratch);
    view_unref(v);
}
