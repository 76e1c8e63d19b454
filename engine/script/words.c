/* How painless speaks of parts of a script. */
#include "engine/script/ast.h"

#include <stdio.h>

static void constant_words(const struct node *n, char *out, size_t size)
{
    bool real = n->value.kind == SV_DOUBLE || n->value.kind == SV_FLOAT;
    switch (n->value.kind) {
    case SV_NULL:
        snprintf(out, size, "null constant");
        break;
    case SV_BOOL:
        snprintf(out, size, "boolean constant [%s]", n->value.b ? "true" : "false");
        break;
    case SV_STR:
        snprintf(out, size, "string constant [%.*s]", STR_ARG(n->value.s));
        break;
    case SV_PATTERN:
        snprintf(out, size, "regex constant [%.*s] with flags [%.*s]", STR_ARG(n->value.s), STR_ARG(n->name));
        break;
    default:
        if (n->flag) { /* a minus before a number is an operator of its own */
            snprintf(out, size, "subtraction operation [-]");
        } else {
            snprintf(out, size, "%s constant [%.*s]", real ? "decimal" : "numeric", STR_ARG(n->name));
        }
    }
}

void node_words(const struct node *n, char *out, size_t size)
{
    static const char *const words[] = {[N_LIST] = "list initializer",
                                        [N_MAP] = "map initializer",
                                        [N_NEW] = "new object",
                                        [N_NEW_ARRAY] = "new array",
                                        [N_MEMBER] = "dot operator [.]",
                                        [N_CALL] = "method call",
                                        [N_INDEX] = "brace operator",
                                        [N_TERNARY] = "conditional operation [?:]",
                                        [N_ELVIS] = "elvis operation [?:]",
                                        [N_AND] = "boolean and operation [&&]",
                                        [N_OR] = "boolean or operation [||]",
                                        [N_ASSIGN] = "assignment",
                                        [N_STEP] = "assignment",
                                        [N_LAMBDA] = "lambda",
                                        [N_METHOD_REF] = "function reference"};
    const char *w = (size_t)n->kind < ARRAY_LEN(words) ? words[n->kind] : NULL;
    switch (n->kind) {
    case N_CONST:
        constant_words(n, out, size);
        break;
    case N_NAME:
        if (type_of_name(n->name) != TYPE_NONE) {
            snprintf(out, size, "static type [%s]", type_java(type_called(n->name)).s);
        } else {
            snprintf(out, size, "variable [%.*s]", STR_ARG(n->name));
        }
        break;
    case N_TYPE:
        snprintf(out, size, "static type [%s]", type_java(n->type).s);
        break;
    case N_CAST:
    case N_INSTANCEOF:
        snprintf(out, size, "%s with target type [%s]", n->kind == N_CAST ? "explicit cast" : "instanceof",
                 type_written(n->type).s);
        break;
    case N_UNARY:
    case N_BINARY:
        snprintf(out, size, "%s operation [%s]", op_words(n->op), op_sign(n->op));
        break;
    default:
        snprintf(out, size, "%s", w != NULL ? w : "expression");
    }
}

const char *node_class(const struct node *n)
{
    static const char *const names[] = {[N_NAME] = "ESymbol",
                                        [N_TYPE] = "ESymbol",
                                        [N_LIST] = "EListInit",
                                        [N_MAP] = "EMapInit",
                                        [N_NEW] = "ENewObj",
                                        [N_NEW_ARRAY] = "ENewArray",
                                        [N_MEMBER] = "EDot",
                                        [N_CALL] = "ECall",
                                        [N_INDEX] = "EBrace",
                                        [N_UNARY] = "EUnary",
                                        [N_BINARY] = "EBinary",
                                        [N_AND] = "EBooleanComp",
                                        [N_OR] = "EBooleanComp",
                                        [N_TERNARY] = "EConditional",
                                        [N_ELVIS] = "EElvis",
                                        [N_CAST] = "EExplicit",
                                        [N_INSTANCEOF] = "EInstanceof",
                                        [N_ASSIGN] = "EAssignment",
                                        [N_STEP] = "EAssignment",
                                        [N_LAMBDA] = "ELambda",
                                        [N_METHOD_REF] = "EFunctionRef"};
    bool compares = n->kind == N_BINARY && n->op >= OP_EQ && n->op <= OP_GE;
    return compares                                                       ? "EComp"
           : (size_t)n->kind < ARRAY_LEN(names) && names[n->kind] != NULL ? names[n->kind]
                                                                          : "AExpression";
}

void node_unused(const struct node *n, char *out, size_t size)
{
    char words[160];
    bool not_used = n->kind == N_CONST || n->kind == N_NAME || n->kind == N_TYPE;
    node_words(n, words, sizeof(words));
    if ((not_used && !n->flag) || n->kind == N_MEMBER || n->kind == N_INDEX) {
        snprintf(out, size, "%s%s not used", not_used ? "" : "result of ", words);
    } else {
        snprintf(out, size, "result not used from %s", words);
    }
}
