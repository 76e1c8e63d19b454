/* The matchers that find ranges of a section's paths: fuzzy words, regular expressions. */
#include "common/base/arena_list.h"
#include "common/base/utf8.h"
#include "engine/suggest/completion_search.h"

void completion_ranges_add(struct completion_ranges *r, struct completion_range range)
{
    if (range.from >= range.to) {
        return;
    }
    if (!ARENA_ADD(r->arena, r->v, r->n, r->cap, range)) {
        r->failed = true;
        return;
    }
}

/* ---- the walk ---- */

struct completion_traversal {
    struct completion_cursor *c;
    struct completion_matcher *m;
    struct buf before; /* the path whose beginning's states are known */
    size_t known;      /* bytes of it, base included */
    size_t base;
};

/* Behind the path's end: Lucene's end mark, and a number that keeps equal paths apart. */
static bool accepts_past_end(const struct completion_traversal *w, size_t depth)
{
    for (uint32_t i = 0; w->m->past_end && i < 2; i++) {
        enum match_step r = w->m->step(w->m->self, (uint32_t)depth + i, 0);
        if (r != MATCH_ALIVE) {
            return r == MATCH_ACCEPT;
        }
    }
    return false;
}

/* How the current path fares: *at becomes the length of the beginning that decided. */
static enum match_step run_path(struct completion_traversal *w, size_t *at)
{
    struct str path = buf_view(&w->c->path);
    size_t i = w->base, most = MIN_OF(w->known, path.n);
    while (i < most && w->before.p[i] == path.p[i]) {
        i++;
    }
    enum match_step r = MATCH_ALIVE;
    for (; i < path.n && r == MATCH_ALIVE; i++) {
        r = w->m->step(w->m->self, (uint32_t)(i - w->base), (uint8_t)path.p[i]);
    }
    *at = i;
    buf_truncate(&w->before, 0);
    buf_str(&w->before, path);
    w->known = r == MATCH_ALIVE ? i : i - 1;
    return r;
}

void completion_walk(struct completion_cursor *c, struct str base, struct completion_matcher *m, float boost,
                     struct str context, struct completion_ranges *out)
{
    struct completion_traversal w = {.c = c, .m = m, .base = base.n, .known = base.n};
    buf_init(&w.before, NULL, BUF_UNLIMITED);
    bool there = completion_cursor_seek(c, base);
    while (there && str_starts(buf_view(&c->path), base) && !m->failed && !out->failed && !w.before.failed) {
        size_t at = base.n;
        uint64_t from = c->pos;
        enum match_step r = m->accepts_all ? MATCH_ACCEPT : run_path(&w, &at);
        if (m->accepts_all) {
            buf_truncate(&w.before, 0);
            buf_str(&w.before, buf_view(&c->path));
        }
        if (r == MATCH_ALIVE) { /* the path was too short */
            bool past = accepts_past_end(&w, at - base.n);
            there = completion_cursor_next(c);
            if (past) {
                float b =
                    m->boost != NULL ? m->boost(m->self, str_slice(buf_view(&w.before), base.n, at)) : 0;
                completion_ranges_add(out, (struct completion_range){from, from + 1, boost + b, context});
            }
            continue;
        }
        struct str decided = str_slice(buf_view(&w.before), 0, at);
        there = completion_cursor_pass(c, decided);
        if (r == MATCH_ACCEPT) {
            float b = m->boost != NULL ? m->boost(m->self, str_slice(decided, base.n, at)) : 0;
            completion_ranges_add(out, (struct completion_range){from, c->pos, boost + b, context});
        }
    }
    out->failed |= w.before.failed;
    buf_fini(&w.before);
}

/* ---- fuzzy words ---- */

struct word {
    const uint32_t *units;
    uint32_t n, prefix; /* leading units that must be equal */
    size_t row_at;      /* its cells in a row */
};

struct level {        /* behind so many bytes */
    uint32_t units;   /* complete ones */
    uint32_t partial; /* bits of the character that has begun */
    uint32_t need;    /* bytes that it lacks */
};

