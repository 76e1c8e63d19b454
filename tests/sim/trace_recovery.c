/* The courses of recoveries, kept and played again: see core_trace.h. */
#include "data/recovery/source.h"
#include "data/recovery/target.h"
#include "tests/sim/core_trace_int.h"

#include <stdlib.h>

/* ---- the side that receives ---------------------------------------------------------------------------------- */

void __real_target_init(struct target *t, uint32_t chunk_bytes, struct arena *why);
void __real_target_step(struct target *t, const struct target_event *e);
bool __real_target_effect(struct target *t, const struct target_view *v, struct target_effect *out);
void __wrap_target_init(struct target *t, uint32_t chunk_bytes, struct arena *why);
void __wrap_target_step(struct target *t, const struct target_event *e);
bool __wrap_target_effect(struct target *t, const struct target_view *v, struct target_effect *out);

static void put_event(struct buf *b, const struct target_event *e)
{
    put_error(b, e->error);
    switch (e->kind) {
    case TARGET_OPENED:
        put_bool(b, e->has_engine);
        break;
    case TARGET_CHUNK:
    case TARGET_CHUNK_LOST:
        put_varint(b, e->slot);
        break;
    case TARGET_STARTED:
        put_varint(b, e->started.term);
        put_bool(b, e->started.by_files);
        break;
    case TARGET_LOOKED:
        put_varint(b, e->files.n);
        for (size_t i = 0; i < e->files.n; i++) {
            put_varint(b, e->files.bytes[i]);
            put_bool(b, e->files.have[i]);
        }
        break;
    case TARGET_GOT_OPS:
    case TARGET_APPLIED:
        put_varint(b, e->ops.batch);
        put_varint(b, e->ops.n);
        put_bool(b, e->ops.more);
        break;
    case TARGET_FINALIZED:
        put_bool(b, e->finalized.in_sync);
        put_bool(b, e->finalized.moves);
        break;
    default:
        break;
    }
}

struct played_target {
    struct arena why;
    struct target t;
    struct arena files; /* of the last look */
};

static void get_files(struct played_target *p, struct target_event *e, struct bytes_in *in)
{
    arena_reset(&p->files);
    e->files.n = (size_t)get_varint(in);
    uint64_t *bytes = ARENA_ARRAY(&p->files, uint64_t, e->files.n);
    bool *have = ARENA_ARRAY(&p->files, bool, e->files.n);
    for (size_t i = 0; i < e->files.n && !in->bad; i++) {
        bytes[i] = get_varint(in);
        have[i] = get_bool(in);
    }
    e->files.bytes = bytes;
    e->files.have = have;
}

static void play_step(struct played_target *p, unsigned kind, struct bytes_in *in)
{
    ERR_LOCAL(em);
    struct target_event e = {.kind = (enum target_event_kind)kind};
    e.error = get_error(in, &em);
    switch (e.kind) {
    case TARGET_OPENED:
        e.has_engine = get_bool(in);
        break;
    case TARGET_CHUNK:
    case TARGET_CHUNK_LOST:
        e.slot = (unsigned)get_varint(in);
        break;
    case TARGET_STARTED:
        e.started.term = get_varint(in);
        e.started.by_files = get_bool(in);
        break;
    case TARGET_LOOKED:
        get_files(p, &e, in);
        break;
    case TARGET_GOT_OPS:
    case TARGET_APPLIED:
        e.ops.batch = get_varint(in);
        e.ops.n = get_varint(in);
        e.ops.more = get_bool(in);
        break;
    case TARGET_FINALIZED:
        e.finalized.in_sync = get_bool(in);
        e.finalized.moves = get_bool(in);
        break;
    default:
        break;
    }
    target_step(&p->t, &e);
}

static void put_effect(struct buf *b, const struct target *t, bool any, const struct target_effect *f)
{
    put_bool(b, any);
    if (any) {
        put_u8(b, (uint8_t)f->kind);
        put_varint(b, f->n);
        put_varint(b, f->slot);
        put_bool(b, f->again);
        put_bool(b, f->first);
        put_varint(b, f->batch);
        put_u8(b, (uint8_t)f->end);
        put_error(b, f->kind == TARGET_DO_LEAVE && f->end == TARGET_FAILS ? &t->why : NULL);
    }
}

void __wrap_target_init(struct target *t, uint32_t chunk_bytes, struct arena *why)
{
    __real_target_init(t, chunk_bytes, why);
    struct core_trace *c = trace_begin(CORE_TARGET, t, CALL_NEW, true);
    if (c != NULL) {
        put_varint(&c->in, chunk_bytes);
    }
    trace_end(c, false);
}

void __wrap_target_step(struct target *t, const struct target_event *e)
{
    struct core_trace *c = trace_begin(CORE_TARGET, t, e->kind, false);
    if (c != NULL) {
        put_event(&c->in, e);
    }
    __real_target_step(t, e);
    trace_end(c, false);
}

