/* The machine: fetches instructions, moves values, calls. */
#include "engine/script/instructions.h"

/* ---- values that are there ---- */

static INSTRUCTION(constant)
{
    return push(m, m->script->consts[in->c]);
}

static INSTRUCTION(load)
{
    return push(m, f->slot[in->c]);
}

static INSTRUCTION(store)
{
    f->slot[in->c] = pop(m);
    return ERR_OK;
}

static INSTRUCTION(drop)
{
    m->sp--;
    return ERR_OK;
}

static INSTRUCTION(dup)
{
    return push(m, *top(m));
}

static INSTRUCTION(dup_two)
{
    enum err e = push(m, m->stack[m->sp - 2]);
    return e == ERR_OK ? push(m, m->stack[m->sp - 2]) : e;
}

static INSTRUCTION(doc)
{
    return push(m, (struct sv){.kind = SV_DOCS});
}

static INSTRUCTION(params)
{
    return push(m, m->params);
}

static INSTRUCTION(score)
{
    return push(m, sv_double(m->env->score != NULL ? m->env->score(m->env->self) : 0));
}

static INSTRUCTION(ctx)
{
    return push(m, m->ctx);
}

/* `_value` where no aggregation sets it: null, and zero in expressions. */
static struct sv no_value(const struct script_run *m)
{
    return str_is(m->script->lang, "expression") ? sv_double(0) : sv_null();
}

static INSTRUCTION(value)
{
    const struct script_env *env = m->env;
    return push(m, !env->has_value          ? no_value(m)
                   : env->value_s.p != NULL ? sv_str(env->value_s)
                   : env->value_whole       ? sv_long(env->value_i)
                                            : sv_double(env->value_d));
}

static INSTRUCTION(values)
{
    struct sv list;
    enum err e = vm_list(m, LIST_ARRAY, &list);
    for (uint32_t i = 0; i < m->env->values_n && e == ERR_OK; i++) {
        e = vm_push(m, list.list, sv_double(m->env->values[i]));
    }
    return give(m, e, 0, list);
}

/* ---- jumps ---- */

static enum err jump(struct script_run *m, struct frame *f, uint32_t to)
{
    bool back = to < f->pc;
    f->pc = to;
    return back ? vm_spend(m, 4) : ERR_OK;
}

static INSTRUCTION(jump_always)
{
    return jump(m, f, in->c);
}

/* Pops a boolean. */
static enum err jump_when(struct script_run *m, struct frame *f, uint32_t to, bool when)
{
    bool b = false;
    enum err e = vm_arg_bool(m, pop(m), &b);
    return e == ERR_OK && b == when ? jump(m, f, to) : e;
}

static INSTRUCTION(jump_if)
{
    return jump_when(m, f, in->c, true);
}

static INSTRUCTION(jump_if_not)
{
    return jump_when(m, f, in->c, false);
}

static INSTRUCTION(jump_if_value)
{
    if (top(m)->kind != SV_NULL) {
        return jump(m, f, in->c);
    }
    m->sp--;
    return ERR_OK;
}

static INSTRUCTION(jump_if_null)
{
    return top(m)->kind == SV_NULL ? jump(m, f, in->c) : ERR_OK;
}

static INSTRUCTION(iterate)
{
    struct sv v;
    enum err e = vm_iterator(m, *top(m), &v);
    return give(m, e, 1, v);
}

static INSTRUCTION(next)
{
    struct sv v, it = pop(m);
    enum err e = ERR_OK;
    if (vm_next(m, it.iter, &v, &e)) {
        return push(m, v);
    }
    return e == ERR_OK ? jump(m, f, in->c) : e;
}

/* ---- operators ---- */

static INSTRUCTION(binary)
{
    struct sv v;
    enum err e = vm_binary(m, (enum op)in->a, m->stack[m->sp - 2], *top(m), &v);
    return give(m, e, 2, v);
}

static INSTRUCTION(unary)
{
    struct sv v;
    enum err e = vm_unary(m, (enum op)in->a, *top(m), &v);
    return give(m, e, 1, v);
}

static struct type type_in(const struct ins *in)
{
    return (struct type){.id = (enum type_id)in->b, .dims = in->a, .row = (uint8_t)in->c};
}

static INSTRUCTION(cast)
{
    struct sv v;
    enum err e = vm_cast(m, type_in(in), *top(m), in->op == I_CONVERT, &v);
    return give(m, e, 1, v);
}

static INSTRUCTION(instance)
{
    return give(m, ERR_OK, 1, sv_bool(type_holds(type_in(in), *top(m))));
}

/* ---- members ---- */

static INSTRUCTION(get)
{
    struct sv v;
    enum err e = vm_get(m, *top(m), name_of(m, in), &v);
    return give(m, e, 1, v);
}

