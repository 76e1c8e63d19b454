#include "engine/query/build.h"

#include "common/base/arena_list.h"
#include "common/base/num.h"
#include "common/base/settings.h"
#include "common/base/utf8.h"
#include "common/settings/setting_read.h"
#include "engine/query/query_ops.h"

#include <stdarg.h>
#include <stdio.h>

static struct query_node_settings node_settings = {UINT32_MAX, true, false};

void query_node_settings_set(const struct query_node_settings *s)
{
    node_settings = *s;
}

const struct query_node_settings *query_node_settings(void)
{
    return &node_settings;
}

enum err build_regex_length(const struct builder *b, struct str regex, const char *query, struct errmsg *em)
{
    int64_t most = setting_i64(b->cx->index_settings, SET_INDEX_MAX_REGEX_LENGTH);
    size_t units = utf16_length(regex);
    return (int64_t)units <= most
               ? ERR_OK
               : err_set(
                   em, ERR_ILLEGAL_ARGUMENT,
                   "The length of regex [%zu] used in the %s has exceeded the allowed maximum of [%lld]. "
                   "This maximum can be set by changing the [index.max_regex_length] index level setting.",
                   units, query, (long long)most);
}

struct query *qnode_new(struct builder *b, const struct query_ops *ops)
{
    struct query *q = ARENA_NEW(b->arena, struct query);
    if (!b->cx->allow_expensive && b->expensive == NULL && ops->expensive != NULL) {
        b->expensive = ops;
    }
    if (q != NULL) {
        q->ops = ops;
        q->boost = 1;
    }
    return q;
}

enum err qnode_none(struct builder *b, struct query **out, struct errmsg *em, const char *fmt, ...)
{
    struct query *q = qnode_new(b, &q_match_none);
    if (q != NULL) {
        va_list ap;
        va_start(ap, fmt);
        q->none.reason = arena_vprintf(b->arena, fmt, ap);
        va_end(ap);
    }
    *out = q;
    return q != NULL && q->none.reason.p != NULL ? ERR_OK : err_no_memory(em);
}

enum err qnode_failed(struct builder *b, struct str field, struct query **out, struct errmsg *em)
{
    const char *reason = err_reason(em);
    const char *type = em != NULL && err_is(em) ? err_type(err_code(em)) : "exception";
    err_clear(em); /* forgiven */
    return qnode_none(b, out, em, "failed [%.*s] query, caused by %s:[%s]", STR_ARG(field), type, reason);
}

enum err qnode_all(struct builder *b, struct query **out, struct errmsg *em)
{
    *out = qnode_new(b, &q_match_all);
    return *out != NULL ? ERR_OK : err_no_memory(em);
}

enum err qnode_term(struct builder *b, const struct field *f, struct str term, struct query **out,
                    struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_term);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->field = f;
    q->field_name = f->path;
    q->term.term = term;
    return ERR_OK;
}

enum err qnode_boost(struct builder *b, struct query **q, float boost, struct errmsg *em)
{
    if (boost == 1) {
        return ERR_OK;
    }
    if ((*q)->boost == 1) {
        (*q)->boost = boost;
        return ERR_OK;
    }
    struct query *outer = qnode_new(b, &q_boost);
    if (outer == NULL) {
        return err_no_memory(em);
    }
    outer->boost = boost;
    outer->one.child = *q;
    *q = outer;
    return ERR_OK;
}

enum err qnode_constant(struct builder *b, struct query *child, struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_constant);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->one.child = child;
    return ERR_OK;
}

enum err bool_add(struct builder *b, struct bool_build *bb, enum bool_occur occur, const struct query *q,
                  struct errmsg *em)
{
    if (bb->n >= b->cx->clauses_max) {
        return err_set(em, ERR_TOO_MANY_CLAUSES, "maxClauseCount is set to %u", b->cx->clauses_max);
    }
    return ARENA_ADD(b->arena, bb->v, bb->n, bb->cap, (struct bool_clause){occur, q}) ? ERR_OK
                                                                                      : err_no_memory(em);
}

enum err bool_done(struct builder *b, const struct bool_build *bb, struct query **out, struct errmsg *em)
{
    struct query *q = *out = qnode_new(b, &q_bool);
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->boolean.v = bb->v;
    q->boolean.n = (uint32_t)bb->n;
    q->boolean.min_should = bb->min_should;
    return ERR_OK;
}

static enum err parse_int(struct str s, int32_t *out, struct errmsg *em)
{
    if (num_parse_i32(s, out)) {
        return ERR_OK;
    }
    return err_set(em, ERR_NUMBER_FORMAT, "For input string: \"%.*s\"", STR_ARG(s));
}

