/* A recovery on the side that gives: see source.h. */
#include "data/recovery/source.h"

bool source_by_operations(const struct source_choice *c)
{
    if (c->from < 0 || c->from > c->max_seq_no + 1 || !c->same_history || c->history_from > c->from) {
        return false;
    }
    int64_t lacks = c->max_seq_no + 1 - c->from;
    return lacks <= SOURCE_OPS_ALWAYS || (uint64_t)lacks <= c->docs / 10;
}

enum source_answer source_ask_ops(struct source *s, uint64_t batch)
{
    if (s->reading) {
        return SOURCE_BUSY;
    }
    if (s->batch > 0 && batch == s->batch - 1) {
        return SOURCE_ANSWER_LAST;
    }
    if (batch != s->batch) {
        return SOURCE_NOT_NEXT;
    }
    if (!s->begun) {
        return SOURCE_BEGIN;
    }
    s->reading = true;
    return SOURCE_READ;
}

void source_begun(struct source *s)
{
    s->begun = s->reading = true;
}

void source_read(struct source *s, bool ok)
{
    s->reading = false;
    s->batch += ok;
}

enum source_answer source_ask_finalize(struct source *s, bool caught_up, bool in_sync)
{
    if (s->waits) {
        return SOURCE_BUSY;
    }
    if (!caught_up) {
        return SOURCE_GONE;
    }
    s->in_sync = in_sync;
    s->waits = !in_sync; /* the writes that are under way may bring it up */
    return in_sync ? SOURCE_ANSWER : SOURCE_LATER;
}

enum source_answer source_ask_handoff(struct source *s, bool moves_here)
{
    if (!s->in_sync || s->handing_over || !moves_here) {
        return SOURCE_BUSY;
    }
    s->handing_over = true;
    return SOURCE_LATER;
}

bool source_drained(struct source *s)
{
    bool waited = s->handing_over;
    s->handing_over = false;
    return waited;
}

enum source_look source_look(struct source *s, const struct source_view *v, bool tick)
{
    if (!v->tracked || v->silent_ms >= SOURCE_SESSION_MS) {
        return SOURCE_OVER;
    }
    bool in_sync = v->in_sync && !v->handing_over;
    if (s->waits && (in_sync || (tick && v->silent_ms >= SOURCE_FINALIZE_WAIT_MS))) {
        s->in_sync = in_sync;
        s->waits = false;
        return SOURCE_FINALIZES;
    }
    return SOURCE_GOES_ON;
}
