/* phrase.h - phrases: matching the positions of their terms within one document, and the scorer. Internal to engine/query.
 *
 * A slot is one position of the phrase with the terms allowed there. Exact phrases count the places where all slots stand
 * in order; sloppy ones follow Lucene's SloppyPhraseMatcher: each match adds 1 / (1 + its width), repeated terms may not
 * share a place. */
#ifndef ENGINE_QUERY_PHRASE_H
#define ENGINE_QUERY_PHRASE_H

#include "engine/query/scorers.h"

struct phrase_slot {
    struct postings *postings;   /* a cursor a term */
    struct term_scorer *single;  /* of the only term, which owns the cursor; NULL: several terms */
    struct positions *positions; /* a reader a term; NULL: `runs` reads the only one */
    struct position_runs *runs;
    const struct str *terms;
    uint32_t n;
    uint32_t n_all; /* terms of the slot, present in the segment or not */
    int32_t offset; /* the slot's position in the phrase */
    doc_id doc;
    uint64_t cost;
    uint32_t ord;
    /* of the current document */
    uint32_t freq;
    const uint32_t *
        pos; /* ascending; each is `base` too large, modulo 2^32; POSITION_RUNS_SLACK may be read behind them */
    uint32_t base;
    uint32_t *merged; /* several terms: their positions in order */
    uint32_t merged_cap;
    /* sloppy matching */
    uint32_t next;    /* of pos */
    int32_t position; /* pos - offset */
    int32_t group, in_group;
};

struct phrase_match {
    struct phrase_slot *v;
    uint32_t n;
    uint32_t slop;
    struct arena *arena;
    /* sloppy matching */
    struct phrase_slot **queue; /* a heap, the least first */
    uint32_t queue_n;
    struct phrase_slot ***groups; /* slots that share terms */
    uint32_t *group_n;
    uint32_t n_groups;
    bool multi_repeats;
    struct phrase_slot **stack;
    uint64_t *marks;
    int32_t end;
    int32_t width;
    bool positioned;
};

/* Prepares for matching (groups of repeats). false: no memory. */
bool phrase_match_init(struct phrase_match *m, struct phrase_slot *slots, uint32_t n, uint32_t slop,
                       struct arena *arena);
/* How often (weighted by closeness when sloppy) the phrase occurs where all slots' positions were read; 0: not at all. */
float phrase_match_freq(struct phrase_match *m);
/* At how many positions of the one slot the other stands where an exact phrase wants it. */
uint32_t phrase_match_two(const struct phrase_slot *lead, const struct phrase_slot *other);

/* The documents of one segment that hold the phrase. *out stays NULL: none does. sim NULL: they are not scored. */
enum err phrase_scorer_new(const struct weight *w, const struct sim *sim, const struct scorer_request *rq,
                           struct scorer **out);
/* The field that a slot's terms are read from. */
struct str phrase_slot_field(const struct query *q, uint32_t slot);
/* How often the current document, which was accepted, holds it. */
float phrase_scorer_freq(struct scorer *s);

#endif
