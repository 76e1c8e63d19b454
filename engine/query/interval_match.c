/* Intervals of one document, one after the other: the algorithms of Lucene's interval iterators. */
#include "engine/query/intervals.h"

#include "common/base/stop.h"

/* Sums of widths are as Java's: those of many parts across each other may be more than there are numbers. */
static int32_t width_of(const struct interval_iter *it)
{
    return (int32_t)((uint32_t)interval_end(it) - (uint32_t)interval_start(it) + 1);
}

/* ---- heaps, in which equals lie as in Lucene's queues ---- */

typedef bool (*before_fn)(const struct interval_iter *x, const struct interval_iter *y);

static bool begins_before(const struct interval_iter *x, const struct interval_iter *y)
{
    int32_t a = interval_start(x), b = interval_start(y);
    return a < b || (a == b && interval_end(x) >= interval_end(y));
}

static bool ends_before(const struct interval_iter *x, const struct interval_iter *y)
{
    int32_t a = interval_end(x), b = interval_end(y);
    return a < b || (a == b && interval_start(x) >= interval_start(y));
}

static void heap_add(struct interval_iter *it, struct interval_iter *child, before_fn before)
{
    uint32_t i = ++it->heap_n;
    for (; i > 1 && before(child, it->heap[i / 2]); i /= 2) {
        it->heap[i] = it->heap[i / 2];
    }
    it->heap[i] = child;
}

static struct interval_iter *heap_pop(struct interval_iter *it, before_fn before)
{
    struct interval_iter *top = it->heap[1], *last = it->heap[it->heap_n--];
    uint32_t i = 1;
    for (uint32_t kid; (kid = 2 * i) <= it->heap_n; i = kid) {
        if (kid + 1 <= it->heap_n && before(it->heap[kid + 1], it->heap[kid])) {
            kid++;
        }
        if (!before(it->heap[kid], last)) {
            break;
        }
        it->heap[i] = it->heap[kid];
    }
    it->heap[i] = last;
    return top;
}

/* ---- where an iterator stands ---- */

static int32_t ring_at(const struct interval_iter *it, uint32_t i, unsigned end)
{
    uint32_t count = (uint32_t)it->source->before;
    return it->ring[(it->base + i) % count][end];
}

static int32_t beside(const struct interval_iter *it)
{
    int32_t at;
    if (it->source->kind == INTERVAL_BEFORE) {
        at = interval_start(it->v[0]);
        return at == -1 || at == INTERVAL_END ? at : MAX_OF(0, at - 1);
    }
    at = interval_end(it->v[0]);
    return at == -1 || at == INTERVAL_END ? at : at == INTERVAL_END - 1 ? INTERVAL_END - 1 : at + 1;
}

int32_t interval_start(const struct interval_iter *it)
{
    int32_t at;
    switch (it->source->kind) {
    case INTERVAL_ANY:
    case INTERVAL_PATTERN:
        return it->current != NULL ? interval_start(it->current) : it->ended ? INTERVAL_END : -1;
    case INTERVAL_EXTENDED:
        at = it->positioned ? interval_start(it->v[0]) : -1;
        return !it->positioned || at == INTERVAL_END ? at : MAX_OF(0, at - it->source->before);
    case INTERVAL_REPEATED:
        return it->ended ? INTERVAL_END : ring_at(it, 0, 0);
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
        return beside(it);
    case INTERVAL_CONTAINING:
    case INTERVAL_CONTAINED_BY:
    case INTERVAL_OVERLAPPING:
        return it->more ? interval_start(it->v[0]) : INTERVAL_END;
    case INTERVAL_MAX_GAPS:
    case INTERVAL_NOT_CONTAINING:
    case INTERVAL_NOT_CONTAINED_BY:
    case INTERVAL_NOT_OVERLAPPING:
    case INTERVAL_OF_FIELD:
        return interval_start(it->v[0]);
    case INTERVAL_TERM:
    case INTERVAL_BLOCK:
    case INTERVAL_ORDERED:
    case INTERVAL_UNORDERED:
    case INTERVAL_NONE:
        break;
    }
    return it->start;
}

