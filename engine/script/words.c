/* Painless's names for the parts of a script. */
#include "engine/script/nodes.h"
#include "engine/script/operators.h"

#include <stdio.h>

void const_words(const struct node *n, char *out, size_t size)
{
    enum sv_kind kind = n->value.kind;
    if (kind == SV_NULL) {
        snprintf(out, size, "null constant");
    } else if (kind == SV_BOOL) {
        snprintf(out, size, "boolean constant [%s]", n->value.b ? "true" : "false");
    } else if (kind == SV_STR) {
        snprintf(out, size, "string constant [%.*s]", STR_ARG(n->value.s));
    } else if (kind == SV_PATTERN) {
        snprintf(out, size, "regex constant [%.*s] with flags [%.*s]", STR_ARG(n->value.s), STR_ARG(n->name));
    } else if (n->flag) { /* a minus before a number is an operator of its own */
        snprintf(out, size, "subtraction operation [-]");
    } else {
        snprintf(out, size, "%s constant [%.*s]", sv_is_whole(n->value) ? "numeric" : "decimal",
                 STR_ARG(n->name));
    }
}

void name_words(const struct node *n, char *out, size_t size)
{
    if (type_of_name(n->name) != TYPE_NONE) {
        snprintf(out, size, "static type [%s]", type_java(type_called(n->name)).s);
    } else {
        snprintf(out, size, "variable [%.*s]", STR_ARG(n->name));
    }
}

void class_words(const struct node *n, char *out, size_t size)
{
    snprintf(out, size, "static type [%s]", type_java(n->type).s);
}

void cast_words(const struct node *n, char *out, size_t size)
{
    snprintf(out, size, "%s with target type [%s]", n->kind == N_CAST ? "explicit cast" : "instanceof",
             type_written(n->type).s);
}

void operator_words(const struct node *n, char *out, size_t size)
{
    snprintf(out, size, "%s operation [%s]", op_words(n->op), op_sign(n->op));
}

void node_words(const struct node *n, char *out, size_t size)
{
    const struct node_row *row = &nodes[n->kind];
    if (row->words != NULL) {
        snprintf(out, size, "%s", row->words);
    } else {
        row->put_words(n, out, size);
    }
}

const char *node_class(const struct node *n)
{
    return n->kind == N_BINARY && op_compares(n->op) ? "EComp" : nodes[n->kind].class;
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
