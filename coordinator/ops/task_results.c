#include "coordinator/ops/task_results.h"

#include "coordinator/core/active.h"
#include "coordinator/rest/meta.h"
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

static void finish(struct task_result *t, const struct errmsg *error)
{
    t->error = error;
    cluster_state_unref(t->rest.state);
    t->rest.state = NULL;
    t->done(t);
}

static void written(struct write_set *set)
{
    struct task_result *t = set->user;
    const struct write_entry *e = &t->entry;
    const struct errmsg *em = e->error != NULL ? e->error : e->item.error;
    if (em != NULL) {
        t->em = *em;
        em = &t->em;
    }
    writes_fini(set);
    finish(t, em);
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
    t->set = (struct write_set){.r = &t->rest,
                                .v = &t->entry,
                                .n = 1,
                                .timeout_ms = 60000,
                                .active = ACTIVE_DEFAULT,
                                .done = written,
                                .user = t};
    writes_run(&t->set);
}

static void created(struct rest *r, struct meta_request *rq)
{
    struct task_result *t = r->user;
    enum err e = rq->error.n > 0 ? err_code(&rq->error) : ERR_OK;
    t->em = rq->error;
    rest_meta_free(rq);
    if (e != ERR_OK && e != ERR_INDEX_EXISTS) { /* another may have been quicker */
        finish(t, &t->em);
        return;
    }
    write_it(t);
}

void task_result_store(struct task_result *t)
{
    static const struct str name = {TASKS_INDEX, sizeof(TASKS_INDEX) - 1};
    struct coordinator *co = t->rest.co;
    t->rest.state = co->o.state(co->o.self);
    t->rest.user = t;
    if (cluster_index(t->rest.state, name) != NULL) {
        write_it(t);
        return;
    }
    struct meta_request *rq = rest_meta_new(&t->rest, META_CREATE_INDEX, &name, 1);
    if (rq == NULL
        || json_parse(&rq->body, STR(index_body), &rq->arena, &json_limits_default, &t->em) != ERR_OK) {
        if (rq != NULL) {
            rest_meta_free(rq);
        }
        err_no_memory(&t->em);
        finish(t, &t->em);
        return;
    }
    rq->text = STR(index_body);
    rest_meta_then(&t->rest, rq, created);
}