bool __wrap_target_effect(struct target *t, const struct target_view *v, struct target_effect *out)
{
    struct core_trace *c = trace_begin(CORE_TARGET, t, CALL_EFFECT, false);
    bool any = __real_target_effect(t, v, out);
    if (any) {
        trace_effect(CORE_TARGET, out->kind);
    }
    if (c != NULL) {
        put_bool(&c->in, v->wanted);
        put_varint(&c->in, v->term);
        put_effect(&c->out, t, any, out);
    }
    trace_end(c, false);
    return any;
}

static void *fresh_target(const struct core_trace *c)
{
    struct played_target *p = calloc(1, sizeof(*p));
    (void)c;
    arena_init(&p->files, NULL, ARENA_UNLIMITED);
    return p;
}

static void play_target(void *core, unsigned call, struct bytes_in *in, struct buf *out)
{
    struct played_target *p = core;
    if (call == CALL_NEW) {
        target_init(&p->t, (uint32_t)get_varint(in), &p->why);
    } else if (call == CALL_EFFECT) {
        struct target_view v = {.wanted = get_bool(in), .term = 0};
        struct target_effect f;
        v.term = get_varint(in);
        bool any = target_effect(&p->t, &v, &f);
        put_effect(out, &p->t, any, &f);
    } else {
        play_step(p, call, in);
    }
    target_invariant(&p->t);
}

static void end_target(void *core)
{
    struct played_target *p = core;
    arena_fini(&p->files);
    arena_fini(&p->why);
    free(p);
}

static const char *const target_calls[] = {[TARGET_CHANGED] = "something has changed",
                                           [TARGET_TICK] = "tick",
                                           [TARGET_SOURCE_GONE] = "the source is gone",
                                           [TARGET_LOST] = "no answer",
                                           [TARGET_UNREADABLE] = "an answer that makes no sense",
                                           [TARGET_OPENED] = "opened",
                                           [TARGET_NO_SOURCE] = "there is no source",
                                           [TARGET_STARTED] = "started",
                                           [TARGET_LOOKED] = "looked at files",
                                           [TARGET_CHUNK] = "chunk",
                                           [TARGET_CHUNK_LOST] = "chunk lost",
                                           [TARGET_CHUNK_HELD] = "chunk held back",
                                           [TARGET_WRITTEN] = "written",
                                           [TARGET_INSTALLED] = "installed",
                                           [TARGET_ROLLED_BACK] = "rolled back",
                                           [TARGET_RESUMED] = "its turn again",
                                           [TARGET_TAKEN] = "taken",
                                           [TARGET_GOT_OPS] = "got operations",
                                           [TARGET_APPLIED] = "applied",
                                           [TARGET_NOT_YET] = "not yet",
                                           [TARGET_SYNCED] = "synced",
                                           [TARGET_FINALIZED] = "finalized",
                                           [TARGET_HANDED_OVER] = "handed over",
                                           [TARGET_CLOSED] = "closed",
                                           [TARGET_BUSY] = "busy"};
static const char *const target_effects[] = {[TARGET_DO_OPEN] = "open",
                                             [TARGET_DO_LOOK] = "look at files",
                                             [TARGET_DO_WRITE] = "write",
                                             [TARGET_DO_INSTALL] = "install",
                                             [TARGET_DO_ROLLBACK] = "roll back",
                                             [TARGET_DO_YIELD] = "yield",
                                             [TARGET_DO_START] = "ask to start",
                                             [TARGET_DO_CHUNK] = "ask for a chunk",
                                             [TARGET_DO_OPS] = "ask for operations",
                                             [TARGET_DO_FINALIZE] = "finalize",
                                             [TARGET_DO_HANDOFF] = "ask for the handoff",
                                             [TARGET_DO_TAKE] = "take",
                                             [TARGET_DO_APPLY] = "apply",
                                             [TARGET_DO_SYNC] = "sync",
                                             [TARGET_DO_CLOSE] = "close",
                                             [TARGET_DO_ABANDON] = "abandon",
                                             [TARGET_DO_RESET] = "reset",
                                             [TARGET_DO_LEAVE] = "leave"};

const struct core_player target_player = {"recovery's target", target_calls, target_effects,
                                          fresh_target,        play_target,  end_target};

/* ---- the side that gives ------------------------------------------------------------------------------------- */

enum { ASK_OPS, ASK_FINALIZE, ASK_HANDOFF, BEGUN, READ, DRAINED, LOOK };

enum source_answer __real_source_ask_ops(struct source *s, uint64_t batch);
enum source_answer __real_source_ask_finalize(struct source *s, bool caught_up, bool in_sync);
enum source_answer __real_source_ask_handoff(struct source *s, bool moves_here);
void __real_source_begun(struct source *s);
void __real_source_read(struct source *s, bool ok);
bool __real_source_drained(struct source *s);
enum source_look __real_source_look(struct source *s, const struct source_view *v, bool tick);
enum source_answer __wrap_source_ask_ops(struct source *s, uint64_t batch);
enum source_answer __wrap_source_ask_finalize(struct source *s, bool caught_up, bool in_sync);
enum source_answer __wrap_source_ask_handoff(struct source *s, bool moves_here);
void __wrap_source_begun(struct source *s);
void __wrap_source_read(struct source *s, bool ok);
bool __wrap_source_drained(struct source *s);
enum source_look __wrap_source_look(struct source *s, const struct source_view *v, bool tick);

