/* The intervals of random sources against a naive model, which makes the whole list of intervals of each source and picks those that
 * the one around it asks for. No interval of a list is inside of another one, except for those that reach to an end of the document. */
#include <check.h>
#include <stdlib.h>

#include "common/base/arena.h"
#include "common/base/rand.h"
#include "common/base/sort_items.h"
#include "engine/query/intervals.h"

#define WORDS     4
#define POSITIONS 24
#define FROM      12 /* the first position, of some documents: what is extended does not reach an end of them */
#define PARTS_MAX 4
#define LIST_MAX  4096

struct text {
    uint32_t at[WORDS][POSITIONS];
    uint32_t n[WORDS];
};

struct place {
    int32_t start, end;
    int32_t gaps;
    int32_t own; /* what it takes of the width of one that it is a part of */
};

struct places {
    struct place *v;
    uint32_t n;
};

struct run {
    struct rng r;
    struct arena arena;
    struct interval_builder b;
    struct text text;
    bool reaches; /* something is extended: the document begins at FROM */
    uint32_t depth;
    bool unsure; /* what is found depends on more than the lists of intervals say */
};

/* ---- what is searched ---- */

static void fill_text(struct run *x)
{
    uint32_t from = x->reaches ? FROM : 0;
    x->text = (struct text){.n = {0}};
    for (uint32_t at = 0; at < POSITIONS; at++) {
        for (uint32_t w = 0; w < WORDS; w++) { /* none, one or several words at a position */
            if (rng_below(&x->r, WORDS) == 0) {
                x->text.at[w][x->text.n[w]++] = from + at;
            }
        }
    }
}

static const struct interval_source *random_source(struct run *x, uint32_t depth);

static const struct interval_source *random_several(struct run *x, uint32_t depth)
{
    static const int32_t gaps[] = {-1, -1, 0, 1, 2, 6, INT32_MAX};
    struct interval_list l = {0};
    const struct interval_source *s = NULL;
    uint32_t n = 1 + (uint32_t)rng_below(&x->r, PARTS_MAX);
    for (uint32_t i = 0; i < n; i++) {
        ck_assert(interval_add(&x->b, &l, random_source(x, depth)));
    }
    uint64_t kind = rng_below(&x->r, 3);
    enum err e = kind == 0
                     ? interval_any(&x->b, &l, &s)
                     : interval_combine(&x->b, &l, gaps[rng_below(&x->r, ARRAY_LEN(gaps))], kind == 1, &s);
    ck_assert_int_eq(e, ERR_OK);
    return s;
}

static const struct interval_source *random_source(struct run *x, uint32_t depth)
{
    static const char *const words[WORDS] = {"0", "1", "2", "3"};
    const struct interval_source *s = NULL;
    if (depth == 0 || rng_below(&x->r, 4) == 0) {
        struct interval_source *term = interval_new(&x->b, INTERVAL_TERM);
        term->text = str_of(words[rng_below(&x->r, WORDS)]);
        return term;
    }
    uint64_t kind = rng_below(&x->r, 16);
    enum err e = ERR_OK;
    if (kind == 0) {
        s = interval_new(&x->b, INTERVAL_NONE);
    } else if (kind == 1) {
        x->reaches = true;
        e = interval_extend(&x->b, random_source(x, depth - 1), (int32_t)rng_below(&x->r, 4),
                            (int32_t)rng_below(&x->r, 4), &s);
    } else if (kind == 2) {
        e = interval_place(&x->b, rng_below(&x->r, 2) == 0, random_source(x, depth - 1),
                           random_source(x, depth - 1), &s);
    } else if (kind < 8) {
        enum interval_kind by = INTERVAL_CONTAINING + (unsigned)rng_below(&x->r, 6);
        e = interval_relate(&x->b, by, random_source(x, depth - 1), random_source(x, depth - 1), &s);
    } else {
        s = random_several(x, depth - 1);
    }
    ck_assert_int_eq(e, ERR_OK);
    return s;
}

/* ---- the model ---- */

static struct places no_places(struct run *x)
{
    return (struct places){ARENA_ARRAY(&x->arena, struct place, LIST_MAX), 0};
}

