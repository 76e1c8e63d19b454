/* The places of random trees of spans against a naive model, which makes the whole list of places of each part before it looks at
 * the part around it, and searches every list from its beginning. */
#include <check.h>
#include <stdlib.h>

#include "common/base/arena.h"
#include "common/base/rand.h"
#include "engine/query/span_match.h"

#define WORDS     4
#define POSITIONS 24
#define PARTS_MAX 4
#define GAPS_MAX  200 /* places of a gap that nothing is before: more than anything reaches */

struct text {
    uint32_t at[WORDS][POSITIONS];
    uint32_t n[WORDS];
};

struct place {
    int32_t start, end, width;
};

struct places {
    struct place *v;
    uint32_t n;
};

struct run {
    struct rng r;
    struct arena arena;
    struct text text;
    bool tie; /* Lucene's queue decides which of two equal places comes first */
};

/* ---- what is searched ---- */

static void fill_text(struct run *x)
{
    x->text = (struct text){.n = {0}};
    for (uint32_t at = 0; at < POSITIONS; at++) {
        for (uint32_t w = 0; w < WORDS; w++) { /* none, one or several words at a position */
            if (rng_below(&x->r, WORDS) == 0) {
                x->text.at[w][x->text.n[w]++] = at;
            }
        }
    }
}

static int32_t small(struct run *x)
{
    return rng_below(&x->r, 12) == 0 ? INT32_MAX : (int32_t)rng_below(&x->r, 4);
}

static struct span_part random_part(struct run *x, uint32_t depth);

static struct span_part *random_parts(struct run *x, uint32_t n, uint32_t depth, bool gaps)
{
    struct span_part *v = ARENA_ARRAY(&x->arena, struct span_part, n);
    bool any = false; /* something but gaps */
    for (uint32_t i = 0; i < n; i++) {
        if (gaps && (any || i + 1 < n) && rng_below(&x->r, 6) == 0) {
            v[i] = (struct span_part){.kind = SPAN_GAP, .end = (int32_t)rng_below(&x->r, 3)};
            continue;
        }
        any = true;
        v[i] = random_part(x, depth);
    }
    return v;
}

static struct span_part random_part(struct run *x, uint32_t depth)
{
    static const enum span_kind kinds[] = {SPAN_OR,  SPAN_OR,    SPAN_NEAR,       SPAN_NEAR,
                                           SPAN_NOT, SPAN_FIRST, SPAN_CONTAINING, SPAN_WITHIN};
    struct span_part p = {.kind = SPAN_TERM, .n = (uint32_t)rng_below(&x->r, WORDS)};
    if (depth == 0 || rng_below(&x->r, 4) == 0) {
        return p; /* its word in `n` */
    }
    p.kind = kinds[rng_below(&x->r, ARRAY_LEN(kinds))];
    p.n = 2;
    if (p.kind == SPAN_OR || p.kind == SPAN_NEAR) {
        p.n = 2 + (uint32_t)rng_below(&x->r, PARTS_MAX - 1);
    } else if (p.kind == SPAN_FIRST) {
        p.n = 1;
    }
    p.unordered = p.kind == SPAN_NEAR && rng_below(&x->r, 2) == 0;
    p.slop = small(x) - (rng_below(&x->r, 10) == 0 ? 2 : 0);
    p.before = small(x);
    p.after = small(x);
    p.end = rng_below(&x->r, 8) == 0 ? INT32_MAX : (int32_t)rng_below(&x->r, POSITIONS);
    p.v = random_parts(x, p.n, depth - 1, p.kind == SPAN_NEAR && !p.unordered);
    return p;
}

/* ---- the model ---- */

static struct places places_of(struct run *x, const struct span_part *p);

static void add_place(struct places *l, int32_t start, int32_t end, int32_t width)
{
    l->v[l->n++] = (struct place){start, end, width};
}

static struct places no_places(struct run *x, uint32_t room)
{
    return (struct places){ARENA_ARRAY(&x->arena, struct place, room), 0};
}

static struct places of_word(struct run *x, uint32_t word)
{
    struct places l = no_places(x, POSITIONS);
    for (uint32_t i = 0; i < x->text.n[word]; i++) {
        add_place(&l, (int32_t)x->text.at[word][i], (int32_t)x->text.at[word][i] + 1, 0);
    }
    return l;
}

static bool is_less(const struct place *a, const struct place *b)
{
    return a->start < b->start || (a->start == b->start && a->end < b->end);
}

static bool is_equal(const struct place *a, const struct place *b)
{
    return a->start == b->start && a->end == b->end;
}

