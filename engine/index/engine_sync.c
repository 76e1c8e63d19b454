/* Group commit: sealing what waits, and what follows when the disk has it. */
#include "engine/index/engine_int.h"

#include "common/base/invariant.h"

#define ASYNC_TAIL_BYTES (1 * MIB) /* asynchronous durability writes earlier when so much waits */

struct engine_sync {
    struct tlog_job *job;
    const struct allocator *alloc;
};

uint64_t engine_location(const struct engine *e)
{
    return e->log.location;
}

uint64_t engine_durable(const struct engine *e)
{
    return e->log.durable;
}

uint64_t engine_refreshed(const struct engine *e)
{
    return e->refreshed;
}

static bool sync_has_waiters(const struct engine *e)
{
    if (e->flush != NULL && e->log.durable < engine_flush_location(e->flush)) {
        return true;
    }
    for (const struct tlog_chunk *c = e->log.first; c != NULL; c = c->next) {
        if (c->n_seqs > 0) {
            return true;
        }
    }
    return false;
}

bool engine_sync_due(const struct engine *e)
{
    if (e->failure != ERR_OK || e->log.out != NULL || !sync_has_waiters(e)) {
        return false;
    }
    return e->flush != NULL || e->settings.durability == DURABLE_REQUEST
           || e->log.tail_bytes >= ASYNC_TAIL_BYTES
           || clock_mono_ms(e->clock) - e->last_sync_ms >= e->settings.sync_interval_ms;
}

enum err engine_sync_begin(struct engine *e, struct engine_sync **out, struct errmsg *em)
{
    *out = NULL;
    enum err r = engine_check(e, em);
    if (r != ERR_OK || e->log.out != NULL) {
        return r;
    }
    if (e->global_checkpoint > e->log.global_noted) {
        r = translog_note_global(&e->log, e->global_checkpoint, em);
    }
    if (r == ERR_OK && translog_current(&e->log)->sum.end >= e->settings.generation_bytes) {
        r = translog_roll(&e->log, TLOG_NO_TRIM, em);
    }
    if (r != ERR_OK || !translog_waits(&e->log)) {
        return r;
    }
    struct engine_sync *s = alloc_get(e->alloc, sizeof(*s));
    if (s == NULL) {
        return err_no_memory(em);
    }
    *s = (struct engine_sync){.alloc = e->alloc};
    r = translog_seal(&e->log, &s->job, em);
    if (r != ERR_OK) {
        alloc_put(e->alloc, s);
        return r;
    }
    *out = s;
    return ERR_OK;
}

void engine_sync_run(struct engine_sync *s)
{
    translog_job_run(s->job);
}

static void persisted(void *self, int64_t seq)
{
    struct engine *e = self;
    seq_tracker_mark(&e->persisted, seq);
}

enum err engine_sync_finish(struct engine *e, struct engine_sync *s, struct errmsg *em)
{
    ERR_LOCAL(why);
    enum err r = translog_job_finish(&e->log, s->job, persisted, e, &why);
    alloc_put(e->alloc, s);
    if (r != ERR_OK) {
        engine_fail(e, r, &why);
        return engine_check(e, em);
    }
    e->last_sync_ms = clock_mono_ms(e->clock);
    e->global_persisted = MAX_OF(e->global_persisted, e->log.global_durable);
    e->durable = e->log.durable;
    INVARIANT(translog_invariant(&e->log));
    return ERR_OK;
}

enum err engine_sync(struct engine *e, struct errmsg *em)
{
    if (e->log.out != NULL) {
        return err_set(em, ERR_ILLEGAL_STATE, "a sync is out");
    }
    struct engine_sync *s;
    enum err r = engine_sync_begin(e, &s, em);
    if (r != ERR_OK || s == NULL) {
        return r;
    }
    engine_sync_run(s);
    return engine_sync_finish(e, s, em);
}

/* ---- sequence numbers ---- */

int64_t engine_max_seq_no(const struct engine *e)
{
    return e->processed.max;
}

