#include "engine/query/postings_pairs.h"

void postings_pairs_init(struct postings_pairs *x, struct postings *a, struct postings *b)
{
    x->a = a;
    x->b = b;
    x->n = x->i = 0;
    x->resume = 0;
}

/* Both ways go without branches on what the documents are: they follow no pattern. */
static uint32_t merge(struct postings_pairs *x)
{
    const doc_id *a = x->a->docs, *b = x->b->docs;
    uint32_t i = x->a->at, k = x->b->at, n = 0;
    while (i < x->a->n && k < x->b->n) {
        doc_id d = a[i], e = b[k];
        x->at_a[n] = (uint8_t)i;
        x->at_b[n] = (uint8_t)k;
        n += d == e;
        i += d <= e;
        k += e <= d;
    }
    return n;
}

/* Blocks that span few documents: where b has each of them, then a look at a's. No step waits for the one before. */
static uint32_t look_up(struct postings_pairs *x, doc_id first, doc_id last)
{
    const doc_id *a = x->a->docs, *b = x->b->docs;
    uint8_t place[POSTINGS_PAIRS_SPAN]; /* in b, plus one; 0: it does not have the document */
    uint32_t n = 0;
    memset(place, 0, last - first + 1);
    for (uint32_t k = x->b->at; k < x->b->n && b[k] <= last; k++) {
        place[b[k] - first] = (uint8_t)(k + 1);
    }
    for (uint32_t i = x->a->at; i < x->a->n; i++) {
        uint8_t k = place[a[i] - first];
        x->at_a[n] = (uint8_t)i;
        x->at_b[n] = (uint8_t)(k - 1);
        n += k > 0;
    }
    return n;
}

/* a's current document is not behind b's. */
static void find_pairs(struct postings_pairs *x)
{
    doc_id first = x->a->docs[x->a->at], last = x->a->docs[x->a->n - 1];
    x->n = last - first < POSTINGS_PAIRS_SPAN ? look_up(x, first, last) : merge(x);
    x->i = 0;
    x->resume = MIN_OF(last, x->b->docs[x->b->n - 1]) + 1;
}

/* The pairs of the first blocks from target on that have any. false: there are none. */
static bool next_blocks(struct postings_pairs *x, doc_id target)
{
    do {
        doc_id d = postings_seek(x->a, target);
        doc_id e = d != DOC_END ? postings_seek(x->b, d) : DOC_END;
        if (e == DOC_END) {
            return false;
        }
        if (e > x->a->docs[x->a->n - 1]) {
            x->n = 0;
            target = e;
            continue;
        }
        find_pairs(x);
        target = x->resume;
    } while (x->n == 0);
    return true;
}

doc_id postings_pairs_seek(struct postings_pairs *x, doc_id target)
{
    while (x->i < x->n && x->a->docs[x->at_a[x->i]] < target) {
        x->i++;
    }
    if (x->i >= x->n && !next_blocks(x, MAX_OF(target, x->resume))) {
        x->a->doc = x->b->doc = DOC_END;
        return DOC_END;
    }
    x->a->at = x->at_a[x->i];
    x->b->at = x->at_b[x->i];
    return x->a->doc = x->b->doc = x->a->docs[x->a->at];
}
