/* terms_set: a document must match as many of the terms as a field of it, or a script, says (Lucene's CoveringQuery). */
#include "common/base/coerce.h"
#include "common/base/sort_items.h"
#include "engine/mapping/field_class.h"
#include "engine/query/build.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite.h"
#include "engine/query/scorers.h"
#include "engine/query/script_use.h"

struct covering {
    const struct query **v; /* a term each, in the order of the request */
    uint32_t n;
    const struct field *minimum; /* NULL: the script says it */
    struct script *script;
    const struct json *form, *params;
};

static const struct covering *own_of(const struct query *q)
{
    return q->own;
}

static enum err covering_each_child(const struct query *q, child_fn fn, void *arg)
{
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < own_of(q)->n && e == ERR_OK; i++) {
        e = fn(arg, own_of(q)->v[i], CHILD_SCORES);
    }
    return e;
}

static bool covering_same(const struct query *a, const struct query *b)
{
    const struct covering *x = own_of(a), *y = own_of(b);
    bool same =
        x->n == y->n && x->minimum == y->minimum && (x->minimum != NULL || json_equal(x->form, y->form));
    for (uint32_t i = 0; i < x->n && same; i++) {
        same = query_equal(x->v[i], y->v[i]);
    }
    return same;
}

static void covering_print(const struct query *q, struct buf *out)
{
    const struct covering *c = own_of(q);
    buf_z(out, "CoveringQuery(queries=[");
    for (uint32_t i = 0; i < c->n; i++) {
        buf_z(out, i > 0 ? ", " : "");
        query_print(c->v[i], out);
    }
    buf_z(out, "], minimumNumberMatch=");
    if (c->minimum != NULL) {
        buf_printf(out, "long(%.*s))", STR_ARG(c->minimum->path));
    } else {
        buf_z(out, "script(");
        query_print_script(c->form, out);
        buf_z(out, "))");
    }
}

static enum err covering_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                 struct errmsg *em)
{
    struct query *c = rewrite_copy(sh, q);
    struct covering *own = ARENA_NEW(sh->cx.arena, struct covering);
    const struct query **v = ARENA_ARRAY(sh->cx.arena, const struct query *, own_of(q)->n);
    enum err e = ERR_OK;
    if (c == NULL || own == NULL || v == NULL) {
        return err_no_memory(em);
    }
    *own = *own_of(q);
    for (uint32_t i = 0; i < own->n && e == ERR_OK; i++) {
        e = query_rewrite(sh, own->v[i], &v[i], em);
    }
    own->v = v;
    c->own = own;
    *out = c;
    return e;
}

/* ---- how many must match ---- */

struct minimum {
    const struct covering *own;
    struct num_column column;
    struct script_docs *docs;
    struct weight_shared *shared;
    bool failed;
};

static enum err minimum_open(struct minimum *m, const struct weight *w, const struct leaf *leaf,
                             struct arena *arena, struct errmsg *em)
{
    *m = (struct minimum){.own = own_of(w->query), .shared = w->shared};
    if (m->own->minimum != NULL) {
        const struct seg_field *f = segment_field(leaf->segment, m->own->minimum->path);
        num_column_init(&m->column, f);
        return ERR_OK;
    }
    struct script_docs_opts o = {.script = m->own->script,
                                 .params = m->own->params,
                                 .mapping = w->shared->cx.view->mapping,
                                 .index_name = w->shared->cx.index_name,
                                 .leaf = leaf,
                                 .arena = arena,
                                 .now_ms = w->shared->cx.now_ms};
    return script_docs_new(&m->docs, &o, em);
}

/* false: the document has none, the script gives null for it, or it failed. */
static bool minimum_of(struct minimum *m, doc_id doc, int64_t *out)
{
    ERR_LOCAL(em);
    double v = 0;
    if (m->failed) {
        return false;
    }
    if (m->own->minimum == NULL) {
        bool none = false;
        err_clear(&em);
        if (script_docs_number(m->docs, doc, 0, &v, &none, &em) != ERR_OK) {
            m->failed = true;
            weight_fail(m->shared, &em);
            return false;
        }
        *out = num_double_to_i64(v);
        return !none;
    }
    const struct field *f = m->own->minimum;
    uint64_t first;
    if (num_column_seek(&m->column, doc, &first) == 0) {
        return false;
    }
    *out = num_column_value(&m->column, first);
    if (field_is_fraction(f)) {
        *out = num_double_to_i64(field_num_to_double(f, *out));
    } else if (f->class->is_nanos) {
        *out /= 1000000;
    }
    return true;
}

/* ---- scorers ---- */

struct covering_weight {
    struct weight base;
    const struct weight **v;
};

static const struct weight *const *parts(const struct weight *w)
{
    return ((const struct covering_weight *)(const void *)w)->v;
}

