/* contexts.h - the purposes that Elasticsearch names for scripts, and the languages that serve them. Constant; any thread. */
#ifndef ENGINE_SCRIPT_CONTEXTS_H
#define ENGINE_SCRIPT_CONTEXTS_H

#include "engine/script/script.h"

enum { LANG_PAINLESS = 1, LANG_EXPRESSION = 2, LANG_MUSTACHE = 4 };

struct script_purpose {
    const char *name;
    /* What a script of it has, as in Java, each method with a semicolon: "boolean execute(java.util.Map ctx);". */
    const char *methods;
    unsigned langs;
    int context; /* enum script_context; -1: nothing here runs such scripts */
};

/* In the order of their names. */
extern const struct script_purpose script_purposes[];
extern const size_t script_purposes_n;

/* A language's bit; 0: there is none of that name. And its name by its place; NULL behind the last one. */
unsigned script_lang(struct str name);
const char *script_lang_name(unsigned i);
/* Does the script compile for the purpose of that name? It is none of mustache. ERR_SCRIPT as script_compile(); ERR_ILLEGAL_ARGUMENT. */
enum err script_context_check(const struct script_text *t, struct str name, struct errmsg *em);

#endif
