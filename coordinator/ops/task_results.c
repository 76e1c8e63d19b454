#include "coordinator/ops/task_results.h"

#include "coordinator/core/active.h"
#include "coordinator/core/meta.h"
#include "engine/index/engine.h"

static const char index_body[] =
    "{\"settings\":{\"number_of_shards\":1,\"number_of_replicas\":0,\"auto_expand_replicas\":\"0-1\","
    "\"priority\":2147483647},"
    "\"mappings\":{\"dynamic\":\"strict\",\"_meta\":{\"version\":\"7.12.1\"},\"properties\":{"
    "\"completed\":{\"type\":\"boolean\"},"
    "\"task\":{\"properties\":{\"action\":{\"type\":\"keyword\"},\"cancellable\":{\"type\":\"boolean\"},"
    "\"id\":{\"type\":\"long\"},"
    "\"parent_task_id\":{\"type\":\"keyword\"},\"node\":{\"type\":\"keyword\"},\"running_time_in_nanos\":{"
    "\"type\":\"long\"},"
    "\"start_time_in_millis\":{\"type\":\"long\"},\"type\":{\"type\":\"keyword\"},"
    "\"status\":{\"type\":\"object\",\"enabled\":false},\"description\":{\"type\":\"text\"},"
    "\"headers\":{\"type\":\"object\",\"enabled\":false}}},"
    "\"response\":{\"type\":\"object\",\"enabled\":false},\"error\":{\"type\":\"object\",\"enabled\":false}}}"
    "}";

static void ended(struct later *l)
{
    struct task_result *t = CONTAINER_OF(l, struct task_result, end);
    t->done(t);
}

static void task_result_finish(struct task_result *t, const struct errmsg *error)
{
    t->error = error;
    cluster_state_unref(t->env.state);
    t->env.state = NULL;
    later(&t->end, ended);
}

static void written(struct write_set *set)
{
    struct task_result *t = set->user;
    const struct write_entry *e = &t->entry;
    const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
    if (em != NULL) {
        err_copy(&t->em, em);
        em = &t->em;
    }
    writes_fini(set);
    task_result_finish(t, em);
}

static void write_it(struct task_result *t)
{
    t->entry = (struct write_entry){.target = STR(TASKS_INDEX), .action = "index"};
    t->entry.item = (struct write_item){.kind = WRITE_INDEX,
                                        .id = t->id,
                                        .source = t->source,
                                        .auto_id_ms = -1,
                                        .version = VERSION_ANY,
                                        .if_seq_no = SEQ_UNASSIGNED};
    t->set = (struct write_set){.r = &t->env,
                                .v = &t->entry,
                                .n = 1,
                                .timeout_ms = 60000,
                                .active = ACTIVE_DEFAULT,
                                .done = written,
                                .user = t};
    writes_run(&t->set);
}

static void created(struct meta_call *call)
{
    struct task_result *t = call->arg;
    enum err e = err_is(&call->rq.error) ? err_code(&call->rq.error) : ERR_OK;
    err_copy(&t->em, &call->rq.error);
    meta_call_free(call);
    if (e != ERR_OK && e != ERR_INDEX_EXISTS) { /* another may have been quicker */
        task_result_finish(t, &t->em);
        return;
    }
    write_it(t);
}

void task_result_store(struct task_result *t)
{
    static const struct str name = {TASKS_INDEX, sizeof(TASKS_INDEX) - 1};
    struct coordinator *co = t->env.co;
    t->env.state = co->o.state(co->o.self);
    if (cluster_index(t->env.state, name) != NULL) {
        write_it(t);
        return;
    }
    struct meta_call *call = meta_call_new(&t->env, META_CREATE_INDEX, &name, 1);
    if (call == NULL
        || json_parse(&call->rq.body, STR(index_body), &call->rq.arena, &json_limits_default, &t->em)
               != ERR_OK) {
        if (call != NULL) {
            meta_call_free(call);
        }
        err_no_memory(&t->em);
        task_result_finish(t, &t->em);
        return;
    }
    call->rq.text = STR(index_body);
    meta_call_send(call, created, t);
}