struct covering_scorer {
    struct scorer base;
    struct scorer **v;  /* of the terms that the segment has */
    struct scorer **at; /* those that match the document */
    uint32_t n, n_at;
    struct minimum minimum;
};

static struct covering_scorer *self(struct scorer *s)
{
    return (struct covering_scorer *)(void *)s;
}

static doc_id covering_seek(struct scorer *s, doc_id target)
{
    struct covering_scorer *c = self(s);
    doc_id least = DOC_END;
    for (uint32_t i = 0; i < c->n; i++) {
        doc_id at = scorer_is_before(c->v[i], target) ? scorer_seek(c->v[i], target) : c->v[i]->doc;
        least = MIN_OF(least, at);
    }
    return s->doc = least;
}

static doc_id covering_next(struct scorer *s)
{
    return s->doc == DOC_END ? DOC_END : covering_seek(s, s->doc == POSTINGS_UNPOSITIONED ? 0 : s->doc + 1);
}

static bool covering_matches(struct scorer *s)
{
    struct covering_scorer *c = self(s);
    int64_t least;
    if (!minimum_of(&c->minimum, s->doc, &least)) {
        return false;
    }
    c->n_at = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->v[i]->doc == s->doc && scorer_accepts(c->v[i])) {
            c->at[c->n_at++] = c->v[i];
        }
    }
    return c->n_at >= MAX_OF(least, 1);
}

static float covering_score(struct scorer *s)
{
    struct covering_scorer *c = self(s);
    double sum = 0;
    for (uint32_t i = 0; i < c->n_at; i++) {
        sum += (double)scorer_score(c->at[i]);
    }
    return (float)sum;
}

static const struct scorer_ops covering_scorer_ops = {
    .next = covering_next, .seek = covering_seek, .matches = covering_matches, .score = covering_score};

static uint64_t covering_cost(const struct weight *w, const struct leaf *leaf)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < own_of(w->query)->n; i++) {
        sum = cost_add(sum, weight_cost(parts(w)[i], leaf));
    }
    return sum;
}

static enum err covering_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    uint32_t n = own_of(w->query)->n;
    struct covering_scorer *c = ARENA_NEW(rq->arena, struct covering_scorer);
    struct scorer **v = ARENA_ARRAY(rq->arena, struct scorer *, n),
                  **at = ARENA_ARRAY(rq->arena, struct scorer *, n);
    if (c == NULL || v == NULL || at == NULL) {
        return err_no_memory(rq->em);
    }
    c->base = (struct scorer){.ops = &covering_scorer_ops, .doc = POSTINGS_UNPOSITIONED};
    c->v = v;
    c->at = at;
    for (uint32_t i = 0; i < n; i++) {
        enum err e = weight_make_scorer(parts(w)[i], rq, &v[c->n]);
        if (e != ERR_OK) {
            return e;
        }
        if (v[c->n] != NULL) {
            c->base.cost = cost_add(c->base.cost, v[c->n++]->cost);
        }
    }
    if (c->n == 0) {
        return ERR_OK;
    }
    *out = &c->base;
    return minimum_open(&c->minimum, w, rq->leaf, rq->arena, rq->em);
}

static enum err covering_explain(const struct weight *w, const struct explain_request *rq,
                                 struct explanation **out)
{
    const struct covering *own = own_of(w->query);
    struct minimum m;
    int64_t least;
    double sum = 0;
    uint32_t n = 0;
    enum err e = minimum_open(&m, w, rq->leaf, rq->arena, rq->em);
    if (e != ERR_OK) {
        return e;
    }
    if (!minimum_of(&m, rq->doc, &least)) {
        *out = explain_new(rq->arena, false, 0, "minimumNumberMatch has no value on the current document");
        return ERR_OK;
    }
    least = MAX_OF(least, 1);
    *out = explain_new(rq->arena, true, 0, "%s", "");
    for (uint32_t i = 0; i < own->n; i++) {
        struct explanation *x;
        e = explain_weight(parts(w)[i], rq, &x);
        if (e != ERR_OK) {
            return e;
        }
        n += x->match;
        sum += x->match ? (double)x->value : 0;
        *out = explain_add(rq->arena, *out, x);
    }
    if (*out != NULL) {
        (*out)->match = n >= least;
        (*out)->value = (*out)->match ? (float)sum : 0;
        (*out)->description = arena_printf(rq->arena, "%u matches for %lld required matches%s", n,
                                           (long long)least, n >= least ? ", sum of:" : "");
    }
    return ERR_OK;
}

static const struct weight_ops covering_ops = {
    .cost = covering_cost, .scorer = covering_scorer, .explain = covering_explain};

