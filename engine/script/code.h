/* code.h - bytecode: what the compiler writes and the machine runs. Private to engine/script.
 *
 * A stack machine. Each function has its own code, locals in numbered slots, parameters first (a lambda's
 * captured values before them). All of it is immutable once compiled. */
#ifndef ENGINE_SCRIPT_CODE_H
#define ENGINE_SCRIPT_CODE_H

#include "engine/script/ast.h"

#include <stdatomic.h>

enum opcode {
    I_CONST, /* c: constant */
    I_LOAD,  /* c: slot */
    I_STORE, /* c: slot; pops */
    I_POP,
    I_DUP,
    I_DUP2,
    I_DOC,
    I_PARAMS,
    I_SCORE,
    I_CTX,
    I_VALUE,
    I_VALUES,
    I_BINARY,        /* a: enum op */
    I_UNARY,         /* a: enum op */
    I_JUMP,          /* c: target; backwards jumps are loops */
    I_IF_NOT,        /* pops a boolean; c: where to go when false */
    I_IF,            /* pops a boolean; c: where to go when true */
    I_IF_VALUE,      /* c: where to go when the top is not null; else pops it */
    I_IF_NULL,       /* c: where to go when the top is null, which stays */
    I_GET,           /* c: name; object -> value */
    I_PUT,           /* c: name; object value -> value */
    I_GET_AT,        /* object index -> value */
    I_PUT_AT,        /* object index value -> value */
    I_STEP,          /* a: OP_ADD or OP_SUB, b: before?, c: name; object -> value */
    I_STEP_AT,       /* a, b; object index -> value */
    I_CALL,          /* a: arguments, c: name; object arguments -> value */
    I_CALL_FUNCTION, /* a: arguments, c: function */
    I_CALL_STATIC,   /* a: arguments, b: type, c: name */
    I_CALL_BUILTIN,  /* a: arguments, b: place in `builtins` */
    I_GET_STATIC,    /* b: type, c: name */
    I_NEW,           /* a: arguments, b: type */
    I_NEW_ARRAY,     /* a: dimensions given, b: type */
    I_ARRAY,         /* b: type, c: elements */
    I_LIST,          /* c: elements */
    I_MAP,           /* c: pairs */
    I_CAST,          /* a: dimensions, b: type; as written */
    I_CONVERT,       /* a: dimensions, b: type; as assignment does */
    I_INSTANCEOF,    /* a, b */
    I_ITERATE,       /* collection -> iterator */
    I_NEXT,          /* c: where to go at the end (the iterator is popped); else pushes the next element */
    I_LAMBDA,        /* a: captured values (popped), c: function */
    I_METHOD_REF,    /* b: type, or TYPE_NONE with the object popped; c: name */
    I_TRY,           /* c: handler */
    I_END_TRY,
    I_CAUGHT, /* b: type, c: class name; is the exception such? pushes a boolean */
    I_THROW,
    I_RETURN
};

struct ins {
    uint8_t op, a;
    uint16_t b;
    uint32_t c;
};

#define OFF_UNKNOWN UINT32_MAX

struct code {
    struct ins *ins;
    uint32_t *off; /* for each instruction, the byte of the source at which its error is reported */
    uint32_t n;
    size_t cap, off_cap;
    uint32_t params_n; /* captured values included */
    uint32_t captured_n;
    uint32_t slots_n;
    struct type *param_types;
    struct type type; /* what it returns */
};

struct script {
    atomic_uint refs;
    struct arena arena; /* owns everything below */
    struct str source, lang;
    struct str id; /* of a stored one; p == NULL: it came with the request */
    enum script_context context;
    bool needs_score;
    bool mutates;      /* may change what it is given: parameters are copied for each execution */
    struct code *code; /* [0] is the script itself */
    uint32_t code_n;
    size_t code_cap;
    struct sv *consts;
    uint32_t consts_n;
    size_t consts_cap;
    uint32_t *statements; /* where statements begin, in the order in which they were compiled */
    uint32_t statements_n;
    size_t statements_cap;
    struct link *links; /* of an expression */
    uint32_t links_n;
};

#define STACK_MAX 1000 /* values a function's expressions may pile up */
#define SLOTS_MAX 250

/* Bytecode for a parsed program. */
enum err script_generate(struct script *s, const struct program *program, struct errmsg *em) NODISCARD;
/* A Lucene expression becomes a program like any other. */
enum err script_parse_expression(struct program *out, struct str source, enum script_context context,
                                 struct arena *a, struct errmsg *em) NODISCARD;

#endif
