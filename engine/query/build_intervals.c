/* Rules of intervals made into sources, with mapping and analyzers. */
#include "engine/query/build_graph.h"
#include "engine/query/dsl_intervals.h"
#include "engine/query/intervals.h"
#include "engine/query/query_ops.h"

#define PATHS_MAX 1024

struct rules_run {
    struct builder *b;
    struct interval_builder ib;
    struct errmsg *em;
};

typedef const struct interval_source *source_ptr;

static enum err no_memory(const struct rules_run *r)
{
    return err_no_memory(r->em);
}

static enum err leaf_source(const struct rules_run *r, enum interval_kind kind, struct str text,
                            const struct query *pattern, source_ptr *out)
{
    struct interval_source *s = interval_new(&r->ib, kind);
    if (s == NULL) {
        return no_memory(r);
    }
    s->text = text;
    s->pattern = pattern;
    *out = s;
    return ERR_OK;
}

static enum err of_field(const struct rules_run *r, struct str field, source_ptr in, source_ptr *out)
{
    struct interval_source *s = interval_new(&r->ib, INTERVAL_OF_FIELD);
    source_ptr *v = ARENA_ARRAY(r->b->arena, source_ptr, 1);
    if (s == NULL || v == NULL) {
        return no_memory(r);
    }
    v[0] = in;
    s->v = v;
    s->n = 1;
    s->field = field;
    *out = s;
    return ERR_OK;
}

/* ---- analysed text ---- */

static enum err spaced(const struct rules_run *r, source_ptr in, int32_t spaces, struct interval_list *out)
{
    enum err e = spaces > 0 ? interval_extend(&r->ib, in, spaces, 0, &in) : ERR_OK;
    return e == ERR_OK && !interval_add(&r->ib, out, in) ? no_memory(r) : e;
}

/* The words at each position, any of them where there are several. */
static enum err word_list(const struct rules_run *r, const struct text_tokens *t, struct interval_list *out)
{
    int32_t before = -1;
    enum err e = ERR_OK;
    for (uint32_t i = 0, next; i < t->n && e == ERR_OK; i = next) {
        struct interval_list same = {0};
        source_ptr one = NULL;
        for (next = i; next < t->n && t->v[next].position == t->v[i].position && e == ERR_OK; next++) {
            e = leaf_source(r, INTERVAL_TERM, t->v[next].text, NULL, &one);
            e = e == ERR_OK && !interval_add(&r->ib, &same, one) ? no_memory(r) : e;
        }
        e = e == ERR_OK && same.n > 1 ? interval_any(&r->ib, &same, &one) : e;
        e = e == ERR_OK ? spaced(r, one, t->v[i].position - before - 1, out) : e;
        before = t->v[i].position;
    }
    return e;
}

/* ---- graphs: several words that stand for one ---- */

struct path_run {
    const struct rules_run *r;
    const struct text_tokens *t;
    int32_t end;
    struct interval_list path, found;
};

static enum err walk_paths(struct path_run *p, int32_t at)
{
    const struct rules_run *r = p->r;
    enum err e = ERR_OK;
    if (at >= p->end) {
        struct interval_list words = {0};
        source_ptr phrase = NULL;
        if (p->found.n >= PATHS_MAX) {
            return err_set(r->em, ERR_TOO_MANY_CLAUSES, "maxClauseCount is set to %d", PATHS_MAX);
        }
        for (size_t i = 0; i < p->path.n; i++) {
            if (!interval_add(&r->ib, &words, p->path.v[i])) {
                return no_memory(r);
            }
        }
        e = interval_combine(&r->ib, &words, 0, true, &phrase);
        return e == ERR_OK && !interval_add(&r->ib, &p->found, phrase) ? no_memory(r) : e;
    }
    bool any = false;
    for (uint32_t i = 0; i < p->t->n && e == ERR_OK; i++) {
        if (p->t->v[i].position != at) {
            continue;
        }
        any = true;
        source_ptr word = NULL;
        e = leaf_source(r, INTERVAL_TERM, p->t->v[i].text, NULL, &word);
        e = e == ERR_OK && !interval_add(&r->ib, &p->path, word) ? no_memory(r) : e;
        if (e == ERR_OK) {
            e = walk_paths(p, text_token_end(&p->t->v[i]));
            p->path.n--;
        }
    }
    return any || e != ERR_OK ? e : walk_paths(p, at + 1);
}

static enum err graph_list(const struct rules_run *r, const struct text_tokens *t, struct interval_list *out)
{
    int32_t end = text_graph_end(t);
    enum err e = ERR_OK;
    for (int32_t from = t->v[0].position, to; from < end && e == ERR_OK; from = to) {
        struct path_run p = {.r = r, .t = t};
        source_ptr any = NULL;
        for (to = from + 1; to < end && !text_paths_meet(t, to); to++) {
        }
        p.end = to;
        e = walk_paths(&p, from);
        if (e == ERR_OK && p.found.n > 0) {
            e = interval_any(&r->ib, &p.found, &any);
            e = e == ERR_OK && !interval_add(&r->ib, out, any) ? no_memory(r) : e;
        }
    }
    return e;
}

