/* States of a scripted_metric: values that outlive the executions that make them.
 *
 * All states live in the memory of the run that maps. When that has doubled, they are copied into a new arena, and what no state holds any
 * more goes away with the old one. A state with a value that cannot be copied (a lambda, an iterator) keeps all of it. */
#include "engine/script/state.h"

#include "common/base/arena_list.h"

#define MOVE_BYTES ((size_t)2 << 20) /* of memory before states are copied for the first time */

struct script_states {
    const struct allocator *alloc;
    struct script_run *init, *map, *combine; /* init may be NULL */
    struct sv *state;                        /* SV_NULL: not made yet */
    uint32_t n;
    size_t cap;
    struct arena list; /* of `state` */
    size_t next;       /* how much memory there is when they are copied again */
};

/* ---- copying into a new arena ---- */

struct moved {
    const void *from;
    void *to;
};

struct moving {
    struct arena *to;
    struct arena scratch; /* of `slots` */
    struct moved *slots;  /* of lists and maps: by address */
    size_t slots_n, n;
};

static size_t moved_slot(const struct moving *m, const void *from)
{
    size_t at = (size_t)(((uintptr_t)from >> 4) * 0x9E3779B97F4A7C15ULL) & (m->slots_n - 1);
    while (m->slots[at].from != NULL && m->slots[at].from != from) {
        at = (at + 1) & (m->slots_n - 1);
    }
    return at;
}

static bool moved_note(struct moving *m, const void *from, void *to)
{
    if ((m->n + 1) * 2 > m->slots_n) {
        struct moving old = *m;
        m->slots_n = old.slots_n == 0 ? 64 : old.slots_n * 2;
        m->slots = ARENA_ARRAY(&m->scratch, struct moved, m->slots_n);
        if (m->slots == NULL) {
            return false;
        }
        for (size_t i = 0; i < old.slots_n; i++) {
            if (old.slots[i].from != NULL) {
                m->slots[moved_slot(m, old.slots[i].from)] = old.slots[i];
            }
        }
    }
    m->slots[moved_slot(m, from)] = (struct moved){from, to};
    m->n++;
    return true;
}

static bool move_value(struct moving *m, struct sv *v, unsigned depth);

static bool move_list(struct moving *m, struct sv *v, unsigned depth)
{
    const struct sv_list *from = v->list;
    if (from->of != NULL || from->form == LIST_STREAM) {
        return false;
    }
    struct sv_list *to = ARENA_NEW(m->to, struct sv_list);
    if (to == NULL || !moved_note(m, from, to)) {
        return false;
    }
    *to = *from;
    to->v = ARENA_ARRAY(m->to, struct sv, from->n);
    to->cap = from->n;
    if (to->v == NULL) {
        return false;
    }
    v->list = to;
    for (uint32_t i = 0; i < from->n; i++) {
        to->v[i] = from->v[i];
        if (!move_value(m, &to->v[i], depth)) {
            return false;
        }
    }
    return true;
}

static bool move_map(struct moving *m, struct sv *v, unsigned depth)
{
    const struct sv_map *from = v->map;
    struct sv_map *to = ARENA_NEW(m->to, struct sv_map);
    if (to == NULL || !moved_note(m, from, to)) {
        return false;
    }
    *to = *from;
    to->e = ARENA_ARRAY(m->to, struct sv_map_entry, from->n);
    to->cap = from->n;
    to->slots = from->slots_n > 0 ? ARENA_ARRAY(m->to, uint32_t, from->slots_n) : NULL;
    if (to->e == NULL || (to->slots == NULL && from->slots_n > 0)) {
        return false;
    }
    if (from->slots_n > 0) {
        memcpy(to->slots, from->slots, from->slots_n * sizeof(*to->slots));
    }
    v->map = to;
    for (uint32_t i = 0; i < from->n; i++) {
        to->e[i] = from->e[i];
        if (!move_value(m, &to->e[i].key, depth) || !move_value(m, &to->e[i].value, depth)) {
            return false;
        }
    }
    return true;
}

static bool move_date(struct moving *m, struct sv *v)
{
    struct sv_date *to = ARENA_NEW(m->to, struct sv_date);
    if (to == NULL || (v->date->zone != NULL && v->date->zone != &zone_utc)) {
        return false;
    }
    *to = *v->date;
    v->date = to;
    return true;
}

