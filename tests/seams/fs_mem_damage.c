/* fs_mem_damage.c - the damage of bad disks to the files in memory: bytes that change at rest, writes that do not get to their
 * place, calls that fail by chance. */
#include "tests/seams/fs_mem_int.h"

#include <stdio.h>
#include <stdlib.h>

#define SECTOR         512
#define PATH_MAX_BYTES 1024

/* ---- what is remembered with a file ---- */

void mem_wounds_free(struct mem_inode *f)
{
    while (f->wounds != NULL) {
        struct mem_wound *w = f->wounds;
        f->wounds = w->next;
        free(w);
    }
}

static bool note(struct mem_inode *f, size_t at, const void *right, size_t n, bool end)
{
    struct mem_wound *w = malloc(sizeof(*w) + n);
    if (w == NULL) {
        return false;
    }
    *w = (struct mem_wound){.next = f->wounds, .at = at, .n = n, .end = end};
    memcpy(w->bytes, right, n);
    f->wounds = w;
    return true;
}

void mem_wounds_over(struct mem_inode *f, size_t at, size_t n)
{
    for (struct mem_wound **p = &f->wounds; *p != NULL;) {
        struct mem_wound *w = *p;
        size_t least = w->end ? at + 1 : at; /* a file that was cut is no other one when it is cut there */
        if (w->at < least || w->at - at >= n || w->n > n - (w->at - at)) {
            p = &w->next;
        } else {
            *p = w->next;
            free(w);
        }
    }
}

/* The run that is read, and the one that a power failure leaves, become the file's own: mappings keep theirs. */
static bool copy_blobs(struct mem_inode *f)
{
    bool same = f->synced == f->blob;
    if (f->blob == NULL || !mem_own_blob(f, f->blob->cap)) {
        return false;
    }
    struct mem_blob *of_disk = f->blob;
    if (same) {
        of_disk->refs++;
    } else if (f->synced != NULL) {
        of_disk = malloc(sizeof(*of_disk) + f->synced->cap);
        if (of_disk == NULL) {
            return false;
        }
        of_disk->refs = 1;
        of_disk->cap = f->synced->cap;
        memcpy(of_disk->bytes, f->synced->bytes, f->synced_n);
    } else {
        return true;
    }
    mem_blob_unref(f->synced);
    f->synced = of_disk;
    return true;
}

static bool put(struct mem_inode *f, size_t at, const void *p, size_t n)
{
    if (n == 0) {
        return true;
    }
    if (!copy_blobs(f)) {
        return false;
    }
    memcpy(f->blob->bytes + at, p, n);
    if (f->synced != NULL && f->synced != f->blob && at < f->synced_n) {
        memcpy(f->synced->bytes + at, p, MIN_OF(n, f->synced_n - at));
    }
    return true;
}

bool mem_file_harm(struct mem_inode *f, size_t at, const void *to, size_t n)
{
    assert(at + n <= f->n);
    return note(f, at, f->blob->bytes + at, n, false) && put(f, at, to, n);
}

bool mem_file_harm_end(struct mem_inode *f, size_t n)
{
    return note(f, n, f->blob->bytes + n, f->n - n, true) && mem_file_cut(f, n);
}

bool mem_file_note_lost(struct mem_inode *f, size_t at, const void *p, size_t n)
{
    return note(f, at, p, n, false);
}

bool mem_file_heal(struct mem_inode *f)
{
    bool ok = true;
    for (const struct mem_wound *w = f->wounds; w != NULL && ok; w = w->next) { /* the last one first */
        if (w->end) {
            ok = w->at != f->n || mem_file_append(f, w->bytes, w->n);
        } else if (w->at < f->n) {
            ok = put(f, w->at, w->bytes, MIN_OF(w->n, f->n - w->at));
        }
    }
    mem_wounds_free(f);
    if (ok) {
        mem_file_sync(f);
    }
    return ok;
}

/* ---- all files below a path ---- */

struct visit {
    void (*fn)(struct visit *v, const char *path, struct mem_inode *f);
    void (*each)(void *self, const char *path, uint64_t bytes);
    void *self;
    uint64_t count, bytes;
};