static struct places of_any(struct run *x, const struct places *in, uint32_t n)
{
    uint32_t all = 0, at[PARTS_MAX] = {0};
    for (uint32_t i = 0; i < n; i++) {
        all += in[i].n;
    }
    struct places l = no_places(x, all);
    while (l.n < all) {
        const struct place *best = NULL;
        uint32_t of = 0;
        for (uint32_t i = 0; i < n; i++) {
            const struct place *p = &in[i].v[at[i]];
            if (at[i] == in[i].n) {
                continue;
            }
            x->tie = x->tie || (best != NULL && is_equal(p, best) && p->width != best->width);
            if (best == NULL || is_less(p, best)) {
                best = p;
                of = i;
            }
        }
        l.v[l.n++] = *best;
        at[of]++;
    }
    return l;
}

/* The first one that begins at `from` or behind it. */
static const struct place *first_from(const struct places *l, int64_t from)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->v[i].start >= from) {
            return &l->v[i];
        }
    }
    return NULL;
}

/* The first one that ends at `end` or behind it. */
static const struct place *first_until(const struct places *l, int64_t end)
{
    for (uint32_t i = 0; i < l->n; i++) {
        if (l->v[i].end >= end) {
            return &l->v[i];
        }
    }
    return NULL;
}

static struct places of_ordered(struct run *x, const struct span_part *p, const struct places *in)
{
    struct places l = no_places(x, in[0].n);
    int32_t reached[PARTS_MAX] = {0}; /* no part goes back */
    for (uint32_t k = 0; k < in[0].n; k++) {
        int32_t end = in[0].v[k].end, width = 0;
        for (uint32_t i = 1; i < p->n; i++) {
            if (p->v[i].kind == SPAN_GAP) {
                end += p->v[i].end;
                continue;
            }
            reached[i] = MAX_OF(reached[i], end);
            const struct place *next = first_from(&in[i], reached[i]);
            if (next == NULL) {
                return l;
            }
            width += next->start - end;
            end = next->end;
        }
        if (width <= p->slop) {
            add_place(&l, in[0].v[k].start, end, width);
        }
    }
    return l;
}

/* The part that begins first: it moves on. */
static uint32_t first_part(struct run *x, const struct places *in, const uint32_t *at, uint32_t n)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < n; i++) {
        if (is_less(&in[i].v[at[i]], &in[first].v[at[first]])) {
            first = i;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        x->tie = x->tie || (i != first && is_equal(&in[i].v[at[i]], &in[first].v[at[first]]));
    }
    return first;
}

static struct places of_unordered(struct run *x, const struct span_part *p, const struct places *in)
{
    uint32_t all = 1, at[PARTS_MAX] = {0};
    int32_t reach = -1;
    for (uint32_t i = 0; i < p->n; i++) {
        all += in[i].n;
        if (in[i].n == 0) {
            return no_places(x, 0);
        }
        reach = MAX_OF(reach, in[i].v[0].end);
    }
    struct places l = no_places(x, all);
    for (;;) {
        uint32_t first = first_part(x, in, at, p->n);
        int32_t start = in[first].v[at[first]].start, lengths = 0;
        for (uint32_t i = 0; i < p->n; i++) {
            lengths += in[i].v[at[i]].end - in[i].v[at[i]].start;
        }
        if (reach - start - lengths <= p->slop) {
            add_place(&l, start, reach, reach - start);
        }
        if (++at[first] == in[first].n) {
            return l;
        }
        reach = MAX_OF(reach, in[first].v[at[first]].end); /* also of places that were left behind */
    }
}

/* The first place behind all that stands against it is free; those that follow are held against SPAN_END, which `after` may reach. */
static struct places of_free(struct run *x, const struct span_part *p, const struct places *in)
{
    struct places l = no_places(x, in[0].n);
    bool left = false;
    for (uint32_t k = 0; k < in[0].n; k++) {
        const struct place *a = &in[0].v[k];
        const struct place *against = first_until(&in[1], (int64_t)a->start - p->before + 1);
        int64_t from = against != NULL ? against->start : SPAN_END;
        if (in[1].n == 0 || (against == NULL && !left) || from - p->after >= a->end) {
            l.v[l.n++] = *a;
        }
        left = left || against == NULL;
    }
    return l;
}

static struct places of_early(struct run *x, const struct span_part *p, const struct places *in)
{
    struct places l = no_places(x, in[0].n);
    for (uint32_t k = 0; k < in[0].n; k++) {
        if (in[0].v[k].end <= p->end) {
            l.v[l.n++] = in[0].v[k];
        }
    }
    return l;
}

static struct places of_around(struct run *x, const struct places *in)
{
    struct places l = no_places(x, in[0].n);
    for (uint32_t k = 0; k < in[0].n; k++) {
        const struct place *little = first_from(&in[1], in[0].v[k].start);
        if (little != NULL && in[0].v[k].end >= little->end) {
            l.v[l.n++] = in[0].v[k];
        }
    }
    return l;
}

static struct places of_inside(struct run *x, const struct places *in)
{
    struct places l = no_places(x, in[1].n);
    int32_t end = 0;
    for (uint32_t k = 0; k < in[1].n; k++) {
        end = MAX_OF(end, in[1].v[k].end);
        const struct place *big = first_until(&in[0], end);
        if (big != NULL && big->start <= in[1].v[k].start) {
            l.v[l.n++] = in[1].v[k];
        }
    }
    return l;
}

