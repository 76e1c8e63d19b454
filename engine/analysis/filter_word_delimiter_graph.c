/* The word_delimiter_graph filter: parts one after the other, joins and the original as edges over them. */
#include "engine/analysis/word_parts.h"

#include "common/base/arena_list.h"
#include "common/base/memory_account.h"

struct delimiter_filter {
    struct token_filter base;
    struct word_parts_options o;
};

/* An edge of the present word: positions, and characters. */
struct edge {
    int32_t from_pos, to_pos;
    size_t from, to;
    struct str text;
};

struct join {
    struct buf text;
    int32_t from_pos;
    size_t from, to, parts;
    uint8_t type;
};

struct delimiting {
    const struct word_parts_options *o;
    struct token_list to;
    struct word_parts parts;
    struct token t;
    struct edge *edges;
    size_t n, cap;
    int32_t pos; /* in the present word */
    int32_t inc; /* increments not yet given to a token */
    uint32_t last_start;
    struct join some, all;
    size_t last_joined;
};

static bool word_delimiter_graph_put(struct delimiting *d, int32_t from_pos, int32_t to_pos, size_t from,
                                     size_t to, struct str text)
{
    return ARENA_ADD(d->to.arena, d->edges, d->n, d->cap, (struct edge){from_pos, to_pos, from, to, text});
}

static bool put_part(struct delimiting *d)
{
    size_t from = d->parts.from, to = d->parts.to;
    bool ok = word_delimiter_graph_put(d, d->pos, d->pos + 1, from, to,
                                       str_slice(d->t.text, d->parts.at[from], d->parts.at[to]));
    d->pos++;
    return ok;
}

static void join_part(struct delimiting *d, struct join *j)
{
    if (j->parts++ == 0) {
        j->type = word_parts_type(&d->parts);
        j->from = d->parts.from;
        j->from_pos = d->pos;
    }
    buf_str(&j->text, str_slice(d->t.text, d->parts.at[d->parts.from], d->parts.at[d->parts.to]));
    j->to = d->parts.to;
}

static void forget(struct join *j)
{
    buf_reset(&j->text);
    j->parts = 0;
}

static bool put_join(struct delimiting *d, const struct join *j)
{
    struct str text = arena_str(d->to.arena, buf_view(&j->text));
    return text.p != NULL && !j->text.failed
           && word_delimiter_graph_put(d, j->from_pos, d->pos, j->from, j->to, text);
}

static bool flush_some(struct delimiting *d)
{
    bool ok = true;
    d->pos += d->pos == d->some.from_pos; /* its parts did not come out */
    d->last_joined = d->some.parts;
    if (d->some.parts != 1 || !word_parts_generates(d->o, d->some.type)) {
        ok = put_join(d, &d->some);
    }
    forget(&d->some);
    return ok;
}

static bool take_part(struct delimiting *d)
{
    uint8_t type = word_parts_type(&d->parts);
    if (d->some.parts > 0 && (d->some.type & type) == 0 && !flush_some(d)) {
        return false;
    }
    if (word_parts_joins(d->o, type)) {
        join_part(d, &d->some);
    }
    if (d->o->join_all) {
        join_part(d, &d->all);
    }
    return !word_parts_generates(d->o, type) || put_part(d);
}

/* By start, the longest first. */
static bool comes_before(const struct edge *a, const struct edge *b)
{
    if (a->from_pos != b->from_pos) {
        return a->from_pos < b->from_pos;
    }
    if (a->to_pos != b->to_pos) {
        return a->to_pos > b->to_pos;
    }
    return a->from != b->from ? a->from < b->from : a->to > b->to;
}

static void sort_edges(struct edge *v, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct edge x = v[i];
        size_t k = i;
        for (; k > 0 && comes_before(&x, &v[k - 1]); k--) {
            v[k] = v[k - 1];
        }
        v[k] = x;
        if (token_stop((i - k) * sizeof(x))) {
            return;
        }
    }
}

