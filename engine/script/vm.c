/* The machine: fetches instructions, moves values, calls. */
#include "engine/script/vm.h"

#define HANDLERS_MAX 16

struct frame {
    const struct code *code;
    struct sv *slot;
    uint32_t pc, base; /* stack below belongs to callers */
    struct {
        uint32_t target, sp;
    } handler[HANDLERS_MAX];
    uint32_t handlers_n;
    struct errmsg *caught; /* what a handler looks at; made when first needed */
};

static enum err push(struct script_run *m, struct sv v)
{
    if (m->sp >= STACK_MAX) {
        return err_set(m->em, ERR_PAINLESS, "the script needs too much stack");
    }
    m->stack[m->sp++] = v;
    return ERR_OK;
}

static struct sv pop(struct script_run *m)
{
    return m->stack[--m->sp];
}

static struct sv *top(struct script_run *m)
{
    return &m->stack[m->sp - 1];
}

/* Replaces n values by one. */
static enum err give(struct script_run *m, uint32_t n, struct sv v)
{
    m->sp -= n;
    return push(m, v);
}

static struct str name_of(const struct script_run *m, const struct ins *in)
{
    return m->script->consts[in->c].s;
}

/* `_value` where no aggregation sets it: null, and zero in expressions. */
static struct sv no_value(const struct script_run *m)
{
    return str_is(m->script->lang, "expression") ? sv_double(0) : sv_null();
}

static enum err variable(struct script_run *m, enum opcode op)
{
    const struct script_env *env = m->env;
    struct sv list;
    enum err e = ERR_OK;
    switch (op) {
    case I_DOC:
        return push(m, (struct sv){.kind = SV_DOCS});
    case I_PARAMS:
        return push(m, m->params);
    case I_SCORE:
        return push(m, sv_double(env->score != NULL ? env->score(env->self) : 0));
    case I_CTX:
        return push(m, m->ctx);
    case I_VALUE:
        return push(m, !env->has_value          ? no_value(m)
                       : env->value_s.p != NULL ? sv_str(env->value_s)
                       : env->value_whole       ? sv_long(env->value_i)
                                                : sv_double(env->value_d));
    default:
        e = vm_list(m, LIST_ARRAY, &list);
        for (uint32_t i = 0; i < env->values_n && e == ERR_OK; i++) {
            e = vm_push(m, list.list, sv_double(env->values[i]));
        }
        return e == ERR_OK ? push(m, list) : e;
    }
}

static enum err make_list(struct script_run *m, uint32_t n, enum list_form form, enum sv_kind element)
{
    struct sv list;
    enum err e = vm_list(m, form, &list);
    for (uint32_t i = 0; i < n && e == ERR_OK; i++) {
        struct sv v = m->stack[m->sp - n + i];
        e = vm_push(m, list.list, element != SV_NULL && sv_is_number(v) ? sv_to_kind(v, element) : v);
    }
    list.list->element = element;
    return e == ERR_OK ? give(m, n, list) : e;
}

static enum err make_map(struct script_run *m, uint32_t pairs)
{
    struct sv map = {.kind = SV_MAP, .map = sv_map_new(&m->mem)};
    if (map.map == NULL) {
        return vm_no_memory(m);
    }
    map.map->hashed = true;
    for (uint32_t i = 0; i < pairs; i++) {
        const struct sv *at = &m->stack[m->sp - 2 * pairs + 2 * i];
        if (!sv_map_put(&m->mem, map.map, at[0], at[1])) {
            return vm_no_memory(m);
        }
    }
    return give(m, 2 * pairs, map);
}

