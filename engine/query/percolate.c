/* percolate: queries that documents hold, and that match the documents of the request. */
#include "engine/query/percolate.h"

#include "common/base/arena_list.h"
#include "common/base/stop.h"
#include "engine/query/build.h"
#include "engine/query/held_query.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"

/* ---- the queries that are tried ---- */

enum err percolate_query(const struct query **out, const struct percolate *p, const struct leaf *leaf,
                         doc_id doc, struct arena *arena, struct errmsg *em)
{
    const struct seg_field *f = segment_field(leaf->segment, p->field->path);
    struct query_context cx = p->cx;
    struct json *tree = ARENA_NEW(arena, struct json);
    struct str text;
    *out = NULL;
    if (tree == NULL) {
        return err_no_memory(em);
    }
    if (f == NULL || (f->has & SEG_BYTES) == 0 || !seg_bytes_value(f, doc, 0, &text)) {
        return ERR_OK;
    }
    cx.arena = arena;
    cx.view = &p->view;
    enum err e = json_parse(tree, text, arena, &json_limits_default, em);
    return e == ERR_OK ? held_query_build(out, &cx, tree, text, em) : e;
}

struct weight_context percolate_context(const struct percolate *p, struct arena *arena)
{
    return (struct weight_context){.view = &p->view,
                                   .arena = arena,
                                   .index_name = p->cx.index_name,
                                   .shard = p->cx.shard,
                                   .now_ms = p->cx.now_ms,
                                   .plain_scores = true};
}

/* The best score of any of the documents; *matches: there is one. */
static enum err try_query(const struct percolate *p, const struct query *q, struct arena *arena, bool scored,
                          bool *matches, float *score, struct errmsg *em)
{
    struct weight_context cx = percolate_context(p, arena);
    const struct weight *w;
    struct scorer *s = NULL;
    *matches = false;
    enum err e = weight_new(&w, &cx, q, scored ? NEED_SCORES : NEED_NO_SCORES, em);
    e = e == ERR_OK ? weight_scorer(w, &p->leaf, arena, &s, em) : e;
    if (e != ERR_OK || s == NULL) {
        return e;
    }
    while (s->ops->next(s) != DOC_END && !stop_often()) {
        if (!scorer_accepts(s)) {
            continue;
        }
        float one = scored ? scorer_score(s) : 0;
        *score = !*matches || one > *score ? one : *score;
        *matches = true;
        if (!scored) {
            break;
        }
    }
    return weight_error(w, em);
}

/* ---- children, printing ---- */

static enum err gather(void *arg, const struct query *q, enum child_role role);

struct gathering {
    struct arena *arena;
    struct errmsg *em;
    const struct query **v;
    size_t n, cap;
};

static enum err gather(void *arg, const struct query *q, enum child_role role)
{
    struct gathering *g = arg;
    if (role == CHILD_EXCLUDES) {
        return ERR_OK;
    }
    if (q->ops != &q_percolate) {
        return query_each_child(q, gather, g);
    }
    return ARENA_ADD(g->arena, g->v, g->n, g->cap, q) ? ERR_OK : err_no_memory(g->em);
}

enum err percolates_in(const struct query *q, struct arena *arena, const struct query ***out, uint32_t *n,
                       struct errmsg *em)
{
    struct gathering g = {.arena = arena, .em = em};
    enum err e = gather(&g, q, CHILD_SCORES);
    *out = g.v;
    *n = (uint32_t)g.n;
    return e;
}

static void percolate_print(const struct query *q, struct buf *out)
{
    const struct percolate *p = percolate_of(q);
    buf_z(out, "PercolateQuery{document_sources={");
    for (uint32_t i = 0; i < p->n_docs; i++) {
        buf_str(out, p->docs[i]);
        buf_char(out, '\n');
    }
    buf_printf(out, "},inner={%.*s}}", STR_ARG(p->field->needed->path));
}

/* ---- scorers ---- */

struct percolate_weight {
    struct weight base;
    const struct weight *candidates;
};