int32_t interval_end(const struct interval_iter *it)
{
    int32_t at;
    switch (it->source->kind) {
    case INTERVAL_ANY:
    case INTERVAL_PATTERN:
        return it->current != NULL ? interval_end(it->current) : it->ended ? INTERVAL_END : -1;
    case INTERVAL_EXTENDED:
        at = it->positioned ? interval_end(it->v[0]) : -1;
        if (!it->positioned || at == INTERVAL_END) {
            return at;
        }
        return at >= INTERVAL_END - 1 - it->source->after ? INTERVAL_END - 1 : at + it->source->after;
    case INTERVAL_REPEATED:
        return it->ended ? INTERVAL_END : ring_at(it, (uint32_t)it->source->before - 1, 1);
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
        return beside(it);
    case INTERVAL_CONTAINING:
    case INTERVAL_CONTAINED_BY:
    case INTERVAL_OVERLAPPING:
        return it->more ? interval_end(it->v[0]) : INTERVAL_END;
    case INTERVAL_MAX_GAPS:
    case INTERVAL_NOT_CONTAINING:
    case INTERVAL_NOT_CONTAINED_BY:
    case INTERVAL_NOT_OVERLAPPING:
    case INTERVAL_OF_FIELD:
        return interval_end(it->v[0]);
    case INTERVAL_TERM:
    case INTERVAL_BLOCK:
    case INTERVAL_ORDERED:
    case INTERVAL_UNORDERED:
    case INTERVAL_NONE:
        break;
    }
    return it->end;
}

/* That of one that repeats counts each of its parts, and backwards: so Lucene has it. */
static int32_t own_width(const struct interval_iter *it)
{
    if (it->source->kind != INTERVAL_REPEATED) {
        return width_of(it);
    }
    uint32_t width = 0;
    for (uint32_t i = 0; i < (uint32_t)it->source->before; i++) {
        width += (uint32_t)ring_at(it, i, 0) - (uint32_t)ring_at(it, i, 1) + 1;
    }
    return (int32_t)width;
}

static int32_t gaps_of(const struct interval_iter *it)
{
    switch (it->source->kind) {
    case INTERVAL_ORDERED:
    case INTERVAL_UNORDERED:
        return it->gaps;
    case INTERVAL_ANY:
    case INTERVAL_PATTERN:
        return it->current != NULL ? gaps_of(it->current) : 0;
    case INTERVAL_REPEATED:
        return (int32_t)((uint32_t)width_of(it) - (uint32_t)own_width(it));
    case INTERVAL_MAX_GAPS:
    case INTERVAL_EXTENDED:
    case INTERVAL_CONTAINING:
    case INTERVAL_CONTAINED_BY:
    case INTERVAL_NOT_CONTAINING:
    case INTERVAL_NOT_CONTAINED_BY:
    case INTERVAL_OVERLAPPING:
    case INTERVAL_NOT_OVERLAPPING:
    case INTERVAL_OF_FIELD:
        return gaps_of(it->v[0]);
    case INTERVAL_TERM:
    case INTERVAL_BLOCK:
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
    case INTERVAL_NONE:
        break;
    }
    return 0;
}

/* ---- the next one ---- */

static int32_t no_more(struct interval_iter *it)
{
    return it->start = it->end = INTERVAL_END;
}

static int32_t next_place(struct interval_iter *it)
{
    if (!it->is_read) {
        it->n_places = positions_read(&it->positions);
        it->is_read = true;
    }
    if (it->at >= it->n_places) {
        return no_more(it);
    }
    return it->start = it->end = (int32_t)it->positions.pos[it->at++];
}

