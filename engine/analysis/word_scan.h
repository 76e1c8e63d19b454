/* word_scan.h - one step of word segmentation over any Unicode text. Pure. */
#ifndef ENGINE_ANALYSIS_WORD_SCAN_H
#define ENGINE_ANALYSIS_WORD_SCAN_H

#include "common/base/str.h"

/* The end of the longest token that starts at byte `at` of `text` (at < text.n), and its type ("<ALPHANUM>",
 * "<EMOJI>"
 * ...); `at` when none starts there. */
size_t word_scan(struct str text, size_t at, const char **type);

#endif
