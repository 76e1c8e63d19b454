/* completion_search.h - the best entries of a completion section among ranges of its paths.
 *
 * A cursor finds places in the sorted section; a matcher (fuzzy words, regular expressions) is walked over it
 * and leaves ranges; the search takes the best of all ranges, guided by the blocks' greatest weights. Nothing
 * here knows requests. Everything lives in the caller's arena; one thread at a time. */
#ifndef SUGGEST_COMPLETION_SEARCH_H
#define SUGGEST_COMPLETION_SEARCH_H

#include "engine/index/completion_int.h"
#include "engine/query/automaton.h"

/* Stands on one group of a section. */
struct completion_cursor {
    const struct completion_section *s;
    struct bytes_in in;
    uint64_t pos; /* of the current group; n_groups: past the last */
    struct buf path;
    struct completion_group group;
    bool corrupt;
};
void completion_cursor_init(struct completion_cursor *c, const struct completion_section *s);
void completion_cursor_fini(struct completion_cursor *c);
/* To the first group whose path is >= target; false: there is none. */
bool completion_cursor_seek(struct completion_cursor *c, struct str target);
bool completion_cursor_next(struct completion_cursor *c);
/* To the first group of a block. */
bool completion_cursor_block(struct completion_cursor *c, uint32_t block);
/* To the first group behind all paths that begin with `prefix`. */
bool completion_cursor_pass(struct completion_cursor *c, struct str prefix);

/* Groups [from, to) and what their weights are multiplied with (0: nothing). */
struct completion_range {
    uint64_t from, to;
    float boost;
    struct str context; /* number and value, as in the path; p == NULL: none */
};
struct completion_ranges {
    struct completion_range *v;
    size_t n, cap;
    struct arena *arena;
    bool failed; /* no memory */
};
void completion_ranges_add(struct completion_ranges *r, struct completion_range range);

enum match_step { MATCH_DEAD, MATCH_ALIVE, MATCH_ACCEPT };

/* Something that is run over paths byte by byte; states are kept by depth, so that paths that share a
 * beginning share its states. */
struct completion_matcher {
    void *self;
    bool accepts_all; /* the empty beginning already */
    /* The state behind `byte`, which follows the state at `depth`. */
    enum match_step (*step)(void *self, uint32_t depth, uint8_t byte);
    /* The factor of the weights below an accepted prefix. */
    float (*boost)(void *self, struct str accepted);
    bool past_end; /* runs on over what Lucene writes behind a path: two bytes of zero */
    bool failed;   /* no memory */
};

/* Adds the ranges of the paths base + x for which some beginning of x is accepted. */
void completion_walk(struct completion_cursor *c, struct str base, struct completion_matcher *m, float boost,
                     struct str context, struct completion_ranges *out);

/* Words within some edits of a beginning of the path, as Lucene's FuzzyCompletionQuery. */
struct fuzzy_options {
    uint32_t edits, min_length, prefix_length; /* lengths in units: bytes, or characters when unicode */
    bool transpositions, unicode;
};
bool fuzzy_matcher_init(struct completion_matcher *m, const struct fuzzy_options *o, const struct str *words,
                        size_t n, struct arena *arena);
/* As Lucene's RegexCompletionQuery: the automaton reads bytes as if they were characters. */
bool regex_matcher_init(struct completion_matcher *m, const struct dfa *dfa, struct arena *arena);

struct completion_hit {
    float score;
    doc_id doc;
    struct str input, context; /* borrowed from the section; from the range */
};

struct completion_request {
    const struct completion_section *s;
    const struct completion_ranges *ranges;
    const uint64_t *live; /* NULL: all */
    uint32_t doc_count;
    uint32_t k;
    bool distinct; /* each input once */
};

/* At most k hits, best score first, then by path, then document. ERR_CORRUPT. */
enum err completion_search(const struct completion_request *rq, struct completion_hit **out, uint32_t *n,
                           struct arena *arena, struct errmsg *em);

/* Lucene's score of a completion. */
float completion_score(uint32_t weight, float boost);

#endif
