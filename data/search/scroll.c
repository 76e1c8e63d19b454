/* The state of a scroll's context: the first page's request, and where the pages got to. */
#include "data/search/search_int.h"

#include "common/base/memory_account.h"
#include <stdlib.h>

void scroll_place_unref(struct scroll_place *place)
{
    if (place != NULL && --place->refs == 0) {
        arena_fini(&place->arena);
        free(place);
    }
}

void scroll_state_unref(struct scroll_state *st)
{
    if (st != NULL && --st->refs == 0) {
        scroll_place_unref(st->place);
        arena_fini(&st->arena);
        free(st);
    }
}

/* The first page's request, kept for those to come. */
static struct scroll_state *scroll_begin(const struct shard_query *rq)
{
    struct scroll_state *st = calloc(1, sizeof(*st));
    if (st == NULL) {
        return NULL;
    }
    st->refs = 1;
    memory_request_arena(&st->arena);
    struct str *filters = ARENA_ARRAY(&st->arena, struct str, rq->scope.n_alias_filters);
    st->body = arena_str(&st->arena, rq->body.text);
    bool ok = filters != NULL && st->body.p != NULL;
    for (uint32_t i = 0; ok && i < rq->scope.n_alias_filters; i++) {
        filters[i] = arena_str(&st->arena, rq->scope.alias_filters[i]);
        ok = filters[i].p != NULL;
    }
    st->scope = rq->scope;
    st->scope.alias_filters = filters;
    st->total = rq->result->total;
    st->relation = rq->result->relation;
    st->max_score = rq->result->max_score;
    if (!ok) {
        scroll_state_unref(st);
        return NULL;
    }
    return st;
}

/* The scroll is there now. Takes place. */
static void scroll_moved(struct data_service *s, struct scroll_state *st, struct scroll_place *place)
{
    pthread_mutex_lock(&s->searches->lock);
    struct scroll_place *old = st->place;
    st->place = place;
    pthread_mutex_unlock(&s->searches->lock);
    scroll_place_unref(old);
}

enum err scroll_page_ended(struct data_service *s, struct scroll_state *st, const struct top_doc *last,
                           uint32_t n_sort, struct errmsg *em)
{
    struct scroll_place *place = calloc(1, sizeof(*place));
    if (place == NULL) {
        return err_no_memory(em);
    }
    place->refs = 1;
    arena_init(&place->arena, NULL, ARENA_UNLIMITED);
    struct sort_value *v = last->sort != NULL ? ARENA_ARRAY(&place->arena, struct sort_value, n_sort) : NULL;
    bool ok = last->sort == NULL || v != NULL;
    for (uint32_t i = 0; v != NULL && i < n_sort; i++) {
        v[i] = last->sort[i];
        if (v[i].kind == SV_STR) {
            v[i].s = arena_str(&place->arena, v[i].s);
            ok &= v[i].s.p != NULL;
        }
    }
    place->last = *last;
    place->last.sort = v;
    if (!ok) {
        scroll_place_unref(place);
        return err_no_memory(em);
    }
    scroll_moved(s, st, place);
    return ERR_OK;
}

/* A later page takes its request from the context. */
static enum err scroll_resume(struct shard_query *rq, const struct scroll_state *st)
{
    uint32_t slot = rq->scope.slot, n_shards = rq->scope.n_shards;
    rq->scope = st->scope;
    rq->scope.slot = slot;
    rq->scope.n_shards = n_shards;
    rq->body = (struct search_body){.text = arena_str(&rq->rq.arena, st->body)};
    if (rq->body.text.p == NULL) {
        return err_no_memory(&rq->rq.error);
    }
    struct search_source *source = search_body_parse(&rq->rq, &rq->body);
    if (source == NULL) {
        return err_code(&rq->rq.error);
    }
    source->terminate_after = 0; /* of the first page, as aggregations and suggestions are */
    source->agg_spec = NULL;
    source->aggs = NULL;
    source->suggest_spec = NULL;
    source->suggest = NULL;
    rq->body.source = source;
    return ERR_OK;
}

enum err scroll_find(struct data_service *s, struct shard_query *rq, struct scroll_state **st,
                     struct scroll_place **place)
{
    context_scroll(s, rq->rq.context, st, place);
    if (*st == NULL) { /* freed meanwhile */
        return err_set(&rq->rq.error, ERR_SEARCH_CONTEXT_MISSING, "No search context found for id [%llu]",
                       (unsigned long long)rq->rq.context);
    }
    return scroll_resume(rq, *st);
}

void scroll_keep(struct data_service *s, struct shard_query *rq, struct scroll_state **st)
{
    if (*st == NULL && rq->rq.context != 0) {
        *st = scroll_begin(rq);
        if (*st == NULL) {
            err_no_memory(&rq->rq.error);
            return;
        }
        context_set_scroll(s, rq->rq.context, *st);
    }
    if (*st == NULL) {
        return;
    }
    rq->result->total = (*st)->total;
    rq->result->relation = (*st)->relation;
    rq->result->max_score = (*st)->max_score;
    if (rq->fetch && rq->result->n > 0) {
        scroll_page_ended(s, *st, &rq->result->docs[rq->result->n - 1], rq->result->n_sort, &rq->rq.error);
    }
}
