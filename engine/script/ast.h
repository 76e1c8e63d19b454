/* ast.h - a script's syntax tree, and the types that its declarations name. Private to engine/script.
 *
 * The tree lives in the compiler's arena and is dropped once there is bytecode. */
#ifndef ENGINE_SCRIPT_AST_H
#define ENGINE_SCRIPT_AST_H

#include "engine/script/value.h"

/* The classes that a script may name. */
enum type_id {
    TYPE_NONE,
    TYPE_DEF,
    TYPE_VOID,
    TYPE_BOOLEAN,
    TYPE_BYTE,
    TYPE_SHORT,
    TYPE_CHAR,
    TYPE_INT,
    TYPE_LONG,
    TYPE_FLOAT,
    TYPE_DOUBLE,
    TYPE_BOX_BOOLEAN,
    TYPE_BOX_BYTE,
    TYPE_BOX_SHORT,
    TYPE_BOX_CHAR,
    TYPE_BOX_INT,
    TYPE_BOX_LONG,
    TYPE_BOX_FLOAT,
    TYPE_BOX_DOUBLE,
    TYPE_NUMBER,
    TYPE_OBJECT,
    TYPE_STRING,
    TYPE_BUILDER,
    TYPE_LIST,
    TYPE_SET,
    TYPE_COLLECTION,
    TYPE_MAP,
    TYPE_ENTRY,
    TYPE_ITERATOR,
    TYPE_MATH,
    TYPE_OBJECTS,
    TYPE_COLLECTIONS,
    TYPE_ARRAYS,
    TYPE_COLLECTORS,
    TYPE_COMPARATOR,
    TYPE_DATE,
    TYPE_INSTANT,
    TYPE_ZONE,
    TYPE_FORMATTER,
    TYPE_LOCAL_DATE,
    TYPE_LOCAL_TIME,
    TYPE_LOCAL_DATE_TIME,
    TYPE_DURATION,
    TYPE_CHRONO_UNIT,
    TYPE_CHRONO_FIELD,
    TYPE_PATTERN,
    TYPE_MATCHER,
    TYPE_GEO,
    TYPE_OPTIONAL,
    TYPE_MOVING,
    TYPE_EXCEPTION,
    TYPE_SYSTEM,
    TYPE_STREAM,
    TYPE_FUNCTION, /* Function, Predicate, Consumer ... */
    TYPES          /* how many there are */
};

struct type {
    enum type_id id;
    uint8_t dims; /* arrays of it */
    uint8_t row;  /* which of the names of `id` it was called, from 1; 0: the first */
};

struct type_text {
    char s[80];
};

/* TYPE_NONE: no such class. */
enum type_id type_of_name(struct str name);
const char *type_name(enum type_id id);
/* As type_of_name, with the name that was used; and the whole name of the class in Java: "java.util.List", "int"; with its
 * dimensions. The name as scripts write it. */
struct type type_called(struct str name);
struct type_text type_java(struct type t);
struct type_text type_written(struct type t);
/* Are they one type, by whichever of its names? */
bool type_same(struct type a, struct type b);
/* The kind that values of a primitive or boxed type have; SV_NULL: no number. */
enum sv_kind type_kind(enum type_id id);
static inline bool type_is_primitive(enum type_id id)
{
    return id >= TYPE_BOOLEAN && id <= TYPE_DOUBLE;
}
/* instanceof, and what a cast of a reference allows. */
bool type_holds(struct type t, struct sv v);

