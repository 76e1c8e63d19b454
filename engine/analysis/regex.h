/* regex.h - regular expressions of components: their flags by name, and owned by their analyzer. */
#ifndef ENGINE_ANALYSIS_REGEX_H
#define ENGINE_ANALYSIS_REGEX_H

#include "common/base/regex.h"
#include "engine/analysis/component.h"

/* Compiles; flags as in "CASE_INSENSITIVE|DOTALL" (empty: none). What it holds goes with env's cleanups.
 * ERR_PATTERN_SYNTAX, ERR_ILLEGAL_ARGUMENT for an unknown flag. */
enum err part_regex_new(const struct regex **out, struct str pattern, struct str flags,
                        const struct analysis_env *env, struct arena *arena, struct errmsg *em);

#endif
