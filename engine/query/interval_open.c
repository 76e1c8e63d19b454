/* Iterators of intervals over one segment: opened, and moved from document to document. */
#include "engine/query/intervals.h"

#include "common/base/stop.h"
#include "engine/query/query_ops.h"

#define PATTERN_TERMS_MAX 128

/* ---- documents ---- */

static doc_id seek_any(struct interval_iter *it, doc_id target)
{
    doc_id doc = DOC_END;
    for (uint32_t i = 0; i < it->n; i++) {
        doc_id at = interval_seek(it->v[i], target);
        doc = MIN_OF(doc, at);
    }
    return doc;
}

static doc_id seek_all(struct interval_iter *it, doc_id target)
{
    for (uint32_t i = 0; i < it->n && target != DOC_END;) {
        doc_id at = interval_seek(it->v[i], target);
        if (stop_often()) {
            return DOC_END;
        }
        i = at == target ? i + 1 : 0;
        target = at;
    }
    return target;
}

doc_id interval_seek(struct interval_iter *it, doc_id target)
{
    if (it->doc != POSTINGS_UNPOSITIONED && (it->doc == DOC_END || it->doc >= target)) {
        return it->doc;
    }
    if (it->source->kind == INTERVAL_TERM) {
        it->is_read = false;
        return it->doc = postings_seek(&it->postings, target);
    }
    return it->doc = interval_is_any(it->source)          ? seek_any(it, target)
                     : interval_is_difference(it->source) ? interval_seek(it->v[0], target)
                                                          : seek_all(it, target);
}

bool interval_failed(const struct interval_iter *it)
{
    bool failed = it->source->kind == INTERVAL_TERM && it->positions.failed;
    for (uint32_t i = 0; i < it->n && !failed; i++) {
        failed = interval_failed(it->v[i]);
    }
    return failed;
}

/* ---- opening ---- */

static void close_positions(void *p)
{
    positions_fini(p);
}

static enum err open_term(const struct interval_opening *o, const struct seg_field *f,
                          const struct interval_source *s, const struct term_info *t,
                          struct interval_iter **out)
{
    struct interval_iter *it = ARENA_NEW(o->arena, struct interval_iter);
    if (it == NULL) {
        return err_no_memory(o->em);
    }
    it->source = s;
    it->doc = POSTINGS_UNPOSITIONED;
    it->cost = t->doc_freq;
    postings_init(&it->postings, f, t, true);
    positions_init(&it->positions, &it->postings, false);
    *out = it;
    return arena_defer(o->arena, close_positions, &it->positions) ? ERR_OK : err_no_memory(o->em);
}

static struct interval_iter *iter_of(const struct interval_opening *o, const struct interval_source *s,
                                     uint32_t n)
{
    struct interval_iter *it = ARENA_NEW(o->arena, struct interval_iter);
    if (it == NULL) {
        return NULL;
    }
    it->source = s;
    it->doc = POSTINGS_UNPOSITIONED;
    it->v = ARENA_ARRAY(o->arena, struct interval_iter *, MAX_OF(n, 1U));
    it->heap = ARENA_ARRAY(o->arena, struct interval_iter *, n + 1);
    return it->v != NULL && it->heap != NULL ? it : NULL;
}

/* The terms of a pattern: of more than there may be, one too many. */
struct pattern_terms {
    const struct interval_opening *o;
    const struct seg_field *f;
    struct interval_iter **v;
    size_t n, cap;
    bool too_many;
    enum err e;
};

static const struct interval_source term_source = {.kind = INTERVAL_TERM};

static bool take_term(void *self, const struct term_iter *t, unsigned edits)
{
    struct pattern_terms *p = self;
    (void)edits;
    struct interval_iter **v = arena_grow(p->o->arena, p->v, p->n, &p->cap, sizeof(*v));
    p->too_many = p->n >= PATTERN_TERMS_MAX;
    if (v == NULL || p->too_many) {
        p->e = v == NULL ? err_no_memory(p->o->em) : p->e;
        return false;
    }
    p->v = v;
    p->e = open_term(p->o, p->f, &term_source, &t->info, &v[p->n]);
    p->n += p->e == ERR_OK ? 1 : 0;
    return p->e == ERR_OK;
}