static enum err text_source(const struct rules_run *r, const struct interval_rule *rule,
                            const struct analyzer *an, source_ptr *out)
{
    struct text_tokens t = {0};
    struct interval_list words = {0};
    enum err e = text_analyse(r->b, an, rule->text, false, &t, r->em);
    if (e == ERR_OK && t.n == 1) {
        return leaf_source(r, INTERVAL_TERM, t.v[0].text, NULL, out);
    }
    if (e == ERR_OK && t.n > 0) {
        e = t.graph ? graph_list(r, &t, &words) : word_list(r, &t, &words);
    }
    return e == ERR_OK ? interval_combine(&r->ib, &words, rule->max_gaps, rule->ordered, out) : e;
}

/* ---- patterns ---- */

static enum err pattern_source(const struct rules_run *r, const struct field *f, const struct query_ops *ops,
                               struct str text, struct str shown, const struct interval_rule *rule,
                               uint32_t edits, source_ptr *out)
{
    struct query *q = qnode_new(r->b, ops);
    if (q == NULL) {
        return no_memory(r);
    }
    q->field = f;
    q->field_name = f->path;
    q->multi.pattern = text;
    q->multi.rewrite = REWRITE_CONSTANT;
    q->multi.max_edits = edits;
    q->multi.prefix_length = rule->prefix_length > 0 ? (uint32_t)rule->prefix_length : 0;
    q->multi.transpositions = rule->transpositions;
    return leaf_source(r, INTERVAL_PATTERN, shown, q, out);
}

static enum err beginning(const struct rules_run *r, const struct field *f, struct str text,
                          const struct interval_rule *rule, source_ptr *out)
{
    struct str shown = arena_printf(r->b->arena, "%.*s*", STR_ARG(text));
    return shown.p != NULL ? pattern_source(r, f, &q_prefix, text, shown, rule, 0, out) : no_memory(r);
}

/* Beginnings that are indexed are looked up; shorter ones are patterns of them. */
static enum err indexed_beginning(const struct rules_run *r, const struct field *f, struct str text,
                                  const struct interval_rule *rule, source_ptr *out)
{
    source_ptr in = NULL, word = NULL;
    enum err e;
    if (text.n > (size_t)f->prefix_max_chars) {
        return beginning(r, f, text, rule, out);
    }
    if (text.n >= (size_t)f->prefix_min_chars) {
        e = leaf_source(r, INTERVAL_TERM, text, NULL, &in);
        return e == ERR_OK ? of_field(r, f->prefix_field->path, in, out) : e;
    }
    struct buf marks;
    buf_init(&marks, NULL, BUF_UNLIMITED);
    buf_str(&marks, text);
    for (size_t i = text.n; i < (size_t)f->prefix_min_chars; i++) {
        buf_char(&marks, '?');
    }
    struct str pattern = marks.failed ? STR_NULL : arena_str(r->b->arena, buf_view(&marks));
    buf_fini(&marks);
    if (pattern.p == NULL) {
        return no_memory(r);
    }
    struct interval_list both = {0};
    e = pattern_source(r, f->prefix_field, &q_wildcard, pattern, pattern, rule, 0, &in);
    e = e == ERR_OK ? of_field(r, f->prefix_field->path, in, &in) : e;
    e = e == ERR_OK ? leaf_source(r, INTERVAL_TERM, text, NULL, &word) : e;
    if (e == ERR_OK && (!interval_add(&r->ib, &both, in) || !interval_add(&r->ib, &both, word))) {
        return no_memory(r);
    }
    return e == ERR_OK ? interval_any(&r->ib, &both, out) : e;
}

static enum err one_word(const struct rules_run *r, const struct field *f, const struct interval_rule *rule,
                         const struct analyzer *an, source_ptr *out)
{
    struct str text;
    uint32_t edits = 0;
    enum err e = analyzer_normalize(an, rule->text, r->b->arena, &text, r->em);
    if (e != ERR_OK) {
        return e;
    }
    if (rule->kind == RULE_WILDCARD) {
        return pattern_source(r, f, &q_wildcard, text, text, rule, 0, out);
    }
    if (rule->kind == RULE_FUZZY) {
        e = fuzziness_distance(&rule->fuzziness, rule->text, &edits, r->em);
        if (e == ERR_OK && rule->prefix_length < 0) {
            return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "prefixLength cannot be negative.");
        }
        return e == ERR_OK ? pattern_source(r, f, &q_fuzzy, text, text, rule, edits, out) : e;
    }
    if (f->prefix_field != NULL) {
        return indexed_beginning(r, f, text, rule, out);
    }
    return beginning(r, f, text, rule, out);
}

/* ---- rules ---- */

