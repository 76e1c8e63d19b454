#include "tests/seams/fs_mem_tree.h"

#include <stdlib.h>

void mem_blob_unref(struct mem_blob *b)
{
    if (b != NULL && --b->refs == 0) {
        free(b);
    }
}

static void names_clear(struct mem_names *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->v[i].name);
        mem_inode_unref(s->v[i].inode);
    }
    free(s->v);
    *s = (struct mem_names){0};
}

static void change_free(struct mem_change *c)
{
    free(c->name);
    free(c->also_gone);
    if (c->inode != NULL) {
        mem_inode_unref(c->inode);
    }
}

static void changes_clear(struct mem_inode *d)
{
    for (size_t i = 0; i < d->changes_n; i++) {
        change_free(&d->changes[i]);
    }
    free(d->changes);
    d->changes = NULL;
    d->changes_n = d->changes_cap = 0;
}

struct mem_inode *mem_inode_new(bool is_dir)
{
    struct mem_inode *i = calloc(1, sizeof(*i));
    if (i != NULL) {
        i->refs = 1;
        i->is_dir = is_dir;
    }
    return i;
}

void mem_inode_unref(struct mem_inode *i)
{
    if (--i->refs > 0) {
        return;
    }
    mem_blob_unref(i->blob);
    mem_blob_unref(i->synced);
    mem_wounds_free(i);
    changes_clear(i);
    names_clear(&i->now);
    names_clear(&i->durable);
    free(i);
}

bool mem_own_blob(struct mem_inode *f, size_t cap)
{
    struct mem_blob *b = malloc(sizeof(*b) + cap);
    if (b == NULL) {
        return false;
    }
    b->refs = 1;
    b->cap = cap;
    if (f->n > 0) {
        memcpy(b->bytes, f->blob->bytes, f->n);
    }
    mem_blob_unref(f->blob);
    f->blob = b;
    return true;
}

bool mem_file_append(struct mem_inode *f, const void *p, size_t n)
{
    if (n == 0) {
        return true;
    }
    if (f->blob == NULL || f->blob->cap - f->n < n) {
        if (!mem_own_blob(f, MAX_OF((f->n + n) * 2, (size_t)64))) {
            return false;
        }
    }
    memcpy(f->blob->bytes + f->n, p, n);
    f->n += n;
    return true;
}

bool mem_file_patch(struct mem_inode *f, size_t at, const void *p, size_t n)
{
    assert(at + n <= f->n);
    if (n == 0) {
        return true;
    }
    if (f->blob->refs > 1 && !mem_own_blob(f, f->blob->cap)) {
        return false;
    }
    memcpy(f->blob->bytes + at, p, n);
    mem_wounds_over(f, at, n);
    f->patched = MAX_OF(f->patched, at + n);
    return true;
}

void mem_file_empty(struct mem_inode *f)
{
    mem_blob_unref(f->blob);
    f->blob = NULL;
    mem_wounds_free(f);
    f->n = f->patched = 0;
    f->rewritten = f->synced_n > 0;
}

void mem_file_sync(struct mem_inode *f)
{
    if (f->lost) {
        return;
    }
    if (f->synced != f->blob) {
        mem_blob_unref(f->synced);
        f->synced = f->blob;
        if (f->blob != NULL) {
            f->blob->refs++;
        }
    }
    f->synced_n = f->n;
    f->rewritten = f->set_back = false;
    f->patched = 0;
}

bool mem_file_cut(struct mem_inode *f, size_t n)
{
    assert(n <= f->n);
    f->n = n; /* later appends must not write into what views of the longer run show */
    if (!mem_own_blob(f, MAX_OF(n, (size_t)64))) {
        return false;
    }
    f->lost = false;
    mem_wounds_over(f, n, SIZE_MAX - n);
    mem_file_sync(f);
    return true;
}