static struct places of_gap(struct run *x, const struct span_part *p)
{
    struct places l = no_places(x, GAPS_MAX);
    for (int32_t at = 0; at < GAPS_MAX; at++) {
        add_place(&l, at, at + p->end, p->end);
    }
    return l;
}

static struct places places_of(struct run *x, const struct span_part *p)
{
    struct places in[PARTS_MAX];
    if (p->kind == SPAN_TERM) {
        return of_word(x, p->n);
    }
    for (uint32_t i = 0; i < p->n; i++) {
        in[i] = places_of(x, &p->v[i]);
    }
    switch (p->kind) {
    case SPAN_OR:
        return of_any(x, in, p->n);
    case SPAN_NEAR:
        return p->unordered ? of_unordered(x, p, in) : of_ordered(x, p, in);
    case SPAN_NOT:
        return of_free(x, p, in);
    case SPAN_FIRST:
        return of_early(x, p, in);
    case SPAN_CONTAINING:
        return of_around(x, in);
    case SPAN_WITHIN:
        return of_inside(x, in);
    case SPAN_GAP:
        return of_gap(x, p);
    case SPAN_TERM:
    case SPAN_PREFIX:
    case SPAN_MULTI:
    case SPAN_MASK:
    case SPAN_NONE:
        break;
    }
    ck_abort_msg("no model");
}

/* ---- both ---- */

static uint32_t read_word(struct span *s)
{
    return s->n; /* as it was opened; the places are at hand */
}

static struct span *open_span(struct run *x, const struct span_part *p)
{
    bool term = p->kind == SPAN_TERM;
    struct span *s = span_new(p, term ? 0 : p->n, &x->arena);
    s->doc = 0;
    if (term) {
        s->places = x->text.at[p->n];
        s->n = x->text.n[p->n];
        s->doc = s->n > 0 ? 0 : 1; /* the next document that has it */
        s->read = rng_below(&x->r, 2) == 0 ? read_word : NULL;
        return s;
    }
    for (uint32_t i = 0; i < p->n; i++) {
        struct span *in = open_span(x, &p->v[i]);
        bool wanted = p->kind == SPAN_OR || (p->kind == SPAN_NOT && i == 1);
        if (!wanted || in->doc == 0
            || rng_below(&x->r, 2) == 0) { /* a segment may lack it, or the document alone */
            s->v[s->n_parts++] = in;
        }
        s->doc = wanted ? s->doc : MAX_OF(s->doc, in->doc);
    }
    if (p->kind == SPAN_OR) {
        s->doc = 1;
        for (uint32_t i = 0; i < s->n_parts; i++) {
            s->doc = MIN_OF(s->doc, s->v[i]->doc);
        }
    }
    return s;
}

static void compare(struct run *x, const struct span_part *p, uint32_t *found)
{
    x->tie = false;
    const struct places want = places_of(x, p);
    struct span *s = open_span(x, p);
    if (s->doc != 0) { /* some word that is needed is not there */
        ck_assert_uint_eq(want.n, 0);
        return;
    }
    if (x->tie) {
        return;
    }
    for (uint32_t stop = 0; stop < 2; stop++) { /* the second time behind some of the places */
        uint32_t n = stop == 0 ? want.n / 2 : want.n;
        span_rewind(s);
        ck_assert_int_eq(s->start, -1);
        for (uint32_t i = 0; i < n; i++) {
            ck_assert_int_eq(span_next(s), want.v[i].start);
            ck_assert_int_eq(s->start, want.v[i].start);
            ck_assert_int_eq(s->end, want.v[i].end);
            ck_assert_int_eq(s->width, want.v[i].width);
        }
    }
    ck_assert_int_eq(span_next(s), SPAN_END);
    ck_assert_int_eq(span_next(s), SPAN_END);
    ck_assert_int_eq(s->end, SPAN_END);
    *found += want.n > 0 ? 1 : 0;
}

START_TEST(trees_as_naively)
{
    struct run x;
    uint32_t found[4] = {0};
    rng_seed(&x.r, 31);
    arena_init(&x.arena, NULL, ARENA_UNLIMITED);
    for (int round = 0; round < 200000; round++) {
        uint32_t depth = (uint32_t)rng_below(&x.r, ARRAY_LEN(found));
        fill_text(&x);
        struct span_part p = random_part(&x, depth);
        compare(&x, &p, &found[depth]);
        arena_reset(&x.arena);
    }
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        ck_assert_uint_gt(found[i], 10000);
    }
    arena_fini(&x.arena);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("span_match");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, trees_as_naively);
    suite_add_tcase(s, t);
    SRunner *run = srunner_create(s);
    srunner_run_all(run, CK_NORMAL);
    int failed = srunner_ntests_failed(run);
    srunner_free(run);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
