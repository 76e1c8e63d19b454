/* The matches of the fast vector highlighter: the query's words in the order of the text, joined into the longest phrases of the query
 * that they make. The behaviour of Lucene's FieldPhraseList: a phrase's words must follow each other in its order with none of the
 * query's other words between them, each within the slop of the one before. */
#include "engine/highlight/fvh.h"

#include "common/base/arena_list.h"
#include "common/base/sort_items.h"
#include "common/base/stop.h"

/* The words of the query at one position. One that was put back leads its group. */
struct group {
    uint32_t first, n; /* of `list` */
    uint32_t lead;
};

struct finding {
    struct vector *v;
    uint32_t *list; /* tokens */
    struct group *groups;
    uint32_t n, at;
    /* the phrase under way */
    uint32_t *taken; /* tokens */
    uint32_t *of;    /* groups that they are of, and which member */
    uint32_t *member;
    uint32_t n_taken;
    bool *active; /* phrases that begin with what was taken */
};

static struct str text_of(const struct finding *f, uint32_t token)
{
    return f->v->x->tokens[token].text;
}

static void add_hit(struct vector *v, const uint32_t *tokens, uint32_t n, uint32_t number, float boost)
{
    struct hit *grown = arena_grow(v->arena, v->hits, v->n_hits, &v->cap_hits, sizeof(*grown));
    struct mark *marks = ARENA_ARRAY(v->arena, struct mark, n);
    if (grown == NULL || marks == NULL) {
        v->failed = true;
        return;
    }
    struct hit h = {.marks = marks, .number = number, .boost = boost};
    int32_t last = INT32_MIN;
    for (uint32_t i = 0; i < n; i++) {
        const struct hl_token *k = &v->x->tokens[tokens[i]];
        if (h.n > 0 && (int64_t)k->position - last == 1) {
            marks[h.n - 1].end = MAX_OF(marks[h.n - 1].end, k->end); /* neighbours are marked as one */
        } else {
            marks[h.n++] = (struct mark){k->start, k->end};
        }
        last = k->position;
    }
    h.start = marks[0].start;
    h.end = marks[h.n - 1].end;
    v->hits = grown;
    for (size_t i = 0; i < v->n_hits; i++) {
        if (h.start < grown[i].end && grown[i].start < h.end) {
            return; /* what overlaps an earlier one is dropped */
        }
    }
    grown[v->n_hits++] = h;
}

/* ---- the query's words --------------------------------------------------------------------------------------------------- */

struct word { /* a term or a pattern alone */
    uint32_t order, number;
    float boost;
};

static bool find_word(const struct finding *f, struct str text, struct word *out)
{
    const struct hl_terms *terms = &f->v->t->terms;
    const struct hl_term *term = map_get(&f->v->t->by_text, text);
    if (term != NULL) {
        *out = (struct word){term->order, term->number, term->boost};
        return true;
    }
    for (size_t m = 0; m < terms->n_multis; m++) {
        if (hl_multi_match(&terms->multis[m], text)) {
            *out = (struct word){terms->multis[m].order, terms->multis[m].number, terms->multis[m].boost};
            return true;
        }
    }
    return false;
}

static bool in_query(const struct finding *f, struct str text)
{
    const struct hl_terms *terms = &f->v->t->terms;
    struct word w;
    if (find_word(f, text, &w)) {
        return true;
    }
    for (size_t p = 0; p < terms->n_phrases; p++) {
        for (uint32_t i = 0; i < terms->phrases[p].query->phrase.n; i++) {
            if (hl_slot_takes(terms->phrases[p].query, i, text)) {
                return true;
            }
        }
    }
    return false;
}

