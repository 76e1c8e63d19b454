/* The course of a recovery on the side that receives: see target.h. */
#include "data/recovery/target.h"

#include <assert.h>
#include <string.h>

void target_init(struct target *t, uint32_t chunk_bytes, struct arena *why)
{
    memset(t, 0, sizeof(*t));
    t->chunk_bytes = chunk_bytes;
    t->why = err_in(why);
}

/* ---- ends ---------------------------------------------------------------------------------------------- */

static void again(struct target *t)
{
    t->end = t->end < TARGET_AGAIN ? TARGET_AGAIN : t->end;
}

static void fail(struct target *t, const struct errmsg *why)
{
    if (t->end < TARGET_FAILS) {
        t->end = TARGET_FAILS;
        err_copy(&t->why, why);
    }
}

/* The source could not answer: only the answer was lost, the recovery begins again, or it has failed. */
static void answer_lost(struct target *t, const struct errmsg *why)
{
    const enum err e = err_code(why);
    if (e == ERR_NODE_NOT_CONNECTED || e == ERR_NODE_DISCONNECTED || e == ERR_RECEIVE_TIMEOUT
        || e == ERR_REJECTED) {
        t->waits = true;
        return;
    }
    /* Its disk, or the way: a few times, then the master should know. With any other error it knows nothing (any more) of this
     * recovery. */
    if ((e == ERR_CORRUPT || e == ERR_IO) && ++t->failures >= TARGET_FAILURES_MAX) {
        fail(t, why);
        return;
    }
    again(t);
}

static void drop_chunks(struct target *t)
{
    t->first = t->n_chunks = t->n_writing = 0;
    t->file = 0;
    t->offset = 0;
}

/* Nothing is out: from START on, or from the beginning when the engine is the shard's already. */
static void begin_again(struct target *t)
{
    drop_chunks(t);
    t->end = TARGET_GOES_ON;
    t->abandoned = t->yields = t->syncing = false;
    t->waits = true;
    t->left = 0;
    if (t->taken) {
        t->step = TARGET_CLOSE;
    } else {
        t->step = t->has_engine || t->no_history || t->step == TARGET_ASK ? TARGET_ASK : TARGET_OPEN;
    }
}

/* ---- events -------------------------------------------------------------------------------------------- */

static void changed(struct target *t, UNUSED const struct target_event *e)
{
    t->idle = false;
}

static void ticked(struct target *t, UNUSED const struct target_event *e)
{
    t->waits = t->idle = false;
    for (unsigned i = 0; t->step == TARGET_COPY && t->end == TARGET_GOES_ON && i < t->n_chunks; i++) {
        struct target_chunk *c = &t->chunks[(t->first + i) % TARGET_CHUNKS_MAX];
        c->state = c->state == CHUNK_LOST ? CHUNK_AGAIN : c->state;
    }
}

static void source_gone(struct target *t, UNUSED const struct target_event *e)
{
    t->idle = false;
    again(t);
}

static void waits(struct target *t, UNUSED const struct target_event *e)
{
    t->waits = true;
}

static void not_yet(struct target *t, UNUSED const struct target_event *e)
{
    t->idle = true;
}

static void lost(struct target *t, const struct target_event *e)
{
    answer_lost(t, e->error);
}

static void unreadable(struct target *t, UNUSED const struct target_event *e)
{
    ERR_LOCAL(em);
    err_set(&em, ERR_CORRUPT, "the source's answer cannot be read");
    answer_lost(t, &em);
}

static void done_or_failed(struct target *t, const struct errmsg *error, enum target_step next)
{
    if (error != NULL) {
        fail(t, error);
    } else {
        t->step = next;
    }
}

static void opened(struct target *t, const struct target_event *e)
{
    t->has_engine = e->has_engine;
    done_or_failed(t, e->error, TARGET_ASK);
}

static void started(struct target *t, const struct target_event *e)
{
    if (!e->started.by_files && !t->has_engine) {
        unreadable(t, e);
        return;
    }
    t->term = e->started.term;
    t->batch = 0;
    t->step = e->started.by_files ? TARGET_LOOK : TARGET_ROLLBACK;
}

