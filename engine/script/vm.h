/* vm.h - one execution of a script: its stack, its memory, its budget. Private to engine/script. */
#ifndef ENGINE_SCRIPT_VM_H
#define ENGINE_SCRIPT_VM_H

#include "common/base/stop.h"
#include "engine/script/code.h"

#define CALL_DEPTH_MAX 64

struct script_run {
    struct script *script;
    struct script_limits limits;
    struct arena fixed; /* parameters */
    struct sv params;
    const struct script_var *vars;
    uint32_t vars_n;
    struct arena mem; /* one execution's values */
    const struct script_env *env;
    struct errmsg *em;    /* own_em */
    struct errmsg own_em; /* in `mem`: what a script throws and catches stays there */
    uint64_t steps;
    struct sv *stack;
    uint32_t sp;
    uint32_t depth;
    struct sv ctx;
    struct sv source; /* params._source, once asked for */
    bool has_source;
    struct str text;     /* the last script_text */
    struct regex *regex; /* the last pattern, compiled: */
    struct str regex_of;
    uint32_t regex_flags;
    bool placed; /* the error came from a place in the script: */
    uint32_t off;
};

struct sv_func {
    uint32_t code; /* a lambda; UINT32_MAX: a method reference */
    struct sv *captured;
    uint32_t captured_n;
    struct type type; /* method reference */
    struct sv object;
    bool bound; /* object::name */
    struct str name;
};

struct sv_iter {
    struct sv_list *list;
    uint32_t at, n;
};

struct sv_builder {
    char *p;
    size_t n, cap;
};

struct sv_matcher {
    struct str pattern;
    uint32_t flags;
    struct str text;
    size_t from;            /* where the next find begins; bytes, as the next two */
    struct sv_list *groups; /* of the last match */
    size_t start, end;
};

typedef enum err (*method_fn)(struct script_run *m, struct sv self, struct sv *a, uint32_t n, struct sv *out);
/* The head of a method of a table below. */
#define METHOD(f)                                                                              \
    static enum err f(UNUSED struct script_run *m, UNUSED struct sv self, UNUSED struct sv *a, \
                      UNUSED uint32_t n, UNUSED struct sv *out)

struct method {
    const char *name;
    int argc; /* -1: any */
    method_fn fn;
};

/* A function of scripts for scores, or of expressions (score.c). */
struct builtin {
    const char *name;
    uint32_t least, most; /* arguments */
    enum err (*fn)(struct script_run *m, const struct builtin *b, struct sv *a, uint32_t n, struct sv *out);
    double (*curve)(double distance, double scale, double decay); /* of a decay */
    double (*numbers)(const double *v);                           /* of expressions */
    double (*vectors)(const float *q, const float *v, uint32_t dims, float magnitude);
};

extern const struct builtin builtins[];
const struct builtin *builtin_named(struct str name, bool of_expressions); /* NULL: none */

/* (run.c) Begins an execution without giving up what the last one has left in `mem`; the execution itself, whose errors are worded. */
void run_prepare(struct script_run *m, const struct script_env *env);
enum err run_execute(struct script_run *m, struct sv *out, struct errmsg *em);

/* Why no step is left: ERR_PAINLESS when the budget is gone. */
enum err vm_stopped(struct script_run *m);
/* Spends n steps. */
static inline enum err vm_spend(struct script_run *m, uint64_t n)
{
    m->steps += n;
    return stop_often() || m->steps > m->limits.steps_max ? vm_stopped(m) : ERR_OK;
}
/* Runs one of the script's functions; 0 is the script itself. */
enum err vm_run(struct script_run *m, uint32_t code, const struct sv *args, uint32_t n, struct sv *out);
/* Calls a lambda or a method reference. */
enum err vm_call(struct script_run *m, struct sv func, const struct sv *args, uint32_t n, struct sv *out);
/* Of one value: the function's, and whether that is true. */
enum err vm_call_one(struct script_run *m, struct sv func, struct sv v, struct sv *out);
enum err vm_test(struct script_run *m, struct sv func, struct sv v, bool *out);
enum err vm_method(struct script_run *m, struct sv self, struct str name, struct sv *args, uint32_t n,
                   struct sv *out);
/* ERR_OK and *found false: the table has no such method. */
enum err vm_table(struct script_run *m, const struct method *table, size_t table_n, struct sv self,
                  struct str name, struct sv *args, uint32_t n, struct sv *out, bool *found);
enum err vm_static(struct script_run *m, enum type_id type, struct str name, struct sv *args, uint32_t n,
                   struct sv *out);
enum err vm_static_field(struct script_run *m, enum type_id type, struct str name, struct sv *out);
/* A new object of a class by its name: several classes are one type here. */
enum err vm_new(struct script_run *m, enum type_id type, struct str name, struct sv *args, uint32_t n,
                struct sv *out);
