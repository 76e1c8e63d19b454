/* ik_int.h - inside IK's tokenizer: the read buffer, the segmenters, the choice among overlapping words.
 *
 * The plugin reads a text through a window of 4096 UTF-16 units and treats each window by itself; where
 * windows meet shows in its tokens, so the window is kept here with all its rules. Everything below belongs
 * to one run over one text and lives in the token list's arena. */
#ifndef ENGINE_ANALYSIS_IK_INT_H
#define ENGINE_ANALYSIS_IK_INT_H

#include "engine/analysis/dict/ik_dict.h"
#include "engine/analysis/token.h"

#define IK_WINDOW   4096 /* units */
#define IK_CRITICAL 100  /* the window's last units, from which it may move on early */

enum ik_char { IK_USELESS, IK_ARABIC, IK_ENGLISH, IK_CHINESE, IK_OTHER_CJK };

enum ik_type {
    IK_TYPE_ENGLISH,
    IK_TYPE_ARABIC,
    IK_TYPE_LETTER,
    IK_TYPE_CNWORD,
    IK_TYPE_CNCHAR,
    IK_TYPE_OTHER_CJK,
    IK_TYPE_CNUM,
    IK_TYPE_COUNT,
    IK_TYPE_CQUAN
};

struct ik_lexeme {
    uint16_t begin, length; /* units of the window */
    enum ik_type type;
};

static inline uint32_t lexeme_end(const struct ik_lexeme *l)
{
    return (uint32_t)l->begin + l->length;
}

struct ik_lexemes {
    struct ik_lexeme *v;
    size_t n, cap;
};

/* The window. Units behind the cursor are regularised (half-width, lower case), those before it are as they
 * were read. */
struct ik_window {
    struct str text;
    size_t read;  /* bytes of the text that were read */
    uint16_t low; /* second half of a surrogate pair that did not fit any more, or 0 */
    bool lowercase;
    uint32_t size;      /* units that the arrays hold: IK_WINDOW, or enough for all of a shorter text */
    uint32_t available; /* units in the window */
    uint32_t cursor;
    bool moved; /* the window is not where the text begins */
    uint16_t *units;
    uint8_t *types; /* enum ik_char, up to the cursor */
    bool *changed;  /* the unit is not what the text says */
    uint32_t *at;   /* byte offset of each unit; one more for the end */
};

/* Prepares an empty window. false: no memory. */
bool ik_window_init(struct ik_window *w, struct str text, bool lowercase, struct arena *arena) NODISCARD;
/* Moves the window on, so that it begins at the cursor, and reads what fits. false: nothing is left. */
bool ik_window_fill(struct ik_window *w);
/* The cursor's unit is looked at: regularised, its type set. */
void ik_window_look(struct ik_window *w);
/* To the next unit, which is looked at; false at the end of the window. */
bool ik_window_next(struct ik_window *w);

static inline bool ik_window_consumed(const struct ik_window *w)
{
    return w->cursor + 1 == w->available;
}

/* A word that may go on: where it began, and how far the trie was walked. */
struct ik_hit {
    uint32_t begin, state;
};

struct ik_hits {
    /* a word has fewer units, so no more can be open; a broken dictionary is cut off here */
    struct ik_hit v[256];
    size_t n;
};

/* A run of units of one kind; open: begin <= end. */
struct ik_run {
    int32_t begin, end; /* -1: none */
};

struct ik_segmenter {
    const struct dictionary *dict;
    struct ik_window *window;
    struct arena *arena;
    struct ik_lexemes found; /* ordered by begin, the longer first; no two alike */
    bool no_memory;
    struct ik_run letters, english, arabic, numerals;
    struct ik_hits counts, words;
};

/* Looks at the cursor's unit: letters, numbers and measure words, words, in this order (which decides what a
 * span is called that two of them find). */
void ik_segment(struct ik_segmenter *s);
/* Something is open across the cursor. */
bool ik_segment_busy(const struct ik_segmenter *s);
/* Forgets what is open and what was found. */
void ik_segment_reset(struct ik_segmenter *s);

/* Adds a lexeme in its place; dropped when its span is there. false: no memory. */
bool ik_lexemes_add(struct ik_lexemes *l, struct ik_lexeme x, struct arena *arena) NODISCARD;

/* Sums over a way that starts with one lexeme (ik_arbiter.c). */
struct ik_chain {
    uint32_t next, count, payload, product, weight, end;
};

/* From overlapping lexemes v[0 .. n) (ordered; each begins before the furthest end of those before it) picks
 * the way that IK prefers. Writes it to `out` (room for n) and returns how many. scratch: room for n chains;
 * n >= 1. */
size_t ik_judge(const struct ik_lexeme *v, size_t n, struct ik_lexeme *out, struct ik_chain *scratch);

#endif
