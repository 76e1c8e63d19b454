/* Loops into bytecode. */
#include "engine/script/nodes.h"

struct loop {
    uint32_t breaks, continues;
    bool outer;
};

static struct loop loop_begin(struct gen *g)
{
    struct loop l = {g->scope->breaks_n, g->scope->continues_n, g->scope->in_loop};
    g->scope->in_loop = true;
    return l;
}

static void loop_continues(struct gen *g, const struct loop *l)
{
    while (g->scope->continues_n > l->continues) {
        gen_patch(g, g->scope->continues[--g->scope->continues_n]);
    }
}

static void loop_end(struct gen *g, const struct loop *l)
{
    while (g->scope->breaks_n > l->breaks) {
        gen_patch(g, g->scope->breaks[--g->scope->breaks_n]);
    }
    g->scope->in_loop = l->outer;
}

static enum err jump_out(struct gen *g, bool is_break)
{
    struct scope *s = g->scope;
    uint32_t *n = is_break ? &s->breaks_n : &s->continues_n;
    if (!s->in_loop) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid %s statement: not inside loop",
                       is_break ? "break" : "continue");
    }
    if (*n == ARRAY_LEN(s->breaks)) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "too many jumps out of a loop");
    }
    (is_break ? s->breaks : s->continues)[(*n)++] = gen_here(g);
    return gen_emit(g, I_JUMP, 0, 0, 0);
}

enum err gen_break(struct gen *g, UNUSED struct node *n, UNUSED bool last)
{
    return jump_out(g, true);
}

enum err gen_continue(struct gen *g, UNUSED struct node *n, UNUSED bool last)
{
    return jump_out(g, false);
}

static bool continues(const struct node *n)
{
    bool any = n != NULL && n->kind == S_CONTINUE;
    for (uint32_t i = 0; n != NULL && i < n->n && !any; i++) {
        any = continues(n->kids[i]);
    }
    return any;
}

/* A loop whose body is never run twice, or not at all, is none. */
static enum err check_loop(struct gen *g, struct node *cond, struct node *body, const char *name)
{
    bool never = cond != NULL && cond->kind == N_CONST && cond->value.kind == SV_BOOL && !cond->value.b;
    return never || (gen_leaves(body) && !continues(body))
               ? err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous %s loop", name)
               : ERR_OK;
}

enum err gen_while(struct gen *g, struct node *n, UNUSED bool last)
{
    struct node *cond = n->kids[0], *body = n->kids[1];
    if (cond->kind == N_CONST && cond->value.kind == SV_BOOL && cond->value.b && body->n == 0) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "no paths escape from while loop");
    }
    if (check_loop(g, cond, body, "while") != ERR_OK) {
        return ERR_ILLEGAL_ARGUMENT;
    }
    struct loop l = loop_begin(g);
    enum err e = gen_statement(g, n->off);
    uint32_t top = gen_here(g);
    e = e == ERR_OK ? gen_condition(g, cond) : e;
    uint32_t out = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_stmt(g, body, false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        gen_at(g, n->off);
        e = gen_emit(g, I_JUMP, 0, 0, top);
    }
    if (e == ERR_OK) {
        gen_patch(g, out);
        loop_end(g, &l);
    }
    return e;
}

enum err gen_do(struct gen *g, struct node *n, UNUSED bool last)
{
    struct loop l = loop_begin(g);
    enum err e = gen_statement(g, n->off);
    uint32_t top = gen_here(g);
    e = e == ERR_OK ? gen_stmt(g, n->kids[0], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = gen_condition(g, n->kids[1]);
    }
    gen_at(g, n->off);
    e = e == ERR_OK ? gen_emit(g, I_IF, 0, 0, top) : e;
    if (e == ERR_OK) {
        loop_end(g, &l);
    }
    return e;
}

