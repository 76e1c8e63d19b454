/* instructions.h - declarations shared by the instructions of the machine. Private to vm*.c. */
#ifndef ENGINE_SCRIPT_INSTRUCTIONS_H
#define ENGINE_SCRIPT_INSTRUCTIONS_H

#include "engine/script/vm.h"

#define HANDLERS_MAX 16

struct frame {
    const struct code *code;
    struct sv *slot;
    uint32_t pc;
    struct {
        uint32_t target, sp;
    } handler[HANDLERS_MAX];
    uint32_t handlers_n;
    struct errmsg *caught; /* what a handler looks at; made when first needed */
};

typedef enum err (*instruction_fn)(struct script_run *m, struct frame *f, const struct ins *in);

/* The function of each opcode but I_RETURN, which ends the loop. */
extern const instruction_fn instructions[I_RETURN];

#define INSTRUCTION(name) \
    enum err name(UNUSED struct script_run *m, UNUSED struct frame *f, UNUSED const struct ins *in)

static inline enum err push(struct script_run *m, struct sv v)
{
    if (m->sp >= STACK_MAX) {
        return err_set(m->em, ERR_PAINLESS, "the script needs too much stack");
    }
    m->stack[m->sp++] = v;
    return ERR_OK;
}

static inline struct sv pop(struct script_run *m)
{
    return m->stack[--m->sp];
}

static inline struct sv *top(struct script_run *m)
{
    return &m->stack[m->sp - 1];
}

/* Replaces n values by one, if there is no error. Returns e. */
static inline enum err give(struct script_run *m, enum err e, uint32_t n, struct sv v)
{
    if (e != ERR_OK) {
        return e;
    }
    m->sp -= n;
    return push(m, v);
}

static inline struct str name_of(const struct script_run *m, const struct ins *in)
{
    return m->script->consts[in->c].s;
}

/* Lists, maps, arrays, functions and objects (vm_make.c). */
INSTRUCTION(make_list);
INSTRUCTION(make_array);
INSTRUCTION(make_map);
INSTRUCTION(make_empty_array);
INSTRUCTION(make_lambda);
INSTRUCTION(make_reference);
INSTRUCTION(make_object);

/* Exceptions (vm_catch.c). */
INSTRUCTION(try_begin);
INSTRUCTION(try_end);
INSTRUCTION(is_caught);
INSTRUCTION(throw_it);
/* An error that a try statement can handle moves on to its handler. */
bool handled(struct script_run *m, struct frame *f, enum err e);
/* What a new exception of that class becomes. */
enum err exception_code(struct str name);

#endif
