/* range. */
#include "engine/index/segment.h"
#include "engine/index/view.h"
#include "engine/query/build.h"

struct dsl_range_query {
    struct dsl dsl;
    struct str field;
    const struct json *from, *to;
    bool include_lower, include_upper;
    struct str time_zone, format, relation;
};

#define AT(member) offsetof(struct dsl_range_query, member)

/* *known false: it is no bound. */
static enum err parse_bound(const struct json_pull *p, struct dsl_range_query *q, struct str name,
                            bool *known, struct errmsg *em)
{
    static const struct {
        const char *name;
        bool lower, sets, inclusive;
    } bounds[] = {{"from", true, false, false}, {"to", false, false, false}, {"gt", true, true, false},
                  {"gte", true, true, true},    {"ge", true, true, true},    {"lt", false, true, false},
                  {"lte", false, true, true},   {"le", false, true, true}};
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
        if (!str_is(name, bounds[i].name)) {
            continue;
        }
        if (bounds[i].sets) {
            *(bounds[i].lower ? &q->include_lower : &q->include_upper) = bounds[i].inclusive;
        }
        *known = true; /* an array's brackets are values too, each in its turn */
        return dsl_token(p, bounds[i].lower ? &q->from : &q->to, em);
    }
    *known = false;
    return ERR_OK;
}

static enum err parse_body(struct json_pull *p, struct dsl_range_query *q, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_range_query),
        {"include_lower", PARAM_BOOL, AT(include_lower)},
        {"include_upper", PARAM_BOOL, AT(include_upper)},
        {"time_zone", PARAM_TEXT, AT(time_zone)},
        {"format", PARAM_TEXT, AT(format)},
        {"relation", PARAM_TEXT, AT(relation)},
    };
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        bool known;
        enum err e = parse_bound(p, q, name, &known, em);
        if (e == ERR_OK && !known) {
            e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
        }
        if (e != ERR_OK) {
            return e;
        }
        if (!known) {
            return dsl_unsupported(p, "range", name, em);
        }
    }
    return ERR_OK;
}

static bool relation_of(struct str s, enum range_relation *out)
{
    static const char *const names[] = {"intersects", "contains", "within", "disjoint"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (str_eq_nocase(s, str_of(names[i]))) {
            *out = (enum range_relation)i;
            return true;
        }
    }
    return false;
}

static enum err range_check(const struct dsl_range_query *q, struct arena *arena, struct errmsg *em)
{
    if (q->field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field name is null or empty");
    }
    if (q->time_zone.p != NULL) {
        const struct zone *z;
        enum err e = zone_of(&z, q->time_zone, arena, em);
        if (e != ERR_OK) {
            return err_wrap(em, ERR_ILLEGAL_ARGUMENT, "java.time.%s: %s",
                            e == ERR_ZONE_RULES ? "zone.ZoneRulesException" : "DateTimeException",
                            err_reason(em));
        }
    }
    if (q->format.p != NULL) {
        const struct date_format *f;
        enum err e = date_format_new(&f, q->format, arena, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    enum range_relation r;
    if (q->relation.p != NULL && !relation_of(q->relation, &r)) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "%.*s is not a valid relation", STR_ARG(q->relation));
    }
    if (q->relation.p != NULL && r == RELATION_DISJOINT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "[range] query does not support relation [%.*s]",
                       STR_ARG(q->relation));
    }
    return ERR_OK;
}

