#include "coordinator/rest/tasks_listing.h"

#include "coordinator/core/delays.h"
#include "coordinator/core/task_print.h"
#include "coordinator/rest/rest.h"

#define POLL_MS 50 /* between looks at tasks that are waited for */

/* ---- bytes --------------------------------------------------------------------------------------------- */

static void put_opt(struct buf *b, struct str s)
{
    put_bool(b, s.p != NULL);
    put_str(b, s);
}

static struct str keep_opt(struct bytes_in *in, struct arena *a)
{
    bool there = get_bool(in);
    struct str s = get_str(in);
    if (in->bad || !there) {
        return STR_NULL;
    }
    s = arena_str(a, s);
    in->bad |= s.p == NULL;
    return s;
}

void tasks_question_encode(const struct tasks_question *q, struct buf *out)
{
    put_str(out, q->actions);
    put_str(out, q->parent_node);
    put_varint(out, q->id);
    put_varint(out, q->parent);
    put_u8(out, (uint8_t)(q->detailed | q->wait << 1 | q->cancel << 2 | q->rethrottle << 3));
    put_f32(out, q->per_second);
    put_zigzag(out, q->timeout_ms);
    put_str(out, q->asker);
    put_varint(out, q->asking);
}

static bool question_decode(struct tasks_question *q, struct str bytes)
{
    struct bytes_in in = bytes_in(bytes);
    q->actions = get_str(&in);
    q->parent_node = get_str(&in);
    q->id = get_varint(&in);
    q->parent = get_varint(&in);
    uint8_t flags = get_u8(&in);
    q->detailed = (flags & 1) != 0;
    q->wait = (flags & 2) != 0;
    q->cancel = (flags & 4) != 0;
    q->rethrottle = (flags & 8) != 0;
    q->per_second = get_f32(&in);
    q->timeout_ms = get_zigzag(&in);
    q->asker = get_str(&in);
    q->asking = get_varint(&in);
    return !in.bad && bytes_left(&in) == 0;
}

static void found_encode(const struct tasks_found *f, struct buf *out)
{
    put_u8(out, (uint8_t)(f->found | f->timed_out << 1));
    put_u8(out, (uint8_t)f->refusal);
    put_varint(out, f->n);
    for (size_t i = 0; i < f->n; i++) {
        const struct listed *t = &f->v[i];
        put_varint(out, t->id);
        put_varint(out, t->parent);
        put_opt(out, t->parent_node);
        put_zigzag(out, t->start_ms);
        put_zigzag(out, t->running_ns);
        put_opt(out, t->json);
        put_opt(out, t->type);
        put_opt(out, t->action);
        put_opt(out, t->description);
        put_opt(out, t->opaque_id);
    }
}

static void get_listed(struct bytes_in *in, struct listed *t, struct arena *a)
{
    t->id = get_varint(in);
    t->parent = get_varint(in);
    t->parent_node = keep_opt(in, a);
    t->start_ms = get_zigzag(in);
    t->running_ns = get_zigzag(in);
    t->json = keep_opt(in, a);
    t->type = keep_opt(in, a);
    t->action = keep_opt(in, a);
    t->description = keep_opt(in, a);
    t->opaque_id = keep_opt(in, a);
    in->bad |= t->json.p == NULL || t->type.p == NULL || t->action.p == NULL;
}