static enum err make_array(struct script_run *m, uint32_t dims, enum type_id type)
{
    int64_t n = 0;
    enum err e = vm_arg_i64(m, m->stack[m->sp - dims], &n);
    if (e != ERR_OK) {
        return e;
    }
    if (n < 0) {
        return err_set(m->em, ERR_NEGATIVE_ARRAY_SIZE, "%lld", (long long)n);
    }
    enum sv_kind kind = dims == 1 && type_is_primitive(type) ? type_kind(type) : SV_NULL;
    struct sv list, zero = kind == SV_NULL   ? sv_null()
                           : kind == SV_BOOL ? sv_bool(false)
                                             : sv_to_kind(sv_int(0), kind);
    e = vm_list(m, LIST_ARRAY, &list);
    for (int64_t i = 0; i < n && e == ERR_OK; i++) {
        e = vm_push(m, list.list, zero);
    }
    if (e == ERR_OK) {
        list.list->element = kind;
        e = give(m, dims, list);
    }
    return e;
}

static enum err make_lambda(struct script_run *m, const struct ins *in)
{
    struct sv_func *f = ARENA_NEW(&m->mem, struct sv_func);
    struct sv *captured = ARENA_ARRAY(&m->mem, struct sv, in->a);
    if (f == NULL || captured == NULL) {
        return vm_no_memory(m);
    }
    if (in->a > 0) {
        memcpy(captured, &m->stack[m->sp - in->a], in->a * sizeof(*captured));
    }
    *f = (struct sv_func){.code = in->c, .captured = captured, .captured_n = in->a};
    return give(m, in->a, (struct sv){.kind = SV_FUNC, .func = f});
}

static enum err make_reference(struct script_run *m, const struct ins *in)
{
    struct sv_func *f = ARENA_NEW(&m->mem, struct sv_func);
    if (f == NULL) {
        return vm_no_memory(m);
    }
    *f = (struct sv_func){.code = UINT32_MAX, .type = {.id = (enum type_id)in->b}, .name = name_of(m, in)};
    if (in->b == TYPE_NONE) {
        f->object = pop(m);
        f->bound = true;
    }
    return push(m, (struct sv){.kind = SV_FUNC, .func = f});
}

/* ++ and -- of a member or element. */
static enum err step(struct script_run *m, const struct ins *in, bool at)
{
    struct sv index = at ? pop(m) : sv_null(), object = pop(m), old, now;
    struct str name = at ? STR_NULL : name_of(m, in);
    enum err e = at ? vm_get_at(m, object, index, &old) : vm_get(m, object, name, &old);
    e = e == ERR_OK ? vm_binary(m, (enum op)in->a, old, sv_int(1), &now) : e;
    if (e == ERR_OK) {
        now = sv_to_kind(now, old.kind);
        e = at ? vm_put_at(m, object, index, now) : vm_put(m, object, name, now);
    }
    return e == ERR_OK ? push(m, in->b != 0 ? now : old) : e;
}

/* The first of a name is what a new exception of that class becomes. */
static const struct {
    const char *name;
    enum err e;
} exceptions[] = {{"IllegalArgumentException", ERR_ILLEGAL_ARGUMENT},
                  {"IllegalStateException", ERR_ILLEGAL_STATE},
                  {"ArithmeticException", ERR_ARITHMETIC},
                  {"NullPointerException", ERR_NULL_POINTER},
                  {"ClassCastException", ERR_CLASS_CAST},
                  {"NumberFormatException", ERR_NUMBER_FORMAT},
                  {"IndexOutOfBoundsException", ERR_INDEX_BOUNDS},
                  {"IndexOutOfBoundsException", ERR_STRING_BOUNDS},
                  {"IndexOutOfBoundsException", ERR_ARRAY_BOUNDS},
                  {"UnsupportedOperationException", ERR_UNSUPPORTED},
                  {"IllegalArgumentException", ERR_NUMBER_FORMAT},
                  {"DateTimeException", ERR_DATE_TIME}};

static bool is_exception(const struct ins *in, struct str name, enum err e)
{
    if (in->b != TYPE_EXCEPTION || str_is(name, "Exception") || str_is(name, "RuntimeException")) {
        return true;
    }
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++) {
        if (exceptions[i].e == e && str_is(name, exceptions[i].name)) {
            return true;
        }
    }
    return false;
}