static int32_t next_block(struct interval_iter *it)
{
    struct interval_iter **v = it->v;
    uint32_t i = 1;
    if (interval_next(v[0]) == INTERVAL_END) {
        return no_more(it);
    }
    while (i < it->n) {
        while (interval_start(v[i]) <= interval_end(v[i - 1])) {
            if (stop_often() || interval_next(v[i]) == INTERVAL_END) {
                return no_more(it);
            }
        }
        if ((int64_t)interval_start(v[i]) == (int64_t)interval_end(v[i - 1]) + 1) {
            i++;
        } else if (interval_next(v[0]) == INTERVAL_END) {
            return no_more(it);
        } else {
            i = 1;
        }
    }
    it->start = interval_start(v[0]);
    it->end = interval_end(v[it->n - 1]);
    return it->start;
}

/* The parts behind the first one follow it. false: one cannot, or not without reaching as far as `limit`. Each moves on at least
 * once, but for an interval that is only made `narrower`: as Lucene has it, what lies across another interval may be passed by. */
static bool follow(struct interval_iter *it, int32_t limit, bool narrower)
{
    struct interval_iter **v = it->v;
    for (uint32_t i = 1;; i++) {
        if (interval_end(v[i - 1]) >= limit) {
            return false;
        }
        if (i == it->n || (narrower && interval_start(v[i]) > interval_end(v[i - 1]))) {
            return true;
        }
        do {
            if (stop_often() || interval_end(v[i]) >= limit || interval_next(v[i]) == INTERVAL_END) {
                return false;
            }
        } while (interval_start(v[i]) <= interval_end(v[i - 1]));
    }
}

static void count_gaps(struct interval_iter *it)
{
    uint32_t gaps = (uint32_t)it->end - (uint32_t)it->start + 1;
    for (uint32_t i = 0; i < it->n; i++) {
        gaps -= (uint32_t)own_width(it->v[i]);
    }
    it->gaps = (int32_t)gaps;
}

static int32_t next_ordered(struct interval_iter *it)
{
    int32_t limit = INTERVAL_END;
    no_more(it);
    while (follow(it, limit, limit != INTERVAL_END)) {
        it->start = interval_start(it->v[0]);
        if (it->start == INTERVAL_END) {
            return no_more(it);
        }
        it->end = interval_end(it->v[it->n - 1]);
        count_gaps(it);
        limit = interval_start(it->v[it->n - 1]);
        if (interval_next(it->v[0]) == INTERVAL_END) {
            break;
        }
    }
    return it->start;
}

static void move_top(struct interval_iter *it)
{
    struct interval_iter *top = heap_pop(it, begins_before);
    if (interval_next(top) != INTERVAL_END) {
        heap_add(it, top, begins_before);
        it->reach = MAX_OF(it->reach, interval_end(top));
    }
}

static int32_t next_unordered(struct interval_iter *it)
{
    while (it->heap_n == it->n && interval_start(it->heap[1]) == it->start && !stop_often()) {
        move_top(it);
    }
    if (it->heap_n < it->n) {
        return no_more(it);
    }
    do {
        it->start = interval_start(it->heap[1]);
        it->end = it->reach;
        count_gaps(it);
        if (interval_end(it->heap[1]) == it->end) {
            break;
        }
        move_top(it);
    } while (it->heap_n == it->n && it->end == it->reach && !stop_often());
    return it->start;
}

static int32_t next_of_any(struct interval_iter *it)
{
    if (it->current != NULL) {
        int32_t start = interval_start(it->current), end = interval_end(it->current);
        while (it->heap_n > 0 && interval_start(it->heap[1]) <= start && interval_end(it->heap[1]) >= end
               && !stop_often()) {
            struct interval_iter *top = heap_pop(it, ends_before);
            if (interval_next(top) != INTERVAL_END) {
                heap_add(it, top, ends_before);
            }
        }
    }
    it->ended = it->heap_n == 0;
    it->current = it->heap_n > 0 ? it->heap[1] : NULL;
    return it->current != NULL ? interval_start(it->current) : INTERVAL_END;
}