static void looked(struct target *t, const struct target_event *e)
{
    t->bytes = e->files.bytes;
    t->have = e->files.have;
    t->n_files = e->files.n;
    drop_chunks(t);
    done_or_failed(t, e->error, TARGET_COPY);
}

static void chunk_came(struct target *t, const struct target_event *e)
{
    t->chunks[e->slot].state = CHUNK_HERE;
    t->failures = 0;
}

static void chunk_lost(struct target *t, const struct target_event *e)
{
    t->chunks[e->slot].state = CHUNK_LOST;
    answer_lost(t, e->error);
}

/* The last chunk of the ring has not been asked for after all. */
static void chunk_held(struct target *t, UNUSED const struct target_event *e)
{
    const struct target_chunk *c = &t->chunks[(t->first + --t->n_chunks) % TARGET_CHUNKS_MAX];
    t->file = c->file;
    t->offset = c->offset;
    t->idle = true;
}

static void written(struct target *t, const struct target_event *e)
{
    t->first = (t->first + t->n_writing) % TARGET_CHUNKS_MAX;
    t->n_chunks -= t->n_writing;
    t->n_writing = 0;
    if (e->error != NULL && err_code(e->error) == ERR_CORRUPT) {
        answer_lost(t, e->error); /* the way or the source: it may come out right next time */
    } else if (e->error != NULL) {
        fail(t, e->error);
    }
}

static void installed(struct target *t, const struct target_event *e)
{
    t->has_engine = e->error == NULL;
    t->no_history = false;
    t->failures = 0;
    done_or_failed(t, e->error, TARGET_TAKE);
}

static void rolled_back(struct target *t, const struct target_event *e)
{
    if (e->error == NULL) {
        t->step = TARGET_TAKE;
        return;
    }
    t->no_history = true; /* files do, whatever has happened to these */
    again(t);
}

static void taken(struct target *t, UNUSED const struct target_event *e)
{
    t->has_engine = false;
    t->taken = true;
    t->step = TARGET_OPS;
}

static void got_ops(struct target *t, const struct target_event *e)
{
    if (e->ops.batch != t->batch) {
        unreadable(t, e);
        return;
    }
    t->failures = 0;
    t->left = e->ops.n;
    t->more = e->ops.more;
    t->step = TARGET_APPLY;
}

static void begin_sync(struct target *t)
{
    t->step = TARGET_SYNC;
    t->syncing = false;
}

static void applied(struct target *t, const struct target_event *e)
{
    t->left -= e->ops.n;
    enum err why = e->error != NULL ? err_code(e->error) : ERR_OK;
    if (why == ERR_REJECTED || why == ERR_NO_MEMORY) {
        t->waits = true; /* no room before the log is synced */
    } else if (why != ERR_OK) {
        fail(t, e->error);
    } else if (t->left > 0) {
        t->yields = true;
    } else {
        t->batch++;
        t->failures = 0;
        t->step = TARGET_OPS;
        if (!t->more) {
            begin_sync(t);
        }
    }
}

static void synced(struct target *t, UNUSED const struct target_event *e)
{
    t->step = TARGET_FINALIZE;
}

static void finalized(struct target *t, const struct target_event *e)
{
    t->step = e->finalized.moves ? TARGET_HANDOFF : TARGET_DONE;
    if (!e->finalized.in_sync) {
        begin_sync(t);
    }
}

static void handed_over(struct target *t, UNUSED const struct target_event *e)
{
    t->step = TARGET_DONE;
}

static void closed(struct target *t, UNUSED const struct target_event *e)
{
    t->taken = false;
    t->step = TARGET_OPEN;
}

/* What an event does, and whether it is the end of something that was out: a job, whose end always counts, or a question, whose
 * answer counts while nothing has ended the attempt. */
