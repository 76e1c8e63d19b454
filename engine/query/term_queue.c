#include "engine/query/term_queue.h"

#include <math.h>

bool term_queue_init(struct term_queue *q, size_t max, struct arena *arena)
{
    *q = (struct term_queue){.max = max, .heap = ARENA_ARRAY(arena, struct scored_term, max + 1)};
    return q->heap != NULL;
}

static void sift_up(struct term_queue *q, size_t i)
{
    struct scored_term moved = q->heap[i];
    for (; i > 1 && moved.score < q->heap[i / 2].score; i /= 2) {
        q->heap[i] = q->heap[i / 2];
    }
    q->heap[i] = moved;
}

static void sift_down(struct term_queue *q)
{
    struct scored_term moved = q->heap[1];
    size_t i = 1;
    for (;;) {
        size_t child = 2 * i;
        if (child + 1 <= q->n && q->heap[child + 1].score < q->heap[child].score) {
            child++;
        }
        if (child > q->n || !(q->heap[child].score < moved.score)) {
            break;
        }
        q->heap[i] = q->heap[child];
        i = child;
    }
    q->heap[i] = moved;
}

void term_queue_offer(struct term_queue *q, struct scored_term term)
{
    if (q->n < q->max) {
        q->heap[++q->n] = term;
        sift_up(q, q->n);
    } else if (q->n > 0 && q->heap[1].score < term.score) {
        q->heap[1] = term;
        sift_down(q);
    }
}

bool term_queue_take(struct term_queue *q, struct scored_term *out)
{
    if (q->n == 0) {
        return false;
    }
    *out = q->heap[1];
    q->heap[1] = q->heap[q->n--];
    if (q->n > 1) {
        sift_down(q);
    }
    return true;
}

float term_classic_idf(int64_t doc_freq, int64_t doc_count)
{
    return (float)(log((double)(doc_count + 1) / (double)(doc_freq + 1)) + 1.0);
}
