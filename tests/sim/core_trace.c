/* What happens to cores, kept and played again: see core_trace.h. */
#include "tests/sim/core_trace_int.h"

#include <stdlib.h>
#include <string.h>

#define NOTES 40 /* the last of each node */

struct note {
    int64_t ms;
    const char *core, *what;
    bool effect;
};

static const struct core_player *const players[] = {[CORE_QUORUM] = &quorum_player,
                                                    [CORE_GROUP] = &group_player,
                                                    [CORE_FOLLOWER] = &follower_player,
                                                    [CORE_TARGET] = &target_player,
                                                    [CORE_SOURCE] = &source_player};

static struct core_traces {
    bool on;
    struct core_traces_opts o;
    struct core_trace *list; /* who was used last is first */
    struct {
        struct note v[NOTES];
        uint64_t n;
    } notes[TRACE_NODES_MAX];
} all;

/* ---- in words ------------------------------------------------------------------------------------------------ */

static unsigned node_now(void)
{
    return all.o.node != NULL ? all.o.node(all.o.self) % TRACE_NODES_MAX : 0;
}

/* Of what comes again and again the last one is enough, unless something followed. */
static bool is_idle(const struct note *t)
{
    static const char *const often[] = {"tick", "time-outs", "look",
                                        "room", "active?",   "the checkpoint moved"};
    bool yes = false;
    for (size_t i = 0; i < ARRAY_LEN(often); i++) {
        yes |= !t->effect && strcmp(t->what, often[i]) == 0;
    }
    return yes;
}

static void note(enum core core, const char *what, bool effect)
{
    unsigned at = node_now();
    uint64_t n = all.notes[at].n;
    if (n > 0 && !effect && is_idle(&all.notes[at].v[(n - 1) % NOTES])) {
        all.notes[at].n--;
    }
    all.notes[at].v[all.notes[at].n++ % NOTES] =
        (struct note){all.o.now_ms != NULL ? all.o.now_ms(all.o.self) : 0, players[core]->name, what, effect};
}

void trace_effect(enum core core, unsigned kind)
{
    if (all.on) {
        note(core, players[core]->effects[kind], true);
    }
}

void core_traces_print(FILE *to, unsigned node)
{
    uint64_t n = all.notes[node].n;
    for (uint64_t i = n > NOTES ? n - NOTES : 0; i < n; i++) {
        const struct note *t = &all.notes[node].v[i % NOTES];
        fprintf(to, "  n%u %lld ms %s%s %s\n", node, (long long)t->ms, t->core, t->effect ? " ->" : ":",
                t->what);
    }
}

void core_traces_print_here(FILE *to)
{
    core_traces_print(to, node_now());
}

/* ---- keeping ------------------------------------------------------------------------------------------------- */

static struct core_trace *find(enum core core, const void *at)
{
    for (struct core_trace **p = &all.list; *p != NULL; p = &(*p)->next) {
        struct core_trace *c = *p;
        if (c->at == at && c->core == core) {
            *p = c->next;
            c->next = all.list;
            all.list = c;
            return c;
        }
    }
    return NULL;
}

static struct core_trace *trace_new(enum core core, const void *at)
{
    struct core_trace *c = calloc(1, sizeof(*c));
    *c = (struct core_trace){.next = all.list, .core = core, .at = at, .node = node_now()};
    buf_init(&c->tape, NULL, BUF_UNLIMITED);
    buf_init(&c->in, NULL, BUF_UNLIMITED);
    buf_init(&c->out, NULL, BUF_UNLIMITED);
    buf_init(&c->tracker, NULL, BUF_UNLIMITED);
    all.list = c;
    return c;
}

struct core_trace *trace_begin(enum core core, const void *at, unsigned call, bool fresh)
{
    if (!all.on) {
        return NULL;
    }
    if (call < CALL_EFFECT) {
        note(core, players[core]->calls[call], false);
    }
    struct core_trace *c = all.o.whole ? find(core, at) : NULL;
    if (all.o.whole && fresh && (c == NULL || !c->idle)) {
        if (c != NULL) {
            c->at = NULL;
        }
        c = trace_new(core, at);
    }
    if (c != NULL) {
        c->call = call;
    }
    return c;
}

