#include "master/metadata.h"

#include "master/metadata_int.h"

#include "common/cluster/blocks.h"

void meta_request_init(struct meta_request *rq, enum meta_action action, void (*done)(struct meta_request *),
                       void *user)
{
    *rq = (struct meta_request){.action = action, .done = done, .user = user};
    arena_init(&rq->arena, NULL, ARENA_UNLIMITED);
    rq->error = err_in(&rq->arena);
}

void meta_request_fini(struct meta_request *rq)
{
    arena_fini(&rq->arena);
}

void random_uuid(struct rng *rng, char out[23])
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t bits = 0;
    for (int i = 0; i < 22; i++) {
        if (i % 10 == 0) {
            bits = rng_u64(rng);
        }
        out[i] = alphabet[bits & 63];
        bits >>= 6;
    }
    if (out[0] == '-' || out[0] == '_') { /* ids go into file names and URLs: begin with a letter */
        out[0] = 'x';
    }
    out[22] = '\0';
}

static enum err dispatch(const struct metadata_env *env, const struct cluster_state *cur,
                         struct meta_request *rq, struct state_builder *b, struct errmsg *em)
{
    bool of_cluster = rq->action == META_CREATE_INDEX || rq->action == META_PUT_TEMPLATE
                      || rq->action == META_DELETE_TEMPLATE || rq->action == META_PUT_SCRIPT
                      || rq->action == META_DELETE_SCRIPT || rq->action == META_PUT_PIPELINE
                      || rq->action == META_DELETE_PIPELINE;
    enum err e = of_cluster ? cluster_block_check(cur, BLOCK_METADATA_WRITE, em) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    switch (rq->action) {
    case META_CREATE_INDEX:
        return meta_create_index(env, cur, rq, b, em);
    case META_DELETE_INDEX:
        return meta_delete_index(cur, rq, b, em);
    case META_PUT_MAPPING:
        return meta_put_mapping(env, cur, rq, b, em);
    case META_UPDATE_SETTINGS:
        return meta_update_settings(env, cur, rq, b, em);
    case META_OPEN_INDEX:
    case META_CLOSE_INDEX:
        return meta_open_close(cur, rq, b, em);
    case META_ALIASES:
        return meta_aliases(env, cur, rq, b, em);
    case META_PUT_TEMPLATE:
        return meta_put_template(env, cur, rq, b, em);
    case META_DELETE_TEMPLATE:
        return meta_delete_template(cur, rq, b, em);
    case META_CLUSTER_SETTINGS:
        return meta_cluster_settings(cur, rq, b, em);
    case META_REROUTE:
        return meta_reroute(env, rq, b, em);
    case META_EXPLAIN:
        return meta_explain(env, cur, rq, em);
    case META_EXCLUDE_VOTERS:
        return meta_exclude_voters(cur, rq, b, em);
    case META_CLEAR_EXCLUSIONS:
        return meta_clear_exclusions(cur, rq, b, em);
    case META_PUT_SCRIPT:
        return meta_put_script(cur, rq, b, em);
    case META_DELETE_SCRIPT:
        return meta_delete_script(cur, rq, b, em);
    case META_PUT_PIPELINE:
        return meta_put_pipeline(cur, rq, b, em);
    case META_DELETE_PIPELINE:
        return meta_delete_pipeline(cur, rq, b, em);
    case META_ACTIONS:
        break;
    }
    return err_set(em, ERR_UNSUPPORTED, "metadata action %d", (int)rq->action);
}

enum err metadata_apply(const struct metadata_env *env, const struct cluster_state *cur,
                        struct meta_request *rq, struct cluster_state **next, struct errmsg *em)
{
    struct state_builder b;
    *next = NULL;
    rq->changed = false;
    if (!state_builder_init(&b, cur)) {
        return err_no_memory(em);
    }
    enum err e = dispatch(env, cur, rq, &b, em);
    if (e != ERR_OK || !rq->changed) {
        state_builder_fini(&b);
        return e;
    }
    char uuid[23];
    random_uuid(env->rng, uuid);
    *next = state_builder_seal(&b, str_of(uuid));
    return *next != NULL ? ERR_OK : err_no_memory(em);
}
