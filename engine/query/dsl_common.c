/* common: terms that are in many documents only add to the score of those that the rare terms find (CommonTermsQueryBuilder). */
#include "engine/query/build_graph.h"
#include "engine/query/query_ops.h"

#define CUTOFF 0.01F

struct dsl_common_query {
    struct dsl dsl;
    struct str field;
    const struct json *text;
    struct str analyzer, rare_min, common_min;
    bool rare_and, common_and;
    float cutoff;
};

#define AT(member) offsetof(struct dsl_common_query, member)

static enum err read_minimum(struct json_pull *p, struct dsl_common_query *q, struct str of,
                             struct errmsg *em)
{
    struct str name = STR_NULL;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        if (!json_token_is_value(p->token)) {
            return json_pull_err(p, em, ERR_PARSING, "[common] unexpected token type [%s] after [%.*s]",
                                 json_token_text(p->token), STR_ARG(name));
        }
        bool rare = str_is(name, "low_freq");
        if (!rare && !str_is(name, "high_freq")) {
            return json_pull_err(p, em, ERR_PARSING, "[common] query does not support [%.*s] for [%.*s]",
                                 STR_ARG(name), STR_ARG(of));
        }
        enum err e = json_pull_text(p, rare ? &q->rare_min : &q->common_min, em);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static enum err read_inner(struct json_pull *p, struct dsl_common_query *q, struct errmsg *em)
{
    static const struct param params[] = {
        DSL_COMMON_PARAMS(struct dsl_common_query),
        {"query", PARAM_VALUE, AT(text)},
        {"analyzer", PARAM_TEXT, AT(analyzer)},
        {"disable_coord", PARAM_IGNORED, 0},
        {"high_freq_operator", PARAM_OPERATOR, AT(common_and)},
        {"low_freq_operator", PARAM_OPERATOR, AT(rare_and)},
        {"minimum_should_match", PARAM_TEXT, AT(rare_min)},
        {"cutoff_frequency", PARAM_FLOAT, AT(cutoff)},
    };
    struct str name = p->name;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        enum err e = ERR_OK;
        bool known = true;
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
        } else if (p->token == TOK_START_OBJECT) {
            known = str_is(name, "minimum_should_match");
            e = known ? read_minimum(p, q, name, em) : ERR_OK;
        } else if (json_token_is_value(p->token)) {
            e = dsl_param(p, name, params, ARRAY_LEN(params), q, &known, em);
        }
        if (e != ERR_OK || !known) {
            return e != ERR_OK ? e : dsl_unsupported(p, "common", name, em);
        }
    }
    return ERR_OK;
}

static enum err parse_common(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_common_query *q = dsl_new(out, arena, &dsl_common, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    q->cutoff = CUTOFF;
    struct str name = STR_NULL;
    bool in_array = false;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            name = p->name;
            continue;
        }
        bool object = p->token == TOK_START_OBJECT;
        bool named = object || !in_array || p->token == TOK_END_ARRAY;
        in_array = p->token == TOK_START_ARRAY;
        enum err e = dsl_one_field(p, "common", q->field, named ? name : STR("null"), em);
        if (e == ERR_OK) {
            q->field = name;
            e = object ? read_inner(p, q, em) : dsl_scalar(p, &q->text, em);
        }
        if (e != ERR_OK) {
            return e;
        }
    }
    if (q->field.n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "field name is null or empty");
    }
    return q->text != NULL ? ERR_OK : err_set(em, ERR_ILLEGAL_ARGUMENT, "text cannot be null");
}

static enum err terms_of_text(struct builder *b, const struct dsl_common_query *q, const struct field *f,
                              const struct analyzer *an, struct bool_clause **out, uint32_t *n,
                              struct errmsg *em)
{
    struct text_tokens t = {0};
    struct str text = json_text(q->text);
    struct text_token whole = {text, 0, 1};
    enum err e = ERR_OK;
    if (an != NULL) {
        e = text_analyse(b, an, text, false, &t, em);
    } else {
        t = (struct text_tokens){.v = &whole, .n = 1};
    }
    struct bool_clause *v = *out =
        e == ERR_OK ? ARENA_ARRAY(b->arena, struct bool_clause, MAX_OF(t.n, 1U)) : NULL;
    if (v == NULL) {
        return e != ERR_OK ? e : err_no_memory(em);
    }
    *n = t.n;
    for (uint32_t i = 0; i < t.n; i++) {
        struct query *term = qnode_new(b, &q_term);
        if (term == NULL) {
            return err_no_memory(em);
        }
        term->field = f;
        term->field_name = f->path;
        term->term.term = t.v[i].text;
        v[i] = (struct bool_clause){q->rare_and ? OCCUR_MUST : OCCUR_SHOULD, term};
    }
    return ERR_OK;
}

static enum err build_common(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    const struct dsl_common_query *q = (const struct dsl_common_query *)(const void *)d;
    const struct field *f = build_field(b, q->field);
    struct text_opts o;
    const struct analyzer *an = NULL;
    text_opts_init(&o);
    struct text_run r = {.b = b, .o = &o, .field = f, .em = em};
    enum err e = ERR_OK;
    if (q->analyzer.p != NULL) {
        e = build_analyzer(b, "common", q->analyzer, &an, em);
    } else {
        an = f != NULL ? text_search_analyzer(&r, f) : NULL;
    }
    if (e == ERR_OK && f == NULL) {
        return qnode_none(b, out, em, "unknown field %.*s", STR_ARG(q->field));
    }
    struct query *node = *out = qnode_new(b, &q_bool);
    struct common_terms *c = ARENA_NEW(b->arena, struct common_terms);
    struct bool_clause *v = NULL;
    uint32_t n = 0;
    if (e == ERR_OK && (node == NULL || c == NULL)) {
        return err_no_memory(em);
    }
    e = e == ERR_OK ? terms_of_text(b, q, f, an, &v, &n, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    *c = (struct common_terms){.cutoff = q->cutoff,
                               .min_should = q->rare_min,
                               .apart = true,
                               .common_occur = q->common_and ? OCCUR_MUST : OCCUR_SHOULD,
                               .common_min_should = q->common_min};
    node->boolean.v = v;
    node->boolean.n = n;
    node->boolean.common = c;
    return ERR_OK;
}

const struct dsl_type dsl_common = {.name = "common", .parse = parse_common, .build = build_common};
