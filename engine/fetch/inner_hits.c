/* Inner hits of nested queries and of joins: for each hit, the documents that made it match.
 *
 * Every query of these kinds that asks for inner hits has a fetch of its own, over its inner query. For a hit of a nested query that
 * query runs over the documents of the hit's block, between the parent before and the hit itself; for one of a join, over the hit's
 * children, or its parent, wherever in the shard they are. The best of them are hits in turn, which may have inner hits of the queries
 * inside. */
#include "common/settings/setting_read.h"

#include "common/base/arena_list.h"
#include "engine/collect/top_docs.h"
#include "engine/fetch/fetch.h"
#include "engine/query/join.h"
#include "engine/query/query_ops.h"

#include <math.h>

struct inner_hits {
    struct str name;
    const struct query *of; /* a nested query or a join */
    struct fetch f;
    struct sort_plan *sort;      /* NULL: by score */
    const struct weight *weight; /* of the inner query */
};

/* ---- which ------------------------------------------------------------------------------------------------------------------------ */

struct inner_queries {
    const struct query **v;
    size_t n, cap;
    struct arena *arena;
    const struct settings *settings;
    struct errmsg *em;
};

static bool is_join(const struct query *of)
{
    return of->ops == &q_join;
}

/* What the query asks for; NULL: no inner hits. */
static const struct inner_hits_spec *spec_of(const struct query *of)
{
    return is_join(of) ? join_of(of)->inner_hits : of->nested.inner_hits;
}

static const struct query *inner_query(const struct query *of)
{
    return is_join(of) ? join_of(of)->child : of->nested.child;
}

static struct str name_of(const struct query *of)
{
    return spec_of(of)->name.p != NULL ? spec_of(of)->name
           : is_join(of)               ? join_of(of)->type
                                       : of->nested.path->path;
}

