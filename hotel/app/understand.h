/* understand.h - the parts of a guest's key: values that the index has, and other words.
 *
 * The longest names are taken first. A name in front of a street's ending or number is a word of an address, and so is a district
 * that is in none of the cities said. What is said twice counts once, and of many words the first. Pure; any thread. */
#ifndef HOTEL_APP_UNDERSTAND_H
#define HOTEL_APP_UNDERSTAND_H

#include "hotel/app/lexicon.h"

struct understood {
    struct str text;               /* as it was written; borrowed from the key */
    struct str folded;             /* in simplified characters and small letters */
    struct str shorter;            /* of a word: without its tail; n == 0: it has none */
    const struct lex_value *value; /* NULL: a word */
};

struct understanding {
    struct understood *v; /* in order */
    size_t n, cap;
};

enum err understand(struct understanding *out, struct str key, const struct words *words,
                    const struct lexicon *l, struct arena *arena, struct errmsg *em);
/* How many are words. */
size_t understanding_words(const struct understanding *u);

#endif
