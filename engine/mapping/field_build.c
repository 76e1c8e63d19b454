/* Fields as a whole: defaults before their parameters are read, and what can be checked and resolved only
 * after. */
#include "engine/mapping/field_params.h"

void params_init(struct builder *b, struct node *n)
{
    const struct field_class *class = n->f.class;
    n->f.index = true;
    n->f.boost = 1;
    n->f.similarity = (struct similarity){SIM_BM25, 1.2F, 0.75F, true};
    n->f.options = class->usual_options;
    n->f.ignore_above = UINT32_MAX;
    n->f.position_increment_gap = 100;
    for (size_t i = 0; class->params[i].name != NULL; i++) {
        const struct param *p = &class->params[i];
        void *at = (char *)&n->f + p->offset;
        if (p->kind == PARAM_BOOL || p->kind == PARAM_EXPLICIT_BOOL) {
            *(bool *)at = p->dflt != 0;
        } else if (p->kind == PARAM_INT) {
            *(int32_t *)at = p->dflt;
        }
    }
    if (param_find(class, STR("ignore_malformed")) != SIZE_MAX) {
        n->f.ignore_malformed = b->ignore_malformed;
    }
    if (param_find(class, STR("coerce")) != SIZE_MAX) {
        n->f.coerce = b->coerce;
    }
    if (class->init != NULL) {
        class->init(b, n);
    }
}

bool param_is_set(const struct node *n, const char *name)
{
    size_t i = param_find(n->f.class, str_of(name));
    return i != SIZE_MAX && n->set[i] != NULL;
}

struct str param_given(const struct node *n, const char *name)
{
    size_t i = param_find(n->f.class, str_of(name));
    return i != SIZE_MAX && n->set[i] != NULL ? n->set[i]->s : STR_NULL;
}

void param_forget(struct node *n, const char *name)
{
    n->set[param_find(n->f.class, str_of(name))] = NULL;
}

size_t param_find(const struct field_class *class, struct str name)
{
    for (size_t i = 0; class->params[i].name != NULL; i++) {
        const struct param *p = &class->params[i];
        if (str_is(name, p->name) || (p->old_name != NULL && str_is(name, p->old_name))) {
            return i;
        }
    }
    return SIZE_MAX;
}

enum err check_index_time(struct builder *b, const struct analyzer *an)
{
    if (an != NULL && an->search_only) {
        return err_set(b->em, ERR_MAPPER,
                       "analyzer [%.*s] contains filters that are not allowed to run in index time mode.",
                       STR_ARG(an->name));
    }
    return ERR_OK;
}

void build_ignore_above(struct node *n)
{
    int32_t above = (int32_t)n->f.ignore_above;
    n->f.ignore_above = above == INT32_MAX ? UINT32_MAX : (uint32_t)MAX_OF(above, 0);
}

enum err params_build(struct builder *b, struct node *n)
{
    const struct field_class *class = n->f.class;
    bool known;
    size_t at = param_find(class, STR("similarity"));
    if (at != SIZE_MAX && n->set[at] == NULL) {
        enum err e = similarity_of(b, STR("default"), &n->f.similarity, &known);
        if (e != ERR_OK) {
            return e;
        }
    }
    return class->build != NULL ? class->build(b, n) : ERR_OK;
}
