/* Analysed text becomes queries: MatchQueryParser of Elasticsearch over Lucene's QueryBuilder. */
#include "engine/query/build.h"

#include "common/base/sort_items.h"
#include "engine/mapping/completion_paths.h"
#include "engine/query/build_graph.h"

#include <math.h>

void text_opts_init(struct text_opts *o)
{
    *o = (struct text_opts){.synonyms_phrase = true, .max_expansions = 50, .cutoff = INFINITY};
    o->fuzzy_opts.transpositions = true;
    o->fuzzy_opts.max_expansions = 50;
}

enum err build_analyzer(struct builder *b, const char *query, struct str name, const struct analyzer **out,
                        struct errmsg *em)
{
    *out = analysis_analyzer(mapping_analysis(b->cx->mapping), name);
    if (*out == NULL) {
        enum err e = analyzer_not_built(name, em);
        return e != ERR_OK ? e
                           : err_query_shard(b, em, "[%s] analyzer [%.*s] not found", query, STR_ARG(name));
    }
    return ERR_OK;
}

enum err text_zero_terms(struct text_run *r, struct query **out)
{
    *out = NULL;
    if (r->o->zero_terms_null) {
        return ERR_OK;
    }
    return r->o->zero_terms_all
               ? qnode_all(r->b, out, r->em)
               : qnode_none(r->b, out, r->em, "Matching no documents because no terms present");
}

/* A lenient query matches nothing where it would fail. */
static enum err forgive(struct text_run *r, const struct field *f, enum err e, struct query **out)
{
    if (e == ERR_OK || e == ERR_NO_MEMORY || !r->o->lenient) {
        return e;
    }
    return qnode_failed(r->b, f->path, out, r->em);
}

/* ---- one position ---- */

static enum err one_term(struct text_run *r, const struct field *f, struct str text, struct query **out)
{
    enum err e;
    if (r->o->fuzzy && r->o->kind != MATCH_PHRASE && r->o->kind != MATCH_PHRASE_PREFIX) {
        e = field_fuzzy(r->b, f, text, &r->o->fuzzy_opts, out, r->em);
        /* no edit allowed: the term itself, scored the same way */
        if (e == ERR_OK && (*out)->multi.max_edits == 0) {
            return e;
        }
        return forgive(r, f, e, out);
    }
    return forgive(r, f, field_term_text(r->b, f, text, out, r->em), out);
}

static enum err prefix_of(struct text_run *r, const struct field *f, struct str text, struct query **out)
{
    struct pattern_opts o = {0};
    return forgive(r, f, field_pattern(r->b, f, &q_prefix, text, &o, out, r->em), out);
}

/* What the cutoff says; NULL in *out: nothing. */
static enum err cutoff_of(struct text_run *r, struct common_terms **out)
{
    *out = NULL;
    if (r->o->kind != MATCH_BOOLEAN || r->o->cutoff == INFINITY) {
        return ERR_OK;
    }
    *out = ARENA_NEW(r->b->arena, struct common_terms);
    if (*out == NULL) {
        return err_no_memory(r->em);
    }
    **out = (struct common_terms){.cutoff = r->o->cutoff};
    return ERR_OK;
}

/* A query of terms alone tells common ones from rare ones where a cutoff was given. */
static enum err with_cutoff(struct text_run *r, struct query *q)
{
    bool terms = q != NULL && q->ops == &q_bool;
    for (uint32_t i = 0; terms && i < q->boolean.n; i++) {
        terms = q->boolean.v[i].query->ops == &q_term;
    }
    return terms ? cutoff_of(r, &q->boolean.common) : ERR_OK;
}

/* The same words in several fields: cross_fields. */
static enum err blended(struct text_run *r, const struct str *terms, uint32_t n, struct query **out)
{
    struct query **v = ARENA_ARRAY(r->b->arena, struct query *, r->group->n * n + 1);
    struct blended_term *terms_of = ARENA_ARRAY(r->b->arena, struct blended_term, r->group->n * n);
    uint32_t n_v = 0, n_terms = 0;
    if (v == NULL || terms_of == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; i < r->group->n; i++) {
        const struct field *f = build_field(r->b, r->group->v[i].pattern);
        for (uint32_t k = 0; k < n; k++) {
            struct query *q;
            enum err e = forgive(r, f, field_term_text(r->b, f, terms[k], &q, r->em), &q);
            if (e != ERR_OK) {
                return e;
            }
            float boost = r->group->v[i].boost * q->boost;
            if (q->ops == &q_term) {
                terms_of[n_terms++] = (struct blended_term){q->field, q->term.term, boost};
                continue;
            }
            if (q->ops != &q_match_none) {
                q->boost = boost;
            }
            v[n_v++] = q;
        }
    }
    if (n_terms > 0) {
        struct query *q = qnode_new(r->b, &q_blended);
        struct blended *own = ARENA_NEW(r->b->arena, struct blended);
        if (q == NULL || own == NULL) {
            return err_no_memory(r->em);
        }
        *own = (struct blended){.v = terms_of, .n = n_terms, .tie_breaker = r->tie_breaker};
        q->own = own;
        enum err e = cutoff_of(r, &own->common);
        if (e != ERR_OK) {
            return e;
        }
        v[n_v++] = q;
    }
    return build_dis_max(r->b, v, n_v, r->tie_breaker, out, r->em);
}

