#include "engine/query/multi_terms.h"
#include "engine/query/query_ops.h"

#include "common/base/memory_account.h"
#include "common/base/stop.h"
#include "common/base/utf8.h"

static bool walk_prefix(const struct term_matcher *m, struct term_iter *it, term_fn fn, void *self)
{
    for (bool more = term_iter_seek(it, m->lo); more && str_starts(it->term, m->lo);
         more = term_iter_next(it)) {
        if (!fn(self, it, 0)) {
            break;
        }
    }
    return true;
}

static bool walk_range(const struct term_matcher *m, struct term_iter *it, term_fn fn, void *self)
{
    bool more = m->lo.p != NULL ? term_iter_seek(it, m->lo) : term_iter_next(it);
    if (more && m->lo.p != NULL && !m->lo_inclusive && str_eq(it->term, m->lo)) {
        more = term_iter_next(it);
    }
    for (; more; more = term_iter_next(it)) {
        if (m->hi.p != NULL) {
            int c = str_cmp(it->term, m->hi);
            if (c > 0 || (c == 0 && !m->hi_inclusive)) {
                break;
            }
        }
        if (!fn(self, it, 0)) {
            break;
        }
    }
    return true;
}

/* Moves to the first term behind all that begin with `prefix` (bytes of the current term are lost). */
static bool seek_behind(struct term_iter *it, struct str prefix, struct buf *scratch)
{
    buf_truncate(scratch, 0);
    buf_str(scratch, prefix);
    while (scratch->n > 0 && (uint8_t)scratch->p[scratch->n - 1] == 0xFF) {
        scratch->n--;
    }
    if (scratch->n == 0 || scratch->failed) {
        return false;
    }
    scratch->p[scratch->n - 1] = (char)((uint8_t)scratch->p[scratch->n - 1] + 1);
    return term_iter_seek(it, buf_view(scratch));
}

/* States behind each character of the current term, kept as far as the next one shares it. */
struct dfa_walk {
    uint32_t *states, *ends;
    uint32_t depth;
    size_t cap_states, cap_ends;
    struct arena arena;
    struct buf last, scratch;
};

static bool multi_terms_keep(struct dfa_walk *w, uint32_t state, uint32_t end)
{
    uint32_t *states = arena_grow(&w->arena, w->states, w->depth, &w->cap_states, sizeof(*states));
    uint32_t *ends = arena_grow(&w->arena, w->ends, w->depth, &w->cap_ends, sizeof(*ends));
    if (states == NULL || ends == NULL) {
        return false;
    }
    w->states = states;
    w->ends = ends;
    states[w->depth] = state;
    ends[w->depth++] = end;
    return true;
}

/* How many bytes of the term decide that it does not match; 0: it matches; SIZE_MAX: no memory. */
static size_t dfa_reject(const struct dfa *d, struct dfa_walk *w, struct str term)
{
    struct str last = buf_view(&w->last);
    size_t same = 0, n = MIN_OF(last.n, term.n);
    while (same < n && last.p[same] == term.p[same]) {
        same++;
    }
    while (w->depth > 0 && w->ends[w->depth - 1] > same) {
        w->depth--;
    }
    size_t at = w->depth > 0 ? w->ends[w->depth - 1] : 0;
    uint32_t state = w->depth > 0 ? w->states[w->depth - 1] : 0;
    buf_truncate(&w->last, 0);
    buf_str(&w->last, term);
    while (at < term.n && !d->states[state].all) {
        state = dfa_step(d, state, utf8_next(term, &at));
        if (state == DFA_DEAD) {
            return at;
        }
        if (!multi_terms_keep(w, state, (uint32_t)at)) {
            return SIZE_MAX;
        }
    }
    return d->states[state].accept ? 0 : term.n + 1;
}

static bool walk_dfa(const struct term_matcher *m, struct term_iter *it, term_fn fn, void *self)
{
    struct dfa_walk w = {0};
    struct str prefix = m->dfa->prefix;
    bool ok = true;
    unsigned wasted = 0;
    memory_request_arena(&w.arena);
    buf_init(&w.last, NULL, BUF_UNLIMITED);
    buf_init(&w.scratch, NULL, BUF_UNLIMITED);
    bool more = prefix.n > 0 ? term_iter_seek(it, prefix) : term_iter_next(it);
    while (more && !stop_often() && (prefix.n == 0 || str_starts(it->term, prefix))) {
        size_t reject = dfa_reject(m->dfa, &w, it->term);
        if (reject == SIZE_MAX) {
            ok = false;
            break;
        }
        if (reject == 0) {
            wasted = 0;
            if (!fn(self, it, 0)) {
                break;
            }
        } else if (reject <= it->term.n && ++wasted >= 8) {
            /* Many refused in a row: leave out all that share what was refused. */
            wasted = 0;
            more = seek_behind(it, str_slice(buf_view(&w.last), 0, reject), &w.scratch);
            continue;
        }
        more = term_iter_next(it);
    }
    buf_fini(&w.last);
    buf_fini(&w.scratch);
    arena_fini(&w.arena);
    return ok;
}

static bool walk_fuzzy(const struct term_matcher *m, struct term_iter *it, term_fn fn, void *self)
{
    struct lev_walk w;
    struct buf scratch;
    struct str prefix = str_slice(m->lev.text, 0, m->lev.prefix_bytes);
    unsigned wasted = 0;
    lev_walk_init(&w, &m->lev);
    buf_init(&scratch, NULL, BUF_UNLIMITED);
    bool more = prefix.n > 0 ? term_iter_seek(it, prefix) : term_iter_next(it);
    while (more && !w.failed && !stop_often() && (prefix.n == 0 || str_starts(it->term, prefix))) {
        unsigned edits = lev_walk_next(&w, it->term);
        if (edits <= m->lev.max) {
            wasted = 0;
            if (!fn(self, it, edits)) {
                break;
            }
        } else if (w.dead > 0 && ++wasted >= 8) {
            wasted = 0;
            more = seek_behind(it, str_slice(buf_view(&w.bytes), 0, w.dead), &scratch);
            continue;
        }
        more = term_iter_next(it);
    }
    bool ok = !w.failed;
    lev_walk_fini(&w);
    buf_fini(&scratch);
    return ok;
}

bool term_matcher_walk(const struct term_matcher *m, const struct seg_field *f, term_fn fn, void *self)
{
    struct term_iter it;
    bool ok = true;
    if ((f->has & SEG_TERMS) == 0) {
        return true;
    }
    term_iter_init(&it, f);
    switch (m->kind) {
    case MATCH_TERMS_PREFIX:
        ok = walk_prefix(m, &it, fn, self);
        break;
    case MATCH_TERMS_ALL:
    case MATCH_TERMS_RANGE:
        ok = walk_range(m, &it, fn, self);
        break;
    case MATCH_TERMS_DFA:
        ok = walk_dfa(m, &it, fn, self);
        break;
    case MATCH_TERMS_FUZZY:
        ok = walk_fuzzy(m, &it, fn, self);
        break;
    }
    term_iter_fini(&it);
    return ok;
}
