/* Inner hits of nested queries: for each hit, the nested documents that made it match.
 *
 * Every nested query that asks for inner hits has a fetch of its own, over its inner query. For a hit that query runs over the
 * documents of the hit's block, between the parent before and the hit itself; the best of them are hits in turn, which may
 * have inner hits of the nested queries inside. */
#include "common/settings/setting_read.h"
#include "engine/collect/top_docs.h"
#include "engine/fetch/fetch.h"
#include "engine/query/query_ops.h"

#include <math.h>

struct inner_hits {
    struct str name;
    const struct query *nested;
    struct fetch f;
    struct sort_plan *sort;      /* NULL: by score */
    const struct weight *weight; /* of the inner query */
};

/* ---- which ------------------------------------------------------------------------------------------------------------------------ */

struct nested_queries {
    const struct query **v;
    size_t n, cap;
    struct arena *arena;
    const struct settings *settings;
    struct errmsg *em;
};

static struct str name_of(const struct query *nested)
{
    return nested->nested.inner_hits->name.p != NULL ? nested->nested.inner_hits->name
                                                     : nested->nested.path->path;
}

static enum err add_wanted(struct nested_queries *w, const struct query *nested)
{
    const struct inner_hits_spec *spec = nested->nested.inner_hits;
    const int64_t max = setting_i64(w->settings, SET_INDEX_MAX_INNER_RESULT_WINDOW);
    const int64_t window = spec->source->from + spec->source->size;
    for (size_t i = 0; i < w->n; i++) {
        if (str_eq(name_of(w->v[i]), name_of(nested))) {
            return err_set(w->em, ERR_ILLEGAL_ARGUMENT,
                           "[inner_hits] already contains an entry for key [%.*s]", STR_ARG(name_of(nested)));
        }
    }
    if (window > max) {
        return err_set(w->em, ERR_ILLEGAL_ARGUMENT,
                       "Inner result window is too large, the inner hit definition's [%.*s]'s from + size "
                       "must be less than or equal to: "
                       "[%lld] but was [%lld]. This limit can be set by changing the "
                       "[index.max_inner_result_window] index level setting.",
                       STR_ARG(spec->name.p != NULL ? spec->name : STR("null")), (long long)max,
                       (long long)window);
    }
    if (spec->source->seq_no_primary_term) {
        return err_set(w->em, ERR_UNSUPPORTED, "nested documents are not assigned sequence numbers");
    }
    w->v = arena_grow(w->arena, w->v, w->n, &w->cap, sizeof(*w->v));
    if (w->v == NULL) {
        return err_no_memory(w->em);
    }
    w->v[w->n++] = nested;
    return ERR_OK;
}

/* Nothing matches below must_not, and a function's filter only weighs: neither has inner hits. Those inside a nested query
 * belong to its own inner hits. */
static enum err find_wanted(void *arg, const struct query *q, enum child_role role)
{
    struct nested_queries *w = arg;
    if (role == CHILD_EXCLUDES || role == CHILD_WEIGHS || role == CHILD_JOINS) {
        return ERR_OK;
    }
    if (q->ops == &q_nested) {
        return q->nested.inner_hits != NULL ? add_wanted(w, q) : ERR_OK;
    }
    return query_each_child(q, find_wanted, w);
}

static enum err find_all(struct nested_queries *w, const struct query *query, const struct query *post_filter)
{
    enum err e = query != NULL ? find_wanted(w, query, CHILD_SCORES) : ERR_OK;
    return e == ERR_OK && post_filter != NULL ? find_wanted(w, post_filter, CHILD_SCORES) : e;
}

enum err inner_hits_check(const struct search_context *cx, const struct query *query,
                          const struct query *post_filter, struct errmsg *em)
{
    struct nested_queries w = {.arena = cx->arena, .settings = cx->shard->index_settings, .em = em};
    enum err e = find_all(&w, query, post_filter);
    for (size_t i = 0; e == ERR_OK && i < w.n; i++) {
        const struct search_source *s = w.v[i]->nested.inner_hits->source;
        struct sort_plan *plan = NULL;
        e = docvalue_fields_limit(cx, s, em);
        if (e == ERR_OK && !search_source_by_score(s)) {
            struct search_context own = *cx;
            own.nested = w.v[i]->nested.path;
            e = sort_plan_new(&plan, &own, s->sort, s->n_sort, em);
            sort_plan_fini(plan);
        }
        e = e == ERR_OK ? inner_hits_check(cx, w.v[i]->nested.child, NULL, em) : e;
    }
    return e;
}