static struct core_trace *begin_source(const struct source *s, unsigned call)
{
    return trace_begin(CORE_SOURCE, s, call, trace_is_zero(s, sizeof(*s)));
}

/* What it answered, and what it is then. */
static void put_source(struct buf *b, const struct source *s, unsigned answer)
{
    put_varint(b, answer);
    put_varint(b, s->batch);
    put_u8(b, (uint8_t)(s->begun | s->reading << 1 | s->waits << 2 | s->in_sync << 3 | s->handing_over << 4));
}

static void end_source_record(struct core_trace *c, const struct source *s, unsigned answer)
{
    if (c != NULL) {
        put_source(&c->out, s, answer);
    }
    trace_end(c, trace_is_zero(s, sizeof(*s)));
}

enum source_answer __wrap_source_ask_ops(struct source *s, uint64_t batch)
{
    struct core_trace *c = begin_source(s, ASK_OPS);
    if (c != NULL) {
        put_varint(&c->in, batch);
    }
    enum source_answer a = __real_source_ask_ops(s, batch);
    end_source_record(c, s, a);
    return a;
}

enum source_answer __wrap_source_ask_finalize(struct source *s, bool caught_up, bool in_sync)
{
    struct core_trace *c = begin_source(s, ASK_FINALIZE);
    if (c != NULL) {
        put_bool(&c->in, caught_up);
        put_bool(&c->in, in_sync);
    }
    enum source_answer a = __real_source_ask_finalize(s, caught_up, in_sync);
    end_source_record(c, s, a);
    return a;
}

enum source_answer __wrap_source_ask_handoff(struct source *s, bool moves_here)
{
    struct core_trace *c = begin_source(s, ASK_HANDOFF);
    if (c != NULL) {
        put_bool(&c->in, moves_here);
    }
    enum source_answer a = __real_source_ask_handoff(s, moves_here);
    end_source_record(c, s, a);
    return a;
}

void __wrap_source_begun(struct source *s)
{
    struct core_trace *c = begin_source(s, BEGUN);
    __real_source_begun(s);
    end_source_record(c, s, 0);
}

void __wrap_source_read(struct source *s, bool ok)
{
    struct core_trace *c = begin_source(s, READ);
    if (c != NULL) {
        put_bool(&c->in, ok);
    }
    __real_source_read(s, ok);
    end_source_record(c, s, 0);
}

bool __wrap_source_drained(struct source *s)
{
    struct core_trace *c = begin_source(s, DRAINED);
    bool waited = __real_source_drained(s);
    end_source_record(c, s, waited);
    return waited;
}

enum source_look __wrap_source_look(struct source *s, const struct source_view *v, bool tick)
{
    struct core_trace *c = begin_source(s, LOOK);
    if (c != NULL) {
        put_bool(&c->in, v->tracked);
        put_bool(&c->in, v->in_sync);
        put_bool(&c->in, v->handing_over);
        put_zigzag(&c->in, v->silent_ms);
        put_bool(&c->in, tick);
    }
    enum source_look l = __real_source_look(s, v, tick);
    end_source_record(c, s, l);
    return l;
}

static void *fresh_source(const struct core_trace *c)
{
    (void)c;
    return calloc(1, sizeof(struct source));
}

static unsigned play_look(struct source *s, struct bytes_in *in)
{
    struct source_view v = {0};
    v.tracked = get_bool(in);
    v.in_sync = get_bool(in);
    v.handing_over = get_bool(in);
    v.silent_ms = get_zigzag(in);
    return source_look(s, &v, get_bool(in));
}

static void play_source(void *core, unsigned call, struct bytes_in *in, struct buf *out)
{
    struct source *s = core;
    unsigned answer = 0;
    bool first;
    switch (call) {
    case ASK_OPS:
        answer = source_ask_ops(s, get_varint(in));
        break;
    case ASK_FINALIZE:
        first = get_bool(in);
        answer = source_ask_finalize(s, first, get_bool(in));
        break;
    case ASK_HANDOFF:
        answer = source_ask_handoff(s, get_bool(in));
        break;
    case BEGUN:
        source_begun(s);
        break;
    case READ:
        source_read(s, get_bool(in));
        break;
    case DRAINED:
        answer = source_drained(s);
        break;
    default:
        answer = play_look(s, in);
    }
    put_source(out, s, answer);
}

static const char *const source_calls[] = {"asked for operations",
                                           "asked to finalize",
                                           "asked for the handoff",
                                           "operations begin",
                                           "a batch is read",
                                           "nothing is under way",
                                           "look"};

const struct core_player source_player = {"recovery's source", source_calls, NULL,
                                          fresh_source,        play_source,  free};