enum event_of { OF_NOTHING, OF_JOB, OF_QUESTION };
static const struct event_row {
    void (*take)(struct target *t, const struct target_event *e);
    enum event_of of;
} events[] = {
    [TARGET_CHANGED] = {changed, OF_NOTHING},
    [TARGET_TICK] = {ticked, OF_NOTHING},
    [TARGET_SOURCE_GONE] = {source_gone, OF_NOTHING},
    [TARGET_TAKEN] = {taken, OF_NOTHING},
    [TARGET_APPLIED] = {applied, OF_NOTHING},
    [TARGET_NOT_YET] = {not_yet, OF_NOTHING},
    [TARGET_SYNCED] = {synced, OF_NOTHING},
    [TARGET_CLOSED] = {closed, OF_NOTHING},
    [TARGET_BUSY] = {waits, OF_NOTHING},
    [TARGET_OPENED] = {opened, OF_JOB},
    [TARGET_LOOKED] = {looked, OF_JOB},
    [TARGET_CHUNK] = {chunk_came, OF_JOB},
    [TARGET_CHUNK_LOST] = {chunk_lost, OF_JOB},
    [TARGET_CHUNK_HELD] = {chunk_held, OF_JOB},
    [TARGET_WRITTEN] = {written, OF_JOB},
    [TARGET_INSTALLED] = {installed, OF_JOB},
    [TARGET_ROLLED_BACK] = {rolled_back, OF_JOB},
    [TARGET_RESUMED] = {changed, OF_JOB},
    [TARGET_NO_SOURCE] = {waits, OF_JOB},
    [TARGET_LOST] = {lost, OF_QUESTION},
    [TARGET_UNREADABLE] = {unreadable, OF_QUESTION},
    [TARGET_STARTED] = {started, OF_QUESTION},
    [TARGET_GOT_OPS] = {got_ops, OF_QUESTION},
    [TARGET_FINALIZED] = {finalized, OF_QUESTION},
    [TARGET_HANDED_OVER] = {handed_over, OF_QUESTION},
};

void target_step(struct target *t, const struct target_event *e)
{
    const struct event_row *row = &events[e->kind];
    /* Operations that are applied may turn out unreadable: then nothing is out. */
    if (row->of == OF_NOTHING || (e->kind == TARGET_UNREADABLE && t->step == TARGET_APPLY)) {
        row->take(t, e);
        return;
    }
    assert(t->out > 0);
    t->out--;
    t->idle = false;
    if (row->of == OF_JOB || t->end == TARGET_GOES_ON) {
        row->take(t, e);
    }
}

/* ---- effects ------------------------------------------------------------------------------------------- */

static bool emit(struct target_effect *out, enum target_effect_kind kind)
{
    *out = (struct target_effect){.kind = kind};
    return true;
}

/* A job or a question: its end is an event. */
static bool emit_out(struct target *t, struct target_effect *out, enum target_effect_kind kind)
{
    t->out++;
    return emit(out, kind);
}

static bool chunk_again(struct target *t, struct target_effect *out)
{
    for (unsigned i = 0; i < t->n_chunks; i++) {
        unsigned slot = (t->first + i) % TARGET_CHUNKS_MAX;
        if (t->chunks[slot].state == CHUNK_AGAIN) {
            t->chunks[slot].state = CHUNK_ASKED;
            emit_out(t, out, TARGET_DO_CHUNK);
            out->slot = slot;
            out->again = true;
            return true;
        }
    }
    return false;
}

/* What is here in order is written, in one go. */
static bool write_ready(struct target *t, struct target_effect *out)
{
    unsigned n = 0;
    while (n < t->n_chunks && t->chunks[(t->first + n) % TARGET_CHUNKS_MAX].state == CHUNK_HERE) {
        n++;
    }
    if (n == 0 || t->n_writing > 0) {
        return false;
    }
    t->n_writing = n;
    emit_out(t, out, TARGET_DO_WRITE);
    out->n = n;
    return true;
}

static bool next_chunk(struct target *t, struct target_effect *out)
{
    while (t->file < t->n_files && t->have[t->file]) {
        t->file++;
    }
    if (t->file == t->n_files || t->n_chunks == TARGET_CHUNKS_MAX || t->idle) {
        return false;
    }
    unsigned slot = (t->first + t->n_chunks++) % TARGET_CHUNKS_MAX;
    uint64_t rest = t->bytes[t->file] - t->offset;
    uint32_t length = rest < t->chunk_bytes ? (uint32_t)rest : t->chunk_bytes;
    t->chunks[slot] = (struct target_chunk){CHUNK_ASKED, t->file, t->offset, length};
    t->offset += length;
    if (t->offset == t->bytes[t->file]) {
        t->file++;
        t->offset = 0;
    }
    emit_out(t, out, TARGET_DO_CHUNK);
    out->slot = slot;
    return true;
}

