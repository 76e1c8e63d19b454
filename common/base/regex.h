/* regex.h - Java's regular expressions over UTF-8, by ICU.
 *
 * Patterns are translated where ICU reads them otherwise (\w, \d, \s and the POSIX classes are ASCII in
 * Java). Matching is bounded in steps and memory: a pattern that runs away gives an error, not a hang. A
 * pattern is shared by any number of threads; a matcher belongs to one. All offsets are bytes. */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include "common/base/buf.h"
#include "common/base/err.h"

struct regex;   /* a compiled pattern */
struct matcher; /* one use of it */

enum regex_flag {
    REGEX_CASE_INSENSITIVE = 1,
    REGEX_MULTILINE = 2,
    REGEX_DOTALL = 4,
    REGEX_COMMENTS = 8,
    REGEX_UNIX_LINES = 16,
    REGEX_LITERAL = 32
};

/* Compiles; flags: of regex_flag. ERR_PATTERN_SYNTAX. */
enum err regex_new(struct regex **out, struct str pattern, unsigned flags, struct errmsg *em) NODISCARD;
void regex_free(struct regex *r); /* NULL ok */
int32_t regex_groups(const struct regex *r);

/* Ready to search `text` (borrowed) from its start. */
enum err matcher_new(struct matcher **out, const struct regex *r, struct str text, struct errmsg *em);
void matcher_free(struct matcher *m); /* NULL ok */
/* How long one try may take, in ICU's units of about a millisecond; 2000 if nobody says. */
void matcher_limit(struct matcher *m, int32_t time);
/* Starts over on another text. */
enum err matcher_reset(struct matcher *m, struct str text, struct errmsg *em);
/* The next match; *found is false when there is none. */
enum err matcher_find(struct matcher *m, bool *found, struct errmsg *em);
/* The next match from byte `from` on, wherever the last one ended. */
enum err matcher_find_at(struct matcher *m, size_t from, bool *found, struct errmsg *em);
/* Does the whole text match? */
enum err matcher_matches(struct matcher *m, bool *found, struct errmsg *em);
/* Place of a group (0: all) of the last match; false when it took no part. */
bool matcher_group(const struct matcher *m, int32_t group, size_t *start, size_t *end);

/* Appends what a Java replacement text ("$1", "${name}", "\$") stands for, for the last match in `text`. */
enum err matcher_expand(const struct matcher *m, struct str text, struct str replacement, struct buf *out,
                        struct errmsg *em);

#endif