static enum err parse_range(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_range_query *q = dsl_new(out, arena, &dsl_range, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->include_lower = q->include_upper = true;
    struct str name = STR_NULL;
    while (json_pull_member(p, &name)) {
        if (p->token == TOK_START_OBJECT) {
            enum err e = dsl_one_field(p, "range", q->field, name, em);
            if (e == ERR_OK) {
                q->field = name;
                e = parse_body(p, q, em);
            }
            if (e != ERR_OK) {
                return e;
            }
        } else if (json_token_is_value(p->token)) {
            return dsl_unsupported(p, "range", name, em);
        }
    }
    return range_check(q, arena, em);
}

static enum err range_of(struct builder *b, const struct dsl_range_query *q, struct range_bounds *r,
                         struct errmsg *em)
{
    enum err e = ERR_OK;
    *r = (struct range_bounds){q->from, q->to, q->include_lower, q->include_upper, RELATION_INTERSECTS,
                               NULL,    NULL};
    if (q->relation.p != NULL) {
        relation_of(q->relation, &r->relation);
    }
    if (q->time_zone.p != NULL) {
        e = zone_of(&r->zone, q->time_zone, b->arena, em);
    }
    if (e == ERR_OK && q->format.p != NULL) {
        e = date_format_new(&r->format, q->format, b->arena, em);
    }
    return e;
}

enum date_relation { DATES_INTERSECT, DATES_WITHIN, DATES_DISJOINT };

/* How the shard's dates lie to the range (DateFieldType.isFieldWithinQuery): where none is inside it or all
 * are, the range is replaced before a query is made of it, and without any date its bounds are not even
 * read. */
static enum err compare_dates(struct builder *b, const struct field *f, const struct range_bounds *r,
                              enum date_relation *out, struct errmsg *em)
{
    const struct view *v = b->cx->view;
    int64_t min = INT64_MAX, max = INT64_MIN, lo, hi;
    bool any = false;
    *out = DATES_INTERSECT;
    if (v == NULL || !field_is_date(f)) {
        return ERR_OK;
    }
    for (uint32_t i = 0; f->index && i < v->n_leaves; i++) {
        const struct seg_field *s = segment_field(v->leaves[i].segment, f->path);
        int64_t from, to;
        if (s != NULL && seg_points_bounds(s, &from, &to)) {
            any = true;
            min = MIN_OF(min, from);
            max = MAX_OF(max, to);
        }
    }
    if (!any) {
        *out = DATES_DISJOINT;
        return ERR_OK;
    }
    enum err e = field_date_bounds(b, f, r, &lo, &hi, em);
    if (e == ERR_OK) {
        *out = min >= lo && max <= hi ? DATES_WITHIN
               : max < lo || min > hi ? DATES_DISJOINT
                                      : DATES_INTERSECT;
    }
    return e;
}

static enum err build_range(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_range_query *q = (const struct dsl_range_query *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    if (f == NULL) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    struct range_bounds r;
    enum date_relation relation = DATES_INTERSECT;
    enum err e = range_of(b, q, &r, em);
    if (e == ERR_OK) {
        e = compare_dates(b, f, &r, &relation, em);
        b->raw_error = b->raw_error || e != ERR_OK;
    }
    if (e != ERR_OK) {
        return e;
    }
    if (relation == DATES_DISJOINT) {
        return qnode_none(b, out, em, "User requested \"match_none\" query.");
    }
    if (relation == DATES_WITHIN || (q->from == NULL && q->to == NULL)) {
        return build_exists(b, q->field, out, em);
    }
    return field_range(b, f, &r, out, em);
}

static bool range_none(struct builder *b, const struct dsl *d)
{
    const struct dsl_range_query *q = (const struct dsl_range_query *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    struct range_bounds r;
    enum date_relation relation;
    ERR_LOCAL(em);
    if (f == NULL) {
        return true;
    }
    err_clear(&em);
    enum err e = range_of(b, q, &r, &em);
    e = e == ERR_OK ? compare_dates(b, f, &r, &relation, &em) : e;
    if (e != ERR_OK && b->refusal != NULL) {
        err_copy(b->refusal, &em);
    }
    return e == ERR_OK && relation == DATES_DISJOINT;
}

static struct str range_field(const struct dsl *d)
{
    return ((const struct dsl_range_query *)(const void *)d)->field;
}

const struct dsl_type dsl_range = {.name = "range",
                                   .parse = parse_range,
                                   .build = build_range,
                                   .none = range_none,
                                   .plain = dsl_plain,
                                   .pattern_field = range_field};