static enum err prepare_one(struct fetch *f, struct inner_hits *x, const struct query *nested)
{
    const struct search_source *s = nested->nested.inner_hits->source;
    x->name = name_of(nested);
    x->nested = nested;
    x->f = (struct fetch){.shard = f->shard,
                          .source = s,
                          .arena = f->arena,
                          .em = f->em,
                          .query = nested->nested.child,
                          .query_is_nested = true};
    enum err e = fetch_prepare(&x->f);
    x->f.cx.nested = nested->nested.path;
    e = e == ERR_OK && !search_source_by_score(s)
            ? sort_plan_new(&x->sort, &x->f.cx, s->sort, s->n_sort, f->em)
            : e;
    x->f.cx.weight.unasked_scores = x->sort != NULL && !sort_plan_shows_scores(x->sort);
    return e == ERR_OK ? weight_new(&x->weight, &x->f.cx.weight, x->f.query, NEED_SCORES, f->em) : e;
}

enum err inner_hits_prepare(struct fetch *f, const struct query *query, const struct query *post_filter)
{
    struct nested_queries w = {.arena = f->arena, .settings = f->shard->index_settings, .em = f->em};
    enum err e = find_all(&w, query, post_filter);
    if (e != ERR_OK || w.n == 0) {
        return e;
    }
    f->inner = ARENA_ARRAY(f->arena, struct inner_hits, w.n);
    if (f->inner == NULL) {
        return err_no_memory(f->em);
    }
    for (size_t i = 0; e == ERR_OK && i < w.n; i++) {
        e = prepare_one(f, &f->inner[f->n_inner++], w.v[i]);
    }
    return e;
}

void inner_hits_fini(struct fetch *f)
{
    for (uint32_t i = 0; i < f->n_inner; i++) {
        sort_plan_fini(f->inner[i].sort);
        fetch_fini(&f->inner[i].f);
    }
}

bool inner_hits_need_source(const struct fetch *f)
{
    for (uint32_t i = 0; i < f->n_inner; i++) {
        if (f->inner[i].f.need_source) {
            return true;
        }
    }
    return false;
}

/* ---- those of one hit ---------------------------------------------------------------------------------------------------------- */

struct found {
    struct top_doc *docs;
    uint32_t n;
    int64_t total;
    float best;
};

/* The first document behind the parent before this one: parents are the documents that the nested query around joins to. */
static doc_id first_child(const struct inner_hits *x, const struct fetch_hit *h)
{
    const struct field *outer = x->nested->nested.outer;
    doc_id from = nested_block_start(h->leaf, h->doc);
    const struct seg_field *f = segment_field(h->leaf->segment, STR("_nested_path"));
    struct term_info t;
    struct postings p;
    if (outer == NULL || f == NULL || !seg_term(f, outer->path, &t)) {
        return from;
    }
    postings_init(&p, f, &t, false);
    for (doc_id d = postings_seek(&p, from); d < h->doc; d = postings_next(&p)) {
        from = d + 1;
    }
    return from;
}

static void inner_hits_take(struct found *out, struct top_docs *top, struct scorer *s, bool scored,
                            doc_id doc)
{
    float score = scored ? s->ops->score(s) : NAN;
    out->total++;
    if (scored && !(out->best >= score)) {
        out->best = score;
    }
    if (top != NULL) {
        top_docs_add(top, doc, score);
    }
}

static enum err inner_hits_run(struct inner_hits *x, const struct fetch_hit *h, struct top_docs *top,
                               struct found *out)
{
    const struct seg_field *f = segment_field(h->leaf->segment, STR("_nested_path"));
    const struct search_source *src = x->f.source;
    bool scored = top != NULL && (x->sort == NULL || src->track_scores || sort_plan_needs_scores(x->sort));
    struct term_info t;
    struct scorer *s;
    struct postings p;
    if (h->leaf->roots == NULL || f == NULL || !seg_term(f, x->nested->nested.path->path, &t)) {
        return ERR_OK;
    }
    enum err e = weight_scorer(x->weight, h->leaf, h->arena, &s, x->f.em);
    if (e != ERR_OK || s == NULL) {
        return e;
    }
    if (top != NULL) {
        e = top_docs_leaf(top, h->leaf, s, x->f.em);
    }
    postings_init(&p, f, &t, false);
    doc_id from = first_child(x, h), d = postings_seek(&p, from);
    while (e == ERR_OK && d < h->doc) {
        doc_id at = s->doc == POSTINGS_UNPOSITIONED || s->doc < d ? s->ops->seek(s, d) : s->doc;
        if (at == d) {
            if (scorer_accepts(s)) {
                inner_hits_take(out, top, s, scored, d);
            }
            d = postings_next(&p);
        } else {
            d = at < h->doc ? postings_seek(&p, at) : DOC_END;
        }
    }
    return e == ERR_OK ? weight_error(x->weight, x->f.em) : e;
}

