/* Porter's algorithm ("An algorithm for suffix stripping", 1980), with the two rules that its author's own
 * programs have besides ("bli" for "abli", "logi"). */
#include "engine/analysis/stem.h"

#include <string.h>

struct word {
    uint16_t *s;
    size_t n;    /* length of the word */
    size_t stem; /* length of what is before the suffix found last */
};

static bool is_consonant(const uint16_t *s, size_t i)
{
    switch (s[i]) {
    case 'a':
    case 'e':
    case 'i':
    case 'o':
    case 'u':
        return false;
    case 'y':
        return i == 0 || !is_consonant(s, i - 1);
    default:
        return true;
    }
}

/* How many times a vowel run is followed by a consonant run in the first n letters. */
static size_t measure(const uint16_t *s, size_t n)
{
    size_t m = 0;
    bool vowel_before = false;
    for (size_t i = 0; i < n; i++) {
        bool consonant = is_consonant(s, i);
        m += consonant && vowel_before;
        vowel_before = !consonant;
    }
    return m;
}

static bool has_vowel(const uint16_t *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_consonant(s, i)) {
            return true;
        }
    }
    return false;
}

static bool ends_double(const uint16_t *s, size_t n)
{
    return n >= 2 && s[n - 1] == s[n - 2] && is_consonant(s, n - 1);
}

/* consonant, vowel, consonant at the end, the last not w, x or y: such a word takes an e ("hop(e)"). */
static bool ends_cvc(const uint16_t *s, size_t n)
{
    if (n < 3 || !is_consonant(s, n - 1) || is_consonant(s, n - 2) || !is_consonant(s, n - 3)) {
        return false;
    }
    return s[n - 1] != 'w' && s[n - 1] != 'x' && s[n - 1] != 'y';
}

/* A text with its length; suffixes are compared from behind, where most differ at once. */
struct text {
    const char *p;
    size_t n;
};

#define T(literal)                   \
    {                                \
        literal, sizeof(literal) - 1 \
    }

static bool ends_with(struct word *w, struct text suffix)
{
    if (suffix.n > w->n) {
        return false;
    }
    const uint16_t *end = w->s + w->n - suffix.n;
    for (size_t i = suffix.n; i-- > 0;) {
        if (end[i] != (unsigned char)suffix.p[i]) {
            return false;
        }
    }
    w->stem = w->n - suffix.n;
    return true;
}

static bool ends(struct word *w, const char *suffix)
{
    return ends_with(w, (struct text){suffix, strlen(suffix)});
}

static void set_to(struct word *w, const char *with)
{
    size_t k = strlen(with);
    for (size_t i = 0; i < k; i++) {
        w->s[w->stem + i] = (unsigned char)with[i];
    }
    w->n = w->stem + k;
}

static void plurals(struct word *w)
{
    if (w->s[w->n - 1] != 's') {
        return;
    }
    if (ends(w, "sses")) {
        w->n -= 2;
    } else if (ends(w, "ies")) {
        set_to(w, "i");
    } else if (w->n < 2 || w->s[w->n - 2] != 's') {
        w->n--;
    }
}

static void past_and_ing(struct word *w)
{
    if (ends(w, "eed")) {
        w->n -= measure(w->s, w->stem) > 0;
        return;
    }
    if (!((ends(w, "ed") || ends(w, "ing")) && has_vowel(w->s, w->stem))) {
        return;
    }
    w->n = w->stem;
    if (ends(w, "at")) {
        set_to(w, "ate");
    } else if (ends(w, "bl")) {
        set_to(w, "ble");
    } else if (ends(w, "iz")) {
        set_to(w, "ize");
    } else if (ends_double(w->s, w->n)) {
        uint16_t last = w->s[w->n - 1];
        w->n -= last != 'l' && last != 's' && last != 'z';
    } else if (measure(w->s, w->n) == 1 && ends_cvc(w->s, w->n)) {
        w->stem = w->n;
        set_to(w, "e");
    }
}

struct rule {
    struct text suffix;
    const char *with;
};

/* The first suffix that fits decides; it is replaced when enough is before it. */
static void apply_rules(struct word *w, const struct rule *rules, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (ends_with(w, rules[i].suffix)) {
            if (measure(w->s, w->stem) > 0) {
                set_to(w, rules[i].with);
            }
            return;
        }
    }
}

static const struct rule doubles[] = {
    {T("ational"), "ate"}, {T("tional"), "tion"}, {T("enci"), "ence"},   {T("anci"), "ance"},
    {T("izer"), "ize"},    {T("bli"), "ble"},     {T("alli"), "al"},     {T("entli"), "ent"},
    {T("eli"), "e"},       {T("ousli"), "ous"},   {T("ization"), "ize"}, {T("ation"), "ate"},
    {T("ator"), "ate"},    {T("alism"), "al"},    {T("iveness"), "ive"}, {T("fulness"), "ful"},
    {T("ousness"), "ous"}, {T("aliti"), "al"},    {T("iviti"), "ive"},   {T("biliti"), "ble"},
    {T("logi"), "log"},
};

static const struct rule singles[] = {
    {T("icate"), "ic"}, {T("ative"), ""}, {T("alize"), "al"}, {T("iciti"), "ic"},
    {T("ical"), "ic"},  {T("ful"), ""},   {T("ness"), ""},
};

static void long_endings(struct word *w)
{
    static const struct text suffixes[] = {T("al"),   T("ance"), T("ence"), T("er"),    T("ic"),
                                           T("able"), T("ible"), T("ant"),  T("ement"), T("ment"),
                                           T("ent"),  T("ion"),  T("ou"),   T("ism"),   T("ate"),
                                           T("iti"),  T("ous"),  T("ive"),  T("ize")};
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
        if (!ends_with(w, suffixes[i])) {
            continue;
        }
        bool ion = suffixes[i].n == 3 && suffixes[i].p[0] == 'i' && suffixes[i].p[1] == 'o';
        if (ion && (w->stem == 0 || (w->s[w->stem - 1] != 's' && w->s[w->stem - 1] != 't'))) {
            continue;
        }
        if (measure(w->s, w->stem) > 1) {
            w->n = w->stem;
        }
        return;
    }
}

static void final_e(struct word *w)
{
    if (w->s[w->n - 1] == 'e') {
        size_t m = measure(w->s, w->n);
        w->n -= m > 1 || (m == 1 && !ends_cvc(w->s, w->n - 1));
    }
    if (w->s[w->n - 1] == 'l' && ends_double(w->s, w->n) && measure(w->s, w->n) > 1) {
        w->n--;
    }
}

size_t stem_porter(uint16_t *s, size_t n)
{
    struct word w = {s, n, 0};
    if (n < 3) {
        return n;
    }
    plurals(&w);
    past_and_ing(&w);
    if (ends(&w, "y") && has_vowel(s, w.stem)) {
        s[w.n - 1] = 'i';
    }
    apply_rules(&w, doubles, ARRAY_LEN(doubles));
    apply_rules(&w, singles, ARRAY_LEN(singles));
    long_endings(&w);
    final_e(&w);
    return w.n;
}
