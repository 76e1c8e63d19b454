/* operators.h - one row for each operator. Private to engine/script. */
#ifndef ENGINE_SCRIPT_OPERATORS_H
#define ENGINE_SCRIPT_OPERATORS_H

#include "engine/script/vm.h"

struct operator
{
    const char *sign, *words; /* words: what painless calls it */
    /* NULL: it takes one value, vm_unary() does it */
    enum err (*binary)(struct script_run * m, enum op op, struct sv a, struct sv b, struct sv * out);
    /* Of arithmetic and bits; no division by zero. */
    int64_t (*whole)(int64_t a, int64_t b);
    double (*real)(double a, double b); /* of arithmetic */
};

extern const struct operator operators[OPS];

#endif
