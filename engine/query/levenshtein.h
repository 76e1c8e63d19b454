/* levenshtein.h - edit distances from one word to the words of a sorted dictionary.
 *
 * A table of rows, one for each character of the dictionary's current word, is kept while walking: words that
 * share a beginning share its rows, and a beginning that cannot lead within the distance rules out all words
 * that have it. An adjacent transposition counts as one edit when asked for (as in Lucene's automata: no edit
 * inside a transposition). */
#ifndef ENGINE_QUERY_LEVENSHTEIN_H
#define ENGINE_QUERY_LEVENSHTEIN_H

#include "common/base/arena.h"
#include "common/base/buf.h"

struct levenshtein {
    const uint32_t *word; /* code points */
    uint32_t n;
    uint32_t max;    /* edits */
    uint32_t prefix; /* leading characters that must be equal */
    size_t prefix_bytes;
    struct str text;
    bool transpositions;
};

bool levenshtein_init(struct levenshtein *l, struct str word, uint32_t max, uint32_t prefix,
                      bool transpositions, struct arena *arena) NODISCARD;

/* The rows of one walk. */
struct lev_walk {
    const struct levenshtein *l;
    uint8_t *rows;   /* depth × (n + 1), saturated at max + 1 */
    uint32_t *chars; /* the current word's characters */
    uint32_t *ends;  /* byte offset behind each character */
    uint32_t depth, cap;
    struct str last; /* the word before, in `bytes` */
    struct buf bytes;
    size_t dead; /* words that share so many bytes with `last` do not match; 0: none known */
    bool failed; /* no memory */
};

void lev_walk_init(struct lev_walk *w, const struct levenshtein *l);
void lev_walk_fini(struct lev_walk *w);
/* Edits from the word to `term`, whose successor in byte order comes next; max + 1 and more: too many. */
unsigned lev_walk_next(struct lev_walk *w, struct str term);

/* The distance of two words by itself; max + 1: more than max. */
unsigned levenshtein_distance(const struct levenshtein *l, struct str term);

#endif