/* false: no memory, or a value that stays where it is. */
static bool move_value(struct moving *m, struct sv *v, unsigned depth)
{
    const void *held = v->kind == SV_LIST ? (const void *)v->list : v->kind == SV_MAP ? v->map : NULL;
    const struct moved *had = held != NULL && m->n > 0 ? &m->slots[moved_slot(m, held)] : NULL;
    if (had != NULL && had->from != NULL) {
        v->p = had->to;
        return true;
    }
    if (depth > DEPTH_MAX) {
        return false;
    }
    switch (v->kind) {
    case SV_NULL:
    case SV_BOOL:
    case SV_BYTE:
    case SV_SHORT:
    case SV_CHAR:
    case SV_INT:
    case SV_LONG:
    case SV_FLOAT:
    case SV_DOUBLE:
    case SV_ENUM:
        return true;
    case SV_STR:
        v->s = arena_str(m->to, v->s);
        return v->s.p != NULL;
    case SV_LIST:
        return move_list(m, v, depth + 1);
    case SV_MAP:
        return move_map(m, v, depth + 1);
    case SV_DATE:
    case SV_INSTANT:
    case SV_LOCAL:
    case SV_DURATION:
        return move_date(m, v);
    case SV_ENTRY:
    case SV_DOCS:
    case SV_FIELD:
    case SV_GEO:
    case SV_FUNC:
    case SV_TYPE:
    case SV_ITER:
    case SV_PATTERN:
    case SV_MATCHER:
    case SV_FORMATTER:
    case SV_ZONE:
    case SV_BUILDER:
    case SV_OPTIONAL:
    case SV_KINDS:
        break;
    }
    return false;
}

/* Leaves behind what no state holds. Where that cannot be done, all stays as it is. */
static void states_move(struct script_states *s)
{
    struct arena to;
    arena_init(&to, s->alloc, s->map->mem.bytes_max);
    struct moving m = {.to = &to};
    arena_init(&m.scratch, s->alloc, s->map->mem.bytes_max);
    struct sv *state = ARENA_ARRAY(&m.scratch, struct sv, s->n);
    bool ok = state != NULL;
    for (uint32_t i = 0; ok && i < s->n; i++) {
        state[i] = s->state[i];
        ok = !stop_often() && move_value(&m, &state[i], 0);
    }
    if (ok) {
        memcpy(s->state, state, s->n * sizeof(*state));
        arena_fini(&s->map->mem);
        s->map->mem = to;
    } else {
        arena_fini(&to);
    }
    arena_fini(&m.scratch);
    s->next = MIN_OF(MAX_OF(s->map->mem.bytes_used * 2, MOVE_BYTES), s->map->mem.bytes_max / 8 * 7);
}

/* ---- stages ---- */

/* One stage over a state, in the memory that all share. */
static enum err stage(struct script_states *s, struct script_run *run, const struct script_env *env,
                      struct sv *state, struct sv *out, struct errmsg *em)
{
    struct arena own = run->mem;
    if (run != s->map) {
        run->mem = s->map->mem;
    }
    run_prepare(run, env);
    run->ctx = *state;
    enum err e = run_execute(run, out, em);
    run->ctx = sv_null();
    run->own_em = (struct errmsg){0};
    if (run != s->map) {
        s->map->mem = run->mem;
        run->mem = own;
    }
    return e;
}

static enum err state_new(struct script_states *s, struct sv *out, struct errmsg *em)
{
    struct sv ignored;
    *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&s->map->mem)};
    if (out->map == NULL) {
        out->kind = SV_NULL;
        return err_no_memory(em);
    }
    out->map->hashed = true;
    return s->init != NULL ? stage(s, s->init, NULL, out, &ignored, em) : ERR_OK;
}

/* The state of a number, made when it is new. */
static enum err state_of(struct script_states *s, uint32_t number, struct sv **out, struct errmsg *em)
{
    while (s->n <= number) {
        if (!ARENA_ROOM(&s->list, s->state, s->n, s->cap)) {
            return err_no_memory(em);
        }
        s->state[s->n++] = sv_null();
    }
    *out = &s->state[number];
    return (*out)->kind == SV_NULL ? state_new(s, *out, em) : ERR_OK;
}