static const struct percolate_weight *pw(const struct weight *w)
{
    return (const struct percolate_weight *)(const void *)w;
}

struct percolate_scorer {
    struct scorer base;
    struct scorer *candidates;
    const struct weight *weight;
    const struct leaf *leaf;
    struct arena scratch; /* of one query: empty again afterwards */
    struct errmsg em;
    float score;
};

static struct percolate_scorer *self(struct scorer *s)
{
    return (struct percolate_scorer *)(void *)s;
}

static doc_id moved(struct scorer *s, doc_id to)
{
    return s->doc = self(s)->weight->shared->failed || stop_is_on() ? DOC_END : to;
}

static doc_id percolate_next(struct scorer *s)
{
    struct scorer *c = self(s)->candidates;
    return s->doc == DOC_END ? DOC_END : moved(s, c->ops->next(c));
}

static doc_id percolate_seek(struct scorer *s, doc_id target)
{
    struct scorer *c = self(s)->candidates;
    return s->doc == DOC_END ? DOC_END
                             : moved(s, scorer_is_before(c, target) ? scorer_seek(c, target) : c->doc);
}

static bool percolate_matches(struct scorer *s)
{
    struct percolate_scorer *p = self(s);
    const struct percolate *own = percolate_of(p->weight->query);
    const struct query *q;
    bool matches = false;
    if (!scorer_accepts(p->candidates) || stop_now()) {
        return false;
    }
    arena_reset(&p->scratch);
    p->em = err_in(&p->scratch);
    enum err e = percolate_query(&q, own, p->leaf, s->doc, &p->scratch, &p->em);
    if (e == ERR_OK && q != NULL) {
        e = try_query(own, q, &p->scratch, p->weight->need != NEED_NO_SCORES, &matches, &p->score, &p->em);
    }
    if (e != ERR_OK) {
        weight_fail(p->weight->shared, &p->em);
    }
    return e == ERR_OK && matches;
}

static float percolate_score(struct scorer *s)
{
    return self(s)->score;
}

static const struct scorer_ops percolate_scorer_ops = {
    .next = percolate_next, .seek = percolate_seek, .matches = percolate_matches, .score = percolate_score};

static uint64_t percolate_cost(const struct weight *w, const struct leaf *leaf)
{
    return weight_cost(pw(w)->candidates, leaf);
}

static void scratch_end(void *p)
{
    arena_fini(&((struct percolate_scorer *)p)->scratch);
}

static enum err percolate_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    struct percolate_scorer *p = ARENA_NEW(rq->arena, struct percolate_scorer);
    if (p == NULL) {
        return err_no_memory(rq->em);
    }
    enum err e = weight_make_scorer(pw(w)->candidates, rq, &p->candidates);
    if (e != ERR_OK || p->candidates == NULL) {
        return e;
    }
    arena_init(&p->scratch, rq->arena->alloc, rq->arena->bytes_max);
    if (!arena_defer(rq->arena, scratch_end, p)) {
        return err_no_memory(rq->em);
    }
    p->base = (struct scorer){&percolate_scorer_ops, POSTINGS_UNPOSITIONED, p->candidates->cost};
    p->weight = w;
    p->leaf = rq->leaf;
    *out = &p->base;
    return ERR_OK;
}

/* The explanation of the held query for the first document. */
static enum err percolate_explain(const struct weight *w, const struct explain_request *rq,
                                  struct explanation **out)
{
    const struct percolate *own = percolate_of(w->query);
    struct weight_context cx = percolate_context(own, rq->arena);
    struct explain_request inner = *rq;
    const struct query *q;
    const struct weight *held;
    struct explanation *detail;
    struct scorer *s;
    enum err e = explain_scorer(w, rq, &s);
    if (e != ERR_OK || s == NULL) {
        *out = explain_new(rq->arena, false, 0, "PercolateQuery");
        return e;
    }
    *out = explain_new(rq->arena, true, w->need != NEED_NO_SCORES ? scorer_score(s) : 0, "PercolateQuery");
    e = percolate_query(&q, own, rq->leaf, rq->doc, rq->arena, rq->em);
    if (e != ERR_OK || w->need == NEED_NO_SCORES || q == NULL) {
        return e;
    }
    inner.leaf = &own->leaf;
    inner.doc = 0;
    e = weight_new(&held, &cx, q, NEED_SCORES, rq->em);
    e = e == ERR_OK ? explain_weight(held, &inner, &detail) : e;
    *out = e == ERR_OK ? explain_add(rq->arena, *out, detail) : *out;
    return e;
}