void trace_end(struct core_trace *c, bool idle)
{
    if (c == NULL) {
        return;
    }
    put_u8(&c->tape, (uint8_t)c->call);
    put_str(&c->tape, buf_view(&c->in));
    put_str(&c->tape, buf_view(&c->out));
    buf_reset(&c->in);
    buf_reset(&c->out);
    c->idle = idle;
    c->n++;
}

size_t trace_object(struct core_trace *c, const void *object, bool *known)
{
    size_t free_one = c->n_objects;
    for (size_t i = 0; i < c->n_objects; i++) {
        if (c->objects[i] == object) {
            *known = true;
            return i;
        }
        free_one = c->objects[i] == NULL ? i : free_one;
    }
    if (free_one == c->n_objects) {
        c->objects = realloc(c->objects, ++c->n_objects * sizeof(*c->objects));
    }
    c->objects[free_one] = object;
    *known = false;
    return free_one;
}

void trace_forget(struct core_trace *c, const void *object)
{
    for (size_t i = 0; i < c->n_objects; i++) {
        c->objects[i] = c->objects[i] == object ? NULL : c->objects[i];
    }
}

const void *trace_core_with(enum core core, const void *object)
{
    for (const struct core_trace *c = all.list; c != NULL; c = c->next) {
        for (size_t i = 0; c->core == core && c->at != NULL && i < c->n_objects; i++) {
            if (c->objects[i] == object) {
                return c->at;
            }
        }
    }
    return NULL;
}

void put_error(struct buf *b, const struct errmsg *em)
{
    put_varint(b, em != NULL ? err_code(em) : ERR_OK);
    put_str(b, str_of(err_reason(em)));
}

const struct errmsg *get_error(struct bytes_in *in, struct errmsg *em)
{
    enum err code = (enum err)get_varint(in);
    struct str reason = get_str(in);
    if (code == ERR_OK) {
        return NULL;
    }
    err_set(em, code, "%.*s", STR_ARG(reason));
    return em;
}

/* ---- the whole ----------------------------------------------------------------------------------------------- */

void core_traces_begin(const struct core_traces_opts *o)
{
    memset(&all, 0, sizeof(all));
    all.o = *o;
    all.on = true;
}

void core_traces_end(void)
{
    all.on = false;
    while (all.list != NULL) {
        struct core_trace *c = all.list;
        all.list = c->next;
        for (size_t i = 0; i < c->n_states; i++) {
            cluster_state_unref(c->states[i]);
        }
        free(c->states);
        free(c->objects);
        buf_fini(&c->tape);
        buf_fini(&c->in);
        buf_fini(&c->out);
        buf_fini(&c->tracker);
        free(c);
    }
}

static bool replay(const struct core_trace *c, uint64_t *steps, char *what, size_t size)
{
    const struct core_player *p = players[c->core];
    struct bytes_in tape = bytes_in(buf_view(&c->tape));
    void *core = p->fresh(c);
    struct buf out;
    bool same = true;
    buf_init(&out, NULL, BUF_UNLIMITED);
    for (uint64_t i = 0; i < c->n && same; i++, ++*steps) {
        unsigned call = get_u8(&tape);
        struct bytes_in in = bytes_in(get_str(&tape));
        struct str came = get_str(&tape);
        buf_reset(&out);
        p->play(core, call, &in, &out);
        same = !tape.bad && !in.bad && str_eq(buf_view(&out), came);
        if (!same) {
            snprintf(what, size, "a %s of n%u, record %llu, %s: something else follows", p->name, c->node,
                     (unsigned long long)i,
                     call == CALL_EFFECT ? "an effect"
                     : call == CALL_NEW  ? "its beginning"
                                         : p->calls[call]);
        }
    }
    p->end(core);
    buf_fini(&out);
    return same;
}

bool core_traces_replay(struct core_traces_sum *sum, char *what, size_t n)
{
    bool same = true;
    *sum = (struct core_traces_sum){0};
    all.on = false;
    for (const struct core_trace *c = all.list; c != NULL && same; c = c->next) {
        sum->cores[c->core]++;
        same = replay(c, &sum->steps, what, n);
    }
    return same;
}
