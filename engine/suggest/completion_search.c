/* Best first: a heap holds tree nodes (with the greatest score that anything below can have) and groups of
 * entries. */
#include "engine/suggest/completion_search.h"

#include "common/base/arena_list.h"
#include "common/base/heap.h"
#include "common/base/map.h"
#include "common/base/stop.h"

#define ENTRY UINT32_MAX /* level of what is no node */

struct item {
    float score;
    uint32_t level, index; /* node of the weights' tree; level ENTRY: a group of entries */
    uint32_t range;
    uint64_t pos; /* groups: the first one with this path and weight; nodes: the first group */
    doc_id doc;
    uint32_t weight;
    struct str input;
    struct bytes_in gaps;
};

struct search {
    const struct completion_request *rq;
    struct completion_cursor cursor;
    struct item *heap;
    size_t n, cap;
    struct arena *arena;
    struct map seen;
    struct completion_hit *hits;
    size_t n_hits, hits_cap;
    bool failed; /* no memory */
};

float completion_score(uint32_t weight, float boost)
{
    if (boost == 0) {
        return (float)weight;
    }
    return weight == 0 ? boost : (float)weight * boost;
}

/* By score, then as Lucene by path (entries of one path and weight by document); a node before what may lie
 * in it. */
static bool completion_before(UNUSED const void *cx, const void *x, const void *y)
{
    const struct item *a = x, *b = y;
    if (a->score != b->score) {
        return a->score > b->score;
    }
    if (a->pos != b->pos) {
        return a->pos < b->pos;
    }
    if ((a->level == ENTRY) != (b->level == ENTRY)) {
        return b->level == ENTRY;
    }
    return a->level == ENTRY ? a->doc < b->doc : a->level > b->level;
}

static void completion_push(struct search *s, const struct item *it)
{
    if (!ARENA_ROOM(s->arena, s->heap, s->n, s->cap)) {
        s->failed = true;
        return;
    }
    s->heap[s->n] = *it;
    heap_up(s->heap, s->n++, sizeof(*s->heap), completion_before, NULL);
}

static void pop(struct search *s)
{
    s->heap[0] = s->heap[--s->n];
    if (s->n > 0) {
        heap_down(s->heap, s->n, 0, sizeof(*s->heap), completion_before, NULL);
    }
}

static bool is_live(const struct search *s, doc_id doc)
{
    const uint64_t *live = s->rq->live;
    return live == NULL || ((live[doc >> 6] >> (doc & 63)) & 1) != 0;
}

/* To the next live document from the current one on; false: no more. */
static bool to_live(struct search *s, struct item *it)
{
    for (;;) {
        if (it->doc >= s->rq->doc_count) {
            s->cursor.corrupt = true;
            return false;
        }
        if (is_live(s, it->doc)) {
            return true;
        }
        if (!completion_group_doc(&it->gaps, &it->doc, &s->cursor.corrupt)) {
            return false;
        }
    }
}

static void push_node(struct search *s, uint32_t range, uint32_t level, uint32_t index)
{
    const struct completion_section *sec = s->rq->s;
    uint32_t weight = load_u32(sec->weights + 4 * ((size_t)sec->level_at[level] + index));
    uint64_t pos = (uint64_t)index * COMPLETION_BLOCK;
    for (uint32_t l = 0; l < level; l++) {
        pos *= COMPLETION_FAN;
    }
    struct item it = {.score = completion_score(weight, s->rq->ranges->v[range].boost),
                      .level = level,
                      .index = index,
                      .range = range,
                      .pos = MAX_OF(pos, s->rq->ranges->v[range].from)};
    completion_push(s, &it);
}

/* The smallest node that covers a range. */
static void push_range(struct search *s, uint32_t range)
{
    const struct completion_range *r = &s->rq->ranges->v[range];
    uint32_t level = 0;
    uint64_t first = r->from / COMPLETION_BLOCK, last = (r->to - 1) / COMPLETION_BLOCK;
    for (; first != last && level + 1 < s->rq->s->n_levels; level++) {
        first /= COMPLETION_FAN;
        last /= COMPLETION_FAN;
    }
    push_node(s, range, level, (uint32_t)first);
}

