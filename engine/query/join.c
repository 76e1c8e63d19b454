/* Joins of parents and children: the queries has_child and has_parent as they run (Lucene's JoinUtil). */
#include "engine/query/join.h"

#include "common/base/stop.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

#include <math.h>

/* ---- ids ---- */

static struct join_id join_no_id; /* what a term is known not to be */

void join_ids_init(struct join_ids *ids, struct arena *arena)
{
    ids->arena = arena;
    map_init(&ids->by_id, arena);
}

struct join_id *join_ids_at(const struct join_ids *ids, uint32_t number)
{
    return ids->by_id.entries[number].value;
}

enum err join_column_init(struct join_column *c, struct join_ids *ids, const struct leaf *leaf,
                          const struct field *hidden, struct errmsg *em)
{
    *c = (struct join_column){.field = segment_field(leaf->segment, hidden->path), .ids = ids};
    ord_column_init(&c->ords, c->field);
    buf_init(&c->term, NULL, BUF_UNLIMITED);
    if (c->ords.field == NULL || c->ords.n_ords == 0) {
        c->ords.field = NULL;
        return ERR_OK;
    }
    c->by_ord = ARENA_ARRAY(ids->arena, struct join_id *, c->ords.n_ords);
    return c->by_ord != NULL ? ERR_OK : err_no_memory(em);
}

void join_column_fini(struct join_column *c)
{
    buf_fini(&c->term);
}

/* Where the document's id is noted; NULL: it has none. */
static struct join_id **place_of(struct join_column *c, doc_id doc, uint64_t *ord)
{
    uint64_t first;
    if (c->ords.field == NULL || ord_column_seek(&c->ords, doc, &first) == 0) {
        return NULL;
    }
    *ord = ord_column_value(&c->ords, first);
    return &c->by_ord[*ord];
}

struct join_id *join_column_find(struct join_column *c, doc_id doc)
{
    uint64_t ord;
    struct join_id **at = place_of(c, doc, &ord);
    if (at == NULL) {
        return NULL;
    }
    if (*at == NULL) {
        struct join_id *id =
            seg_term_by_ord(c->field, ord, &c->term) ? map_get(&c->ids->by_id, buf_view(&c->term)) : NULL;
        *at = id != NULL ? id : &join_no_id;
    }
    return *at != &join_no_id ? *at : NULL;
}

enum err join_column_add(struct join_column *c, doc_id doc, struct join_id **out, struct errmsg *em)
{
    uint64_t ord;
    struct join_id **at = place_of(c, doc, &ord);
    *out = at != NULL ? *at : NULL;
    if (at == NULL || *at != NULL) {
        return ERR_OK;
    }
    if (!seg_term_by_ord(c->field, ord, &c->term)) {
        return c->term.failed ? err_no_memory(em) : ERR_OK;
    }
    *at = map_get(&c->ids->by_id, buf_view(&c->term));
    if (*at == NULL) {
        struct join_id *id = ARENA_NEW(c->ids->arena, struct join_id);
        struct str text = arena_str(c->ids->arena, buf_view(&c->term));
        if (id == NULL || text.p == NULL) {
            return err_no_memory(em);
        }
        *id = (struct join_id){.id = text, .number = (uint32_t)c->ids->by_id.n};
        if (!map_put(&c->ids->by_id, text, id)) {
            return err_no_memory(em);
        }
        *at = id;
    }
    *out = *at;
    return ERR_OK;
}

/* ---- relations of documents ---- */

enum err join_names_init(struct join_names *n, const struct leaf *leaf, const struct field *join,
                         const struct str *names, uint32_t n_names, struct arena *arena, struct errmsg *em)
{
    const struct seg_field *f = segment_field(leaf->segment, join->path);
    *n = (struct join_names){.any = false};
    ord_column_init(&n->ords, f);
    if (n->ords.field == NULL) {
        return ERR_OK;
    }
    n->v = ARENA_ARRAY(arena, uint64_t, bits_words((uint32_t)n->ords.n_ords));
    if (n->v == NULL) {
        return err_no_memory(em);
    }
    for (uint32_t i = 0; i < n_names; i++) {
        struct term_info t;
        if (seg_term(f, names[i], &t) && t.ord < n->ords.n_ords) {
            bits_set(n->v, t.ord);
            n->any = true;
        }
    }
    return ERR_OK;
}

bool join_names_has(const struct join_names *n, doc_id doc)
{
    uint64_t first;
    return n->any && ord_column_seek(&n->ords, doc, &first) > 0
           && bits_test(n->v, ord_column_value(&n->ords, first));
}