static void add_place(struct places *l, int32_t start, int32_t end, int32_t gaps)
{
    ck_assert_uint_lt(l->n, LIST_MAX);
    l->v[l->n++] = (struct place){start, end, gaps, end - start + 1};
}

static struct places of_word(struct run *x, uint32_t word)
{
    struct places l = no_places(x);
    for (uint32_t i = 0; i < x->text.n[word]; i++) {
        add_place(&l, (int32_t)x->text.at[word][i], (int32_t)x->text.at[word][i], 0);
    }
    return l;
}

static bool is_inside(const struct place *a, const struct place *b)
{
    return a->start >= b->start && a->end <= b->end;
}

static int by_start(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->start != y->start ? (x->start > y->start) - (x->start < y->start)
                                : (x->end > y->end) - (x->end < y->end);
}

/* Those that no other one is inside of, in order. */
static struct places minimal(struct run *x, const struct places *all)
{
    struct places l = no_places(x);
    for (uint32_t i = 0; i < all->n; i++) {
        bool least = true;
        for (uint32_t k = 0; k < all->n && least; k++) {
            bool same = by_start(&all->v[i], &all->v[k]) == 0;
            least = same ? k >= i : !is_inside(&all->v[k], &all->v[i]);
            if (same && all->v[i].gaps != all->v[k].gaps) {
                all->v[i].gaps = all->v[k].gaps = INT32_MIN; /* unknown */
            }
        }
        if (least) {
            l.v[l.n++] = all->v[i];
        }
    }
    sort_items(l.v, l.n, sizeof(*l.v), by_start);
    return l;
}

static struct places of_any(struct run *x, const struct places *in, uint32_t n)
{
    struct places all = no_places(x);
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < in[i].n; k++) {
            add_place(&all, in[i].v[k].start, in[i].v[k].end, in[i].v[k].gaps);
        }
    }
    return minimal(x, &all);
}

/* The first one that begins at `from` or behind it; l->n: none. */
static uint32_t first_from(const struct places *l, int64_t from)
{
    uint32_t i = 0;
    while (i < l->n && l->v[i].start < from) {
        i++;
    }
    return i;
}

static struct places of_block(struct run *x, const struct places *in, uint32_t n)
{
    struct places l = no_places(x);
    for (uint32_t k = 0; k < in[0].n; k++) {
        int32_t end = in[0].v[k].end;
        uint32_t i = 1;
        for (uint32_t at; i < n; i++) {
            at = first_from(&in[i], (int64_t)end + 1);
            if (at == in[i].n || in[i].v[at].start != end + 1) {
                break;
            }
            end = in[i].v[at].end;
        }
        if (i == n) {
            add_place(&l, in[0].v[k].start, end, 0);
        }
    }
    return l;
}

/* Two, one behind the other. */
static struct places of_two(struct run *x, const struct places *in)
{
    struct places all = no_places(x);
    for (uint32_t k = 0; k < in[0].n; k++) {
        const struct place *a = &in[0].v[k];
        uint32_t at = first_from(&in[1], (int64_t)a->end + 1);
        if (at < in[1].n) {
            const struct place *b = &in[1].v[at];
            add_place(&all, a->start, b->end, b->end - a->start + 1 - a->own - b->own);
        }
    }
    return minimal(x, &all);
}

/* Where the parts of an ordered one of more than two stand. For each interval they all move on, behind each other; then the first one
 * pulls those along that it must, as long as the last one has not moved. A part that moved too far to count stays there, and what it
 * could have been with the next first one is lost: so it is in Lucene. */
struct standing {
    const struct places *in;
    uint32_t n;
    int64_t at[PARTS_MAX * PARTS_MAX]; /* -1: before the first one */
};

static bool is_over(const struct standing *s, uint32_t i)
{
    return s->at[i] == (int64_t)s->in[i].n;
}

static const struct place *place_at(const struct standing *s, uint32_t i)
{
    static const struct place before = {-1, -1, 0, 0};
    return s->at[i] < 0 ? &before : &s->in[i].v[s->at[i]];
}

