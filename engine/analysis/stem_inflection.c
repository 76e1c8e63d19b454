/* The kstem filter: English inflections (plural, past, -ing) and -ly, undone as R. Krovetz
 * describes ("Viewing morphology as an inference process", 1993). His stemmer looks words up in a dictionary
 * to tell "hop" from "hope"; this one has none and goes by the letters, so that some words come out
 * otherwise. */
#include "engine/analysis/stem.h"

#include <string.h>

static bool ends(const uint16_t *s, size_t n, const char *suffix)
{
    size_t k = strlen(suffix);
    for (size_t i = 0; i < k && k <= n; i++) {
        if (s[n - k + i] != (unsigned char)suffix[i]) {
            return false;
        }
    }
    return k <= n;
}

static bool is_one_of(uint16_t c, const char *set)
{
    return c != 0 && c < 0x80 && strchr(set, c) != NULL;
}

static bool is_vowel(const uint16_t *s, size_t i)
{
    return is_one_of(s[i], "aeiou") || (s[i] == 'y' && i > 0 && !is_one_of(s[i - 1], "aeiou"));
}

static bool has_vowel(const uint16_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (is_vowel(s, i)) {
            return true;
        }
    }
    return false;
}

static size_t plural(uint16_t *s, size_t n)
{
    if (n < 4 || s[n - 1] != 's' || is_one_of(s[n - 2], "sui'")) {
        return n;
    }
    if (ends(s, n, "ies")) {
        if (n == 4) {
            return n - 1; /* ties, pies */
        }
        s[n - 3] = 'y';
        return n - 2;
    }
    bool hisses = ends(s, n, "xes") || ends(s, n, "zes") || ends(s, n, "ches") || ends(s, n, "shes")
                  || ends(s, n, "sses");
    return hisses ? n - 2 : n - 1;
}

/* The base of a form that lost its ending: "hopp" is hop, "rat" is rate, "jump" is jump. */
static size_t base(uint16_t *s, size_t n)
{
    bool consonant = !is_vowel(s, n - 1);
    if (n > 2 && s[n - 1] == s[n - 2] && consonant) {
        return is_one_of(s[n - 1], "lsfz") ? n : n - 1;
    }
    if (s[n - 1] == 'i') {
        s[n - 1] = 'y';
        return n;
    }
    bool before_e = is_one_of(s[n - 1], "cvzu") || (s[n - 1] == 'g' && !ends(s, n, "ng")) || ends(s, n, "at")
                    || ends(s, n, "bl") || (s[n - 1] == 's' && n > 2);
    bool short_word = n == 3 && consonant && is_vowel(s, 1) && !is_vowel(s, 0) && !is_one_of(s[2], "wxy");
    if (before_e || short_word) {
        s[n++] = 'e';
    }
    return n;
}

static size_t past_and_ing(uint16_t *s, size_t n, bool *changed)
{
    size_t cut = n > 4 && ends(s, n, "ing") ? 3 : n > 3 && ends(s, n, "ed") ? 2 : 0;
    *changed = cut > 0 && n - cut >= 2 && has_vowel(s, n - cut) && !ends(s, n, "eed");
    return *changed ? base(s, n - cut) : n;
}

static size_t adverb(uint16_t *s, size_t n)
{
    if (n < 6 || !ends(s, n, "ly")) {
        return n;
    }
    if (ends(s, n, "ably") || ends(s, n, "ibly")) {
        s[n - 1] = 'e';
        return n;
    }
    if (s[n - 3] == 'i') {
        s[n - 3] = 'y';
    }
    return n - 2;
}

size_t stem_inflection(uint16_t *s, size_t n)
{
    bool changed = false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < 'a' || s[i] > 'z') { /* not a word of his dictionary's alphabet */
            return n;
        }
    }
    if (n < 3) {
        return n;
    }
    size_t after = plural(s, n);
    if (after != n) {
        return after;
    }
    after = past_and_ing(s, n, &changed);
    return changed ? after : adverb(s, n);
}
