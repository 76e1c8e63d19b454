/* The indices and shards of this node. */
#include "data/shard/shard.h"

#include <stdlib.h>

void tables_init(struct data_service *s)
{
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->all_closed, NULL);
}

void tables_fini(struct data_service *s)
{
    data_set_state(s, NULL);
    pthread_cond_destroy(&s->all_closed);
    pthread_mutex_destroy(&s->lock);
    free(s->shards);
    free(s->indices);
}

/* ---- looked at ----------------------------------------------------------------------------------------- */

/* The first index whose uuid is not below this one. */
static size_t index_place(const struct data_service *s, struct str uuid)
{
    size_t lo = 0, hi = s->n_indices;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(s->indices[mid]->uuid, uuid) < 0) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo;
}

struct index_service *tables_index(struct data_service *s, struct str uuid)
{
    size_t at = index_place(s, uuid);
    return at < s->n_indices && str_eq(s->indices[at]->uuid, uuid) ? s->indices[at] : NULL;
}

struct shard *tables_shard(struct data_service *s, struct str uuid, uint32_t number)
{
    for (size_t i = 0; i < s->n_shards; i++) {
        if (s->shards[i]->number == number && str_eq(s->shards[i]->index->uuid, uuid)) {
            return s->shards[i];
        }
    }
    return NULL;
}

struct shard *shard_find(struct data_service *s, const struct shard_ref *which, struct errmsg *em)
{
    pthread_mutex_lock(&s->lock);
    struct shard *sh = s->stopping ? NULL : tables_shard(s, which->uuid, which->shard);
    if (sh != NULL) {
        shard_ref(sh);
    }
    pthread_mutex_unlock(&s->lock);
    if (sh == NULL) {
        err_set(em, ERR_NO_SHARD, "no such shard here");
        err_about_index(em, which->index, which->uuid);
        err_about_shard(em, (int)which->shard);
    }
    return sh;
}

struct index_service *index_service_find(struct data_service *s, struct str uuid)
{
    pthread_mutex_lock(&s->lock);
    struct index_service *ix = tables_index(s, uuid);
    if (ix != NULL) {
        index_service_ref(ix);
    }
    pthread_mutex_unlock(&s->lock);
    return ix;
}

struct cluster_state *data_state(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    struct cluster_state *state = s->newest != NULL ? cluster_state_ref(s->newest) : NULL;
    pthread_mutex_unlock(&s->lock);
    return state;
}

void data_set_state(struct data_service *s, struct cluster_state *state)
{
    pthread_mutex_lock(&s->lock);
    struct cluster_state *old = s->newest;
    s->newest = state != NULL ? cluster_state_ref(state) : NULL;
    pthread_mutex_unlock(&s->lock);
    cluster_state_unref(old);
}

/* ---- changed ------------------------------------------------------------------------------------------- */

static bool grow(void **v, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) {
        return true;
    }
    size_t more = *cap == 0 ? 16 : *cap * 2;
    void *p = realloc(*v, more * size);
    if (p == NULL) {
        return false;
    }
    *v = p;
    *cap = more;
    return true;
}

bool tables_add_shard(struct data_service *s, struct shard *sh)
{
    pthread_mutex_lock(&s->lock);
    bool ok = grow((void **)&s->shards, s->n_shards, &s->shards_cap, sizeof(*s->shards));
    if (ok) {
        s->shards[s->n_shards++] = sh;
    }
    s->open_shards++; /* also a shard that is closed at once */
    pthread_mutex_unlock(&s->lock);
    return ok;
}

bool tables_add_index(struct data_service *s, struct index_service *ix)
{
    pthread_mutex_lock(&s->lock);
    bool ok = grow((void **)&s->indices, s->n_indices, &s->indices_cap, sizeof(*s->indices));
    if (ok) {
        size_t at = index_place(s, ix->uuid);
        memmove(&s->indices[at + 1], &s->indices[at], (s->n_indices - at) * sizeof(struct index_service *));
        s->indices[at] = ix;
        s->n_indices++;
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

struct shard *tables_take_shard(struct data_service *s, struct str uuid, bool remove)
{
    struct shard *sh = NULL;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_shards && sh == NULL; i++) {
        if (str_eq(s->shards[i]->index->uuid, uuid)) {
            sh = s->shards[i];
            sh->remove_files = remove;
            s->shards[i] = s->shards[--s->n_shards];
        }
    }
    pthread_mutex_unlock(&s->lock);
    return sh;
}

struct index_service *tables_take_index(struct data_service *s, size_t at)
{
    pthread_mutex_lock(&s->lock);
    struct index_service *ix = s->indices[at];
    s->n_indices--;
    memmove(&s->indices[at], &s->indices[at + 1], (s->n_indices - at) * sizeof(struct index_service *));
    pthread_mutex_unlock(&s->lock);
    return ix;
}

void tables_shard_closed(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    s->open_shards--;
    pthread_cond_broadcast(&s->all_closed);
    pthread_mutex_unlock(&s->lock);
}

void tables_wait_closed(struct data_service *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->open_shards > 0) {
        pthread_cond_wait(&s->all_closed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

bool data_ends(void *service)
{
    const struct data_service *s = service;
    return s->stopping || (s->draining && clock_mono_ms(s->o.clock) >= s->drained_at_ms);
}