void join_search_id(const struct join_search *s, const struct join_id *id, join_take take, void *self)
{
    const struct leaf *leaf = s->leaf;
    struct term_info t;
    struct postings p;
    doc_id doc;
    if (s->names != NULL && !s->names->any) {
        return;
    }
    if (s->to_parent) {
        if (seg_find_id(leaf->segment, id->id, leaf->live, &doc)
            && (s->names == NULL || join_names_has(s->names, doc))) {
            take(self, doc, id);
        }
        return;
    }
    const struct seg_field *f = segment_field(leaf->segment, s->hidden->path);
    if (f == NULL || !seg_term(f, id->id, &t)) {
        return;
    }
    postings_init(&p, f, &t, false);
    for (doc = postings_next(&p); doc < leaf->doc_count && !stop_often(); doc = postings_next(&p)) {
        if (leaf_live(leaf, doc) && (s->names == NULL || join_names_has(s->names, doc))) {
            take(self, doc, id);
        }
    }
}

/* ---- the side that is run over ---- */

struct join_weight {
    struct weight base;
    const struct weight *to;
    struct join_ids *ids;
};

static const struct join_weight *jw_of(const struct weight *w)
{
    return (const struct join_weight *)(const void *)w;
}

static bool counts_matter(const struct join_query *j)
{
    return j->min > 1 || j->max < INT32_MAX;
}

static bool id_matches(const struct join_query *j, const struct join_id *id)
{
    return !counts_matter(j) || (id->count >= j->min && id->count <= j->max);
}

/* A score one after the other, as Lucene's collectors put them together. */
static void add_score(enum join_mode mode, struct join_id *id, float score)
{
    if (id->count++ == 0) {
        id->score = score;
        return;
    }
    switch (mode) {
    case JOIN_NONE:
        break;
    case JOIN_MIN:
        id->score = fminf(id->score, score);
        break;
    case JOIN_MAX:
        id->score = fmaxf(id->score, score);
        break;
    case JOIN_SUM:
    case JOIN_AVG:
        id->score += score;
    }
}

/* What scores that are not put together come to, where they are counted: 1, whatever the boost. */
static float id_score(const struct weight *w, const struct join_id *id)
{
    const struct join_query *j = join_of(w->query);
    switch (j->mode) {
    case JOIN_NONE:
        return counts_matter(j) ? 1 : w->boost;
    case JOIN_AVG:
        return id->score / (float)id->count;
    case JOIN_MIN:
    case JOIN_MAX:
    case JOIN_SUM:
        break;
    }
    return id->score;
}

static enum err run_leaf(const struct join_query *j, const struct weight *from, const struct leaf *leaf,
                         struct join_ids *ids, struct errmsg *em)
{
    struct join_column c;
    struct scorer *s = NULL;
    enum err e = join_column_init(&c, ids, leaf, j->relation->ids, em);
    if (e == ERR_OK && c.ords.field != NULL) {
        e = weight_scorer(from, leaf, ids->arena, &s, em);
    }
    doc_id doc = e == ERR_OK && s != NULL ? s->ops->next(s) : DOC_END;
    for (; e == ERR_OK && doc != DOC_END && !stop_often(); doc = s->ops->next(s)) {
        struct join_id *id = NULL;
        if (leaf_live(leaf, doc) && scorer_accepts(s)) {
            e = join_column_add(&c, doc, &id, em);
        }
        if (id != NULL) {
            add_score(j->mode, id, j->mode != JOIN_NONE ? scorer_score(s) : 0);
        }
    }
    join_column_fini(&c);
    return e == ERR_OK ? weight_error(from, em) : e;
}

/* Statistics are the shard's own, whatever the search around it was given. */
static enum err run_over(struct weight_shared *sh, const struct join_query *j, struct join_ids **out,
                         struct errmsg *em)
{
    const struct weight *from;
    struct weight_context cx = sh->cx;
    struct join_ids *ids = *out = ARENA_NEW(sh->cx.arena, struct join_ids);
    cx.stats = NULL;
    cx.nested_too = cx.unasked_scores = false;
    if (ids == NULL) {
        return err_no_memory(em);
    }
    join_ids_init(ids, sh->cx.arena);
    enum err e = weight_inner(&from, &cx, j->from, j->mode != JOIN_NONE ? NEED_SCORES : NEED_NO_SCORES, em);
    for (uint32_t i = 0; e == ERR_OK && i < cx.view->n_leaves && !stop_is_on(); i++) {
        e = run_leaf(j, from, &cx.view->leaves[i], ids, em);
    }
    return e;
}

/* ---- the side that is found ---- */

static uint64_t join_cost(const struct weight *w, const struct leaf *leaf)
{
    uint64_t to = jw_of(w)->ids->by_id.n > 0 ? weight_cost(jw_of(w)->to, leaf) : 0;
    return join_of(w->query)->to_parent ? MIN_OF(to, jw_of(w)->ids->by_id.n) : to;
}

