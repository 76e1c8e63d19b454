/* fs_mem_faults.c - faults of the files in memory: errors on demand, power loss, a full disk. */
#include "tests/seams/fs_mem_int.h"

#include <stdlib.h>

#define CAPACITY_DEFAULT ((uint64_t)1 << 40)

struct fs_mem *fs_mem_new(void)
{
    struct fs_mem *m = calloc(1, sizeof(*m));
    if (m == NULL) {
        return NULL;
    }
    m->root = mem_inode_new(true);
    if (m->root == NULL) {
        free(m);
        return NULL;
    }
    m->fs = mem_calls;
    m->fs.self = m;
    m->handles.next = m->handles.prev = &m->handles;
    m->capacity = CAPACITY_DEFAULT;
    pthread_mutex_init(&m->mutex, NULL);
    return m;
}

void fs_mem_free(struct fs_mem *m)
{
    if (m == NULL) {
        return;
    }
    while (m->handles.next != &m->handles) {
        mem_handle_free(m->handles.next);
    }
    mem_inode_unref(m->root);
    pthread_mutex_destroy(&m->mutex);
    free(m->lose_in);
    free(m);
}

const struct fs *fs_mem_fs(struct fs_mem *m)
{
    return &m->fs;
}

void fs_mem_fail_at(struct fs_mem *m, uint64_t n, enum fs_mem_fault how)
{
    pthread_mutex_lock(&m->mutex);
    m->countdown = n;
    m->how = how;
    m->fired = false;
    pthread_mutex_unlock(&m->mutex);
}

void fs_mem_before_sync(struct fs_mem *m, void (*fn)(void *arg), void *arg)
{
    m->before_sync = fn;
    m->before_sync_arg = arg;
}

/* Reads one field under the lock. */
static uint64_t peek(struct fs_mem *m, const uint64_t *field)
{
    pthread_mutex_lock(&m->mutex);
    uint64_t v = *field;
    pthread_mutex_unlock(&m->mutex);
    return v;
}

bool fs_mem_fired(struct fs_mem *m)
{
    pthread_mutex_lock(&m->mutex);
    bool fired = m->fired;
    pthread_mutex_unlock(&m->mutex);
    return fired;
}

uint64_t fs_mem_syncs(struct fs_mem *m)
{
    return peek(m, &m->syncs);
}

uint64_t fs_mem_used(struct fs_mem *m)
{
    return peek(m, &m->used);
}

/* The process is gone: descriptors are dead, locks free. Mappings stay until someone unmaps them. */
static void kill_handles(struct fs_mem *m)
{
    for (struct fs_file *h = m->handles.next; h != &m->handles; h = h->next) {
        h->dead = true;
    }
}

void fs_mem_kill(struct fs_mem *m)
{
    pthread_mutex_lock(&m->mutex);
    kill_handles(m);
    pthread_mutex_unlock(&m->mutex);
}

void fs_mem_crash(struct fs_mem *m, struct rng *r)
{
    pthread_mutex_lock(&m->mutex);
    kill_handles(m);
    bool ok = mem_tree_crash(m->root, r);
    assert(ok && "no memory to simulate a crash");
    (void)ok;
    m->used = mem_tree_bytes(m->root);
    pthread_mutex_unlock(&m->mutex);
}

void fs_mem_drop_unsynced(struct fs_mem *m)
{
    fs_mem_crash(m, NULL);
}

void fs_mem_set_capacity(struct fs_mem *m, uint64_t bytes)
{
    pthread_mutex_lock(&m->mutex);
    m->capacity = bytes;
    pthread_mutex_unlock(&m->mutex);
}

bool fs_mem_flip(struct fs_mem *m, const char *path, uint64_t byte, unsigned bit)
{
    pthread_mutex_lock(&m->mutex);
    struct mem_inode *f = mem_lookup(m, path);
    bool there = f != NULL && !f->is_dir && byte < f->n;
    if (there) {
        f->blob->bytes[byte] ^= (uint8_t)(1U << (bit & 7));
        if (f->synced != NULL && f->synced != f->blob && byte < f->synced_n) {
            f->synced->bytes[byte] ^= (uint8_t)(1U << (bit & 7));
        }
    }
    pthread_mutex_unlock(&m->mutex);
    return there;
}
