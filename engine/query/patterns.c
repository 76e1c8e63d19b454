/* Patterns, whose words are looked up in a segment's dictionary: prefix, wildcard, regexp, fuzzy, ranges of terms. */
#include "engine/query/multi_terms.h"
#include "engine/query/print.h"
#include "engine/query/query_ops.h"
#include "engine/query/rewrite_terms.h"
#include "engine/query/weight_set.h"

struct pattern_weight {
    struct set_weight set;
    struct term_matcher matcher;
};

static enum err pattern_words(const struct query *q, float boost, const struct word_sink *s,
                              struct errmsg *em)
{
    return s->pattern(s->self, q, boost, em);
}

static bool pattern_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b) && str_eq(a->multi.pattern, b->multi.pattern)
           && a->multi.case_insensitive == b->multi.case_insensitive && a->multi.exact == b->multi.exact
           && a->multi.flags == b->multi.flags;
}

static enum err pattern_rewrite(struct weight_shared *sh, const struct query *q, const struct query **out,
                                struct errmsg *em)
{
    if (q->multi.rewrite == REWRITE_CONSTANT) {
        return ERR_OK;
    }
    enum err e = expand_terms(sh, q, out, em);
    return e == ERR_OK ? query_rewrite(sh, *out, out, em) : e;
}

static void pattern_key(struct buf *b, const struct query *q)
{
    set_key_str(b, q->multi.pattern);
    buf_printf(b, "%d %d %u %u %u %d", q->multi.case_insensitive, q->multi.exact, q->multi.flags,
               q->multi.max_edits, q->multi.prefix_length, q->multi.transpositions);
}

/* ---- weights ---- */

struct gather {
    uint64_t *bits;
    const struct seg_field *field;
    struct postings *postings; /* scratch */
};

static bool gather_term(void *arg, const struct term_iter *it, UNUSED unsigned edits)
{
    struct gather *g = arg;
    postings_bits(g->postings, g->field, &it->info, g->bits);
    return true;
}

static enum err pattern_fill(const struct weight *w, const struct scorer_request *rq,
                             const struct seg_field *f, uint64_t *bits)
{
    const struct pattern_weight *p = (const struct pattern_weight *)(const void *)w;
    struct gather g = {bits, f, arena_alloc(rq->arena, sizeof(struct postings))};
    return g.postings != NULL && term_matcher_walk(&p->matcher, f, gather_term, &g) ? ERR_OK
                                                                                    : err_no_memory(rq->em);
}

static enum err pattern_scorer(const struct weight *w, const struct scorer_request *rq, struct scorer **out)
{
    const struct seg_field *f = set_field(w, rq->leaf);
    struct set_known known;
    if (f == NULL) {
        return ERR_OK;
    }
    enum err e = set_known_of(w, rq, &known);
    return e == ERR_OK ? set_bits_scorer(w, rq, f, &known, pattern_fill, out) : e;
}

static const struct weight_ops pattern_ops = {.cost = set_cost, .scorer = pattern_scorer};

static enum err weight_by(struct weight_shared *sh, const struct query *q, float boost, enum score_need need,
                          set_key key, const struct weight **out, struct errmsg *em)
{
    struct pattern_weight *w = set_weight_new(sh, sizeof(*w), &pattern_ops, q, boost, need, key);
    *out = &w->set.base;
    return w != NULL ? q->ops->matcher(&w->matcher, q, sh->cx.arena, em) : err_no_memory(em);
}

static enum err pattern_weight(struct weight_shared *sh, const struct query *q, float boost,
                               enum score_need need, const struct weight **out, struct errmsg *em)
{
    return weight_by(sh, q, boost, need, pattern_key, out, em);
}

/* ---- prefix ---- */

static enum err prefix_matcher(struct term_matcher *m, const struct query *q, struct arena *arena,
                               struct errmsg *em)
{
    if (q->multi.case_insensitive) {
        *m = (struct term_matcher){.kind = MATCH_TERMS_DFA};
        return dfa_nocase(&m->dfa, q->multi.pattern, false, arena, em);
    }
    *m = (struct term_matcher){.kind = MATCH_TERMS_PREFIX, .lo = q->multi.pattern};
    return ERR_OK;
}

static void prefix_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_str(out, q->multi.pattern);
    buf_char(out, '*');
}

const struct query_ops q_prefix = {
    .name = "prefix",
    .words = pattern_words,
    .same = pattern_same,
    .print = prefix_print,
    .rewrite = pattern_rewrite,
    .weight = pattern_weight,
    .matcher = prefix_matcher,
    .expensive = "[prefix] queries",
    .expensive_advice = " For optimised prefix queries on text fields please enable [index_prefixes]."};

/* ---- wildcard ---- */

static enum err wildcard_matcher(struct term_matcher *m, const struct query *q, struct arena *arena,
                                 struct errmsg *em)
{
    *m = (struct term_matcher){.kind = MATCH_TERMS_DFA};
    return q->multi.exact ? dfa_nocase(&m->dfa, q->multi.pattern, true, arena, em)
                          : dfa_wildcard(&m->dfa, q->multi.pattern, q->multi.case_insensitive, arena, em);
}