static enum err rule_source(const struct rules_run *r, const struct field *f,
                            const struct interval_rule *rule, source_ptr *out);

static enum err words_source(const struct rules_run *r, const struct field *f,
                             const struct interval_rule *rule, source_ptr *out)
{
    if (rule->use_field.p != NULL) {
        f = build_field(r->b, rule->use_field);
    }
    if (!f->class->is_analysed && (rule->kind == RULE_MATCH || rule->kind == RULE_PREFIX)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "Can only use interval queries on text fields - not on [%.*s] which is of type [%s]",
                       STR_ARG(f->path), field_shown_type(f));
    }
    if (!text_has_positions(f)) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                       "Cannot create intervals over field [%.*s] with no positions indexed",
                       STR_ARG(f->path));
    }
    const struct analyzer *an = rule->analyzer.p != NULL
                                    ? analysis_analyzer(mapping_analysis(r->b->cx->mapping), rule->analyzer)
                                    : NULL;
    an = an != NULL ? an : f->search_analyzer;
    enum err e = rule->kind == RULE_MATCH ? text_source(r, rule, an, out) : one_word(r, f, rule, an, out);
    return e == ERR_OK && rule->use_field.p != NULL ? of_field(r, rule->use_field, *out, out) : e;
}

static enum err several(const struct rules_run *r, const struct field *f, const struct interval_rule *rule,
                        source_ptr *out)
{
    struct interval_list l = {0};
    enum err e = ERR_OK;
    for (size_t i = 0; i < rule->n && e == ERR_OK; i++) {
        source_ptr s = NULL;
        e = rule_source(r, f, rule->v[i], &s);
        e = e == ERR_OK && !interval_add(&r->ib, &l, s) ? no_memory(r) : e;
    }
    if (e != ERR_OK) {
        return e;
    }
    return rule->kind == RULE_ANY_OF ? interval_any(&r->ib, &l, out)
                                     : interval_combine(&r->ib, &l, rule->max_gaps, rule->ordered, out);
}

static enum err filtered(const struct rules_run *r, const struct field *f, const struct interval_rule *rule,
                         source_ptr in, source_ptr *out)
{
    static const struct {
        const char *name;
        enum interval_kind kind;
    } kinds[] = {{"containing", INTERVAL_CONTAINING},         {"contained_by", INTERVAL_CONTAINED_BY},
                 {"not_containing", INTERVAL_NOT_CONTAINING}, {"not_contained_by", INTERVAL_NOT_CONTAINED_BY},
                 {"overlapping", INTERVAL_OVERLAPPING},       {"not_overlapping", INTERVAL_NOT_OVERLAPPING}};
    source_ptr by = NULL;
    if (rule->script != NULL) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "filters of [intervals] by a script are not supported");
    }
    enum err e = rule_source(r, f, rule->filter, &by);
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (str_is(rule->filter_kind, kinds[i].name)) {
            return interval_relate(&r->ib, kinds[i].kind, in, by, out);
        }
    }
    bool before = str_is(rule->filter_kind, "before");
    if (!before && !str_is(rule->filter_kind, "after")) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Unknown filter type [%.*s]", STR_ARG(rule->filter_kind));
    }
    return interval_place(&r->ib, !before, in, by, out);
}

static enum err rule_source(const struct rules_run *r, const struct field *f,
                            const struct interval_rule *rule, source_ptr *out)
{
    bool many = rule->kind == RULE_ANY_OF || rule->kind == RULE_ALL_OF;
    enum err e = many ? several(r, f, rule, out) : words_source(r, f, rule, out);
    if (rule->use_field.p != NULL) { /* what filters it is of that field's kind, too */
        f = build_field(r->b, rule->use_field);
    }
    return e == ERR_OK && rule->filter_kind.p != NULL ? filtered(r, f, rule, *out, out) : e;
}

/* Are all other fields that it reads mapped? */
static bool fields_mapped(struct builder *b, const struct interval_rule *rule)
{
    bool mapped = rule->use_field.p == NULL || build_field(b, rule->use_field) != NULL;
    for (size_t i = 0; i < rule->n && mapped; i++) {
        mapped = fields_mapped(b, rule->v[i]);
    }
    return mapped && (rule->filter == NULL || fields_mapped(b, rule->filter));
}

enum err build_intervals(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_intervals_query *q = (const struct dsl_intervals_query *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    const struct rules_run r = {.b = b, .ib = {b->arena, em}, .em = em};
    source_ptr source = NULL;
    if (f == NULL || !fields_mapped(b, q->rule)) {
        return qnode_none(b, out, em, "%s", "");
    }
    const struct query_ops *expensive = b->expensive; /* patterns of intervals are not */
    enum err e = rule_source(&r, f, q->rule, &source);
    b->expensive = expensive;
    struct query *node = *out = e == ERR_OK ? qnode_new(b, &q_intervals) : NULL;
    if (node == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    node->field = f;
    node->field_name = q->field;
    node->own = source;
    return ERR_OK;
}
