/* complete.h - completions of a half-typed key: cities, districts, brands and classes that begin so.
 *
 * Those written so come before those whose pinyin begins so, each by their numbers of hotels. Where nothing begins as the whole
 * key, its last word is completed behind what is understood of it, with what there is in the cities said. Pure; any thread. */
#ifndef HOTEL_APP_COMPLETE_H
#define HOTEL_APP_COMPLETE_H

#include "hotel/app/understand.h"

#define COMPLETIONS_MAX 10

struct completion {
    struct str text; /* the whole key, completed */
    const struct lex_value *value;
    int64_t hotels; /* -1: not known */
};

/* At most `most`; returns how many, SIZE_MAX: no memory. key is what was understood of the key's text. */
size_t complete(struct completion *out, size_t most, struct str text, const struct understanding *key,
                const struct words *words, const struct lexicon *l, struct arena *arena);

#endif
