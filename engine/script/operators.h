/* operators.h - one row for each operator. Private to engine/script. */
#ifndef ENGINE_SCRIPT_OPERATORS_H
#define ENGINE_SCRIPT_OPERATORS_H

#include "engine/script/vm.h"

enum operator_form {
    FORM_NONE,
    FORM_ARITHMETIC,
    FORM_SHIFT,
    FORM_BITS,
    FORM_EQUALITY,
    FORM_ORDER,
    FORM_PATTERN,
    FORM_UNARY /* of one value: vm_unary() does it */
};

struct operator_row {
    enum operator_form form;
    const char *sign, *words; /* words: what painless calls it */
    /* NULL: it takes one value */
    enum err (*binary)(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out);
    /* Of arithmetic and bits; no division by zero. */
    int64_t (*whole)(int64_t a, int64_t b);
    double (*real)(double a, double b); /* of arithmetic */
};

extern const struct operator_row operators[OPS];

static inline bool op_compares(enum op op)
{
    return operators[op].form == FORM_EQUALITY || operators[op].form == FORM_ORDER;
}

/* Does it work on the bits of whole numbers? */
static inline bool op_of_bits(enum op op)
{
    return operators[op].form == FORM_SHIFT || operators[op].form == FORM_BITS;
}

#endif
