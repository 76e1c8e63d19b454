/* The word_delimiter filter (the older one): parts and their joins, in the order of their offsets. */
#include "engine/analysis/word_parts.h"

#include "common/base/memory_account.h"

struct delimiter_filter {
    struct token_filter base;
    struct word_parts_options o;
};

/* Parts that are joined as they come. */
struct join {
    struct buf text;
    size_t from, to; /* characters of the word */
    size_t parts;
    uint8_t type;
};

struct delimiting {
    const struct word_parts_options *o;
    struct token_list to, word; /* what comes out; the parts of the present word, not yet in order */
    struct word_parts parts;
    struct token t; /* the present word */
    bool exact;     /* its offsets are those of its letters */
    int32_t inc;    /* increments not yet given to a token */
    bool first;     /* nothing has come out yet */
    bool had_part, had_after_original;
    struct join some, all;
    size_t last_joined;
};

static int32_t next_inc(struct delimiting *d, bool inject)
{
    int32_t inc = MAX_OF(1, d->inc);
    if (d->had_part) {
        d->inc = 0;
        return inject ? 0 : inc;
    }
    d->had_part = true;
    if (!d->had_after_original) {
        d->had_after_original = true;
        return 0;
    }
    d->inc = 0;
    return inc;
}

static bool word_delimiter_put(struct delimiting *d, struct token_list *l, struct str text, size_t from,
                               size_t to, int32_t inc, bool single)
{
    struct token t = {
        .text = text, .start = d->t.start, .end = d->t.end, .pos_inc = inc, .pos_len = 1, .type = d->t.type};
    uint32_t start = d->t.start + d->parts.place[from];
    if (d->exact) {
        t.start = start;
        t.end = d->t.start + d->parts.place[to];
    } else if (single && start <= d->t.end) {
        t.start = start;
    }
    return token_add(l, t);
}

static struct str text_of(const struct delimiting *d, size_t from, size_t to)
{
    return str_slice(d->t.text, d->parts.at[from], d->parts.at[to]);
}

static void join_part(struct delimiting *d, struct join *j)
{
    if (j->parts++ == 0) {
        j->from = d->parts.from;
    }
    buf_str(&j->text, text_of(d, d->parts.from, d->parts.to));
    j->to = d->parts.to;
}

static void forget(struct join *j)
{
    buf_reset(&j->text);
    j->parts = 0;
    j->type = 0;
}

static bool put_join(struct delimiting *d, struct join *j)
{
    struct str text = arena_str(d->to.arena, buf_view(&j->text));
    bool ok = text.p != NULL && !j->text.failed
              && word_delimiter_put(d, &d->word, text, j->from, j->to, next_inc(d, true), false);
    d->inc = 0;
    forget(j);
    return ok;
}

/* Ends the join of words or numbers: it comes out unless it is one part that came out by itself. */
static bool flush_some(struct delimiting *d)
{
    d->last_joined = d->some.parts;
    if (d->some.parts != 1 || !word_parts_generates(d->o, d->some.type)) {
        return put_join(d, &d->some);
    }
    forget(&d->some);
    return true;
}

static bool take_part(struct delimiting *d)
{
    uint8_t type = word_parts_type(&d->parts);
    if (d->some.parts > 0 && (d->some.type & type) == 0) {
        if (!flush_some(d)) {
            return false;
        }
        d->had_part = false;
    }
    if (word_parts_joins(d->o, type)) {
        d->some.type = d->some.parts == 0 ? type : d->some.type;
        join_part(d, &d->some);
    }
    if (d->o->join_all) {
        join_part(d, &d->all);
    }
    if (!word_parts_generates(d->o, type)) {
        return true;
    }
    struct str text = text_of(d, d->parts.from, d->parts.to);
    return word_delimiter_put(d, &d->word, text, d->parts.from, d->parts.to, next_inc(d, false), false);
}

/* By start, then the one that moves on first; what is equal stays in order. */
static void sort_word(struct token_list *l)
{
    for (size_t i = 1; token_next(l, i); i++) {
        struct token t = l->v[i];
        size_t k = i;
        while (k > 0
               && (l->v[k - 1].start > t.start
                   || (l->v[k - 1].start == t.start && l->v[k - 1].pos_inc < t.pos_inc))) {
            l->v[k] = l->v[k - 1];
            k--;
        }
        l->v[k] = t;
        if (token_stop((i - k) * sizeof(t))) {
            return;
        }
    }
}

static bool cut_word(struct delimiting *d)
{
    d->had_part = false;
    d->had_after_original = !d->o->preserve;
    d->last_joined = 0;
    d->word.n = 0;
    if (d->o->preserve) {
        struct token original = d->t;
        original.pos_inc = d->inc;
        d->inc = 0;
        d->first = false;
        if (!token_add(&d->to, original)) {
            return false;
        }
    }
    if (!d->parts.done && word_parts_is_single(&d->parts)) {
        d->first = false;
        struct str text = text_of(d, d->parts.from, d->parts.to);
        return word_delimiter_put(d, &d->to, text, d->parts.from, d->parts.to, next_inc(d, false), true);
    }
    for (; !d->parts.done; word_parts_next(&d->parts)) {
        if (token_stop(0) || !take_part(d)) {
            return false;
        }
    }
    if (d->some.parts > 0 && !flush_some(d)) {
        return false;
    }
    if (d->all.parts > d->last_joined && !put_join(d, &d->all)) {
        return false;
    }
    forget(&d->all);
    sort_word(&d->word);
    for (size_t i = 0; token_next(&d->word, i); i++) {
        if (d->first && d->word.v[i].pos_inc == 0) {
            d->word.v[i].pos_inc = 1;
        }
        d->first = false;
        if (!token_add(&d->to, d->word.v[i])) {
            return false;
        }
    }
    return true;
}

static bool take_word(struct delimiting *d, const struct token *t)
{
    d->t = *t;
    d->inc += t->pos_inc;
    if (!word_parts_open(&d->parts, d->o, t->text, d->to.arena)) {
        return false;
    }
    bool whole = !d->parts.done && d->parts.from == 0 && d->parts.to == d->parts.n;
    if (whole || word_set_has(&d->o->protected_words, t->text)) {
        d->t.pos_inc = d->inc;
        d->inc = 0;
        d->first = false;
        return token_add(&d->to, d->t);
    }
    if (d->parts.done && !d->o->preserve) { /* only delimiters: gone, and no gap */
        d->inc -= t->pos_inc == 1 && !d->first;
        return true;
    }
    return word_parts_place(&d->parts, token_source(&d->to, t), t->text, d->to.arena, &d->exact)
           && cut_word(d);
}

static enum err word_delimiter_apply(const struct token_filter *self, struct token_list *l, struct errmsg *em)
{
    struct delimiting d = {.o = &((const struct delimiter_filter *)self)->o, .first = true};
    bool ok = true;
    token_list_init(&d.to, l->arena);
    d.to.source = l->source;
    token_list_init(&d.word, l->arena);
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

PART_FACTORY(word_delimiter_filter_new)
{
    struct delimiter_filter *f = ARENA_NEW(arena, struct delimiter_filter);
    if (f == NULL) {
        return err_no_memory(em);
    }
    f->base.apply = word_delimiter_apply;
    f->base.synonym_use = SYNONYM_USE_REFUSED;
    f->base.shows_keyword = true;
    *out = &f->base;
    return word_parts_options_read(&f->o, s, env, arena, em);
}
