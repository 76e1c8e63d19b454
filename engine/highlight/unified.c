/* The unified highlighter: every match of the query in the text, gathered into passages. */
#include "engine/highlight/highlight_int.h"

#include "common/base/arena_list.h"
#include "common/base/memory_account.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

struct gathering {
    const struct hl_target *t;
    const struct hl_text *x;
    struct arena *arena;
    struct hl_match *v;
    size_t n, cap;
};

static bool add_match(struct gathering *g, size_t token, struct str term, uint32_t freq)
{
    return ARENA_ADD(g->arena, g->v, g->n, g->cap,
                     (struct hl_match){g->x->tokens[token].start, g->x->tokens[token].end, term, freq});
}

/* Terms by themselves: first counted, as a term's weight is about the whole text. */
static bool gather_terms(struct gathering *g)
{
    struct map counts;
    map_init(&counts, g->arena);
    size_t first = g->n;
    for (size_t i = 0; g->t->by_text.n > 0 && i < g->x->n_tokens && !stop_often(); i++) {
        struct str text = g->x->tokens[i].text;
        if (map_get(&g->t->by_text, text) == NULL) {
            continue;
        }
        uint32_t *count = map_get(&counts, text);
        if (count == NULL) {
            count = ARENA_NEW(g->arena, uint32_t);
            if (count == NULL || !map_put(&counts, text, count)) {
                return false;
            }
        }
        (*count)++;
        if (!add_match(g, i, text, 0)) {
            return false;
        }
    }
    for (size_t i = first; i < g->n; i++) {
        g->v[i].freq = *(uint32_t *)map_get(&counts, g->v[i].term);
    }
    return true;
}

/* A pattern counts as one term, whatever it matches. */
static bool gather_multi(struct gathering *g, const struct hl_multi *m)
{
    size_t first = g->n;
    for (size_t i = 0; i < g->x->n_tokens && !stop_often(); i++) {
        if (hl_multi_match(m, g->x->tokens[i].text) && !add_match(g, i, m->label, 0)) {
            return false;
        }
    }
    for (size_t i = first; i < g->n; i++) {
        g->v[i].freq = (uint32_t)(g->n - first);
    }
    return true;
}

static enum err gather_phrases(struct gathering *g, struct errmsg *em)
{
    bool *marked = ARENA_ARRAY(g->arena, bool, g->x->n_tokens);
    if (marked == NULL) {
        return err_no_memory(em);
    }
    for (size_t p = 0; p < g->t->terms.n_phrases; p++) {
        struct hl_span *spans;
        size_t n;
        enum err e =
            hl_spans(&spans, &n, g->t->terms.phrases[p].query, g->x->tokens, g->x->n_tokens, g->arena, em);
        if (e != ERR_OK) {
            return e;
        }
        for (size_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < spans[i].n; k++) {
                marked[spans[i].tokens[k]] = true;
            }
        }
    }
    for (size_t p = 0; p < g->t->terms.n_spans; p++) {
        struct hl_span *spans;
        size_t n;
        struct str only = g->t->o->require_field_match ? g->t->field->path : STR_NULL;
        enum err e = hl_span_places(&spans, &n, g->t->terms.spans[p].query, g->x->tokens, g->x->n_tokens, 0,
                                    only, g->arena, em);
        if (e != ERR_OK) {
            return e;
        }
        for (size_t i = 0; i < n; i++) {
            for (uint32_t k = 0; k < spans[i].n; k++) {
                marked[spans[i].tokens[k]] = true;
            }
        }
    }
    struct map counts;
    map_init(&counts, g->arena);
    size_t first = g->n;
    for (size_t i = 0; i < g->x->n_tokens && !stop_often(); i++) {
        struct str text = g->x->tokens[i].text;
        uint32_t *count = marked[i] ? map_get(&counts, text) : NULL;
        if (marked[i] && count == NULL) {
            count = ARENA_NEW(g->arena, uint32_t);
            if (count == NULL || !map_put(&counts, text, count)) {
                return err_no_memory(em);
            }
        }
        if (marked[i]) {
            (*count)++;
            if (!add_match(g, i, text, 0)) {
                return err_no_memory(em);
            }
        }
    }
    for (size_t i = first; i < g->n; i++) {
        g->v[i].freq = *(uint32_t *)map_get(&counts, g->v[i].term);
    }
    return ERR_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct hl_match *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    if (x->end != y->end) {
        return x->end < y->end ? -1 : 1;
    }
    return str_cmp(x->term, y->term);
}

