#include "engine/index/checkpoint.h"

#include "common/base/bits.h"

void seq_tracker_init(struct seq_tracker *t, const struct allocator *alloc, int64_t checkpoint)
{
    assert(checkpoint >= -1);
    *t = (struct seq_tracker){.alloc = alloc, .checkpoint = checkpoint, .max = checkpoint};
}

void seq_tracker_fini(struct seq_tracker *t)
{
    alloc_put(t->alloc, t->words);
    t->words = NULL;
    t->n_words = 0;
}

/* Drops the words that lie wholly at or below the checkpoint. */
static void slide(struct seq_tracker *t)
{
    int64_t base = (t->checkpoint + 1) & ~(int64_t)63;
    if (t->above == 0) {
        memset(t->words, 0, t->n_words * sizeof(*t->words));
        t->base = base;
        return;
    }
    size_t gone = (size_t)((base - t->base) / 64);
    assert(gone < t->n_words); /* a marked number above the checkpoint has its word */
    memmove(t->words, t->words + gone, (t->n_words - gone) * sizeof(*t->words));
    memset(t->words + (t->n_words - gone), 0, gone * sizeof(*t->words));
    t->base = base;
}

enum err seq_tracker_reserve(struct seq_tracker *t, int64_t seq, struct errmsg *em)
{
    if (seq <= t->checkpoint || (t->above == 0 && seq == t->checkpoint + 1)) {
        return ERR_OK;
    }
    if (seq - t->checkpoint > SEQ_GAP_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "sequence number [%lld] is too far above the checkpoint [%lld]", (long long)seq,
                       (long long)t->checkpoint);
    }
    if (t->words == NULL) {
        t->base = (t->checkpoint + 1) & ~(int64_t)63;
    } else if (seq - t->base < (int64_t)(t->n_words * 64)) {
        return ERR_OK;
    } else {
        slide(t);
    }
    size_t need = (size_t)((seq - t->base) / 64) + 1;
    if (need <= t->n_words) {
        return ERR_OK;
    }
    size_t n = MAX_OF(need, MAX_OF((size_t)16, t->n_words * 2));
    uint64_t *words = t->alloc->resize(t->alloc->self, t->words, n * sizeof(*words));
    if (words == NULL) {
        return err_no_memory(em);
    }
    memset(words + t->n_words, 0, (n - t->n_words) * sizeof(*words));
    t->words = words;
    t->n_words = n;
    return ERR_OK;
}

void seq_tracker_mark(struct seq_tracker *t, int64_t seq)
{
    if (seq <= t->checkpoint) {
        return;
    }
    t->max = MAX_OF(t->max, seq);
    if (t->above == 0 && seq == t->checkpoint + 1) {
        t->checkpoint++;
        return;
    }
    size_t i = (size_t)(seq - t->base);
    assert(seq >= t->base && i < t->n_words * 64);
    if (bits_test(t->words, i)) {
        return;
    }
    bits_set(t->words, i);
    t->above++;
    while (t->above > 0) {
        size_t next = (size_t)(t->checkpoint + 1 - t->base);
        if (next >= t->n_words * 64 || !bits_test(t->words, next)) {
            break;
        }
        bits_clear(t->words, next);
        t->checkpoint++;
        t->above--;
    }
}

bool seq_tracker_has(const struct seq_tracker *t, int64_t seq)
{
    if (seq <= t->checkpoint) {
        return true;
    }
    if (t->above == 0 || seq > t->max) {
        return false;
    }
    size_t i = (size_t)(seq - t->base);
    return i < t->n_words * 64 && bits_test(t->words, i);
}

int64_t seq_tracker_gap(const struct seq_tracker *t, int64_t from)
{
    int64_t seq = MAX_OF(from, t->checkpoint + 1);
    while (seq_tracker_has(t, seq)) {
        seq++;
    }
    return seq;
}