struct fuzzy {
    struct fuzzy_options o;
    struct word *words;
    size_t n, row_n;
    struct arena *arena;
    uint8_t *rows;   /* a row a unit, saturated at edits + 1 */
    uint32_t *units; /* the path's */
    struct level *levels;
    uint32_t cap;
    struct completion_matcher *m;
};

static bool more_room(struct fuzzy *f, uint32_t depth)
{
    if (depth + 2 <= f->cap) {
        return true;
    }
    uint32_t cap = MAX_OF(f->cap * 2, depth + 64);
    uint8_t *rows = arena_alloc(f->arena, (size_t)cap * f->row_n);
    uint32_t *units = ARENA_ARRAY(f->arena, uint32_t, cap);
    struct level *levels = ARENA_ARRAY(f->arena, struct level, cap);
    if (rows == NULL || units == NULL || levels == NULL) {
        f->m->failed = true;
        return false;
    }
    if (f->cap > 0) {
        memcpy(rows, f->rows, (size_t)f->cap * f->row_n);
        memcpy(units, f->units, f->cap * sizeof(*units));
        memcpy(levels, f->levels, f->cap * sizeof(*levels));
    }
    f->rows = rows;
    f->units = units;
    f->levels = levels;
    f->cap = cap;
    return true;
}

/* One word's row behind `at` units from the one before; the smallest cell. Rows within the exact prefix hold
 * edits + 1 everywhere but on the diagonal. */
static unsigned next_row(const struct fuzzy *f, const struct word *w, uint32_t at)
{
    const uint8_t *old = f->rows + (size_t)(at - 1) * f->row_n + w->row_at;
    const uint8_t *older = at >= 2 ? old - f->row_n : NULL;
    uint8_t *row = f->rows + (size_t)at * f->row_n + w->row_at;
    uint32_t unit = f->units[at - 1], most = f->o.edits + 1;
    unsigned best = most;
    for (uint32_t j = 0; j <= w->n; j++) {
        unsigned v = most;
        if (j > 0 && w->units[j - 1] == unit) {
            v = old[j - 1];
        } else if (at > w->prefix && j > w->prefix) {
            v = old[j - 1] + 1U;
        }
        if (at >= w->prefix && j > w->prefix) {
            v = MIN_OF(v, row[j - 1] + 1U);
        }
        if (at > w->prefix && j >= w->prefix) {
            v = MIN_OF(v, old[j] + 1U);
        }
        bool swap = f->o.transpositions && older != NULL && at >= w->prefix + 2 && j >= w->prefix + 2;
        if (swap && w->units[j - 1] == f->units[at - 2] && w->units[j - 2] == unit) {
            v = MIN_OF(v, older[j - 2] + 1U);
        }
        row[j] = (uint8_t)MIN_OF(v, most);
        best = MIN_OF(best, row[j]);
    }
    return best;
}

/* A word that must be equal is one whose prefix is all of it: what comes behind is not looked at. */
static enum match_step next_unit(struct fuzzy *f, uint32_t at)
{
    enum match_step r = MATCH_DEAD;
    for (size_t i = 0; i < f->n; i++) {
        const struct word *w = &f->words[i];
        if (next_row(f, w, at) > f->o.edits) {
            continue;
        }
        r = MATCH_ALIVE;
        if (f->rows[(size_t)at * f->row_n + w->row_at + w->n] <= f->o.edits) {
            return MATCH_ACCEPT;
        }
    }
    return r;
}

static enum match_step fuzzy_step(void *self, uint32_t depth, uint8_t byte)
{
    struct fuzzy *f = self;
    if (!more_room(f, depth)) {
        return MATCH_DEAD;
    }
    struct level l = f->levels[depth];
    if (!f->o.unicode || l.need > 0 || byte < 0xC0) {
        l.partial = f->o.unicode && l.need > 0 ? l.partial << 6 | (byte & 0x3FU) : byte;
        l.need -= l.need > 0;
    } else {
        l.need = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
        l.partial = byte & (0x3FU >> l.need);
    }
    enum match_step r = MATCH_ALIVE;
    if (l.need == 0) {
        f->units[l.units++] = l.partial;
        r = next_unit(f, l.units);
    }
    f->levels[depth + 1] = l;
    return r;
}

