/* Parameters of fields that are objects: fielddata_frequency_filter, index_prefixes, meta. */
#include "common/base/utf8.h"
#include "engine/mapping/field_params.h"
#include "engine/mapping/java.h"

static enum err expect_map(struct builder *b, const struct json *v)
{
    return v->type == JSON_OBJECT ? ERR_OK
                                  : err_set(b->em, ERR_CLASS_CAST,
                                            "class %s cannot be cast to class java.util.Map", java_class(v));
}

static enum err leftover(struct builder *b, const struct node *n, const struct json_member *m)
{
    struct str s = java_text(&m->value, b->arena);
    return err_set(b->em, ERR_MAPPER_PARSING,
                   "Mapping definition for [%.*s] has unsupported parameters:  [%.*s : %.*s]",
                   STR_ARG(n->f.name), STR_ARG(m->key), STR_ARG(s));
}

enum err param_number_map(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    double min = 0, max = INT32_MAX;
    int32_t segment = 0;
    enum err e = expect_map(b, v);
    for (uint32_t k = 0; e == ERR_OK && k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (str_is(m->key, "min")) {
            e = parse_node_double(b, &m->value, &min);
        } else if (str_is(m->key, "max")) {
            e = parse_node_double(b, &m->value, &max);
        } else if (str_is(m->key, "min_segment_size")) {
            e = parse_node_int(b, &m->value, &segment);
        } else {
            return leftover(b, n, m);
        }
    }
    struct json out = json_mk_object(), x;
    n->set[i] = NULL;
    if (e != ERR_OK || (min == 0 && max == INT32_MAX && segment == 0)) {
        return e;
    }
    if ((e = param_fraction(b, min, false, &x)) != ERR_OK) {
        return e;
    }
    bool ok = json_put(&out, b->arena, STR("min"), x);
    if ((e = param_fraction(b, max, false, &x)) != ERR_OK) {
        return e;
    }
    ok = ok && json_put(&out, b->arena, STR("max"), x);
    if ((e = param_whole(b, segment, &x)) != ERR_OK) {
        return e;
    }
    ok = ok && json_put(&out, b->arena, STR("min_segment_size"), x);
    return ok ? param_keep(b, n, i, out) : no_memory(b);
}

enum err param_prefixes(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    int32_t min = 2, max = 5;
    n->set[i] = NULL;
    n->f.prefix_min_chars = n->f.prefix_max_chars = 0;
    if (v->type == JSON_NULL) {
        return ERR_OK;
    }
    enum err e = expect_map(b, v);
    for (uint32_t k = 0; e == ERR_OK && k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (str_is(m->key, "min_chars")) {
            e = parse_node_int(b, &m->value, &min);
        } else if (str_is(m->key, "max_chars")) {
            e = parse_node_int(b, &m->value, &max);
        } else {
            return leftover(b, n, m);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    if (min > max) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "min_chars [%d] must be less than max_chars [%d]", min,
                       max);
    }
    if (min < 1) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "min_chars [%d] must be greater than zero", min);
    }
    if (max >= 20) {
        return err_set(b->em, ERR_ILLEGAL_ARGUMENT, "max_chars [%d] must be less than 20", max);
    }
    n->f.prefix_min_chars = min;
    n->f.prefix_max_chars = max;
    struct json out = json_mk_object(), lo, hi;
    if ((e = param_whole(b, min, &lo)) != ERR_OK || (e = param_whole(b, max, &hi)) != ERR_OK) {
        return e;
    }
    bool ok =
        json_put(&out, b->arena, STR("min_chars"), lo) && json_put(&out, b->arena, STR("max_chars"), hi);
    return ok ? param_keep(b, n, i, out) : no_memory(b);
}

enum err param_meta(struct builder *b, struct node *n, size_t i, const struct json *v)
{
    if (v->type != JSON_OBJECT) {
        struct str s = java_text(v, b->arena);
        const char *class = strrchr(java_class(v), '.') + 1;
        return err_set(b->em, ERR_MAPPER_PARSING, "[meta] must be an object, got %s[%.*s] for field [%.*s]",
                       class, STR_ARG(s), STR_ARG(n->f.name));
    }
    if (v->n > 5) {
        return err_set(b->em, ERR_MAPPER_PARSING,
                       "[meta] can't have more than 5 entries, but got %u on field [%.*s]", v->n,
                       STR_ARG(n->f.name));
    }
    for (uint32_t k = 0; k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (m->key.n > 20 && utf8_length(m->key) > 20) {
            return err_set(b->em, ERR_MAPPER_PARSING,
                           "[meta] keys can't be longer than 20 chars, but got [%.*s] for field [%.*s]",
                           STR_ARG(m->key), STR_ARG(n->f.name));
        }
    }
    for (uint32_t k = 0; k < v->n; k++) {
        const struct json_member *m = &v->members[k];
        if (m->value.type == JSON_NULL) {
            return err_set(b->em, ERR_MAPPER_PARSING, "[meta] values can't be null (field [%.*s])",
                           STR_ARG(n->f.name));
        }
        if (m->value.type != JSON_STRING) {
            struct str s = java_text(&m->value, b->arena);
            return err_set(b->em, ERR_MAPPER_PARSING,
                           "[meta] values can only be strings, but got %s[%.*s] for field [%.*s]",
                           strrchr(java_class(&m->value), '.') + 1, STR_ARG(s), STR_ARG(n->f.name));
        }
        if (utf16_length(m->value.s) > 50) {
            return err_set(b->em, ERR_MAPPER_PARSING,
                           "[meta] values can't be longer than 50 chars, but got [%.*s] for field [%.*s]",
                           STR_ARG(m->value.s), STR_ARG(n->f.name));
        }
    }
    n->set[i] = v->n > 0 ? v : NULL;
    return ERR_OK;
}
