/* generate.h - declarations shared by the parts of the code generator. Private to gen_*.c. */
#ifndef ENGINE_SCRIPT_GENERATE_H
#define ENGINE_SCRIPT_GENERATE_H

#include "engine/script/allow.h"
#include "engine/script/code.h"

struct local {
    struct str name;
    struct type type;
    uint32_t slot;
};

/* The function that is being compiled. */
struct scope {
    struct scope *outer; /* a lambda's surroundings */
    uint32_t code;
    struct local local[SLOTS_MAX];
    uint32_t n, slots;
    uint32_t breaks[64], continues[64]; /* jumps to patch in the innermost loops */
    uint32_t breaks_n, continues_n;
    bool in_loop;
    int depth;
};

struct gen {
    struct script *s;
    const struct program *program;
    struct errmsg *em;
    struct scope *scope;
    uint32_t line; /* the source position of the instructions that follow */
    bool placed;   /* the error has its place */
};

/* A variable that scripts of some contexts are given. */
struct variable {
    const char *name;
    enum opcode op;    /* pushes it */
    struct type type;  /* TYPE_DEF: only running shows it */
    bool own;          /* a script that assigns to it has one of its own from then on */
    uint32_t contexts; /* a bit for each that has it */
};

extern const struct variable variables[];
extern const size_t variables_n;

enum err gen_illegal(struct gen *g, const char *what, struct str name);
struct code *gen_code_of(struct gen *g);
/* Errors of the following instructions are reported at this byte of the source. As in painless, they keep it until another part of the
 * script says where it is. */
void gen_at(struct gen *g, uint32_t off);
/* A statement begins at this byte. */
enum err gen_statement(struct gen *g, uint32_t off);
/* Gives the error, if it is one and has none yet, its place. Returns e. */
enum err gen_placed(struct gen *g, enum err e, uint32_t off);
/* One instruction. */
enum err gen_emit(struct gen *g, enum opcode op, uint8_t a, uint16_t b, uint32_t c);
/* Where the next instruction goes; and a jump at `at` shall lead there. */
uint32_t gen_here(struct gen *g);
void gen_patch(struct gen *g, uint32_t at);
enum err gen_emit_const(struct gen *g, struct sv v);
enum err gen_emit_name(struct gen *g, enum opcode op, uint8_t a, uint16_t b, struct str name);
enum err gen_emit_type(struct gen *g, enum opcode op, struct type t);
/* A new variable in a slot of its own. */
enum err gen_declare(struct gen *g, struct str name, struct type type, uint32_t *slot);
struct local *gen_resolve(struct gen *g, struct str name);
/* NULL: the script's context has none of that name. */
const struct variable *gen_context_variable(const struct gen *g, struct str name);
/* Refuses a name, or names joined by dots whose first means nothing: they might have been a class's, so that all of them are
 * told, at `off`. */
enum err gen_check_symbol(struct gen *g, const struct node *n, uint32_t off) NODISCARD;
struct type gen_variable_type(const struct variable *v);
enum err gen_new_code(struct gen *g, uint32_t *index);
enum err gen_set_params(struct gen *g, const struct param *params, uint32_t n);
enum err gen_finish(struct gen *g);
/* TYPE_DEF where only running shows it; arrays are that, too, in the second. */
struct type gen_type_of(struct gen *g, struct node *n);
enum type_id gen_static_type(struct gen *g, struct node *n);
enum err gen_cannot_cast(struct gen *g, struct type from, struct type to);
enum type_id gen_unboxed(enum type_id id);
/* The number type that two become; without `decimal` only whole ones do. TYPE_NONE: they are no numbers. */
enum type_id gen_promoted(enum type_id a, enum type_id b, bool decimal);
/* Values of `from` are values of `to` as well. */
bool gen_widens(enum type_id from, enum type_id to);
/* How a value becomes one of another type: as an assignment does it, as a function takes and gives it, as a cast says. */
enum gen_as { AS_ASSIGNED = 0, AS_PASSED = 1, AS_WRITTEN = 2 };
/* What the compiler can already refuse when a value of n becomes one of `to`. */
enum err gen_check_cast(struct gen *g, struct node *n, struct type to, unsigned how);
/* An object, or an array; neither a primitive nor what only running shows. */
bool gen_is_ref(struct type t);
/* The function of the script that a call names; NULL: there is none. */
const struct function *gen_function(const struct gen *g, const struct node *n);
/* The method of a call, if its class is known. */
bool gen_called(struct gen *g, const struct node *n, struct allowed *out);
/* Whether what has this type has such a field, or a method that stands for it; and its type. */
bool gen_field(struct type of, struct str name, bool written, struct type *out);
/* The type that both values of n, a ternary or an elvis, become; false: there is none. */
bool gen_conditional(struct gen *g, struct node *n, struct type *out);
/* The arguments of a call, from kid `first` on, that `m` takes. */
enum err gen_arguments(struct gen *g, struct node *n, uint32_t first, const struct allowed *m);
/* A function takes and gives primitives where it says objects, and objects where it says primitives; an assignment does not. */
bool gen_boxes(enum type_id from, struct type to);
/* What the function being compiled must give; what the script itself must, without anything that its language says. */
struct type gen_result_type(const struct gen *g);
enum type_id gen_context_type(enum script_context context);
/* An expression whose value is then converted as `how` says; as an assignment does; a condition to a boolean. */
enum err gen_expr_to(struct gen *g, struct node *n, struct type to, unsigned how);
enum err gen_expr_as(struct gen *g, struct node *n, struct type to);
/* One that goes into a function, or comes out of it; the second leaves both ways of a condition a type of their own. */
enum err gen_expr_passed(struct gen *g, struct node *n, struct type to);
enum err gen_expr_given(struct gen *g, struct node *n, struct type to);
/* The constant null? */
bool gen_is_null(const struct node *n);
enum err gen_no_field(struct gen *g, struct type of, struct str name);
enum err gen_no_method(struct gen *g, const char *kind, struct type of, struct str name, uint32_t argc);
/* Whether the class of a value, where it is known, surely lacks the member or the method that is asked of it. */
enum err gen_check_member(struct gen *g, struct node *n, bool call, bool written);
enum err gen_unknown_call(struct gen *g, struct node *n);
/* Whether both sides of n's operator, a and b, can become the type that it works on. */
enum err gen_check_operands(struct gen *g, const struct node *n, struct node *a, struct node *b);
enum err gen_condition(struct gen *g, struct node *n);
/* Expressions one after the other, from kid `from` on; as elements of a list or a map, which are of any class. */
enum err gen_exprs(struct gen *g, struct node *n, uint32_t from);
/* Does every way through a statement end in one that leaves? */
bool gen_leaves(const struct node *n);
/* Leaves one value on the stack. */
enum err gen_expr(struct gen *g, struct node *n);
/* `last`: an expression's value is what the function returns. */
enum err gen_stmt(struct gen *g, struct node *n, bool last);

#endif
