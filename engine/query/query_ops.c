/* Visits to what is below a query. */
#include "engine/query/query_ops.h"

enum err query_each_child(const struct query *q, child_fn fn, void *arg)
{
    return q->ops->each_child != NULL ? q->ops->each_child(q, fn, arg) : ERR_OK;
}

enum err query_each_below(const struct query *q, child_fn fn, void *arg)
{
    enum err e = query_each_child(q, fn, arg);
    return e == ERR_OK && q->ops->each_named != NULL ? q->ops->each_named(q, fn, arg) : e;
}

static enum err find_name(void *arg, const struct query *q, UNUSED enum child_role role)
{
    bool *found = arg;
    *found = *found || q->name.p != NULL;
    return *found ? ERR_OK : query_each_below(q, find_name, found);
}

bool query_has_names(const struct query *q)
{
    bool found = false;
    find_name(&found, q, CHILD_SCORES);
    return found;
}

struct words_below {
    const struct word_sink *sink;
    float boost;
    struct errmsg *em;
};

/* What a query shows a match by is what selects it. */
static enum err words_of_child(void *arg, const struct query *child, enum child_role role)
{
    const struct words_below *b = arg;
    return role == CHILD_SCORES || role == CHILD_FILTERS ? query_words(child, b->boost, b->sink, b->em)
                                                         : ERR_OK;
}

enum err query_words(const struct query *q, float boost, const struct word_sink *s, struct errmsg *em)
{
    struct words_below b = {s, boost * q->boost, em};
    enum err e = q->ops->words != NULL ? q->ops->words(q, b.boost, s, em) : ERR_OK;
    return e == ERR_OK ? query_each_child(q, words_of_child, &b) : e;
}
