/* Patterns on a field (prefix, wildcard, regexp, fuzzy), and lists of fields written as patterns. */
#include "engine/query/build.h"

#include "common/base/java_hash.h"
#include "common/base/map.h"
#include "common/base/num.h"
#include "common/base/settings.h"
#include "common/settings/setting_read.h"
#include "engine/query/automaton.h"
#include "engine/query/query_ops.h"

enum err set_rewrite(struct query *q, struct str rewrite, struct errmsg *em)
{
    static const struct {
        const char *prefix;
        enum query_rewrite kind;
    } tops[] = {{"top_terms_blended_freqs_", REWRITE_TOP_TERMS_BLENDED},
                {"top_terms_boost_", REWRITE_TOP_TERMS_BOOST},
                {"top_terms_", REWRITE_TOP_TERMS}};
    if (rewrite.p == NULL) {
        return ERR_OK;
    }
    if (str_is(rewrite, "constant_score") || str_is(rewrite, "constant_score_auto")
        || str_is(rewrite, "constant_score_filter") || str_is(rewrite, "constant_score_boolean")) {
        q->multi.rewrite = REWRITE_CONSTANT;
        return ERR_OK;
    }
    if (str_is(rewrite, "scoring_boolean")) {
        q->multi.rewrite = REWRITE_SCORING_BOOLEAN;
        return ERR_OK;
    }
    for (size_t i = 0; i < ARRAY_LEN(tops); i++) {
        struct str prefix = str_of(tops[i].prefix);
        int32_t n;
        if (!str_starts(rewrite, prefix)) {
            continue;
        }
        if (!num_parse_i32(str_slice(rewrite, prefix.n, rewrite.n), &n) || n < 0) {
            break;
        }
        q->multi.rewrite = tops[i].kind;
        q->multi.rewrite_n = (uint32_t)n;
        return ERR_OK;
    }
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "Failed to parse rewrite_method [%.*s]", STR_ARG(rewrite));
}

enum err check_rewrite(struct str rewrite, struct errmsg *em)
{
    struct query q = {.ops = &q_prefix};
    return set_rewrite(&q, rewrite, em);
}

struct query *pattern_node(struct builder *b, const struct field *f, const struct query_ops *ops,
                           struct str pattern)
{
    const struct query_ops *expensive = b->expensive;
    struct query *q = qnode_new(b, ops);
    if (q != NULL) {
        q->field = f;
        q->field_name = f->path;
        q->multi.pattern = pattern;
    }
    b->expensive = f->class->constant_scores ? expensive : b->expensive;
    return q;
}

/* Between the operators, a wildcard's text takes the form of the index's terms. */
static enum err normalise_wildcard(struct builder *b, const struct analyzer *an, struct str value,
                                   struct str *out, struct errmsg *em)
{
    struct buf to;
    buf_init(&to, NULL, BUF_UNLIMITED);
    enum err e = ERR_OK;
    for (size_t at = 0; at < value.n && e == ERR_OK;) {
        size_t from = at;
        while (at < value.n && value.p[at] != '*' && value.p[at] != '?' && value.p[at] != '\\') {
            at++;
        }
        if (at > from) {
            struct str part;
            e = analyzer_normalize(an, str_slice(value, from, at), b->arena, &part, em);
            if (e == ERR_OK) {
                buf_str(&to, part);
            }
        }
        if (at < value.n) {
            size_t n = value.p[at] == '\\' && at + 1 < value.n ? 2 : 1;
            buf_add(&to, value.p + at, n);
            at += n;
        }
    }
    *out = arena_str(b->arena, buf_view(&to));
    if (e == ERR_OK && (to.failed || out->p == NULL)) {
        e = err_no_memory(em);
    }
    buf_fini(&to);
    return e;
}

static enum err constant_pattern(struct builder *b, const struct field *f, const struct query_ops *ops,
                                 struct str value, bool nocase, bool *done, struct query **out,
                                 struct errmsg *em)
{
    struct str fixed = f->class->constant != NULL ? f->class->constant(f, b->cx->index_name) : STR_NULL;
    const struct dfa *dfa;
    bool match = false;
    *done = f->class->constant != NULL;
    if (!*done) {
        return ERR_OK;
    }
    enum err e = ERR_OK;
    if (ops == &q_prefix) {
        match = fixed.n >= value.n
                && (nocase ? str_eq_nocase(str_slice(fixed, 0, value.n), value) : str_starts(fixed, value));
    } else if (ops == &q_wildcard) {
        e = dfa_wildcard(&dfa, value, nocase, b->arena, em);
        match = e == ERR_OK && dfa_match(dfa, fixed);
    } else {
        e = dfa_regexp(&dfa, value, REGEXP_ALL, nocase, 0, b->arena, em);
        match = e == ERR_OK && dfa_match(dfa, fixed);
    }
    if (e == ERR_OK && !match && f->class == &field_class_meta_index
        && ops != &q_regexp) { /* the index has aliases, too */
        struct str pattern = ops == &q_prefix ? arena_printf(b->arena, "%.*s*", STR_ARG(value)) : value;
        match = pattern.p != NULL && index_named(b->cx, pattern);
    }
    if (e != ERR_OK) {
        return e;
    }
    return field_constant(b, f, match && fixed.p != NULL, out, em);
}