static const struct weight_ops percolate_ops = {
    .cost = percolate_cost, .scorer = percolate_scorer, .explain = percolate_explain};

static enum err percolate_weight(struct weight_shared *sh, const struct query *q, float boost,
                                 enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct percolate_weight *w = weight_alloc(sh, sizeof(*w), &percolate_ops, q, boost, need);
    const struct query *candidates;
    if (w == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    enum err e = query_rewrite(sh, percolate_of(q)->candidates, &candidates, em);
    return e == ERR_OK ? weight_make(sh, candidates, 1, NEED_NO_SCORES, &w->candidates, em) : e;
}

const struct query_ops q_percolate = {.name = "percolate",
                                      .print = percolate_print,
                                      .weight = percolate_weight,
                                      .keeps_zero = true,
                                      .expensive = "[percolate] queries"};

/* ---- as it is written ---- */

struct dsl_percolate_query {
    struct dsl dsl;
    struct str field, query_name, index, id, routing, preference, type;
    const struct json *version;
    const struct json **docs;
    size_t n_docs, cap;
    bool document, documents;
};

static enum err read_document(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    struct dsl_percolate_query *q = base;
    q->document = true;
    q->n_docs = 0;
    if (!ARENA_ADD(arena, q->docs, q->n_docs, q->cap, p->value)) {
        return err_no_memory(em);
    }
    json_pull_skip(p);
    return ERR_OK;
}

static enum err read_documents(struct json_pull *p, struct arena *arena, void *base, struct errmsg *em)
{
    struct dsl_percolate_query *q = base;
    const struct json *v = p->value;
    uint32_t n = v->type == JSON_ARRAY ? v->n : 1;
    q->documents = true;
    q->n_docs = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (v->type == JSON_ARRAY && v->items[i].type == JSON_ARRAY) {
            return json_pull_err_content(p, v->items[i].off, em, ERR_X_CONTENT,
                                         "[percolate] failed to parse field [documents]");
        }
        if (!ARENA_ADD(arena, q->docs, q->n_docs, q->cap, v->type == JSON_ARRAY ? &v->items[i] : v)) {
            return err_no_memory(em);
        }
    }
    json_pull_skip(p);
    return ERR_OK;
}

/* Which of the ways to give documents are there: one is needed, and no more. */
static enum err check_given(struct json_pull *p, const struct dsl_percolate_query *q, struct errmsg *em)
{
    const char *given[3];
    unsigned n = 0;
    if (q->field.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Required [field]");
    }
    given[n] = "document";
    n += q->document;
    given[n] = "documents";
    n += q->documents;
    given[n] = "id";
    n += q->id.p != NULL;
    if (n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Required one of fields [document, documents, id], but none were specified. ");
    }
    if (n > 1) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "The following fields are not allowed together: [%s, %s%s%s] ", given[0], given[1],
                       n > 2 ? ", " : "", n > 2 ? given[2] : "");
    }
    if (q->id.p != NULL && q->index.p == NULL) {
        err_set(em, ERR_ILLEGAL_ARGUMENT, "[index] is a required argument");
        return err_wrap(em, ERR_X_CONTENT, "Failed to build [percolate] after last required field arrived");
    }
    if (q->documents && q->n_docs == 0) {
        return err_set(em, ERR_ACTION_VALIDATION, "Validation Failed: 1: index is missing;2: id is missing;");
    }
    (void)p;
    return ERR_OK;
}