enum err script_states_map(struct script_states *s, uint32_t number, const struct script_env *env,
                           struct errmsg *em)
{
    struct sv *state, ignored;
    enum err e = state_of(s, number, &state, em);
    e = e == ERR_OK ? stage(s, s->map, env, state, &ignored, em) : e;
    if (e == ERR_OK && s->map->mem.bytes_used > s->next) {
        states_move(s);
    }
    return e;
}

struct arena *script_states_arena(struct script_states *s)
{
    return &s->map->mem;
}

static enum err states_run(struct script_run **out, struct script *script, const struct json *params,
                           const struct allocator *alloc, struct errmsg *em)
{
    enum err e = script != NULL ? script_run_new(out, script, params, NULL, em) : ERR_OK;
    if (e == ERR_OK && *out != NULL) {
        arena_init(&(*out)->mem, alloc, (*out)->limits.bytes_max); /* which has allocated nothing yet */
    }
    return e;
}

enum err script_states_new(struct script_states **out, const struct script_stages *stages,
                           const struct allocator *alloc, struct errmsg *em)
{
    struct script_states *s = alloc_get(alloc_default(), sizeof(*s));
    *out = NULL;
    if (s == NULL) {
        return err_no_memory(em);
    }
    memset(s, 0, sizeof(*s));
    s->alloc = alloc;
    s->next = MOVE_BYTES;
    arena_init(&s->list, alloc, ARENA_UNLIMITED);
    enum err e = states_run(&s->init, stages->init, stages->init_params, alloc, em);
    e = e == ERR_OK ? states_run(&s->map, stages->map, stages->map_params, alloc, em) : e;
    e = e == ERR_OK ? states_run(&s->combine, stages->combine, stages->combine_params, alloc, em) : e;
    if (e != ERR_OK) {
        script_states_free(s);
        return e;
    }
    *out = s;
    return ERR_OK;
}

void script_states_free(struct script_states *s)
{
    if (s != NULL) {
        script_run_free(s->init);
        script_run_free(s->map);
        script_run_free(s->combine);
        arena_fini(&s->list);
        alloc_put(alloc_default(), s);
    }
}

/* ---- results ---- */

void script_states_none(struct buf *out)
{
    const struct state_writing w = {.b = out};
    (void)state_put(&w, sv_null(), 0);
}

enum err script_states_combine(struct script_states *s, uint32_t number, struct buf *out, struct errmsg *em)
{
    struct sv *state, result;
    enum err e = state_of(s, number, &state, em);
    e = e == ERR_OK ? stage(s, s->combine, NULL, state, &result, em) : e;
    const struct state_writing w = {out, true, em};
    e = e == ERR_OK ? state_put(&w, result, 0) : e;
    if (e == ERR_OK && s->map->mem.bytes_used > s->next) { /* what it made is written */
        states_move(s);
    }
    return e;
}

enum err script_states_reduce(struct script_run *run, const struct str *states, uint32_t n,
                              struct arena *arena, struct json *out, struct buf *bytes, struct errmsg *em)
{
    struct sv one, result;
    arena_reset(&run->mem);
    run_prepare(run, NULL);
    struct sv_list *list = sv_list_new(&run->mem, LIST_LIST);
    enum err e = list != NULL ? ERR_OK : err_no_memory(em);
    for (uint32_t i = 0; e == ERR_OK && i < n; i++) {
        struct bytes_in in = bytes_in(states[i]);
        const struct state_reading d = {&in, &run->mem, em};
        e = state_get(&d, &one, 0);
        if (e == ERR_OK && !sv_list_push(&run->mem, list, one)) {
            e = err_no_memory(em);
        }
    }
    if (e == ERR_OK) {
        run->ctx = sv_of_list(list);
        e = run_execute(run, &result, em);
        run->ctx = sv_null();
    }
    const struct state_writing w = {bytes, false, em};
    e = e == ERR_OK ? state_put(&w, result, 0) : e;
    return e == ERR_OK ? sv_to_json(out, result, arena, 0, em) : e;
}