int64_t engine_processed_checkpoint(const struct engine *e)
{
    return e->processed.checkpoint;
}

int64_t engine_persisted_checkpoint(const struct engine *e)
{
    return e->persisted.checkpoint;
}

int64_t engine_global_checkpoint(const struct engine *e)
{
    return e->global_checkpoint;
}

int64_t engine_persisted_global_checkpoint(const struct engine *e)
{
    return e->global_persisted;
}

void engine_set_global_checkpoint(struct engine *e, int64_t seq_no)
{
    e->global_checkpoint = MAX_OF(e->global_checkpoint, MIN_OF(seq_no, e->processed.checkpoint));
}

bool engine_has_processed(const struct engine *e, int64_t seq_no)
{
    return seq_tracker_has(&e->processed, seq_no);
}

enum err engine_fill_gaps(struct engine *e, int64_t term, uint64_t *filled, struct errmsg *em)
{
    int64_t max = e->processed.max;
    *filled = 0;
    for (int64_t seq = seq_tracker_gap(&e->processed, 0); seq <= max;
         seq = seq_tracker_gap(&e->processed, seq)) {
        struct engine_op op = ENGINE_OP_INIT;
        op.kind = OP_NOOP;
        op.origin = ORIGIN_RECOVERY;
        op.seq_no = seq;
        op.primary_term = term;
        op.version = 0;
        op.reason = STR("filling gaps");
        struct engine_result res;
        enum err r = engine_apply(e, &op, &res, em);
        if (r != ERR_OK) {
            return r;
        }
        ++*filled;
    }
    return ERR_OK;
}

/* ---- history ---- */

struct engine_history {
    const struct allocator *alloc;
    struct tlog_reader reader;
    int64_t from, to;
};

int64_t engine_history_from(const struct engine *e)
{
    return MAX_OF(translog_history_from(&e->log), e->history_floor);
}

bool engine_has_segment(const struct engine *e, uint64_t number)
{
    for (size_t i = 0; i < e->n_slots; i++) {
        if (e->slots[i]->number == number) {
            return true;
        }
    }
    return false;
}

void engine_doubt_disk(struct engine *e)
{
    for (size_t i = 0; i < e->n_slots; i++) { /* what lives is written anew */
        live_unref(e->slots[i]->saved);
        e->slots[i]->saved = NULL;
    }
    e->history_floor = e->processed.max + 1;
    e->doubts = e->uncommitted = true;
}

enum err engine_history_open(struct engine_history **out, struct engine *e, int64_t from, int64_t to,
                             struct errmsg *em)
{
    *out = NULL;
    if (from < engine_history_from(e)) {
        return err_set(em, ERR_ILLEGAL_STATE, "operations from [%lld] are not kept, only from [%lld]",
                       (long long)from, (long long)engine_history_from(e));
    }
    struct engine_history *h = alloc_get(e->alloc, sizeof(*h));
    if (h == NULL) {
        return err_no_memory(em);
    }
    *h = (struct engine_history){.alloc = e->alloc, .from = from, .to = to};
    enum err r = tlog_reader_open(&h->reader, &e->log, translog_generation_above(&e->log, from - 1), em);
    if (r != ERR_OK) {
        alloc_put(e->alloc, h);
        return r;
    }
    *out = h;
    return ERR_OK;
}

enum err engine_history_next(struct engine_history *h, struct engine_op *op, bool *more, struct errmsg *em)
{
    for (;;) {
        enum err r = tlog_reader_next(&h->reader, op, more, em);
        if (r != ERR_OK || !*more || (op->seq_no >= h->from && op->seq_no <= h->to)) {
            return r;
        }
    }
}

uint64_t engine_history_total(const struct engine_history *h)
{
    return h->reader.total;
}

void engine_history_close(struct engine_history *h)
{
    if (h != NULL) {
        tlog_reader_close(&h->reader);
        alloc_put(h->alloc, h);
    }
}