static enum err open_pattern(const struct interval_opening *o, const struct seg_field *f,
                             const struct interval_source *s, struct interval_iter **out)
{
    struct term_matcher m;
    struct pattern_terms p = {.o = o, .f = f};
    enum err e = s->pattern->ops->matcher(&m, s->pattern, o->arena, o->em);
    if (e != ERR_OK) {
        return e;
    }
    if (!term_matcher_walk(&m, f, take_term, &p) && p.e == ERR_OK && !p.too_many) {
        return err_no_memory(o->em);
    }
    if (p.e != ERR_OK) {
        return p.e;
    }
    if (p.too_many) {
        return err_set(o->em, ERR_ILLEGAL_STATE, "Automaton [%.*s] expanded to too many terms (limit %d)",
                       STR_ARG(s->text), PATTERN_TERMS_MAX);
    }
    if (p.n == 0) {
        return ERR_OK;
    }
    struct interval_iter *it = *out = iter_of(o, s, (uint32_t)p.n);
    if (it == NULL) {
        return err_no_memory(o->em);
    }
    it->v = p.v;
    it->n = (uint32_t)p.n;
    for (size_t i = 0; i < p.n; i++) {
        it->cost += p.v[i]->cost;
    }
    return ERR_OK;
}

static enum err open_all(const struct interval_opening *o, const struct interval_source *s, struct str field,
                         struct interval_iter **out)
{
    struct interval_iter *it = iter_of(o, s, s->n);
    if (it == NULL) {
        return err_no_memory(o->em);
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct interval_iter *sub;
        enum err e = interval_iter_new(o, s->v[i], field, &sub);
        if (e != ERR_OK) {
            return e;
        }
        if (sub == NULL && !interval_is_any(s) && !(interval_is_difference(s) && i == 1)) {
            return ERR_OK;
        }
        if (sub != NULL) {
            it->cost = interval_is_any(s) ? it->cost + sub->cost
                       : it->n > 0        ? MIN_OF(it->cost, sub->cost)
                                          : sub->cost;
            it->v[it->n++] = sub;
        }
    }
    if (interval_is_difference(s)) {
        it->cost = it->v[0]->cost;
    }
    if (s->kind == INTERVAL_REPEATED) {
        it->ring = arena_alloc(o->arena, (size_t)s->before * sizeof(*it->ring));
        if (it->ring == NULL) {
            return err_no_memory(o->em);
        }
    }
    *out = it->n > 0 ? it : NULL;
    return ERR_OK;
}

enum err interval_iter_new(const struct interval_opening *o, const struct interval_source *s,
                           struct str field, struct interval_iter **out)
{
    const struct seg_field *f;
    struct term_info t;
    *out = NULL;
    if (s->kind == INTERVAL_NONE) {
        return ERR_OK;
    }
    if (s->kind != INTERVAL_TERM && s->kind != INTERVAL_PATTERN) {
        return open_all(o, s, s->kind == INTERVAL_OF_FIELD ? s->field : field, out);
    }
    f = segment_field(o->segment, field);
    if (f == NULL || (f->has & SEG_TERMS) == 0) {
        return ERR_OK;
    }
    if ((f->has & SEG_POSITIONS) == 0) {
        return err_set(
            o->em, ERR_ILLEGAL_ARGUMENT,
            "Cannot create an IntervalIterator over field %.*s because it has no indexed positions",
            STR_ARG(field));
    }
    if (s->kind == INTERVAL_PATTERN) {
        return open_pattern(o, f, s, out);
    }
    return seg_term(f, s->text, &t) ? open_term(o, f, s, &t, out) : ERR_OK;
}
