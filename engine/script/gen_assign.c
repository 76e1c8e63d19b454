/* Elements and assignments into bytecode. */
#include "engine/script/nodes.h"

/* The right side of an assignment that computes: with a value of any class, it becomes one of those, too. */
static enum err gen_operand(struct gen *g, struct node *n, enum type_id with)
{
    enum err e = gen_expr(g, n);
    if (with == TYPE_DEF && gen_static_type(g, n) != TYPE_DEF) {
        gen_at(g, n->off);
    }
    return e;
}

/* What a text is added to (x += 'a') has to be one already: the value on the stack, of a type that the compiler knows or not. */
static enum err gen_added_to(struct gen *g, struct node *n, struct type left)
{
    const struct type text = {.id = TYPE_STRING};
    if (n->op != OP_ADD || left.id == TYPE_STRING || left.id == TYPE_OBJECT
        || gen_static_type(g, n->kids[1]) != TYPE_STRING) {
        return ERR_OK;
    }
    return left.id != TYPE_DEF ? gen_placed(g, gen_cannot_cast(g, left, text), n->off)
                               : gen_emit_type(g, I_CONVERT, text);
}

static enum err assign_local(struct gen *g, struct node *n, const struct local *local)
{
    enum err e;
    if (n->op == OP_NONE) {
        e = gen_expr_as(g, n->kids[1], local->type);
    } else {
        gen_at(g, n->off);
        e = gen_emit(g, I_LOAD, 0, 0, local->slot);
        e = e == ERR_OK ? gen_added_to(g, n, local->type) : e;
        e = e == ERR_OK ? gen_operand(g, n->kids[1], local->type.id) : e;
        e = e == ERR_OK ? gen_check_operands(g, n, n->kids[0], n->kids[1]) : e;
        e = e == ERR_OK ? gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
        e = e == ERR_OK && type_is_primitive(local->type.id) ? gen_emit_type(g, I_CAST, local->type) : e;
    }
    e = e == ERR_OK ? gen_emit(g, I_DUP, 0, 0, 0) : e;
    return e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, local->slot) : e;
}

/* What has elements takes numbers for them; a map takes anything. */
static enum err index_of(struct gen *g, struct node *n)
{
    enum err e = gen_expr(g, n->kids[0]);
    struct type t = e == ERR_OK ? gen_type_of(g, n->kids[0]) : (struct type){.id = TYPE_DEF};
    bool list = t.dims > 0 || t.id == TYPE_LIST;
    if (e == ERR_OK && !list && t.id != TYPE_DEF && t.id != TYPE_MAP) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "Illegal array access on type [%s].", type_java(t).s);
    }
    e = e == ERR_OK ? gen_expr(g, n->kids[1]) : e;
    return e == ERR_OK && list ? gen_check_cast(g, n->kids[1], (struct type){.id = TYPE_INT}, AS_ASSIGNED)
                               : e;
}

/* The error position of reads and writes of a member or element. */
static uint32_t target_off(struct gen *g, struct node *to)
{
    return to->kind == N_INDEX && gen_static_type(g, to->kids[0]) == TYPE_MAP ? to->kids[1]->off : to->off;
}

enum err gen_index(struct gen *g, struct node *n)
{
    enum err e = index_of(g, n);
    gen_at(g, target_off(g, n));
    e = e == ERR_OK ? gen_emit(g, I_GET_AT, 0, 0, 0) : e;
    gen_at(g, n->off);
    return e;
}

enum err gen_assign(struct gen *g, struct node *n)
{
    struct node *to = n->kids[0];
    if (to->kind == N_NAME) {
        struct local *local = gen_resolve(g, to->name);
        return local != NULL ? assign_local(g, n, local)
               : gen_context_variable(g, to->name) != NULL
                   ? gen_illegal(g, "cannot assign a value to the read-only variable", to->name)
                   : gen_illegal(g, "cannot resolve symbol", to->name);
    }
    if (to->kids[0]->kind == N_TYPE) {
        return gen_illegal(g, "cannot assign a value to a static member", to->name);
    }
    bool at = to->kind == N_INDEX;
    enum err e = gen_check_symbol(g, to, to->off);
    if (e == ERR_OK) {
        e = at ? index_of(g, to) : gen_expr(g, to->kids[0]);
    }
    e = e == ERR_OK && !at ? gen_placed(g, gen_check_member(g, to, false, true), to->off) : e;
    struct type element = at ? gen_type_of(g, to) : (struct type){.id = TYPE_DEF};
    if (e == ERR_OK && n->op != OP_NONE) {
        e = gen_emit(g, at ? I_DUP2 : I_DUP, 0, 0, 0);
        gen_at(g, target_off(g, to));
        e = e == ERR_OK ? (at ? gen_emit(g, I_GET_AT, 0, 0, 0) : gen_emit_name(g, I_GET, 0, 0, to->name)) : e;
        e = e == ERR_OK ? gen_added_to(g, n, element) : e;
    }
    e = e == ERR_OK ? gen_operand(g, n->kids[1], n->op != OP_NONE ? TYPE_DEF : TYPE_OBJECT) : e;
    if (e == ERR_OK && n->op != OP_NONE) {
        e = gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0);
    } else if (e == ERR_OK) {
        e = gen_check_cast(g, n->kids[1], element, AS_ASSIGNED);
    }
    gen_at(g, target_off(g, to));
    return e != ERR_OK ? e : at ? gen_emit(g, I_PUT_AT, 0, 0, 0) : gen_emit_name(g, I_PUT, 0, 0, to->name);
}

enum err gen_step(struct gen *g, struct node *n)
{
    struct node *to = n->kids[0];
    enum err e;
    if (to->kind == N_NAME) {
        struct local *local = gen_resolve(g, to->name);
        if (local == NULL) {
            return gen_illegal(g, "cannot resolve symbol", to->name);
        }
        e = gen_emit(g, I_LOAD, 0, 0, local->slot);
        e = e == ERR_OK && !n->flag ? gen_emit(g, I_DUP, 0, 0, 0) : e;
        e = e == ERR_OK ? gen_emit_const(g, sv_int(1)) : e;
        e = e == ERR_OK ? gen_emit(g, I_BINARY, (uint8_t)n->op, 0, 0) : e;
        e = e == ERR_OK && type_is_primitive(local->type.id) ? gen_emit_type(g, I_CAST, local->type) : e;
        e = e == ERR_OK && n->flag ? gen_emit(g, I_DUP, 0, 0, 0) : e;
        return e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, local->slot) : e;
    }
    if ((to->kind != N_MEMBER && to->kind != N_INDEX) || to->kids[0]->kind == N_TYPE) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT,
                       "invalid assignment: cannot assign a value to what is no variable");
    }
    e = gen_check_symbol(g, to, to->off);
    e = e == ERR_OK ? gen_expr(g, to->kids[0]) : e;
    if (to->kind == N_INDEX) {
        e = e == ERR_OK ? gen_expr(g, to->kids[1]) : e;
        gen_at(g, target_off(g, to));
        return e == ERR_OK ? gen_emit(g, I_STEP_AT, (uint8_t)n->op, n->flag, 0) : e;
    }
    gen_at(g, to->off);
    return e == ERR_OK ? gen_emit_name(g, I_STEP, (uint8_t)n->op, n->flag, to->name) : e;
}
