/* words.h - the words of guests beside those of the hotels' data, from hotel/words: other names of brands, classes, cities and
 * districts, endings, words without meaning, traditional characters.
 *
 * Constant once made; any thread. Text is compared folded: small letters, halfwidth and simplified characters, one blank for
 * whatever is neither letter nor digit. */
#ifndef HOTEL_APP_WORDS_H
#define HOTEL_APP_WORDS_H

#include "common/base/arena.h"
#include "common/base/err.h"

/* What a value of the hotels' data is about. */
enum value_kind { VALUE_CITY, VALUE_DISTRICT, VALUE_BRAND, VALUE_STAR, VALUE_KINDS_N };

const char *value_kind_name(enum value_kind k);  /* "city", "district", "brand", "star" */
const char *value_kind_field(enum value_kind k); /* of the index: "city", "business" ... */

/* A folded text: characters, and of each the byte in the text that it came from; at[n] is the end of the text. */
struct folded {
    uint32_t *c;
    uint32_t *at;
    size_t n;
};

struct same { /* one statement "same" */
    struct str *values;
    size_t values_n;
    struct str *said;
    size_t said_n;
};

struct word_list {
    struct folded *v;
    size_t n, cap;
};

struct words {
    struct arena arena;
    uint32_t *traditional, *simplified; /* pairs, by the first */
    size_t pairs_n, pairs_cap;
    struct same *same;
    size_t same_n, same_cap;
    struct word_list endings[VALUE_KINDS_N], plain, roads, tails;
};

/* Of two files' texts, which are borrowed. ERR_ILLEGAL_ARGUMENT "line 3: ...", ERR_NO_MEMORY. */
enum err words_new(struct words **out, struct str statements, struct str traditional, struct errmsg *em);
void words_free(struct words *w); /* NULL ok */

/* Folds a text; false: no memory. */
bool words_fold(const struct words *w, struct str text, struct arena *arena, struct folded *out) NODISCARD;
/* The same without blanks: a form that texts are compared with. */
bool words_form(const struct words *w, struct str text, struct arena *arena, struct folded *out) NODISCARD;

/* Does the form stand at `at` of a folded text? The number of characters there that it takes, blanks within Latin ones
 * skipped; 0: no. */
size_t folded_at(const struct folded *text, size_t at, const struct folded *form);
/* Does it stand for a letter or digit of ASCII? */
static inline bool folded_latin(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
/* Are all characters so, or none? */
bool folded_all_latin(const struct folded *f);
bool folded_no_latin(const struct folded *f);

#endif
