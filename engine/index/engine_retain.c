/* History that outlives its documents: a dead document whose operation other copies may still ask for stays,
 * dead, in merged segments, and goes on counting in the statistics that scores are made of. Elasticsearch
 * keeps soft-deleted documents by the same rule (SoftDeletesPolicy): from the safe commit's local checkpoint
 * on, from the oldest retention lease, or so many before the global checkpoint, whichever is lowest. */
#include "engine/index/engine_int.h"

#include "common/base/bits.h"

void engine_set_retention(struct engine *e, int64_t from_seq_no)
{
    e->retention_from = from_seq_no;
}

void engine_hold_history(struct engine *e, int64_t from_seq_no)
{
    e->held_from = from_seq_no;
}

int64_t engine_retained_from(struct engine *e)
{
    if (e->retention_from == INT64_MAX || !e->settings.soft_deletes) {
        return INT64_MAX;
    }
    const struct commit *safe = engine_safe_commit(e, e->global_persisted);
    int64_t wished = e->settings.retention_operations > e->global_checkpoint
                         ? 0
                         : e->global_checkpoint + 1 - e->settings.retention_operations;
    return safe == NULL ? 0 : MIN_OF(MIN_OF(e->retention_from, wished), safe->pub.local_checkpoint + 1);
}

/* Calls visit with each dead document from that sequence number on, until it says stop. */
static void each_retained(const struct slot *s, int64_t from, bool (*visit)(void *self, size_t doc),
                          void *self)
{
    const struct live *l = slot_live(s);
    if (l == NULL || from == INT64_MAX || !num_column_check(&s->seq_no)) {
        return;
    }
    for (size_t w = 0; w < bits_words(l->n_docs); w++) {
        for (uint64_t dead = ~l->words[w]; dead != 0; dead &= dead - 1) {
            size_t doc = w * 64 + (size_t)__builtin_ctzll(dead);
            int64_t seq_no;
            if (doc >= l->n_docs) {
                return;
            }
            if (num_column_first(&s->seq_no, (doc_id)doc, &seq_no) && seq_no >= from && !visit(self, doc)) {
                return;
            }
        }
    }
}

static bool count_one(void *self, UNUSED size_t doc)
{
    ++*(uint32_t *)self;
    return true;
}

uint32_t slot_count_retained(struct slot *s, int64_t from)
{
    uint32_t live = slot_live_docs(s);
    if (s->retained_from != from
        || s->retained_live != live) { /* counted again only when it can have changed */
        s->retained = 0;
        each_retained(s, from, count_one, &s->retained);
        s->retained_from = from;
        s->retained_live = live;
    }
    return s->retained;
}

static bool keep_one(void *self, size_t doc)
{
    bits_set(self, doc);
    return true;
}

void slot_mark_retained(const struct slot *s, int64_t from, uint64_t *bits)
{
    each_retained(s, from, keep_one, bits);
}
