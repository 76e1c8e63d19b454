/* Ingest pipelines. What they say is checked by who sends them: the engine is not known here. */
#include "master/metadata_int.h"

#include "common/base/jsonw.h"

enum err meta_put_pipeline(const struct cluster_state *cur, struct meta_request *rq, struct state_builder *b,
                           struct errmsg *em)
{
    struct buf text;
    struct jsonw w;
    if (rq->n_names != 1 || rq->body.type != JSON_OBJECT) {
        return err_set(em, ERR_ILLEGAL_ARGUMENT, "a pipeline has an id and a definition");
    }
    jsonw_start(&w, &text);
    jw_value(&w, &rq->body);
    struct pipeline_meta m = {rq->names[0], buf_view(&text)};
    const struct pipeline_meta *was = cluster_pipeline(cur, m.id);
    if (text.failed || (was != NULL && str_eq(was->body, m.body))) {
        bool failed = text.failed;
        buf_fini(&text);
        return failed ? err_no_memory(em) : ERR_OK;
    }
    struct pipelines_part *p = pipelines_part_with(cur->pipelines, &m);
    buf_fini(&text);
    if (p == NULL) {
        return err_no_memory(em);
    }
    rq->changed = true;
    state_put_pipelines(b, p);
    return ERR_OK;
}

/* A pattern takes all that it matches; one that matches nothing is an error, but for "*". */
enum err meta_delete_pipeline(const struct cluster_state *cur, struct meta_request *rq,
                              struct state_builder *b, struct errmsg *em)
{
    struct str id = rq->n_names == 1 ? rq->names[0] : STR("");
    struct pipelines_part *next = NULL;
    for (uint32_t i = 0; cur->pipelines != NULL && i < cur->pipelines->n; i++) {
        if (!str_glob(id, cur->pipelines->v[i].id)) {
            continue;
        }
        struct pipelines_part *less =
            pipelines_part_without(next != NULL ? next : cur->pipelines, cur->pipelines->v[i].id);
        state_part_unref(next != NULL ? &next->part : NULL);
        if (less == NULL) {
            return err_no_memory(em);
        }
        next = less;
    }
    if (next == NULL) {
        return str_is(id, "*")
                   ? ERR_OK
                   : err_set(em, ERR_RESOURCE_NOT_FOUND, "pipeline [%.*s] is missing", STR_ARG(id));
    }
    rq->changed = true;
    state_put_pipelines(b, next);
    return ERR_OK;
}
