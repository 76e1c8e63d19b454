/* The places of spans, one after the other. */
#include "engine/query/span_match.h"

#include "common/base/stop.h"

/* Sums of positions are as Java's. */
static int32_t plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

struct span *span_new(const struct span_part *part, uint32_t n, struct arena *a)
{
    struct span *s = ARENA_NEW(a, struct span);
    if (s == NULL) {
        return NULL;
    }
    *s = (struct span){.part = part, .doc = POSTINGS_UNPOSITIONED, .start = -1, .end = -1};
    s->v = ARENA_ARRAY(a, struct span *, MAX_OF(n, 1U));
    s->heap = ARENA_ARRAY(a, struct span *, n + 1);
    return s->v != NULL && s->heap != NULL ? s : NULL;
}

void span_rewind(struct span *s)
{
    s->start = s->end = -1;
    s->width = 0;
    s->at = 0;
    s->heap_n = 0;
    s->alone = false;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        span_rewind(s->v[i]);
    }
}

static int32_t stand_at(struct span *s, const struct span *place)
{
    s->end = place->end;
    s->width = place->width;
    return s->start = place->start;
}

static int32_t no_more(struct span *s)
{
    return s->start = s->end = SPAN_END;
}

/* ---- heaps, in which equals lie as in Lucene's queues ---- */

static bool comes_before(const struct span *a, const struct span *b)
{
    return a->start < b->start || (a->start == b->start && a->end < b->end);
}

static void heap_add(struct span *s, struct span *child)
{
    uint32_t i = ++s->heap_n;
    for (; i > 1 && comes_before(child, s->heap[i / 2]); i /= 2) {
        s->heap[i] = s->heap[i / 2];
    }
    s->heap[i] = child;
}

/* The top has moved. */
static void heap_settle(struct span *s)
{
    struct span *moved = s->heap[1];
    uint32_t i = 1;
    for (uint32_t kid; (kid = 2 * i) <= s->heap_n; i = kid) {
        if (kid + 1 <= s->heap_n && comes_before(s->heap[kid + 1], s->heap[kid])) {
            kid++;
        }
        if (!comes_before(s->heap[kid], moved)) {
            break;
        }
        s->heap[i] = s->heap[kid];
    }
    s->heap[i] = moved;
}

/* ---- the kinds ---- */

static int32_t next_position(struct span *s)
{
    if (!s->is_read) {
        s->n = s->read != NULL ? s->read(s) : s->n;
        s->is_read = true;
    }
    if (s->at >= s->n) {
        return no_more(s);
    }
    s->start = (int32_t)s->places[s->at++];
    s->end = s->start + 1;
    return s->start;
}

static int32_t next_of_any(struct span *s)
{
    if (s->start != -1) { /* the one that gave the last place goes on */
        span_next(s->heap[1]);
        heap_settle(s);
        return stand_at(s, s->heap[1]);
    }
    for (uint32_t i = 0; i < s->n_parts; i++) {
        if (s->v[i]->doc == s->doc && span_next(s->v[i]) != SPAN_END) {
            heap_add(s, s->v[i]);
        }
    }
    return s->heap_n > 0 ? stand_at(s, s->heap[1]) : no_more(s);
}

/* To the first place that begins at `from` or behind it. */
static int32_t go_to(struct span *s, int32_t from)
{
    if (s->part->kind == SPAN_GAP) {
        s->end = plus(from, s->part->end);
        s->width = s->part->end;
        return s->start = from;
    }
    while (s->start < from && span_next(s) != SPAN_END) {
    }
    return s->start;
}

/* All parts behind the first one to their first place behind the part before. false: one has none. */
static bool stretch(struct span *s, int32_t *width)
{
    *width = 0;
    for (uint32_t i = 1; i < s->n_parts; i++) {
        int32_t from = s->v[i - 1]->end;
        if (go_to(s->v[i], from) == SPAN_END) {
            return false;
        }
        *width = plus(*width, minus(s->v[i]->start, from));
    }
    return true;
}

static int32_t next_near(struct span *s)
{
    int32_t width;
    while (!stop_often() && span_next(s->v[0]) != SPAN_END && stretch(s, &width)) {
        if (width <= s->part->slop) {
            s->end = s->v[s->n_parts - 1]->end;
            s->width = width;
            return s->start = s->v[0]->start;
        }
    }
    return no_more(s);
}