static INSTRUCTION(put)
{
    struct sv v = pop(m), object = pop(m);
    return give(m, vm_put(m, object, name_of(m, in), v), 0, v);
}

static INSTRUCTION(get_at)
{
    struct sv v, index = pop(m);
    enum err e = vm_get_at(m, *top(m), index, &v);
    return give(m, e, 1, v);
}

static INSTRUCTION(put_at)
{
    struct sv v = pop(m), index = pop(m), object = pop(m);
    return give(m, vm_put_at(m, object, index, v), 0, v);
}

/* ++ and -- of a member or element. */
static enum err vm_step(struct script_run *m, const struct ins *in, bool at)
{
    struct sv index = at ? pop(m) : sv_null(), object = pop(m), old, now;
    struct str name = at ? STR_NULL : name_of(m, in);
    enum err e = at ? vm_get_at(m, object, index, &old) : vm_get(m, object, name, &old);
    e = e == ERR_OK ? vm_binary(m, (enum op)in->a, old, sv_int(1), &now) : e;
    if (e == ERR_OK) {
        now = sv_to_kind(now, old.kind);
        e = at ? vm_put_at(m, object, index, now) : vm_put(m, object, name, now);
    }
    return give(m, e, 0, in->b != 0 ? now : old);
}

static INSTRUCTION(step_member)
{
    return vm_step(m, in, false);
}

static INSTRUCTION(step_element)
{
    return vm_step(m, in, true);
}

static INSTRUCTION(get_static)
{
    struct sv v;
    enum err e = vm_static_field(m, (enum type_id)in->b, name_of(m, in), &v);
    return give(m, e, 0, v);
}

/* ---- calls ---- */

static struct sv *arguments(const struct script_run *m, const struct ins *in)
{
    return &m->stack[m->sp - in->a];
}

static INSTRUCTION(call)
{
    struct sv out = sv_null(), *args = arguments(m, in);
    enum err e = vm_method(m, args[-1], name_of(m, in), args, in->a, &out);
    return give(m, e, in->a + 1U, out);
}

static INSTRUCTION(call_function)
{
    struct sv out = sv_null();
    enum err e = vm_run(m, in->c, arguments(m, in), in->a, &out);
    return give(m, e, in->a, out);
}

static INSTRUCTION(call_static)
{
    struct sv out = sv_null();
    enum err e = vm_static(m, (enum type_id)in->b, name_of(m, in), arguments(m, in), in->a, &out);
    return give(m, e, in->a, out);
}

static INSTRUCTION(call_builtin)
{
    struct sv out = sv_null();
    enum err e = vm_builtin(m, &builtins[in->b], arguments(m, in), in->a, &out);
    return give(m, e, in->a, out);
}

/* ---- running ---- */

const instruction_fn instructions[I_RETURN] = {[I_CONST] = constant,
                                               [I_LOAD] = load,
                                               [I_STORE] = store,
                                               [I_POP] = drop,
                                               [I_DUP] = dup,
                                               [I_DUP2] = dup_two,
                                               [I_DOC] = doc,
                                               [I_PARAMS] = params,
                                               [I_SCORE] = score,
                                               [I_CTX] = ctx,
                                               [I_VALUE] = value,
                                               [I_VALUES] = values,
                                               [I_BINARY] = binary,
                                               [I_UNARY] = unary,
                                               [I_JUMP] = jump_always,
                                               [I_IF_NOT] = jump_if_not,
                                               [I_IF] = jump_if,
                                               [I_IF_VALUE] = jump_if_value,
                                               [I_IF_NULL] = jump_if_null,
                                               [I_GET] = get,
                                               [I_PUT] = put,
                                               [I_GET_AT] = get_at,
                                               [I_PUT_AT] = put_at,
                                               [I_STEP] = step_member,
                                               [I_STEP_AT] = step_element,
                                               [I_CALL] = call,
                                               [I_CALL_FUNCTION] = call_function,
                                               [I_CALL_STATIC] = call_static,
                                               [I_CALL_BUILTIN] = call_builtin,
                                               [I_GET_STATIC] = get_static,
                                               [I_NEW] = make_object,
                                               [I_NEW_ARRAY] = make_empty_array,
                                               [I_ARRAY] = make_array,
                                               [I_LIST] = make_list,
                                               [I_MAP] = make_map,
                                               [I_CAST] = cast,
                                               [I_CONVERT] = cast,
                                               [I_INSTANCEOF] = instance,
                                               [I_ITERATE] = iterate,
                                               [I_NEXT] = next,
                                               [I_LAMBDA] = make_lambda,
                                               [I_METHOD_REF] = make_reference,
                                               [I_TRY] = try_begin,
                                               [I_END_TRY] = try_end,
                                               [I_CAUGHT] = is_caught,
                                               [I_THROW] = throw_it};

