/* All pipelines of the cluster, compiled (ingest.h). */
#include "engine/ingest/processor.h"

#include <pthread.h>

/* One pipeline with its memory: counted, as sets share those that stay. */
struct set_entry {
    _Atomic uint32_t refs;
    struct arena arena;
    struct str id, body;
    struct pipeline *pipeline;
};

struct ingest_set {
    _Atomic uint32_t refs;
    uint32_t n;
    struct set_entry *v[]; /* sorted by id */
};

static struct {
    pthread_mutex_t lock;
    struct ingest_set *set;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- a pipeline that cannot be read is one that fails ----------------------------------------------------- */

struct broken {
    struct str why;
};

static enum err broken_run(const void *own, struct ingest_doc *d, struct errmsg *em)
{
    const struct broken *b = own;
    (void)d;
    return err_set(em, ERR_ILLEGAL_STATE, "%.*s", STR_ARG(b->why));
}

static const struct processor_row broken_row = {.name = "unknown", .run = broken_run};

static bool make_broken(struct set_entry *x, const struct errmsg *em)
{
    struct arena *a = &x->arena;
    struct pipeline *p = ARENA_NEW(a, struct pipeline);
    struct processor *one = ARENA_NEW(a, struct processor), **list = ARENA_NEW(a, struct processor *);
    struct broken *own = ARENA_NEW(a, struct broken);
    struct ingest_counts *counts = ARENA_ARRAY(a, struct ingest_counts, 2);
    if (p == NULL || one == NULL || list == NULL || own == NULL || counts == NULL) {
        return false;
    }
    own->why = arena_printf(a, "pipeline with id [%.*s] could not be loaded, caused by [%s]", STR_ARG(x->id),
                            err_reason(em));
    *one = (struct processor){.row = &broken_row, .own = own, .counts = &counts[0]};
    *list = one;
    *p = (struct pipeline){.id = x->id, .all = {list, 1}, .counts = &counts[1]};
    x->pipeline = p;
    return own->why.p != NULL;
}

/* ---- entries ------------------------------------------------------------------------------------------- */

static void entry_unref(struct set_entry *x)
{
    if (atomic_fetch_sub(&x->refs, 1) == 1) {
        arena_fini(&x->arena);
        alloc_put(alloc_default(), x);
    }
}

/* Counters go on where a pipeline of the same id is replaced. */
static void keep_counts(struct ingest_counts *to, const struct ingest_counts *from)
{
    atomic_store(&to->count, atomic_load(&from->count));
    atomic_store(&to->failed, atomic_load(&from->failed));
    atomic_store(&to->time_ns, atomic_load(&from->time_ns));
}

static struct set_entry *entry_new(const struct ingest_source *s, const struct set_entry *was)
{
    struct set_entry *x = alloc_get(alloc_default(), sizeof(*x));
    struct json v;
    ERR_LOCAL(em);
    if (x == NULL) {
        return NULL;
    }
    memset(x, 0, sizeof(*x));
    atomic_init(&x->refs, 1);
    arena_init(&x->arena, NULL, ARENA_UNLIMITED);
    x->id = arena_str(&x->arena, s->id);
    x->body = arena_str(&x->arena, s->body);
    enum err e = x->id.p != NULL && x->body.p != NULL ? ERR_OK : ERR_NO_MEMORY;
    e = e == ERR_OK ? json_parse(&v, x->body, &x->arena, &json_limits_default, &em) : e;
    e = e == ERR_OK ? pipeline_read(&x->pipeline, x->id, &v, &x->arena, &em) : e;
    if (e != ERR_OK && (e == ERR_NO_MEMORY || !make_broken(x, &em))) {
        entry_unref(x);
        return NULL;
    }
    if (was != NULL) {
        keep_counts(x->pipeline->counts, was->pipeline->counts);
    }
    return x;
}

static struct set_entry *set_entry(const struct ingest_set *s, struct str id)
{
    uint32_t lo = 0, hi = s != NULL ? s->n : 0;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int order = str_cmp(s->v[mid]->id, id);
        if (order == 0) {
            return s->v[mid];
        }
        lo = order < 0 ? mid + 1 : lo;
        hi = order < 0 ? hi : mid;
    }
    return NULL;
}