static bool is_close(const struct span *s)
{
    return minus(minus(s->reach, s->heap[1]->start), s->lengths) <= s->part->slop;
}

static void count_length(struct span *s, const struct span *child)
{
    s->reach = MAX_OF(s->reach, child->end);
    s->lengths = plus(s->lengths, minus(child->end, child->start));
}

/* All parts at their first places. false: one has none. */
static bool open_window(struct span *s)
{
    s->lengths = 0;
    s->reach = -1;
    for (uint32_t i = 0; i < s->n_parts; i++) {
        if (span_next(s->v[i]) == SPAN_END) {
            return false;
        }
        heap_add(s, s->v[i]);
        count_length(s, s->v[i]);
    }
    return true;
}

/* The part that begins first moves on. */
static bool move_window(struct span *s)
{
    struct span *top = s->heap[1];
    int32_t length = minus(top->end, top->start);
    if (span_next(top) == SPAN_END) {
        return false;
    }
    s->lengths = minus(s->lengths, length);
    count_length(s, top);
    heap_settle(s);
    return true;
}

static int32_t next_window(struct span *s)
{
    bool more = s->start == -1 ? open_window(s) : move_window(s);
    while (more && !is_close(s)) {
        more = !stop_often() && move_window(s);
    }
    if (!more) {
        return no_more(s);
    }
    s->end = s->reach;
    s->width = minus(s->reach, s->heap[1]->start);
    return s->start = s->heap[1]->start;
}

/* Is the place free of what stands against it? */
static bool is_free(struct span *s)
{
    const struct span *in = s->v[0];
    struct span *against = s->n_parts > 1 ? s->v[1] : NULL;
    if (against == NULL || against->doc != s->doc || s->alone) {
        return true;
    }
    if (against->start == -1 && span_next(against) == SPAN_END) {
        s->alone = true;
        return true;
    }
    while (against->end <= minus(in->start, s->part->before)) {
        if (span_next(against) == SPAN_END) {
            return true;
        }
    }
    return minus(against->start, s->part->after) >= in->end;
}

static int32_t next_free(struct span *s)
{
    while (!stop_often() && span_next(s->v[0]) != SPAN_END) {
        if (is_free(s)) {
            return stand_at(s, s->v[0]);
        }
    }
    return no_more(s);
}

static int32_t next_early(struct span *s)
{
    while (!stop_often() && span_next(s->v[0]) < s->part->end) {
        if (s->v[0]->end <= s->part->end) {
            return stand_at(s, s->v[0]);
        }
    }
    return no_more(s);
}

static int32_t next_around(struct span *s)
{
    struct span *big = s->v[0], *little = s->v[1];
    while (!stop_often() && span_next(big) != SPAN_END) {
        while (little->start < big->start) {
            if (span_next(little) == SPAN_END) {
                return no_more(s);
            }
        }
        if (big->end >= little->end) {
            return stand_at(s, big);
        }
    }
    return no_more(s);
}

static int32_t next_inside(struct span *s)
{
    struct span *big = s->v[0], *little = s->v[1];
    while (!stop_often() && span_next(little) != SPAN_END) {
        while (big->end < little->end) {
            if (span_next(big) == SPAN_END) {
                return no_more(s);
            }
        }
        if (big->start <= little->start) {
            return stand_at(s, little);
        }
    }
    return no_more(s);
}

static int32_t next_gap(struct span *s)
{
    s->start = plus(s->start, 1);
    s->end = plus(s->start, s->part->end);
    s->width = s->part->end;
    return s->start;
}

int32_t span_next(struct span *s)
{
    if (s->start == SPAN_END) {
        return SPAN_END;
    }
    switch (s->part->kind) {
    case SPAN_TERM:
        return next_position(s);
    case SPAN_OR:
        return next_of_any(s);
    case SPAN_NEAR:
        return s->part->unordered ? next_window(s) : next_near(s);
    case SPAN_NOT:
        return next_free(s);
    case SPAN_FIRST:
        return next_early(s);
    case SPAN_CONTAINING:
        return next_around(s);
    case SPAN_WITHIN:
        return next_inside(s);
    case SPAN_GAP:
        return next_gap(s);
    case SPAN_PREFIX:
    case SPAN_MULTI:
    case SPAN_MASK:
    case SPAN_NONE:
        break;
    }
    return no_more(s);
}