static bool copy(struct target *t, struct target_effect *out)
{
    if (chunk_again(t, out) || write_ready(t, out) || next_chunk(t, out)) {
        return true;
    }
    if (t->n_chunks > 0 || t->file < t->n_files) {
        return false;
    }
    t->step = TARGET_INSTALL;
    return emit_out(t, out, TARGET_DO_INSTALL);
}

static bool apply(struct target *t, struct target_effect *out)
{
    if (t->yields) {
        t->yields = false;
        return emit_out(t, out, TARGET_DO_YIELD);
    }
    return emit(out, TARGET_DO_APPLY);
}

static bool next(struct target *t, struct target_effect *out)
{
    switch (t->step) {
    case TARGET_OPEN:
        return emit_out(t, out, TARGET_DO_OPEN);
    case TARGET_ASK:
        return emit_out(t, out, TARGET_DO_START);
    case TARGET_LOOK:
        t->has_engine = false; /* its files go on being of use, as files */
        return emit_out(t, out, TARGET_DO_LOOK);
    case TARGET_COPY:
        return copy(t, out);
    case TARGET_INSTALL:
        return emit_out(t, out, TARGET_DO_INSTALL);
    case TARGET_ROLLBACK:
        return emit_out(t, out, TARGET_DO_ROLLBACK);
    case TARGET_TAKE:
        return emit(out, TARGET_DO_TAKE);
    case TARGET_OPS:
        emit_out(t, out, TARGET_DO_OPS);
        out->batch = t->batch;
        return true;
    case TARGET_APPLY:
        return apply(t, out);
    case TARGET_SYNC:
        emit(out, TARGET_DO_SYNC);
        out->first = !t->syncing;
        t->syncing = true;
        return true;
    case TARGET_FINALIZE:
        return emit_out(t, out, TARGET_DO_FINALIZE);
    case TARGET_HANDOFF:
        return emit_out(t, out, TARGET_DO_HANDOFF);
    case TARGET_CLOSE:
        return emit(out, TARGET_DO_CLOSE);
    case TARGET_DONE:
        return emit(out, TARGET_DO_LEAVE);
    }
    return false;
}

/* Is this still what the state wants here? */
static void target_check_role(struct target *t, const struct target_view *v)
{
    if (!v->wanted) {
        t->end = TARGET_CANCELLED;
    } else if (t->step > TARGET_ASK && t->step < TARGET_CLOSE && v->term > t->term) {
        again(t); /* another primary: its word counts */
    }
}

bool target_effect(struct target *t, const struct target_view *v, struct target_effect *out)
{
    target_check_role(t, v);
    if (t->end == TARGET_GOES_ON) {
        bool busy = t->out > 0 && t->step != TARGET_COPY;
        bool stands = (t->idle && t->step != TARGET_COPY) || t->waits;
        return !busy && (!stands || t->step == TARGET_DONE) && next(t, out);
    }
    if (t->out > 0) {
        bool first = !t->abandoned;
        t->abandoned = true;
        return first && emit(out, TARGET_DO_ABANDON);
    }
    if (t->end == TARGET_AGAIN) {
        begin_again(t);
        return emit(out, TARGET_DO_RESET);
    }
    emit(out, TARGET_DO_LEAVE);
    out->end = t->end;
    return true;
}

void target_invariant(const struct target *t)
{
    unsigned asked = 0;
    assert(!t->taken || (!t->has_engine && t->step >= TARGET_OPS));
    assert(t->n_chunks <= TARGET_CHUNKS_MAX && t->n_writing <= t->n_chunks);
    for (unsigned i = 0; i < t->n_chunks; i++) {
        const struct target_chunk *c = &t->chunks[(t->first + i) % TARGET_CHUNKS_MAX];
        assert(c->file < t->n_files && c->offset + c->length <= t->bytes[c->file]);
        assert(i >= t->n_writing || c->state == CHUNK_HERE);
        asked += c->state == CHUNK_ASKED;
    }
    assert(t->step != TARGET_COPY || t->out == asked + (t->n_writing > 0));
    assert(t->step == TARGET_COPY || t->out <= 1);
    assert(t->file <= t->n_files);
}
