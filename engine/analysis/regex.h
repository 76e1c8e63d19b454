/* regex.h - Java's regular expressions over UTF-8, by ICU.
 *
 * Patterns are translated where ICU reads them otherwise (\w, \d, \s and the POSIX classes are ASCII in
 * Java). Matching is bounded in steps and memory: a pattern that runs away gives an error, not a hang. A
 * pattern is shared by any number of threads; a matcher belongs to one. All offsets are bytes. */
#ifndef ENGINE_ANALYSIS_REGEX_H
#define ENGINE_ANALYSIS_REGEX_H

#include "engine/analysis/component.h"

struct regex;   /* a compiled pattern */
struct matcher; /* one use of it */

/* Compiles; flags as in "CASE_INSENSITIVE|DOTALL" (empty: none). What it holds goes with env's cleanups.
 * ERR_PATTERN_SYNTAX, ERR_ILLEGAL_ARGUMENT for an unknown flag. */
enum err regex_new(const struct regex **out, struct str pattern, struct str flags,
                   const struct analysis_env *env, struct arena *arena, struct errmsg *em);
int32_t regex_groups(const struct regex *r);

/* Ready to search `text` (borrowed) from its start. */
enum err matcher_open(struct matcher **out, const struct regex *r, struct str text, struct errmsg *em);
void matcher_close(struct matcher *m); /* NULL ok */
/* Starts over on another text. */
enum err matcher_reset(struct matcher *m, struct str text, struct errmsg *em);
/* The next match; *found is false when there is none. */
enum err matcher_find(struct matcher *m, bool *found, struct errmsg *em);
/* Does the whole text match? */
enum err matcher_matches(struct matcher *m, bool *found, struct errmsg *em);
/* Place of a group (0: all) of the last match; false when it took no part. */
bool matcher_group(const struct matcher *m, int32_t group, size_t *start, size_t *end);

/* Appends what a Java replacement text ("$1", "${name}", "\$") stands for, for the last match in `text`. */
enum err matcher_expand(const struct matcher *m, struct str text, struct str replacement, struct buf *out,
                        struct errmsg *em);

#endif