static bool fvh_gather(struct finding *f)
{
    const struct hl_text *x = f->v->x;
    struct arena *a = f->v->arena;
    uint32_t n = 0;
    f->list = ARENA_ARRAY(a, uint32_t, x->n_tokens);
    f->groups = ARENA_ARRAY(a, struct group, x->n_tokens);
    f->taken = ARENA_ARRAY(a, uint32_t, x->n_tokens);
    f->of = ARENA_ARRAY(a, uint32_t, x->n_tokens);
    f->member = ARENA_ARRAY(a, uint32_t, x->n_tokens);
    f->active = ARENA_ARRAY(a, bool, f->v->t->terms.n_phrases);
    if (f->list == NULL || f->groups == NULL || f->taken == NULL || f->of == NULL || f->member == NULL
        || f->active == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < x->n_tokens && !stop_often(); i++) {
        if (!in_query(f, x->tokens[i].text)) {
            continue;
        }
        bool same = f->n > 0 && x->tokens[f->list[n - 1]].position == x->tokens[i].position;
        if (!same) {
            f->groups[f->n++] = (struct group){.first = n};
        }
        struct group *g = &f->groups[f->n - 1];
        uint32_t at = n++;
        for (; at > g->first && str_cmp(x->tokens[f->list[at - 1]].text, x->tokens[i].text) > 0; at--) {
            f->list[at] = f->list[at - 1]; /* words of one position in their own order */
        }
        f->list[at] = i;
        g->n++;
    }
    return true;
}

/* ---- phrases --------------------------------------------------------------------------------------------------------------- */

static const struct query *phrase_of(const struct finding *f, size_t p)
{
    return f->v->t->terms.phrases[p].query;
}

/* Can the text follow what was taken? With `enter`, the phrases in force become those that go on with it. */
static bool goes_on(struct finding *f, struct str text, bool enter)
{
    struct word w;
    bool any = f->n_taken == 0 && find_word(f, text, &w);
    for (size_t p = 0; p < f->v->t->terms.n_phrases; p++) {
        bool was = f->n_taken == 0 || f->active[p];
        bool takes =
            was && f->n_taken < phrase_of(f, p)->phrase.n && hl_slot_takes(phrase_of(f, p), f->n_taken, text);
        any = any || takes;
        f->active[p] = enter ? takes : f->active[p];
    }
    return any;
}

static void fvh_take(struct finding *f, uint32_t group, uint32_t member)
{
    uint32_t token = f->list[f->groups[group].first + member];
    goes_on(f, text_of(f, token), true);
    f->of[f->n_taken] = group;
    f->member[f->n_taken] = member;
    f->taken[f->n_taken++] = token;
}

/* Takes the next group's word that can follow, from the leading one on. */
static bool take_next(struct finding *f)
{
    const struct group *g = &f->groups[f->at];
    for (uint32_t i = 0; f->at < f->n && i < g->n; i++) {
        uint32_t member = (g->lead + i) % g->n;
        if (goes_on(f, text_of(f, f->list[g->first + member]), false)) {
            fvh_take(f, f->at++, member);
            return true;
        }
    }
    return false;
}

static bool within_slop(const struct finding *f, uint32_t slop)
{
    const struct hl_token *tokens = f->v->x->tokens;
    for (uint32_t i = 1; i < f->n_taken; i++) {
        int64_t gap = (int64_t)tokens[f->taken[i]].position - tokens[f->taken[i - 1]].position - 1;
        if ((gap < 0 ? -gap : gap) > slop) {
            return false;
        }
    }
    return true;
}

/* What was taken is a word or a whole phrase of the query: it is added. */
static bool fvh_complete(struct finding *f)
{
    struct word w, best = {0};
    bool any = f->n_taken == 1 && find_word(f, text_of(f, f->taken[0]), &best);
    uint32_t slop = 0;
    for (size_t p = 0; p < f->v->t->terms.n_phrases; p++) {
        const struct hl_phrase *ph = &f->v->t->terms.phrases[p];
        if (f->active[p] && ph->query->phrase.n == f->n_taken && (!any || ph->order > best.order)) {
            w = (struct word){ph->order, ph->number, ph->boost};
            best = w;
            slop = ph->query->phrase.slop;
            any = true;
        }
    }
    if (!any || !within_slop(f, slop)) {
        return false;
    }
    add_hit(f->v, f->taken, f->n_taken, best.number, best.boost);
    return true;
}

