#include "coordinator/rest/tasks_listing.h"

#include "coordinator/core/delays.h"
#include "coordinator/core/task_print.h"
#include "coordinator/rest/rest.h"

#define POLL_MS 50 /* between looks at tasks that are waited for */

/* ---- at the node asked --------------------------------------------------------------------------------- */

struct serving {
    struct node_question *q;
    const struct tasks_question *what;
    struct tasks_found found;
    size_t cap;
    bool failed; /* no memory */
    struct delay delay;
    int64_t until_ms;
};

static bool in_list(struct str patterns, struct str s)
{
    struct str rest = patterns;
    while (rest.p != NULL && rest.n > 0) {
        if (str_glob(str_cut(rest, ',', &rest), s)) {
            return true;
        }
    }
    return patterns.n == 0;
}

static bool matches(const struct serving *s, const struct task *t)
{
    struct str parent_node = t->parent_node.p != NULL ? t->parent_node : s->q->co->o.node_id;
    return (s->what->id == 0 || t->id == s->what->id)
           && (s->what->parent == 0
               || (t->parent == s->what->parent && str_eq(parent_node, s->what->parent_node)))
           && in_list(s->what->actions, str_of(t->action));
}

static struct str take(struct serving *s, struct buf *b)
{
    struct str text = b->failed ? STR_NULL : arena_str(&s->q->arena, buf_view(b));
    s->failed |= text.p == NULL;
    buf_fini(b);
    return text;
}

static void keep(struct serving *s, const struct task *t)
{
    const struct coordinator *co = s->q->co;
    struct arena *a = &s->q->arena;
    struct buf b;
    struct jsonw w;
    struct listed *v = arena_grow(a, s->found.v, s->found.n, &s->cap, sizeof(*v));
    if (v == NULL) {
        s->failed = true;
        return;
    }
    s->found.v = v;
    v = &s->found.v[s->found.n++];
    *v = (struct listed){.id = t->id, .parent = t->parent, .start_ms = t->start_ms};
    v->running_ns = co->o.clock->mono_ns(co->o.clock->self) - t->start_ns;
    v->type = str_of(t->type);
    v->action = str_of(t->action);
    v->parent_node = t->parent_node.p != NULL ? arena_str(a, t->parent_node) : STR_NULL;
    v->opaque_id = t->opaque_id.p != NULL ? arena_str(a, t->opaque_id) : STR_NULL;
    jsonw_start(&w, &b);
    jw_obj(&w);
    task_write_members(co, t, s->what->detailed, &w);
    v->json = take(s, &b); /* the object stays open: children may follow */
    if (s->what->detailed && t->ops->describe != NULL) {
        buf_init(&b, NULL, MIB);
        t->ops->describe(t, &b);
        v->description = take(s, &b);
    }
}

static void each(void *self, struct task *t)
{
    struct serving *s = self;
    if (!matches(s, t)) {
        return;
    }
    s->found.found = true;
    if (s->what->cancel && !t->ops->cancellable) {
        s->found.refusal = s->what->id != 0 ? TASKS_NOT_CANCELLABLE : TASKS_DONE;
        return;
    }
    if (s->what->rethrottle && t->ops->rethrottle == NULL) {
        s->found.refusal = TASKS_NOT_THROTTLED;
        return;
    }
    if (s->what->cancel) {
        tasks_cancel_locked(s->q->co->tasks, t);
    }
    if (s->what->rethrottle) {
        t->ops->rethrottle(t, s->what->per_second);
    }
    keep(s, t);
}

static void reply(struct serving *s)
{
    ERR_LOCAL(em);
    if (s->failed) {
        err_no_memory(&em);
        node_refuse(s->q, &em);
    } else {
        node_reply(s->q, &s->found);
    }
}

/* The question is a task, too, of a node that knows its parent only now. */
static void set_parent(void *self, struct task *t)
{
    struct serving *s = self;
    t->parent_node = arena_str(&s->q->arena, s->what->asker); /* the question's bytes go before the task */
    t->parent = t->parent_node.p != NULL ? s->what->asking : 0;
}

/* Those that list tasks are not waited for: they wait themselves. */
static void tasks_recheck(void *arg)
{
    struct serving *s = arg;
    struct coordinator *co = s->q->co;
    bool running = false;
    for (size_t i = 0; i < s->found.n; i++) {
        running |= !str_starts(s->found.v[i].action, STR("cluster:monitor/tasks/lists"))
                   && tasks_one(co->tasks, s->found.v[i].id, NULL, NULL);
    }
    s->found.timed_out = running && clock_mono_ms(co->o.clock) >= s->until_ms;
    if (running && !s->found.timed_out && !delays_stopped(co->delays)) {
        delays_add(co->delays, &s->delay, POLL_MS, tasks_recheck, s);
        return;
    }
    reply(s);
}

void tasks_serve(struct node_question *q)
{
    ERR_LOCAL(em);
    struct serving *s = ARENA_NEW(&q->arena, struct serving);
    if (s == NULL) {
        err_no_memory(&em);
        node_refuse(q, &em);
        return;
    }
    s->q = q;
    s->what = q->body;
    if (q->task.id != 0 && s->what->asking != 0) {
        tasks_one(q->co->tasks, q->task.id, set_parent, s);
    }
    if (s->what->id != 0) {
        tasks_one(q->co->tasks, s->what->id, each, s);
    } else {
        tasks_each(q->co->tasks, each, s);
    }
    if (s->what->wait) {
        s->until_ms = clock_mono_ms(q->co->o.clock) + s->what->timeout_ms;
        tasks_recheck(s);
    } else {
        reply(s);
    }
}
