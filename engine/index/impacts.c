/* Frontiers of (frequency, length): what bounds the scores of a block of postings. */
#include "engine/index/postings_write.h"

void impact_best_clear(struct impact_best *b)
{
    if (b->lo <= b->hi) {
        memset(b->freq + b->lo, 0, (b->hi - b->lo + 1) * sizeof(b->freq[0]));
    }
    b->lo = 256;
    b->hi = 0;
}

void impact_best_add(struct impact_best *b, uint8_t norm, uint32_t freq)
{
    b->lo = MIN_OF(b->lo, norm);
    b->hi = MAX_OF(b->hi, norm);
    b->freq[norm] = MAX_OF(b->freq[norm], freq);
}

/* Replaces the two neighbours whose union loses least by a pair that beats both. */
static unsigned merge_closest(struct impact *v, unsigned n)
{
    unsigned best = 0;
    double least = 0;
    for (unsigned i = 0; i + 1 < n; i++) {
        double loss = (double)v[i + 1].freq / v[i].freq;
        if (i == 0 || loss < least) {
            least = loss;
            best = i;
        }
    }
    v[best].freq = v[best + 1].freq;
    memmove(v + best + 1, v + best + 2, (n - best - 2) * sizeof(*v));
    return n - 1;
}

unsigned impact_best_list(const struct impact_best *b, struct impact out[IMPACTS_MAX])
{
    struct impact v[IMPACTS_MAX + 1];
    unsigned n = 0;
    uint32_t freq = 0;
    for (unsigned norm = b->lo; norm <= b->hi; norm++) {
        if (b->freq[norm] > freq) {
            freq = b->freq[norm];
            v[n++] = (struct impact){freq, (uint8_t)norm};
            if (n > IMPACTS_MAX) {
                n = merge_closest(v, n);
            }
        }
    }
    memcpy(out, v, n * sizeof(*v));
    return n;
}