enum err vm_builtin(struct script_run *m, const struct builtin *b, struct sv *args, uint32_t n,
                    struct sv *out);
enum err vm_binary(struct script_run *m, enum op op, struct sv a, struct sv b, struct sv *out);
enum err vm_unary(struct script_run *m, enum op op, struct sv v, struct sv *out);
/* A cast as written, or (implicit) as assignment, arguments and return convert. */
enum err vm_cast(struct script_run *m, struct type t, struct sv v, bool implicit, struct sv *out);
enum err vm_get(struct script_run *m, struct sv object, struct str name, struct sv *out);
enum err vm_put(struct script_run *m, struct sv object, struct str name, struct sv v);
enum err vm_get_at(struct script_run *m, struct sv object, struct sv index, struct sv *out);
enum err vm_put_at(struct script_run *m, struct sv object, struct sv index, struct sv v);
enum err vm_field(struct script_run *m, struct str name, struct sv *out);
/* (vectors.c) Methods of the values of a field of vectors; the refusal to see one as a list of values; functions of a vector of the
 * request and one of the document. */
enum err methods_vector(struct script_run *m, struct sv self, struct str name, struct sv *args, uint32_t n,
                        struct sv *out, bool *found);
enum err vector_whole_refused(struct errmsg *em);
enum err vector_function(struct script_run *m, const struct builtin *b, struct sv *args, uint32_t n,
                         struct sv *out);
/* Sums of floats, as Elasticsearch computes them. */
double vector_dot(const float *q, const float *v, uint32_t dims, float magnitude);
double vector_cosine(const float *q, const float *v, uint32_t dims, float magnitude);
double vector_l1(const float *q, const float *v, uint32_t dims, float magnitude);
double vector_l2(const float *q, const float *v, uint32_t dims, float magnitude);
enum err vm_iterator(struct script_run *m, struct sv of, struct sv *out);
bool vm_next(struct script_run *m, struct sv_iter *it, struct sv *out, enum err *e);

/* ---- errors ---- */

enum err vm_no_memory(struct script_run *m);
enum err vm_null(struct script_run *m, const char *what);
/* Null, where the class of a value is asked for. */
enum err vm_no_class(struct script_run *m, const char *what);
/* A class, or the primitive that it boxes. */
const char *vm_class(struct sv v);
enum err vm_class_cast(struct script_run *m, struct sv v, const char *to);
enum err vm_frozen(struct script_run *m);
enum err vm_index(struct script_run *m, int64_t at, uint64_t n);

/* ---- arguments ---- */

enum err vm_arg_i64(struct script_run *m, struct sv v, int64_t *out);
enum err vm_arg_num(struct script_run *m, struct sv v, double *out);
enum err vm_arg_str(struct script_run *m, struct sv v, struct str *out);
enum err vm_arg_bool(struct script_run *m, struct sv v, bool *out);
/* Any collection as a list; a field's values are copied. */
enum err vm_arg_list(struct script_run *m, struct sv v, struct sv_list **out);

/* ---- results ---- */

enum err vm_text(struct script_run *m, struct sv v, struct str *out);
enum err vm_str(struct script_run *m, struct str s, struct sv *out); /* copies */
enum err vm_list(struct script_run *m, enum list_form form, struct sv *out);
enum err vm_push(struct script_run *m, struct sv_list *l, struct sv v);

/* ---- methods by kind (each a table in its file) ---- */

enum err methods_str(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                     struct sv *out, bool *found);
enum err methods_list(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                      struct sv *out, bool *found);
enum err methods_stream(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                        struct sv *out, bool *found);
enum err methods_map(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                     struct sv *out, bool *found);
enum err methods_builder(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                         struct sv *out, bool *found);
enum err methods_field(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                       struct sv *out, bool *found);
enum err methods_other(struct script_run *m, struct sv self, struct str name, struct sv *a, uint32_t n,
                       struct sv *out, bool *found);

/* Regular expressions. */
/* Can a literal be compiled? ERR_PATTERN_SYNTAX. */
enum err regex_check(struct str pattern, uint32_t flags, struct errmsg *em);
/* Does it match the whole text, or anywhere? */
enum err regex_test(struct script_run *m, struct sv pattern, struct str text, bool whole, bool *out);
enum err regex_find(struct script_run *m, struct sv_matcher *x, bool whole, bool *out);
/* Replaces matches: with text (groups as $1), or what a function makes of each match. */
enum err regex_replace(struct script_run *m, struct sv pattern, struct str text, struct sv with, bool all,
                       struct sv *out);
enum err regex_split(struct script_run *m, struct sv pattern, struct str text, struct sv *out);

#endif
