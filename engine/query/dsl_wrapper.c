/* wrapper: a query in base64. */
#include "common/base/base64.h"
#include "engine/query/build.h"

struct dsl_wrapper_query {
    struct dsl dsl;
    struct dsl *query;
};

static enum err parse_wrapper(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    struct dsl_wrapper_query *q = dsl_new(out, arena, &dsl_wrapper, sizeof(*q));
    if (q == NULL) {
        return err_no_memory(em);
    }
    if (json_pull_next(p) != TOK_FIELD_NAME) {
        return json_pull_err(p, em, ERR_PARSING, "[wrapper] query malformed");
    }
    if (!str_is(p->name, "query")) {
        return json_pull_err(p, em, ERR_PARSING, "[wrapper] query malformed, expected `query` but was %.*s",
                             STR_ARG(p->name));
    }
    json_pull_next(p);
    struct str text, bytes;
    enum err e = json_pull_text(p, &text, em);
    if (e != ERR_OK) {
        return e;
    }
    if (json_pull_next(p) != TOK_END_OBJECT) {
        return json_pull_err(p, em, ERR_PARSING, "[wrapper] query malformed");
    }
    char *to = arena_alloc(arena, text.n + 1);
    size_t n;
    if (to == NULL) {
        return err_no_memory(em);
    }
    if (!base64_decode(text, to, &n) || n == 0) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "query source text cannot be null or empty");
    }
    bytes = str_mk(to, n);
    struct json *inner = ARENA_NEW(arena, struct json);
    struct json_pull sub;
    if (inner == NULL) {
        return err_no_memory(em);
    }
    e = json_parse(inner, bytes, arena, &json_limits_default, em);
    if (e != ERR_OK) {
        return e;
    }
    if (!json_pull_init(&sub, inner, bytes, arena)) {
        return err_no_memory(em);
    }
    json_pull_next(&sub);
    return dsl_parse_query(&sub, arena, &q->query, em);
}

static enum err build_wrapper(struct builder *b, const struct dsl *d, struct query **out, struct errmsg *em)
{
    return build_dsl(b, ((const struct dsl_wrapper_query *)(const void *)d)->query, out, em);
}

static bool wrapper_none(struct builder *b, const struct dsl *d)
{
    return dsl_is_none(b, ((const struct dsl_wrapper_query *)(const void *)d)->query);
}

const struct dsl_type dsl_wrapper = {
    .name = "wrapper", .parse = parse_wrapper, .build = build_wrapper, .none = wrapper_none};