/* By the ids: each one's documents. */
struct listing {
    const struct weight *w;
    uint64_t *bits;
    float *scores; /* by document; NULL: all score the same */
    uint64_t count;
};

static void take_listed(void *self, doc_id doc, const struct join_id *id)
{
    struct listing *l = self;
    bits_set(l->bits, doc);
    l->count++;
    if (l->scores != NULL) {
        l->scores[doc] = id_score(l->w, id);
    }
}

struct join_scorer {
    struct scorer base;
    /* listed */
    const uint64_t *bits;
    const float *scores;
    uint32_t n_docs;
    /* tested, document by document */
    const struct weight *w;
    struct scorer *to;
    struct join_column column;
    const struct join_id *id;
};

static struct join_scorer *join_self(struct scorer *s)
{
    return (struct join_scorer *)(void *)s;
}

static doc_id listed_seek(struct scorer *s, doc_id target)
{
    const struct join_scorer *j = join_self(s);
    size_t at = s->doc != DOC_END && target < j->n_docs ? bits_next(j->bits, target, j->n_docs) : j->n_docs;
    return s->doc = at < j->n_docs ? (doc_id)at : DOC_END;
}

static doc_id listed_next(struct scorer *s)
{
    return listed_seek(s, s->doc == POSTINGS_UNPOSITIONED || s->doc == DOC_END ? 0 : s->doc + 1);
}

static float listed_score(struct scorer *s)
{
    return join_self(s)->scores[s->doc];
}

static const struct scorer_ops listed_ops = {.next = listed_next, .seek = listed_seek, .score = listed_score};

static enum err listed(const struct weight *w, const struct scorer_request *rq,
                       const struct join_names *names, struct scorer **out)
{
    const struct join_query *j = join_of(w->query);
    const struct join_ids *ids = jw_of(w)->ids;
    uint32_t n = rq->leaf->doc_count;
    bool same = j->mode == JOIN_NONE;
    struct listing l = {.w = w, .bits = ARENA_ARRAY(rq->arena, uint64_t, bits_words(n))};
    struct join_search search = {rq->leaf, names, j->relation->ids, j->to_parent};
    if (!same && w->need != NEED_NO_SCORES) {
        l.scores = ARENA_ARRAY(rq->arena, float, n);
    }
    if (l.bits == NULL || (l.scores == NULL && !same && w->need != NEED_NO_SCORES)) {
        return err_no_memory(rq->em);
    }
    for (uint32_t i = 0; i < ids->by_id.n && !stop_often(); i++) {
        const struct join_id *id = join_ids_at(ids, i);
        if (id_matches(j, id)) {
            join_search_id(&search, id, take_listed, &l);
        }
    }
    if (l.count == 0) {
        return ERR_OK;
    }
    if (l.scores == NULL) {
        float score = same && counts_matter(j) ? 1 : w->boost;
        return bits_scorer_new(rq->arena, l.bits, n, l.count, score, out, rq->em);
    }
    struct join_scorer *s = ARENA_NEW(rq->arena, struct join_scorer);
    if (s == NULL) {
        return err_no_memory(rq->em);
    }
    *s = (struct join_scorer){.base = {&listed_ops, POSTINGS_UNPOSITIONED, l.count},
                              .bits = l.bits,
                              .scores = l.scores,
                              .n_docs = n};
    *out = &s->base;
    return ERR_OK;
}

/* By the documents of the other side: the id of each. */
static doc_id tested_next(struct scorer *s)
{
    struct join_scorer *j = join_self(s);
    return s->doc = s->doc == DOC_END || stop_often() ? DOC_END : j->to->ops->next(j->to);
}

static doc_id tested_seek(struct scorer *s, doc_id target)
{
    struct join_scorer *j = join_self(s);
    return s->doc = s->doc == DOC_END ? DOC_END : scorer_seek(j->to, target);
}

static bool tested_matches(struct scorer *s)
{
    struct join_scorer *j = join_self(s);
    j->id = scorer_accepts(j->to) ? join_column_find(&j->column, s->doc) : NULL;
    return j->id != NULL && id_matches(join_of(j->w->query), j->id);
}

static float tested_score(struct scorer *s)
{
    return id_score(join_self(s)->w, join_self(s)->id);
}

static const struct scorer_ops tested_ops = {
    .next = tested_next, .seek = tested_seek, .matches = tested_matches, .score = tested_score};

static void column_end(void *p)
{
    join_column_fini(p);
}

