/* regexp_parse.h - Lucene's regular expressions as trees. Internal to engine/query. */
#ifndef ENGINE_QUERY_REGEXP_PARSE_H
#define ENGINE_QUERY_REGEXP_PARSE_H

#include "common/base/arena.h"
#include "common/base/err.h"

enum regexp_kind {
    RE_UNION,
    RE_CONCAT,
    RE_INTERSECTION,
    RE_COMPLEMENT,
    RE_REPEAT, /* min to max times; max UINT32_MAX: any number */
    RE_CLASS,  /* one character of some ranges */
    RE_ANY_STRING,
    RE_EMPTY,   /* the empty text */
    RE_NOTHING, /* no text at all */
    RE_INTERVAL
};

struct regexp_range {
    uint32_t lo, hi;
};

struct regexp {
    enum regexp_kind kind;
    const struct regexp *a, *b;
    uint32_t min, max, digits;
    struct regexp_range *ranges; /* ascending */
    uint32_t n;
    bool negated;
    uint32_t depth; /* of the tree from here on, bounded */
};

/* The other case of a letter, or itself: what CASE_INSENSITIVE means to Lucene is ASCII letters only. */
static inline uint32_t regexp_other_case(uint32_t c)
{
    if (c >= 'a' && c <= 'z') {
        return c - 32;
    }
    return c >= 'A' && c <= 'Z' ? c + 32 : c;
}

/* ERR_ILLEGAL_ARGUMENT as Lucene's RegExp words it, also for a pattern of more than some 10,000 parts. */
enum err regexp_parse(const struct regexp **out, struct str pattern, uint32_t flags, bool nocase,
                      struct arena *arena, struct errmsg *em);

#endif
