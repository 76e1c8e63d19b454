/* Functions shared by the parsers of pipelines. Some have Elasticsearch's newer, declared parsers, the rest are read
 * token by token: their refusals differ. */
#include "engine/aggs/pipeline.h"

#include "common/base/jsonr.h"
#include "engine/mapping/java.h"

enum err pipe_need_path(struct agg_parse *p, const struct agg *a)
{
    return pipe_params(a)->n > 0 ? ERR_OK
                                 : err_set(p->em, ERR_ARRAY_BOUNDS, "Index 0 out of bounds for length 0");
}

/* "a>b", ["a>b", ...] or {"var":"a>b", ...}. Without names, scripts know the values as _value, or _value0,
 * _value1 ... */
static enum err paths(struct agg_parse *p, struct agg *a, const struct json *v, bool any_value)
{
    struct pipe_params *given = pipe_params(a);
    uint32_t n = v->type == JSON_STRING ? 1 : v->n;
    struct pipe_path *list = ARENA_ARRAY(p->arena, struct pipe_path, n);
    if (list == NULL) {
        return err_no_memory(p->em);
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct json *text = v->type == JSON_STRING  ? v
                                  : v->type == JSON_ARRAY ? &v->items[i]
                                                          : &v->members[i].value;
        list[i].var = v->type == JSON_OBJECT  ? v->members[i].key
                      : v->type == JSON_ARRAY ? arena_printf(p->arena, "_value%u", i)
                                              : STR("_value");
        /* any value is taken for a path, as Java shows it */
        enum err e = any_value ? ERR_OK : agg_text(p, text, &list[i].path.text);
        if (e != ERR_OK) {
            return e;
        }
        list[i].path.text = any_value ? java_text(text, p->arena) : list[i].path.text;
        if (list[i].var.p == NULL || list[i].path.text.p == NULL) {
            return err_no_memory(p->em);
        }
    }
    given->v = list;
    given->n = n;
    return ERR_OK;
}

enum err pipe_set_paths(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return paths(p, a, v, false);
}

enum err pipe_set_any_paths(struct agg_parse *p, struct agg *a, const struct json *v)
{
    return paths(p, a, v, v->type == JSON_OBJECT);
}

enum err pipe_set_gap(struct agg_parse *p, struct agg *a, const struct json *v)
{
    struct pipe_params *given = pipe_params(a);
    struct str s = json_text(v);
    if (str_eq_nocase(s, STR("skip"))) {
        given->gap = GAP_SKIP;
        return ERR_OK;
    }
    if (str_eq_nocase(s, STR("insert_zeros"))) {
        given->gap = GAP_ZEROS;
        return ERR_OK;
    }
    return jr_fail(p->text, v->off, p->em,
                   "Invalid gap policy: [%.*s], accepted values: [insert_zeros, skip]", STR_ARG(s));
}

enum err pipe_set_format(UNUSED struct agg_parse *p, struct agg *a, const struct json *v)
{
    pipe_params(a)->format = json_text(v);
    return ERR_OK;
}

enum err pipe_need(struct agg_parse *p, const char *const *missing, size_t n)
{
    struct str list = STR("");
    for (size_t i = 0; i < n && list.p != NULL; i++) {
        list = missing[i] == NULL
                   ? list
                   : arena_printf(p->arena, "%.*s%s%s", STR_ARG(list), list.n > 0 ? ", " : "", missing[i]);
    }
    return list.p == NULL ? err_no_memory(p->em)
           : list.n == 0  ? ERR_OK
                          : err_set(p->em, ERR_ILLEGAL_ARGUMENT, "Required [%.*s]", STR_ARG(list));
}

/* ---- the older parsers ----------------------------------------------------------------------------------- */

static enum err unexpected(struct agg_parse *p, const struct agg *a, const struct json_member *m,
                           unsigned tokens)
{
    const char *token = json_token_name(&m->value);
    if (tokens == 0) {
        return jr_fail(p->text, m->value.off, p->em, "Unexpected token %s [%.*s] in [%.*s]", token,
                       STR_ARG(m->key), STR_ARG(a->name));
    }
    return (tokens & agg_token(&m->value)) == 0
               ? jr_fail(p->text, m->value.off, p->em, "Unexpected token %s in [%.*s].", token,
                         STR_ARG(a->name))
               : jr_fail(p->text, m->value.off, p->em, "Unknown key for a %s in [%.*s]: [%.*s].", token,
                         STR_ARG(a->name), STR_ARG(m->key));
}

static enum err older_member(struct agg_parse *p, struct agg *a, const struct json_member *m,
                             const struct pipe_form *form)
{
    bool text = m->value.type == JSON_STRING;
    enum err e = ERR_OK;
    if (str_is(m->key, "format") && text && !form->no_format) {
        return pipe_set_format(p, a, &m->value);
    }
    if (str_is(m->key, "gap_policy") && text) {
        return pipe_set_gap(p, a, &m->value);
    }
    if (str_is(m->key, "buckets_path") && (text || m->value.type == JSON_ARRAY)) {
        return pipe_set_paths(p, a, &m->value);
    }
    return form->member != NULL && form->member(p, a, m, &e) ? e : unexpected(p, a, m, form->tokens);
}

enum err pipe_parse_older(struct agg_parse *p, struct agg *a, const struct json *body,
                          const struct pipe_form *form)
{
    for (uint32_t i = 0; i < body->n; i++) {
        enum err e = older_member(p, a, &body->members[i], form);
        if (e != ERR_OK) {
            return e;
        }
    }
    return pipe_params(a)->v != NULL
               ? ERR_OK
               : jr_fail(p->text, body->end - 1, p->em,
                         "Missing required field [buckets_path] for %saggregation [%.*s]", form->called,
                         STR_ARG(a->name));
}