/* Place of `name`, or where it would go. */
static size_t names_find(const struct mem_names *s, const char *name, size_t n, bool *found)
{
    size_t from = 0, to = s->n;
    while (from < to) {
        size_t mid = from + (to - from) / 2;
        int c = str_cmp(str_of(s->v[mid].name), str_mk(name, n));
        if (c == 0) {
            *found = true;
            return mid;
        }
        if (c < 0) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    *found = false;
    return from;
}

static void names_remove(struct mem_names *s, struct str name)
{
    bool found;
    size_t at = names_find(s, name.p, name.n, &found);
    if (found) {
        free(s->v[at].name);
        mem_inode_unref(s->v[at].inode);
        memmove(&s->v[at], &s->v[at + 1], (s->n - at - 1) * sizeof(s->v[0]));
        s->n--;
    }
}

static bool names_put(struct mem_names *s, struct str name, struct mem_inode *inode)
{
    bool found;
    size_t at = names_find(s, name.p, name.n, &found);
    if (found) {
        inode->refs++;
        mem_inode_unref(s->v[at].inode);
        s->v[at].inode = inode;
        return true;
    }
    if (s->n == s->cap) {
        size_t cap = MAX_OF(s->cap * 2, (size_t)8);
        struct mem_entry *v = realloc(s->v, cap * sizeof(*v));
        if (v == NULL) {
            return false;
        }
        s->v = v;
        s->cap = cap;
    }
    char *copy = strndup(name.p, name.n);
    if (copy == NULL) {
        return false;
    }
    memmove(&s->v[at + 1], &s->v[at], (s->n - at) * sizeof(s->v[0]));
    inode->refs++;
    s->v[at] = (struct mem_entry){copy, inode};
    s->n++;
    return true;
}

static bool names_apply(struct mem_names *s, const struct mem_change *c)
{
    if (c->inode == NULL) {
        names_remove(s, str_of(c->name));
    } else if (!names_put(s, str_of(c->name), c->inode)) {
        return false;
    }
    if (c->also_gone != NULL) {
        names_remove(s, str_of(c->also_gone));
    }
    return true;
}

struct mem_inode *mem_dir_get(const struct mem_inode *d, const char *name, size_t n)
{
    bool found;
    size_t at = names_find(&d->now, name, n, &found);
    return found ? d->now.v[at].inode : NULL;
}

bool mem_dir_set(struct mem_inode *d, struct str name, struct mem_inode *inode, struct str also_gone)
{
    if (d->changes_n == d->changes_cap) {
        size_t cap = MAX_OF(d->changes_cap * 2, (size_t)8);
        struct mem_change *v = realloc(d->changes, cap * sizeof(*v));
        if (v == NULL) {
            return false;
        }
        d->changes = v;
        d->changes_cap = cap;
    }
    struct mem_change c = {.name = strndup(name.p, name.n), .inode = inode};
    c.also_gone = also_gone.p != NULL ? strndup(also_gone.p, also_gone.n) : NULL;
    if (inode != NULL) {
        inode->refs++;
    }
    if (c.name == NULL || (also_gone.p != NULL && c.also_gone == NULL) || !names_apply(&d->now, &c)) {
        change_free(&c);
        return false;
    }
    d->changes[d->changes_n++] = c;
    return true;
}

bool mem_dir_sync(struct mem_inode *d)
{
    for (size_t i = 0; i < d->changes_n; i++) {
        if (!names_apply(&d->durable, &d->changes[i])) {
            return false;
        }
    }
    changes_clear(d);
    return true;
}

/* What was overwritten from that byte on did not reach the disk. */
static bool unpatch(struct mem_inode *f, size_t from)
{
    size_t to = MIN_OF(f->patched, f->synced_n);
    if (from >= to) {
        return true;
    }
    if (!mem_own_blob(f, f->blob->cap)) {
        return false;
    }
    memcpy(f->blob->bytes + from, f->synced->bytes + from, to - from);
    return true;
}

static bool file_crash(struct mem_inode *f, struct rng *r)
{
    bool rewritten = f->rewritten, set_back = f->set_back || f->patched > 0;
    f->lost = false;
    size_t n = f->synced_n;
    if (r != NULL && (!rewritten || rng_below(r, 2) == 0)) {
        /* Some of the tail reached the disk; of a file that was emptied and rewritten, the new beginning. */
        size_t least = rewritten ? 0 : f->synced_n;
        n = least + (size_t)rng_below(r, f->n - least + 1);
        if (!rewritten && f->patched > 0 && !unpatch(f, (size_t)rng_below(r, f->patched + 1))) {
            return false;
        }
    } else if (f->blob != f->synced) {
        mem_blob_unref(f->blob);
        f->blob = f->synced;
        if (f->blob != NULL) {
            f->blob->refs++;
        }
        f->n = n;
    }
    bool ok = mem_file_cut(f, n);
    f->set_back = set_back;
    return ok;
}

bool mem_tree_crash(struct mem_inode *d, struct rng *r)
{
    if (!d->is_dir) {
        return file_crash(d, r);
    }
    size_t kept = r != NULL ? (size_t)rng_below(r, d->changes_n + 1) : 0;
    for (size_t i = 0; i < kept; i++) {
        if (!names_apply(&d->durable, &d->changes[i])) {
            return false;
        }
    }
    changes_clear(d);
    names_clear(&d->now);
    for (size_t i = 0; i < d->durable.n; i++) {
        struct mem_entry *e = &d->durable.v[i];
        if (!mem_tree_crash(e->inode, r) || !names_put(&d->now, str_of(e->name), e->inode)) {
            return false;
        }
    }
    return true;
}

uint64_t mem_tree_bytes(const struct mem_inode *d)
{
    uint64_t sum = d->is_dir ? 0 : d->n;
    for (size_t i = 0; i < d->now.n; i++) {
        sum += mem_tree_bytes(d->now.v[i].inode);
    }
    return sum;
}