static bool cut_word(struct delimiting *d)
{
    d->n = 0;
    d->pos = 0;
    d->last_joined = 0;
    if (word_parts_is_single(&d->parts)) {
        return put_part(d);
    }
    for (; !d->parts.done; word_parts_next(&d->parts)) {
        if (token_stop(0) || !take_part(d)) {
            return false;
        }
    }
    if (d->some.parts > 0 && !flush_some(d)) {
        return false;
    }
    bool ok = true;
    if (d->all.parts > d->last_joined) {
        d->pos += d->pos == d->all.from_pos;
        ok = put_join(d, &d->all);
    }
    forget(&d->all);
    return ok;
}

static bool give_edges(struct delimiting *d)
{
    bool same;
    if (!word_parts_place(&d->parts, token_source(&d->to, &d->t), d->t.text, d->to.arena, &same)) {
        return false;
    }
    bool exact = d->o->adjust_offsets && same;
    int32_t pos = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct edge *x = &d->edges[i];
        struct token t = d->t;
        t.text = x->text;
        if (exact) {
            t.start = d->t.start + d->parts.place[x->from];
            t.end = d->t.start + d->parts.place[x->to];
        }
        t.start = MAX_OF(t.start, d->last_start); /* offsets never go back */
        t.end = MAX_OF(t.end, d->last_start);
        d->last_start = t.start;
        t.pos_inc = d->inc + x->from_pos - pos;
        t.pos_len = (uint16_t)(x->to_pos - x->from_pos);
        d->inc = 0;
        pos = x->from_pos;
        if (!token_add(&d->to, t)) {
            return false;
        }
    }
    return true;
}

static bool take_word(struct delimiting *d, const struct token *t)
{
    d->t = *t;
    if (d->o->ignore_keywords && t->keyword) {
        return token_add(&d->to, *t);
    }
    d->inc += t->pos_inc;
    if (!word_parts_open(&d->parts, d->o, t->text, d->to.arena)) {
        return false;
    }
    bool whole = !d->parts.done && d->parts.from == 0 && d->parts.to == d->parts.n;
    if (whole || word_set_has(&d->o->protected_words, t->text)) {
        d->t.pos_inc = d->inc;
        d->inc = 0;
        return token_add(&d->to, d->t);
    }
    if (d->parts.done) { /* only delimiters */
        d->inc = d->o->preserve ? 0 : d->inc;
        return !d->o->preserve || token_add(&d->to, d->t);
    }
    if (!cut_word(d)) {
        return false;
    }
    sort_edges(d->edges, d->n);
    if (d->o->preserve) { /* before all others */
        d->pos += d->pos == 0;
        if (!word_delimiter_graph_put(d, 0, d->pos, 0, d->parts.n, d->t.text)) {
            return false;
        }
        struct edge original = d->edges[d->n - 1];
        memmove(d->edges + 1, d->edges, (d->n - 1) * sizeof(*d->edges));
        d->edges[0] = original;
    }
    return give_edges(d);
}

static enum err word_delimiter_graph_apply(const struct token_filter *self, struct token_list *l,
                                           struct errmsg *em)
{
    struct delimiting d = {.o = &((const struct delimiter_filter *)self)->o};
    bool ok = true;
    token_list_init(&d.to, l->arena);
    d.to.source = l->source;
    memory_request_buf(&d.some.text);
    memory_request_buf(&d.all.text);
    for (size_t i = 0; token_next(l, i) && ok; i++) {
        ok = take_word(&d, &l->v[i]);
    }
    buf_fini(&d.some.text);
    buf_fini(&d.all.text);
    if (!ok) {
        return err_no_memory(em);
    }
    token_list_take(l, &d.to);
    return ERR_OK;
}

PART_FACTORY(word_delimiter_graph_filter_new)
{
    struct delimiter_filter *f = ARENA_NEW(arena, struct delimiter_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = word_delimiter_graph_apply;
    f->base.synonym_use = SYNONYM_USE_REFUSED;
    f->base.shows_keyword = true;
    *out = &f->base;
    return word_parts_options_read(&f->o, s, env, arena, em);
}
