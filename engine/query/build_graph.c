#include "engine/query/build_graph.h"

#include "common/base/stop.h"

#define GRAPH_PATHS_MAX 1024

struct paths {
    struct text_run *r;
    bool as_spans; /* the paths become spans, not queries */
    bool prefix;   /* the last term of each is a beginning */
    struct span_part *spans;
    size_t spans_cap;
    const struct text_tokens *t;
    int32_t end;
    enum match_kind kind;
    struct bool_build any;
    struct query *last; /* of `any` */
    uint32_t n;
    struct text_token *path; /* the path so far */
    uint32_t depth;
};

int32_t text_token_end(const struct text_token *t)
{
    return t->position + t->length;
}

/* The path as one term, or terms one right behind the other. */
static enum err add_span(struct paths *p)
{
    struct span_part *terms = ARENA_ARRAY(p->r->b->arena, struct span_part, p->depth);
    struct span_part *all = arena_grow(p->r->b->arena, p->spans, p->n, &p->spans_cap, sizeof(*all));
    if (terms == NULL || all == NULL) {
        return err_no_memory(p->r->em);
    }
    for (uint32_t i = 0; i < p->depth; i++) {
        bool prefix = p->prefix && i + 1 == p->depth;
        terms[i] = (struct span_part){.kind = prefix ? SPAN_PREFIX : SPAN_TERM, .term = p->path[i].text};
    }
    p->spans = all;
    all[p->n++] = p->depth == 1 ? terms[0] : (struct span_part){.kind = SPAN_NEAR, .v = terms, .n = p->depth};
    return ERR_OK;
}

static enum err add_path(struct paths *p)
{
    if (p->as_spans) {
        return add_span(p);
    }
    struct text_tokens one = {
        .v = ARENA_ARRAY(p->r->b->arena, struct text_token, p->depth), .n = p->depth, .of_graph = true};
    if (one.v == NULL) {
        return err_no_memory(p->r->em);
    }
    for (uint32_t i = 0; i < p->depth; i++) {
        one.v[i] = (struct text_token){p->path[i].text, (int32_t)i, 1};
    }
    one.positions = (int32_t)p->depth;
    struct query *q;
    enum err e = text_query(p->r, &one, p->kind, true, &q);
    if (e == ERR_OK && q != NULL) {
        e = bool_add(p->r->b, &p->any, OCCUR_SHOULD, q, p->r->em);
        p->last = q;
    }
    p->n++;
    return e;
}

/* All paths from `at` to p->end, through gaps that the analyzer left. */
static enum err walk(struct paths *p, int32_t at)
{
    if (at >= p->end) {
        return add_path(p);
    }
    if (p->n >= GRAPH_PATHS_MAX) {
        return err_set(p->r->em, ERR_TOO_MANY_CLAUSES, "maxClauseCount is set to %d", GRAPH_PATHS_MAX);
    }
    bool found = false;
    for (uint32_t i = 0; i < p->t->n; i++) {
        if (p->t->v[i].position != at) {
            continue;
        }
        found = true;
        p->path[p->depth++] = p->t->v[i];
        enum err e = walk(p, text_token_end(&p->t->v[i]));
        p->depth--;
        if (e != ERR_OK) {
            return e;
        }
    }
    return found ? ERR_OK : walk(p, at + 1);
}

static enum err any_path(struct text_run *r, const struct text_tokens *t, int32_t from, int32_t to,
                         enum match_kind kind, struct query **out)
{
    struct paths p = {.r = r, .t = t, .end = to, .kind = kind};
    p.path = ARENA_ARRAY(r->b->arena, struct text_token, t->n);
    if (p.path == NULL) {
        return err_no_memory(r->em);
    }
    enum err e = walk(&p, from);
    if (e != ERR_OK) {
        return e;
    }
    if (p.any.n == 1) {
        *out = p.last;
        return ERR_OK;
    }
    return bool_done(r->b, &p.any, out, r->em);
}

bool text_paths_meet(const struct text_tokens *t, int32_t at)
{
    if (stop_worked(t->n)) {
        return true;
    }
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].position < at && text_token_end(&t->v[i]) > at) {
            return false;
        }
    }
    return true;
}

/* The tokens that begin at `from` do not all end at the same place. */
static bool side_path(const struct text_tokens *t, int32_t from, uint32_t *n)
{
    int32_t end = -1;
    bool differ = false;
    *n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->v[i].position == from) {
            differ = differ || (*n > 0 && text_token_end(&t->v[i]) != end);
            end = text_token_end(&t->v[i]);
            ++*n;
        }
    }
    return differ;
}

static enum err section(struct text_run *r, const struct text_tokens *t, int32_t from, int32_t to,
                        bool prefix, struct query **out)
{
    uint32_t n;
    if (side_path(t, from, &n)) {
        bool phrase = r->o->synonyms_phrase && text_has_positions(r->field);
        enum match_kind kind = !phrase ? MATCH_BOOLEAN : prefix ? MATCH_PHRASE_PREFIX : MATCH_PHRASE;
        int32_t slop = r->slop;
        r->slop = 0;
        enum err e = any_path(r, t, from, to, kind, out);
        r->slop = slop;
        return e;
    }
    *out = NULL;
    if (n == 0) {
        return ERR_OK;
    }
    struct str *terms = ARENA_ARRAY(r->b->arena, struct str, n);
    if (terms == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0, k = 0; i < t->n; i++) {
        if (t->v[i].position == from) {
            terms[k++] = t->v[i].text;
        }
    }
    return text_position(r, terms, n, prefix, out);
}

