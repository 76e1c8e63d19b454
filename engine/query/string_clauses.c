/* Clauses of query_string on one field: patterns, fuzzy words, ranges. */
#include "engine/query/query_parser.h"

static enum err make_pattern(struct string_run *r, const struct field *f, UNUSED const struct lex_token *t,
                             const struct query_ops *ops, struct str text, struct query **out)
{
    struct pattern_opts o = {.rewrite = r->q->rewrite,
                             .flags = 0xFFFF,
                             .max_states = r->q->max_states > 0 ? (uint32_t)r->q->max_states : 0};
    return field_pattern(r->b, f, ops, text, &o, out, r->em);
}

enum err string_make_prefix(struct string_run *r, const struct field *f, struct str name, const void *arg,
                            struct query **out)
{
    struct str text;
    if (r->q->analyze_wildcard && f->class->is_analysed) {
        return string_prefix(r, f, *(const struct str *)arg, out);
    }
    enum err e = ERR_OK;
    if (f->class->is_analysed) {
        e = string_normalise(r, f, *(const struct str *)arg, &text);
    } else { /* an analyzer of the request says nothing of what was never analysed */
        text = *(const struct str *)arg;
    }
    if (e != ERR_OK) {
        return e;
    }
    if (f->class->text == FIELD_TEXT_NONE) {
        return qnode_none(r->b, out, r->em, "unmapped fields [%.*s]", STR_ARG(name));
    }
    return make_pattern(r, f, NULL, &q_prefix, text, out);
}

enum err string_make_wildcard(struct string_run *r, const struct field *f, UNUSED struct str name,
                              const void *arg, struct query **out)
{
    if (str_is(*(const struct str *)arg, "*")) {
        return build_exists(r->b, f->path, out, r->em);
    }
    return make_pattern(r, f, NULL, &q_wildcard, *(const struct str *)arg, out);
}

enum err string_make_regexp(struct string_run *r, const struct field *f, UNUSED struct str name,
                            const void *arg, struct query **out)
{
    return make_pattern(r, f, NULL, &q_regexp, *(const struct str *)arg, out); /* not analysed at all */
}

enum err string_make_fuzzy(struct string_run *r, const struct field *f, struct str name, const void *arg,
                           struct query **out)
{
    const struct fuzzy_arg *a = arg;
    struct str text;
    if (a->refused < 0) {
        return err_set(r->em, ERR_ILLEGAL_ARGUMENT, "Valid edit distances are [0, 1, 2] but was [%d]",
                       a->refused);
    }
    if (f->class->text == FIELD_TEXT_NONE) {
        return qnode_none(r->b, out, r->em, "unmapped fields [%.*s]", STR_ARG(name));
    }
    enum err e = string_normalise(r, f, a->text, &text);
    if (e != ERR_OK) {
        return e;
    }
    struct fuzzy_opts o = {{.given = true, .text = a->edits},
                           r->q->prefix_length,
                           r->q->max_expansions,
                           r->q->transpositions,
                           STR_NULL};
    return field_fuzzy(r->b, f, text, &o, out, r->em);
}

enum err string_make_range(struct string_run *r, const struct field *f, struct str name, const void *arg,
                           struct query **out)
{
    const struct range_arg *a = arg;
    struct str from = a->from, to = a->to;
    enum err e = ERR_OK;
    if (f->class->text == FIELD_TEXT_NONE) {
        return qnode_none(r->b, out, r->em, "unmapped fields [%.*s]", STR_ARG(name));
    }
    if (from.p != NULL) {
        e = string_normalise(r, f, from, &from);
    }
    if (e == ERR_OK && to.p != NULL) {
        e = string_normalise(r, f, to, &to);
    }
    struct json *v = ARENA_ARRAY(r->b->arena, struct json, 2);
    if (e != ERR_OK || v == NULL) {
        return e != ERR_OK ? e : err_no_memory(r->em);
    }
    v[0] = json_mk_str(from);
    v[1] = json_mk_str(to);
    struct range_bounds bounds = {.from = from.p != NULL ? &v[0] : NULL,
                                  .to = to.p != NULL ? &v[1] : NULL,
                                  .from_inclusive = a->from_inclusive,
                                  .to_inclusive = a->to_inclusive,
                                  .zone = r->zone};
    return field_range(r->b, f, &bounds, out, r->em);
}
