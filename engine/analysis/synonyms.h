/* synonyms.h - synonym rules as a map from sequences of words to their replacements.
 *
 * Rules are text in Solr's format ("a, b, c", "a b => c, d") or WordNet's; their sides run through the parts
 * of the analyzer that stand before the synonym filter. Words of one sequence are separated by NUL. Immutable
 * once built. */
#ifndef ENGINE_ANALYSIS_SYNONYMS_H
#define ENGINE_ANALYSIS_SYNONYMS_H

#include "common/base/map.h"
#include "engine/analysis/analysis.h"

struct synonym {
    bool matches; /* else only longer sequences begin with this one */
    bool goes_on; /* longer ones do */
    bool keep_original;
    struct str *outputs; /* words separated by NUL, without repetitions */
    size_t n, cap;
};

struct synonyms {
    struct map rules; /* sequence to struct synonym * */
    size_t words_max; /* of the longest sequence */
};

struct synonym_options {
    bool expand;
    bool lenient; /* rules that cannot be analyzed are left out */
    bool wordnet;
};

/* Parses the lines. ERR_ILLEGAL_ARGUMENT "failed to build synonyms" around what is wrong. */
enum err synonyms_parse(struct synonyms *out, const struct str *lines, size_t n,
                        const struct synonym_options *o, const struct analyzer *an, struct arena *arena,
                        struct errmsg *em);

/* The longest sequence of the tokens [at, n) that matches; NULL when there is none, else *length is how many
 * tokens. */
const struct synonym *synonyms_match(const struct synonyms *s, const struct token *v, size_t at, size_t n,
                                     struct buf *scratch, size_t *length);

#endif
