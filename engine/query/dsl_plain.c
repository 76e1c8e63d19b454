/* Queries of which it is plain to see, as they are written, that building them takes no longer than their text is long: nothing is
 * expanded over the fields or the terms that there are. */
#include "engine/query/dsl.h"

#define DEPTH_MAX 8

static bool plain_query(const struct json *q, unsigned depth)
{
    if (depth > DEPTH_MAX || q->type != JSON_OBJECT || q->n != 1 || q->members[0].value.type != JSON_OBJECT) {
        return false;
    }
    const struct dsl_type *t = dsl_type_find(q->members[0].key);
    return t != NULL && t->plain != NULL && t->plain(&q->members[0].value, depth);
}

bool query_is_plain(const struct json *dsl)
{
    return plain_query(dsl, 0);
}

bool dsl_plain(UNUSED const struct json *body, UNUSED unsigned depth)
{
    return true;
}

bool dsl_plain_words(const struct json *body, UNUSED unsigned depth)
{
    for (uint32_t i = 0; i < body->n; i++) {
        const struct json *v = &body->members[i].value;
        if ((v->type == JSON_OBJECT && (json_get(v, "fuzziness") != NULL || json_get(v, "analyzer") != NULL))
            || str_is(body->members[i].key, "fuzziness") || str_is(body->members[i].key, "analyzer")) {
            return false;
        }
    }
    return true;
}

bool dsl_plain_clauses(const struct json *body, const char *const *keys, size_t n_keys, unsigned depth)
{
    for (size_t k = 0; k < n_keys; k++) {
        const struct json *v = body->type == JSON_OBJECT ? json_get(body, keys[k]) : NULL;
        bool many = v != NULL && v->type == JSON_ARRAY;
        for (uint32_t i = 0; v != NULL && i < (many ? v->n : 1); i++) {
            if (!plain_query(many ? &v->items[i] : v, depth + 1)) {
                return false;
            }
        }
    }
    return true;
}