static void open_block(struct search *s, const struct item *node)
{
    const struct completion_range *r = &s->rq->ranges->v[node->range];
    struct completion_cursor *c = &s->cursor;
    uint64_t end = MIN_OF(((uint64_t)node->index + 1) * COMPLETION_BLOCK, r->to), run = 0;
    uint32_t run_weight = 0;
    for (bool there = completion_cursor_block(c, node->index); there && c->pos < end;
         there = completion_cursor_next(c)) {
        const struct completion_group *g = &c->group;
        if (!g->same_path || g->weight != run_weight) {
            run = c->pos;
            run_weight = g->weight;
        }
        if (c->pos < r->from) {
            continue;
        }
        struct item it = {.score = completion_score(g->weight, r->boost),
                          .level = ENTRY,
                          .range = node->range,
                          .pos = run,
                          .doc = g->doc,
                          .weight = g->weight,
                          .input = g->input,
                          .gaps = g->gaps};
        if (to_live(s, &it)) {
            completion_push(s, &it);
        }
    }
}

static void open_node(struct search *s, const struct item *node)
{
    const struct completion_range *r = &s->rq->ranges->v[node->range];
    if (node->level == 0) {
        open_block(s, node);
        return;
    }
    uint64_t first = r->from / COMPLETION_BLOCK, last = (r->to - 1) / COMPLETION_BLOCK;
    for (uint32_t l = 1; l < node->level; l++) {
        first /= COMPLETION_FAN;
        last /= COMPLETION_FAN;
    }
    uint64_t begin = (uint64_t)node->index * COMPLETION_FAN;
    for (uint64_t i = MAX_OF(first, begin); i <= MIN_OF(last, begin + COMPLETION_FAN - 1); i++) {
        push_node(s, node->range, node->level - 1, (uint32_t)i);
    }
}

static void completion_take(struct search *s, struct item *it)
{
    if (s->rq->distinct) {
        if (map_has(&s->seen, it->input)) {
            return;
        }
        s->failed |= !map_put(&s->seen, it->input, s);
    }
    if (!ARENA_ADD(
            s->arena, s->hits, s->n_hits, s->hits_cap,
            (struct completion_hit){it->score, it->doc, it->input, s->rq->ranges->v[it->range].context})) {
        s->failed = true;
        return;
    }
    if (!s->rq->distinct && completion_group_doc(&it->gaps, &it->doc, &s->cursor.corrupt) && to_live(s, it)) {
        completion_push(s, it);
    }
}

enum err completion_search(const struct completion_request *rq, struct completion_hit **out, uint32_t *n,
                           struct arena *arena, struct errmsg *em)
{
    struct search s = {.rq = rq, .arena = arena};
    completion_cursor_init(&s.cursor, rq->s);
    map_init(&s.seen, arena);
    for (size_t i = 0; i < rq->ranges->n; i++) {
        if (rq->ranges->v[i].from < rq->ranges->v[i].to) {
            push_range(&s, (uint32_t)i);
        }
    }
    while (s.n > 0 && s.n_hits < rq->k && !s.failed && !s.cursor.corrupt && !stop_often()) {
        struct item top = s.heap[0];
        pop(&s);
        if (top.level == ENTRY) {
            completion_take(&s, &top);
        } else {
            open_node(&s, &top);
        }
    }
    *out = s.hits;
    *n = (uint32_t)s.n_hits;
    bool no_memory = s.failed || s.cursor.path.failed;
    completion_cursor_fini(&s.cursor);
    if (no_memory) {
        return err_no_memory(em);
    }
    return s.cursor.corrupt ? err_set(em, ERR_CORRUPT, "a completion section cannot be read") : ERR_OK;
}
