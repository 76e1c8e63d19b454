/* Scripts that the cluster stores. What they say is checked by who sends them: the engine is not known here. */
#include "master/metadata_int.h"

static bool same_script(const struct script_meta *a, const struct script_meta *b)
{
    bool typed = a->content_type.p != NULL;
    return str_eq(a->lang, b->lang) && str_eq(a->source, b->source) && typed == (b->content_type.p != NULL)
           && (!typed || str_eq(a->content_type, b->content_type));
}

enum err meta_put_script(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                         struct errmsg *em)
{
    struct script_meta m = {.lang = json_text(json_get(&rq->body, "lang")),
                            .source = json_text(json_get(&rq->body, "source")),
                            .content_type = json_text(json_get(&rq->body, "content_type"))};
    if (rq->n_names != 1 || m.lang.p == NULL || m.source.p == NULL) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a script has an id, a language and a source");
    }
    m.id = rq->names[0];
    const struct script_meta *was = cluster_script(cur, m.id);
    if (was != NULL && same_script(was, &m)) {
        return ERR_OK;
    }
    struct scripts_part *p = scripts_part_with(cur->scripts, &m);
    if (p == NULL) {
        return err_no_memory(em);
    }
    rq->changed = true;
    state_put_scripts(b, p);
    return ERR_OK;
}

enum err meta_delete_script(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                            struct errmsg *em)
{
    struct str id = rq->n_names == 1 ? rq->names[0] : STR("");
    if (cluster_script(cur, id) == NULL) {
        return err_set(em, ERR_RESOURCE_NOT_FOUND,
                       "stored script [%.*s] does not exist and cannot be deleted", STR_ARG(id));
    }
    struct scripts_part *p = scripts_part_without(cur->scripts, id);
    if (p == NULL) {
        return err_no_memory(em);
    }
    rq->changed = true;
    state_put_scripts(b, p);
    return ERR_OK;
}