static int32_t next_within_gaps(struct interval_iter *it)
{
    int32_t at;
    do {
        at = interval_next(it->v[0]);
    } while (at != INTERVAL_END && gaps_of(it->v[0]) > it->source->before && !stop_often());
    return at;
}

static bool fill_ring(struct interval_iter *it, uint32_t at)
{
    if (interval_next(it->v[0]) == INTERVAL_END) {
        it->ended = true;
        return false;
    }
    it->ring[at][0] = interval_start(it->v[0]);
    it->ring[at][1] = interval_end(it->v[0]);
    return true;
}

static int32_t next_repeated(struct interval_iter *it)
{
    uint32_t count = (uint32_t)it->source->before;
    if (it->ended) {
        return INTERVAL_END;
    }
    if (!it->started) {
        for (uint32_t i = 0; i < count && !it->ended; i++) {
            fill_ring(it, i);
        }
        it->base = 0;
        it->started = !it->ended;
    } else {
        uint32_t oldest = it->base;
        it->base = (it->base + 1) % count;
        fill_ring(it, oldest);
    }
    return interval_start(it);
}

/* ---- relations: the first one's intervals, by where those of the second one are ---- */

static int32_t next_containing(struct interval_iter *it)
{
    struct interval_iter *a = it->v[0], *b = it->v[1];
    while (it->more && !stop_often() && interval_next(a) != INTERVAL_END) {
        while (interval_start(b) < interval_start(a) && interval_end(b) < interval_end(a)) {
            if (interval_next(b) == INTERVAL_END) {
                return INTERVAL_END;
            }
        }
        if (interval_start(a) <= interval_start(b) && interval_end(a) >= interval_end(b)) {
            return interval_start(a);
        }
    }
    return INTERVAL_END;
}

static int32_t next_contained(struct interval_iter *it)
{
    struct interval_iter *a = it->v[0], *b = it->v[1];
    while (it->more && !stop_often() && interval_next(a) != INTERVAL_END) {
        while (it->more && interval_end(b) < interval_end(a)) {
            it->more = interval_next(b) != INTERVAL_END;
        }
        if (it->more && interval_start(b) <= interval_start(a)) {
            return interval_start(a);
        }
    }
    it->more = false;
    return INTERVAL_END;
}

static int32_t next_overlapping(struct interval_iter *it)
{
    struct interval_iter *a = it->v[0], *b = it->v[1];
    while (it->more && !stop_often() && interval_next(a) != INTERVAL_END) {
        while (it->more && interval_end(b) < interval_start(a)) {
            it->more = interval_next(b) != INTERVAL_END;
        }
        if (it->more && interval_start(b) <= interval_end(a)) {
            return interval_start(a);
        }
    }
    it->more = false;
    return INTERVAL_END;
}

static int32_t next_not_containing(struct interval_iter *it)
{
    struct interval_iter *a = it->v[0], *b = it->n > 1 ? it->v[1] : NULL;
    if (!it->more || b == NULL) {
        return interval_next(a);
    }
    while (!stop_often() && interval_next(a) != INTERVAL_END) {
        while (interval_start(b) < interval_start(a) && interval_end(b) < interval_end(a)) {
            if (interval_next(b) == INTERVAL_END) {
                it->more = false;
                return interval_start(a);
            }
        }
        if (interval_start(b) > interval_end(a)) {
            return interval_start(a);
        }
    }
    return INTERVAL_END;
}

static int32_t next_not_contained(struct interval_iter *it)
{
    struct interval_iter *a = it->v[0], *b = it->n > 1 ? it->v[1] : NULL;
    if (!it->more || b == NULL) {
        return interval_next(a);
    }
    while (!stop_often() && interval_next(a) != INTERVAL_END) {
        while (interval_end(b) < interval_end(a)) {
            if (interval_next(b) == INTERVAL_END) {
                return interval_start(a);
            }
        }
        if (interval_start(a) < interval_start(b)) {
            return interval_start(a);
        }
    }
    return INTERVAL_END;
}

