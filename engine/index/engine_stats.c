/* Statistics of an engine. */
#include "engine/index/engine_int.h"

#include "common/base/bits.h"
#include "common/base/hash.h"

static uint64_t store_bytes(const struct engine *e)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < e->n_slots; i++) {
        sum += e->slots[i]->bytes + e->slots[i]->live_bytes;
    }
    return sum;
}

static void count_docs(const struct engine *e, struct engine_stats *out)
{
    for (size_t i = 0; i < e->n_slots; i++) {
        const struct slot *s = e->slots[i];
        if (s->settled) {
            uint32_t docs = segment_doc_count(s->segment), live = s->live != NULL ? s->live->n_live : docs;
            out->docs += live;
            out->docs_deleted += docs - live;
        }
    }
    out->roots = ((const struct engine_view *)(const void *)e->view)->v.live_count;
}

void engine_stats(const struct engine *e, struct engine_stats *out)
{
    *out = e->stats;
    count_docs(e, out);
    out->store_bytes = store_bytes(e);
    translog_size(&e->log, 0, &out->translog_ops, &out->translog_bytes);
    translog_size(&e->log, e->commits->m.translog_generation, &out->translog_uncommitted_ops,
                  &out->translog_uncommitted_bytes);
    out->segments = e->n_slots;
    out->buffer_bytes = index_buffer_bytes(e->buffer);
    out->version_map_bytes = version_map_bytes(&e->versions);
    out->op_ids_bytes = op_ids_bytes(&e->op_ids);
    for (size_t i = 0; i < e->n_slots; i++) {
        const struct slot *s = e->slots[i];
        out->memory_segment_bytes += s->memory != NULL ? segment_bytes(s->segment) : 0;
        out->live_bytes += live_bytes(s->live) + live_bytes(s->next);
    }
    out->tombstones = e->versions.n_tombs;
    out->op_ids = e->op_ids.n;
    out->max_auto_id_ms = e->max_auto_id_ms;
}

/* Lucene's names: _ and the number in base 36. */
static void segment_name(uint64_t number, char out[24])
{
    char digits[16];
    size_t n = 0;
    do {
        digits[n++] = "0123456789abcdefghijklmnopqrstuvwxyz"[number % 36];
        number /= 36;
    } while (number > 0);
    *out++ = '_';
    while (n > 0) {
        *out++ = digits[--n];
    }
    *out = '\0';
}

enum err engine_segments(const struct engine *e, struct arena *arena, struct engine_segment_info **out,
                         size_t *n, struct errmsg *em)
{
    *n = e->n_slots;
    *out = ARENA_ARRAY(arena, struct engine_segment_info, e->n_slots);
    if (*out == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < e->n_slots; i++) {
        const struct slot *s = e->slots[i];
        struct engine_segment_info *info = &(*out)[i];
        uint32_t docs = segment_doc_count(s->segment);
        const struct live *l = s->settled ? s->live : slot_live(s);
        uint32_t live = l != NULL ? l->n_live : docs;
        *info = (struct engine_segment_info){.number = s->number - 1,
                                             .docs = live,
                                             .docs_deleted = docs - live,
                                             .bytes = s->bytes,
                                             .memory_bytes =
                                                 live_bytes(s->live) + live_bytes(s->next)
                                                 + (s->memory != NULL ? segment_bytes(s->segment) : 0),
                                             .search = s->shown,
                                             .in_memory = s->memory != NULL,
                                             .merging = s->merge != NULL};
        segment_name(info->number, info->name);
        for (size_t k = 0; k < e->commits->m.n_segments; k++) {
            info->committed |= e->commits->m.segments[k].number == s->number;
        }
    }
    return ERR_OK;
}

/* ---- what must always hold ---- */

/* Searches never see a tombstone. */
static void check_tombstones(const struct slot *s)
{
    const struct seg_field *f = segment_field(s->segment, STR("_tombstone"));
    struct num_column c;
    int64_t v;
    if (f == NULL) {
        return;
    }
    num_column_init(&c, f);
    for (doc_id d = 0; d < segment_doc_count(s->segment); d++) {
        assert(!num_column_first(&c, d, &v) || !live_test(slot_live(s), d));
    }
}

