/* allow.h - the members of the classes that scripts may name, and the types that they return. Private to engine/script. */
#ifndef ENGINE_SCRIPT_ALLOW_H
#define ENGINE_SCRIPT_ALLOW_H

#include "engine/script/ast.h"

#define ALLOW_ARGS 8

enum allow_what { ALLOW_METHOD, ALLOW_STATIC, ALLOW_FIELD, ALLOW_NEW };

struct allowed {
    struct type gives;             /* TYPE_DEF, too, where it is a class that no script can name here */
    struct type takes[ALLOW_ARGS]; /* TYPE_NONE: a class that no script can name here */
    uint32_t n;
};

/* Is the class a known one? An array is not. */
bool allow_class(struct type t);
/* Finds what the class, or one it descends from, has by that name and with so many arguments; fields and constructors have
 * their class only. The name of a constructor does not matter. Returns false when there is no such. */
bool allow_find(struct type of, enum allow_what what, struct str name, uint32_t argc, struct allowed *out);
/* The same of functions that only scripts for scores have. */
bool allow_score_function(struct str name, uint32_t argc, struct allowed *out);
/* Is every value of `from` one of `to` as well? Both are references; where one is no known class, it may be. */
bool allow_descends(struct type from, struct type to);

#endif