static enum err exception_code(struct str name)
{
    for (size_t i = 0; i < ARRAY_LEN(exceptions); i++) {
        if (str_is(name, exceptions[i].name)) {
            return exceptions[i].e;
        }
    }
    return ERR_RUNTIME;
}

static enum err throw(struct script_run * m, struct frame *f, const struct ins *in) {
    if (in->a == 1){/* no handler took it */
                        *m->em = *f->caught; return err_code(f->caught);}
struct sv v = pop(m);
if (v.kind != SV_MAP) {
    return v.kind == SV_NULL ? vm_null(m, "throw") : vm_class_cast(m, v, "java.lang.Exception");
}
const struct sv *code = sv_map_get(v.map, sv_str(STR("#code"))),
                *text = sv_map_get(v.map, sv_str(STR("message")));
struct str message = STR_NULL;
if (text != NULL && text->kind == SV_STR) {
    message = text->s;
}
return err_set(m->em, code != NULL ? (enum err)code->i : ERR_ILLEGAL_ARGUMENT, "%.*s", STR_ARG(message));
}

/* The exception as a value: a map with its message. */
static enum err caught_value(struct script_run *m, const struct frame *f)
{
    struct sv map = {.kind = SV_MAP, .map = sv_map_new(&m->mem)}, text;
    if (map.map == NULL) {
        return vm_no_memory(m);
    }
    enum err e = vm_str(m, str_of(f->caught->frame[0].reason), &text);
    if (e == ERR_OK
        && (!sv_map_put(&m->mem, map.map, sv_str(STR("message")), text)
            || !sv_map_put(&m->mem, map.map, sv_str(STR("#code")),
                           sv_int((int32_t)f->caught->frame[0].code)))) {
        e = vm_no_memory(m);
    }
    return e == ERR_OK ? push(m, map) : e;
}

static enum err jump(struct script_run *m, struct frame *f, uint32_t to)
{
    bool back = to < f->pc;
    f->pc = to;
    return back ? vm_spend(m, 4) : ERR_OK;
}

static enum err branch(struct script_run *m, struct frame *f, const struct ins *in)
{
    bool b = false;
    enum err e = ERR_OK;
    switch ((enum opcode)in->op) {
    case I_JUMP:
        return jump(m, f, in->c);
    case I_IF_VALUE:
        if (top(m)->kind != SV_NULL) {
            return jump(m, f, in->c);
        }
        m->sp--;
        return ERR_OK;
    case I_IF_NULL:
        return top(m)->kind == SV_NULL ? jump(m, f, in->c) : ERR_OK;
    case I_NEXT: {
        struct sv v, it = pop(m);
        if (vm_next(m, it.iter, &v, &e)) {
            return push(m, v);
        }
        return e == ERR_OK ? jump(m, f, in->c) : e;
    }
    default:
        e = vm_arg_bool(m, pop(m), &b);
        return e == ERR_OK && b == (in->op == I_IF) ? jump(m, f, in->c) : e;
    }
}

/* A new map or set: a TreeMap keeps its keys in order, a HashMap in that of their hashes, a LinkedHashMap as they came. */
static enum err new_container(struct script_run *m, enum type_id type, struct str name, struct sv *args,
                              uint32_t n, struct sv *out)
{
    const bool sorted = str_starts(name, STR("Tree")), hashed = !sorted && !str_starts(name, STR("Linked"));
    struct sv ignored;
    if (type == TYPE_MAP) {
        *out = (struct sv){.kind = SV_MAP, .map = sv_map_new(&m->mem)};
        if (out->map == NULL) {
            return vm_no_memory(m);
        }
        out->map->sorted = sorted;
        out->map->hashed = hashed;
    } else {
        enum err e = vm_list(m, LIST_SET, out);
        if (e != ERR_OK) {
            return e;
        }
        out->list->sorted = sorted;
        out->list->hashed = hashed;
    }
    return n == 1 && !sv_is_whole(args[0]) /* a number would be a capacity */
               ? vm_method(m, *out, type == TYPE_MAP ? STR("putAll") : STR("addAll"), args, 1, &ignored)
               : ERR_OK;
}

