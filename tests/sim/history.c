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

struct told { /* an acknowledged write */
    const struct past_write *w;
    unsigned shard;
};

/* By shard and sequence number; of the same, by document, so that what is said does not depend on the sort. */
static int by_place(const void *x, const void *y)
{
    const struct told *a = x, *b = y;
    if (a->shard != b->shard) {
        return a->shard < b->shard ? -1 : 1;
    }
    if (a->w->seq_no != b->w->seq_no) {
        return a->w->seq_no < b->w->seq_no ? -1 : 1;
    }
    return (a->w->doc > b->w->doc) - (a->w->doc < b->w->doc);
}

/* before: what was acknowledged last of that document, by sequence number; NULL: nothing */
static const char *check_next(const struct told *last, const struct past_write *before, const struct told *t)
{
    const struct past_write *w = t->w;
    if (last != NULL && last->shard == t->shard && last->w->seq_no == w->seq_no) {
        snprintf(wrong, sizeof(wrong), "two acknowledged writes, of docs %u and %u, have seq_no %lld",
                 last->w->doc, w->doc, (long long)w->seq_no);
        return wrong;
    }
    if (w->if_seq_no >= 0 && before != NULL && before->seq_no > w->if_seq_no) {
        snprintf(wrong, sizeof(wrong),
                 "doc %u: a write at %lld on condition of %lld, although %lld came between", w->doc,
                 (long long)w->seq_no, (long long)w->if_seq_no, (long long)before->seq_no);
        return wrong;
    }
    return NULL;
}

/* In the order of sequence numbers: none twice, and a conditional write directly behind what it asked for. */
static const char *check_order(const struct history *h, unsigned n_docs, const unsigned *shards)
{
    struct told *v = malloc((h->n + 1) * sizeof(*v));
    const struct past_write **newest = calloc(n_docs + 1, sizeof(struct past_write *));
    const char *bad = NULL;
    size_t n = 0;
    if (v == NULL || newest == NULL) {
        abort();
    }
    for (size_t i = 0; i < h->n; i++) {
        if (h->v[i].fate == FATE_ACKNOWLEDGED && h->v[i].seq_no >= 0) {
            v[n++] = (struct told){&h->v[i], shards[h->v[i].doc]};
        }
    }
    qsort(v, n, sizeof(*v), by_place);
    for (size_t i = 0; i < n && bad == NULL; i++) {
        bad = check_next(i > 0 ? &v[i - 1] : NULL, newest[v[i].w->doc], &v[i]);
        newest[v[i].w->doc] = v[i].w;
    }
    free(v);
    free(newest);
    return bad;
}

const char *history_check(const struct history *h, const struct last_doc *last, unsigned n_docs,
                          unsigned (*shard_of)(void *self, unsigned doc), void *self)
{
    const char *bad = NULL;
    unsigned *shards = calloc(n_docs + 1, sizeof(*shards));
    if (shards == NULL) {
        abort();
    }
    for (unsigned d = 0; d < n_docs && bad == NULL; d++) {
        shards[d] = shard_of(self, d);
        bad = last[d].seq_no == DOC_UNKNOWN ? NULL : check_last(h, &last[d], d);
    }
    bad = bad == NULL ? check_order(h, n_docs, shards) : bad;
    free(shards);
    return bad;
}