typedef enum err (*group_fn)(struct text_run *r, const struct field *f, const void *arg, struct query **out);

/* Queries that do not blend stand side by side, a field each. */
static enum err over_group(struct text_run *r, group_fn make, const void *arg, struct query **out)
{
    if (r->group == NULL) {
        return make(r, r->field, arg, out);
    }
    struct query **v = ARENA_ARRAY(r->b->arena, struct query *, r->group->n);
    uint32_t n = 0;
    if (v == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; i < r->group->n; i++) {
        struct query *q = NULL;
        enum err e = make(r, build_field(r->b, r->group->v[i].pattern), arg, &q);
        if (e == ERR_OK && q != NULL) {
            e = qnode_boost(r->b, &q, r->group->v[i].boost, r->em);
            v[n++] = q;
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = NULL;
    return n == 0 ? ERR_OK : build_dis_max(r->b, v, n, r->tie_breaker, out, r->em);
}

static enum err group_prefix(struct text_run *r, const struct field *f, const void *arg, struct query **out)
{
    return prefix_of(r, f, *(const struct str *)arg, out);
}

static int cmp_str(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

static enum err synonyms(struct text_run *r, const struct field *f, const struct str *terms, uint32_t n,
                         struct query **out)
{
    struct query *q = *out = qnode_new(r->b, &q_synonym);
    struct str *sorted = ARENA_ARRAY(r->b->arena, struct str, n);
    if (q == NULL || sorted == NULL) {
        return err_no_memory(r->em);
    }
    memcpy(sorted, terms, n * sizeof(*terms));
    sort_items(sorted, n, sizeof(*sorted), cmp_str);
    uint32_t distinct = 1;
    for (uint32_t i = 1; i < n; i++) {
        if (!str_eq(sorted[i], sorted[distinct - 1])) {
            sorted[distinct++] = sorted[i];
        }
    }
    q->field = f;
    q->field_name = f->path;
    q->terms.v = sorted;
    q->terms.n = distinct;
    return ERR_OK;
}

enum err text_position(struct text_run *r, const struct str *terms, uint32_t n, bool prefix,
                       struct query **out)
{
    if (n == 1 && prefix) {
        return over_group(r, group_prefix, &terms[0], out);
    }
    if (r->group != NULL) {
        return blended(r, terms, n, out);
    }
    return n == 1 ? one_term(r, r->field, terms[0], out) : synonyms(r, r->field, terms, n, out);
}

/* ---- phrases ---- */

bool text_has_positions(const struct field *f)
{
    return f->class->is_analysed && f->index && f->options >= INDEX_POSITIONS;
}

static enum err check_positions(struct text_run *r, const struct field *f)
{
    if (!text_has_positions(f) && f->class != &field_class_completion) {
        return err_set(r->em, ERR_ILLEGAL_STATE,
                       "field:[%.*s] was indexed without position data; cannot run PhraseQuery",
                       STR_ARG(f->path));
    }
    return ERR_OK;
}

static enum err phrase_node(struct text_run *r, const struct field *f, const struct text_tokens *t,
                            struct query **out)
{
    struct phrase_term *v = ARENA_ARRAY(r->b->arena, struct phrase_term, t->n);
    struct str *terms = ARENA_ARRAY(r->b->arena, struct str, t->n);
    struct query *q = *out = qnode_new(r->b, &q_phrase);
    uint32_t n = 0;
    if (v == NULL || terms == NULL || q == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < t->n; i++) {
        terms[i] = t->v[i].text;
        if (n > 0 && v[n - 1].position == t->v[i].position) {
            v[n - 1].n++;
        } else {
            v[n++] = (struct phrase_term){t->v[i].position, &terms[i], 1};
        }
    }
    q->field = f;
    q->field_name = f->path;
    q->phrase.v = v;
    q->phrase.n = n;
    q->phrase.slop = (uint32_t)r->slop;
    q->phrase.max_expansions = (uint32_t)r->o->max_expansions;
    return ERR_OK;
}

/* The last position's terms are beginnings of words. */
static enum err prefix_phrase(struct text_run *r, const struct field *f, const struct text_tokens *t,
                              struct query **out)
{
    enum err e = phrase_node(r, f, t, out);
    if (e != ERR_OK) {
        return e;
    }
    struct query *q = *out;
    if (!hidden_phrase_prefix_takes(r, f, t)) {
        q->phrase.prefix_last = true;
        return ERR_OK;
    }
    q->phrase.last_field = f->prefix_field;
    return q->phrase.n > 1 ? ERR_OK
                           : synonyms(r, f->prefix_field, q->phrase.v[0].terms, q->phrase.v[0].n, out);
}

static enum err phrase_on(struct text_run *r, const struct field *f, const struct text_tokens *t, bool prefix,
                          struct query **out)
{
    bool one = t->n == 0 || t->v[0].position == t->v[t->n - 1].position;
    enum err e = prefix && one ? ERR_OK : check_positions(r, f);
    if (e == ERR_OK && !f->class->is_analysed) {
        e = err_set(r->em, ERR_ILLEGAL_ARGUMENT,
                    "Can only use phrase %squeries on text fields - not on [%.*s] which is of type [%s]",
                    prefix ? "prefix " : "", STR_ARG(f->path), field_shown_type(f));
    }
    if (e != ERR_OK) {
        return forgive(r, f, e, out);
    }
    if (r->slop < 0) {
        return forgive(r, f, err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Slop must be >= 0, got %d", (int)r->slop),
                       out);
    }
    if (prefix) {
        return prefix_phrase(r, f, t, out);
    }
    struct text_tokens pairs;
    if (!hidden_phrase_takes(r, f, t)) {
        return phrase_node(r, f, t, out);
    }
    e = hidden_phrase_tokens(r, t, &pairs);
    return e == ERR_OK ? phrase_node(r, f->phrase_field, &pairs, out) : e;
}

struct phrase_arg {
    const struct text_tokens *tokens;
    bool prefix;
};

static enum err group_phrase(struct text_run *r, const struct field *f, const void *arg, struct query **out)
{
    const struct phrase_arg *a = arg;
    return phrase_on(r, f, a->tokens, a->prefix, out);
}

/* ---- the whole ---- */

static enum err multi_boolean(struct text_run *r, const struct text_tokens *t, bool and, bool prefix,
                              struct query **out)
{
    struct bool_build bb = {0};
    struct str *terms = ARENA_ARRAY(r->b->arena, struct str, t->n);
    if (terms == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0, next; i < t->n; i = next) {
        for (next = i; next < t->n && t->v[next].position == t->v[i].position; next++) {
            terms[next - i] = t->v[next].text;
        }
        struct query *q = NULL;
        struct str *own = ARENA_ARRAY(r->b->arena, struct str, next - i);
        if (own == NULL) {
            return err_no_memory(r->em);
        }
        memcpy(own, terms, (next - i) * sizeof(*own));
        enum err e = text_position(r, own, next - i, prefix && next == t->n, &q);
        if (e == ERR_OK && q != NULL) {
            e = bool_add(r->b, &bb, and? OCCUR_MUST : OCCUR_SHOULD, q, r->em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    return bool_done(r->b, &bb, out, r->em);
}

enum err text_query(struct text_run *r, const struct text_tokens *t, enum match_kind kind, bool and,
                    struct query **out)
{
    struct phrase_arg phrase = {t, kind == MATCH_PHRASE_PREFIX};
    *out = NULL;
    if (t->n == 0) {
        return ERR_OK;
    }
    if (t->n == 1 && kind != MATCH_PHRASE_PREFIX) {
        return text_position(r, &t->v[0].text, 1, kind == MATCH_BOOL_PREFIX, out);
    }
    if (t->graph && t->n > 1) {
        return kind == MATCH_PHRASE || kind == MATCH_PHRASE_PREFIX ? text_graph_phrase(r, t, kind, out)
                                                                   : text_graph_boolean(r, t, kind, and, out);
    }
    if (kind == MATCH_PHRASE_PREFIX || (kind == MATCH_PHRASE && t->positions > 1)) {
        return over_group(r, group_phrase, &phrase, out);
    }
    if (t->positions == 1) { /* synonyms at one position */
        struct str *terms = ARENA_ARRAY(r->b->arena, struct str, t->n);
        if (terms == NULL) {
            return err_no_memory(r->em);
        }
        for (uint32_t i = 0; i < t->n; i++) {
            terms[i] = t->v[i].text;
        }
        return text_position(r, terms, t->n, false, out);
    }
    return multi_boolean(r, t, and, kind == MATCH_BOOL_PREFIX, out);
}

enum err text_analyse(struct builder *b, const struct analyzer *an, struct str text, bool no_increments,
                      struct text_tokens *out, struct errmsg *em)
{
    struct token_list list;
    token_list_init(&list, b->arena);
    enum err e = analyzer_run(an, text, &list, em);
    if (e != ERR_OK) {
        return e;
    }
    *out = (struct text_tokens){.v = ARENA_ARRAY(b->arena, struct text_token, list.n), .n = (uint32_t)list.n};
    if (out->v == NULL) {
        return err_no_memory(em);
    }
    out->end_gap = list.end_pos_inc;
    out->open_end = list.n > 0 && list.v[list.n - 1].end == list.end_offset && list.end_pos_inc == 0;
    int32_t position = -1;
    for (size_t i = 0; i < list.n; i++) {
        int32_t inc = list.v[i].pos_inc;
        if (inc > 0) {
            out->positions += inc;
        }
        position += no_increments ? (inc > 0 || i == 0 ? 1 : 0) : inc;
        out->v[i] = (struct text_token){list.v[i].text, position, MAX_OF(list.v[i].pos_len, 1)};
        out->graph = out->graph || (list.v[i].pos_len > 1 && !list.no_graph);
    }
    return ERR_OK;
}

/* A text as a completion field's own analyzer gives it: whole paths, all at one position. */
static enum err analyse_completion(struct text_run *r, struct str text, struct text_tokens *out)
{
    const struct field *f = r->field;
    struct completion_options o = {f->search_analyzer, f->preserve_separators,
                                   f->preserve_position_increments};
    const struct str *paths;
    uint32_t n;
    enum err e = completion_paths(&o, text, r->b->arena, &paths, &n, r->em);
    if (e != ERR_OK) {
        return e;
    }
    *out = (struct text_tokens){
        .v = ARENA_ARRAY(r->b->arena, struct text_token, n), .n = n, .positions = 1, .open_end = true};
    if (out->v == NULL) {
        return err_no_memory(r->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        out->v[i] = (struct text_token){paths[i], 0, 1};
    }
    return ERR_OK;
}

const struct analyzer *text_search_analyzer(const struct text_run *r, const struct field *f)
{
    if (r->o->analyzer != NULL) {
        return r->o->analyzer;
    }
    bool quoted = r->o->kind == MATCH_PHRASE || r->o->kind == MATCH_PHRASE_PREFIX;
    if (f->class->text == FIELD_TEXT_KEYWORD) {
        return f->split_on_whitespace && !quoted ? f->search_analyzer : f->normalizer;
    }
    if (f->class->text != FIELD_TEXT_FULL) {
        return NULL;
    }
    return quoted && f->search_quote_analyzer != NULL ? f->search_quote_analyzer : f->search_analyzer;
}

enum err text_run_on(struct text_run *r, struct str text, struct query **out)
{
    struct text_tokens t = {0};
    const struct analyzer *an = text_search_analyzer(r, r->field);
    enum err e;
    if (an == NULL) { /* as one exact term */
        struct text_token whole = {text, 0, 1};
        t = (struct text_tokens){.v = &whole, .n = 1, .positions = 1};
        bool prefix = r->o->kind == MATCH_BOOL_PREFIX && r->field->class->is_string;
        if (r->o->kind == MATCH_PHRASE_PREFIX) {
            return text_query(r, &t, MATCH_PHRASE_PREFIX, r->o->and, out);
        }
        struct str *copy = ARENA_NEW(r->b->arena, struct str);
        if (copy == NULL) {
            return err_no_memory(r->em);
        }
        *copy = text;
        return text_position(r, copy, 1, prefix, out);
    }
    bool paths = r->field->class == &field_class_completion && r->o->analyzer == NULL;
    e = paths ? analyse_completion(r, text, &t)
              : text_analyse(r->b, an, text, r->o->no_position_increments, &t, r->em);
    if (e == ERR_OK) {
        enum match_kind kind = r->o->kind == MATCH_BOOL_PREFIX && !t.open_end ? MATCH_BOOLEAN : r->o->kind;
        e = text_query(r, &t, kind, r->o->and, out);
    }
    e = e == ERR_OK ? with_cutoff(r, *out) : e;
    if (e == ERR_OK && *out == NULL) {
        e = text_zero_terms(r, out);
    }
    return e;
}

enum err build_text(struct builder *b, struct str field, struct str text, const struct text_opts *o,
                    struct query **out, struct errmsg *em)
{
    struct text_run r = {.b = b, .o = o, .em = em, .slop = o->slop};
    r.field = build_field(b, field);
    *out = NULL;
    if (r.field == NULL) {
        return qnode_none(b, out, em, "unmapped fields [%.*s]", STR_ARG(field));
    }
    if (r.field->class->text == FIELD_TEXT_NONE) {
        return forgive(&r, r.field,
                       err_set(em, ERR_ILLEGAL_ARGUMENT,
                               "Field [%.*s] of type [%s] does not support match queries",
                               STR_ARG(r.field->path), field_shown_type(r.field)),
                       out);
    }
    return text_run_on(&r, text, out);
}