static enum err inner_hits_find(struct inner_hits *x, const struct fetch_hit *h, struct found *out)
{
    const struct search_source *s = x->f.source;
    struct top_docs *top = NULL;
    enum err e = ERR_OK;
    int64_t k = MIN_OF(s->from + s->size, (int64_t)h->doc - nested_block_start(h->leaf, h->doc));
    *out = (struct found){.best = NAN};
    if (s->size > 0 && k > 0) {
        struct top_docs_opts o = {.k = (uint32_t)k, .sort = x->sort, .want_scores = true, .arena = h->arena};
        e = x->sort != NULL ? sort_plan_check_missing(x->sort, x->f.em) : ERR_OK;
        e = e == ERR_OK ? top_docs_new(&top, &o, x->f.em) : e;
    }
    e = e == ERR_OK ? inner_hits_run(x, h, top, out) : e;
    e = e == ERR_OK && top != NULL
            ? top_docs_take(top, x->f.shard->scope.slot, h->arena, &out->docs, &out->n, x->f.em)
            : e;
    top_docs_free(top);
    uint32_t skip = (uint32_t)MIN_OF(s->from, (int64_t)out->n);
    if (skip == out->n && s->size > 0 && x->sort == NULL) { /* a page behind the last one counts nothing */
        out->total = 0;
    }
    out->docs += out->docs != NULL ? skip : 0;
    out->n -= skip;
    if (x->sort != NULL && !s->track_scores) {
        out->best = NAN;
    }
    return e;
}

static enum err write_child(struct inner_hits *x, struct fetch_hit *h, struct top_doc *top, struct jsonw *w)
{
    if (x->sort != NULL) {
        top->score = NAN;
    }
    struct fetch_hit child = {
        .top = top, .leaf = h->leaf, .doc = top->doc - h->leaf->base, .arena = h->arena};
    child.root = h->root != NULL ? h->root : h;
    child.place = nested_place_of(h->leaf, child.doc, x->nested->nested.path, h->arena);
    enum err e = child.place != NULL ? fetch_read(&x->f, &child) : err_no_memory(x->f.em);
    return e == ERR_OK ? fetch_write_hit(&x->f, &child, w) : e;
}

static enum err write_one(struct inner_hits *x, struct fetch_hit *h, struct jsonw *w)
{
    struct found found;
    enum err e = inner_hits_find(x, h, &found);
    if (e != ERR_OK) {
        return e;
    }
    jw_key(w, x->name);
    jw_obj(w);
    jw_k(w, "hits");
    jw_obj(w);
    jw_k(w, "total");
    jw_obj(w);
    jw_ki64(w, "value", found.total);
    jw_kz(w, "relation", "eq");
    jw_obj_end(w);
    jw_k(w, "max_score");
    if (isnan(found.best)) {
        jw_null(w);
    } else {
        jw_float(w, found.best);
    }
    jw_k(w, "hits");
    jw_arr(w);
    for (uint32_t i = 0; e == ERR_OK && i < found.n; i++) {
        e = write_child(x, h, &found.docs[i], w);
    }
    jw_arr_end(w);
    jw_obj_end(w);
    jw_obj_end(w);
    return e;
}

enum err inner_hits_write(struct fetch *f, struct fetch_hit *h, struct jsonw *w)
{
    enum err e = ERR_OK;
    if (f->n_inner == 0) {
        return ERR_OK;
    }
    jw_k(w, "inner_hits");
    jw_obj(w);
    for (uint32_t i = 0; e == ERR_OK && i < f->n_inner; i++) {
        e = write_one(&f->inner[i], h, w);
    }
    jw_obj_end(w);
    return e;
}