enum err field_pattern(struct builder *b, const struct field *f, const struct query_ops *ops,
                       struct str value, const struct pattern_opts *o, struct query **out, struct errmsg *em)
{
    struct query rewrite;
    bool done = false;
    enum err e = set_rewrite(&rewrite, o->rewrite, em); /* read before anything is asked of the field */
    if (e != ERR_OK) {
        return e;
    }
    e = ops == &q_regexp ? ERR_OK : constant_pattern(b, f, ops, value, o->case_insensitive, &done, out, em);
    if (e != ERR_OK || done) {
        return e;
    }
    if (!f->class->takes_patterns) {
        return err_query_shard(
            b, em, "Can only use %s queries on keyword%s fields - not on [%.*s] which is of type [%s]",
            ops->name, ops == &q_regexp ? " and text" : ", text and wildcard", STR_ARG(f->path),
            field_shown_type(f));
    }
    if (f->class->refuse_pattern != NULL && (e = f->class->refuse_pattern(f, ops->name, em)) != ERR_OK) {
        return e;
    }
    if (!f->index && f->path.p[0] != '_') {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot search on field [%.*s] since it is not indexed.",
                       STR_ARG(f->path));
    }
    if (ops == &q_prefix && hidden_prefix_takes(f, value)) {
        return hidden_prefix(b, f, value, o, out, em);
    }
    if (ops == &q_wildcard) {
        const struct analyzer *an = f->class->is_analysed ? f->search_analyzer : f->normalizer;
        if (an != NULL) {
            e = normalise_wildcard(b, an, value, &value, em);
        }
    } else {
        e = field_term_bytes(b, f, value, &value, em);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct query *q = *out = pattern_node(b, f, ops, value);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->multi.case_insensitive = o->case_insensitive;
    q->multi.flags = o->flags;
    q->multi.max_states = o->max_states;
    q->multi.rewrite = REWRITE_CONSTANT;
    if (ops == &q_regexp) {
        e = regexp_check(value, o->flags, o->max_states, b->arena, em);
    }
    return e == ERR_OK && !f->class->constant_scores ? set_rewrite(q, o->rewrite, em) : e;
}

enum err field_fuzzy(struct builder *b, const struct field *f, struct str term, const struct fuzzy_opts *o,
                     struct query **out, struct errmsg *em)
{
    if (f->class->takes_patterns && !f->index && f->path.p[0] != '_') {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "Cannot search on field [%.*s] since it is not indexed.",
                       STR_ARG(f->path));
    }
    if (!f->class->takes_patterns) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT,
                       "Can only use fuzzy queries on keyword and text fields - not on [%.*s] which is of "
                       "type [%s]",
                       STR_ARG(f->path), field_shown_type(f));
    }
    if (f->class->refuse_pattern != NULL) {
        enum err refused = f->class->refuse_pattern(f, "fuzzy", em);
        if (refused != ERR_OK) {
            return refused;
        }
    }
    uint32_t edits;
    enum err e = fuzziness_distance(&o->fuzziness, term, &edits, em);
    e = e == ERR_OK ? field_term_bytes(b, f, term, &term, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    if (o->prefix_length < 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "prefixLength cannot be negative.");
    }
    if (o->max_expansions <= 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "maxExpansions must be positive.");
    }
    struct query *q = *out = pattern_node(b, f, &q_fuzzy, term);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->multi.max_edits = edits;
    q->multi.prefix_length = (uint32_t)o->prefix_length;
    q->multi.max_expansions = (uint32_t)o->max_expansions;
    q->multi.transpositions = o->transpositions;
    q->multi.rewrite = REWRITE_TOP_TERMS_BLENDED;
    q->multi.rewrite_n = (uint32_t)o->max_expansions;
    e = set_rewrite(q, o->rewrite, em);
    q->multi.rewrite = f->class->constant_scores ? REWRITE_CONSTANT : q->multi.rewrite;
    return e;
}

/* ---- lists of fields ---- */

/* Fields that patterns and names have become, each once, with the product of its boosts. */
struct resolved {
    struct field_boosts list;
    struct map at; /* of each name: its place in the list, and 1 */
};

