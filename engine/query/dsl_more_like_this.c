/* more_like_this: its form is checked; it is refused when a shard is to run it. */
#include "engine/query/build.h"

static enum err parse_like(struct json_pull *p, struct arena *arena, struct dsl **out, struct errmsg *em)
{
    if (dsl_new(out, arena, &dsl_more_like_this, sizeof(**out)) == NULL) {
        return err_no_memory(em);
    }
    bool like = false;
    while (json_pull_until(p, TOK_END_OBJECT)) {
        if (p->token == TOK_FIELD_NAME) {
            like = like || str_is(p->name, "like");
        } else {
            json_pull_skip(p);
        }
    }
    return like ? ERR_OK
                : json_pull_err(p, em, ERR_PARSING, "more_like_this requires 'like' to be specified");
}

static enum err build_like(UNUSED struct builder *b, const struct dsl *d, UNUSED struct query **out,
                           struct errmsg *em)
{
    return err_set(em, ERR_ILLEGAL_ARGUMENT, "query [%s] is not supported", d->type->name);
}

const struct dsl_type dsl_more_like_this = {
    .name = "more_like_this", .parse = parse_like, .build = build_like};
