/* grams.h - extra terms of a text: prefixes of its tokens, and pairs of tokens. Pure functions of a list of tokens. */
#ifndef ENGINE_ANALYSIS_GRAMS_H
#define ENGINE_ANALYSIS_GRAMS_H

#include "engine/analysis/token.h"

/* Beginnings of `in`'s tokens, from min to max characters, at their positions (EdgeNGramTokenFilter), into an empty list.
 * false: no memory, or the work is to end. */
bool edge_grams(const struct token_list *in, int32_t min, int32_t max, struct token_list *out) NODISCARD;
/* Each token with each that follows it in the graph, "_" for a gap (Lucene's FixedShingleFilter of size 2), into an empty
 * list. false: no memory, or the work is to end. */
bool pairs_of_tokens(const struct token_list *in, struct token_list *out) NODISCARD;

#endif
