/* scripts.h - what the tests of scripts share: a document to run on, and cases that painless answered. */
#ifndef TESTS_ENGINE_SCRIPT_SCRIPTS_H
#define TESTS_ENGINE_SCRIPT_SCRIPTS_H

#include "engine/script/script.h"

struct script_case {
    const char *source;
    const char *want;  /* as JSON; NULL: an error */
    const char *error; /* its innermost type */
};

/* What painless 7.10 gave. */
extern const struct script_case painless[];
extern const size_t painless_n;

extern const struct script_env scripts_env; /* the document */
extern const char *const scripts_params;    /* the parameters, as JSON */
/* Compiles and runs; the value as a JSON array into `out`. */
enum err scripts_run(const char *source, const char *lang, char *out, size_t cap, struct errmsg *em);
/* It gives this value, or (want NULL) an error of this type. */
void scripts_expect(const char *source, const char *lang, const char *want, const char *error);

#endif