/* A new object of a class by its name: several classes are one type here. */
static enum err construct(struct script_run *m, enum type_id type, struct str name, struct sv *args,
                          uint32_t n, struct sv *out)
{
    return type == TYPE_MAP || type == TYPE_SET ? new_container(m, type, name, args, n, out)
                                                : vm_new(m, type, args, n, out);
}

static enum err call(struct script_run *m, const struct ins *in)
{
    struct sv out = sv_null(), *args = &m->stack[m->sp - in->a];
    enum err e;
    switch ((enum opcode)in->op) {
    case I_CALL:
        e = vm_method(m, m->stack[m->sp - in->a - 1], name_of(m, in), args, in->a, &out);
        return e == ERR_OK ? give(m, in->a + 1U, out) : e;
    case I_CALL_FUNCTION:
        e = vm_run(m, in->c, args, in->a, &out);
        break;
    case I_CALL_STATIC:
        e = vm_static(m, (enum type_id)in->b, name_of(m, in), args, in->a, &out);
        break;
    case I_CALL_BUILTIN:
        e = vm_builtin(m, (enum builtin)in->b, args, in->a, &out);
        break;
    default:
        e = construct(m, (enum type_id)in->b, name_of(m, in), args, in->a, &out);
        if (e == ERR_OK && in->b == TYPE_EXCEPTION) {
            struct sv code = sv_int((int32_t)exception_code(name_of(m, in)));
            e = sv_map_put(&m->mem, out.map, sv_str(STR("#code")), code) ? ERR_OK : vm_no_memory(m);
        }
    }
    return e == ERR_OK ? give(m, in->a, out) : e;
}

static enum err access(struct script_run *m, const struct ins *in)
{
    struct sv v, index, object;
    enum err e;
    switch ((enum opcode)in->op) {
    case I_GET:
        e = vm_get(m, *top(m), name_of(m, in), &v);
        return e == ERR_OK ? give(m, 1, v) : e;
    case I_PUT:
        v = pop(m);
        object = pop(m);
        e = vm_put(m, object, name_of(m, in), v);
        return e == ERR_OK ? push(m, v) : e;
    case I_GET_AT:
        index = pop(m);
        e = vm_get_at(m, *top(m), index, &v);
        return e == ERR_OK ? give(m, 1, v) : e;
    case I_PUT_AT:
        v = pop(m);
        index = pop(m);
        object = pop(m);
        e = vm_put_at(m, object, index, v);
        return e == ERR_OK ? push(m, v) : e;
    case I_STEP:
    case I_STEP_AT:
        return step(m, in, in->op == I_STEP_AT);
    default:
        e = vm_static_field(m, (enum type_id)in->b, name_of(m, in), &v);
        return e == ERR_OK ? push(m, v) : e;
    }
}

static enum err compute(struct script_run *m, const struct ins *in)
{
    struct sv v;
    struct type type = {.id = (enum type_id)in->b, .dims = in->a, .row = (uint8_t)in->c};
    enum err e;
    switch ((enum opcode)in->op) {
    case I_BINARY:
        e = vm_binary(m, (enum op)in->a, m->stack[m->sp - 2], *top(m), &v);
        return e == ERR_OK ? give(m, 2, v) : e;
    case I_UNARY:
        e = vm_unary(m, (enum op)in->a, *top(m), &v);
        break;
    case I_INSTANCEOF:
        v = sv_bool(type_holds(type, *top(m)));
        e = ERR_OK;
        break;
    case I_ITERATE:
        e = vm_iterator(m, *top(m), &v);
        break;
    default:
        e = vm_cast(m, type, *top(m), in->op == I_CONVERT, &v);
    }
    return e == ERR_OK ? give(m, 1, v) : e;
}

