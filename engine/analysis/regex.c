#include "engine/analysis/regex.h"

static void close_regex(void *arg)
{
    regex_free(arg);
}

static enum err parse_flags(struct str flags, unsigned *out, struct errmsg *em)
{
    static const struct {
        const char *name;
        unsigned flag;
    } known[] = {{"CASE_INSENSITIVE", REGEX_CASE_INSENSITIVE},
                 {"MULTILINE", REGEX_MULTILINE},
                 {"DOTALL", REGEX_DOTALL},
                 {"UNICODE_CASE", 0},
                 {"CANON_EQ", 0},
                 {"UNIX_LINES", REGEX_UNIX_LINES},
                 {"LITERAL", REGEX_LITERAL},
                 {"COMMENTS", REGEX_COMMENTS},
                 {"UNICODE_CHAR_CLASS", 0},
                 {"UNICODE_CHARACTER_CLASS", 0}};
    *out = 0;
    struct str rest = flags;
    while (rest.p != NULL) {
        struct str name = str_trim(str_cut(rest, '|', &rest));
        bool found = name.n == 0;
        for (size_t i = 0; i < ARRAY_LEN(known) && !found; i++) {
            found = str_eq_nocase(name, str_of(known[i].name));
            *out |= found ? known[i].flag : 0;
        }
        if (!found) {
            return err_set(em, ERR_ILLEGAL_ARGUMENT, "Unknown regex flag [%.*s]", STR_ARG(name));
        }
    }
    return ERR_OK;
}

enum err part_regex_new(const struct regex **out, struct str pattern, struct str flags,
                        const struct analysis_env *env, struct arena *arena, struct errmsg *em)
{
    unsigned bits;
    struct regex *r;
    struct part_cleanup *clean = ARENA_NEW(arena, struct part_cleanup);
    enum err e = parse_flags(flags, &bits, em);
    e = e == ERR_OK && clean == NULL ? err_no_memory(em) : e;
    e = e == ERR_OK ? regex_new(&r, pattern, bits, em) : e;
    if (e != ERR_OK) {
        return e;
    }
    assert(env->cleanups != NULL);
    *clean = (struct part_cleanup){close_regex, r, *env->cleanups};
    *env->cleanups = clean;
    *out = r;
    return ERR_OK;
}