static enum err put_field(struct builder *b, struct resolved *r, struct str name, float boost,
                          struct errmsg *em)
{
    uintptr_t at = (uintptr_t)map_get(&r->at, name);
    if (at > 0) {
        r->list.v[at - 1].boost *= boost;
        return ERR_OK;
    }
    struct field_boost *v = arena_grow(b->arena, r->list.v, r->list.n, &r->list.cap, sizeof(*v));
    if (v == NULL || !map_put(&r->at, name, (void *)(uintptr_t)(r->list.n + 1))) {
        return err_no_memory(em);
    }
    r->list.v = v;
    v[r->list.n++] = (struct field_boost){name, boost};
    return ERR_OK;
}

static enum err check_count(const struct builder *b, const struct resolved *r, struct str pattern,
                            struct errmsg *em)
{
    if (r->list.n <= b->cx->clauses_max) {
        return ERR_OK;
    }
    struct str from = pattern.p != NULL ? arena_printf(b->arena, " for [%.*s]", STR_ARG(pattern)) : STR("");
    return err_set(em, ERR_ILLEGAL_ARGUMENT,
                   "field expansion%.*s matches too many fields, limit: %u, got: %zu", STR_ARG(from),
                   b->cx->clauses_max, r->list.n);
}

/* With a suffix, the field of that name is preferred where there is one. */
static enum err with_suffix(struct builder *b, struct str name, struct str suffix, struct str *out,
                            struct errmsg *em)
{
    *out = name;
    if (suffix.n == 0) {
        return ERR_OK;
    }
    struct str both = arena_printf(b->arena, "%.*s%.*s", STR_ARG(name), STR_ARG(suffix));
    if (both.p == NULL) {
        return err_no_memory(em);
    }
    if (build_field_if(b, both) != NULL) {
        *out = both;
    }
    return ERR_OK;
}

static enum err expand_pattern(struct builder *b, const struct field_boost *in, struct str suffix,
                               struct resolved *out, struct errmsg *em)
{
    const struct field **fields;
    struct resolved own = {0};
    size_t n;
    enum err e = ERR_OK;
    map_init(&own.at, b->arena);
    if (!mapping_match(b->cx->mapping, in->pattern, b->arena, &fields, &n)) {
        return err_no_memory(em);
    }
    fields_order(fields, n); /* those that share a bucket of the map below come in the set's order */
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        const struct field *f = fields[i]->class->is_alias ? fields[i]->alias_of : fields[i];
        struct str name = f->path;
        if (name.p[0] == '_' || f->class->text == FIELD_TEXT_NONE) {
            continue;
        }
        e = with_suffix(b, name, suffix, &name, em);
        e = e == ERR_OK ? put_field(b, &own, name, in->boost, em) : e;
    }
    for (size_t i = 0; i < own.list.n && e == ERR_OK; i++) {
        e = put_field(b, out, own.list.v[i].pattern, own.list.v[i].boost, em);
    }
    return e;
}

static struct str name_of(const void *item)
{
    return ((const struct field_boost *)item)->pattern;
}

enum err resolve_fields(struct builder *b, const struct field_boosts *in, struct str suffix, bool alone,
                        struct field_boosts *out, struct errmsg *em)
{
    struct resolved all = {0};
    enum err e = ERR_OK;
    map_init(&all.at, b->arena);
    for (size_t i = 0; i < in->n && e == ERR_OK; i++) {
        if (str_find(in->v[i].pattern, '*', 0) != SIZE_MAX) {
            e = expand_pattern(b, &in->v[i], suffix, &all, em);
        } else {
            struct str name;
            e = with_suffix(b, in->v[i].pattern, suffix, &name, em);
            if (e == ERR_OK && build_field_if(b, name) != NULL) {
                e = put_field(b, &all, name, in->v[i].boost, em);
            }
        }
    }
    e = e == ERR_OK ? check_count(b, &all, alone ? in->v[0].pattern : STR_NULL, em) : e;
    *out = all.list;
    /* Clauses, and the field whose error is reported, are in the order of Elasticsearch's map. */
    java_map_sort(out->v, out->n, sizeof(*out->v), name_of, java_map_buckets(out->n));
    return e;
}

enum err default_fields(struct builder *b, struct field_boosts *out, bool *all, struct errmsg *em)
{
    struct str *names = NULL;
    uint32_t n = 0;
    struct resolved own = {0};
    map_init(&own.at, b->arena);
    if (!setting_list(b->cx->index_settings, SET_INDEX_QUERY_DEFAULT_FIELD, b->arena, &names, &n)) {
        return err_no_memory(em);
    }
    *all = n == 0 || (n == 1 && str_is(names[0], "*"));
    for (uint32_t i = 0; i < MAX_OF(n, 1U); i++) {
        struct str name = n == 0 ? STR("*") : names[i];
        float boost = 1;
        size_t hat = str_find(name, '^', 0);
        if (hat != SIZE_MAX && num_parse_float(str_slice(name, hat + 1, name.n), &boost)) {
            name = str_slice(name, 0, hat);
        }
        enum err e = put_field(b, &own, name, boost, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    *out = own.list;
    return ERR_OK;
}
