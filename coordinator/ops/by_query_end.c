/* The end of an operation: its answer, or its result stored for _tasks. */
#include "coordinator/core/task_print.h"
#include "coordinator/ops/by_query_int.h"
#include "coordinator/ops/task_results.h"

static const struct by_query_worker *failed_worker(const struct by_query *op)
{
    for (uint32_t i = 0; i < op->n_workers; i++) {
        if (op->workers[i].answer.n > 0 || op->workers[i].answer.failed) {
            return &op->workers[i];
        }
    }
    return NULL;
}

/* An object of JSON with one member more: what the other slices that failed say. */
static void with_suppressed(const struct by_query *op, const struct by_query_worker *first, struct str object,
                            struct jsonw *j)
{
    bool any = false;
    jw_obj(j);
    jw_members(j, object);
    for (const struct by_query_worker *w = first + 1; w < op->workers + op->n_workers; w++) {
        if (w->error.n == 0) {
            continue;
        }
        if (!any) {
            jw_karr(j, "suppressed");
            any = true;
        }
        jw_raw(j, buf_view(&w->error));
    }
    if (any) {
        jw_arr_end(j);
    }
    jw_obj_end(j);
}

/* {"error":{...},"status":n} of the first that failed. */
static void failed_answer(const struct by_query *op, const struct by_query_worker *first, struct buf *b)
{
    struct str text = buf_view(&first->answer);
    struct arena scratch;
    struct json tree;
    struct jsonw j;
    arena_init(&scratch, NULL, ARENA_UNLIMITED);
    b->failed |= first->answer.failed; /* half an answer is none */
    if (op->n_workers == 1 || json_parse(&tree, text, &scratch, &json_limits_default, NULL) != ERR_OK
        || json_get(&tree, "error") == NULL) {
        buf_str(b, text);
    } else {
        const struct json *error = json_get(&tree, "error");
        jsonw_init(&j, b, false);
        jw_obj(&j);
        jw_k(&j, "error");
        with_suppressed(op, first, str_slice(text, error->off, error->end), &j);
        jw_ki64(&j, "status", first->error_status);
        jw_obj_end(&j);
    }
    arena_fini(&scratch);
}

static void answer(struct by_query *op)
{
    const struct by_query_worker *failed = failed_worker(op);
    const struct by_query_spec spec = op->spec;
    struct buf b;
    struct jsonw j;
    int status;
    buf_init(&b, NULL, BUF_UNLIMITED);
    if (failed != NULL) {
        failed_answer(op, failed, &b);
        status = failed->error_status;
    } else {
        jsonw_init(&j, &b, false);
        jw_obj(&j);
        response_members(op, spec.human ? PRINT_HUMAN : 0, &j, &status);
        jw_obj_end(&j);
    }
    tasks_end(op->co->tasks, &op->task);
    by_query_free(op);
    spec.answer(spec.arg, status, &b, failed != NULL);
}

/* ---- results for later --------------------------------------------------------------------------------- */

struct stored_op {
    struct task_result t;
    struct by_query *op;
};

static void stored(struct task_result *t)
{
    struct stored_op *s = t->user;
    struct by_query *op = s->op;
    if (t->error != NULL) {
        log_warn(op->co->o.log, "tasks", "the result of task %llu is lost: %s",
                 (unsigned long long)op->task.id, err_reason(t->error));
    }
    tasks_end(op->co->tasks, &op->task); /* only now: until it is stored, _tasks shows it as running */
    by_query_free(op);
}

static void write_result(const struct by_query *op, struct jsonw *j)
{
    const struct by_query_worker *failed = failed_worker(op);
    int status;
    jw_obj(j);
    jw_kbool(j, "completed", true);
    jw_k(j, "task");
    task_write(op->co, &op->task, true, j);
    if (failed != NULL) {
        jw_k(j, "error");
        with_suppressed(op, failed, buf_view(&failed->error), j);
    } else {
        jw_kobj(j, "response");
        response_members(op, PRINT_ALL | PRINT_HUMAN, j, &status);
        jw_obj_end(j);
    }
    jw_obj_end(j);
}

static void store(struct by_query *op)
{
    struct stored_op *s = ARENA_NEW(&op->arena, struct stored_op);
    struct buf b;
    struct jsonw j;
    if (s == NULL) {
        tasks_end(op->co->tasks, &op->task);
        by_query_free(op);
        return;
    }
    s->op = op;
    s->t = (struct task_result){.env = {.co = op->co, .arena = &op->arena, .em = err_in(&op->arena)},
                                .done = stored,
                                .user = s,
                                .em = err_in(&op->arena)};
    jsonw_start(&j, &b);
    write_result(op, &j);
    s->t.id =
        arena_printf(&op->arena, "%.*s:%llu", STR_ARG(op->co->o.node_id), (unsigned long long)op->task.id);
    s->t.source = arena_str(&op->arena, buf_view(&b));
    buf_fini(&b);
    task_result_store(&s->t);
}

static void ended(struct later *l)
{
    struct by_query *op = CONTAINER_OF(l, struct by_query, end);
    const struct clock *c = op->co->o.clock;
    op->took_ms = (c->mono_ns(c->self) - op->task.start_ns) / 1000000;
    if (op->stores) {
        store(op);
    } else {
        answer(op);
    }
}

void by_query_ended(struct by_query *op)
{
    later(&op->end, ended);
}