static enum err covering_weight(struct weight_shared *sh, const struct query *q, float boost,
                                enum score_need need, const struct weight **out, struct errmsg *em)
{
    struct covering_weight *w = weight_alloc(sh, sizeof(*w), &covering_ops, q, boost, need);
    enum err e = ERR_OK;
    if (w == NULL || (w->v = ARENA_ARRAY(sh->cx.arena, const struct weight *, own_of(q)->n)) == NULL) {
        return err_no_memory(em);
    }
    *out = &w->base;
    for (uint32_t i = 0; i < own_of(q)->n && e == ERR_OK; i++) {
        e = weight_make(sh, own_of(q)->v[i], boost, need == NEED_NO_SCORES ? need : NEED_SCORES, &w->v[i],
                        em);
    }
    return e;
}

const struct query_ops q_terms_set = {.name = "terms_set",
                                      .each_child = covering_each_child,
                                      .same = covering_same,
                                      .print = covering_print,
                                      .rewrite = covering_rewrite,
                                      .weight = covering_weight};

/* ---- as it is written ---- */

struct dsl_terms_set_query {
    struct dsl dsl;
    struct str field, minimum_field; /* p == NULL: none */
    struct dsl_values values;
    const struct json *script; /* NULL: none */
};

static enum err parse_member(struct json_pull *p, struct arena *arena, struct dsl_terms_set_query *q,
                             struct str name, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_terms_set_query),
        {"minimum_should_match_field", PARAM_TEXT, offsetof(struct dsl_terms_set_query, minimum_field)},
    };
    bool known = false;
    enum err e = ERR_OK;
    if (p->token == TOK_START_ARRAY && str_is(name, "terms")) {
        q->values.n = 0;
        return dsl_values_parse(p, arena, &q->values, em);
    }
    if (p->token == TOK_START_OBJECT && str_is(name, "minimum_should_match_script")) {
        return script_form_parse(p, &q->script, em);
    }
    if (p->token == TOK_NULL || p->token == TOK_END_ARRAY) {
        return dsl_unknown_token(p, "terms_set", name, em);
    }
    if (json_token_is_value(p->token)) {
        e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
    }
    return e != ERR_OK || known ? e : dsl_unsupported(p, "terms_set", name, em);
}

static enum err unknown_token(const struct json_pull *p, struct errmsg *em)
{
    return json_pull_err(p, em, ERR_PARSING, "[terms_set] unknown token [%s]", json_token_text(p->token));
}