static bool pull_along(struct standing *s, int32_t limit, bool narrower)
{
    for (uint32_t i = 1; i <= s->n; i++) {
        if (is_over(s, i - 1) || place_at(s, i - 1)->end >= limit) {
            return false;
        }
        if (i == s->n) {
            return true;
        }
        bool first = !narrower || is_over(s, i); /* of its moves */
        if (narrower && !is_over(s, i) && place_at(s, i)->start > place_at(s, i - 1)->end) {
            return true;
        }
        while (first || place_at(s, i)->start <= place_at(s, i - 1)->end) {
            if (is_over(s, i) || place_at(s, i)->end >= limit || (s->at[i]++, is_over(s, i))) {
                return false;
            }
            first = false;
        }
    }
    return true;
}

static struct places of_ordered(struct run *x, const struct places *in, uint32_t n)
{
    struct places l = no_places(x);
    struct standing s = {in, n, {0}};
    ck_assert_uint_le(n, ARRAY_LEN(s.at));
    for (uint32_t i = 1; i < n; i++) {
        s.at[i] = -1;
    }
    for (;;) {
        struct place best = {.start = INTERVAL_END};
        int32_t limit = INTERVAL_END;
        while (pull_along(&s, limit, limit != INTERVAL_END)) {
            const struct place *first = place_at(&s, 0), *last = place_at(&s, n - 1);
            best = (struct place){first->start, last->end, last->end - first->start + 1,
                                  last->end - first->start + 1};
            for (uint32_t i = 0; i < n; i++) {
                best.gaps -= place_at(&s, i)->own;
            }
            limit = last->start;
            s.at[0]++;
        }
        if (best.start == INTERVAL_END) {
            return l;
        }
        l.v[l.n++] = best;
    }
}

static struct places of_unordered(struct run *x, const struct places *in, uint32_t n)
{
    struct places all = no_places(x);
    bool sure = true;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < in[i].n; k++) {
            sure = sure && in[i].v[k].own == in[i].v[0].own;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < in[i].n; k++) { /* each end, with the last ones that end by it */
            int32_t end = in[i].v[k].end, start = INT32_MAX, own = 0;
            for (uint32_t j = 0; j < n; j++) {
                uint32_t of = in[j].n;
                while (of > 0 && in[j].v[of - 1].end > end) {
                    of--;
                }
                start = MIN_OF(start, of > 0 ? in[j].v[of - 1].start : -1);
                own += of > 0 ? in[j].v[of - 1].own : 0;
            }
            if (start >= 0) {
                add_place(&all, start, end, sure ? end - start + 1 - own : INT32_MIN);
            }
        }
    }
    return minimal(x, &all);
}

static struct places of_few_gaps(struct run *x, const struct places *in, int32_t max)
{
    struct places l = no_places(x);
    for (uint32_t k = 0; k < in->n; k++) {
        x->unsure = x->unsure || in->v[k].gaps == INT32_MIN;
        if (in->v[k].gaps <= max) {
            add_place(&l, in->v[k].start, in->v[k].end, in->v[k].gaps);
        }
    }
    return l;
}

static struct places of_extended(struct run *x, const struct places *in, int32_t before, int32_t after)
{
    struct places l = no_places(x);
    for (uint32_t k = 0; k < in->n; k++) {
        int64_t start = (int64_t)in->v[k].start - before, end = (int64_t)in->v[k].end + after;
        add_place(&l, (int32_t)MAX_OF(start, 0), (int32_t)MIN_OF(end, INTERVAL_END - 1), in->v[k].gaps);
    }
    return l;
}

/* What parts of it add to its own width: their lengths, backwards. */
static struct places of_repeated(struct run *x, const struct places *in, uint32_t count)
{
    struct places l = no_places(x);
    for (uint32_t k = 0; k + count <= in->n; k++) {
        int32_t own = 0;
        for (uint32_t i = k; i < k + count; i++) {
            own += in->v[i].start - in->v[i].end + 1;
        }
        add_place(&l, in->v[k].start, in->v[k + count - 1].end,
                  in->v[k + count - 1].end - in->v[k].start + 1 - own);
        l.v[l.n - 1].own = own;
    }
    return l;
}