int32_t text_graph_end(const struct text_tokens *t)
{
    int32_t end = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        end = MAX_OF(end, text_token_end(&t->v[i]));
    }
    return end;
}

enum err text_graph_boolean(struct text_run *r, const struct text_tokens *t, enum match_kind kind, bool and,
                            struct query **out)
{
    struct bool_build bb = {0};
    int32_t end = text_graph_end(t);
    for (int32_t from = t->v[0].position, to; from < end; from = to) {
        for (to = from + 1; to < end && !text_paths_meet(t, to); to++) {
        }
        struct query *q;
        enum err e = section(r, t, from, to, kind == MATCH_BOOL_PREFIX && to == end, &q);
        if (e == ERR_OK && q != NULL) {
            e = bool_add(r->b, &bb, and? OCCUR_MUST : OCCUR_SHOULD, q, r->em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return bool_done(r->b, &bb, out, r->em);
}

/* What stands between two places that all paths share, as one span. part->n 0 and no term: nothing. */
static enum err span_section(struct text_run *r, const struct text_tokens *t, int32_t from, int32_t to,
                             bool prefix, struct span_part *part)
{
    uint32_t n;
    bool side = side_path(t, from, &n);
    struct paths p = {.r = r, .t = t, .end = to, .as_spans = true, .prefix = prefix};
    p.path = ARENA_ARRAY(r->b->arena, struct text_token, t->n);
    if (p.path == NULL) {
        return err_no_memory(r->em);
    }
    enum err e = ERR_OK;
    if (side) {
        e = walk(&p, from);
    }
    for (uint32_t i = 0; !side && i < t->n && e == ERR_OK; i++) {
        if (t->v[i].position == from) {
            p.path[0] = t->v[i];
            p.depth = 1;
            e = add_span(&p);
        }
    }
    if (e == ERR_OK) {
        *part = p.n == 1 && !side ? p.spans[0] : (struct span_part){.kind = SPAN_OR, .v = p.spans, .n = p.n};
    }
    return e;
}

static enum err span_root(struct text_run *r, const struct text_tokens *t, bool prefix,
                          struct span_part **out)
{
    int32_t begin = t->v[0].position, end = text_graph_end(t);
    struct span_part *v = ARENA_ARRAY(r->b->arena, struct span_part, (size_t)(end - begin)),
                     *root = ARENA_NEW(r->b->arena, struct span_part);
    uint32_t n = 0;
    if (v == NULL || root == NULL) {
        return err_no_memory(r->em);
    }
    for (int32_t from = begin, to; from < end; from = to) {
        for (to = from + 1; to < end && !text_paths_meet(t, to); to++) {
        }
        enum err e = span_section(r, t, from, to, prefix && to == end, &v[n]);
        if (e != ERR_OK) {
            return e;
        }
        n += v[n].kind <= SPAN_PREFIX || v[n].n > 0 ? 1 : 0; /* a gap is none */
    }
    *root = n == 1 ? v[0] : (struct span_part){.kind = SPAN_NEAR, .v = v, .n = n};
    *out = root;
    return ERR_OK;
}

/* Without slop: spans. Their field is not asked for positions. */
static enum err graph_spans(struct text_run *r, const struct text_tokens *t, enum match_kind kind,
                            struct query **out)
{
    bool prefix = kind == MATCH_PHRASE_PREFIX;
    if (prefix && !r->field->class->is_analysed) {
        return err_set(
            r->em, ERR_ILLEGAL_ARGUMENT,
            "Can only use span prefix queries on text fields - not on [%.*s] which is of type [%s]",
            STR_ARG(r->field->path), field_shown_type(r->field));
    }
    struct query *q = qnode_new(r->b, &q_spans), *paths = NULL;
    struct span_part *root = NULL;
    if (q == NULL) {
        return err_no_memory(r->em);
    }
    enum err e = span_root(r, t, prefix, &root);
    if (e == ERR_OK && text_has_positions(r->field)) {
        int32_t slop = r->slop;
        r->slop = 0;
        e = any_path(r, t, t->v[0].position, text_graph_end(t), kind, &paths);
        r->slop = slop;
    }
    q->field = r->field;
    q->field_name = r->field->path;
    q->spans.root = root;
    q->spans.prefix = prefix;
    q->spans.max_expansions = (uint32_t)r->o->max_expansions;
    q->spans.paths = paths;
    *out = q;
    return e;
}

enum err text_graph_phrase(struct text_run *r, const struct text_tokens *t, enum match_kind kind,
                           struct query **out)
{
    bool hidden = kind == MATCH_PHRASE_PREFIX && r->field->prefix_field != NULL;
    if (!hidden && r->slop <= 0 && r->group == NULL) {
        return graph_spans(r, t, kind, out);
    }
    return any_path(r, t, t->v[0].position, text_graph_end(t), kind, out);
}