enum node_kind {
    N_CONST,
    N_NAME,
    N_TYPE, /* a class's name before a dot */
    N_LIST,
    N_MAP,       /* kids: key, value, key, value ... */
    N_NEW,       /* type, kids: arguments */
    N_NEW_ARRAY, /* type; kids: sizes, or elements when `flag` */
    N_MEMBER,    /* kids[0] . name; flag: null-safe */
    N_CALL,      /* kids[0] . name(kids[1...]); kids[0] NULL: a function; flag: null-safe */
    N_INDEX,
    N_UNARY,
    N_BINARY,
    N_AND,
    N_OR,
    N_TERNARY,
    N_ELVIS,
    N_CAST,
    N_INSTANCEOF,
    N_ASSIGN, /* op OP_NONE: plain */
    N_STEP,   /* ++ and --; flag: before */
    N_LAMBDA,
    N_METHOD_REF, /* kids[0] (may be N_TYPE) :: name */
    S_BLOCK,
    S_EXPR,
    S_DECLARE, /* type, name, kids[0] (may be NULL) */
    S_IF,
    S_WHILE,
    S_DO,
    S_FOR,  /* kids: init, condition, update, body; each may be NULL */
    S_EACH, /* type, name, kids: what, body */
    S_RETURN,
    S_BREAK,
    S_CONTINUE,
    S_THROW,
    S_TRY, /* kids: body, then per catch: S_DECLARE of its variable, body */
    NODES  /* how many there are */
};

enum op {
    OP_NONE,
    OP_ADD,
    OP_SUB,
    OP_MUL,
    OP_DIV,
    OP_REM,
    OP_SHL,
    OP_SHR,
    OP_USHR,
    OP_BAND,
    OP_BOR,
    OP_BXOR,
    OP_EQ,
    OP_NE,
    OP_SAME,
    OP_NOT_SAME,
    OP_LT,
    OP_LE,
    OP_GT,
    OP_GE,
    OP_FIND,  /* =~ */
    OP_MATCH, /* ==~ */
    OP_NEG,
    OP_PLUS,
    OP_NOT,
    OP_BNOT,
    OPS /* how many there are */
};

struct param {
    struct type type;
    struct str name;
};

struct node {
    enum node_kind kind;
    enum op op;
    bool flag;
    uint32_t off;   /* byte in the source */
    bool typed;     /* `is` is known */
    struct type is; /* what it gives, where that is known before running; TYPE_DEF: anything */
    struct type type;
    struct str name;
    struct sv value;
    struct node **kids;
    uint32_t n;
    uint32_t height;      /* of the tree below: functions that walk it call themselves so deep */
    struct param *params; /* N_LAMBDA */
    uint32_t params_n;
    size_t cap;
};

/* Counts the kid, which may be NULL, into the height of n. */
static inline uint32_t node_height(const struct node *n, const struct node *kid)
{
    return kid != NULL && kid->height >= n->height ? kid->height + 1 : n->height;
}

/* What painless calls a node in its messages: "numeric constant [1]", "addition operation [+]"; and what it says of one
 * whose value goes nowhere. */
void node_words(const struct node *n, char *out, size_t size);
void node_unused(const struct node *n, char *out, size_t size);
/* The class that a node has in painless: "EBinary". */
const char *node_class(const struct node *n);
/* The same of an operator alone: "addition operator [+]"; and its sign. */
const char *op_words(enum op op);
const char *op_sign(enum op op);

struct function {
    uint32_t off;
    struct type type;
    struct str name;
    struct param *params;
    uint32_t params_n;
    struct node *body;
};

/* A variable of an expression that its parameters must have, and where it stands. */
struct link {
    struct str text;
    uint32_t off;
};

struct program {
    struct function *functions;
    uint32_t functions_n;
    size_t functions_cap;
    struct node *body;  /* S_BLOCK */
    struct link *links; /* of an expression */
    uint32_t links_n;
    size_t links_cap;
};

/* ERR_ILLEGAL_ARGUMENT with painless's words. */
enum err script_parse(struct program *out, struct str source, struct arena *a, struct errmsg *em) NODISCARD;
/* Notes in the message at which byte of the source the error is. */
static inline void script_error_at(struct errmsg *em, uint32_t off)
{
    struct err_about *a = err_about_change(em);
    if (a != NULL) {
        a->script_placed = true;
        a->script_at = off;
    }
}

/* ---- tokens ---- */

enum token_kind { T_END, T_NAME, T_NUMBER, T_TEXT, T_REGEX, T_SIGN };

struct token {
    enum token_kind kind;
    uint32_t off;
    struct str text;  /* T_TEXT: unescaped */
    struct str raw;   /* as it stands in the source */
    struct str flags; /* T_REGEX */
};

enum err script_lex(struct token **out, uint32_t *n, struct str source, struct arena *a,
                    struct errmsg *em) NODISCARD;

#endif
