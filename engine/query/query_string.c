#include "engine/query/query_string.h"

#include "common/base/num.h"
#include "common/base/settings.h"
#include "common/settings/setting_read.h"

enum err string_run_init(struct string_run *r, struct builder *b, const struct string_query *q,
                         const char *query, struct errmsg *em)
{
    *r = (struct string_run){.b = b, .q = q, .em = em, .lenient = q->lenient};
    struct field_boosts wanted = q->fields;
    enum err e = ERR_OK;
    bool all = false, given = q->fields.n > 0;
    if (q->default_field.p != NULL) {
        all = str_is(q->default_field, "*");
        r->field = all ? STR_NULL : q->default_field;
        struct field_boost *one = ARENA_NEW(b->arena, struct field_boost);
        if (one == NULL) {
            return err_no_memory(em);
        }
        *one = (struct field_boost){q->default_field, 1};
        wanted = (struct field_boosts){one, 1, 1};
    } else if (q->fields.n == 0) {
        wanted = (struct field_boosts){0};
        e = default_fields(b, &wanted, &all, em);
    } else {
        for (size_t i = 0; i < q->fields.n; i++) {
            all = all || str_is(q->fields.v[i].pattern, "*");
        }
    }
    if (e == ERR_OK) {
        bool alone = q->dsl.type == &dsl_query_string && wanted.n == 1 && !given
                     && (all || q->default_field.p != NULL);
        e = resolve_fields(b, &wanted, STR_NULL, alone, &r->fields, em);
    }
    r->any_field = all && !given;
    if (all && !q->lenient_given) {
        r->lenient = true;
    }
    if (!q->lenient_given && q->dsl.type == &dsl_query_string) {
        r->lenient = r->lenient || setting_bool(b->cx->index_settings, SET_INDEX_QUERY_STRING_LENIENT);
    }
    if (e == ERR_OK && q->analyzer.p != NULL) {
        e = build_analyzer(b, query, q->analyzer, &r->analyzer, em);
    }
    if (e == ERR_OK && q->quote_analyzer.p != NULL) {
        r->quote_analyzer = analysis_analyzer(mapping_analysis(b->cx->mapping), q->quote_analyzer);
        e = r->quote_analyzer != NULL ? ERR_OK
                                      : err_query_shard(b, em, "[%s] quote_analyzer [%.*s] not found", query,
                                                        STR_ARG(q->quote_analyzer));
    }
    e = e == ERR_OK ? check_rewrite(q->rewrite, em) : e;
    e = e == ERR_OK ? check_rewrite(q->fuzzy_rewrite, em) : e; /* it does nothing else */
    if (e == ERR_OK && q->time_zone.p != NULL) {
        e = zone_of(&r->zone, q->time_zone, b->arena, em);
    }
    return e;
}

enum err string_fields(struct string_run *r, struct str field, bool quoted, struct field_boosts *out)
{
    struct str suffix = quoted ? r->q->quote_field_suffix : STR_NULL;
    if (field.p == NULL) {
        if (suffix.p == NULL) {
            *out = r->fields;
            return ERR_OK;
        }
        *out = (struct field_boosts){0};
        return resolve_fields(r->b, &r->fields, suffix, false, out, r->em);
    }
    struct field_boost one = {field, 1};
    struct field_boosts in = {&one, 1, 1};
    *out = (struct field_boosts){0};
    return resolve_fields(r->b, &in, suffix, true, out, r->em);
}

float string_tie_breaker(const struct string_run *r)
{
    if (r->q->has_tie_breaker) {
        return r->q->tie_breaker;
    }
    return r->q->type == MULTI_MOST || r->q->type == MULTI_BOOL_PREFIX ? 1 : 0;
}

enum err string_text(struct string_run *r, const struct field_boosts *fields, struct str text,
                     enum multi_type type, bool quoted, int32_t slop, struct query **out)
{
    struct multi_opts o = {
        .type = type, .tie_breaker = r->q->tie_breaker, .has_tie_breaker = r->q->has_tie_breaker};
    text_opts_init(&o.text);
    o.text.and = r->q->and;
    o.text.lenient = r->lenient;
    o.text.zero_terms_null = true;
    o.text.synonyms_phrase = r->q->synonyms_phrase;
    o.text.no_position_increments = !r->q->position_increments;
    o.text.slop = slop;
    o.text.analyzer = quoted && r->quote_analyzer != NULL ? r->quote_analyzer : r->analyzer;
    return build_multi(r->b, fields, text, &o, out, r->em);
}

/* What simple_query_string says of a clause that failed and was forgiven. */
static enum err failed(struct string_run *r, struct query **out)
{
    const char *reason = err_reason(r->em);
    err_clear(r->em);
    return qnode_none(r->b, out, r->em, "failed query, caused by %s", reason);
}

enum err string_each(struct string_run *r, const struct field_boosts *fields, float tie_breaker,
                     string_field_fn make, const void *arg, struct query **out)
{
    struct query **v = ARENA_ARRAY(r->b->arena, struct query *, fields->n);
    uint32_t n = 0;
    *out = NULL;
    if (v == NULL) {
        return err_no_memory(r->em);
    }
    for (size_t i = 0; i < fields->n; i++) {
        struct str name = fields->v[i].pattern;
        const struct field *f = build_field(r->b, name);
        struct query *one = NULL;
        enum err e = make(r, f, name, arg, &one);
        if (e != ERR_OK && e != ERR_NO_MEMORY && r->lenient) {
            e = r->simple ? failed(r, &one) : qnode_failed(r->b, name, &one, r->em);
        }
        if (e == ERR_OK && one != NULL && one->ops != &q_match_none) {
            e = qnode_boost(r->b, &one, fields->v[i].boost, r->em);
        }
        if (e != ERR_OK) {
            return e;
        }
        if (one != NULL) {
            v[n++] = one;
        }
    }
    return n == 0 && fields->n > 0 ? ERR_OK : build_dis_max(r->b, v, n, tie_breaker, out, r->em);
}

enum err string_normalise(struct string_run *r, const struct field *f, struct str text, struct str *out)
{
    const struct analyzer *an = r->analyzer != NULL     ? r->analyzer
                                : f->class->is_analysed ? f->search_analyzer
                                                        : f->normalizer;
    *out = text;
    return an == NULL ? ERR_OK : analyzer_normalize(an, text, r->b->arena, out, r->em);
}