static enum err simple_min_should(int32_t optional, struct str spec, int32_t *out, struct errmsg *em)
{
    int32_t calc;
    enum err e;
    if (str_find(spec, '%', 0) != SIZE_MAX) {
        int32_t percent;
        e = parse_int(str_slice(spec, 0, spec.n - 1), &percent, em);
        if (e != ERR_OK) {
            return e;
        }
        float part = (float)((int64_t)optional * percent) * (1 / 100.0F);
        *out = part < 0 ? MAX_OF(optional + (int32_t)part, 0) : (int32_t)part;
        return ERR_OK;
    } else {
        e = parse_int(spec, &calc, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    int64_t result = calc < 0 ? (int64_t)optional + calc : calc;
    *out = result < 0 ? 0 : (int32_t)MIN_OF(result, INT32_MAX);
    return ERR_OK;
}

static bool java_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The text without blanks beside '<': a blank is then what parts conditions. */
static struct str without_spaces_at_less(struct str spec, struct arena *arena)
{
    char *to = arena_alloc(arena, spec.n + 1);
    size_t n = 0;
    for (size_t i = 0; to != NULL && i < spec.n; i++) {
        size_t next = i;
        while (next < spec.n && java_space(spec.p[next])) {
            next++;
        }
        if (next > i && next < spec.n && spec.p[next] == '<') {
            i = next;
        }
        to[n++] = spec.p[i];
        bool less = spec.p[i] == '<';
        while (less && i + 1 < spec.n && java_space(spec.p[i + 1])) {
            i++;
        }
    }
    return to != NULL ? str_mk(to, n) : STR_NULL;
}

/* One condition, "2<75%": *decided when its bound is not passed. What stands behind a second '<' says nothing. */
static enum err one_condition(int32_t optional, struct str part, int32_t *out, bool *decided,
                              struct errmsg *em)
{
    struct str value, more, bound = str_cut(part, '<', &value);
    int32_t most;
    if (str_is(part, "<")) { /* as Java splits it: into nothing */
        return err_set(em, ERR_ARRAY_BOUNDS, "Index 0 out of bounds for length 0");
    }
    enum err e = parse_int(bound, &most, em);
    if (e != ERR_OK) {
        return e;
    }
    *decided = optional <= most;
    if (*decided) {
        return ERR_OK;
    }
    if (value.p == NULL || value.n == 0) {
        return err_set(em, ERR_ARRAY_BOUNDS, "Index 1 out of bounds for length 1");
    }
    value = str_cut(value, '<', &more);
    return simple_min_should(optional, value, out, em);
}

/* "2<75% 9<-3": the last condition whose bound lies below the number of clauses decides. */
static enum err conditional_min_should(int32_t optional, struct str spec, int32_t *out, struct errmsg *em)
{
    bool decided = false;
    *out = optional;
    for (struct str rest = spec; rest.p != NULL && !decided;) {
        struct str part = str_cut(rest, ' ', &rest);
        int32_t n = optional;
        enum err e = one_condition(optional, part, &n, &decided, em);
        if (e != ERR_OK) {
            return e;
        }
        *out = decided ? *out : n;
    }
    return ERR_OK;
}

enum err min_should_match(struct arena *arena, int32_t optional, struct str spec, int32_t *out,
                          struct errmsg *em)
{
    spec = str_trim(spec);
    if (str_find(spec, '<', 0) != SIZE_MAX) {
        spec = without_spaces_at_less(spec, arena);
        return spec.p != NULL ? conditional_min_should(optional, spec, out, em) : err_no_memory(em);
    }
    return simple_min_should(optional, spec, out, em);
}

enum err apply_min_should(struct builder *b, struct query **q, struct str spec, struct errmsg *em)
{
    if (spec.p == NULL || *q == NULL || (*q)->ops != &q_bool) {
        return ERR_OK;
    }
    if ((*q)->boolean.common != NULL) {
        (*q)->boolean.common->min_should = spec;
        return ERR_OK;
    }
    int32_t optional = 0, n;
    for (uint32_t i = 0; i < (*q)->boolean.n; i++) {
        optional += (*q)->boolean.v[i].occur == OCCUR_SHOULD ? 1 : 0;
    }
    enum err e = min_should_match(b->arena, optional, spec, &n, em);
    if (e == ERR_OK && n > 0) {
        (*q)->boolean.min_should = n;
    }
    return e;
}

enum err err_query_shard(struct builder *b, struct errmsg *em, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    enum err e = err_setv(em, ERR_QUERY_SHARD, 0, 0, fmt, ap);
    va_end(ap);
    err_about_index(em, b->cx->index_name, b->cx->index_uuid);
    return e;
}

static bool stands_alone(const struct builder *b, enum err e)
{
    return e == ERR_QUERY_SHARD || e == ERR_PARSING || e == ERR_NO_MEMORY || e == ERR_CANCELLED
           || (b->raw_error && !b->cx->one_phase);
}

enum err build_dsl(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    *out = NULL;
    if (++b->depth > b->cx->depth_max && b->cx->depth_max > 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "The query is nested deeper than %u levels",
                       b->cx->depth_max);
    }
    enum err e = d->type->build(b, d, out, em);
    b->depth--;
    if (e == ERR_OK && (*out)->ops == &q_match_none && (*out)->field != NULL && d->type->none != NULL) {
        (*out)->none.reason = STR("User requested \"match_none\" query.");
    }
    if (e == ERR_OK && (*out)->ops != &q_match_none) {
        if ((*out)->ops == &q_phrase && (*out)->phrase.last_field != NULL) {
            (*out)->phrase.boosted_span = d->boost != 1;
        }
        e = qnode_boost(b, out, d->boost, em);
    }
    if (e == ERR_OK && d->name.p != NULL) {
        if ((*out)->name.p != NULL) { /* a name belongs to its own layer */
            struct query *outer = qnode_new(b, &q_boost);
            if (outer == NULL) {
                return err_no_memory(em);
            }
            outer->one.child = *out;
            *out = outer;
        }
        (*out)->name = d->name;
    }
    return e;
}

bool leaf_is_none(struct builder *b, const struct dsl *d, struct str field)
{
    const struct field *f = build_field(b, field);
    struct query *q;
    if (f == NULL) {
        return true;
    }
    bool constant = f->class->constant != NULL;
    return constant && d->type->build(b, d, &q, NULL) == ERR_OK && q->ops == &q_match_none;
}

enum err query_rewrites_to_none(bool *none, const struct query_context *cx, const struct json *dsl,
                                struct errmsg *em)
{
    struct json_pull p;
    struct dsl *d;
    ERR_LOCAL(refusal);
    *none = false;
    err_clear(&refusal);
    if (!json_pull_init(&p, dsl, cx->text, cx->arena)) {
        return err_no_memory(em);
    }
    json_pull_next(&p);
    if (dsl_parse_query(&p, cx->arena, &d, NULL) != ERR_OK) {
        return ERR_OK; /* whoever builds it says so */
    }
    struct builder b = {.cx = cx, .arena = cx->arena, .nested = cx->nested, .refusal = &refusal};
    *none = dsl_is_none(&b, d);
    if (!*none && err_is(&refusal)) {
        err_copy(em, &refusal);
        return err_code(em);
    }
    return ERR_OK;
}

enum err query_build(const struct query **out, const struct query_context *cx, const struct json *dsl,
                     struct errmsg *em)
{
    struct json_pull p;
    struct dsl *d;
    struct query *q;
    *out = NULL;
    if (!json_pull_init(&p, dsl, cx->text, cx->arena)) {
        return err_no_memory(em);
    }
    json_pull_next(&p);
    enum err e = dsl_parse_query(&p, cx->arena, &d, em);
    if (e != ERR_OK) {
        return e;
    }
    struct str unmapped = STR_NULL;
    struct builder b = {.cx = cx,
                        .arena = cx->arena,
                        .nested = cx->nested,
                        .unmapped = &unmapped,
                        .raw_error = cx->raw_errors};
    ERR_LOCAL(own);
    if (em == NULL) {
        em = &own;
    }
    err_clear(em);
    e = build_dsl(&b, d, &q, em);
    if (unmapped.p != NULL && e != ERR_NO_MEMORY) {
        err_clear(em);
        return err_query_shard(&b, em, "No field mapping can be found for the field with name [%.*s]",
                               STR_ARG(unmapped));
    }
    if (e == ERR_OK && b.expensive != NULL) {
        e = err_set(em, ERR_INTERNAL,
                    "%s cannot be executed when 'search.allow_expensive_queries' is set to false.%s",
                    b.expensive->expensive,
                    b.expensive->expensive_advice != NULL ? b.expensive->expensive_advice : "");
    }
    if (e != ERR_OK && !stands_alone(&b, e)) {
        e = err_wrap(em, ERR_QUERY_SHARD, "failed to create query: %s", err_reason(em));
        err_about_index(em, cx->index_name, cx->index_uuid);
    }
    *out = q;
    return e;
}
