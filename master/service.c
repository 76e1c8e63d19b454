#include "master/service.h"

#include "common/base/hash.h"
#include "master/metadata_int.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STATE_MAGIC "SeraiST1"

struct master_service {
    struct master_opts o;
    pthread_mutex_t lock;        /* state, queue */
    struct cluster_state *state; /* the applied one */
    struct meta_request *first, *last;
    bool running;
    /* the request at work */
    struct meta_request *current;
    struct cluster_state *next;
};

/* ---- the file ------------------------------------------------------------------------------------------ */

static enum err write_file(struct master_service *m, const struct cluster_state *s, struct errmsg *em)
{
    const struct fs *fs = m->o.fs;
    char dir[1024], tmp[1100], path[1100];
    struct fs_file *f = NULL;
    struct buf b;
    snprintf(dir, sizeof(dir), "%s/_state", m->o.dir);
    snprintf(tmp, sizeof(tmp), "%s/cluster.tmp", dir);
    snprintf(path, sizeof(path), "%s/cluster.state", dir);
    buf_init(&b, NULL, BUF_UNLIMITED);
    buf_z(&b, STATE_MAGIC);
    put_u64(&b, 0);
    cluster_state_encode(s, &b);
    if (b.failed) {
        buf_fini(&b);
        return err_no_memory(em);
    }
    store_u64(b.p + sizeof(STATE_MAGIC) - 1, hash_bytes(b.p + 16, b.n - 16, 0));
    enum err e = fs->make_dir(fs->self, dir, em);
    e = e == ERR_OK ? fs->open(fs->self, tmp, true, &f, em) : e;
    e = e == ERR_OK ? fs->write(fs->self, f, b.p, b.n, em) : e;
    e = e == ERR_OK ? fs->sync(fs->self, f, em) : e;
    fs->close(fs->self, f);
    e = e == ERR_OK ? fs->rename(fs->self, tmp, path, em) : e;
    e = e == ERR_OK ? fs->sync_dir(fs->self, dir, em) : e;
    buf_fini(&b);
    return e;
}