static void check_slot(const struct engine *e, size_t i)
{
    const struct slot *s = e->slots[i];
    const struct live *l = slot_live(s);
    assert(s->number < e->next_number && s->segment != NULL);
    assert(l == NULL
           || (l->n_docs == segment_doc_count(s->segment) && l->n_live == bits_count(l->words, l->n_docs)));
    assert(s->memory != NULL || s->in_file);
    assert(!s->durable || s->in_file);
    for (size_t k = 0; k < i; k++) {
        assert(e->slots[k]->number != s->number);
    }
}

static void check_commits(const struct engine *e)
{
    const struct commit *newest = NULL;
    for (const struct commit *c = e->commits; c != NULL; c = c->next) {
        assert(c->dropped ? c->pins > 0 : true);
        assert(c->next == NULL || c->next->m.generation < c->m.generation);
        if (c->dropped) {
            continue;
        }
        newest = newest == NULL ? c : newest;
        assert(c->m.translog_generation >= e->log.gens[0].header.generation);
        assert(c->m.max_seq_no <= e->processed.max);
    }
    assert(newest != NULL);
}

/* Records that wait to be written, or are being written, are not on disk. */
static void check_waiting(const struct engine *e, const struct tlog_chunk *c)
{
    for (; c != NULL; c = c->next) {
        for (size_t i = 0; i < c->n_seqs; i++) {
            assert(!seq_tracker_has(&e->persisted, c->seqs[i]) && seq_tracker_has(&e->processed, c->seqs[i]));
        }
    }
}

static void check_documents(const struct engine *e)
{
    op_ids_invariant(&e->op_ids);
    for (size_t i = 0; i < e->n_slots; i++) {
        check_tombstones(e->slots[i]);
    }
    for (size_t i = 0; i < e->versions.n_docs; i++) {
        const struct vm_doc *d = &e->versions.docs[i];
        if (!d->alive) {
            continue;
        }
        const struct doc_meta *m = index_buffer_meta(e->buffer, d->root);
        assert(m != NULL && m->seq_no == d->seq_no && m->version == d->version);
        assert(version_map_tomb(&e->versions, str_mk(d->id, d->id_n), d->hash) == NULL);
        for (size_t k = 0; k < e->n_slots; k++) {
            doc_id doc;
            assert(!seg_find_id(e->slots[k]->segment, str_mk(d->id, d->id_n), slot_words(e->slots[k]), &doc));
        }
    }
}

static void check_counts(const struct engine *e)
{
    assert(e->persisted.checkpoint <= e->processed.checkpoint && e->processed.checkpoint <= e->processed.max);
    assert(e->global_persisted <= e->global_checkpoint && e->global_checkpoint <= e->processed.checkpoint);
    assert(e->log.durable <= e->log.location && e->refreshed <= e->log.location);
    assert(e->view != NULL && e->n_slots <= e->slots_cap);
    translog_invariant(&e->log);
    check_waiting(e, e->log.first);
    check_waiting(e, e->log.out != NULL ? e->log.out->chunks : NULL);
    for (size_t i = 0; i < e->n_slots; i++) {
        check_slot(e, i);
    }
    check_commits(e);
}

/* Differs when a document came or went, in the buffer or in a segment. */
static uint64_t fingerprint(const struct engine *e)
{
    uint64_t h = hash_u64(e->epoch ^ hash_u64(e->stats.index_total) ^ e->stats.delete_total << 20
                          ^ e->stats.noop_total << 40 ^ e->stats.recovered_ops);
    h = hash_u64(h ^ index_buffer_docs(e->buffer) ^ (uint64_t)e->buffer_dead_n << 32);
    h = hash_u64(h ^ e->versions.n_docs ^ (uint64_t)e->versions.n_tombs << 32);
    for (size_t i = 0; i < e->n_slots; i++) {
        const struct slot *s = e->slots[i];
        h = hash_u64(h ^ s->number) ^ (uint64_t)(uintptr_t)s->segment;
        h = hash_u64(h ^ slot_live_docs(s));
    }
    return h | 1;
}

uint64_t engine_invariant_since(const struct engine *e, uint64_t seen)
{
    if (e->failure != ERR_OK) { /* it may be half way through something */
        return 0;
    }
    check_counts(e);
    uint64_t now = fingerprint(e);
    if (now != seen) {
        check_documents(e);
    }
    return now;
}

void engine_invariant(const struct engine *e)
{
    engine_invariant_since(e, 0);
}