static enum err tested(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct join_scorer *s = ARENA_NEW(rq->arena, struct join_scorer);
    struct join_ids *ids = ARENA_NEW(rq->arena, struct join_ids);
    struct scorer *to = NULL;
    if (s == NULL || ids == NULL) {
        return err_no_memory(rq->em);
    }
    *ids = *jw_of(w)->ids;
    ids->arena = rq->arena; /* what is noted by ordinal goes with the scorer */
    *s = (struct join_scorer){.base = {.ops = &tested_ops, .doc = POSTINGS_UNPOSITIONED}, .w = w};
    enum err e = weight_make_scorer(jw_of(w)->to, rq, &to);
    if (e != ERR_OK || to == NULL) {
        return e;
    }
    e = join_column_init(&s->column, ids, rq->leaf, join_of(w->query)->relation->ids, rq->em);
    if (e != ERR_OK || s->column.ords.field == NULL) {
        return e;
    }
    if (!arena_defer(rq->arena, column_end, &s->column)) {
        join_column_fini(&s->column);
        return err_no_memory(rq->em);
    }
    s->to = to;
    s->base.cost = to->cost;
    *out = &s->base;
    return ERR_OK;
}

static enum err join_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct join_query *j = join_of(w->query);
    uint64_t ids = jw_of(w)->ids->by_id.n;
    struct join_names names;
    const struct str *of = j->to_parent ? &j->relation->parent : j->relation->children;
    uint32_t n_of = j->to_parent ? 1 : j->relation->n_children;
    if (ids == 0) {
        return ERR_OK;
    }
    /* A look-up of an id costs about as much as a test. */
    if (ids > MIN_OF(rq->lead_cost, weight_cost(jw_of(w)->to, rq->leaf))) {
        return tested(w, rq, out);
    }
    enum err e = join_names_init(&names, rq->leaf, j->join, of, n_of, rq->arena, rq->em);
    return e == ERR_OK && names.any ? listed(w, rq, &names, out) : e;
}

/* By the id alone, of whichever relation the document is. */
static enum err join_explain(const struct weight *w, const struct explain_request *rq,
                             struct explanation **out)
{
    struct join_ids own = *jw_of(w)->ids;
    struct join_column c;
    uint64_t ord;
    own.arena = rq->arena;
    enum err e = join_column_init(&c, &own, rq->leaf, join_of(w->query)->relation->ids, rq->em);
    if (e == ERR_OK && place_of(&c, rq->doc, &ord) == NULL) {
        *out = explain_new(rq->arena, false, 0, "Not a match");
    } else if (e == ERR_OK) {
        const struct join_id *id = join_column_find(&c, rq->doc);
        bool match = id != NULL && id_matches(join_of(w->query), id);
        struct str term =
            seg_term_by_ord(c.field, ord, &c.term) ? arena_str(rq->arena, buf_view(&c.term)) : STR("");
        *out = explain_new(rq->arena, match, match ? id_score(w, id) : 0, "%s, join value %.*s",
                           match ? "A match" : "Not a match", STR_ARG(term));
    }
    join_column_fini(&c);
    return e;
}

static const struct weight_ops join_weight_ops = {
    .cost = join_cost, .scorer = join_scorer, .explain = join_explain};

static enum err join_weight(struct weight_shared *sh, const struct query *q, float boost,
                            enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct join_weight *w = weight_alloc(sh, sizeof(*w), &join_weight_ops, q, boost, need);
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    enum err e = weight_make(sh, join_of(q)->to, 1, NEED_NO_SCORES, &w->to, em);
    return e == ERR_OK ? run_over(sh, join_of(q), &w->ids, em) : e;
}

/* ---- the query ---- */

static enum err join_each_child(const struct query *q, child_fn fn, void *arg)
{
    return fn(arg, join_of(q)->child, CHILD_JOINS);
}

static void join_print(const struct query *q, struct buf *out)
{
    const struct join_query *j = join_of(q);
    buf_printf(out, "%s{joinField=%.*s", j->rewritten ? "GlobalOrdinalsQuery" : "LateParsingQuery ",
               STR_ARG(j->relation->ids->path));
    if (j->rewritten && (j->mode != JOIN_NONE || counts_matter(j))) {
        buf_printf(out, "min=%umax=%ufromQuery=", j->min, j->max);
        query_print(j->from, out);
    }
    buf_char(out, '}');
}

static enum err join_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                             struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    struct join_query *own = ARENA_NEW(sh->cx.arena, struct join_query);
    if (c == NULL || own == NULL) {
        return err_no_memory(em);
    }
    *own = *join_of(q);
    c->own = own;
    *out = c;
    own->rewritten = sh->cx.view == NULL || sh->cx.view->n_leaves > 0;
    enum err e = query_rewrite(sh, own->from, &own->from, em);
    return e == ERR_OK ? query_rewrite(sh, own->to, &own->to, em) : e;
}

const struct query_ops q_join = {.name = "join",
                                 .each_child = join_each_child,
                                 .expensive = "[joining] queries",
                                 .print = join_print,
                                 .rewrite = join_rewrite,
                                 .weight = join_weight};