enum err tasks_found_decode(struct tasks_found *f, struct str bytes, const struct node_meta *node,
                            struct arena *arena, struct errmsg *em)
{
    struct bytes_in in = bytes_in(bytes);
    uint8_t flags = get_u8(&in), refusal = get_u8(&in);
    size_t n = get_count(&in, 8);
    in.bad |= refusal > TASKS_NOT_THROTTLED;
    struct listed *v = in.bad ? NULL : ARENA_ARRAY(arena, struct listed, f->n + n);
    if (v == NULL) {
        return in.bad ? err_set(em, ERR_CORRUPT, "a list of tasks cannot be read") : err_no_memory(em);
    }
    if (f->n > 0) {
        memcpy(v, f->v, f->n * sizeof(v[0]));
    }
    for (size_t i = 0; i < n && !in.bad; i++) {
        struct listed *t = &v[f->n + i];
        *t = (struct listed){.node = node};
        get_listed(&in, t, arena);
        if (t->parent != 0 && t->parent_node.p == NULL) {
            t->parent_node = node->id;
        }
    }
    if (in.bad || bytes_left(&in) != 0) {
        return err_set(em, ERR_CORRUPT, "a list of tasks cannot be read");
    }
    f->v = v;
    f->n += n;
    f->found |= (flags & 1) != 0;
    f->timed_out |= (flags & 2) != 0;
    f->refusal = refusal != TASKS_DONE ? (enum tasks_refusal)refusal : f->refusal;
    return ERR_OK;
}

/* ---- at the node asked --------------------------------------------------------------------------------- */

struct serving {
    struct node_question *q;
    struct tasks_question what;
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
    return (s->what.id == 0 || t->id == s->what.id)
           && (s->what.parent == 0
               || (t->parent == s->what.parent && str_eq(parent_node, s->what.parent_node)))
           && in_list(s->what.actions, str_of(t->action));
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
    task_write_members(co, t, s->what.detailed, &w);
    v->json = take(s, &b); /* the object stays open: children may follow */
    if (s->what.detailed && t->ops->describe != NULL) {
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
    if (s->what.cancel && !t->ops->cancellable) {
        s->found.refusal = s->what.id != 0 ? TASKS_NOT_CANCELLABLE : TASKS_DONE;
        return;
    }
    if (s->what.rethrottle && t->ops->rethrottle == NULL) {
        s->found.refusal = TASKS_NOT_THROTTLED;
        return;
    }
    if (s->what.cancel) {
        tasks_cancel_locked(s->q->co->tasks, t);
    }
    if (s->what.rethrottle) {
        t->ops->rethrottle(t, s->what.per_second);
    }
    keep(s, t);
}

static void reply(struct serving *s)
{
    struct buf b;
    struct errmsg em;
    if (s->failed) {
        err_no_memory(&em);
        node_reply(s->q, NULL, &em);
        return;
    }
    buf_init(&b, NULL, BUF_UNLIMITED);
    found_encode(&s->found, &b);
    node_reply(s->q, &b, NULL);
}

/* The question is a task, too, of a node that knows its parent only now. */
static void set_parent(void *self, struct task *t)
{
    struct serving *s = self;
    t->parent_node = arena_str(&s->q->arena, s->what.asker); /* the question's bytes go before the task */
    t->parent = t->parent_node.p != NULL ? s->what.asking : 0;
}

/* Those that list tasks are not waited for: they wait themselves. */
static void look_again(void *arg)
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
        delays_add(co->delays, &s->delay, POLL_MS, look_again, s);
        return;
    }
    reply(s);
}

void tasks_serve(struct node_question *q)
{
    struct errmsg em;
    struct serving *s = ARENA_NEW(&q->arena, struct serving);
    enum err e = s == NULL ? err_no_memory(&em)
                 : !question_decode(&s->what, q->text)
                     ? err_set(&em, ERR_CORRUPT, "a question about tasks cannot be read")
                     : ERR_OK;
    if (e != ERR_OK) {
        node_reply(q, NULL, &em);
        return;
    }
    s->q = q;
    if (q->task.id != 0 && s->what.asking != 0) {
        tasks_one(q->co->tasks, q->task.id, set_parent, s);
    }
    if (s->what.id != 0) {
        tasks_one(q->co->tasks, s->what.id, each, s);
    } else {
        tasks_each(q->co->tasks, each, s);
    }
    if (s->what.wait) {
        s->until_ms = clock_mono_ms(q->co->o.clock) + s->what.timeout_ms;
        look_again(s);
    } else {
        reply(s);
    }
}