static enum err make(struct script_run *m, const struct ins *in)
{
    switch ((enum opcode)in->op) {
    case I_LIST:
        return make_list(m, in->c, LIST_LIST, SV_NULL);
    case I_ARRAY:
        return make_list(m, in->c, LIST_ARRAY,
                         type_is_primitive((enum type_id)in->b) ? type_kind((enum type_id)in->b) : SV_NULL);
    case I_MAP:
        return make_map(m, in->c);
    case I_NEW_ARRAY:
        return make_array(m, in->a, (enum type_id)in->b);
    case I_LAMBDA:
        return make_lambda(m, in);
    default:
        return make_reference(m, in);
    }
}

static enum err handlers(struct script_run *m, struct frame *f, const struct ins *in)
{
    switch ((enum opcode)in->op) {
    case I_TRY:
        if (f->handlers_n == HANDLERS_MAX) {
            return err_set(m->em, ERR_PAINLESS, "try statements are nested too deeply");
        }
        f->handler[f->handlers_n].target = in->c;
        f->handler[f->handlers_n++].sp = m->sp;
        return ERR_OK;
    case I_END_TRY:
        f->handlers_n--;
        return ERR_OK;
    case I_CAUGHT: {
        bool is = is_exception(in, name_of(m, in), f->caught->frame[0].code);
        enum err e = is ? caught_value(m, f) : ERR_OK;
        return e == ERR_OK ? push(m, sv_bool(is)) : e;
    }
    default:
        return throw(m, f, in);
    }
}

static enum err instruction(struct script_run *m, struct frame *f, const struct ins *in)
{
    enum opcode op = (enum opcode)in->op;
    switch (op) {
    case I_CONST:
        return push(m, m->script->consts[in->c]);
    case I_LOAD:
        return push(m, f->slot[in->c]);
    case I_STORE:
        f->slot[in->c] = pop(m);
        return ERR_OK;
    case I_POP:
        m->sp--;
        return ERR_OK;
    case I_DUP:
        return push(m, *top(m));
    case I_DUP2: {
        enum err e = push(m, m->stack[m->sp - 2]);
        return e == ERR_OK ? push(m, m->stack[m->sp - 2]) : e;
    }
    case I_JUMP:
    case I_IF_NOT:
    case I_IF:
    case I_IF_VALUE:
    case I_IF_NULL:
    case I_NEXT:
        return branch(m, f, in);
    case I_GET:
    case I_PUT:
    case I_GET_AT:
    case I_PUT_AT:
    case I_STEP:
    case I_STEP_AT:
    case I_GET_STATIC:
        return access(m, in);
    case I_CALL:
    case I_CALL_FUNCTION:
    case I_CALL_STATIC:
    case I_CALL_BUILTIN:
    case I_NEW:
        return call(m, in);
    case I_BINARY:
    case I_UNARY:
    case I_CAST:
    case I_CONVERT:
    case I_INSTANCEOF:
    case I_ITERATE:
        return compute(m, in);
    case I_LIST:
    case I_ARRAY:
    case I_MAP:
    case I_NEW_ARRAY:
    case I_LAMBDA:
    case I_METHOD_REF:
        return make(m, in);
    case I_TRY:
    case I_END_TRY:
    case I_CAUGHT:
    case I_THROW:
        return handlers(m, f, in);
    default:
        return variable(m, op);
    }
}

/* An error that a try statement can handle moves on to its handler. */
static bool handled(struct script_run *m, struct frame *f, enum err e)
{
    if (f->handlers_n == 0 || e == ERR_PAINLESS || e == ERR_STACK_OVERFLOW || e == ERR_NO_MEMORY) {
        return false;
    }
    f->caught = f->caught != NULL ? f->caught : ARENA_NEW(&m->mem, struct errmsg);
    if (f->caught == NULL) {
        return false;
    }
    f->handlers_n--;
    m->placed = false;
    f->pc = f->handler[f->handlers_n].target;
    m->sp = f->handler[f->handlers_n].sp;
    *f->caught = *m->em;
    err_clear(m->em); /* whoever looks at the message takes what is in it for a failure */
    return true;
}

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
            e = instruction(m, f, in);
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
        return construct(m, f->type.id, STR("Hash"), all, n, out);
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
