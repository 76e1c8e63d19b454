/* Search contexts: a shard's view, pinned for the fetch phase, a scroll or a point in time, until its
 * keep-alive ends. */
#include "data/search/search_int.h"

#include <stdlib.h>

#define CONTEXTS_MAX 8000 /* of all kinds: a bound on memory; scrolls have a limit of their own */

struct search_context_entry {
    uint64_t id; /* 0: free */
    struct shard *sh;
    struct view *view;
    int64_t expires_ms; /* monotonic */
    bool is_scroll;
    struct scroll_state *scroll; /* NULL until the first page is there */
};

/* Under the lock: may there be one more scroll? */
static bool scroll_fits(const struct data_service *s)
{
    const struct searches *all = s->searches;
    int64_t n = 0;
    for (size_t i = 0; i < all->n_contexts; i++) {
        n += all->contexts[i].id != 0 && all->contexts[i].is_scroll;
    }
    return n < all->scrolls_max;
}

static void too_many(const struct data_service *s, bool fits, struct errmsg *em)
{
    const struct searches *all = s->searches;
    if (fits) {
        err_set(em, ERR_REJECTED,
                "Trying to create too many search contexts. Must be less than or equal to: [%d].",
                CONTEXTS_MAX);
    } else {
        err_set(em, ERR_INTERNAL,
                "Trying to create too many scroll contexts. Must be less than or equal to: [%lld]. This "
                "limit can be set by changing the [search.max_open_scroll_context] setting.",
                (long long)all->scrolls_max);
    }
}

uint64_t context_keep(struct data_service *s, struct shard *sh, struct view *v, int64_t keep_alive_ms,
                      bool scroll, struct errmsg *em)
{
    struct searches *all = s->searches;
    uint64_t id = 0;
    pthread_mutex_lock(&all->lock);
    size_t at = 0;
    bool fits = !scroll || scroll_fits(s);
    while (at < all->n_contexts && all->contexts[at].id != 0) {
        at++;
    }
    if (fits && at == all->n_contexts && all->n_contexts < CONTEXTS_MAX) {
        size_t more = all->n_contexts == 0 ? 64 : MIN_OF(all->n_contexts * 2, (size_t)CONTEXTS_MAX);
        struct search_context_entry *v2 = realloc(all->contexts, more * sizeof(*v2));
        if (v2 != NULL) {
            memset(&v2[all->n_contexts], 0, (more - all->n_contexts) * sizeof(*v2));
            all->contexts = v2;
            all->n_contexts = more;
        }
    }
    if (fits && at < all->n_contexts) {
        id = all->next_context++;
        all->contexts[at] = (struct search_context_entry){
            id, sh, view_ref(v), clock_mono_ms(s->o.clock) + keep_alive_ms, scroll, NULL};
        shard_ref(sh);
    }
    pthread_mutex_unlock(&all->lock);
    if (id == 0) {
        too_many(s, fits, em);
    }
    return id;
}

static struct search_context_entry *find(struct data_service *s, uint64_t id)
{
    struct searches *all = s->searches;
    for (size_t i = 0; id != 0 && i < all->n_contexts; i++) {
        if (all->contexts[i].id == id) {
            return &all->contexts[i];
        }
    }
    return NULL;
}

bool context_find(struct data_service *s, uint64_t id, int64_t keep_alive_ms, struct shard **sh,
                  struct view **v)
{
    struct searches *all = s->searches;
    pthread_mutex_lock(&all->lock);
    struct search_context_entry *c = find(s, id);
    if (c != NULL) {
        *sh = c->sh;
        *v = view_ref(c->view);
        shard_ref(c->sh);
        if (keep_alive_ms > 0) {
            c->expires_ms = clock_mono_ms(s->o.clock) + keep_alive_ms;
        }
    }
    pthread_mutex_unlock(&all->lock);
    return c != NULL;
}