static void visit_all(struct visit *v, const char *path, struct mem_inode *i)
{
    if (!i->is_dir) {
        v->fn(v, path, i);
        return;
    }
    for (size_t k = 0; k < i->now.n; k++) {
        char below[PATH_MAX_BYTES];
        snprintf(below, sizeof(below), "%s/%s", path, i->now.v[k].name);
        visit_all(v, below, i->now.v[k].inode);
    }
}

static void visit_below(struct fs_mem *m, const char *path, struct visit *v)
{
    pthread_mutex_lock(&m->mutex);
    struct mem_inode *i = mem_lookup(m, path);
    if (i != NULL) {
        visit_all(v, path, i);
    }
    pthread_mutex_unlock(&m->mutex);
}

static void count_harmed(struct visit *v, UNUSED const char *path, struct mem_inode *f)
{
    v->count += f->wounds != NULL;
}

unsigned fs_mem_harmed(struct fs_mem *m, const char *path)
{
    struct visit v = {.fn = count_harmed};
    visit_below(m, path, &v);
    return (unsigned)v.count;
}

static void heal_file(UNUSED struct visit *v, UNUSED const char *path, struct mem_inode *f)
{
    bool ok = mem_file_heal(f);
    assert(ok && "no memory to simulate a repair");
    (void)ok;
}

void fs_mem_heal(struct fs_mem *m, const char *path)
{
    struct visit v = {.fn = heal_file};
    visit_below(m, path, &v);
    pthread_mutex_lock(&m->mutex);
    m->used = mem_tree_bytes(m->root);
    pthread_mutex_unlock(&m->mutex);
}

static void visit_file(struct visit *v, const char *path, struct mem_inode *f)
{
    v->each(v->self, path, f->n);
}

void fs_mem_each(struct fs_mem *m, const char *path, void (*fn)(void *self, const char *path, uint64_t bytes),
                 void *self)
{
    struct visit v = {.fn = visit_file, .each = fn, .self = self};
    visit_below(m, path, &v);
}

/* ---- at rest ---- */

static bool is_mapped(const struct fs_mem *m, const struct mem_inode *f)
{
    for (const struct fs_file *h = m->handles.next; h != &m->handles; h = h->next) {
        if (h->kind == HANDLE_MAP && !h->dead && h->blob == f->blob) {
            return true;
        }
    }
    return false;
}

static bool harm_file(struct mem_inode *f, enum fs_mem_harm how, struct rng *r)
{
    static const uint8_t zeros[SECTOR];
    size_t at = (size_t)rng_below(r, f->n);
    if (how == FS_MEM_CUT) {
        return mem_file_harm_end(f, at);
    }
    if (how == FS_MEM_ZEROS) {
        at = at / SECTOR * SECTOR;
        return mem_file_harm(f, at, zeros, MIN_OF((size_t)SECTOR, f->n - at));
    }
    uint8_t flipped = f->blob->bytes[at] ^ (uint8_t)(1U << rng_below(r, 8));
    return mem_file_harm(f, at, &flipped, 1);
}

bool fs_mem_harm(struct fs_mem *m, const char *path, enum fs_mem_harm how, struct rng *r)
{
    pthread_mutex_lock(&m->mutex);
    struct mem_inode *f = mem_lookup(m, path);
    bool there = f != NULL && !f->is_dir && f->n > 0 && !f->set_back && !is_mapped(m, f);
    bool ok = !there || harm_file(f, how, r);
    assert(ok && "no memory to simulate damage");
    (void)ok;
    m->used = mem_tree_bytes(m->root);
    pthread_mutex_unlock(&m->mutex);
    return there;
}

/* What a file has, on a disk that may be the same; NULL: nothing, or no memory. */
static uint8_t *content_of(struct fs_mem *m, const char *path, size_t *n)
{
    uint8_t *p = NULL;
    pthread_mutex_lock(&m->mutex);
    const struct mem_inode *f = mem_lookup(m, path);
    if (f != NULL && !f->is_dir && f->n > 0) {
        *n = f->n;
        p = malloc(f->n);
        if (p != NULL) {
            memcpy(p, f->blob->bytes, f->n);
        }
    }
    pthread_mutex_unlock(&m->mutex);
    return p;
}

