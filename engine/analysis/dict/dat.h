/* dat.h - a double-array trie over UTF-16 units: the words of a dictionary, walked one unit at a time.
 *
 * It owns nothing: it is a view of the two tables of an image (image.h), in memory or mapped. It knows no
 * files and no meaning of words. Walking allocates nothing and never leaves the tables, whatever they hold,
 * so that a damaged file gives wrong words at worst. Any number of threads may walk it.
 *
 * A state is the number of a node; the child of state s by unit u is node[s].base + code[u], if that node's
 * `check` is s. Codes number the units that occur, the frequent ones first (1 ..); code 0 leads to a word's
 * value. */
#ifndef ENGINE_ANALYSIS_DICT_DAT_H
#define ENGINE_ANALYSIS_DICT_DAT_H

#include "common/base/defs.h"

struct dat_node {
    /* the two flags below, and 30 bits: where the children start; of a value's node: the value */
    uint32_t base;
    uint32_t check; /* the parent's state; 0 in an unused node */
};

#define DAT_WORD  0x80000000U /* a word ends here */
#define DAT_MORE  0x40000000U /* longer words go on from here */
#define DAT_BASE  0x3FFFFFFFU
#define DAT_ROOT  1U
#define DAT_CODES 65536U

struct dat {
    const uint16_t *codes; /* DAT_CODES of them; 0: the unit is in no word */
    const struct dat_node *nodes;
    uint32_t n;
};

/* The state behind `unit`, or 0 when no word goes on that way. `state` is one that a walk gave, or 0 (gives
 * 0). */
static inline uint32_t dat_step(const struct dat *d, uint32_t state, uint16_t unit)
{
    uint32_t code = d->codes[unit];
    if (code == 0 || state == 0) {
        return 0;
    }
    uint32_t next = (d->nodes[state].base & DAT_BASE) + code;
    return next < d->n && d->nodes[next].check == state ? next : 0;
}

static inline bool dat_is_word(const struct dat *d, uint32_t state)
{
    return (d->nodes[state].base & DAT_WORD) != 0;
}

static inline bool dat_has_more(const struct dat *d, uint32_t state)
{
    return (d->nodes[state].base & DAT_MORE) != 0;
}

/* The value of the word that ends in `state`; 0 if it has none. */
static inline uint32_t dat_value(const struct dat *d, uint32_t state)
{
    uint32_t leaf = d->nodes[state].base & DAT_BASE;
    return dat_is_word(d, state) && leaf < d->n && d->nodes[leaf].check == state
               ? d->nodes[leaf].base & DAT_BASE
               : 0;
}

#endif