static enum err parse_terms_set(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_terms_set_query *q = dsl_new(out, arena, &dsl_terms_set, sizeof(*q));
    struct str name = STR_NULL;
    if (q == NULL) {
        return err_no_memory(em);
    }
    if (json_pull_next(p) != TOK_FIELD_NAME) {
        return unknown_token(p, em);
    }
    q->field = p->name;
    if (json_pull_next(p) != TOK_START_OBJECT) {
        return unknown_token(p, em);
    }
    while (json_pull_member(p, &name)) {
        enum err e = parse_member(p, arena, q, name, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (json_pull_next(p) != TOK_END_OBJECT) {
        return unknown_token(p, em);
    }
    if (q->minimum_field.p != NULL && q->script != NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "A field has already been specified. Cannot specify both a field and script");
    }
    return ERR_OK;
}

static enum err build_term(struct builder *b, const struct dsl_terms_set_query *q, const struct json *v,
                           struct query **out, struct errmsg *em)
{
    const struct field *f = build_field(b, q->field);
    if (f != NULL) {
        return field_term(b, f, v, out, em);
    }
    struct query *t = *out = qnode_new(b, &q_term); /* without a mapping, the field is taken by its name */
    if (t == NULL) {
        return err_no_memory(em);
    }
    t->field_name = q->field;
    t->term.term = json_text(v);
    return ERR_OK;
}

/* Values that are no numbers, as Elasticsearch's class of them cannot be another. */
static enum err no_numbers(const struct field *f, struct errmsg *em)
{
    const struct field_class *c = f->class;
    const char *from = c->kind == VALUE_POINT
                           ? "plain.AbstractLatLonPointIndexFieldData$LatLonPointIndexFieldData"
                       : c->kind == VALUE_RANGE ? "plain.BinaryIndexFieldData"
                       : c->needs_fielddata     ? "plain.PagedBytesIndexFieldData"
                       : c->is_binary           ? "plain.BytesBinaryIndexFieldData"
                       : c->constant != NULL    ? "plain.ConstantIndexFieldData"
                                                : "plain.SortedSetOrdinalsIndexFieldData";
    if (c->kind == VALUE_NONE) {
        return field_refuses_values(f, em);
    }
    return err_set(
        em, ERR_CLASS_CAST,
        "class org.elasticsearch.index.fielddata.%s cannot be cast to class "
        "org.elasticsearch.index.fielddata.IndexNumericFieldData (org.elasticsearch.index.fielddata.%s and "
        "org.elasticsearch.index.fielddata.IndexNumericFieldData are in unnamed module of loader 'app')",
        from, from);
}

static enum err build_field_minimum(struct builder *b, struct str name, struct covering *own,
                                    struct errmsg *em)
{
    const struct field *f = own->minimum = build_field(b, name);
    if (f == NULL) {
        return err_query_shard(b, em, "failed to find minimum_should_match field [%.*s]", STR_ARG(name));
    }
    enum value_kind kind = f->class->kind;
    enum err e = kind != VALUE_NONE ? build_column_check(f, em) : ERR_OK;
    bool numbers = kind == VALUE_NUMBER || kind == VALUE_DATE || kind == VALUE_BOOLEAN;
    return e == ERR_OK && !numbers ? no_numbers(f, em) : e;
}

/* The script's parameters, and how many terms there are. */
static const struct json *with_num_terms(const struct json *params, size_t n_terms, struct arena *arena)
{
    uint32_t had = params != NULL ? params->n : 0;
    struct json *o = ARENA_NEW(arena, struct json);
    struct json_member *m = ARENA_ARRAY(arena, struct json_member, had + 1);
    if (o == NULL || m == NULL) {
        return NULL;
    }
    *o = (struct json){.type = JSON_OBJECT, .members = m};
    for (uint32_t i = 0; i < had; i++) {
        if (!str_is(params->members[i].key, "num_terms")) {
            m[o->n++] = params->members[i];
        }
    }
    struct str count = arena_printf(arena, "%zu", n_terms);
    m[o->n++] = (struct json_member){.key = STR("num_terms"), .value = {.type = JSON_NUMBER, .s = count}};
    return count.p != NULL ? o : NULL;
}

static enum err build_script_minimum(struct builder *b, const struct dsl_terms_set_query *q,
                                     struct covering *own, struct errmsg *em)
{
    own->form = q->script;
    own->params = with_num_terms(script_form_params(q->script), q->values.n, b->arena);
    return own->params != NULL ? script_of_form(b->cx, q->script, SCRIPT_TERMS_SET, &own->script, em)
                               : err_no_memory(em);
}

struct shown_query {
    struct str text;
    const struct query *query;
};

static int by_text(const void *a, const void *b)
{
    return str_cmp(((const struct shown_query *)a)->text, ((const struct shown_query *)b)->text);
}

/* Equal terms are equal queries in whatever order they are given: they lie in that of their texts. */
static enum err put_in_order(const struct query **v, uint32_t n, struct arena *arena, struct errmsg *em)
{
    struct shown_query *shown = ARENA_ARRAY(arena, struct shown_query, n);
    struct buf text;
    bool room = shown != NULL;
    buf_init(&text, NULL, BUF_UNLIMITED);
    for (uint32_t i = 0; i < n && room; i++) {
        buf_reset(&text);
        query_print(v[i], &text);
        shown[i] = (struct shown_query){arena_str(arena, buf_view(&text)), v[i]};
        room = shown[i].text.p != NULL && !text.failed;
    }
    buf_fini(&text);
    if (!room) {
        return err_no_memory(em);
    }
    sort_items(shown, n, sizeof(*shown), by_text);
    for (uint32_t i = 0; i < n; i++) {
        v[i] = shown[i].query;
    }
    return ERR_OK;
}

static enum err build_terms_set(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_terms_set_query *q = (const struct dsl_terms_set_query *)(const void *)d;
    uint32_t most = query_node_settings()->clauses_max;
    enum err e = ERR_OK;
    if (q->values.n == 0) {
        return qnode_none(b, out, em, "No terms supplied for \"terms_set\" query.");
    }
    if (q->values.n > most) {
        return err_set(em, ERR_TOO_MANY_CLAUSES, "maxClauseCount is set to %u", most);
    }
    struct query *n = *out = qnode_new(b, &q_terms_set);
    struct covering *own = ARENA_NEW(b->arena, struct covering);
    const struct query **v = ARENA_ARRAY(b->arena, const struct query *, q->values.n);
    if (n == NULL || own == NULL || v == NULL) {
        return err_no_memory(em);
    }
    for (size_t i = 0; i < q->values.n && e == ERR_OK; i++) {
        struct query *t;
        e = build_term(b, q, q->values.v[i], &t, em);
        v[i] = t;
    }
    own->v = v;
    own->n = (uint32_t)q->values.n;
    n->own = own;
    e = e == ERR_OK ? put_in_order(v, own->n, b->arena, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (q->minimum_field.p != NULL) {
        return build_field_minimum(b, q->minimum_field, own, em);
    }
    return q->script != NULL ? build_script_minimum(b, q, own, em)
                             : err_set(em, ERR_ILLEGAL_STATE, "No minimum should match has been specified");
}

const struct dsl_type dsl_terms_set = {
    .name = "terms_set", .parse = parse_terms_set, .build = build_terms_set};