/* The innermost part of the script that runs when an error comes is where it is told; a loop that ran too long is told
 * where it begins. */
static void place_error(struct script_run *m, const struct code *code, uint32_t at, enum err e)
{
    if (m->placed) {
        return;
    }
    for (uint32_t i = at; e == ERR_PAINLESS && i < code->n; i++) {
        const struct ins *in = &code->ins[i];
        if ((in->op == I_JUMP || in->op == I_IF) && in->c <= i) {
            at = i;
            break;
        }
    }
    m->placed = true;
    m->off = code->off[at];
    for (uint32_t i = 0; e == ERR_PAINLESS && i < code->n && m->off == OFF_UNKNOWN; i++) {
        m->off = code->off[i];
    }
}

static enum err interpret(struct script_run *m, struct frame *f, struct sv *out)
{
    for (;;) {
        const struct ins *in = &f->code->ins[f->pc++];
        enum err e = vm_spend(m, 1);
        if (e == ERR_OK) {
            if (in->op == I_RETURN) {
                *out = pop(m);
                return ERR_OK;
            }
            e = instructions[in->op](m, f, in);
        }
        if (e != ERR_OK) {
            place_error(m, f->code, (uint32_t)(in - f->code->ins), e);
            if (!handled(m, f, e)) {
                return e;
            }
        }
    }
}

enum err vm_run(struct script_run *m, uint32_t index, const struct sv *args, uint32_t n, struct sv *out)
{
    const struct code *code = &m->script->code[index];
    if (n != code->params_n) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "expected [%u] arguments, got [%u]", code->params_n, n);
    }
    if (m->depth >= CALL_DEPTH_MAX) {
        return err_set(m->em, ERR_STACK_OVERFLOW, "%s", "");
    }
    struct frame *f = ARENA_NEW(&m->mem, struct frame);
    struct sv *slots = ARENA_ARRAY(&m->mem, struct sv, code->slots_n + 1);
    if (f == NULL || slots == NULL) {
        return vm_no_memory(m);
    }
    f->code = code;
    f->slot = slots;
    enum err e = ERR_OK;
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        slots[i] = args[i];
        if (i >= code->captured_n && code->param_types[i].id != TYPE_DEF) {
            e = vm_cast(m, code->param_types[i], args[i], true, &slots[i]);
        }
    }
    if (e != ERR_OK) {
        return e;
    }
    uint32_t sp = m->sp;
    m->depth++;
    e = interpret(m, f, out);
    m->depth--;
    m->sp = sp;
    return e;
}

enum err vm_call(struct script_run *m, struct sv func, const struct sv *args, uint32_t n, struct sv *out)
{
    struct sv all[16];
    if (func.kind != SV_FUNC) {
        return func.kind == SV_NULL ? vm_null(m, "apply") : vm_class_cast(m, func, "function");
    }
    const struct sv_func *f = func.func;
    if (n + f->captured_n > ARRAY_LEN(all)) {
        return err_set(m->em, ERR_ILLEGAL_ARGUMENT, "too many captured values");
    }
    if (f->captured_n > 0) {
        memcpy(all, f->captured, f->captured_n * sizeof(*all));
    }
    if (n > 0) {
        memcpy(all + f->captured_n, args, n * sizeof(*all));
    }
    if (f->code != UINT32_MAX) {
        /* a lambda without parameters may be given none of what is on offer */
        return vm_run(m, f->code, all, n + f->captured_n, out);
    }
    if (f->bound) {
        return vm_method(m, f->object, f->name, all, n, out);
    }
    if (str_is(f->name, "new")) {
        return vm_new(m, f->type.id, STR("Hash"), all, n, out);
    }
    /* Type::name is a static method, or one of the first argument */
    struct errmsg before = *m->em;
    bool made = f->captured_n > 0 || f->type.id == TYPE_COLLECTORS; /* by a static that was given these */
    enum err e = vm_static(m, f->type.id, f->name, all, n + f->captured_n, out);
    if (e == ERR_ILLEGAL_ARGUMENT && n > 0 && !made) {
        *m->em = before;
        e = vm_method(m, all[0], f->name, all + 1, n - 1, out);
    }
    return e;
}

enum err vm_table(struct script_run *m, const struct method *table, size_t table_n, struct sv self,
                  struct str name, struct sv *args, uint32_t n, struct sv *out, bool *found)
{
    for (size_t i = 0; i < table_n; i++) {
        if ((table[i].argc < 0 || (uint32_t)table[i].argc == n) && str_is(name, table[i].name)) {
            *found = true;
            return table[i].fn(m, self, args, n, out);
        }
    }
    *found = false;
    return ERR_OK;
}