/* The longest beginning that is also a word's, counted as Lucene does: in bytes of the path against the
 * word's units. */
static float fuzzy_boost(void *self, struct str accepted)
{
    const struct fuzzy *f = self;
    uint32_t most = 0;
    for (size_t i = 0; i < f->n; i++) {
        uint32_t n = 0;
        while (n < accepted.n && n < f->words[i].n && f->words[i].units[n] == (uint8_t)accepted.p[n]) {
            n++;
        }
        most = MAX_OF(most, n);
    }
    return (float)most;
}

static bool take_word(struct fuzzy *f, struct word *w, struct str text)
{
    uint32_t *units = ARENA_ARRAY(f->arena, uint32_t, text.n);
    if (units == NULL) {
        return false;
    }
    for (size_t at = 0; at < text.n;) {
        units[w->n++] = f->o.unicode ? utf8_next(text, &at) : (uint8_t)text.p[at];
        at += !f->o.unicode;
    }
    bool exact = w->n <= f->o.prefix_length || w->n < f->o.min_length;
    w->units = units;
    w->prefix = exact ? w->n : f->o.prefix_length;
    w->row_at = f->row_n;
    f->row_n += w->n + 1;
    return true;
}

bool fuzzy_matcher_init(struct completion_matcher *m, const struct fuzzy_options *o, const struct str *words,
                        size_t n, struct arena *arena)
{
    struct fuzzy *f = ARENA_NEW(arena, struct fuzzy);
    *m = (struct completion_matcher){.self = f, .step = fuzzy_step, .boost = fuzzy_boost};
    if (f == NULL) {
        return false;
    }
    *f = (struct fuzzy){.o = *o, .n = n, .arena = arena, .m = m, .words = ARENA_ARRAY(arena, struct word, n)};
    for (size_t i = 0; i < n && f->words != NULL; i++) {
        if (!take_word(f, &f->words[i], words[i])) {
            return false;
        }
    }
    if (f->words == NULL || !more_room(f, 0)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct word *w = &f->words[i];
        uint8_t *row = f->rows + w->row_at;
        for (uint32_t j = 0; j <= w->n; j++) {
            uint32_t edits = j == 0 ? 0 : w->prefix > 0 ? o->edits + 1 : j;
            row[j] = (uint8_t)MIN_OF(edits, o->edits + 1);
        }
        m->accepts_all |= row[w->n] <= o->edits;
    }
    return true;
}

/* ---- regular expressions ---- */

struct regex {
    const struct dfa *dfa;
    struct arena *arena;
    uint32_t *states;
    size_t cap;
    struct completion_matcher *m;
};

static enum match_step regex_step(void *self, uint32_t depth, uint8_t byte)
{
    struct regex *r = self;
    if ((size_t)depth + 2 > r->cap) {
        size_t cap = 2 * ((size_t)depth + 64);
        uint32_t *states = ARENA_ARRAY(r->arena, uint32_t, cap);
        if (states == NULL) {
            r->m->failed = true;
            return MATCH_DEAD;
        }
        if (r->cap > 0) {
            memcpy(states, r->states, r->cap * sizeof(*states));
        }
        r->states = states;
        r->cap = cap;
    }
    uint32_t to = dfa_step(r->dfa, r->states[depth], byte);
    r->states[depth + 1] = to;
    return to == DFA_DEAD ? MATCH_DEAD : r->dfa->states[to].accept ? MATCH_ACCEPT : MATCH_ALIVE;
}

bool regex_matcher_init(struct completion_matcher *m, const struct dfa *dfa, struct arena *arena)
{
    struct regex *r = ARENA_NEW(arena, struct regex);
    *m = (struct completion_matcher){.self = r, .step = regex_step, .past_end = true};
    if (r == NULL) {
        return false;
    }
    *r = (struct regex){.dfa = dfa, .arena = arena, .m = m};
    m->accepts_all = dfa->n > 0 && dfa->states[0].accept;
    return true;
}
