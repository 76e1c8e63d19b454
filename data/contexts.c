/* Search contexts: a shard's view, pinned for the fetch phase, a scroll or a point in time, until its
 * keep-alive ends. */
#include "data/data_int.h"

#include <stdlib.h>

#define CONTEXTS_MAX 500 /* search.max_open_scroll_context */

struct search_context_entry {
    uint64_t id; /* 0: free */
    struct shard *sh;
    struct view *view;
    int64_t expires_ms; /* monotonic */
    struct scroll_state *scroll;
};

void scroll_state_free(struct scroll_state *st)
{
    if (st != NULL) {
        arena_fini(&st->arena);
        free(st);
    }
}

uint64_t context_keep(struct data_service *s, struct shard *sh, struct view *v, int64_t keep_alive_ms,
                      struct errmsg *em)
{
    uint64_t id = 0;
    pthread_mutex_lock(&s->lock);
    size_t at = 0;
    while (at < s->n_contexts && s->contexts[at].id != 0) {
        at++;
    }
    if (at == s->n_contexts && s->n_contexts < 16 * CONTEXTS_MAX) {
        size_t more = s->n_contexts == 0 ? 64 : s->n_contexts * 2;
        struct search_context_entry *v2 = realloc(s->contexts, more * sizeof(*v2));
        if (v2 != NULL) {
            memset(&v2[s->n_contexts], 0, (more - s->n_contexts) * sizeof(*v2));
            s->contexts = v2;
            s->n_contexts = more;
        }
    }
    if (at < s->n_contexts) {
        id = s->next_context++;
        s->contexts[at] = (struct search_context_entry){id, sh, view_ref(v),
                                                        clock_mono_ms(s->o.clock) + keep_alive_ms, NULL};
        sh->users++;
    }
    pthread_mutex_unlock(&s->lock);
    if (id == 0) {
        err_set(em, ERR_REJECTED,
                "Trying to create too many search contexts. Must be less than or equal to: [%d].",
                16 * CONTEXTS_MAX);
    }
    return id;
}

static struct search_context_entry *find(struct data_service *s, uint64_t id)
{
    for (size_t i = 0; id != 0 && i < s->n_contexts; i++) {
        if (s->contexts[i].id == id) {
            return &s->contexts[i];
        }
    }
    return NULL;
}

bool context_use(struct data_service *s, uint64_t id, int64_t keep_alive_ms, struct shard **sh,
                 struct view **v)
{
    pthread_mutex_lock(&s->lock);
    struct search_context_entry *c = find(s, id);
    if (c != NULL) {
        *sh = c->sh;
        *v = view_ref(c->view);
        c->sh->users++;
        if (keep_alive_ms > 0) {
            c->expires_ms = clock_mono_ms(s->o.clock) + keep_alive_ms;
        }
    }
    pthread_mutex_unlock(&s->lock);
    return c != NULL;
}

void context_set_scroll(struct data_service *s, uint64_t id, struct scroll_state *st)
{
    pthread_mutex_lock(&s->lock);
    struct search_context_entry *c = find(s, id);
    if (c != NULL) {
        c->scroll = st;
    }
    pthread_mutex_unlock(&s->lock);
    if (c == NULL) {
        scroll_state_free(st);
    }
}

struct scroll_state *context_scroll(struct data_service *s, uint64_t id)
{
    pthread_mutex_lock(&s->lock);
    struct search_context_entry *c = find(s, id);
    struct scroll_state *st = c != NULL ? c->scroll : NULL;
    pthread_mutex_unlock(&s->lock);
    return st;
}

bool data_free_context(void *self, uint64_t id)
{
    struct data_service *s = self;
    pthread_mutex_lock(&s->lock);
    struct search_context_entry *c = find(s, id), gone = {0};
    if (c != NULL) {
        gone = *c;
        *c = (struct search_context_entry){0};
    }
    pthread_mutex_unlock(&s->lock);
    if (gone.id != 0) {
        view_unref(gone.view);
        shard_release(gone.sh);
        scroll_state_free(gone.scroll);
    }
    return gone.id != 0;
}

uint32_t data_free_all_contexts(void *self)
{
    struct data_service *s = self;
    uint32_t n = 0;
    for (;;) {
        uint64_t id = 0;
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->n_contexts && id == 0; i++) {
            id = s->contexts[i].scroll != NULL ? s->contexts[i].id : 0;
        }
        pthread_mutex_unlock(&s->lock);
        if (id == 0) {
            return n;
        }
        n += data_free_context(s, id);
    }
}

void contexts_expire(struct data_service *s, bool all)
{
    int64_t now = clock_mono_ms(s->o.clock);
    for (;;) {
        uint64_t id = 0;
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->n_contexts && id == 0; i++) {
            struct search_context_entry *c = &s->contexts[i];
            id = c->id != 0 && (all || c->expires_ms <= now) ? c->id : 0;
        }
        pthread_mutex_unlock(&s->lock);
        if (id == 0) {
            break;
        }
        data_free_context(s, id);
    }
    if (all) {
        free(s->contexts);
        s->contexts = NULL;
        s->n_contexts = 0;
    }
}

size_t contexts_of_shard(struct data_service *s, const struct shard *sh)
{
    size_t n = 0;
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->n_contexts; i++) {
        n += s->contexts[i].id != 0 && s->contexts[i].sh == sh;
    }
    pthread_mutex_unlock(&s->lock);
    return n;
}
