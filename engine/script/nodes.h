/* nodes.h - the kinds of nodes of a script's tree: one row for each. Private to engine/script. */
#ifndef ENGINE_SCRIPT_NODES_H
#define ENGINE_SCRIPT_NODES_H

#include "engine/script/generate.h"

typedef void node_words_fn(const struct node *n, char *out, size_t size);
typedef struct type node_type_fn(struct gen *g, struct node *n);
typedef enum err node_expr_fn(struct gen *g, struct node *n);
typedef enum err node_stmt_fn(struct gen *g, struct node *n, bool last);

struct node_row {
    const char *class; /* in painless */
    const char *words; /* what its messages call it; NULL: put_words says */
    node_words_fn *put_words;
    node_expr_fn *expr; /* bytecode that leaves its value; NULL: it has none */
    node_type_fn *type; /* of its value; NULL: only running shows it */
    node_stmt_fn *stmt; /* bytecode of a statement; NULL: it is none */
    bool effect;        /* an expression that may be a statement */
    bool leaves;        /* what follows it is never reached */
    bool gives;         /* as a function's last statement it gives a value, or never ends */
};

extern const struct node_row nodes[NODES];

/* words.c */
node_words_fn const_words, name_words, class_words, cast_words, operator_words;
/* gen_expr.c */
node_expr_fn gen_const, gen_name, gen_class, gen_list, gen_map, gen_unary, gen_binary, gen_logical,
    gen_ternary, gen_elvis, gen_cast, gen_instanceof;
/* gen_assign.c */
node_expr_fn gen_index, gen_assign, gen_step;
/* gen_call.c */
node_expr_fn gen_member, gen_call, gen_new, gen_new_array, gen_lambda, gen_method_ref;
/* gen_types.c */
node_type_fn type_of_const, type_of_variable, type_written_down, type_of_condition, type_of_list, type_of_map,
    type_of_unary, type_of_binary, type_of_conditional, type_of_target, type_of_call, type_of_member,
    type_of_element;
/* gen_stmt.c */
node_stmt_fn gen_block, gen_expression, gen_declaration, gen_if, gen_return, gen_throw, gen_try;
/* gen_loop.c */
node_stmt_fn gen_while, gen_do, gen_for, gen_each, gen_break, gen_continue;

#endif
