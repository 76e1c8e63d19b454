/* term_queue.h - the best of many scored terms, ties broken as Lucene's PriorityQueue breaks them.
 *
 * Which of several terms with the same score stay depends on the places of a heap; the order in which they are offered and
 * that in which they come out are Lucene's. One owner at a time; everything is in the arena that the queue was made with. */
#ifndef ENGINE_QUERY_TERM_QUEUE_H
#define ENGINE_QUERY_TERM_QUEUE_H

#include "common/base/arena.h"

struct scored_term {
    struct str field, text;
    float score;
    size_t at; /* the caller's number of the term */
};

struct term_queue {
    struct scored_term *heap; /* from 1 on; the worst is at 1 */
    size_t n, max;
};

/* An empty queue for at most `max` terms. false: no memory. */
bool term_queue_init(struct term_queue *q, size_t max, struct arena *arena) NODISCARD;
/* Keeps the term if there is room for it, or if it is better than the worst, which goes. */
void term_queue_offer(struct term_queue *q, struct scored_term term);
/* Takes the worst out. false: none is left. */
bool term_queue_take(struct term_queue *q, struct scored_term *out);
/* ClassicSimilarity.idf(). */
float term_classic_idf(int64_t doc_freq, int64_t doc_count);

#endif