void context_set_scroll(struct data_service *s, uint64_t id, struct scroll_state *st)
{
    struct searches *all = s->searches;
    pthread_mutex_lock(&all->lock);
    struct search_context_entry *c = find(s, id);
    struct scroll_state *old = c != NULL ? c->scroll : NULL;
    if (c != NULL) {
        st->refs++;
        c->scroll = st;
    }
    pthread_mutex_unlock(&all->lock);
    scroll_state_unref(old);
}

void context_scroll(struct data_service *s, uint64_t id, struct scroll_state **st,
                    struct scroll_place **place)
{
    struct searches *all = s->searches;
    *place = NULL;
    pthread_mutex_lock(&all->lock);
    struct search_context_entry *c = find(s, id);
    *st = c != NULL ? c->scroll : NULL;
    if (*st != NULL) {
        (*st)->refs++;
        *place = (*st)->place;
    }
    if (*place != NULL) {
        (*place)->refs++;
    }
    pthread_mutex_unlock(&all->lock);
}

bool context_free(struct data_service *s, uint64_t id)
{
    struct searches *all = s->searches;
    pthread_mutex_lock(&all->lock);
    struct search_context_entry *c = find(s, id), gone = {0};
    if (c != NULL) {
        gone = *c;
        *c = (struct search_context_entry){0};
    }
    pthread_mutex_unlock(&all->lock);
    if (gone.id != 0) {
        gone.sh->searches->scroll_total += gone.is_scroll;
        view_unref(gone.view);
        shard_unref(gone.sh);
        scroll_state_unref(gone.scroll);
    }
    return gone.id != 0;
}

/* Those of scrolls; how many there were. */
static uint32_t free_scrolls(struct data_service *s)
{
    struct searches *all = s->searches;
    uint32_t n = 0;
    for (;;) {
        uint64_t id = 0;
        pthread_mutex_lock(&all->lock);
        for (size_t i = 0; i < all->n_contexts && id == 0; i++) {
            id = all->contexts[i].is_scroll ? all->contexts[i].id : 0;
        }
        pthread_mutex_unlock(&all->lock);
        if (id == 0) {
            return n;
        }
        n += context_free(s, id);
    }
}

void data_free(struct data_service *s, struct shard_free *rq)
{
    rq->freed = rq->all_scrolls ? free_scrolls(s) : 0;
    for (uint32_t i = 0; i < rq->n; i++) {
        rq->freed += context_free(s, rq->contexts[i]);
    }
    shard_rq_answer(&rq->rq);
}

void contexts_expire(struct data_service *s, bool whatever)
{
    struct searches *all = s->searches;
    int64_t now = clock_mono_ms(s->o.clock);
    for (;;) {
        uint64_t id = 0;
        pthread_mutex_lock(&all->lock);
        for (size_t i = 0; i < all->n_contexts && id == 0; i++) {
            struct search_context_entry *c = &all->contexts[i];
            id = c->id != 0 && (whatever || c->expires_ms <= now) ? c->id : 0;
        }
        pthread_mutex_unlock(&all->lock);
        if (id == 0) {
            break;
        }
        context_free(s, id);
    }
    if (whatever) {
        free(all->contexts);
        all->contexts = NULL;
        all->n_contexts = 0;
    }
}

size_t contexts_of_shard(struct data_service *s, const struct shard *sh)
{
    struct searches *all = s->searches;
    size_t n = 0;
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->n_contexts; i++) {
        n += all->contexts[i].id != 0 && all->contexts[i].sh == sh;
    }
    pthread_mutex_unlock(&all->lock);
    return n;
}

void contexts_invariant(const struct data_service *s)
{
    const struct searches *all = s->searches;
    for (size_t i = 0; i < all->n_contexts; i++) {
        const struct search_context_entry *c = &all->contexts[i];
        if (c->id == 0) {
            assert(c->sh == NULL && c->view == NULL && c->scroll == NULL);
            continue;
        }
        assert(c->id < all->next_context && c->sh != NULL && c->sh->refs > 0 && c->view != NULL);
        assert(c->scroll == NULL || c->is_scroll);
        for (size_t k = 0; k < i; k++) {
            assert(all->contexts[k].id != c->id);
        }
    }
}
