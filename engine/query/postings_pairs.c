#include "engine/query/postings_pairs.h"

void postings_pairs_init(struct postings_pairs *x, struct postings *a, struct postings *b)
{
    x->a = a;
    x->b = b;
    x->n = x->i = 0;
    x->resume = 0;
}

/* Without branches on what the documents are: they follow no pattern. */
static void merge(struct postings_pairs *x)
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
    x->n = n;
    x->i = 0;
    x->resume = MIN_OF(a[x->a->n - 1], b[x->b->n - 1]) + 1;
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
        merge(x);
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