static int32_t next_apart(struct interval_iter *it)
{
    struct interval_iter *a = it->v[0], *b = it->n > 1 ? it->v[1] : NULL;
    if (!it->more || b == NULL) {
        return interval_next(a);
    }
    while (!stop_often() && interval_next(a) != INTERVAL_END) {
        while (interval_end(b) < interval_start(a)) {
            if (interval_next(b) == INTERVAL_END) {
                it->more = false;
                return interval_start(a);
            }
        }
        if (interval_start(b) > interval_end(a)) {
            return interval_start(a);
        }
    }
    return INTERVAL_END;
}

int32_t interval_next(struct interval_iter *it)
{
    switch (it->source->kind) {
    case INTERVAL_TERM:
        return next_place(it);
    case INTERVAL_PATTERN:
    case INTERVAL_ANY:
        return next_of_any(it);
    case INTERVAL_BLOCK:
        return next_block(it);
    case INTERVAL_ORDERED:
        return next_ordered(it);
    case INTERVAL_UNORDERED:
        return next_unordered(it);
    case INTERVAL_MAX_GAPS:
        return next_within_gaps(it);
    case INTERVAL_EXTENDED:
        it->positioned = true;
        interval_next(it->v[0]);
        return interval_start(it);
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
        interval_next(it->v[0]);
        return beside(it);
    case INTERVAL_REPEATED:
        return next_repeated(it);
    case INTERVAL_CONTAINING:
        return next_containing(it);
    case INTERVAL_CONTAINED_BY:
        return next_contained(it);
    case INTERVAL_OVERLAPPING:
        return next_overlapping(it);
    case INTERVAL_NOT_CONTAINING:
        return next_not_containing(it);
    case INTERVAL_NOT_CONTAINED_BY:
        return next_not_contained(it);
    case INTERVAL_NOT_OVERLAPPING:
        return next_apart(it);
    case INTERVAL_OF_FIELD:
        return interval_next(it->v[0]);
    case INTERVAL_NONE:
        break;
    }
    return no_more(it);
}

static void reset_queue(struct interval_iter *it)
{
    it->heap_n = 0;
    if (it->source->kind == INTERVAL_UNORDERED) {
        it->reach = -1;
        for (uint32_t i = 0; i < it->n && interval_next(it->v[i]) != INTERVAL_END; i++) {
            heap_add(it, it->v[i], begins_before);
            it->reach = MAX_OF(it->reach, interval_end(it->v[i]));
        }
    }
    for (uint32_t i = 0; interval_is_any(it->source) && i < it->n; i++) {
        if (it->v[i]->doc == it->doc) { /* also one that has none: Lucene looks where it stands */
            interval_next(it->v[i]);
            heap_add(it, it->v[i], ends_before);
        }
    }
}

void interval_reset(struct interval_iter *it)
{
    it->start = it->end = -1;
    it->gaps = 0;
    it->at = 0;
    it->positioned = it->ended = it->started = false;
    it->current = NULL;
    it->base = 0;
    if (interval_is_difference(it->source) && it->n > 1) {
        interval_seek(it->v[1], it->doc);
    }
    for (uint32_t i = 0; i < it->n; i++) {
        if (it->v[i]->doc == it->doc) {
            interval_reset(it->v[i]);
        }
    }
    for (uint32_t i = 0; it->ring != NULL && i < (uint32_t)it->source->before; i++) {
        it->ring[i][0] = it->ring[i][1] = -1;
    }
    bool relation = it->source->kind == INTERVAL_CONTAINING || it->source->kind == INTERVAL_CONTAINED_BY
                    || it->source->kind == INTERVAL_OVERLAPPING;
    it->more = relation                             ? interval_next(it->v[1]) != INTERVAL_END
               : interval_is_difference(it->source) ? it->n > 1 && it->v[1]->doc == it->doc
                                                    : false;
    if (it->source->kind == INTERVAL_ORDERED) {
        interval_next(it->v[0]);
    }
    reset_queue(it);
}
