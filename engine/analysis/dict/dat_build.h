/* dat_build.h - makes a double-array trie of sorted words.
 *
 * The result depends on the words alone, so that two builds of one dictionary are equal byte for byte. */
#ifndef ENGINE_ANALYSIS_DICT_DAT_BUILD_H
#define ENGINE_ANALYSIS_DICT_DAT_BUILD_H

#include "common/base/buf.h"
#include "common/base/err.h"
#include "engine/analysis/dict/dat.h"

#define DAT_WORD_UNITS_MAX 255

struct dat_entry {
    const uint16_t *units;
    uint32_t n;     /* 1 .. DAT_WORD_UNITS_MAX */
    uint32_t value; /* 0: none; at most DAT_BASE */
};

/* Appends the codes to `codes` (DAT_CODES u16) and the nodes to `nodes` (struct dat_node each),
 * little-endian. The entries are sorted by units, without duplicates. ERR_NO_MEMORY; ERR_ILLEGAL_ARGUMENT:
 * more nodes than 30 bits number. */
enum err dat_build(const struct dat_entry *v, size_t n, struct buf *codes, struct buf *nodes,
                   struct errmsg *em);

#endif