/* ---- sets ---------------------------------------------------------------------------------------------- */

void ingest_set_unref(struct ingest_set *s)
{
    if (s != NULL && atomic_fetch_sub(&s->refs, 1) == 1) {
        for (uint32_t i = 0; i < s->n; i++) {
            entry_unref(s->v[i]);
        }
        alloc_put(alloc_default(), s);
    }
}

struct ingest_set *ingest_set_now(void)
{
    pthread_mutex_lock(&all.lock);
    struct ingest_set *s = all.set;
    if (s != NULL) {
        atomic_fetch_add(&s->refs, 1);
    }
    pthread_mutex_unlock(&all.lock);
    return s;
}

static bool is_current(const struct ingest_set *s, const struct ingest_source *v, uint32_t n)
{
    uint32_t i = 0;
    while (s != NULL && s->n == n && i < n && str_eq(s->v[i]->id, v[i].id)
           && str_eq(s->v[i]->body, v[i].body)) {
        i++;
    }
    return s != NULL ? s->n == n && i == n : n == 0;
}

bool ingest_set_replace(const struct ingest_source *v, uint32_t n)
{
    struct ingest_set *was = ingest_set_now();
    if (is_current(was, v, n)) {
        ingest_set_unref(was);
        return true;
    }
    struct ingest_set *s = alloc_get(alloc_default(), sizeof(*s) + (size_t)n * sizeof(*s->v));
    bool ok = s != NULL;
    if (ok) {
        atomic_init(&s->refs, 1);
        s->n = 0;
    }
    for (uint32_t i = 0; ok && i < n; i++) {
        struct set_entry *same = set_entry(was, v[i].id);
        if (same != NULL && str_eq(same->body, v[i].body)) {
            atomic_fetch_add(&same->refs, 1);
            s->v[s->n++] = same;
        } else {
            s->v[s->n] = entry_new(&v[i], same);
            ok = s->v[s->n] != NULL;
            s->n += ok;
        }
    }
    if (ok) {
        pthread_mutex_lock(&all.lock);
        struct ingest_set *before = all.set;
        all.set = s;
        s = before;
        pthread_mutex_unlock(&all.lock);
    }
    ingest_set_unref(s);
    ingest_set_unref(was);
    return ok;
}

const struct pipeline *ingest_set_find(const struct ingest_set *s, struct str id)
{
    const struct set_entry *x = set_entry(s, id);
    return x != NULL ? x->pipeline : NULL;
}

/* ---- statistics ---------------------------------------------------------------------------------------- */

void ingest_write_counts(struct jsonw *w, const struct ingest_counts *c)
{
    jw_ki64(w, "count", atomic_load(&c->count));
    jw_ki64(w, "time_in_millis", atomic_load(&c->time_ns) / 1000000);
    jw_ki64(w, "current", atomic_load(&c->current));
    jw_ki64(w, "failed", atomic_load(&c->failed));
}

void ingest_write_stats(struct jsonw *w, const struct ingest_set *s)
{
    for (uint32_t i = 0; s != NULL && i < s->n; i++) {
        const struct pipeline *p = s->v[i]->pipeline;
        jw_key(w, p->id);
        jw_obj(w);
        ingest_write_counts(w, p->counts);
        jw_k(w, "processors");
        jw_arr(w);
        for (uint32_t k = 0; k < p->all.n; k++) {
            const struct processor *x = p->all.v[k];
            jw_obj(w);
            jw_k(w, x->row->name);
            jw_obj(w);
            jw_kz(w, "type", x->row->name);
            jw_k(w, "stats");
            jw_obj(w);
            ingest_write_counts(w, x->counts);
            jw_obj_end(w);
            jw_obj_end(w);
            jw_obj_end(w);
        }
        jw_arr_end(w);
        jw_obj_end(w);
    }
}
