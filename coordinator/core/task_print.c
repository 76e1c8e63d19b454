#include "coordinator/core/task_print.h"

void task_write_members(const struct coordinator *co, const struct task *t, bool detailed, struct jsonw *w)
{
    jw_kstr(w, "node", co->o.node_id);
    jw_ki64(w, "id", (int64_t)t->id);
    jw_kz(w, "type", t->type);
    jw_kz(w, "action", t->action);
    if (detailed) {
        struct buf text;
        if (t->ops->status != NULL) {
            jw_k(w, "status");
            t->ops->status(t, w);
        }
        buf_init(&text, NULL, MIB);
        if (t->ops->describe != NULL) {
            t->ops->describe(t, &text);
        }
        jw_kstr(w, "description", buf_view(&text));
        buf_fini(&text);
    }
    jw_ki64(w, "start_time_in_millis", t->start_ms);
    jw_ki64(w, "running_time_in_nanos", co->o.clock->mono_ns(co->o.clock->self) - t->start_ns);
    jw_kbool(w, "cancellable", t->ops->cancellable);
    if (t->parent != 0) {
        jw_k(w, "parent_task_id");
        jw_strf(w, "%.*s:%llu", STR_ARG(t->parent_node.p != NULL ? t->parent_node : co->o.node_id),
                (unsigned long long)t->parent);
    }
    jw_kobj(w, "headers");
    if (t->opaque_id.p != NULL) {
        jw_kstr(w, "X-Opaque-Id", t->opaque_id);
    }
    jw_obj_end(w);
}

void task_write(const struct coordinator *co, const struct task *t, bool detailed, struct jsonw *w)
{
    jw_obj(w);
    task_write_members(co, t, detailed, w);
    jw_obj_end(w);
}