static enum err unified_gather(struct gathering *g, struct errmsg *em)
{
    if (!gather_terms(g)) {
        return err_no_memory(em);
    }
    enum err e = g->t->terms.n_phrases + g->t->terms.n_spans > 0 ? gather_phrases(g, em) : ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < g->t->terms.n_multis; i++) {
        if (!gather_multi(g, &g->t->terms.multis[i])) {
            return err_no_memory(em);
        }
    }
    sort_items(g->v, g->n, sizeof(*g->v), by_place);
    return e;
}

/* ---- output
 * -------------------------------------------------------------------------------------------------------- */

static void format_passage(struct buf *b, const struct hl_target *t, const struct hl_text *x,
                           const struct hl_passage *p)
{
    const struct hl_options *o = t->o;
    uint32_t at = p->start;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t start = p->matches[i].start, end = p->matches[i].end;
        while (i + 1 < p->n && p->matches[i + 1].start < end) { /* what overlaps is marked as one */
            i++;
            end = MAX_OF(end, p->matches[i].end);
        }
        end = p->end > start ? MIN_OF(end, p->end) : end; /* a word may reach beyond the passage */
        if (start > at) {
            hl_append(b, x, at, start, o->html);
        }
        if (end > at) {
            buf_str(b, o->pre_tags.v[0]);
            hl_append(b, x, MAX_OF(at, start), end, o->html);
            buf_str(b, o->post_tags.v[0]);
            at = end;
        }
    }
    hl_append(b, x, at, MAX_OF(at, p->end), o->html);
}

/* Adds the text without blanks and control characters around it; nothing when nothing is left. */
static enum err add_trimmed(struct hl_fragments *out, struct buf *b, struct errmsg *em)
{
    while (b->n > 0 && (uint8_t)b->p[b->n - 1] <= ' ') {
        buf_truncate(b, b->n - 1);
    }
    size_t skip = 0;
    while (skip < b->n && (uint8_t)b->p[skip] <= ' ') {
        skip++;
    }
    if (b->n > 0 && skip > 0) {
        memmove(b->p, b->p + skip, b->n - skip);
        buf_truncate(b, b->n - skip);
    }
    if (b->failed || (b->n > 0 && !hl_fragment_add(out, b))) {
        return err_no_memory(em);
    }
    buf_reset(b);
    return ERR_OK;
}

/* The beginning of the first value that is not empty, up to the end of a word. */
static enum err beginning(struct hl_passage *p, const struct hl_target *t, const struct hl_text *x,
                          struct arena *arena, struct errmsg *em)
{
    uint32_t size = (uint32_t)t->o->no_match_size;
    for (uint32_t i = 0; i < x->n_values; i++) {
        const struct hl_value *v = &x->values[i];
        if (v->start == v->end) {
            continue;
        }
        *p = (struct hl_passage){.start = v->start, .end = v->end};
        if (size < v->end - v->start) {
            struct hl_breaks b;
            if (!hl_breaks_words(&b, x->u + v->start, v->end - v->start, arena)) {
                return err_no_memory(em);
            }
            int64_t end = hl_break_after(&b, size);
            p->end = end >= 0 ? v->start + (uint32_t)end : v->end;
        }
        break;
    }
    return ERR_OK;
}

enum err hl_unified(struct hl_fragments *out, const struct hl_target *t, struct hl_text *x,
                    struct arena *arena, struct errmsg *em)
{
    struct gathering g = {.t = t, .x = x, .arena = arena};
    struct hl_passage *v, start = {.start = 0};
    size_t n = 0;
    enum err e = unified_gather(&g, em);
    if (e == ERR_OK && g.n > 0 && t->o->number_of_fragments == INT32_MAX) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "number_of_fragments [%d] is too large", INT32_MAX);
    }
    bool whole = t->o->number_of_fragments == 0 || !t->field->class->is_analysed;
    e = e == ERR_OK ? hl_passages(&v, &n, x, t->o, whole, g.v, g.n, arena, em) : e;
    if (e == ERR_OK && n == 0 && t->o->no_match_size > 0) {
        e = beginning(&start, t, x, arena, em);
        v = &start;
        n = 1;
    }
    struct buf b;
    memory_request_buf(&b);
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        format_passage(&b, t, x, &v[i]);
        e = add_trimmed(out, &b, em);
    }
    buf_fini(&b);
    return e;
}