/* The position beside each; none is before the first one of a document. */
static struct places of_beside(struct run *x, const struct places *in, bool behind)
{
    struct places l = no_places(x);
    for (uint32_t k = 0; k < in->n; k++) {
        int32_t at = behind ? in->v[k].end + 1 : MAX_OF(in->v[k].start - 1, 0);
        add_place(&l, at, at, 0);
    }
    return l;
}

static bool is_across(const struct place *a, const struct place *b)
{
    return a->start <= b->end && b->start <= a->end;
}

/* Does the interval of the first source count? One that is not to contain others has none that begins in it, either, unless a place
 * that begins before it ends in it: so it is in Lucene. */
static bool is_related(enum interval_kind kind, const struct place *a, const struct places *by)
{
    bool around = false, inside = false, across = false;
    const struct place *next = NULL;
    for (uint32_t i = 0; i < by->n; i++) {
        const struct place *b = &by->v[i];
        around = around || is_inside(b, a);
        inside = inside || is_inside(a, b);
        across = across || is_across(a, b);
        next = next == NULL && (b->start >= a->start || b->end >= a->end) ? b : next;
    }
    switch (kind) {
    case INTERVAL_CONTAINING:
        return around;
    case INTERVAL_CONTAINED_BY:
        return inside;
    case INTERVAL_OVERLAPPING:
        return across;
    case INTERVAL_NOT_CONTAINED_BY:
        return !inside;
    case INTERVAL_NOT_OVERLAPPING:
        return !across;
    default:
        return next == NULL || next->start > a->end;
    }
}

/* Where the second source ends before the first one, what is to contain it still says where the first one stands: sources around
 * take that for an interval, in Lucene as well. */
static bool ends_early(enum interval_kind kind, const struct places *in)
{
    return kind == INTERVAL_CONTAINING && in[0].n > 0 && in[1].n > 0
           && in[1].v[in[1].n - 1].start < in[0].v[in[0].n - 1].start
           && in[1].v[in[1].n - 1].end < in[0].v[in[0].n - 1].end;
}

static struct places of_relation(struct run *x, enum interval_kind kind, const struct places *in)
{
    struct places l = no_places(x);
    x->unsure = x->unsure || (x->depth > 0 && ends_early(kind, in));
    for (uint32_t k = 0; k < in[0].n; k++) {
        if (is_related(kind, &in[0].v[k], &in[1])) {
            add_place(&l, in[0].v[k].start, in[0].v[k].end, in[0].v[k].gaps);
        }
    }
    return l;
}

static struct places places_of(struct run *x, const struct interval_source *s)
{
    struct places *in = ARENA_ARRAY(&x->arena, struct places, s->n + 1);
    x->depth++;
    for (uint32_t i = 0; i < s->n; i++) {
        in[i] = places_of(x, s->v[i]);
    }
    x->depth--;
    switch (s->kind) {
    case INTERVAL_TERM:
        return of_word(x, (uint32_t)(s->text.p[0] - '0'));
    case INTERVAL_ANY:
        return of_any(x, in, s->n);
    case INTERVAL_BLOCK:
        return of_block(x, in, s->n);
    case INTERVAL_ORDERED:
        return s->n == 2 ? of_two(x, in) : of_ordered(x, in, s->n);
    case INTERVAL_UNORDERED:
        return of_unordered(x, in, s->n);
    case INTERVAL_MAX_GAPS:
        return of_few_gaps(x, in, s->before);
    case INTERVAL_EXTENDED:
        return of_extended(x, in, s->before, s->after);
    case INTERVAL_REPEATED:
        return of_repeated(x, in, (uint32_t)s->before);
    case INTERVAL_BEFORE:
    case INTERVAL_BEHIND:
        return of_beside(x, in, s->kind == INTERVAL_BEHIND);
    case INTERVAL_NONE:
        return no_places(x);
    case INTERVAL_CONTAINING:
    case INTERVAL_CONTAINED_BY:
    case INTERVAL_NOT_CONTAINING:
    case INTERVAL_NOT_CONTAINED_BY:
    case INTERVAL_OVERLAPPING:
    case INTERVAL_NOT_OVERLAPPING:
        return of_relation(x, s->kind, in);
    case INTERVAL_PATTERN:
    case INTERVAL_OF_FIELD:
        break;
    }
    ck_abort_msg("no model");
}

