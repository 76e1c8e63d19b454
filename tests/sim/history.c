#include "tests/sim/history.h"

#include <stdio.h>
#include <stdlib.h>

static char wrong[256];

struct past_write *history_begin(struct history *h, const struct past_write *w)
{
    if (h->n == h->cap) {
        h->cap = h->cap == 0 ? 256 : h->cap * 2;
        h->v = realloc(h->v, h->cap * sizeof(*h->v));
        if (h->v == NULL) {
            abort();
        }
    }
    h->v[h->n] = *w;
    return &h->v[h->n++];
}

void history_free(struct history *h)
{
    free(h->v);
    *h = (struct history){0};
}

static const char *check_last(const struct history *h, const struct last_doc *last, unsigned doc)
{
    const struct past_write *newest = NULL, *there = NULL;
    for (size_t i = 0; i < h->n; i++) {
        const struct past_write *w = &h->v[i];
        if (w->doc != doc) {
            continue;
        }
        if (w->fate == FATE_ACKNOWLEDGED && (newest == NULL || w->seq_no > newest->seq_no)) {
            newest = w;
        }
        if (last->found && !w->is_delete && w->value == last->value) {
            there = w;
        }
    }
    if (last->found && there == NULL) {
        snprintf(wrong, sizeof(wrong), "doc %u has value %llu, which nobody wrote", doc,
                 (unsigned long long)last->value);
        return wrong;
    }
    if (there != NULL && there->fate == FATE_REFUSED) {
        snprintf(wrong, sizeof(wrong), "doc %u has value %llu, which was refused", doc,
                 (unsigned long long)last->value);
        return wrong;
    }
    if (newest == NULL) {
        return NULL;
    }
    if (last->found && last->seq_no < newest->seq_no) {
        snprintf(wrong, sizeof(wrong), "doc %u is at seq_no %lld, but %lld was acknowledged", doc,
                 (long long)last->seq_no, (long long)newest->seq_no);
        return wrong;
    }
    if (last->found && last->seq_no == newest->seq_no
        && (newest->is_delete || newest->value != last->value)) {
        snprintf(wrong, sizeof(wrong), "doc %u at seq_no %lld is not what was acknowledged", doc,
                 (long long)last->seq_no);
        return wrong;
    }
    if (!last->found && !newest->is_delete) { /* gone: only a delete that may have happened explains it */
        for (size_t i = 0; i < h->n; i++) {
            const struct past_write *w = &h->v[i];
            if (w->doc == doc && w->is_delete && (w->fate == FATE_UNKNOWN || w->fate == FATE_PENDING)
                && w->ended_ms >= newest->begun_ms) {
                return NULL;
            }
        }
        snprintf(wrong, sizeof(wrong), "doc %u is gone; value %llu at seq_no %lld was acknowledged", doc,
                 (unsigned long long)newest->value, (long long)newest->seq_no);
        return wrong;
    }
    return NULL;
}

static const char *check_pair(const struct past_write *a, const struct past_write *b, bool same_shard)
{
    if (same_shard && a->seq_no == b->seq_no) {
        snprintf(wrong, sizeof(wrong), "two acknowledged writes, of docs %u and %u, have seq_no %lld", a->doc,
                 b->doc, (long long)a->seq_no);
        return wrong;
    }
    if (a->doc == b->doc && a->if_seq_no >= 0 && b->seq_no > a->if_seq_no && b->seq_no < a->seq_no) {
        snprintf(wrong, sizeof(wrong),
                 "doc %u: a write at %lld on condition of %lld, although %lld came between", a->doc,
                 (long long)a->seq_no, (long long)a->if_seq_no, (long long)b->seq_no);
        return wrong;
    }
    return NULL;
}

const char *history_check(const struct history *h, const struct last_doc *last, unsigned n_docs,
                          unsigned (*shard_of)(void *self, unsigned doc), void *self)
{
    const char *bad = NULL;
    for (unsigned d = 0; d < n_docs && bad == NULL; d++) {
        bad = check_last(h, &last[d], d);
    }
    for (size_t i = 0; i < h->n && bad == NULL; i++) {
        for (size_t k = 0; k < h->n && bad == NULL; k++) {
            const struct past_write *a = &h->v[i], *b = &h->v[k];
            if (i != k && a->fate == FATE_ACKNOWLEDGED && b->fate == FATE_ACKNOWLEDGED && a->seq_no >= 0
                && b->seq_no >= 0) {
                bad = check_pair(a, b, shard_of(self, a->doc) == shard_of(self, b->doc));
            }
        }
    }
    return bad;
}