static enum err read_file(struct master_service *m, struct cluster_state **out, struct errmsg *em)
{
    const struct fs *fs = m->o.fs;
    char path[1100];
    bool exists;
    uint64_t n;
    struct fs_map map;
    *out = NULL;
    snprintf(path, sizeof(path), "%s/_state/cluster.state", m->o.dir);
    enum err e = fs->size(fs->self, path, &exists, &n, em);
    if (e != ERR_OK || !exists) {
        return e;
    }
    e = fs->map(fs->self, path, &map, em);
    if (e != ERR_OK) {
        return e;
    }
    bool ok = map.n > 16 && memcmp(map.p, STATE_MAGIC, 8) == 0
              && load_u64(map.p + 8) == hash_bytes(map.p + 16, map.n - 16, 0);
    e = ok ? cluster_state_decode(out, str_mk(map.p + 16, map.n - 16), em)
           : err_set(em, ERR_CORRUPT, "%s is damaged", path);
    fs->unmap(fs->self, &map);
    return e;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static void work(void *arg);

static void finish_current(struct master_service *m)
{
    struct meta_request *rq = m->current;
    m->current = NULL;
    pthread_mutex_lock(&m->lock);
    bool more = m->first != NULL;
    m->running = more;
    pthread_mutex_unlock(&m->lock);
    rq->done(rq);
    if (more && !executor_submit(m->o.executor, work, m)) {
        work(m);
    }
}

static void applied(void *arg)
{
    struct master_service *m = arg;
    pthread_mutex_lock(&m->lock);
    struct cluster_state *old = m->state;
    m->state = m->next;
    m->next = NULL;
    pthread_mutex_unlock(&m->lock);
    cluster_state_unref(old);
    finish_current(m);
}

static void work(void *arg)
{
    struct master_service *m = arg;
    pthread_mutex_lock(&m->lock);
    struct meta_request *rq = m->first;
    m->first = rq->next;
    m->last = m->first == NULL ? NULL : m->last;
    pthread_mutex_unlock(&m->lock);
    m->current = rq;
    enum err e = metadata_apply(&m->o.env, m->state, rq, &m->next, &rq->error);
    if (e == ERR_OK) {
        err_clear(&rq->error);
    }
    /* a full disk is one reason to be down */
    if (e == ERR_OK && m->next != NULL && rq->action != META_SHARD_DOWN) {
        e = write_file(m, m->next, &rq->error);
        if (e != ERR_OK) {
            cluster_state_unref(m->next);
            m->next = NULL;
        }
    }
    if (m->next == NULL) {
        finish_current(m);
        return;
    }
    m->o.apply(m->o.apply_self, m->next, applied, m);
}

void master_submit(struct master_service *m, struct meta_request *rq)
{
    rq->next = NULL;
    pthread_mutex_lock(&m->lock);
    if (m->last != NULL) {
        m->last->next = rq;
    } else {
        m->first = rq;
    }
    m->last = rq;
    bool start = !m->running;
    m->running = true;
    pthread_mutex_unlock(&m->lock);
    if (start && !executor_submit(m->o.executor, work, m)) {
        work(m);
    }
}

/* ---- life ---------------------------------------------------------------------------------------------- */

/* Every start assigns the primaries anew. What was never acknowledged may be gone, and its sequence numbers
 * come again: under a term of their own nobody takes one for the other. */
static bool raise_terms(struct state_builder *b, const struct cluster_state *old)
{
    for (uint32_t i = 0; old != NULL && i < old->n_indices; i++) {
        struct index_meta *m = index_meta_copy(old->indices[i]);
        if (m == NULL) {
            return false;
        }
        index_raise_terms(m);
        m->version++;
        if (!state_put_index(b, m)) {
            return false;
        }
    }
    return true;
}

static enum err first_state(struct master_service *m, const struct cluster_state *old, struct errmsg *em)
{
    struct state_builder b;
    char uuid[23];
    if (!state_builder_init(&b, old)) {
        return err_no_memory(em);
    }
    random_uuid(m->o.env.rng, uuid);
    struct str cluster = old != NULL ? old->cluster_uuid : str_of(uuid);
    bool ok = state_set_names(&b, m->o.cluster_name, cluster);
    state_put_nodes(&b, m->o.nodes);
    m->o.nodes = NULL;
    b.next->term = old != NULL ? old->term : 1;
    ok = ok && raise_terms(&b, old);
    /* transient settings end with the process */
    state_part_unref(b.next->transient != NULL ? &b.next->transient->part : NULL);
    b.next->transient = NULL;
    m->state = ok ? state_builder_seal(&b, str_of(uuid)) : NULL;
    if (m->state == NULL) {
        state_builder_drop(&b);
        return err_no_memory(em);
    }
    return write_file(m, m->state, em);
}

enum err master_service_new(struct master_service **out, const struct master_opts *opts, struct errmsg *em)
{
    struct cluster_state *old = NULL;
    struct master_service *m = calloc(1, sizeof(*m));
    *out = NULL;
    if (m == NULL) {
        state_part_unref(&opts->nodes->part);
        return err_no_memory(em);
    }
    m->o = *opts;
    pthread_mutex_init(&m->lock, NULL);
    enum err e = read_file(m, &old, em);
    e = e == ERR_OK ? first_state(m, old, em) : e;
    cluster_state_unref(old);
    if (e != ERR_OK) {
        master_service_free(m);
        return e;
    }
    *out = m;
    return ERR_OK;
}

void master_service_free(struct master_service *m)
{
    if (m != NULL) {
        cluster_state_unref(m->state);
        state_part_unref(m->o.nodes != NULL ? &m->o.nodes->part : NULL);
        pthread_mutex_destroy(&m->lock);
        free(m);
    }
}

struct cluster_state *master_state(struct master_service *m)
{
    pthread_mutex_lock(&m->lock);
    struct cluster_state *s = cluster_state_ref(m->state);
    pthread_mutex_unlock(&m->lock);
    return s;
}

void master_recover(struct master_service *m, void (*done)(void *arg), void *arg)
{
    m->o.apply(m->o.apply_self, m->state, done, arg);
}