bool fs_mem_harm_with(struct fs_mem *m, const char *path, struct fs_mem *of, const char *other)
{
    size_t n = 0;
    uint8_t *p = content_of(of, other, &n);
    pthread_mutex_lock(&m->mutex);
    struct mem_inode *f = p != NULL ? mem_lookup(m, path) : NULL;
    bool fits = f != NULL && !f->is_dir && f->n > 0 && !f->set_back && !is_mapped(m, f)
                && (f->n != n || memcmp(f->blob->bytes, p, n) != 0);
    bool ok = !fits || n >= f->n || mem_file_harm_end(f, n);
    ok = !fits || (ok && mem_file_harm(f, 0, p, MIN_OF(n, f->n)));
    assert(ok && "no memory to simulate damage");
    (void)ok;
    m->used = mem_tree_bytes(m->root);
    pthread_mutex_unlock(&m->mutex);
    free(p);
    return fits;
}

/* ---- writes that are lost ---- */

void fs_mem_lose_write(struct fs_mem *m, const char *dir, bool misplaced, uint64_t seed)
{
    pthread_mutex_lock(&m->mutex);
    free(m->lose_in);
    m->lose_in = dir != NULL ? strdup(dir) : NULL;
    m->misplaced = misplaced;
    rng_seed(&m->chance, seed);
    pthread_mutex_unlock(&m->mutex);
}

uint64_t fs_mem_writes_lost(struct fs_mem *m)
{
    pthread_mutex_lock(&m->mutex);
    uint64_t n = m->writes_lost;
    pthread_mutex_unlock(&m->mutex);
    return n;
}

bool mem_write_is_lost(const struct fs_mem *m, const struct fs_file *f)
{
    size_t n = m->lose_in != NULL ? strlen(m->lose_in) : 0;
    return n > 0 && strncmp(f->path, m->lose_in, n) == 0 && f->path[n] == '/';
}

struct landing {    /* one of the files, each as likely */
    struct visit v; /* first */
    const struct fs_mem *m;
    const struct mem_inode *not_in; /* the file that it was meant for */
    struct rng *r;
    struct mem_inode *file;
};

static void may_land(struct visit *v, const char *path, struct mem_inode *f)
{
    struct landing *l = (struct landing *)(void *)v;
    const char *name = strrchr(path, '/');
    if (f->n > 0 && f != l->not_in && strcmp(name, "/seal") != 0 && !is_mapped(l->m, f)
        && rng_below(l->r, ++v->count) == 0) {
        l->file = f;
    }
}

static bool land(struct fs_mem *m, const struct mem_inode *meant, const void *p, size_t n)
{
    struct landing l = {.v = {.fn = may_land}, .m = m, .not_in = meant, .r = &m->chance};
    struct mem_inode *dir = mem_lookup(m, m->lose_in);
    bool ok = true;
    if (dir != NULL) {
        visit_all(&l.v, m->lose_in, dir);
    }
    if (l.file != NULL) {
        size_t at = (size_t)rng_below(&m->chance, l.file->n);
        ok = mem_file_harm(l.file, at, p, MIN_OF(n, l.file->n - at));
    }
    return ok;
}

static bool lost(struct fs_mem *m, const struct mem_inode *meant, const void *p, size_t n)
{
    bool ok = !m->misplaced || land(m, meant, p, n);
    free(m->lose_in);
    m->lose_in = NULL;
    m->writes_lost++;
    return ok;
}

bool mem_lose_append(struct fs_mem *m, struct fs_file *f, const void *p, size_t n)
{
    uint8_t *zeros = calloc(n > 0 ? n : 1, 1);
    size_t at = f->inode->n;
    bool ok = zeros != NULL && mem_file_append(f->inode, zeros, n)
              && (n == 0 || (mem_file_note_lost(f->inode, at, p, n) && lost(m, f->inode, p, n)));
    free(zeros);
    return ok;
}

bool mem_lose_patch(struct fs_mem *m, struct fs_file *f, size_t at, const void *p, size_t n)
{
    return mem_file_note_lost(f->inode, at, p, n) && lost(m, f->inode, p, n);
}

/* ---- errors ---- */

void fs_mem_trouble(struct fs_mem *m, const struct fs_mem_trouble *t, uint64_t seed)
{
    pthread_mutex_lock(&m->mutex);
    m->trouble = *t;
    rng_seed(&m->chance, seed);
    pthread_mutex_unlock(&m->mutex);
}