/* ---- both ---- */

static struct interval_iter *open_word(struct run *x, const struct interval_source *s)
{
    struct interval_iter *it = ARENA_NEW(&x->arena, struct interval_iter);
    uint32_t word = (uint32_t)(s->text.p[0] - '0');
    it->source = s;
    it->positions.pos = x->text.at[word];
    it->n_places = x->text.n[word];
    it->is_read = true;
    it->doc = it->n_places > 0 ? 0 : 1; /* the next document that has it */
    return it;
}

/* As for a segment. NULL: there are none in it. */
static struct interval_iter *open_source(struct run *x, const struct interval_source *s)
{
    if (s->kind == INTERVAL_TERM) {
        return open_word(x, s);
    }
    struct interval_iter *it = ARENA_NEW(&x->arena, struct interval_iter);
    bool any = interval_is_any(s);
    it->source = s;
    it->v = ARENA_ARRAY(&x->arena, struct interval_iter *, s->n + 1);
    it->heap = ARENA_ARRAY(&x->arena, struct interval_iter *, s->n + 1);
    it->doc = any ? 1 : 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct interval_iter *in = open_source(x, s->v[i]);
        bool wanted = any || (interval_is_difference(s) && i == 1);
        if (in != NULL && in->doc != 0 && wanted && rng_below(&x->r, 2) == 0) {
            in = NULL; /* the segment lacks it, not the document alone */
        }
        if (in == NULL && !wanted) {
            return NULL;
        }
        if (in != NULL) {
            it->v[it->n++] = in;
            it->doc = any ? MIN_OF(it->doc, in->doc) : wanted ? it->doc : MAX_OF(it->doc, in->doc);
        }
    }
    if (s->kind == INTERVAL_REPEATED) {
        it->ring = arena_alloc(&x->arena, (size_t)s->before * sizeof(*it->ring));
    }
    return it->n > 0 ? it : NULL;
}

static void compare(struct run *x, const struct interval_source *s, uint32_t *found)
{
    x->unsure = false;
    const struct places want = places_of(x, s);
    struct interval_iter *it = open_source(x, s);
    if (it == NULL || it->doc != 0) { /* some word that is needed is not there */
        ck_assert_uint_eq(want.n, 0);
        return;
    }
    if (x->unsure) {
        return;
    }
    for (uint32_t stop = 0; stop < 2; stop++) { /* the second time behind some of the intervals */
        uint32_t n = stop == 0 ? want.n / 2 : want.n;
        interval_reset(it);
        for (uint32_t i = 0; i < n; i++) {
            ck_assert_int_eq(interval_next(it), want.v[i].start);
            ck_assert_int_eq(interval_start(it), want.v[i].start);
            ck_assert_int_eq(interval_end(it), want.v[i].end);
        }
    }
    ck_assert_int_eq(interval_next(it), INTERVAL_END);
    *found += want.n > 0 ? 1 : 0;
}

START_TEST(sources_as_naively)
{
    struct run x;
    ERR_LOCAL(em);
    uint32_t found[4] = {0};
    rng_seed(&x.r, 32);
    arena_init(&x.arena, NULL, ARENA_UNLIMITED);
    x.b = (struct interval_builder){&x.arena, &em};
    for (int round = 0; round < 20000; round++) {
        uint32_t depth = (uint32_t)rng_below(&x.r, ARRAY_LEN(found));
        x.reaches = false;
        const struct interval_source *s = random_source(&x, depth);
        fill_text(&x);
        compare(&x, s, &found[depth]);
        arena_reset(&x.arena);
    }
    for (size_t i = 0; i < ARRAY_LEN(found); i++) {
        ck_assert_uint_gt(found[i], 1000);
    }
    arena_fini(&x.arena);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("interval_match");
    TCase *t = tcase_create("all");
    tcase_set_timeout(t, 60);
    tcase_add_test(t, sources_as_naively);
    suite_add_tcase(s, t);
    SRunner *run = srunner_create(s);
    srunner_run_all(run, CK_NORMAL);
    int failed = srunner_ntests_failed(run);
    srunner_free(run);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