static void wildcard_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_str(out, q->multi.pattern);
}

const struct query_ops q_wildcard = {.name = "wildcard",
                                     .words = pattern_words,
                                     .same = pattern_same,
                                     .print = wildcard_print,
                                     .rewrite = pattern_rewrite,
                                     .weight = pattern_weight,
                                     .matcher = wildcard_matcher,
                                     .expensive = "[wildcard] queries"};

/* ---- regexp ---- */

static enum err regexp_matcher(struct term_matcher *m, const struct query *q, struct arena *arena,
                               struct errmsg *em)
{
    *m = (struct term_matcher){.kind = MATCH_TERMS_DFA};
    return dfa_regexp(&m->dfa, q->multi.pattern, q->multi.flags, q->multi.case_insensitive,
                      q->multi.max_states, arena, em);
}

static void regexp_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_char(out, '/');
    buf_str(out, q->multi.pattern);
    buf_char(out, '/');
}

const struct query_ops q_regexp = {.name = "regexp",
                                   .words = pattern_words,
                                   .same = pattern_same,
                                   .print = regexp_print,
                                   .rewrite = pattern_rewrite,
                                   .weight = pattern_weight,
                                   .matcher = regexp_matcher,
                                   .expensive = "[regexp] queries"};

/* ---- fuzzy ---- */

static enum err fuzzy_matcher(struct term_matcher *m, const struct query *q, struct arena *arena,
                              struct errmsg *em)
{
    *m = (struct term_matcher){.kind = MATCH_TERMS_FUZZY};
    return levenshtein_init(&m->lev, q->multi.pattern, q->multi.max_edits, q->multi.prefix_length,
                            q->multi.transpositions, arena)
               ? ERR_OK
               : err_no_memory(em);
}

static void fuzzy_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_str(out, q->multi.pattern);
    buf_printf(out, "~%u", q->multi.max_edits);
}

/* It expands to its best terms, which are scored (blended). */
const struct query_ops q_fuzzy = {.name = "fuzzy",
                                  .words = pattern_words,
                                  .print = fuzzy_print,
                                  .rewrite = pattern_rewrite,
                                  .weight = pattern_weight,
                                  .matcher = fuzzy_matcher,
                                  .expensive = "[fuzzy] queries"};

/* ---- ranges of terms ---- */

static enum err range_matcher(struct term_matcher *m, const struct query *q, UNUSED struct arena *arena,
                              UNUSED struct errmsg *em)
{
    *m = (struct term_matcher){.kind = MATCH_TERMS_RANGE,
                               .lo = q->term_range.lo,
                               .hi = q->term_range.hi,
                               .lo_inclusive = q->term_range.lo_inclusive,
                               .hi_inclusive = q->term_range.hi_inclusive};
    return ERR_OK;
}

static bool range_same(const struct query *a, const struct query *b)
{
    return query_same_field(a, b) && str_eq(a->term_range.lo, b->term_range.lo)
           && str_eq(a->term_range.hi, b->term_range.hi)
           && a->term_range.lo_inclusive == b->term_range.lo_inclusive
           && a->term_range.hi_inclusive == b->term_range.hi_inclusive;
}

/* Addresses are points. */
static bool range_may(const struct nested_question *n, const struct query *q)
{
    return q->field == NULL || q->field->class->kind != VALUE_ADDRESS || nested_by_field(n, q);
}

/* No bound is an asterisk, and a bound of one asterisk is told from that. */
static void put_bound(const struct query *q, struct str bound, struct buf *out)
{
    if (bound.p == NULL) {
        buf_char(out, '*');
    } else if (str_is(bound, "*")) {
        buf_z(out, "\\*");
    } else {
        query_print_bytes(q, bound, out);
    }
}

static void range_print(const struct query *q, struct buf *out)
{
    query_print_field(q, out);
    buf_char(out, q->term_range.lo_inclusive ? '[' : '{');
    put_bound(q, q->term_range.lo, out);
    buf_z(out, " TO ");
    put_bound(q, q->term_range.hi, out);
    buf_char(out, q->term_range.hi_inclusive ? ']' : '}');
}

static void range_key(struct buf *b, const struct query *q)
{
    set_key_str(b, q->term_range.lo);
    set_key_str(b, q->term_range.hi);
    buf_printf(b, "%d %d", q->term_range.lo_inclusive, q->term_range.hi_inclusive);
}

static enum err range_weight(struct weight_shared *sh, const struct query *q, float boost,
                             enum score_need need, const struct weight **out, struct errmsg *em)
{
    return weight_by(sh, q, boost, need, range_key, out, em);
}

const struct query_ops q_term_range = {.name = "term_range",
                                       .words = pattern_words,
                                       .may = range_may,
                                       .same = range_same,
                                       .print = range_print,
                                       .weight = range_weight,
                                       .matcher = range_matcher,
                                       .expensive = "[range] queries on [text] or [keyword] fields"};