static enum err parse_percolate(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
#define AT(member) offsetof(struct dsl_percolate_query, member)
    enum { TEXT = OBJ_STRING, TEXTS = OBJ_STRING | OBJ_NUMBER };
    static const struct object_field fields[] = {
        {"boost", OBJ_STRING | OBJ_NUMBER, PARAM_BOOST, AT(dsl.boost), NULL},
        {"_name", OBJ_STRING, PARAM_TEXT, AT(dsl.name), NULL},
        {"field", TEXT, PARAM_TEXT, AT(field), NULL},
        {"name", TEXT, PARAM_TEXT, AT(query_name), NULL},
        {"document_type", TEXT, PARAM_TEXT, AT(type), NULL},
        {"type", TEXT, PARAM_TEXT, AT(type), NULL},
        {"index", TEXT, PARAM_TEXT, AT(index), NULL},
        {"id", TEXT, PARAM_TEXT, AT(id), NULL},
        {"routing", TEXT, PARAM_TEXT, AT(routing), NULL},
        {"preference", TEXT, PARAM_TEXT, AT(preference), NULL},
        {"version", TEXTS, PARAM_VALUE, AT(version), NULL},
        {"document", OBJ_OBJECT, PARAM_IGNORED, 0, read_document},
        {"documents", OBJ_OBJECT | OBJ_ARRAY, PARAM_IGNORED, 0, read_documents},
    };
#undef AT
    struct dsl_percolate_query *q = dsl_new(out, arena, &dsl_percolate, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    enum err e = dsl_parse_object(p, arena, "percolate", fields, ARRAY_LEN(fields), q, em);
    return e == ERR_OK ? check_given(p, q, em) : e;
}

static enum err print_docs(struct builder *b, const struct dsl_percolate_query *q, struct percolate *own,
                           struct errmsg *em)
{
    struct str *docs = ARENA_ARRAY(b->arena, struct str, q->n_docs);
    if (docs == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < q->n_docs; i++) {
        struct buf text;
        struct jsonw w;
        jsonw_start(&w, &text);
        jw_value(&w, q->docs[i]);
        docs[i] = text.failed ? STR_NULL : arena_str(b->arena, buf_view(&text));
        buf_fini(&text);
        if (docs[i].p == NULL) {
            return err_no_memory(em);
        }
    }
    own->docs = docs;
    own->n_docs = (uint32_t)q->n_docs;
    return ERR_OK;
}

static enum err build_percolate(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_percolate_query *q = (const struct dsl_percolate_query *)(const void *)d;
    const struct field *f = mapping_field(b->cx->mapping, q->field);
    if (q->n_docs == 0) {
        return err_set(em, ERR_ILLEGAL_STATE, "query builder must be rewritten first");
    }
    if (f == NULL || f->class->is_object) {
        return err_query_shard(b, em, "field [%.*s] does not exist", STR_ARG(q->field));
    }
    if (f->class != &field_class_percolator) {
        return err_query_shard(b, em, "expected field [%.*s] to be of type [percolator], but is of type [%s]",
                               STR_ARG(q->field), field_shown_type(f));
    }
    if (q->type.p != NULL && !str_eq(q->type, mapping_type(b->cx->mapping))) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "specified document_type [%.*s] is not equal to the actual type [%.*s]",
                       STR_ARG(q->type), STR_ARG(mapping_type(b->cx->mapping)));
    }
    struct query *n = *out = qnode_new(b, &q_percolate);
    struct percolate *own = ARENA_NEW(b->arena, struct percolate);
    if (n == NULL || own == NULL) {
        return err_no_memory(em);
    }
    if (b->expensive != NULL) {
        return ERR_OK; /* it is refused */
    }
    n->field = f;
    n->field_name = f->path;
    n->own = own;
    own->field = f;
    own->name = q->query_name.p != NULL ? q->query_name : q->field;
    own->cx = *b->cx;
    if (b->cx->only_read) {
        return ERR_OK;
    }
    enum err e = print_docs(b, q, own, em);
    return e == ERR_OK ? percolate_index(b, own, em) : e;
}

const struct dsl_type dsl_percolate = {
    .name = "percolate", .parse = parse_percolate, .build = build_percolate};