enum err gen_for(struct gen *g, struct node *n, UNUSED bool last)
{
    uint32_t names = g->scope->n, out = 0;
    struct loop l = loop_begin(g);
    if (check_loop(g, n->kids[1], n->kids[3], "for") != ERR_OK) {
        return ERR_ILLEGAL_ARGUMENT;
    }
    enum err e = gen_statement(g, n->off);
    e = e == ERR_OK && n->kids[0] != NULL ? gen_stmt(g, n->kids[0], false) : e;
    uint32_t top = gen_here(g);
    if (e == ERR_OK && n->kids[1] != NULL) {
        e = gen_condition(g, n->kids[1]);
        out = gen_here(g);
        e = e == ERR_OK ? gen_emit(g, I_IF_NOT, 0, 0, 0) : e;
    }
    e = e == ERR_OK ? gen_stmt(g, n->kids[3], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        e = n->kids[2] != NULL ? gen_stmt(g, n->kids[2], false) : ERR_OK;
    }
    gen_at(g, n->off);
    e = e == ERR_OK ? gen_emit(g, I_JUMP, 0, 0, top) : e;
    if (e == ERR_OK) {
        if (n->kids[1] != NULL) {
            gen_patch(g, out);
        }
        loop_end(g, &l);
    }
    g->scope->n = names;
    return e;
}

static enum err check_iterable(struct gen *g, struct node *n)
{
    struct type t = gen_type_of(g, n);
    bool can =
        t.dims > 0 || t.id == TYPE_DEF || (gen_is_ref(t) && allow_descends(t, type_called(STR("Iterable"))));
    return can ? ERR_OK
               : err_set(g->em, ERR_ILLEGAL_ARGUMENT, "invalid foreach loop: cannot iterate over type [%s].",
                         type_java(t).s);
}

/* The iterator waits in a slot of its own, so that jumps out of the loop leave nothing on the stack. */
enum err gen_each(struct gen *g, struct node *n, UNUSED bool last)
{
    uint32_t names = g->scope->n, slot = 0, iterator = 0;
    if (n->kids[1]->n == 0) {
        return err_set(g->em, ERR_ILLEGAL_ARGUMENT, "extraneous foreach loop");
    }
    if (check_loop(g, NULL, n->kids[1], "foreach") != ERR_OK) {
        return ERR_ILLEGAL_ARGUMENT;
    }
    enum err e = gen_statement(g, n->off);
    e = e == ERR_OK ? gen_expr(g, n->kids[0]) : e;
    e = e == ERR_OK ? check_iterable(g, n->kids[0]) : e;
    struct loop l = loop_begin(g);
    e = e == ERR_OK ? gen_emit(g, I_ITERATE, 0, 0, 0) : e;
    e = e == ERR_OK ? gen_declare(g, STR("#iterator"), (struct type){.id = TYPE_DEF}, &iterator) : e;
    if (e == ERR_OK) {
        g->scope->local[g->scope->n - 1].name = STR_NULL; /* no name: nested loops have their own */
        e = gen_emit(g, I_STORE, 0, 0, iterator);
    }
    e = e == ERR_OK ? gen_declare(g, n->name, n->type, &slot) : e;
    uint32_t top = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_LOAD, 0, 0, iterator) : e;
    uint32_t next = gen_here(g);
    e = e == ERR_OK ? gen_emit(g, I_NEXT, 0, 0, 0) : e;
    e = e == ERR_OK && n->type.id != TYPE_DEF ? gen_emit_type(g, I_CONVERT, n->type) : e;
    e = e == ERR_OK ? gen_emit(g, I_STORE, 0, 0, slot) : e;
    e = e == ERR_OK ? gen_stmt(g, n->kids[1], false) : e;
    if (e == ERR_OK) {
        loop_continues(g, &l);
        gen_at(g, n->off);
        e = gen_emit(g, I_JUMP, 0, 0, top);
    }
    if (e == ERR_OK) {
        gen_patch(g, next);
        loop_end(g, &l);
    }
    g->scope->n = names;
    return e;
}