static enum err add_wanted(struct inner_queries *w, const struct query *of)
{
    const struct inner_hits_spec *spec = spec_of(of);
    const int64_t max = setting_i64(w->settings, SET_INDEX_MAX_INNER_RESULT_WINDOW);
    const int64_t window = spec->source->from + spec->source->size;
    for (size_t i = 0; i < w->n; i++) {
        if (str_eq(name_of(w->v[i]), name_of(of))) {
            return err_set(w->em, ERR_ILLEGAL_ARGUMENT,
                           "[inner_hits] already contains an entry for key [%.*s]", STR_ARG(name_of(of)));
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
    if (spec->source->seq_no_primary_term && !is_join(of)) {
        return err_set(w->em, ERR_UNSUPPORTED, "nested documents are not assigned sequence numbers");
    }
    return ARENA_ADD(w->arena, w->v, w->n, w->cap, of) ? ERR_OK : err_no_memory(w->em);
}

/* Nothing matches below must_not, and a function's filter only weighs: neither has inner hits. Those inside a nested query or a
 * join belong to its own inner hits. */
static enum err find_wanted(void *arg, const struct query *q, enum child_role role)
{
    struct inner_queries *w = arg;
    if (role == CHILD_EXCLUDES || role == CHILD_WEIGHS) {
        return ERR_OK;
    }
    if (q->ops == &q_nested || is_join(q)) {
        return spec_of(q) != NULL ? add_wanted(w, q) : ERR_OK;
    }
    return query_each_child(q, find_wanted, w);
}

static enum err find_all(struct inner_queries *w, const struct query *query, const struct query *post_filter)
{
    enum err e = query != NULL ? find_wanted(w, query, CHILD_SCORES) : ERR_OK;
    return e == ERR_OK && post_filter != NULL ? find_wanted(w, post_filter, CHILD_SCORES) : e;
}

enum err inner_hits_check(const struct search_context *cx, const struct query *query,
                          const struct query *post_filter, struct errmsg *em)
{
    struct inner_queries w = {.arena = cx->arena, .settings = cx->shard->index_settings, .em = em};
    enum err e = find_all(&w, query, post_filter);
    for (size_t i = 0; e == ERR_OK && i < w.n; i++) {
        const struct search_source *s = spec_of(w.v[i])->source;
        struct sort_plan *plan = NULL;
        e = docvalue_fields_limit(cx, s, em);
        if (e == ERR_OK && !search_source_by_score(s)) {
            struct search_context own = *cx;
            own.nested = is_join(w.v[i]) ? NULL : w.v[i]->nested.path;
            e = sort_plan_new(&plan, &own, s->sort, s->n_sort, em);
            sort_plan_fini(plan);
        }
        e = e == ERR_OK ? inner_hits_check(cx, inner_query(w.v[i]), NULL, em) : e;
    }
    return e;
}

static enum err prepare_one(struct fetch *f, struct inner_hits *x, const struct query *of)
{
    const struct search_source *s = spec_of(of)->source;
    x->name = name_of(of);
    x->of = of;
    x->f = (struct fetch){.shard = f->shard,
                          .source = s,
                          .arena = f->arena,
                          .em = f->em,
                          .query = inner_query(of),
                          .query_given = true,
                          .query_is_nested = !is_join(of)};
    enum err e = fetch_prepare(&x->f);
    x->f.cx.nested = is_join(of) ? NULL : of->nested.path;
    e = e == ERR_OK && !search_source_by_score(s)
            ? sort_plan_new(&x->sort, &x->f.cx, s->sort, s->n_sort, f->em)
            : e;
    x->f.cx.weight.unasked_scores = x->sort != NULL && !sort_plan_shows_scores(x->sort);
    return e == ERR_OK ? weight_new(&x->weight, &x->f.cx.weight, x->f.query, NEED_SCORES, f->em) : e;
}

enum err inner_hits_prepare(struct fetch *f, const struct query *query, const struct query *post_filter)
{
    struct inner_queries w = {.arena = f->arena, .settings = f->shard->index_settings, .em = f->em};
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
    const struct field *outer = x->of->nested.outer;
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
    if (h->leaf->roots == NULL || f == NULL || !seg_term(f, x->of->nested.path->path, &t)) {
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

/* ---- of a join ---- */

/* The documents of the other side that belong to one hit. */
struct join_run {
    struct inner_hits *x;
    struct top_docs *top;
    struct found *out;
    struct scorer *s;
    bool scored;
};

static void take_joined(void *self, doc_id doc, UNUSED const struct join_id *id)
{
    struct join_run *r = self;
    struct scorer *s = r->s;
    if ((s->doc == POSTINGS_UNPOSITIONED || s->doc < doc ? s->ops->seek(s, doc) : s->doc) == doc
        && scorer_accepts(s)) {
        inner_hits_take(r->out, r->top, s, r->scored, doc);
    }
}

static enum err run_joined_leaf(struct join_run *r, const struct join_search *search,
                                const struct join_id *id, const struct fetch_hit *h)
{
    enum err e = weight_scorer(r->x->weight, search->leaf, h->arena, &r->s, r->x->f.em);
    if (e != ERR_OK || r->s == NULL) {
        return e;
    }
    if (r->top != NULL) {
        e = top_docs_leaf(r->top, search->leaf, r->s, r->x->f.em);
    }
    if (e == ERR_OK) {
        join_search_id(search, id, take_joined, r);
        e = weight_error(r->x->weight, r->x->f.em);
    }
    return e;
}

/* The text of the document's ordinal; p == NULL: it has none. */
static enum err text_of(const struct fetch_hit *h, const struct field *field, struct str *out,
                        struct errmsg *em)
{
    const struct seg_field *f = segment_field(h->leaf->segment, field->path);
    struct ord_column c;
    struct buf term;
    uint64_t first;
    *out = STR_NULL;
    ord_column_init(&c, f);
    if (c.field == NULL || ord_column_seek(&c, h->doc, &first) == 0) {
        return ERR_OK;
    }
    buf_init(&term, NULL, BUF_UNLIMITED);
    if (seg_term_by_ord(f, ord_column_value(&c, first), &term)) {
        *out = arena_str(h->arena, buf_view(&term));
    }
    buf_fini(&term);
    return out->p != NULL ? ERR_OK : err_no_memory(em);
}

/* The id that the inner hits share with the hit: its own where they are its children, else the one that it has for the relation. p ==
 * NULL: it is of no relation, or has none. */
static enum err shared_id(struct inner_hits *x, const struct fetch_hit *h, struct str *out)
{
    const struct join_query *j = join_of(x->of);
    struct stored_reader reader;
    struct stored_doc doc;
    enum err e = text_of(h, j->join, out, x->f.em);
    if (e != ERR_OK || out->p == NULL) {
        return e;
    }
    if (!j->to_parent) {
        return text_of(h, j->relation->ids, out, x->f.em);
    }
    stored_reader_init(&reader, h->leaf->segment);
    e = stored_read(&reader, h->doc, STORED_ID, h->arena, &doc, x->f.em);
    stored_reader_fini(&reader);
    *out = e == ERR_OK ? doc.id : STR_NULL;
    return e;
}

static enum err run_joined(struct inner_hits *x, const struct fetch_hit *h, struct top_docs *top,
                           struct found *out)
{
    const struct join_query *j = join_of(x->of);
    const struct search_source *src = x->f.source;
    const struct view *view = x->f.shard->view;
    struct join_run r = {.x = x, .top = top, .out = out};
    struct join_id id = {0};
    r.scored = top != NULL && (x->sort == NULL || src->track_scores || sort_plan_needs_scores(x->sort));
    enum err e = h->root == NULL ? shared_id(x, h, &id.id) : ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && id.id.p != NULL && i < view->n_leaves; i++) {
        struct join_names names = {.any = true};
        struct join_search search = {&view->leaves[i], j->to_parent ? &names : NULL, j->relation->ids,
                                     !j->to_parent};
        if (j->to_parent) { /* children of the one relation; a parent is known by its id */
            e = join_names_init(&names, search.leaf, j->join, &j->type, 1, h->arena, x->f.em);
        }
        if (e == ERR_OK && names.any) {
            e = run_joined_leaf(&r, &search, &id, h);
        }
    }
    return e;
}

static enum err inner_hits_find(struct inner_hits *x, const struct fetch_hit *h, struct found *out)
{
    const struct search_source *s = x->f.source;
    struct top_docs *top = NULL;
    enum err e = ERR_OK;
    int64_t most = is_join(x->of) ? (int64_t)x->f.shard->view->doc_count
                                  : (int64_t)h->doc - nested_block_start(h->leaf, h->doc);
    int64_t k = MIN_OF(s->from + s->size, most);
    *out = (struct found){.best = NAN};
    if (s->size > 0 && k > 0) {
        struct top_docs_opts o = {.k = (uint32_t)k, .sort = x->sort, .want_scores = true, .arena = h->arena};
        e = x->sort != NULL ? sort_plan_check_missing(x->sort, x->f.em) : ERR_OK;
        e = e == ERR_OK ? top_docs_new(&top, &o, x->f.em) : e;
    }
    if (e == ERR_OK) {
        e = is_join(x->of) ? run_joined(x, h, top, out) : inner_hits_run(x, h, top, out);
    }
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
    const struct leaf *leaf = is_join(x->of) ? view_leaf(x->f.shard->view, top->doc) : h->leaf;
    struct fetch_hit child = {.top = top, .leaf = leaf, .doc = top->doc - leaf->base, .arena = h->arena};
    if (is_join(x->of)) {
        enum err e = fetch_read(&x->f, &child);
        return e == ERR_OK ? fetch_write_hit(&x->f, &child, w) : e;
    }
    child.root = h->root != NULL ? h->root : h;
    child.place = nested_place_of(h->leaf, child.doc, x->of->nested.path, h->arena);
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
    jw_kobj(w, "hits");
    jw_kobj(w, "total");
    jw_ki64(w, "value", found.total);
    jw_kz(w, "relation", "eq");
    jw_obj_end(w);
    jw_k(w, "max_score");
    if (isnan(found.best)) {
        jw_null(w);
    } else {
        jw_float(w, found.best);
    }
    jw_karr(w, "hits");
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
    jw_kobj(w, "inner_hits");
    for (uint32_t i = 0; e == ERR_OK && i < f->n_inner; i++) {
        e = write_one(&f->inner[i], h, w);
    }
    jw_obj_end(w);
    return e;
}