/* The last word goes back into the text; the phrases in force are found again. */
static void put_back(struct finding *f)
{
    uint32_t keep = --f->n_taken;
    f->at--;
    f->groups[f->at].lead = f->member[keep];
    f->n_taken = 0;
    for (uint32_t i = 0; i < keep; i++) {
        fvh_take(f, f->of[i], f->member[i]);
    }
}

bool fvh_hits(struct vector *v)
{
    struct finding f = {.v = v};
    int64_t limit = v->t->o->phrase_limit;
    if (!fvh_gather(&f)) {
        return false;
    }
    while (f.at < f.n && (int64_t)v->n_hits < limit && !v->failed && !stop_often()) {
        f.n_taken = 0;
        if (!take_next(&f)) {
            f.at++;
            continue;
        }
        while (take_next(&f)) {
        }
        for (bool done = fvh_complete(&f); !done && f.n_taken > 1; done = fvh_complete(&f)) {
            put_back(&f);
        }
    }
    return !v->failed;
}

/* ---- matched fields ---------------------------------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const struct hit *x = a, *y = b;
    if (x->start != y->start) {
        return x->start < y->start ? -1 : 1;
    }
    return x->end < y->end ? -1 : x->end > y->end;
}

static int by_start(const void *a, const void *b)
{
    const struct mark *x = a, *y = b;
    return x->start != y->start ? (x->start < y->start ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

/* Hits that touch: one, with all their marks. */
static bool unite(struct vector *v, struct hit *to, const struct hit *from, size_t n)
{
    uint32_t total = 0, have = 0;
    for (size_t i = 0; i < n; i++) {
        total += from[i].n;
    }
    struct mark *marks = ARENA_ARRAY(v->arena, struct mark, total);
    if (marks == NULL) {
        return false;
    }
    struct hit one = {.start = from[0].start, .end = from[0].end, .marks = marks, .number = from[0].number};
    for (size_t i = 0; i < n; i++) {
        memcpy(marks + have, from[i].marks, from[i].n * sizeof(*marks));
        have += from[i].n;
        one.end = MAX_OF(one.end, from[i].end);
        one.boost += from[i].boost;
    }
    sort_items(marks, have, sizeof(*marks), by_start);
    for (uint32_t i = 0; i < have; i++) {
        if (one.n > 0 && marks[i].start <= marks[one.n - 1].end) {
            marks[one.n - 1].end = MAX_OF(marks[one.n - 1].end, marks[i].end);
        } else {
            marks[one.n++] = marks[i];
        }
    }
    *to = one;
    return true;
}

enum err fvh_matched_hits(struct vector *v, struct errmsg *em)
{
    for (uint32_t m = 0; m < v->t->n_matched; m++) {
        struct hl_text x = *v->x;
        struct vector own = {.t = v->t->matched[m], .x = &x, .arena = v->arena};
        x.tokens = NULL;
        x.n_tokens = x.cap_tokens = 0;
        enum err e = hl_text_analyse(&x, own.t, v->arena, em);
        if (e != ERR_OK) {
            return e;
        }
        if (!fvh_hits(&own)) {
            return err_no_memory(em);
        }
        for (size_t i = 0; i < own.n_hits; i++) {
            if (!ARENA_ADD(v->arena, v->hits, v->n_hits, v->cap_hits, own.hits[i])) {
                return err_no_memory(em);
            }
        }
    }
    sort_items(v->hits, v->n_hits, sizeof(*v->hits), by_place);
    size_t kept = 0;
    for (size_t i = 0, end; i < v->n_hits; i = end) {
        uint32_t reach = v->hits[i].end;
        for (end = i + 1; end < v->n_hits && v->hits[end].start <= reach; end++) {
            reach = MAX_OF(reach, v->hits[end].end);
        }
        if (!unite(v, &v->hits[kept++], &v->hits[i], end - i)) {
            return err_no_memory(em);
        }
    }
    v->n_hits = kept;
    return ERR_OK;
}
